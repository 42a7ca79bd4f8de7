/* What a replay costs: a recording is read, decoded and analysed as holterd --replay does it, with
 * all analyses. Printed are the processor time of that, and the share of each part.
 *
 *   replay_bench [--viewer | --hash] FILE
 *   replay_bench --make FILE [--ranks N] [--nodes N] [--partners 6|26] [--windows N] [--step-ms N]
 *   replay_bench [--viewer | --hash] [--ranks N] ...
 *
 * The second form makes a recording up (replay_make.h says of what); the third makes one, replays
 * it and removes it. With --viewer all that is published is encoded too. --hash does the same and
 * prints a hash of it, which compares programs that should publish the same of one recording. */
#include "daemon/alert/rules.h"
#include "daemon/job/job.h"
#include "daemon/storage/recording.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "tests/bench/replay_make.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define S UINT64_C(1000000000)
#define MS UINT64_C(1000000)

enum part { READ, TAKE, JUDGE, PARTS };

static const char *const part_names[PARTS] = {"read and decode", "take in", "close windows"};

struct run {
    int viewer, hashed;
    struct job *job;
    uint64_t spent[PARTS], messages, bytes, packed, windows, frames, frame_bytes;
    uint64_t first_ns, last_ns, hash;
    struct wire_buffer buffer;
};

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "replay_bench: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

static int wanted(void *user, const char *job, enum wire_type type)
{
    (void)job;
    (void)type;
    return ((struct run *)user)->viewer || type == WIRE_TYPE_TOTALS;
}

/* FNV-1a, 64 bits (draft-eastlake-fnv, section 2). */
static void hash_frame(struct run *run)
{
    for (size_t i = 0; i < run->buffer.length; i++)
        run->hash = (run->hash ^ run->buffer.bytes[i]) * UINT64_C(0x100000001b3);
}

static void publish(void *user, const char *job, enum wire_type type, const void *message)
{
    struct run *run = user;
    (void)job;
    run->windows += type == WIRE_TYPE_TOTALS;
    if (wire_encode(&run->buffer, type, message) == 0) {
        run->frames++;
        run->frame_bytes += run->buffer.length;
        if (run->hashed)
            hash_frame(run);
    }
}

/* Of a clock that takes no system call, two hundred of which would be seen in a window. */
static uint64_t lap(uint64_t *from)
{
    uint64_t now = clock_mono_ns(), spent = now - *from;
    *from = now;
    return spent;
}

static int feed(struct run *run, struct recording_cursor *cursor, struct wire_arena *arena)
{
    struct recorded head;
    struct wire_message message;
    struct job_fault fault = {""};
    size_t length;
    int fault_code;
    uint64_t at = clock_mono_ns();
    int code = recording_cursor_next_decoded(cursor, &head, &message, arena, &length, &fault_code);
    if (code != 1)
        return code;
    run->spent[READ] += lap(&at);
    if (fault_code != 0)
        fail("a message", holter_strerror(fault_code));
    code = 0;
    uint64_t now = head.received_ns;
    job_advance(run->job, now, now);
    run->spent[JUDGE] += lap(&at);
    if (message.type == WIRE_TYPE_WINDOW)
        code = job_accept_window(run->job, head.instance, &message.window, now, &fault);
    else if (message.type == WIRE_TYPE_RANKS)
        code = job_accept_ranks(run->job, head.instance, &message.ranks, now, &fault);
    run->spent[TAKE] += lap(&at);
    if (code != 0)
        fail("a message", fault.text);
    job_advance(run->job, now, now);
    run->spent[JUDGE] += lap(&at);
    run->messages++;
    run->bytes += length;
    run->first_ns = run->first_ns == 0 ? now : run->first_ns;
    run->last_ns = now;
    return 1;
}

static void replay(struct run *run, const char *path)
{
    struct recording_cursor *cursor;
    struct wire_arena arena = {0};
    struct rules rules;
    char why[256];
    if (rules_default(&rules) != 0)
        fail("rules", "no memory");
    if (recording_cursor_open(&cursor, path, why, sizeof(why)) != 0)
        fail(path, why);
    const struct job_output output = {.user = run, .has_subscribers = wanted, .publish = publish};
    const struct job_options options = {.window_ns = recording_cursor_window_ns(cursor),
                                        .grace_ns = recording_cursor_window_ns(cursor) / 4,
                                        .lost_ns = 60 * S,
                                        .most_pairs = 65536,
                                        .modelled = 1,
                                        .rules = &rules};
    if (job_create(&run->job, recording_cursor_job(cursor), &options, &output) != 0)
        fail("job", "no memory");
    int code;
    while ((code = feed(run, cursor, &arena)) == 1)
        ;
    if (code != 0)
        fail(path, holter_strerror(code));
    uint64_t at = clock_mono_ns();
    job_finish(run->job, run->last_ns);
    run->spent[JUDGE] += lap(&at);
    job_destroy(run->job);
    recording_cursor_close(cursor);
    wire_arena_finish(&arena);
    rules_finish(&rules);
}

static void report(const struct run *run, uint64_t spent_ns)
{
    double ms = (double)spent_ns * 1e-6, windows = run->windows == 0 ? 1 : (double)run->windows;
    printf("%" PRIu64 " messages of %.0f bytes, %" PRIu64 " windows; %" PRIu64
           " frames of %.0f bytes in the mean\n",
           run->messages, run->messages == 0 ? 0 : (double)run->bytes / (double)run->messages,
           run->windows, run->frames,
           run->frames == 0 ? 0 : (double)run->frame_bytes / (double)run->frames);
    if (run->hashed)
        printf("  published, hashed: %016" PRIx64 "\n", run->hash);
    double all = 0;
    for (int i = 0; i < PARTS; i++)
        all += (double)run->spent[i];
    for (int i = 0; i < PARTS; i++)
        printf("  %-18s %8.2f ms a window\n", part_names[i],
               (double)run->spent[i] / all * ms / windows);
    printf("  %-18s %8.2f ms a window: %.0f times faster than real time on one core\n", "together",
           ms / windows, (double)(run->last_ns - run->first_ns) * 1e-6 / ms);
}

static void make(const struct replay_make *settings, const char *path)
{
    struct stat status;
    uint64_t bytes, begun = clock_process_cpu_ns();
    int code = replay_make_file(settings, path, &bytes);
    if (code != 0 || stat(path, &status) != 0)
        fail(path, holter_strerror(code));
    printf(
        "%s: %u windows of %u ranks on %u nodes, %.2f MB a window, %.2f MB in the file: %.1f to 1; "
        "made in %.1f s of processor time\n",
        path, settings->windows, settings->ranks, settings->nodes,
        (double)bytes * 1e-6 / settings->windows, (double)status.st_size * 1e-6 / settings->windows,
        (double)bytes / (double)status.st_size, (double)(clock_process_cpu_ns() - begun) * 1e-9);
}

int main(int argc, char **argv)
{
    static const struct option names[] = {
        {"viewer", 0, NULL, 'v'},  {"hash", 0, NULL, 'h'},    {"make", 1, NULL, 'm'},
        {"ranks", 1, NULL, 'r'},   {"nodes", 1, NULL, 'n'},   {"partners", 1, NULL, 'p'},
        {"windows", 1, NULL, 'w'}, {"step-ms", 1, NULL, 's'}, {NULL, 0, NULL, 0}};
    struct replay_make settings = REPLAY_MAKE_DEFAULTS;
    struct run run = {.hash = UINT64_C(0xcbf29ce484222325)};
    const char *made = NULL;
    char path[] = "/tmp/holter-replay-XXXXXX/made.hrec";
    int option;
    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        unsigned number = optarg == NULL ? 0 : (unsigned)strtoul(optarg, NULL, 10);
        switch (option) {
        case 'h':
            run.hashed = run.viewer = 1;
            break;
        case 'v':
            run.viewer = 1;
            break;
        case 'm':
            made = optarg;
            break;
        case 'r':
            settings.ranks = number;
            break;
        case 'n':
            settings.nodes = number;
            break;
        case 'p':
            settings.partners = number;
            break;
        case 'w':
            settings.windows = number;
            break;
        case 's':
            settings.step_ns = number * MS;
            break;
        default:
            fprintf(stderr, "usage: see the head of replay_bench.c\n");
            return 2;
        }
    }
    char *slash = strrchr(path, '/');
    if (made == NULL && optind == argc) {
        *slash = '\0';
        if (mkdtemp(path) == NULL)
            fail(path, "no directory");
        *slash = '/';
        make(&settings, path);
    } else if (made != NULL) {
        make(&settings, made);
        return EXIT_SUCCESS;
    }
    uint64_t begun = clock_process_cpu_ns();
    replay(&run, optind < argc ? argv[optind] : path);
    report(&run, clock_process_cpu_ns() - begun);
    if (optind == argc) {
        unlink(path);
        *slash = '\0';
        rmdir(path);
    }
    wire_buffer_finish(&run.buffer);
    return EXIT_SUCCESS;
}

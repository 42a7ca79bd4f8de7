/* holter record as its users meet it: a process beside a daemon that serves agents played by the
 * test. */
#include "daemon/storage/recording.h"
#include "daemon/storage/recording_file.h"
#include "daemon/storage/recordings/info.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "holter/size_class.h"
#include "tests/daemon/daemon_bed.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)
#define RANKS 250u
#define PAIRS (RANKS * (RANKS - 1))

static const char *holter;
static struct daemon_bed bed;
static char keys[96], path[128];
static uint64_t first_window; /* of the job */

static int set_up(void **state)
{
    (void)state;
    int code = daemon_bed_make(&bed);
    snprintf(keys, sizeof(keys), "%s/secret", bed.directory);
    snprintf(path, sizeof(path), "%s/made.hrec", bed.directory);
    first_window = clock_real_ns() / (100 * MS) - 1000;
    return code;
}

static int tear_down(void **state)
{
    (void)state;
    return daemon_bed_remove(&bed);
}

/* @param option, value  NULL: none */
static pid_t start_daemon(const char *option, const char *value)
{
    const char *const options[] = {"--no-record", "--window", "100ms", option, value, NULL};
    return daemon_bed_start(&bed, options);
}

/* Standard error of the recorder goes to a file. */
static const char *output; /* of the recorder; NULL: what it says is kept */

static pid_t start_recorder(const char *option, const char *value)
{
    char log[128];
    snprintf(log, sizeof(log), "%s/said", bed.directory);
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(output == NULL ? fd : open(output, O_WRONLY), STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    unsetenv("HOLTER_KEYS");
    unsetenv("HOLTER_SESSION");
    execl(holter, holter, "record", "-c", bed.endpoint, "-o", path, "--timeout", "100", option,
          value, NULL);
    _exit(127);
}

static const char *said(void)
{
    static char text[4096];
    char log[128];
    snprintf(log, sizeof(log), "%s/said", bed.directory);
    FILE *file = fopen(log, "r");
    size_t length = file == NULL ? 0 : fread(text, 1, sizeof(text) - 1, file);
    text[length] = '\0';
    if (file != NULL)
        fclose(file);
    return text;
}

static void assert_ended(pid_t recorder, int status)
{
    int found = daemon_bed_status(recorder);
    if (found != status)
        fail_msg("status %d: %s", found, said());
}

/* ---- an agent ------------------------------------------------------------ */

static void send_ranks(struct peer *agent)
{
    struct wire_member_row members[RANKS];
    for (unsigned i = 0; i < RANKS; i++)
        members[i] = (struct wire_member_row){.rank = i, .pid = 100 + i, .placement = "0"};
    struct wire_ranks ranks = {.seq = 1,
                               .job = "job.0",
                               .world = RANKS,
                               .app = "app",
                               .mpi = "mpi",
                               .host = "n0",
                               .members = members,
                               .members_count = RANKS};
    peer_send(agent, WIRE_TYPE_RANKS, &ranks);
}

/* Window `number` of the job, from 0. @param pairs  of ranks, with figures that cannot be packed
 * well */
static void send_window(struct peer *agent, uint64_t number, uint32_t pairs, uint64_t flags)
{
    struct wire_rank_row ranks[RANKS];
    struct wire_pair_row *rows = calloc(pairs + 1, sizeof(*rows));
    uint64_t seed = number + 1;
    for (unsigned i = 0; i < RANKS; i++)
        ranks[i] = (struct wire_rank_row){.rank = i, .sent = 1, .in_call_peer = -1};
    for (uint32_t i = 0; i < pairs; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        uint32_t to = i % (RANKS - 1);
        rows[i] = (struct wire_pair_row){.source = i / (RANKS - 1),
                                         .destination = to + (to >= i / (RANKS - 1)),
                                         .size_class = size_class_of(1000),
                                         .messages = 1 + (seed >> 44),
                                         .bytes = seed >> 20 & 0xffffffffff};
    }
    struct wire_window w = {.seq = 2 + number,
                            .job = "job.0",
                            .host = "n0",
                            .window = first_window + number,
                            .length_ns = 100 * MS,
                            .flags = flags,
                            .ranks = ranks,
                            .ranks_count = RANKS,
                            .pairs = rows,
                            .pairs_count = pairs};
    peer_send(agent, WIRE_TYPE_WINDOW, &w);
    free(rows);
}

static void await_ack(struct peer *agent, uint64_t seq)
{
    while (peer_await(agent, WIRE_TYPE_ACK)->ack.seq < seq)
        ;
}

/* Between looks at what another process does. */
static void pause_a_moment(void)
{
    poll(NULL, 0, 2);
}

/* Begin the job with window 0, and wait until it is recorded from then on. */
static void begin(struct peer *agent, pid_t recorder)
{
    send_ranks(agent);
    send_window(agent, 0, 1, 0);
    await_ack(agent, 2);
    while (access(path, F_OK) != 0) {
        if (waitpid(recorder, NULL, WNOHANG) != 0)
            fail_msg("it ended: %s", said());
        pause_a_moment();
    }
}

/* ---- what was recorded ------------------------------------------------------ */

struct found {
    uint64_t first, last, windows; /* first, last: of the job, from 0 */
};

static int take(void *user, const struct recorded *head, const struct wire_message *message,
                size_t length)
{
    struct found *f = user;
    (void)length;
    assert_non_null(message);
    if (message->type != WIRE_TYPE_WINDOW)
        return 0;
    uint64_t number = head->window - first_window;
    f->first = f->windows == 0 ? number : f->first;
    assert_true(f->windows == 0 || number > f->last); /* in order, none twice */
    f->windows++;
    f->last = number;
    return 0;
}

static void read_windows(const char *file, struct found *found)
{
    struct recording_cursor *cursor;
    char why[300];
    /* A part that was begun when the job ended has none. */
    if (recording_cursor_salvage(&cursor, file, why, sizeof(why)) != 0)
        fail_msg("%s", why);
    assert_int_equal(recording_scan(cursor, NULL, take, found), 0);
    recording_cursor_close(cursor);
}

static struct info *read_info(const char *file)
{
    static struct info info;
    char why[300];
    if (info_read(&info, file, NULL, why, sizeof(why)) != 0)
        fail_msg("%s", why);
    assert_int_equal(info.damage_count, 0);
    return &info;
}

/* The newest window in a recording that is in the making, of the job, from 0. */
static uint64_t newest_in(const char *file)
{
    struct recording_cursor *cursor;
    struct recorded head = {.window = 0};
    const void *bytes;
    size_t length;
    char why[300];
    int64_t behind = 0;
    if (recording_cursor_open(&cursor, file, why, sizeof(why)) != 0)
        return 0;
    if (recording_file_number(recording_cursor_file(cursor),
                              "SELECT max(first + messages) FROM block", &behind) == 0 &&
        behind > 1) {
        recording_cursor_seek(cursor, (uint64_t)behind - 2);
        recording_cursor_next(cursor, &head, &bytes, &length);
    }
    recording_cursor_close(cursor);
    return head.window > first_window ? head.window - first_window : 0;
}

/* The same of all its parts: a new one has none yet. */
static uint64_t newest(void)
{
    unsigned first, last;
    char part[160];
    uint64_t found = 0;
    recording_parts_find(path, &first, &last);
    for (unsigned n = last > 1 ? last - 1 : last; n > 0 && n <= last; n++) {
        assert_int_equal(recording_part_path(path, n, part, sizeof(part)), 0);
        uint64_t in_part = newest_in(part);
        found = in_part > found ? in_part : found;
    }
    return found;
}

/* ---- tests --------------------------------------------------------------- */

static void behind_keys_it_takes_a_key(void **state)
{
    struct peer agent;
    struct found found = {.windows = 0};
    (void)state;
    assert_int_equal(curve_make(keys), 0);
    pid_t daemon = start_daemon("--keys", keys);
    peer_dial(&bed, &agent, keys, ROLE_AGENT);
    assert_int_equal(peer_greet(&agent, "agent", 11)->type, WIRE_TYPE_WELCOME);
    pid_t recorder = start_recorder("--timeout", "0.3");
    assert_ended(recorder, 1);
    assert_int_equal(access(path, F_OK), -1);
    recorder = start_recorder("--keys", keys);
    begin(&agent, recorder);
    for (uint64_t number = 1; number < 6; number++)
        send_window(&agent, number, 1, number == 5 ? WINDOW_FINAL : 0);
    await_ack(&agent, 7);
    assert_ended(recorder, 0);
    read_windows(path, &found);
    assert_int_equal(found.first, 1);
    assert_int_equal(found.last, 5);
    assert_int_equal(found.windows, 5);
    peer_hang_up(&agent);
    daemon_bed_stop(daemon);
}

static void a_large_one_goes_on_in_parts_of_which_old_ones_go(void **state)
{
    struct peer agent;
    struct found found = {.windows = 0};
    unsigned first, last;
    uint64_t bytes = 0, number = 1;
    (void)state;
    pid_t daemon = start_daemon(NULL, NULL);
    peer_come(&bed, &agent, "agent", 11);
    pid_t recorder = start_recorder("--max-size", "16M");
    begin(&agent, recorder);
    while (number < 34) {
        for (int i = 0; i < 3; i++, number++)
            send_window(&agent, number, PAIRS, number == 33 ? WINDOW_FINAL : 0);
        await_ack(&agent, 1 + number);
        while (number < 34 && newest() < number - 1)
            pause_a_moment(); /* a commit has to come now and then */
    }
    assert_ended(recorder, 0);
    recording_parts_find(path, &first, &last);
    assert_true(first > 1 && last > first);
    for (unsigned n = first; n <= last; n++) {
        char part[160];
        assert_int_equal(recording_part_path(path, n, part, sizeof(part)), 0);
        bytes += recording_bytes_at(part);
        read_windows(part, &found);
        struct info *info = read_info(part);
        assert_int_equal(info->part, n);
        assert_true(info->attached_ns > 0);
        assert_int_equal(info->missed, 0);
        info_finish(info);
    }
    assert_true(bytes <= UINT64_C(16) << 20);
    assert_true(bytes >= UINT64_C(10) << 20);
    assert_int_equal(found.last, 33);
    assert_int_equal(found.windows, found.last - found.first + 1);
    peer_hang_up(&agent);
    daemon_bed_stop(daemon);
}

static void it_goes_on_with_the_daemon_that_follows_a_killed_one(void **state)
{
    struct peer agent;
    struct found found = {.windows = 0};
    uint64_t number = 1;
    (void)state;
    pid_t daemon = start_daemon(NULL, NULL);
    peer_come(&bed, &agent, "agent", 11);
    pid_t recorder = start_recorder(NULL, NULL);
    begin(&agent, recorder);
    while (number < 6)
        send_window(&agent, number++, 1, 0);
    await_ack(&agent, 1 + number);
    while (newest() < number - 1)
        pause_a_moment();
    kill(daemon, SIGKILL);
    assert_int_equal(daemon_bed_status(daemon), -SIGKILL);
    peer_hang_up(&agent);
    daemon = start_daemon(NULL, NULL);
    peer_come(&bed, &agent, "agent", 11); /* the same process, which sends its newest again */
    send_ranks(&agent);
    send_window(&agent, number - 1, 1, 0);
    uint64_t before = number - 1;
    while (newest() <= before) { /* what comes before the recorder is back passes it by */
        send_window(&agent, number++, 1, 0);
        await_ack(&agent, 1 + number);
        pause_a_moment();
    }
    send_window(&agent, number, 1, WINDOW_FINAL);
    assert_ended(recorder, 0);
    read_windows(path, &found);
    assert_int_equal(found.first, 1);
    if (found.last != number)
        fail_msg("it ends with window %llu of %llu: %s", (unsigned long long)found.last,
                 (unsigned long long)number, said());
    struct info *info = read_info(path);
    assert_int_equal(info->agents, 1);
    if (found.windows + info->missed != number)
        fail_msg("of %llu windows %llu are there, and %llu missed: %s", (unsigned long long)number,
                 (unsigned long long)found.windows, (unsigned long long)info->missed, said());
    assert_int_equal(strstr(said(), "did not come") != NULL, info->missed > 0);
    info_finish(info);
    peer_hang_up(&agent);
    daemon_bed_stop(daemon);
}

/* Faults are reported before the wait for a job. */
static void what_cannot_be_written_is_reported_before_a_job_comes(void **state)
{
    (void)state;
    fclose(fopen(path, "w"));
    assert_ended(start_recorder(NULL, NULL), 1);
    assert_non_null(strstr(said(), "made.hrec: is there already"));
    unlink(path);
    char elsewhere[160];
    snprintf(elsewhere, sizeof(elsewhere), "%s/nowhere/made.hrec", bed.directory);
    assert_ended(start_recorder("-o", elsewhere), 1);
    assert_non_null(strstr(said(), "nowhere/made.hrec: No such file or directory"));
    assert_ended(start_recorder("-o", ""), 2);
    assert_non_null(strstr(said(), "--output cannot be ''"));
}

static void it_says_why_its_last_line_cannot_be_printed(void **state)
{
    struct peer agent;
    (void)state;
    pid_t daemon = start_daemon(NULL, NULL);
    peer_come(&bed, &agent, "agent", 11);
    output = "/dev/full";
    pid_t recorder = start_recorder(NULL, NULL);
    output = NULL;
    begin(&agent, recorder);
    send_window(&agent, 1, 1, WINDOW_FINAL);
    await_ack(&agent, 3);
    assert_ended(recorder, 1);
    assert_non_null(strstr(said(), "record: standard output: No space left on device"));
    peer_hang_up(&agent);
    daemon_bed_stop(daemon);
}

static void it_says_which_job_it_waits_for(void **state)
{
    (void)state;
    pid_t daemon = start_daemon(NULL, NULL);
    pid_t recorder = start_recorder("job.7", NULL);
    while (strstr(said(), "there is no job job.7 yet") == NULL) {
        if (waitpid(recorder, NULL, WNOHANG) != 0)
            fail_msg("it ended: %s", said());
        pause_a_moment();
    }
    kill(recorder, SIGTERM);
    assert_ended(recorder, 1);
    assert_non_null(strstr(said(), "no job came"));
    daemon_bed_stop(daemon);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    holter = argv[1];
    bed.holterd = argv[2];
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(behind_keys_it_takes_a_key),
        TEST(a_large_one_goes_on_in_parts_of_which_old_ones_go),
        TEST(it_goes_on_with_the_daemon_that_follows_a_killed_one),
        TEST(what_cannot_be_written_is_reported_before_a_job_comes),
        TEST(it_says_why_its_last_line_cannot_be_printed),
        TEST(it_says_which_job_it_waits_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

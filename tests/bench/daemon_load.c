/* How much a daemon bears: simulated agents that speak the real wire, each on a connection of its
 * own, report windows of a halo exchange to a holterd that is pinned to one core.
 *
 *   daemon_load --connect ENDPOINT[,ENDPOINT...] [--begin WINDOW] [--until FILE]
 *               [options]
 *   daemon_load HOLTERD [--agents N] [--ranks N] [--windows N] [--window-ms N] [--spread-ms N]
 *               [--order ORDER] [--record DIR] [--viewer] [--workers N] [--burst-rows N]
 * [--no-bursts]
 *
 * The work: ranks form a periodic 3-d box; each exchanges messages with its 26 neighbours in sizes
 * of faces, edges and corners, so that a window message of 8 ranks has 8 rank rows, about 190 pair
 * rows (a tenth of the pairs is silent in any window, another tenth each time), and 80 call rows;
 * besides, a row of transfer times for each pair within the node, a histogram of them, and both
 * halves of as many messages between nodes as the daemon asks for (32 of a node).
 * Half of the transfers within a node wait for their sender. Ten times a window all ranks exchange
 * and then call MPI_Allreduce, to which each comes at another time: bursts of these are reported
 * as an agent would, in as many rows as the daemon's criteria ask for, and in --burst-rows (by
 * default an agent's guess) until they came; unless --no-bursts is given. ORDER is how an agent
 * lists its pairs: "same" in each window, "turned" (default: another rank and another partner first
 * in each window), or "shuffled". Agents report within --spread-ms after the end of a window, by
 * default half a window; the daemon's grace is 250 ms more, so that each window is published when
 * the last agent has reported.
 *
 * With --connect agents report to daemons that run already: see struct load. Windows are those from
 * WINDOW on, numbered since 1970, by default from the next but one, until FILE is there. What was
 * sent is printed as JSON.
 *
 * It checks that everything arrived: messages, sums of the published totals, acknowledgements; and
 * prints rates, the daemon's share of its core (all threads), its memory, how long after a window's
 * end the window was published, and each budget with its figure. The first window is told apart: in
 * it all tables are made. */
#include "daemon/storage/record.h"
#include "holter/clock.h"
#include "holter/file_limit.h"
#include "holter/order.h"
#include "tests/bench/load.h"

#include <dirent.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#define JOB_BURST_ROWS (1u << 19) /* what all agents together send, until they receive criteria */
#define LEAST_BURST_ROWS 64u
#define MOST_WINDOWS 4096u /* that are looked at */
#define END_NS (100 * S)   /* until the job's end is published */

struct settings {
    struct load load;
    const char *holterd;
    const char *record;
    int viewer;
    char *connect; /* NULL: to a daemon that is started */
    uint64_t begin;
    char endpoint[256];
    char stream[264];
};

/* ---- the daemon ---------------------------------------------------------- */

static void pin(int core, int but)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    for (int i = 0; i < cores; i++) {
        if ((core < 0 || i == core) && (i != but || cores == 1))
            CPU_SET((size_t)i, &set);
    }
    sched_setaffinity(0, sizeof(set), &set);
}

/* A recording that is there would be continued, and have all windows already: nothing would be
 * measured. */
static int has_recording(const char *directory)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/holter-" LOAD_JOB ".hrec", directory);
    if (access(path, F_OK) != 0)
        return 0;
    fprintf(stderr, "daemon_load: %s is there: have a directory without it\n", path);
    return 1;
}

static pid_t start_daemon(const struct settings *s)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    char window[32], grace[32];
    snprintf(window, sizeof(window), "%" PRIu64 "ms", s->load.window_ns / MS);
    snprintf(grace, sizeof(grace), "%" PRIu64 "ms", s->load.spread_ns / MS + 250);
    pin(0, -1);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    execl(s->holterd, s->holterd, "--listen", s->load.endpoints[0], "--window", window, "--grace",
          grace, "--quit-when-idle", s->record == NULL ? "--no-record" : "--record", s->record,
          NULL);
    load_die(s->holterd);
    return -1;
}

static uint64_t cpu_ns_of(pid_t pid)
{
    char path[64];
    unsigned long user = 0, system = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
               &system) != 2)
        user = system = 0;
    fclose(file);
    return (uint64_t)(user + system) * (S / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* Processor time of the thread that writes recordings; 0: there is none. */
static uint64_t recorder_ns_of(pid_t pid)
{
    char path[64], name[64], at[400];
    uint64_t ns = 0;
    snprintf(path, sizeof(path), "/proc/%d/task", pid);
    DIR *tasks = opendir(path);
    for (struct dirent *e; tasks != NULL && ns == 0 && (e = readdir(tasks)) != NULL;) {
        snprintf(at, sizeof(at), "%s/%s/comm", path, e->d_name);
        FILE *file = fopen(at, "re");
        int found = file != NULL && fgets(name, sizeof(name), file) != NULL &&
                    strncmp(name, RECORDER_THREAD "\n", sizeof(RECORDER_THREAD)) == 0;
        if (file != NULL)
            fclose(file);
        snprintf(at, sizeof(at), "%s/%s/schedstat", path, e->d_name);
        file = found ? fopen(at, "re") : NULL;
        if (file != NULL && fscanf(file, "%" SCNu64, &ns) != 1)
            ns = 0;
        if (file != NULL)
            fclose(file);
    }
    if (tasks != NULL)
        closedir(tasks);
    return ns;
}

static uint64_t rss_of(pid_t pid, const char *field)
{
    char path[64], line[256];
    unsigned long kib = 0;
    snprintf(path, sizeof(path), "/proc/%d/status", pid);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, field, strlen(field)) == 0)
            kib = strtoul(line + strlen(field) + 1, NULL, 10);
    }
    if (file != NULL)
        fclose(file);
    return (uint64_t)kib * 1024;
}

/* ---- what is published --------------------------------------------------- */

struct seen {
    uint64_t windows, corrections, sent, agents_missing;
    uint64_t delays[MOST_WINDOWS];
    int ended;
    uint64_t by_window[MOST_WINDOWS]; /* messages sent, newest figures */
    uint64_t first;
    uint64_t frames, newest_frame; /* of topic totals: received, and the newest one's number */
};

static void take_frame(struct seen *seen, const struct wire_message *message,
                       const uint8_t numbers[WIRE_FRAME_NUMBERS])
{
    if (message->type == WIRE_TYPE_JOB)
        seen->ended = strcmp(message->job.state, "running") != 0;
    if (message->type != WIRE_TYPE_TOTALS)
        return;
    seen->newest_frame = 0;
    for (int i = 8; i < 16; i++)
        seen->newest_frame = seen->newest_frame << 8 | numbers[i];
    seen->frames++;
    const struct wire_totals *t = &message->totals;
    uint64_t at = t->window - seen->first;
    if (at >= MOST_WINDOWS)
        return;
    seen->by_window[at] = t->sent;
    seen->agents_missing = t->agents_missing;
    if (t->late) {
        seen->corrections++;
        return;
    }
    seen->delays[seen->windows++] = t->published_ns - t->start_ns - t->length_ns;
}

static void watch(void *subscriber, struct seen *seen, uint64_t until_ns)
{
    struct wire_arena arena = {0};
    while (clock_mono_ns() < until_ns && !seen->ended) {
        zmq_pollitem_t item = {subscriber, 0, ZMQ_POLLIN, 0};
        if (zmq_poll(&item, 1, 200) <= 0)
            continue;
        zmq_msg_t part;
        zmq_msg_init(&part);
        uint8_t numbers[WIRE_FRAME_NUMBERS] = {0};
        for (int more = 1; more;) {
            if (zmq_msg_recv(&part, subscriber, 0) < 0)
                load_die("stream");
            more = zmq_msg_more(&part);
            if (more && zmq_msg_size(&part) == sizeof(numbers))
                memcpy(numbers, zmq_msg_data(&part), sizeof(numbers));
        }
        struct wire_message message;
        if (wire_decode(&message, &arena, zmq_msg_data(&part), zmq_msg_size(&part), NULL) == 0)
            take_frame(seen, &message, numbers);
        zmq_msg_close(&part);
    }
    wire_arena_finish(&arena);
}

/* ---- the run ------------------------------------------------------------- */

static double ms_at(const uint64_t *sorted, uint64_t count, unsigned percent)
{
    return count == 0 ? NAN : (double)sorted[count * percent / 100] * 1e-6;
}

static void print_budget(const char *budget, int kept, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void print_budget(const char *budget, int kept, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    printf("  budget: %-58s", budget);
    vprintf(format, list);
    printf("  %s\n", kept ? "kept" : "MISSED");
    va_end(list);
}

/* What was measured while the windows came. */
struct measured {
    double connected_s;
    double share;       /* of its core that the daemon took, all threads */
    double recording;   /* of that, the thread that records */
    double each_ns;     /* of its processor time for a window message, to the end of the job */
    uint64_t rss0, rss; /* bytes: when all were connected, and after the windows */
    struct load_tally told;
};

static void *subscribe(const struct settings *s, void *context)
{
    void *subscriber = zmq_socket(context, ZMQ_SUB);
    zmq_setsockopt(subscriber, ZMQ_SUBSCRIBE, s->viewer ? "" : "totals/",
                   s->viewer ? 0 : strlen("totals/"));
    zmq_setsockopt(subscriber, ZMQ_SUBSCRIBE, "job/", strlen("job/"));
    zmq_connect(subscriber, s->stream);
    return subscriber;
}

static void measure(const struct settings *s, pid_t daemon, void *subscriber, uint64_t base,
                    struct seen *seen, struct measured *m)
{
    uint64_t window_ns = s->load.window_ns;
    load_wait_until(base, (seen->first + 1) * window_ns);
    uint64_t cpu = cpu_ns_of(daemon), recorder = recorder_ns_of(daemon), from = clock_mono_ns();
    /* The last window is left out of the measured time: it is the drain. */
    watch(subscriber, seen, from + (s->load.windows - 1) * window_ns);
    double used = (double)(cpu_ns_of(daemon) - cpu);
    m->share = used / (double)(clock_mono_ns() - from);
    m->recording = (double)(recorder_ns_of(daemon) - recorder) / used;
    m->rss = rss_of(daemon, "VmRSS");
    watch(subscriber, seen, clock_mono_ns() + END_NS);
    m->each_ns = (double)(cpu_ns_of(daemon) - cpu) / ((double)s->load.agents * s->load.windows);
}

/* Read what a worker writes; the bench ends with a process of it that fails, which says why. */
static void read_worker(int from, void *out, size_t length)
{
    struct pollfd readable = {.fd = from, .events = POLLIN};
    while (poll(&readable, 1, 100) == 0) {
        int status;
        while (waitpid(-1, &status, WNOHANG) > 0)
            if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_SUCCESS)
                exit(EXIT_FAILURE);
    }
    if (read(from, out, length) != (ssize_t)length)
        load_die("a worker");
}

static void gather(const struct settings *s, int done, struct load_tally *all)
{
    for (unsigned w = 0; w < s->load.workers; w++) {
        struct load_tally one;
        read_worker(done, &one, sizeof(one));
        all->messages += one.messages;
        all->bytes += one.bytes;
        all->sent += one.sent;
        all->unacked += one.unacked;
        all->late_sends += one.late_sends;
        all->redials += one.redials;
    }
}

/* Only send, and print what was sent. */
static int run_connected(struct settings *s)
{
    int ready[2], go[2], done[2];
    uint64_t base = 0;
    struct load_tally sent = {0};
    if (pipe(ready) != 0 || pipe(go) != 0 || pipe(done) != 0)
        load_die("pipe");
    for (unsigned w = 0; w < s->load.workers; w++) {
        if (fork() == 0)
            load_work(&s->load, w, ready[1], go[0], done[1]);
    }
    for (unsigned w = 0; w < s->load.workers; w++)
        read_worker(ready[0], &base, sizeof(base));
    if (s->begin == 0)
        s->begin = (clock_mono_ns() + base) / s->load.window_ns + 2;
    printf("{\"begin\": %" PRIu64 "}\n", s->begin);
    fflush(stdout);
    for (unsigned w = 0; w < s->load.workers; w++) {
        if (write(go[1], &s->begin, sizeof(s->begin)) != sizeof(s->begin))
            load_die("pipe");
    }
    gather(s, done[0], &sent);
    printf("{\"messages\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"sent\": %" PRIu64
           ", \"unacknowledged\": %" PRIu64 ", \"late\": %" PRIu64 ", \"redials\": %" PRIu64 "}\n",
           sent.messages, sent.bytes, sent.sent, sent.unacked, sent.late_sends, sent.redials);
    return sent.unacked == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static uint64_t pairs_of(const struct load *load)
{
    return (uint64_t)load->agents * load->ranks * LOAD_PARTNERS;
}

static void print_rates(const struct settings *s, const struct measured *m)
{
    const struct load *l = &s->load;
    double a_second = 1e9 / (double)l->window_ns;
    printf("agents %u  ranks %u  pairs %" PRIu64
           "  order %s  bursts %s  recording %s  viewer of everything %s\n",
           l->agents, l->agents * l->ranks, pairs_of(l), l->order,
           l->burst_rows != 0 ? "on" : "off", s->record ? "on" : "off", s->viewer ? "yes" : "no");
    printf("  %.0f window messages/s, %.1f MB/s, %.0f pair rows/s; connected in %.1f s\n",
           (double)l->agents * a_second, (double)m->told.bytes / l->windows * a_second * 1e-6,
           (double)pairs_of(l) * 0.9 * a_second, m->connected_s);
    /* The share is smaller than the budget's figure where the daemon had to wait for its core. */
    printf("  daemon %.1f us for each window message, all threads; %.0f %% of its core meanwhile\n",
           m->each_ns * 1e-3, m->share * 100);
    printf("  daemon %.1f MiB, of that %.1f MiB for connections\n", (double)m->rss / 1048576,
           (double)m->rss0 / 1048576);
}

/* @return whether something was lost */
static int print_verdicts(const struct settings *s, const struct measured *m, struct seen *seen)
{
    const struct load *l = &s->load;
    for (unsigned w = 0; w < l->windows && w < MOST_WINDOWS; w++)
        seen->sent += seen->by_window[w];
    double first_ms = ms_at(seen->delays, seen->windows, 0);
    uint64_t others = seen->windows == 0 ? 0 : seen->windows - 1, *delays = seen->delays + 1;
    qsort(delays, others, sizeof(*delays), order_u64);
    double p50 = ms_at(delays, others, 50), p99 = ms_at(delays, others, 99);
    double spread_ms = (double)l->spread_ns * 1e-6;
    double cores = m->each_ns * l->agents / (double)l->window_ns;
    int64_t missing = (int64_t)(m->told.sent - seen->sent);
    int lost = missing != 0 || m->told.unacked != 0;
    printf(
        "  window end to published: first %.0f ms, then p50 %.0f ms, p99 %.0f ms; the last agent "
        "reports %.0f ms after the end\n",
        first_ms, p50, p99, spread_ms);
    printf("  published %" PRIu64 " windows, %" PRIu64 " corrections; generator sent %" PRIu64
           " of %" PRIu64 " messages more than 50 ms behind its plan\n",
           seen->windows, seen->corrections, m->told.late_sends, m->told.messages);
    if (seen->newest_frame != seen->frames)
        printf("  the subscriber missed %" PRIu64 " frames, so sums below are not to be had\n",
               seen->newest_frame - seen->frames);
    print_budget("nothing lost", !lost,
                 "%" PRId64 " of %" PRIu64 " counted messages, %" PRIu64 " agents not acknowledged",
                 missing, m->told.sent, m->told.unacked);
    print_budget("one core, all threads", cores <= 1, "%.2f cores", cores);
    if (s->record != NULL)
        print_budget("recording, of the daemon's processor time", m->recording <= 0.25, "%.1f %%",
                     100 * m->recording);
    print_budget("published 100 ms after the last report was due, p99", p99 - spread_ms <= 100,
                 "%.0f ms", p99 - spread_ms);
    /* One run cannot show whether it is linear: no verdict. */
    printf("  budget: %-58s%.0f bytes a pair above the connections'\n",
           "memory linear in pairs: the same with other --agents",
           ((double)m->rss - (double)m->rss0) / (double)pairs_of(l));
    return lost;
}

static int run(struct settings *s)
{
    static struct seen seen;
    struct measured m = {0};
    uint64_t base = 0, begun = clock_mono_ns();
    pid_t daemon = start_daemon(s);
    pin(-1, 0);
    int ready[2], go[2], done[2], status = 0;
    if (pipe(ready) != 0 || pipe(go) != 0 || pipe(done) != 0)
        load_die("pipe");
    for (unsigned w = 0; w < s->load.workers; w++) {
        if (fork() == 0)
            load_work(&s->load, w, ready[1], go[0], done[1]);
    }
    void *context = zmq_ctx_new(), *subscriber = subscribe(s, context);
    for (unsigned w = 0; w < s->load.workers; w++)
        read_worker(ready[0], &base, sizeof(base));
    m.connected_s = (double)(clock_mono_ns() - begun) * 1e-9;
    m.rss0 = rss_of(daemon, "VmRSS");
    seen.first = (clock_mono_ns() + base) / s->load.window_ns + 2;
    for (unsigned w = 0; w < s->load.workers; w++) {
        if (write(go[1], &seen.first, sizeof(seen.first)) != sizeof(seen.first))
            load_die("pipe");
    }
    measure(s, daemon, subscriber, base, &seen, &m);
    gather(s, done[0], &m.told);
    while (waitpid(-1, &status, 0) > 0)
        ;
    zmq_close(subscriber);
    zmq_ctx_term(context);
    print_rates(s, &m);
    return print_verdicts(s, &m, &seen) ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* ---- its command line ---------------------------------------------------- */

/* @return whether it can be run */
static int read_arguments(struct settings *s, int argc, char **argv)
{
    static const struct option names[] = {
        {"agents", 1, NULL, 'a'},     {"ranks", 1, NULL, 'r'},     {"windows", 1, NULL, 'w'},
        {"window-ms", 1, NULL, 'l'},  {"spread-ms", 1, NULL, 's'}, {"order", 1, NULL, 'o'},
        {"record", 1, NULL, 'R'},     {"viewer", 0, NULL, 'v'},    {"workers", 1, NULL, 'n'},
        {"burst-rows", 1, NULL, 'b'}, {"no-bursts", 0, NULL, 'B'}, {"connect", 1, NULL, 'c'},
        {"begin", 1, NULL, 'f'},      {"until", 1, NULL, 'u'},     {NULL, 0, NULL, 0}};
    struct load *l = &s->load;
    int option;
    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        unsigned number = optarg == NULL ? 0 : (unsigned)strtoul(optarg, NULL, 10);
        switch (option) {
        case 'a':
            l->agents = number;
            break;
        case 'r':
            l->ranks = number;
            break;
        case 'w':
            l->windows = number;
            break;
        case 'l':
            l->window_ns = number * MS;
            break;
        case 's':
            l->spread_ns = number * MS;
            break;
        case 'o':
            l->order = optarg;
            break;
        case 'R':
            s->record = optarg;
            break;
        case 'v':
            s->viewer = 1;
            break;
        case 'n':
            l->workers = number;
            break;
        case 'b':
            l->burst_rows = number;
            break;
        case 'c':
            s->connect = optarg;
            break;
        case 'u':
            l->until = optarg;
            break;
        case 'f':
            s->begin = strtoull(optarg, NULL, 10);
            break;
        case 'B':
            l->burst_rows = 0;
            break;
        default:
            return 0;
        }
    }
    if (optind + (s->connect == NULL) != argc || l->agents == 0 || l->ranks == 0 ||
        l->windows < 2 || l->workers == 0 || l->window_ns == 0 ||
        (l->burst_rows != 0 && l->burst_rows < LEAST_BURST_ROWS)) {
        fprintf(stderr, "usage: daemon_load [options] HOLTERD, see the head of its source\n");
        return 0;
    }
    if (s->connect != NULL)
        return 1;
    s->holterd = argv[optind];
    return s->record == NULL || !has_recording(s->record);
}

static void complete(struct settings *s, const char *directory)
{
    struct load *l = &s->load;
    if (l->burst_rows == UINT_MAX) {
        unsigned rows = JOB_BURST_ROWS / l->agents;
        l->burst_rows = rows < LEAST_BURST_ROWS  ? LEAST_BURST_ROWS
                        : rows > LOAD_BURST_ROWS ? LOAD_BURST_ROWS
                                                 : rows;
    }
    l->spread_ns = l->spread_ns == UINT64_MAX ? l->window_ns / 2 : l->spread_ns;
    snprintf(s->endpoint, sizeof(s->endpoint), "ipc://%s/d", directory);
    snprintf(s->stream, sizeof(s->stream), "%s.stream", s->endpoint);
    if (s->connect == NULL)
        l->endpoints[l->endpoint_count++] = s->endpoint;
    for (char *e; s->connect != NULL && l->endpoint_count < LOAD_ENDPOINTS &&
                  (e = strsep(&s->connect, ",")) != NULL;)
        l->endpoints[l->endpoint_count++] = e;
    load_make_box(l);
}

int main(int argc, char **argv)
{
    struct settings s = {.load = {.agents = 1000,
                                  .ranks = 8,
                                  .windows = 10,
                                  .workers = 4,
                                  .burst_rows = UINT_MAX,
                                  .window_ns = S,
                                  .spread_ns = UINT64_MAX,
                                  .order = "turned"}};
    char directory[] = "/tmp/holter-load-XXXXXX";
    if (!read_arguments(&s, argc, argv))
        return 2;
    if (mkdtemp(directory) == NULL)
        load_die(directory);
    file_limit_raise();
    const int connected = s.connect != NULL;
    complete(&s, directory);
    int code = connected ? run_connected(&s) : run(&s);
    rmdir(directory);
    return code;
}

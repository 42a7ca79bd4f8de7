#include "truth.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CALLS 256
#define REGIONS 8

struct call_truth {
    const char *name;
    size_t count, given, got, polls;
};

struct message_truth {
    size_t messages, bytes;
};

static struct {
    pthread_mutex_t lock;
    int rank, size;
    struct call_truth calls[CALLS];
    struct truth_live *live;    /* mapped; NULL: not asked for */
    FILE *times;                /* of calls; NULL: not asked for */
    struct message_truth *sent; /* one a world rank */
    struct message_truth received;
    struct {
        const char *name;
        struct message_truth sent;
    } regions[REGIONS];
    int region;         /* index of the open one, -1 outside */
    FILE *trace;        /* into the text; NULL: not asked for */
    char *trace_text;   /* owned */
    size_t trace_bytes; /* of the text */
} truth = {.lock = PTHREAD_MUTEX_INITIALIZER, .region = -1};

static _Thread_local struct truth_span last_call;
static _Thread_local struct {
    const char *name;
    uint64_t begin_ns; /* CLOCK_REALTIME */
} timed;

static uint64_t ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
#endif
}

static uint64_t real_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void begin_timed(const char *name)
{
    if (!truth.times)
        return;
    timed.name = name;
    timed.begin_ns = real_ns();
}

static void end_timed(void)
{
    if (truth.times)
        fprintf(truth.times, "%s %" PRIu64 " %" PRIu64 "\n", timed.name, timed.begin_ns, real_ns());
}

_Noreturn void truth_broken(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "rank %d: ", truth.rank);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    _Exit(99);
}

void truth_start(const char *init_call)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    truth_start_as(init_call, rank, size);
}

static void map_live(const char *directory)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/live.%d", directory, truth.rank);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    size_t size = CALLS * sizeof *truth.live;
    if (fd < 0 || ftruncate(fd, (off_t)size) != 0)
        truth_broken("cannot write %s", path);
    void *live = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (live == MAP_FAILED)
        truth_broken("cannot map %s", path);
    truth.live = live;
    close(fd);
    snprintf(path, sizeof path, "%s/times.%d", directory, truth.rank);
    truth.times = fopen(path, "w");
    if (!truth.times)
        truth_broken("cannot write %s", path);
}

void truth_init(int *argc, char ***argv, int *rank, int *size)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
    truth_start_as("MPI_Init", *rank, *size);
}

void truth_start_as(const char *init_call, int rank, int size)
{
    truth.rank = rank;
    truth.size = size;
    truth.sent = calloc((size_t)truth.size, sizeof *truth.sent);
    if (!truth.sent)
        truth_broken("out of memory");
    if (getenv("TRUTH_TRACE")) {
        truth.trace = open_memstream(&truth.trace_text, &truth.trace_bytes);
        if (!truth.trace)
            truth_broken("out of memory");
    }
    if (getenv("TRUTH_LIVE"))
        map_live(getenv("TRUTH_LIVE"));
    truth_call(init_call, 0, 0);
    end_timed();
}

static void count_call(const char *name, size_t given, size_t got, size_t polls)
{
    pthread_mutex_lock(&truth.lock);
    for (int i = 0; i < CALLS; i++) {
        struct call_truth *c = &truth.calls[i];
        if (!c->name)
            c->name = name;
        if (strcmp(c->name, name) == 0) {
            c->count++;
            c->given += given;
            c->got += got;
            c->polls += polls;
            if (truth.live) {
                truth.live[i].calls = c->count;
                memcpy(truth.live[i].name, name, strlen(name));
            }
            pthread_mutex_unlock(&truth.lock);
            return;
        }
    }
    truth_broken("more than %d kinds of calls", CALLS);
}

void truth_call(const char *name, size_t given, size_t got)
{
    count_call(name, given, got, 0);
    begin_timed(name);
    last_call.begin = ticks();
}

int truth_called(int rc)
{
    last_call.end = ticks();
    end_timed();
    return rc;
}

void truth_polls(void)
{
    begin_timed("");
    last_call.begin = ticks();
}

int truth_poll(const char *name, int found)
{
    last_call.end = ticks();
    count_call(name, 0, 0, !found);
    timed.name = name;
    end_timed();
    return found;
}

struct truth_span truth_span(void)
{
    return last_call;
}

static void trace(const char *what, struct truth_span span, int peer, size_t bytes, uint64_t serial)
{
    pthread_mutex_lock(&truth.lock);
    if (truth.trace)
        fprintf(truth.trace, "trace %s %d %ld %" PRIu64 " %" PRIu64 " %d %zu %" PRIu64 "\n", what,
                truth.rank, syscall(SYS_gettid), span.begin, span.end, peer, bytes, serial);
    pthread_mutex_unlock(&truth.lock);
}

void truth_trace_send(struct truth_span posted, int to_world, size_t bytes, uint64_t serial)
{
    trace("send", posted, to_world, bytes, serial);
}

void truth_trace_receive(struct truth_span completed, int from_world, size_t bytes, uint64_t serial)
{
    trace("receive", completed, from_world, bytes, serial);
}

void truth_sent(int world, size_t bytes)
{
    if (world < 0 || world >= truth.size)
        truth_broken("sent to rank %d", world);
    pthread_mutex_lock(&truth.lock);
    truth.sent[world].messages++;
    truth.sent[world].bytes += bytes;
    if (truth.region >= 0) {
        truth.regions[truth.region].sent.messages++;
        truth.regions[truth.region].sent.bytes += bytes;
    }
    pthread_mutex_unlock(&truth.lock);
}

void truth_received(size_t bytes)
{
    pthread_mutex_lock(&truth.lock);
    truth.received.messages++;
    truth.received.bytes += bytes;
    pthread_mutex_unlock(&truth.lock);
}

void truth_region(const char *name)
{
    pthread_mutex_lock(&truth.lock);
    truth.region = -1;
    for (int i = 0; name && i < REGIONS && truth.region < 0; i++) {
        if (!truth.regions[i].name)
            truth.regions[i].name = name;
        if (strcmp(truth.regions[i].name, name) == 0)
            truth.region = i;
    }
    pthread_mutex_unlock(&truth.lock);
}

static void write_lines(FILE *f)
{
    for (int i = 0; i < CALLS && truth.calls[i].name; i++) {
        const struct call_truth *c = &truth.calls[i];
        fprintf(f, "truth calls %d %s %zu %zu %zu\n", truth.rank, c->name, c->count, c->given,
                c->got);
        if (c->polls)
            fprintf(f, "truth polls %d %s %zu\n", truth.rank, c->name, c->polls);
    }
    for (int to = 0; to < truth.size; to++) {
        const struct message_truth *m = &truth.sent[to];
        if (m->messages)
            fprintf(f, "truth sent %d %d %zu %zu\n", truth.rank, to, m->messages, m->bytes);
    }
    fprintf(f, "truth received %d %zu %zu\n", truth.rank, truth.received.messages,
            truth.received.bytes);
    for (int i = 0; i < REGIONS && truth.regions[i].name; i++)
        fprintf(f, "truth region %d %s %zu %zu\n", truth.rank, truth.regions[i].name,
                truth.regions[i].sent.messages, truth.regions[i].sent.bytes);
    if (truth.trace && fflush(truth.trace) == 0)
        fputs(truth.trace_text, f);
}

void truth_write(void)
{
    const char *directory = getenv("TRUTH_DIR");
    if (!directory) {
        write_lines(stdout);
        fflush(stdout);
        return;
    }
    /* Who waits for the file finds it whole. Another job may write one of the same name. */
    char path[4096], part[4096];
    snprintf(path, sizeof path, "%s/truth.%d", directory, truth.rank);
    snprintf(part, sizeof part, "%s.%d.%ld", directory, truth.rank, (long)getpid());
    FILE *f = fopen(part, "w");
    if (!f)
        truth_broken("cannot write %s", part);
    write_lines(f);
    if (fclose(f) != 0 || rename(part, path) != 0)
        truth_broken("cannot write %s", path);
}

static void wait_at_gate(void)
{
    const char *gate = getenv("TRUTH_GATE");
    struct timespec a_while = {.tv_nsec = 10000000};
    while (gate && access(gate, F_OK) != 0)
        nanosleep(&a_while, NULL);
}

void truth_finish(void)
{
    CALL(Finalize);
    if (truth.times && fclose(truth.times) != 0)
        truth_broken("cannot write the times of calls");
    truth_write();
    if (truth.trace)
        fclose(truth.trace);
    free(truth.trace_text);
    free(truth.sent);
    wait_at_gate();
}

/* A day of a large job's phases: what the daemon keeps and how long a window takes.
 *
 *   commgram_day_bench [--day] [--hours N]
 *
 * 4,320 ranks in a grid of 12 x 18 x 20 exchange halos with their 26 neighbours (112,320 pairs) in
 * each window of a second, in two bursts; each minute they composite a picture by binary swap in
 * ten rounds, one window each, among the first 4,096. Messages come as one agent's, already merged:
 * what is measured is job_phases, not the taking in of 108 nodes. An hour by default; --day: 24 of
 * them.
 *
 * Printed for each hour: heap and resident memory in MiB, and milliseconds a window: taking it in,
 * mean, 99th percentile, worst. */
#include "daemon/job/phases/job_phases.h"
#include "holter/order.h"
#include "holter/size_class.h"
#include "tests/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RANKS 4320u
#define X 12u
#define Y 18u
#define Z 20u
#define S UINT64_C(1000000000)
#define MS UINT64_C(1000000)
#define FIRST UINT64_C(1700000000)
#define PAIRS (RANKS * 26u)
#define HOUR 3600u
#define SWAP_ROUNDS 10u
#define SWAP_RANKS 4096u

__extension__ typedef unsigned __int128 wide;

struct input {
    struct wire_burst_pair_row halo[2 * PAIRS];
    struct wire_burst_row bursts[2];
    struct wire_burst_pair_row swap[SWAP_RANKS];
    uint64_t random;
};

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A neighbour in the grid, whose sides are joined. */
static uint32_t neighbour(uint32_t rank, uint32_t which)
{
    uint32_t x = rank % X, y = rank / X % Y, z = rank / X / Y;
    which += which >= 13; /* 13 is the rank itself */
    x = (x + X + which % 3 - 1) % X;
    y = (y + Y + which / 3 % 3 - 1) % Y;
    z = (z + Z + which / 9 - 1) % Z;
    return x + X * (y + Y * z);
}

static void make_halo(struct input *in)
{
    static const uint64_t bytes[4] = {0, 64 << 10, 2 << 10, 64}; /* by how many sides differ */
    for (uint32_t i = 0; i < PAIRS; i++) {
        uint32_t rank = i / 26, which = i % 26, k = which + (which >= 13);
        unsigned differ = (unsigned)(k % 3 != 1) + (k / 3 % 3 != 1) + (k / 9 != 1);
        in->halo[i] = (struct wire_burst_pair_row){
            rank, neighbour(rank, which), size_class_of(bytes[differ]), 5, 5 * bytes[differ]};
    }
    memcpy(in->halo + PAIRS, in->halo, PAIRS * sizeof(in->halo[0]));
}

static void add(struct wire_burst_row *out, uint64_t at_ns, const struct wire_burst_pair_row *pairs,
                uint64_t count)
{
    *out = (struct wire_burst_row){.first_ns = at_ns, .last_ns = at_ns, .pairs = count};
    for (uint64_t i = 0; i < count; i++) {
        out->messages += pairs[i].messages;
        out->bytes += pairs[i].bytes;
    }
    wide sum = (wide)at_ns * out->messages;
    out->time_sum_high = (uint64_t)(sum >> 64);
    out->time_sum_low = (uint64_t)sum;
}

/* The message of one window. */
static struct wire_window make_window(struct input *in, uint32_t window)
{
    uint64_t begin = (FIRST + window) * S;
    struct wire_window m = {.window = FIRST + window, .length_ns = S, .bursts = in->bursts};
    uint32_t second = window % 60;
    if (second < SWAP_ROUNDS) {
        for (uint32_t i = 0; i < SWAP_RANKS; i++) {
            uint64_t bytes = (8u << 20) >> (second + 1);
            in->swap[i] =
                (struct wire_burst_pair_row){i, i ^ (1u << second), size_class_of(bytes), 1, bytes};
        }
        add(&in->bursts[0], begin + 200 * MS + bench_next(&in->random) % (50 * MS), in->swap,
            SWAP_RANKS);
        m.bursts_count = 1;
        m.burst_pairs = in->swap;
        m.burst_pairs_count = SWAP_RANKS;
        return m;
    }
    if (second >= SWAP_ROUNDS + 2 && second < 58) { /* a pause before and after the picture */
        for (uint32_t i = 0; i < 2; i++)
            add(&in->bursts[i], begin + (100 + 450 * i) * MS + bench_next(&in->random) % (30 * MS),
                in->halo, PAIRS);
        m.bursts_count = 2;
        m.burst_pairs = in->halo;
        m.burst_pairs_count = 2 * (uint64_t)PAIRS;
    }
    return m;
}

static size_t resident(void)
{
    unsigned long size = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL || fscanf(file, "%lu %lu", &size, &pages) != 2)
        pages = 0;
    if (file != NULL)
        fclose(file);
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

static double mib(size_t bytes)
{
    return (double)bytes / (1 << 20);
}

static void print(uint32_t hour, double *ms, double take)
{
    double sum = 0;
    for (uint32_t i = 0; i < HOUR; i++)
        sum += ms[i];
    qsort(ms, HOUR, sizeof(*ms), order_doubles);
    printf("%4u  %6.1f  %8.1f  %6.2f  %6.2f  %7.1f  %7.1f\n", hour, mib(bench_heap()),
           mib(resident()), take / HOUR * 1e3, sum / HOUR, ms[HOUR * 99 / 100], ms[HOUR - 1]);
    fflush(stdout);
}

static void run_hour(struct job_phases *phases, struct input *in, uint32_t hour)
{
    static double ms[HOUR];
    double take = 0;
    for (uint32_t i = 0; i < HOUR; i++) {
        struct burst_rows rows = {0};
        struct wire_phases told;
        struct wire_curve curve;
        struct wire_window m = make_window(in, hour * HOUR + i);
        double begun = seconds(CLOCK_PROCESS_CPUTIME_ID);
        bench_check(job_phases_prepare(phases, &rows, &m, 108, RANKS), "prepare");
        job_phases_add(phases, &rows, &m);
        double taken = seconds(CLOCK_PROCESS_CPUTIME_ID);
        const struct closed_window window = {.number = m.window, .world = RANKS, .bursts = &rows};
        bench_check(job_phases_update(phases, &window), "update");
        if (job_phases_changed(phases))
            bench_check(job_phases_list_changes(phases, &told, &curve), "news");
        ms[i] = (seconds(CLOCK_PROCESS_CPUTIME_ID) - taken) * 1e3;
        take += taken - begun;
        burst_rows_finish(&rows);
    }
    print(hour + 1, ms, take);
}

int main(int argc, char **argv)
{
    uint32_t hours = 1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--day") == 0)
            hours = 24;
        else if (strcmp(argv[i], "--hours") == 0 && i + 1 < argc)
            hours = (uint32_t)strtoul(argv[++i], NULL, 10);
    }
    struct job_phases *phases;
    struct input *in = calloc(1, sizeof(*in));
    bench_check(in == NULL, "no memory");
    make_halo(in);
    bench_check(job_phases_create(&phases, S, 1, 0), "create");
    printf("4,320 ranks, 112,320 pairs of a halo, a picture by binary swap each minute\n"
           "                ------------- MiB -------------  -------- ms a window ----------\n"
           "hour    heap  resident    take   close      99%%    worst\n");
    for (uint32_t hour = 0; hour < hours; hour++)
        run_hour(phases, in, hour);
    double begun = seconds(CLOCK_PROCESS_CPUTIME_ID);
    bench_check(job_phases_end(phases, 1), "end");
    printf("end: %.1f ms\n", (seconds(CLOCK_PROCESS_CPUTIME_ID) - begun) * 1e3);
    job_phases_destroy(phases);
    free(in);
    return 0;
}

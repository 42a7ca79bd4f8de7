/* Joining ends of messages, window by window, against a plain sort-merge join of all of them at
 * once: sort by key, walk through, compute the transfer. The batch join holds the whole run in
 * memory, checks nothing and knows no clocks and no calls. Both get the ends node by node; rounds
 * of both alternate, the medians are compared. */
#include "holter/clock.h"
#include "holter/order.h"
#include "tests/bench/bench.h"
#include "tests/daemon/analysis/matching/join_feed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES 64u
#define RANKS 8u      /* on each */
#define NEIGHBOURS 6u /* nodes that a node talks to */
#define WINDOWS 10u
#define MESSAGES 100000u /* of a window */
#define ROUNDS 9
#define EPOCH UINT64_C(1700000000)
#define SECOND UINT64_C(1000000000)

/* What one node reports of one window. */
struct report {
    struct join_half *halves;
    size_t count, room;
};

static struct report reports[WINDOWS][NODES];
static uint64_t checksum;

static uint64_t draw(uint64_t *random)
{
    *random += UINT64_C(0x9e3779b97f4a7c15); /* SplitMix64 */
    uint64_t x = *random;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static void tell(const struct join_half *half)
{
    struct report *report = &reports[half->end_ns / SECOND - EPOCH][half->node];
    if (report->count == report->room) {
        report->room = 2 * report->room + 64;
        report->halves = realloc(report->halves, report->room * sizeof(*report->halves));
        if (report->halves == NULL)
            exit(1);
    }
    report->halves[report->count++] = *half;
}

static void make_messages(void)
{
    uint64_t random = 1;
    for (uint32_t i = 0; i < WINDOWS * MESSAGES; i += 2) {
        uint64_t enter = EPOCH * SECOND + draw(&random) % (WINDOWS * SECOND - SECOND / 100),
                 leave = enter;
        uint32_t node = (uint32_t)draw(&random) % NODES, rank = (uint32_t)draw(&random) % RANKS;
        struct join_half sends[2];
        for (uint32_t m = 0; m < 2; m++) { /* each receiving call completes two */
            uint32_t from = (node + 1 + (uint32_t)draw(&random) % NEIGHBOURS) % NODES;
            uint64_t begin = enter + draw(&random) % 50000;
            sends[m] = (struct join_half){.key = draw(&random),
                                          .source = from * RANKS + (uint32_t)draw(&random) % RANKS,
                                          .destination = node * RANKS + rank,
                                          .bytes = 4096,
                                          .begin_ns = begin,
                                          .end_ns = begin + 2000,
                                          .node = from,
                                          .error_ns = 40000};
            leave = begin + 15000 > leave ? begin + 15000 : leave;
            tell(&sends[m]);
        }
        for (uint32_t m = 0; m < 2; m++) {
            struct join_half receive = sends[m];
            receive.receive = 1;
            receive.begin_ns = receive.local_ns = enter;
            receive.end_ns = leave;
            receive.together = 2;
            receive.node = node;
            tell(&receive);
        }
    }
}

static void take(void *user, const struct joined *message)
{
    (void)user;
    checksum += message->transfer_ns;
}

static double stream(struct join_counts *counts, size_t *bytes)
{
    struct join *join;
    struct join_params params = {.windows = 4, .most_halves = (size_t)4 << 20};
    uint64_t begin = clock_process_cpu_ns();
    if (join_create(&join, &params) != 0)
        exit(1);
    const size_t heap = bench_heap();
    *bytes = 0;
    for (uint32_t w = 0; w < WINDOWS; w++) {
        for (uint32_t n = 0; n < NODES; n++)
            if (join_feed(join, EPOCH + w, 0, reports[w][n].halves, reports[w][n].count) != 0)
                exit(1);
        size_t open = bench_heap() - heap;
        if (join_close(join, EPOCH + w, take, NULL) != 0)
            exit(1);
        size_t now = bench_heap() - heap;
        now = now > open ? now : open;
        *bytes = now > *bytes ? now : *bytes;
    }
    join_count(join, counts);
    join_destroy(join);
    return (double)(clock_process_cpu_ns() - begin) / 1e9;
}

struct place {
    uint64_t key;
    const struct join_half *half;
};

static int by_key(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static double batch(uint64_t *matched)
{
    uint64_t begin = clock_process_cpu_ns();
    size_t count = 0;
    struct place *places = malloc((size_t)2 * WINDOWS * MESSAGES * sizeof(*places));
    if (places == NULL)
        exit(1);
    for (uint32_t w = 0; w < WINDOWS; w++)
        for (uint32_t n = 0; n < NODES; n++)
            for (size_t i = 0; i < reports[w][n].count; i++)
                places[count++] =
                    (struct place){reports[w][n].halves[i].key, &reports[w][n].halves[i]};
    qsort(places, count, sizeof(*places), by_key);
    *matched = 0;
    for (size_t i = 0; i + 1 < count; i++) {
        const struct join_half *a = places[i].half, *b = places[i + 1].half;
        if (a->key != b->key || a->receive == b->receive)
            continue;
        checksum += a->receive ? a->end_ns - b->begin_ns : b->end_ns - a->begin_ns;
        ++*matched;
    }
    free(places);
    return (double)(clock_process_cpu_ns() - begin) / 1e9;
}

int main(void)
{
    double streamed[ROUNDS], batched[ROUNDS];
    struct join_counts counts = {0};
    uint64_t matched = 0;
    size_t bytes = 0;
    make_messages();
    for (int i = 0; i < ROUNDS; i++) {
        streamed[i] = stream(&counts, &bytes);
        batched[i] = batch(&matched);
    }
    qsort(streamed, ROUNDS, sizeof(*streamed), order_doubles);
    qsort(batched, ROUNDS, sizeof(*batched), order_doubles);
    double halves = 2.0 * WINDOWS * MESSAGES, s = streamed[ROUNDS / 2], b = batched[ROUNDS / 2];
    printf("%u nodes, %u windows of %u messages; joined %" PRIu64 " and %" PRIu64 " of %u\n", NODES,
           WINDOWS, MESSAGES, counts.matched, matched, WINDOWS * MESSAGES);
    printf("join, window by window    %6.2f million halves/s, %.1f MiB at most\n", halves / s / 1e6,
           (double)bytes / 1048576);
    printf("sort-merge, all at once   %6.2f million halves/s, %.1f MiB with the halves\n",
           halves / b / 1e6, halves * (16 + sizeof(struct join_half)) / 1048576);
    printf("ratio %.2f (checksum %" PRIx64 ")\n", b / s, checksum);
    return counts.matched == matched ? 0 : 1;
}

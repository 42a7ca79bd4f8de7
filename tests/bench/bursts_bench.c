/* Bursts of a node's window: what a message costs, and the merging of nodes' sets.
 *
 *   bursts_bench [MESSAGES]
 *
 * 64 ranks send to 26 partners each, all their messages once a step; steps of 16 ms, of which 4 ms
 * are quiet, so a window of a second has 62 of them, twice the budget. Printed for each way in
 * which messages come: in order of time, as a node's messages are when they were matched rank by
 * rank, each rank's messages of 100 ms at once, as rings are drained at any time of the window, the
 * worst there is messages a second, and the same for the least that anybody must do: a plain sum of
 * the messages of each pair over the whole window (a hash table, no bursts). Then 16 nodes' sets
 * merged into one of the sum of their budgets and reduced, and what reading of a set costs. Then
 * how near streamed bursts come to the batch clustering of the same messages: the adjusted Rand
 * index (Hubert and Arabie 1985) over pairs of messages, for windows with so many runs of messages,
 * both cut to as many bursts as there are runs, or to 32. One run has no bursts to find. */
#include "daemon/analysis/tables/key_table.h"
#include "holter/size_class.h"
#include "tests/bench/bench.h"
#include "tests/daemon/analysis/events/burst_feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RANKS 64u
#define PARTNERS 26u
#define NODES 16u
#define SECOND UINT64_C(1000000000)
#define STEP (16 * SECOND / 1000)
#define QUIET (4 * SECOND / 1000)

static struct burst_message message_at(uint64_t time, uint32_t rank, uint32_t partner,
                                       uint32_t node)
{
    uint64_t bytes = partner < 6 ? 8192 : partner < 18 ? 512 : 8;
    return (struct burst_message){
        time, node * RANKS + rank, (rank * 7 + partner * 37) % 1024, size_class_of(bytes), 1,
        bytes};
}

static int by_time(const void *left, const void *right)
{
    const struct burst_message *a = left, *b = right;
    return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

enum order { BY_TIME, BY_RANK, ANY };

/* Messages of one second, evenly over its steps. */
static void make(struct burst_message *messages, size_t count, enum order order, uint32_t node)
{
    uint64_t random = node + 1;
    size_t each = count / RANKS, done = 0;
    for (uint32_t part = 0; part < 10; part++)
        for (uint32_t rank = 0; rank < RANKS; rank++)
            for (size_t i = each * part / 10; i < each * (part + 1) / 10; i++) {
                uint64_t busy =
                    SECOND / STEP * (STEP - QUIET) * i / each + bench_next(&random) % 64;
                uint64_t time = busy / (STEP - QUIET) * STEP + busy % (STEP - QUIET);
                messages[done++] = message_at(time, rank, (uint32_t)(i % PARTNERS), node);
            }
    if (order == BY_TIME)
        qsort(messages, done, sizeof(*messages), by_time);
    for (size_t i = done; order == ANY && i > 1; i--) {
        size_t other = bench_next(&random) % i;
        struct burst_message kept = messages[i - 1];
        messages[i - 1] = messages[other];
        messages[other] = kept;
    }
}

/* @return seconds, the least of three */
static double fill(struct bursts *set, const struct burst_message *messages, size_t count)
{
    double least = 1e9;
    for (uint32_t round = 0; round < 3; round++) {
        bursts_clear(set);
        double begin = bench_seconds();
        for (size_t i = 0; i < count; i++)
            bench_check(burst_feed_message(set, &messages[i]), "message");
        double took = bench_seconds() - begin;
        least = took < least ? took : least;
    }
    return least;
}

static double sum_pairs(const struct burst_message *messages, size_t count)
{
    struct key_table table = {0};
    struct burst_others *sums = calloc(1u << 16, sizeof(*sums));
    bench_check(key_table_reserve(&table, 1u << 15), "reserve");
    double begin = bench_seconds();
    for (size_t i = 0; i < count; i++) {
        const struct burst_message *m = &messages[i];
        struct key key = {(uint64_t)m->source << 32 | m->destination, m->size_class};
        uint32_t number = key_table_add(&table, key);
        sums[number].messages += m->messages;
        sums[number].bytes += m->bytes;
    }
    double took = bench_seconds() - begin;
    key_table_finish(&table);
    free(sums);
    return took;
}

static double read_all(struct bursts *set, size_t *rows)
{
    struct burst_sums burst;
    double begin = bench_seconds();
    *rows = 0;
    for (uint32_t i = 0; i < bursts_count(set); i++) {
        bench_check(bursts_read(set, i, &burst), "read");
        *rows += burst.pair_count;
    }
    return bench_seconds() - begin;
}

static void run(const char *name, enum order order, size_t count, uint64_t cell,
                struct burst_message *messages)
{
    struct bursts_params params = BURSTS_DEFAULTS;
    struct bursts *set;
    size_t rows, heap = bench_heap();
    params.cell_ns = cell;
    bench_check(bursts_create(&set, &params), "create");
    make(messages, count, order, 0);
    count = count / RANKS * RANKS;
    double took = fill(set, messages, count), plain = sum_pairs(messages, count);
    double read = read_all(set, &rows);
    printf("%-13s cells of %4u ns: %5.1f M/s, %5.1f ns each; pair sums alone %5.1f ns (%.2f x); "
           "read %u bursts, %zu rows, %.2f ms; %.1f MB\n",
           name, (unsigned)cell, 1e-6 * (double)count / took, 1e9 * took / (double)count,
           1e9 * plain / (double)count, took / plain, bursts_count(set), rows, 1e3 * read,
           1e-6 * (double)(bench_heap() - heap));
    bursts_destroy(set);
}

static void merge_nodes(size_t count, struct burst_message *messages)
{
    struct bursts_params params = BURSTS_DEFAULTS;
    struct bursts *nodes[NODES], *set;
    size_t rows, all_rows = 0, heap;
    for (uint32_t n = 0; n < NODES; n++) {
        bench_check(bursts_create(&nodes[n], &params), "create");
        make(messages, count, BY_RANK, n);
        for (size_t i = 0; i < count / RANKS * RANKS; i++)
            bench_check(burst_feed_message(nodes[n], &messages[i]), "message");
        read_all(nodes[n], &rows);
        all_rows += rows;
    }
    params.budget *= NODES;
    params.pairs *= NODES;
    heap = bench_heap();
    bench_check(bursts_create(&set, &params), "create");
    for (uint32_t round = 0; round < 2; round++) {
        bursts_clear(set);
        double begin = bench_seconds();
        for (uint32_t n = 0; n < NODES; n++)
            bench_check(burst_feed_set(set, nodes[n]), "merge");
        double merged = bench_seconds() - begin;
        uint32_t bursts = bursts_count(set);
        bursts_reduce(set, params.budget / NODES);
        double took = bench_seconds() - begin;
        printf("%s %u nodes, %zu rows: to %u bursts %.2f ms, reduced to %u %.2f ms in all, %.0f ns "
               "a row",
               round == 0 ? "first merge of" : "next merge of ", NODES, all_rows, bursts,
               1e3 * merged, bursts_count(set), 1e3 * took, 1e9 * took / (double)all_rows);
        double read = read_all(set, &rows);
        printf("; read %zu rows %.2f ms; %.1f MB\n", rows, 1e3 * read,
               1e-6 * (double)(bench_heap() - heap));
    }
    for (uint32_t n = 0; n < NODES; n++)
        bursts_destroy(nodes[n]);
    bursts_destroy(set);
}

/* ---- what streaming loses ------------------------------------------------------ */

#define FEW 20000u

static double pairs_of(double n)
{
    return n * (n - 1) / 2;
}

/* Bursts of messages alone do not overlap. @return the burst of each message */
static uint32_t *labels_of(struct bursts *set, const struct burst_message *messages)
{
    uint32_t *labels = calloc(FEW, sizeof(*labels)), bursts = bursts_count(set);
    uint64_t *last = calloc(bursts, sizeof(*last));
    struct burst_sums burst;
    for (uint32_t i = 0; i < bursts; i++) {
        bench_check(bursts_read(set, i, &burst), "read");
        last[i] = burst.last_ns;
    }
    for (uint32_t i = 0; i < FEW; i++)
        while (last[labels[i]] < messages[i].time_ns)
            labels[i]++;
    free(last);
    return labels;
}

/* @return adjusted Rand index of two sets of at most 64 bursts of the same messages */
static double agreement(struct bursts *one, struct bursts *other,
                        const struct burst_message *messages)
{
    static double both[64][64];
    double sum_both = 0, sum_one = 0, sum_other = 0;
    uint32_t *a = labels_of(one, messages), *b = labels_of(other, messages);
    memset(both, 0, sizeof(both));
    for (uint32_t i = 0; i < FEW; i++)
        both[a[i]][b[i]]++;
    for (uint32_t i = 0; i < 64; i++) {
        double row = 0, column = 0;
        for (uint32_t j = 0; j < 64; j++) {
            sum_both += pairs_of(both[i][j]);
            row += both[i][j];
            column += both[j][i];
        }
        sum_one += pairs_of(row);
        sum_other += pairs_of(column);
    }
    free(a);
    free(b);
    double expected = sum_one * sum_other / pairs_of(FEW);
    return (sum_both - expected) / ((sum_one + sum_other) / 2 - expected);
}

/* Runs of random length with pauses of random length, each message at a random time of its run. */
static void make_runs(struct burst_message *messages, uint32_t runs, uint64_t *random)
{
    uint64_t time = 0;
    for (uint32_t run = 0, done = 0; run < runs; run++) {
        uint64_t length = SECOND / runs / 8 + bench_next(random) % (SECOND / runs / 2);
        uint32_t end = run + 1 == runs ? FEW : done + FEW / runs;
        for (; done < end; done++)
            messages[done] = message_at(time + bench_next(random) % length, done % RANKS, 0, 0);
        time +=
            length + (runs == 1 ? 0 : SECOND / runs / 8 + bench_next(random) % (SECOND / runs / 2));
    }
}

/* @param most  bursts to reduce to at the end */
static struct bursts *stream(const struct burst_message *messages, uint32_t budget, uint32_t most)
{
    struct bursts_params params = BURSTS_DEFAULTS;
    struct bursts *set;
    params.budget = budget;
    params.pairs = RANKS;
    bench_check(bursts_create(&set, &params), "create");
    for (uint32_t i = 0; i < FEW; i++)
        bench_check(burst_feed_message(set, &messages[i]), "message");
    bursts_reduce(set, most);
    return set;
}

static void compare_batch(uint32_t runs, struct burst_message *messages)
{
    static const uint32_t budgets[] = {32, 64, 256};
    uint64_t random = runs;
    uint32_t most = runs > 1 && runs < BURSTS_DEFAULTS.budget ? runs : BURSTS_DEFAULTS.budget;
    make_runs(messages, runs, &random);
    struct bursts *batch = stream(messages, FEW, most);
    printf("%3u runs in %u bursts, adjusted Rand index:", runs, most);
    for (uint32_t in_order = 0; in_order < 2; in_order++) {
        if (in_order)
            qsort(messages, FEW, sizeof(*messages), by_time);
        printf("%s", in_order ? "; in order" : " unordered in runs");
        for (size_t i = 0; i < sizeof(budgets) / sizeof(budgets[0]); i++) {
            struct bursts *set = stream(messages, budgets[i], most);
            printf(" %.3f (budget %u)", agreement(set, batch, messages), budgets[i]);
            bursts_destroy(set);
        }
    }
    printf("\n");
    bursts_destroy(batch);
}

int main(int argc, char **argv)
{
    size_t count = argc > 1 ? (size_t)strtoull(argv[1], NULL, 10) : 2000000;
    count = count < 10 * RANKS ? 10 * RANKS : count;
    struct burst_message *messages = calloc(count > FEW ? count : FEW, sizeof(*messages));
    if (messages == NULL)
        return 1;
    for (uint64_t cell = 1024; cell > 0; cell /= 1024) {
        run("in order", BY_TIME, count, cell, messages);
        run("rank by rank", BY_RANK, count, cell, messages);
        run("at any time", ANY, count, cell, messages);
    }
    merge_nodes(count / NODES > 200 * RANKS ? count / NODES : count, messages);
    for (uint32_t runs = 8; runs <= 128; runs *= 2)
        compare_batch(runs, messages);
    compare_batch(1, messages);
    free(messages);
    return 0;
}

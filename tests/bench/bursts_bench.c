/* Bursts of a node's window: what a message costs, and the merging of nodes' sets.
 *
 *   bursts_bench [MESSAGES]
 *
 * 64 ranks send to 26 partners each, all their messages once a step; steps of 16 ms, of which 4 ms
 * are quiet, so a window of a second has 62 of them, twice the budget. Printed for each way in which
 * messages come:
 *   in order of time, as a node's messages are when they were matched
 *   rank by rank, each rank's messages of 100 ms at once, as rings are drained
 *   at any time of the window, the worst there is
 * messages a second, and the same for the least that anybody must do: a plain sum of the messages of
 * each pair over the whole window (a hash table, no bursts).
 * Then 16 nodes' sets merged into one of the sum of their budgets and reduced, and what reading of a
 * set costs. */
#include "daemon/analysis/bursts.h"
#include "daemon/analysis/key_table.h"
#include "include/holter/size_class.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define RANKS 64u
#define PARTNERS 26u
#define NODES 16u
#define SECOND UINT64_C(1000000000)
#define STEP (16 * SECOND / 1000)
#define QUIET (4 * SECOND / 1000)

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(int rc, const char *what)
{
    if (rc == 0)
        return;
    fprintf(stderr, "bursts_bench: %s: %d\n", what, rc);
    exit(1);
}

static uint32_t next(uint64_t *random)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*random >> 32);
}

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
                uint64_t busy = SECOND / STEP * (STEP - QUIET) * i / each + next(&random) % 64;
                uint64_t time = busy / (STEP - QUIET) * STEP + busy % (STEP - QUIET);
                messages[done++] = message_at(time, rank, (uint32_t)(i % PARTNERS), node);
            }
    if (order == BY_TIME)
        qsort(messages, done, sizeof(*messages), by_time);
    for (size_t i = done; order == ANY && i > 1; i--) {
        size_t other = next(&random) % i;
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
        double begin = seconds();
        for (size_t i = 0; i < count; i++)
            check(bursts_message(set, &messages[i]), "message");
        double took = seconds() - begin;
        least = took < least ? took : least;
    }
    return least;
}

static double sum_pairs(const struct burst_message *messages, size_t count)
{
    struct key_table table;
    struct burst_others *sums = calloc(1u << 16, sizeof(*sums));
    key_table_init(&table);
    check(key_table_reserve(&table, 1u << 15), "reserve");
    double begin = seconds();
    for (size_t i = 0; i < count; i++) {
        const struct burst_message *m = &messages[i];
        struct key key = {(uint64_t)m->source << 32 | m->destination, m->size_class};
        uint32_t number = key_table_add_hashed(&table, key);
        sums[number].messages += m->messages;
        sums[number].bytes += m->bytes;
    }
    double took = seconds() - begin;
    key_table_finish(&table);
    free(sums);
    return took;
}

static double read_all(struct bursts *set, size_t *rows)
{
    struct burst burst;
    double begin = seconds();
    *rows = 0;
    for (uint32_t i = 0; i < bursts_count(set); i++) {
        check(bursts_read(set, i, &burst), "read");
        *rows += burst.pair_count;
    }
    return seconds() - begin;
}

static void run(const char *name, enum order order, size_t count, uint64_t cell,
                struct burst_message *messages)
{
    struct bursts_params params = BURSTS_DEFAULTS;
    struct bursts *set;
    size_t rows;
    params.cell_ns = cell;
    check(bursts_create(&set, &params), "create");
    make(messages, count, order, 0);
    count = count / RANKS * RANKS;
    double took = fill(set, messages, count), plain = sum_pairs(messages, count);
    double read = read_all(set, &rows);
    printf("%-13s cells of %4u ns: %5.1f M/s, %5.1f ns each; pair sums alone %5.1f ns (%.2f x); "
           "read %u bursts, %zu rows, %.2f ms; %.1f MB\n",
           name, (unsigned)cell, 1e-6 * (double)count / took, 1e9 * took / (double)count,
           1e9 * plain / (double)count, took / plain, bursts_count(set), rows, 1e3 * read,
           1e-6 * (double)bursts_heap(set));
    bursts_destroy(set);
}

static void merge_nodes(size_t count, struct burst_message *messages)
{
    struct bursts_params params = BURSTS_DEFAULTS;
    struct bursts *nodes[NODES], *set;
    size_t rows, all_rows = 0;
    for (uint32_t n = 0; n < NODES; n++) {
        check(bursts_create(&nodes[n], &params), "create");
        make(messages, count, BY_RANK, n);
        for (size_t i = 0; i < count / RANKS * RANKS; i++)
            check(bursts_message(nodes[n], &messages[i]), "message");
        read_all(nodes[n], &rows);
        all_rows += rows;
    }
    params.budget *= NODES;
    params.pairs *= NODES;
    check(bursts_create(&set, &params), "create");
    for (uint32_t round = 0; round < 2; round++) {
        bursts_clear(set);
        double begin = seconds();
        for (uint32_t n = 0; n < NODES; n++)
            check(bursts_merge(set, nodes[n]), "merge");
        double merged = seconds() - begin;
        uint32_t bursts = bursts_count(set);
        bursts_reduce(set, params.budget / NODES);
        double took = seconds() - begin;
        printf("%s %u nodes, %zu rows: to %u bursts %.2f ms, reduced to %u %.2f ms in all, %.0f ns "
               "a row",
               round == 0 ? "first merge of" : "next merge of ", NODES, all_rows, bursts,
               1e3 * merged, bursts_count(set), 1e3 * took, 1e9 * took / (double)all_rows);
        double read = read_all(set, &rows);
        printf("; read %zu rows %.2f ms; %.1f MB\n", rows, 1e3 * read,
               1e-6 * (double)bursts_heap(set));
    }
    for (uint32_t n = 0; n < NODES; n++)
        bursts_destroy(nodes[n]);
    bursts_destroy(set);
}

int main(int argc, char **argv)
{
    size_t count = argc > 1 ? (size_t)strtoull(argv[1], NULL, 10) : 2000000;
    count = count < 10 * RANKS ? 10 * RANKS : count;
    struct burst_message *messages = calloc(count, sizeof(*messages));
    if (messages == NULL)
        return 1;
    for (uint64_t cell = 1024; cell > 0; cell /= 1024) {
        run("in order", BY_TIME, count, cell, messages);
        run("rank by rank", BY_RANK, count, cell, messages);
        run("at any time", ANY, count, cell, messages);
    }
    merge_nodes(count / NODES > 200 * RANKS ? count / NODES : count, messages);
    free(messages);
    return 0;
}

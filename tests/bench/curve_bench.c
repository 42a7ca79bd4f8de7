/* The CommGram curve: what a point costs.
 *
 *   curve_bench [PHASES]
 *
 * 4,320 ranks (CommGram, Fig. 7). 64 patterns are remembered before anything is measured. Printed
 * for each kind of phases:
 *
 * - point: median and longest of curve_append(), the search over what is remembered included
 * - one: the difference of one pair of them: both partitions in one table, and its assignment
 * - plain: the same by a dense table and a Hungarian method of O(n^3), and its ratio to `one`
 *
 * Blocks are boxes of neighbours as communities of a stencil are; random is the worst for any
 * search: all patterns are equally unlike. */
#include "daemon/analysis/commgram/commgram_curve.h"
#include "daemon/analysis/communities/assignment.h"
#include "holter/order.h"
#include "tests/bench/bench.h"
#include "tests/daemon/analysis/communities/plain_assignment.h"
#include "tests/daemon/analysis/regions/graphs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS 4320u
#define PATTERNS 64u

enum kind { BLOCKS, RANDOM, PAIRS, SINGLES_AND_PAIRS };

struct subject {
    const char *name;
    enum kind kind;
    uint32_t communities; /* of blocks and random ones */
    uint32_t distinct;    /* patterns */
    uint32_t moved;       /* ranks that are elsewhere in each phase */
};

/* Labels of one of the patterns of a subject. */
static void fill(const struct subject *s, uint32_t pattern, uint32_t *labels)
{
    uint64_t random = pattern * 977 + 5;
    uint32_t order[RANKS];
    for (uint32_t r = 0; r < RANKS; r++) {
        uint32_t at = random_next(&random) % (r + 1);
        order[r] = order[at];
        order[at] = r;
    }
    for (uint32_t r = 0; r < RANKS; r++) {
        /* blocks of different sizes, shifts and strides */
        uint32_t block = RANKS / s->communities + pattern % 4, shift = pattern * 7;
        uint32_t along = pattern % 3 == 0 ? r : r % 60 * 72 + r / 60;
        labels[r] = s->kind == BLOCKS   ? (along + shift) % RANKS / block
                    : s->kind == RANDOM ? order[r] % s->communities
                    : s->kind == PAIRS  ? order[r] / 2
                    : pattern % 2 == 0  ? r
                                        : order[r] / 2;
    }
}

static void move(const struct subject *s, uint32_t *labels, uint64_t *random)
{
    for (uint32_t i = 0; i < s->moved; i++)
        labels[random_next(random) % RANKS] = labels[random_next(random) % RANKS];
}

static void print_points(const struct subject *s, uint32_t phases)
{
    static uint32_t labels[RANKS], identities[RANKS];
    struct curve_params params = CURVE_DEFAULTS;
    struct curve *curve;
    struct curve_point point;
    double *took = calloc(phases, sizeof(*took)), worst = 0, again = 0;
    uint64_t random = 1;
    const size_t heap = bench_heap();
    bench_check(curve_create(&curve, &params), "create");
    for (uint32_t i = 0; i < PATTERNS + phases; i++) {
        fill(s, i % s->distinct, labels);
        move(s, labels, &random);
        const struct curve_phase phase = {labels, RANKS};
        double begin = bench_seconds();
        bench_check(curve_append(curve, &phase, &point, identities), "append");
        if (i < PATTERNS)
            continue;
        took[i - PATTERNS] = bench_seconds() - begin;
        again += point.returned;
    }
    qsort(took, phases, sizeof(*took), order_doubles);
    worst = took[phases - 1];
    printf("%-46s point %6.3f ms (longest %6.3f), %3.0f %% returned, %.1f MB\n", s->name,
           1e3 * took[phases / 2], 1e3 * worst, 100 * again / phases,
           1e-6 * (double)(bench_heap() - heap));
    curve_destroy(curve);
    free(took);
}

/* ---- one pair ------------------------------------------------------------------ */

static uint64_t solve(struct assignment *a, const uint32_t *labels, const uint32_t *other,
                      uint32_t rows)
{
    static uint32_t begin[RANKS + 2], order[RANKS];
    static struct assignment_entry entries[RANKS];
    uint64_t matched = 0;
    memset(begin, 0, sizeof(begin));
    for (uint32_t r = 0; r < RANKS; r++)
        begin[labels[r] + 2]++;
    for (uint32_t c = 0; c < rows; c++)
        begin[c + 1] += begin[c];
    for (uint32_t r = 0; r < RANKS; r++)
        order[begin[labels[r] + 1]++] = r;
    assignment_clear(a);
    for (uint32_t c = 0; c < rows; c++) {
        for (uint32_t i = begin[c]; i < begin[c + 1]; i++)
            entries[i] = (struct assignment_entry){1, other[order[i]]};
        bench_check(assignment_row(a, entries + begin[c], begin[c + 1] - begin[c]), "row");
    }
    bench_check(assignment_solve(a, 0, &matched), "solve");
    return matched;
}

static uint32_t count_labels(const uint32_t *labels)
{
    uint32_t most = 0;
    for (uint32_t r = 0; r < RANKS; r++)
        most = labels[r] > most ? labels[r] : most;
    return most + 1;
}

static void print_pair(const struct subject *s)
{
    static uint32_t labels[2][RANKS];
    const struct assignment_params sizes = {RANKS, RANKS, RANKS};
    struct assignment *a;
    uint64_t matched = 0, random = 3;
    for (uint32_t i = 0; i < 2; i++) {
        fill(s, 1 + i % s->distinct, labels[i]);
        move(s, labels[i], &random);
    }
    uint32_t rows = count_labels(labels[0]), columns = count_labels(labels[1]);
    bool swap = rows > columns;
    bench_check(assignment_create(&a, &sizes), "create");
    double begin = bench_seconds();
    for (uint32_t i = 0; i < 20; i++)
        matched = solve(a, labels[0], labels[1], rows);
    double one = (bench_seconds() - begin) / 20;
    assignment_destroy(a);
    begin = bench_seconds();
    struct plain_assignment p =
        plain_assignment_create(swap ? columns : rows, swap ? rows : columns);
    for (uint32_t r = 0; r < RANKS; r++)
        ++*plain_assignment_at(&p, labels[swap][r], labels[!swap][r]);
    bool same = (uint64_t)plain_assignment_solve(&p) == matched;
    double plain = bench_seconds() - begin;
    plain_assignment_finish(&p);
    printf("  %u x %u: one %.3f ms, plain %.3f ms (%.1f x)%s\n", rows, columns, 1e3 * one,
           1e3 * plain, plain / one, same ? "" : " NOT THE SAME SUM");
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {
        {"18 communities, 2 patterns", BLOCKS, 18, 2, 0},
        {"18 communities, 24 patterns, 2 % moved", BLOCKS, 18, 24, 86},
        {"300 communities, 24 patterns, 2 % moved", BLOCKS, 300, 24, 86},
        {"300 communities, all new", BLOCKS, 300, 1000, 432},
        {"18 random communities, all new", RANDOM, 18, 1000, 0},
        {"300 random communities, all new", RANDOM, 300, 1000, 0},
        {"singletons and random pairs, 2 patterns", SINGLES_AND_PAIRS, 1, 2, 0},
        {"singletons and random pairs, all new", SINGLES_AND_PAIRS, 1, 1000, 0},
        {"random pairs, all new", PAIRS, 1, 1000, 0},
    };
    uint32_t phases = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 50;
    phases = phases == 0 || phases > 10000 ? 50 : phases;
    for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
        print_points(&subjects[i], phases);
        print_pair(&subjects[i]);
    }
    return 0;
}

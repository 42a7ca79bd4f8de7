#include "daemon/analysis/commgram/commgram.h"

#include "daemon/analysis/commgram/commgram_cache.h"
#include "daemon/analysis/communities/communities.h"
#include "holter/error.h"
#include "holter/size_class.h"
#include "tests/daemon/analysis/regions/graphs.h"
#include "tests/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MOST_RANKS 128u
#define MOST_EDGES 40000u

struct graph {
    struct phase_edge edges[MOST_EDGES];
    size_t count;
};

static void send(struct graph *g, uint32_t from, uint32_t to, uint64_t messages, uint64_t bytes)
{
    g->edges[g->count++] =
        (struct phase_edge){from, to, size_class_of(bytes / messages), 0, messages, bytes};
}

/* Stage k of binary swap: partners differ in bit k, and exchange half as much as in the one before.
 */
static void swap_stage(struct graph *g, uint32_t ranks, uint32_t stage)
{
    for (uint32_t r = 0; r < ranks; r++)
        send(g, r, r ^ 1u << stage, 1, (uint64_t)1 << 20 >> stage);
}

static struct commgram *create(uint32_t ranks, uint32_t phases, uint32_t communities)
{
    const struct commgram_params params = {
        .ranks = ranks, .phases = phases, .communities = communities, .modelled = true};
    struct commgram *commgram;
    assert_int_equal(commgram_create(&commgram, &params), 0);
    return commgram;
}

static int add(struct commgram *commgram, const struct graph *g)
{
    const struct commgram_phase phase = {.edges = g->edges, .count = g->count, .bursts = 1};
    return commgram_add_phase(commgram, &phase);
}

static struct commgram_picture finish(struct commgram *commgram)
{
    struct commgram_picture picture;
    assert_int_equal(commgram_finish(commgram, &picture), 0);
    return picture;
}

/* The bar of each rank in a column; UINT32_MAX: the picture has no such rank. */
static void read_column(const struct commgram_picture *p, uint32_t column, uint32_t ranks,
                        uint32_t *bar_of)
{
    memset(bar_of, 0xff, ranks * sizeof(*bar_of));
    for (size_t i = 0; i < p->run_count; i++)
        for (uint32_t k = 0; p->runs[i].column == column && k < p->runs[i].count; k++) {
            assert_true(p->runs[i].rank + k < ranks);
            assert_int_equal(bar_of[p->runs[i].rank + k], UINT32_MAX);
            bar_of[p->runs[i].rank + k] = (uint32_t)p->runs[i].bar;
        }
}

static const struct wire_bar_row *bar_at(const struct commgram_picture *p, uint32_t column,
                                         uint32_t bar)
{
    for (size_t i = 0; i < p->bar_count; i++)
        if (p->bars[i].column == column && p->bars[i].bar == bar)
            return &p->bars[i];
    fail();
    return NULL;
}

/* Identity of the bar a rank is in. */
static uint64_t colour_of(const struct commgram_picture *p, uint32_t column, uint32_t rank)
{
    static uint32_t bar_of[MOST_RANKS];
    read_column(p, column, MOST_RANKS, bar_of);
    return bar_at(p, column, bar_of[rank])->community;
}

/* ---- patterns of which the picture is known --------------------------------------- */

static void stages_of_binary_swap_are_their_pairs(void **state)
{
    static struct graph g;
    (void)state;
    for (uint32_t log = 3; log <= 4; log++) { /* CommGram, Fig. 3 */
        uint32_t ranks = 1u << log;
        struct commgram *commgram = create(ranks, log, ranks);
        for (uint32_t stage = 0; stage < log; stage++) {
            g.count = 0;
            swap_stage(&g, ranks, stage);
            assert_int_equal(add(commgram, &g), 0);
        }
        struct commgram_picture p = finish(commgram);
        assert_int_equal(p.column_count, log);
        assert_int_equal(p.bar_count, (log + 1) * ranks);
        assert_int_equal(p.run_count, (log + 1) * ranks);
        assert_int_equal(p.ribbon_count, log * ranks);
        for (size_t i = 0; i < p.ribbon_count; i++) {
            const struct wire_ribbon_row *r = &p.ribbons[i];
            assert_int_equal(r->column, i / ranks);
            assert_int_equal(r->from, i % ranks); /* bars are in the order of ranks */
            assert_int_equal(r->to, r->from ^ 1u << r->column);
            assert_true(r->messages == 1 && r->bytes == 1u << 20 >> r->column);
            assert_int_equal(r->size_class, size_class_of(r->bytes));
        }
        for (uint32_t stage = 0; stage < log; stage++)
            assert_true(p.columns[stage].bars == ranks &&
                        p.columns[stage].communities == ranks / 2 &&
                        fabs(p.columns[stage].difference - (stage > 0 ? 0.5 : 0)) < 1e-12);
        for (uint32_t i = 0; i < p.bar_count; i++)
            assert_int_equal(p.bars[i].community, p.bars[i % ranks].community);
        commgram_destroy(commgram);
    }
}

static void binary_swap_in_one_phase_is_nested_pairs(void **state)
{
    static struct graph g;
    (void)state;
    for (uint32_t communities = 1; communities <= 16; communities *= 2) { /* CommGram, Fig. 5 */
        uint32_t bar_of[16], each = 16 / communities;
        struct commgram *commgram = create(16, 1, communities);
        g.count = 0;
        for (uint32_t stage = 0; stage < 4; stage++)
            swap_stage(&g, 16, stage);
        assert_int_equal(add(commgram, &g), 0);
        struct commgram_picture p = finish(commgram);
        assert_int_equal(p.columns[0].bars, communities);
        assert_int_equal(p.columns[0].communities, 4); /* of the greatest modularity */
        assert_int_equal(p.columns[0].ranks, 16);
        for (uint32_t column = 0; column < 2; column++) {
            read_column(&p, column, 16, bar_of);
            for (uint32_t r = 0; r < 16; r++)
                assert_int_equal(bar_of[r], r / each);
        }
        commgram_destroy(commgram);
    }
}

static void
each_phase_has_the_communities_that_are_found_in_it_when_no_number_is_given(void **state)
{
    static struct graph g;
    (void)state;
    struct commgram *commgram = create(16, 2, 0);
    for (uint32_t phase = 0; phase < 2; phase++) { /* one stage of the swap, then all */
        g.count = 0;
        for (uint32_t stage = 0; stage < 1 + 3 * phase; stage++)
            swap_stage(&g, 16, stage);
        assert_int_equal(add(commgram, &g), 0);
    }
    const struct commgram_picture p = finish(commgram);
    for (uint32_t phase = 0; phase < 2; phase++) {
        assert_int_equal(p.columns[phase].communities, phase == 0 ? 8 : 4);
        assert_int_equal(p.columns[phase].bars, p.columns[phase].communities);
    }
    commgram_destroy(commgram);
}

static void two_three_swap_keeps_its_groups(void **state)
{
    static struct graph g;
    uint32_t bar_of[12];
    (void)state;
    g.count = 0; /* 12 ranks: groups of 3, then pairs of groups, then all (CommGram, section IV) */
    for (uint32_t r = 0; r < 12; r++) {
        for (uint32_t k = 1; k < 3; k++)
            send(&g, r, r / 3 * 3 + (r + k) % 3, 1, 90000);
        send(&g, r, r / 6 * 6 + (r + 3) % 6, 1, 45000);
        send(&g, r, (r + 6) % 12, 1, 22500);
    }
    for (uint32_t communities = 2; communities <= 4; communities += 2) {
        struct commgram *commgram = create(12, 1, communities);
        assert_int_equal(add(commgram, &g), 0);
        struct commgram_picture p = finish(commgram);
        read_column(&p, 0, 12, bar_of);
        for (uint32_t r = 0; r < 12; r++)
            assert_int_equal(bar_of[r], r / (12 / communities));
        commgram_destroy(commgram);
    }
}

/* Pattern 0: blocks of neighbours; 1: every fourth; 2: shifted blocks of another size. */
static void fill_pattern(struct graph *g, uint32_t pattern)
{
    g->count = 0;
    for (uint32_t a = 0; a < 32; a++)
        for (uint32_t b = 0; b < 32; b++)
            if (a != b && (pattern == 0   ? a / 8 == b / 8
                           : pattern == 1 ? a % 4 == b % 4
                                          : (a + 4) % 32 / 8 == (b + 4) % 32 / 8))
                send(g, a, b, 2, 1000);
    for (uint32_t a = 0; a < 32; a++)
        send(g, a, (a + 1) % 32, 1, 10);
}

static struct commgram *alternation(uint32_t from, uint32_t count, struct commgram_picture *picture)
{
    static struct graph g;
    struct commgram *commgram = create(32, count, 4);
    fill_pattern(&g, 0);
    assert_int_equal(commgram_anchor(commgram, g.edges, g.count, 0), 0);
    for (uint32_t i = from; i < from + count; i++) {
        fill_pattern(&g, i % 4 == 3);
        assert_int_equal(add(commgram, &g), 0);
    }
    *picture = finish(commgram);
    return commgram;
}

static void an_alternation_has_two_heights_and_steady_colours(void **state)
{
    struct commgram_picture first, other;
    (void)state;
    struct commgram *commgram = alternation(0, 8, &first);
    for (uint32_t i = 0; i < 8; i++)
        assert_true(first.columns[i].height == (i % 4 == 3 ? first.columns[3].height : 0));
    assert_true(first.columns[3].height < 0);
    for (uint32_t shift = 1; shift < 8; shift++) { /* the view moves on */
        struct commgram *moved = alternation(shift, 8, &other);
        for (uint32_t i = shift; i < 8; i++) {
            assert_true(other.columns[i - shift].height == first.columns[i].height);
            for (uint32_t r = 0; r < 32; r++)
                assert_int_equal(colour_of(&first, i, r), colour_of(&other, i - shift, r));
        }
        commgram_destroy(moved);
    }
    commgram_destroy(commgram);
}

/* ---- the curve ---------------------------------------------------------------------- */

enum { CURVE_PATTERNS = 5, CURVE_PHASES = 24 };

/* One of the patterns of fill_pattern(), an all-to-all or pairs, each time with other counts. */
static void fill_noisy(struct graph *g, uint32_t pattern, uint64_t *random)
{
    if (pattern < 3) {
        fill_pattern(g, pattern);
    } else {
        g->count = 0;
        for (uint32_t a = 0; a < 32; a++)
            for (uint32_t b = 0; b < 32; b++)
                if (pattern == 3 ? a != b : b == (a ^ 16))
                    send(g, a, b, 40, 40000);
    }
    for (size_t i = 0; i < g->count; i++) {
        uint64_t more = random_next(random) % 10;
        g->edges[i].messages += more;
        g->edges[i].bytes += more * g->edges[i].bytes / 40;
    }
}

static struct commgram *draw_curve(const uint32_t *patterns, uint32_t communities, uint64_t random,
                                   struct commgram_picture *p)
{
    static struct graph g;
    struct commgram *commgram = create(32, CURVE_PHASES, communities);
    for (uint32_t i = 0; i < CURVE_PHASES; i++) {
        fill_noisy(&g, patterns[i], &random);
        assert_int_equal(add(commgram, &g), 0);
    }
    *p = finish(commgram);
    return commgram;
}

/* Which phase shows a pattern first, counted from 1. */
static uint32_t first_of(const uint32_t *patterns, uint32_t pattern)
{
    uint32_t i = 0;
    while (patterns[i] != pattern)
        i++;
    return i + 1;
}

static void assert_curve_is_of(const struct commgram_picture *p, const uint32_t *patterns)
{
    static const uint32_t communities[CURVE_PATTERNS] = {4, 4, 4, 1, 16};
    for (uint32_t i = 0; i < CURVE_PHASES; i++) {
        const struct wire_column_row *c = &p->columns[i];
        uint32_t first = first_of(patterns, patterns[i]);
        bool stays = i > 0 && patterns[i] == patterns[i - 1];
        assert_int_equal(c->communities, communities[patterns[i]]);
        assert_true(c->modularity == 0 || c->modularity > COMMUNITIES_FLOOR);
        assert_true(i == 0 || stays == (c->difference == 0));
        assert_int_equal(c->returned, first <= i);
        if (!c->returned) {
            assert_true(c->resembles <= i && c->resemblance < 0.95);
            continue;
        }
        assert_int_equal(c->resembles, first);
        assert_true(c->resemblance >= 0.95 && c->height == p->columns[first - 1].height);
    }
}

static void the_curve_is_that_of_the_phases_at_every_level_of_detail(void **state)
{
    static const uint32_t levels[] = {1, 2, 3, 4, 7, 16, 31, 32, 1000};
    uint64_t random = 31;
    (void)state;
    for (uint32_t round = 0; round < 10; round++) {
        uint32_t patterns[CURVE_PHASES];
        struct commgram_picture first, other;
        for (uint32_t i = 0; i < CURVE_PHASES; i++)
            patterns[i] = i < CURVE_PATTERNS ? (i + round) % CURVE_PATTERNS
                                             : random_next(&random) % CURVE_PATTERNS;
        struct commgram *commgram = draw_curve(patterns, 4, random, &first);
        assert_curve_is_of(&first, patterns);
        for (size_t k = 0; k < sizeof(levels) / sizeof(*levels); k++) {
            struct commgram *drawn = draw_curve(patterns, levels[k], random, &other);
            for (uint32_t i = 0; i < CURVE_PHASES; i++) {
                struct wire_column_row c = other.columns[i];
                assert_true(c.bars <= levels[k] + 1);
                assert_true(patterns[i] != 3 || c.bars == (levels[k] < 32 ? 1 : 32));
                c.bars = first.columns[i].bars;
                assert_memory_equal(&c, &first.columns[i], sizeof(c));
            }
            commgram_destroy(drawn);
        }
        commgram_destroy(commgram);
    }
}

static void patterns_that_are_known_are_at_their_heights(void **state)
{
    static struct graph g;
    uint64_t random = 5;
    (void)state;
    struct commgram *commgram = create(32, CURVE_PATTERNS, 8);
    for (uint32_t i = 0; i < CURVE_PATTERNS; i++) {
        fill_noisy(&g, i, &random);
        assert_int_equal(commgram_anchor(commgram, g.edges, g.count, 0.25 * i), 0);
    }
    for (uint32_t i = CURVE_PATTERNS; i-- > 0;) {
        fill_noisy(&g, i, &random);
        assert_int_equal(add(commgram, &g), 0);
    }
    struct commgram_picture p = finish(commgram);
    for (uint32_t i = 0; i < CURVE_PATTERNS; i++) {
        const struct wire_column_row *c = &p.columns[i];
        assert_true(c->height == 0.25 * (CURVE_PATTERNS - 1 - i));
        assert_true(c->difference > 0 || i == 0);
        assert_false(c->returned); /* no column before has it */
        assert_true(c->resembles <= i);
    }
    assert_true(p.columns[0].difference == 0);
    commgram_destroy(commgram);
}

/* ---- what holds for any ------------------------------------------------------------ */

static void fill_random(struct graph *g, uint32_t ranks, uint64_t *random)
{
    g->count = 0;
    uint32_t count = random_next(random) % (4 * ranks);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t near = random_next(random) % ranks;
        uint32_t to = random_next(random) % 3 ? (near + random_next(random) % 4) % ranks
                                              : random_next(random) % ranks;
        send(g, near, to, 1 + random_next(random) % 5,
             random_next(random) >> random_next(random) % 32);
        g->edges[g->count - 1].modelled = random_next(random) % 4 == 0;
    }
}

static uint32_t octave_of(uint64_t mean)
{
    return mean == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(mean);
}

/* Every ribbon is the sum of the edges that it stands for. */
static void assert_ribbons_are(const struct commgram_picture *p, const struct graph *graphs,
                               uint32_t ranks, const bool *only, bool modelled)
{
    static uint32_t from[MOST_RANKS], to[MOST_RANKS];
    size_t next = 0;
    for (uint32_t k = 0; k < p->column_count; k++) {
        uint64_t messages = 0, bytes = 0, all = 0, all_bytes = 0;
        read_column(p, k, ranks, from);
        read_column(p, k + 1, ranks, to);
        for (; next < p->ribbon_count && p->ribbons[next].column == k; next++) {
            const struct wire_ribbon_row *r = &p->ribbons[next];
            uint64_t sum = 0, sum_bytes = 0;
            for (size_t i = 0; i < graphs[k].count; i++) {
                const struct phase_edge *e = &graphs[k].edges[i];
                if (from[e->source] != r->from || to[e->destination] != r->to ||
                    e->modelled != r->modelled ||
                    (only != NULL && !only[e->source] && !only[e->destination]) ||
                    octave_of(e->bytes / e->messages) != octave_of(r->bytes / r->messages))
                    continue;
                sum += e->messages;
                sum_bytes += e->bytes;
            }
            assert_true(sum == r->messages && sum_bytes == r->bytes);
            assert_int_equal(r->size_class, size_class_of(r->bytes / r->messages));
            messages += r->messages;
            bytes += r->bytes;
        }
        for (size_t i = 0; i < graphs[k].count; i++) {
            const struct phase_edge *e = &graphs[k].edges[i];
            if ((!modelled && e->modelled) ||
                (only != NULL && !only[e->source] && !only[e->destination]))
                continue;
            all += e->messages;
            all_bytes += e->bytes;
        }
        assert_true(messages == all && bytes == all_bytes);
        assert_true(p->columns[k].messages == all && p->columns[k].bytes == all_bytes);
        assert_true(p->columns[k].folded == 0);
    }
    assert_int_equal(next, p->ribbon_count);
}

/* Bars hold the ranks that communicate anywhere, each once, in order of their means. */
static void assert_bars_are(const struct commgram_picture *p, uint32_t ranks, uint32_t communities)
{
    static uint32_t bar_of[MOST_RANKS], first[MOST_RANKS];
    size_t next = 0;
    for (uint32_t column = 0; column <= p->column_count; column++) {
        uint32_t k = column < p->column_count ? column : column - 1, count = 0;
        double mean = -1;
        uint64_t sent = 0, received = 0;
        read_column(p, column, ranks, bar_of);
        if (column == 0)
            memcpy(first, bar_of, sizeof(first));
        for (uint32_t r = 0; r < ranks; r++)
            assert_int_equal(bar_of[r] == UINT32_MAX, first[r] == UINT32_MAX);
        for (; next < p->bar_count && p->bars[next].column == column; next++, count++) {
            const struct wire_bar_row *b = &p->bars[next];
            double sum = 0, here = 0;
            for (uint32_t r = 0; r < ranks; r++)
                if (bar_of[r] == count) {
                    sum += r;
                    here++;
                }
            assert_true(b->bar == count && b->ranks == here && here > 0);
            assert_true(sum / here >= mean);
            mean = sum / here;
            sent += b->sent;
            received += b->received;
        }
        assert_int_equal(count, p->columns[k].bars);
        assert_true(count <= communities + 1 && p->columns[k].communities <= ranks);
        assert_true(sent == p->columns[k].messages && received == sent);
    }
    assert_int_equal(next, p->bar_count);
}

static void ribbons_have_the_sums_of_the_edges(void **state)
{
    static struct graph graphs[6];
    static const uint32_t cuts[] = {1, 3, 8, 40, 1000};
    uint64_t random = 11;
    (void)state;
    for (uint32_t round = 0; round < 40; round++) {
        uint32_t ranks = 1 + random_next(&random) % 48, phases = 1 + random_next(&random) % 6;
        bool only[48] = {0}, modelled = round % 3 != 0;
        uint32_t list[3] = {random_next(&random) % 48, 7, 1000000};
        for (uint32_t i = 0; i < 3; i++)
            if (list[i] < ranks)
                only[list[i]] = true;
        const struct commgram_params params = {.ranks = ranks,
                                               .phases = phases,
                                               .communities = cuts[round % 5],
                                               .modelled = modelled,
                                               .only = list,
                                               .only_count = round % 2 * 3};
        struct commgram *commgram;
        assert_int_equal(commgram_create(&commgram, &params), 0);
        for (uint32_t k = 0; k < phases; k++) {
            fill_random(&graphs[k], ranks, &random);
            assert_int_equal(add(commgram, &graphs[k]), 0);
        }
        struct commgram_picture p = finish(commgram);
        assert_ribbons_are(&p, graphs, ranks, round % 2 ? only : NULL, modelled);
        assert_bars_are(&p, ranks, cuts[round % 5]);
        commgram_destroy(commgram);
    }
}

static void silent_ranks_stay_with_their_community(void **state)
{
    static struct graph g;
    uint32_t bar_of[32];
    (void)state;
    struct commgram *commgram = create(32, 3, 5);
    for (uint32_t k = 0; k < 3; k++) { /* in the middle only ranks 0 to 3 communicate */
        fill_pattern(&g, 0);
        if (k == 1)
            for (size_t i = 0, n = g.count, left = g.count = 0; i < n; i++, left = g.count)
                if (g.edges[i].source < 4 && g.edges[i].destination < 4)
                    g.edges[left] = g.edges[i], g.count++;
        assert_int_equal(add(commgram, &g), 0);
    }
    struct commgram_picture p = finish(commgram);
    read_column(&p, 1, 32, bar_of);
    assert_int_equal(p.columns[1].ranks, 4);
    assert_true(p.columns[1].communities == 1 && p.columns[1].bars <= 6);
    for (uint32_t r = 8; r < 32; r++)
        for (uint32_t s = 8; s < 32; s++)
            if (r / 8 == s / 8)
                assert_int_equal(bar_of[r], bar_of[s]);
    commgram_destroy(commgram);
    commgram = create(32, 3, 4); /* and a rank that is silent before and after */
    for (uint32_t k = 0; k < 3; k++) {
        fill_pattern(&g, 0);
        for (size_t i = 0; k != 1 && i < g.count; i++)
            if (g.edges[i].source == 9 || g.edges[i].destination == 9)
                g.edges[i--] = g.edges[--g.count];
        assert_int_equal(add(commgram, &g), 0);
    }
    p = finish(commgram);
    for (uint32_t k = 0; k < 4; k++) {
        assert_int_equal(colour_of(&p, k, 9), colour_of(&p, k, 10));
        assert_int_equal(colour_of(&p, k, 9), colour_of(&p, 1, 9));
    }
    commgram_destroy(commgram);
}

static void communities_do_not_depend_on_what_is_shown(void **state)
{
    static struct graph g;
    const uint32_t list[] = {5, 3};
    uint32_t all[32], some[32];
    (void)state;
    struct commgram_params params = {.ranks = 32, .phases = 1, .communities = 4, .modelled = true};
    struct commgram *one, *other;
    fill_pattern(&g, 0);
    assert_int_equal(commgram_create(&one, &params), 0);
    params.only = list;
    params.only_count = 2;
    assert_int_equal(commgram_create(&other, &params), 0);
    assert_int_equal(add(one, &g), 0);
    assert_int_equal(add(other, &g), 0);
    struct commgram_picture p = finish(one), q = finish(other);
    read_column(&p, 0, 32, all);
    read_column(&q, 0, 32, some);
    assert_memory_equal(all, some, sizeof(all));
    assert_true(q.columns[0].ranks == 32 && q.columns[0].messages < p.columns[0].messages);
    assert_true(q.columns[0].modularity == p.columns[0].modularity);
    assert_true(q.columns[0].modularity > 0.7);
    commgram_destroy(one);
    commgram_destroy(other);
}

static void collectives_take_part_only_if_asked(void **state)
{
    static struct graph g, rest;
    uint64_t random = 77;
    (void)state;
    struct commgram_params params = {.ranks = 48, .phases = 1, .communities = 6};
    fill_random(&g, 40, &random);
    rest.count = 0;
    for (size_t i = 0; i < g.count; i++)
        if (g.edges[i].modelled == 0)
            rest.edges[rest.count++] = g.edges[i];
    send(&g, 40, 41, 3, 3000000);
    g.edges[g.count - 1].modelled = 1;
    struct commgram *without, *never, *with = create(48, 1, 6);
    assert_int_equal(commgram_create(&without, &params), 0);
    assert_int_equal(commgram_create(&never, &params), 0);
    assert_int_equal(add(without, &g), 0);
    assert_int_equal(add(never, &rest), 0);
    assert_int_equal(add(with, &g), 0);
    struct commgram_picture p = finish(without), q = finish(never), all = finish(with);
    assert_int_equal(p.columns[0].ranks, q.columns[0].ranks);
    assert_int_equal(p.run_count, q.run_count);
    assert_memory_equal(p.runs, q.runs, p.run_count * sizeof(*p.runs));
    assert_memory_equal(p.ribbons, q.ribbons, p.ribbon_count * sizeof(*p.ribbons));
    assert_true(p.columns[0].modelled == 0 && all.columns[0].modelled > 3);
    assert_true(all.columns[0].modelled_bytes > 3000000);
    assert_int_equal(all.columns[0].ranks, p.columns[0].ranks + 2);
    commgram_destroy(without);
    commgram_destroy(never);
    commgram_destroy(with);
}

/* ---- the cache --------------------------------------------------------------------- */

static void known_phases_are_looked_up_and_parts_are_the_whole(void **state)
{
    static struct graph graphs[5];
    struct commgram_cache *cache;
    uint64_t random = 21;
    (void)state;
    assert_int_equal(commgram_cache_create(&cache, 1u << 16, 64), 0);
    for (uint32_t k = 0; k < 5; k++)
        fill_random(&graphs[k], 48, &random);
    for (uint32_t communities = 3; communities <= 9; communities += 3) {
        struct commgram_params params = {
            .ranks = 48, .phases = 5, .communities = communities, .modelled = true};
        struct commgram *plain, *cached;
        assert_int_equal(commgram_create(&plain, &params), 0);
        params.cache = cache;
        assert_int_equal(commgram_create(&cached, &params), 0);
        for (uint32_t k = 0; k < 5; k++) {
            assert_int_equal(add(plain, &graphs[k]), 0);
            assert_int_equal(add(cached, &graphs[k]), 0);
        }
        uint32_t parts = 0;
        for (; commgram_settle(cached) == 1; parts++)
            assert_int_equal(add(cached, &graphs[0]), -HOLTER_EUSAGE);
        assert_int_equal(parts, 5);
        struct commgram_picture p = finish(plain), q = finish(cached);
        assert_int_equal(p.cached, 0);
        assert_int_equal(q.cached, communities == 3 ? 0 : 5); /* whatever the cut */
        assert_int_equal(p.ribbon_count, q.ribbon_count);
        assert_memory_equal(p.ribbons, q.ribbons, p.ribbon_count * sizeof(*p.ribbons));
        assert_int_equal(p.run_count, q.run_count);
        assert_memory_equal(p.runs, q.runs, p.run_count * sizeof(*p.runs));
        commgram_destroy(plain);
        commgram_destroy(cached);
    }
    commgram_cache_destroy(cache);
}

/* ---- bounds ------------------------------------------------------------------------ */

static void ribbons_beyond_the_limit_are_counted(void **state)
{
    static struct graph g;
    uint64_t random = 5, messages = 0, bytes = 0;
    (void)state;
    struct commgram *commgram = create(100, 1024, 100);
    g.count = 0;
    for (uint32_t a = 0; a < 100; a++)
        for (uint32_t b = 0; b < 100; b++)
            send(&g, a, b, 1, random_next(&random) % 1000000);
    for (size_t i = 0; i < g.count; i++) {
        messages += g.edges[i].messages;
        bytes += g.edges[i].bytes;
    }
    assert_int_equal(add(commgram, &g), 0);
    struct commgram_picture p = finish(commgram);
    assert_int_equal(p.ribbon_count, 1024);
    assert_true(p.columns[0].messages + p.columns[0].folded == messages);
    assert_true(p.columns[0].bytes + p.columns[0].folded_bytes == bytes);
    assert_true(p.columns[0].messages == 1024 && p.columns[0].bytes > 850000ULL * 1024);
    commgram_destroy(commgram);
}

static void hostile_phases_are_survived(void **state)
{
    static const struct phase_edge edges[] = {
        {0, UINT32_MAX, 3, 0, 1, 1},
        {1, 2, 3, 0, 0, UINT64_MAX},
        {1, 2, UINT16_MAX, UINT16_MAX, UINT64_MAX, UINT64_MAX},
        {2, 1, 0, 0, UINT64_MAX, UINT64_MAX},
        {3, 3, 0, 0, 1, UINT64_MAX},
        {0, 7, 0, 0, UINT64_MAX, 0},
        {7, 0, 0, 0, 1, 0}};
    struct commgram_picture p;
    (void)state;
    for (uint32_t communities = 1; communities <= 5; communities++) {
        const size_t before = memory_used();
        struct commgram *commgram = create(8, 3, communities);
        const struct commgram_phase phase = {.begin_ns = INT64_MAX,
                                             .end_ns = INT64_MIN,
                                             .other_messages = UINT64_MAX,
                                             .edges = edges,
                                             .count = sizeof(edges) / sizeof(edges[0])};
        const struct commgram_phase nothing = {.count = 0};
        assert_int_equal(commgram_add_phase(commgram, &nothing), 0);
        assert_int_equal(commgram_add_phase(commgram, &phase), 0);
        assert_int_equal(commgram_add_phase(commgram, &nothing), 0);
        assert_int_equal(commgram_add_phase(commgram, &nothing), -HOLTER_ELIMIT);
        p = finish(commgram);
        assert_int_equal(p.columns[1].ranks, 5);
        assert_true(p.columns[1].messages == UINT64_MAX && p.columns[1].folded == UINT64_MAX);
        assert_true(p.columns[0].bars <= communities + 1);
        assert_true(memory_used() - before < 100000);
        commgram_destroy(commgram);
    }
}

static void phases_without_messages_are_columns_without_ribbons(void **state)
{
    static const struct graph none;
    (void)state;
    struct commgram *commgram = create(4, 2, 2);
    assert_int_equal(add(commgram, &none), 0);
    assert_int_equal(add(commgram, &none), 0);
    struct commgram_picture p = finish(commgram);
    assert_int_equal(p.column_count, 2);
    assert_int_equal(p.ribbon_count, 0);
    commgram_destroy(commgram);
}

static void what_is_out_of_range_is_refused(void **state)
{
    static struct graph g;
    struct commgram *none = NULL;
    struct commgram_params params = {.ranks = 0, .phases = 2, .communities = 1};
    struct commgram_picture p;
    (void)state;
    assert_int_equal(commgram_create(&none, &params), -HOLTER_ERANGE);
    params = (struct commgram_params){.ranks = 1u << 20, .phases = 17, .communities = 1};
    assert_int_equal(commgram_create(&none, &params), -HOLTER_ERANGE);
    params = (struct commgram_params){.ranks = 1, .phases = 1025, .communities = 1};
    assert_int_equal(commgram_create(&none, &params), -HOLTER_ERANGE);
    assert_null(none);
    struct commgram *commgram = create(4, 2, UINT32_MAX);
    g.count = 0;
    send(&g, 0, 1, 1, 1);
    assert_int_equal(commgram_anchor(commgram, g.edges, 1, 0), 0);
    assert_int_equal(commgram_anchor(commgram, g.edges, 0, 0), 0);
    assert_int_equal(commgram_anchor(commgram, g.edges, COMMGRAM_MAXIMUM_EDGES + 1, 0),
                     -HOLTER_ELIMIT);
    assert_int_equal(add(commgram, &g), 0);
    assert_int_equal(commgram_anchor(commgram, g.edges, 1, 0), -HOLTER_EUSAGE);
    p = finish(commgram);
    assert_true(p.column_count == 1 && p.bar_count == 4);
    assert_int_equal(commgram_finish(commgram, &p), -HOLTER_EUSAGE);
    assert_int_equal(commgram_settle(commgram), -HOLTER_EUSAGE);
    assert_int_equal(add(commgram, &g), -HOLTER_EUSAGE);
    commgram_destroy(commgram);
    commgram = create(4, 2, 3); /* no phases: an empty picture */
    p = finish(commgram);
    assert_true(p.column_count == 0 && p.bar_count == 0 && p.ribbon_count == 0);
    commgram_destroy(commgram);
    commgram_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_of_binary_swap_are_their_pairs),
        cmocka_unit_test(binary_swap_in_one_phase_is_nested_pairs),
        cmocka_unit_test(
            each_phase_has_the_communities_that_are_found_in_it_when_no_number_is_given),
        cmocka_unit_test(two_three_swap_keeps_its_groups),
        cmocka_unit_test(an_alternation_has_two_heights_and_steady_colours),
        cmocka_unit_test(the_curve_is_that_of_the_phases_at_every_level_of_detail),
        cmocka_unit_test(patterns_that_are_known_are_at_their_heights),
        cmocka_unit_test(ribbons_have_the_sums_of_the_edges),
        cmocka_unit_test(silent_ranks_stay_with_their_community),
        cmocka_unit_test(communities_do_not_depend_on_what_is_shown),
        cmocka_unit_test(collectives_take_part_only_if_asked),
        cmocka_unit_test(known_phases_are_looked_up_and_parts_are_the_whole),
        cmocka_unit_test(ribbons_beyond_the_limit_are_counted),
        cmocka_unit_test(hostile_phases_are_survived),
        cmocka_unit_test(phases_without_messages_are_columns_without_ribbons),
        cmocka_unit_test(what_is_out_of_range_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

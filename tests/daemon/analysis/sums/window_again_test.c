/* Windows of a job that goes on as it did: rows that are told again, and pairs that are listed
 * again. */
#include "daemon/analysis/sums/window_sum.h"
#include "tests/daemon/analysis/noise.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NODES 4u
#define RANKS 8u /* of a node */
#define PAIRS 40u
#define CALLS 20u
#define WINDOWS 40u

struct report {
    struct rank_row ranks[RANKS];
    struct pair_row pairs[PAIRS];
    struct call_row calls[CALLS];
};

static struct run_sum *make_run(uint32_t pairs, uint32_t calls)
{
    const struct run_sum_limits limits = {
        .ranks = 1000, .pairs = pairs, .calls = calls, .comms = 10, .regions = 10};
    struct run_sum *run;
    assert_int_equal(run_sum_create(&run, &limits), 0);
    for (uint64_t id = 1; id < 4; id++)
        assert_int_equal(run_sum_comm(run, &(struct comm_row){.id = 100 - id, .size = 4}), id);
    assert_int_equal(run_sum_region(run, "solve"), 1);
    return run;
}

/* @param fresh  other keys, else other figures alone */
static void draw(struct report *r, uint32_t node, int fresh, struct noise *noise)
{
    for (uint32_t i = 0; i < RANKS; i++)
        r->ranks[i] = (struct rank_row){.rank = node * RANKS + i,
                                        .calls = noise_uint(noise) % 100,
                                        .in_call = (uint32_t)(noise_uint(noise) % 3),
                                        .in_call_ns = noise_uint(noise) % 50,
                                        .threads = noise_uint(noise) % 4};
    for (uint32_t i = 0; i < PAIRS; i++) {
        struct pair_row *p = &r->pairs[i];
        if (fresh)
            *p = (struct pair_row){.source = node * RANKS + i / 5,
                                   .destination = (int32_t)(noise_uint(noise) % 30) - 1,
                                   .comm = (uint32_t)(noise_uint(noise) % 4),
                                   .region = (uint16_t)(noise_uint(noise) % 2),
                                   .size_class = (uint16_t)(noise_uint(noise) % 3)};
        p->messages = noise_uint(noise) % 5; /* also none */
        p->bytes = noise_uint(noise) % 1000;
    }
    for (uint32_t i = 0; i < CALLS; i++) {
        struct call_row *c = &r->calls[i];
        if (fresh)
            *c = (struct call_row){.rank = node * RANKS + (uint32_t)(noise_uint(noise) % RANKS),
                                   .call = (uint32_t)(noise_uint(noise) % 6),
                                   .comm = (uint32_t)(noise_uint(noise) % 4),
                                   .region = (uint32_t)(noise_uint(noise) % 2)};
        c->calls = noise_uint(noise) % 5;
        c->bytes = noise_uint(noise) % 9;
        c->bytes_in = noise_uint(noise) % 9;
        c->time_ns = noise_uint(noise) % 90;
        c->longest_ns = noise_uint(noise) % 90;
    }
}

/* But for figures; there is room between fields. */
static void assert_same_pair(const struct pair_row *p, const struct pair_row *q)
{
    assert_true(p->source == q->source && p->destination == q->destination && p->comm == q->comm &&
                p->region == q->region && p->size_class == q->size_class);
}

static void assert_same(const struct sum_result *a, const struct sum_result *b)
{
    assert_true(a->rank_count == b->rank_count && a->pair_count == b->pair_count &&
                a->call_count == b->call_count && a->comm_count == b->comm_count &&
                a->region_count == b->region_count && a->folded == b->folded);
    for (size_t i = 0; i < a->rank_count; i++)
        assert_memory_equal(&a->ranks[i], &b->ranks[i], sizeof(a->ranks[i]));
    for (size_t i = 0; i < a->pair_count; i++) {
        assert_same_pair(&a->pairs[i], &b->pairs[i]);
        assert_true(a->pairs[i].messages == b->pairs[i].messages &&
                    a->pairs[i].bytes == b->pairs[i].bytes);
    }
    for (size_t i = 0; i < a->call_count; i++)
        assert_memory_equal(&a->calls[i], &b->calls[i], sizeof(a->calls[i]));
    for (size_t i = 0; i < a->comm_count; i++)
        assert_memory_equal(&a->comms[i], &b->comms[i], sizeof(a->comms[i]));
    for (size_t i = 0; i < a->region_count; i++)
        assert_string_equal(a->regions[i].name, b->regions[i].name);
}

static void assert_same_parts(struct run_sum *a, struct run_sum *b, const struct window_sum *x,
                              const struct window_sum *y)
{
    struct sum_result r = {0}, s = {0};
    for (int part = SUM_RANKS; part <= SUM_CALLS; part++) {
        assert_int_equal(window_sum_result(x, (enum sum_part)part, SIZE_MAX, &r), 0);
        assert_int_equal(window_sum_result(y, (enum sum_part)part, SIZE_MAX, &s), 0);
        assert_same(&r, &s);
        assert_int_equal(run_sum_result(a, (enum sum_part)part, SIZE_MAX, &r), 0);
        assert_int_equal(run_sum_result(b, (enum sum_part)part, SIZE_MAX, &s), 0);
        assert_same(&r, &s);
    }
    sum_result_finish(&r);
    sum_result_finish(&s);
}

/* Rows of one window: to one run as they are, to the other as figures where they are told again. */
static void add_both(struct window_sum *whole, struct window_sum *brief, const struct report *r,
                     int fresh, struct row_numbers *numbers)
{
    struct window_rows rows = {r->ranks, RANKS, r->pairs, PAIRS, r->calls, CALLS, {0}, {0}};
    assert_int_equal(window_sum_update(whole, &rows, NULL), 0);
    if (!fresh && numbers->pair_count == PAIRS) {
        rows.pairs_again = (struct figures_again){&r->pairs[0].messages, sizeof(r->pairs[0]) / 8};
        rows.pairs = NULL;
        rows.pair_count = 0;
    }
    if (!fresh && numbers->call_count == CALLS) {
        rows.calls_again = (struct figures_again){&r->calls[0].calls, sizeof(r->calls[0]) / 8};
        rows.calls = NULL;
        rows.call_count = 0;
    }
    assert_int_equal(window_sum_update(brief, &rows, numbers), 0);
}

static void tell_both(uint32_t pairs, uint32_t calls, uint64_t seed, int turned_away)
{
    struct noise noise = {.state = seed};
    struct run_sum *a = make_run(pairs, calls), *b = make_run(pairs, calls);
    struct row_numbers numbers[NODES] = {{0}};
    struct report reports[NODES];
    for (uint64_t w = 0; w < WINDOWS; w++) {
        struct window_sum *x, *y;
        assert_int_equal(window_sum_create(&x, a), 0);
        assert_int_equal(window_sum_create(&y, b), 0);
        for (uint32_t node = 0; node < NODES; node++) {
            int fresh = w == 0 || noise_uint(&noise) % 6 == 0;
            draw(&reports[node], node, fresh, &noise);
            add_both(x, y, &reports[node], fresh, &numbers[node]);
            assert_true(numbers[node].pair_count == PAIRS || turned_away);
        }
        assert_int_equal(run_sum_update(a, x, w), 0);
        assert_int_equal(run_sum_update(b, y, w), 0);
        assert_same_parts(a, b, x, y);
        window_sum_destroy(x);
        window_sum_destroy(y);
    }
    for (uint32_t node = 0; node < NODES; node++)
        row_numbers_finish(&numbers[node]);
    run_sum_destroy(a);
    run_sum_destroy(b);
}

static void rows_told_again_count_as_if_they_were_told_whole(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 6; seed++)
        tell_both(1u << 20, 1u << 20, seed, 0);
}

static void so_they_do_where_tables_are_full(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 6; seed++)
        tell_both(70, 30, seed, 1);
}

static void pairs_listed_again_are_as_if_listed_anew(void **state)
{
    (void)state;
    struct noise noise = {.state = 77};
    struct run_sum *run = make_run(1u << 20, 1u << 20);
    struct sum_result kept = {0}, fresh = {0};
    struct report r;
    uint64_t again = 0;
    for (uint64_t w = 0; w < 200; w++) {
        struct window_sum *window;
        size_t most = noise_uint(&noise) % 8 == 0 ? 25 : SIZE_MAX;
        assert_int_equal(window_sum_create(&window, run), 0);
        int as_before = w > 0 && noise_uint(&noise) % 3 == 0;
        if (!as_before)
            draw(&r, 0, w == 0 || noise_uint(&noise) % 20 == 0, &noise);
        for (uint32_t i = 0; !as_before && i < PAIRS; i++)
            r.pairs[i].messages += noise_uint(&noise) % 200 != 0; /* mostly all have some */
        if (noise_uint(&noise) % 15 == 0)                         /* told otherwise from now on */
            run_sum_comm(run, &(struct comm_row){.id = 98, .size = 10 + w});
        if (noise_uint(&noise) % 30 == 0)
            run_sum_region(run, (char[]){(char)('a' + w % 20), '\0'});
        struct window_rows rows = {.pairs = r.pairs, .pair_count = PAIRS};
        assert_int_equal(window_sum_update(window, &rows, NULL), 0);
        uint64_t listed = kept.listed, figured = kept.figured;
        size_t before_count = kept.pair_count;
        struct pair_row *before = test_calloc(before_count + 1, sizeof(*before));
        memcpy(before, kept.pairs == NULL ? before : kept.pairs, before_count * sizeof(*before));
        assert_int_equal(window_sum_pairs(window, most, &kept), 0);
        assert_true(kept.listed > listed || kept.pair_count == before_count);
        for (size_t i = 0; kept.listed == listed && i < before_count; i++)
            assert_same_pair(&kept.pairs[i], &before[i]);
        for (size_t i = 0; kept.figured == figured && i < before_count; i++)
            assert_true(kept.pairs[i].messages == before[i].messages &&
                        kept.pairs[i].bytes == before[i].bytes);
        again += kept.listed == listed && kept.figured == figured;
        test_free(before);
        assert_int_equal(window_sum_result(window, SUM_PAIRS, most, &fresh), 0);
        assert_same(&kept, &fresh);
        window_sum_destroy(window);
    }
    assert_true(again > 0);
    sum_result_finish(&kept);
    sum_result_finish(&fresh);
    run_sum_destroy(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_told_again_count_as_if_they_were_told_whole),
        cmocka_unit_test(so_they_do_where_tables_are_full),
        cmocka_unit_test(pairs_listed_again_are_as_if_listed_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "daemon/analysis/phases/phase_rows.h"
#include "tests/daemon/analysis/regions/graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define EDGES 6000u

/* What a list should hold, edge by edge. */
struct plain {
    uint64_t messages[EDGES], bytes[EDGES];
};

static struct phase_pool pool_of(uint64_t blocks)
{
    struct phase_pool pool = PHASE_POOL_EMPTY;
    assert_int_equal(phase_pool_reserve(&pool, blocks), 0);
    return pool;
}

/* Spans of edges that follow each other, and some edges alone; of `from` on every other span, so
 * that lists of 0 and of 1 have none in common. */
static struct phase_list random_list(struct phase_pool *pool, struct plain *plain, unsigned from,
                                     unsigned step, uint64_t most, uint64_t *random)
{
    struct phase_list list = PHASE_LIST_EMPTY;
    struct phase_excess excess = {0};
    uint64_t high = 0;
    memset(plain, 0, sizeof(*plain));
    for (uint32_t span = from; (span + 1) * 50 <= EDGES; span += step) {
        uint32_t part = random_next(random) % 4;
        for (uint32_t i = 0; i < 50 && part > 0; i++) {
            uint32_t edge = span * 50 + i;
            if (part == 1 && i % 7 != 3)
                continue;
            plain->messages[edge] = 1 + random_next(random) % most;
            plain->bytes[edge] = random_next(random) % 1000;
            phase_list_append(pool, &list, edge, plain->messages[edge], plain->bytes[edge],
                              &excess);
            high = plain->messages[edge] > high ? plain->messages[edge] : high;
        }
    }
    phase_list_complete(pool, &list, high < UINT32_MAX ? (uint32_t)high : UINT32_MAX);
    return list;
}

static void add(struct plain *to, const struct plain *from)
{
    for (uint32_t e = 0; e < EDGES; e++) {
        to->messages[e] += from->messages[e];
        to->bytes[e] += from->bytes[e];
    }
}

static uint32_t rows_of(uint64_t messages)
{
    return (uint32_t)((messages + UINT32_MAX - 1) / UINT32_MAX);
}

static void assert_list_is(const struct phase_pool *pool, const struct phase_list *list,
                           const struct plain *plain)
{
    static struct plain found;
    uint32_t rows = 0, blocks = 0, runs = 0, most = 0, end = PHASE_BLOCK_NONE;
    memset(&found, 0, sizeof(found));
    for (uint32_t block = list->first; block != PHASE_BLOCK_NONE; blocks++) {
        const struct phase_row *row = phase_block(pool, block);
        const struct phase_link *link = &pool->links[block];
        for (uint32_t i = 0; i < link->rows; i++) {
            assert_true((i == 0 && end == PHASE_BLOCK_NONE) || row[i].edge >= most);
            most = row[i].edge;
            found.messages[most] += (uint64_t)link->times * row[i].messages;
            found.bytes[most] += link->times * row[i].bytes;
        }
        rows += link->rows;
        runs += end == PHASE_BLOCK_NONE;
        end = end == PHASE_BLOCK_NONE ? link->end : end;
        end = block == end ? PHASE_BLOCK_NONE : end; /* a run begins behind it */
        block = block == list->last ? PHASE_BLOCK_NONE : link->after;
    }
    assert_int_equal(rows, list->rows);
    assert_int_equal(blocks, list->blocks);
    assert_int_equal(runs, list->runs);
    assert_memory_equal(&found, plain, sizeof(found));
}

static uint32_t plain_common(const struct plain *a, const struct plain *b)
{
    uint32_t common = 0;
    for (uint32_t e = 0; e < EDGES; e++) {
        uint32_t one = rows_of(a->messages[e]), other = rows_of(b->messages[e]);
        common += one < other ? one : other;
    }
    return common;
}

/* Large sums take several rows for an edge, small ones one. */
static void lists_have_in_common_what_both_have(void **state)
{
    static struct plain one, other;
    uint64_t random = 1;
    (void)state;
    struct phase_pool pool = pool_of(600);
    for (unsigned round = 0; round < 200; round++) {
        uint64_t most = round % 2 == 0 ? 5 : UINT64_C(3) << 32;
        struct phase_list a = random_list(&pool, &one, 0, 1 + round % 3, most, &random);
        struct phase_list b = random_list(&pool, &other, round % 2, 1 + round % 5, 9, &random);
        assert_int_equal(phase_list_common(&pool, &a, &b), plain_common(&one, &other));
        assert_int_equal(phase_list_common(&pool, &b, &a), plain_common(&one, &other));
        phase_list_clear(&pool, &a);
        phase_list_clear(&pool, &b);
    }
    phase_pool_finish(&pool);
}

static void lists_become_one_whichever_way(void **state)
{
    static struct plain one, other, third;
    uint64_t random = 2;
    (void)state;
    struct phase_pool pool = pool_of(600);
    for (unsigned round = 0; round < 300; round++) {
        struct phase_excess excess = {0};
        struct phase_list a = random_list(&pool, &one, 0, 2, 5, &random);
        struct phase_list b = random_list(&pool, &other, 1, 2, 5, &random);
        struct phase_list c = random_list(&pool, &third, 0, 1, 7, &random);
        uint32_t free_count = pool.free_count, used = a.blocks + b.blocks + c.blocks;
        if (!phase_list_link(&pool, &a, &b)) /* mostly it can be */
            phase_list_merge(&pool, &a, &b, &excess);
        add(&one, &other);
        assert_int_equal(b.rows, 0);
        assert_list_is(&pool, &a, &one);
        uint32_t common = phase_list_common(&pool, &c, &a);
        assert_int_equal(common, plain_common(&one, &third));
        if (round % 2 == 0 || common != a.rows || !phase_list_absorb(&pool, &c, &a))
            phase_list_merge(&pool, &c, &a, &excess);
        add(&third, &one);
        assert_int_equal(a.rows, 0);
        assert_list_is(&pool, &c, &third);
        phase_list_clear(&pool, &c);
        assert_int_equal(pool.free_count, free_count + used); /* no block is lost */
    }
    phase_pool_finish(&pool);
}

/* All edges of one are in the other; sums that may not fit leave both as they were. */
static void a_part_is_added_in_place_if_it_fits(void **state)
{
    static struct plain one, all;
    uint64_t random = 3;
    (void)state;
    struct phase_pool pool = pool_of(600);
    struct phase_list whole = PHASE_LIST_EMPTY, part = random_list(&pool, &one, 1, 3, 5, &random);
    struct phase_excess excess = {0};
    memset(&all, 0, sizeof(all));
    for (uint32_t e = 0; e < EDGES; e++) {
        all.messages[e] = 3;
        phase_list_append(&pool, &whole, e, 3, 0, &excess);
    }
    phase_list_complete(&pool, &whole, UINT32_MAX - 5);
    assert_false(phase_list_absorb(&pool, &whole, &part));
    assert_list_is(&pool, &whole, &all);
    assert_list_is(&pool, &part, &one);
    phase_list_complete(&pool, &whole, 3);
    assert_true(phase_list_absorb(&pool, &whole, &part));
    add(&all, &one);
    assert_list_is(&pool, &whole, &all);
    assert_int_equal(part.rows, 0);
    assert_true(whole.high >= 3 && whole.high <= 8);
    phase_pool_finish(&pool);
}

/* Spans that begin blocks lie in the same ones, whatever else is in the list. */
static void spans_that_begin_blocks_share_them(void **state)
{
    enum { SPAN = 300, SPANS = 5 };
    static const uint32_t of[3][3] = {{0, 1, 4}, {1, 2, 3}, {0, 3, 4}};
    uint32_t places[SPANS][2], known[SPANS] = {0};
    struct phase_excess excess = {0};
    struct phase_pool pool = pool_of(64);
    struct plain plain;
    (void)state;
    for (uint32_t l = 0; l < 3; l++) {
        struct phase_list list = PHASE_LIST_EMPTY;
        memset(&plain, 0, sizeof(plain));
        for (uint32_t i = 0; i < 3; i++) {
            if (i > 0)
                phase_list_break(&pool, &list);
            for (uint32_t edge = of[l][i] * SPAN; edge < (of[l][i] + 1) * SPAN; edge++) {
                plain.messages[edge] = 1 + edge % 3;
                plain.bytes[edge] = edge;
                phase_list_append(&pool, &list, edge, 1 + edge % 3, edge, &excess);
            }
        }
        phase_list_complete(&pool, &list, 3);
        assert_list_is(&pool, &list, &plain);
        assert_int_equal(list.blocks, 6);
        for (uint32_t i = 0, block = list.first; i < 6; i++, block = pool.links[block].after) {
            uint32_t span = of[l][i / 2], place = pool.links[block].place;
            assert_int_equal(pool.links[block].rows, i % 2 == 0 ? PHASE_BLOCK : SPAN - PHASE_BLOCK);
            if (known[span]++ > 1)
                assert_int_equal(place, places[span][i % 2]);
            places[span][i % 2] = place;
        }
    }
    phase_pool_finish(&pool);
}

/* Lists of a few rows each would be mostly empty blocks. */
static void linking_leaves_few_rows_of_blocks_empty(void **state)
{
    uint64_t random = 4;
    (void)state;
    struct phase_pool pool = pool_of(9000);
    struct phase_list all = PHASE_LIST_EMPTY;
    uint32_t edge = 0, refused = 0;
    for (unsigned round = 0; round < 1000; round++) {
        struct phase_list list = PHASE_LIST_EMPTY;
        struct phase_excess excess = {0};
        uint32_t rows = round % 3 == 0 ? 3 : 1 + random_next(&random) % 3000;
        for (uint32_t i = 0; i < rows; i++)
            phase_list_append(&pool, &list, edge++, 1, 1, &excess);
        phase_list_complete(&pool, &list, 1);
        bool linked = phase_list_link(&pool, &all, &list);
        if (!linked)
            phase_list_merge(&pool, &all, &list, &excess);
        refused += !linked;
        assert_true(all.runs <= PHASE_RUNS);
        assert_true(all.blocks <= phase_blocks_most(all.rows));
    }
    assert_true(refused > 5 && refused < 100);
    phase_pool_finish(&pool);
}

/* Of lists of edges between those of all others few are put behind each other. */
static void many_runs_are_linked_if_their_edges_are_apart(void **state)
{
    enum { LISTS = 64, ROWS = 512 };
    (void)state;
    for (uint32_t scattered = 0; scattered < 2; scattered++) {
        struct phase_pool pool = pool_of(300);
        struct phase_list all = PHASE_LIST_EMPTY;
        struct phase_excess excess = {0};
        for (uint32_t i = 0; i < LISTS; i++) {
            struct phase_list list = PHASE_LIST_EMPTY;
            for (uint32_t row = 0; row < ROWS; row++)
                phase_list_append(&pool, &list, scattered ? row * LISTS + i : i * ROWS + row, 1, 1,
                                  &excess);
            phase_list_complete(&pool, &list, 1);
            assert_int_equal(phase_list_link(&pool, &all, &list),
                             !scattered || i < PHASE_RUNS_APART);
            phase_list_clear(&pool, &list);
        }
        assert_int_equal(all.runs, scattered ? PHASE_RUNS_APART : LISTS);
        phase_pool_finish(&pool);
    }
}

static uint32_t places_free(const struct phase_pool *pool)
{
    uint32_t count = 0;
    for (uint32_t at = pool->store.free; at != PHASE_BLOCK_NONE; at = pool->store.places[at].after)
        count++;
    return count;
}

/* The same messages again, as in most bursts of most jobs. */
static void rows_that_are_alike_are_kept_once(void **state)
{
    enum { LISTS = 40 };
    static struct plain plain[3], sum;
    struct phase_list lists[LISTS];
    struct phase_excess excess = {0};
    (void)state;
    struct phase_pool pool = pool_of(3000);
    uint32_t all = places_free(&pool), alone = 0, blocks = 0;
    for (unsigned i = 0; i < LISTS; i++) {
        uint64_t random = 7 + i % 3; /* three bursts that take turns */
        lists[i] = random_list(&pool, &plain[i % 3], 0, 1, 5, &random);
        blocks += lists[i].blocks;
        alone += i < 3 ? lists[i].blocks : 0;
        assert_int_equal(all - places_free(&pool), i < 3 ? blocks : alone);
    }
    /* Sums of what is alike need no rows of their own. */
    for (unsigned i = 0; i + 3 < LISTS / 2; i += 6) {
        assert_true(i % 4 == 0 ? phase_list_absorb(&pool, &lists[i], &lists[i + 3])
                               : phase_list_repeat(&pool, &lists[i], &lists[i + 3]));
        assert_int_equal(all - places_free(&pool), alone);
        sum = plain[0];
        add(&sum, &plain[0]);
        assert_list_is(&pool, &lists[i], &sum);
    }
    phase_list_merge(&pool, &lists[1], &lists[4], &excess);
    sum = plain[1];
    add(&sum, &plain[1]);
    assert_list_is(&pool, &lists[1], &sum);
    for (unsigned i = LISTS / 2; i < LISTS; i++)
        assert_list_is(&pool, &lists[i], &plain[i % 3]);
    for (unsigned i = 0; i < LISTS; i++)
        phase_list_clear(&pool, &lists[i]);
    assert_int_equal(places_free(&pool), all);
    assert_int_equal(pool.free_count, all);
    phase_pool_finish(&pool);
}

/* A list of the rows that a pattern has, put together from two that have none of each other's
 * edges, or all at once. */
static struct phase_list pattern_list(struct phase_pool *pool, struct plain *plain,
                                      uint64_t pattern, bool parted)
{
    static struct plain all;
    struct phase_list parts[2] = {PHASE_LIST_EMPTY, PHASE_LIST_EMPTY};
    struct phase_excess excess = {0};
    uint64_t random = pattern;
    memset(&all, 0, sizeof(all));
    for (uint32_t e = 0; e < EDGES; e++) {
        all.messages[e] = 1 + random_next(&random) % 5;
        all.bytes[e] = random_next(&random) % 1000;
        phase_list_append(pool, &parts[parted && e / 700 % 2 == 1], e, all.messages[e],
                          all.bytes[e], &excess);
    }
    *plain = all;
    for (int i = 0; i < 2; i++)
        phase_list_complete(pool, &parts[i], 5);
    assert_true(phase_list_link(pool, &parts[0], &parts[1]));
    return parts[0];
}

/* Spans of 500 edges, each put behind the others as a list of its own.
 * @param odd  edge that has a message more */
static struct phase_list linked_list(struct phase_pool *pool, const uint32_t *spans, uint32_t odd)
{
    struct phase_list all = PHASE_LIST_EMPTY;
    struct phase_excess excess = {0};
    for (uint32_t i = 0; i < 4; i++) {
        struct phase_list list = PHASE_LIST_EMPTY;
        for (uint32_t edge = spans[i] * 500; edge < (spans[i] + 1) * 500; edge++)
            phase_list_append(pool, &list, edge, 2 + (edge == odd), edge, &excess);
        phase_list_complete(pool, &list, 3);
        assert_true(phase_list_link(pool, &all, &list));
    }
    return all;
}

static void what_repeats_is_counted_in_any_order(void **state)
{
    static const uint32_t orders[3][4] = {{0, 1, 2, 3}, {3, 1, 0, 2}, {2, 3, 1, 0}};
    struct phase_pool pool = pool_of(64);
    static struct plain plain;
    (void)state;
    struct phase_list sum = linked_list(&pool, orders[0], EDGES);
    for (uint32_t i = 1; i < 3; i++) {
        struct phase_list other = linked_list(&pool, orders[i], 700 + i);
        assert_false(phase_list_repeat(&pool, &sum, &other));
        assert_int_equal(other.rows, 2000);
        phase_list_clear(&pool, &other);
        other = linked_list(&pool, orders[i], EDGES);
        assert_true(phase_list_repeat(&pool, &sum, &other));
        assert_int_equal(other.rows, 0);
    }
    for (uint32_t edge = 0; edge < 2000; edge++) {
        plain.messages[edge] = 6;
        plain.bytes[edge] = 3 * edge;
    }
    assert_list_is(&pool, &sum, &plain);
    phase_list_clear(&pool, &sum);
    assert_int_equal(places_free(&pool), pool.free_count);
    phase_pool_finish(&pool);
}

/* Rows lie in different blocks where a list was put together from others. */
static void what_repeats_is_counted_however_it_lies(void **state)
{
    enum { LISTS = 10 };
    static struct plain plain[LISTS];
    struct phase_list lists[LISTS];
    struct phase_excess excess = {0};
    uint64_t random = 13;
    (void)state;
    struct phase_pool pool = pool_of(900);
    uint32_t all = places_free(&pool), repeated = 0;
    for (unsigned i = 0; i < LISTS; i++)
        lists[i] = PHASE_LIST_EMPTY;
    for (unsigned round = 0; round < 300; round++) {
        unsigned to = random_next(&random) % LISTS, from = random_next(&random) % LISTS;
        if (to == from || lists[to].rows == 0 || lists[from].rows == 0) {
            phase_list_clear(&pool, &lists[to]);
            lists[to] = pattern_list(&pool, &plain[to], 30 + random_next(&random) % 2,
                                     random_next(&random) % 2 == 0);
            continue;
        }
        bool repeats = phase_list_repeat(&pool, &lists[to], &lists[from]);
        repeated += repeats;
        if (!repeats && (round % 2 == 0 || !phase_list_absorb(&pool, &lists[to], &lists[from])))
            phase_list_merge(&pool, &lists[to], &lists[from], &excess);
        add(&plain[to], &plain[from]);
        for (unsigned i = 0; i < LISTS; i++)
            if (lists[i].rows > 0)
                assert_list_is(&pool, &lists[i], &plain[i]);
    }
    assert_true(repeated > 20);
    for (unsigned i = 0; i < LISTS; i++)
        phase_list_clear(&pool, &lists[i]);
    assert_int_equal(places_free(&pool), all);
    assert_int_equal(pool.free_count, all);
    phase_pool_finish(&pool);
}

/* Few patterns and any merging of them: whoever shares rows keeps them as they were. */
static void nobody_changes_the_rows_of_another(void **state)
{
    enum { LISTS = 12 };
    static struct plain plain[LISTS];
    struct phase_list lists[LISTS];
    uint64_t random = 11;
    (void)state;
    struct phase_pool pool = pool_of(900);
    uint32_t all = places_free(&pool);
    for (unsigned i = 0; i < LISTS; i++)
        lists[i] = PHASE_LIST_EMPTY;
    for (unsigned round = 0; round < 400; round++) {
        struct phase_excess excess = {0};
        unsigned to = random_next(&random) % LISTS, from = random_next(&random) % LISTS;
        uint64_t pattern = 20 + random_next(&random) % 3;
        if (to == from || lists[to].rows == 0 || lists[from].rows == 0) {
            phase_list_clear(&pool, &lists[to]);
            lists[to] = random_list(&pool, &plain[to], 0, 1, 5, &pattern);
            continue;
        }
        if (phase_list_common(&pool, &lists[to], &lists[from]) != lists[from].rows ||
            !phase_list_absorb(&pool, &lists[to], &lists[from]))
            phase_list_merge(&pool, &lists[to], &lists[from], &excess);
        add(&plain[to], &plain[from]);
        for (unsigned i = 0; i < LISTS; i++)
            if (lists[i].rows > 0)
                assert_list_is(&pool, &lists[i], &plain[i]);
        assert_true(places_free(&pool) >= pool.free_count);
    }
    for (unsigned i = 0; i < LISTS; i++)
        phase_list_clear(&pool, &lists[i]);
    assert_int_equal(places_free(&pool), all);
    phase_pool_finish(&pool);
}

/* More places are had while others are shared: those are found there still. */
static void what_is_shared_is_found_in_a_pool_that_grew(void **state)
{
    static struct plain plain;
    (void)state;
    struct phase_pool pool = PHASE_POOL_EMPTY;
    struct phase_list lists[200];
    uint32_t alone = 0;
    for (unsigned i = 0; i < 200; i++) {
        uint64_t random = 5;
        assert_int_equal(phase_pool_reserve(&pool, 40), 0);
        lists[i] = random_list(&pool, &plain, 0, 1, 5, &random);
        alone = i == 0 ? lists[0].blocks : alone;
        assert_int_equal(pool.store.slab_count * PHASE_BLOCK - places_free(&pool), alone);
    }
    assert_true(pool.store.slab_count > 4);
    for (unsigned i = 0; i < 200; i++)
        assert_list_is(&pool, &lists[i], &plain);
    phase_pool_finish(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_have_in_common_what_both_have),
        cmocka_unit_test(lists_become_one_whichever_way),
        cmocka_unit_test(a_part_is_added_in_place_if_it_fits),
        cmocka_unit_test(spans_that_begin_blocks_share_them),
        cmocka_unit_test(linking_leaves_few_rows_of_blocks_empty),
        cmocka_unit_test(many_runs_are_linked_if_their_edges_are_apart),
        cmocka_unit_test(rows_that_are_alike_are_kept_once),
        cmocka_unit_test(what_repeats_is_counted_in_any_order),
        cmocka_unit_test(what_repeats_is_counted_however_it_lies),
        cmocka_unit_test(nobody_changes_the_rows_of_another),
        cmocka_unit_test(what_is_shared_is_found_in_a_pool_that_grew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

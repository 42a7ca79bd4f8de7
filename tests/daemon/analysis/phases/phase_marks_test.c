#include "daemon/analysis/phases/phase_marks.h"

#include "daemon/analysis/phases/phase_graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000000)

static struct phase_pool new_pool(void)
{
    struct phase_pool pool = PHASE_POOL_EMPTY;
    assert_int_equal(phase_pool_reserve(&pool, 200), 0);
    return pool;
}

/* Rows of every so many edges. */
static void append(struct phase_pool *pool, struct phase_list *list, uint32_t first, uint32_t count,
                   uint32_t step)
{
    struct phase_excess excess = {0};
    for (uint32_t i = 0; i < count; i++)
        phase_list_append(pool, list, first + i * step, 1, first + i, &excess);
}

/* Note the blocks of a list of two ranges of edges, or of one list each. */
static void mark(struct phase_pool *pool, struct phase_marks *marks, const uint32_t first[2],
                 uint32_t count, bool together)
{
    struct phase_list lists[2] = {PHASE_LIST_EMPTY, PHASE_LIST_EMPTY};
    append(pool, &lists[0], first[0], count, 1);
    append(pool, &lists[together ? 0 : 1], first[1], count, 1);
    for (int i = 0; i < 2; i++) {
        phase_list_complete(pool, &lists[i], 1);
        phase_marks_add(marks, pool, &lists[i]);
    }
}

/* What all have: so many blocks that the others are worth while to be looked at. */
static void mark_common(struct phase_pool *pool, struct phase_marks *marks)
{
    struct phase_list list = PHASE_LIST_EMPTY;
    append(pool, &list, 100000, 40 * PHASE_BLOCK, 1);
    phase_list_complete(pool, &list, 1);
    phase_marks_add(marks, pool, &list);
    phase_marks_sort(marks);
}

static bool have_same_rows(const struct phase_pool *pool, const struct phase_marks *one,
                           const struct phase_marks *other)
{
    struct phase_stretches room = {0};
    assert_true(phase_marks_can_compare(&pool->store, one, other));
    bool same = phase_marks_have_same_rows(&room, &pool->store, one, other);
    assert_true(phase_marks_have_same_rows(&room, &pool->store, other, one) == same);
    phase_stretches_finish(&room);
    return same;
}

static void rows_are_the_same_however_they_are_cut_into_blocks(void **state)
{
    (void)state;
    const uint32_t first[2] = {0, 1000}, others[2] = {0, 1001};
    struct phase_pool pool = new_pool();
    struct phase_marks one = {0}, other = {0}, different = {0}, fewer = {0};
    mark(&pool, &one, first, 700, false);
    mark(&pool, &other, first, 700, true);
    mark(&pool, &different, others, 700, true);
    mark(&pool, &fewer, first, 699, true);
    struct phase_marks *all[4] = {&one, &other, &different, &fewer};
    for (int i = 0; i < 4; i++)
        mark_common(&pool, all[i]);
    assert_true(have_same_rows(&pool, &one, &other));
    assert_true(have_same_rows(&pool, &one, &one));
    assert_false(have_same_rows(&pool, &one, &different));
    assert_false(have_same_rows(&pool, &other, &fewer));
    for (int i = 0; i < 4; i++)
        phase_marks_finish(all[i]);
    phase_pool_finish(&pool);
}

static void blocks_are_not_compared_where_most_are_others(void **state)
{
    (void)state;
    const uint32_t first[2] = {0, 10000}, others[2] = {20000, 30000};
    struct phase_pool pool = new_pool();
    struct phase_marks one = {0}, other = {0}, none = {0};
    mark(&pool, &one, first, 5000, false);
    mark(&pool, &other, others, 5000, false);
    phase_marks_sort(&one);
    phase_marks_sort(&other);
    assert_true(phase_marks_can_compare(&pool.store, &one, &one));
    assert_false(phase_marks_can_compare(&pool.store, &one, &other));
    assert_false(phase_marks_can_compare(&pool.store, &one, &none));
    phase_marks_finish(&one);
    phase_marks_finish(&other);
    phase_pool_finish(&pool);
}

static void add_burst(struct phase_graphs *graphs, int64_t time_ns, uint32_t first, uint32_t count,
                      uint64_t messages)
{
    static struct burst_pair pairs[20000];
    const struct burst_piece piece = {pairs, count, 0};
    const struct phase_burst burst = {
        .time_ns = time_ns, .first_ns = time_ns, .last_ns = time_ns, .pieces = &piece, .count = 1};
    for (uint32_t i = 0; i < count; i++)
        pairs[i] = (struct burst_pair){first + i, first + i + 1, 3, 0, messages, 8 * messages};
    assert_int_equal(phase_graphs_add(graphs, &burst), 0);
}

/* A pair's messages are told in two bursts, in other parts each time. */
static void equal_sums_of_other_rows_share_their_edges(void **state)
{
    (void)state;
    const struct phase_graphs_params params = {1u << 20, 1u << 15, 4096, SECOND};
    struct phase_graph before = {0}, graph = {0};
    struct phase_graphs *graphs;
    assert_int_equal(phase_graphs_create(&graphs, &params), 0);
    for (uint64_t t = 1; t < 6; t++) {
        int64_t begin = (int64_t)t * SECOND;
        add_burst(graphs, begin, 1000, 20000, 1);
        add_burst(graphs, begin + 1, 0, 300, t);
        add_burst(graphs, begin + 2, 0, 300, (t < 5 ? 10 : 11) - t);
        assert_int_equal(phase_graphs_read(graphs, begin, begin + 2, &graph), 0);
        assert_int_equal(graph.messages, 20000 + 300 * (t < 5 ? 10 : 11));
        if (t > 1)
            assert_true((graph.edges == before.edges) == (t < 5));
        assert_int_equal(phase_graph_share(&before, &graph), 0);
    }
    phase_graph_finish(&before);
    phase_graph_finish(&graph);
    phase_graphs_destroy(graphs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_the_same_however_they_are_cut_into_blocks),
        cmocka_unit_test(blocks_are_not_compared_where_most_are_others),
        cmocka_unit_test(equal_sums_of_other_rows_share_their_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* When windows are joined, and what a joined window holds. */
#include "daemon/job/growth/growth_join.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define RANKS 4u
#define FIRST 1000u /* number of the first window */
#define LENGTH_NS 500u

/* A window in which some ranks send a message to the next one. */
struct bed {
    struct growth_join join;
    struct wire_rank_row ranks[RANKS];
    struct wire_pair_row pairs[RANKS];
    struct transfer transfers[RANKS];
    struct latency_rows latency;
    uint64_t figures[RANKS][MESSAGE_FIGURES];
    struct message_ranks messages;
    struct node_row nodes[2];
    struct sum_totals totals;
    struct closed_window window;
};

static void make_window(struct bed *bed, uint64_t number, unsigned active)
{
    struct closed_window *w = &bed->window;
    *w = (struct closed_window){.number = number,
                                .length_ns = LENGTH_NS,
                                .totals = &bed->totals,
                                .ranks = bed->ranks,
                                .rank_count = RANKS,
                                .pairs = bed->pairs,
                                .latency = &bed->latency,
                                .rank_messages = &bed->messages};
    memset(bed->figures, 0, sizeof(bed->figures));
    bed->messages = (struct message_ranks){.figures = bed->figures, .count = RANKS};
    bed->latency.transfers = (struct transfers){.rows = bed->transfers};
    bed->totals = (struct sum_totals){.ranks = RANKS};
    for (uint32_t r = 0; r < RANKS; r++) {
        const uint64_t sent = active >> r & 1;
        const uint32_t next = (r + 1) % RANKS;
        bed->ranks[r] = (struct wire_rank_row){
            .rank = r, .calls = 2 * sent, .sent = sent, .wait_ns = 100 * sent, .ranks = 0};
        bed->totals.sent += sent;
        if (sent == 0)
            continue;
        bed->pairs[w->pair_count++] =
            (struct wire_pair_row){.source = r, .destination = next, .messages = 1};
        bed->transfers[bed->latency.transfers.count++] =
            (struct transfer){.source = r, .destination = next, .messages = 1};
        bed->figures[next][MESSAGES_NEAR] = 1;
    }
}

/* Learn from the window, and join as many as are wanted. @return how many */
static uint32_t follow_window(struct bed *bed)
{
    const uint32_t span = growth_join_follow(&bed->join, &bed->window);
    if (span != growth_join_span(&bed->join))
        growth_join_set_span(&bed->join, span);
    return span;
}

/* Ranks that send every so many windows, each so much later than the rank before it.
 * @return windows that are joined after that */
static uint32_t span_of(uint32_t windows, uint32_t every, uint32_t apart)
{
    struct bed bed = {.join = {.span = 0}};
    uint32_t span = 1;
    for (uint32_t w = 0; w < windows; w++) {
        unsigned active = 0;
        for (uint32_t r = 0; r < RANKS; r++)
            active |= (unsigned)((w + r * apart) % every == 0) << r;
        make_window(&bed, FIRST + w, active);
        span = follow_window(&bed);
    }
    growth_join_finish(&bed.join);
    return span;
}

static void a_job_that_works_in_each_window_is_judged_by_its_windows(void **state)
{
    (void)state;
    assert_int_equal(span_of(200, 1, 0), 1);
    assert_int_equal(span_of(200, 2, 1), 1);
}

static void joined_windows_hold_three_long_iterations(void **state)
{
    (void)state;
    assert_int_equal(span_of(15, 5, 0), 1); /* it is not known yet */
    assert_int_equal(span_of(200, 5, 0), 16);
    assert_int_equal(span_of(200, 10, 0), 32);
    assert_int_equal(span_of(2000, 100, 0), 256);
}

static void that_iterations_are_long_is_uncertain_at_first(void **state)
{
    struct bed bed = {.join = {.span = 0}};
    (void)state;
    for (uint32_t w = 0; w < 100; w++) {
        make_window(&bed, FIRST + w, w % 10 == 0 ? 0xf : 0);
        growth_join_follow(&bed.join, &bed.window);
        if (w < 35 || w > 45) /* three iterations are over */
            assert_int_equal(growth_join_is_uncertain(&bed.join), w < 40);
    }
    growth_join_finish(&bed.join);
    for (uint32_t w = 0; w < 100; w++) {
        make_window(&bed, FIRST + w, 0xf);
        growth_join_follow(&bed.join, &bed.window);
        assert_int_equal(growth_join_is_uncertain(&bed.join), w < 2);
    }
    growth_join_finish(&bed.join);
}

/* As where all ranks read their input, and a few work. */
static void ranks_that_work_no_more_leave_it_known_how_long_iterations_are(void **state)
{
    struct bed bed = {.join = {.span = 0}};
    (void)state;
    for (uint32_t w = 0; w < 400; w++) {
        make_window(&bed, FIRST + w, w == 0 ? 0xf : w % 10 == 0);
        const uint32_t span = follow_window(&bed);
        if (w < 35 || w > 45)
            assert_int_equal(span, w < 40 ? 1 : 32);
    }
    growth_join_finish(&bed.join);
}

static void iterations_are_seen_where_ranks_are_apart(void **state)
{
    (void)state;
    assert_int_equal(span_of(200, 8, 2), 32); /* some rank works in each second window */
}

/* Of a job that waits for two files at its start, and then works. */
static void a_job_that_begins_to_work_in_each_window_is_judged_by_its_windows_again(void **state)
{
    struct bed bed = {.join = {.span = 0}};
    (void)state;
    for (uint32_t w = 0; w < 400; w++) {
        make_window(&bed, FIRST + w, w < 100 && w % 8 != 0 ? 0 : 0xf);
        const uint32_t span = follow_window(&bed);
        if (w == 99)
            assert_int_equal(span, 32);
    }
    assert_int_equal(growth_join_span(&bed.join), 1);
    growth_join_finish(&bed.join);
}

/* A rank that others wait for makes the iterations of all longer. */
static void short_iterations_that_grow_are_not_joined(void **state)
{
    struct bed bed = {.join = {.span = 0}};
    (void)state;
    for (uint32_t w = 0; w < 200; w++) {
        make_window(&bed, FIRST + w, (w < 60 ? w % 5 == 0 || w % 5 == 3 : w % 4 == 0) ? 0xf : 0);
        assert_int_equal(growth_join_follow(&bed.join, &bed.window), 1);
    }
    growth_join_finish(&bed.join);
}

static void a_joined_window_adds_up_its_windows(void **state)
{
    struct bed bed = {.join = {.span = 0}};
    struct closed_window joined;
    (void)state;
    growth_join_set_span(&bed.join, 4);
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t w = 0; w < 4; w++) {
            make_window(&bed, FIRST + 4 * round + w, w == 0 ? 0x3 : w == 2 ? 0x2 : 0);
            assert_false(growth_join_begins(&bed.join, &bed.window));
            assert_int_equal(growth_join_add(&bed.join, &bed.window), 0);
            assert_int_equal(growth_join_ends(&bed.join, &bed.window), w == 3);
        }
        assert_true(growth_join_take(&bed.join, &bed.window, &joined));
        assert_int_equal(joined.number, FIRST / 4 + round);
        assert_int_equal(joined.length_ns, 4 * LENGTH_NS);
        assert_int_equal(joined.totals->ranks, RANKS);
        assert_int_equal(joined.totals->sent, 3);
        assert_int_equal(joined.rank_count, RANKS);
        assert_int_equal(joined.ranks[0].sent, 1);
        assert_int_equal(joined.ranks[1].sent, 2);
        assert_int_equal(joined.ranks[1].wait_ns, 200);
        assert_int_equal(joined.pair_count, 3);
        assert_int_equal(joined.latency->transfers.count, 3);
        assert_int_equal(joined.rank_messages->figures[2][MESSAGES_NEAR], 2);
        assert_false(growth_join_take(&bed.join, &bed.window, &joined));
    }
    growth_join_finish(&bed.join);
}

static void windows_that_are_missing_end_a_joined_window(void **state)
{
    struct bed bed = {.join = {.span = 0}};
    struct closed_window joined;
    (void)state;
    growth_join_set_span(&bed.join, 4);
    make_window(&bed, FIRST, 0xf);
    assert_int_equal(growth_join_add(&bed.join, &bed.window), 0);
    make_window(&bed, FIRST + 6, 0x1);
    assert_true(growth_join_begins(&bed.join, &bed.window));
    assert_true(growth_join_take(&bed.join, &bed.window, &joined));
    assert_int_equal(joined.length_ns, LENGTH_NS);
    assert_int_equal(joined.totals->sent, RANKS);
    assert_int_equal(growth_join_add(&bed.join, &bed.window), 0);
    assert_true(growth_join_take(&bed.join, &bed.window, &joined));
    assert_int_equal(joined.number, FIRST / 4 + 1);
    assert_int_equal(joined.totals->sent, 1);
    growth_join_finish(&bed.join);
}

static void ranks_of_a_node_count_once_in_a_joined_window(void **state)
{
    struct bed bed = {.join = {.span = 0}};
    struct closed_window joined;
    (void)state;
    growth_join_set_span(&bed.join, 2);
    for (uint32_t w = 0; w < 2; w++) {
        make_window(&bed, FIRST + w, 0);
        /* Two rows of one node, as of two groups of its ranks. */
        bed.nodes[0] = (struct node_row){{.rank = 7, .ranks = 3, .wait_ns = 10}, 6};
        bed.nodes[1] = (struct node_row){{.rank = 7, .ranks = 1, .wait_ns = 5}, 5};
        bed.window.node_rows = bed.nodes;
        bed.window.node_row_count = 2;
        assert_int_equal(growth_join_add(&bed.join, &bed.window), 0);
    }
    assert_true(growth_join_take(&bed.join, &bed.window, &joined));
    assert_int_equal(joined.node_row_count, 1);
    assert_int_equal(joined.node_rows[0].sum.rank, 7);
    assert_int_equal(joined.node_rows[0].sum.ranks, 4);
    assert_int_equal(joined.node_rows[0].sum.wait_ns, 30);
    assert_int_equal(joined.node_rows[0].longest_mpi_ns, 22);
    growth_join_finish(&bed.join);
}

static void windows_with_too_many_rows_are_not_joined(void **state)
{
    struct bed bed = {.join = {.span = 0}};
    (void)state;
    for (uint32_t w = 0; w < 200; w++) {
        make_window(&bed, FIRST + w, w % 10 == 0 ? 0xf : 0);
        if (growth_join_follow(&bed.join, &bed.window) > 1)
            growth_join_give_up(&bed.join);
    }
    assert_int_equal(growth_join_follow(&bed.join, &bed.window), 1);
    growth_join_set_span(&bed.join, 4);
    bed.window.pair_count = (size_t)1 << 21; /* they are not read */
    assert_true(growth_join_add(&bed.join, &bed.window) < 0);
    growth_join_finish(&bed.join);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_that_works_in_each_window_is_judged_by_its_windows),
        cmocka_unit_test(joined_windows_hold_three_long_iterations),
        cmocka_unit_test(that_iterations_are_long_is_uncertain_at_first),
        cmocka_unit_test(ranks_that_work_no_more_leave_it_known_how_long_iterations_are),
        cmocka_unit_test(iterations_are_seen_where_ranks_are_apart),
        cmocka_unit_test(a_job_that_begins_to_work_in_each_window_is_judged_by_its_windows_again),
        cmocka_unit_test(short_iterations_that_grow_are_not_joined),
        cmocka_unit_test(a_joined_window_adds_up_its_windows),
        cmocka_unit_test(windows_that_are_missing_end_a_joined_window),
        cmocka_unit_test(ranks_of_a_node_count_once_in_a_joined_window),
        cmocka_unit_test(windows_with_too_many_rows_are_not_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

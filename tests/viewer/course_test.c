/* Figures over bins of time: messages between nodes, load balance, transfer times by size. */
#include "viewer/model/course.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS = 4, FIRST = 1000 };

static const uint64_t S = 1000000000;

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not %.17g", value, expected);
}

/* Ranks send 10 messages of 100 bytes each, of which 0 to 3 cross; rank 3 sends `heavy`. */
static void fill_rows(struct wire_rank_row *rows, uint64_t heavy)
{
    for (uint64_t r = 0; r < RANKS; r++) {
        uint64_t sent = r == 3 ? heavy : 10;
        rows[r] = (struct wire_rank_row){.rank = r,
                                         .sent = sent,
                                         .sent_bytes = 100 * sent,
                                         .received = 10,
                                         .in_call_peer = -1,
                                         .crossing = r,
                                         .crossing_bytes = 100 * r};
    }
}

static void report_ranks(struct model *m, uint64_t window, uint64_t heavy)
{
    struct wire_rank_row rows[RANKS];
    struct wire_message message = {.type = WIRE_TYPE_TOTALS};
    message.totals = (struct wire_totals){
        .job = "1", .window = window, .start_ns = window * S, .length_ns = S, .ranks = RANKS};
    assert_int_equal(model_apply(m, &message, 0), 0);
    fill_rows(rows, heavy);
    message = (struct wire_message){.type = WIRE_TYPE_RANK_WINDOW};
    message.rank_window = (struct wire_rank_window){
        .job = "1", .window = window, .length_ns = S, .ranks = rows, .ranks_count = RANKS};
    assert_int_equal(model_apply(m, &message, 0), 0);
}

/* Messages of one size within and of one size between nodes. */
static void report_times(struct model *m, uint64_t window, uint64_t ns)
{
    const struct wire_criterion_row rows[] = {
        {.size_class = 64, .messages = 9, .window_ns = 77, .window_messages = 500},
        {.locality = 1, .size_class = 200, .messages = 9, .window_ns = ns, .window_messages = 8},
        {.locality = 1, .size_class = 300, .messages = 9}, /* none in this window */
    };
    struct wire_message message = {.type = WIRE_TYPE_LATENCIES};
    message.latencies = (struct wire_latencies){.job = "1",
                                                .window = window,
                                                .start_ns = window * S,
                                                .length_ns = S,
                                                .criteria = rows,
                                                .criteria_count = 3};
    assert_int_equal(model_apply(m, &message, 0), 0);
}

static struct model *new_model(void)
{
    struct model *m;
    assert_int_equal(model_create(&m, 1 << 20), 0);
    struct wire_message message = {.type = WIRE_TYPE_JOB};
    message.job = (struct wire_job){
        .job = "1", .state = "running", .app = "a", .mpi = "", .world = RANKS, .window_ns = S};
    assert_int_equal(model_apply(m, &message, 0), 0);
    return m;
}

static void bins_hold_the_span_and_stay_while_it_moves(void **state)
{
    (void)state;
    struct course_bins bins = course_bins(1000, 1059);
    assert_int_equal(bins.first, 1000);
    assert_int_equal(bins.per, 1);
    assert_int_equal(bins.count, 60);
    for (uint64_t last = 1500; last < 60000; last += 77) {
        bins = course_bins(1001, last);
        assert_true(bins.count <= COURSE_BINS);
        assert_true(bins.first <= 1001 && bins.first + bins.per * bins.count > last);
        assert_int_equal(bins.first % bins.per, 0);
        assert_int_equal(course_bins(1001 + bins.per, last + bins.per).first,
                         bins.first + bins.per);
    }
    bins = course_before(course_bins(1000, 1059), 970);
    assert_int_equal(bins.first, 970);
    assert_int_equal(bins.count, 30);
    assert_int_equal(course_before(course_bins(1000, 1059), 1000).count, 0);
}

static void messages_are_divided_by_what_crosses_nodes(void **state)
{
    (void)state;
    struct model *m = new_model();
    struct crossing c;
    for (uint64_t w = FIRST; w < FIRST + 10; w++)
        if (w != FIRST + 4)
            report_ranks(m, w, 10);
    course_crossing(m, course_bins(FIRST, FIRST + 9), NULL, &c);
    assert_near(crossing_share(&c, PAIR_MESSAGES), 6.0 / 40, 1e-12);
    assert_near(crossing_share(&c, PAIR_BYTES), 6.0 / 40, 1e-12);
    assert_near(c.sums[COURSE_WITHIN][PAIR_MESSAGES][2], 34, 1e-9);
    assert_near(c.sums[COURSE_BETWEEN][PAIR_BYTES][2], 600, 1e-9);
    assert_near(c.windows[2], 1, 0);
    assert_near(c.windows[4], 0, 0); /* a gap is not a time without messages */
    const uint8_t marks[RANKS] = {0, 0, 1, 0};
    course_crossing(m, course_bins(FIRST, FIRST + 9), marks, &c);
    assert_near(crossing_share(&c, PAIR_MESSAGES), 0.2, 1e-12);
    course_crossing(m, course_bins(FIRST + 50, FIRST + 59), NULL, &c);
    assert_true(isnan(crossing_share(&c, PAIR_MESSAGES)));
    model_destroy(m);
}

/* What is known of several windows together is spread over them. */
static void what_was_before_the_viewer_came_is_spread_over_its_windows(void **state)
{
    (void)state;
    struct model *m = new_model();
    struct wire_rank_row rows[RANKS];
    struct wire_message message = {.type = WIRE_TYPE_HISTORY};
    struct crossing c;
    fill_rows(rows, 10);
    message.history = (struct wire_history){.job = "1",
                                            .first = FIRST,
                                            .last = FIRST + 3,
                                            .length_ns = S,
                                            .ranks = rows,
                                            .ranks_count = RANKS};
    assert_int_equal(model_apply(m, &message, 1), 0);
    course_crossing(m, course_bins(FIRST + 2, FIRST + 7), NULL, &c);
    assert_near(c.sums[COURSE_WITHIN][PAIR_MESSAGES][0], 8.5, 1e-9);
    assert_near(c.sums[COURSE_WITHIN][PAIR_MESSAGES][1], 8.5, 1e-9);
    assert_near(c.windows[2], 0, 0);
    assert_near(c.total[COURSE_WITHIN][PAIR_MESSAGES], 17, 1e-9);
    model_destroy(m);
}

/* PCLVis, Eq. 7 and 8, by hand: mc = 20, 20, 20, 60 has mean 30 and deviation 15. */
static void load_balance_is_that_of_the_paper(void **state)
{
    (void)state;
    struct model *m = new_model();
    struct balance b, before;
    for (uint64_t w = FIRST; w < FIRST + 20; w++)
        report_ranks(m, w, w < FIRST + 10 ? 10 : 50);
    struct course_bins bins = course_bins(FIRST + 10, FIRST + 19);
    assert_int_equal(course_balance(m, bins, NULL, NULL, &b), 0);
    assert_int_equal(b.communicating, RANKS);
    assert_int_equal(b.count, RANKS);
    assert_int_equal(b.standing_out, 1);
    assert_int_equal(b.ranks[0].rank, 3);
    assert_true(b.ranks[0].stands_out);
    assert_near(b.ranks[0].lb[5], 2, 1e-12);
    assert_near(b.ranks[0].mean, 2, 1e-12);
    assert_near(b.ranks[0].load, 2, 1e-12);
    assert_near(b.ranks[1].lb[5], 10.0 / 15, 1e-12);
    assert_near(b.spread, 0.5, 1e-12);
    /* before, all were alike; the same ranks are kept in the same order */
    assert_int_equal(course_balance(m, course_before(bins, FIRST), NULL, &b, &before), 0);
    assert_int_equal(before.count, RANKS);
    assert_int_equal(before.ranks[0].rank, 3);
    assert_near(before.ranks[0].lb[5], 0, 0);
    assert_int_equal(before.standing_out, 0);
    /* of a selection only its ranks are kept, against the mean of all */
    const uint8_t marks[RANKS] = {1, 0, 0, 0};
    assert_int_equal(course_balance(m, bins, marks, NULL, &b), 0);
    assert_int_equal(b.count, 1);
    assert_int_equal(b.standing_out, 0);
    assert_near(b.ranks[0].lb[0], 10.0 / 15, 1e-12);
    assert_true(isnan(b.others[0]));
    model_destroy(m);
}

static void the_largest_balance_of_the_others_is_that_of_ranks_not_kept(void **state)
{
    (void)state;
    struct model *m = new_model();
    struct balance b;
    for (uint64_t w = FIRST; w < FIRST + 10; w++)
        report_ranks(m, w, 50);
    struct course_bins bins = course_bins(FIRST, FIRST + 9);
    const struct balance first = {.count = 1, .ranks = {{.rank = 0}}},
                         last = {.count = 1, .ranks = {{.rank = 3}}};
    const uint8_t marks[RANKS] = {1, 0, 0, 1};
    assert_int_equal(course_balance(m, bins, NULL, &first, &b), 0);
    assert_near(b.ranks[0].lb[0], 10.0 / 15, 1e-12);
    assert_near(b.others[0], 2, 1e-12);
    assert_int_equal(course_balance(m, bins, marks, &last, &b), 0);
    assert_near(b.ranks[0].lb[0], 2, 1e-12);
    assert_near(b.others[0], 10.0 / 15, 1e-12);
    model_destroy(m);
}

static void transfer_times_are_those_between_nodes_by_size(void **state)
{
    (void)state;
    struct model *m = new_model();
    struct size_courses c;
    for (uint64_t w = FIRST; w < FIRST + 10; w++) {
        report_ranks(m, w, 10);
        report_times(m, w, w % 2 ? 2000 : 4000);
    }
    assert_int_equal(course_sizes(m, course_bins(FIRST, FIRST + 9), NULL, &c), 0);
    assert_int_equal(c.count, 1);
    assert_int_equal(c.more, 0);
    assert_int_equal(c.sizes[0].size_class, 200);
    assert_near(c.sizes[0].messages, 80, 1e-9);
    assert_near(c.sizes[0].ns[0], 4000, 8);
    assert_near(c.sizes[0].ns[1], 2000, 4);
    assert_near(c.sizes[0].mean_ns, 3000, 6);
    assert_near(c.sizes[0].variation, 1.0 / 3, 0.01);
    assert_int_equal(course_sizes(m, course_bins(FIRST + 90, FIRST + 99), NULL, &c), 0);
    assert_int_equal(c.count, 0);
    model_destroy(m);
}

/* Rows of a daemon that is none: sizes that do not exist, or out of order. */
static void impossible_sizes_are_counted_and_left_out(void **state)
{
    (void)state;
    struct model *m = new_model();
    const struct wire_criterion_row rows[] = {
        {.locality = 1, .size_class = 300, .window_ns = 5, .window_messages = UINT64_MAX},
        {.locality = 1, .size_class = 200, .window_ns = UINT64_MAX, .window_messages = 8},
        {.locality = 7, .size_class = 1, .window_ns = 5, .window_messages = 8},
        {.locality = 1, .size_class = UINT64_MAX, .window_ns = 5, .window_messages = 8},
    };
    struct wire_message message = {.type = WIRE_TYPE_LATENCIES};
    message.latencies = (struct wire_latencies){
        .job = "1", .window = FIRST, .length_ns = S, .criteria = rows, .criteria_count = 4};
    struct size_courses c;
    assert_int_equal(model_apply(m, &message, 0), 0);
    assert_int_equal(m->latency.ignored, 3);
    assert_int_equal(course_sizes(m, course_bins(FIRST, FIRST), NULL, &c), 0);
    assert_int_equal(c.count, 1);
    assert_near(c.sizes[0].ns[0], 5, 0.02);
    model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_hold_the_span_and_stay_while_it_moves),
        cmocka_unit_test(messages_are_divided_by_what_crosses_nodes),
        cmocka_unit_test(what_was_before_the_viewer_came_is_spread_over_its_windows),
        cmocka_unit_test(load_balance_is_that_of_the_paper),
        cmocka_unit_test(the_largest_balance_of_the_others_is_that_of_ranks_not_kept),
        cmocka_unit_test(transfer_times_are_those_between_nodes_by_size),
        cmocka_unit_test(impossible_sizes_are_counted_and_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

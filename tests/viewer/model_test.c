#include "tests/viewer/synthetic.h"

#include "viewer/model/model.h"
#include "viewer/model/range.h"

#include "holter/call.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void into(void *user, const struct wire_message *message, int snapshot)
{
    assert_int_equal(model_apply(user, message, snapshot), 0);
}

struct fixture {
    struct model *model;
    struct synthetic job;
};

static struct fixture job_of(uint32_t ranks, int windows)
{
    struct fixture f;
    assert_int_equal(model_create(&f.model, 8 << 20), 0);
    synthetic_init(&f.job, ranks, 4, 6, 1);
    synthetic_begin(&f.job, into, f.model);
    for (int i = 0; i < windows; i++)
        synthetic_window(&f.job, into, f.model);
    return f;
}

static void drop(struct fixture *f)
{
    synthetic_finish(&f->job);
    model_destroy(f->model);
}

static uint64_t all_messages(const struct synthetic *job, uint64_t first, uint64_t last)
{
    uint64_t sum = 0;
    for (uint64_t w = first; w <= last; w++)
        sum += synthetic_messages(job, w);
    return sum;
}

static void sums_since_the_start_equal_the_windows(void **state)
{
    (void)state;
    struct fixture f = job_of(27, 45);
    uint64_t each = all_messages(&f.job, SYNTHETIC_FIRST, SYNTHETIC_FIRST + 44), sent = 0;
    uint32_t n = model_pair_find(f.model, 0, 1);
    assert_int_not_equal(n, KEY_NONE);
    assert_int_equal(f.model->pairs.sums[n * PAIR_COLUMNS + PAIR_MESSAGES], each);
    assert_int_equal(f.model->pairs.sums[n * PAIR_COLUMNS + PAIR_BYTES], each * 65536);
    for (uint64_t i = 0; i < f.model->series.count; i++)
        sent += f.model->series.windows[i].sent;
    uint64_t by_rank = 0;
    for (uint32_t r = 0; r < 27; r++)
        by_rank += f.model->rank_sums[r * RANK_COLUMNS + RANK_SENT];
    assert_int_equal(sent, by_rank);
    assert_int_equal(sent, each * f.job.pair_count);
    drop(&f);
}

static void a_span_has_the_sums_of_its_windows_only(void **state)
{
    (void)state;
    struct fixture f = job_of(27, 40);
    struct range r = {0};
    uint64_t first = SYNTHETIC_FIRST + 30, last = SYNTHETIC_FIRST + 35;
    assert_int_equal(range_update(&r, f.model, RANGE_SPAN, first, last), 1);
    assert_int_equal(r.kind, RANGE_SPAN);
    uint32_t n = model_pair_find(f.model, 0, 1);
    assert_int_equal(r.pairs.figures[n * PAIR_COLUMNS + PAIR_MESSAGES],
                     all_messages(&f.job, first, last));
    assert_int_equal(r.ranks.figures[RANK_TIME_NS], 6 * SYNTHETIC_SECOND);
    assert_int_equal(range_update(&r, f.model, RANGE_SPAN, first, last), 0);
    synthetic_window(&f.job, into, f.model);
    assert_int_equal(range_update(&r, f.model, RANGE_SPAN, first, last), 1);
    range_finish(&r);
    drop(&f);
}

static void a_span_has_the_calls_of_each_rank_in_its_windows_only(void **state)
{
    (void)state;
    struct fixture f = job_of(27, 40);
    struct range r = {0};
    uint64_t first = SYNTHETIC_FIRST + 30, last = SYNTHETIC_FIRST + 35;
    range_update(&r, f.model, RANGE_SPAN, first, last);
    assert_int_equal(r.callers_kind, RANGE_SPAN);
    assert_int_equal(r.callers.count, 4 * 27);
    uint64_t time_ns[27] = {0};
    for (uint32_t i = 0; i < r.callers.count; i++) {
        struct model_caller c = model_caller_at(f.model, i);
        const uint64_t *figures = r.callers.figures + (size_t)i * CALLER_COLUMNS;
        assert_in_range(c.rank, 0, 26);
        time_ns[c.rank] += figures[CALLER_TIME_NS];
        if (c.call != call_by_name("MPI_Isend"))
            continue;
        assert_string_equal(f.model->regions[c.region].name, "halo exchange");
        assert_int_equal(figures[CALLER_COUNT], 6 * all_messages(&f.job, first, last));
        assert_int_equal(figures[CALLER_BYTES],
                         r.ranks.figures[c.rank * RANK_COLUMNS + RANK_SENT_BYTES]);
    }
    for (uint32_t rank = 0; rank < 27; rank++) {
        const uint64_t *class_ns = r.ranks.figures + rank * RANK_COLUMNS;
        assert_int_equal(time_ns[rank], class_ns[CALL_SEND] + class_ns[CALL_RECV] +
                                            class_ns[CALL_WAIT] + class_ns[CALL_COLLECTIVE]);
    }
    range_update(&r, f.model, RANGE_START, 0, 0);
    assert_memory_equal(r.callers.figures, f.model->callers.sums,
                        r.callers.count * CALLER_COLUMNS * sizeof *r.callers.figures);
    range_finish(&r);
    drop(&f);
}

static void all_but_pairs(void *user, const struct wire_message *message, int snapshot)
{
    if (message->type != WIRE_TYPE_PAIR_WINDOW)
        into(user, message, snapshot);
}

static void a_span_has_its_calls_where_ranks_exchange_nothing_but_collectives(void **state)
{
    (void)state;
    struct model *m;
    struct synthetic job;
    struct range r = {0};
    uint64_t calls = 0;
    assert_int_equal(model_create(&m, 16 << 20), 0);
    synthetic_init(&job, 27, 27, 6, 1);
    synthetic_begin(&job, into, m);
    for (int i = 0; i < 40; i++)
        synthetic_window(&job, all_but_pairs, m);
    range_update(&r, m, RANGE_SPAN, SYNTHETIC_FIRST + 30, SYNTHETIC_FIRST + 35);
    assert_int_equal(r.calls_kind, RANGE_SPAN);
    assert_int_equal(r.calls_covered, 6);
    for (uint32_t i = 0; i < r.calls.count; i++)
        if (model_call_at(m, i).call == call_by_name("MPI_Allreduce"))
            calls += r.calls.figures[i * CALLS_COLUMNS + CALLS_COUNT];
    assert_int_equal(calls, 6 * 12 * 27);
    range_finish(&r);
    synthetic_finish(&job);
    model_destroy(m);
}

static void a_state_replaces_the_calls_of_ranks(void **state)
{
    (void)state;
    struct fixture f = job_of(27, 5);
    const struct wire_call_row row = {.rank = 3, .call = 1, .calls = 7, .time_ns = 70};
    const struct wire_call_row beyond = {.rank = MODEL_RANKS, .call = 1, .calls = 7};
    struct wire_message m = {.type = WIRE_TYPE_CALLER_WINDOW};
    m.caller_window = (struct wire_caller_window){
        .job = "48213.0", .window = SYNTHETIC_FIRST + 4, .calls = &row, .calls_count = 1};
    m.caller_window.left_out = 2;
    assert_int_equal(model_apply(f.model, &m, 1), 0);
    uint64_t calls = 0;
    for (uint32_t i = 0; i < f.model->callers.keys.count; i++)
        calls += f.model->callers.sums[i * CALLER_COLUMNS + CALLER_COUNT];
    assert_int_equal(calls, 7);
    assert_int_equal(f.model->callers_left_out, 2);
    uint64_t ignored = f.model->ignored;
    m.caller_window.calls = &beyond;
    assert_int_equal(model_apply(f.model, &m, 0), 0);
    assert_int_equal(f.model->ignored, ignored + 1);
    drop(&f);
}

static void ranks_are_ordered_by_their_share_of_waiting(void **state)
{
    (void)state;
    struct fixture f = job_of(64, 10);
    struct range r = {0};
    range_update(&r, f.model, RANGE_START, 0, 0);
    assert_int_equal(r.by_waiting_count, 64);
    for (uint32_t i = 1; i < 64; i++)
        assert_true(range_waiting(&r, r.by_waiting[i - 1]) >= range_waiting(&r, r.by_waiting[i]));
    /* every rank 5 of 8 is the slow one: it waits least */
    for (uint32_t i = 56; i < 64; i++)
        assert_int_equal(r.by_waiting[i] % 8, 5);
    range_finish(&r);
    drop(&f);
}

/* A window in which rank 1 waits for a receiver, and rank 2 for rank 3. */
static void apply_waits(struct model *m, uint64_t window, uint64_t send_wait_ns, uint64_t awaited)
{
    struct wire_rank_row rows[] = {{.rank = 1,
                                    .send_ns = 900,
                                    .send_wait_ns = send_wait_ns,
                                    .awaited = awaited,
                                    .awaited_ns = send_wait_ns},
                                   {.rank = 2, .recv_ns = 500, .awaited = 1 + 3, .awaited_ns = 40}};
    struct wire_message message = {
        .type = WIRE_TYPE_RANK_WINDOW,
        .rank_window = {
            .job = m->job, .window = window, .length_ns = 1000, .ranks = rows, .ranks_count = 2}};
    assert_int_equal(model_apply(m, &message, 0), 0);
}

static void a_rank_that_waits_in_sends_waits_for_the_rank_it_waited_for_longest(void **state)
{
    (void)state;
    struct fixture f = job_of(8, 0);
    struct range r = {0};
    apply_waits(f.model, SYNTHETIC_FIRST, 300, 1 + 5);
    apply_waits(f.model, SYNTHETIC_FIRST + 1, 300, 1 + 6);
    apply_waits(f.model, SYNTHETIC_FIRST + 2, 300, 1 + 6);
    range_update(&r, f.model, RANGE_START, 0, 0);
    assert_true(fabs(range_waiting(&r, 1) - 0.3) < 1e-9);
    assert_int_equal(range_awaited(&r, 1), 6);
    /* 40 of 500 ns: it does not wait mostly for anybody */
    assert_int_equal(range_awaited(&r, 2), UINT32_MAX);
    assert_int_equal(range_awaited(&r, 0), UINT32_MAX);
    range_update(&r, f.model, RANGE_SPAN, SYNTHETIC_FIRST, SYNTHETIC_FIRST);
    assert_int_equal(range_awaited(&r, 1), 5);
    /* not longer than it was in sends */
    apply_waits(f.model, SYNTHETIC_FIRST + 3, 5000, 1 + 6);
    range_update(&r, f.model, RANGE_SPAN, SYNTHETIC_FIRST + 3, SYNTHETIC_FIRST + 3);
    assert_true(fabs(range_waiting(&r, 1) - 0.9) < 1e-9);
    range_finish(&r);
    drop(&f);
}

static void the_waiting_of_a_group_is_that_of_its_mean_rank(void **state)
{
    (void)state;
    struct fixture f = job_of(8, 0);
    struct range r = {0};
    struct wire_rank_row row = {.rank = 4, .recv_ns = 2000, .ranks = 4};
    struct wire_message message = {.type = WIRE_TYPE_RANK_WINDOW,
                                   .rank_window = {.job = f.model->job,
                                                   .window = SYNTHETIC_FIRST,
                                                   .length_ns = 1000,
                                                   .ranks = &row,
                                                   .ranks_count = 1}};
    assert_int_equal(model_apply(f.model, &message, 0), 0);
    range_update(&r, f.model, RANGE_START, 0, 0);
    assert_true(fabs(range_waiting(&r, 4) - 0.5) < 1e-9);
    range_finish(&r);
    drop(&f);
}

/* The last group of ten ranks has two. */
static void the_history_of_the_last_group_is_of_its_own_ranks(void **state)
{
    (void)state;
    struct fixture f = job_of(8, 0);
    uint64_t sums[16 * RANK_COLUMNS];
    const struct wire_rank_row rows[] = {{.rank = 4, .recv_ns = 9}, {.rank = 8, .recv_ns = 9}};
    struct wire_message message = {.type = WIRE_TYPE_JOB,
                                   .job = {.job = f.model->job, .world = 10, .group = 4}};
    assert_int_equal(model_apply(f.model, &message, 1), 0);
    message = (struct wire_message){.type = WIRE_TYPE_HISTORY,
                                    .history = {.job = f.model->job,
                                                .first = SYNTHETIC_FIRST,
                                                .last = SYNTHETIC_FIRST + 1,
                                                .length_ns = 1000,
                                                .ranks = rows,
                                                .ranks_count = 2}};
    assert_int_equal(model_apply(f.model, &message, 1), 0);
    history_sum(&f.model->rank_history, 0, UINT64_MAX, sums, 16);
    assert_int_equal(sums[4 * RANK_COLUMNS + RANK_TIME_NS], 4 * 2 * 1000);
    assert_int_equal(sums[8 * RANK_COLUMNS + RANK_TIME_NS], 2 * 2 * 1000);
    drop(&f);
}

static void pairs_are_ordered_and_counted(void **state)
{
    (void)state;
    struct fixture f = job_of(512, 3);
    struct range r = {0};
    range_update(&r, f.model, RANGE_START, 0, 0);
    assert_int_equal(r.pairs_used, 512 * 6);
    assert_int_equal(r.top_count[PAIR_BYTES], RANGE_TOP_PAIRS);
    for (uint32_t i = 1; i < r.top_count[PAIR_BYTES]; i++)
        assert_true(r.pairs.figures[r.top[PAIR_BYTES][i - 1] * PAIR_COLUMNS + PAIR_BYTES] >=
                    r.pairs.figures[r.top[PAIR_BYTES][i] * PAIR_COLUMNS + PAIR_BYTES]);
    range_finish(&r);
    drop(&f);
}

static void missing_windows_are_gaps(void **state)
{
    (void)state;
    struct fixture f = job_of(8, 10);
    synthetic_skip(&f.job, 4);
    synthetic_window(&f.job, into, f.model);
    assert_int_equal(f.model->series.count, 15);
    assert_int_equal(f.model->series.missing, 4);
    assert_null(series_at(&f.model->series, SYNTHETIC_FIRST + 11));
    assert_non_null(series_at(&f.model->series, SYNTHETIC_FIRST + 14));
    drop(&f);
}

static void a_late_correction_replaces_totals_and_adds_details(void **state)
{
    (void)state;
    struct fixture f = job_of(27, 5);
    uint64_t window = SYNTHETIC_FIRST + 2, messages = synthetic_messages(&f.job, window);
    struct wire_message m = {.type = WIRE_TYPE_TOTALS};
    m.totals = (struct wire_totals){.job = "48213.0",
                                    .window = window,
                                    .start_ns = window * SYNTHETIC_SECOND,
                                    .length_ns = SYNTHETIC_SECOND,
                                    .sent = 777,
                                    .ranks = 8,
                                    .late = 1};
    into(f.model, &m, 0);
    assert_int_equal(series_at(&f.model->series, window)->sent, 777);
    const struct wire_pair_row row = {.source = 0, .destination = 1, .messages = 5, .bytes = 50};
    m = (struct wire_message){.type = WIRE_TYPE_PAIR_WINDOW};
    m.pair_window = (struct wire_pair_window){
        .job = "48213.0", .window = window, .windows = 1, .pairs = &row, .pairs_count = 1};
    into(f.model, &m, 0);
    struct range r = {0};
    range_update(&r, f.model, RANGE_SPAN, window, window);
    assert_int_equal(r.pairs.figures[model_pair_find(f.model, 0, 1) * PAIR_COLUMNS], messages + 5);
    range_finish(&r);
    drop(&f);
}

static void what_was_matched_is_as_of_the_newest_totals(void **state)
{
    (void)state;
    struct fixture f = job_of(8, 3);
    struct wire_message m = {.type = WIRE_TYPE_TOTALS};
    m.totals = (struct wire_totals){.job = "48213.0",
                                    .window = SYNTHETIC_FIRST + 3,
                                    .length_ns = SYNTHETIC_SECOND,
                                    .matched = 4385,
                                    .unmatched = 363631};
    into(f.model, &m, 0);
    assert_int_equal(f.model->matched, 4385);
    assert_int_equal(f.model->unmatched, 363631);
    drop(&f);
}

static void a_window_older_than_all_others_is_taken_in(void **state)
{
    (void)state;
    struct fixture f = job_of(8, 3);
    struct wire_message m = {.type = WIRE_TYPE_TOTALS};
    m.totals = (struct wire_totals){
        .job = "48213.0", .window = SYNTHETIC_FIRST - 5, .length_ns = SYNTHETIC_SECOND, .sent = 9};
    into(f.model, &m, 1);
    assert_int_equal(f.model->series.first, SYNTHETIC_FIRST - 5);
    assert_int_equal(f.model->series.missing, 4);
    assert_int_equal(series_at(&f.model->series, SYNTHETIC_FIRST - 5)->sent, 9);
    drop(&f);
}

static void snapshot_pairs(struct model *m, uint64_t messages, uint64_t destination, uint64_t more)
{
    const struct wire_pair_row row = {
        .source = 0, .destination = (int64_t)destination, .messages = messages, .bytes = messages};
    struct wire_message message = {.type = WIRE_TYPE_PAIR_WINDOW};
    message.pair_window = (struct wire_pair_window){.job = "48213.0",
                                                    .window = SYNTHETIC_FIRST,
                                                    .windows = 50,
                                                    .pairs = &row,
                                                    .pairs_count = 1,
                                                    .more = more};
    into(m, &message, 1);
}

static void a_snapshot_in_parts_replaces_the_sums(void **state)
{
    (void)state;
    struct fixture f = job_of(27, 5);
    for (int again = 0; again < 2; again++) { /* the second time as after a reconnect */
        snapshot_pairs(f.model, 1000, 1, 1);
        snapshot_pairs(f.model, 2000, 2, 0);
        assert_int_equal(f.model->pairs.sums[model_pair_find(f.model, 0, 1) * PAIR_COLUMNS], 1000);
        assert_int_equal(f.model->pairs.sums[model_pair_find(f.model, 0, 2) * PAIR_COLUMNS], 2000);
    }
    uint64_t messages = synthetic_messages(&f.job, f.job.window);
    synthetic_window(&f.job, into, f.model);
    assert_int_equal(f.model->pairs.sums[model_pair_find(f.model, 0, 1) * PAIR_COLUMNS],
                     1000 + messages);
    drop(&f);
}

/* The connection was lost in the middle of a state; the one that is taken instead begins anew. */
static void a_snapshot_that_was_cut_off_does_not_count(void **state)
{
    (void)state;
    struct fixture f = job_of(27, 5);
    struct wire_message job = {.type = WIRE_TYPE_JOB};
    job.job = (struct wire_job){
        .job = "48213.0", .state = "running", .app = "a", .mpi = "m", .world = 27};
    snapshot_pairs(f.model, 1000, 1, 1);
    into(f.model, &job, 1);
    snapshot_pairs(f.model, 1000, 1, 1);
    snapshot_pairs(f.model, 2000, 2, 0);
    assert_int_equal(f.model->pairs.sums[model_pair_find(f.model, 0, 1) * PAIR_COLUMNS], 1000);
    drop(&f);
}

static void without_details_of_a_span_the_sums_since_the_start_stand_in(void **state)
{
    (void)state;
    struct model *m;
    struct range r = {0};
    assert_int_equal(model_create(&m, 1 << 20), 0);
    snapshot_pairs(m, 1000, 1, 0);
    range_update(&r, m, RANGE_SPAN, SYNTHETIC_FIRST, SYNTHETIC_FIRST + 10);
    assert_int_equal(r.kind, RANGE_START);
    assert_true(r.fallback);
    assert_int_equal(r.total[PAIR_MESSAGES], 1000);
    range_finish(&r);
    model_destroy(m);
}

static void another_job_starts_from_nothing(void **state)
{
    (void)state;
    struct fixture f = job_of(8, 5);
    const struct wire_rank_row row = {.untracked = 3};
    struct wire_message m = {.type = WIRE_TYPE_TOTALS};
    m.totals = (struct wire_totals){.job = f.model->job,
                                    .window = f.job.window,
                                    .length_ns = SYNTHETIC_SECOND,
                                    .matched = 20,
                                    .unmatched = 10};
    into(f.model, &m, 0);
    m = (struct wire_message){.type = WIRE_TYPE_RANK_WINDOW};
    m.rank_window = (struct wire_rank_window){
        .job = f.model->job, .window = f.job.window, .ranks = &row, .ranks_count = 1};
    into(f.model, &m, 0);
    m = (struct wire_message){.type = WIRE_TYPE_CALLER_WINDOW};
    m.caller_window =
        (struct wire_caller_window){.job = f.model->job, .window = f.job.window, .left_out = 7};
    into(f.model, &m, 0);
    assert_true(f.model->matched && f.model->untracked && f.model->callers_left_out);
    m = (struct wire_message){.type = WIRE_TYPE_JOB};
    m.job = (struct wire_job){.job = "other", .state = "running", .world = 2};
    into(f.model, &m, 1);
    assert_int_equal(f.model->matched + f.model->unmatched, 0);
    assert_int_equal(f.model->untracked, 0);
    assert_int_equal(f.model->callers_left_out, 0);
    assert_string_equal(f.model->job, "other");
    assert_int_equal(f.model->series.count, 0);
    assert_int_equal(f.model->rank_count, 0);
    assert_int_equal(f.model->pairs.keys.count, 0);
    assert_int_equal(f.model->job_count, 1); /* the list is the daemon's, not the job's */
    drop(&f);
}

static void rows_outside_all_bounds_are_counted_and_left(void **state)
{
    (void)state;
    struct fixture f = job_of(8, 2);
    const struct wire_pair_row pairs[] = {{.source = UINT64_MAX, .destination = 1, .messages = 1},
                                          {.source = 1, .destination = INT64_MAX, .messages = 1},
                                          {.source = 1, .destination = -7, .messages = 1}};
    struct wire_message m = {.type = WIRE_TYPE_PAIR_WINDOW};
    m.pair_window = (struct wire_pair_window){
        .job = "48213.0", .window = UINT64_MAX, .windows = 1, .pairs = pairs, .pairs_count = 3};
    into(f.model, &m, 0);
    const struct wire_rank_row ranks[] = {{.rank = UINT64_MAX}, {.rank = MODEL_RANKS}};
    m = (struct wire_message){.type = WIRE_TYPE_RANK_WINDOW};
    m.rank_window =
        (struct wire_rank_window){.job = "48213.0", .window = 0, .ranks = ranks, .ranks_count = 2};
    into(f.model, &m, 0);
    const struct wire_place_row place = {.rank = 1, .node = 99};
    m = (struct wire_message){.type = WIRE_TYPE_PLACES};
    m.places = (struct wire_places){.job = "48213.0", .places = &place, .places_count = 1};
    into(f.model, &m, 0);
    assert_int_equal(f.model->ignored, 6);
    m = (struct wire_message){.type = WIRE_TYPE_TOTALS};
    m.totals = (struct wire_totals){.job = "48213.0", .window = 0, .length_ns = 1};
    into(f.model, &m, 0);
    assert_int_equal(f.model->ignored, 7);
    const uint64_t newest = series_newest(&f.model->series)->start_ns;
    const uint64_t lengths[] = {0, UINT64_MAX, INT64_MAX};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        m.totals = (struct wire_totals){
            .job = "48213.0", .window = SYNTHETIC_FIRST + 2, .length_ns = lengths[i]};
        into(f.model, &m, 0);
        assert_int_equal(f.model->ignored, 8 + i);
    }
    assert_int_equal(series_newest(&f.model->series)->start_ns, newest);
    drop(&f);
}

static void many_items_of_few_figures_follow_few_items_of_many(void **state)
{
    (void)state;
    struct fixture f = job_of(8, 1); /* 8 ranks with all their columns come before the pairs */
    enum { PAIRS = 5000 };
    struct wire_pair_row *rows = calloc(PAIRS, sizeof *rows);
    for (uint32_t i = 0; i < PAIRS; i++)
        rows[i] = (struct wire_pair_row){
            .source = i % 8, .destination = 100 + i, .messages = i + 1, .bytes = 1};
    struct wire_message m = {.type = WIRE_TYPE_PAIR_WINDOW};
    m.pair_window = (struct wire_pair_window){.job = "48213.0",
                                              .window = f.job.window,
                                              .windows = 1,
                                              .pairs = rows,
                                              .pairs_count = PAIRS};
    into(f.model, &m, 0);
    synthetic_window(&f.job, into, f.model);
    struct range r = {0};
    range_update(&r, f.model, RANGE_SPAN, f.job.window - 1, f.job.window - 1);
    assert_int_equal(r.pairs.figures[model_pair_find(f.model, 7, 100 + 4999) * PAIR_COLUMNS], 5000);
    range_finish(&r);
    free(rows);
    drop(&f);
}

static void a_death_marks_its_rank(void **state)
{
    (void)state;
    struct fixture f = job_of(8, 2);
    synthetic_death(&f.job, 3, into, f.model);
    synthetic_death(&f.job, 3, into, f.model);
    assert_int_equal(f.model->alerts.count, 1);
    assert_int_equal(alerts_count(&f.model->alerts, ALERT_FIRING), 1);
    assert_true(f.model->ranks[3].dead);
    assert_false(f.model->ranks[2].dead);
    drop(&f);
}

static void apply_alert(struct model *m, uint64_t id, const char *alert_state, int snapshot)
{
    struct wire_message message = {.type = WIRE_TYPE_ALERT};
    message.alert = (struct wire_alert){.job = m->job,
                                        .id = id,
                                        .kind = "latency-growth",
                                        .state = alert_state,
                                        .title = "node1: messages take longer",
                                        .rank = -1};
    into(m, &message, snapshot);
}

/* That one of them came to nothing was lost on the way, or by a daemon that was started again. */
static void a_state_has_all_alerts_that_there_are(void **state)
{
    (void)state;
    struct fixture f = job_of(8, 3);
    struct wire_message message = {.type = WIRE_TYPE_JOB};
    apply_alert(f.model, 1, "firing", 0);
    apply_alert(f.model, 2, "pending", 0);
    message.job = (struct wire_job){.job = f.model->job, .state = "running", .world = 8};
    into(f.model, &message, 0);
    assert_int_equal(f.model->alerts.count, 2);
    into(f.model, &message, 1);
    apply_alert(f.model, 1, "firing", 1);
    assert_int_equal(f.model->alerts.count, 1);
    assert_int_equal(f.model->alerts.items[0].id, 1);
    drop(&f);
}

static void calls_are_kept_by_function_communicator_and_region(void **state)
{
    (void)state;
    struct fixture f = job_of(8, 3);
    uint32_t found = 0;
    for (uint32_t i = 0; i < f.model->calls.keys.count; i++) {
        struct model_call c = model_call_at(f.model, i);
        if (c.call != call_by_name("MPI_Waitall"))
            continue;
        found++;
        assert_string_equal(f.model->comms[c.comm].name, "MPI_Cart_create");
        assert_string_equal(f.model->regions[c.region].name, "halo exchange");
        assert_int_equal(f.model->calls.sums[i * CALLS_COLUMNS + CALLS_COUNT],
                         8 * all_messages(&f.job, SYNTHETIC_FIRST, SYNTHETIC_FIRST + 2));
        assert_int_equal(f.model->calls.sums[i * CALLS_COLUMNS + CALLS_LONGEST_NS], 21000000);
    }
    assert_int_equal(found, 1);
    drop(&f);
}

/* MPI_Comm_set_name is local: in some windows only ranks without that name are in calls. */
static void a_communicator_keeps_its_name_and_size_in_windows_that_lack_them(void **state)
{
    (void)state;
    struct fixture f = job_of(8, 1);
    const struct wire_comm_row rows[] = {{.id = 99, .size = 0, .name = ""},
                                         {.id = 99, .size = 6, .name = "solver"},
                                         {.id = 99, .size = 6, .name = "MPI_Comm_split"}};
    const struct wire_call_row call = {.rank = 1, .call = 1, .calls = 1};
    for (uint64_t i = 0; i < 3; i++) {
        struct wire_message m = {.type = WIRE_TYPE_CALL_WINDOW};
        m.call_window = (struct wire_call_window){.job = f.model->job,
                                                  .window = SYNTHETIC_FIRST + 1 + i,
                                                  .windows = 1,
                                                  .comms = &rows[i],
                                                  .comms_count = 1,
                                                  .calls = &call,
                                                  .calls_count = 1};
        assert_int_equal(model_apply(f.model, &m, 0), 0);
    }
    const struct model_comm *comm = &f.model->comms[f.model->comm_count - 1];
    assert_int_equal(comm->id, 99);
    assert_int_equal(comm->size, 6);
    assert_string_equal(comm->name, "solver");
    drop(&f);
}

static void what_an_agent_counted_before_the_first_window_gives_no_rate(void **state)
{
    (void)state;
    struct fixture f = job_of(8, 3);
    struct wire_node_row row = {.host = "late", .agent_pid = 999, .uplink_bytes = 1000};
    struct wire_message m = {.type = WIRE_TYPE_NODES};
    for (int later = 0; later < 2; later++) {
        m.nodes = (struct wire_nodes){
            .job = "48213.0", .window = later ? f.job.window : 0, .nodes = &row, .nodes_count = 1};
        into(f.model, &m, 0);
        const struct model_node *node = &f.model->nodes[f.model->node_count - 1];
        assert_string_equal(node->name, "late");
        assert_int_equal(node->window, node->window_before);
    }
    drop(&f);
}

static void what_an_agent_counted_before_the_viewer_connected_gives_no_rate(void **state)
{
    (void)state;
    struct fixture f = job_of(8, 3);
    struct wire_node_row row = {.host = "known", .agent_pid = 999, .uplink_bytes = 1000};
    struct wire_message m = {.type = WIRE_TYPE_NODES};
    m.nodes = (struct wire_nodes){
        .job = "48213.0", .window = f.job.window, .nodes = &row, .nodes_count = 1};
    into(f.model, &m, 0);
    const struct model_node *node = &f.model->nodes[f.model->node_count - 1];
    assert_string_equal(node->name, "known");
    assert_int_equal(node->window, node->window_before);
    drop(&f);
}

static void a_restarted_agent_gives_no_rate(void **state)
{
    (void)state;
    struct fixture f = job_of(8, 3);
    assert_true(f.model->nodes[0].window > f.model->nodes[0].window_before);
    struct wire_node_row row = {.host = "node000", .agent_pid = 999, .cpu_ns = 5};
    struct wire_message m = {.type = WIRE_TYPE_NODES};
    m.nodes = (struct wire_nodes){
        .job = "48213.0", .window = f.job.window, .nodes = &row, .nodes_count = 1};
    into(f.model, &m, 0);
    assert_int_equal(f.model->nodes[0].window, f.model->nodes[0].window_before);
    assert_int_equal(f.model->node_count, 2);
    drop(&f);
}

/* A state repeats the newest window, and the agent has reported since that was published. */
static void an_agent_that_restarted_since_the_newest_window_gives_no_rate(void **state)
{
    (void)state;
    struct fixture f = job_of(8, 3);
    const struct model_node *node = &f.model->nodes[0];
    double share = -1, uplink = -1;
    assert_int_equal(model_node_rates(f.model, node, &share, &uplink), 1);
    assert_true(share >= 0 && share <= 1);
    struct wire_node_row row = {.host = "node000", .agent_pid = 999, .cpu_ns = 5};
    struct wire_message m = {.type = WIRE_TYPE_NODES};
    m.nodes = (struct wire_nodes){
        .job = "48213.0", .window = node->window, .nodes = &row, .nodes_count = 1};
    into(f.model, &m, 1);
    if (model_node_rates(f.model, node, &share, &uplink))
        assert_true(share >= 0 && share <= 1);
    assert_int_equal(node->window, node->window_before);
    drop(&f);
}

static void apply_lateness(struct model *m, uint64_t window, uint64_t windows, uint64_t rank,
                           uint64_t more)
{
    const struct wire_lateness_row row = {.rank = rank, .late_ns = 100, .caused_ns = 10};
    struct wire_message message = {.type = WIRE_TYPE_LATENESS};
    message.lateness = (struct wire_lateness){.job = "48213.0",
                                              .window = window,
                                              .windows = windows,
                                              .length_ns = SYNTHETIC_SECOND,
                                              .ranks = &row,
                                              .ranks_count = 1,
                                              .more = more};
    into(m, &message, 1);
}

/* As where the connection was lost for a moment. */
static void a_state_that_comes_again_adds_no_lateness(void **state)
{
    (void)state;
    struct fixture f = job_of(8, 3);
    uint64_t sums[8 * LATE_COLUMNS];
    for (int again = 0; again < 3; again++) {
        synthetic_begin(&f.job, into, f.model);
        apply_lateness(f.model, 40, 30, 1, 1);
        apply_lateness(f.model, 40, 30, 2, 0);
        apply_lateness(f.model, 41, 1, 1, 1);
        apply_lateness(f.model, 41, 1, 2, 0);
        history_sum(&f.model->lateness.history, 0, UINT64_MAX, sums, 8);
        assert_int_equal(sums[1 * LATE_COLUMNS + LATE_NS], 200);
        assert_int_equal(sums[2 * LATE_COLUMNS + LATE_NS], 200);
        assert_int_equal(f.model->lateness.history.slots[0].first, 11);
        assert_int_equal(f.model->lateness.history.slots[0].last, 40);
    }
    drop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_since_the_start_equal_the_windows),
        cmocka_unit_test(a_span_has_the_sums_of_its_windows_only),
        cmocka_unit_test(a_span_has_the_calls_of_each_rank_in_its_windows_only),
        cmocka_unit_test(a_span_has_its_calls_where_ranks_exchange_nothing_but_collectives),
        cmocka_unit_test(a_state_replaces_the_calls_of_ranks),
        cmocka_unit_test(ranks_are_ordered_by_their_share_of_waiting),
        cmocka_unit_test(a_rank_that_waits_in_sends_waits_for_the_rank_it_waited_for_longest),
        cmocka_unit_test(the_waiting_of_a_group_is_that_of_its_mean_rank),
        cmocka_unit_test(the_history_of_the_last_group_is_of_its_own_ranks),
        cmocka_unit_test(pairs_are_ordered_and_counted),
        cmocka_unit_test(missing_windows_are_gaps),
        cmocka_unit_test(a_late_correction_replaces_totals_and_adds_details),
        cmocka_unit_test(what_was_matched_is_as_of_the_newest_totals),
        cmocka_unit_test(a_window_older_than_all_others_is_taken_in),
        cmocka_unit_test(a_snapshot_in_parts_replaces_the_sums),
        cmocka_unit_test(a_snapshot_that_was_cut_off_does_not_count),
        cmocka_unit_test(without_details_of_a_span_the_sums_since_the_start_stand_in),
        cmocka_unit_test(another_job_starts_from_nothing),
        cmocka_unit_test(rows_outside_all_bounds_are_counted_and_left),
        cmocka_unit_test(many_items_of_few_figures_follow_few_items_of_many),
        cmocka_unit_test(a_death_marks_its_rank),
        cmocka_unit_test(a_state_has_all_alerts_that_there_are),
        cmocka_unit_test(calls_are_kept_by_function_communicator_and_region),
        cmocka_unit_test(a_communicator_keeps_its_name_and_size_in_windows_that_lack_them),
        cmocka_unit_test(what_an_agent_counted_before_the_first_window_gives_no_rate),
        cmocka_unit_test(what_an_agent_counted_before_the_viewer_connected_gives_no_rate),
        cmocka_unit_test(a_state_that_comes_again_adds_no_lateness),
        cmocka_unit_test(a_restarted_agent_gives_no_rate),
        cmocka_unit_test(an_agent_that_restarted_since_the_newest_window_gives_no_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

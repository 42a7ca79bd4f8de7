/* What the viewer keeps of latency, regions and alerts. */
#include "tests/viewer/synthetic.h"

#include "viewer/model/model.h"
#include "viewer/model/range.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct synthetic_latency growing = {
    .regions = 4, .slow = 3, .onset = 40, .recovery = 75, .rate = 0.1, .most = 2.4};

struct fixture {
    struct model *model;
    struct synthetic job;
};

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not %.17g", value, expected);
}

static void into(void *user, const struct wire_message *message, int snapshot)
{
    assert_int_equal(model_apply(user, message, snapshot), 0);
}

static struct fixture job_of(uint32_t ranks, int windows, const struct synthetic_latency *latency)
{
    struct fixture f;
    assert_int_equal(model_create(&f.model, 16 << 20), 0);
    synthetic_init(&f.job, ranks, 16, 6, 1);
    synthetic_begin(&f.job, into, f.model);
    synthetic_regions(&f.job, latency, into, f.model);
    for (int i = 0; i < windows; i++) {
        synthetic_window(&f.job, into, f.model);
        synthetic_latencies(&f.job, latency, into, f.model);
    }
    return f;
}

static void drop(struct fixture *f)
{
    synthetic_finish(&f->job);
    model_destroy(f->model);
}

static struct wire_message latencies_of(uint64_t window, const struct wire_series_row *rows,
                                        uint64_t count)
{
    struct wire_message m = {.type = WIRE_TYPE_LATENCIES};
    m.latencies = (struct wire_latencies){.job = "48213.0",
                                          .window = window,
                                          .start_ns = window * SYNTHETIC_SECOND,
                                          .length_ns = SYNTHETIC_SECOND,
                                          .series = rows,
                                          .series_count = count};
    return m;
}

static void every_series_has_its_windows(void **state)
{
    (void)state;
    struct fixture f = job_of(64, 60, &growing);
    const struct latency *l = &f.model->latency;
    assert_int_equal(l->series_count, 7);
    const struct latency_series *s = latency_find(l, SERIES_REGION, 3);
    assert_non_null(s);
    assert_int_equal(s->count, 60);
    for (uint32_t i = 0; i < s->count; i++)
        assert_near(s->points[i].reference, synthetic_ratio(&growing, 3, SYNTHETIC_FIRST + i),
                    1e-12);
    assert_null(latency_find(l, SERIES_REGION, 9));
    assert_int_equal(l->criteria_count, 6);
    assert_int_equal(l->error_ns, 6400);
    drop(&f);
}

static void a_trend_reported_late_begins_where_it_began(void **state)
{
    (void)state;
    struct fixture f = job_of(64, 60, &growing);
    const struct latency_series *s = latency_find(&f.model->latency, SERIES_REGION, 3);
    for (uint32_t i = 0; i < s->count; i++) {
        uint64_t at = s->points[i].first - SYNTHETIC_FIRST;
        enum series_trend expected = at < 40 ? TREND_CALM : at < 53 ? TREND_GROWTH : TREND_STEADY;
        assert_int_equal(s->points[i].trend, expected);
    }
    assert_int_equal(s->trend, TREND_STEADY);
    drop(&f);
}

static void a_long_run_keeps_its_sums_in_bounded_memory(void **state)
{
    (void)state;
    struct latency l;
    uint64_t windows = 20000, delayed = 0;
    latency_init(&l, 1 << 16);
    for (uint64_t w = 1; w <= windows; w++) {
        struct wire_series_row row = {.scope = SERIES_JOB,
                                      .messages = 100,
                                      .delayed = w % 60,
                                      .recent = 1,
                                      .reference = w % 2 ? 1 : 2,
                                      .slope = NAN};
        if (w >= 10000 && w < 10040) {
            row.trend = TREND_GROWTH;
            row.trend_since = 10000;
        }
        struct wire_message m = latencies_of(w, &row, 1);
        assert_int_equal(latency_apply(&l, &m.latencies, 0), 0);
        delayed += w % 60;
    }
    const struct latency_series *s = latency_find(&l, SERIES_JOB, 0);
    assert_true(s->count <= LATENCY_POINTS);
    struct latency_point all;
    assert_int_equal(latency_between(s, 0, UINT64_MAX, &all), 1);
    assert_int_equal(all.delayed, delayed);
    assert_int_equal(all.windows, windows);
    assert_near(all.reference, 1.5, 1e-9);
    assert_near(all.typical, sqrt(2), 1e-9); /* geometric */
    assert_near(all.highest, 2, 0);
    uint64_t grown = 0; /* a period keeps its edges while what surrounds it is thinned out */
    for (uint32_t i = 0; i < s->count; i++)
        if (s->points[i].trend == TREND_GROWTH) {
            assert_true(s->points[i].first >= 10000 && s->points[i].last < 10040);
            grown += s->points[i].windows;
        }
    assert_int_equal(grown, 40);
    uint32_t fine = 0; /* the newest stay single */
    while (fine < s->count && s->points[s->count - 1 - fine].windows == 1)
        fine++;
    assert_true(fine >= 500);
    latency_clear(&l);
}

static void a_few_slow_messages_do_not_hide_the_others(void **state)
{
    (void)state;
    struct latency l;
    latency_init(&l, 1 << 16);
    struct wire_series_row row = {
        .scope = SERIES_JOB, .messages = 100, .reference = 20, .typical = 1.1};
    struct wire_rank_latency_row rank = {.rank = 2, .messages = 7, .reference = 30, .typical = 1.2};
    for (uint64_t w = 5; w < 7; w++) {
        struct wire_message m = latencies_of(w, &row, 1);
        m.latencies.ranks = &rank;
        m.latencies.ranks_count = 1;
        assert_int_equal(latency_apply(&l, &m.latencies, 0), 0);
    }
    struct latency_point both;
    assert_int_equal(latency_between(&l.series[0], 5, 6, &both), 1);
    assert_near(both.typical, 1.1, 1e-9);
    assert_near(both.reference, 20, 1e-9);
    uint64_t sums[3 * LATENCY_COLUMNS] = {0};
    history_sum(&l.ranks, 0, UINT64_MAX, sums, 3);
    const uint64_t *f = sums + 2 * LATENCY_COLUMNS;
    assert_near(latency_mean((double)f[LATENCY_MESSAGES], (double)f[LATENCY_LOGS]), 1.2, 0.001);
    assert_true(isnan(latency_mean(0, 0)));
    latency_clear(&l);
}

static void figures_of_several_windows_have_the_mean_of_their_errors(void **state)
{
    (void)state;
    struct latency l;
    latency_init(&l, 1 << 16);
    for (uint64_t w = 5; w < 7; w++) {
        struct wire_series_row row = {.scope = SERIES_INTER,
                                      .messages = 10,
                                      .reference = 2,
                                      .network_ns = 600,
                                      .late_receiver_ns = 200,
                                      .late_sender_ns = 5000,
                                      .joint_ns = 40,
                                      .error_ns = 100 * w};
        struct wire_rank_latency_row ranks[] = {
            {.rank = 1, .messages = w - 4, .reference = 2, .error = 0.25 * (double)(w - 4)},
            {.rank = 2, .messages = 7, .reference = 2}};
        struct wire_message m = latencies_of(w, &row, 1);
        m.latencies.ranks = ranks;
        m.latencies.ranks_count = 2;
        assert_int_equal(latency_apply(&l, &m.latencies, 0), 0);
    }
    struct latency_point both;
    assert_int_equal(latency_between(&l.series[0], 5, 6, &both), 1);
    assert_near(latency_transfer_ns(&both), 84, 1e-9);
    assert_int_equal(both.error_ns, 1100);
    uint64_t sums[3 * LATENCY_COLUMNS] = {0};
    history_sum(&l.ranks, 0, UINT64_MAX, sums, 3);
    const uint64_t *f = sums + LATENCY_COLUMNS;
    assert_near(latency_mean_error((double)f[LATENCY_MESSAGES], (double)f[LATENCY_ERRORS]),
                (0.25 + 2 * 0.5) / 3, 0.001);
    assert_int_equal(f[LATENCY_COLUMNS + LATENCY_ERRORS], 0);
    assert_near(latency_mean_error(0, 0), 0, 0);
    latency_clear(&l);
}

static void the_order_of_arrival_does_not_show(void **state)
{
    (void)state;
    struct latency a, b;
    latency_init(&a, 1 << 16);
    latency_init(&b, 1 << 16);
    for (uint64_t i = 0; i < 50; i++) {
        uint64_t w[2] = {i, i * 7 % 50};
        for (int k = 0; k < 2; k++) {
            struct wire_series_row row = {
                .scope = SERIES_REGION, .id = 4, .messages = w[k], .reference = 1 + (double)w[k]};
            struct wire_message m = latencies_of(100 + w[k], &row, 1);
            assert_int_equal(latency_apply(k ? &b : &a, &m.latencies, 0), 0);
        }
    }
    assert_int_equal(a.series[0].count, 50);
    assert_int_equal(b.series[0].count, 50);
    for (uint32_t i = 0; i < 50; i++)
        assert_near(a.series[0].points[i].reference, b.series[0].points[i].reference, 0);
    latency_clear(&a);
    latency_clear(&b);
}

static void hostile_rows_leave_no_trace(void **state)
{
    (void)state;
    struct latency l;
    latency_init(&l, 1 << 16);
    struct wire_series_row rows[] = {
        {.scope = 99, .messages = 1, .reference = 1},
        {.scope = SERIES_JOB,
         .messages = 5,
         .delayed = 70,
         .recent = -3,
         .reference = INFINITY,
         .trend = TREND_GROWTH,
         .trend_since = UINT64_MAX,
         .slope = INFINITY},
    };
    struct wire_rank_latency_row ranks[] = {
        {UINT64_MAX, 1, 1, 1, 1}, {3, UINT64_MAX, 1e300, NAN, 1e300}, {2, 1, NAN, NAN, NAN}};
    struct wire_message m = latencies_of(7, rows, 2);
    m.latencies.ranks = ranks;
    m.latencies.ranks_count = 3;
    assert_int_equal(latency_apply(&l, &m.latencies, 0), 0);
    assert_int_equal(l.series_count, 1);
    assert_true(isnan(l.series[0].points[0].reference));
    assert_true(isnan(l.series[0].points[0].recent));
    assert_int_equal(l.series[0].points[0].delayed, 5);
    assert_int_equal(l.series[0].trend_since, 7);
    assert_int_equal(l.ignored, 2);
    uint64_t sums[4 * LATENCY_COLUMNS] = {0};
    history_sum(&l.ranks, 0, UINT64_MAX, sums, 4);
    assert_true(sums[3 * LATENCY_COLUMNS] > 0);
    assert_int_equal(sums[2 * LATENCY_COLUMNS], 0);
    latency_clear(&l);
}

static void regions_come_in_parts_and_change(void **state)
{
    (void)state;
    struct latency l;
    latency_init(&l, 1 << 16);
    struct wire_latency_region_row regions[] = {{7, 4, 1}, {9, 2, 1}};
    struct wire_region_member_row members[] = {{0, 7}, {1, 7}, {2, 7}, {6, 9}, {8, 7}, {9, 5}};
    struct wire_regions m = {
        .regions = regions, .regions_count = 2, .members = members, .members_count = 3, .more = 1};
    assert_int_equal(latency_apply_regions(&l, &m), 0);
    m.members = members + 3;
    m.more = 0;
    assert_int_equal(latency_apply_regions(&l, &m), 0);
    assert_int_equal(l.region_count, 2);
    assert_int_equal(latency_region_of(&l, 2), 7);
    assert_int_equal(latency_region_of(&l, 6), 9);
    assert_int_equal(latency_region_of(&l, 3), 0);
    assert_int_equal(latency_region_of(&l, 1u << 30), 0);
    assert_int_equal(l.ignored, 1); /* region 5 was never named */
    char text[32];
    latency_region_ranks(&l, 7, 1, 20, text, sizeof text);
    assert_string_equal(text, "0-2,8");
    latency_region_ranks(&l, 7, 4, 10, text, sizeof text); /* by groups of ranks */
    assert_string_equal(text, "0-5,8-9");
    latency_region_ranks(&l, 7, 1, 20, text, 5);
    assert_string_equal(text, "\xe2\x80\xa6");
    uint64_t version = l.regions_version;
    m.members_count = 1;
    assert_int_equal(latency_apply_regions(&l, &m), 0);
    assert_int_equal(latency_region_of(&l, 2), 0);
    assert_true(l.regions_version > version);
    latency_clear(&l);
}

static void ranks_have_the_mean_of_the_visible_windows(void **state)
{
    (void)state;
    struct fixture f = job_of(64, 60, &growing);
    struct range r = {0};
    range_update(&r, f.model, RANGE_SPAN, SYNTHETIC_FIRST + 55, SYNTHETIC_FIRST + 59);
    double slow = 0, well = 0;
    for (uint32_t i = 0; i < 16; i++) {
        well += range_latency(&r, i) / 16;
        slow += range_latency(&r, 32 + i) / 16;
    }
    assert_true(well > 0.9 && well < 1.2);
    assert_true(slow > 2.1 && slow < 2.8);
    range_update(&r, f.model, RANGE_SPAN, SYNTHETIC_FIRST, SYNTHETIC_FIRST + 30);
    assert_true(range_latency(&r, 40) < 1.3);
    assert_true(isnan(range_latency(&r, 5000)));
    range_finish(&r);
    drop(&f);
}

/* Both have one window, of the same number. */
static void latencies_of_ranks_are_not_those_of_the_job_before(void **state)
{
    const char *const jobs[] = {"48213.0", "48214.0"};
    const double typical[] = {3, 1};
    struct range r = {0};
    struct model *m;
    (void)state;
    assert_int_equal(model_create(&m, 16 << 20), 0);
    for (int i = 0; i < 2; i++) {
        const struct wire_rank_latency_row rank = {
            .rank = 1, .messages = 7, .reference = typical[i], .typical = typical[i]};
        const struct wire_rank_row row = {.rank = 1, .sent = 7};
        struct wire_message message = {.type = WIRE_TYPE_RANK_WINDOW};
        message.rank_window = (struct wire_rank_window){.job = jobs[i],
                                                        .window = 50,
                                                        .windows = 1,
                                                        .length_ns = SYNTHETIC_SECOND,
                                                        .ranks = &row,
                                                        .ranks_count = 1};
        into(m, &message, 0);
        message = latencies_of(50, NULL, 0);
        message.latencies.job = jobs[i];
        message.latencies.ranks = &rank;
        message.latencies.ranks_count = 1;
        into(m, &message, 0);
        assert_int_equal(range_update(&r, m, RANGE_SPAN, 50, 50), 1);
        assert_near(range_latency(&r, 1), typical[i], 0.01);
    }
    range_finish(&r);
    model_destroy(m);
}

static void an_episode_is_one_alert_with_its_evidence(void **state)
{
    (void)state;
    struct fixture f = job_of(64, 50, &growing);
    synthetic_growth(&f.job, &growing, 5, "pending", into, f.model);
    const struct alert *a = alerts_find(&f.model->alerts, 5);
    assert_int_equal(a->state, ALERT_PENDING);
    synthetic_growth(&f.job, &growing, 5, "firing", into, f.model);
    assert_int_equal(f.model->alerts.count, 1);
    a = alerts_find(&f.model->alerts, 5);
    assert_int_equal(a->state, ALERT_FIRING);
    assert_int_equal(a->region, 3);
    assert_int_equal(a->onset_ns, (SYNTHETIC_FIRST + 40) * SYNTHETIC_SECOND);
    assert_int_equal(a->cause_count, 4);
    assert_string_equal(a->causes[0].name, "network");
    assert_near(a->causes[0].share, 0.71, 0);
    assert_true(alert_has_rank(a, 32) && alert_has_rank(a, 47));
    assert_false(alert_has_rank(a, 31) || alert_has_rank(a, 48));
    assert_int_equal(alert_length_ns(a, model_now_ns(f.model)), 10 * SYNTHETIC_SECOND);
    synthetic_growth(&f.job, &growing, 5, "resolved", into, f.model);
    assert_int_equal(alerts_count(&f.model->alerts, ALERT_FIRING), 0);
    assert_int_equal(alerts_count(&f.model->alerts, ALERT_RESOLVED), 1);
    drop(&f);
}

static void odd_lists_of_ranks_are_read_as_far_as_they_go(void **state)
{
    static const struct {
        const char *text;
        uint32_t spans;
    } cases[] = {{"0-3,8", 2},
                 {"", 0},
                 {"5-2", 0},
                 {"7,x", 1},
                 {"1--2", 1},
                 {"4-,9", 1},
                 {"18446744073709551616", 1},
                 {"1 2", 2}};
    (void)state;
    struct alerts alerts = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct wire_alert m = {
            .id = i, .state = "firing", .rank = -1, .ranks = cases[i].text};
        assert_int_equal(alerts_apply(&alerts, &m), 0);
        assert_int_equal(alerts_find(&alerts, i)->span_count, cases[i].spans);
    }
    alerts_finish(&alerts);
}

static void firing_alerts_outlive_resolved_ones(void **state)
{
    (void)state;
    struct alerts alerts = {0};
    for (uint64_t id = 1; id <= ALERTS + 40; id++) {
        const struct wire_alert m = {
            .id = id, .state = id <= 20 ? "firing" : "resolved", .fired_ns = 1, .rank = -1};
        assert_int_equal(alerts_apply(&alerts, &m), 0);
    }
    assert_int_equal(alerts.count, ALERTS);
    assert_int_equal(alerts.dropped, 40);
    assert_int_equal(alerts_count(&alerts, ALERT_FIRING), 20);
    assert_int_equal(alerts.items[0].id, ALERTS + 40);
    alerts_finish(&alerts);
}

static void an_alert_that_is_over_takes_no_place_of_one_that_fires(void **state)
{
    (void)state;
    struct alerts alerts = {0};
    for (uint64_t id = 1; id <= ALERTS + 1; id++) {
        const struct wire_alert m = {
            .id = id, .state = id <= ALERTS ? "firing" : "resolved", .fired_ns = 1, .rank = -1};
        assert_int_equal(alerts_apply(&alerts, &m), 0);
    }
    assert_int_equal(alerts_count(&alerts, ALERT_FIRING), ALERTS);
    assert_int_equal(alerts.dropped, 1);
    alerts_finish(&alerts);
}

static void an_alert_that_never_fired_is_gone_when_it_is_over(void **state)
{
    (void)state;
    struct alerts alerts = {0};
    struct wire_alert m = {.id = 1, .state = "pending", .rank = -1};
    assert_int_equal(alerts_apply(&alerts, &m), 0);
    assert_int_equal(alerts_count(&alerts, ALERT_PENDING), 1);
    m.state = "resolved";
    assert_int_equal(alerts_apply(&alerts, &m), 0);
    assert_int_equal(alerts_apply(&alerts, &m), 0);
    assert_int_equal(alerts.count, 0);
    m.fired_ns = 3;
    assert_int_equal(alerts_apply(&alerts, &m), 0);
    assert_int_equal(alerts_count(&alerts, ALERT_RESOLVED), 1);
    alerts_finish(&alerts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_series_has_its_windows),
        cmocka_unit_test(a_trend_reported_late_begins_where_it_began),
        cmocka_unit_test(a_long_run_keeps_its_sums_in_bounded_memory),
        cmocka_unit_test(a_few_slow_messages_do_not_hide_the_others),
        cmocka_unit_test(figures_of_several_windows_have_the_mean_of_their_errors),
        cmocka_unit_test(the_order_of_arrival_does_not_show),
        cmocka_unit_test(hostile_rows_leave_no_trace),
        cmocka_unit_test(regions_come_in_parts_and_change),
        cmocka_unit_test(ranks_have_the_mean_of_the_visible_windows),
        cmocka_unit_test(latencies_of_ranks_are_not_those_of_the_job_before),
        cmocka_unit_test(an_episode_is_one_alert_with_its_evidence),
        cmocka_unit_test(odd_lists_of_ranks_are_read_as_far_as_they_go),
        cmocka_unit_test(firing_alerts_outlive_resolved_ones),
        cmocka_unit_test(an_alert_that_is_over_takes_no_place_of_one_that_fires),
        cmocka_unit_test(an_alert_that_never_fired_is_gone_when_it_is_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "agent/cli/top/top_model.h"

#include "tests/agent/cli/top/top_story.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct top_series *find(const struct top_model *model, uint64_t scope, uint64_t id)
{
    for (size_t i = 0; i < model->series_count; i++)
        if (model->series[i].scope == scope && model->series[i].id == id)
            return &model->series[i];
    return NULL;
}

static void series_keep_the_last_windows(void **state)
{
    struct top_model model = {0};
    (void)state;
    story_tell(&model, 1000);
    const struct top_series *inter = find(&model, SERIES_INTER, 0);
    assert_true(fabs(top_model_value(inter, 999) - (1.2 + 0.3 * 979)) < 1e-3);
    assert_true(fabs(top_model_value(inter, 1000 - TOP_WINDOWS) -
                     (1.2 + 0.3 * (980 - (double)TOP_WINDOWS))) < 1e-3);
    assert_true(isnan(top_model_value(inter, 1000)));
    assert_true(isnan(top_model_value(inter, 999 - TOP_WINDOWS)));
    assert_int_equal(inter->trend, TREND_GROWTH);
    top_model_finish(&model);
}

static void a_correction_of_an_old_window_changes_that_one_alone(void **state)
{
    struct top_model model = {0};
    (void)state;
    story_tell(&model, 30);
    struct wire_series_row row = {
        .scope = SERIES_INTER, .messages = 1, .reference = 9, .typical = 9};
    struct wire_message message = {
        .type = WIRE_TYPE_LATENCIES,
        .latencies = {.job = "lmp.0", .window = 12, .series = &row, .series_count = 1}};
    assert_int_equal(top_model_apply(&model, &message, 0), 0);
    const struct top_series *inter = find(&model, SERIES_INTER, 0);
    assert_true(fabs(top_model_value(inter, 12) - 9) < 1e-6);
    assert_int_equal(model.window, 29);
    assert_int_equal(inter->trend, TREND_GROWTH);
    assert_int_equal(model.matched, 75000);
    top_model_finish(&model);
}

static void ranks_of_a_region_are_reported_as_runs(void **state)
{
    struct top_model model = {0};
    struct wire_latency_region_row region = {.id = 9, .ranks = 200};
    struct wire_region_member_row members[200];
    char text[64];
    (void)state;
    story_tell(&model, 1);
    assert_string_equal(top_model_region_ranks(&model, 1, text, sizeof text), "0-3,7");
    assert_string_equal(top_model_region_ranks(&model, 2, text, sizeof text), "4-6");
    assert_string_equal(top_model_region_ranks(&model, 3, text, sizeof text), "");
    for (uint64_t i = 0; i < 200; i++)
        members[i] = (struct wire_region_member_row){.rank = 1000 + 2 * i, .region = 9};
    struct wire_message message = {.type = WIRE_TYPE_REGIONS,
                                   .regions = {.job = "lmp.0",
                                               .regions = &region,
                                               .regions_count = 1,
                                               .members = members,
                                               .members_count = 200}};
    assert_int_equal(top_model_apply(&model, &message, 0), 0);
    assert_string_equal(top_model_region_ranks(&model, 9, text, sizeof text),
                        "1000,1002,1004,1006,1008,1010,1012,1014,...");
    assert_string_equal(top_model_region_ranks(&model, 1, text, sizeof text), "");
    top_model_finish(&model);
}

static void regions_and_their_ranks_come_in_parts(void **state)
{
    struct top_model model = {0};
    struct wire_latency_region_row regions[100];
    struct wire_region_member_row members[100];
    char text[64];
    (void)state;
    story_tell(&model, 1);
    for (uint64_t i = 0; i < 100; i++) {
        regions[i] = (struct wire_latency_region_row){.id = 10 + i, .ranks = 2};
        members[i] = (struct wire_region_member_row){.rank = i, .region = 10 + i % 50};
    }
    for (uint64_t part = 0; part < 3; part++) {
        struct wire_message message = {.type = WIRE_TYPE_REGIONS,
                                       .regions = {.job = "lmp.0",
                                                   .regions = regions + part * 25,
                                                   .regions_count = part < 2 ? 25 : 0,
                                                   .members = part == 1 ? members : members + 50,
                                                   .members_count = part == 0 ? 0 : 50,
                                                   .more = part < 2}};
        assert_int_equal(top_model_apply(&model, &message, 0), 0);
    }
    assert_int_equal(model.region_count, 50);
    assert_string_equal(top_model_region_ranks(&model, 10, text, sizeof text), "0,50");
    assert_string_equal(top_model_region_ranks(&model, 59, text, sizeof text), "49,99");
    top_model_finish(&model);
}

static void urgent_alerts_come_first_and_are_updated_in_place(void **state)
{
    struct top_model model = {0};
    (void)state;
    story_tell(&model, 30); /* publishes alert 1 */
    story_alert(&model, 2, "pending", "two");
    story_alert(&model, 3, "firing", "three");
    story_alert(&model, 1, "resolved", "one");
    assert_int_equal(model.alert_count, 3);
    assert_string_equal(model.alerts[0]->message.alert.title, "three");
    assert_string_equal(model.alerts[1]->message.alert.title, "two");
    assert_string_equal(model.alerts[2]->message.alert.title, "one");
    assert_string_equal(model.alerts[2]->message.alert.causes[0].name, "network");
    for (uint64_t id = 10; id < 10 + 2 * TOP_ALERTS; id++)
        story_alert(&model, id, id == 20 ? "firing" : "resolved", "more");
    assert_int_equal(model.alert_count, TOP_ALERTS);
    assert_int_equal(model.alerts[0]->message.alert.id, 20);
    assert_int_equal(model.alerts[1]->message.alert.id, 3);
    top_model_finish(&model);
}

static void an_alert_that_is_over_takes_no_place_of_one_that_fires(void **state)
{
    struct top_model model = {0};
    (void)state;
    for (uint64_t id = 1; id <= TOP_ALERTS; id++)
        story_alert(&model, id, "firing", "one");
    story_alert(&model, TOP_ALERTS + 1, "resolved", "another");
    assert_int_equal(model.alert_count, TOP_ALERTS);
    for (size_t i = 0; i < model.alert_count; i++)
        assert_string_equal(model.alerts[i]->message.alert.state, "firing");
    top_model_finish(&model);
}

static void an_alert_that_never_fired_is_gone_when_it_is_over(void **state)
{
    struct top_model model = {0};
    struct wire_message over = {.type = WIRE_TYPE_ALERT,
                                .alert = {.job = "lmp.0",
                                          .id = 2,
                                          .kind = "latency",
                                          .state = "resolved",
                                          .title = "two",
                                          .rank = -1}};
    (void)state;
    story_tell(&model, 30); /* publishes alert 1 */
    story_alert(&model, 2, "pending", "two");
    assert_int_equal(model.alert_count, 2);
    assert_int_equal(top_model_apply(&model, &over, 0), 0);
    assert_int_equal(model.alert_count, 1);
    assert_int_equal(model.alerts[0]->message.alert.id, 1);
    over.alert.id = 3;
    assert_int_equal(top_model_apply(&model, &over, 1), 0);
    assert_int_equal(model.alert_count, 1);
    top_model_finish(&model);
}

static void the_current_state_replaces_the_alerts(void **state)
{
    struct top_model model = {0};
    struct wire_message job = {.type = WIRE_TYPE_JOB,
                               .job = {.job = "lmp.0", .state = "ended", .app = "", .mpi = ""}};
    (void)state;
    story_tell(&model, 30);
    assert_int_equal(top_model_apply(&model, &job, 0), 0);
    assert_int_equal(model.alert_count, 1);
    assert_int_equal(top_model_apply(&model, &job, 1), 0);
    assert_int_equal(model.alert_count, 0);
    assert_string_equal(model.state, "ended");
    assert_non_null(find(&model, SERIES_INTER, 0)); /* the strip goes on */
    top_model_finish(&model);
}

static void another_job_starts_from_scratch(void **state)
{
    struct top_model model = {0};
    struct wire_message other = {.type = WIRE_TYPE_TOTALS, .totals = {.job = "lmp.1"}};
    (void)state;
    story_tell(&model, 30);
    assert_int_equal(top_model_apply(&model, &other, 0), 0);
    assert_string_equal(model.job, "lmp.1");
    assert_int_equal(model.series_count, 0);
    assert_int_equal(model.alert_count, 0);
    assert_int_equal(model.rank_count, 0);
    top_model_finish(&model);
}

/* A daemon that serves the job after another one may have longer windows. */
static void windows_of_another_length_are_not_older_ones(void **state)
{
    struct top_model model = {0};
    struct wire_rank_row rank = {.sent = 8};
    struct wire_series_row row = {.scope = SERIES_JOB, .messages = 1, .reference = 2};
    (void)state;
    story_tell(&model, 30);
    const struct wire_message messages[] = {
        {.type = WIRE_TYPE_JOB,
         .job = {.job = "lmp.0", .state = "running", .window_ns = 10 * model.window_ns}},
        {.type = WIRE_TYPE_TOTALS,
         .totals = {.job = "lmp.0", .window = 3, .length_ns = 1000000000, .sent = 8}},
        {.type = WIRE_TYPE_RANK_WINDOW,
         .rank_window = {.job = "lmp.0",
                         .window = 3,
                         .length_ns = 1000000000,
                         .ranks = &rank,
                         .ranks_count = 1}},
        {.type = WIRE_TYPE_LATENCIES,
         .latencies = {.job = "lmp.0", .window = 3, .series = &row, .series_count = 1}}};
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        assert_int_equal(top_model_apply(&model, &messages[i], 1), 0);
    assert_int_equal(model.window, 3);
    assert_int_equal(model.series_count, 1);
    assert_int_equal(model.rank_count, 1);
    assert_true(model.ranks[0].messages == 8);
    assert_true(model.rates.messages == 8);
    top_model_finish(&model);
}

static void ranks_of_one_window_come_in_parts(void **state)
{
    struct top_model model = {0};
    struct wire_rank_row rows[3] = {
        {.rank = 0, .send_ns = 300, .send_wait_ns = 250, .awaited = 1 + 1, .awaited_ns = 200},
        {.rank = 1, .wait_ns = 500},
        {.rank = 2}};
    struct wire_message message = {.type = WIRE_TYPE_RANK_WINDOW,
                                   .rank_window = {.job = "lmp.0",
                                                   .window = 5,
                                                   .length_ns = 1000,
                                                   .ranks = rows,
                                                   .ranks_count = 2,
                                                   .more = 1}};
    (void)state;
    assert_int_equal(top_model_apply(&model, &message, 0), 0);
    message.rank_window.ranks = rows + 2;
    message.rank_window.ranks_count = 1;
    message.rank_window.more = 0;
    assert_int_equal(top_model_apply(&model, &message, 0), 0);
    assert_int_equal(model.rank_count, 3);
    assert_true(fabs(model.ranks[1].waiting - 0.5) < 1e-12);
    assert_true(fabs(model.ranks[0].waiting - 0.25) < 1e-12); /* in sends */
    assert_int_equal(model.ranks[0].awaited, 1);
    assert_int_equal(model.ranks[1].awaited, -1);
    message.rank_window.window = 6;
    assert_int_equal(top_model_apply(&model, &message, 0), 0);
    assert_int_equal(model.rank_count, 1);
    top_model_finish(&model);
}

/* As in a call of which it is not known for whom it waits, after short waits for others. */
static void a_rank_that_is_waited_for_hardly_at_all_is_not_named(void **state)
{
    struct top_model model = {0};
    struct wire_rank_row row = {.wait_ns = 900, .awaited = 3 + 1, .awaited_ns = 10};
    const struct wire_message message = {
        .type = WIRE_TYPE_RANK_WINDOW,
        .rank_window = {.job = "lmp.0", .length_ns = 1000, .ranks = &row, .ranks_count = 1}};
    (void)state;
    assert_int_equal(top_model_apply(&model, &message, 0), 0);
    assert_int_equal(model.ranks[0].awaited, -1);
    row.awaited_ns = 90;
    assert_int_equal(top_model_apply(&model, &message, 0), 0);
    assert_int_equal(model.ranks[0].awaited, 3);
    top_model_finish(&model);
}

static void rates_are_those_of_the_newest_window(void **state)
{
    struct top_model model = {0};
    struct wire_message message = {.type = WIRE_TYPE_TOTALS,
                                   .totals = {.job = "one",
                                              .window = 5,
                                              .length_ns = 500000000,
                                              .ranks = 4,
                                              .calls = 100,
                                              .sent = 10,
                                              .sent_bytes = 4000,
                                              .send_ns = 300000000,
                                              .send_wait_ns = 100000000,
                                              .recv_ns = 400000000,
                                              .io_ns = 300000000}};
    (void)state;
    assert_int_equal(top_model_apply(&model, &message, 0), 0);
    assert_true(model.rates.known);
    assert_true(fabs(model.rates.calls - 200) < 1e-9);
    assert_true(fabs(model.rates.messages - 20) < 1e-9);
    assert_true(fabs(model.rates.bytes - 8000) < 1e-9);
    assert_true(fabs(model.rates.in_mpi - 0.5) < 1e-12);
    assert_true(fabs(model.rates.waiting - 0.25) < 1e-12);
    message.totals.absent_ns = 1000000000; /* the job began in the middle of the window */
    assert_int_equal(top_model_apply(&model, &message, 0), 0);
    assert_true(fabs(model.rates.in_mpi - 1) < 1e-12);
    assert_true(fabs(model.rates.waiting - 0.5) < 1e-12);
    message.totals.window = 4; /* a correction */
    message.totals.calls = 1;
    assert_int_equal(top_model_apply(&model, &message, 0), 0);
    assert_true(fabs(model.rates.calls - 200) < 1e-9);
    top_model_finish(&model);
}

static void progress_is_that_of_an_alert_that_fires(void **state)
{
    struct top_model model = {0};
    (void)state;
    story_tell(&model, 20);
    assert_true(isnan(top_model_progress(&model)));
    top_model_finish(&model);
    story_tell(&model, 30);
    assert_true(fabs(top_model_progress(&model) - 0.54) < 1e-12);
    top_model_finish(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(series_keep_the_last_windows),
        cmocka_unit_test(a_correction_of_an_old_window_changes_that_one_alone),
        cmocka_unit_test(ranks_of_a_region_are_reported_as_runs),
        cmocka_unit_test(regions_and_their_ranks_come_in_parts),
        cmocka_unit_test(urgent_alerts_come_first_and_are_updated_in_place),
        cmocka_unit_test(an_alert_that_is_over_takes_no_place_of_one_that_fires),
        cmocka_unit_test(an_alert_that_never_fired_is_gone_when_it_is_over),
        cmocka_unit_test(the_current_state_replaces_the_alerts),
        cmocka_unit_test(another_job_starts_from_scratch),
        cmocka_unit_test(windows_of_another_length_are_not_older_ones),
        cmocka_unit_test(ranks_of_one_window_come_in_parts),
        cmocka_unit_test(a_rank_that_is_waited_for_hardly_at_all_is_not_named),
        cmocka_unit_test(rates_are_those_of_the_newest_window),
        cmocka_unit_test(progress_is_that_of_an_alert_that_fires),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The page of metrics as text, and the figures on it. */
#include "daemon/metrics/metrics_collect.h"
#include "daemon/metrics/metrics_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)

/* ---- a page ---------------------------------------------------------------- */

static struct metrics_snapshot snapshot;

static char *write_page(enum metrics_format format)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    metrics_text_write(out, &snapshot, format);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void assert_has(const char *text, const char *lines)
{
    const char *at = strstr(text, lines);
    if (at == NULL || (at != text && at[-1] != '\n'))
        fail_msg("not on the page: %s\n%s", lines, text);
}

/* A page of one job with one agent, all figures 0 but for those that tests set. */
static struct metrics_job *make_page(void **state)
{
    (void)state;
    struct metrics_job *job = calloc(1, sizeof(*job));
    assert_non_null(job);
    snprintf(job->id, sizeof(job->id), "job.0");
    snprintf(job->user, sizeof(job->user), "ann");
    snprintf(job->program, sizeof(job->program), "sim");
    const struct wire_node_row row = {.host = "n1", .call_cost_ns = NAN};
    size_t capacity = 1;
    assert_int_equal(metrics_add_agents(job, &row, 1, &capacity), 0);
    snapshot = (struct metrics_snapshot){.version = "1.2", .jobs = job, .job_count = 1};
    return job;
}

static void finish_page(void)
{
    metrics_snapshot_finish(&snapshot);
}

/* ---- the text -------------------------------------------------------------- */

static void openmetrics_names_units_and_ends_with_eof(void **state)
{
    make_page(state)->calls = 12;
    snapshot.jobs[0].sent_bytes = 4096;
    snapshot.jobs[0].mpi_ratio = 0.25;
    char *text = write_page(METRICS_OPENMETRICS);
    assert_has(text, "# TYPE holter_job_calls counter\n"
                     "# HELP holter_job_calls MPI calls, polls included\n"
                     "holter_job_calls_total{job_id=\"job.0\",user=\"ann\"} 12\n");
    assert_has(text, "# TYPE holter_job_sent_bytes counter\n"
                     "# UNIT holter_job_sent_bytes bytes\n"
                     "# HELP holter_job_sent_bytes bytes of these messages\n"
                     "holter_job_sent_bytes_total{job_id=\"job.0\",user=\"ann\"} 4096\n");
    assert_has(text, "# TYPE holter_build info\n# HELP holter_build Holter's version\n"
                     "holter_build_info{version=\"1.2\"} 1\n");
    assert_has(text, "holter_job_info{job_id=\"job.0\",user=\"ann\",program=\"sim\"} 1\n");
    assert_has(text, "holter_job_mpi_ratio{job_id=\"job.0\",user=\"ann\"} 0.25\n");
    assert_string_equal(text + strlen(text) - 6, "# EOF\n");
    free(text);
    finish_page();
}

static void the_older_format_names_counters_by_their_samples_and_has_no_units(void **state)
{
    make_page(state)->calls = 12;
    char *text = write_page(METRICS_PROMETHEUS);
    assert_has(text, "# TYPE holter_job_calls_total counter\n"
                     "# HELP holter_job_calls_total MPI calls, polls included\n"
                     "holter_job_calls_total{job_id=\"job.0\",user=\"ann\"} 12\n");
    assert_has(text, "# TYPE holter_build_info gauge\n");
    assert_null(strstr(text, "# UNIT"));
    assert_null(strstr(text, "# EOF"));
    free(text);
    finish_page();
}

static void readers_get_the_format_that_they_accept(void **state)
{
    (void)state;
    assert_int_equal(metrics_format_choose(NULL), METRICS_PROMETHEUS);
    assert_int_equal(metrics_format_choose("*/*"), METRICS_PROMETHEUS);
    assert_int_equal(metrics_format_choose("application/openmetrics-text;version=1.0.0,*/*;q=0.1"),
                     METRICS_OPENMETRICS);
    assert_string_equal(metrics_format_content_type(METRICS_OPENMETRICS),
                        "application/openmetrics-text; version=1.0.0; charset=utf-8");
}

static void label_values_are_escaped_and_steer_no_reader(void **state)
{
    struct metrics_job *job = make_page(state);
    snprintf(job->user, sizeof(job->user), "%s", "a\"b\\c\nd\x1b\xff\xc3\xbc} 1\nx{");
    snapshot.cluster = "gr\xc3\xbcn";
    char *text = write_page(METRICS_OPENMETRICS);
    assert_has(text, "holter_job_calls_total{cluster=\"gr\xc3\xbcn\",job_id=\"job.0\","
                     "user=\"a\\\"b\\\\c\\nd??\xc3\xbc} 1\\nx{\"} 0\n");
    assert_has(text, "holter_daemon_agents{cluster=\"gr\xc3\xbcn\"} 0\n");
    free(text);
    finish_page();
}

static void what_is_not_known_has_no_sample(void **state)
{
    make_page(state)->hottest_link_ratio = NAN;
    snapshot.jobs[0].matched_ratio = 1;
    char *text = write_page(METRICS_OPENMETRICS);
    assert_has(text, "# TYPE holter_job_hottest_link_ratio gauge\n");
    assert_null(strstr(text, "holter_job_hottest_link_ratio{"));
    assert_null(strstr(text, "NaN"));
    assert_null(strstr(text, "nan"));
    assert_has(text, "holter_job_matched_ratio{job_id=\"job.0\",user=\"ann\"} 1\n");
    free(text);
    finish_page();
}

static void only_a_daemon_of_a_fleet_has_figures_of_it(void **state)
{
    const struct metrics_fleet fleet = {.jobs = 2, .messages_stored = 30};
    make_page(state);
    char *text = write_page(METRICS_OPENMETRICS);
    assert_null(strstr(text, "holter_fleet_"));
    free(text);
    snapshot.fleet = &fleet;
    text = write_page(METRICS_OPENMETRICS);
    assert_has(text, "holter_fleet_jobs 2\n");
    assert_has(text, "holter_fleet_messages_stored_total 30\n");
    free(text);
    finish_page();
}

static void counts_are_exact_to_the_last_digit(void **state)
{
    make_page(state)->sent_bytes = 9007199254740991.0;
    snapshot.jobs[0].rank_seconds = 86400.125;
    char *text = write_page(METRICS_OPENMETRICS);
    assert_has(text,
               "holter_job_sent_bytes_total{job_id=\"job.0\",user=\"ann\"} 9007199254740991\n");
    assert_has(text, "holter_job_rank_seconds_total{job_id=\"job.0\",user=\"ann\"} 86400.125\n");
    free(text);
    finish_page();
}

static void alerts_are_counted_by_kind_and_severity(void **state)
{
    make_page(state)->alerts[RULE_HANG][SEVERITY_CRITICAL] = 1;
    char *text = write_page(METRICS_OPENMETRICS);
    assert_has(text, "holter_job_alerts{job_id=\"job.0\",user=\"ann\",kind=\"hang\",severity="
                     "\"critical\"} 1\n");
    assert_has(text, "holter_job_alerts{job_id=\"job.0\",user=\"ann\",kind=\"hang\",severity="
                     "\"warning\"} 0\n");
    free(text);
    finish_page();
}

/* A metric is one block: its head, then its samples. */
static void each_metric_stands_once(void **state)
{
    make_page(state);
    char *text = write_page(METRICS_OPENMETRICS), *rest = text, *line;
    char family[128] = "?";
    size_t heads = 0;
    while ((line = strsep(&rest, "\n")) != NULL && strcmp(line, "# EOF") != 0) {
        if (sscanf(line, "# TYPE %127s", family) == 1)
            heads++;
        else if (line[0] != '#')
            assert_int_equal(strncmp(line, family, strlen(family)), 0);
    }
    assert_int_equal(heads, 68);
    free(text);
    finish_page();
}

/* ---- figures --------------------------------------------------------------- */

static void figures_of_a_job_are_in_base_units(void **state)
{
    struct job_figures f = {
        .user = "ann",
        .app = "/home/ann/bin/sim",
        .start_ns = 90 * S,
        .world = 8,
        .watched = 6,
        .sums = {.calls = 7, .recv_ns = 3 * S / 2, .io_ns = S / 4},
        .rank_ns = 60 * S,
        .has_newest = 1,
        .newest = {.start_ns = 100 * S,
                   .length_ns = S,
                   .published_ns = 101 * S + S / 20,
                   .ranks = 4,
                   .recv_ns = S,
                   .io_ns = S,
                   .matched = 3,
                   .unmatched = 1,
                   .unwatched = 96},
        .link_share = NAN,
    };
    struct metrics_job job;
    (void)state;
    metrics_fill_job(&job, "job.0", &f);
    assert_string_equal(job.program, "sim");
    assert_float_equal(job.start_time_seconds, 90, 1e-9);
    assert_float_equal(job.mpi_seconds[METRICS_CLASS_recv_ns], 1.5, 1e-9);
    assert_float_equal(job.mpi_seconds[METRICS_CLASS_io_ns], 0.25, 1e-9);
    assert_float_equal(job.rank_seconds, 60, 1e-9);
    assert_float_equal(job.publish_delay_seconds, 0.05, 1e-9);
    assert_float_equal(job.mpi_ratio, 0.5, 1e-9);
    assert_float_equal(job.waiting_ratio, 0.25, 1e-9);
    assert_float_equal(job.matched_ratio, 0.75, 1e-9);
    assert_true(isnan(job.hottest_link_ratio));
}

static void before_the_first_window_ratios_are_not_known(void **state)
{
    const struct job_figures f = {.user = "", .app = "sim", .link_share = NAN};
    struct metrics_job job;
    (void)state;
    metrics_fill_job(&job, "job.0", &f);
    assert_string_equal(job.program, "sim");
    assert_true(isnan(job.mpi_ratio) && isnan(job.publish_delay_seconds) &&
                isnan(job.start_time_seconds) && isnan(job.ranks_expected));
}

static void a_job_that_died_or_was_lost_stays_on_the_page_for_a_while(void **state)
{
    const uint64_t later = 100 * S + METRICS_STAY_NS;
    (void)state;
    assert_true(metrics_lists_job(JOB_RUNNING, 100 * S, 2 * later));
    assert_false(metrics_lists_job(JOB_ENDED, 100 * S, 100 * S));
    assert_true(metrics_lists_job(JOB_DIED, 100 * S, later - 1));
    assert_true(metrics_lists_job(JOB_LOST, 100 * S, later - 1));
    assert_false(metrics_lists_job(JOB_DIED, 100 * S, later));
}

static void agents_of_one_node_are_one_series(void **state)
{
    const struct wire_node_row rows[] = {
        {.host = "n1", .connected = 1, .cpu_ns = S, .rss_bytes = 10, .call_cost_ns = 30},
        {.host = "n1", .connected = 0, .cpu_ns = 2 * S, .rss_bytes = 5, .call_cost_ns = NAN},
        {.host = "n2", .connected = 1, .degraded = 4, .call_cost_ns = NAN},
    };
    struct metrics_job job = {.id = "job.0"};
    size_t capacity = 7;
    (void)state;
    assert_int_equal(metrics_add_agents(&job, rows, 1, &capacity), 0);
    assert_int_equal(metrics_add_agents(&job, rows + 1, 2, &capacity), 0);
    assert_int_equal(capacity, 5);
    assert_int_equal(job.agent_count, 2);
    assert_string_equal(job.agents[0].node, "n1");
    assert_float_equal(job.agents[0].connected, 0, 0);
    assert_float_equal(job.agents[0].cpu_seconds, 3, 1e-9);
    assert_float_equal(job.agents[0].resident_memory_bytes, 15, 0);
    assert_float_equal(job.agents[0].call_cost_seconds, 30e-9, 1e-15);
    assert_float_equal(job.agents[1].degraded, 1, 0);
    assert_true(isnan(job.agents[1].call_cost_seconds));
    free(job.agents);
}

static void nodes_beyond_the_room_of_a_page_are_counted(void **state)
{
    const struct wire_node_row rows[] = {
        {.host = "n1"}, {.host = "n1"}, {.host = "n2"}, {.host = "n2"}, {.host = "n3"}};
    struct metrics_job job = {.id = "job.0"};
    size_t capacity = 1;
    (void)state;
    assert_int_equal(metrics_add_agents(&job, rows, 3, &capacity), 0);
    assert_int_equal(metrics_add_agents(&job, rows + 3, 2, &capacity), 0);
    assert_int_equal(job.agent_count, 1);
    assert_int_equal(capacity, 0);
    assert_float_equal(job.nodes_left_out, 2, 0);
    free(job.agents);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(openmetrics_names_units_and_ends_with_eof),
        cmocka_unit_test(the_older_format_names_counters_by_their_samples_and_has_no_units),
        cmocka_unit_test(readers_get_the_format_that_they_accept),
        cmocka_unit_test(label_values_are_escaped_and_steer_no_reader),
        cmocka_unit_test(what_is_not_known_has_no_sample),
        cmocka_unit_test(only_a_daemon_of_a_fleet_has_figures_of_it),
        cmocka_unit_test(counts_are_exact_to_the_last_digit),
        cmocka_unit_test(alerts_are_counted_by_kind_and_severity),
        cmocka_unit_test(each_metric_stands_once),
        cmocka_unit_test(figures_of_a_job_are_in_base_units),
        cmocka_unit_test(before_the_first_window_ratios_are_not_known),
        cmocka_unit_test(a_job_that_died_or_was_lost_stays_on_the_page_for_a_while),
        cmocka_unit_test(agents_of_one_node_are_one_series),
        cmocka_unit_test(nodes_beyond_the_room_of_a_page_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

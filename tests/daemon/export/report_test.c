/* Recordings as reports. */
#include "tests/daemon/export/exported.h"
#include "tests/daemon/export/recorded.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void a_report_lists_captures_and_the_calls_that_ranks_were_in(void **state)
{
    (void)state;
    struct report_extras extras = {0};
    FILE *out = begin();
    assert_int_equal(report_write(out, &source, &extras), 0);
    fclose(out);
    assert_null(strstr(text, "Last calls of ranks"));
    change(CAPTURED);
    out = begin();
    assert_int_equal(report_write(out, &source, &extras), 0);
    fclose(out);
    assert_non_null(strstr(text, "Last calls of ranks"));
    assert_non_null(strstr(text, "<td>1.50 s after the begin</td><td>alert 1: &lt;slow&gt;</td>"
                                 "<td class=\"n\">2</td><td class=\"n\">5</td>"
                                 "<td>MPI_Barrier (2)</td>"));
}

static void a_report_says_what_was_wrong_and_what_to_do(void **state)
{
    (void)state;
    static const unsigned char png[] = {0x89, 'P', 'N', 'G'};
    struct report_picture picture = {"Live", "as it was", png, sizeof(png)};
    struct report_measure measures[] = {
        {"bytes on the fullest link", 1, 3 << 20, 1536 << 10, 1536 << 10},
        {"bytes between nodes", 1, 1000, 1200, 0},
        {"messages between nodes", 0, 45600, 45600, 0}};
    struct report_extras extras = {&picture, 1, measures, 3, "torus", "holter remap x", NULL, NULL};
    write_report(&extras);
    assert_non_null(strstr(text, "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more"));
    assert_non_null(strstr(text, "<dt>what it costs</dt><dd>2.5x what it was, at worst 4.0x; 54 % "
                                 "of the progress, 6.00 s lost</dd>"));
    assert_non_null(strstr(text, "<dt>where</dt><dd>ranks 0-1"));
    assert_non_null(strstr(text, "<td>network</td><td class=\"n\">75 %</td>"));
    assert_non_null(strstr(text, "<b>1.19 %</b><span class=\"second\">of the received messages "
                                 "matched</span>"));
    assert_non_null(strstr(text, "<b>no record</b><span class=\"second\">lost</span>"));
    assert_non_null(strstr(text, "it is &lt;slow&gt;"));
    assert_non_null(strstr(text, "look at the link"));
    assert_non_null(strstr(text, "<td>bytes on the fullest link</td><td class=\"n\">3.00 MiB</td>"
                                 "<td class=\"n\">1.50 MiB</td><td class=\"n better\">50.00 %</td>"
                                 "<td>optimal</td>"));
    assert_non_null(strstr(text, "<td class=\"n\">1000 B</td><td class=\"n\">1.17 KiB</td>"
                                 "<td class=\"n worse\">-20.00 %</td>"));
    assert_non_null(strstr(text, "<td>messages between nodes</td><td class=\"n\">45.6 k</td>"));
    assert_non_null(strstr(text, "data:image/png;base64,iVBORw==\""));
    assert_non_null(strstr(text, "phase 2: 100 messages, 2 communities, like phase 1"));
    assert_non_null(strstr(text, "<td>MPI_Send</td><td class=\"n\">300</td>"));
    assert_non_null(strstr(text, "<td>rank 3</td><td>rank 0</td><td class=\"n\">120</td>"
                                 "<td class=\"n\">11.7 KiB</td>"
                                 "<td class=\"n\">10.0 µs ± 200 ns</td>"));
    assert_non_null(strstr(text, "<td class=\"n\">2.00 µs</td>"));
}

static void a_report_shows_whatever_stands_in_a_file_as_text(void **state)
{
    (void)state;
    struct report_extras extras = {.mapping_none = "None."};
    change("UPDATE job SET state = '<b onclick=1>x', app = '<b>', command = '<b>', mpi = '<b>';"
           "UPDATE alert SET kind = '<b>', state = '<b>', severity = '<b>', ranks = '<b>',"
           " nodes = '<b>', advice = '<b>', causes = "
           "'[{\"name\":\"<b>\",\"share\":1,\"text\":\"<b>\"}]';"
           "INSERT OR REPLACE INTO topology(one, text, fault) VALUES(1, '<b>', '<b>')");
    write_report(&extras);
    assert_null(strstr(text, "<b>x"));
    assert_null(strstr(text, "<b onclick"));
    assert_non_null(strstr(text, ", &lt;b onclick=1&gt;x; began "));
    /* Cards alone have bold figures. */
    assert_int_equal(count_of("<b>"), count_of("<div class=\"card\"><b>"));
}

static void a_report_says_that_phases_are_of_groups_of_ranks(void **state)
{
    (void)state;
    struct report_extras extras = {.mapping_none = "None."};
    change("UPDATE job SET rank_group = 2048");
    write_report(&extras);
    assert_non_null(strstr(text, "communities are groups of 2,048 consecutive ranks."));
}

static void a_report_names_who_loads_hot_links_most(void **state)
{
    (void)state;
    struct report_extras extras = {.mapping_none = "None."};
    change(
        "INSERT OR REPLACE INTO topology(one, text) VALUES(1, 'torus'); DELETE FROM link;"
        "INSERT INTO link(window, link, source, destination, state, bytes) VALUES"
        "(1, 7, 'a', 'b', 'hot', 500), (2, 7, 'a', 'b', 'hot', 900), (3, 7, 'a', 'b', 'idle', 999),"
        "(1, 8, 'b', 'a', 'congested', 100), (1, 9, 'b', 'c', 'busy', 100);"
        "INSERT INTO link_route(window, link, source, destination, bytes) VALUES"
        "(1, 7, 0, 1, 400), (1, 7, 2, 3, 100), (2, 7, 2, 3, 350)");
    write_report(&extras);
    const char *first = strstr(text, "<td>b to a</td><td class=\"n\">0</td><td class=\"n\">1</td>");
    const char *second = strstr(text, "<td>a to b</td><td class=\"n\">2</td><td class=\"n\">0</td>"
                                      "<td class=\"n\">900 B</td>");
    assert_non_null(first);
    assert_non_null(second);
    assert_true(first < second);
    assert_non_null(strstr(second, "<td>2 to 3</td>"));
    assert_null(strstr(text, "<td>b to c</td>"));
}

static void shares_of_a_rank_are_of_the_time_in_which_it_was_there(void **state)
{
    (void)state;
    struct report_extras extras = {.mapping_none = "None."};
    write_report(&extras);
    assert_non_null(strstr(text, "<td>rank 2</td><td>beta</td><td class=\"n\">60.0 %</td>"));
    assert_non_null(strstr(text, "<td>rank 3</td><td>beta</td><td class=\"n\">40.0 %</td>"));
}

static void shares_of_a_rank_that_has_ended_are_of_the_time_before(void **state)
{
    (void)state;
    struct report_extras extras = {.mapping_none = "None."};
    close_source();
    unlink(path);
    recorded_make_with_end(path);
    open_source();
    write_report(&extras);
    assert_non_null(strstr(text, "<td>rank 1</td><td>alpha</td><td class=\"n\">20.0 %</td>"));
    assert_non_null(strstr(text, "<td>rank 2</td><td>beta</td><td class=\"n\">60.0 %</td>"));
    assert_non_null(strstr(text, "<td>rank 3</td><td>beta</td><td class=\"n\">40.0 %</td>"));
}

static void causes_that_are_none_are_left_out(void **state)
{
    (void)state;
    struct report_extras extras = {.mapping_none = "None."};
    change("UPDATE alert SET causes = '[\"x\", 1, {\"name\": \"network\", \"share\": 0.5}]'");
    write_report(&extras);
    assert_non_null(strstr(text, "<td>network</td><td class=\"n\">50 %</td>"));
    change("UPDATE alert SET causes = '\"x\"'");
    write_report(&extras);
    assert_non_null(strstr(text, "Alert 1: "));
}

static void the_command_that_replays_a_file_can_be_copied_whatever_its_name(void **state)
{
    (void)state;
    struct report_extras extras = {.mapping_none = "None."};
    char odd[250];
    write_report(&extras);
    assert_non_null(strstr(text, "<code>holter replay job.hrec</code>"));
    snprintf(odd, sizeof(odd), "%s/it's; a job.hrec", directory);
    assert_int_equal(rename(path, odd), 0);
    source.path = odd;
    write_report(&extras);
    assert_non_null(strstr(text, "<code>it&#39;s; a job.hrec</code>"));
    assert_non_null(
        strstr(text, "<code>holter replay &#39;it&#39;\\&#39;&#39;s; a job.hrec&#39;</code>"));
    assert_int_equal(rename(odd, path), 0);
    source.path = path;
}

static void a_report_without_the_row_of_the_job_has_no_state(void **state)
{
    (void)state;
    struct report_extras extras = {.mapping_none = "None."};
    write_report(&extras);
    assert_non_null(strstr(text, "4 ranks on 2 nodes, 3.00 s, ended; began "));
    change("DELETE FROM job");
    write_report(&extras);
    assert_non_null(strstr(text, "4 ranks on 2 nodes, 3.00 s; began "));
}

static void the_duration_is_that_of_the_rank_that_was_there_for_longest(void **state)
{
    (void)state;
    struct report_extras extras = {.mapping_none = "None."};
    for (size_t i = 0; i < content.rank_count; i++)
        content.ranks[i].sums.absent_ns += 400000000 + 100000000 * i;
    write_report(&extras);
    assert_non_null(strstr(text, "4 ranks on 2 nodes, 2.60 s, ended; began "));
    for (size_t i = 0; i < content.rank_count; i++)
        content.ranks[i].windows--; /* the last window is that of an agent which ends */
    write_report(&extras);
    assert_non_null(strstr(text, "4 ranks on 2 nodes, 1.60 s, ended; began "));
}

static void a_phase_of_one_community_is_called_that(void **state)
{
    (void)state;
    struct report_extras extras = {.mapping_none = "None."};
    change("UPDATE phase SET communities = 1, messages = 1");
    write_report(&extras);
    assert_non_null(strstr(text, ": 1 message, 1 community, "));
}

/* How far the curve's line reaches from top to bottom. */
static double reach_of_curve(const char *svg)
{
    const char *line = strstr(svg, "<path class=\"line curve\""), *at;
    double x, y, top = 1e9, foot = -1e9;
    assert_non_null(line);
    at = strstr(line, " d=\"");
    assert_non_null(at);
    for (at += strlen(" d=\""); sscanf(at, "%*[ML]%lf %lf", &x, &y) == 2;
         at += 1 + strcspn(at + 1, "ML\"")) {
        top = y < top ? y : top;
        foot = y > foot ? y : foot;
    }
    return foot - top;
}

static void a_curve_that_drops_is_seen_to(void **state)
{
    (void)state;
    struct report_extras extras = {.mapping_none = "None."};
    change("UPDATE curve SET height = -0.75, returned = 0 WHERE phase = 2;"
           "UPDATE curve SET height = 0, returned = 0 WHERE phase = 1");
    write_report(&extras);
    assert_non_null(strstr(text, ">-0.8</span>"));
    assert_null(strstr(text, "groups of"));
    assert_true(reach_of_curve(text) > 100);
    /* patterns have different colours */
    assert_non_null(strstr(text, "<rect class=\"k0\""));
    assert_non_null(strstr(text, "<rect class=\"k1\""));
    /* also when the phase that they are like was cut off */
    change("UPDATE curve SET phase = phase + 10, returned = 1, resembles = 5;"
           "UPDATE phase SET id = id + 10");
    write_report(&extras);
    assert_non_null(strstr(text, "<rect class=\"k0\""));
    assert_null(strstr(text, "<rect class=\"k1\""));
}

/* Is the axis of the time in MPI from 0 % to this? Each class is as high as its value on the axis.
 */
static void assert_time_axis(const char *most, double share)
{
    const char *at = strstr(text, "Time in MPI</h2>"), *end = at ? strstr(at, "</section>") : NULL;
    char figure[60];
    double y;
    assert_non_null(end);
    char *section = strndup(at, (size_t)(end - at));
    assert_non_null(strstr(section, "<span class=\"y\" style=\"top:100.00%\">0 %</span>"));
    snprintf(figure, sizeof(figure), "<span class=\"y\" style=\"top:0.00%%\">%s</span>", most);
    assert_non_null(strstr(section, figure));
    at = strstr(section, "<path class=\"area k0\"");
    assert_non_null(at);
    at = strstr(at, " d=\"");
    assert_non_null(at);
    assert_int_equal(sscanf(at, " d=\"M0 174.0L0 %lf", &y), 1);
    assert_true(fabs(y - (174 - 174 * share)) < 0.1);
    free(section);
}

static void the_axis_of_the_time_in_mpi_is_as_high_as_the_time(void **state)
{
    (void)state;
    struct report_extras extras = {.mapping_none = "None."};
    write_report(&extras); /* one second of four in each window */
    assert_time_axis("25 %", 1);
    change("UPDATE totals SET send_ns = 12000000, wait_ns = 4000000, io_ns = 1000000");
    write_report(&extras); /* 0.425 % in all, 0.3 % of it in sends */
    assert_time_axis("0.5 %", 0.6);
    change("UPDATE totals SET send_ns = 1000000000, wait_ns = 9000000000");
    write_report(&extras); /* threads */
    assert_time_axis("100 %", 0.25);
}

static void a_chart_has_the_values_that_its_tooltips_show(void **state)
{
    (void)state;
    struct report_extras extras = {.mapping_none = "None."};
    write_report(&extras);
    assert_non_null(strstr(text, "data-name=\"send\" data-steps=\"0 25 %"));
    assert_non_null(strstr(text, "data-name=\"bytes a second\" data-steps=\"0 "));
    assert_non_null(strstr(text, "<title>rank 3 on "));
    /* each chart over time says when it begins and how long it is, and what its axes mean */
    assert_int_equal(count_of("data-begin-ms=\""), count_of("data-length-ms=\""));
    assert_int_equal(count_of("<svg "), count_of("<p class=\"what\">"));
    assert_int_equal(count_of("<svg "), count_of("<p class=\"when\">"));
    assert_int_equal(count_of("<svg "), count_of("role=\"img\""));
}

static void ranks_have_the_time_of_all_their_threads(void **state)
{
    (void)state;
    struct report_extras extras = {.mapping_none = "None."};
    change("DELETE FROM totals WHERE window > (SELECT min(window) FROM totals)");
    write_report(&extras); /* 3 x 0.4 s in a second */
    assert_non_null(strstr(text, "<td class=\"n\">120.0 %</td><td><div class=\"track\">"
                                 "<div class=\"bar\" style=\"width:100.0%\">"));
}

static void the_first_line_is_whether_the_job_is_well(void **state)
{
    (void)state;
    struct report_extras extras = {.mapping_none = "None."};
    change("UPDATE alert SET state = 'firing', title = 'it is <slow>', culprit = 'node1', "
           "progress = 0.5, lost_ns = 2e9");
    write_report(&extras);
    assert_non_null(strstr(text, "<p class=\"state bad\">Not well since "));
    assert_non_null(strstr(text, ": it is &lt;slow&gt;. It cost 2.00 s of the job's time."));
    change("UPDATE alert SET state = 'resolved'");
    write_report(&extras);
    assert_non_null(strstr(text, "<p class=\"state was\">Well at the end, but not from "));
    change("INSERT INTO alert(id, kind, state, severity, since_ns, updated_ns, fired_ns, title, "
           "causes) SELECT 90, kind, 'resolved', severity, since_ns + 1, updated_ns, 0, 'brief', "
           "causes FROM alert");
    write_report(&extras);
    assert_null(strstr(text, "brief")); /* it was over before it fired */
    assert_null(strstr(text, "One of 2 alerts."));
    change("UPDATE alert SET severity = 'info'");
    write_report(&extras);
    assert_non_null(strstr(text, "<p class=\"state\">Well: no alert of a fault "));
    change("DELETE FROM alert");
    write_report(&extras);
    assert_non_null(
        strstr(text, "<p class=\"state\">Well: no alert from the begin to the end.</p>"));
}

static void a_job_that_ends_while_it_is_slow_is_not_well_at_the_end(void **state)
{
    (void)state;
    struct report_extras extras = {.mapping_none = "None."};
    change("UPDATE alert SET state = 'resolved', title = 'it is slow', text = 'over: the job has "
           "ended; since 10:00:00 it is slow'");
    write_report(&extras);
    assert_non_null(strstr(text,
                           "<p class=\"state bad\">Not well from 1.00 s after the begin to the "
                           "end: it is slow."));
    change("UPDATE alert SET text = 'over: ranks move again', updated_ns = "
           "(SELECT max(start_ns + length_ns) FROM totals)");
    write_report(&extras);
    assert_non_null(strstr(text, "Well at the end, but not from "));
}

static void a_long_hang_is_worse_than_a_short_loss(void **state)
{
    (void)state;
    struct report_extras extras = {.mapping_none = "None."};
    change("UPDATE alert SET state = 'resolved', lost_ns = 5e8;"
           "INSERT INTO alert(id, kind, state, severity, since_ns, updated_ns, fired_ns, title, "
           "causes, lost_ns) SELECT 9, 'hang', state, severity, since_ns, since_ns + 900000000, "
           "fired_ns, 'they hang', causes, 0 FROM alert WHERE id = 1");
    write_report(&extras);
    assert_non_null(strstr(text, "for 900 ms: they hang. One of 2 alerts."));
}

static void one_rank_of_an_alert_is_a_rank(void **state)
{
    (void)state;
    struct report_extras extras = {.mapping_none = "None."};
    change("UPDATE alert SET ranks = '3', victims = '2'");
    write_report(&extras);
    assert_non_null(strstr(text, "<dt>where</dt><dd>rank 3"));
    assert_non_null(strstr(text, "; delays rank 2"));
}

/* Ranks are there for different times. */
static void ranks_are_in_the_order_of_the_shares_that_are_shown(void **state)
{
    (void)state;
    struct report_extras extras = {.mapping_none = "None."};
    write_report(&extras);
    const char *ranks = strstr(text, "<h2>Ranks</h2>");
    assert_non_null(ranks);
    assert_true(strstr(ranks, "<td>rank 2</td>") < strstr(ranks, "<td>rank 3</td>"));
}

/* A replay, whose tables the results may be, ends the job with the recording. */
static void a_report_of_a_replay_says_how_the_recording_ends(void **state)
{
    (void)state;
    struct report_extras extras = {.mapping_none = "None.", .state = "running"};
    change("UPDATE job SET state = 'ended'; DELETE FROM alert");
    write_report(&extras);
    assert_non_null(strstr(text, "running when the recording ends"));
    assert_non_null(strstr(text, "Well: no alert until the recording ends."));
    extras.state = "";
    write_report(&extras);
    assert_non_null(strstr(text, "Well: no alert from the begin to the end."));
}

static void an_alert_that_is_not_over_lasts_to_the_end(void **state)
{
    (void)state;
    struct report_extras extras = {.mapping_none = "None."};
    change("UPDATE alert SET state = 'firing', updated_ns = since_ns");
    write_report(&extras);
    assert_non_null(strstr(text, "<dt>since</dt><dd>1.00 s after the begin, for 2.00 s, not over "
                                 "when the recording ends"));
}

/* In a further part of a recording, or one that was attached. */
static void an_alert_from_before_the_recording_is_dated_before_it(void **state)
{
    (void)state;
    struct report_extras extras = {.mapping_none = "None."};
    change("UPDATE alert SET onset_ns = 0, since_ns = (SELECT min(start_ns) FROM totals) -"
           " 5000000000, updated_ns = (SELECT min(start_ns) FROM totals) - 3000000000");
    write_report(&extras);
    assert_non_null(strstr(text, "<dt>since</dt><dd>5.00 s before the begin, for 2.00 s, "));
    assert_null(strstr(text, "<a class=\"mark\""));
}

static void of_too_many_alerts_those_that_matter_are_told(void **state)
{
    (void)state;
    struct report_extras extras = {.mapping_none = "None."};
    change("WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 299)"
           " INSERT INTO alert(id, kind, state, severity, since_ns, updated_ns, fired_ns, title,"
           " causes, lost_ns) SELECT i, kind, iif(i = 290, 'firing', 'resolved'), severity,"
           " since_ns, updated_ns, fired_ns, iif(i = 290, 'still bad', 'brief'), causes, 0"
           " FROM n, alert WHERE id = 1");
    write_report(&extras);
    assert_non_null(strstr(text, "<p class=\"state bad\">Not well since "));
    assert_non_null(strstr(text, ": still bad."));
    assert_non_null(strstr(text, "One of 291 alerts."));
    assert_non_null(strstr(text, "91 further ones are in the recording."));
    const char *first = strstr(text, "id=\"alert-1\""), *open = strstr(text, "id=\"alert-290\"");
    assert_true(first != NULL && open > first);
    assert_non_null(strstr(open, "it is &lt;slow&gt;")); /* its own cause */
}

static void charts_mark_alerts_where_they_began(void **state)
{
    (void)state;
    struct report_extras extras = {.mapping_none = "None."};
    change(
        "UPDATE alert SET title = '\"><script>x</script>', onset_ns = (SELECT min(start_ns) FROM "
        "totals), updated_ns = (SELECT max(start_ns + length_ns) FROM totals)");
    write_report(&extras); /* the only script is the report's own */
    assert_non_null(strstr(text, "<a class=\"mark\" style=\"left:0.00%\" href=\"#alert-1\""));
    assert_non_null(strstr(text, " id=\"alert-1\">"));
    assert_non_null(strstr(text, "<dt>since</dt><dd>the begin, for "));
    assert_non_null(strstr(
        text, "height=\"174\"><title>alert 1: &quot;&gt;&lt;script&gt;x&lt;/script&gt;</title>"));
}

static void alerts_have_the_numbers_by_which_captures_and_the_window_name_them(void **state)
{
    (void)state;
    struct report_extras extras = {.mapping_none = "None."};
    change(CAPTURED "UPDATE alert SET id = 3; UPDATE captures SET reason = 'alert 3: it is slow'");
    write_report(&extras);
    assert_non_null(strstr(text, "<td>alert 3: it is slow</td>"));
    assert_non_null(strstr(text, " id=\"alert-3\"><h3>Alert 3: "));
    assert_non_null(strstr(text, "href=\"#alert-3\" aria-label=\"alert 3\">3</a>"));
    assert_non_null(strstr(text, "<title>alert 3: "));
}

static void a_report_of_nothing_but_messages_is_a_page(void **state)
{
    (void)state;
    struct report_extras extras = {.mapping_none = "None."};
    change("DELETE FROM totals; DELETE FROM phase; DELETE FROM curve; DELETE FROM alert; DELETE "
           "FROM job");
    write_report(&extras);
    assert_non_null(strstr(text, "MPI_Send"));
    assert_null(strstr(text, "CommGram"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, exported_set_up, exported_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_report_lists_captures_and_the_calls_that_ranks_were_in),
        TEST(a_report_says_what_was_wrong_and_what_to_do),
        TEST(a_report_shows_whatever_stands_in_a_file_as_text),
        TEST(a_report_names_who_loads_hot_links_most),
        TEST(a_report_says_that_phases_are_of_groups_of_ranks),
        TEST(a_curve_that_drops_is_seen_to),
        TEST(causes_that_are_none_are_left_out),
        TEST(the_command_that_replays_a_file_can_be_copied_whatever_its_name),
        TEST(a_report_without_the_row_of_the_job_has_no_state),
        TEST(the_duration_is_that_of_the_rank_that_was_there_for_longest),
        TEST(a_phase_of_one_community_is_called_that),
        TEST(shares_of_a_rank_are_of_the_time_in_which_it_was_there),
        TEST(shares_of_a_rank_that_has_ended_are_of_the_time_before),
        TEST(the_axis_of_the_time_in_mpi_is_as_high_as_the_time),
        TEST(a_chart_has_the_values_that_its_tooltips_show),
        TEST(ranks_have_the_time_of_all_their_threads),
        TEST(the_first_line_is_whether_the_job_is_well),
        TEST(a_job_that_ends_while_it_is_slow_is_not_well_at_the_end),
        TEST(a_long_hang_is_worse_than_a_short_loss),
        TEST(one_rank_of_an_alert_is_a_rank),
        TEST(ranks_are_in_the_order_of_the_shares_that_are_shown),
        TEST(a_report_of_a_replay_says_how_the_recording_ends),
        TEST(an_alert_that_is_not_over_lasts_to_the_end),
        TEST(an_alert_from_before_the_recording_is_dated_before_it),
        TEST(of_too_many_alerts_those_that_matter_are_told),
        TEST(charts_mark_alerts_where_they_began),
        TEST(alerts_have_the_numbers_by_which_captures_and_the_window_name_them),
        TEST(a_report_of_nothing_but_messages_is_a_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

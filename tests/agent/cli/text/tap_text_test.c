#include "agent/cli/text/text.h"

#include "proto/quantity.h"
#include "proto/utf8.h"
#include "tests/proto/wire_random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct network_names no_names;

struct out {
    FILE *file;
    char *text;
    size_t length;
};

static void open_out(struct out *out)
{
    *out = (struct out){0};
    out->file = open_memstream(&out->text, &out->length);
    assert_non_null(out->file);
}

static void assert_printable(const struct out *out)
{
    assert_int_equal(utf8_prefix(out->text, out->length), out->length);
    for (size_t i = 0; i < out->length; i++)
        assert_true((unsigned char)out->text[i] >= 0x20 || out->text[i] == '\n');
}

static void whatever_is_published_prints_without_steering_the_terminal(void **state)
{
    (void)state;
    uint64_t seed = 5;
    const struct wire_table *table;
    for (size_t t = 0; (table = wire_table_at(t)); t++) {
        for (int round = 0; round < 100; round++) {
            void *fields = random_message(table, &seed, 5);
            struct wire_message message = {.type = table->type};
            memcpy(&message.hello, fields, table->size);
            struct out out;
            open_out(&out);
            tap_text(out.file, &message, round & 1, &no_names);
            if (table->type == WIRE_TYPE_STATUS)
                status_text_daemon(out.file, "ipc:///x", &message.status);
            if (table->type == WIRE_TYPE_JOB)
                status_text_job(out.file, &message.job, NULL, round & 1);
            if (table->type == WIRE_TYPE_LINKS)
                status_text_links(out.file, &message.links);
            if (table->type == WIRE_TYPE_NODES)
                status_text_nodes(out.file, &message.nodes);
            fclose(out.file);
            assert_printable(&out);
            if (wire_topic(table->type))
                assert_int_equal(out.text[out.length - 1], '\n');
            free(out.text);
            random_message_free(table, fields);
        }
    }
}

static void size_classes_of_a_pair_are_one_line(void **state)
{
    (void)state;
    struct wire_comm_row comms[] = {{.name = "MPI_COMM_WORLD"}};
    struct wire_region_row regions[] = {{.name = ""}};
    struct wire_pair_row rows[] = {
        {.source = 3, .destination = 4, .size_class = 8, .messages = 10, .bytes = 80},
        {.source = 3, .destination = 4, .size_class = 16, .messages = 5, .bytes = 80},
        {.source = 3, .destination = -1, .size_class = 0, .messages = 7, .bytes = 0}};
    struct wire_message message = {.type = WIRE_TYPE_PAIR_WINDOW,
                                   .pair_window = {.job = "j",
                                                   .window = 9,
                                                   .windows = 1,
                                                   .comms = comms,
                                                   .comms_count = 1,
                                                   .regions = regions,
                                                   .regions_count = 1,
                                                   .pairs = rows,
                                                   .pairs_count = 3}};
    struct out out;
    open_out(&out);
    tap_text(out.file, &message, 0, &no_names);
    fclose(out.file);
    assert_non_null(strstr(out.text, " window 9\n"));
    assert_non_null(strstr(
        out.text,
        "        3            4        15      160 B        8 B       16 B  MPI_COMM_WORLD\n"));
    assert_non_null(strstr(out.text, "        3            *         7        0 B"));
    free(out.text);
}

static void an_alert_shows_its_evidence(void **state)
{
    (void)state;
    struct wire_cause_row causes[] = {{.name = "network", .share = 0.83, .text = "grew by 130 us"},
                                      {.name = "late-sender", .share = 0.17, .text = "rank 2"}};
    struct wire_message message = {.type = WIRE_TYPE_ALERT,
                                   .alert = {.job = "j",
                                             .id = 7,
                                             .kind = "latency",
                                             .state = "firing",
                                             .title = "slow",
                                             .text = "",
                                             .rank = -1,
                                             .host = "",
                                             .region = 2,
                                             .ranks = "4-6",
                                             .ratio = 2.43,
                                             .slope = 0.2,
                                             .locality = "inter-node",
                                             .sizes = "1 to 4 KiB",
                                             .causes = causes,
                                             .causes_count = 2,
                                             .advice = "Look at node2.",
                                             .error_ns = 12000,
                                             .nodes = "node2,node3",
                                             .culprit = "node",
                                             .culprits = "node2",
                                             .alternatives = "link node2-",
                                             .victims = "7-9",
                                             .ratio_worst = 31,
                                             .progress = 0.54,
                                             .lost_ns = 6000000000}};
    struct out out;
    open_out(&out);
    tap_text(out.file, &message, 0, &no_names);
    fclose(out.file);
    assert_non_null(strstr(out.text, "#7 since - latency: slow\n"
                                     "  node      node2\n"
                                     "  or        link node2-\n"
                                     "  latency   2.4x what it was, at worst 31x, +20 % a minute, "
                                     "clocks within 12.0 µs\n"
                                     "  job makes 54 % of its progress, 6.00 s lost\n"
                                     "  region    2\n"
                                     "  ranks     4-6\n"
                                     "  delays    7-9\n"
                                     "  nodes     node2,node3\n"
                                     "  messages  inter-node\n"
                                     "  sizes     1 to 4 KiB\n"
                                     "  cause     network         83 %  grew by 130 us\n"
                                     "            late-sender     17 %  rank 2\n"
                                     "  advice    Look at node2.\n"));
    free(out.text);
}

static void latency_of_each_scope_is_a_line(void **state)
{
    (void)state;
    struct wire_series_row rows[] = {{.scope = SERIES_JOB,
                                      .messages = 1000,
                                      .delayed = 250,
                                      .transfer_ns = 5000000,
                                      .reference = 1.5,
                                      .typical = 1.25,
                                      .recent = 1,
                                      .slope = 0.25},
                                     {.scope = SERIES_INTER},
                                     {.scope = SERIES_REGION,
                                      .id = 2,
                                      .messages = 100,
                                      .transfer_ns = 8400000,
                                      .error_ns = 15000000,
                                      .reference = 2,
                                      .typical = 1.5,
                                      .recent = 1},
                                     {.scope = SERIES_REGION,
                                      .id = 3,
                                      .messages = 10,
                                      .transfer_ns = 100000,
                                      .reference = 2,
                                      .recent = 1,
                                      .trend = TREND_GROWTH,
                                      .trend_since = 40,
                                      .slope = 0.25}};
    struct wire_message message = {.type = WIRE_TYPE_LATENCIES,
                                   .latencies = {.job = "j",
                                                 .window = 44,
                                                 .series = rows,
                                                 .series_count = 4,
                                                 .matched = 1010,
                                                 .unmatched = 2}};
    struct out out;
    open_out(&out);
    tap_text(out.file, &message, 0, &no_names);
    fclose(out.file);
    assert_non_null(strstr(out.text, "window 44, 1010 messages matched, 2 unmatched\n"));
    assert_non_null(strstr(out.text, "\n  job                 1.00 k   25.0 %             5.00 µs  "
                                     "   1.50x     1.25x     1.00x\n"));
    assert_non_null(strstr(out.text,
                           "\n  region 2               100    0.0 %    84.0 µs ± 150 µs     2.00x"
                           "     1.50x     1.00x\n"));
    assert_non_null(strstr(out.text,
                           "\n  region 3                10    0.0 %             10.0 µs     "
                           "2.00x        -      1.00x  growing since window 40, "
                           "+25 % a minute\n"));
    assert_null(strstr(out.text, "inter-node"));
    free(out.text);
}

static void regions_list_their_ranks(void **state)
{
    (void)state;
    struct wire_latency_region_row regions[] = {{.id = 1, .ranks = 4, .since = 3},
                                                {.id = 4, .ranks = 2, .since = 9}};
    struct wire_region_member_row members[] = {{0, 1}, {1, 1}, {2, 4}, {3, 1}, {4, 1}, {7, 4}};
    struct wire_message message = {.type = WIRE_TYPE_REGIONS,
                                   .regions = {.job = "j",
                                               .window = 9,
                                               .regions = regions,
                                               .regions_count = 2,
                                               .members = members,
                                               .members_count = 6}};
    struct out out;
    open_out(&out);
    tap_text(out.file, &message, 0, &no_names);
    fclose(out.file);
    assert_non_null(strstr(out.text, "2 from window 9 on\n"
                                     "  region 1 since window 3, 4 ranks: 0-1,3-4\n"
                                     "  region 4 since window 9, 2 ranks: 2,7\n"));
    assert_null(strstr(out.text, "group"));
    free(out.text);
}

static void of_a_job_by_groups_it_is_said_what_a_rank_is(void **state)
{
    (void)state;
    struct network_names names = {0};
    struct wire_rank_row row = {.wait_ns = 8000, .ranks = 16, .in_call_peer = -1};
    struct wire_message job = {.type = WIRE_TYPE_JOB, .job = {.world = 4096, .group = 16}};
    struct wire_message message = {
        .type = WIRE_TYPE_RANK_WINDOW,
        .rank_window = {.job = "j", .length_ns = 1000, .ranks = &row, .ranks_count = 1}};
    struct out out;
    open_out(&out);
    network_names_take(&names, &job);
    tap_text(out.file, &message, 0, &names);
    fclose(out.file);
    assert_non_null(strstr(out.text, " 50.0 % "));
    assert_non_null(strstr(out.text, "a rank in this table is a group: 0 stands for ranks 0-15\n"));
    free(out.text);
}

static void phases_and_points_of_the_curve_are_lines(void **state)
{
    (void)state;
    struct wire_phase_row phases[] = {{.id = 3,
                                       .begin_ns = 1000000000,
                                       .end_ns = 3500000000,
                                       .messages = 1000,
                                       .bytes = 2048,
                                       .pairs = 12,
                                       .ranks = 8,
                                       .communities = 4,
                                       .modularity = 0.75},
                                      {.id = 4, .open = 1, .modularity = (double)NAN}};
    struct wire_curve_point_row points[] = {
        {.phase = 3, .height = -0.5, .difference = 0.5, .returned = 1, .resembles = 1},
        {.phase = 4, .provisional = 1, .resembles = 2}};
    struct wire_message message = {.type = WIRE_TYPE_PHASES,
                                   .phases = {.job = "j",
                                              .window = 9,
                                              .phases = phases,
                                              .phases_count = 2,
                                              .gap_ns = 1000000000,
                                              .modelled = 1}};
    struct out out;
    open_out(&out);
    tap_text(out.file, &message, 0, &no_names);
    message.type = WIRE_TYPE_CURVE;
    message.curve =
        (struct wire_curve){.job = "j", .window = 9, .points = points, .points_count = 2};
    tap_text(out.file, &message, 0, &no_names);
    fclose(out.file);
    assert_non_null(strstr(out.text, "window 9, ended by pauses of 1.00 s, with collectives\n"));
    assert_non_null(strstr(out.text, "2.50 s    1.00 k   2.00 KiB         0        12       8"
                                     "            4       0.750         0\n"));
    assert_non_null(strstr(out.text, "           -         0  open\n"));
    assert_non_null(strstr(out.text, "-0.5000      0.5000            0  that of phase 1\n"));
    assert_non_null(strstr(out.text, "  new, most like phase 2, still open\n"));
    free(out.text);
}

static void uncovered_calls_are_named_when_used_and_counted_otherwise(void **state)
{
    (void)state;
    struct wire_uncovered_row rows[] = {{.name = "MPI_Used", .used = 1}, {.name = "MPI_Idle"}};
    struct wire_job job = {.job = "j",
                           .state = "running",
                           .app = "a",
                           .command = "",
                           .mpi = "m",
                           .recording = "",
                           .uncovered = rows,
                           .uncovered_count = 2};
    struct out out;
    open_out(&out);
    status_text_job(out.file, &job, NULL, 0);
    fclose(out.file);
    assert_non_null(strstr(out.text, "  uncovered  MPI_Used (and 1 not used: -v)\n"));
    free(out.text);
    open_out(&out);
    status_text_job(out.file, &job, NULL, 1);
    fclose(out.file);
    assert_non_null(strstr(out.text, "  uncovered  MPI_Used (used), MPI_Idle\n"));
    assert_null(strstr(out.text, "  windows    "));
    free(out.text);
    job.span = 8;
    job.window_ns = 500000000;
    open_out(&out);
    status_text_job(out.file, &job, NULL, 1);
    fclose(out.file);
    assert_non_null(strstr(out.text,
                           "  windows    of 500 ms hold less than two iterations: growth is "
                           "judged by 8 of them, more surely with windows of 4.00 s\n"));
    free(out.text);
}

static void cells_count_characters_not_bytes(void **state)
{
    (void)state;
    struct out out;
    open_out(&out);
    tap_cell(out.file, 6, "µs");
    tap_cell(out.file, -6, "µs");
    tap_cell(out.file, 2, "longer");
    fclose(out.file);
    assert_string_equal(out.text, "µs        µslonger");
    free(out.text);
}

static void quantities_keep_three_digits(void **state)
{
    (void)state;
    assert_string_equal(quantity_count(0).text, "0");
    assert_string_equal(quantity_count(999).text, "999");
    assert_string_equal(quantity_count(1000).text, "1.00 k");
    assert_string_equal(quantity_count(99950).text, "100 k");
    assert_string_equal(quantity_count(999900).text, "1.00 M");
    assert_string_equal(quantity_count(1.8446744073709552e19).text, "18.4 E");
    assert_string_equal(quantity_grouped(0).text, "0");
    assert_string_equal(quantity_grouped(1234567).text, "1,234,567");
    assert_string_equal(quantity_grouped(UINT64_MAX).text, "18,446,744,073,709,551,615");
    assert_string_equal(quantity_things(1, "node").text, "1 node");
    assert_string_equal(quantity_things(12345, "node").text, "12345 nodes");
    assert_string_equal(quantity_bytes(1023).text, "1023 B");
    assert_string_equal(quantity_bytes(1024).text, "1.00 KiB");
    assert_string_equal(quantity_bytes(1536 * 1024).text, "1.50 MiB");
    assert_string_equal(quantity_duration(0).text, "0 ns");
    assert_string_equal(quantity_duration(-1500).text, "-1.50 µs");
    assert_string_equal(quantity_duration(45e9).text, "45.0 s");
    assert_string_equal(quantity_duration(123e9).text, "2 min 3 s");
    assert_string_equal(quantity_measured(84e3, 150e3).text, "84.0 µs ± 150 µs");
    assert_string_equal(quantity_measured(84e3, 0).text, "84.0 µs");
    assert_string_equal(quantity_duration(7260e9).text, "2 h 1 min");
    assert_string_equal(quantity_duration(180000e9).text, "2 d 2 h");
    assert_string_equal(quantity_share(1, 8).text, "12.5 %");
    assert_string_equal(quantity_share(1, 0).text, "-");
    assert_string_equal(quantity_matched(0, 0).text, "-");
    assert_string_equal(quantity_matched(368016, 0).text, "100 %");
    assert_string_equal(quantity_matched(4385, 363631).text, "1.19 %");
    assert_string_equal(quantity_matched(UINT64_MAX / 2, 1).text, "99.99 %");
    assert_string_equal(quantity_matched(0, 1).text, "none");
    assert_string_equal(quantity_ratio(1.26).text, "1.3x");
    assert_string_equal(quantity_ratio(9.96).text, "10x");
    assert_string_equal(quantity_ratio(1e300).text, ">9999x");
    assert_string_equal(quantity_ratio(NAN).text, "-");
    assert_string_equal(quantity_clock(0).text, "-");
    assert_string_equal(quantity_clock(1700000000125000000).text + 5,
                        ":20.125"); /* in any whole-minute zone */
}

static void bytes_recorded_are_those_of_open_recordings(void **state)
{
    (void)state;
    const struct wire_status status = {.version = "1",
                                       .host = "h",
                                       .rejected_last = "",
                                       .recorder_error = "",
                                       .rules = "",
                                       .sink_error = "",
                                       .topology = "",
                                       .topology_fault = "",
                                       .recorded_bytes = 2048};
    struct out out;
    open_out(&out);
    status_text_daemon(out.file, "ipc:///x", &status);
    fclose(out.file);
    assert_non_null(strstr(out.text, "\n  recordings 2.00 KiB in those being written\n"));
    free(out.text);
}

static void control_characters_of_any_length_do_not_reach_the_terminal(void **state)
{
    (void)state;
    struct out out;
    open_out(&out);
    tap_print(out.file, "%s|",
              "a\x1b[2J\x7f\xc2\x9b"
              "31m\xe2\x80\xae"
              "b\xff"
              "\xc3\xa4");
    fclose(out.file);
    assert_string_equal(out.text, "a?[2J??31m?b?\xc3\xa4|");
    free(out.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_is_published_prints_without_steering_the_terminal),
        cmocka_unit_test(size_classes_of_a_pair_are_one_line),
        cmocka_unit_test(an_alert_shows_its_evidence),
        cmocka_unit_test(latency_of_each_scope_is_a_line),
        cmocka_unit_test(regions_list_their_ranks),
        cmocka_unit_test(of_a_job_by_groups_it_is_said_what_a_rank_is),
        cmocka_unit_test(phases_and_points_of_the_curve_are_lines),
        cmocka_unit_test(uncovered_calls_are_named_when_used_and_counted_otherwise),
        cmocka_unit_test(cells_count_characters_not_bytes),
        cmocka_unit_test(bytes_recorded_are_those_of_open_recordings),
        cmocka_unit_test(control_characters_of_any_length_do_not_reach_the_terminal),
        cmocka_unit_test(quantities_keep_three_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

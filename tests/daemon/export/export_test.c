/* Recordings as csv, json, dot and traces. */
#include "holter/error.h"
#include "proto/utf8.h"
#include "tests/daemon/export/exported.h"
#include "tests/daemon/export/recorded.h"
#include "tests/daemon/storage/recording_writer.h"

#include <errno.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- content and tables -------------------------------------------------------- */

static void content_is_summed_over_hosts_and_windows(void **state)
{
    (void)state;
    assert_string_equal(content.job, "job.0");
    assert_int_equal(content.rank_count, 4);
    assert_int_equal(content.host_count, 2);
    assert_string_equal(content.hosts[content.ranks[3].host], "beta");
    assert_int_equal(content.last_window - content.first_window, 2);
    assert_int_equal(content.pair_count, 4);
    for (uint64_t r = 0; r < 4; r++) {
        assert_int_equal(content.pairs[r].source, r);
        assert_int_equal(content.pairs[r].destination, (r + 1) % 4);
        assert_int_equal(content.pairs[r].messages, 30 * (r + 1));
        assert_int_equal(content.pairs[r].bytes, 3000 * (r + 1));
        assert_int_equal(content.calls[r].rank, r);
        assert_int_equal(content.calls[r].sums.calls, 30 * (r + 1));
        assert_int_equal(content.calls[r].sums.time_ns, 300000000 * (r + 1));
        assert_int_equal(content.calls[r].sums.longest_ns, 5002);
        assert_int_equal(content.ranks[r].sums.sent, 30 * (r + 1));
        assert_int_equal(content.ranks[r].sums.received, 30 * ((r + 3) % 4 + 1));
    }
}

static void messages_between_hosts_are_timed_within_an_error_and_others_without(void **state)
{
    (void)state;
    for (uint64_t r = 0; r < 4; r++) {
        const struct content_pair *pair = &content.pairs[r];
        const int between = r % 2 == 1;
        assert_int_equal(pair->matched, between ? 3 : 15 * (r + 1));
        assert_int_equal(pair->transfer_ns, between ? 3 * 10000 : 30000 * (r + 1));
        assert_int_equal(pair->error_ns, between ? 3 * 200 : 0);
    }
}

static void csv_has_names_and_quotes_what_would_break_a_line(void **state)
{
    (void)state;
    FILE *out = begin();
    assert_int_equal(export_csv(out, &source, "alert"), 0);
    fclose(out);
    assert_int_equal(strncmp(text, "id,kind,state,", 14), 0);
    assert_non_null(
        strstr(text, ",\"latency of \"\"0, 1\"\"\n<script>alert(1)</script> & more\","));
    out = begin();
    assert_int_equal(export_csv(out, &source, "pairs"), 0);
    fclose(out);
    assert_string_equal(text, "source,destination,messages,bytes,matched,transfer_ns,error_ns\r\n"
                              "0,1,30,3000,15,30000,0\r\n"
                              "1,2,60,6000,3,30000,600\r\n"
                              "2,3,90,9000,45,90000,0\r\n"
                              "3,0,120,12000,3,30000,600\r\n");
}

static void csv_is_text_whatever_a_file_holds(void **state)
{
    (void)state;
    change("UPDATE alert SET title = CAST(x'61ff62c32cc3a9' AS TEXT), rule = CAST(x'80' AS TEXT)");
    FILE *out = begin();
    assert_int_equal(export_csv(out, &source, "alert"), 0);
    fclose(out);
    assert_int_equal(utf8_prefix(text, length), length);
    assert_non_null(strstr(text, ",\"a\xef\xbf\xbd"
                                 "b\xef\xbf\xbd,\xc3\xa9\","));
    assert_non_null(strstr(text, ",\xef\xbf\xbd,"));
}

static void csv_of_a_table_without_rows_has_its_columns(void **state)
{
    (void)state;
    FILE *out = begin();
    assert_int_equal(export_csv(out, &source, "link_route"), 0);
    fclose(out);
    assert_string_equal(text, "window,link,source,destination,messages,bytes,length\r\n");
}

static void csv_of_graphs_has_its_columns_without_a_capture(void **state)
{
    (void)state;
    static const char *const headers[] = {
        "capture,rank,host,messages,balance,lateness_ns,caused_ns,latency\r\n",
        "capture,node,rank,layer,step,last_step,receives,received_bytes,sends,sent_bytes,begin_ns,"
        "end_ns,lateness_ns,caused_ns,latency\r\n",
        "capture,edge,from_node,to_node,source,destination,tag,bytes,sent_ns,received_ns,"
        "transfer_ns,latency,send_step,receive_step,lateness_ns\r\n",
        "capture,position,rank,step,event,peer,tag,bytes,begin_ns,end_ns,lateness_ns,"
        "caused_ns,call\r\n",
        "capture,collective,call,comm,rank,awaited,from_node,to_node,step,entered_ns,left_ns,"
        "lateness_ns,caused_ns\r\n"};
    for (size_t i = 0; export_graphs[i] != NULL; i++) {
        FILE *out = begin();
        assert_int_equal(export_csv(out, &source, export_graphs[i]), 0);
        fclose(out);
        assert_string_equal(text, headers[i]);
    }
}

static void a_table_that_there_is_not_is_refused(void **state)
{
    (void)state;
    FILE *out = begin();
    assert_int_equal(export_csv(out, &source, "sqlite_master"), -HOLTER_EUSAGE);
    assert_int_equal(export_csv(out, &source, "job; DROP TABLE job"), -HOLTER_EUSAGE);
    fclose(out);
}

static void json_holds_every_table(void **state)
{
    (void)state;
    FILE *out = begin();
    assert_int_equal(export_json(out, &source, NULL), 0);
    fclose(out);
    assert_json("$.tables.job[0].app", "/opt/sim");
    assert_json("$.tables.alert[0].title", RECORDED_TITLE);
    assert_json("$.tables.totals[2].sent", "100");
    assert_json("$.tables.calls[3].call", "MPI_Send");
    assert_json("$.tables.ranks[3].host", "beta");
    for (size_t i = 0; tables_names[i] != NULL; i++) {
        char at[80];
        snprintf(at, sizeof(at), "\"%s\":[", tables_names[i]);
        assert_int_equal(count_of(at), 1);
    }
}

static void tables_say_that_a_recording_is_a_part_and_where_it_ends(void **state)
{
    (void)state;
    change("INSERT INTO part(one, part, removed_ns, attached_ns, missed) VALUES(1, 3, 40, 0, 0);"
           "INSERT INTO stopped(one, at_ns, why) VALUES(1, 50, 'disk full')");
    FILE *out = begin();
    assert_int_equal(export_csv(out, &source, "part"), 0);
    fclose(out);
    assert_string_equal(text, "one,part,removed_ns,attached_ns,missed\r\n1,3,40,0,0\r\n");
    out = begin();
    assert_int_equal(export_json(out, &source, NULL), 0);
    fclose(out);
    assert_json("$.tables.part[0].removed_ns", "40");
    assert_json("$.tables.stopped[0].why", "disk full");
}

/* ---- dot, traces, archives -------------------------------------------------------- */

static void dot_has_the_edges_of_most_bytes(void **state)
{
    (void)state;
    FILE *out = begin();
    assert_int_equal(export_dot(out, &source, EXPORT_RANKS, 3), 0);
    fclose(out);
    assert_int_equal(count_of(" -> "), 3);
    assert_non_null(strstr(text, "r3 -> r0 [penwidth=8.00, messages=120, bytes=12000"));
    assert_null(strstr(text, "r0 -> r1"));
    assert_non_null(strstr(text, "// 1 further edges"));
    out = begin();
    assert_int_equal(export_dot(out, &source, EXPORT_HOSTS, 100), 0);
    fclose(out);
    assert_non_null(strstr(text, "h0 [label=\"alpha\"]"));
    assert_non_null(strstr(text, "h0 -> h0 [penwidth="));
    assert_non_null(strstr(text, "messages=60, bytes=6000")); /* rank 1 to 2: alpha to beta */
    assert_int_equal(count_of(" -> "), 4);
}

static void dot_of_regions_has_ranks_where_they_were_last(void **state)
{
    (void)state;
    change("INSERT INTO region_member(rank, since, region) VALUES "
           "(0,1,7),(1,1,7),(2,1,9),(3,1,7),(3,2,9)");
    FILE *out = begin();
    assert_int_equal(export_dot(out, &source, EXPORT_REGIONS, 100), 0);
    fclose(out);
    assert_non_null(strstr(text, "g7 -> g9 [penwidth=5.66, messages=60, bytes=6000"));
    assert_non_null(strstr(text, "g9 -> g7 [penwidth="));
    assert_non_null(strstr(text, "messages=120, bytes=12000")); /* rank 3 to 0 */
}

static void dot_of_regions_knows_all_ranks_of_a_group(void **state)
{
    (void)state;
    change("UPDATE job SET rank_group = 2;"
           "INSERT INTO region_member(rank, since, region) VALUES (0,1,7),(2,1,9)");
    FILE *out = begin();
    assert_int_equal(export_dot(out, &source, EXPORT_REGIONS, 100), 0);
    fclose(out);
    assert_non_null(strstr(text, "g7 -> g9 [penwidth=5.66, messages=60, bytes=6000"));
    assert_non_null(strstr(text, "messages=120, bytes=12000")); /* rank 3 to 0 */
}

static void dot_counts_messages_that_are_on_no_edge(void **state)
{
    (void)state;
    change("INSERT INTO region_member(rank, since, region) VALUES "
           "(0,1,7),(1,1,7),(2,1,9),(3,1,7),(3,2,0)");
    FILE *out = begin();
    assert_int_equal(export_dot(out, &source, EXPORT_REGIONS, 100), 0);
    fclose(out);
    assert_int_equal(count_of(" -> "), 2);
    assert_non_null(strstr(text, "  // 210 messages, 21000 bytes from or to ranks without"));
    content.pairs[0].destination = -1; /* several, of rank 0 */
    out = begin();
    assert_int_equal(export_dot(out, &source, EXPORT_RANKS, 100), 0);
    fclose(out);
    assert_int_equal(count_of(" -> "), 3);
    assert_non_null(strstr(text, "  // 30 messages, 3000 bytes from or to ranks without"));
}

/* Write the trace of the recording into text. @return whether ranks had to be left out */
static int write_trace(int ranks)
{
    char why[200];
    int left_out = 1;
    FILE *out = begin();
    assert_int_equal(export_perfetto(out, &source, ranks, &left_out, why, sizeof(why)), 0);
    fclose(out);
    return left_out;
}

static void a_trace_has_phases_alerts_and_a_counter_of_each_rank_and_window(void **state)
{
    (void)state;
    assert_int_equal(write_trace(1), 0);
    assert_json("$.otherData.begin_ns", "1700000000000000000");
    assert_int_equal(count_of("\"ph\":\"X\""), 3);
    assert_int_equal(count_of("\"name\":\"rank 2, % in MPI\""), 3);
    assert_non_null(
        strstr(text, "\"name\":\"phase 2, like 1\",\"ts\":1000001.000,\"dur\":999999.000"));
    assert_non_null(
        strstr(text, "\"ts\":1000000.000,\"dur\":1000000.000,\"args\":{\"state\":\"resolved\""));
    write_trace(0);
    assert_json("$.traceEvents[0].name", "process_name");
    assert_int_equal(count_of("rank 2"), 0);
}

static void alerts_of_a_trace_that_overlap_have_tracks_of_their_own(void **state)
{
    (void)state;
    change("DELETE FROM alert; INSERT INTO alert(id, title, onset_ns, since_ns, updated_ns) VALUES"
           "(1, 'a', 0, 1700000000500000000, 1700000001500000000),"
           "(2, 'b', 1700000000400000000, 1700000000600000000, 1700000001400000000),"
           "(3, 'c', 0, 1700000001000000000, 1700000002000000000),"
           "(4, 'd', 0, 1700000001400000000, 1700000002000000000);"
           "UPDATE alert SET state = 'resolved', fired_ns = since_ns");
    write_trace(0);
    assert_json("$.otherData.begin_ns", "1700000000000000000");
    assert_non_null(strstr(text, "\"tid\":2,\"name\":\"b\",\"ts\":400000.000,\"dur\":1000000.000"));
    assert_non_null(strstr(text, "\"tid\":81,\"name\":\"a\",\"ts\":500000.000"));
    assert_non_null(strstr(text, "\"tid\":82,\"name\":\"c\""));
    assert_non_null(strstr(text, "\"tid\":2,\"name\":\"d\""));
    assert_int_equal(count_of("\"name\":\"thread_name\",\"args\":{\"name\":\"alerts\"}"), 3);
}

static void an_alert_of_a_trace_that_is_not_over_lasts_to_the_end(void **state)
{
    (void)state;
    change("UPDATE alert SET title = 'a', state = 'firing', updated_ns = since_ns");
    write_trace(0);
    assert_non_null(strstr(text, "\"name\":\"a\",\"ts\":1000000.000,\"dur\":2000000.000"));
}

/* As in a further part of a recording. */
static void a_trace_leaves_out_what_was_over_before_it(void **state)
{
    (void)state;
    change("UPDATE alert SET title = 'a', onset_ns = 0, state = 'resolved', since_ns ="
           " 1690000000000000000, updated_ns = 1690000001000000000;"
           "INSERT INTO phase(id, begin_ns, end_ns) VALUES(90, 1690000000000000000,"
           " 1690000001000000000), (91, 1690000000000000000, 1700000001000000000)");
    write_trace(0);
    assert_null(strstr(text, "\"name\":\"a\""));
    assert_null(strstr(text, "\"name\":\"phase 90\""));
    assert_non_null(strstr(text, "\"name\":\"phase 91\",\"ts\":0.000,\"dur\":1000000.000"));
}

static void hosts_of_one_name_are_told_apart_by_their_agents(void **state)
{
    (void)state;
    struct report_extras extras = {.mapping_none = NULL};
    close_source();
    assert_int_equal(unlink(path), 0);
    recorded_make_on(path, (const char *const[]){"alpha", "alpha"});
    open_source();
    assert_int_equal(content.host_count, 2);
    /* messages between them are timed */
    assert_int_equal(content.pair_count, 4);
    assert_int_equal(content.pairs[1].source, 1);
    assert_int_equal(content.pairs[1].matched, 3);
    assert_int_equal(content.pairs[1].transfer_ns, 30000);
    FILE *out = begin();
    assert_int_equal(export_dot(out, &source, EXPORT_HOSTS, 10), 0);
    fclose(out);
    assert_non_null(strstr(text, "h0 -> h1 "));
    write_report(&extras);
    assert_non_null(strstr(text, "4 ranks on 2 nodes"));
}

/* A window of a millisecond of one of two hosts, with an end of a message from rank 0 to 1. */
static void keep_end(struct recording *recording, uint64_t host, uint64_t window, uint64_t key,
                     uint64_t error_ns)
{
    const struct wire_half_row half = {.key = key,
                                       .receive = host,
                                       .source = 0,
                                       .destination = 1,
                                       .bytes = 100,
                                       .begin_ns = 1000,
                                       .length_ns = 500,
                                       .together = host,
                                       .local_ns = 1000};
    struct wire_node_row node = {.host = host == 0 ? "alpha" : "beta", .ranks = 1};
    struct wire_comm_row comm = {.id = 1, .size = 2, .name = "MPI_COMM_WORLD"};
    struct wire_region_row region = {""};
    const struct wire_window message = {.seq = 1,
                                        .job = "job.0",
                                        .host = node.host,
                                        .window = window,
                                        .length_ns = 1000000,
                                        .comms = &comm,
                                        .comms_count = 1,
                                        .regions = &region,
                                        .regions_count = 1,
                                        .halves = &half,
                                        .halves_count = 1,
                                        .clock_error_ns = error_ns,
                                        .node = &node,
                                        .node_count = 1};
    const struct recorded head = {.instance = host + 1,
                                  .seq = 1,
                                  .window = window,
                                  .time_ns = window * 1000000,
                                  .received_ns = (window + 2) * 1000000};
    kept_message(recording, head, WIRE_TYPE_WINDOW, &message);
}

/* Another recording in place of the one that is there. */
static struct recording *begin_recording(void)
{
    struct recording *recording;
    char why[200] = "";
    close_source();
    assert_int_equal(unlink(path), 0);
    assert_int_equal(recording_open(&recording, path, why, sizeof(why)), 0);
    return recording;
}

static void a_message_may_take_as_many_windows_as_in_the_daemon(void **state)
{
    (void)state;
    struct recording *recording = begin_recording();
    const uint64_t first = RECORDED_BEGIN_NS / 1000000;
    keep_end(recording, 0, first, 7, 100);
    keep_end(recording, 1, first + 200, 7, 100);
    assert_int_equal(recording_close(recording), 0);
    open_source();
    assert_int_equal(content.pair_count, 1);
    assert_int_equal(content.pairs[0].matched, 1);
}

static void messages_are_timed_by_the_clocks_of_their_own_window(void **state)
{
    (void)state;
    struct recording *recording = begin_recording();
    const uint64_t first = RECORDED_BEGIN_NS / 1000000;
    for (uint64_t w = 0; w < 2; w++)
        for (uint64_t host = 0; host < 2; host++)
            keep_end(recording, host, first + w, 7 + w, w == 0 ? 100 : 1000);
    assert_int_equal(recording_close(recording), 0);
    open_source();
    assert_int_equal(content.pairs[0].matched, 2);
    assert_int_equal(content.pairs[0].error_ns, 200 + 2000);
}

static void a_trace_has_no_alerts_that_never_fired(void **state)
{
    (void)state;
    change("DELETE FROM alert; INSERT INTO alert(id, title, state, since_ns, fired_ns, updated_ns)"
           " SELECT column1, column2, column3, 1700000000500000000, column4, 1700000001500000000"
           " FROM (VALUES(1, 'over before', 'resolved', 0), (2, 'waits', 'pending', 0),"
           " (3, 'again', 'pending', 1700000000600000000), (4, 'fires', 'firing', 0),"
           " (5, 'fired', 'resolved', 1700000000600000000))");
    write_trace(0);
    assert_int_equal(count_of("\"name\":\"fires\""), 1);
    assert_int_equal(count_of("\"name\":\"fired\""), 1);
    assert_int_equal(count_of("\"name\":\"over before\""), 0);
    assert_int_equal(count_of("\"name\":\"waits\""), 0);
    assert_int_equal(count_of("\"name\":\"again\""), 0);
}

static void a_trace_has_the_links_that_were_hot_longest(void **state)
{
    (void)state;
    change("DELETE FROM link; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE "
           "i < 65)"
           " INSERT INTO link(window, link, source, destination, state)"
           " SELECT window, i, 'a' || i, 'b', 'hot' FROM n JOIN totals"
           " WHERE i = 65 OR window = (SELECT min(window) FROM totals)");
    write_trace(0);
    assert_int_equal(count_of("\"name\":\"hot\""), 66);
    assert_non_null(strstr(text, "\"name\":\"link a65 to b\""));
    assert_non_null(strstr(text, "\"name\":\"link a63 to b\""));
    assert_null(strstr(text, "\"name\":\"link a64 to b\""));
}

static void a_trace_has_the_captured_calls_of_each_rank(void **state)
{
    (void)state;
    change(CAPTURED);
    /* A later capture that has one of them again, ended meanwhile. */
    change(
        "INSERT INTO captures VALUES(2, 0, 1700000002000000000, '', 0, 1, 1, 1, '');"
        "INSERT INTO capture_events(capture, rank, thread, number, kind, call, enter_ns, exit_ns)"
        " VALUES(2, 2, 0, 10, 'call', 'MPI_Barrier', 1700000001200000000, 1700000001700000000)");
    write_trace(0);
    assert_json("$.otherData.begin_ns", "1700000000000000000");
    assert_int_equal(count_of("\"args\":{\"name\":\"rank 2\"}"), 1);
    assert_int_equal(count_of("\"args\":{\"name\":\"rank 3, thread 1\"}"), 1);
    assert_int_equal(count_of("\"name\":\"MPI_Barrier\""), 2);
    assert_non_null(
        strstr(text, "\"name\":\"MPI_Isend\",\"ts\":1100000.000,\"dur\":20.000,\"args\""));
    assert_non_null(
        strstr(text, "\"name\":\"receive done\",\"ts\":1100000.000,\"dur\":20.000,\"args\""));
    assert_non_null(strstr(text, "\"name\":\"MPI_Barrier\",\"ts\":1200000.000,\"dur\":500000.000"));
    /* In progress: until it was captured. */
    assert_non_null(strstr(text, "\"name\":\"MPI_Barrier\",\"ts\":1300000.000,\"dur\":200000.000"));
    assert_int_equal(count_of("\"ph\":\"i\""), 1);
}

/* ---- files that hold something else ---------------------------------------------------- */

static void other_types_and_times_out_of_range_are_survived(void **state)
{
    (void)state;
    struct report_extras extras = {.mapping_none = NULL};
    change(
        "UPDATE totals SET sent = 'many', ranks = -4, length_ns = 9223372036854775807;"
        "INSERT INTO totals(window, start_ns, length_ns, ranks) VALUES(1, -9223372036854775807, 5, "
        "2),"
        "(2, 4000000000000000000, 4000000000000000000, 1e308), (3, 'x', 'y', 'z');"
        "UPDATE phase SET begin_ns = -1, end_ns = 9223372036854775807, messages = 1e999;"
        "UPDATE alert SET causes = '[{\"name\":', ratio = 'x', since_ns = -5, updated_ns = 1e300;"
        "UPDATE curve SET height = 1e999, resembles = -9223372036854775807;"
        "INSERT INTO region_member VALUES(-1, 1, 1), (9223372036854775807, 2, 3)");
    write_report(&extras);
    FILE *out = begin();
    assert_int_equal(export_json(out, &source, NULL), 0);
    fclose(out);
    assert_json("$.tables.job[0].job", "job.0");
    write_trace(1);
    assert_json("$.displayTimeUnit", "ms");
    out = begin();
    assert_int_equal(export_dot(out, &source, EXPORT_REGIONS, 10), 0);
    fclose(out);
}

static void tables_that_are_missing_are_empty_and_reported(void **state)
{
    (void)state;
    struct report_extras extras = {.mapping_none = NULL};
    change("DROP TABLE totals; DROP TABLE alert; DROP TABLE phase; DROP TABLE latency;"
           "CREATE VIEW totals AS SELECT load_extension('x') AS start_ns");
    write_report(&extras);
    FILE *out = begin();
    assert_int_equal(export_csv(out, &source, "alert"), -ENODATA);
    fclose(out);
    assert_int_equal(length, 0);
}

static void damage_is_reported_with_the_file_and_the_message(void **state)
{
    (void)state;
    sqlite3 *db;
    char why[300], expected[300];
    close_source();
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "CREATE TABLE next AS SELECT * FROM block;"
                                  "UPDATE next SET first = first + messages, data = zeroblob(20);"
                                  "INSERT INTO block SELECT * FROM next; DROP TABLE next",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(content_read(&content, path, &(struct content_options){0}, why, sizeof(why)),
                     -HOLTER_ECORRUPT);
    snprintf(expected, sizeof(expected), "%s: message 9: ", path);
    assert_memory_equal(why, expected, strlen(expected));
    content_finish(&content);
    assert_int_equal(unlink(path), 0);
    recorded_make(path);
    open_source();
}

static void tables_of_a_file_that_is_written_fit_together(void **state)
{
    (void)state;
    sqlite3 *db;
    close_source();
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL), SQLITE_OK);
    open_source();
    static const char count[] = "SELECT count(*) FROM totals";
    double before = tables_number(source.tables, count, -1);
    assert_int_equal(sqlite3_exec(db, "INSERT INTO totals(window) VALUES(7)", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_true(tables_number(source.tables, count, -1) == before);
    close_source();
    open_source();
    assert_true(tables_number(source.tables, count, -1) == before + 1);
    sqlite3_close(db);
}

static void what_is_no_recording_is_reported(void **state)
{
    (void)state;
    struct tables *tables;
    char other[220], why[200] = "";
    snprintf(other, sizeof(other), "%s/other", directory);
    FILE *file = fopen(other, "w");
    fputs("not a database, but longer than the head of one would have to be: "
          "0123456789012345678901234567890123456789",
          file);
    fclose(file);
    assert_int_equal(tables_open(&tables, other, why, sizeof(why)), -HOLTER_ECORRUPT);
    assert_true(why[0] != '\0');
    unlink(other);
    assert_int_equal(tables_open(&tables, other, why, sizeof(why)), -ENOENT);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, exported_set_up, exported_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(content_is_summed_over_hosts_and_windows),
        TEST(messages_between_hosts_are_timed_within_an_error_and_others_without),
        TEST(csv_has_names_and_quotes_what_would_break_a_line),
        TEST(csv_is_text_whatever_a_file_holds),
        TEST(csv_of_a_table_without_rows_has_its_columns),
        TEST(csv_of_graphs_has_its_columns_without_a_capture),
        TEST(a_table_that_there_is_not_is_refused),
        TEST(json_holds_every_table),
        TEST(tables_say_that_a_recording_is_a_part_and_where_it_ends),
        TEST(dot_has_the_edges_of_most_bytes),
        TEST(dot_of_regions_has_ranks_where_they_were_last),
        TEST(dot_of_regions_knows_all_ranks_of_a_group),
        TEST(dot_counts_messages_that_are_on_no_edge),
        TEST(a_trace_has_phases_alerts_and_a_counter_of_each_rank_and_window),
        TEST(alerts_of_a_trace_that_overlap_have_tracks_of_their_own),
        TEST(an_alert_of_a_trace_that_is_not_over_lasts_to_the_end),
        TEST(a_trace_leaves_out_what_was_over_before_it),
        TEST(a_message_may_take_as_many_windows_as_in_the_daemon),
        TEST(messages_are_timed_by_the_clocks_of_their_own_window),
        TEST(a_trace_has_no_alerts_that_never_fired),
        TEST(hosts_of_one_name_are_told_apart_by_their_agents),
        TEST(a_trace_has_the_links_that_were_hot_longest),
        TEST(a_trace_has_the_captured_calls_of_each_rank),
        TEST(other_types_and_times_out_of_range_are_survived),
        TEST(tables_that_are_missing_are_empty_and_reported),
        TEST(damage_is_reported_with_the_file_and_the_message),
        TEST(tables_of_a_file_that_is_written_fit_together),
        TEST(what_is_no_recording_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

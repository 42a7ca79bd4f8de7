/* Statements of people on a recording. */
#include "daemon/export/query.h"
#include "holter/error.h"
#include "tests/daemon/export/exported.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char why[600];

/* Run statements; what they write is in `text`. */
static int run_as(enum row_format format, const char *sql)
{
    struct query *query;
    assert_int_equal(query_open(&query, path, why, sizeof(why)), 0);
    FILE *out = begin();
    const struct query_output output = {.file = out, .format = format};
    why[0] = '\0';
    int code = query_run(query, sql, &output, why, sizeof(why));
    fclose(out);
    query_close(query);
    return code;
}

#define MIXED "SELECT 7 AS n, 'a,\"b' AS t, NULL AS none, 0.5 AS r, x'00ff' AS bytes"

static void rows_are_text_csv_or_json(void **state)
{
    (void)state;
    assert_int_equal(run_as(ROW_TEXT, MIXED), 0);
    assert_string_equal(text, "n  t     none    r  bytes\n"
                              "7  a,\"b        0.5  00ff\n");
    assert_int_equal(run_as(ROW_CSV, MIXED), 0);
    assert_string_equal(text, "n,t,none,r,bytes\r\n7,\"a,\"\"b\",,0.5,00ff\r\n");
    assert_int_equal(run_as(ROW_JSON, MIXED), 0);
    assert_string_equal(
        text, "[\n{\"n\":7,\"t\":\"a,\\\"b\",\"none\":null,\"r\":0.5,\"bytes\":\"00ff\"}]\n");
}

static void a_column_may_have_any_name_in_json(void **state)
{
    (void)state;
    assert_int_equal(run_as(ROW_JSON, "SELECT 9007199254740993 AS \"a\"\"\\\n\","
                                      " -9007199254740993 AS \"b\"\"\", 1 AS next"),
                     0);
    assert_json("$[0].next", "1");
    assert_string_equal(text, "[\n{\"a\\\"\\\\\\n\":9007199254740993,"
                              "\"a\\\"\\\\\\n_text\":\"9007199254740993\","
                              "\"b\\\"\":-9007199254740993,"
                              "\"b\\\"_text\":\"-9007199254740993\",\"next\":1}]\n");
}

static void each_statement_has_a_result_of_its_own(void **state)
{
    (void)state;
    assert_int_equal(run_as(ROW_CSV, "SELECT 1 AS a; -- one\n ;; SELECT 2 AS b WHERE 0"), 0);
    assert_string_equal(text, "a\r\n1\r\n\nb\r\n");
    assert_int_equal(run_as(ROW_JSON, "SELECT 2 AS b WHERE 0;;"), 0);
    assert_string_equal(text, "[]\n");
    assert_int_equal(run_as(ROW_TEXT, " /* nothing */ "), 0);
    assert_string_equal(text, "");
}

static void an_error_names_its_line_and_column(void **state)
{
    (void)state;
    assert_int_equal(run_as(ROW_CSV, "SELECT 1;\nSELECT\n  foo FROM window_pair"), -HOLTER_EUSAGE);
    assert_string_equal(why, "line 3, column 3: no such column: foo");
    assert_string_equal(text, "1\r\n1\r\n"); /* the first statement was run */
    assert_int_equal(run_as(ROW_CSV, "SELECT moment('x')"), -HOLTER_EUSAGE);
    assert_non_null(strstr(why, "line 1, column 1: 'x' is no point in time"));
}

static void nothing_can_be_written_or_reached(void **state)
{
    char copy[300];
    static const char *const refused[] = {"UPDATE job SET job = 'x'",
                                          "DELETE FROM totals",
                                          "CREATE TABLE x(a)",
                                          "DROP TABLE job",
                                          "CREATE TEMP TABLE x(a)",
                                          "VACUUM",
                                          "PRAGMA query_only = 0",
                                          "BEGIN IMMEDIATE",
                                          "ANALYZE",
                                          "PRAGMA journal_mode = delete",
                                          "PRAGMA wal_checkpoint",
                                          "PRAGMA user_version = 1",
                                          "SELECT load_extension('x')",
                                          "INSERT INTO window_pair(window) VALUES(1)"};
    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
        if (run_as(ROW_CSV, refused[i]) != -HOLTER_EUSAGE)
            fail_msg("%s is not refused", refused[i]);
    const char *const others[] = {"ATTACH '%s/copy' AS c", "VACUUM INTO '%s/copy'"};
    for (size_t i = 0; i < 2; i++) {
        char sql[400];
        snprintf(sql, sizeof(sql), i == 0 ? "ATTACH '%s/copy' AS c" : "VACUUM INTO '%s/copy'",
                 directory);
        if (run_as(ROW_CSV, sql) != -HOLTER_EUSAGE)
            fail_msg("%s is not refused", others[i]);
    }
    snprintf(copy, sizeof(copy), "%s/copy", directory);
    assert_int_not_equal(access(copy, F_OK), 0);
}

static int is_interrupted(void *user)
{
    return ++*(int *)user > 3;
}

static void a_statement_can_be_interrupted(void **state)
{
    struct query *query;
    int looks = 0;
    (void)state;
    assert_int_equal(query_open(&query, path, why, sizeof(why)), 0);
    query_set_interrupt(query, is_interrupted, &looks);
    const struct query_output output = {.file = begin(), .format = ROW_CSV};
    assert_int_equal(query_run(query,
                               "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
                               " SELECT count(*) FROM c",
                               &output, why, sizeof(why)),
                     -EINTR);
    assert_string_equal(why, "interrupted");
    fclose(output.file);
    query_close(query);
}

static void text_does_not_control_a_terminal(void **state)
{
    (void)state;
    assert_int_equal(run_as(ROW_TEXT, "SELECT char(27) || '[2J' || char(155) || 'x' || char(10)"
                                      " AS \"a\nb\""),
                     0);
    assert_string_equal(text, "a?b\n?[2J?x?\n");
}

static void a_result_may_have_more_rows_than_are_aligned_together(void **state)
{
    (void)state;
    assert_int_equal(run_as(ROW_TEXT, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM"
                                      " c WHERE x < 1000) SELECT x FROM c"),
                     0);
    assert_int_equal(count_of("\n"), 1001);
}

static void an_export_of_a_span_has_its_windows_only(void **state)
{
    const struct recorded_span span = {1700000001000000000, 1700000001000000001};
    (void)state;
    source.span = &span;
    source.window_ns = 1000000000;
    FILE *out = begin();
    assert_int_equal(export_csv(out, &source, "totals"), 0);
    assert_int_equal(export_csv(out, &source, "window_rank"), 0);
    assert_int_equal(export_csv(out, &source, "phase"), 0);
    fclose(out);
    assert_int_equal(count_of("\r\n"), 2 + 5 + 2); /* the second phase begins later */
    assert_int_equal(count_of("\n1700000001,"), 5);
    out = begin();
    assert_int_equal(export_json(out, &source, "window_call"), 0);
    fclose(out);
    assert_json("$.tables.window_call[3].call", "MPI_Send");
    source.span = NULL;
}

static void sums_of_a_span_are_those_of_its_windows(void **state)
{
    struct content part = {.pairs = NULL};
    const struct recorded_span span = {1700000001000000000, 1700000002000000001};
    const struct content_options options = {.span = &span};
    (void)state;
    assert_int_equal(content_read(&part, path, &options, why, sizeof(why)), 0);
    assert_int_equal(part.pair_count, 4);
    assert_int_equal(part.pairs[0].messages, 20);
    assert_int_equal(part.ranks[3].sums.sent, 80);
    assert_string_equal(part.hosts[part.ranks[3].host], "beta");
    content_finish(&part);
}

static void sums_without_rows_have_their_columns(void **state)
{
    struct content none = {.pairs = NULL};
    (void)state;
    source.content = &none;
    FILE *out = begin();
    assert_int_equal(export_csv(out, &source, "pairs"), 0);
    assert_int_equal(export_csv(out, &source, "calls"), 0);
    fclose(out);
    assert_string_equal(
        text, "source,destination,messages,bytes,matched,transfer_ns,error_ns\r\n"
              "rank,call,calls,bytes,bytes_in,time_ns,longest_ns,polls,collective_ns\r\n");
}

static void text_shows_numbers_with_all_their_digits(void **state)
{
    (void)state;
    assert_int_equal(run_as(ROW_TEXT, "SELECT 123456.5 AS second, 98304001.0 AS bytes, 0.1 + 0.2"),
                     0);
    assert_string_equal(text, "  second     bytes  0.1 + 0.2\n"
                              "123456.5  98304001        0.3\n");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, exported_set_up, exported_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(rows_are_text_csv_or_json),
        TEST(text_shows_numbers_with_all_their_digits),
        TEST(a_column_may_have_any_name_in_json),
        TEST(each_statement_has_a_result_of_its_own),
        TEST(an_error_names_its_line_and_column),
        TEST(nothing_can_be_written_or_reached),
        TEST(a_statement_can_be_interrupted),
        TEST(text_does_not_control_a_terminal),
        TEST(a_result_may_have_more_rows_than_are_aligned_together),
        TEST(an_export_of_a_span_has_its_windows_only),
        TEST(sums_of_a_span_are_those_of_its_windows),
        TEST(sums_without_rows_have_their_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

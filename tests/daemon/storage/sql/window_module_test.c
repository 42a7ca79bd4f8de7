/* The virtual tables of a recording. */
#include "daemon/storage/recording.h"
#include "daemon/storage/sql/window_module.h"
#include "daemon/topology/network_message.h"
#include "tests/daemon/export/recorded.h"
#include "tests/daemon/storage/recording_writer.h"
#include "tests/directory.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)
#define FAR_WINDOWS 5u
#define FAR 1000u /* windows between two of these */

static char directory[DIRECTORY_ROOM], path[200];
static sqlite3 *db;

static void open_database(void)
{
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(window_module_register(db), SQLITE_OK);
}

static int set_up(void **state)
{
    (void)state;
    assert_int_equal(directory_make(directory), 0);
    snprintf(path, sizeof(path), "%s/job.hrec", directory);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sqlite3_close(db);
    db = NULL;
    return directory_remove(directory);
}

static void change(const char *sql)
{
    sqlite3 *writer;
    assert_int_equal(sqlite3_open(path, &writer), SQLITE_OK);
    assert_int_equal(sqlite3_exec(writer, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(writer);
}

static int64_t asked(const char *sql)
{
    sqlite3_stmt *s;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK || sqlite3_step(s) != SQLITE_ROW)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    int64_t number = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return number;
}

static void assert_text(const char *sql, const char *expected)
{
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(s, 0), expected);
    sqlite3_finalize(s);
}

/* A statement fails, and the error has these words. */
static void assert_fails(const char *sql, const char *words)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK)
        fail_msg("%s does not fail", sql);
    if (strstr(sqlite3_errmsg(db), words) == NULL)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
}

static void rows_of_all_windows_add_up_to_the_totals(void **state)
{
    (void)state;
    recorded_make(path);
    open_database();
    assert_int_equal(asked("SELECT sum(messages) FROM window_pair"), 300);
    assert_int_equal(asked("SELECT sum(bytes) FROM window_pair WHERE source = 2"), 9000);
    assert_int_equal(asked("SELECT sum(sent) - (SELECT sum(sent) FROM totals) FROM window_rank"),
                     0);
    assert_int_equal(asked("SELECT sum(calls) FROM window_call WHERE call = 'MPI_Send'"), 300);
    assert_int_equal(asked("SELECT count(DISTINCT window) FROM window_rank"), 3);
    assert_int_equal(asked("SELECT count(*) FROM window_pair WHERE comm = 1 AND comm_name ="
                           " 'MPI_COMM_WORLD' AND size <= 100 AND host IN ('alpha', 'beta')"),
                     12);
}

static void windows_have_their_time_in_nanoseconds_seconds_and_text(void **state)
{
    (void)state;
    recorded_make(path);
    open_database();
    assert_true(asked("SELECT min(begin_ns) FROM window_pair") == (int64_t)RECORDED_BEGIN_NS);
    assert_true(asked("SELECT max(end_ns) FROM window_pair") ==
                (int64_t)(RECORDED_BEGIN_NS + 3 * SECOND));
    assert_int_equal(asked("SELECT max(second) FROM window_rank"), 2);
    assert_text("SELECT min(time) FROM window_call", "2023-11-14T22:13:20.000Z");
    assert_text("SELECT min(job) FROM window_call", "job.0");
}

static void a_condition_gives_the_rows_that_it_would_give_afterwards(void **state)
{
    /* With a plus before the column SQLite does not pass the condition to the table. */
    static const char *const conditions[][2] = {
        {"window = 1700000001", "+window = 1700000001"},
        {"window > 1700000000.5", "+window > 1700000000.5"},
        {"window BETWEEN 1 AND 1700000001", "+window BETWEEN 1 AND 1700000001"},
        {"begin_ns >= 1700000001000000000", "+begin_ns >= 1700000001000000000"},
        {"begin_ns > 1700000001000000000", "+begin_ns > 1700000001000000000"},
        {"begin_ns < 1700000001000000001", "+begin_ns < 1700000001000000001"},
        {"end_ns <= 1700000001000000000", "+end_ns <= 1700000001000000000"},
        {"end_ns > 1700000001999999999", "+end_ns > 1700000001999999999"},
        {"begin_ns = 1700000001000000000", "+begin_ns = 1700000001000000000"},
        {"begin_ns = 1700000001000000001", "+begin_ns = 1700000001000000001"},
        {"begin_ns >= 1700000001000000001", "+begin_ns >= 1700000001000000001"},
        {"end_ns = 1700000001000000000", "+end_ns = 1700000001000000000"},
        {"end_ns >= 1700000001000000001", "+end_ns >= 1700000001000000001"},
        {"end_ns < 1700000002000000000", "+end_ns < 1700000002000000000"},
        {"end_ns <= 0", "+end_ns <= 0"},
        {"begin_ns > -5 AND end_ns > -5", "+begin_ns > -5 AND +end_ns > -5"},
        {"begin_ns < 1700000001.5e9", "+begin_ns < 1700000001.5e9"},
        {"second >= 0.5 AND second < 2", "+second >= 0.5 AND +second < 2"},
        {"second = 1", "+second = 1"},
        {"window < 0", "+window < 0"},
        {"window > 1e300", "+window > 1e300"},
        {"window = 'x'", "+window = 'x'"},
        {"window = NULL", "+window = NULL"},
        {"window = '1700000001'", "+window = CAST('1700000001' AS INTEGER)"},
        {"source = 1 AND destination = 2", "+source = 1 AND +destination = 2"},
        {"source = 1 OR destination = 3", "+source = 1 OR +destination = 3"},
        {"window = 1700000000 OR window = 1700000002",
         "+window = 1700000000 OR +window = 1700000002"},
        {"window IN (1700000000, 1700000002)", "+window IN (1700000000, 1700000002)"},
        {"source = 1.0", "+source = 1.0"},
        {"source = -1", "+source = -1"},
    };
    char sql[200];
    (void)state;
    recorded_make(path);
    open_database();
    for (size_t i = 0; i < sizeof(conditions) / sizeof(*conditions); i++) {
        int64_t counts[2];
        for (size_t k = 0; k < 2; k++) {
            snprintf(sql, sizeof(sql), "SELECT count(*) FROM window_pair WHERE %s",
                     conditions[i][k]);
            counts[k] = asked(sql);
        }
        if (counts[0] != counts[1])
            fail_msg("%s: %d rows, and not %d", conditions[i][0], (int)counts[0], (int)counts[1]);
    }
}

/* Five windows, a quarter of an hour from each other, each in a block of its own. */
static void make_far_windows(void)
{
    struct recording *recording;
    char why[200] = "";
    assert_int_equal(recording_open(&recording, path, why, sizeof(why)), 0);
    for (uint64_t i = 0; i < FAR_WINDOWS; i++) {
        uint64_t window = RECORDED_BEGIN_NS / SECOND + i * FAR;
        struct wire_rank_row rank = {.rank = 0, .sent = i + 1, .in_call_peer = -1};
        struct wire_window message = {.seq = i + 1,
                                      .job = "far",
                                      .host = "alpha",
                                      .window = window,
                                      .length_ns = SECOND,
                                      .ranks = &rank,
                                      .ranks_count = 1};
        struct wire_totals totals = {.job = "far",
                                     .window = window,
                                     .start_ns = window * SECOND,
                                     .length_ns = SECOND,
                                     .sent = i + 1};
        kept_message(recording,
                     (struct recorded){.instance = 1,
                                       .seq = message.seq,
                                       .window = window,
                                       .time_ns = window * SECOND,
                                       .received_ns = (window + 1) * SECOND},
                     WIRE_TYPE_WINDOW, &message);
        assert_int_equal(recording_write_result(recording, WIRE_TYPE_TOTALS, &totals), 0);
        assert_int_equal(recording_commit(recording), 0);
    }
    recording_abandon(recording); /* a regular end would merge the blocks */
}

static void only_blocks_that_may_have_the_windows_are_unpacked(void **state)
{
    (void)state;
    make_far_windows();
    assert_int_equal(kept_ask(path, "SELECT count(*) FROM block"), FAR_WINDOWS);
    change("UPDATE block SET data = x'00' WHERE first IN (1, 5)");
    open_database();
    assert_int_equal(asked("SELECT sum(sent) FROM window_rank WHERE window = 1700002000"), 3);
    assert_int_equal(asked("SELECT sum(sent) FROM window_rank WHERE"
                           " begin_ns BETWEEN 1700002000000000000 AND 1700002000000000001"),
                     3);
    assert_fails("SELECT sum(sent) FROM window_rank WHERE window >= 1700002000", "message 5");
    assert_fails("SELECT sum(sent) FROM window_rank", "message 1 of the recording");
}

static void a_message_that_is_damaged_ends_the_statement(void **state)
{
    struct recording *recording;
    char why[200] = "";
    struct wire_window message = {
        .seq = 9, .job = "job.0", .host = "alpha", .window = 1700000001, .length_ns = SECOND};
    (void)state;
    recorded_make(path);
    assert_int_equal(recording_open(&recording, path, why, sizeof(why)), 0);
    kept_damaged(recording, (struct recorded){.instance = 1, .seq = 9, .window = 1700000001},
                 WIRE_TYPE_WINDOW, &message);
    assert_int_equal(recording_close(recording), 0);
    open_database();
    assert_fails("SELECT count(*) FROM window_pair", "message 9 of the recording is damaged");
    assert_int_equal(asked("SELECT count(*) FROM totals"), 3);
}

static void a_database_that_is_no_recording_is_refused_in_words(void **state)
{
    (void)state;
    change("CREATE TABLE block(first)");
    open_database();
    assert_fails("SELECT * FROM window_pair", "the database is no recording");
    assert_fails("SELECT moment('10:00')", "the database is no recording");
}

static void tables_that_a_file_makes_of_these_are_refused(void **state)
{
    static const char *const forged[] = {"totals USING window_rank",
                                         "latency USING window_latency"};
    char sql[400];
    (void)state;
    recorded_make(path);
    for (size_t i = 0; i < 2; i++) {
        int length = (int)strcspn(forged[i], " ");
        snprintf(sql, sizeof(sql),
                 "PRAGMA writable_schema = 1; DROP TABLE %.*s;"
                 " INSERT INTO sqlite_master VALUES('table', '%.*s', '%.*s', 0,"
                 " 'CREATE VIRTUAL TABLE %s')",
                 length, forged[i], length, forged[i], length, forged[i], forged[i]);
        change(sql);
    }
    open_database(); /* they would read themselves recursively */
    assert_fails("SELECT max(window) FROM totals", "stands for itself");
    assert_fails("SELECT * FROM window_latency", "latency");
    assert_int_equal(asked("SELECT sum(sent) FROM window_rank"), 300);
}

static void points_in_time_are_read_within_the_recording(void **state)
{
    (void)state;
    recorded_make(path);
    open_database();
    assert_true(asked("SELECT moment('22:13:21')") == (int64_t)(RECORDED_BEGIN_NS + SECOND));
    assert_true(asked("SELECT moment('+1s')") == (int64_t)(RECORDED_BEGIN_NS + SECOND));
    assert_true(asked("SELECT moment('+1h')") == (int64_t)(RECORDED_BEGIN_NS + 3600 * SECOND));
    assert_true(asked("SELECT moment('2023-11-14T22:13:21Z')") ==
                (int64_t)(RECORDED_BEGIN_NS + SECOND));
    assert_int_equal(asked("SELECT moment(NULL) IS NULL AND moment_text(NULL) IS NULL"), 1);
    assert_text("SELECT moment_text(moment('+500ms'))", "2023-11-14T22:13:20.500Z");
    assert_fails("SELECT moment('soon')", "'soon' is no point in time");
    assert_int_equal(asked("SELECT sum(messages) FROM window_pair WHERE begin_ns >="
                           " moment('22:13:21') AND begin_ns < moment('22:13:22')"),
                     100);
}

static void put_topology(void *user, const struct wire_topology *message)
{
    assert_int_equal(recording_write_result(user, WIRE_TYPE_TOPOLOGY, message), 0);
}

static void pairs_load_the_links_of_their_routes(void **state)
{
    static const struct wire_seat_row seats[] = {{0, 0}, {1, 0}, {2, 1}, {3, 1}};
    struct topology_spec spec;
    struct recording *recording;
    char why[300] = "";
    (void)state;
    recorded_make(path);
    open_database();
    assert_int_equal(asked("SELECT count(*) FROM window_link"), 0);
    sqlite3_close(db);
    assert_int_equal(topology_short(&spec, "mesh:2", why, sizeof(why)), 0);
    assert_int_equal(recording_open(&recording, path, why, sizeof(why)), 0);
    const struct network_publication network = {.job = "job.0",
                                                .source = "mesh:2",
                                                .fault = "",
                                                .spec = &spec,
                                                .seats = seats,
                                                .seat_count = 4};
    network_message(&network, put_topology, recording);
    assert_int_equal(recording_close(recording), 0);
    topology_spec_finish(&spec);
    open_database();
    /* Rank 1 sends to rank 2, and rank 3 to rank 0; the other pairs share a vertex. */
    assert_int_equal(asked("SELECT sum(messages) FROM window_link WHERE source = '(0)'"), 60);
    assert_int_equal(asked("SELECT sum(bytes) FROM window_link WHERE source = '(1)'"), 12000);
    assert_int_equal(asked("SELECT count(*) FROM window_link"), 6);
    assert_int_equal(asked("SELECT count(DISTINCT link) FROM window_link WHERE link ="
                           " (SELECT max(link) FROM window_link)"),
                     1);
}

static void latency_has_the_rows_of_its_table(void **state)
{
    (void)state;
    recorded_make(path);
    change("INSERT INTO latency(window, scope, id, messages, reference) VALUES"
           "(1700000000, 'job', 0, 5, 1.5), (1700000001, 'job', 0, 6, NULL)");
    open_database();
    assert_int_equal(asked("SELECT sum(messages) FROM window_latency"), 11);
    assert_int_equal(asked("SELECT messages FROM window_latency WHERE second = 1"), 6);
    assert_int_equal(asked("SELECT sum(messages) FROM window_latency WHERE window = 1700000000"
                           " OR begin_ns = 1700000001000000000"),
                     11);
    assert_int_equal(
        asked("SELECT count(*) FROM window_latency WHERE begin_ns < 1700000001000000000"
              " AND reference = 1.5 AND scope = 'job' AND job = 'job.0'"),
        1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(rows_of_all_windows_add_up_to_the_totals),
        TEST(windows_have_their_time_in_nanoseconds_seconds_and_text),
        TEST(a_condition_gives_the_rows_that_it_would_give_afterwards),
        TEST(only_blocks_that_may_have_the_windows_are_unpacked),
        TEST(a_message_that_is_damaged_ends_the_statement),
        TEST(a_database_that_is_no_recording_is_refused_in_words),
        TEST(tables_that_a_file_makes_of_these_are_refused),
        TEST(points_in_time_are_read_within_the_recording),
        TEST(pairs_load_the_links_of_their_routes),
        TEST(latency_has_the_rows_of_its_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

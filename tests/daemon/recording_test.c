#include "daemon/recording.h"
#include "holter/error.h"
#include "tests/directory.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[DIRECTORY_ROOM], path[128];

static int make_directory(void **state)
{
    (void)state;
    assert_int_equal(directory_make(directory), 0);
    snprintf(path, sizeof(path), "%s/holter-job.0.hrec", directory);
    return 0;
}

static int remove_directory(void **state)
{
    (void)state;
    return directory_remove(directory);
}

static struct recording *open_it(void)
{
    struct recording *r;
    char why[256] = "";
    if (recording_open(&r, path, why, sizeof(why)) != 0)
        fail_msg("%s", why);
    return r;
}

static struct recorded head_of(uint64_t seq)
{
    return (struct recorded){.type = WIRE_TYPE_WINDOW,
                             .instance = UINT64_MAX - 5,
                             .seq = seq,
                             .window = 7 + seq,
                             .time_ns = 1000 * seq,
                             .received_ns = 1000 * seq + 1};
}

/* A message that does not compress, so that files grow. */
static void fill(uint8_t *bytes, size_t length, uint64_t seed)
{
    for (size_t i = 0; i < length; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1;
        bytes[i] = (uint8_t)(seed >> 56);
    }
}

struct read_back {
    uint64_t messages, alerts, last_seq;
    size_t length;
};

static int on_alert(void *user, const struct wire_alert *alert)
{
    struct read_back *b = user;
    assert_int_equal(alert->id, ++b->alerts);
    return 0;
}

static int on_message(void *user, const struct recorded *head, const void *bytes, size_t length)
{
    struct read_back *b = user;
    uint8_t expected[4096];
    assert_int_equal(head->instance, UINT64_MAX - 5);
    assert_int_equal(head->seq, b->last_seq + 1);
    fill(expected, length, head->seq);
    assert_int_equal(length, b->length);
    assert_memory_equal(bytes, expected, length);
    b->last_seq = head->seq;
    b->messages++;
    return 0;
}

static uint64_t read_back(size_t length)
{
    struct read_back b = {.length = length};
    assert_int_equal(recording_read(path, &(struct recording_reader){&b, on_alert, on_message}), 0);
    return b.messages;
}

static int64_t ask(const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return number;
}

static void keep(struct recording *r, uint64_t seq, size_t length)
{
    uint8_t bytes[4096];
    struct recorded head = head_of(seq);
    fill(bytes, length, seq);
    assert_int_equal(recording_message(r, &head, bytes, length), 0);
}

static void messages_come_back_byte_for_byte_in_order(void **state)
{
    struct recording *r = open_it();
    (void)state;
    for (uint64_t i = 1; i <= 50; i++)
        keep(r, i, 1000);
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(read_back(1000), 50);
    assert_int_equal(ask("SELECT sum(length) FROM messages"), 50000);
    assert_int_equal(ask("PRAGMA user_version"), RECORDING_SCHEMA);
    assert_int_equal(ask("PRAGMA application_id"), RECORDING_APPLICATION);
}

static void tables_hold_what_was_published_last(void **state)
{
    struct recording *r = open_it();
    struct wire_job job = {
        .job = "job.0", .state = "running", .app = "lmp", .mpi = "x", .world = 4};
    struct wire_totals totals = {
        .job = "job.0", .window = 3, .length_ns = 10, .sent = 5, .late = 0};
    struct wire_host_row host = {"n0"};
    struct wire_place_row place = {3, 0, 55, "0-1"};
    struct wire_places places = {
        .job = "job.0", .hosts = &host, .hosts_count = 1, .places = &place, .places_count = 1};
    struct wire_alert alert = {
        .job = "job.0", .id = 1, .kind = "rank-died", .state = "firing", .title = "t", .rank = 3};
    (void)state;
    assert_int_equal(recording_table(r, WIRE_TYPE_JOB, &job), 0);
    assert_int_equal(recording_table(r, WIRE_TYPE_TOTALS, &totals), 0);
    totals.sent = 9, totals.late = 1;
    assert_int_equal(recording_table(r, WIRE_TYPE_TOTALS, &totals), 0);
    assert_int_equal(recording_table(r, WIRE_TYPE_PLACES, &places), 0);
    assert_int_equal(recording_table(r, WIRE_TYPE_ALERT, &alert), 0);
    job.state = "died";
    assert_int_equal(recording_table(r, WIRE_TYPE_JOB, &job), 0);
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(ask("SELECT count(*) FROM job WHERE state='died' AND world=4"), 1);
    assert_int_equal(ask("SELECT sent FROM totals WHERE window=3 AND late=1"), 9);
    assert_int_equal(
        ask("SELECT pid FROM places JOIN nodes USING(node) WHERE host='n0' AND cores='0-1'"), 55);
    assert_int_equal(ask("SELECT rank FROM alerts WHERE kind='rank-died'"), 3);
    struct read_back b = {0};
    assert_int_equal(recording_read(path, &(struct recording_reader){&b, on_alert, on_message}), 0);
    assert_int_equal(b.alerts, 1);
}

static void two_writers_never_have_one_file(void **state)
{
    struct recording *r = open_it(), *second;
    char why[256];
    (void)state;
    assert_int_equal(recording_open(&second, path, why, sizeof(why)), -EWOULDBLOCK);
    assert_non_null(strstr(why, "another daemon"));
    assert_int_equal(recording_close(r), 0);
    r = open_it();
    assert_int_equal(recording_close(r), 0);
}

static void a_full_disk_leaves_a_valid_file_up_to_the_last_commit(void **state)
{
    struct recording *r = open_it();
    uint8_t bytes[4096];
    uint64_t seq = 0, committed = 0;
    int code = 0;
    (void)state;
    recording_limit(r, 100);
    while (code == 0) {
        struct recorded head = head_of(seq + 1);
        fill(bytes, sizeof(bytes), seq + 1);
        code = recording_message(r, &head, bytes, sizeof(bytes));
        if (code == 0 && ++seq % 10 == 0) {
            assert_int_equal(recording_commit(r), 0);
            committed = seq;
        }
        assert_true(seq < 1000);
    }
    assert_int_equal(code, -EIO);
    assert_string_equal(recording_error(r), "database or disk is full");
    recording_abandon(r);
    assert_true(committed >= 50);
    assert_int_equal(read_back(4096), committed);
    assert_int_equal(ask("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check='ok'"),
                     1);
}

/* The child is killed in the middle of a transaction, with no chance to clean up. */
static void a_killed_writer_loses_what_was_not_committed_and_no_more(void **state)
{
    int told[2];
    char byte;
    (void)state;
    assert_int_equal(pipe(told), 0);
    pid_t child = fork();
    if (child == 0) {
        struct recording *r = NULL;
        char why[256];
        if (recording_open(&r, path, why, sizeof(why)) != 0)
            _exit(1);
        for (uint64_t seq = 1; seq <= 60; seq++) {
            uint8_t bytes[4096];
            struct recorded head = head_of(seq);
            fill(bytes, sizeof(bytes), seq);
            recording_message(r, &head, bytes, sizeof(bytes));
            if (seq == 40)
                recording_commit(r);
        }
        if (write(told[1], "x", 1) != 1)
            _exit(1);
        pause();
    }
    assert_int_equal(read(told[0], &byte, 1), 1);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(read_back(4096), 40);
    assert_int_equal(ask("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check='ok'"),
                     1);
    struct recording *r = open_it(); /* the dead one's lock is nobody's */
    keep(r, 41, 4096);
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(read_back(4096), 41);
}

static void put_state(const char *state)
{
    struct recording *r = open_it();
    struct wire_job job = {.job = "job.0", .state = state, .app = "a", .mpi = "m"};
    keep(r, 1, 10);
    assert_int_equal(recording_table(r, WIRE_TYPE_JOB, &job), 0);
    assert_int_equal(recording_close(r), 0);
}

static void a_running_job_s_file_is_continued(void **state)
{
    char chosen[128];
    int exists = 1;
    (void)state;
    assert_int_equal(recording_choose(directory, "job.0", 1, chosen, sizeof(chosen), &exists), 0);
    assert_string_equal(chosen, path);
    assert_false(exists);
    put_state("running");
    assert_int_equal(recording_choose(directory, "job.0", 1, chosen, sizeof(chosen), &exists), 0);
    assert_string_equal(chosen, path);
    assert_true(exists);
}

static void an_ended_job_s_file_is_left_alone(void **state)
{
    char chosen[128];
    int exists = 1;
    (void)state;
    put_state("ended");
    assert_int_equal(recording_choose(directory, "job.0", 1, chosen, sizeof(chosen), &exists), 0);
    assert_non_null(strstr(chosen, "holter-job.0-2.hrec"));
    assert_false(exists);
    /* but for the agent whose messages it holds */
    assert_int_equal(
        recording_choose(directory, "job.0", UINT64_MAX - 5, chosen, sizeof(chosen), &exists), 0);
    assert_string_equal(chosen, path);
    assert_true(exists);
}

static void other_files_are_refused(void **state)
{
    struct recording *r;
    char why[256];
    FILE *file = fopen(path, "w");
    struct read_back b = {0};
    (void)state;
    for (int i = 0; i < 3000; i++)
        fputs("this is no data base ", file);
    fclose(file);
    assert_int_equal(recording_open(&r, path, why, sizeof(why)), -HOLTER_ECORRUPT);
    assert_true(recording_read(path, &(struct recording_reader){&b, on_alert, on_message}) < 0);
    unlink(path);
    sqlite3 *db;
    sqlite3_open(path, &db);
    sqlite3_exec(db, "CREATE TABLE t(x)", NULL, NULL, NULL);
    sqlite3_close(db);
    assert_int_equal(recording_open(&r, path, why, sizeof(why)), -HOLTER_EVERSION);
}

#define WITH_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_DIRECTORY(messages_come_back_byte_for_byte_in_order),
        WITH_DIRECTORY(tables_hold_what_was_published_last),
        WITH_DIRECTORY(two_writers_never_have_one_file),
        WITH_DIRECTORY(a_full_disk_leaves_a_valid_file_up_to_the_last_commit),
        WITH_DIRECTORY(a_killed_writer_loses_what_was_not_committed_and_no_more),
        WITH_DIRECTORY(a_running_job_s_file_is_continued),
        WITH_DIRECTORY(an_ended_job_s_file_is_left_alone),
        WITH_DIRECTORY(other_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

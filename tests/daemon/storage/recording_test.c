#include "tests/daemon/storage/recording_bed.h"

#include "holter/error.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

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
    assert_int_equal(
        recording_read(recording_bed_path, &(struct recording_reader){&b, on_alert, on_message}),
        0);
    return b.messages;
}

static void keep(struct recording *r, uint64_t seq, size_t length)
{
    uint8_t bytes[4096];
    struct recorded head = recording_bed_head(seq);
    fill(bytes, length, seq);
    assert_int_equal(recording_write_message(r, &head, bytes, length), 0);
}

static void messages_come_back_byte_for_byte_in_order(void **state)
{
    struct recording *r = recording_bed_open();
    (void)state;
    for (uint64_t i = 1; i <= 50; i++)
        keep(r, i, 1000);
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(read_back(1000), 50);
    assert_int_equal(recording_bed_ask("SELECT sum(length) FROM block"), 50000);
    assert_int_equal(recording_bed_ask("PRAGMA user_version"), RECORDING_SCHEMA);
    assert_int_equal(recording_bed_ask("PRAGMA application_id"), RECORDING_APPLICATION);
}

/* As when somebody copies it without its log. */
static void the_file_alone_has_everything_although_a_reader_keeps_its_log(void **state)
{
    struct recording *r = recording_bed_open();
    char log[160];
    sqlite3 *reader;
    (void)state;
    for (uint64_t i = 1; i <= 50; i++)
        keep(r, i, 1000);
    assert_int_equal(recording_commit(r), 0);
    assert_int_equal(sqlite3_open_v2(recording_bed_path, &reader, SQLITE_OPEN_READONLY, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_exec(reader, "SELECT first FROM block", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(recording_close(r), 0);
    sqlite3_close(reader);
    snprintf(log, sizeof(log), "%s-wal", recording_bed_path);
    unlink(log);
    assert_int_equal(read_back(1000), 50);
}

static int take_sum(void *user, const struct recorded *head, const void *bytes, size_t length)
{
    (void)bytes;
    (void)length;
    *(uint64_t *)user += head->seq;
    return 0;
}

static void what_follows_damage_is_read(void **state)
{
    static const char *const damages[] = {"UPDATE block SET data = x'00' WHERE first = 2",
                                          "DROP TABLE alert"};
    (void)state;
    struct recording *r = recording_bed_open();
    for (uint64_t seq = 1; seq <= 3; seq++) {
        keep(r, seq, 100);
        assert_int_equal(recording_commit(r), 0);
    }
    assert_int_equal(recording_close(r), 0);
    for (size_t i = 0; i < 2; i++) {
        uint64_t sum = 0;
        recording_bed_run(damages[i]);
        assert_int_equal(recording_read(recording_bed_path,
                                        &(struct recording_reader){&sum, on_alert, take_sum}),
                         -HOLTER_ECORRUPT);
        assert_int_equal(sum, 1 + 3);
    }
}

static void columns_that_somebody_added_do_no_harm(void **state)
{
    static const char *const tables[] = {
        "job",        "block",    "agent",         "part",          "nodes",  "places",
        "totals",     "alert",    "latency",       "criterion",     "region", "region_member",
        "phase",      "curve",    "topology",      "topology_part", "seat",   "link",
        "link_route", "captures", "capture_events"};
    char sql[100];
    (void)state;
    assert_int_equal(recording_close(recording_bed_open()), 0);
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
        snprintf(sql, sizeof(sql), "ALTER TABLE %s ADD COLUMN note DEFAULT 5", tables[i]);
        recording_bed_run(sql);
    }
    recording_bed_run("CREATE TABLE notes(note TEXT)");
    struct recording *r = recording_bed_open();
    keep(r, 1, 100);
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(recording_bed_ask("SELECT sum(messages) FROM block"), 1);
    assert_int_equal(recording_bed_ask("SELECT note FROM agent"), 5);
}

static void a_file_of_another_version_is_refused_and_stays_as_it_was(void **state)
{
    struct recording *r = recording_bed_open();
    char why[256] = "", newer[64];
    (void)state;
    assert_int_equal(recording_close(r), 0);
    recording_bed_run("PRAGMA user_version=7; DROP TABLE latency;");
    assert_int_equal(recording_open(&r, recording_bed_path, why, sizeof(why)), -HOLTER_EVERSION);
    assert_non_null(strstr(why, "an older version of Holter: schema 7, and this one reads "));
    assert_int_equal(recording_bed_ask("PRAGMA user_version"), 7);
    assert_int_equal(recording_bed_ask("SELECT count(*) FROM sqlite_master WHERE name='latency'"),
                     0);
    snprintf(newer, sizeof newer, "PRAGMA user_version=%d", RECORDING_SCHEMA + 1);
    recording_bed_run(newer);
    assert_int_equal(recording_open(&r, recording_bed_path, why, sizeof(why)), -HOLTER_EVERSION);
    assert_non_null(strstr(why, "a newer version of Holter: schema "));
}

static void two_writers_never_have_one_file(void **state)
{
    struct recording *r = recording_bed_open(), *second;
    char why[256];
    (void)state;
    assert_int_equal(recording_open(&second, recording_bed_path, why, sizeof(why)), -EWOULDBLOCK);
    assert_non_null(strstr(why, "another daemon"));
    assert_int_equal(recording_close(r), 0);
    r = recording_bed_open();
    assert_int_equal(recording_close(r), 0);
}

static void a_full_disk_leaves_a_valid_file_up_to_the_last_commit(void **state)
{
    struct recording *r = recording_bed_open();
    uint8_t bytes[4096];
    uint64_t seq = 0, committed = 0;
    int code = 0;
    (void)state;
    recording_limit(r, 400);
    while (code == 0) {
        struct recorded head = recording_bed_head(seq + 1);
        fill(bytes, sizeof(bytes), seq + 1);
        code = recording_write_message(r, &head, bytes, sizeof(bytes));
        if (code == 0 && ++seq % 10 == 0) {
            code = recording_commit(r);
            committed = code == 0 ? seq : committed;
        }
        assert_true(seq < 1000);
    }
    assert_int_equal(code, -EIO);
    assert_string_equal(recording_error(r), "No space left on device");
    recording_abandon(r);
    assert_true(committed >= 50);
    assert_int_equal(read_back(4096), committed);
    assert_int_equal(
        recording_bed_ask("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check='ok'"),
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
        if (recording_open(&r, recording_bed_path, why, sizeof(why)) != 0)
            _exit(1);
        for (uint64_t seq = 1; seq <= 60; seq++) {
            uint8_t bytes[4096];
            struct recorded head = recording_bed_head(seq);
            fill(bytes, sizeof(bytes), seq);
            recording_write_message(r, &head, bytes, sizeof(bytes));
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
    assert_int_equal(
        recording_bed_ask("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check='ok'"),
        1);
    struct recording *r = recording_bed_open(); /* the dead one's lock is nobody's */
    keep(r, 41, 4096);
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(read_back(4096), 41);
}

/* Bytes of all blocks of messages that Huffman codes halve, with a commit after each so many. */
static int64_t bytes_of_blocks(uint64_t messages_a_commit)
{
    uint8_t bytes[4096];
    unlink(recording_bed_path);
    struct recording *r = recording_bed_open();
    for (uint64_t seq = 1; seq <= 300; seq++) {
        struct recorded head = recording_bed_head(seq);
        fill(bytes, sizeof(bytes), seq);
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] >>= 4;
        assert_int_equal(recording_write_message(r, &head, bytes, sizeof(bytes)), 0);
        if (seq % messages_a_commit == 0)
            assert_int_equal(recording_commit(r), 0);
    }
    assert_int_equal(recording_close(r), 0);
    return recording_bed_ask("SELECT sum(length(data)) FROM block");
}

static void few_messages_a_commit_are_packed_as_small_as_many(void **state)
{
    (void)state;
    assert_in_range(bytes_of_blocks(10), 580000, 680000); /* of 1,228,800 */
    assert_in_range(bytes_of_blocks(301), 580000, 680000);
    assert_in_range(bytes_of_blocks(250), 580000, 680000);
}

static void put_state(const char *state)
{
    struct recording *r = recording_bed_open();
    struct wire_job job = {.job = "job.0", .state = state, .app = "a", .mpi = "m"};
    keep(r, 1, 10);
    assert_int_equal(recording_write_result(r, WIRE_TYPE_JOB, &job), 0);
    assert_int_equal(recording_close(r), 0);
}

/* The path that a job's messages are written to. @param exists  it is that of a recording */
static const char *choose_path(const char *job, uint64_t instance, bool exists)
{
    static char chosen[160];
    int found = !exists;
    assert_int_equal(recording_choose_path(recording_bed_directory, job, instance, chosen,
                                           sizeof(chosen), &found),
                     0);
    assert_int_equal(found, exists);
    return chosen;
}

static void a_running_job_s_file_is_continued(void **state)
{
    (void)state;
    assert_string_equal(choose_path("job.0", 1, false), recording_bed_path);
    put_state("running");
    assert_string_equal(choose_path("job.0", 1, true), recording_bed_path);
}

/* Its daemon was killed before it had made tables in it. */
static void a_file_that_was_not_begun_is_begun(void **state)
{
    (void)state;
    fclose(fopen(recording_bed_path, "we"));
    assert_string_equal(choose_path("job.0", 1, false), recording_bed_path);
    put_state("running");
    assert_string_equal(choose_path("job.0", 1, true), recording_bed_path);
}

static void an_ended_job_s_file_is_left_alone(void **state)
{
    (void)state;
    put_state("ended");
    assert_non_null(strstr(choose_path("job.0", 1, false), "holter-job.0-2.hrec"));
    /* but for the agent whose messages it holds */
    assert_string_equal(choose_path("job.0", UINT64_MAX - 5, true), recording_bed_path);
}

/* A daemon on another host has a job of the same id, and the directory is shared. */
static void a_file_that_is_being_written_is_left_alone(void **state)
{
    (void)state;
    put_state("running");
    struct recording *r = recording_bed_open();
    assert_non_null(strstr(choose_path("job.0", 1, false), "holter-job.0-2.hrec"));
    assert_int_equal(recording_close(r), 0);
    assert_string_equal(choose_path("job.0", 1, true), recording_bed_path);
}

/* A running job has a recording of the name of another job's second one. */
static void put_second(const char *id, char path[160])
{
    struct recording *r;
    char why[256];
    struct recorded head = recording_bed_head(1);
    const struct wire_job job = {.job = id, .state = "running", .app = "a", .mpi = "m"};
    snprintf(path, 160, "%s/holter-job.0-2.hrec", recording_bed_directory);
    assert_int_equal(recording_open(&r, path, why, sizeof(why)), 0);
    assert_int_equal(recording_write_message(r, &head, "0123456789", 10), 0);
    assert_int_equal(recording_write_result(r, WIRE_TYPE_JOB, &job), 0);
    assert_int_equal(recording_close(r), 0);
}

static void a_file_of_another_job_is_not_continued(void **state)
{
    char second[160];
    (void)state;
    put_state("ended");
    put_second("job.0", second);
    assert_non_null(strstr(choose_path("job.0-2", 1, false), "/holter-job.0-2-2.hrec"));
    assert_string_equal(choose_path("job.0", 1, true), second);
}

static void a_running_job_s_file_is_found_before_that_of_another_job(void **state)
{
    char second[160];
    (void)state;
    put_state("running");
    put_second("job.0-2", second);
    assert_string_equal(choose_path("job.0", 1, true), recording_bed_path);
}

static void a_recording_of_somebody_else_is_not_continued_in_place_of_the_own(void **state)
{
    char chosen[160], second[160];
    struct recording *r;
    (void)state;
    put_state("running");
    put_second("job.0", second);
    assert_int_equal(recording_open(&r, second, chosen, sizeof(chosen)), 0);
    assert_string_equal(choose_path("job.0", UINT64_MAX - 5, true), recording_bed_path);
    assert_non_null(strstr(choose_path("job.0", 1, false), "holter-job.0-3.hrec"));
    assert_int_equal(sqlite3_exec(recording_database(r),
                                  "INSERT INTO part(one, attached_ns) VALUES(1, 77)", NULL, NULL,
                                  NULL),
                     SQLITE_OK);
    assert_int_equal(recording_close(r), 0);
    assert_string_equal(choose_path("job.0", 1, true), recording_bed_path);
}

/* A replay of a job that runs was recorded in its directory. */
static void a_recorded_replay_is_not_continued_in_place_of_the_own(void **state)
{
    char chosen[160], second[160];
    struct recording *r;
    const struct wire_job job = {.job = "job.0", .state = "cut short", .app = "a", .mpi = "m"};
    (void)state;
    put_state("running");
    put_second("job.0", second);
    assert_int_equal(recording_open(&r, second, chosen, sizeof(chosen)), 0);
    assert_int_equal(recording_write_result(r, WIRE_TYPE_JOB, &job), 0);
    assert_int_equal(recording_close(r), 0);
    assert_string_equal(choose_path("job.0", 1, true), recording_bed_path);
}

static void other_files_are_refused(void **state)
{
    struct recording *r;
    char why[256];
    FILE *file = fopen(recording_bed_path, "w");
    struct read_back b = {0};
    (void)state;
    for (int i = 0; i < 3000; i++)
        fputs("this is no data base ", file);
    fclose(file);
    assert_int_equal(recording_open(&r, recording_bed_path, why, sizeof(why)), -HOLTER_ECORRUPT);
    assert_true(recording_read(recording_bed_path,
                               &(struct recording_reader){&b, on_alert, on_message}) < 0);
    unlink(recording_bed_path);
    sqlite3 *db;
    sqlite3_open(recording_bed_path, &db);
    sqlite3_exec(db, "CREATE TABLE t(x)", NULL, NULL, NULL);
    sqlite3_close(db);
    assert_int_equal(recording_open(&r, recording_bed_path, why, sizeof(why)), -HOLTER_EVERSION);
}

/* The file itself could be made, but no log beside it. */
static void a_name_too_long_for_a_log_is_reported(void **state)
{
    struct recording *r;
    char path[400], why[600];
    (void)state;
    snprintf(path, sizeof(path), "%s/%0250d", recording_bed_directory, 0);
    assert_int_equal(recording_open(&r, path, why, sizeof(why)), -EIO);
    assert_string_equal(recording_error_without_path(why, path), holter_strerror(-ENAMETOOLONG));
    assert_int_equal(access(path, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RECORDING_BED(messages_come_back_byte_for_byte_in_order),
        RECORDING_BED(the_file_alone_has_everything_although_a_reader_keeps_its_log),
        RECORDING_BED(what_follows_damage_is_read),
        RECORDING_BED(columns_that_somebody_added_do_no_harm),
        RECORDING_BED(a_file_of_another_version_is_refused_and_stays_as_it_was),
        RECORDING_BED(two_writers_never_have_one_file),
        RECORDING_BED(a_full_disk_leaves_a_valid_file_up_to_the_last_commit),
        RECORDING_BED(a_killed_writer_loses_what_was_not_committed_and_no_more),
        RECORDING_BED(few_messages_a_commit_are_packed_as_small_as_many),
        RECORDING_BED(a_running_job_s_file_is_continued),
        RECORDING_BED(a_file_that_was_not_begun_is_begun),
        RECORDING_BED(an_ended_job_s_file_is_left_alone),
        RECORDING_BED(a_file_that_is_being_written_is_left_alone),
        RECORDING_BED(a_file_of_another_job_is_not_continued),
        RECORDING_BED(a_running_job_s_file_is_found_before_that_of_another_job),
        RECORDING_BED(a_recording_of_somebody_else_is_not_continued_in_place_of_the_own),
        RECORDING_BED(a_recorded_replay_is_not_continued_in_place_of_the_own),
        RECORDING_BED(other_files_are_refused),
        RECORDING_BED(a_name_too_long_for_a_log_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "daemon/storage/recording.h"
#include "daemon/storage/recording_file.h"
#include "holter/error.h"
#include "tests/directory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define NOBODY 65534 /* who may not write where root may, too */

static char directory[DIRECTORY_ROOM], before[600], why[600];
static struct recording_file file;

static int make_directory(void **state)
{
    (void)state;
    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(directory_make(directory), 0);
    assert_int_equal(chdir(directory), 0);
    return 0;
}

static int remove_directory(void **state)
{
    (void)state;
    assert_int_equal(chdir(before), 0);
    return directory_remove(directory);
}

static struct recording *make(const char *path)
{
    struct recording *r;
    const struct wire_job job = {.job = "job.0", .state = "running"};
    if (recording_open(&r, path, why, sizeof(why)) != 0)
        fail_msg("%s", why);
    assert_int_equal(recording_write_result(r, WIRE_TYPE_JOB, &job), 0);
    assert_int_equal(recording_commit(r), 0);
    return r;
}

static void holds_a_job(const char *path)
{
    int64_t jobs = 0;
    file = (struct recording_file){0};
    if (recording_file_open(&file, path, RECORDING_READ, why, sizeof(why)) != 0)
        fail_msg("%s: %s", path, why);
    assert_int_equal(recording_file_number(&file, "SELECT count(*) FROM job", &jobs), 0);
    assert_int_equal(jobs, 1);
    recording_file_close(&file);
}

static void copy(const char *from, const char *to)
{
    char bytes[4096];
    size_t got;
    FILE *in = fopen(from, "rb"), *into = fopen(to, "wb");
    assert_true(in != NULL && into != NULL);
    while ((got = fread(bytes, 1, sizeof(bytes), in)) > 0)
        assert_int_equal(fwrite(bytes, 1, got, into), got);
    assert_true(fclose(in) == 0 && fclose(into) == 0);
}

static void any_name_is_that_of_a_file(void **state)
{
    static const char *const names[] = {"file:a.hrec", "file:b?mode=memory", ":memory:", "a%41?b#c",
                                        "a 'b' \"c\""};
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        assert_int_equal(recording_close(make(names[i])), 0);
        assert_int_equal(access(names[i], F_OK), 0);
        holds_a_job(names[i]);
    }
}

/* As another user where this one is root. */
static void lock(const char *place)
{
    assert_int_equal(chmod(directory, 0755), 0);
    assert_int_equal(chmod(place, 0555), 0);
    if (geteuid() == 0)
        assert_int_equal(seteuid(NOBODY), 0);
}

static void unlock(const char *place)
{
    if (getuid() == 0)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(chmod(place, 0755), 0);
}

static void what_a_killed_daemon_left_is_read_where_nothing_can_be_written(void **state)
{
    (void)state;
    static const char place[] = "a?b%41", name[] = "a?b%41/a#.hrec", log[] = "a?b%41/a#.hrec-wal";
    struct recording *r = make("a.hrec");
    assert_int_equal(mkdir(place, 0755), 0);
    copy("a.hrec", name);
    copy("a.hrec-wal", log);
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(chmod(log, 0444), 0);
    assert_int_equal(chmod(name, 0444), 0);
    assert_int_equal(symlink(name, "link.hrec"), 0);
    lock(place);
    holds_a_job(name);
    holds_a_job("link.hrec");
    unlock(place);
    assert_int_equal(access("a?b%41/a#.hrec-shm", F_OK), -1);
    assert_int_equal(recording_bytes_at("link.hrec"), recording_bytes_at(name));
}

static void a_copy_without_the_log_is_named_as_what_it_may_be(void **state)
{
    struct recording *r = make("a.hrec");
    (void)state;
    copy("a.hrec", "b.hrec");
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(recording_file_open(&file, "b.hrec", RECORDING_READ, why, sizeof(why)),
                     -HOLTER_EEMPTY);
    assert_string_equal(why, "nothing has been written to it yet, or it was copied while it was "
                             "written, without the -wal file beside it");
}

/* Killed when all of the log had been folded in. */
static void so_is_what_needs_its_log_no_more(void **state)
{
    (void)state;
    static const char place[] = "p", name[] = "p/a.hrec";
    struct recording *r = make("a.hrec");
    sqlite3 *db = recording_database(r);
    assert_int_equal(sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(mkdir(place, 0755), 0);
    copy("a.hrec", name);
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(chmod(name, 0444), 0);
    lock(place);
    holds_a_job(name);
    unlock(place);
}

static void a_path_that_is_too_long_is_reported(void **state)
{
    char part[131], path[600] = "";
    (void)state;
    memset(part, 'x', sizeof(part) - 1);
    part[sizeof(part) - 1] = '\0';
    for (int i = 0; i < 4; i++) {
        snprintf(path + strlen(path), sizeof(path) - strlen(path), "%s/", part);
        assert_int_equal(mkdir(path, 0755), 0);
    }
    assert_int_equal(recording_close(make("a.hrec")), 0);
    snprintf(path + strlen(path), sizeof(path) - strlen(path), "a.hrec");
    copy("a.hrec", path);
    file = (struct recording_file){0};
    assert_int_equal(recording_file_open(&file, path, RECORDING_READ, why, sizeof(why)), -EIO);
    assert_non_null(strstr(why, "longer than the 504 bytes"));
    *strrchr(path, '/') = '\0';
    assert_int_equal(chdir(path), 0);
    assert_int_equal(recording_file_open(&file, "b.hrec", RECORDING_WRITE, why, sizeof(why)), -EIO);
    assert_non_null(strstr(why, "longer than the 504 bytes"));
}

static void a_file_without_its_end_is_for_those_who_salvage(void **state)
{
    (void)state;
    struct stat whole;
    struct recording *r = make("a.hrec");
    assert_int_equal(sqlite3_exec(recording_database(r),
                                  "INSERT INTO topology_part VALUES(1, zeroblob(100000))", NULL,
                                  NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(recording_close(r), 0);
    assert_int_equal(stat("a.hrec", &whole), 0);
    assert_int_equal(truncate("a.hrec", whole.st_size - 5000), 0);
    file = (struct recording_file){0};
    assert_int_equal(recording_file_open(&file, "a.hrec", RECORDING_READ, why, sizeof(why)),
                     -HOLTER_ECORRUPT);
    assert_non_null(strstr(why, "cut short"));
    assert_non_null(strstr(why, "`holter cut`"));
    assert_int_equal(recording_file_open(&file, "a.hrec", RECORDING_SALVAGE, why, sizeof(why)), 0);
    assert_int_equal(file.lacking, 5000);
    recording_file_close(&file);
}

static void files_that_cannot_be_read_are_reported_with_the_cause(void **state)
{
    static const struct {
        const char *sql, *why;
    } others[] = {{"PRAGMA user_version=999", "a newer version of Holter: schema 999"},
                  {"PRAGMA user_version=0", "an older version of Holter: schema 0"},
                  {"PRAGMA application_id=5", "no recording"}};
    (void)state;
    assert_int_equal(recording_close(make("a.hrec")), 0);
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        sqlite3 *db;
        assert_int_equal(sqlite3_open("a.hrec", &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, others[i].sql, NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
        file = (struct recording_file){0};
        assert_int_equal(recording_file_open(&file, "a.hrec", RECORDING_READ, why, sizeof(why)),
                         -HOLTER_EVERSION);
        assert_non_null(strstr(why, others[i].why));
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)
    const struct CMUnitTest tests[] = {
        TEST(any_name_is_that_of_a_file),
        TEST(what_a_killed_daemon_left_is_read_where_nothing_can_be_written),
        TEST(a_copy_without_the_log_is_named_as_what_it_may_be),
        TEST(so_is_what_needs_its_log_no_more),
        TEST(a_path_that_is_too_long_is_reported),
        TEST(files_that_cannot_be_read_are_reported_with_the_cause),
        TEST(a_file_without_its_end_is_for_those_who_salvage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "daemon/import/import_file.h"
#include "tests/directory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#define RANKS 3u

static const uint32_t host_of[RANKS] = {0, 0, 1};
static const char hosts[2][65] = {"n0", "n1"};
static const struct import_job job = {.name = "job",
                                      .app = "app",
                                      .command = "imported",
                                      .mpi = "imported: by a test",
                                      .ranks = RANKS,
                                      .host_of = host_of,
                                      .hosts = hosts,
                                      .host_count = 2,
                                      .window_ns = 1000000};

struct place {
    char directory[DIRECTORY_ROOM], path[64], log[80], why[200];
};

static int set_up(void **state)
{
    static struct place place;
    place.why[0] = '\0';
    *state = &place;
    if (directory_make(place.directory) != 0)
        return -1;
    snprintf(place.path, sizeof(place.path), "%s/made.hrec", place.directory);
    snprintf(place.log, sizeof(place.log), "%s-wal", place.path);
    return 0;
}

static int tear_down(void **state)
{
    return directory_remove(((struct place *)*state)->directory);
}

/* A job with one window of its first host. */
static struct import_file *begin(struct place *place)
{
    struct import_file *file;
    struct wire_window window = {
        .job = job.name, .host = hosts[0], .length_ns = job.window_ns, .flags = WINDOW_FINAL};
    assert_int_equal(import_file_create(&file, place->path, &job, place->why, sizeof(place->why)),
                     0);
    window.window = import_file_first_window(file);
    assert_int_equal(import_file_window(file, 0, &window), 0);
    assert_int_equal(access(place->path, F_OK), 0);
    return file;
}

static void names_of_sources_become_ids_of_jobs(void **state)
{
    static const struct {
        const char *source, *job;
    } cases[] = {{"run-3_b.2", "run-3_b.2"},
                 {"my run (2)", "myrun2"},
                 {"..traces", "traces"},
                 {"m\xc3\xa4rz", "mrz"},
                 {"", "other"},
                 {"...", "other"}};
    char name[IMPORT_JOB_NAME], longer[100];
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        import_job_name(name, cases[i].source, strlen(cases[i].source), "other");
        assert_string_equal(name, cases[i].job);
    }
    import_job_name(name, "run.txt", 3, "other");
    assert_string_equal(name, "run");
    memset(longer, 'x', sizeof(longer));
    import_job_name(name, longer, sizeof(longer), "other");
    assert_int_equal(strlen(name), 64);
}

static void a_job_that_is_whole_stays(void **state)
{
    struct place *place = *state;
    assert_int_equal(import_file_close(begin(place), 0, 1, place->why, sizeof(place->why)), 0);
    assert_int_equal(access(place->path, F_OK), 0);
    assert_int_not_equal(access(place->log, F_OK), 0);
}

static void nothing_is_left_of_a_job_that_failed(void **state)
{
    struct place *place = *state;
    place->why[0] = '\0';
    assert_int_equal(import_file_close(begin(place), -ENOMEM, 1, place->why, sizeof(place->why)),
                     -ENOMEM);
    assert_int_not_equal(access(place->path, F_OK), 0);
    assert_int_not_equal(access(place->log, F_OK), 0);
}

static void what_was_there_before_stays(void **state)
{
    struct place *place = *state;
    struct import_file *file = NULL;
    FILE *other = fopen(place->path, "w");
    assert_non_null(other);
    fputs("other", other);
    fclose(other);
    assert_int_equal(import_file_create(&file, place->path, &job, place->why, sizeof(place->why)),
                     -EEXIST);
    assert_null(file);
    assert_int_equal(access(place->path, F_OK), 0);
}

static void an_import_that_never_began_is_closed_with_its_error(void **state)
{
    struct place *place = *state;
    assert_int_equal(import_file_close(NULL, -EIO, 0, place->why, sizeof(place->why)), -EIO);
    assert_string_equal(place->why, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_sources_become_ids_of_jobs),
        cmocka_unit_test_setup_teardown(a_job_that_is_whole_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_left_of_a_job_that_failed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_there_before_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_import_that_never_began_is_closed_with_its_error, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Where recordings are written. */
#include "daemon/recording.h"
#include "tests/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
// clang-format off
#include <cmocka.h>
// clang-format on

static char top[DIRECTORY_ROOM], path[1024];

static int set_up(void **state)
{
    (void)state;
    return directory_make(top);
}

static int tear_down(void **state)
{
    (void)state;
    return directory_remove(top);
}

static const char *below(const char *name)
{
    snprintf(path, sizeof(path), "%s/%s", top, name);
    return path;
}

static void a_directory_is_made_with_those_above_it(void **state)
{
    struct stat status;
    (void)state;
    for (int again = 0; again < 2; again++)
        assert_int_equal(recording_directory(below("a/b/c")), 0);
    assert_int_equal(stat(path, &status), 0);
    assert_true(S_ISDIR(status.st_mode));
}

static void a_place_where_none_can_be_is_told(void **state)
{
    (void)state;
    int fd = open(below("file"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(recording_directory(below("file")), -ENOTDIR);
    assert_int_equal(recording_directory(below("file/in")), -ENOTDIR);
    assert_int_equal(symlink("nowhere", below("link")), 0);
    assert_int_equal(recording_directory(below("link")), -ENOENT);
    memset(path, 'x', 600);
    path[600] = '\0';
    assert_int_equal(recording_directory(path), -ENAMETOOLONG);
}

static void a_job_gets_a_name_that_no_other_file_has(void **state)
{
    char first[512], second[512];
    (void)state;
    assert_int_equal(recording_new(top, "job.7", first, sizeof(first)), 0);
    assert_non_null(strstr(first, "/holter-job.7.hrec"));
    int fd = open(first, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(recording_new(top, "job.7", second, sizeof(second)), 0);
    assert_non_null(strstr(second, "/holter-job.7-2.hrec"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_directory_is_made_with_those_above_it),
        TEST(a_place_where_none_can_be_is_told),
        TEST(a_job_gets_a_name_that_no_other_file_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

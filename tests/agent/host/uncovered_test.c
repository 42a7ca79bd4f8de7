/* What the tables of real MPI libraries and of this program say. */
#include "agent/host/uncovered.h"

#include "holter/call.h"
#include "holter/error.h"
#include "tests/directory.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* MPI_LIBRARIES: paths of the MPI libraries that are installed, separated by colons. */

static void installed_libraries_hold_nothing_that_is_covered_or_local(void **state)
{
    (void)state;
    char libraries[] = MPI_LIBRARIES, *rest = libraries;
    for (char *path; (path = strsep(&rest, ":")) != NULL && *path != '\0';) {
        struct uncovered list;
        assert_int_equal(uncovered_in(&list, path, NULL, 0), 0);
        for (uint64_t i = 0; i < list.count; i++) {
            assert_int_equal(strncmp(list.rows[i].name, "MPI_", 4), 0);
            assert_int_equal(call_by_name(list.rows[i].name), 0);
            assert_false(call_is_local(list.rows[i].name));
            assert_int_equal(list.rows[i].used, 0);
            if (i > 0)
                assert_true(strcmp(list.rows[i - 1].name, list.rows[i].name) < 0);
        }
        uncovered_finish(&list);
    }
}

static void function_that_nobody_covers_is_listed_with_its_user(void **state)
{
    (void)state;
    const char *const users[] = {"/nonexistent", FAKE_USER};
    struct uncovered list;
    assert_int_equal(uncovered_in(&list, FAKE_LIBRARY, users, 2), 0);
    assert_int_equal(list.count, 2);
    assert_string_equal(list.rows[0].name, "MPI_Teleport");
    assert_int_equal(list.rows[0].used, 1);
    assert_string_equal(list.rows[1].name, "MPI_Unteleport");
    assert_int_equal(list.rows[1].used, 0);
    uncovered_finish(&list);
}

static void process_without_mpi_has_no_library(void **state)
{
    (void)state;
    struct uncovered list;
    assert_int_equal(uncovered_find(&list, (int32_t)getpid()), -HOLTER_ENOMPI);
    assert_int_equal(uncovered_find(&list, INT32_MAX), -ENOENT);
}

/* A process that has mapped MPI under this file name, and a library that uses it. */
static void assert_found_under(const char *name)
{
    char directory[DIRECTORY_ROOM], path[128], command[512];
    struct uncovered list;
    assert_int_equal(directory_make(directory), 0);
    snprintf(path, sizeof path, "%s/%s", directory, name);
    snprintf(command, sizeof command, "cp '%s' '%s'", FAKE_LIBRARY, path);
    assert_int_equal(system(command), 0);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL),
         *user = dlopen(FAKE_USER, RTLD_NOW | RTLD_LOCAL);
    assert_true(library != NULL && user != NULL);
    assert_int_equal(uncovered_find(&list, (int32_t)getpid()), 0);
    assert_int_equal(list.count, 2);
    assert_string_equal(list.rows[0].name, "MPI_Teleport");
    assert_int_equal(list.rows[0].used, 1);
    uncovered_finish(&list);
    dlclose(user);
    dlclose(library);
    directory_remove(directory);
}

static void an_mpi_is_found_under_all_its_names(void **state)
{
    (void)state;
    assert_found_under("libmpi.so.40");
    assert_found_under("libmpich.so.12");
    assert_found_under("libmpi-1f2e3d4c.so.12");
    assert_found_under("libmpi_gnu_91.so.12");
    assert_found_under("libmpi_cray.so.12");
    assert_found_under("libmpi_amd.so.12");
    assert_found_under("libmpi_nvidia.so.12");
}

/* The library cut off anywhere, and with bytes changed at random: an error or a list, never harm.
 */
static void damaged_files_do_no_harm(void **state)
{
    (void)state;
    static char bytes[1 << 20];
    char path[] = "/tmp/holter-test-XXXXXX";
    int in = open(FAKE_LIBRARY, O_RDONLY), out = mkstemp(path);
    assert_true(in >= 0 && out >= 0);
    ssize_t length = read(in, bytes, sizeof bytes);
    assert_true(length > 1000);
    uint64_t seed = 3;
    for (int round = 0; round < 300; round++) {
        static char damaged[1 << 20];
        memcpy(damaged, bytes, (size_t)length);
        for (int i = 0; i < 20; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            /* headers at both ends more often than what lies between */
            size_t at = (seed >> 20) % (i % 2 ? 64 : (size_t)length);
            damaged[at] = (char)(seed >> 50);
        }
        size_t kept = round % 3 == 0 ? (seed >> 30) % (size_t)length : (size_t)length;
        assert_int_equal(ftruncate(out, 0), 0);
        assert_int_equal(pwrite(out, damaged, kept, 0), (ssize_t)kept);
        struct uncovered list;
        if (uncovered_in(&list, path, NULL, 0) == 0)
            uncovered_finish(&list);
    }
    close(in);
    close(out);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(installed_libraries_hold_nothing_that_is_covered_or_local),
        cmocka_unit_test(function_that_nobody_covers_is_listed_with_its_user),
        cmocka_unit_test(process_without_mpi_has_no_library),
        cmocka_unit_test(an_mpi_is_found_under_all_its_names),
        cmocka_unit_test(damaged_files_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

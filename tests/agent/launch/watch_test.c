#include "agent/launch/watch.h"

#include "agent/terminal/paths.h"
#include "holter/error.h"
#include "tests/directory.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void expect_preload(const char *user, const char *sanitizer, const char *expected)
{
    char out[256];
    assert_int_equal(watch_preload(out, sizeof out, "/lib/probe.so", user, sanitizer), 0);
    assert_string_equal(out, expected);
}

static void the_probe_comes_before_what_the_user_preloads(void **state)
{
    (void)state;
    expect_preload(NULL, "", "/lib/probe.so");
    expect_preload("", "", "/lib/probe.so");
    expect_preload("/a.so /b.so:c.so", "", "/lib/probe.so:/a.so:/b.so:c.so");
}

static void the_probe_is_preloaded_once(void **state)
{
    (void)state;
    expect_preload("/lib/probe.so:/a.so", "", "/lib/probe.so:/a.so");
}

static void the_address_sanitizer_stays_first(void **state)
{
    (void)state;
    expect_preload("/a.so:/x/libasan.so.8", "", "/x/libasan.so.8:/lib/probe.so:/a.so");
    expect_preload("/a.so", "/x/libasan.so.8", "/x/libasan.so.8:/lib/probe.so:/a.so");
}

static void a_preload_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    char out[16], longest[8192];
    assert_int_equal(watch_preload(out, sizeof out, "/lib/probe.so", "/a.so", ""), -HOLTER_ERANGE);
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    char wide[16384];
    assert_int_equal(watch_preload(wide, sizeof wide, "/p.so", longest, ""), -HOLTER_ERANGE);
}

/* ---- finding programs ---------------------------------------------------- */

struct tree {
    char root[DIRECTORY_ROOM];
};

static void make(struct tree *t, const char *name, mode_t mode)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", t->root, name);
    if (mode & S_IFDIR) {
        assert_int_equal(mkdir(path, 0700), 0);
        return;
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    chmod(path, mode & 0777);
}

static int make_tree(void **state)
{
    static struct tree t;
    if (directory_make(t.root) != 0)
        return -1;
    make(&t, "agent", S_IFDIR);
    make(&t, "agent/probe", S_IFDIR);
    make(&t, "daemon", S_IFDIR);
    make(&t, "daemon/holterd", 0755);
    make(&t, "agent/probe/libholter-mpich.so", 0644);
    make(&t, "agent/notes", 0644);
    *state = &t;
    return 0;
}

static int remove_tree(void **state)
{
    struct tree *t = *state;
    return directory_remove(t->root);
}

static void programs_are_found_in_a_build_tree(void **state)
{
    struct tree *t = *state;
    char out[PATH_MAX], agent[PATH_MAX];
    snprintf(agent, sizeof agent, "%s/agent", t->root);
    assert_int_equal(paths_program_from(out, sizeof out, agent, "holterd"), 0);
    assert_non_null(strstr(out, "/../daemon/holterd"));
    assert_int_equal(paths_program_from(out, sizeof out, agent, "holter-view"), -ENOENT);
    assert_int_equal(paths_program_from(out, 8, agent, "holterd"), -HOLTER_ERANGE);
}

static void probes_are_found_beside_the_program_or_where_the_user_says(void **state)
{
    struct tree *t = *state;
    char out[PATH_MAX], agent[PATH_MAX], probe[PATH_MAX];
    snprintf(agent, sizeof agent, "%s/agent", t->root);
    snprintf(probe, sizeof probe, "%s/agent/probe", t->root);
    assert_int_equal(paths_probe_from(out, sizeof out, agent, NULL, MPI_FLAVOUR_MPICH), 0);
    assert_int_equal(paths_probe_from(out, sizeof out, agent, NULL, MPI_FLAVOUR_OPENMPI), -ENOENT);
    assert_int_equal(paths_probe_from(out, sizeof out, "/nonexistent", probe, MPI_FLAVOUR_MPICH),
                     0);
    assert_int_equal(paths_probe_from(out, sizeof out, agent, "/nonexistent", MPI_FLAVOUR_MPICH),
                     -ENOENT);
}

static void a_program_is_searched_as_execvp_does(void **state)
{
    struct tree *t = *state;
    char out[PATH_MAX], path[PATH_MAX];
    snprintf(path, sizeof path, "/nonexistent:%s/agent:%s/daemon", t->root, t->root);
    assert_int_equal(paths_search(out, sizeof out, "holterd", path), 0);
    assert_int_equal(paths_search(out, sizeof out, "notes", path), -EACCES);
    assert_int_equal(paths_search(out, sizeof out, "probe", path), -EACCES);
    assert_int_equal(paths_search(out, sizeof out, "missing", path), -ENOENT);
    assert_int_equal(paths_search(out, sizeof out, "/nonexistent/sim", path), -ENOENT);
    assert_int_equal(paths_search(out, sizeof out, "", path), -ENOENT);
}

/* ---- what a run learns --------------------------------------------------- */

static void a_run_learns_that_it_was_said_why_a_program_is_not_watched(void **state)
{
    struct tree *t = *state;
    char note[PATH_MAX], program[PATH_MAX];
    const struct watch_options options = {
        .session = {.daemon = "ipc:///nonexistent", .session = "abc"},
        .job = "4711",
    };
    make(t, "abc", S_IFDIR);
    make(t, "abc/owners", S_IFDIR);
    snprintf(program, sizeof program, "%s/missing", t->root);
    setenv("HOLTER_RUN_DIR", t->root, 1);
    setenv("PMIX_NAMESPACE", "step", 1);
    assert_int_equal(watch_start_process(&options, program), -1);
    unsetenv("PMIX_NAMESPACE");
    unsetenv("HOLTER_RUN_DIR");
    snprintf(note, sizeof note, "%s/abc/owners/unwatched.4711.step.start", t->root);
    assert_int_equal(access(note, F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_probe_comes_before_what_the_user_preloads),
        cmocka_unit_test(the_probe_is_preloaded_once),
        cmocka_unit_test(the_address_sanitizer_stays_first),
        cmocka_unit_test(a_preload_that_does_not_fit_is_refused),
        cmocka_unit_test_setup_teardown(programs_are_found_in_a_build_tree, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(probes_are_found_beside_the_program_or_where_the_user_says,
                                        make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(a_program_is_searched_as_execvp_does, make_tree,
                                        remove_tree),
        cmocka_unit_test_setup_teardown(a_run_learns_that_it_was_said_why_a_program_is_not_watched,
                                        make_tree, remove_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

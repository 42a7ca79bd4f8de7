#include "holter/session.h"

#include "holter/error.h"
#include "tests/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

struct place {
    char top[DIRECTORY_ROOM];
    char run[64];
};

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    *state = place;
    if (directory_make(place->top) != 0)
        return -1;
    snprintf(place->run, sizeof place->run, "%s/run", place->top);
    setenv("HOLTER_RUN_DIR", place->run, 1);
    unsetenv("HOLTER_DAEMON");
    unsetenv("HOLTER_KEYS");
    return 0;
}

static const char *under(const struct place *place, const char *name)
{
    static char path[2][160];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", place->run, name);
    return path[turn];
}

static int drop_place(void **state)
{
    struct place *place = *state;
    static const char *const names[] = {"holterd.sock", "abc/holterd.sock", "def/holterd.sock",
                                        "not-hex/holterd.sock"};
    static const char *const directories[] = {"abc", "def", "not-hex", "keys"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(under(place, names[i]));
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
        rmdir(under(place, directories[i]));
    unlink(place->run);
    rmdir(place->run);
    int result = rmdir(place->top);
    free(place);
    return result;
}

static void the_run_directory_is_made_for_its_owner(void **state)
{
    struct place *place = *state;
    char out[128];
    struct stat status;
    assert_int_equal(session_run_dir(out, sizeof out), 0);
    assert_string_equal(out, place->run);
    assert_int_equal(stat(out, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    assert_int_equal(session_run_dir(out, sizeof out), 0);
}

static void a_run_directory_others_may_write_to_is_refused(void **state)
{
    struct place *place = *state;
    char out[128] = "kept";
    assert_int_equal(mkdir(place->run, 0700), 0);
    assert_int_equal(chmod(place->run, 0770), 0);
    assert_int_equal(session_run_dir(out, sizeof out), -EPERM);
    assert_int_equal(chmod(place->run, 0702), 0);
    assert_int_equal(session_run_dir(out, sizeof out), -EPERM);
    assert_string_equal(out, "kept");
    rmdir(place->run);
    assert_int_equal(symlink("/tmp", place->run), 0);
    assert_int_equal(session_run_dir(out, sizeof out), -ENOTDIR);
}

static void what_is_wrong_with_a_run_directory_is_a_sentence(void **state)
{
    struct place *place = *state;
    char out[128] = "kept", why[256] = "", expected[256];
    assert_int_equal(mkdir(place->run, 0700), 0);
    assert_int_equal(chmod(place->run, 0770), 0);
    assert_int_equal(session_explain_run_dir(out, sizeof out, why, sizeof why), -EPERM);
    snprintf(expected, sizeof expected, "%s: other users may write to it", place->run);
    assert_string_equal(why, expected);
    assert_int_equal(chmod(place->run, 0700), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(place->run, 4321, 0), 0);
        assert_int_equal(session_explain_run_dir(out, sizeof out, why, sizeof why), -EPERM);
        snprintf(expected, sizeof expected, "%s belongs to the user with number 4321", place->run);
        assert_string_equal(why, expected);
    }
    assert_string_equal(out, "kept");
}

static void a_run_directory_that_depends_on_the_working_directory_is_refused(void **state)
{
    (void)state;
    char out[128] = "kept", why[256] = "";
    setenv("HOLTER_RUN_DIR", "run-of-a-test", 1);
    assert_int_equal(session_explain_run_dir(out, sizeof out, why, sizeof why), -EINVAL);
    assert_string_equal(why, "HOLTER_RUN_DIR=run-of-a-test: the path must begin at the root");
    assert_string_equal(out, "kept");
    assert_int_equal(access("run-of-a-test", F_OK), -1);
}

static void what_another_user_has_put_where_all_may_write_is_not_written_to(void **state)
{
    struct place *place = *state;
    char file[160], why[256] = "kept", expected[256];
    assert_int_equal(mkdir(place->run, 0700), 0);
    snprintf(file, sizeof file, "%s/file", place->run);
    assert_int_equal(session_check_shared_file(file, why, sizeof why), 0); /* there is none yet */
    assert_int_equal(symlink("/nowhere", file), 0);
    assert_int_equal(chmod(place->run, 01777), 0);
    assert_int_equal(session_check_shared_file(file, why, sizeof why), 0); /* an own one */
    assert_string_equal(why, "kept");
    if (geteuid() == 0) {
        assert_int_equal(lchown(file, 4321, 0), 0);
        assert_int_equal(session_check_shared_file(file, why, sizeof why), -EACCES);
        snprintf(expected, sizeof expected, "%s belongs to the user with number 4321", file);
        assert_string_equal(why, expected);
        assert_int_equal(chmod(place->run, 0770), 0); /* a group's */
        assert_int_equal(session_check_shared_file(file, why, sizeof why), 0);
        assert_int_equal(chmod(place->run, 01777), 0);
        assert_int_equal(chown(place->run, 4321, 0), 0); /* the owner's of the directory */
        assert_int_equal(session_check_shared_file(file, why, sizeof why), 0);
    }
    unlink(file);
}

static void a_path_that_does_not_fit_is_an_error(void **state)
{
    (void)state;
    char out[8] = "kept";
    assert_int_equal(session_run_dir(out, sizeof out), -HOLTER_ERANGE);
    assert_int_equal(session_default_endpoint(out, sizeof out), -HOLTER_ERANGE);
    assert_int_equal(session_find_daemon(out, sizeof out), -HOLTER_ERANGE);
    char longer[5000];
    memset(longer, 'x', sizeof longer);
    longer[0] = '/';
    longer[sizeof longer - 1] = '\0';
    setenv("HOLTER_RUN_DIR", longer, 1);
    assert_int_equal(session_run_dir(out, sizeof out), -HOLTER_ERANGE);
}

static void no_runtime_directory_means_one_below_tmp(void **state)
{
    (void)state;
    char out[128], expected[64];
    unsetenv("HOLTER_RUN_DIR");
    setenv("XDG_RUNTIME_DIR", "/nonexistent", 1);
    snprintf(expected, sizeof expected, "/tmp/holter-%u", geteuid());
    assert_int_equal(session_run_dir(out, sizeof out), 0);
    assert_string_equal(out, expected);
    unsetenv("XDG_RUNTIME_DIR");
}

static void a_runtime_directory_that_others_may_write_is_not_used(void **state)
{
    (void)state;
    char directory[DIRECTORY_ROOM], own[DIRECTORY_ROOM + 16], out[128], expected[64];
    assert_int_equal(directory_make(directory), 0);
    unsetenv("HOLTER_RUN_DIR");
    setenv("XDG_RUNTIME_DIR", directory, 1);
    snprintf(own, sizeof own, "%s/holter", directory);
    assert_int_equal(chmod(directory, 0700), 0);
    assert_int_equal(session_run_dir(out, sizeof out), 0);
    assert_string_equal(out, own);
    snprintf(expected, sizeof expected, "/tmp/holter-%u", geteuid());
    assert_int_equal(chmod(directory, 0777), 0);
    assert_int_equal(session_run_dir(out, sizeof out), 0);
    assert_string_equal(out, expected);
    unsetenv("XDG_RUNTIME_DIR");
    assert_int_equal(directory_remove(directory), 0);
}

static int listener(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 5), 0);
    return fd;
}

static void date(const char *path, time_t seconds)
{
    const struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void a_named_daemon_comes_first(void **state)
{
    (void)state;
    char out[128];
    setenv("HOLTER_DAEMON", "tcp://login1:5555", 1);
    assert_int_equal(session_find_daemon(out, sizeof out), 0);
    assert_string_equal(out, "tcp://login1:5555");
    unsetenv("HOLTER_DAEMON");
}

static void the_newest_served_socket_is_found(void **state)
{
    struct place *place = *state;
    char out[256], expected[256];
    assert_int_equal(session_find_daemon(out, sizeof out), 0);
    snprintf(expected, sizeof expected, "ipc://%s", under(place, "holterd.sock"));
    assert_string_equal(out, expected); /* the default: nobody is there */

    assert_int_equal(mkdir(under(place, "abc"), 0700), 0);
    assert_int_equal(mkdir(under(place, "def"), 0700), 0);
    assert_int_equal(mkdir(under(place, "not-hex"), 0700), 0);
    int own = listener(under(place, "holterd.sock")),
        abc = listener(under(place, "abc/holterd.sock")),
        def = listener(under(place, "def/holterd.sock")),
        other = listener(under(place, "not-hex/holterd.sock"));
    date(under(place, "holterd.sock"), 1000);
    date(under(place, "abc/holterd.sock"), 2000);
    date(under(place, "def/holterd.sock"), 3000);
    date(under(place, "not-hex/holterd.sock"), 4000);
    assert_int_equal(session_find_daemon(out, sizeof out), 0);
    assert_non_null(strstr(out, "/def/holterd.sock"));
    close(def); /* killed: its socket stays */
    assert_int_equal(session_find_daemon(out, sizeof out), 0);
    assert_non_null(strstr(out, "/abc/holterd.sock"));
    close(abc);
    close(own);
    close(other);
}

static void keys_are_found_beside_the_socket(void **state)
{
    struct place *place = *state;
    char out[128], endpoint[128];
    assert_int_equal(session_run_dir(out, sizeof out), 0);
    snprintf(endpoint, sizeof endpoint, "ipc://%s", under(place, "holterd.sock"));
    assert_int_equal(session_find_keys(out, sizeof out, endpoint), 0);
    assert_string_equal(out, "");
    assert_int_equal(mkdir(under(place, "keys"), 0700), 0);
    assert_int_equal(session_find_keys(out, sizeof out, endpoint), 0);
    assert_string_equal(out, under(place, "keys"));
    assert_int_equal(session_find_keys(out, sizeof out, "tcp://host:5555"), 0);
    assert_string_equal(out, "");
    setenv("HOLTER_KEYS", "/my/keys", 1);
    assert_int_equal(session_find_keys(out, sizeof out, "tcp://host:5555"), 0);
    assert_string_equal(out, "/my/keys");
    unsetenv("HOLTER_KEYS");
}

static void keys_of_sessions_are_hexadecimal(void **state)
{
    (void)state;
    char key[17], other[17];
    session_key_of("ipc:///a", key);
    session_key_of("ipc:///b", other);
    assert_int_equal(strlen(key), 16);
    assert_true(session_key_valid(key));
    assert_string_not_equal(key, other);
    session_key_of("", key);
    assert_string_equal(key, "cbf29ce484222325"); /* the offset basis of FNV-1a */
    assert_false(session_key_valid(""));
    assert_false(session_key_valid("../../etc"));
    assert_false(session_key_valid("12g"));
    assert_true(session_key_valid("0123456789abcdefABCDEF012345678"));
    assert_false(session_key_valid("0123456789abcdefABCDEF0123456789"));
}

static void job_ids_are_safe_names_that_keep_their_step(void **state)
{
    (void)state;
    char out[64], longer[200];
    session_job_id(out, "4711", "0");
    assert_string_equal(out, "4711.0");
    session_job_id(out, "../my job/\n", "1");
    assert_string_equal(out, "_._my_job__.1");
    session_job_id(out, ".hidden", "1"); /* daemons refuse ids that begin with a point */
    assert_string_equal(out, "_hidden.1");
    session_job_id(out, "m\xc3\xbcller", "2");
    assert_string_equal(out, "m__ller.2");
    memset(longer, 'x', sizeof longer);
    longer[199] = '\0';
    session_job_id(out, longer, "77");
    assert_int_equal(strlen(out), 63);
    assert_string_equal(out + 60, ".77");
    session_job_id(out, longer, longer);
    assert_int_equal(strlen(out), 63);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, make_place, drop_place)
    const struct CMUnitTest tests[] = {
        T(the_run_directory_is_made_for_its_owner),
        T(a_run_directory_others_may_write_to_is_refused),
        T(what_is_wrong_with_a_run_directory_is_a_sentence),
        T(a_run_directory_that_depends_on_the_working_directory_is_refused),
        T(what_another_user_has_put_where_all_may_write_is_not_written_to),
        T(a_path_that_does_not_fit_is_an_error),
        T(no_runtime_directory_means_one_below_tmp),
        T(a_runtime_directory_that_others_may_write_is_not_used),
        T(a_named_daemon_comes_first),
        T(the_newest_served_socket_is_found),
        T(keys_are_found_beside_the_socket),
        cmocka_unit_test(keys_of_sessions_are_hexadecimal),
        cmocka_unit_test(job_ids_are_safe_names_that_keep_their_step),
    };
#undef T
    return cmocka_run_group_tests(tests, NULL, NULL);
}

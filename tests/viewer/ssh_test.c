#include "viewer/link/ssh.h"

#include "holter/error.h"
#include "tests/directory.h"

#include <poll.h>
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

static char directory[DIRECTORY_ROOM];

static int make_directory(void **state)
{
    (void)state;
    assert_int_equal(directory_make(directory), 0);
    setenv("HOLTER_RUN_DIR", directory, 1);
    unsetenv("HOLTER_DAEMON");
    unsetenv("FAKE_SSH");
    return 0;
}

static int remove_directory(void **state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "%s/holterd.sock", directory);
    unlink(path);
    snprintf(path, sizeof path, "%s/holterd.sock.stream", directory);
    unlink(path);
    return rmdir(directory); /* fails when the tunnel left anything */
}

static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 4), 0);
    return fd;
}

static int dial(const char *endpoint)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", endpoint + strlen("ipc://"));
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static void a_tunnel_finds_the_daemon_and_carries_bytes(void **state)
{
    (void)state;
    char path[64], why[300] = "", got[8] = "";
    struct ssh_tunnel *tunnel;
    snprintf(path, sizeof path, "%s/holterd.sock", directory);
    int front = listen_at(path);
    if (ssh_open(&tunnel, "desk", NULL, why, sizeof why) < 0)
        fail_msg("%s", why);
    struct stat status;
    assert_int_equal(stat(ssh_stream(tunnel) + strlen("ipc://"), &status), 0);
    int near = dial(ssh_front(tunnel)), far = accept(front, NULL, NULL);
    assert_int_equal(write(near, "hello", 5), 5);
    assert_int_equal(read(far, got, 5), 5);
    assert_string_equal(got, "hello");
    assert_false(ssh_ended(tunnel, why, sizeof why));
    close(near);
    close(far);
    close(front);
    ssh_close(tunnel);
}

static void the_daemon_is_found_whatever_the_login_shell_there(void **state)
{
    (void)state;
    char path[64], why[300] = "";
    struct ssh_tunnel *tunnel;
    snprintf(path, sizeof path, "%s/holterd.sock", directory);
    int front = listen_at(path);
    setenv("FAKE_SSH", "words", 1);
    if (ssh_open(&tunnel, "desk", NULL, why, sizeof why) < 0)
        fail_msg("%s", why);
    close(front);
    ssh_close(tunnel);
}

/* As for each attempt to reach a daemon that is away. */
static void a_tunnel_carries_bytes_however_much_ssh_says(void **state)
{
    (void)state;
    char path[64], why[700] = "", got[8] = "";
    struct ssh_tunnel *tunnel;
    snprintf(path, sizeof path, "%s/holterd.sock", directory);
    int front = listen_at(path);
    setenv("FAKE_SSH", "talk", 1);
    char endpoint[80];
    snprintf(endpoint, sizeof endpoint, "ipc://%s", path);
    assert_int_equal(ssh_open(&tunnel, "desk", endpoint, why, sizeof why), 0);
    int near = dial(ssh_front(tunnel));
    assert_int_equal(write(near, "hello", 5), 5);
    struct pollfd comes = {.fd = front, .events = POLLIN};
    while (poll(&comes, 1, 1) == 0)
        assert_false(ssh_ended(tunnel, why, sizeof why));
    int far = accept(front, NULL, NULL);
    assert_int_equal(read(far, got, 5), 5);
    assert_string_equal(got, "hello");
    close(near);
    close(far);
    close(front);
    ssh_close(tunnel);
}

static void what_ssh_says_is_passed_on(void **state)
{
    (void)state;
    char why[300] = "";
    struct ssh_tunnel *tunnel;
    setenv("FAKE_SSH", "refuse", 1);
    assert_int_equal(ssh_open(&tunnel, "nowhere", NULL, why, sizeof why), -HOLTER_EUNREACHABLE);
    assert_non_null(strstr(why, "Could not resolve hostname"));
    assert_int_equal(ssh_open(&tunnel, "nowhere", "tcp://127.0.0.1:7000", why, sizeof why),
                     -HOLTER_EUNREACHABLE);
    assert_non_null(strstr(why, "Could not resolve hostname"));
}

static void a_host_without_a_daemon_is_named(void **state)
{
    (void)state;
    char why[300] = "";
    struct ssh_tunnel *tunnel;
    assert_int_equal(ssh_open(&tunnel, "desk", NULL, why, sizeof why), -HOLTER_EUNREACHABLE);
    assert_non_null(strstr(why, "no daemon of yours runs on desk"));
}

static void a_missing_ssh_is_named(void **state)
{
    (void)state;
    char why[300] = "", *own = strdup(getenv("HOLTER_SSH"));
    struct ssh_tunnel *tunnel;
    setenv("HOLTER_SSH", "/nowhere/ssh", 1);
    assert_int_equal(ssh_open(&tunnel, "desk", "tcp://127.0.0.1:7000", why, sizeof why),
                     -HOLTER_EUNREACHABLE);
    assert_non_null(strstr(why, "/nowhere/ssh"));
    setenv("HOLTER_SSH", own, 1);
    free(own);
}

static void a_host_that_looks_like_an_option_is_refused(void **state)
{
    (void)state;
    char why[300] = "";
    struct ssh_tunnel *tunnel;
    assert_int_equal(ssh_open(&tunnel, "-oProxyCommand=touch /tmp/x", NULL, why, sizeof why),
                     -HOLTER_EUSAGE);
    assert_int_equal(ssh_open(&tunnel, "", NULL, why, sizeof why), -HOLTER_EUSAGE);
    assert_int_equal(ssh_open(&tunnel, "desk", "http://x", why, sizeof why), -HOLTER_EUSAGE);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)
    const struct CMUnitTest tests[] = {
        T(a_tunnel_finds_the_daemon_and_carries_bytes),
        T(the_daemon_is_found_whatever_the_login_shell_there),
        T(a_tunnel_carries_bytes_however_much_ssh_says),
        T(what_ssh_says_is_passed_on),
        T(a_host_without_a_daemon_is_named),
        T(a_missing_ssh_is_named),
        T(a_host_that_looks_like_an_option_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

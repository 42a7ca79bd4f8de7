/* Endpoints: locks, sockets that are left, ports in use. */
#include "daemon/server/listen.h"
#include "tests/directory.h"

#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <zmq.h>

#include <cmocka.h>

static char directory[DIRECTORY_ROOM], path[96], endpoint[112], why[512];
static void *context, *socket_of_ours;

static int make(void **state)
{
    int no_linger = 0;
    (void)state;
    assert_int_equal(directory_make(directory), 0);
    snprintf(path, sizeof(path), "%s/d", directory);
    snprintf(endpoint, sizeof(endpoint), "ipc://%s", path);
    why[0] = '\0';
    context = zmq_ctx_new();
    socket_of_ours = zmq_socket(context, ZMQ_ROUTER);
    assert_non_null(socket_of_ours);
    zmq_setsockopt(socket_of_ours, ZMQ_LINGER, &no_linger, sizeof(no_linger));
    return 0;
}

static void end_of_zmq(void)
{
    zmq_close(socket_of_ours);
    zmq_ctx_term(context);
}

/* Nothing is left: the directory is empty. */
static int clean(void **state)
{
    (void)state;
    return rmdir(directory);
}

static void an_ipc_endpoint_is_for_its_owner_and_goes_with_the_daemon(void **state)
{
    struct listen_locks locks = {0};
    struct stat status;
    (void)state;
    assert_int_equal(listen_bind(&locks, socket_of_ours, endpoint, why, sizeof(why)), 0);
    assert_int_equal(locks.count, 1);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0077, 0);
    end_of_zmq();
    listen_finish(&locks);
    assert_int_equal(locks.count, 0);
}

static void a_live_daemons_endpoint_is_respected(void **state)
{
    struct listen_locks locks = {0}, others = {0};
    (void)state;
    assert_int_equal(listen_bind(&locks, socket_of_ours, endpoint, why, sizeof(why)), 0);
    void *second = zmq_socket(context, ZMQ_ROUTER);
    assert_int_equal(listen_bind(&others, second, endpoint, why, sizeof(why)), -EADDRINUSE);
    assert_non_null(strstr(why, "another daemon"));
    assert_int_equal(others.count, 0);
    zmq_close(second);
    assert_int_equal(access(path, F_OK), 0); /* the first one's socket is still there */
    end_of_zmq();
    listen_finish(&locks);
}

static void another_programs_socket_is_respected(void **state)
{
    struct listen_locks locks = {0};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)state;
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    int theirs = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(theirs, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(theirs, 1), 0);
    assert_int_equal(listen_bind(&locks, socket_of_ours, endpoint, why, sizeof(why)), -EADDRINUSE);
    assert_int_equal(locks.count, 0);
    close(theirs);
    /* Now nobody answers there: what is left of it is replaced. */
    assert_int_equal(listen_bind(&locks, socket_of_ours, endpoint, why, sizeof(why)), 0);
    end_of_zmq();
    listen_finish(&locks);
}

static void a_port_in_use_is_reported(void **state)
{
    struct listen_locks locks = {0};
    char bound[64];
    size_t length = sizeof(bound);
    (void)state;
    assert_int_equal(listen_bind(&locks, socket_of_ours, "tcp://127.0.0.1:*", why, sizeof(why)), 0);
    assert_int_equal(locks.count, 0);
    assert_int_equal(zmq_getsockopt(socket_of_ours, ZMQ_LAST_ENDPOINT, bound, &length), 0);
    void *second = zmq_socket(context, ZMQ_ROUTER);
    assert_int_equal(listen_bind(&locks, second, bound, why, sizeof(why)), -EADDRINUSE);
    assert_non_null(strstr(why, bound));
    zmq_close(second);
    end_of_zmq();
}

static void an_endpoint_that_cannot_be_listened_on_is_reported(void **state)
{
    struct listen_locks locks = {0};
    char far[128];
    (void)state;
    snprintf(far, sizeof(far), "ipc://%s/no/such/folder", directory);
    assert_int_equal(listen_bind(&locks, socket_of_ours, far, why, sizeof(why)), -ENOENT);
    assert_int_not_equal(why[0], '\0');
    assert_int_equal(locks.count, 0);
    end_of_zmq();
}

/* Does this machine have the loopback address of IPv6? */
static int has_ipv6(void)
{
    const struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    int has = fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0;
    if (fd >= 0)
        close(fd);
    return has;
}

static void an_ipv6_address_is_listened_on(void **state)
{
    struct listen_locks locks = {0};
    char bound[64] = "";
    size_t length = sizeof(bound);
    (void)state;
    if (has_ipv6()) {
        assert_int_equal(listen_bind(&locks, socket_of_ours, "tcp://[::1]:*", why, sizeof(why)), 0);
        zmq_getsockopt(socket_of_ours, ZMQ_LAST_ENDPOINT, bound, &length);
        assert_memory_equal(bound, "tcp://[::1]:", strlen("tcp://[::1]:"));
    }
    end_of_zmq();
}

#define FORTY "0123456789abcdefghijklmnopqrstuvwxyz0123"

static void a_name_of_this_host_is_listened_on(void **state)
{
    struct listen_locks locks = {0};
    (void)state;
    assert_int_equal(listen_bind(&locks, socket_of_ours, "tcp://localhost:*", why, sizeof(why)), 0);
    /* Longer than a part of a name may be, so that nobody is asked for it. */
    const char *nowhere = "tcp://" FORTY FORTY ":*";
    assert_int_equal(listen_bind(&locks, socket_of_ours, nowhere, why, sizeof(why)), -ENODEV);
    assert_non_null(strstr(why, "no host of that name is known"));
    end_of_zmq();
}

static void an_address_of_ipv4_remains_one(void **state)
{
    struct listen_locks locks = {0};
    char bound[64] = "";
    size_t length = sizeof(bound);
    (void)state;
    assert_int_equal(listen_bind(&locks, socket_of_ours, "tcp://*:*", why, sizeof(why)), 0);
    assert_int_equal(zmq_getsockopt(socket_of_ours, ZMQ_LAST_ENDPOINT, bound, &length), 0);
    assert_memory_equal(bound, "tcp://0.0.0.0:", strlen("tcp://0.0.0.0:"));
    end_of_zmq();
}

#define WITH_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, make, clean)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_DIRECTORY(an_ipc_endpoint_is_for_its_owner_and_goes_with_the_daemon),
        WITH_DIRECTORY(a_live_daemons_endpoint_is_respected),
        WITH_DIRECTORY(another_programs_socket_is_respected),
        WITH_DIRECTORY(a_port_in_use_is_reported),
        WITH_DIRECTORY(an_endpoint_that_cannot_be_listened_on_is_reported),
        WITH_DIRECTORY(an_ipv6_address_is_listened_on),
        WITH_DIRECTORY(a_name_of_this_host_is_listened_on),
        WITH_DIRECTORY(an_address_of_ipv4_remains_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

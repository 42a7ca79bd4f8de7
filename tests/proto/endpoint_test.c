#include "proto/endpoint.h"

#include "holter/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void good_endpoints_are_taken(void **state)
{
    (void)state;
    static const char *const good[] = {"tcp://127.0.0.1:5555", "tcp://node-17.cluster.example:1",
                                       "tcp://*:65534",        "tcp://0.0.0.0:5555",
                                       "tcp://[::1]:5555",     "tcp://[fe80::1]:5555",
                                       "ipc:///tmp/x.sock",    "ipc:///"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(endpoint_check(good[i], NULL, 0), 0);
}

static void bad_endpoints_are_refused_with_a_reason(void **state)
{
    (void)state;
    static const struct {
        const char *endpoint, *reason;
    } bad[] = {
        {"", "an endpoint is"},
        {"localhost:5555", "an endpoint is"},
        {"udp://localhost:5555", "an endpoint is"},
        {"TCP://localhost:5555", "an endpoint is"},
        {"tcp://", "port is missing"},
        {"tcp://localhost", "port is missing"},
        {"tcp://localhost:", "must be a number"},
        {"tcp://localhost:http", "must be a number"},
        {"tcp://localhost:5555/x", "must be a number"},
        {"tcp://localhost:-1", "must be a number"},
        {"tcp://localhost:0", "1 to 65534"},
        {"tcp://localhost:65535", "1 to 65534"},
        {"tcp://localhost:99999999999999999999", "1 to 65534"},
        {"tcp://:5555", "host is missing"},
        {"tcp://::1:5555", "needs brackets"},
        {"tcp://[::1]", "needs brackets and a port"},
        {"tcp://[::1", "needs brackets and a port"},
        {"tcp://[]:5555", "host is missing"},
        {"tcp://[localhost]:5555", "not an IPv6 address"},
        {"tcp://eth0;host:5555", "no host name has"},
        {"tcp://a b:5555", "no host name has"},
        {"ipc://relative", "begin at the root"},
        {"ipc://", "begin at the root"},
        {"ipc://@abstract", "begin at the root"},
        {"tcp://a:5555,tcp://b:5555", "several daemons"},
        {"ipc:///a,ipc:///b", "several daemons"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char why[256] = "";
        assert_int_equal(endpoint_check(bad[i].endpoint, why, sizeof why), -HOLTER_EUSAGE);
        assert_non_null(strstr(why, bad[i].reason));
        assert_non_null(strstr(why, bad[i].endpoint));
        assert_int_equal(endpoint_check(bad[i].endpoint, NULL, 0), -HOLTER_EUSAGE);
    }
}

static void clients_of_other_machines_are_told_an_endpoint_that_they_reach(void **state)
{
    const char *const mixed[] = {"ipc:///run/d", "tcp://127.0.0.1:1", "tcp://*:2", "tcp://a:3"};
    (void)state;
    assert_string_equal(endpoint_for_others(mixed, 4), "tcp://*:2");
    assert_string_equal(endpoint_for_others(mixed, 2), "ipc:///run/d");
    assert_string_equal(endpoint_for_others(mixed + 3, 1), "tcp://a:3");
}

static void a_path_leaves_space_for_the_stream_endpoint(void **state)
{
    (void)state;
    char endpoint[160] = "ipc://", stream[160];
    memset(endpoint + 6, '/', 100);
    endpoint[106] = '\0';
    assert_int_equal(endpoint_check(endpoint, NULL, 0), 0);
    assert_int_equal(endpoint_stream(stream, sizeof stream, endpoint), 0);
    assert_int_equal(strlen(stream) - 6, 107); /* sun_path has 108, with the NUL */
    endpoint[106] = '/';
    endpoint[107] = '\0';
    assert_int_equal(endpoint_check(endpoint, NULL, 0), -HOLTER_EUSAGE);
}

static void a_reason_is_truncated_to_its_capacity(void **state)
{
    (void)state;
    char endpoint[4000], why[20];
    memset(endpoint, 'x', sizeof endpoint);
    endpoint[sizeof endpoint - 1] = '\0';
    assert_int_equal(endpoint_check(endpoint, why, sizeof why), -HOLTER_EUSAGE);
    assert_int_equal(strlen(why), sizeof why - 1);
}

static void the_stream_is_beside_the_front(void **state)
{
    (void)state;
    char out[64];
    assert_int_equal(endpoint_stream(out, sizeof out, "tcp://*:5555"), 0);
    assert_string_equal(out, "tcp://*:5556");
    assert_int_equal(endpoint_stream(out, sizeof out, "tcp://[::1]:65534"), 0);
    assert_string_equal(out, "tcp://[::1]:65535");
    assert_int_equal(endpoint_stream(out, sizeof out, "ipc:///run/holterd.sock"), 0);
    assert_string_equal(out, "ipc:///run/holterd.sock.stream");
    char small[10] = "kept";
    assert_int_equal(endpoint_stream(small, sizeof small, "tcp://host:5555"), -HOLTER_ERANGE);
    assert_string_equal(small, "kept");
    assert_int_equal(endpoint_stream(out, sizeof out, "nonsense"), -HOLTER_ERANGE);
}

static void only_this_host_is_local(void **state)
{
    (void)state;
    static const char *const local[] = {"ipc:///x", "tcp://127.0.0.1:1", "tcp://127.8.9.10:1",
                                        "tcp://localhost:1", "tcp://[::1]:1"};
    static const char *const far[] = {
        "tcp://*:1",           "tcp://0.0.0.0:1",   "tcp://10.0.0.1:1",
        "tcp://[::]:1",        "tcp://[fe80::1]:1", "tcp://localhost.evil.org:1",
        "tcp://127.0.0.1.x:1", "tcp://127.1:1",     "nonsense",
        "tcp://localhost"};
    for (size_t i = 0; i < sizeof local / sizeof *local; i++)
        assert_true(endpoint_is_local(local[i]) &&
                    endpoint_is_private(local[i]) == (i == 0)); /* the first is ipc */
    for (size_t i = 0; i < sizeof far / sizeof *far; i++)
        assert_false(endpoint_is_local(far[i]) || endpoint_is_private(far[i]));
}

static void a_list_is_cut_where_endpoints_begin(void **state)
{
    (void)state;
    static const char list[] = "tcp://a:1,ipc:///tmp/x,y.sock,tcp://[::1]:2";
    static const char *const parts[] = {"tcp://a:1", "ipc:///tmp/x,y.sock", "tcp://[::1]:2"};
    char out[64], why[128], small[8] = "kept";
    assert_int_equal(endpoint_list_count(list), 3);
    assert_int_equal(endpoint_list_count("ipc:///tmp/a,b"), 1);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(endpoint_of_list(list, i, out, sizeof out), 0);
        assert_string_equal(out, parts[i]);
    }
    assert_int_equal(endpoint_of_list(list, 3, out, sizeof out), -HOLTER_ERANGE);
    assert_int_equal(endpoint_of_list(list, 0, small, sizeof small), -HOLTER_ERANGE);
    assert_string_equal(small, "kept");
    assert_int_equal(endpoint_list_check(list, why, sizeof why), 0);
    assert_int_equal(endpoint_list_check("tcp://a:1,tcp://b", why, sizeof why), -HOLTER_EUSAGE);
    assert_non_null(strstr(why, "port is missing"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clients_of_other_machines_are_told_an_endpoint_that_they_reach),
        cmocka_unit_test(good_endpoints_are_taken),
        cmocka_unit_test(bad_endpoints_are_refused_with_a_reason),
        cmocka_unit_test(a_path_leaves_space_for_the_stream_endpoint),
        cmocka_unit_test(a_reason_is_truncated_to_its_capacity),
        cmocka_unit_test(the_stream_is_beside_the_front),
        cmocka_unit_test(only_this_host_is_local),
        cmocka_unit_test(a_list_is_cut_where_endpoints_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "proto/curve_keys.h"

#include "holter/error.h"
#include "tests/directory.h"

#include <errno.h>
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
#include <zmq.h>

struct place {
    char top[DIRECTORY_ROOM];
    char keys[64];
};

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    *state = place;
    if (directory_make(place->top) != 0)
        return -1;
    snprintf(place->keys, sizeof place->keys, "%s/keys", place->top);
    return 0;
}

static const char *file(const struct place *place, const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", place->keys, name);
    return path;
}

static int drop_place(void **state)
{
    struct place *place = *state;
    static const char *const names[] = {"server.key", "server.pub", "agent.key", "viewer.key",
                                        "operator.key"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(file(place, names[i]));
    rmdir(place->keys);
    int result = rmdir(place->top); /* fails when anything was left behind */
    free(place);
    return result;
}

static void replace(const struct place *place, const char *name, const char *text)
{
    FILE *out = fopen(file(place, name), "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static void made_keys_are_closed_to_others(void **state)
{
    struct place *place = *state;
    struct stat status;
    mode_t mask = umask(0);
    assert_int_equal(curve_make(place->keys), 0);
    umask(mask);
    assert_int_equal(stat(place->keys, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    static const char *const names[] = {"server.key", "server.pub", "agent.key", "viewer.key",
                                        "operator.key"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(stat(file(place, names[i]), &status), 0);
        assert_int_equal(status.st_mode & 07777, 0600);
    }
}

static void each_role_has_keys_of_its_own_and_knows_the_server(void **state)
{
    struct place *place = *state;
    struct curve_keys server, other[3];
    assert_int_equal(curve_make(place->keys), 0);
    assert_int_equal(curve_load(place->keys, ROLE_SERVER, &server), 0);
    assert_string_equal(server.public_key, server.server_key);
    const enum role roles[] = {ROLE_AGENT, ROLE_VIEWER, ROLE_OPERATOR};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(curve_load(place->keys, roles[i], &other[i]), 0);
        assert_string_equal(other[i].server_key, server.public_key);
        assert_string_not_equal(other[i].public_key, server.public_key);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(other[i].public_key, other[j].public_key);
    }
}

static void making_keys_twice_keeps_the_first(void **state)
{
    struct place *place = *state;
    struct curve_keys first, second;
    assert_int_equal(curve_make(place->keys), 0);
    assert_int_equal(curve_load(place->keys, ROLE_AGENT, &first), 0);
    assert_int_equal(curve_make(place->keys), 0);
    assert_int_equal(curve_load(place->keys, ROLE_AGENT, &second), 0);
    assert_memory_equal(&first, &second, sizeof first);
}

static void an_incomplete_set_is_left_alone(void **state)
{
    struct place *place = *state;
    assert_int_equal(curve_make(place->keys), 0);
    unlink(file(place, "agent.key"));
    assert_int_equal(curve_make(place->keys), -EEXIST);
    assert_int_not_equal(access(file(place, "agent.key"), F_OK), 0);
}

static void a_viewer_needs_no_other_role_secrets(void **state)
{
    struct place *place = *state;
    struct curve_keys keys;
    assert_int_equal(curve_make(place->keys), 0);
    unlink(file(place, "server.key"));
    unlink(file(place, "agent.key"));
    unlink(file(place, "operator.key"));
    assert_int_equal(curve_load(place->keys, ROLE_VIEWER, &keys), 0);
    assert_int_equal(curve_load(place->keys, ROLE_OPERATOR, &keys), -ENOENT);
}

static void a_copy_for_one_role_has_its_keys_alone(void **state)
{
    struct place *place = *state;
    struct curve_keys own, copied;
    char copy[128], path[160];
    snprintf(copy, sizeof copy, "%s/copy", place->top);
    assert_int_equal(curve_copy(place->keys, ROLE_VIEWER, copy), -ENOENT);
    assert_int_equal(access(copy, F_OK), -1);
    assert_int_equal(curve_make(place->keys), 0);
    assert_int_equal(curve_copy(place->keys, ROLE_VIEWER, copy), 0);
    assert_int_equal(curve_copy(place->keys, ROLE_AGENT, copy), -EEXIST);
    assert_int_equal(curve_load(place->keys, ROLE_VIEWER, &own), 0);
    assert_int_equal(curve_load(copy, ROLE_VIEWER, &copied), 0);
    assert_memory_equal(&own, &copied, sizeof own);
    static const char *const names[] = {"viewer.key", "server.pub"};
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", copy, names[i]);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(copy), 0); /* there is nothing else */
}

static void keys_open_to_others_are_refused(void **state)
{
    struct place *place = *state;
    struct curve_keys keys;
    assert_int_equal(curve_make(place->keys), 0);
    assert_int_equal(chmod(file(place, "viewer.key"), 0640), 0);
    assert_int_equal(curve_load(place->keys, ROLE_VIEWER, &keys), -HOLTER_EEXPOSED);
    assert_int_equal(chmod(file(place, "viewer.key"), 0600), 0);
    assert_int_equal(chmod(place->keys, 0711), 0);
    assert_int_equal(curve_load(place->keys, ROLE_VIEWER, &keys), -HOLTER_EEXPOSED);
}

static void links_in_place_of_keys_are_refused(void **state)
{
    struct place *place = *state;
    struct curve_keys keys;
    char target[128];
    assert_int_equal(curve_make(place->keys), 0);
    snprintf(target, sizeof target, "%s", file(place, "agent.key"));
    unlink(file(place, "viewer.key"));
    assert_int_equal(symlink(target, file(place, "viewer.key")), 0);
    assert_int_equal(curve_load(place->keys, ROLE_VIEWER, &keys), -ELOOP);
}

static void damaged_keys_are_refused(void **state)
{
    struct place *place = *state;
    struct curve_keys keys, other;
    char text[128];
    assert_int_equal(curve_make(place->keys), 0);
    assert_int_equal(curve_load(place->keys, ROLE_AGENT, &keys), 0);
    assert_int_equal(curve_load(place->keys, ROLE_OPERATOR, &other), 0);
    const char *const damaged[] = {"", "short\n", "\n\n", text};
    for (int i = 0; i < 4; i++) {
        /* the last: halves of two pairs */
        snprintf(text, sizeof text, "%s\n%s\n", keys.public_key, other.secret_key);
        replace(place, "viewer.key", damaged[i]);
        assert_int_equal(curve_load(place->keys, ROLE_VIEWER, &other), -HOLTER_ECORRUPT);
        assert_int_equal(curve_load(place->keys, ROLE_OPERATOR, &other), 0);
    }
    snprintf(text, sizeof text, "%s\n%s\nmore\n", keys.public_key, keys.secret_key);
    replace(place, "viewer.key", text);
    assert_int_equal(curve_load(place->keys, ROLE_VIEWER, &other), -HOLTER_ECORRUPT);
}

static void wiped_keys_are_gone(void **state)
{
    struct place *place = *state;
    struct curve_keys keys;
    static const struct curve_keys zero;
    assert_int_equal(curve_make(place->keys), 0);
    assert_int_equal(curve_load(place->keys, ROLE_AGENT, &keys), 0);
    curve_wipe(&keys);
    assert_memory_equal(&keys, &zero, sizeof keys);
}

/* Does a message sent with the client's keys reach a server with the server's? A refused client
 * sees its handshake fail, which its monitor reports, so neither outcome needs a guess about time.
 */
static int admitted(const struct place *place, const struct curve_keys *server,
                    const struct curve_keys *client)
{
    void *context = zmq_ctx_new(), *front = zmq_socket(context, ZMQ_ROUTER),
         *dealer = zmq_socket(context, ZMQ_DEALER), *monitor = zmq_socket(context, ZMQ_PAIR);
    char endpoint[128];
    const int linger = 0;
    snprintf(endpoint, sizeof endpoint, "ipc://%s/socket", place->top);
    zmq_setsockopt(dealer, ZMQ_LINGER, &linger, sizeof linger);
    assert_int_equal(curve_apply_server(front, server), 0);
    if (client)
        assert_int_equal(curve_apply_client(dealer, client), 0);
    assert_int_equal(zmq_bind(front, endpoint), 0);
    assert_int_equal(
        zmq_socket_monitor(dealer, "inproc://watch",
                           ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                               ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                               ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_DISCONNECTED),
        0);
    assert_int_equal(zmq_connect(monitor, "inproc://watch"), 0);
    assert_int_equal(zmq_connect(dealer, endpoint), 0);
    zmq_send(dealer, "hello", 5, 0);
    uint16_t event;
    uint8_t bytes[6];
    assert_int_equal(zmq_recv(monitor, bytes, sizeof bytes, 0), 6);
    memcpy(&event, bytes, sizeof event);
    int in = event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED;
    if (in) {
        char text[8];
        assert_int_equal(zmq_recv(front, text, sizeof text, 0), 5); /* identity: 5 bytes */
        assert_int_equal(zmq_recv(front, text, sizeof text, 0), 5);
        assert_memory_equal(text, "hello", 5);
    }
    zmq_socket_monitor(dealer, NULL, 0); /* libzmq leaks an event that its monitor cannot take */
    zmq_close(monitor);
    zmq_close(dealer);
    zmq_close(front);
    zmq_ctx_term(context);
    unlink(endpoint + strlen("ipc://"));
    return in;
}

static void only_who_knows_the_server_key_gets_in(void **state)
{
    struct place *place = *state;
    struct curve_keys server, viewer, stranger;
    assert_int_equal(curve_make(place->keys), 0);
    assert_int_equal(curve_load(place->keys, ROLE_SERVER, &server), 0);
    assert_int_equal(curve_load(place->keys, ROLE_VIEWER, &viewer), 0);
    assert_true(admitted(place, &server, &viewer));
    stranger = viewer;
    memcpy(stranger.server_key, viewer.public_key, sizeof stranger.server_key);
    assert_false(admitted(place, &server, &stranger));
    assert_false(admitted(place, &server, NULL));
}

static void role_names_go_both_ways(void **state)
{
    (void)state;
    for (enum role role = ROLE_AGENT; role <= ROLE_SERVER; role++)
        assert_int_equal(role_by_name(role_name(role)), role);
    assert_int_equal(role_by_name("root"), ROLE_NONE);
    assert_int_equal(role_by_name("none"), ROLE_NONE);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, make_place, drop_place)
    const struct CMUnitTest tests[] = {
        T(made_keys_are_closed_to_others),
        T(each_role_has_keys_of_its_own_and_knows_the_server),
        T(making_keys_twice_keeps_the_first),
        T(an_incomplete_set_is_left_alone),
        T(a_viewer_needs_no_other_role_secrets),
        T(a_copy_for_one_role_has_its_keys_alone),
        T(keys_open_to_others_are_refused),
        T(links_in_place_of_keys_are_refused),
        T(damaged_keys_are_refused),
        T(wiped_keys_are_gone),
        T(only_who_knows_the_server_key_gets_in),
        cmocka_unit_test(role_names_go_both_ways),
    };
#undef T
    return cmocka_run_group_tests(tests, NULL, NULL);
}

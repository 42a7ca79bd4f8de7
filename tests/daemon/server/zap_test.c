/* The handler is asked as libzmq asks it: frames of RFC 27 to inproc://zeromq.zap.01. */
#include "daemon/server/zap.h"
#include "tests/directory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include <cmocka.h>

struct fixture {
    char directory[DIRECTORY_ROOM];
    void *context, *asker;
    uv_loop_t loop;
    struct zap *zap;
    uint8_t keys[5][32];  /* public keys, by role */
    uint8_t users[5][32]; /* those of the user ann */
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    assert_int_equal(directory_make(f->directory), 0);
    assert_int_equal(curve_make(f->directory), 0);
    for (enum role role = ROLE_AGENT; role <= ROLE_SERVER; role++) {
        struct curve_keys keys;
        assert_int_equal(curve_load(f->directory, role, &keys), 0);
        assert_non_null(zmq_z85_decode(f->keys[role], keys.public_key));
        curve_wipe(&keys);
    }
    char ann[DIRECTORY_ROOM + 8];
    snprintf(ann, sizeof(ann), "%s/ann", f->directory);
    assert_int_equal(curve_make_user(f->directory, "ann", ann), 0);
    for (enum role role = ROLE_AGENT; role <= ROLE_VIEWER; role++) {
        struct curve_keys keys;
        assert_int_equal(curve_load(ann, role, &keys), 0);
        assert_non_null(zmq_z85_decode(f->users[role], keys.public_key));
        curve_wipe(&keys);
    }
    f->context = zmq_ctx_new();
    assert_int_equal(uv_loop_init(&f->loop), 0);
    assert_int_equal(zap_create(&f->zap, f->context, &f->loop, f->directory, 1), 0);
    f->asker = zmq_socket(f->context, ZMQ_REQ);
    assert_int_equal(zmq_connect(f->asker, "inproc://zeromq.zap.01"), 0);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    zmq_close(f->asker);
    zap_destroy(f->zap);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&f->loop), 0);
    zmq_ctx_term(f->context);
    int code = directory_remove(f->directory);
    free(f);
    return code;
}

/* What is answered: status, and the role as user. */
struct answer {
    char status[8], user[32];
};

static void take_frame(void *socket, char *out, size_t capacity)
{
    char bytes[256];
    int length = zmq_recv(socket, bytes, sizeof(bytes), 0);
    assert_in_range(length, 0, sizeof(bytes));
    if (out != NULL)
        snprintf(out, capacity, "%.*s", length, bytes);
}

static struct answer ask(struct fixture *f, const char *domain, const char *mechanism,
                         const void *key, size_t length)
{
    static const char *const head[] = {"1.0", "request 7"};
    struct answer answer;
    char version[8], request[16];
    for (int i = 0; i < 2; i++)
        zmq_send(f->asker, head[i], strlen(head[i]), ZMQ_SNDMORE);
    zmq_send(f->asker, domain, strlen(domain), ZMQ_SNDMORE);
    zmq_send(f->asker, "10.0.0.9", 8, ZMQ_SNDMORE);
    zmq_send(f->asker, "", 0, ZMQ_SNDMORE);
    zmq_send(f->asker, mechanism, strlen(mechanism), ZMQ_SNDMORE);
    zmq_send(f->asker, key, length, 0);
    int events = 0;
    size_t size = sizeof(events);
    while ((events & ZMQ_POLLIN) == 0) {
        uv_run(&f->loop, UV_RUN_NOWAIT);
        assert_int_equal(zmq_getsockopt(f->asker, ZMQ_EVENTS, &events, &size), 0);
    }
    take_frame(f->asker, version, sizeof(version));
    take_frame(f->asker, request, sizeof(request));
    assert_string_equal(version, "1.0");
    assert_string_equal(request, "request 7");
    take_frame(f->asker, answer.status, sizeof(answer.status));
    take_frame(f->asker, NULL, 0);
    take_frame(f->asker, answer.user, sizeof(answer.user));
    take_frame(f->asker, NULL, 0);
    return answer;
}

static void assert_admitted(struct fixture *f, const char *domain, enum role role)
{
    struct answer answer = ask(f, domain, "CURVE", f->keys[role], 32);
    assert_string_equal(answer.status, "200");
    assert_string_equal(answer.user, role_name(role));
}

static void assert_refused(struct answer answer)
{
    assert_string_equal(answer.status, "400");
    assert_string_equal(answer.user, "");
}

static void each_key_has_its_role_on_the_front(void **state)
{
    assert_admitted(*state, ZAP_FRONT, ROLE_AGENT);
    assert_admitted(*state, ZAP_FRONT, ROLE_VIEWER);
    assert_admitted(*state, ZAP_FRONT, ROLE_OPERATOR);
}

static void agents_may_not_read_the_stream(void **state)
{
    struct fixture *f = *state;
    assert_admitted(f, ZAP_STREAM, ROLE_VIEWER);
    assert_admitted(f, ZAP_STREAM, ROLE_OPERATOR);
    assert_refused(ask(f, ZAP_STREAM, "CURVE", f->keys[ROLE_AGENT], 32));
    assert_refused(ask(f, "", "CURVE", f->keys[ROLE_AGENT], 32));
}

static void keys_of_a_user_have_role_and_user(void **state)
{
    struct fixture *f = *state;
    struct answer answer = ask(f, ZAP_FRONT, "CURVE", f->users[ROLE_AGENT], 32);
    assert_string_equal(answer.status, "200");
    assert_string_equal(answer.user, "agent:ann");
    answer = ask(f, ZAP_STREAM, "CURVE", f->users[ROLE_VIEWER], 32);
    assert_string_equal(answer.user, "viewer:ann");
    assert_refused(ask(f, ZAP_STREAM, "CURVE", f->users[ROLE_AGENT], 32));
    const char *user;
    assert_int_equal(zap_user_role("viewer:ann", &user), ROLE_VIEWER);
    assert_string_equal(user, "ann");
    assert_int_equal(zap_user_role("operator", &user), ROLE_OPERATOR);
    assert_string_equal(user, "");
    assert_int_equal(zap_user_role("", &user), ROLE_NONE);
}

static void a_file_of_a_user_that_is_damaged_admits_nobody(void **state)
{
    static const char *const lines[] = {"operator ann\n", "viewer\n", "viewer \n",   "viewer a/b\n",
                                        "viewer ann",     "",         "server ann\n"};
    struct fixture *f = *state;
    char path[DIRECTORY_ROOM + 80];
    int used = snprintf(path, sizeof(path), "%s/users/", f->directory);
    for (int i = 0; i < 32; i++)
        used +=
            snprintf(path + used, sizeof(path) - (size_t)used, "%02x", f->users[ROLE_VIEWER][i]);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(lines[i], file);
        fclose(file);
        assert_refused(ask(f, ZAP_FRONT, "CURVE", f->users[ROLE_VIEWER], 32));
    }
}

static void other_keys_are_refused(void **state)
{
    struct fixture *f = *state;
    uint8_t key[33] = {0};
    assert_refused(ask(f, ZAP_FRONT, "CURVE", key, 32));
    assert_refused(ask(f, ZAP_FRONT, "CURVE", f->keys[ROLE_SERVER], 32));
    memcpy(key, f->keys[ROLE_VIEWER], 32);
    assert_refused(ask(f, ZAP_FRONT, "CURVE", key, 31));
    assert_refused(ask(f, ZAP_FRONT, "CURVE", key, 33));
    key[31] ^= 1;
    assert_refused(ask(f, ZAP_FRONT, "CURVE", key, 32));
}

static void other_mechanisms_are_refused(void **state)
{
    struct fixture *f = *state;
    assert_refused(ask(f, ZAP_FRONT, "NULL", "", 0));
    assert_refused(ask(f, ZAP_FRONT, "PLAIN", f->keys[ROLE_VIEWER], 32));
    assert_admitted(f, ZAP_FRONT, ROLE_VIEWER); /* and it goes on */
}

#define WITH_KEYS(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_KEYS(each_key_has_its_role_on_the_front),
        WITH_KEYS(agents_may_not_read_the_stream),
        WITH_KEYS(keys_of_a_user_have_role_and_user),
        WITH_KEYS(a_file_of_a_user_that_is_damaged_admits_nobody),
        WITH_KEYS(other_keys_are_refused),
        WITH_KEYS(other_mechanisms_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "proto/zloop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <zmq.h>

#define MESSAGES 1000

/* Two sockets in one loop. */
struct pair {
    void *context;
    void *left;
    void *right;
    uv_loop_t loop;
    struct zloop *watched;
    struct zloop *other;
    int received;
    int wanted;
    int closed;
    int answer; /* send this many answers to each message */
    int greedy; /* claim that more is there */
};

static void on_closed(void *user)
{
    struct pair *pair = user;
    pair->closed++;
}

/* One message a turn: the hardest case for an edge. */
static int read_one(void *user, void *socket)
{
    struct pair *pair = user;
    char text[16];
    if (zmq_recv(socket, text, sizeof text, ZMQ_DONTWAIT) < 0)
        return 0;
    for (int i = 0; i < pair->answer; i++) {
        assert_int_equal(zmq_send(socket, "a", 1, ZMQ_DONTWAIT), 1);
        zloop_sent(pair->watched);
    }
    if (++pair->received == pair->wanted) {
        zloop_close(pair->watched, on_closed);
        zloop_close(pair->other, on_closed);
    }
    return pair->greedy;
}

static int make_pair(void **state)
{
    struct pair *pair = calloc(1, sizeof *pair);
    *state = pair;
    pair->context = zmq_ctx_new();
    pair->left = zmq_socket(pair->context, ZMQ_PAIR);
    pair->right = zmq_socket(pair->context, ZMQ_PAIR);
    const int unbounded = 0;
    zmq_setsockopt(pair->left, ZMQ_SNDHWM, &unbounded, sizeof unbounded);
    zmq_setsockopt(pair->right, ZMQ_SNDHWM, &unbounded, sizeof unbounded);
    if (zmq_bind(pair->left, "inproc://pair") || zmq_connect(pair->right, "inproc://pair"))
        return -1;
    return uv_loop_init(&pair->loop);
}

static int drop_pair(void **state)
{
    struct pair *pair = *state;
    zmq_close(pair->left);
    zmq_close(pair->right);
    zmq_ctx_term(pair->context);
    int leaked = uv_loop_close(&pair->loop);
    free(pair);
    return leaked;
}

static void messages_from_before_the_watch_are_read(void **state)
{
    struct pair *pair = *state;
    pair->wanted = MESSAGES;
    for (int i = 0; i < MESSAGES; i++)
        assert_int_equal(zmq_send(pair->right, "m", 1, 0), 1);
    /* Consume the edge, as any use of the socket may. */
    int events;
    size_t length = sizeof events;
    assert_int_equal(zmq_getsockopt(pair->left, ZMQ_EVENTS, &events, &length), 0);
    assert_int_equal(zloop_open(&pair->watched, &pair->loop, pair->left, read_one, pair), 0);
    uv_run(&pair->loop, UV_RUN_DEFAULT);
    assert_int_equal(pair->received, MESSAGES);
    assert_int_equal(pair->closed, 1);
}

static void a_reader_that_leaves_messages_is_called_again(void **state)
{
    struct pair *pair = *state;
    pair->wanted = MESSAGES;
    pair->greedy = 1;
    assert_int_equal(zloop_open(&pair->watched, &pair->loop, pair->left, read_one, pair), 0);
    for (int i = 0; i < MESSAGES; i++)
        assert_int_equal(zmq_send(pair->right, "m", 1, 0), 1);
    uv_run(&pair->loop, UV_RUN_DEFAULT);
    assert_int_equal(pair->received, MESSAGES);
}

static void sends_in_between_lose_no_edge(void **state)
{
    struct pair *pair = *state;
    /* Both sides answer each message with one: with a lost edge the exchange would stand still. */
    pair->wanted = MESSAGES;
    pair->answer = 1;
    assert_int_equal(zloop_open(&pair->watched, &pair->loop, pair->left, read_one, pair), 0);
    assert_int_equal(zloop_open(&pair->other, &pair->loop, pair->right, read_one, pair), 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(zmq_send(pair->right, "m", 1, 0), 1);
    zloop_sent(pair->other);
    uv_run(&pair->loop, UV_RUN_DEFAULT);
    assert_int_equal(pair->received, MESSAGES);
    assert_int_equal(pair->closed, 2);
}

static void count_turn(uv_check_t *check)
{
    int *turns = check->data;
    ++*turns;
}

static void stop(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

static void a_dry_socket_lets_the_loop_sleep(void **state)
{
    struct pair *pair = *state;
    uv_check_t check;
    uv_timer_t timer;
    int turns = 0;
    check.data = &turns;
    pair->wanted = 2;
    assert_int_equal(zloop_open(&pair->watched, &pair->loop, pair->left, read_one, pair), 0);
    zmq_send(pair->right, "m", 1, 0);
    uv_check_init(&pair->loop, &check);
    uv_check_start(&check, count_turn);
    uv_timer_init(&pair->loop, &timer);
    uv_timer_start(&timer, stop, 50, 0);
    uv_run(&pair->loop, UV_RUN_DEFAULT);
    assert_int_equal(pair->received, 1);
    assert_in_range(turns, 1, 10); /* a loop that spins turns many thousand times in 50 ms */
    uv_close((uv_handle_t *)&check, NULL);
    uv_close((uv_handle_t *)&timer, NULL);
    zloop_close(pair->watched, on_closed);
    uv_run(&pair->loop, UV_RUN_DEFAULT);
    assert_int_equal(pair->closed, 1);
}

static void closing_twice_or_nothing_is_fine(void **state)
{
    struct pair *pair = *state;
    zloop_close(NULL, NULL);
    assert_int_equal(zloop_open(&pair->watched, &pair->loop, pair->left, read_one, pair), 0);
    zloop_close(pair->watched, on_closed);
    zloop_close(pair->watched, on_closed);
    zloop_sent(pair->watched);
    uv_run(&pair->loop, UV_RUN_DEFAULT);
    assert_int_equal(pair->closed, 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, make_pair, drop_pair)
    const struct CMUnitTest tests[] = {
        T(messages_from_before_the_watch_are_read),
        T(a_reader_that_leaves_messages_is_called_again),
        T(sends_in_between_lose_no_edge),
        T(a_dry_socket_lets_the_loop_sleep),
        T(closing_twice_or_nothing_is_fine),
    };
#undef T
    return cmocka_run_group_tests(tests, NULL, NULL);
}

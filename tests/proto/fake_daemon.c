#include "tests/proto/fake_daemon.h"

#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void *bound(struct fake_daemon *daemon, int type, const char *suffix)
{
    char endpoint[128];
    const int linger = 0;
    void *socket = zmq_socket(daemon->context, type);
    zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger);
    snprintf(endpoint, sizeof endpoint, "%s%s", daemon->endpoint, suffix);
    assert_int_equal(zmq_bind(socket, endpoint), 0);
    return socket;
}

void fake_daemon_up(struct fake_daemon *daemon)
{
    if (daemon->context == NULL)
        daemon->context = zmq_ctx_new();
    daemon->front = bound(daemon, ZMQ_ROUTER, "");
    daemon->stream = bound(daemon, ZMQ_XPUB, ".stream");
}

void fake_daemon_down(struct fake_daemon *daemon)
{
    if (daemon->front == NULL)
        return;
    zmq_close(daemon->front);
    zmq_close(daemon->stream);
    daemon->front = daemon->stream = NULL;
}

void fake_daemon_finish(struct fake_daemon *daemon)
{
    fake_daemon_down(daemon);
    if (daemon->context != NULL)
        zmq_ctx_term(daemon->context);
    daemon->context = NULL;
    wire_buffer_finish(&daemon->buffer);
    wire_arena_finish(&daemon->arena);
}

void fake_daemon_serve(struct fake_daemon *daemon,
                       void (*take)(void *user, zmq_msg_t *identity,
                                    const struct wire_message *message),
                       void *user)
{
    zmq_msg_t identity, body;
    zmq_msg_init(&identity);
    zmq_msg_init(&body);
    while (daemon->front && zmq_msg_recv(&identity, daemon->front, ZMQ_DONTWAIT) >= 0) {
        struct wire_message message;
        assert_true(zmq_msg_recv(&body, daemon->front, 0) >= 0);
        assert_int_equal(
            wire_decode(&message, &daemon->arena, zmq_msg_data(&body), zmq_msg_size(&body), NULL),
            0);
        take(user, &identity, &message);
    }
    zmq_msg_close(&identity);
    zmq_msg_close(&body);
}

void fake_daemon_answer(struct fake_daemon *daemon, zmq_msg_t *identity, enum wire_type type,
                        const void *message)
{
    if (type == WIRE_TYPE_WELCOME)
        daemon->instance = ((const struct wire_welcome *)message)->instance;
    assert_int_equal(wire_encode(&daemon->buffer, type, message), 0);
    zmq_send(daemon->front, zmq_msg_data(identity), zmq_msg_size(identity), ZMQ_SNDMORE);
    zmq_send(daemon->front, daemon->buffer.bytes, daemon->buffer.length, 0);
}

void fake_daemon_publish_bytes(struct fake_daemon *daemon, const char *topic, uint64_t number,
                               uint64_t ordinal, const void *body, size_t length)
{
    uint64_t numbers[3] = {htobe64(number), htobe64(ordinal), htobe64(daemon->instance)};
    zmq_send(daemon->stream, topic, strlen(topic), ZMQ_SNDMORE);
    zmq_send(daemon->stream, numbers, sizeof numbers, ZMQ_SNDMORE);
    zmq_send(daemon->stream, body, length, 0);
}

void fake_daemon_publish(struct fake_daemon *daemon, const char *topic, uint64_t number,
                         uint64_t ordinal, enum wire_type type, const void *message)
{
    snprintf(daemon->last.topic, sizeof daemon->last.topic, "%.*s", (int)strcspn(topic, "/"),
             topic);
    daemon->last.number = number;
    daemon->last.ordinal = ordinal;
    assert_int_equal(wire_encode(&daemon->buffer, type, message), 0);
    fake_daemon_publish_bytes(daemon, topic, number, ordinal, daemon->buffer.bytes,
                              daemon->buffer.length);
}

/* Of a job of which nothing was published there is a frame 0, which no client takes for news. */
static void fake_daemon_tell_newest(struct fake_daemon *daemon, const char *sync)
{
    const int is_given = daemon->newest.topic != NULL;
    const char *newest = is_given                        ? daemon->newest.topic
                         : daemon->last.topic[0] != '\0' ? daemon->last.topic
                                                         : "job";
    char topic[512];
    if (newest[0] == '\0')
        return;
    snprintf(topic, sizeof topic, "%s/%s", sync, newest);
    fake_daemon_publish_bytes(daemon, topic, is_given ? daemon->newest.number : daemon->last.number,
                              is_given ? daemon->newest.ordinal : daemon->last.ordinal, "", 0);
    daemon->newest.told++;
}

void fake_daemon_confirm(struct fake_daemon *daemon, int confirms)
{
    char subscription[256];
    int length;
    while (daemon->stream && (length = zmq_recv(daemon->stream, subscription,
                                                sizeof subscription - 1, ZMQ_DONTWAIT)) >= 0) {
        assert_true(length < (int)sizeof subscription);
        subscription[length] = '\0';
        if (!confirms || subscription[0] != 1 || strncmp(subscription + 1, "sync/", 5) != 0)
            continue;
        if (strchr(subscription + 6, '/') != NULL)
            fake_daemon_tell_newest(daemon, subscription + 1);
        fake_daemon_publish_bytes(daemon, subscription + 1, 0, 0, "", 0);
    }
}

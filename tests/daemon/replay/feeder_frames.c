/* Collects what a feeder publishes. */
#include "tests/daemon/replay/feeder_frames.h"

#include "daemon/server/publish.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct replay_feeder *feeder_open(const char *path, uint64_t window_ns)
{
    static struct replay_options options;
    static struct network network;
    struct replay_feeder *feeder;
    char why[512];
    options = (struct replay_options){
        .file = path, .server.window_ns = window_ns, .grace_ns = server_default_grace(window_ns)};
    const struct replay_feeder_options given = {.options = &options, .network = &network};
    if (replay_feeder_create(&feeder, &given, why, sizeof(why)) != 0)
        fail_msg("%s", why);
    return feeder;
}

static void start(struct msg_socket *socket)
{
    socket->readable(socket->user);
}

static int receive(struct msg_socket *socket, struct msg_socket_message *out)
{
    struct feeder_frames *f = (struct feeder_frames *)socket;
    if (f->subscribed)
        return 0;
    f->subscribed = 1; /* to everything */
    *out = (struct msg_socket_message){.count = 1};
    zmq_msg_init_size(&out->parts[0], 1);
    zmq_msg_init(&out->parts[1]);
    memcpy(zmq_msg_data(&out->parts[0]), "\001", 1);
    return 1;
}

static uint64_t hash_bytes(const uint8_t *bytes, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Of a message without what it counts since the job's start. */
static uint64_t hash_alone(const uint8_t *bytes, size_t length)
{
    struct wire_message message;
    struct wire_arena arena = {0};
    struct wire_buffer buffer = {0};
    assert_int_equal(wire_decode(&message, &arena, bytes, length, NULL), 0);
    if (message.type == WIRE_TYPE_TOTALS)
        message.totals.matched = message.totals.unmatched = 0;
    assert_int_equal(wire_encode(&buffer, message.type, &message.totals), 0);
    uint64_t hash = hash_bytes(buffer.bytes, buffer.length);
    wire_buffer_finish(&buffer);
    wire_arena_finish(&arena);
    return hash;
}

static int keep(struct msg_socket *socket, const struct msg_socket_part *parts, size_t count,
                zmq_msg_t *last)
{
    struct feeder_frames *f = (struct feeder_frames *)socket;
    assert_int_equal(count, 3);
    assert_null(last);
    assert_true(f->count < FEEDER_FRAMES);
    struct feeder_frame *frame = &f->list[f->count++];
    snprintf(frame->topic, sizeof(frame->topic), "%.*s", (int)parts[0].length,
             (const char *)parts[0].bytes);
    frame->hash = f->alone ? hash_alone(parts[2].bytes, parts[2].length)
                           : hash_bytes(parts[2].bytes, parts[2].length);
    return 0;
}

static void close_port(struct msg_socket *socket)
{
    if (socket->closed != NULL)
        socket->closed(socket->closed_user);
}

void feeder_frames_listen(struct feeder_frames *f, struct replay_feeder *feeder)
{
    static const struct msg_socket_operations type = {
        .start = start, .receive = receive, .send = keep, .close = close_port};
    *f = (struct feeder_frames){.socket.type = &type};
    publisher_open(replay_feeder_publisher(feeder), &f->socket, 0);
}

void feeder_frames_only(struct feeder_frames *f, const char *const *names, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->count; i++) {
        int named = 0;
        for (size_t k = 0; k < count; k++)
            named |= strstr(f->list[i].topic, names[k]) != NULL;
        if (named)
            f->list[kept++] = f->list[i];
    }
    f->count = kept;
}

void feeder_frames_end_with(const struct feeder_frames *all, const struct feeder_frames *others)
{
    size_t i = all->count, j = others->count;
    while (j-- > 0) {
        assert_true(i-- > 0);
        assert_string_equal(all->list[i].topic, others->list[j].topic);
        if (all->list[i].hash != others->list[j].hash)
            fail_msg("frame %zu of %zu, %s: other bytes", j, others->count, others->list[j].topic);
    }
}

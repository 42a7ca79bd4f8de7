#include "tests/daemon/replay/feeder_frames.h"

#include "daemon/daemon_options.h"
#include "daemon/server/publish.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct replay_reel *reel_open(const char *path, uint64_t window_ns)
{
    static struct options options;
    static struct network network;
    struct replay_reel *reel;
    char why[512];
    options = (struct options){
        .replay = path, .window_ns = window_ns, .grace_ns = options_grace(window_ns)};
    const struct replay_reel_options given = {.options = &options, .network = &network};
    if (replay_reel_create(&reel, &given, why, sizeof(why)) != 0)
        fail_msg("%s", why);
    return reel;
}

static void start(struct port *port)
{
    port->readable(port->user);
}

static int receive(struct port *port, struct port_message *out)
{
    struct reel_frames *f = (struct reel_frames *)port;
    if (f->subscribed)
        return 0;
    f->subscribed = 1; /* to everything */
    *out = (struct port_message){.count = 1};
    zmq_msg_init_size(&out->parts[0], 1);
    zmq_msg_init(&out->parts[1]);
    memcpy(zmq_msg_data(&out->parts[0]), "\001", 1);
    return 1;
}

static int keep(struct port *port, const struct port_part *parts, size_t count, zmq_msg_t *last)
{
    struct reel_frames *f = (struct reel_frames *)port;
    assert_int_equal(count, 3);
    assert_null(last);
    assert_true(f->count < REEL_FRAMES);
    struct reel_frame *frame = &f->list[f->count++];
    snprintf(frame->topic, sizeof(frame->topic), "%.*s", (int)parts[0].length,
             (const char *)parts[0].bytes);
    frame->hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < parts[2].length; i++)
        frame->hash =
            (frame->hash ^ ((const uint8_t *)parts[2].bytes)[i]) * UINT64_C(0x100000001b3);
    return 0;
}

static void close_port(struct port *port)
{
    if (port->closed != NULL)
        port->closed(port->closed_user);
}

void reel_frames_listen(struct reel_frames *f, struct replay_reel *reel)
{
    static const struct port_type type = {
        .start = start, .receive = receive, .send = keep, .close = close_port};
    *f = (struct reel_frames){.port.type = &type};
    publisher_open(replay_reel_publisher(reel), &f->port, 0);
}

void reel_frames_only(struct reel_frames *f, const char *const *names, size_t count)
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

void reel_frames_end_with(const struct reel_frames *all, const struct reel_frames *others)
{
    size_t i = all->count, j = others->count;
    while (j-- > 0) {
        assert_true(i-- > 0);
        assert_string_equal(all->list[i].topic, others->list[j].topic);
        if (all->list[i].hash != others->list[j].hash)
            fail_msg("frame %zu of %zu, %s: other bytes", j, others->count, others->list[j].topic);
    }
}

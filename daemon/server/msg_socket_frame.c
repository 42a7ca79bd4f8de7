#include "daemon/server/msg_socket_frame.h"

#include "holter/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES 65536u
#define TURN 64u /* messages handed out in one turn of the loop */

struct port_stream {
    uv_pipe_t pipe;
    uv_idle_t idle; /* hands out what is there already */
    struct port_stream_events events;
    uint8_t *bytes; /* owned: what has come */
    size_t length, room, taken;
    int reading; /* messages are wanted */
    int started; /* the pipe is read */
    int over;
    int closing; /* nothing more will come */
    void (*closed)(void *user);
    void *closed_user;
    unsigned open; /* handles */
};

struct chunk {
    uv_write_t request;
    struct port_stream *stream;
    uint8_t bytes[];
};

/* ---- reading -------------------------------------------------------------------- */

/* @return bytes of the first message, 0: it is not whole, or -HOLTER_EMALFORMED */
static int64_t first_message(const struct port_stream *s, struct port_part *parts, size_t *count)
{
    const uint8_t *at = s->bytes + s->taken;
    size_t left = s->length - s->taken;
    uint32_t length;
    if (left < sizeof(length))
        return 0;
    memcpy(&length, at, sizeof(length));
    if (length == 0 || length > PORT_FRAME_BYTES)
        return -HOLTER_EMALFORMED;
    if (left - sizeof(length) < length)
        return 0;
    at += sizeof(length);
    const uint8_t *end = at + length;
    *count = *at++;
    if (*count == 0 || *count > PORT_FRAME_PARTS)
        return -HOLTER_EMALFORMED;
    for (size_t i = 0; i < *count; i++) {
        uint32_t part;
        if ((size_t)(end - at) < sizeof(part))
            return -HOLTER_EMALFORMED;
        memcpy(&part, at, sizeof(part));
        at += sizeof(part);
        if ((size_t)(end - at) < part)
            return -HOLTER_EMALFORMED;
        parts[i] = (struct port_part){at, part};
        at += part;
    }
    return at == end ? (int64_t)(sizeof(length) + length) : -HOLTER_EMALFORMED;
}

static void stop_reading(struct port_stream *s)
{
    uv_read_stop((uv_stream_t *)&s->pipe);
    s->started = 0;
}

static void end(struct port_stream *s)
{
    if (s->over)
        return;
    s->over = 1;
    stop_reading(s);
    uv_idle_stop(&s->idle);
    s->events.over(s->events.user);
}

int port_stream_holds(const struct port_stream *s)
{
    struct port_part parts[PORT_FRAME_PARTS];
    size_t count;
    return first_message(s, parts, &count) > 0;
}

static void on_idle(uv_idle_t *idle);

/* Hand out what is whole. */
static void hand_out(struct port_stream *s)
{
    int64_t length = 0;
    for (unsigned i = 0; i < TURN && s->reading && !s->over; i++) {
        struct port_part parts[PORT_FRAME_PARTS];
        size_t count;
        length = first_message(s, parts, &count);
        if (length <= 0)
            break;
        if (s->events.message(s->events.user, parts, count) != 0)
            s->taken += (size_t)length;
        else
            s->reading = 0;
    }
    if (s->over)
        return;
    if (s->taken > 0)
        memmove(s->bytes, s->bytes + s->taken, s->length - s->taken);
    s->length -= s->taken;
    s->taken = 0;
    if (!s->reading)
        stop_reading(s);
    else if (length > 0)
        uv_idle_start(&s->idle, on_idle);
    if (length < 0)
        end(s);
}

static void on_room(uv_handle_t *handle, size_t wanted, uv_buf_t *out)
{
    struct port_stream *s = handle->data;
    (void)wanted;
    *out = uv_buf_init(NULL, 0); /* without memory: it ends */
    if (s->room - s->length < READ_BYTES) {
        size_t room = 2 * s->room + READ_BYTES;
        uint8_t *bytes = realloc(s->bytes, room);
        if (bytes == NULL)
            return;
        s->bytes = bytes;
        s->room = room;
    }
    *out = uv_buf_init((char *)s->bytes + s->length, (unsigned)(s->room - s->length));
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    struct port_stream *s = stream->data;
    (void)buffer;
    if (s->over || count == 0)
        return;
    if (count < 0 && !port_stream_holds(s)) {
        end(s);
        return;
    }
    if (count < 0) { /* what is there already is handed out first */
        s->closing = 1;
        stop_reading(s);
        uv_idle_start(&s->idle, on_idle);
        return;
    }
    s->length += (size_t)count;
    hand_out(s);
}

static void on_idle(uv_idle_t *idle)
{
    struct port_stream *s = idle->data;
    uv_idle_stop(idle);
    hand_out(s);
    if (s->reading && !s->over && !s->closing && !s->started) {
        s->started = 1;
        if (uv_read_start((uv_stream_t *)&s->pipe, on_room, on_read) != 0)
            end(s);
    } else if (s->closing && !s->over && !port_stream_holds(s)) {
        end(s);
    }
}

void port_stream_more(struct port_stream *s)
{
    if (s->over || s->reading)
        return;
    s->reading = 1;
    uv_idle_start(&s->idle, on_idle);
}

/* ---- writing -------------------------------------------------------------------- */

static void on_written(uv_write_t *request, int status)
{
    struct chunk *chunk = request->data;
    struct port_stream *s = chunk->stream;
    free(chunk);
    if (status == 0 && s->events.drained != NULL && !uv_is_closing((uv_handle_t *)&s->pipe) &&
        uv_stream_get_write_queue_size((uv_stream_t *)&s->pipe) == 0)
        s->events.drained(s->events.user);
}

static uint8_t *put(uint8_t *at, const void *bytes, size_t length)
{
    uint32_t size = (uint32_t)length;
    memcpy(at, &size, sizeof(size));
    if (length > 0)
        memcpy(at + sizeof(size), bytes, length);
    return at + sizeof(size) + length;
}

int port_stream_write(struct port_stream *s, const struct port_part *parts, size_t count,
                      zmq_msg_t *last)
{
    size_t length = 1;
    for (size_t i = 0; i < count; i++)
        length += sizeof(uint32_t) + parts[i].length;
    length += last == NULL ? 0 : sizeof(uint32_t) + zmq_msg_size(last);
    size_t all = count + (last != NULL);
    if (all == 0 || all > PORT_FRAME_PARTS || length > PORT_FRAME_BYTES)
        return -HOLTER_ELIMIT;
    struct chunk *chunk = malloc(sizeof(*chunk) + sizeof(uint32_t) + length);
    if (chunk == NULL)
        return -ENOMEM;
    uint32_t size = (uint32_t)length;
    memcpy(chunk->bytes, &size, sizeof(size));
    uint8_t *at = chunk->bytes + sizeof(size);
    *at++ = (uint8_t)all;
    for (size_t i = 0; i < count; i++)
        at = put(at, parts[i].bytes, parts[i].length);
    if (last != NULL)
        put(at, zmq_msg_data(last), zmq_msg_size(last));
    chunk->stream = s;
    chunk->request.data = chunk;
    uv_buf_t buffer = uv_buf_init((char *)chunk->bytes, (unsigned)(sizeof(size) + length));
    int code = uv_write(&chunk->request, (uv_stream_t *)&s->pipe, &buffer, 1, on_written);
    if (code != 0)
        free(chunk);
    return code;
}

size_t port_stream_backlog(const struct port_stream *s)
{
    return uv_stream_get_write_queue_size((const uv_stream_t *)&s->pipe);
}

/* ---- life ----------------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle)
{
    struct port_stream *s = handle->data;
    if (--s->open > 0)
        return;
    if (s->closed != NULL)
        s->closed(s->closed_user);
    free(s->bytes);
    free(s);
}

void port_stream_close(struct port_stream *s, void (*closed)(void *user), void *user)
{
    if (s == NULL || uv_is_closing((uv_handle_t *)&s->idle))
        return;
    s->over = 1;
    s->closed = closed;
    s->closed_user = user;
    uv_close((uv_handle_t *)&s->pipe, on_closed);
    uv_close((uv_handle_t *)&s->idle, on_closed);
}

int port_stream_open(struct port_stream **out, uv_loop_t *loop, int fd,
                     const struct port_stream_events *events)
{
    struct port_stream *s = calloc(1, sizeof(*s));
    if (s == NULL) {
        close(fd);
        return -ENOMEM;
    }
    *s = (struct port_stream){.events = *events, .open = 2};
    uv_idle_init(loop, &s->idle);
    uv_pipe_init(loop, &s->pipe, 0);
    s->pipe.data = s->idle.data = s;
    int code = uv_pipe_open(&s->pipe, fd);
    if (code != 0) {
        close(fd);
        port_stream_close(s, NULL, NULL);
        return code;
    }
    *out = s;
    return 0;
}

/* Messages of several parts on a stream of bytes. */
#include "daemon/server/msg_socket_frame.h"

#include "daemon/analysis/tables/array.h"

#include "holter/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES 65536u
#define TURN_MESSAGES 64u /* messages that are delivered in one turn of the loop */

struct msg_stream {
    uv_pipe_t pipe;
    uv_idle_t idle; /* delivers what was read already */
    struct msg_stream_events events;
    uint8_t *bytes; /* owned: bytes that were read */
    size_t length, capacity, delivered;
    int reading; /* messages are to be delivered */
    int started; /* the pipe is read */
    int ended;
    int closing; /* the other end was closed */
    void (*closed)(void *user);
    void *closed_user;
    unsigned open; /* handles that are not closed */
};

struct msg_stream_chunk {
    uv_write_t request;
    uint8_t bytes[];
};

/* ---- reading -------------------------------------------------------------------- */

/* @return bytes of the first message, 0: it is not whole, or -HOLTER_EMALFORMED */
static int64_t msg_stream_parse_first(const struct msg_stream *s, struct msg_socket_part *parts,
                                      size_t *count)
{
    const uint8_t *at = s->bytes + s->delivered;
    size_t left = s->length - s->delivered;
    uint32_t length;
    if (left < sizeof(length))
        return 0;
    memcpy(&length, at, sizeof(length));
    if (length == 0 || length > MSG_STREAM_BYTES_MAXIMUM)
        return -HOLTER_EMALFORMED;
    if (left - sizeof(length) < length)
        return 0;
    at += sizeof(length);
    const uint8_t *end = at + length;
    *count = *at++;
    if (*count == 0 || *count > MSG_STREAM_PARTS_MAXIMUM)
        return -HOLTER_EMALFORMED;
    for (size_t i = 0; i < *count; i++) {
        uint32_t part;
        if ((size_t)(end - at) < sizeof(part))
            return -HOLTER_EMALFORMED;
        memcpy(&part, at, sizeof(part));
        at += sizeof(part);
        if ((size_t)(end - at) < part)
            return -HOLTER_EMALFORMED;
        parts[i] = (struct msg_socket_part){at, part};
        at += part;
    }
    return at == end ? (int64_t)(sizeof(length) + length) : -HOLTER_EMALFORMED;
}

static void msg_stream_stop_reading(struct msg_stream *s)
{
    uv_read_stop((uv_stream_t *)&s->pipe);
    s->started = 0;
}

static void msg_stream_end(struct msg_stream *s)
{
    if (s->ended)
        return;
    s->ended = 1;
    msg_stream_stop_reading(s);
    uv_idle_stop(&s->idle);
    s->events.ended(s->events.user);
}

int msg_stream_has_message(const struct msg_stream *s)
{
    struct msg_socket_part parts[MSG_STREAM_PARTS_MAXIMUM];
    size_t count;
    return msg_stream_parse_first(s, parts, &count) > 0;
}

static void msg_stream_on_idle(uv_idle_t *idle);

/* Deliver whole messages. */
static void msg_stream_deliver(struct msg_stream *s)
{
    int64_t length = 0;
    for (unsigned i = 0; i < TURN_MESSAGES && s->reading && !s->ended; i++) {
        struct msg_socket_part parts[MSG_STREAM_PARTS_MAXIMUM];
        size_t count;
        length = msg_stream_parse_first(s, parts, &count);
        if (length <= 0)
            break;
        if (s->events.message(s->events.user, parts, count) != 0)
            s->delivered += (size_t)length;
        else
            s->reading = 0;
    }
    if (s->ended)
        return;
    if (s->delivered > 0)
        memmove(s->bytes, s->bytes + s->delivered, s->length - s->delivered);
    s->length -= s->delivered;
    s->delivered = 0;
    if (!s->reading)
        msg_stream_stop_reading(s);
    else if (length > 0)
        uv_idle_start(&s->idle, msg_stream_on_idle);
    if (length < 0)
        msg_stream_end(s);
}

static void msg_stream_on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *out)
{
    struct msg_stream *s = handle->data;
    (void)suggested;
    *out = uv_buf_init(NULL, 0); /* without memory the stream ends */
    if (array_fit(&s->bytes, 1, &s->capacity, s->length + READ_BYTES) != 0)
        return;
    *out = uv_buf_init((char *)s->bytes + s->length, (unsigned)(s->capacity - s->length));
}

static void msg_stream_on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    struct msg_stream *s = stream->data;
    (void)buffer;
    if (s->ended || count == 0)
        return;
    if (count < 0 && !msg_stream_has_message(s)) {
        msg_stream_end(s);
        return;
    }
    if (count < 0) { /* what was read is delivered first */
        s->closing = 1;
        msg_stream_stop_reading(s);
        uv_idle_start(&s->idle, msg_stream_on_idle);
        return;
    }
    s->length += (size_t)count;
    msg_stream_deliver(s);
}

static void msg_stream_on_idle(uv_idle_t *idle)
{
    struct msg_stream *s = idle->data;
    uv_idle_stop(idle);
    msg_stream_deliver(s);
    if (s->reading && !s->ended && !s->closing && !s->started) {
        s->started = 1;
        if (uv_read_start((uv_stream_t *)&s->pipe, msg_stream_on_alloc, msg_stream_on_read) != 0)
            msg_stream_end(s);
    } else if (s->closing && !s->ended && !msg_stream_has_message(s)) {
        msg_stream_end(s);
    }
}

void msg_stream_resume(struct msg_stream *s)
{
    if (s->ended || s->reading)
        return;
    s->reading = 1;
    uv_idle_start(&s->idle, msg_stream_on_idle);
}

/* ---- writing -------------------------------------------------------------------- */

static void msg_stream_on_written(uv_write_t *request, int status)
{
    struct msg_stream_chunk *chunk = request->data;
    (void)status; /* an error is seen when reading, too */
    free(chunk);
}

static uint8_t *msg_stream_put_part(uint8_t *at, const void *bytes, size_t length)
{
    uint32_t size = (uint32_t)length;
    memcpy(at, &size, sizeof(size));
    if (length > 0)
        memcpy(at + sizeof(size), bytes, length);
    return at + sizeof(size) + length;
}

void msg_stream_put_head(uint8_t out[MSG_STREAM_HEAD], size_t length)
{
    const uint32_t part = (uint32_t)length, all = 1 + (uint32_t)sizeof(part) + part;
    memcpy(out, &all, sizeof(all));
    out[sizeof(all)] = 1;
    memcpy(out + sizeof(all) + 1, &part, sizeof(part));
}

int msg_stream_write(struct msg_stream *s, const struct msg_socket_part *parts, size_t count,
                     zmq_msg_t *last)
{
    size_t length = 1;
    for (size_t i = 0; i < count; i++)
        length += sizeof(uint32_t) + parts[i].length;
    length += last == NULL ? 0 : sizeof(uint32_t) + zmq_msg_size(last);
    size_t all = count + (last != NULL);
    if (all == 0 || all > MSG_STREAM_PARTS_MAXIMUM || length > MSG_STREAM_BYTES_MAXIMUM)
        return -HOLTER_ELIMIT;
    struct msg_stream_chunk *chunk = malloc(sizeof(*chunk) + sizeof(uint32_t) + length);
    if (chunk == NULL)
        return -ENOMEM;
    uint32_t size = (uint32_t)length;
    memcpy(chunk->bytes, &size, sizeof(size));
    uint8_t *at = chunk->bytes + sizeof(size);
    *at++ = (uint8_t)all;
    for (size_t i = 0; i < count; i++)
        at = msg_stream_put_part(at, parts[i].bytes, parts[i].length);
    if (last != NULL)
        msg_stream_put_part(at, zmq_msg_data(last), zmq_msg_size(last));
    chunk->request.data = chunk;
    uv_buf_t buffer = uv_buf_init((char *)chunk->bytes, (unsigned)(sizeof(size) + length));
    int code =
        uv_write(&chunk->request, (uv_stream_t *)&s->pipe, &buffer, 1, msg_stream_on_written);
    if (code != 0)
        free(chunk);
    return code;
}

size_t msg_stream_backlog(const struct msg_stream *s)
{
    return uv_stream_get_write_queue_size((const uv_stream_t *)&s->pipe);
}

/* ---- life ----------------------------------------------------------------------- */

static void msg_stream_on_closed(uv_handle_t *handle)
{
    struct msg_stream *s = handle->data;
    if (--s->open > 0)
        return;
    if (s->closed != NULL)
        s->closed(s->closed_user);
    free(s->bytes);
    free(s);
}

void msg_stream_close(struct msg_stream *s, void (*closed)(void *user), void *user)
{
    if (s == NULL || uv_is_closing((uv_handle_t *)&s->idle))
        return;
    s->ended = 1;
    s->closed = closed;
    s->closed_user = user;
    uv_close((uv_handle_t *)&s->pipe, msg_stream_on_closed);
    uv_close((uv_handle_t *)&s->idle, msg_stream_on_closed);
}

int msg_stream_open(struct msg_stream **out, uv_loop_t *loop, int fd,
                    const struct msg_stream_events *events)
{
    struct msg_stream *s = calloc(1, sizeof(*s));
    if (s == NULL) {
        close(fd);
        return -ENOMEM;
    }
    *s = (struct msg_stream){.events = *events, .open = 2};
    uv_idle_init(loop, &s->idle);
    uv_pipe_init(loop, &s->pipe, 0);
    s->pipe.data = s->idle.data = s;
    int code = uv_pipe_open(&s->pipe, fd);
    if (code != 0) {
        close(fd);
        msg_stream_close(s, NULL, NULL);
        return code;
    }
    *out = s;
    return 0;
}

/* A message socket whose other end is the process that has the ZeroMQ sockets (relay.h). A message
 * is one message of MSG_STREAM_PARTS_MAXIMUM parts at most: address and user of the sender, then
 * its parts. */
#include "daemon/server/msg_socket_frame.h"
#include "daemon/server/msg_socket_type.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct msg_pipe {
    struct msg_socket base;
    struct msg_stream *stream;
    struct msg_socket_message next; /* the message that is being delivered */
    int has_next;                   /* it was not received yet */
    void (*on_ended)(void *user);
    void *on_ended_user;
};

static int msg_pipe_copy_part(zmq_msg_t *out, const struct msg_socket_part *part)
{
    if (zmq_msg_init_size(out, part->length) != 0)
        return zmq_msg_init(out); /* without memory it is empty, and refused as malformed */
    if (part->length > 0)
        memcpy(zmq_msg_data(out), part->bytes, part->length);
    return 0;
}

static void msg_pipe_copy_text(char *out, size_t capacity, const struct msg_socket_part *part)
{
    size_t length = part->length < capacity - 1 ? part->length : capacity - 1;
    if (length > 0)
        memcpy(out, part->bytes, length);
    out[length] = '\0';
}

static int msg_pipe_on_message(void *user, const struct msg_socket_part *parts, size_t count)
{
    static const struct msg_socket_part none = {"", 0};
    struct msg_pipe *p = user;
    if (count < 3)
        return 1;
    p->next.count = (unsigned)count - 2;
    msg_pipe_copy_text(p->next.address, sizeof(p->next.address), &parts[0]);
    msg_pipe_copy_text(p->next.user, sizeof(p->next.user), &parts[1]);
    msg_pipe_copy_part(&p->next.parts[0], &parts[2]);
    msg_pipe_copy_part(&p->next.parts[1], count > 3 ? &parts[3] : &none);
    p->has_next = 1;
    p->base.readable(p->base.user);
    if (!p->has_next)
        return 1;
    msg_socket_message_finish(&p->next);
    p->has_next = 0;
    return 0;
}

static void msg_pipe_on_ended(void *user)
{
    struct msg_pipe *p = user;
    p->on_ended(p->on_ended_user);
}

static void msg_pipe_start(struct msg_socket *socket)
{
    msg_stream_resume(((struct msg_pipe *)socket)->stream);
}

static int msg_pipe_receive(struct msg_socket *socket, struct msg_socket_message *out)
{
    struct msg_pipe *p = (struct msg_pipe *)socket;
    if (!p->has_next)
        return 0;
    *out = p->next; /* the parts are moved below */
    zmq_msg_init(&out->parts[0]);
    zmq_msg_init(&out->parts[1]);
    zmq_msg_move(&out->parts[0], &p->next.parts[0]);
    zmq_msg_move(&out->parts[1], &p->next.parts[1]);
    msg_socket_message_finish(&p->next);
    p->has_next = 0;
    return 1;
}

static int msg_pipe_send(struct msg_socket *socket, const struct msg_socket_part *parts,
                         size_t count, zmq_msg_t *last)
{
    return msg_stream_write(((struct msg_pipe *)socket)->stream, parts, count, last);
}

static int msg_pipe_is_empty(struct msg_socket *socket)
{
    const struct msg_pipe *p = (struct msg_pipe *)socket;
    return !msg_stream_has_message(p->stream);
}

static void msg_pipe_set_read_delay(struct msg_socket *socket, unsigned ms)
{
    (void)socket; /* the other end delays */
    (void)ms;
}

static size_t msg_pipe_backlog(const struct msg_socket *socket)
{
    return msg_stream_backlog(((const struct msg_pipe *)socket)->stream);
}

static void msg_pipe_on_closed(void *user)
{
    struct msg_pipe *p = user;
    if (p->base.closed != NULL)
        p->base.closed(p->base.closed_user);
    free(p);
}

static void msg_pipe_close(struct msg_socket *socket)
{
    msg_stream_close(((struct msg_pipe *)socket)->stream, msg_pipe_on_closed, socket);
}

int msg_socket_open_pipe(struct msg_socket **out, uv_loop_t *loop, int fd,
                         void (*on_ended)(void *user), void *on_ended_user)
{
    static const struct msg_socket_operations type = {
        msg_pipe_start,          msg_pipe_receive, msg_pipe_send, msg_pipe_is_empty,
        msg_pipe_set_read_delay, msg_pipe_backlog, msg_pipe_close};
    struct msg_pipe *p = calloc(1, sizeof(*p));
    if (p == NULL)
        return -ENOMEM;
    *p =
        (struct msg_pipe){.base.type = &type, .on_ended = on_ended, .on_ended_user = on_ended_user};
    const struct msg_stream_events events = {p, msg_pipe_on_message, msg_pipe_on_ended};
    int code = msg_stream_open(&p->stream, loop, fd, &events);
    if (code != 0) {
        free(p);
        return code;
    }
    *out = &p->base;
    return 0;
}

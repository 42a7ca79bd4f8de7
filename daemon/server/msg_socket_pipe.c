/* A port whose other end is the process that has the sockets (relay.h). What comes in is one
 * message of PORT_FRAME_PARTS parts at most: address and user of the sender, then its parts. */
#include "daemon/server/msg_socket_frame.h"
#include "daemon/server/msg_socket_type.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pipe_port {
    struct port port;
    struct port_stream *stream;
    struct port_message next; /* what has just come */
    int has_next;             /* and was not received */
    void (*over)(void *user);
    void *over_user;
};

static int copy(zmq_msg_t *out, const struct port_part *part)
{
    if (zmq_msg_init_size(out, part->length) != 0)
        return zmq_msg_init(out); /* without memory it is empty: refused as such */
    if (part->length > 0)
        memcpy(zmq_msg_data(out), part->bytes, part->length);
    return 0;
}

static void note(char *out, size_t room, const struct port_part *part)
{
    size_t length = part->length < room - 1 ? part->length : room - 1;
    if (length > 0)
        memcpy(out, part->bytes, length);
    out[length] = '\0';
}

static int on_message(void *user, const struct port_part *parts, size_t count)
{
    static const struct port_part none = {"", 0};
    struct pipe_port *p = user;
    if (count < 3)
        return 1;
    p->next.count = (unsigned)count - 2;
    note(p->next.address, sizeof(p->next.address), &parts[0]);
    note(p->next.user, sizeof(p->next.user), &parts[1]);
    copy(&p->next.parts[0], &parts[2]);
    copy(&p->next.parts[1], count > 3 ? &parts[3] : &none);
    p->has_next = 1;
    p->port.readable(p->port.user);
    if (!p->has_next)
        return 1;
    port_message_finish(&p->next);
    p->has_next = 0;
    return 0;
}

static void on_over(void *user)
{
    struct pipe_port *p = user;
    p->over(p->over_user);
}

static void start_pipe(struct port *port)
{
    port_stream_more(((struct pipe_port *)port)->stream);
}

static int receive_pipe(struct port *port, struct port_message *out)
{
    struct pipe_port *p = (struct pipe_port *)port;
    if (!p->has_next)
        return 0;
    *out = p->next; /* the parts are moved, their old places forgotten */
    zmq_msg_init(&out->parts[0]);
    zmq_msg_init(&out->parts[1]);
    zmq_msg_move(&out->parts[0], &p->next.parts[0]);
    zmq_msg_move(&out->parts[1], &p->next.parts[1]);
    port_message_finish(&p->next);
    p->has_next = 0;
    return 1;
}

static int send_pipe(struct port *port, const struct port_part *parts, size_t count,
                     zmq_msg_t *last)
{
    return port_stream_write(((struct pipe_port *)port)->stream, parts, count, last);
}

static int is_dry_pipe(struct port *port)
{
    const struct pipe_port *p = (struct pipe_port *)port;
    return !port_stream_holds(p->stream);
}

static void gather_pipe(struct port *port, unsigned ms)
{
    (void)port; /* the other end does */
    (void)ms;
}

static size_t backlog_pipe(const struct port *port)
{
    return port_stream_backlog(((const struct pipe_port *)port)->stream);
}

static void on_closed(void *user)
{
    struct pipe_port *p = user;
    if (p->port.closed != NULL)
        p->port.closed(p->port.closed_user);
    free(p);
}

static void close_pipe(struct port *port)
{
    port_stream_close(((struct pipe_port *)port)->stream, on_closed, port);
}

int port_open_pipe(struct port **out, uv_loop_t *loop, int fd, void (*over)(void *user),
                   void *over_user)
{
    static const struct port_type type = {start_pipe,  receive_pipe, send_pipe, is_dry_pipe,
                                          gather_pipe, backlog_pipe, close_pipe};
    struct pipe_port *p = calloc(1, sizeof(*p));
    if (p == NULL)
        return -ENOMEM;
    *p = (struct pipe_port){.port.type = &type, .over = over, .over_user = over_user};
    const struct port_stream_events events = {p, on_message, on_over, NULL};
    int code = port_stream_open(&p->stream, loop, fd, &events);
    if (code != 0) {
        free(p);
        return code;
    }
    *out = &p->port;
    return 0;
}

/* What the front and the publisher speak through: a message socket. Of a running daemon it is one
 * of ZeroMQ's; of the worker of a replay, which has no thread but its own, a pipe to the process
 * that has those (msg_socket_pipe.c, relay.h).
 *
 * A message is of one to three parts: routing id and body on the front; topic, numbers and body on
 * the stream, where what comes in is a subscription, of one part. */
#ifndef HOLTER_DAEMON_SERVER_MSG_SOCKET_H
#define HOLTER_DAEMON_SERVER_MSG_SOCKET_H

#include <stddef.h>
#include <stdint.h>
#include <uv.h>
#include <zmq.h>

#define PORT_PARTS 3u

struct port;

/** What has come in. Zero-initialised is empty; texts are borrowed from the parts. */
struct port_message {
    zmq_msg_t parts[2];
    unsigned count;   /**< parts that it had; those behind the second are dropped */
    char address[96]; /**< of who sent it, for people; "": not known */
    char user[32];    /**< "User-Id" of its connection, see zap.h; "": there are no keys */
};

void port_message_finish(struct port_message *message);

/** A part to be sent. */
struct port_part {
    const void *bytes;
    size_t length;
};

/** Something may be there: read a bounded amount. @return nonzero when more is there */
typedef int port_readable(void *user);

/** @param socket  taken over: closed with the port; whatever is returned
 *  @return 0, -ENOMEM or a libuv error */
int port_open_socket(struct port **out, uv_loop_t *loop, void *socket);

/** @param fd  one end of socketpair(2), SOCK_STREAM, taken over likewise
 *  @param over  called when the other end was closed */
int port_open_pipe(struct port **out, uv_loop_t *loop, int fd, void (*over)(void *user),
                   void *over_user);

/** Begin to read. @param user  of the callback */
void port_start(struct port *port, port_readable *readable, void *user);

/** What comes next. @param out  set when 1 is returned: to be finished by the caller @return 1, 0:
 * nothing is there */
int port_receive(struct port *port, struct port_message *out);

/** Send one message, without waiting. @return 0, or a negative error: it was not sent */
int port_send(struct port *port, const struct port_part *parts, size_t count);

/** As port_send(), the last part by reference. @param last  not changed */
int port_send_shared(struct port *port, const struct port_part *parts, size_t count,
                     zmq_msg_t *last);

/** Is nothing there to be read? */
int port_is_dry(struct port *port);

/** How long to let messages gather, milliseconds; 0: each is read at once. */
void port_gather(struct port *port, unsigned ms);

/** Bytes that wait to be sent in this process. */
size_t port_backlog(const struct port *port);

/** What was sent still goes out, on sockets. Handles close in further turns of the loop, then
 * closed is called. NULL is fine. */
void port_close(struct port *port, void (*closed)(void *user), void *user);

#endif

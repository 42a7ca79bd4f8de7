/* A message socket: what the front and the publisher send and receive through. In a daemon of
 * running jobs it is a socket of ZeroMQ; in the worker of a replay, which has one thread, a pipe to
 * the process that has the ZeroMQ sockets (msg_socket_pipe.c, relay.h).
 *
 * A message has one to three parts: routing id and body on the front; topic, numbers and body on
 * the stream, where what comes in is a subscription, of one part. */
#ifndef HOLTER_DAEMON_SERVER_MSG_SOCKET_H
#define HOLTER_DAEMON_SERVER_MSG_SOCKET_H

#include <stddef.h>
#include <uv.h>
#include <zmq.h>

struct msg_socket;

/** A received message. Zero-initialised is empty; texts are borrowed from the parts. */
struct msg_socket_message {
    zmq_msg_t parts[2];
    unsigned count;   /**< number of parts; those after the second are dropped */
    char address[96]; /**< of the sender, for people; "": unknown */
    char user[96];    /**< "User-Id" of its connection, see zap.h; "": there are no keys */
};

void msg_socket_message_finish(struct msg_socket_message *message);

/** A part to be sent. */
struct msg_socket_part {
    const void *bytes;
    size_t length;
};

/** Called when the socket may be readable; reads a bounded amount. @return nonzero when more is
 * there */
typedef int msg_socket_on_readable(void *user);

/** @param socket  taken over: closed with the message socket; whatever is returned
 *  @return 0, -ENOMEM or a libuv error */
int msg_socket_open_zmq(struct msg_socket **out, uv_loop_t *loop, void *socket);

/** @param fd  one end of socketpair(2), SOCK_STREAM, taken over likewise
 *  @param over  called when the other end was closed */
int msg_socket_open_pipe(struct msg_socket **out, uv_loop_t *loop, int fd, void (*over)(void *user),
                         void *over_user);

/** Begin to read. @param user  of the callback */
void msg_socket_start(struct msg_socket *socket, msg_socket_on_readable *readable, void *user);

/** Receive a message. @param out  set when 1 is returned; finished by the caller @return 1, or 0:
 * there is none */
int msg_socket_receive(struct msg_socket *socket, struct msg_socket_message *out);

/** Send one message, without waiting. @return 0, or a negative error: it was not sent */
int msg_socket_send(struct msg_socket *socket, const struct msg_socket_part *parts, size_t count);

/** As msg_socket_send(), the last part by reference. @param last  not changed */
int msg_socket_send_shared(struct msg_socket *socket, const struct msg_socket_part *parts,
                           size_t count, zmq_msg_t *last);

/** Of a stream that lets its owner decide on subscriptions (ZMQ_XPUB_MANUAL): add or remove one of
 * the peer from which the last message was received. */
void msg_socket_subscribe(struct msg_socket *socket, const void *topic, size_t length, int on);

/** Is there nothing to be read? */
int msg_socket_is_empty(struct msg_socket *socket);

/** Let messages gather for so long before they are read, milliseconds; 0: read at once. */
void msg_socket_set_read_delay(struct msg_socket *socket, unsigned ms);

/** Bytes that wait to be sent in this process. */
size_t msg_socket_backlog(const struct msg_socket *socket);

/** Close; a socket of ZeroMQ still sends what was queued. Handles close in later turns of the loop,
 * then closed is called. NULL is fine. */
void msg_socket_close(struct msg_socket *socket, void (*closed)(void *user), void *user);

#endif

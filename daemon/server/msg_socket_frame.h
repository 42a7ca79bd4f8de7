/* Messages of several parts on a stream of bytes between two processes of ours, and the stream
 * itself in a libuv loop. On the wire: length of what follows (4 bytes, of this machine's order),
 * number of parts (1), each with its length (4). */
#ifndef HOLTER_DAEMON_SERVER_MSG_SOCKET_FRAME_H
#define HOLTER_DAEMON_SERVER_MSG_SOCKET_FRAME_H

#include "daemon/server/msg_socket.h"

#define PORT_FRAME_PARTS 4u
#define PORT_FRAME_BYTES                                                                           \
    ((24u << 20)) /**< longest; the longest message and what goes with it is shorter */

struct port_stream;

/** What a stream tells. */
struct port_stream_events {
    void *user;
    /** A message. @return nonzero: it is taken; 0: it is not, and comes again after
     * port_stream_more() */
    int (*message)(void *user, const struct port_part *parts, size_t count);
    /** The other end was closed, or what came is no message. */
    void (*over)(void *user);
    /** What waited to be written has been. May be NULL. */
    void (*drained)(void *user);
};

/** @param fd  taken over, whatever is returned @return 0, -ENOMEM or a libuv error */
int port_stream_open(struct port_stream **out, uv_loop_t *loop, int fd,
                     const struct port_stream_events *events);

/** Begin to read, or go on. */
void port_stream_more(struct port_stream *stream);

/** Is a whole message there that was not handed out? */
int port_stream_holds(const struct port_stream *stream);

/** Write a message. @param last  one more part behind the others, by reference; may be NULL
 *  @return 0, -ENOMEM, -HOLTER_ELIMIT or -EPIPE */
int port_stream_write(struct port_stream *stream, const struct port_part *parts, size_t count,
                      zmq_msg_t *last);

/** Bytes that wait to be written. */
size_t port_stream_backlog(const struct port_stream *stream);

/** Close, without what still waits; closed is called in a further turn of the loop. NULL is fine.
 */
void port_stream_close(struct port_stream *stream, void (*closed)(void *user), void *user);

#endif

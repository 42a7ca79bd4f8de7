/* Messages of several parts on a stream of bytes between two processes of the daemon, and the
 * stream itself in a libuv loop. On the wire: length of what follows (4 bytes, host order), number
 * of parts (1), each with its length (4). */
#ifndef HOLTER_DAEMON_SERVER_MSG_SOCKET_FRAME_H
#define HOLTER_DAEMON_SERVER_MSG_SOCKET_FRAME_H

#include "daemon/server/msg_socket.h"

#define MSG_STREAM_PARTS_MAXIMUM 4u
/** More than the longest message with its address. */
#define MSG_STREAM_BYTES_MAXIMUM (24u << 20)

struct msg_stream;

/** Callbacks of a stream. */
struct msg_stream_events {
    void *user;
    /** A message. @return nonzero: it was accepted; 0: it is delivered again after
     * msg_stream_resume() */
    int (*message)(void *user, const struct msg_socket_part *parts, size_t count);
    /** The other end was closed, or sent something that is no message. */
    void (*ended)(void *user);
};

/** @param fd  taken over, whatever is returned @return 0, -ENOMEM or a libuv error */
int msg_stream_open(struct msg_stream **out, uv_loop_t *loop, int fd,
                    const struct msg_stream_events *events);

/** Begin to read, or go on reading. */
void msg_stream_resume(struct msg_stream *stream);

/** Is there a whole message that was not delivered? */
int msg_stream_has_message(const struct msg_stream *stream);

/** Write a message. @param last  one more part after the others, by reference; may be NULL
 *  @return 0, -ENOMEM, -HOLTER_ELIMIT or -EPIPE */
int msg_stream_write(struct msg_stream *stream, const struct msg_socket_part *parts, size_t count,
                     zmq_msg_t *last);

/** The bytes before the part of a message of one part, for a process that writes without a loop.
 *  @param length  of the part */
#define MSG_STREAM_HEAD 9u
void msg_stream_put_head(uint8_t out[MSG_STREAM_HEAD], size_t length);

/** Bytes that wait to be written. */
size_t msg_stream_backlog(const struct msg_stream *stream);

/** Close, without what still waits; closed is called in a further turn of the loop. NULL is fine.
 */
void msg_stream_close(struct msg_stream *stream, void (*closed)(void *user), void *user);

#endif

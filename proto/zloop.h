/* A ZeroMQ socket in a libuv loop. The socket's descriptor is edge-triggered: it must be read
 * until ZMQ_EVENTS is dry, after sends too (zmq_getsockopt(3), ZMQ_FD). Only this file
 * does so. */
#ifndef HOLTER_PROTO_ZLOOP_H
#define HOLTER_PROTO_ZLOOP_H

#include <uv.h>

struct zloop;

/** Called when the socket can be read. Reads at most a bounded number of messages with
 *  ZMQ_DONTWAIT; is called again in the next turn of the loop while more are there. @return
 *  nonzero when it may be drier than that: more should be read */
typedef int zloop_readable(void *user, void *socket);

/** Watch a socket.
 *  @param socket  borrowed; stays the caller's to close, after zloop_close's callback
 *  @return 0, -ENOMEM or a libuv error */
int zloop_open(struct zloop **out, uv_loop_t *loop, void *socket, zloop_readable *readable,
               void *user);

/** To be called after every send on the socket: the edge may have been consumed by it. */
void zloop_sent(struct zloop *zloop);

/** When the socket is dry, leave it alone for so long before it is read again: with
 *  thousands of messages a second, many are then read per wake-up. 0: read at once (the default).
 *  Milliseconds. */
void zloop_gather(struct zloop *zloop, unsigned ms);

/** Stop watching. closed may be NULL; the memory is freed after it. NULL is fine. */
void zloop_close(struct zloop *zloop, void (*closed)(void *user));

#endif

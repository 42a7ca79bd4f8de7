/* The relay: passes messages of the daemon's two sockets to a worker of a replay, and its messages
 * to the sockets. When a worker takes over, it receives all messages from then on, and its own are
 * sent when the previous worker has ended. */
#ifndef HOLTER_DAEMON_SERVER_RELAY_H
#define HOLTER_DAEMON_SERVER_RELAY_H

#include <stdint.h>
#include <uv.h>

/** A subscriber of a replay that does not keep up is waited for so long; then it loses frames, as
 * of a running job, until it keeps up again. */
#define RELAY_SUBSCRIBER_TIMEOUT_NS UINT64_C(1000000000)

struct relay;

/** @param front, stream  ROUTER and XPUB, taken over, whatever is returned
 *  @param on_closed  called when the only worker has ended
 *  @return 0, -ENOMEM or a libuv error */
int relay_create(struct relay **out, uv_loop_t *loop, void *front, void *stream,
                 void (*on_closed)(void *user), void *user);

/** A worker takes over. @param front, stream  its descriptors, taken over, whatever is returned
 *  @return 0, -ENOMEM or a libuv error */
int relay_attach(struct relay *relay, int front, int stream);

/** Stop relaying messages of the previous worker, though it has not ended. */
void relay_drop_previous(struct relay *relay);

/** Handles close in further turns of the loop. NULL is fine. */
void relay_destroy(struct relay *relay);

#endif

/* The relay: passes what comes in on the daemon's two sockets to a worker, and what the worker says
 * to the sockets. Workers take over from each other: the newer one hears all that comes in from its
 * coming on, and is heard when the older one has ended. */
#ifndef HOLTER_DAEMON_SERVER_RELAY_H
#define HOLTER_DAEMON_SERVER_RELAY_H

#include <stdint.h>
#include <uv.h>

/** A subscriber of a replay that does not keep up is waited for, so long at a time: then it loses
 * frames, as of a running job, until it keeps up again. */
#define RELAY_SUBSCRIBER_TIMEOUT_NS UINT64_C(1000000000)

struct relay;

/** @param front, stream  ROUTER and XPUB, taken over, whatever is returned
 *  @param over  called when the worker that is heard has ended, and no other has come: user's
 * business
 *  @return 0, -ENOMEM or a libuv error */
int relay_create(struct relay **out, uv_loop_t *loop, void *front, void *stream,
                 void (*over)(void *user), void *user);

/** A worker comes. @param front, stream  its descriptors, taken over, whatever is returned
 *  @return 0, -ENOMEM or a libuv error */
int relay_attach(struct relay *relay, int front, int stream);

/** The older worker is not listened to any more, though it has not ended. */
void relay_drop_previous(struct relay *relay);

/** Handles close in further turns of the loop. NULL is fine. */
void relay_destroy(struct relay *relay);

#endif

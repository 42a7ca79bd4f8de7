/* Searches under way (search.h), each in a process of its own, and what they answer passed on to
 * who asked.
 *
 * What their client asks meanwhile is answered at once. It has one search of a kind: a newer one
 * ends that before, and it can end them itself. At most SEARCHES_MAXIMUM are under way; others are
 * told to ask again. A client that leaves ends its searches. */
#ifndef HOLTER_DAEMON_SERVER_SEARCHES_H
#define HOLTER_DAEMON_SERVER_SEARCHES_H

#include "daemon/server/front.h"
#include "daemon/server/search.h"

#include <uv.h>

#define SEARCHES_MAXIMUM 4u

struct searches;

/** @return 0, -ENOMEM or a libuv error */
int searches_create(struct searches **out, uv_loop_t *loop);

/** Ends all. Handles close in further turns of the loop. NULL is fine. */
void searches_destroy(struct searches *searches);

/** Begin one; the peer's search of the same kind, when there is one, is ended. The peer is told
 * with a REPLY to this request in the end.
 *  @param ask  taken over, whatever is returned
 *  @return 0, -HOLTER_EFULL, -ENOMEM, or what fork(2) or pipe2(2) say */
int searches_start(struct searches *searches, struct front *front, const struct peer *peer,
                   uint64_t id, struct job *job, struct network_ask *ask);

/** End the search of this kind that the peer has under way: that request is answered with
 * -ECANCELED.
 *  @param why  told with it @return 0, or -HOLTER_EEMPTY: there is none */
int searches_cancel(struct searches *searches, const struct peer *peer, int reroute,
                    const char *why);

#endif

/* The searches under way (search.h), each in a process of its own; their answers are forwarded to
 * the clients that asked.
 *
 * Other requests of a client are answered while its search runs. A client has one search of each
 * kind: a newer one ends the previous one, and the client can cancel it. At most SEARCHES_MAXIMUM
 * are under way; more are refused. When a client leaves, its searches end. */
#ifndef HOLTER_DAEMON_SERVER_SEARCHES_H
#define HOLTER_DAEMON_SERVER_SEARCHES_H

#include "daemon/server/peers.h"
#include "daemon/server/search.h"

#include <uv.h>

#define SEARCHES_MAXIMUM 4u

struct front;
struct searches;

/** @return 0, -ENOMEM or a libuv error */
int searches_create(struct searches **out, uv_loop_t *loop);

/** Ends all searches. Handles close in later turns of the loop. NULL is fine. */
void searches_destroy(struct searches *searches);

/** Start a search; the peer's search of the same kind, if there is one, is ended. The last answer
 * is a REPLY to this request.
 *  @param ask  taken over, whatever is returned
 *  @return 0, -HOLTER_EFULL, -ENOMEM, or an error of fork(2) or pipe2(2) */
int searches_start(struct searches *searches, struct front *front, const struct peer *peer,
                   uint64_t id, struct job *job, struct network_ask *ask);

/** End the peer's search of this kind: its request is answered with -ECANCELED.
 *  @param why  text of the answer @return 0, or -HOLTER_EEMPTY: there is none */
int searches_cancel(struct searches *searches, const struct peer *peer, int reroute,
                    const char *why);

#endif

/* Searches under way (search.h), each in a process of its own, and what they answer passed on to who asked.
 *
 * A client has one at a time: what it asks meanwhile waits behind it, see answers.h; who wants both asks over two
 * connections. At most SEARCHES_MOST are under way; others are told to ask again. A client that leaves ends its
 * search. */
#ifndef HOLTER_DAEMON_SEARCHES_H
#define HOLTER_DAEMON_SEARCHES_H

#include "daemon/front.h"
#include "daemon/search.h"

#include <uv.h>

#define SEARCHES_MOST 4u

struct searches;

/** @param done  called when a search has been answered: its peer may have left
 *  @return 0, -ENOMEM or a libuv error */
int searches_create(struct searches **out, uv_loop_t *loop, void *user,
                    void (*done)(void *user, const uint8_t *peer, size_t length));

/** Ends all. Handles close in further turns of the loop. NULL is fine. */
void searches_destroy(struct searches *searches);

/** Begin one. The peer is told with a REPLY to this request in the end.
 *  @param ask  taken over, whatever is returned
 *  @return 0, -HOLTER_EFULL, -ENOMEM, or what fork(2) or pipe2(2) say */
int searches_begin(struct searches *searches, struct front *front, const struct peer *peer,
                   uint64_t id, struct job *job, struct network_ask *ask);

#endif

/* Searches for better mappings and routes: long work on what a job has sent so far.
 *
 * A search runs in a process of its own, a fork of the daemon: it has a copy of the whole job, can
 * take long, can be ended at any moment, and cannot harm the daemon. METIS, which the search for
 * mappings is built on, keeps state of the whole process and handles its signals: it could not run
 * in a thread beside the loop. Answers come through a pipe, encoded, each after its length (4
 * bytes, the host's order), a REPLY last; the loop forwards them to the client that asked.
 *
 * Other requests of a client are answered while its search runs. A client has one search of each
 * kind: a newer one ends the previous one, and the client can cancel it. At most SEARCHES_MAXIMUM
 * are under way; more are refused. When a client leaves, its searches end. */
#ifndef HOLTER_DAEMON_SERVER_SEARCHES_H
#define HOLTER_DAEMON_SERVER_SEARCHES_H

#include "daemon/job/job.h"
#include "daemon/server/network_ask.h"
#include "daemon/server/peers.h"

#include <uv.h>

struct front;
struct searches;

#define SEARCHES_MAXIMUM 4u

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

/** Run a search, in its own process. Sends its progress, at most once a second, then the answer,
 * then a REPLY.
 *  @param fd  of the pipe @param id  of the request */
void search_run(struct job *job, const struct network_ask *ask, int fd, uint64_t id);

#endif

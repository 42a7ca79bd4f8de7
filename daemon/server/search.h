/* Searches for better mappings and routes: long work on what a job has sent so far.
 *
 * A search runs in a process of its own, a fork of the daemon: it has a copy of the whole job, can
 * take long, can be ended at any moment, and cannot harm the daemon. METIS, which the search for
 * mappings is built on, keeps state of the whole process and handles its signals: it could not run
 * in a thread beside the loop. Answers come through a pipe, encoded, each after its length (4
 * bytes, the host's order), a REPLY last; the loop forwards them. */
#ifndef HOLTER_DAEMON_SERVER_SEARCH_H
#define HOLTER_DAEMON_SERVER_SEARCH_H

#include "daemon/job/job.h"
#include "daemon/server/network_ask.h"

/** Run a search, in its own process. Sends its progress, at most once a second, then the answer,
 * then a REPLY.
 *  @param fd  of the pipe @param id  of the request */
void search_run(struct job *job, const struct network_ask *ask, int fd, uint64_t id);

#endif

/* Answers the requests of clients: jobs, status, snapshot, commgram, remap, reroute, cancel,
 * capture, replay, stop.
 *
 * Requests of a client are answered in their order; while a picture of the CommGram is made, in
 * steps, they are queued (answers.h). Searches for better mappings and routes run in processes of
 * their own (searches.h), and are answered when they are done. */
#ifndef HOLTER_DAEMON_SERVER_CONTROL_H
#define HOLTER_DAEMON_SERVER_CONTROL_H

#include "daemon/job/jobs.h"
#include "daemon/server/capture_requests.h"
#include "daemon/server/front.h"
#include "daemon/topology/shared_network.h"

struct control;

struct control_options {
    const struct server_options *options; /**< borrowed, all of these */
    const struct timeline *timeline;
    struct jobs *jobs;
    struct publisher *publisher;
    struct captures *captures; /**< NULL: a replay, which has no agents */
    struct sinks *sinks;
    const struct network *network;
    void *user;
    void (*stop)(void *user);           /**< an operator ends the daemon */
    void (*stop_when_idle)(void *user); /**< as --quit-when-idle, from now on */
    /** Carry out a request to the replay; NULL: this is no replay.
     *  @param why  set on failure @return 0 or a negative error */
    int (*replay)(void *user, const char *argument, char *why, size_t capacity);
    /** The report of the replay, with its marks; valid until the next call. */
    const struct wire_replay *(*replay_state)(void *user);
    /** Add the jobs of other daemons of a fleet to the list; NULL: there are none.
     *  @return jobs in the list */
    size_t (*other_jobs)(void *user, struct wire_job_row *rows, size_t count, size_t capacity);
    uint64_t pid; /**< reported as the daemon's; 0: this process's */
};

/** @param loop  makes pictures @return 0, -ENOMEM or a libuv error */
int control_create(struct control **out, uv_loop_t *loop, const struct control_options *options);
/** Handles close in later turns of the loop. NULL is fine. */
void control_destroy(struct control *control);

/** Answer one request. */
void control_request(struct control *control, struct front *front, struct peer *peer,
                     const struct wire_request *request);

#endif

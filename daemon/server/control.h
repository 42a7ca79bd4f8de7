/* Answers to clients: jobs, status, snapshot, commgram, remap, reroute, cancel,
 * capture, replay, stop.
 *
 * A picture of the CommGram takes long: it is made in steps, one a turn of the loop, and what its
 * client asks meanwhile waits behind it, so that answers come in the order of requests. Searches
 * for better mappings and better routes are made in processes of their own, and answered out of
 * that order. */
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
    struct captures *captures; /**< NULL: a replay, that can ask nobody */
    struct sinks *sinks;
    const struct network *network;
    void *user;
    void (*stop)(void *user);           /**< an operator ends the daemon */
    void (*stop_when_idle)(void *user); /**< as --quit-when-idle, from now on */
    /** Replays: do what the argument of a request says. @param why  set on failure @return 0 or a
     * negative error; NULL: nothing is replayed */
    int (*replay)(void *user, const char *argument, char *why, size_t room);
    /** How far the replay is, with its marks; valid until the next call. */
    const struct wire_replay *(*replay_state)(void *user);
    uint64_t pid; /**< told as the daemon's; 0: this process's */
};

/** @param loop  that pictures are made in @return 0, -ENOMEM or a libuv error */
int control_create(struct control **out, uv_loop_t *loop, const struct control_options *options);
/** A handle closes in further turns of the loop. NULL is fine. */
void control_destroy(struct control *control);

/** Answer one request, through this front. */
void control_request(struct control *control, struct front *front, struct peer *peer,
                     const struct wire_request *request);

#endif

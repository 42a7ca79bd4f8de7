/* The worker of a replay: a process that feeds silently up to its target, and then serves clients
 * from there, at the pace that they choose. A seek starts another worker, which takes over. */
#ifndef HOLTER_DAEMON_REPLAY_REPLAY_WORKER_H
#define HOLTER_DAEMON_REPLAY_REPLAY_WORKER_H

#include "daemon/job/daemon_time.h"
#include "daemon/replay/replay_feeder.h"
#include "daemon/replay/replay_link.h"
#include "daemon/replay/replay_shared.h"

struct replay_worker_options {
    const struct replay_options *options; /**< borrowed, as all pointers here */
    const struct timeline *timeline;
    const struct network *network;
    struct replay_shared *shared;
    uint64_t begin_ns; /**< when the first message of the recording was received */
    uint64_t server;   /**< process id of the server: reported as the daemon's */
};

/** Run a worker, in a process that was forked for it. Never returns normally: the process ends.
 *  @param user  struct replay_worker_options
 *  @param note  as the server sent it: target, pace, identity
 *  @param fds   front, stream and link */
void replay_worker_run(void *user, struct replay_feeder *feeder, const struct replay_note *note,
                       const int fds[REPLAY_LINK_FDS]);

#endif

/* The worker of a replay: a process that feeds silently up to its target, and then serves clients
 * from there, at the pace that they choose. A seek is another worker's, which takes over from this
 * one. The first one may lead (replay_index.h) for as long as it goes on from the begin as fast as
 * it can. */
#ifndef HOLTER_DAEMON_REPLAY_REPLAY_WORKER_H
#define HOLTER_DAEMON_REPLAY_REPLAY_WORKER_H

#include "daemon/job/daemon_time.h"
#include "daemon/replay/replay_feeder.h"
#include "daemon/replay/replay_index.h"
#include "daemon/replay/replay_link.h"
#include "daemon/replay/replay_shared.h"

struct replay_worker_options {
    const struct options *options; /**< borrowed, all of these */
    const struct timeline *timeline;
    const struct rules *rules;
    const struct network *network;
    struct replay_shared *shared;
    uint64_t begin_ns;                /**< first message of the recording */
    uint64_t server;                  /**< process of the server: told as the daemon's */
    const struct replay_index *index; /**< as which it leads */
};

/** See struct replay_index. @param user  struct replay_worker_options */
void replay_worker_run(void *user, struct replay_reel *reel, const struct replay_note *note,
                       const int fds[REPLAY_LINK_FDS]);

#endif

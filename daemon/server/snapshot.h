/* Current states, encoded once for all who ask before the next frame: a thousand viewers that
 * connect at one time get the same bytes. */
#ifndef HOLTER_DAEMON_SERVER_SNAPSHOT_H
#define HOLTER_DAEMON_SERVER_SNAPSHOT_H

#include "daemon/job/job.h"

#include <zmq.h>

#define SNAPSHOTS_MAXIMUM 32u /**< states kept; the one made longest ago goes first */

struct snapshot {
    char job[65];
    enum wire_type type;
    uint64_t frame;    /**< newest published frame of the job that is in it */
    uint64_t closings; /**< see job_closings(): windows that nobody reads make no frames */
    zmq_msg_t *parts;  /**< owned: encoded messages */
    size_t count, room;
};

/** Zero-initialised is empty. */
struct snapshots {
    struct snapshot *list[SNAPSHOTS_MAXIMUM]; /**< owned; newest first */
    struct wire_buffer buffer;
};

void snapshots_finish(struct snapshots *snapshots);

/** State of a job.
 *  @param frame  newest published frame of the job
 *  @return borrowed until the next call; NULL without memory */
const struct snapshot *snapshots_get(struct snapshots *snapshots, struct job *job,
                                     enum wire_type type, uint64_t frame);

#endif

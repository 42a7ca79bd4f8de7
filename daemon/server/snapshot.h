/* Current states, encoded once for all clients that ask before the next frame: a thousand viewers
 * that connect at one time get the same bytes. */
#ifndef HOLTER_DAEMON_SERVER_SNAPSHOT_H
#define HOLTER_DAEMON_SERVER_SNAPSHOT_H

#include "daemon/job/job.h"

#include <zmq.h>

#define SNAPSHOTS_MAXIMUM 32u /**< number of states; the oldest is dropped first */

struct snapshot {
    uint64_t number; /**< of the job, see jobs_number(): ids are used again */
    enum wire_type type;
    uint64_t frame;    /**< number of the newest frame of the job at that time */
    uint64_t closings; /**< see job_count_closed(): without subscribers windows make no frames */
    zmq_msg_t *parts;  /**< owned: encoded messages */
    size_t count, capacity;
};

/** Zero-initialised is empty. */
struct snapshots {
    struct snapshot *list[SNAPSHOTS_MAXIMUM]; /**< owned; newest first */
    struct wire_buffer buffer;
};

void snapshots_finish(struct snapshots *snapshots);

/** State of a job.
 *  @param number  of the job, see jobs_number()
 *  @param frame  newest published frame of the job
 *  @return borrowed until the next call; NULL without memory */
const struct snapshot *snapshots_get(struct snapshots *snapshots, struct job *job, uint64_t number,
                                     enum wire_type type, uint64_t frame);

#endif

/* A rank without MPI: writes a segment as a probe does. */
#ifndef TESTS_AGENT_NODE_FAKE_RANK_H
#define TESTS_AGENT_NODE_FAKE_RANK_H

#include "holter/call.h"
#include "holter/segment.h"

struct fake_rank {
    char name[80];
    struct segment *segment;
    size_t bytes;
    struct ring_writer writer; /* of ring 0, unless told otherwise */
};

/** Make the segment of this process, or of another.
 *  @param first_capacity  records of ring 0
 *  @return 0 or a negative error */
int fake_rank_create(struct fake_rank *fake, const char *session, int32_t pid, const char *job,
                     int32_t rank, int32_t size, uint32_t first_capacity);

/** Go on as another thread: what is written from now on goes into its ring, which is taken if it
 * was free. */
void fake_rank_thread(struct fake_rank *fake, uint32_t ring);

/** Unmap, and remove the name if it is there. */
void fake_rank_destroy(struct fake_rank *fake);

/** Publish one record as it stands; its seq is set. */
void fake_rank_write(struct fake_rank *fake, const struct event *event);

/** Begin a call and leave it in progress. */
void fake_rank_enter(struct fake_rank *fake, const struct event *event);

/** Put a live communicator into a slot. */
void fake_rank_comm(struct fake_rank *fake, uint32_t slot, uint64_t id, uint32_t size,
                    const char *name);

/** Name a region. */
void fake_rank_region(struct fake_rank *fake, uint32_t slot, const char *name);

#endif

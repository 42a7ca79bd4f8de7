/* The checkpoints of a replay, as its server knows them: sleeping processes, each with the state of
 * the job at one place of the recording, from which workers are forked. Their number is bounded. */
#ifndef HOLTER_DAEMON_REPLAY_REPLAY_CHECKPOINTS_H
#define HOLTER_DAEMON_REPLAY_REPLAY_CHECKPOINTS_H

#include "daemon/replay/replay_watch.h"

/** At this many every other one is ended, so that they stay evenly spaced. With the spacing that
 * follows (see replay_index.h) a seek in an hour of 4,096 ranks feeds for 1.2 s at most. */
#define REPLAY_CHECKPOINTS_MAXIMUM 32u
/** The same is done when they take more than one third of the memory that this process has
 * available, what they take included. */
#define REPLAY_CHECKPOINTS_SHARE 3u

struct replay_checkpoints;

/** @param maximum_bytes  of memory for all checkpoints; 0: REPLAY_CHECKPOINTS_SHARE
 *  @return 0 or -ENOMEM */
int replay_checkpoints_create(struct replay_checkpoints **out, uv_loop_t *loop,
                              uint64_t maximum_bytes);
/** Ends all of them. NULL is fine. */
void replay_checkpoints_destroy(struct replay_checkpoints *checkpoints);

/** Add the next checkpoint: places only grow.
 *  @param note  its place and process
 *  @param link  to it; taken over, whatever is returned
 *  @return 0, -ENOMEM, -HOLTER_EFULL or a libuv error */
int replay_checkpoints_add(struct replay_checkpoints *checkpoints, const struct replay_note *note,
                           int link);

/** Have the last checkpoint before the note's target fork a worker; for a preview, the first one.
 *  @return 0, -HOLTER_EEMPTY when there is none, or an error of replay_link_send() */
int replay_checkpoints_fork(struct replay_checkpoints *checkpoints, const struct replay_note *note,
                            const int fds[REPLAY_LINK_FDS]);

/** Where a worker for a target would begin. @return 0 or -HOLTER_EEMPTY */
int replay_checkpoints_find(const struct replay_checkpoints *checkpoints,
                            const struct replay_target *target, struct replay_place *out);

/** End every other checkpoint while they are too many or take too much memory. To be called after
 * each one that was added, and now and then.
 *  @return whether some were ended: the index is to leave checkpoints half as often */
int replay_checkpoints_thin(struct replay_checkpoints *checkpoints);

#endif

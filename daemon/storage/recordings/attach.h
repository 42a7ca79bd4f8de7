/* A recording of a job that runs already, made of what its daemon publishes: the messages of its
 * agents (topic "recorded") as they came from some time on, and the results. What agents said about
 * ranks before stands at its begin. Attached recordings say so in their table "part": since when,
 * and how many messages of agents are missing since, told by the gaps in their numbers. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDINGS_ATTACH_H
#define HOLTER_DAEMON_STORAGE_RECORDINGS_ATTACH_H

#include "holter/wire.h"

#include <stddef.h>
#include <stdint.h>

#define ATTACH_TOPICS                                                                              \
    "job,places,totals,alerts,latency,regions,phases,curve,topology,links,captures,recorded"

struct attach;

/** Can attach_create() begin a recording here, as far as can be seen without doing it? For those
 * who have to wait for a job first. @param why  set on failure @return 0, -EEXIST or -errno */
int attach_check(const char *path, char *why, size_t room);

/** Begin a recording; nothing is written over.
 *  @param path        of its file, or of the first part
 *  @param most_bytes  of all parts together, see record_parts.h; 0: no limit, one part
 *  @param why         set on failure @return 0, -EEXIST, or as recording_open() */
int attach_create(struct attach **out, const char *path, uint64_t most_bytes, char *why,
                  size_t room);

/** Take what was published of the job; other types are ignored.
 *  @param snapshot  it is part of a current state; of these the first tells when the recording
 * begins
 *  @return 0, -HOLTER_EPROTOCOL for what no daemon sends, or as recording_message(): see
 * attach_error() */
int attach_take(struct attach *attach, const struct wire_message *message, int snapshot);

/** Has so much come since the last commit that parts would outgrow their size? */
int attach_is_due(const struct attach *attach);

/** Commit, and go on with the next part when this one is full. @return 0 or negative, see
 * attach_error() */
int attach_commit(struct attach *attach);

/** Commit and close. @return 0 or -EIO */
int attach_close(struct attach *attach);

/** Close as it was at the last commit. NULL is fine. */
void attach_abandon(struct attach *attach);

/** What went wrong, for people. */
const char *attach_error(const struct attach *attach, int code);

/** Path of the part that is written. */
const char *attach_path(const struct attach *attach);
/** Messages of agents that were kept, and those that did not come. */
uint64_t attach_messages(const struct attach *attach);
uint64_t attach_missed(const struct attach *attach);
/** Since when, daemon time; 0: from the begin of the job, or nothing came yet. */
uint64_t attach_since_ns(const struct attach *attach);

#endif

/* Attached recordings: a recording of a running job, made of what its daemon publishes. It has
 * the messages of agents (topic "recorded") since it began, and the results; the earlier messages
 * about ranks are at its begin. Its table "part" states when it began, and how many messages of
 * agents are missing since then, according to the gaps in their numbers. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDINGS_ATTACH_H
#define HOLTER_DAEMON_STORAGE_RECORDINGS_ATTACH_H

#include "holter/wire.h"

#include <stddef.h>
#include <stdint.h>

#define ATTACH_TOPICS                                                                              \
    "job,places,totals,alerts,latency,lateness,regions,phases,curve,topology,links,captures,"      \
    "recorded"

struct attach;

/** Check whether attach_create() can create a recording here, as far as that can be seen without
 * trying: for callers that first wait for a job. @param why  set on failure @return 0, -EEXIST or
 * -errno */
int attach_check(const char *path, char *why, size_t capacity);

/** Create a recording; no file is overwritten.
 * @param path        of its file, or of its first part
 * @param max_bytes  of all parts together, see record_parts.h; 0: no limit, one part
 * @param why         set on failure
 * @return 0, -EEXIST, or as recording_open() */
int attach_create(struct attach **out, const char *path, uint64_t max_bytes, char *why,
                  size_t capacity);

/** Write a message that was published about the job; other types are ignored.
 * @param snapshot  the message is part of the current state that a new subscriber receives; the
 * first such message of an agent determines when the recording begins
 * @return 0, -HOLTER_EPROTOCOL for what no daemon sends, or as recording_write_message(): see
 * attach_error() */
int attach_write(struct attach *attach, const struct wire_message *message, int snapshot);

/** Is a commit due, so that parts keep their size? */
int attach_is_due(const struct attach *attach);

/** Commit, and continue in the next part when this one is full. @return 0 or negative, see
 * attach_error() */
int attach_commit(struct attach *attach);

/** Commit and close. @return 0 or -EIO */
int attach_close(struct attach *attach);

/** Close without committing, and write why into the recording. NULL is fine. */
void attach_abandon(struct attach *attach, const char *why);

/** The cause of an error, for people. */
const char *attach_error(const struct attach *attach, int code);

/** Path of the part that is being written. */
const char *attach_path(const struct attach *attach);
/** Messages of agents that were recorded, and those that were not received. */
uint64_t attach_message_count(const struct attach *attach);
uint64_t attach_missed_count(const struct attach *attach);

#endif

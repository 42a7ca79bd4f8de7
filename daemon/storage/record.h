/* The recorder: a thread of its own that writes recordings, so that a slow disk delays nothing
 * else in the daemon.
 *
 * Messages and results go through a queue that is bounded in bytes: once a message has no place in
 * it, nothing more of its job is queued. At least once a second all
 * recordings are committed; only then the messages are reported as committed, and their agents
 * acknowledged. When a recording cannot continue (full disk, a disk that is too slow, no memory)
 * it stops for good at its last commit, which is reported once. Later messages of its job are
 * reported as committed without being written, so that agents do not send them again. */
#ifndef HOLTER_DAEMON_STORAGE_RECORD_H
#define HOLTER_DAEMON_STORAGE_RECORD_H

#include "daemon/storage/recording.h"

#include <uv.h>
#include <zmq.h>

#define RECORDER_THREAD "holterd-record" /**< name of the thread, see pthread_setname_np(3) */

struct recorder;

/** Callbacks, in the thread of the event loop. */
struct recorder_events {
    void *user;
    /** All messages of the agent up to this number are committed, or will never be recorded. */
    void (*kept)(void *user, uint64_t instance, uint64_t seq);
    /** The recording of a job has stopped for good. @param why  a sentence for people */
    void (*stopped)(void *user, const char *job, const char *why);
    /** The recording of a job continues in another file, its next part. */
    void (*moved)(void *user, const char *job, const char *path);
};

struct recorder_options {
    size_t queue_bytes;  /**< 0: 256 MiB */
    uint64_t most_bytes; /**< of all parts of a recording together, see record_parts.h; 0: no limit,
                            one part */
    unsigned
        pages; /**< maximum size of a recording in pages; 0: no limit. For tests of a full disk */
};

/** @return 0, -ENOMEM or a libuv error */
int recorder_create(struct recorder **out, uv_loop_t *loop, const struct recorder_options *options,
                    const struct recorder_events *events);

/** Begin the recording of a job, or continue it. @param path  of its first part */
void recorder_open(struct recorder *recorder, const char *job, const char *path);

/** Queue a message of an agent. @param message  moved: empty afterwards */
void recorder_queue_message(struct recorder *recorder, const char *job, const struct recorded *head,
                            zmq_msg_t *message);

/** A message or result could not be queued for lack of memory: the recording stops before the next
 * item, so that it has no gap. */
void recorder_mark_lost(struct recorder *recorder, const char *job);

/** Queue a published result, see recording_write_result(). @param message  copied */
void recorder_queue_result(struct recorder *recorder, const char *job, enum wire_type type,
                           const void *message);

/** Queue an acknowledgement without a message: the message is not recorded, but reported as
 * committed in its turn. */
void recorder_queue_acknowledgement(struct recorder *recorder, uint64_t instance, uint64_t seq);

/** The job has ended: close its file. A further message of the job opens it again. */
void recorder_close(struct recorder *recorder, const char *job);

/** Bytes in the queue. */
size_t recorder_queued_bytes(const struct recorder *recorder);

/** Bytes of all open recordings, as of the last commit. NULL: 0. */
uint64_t recorder_file_bytes(struct recorder *recorder);

/** Write and commit the queue, close all files, end the thread and report the last commits; the
 * handle closes in further turns of the loop. NULL is fine. */
void recorder_destroy(struct recorder *recorder);

#endif

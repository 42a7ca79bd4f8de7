/* The recorder: a thread of its own that writes recordings, so that a slow disk delays nothing
 * else.
 *
 * What is to be kept goes through a queue that is bounded in bytes. At least once a second all
 * recordings are committed, and then it is told what is safe, so that agents can be acknowledged.
 * When a recording cannot go on (full disk, a disk that does not keep up, no memory) it stops for
 * good at its last commit, which is told once; its job's messages then count as kept as soon as
 * they come by.
 */
#ifndef HOLTER_DAEMON_STORAGE_RECORD_H
#define HOLTER_DAEMON_STORAGE_RECORD_H

#include "daemon/storage/recording.h"

#include <uv.h>
#include <zmq.h>

#define RECORDER_THREAD "holterd-record" /**< name of the thread, see pthread_setname_np(3) */

struct recorder;

/** Told in the loop's thread. */
struct recorder_events {
    void *user;
    /** All messages of the agent up to this number are safe, as far as they can be. */
    void (*kept)(void *user, uint64_t instance, uint64_t seq);
    /** The recording of a job has stopped. */
    void (*stopped)(void *user, const char *job, const char *why);
    /** The recording of a job goes on in another file. */
    void (*moved)(void *user, const char *job, const char *path);
};

struct recorder_options {
    size_t queue_bytes; /**< 0: 256 MiB */
    uint64_t
        most_bytes; /**< of all parts of a recording, see record_parts.h; 0: no limit, one part */
    unsigned pages; /**< largest recording, in pages; 0: no limit (tests) */
};

/** @return 0, -ENOMEM or a libuv error */
int recorder_create(struct recorder **out, uv_loop_t *loop, const struct recorder_options *options,
                    const struct recorder_events *events);

/** Begin the recording of a job, or go on with it. @param path   of its first part
 *                                                  @param ranks  of the job; 0: not known */
void recorder_open(struct recorder *recorder, const char *job, const char *path, uint64_t ranks);

/** Keep a message. @param message  moved: empty afterwards */
void recorder_keep(struct recorder *recorder, const char *job, const struct recorded *head,
                   zmq_msg_t *message);

/** Something that was to be kept was not, for want of memory: the recording stops before what comes
 * next. */
void recorder_lost(struct recorder *recorder, const char *job);

/** Keep what was published, see recording_table(). @param message  copied */
void recorder_table(struct recorder *recorder, const char *job, enum wire_type type,
                    const void *message);

/** Nothing to keep, but the agent is to be told in its turn that the message is safe. */
void recorder_note(struct recorder *recorder, uint64_t instance, uint64_t seq);

/** The job has ended: close its file. More of it opens the file again. */
void recorder_close(struct recorder *recorder, const char *job);

/** Bytes that wait to be written. */
size_t recorder_waiting(const struct recorder *recorder);

/** Bytes in all recordings of this daemon. */
uint64_t recorder_bytes(struct recorder *recorder);

/** Write and commit all that waits, close all files, end the thread, tell what is left to tell; the
 *  handle closes in further turns of the loop. NULL is fine. */
void recorder_destroy(struct recorder *recorder);

#endif

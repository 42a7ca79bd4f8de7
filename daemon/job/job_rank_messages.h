/* What agents said, byte for byte, for whoever records a job besides the daemon: messages about
 * ranks are kept for those who come late, at most JOB_SAID_BYTES of a job. */
#ifndef HOLTER_DAEMON_JOB_JOB_RANK_MESSAGES_H
#define HOLTER_DAEMON_JOB_JOB_RANK_MESSAGES_H

#include "daemon/job/job.h"
#include "daemon/storage/block/recorded.h"

#include <stddef.h>

#define JOB_SAID_BYTES ((size_t)256 << 20)

/** Zero-initialised is empty. */
struct job_said {
    struct job_said_message {
        struct recorded head;
        void *bytes; /**< owned */
        size_t length;
    } * list;
    size_t count, room, bytes;
    int full; /**< some were left out, and it was told */
};

void job_said_finish(struct job_said *said);

/** Keep a message about ranks. What there is no room for is missing in recordings that begin later,
 * which is logged once. */
void job_keep_said(struct job *job, const struct recorded *head, const void *bytes, size_t length);

/** Publish a message as it came, in parts when it is long. */
void job_publish_recorded(const struct job *job, const struct job_output *output,
                          const struct recorded *head, const void *bytes, size_t length);

/** All that was kept, as if it came with the newest message. */
void job_publish_said(const struct job *job, const struct job_output *output);

/** The same, when somebody wants it. */
void job_tell_recorded(const struct job *job, const struct recorded *head, const void *bytes,
                       size_t length);

#endif

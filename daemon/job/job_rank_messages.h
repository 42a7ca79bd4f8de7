/* The messages of agents about ranks, byte for byte, for other recorders than the daemon that begin
 * later: at most JOB_RANK_MESSAGE_BYTES of a job are kept. */
#ifndef HOLTER_DAEMON_JOB_JOB_RANK_MESSAGES_H
#define HOLTER_DAEMON_JOB_JOB_RANK_MESSAGES_H

#include "daemon/analysis/tables/state_bytes.h"
#include "daemon/job/job_stream.h"
#include "daemon/storage/block/recorded.h"

#include <stddef.h>

#define JOB_RANK_MESSAGE_BYTES ((size_t)256 << 20)

/** Zero-initialised is empty. */
struct job_rank_messages {
    struct job_rank_message {
        struct recorded head;
        void *bytes; /**< owned */
        size_t length;
    } * list; /**< owned */
    size_t count, capacity, bytes;
    int full; /**< some were left out, which was logged */
};

void job_rank_messages_finish(struct job_rank_messages *messages);

/** Store a message about ranks. Messages beyond the limit are missing in recordings that begin
 * later, which is logged once. */
void job_rank_messages_add(struct job_rank_messages *messages, const char *job,
                           const struct recorded *head, const void *bytes, size_t length);

/** Publish a message as received, in parts when it is long. */
void job_publish_recorded(const struct job_stream *stream, const struct recorded *head,
                          const void *bytes, size_t length);

/** Publish all that was kept. @param at_ns  as if it came at this time */
void job_rank_messages_publish(const struct job_rank_messages *messages,
                               const struct job_stream *stream, uint64_t at_ns);

/** See state_bytes.h. */
void job_rank_messages_copy_state(struct state_bytes *b, struct job_rank_messages *messages);

#endif

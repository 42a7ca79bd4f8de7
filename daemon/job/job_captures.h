/* What agents captured of a job: the newest records of ranks, published and kept.
 *
 * A capture is published with the window that was open when it was read, so that a replay publishes
 * it in the same place of the stream. Of a job the newest JOB_CAPTURE_BYTES of messages are kept
 * for late subscribers; a recording stores all. */
#ifndef HOLTER_DAEMON_JOB_JOB_CAPTURES_H
#define HOLTER_DAEMON_JOB_JOB_CAPTURES_H

#include "daemon/analysis/tables/state_bytes.h"
#include "daemon/job/job_stream.h"

#define JOB_CAPTURE_BYTES ((size_t)16 << 20)
/** Maximum of captures whose answers are counted; answers to older ones are counted from 0. */
#define JOB_CAPTURES 256u

/** One capture, and the answers received so far. */
struct job_capture {
    uint64_t id;                 /**< as published */
    uint64_t asked_id, asked_ns; /**< as in its messages */
    uint64_t alert;              /**< that it was asked for; 0: none */
    char host[65];               /**< of a capture that an agent started; else "" */
    uint64_t answered;           /**< agents that have sent all */
    uint64_t records;
};

/** Zero-initialised is empty. */
struct job_captures {
    struct job_capture known[JOB_CAPTURES]; /**< the newest ones; a new one replaces the oldest */
    size_t known_count;
    uint64_t newest_id;
    struct job_capture_message {
        uint64_t window; /**< published with this one */
        int published;
        void *bytes; /**< owned: a message of topic captures, encoded */
        size_t length;
    } * list; /**< owned, oldest first */
    size_t count, capacity, bytes;
    int full; /**< some were dropped before they were published, which was logged */
    struct wire_buffer buffer;
    struct wire_arena arena;
};

void job_captures_finish(struct job_captures *captures);

/** Does a CAPTURED message contradict itself or a bound? @return 0, or -HOLTER_ERANGE and why */
int job_captures_validate(const struct job_captures *captures, const struct wire_captured *captured,
                          struct job_fault *fault);

/** Keep a message that was validated until its window is published.
 *  @param window_ns  length of windows
 *  @param id         set to the number of the capture: the one that was asked for, or the next free
 * one where an agent started the capture, or that number is used already @return 0 or -ENOMEM */
int job_captures_add(struct job_captures *captures, const char *job,
                     const struct wire_captured *captured, uint64_t window_ns, uint64_t *id);

/** A window is published: publish what was read while it was open. UINT64_MAX: all that is left. */
void job_captures_publish_due(struct job_captures *captures, const struct job_stream *stream,
                              uint64_t window);

/** Publish all that is kept and was published before. */
void job_captures_publish_all(struct job_captures *captures, const struct job_stream *stream);

/** Highest number of a capture so far; 0: there was none. */
uint64_t job_captures_newest(const struct job *job);

/** Has an agent sent what was captured for this alert? */
int job_has_captured(const struct job *job, uint64_t alert);

/** Find the agents that serve ranks of a list, to ask them for a capture.
 *  @param ranks      "0-3,8"; "": all
 *  @param instances  set to their agents; owned by the caller
 *  @param known_ranks     set to how many ranks of the list are known
 *  @return how many agents, or -ENOMEM */
int64_t job_capture_agents(const struct job *job, const char *ranks, uint64_t **instances,
                           uint64_t *known_ranks);

/** A list of ranks, and those that most bytes went to and came from since the start.
 *  @param maximum  of the list, and of the others @return 0, -ENOMEM, or -HOLTER_EEMPTY: no rank is
 * in the list */
int job_capture_partners(struct job *job, const char *ranks, size_t maximum, char *out,
                         size_t capacity);

/** See state_bytes.h. */
void job_captures_copy_state(struct state_bytes *b, struct job_captures *captures);

#endif

/* All jobs of the daemon: messages of agents are accepted, published and recorded here. */
#ifndef HOLTER_DAEMON_JOB_JOBS_H
#define HOLTER_DAEMON_JOB_JOBS_H

#include "daemon/alert/sinks.h"
#include "daemon/job/job.h"
#include "daemon/storage/record.h"

#include <uv.h>
#include <zmq.h>

/** Maximum of jobs in memory; those that ended first are dropped for new ones. */
#define JOBS_MAXIMUM 1024u

struct jobs;

/** Functions by which jobs publish their messages. */
struct jobs_publisher {
    void *user;
    /** Has this type subscribers now? */
    int (*wants)(void *user, const char *job, enum wire_type type);
    void (*publish)(void *user, const char *job, enum wire_type type, const void *message);
    /** The job was dropped: no message of it follows. */
    void (*forget)(void *user, const char *job);
};

struct jobs_options {
    struct job_options job;
    const char *record;  /**< directory; NULL: nothing is recorded */
    uint64_t most_bytes; /**< of a job's recording; 0: no limit */
    int users;           /**< there are keys of users: nobody reports into the job of another */
    int *record_stopped; /**< set to 1 when a recording stops before its end; may be NULL */
    struct jobs_publisher publisher;
    struct sinks *sinks; /**< borrowed; NULL: alerts are only published; a fleet has its own way */
    void *user;
    /** An alert is published. May be NULL. */
    void (*alert)(void *user, const struct wire_alert *alert);
    /** A part of a capture was accepted. @param id  number of the capture. May be NULL. */
    void (*captured)(void *user, uint64_t instance, const struct wire_captured *captured,
                     uint64_t id);
    /** A message is published whose type recordings keep in tables. May be NULL. */
    void (*table)(void *user, enum wire_type type, const void *message);
    /** A message is in the recording, so that it can be acknowledged. */
    void (*kept)(void *user, uint64_t instance, uint64_t seq);
    /** See struct job_output. */
    void (*notify_agents)(void *user, const uint64_t *instances, size_t count,
                          const struct wire_criteria *message);
};

struct jobs_counts {
    uint64_t messages;   /**< window messages accepted */
    uint64_t bytes;      /**< of them */
    uint64_t duplicates; /**< messages that had been accepted before */
    uint64_t late;       /**< window messages that came after their window was published */
    uint64_t windows;    /**< windows of jobs that were published, corrections included */
    struct job_matches matches;
};

/** Creates the recorder too, and the directory for recordings.
 *  @param why  set on failure @return 0, -ENOMEM or another -errno */
int jobs_create(struct jobs **out, uv_loop_t *loop, const struct jobs_options *options, char *why,
                size_t capacity);

/** Publish what is open, commit and close all recordings; handles close in further turns of the
 *  loop. NULL is fine. */
void jobs_destroy(struct jobs *jobs, uint64_t now_ns);

/** May a new job have this id? @return 0, or -HOLTER_ERANGE, and fault says why */
int jobs_check_id(const char *id, struct job_fault *fault);

/** Accept a message of type RANKS, WINDOW or CAPTURED.
 *  @param bytes  the message as received; moved when it is recorded
 *  @return 0 (also for one that was accepted before), or a negative error, and fault says why */
int jobs_ingest(struct jobs *jobs, uint64_t instance, const struct wire_message *message,
                zmq_msg_t *bytes, uint64_t now_ns, struct job_fault *fault);

/** The agent has left.
 *  @param seq  number of its last message, of whatever job */
void jobs_release_agent(struct jobs *jobs, uint64_t instance, uint64_t seq);
/** Messages of an agent are missing, and of which of its jobs is not known: each job lacks a share
 * of them, and one at least.
 *  @param count   of the jobs; not 0 @param number  of the job, from 0
 *  @return what the job lacks */
uint64_t jobs_share_missing(uint64_t missing, uint64_t count, uint64_t number);
/** The agent has left this job; those of its other jobs say so themselves.
 *  @param seq  number of its last message of this job, or a later one when it has ended this job */
void jobs_release_agent_of(struct jobs *jobs, const char *id, uint64_t instance, uint64_t seq);

/** A job that is replayed from a recording: its clock is that of the messages, and it ends with
 * them.
 *  @param path  published as its recording
 *  @return 0 or a negative error: fault says why */
int jobs_replay_begin(struct jobs *jobs, const char *id, const char *path, struct job_fault *fault);
/** Record it in the directory of the options from now on, in a file of its own; before its first
 * message.
 *  @param stopped  set when the recording stops before its end, jobs_destroy() included; it
 * outlives `jobs`
 *  @param why      set on failure @return 0 or a negative error */
int jobs_replay_record(struct jobs *jobs, uv_loop_t *loop, const char *directory, int *stopped,
                       char *why, size_t capacity);
/** Is the replay recorded, so that the bytes of its messages are needed? */
int jobs_replay_is_recorded(const struct jobs *jobs);
/** @param head   received_ns is the time of it; not before that of the message before
 *  @param bytes  of the message, to be recorded; may be NULL when it is not recorded
 *  @param length  of them
 *  @return 0 or a negative error, and fault says why */
int jobs_replay_ingest(struct jobs *jobs, const struct recorded *head,
                       const struct wire_message *message, const void *bytes, size_t length,
                       struct job_fault *fault);
/** @param now_ns  when its last message was received */
void jobs_replay_end(struct jobs *jobs, uint64_t now_ns);
/** The job that is replayed. */
struct job *jobs_replayed(struct jobs *jobs);
/** Bytes that are still to be written to its recording. */
size_t jobs_replay_backlog(const struct jobs *jobs);

/** As job_save(). */
int jobs_save(const struct jobs *jobs, const char *id, struct state_bytes *out);

/* A job of a fleet: its messages come from a stream, from its first one on, or from that after
 * which its state was saved. Those that a daemon
 * before this one had are read again: windows are closed where that one closed them, all is
 * published and recorded, but nobody is notified of an alert, and no agent is asked. */

/** State of a job, see job_save(); borrowed. */
struct jobs_state {
    const void *bytes;
    size_t length;
};

/** Add the job, and begin to resume it.
 *  @param state  as jobs_save() gave it to a daemon before this one; NULL: none, from the first
 *                message on
 *  @return 0, -EEXIST or another negative error, and fault says why */
int jobs_resume_begin(struct jobs *jobs, const char *id, const struct jobs_state *state,
                      struct job_fault *fault);
/** An alert that a daemon before this one has published; in order of ids, before the messages. */
void jobs_resume_alert(struct jobs *jobs, const struct wire_alert *alert);
/** As jobs_ingest(), of a job that was added so, while it is resumed and after that.
 *  @param received_ns  when the first daemon received it */
int jobs_resume_ingest(struct jobs *jobs, uint64_t instance, const struct wire_message *message,
                       zmq_msg_t *bytes, uint64_t received_ns, struct job_fault *fault);
/** Are these ranks those of another job, to which the id was given again?
 *  @param received_ns  as of jobs_resume_ingest() */
int jobs_resume_is_followed(struct jobs *jobs, uint64_t instance, const struct wire_ranks *ranks,
                            uint64_t received_ns);
/** Drop the job, and begin to resume the one that has its id now. @return as jobs_resume_begin() */
int jobs_resume_follow(struct jobs *jobs, const char *id, struct job_fault *fault);
/** A daemon before this one closed this window here. */
void jobs_resume_close(struct jobs *jobs, const struct wire_totals *totals);
/** From now on the job is this daemon's own. @param lost  windows of nodes that a daemon before
 * this one has published, and whose messages are not stored any more */
void jobs_resume_end(struct jobs *jobs, const char *id, uint64_t lost);
/** All messages of it that were received before this time were read; UINT64_MAX: as the daemon's.
 */
void jobs_set_watermark(struct jobs *jobs, const char *id, uint64_t watermark_ns);
/** @return time that jobs_advance() has spent on it since the last call: mostly closing windows */
uint64_t jobs_collect_advancing_ns(struct jobs *jobs, const char *id);
/** Drop the job as it is, without publishing what is open: another daemon goes on with it. */
void jobs_abandon(struct jobs *jobs, const char *id);

/** Advance all jobs in time, see job_advance(). */
void jobs_advance(struct jobs *jobs, uint64_t watermark_ns, uint64_t now_ns);

/** Highest number of an agent's messages that is in a recording; 0: none. */
uint64_t jobs_last_recorded(const struct jobs *jobs, uint64_t instance);

/** Is no job running? */
int jobs_idle(const struct jobs *jobs);

/** The newest running job of a user, else the newest one.
 *  @param user  "": of any @return NULL: none */
struct job *jobs_find_newest(const struct jobs *jobs, const char *user);

/** @param id  NULL or "": jobs_find_newest() of any user @return NULL: none */
struct job *jobs_find(const struct jobs *jobs, const char *id);

/** A number that no other job gets, also not a later one of the same id, whose memory may lie where
 * that of this one did. @return 0: there is no job of this id */
uint64_t jobs_number(const struct jobs *jobs, const char *id);

/** The oldest known job comes first. @return NULL: there are fewer */
struct job *jobs_at(const struct jobs *jobs, size_t index);

void jobs_count(const struct jobs *jobs, struct jobs_counts *out);

/** Bytes in recordings; why recording of some job stopped, "" when none did. */
uint64_t jobs_recorded_bytes(const struct jobs *jobs);
const char *jobs_recorder_error(const struct jobs *jobs);

#endif

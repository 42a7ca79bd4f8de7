/* One job: what its agents reported, summed up, analysed and published.
 *
 * A job's figures are a pure function of its messages: times are arguments, and nothing but the
 * moment of publishing depends on them. The same messages give the same sums in whatever order
 * nodes report.
 *
 * The stages of a message: job_accept.c, job_validate.c, job_merge.c; and when a window is complete
 * or overdue, job_close.c, job_publish.c.
 *
 * How windows close
 *   A window of the job is published when every node of the job has reported it, or when the grace
 *   has passed. Reports that come later are collected in the same way under the same number, added
 *   to the sums since the start, and published as a correction: totals in full, marked late, and
 *   rows of the late nodes only.
 *
 * Two times: now_ns is daemon time; all messages that arrived before watermark_ns have been read.
 * The grace runs against watermark_ns, so that a busy daemon does not take its own backlog for
 * silence. */
#ifndef HOLTER_DAEMON_JOB_JOB_H
#define HOLTER_DAEMON_JOB_JOB_H

#include "daemon/analysis/tables/state_bytes.h"
#include "holter/wire.h"

#include <stddef.h>
#include <stdint.h>

#define JOB_MAXIMUM_RANKS (1u << 24) /**< ranks of one job; larger rank numbers are refused */

struct alert_labels;
struct job;
struct job_network;
struct job_phases;
struct network;
struct wire_pair_row;
struct picture_source;
struct recorded;
struct recorded_matches;
struct rules;

/** Where a job publishes. */
struct job_output {
    void *user;
    /** Has this type subscribers now? Messages without subscribers are not built. */
    int (*has_subscribers)(void *user, const char *job, enum wire_type type);
    /** @param message  the struct of the type; valid for the call */
    void (*publish)(void *user, const char *job, enum wire_type type, const void *message);
    /** Send the agents the normal times of messages. NULL: not sent.
     *  @param instances  of the agents */
    void (*notify_agents)(void *user, const uint64_t *instances, size_t count,
                          const struct wire_criteria *message);
};

struct job_options {
    uint64_t window_ns;  /**< length of windows */
    uint64_t grace_ns;   /**< how long after its end a window waits for reports */
    uint64_t lost_ns;    /**< how long a job may be silent before it counts as lost */
    size_t most_pairs;   /**< rows of pairs published for one window; the rest is folded */
    uint64_t most_ranks; /**< jobs of more ranks are kept by groups of ranks; 0: no job is */
    int modelled;        /**< whether collectives count in phases and pictures */
    int beside; /**< whether a thread may analyse large phases; not where the process forks */
    const struct network *network; /**< under the job, borrowed; NULL: none was given */
    const struct rules
        *rules; /**< alert rules, borrowed; NULL: latency and hangs raise no alert, all else does */
};

/** Why a message was rejected. */
struct job_fault {
    char text[160];
};

enum job_state {
    JOB_RUNNING,
    JOB_ENDED,
    JOB_DIED,
    JOB_LOST,
    JOB_CUT_SHORT, /**< its recording, which was replayed, ends before it */
};

/** @param id  copied; see job_id_valid() @return 0 or -ENOMEM */
int job_create(struct job **out, const char *id, const struct job_options *options,
               const struct job_output *output);

/** NULL is fine. */
void job_destroy(struct job *job);

/** 1 to 64 letters, digits, '-', '_' and '.', not beginning with a '.': safe as a file name. */
int job_id_valid(const char *id);

/** Was this message of this agent accepted before? */
int job_has_accepted(const struct job *job, uint64_t instance, uint64_t seq);

/** Validate a message and merge it into the job; see job_accept(), which does that for all types.
 * The message must not have been accepted before.
 *  @return as job_accept() */
int job_accept_ranks(struct job *job, uint64_t instance, const struct wire_ranks *message,
                     uint64_t now_ns, struct job_fault *fault);
int job_accept_window(struct job *job, uint64_t instance, const struct wire_window *message,
                      uint64_t now_ns, struct job_fault *fault);
/** @param id  set to the number of the capture: see job_captures_add() */
int job_accept_captured(struct job *job, uint64_t instance, const struct wire_captured *message,
                        uint64_t now_ns, uint64_t *id, struct job_fault *fault);

/** Does the agent report a node of the job, whose last window has not come, and has not left? */
int job_expects_agent(const struct job *job, uint64_t instance);

/** The agent has left in order: no window of it follows.
 *  @param missing  messages that it has sent and that never came: what is missing of a node whose
 *                  end was not reported counts as lost */
void job_release_agent(struct job *job, uint64_t instance, uint64_t missing);
/** Windows that nodes have reported are lost on their way; of which nodes they were is not known.
 */
void job_add_lost(struct job *job, uint64_t windows);
/** Nodes that have reported a window, as it was published; 0 also when it is not known any more. */
uint64_t job_count_reported(const struct job *job, uint64_t window);

/** Has the agent reported which ranks of the job are on its node? */
int job_has_ranks_of(const struct job *job, uint64_t instance);

/** Highest number of a message of the agent that was accepted; 0: none was. */
uint64_t job_last_accepted(const struct job *job, uint64_t instance);

/** Publish what is complete or overdue, and look for silent agents. To be called after each batch
 * of messages and from time to time. */
void job_advance(struct job *job, uint64_t watermark_ns, uint64_t now_ns);

/** Publish all open windows, complete or not: the daemon leaves. */
void job_flush(struct job *job, uint64_t now_ns);

/** While messages are read again from a recording, nothing is published; alerts that are raised
 * then, and are not those of job_restore_alert(), are published afterwards. */
void job_set_recovering(struct job *job, int on);

/** The messages that a daemon before this one had were read again from a fleet's stream, while
 * windows were closed by job_close_again() only: from now on job_advance() is called. Unlike in
 * recovery, all was published. */
void job_end_resuming(struct job *job);

/** Before messages are read again: windows up to this one are in the tables of the recording. Later
 * ones stay open, and are published when the recording has been read. */
void job_mark_published(struct job *job, uint64_t window);

/** Before messages are read again: phases up to this id are in the tables of the recording. */
void job_mark_phases_published(struct job *job, uint64_t phase);

/** Before messages are read again of a recording whose first parts were removed: what was received
 * up to its newest window. */
void job_set_matches(struct job *job, const struct recorded_matches *matches);

/** Continue an alert of a recording. */
void job_restore_alert(struct job *job, const struct wire_alert *alert);

/** An alert of the job by its number, as it is published. @return 0: there is none */
int job_find_alert(const struct job *job, uint64_t id, struct wire_alert *out);

/** The replay of the job is over: publish all that is open. The job has ended if the nodes of its
 * ranks have reported so; otherwise only its recording has, and alerts that fire go on firing. */
void job_finish(struct job *job, uint64_t now_ns);

/** Where it is recorded; copied; "" for nowhere. */
void job_set_recording(struct job *job, const char *path);
const char *job_recording(const struct job *job);

/** The recording of the job has stopped. */
void job_recording_stopped(struct job *job, const char *why, uint64_t now_ns);

/** A message about ranks that was kept, as if it had arrived with the newest message of the job: in
 * a recording that begins now the job has not been silent since. @return 0: there are fewer */
int job_rank_message(const struct job *job, size_t number, struct recorded *head,
                     const void **bytes, size_t *length);

/** Store a message about ranks as received, for recordings that begin later. */
void job_keep_rank_message(struct job *job, const struct recorded *head, const void *bytes,
                           size_t length);

/** Publish a message of an agent as received, if that topic has subscribers. */
void job_publish_message(const struct job *job, const struct recorded *head, const void *bytes,
                         size_t length);

/** The topics of a snapshot, in the order in which they are to be sent. @return 0: no more */
int job_snapshot_topic(size_t i, enum wire_type *out);

/** Current state in messages of one of these topics: of TOTALS the recent windows, oldest first; of
 *  RANK_WINDOW, PAIR_WINDOW, CALL_WINDOW and CALLER_WINDOW the sums since the start. Windows not
 *  published yet are not in it. */
void job_snapshot(struct job *job, enum wire_type type, const struct job_output *output);

const char *job_id(const struct job *job);
/** Login name of who runs it; "": not known. */
const char *job_user(const struct job *job);
enum job_state job_state(const struct job *job);
/** Number of the window after the newest that was published; 0: none was. */
uint64_t job_next_window(const struct job *job);

/** Windows that were published, corrections included. */
uint64_t job_count_closed(const struct job *job);

/** Messages that came after their window was published. */
uint64_t job_late_messages(const struct job *job);

/** Messages matched within nodes and between them, ends dropped, matches rejected. */
struct job_matches {
    uint64_t matched, unmatched, rejected;
};
void job_matches(const struct job *job, struct job_matches *out);

/** Its phases, for pictures; borrowed. */
struct job_phases *job_phases(struct job *job);
/** The parts of the job that a picture is made from; borrowed. */
void job_picture_source(struct job *job, struct picture_source *out);

/** Messages between its ranks since the start, in canonical order.
 *  @param maximum  of more rows the largest, see window_sum.h
 *  @param rows  borrowed until the next call that is not const @return 0 or -ENOMEM */
int job_list_pairs(struct job *job, size_t maximum, const struct wire_pair_row **rows,
                   size_t *count);
/** The same between its nodes, each under its lowest rank; only of a job by groups of ranks. */
int job_list_node_pairs(struct job *job, size_t maximum, const struct wire_pair_row **rows,
                        size_t *count);

/** Length of its windows. */
uint64_t job_window_ns(const struct job *job);

/** The network under it; borrowed. */
struct job_network *job_network(struct job *job);

/** Row of the list of jobs; texts are borrowed from the job. */
void job_describe(const struct job *job, struct wire_job_row *out);

/** The labels by which an alert of the job is routed.
 *  @param out  all is set; texts are cut to what fits, at whole characters */
void job_labels(const struct job *job, const struct wire_alert *alert, struct alert_labels *out);

/** Are these ranks those of another job, to which the id of this one was given after its end?
 *  @param received_ns  of a streamed job, whose end is not noted while it is read again: when the
 *                      ranks were received, else 0. It counts as ended when all its agents have
 *                      reported their last windows or left, and as lost after a long silence. */
int job_is_followed_by(const struct job *job, uint64_t instance, const struct wire_ranks *ranks,
                       uint64_t received_ns);

/** Host of an agent that reports this job; "?" for another. */
const char *job_host(const struct job *job, uint64_t instance);

/** The state of the job as bytes, see state_bytes.h.
 *  @param out  what it had is replaced; zero-initialised is fine; the caller frees out->bytes
 *  @return 0, -HOLTER_EEMPTY: not now, ask again after the next window, or another negative error
 */
int job_save(struct job *job, struct state_bytes *out);
/** As job_create(), with the state that job_save() gave; it is recorded nowhere until
 * job_set_recording() is called.
 *  @return 0, -HOLTER_EVERSION or another negative error: those bytes are of no use */
int job_restore(struct job **out, const char *id, const struct job_options *options,
                const struct job_output *output, const void *bytes, size_t length);

#endif

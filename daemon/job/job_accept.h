/* The way of a message into its job: it is accepted, live or from a recording, validated and added
 * to the window that it belongs to; then windows are closed, the analyses bring themselves up to
 * date, and publish. */
#ifndef HOLTER_DAEMON_JOB_JOB_ACCEPT_H
#define HOLTER_DAEMON_JOB_JOB_ACCEPT_H

#include "daemon/alert/sinks.h"
#include "daemon/job/job.h"
#include "daemon/storage/block/recorded.h"

/** Number of a message of an agent that is recorded; 0: it is not of a type that is. */
uint64_t job_message_seq(const struct wire_message *message);

/** Id of the job that a message that is recorded is about; borrowed. */
const char *job_message_job(const struct wire_message *message);

/** Validate a message that was not accepted before, and merge it into the job.
 *  @param capture  set to the number of the capture, when the message is of type CAPTURED
 *  @param fault    set on failure
 *  @return 0, -HOLTER_ERANGE or -HOLTER_ELIMIT when the message contradicts itself or a bound,
 *          -ENOMEM, or -HOLTER_EDENIED: a type that is not recorded; then nothing of the message is
 * published */
int job_accept(struct job *job, const struct recorded *head, const struct wire_message *message,
               uint64_t *capture, struct job_fault *fault);

/* ---- a message that was validated is added to the job ------------------------------- */

/** Add a message about ranks: the job, the node, where ranks run. @return 0 or a negative error */
int job_merge_ranks(struct job *job, uint64_t instance, const struct wire_ranks *ranks,
                    uint64_t now_ns, struct job_fault *fault);

/** Add a window message to the open window that it belongs to. @return 0 or a negative error */
int job_merge_window(struct job *job, uint64_t instance, const struct wire_window *window,
                     uint64_t now_ns, struct job_fault *fault);

/** Add a part of a capture. @param id  set to its number @return 0 or a negative error */
int job_merge_captured(struct job *job, uint64_t instance, const struct wire_captured *captured,
                       uint64_t now_ns, uint64_t *id, struct job_fault *fault);

/* ---- windows are closed --------------------------------------------------------------- */

/** Close windows that are complete or overdue.
 *  @param watermark_ns  all that arrived before this time has been read */
void job_close_due(struct job *job, uint64_t watermark_ns, uint64_t now_ns);

/** Close all open windows, complete or not. */
void job_close_all(struct job *job, uint64_t now_ns);

/** Close a window as a daemon before this one did, while the job is resumed.
 *  @param late  it was a correction @return 0: it is not open */
int job_close_again(struct job *job, uint64_t number, int late, uint64_t published_ns);

/** Close one window. @param at  its position among the open windows */
void job_close_window(struct job *job, uint32_t at, uint64_t now_ns);

/* ---- going on with a job that a daemon before this one recorded ----------------------- */

/** Read all parts of a recording that are there into the job, the oldest first; alerts stand in the
 * newest. What cannot be read is logged.
 *  @param sinks  get the alerts too; NULL: none @param base  path of part 1 */
void job_recover(struct job *job, struct sinks *sinks, const char *base);

#endif

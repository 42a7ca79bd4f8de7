/* Messages of agents into a job, as they come or from its recording. */
#ifndef HOLTER_DAEMON_JOB_JOB_INGEST_H
#define HOLTER_DAEMON_JOB_JOB_INGEST_H

#include "daemon/alert/sinks.h"
#include "daemon/job/job.h"
#include "daemon/storage/block/recorded.h"

/** Number of a message of an agent that is kept; 0: it is not of a type that is. */
uint64_t job_take_seq(const struct wire_message *message);

/** Id of the job that a message that is kept is about; borrowed. */
const char *job_take_id(const struct wire_message *message);

/** Ranks of that job; 0: this message does not say. */
uint64_t job_take_world(const struct wire_message *message);

/** @param capture  set to the number of the capture, when the message is of type CAPTURED
 *  @return as job_window(), job_ranks() or job_captured(); -HOLTER_EDENIED: it is of no type that
 * is kept */
int job_take(struct job *job, const struct recorded *head, const struct wire_message *message,
             uint64_t *capture, struct job_fault *fault);

/** Go on with a job that a daemon before this one recorded: all parts that are there, the oldest
 * first; alerts stand in the newest. What cannot be read is logged.
 *  @param sinks  NULL: none @param base  path of part 1 */
void job_continue(struct job *job, struct sinks *sinks, const char *base);

#endif

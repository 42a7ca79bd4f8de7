/* Accepts messages of agents, live or from a recording, into a job: their first stage.
 */
#ifndef HOLTER_DAEMON_JOB_JOB_ACCEPT_H
#define HOLTER_DAEMON_JOB_JOB_ACCEPT_H

#include "daemon/job/job.h"
#include "daemon/storage/block/recorded.h"

/** Number of a message of an agent that is recorded; 0: it is not of a type that is. */
uint64_t job_message_seq(const struct wire_message *message);

/** Id of the job that a message that is recorded is about; borrowed. */
const char *job_message_job(const struct wire_message *message);

/** Ranks of that job; 0: not in this message. */
uint64_t job_message_world(const struct wire_message *message);

/** Validate a message that was not accepted before, and merge it into the job.
 *  @param capture  set to the number of the capture, when the message is of type CAPTURED
 *  @param fault    set on failure
 *  @return 0, -HOLTER_ERANGE or -HOLTER_ELIMIT when the message contradicts itself or a bound,
 *          -ENOMEM, or -HOLTER_EDENIED: a type that is not recorded; then nothing of the message is
 * published */
int job_accept(struct job *job, const struct recorded *head, const struct wire_message *message,
               uint64_t *capture, struct job_fault *fault);

#endif

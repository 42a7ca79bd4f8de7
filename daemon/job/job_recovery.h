/* Going on with a job that a daemon before this one recorded. */
#ifndef HOLTER_DAEMON_JOB_JOB_RECOVERY_H
#define HOLTER_DAEMON_JOB_JOB_RECOVERY_H

#include "daemon/alert/sinks.h"
#include "daemon/job/job.h"

/** Read all parts of a recording that are there into the job, the oldest first; alerts stand in the
 * newest. What cannot be read is logged.
 *  @param sinks  get the alerts too; NULL: none @param base  path of part 1 */
void job_recover(struct job *job, struct sinks *sinks, const char *base);

#endif

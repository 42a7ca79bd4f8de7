/* The one place where messages of agents are checked. What an agent sends is never believed: no
 * number may index what is not there, no sum may pass its bound. Lengths of tables and texts are
 * checked by the wire's decoder, against the limits of its list; here are the values. */
#ifndef HOLTER_DAEMON_JOB_JOB_VALIDATE_H
#define HOLTER_DAEMON_JOB_JOB_VALIDATE_H

#include "daemon/job/job.h"

/** Does a window message contradict itself or a bound?
 *  @param rank_limit  ranks below it exist
 *  @param fault       set when it does: names the table and the row @return 0 or -HOLTER_ERANGE */
int job_validate_window(const struct wire_window *window, uint64_t rank_limit,
                        struct job_fault *fault);

/** Does a message about ranks?
 *  @param world  ranks of the job; 0: not known yet @return 0 or -HOLTER_ERANGE */
int job_validate_ranks(const struct wire_ranks *ranks, uint64_t world, struct job_fault *fault);

/** Say why a message is rejected. @return code */
int job_reject(struct job_fault *fault, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

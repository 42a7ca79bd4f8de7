/* Windows of a job are closed: the analyses bring themselves up to date, and publish. */
#ifndef HOLTER_DAEMON_JOB_JOB_CLOSE_H
#define HOLTER_DAEMON_JOB_JOB_CLOSE_H

#include "daemon/job/job.h"

/** Close windows that are complete or overdue.
 *  @param watermark_ns  all that arrived before this time has been read */
void job_close_due(struct job *job, uint64_t watermark_ns, uint64_t now_ns);

/** Close all open windows, complete or not. */
void job_close_all(struct job *job, uint64_t now_ns);

/** Close one window. @param at  its position among the open windows */
void job_close_window(struct job *job, uint32_t at, uint64_t now_ns);

#endif

/* A message that was validated is added to the job. */
#ifndef HOLTER_DAEMON_JOB_JOB_MERGE_H
#define HOLTER_DAEMON_JOB_JOB_MERGE_H

#include "daemon/job/job.h"

/** Add a message about ranks: the job, the node, where ranks run. @return 0 or a negative error */
int job_merge_ranks(struct job *job, uint64_t instance, const struct wire_ranks *ranks,
                    uint64_t now_ns, struct job_fault *fault);

/** Add a window message to the open window that it belongs to. @return 0 or a negative error */
int job_merge_window(struct job *job, uint64_t instance, const struct wire_window *window,
                     uint64_t now_ns, struct job_fault *fault);

/** Add a part of a capture. @param id  set to its number @return 0 or a negative error */
int job_merge_captured(struct job *job, uint64_t instance, const struct wire_captured *captured,
                       uint64_t now_ns, uint64_t *id, struct job_fault *fault);

#endif

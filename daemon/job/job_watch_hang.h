/* What a job is watched for when a window closes: ranks that wait for ever. The hangs that the
 * analysis finds become one episode of the hang rule at a time. */
#ifndef HOLTER_DAEMON_JOB_JOB_WATCH_HANG_H
#define HOLTER_DAEMON_JOB_JOB_WATCH_HANG_H

#include "daemon/analysis/hang/hang.h"
#include "daemon/job/job_watch.h"

struct job_watch_hang;

/** @param options  copied; what it points to is borrowed
 *  @param out      set to NULL if there is no hang rule @return 0 or -ENOMEM */
int job_watch_hang_create(struct job_watch_hang **out, const struct job_watch_options *options);
/** NULL is fine. */
void job_watch_hang_destroy(struct job_watch_hang *watch);

/** Watch a window that is closed. @param watch  NULL: nothing is watched
 *  @return 0 or -ENOMEM: it could not be judged */
int job_watch_hang_update(struct job_watch_hang *watch, const struct closed_window *window);

/** The job has ended: so has the episode. @param watch  NULL: nothing is watched
 *  @param now_ns  end of its last window */
void job_watch_hang_end(struct job_watch_hang *watch, uint64_t now_ns);

#endif

/* What a job is watched for when a window closes: ranks that wait for ever. The hangs that the
 * analysis finds become one episode of the hang rule at a time. */
#ifndef HOLTER_DAEMON_JOB_HANG_JOB_HANG_H
#define HOLTER_DAEMON_JOB_HANG_JOB_HANG_H

#include "daemon/alert/alerts.h"
#include "daemon/alert/rules.h"
#include "daemon/analysis/tables/state_bytes.h"
#include "daemon/job/rows/closed_window.h"

struct job_hang;

struct job_hang_options {
    const struct rules *rules; /**< borrowed */
    uint64_t window_ns;
    void *user;
    void (*on_report)(void *user, const struct alert_report *report);
};

/** @param options  copied
 *  @param out      set to NULL if there is no hang rule @return 0 or -ENOMEM */
int job_hang_create(struct job_hang **out, const struct job_hang_options *options);
/** NULL is fine. */
void job_hang_destroy(struct job_hang *watch);

/** Watch a window that is closed. @param watch  NULL: nothing is watched
 *  @return 0 or -ENOMEM: it could not be judged */
int job_hang_update(struct job_hang *watch, const struct closed_window *window);

/** The job has ended: so has the episode. @param watch  NULL: nothing is watched
 *  @param now_ns  end of its last window */
void job_hang_end(struct job_hang *watch, uint64_t now_ns);

/** What has been watched up to the last window. @return NULL: nothing */
const struct hang_watch *job_hang_watch(const struct job_hang *watch);

/** Is the episode of an alert about a hang open? @param watch  NULL: nothing is watched */
int job_hang_raises(const struct job_hang *watch, const struct alert *alert);

/** See state_bytes.h. @param options  as for job_hang_create() */
void job_hang_copy_state(struct state_bytes *b, struct job_hang **hang,
                         const struct job_hang_options *options);

#endif

/* What a job is watched for when a window closes: latency that grows, hangs. Turns what the
 * analyses say into the episodes of the alert rules.
 *
 * One rule has at most one episode at a time, whatever number of scopes and regions it spans:
 * people are told once. Times are those of windows, so that the same messages give the same alerts.
 */
#ifndef HOLTER_DAEMON_JOB_LATENCY_JOB_WATCH_H
#define HOLTER_DAEMON_JOB_LATENCY_JOB_WATCH_H

#include "daemon/alert/alerts.h"
#include "daemon/alert/rules.h"
#include "daemon/analysis/attribution/attribution.h"
#include "daemon/analysis/hang/hang.h"
#include "daemon/job/latency/job_latency.h"
#include "daemon/job/network/job_network.h"

struct job_watch;

struct job_watch_options {
    const struct rules *rules;         /**< borrowed */
    const struct job_network *network; /**< borrowed; NULL: no links are named */
    uint64_t window_ns;
    void *user;
    void (*tell)(void *user, const struct alert_report *report);
};

/** @return 0 or -ENOMEM */
int job_watch_create(struct job_watch **out, const struct job_watch_options *options);
/** NULL is fine. */
void job_watch_destroy(struct job_watch *watch);

/** Where a rank runs. @return 0, -ENOMEM or -ERANGE */
int job_watch_place(struct job_watch *watch, uint32_t rank, uint32_t node, const char *host);

/** A window of the job is being closed: all but its ranks, then these as they come, then
 * job_watch_window(). Rows as the analyses want them.
 *  @param hangs     without ranks
 *  @param rank_end  one above the highest rank to come */
void job_watch_begin(struct job_watch *watch, const struct hang_window *hangs, uint64_t rank_end);
void job_watch_ranks(struct job_watch *watch, const struct rank_row *rows, size_t count);

/** One above the highest of these ranks whose messages are wanted. */
uint32_t job_watch_reported(const struct job_watch *watch);

/** A window of the job was closed. Rows as the analyses want them, but for those of ranks.
 *  @param latency  has closed the same window
 *  @return 0 or -ENOMEM: something could not be judged */
int job_watch_window(struct job_watch *watch, struct job_latency *latency,
                     const struct attribution_window *figures, const struct hang_window *hangs);

/** The job has ended: so has all that was open. @param now_ns  end of its last window */
void job_watch_end(struct job_watch *watch, uint64_t now_ns);

#endif

/* What a job is watched for when a window closes: latency that grows, and hangs. Findings of the
 * analyses become episodes of the alert rules.
 *
 * One rule has at most one episode at a time, whatever number of scopes and regions it spans, so
 * that one cause raises one alert. Times are those of windows, so that the same messages give the
 * same alerts. */
#ifndef HOLTER_DAEMON_JOB_LATENCY_JOB_WATCH_H
#define HOLTER_DAEMON_JOB_LATENCY_JOB_WATCH_H

#include "daemon/alert/alerts.h"
#include "daemon/alert/rules.h"
#include "daemon/analysis/attribution/attribution.h"
#include "daemon/job/latency/job_latency.h"
#include "daemon/job/network/job_network.h"

struct job_watch;

struct job_watch_options {
    const struct rules *rules;         /**< borrowed */
    const struct job_network *network; /**< borrowed; NULL: no links are named */
    const struct job_latency *latency; /**< borrowed */
    uint64_t window_ns;
    void *user;
    void (*on_report)(void *user, const struct alert_report *report);
};

/** @return 0 or -ENOMEM */
int job_watch_create(struct job_watch **out, const struct job_watch_options *options);
/** NULL is fine. */
void job_watch_destroy(struct job_watch *watch);

/** Where a rank runs. @return 0, -ENOMEM or -ERANGE */
int job_watch_place(struct job_watch *watch, uint32_t rank, uint32_t node, const char *host);

/** Watch a window that is closed, after latency and network have been brought up to date with it.
 *  @return 0 or -ENOMEM: something could not be judged */
int job_watch_update(struct job_watch *watch, const struct closed_window *window);

/** The job has ended: so has all that was open. @param now_ns  end of its last window */
void job_watch_end(struct job_watch *watch, uint64_t now_ns);

#endif

/* What a job is watched for when a window closes: latency that grows. What the analysis of scopes
 * finds becomes episodes of the latency rules, one for each finding: one fault is one alert, which
 * names the scope that explains it, what it costs, and what it is attributed to. Times are those of
 * windows, so that the same messages give the same alerts. */
#ifndef HOLTER_DAEMON_JOB_GROWTH_JOB_GROWTH_H
#define HOLTER_DAEMON_JOB_GROWTH_JOB_GROWTH_H

#include "daemon/alert/alerts.h"
#include "daemon/alert/rules.h"
#include "daemon/analysis/tables/state_bytes.h"
#include "daemon/job/latency/job_latency.h"
#include "daemon/job/network/job_network.h"

struct job_growth;

struct job_growth_options {
    const struct rules *rules;         /**< borrowed */
    struct job_network *network;       /**< borrowed; NULL: links are no scopes */
    const struct job_latency *latency; /**< borrowed */
    uint64_t window_ns;
    void *user;
    void (*on_report)(void *user, const struct alert_report *report);
};

/** @return 0 or -ENOMEM */
int job_growth_create(struct job_growth **out, const struct job_growth_options *options);
/** NULL is fine. */
void job_growth_destroy(struct job_growth *growth);

/** Where a rank runs. @return 0, -ENOMEM or -ERANGE */
int job_growth_place(struct job_growth *growth, uint32_t rank, uint32_t node, const char *host);

/** Watch a window that is closed, after latency and network have been brought up to date with it.
 *  @return 0 or -ENOMEM: something could not be judged */
int job_growth_update(struct job_growth *growth, const struct closed_window *window);

/** Windows in which the job does about the same work each time; 0: not known. */
uint64_t job_growth_span(const struct job_growth *growth);

/** The job has ended: so has all that was open. @param now_ns  end of its last window */
void job_growth_end(struct job_growth *growth, uint64_t now_ns);

/** Is the episode of an alert about latency open? */
int job_growth_raises(const struct job_growth *growth, const struct alert *alert);

/** See state_bytes.h. @param options  as for job_growth_create(), with rules */
void job_growth_copy_state(struct state_bytes *b, struct job_growth **growth,
                           const struct job_growth_options *options);

#endif

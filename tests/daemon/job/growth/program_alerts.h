/* Alerts about growing latency in a simulated program (synthetic_job.h): what an operator reads. */
#ifndef TESTS_DAEMON_JOB_GROWTH_PROGRAM_ALERTS_H
#define TESTS_DAEMON_JOB_GROWTH_PROGRAM_ALERTS_H

#include "daemon/alert/alerts.h"
#include "tests/daemon/analysis/attribution/synthetic_job.h"

#include <stdbool.h>

#define PROGRAM_ALERTS 16u

/** As it was reported last. */
struct program_alert {
    uint64_t episode; /**< 0: the place is free */
    bool fires;
    uint32_t onset; /**< window, by the number of the simulation */
    uint32_t found; /**< the one after which it named this culprit first */
    char title[ALERT_TITLE + 1];
    char culprit[17], culprits[513], cause[33];
};

struct program_alerts {
    struct program_alert list[PROGRAM_ALERTS]; /**< that fired, as they were last while they did */
    uint32_t firing;                           /**< at the end */
    uint32_t early;                            /**< that fired before the onset */
    uint32_t fired;                            /**< ever */
};

/** Watch a job to its last window, by the built-in rules; its nodes are called n0, n1, ... Without
 * memory the process ends. */
void program_watch(const struct synthetic_params *params, struct program_alerts *out);

/** The same of a job that is kept by groups of ranks: its alerts are about nodes. */
void program_watch_groups(const struct synthetic_params *params, struct program_alerts *out);

/** The same of a job by ranks. In each window since the onset, the rank that is the reason reports
 *  so much waiting in sends that was in earlier windows. */
void program_watch_late_waits(const struct synthetic_params *params, uint64_t ns,
                              struct program_alerts *out);

/** The same of a job by ranks, whose state is stored and read again before a window. */
void program_watch_restored(const struct synthetic_params *params, uint32_t window,
                            struct program_alerts *out);

/** The same of a job by ranks, whose collective calls are one-sided ones. */
void program_watch_one_sided(const struct synthetic_params *params, struct program_alerts *out);

/** Is the culprit of an alert the reason of the program? */
bool program_names_culprit(const struct synthetic_params *params, const struct program_alert *a);

/** And is its first cause? Programs have no figures of their processes: of a rank is known only
 * how others wait for it. */
bool program_names_cause(const struct synthetic_params *params, const struct program_alert *a);

#endif

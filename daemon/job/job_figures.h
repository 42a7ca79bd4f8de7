/* The figures of one job for a page of metrics: a summary of a few dozen numbers, whatever the size
 * of the job. */
#ifndef HOLTER_DAEMON_JOB_JOB_FIGURES_H
#define HOLTER_DAEMON_JOB_JOB_FIGURES_H

#include "daemon/alert/rules.h"
#include "daemon/analysis/sums/window_sum.h"
#include "daemon/job/job.h"

#define JOB_SEVERITIES (SEVERITY_CRITICAL + 1)

struct job_figures {
    const char *user, *app;    /**< borrowed from the job: who runs it, path of the program */
    uint64_t start_ns;         /**< of its first window, daemon time; 0: none yet */
    uint64_t world, watched;   /**< ranks of MPI_COMM_WORLD (0: not known), and those seen */
    uint64_t nodes;            /**< agents that reported ranks of it */
    uint64_t windows;          /**< closed so far, corrections included */
    struct sum_totals sums;    /**< since its start, corrections included */
    uint64_t rank_ns;          /**< length of each window for each rank that reported it, but
                                    not before it initialised MPI and after it ended */
    uint64_t lost_records;     /**< overwritten before they were read */
    uint64_t lost_windows;     /**< dropped by agents that did not reach the daemon */
    int has_newest;            /**< whether the following is set */
    struct wire_totals newest; /**< of the newest window, but for the job */
    uint64_t alerts_fired;     /**< episodes that fired, whether or not they are over */
    uint64_t firing[RULE_KINDS][JOB_SEVERITIES]; /**< episodes that fire now */
    double latency_ratio;  /**< largest ratio of an alert that fires; 1: none does */
    double progress_ratio; /**< smallest progress of an alert that fires; 1: none does */
    uint64_t links_hot, links_congested; /**< in the newest window */
    double link_share;   /**< largest load by capacity, newest window; NaN: not known */
    uint64_t link_bytes; /**< largest modelled load of a link in the newest window */
};

/** @param out  all is set */
void job_figures(struct job *job, struct job_figures *out);

#endif

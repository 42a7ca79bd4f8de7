/* Searches for a better mapping in several trials, each with its own seed, some of them in
 * parallel. A trial is one search of daemon/analysis/network/remap; trial 0 is what a single search
 * is. The best result is used, of equal ones that of the lowest trial, so that the result depends
 * on the problem, the seed, the steps and the number of trials, but not on how many run in
 * parallel.
 *
 * Each trial runs in a process of its own: METIS is not thread-safe. A single trial runs in the
 * calling process. */
#ifndef HOLTER_AGENT_CLI_REMAP_REMAP_TRIALS_H
#define HOLTER_AGENT_CLI_REMAP_REMAP_TRIALS_H

#include "daemon/analysis/network/remap/remap.h"

#include <stdbool.h>
#include <stdint.h>

#define REMAP_TRIALS_MAXIMUM 1024u
#define REMAP_THREADS_MAXIMUM 256u

struct remap_trials {
    uint64_t trials;  /**< 1 to REMAP_TRIALS_MAXIMUM */
    uint64_t threads; /**< trials in parallel, 1 to REMAP_THREADS_MAXIMUM */
    double seconds;   /**< time limit of a trial; 0: none */
    void (*progress)(void *user, double share);
    void *user;
};

struct remap_found {
    struct remap_measures before, after;
    double bound;
    uint64_t steps; /**< of all trials together */
    uint64_t trial; /**< the one that found it */
    bool optimal;   /**< proven */
    bool cut;       /**< a trial reached the time limit */
};

/** @param seats  set: vertex of each of problem->processes
 *  @param why    set on failure
 *  @return 0, -ENOMEM, -EIO: a trial ended early, or what remap_create() returns */
int remap_trials_run(const struct remap_problem *problem, const struct remap_trials *trials,
                     struct remap_found *out, uint32_t *seats, char *why, size_t capacity);

#endif

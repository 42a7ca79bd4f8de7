/* Searches for a better mapping in several trials, each with a seed of its own, some of them at the
 * same time. A trial is one search of daemon/analysis/network/remap; trial 0 is the search that a
 * single one would be. The best result is taken, of equal ones that of the lowest trial. So it
 * depends on the problem, the seed, the steps and the number of trials, but not on how many run at
 * a time.
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
    uint64_t threads; /**< at the same time, 1 to REMAP_THREADS_MAXIMUM */
    double seconds;   /**< after which a trial is cut off; 0: never */
    void (*progress)(void *user, double share);
    void *user;
};

struct remap_found {
    struct remap_measures before, after;
    double bound;
    uint64_t steps; /**< of all trials together */
    uint64_t trial; /**< that found it */
    bool optimal;   /**< proven */
    bool cut;       /**< a trial was cut off */
};

/** @param seats  set: of each process; room for problem->processes
 *  @param why    set on failure
 *  @return 0, -ENOMEM, -EIO: a trial ended early, or what remap_create() returns */
int remap_trials_run(const struct remap_problem *problem, const struct remap_trials *trials,
                     struct remap_found *out, uint32_t *seats, char *why, size_t capacity);

#endif

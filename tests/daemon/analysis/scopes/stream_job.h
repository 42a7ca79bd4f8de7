/* A job whose one rank sends to the other one, on another node, and how it is judged. */
#ifndef TESTS_DAEMON_ANALYSIS_SCOPES_STREAM_JOB_H
#define TESTS_DAEMON_ANALYSIS_SCOPES_STREAM_JOB_H

#include <stdint.h>

/** The messages of a window take equally long. Their times are lognormal from window to window. */
struct stream_params {
    uint64_t seed;     /**< not 0 */
    uint32_t messages; /**< in a window */
    double noise;      /**< standard deviation of the logarithm of a window's time */
    double lag;        /**< correlation of windows that follow each other */
    double outliers;   /**< share of windows whose messages take 2.7 to 7.4 times as long */
    uint32_t onset;    /**< from this window on they take ... */
    double factor;     /**< ... so many times as long */
};

struct stream_result {
    uint32_t false_alarms; /**< findings before the onset */
    uint32_t found;        /**< windows from the onset to a finding, it included; 0: none */
};

/** Judge the windows up to the onset, and after it until something is found, but at most so many.
 * Nothing is counted as found of what has a finding before the onset. */
struct stream_result stream_job_judge(const struct stream_params *params, uint32_t windows);

#endif

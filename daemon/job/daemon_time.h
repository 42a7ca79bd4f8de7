/* Daemon time: CLOCK_REALTIME when the daemon started plus CLOCK_MONOTONIC since, so that it never
 * jumps. */
#ifndef HOLTER_DAEMON_JOB_DAEMON_TIME_H
#define HOLTER_DAEMON_JOB_DAEMON_TIME_H

#include <stdint.h>

struct timeline {
    uint64_t base_ns; /**< daemon time minus CLOCK_MONOTONIC, nanoseconds */
};

void timeline_init(struct timeline *timeline);

/** Daemon time, nanoseconds since 1970. */
uint64_t timeline_now(const struct timeline *timeline);

#endif

/* Daemon time: CLOCK_REALTIME when the daemon started plus CLOCK_MONOTONIC since, so that it never
 * jumps. In a fleet it follows the clock that its daemons share. */
#ifndef HOLTER_DAEMON_JOB_DAEMON_TIME_H
#define HOLTER_DAEMON_JOB_DAEMON_TIME_H

#include "daemon/analysis/clocks/daemon_clock.h"

struct timeline {
    struct daemon_clock_mapping mapping;
    uint64_t error_ns; /**< bound of its error against the fleet's clock; 0: it is that */
};

void timeline_init(struct timeline *timeline);

/** Go on along another line from now on. Where that is a little behind, time does not go back: it
 * goes slower, so as to be on the line after a second, and the distance is part of its error. */
void timeline_follow(struct timeline *timeline, const struct timeline *line);

/** Daemon time, nanoseconds since 1970. */
uint64_t timeline_now(const struct timeline *timeline);

#endif

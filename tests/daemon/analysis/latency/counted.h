/* How many messages a table of times has counted. */
#ifndef TESTS_DAEMON_ANALYSIS_LATENCY_COUNTED_H
#define TESTS_DAEMON_ANALYSIS_LATENCY_COUNTED_H

#include "daemon/analysis/latency/time_counts.h"

static inline uint64_t counted_messages(const struct time_counts *counts)
{
    uint64_t messages = 0;
    for (size_t i = 0; counts->cells != NULL && i < counts->cells->count; i++)
        messages += counts->cells->of[counts->cells->used[i]]->messages;
    return messages;
}

#endif

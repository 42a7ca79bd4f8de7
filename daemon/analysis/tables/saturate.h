/* Sums that stay at the largest number: what is added may come from a file or a wire. */
#ifndef HOLTER_DAEMON_ANALYSIS_TABLES_SATURATE_H
#define HOLTER_DAEMON_ANALYSIS_TABLES_SATURATE_H

#include <stdint.h>

static inline uint64_t saturated_sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

#endif

/* Daemon time: CLOCK_REALTIME at the start plus CLOCK_MONOTONIC since. */
#include "daemon/job/daemon_time.h"

#include "holter/clock.h"

#define READINGS 16

void timeline_init(struct timeline *timeline)
{
    /* Of several readings of both clocks the one that took least time: none is so unlucky that the
     * process is interrupted in all of them. */
    uint64_t shortest = UINT64_MAX;
    for (int i = 0; i < READINGS; i++) {
        uint64_t before = clock_mono_ns(), real = clock_real_ns(), after = clock_mono_ns();
        if (after - before >= shortest)
            continue;
        shortest = after - before;
        timeline->base_ns = real - (before + shortest / 2);
    }
}

uint64_t timeline_now(const struct timeline *timeline)
{
    return timeline->base_ns + clock_mono_ns();
}

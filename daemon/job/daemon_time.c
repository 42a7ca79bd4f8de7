/* Daemon time: CLOCK_REALTIME at the start plus CLOCK_MONOTONIC since, or a fleet's clock. */
#include "daemon/job/daemon_time.h"

#include "holter/clock.h"

#define READINGS 16
#define TIMELINE_STEP_NS UINT64_C(100000000) /* what is farther behind is another time */

void timeline_init(struct timeline *timeline)
{
    /* Of several readings of both clocks the one that took least time: none is so unlucky that the
     * process is interrupted in all of them. */
    uint64_t shortest = UINT64_MAX;
    *timeline = (struct timeline){0};
    for (int i = 0; i < READINGS; i++) {
        uint64_t before = clock_mono_ns(), real = clock_real_ns(), after = clock_mono_ns();
        if (after - before >= shortest)
            continue;
        shortest = after - before;
        timeline->mono_ns = before + shortest / 2;
        timeline->daemon_ns = real;
    }
}

static uint64_t timeline_at(const struct timeline *timeline, uint64_t mono_ns)
{
    const uint64_t since = mono_ns - timeline->mono_ns;
    return timeline->daemon_ns + since +
           (uint64_t)(int64_t)((double)(int64_t)since * timeline->slew);
}

uint64_t timeline_now(const struct timeline *timeline)
{
    return timeline_at(timeline, clock_mono_ns());
}

void timeline_follow(struct timeline *timeline, const struct timeline *line)
{
    const uint64_t mono_ns = clock_mono_ns(), before = timeline_at(timeline, mono_ns),
                   now = timeline_at(line, mono_ns);
    *timeline = *line;
    if (now < before && before - now < TIMELINE_STEP_NS) {
        timeline->mono_ns = mono_ns;
        timeline->daemon_ns = before;
    }
}

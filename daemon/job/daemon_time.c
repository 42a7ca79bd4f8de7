/* Daemon time: CLOCK_REALTIME at the start plus CLOCK_MONOTONIC since, or a fleet's clock. */
#include "daemon/job/daemon_time.h"

#include "holter/clock.h"

#define READINGS 16
#define TIMELINE_STEP_NS UINT64_C(100000000) /* what is farther behind is another time */
#define TIMELINE_CATCH_UP_NS 1e9             /* in which a line that is behind is approached */

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
        timeline->mapping = (struct daemon_clock_mapping){before + shortest / 2, real, 0};
    }
}

uint64_t timeline_now(const struct timeline *timeline)
{
    return daemon_clock_map(&timeline->mapping, clock_mono_ns());
}

void timeline_follow(struct timeline *timeline, const struct timeline *line)
{
    const uint64_t mono_ns = clock_mono_ns(),
                   before = daemon_clock_map(&timeline->mapping, mono_ns),
                   now = daemon_clock_map(&line->mapping, mono_ns);
    *timeline = *line;
    if (now < before && before - now < TIMELINE_STEP_NS) {
        const uint64_t ahead = before - now;
        timeline->mapping = (struct daemon_clock_mapping){
            mono_ns, before, line->mapping.slew - (double)ahead / TIMELINE_CATCH_UP_NS};
        timeline->error_ns += ahead;
    }
}

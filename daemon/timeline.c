#include "daemon/timeline.h"

#include "holter/clock.h"

void timeline_init(struct timeline *timeline)
{
    timeline->base_ns = clock_real_ns() - clock_mono_ns();
}

uint64_t timeline_now(const struct timeline *timeline)
{
    return timeline->base_ns + clock_mono_ns();
}

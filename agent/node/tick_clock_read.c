/* Reading the ranks' tick clock together with CLOCK_MONOTONIC. */
#include "agent/node/tick_clock_read.h"

#include "holter/clock.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

struct tick_anchor tick_clock_read(void)
{
#if defined(__x86_64__)
    struct tick_anchor best = {0, 0};
    uint64_t best_gap = UINT64_MAX;
    for (int i = 0; i < 5; i++) { /* the tightest of five attempts: the others were interrupted */
        uint64_t before = __rdtsc();
        uint64_t ns = clock_mono_ns();
        uint64_t after = __rdtsc();
        if (after - before < best_gap) {
            best_gap = after - before;
            best = (struct tick_anchor){before + best_gap / 2, ns};
        }
    }
    return best;
#else
    return (struct tick_anchor){0, clock_mono_ns()};
#endif
}

/* Reading the ranks' tick clock together with CLOCK_MONOTONIC. */
#include "agent/node/tick_clock_read.h"

#include "holter/clock.h"
#include "holter/ticks.h"

struct tick_anchor tick_clock_read(void)
{
    struct tick_anchor best = {0, 0};
    uint64_t best_gap = UINT64_MAX;
    for (int i = 0; i < 5; i++) { /* the tightest of five attempts: the others were interrupted */
        uint64_t before = ticks_read();
        uint64_t ns = clock_mono_ns();
        uint64_t after = ticks_read();
        if (after - before < best_gap) {
            best_gap = after - before;
            best = (struct tick_anchor){before + best_gap / 2, ns};
        }
    }
    return best;
}

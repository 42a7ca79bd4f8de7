#include "daemon/analysis/clocks/tick_clock.h"

#include "holter/clock.h"
#include "holter/error.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define UNIT ((double)(UINT64_C(1) << 40))
#define SLEW_NS 1e9     /* an error is removed over this time */
#define SLEW_MOST 5e-4  /* as fast as the kernel slews CLOCK_MONOTONIC, adjtimex(2) */
#define STEP_NS 1000000 /* an error beyond this is no drift: step at once, if it is forward */
#define ANCHOR_EVERY_NS UINT64_C(15000000000)

void tick_clock_init_ns(struct tick_clock *clock)
{
    *clock = (struct tick_clock){.multiplier = UINT64_C(1) << 40};
}

/* ns per tick between two readings; 0: none */
static double rate_between(struct tick_anchor from, struct tick_anchor to)
{
    if (to.ticks <= from.ticks || to.ns <= from.ns)
        return 0;
    double rate = (double)(to.ns - from.ns) / (double)(to.ticks - from.ticks);
    return rate >= 0.01 && rate <= 1000.0 ? rate : 0;
}

int tick_clock_init(struct tick_clock *clock, struct tick_anchor first, struct tick_anchor second)
{
    double rate = rate_between(first, second);
    if (rate == 0)
        return -HOLTER_ERANGE;
    *clock = (struct tick_clock){
        .base_ticks = second.ticks,
        .base_ns = second.ns,
        .multiplier = (uint64_t)(rate * UNIT + 0.5),
        .anchors = {first},
        .anchor_count = 1,
        .anchor_next = 1,
    };
    return 0;
}

static void keep_anchor(struct tick_clock *clock, struct tick_anchor reading)
{
    unsigned newest = (clock->anchor_next + TICK_CLOCK_ANCHORS - 1) % TICK_CLOCK_ANCHORS;
    if (clock->anchor_count > 0 && reading.ns - clock->anchors[newest].ns < ANCHOR_EVERY_NS)
        return;
    clock->anchors[clock->anchor_next] = reading;
    clock->anchor_next = (clock->anchor_next + 1) % TICK_CLOCK_ANCHORS;
    if (clock->anchor_count < TICK_CLOCK_ANCHORS)
        clock->anchor_count++;
}

void tick_clock_observe(struct tick_clock *clock, struct tick_anchor reading)
{
    if (clock->anchor_count == 0 || reading.ticks <= clock->base_ticks)
        return;
    unsigned oldest = clock->anchor_count < TICK_CLOCK_ANCHORS ? 0 : clock->anchor_next;
    double rate = rate_between(clock->anchors[oldest], reading);
    if (rate == 0)
        return;
    uint64_t predicted = tick_clock_ns(clock, reading.ticks);
    double error = (double)(int64_t)(reading.ns - predicted);
    if (error > STEP_NS) {
        predicted = reading.ns;
        error = 0;
    }
    double slew = error / SLEW_NS;
    slew = slew > SLEW_MOST ? SLEW_MOST : slew < -SLEW_MOST ? -SLEW_MOST : slew;
    clock->base_ticks = reading.ticks;
    clock->base_ns = predicted;
    clock->multiplier = (uint64_t)(rate * (1 + slew) * UNIT + 0.5);
    keep_anchor(clock, reading);
}

struct tick_anchor tick_clock_read(void)
{
#if defined(__x86_64__)
    struct tick_anchor best = {0, 0};
    uint64_t best_gap = UINT64_MAX;
    for (int i = 0; i < 5; i++) { /* the tightest of a few: the others were interrupted */
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

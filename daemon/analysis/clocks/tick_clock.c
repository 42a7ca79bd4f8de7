/* Conversion of ticks to nanoseconds: a line that is corrected by readings of both clocks. */
#include "daemon/analysis/clocks/tick_clock.h"

#include "holter/error.h"

#define MULTIPLIER_UNIT ((double)(UINT64_C(1) << 40))
#define SLEW_NS 1e9       /* an error is removed over this time */
#define MAXIMUM_SLEW 5e-4 /* as fast as the kernel slews CLOCK_MONOTONIC, adjtimex(2) */
#define STEP_NS 1000000   /* a larger error is no drift: step at once, but forward only */
#define ANCHOR_EVERY_NS UINT64_C(15000000000)

void tick_clock_init_ns(struct tick_clock *clock)
{
    *clock = (struct tick_clock){.multiplier = UINT64_C(1) << 40};
}

/* @return nanoseconds per tick between two readings; 0: they give no plausible rate */
static double tick_clock_rate_between(struct tick_anchor from, struct tick_anchor to)
{
    if (to.ticks <= from.ticks || to.ns <= from.ns)
        return 0;
    double rate = (double)(to.ns - from.ns) / (double)(to.ticks - from.ticks);
    return rate >= 0.01 && rate <= 1000.0 ? rate : 0;
}

int tick_clock_init(struct tick_clock *clock, struct tick_anchor first, struct tick_anchor second)
{
    double rate = tick_clock_rate_between(first, second);
    if (rate == 0)
        return -HOLTER_ERANGE;
    *clock = (struct tick_clock){
        .base_ticks = second.ticks,
        .base_ns = second.ns,
        .multiplier = (uint64_t)(rate * MULTIPLIER_UNIT + 0.5),
        .anchors = {first},
        .anchor_count = 1,
        .anchor_next = 1,
    };
    return 0;
}

static void tick_clock_store_anchor(struct tick_clock *clock, struct tick_anchor reading)
{
    unsigned newest = (clock->anchor_next + TICK_CLOCK_ANCHORS - 1) % TICK_CLOCK_ANCHORS;
    if (clock->anchor_count > 0 && reading.ns - clock->anchors[newest].ns < ANCHOR_EVERY_NS)
        return;
    clock->anchors[clock->anchor_next] = reading;
    clock->anchor_next = (clock->anchor_next + 1) % TICK_CLOCK_ANCHORS;
    if (clock->anchor_count < TICK_CLOCK_ANCHORS)
        clock->anchor_count++;
}

/* Where CLOCK_MONOTONIC has jumped, by more than its steering explains, the readings before that
 * jump, too: the rate stays as it was. A rate over a short time is not known well enough to tell.
 */
static void tick_clock_shift_anchors(struct tick_clock *clock, unsigned oldest, uint64_t jump_ns,
                                     uint64_t since_ns)
{
    if (clock->base_ns - clock->anchors[oldest].ns < ANCHOR_EVERY_NS ||
        (double)jump_ns <= 2 * MAXIMUM_SLEW * (double)since_ns)
        return;
    for (unsigned i = 0; i < clock->anchor_count; i++)
        clock->anchors[i].ns += jump_ns;
}

void tick_clock_observe(struct tick_clock *clock, struct tick_anchor reading)
{
    if (clock->anchor_count == 0 || reading.ticks <= clock->base_ticks)
        return;
    unsigned oldest = clock->anchor_count < TICK_CLOCK_ANCHORS ? 0 : clock->anchor_next;
    uint64_t predicted = tick_clock_ns(clock, reading.ticks);
    double error = (double)(int64_t)(reading.ns - predicted);
    if (error > STEP_NS) {
        tick_clock_shift_anchors(clock, oldest, reading.ns - predicted, predicted - clock->base_ns);
        predicted = reading.ns;
        error = 0;
    }
    double rate = tick_clock_rate_between(clock->anchors[oldest], reading);
    if (rate == 0)
        return;
    double slew = error / SLEW_NS;
    slew = slew > MAXIMUM_SLEW ? MAXIMUM_SLEW : slew < -MAXIMUM_SLEW ? -MAXIMUM_SLEW : slew;
    clock->base_ticks = reading.ticks;
    clock->base_ns = predicted;
    clock->multiplier = (uint64_t)(rate * (1 + slew) * MULTIPLIER_UNIT + 0.5);
    tick_clock_store_anchor(clock, reading);
}

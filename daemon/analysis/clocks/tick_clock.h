/* Conversion of a rank's clock, which counts ticks, to CLOCK_MONOTONIC.
 *
 * The TSC runs at a constant rate, CLOCK_MONOTONIC is steered by NTP (up to 500 ppm), so the rate
 * between them has to be followed. The owner reads both together about once a second; the rate is
 * taken over a baseline of up to two minutes, where the jitter of one reading (some 50 ns) is below
 * 1 ppb, and what is left of the error is removed by slewing over the next second. The conversion
 * is a continuous, strictly increasing function of the ticks at all times, so that an event never
 * ends before it began, and the time of a call that is counted in parts adds up.
 */
#ifndef HOLTER_DAEMON_ANALYSIS_CLOCKS_TICK_CLOCK_H
#define HOLTER_DAEMON_ANALYSIS_CLOCKS_TICK_CLOCK_H

#include <stdint.h>

#define TICK_CLOCK_ANCHORS 8u

struct tick_anchor {
    uint64_t ticks;
    uint64_t ns; /**< CLOCK_MONOTONIC */
};

struct tick_clock {
    uint64_t base_ticks; /**< the line of the conversion: it goes through this point ... */
    uint64_t base_ns;
    uint64_t multiplier; /**< ... with this slope: nanoseconds per tick in units of 2^-40 */
    struct tick_anchor
        anchors[TICK_CLOCK_ANCHORS]; /**< readings that give the rate; the oldest is replaced */
    unsigned anchor_count;
    unsigned anchor_next;
};

/** A clock whose ticks are nanoseconds of CLOCK_MONOTONIC already. */
void tick_clock_init_ns(struct tick_clock *clock);

/** Start from two readings. @return 0, or -HOLTER_ERANGE when they give no rate between 1 MHz and
 * 100 GHz */
int tick_clock_init(struct tick_clock *clock, struct tick_anchor first, struct tick_anchor second);

/** Correct the clock by a further reading. Readings that do not advance both clocks are ignored. */
void tick_clock_observe(struct tick_clock *clock, struct tick_anchor reading);

/** Length of a span of ticks, nanoseconds. */
static inline uint64_t tick_clock_span(const struct tick_clock *clock, uint64_t ticks)
{
    __extension__ typedef unsigned __int128 wide;
    wide ns = ((wide)ticks * clock->multiplier) >> 40;
    return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

/** CLOCK_MONOTONIC at a tick; 0 where that lies before the start of CLOCK_MONOTONIC. */
static inline uint64_t tick_clock_ns(const struct tick_clock *clock, uint64_t ticks)
{
    if (ticks >= clock->base_ticks) {
        uint64_t span = tick_clock_span(clock, ticks - clock->base_ticks);
        return span > UINT64_MAX - clock->base_ns ? UINT64_MAX : clock->base_ns + span;
    }
    uint64_t span = tick_clock_span(clock, clock->base_ticks - ticks);
    return span > clock->base_ns ? 0 : clock->base_ns - span;
}

/** Times of one call after the other. The records of a call have the same ticks, which are
 *  converted once. */
struct tick_times {
    const struct tick_clock *clock; /**< borrowed; must not change meanwhile */
    uint64_t enter, exit;           /**< ticks that were converted last */
    uint64_t enter_ns, exit_ns;     /**< CLOCK_MONOTONIC */
};

static inline struct tick_times tick_times_begin(const struct tick_clock *clock)
{
    uint64_t zero_ns = tick_clock_ns(clock, 0);
    return (struct tick_times){.clock = clock, .enter_ns = zero_ns, .exit_ns = zero_ns};
}

static inline void tick_times_convert(struct tick_times *times, uint64_t enter, uint64_t exit)
{
    if (times->enter == enter && times->exit == exit)
        return;
    times->enter = enter;
    times->exit = exit;
    times->enter_ns = tick_clock_ns(times->clock, enter);
    times->exit_ns = tick_clock_ns(times->clock, exit);
}

#endif

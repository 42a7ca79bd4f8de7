#include "agent/daemon_clock.h"

#include "holter/error.h"

#include <stddef.h>

#define PHI 15e-6   /* tolerance of a clock's rate, RFC 5905 section 7.1 */
#define SLEW_NS 8e9 /* an error is removed over this time */
#define TRIP_MOST_NS UINT64_C(60000000000)

void daemon_clock_init(struct daemon_clock *clock, uint64_t mono_ns, uint64_t daemon_ns)
{
    *clock = (struct daemon_clock){.base_mono_ns = mono_ns, .base_daemon_ns = daemon_ns};
}

void daemon_clock_restart(struct daemon_clock *clock)
{
    clock->count = 0;
    clock->next = 0;
}

uint64_t daemon_clock_at(const struct daemon_clock *clock, uint64_t mono_ns)
{
    double since = (double)(int64_t)(mono_ns - clock->base_mono_ns);
    return clock->base_daemon_ns + (mono_ns - clock->base_mono_ns) +
           (uint64_t)(int64_t)(since * clock->slew);
}

uint64_t daemon_clock_mono(const struct daemon_clock *clock, uint64_t daemon_ns)
{
    int64_t since = (int64_t)(daemon_ns - clock->base_daemon_ns);
    int64_t span = since - (int64_t)((double)since * clock->slew / (1 + clock->slew));
    if (span < 0 && (uint64_t)-span > clock->base_mono_ns)
        return 0;
    return clock->base_mono_ns + (uint64_t)span;
}

static double bound_of(const struct daemon_clock_sample *sample, uint64_t mono_ns)
{
    double age = mono_ns > sample->mono_ns ? (double)(mono_ns - sample->mono_ns) : 0;
    return (double)sample->trip_ns / 2 + age * PHI;
}

static const struct daemon_clock_sample *best_sample(const struct daemon_clock *clock,
                                                     uint64_t mono_ns)
{
    const struct daemon_clock_sample *best = NULL;
    for (unsigned i = 0; i < clock->count; i++)
        if (best == NULL || bound_of(&clock->samples[i], mono_ns) < bound_of(best, mono_ns))
            best = &clock->samples[i];
    return best;
}

/* Aim the line at the best sample. */
static void steer(struct daemon_clock *clock, uint64_t mono_ns)
{
    const struct daemon_clock_sample *best = best_sample(clock, mono_ns);
    uint64_t now = daemon_clock_at(clock, mono_ns);
    uint64_t target = mono_ns + (uint64_t)best->offset_ns;
    double error = (double)(int64_t)(target - now);
    clock->base_mono_ns = mono_ns;
    if (!clock->known || error > DAEMON_CLOCK_STEP_NS || error < -DAEMON_CLOCK_STEP_NS) {
        clock->jumps += clock->known != 0;
        clock->base_daemon_ns = target;
        clock->slew = 0;
    } else {
        clock->base_daemon_ns = now;
        clock->slew = error / SLEW_NS; /* at most STEP / SLEW = 1.25 % */
    }
    clock->known = 1;
}

int daemon_clock_observe(struct daemon_clock *clock, uint64_t t1_mono, uint64_t t2_daemon,
                         uint64_t t3_daemon, uint64_t t4_mono)
{
    if (t4_mono < t1_mono || t3_daemon < t2_daemon || t4_mono - t1_mono > TRIP_MOST_NS ||
        t3_daemon - t2_daemon > t4_mono - t1_mono || t2_daemon > INT64_MAX || t4_mono > INT64_MAX)
        return -HOLTER_ERANGE;
    uint64_t trip = (t4_mono - t1_mono) - (t3_daemon - t2_daemon);
    /* Both halves separately, so that the sum of two offsets near 2^61 cannot overflow. */
    int64_t out = (int64_t)(t2_daemon - t1_mono), back = (int64_t)(t3_daemon - t4_mono);
    struct daemon_clock_sample *sample = &clock->samples[clock->next];
    *sample =
        (struct daemon_clock_sample){t4_mono, out / 2 + back / 2 + (out % 2 + back % 2) / 2, trip};
    clock->next = (clock->next + 1) % DAEMON_CLOCK_SAMPLES;
    if (clock->count < DAEMON_CLOCK_SAMPLES)
        clock->count++;
    steer(clock, t4_mono);
    return 0;
}

uint64_t daemon_clock_error(const struct daemon_clock *clock, uint64_t mono_ns)
{
    const struct daemon_clock_sample *best = best_sample(clock, mono_ns);
    return best == NULL ? UINT64_MAX : (uint64_t)bound_of(best, mono_ns);
}

/* What trend.c (growth and steady periods) and trend_calm.c (what calm is like) share. */
#ifndef HOLTER_DAEMON_ANALYSIS_LATENCY_TREND_STATE_H
#define HOLTER_DAEMON_ANALYSIS_LATENCY_TREND_STATE_H

#include "daemon/analysis/latency/trend.h"

#include <stdbool.h>
#include <stddef.h>

/* Values that are kept; statistics of the last of them, until they enter the memories, which they
 * do with a delay of up to HELD_BACK values. */
#define RECENT 1024u
#define HELD_BACK 120u
#define HELD 128u

/* Statistics of the last values: lower means over several scales, see trend_calm.c; the jump of the
 * last three values over those before; and the ramp, how far the last values lie above the base as
 * a line would. */
enum { SCALES = 6, JUMP = SCALES, RAMP, STATISTICS };
#define MAXIMUM_SCALE 48u
static const uint8_t trend_scales[SCALES] = {1, 3, 6, 12, 24, MAXIMUM_SCALE};

/* What a statistic is like in calm: a histogram of its logarithms about the first median. */
#define BINS 512u
struct memory {
    float weights[BINS];
    double total;
    size_t lowest; /* bin that has any weight */
};

/* The limits that follow from the memories. */
struct calm {
    double centre;             /* median of single values */
    double spread;             /* of single values upwards, one standard deviation */
    double limits[STATISTICS]; /* a statistic above its limit is no noise; NaN: not known yet */
};

#define RETURNS 3u

/* A period that came back to the base. */
struct returned {
    uint64_t end;       /* window */
    double level, high; /* median and upper tenth of its logarithms */
    double values;      /* how many there were */
};

struct trend {
    struct trend_params params;
    struct trend_result
        result;     /* level and ratio are not in it; the slope is that of a logarithm */
    bool started;   /* there was an update */
    uint64_t count; /* values so far; they are numbered from 0 */
    uint64_t first; /* number of the first value that statistics may use */
    uint64_t last;  /* window of the last update */
    double base;    /* logarithm */
    double
        rises[SCALES]; /* smallest rise worth reporting of a job that runs for long; logarithms */
    uint64_t habit;    /* window in which phases of its own were last found; 0: never */
    /* The period, while not calm. */
    double threshold;                  /* of the logarithm above the base, at which it was seen */
    uint32_t scale;                    /* in values, at which it was seen */
    uint32_t span;                     /* index of the span that growth was seen in; SPANS: none */
    uint64_t onset;                    /* number of its first value */
    struct returned returned[RETURNS]; /* newest first */
    /* Calm. */
    struct calm calm;
    bool calm_changed;        /* since the base and the band were made of it */
    uint64_t remembered;      /* values below this number are in the memories, or never will be */
    double singles;           /* weight of all single values in the memories */
    double weight;            /* of the next value that enters them */
    double growth_of_weight;  /* from one value to the next */
    double centre;            /* of the histograms */
    double alike, neighbours; /* weights of neighbours on one side of the base, and of all */
    struct memory memories[STATISTICS];
    /* Statistics of value number n, NaN where there are not enough values, at n % HELD. */
    double stats[HELD][STATISTICS];
    /* Of the last values of each scale, the one at the end of the lowest third. */
    double thirds[SCALES];
    /* Value number n at n % RECENT. */
    uint64_t windows[RECENT];
    double logs[RECENT];
};

static inline double trend_log(const struct trend *trend, uint64_t number)
{
    return trend->logs[number % RECENT];
}

static inline uint64_t trend_window(const struct trend *trend, uint64_t number)
{
    return trend->windows[number % RECENT];
}

/** Statistics of the last value. */
static inline double *trend_last_stats(struct trend *trend)
{
    return trend->stats[(trend->count - 1) % HELD];
}

/** Add the logarithm of a value. */
void trend_add_value(struct trend *trend, uint64_t window, double value);

/** Copy values from number `from` on, sorted. */
void trend_sorted(const struct trend *trend, uint64_t from, uint64_t count, double *out);

/** Median of the values from number `from` on; NaN: none. */
double trend_median(const struct trend *trend, uint64_t from, uint64_t count);

/** Median of the last values that statistics may use, at most `maximum` of them. */
double trend_last_median(const struct trend *trend, uint64_t maximum);

/** Find the statistics of the last value. */
void trend_find_statistics(struct trend *trend);

/** Add a statistic to its memory.
 *  @param offset  from the centre of the histogram */
void trend_memory_add(struct memory *memory, double offset, double weight);

/** Correlation of neighbouring values, from the share of neighbours that lie on the same side of
 * the median in a normal process (Sheppard, 1899). */
double trend_correlation(const struct trend *trend);

/** Find the limits from the memories, where there are enough values. */
void trend_find_calm(struct trend *trend);

/** Values enter the memories with a delay, so that what is judged is not part of the measure. */
void trend_remember_calm(struct trend *trend);

#endif

/* What trend.c (growth and steady periods) and trend_calm.c (what calm is like) share. */
#ifndef HOLTER_DAEMON_ANALYSIS_LATENCY_TREND_STATE_H
#define HOLTER_DAEMON_ANALYSIS_LATENCY_TREND_STATE_H

#include "daemon/analysis/latency/trend.h"

/* Values that are looked back upon, and of those the ones that may not be remembered yet. */
#define RECENT 1024u
#define HELD_BACK 120u
#define HELD 128u
/* Values that every update looks at, and how many of them are put with those of RECENT at a time;
 * so many statistics are remembered at a time, too. */
#define NEAR 64u
#define TAKEN 8u

/* What is measured of the last values: statistics of several scales, see trend_calm.c; the jump of
 * the last three over those before; and how far they lie above the base as a line would, ramp(). */
enum { SCALES = 6, JUMP = SCALES, RAMP, STATISTICS };
#define MOST_SCALE 48u
#define ALL_SCALES 94u /* all together */
static const uint8_t trend_scales[SCALES] = {1, 3, 6, 12, 24, MOST_SCALE};
static const uint8_t trend_first[SCALES] = {0, 1, 4, 10, 22, 46}; /* where each begins of all */

_Static_assert(
    HELD_BACK + TAKEN <= HELD && MOST_SCALE < NEAR,
    "statistics are there until they are remembered, values as long as they are ordered");

/* What calm is like: a histogram of a statistic's logarithms about the first median. */
#define BINS 512u
struct memory {
    float weights[BINS];
    double total;
    size_t lowest; /* bin that has any weight */
};

/* What it comes to. */
struct calm {
    double centre;             /* median of single values */
    double spread;             /* of them upwards, of one standard deviation */
    double limits[STATISTICS]; /* what is above is no noise; NaN: not known yet */
};

#define RETURNS 3u

/* A period that came back to the base. */
struct returned {
    uint64_t end;       /* window */
    double level, high; /* median and upper tenth of its logarithms */
    double values;      /* how many there were */
};

/* What an update looks at stands first, close together: a job has more than a hundred trends, and
 * none of them is in the cache when its turn comes. What it seldom looks at follows. */
struct trend {
    /* Value number n lies at n % NEAR, its window at n % TAKEN. */
    double near[NEAR];
    uint64_t windows_near[TAKEN];
    /* Places in `near` of the last values of each scale, or of all there are so far, by their size.
     */
    uint8_t ordered[ALL_SCALES];
    uint64_t count; /* values so far */
    uint64_t first; /* number of the first value that statistics may use */
    uint64_t last;  /* window of the last update */
    int any;
    int calm_anew;           /* calm is another than the base and the band were made of */
    uint64_t remembered;     /* values below this number are remembered, or never will be ... */
    uint64_t noted;          /* ... where those from this number on are not in the memories yet */
    double singles;          /* weight of all single values remembered */
    double weight;           /* of the next value remembered */
    double growth_of_weight; /* from one to the next */
    struct calm calm;
    double rises[SCALES]; /* least that is worth telling of a job that runs for long; logarithms */
    double base;          /* logarithm */
    uint64_t habit;       /* window in which phases of its own were last found; 0: never */
    struct trend_result
        result; /* level and ratio are not in it; the slope is that of a logarithm */
    struct trend_params params;
    /* The period, while not calm. */
    double threshold;                  /* of the logarithm above the base, that it went over */
    uint32_t scale;                    /* in values, at which it was seen */
    uint32_t span;                     /* index of the span that growth was seen in; SPANS: none */
    uint64_t onset;                    /* number of its first value */
    struct returned returned[RETURNS]; /* newest first */
    /* Calm. */
    double centre;            /* of the histograms */
    double noted_weight;      /* of the next value that comes into the memories */
    double alike, neighbours; /* weights of neighbours on one side of the base, and of all */
    struct memory memories[STATISTICS];
    /* Statistics of value number n, NaN where there are not enough values, at n % HELD. */
    double stats[HELD][STATISTICS];
    /* Value number n at n % RECENT, unless it is one of the last. */
    uint64_t windows[RECENT];
    double logs[RECENT];
} __attribute__((aligned(64)));

static inline double trend_log(const struct trend *trend, uint64_t number)
{
    return number + NEAR >= trend->count ? trend->near[number % NEAR]
                                         : trend->logs[number % RECENT];
}

static inline uint64_t trend_window(const struct trend *trend, uint64_t number)
{
    return number >= trend->count / TAKEN * TAKEN ? trend->windows_near[number % TAKEN]
                                                  : trend->windows[number % RECENT];
}

/** Statistics of the last value. */
static inline double *trend_last_stats(struct trend *trend)
{
    return trend->stats[(trend->count - 1) % HELD];
}

/** The m / 3-th smallest of the last values of a scale. */
static inline double trend_third(const struct trend *trend, uint32_t i)
{
    const uint32_t m = trend_scales[i];
    return trend->near[trend->ordered[trend_first[i] + (m < 3 ? 0 : m / 3 - 1)]];
}

/** Take the logarithm of a value. */
void trend_take(struct trend *trend, uint64_t window, double value);

/** Values from one number on, sorted. */
void trend_sorted(const struct trend *trend, uint64_t from, uint64_t count, double *out);

/** Median of values from one number on; NaN: none. */
double trend_median(const struct trend *trend, uint64_t from, uint64_t count);

/** Median of the last values that statistics may use, at most so many. */
double trend_last_median(const struct trend *trend, uint64_t most);

/** Statistics of the last value. */
void trend_find_statistics(struct trend *trend);

/** Remember a statistic that lies so far from the centre of the histogram. */
void trend_memory_add(struct memory *memory, double offset, double weight);

/** Correlation of neighbouring values of a normal process of which such a share lies on one side of
 *  the median (Sheppard, 1899). */
double trend_correlation(const struct trend *trend);

/** Put what is remembered into the memories: before one looks at these, or at the correlation. */
void trend_note(struct trend *trend);

/** What the memories come to, where there are enough values. */
void trend_find_calm(struct trend *trend);

/** Values enter the memories with a delay, so that what is judged is not part of the measure. */
void trend_remember_calm(struct trend *trend);

#endif

/* What trend.c (growth and steady periods) and trend_calm.c (what calm is like) share. */
#ifndef HOLTER_ANALYSIS_TREND_STATE_H
#define HOLTER_ANALYSIS_TREND_STATE_H

#include "daemon/analysis/trend.h"

/* Values that are looked back upon, and of those the ones that may not be remembered yet. */
#define RECENT 1024u
#define HELD_BACK 120u
#define HELD 128u

/* What is measured of the last values: statistics of several scales, see trend_calm.c; the jump of
 * the last three over those before; and how far they lie above the base as a line would, ramp(). */
enum { SCALES = 6, JUMP = SCALES, RAMP, STATISTICS };
#define MOST_SCALE 48u
static const uint32_t trend_scales[SCALES] = {1, 3, 6, 12, 24, MOST_SCALE};

/* What calm is like: a histogram of a statistic's logarithms about the first median. */
#define BINS 512u
struct memory {
    float weights[BINS];
    double total;
    size_t lowest; /* bin that has any weight */
};

/* What it comes to. */
struct calm {
    double centre; /* median of the statistic */
    double spread; /* upwards, of one standard deviation */
    double limit;  /* what is above is no noise */
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
    double rises[SCALES]; /* least that is worth telling of a job that runs for long; logarithms */
    struct trend_result result;
    uint64_t last; /* window of the last update */
    int any;
    /* Value number n lies at n % RECENT. */
    uint64_t windows[RECENT];
    double logs[RECENT];
    uint64_t count; /* values so far */
    uint64_t first; /* number of the first value that statistics may use */
    /* Statistics of value number n, NaN where there are not enough values, at n % HELD. */
    double stats[HELD][STATISTICS];
    double thirds[SCALES]; /* of the last value: the m / 3-th smallest of the scale */
    /* The last values of each scale, or all there are so far, sorted. */
    double ordered[SCALES][MOST_SCALE];
    /* Calm. Values below number remembered are in the memories, or never will be. */
    uint64_t remembered;
    double centre;           /* of the histograms */
    double weight;           /* of the next value remembered */
    double growth_of_weight; /* from one to the next */
    struct memory memories[STATISTICS];
    struct calm calm[STATISTICS]; /* limit NaN: not known yet */
    double alike, neighbours;     /* weights of neighbours on one side of the base, and of all */
    /* The period, while not calm. */
    double base;                       /* logarithm */
    double threshold;                  /* of the logarithm above the base, that it went over */
    uint32_t scale;                    /* in values, at which it was seen */
    uint32_t span;                     /* index of the span that growth was seen in; SPANS: none */
    uint64_t onset;                    /* number of its first value */
    struct returned returned[RETURNS]; /* newest first */
    uint64_t habit;                    /* window in which such phases were last found; 0: never */
};

static inline double trend_log(const struct trend *trend, uint64_t number)
{
    return trend->logs[number % RECENT];
}

static inline uint64_t trend_window(const struct trend *trend, uint64_t number)
{
    return trend->windows[number % RECENT];
}

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

/** What the memory of a statistic comes to, where there are enough values. */
void trend_find_calm(struct trend *trend, uint32_t i);

/** Values enter the memories with a delay, so that what is judged is not part of the measure. */
void trend_remember_calm(struct trend *trend);

#endif

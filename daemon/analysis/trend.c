#include "daemon/analysis/trend.h"

#include "daemon/analysis/mann_kendall.h"
#include "holter/error.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Values that are looked back upon, and of those the ones that may not be remembered yet. */
#define RECENT 1024u
#define HELD_BACK 120u
#define HELD 128u

/* What is measured of the last values: statistics of several scales, see lower_mean(); the jump of
 * the last three over those before; and how far they lie above the base as a line would, ramp(). */
enum { SCALES = 6, JUMP = SCALES, RAMP, STATISTICS };
#define RAMP_VALUES 60u
#define RAMP_CLIP 3.0  /* spreads of single values that the statistic of growth counts at most */
#define RAMP_SCALE 12u /* values that have to be back before such growth is over */
#define MOST_SCALE 48u
static const uint32_t scale_values[SCALES] = {1, 3, 6, 12, 24, MOST_SCALE};
#define BEFORE_JUMP 6u

/* What calm is like: a histogram of a statistic's logarithms about the first median. */
#define BINS 512u
#define BIN_WIDTH 0.02
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

/* How many spreads above the centre are noise: for the statistic of growth fewer, because it is
 * asked for a trend besides. Where there are many values, their tail is gone on so far. */
#define FAR 5.0
#define FAR_RAMP 4.5
#define TAIL 2.5
/* While few values are known, limits lie farther, by so much over their number (as quantiles of
 * Student's distribution do), and a rise has to be one that is no phase of a program: this ratio at
 * first, none but the parameters' any more after so many values. */
#define FARTHER 2.0
#define EARLY_RISE 2.4
#define EARLY_VALUES 60.0
/* What spread of single values is expected before calm is known, and for how many independent
 * values that and what follows from it count. */
#define EXPECTED_SPREAD 0.12
#define EXPECTED_VALUES 6.0
/* Neighbours that count as seen from the beginning, as of a correlation of a half. */
#define ASSUMED_NEIGHBOURS 10.0

/* Growth is tested for over the last so many values, in at most so many blocks. */
enum { SPANS = 3, BLOCKS = 20 };
static const uint32_t spans[SPANS] = {60, 240, 960};
#define LEAST_GROWING 12u
#define LEVEL_VALUES 5u /* whose median is the level */
#define SLOPE_EVERY 4u  /* values, while calm */
/* Standard deviations of the Mann-Kendall test: of values that also lie above calm, of values that
 * are known to be high, of others; and what is no growth any more. */
#define GROWING_HIGH 2.0
#define GROWING 3.5
static const double growing_alone[SPANS] = {INFINITY, 3.2, 4};
#define MOST_CORRELATED 0.944 /* neighbours, where that cannot be known: a half over 12 values */
#define NOT_GROWING 0.5

/* Periods that came back to the base: three of them within an hour are a habit. */
#define RETURNS 3u
#define HABIT_S 3600.0
#define HABIT_SHARE 0.02 /* of the memory, at least, for each */
#define HABIT_KEPT_S 14400.0
struct returned {
    uint64_t end;       /* window */
    double level, high; /* median and upper tenth of its logarithms */
    double values;      /* how many there were */
};

/* A change for good: steady for so many times what is remembered of calm, and for so many values. */
#define FOR_GOOD_TIMES 5.0
#define FOR_GOOD_VALUES 600u

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

/* From params.rise at 3 values to params.slow_rise at 48. */
static void find_rises(struct trend *trend)
{
    double most = log(trend->params.rise), least = log(trend->params.slow_rise);
    for (uint32_t i = 0; i < SCALES; i++)
        trend->rises[i] = most + log(scale_values[i] / 3.0) / log(16) * (least - most);
}

int trend_create(struct trend **out, const struct trend_params *params)
{
    if (!(params->window_s > 0 && params->window_s <= 3600) || params->warm_up < 8 ||
        params->warm_up > RECENT / 2 || !(params->rise > 1 && params->rise <= 100) ||
        !(params->slow_rise > 1 && params->slow_rise <= params->rise) ||
        !(params->growth > 1 && params->growth <= params->slow_rise) || params->calm_down < 1 ||
        params->calm_down > RECENT / 2 || !(params->half_life >= 1 && params->half_life <= 1e9))
        return -HOLTER_ERANGE;
    struct trend *trend = calloc(1, sizeof(*trend));
    if (trend == NULL)
        return -ENOMEM;
    trend->params = *params;
    find_rises(trend);
    trend->weight = 1;
    trend->growth_of_weight = exp2(1 / params->half_life);
    trend->span = SPANS;
    for (int i = 0; i < STATISTICS; i++)
        trend->calm[i] = (struct calm){NAN, NAN, NAN};
    trend->result =
        (struct trend_result){.slope = NAN, .level = NAN, .base = NAN, .ratio = NAN, .band = NAN};
    *out = trend;
    return 0;
}

void trend_destroy(struct trend *trend)
{
    free(trend);
}

/* ---- statistics of the last values --------------------------------------- */

static double log_of(const struct trend *trend, uint64_t number)
{
    return trend->logs[number % RECENT];
}

static uint64_t window_of(const struct trend *trend, uint64_t number)
{
    return trend->windows[number % RECENT];
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sort(double *values, size_t count)
{
    if (count > 64) {
        qsort(values, count, sizeof(*values), by_value);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        double value = values[i];
        size_t at = i;
        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
}

/* Values from one number on, sorted. */
static void sorted(const struct trend *trend, uint64_t from, uint64_t count, double *out)
{
    for (uint64_t i = 0; i < count; i++)
        out[i] = log_of(trend, from + i);
    sort(out, count);
}

static double median(const struct trend *trend, uint64_t from, uint64_t count)
{
    double values[RECENT];
    sorted(trend, from, count, values);
    return count == 0 ? NAN : (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* Median of the last values that statistics may use, at most so many. */
static double last_median(const struct trend *trend, uint64_t most)
{
    uint64_t usable = trend->count - trend->first;
    uint64_t count = usable < most ? usable : most;
    return median(trend, trend->count - count, count);
}

/* Mean of the m values from the m / 6-th to the 2 m / 3-th smallest: one in three may be a spike,
 * one in six a dip. */
static double lower_mean(const double *values, uint32_t m)
{
    uint32_t from = m / 6, to = m < 3 ? 1 : 2 * m / 3;
    double sum = 0;
    for (uint32_t i = from; i < to; i++)
        sum += values[i];
    return sum / (to - from);
}

/* How far the last values lie above the base, weighted as growth that began with the first of them
 * would have it. NaN: too few values, or the base is not known. */
static double ramp(const struct trend *trend)
{
    const struct calm *calm = &trend->calm[0];
    if (isnan(calm->centre) || trend->count - trend->first < RAMP_VALUES)
        return NAN;
    double sum = 0, most = RAMP_CLIP * calm->spread;
    for (uint32_t d = 1; d <= RAMP_VALUES; d++) {
        double y = log_of(trend, trend->count - RAMP_VALUES + d - 1) - calm->centre;
        sum += (y < -most ? -most : y > most ? most : y) * d;
    }
    return sum / (RAMP_VALUES * (RAMP_VALUES + 1) / 2);
}

/* Move what lies at a place of sorted values, and is another value from now on, to where it belongs. */
static void move_to_place(double *values, uint32_t count, uint32_t at, double value)
{
    for (; at + 1 < count && values[at + 1] < value; at++)
        values[at] = values[at + 1];
    for (; at > 0 && values[at - 1] > value; at--)
        values[at] = values[at - 1];
    values[at] = value;
}

/* The newest value comes among those of each scale, where it takes the place of the oldest: they stay sorted,
 * which is less than to sort them again. */
static void order_newest(struct trend *trend)
{
    double newest = log_of(trend, trend->count - 1);
    for (uint32_t i = 0; i < SCALES; i++) {
        uint32_t m = scale_values[i], at = 0;
        double *values = trend->ordered[i];
        if (trend->count <= m) {
            at = (uint32_t)trend->count - 1;
            move_to_place(values, at + 1, at, newest);
            continue;
        }
        double oldest = log_of(trend, trend->count - 1 - m);
        while (at + 1 < m && values[at] < oldest)
            at++;
        move_to_place(values, m, at, newest);
    }
}

/* The second largest of the values before a jump, which one of them that is a spike cannot move. */
static double before_jump(const struct trend *trend)
{
    double largest = -INFINITY, second = -INFINITY;
    for (uint32_t i = 0; i < BEFORE_JUMP; i++) {
        double value = log_of(trend, trend->count - 3 - BEFORE_JUMP + i);
        double lower = value < largest ? value : largest;
        second = lower > second ? lower : second;
        largest = value > largest ? value : largest;
    }
    return second;
}

static void find_statistics(struct trend *trend)
{
    double *stats = trend->stats[(trend->count - 1) % HELD];
    uint64_t usable = trend->count - trend->first;
    order_newest(trend);
    for (uint32_t i = 0; i < SCALES; i++) {
        uint32_t m = scale_values[i];
        bool enough = usable >= m;
        stats[i] = enough ? lower_mean(trend->ordered[i], m) : NAN;
        trend->thirds[i] = enough ? trend->ordered[i][m < 3 ? 0 : m / 3 - 1] : NAN;
    }
    stats[JUMP] = stats[RAMP] = NAN;
    if (usable < 3 + BEFORE_JUMP)
        return;
    stats[JUMP] = stats[1] - before_jump(trend);
    stats[RAMP] = ramp(trend);
}

/* ---- what calm is like --------------------------------------------------- */

static void memory_add(struct memory *memory, double offset, double weight)
{
    double place = offset / BIN_WIDTH + BINS / 2;
    size_t bin = !(place > 0) ? 0 : place >= BINS ? BINS - 1 : (size_t)place;
    if (memory->total == 0 || bin < memory->lowest)
        memory->lowest = bin;
    memory->weights[bin] += (float)weight;
    memory->total += weight;
}

static void memory_scale(struct memory *memory, double factor)
{
    memory->total = 0;
    for (size_t i = 0; i < BINS; i++) {
        memory->weights[i] *= (float)factor;
        memory->total += memory->weights[i];
    }
}

/* Quantiles q, ascending, linear within bins. */
static void memory_quantiles(const struct memory *memory, const double *q, double *out,
                             size_t count)
{
    double below = 0;
    size_t bin = memory->lowest;
    for (size_t i = 0; i < count; i++) {
        double want = q[i] * memory->total;
        while (bin < BINS - 1 && below + memory->weights[bin] < want)
            below += memory->weights[bin++];
        double part = memory->weights[bin] > 0 ? (want - below) / memory->weights[bin] : 0.5;
        part = part < 0 ? 0 : part > 1 ? 1 : part;
        out[i] = ((double)bin + part - BINS / 2.0) * BIN_WIDTH;
    }
}

/* Centre of the histogram of a statistic; jump and ramp are differences. */
static double centre_of(const struct trend *trend, uint32_t statistic)
{
    return statistic >= SCALES ? 0 : trend->centre;
}

/* Correlation of neighbouring values of a normal process of which such a share lies on one side of
 * the median (Sheppard, 1899). */
static double correlation(const struct trend *trend)
{
    double assumed = ASSUMED_NEIGHBOURS * trend->weight;
    double share = (trend->alike + assumed * 2 / 3) / (trend->neighbours + assumed);
    double r = sin(3.14159265358979 * (share - 0.5));
    return fmin(fmax(r, 0), 0.98);
}

static void find_calm(struct trend *trend, uint32_t i)
{
    static const double q[] = {0.16, 0.5, 0.84, 0.95, 0.99, 0.999};
    const struct memory *memory = &trend->memories[i];
    double v[6], values = memory->total / trend->weight;
    double m = i == JUMP ? 3 : i == RAMP ? RAMP_VALUES : scale_values[i];
    double singles = trend->memories[0].total / trend->weight; /* faded a little */
    if (values < 2 * m || singles + 0.5 < trend->params.warm_up / 2)
        return;
    memory_quantiles(memory, q, v, 6);
    double spread = fmax(v[2] - v[1], v[1] - v[0]);
    if (values < 16 || values >= 40) /* of the first a jump may be part, then it is but one value */
        spread = fmax(spread, (v[3] - v[1]) / 1.645);
    if (values >= 200)
        spread = fmax(spread, (v[4] - v[1]) / 2.326);
    /* Of few values, what an autoregression of the single values' spread would do. */
    double r = correlation(trend), alone = (1 + r) / (1 - r);
    double expected = i == 0 ? EXPECTED_SPREAD : trend->calm[0].spread * fmin(1, sqrt(alone / m));
    double n = values / m;
    spread =
        sqrt((n * spread * spread + EXPECTED_VALUES * expected * expected) / (n + EXPECTED_VALUES));
    trend->calm[i].spread = spread;
    /* The base and the spreads themselves are known from so many independent values only. */
    double independent = singles / alone;
    double unsure = i == JUMP ? 0 : trend->calm[0].spread * 1.25 / sqrt(independent);
    double far = (i == RAMP ? FAR_RAMP : FAR) * (1 + FARTHER / values);
    double limit = v[1] + far * sqrt(spread * spread + unsure * unsure);
    if (values >= 2000)
        limit = fmax(limit, v[5] + TAIL * (v[5] - v[4]));
    trend->calm[i].centre = centre_of(trend, i) + v[1];
    trend->calm[i].limit = centre_of(trend, i) + limit;
}

static void remember(struct trend *trend, uint64_t number)
{
    const double *stats = trend->stats[number % HELD];
    for (uint32_t i = 0; i < STATISTICS; i++)
        if (!isnan(stats[i]))
            memory_add(&trend->memories[i], stats[i] - centre_of(trend, i), trend->weight);
    if (!isnan(trend->calm[0].centre) && number > trend->first) {
        int above = log_of(trend, number) > trend->calm[0].centre;
        int above_before = log_of(trend, number - 1) > trend->calm[0].centre;
        trend->alike += above == above_before ? trend->weight : 0;
        trend->neighbours += trend->weight;
    }
    trend->weight *= trend->growth_of_weight;
    if (trend->weight < 0x1p30)
        return;
    for (uint32_t i = 0; i < STATISTICS; i++)
        memory_scale(&trend->memories[i], 1 / trend->weight);
    trend->alike /= trend->weight;
    trend->neighbours /= trend->weight;
    trend->weight = 1;
}

/* Values enter the memories with a delay, so that what is judged is not part of the measure. */
static void remember_calm(struct trend *trend)
{
    if (trend->count < trend->params.warm_up)
        return;
    if (trend->memories[0].total == 0)
        trend->centre = last_median(trend, trend->params.warm_up);
    uint64_t back = trend->count / 2 < HELD_BACK ? trend->count / 2 : HELD_BACK;
    while (trend->remembered + back < trend->count) {
        remember(trend, trend->remembered++);
        double values = trend->memories[0].total / trend->weight;
        if (values < 64 || trend->remembered % 8 == 0)
            for (uint32_t i = 0; i < STATISTICS; i++)
                find_calm(trend, i);
    }
    trend->result.base = exp(trend->calm[0].centre);
    trend->result.band =
        exp(fmax(trend->calm[0].limit, trend->calm[0].centre + log(trend->params.rise)));
}

/* ---- growth -------------------------------------------------------------- */

struct growth {
    double z;
    double slope; /* of the logarithm, a window */
    double rise;  /* of it over the span */
};

/* Test the last values, at most so many and from a number on, for growth: the Mann-Kendall test
 * over medians of blocks. @return whether there are enough */
static int find_growth(const struct trend *trend, uint64_t from, uint64_t most, double correlated,
                       struct growth *out)
{
    double times[BLOCKS], values[BLOCKS];
    uint64_t usable = trend->count - from;
    uint64_t count = usable < most ? usable : most;
    count = count < RECENT ? count : RECENT;
    if (count < LEAST_GROWING)
        return 0;
    uint64_t size = (count + BLOCKS - 1) / BLOCKS, blocks = count / size;
    uint64_t start = trend->count - blocks * size, origin = window_of(trend, start);
    for (uint64_t b = 0; b < blocks; b++) {
        uint64_t at = start + b * size;
        values[b] = median(trend, at, size);
        times[b] = ((double)(window_of(trend, at) - origin) +
                    (double)(window_of(trend, at + size - 1) - origin)) /
                   2;
    }
    struct mann_kendall test;
    if (mann_kendall(&test, times, values, blocks, pow(correlated, (double)size)) != 0)
        return 0;
    double length = (double)(window_of(trend, trend->count - 1) - origin);
    *out = (struct growth){.z = test.z, .slope = test.slope, .rise = test.slope * length};
    return 1;
}

/* Where a step, or a growth along a line, explains most of what lies above the base: of all squares
 * of the last values, (sum y)^2 / n or (sum y d)^2 / sum d^2 with d counted from the onset. */
struct fit {
    uint64_t step, growth; /* numbers of the first values above */
    double step_gain, growth_gain;
};

static void find_fit(const struct trend *trend, double base, uint64_t most, struct fit *out)
{
    double sum = 0, product = 0, squares = 0, top = 1.5 * (last_median(trend, LEVEL_VALUES) - base);
    *out = (struct fit){.step = trend->count - 1, .growth = trend->count - 1};
    for (uint64_t n = 1; n <= most && n <= RECENT && trend->first + n <= trend->count; n++) {
        double y = fmin(fmax(log_of(trend, trend->count - n) - base, -top), top);
        sum += y;
        product += sum; /* every d grows by one, that of the new value is 1 */
        squares += (double)n * (double)n;
        double step = sum > 0 ? sum * sum / (double)n : 0;
        double growth = product > 0 ? product * product / squares : 0;
        if (step > out->step_gain) {
            out->step_gain = step;
            out->step = trend->count - n;
        }
        if (growth > out->growth_gain) {
            out->growth_gain = growth;
            out->growth = trend->count - n;
        }
    }
}

/* ---- from calm ----------------------------------------------------------- */

static void enter(struct trend *trend, enum trend_state state, uint64_t onset, double threshold,
                  uint32_t m)
{
    trend->result.state = state;
    trend->threshold = threshold;
    trend->scale = m;
    trend->span = SPANS;
    trend->onset = onset;
    trend->result.slope = NAN;
    trend->result.onset = trend->result.since = window_of(trend, onset);
}

/* Least rise that is worth telling at a scale; more of a job that has just begun. */
static double least_rise(const struct trend *trend, uint32_t i)
{
    double early = fmax(0, 1 - trend->memories[0].total / trend->weight / EARLY_VALUES);
    double rise = trend->rises[i];
    return fmax(rise, rise + early * (log(EARLY_RISE) - rise));
}

/* Whether the last values of a scale are above the base by so much, and above what calm explains. */
static int is_high(const struct trend *trend, uint32_t i, double rise)
{
    double stat = trend->stats[(trend->count - 1) % HELD][i];
    if (isnan(trend->calm[i].limit))
        return 0;
    double need = fmax(trend->calm[0].centre + rise, trend->calm[i].limit);
    return stat > need && trend->thirds[i] - trend->base > rise;
}

/* Three values that stay above those before, more than calm ever jumps. */
static int has_jumped(const struct trend *trend)
{
    const double *stats = trend->stats[(trend->count - 1) % HELD];
    double rise = least_rise(trend, 1);
    return trend->calm[JUMP].limit < stats[JUMP] && stats[JUMP] > rise / 2 &&
           stats[1] > trend->base + rise && trend->thirds[1] > trend->base + rise;
}

/* Whether of the last three values the last is on its way back to the base. */
static int falls_back(const struct trend *trend)
{
    double highest = fmax(log_of(trend, trend->count - 2), log_of(trend, trend->count - 3));
    double last = log_of(trend, trend->count - 1);
    return last - trend->base < 0.6 * (highest - trend->base);
}

/* A level that is high, whichever way it came there. */
static int judge_level(struct trend *trend)
{
    struct fit fit;
    for (uint32_t i = 1; i < SCALES; i++) {
        uint32_t m = scale_values[i];
        double rise = least_rise(trend, i);
        if (!is_high(trend, i, rise) && !(m == 3 && has_jumped(trend)))
            continue;
        if (m == 3 && falls_back(trend))
            continue;
        find_fit(trend, trend->base, 60 + 4 * (uint64_t)m, &fit);
        int grows = trend->count - fit.growth >= LEAST_GROWING && fit.growth_gain > fit.step_gain;
        enter(trend, grows ? TREND_STATE_GROWTH : TREND_STATE_STEADY, grows ? fit.growth : fit.step,
              rise, m);
        return 1;
    }
    return 0;
}

/* Growth away from the base, before the level as such is high: the last values lie above it as a
 * line would, they have a trend, and a line explains them better than a step. */
static int judge_ramp(struct trend *trend)
{
    double above = trend->stats[(trend->count - 1) % HELD][RAMP], limit = trend->calm[RAMP].limit;
    if (isnan(limit) || !(above > fmax(limit, log(trend->params.growth))))
        return 0;
    struct growth growth;
    struct fit fit;
    for (uint32_t s = 0; s < SPANS; s++) {
        if (!find_growth(trend, trend->first, spans[s], correlation(trend), &growth) ||
            growth.z < GROWING_HIGH)
            continue;
        find_fit(trend, trend->base, 2 * spans[s], &fit);
        if (fit.growth_gain < fit.step_gain)
            continue;
        enter(trend, TREND_STATE_GROWTH, fit.growth, log(trend->params.growth), RAMP_SCALE);
        trend->span = s;
        trend->result.slope = growth.slope;
        return 1;
    }
    return 0;
}

/* Growth in itself: for a series that grew from its beginning, and so has no base. What was learnt
 * of it as calm is wrong, its correlation too. */
static int judge_growth(struct trend *trend)
{
    struct growth growth;
    double rise = (log(trend->params.slow_rise) + log(trend->params.growth)) / 2;
    if (trend->habit > 0 &&
        (double)(trend->last - trend->habit) * trend->params.window_s < HABIT_KEPT_S)
        return 0;
    for (uint32_t s = 1; s < SPANS; s++) {
        if (trend->count % (spans[s] / 12) != 0 || trend->count - trend->first < spans[s] ||
            !find_growth(trend, trend->first, spans[s], MOST_CORRELATED, &growth) ||
            growth.z < growing_alone[s] || growth.rise < rise)
            continue;
        trend->base = fmin(trend->base, last_median(trend, LEVEL_VALUES) - growth.rise);
        enter(trend, TREND_STATE_GROWTH, trend->count - spans[s], growth.rise, RAMP_SCALE);
        trend->span = s;
        trend->result.slope = growth.slope;
        return 1;
    }
    return 0;
}

static void judge(struct trend *trend)
{
    trend->base = trend->calm[0].centre;
    if (isnan(trend->base))
        return;
    if (!judge_level(trend) && !judge_ramp(trend))
        (void)judge_growth(trend);
}

/* ---- while it lasts ------------------------------------------------------ */

static void be_calm(struct trend *trend)
{
    trend->result.state = TREND_STATE_CALM;
    trend->first = trend->remembered = trend->count;
    trend->result.onset = trend->result.since = trend->last;
    trend->result.slope = NAN;
}

/* A level that was left for and come back from several times within an hour is one of the program's
 * own: it becomes part of what calm is like. */
static void note_return(struct trend *trend)
{
    double logs[RECENT];
    uint64_t count = trend->count - trend->onset < RECENT ? trend->count - trend->onset : RECENT;
    sorted(trend, trend->count - count, count, logs);
    for (uint32_t i = RETURNS - 1; i > 0; i--)
        trend->returned[i] = trend->returned[i - 1];
    trend->returned[0] = (struct returned){.end = trend->last,
                                           .level = logs[count / 2],
                                           .high = logs[count * 9 / 10],
                                           .values = (double)(trend->count - trend->onset)};
    const struct returned *oldest = &trend->returned[RETURNS - 1];
    if (oldest->values == 0 ||
        (double)(trend->last - oldest->end) * trend->params.window_s > HABIT_S)
        return;
    for (uint32_t i = 0; i < STATISTICS; i++) {
        struct memory *memory = &trend->memories[i];
        double least = HABIT_SHARE * memory->total,
               zero = i >= SCALES ? trend->base : trend->centre;
        for (uint32_t k = 0; k < RETURNS; k++) {
            double weight = fmax(trend->returned[k].values * trend->weight, least) / 2;
            memory_add(memory, trend->returned[k].level - zero, weight);
            memory_add(memory, trend->returned[k].high - zero, weight);
        }
        find_calm(trend, i);
    }
    trend->habit = trend->last;
    for (uint32_t k = 0; k < RETURNS; k++)
        trend->returned[k] = (struct returned){0};
}

/* The job changed for good: learn anew what calm is. */
static void start_anew(struct trend *trend)
{
    for (uint32_t i = 0; i < STATISTICS; i++) {
        trend->memories[i] = (struct memory){0};
        trend->calm[i] = (struct calm){NAN, NAN, NAN};
    }
    trend->weight = 1;
    be_calm(trend);
    trend->first = trend->remembered = trend->count - HELD_BACK;
    for (uint64_t n = trend->first; n < trend->count; n++)
        trend->stats[n % HELD][RAMP] = NAN; /* they are above the base that was */
}

static void follow_growth(struct trend *trend)
{
    struct growth growth;
    int grows = trend->result.state == TREND_STATE_GROWTH;
    for (uint32_t s = 0; s < SPANS && s <= trend->span; s++) {
        if (s > 0 && trend->count - trend->onset < spans[s] / 2)
            break;
        if (!find_growth(trend, trend->onset, spans[s], correlation(trend), &growth))
            break;
        trend->result.slope = growth.slope;
        if (growth.z < GROWING || growth.rise < log(trend->params.growth))
            continue;
        trend->span = s;
        if (!grows)
            trend->result.since =
                window_of(trend, trend->count - trend->onset < spans[s] ? trend->onset
                                                                        : trend->count - spans[s]);
        trend->result.state = TREND_STATE_GROWTH;
        return;
    }
    if (!grows || trend->span == SPANS)
        return;
    if (!find_growth(trend, trend->onset, spans[trend->span], correlation(trend), &growth) ||
        growth.z > NOT_GROWING)
        return;
    trend->result.state = TREND_STATE_STEADY;
    trend->result.since = window_of(trend, trend->count - spans[trend->span] / 2);
}

static void follow(struct trend *trend)
{
    uint64_t values =
        trend->scale > trend->params.calm_down ? trend->scale : trend->params.calm_down;
    if (last_median(trend, values) < trend->base + trend->threshold / 2) {
        note_return(trend);
        be_calm(trend);
        return;
    }
    follow_growth(trend);
    double lasted = (double)(trend->count - trend->onset);
    if (trend->result.state == TREND_STATE_STEADY && lasted > FOR_GOOD_VALUES &&
        lasted > FOR_GOOD_TIMES * trend->memories[0].total / trend->weight)
        start_anew(trend);
}

int trend_update(struct trend *trend, uint64_t window, double value, uint64_t messages)
{
    if (trend->any && window <= trend->last)
        return -HOLTER_ERANGE;
    trend->any = 1;
    trend->last = window;
    if (!(value > 0) || isinf(value) || messages < trend->params.least)
        return 0;
    trend->windows[trend->count % RECENT] = window;
    trend->logs[trend->count % RECENT] = log(value);
    trend->count++;
    find_statistics(trend);
    struct growth growth;
    if (trend->result.state == TREND_STATE_CALM) {
        judge(trend);
        if (trend->result.state == TREND_STATE_CALM) {
            remember_calm(trend);
            if (trend->count % SLOPE_EVERY == 0 &&
                find_growth(trend, trend->first, spans[0], correlation(trend), &growth))
                trend->result.slope = growth.slope;
        }
    } else {
        follow(trend);
    }
    trend->result.spike = trend->result.state == TREND_STATE_CALM && value > trend->result.band;
    uint64_t last = trend->count < LEVEL_VALUES ? trend->count : LEVEL_VALUES;
    trend->result.level = exp(median(trend, trend->count - last, last));
    trend->result.ratio = trend->result.level / trend->result.base;
    return 0;
}

void trend_result(const struct trend *trend, struct trend_result *out)
{
    *out = trend->result;
    out->slope = exp(trend->result.slope * 60 / trend->params.window_s) - 1;
}

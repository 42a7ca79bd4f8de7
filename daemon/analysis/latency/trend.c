/* Growth and steady periods of a series: judging each value, and following periods: see trend.h. */
#include "daemon/analysis/latency/trend.h"

#include "daemon/analysis/latency/mann_kendall.h"
#include "daemon/analysis/latency/trend_state.h"
#include "holter/error.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* While few values are known, a rise has to be larger than that of a phase of a program: by this
 * ratio at first, falling to the ratios of the parameters after so many values. */
#define EARLY_RISE 2.4
#define EARLY_VALUES 60.0

/* Values that have to be back near the base before growth that was seen by the ramp is over. */
#define RAMP_SCALE 12u

/* Growth is tested for over the last values of each span, in at most so many blocks. */
enum { SPANS = 3, BLOCKS = 20 };
static const uint32_t spans[SPANS] = {60, 240, 960};
#define MINIMUM_GROWING 12u
#define LEVEL_VALUES 5u /* whose median is the level */
#define SLOPE_EVERY 4u  /* values, while calm */
/* Limits of the Mann-Kendall test, in standard deviations: for values that also lie above calm, for
 * values that are known to be high, and for others by span; and below which growth is over. */
#define GROWING_HIGH 2.0
#define GROWING 3.5
static const double growing_alone[SPANS] = {INFINITY, 3.2, 4};
/* Of neighbours, where it is not known: a half over 12 values. */
#define MAXIMUM_CORRELATION 0.944
#define NOT_GROWING 0.5

/* Three periods within an hour that came back to the base are a habit of the program. */
#define HABIT_S 3600.0
#define HABIT_SHARE 0.02 /* of the memory, at least, for each */
#define HABIT_RETENTION_S 14400.0

/* A job has changed for good when it is steady for so many times as long as what is remembered of
 * calm, and for so many values. */
#define FOR_GOOD_TIMES 5.0
#define FOR_GOOD_VALUES 600u

/* From params.rise at 3 values to params.slow_rise at 48. */
static void trend_find_rises(struct trend *trend)
{
    double maximum = log(trend->params.rise), minimum = log(trend->params.slow_rise);
    for (uint32_t i = 0; i < SCALES; i++)
        trend->rises[i] = maximum + log(trend_scales[i] / 3.0) / log(16) * (minimum - maximum);
}

static void trend_clear_calm(struct trend *trend)
{
    trend->calm.centre = trend->calm.spread = NAN;
    for (uint32_t i = 0; i < STATISTICS; i++)
        trend->calm.limits[i] = NAN;
    trend->calm_changed = true;
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
    trend_find_rises(trend);
    trend->weight = 1;
    trend->growth_of_weight = exp2(1 / params->half_life);
    trend->span = SPANS;
    trend_clear_calm(trend);
    trend->result = (struct trend_result){.slope = NAN, .level = NAN, .base = NAN, .ratio = NAN};
    *out = trend;
    return 0;
}

void trend_destroy(struct trend *trend)
{
    free(trend);
}

/* ---- growth -------------------------------------------------------------- */

struct growth {
    double z;
    double slope; /* of the logarithm, a window */
    double rise;  /* of it over the span */
};

/* Test the last values for growth: the Mann-Kendall test over medians of blocks.
 * @param from        number of the first value that may be used
 * @param maximum        values that may be used
 * @param correlated  correlation of neighbouring values
 * @return whether there are enough values */
static int trend_find_growth(const struct trend *trend, uint64_t from, uint64_t maximum,
                             double correlated, struct growth *out)
{
    double times[BLOCKS], values[BLOCKS];
    uint64_t usable = trend->count - from;
    uint64_t count = usable < maximum ? usable : maximum;
    count = count < RECENT ? count : RECENT;
    if (count < MINIMUM_GROWING)
        return 0;
    uint64_t size = (count + BLOCKS - 1) / BLOCKS, blocks = count / size;
    uint64_t start = trend->count - blocks * size, origin = trend_window(trend, start);
    for (uint64_t b = 0; b < blocks; b++) {
        uint64_t at = start + b * size;
        values[b] = trend_median(trend, at, size);
        times[b] = ((double)(trend_window(trend, at) - origin) +
                    (double)(trend_window(trend, at + size - 1) - origin)) /
                   2;
    }
    struct mann_kendall test;
    if (mann_kendall(&test, times, values, blocks, pow(correlated, (double)size)) != 0)
        return 0;
    double length = (double)(trend_window(trend, trend->count - 1) - origin);
    *out = (struct growth){.z = test.z, .slope = test.slope, .rise = test.slope * length};
    return 1;
}

/* The onset of a step, and of growth along a line, that explains most of what lies above the base:
 * of the squares of the last values (sum y)^2 / n, or (sum y d)^2 / sum d^2 with d counted from the
 * onset. */
struct fit {
    uint64_t step, growth; /* numbers of the first values above */
    double step_gain, growth_gain;
};

static void trend_find_fit(const struct trend *trend, double base, uint64_t maximum,
                           struct fit *out)
{
    double sum = 0, product = 0, squares = 0,
           top = 1.5 * (trend_last_median(trend, LEVEL_VALUES) - base);
    *out = (struct fit){.step = trend->count - 1, .growth = trend->count - 1};
    for (uint64_t n = 1; n <= maximum && n <= RECENT && trend->first + n <= trend->count; n++) {
        double y = fmin(fmax(trend_log(trend, trend->count - n) - base, -top), top);
        sum += y;
        product += sum; /* every d grows by one; that of the value added here is 1 */
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

static void trend_enter_period(struct trend *trend, enum trend_state state, uint64_t onset,
                               double threshold, uint32_t m)
{
    trend->result.state = state;
    trend->threshold = threshold;
    trend->scale = m;
    trend->span = SPANS;
    trend->onset = onset;
    trend->result.slope = NAN;
    trend->result.onset = trend->result.since = trend_window(trend, onset);
}

/* How early it is in a job, from 1 down to 0: the earlier, the larger a rise has to be. */
static double trend_earliness(const struct trend *trend)
{
    return fmax(0, 1 - trend->singles / trend->weight / EARLY_VALUES);
}

/* Smallest rise that is reported at a scale; a logarithm. */
static double trend_minimum_rise(const struct trend *trend, uint32_t i)
{
    double rise = trend->rises[i];
    return fmax(rise, rise + trend_earliness(trend) * (log(EARLY_RISE) - rise));
}

/* Whether the last values of a scale are above what calm explains, and above the base by enough. */
static int trend_is_high(const struct trend *trend, const double *stats, uint32_t i)
{
    if (!(stats[i] > trend->calm.limits[i]))
        return 0;
    double rise = trend_minimum_rise(trend, i);
    return stats[i] > trend->calm.centre + rise && trend->thirds[i] - trend->base > rise;
}

/* Whether the last three values are above those before by more than calm ever jumps. */
static int trend_has_jumped(const struct trend *trend, const double *stats)
{
    if (!(stats[JUMP] > trend->calm.limits[JUMP]))
        return 0;
    double rise = trend_minimum_rise(trend, 1);
    return stats[JUMP] > rise / 2 && stats[1] > trend->base + rise &&
           trend->thirds[1] > trend->base + rise;
}

/* Whether of the last three values the last is on its way back to the base. */
static int trend_falls_back(const struct trend *trend)
{
    double highest = fmax(trend_log(trend, trend->count - 2), trend_log(trend, trend->count - 3));
    double last = trend_log(trend, trend->count - 1);
    return last - trend->base < 0.6 * (highest - trend->base);
}

/* Enter a period when the level is high, whether by a step or by growth. @return whether it is */
static int trend_judge_level(struct trend *trend)
{
    const double *stats = trend_last_stats(trend);
    struct fit fit;
    for (uint32_t i = 1; i < SCALES; i++) {
        uint32_t m = trend_scales[i];
        if (!trend_is_high(trend, stats, i) && !(m == 3 && trend_has_jumped(trend, stats)))
            continue;
        if (m == 3 && trend_falls_back(trend))
            continue;
        trend_find_fit(trend, trend->base, 60 + 4 * (uint64_t)m, &fit);
        int grows = trend->count - fit.growth >= MINIMUM_GROWING && fit.growth_gain > fit.step_gain;
        trend_enter_period(trend, grows ? TREND_STATE_GROWTH : TREND_STATE_STEADY,
                           grows ? fit.growth : fit.step, trend_minimum_rise(trend, i), m);
        return 1;
    }
    return 0;
}

/* Enter growth before the level as such is high: the last values lie above the base as a line
 * would, they have a trend, and a line explains them better than a step. @return whether it did */
static int trend_judge_ramp(struct trend *trend)
{
    double above = trend_last_stats(trend)[RAMP];
    if (!(above > trend->calm.limits[RAMP]) || !(above > log(trend->params.growth)))
        return 0;
    struct growth growth;
    struct fit fit;
    for (uint32_t s = 0; s < SPANS; s++) {
        if (!trend_find_growth(trend, trend->first, spans[s], trend_correlation(trend), &growth) ||
            growth.z < GROWING_HIGH)
            continue;
        trend_find_fit(trend, trend->base, 2 * spans[s], &fit);
        if (fit.growth_gain < fit.step_gain)
            continue;
        trend_enter_period(trend, TREND_STATE_GROWTH, fit.growth, log(trend->params.growth),
                           RAMP_SCALE);
        trend->span = s;
        trend->result.slope = growth.slope;
        return 1;
    }
    return 0;
}

/* Enter growth by its trend alone: for a series that grew from its beginning, and so has no base.
 * What was learnt as calm is wrong then, its correlation too. @return whether it did */
static int trend_judge_growth(struct trend *trend)
{
    struct growth growth;
    if (trend->habit > 0 &&
        (double)(trend->last - trend->habit) * trend->params.window_s < HABIT_RETENTION_S)
        return 0;
    for (uint32_t s = 1; s < SPANS; s++) {
        if (trend->count % (spans[s] / 12) != 0 || trend->count - trend->first < spans[s] ||
            !trend_find_growth(trend, trend->first, spans[s], MAXIMUM_CORRELATION, &growth) ||
            growth.z < growing_alone[s] ||
            growth.rise < (log(trend->params.slow_rise) + log(trend->params.growth)) / 2)
            continue;
        trend->base = fmin(trend->base, trend_last_median(trend, LEVEL_VALUES) - growth.rise);
        trend_enter_period(trend, TREND_STATE_GROWTH, trend->count - spans[s], growth.rise,
                           RAMP_SCALE);
        trend->span = s;
        trend->result.slope = growth.slope;
        return 1;
    }
    return 0;
}

static void trend_judge_value(struct trend *trend)
{
    trend->base = trend->calm.centre;
    if (isnan(trend->base))
        return;
    if (!trend_judge_level(trend) && !trend_judge_ramp(trend))
        (void)trend_judge_growth(trend);
}

/* ---- while it lasts ------------------------------------------------------ */

static void trend_become_calm(struct trend *trend)
{
    trend->result.state = TREND_STATE_CALM;
    trend->first = trend->remembered = trend->count;
    trend->result.onset = trend->result.since = trend->last;
    trend->result.slope = NAN;
}

/* A level that the series went to and came back from several times within an hour is a phase of the
 * program: it becomes part of what calm is like. */
static void trend_note_return(struct trend *trend)
{
    double logs[RECENT];
    uint64_t count = trend->count - trend->onset < RECENT ? trend->count - trend->onset : RECENT;
    trend_sorted(trend, trend->count - count, count, logs);
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
        double minimum = HABIT_SHARE * memory->total,
               zero = i >= SCALES ? trend->base : trend->centre;
        for (uint32_t k = 0; k < RETURNS; k++) {
            double weight = fmax(trend->returned[k].values * trend->weight, minimum) / 2;
            trend_memory_add(memory, trend->returned[k].level - zero, weight);
            trend_memory_add(memory, trend->returned[k].high - zero, weight);
        }
    }
    trend->singles = trend->memories[0].total;
    trend_find_calm(trend);
    trend->habit = trend->last;
    for (uint32_t k = 0; k < RETURNS; k++)
        trend->returned[k] = (struct returned){0};
}

/* The job has changed for good: learn from scratch what calm is. */
static void trend_relearn_calm(struct trend *trend)
{
    trend_clear_calm(trend);
    memset(trend->memories, 0, sizeof(trend->memories));
    trend->singles = 0;
    trend->weight = 1;
    trend_become_calm(trend);
    trend->first = trend->remembered = trend->count - HELD_BACK;
    for (uint64_t n = trend->first; n < trend->count; n++)
        trend->stats[n % HELD][RAMP] = NAN; /* they refer to the former base */
}

static void trend_follow_growth(struct trend *trend)
{
    struct growth growth;
    int grows = trend->result.state == TREND_STATE_GROWTH;
    for (uint32_t s = 0; s < SPANS && s <= trend->span; s++) {
        if (s > 0 && trend->count - trend->onset < spans[s] / 2)
            break;
        if (!trend_find_growth(trend, trend->onset, spans[s], trend_correlation(trend), &growth))
            break;
        trend->result.slope = growth.slope;
        if (growth.z < GROWING || growth.rise < log(trend->params.growth))
            continue;
        trend->span = s;
        if (!grows)
            trend->result.since = trend_window(trend, trend->count - trend->onset < spans[s]
                                                          ? trend->onset
                                                          : trend->count - spans[s]);
        trend->result.state = TREND_STATE_GROWTH;
        return;
    }
    if (!grows || trend->span == SPANS)
        return;
    if (!trend_find_growth(trend, trend->onset, spans[trend->span], trend_correlation(trend),
                           &growth) ||
        growth.z > NOT_GROWING)
        return;
    const uint64_t half = spans[trend->span] / 2, lasted = trend->count - trend->onset;
    trend->result.state = TREND_STATE_STEADY;
    trend->result.since = trend_window(trend, trend->count - (half < lasted ? half : lasted));
}

static void trend_follow_period(struct trend *trend)
{
    uint64_t values =
        trend->scale > trend->params.calm_down ? trend->scale : trend->params.calm_down;
    if (trend_last_median(trend, values) < trend->base + trend->threshold / 2) {
        trend_note_return(trend);
        trend_become_calm(trend);
        return;
    }
    trend_follow_growth(trend);
    double lasted = (double)(trend->count - trend->onset);
    if (trend->result.state == TREND_STATE_STEADY && lasted > FOR_GOOD_VALUES &&
        lasted > FOR_GOOD_TIMES * trend->singles / trend->weight)
        trend_relearn_calm(trend);
}

int trend_update(struct trend *trend, uint64_t window, double value, uint64_t messages)
{
    if (trend->started && window <= trend->last)
        return -HOLTER_ERANGE;
    trend->started = true;
    trend->last = window;
    if (!(value > 0) || isinf(value) || messages < trend->params.minimum_messages)
        return 0;
    trend_add_value(trend, window, log(value));
    trend_find_statistics(trend);
    struct growth growth;
    if (trend->result.state == TREND_STATE_CALM) {
        trend_judge_value(trend);
        if (trend->result.state == TREND_STATE_CALM) {
            trend_remember_calm(trend);
            if (trend->params.calm_slope && trend->count % SLOPE_EVERY == 0 &&
                trend_find_growth(trend, trend->first, spans[0], 0,
                                  &growth)) /* for the slope only */
                trend->result.slope = growth.slope;
        }
    } else {
        trend_follow_period(trend);
    }
    return 0;
}

int trend_is_calm(const struct trend *trend)
{
    return trend->result.state == TREND_STATE_CALM;
}

void trend_result(const struct trend *trend, struct trend_result *out)
{
    uint64_t last = trend->count < LEVEL_VALUES ? trend->count : LEVEL_VALUES;
    *out = trend->result;
    out->level = last == 0 ? NAN : exp(trend_median(trend, trend->count - last, last));
    out->ratio = out->level / out->base;
    out->slope = exp(trend->result.slope * 60 / trend->params.window_s) - 1;
}

void trend_copy_state(struct state_bytes *b, struct trend **trend)
{
    (void)STATE_OBJECT(b, *trend);
}

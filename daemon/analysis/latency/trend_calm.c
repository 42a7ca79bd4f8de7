/* Statistics of the last values, and what they are like in calm. */
#include "daemon/analysis/latency/trend_state.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define RAMP_VALUES 60u
#define RAMP_CLIP 3.0 /* spreads of single values that the statistic of growth counts at most */
#define CALM_EVERY 8u /* values, once many are known */
#define BEFORE_JUMP 6u
#define BIN_WIDTH 0.02

/* Spreads above the centre up to which a value is noise; fewer for the ramp, which has to show a
 * trend besides. Where many values are known, the tail that was seen is extended by TAIL. */
#define FAR 5.0
#define FAR_RAMP 4.5
#define TAIL 2.5
/* While few values are known, limits are farther away by this share over their number, as quantiles
 * of Student's distribution are. */
#define FARTHER 2.0
/* The spread of single values that is expected before calm is known, and for how many independent
 * values this expectation counts. */
#define EXPECTED_SPREAD 0.12
#define EXPECTED_VALUES 6.0
/* Pairs of neighbours that are assumed from the beginning, with a correlation of a half. */
#define ASSUMED_NEIGHBOURS 10.0

/* Extend sorted values by those from one number of the series on. */
static void trend_insert_values(const struct trend *trend, double *sorted, uint64_t sorted_count,
                                uint64_t from, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        const double value = trend_log(trend, from + i);
        uint64_t at = sorted_count + i;
        for (; at > 0 && sorted[at - 1] > value; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = value;
    }
}

void trend_sorted(const struct trend *trend, uint64_t from, uint64_t count, double *out)
{
    trend_insert_values(trend, out, 0, from, count);
}

double trend_median(const struct trend *trend, uint64_t from, uint64_t count)
{
    double values[RECENT];
    trend_sorted(trend, from, count, values);
    return count == 0 ? NAN : (values[(count - 1) / 2] + values[count / 2]) / 2;
}

double trend_last_median(const struct trend *trend, uint64_t maximum)
{
    uint64_t usable = trend->count - trend->first;
    uint64_t count = usable < maximum ? usable : maximum;
    return trend_median(trend, trend->count - count, count);
}

void trend_add_value(struct trend *trend, uint64_t window, double value)
{
    trend->windows[trend->count % RECENT] = window;
    trend->logs[trend->count % RECENT] = value;
    trend->count++;
}

/* Mean of the m values from the m / 6-th to the 2 m / 3-th smallest: one in three may be a spike,
 * one in six a dip. */
static double trend_lower_mean(const double *sorted, uint32_t m)
{
    uint32_t from = m / 6, to = m < 3 ? 1 : 2 * m / 3;
    double sum = 0;
    for (uint32_t k = from; k < to; k++)
        sum += sorted[k];
    return sum / (to - from);
}

/* How far the last values lie above the base, with the weights of growth that began with the first
 * of them. NaN: there are too few values, or the base is not known. */
static double trend_ramp(const struct trend *trend)
{
    const double centre = trend->calm.centre, maximum = RAMP_CLIP * trend->calm.spread;
    if (isnan(centre) || trend->count - trend->first < RAMP_VALUES)
        return NAN;
    double sum = 0;
    for (uint32_t d = 1; d <= RAMP_VALUES; d++) {
        double y = trend_log(trend, trend->count - RAMP_VALUES + d - 1) - centre;
        double low = y < -maximum ? -maximum : y;
        sum += (low > maximum ? maximum : low) * d;
    }
    return sum / (RAMP_VALUES * (RAMP_VALUES + 1) / 2.0);
}

/* The second largest of the values before a jump, so that a single spike does not count. */
static double trend_before_jump(const struct trend *trend)
{
    double largest = -INFINITY, second = -INFINITY;
    for (uint32_t i = 0; i < BEFORE_JUMP; i++) {
        double value = trend_log(trend, trend->count - 3 - BEFORE_JUMP + i);
        double lower = value < largest ? value : largest;
        second = lower > second ? lower : second;
        largest = value > largest ? value : largest;
    }
    return second;
}

void trend_find_statistics(struct trend *trend)
{
    double sorted[MAXIMUM_SCALE];
    uint32_t sorted_count = 0;
    double *stats = trend_last_stats(trend);
    uint64_t usable = trend->count - trend->first;
    for (uint32_t i = 0; i < SCALES; i++) {
        const uint32_t m = trend_scales[i];
        stats[i] = trend->thirds[i] = NAN;
        if (usable < m)
            continue;
        trend_insert_values(trend, sorted, sorted_count, trend->count - m, m - sorted_count);
        sorted_count = m;
        stats[i] = trend_lower_mean(sorted, m);
        trend->thirds[i] = sorted[m < 3 ? 0 : m / 3 - 1];
    }
    stats[JUMP] = stats[RAMP] = NAN;
    if (usable < 3 + BEFORE_JUMP)
        return;
    stats[JUMP] = stats[1] - trend_before_jump(trend);
    stats[RAMP] = trend_ramp(trend);
}

/* ---- what calm is like --------------------------------------------------- */

void trend_memory_add(struct memory *memory, double offset, double weight)
{
    double place = offset / BIN_WIDTH + BINS / 2.0;
    size_t bin = !(place > 0) ? 0 : place >= BINS ? BINS - 1 : (size_t)place;
    if (memory->total == 0 || bin < memory->lowest)
        memory->lowest = bin;
    memory->weights[bin] += (float)weight;
    memory->total += weight;
}

static void trend_memory_scale(struct memory *memory, double factor)
{
    memory->total = 0;
    for (size_t i = 0; i < BINS; i++) {
        memory->weights[i] *= (float)factor;
        memory->total += memory->weights[i];
    }
}

/* Find quantiles q, which ascend; linear within bins. */
static void trend_memory_quantiles(const struct memory *memory, const double *q, double *out,
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

/* Centre of a statistic's histogram; 0 for jump and ramp, which are differences. */
static double trend_memory_centre(const struct trend *trend, uint32_t statistic)
{
    return statistic >= SCALES ? 0 : trend->centre;
}

double trend_correlation(const struct trend *trend)
{
    double assumed = ASSUMED_NEIGHBOURS * trend->weight;
    double share = (trend->alike + assumed * 2 / 3) / (trend->neighbours + assumed);
    double r = sin(3.14159265358979 * (share - 0.5));
    return fmin(fmax(r, 0), 0.98);
}

/* Find the limit of a statistic.
 * @param r  correlation of neighbours */
static void trend_find_limit(struct trend *trend, uint32_t i, double r)
{
    static const double q[] = {0.16, 0.5, 0.84, 0.95, 0.99, 0.999};
    const struct memory *memory = &trend->memories[i];
    double v[6], values = memory->total / trend->weight;
    double m = i == JUMP ? 3 : i == RAMP ? RAMP_VALUES : trend_scales[i];
    double singles =
        trend->memories[0].total / trend->weight; /* weights below 1 for older values */
    if (values < 2 * m || singles + 0.5 < floor(trend->params.warm_up / 2.0))
        return;
    trend_memory_quantiles(memory, q, v, 6);
    double spread = fmax(v[2] - v[1], v[1] - v[0]);
    if (values < 16 ||
        values >= 40) /* among the first values a jump would be many of them, later one */
        spread = fmax(spread, (v[3] - v[1]) / 1.645);
    if (values >= 200)
        spread = fmax(spread, (v[4] - v[1]) / 2.326);
    /* For few values, mix in what an autoregression with the spread of single values would do. */
    double alone = (1 + r) / (1 - r);
    double expected = i == 0 ? EXPECTED_SPREAD : trend->calm.spread * fmin(1, sqrt(alone / m));
    double n = values / m;
    spread =
        sqrt((n * spread * spread + EXPECTED_VALUES * expected * expected) / (n + EXPECTED_VALUES));
    if (i == 0) {
        trend->calm.spread = spread;
        trend->calm.centre = trend->centre + v[1];
        trend->calm_changed = true;
    }
    /* The base and the spreads are themselves estimated, from so many independent values. */
    double independent = singles / alone;
    double unsure = i == JUMP ? 0 : trend->calm.spread * 1.25 / sqrt(independent);
    double far = (i == RAMP ? FAR_RAMP : FAR) * (1 + FARTHER / values);
    double limit = v[1] + far * sqrt(spread * spread + unsure * unsure);
    if (values >= 2000)
        limit = fmax(limit, v[5] + TAIL * (v[5] - v[4]));
    trend->calm.limits[i] = trend_memory_centre(trend, i) + limit;
}

void trend_find_calm(struct trend *trend)
{
    const double r = trend_correlation(trend);
    for (uint32_t i = 0; i < STATISTICS; i++)
        trend_find_limit(trend, i, r);
}

static void trend_memorise_statistics(struct trend *trend, uint64_t number, double weight)
{
    const double *stats = trend->stats[number % HELD];
    for (uint32_t i = 0; i < STATISTICS; i++)
        if (!isnan(stats[i]))
            trend_memory_add(&trend->memories[i], stats[i] - trend_memory_centre(trend, i), weight);
    if (!isnan(trend->calm.centre) && number > trend->first) {
        int above = trend_log(trend, number) > trend->calm.centre;
        int above_before = trend_log(trend, number - 1) > trend->calm.centre;
        trend->alike += above == above_before ? weight : 0;
        trend->neighbours += weight;
    }
}

/* Divide all weights by the newest one, so that they do not become too large. */
static void trend_scale_weights(struct trend *trend)
{
    for (uint32_t i = 0; i < STATISTICS; i++)
        trend_memory_scale(&trend->memories[i], 1 / trend->weight);
    trend->alike /= trend->weight;
    trend->neighbours /= trend->weight;
    trend->singles = trend->memories[0].total;
    trend->weight = 1;
}

/* One more value enters the memories. What calm is like changes slowly: where many values are
 * known it is found again every few of them. */
static void trend_memorise_value(struct trend *trend)
{
    trend_memorise_statistics(trend, trend->remembered, trend->weight);
    trend->remembered++;
    trend->singles += trend->weight;
    trend->weight *= trend->growth_of_weight;
    if (!(trend->weight < 0x1p30))
        trend_scale_weights(trend);
    if (trend->singles / trend->weight < 64 || trend->remembered % CALM_EVERY == 0)
        trend_find_calm(trend);
}

void trend_remember_calm(struct trend *trend)
{
    if (trend->count < trend->params.warm_up)
        return;
    if (trend->singles == 0)
        trend->centre = trend_last_median(trend, trend->params.warm_up);
    uint64_t back = trend->count / 2 < HELD_BACK ? trend->count / 2 : HELD_BACK;
    while (trend->remembered + back < trend->count)
        trend_memorise_value(trend);
    if (!trend->calm_changed)
        return;
    trend->calm_changed = false;
    trend->result.base = exp(trend->calm.centre);
}

/* What all messages of a locality deviate by together, from window to window. It lasts as an
 * autoregressive process of first order, and much of it is common to both localities: where
 * messages within nodes take as long as before, those between nodes are expected to, too. A step
 * beyond what is expected after the window before is no noise. */
#include "daemon/analysis/scopes/scopes_state.h"

#include <math.h>
#include <string.h>

/* With half and double of FIRST_VARIANCE, and half of PRIOR_WINDOWS, by 10 seeds (--first 660000)
 * each of a node, a pair and calm jobs in the plane with common noise, a node with heavy tails and
 * four nodes, the same are named. */
#define FIRST_VARIANCE 0.0045 /* that is assumed before any is known */
#define PRIOR_WINDOWS 5       /* that the first variance weighs as much as */
/* Autocorrelation from one window to the next that is made use of. From few windows, and against
 * references that were learned from them, it is estimated too low (F. H. C. Marriott and
 * J. A. Pope, 1954). */
#define MINIMUM_LAG 0.4
#define MAXIMUM_LAG 0.9
#define FAR 5.0 /* standard deviations: the other locality counts up to this */

void scopes_init_levels(struct scopes *s)
{
    const struct scope_level first = {.variance = FIRST_VARIANCE, .lag = FIRST_VARIANCE / 2};
    for (uint32_t l = 0; l < LEVELS; l++)
        s->common[l] = first;
    for (uint32_t l = 0; l < LOCALITIES; l++) {
        s->apart[l] = first;
        s->square[l] = FIRST_VARIANCE;
    }
}

static void level_observe(struct scope_level *level, double deviation, double error)
{
    memmove(level->deviations + 1, level->deviations,
            sizeof(level->deviations) - sizeof(level->deviations[0]));
    level->deviations[0] = deviation;
    level->error = error;
    level->seen++;
}

/* Have the last two windows deviated by enough for a finding? */
static bool level_lasts(const struct scope_level *level, double least)
{
    return level->deviations[0] >= least / 2 && level->deviations[1] >= least / 2;
}

/* Autocorrelation from one window to the next, without the bias of its estimate (Marriott and
 * Pope): by (1 + 3 lag) / windows too low. */
static double level_estimate_lag(const struct scope_level *level)
{
    const double windows = level->learned + PRIOR_WINDOWS;
    return (level->lag / level->variance + 1 / windows) / (1 - 3 / windows);
}

static double level_lag(const struct scope_level *level)
{
    return fmin(fmax(level_estimate_lag(level), MINIMUM_LAG), MAXIMUM_LAG);
}

/* The variance is known from few windows only, and the longer noise lasts, the less of a window is
 * new: the threshold is that of Student's distribution, by the first term of its expansion about
 * the normal one (R. A. Fisher and E. A. Cornish, 1960). */
double scopes_level_threshold(const struct scope_level *level, double threshold)
{
    const double lag = level_lag(level);
    const double known =
        fmin(level->learned * (1 - lag * lag) + PRIOR_WINDOWS, SCOPE_SPREAD_MEMORY);
    return threshold + threshold * (threshold * threshold + 1) / (4 * known);
}

/* Is a step two windows ago, or some more, significant against what was expected after the window
 * before it, and worth a finding? By generalised least squares: the first window after the step
 * shows the whole of it, each later one what the noise of the one before does not account for. The
 * errors of references are the same before and after: they do not count. */
static bool level_steps(const struct scope_level *level, double least, double threshold)
{
    const double *x = level->deviations;
    const double limit = scopes_level_threshold(level, threshold);
    const double lag = level_lag(level), fresh = 1 - lag;
    /* Of what the window before does not account for, also where the lag is a bound. Both estimates
     * may contradict each other: then it is as if the lag were the estimate. */
    const double noise =
        level->variance * fmax(1 + lag * lag - 2 * lag * level_estimate_lag(level), 1 - lag * lag);
    double later = fresh * (x[0] - lag * x[1]), scale = 1;
    for (uint32_t windows = 2; windows < LEVEL_WINDOWS && windows < level->seen; windows++) {
        const double first = x[windows - 1] - lag * x[windows];
        scale += fresh * fresh;
        const double step = (first + later) / scale;
        if (step >= least && step >= limit * sqrt(noise / scale + 2 * level->error))
            return level_lasts(level, least);
        later += fresh * first;
    }
    return false;
}

/* Take the window before the newest one: a fault that begins is not seen at once. */
static void level_hold(struct scope_level *level)
{
    const double limit = SCOPE_SPREAD_CLIP * (level->variance + level->error);
    level->square += fmin(level->deviations[1] * level->deviations[1], limit) - level->error;
    level->product += fmin(fmax(level->deviations[2] * level->deviations[1], -limit), limit);
    level->held++;
}

static void level_drop(struct scope_level *level)
{
    level->square = level->product = 0;
    level->held = 0;
}

/* Learn from the windows that are held. @param rate  of one window */
static void level_learn(struct scope_level *level, double rate)
{
    const double whole = 1 - pow(1 - rate, level->held);
    level->variance =
        fmax(level->variance + whole * (level->square / level->held - level->variance),
             SCOPE_LEAST_SPREAD);
    level->lag += whole * (level->product / level->held - level->lag);
    level->learned += level->held;
    level_drop(level);
}

/* How much of the other locality's deviation a locality has, too. */
static double level_share(const struct scopes *s, uint32_t l)
{
    return fmin(fmax(s->together / s->square[1 - l], 0), 1);
}

/* The part of a locality's deviation, some windows ago, that the other one does not share. */
static double level_apart(const struct scopes *s, uint32_t l, uint32_t ago)
{
    const struct scope_level *other = &s->common[1 - l];
    const double limit = FAR * sqrt(other->variance + other->error);
    return s->common[l].deviations[ago] -
           level_share(s, l) * fmin(fmax(other->deviations[ago], -limit), limit);
}

/* Is a finding about transfers open? */
static bool levels_are_disturbed(const struct scopes *s)
{
    bool open = false;
    for (uint32_t f = 0; f < s->open_count; f++)
        open |= s->open[f].finding.part == SCOPE_TRANSFER;
    return open;
}

/* Does a finding explain all messages of a locality, with what is common to them? */
static bool levels_are_explained(const struct scopes *s)
{
    for (uint32_t f = 0; f < s->open_count; f++) {
        const struct scope_finding *finding = &s->open[f].finding;
        if (finding->part == SCOPE_TRANSFER && finding->members[0].kind <= SCOPE_INTER)
            return true;
    }
    return false;
}

static void levels_find_steps(struct scopes *s)
{
    const double least = log(SCOPE_MINIMUM), threshold = scopes_threshold(s, TABLE_LOCALITY);
    for (uint32_t l = 0; l < LEVELS; l++)
        s->common[l].steps = level_steps(&s->common[l], least, threshold);
    for (uint32_t l = 0; l < LOCALITIES; l++)
        s->common[l].steps |=
            level_lasts(&s->common[l], least) && level_steps(&s->apart[l], least, threshold);
}

/* Has a locality, or the job, messages in the windows that are summed up? */
static bool levels_have(const struct scopes *s, uint32_t l)
{
    const struct scope_sum *sum = &s->tables[TABLE_LOCALITY].sums[l];
    return sum->weight[LOCALITY_INTRA] + sum->weight[LOCALITY_INTER] > 0;
}

/* Windows without messages lie between those that follow each other, unless there are many. */
void scopes_follow_levels(struct scopes *s)
{
    const struct scope_table *table = &s->tables[TABLE_LOCALITY];
    const bool has[LOCALITIES] = {levels_have(s, 0), levels_have(s, 1)};
    const bool both = has[0] && has[1] && !levels_are_explained(s);
    for (uint32_t l = 0; l < LEVELS; l++) {
        struct scope_level *level = &s->common[l];
        struct scope_estimate e;
        if (s->windows - table->tracks[l].last > SCOPE_IDLE)
            level->seen = 0;
        if (scopes_estimate(s, TABLE_LOCALITY, l, &e))
            level_observe(level, e.effect,
                          1 / (table->sums[l].weight[0] + table->sums[l].weight[1]));
    }
    for (uint32_t l = 0; l < LOCALITIES; l++) {
        const struct scope_level *common = &s->common[l], *other = &s->common[1 - l];
        const double share = level_share(s, l);
        if (both)
            level_observe(&s->apart[l], level_apart(s, l, 0),
                          common->error + share * share * other->error);
        else if (has[0] || has[1] || common->seen == 0)
            s->apart[l].seen = 0;
    }
    levels_find_steps(s);
}

void scopes_revise_levels(struct scopes *s, uint32_t first)
{
    uint32_t at[LEVELS] = {0};
    for (uint32_t w = s->windows; w + 1 > first; w--) {
        scopes_sum_windows(s, w, w);
        for (uint32_t l = 0; l < LEVELS; l++) {
            struct scope_estimate e;
            if (at[l] < LEVEL_WINDOWS && scopes_estimate(s, TABLE_LOCALITY, l, &e))
                s->common[l].deviations[at[l]++] = e.effect;
        }
    }
    for (uint32_t ago = 0; ago < LEVEL_WINDOWS && ago < at[0] && ago < at[1]; ago++) {
        for (uint32_t l = 0; l < LOCALITIES; l++)
            s->apart[l].deviations[ago] = level_apart(s, l, ago);
    }
    levels_find_steps(s);
}

/* What deviates for long may be a fault, and is not learned as noise; but if it ends without a
 * finding it was noise, and to leave it out would make noise that lasts look smaller than it is. */
void scopes_learn_levels(struct scopes *s)
{
    const struct scope_track *tracks = s->tables[TABLE_LOCALITY].tracks;
    bool calm[LEVELS];
    for (uint32_t l = 0; l < LEVELS; l++) {
        const bool known = levels_have(s, l) && s->common[l].seen > 2;
        calm[l] = known && tracks[l].cusum < SCOPE_EXCURSION;
        if (levels_are_disturbed(s))
            level_drop(&s->common[l]);
        if (known)
            level_hold(&s->common[l]);
        if (calm[l])
            level_learn(&s->common[l], scope_rate(s->windows + PRIOR_WINDOWS, SCOPE_SPREAD_MEMORY));
    }
    if (!calm[0] || !calm[1] || s->apart[0].seen <= 2)
        return;
    const uint32_t learned = s->apart[0].learned;
    const double rate = scope_rate(learned, SCOPE_SPREAD_MEMORY);
    double values[LOCALITIES];
    for (uint32_t l = 0; l < LOCALITIES; l++) {
        const double limit = FAR * sqrt(s->common[l].variance + s->common[l].error);
        values[l] = fmin(fmax(s->common[l].deviations[1], -limit), limit);
        s->square[l] += rate * (values[l] * values[l] - s->square[l]);
        level_hold(&s->apart[l]);
        level_learn(&s->apart[l], scope_rate(learned + 2, SCOPE_SPREAD_MEMORY));
    }
    s->together += rate * (values[0] * values[1] - s->together);
}

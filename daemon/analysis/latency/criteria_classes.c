/* Criteria of all size classes of a locality, interpolated between those that had messages. */
#include "daemon/analysis/latency/criteria_state.h"

#include <math.h>
#include <string.h>

/* Bytes that take as long as the latency of a message alone: where measured lines bend. */
#define LATENCY_BYTES 4096.0

/* Slope of the line through two classes, within the limits of an extrapolation beyond them. */
static double classes_limit_slope(const double *sizes, const double *known, unsigned at,
                                  unsigned other)
{
    double steepest = known[at] / (sizes[at] + LATENCY_BYTES);
    if (at == other)
        return steepest;
    double slope = (known[other] - known[at]) / (sizes[other] - sizes[at]);
    return fmin(fmax(slope, 0), steepest);
}

/* Fill in the classes whose value is NaN from those that are known.
 * @param slopes  1: extrapolate along a line; 0: with the value of the last known class
 * @return how many classes are known */
static unsigned classes_interpolate(const double *sizes, double *out, const double *known,
                                    int slopes)
{
    unsigned list[SIZE_CLASSES], count = 0;
    for (unsigned s = 0; s < SIZE_CLASSES; s++)
        if (!isnan(known[s]))
            list[count++] = s;
    if (count == 0)
        return 0;
    const unsigned first = list[0], last = list[count - 1];
    double below = 0, beyond = 0;
    if (slopes) {
        below = classes_limit_slope(sizes, known, first, count == 1 ? first : list[1]);
        beyond = classes_limit_slope(sizes, known, last, count == 1 ? last : list[count - 2]);
    }
    for (unsigned s = 0; s < first; s++)
        out[s] = known[first] + below * (sizes[s] - sizes[first]);
    for (unsigned i = 0; i + 1 < count; i++) {
        unsigned a = list[i], b = list[i + 1];
        double apart = sizes[b] - sizes[a], more = known[b] - known[a];
        out[a] = known[a];
        for (unsigned s = a + 1; s < b; s++)
            out[s] = known[a] + (sizes[s] - sizes[a]) / apart * more;
    }
    out[last] = known[last];
    for (unsigned s = last + 1; s < SIZE_CLASSES; s++)
        out[s] = known[last] + beyond * (sizes[s] - sizes[last]);
    return count;
}

/* Recent criteria of a locality from its horizons. @return whether there were any messages */
static int classes_find_recent(const struct criteria *criteria, unsigned locality, double *recent)
{
    double own[SIZE_CLASSES], known[SIZE_CLASSES], expected[SIZE_CLASSES];
    int any = 0, few = 0;
    for (unsigned s = 0; s < SIZE_CLASSES; s++) {
        const struct cell *cell = criteria->cells[locality][s];
        own[s] = cell == NULL ? NAN : cell->own_recent;
        known[s] = isnan(own[s]) || cell->horizon.messages < criteria->params.least ? NAN : own[s];
        any |= !isnan(own[s]);
        few |= !isnan(own[s]) && isnan(known[s]);
    }
    if (!any)
        return 0;
    int strong = few && classes_interpolate(criteria->sizes, expected, known, 1) > 0;
    for (unsigned s = 0; s < SIZE_CLASSES && strong; s++) {
        if (isnan(own[s]) || !isnan(known[s]))
            continue;
        double part =
            (double)criteria->cells[locality][s]->horizon.messages / (double)criteria->params.least;
        own[s] = exp(part * log(own[s]) + (1 - part) * log(expected[s]));
    }
    classes_interpolate(criteria->sizes, recent, own, 1);
    return 1;
}

/* Reference criteria of a locality.
 * @param recent  of the same locality; NULL: there are none
 * @return whether any are known */
static int classes_find_reference(const struct criteria *criteria, unsigned locality,
                                  const double *recent, double *reference)
{
    double own[SIZE_CLASSES], ratio[SIZE_CLASSES];
    for (unsigned s = 0; s < SIZE_CLASSES; s++) {
        const struct cell *cell = criteria->cells[locality][s];
        own[s] = ratio[s] = NAN;
        if (cell == NULL || isnan(cell->own_reference))
            continue;
        own[s] = cell->own_reference;
        if (recent != NULL && cell->horizon.messages > 0)
            ratio[s] = own[s] / recent[s];
    }
    if (recent == NULL)
        return classes_interpolate(criteria->sizes, reference, own, 1) > 0;
    int tied = classes_interpolate(criteria->sizes, ratio, ratio, 0) > 0;
    for (unsigned s = 0; s < SIZE_CLASSES; s++)
        reference[s] = !isnan(own[s]) ? own[s] : recent[s] * (tied ? ratio[s] : 1);
    return 1;
}

static double classes_own_recent(const struct cell *cell)
{
    return cell->horizon.messages == 0 ? NAN : fmax(histogram_quantile(&cell->horizon, 0.5), 1);
}

static double classes_own_reference(const struct criteria *criteria, const struct cell *cell)
{
    double k = criteria->params.reference_quantile * (double)(cell->history.messages - 1);
    return isnan(cell->latest) ? NAN : fmax(histogram_ranked(&cell->history, (uint64_t)k), 1);
}

static int classes_is_unchanged(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Find the medians and quantiles of all cells of a locality, from which its criteria are made.
 * @return whether all are as before, as they often are: times are counted by classes, so a median
 * seldom changes from window to window */
static int classes_find_own(struct criteria *criteria, unsigned locality)
{
    struct used *used = &criteria->used[locality];
    int few_before = used->few, same = 1;
    used->few = 0;
    for (unsigned i = 0; i < used->count; i++) {
        struct cell *cell = criteria->cells[locality][used->of[i]];
        double recent = classes_own_recent(cell), reference = classes_own_reference(criteria, cell);
        same &= classes_is_unchanged(recent, cell->own_recent) &&
                classes_is_unchanged(reference, cell->own_reference);
        used->few |= !isnan(recent) && cell->horizon.messages < criteria->params.least;
        cell->own_recent = recent;
        cell->own_reference = reference;
    }
    return same && !used->few && !few_before;
}

void criteria_find(struct criteria *criteria, unsigned locality)
{
    double *recent = criteria->recent[locality], *reference = criteria->reference[locality];
    criteria->used[locality].changed = !classes_find_own(criteria, locality);
    if (!criteria->used[locality].changed)
        return;
    if (classes_find_recent(criteria, locality, recent))
        classes_find_reference(criteria, locality, recent, reference);
    else if (classes_find_reference(criteria, locality, NULL, reference))
        memcpy(recent, reference, sizeof(criteria->recent[locality]));
    for (unsigned s = 0; s < SIZE_CLASSES; s++) {
        recent[s] = isnan(recent[s]) ? NAN : fmax(recent[s], 1);
        reference[s] = isnan(reference[s]) ? NAN : fmax(reference[s], 1);
    }
}

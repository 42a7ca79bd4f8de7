/* The Mann-Kendall test and the Theil-Sen slope: see mann_kendall.h. */
#include "daemon/analysis/latency/mann_kendall.h"

#include "holter/error.h"

#include <math.h>

#define PAIRS (MANN_KENDALL_MAXIMUM * (MANN_KENDALL_MAXIMUM - 1) / 2)

/* Move the values below a bound, with_equal: or equal to it, to the front. There is no branch on
 * the values, which the processor could not predict.
 * @return position of the first of the other values */
static size_t kendall_partition(double *values, size_t from, size_t to, double bound,
                                int with_equal)
{
    size_t cut = from;
    for (size_t i = from; i < to; i++) {
        double value = values[i];
        values[i] = values[cut];
        values[cut] = value;
        cut += with_equal ? value <= bound : value < bound;
    }
    return cut;
}

static double kendall_middle(double a, double b, double c)
{
    double low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* Find the k-th smallest value. Values are reordered so that none after it is smaller (Hoare,
 * "Algorithm 65: find", 1961). */
static double kendall_select(double *values, size_t count, size_t k)
{
    size_t from = 0, to = count;
    while (to - from > 1) {
        double pivot = kendall_middle(values[from], values[from + (to - from) / 2], values[to - 1]);
        size_t cut = kendall_partition(values, from, to, pivot, 0);
        if (cut == from) { /* the pivot is the smallest: skip all that equal it; or it is NaN */
            cut = kendall_partition(values, from, to, pivot, 1);
            if (k < cut || cut == from)
                break;
        }
        if (k < cut)
            to = cut;
        else
            from = cut;
    }
    return values[k];
}

/* Median; of an even number of values the mean of the two in the middle. */
static double kendall_median(double *values, size_t count)
{
    size_t k = (count - 1) / 2;
    double lower = kendall_select(values, count, k), upper = lower;
    if (count % 2 == 0) {
        upper = values[k + 1];
        for (size_t i = k + 2; i < count; i++)
            upper = values[i] < upper ? values[i] : upper;
    }
    return lower / 2 + upper / 2;
}

/* Sum over groups of t equal values of t (t - 1) (2 t + 5): what ties take from the variance. */
static double kendall_count_ties(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        size_t equal = 0, before = 0;
        for (size_t j = 0; j < count; j++) {
            equal += values[j] == values[i];
            before += j < i && values[j] == values[i];
        }
        if (before == 0)
            sum += (double)equal * (double)(equal - 1) * (double)(2 * equal + 5);
    }
    return sum;
}

int mann_kendall(struct mann_kendall *out, const double *times, const double *values, size_t count,
                 double correlation)
{
    double slopes[PAIRS], s = 0;
    size_t pairs = 0, equal = 0;
    if (count < 3 || count > MANN_KENDALL_MAXIMUM)
        return -HOLTER_ERANGE;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++) {
            s += (values[j] > values[i]) - (values[j] < values[i]);
            equal += values[j] == values[i];
            slopes[pairs++] = (values[j] - values[i]) / (times[j] - times[i]);
        }
    }
    double n = (double)count, r = correlation > 0 ? fmin(correlation, 0.99) : 0;
    double tied = equal == 0 ? 0 : kendall_count_ties(values, count);
    double variance = (n * (n - 1) * (2 * n + 5) - tied) / 18 * (1 + r) / (1 - r);
    out->slope = kendall_median(slopes, pairs);
    out->z = variance > 0 && s != 0 ? (s > 0 ? s - 1 : s + 1) / sqrt(variance) : 0;
    return 0;
}

/* The Mann-Kendall test and the Theil-Sen slope: see mann_kendall.h. */
#include "daemon/analysis/latency/mann_kendall.h"

#include "holter/error.h"
#include "holter/order.h"

#include <math.h>
#include <stdlib.h>

#define PAIRS (MANN_KENDALL_MAXIMUM * (MANN_KENDALL_MAXIMUM - 1) / 2)

/* Median; of an even number of values the mean of the two in the middle. They are sorted. */
static double kendall_median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), order_doubles);
    return values[(count - 1) / 2] / 2 + values[count / 2] / 2;
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

/* The Mann-Kendall test for a trend (Mann, "Nonparametric tests against trend", 1945; Kendall,
 * "Rank correlation methods", 1975) and the slope of Theil and Sen (Sen, "Estimates of the
 * regression coefficient based on Kendall's tau", 1968).
 *
 * Both look at pairs of values only: whether the later one is larger, and the median of all slopes
 * between two. So no distribution is assumed, and up to 29 % of the values may be outliers.
 * Neighbouring windows are alike, which makes a trend out of any wandering; the variance of the
 * test is therefore taken for as many values as are independent, n (1 - r) / (1 + r) for a first
 * order autoregression (Yue and Wang, "The Mann-Kendall test modified by effective sample size",
 * 2004; Hamed and Rao, "A modified Mann-Kendall trend test for autocorrelated data", 1998, for the
 * general case). The correlation r is given by the caller, who knows it from calm: estimated within
 * the values themselves, a trend would count as correlation.
 *
 * Pure; links libm. */
#ifndef HOLTER_DAEMON_ANALYSIS_LATENCY_MANN_KENDALL_H
#define HOLTER_DAEMON_ANALYSIS_LATENCY_MANN_KENDALL_H

#include <stddef.h>

#define MANN_KENDALL_MAXIMUM 32u

struct mann_kendall {
    double z;     /**< standard normal when there is no trend; above 0: increasing */
    double slope; /**< Theil-Sen, of the values by the times */
};

/** @param times        ascending, all different
 *  @param count        3 to MANN_KENDALL_MAXIMUM
 *  @param correlation  of neighbouring values without trend; negative counts as 0, at most 0.99
 *  @param out          set on success
 *  @return 0, or -HOLTER_ERANGE */
int mann_kendall(struct mann_kendall *out, const double *times, const double *values, size_t count,
                 double correlation);

#endif

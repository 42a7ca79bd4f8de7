/* Growth and steady periods of a series of window latencies (PCLVis, section 5.1), online.
 *
 * A series has one value a window: the latency of a job, locality or region relative to the
 * reference criterion. Values are judged by their logarithms, since delays multiply.
 *
 * Calm is learnt from the series itself. Statistics of the last 1, 3, 6, 12, 24 and 48 values are
 * kept as histograms whose weights halve every half_life values, so that the
 * variation of each while the job is calm is measured, not derived from a model; while values are
 * few, what an autoregression would do is mixed in, and a rise has to be larger. Values enter with
 * a delay of up to 120, and not at all from what turned out to be a period. The base is the median.
 *
 * The series is out of calm when one of these is beyond what calm explains (five spreads, and the
 * tail that was seen), and beyond a minimum rise:
 * - the level: the mean of the lower two thirds of the last m values (less the lowest sixth), which
 *   a spike of one window cannot move. A step is seen by the three values after it, a small one or
 *   one in strong noise by the longer scales;
 * - the jump: the last three values above those just before, where neighbours are alike and jumps
 *   are therefore rarer than levels;
 * - the ramp: a mean over 60 values weighted as growth would have it, which is the most powerful
 *   test for a line of unknown onset (a matched filter), confirmed by the Mann-Kendall test and a
 *   line that fits better than a step;
 * - the Mann-Kendall test alone, over 240 or 960 values: for what grew from the beginning.
 * It is growth while the Mann-Kendall test over medians of blocks since the onset finds a trend
 * (that test, and Theil and Sen's slope, because neither assumes a distribution nor minds outliers;
 * its variance is corrected for the correlation seen in calm), and steady high otherwise.
 *
 * It is calm again when the median of as many values as it was seen by is back by half of the rise
 * that was asked for. A level that the series went to and came back from three times within an
 * hour is a phase of the program and becomes part of what is calm. When a job is steady for ten
 * minutes and five times as long as what is remembered of calm, it changed for good: calm is
 * learnt again, from scratch. A job that starts slow or fast is judged from warm_up on and soon
 * forgets its start.
 *
 * Simulated with autoregressive noise in the logarithm (correlation phi, standard deviation sd):
 * - a step to twice the base, after five minutes of calm: within 3 windows in all of 100 runs for
 * sd 0.05 and in 97 for sd 0.1, phi 0 to 0.9. For sd 0.2 such a step is less than four standard
 *   deviations of what the noise does by itself: 3 to 10 windows in the mean;
 * - a ramp of 20 % a minute: within 60 windows in 99 of 100 for sd 0.05, phi 0, in 87 for phi 0.5;
 *   at phi 0.9 after up to 100 (sd 0.02). A drift of 1 % a minute: within 13 minutes;
 * - a sawtooth to 2.5 times the base in five minutes: reported three times, then it is a habit;
 * - false alarms in 24 hours of windows of one second: see the tests and the benchmark. With
 *   innovations of heavier tails than Student's t with 5 degrees of freedom (excursions to twice
 *   the base for three windows, several a day) they are several a day as well.
 *
 * Pure: no clock, no file, no socket; links libm. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_LATENCY_TREND_H
#define HOLTER_DAEMON_ANALYSIS_LATENCY_TREND_H

#include "daemon/analysis/tables/state_bytes.h"
#include <stdint.h>

/** Numbers as those of enum series_trend on the wire. */
enum trend_state {
    TREND_STATE_CALM,
    TREND_STATE_GROWTH, /**< sustained increase */
    TREND_STATE_STEADY, /**< sustained high level without return */
};

struct trend_params {
    double window_s;           /**< length of a window, seconds: what a minute is, for slopes */
    uint64_t minimum_messages; /**< messages that a window needs to count; with fewer it is a gap */
    uint32_t warm_up;          /**< values before anything is judged; at least 8 */
    double rise;               /**< smallest ratio to the base that is reported at once; above 1 */
    double slow_rise;          /**< the same for a level that holds for 48 values */
    double growth;             /**< the same for a level that goes on growing */
    uint32_t calm_down;        /**< values near the base after which a period is over */
    double half_life;          /**< of the weights of values from which calm is learnt, windows */
    int calm_slope;            /**< report the slope while calm, too; 0: it is NaN then */
};

/** For windows of one second. */
#define TREND_DEFAULTS                                                                             \
    ((struct trend_params){.window_s = 1,                                                          \
                           .minimum_messages = 1,                                                  \
                           .warm_up = 18,                                                          \
                           .rise = 1.4,                                                            \
                           .slow_rise = 1.2,                                                       \
                           .growth = 1.06,                                                         \
                           .calm_down = 8,                                                         \
                           .half_life = 3600,                                                      \
                           .calm_slope = 1})

struct trend_result {
    enum trend_state state;
    uint64_t since; /**< window in which growth or steady period began, estimated back in time;
                         while calm: first window of the calm */
    uint64_t onset; /**< window in which calm was left: since of the first of the growth and steady
                         periods that follow each other; while calm: as since */
    double slope;   /**< growth a minute, as a share (0.2: 20 %), Theil-Sen; NaN: not known */
    double level;   /**< median of the last windows; NaN: none yet */
    double base;    /**< median while calm; NaN: none yet */
    double ratio;   /**< level by base; NaN: not known */
};

struct trend;

/** @param out  owned by the caller; set on success
 *  @return 0, -ENOMEM, or -HOLTER_ERANGE when a parameter is outside its range */
int trend_create(struct trend **out, const struct trend_params *params);
void trend_destroy(struct trend *trend);

/** Add the value of one window. Windows left out are gaps.
 *  @param window    above the one before
 *  @param value     above 0; NaN, infinite and other values count as gaps
 *  @param messages  that the value is the mean of
 *  @return 0, or -HOLTER_ERANGE for a window that is not above the last: nothing was done */
int trend_update(struct trend *trend, uint64_t window, double value, uint64_t messages);

/** @return whether the state as of the last update is TREND_STATE_CALM; cheaper than the result */
int trend_is_calm(const struct trend *trend);

/** The result as of the last update. */
void trend_result(const struct trend *trend, struct trend_result *out);

/** See state_bytes.h. */
void trend_copy_state(struct state_bytes *b, struct trend **trend);

#endif

/* Histograms of times that can be added and subtracted exactly.
 *
 * Counters are those of holter/time_class.h, so any quantile is within 0.8 % of the exact one.
 * They lie in pages of one octave each, which exist only while something is counted in them: times
 * of one kind of message spread over a few octaves, so that a histogram takes 0.5 KB and half as
 * much again for each octave in use, whatever the number of messages. All is integer: adding is
 * associative and commutative, and subtracting what was added leaves a histogram as it was, bit for
 * bit, down to the zeros of an empty one.
 *
 * Pure: no clock, no file, no socket; links nothing. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_LATENCY_HISTOGRAM_H
#define HOLTER_DAEMON_ANALYSIS_LATENCY_HISTOGRAM_H

#include "daemon/analysis/tables/state_bytes.h"
#include "holter/error.h"
#include "holter/time_class.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_PAGE 64u
#define HISTOGRAM_PAGES (TIME_CLASSES / HISTOGRAM_PAGE)

/** Counters of one octave. */
struct histogram_page {
    uint64_t messages; /**< sum of the counts; never 0 */
    uint64_t counts[HISTOGRAM_PAGE];
};

/** Zero-initialised is empty. */
struct histogram {
    uint64_t messages; /**< sum of all counts; saturates nowhere: callers stay below 2^64 */
    struct histogram_page *pages[HISTOGRAM_PAGES]; /**< owned; NULL: nothing there */
};

/** Free what it owns and make it empty. */
void histogram_finish(struct histogram *histogram);

/** Make a page that does not exist, for histogram_add(). @return NULL: there is no memory */
struct histogram_page *histogram_page_create(struct histogram *histogram, uint32_t page);

/** Count messages of one class of times.
 *  @param time_class  below TIME_CLASSES
 *  @return 0, -HOLTER_ERANGE for a class that does not exist, or -ENOMEM; then nothing was counted
 */
static inline int histogram_add(struct histogram *histogram, uint32_t time_class, uint64_t messages)
{
    if (time_class >= TIME_CLASSES)
        return -HOLTER_ERANGE;
    if (messages == 0)
        return 0;
    struct histogram_page *page = histogram->pages[time_class / HISTOGRAM_PAGE];
    if (page == NULL)
        page = histogram_page_create(histogram, time_class / HISTOGRAM_PAGE);
    if (page == NULL)
        return -ENOMEM;
    page->counts[time_class % HISTOGRAM_PAGE] += messages;
    page->messages += messages;
    histogram->messages += messages;
    return 0;
}

/** Subtract messages that were counted before.
 *  @return 0, or -HOLTER_ERANGE: there are fewer; then nothing was subtracted */
int histogram_remove(struct histogram *histogram, uint32_t time_class, uint64_t messages);

/** Messages of a class that were counted; 0 for a class that does not exist. */
uint64_t histogram_count(const struct histogram *histogram, uint32_t time_class);

/** Add the counts of another histogram.
 *  @return 0, or -ENOMEM; then nothing was added */
int histogram_merge(struct histogram *into, const struct histogram *from);

/** Subtract the counts of another histogram, exactly.
 *  @return 0, or -HOLTER_ERANGE: some class has fewer; then nothing was subtracted */
int histogram_subtract(struct histogram *from, const struct histogram *what);

/** Divide all counts by 2^bits, rounding up, so that no count becomes 0. */
void histogram_shift(struct histogram *histogram, unsigned bits);

/** The next class, from one on, that has counts.
 *  @return the class, or TIME_CLASSES when there is none */
uint32_t histogram_next(const struct histogram *histogram, uint32_t time_class);

/** The k-th smallest time, k from 0: the middle of its class, nanoseconds.
 *  @return NaN when there are not so many */
double histogram_ranked(const struct histogram *histogram, uint64_t k);

/** The quantile between the two times nearest to it, linearly (Hyndman and Fan, "Sample quantiles
 *  in statistical packages", 1996, definition 7): q = 0.5 is the usual median.
 *  @return nanoseconds; NaN when empty or q is not within 0 to 1 */
double histogram_quantile(const struct histogram *histogram, double q);

/** See state_bytes.h. */
void histogram_copy_state(struct state_bytes *b, struct histogram *histogram);

#endif

/* Latency criteria: what a message normally takes (PCLVis, section 4.1, Eq. 1), for each locality
 * and size class of holter/size_class.h.
 *
 * Two are kept. *Recent* is the median transfer time over the last windows, the horizon. It is the
 * paper's criterion, but it absorbs slow growth: one horizon after a job became twice as slow, that
 * looks normal. *Reference* is the best sustained level seen in the job: a low quantile of the
 * medians of past windows, whose weights halve every half_life windows. A level has to be held by
 * that share of the windows to become the reference, so a few very fast or very slow windows, as
 * when a job starts, do not; and a job that was normal for n windows and is slow from then on keeps
 * its reference for n (1 - q) / q windows, or for half_life * log2(1/q), whichever is less.
 *
 * Few messages. Where a class has fewer than `minimum_messages` in the horizon, its median is mixed
 * with what its neighbours in size let expect: logarithms are weighted by the share of messages
 * that are there and that are missing. Windows of a class are put together until they have
 * `minimum_messages`; their median counts in the reference once for each of them.
 *
 * A class that appears late in the job may appear in bad times. Its first median is therefore taken
 * to have the same ratio to its past as the latest median of the nearest class (of the same
 * locality, by number of the class) has to the past of that class: it inherits the neighbour's
 * weighted medians, scaled.
 * Until a class has a median, its reference is its recent criterion times the ratio of the
 * neighbours' reference to their recent criterion.
 *
 * Classes without messages are interpolated between their neighbours, linearly in size (the paper's
 * Fig. 2 is linear in size), and beyond them extrapolated by the line through the nearest two,
 * its slope kept between 0 and t / (size + 4096): flat, or proportional to the size but for a
 * latency worth 4 KiB.
 *
 * Everything that is kept is integer (see histogram.h), so that results depend neither on the order
 * in which messages of a window were added nor on the machine. Memory: per class some KB, per
 * window of the horizon 8 bytes for each class of times that occurred, at most CRITERIA_ENTRIES of
 * them; where there are more, times of that window are kept more coarsely. It does not depend on
 * the number of messages.
 *
 * Pure: no clock, no file, no socket; links libm. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_LATENCY_CRITERIA_H
#define HOLTER_DAEMON_ANALYSIS_LATENCY_CRITERIA_H

#include "daemon/analysis/tables/state_bytes.h"
#include "holter/wire.h"

#include <stddef.h>
#include <stdint.h>

#define CRITERIA_LOCALITIES 2u /**< 0: both ends on one node, 1: on two */
#define CRITERIA_ENTRIES (1u << 17)

#define CRITERIA_MAXIMUM_HALF_LIFE 1e7 /**< windows */

struct criteria_params {
    uint32_t horizon;          /**< windows of the recent criterion; 1 to 65536 */
    double reference_quantile; /**< of the medians of windows; above 0, at most 0.5 */
    double half_life;          /**< of a median's weight in the reference, windows; from 1 up */
    uint32_t minimum_messages; /**< messages for a median to count; at least 1 */
};

/** For windows of one second: one minute, the lowest tenth, four hours. */
#define CRITERIA_DEFAULTS                                                                          \
    ((struct criteria_params){                                                                     \
        .horizon = 60, .reference_quantile = 0.1, .half_life = 14400, .minimum_messages = 16})

struct criteria;
struct time_counts; /* daemon/analysis/latency/time_counts.h */

/** @param out     owned by the caller; set on success
 *  @param params  copied
 *  @return 0, -ENOMEM, or -HOLTER_ERANGE when a parameter is outside its range */
int criteria_create(struct criteria **out, const struct criteria_params *params);
void criteria_destroy(struct criteria *criteria);

/** Count messages in the window in progress. Messages of a window that is closed are counted here
 *  too: they then belong to the newest window.
 *  @param locality    0 or 1
 *  @param size_class  below SIZE_CLASSES
 *  @param time_class  of the transfer time, see holter/time_class.h; below TIME_CLASSES
 *  @param messages    together with those of the class in this window below 2^41
 *  @return 0; -ENOMEM: nothing was counted; or -HOLTER_ERANGE: a class, or more messages than that,
 *          of which as many are counted */
int criteria_add(struct criteria *criteria, unsigned locality, unsigned size_class,
                 uint32_t time_class, uint64_t messages);

/** Count the messages of all classes in the window in progress, and leave `times` empty.
 *  @return 0, -ENOMEM, or -HOLTER_ERANGE where a class would have too many; then not all of them
 * were counted */
int criteria_count_times(struct criteria *criteria, struct time_counts *times);

/** Close the window in progress and bring the criteria up to date.
 *  @param window  its number, above the last one's. Windows left out count as empty
 *  @return 0; -HOLTER_ERANGE for a number that is not above the last: nothing was done; -ENOMEM:
 *          closed, but some classes lack its messages */
int criteria_close(struct criteria *criteria, uint64_t window);

/** @return whether closing the last window changed any criterion of the locality, as the first
 *  window does */
int criteria_changed(const struct criteria *criteria, unsigned locality);

/** Recent criterion as of the last closed window, nanoseconds, at least 1. When a locality was
 *  quiet for a whole horizon, its reference. NaN when the locality had no messages so far, and for
 *  numbers that are outside their range. */
double criteria_recent(const struct criteria *criteria, unsigned locality, unsigned size_class);

/** Reference criterion; otherwise as criteria_recent(). */
double criteria_reference(const struct criteria *criteria, unsigned locality, unsigned size_class);

/** Classes that had messages in a window that is closed. At most 2 * SIZE_CLASSES. */
size_t criteria_count(const struct criteria *criteria);

/** List these classes by locality, then by size.
 *  @return how many were written, at most capacity */
size_t criteria_list(const struct criteria *criteria, struct wire_criterion_row *out,
                     size_t capacity);

/** See state_bytes.h. */
void criteria_copy_state(struct state_bytes *b, struct criteria **criteria);

#endif

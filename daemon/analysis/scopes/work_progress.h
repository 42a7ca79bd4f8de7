/* Progress of a job: the work that it does in a second, compared with what it did before.
 *
 * Work is measured by the calls of its ranks, without polls that found nothing, and by the messages
 * that they send: both are fixed for a step of a simulation. The level before is a mean that fades,
 * of windows in which nothing was wrong, from the second one with work on. Steps may take longer
 * than a window: work is that of a span of windows, the shortest in which the job does about the
 * same work each time. Pure. */
#ifndef HOLTER_DAEMON_ANALYSIS_SCOPES_WORK_PROGRESS_H
#define HOLTER_DAEMON_ANALYSIS_SCOPES_WORK_PROGRESS_H

#include <stdint.h>

#define PROGRESS_SPANS 5u                             /* of 1, 2, 4, 8 and 16 windows */
#define PROGRESS_WINDOWS (1u << (PROGRESS_SPANS - 1)) /* in the longest one */
/** While few windows are known, the newest ones are not learned yet: a fault is not found at once.
 */
#define PROGRESS_DELAY 2u
#define PROGRESS_KEPT (PROGRESS_WINDOWS + PROGRESS_DELAY)

/** Zero-initialised is empty. */
struct progress {
    double before;                 /**< work a second */
    double work[PROGRESS_KEPT];    /**< the same, of the last windows: a ring by `seen` */
    double windows;                /**< that `before` is of */
    double spread[PROGRESS_SPANS]; /**< by which spans differ from `before`, in the mean; a share */
    uint32_t seen;                 /**< windows, from the first one with work on */
    uint32_t calm;                 /**< of them, since the last disturbed one */
    uint32_t held;                 /**< of these, the last ones: not learned yet */
};

/** Add a window. @param work  calls and messages @param disturbed  it is compared, not learned */
void progress_update(struct progress *progress, uint64_t work, uint64_t length_ns, int disturbed);

/** Windows of the span by which the job is judged: its spread is small, or it is the longest. */
uint32_t progress_span(const struct progress *progress);

/** The same, once sixty windows are known; 0: not yet, or the job does no steady work. More than 1
 * where its iterations take about as long as a window, or longer. */
uint32_t progress_steady_span(const struct progress *progress);

/** By which the work of such spans differs from the level before, in the mean; a share. */
double progress_spread(const struct progress *progress);

/** Recent work by the work before, at most 1; NaN: not known.
 *  @param windows  since the job is slow, of which the last PROGRESS_WINDOWS count; with less than
 *                  three, windows before */
double progress_share(const struct progress *progress, uint64_t windows);

/** The share of its work that the job has not done in the last span. */
double progress_lost(const struct progress *progress);

/** The same in the longest span; 0 also where such spans differ by about as much. */
double progress_lost_slowly(const struct progress *progress, double noise);

/** Time that the last windows have lost, nanoseconds; negative where more was done than before, as
 *  in single windows of long steps. */
double progress_lost_ns(const struct progress *progress, uint64_t windows, uint64_t length_ns);

/** Windows before the newest one in which less was done already: since its level fell.
 * @param span  windows in which this is looked for, at most PROGRESS_WINDOWS */
uint32_t progress_fallen(const struct progress *progress, uint32_t span);

#endif

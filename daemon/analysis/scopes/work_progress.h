/* Progress of a job: the work that it does in a second, compared with what it did before.
 *
 * Work is measured by the calls of its ranks, without polls that found nothing, and by the messages
 * that they send: both are fixed for a step of a simulation. The level before is a mean that fades,
 * of windows in which nothing was wrong. Pure. */
#ifndef HOLTER_DAEMON_ANALYSIS_SCOPES_WORK_PROGRESS_H
#define HOLTER_DAEMON_ANALYSIS_SCOPES_WORK_PROGRESS_H

#include <stdint.h>

/** Zero-initialised is empty. */
struct progress {
    double before;  /**< work a second */
    double recent;  /**< the same, of the last windows */
    double now;     /**< of the window */
    double windows; /**< that `before` is of */
    double spread;  /**< by which windows differ from the level before, in the mean; a share */
};

/** Add a window. @param work  calls and messages @param disturbed  it is compared, not learned */
void progress_update(struct progress *progress, uint64_t work, uint64_t length_ns, int disturbed);

/** Recent work by the work before, at most 1; NaN: not known. */
double progress_share(const struct progress *progress);

/** Time that the window has lost, nanoseconds. */
double progress_lost_ns(const struct progress *progress, uint64_t length_ns);

#endif

/* A coarser cut, which keeps pauses. Heights of the tree are distances between the means of what
 * has merged, so that a cut by count may part a stream without any pause and keep a pause between
 * two patterns within a phase. Here boundaries at clear pauses go before all others: those that are
 * eight times as long as the median of all. Of these the longer come first, as far as they differ
 * by a factor of two; of others, and of about equal ones, the higher, and of equal heights the
 * later.
 *
 * Part of phases.h. Pure: no clock, no file, no socket. */
#ifndef HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_PAUSES_H
#define HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_PAUSES_H

#include "daemon/analysis/phases/burst_items.h"

/** Joins neighbours until there are at most so many phases.
 *  @param phases   a cut of finer phases, by time; replaced
 *  @param count    how many, before and after
 *  @param maximum  at least 1
 *  @return 0, or -ENOMEM: nothing has changed */
int phase_pauses_join(struct phase *phases, size_t *count, size_t maximum);

#endif

/* Ribbons of one phase: what goes from one bar to another, joined from rows for each edge.
 * Part of commgram.h. Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_COMMGRAM_COMMGRAM_RIBBONS_H
#define HOLTER_DAEMON_ANALYSIS_COMMGRAM_COMMGRAM_RIBBONS_H

#include "daemon/analysis/commgram/commgram.h"

/** Joins rows of equal from, to, modelled and octave of the mean size, and sorts them by these.
 * Each row has at least one message; size classes are set.
 *  @param rows   changed in place
 *  @param count  how many; updated
 *  @return 0 or -ENOMEM: nothing has changed */
int commgram_ribbons_join(struct wire_ribbon_row *rows, size_t *count);

/** Leave those with most bytes and messages, at most so many, in their order; of equals the first.
 *  @param rest  what the others were is added to its messages and bytes
 *  @return 0 or -ENOMEM: nothing has changed */
int commgram_ribbons_limit(struct wire_ribbon_row *rows, size_t *count, size_t maximum,
                           struct wire_ribbon_row *rest);

#endif

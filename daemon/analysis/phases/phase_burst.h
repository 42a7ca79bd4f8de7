/* From a burst to the table of a segment: check the pairs of a burst, number its edges, add up
 * what each edge sent.
 *
 * Part of phase_graphs.h. Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_BURST_H
#define HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_BURST_H

#include "daemon/analysis/phases/phase_graphs.h"
#include "daemon/analysis/phases/phase_rows.h"
#include "daemon/analysis/tables/key_table.h"

/** Numbers of the edges of a job. */
struct phase_edge_numbers {
    struct key_table table; /**< key: see phase_burst.c */
    uint32_t *order;        /**< owned; numbers in the order of their edges, */
    uint32_t ordered;       /**< of as many, as phase_edge_numbers_sort() left it */
    uint32_t maximum;       /**< edges that are numbered */
    uint64_t ranks;         /**< one more than the highest in an edge that has messages */
};

struct phase_burst_sums {
    uint64_t messages, bytes; /**< of all pairs, and of those that are not known */
};

/** Check the values of a burst and add up its messages and bytes.
 *  @return 0, or -HOLTER_ERANGE: a time, a size class or `modelled` outside its range, or a sum
 *          beyond 2^64 */
int phase_burst_check(const struct phase_burst *burst, struct phase_burst_sums *out);

/** Make the table of a burst that was checked. New edges get the next numbers; beyond the maximum
 *  their messages are added to the excess.
 *  @param table  empty; owned by the caller
 *  @return 0 or -ENOMEM: nothing has changed */
int phase_burst_list(struct phase_edge_numbers *numbers, const struct phase_burst *burst,
                     struct phase_rows *table, struct phase_excess *excess);

void phase_edge_numbers_finish(struct phase_edge_numbers *numbers);

/** Bring `order` up to date. @return 0 or -ENOMEM */
int phase_edge_numbers_sort(struct phase_edge_numbers *numbers);

/** The edge with a number, without messages and bytes. */
struct phase_edge phase_edge_numbered(const struct phase_edge_numbers *numbers, uint32_t number);

#endif

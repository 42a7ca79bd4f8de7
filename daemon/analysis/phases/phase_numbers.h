/* Bursts of phase_graphs.h as lists: each edge gets a number when it first comes, and rows go by
 * numbers.
 *
 * Bursts are alike, and edges got their numbers in the order of the first burst that had them: the
 * rows of a burst are a few spans of edges whose numbers follow each other. Where all edges are
 * known, as they nearly always are, one pass over the rows finds the spans, checks them and adds
 * them up. A piece that stays as it was when it was listed before is not looked at again
 * (phase_runs.h): it is a run of its own in the list.
 *
 * Memory: at most 68 bytes an edge, and what phase_runs.h needs; 56 for each row of a burst while
 * it is taken, of which what 2^14 rows need is kept.
 *
 * Part of phase_graphs.h. Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_NUMBERS_H
#define HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_NUMBERS_H

#include "daemon/analysis/events/burst_pairs.h"
#include "daemon/analysis/phases/phase_edges.h"
#include "daemon/analysis/phases/phase_ranges.h"
#include "daemon/analysis/phases/phase_rows.h"
#include "daemon/analysis/phases/phase_runs.h"
#include "daemon/analysis/tables/key_order.h"
#include "daemon/analysis/tables/key_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

_Static_assert(offsetof(struct phase_edge, messages) == sizeof(struct key) &&
                   offsetof(struct burst_pair, messages) == sizeof(struct key) &&
                   offsetof(struct burst_pair, destination) ==
                       offsetof(struct phase_edge, destination) &&
                   offsetof(struct burst_pair, size_class) ==
                       offsetof(struct phase_edge, size_class) &&
                   offsetof(struct burst_pair, modelled) == offsetof(struct phase_edge, modelled),
               "pairs and edges begin alike: with who, and what kind");

/** Key of an edge: the words that a pair and an edge begin with, as they lie there. */
static inline struct key phase_edge_key(const struct burst_pair *pair)
{
    struct key key;
    memcpy(&key, pair, sizeof(key));
    return key;
}

/** Rows of a burst whose edges have numbers that follow each other. */
struct phase_span {
    const struct burst_pair *rows;
    uint32_t edge, count; /**< of the first; rows */
    uint32_t apart;       /**< 1 above the place of its piece among those apart; 0: it is not */
};

#define PHASE_APART 8u /**< pieces of a burst that may be runs of their own */

/** A piece of a burst, of known edges and plain, that may be a run of its own. */
struct phase_apart {
    struct phase_run run;          /**< but for its blocks and spans */
    const struct phase_run *known; /**< NULL: it was not listed yet */
};

struct phase_numbers {
    struct key_table edges;
    uint32_t most;            /**< edges */
    uint32_t first;           /**< edge that the last burst began with: where to look first */
    uint64_t ranks;           /**< one more than the highest in an edge */
    struct phase_span *spans; /**< owned; of the burst at hand */
    struct key_place *places; /**< owned */
    struct key_place *order;  /**< of the spans; among places */
    size_t count, span_room, place_room;
    struct phase_apart apart[PHASE_APART]; /**< of the burst at hand */
    uint32_t apart_count;
    bool cut; /**< of the burst at hand: does each span begin a block? */
    struct phase_runs runs;
    struct phase_run_span *run_spans; /**< owned; of one run */
    size_t run_span_room;
};

/** What a burst adds up to. */
struct phase_total {
    size_t rows;
    uint64_t large; /**< rows that may need several */
    uint64_t messages, bytes;
    bool plain;    /**< all rows have messages, and no more than fit in one */
    bool known;    /**< so have all edges numbers: there are spans for all rows */
    uint32_t high; /**< of plain ones: no row has more messages */
};

/** @param most  edges that get numbers */
void phase_numbers_init(struct phase_numbers *numbers, uint32_t most);
void phase_numbers_finish(struct phase_numbers *numbers);

/** Check the rows of a burst and add them up.
 *  @param pool   where bursts were listed
 *  @param total  messages and bytes are added to
 *  @return 0, or -HOLTER_ERANGE: a value, or a sum beyond 2^64. No edge gets a number */
int phase_numbers_check(struct phase_numbers *numbers, const struct phase_pool *pool,
                        const struct burst_piece *pieces, size_t count, struct phase_total *total);

/** A list and its edges. */
struct phase_listed {
    struct phase_list *list; /**< empty */
    struct phase_ranges
        *ranges; /**< not known; set where each edge was told once, and rows are plain */
};

/** List the rows of a burst that was checked just before.
 *  @param others  added to: messages of edges that get no number any more, and what does not fit in
 * rows
 *  @return 0, or -ENOMEM: nothing has changed */
int phase_numbers_list(struct phase_numbers *numbers, const struct burst_piece *pieces,
                       size_t count, const struct phase_total *total, struct phase_pool *pool,
                       const struct phase_listed *out, struct phase_excess *others);

/** Bytes on the heap. */
size_t phase_numbers_bytes(const struct phase_numbers *numbers);

#endif

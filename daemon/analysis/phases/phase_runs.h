/* Runs of rows that were listed before (phase_numbers.h): pieces of bursts that stay as they are
 * need not be gone through again. What is known of such a piece is its sums, its edges, and the
 * blocks that its rows were put into: as long as these lie where they were (phase_store.h) a list
 * that has the piece is made of them.
 *
 * Memory: 512 runs of 72 bytes, and 24 for each block of a run and 8 for each span of its edges; of
 * a run with at most 2^16 rows.
 *
 * Part of phase_graphs.h. Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_RUNS_H
#define HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_RUNS_H

#include "daemon/analysis/events/burst_pairs.h"
#include "daemon/analysis/phases/phase_rows.h"

#include <stddef.h>
#include <stdint.h>

#define PHASE_RUN_LEAST PHASE_BLOCK /**< rows: shorter ones would leave much of a block unused */
#define PHASE_RUN_MOST (1u << 16)

/** Edges whose numbers follow each other. */
struct phase_run_span {
    uint32_t edge, count;
};

struct phase_run_block {
    uint64_t number; /**< of its rows */
    uint32_t place, rows, least, most;
};

/** A piece whose rows all have messages, each of one edge of its own. */
struct phase_run {
    struct burst_piece piece; /**< without rows: there is none */
    uint64_t messages, bytes;
    uint32_t high; /**< no row has more messages */
    uint32_t span_count, block_count;
    struct phase_run_span *spans;   /**< owned; in the order of the piece */
    struct phase_run_block *blocks; /**< owned */
};

/** Zero-initialised is empty. */
struct phase_runs {
    struct phase_run *of; /**< owned */
    size_t heap;          /**< bytes of all spans and blocks */
};

void phase_runs_finish(struct phase_runs *runs);

/** @return what is known of a piece, if it is and its rows are still there; else NULL */
const struct phase_run *phase_runs_find(const struct phase_runs *runs,
                                        const struct phase_store *store,
                                        const struct burst_piece *piece);

/** Remember a run, in place of one that has a place that it may have: runs that were found may be
 * elsewhere after that. Without memory it is not.
 *  @param run   all but the blocks is set; the spans are copied
 *  @param list  complete, of one run: the piece's rows */
void phase_runs_keep(struct phase_runs *runs, const struct phase_pool *pool,
                     const struct phase_run *run, const struct phase_list *list);

/** Make a list of a run that was just found. Blocks were reserved.
 *  @param list  empty */
void phase_run_list(const struct phase_run *run, struct phase_pool *pool, struct phase_list *list);

size_t phase_runs_bytes(const struct phase_runs *runs);

#endif

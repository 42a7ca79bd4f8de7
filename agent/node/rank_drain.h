/* Draining one rank: its rings are read, and what they hold is summed and matched.
 *
 * Stages before: the probe, which writes the rings. After: census and windows, which close. */
#ifndef HOLTER_AGENT_NODE_RANK_DRAIN_H
#define HOLTER_AGENT_NODE_RANK_DRAIN_H

#include "agent/node/rank.h"

/** Since when its calls are in no committed message, CLOCK_MONOTONIC: when its segment was created,
 *  or when an agent that is gone with its journal last drained it. UINT64_MAX when the journal has
 * its state. */
uint64_t rank_drain_begin_ns(const struct rank *rank, const struct journal_state *journal);

/** Sums a turn of RANK_TURN records of a rank of one thread, if its ring holds so many that end in
 * the window. Ranks that are read in turns complete each other's messages while these are in the
 * cache. Parameters are those of rank_drain(), which is to follow and reads what is left.
 *  @return records read */
uint64_t rank_drain_turn(struct rank *rank, const struct drain_clocks *clocks,
                         const struct journal_state *journal, struct event *batch);

/** Sums what its rings hold, up to the end of the window.
 *  @param journal  positions at which to resume rings that an earlier worker has read; may be NULL
 *  @param batch    capacity of RANK_BATCH records
 *  @return records read */
uint64_t rank_drain(struct rank *rank, const struct drain_clocks *clocks,
                    const struct journal_state *journal, struct event *batch);

/** Whether everything in its rings is in the sums. */
int rank_is_drained(const struct rank *rank);

/** Where in its rings the agent has arrived, added up: it grows with every record that is read. */
uint64_t rank_position(const struct rank *rank);

/** The window ends: count calls in progress, what the tallies of the rings grew by, and losses.
 * Call after rank_drain() up to that end.
 *  @param ended  the rank writes no more */
void rank_end_window(struct rank *rank, const struct drain_clocks *clocks, int ended);

/** The window of its job is closed: stores how far the rings are summed, to be committed with it.
 */
void rank_store_positions(struct rank *rank);

/** Copies the stored positions. @return entries written */
uint32_t rank_copy_positions(const struct rank *rank, struct journal_ring *out, uint32_t capacity);

/** The state is committed: writes it to the segment, for a later agent that has no journal of it.
 */
void rank_publish_positions(struct rank *rank, uint64_t now_ns);

#endif

/* Matching of one rank's sends and receives on this node: how its records go to the matcher, and
 * how losses are reported to it. */
#ifndef HOLTER_AGENT_NODE_RANK_MATCH_H
#define HOLTER_AGENT_NODE_RANK_MATCH_H

#include "agent/node/rank.h"

/** Match the messages of the rank from now on. */
void rank_match_start(struct rank *rank, struct match *match);

/** All records of the rank were read: drops what is unmatched. */
void rank_match_stop(struct rank *rank);

/** Pass records of a ring to the matcher, in order, after what was lost before them.
 *  @param number  of the ring @param batch  `taken` records, at most RANK_BATCH; their
 * communicators are overwritten */
void rank_match_batch(struct rank *rank, uint32_t number, const struct tick_clock *clock,
                      struct event *batch, size_t taken);

/** The rings were drained: report to the matcher up to which time all records are known. For ranks
 * of several threads. */
void rank_match_report_watermark(struct rank *rank, const struct drain_clocks *clocks);

#endif

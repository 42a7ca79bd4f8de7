/* Results of matching in one window: transfer times of messages within the node, ends of messages
 * between nodes, and pending receives.
 *
 * Pure, like daemon/analysis/events/event_sum.h. Ends between nodes are picked by their keys: the
 * smallest ones, so that every node picks the same messages as far as its capacity allows (bottom-k
 * sampling with coordinated hashes; E. Cohen and H. Kaplan, PODC 2007).
 */
#ifndef HOLTER_DAEMON_ANALYSIS_MATCHING_TRANSFER_SUM_H
#define HOLTER_DAEMON_ANALYSIS_MATCHING_TRANSFER_SUM_H

#include "daemon/analysis/matching/match.h"
#include "holter/wire.h"

#define TRANSFER_MAXIMUM_HALVES 8192u /**< of one window, whatever the budget */
#define TRANSFER_MAXIMUM_PENDING 4096u

struct transfer_sum;

/** @param most_pairs  rows of (source, destination, size class); what comes beyond goes to
 *                     destination TRANSFER_OTHERS */
int transfer_sum_create(struct transfer_sum **out, uint32_t most_pairs);
void transfer_sum_destroy(struct transfer_sum *sum);

#define TRANSFER_OTHERS UINT64_MAX

/** Count a message within the node, an end of one between nodes. Signatures of struct match_sink;
 *  user is the sum. */
void transfer_sum_message(void *user, const struct match_message *message);
void transfer_sum_half(void *user, const struct match_half *half);

/** Set the normal times of messages, as the daemon sent them; from now on delayed messages are
 * counted. */
void transfer_sum_criteria(struct transfer_sum *sum, const struct wire_criteria *criteria);

/** A rank waits for a receive since long. */
void transfer_sum_pending(struct transfer_sum *sum, const struct wire_pending_row *row);

/** Ends between nodes that are picked so far, and those that were not, since the last clear. */
uint64_t transfer_sum_sampled(const struct transfer_sum *sum);
uint64_t transfer_sum_passed_over(const struct transfer_sum *sum);

/** Times of ends become relative to the begin of the window. */
struct transfer_clock {
    /** Daemon time of a moment of CLOCK_MONOTONIC. */
    uint64_t (*at)(const void *user, uint64_t mono_ns);
    const void *user;
    uint64_t begin_ns; /**< of the window, daemon time */
};

/** Rows of the window so far. All memory belongs to the sum and holds until its next change. */
struct transfer_rows {
    struct wire_transfer_row *transfers; /**< may be reordered and merged by the caller */
    const struct wire_latency_row *latencies;
    struct wire_half_row
        *halves; /**< ascending by key; window_message_encode() orders them by time */
    const struct wire_pending_row *pending;
    uint64_t transfers_count, latencies_count, halves_count, pending_count;
    uint64_t keys_below; /**< as in struct wire_window */
    int folded;          /**< rows are with TRANSFER_OTHERS because most_pairs was reached */
};

/** @return 0 or -ENOMEM: nothing is lost then, the rows can be asked for again */
int transfer_sum_rows(struct transfer_sum *sum, const struct transfer_clock *clock,
                      struct transfer_rows *out);

/** Begin the next window. */
void transfer_sum_clear(struct transfer_sum *sum);

#endif

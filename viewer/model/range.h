/* The figures of a span of windows: the sums that lists, matrix and bars show. Stored between
 * frames and computed again only when the span or the data changed. */
#ifndef HOLTER_VIEWER_MODEL_RANGE_H
#define HOLTER_VIEWER_MODEL_RANGE_H

#include "viewer/model/flows.h"

#define RANGE_TOP_PAIRS 1000u /**< pairs that are sorted; the matrix shows all */

enum range_kind {
    RANGE_SPAN,  /**< from one window to another */
    RANGE_START, /**< since the start of the job */
    RANGE_NONE,  /**< no window: all figures are 0 */
};

/** Sums of items: ranks, pairs, kinds of calls. */
struct range_sums {
    uint64_t *figures; /**< owned; one after the other those of each item */
    uint32_t count;    /**< items */
    size_t capacity;
    struct history_total total; /**< what they hold, so that they can go on with the next window */
};

/** Zero-initialised is empty. Arrays are owned by it. */
struct range {
    enum range_kind kind; /**< span of the figures; RANGE_START also where the requested span is the
                             whole job, or has no details */
    int fallback;         /**< 1: a span was requested, but there are no details of it */
    uint64_t first, last; /**< windows with figures, when kind is RANGE_SPAN */
    uint64_t coarsest;    /**< windows in the coarsest point of the history */
    uint64_t covered;     /**< windows from first to last that have figures of ranks */
    /* For windows before the viewer was connected the daemon sends figures of ranks, but not of
     * pairs and calls. */
    enum range_kind pairs_kind; /**< of pairs and flows: RANGE_START also where only ranks have
                                   details */
    uint64_t pairs_covered;     /**< as covered, of pairs */
    enum range_kind
        calls_kind;         /**< as pairs_kind, of calls: a job may send nothing but collectives */
    uint64_t calls_covered; /**< as covered, of calls */
    uint64_t latency_covered; /**< as covered, of latencies of ranks, of which the daemon sends
                                 those of the newest window only */
    /** Windows from first to last in which by the totals ranks reported, sent messages, made calls.
     * More than are covered where the viewer of a live job connected later or missed some. */
    uint64_t busy, pairs_busy, calls_busy;

    struct range_sums ranks; /**< RANK_COLUMNS figures a rank */
    uint32_t *
        by_waiting; /**< ranks that reported, in order of their share of time waiting, most first */
    uint32_t by_waiting_count;

    struct range_sums waits; /**< for whom ranks waited, by number in the model's table */
    struct range_awaited {
        uint32_t rank; /**< that the rank waited for longest; UINT32_MAX: not known */
        uint64_t ns;   /**< how long, at least */
    } * awaited;       /**< by rank */

    struct range_sums pairs;      /**< PAIR_COLUMNS figures a pair, by the pair's number */
    struct range_sums node_pairs; /**< likewise, by number in model.node_pairs */
    uint32_t *top[PAIR_COLUMNS];  /**< numbers of the pairs with most messages, with most bytes */
    uint32_t top_count[PAIR_COLUMNS];
    uint32_t pairs_used;          /**< pairs with messages in the span */
    uint64_t total[PAIR_COLUMNS]; /**< of all pairs */

    struct range_sums latency;    /**< LATENCY_COLUMNS figures a rank */
    struct range_sums calls;      /**< CALLS_COLUMNS figures a kind of call */
    struct range_sums callers;    /**< CALLER_COLUMNS figures a caller, by the caller's number */
    enum range_kind callers_kind; /**< as pairs_kind */

    struct flows flows;   /**< what the network carries: see ui_update_flows() */
    struct flows reality; /**< what it really carries, while `flows` are those of a what-if; else
                               empty */

    uint64_t version; /**< incremented when anything above but the flows changed */

    size_t awaited_capacity;

    /* parameters that it was computed for */
    uint64_t asked_first, asked_last, seen_version;
    enum range_kind asked;
    uint8_t valid;
    char job[65];
};

/** Computes the figures of a span, unless nothing changed.
 *  @return 1 when it changed, 0 when not, -ENOMEM (the old figures stay) */
int range_update(struct range *range, const struct model *model, enum range_kind kind,
                 uint64_t first, uint64_t last);

/** Share of observed time that a rank spent in each class; zeros when it was not observed.
 *  @param shares  capacity of MODEL_CLASSES */
void range_shares(const struct range *range, uint32_t rank, double *shares);

/** Share of observed time that a rank waited, 0 to 1. */
double range_waiting(const struct range *range, uint32_t rank);

/** The rank that a rank waited for longest, if that was a tenth of its waiting or more.
 *  @return its number; UINT32_MAX: not known */
uint32_t range_awaited(const struct range *range, uint32_t rank);

/** Geometric mean of the relative latency, by reference, of the messages that a rank sent or
 * received; NaN: none. */
double range_latency(const struct range *range, uint32_t rank);

/** By so much the clocks leave the mean of these latencies open; 0: one clock, or no messages. */
double range_latency_error(const struct range *range, uint32_t rank);

void range_finish(struct range *range);

#endif

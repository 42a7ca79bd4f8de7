/* The state that join.c (open windows), join_match.c (pairing ends) and join_report.c share. */
#ifndef HOLTER_DAEMON_ANALYSIS_MATCHING_JOIN_STATE_H
#define HOLTER_DAEMON_ANALYSIS_MATCHING_JOIN_STATE_H

#include "daemon/analysis/clocks/pair_clock.h"
#include "daemon/analysis/matching/join.h"
#include "daemon/analysis/matching/key_limits.h"
#include "daemon/analysis/tables/key_order.h"

#define JOIN_MINIMUM_HALVES 16u

/* Of one node, for one window. */
struct key_cutoff {
    uint32_t node;
    uint64_t below;
};

/* The ends that were reported of a window that is still open. */
struct join_window {
    uint64_t number;
    uint64_t top; /* halves with greater keys are dropped: the bound of memory was reached */
    struct join_ends ends;
    struct key_cutoff *limits;
    size_t limit_count, limit_capacity;
    uint64_t below; /* any node may have left out keys from this one up; 0: none */
};

/* The send that was found for a receive. */
struct join_match {
    uint64_t sent_ns; /* begin of its send; after settling, on the receiver's clock */
    uint32_t
        reporters; /* position of the pair of tellers of both ends; or MATCH_NONE, MATCH_REFUSED */
    uint32_t send_us; /* length of the call that posted the send */
};

#define MATCH_NONE UINT32_MAX /* the send was not reported yet */
#define MATCH_REFUSED (UINT32_MAX - 1)

#define RECENT_PAIRS 512u /* a power of two */

/* Two tellers, of sends and of receives, with messages that were matched in this close. */
struct reporter_pair {
    uint32_t from, to;
    uint32_t number; /* its position */
    uint32_t clocks; /* number in join->clocks, after settling; KEY_NONE: they are not compared */
    uint32_t down;   /* the sending node has the higher number */
    /* The least that a receive's end may lie after its send's begin, given the error of both
     * clocks, and the least that was seen; INT64_MAX: none yet. */
    int64_t allowed_ns, least_ns;
    uint64_t at_ns;    /* end of the latest receive */
    uint64_t error_ns; /* of both clocks, UINT64_MAX: unknown; after settling what remains of it */
    int64_t offset_ns; /* after settling: to be added to times of the sender */
};

/* A call whose receives were reported in several places, so that none of the reports is complete:
 * the sums over all of them. */
struct partial_call {
    uint64_t latest_ns;       /* of the sends that are known */
    uint32_t first;           /* position of the first of its reports among the calls */
    uint32_t known, together; /* sends joined before, and messages in all */
    uint32_t matched;         /* sends joined now */
};

struct join {
    struct join_params params;
    struct join_window *open; /* sorted by number */
    size_t open_count, open_capacity;
    size_t open_halves;                /* in all of them */
    uint64_t next;                     /* windows below it are closed */
    struct join_ends waiting, staying; /* each key once */
    uint64_t staying_top; /* ends with greater keys may have been lost: no memory to keep them */
    struct key_limits limits;
    struct pair_clocks clocks;
    struct join_counts counts;
    /* Working memory of a close, kept for the next one. */
    struct key_place *places, *spare;
    /* Open addressing, of calls: position + 1; 0: empty. */
    uint32_t *call_index;
    struct join_match *matches;                  /* by receive */
    struct reporter_pair *reporter_pairs;        /* the first one is unused */
    struct reporter_pair *pair_of[RECENT_PAIRS]; /* by sender: the one that it pair last */
    struct partial_call *calls;
    size_t scratch_capacity, call_index_capacity, match_capacity, pair_capacity, call_capacity;
    size_t pair_count, call_count;
    size_t matched, refused; /* in this close */
    unsigned call_shift;     /* of a call's hash, to its place in call_index */
    struct join_ends idle;   /* memory of a closed window, for the next one that is opened */
};

/** Shift from 64-bit hashes to places of an index that so many entries fill to at most two thirds.
 */
unsigned join_shift_for(size_t count);

/** Places of an index whose hashes are shifted by so much. */
size_t join_places(unsigned shift);

/** Match the ends of a close: sets the send of each receive, the bounds of clocks and the calls
 * that were reported in parts. Ends without their other end are kept for later windows or dropped.
 *  @param ends  each key at most once among those that waited; grown for those */
void join_match(struct join *join, struct join_ends *ends, uint64_t window);

/** Update the clocks and finish the calls with the results of the matches. */
void join_update_clocks(struct join *join, const struct join_ends *ends);

/** Report the matches. */
void join_emit(struct join *join, const struct join_ends *ends, join_emit_fn *emit, void *user);

#endif

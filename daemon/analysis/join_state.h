/* What join.c (what is told, window by window) and join_match.c (which ends belong together) share. */
#ifndef HOLTER_ANALYSIS_JOIN_STATE_H
#define HOLTER_ANALYSIS_JOIN_STATE_H

#include "daemon/analysis/join.h"
#include "daemon/analysis/key_limits.h"
#include "daemon/analysis/key_order.h"
#include "daemon/analysis/pair_clock.h"

#define JOIN_LEAST_HALVES 16u

/* Of one node, for one window. */
struct told_limit {
    uint32_t node;
    uint64_t below;
};

/* What was told of a window that is not closed. */
struct opened {
    uint64_t number;
    uint64_t top; /* halves with greater keys are dropped for want of room */
    struct join_ends ends;
    struct told_limit *limits;
    size_t limit_count, limit_room;
    uint64_t below; /* any node may have left out keys from this one up; 0: none */
};

/* A message of which both ends are there. */
struct match {
    uint64_t sent_ns;       /* begin of the send; from settle() on, on the receiver's clock */
    uint32_t send, receive; /* positions of its ends */
    uint32_t pair : 31;     /* of nodes; PAIR_NONE: its clocks are not compared */
    uint32_t down : 1;      /* the sending node has the higher number */
    uint32_t call; /* that completed it with others; CALL_ALONE; CALL_UNKNOWN, see find_call() */
};

#define PAIR_NONE (UINT32_MAX >> 1)

#define JOIN_MET 512u /* a power of two */

/* Two tellers whose ends met in this close, sent and received. */
struct met {
    uint32_t from, to; /* both 0: none */
    uint64_t from_ns;  /* of the sender: see struct join_teller */
    uint64_t error_ns; /* of both clocks; UINT64_MAX: not known */
    uint32_t pair;     /* of nodes; PAIR_NONE: its clocks are not compared; PAIR_UNSEEN */
    uint32_t down : 1; /* the sending node has the higher number */
    uint32_t same : 1; /* it is the same node */
};

#define PAIR_UNSEEN UINT32_MAX

/* A call that completed several messages of other nodes: what all that was told of it says together.
 * Its number is that of its receives' calls as told. */
struct call {
    uint64_t latest_ns;       /* of the sends that are known */
    uint32_t first;           /* position among the calls as told */
    uint32_t known, together; /* sends joined before, and messages in all */
    uint32_t matched;         /* sends joined now */
};

struct join {
    struct join_params params;
    struct opened *open; /* sorted by number */
    size_t open_count, open_room;
    size_t open_halves;                /* in all of them */
    uint64_t next;                     /* windows below it are closed */
    struct join_ends waiting, staying; /* each key once */
    size_t stayed; /* position of the end that was kept last; SIZE_MAX: none to share with */
    struct key_limits limits;
    struct pair_clocks clocks;
    struct join_counts counts;
    /* Room that is used again by each close. */
    struct key_place *places, *spare;
    /* Open addressing, 0: empty. Of ends by key, see list_twos(), and of calls: position + 1. */
    uint32_t *index, *call_index;
    struct match *matches;
    struct call *calls;
    struct met met[JOIN_MET]; /* by hash: those that met last */
    size_t scratch_room, index_room, call_index_room, match_room, call_room;
    size_t match_count, call_count;
    size_t refused;                 /* of the matches of this close */
    unsigned end_shift, call_shift; /* of hashes, to places of the indexes */
    struct join_ends idle; /* room of a window that is closed, for the next that is opened */
};

/** By how much hashes are shifted to places of an index with room for so many, at most two thirds of it
 *  taken. */
unsigned join_shift_for(size_t count);

/** Places of an index whose hashes are shifted by so much. */
size_t join_places(unsigned shift);

/** Match the ends of a close: matches are listed, what they say of clocks and calls is noted, and what has
 *  no other end stays or is given up.
 *  @param ends  each key at most once among those that waited; room is made for count of them */
void join_match(struct join *join, struct join_ends *ends, uint64_t window);

/** Settle clocks and calls by what the matches said; then the begins of sends are on the clocks of
 *  receivers. */
void join_settle(struct join *join);

/** Tell the matches. */
void join_emit(struct join *join, const struct join_ends *ends, join_emit_fn *emit, void *user);

#endif

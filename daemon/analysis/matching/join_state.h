/* The state that join.c (open windows) and join_match.c (a close) share. */
#ifndef HOLTER_DAEMON_ANALYSIS_MATCHING_JOIN_STATE_H
#define HOLTER_DAEMON_ANALYSIS_MATCHING_JOIN_STATE_H

#include "daemon/analysis/clocks/pair_clock.h"
#include "daemon/analysis/matching/join.h"
#include "daemon/analysis/matching/key_limits.h"
#include "daemon/analysis/tables/key_order.h"

#include <stdbool.h>

/** With this limit, sums of two times and two errors stay within 63 bits. */
#define JOIN_MAXIMUM_NS (UINT64_C(1) << 61)

/* One end of a message. Times are daemon time, nanoseconds. */
struct join_end {
    uint64_t key;         /* the same at both ends, of no other message of the job */
    uint64_t window;      /* in which it was reported */
    uint64_t bytes;       /* size; a receive may get less than was sent, never more */
    uint64_t begin_ns;    /* entry of the call that posted the send or completed the receive */
    uint64_t end_ns;      /* exit of that call */
    uint64_t local_ns;    /* receive: latest known send among the messages that the same call
                             completed; none: begin_ns */
    uint64_t error_ns;    /* bound of the error of its times; UINT64_MAX: not known */
    uint32_t source;      /* sending rank */
    uint32_t destination; /* receiving rank */
    uint32_t node;        /* that reports it */
    uint32_t together;    /* receive: messages of other nodes that the same call completed, this one
                             included */
    uint32_t known;       /* receive: of those, the ones joined in windows before */
    bool receive;
    bool twice; /* duplicate: matches nothing, nor does a further one of its key */
};

/* Ends in the order in which they were reported. Zero-initialised is empty. */
struct join_ends {
    struct join_end *at; /* owned */
    size_t count, capacity;
};

/* Of one node, for one window. */
struct key_cutoff {
    uint32_t node;
    uint64_t below;
};

/* The ends that were reported of a window that is still open. */
struct join_window {
    uint64_t number;
    uint64_t top; /* ends with greater keys are dropped: the bound of memory was reached */
    struct join_ends ends;
    struct key_cutoff *limits;
    size_t limit_count, limit_capacity;
    uint64_t below; /* any node may have left out keys from this one up; 0: none */
};

struct join {
    struct join_params params;
    struct join_window *open; /* sorted by number */
    size_t open_count, open_capacity;
    size_t open_halves;                /* in all of them */
    uint64_t next;                     /* windows below it are closed */
    struct join_ends waiting, staying; /* each key once; staying: those of the next window */
    uint64_t staying_top; /* ends with greater keys may have been lost: no memory to keep them */
    struct key_limits limits;
    struct pair_clocks clocks;
    struct join_counts counts;
};

#define JOIN_ALONE UINT32_MAX         /* the other end was not reported yet */
#define JOIN_REFUSED (UINT32_MAX - 1) /* it contradicts this one, or the key came twice */

/* What a close finds out about an end. */
struct join_match {
    uint32_t other;  /* position of the other end; or JOIN_ALONE, JOIN_REFUSED */
    uint32_t clocks; /* receive: number in join->clocks; KEY_NONE: they are not compared */
    uint32_t call;   /* receive: number in closing->calls; KEY_NONE: it completed nothing else, or
                        there is no memory */
};

/* A call that completed several messages, perhaps in the reports of several windows. */
struct join_call {
    uint64_t latest_ns;       /* of the sends that are known */
    uint32_t known, together; /* sends joined before, and messages in all */
    uint32_t matched;         /* sends joined now */
};

/* Working memory of a close. */
struct join_closing {
    struct join_ends *ends;
    uint64_t window;
    struct join_match *matches; /* by end */
    struct key_place *places, *spare;
    const struct key_place *sorted; /* the ends by key: one of those two */
    struct key_table call_numbers;  /* hi: entry of the call, lo: its rank */
    struct join_call *calls;
    size_t call_capacity;
};

/* Append an end. @return 0, or -ENOMEM */
int join_ends_append(struct join_ends *to, const struct join_end *end);

/* Match the ends by key, and report the messages. Ends without their other end stay for later
 * windows, or are dropped. */
void join_match(struct join *join, struct join_closing *closing, join_emit_fn *emit, void *user);

#endif

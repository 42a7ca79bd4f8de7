/* Joining the two ends of messages between nodes.
 *
 * Each node reports the ends that happened on it, in the window in which it saw them; both ends of
 * a message carry the same key (WIRE_HALF_ROW of holter/wire.h). When a window of the job is
 * complete, its ends are joined by key. A wrong match is worse than none: ends whose ranks, sizes
 * or times contradict each other, and ends that were reported twice, are rejected and counted.
 *
 * With s the entry of the call that posted the send, w the entry and r the exit of the call that
 * completed the receive, and L the latest send among the messages which that call completed:
 *   transfer      r - s
 *   late sender   max(0, s - w)
 *   late receiver max(0, w - s)
 *   network       r - max(s, w, L) when the ends of all those messages are known; else that counts
 *                 as joint, with L from those that are known
 *
 * s was read from another clock than w and r. Where two nodes sent messages to each other, these
 * bound how far the clocks are apart, and s is corrected by it: see pair_clock.h. A transfer that
 * is smaller than the remaining error of the clocks is uncertain: it is counted, and used with its
 * error, since a mean of the other messages alone would be too large.
 *
 * The messages that are joined and their times do not depend on the order in which the halves of a
 * window were added, nor on how many windows are open, as long as the bound of memory is not
 * reached. Where it is reached, the halves with the smallest keys are kept, the same at both ends.
 * Only the order of the messages follows that of the halves.
 *
 * Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_MATCHING_JOIN_H
#define HOLTER_DAEMON_ANALYSIS_MATCHING_JOIN_H

#include "daemon/analysis/tables/state_bytes.h"

#include <stddef.h>
#include <stdint.h>

#define JOIN_MAXIMUM_WINDOWS 256u

struct join_params {
    uint32_t
        windows; /**< an end waits so many windows after its own; JOIN_MAXIMUM_WINDOWS at most */
    size_t most_halves; /**< kept at one time, open windows included; at least 16. Each takes up to
                             about 170 bytes while its window is closed */
};

/** A message of which both ends are known. */
struct joined {
    uint32_t source, destination;
    uint64_t bytes; /**< as received */
    uint64_t transfer_ns;
    uint64_t late_sender_ns;   /**< 0 when smaller than the error */
    uint64_t late_receiver_ns; /**< part of the transfer */
    uint64_t send_wait_ns;     /**< part of that, to a microsecond: see send_wait_ns() */
    uint64_t network_ns;       /**< part of the transfer; 0 when it counts as joint */
    uint64_t joint_ns;         /**< part of the transfer; 0 when it counts as network */
    uint64_t error_ns;         /**< bound of the error of the transfer; UINT64_MAX: unknown */
    uint64_t window;           /**< number of the window of its receive */
    int uncertain;             /**< the transfer is smaller than the error */
};

/** Since the start. */
struct join_counts {
    uint64_t matched;   /**< messages joined, the uncertain ones included */
    uint64_t unmatched; /**< ends dropped whose other end was never reported */
    uint64_t rejected;  /**< matches rejected: contradictory ends, or an end reported twice */
    uint64_t uncertain; /**< of the matched: transfer smaller than the error */
    uint64_t waiting;   /**< ends that are kept now, those of open windows included */
};

struct join;
struct wire_window;

/** How many windows an end waits for the other one where nothing else is asked for: four, or where
 *  windows are short as many as take four seconds, at most JOIN_MAXIMUM_WINDOWS.
 *  @param window_ns  0: not known */
uint32_t join_wait(uint64_t window_ns);

/** @return 0, -ENOMEM, or -HOLTER_ERANGE for parameters out of their range */
int join_create(struct join **out, const struct join_params *params);
void join_destroy(struct join *join);

/** Add the ends that a node reports in a window message. Ends of a closed window count in the next
 *  one that is closed; those of a window too far ahead are not kept.
 *  @param node    number of the node that reports; below 2^31
 *  @param number  of the window in which they count
 *  @return 0, -ENOMEM, or -HOLTER_ERANGE for a node or a window out of range, or when an end
 *  contradicts itself: nothing is added then */
int join_add_window(struct join *join, const struct wire_window *window, uint32_t node,
                    uint64_t number);

/** @param message  borrowed for the call */
typedef void join_emit_fn(void *user, const struct joined *message);

/** Close a window that is complete: join its ends and those of earlier windows, and drop ends that
 *  have waited for params.windows.
 *  @param emit  receives each message once; the order depends on that in which ends were added
 *  @return 0, or -ENOMEM: the ends of the window are kept, and joined with the next one. Ends for
 *  which there is no memory to wait are left out as nodes leave out ends: see key_limits.h */
int join_close(struct join *join, uint64_t window, join_emit_fn *emit, void *user);

void join_count(const struct join *join, struct join_counts *out);

/** See state_bytes.h. */
void join_copy_state(struct state_bytes *b, struct join **join);

#endif

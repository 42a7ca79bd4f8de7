/* The messages of a recording, summed over all its windows: pairs, calls, and what each rank did.
 * Messages between nodes are matched as in holterd, from the ends that agents sent.
 * Memory: linear in pairs that exchanged messages, and in (rank, call); and for matching. */
#ifndef HOLTER_EXPORT_CONTENT_H
#define HOLTER_EXPORT_CONTENT_H

#include "daemon/storage/recorded_sums.h"
#include "daemon/storage/recording.h"

#include <stddef.h>
#include <stdint.h>

struct content_pair {
    uint64_t source;
    int64_t destination; /**< -1: several receivers that were recorded together */
    uint64_t messages, bytes;
    uint64_t matched;     /**< messages matched at both ends; between nodes a sample */
    uint64_t transfer_ns; /**< sum of their transfer times */
    uint64_t error_ns; /**< by so much that may be wrong: uncertainty of the clocks of two nodes */
};

struct content_call {
    uint64_t rank;
    uint16_t call;
    struct recorded_calls sums;
};

/** The place of a rank, and the sums of its rows. */
struct content_rank {
    uint32_t host; /**< position in hosts; UINT32_MAX: unknown */
    struct wire_rank_row
        sums;         /**< members with a state of a window (in_call ...) have the last state */
    uint64_t windows; /**< that it is in */
    uint64_t newest;  /**< the newest of them */
};

struct content {
    struct content_pair *pairs; /**< by (source, destination) */
    size_t pair_count;
    struct content_call *calls; /**< by (rank, call) */
    size_t call_count;
    struct content_rank *ranks; /**< by rank */
    size_t rank_count;
    char (*hosts)[65];
    uint32_t host_count;
    char job[65];
    uint64_t window_ns;
    uint64_t first_window, last_window; /**< numbers; first > last: there are none */
    uint64_t messages;                  /**< of agents */
    uint64_t refused;                   /**< of these messages, those that cannot be decoded */
};

/** Called with a window of an agent. @return 0, or a value that ends the reading */
typedef int content_window(void *user, const struct wire_window *window);

/** Options of a reading. Zero-initialised: sums only. */
struct content_options {
    content_window *window; /**< called with each window message too; may be NULL. With it messages
                                 between nodes are not matched */
    void *user;
    const struct recording_progress *progress; /**< may be NULL */
    const struct recorded_span *span; /**< only windows of it; ends in other windows are not
                                         matched. NULL: all */
};

/** Read all messages.
 * @param out  finish it
 * @param why  set on failure @return 0, what `window` returned, or a negative error */
int content_read(struct content *out, const char *path, const struct content_options *options,
                 char *why, size_t capacity);

/** Zero-initialised is fine. */
void content_finish(struct content *content);

#endif

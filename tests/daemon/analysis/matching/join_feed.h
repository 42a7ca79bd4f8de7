/* The ends that one node reports of one window, added to a join. */
#ifndef HOLTER_TESTS_DAEMON_ANALYSIS_MATCHING_JOIN_FEED_H
#define HOLTER_TESTS_DAEMON_ANALYSIS_MATCHING_JOIN_FEED_H

#include "daemon/analysis/matching/join.h"
#include "holter/error.h"
#include "holter/wire.h"

#include <errno.h>
#include <stdlib.h>

/** One end of a message. Times are daemon time, nanoseconds; WIRE_HALF_ROW describes the rest. */
struct join_half {
    uint64_t key;
    int receive;
    uint32_t source, destination;
    uint64_t bytes;
    uint64_t begin_ns, end_ns;
    uint64_t local_ns;
    uint32_t together;
    uint32_t node;     /**< number of the node that reports it */
    uint64_t error_ns; /**< bound of the error of its times; UINT64_MAX: not known */
};

/** Add ends, as the daemon does for those of a message: one for all that share an error.
 *  @param keys_below  the node left out halves of keys from this one up; 0: none
 *  @return as join_add_window(); -HOLTER_ERANGE: ends of several nodes */
static inline int join_feed(struct join *join, uint64_t window, uint64_t keys_below,
                            const struct join_half *halves, size_t count)
{
    struct wire_half_row *rows = calloc(count + 1, sizeof(*rows));
    struct wire_window message = {.keys_below = keys_below, .halves = rows};
    int code = rows == NULL ? -ENOMEM : 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        const struct join_half *h = &halves[i];
        rows[message.halves_count++] = (struct wire_half_row){.key = h->key,
                                                              .receive = (uint64_t)h->receive,
                                                              .source = h->source,
                                                              .destination = h->destination,
                                                              .bytes = h->bytes,
                                                              .begin_ns = (int64_t)h->begin_ns,
                                                              .length_ns = h->end_ns - h->begin_ns,
                                                              .local_ns = (int64_t)h->local_ns,
                                                              .together = h->together};
        message.clock_error_ns = h->error_ns;
        if (h->node != halves[0].node)
            code = -HOLTER_ERANGE;
        else if (i + 1 < count && h->error_ns != h[1].error_ns && h->node == h[1].node) {
            code = join_add_window(join, &message, h->node, window);
            message.halves_count = 0;
        }
    }
    if (code == 0)
        code = join_add_window(join, &message, count == 0 ? 0 : halves[0].node, window);
    free(rows);
    return code;
}

#endif

/* The ends that one node reports of one window, added to a join. */
#ifndef HOLTER_TESTS_DAEMON_ANALYSIS_MATCHING_JOIN_FEED_H
#define HOLTER_TESTS_DAEMON_ANALYSIS_MATCHING_JOIN_FEED_H

#include "daemon/analysis/matching/join.h"
#include "include/holter/error.h"

#include <errno.h>

/** Add ends, as the daemon does for those of a message.
 *  @param keys_below  the node left out halves of keys from this one up; 0: none
 *  @return as join_commit(); -HOLTER_ERANGE: ends of several nodes */
static inline int join_feed(struct join *join, uint64_t window, uint64_t keys_below,
                            const struct join_half *halves, size_t count)
{
    struct join_writer writer;
    struct join_report report = {.window = window, .keys_below = keys_below, .count = count};
    if (count > 0) {
        report.error_ns = halves[0].error_ns;
        report.node = halves[0].node;
    }
    int code = join_begin(join, &writer, &report);
    if (code != 0 || writer.ends == NULL)
        return code;
    for (size_t i = 0; i < count; i++) {
        if (halves[i].node != report.node)
            return -HOLTER_ERANGE;
        if (halves[i].error_ns != writer.report.error_ns &&
            join_writer_turn(&writer, halves[i].error_ns) != 0)
            return -ENOMEM;
        join_put(&writer, &halves[i]);
    }
    return join_commit(join, &writer);
}

#endif

/* Messages and other sets as bursts that are added to a set. */
#ifndef HOLTER_TESTS_DAEMON_ANALYSIS_EVENTS_BURST_FEED_H
#define HOLTER_TESTS_DAEMON_ANALYSIS_EVENTS_BURST_FEED_H

#include "daemon/analysis/events/bursts.h"

/** Messages of one time from one rank to another, all of one size class. */
struct burst_message {
    uint64_t time_ns;
    uint32_t source, destination;
    uint32_t size_class;
    uint64_t messages;
    uint64_t bytes; /**< of all of them */
};

/** Add messages. @return as bursts_add() */
static inline int burst_feed_message(struct bursts *set, const struct burst_message *m)
{
    __extension__ const unsigned __int128 sum = (unsigned __int128)m->time_ns * m->messages;
    const struct burst_pair row = {m->source, m->destination, m->size_class,
                                   0,         m->messages,    m->bytes};
    const struct burst_sums burst = {.first_ns = m->time_ns,
                                     .last_ns = m->time_ns,
                                     .time_sum_high = (uint64_t)(sum >> 64),
                                     .time_sum_low = (uint64_t)sum,
                                     .messages = m->messages,
                                     .bytes = m->bytes,
                                     .pairs = &row,
                                     .pair_count = 1};
    return bursts_add(set, &burst);
}

/** Add all bursts of another set, earliest first. @return as bursts_add() */
static inline int burst_feed_set(struct bursts *set, struct bursts *other)
{
    int code = 0;
    for (uint32_t i = 0; code == 0 && i < bursts_count(other); i++) {
        struct burst_sums burst;
        code = bursts_read(other, i, &burst);
        code = code != 0 ? code : bursts_add(set, &burst);
    }
    return code;
}

#endif

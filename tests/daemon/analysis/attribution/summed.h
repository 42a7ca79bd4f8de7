/* Windows for attribution alone: what latency_add() makes of their messages by rank. */
#ifndef TESTS_DAEMON_ANALYSIS_ATTRIBUTION_SUMMED_H
#define TESTS_DAEMON_ANALYSIS_ATTRIBUTION_SUMMED_H

#include "daemon/analysis/attribution/attribution.h"

#include <stdlib.h>

/** Without memory the test ends. @param ranks  as for message_ranks_begin() */
static inline void sum_messages(struct message_ranks *ranks,
                                const struct attribution_window *window)
{
    static const struct latency_scale none;
    uint32_t count = 0;
    for (size_t i = 0; i < window->rank_count; i++)
        count = window->ranks[i].rank >= count ? (uint32_t)window->ranks[i].rank + 1 : count;
    uint32_t *region_of = calloc((size_t)count + 1, sizeof(*region_of));
    struct latency_rank *by_rank = calloc((size_t)count + 1, sizeof(*by_rank));
    if (region_of == NULL || by_rank == NULL || message_ranks_begin(ranks, count) != 0)
        abort();
    struct latency_groups groups = {
        .region_of = region_of, .rank_count = count, .messages = ranks, .ranks = by_rank};
    if (window->transfers != NULL)
        latency_add(&groups, window->scale != NULL ? window->scale : &none, window->transfers);
    free(region_of);
    free(by_rank);
}

/** As attribution_window(), with them. */
static inline int take_summed(struct attribution *a, struct attribution_window *window)
{
    struct message_ranks ranks = {.count = 0};
    sum_messages(&ranks, window);
    window->messages = &ranks;
    int code = attribution_window(a, window);
    window->messages = NULL;
    message_ranks_finish(&ranks);
    return code;
}

#endif

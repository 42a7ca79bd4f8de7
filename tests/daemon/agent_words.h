/* The first message of an agent: a node of a job whose nodes have equally many ranks, in
 * order. */
#ifndef HOLTER_TESTS_DAEMON_AGENT_WORDS_H
#define HOLTER_TESTS_DAEMON_AGENT_WORDS_H

#include "holter/wire.h"

#include <stdio.h>

#define AGENT_WORDS_RANKS 16u /* most on a node */

struct agent_words {
    char host[16];
    struct wire_member_row members[AGENT_WORDS_RANKS];
};

/** Host "n" and its number, on it `each` of the job's `world` ranks.
 *  @param words  holds what the message points to */
static inline struct wire_ranks agent_words_ranks(struct agent_words *words, const char *job,
                                                  unsigned node, unsigned each, unsigned world,
                                                  uint64_t seq)
{
    for (unsigned i = 0; i < each && i < AGENT_WORDS_RANKS; i++)
        words->members[i] = (struct wire_member_row){.rank = node * each + i, .placement = "0"};
    snprintf(words->host, sizeof(words->host), "n%u", node);
    return (struct wire_ranks){.seq = seq,
                               .job = job,
                               .world = world,
                               .app = "app",
                               .mpi = "mpi",
                               .host = words->host,
                               .members = words->members,
                               .members_count = each};
}

#endif

/* The hosts of a recording, one for each agent as in the daemon: hosts may share a name. An agent
 * that was started again goes on for the one before it, if that one had one of its ranks on a host
 * of its name. Memory: linear in hosts, agents and ranks. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDED_HOSTS_H
#define HOLTER_DAEMON_STORAGE_RECORDED_HOSTS_H

#include "daemon/analysis/tables/key_table.h"
#include "holter/wire.h"

#include <stddef.h>
#include <stdint.h>

#define RECORDED_HOSTS_MOST (UINT32_C(1) << 20)
#define RECORDED_HOST_NONE UINT32_MAX

/** Zero-initialised is empty. */
struct recorded_hosts {
    char (*names)[65]; /**< owned; in the order of their first messages */
    uint32_t count;
    size_t capacity;
    uint32_t *of_rank; /**< owned; of the first rank_count ranks; RECORDED_HOST_NONE: not known */
    size_t rank_count, rank_capacity;
    struct key_table agents; /**< hi: instance */
    uint32_t *of_agent;      /**< owned; by number of the agent */
    size_t agent_capacity;
};

void recorded_hosts_finish(struct recorded_hosts *hosts);

/** Host of the agent that sent a message of its ranks, which are on it from now on. Ranks of 2^24
 *  and more are left out.
 *  @return its number, -ENOMEM, or -HOLTER_ELIMIT: there are too many hosts */
int64_t recorded_hosts_of_ranks(struct recorded_hosts *hosts, uint64_t instance,
                                const struct wire_ranks *ranks);

/** Host of the agent that sent a window. @return as above */
int64_t recorded_hosts_of_window(struct recorded_hosts *hosts, uint64_t instance,
                                 const struct wire_window *window);

/** Host of the agent that sent any other message. @param name  of the host @return as above */
int64_t recorded_hosts_of_agent(struct recorded_hosts *hosts, uint64_t instance, const char *name);

#endif

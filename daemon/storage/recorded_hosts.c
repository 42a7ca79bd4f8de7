/* Numbers of hosts by the instances of their agents: see recorded_hosts.h. */
#include "daemon/storage/recorded_hosts.h"

#include "daemon/analysis/tables/array.h"
#include "holter/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RANKS (UINT64_C(1) << 24)

void recorded_hosts_finish(struct recorded_hosts *h)
{
    key_table_finish(&h->agents);
    free(h->names);
    free(h->of_rank);
    free(h->of_agent);
    *h = (struct recorded_hosts){.count = 0};
}

static int64_t recorded_hosts_add(struct recorded_hosts *h, const char *name)
{
    if (h->count == RECORDED_HOSTS_MOST)
        return -HOLTER_ELIMIT;
    if (ARRAY_FIT(h->names, h->capacity, h->count + (size_t)1) != 0)
        return -ENOMEM;
    snprintf(h->names[h->count], sizeof(*h->names), "%s", name);
    return h->count++;
}

/* @param before  host of one of the agent's ranks; RECORDED_HOST_NONE: not known */
static int64_t recorded_hosts_find(struct recorded_hosts *h, uint64_t instance, const char *name,
                                   uint32_t before)
{
    const uint32_t known = h->agents.count;
    const uint32_t agent = KEY_TABLE_EXTEND(&h->agents, ((struct key){.hi = instance}), UINT32_MAX,
                                            h->of_agent, h->agent_capacity);
    if (agent == KEY_NONE)
        return -ENOMEM;
    if (agent != known)
        return h->of_agent[agent];
    const int goes_on = before != RECORDED_HOST_NONE && strcmp(h->names[before], name) == 0;
    const int64_t host = goes_on ? (int64_t)before : recorded_hosts_add(h, name);
    h->of_agent[agent] = host < 0 ? RECORDED_HOST_NONE : (uint32_t)host;
    return host;
}

/* @param otherwise  where the host of the rank is not known */
static uint32_t recorded_hosts_before(const struct recorded_hosts *h, uint64_t rank,
                                      uint32_t otherwise)
{
    return rank < h->rank_count && h->of_rank[rank] != RECORDED_HOST_NONE ? h->of_rank[rank]
                                                                          : otherwise;
}

static int recorded_hosts_put_rank(struct recorded_hosts *h, uint64_t rank, uint32_t host)
{
    if (rank >= MOST_RANKS)
        return 0;
    if (ARRAY_FIT(h->of_rank, h->rank_capacity, (size_t)rank + 1) != 0)
        return -ENOMEM;
    while (h->rank_count <= rank)
        h->of_rank[h->rank_count++] = RECORDED_HOST_NONE;
    h->of_rank[rank] = host;
    return 0;
}

int64_t recorded_hosts_of_ranks(struct recorded_hosts *h, uint64_t instance,
                                const struct wire_ranks *ranks)
{
    uint32_t before = RECORDED_HOST_NONE;
    for (uint64_t i = ranks->members_count; i-- > 0;)
        before = recorded_hosts_before(h, ranks->members[i].rank, before);
    const int64_t host = recorded_hosts_find(h, instance, ranks->host, before);
    int code = host < 0 ? (int)host : 0;
    for (uint64_t i = 0; code == 0 && i < ranks->members_count; i++)
        code = recorded_hosts_put_rank(h, ranks->members[i].rank, (uint32_t)host);
    return code != 0 ? code : host;
}

int64_t recorded_hosts_of_window(struct recorded_hosts *h, uint64_t instance,
                                 const struct wire_window *window)
{
    uint32_t before = RECORDED_HOST_NONE;
    for (uint64_t i = window->ranks_count; i-- > 0;)
        before = recorded_hosts_before(h, window->ranks[i].rank, before);
    const int64_t host = recorded_hosts_find(h, instance, window->host, before);
    int code = host < 0 ? (int)host : 0;
    /* A part of a recording may begin with windows. */
    for (uint64_t i = 0; code == 0 && i < window->ranks_count; i++) {
        const uint64_t rank = window->ranks[i].rank;
        if (recorded_hosts_before(h, rank, RECORDED_HOST_NONE) == RECORDED_HOST_NONE)
            code = recorded_hosts_put_rank(h, rank, (uint32_t)host);
    }
    return code != 0 ? code : host;
}

int64_t recorded_hosts_of_agent(struct recorded_hosts *h, uint64_t instance, const char *name)
{
    return recorded_hosts_find(h, instance, name, RECORDED_HOST_NONE);
}

/* A window of the same pairs as the last one: nearly all windows of nearly all jobs. */
#include "daemon/analysis/network/congestion_inner.h"

#define AT_ONCE 512u /* pairs whose latencies stay near between two passes */

bool congestion_are_same(struct congestion *c, const struct congestion_pair *pairs, size_t count,
                         bool *loads)
{
    uint64_t differs = 0;
    bool whole = true;
    if (count != c->pair_count)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct congestion_pair *before = &c->pairs[i], *pair = &pairs[i];
        if (before->source != pair->source || before->destination != pair->destination ||
            (pair->bytes | pair->messages | pair->matched) == 0)
            return false;
        differs |= (before->bytes ^ pair->bytes) | (before->messages ^ pair->messages);
        whole = whole && (pair->bytes | pair->messages) != 0;
    }
    *loads = differs == 0;
    c->whole = whole;
    return true;
}

static bool keeps_routes(struct congestion *c)
{
    if (c->keeping == KEEPING_UNDECIDED)
        c->keeping = link_loads_walks(c->loads) &&
                             kept_routes_list(&c->routes, c->topology, c->pairs, c->pair_count) == 0
                         ? KEEPING
                         : NOT_KEEPING;
    return c->keeping == KEEPING;
}

void congestion_settle_pairs(struct congestion *c)
{
    for (size_t i = 0; c->aside && i < c->pair_count; i++) {
        c->pairs[i].matched = c->routes.loads[i].messages;
        c->pairs[i].log_latency = (double)(int64_t)c->routes.loads[i].bytes / CONGESTION_UNIT;
    }
    c->aside = false;
}

/* Loads of pairs that have become other ones, along routes that are known. */
static void change_loads(struct congestion *c, const struct congestion_pair *pairs)
{
    for (size_t i = 0; i < c->pair_count; i++) {
        const struct congestion_pair *after = &pairs[i];
        struct congestion_pair *kept = &c->pairs[i];
        struct link_load more = {after->bytes - kept->bytes, after->messages - kept->messages};
        if ((more.bytes | more.messages) == 0)
            continue;
        link_loads_add_routes(c->loads, c->routes.links, c->routes.first + i, &more, 1);
        link_loads_add_ends(c->loads, &(struct load_change){.source = after->source,
                                                            .destination = after->destination,
                                                            .bytes = (int64_t)more.bytes,
                                                            .messages = (int64_t)more.messages});
        kept->bytes = after->bytes;
        kept->messages = after->messages;
    }
}

static struct link_load load_of(uint64_t matched, double log_latency)
{
    double units = matched == 0 ? 0 : congestion_units(log_latency);
    return (struct link_load){(uint64_t)(int64_t)units, matched};
}

/* Latencies are other ones in each window: they are added up anew. */
static void add_latencies(struct congestion *c, const struct congestion_pair *pairs)
{
    link_loads_clear(c->latencies);
    for (size_t i = 0; i < c->pair_count; i++)
        c->routes.loads[i] = load_of(pairs[i].matched, pairs[i].log_latency);
    link_loads_add_routes(c->latencies, c->routes.links, c->routes.first, c->routes.loads,
                          c->pair_count);
    c->aside = true;
}

/* The pairs become others one by one. */
static void stay_walking(struct congestion *c, const struct congestion_pair *pairs)
{
    for (size_t i = 0; i < c->pair_count; i++) {
        struct congestion_pair after = pairs[i];
        after.log_latency =
            after.matched == 0 ? 0 : congestion_units(after.log_latency) / CONGESTION_UNIT;
        congestion_become(c, &c->pairs[i], &after, 0);
        c->pairs[i] = after;
    }
    congestion_flush(c);
}

void congestion_stay(struct congestion *c, const struct congestion_pair *pairs, bool same_loads)
{
    if (!keeps_routes(c)) {
        stay_walking(c, pairs);
        return;
    }
    if (!same_loads)
        change_loads(c, pairs);
    add_latencies(c, pairs);
}

/* As stay_walking() with the loads that were. */
static void shift_walking(struct congestion *c, const struct congestion_latency *latencies,
                          double unit)
{
    for (size_t i = 0; i < c->pair_count; i++) {
        struct congestion_pair after = c->pairs[i];
        after.matched = latencies[i].matched;
        after.log_latency = after.matched == 0 ? 0
                                               : congestion_units(latencies[i].log_latency * unit) /
                                                     CONGESTION_UNIT;
        congestion_become(c, &c->pairs[i], &after, 0);
        c->pairs[i] = after;
    }
    congestion_flush(c);
}

void congestion_stay_latencies(struct congestion *c, const struct congestion_latency *latencies,
                               double unit)
{
    if (!keeps_routes(c)) {
        shift_walking(c, latencies, unit);
        return;
    }
    link_loads_clear(c->latencies);
    for (size_t from = 0; from < c->pair_count; from += AT_ONCE) {
        size_t count = c->pair_count - from < AT_ONCE ? c->pair_count - from : AT_ONCE;
        for (size_t i = from; i < from + count; i++)
            c->routes.loads[i] = load_of(latencies[i].matched, latencies[i].log_latency * unit);
        link_loads_add_routes(c->latencies, c->routes.links, c->routes.first + from,
                              c->routes.loads + from, count);
    }
    c->aside = true;
}

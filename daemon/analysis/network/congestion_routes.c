/* The pairs that load given links most. */
#include "daemon/analysis/network/congestion.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The best pairs so far of each link, the best first. */
struct tops {
    const struct congestion_pair *pairs;
    struct congestion_route *out; /* `maximum` a link */
    size_t *used;
    size_t maximum;
};

/* Does one route come after another in their order? */
static bool routes_is_less(const struct tops *tops, const struct congestion_route *a,
                           const struct congestion_route *b)
{
    const struct congestion_pair *x = &tops->pairs[a->pair], *y = &tops->pairs[b->pair];
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes;
    return x->messages != y->messages ? x->messages < y->messages : a->pair > b->pair;
}

static void routes_offer(struct tops *tops, size_t position, const struct congestion_route *route)
{
    struct congestion_route *list = tops->out + position * tops->maximum;
    size_t *used = &tops->used[position], at = *used;
    if (at == tops->maximum && (at == 0 || !routes_is_less(tops, &list[--at], route)))
        return;
    for (; at > 0 && routes_is_less(tops, &list[at - 1], route); at--)
        list[at] = list[at - 1];
    list[at] = *route;
    *used += *used < tops->maximum;
}

static int routes_walk_pairs(const struct congestion_query *query, struct tops *tops)
{
    const struct topology *topology = query->topology;
    uint32_t capacity = topology_diameter(topology) + 1, *route = malloc(capacity * sizeof(*route));
    size_t *place = calloc((size_t)topology_links(topology) + 1, sizeof(*place)); /* 0: not asked */
    int code = route == NULL || place == NULL ? -ENOMEM : 0;
    for (size_t i = 0; code == 0 && i < query->link_count; i++)
        if (query->links[i] < topology_links(topology))
            place[query->links[i]] = i + 1;
    for (size_t p = 0; code == 0 && p < query->count; p++) {
        const struct congestion_pair *pair = &query->pairs[p];
        uint32_t length =
            topology_route(topology, pair->source, pair->destination, route, capacity);
        if (length == TOPOLOGY_NONE || length > capacity)
            continue;
        for (uint32_t k = 0; k < length; k++)
            if (place[route[k]] != 0)
                routes_offer(tops, place[route[k]] - 1,
                             &(struct congestion_route){route[k], length, p});
    }
    free(route);
    free(place);
    return code;
}

int congestion_routes(const struct congestion_query *query, struct congestion_route *out,
                      size_t *found)
{
    const size_t links = query->link_count;
    struct tops tops = {query->pairs, out, calloc(links + 1, sizeof(size_t)),
                        query->top < query->count ? query->top : query->count};
    if (tops.used == NULL)
        return -ENOMEM;
    int code = routes_walk_pairs(query, &tops);
    size_t all = 0;
    for (size_t i = 0; code == 0 && i < links; i++) { /* close the gaps between the lists */
        memmove(out + all, out + i * tops.maximum, tops.used[i] * sizeof(*out));
        all += tops.used[i];
    }
    if (code == 0)
        *found = all;
    free(tops.used);
    return code;
}

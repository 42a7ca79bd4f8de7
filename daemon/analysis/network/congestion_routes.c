/* The pairs that load given links most. */
#include "daemon/analysis/network/congestion.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FEW 8u /* up to so many links, each is tested; else the routes are walked */

/* The best pairs so far of each link: a heap whose first element is the least. */
struct tops {
    const struct congestion_pair *pairs;
    struct congestion_route *out; /* `most` a link */
    size_t *used;
    size_t most;
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

/* Restore the heap below a position. */
static void routes_sift_down(const struct tops *tops, struct congestion_route *heap, size_t count,
                             size_t at)
{
    struct congestion_route route = heap[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && routes_is_less(tops, &heap[child + 1], &heap[child]);
        if (!routes_is_less(tops, &heap[child], &route))
            break;
        heap[at] = heap[child];
    }
    heap[at] = route;
}

static void routes_sift_up(const struct tops *tops, struct congestion_route *heap, size_t at)
{
    struct congestion_route route = heap[at];
    for (size_t parent; at > 0 && routes_is_less(tops, &route, &heap[parent = (at - 1) / 2]);
         at = parent)
        heap[at] = heap[parent];
    heap[at] = route;
}

static void routes_offer(struct tops *tops, size_t position, const struct congestion_route *route)
{
    struct congestion_route *heap = tops->out + position * tops->most;
    size_t *used = &tops->used[position];
    if (*used < tops->most) {
        heap[*used] = *route;
        routes_sift_up(tops, heap, (*used)++);
    } else if (tops->most > 0 && routes_is_less(tops, &heap[0], route)) {
        heap[0] = *route;
        routes_sift_down(tops, heap, *used, 0);
    }
}

static void routes_test_pairs(const struct topology *topology, size_t count, const uint32_t *links,
                              size_t link_count, struct tops *tops)
{
    for (size_t p = 0; p < count; p++) {
        const struct congestion_pair *pair = &tops->pairs[p];
        for (size_t i = 0; i < link_count; i++)
            if (topology_crosses(topology, pair->source, pair->destination, links[i])) {
                struct congestion_route route = {
                    links[i], topology_distance(topology, pair->source, pair->destination), p};
                routes_offer(tops, i, &route);
            }
    }
}

static int routes_walk_pairs(const struct topology *topology, size_t count, const uint32_t *links,
                             size_t link_count, struct tops *tops)
{
    uint32_t room = topology_diameter(topology) + 1, *route = malloc(room * sizeof(*route));
    size_t *place = calloc((size_t)topology_links(topology) + 1, sizeof(*place)); /* 0: not asked */
    int code = route == NULL || place == NULL ? -ENOMEM : 0;
    for (size_t i = 0; code == 0 && i < link_count; i++)
        if (links[i] < topology_links(topology))
            place[links[i]] = i + 1;
    for (size_t p = 0; code == 0 && p < count; p++) {
        const struct congestion_pair *pair = &tops->pairs[p];
        uint32_t length = topology_route(topology, pair->source, pair->destination, route, room);
        if (length == TOPOLOGY_NONE || length > room)
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

/* Sort each heap, largest first, and close the gaps between them. */
static size_t routes_arrange(struct tops *tops, size_t link_count)
{
    size_t found = 0;
    for (size_t i = 0; i < link_count; i++) {
        struct congestion_route *heap = tops->out + i * tops->most;
        for (size_t left = tops->used[i]; left > 1; left--) {
            struct congestion_route least = heap[0];
            heap[0] = heap[left - 1];
            routes_sift_down(tops, heap, left - 1, 0);
            heap[left - 1] = least;
        }
        memmove(tops->out + found, heap, tops->used[i] * sizeof(*heap));
        found += tops->used[i];
    }
    return found;
}

int congestion_routes(const struct topology *topology, const struct congestion_pair *pairs,
                      size_t count, const uint32_t *links, size_t link_count, size_t top,
                      struct congestion_route *out, size_t *found)
{
    struct tops tops = {pairs, out, calloc(link_count + 1, sizeof(size_t)),
                        top < count ? top : count};
    int code = 0;
    if (tops.used == NULL)
        return -ENOMEM;
    if (link_count > FEW)
        code = routes_walk_pairs(topology, count, links, link_count, &tops);
    else
        routes_test_pairs(topology, count, links, link_count, &tops);
    if (code == 0)
        *found = routes_arrange(&tops, link_count);
    free(tops.used);
    return code;
}

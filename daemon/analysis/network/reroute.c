/* The search for better routes: see reroute.h. */
#include "daemon/analysis/network/reroute.h"
#include "daemon/analysis/network/reroute_graph.h"
#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/saturate.h"
#include "holter/error.h"
#include "holter/order.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NONE TOPOLOGY_NONE

/* A vertex in the search for the path whose heaviest link carries least. */
struct reach {
    uint64_t
        best; /* load of the heaviest link of the best walk from the source; UINT64_MAX: none yet */
    uint64_t then; /* the same, of walks with at most the present number of hops */
    uint32_t turn; /* number of hops at which it was last put in the queue */
};

/* A vertex in the search for the shortest route. */
struct visit {
    uint64_t sum;   /* smallest sum of loads of a shortest path from the source */
    uint32_t level; /* links of that path; NONE: not reached */
    uint32_t link;  /* its last link */
};

struct reroute {
    const struct topology *topology; /* borrowed */
    struct reroute_graph graph;
    uint32_t link_count;
    struct arena memory; /* of all arrays but `many` */
    uint64_t *loads;
    struct reach *reach;  /* `best` is UINT64_MAX between searches */
    struct visit *visits; /* `level` is NONE between searches */
    uint32_t *now, *next; /* vertices to examine, with this number of hops and with the next */
    uint32_t *seen, seen_count; /* vertices whose reach or visit is set */
    uint32_t *old;              /* the topology's route */
    uint32_t old_capacity;
    uint64_t *kept;  /* loads of the old route's links while its bytes are subtracted */
    uint32_t *found; /* space for all vertices */
    uint32_t *many;  /* owned; routes of reroute_several() */
    size_t many_capacity;
};

/* The limits of a search. */
struct search {
    uint32_t from, to;
    uint32_t limit; /* links */
    uint64_t bound; /* load of the heaviest link, without the route's bytes */
};

/* The present route, with its bytes subtracted from its links. */
struct before {
    const uint32_t *links;
    uint32_t length;
    uint64_t heaviest, sum;
};

static int reroute_init(struct reroute *r)
{
    uint32_t vertices = topology_vertices(r->topology);
    r->link_count = topology_links(r->topology);
    r->old_capacity = topology_diameter(r->topology) + 1;
    ARENA_TAKE(&r->memory, r->loads, (size_t)r->link_count + 1);
    ARENA_TAKE(&r->memory, r->reach, vertices);
    ARENA_TAKE(&r->memory, r->visits, vertices);
    ARENA_TAKE(&r->memory, r->now, vertices);
    ARENA_TAKE(&r->memory, r->next, vertices);
    ARENA_TAKE(&r->memory, r->seen, vertices + 2);
    ARENA_TAKE(&r->memory, r->found, vertices);
    ARENA_TAKE(&r->memory, r->old, r->old_capacity);
    ARENA_TAKE(&r->memory, r->kept, r->old_capacity);
    if (r->memory.failed)
        return -ENOMEM;
    for (uint32_t v = 0; v < vertices; v++) {
        r->reach[v].best = UINT64_MAX;
        r->visits[v].level = NONE;
    }
    return reroute_graph_init(&r->graph, r->topology);
}

int reroute_create(struct reroute **out, const struct topology *topology)
{
    struct reroute *r = calloc(1, sizeof(*r));
    if (r == NULL)
        return -ENOMEM;
    r->topology = topology;
    int code = reroute_init(r);
    if (code != 0) {
        reroute_destroy(r);
        return code;
    }
    *out = r;
    return 0;
}

void reroute_destroy(struct reroute *r)
{
    if (r == NULL)
        return;
    reroute_graph_finish(&r->graph);
    arena_finish(&r->memory);
    free(r->many);
    free(r);
}

void reroute_set(struct reroute *r, const uint64_t *bytes)
{
    memcpy(r->loads, bytes, r->link_count * sizeof(*r->loads));
}

const uint64_t *reroute_loads(const struct reroute *r)
{
    return r->loads;
}

static void reroute_swap_lines(struct reroute *r)
{
    uint32_t *line = r->now;
    r->now = r->next;
    r->next = line;
}

/* The heaviest link of a path that always uses the least loaded link towards the destination: an
 * upper bound, so that much of the network need not be searched. */
static uint64_t reroute_trace_back(struct reroute *r, const struct search *s)
{
    const struct reroute_graph *graph = &r->graph;
    uint64_t heaviest = 0;
    for (uint32_t at = s->from, next; at != s->to; at = next) {
        uint64_t minimum = UINT64_MAX;
        uint32_t distance = reroute_graph_distance(&r->graph, at);
        next = NONE;
        for (uint32_t e = graph->first[at]; e < graph->first[at + 1]; e++) {
            uint32_t to = graph->edges[e].to;
            uint64_t load = r->loads[graph->edges[e].link];
            if ((next == NONE || load < minimum) &&
                reroute_graph_distance(&r->graph, to) < distance &&
                (to == s->to || !graph->closed[to])) {
                minimum = load;
                next = to;
            }
        }
        if (next == NONE)
            return UINT64_MAX;
        heaviest = minimum > heaviest ? minimum : heaviest;
    }
    return heaviest;
}

/* Extend the walks to one vertex by a link. @return vertices in r->next */
static uint32_t reroute_relax_edges(struct reroute *r, const struct search *s, uint32_t at,
                                    uint32_t hops, uint32_t waiting)
{
    const struct reroute_graph *graph = &r->graph;
    uint64_t so_far = r->reach[at].then;
    for (uint32_t e = graph->first[at]; e < graph->first[at + 1]; e++) {
        uint32_t to = graph->edges[e].to;
        uint64_t load = r->loads[graph->edges[e].link];
        load = load > so_far ? load : so_far;
        if (load >= r->reach[s->to].best ||
            hops + reroute_graph_distance(&r->graph, to) > s->limit || load >= r->reach[to].best ||
            (to != s->to && graph->closed[to]))
            continue;
        struct reach *reach = &r->reach[to];
        if (reach->best == UINT64_MAX)
            r->seen[r->seen_count++] = to;
        if (reach->best == UINT64_MAX || reach->turn != hops)
            r->next[waiting++] = to;
        reach->best = load;
        reach->turn = hops;
    }
    return waiting;
}

/* Find the smallest load of the heaviest link over walks of at most s->limit links. The bound is a
 * load that is known to be possible.
 *
 * A vertex is in the queue at the number of hops of its best walk, and again when a longer walk is
 * better. A longer walk that is no better reaches nothing that the shorter one would not.
 */
static uint64_t reroute_minimum_heaviest(struct reroute *r, const struct search *s)
{
    uint32_t waiting = 1;
    uint64_t bound = reroute_trace_back(r, s);
    bound = s->bound < bound ? s->bound : bound;
    r->seen_count = 0;
    r->seen[r->seen_count++] = s->from;
    r->seen[r->seen_count++] = s->to;
    r->now[0] = s->from;
    r->reach[s->from] = (struct reach){0, 0, 0};
    r->reach[s->to] = (struct reach){bound, bound, 0};
    for (uint32_t hops = 1; hops <= s->limit && waiting > 0; hops++) {
        uint32_t count = waiting;
        waiting = 0;
        for (uint32_t i = 0; i < count; i++)
            waiting = reroute_relax_edges(r, s, r->now[i], hops, waiting);
        reroute_swap_lines(r);
        for (uint32_t i = 0; i < waiting; i++)
            r->reach[r->now[i]].then = r->reach[r->now[i]].best;
    }
    uint64_t best = r->reach[s->to].best;
    for (uint32_t i = 0; i < r->seen_count; i++)
        r->reach[r->seen[i]].best = UINT64_MAX;
    return best;
}

static uint32_t reroute_visit_edges(struct reroute *r, const struct search *s, uint32_t at,
                                    uint32_t level, uint32_t waiting)
{
    const struct reroute_graph *graph = &r->graph;
    uint64_t so_far = r->visits[at].sum;
    for (uint32_t e = graph->first[at]; e < graph->first[at + 1]; e++) {
        uint32_t to = graph->edges[e].to, link = graph->edges[e].link;
        struct visit *visit = &r->visits[to];
        if (r->loads[link] > s->bound || visit->level < level || (to != s->to && graph->closed[to]))
            continue;
        uint64_t sum = saturated_sum(so_far, r->loads[link]);
        bool first = visit->level == NONE;
        if (first && level + reroute_graph_distance(&r->graph, to) > s->limit)
            continue;
        if (first)
            r->next[waiting++] = r->seen[r->seen_count++] = to;
        if (first || sum < visit->sum || (sum == visit->sum && link < visit->link))
            *visit = (struct visit){sum, level, link};
    }
    return waiting;
}

/* Find the shortest route over links that carry at most s->bound, of several that with the smallest
 * sum, and store it in r->found. @return its length; NONE: there is none within the limit */
static uint32_t reroute_search_shortest(struct reroute *r, const struct search *s)
{
    uint32_t waiting = 1, length = NONE;
    r->seen_count = 0;
    r->now[0] = r->seen[r->seen_count++] = s->from;
    r->visits[s->from] = (struct visit){0, 0, NONE};
    for (uint32_t level = 1; level <= s->limit && waiting > 0 && length == NONE; level++) {
        uint32_t count = waiting;
        waiting = 0;
        for (uint32_t i = 0; i < count; i++)
            waiting = reroute_visit_edges(r, s, r->now[i], level, waiting);
        reroute_swap_lines(r);
        length = r->visits[s->to].level;
    }
    for (uint32_t i = length, at = s->to; length != NONE && i-- > 0;) {
        r->found[i] = r->visits[at].link;
        at = r->graph.begin[r->found[i]];
    }
    for (uint32_t i = 0; i < r->seen_count; i++)
        r->visits[r->seen[i]].level = NONE;
    return length;
}

/* Room for the links of a route that the topology would not choose. */
static int reroute_fit_old(struct reroute *r, uint32_t length)
{
    if (length <= r->old_capacity)
        return 0;
    if (ARRAY_RESIZE(r->kept, length) != 0 || ARRAY_RESIZE(r->old, length) != 0)
        return -ENOMEM;
    r->old_capacity = length;
    return 0;
}

/* Find the links of a route. */
static int reroute_find_route(struct reroute *r, const struct reroute_route *route,
                              struct before *out)
{
    uint32_t vertices = topology_vertices(r->topology);
    if (route->source >= vertices || route->destination >= vertices ||
        route->source == route->destination)
        return -HOLTER_ERANGE;
    if (route->given != NULL) {
        if (reroute_fit_old(r, route->given_length) != 0)
            return -ENOMEM;
        memcpy(r->old, route->given, route->given_length * sizeof(*r->old));
        out->links = r->old;
        out->length = route->given_length;
        return 0;
    }
    out->links = r->old;
    out->length =
        topology_route(r->topology, route->source, route->destination, r->old, r->old_capacity);
    return out->length == NONE || out->length > r->old_capacity ? -HOLTER_EUNREACHABLE : 0;
}

static void reroute_remove_own(struct reroute *r, uint64_t bytes, struct before *before)
{
    before->heaviest = before->sum = 0;
    for (uint32_t i = 0; i < before->length; i++) {
        uint64_t *load = &r->loads[before->links[i]];
        r->kept[i] = *load;
        *load -= bytes < *load ? bytes : *load;
        before->heaviest = *load > before->heaviest ? *load : before->heaviest;
        before->sum = saturated_sum(before->sum, saturated_sum(*load, bytes));
    }
}

/* In reverse order, because a link may occur twice. */
static void reroute_restore_loads(struct reroute *r, const struct before *before)
{
    for (uint32_t i = before->length; i-- > 0;)
        r->loads[before->links[i]] = r->kept[i];
}

/* Find the best route while the bytes of the old one are subtracted from its links.
 * @return the length of the route in r->found; NONE: there is none, which only happens where a
 * given route passes through nodes that do not forward */
static uint32_t reroute_best_route(struct reroute *r, const struct reroute_params *params,
                                   struct search *search)
{
    if (params->first == REROUTE_LENGTH &&
        reroute_graph_distance(&r->graph, search->from) < search->limit) {
        uint32_t length = reroute_search_shortest(r, search);
        if (length == NONE)
            return NONE;
        search->limit = length;
    }
    search->bound = reroute_minimum_heaviest(r, search);
    return reroute_search_shortest(r, search);
}

static bool reroute_is_better(const struct reroute_params *params,
                              const struct reroute_result *result)
{
    bool shorter = result->length_after < result->length,
         lighter = result->heaviest_after < result->heaviest;
    if (params->first == REROUTE_LENGTH)
        return shorter || (result->length_after == result->length && lighter);
    return lighter || (result->heaviest_after == result->heaviest && shorter);
}

static void reroute_describe_found(const struct reroute *r, uint64_t bytes, uint32_t length,
                                   struct reroute_result *out)
{
    uint64_t heaviest = 0;
    out->length_after = length;
    out->links = r->found;
    out->sum_after = 0;
    for (uint32_t i = 0; i < length; i++) {
        uint64_t load = r->loads[r->found[i]];
        heaviest = load > heaviest ? load : heaviest;
        out->sum_after = saturated_sum(out->sum_after, saturated_sum(load, bytes));
    }
    out->heaviest_after = saturated_sum(heaviest, bytes);
}

int reroute_one(struct reroute *r, const struct reroute_params *params,
                const struct reroute_route *route, struct reroute_result *out)
{
    struct before before;
    struct reroute_result result;
    if (params->delta > REROUTE_MAXIMUM_DELTA)
        return -HOLTER_ERANGE;
    int code = reroute_find_route(r, route, &before);
    if (code != 0)
        return code;
    reroute_remove_own(r, route->bytes, &before);
    struct search search = {.from = route->source,
                            .to = route->destination,
                            .limit = before.length,
                            .bound = before.heaviest};
    if (params->first == REROUTE_LOAD)
        search.limit += params->delta;
    reroute_graph_towards(&r->graph, route->destination);
    uint32_t length = reroute_best_route(r, params, &search);
    result.length = before.length;
    result.heaviest = saturated_sum(before.heaviest, route->bytes);
    result.sum = before.sum;
    if (length != NONE)
        reroute_describe_found(r, route->bytes, length, &result);
    result.better = length != NONE && reroute_is_better(params, &result);
    if (!result.better) {
        result.length_after = result.length;
        result.heaviest_after = result.heaviest;
        result.sum_after = result.sum;
        result.links = before.links;
    }
    reroute_restore_loads(r, &before);
    *out = result;
    return 0;
}

void reroute_apply(struct reroute *r, uint64_t bytes, const uint32_t *from, uint32_t from_length,
                   const uint32_t *to, uint32_t to_length)
{
    for (uint32_t i = 0; i < from_length; i++)
        r->loads[from[i]] -= bytes;
    for (uint32_t i = 0; i < to_length; i++)
        r->loads[to[i]] += bytes;
}

/* A route in the order in which routes are changed. */
struct turn {
    uint64_t first; /* sort key: length or heaviest link, by the equation */
    const struct reroute_route *route;
    size_t index;
};

ORDER_FUNCTION(reroute_compare_turns, struct turn,
               16 * ORDER(b->first, a->first) + 8 * ORDER(b->route->bytes, a->route->bytes) +
                   4 * ORDER(a->route->source, b->route->source) +
                   2 * ORDER(a->route->destination, b->route->destination) +
                   ORDER(a->index, b->index))

static int reroute_sort_turns(struct reroute *r, const struct reroute_params *params,
                              const struct reroute_route *routes, size_t count, struct turn *turns)
{
    for (size_t i = 0; i < count; i++) {
        struct before before;
        int code = reroute_find_route(r, &routes[i], &before);
        if (code != 0)
            return code;
        turns[i] = (struct turn){before.length, &routes[i], i};
        if (params->first == REROUTE_LENGTH)
            continue;
        turns[i].first = 0;
        for (uint32_t k = 0; k < before.length; k++)
            if (r->loads[before.links[k]] > turns[i].first)
                turns[i].first = r->loads[before.links[k]];
    }
    qsort(turns, count, sizeof(*turns), reroute_compare_turns);
    return 0;
}

/* Store the links of a result after those of earlier results. @param used  links so far */
static int reroute_store_links(struct reroute *r, const struct reroute_result *result, size_t *used)
{
    if (ARRAY_FIT(r->many, r->many_capacity, *used + result->length_after) != 0)
        return -ENOMEM;
    memcpy(r->many + *used, result->links, result->length_after * sizeof(*r->many));
    *used += result->length_after;
    return 0;
}

static int reroute_in_order(struct reroute *r, const struct reroute_params *params,
                            const struct turn *turns, size_t count, struct reroute_result *results)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        struct reroute_result *result = &results[turns[i].index];
        struct before before;
        int code = reroute_one(r, params, turns[i].route, result);
        if (code == 0)
            code = reroute_store_links(r, result, &used);
        if (code == 0 && result->better) {
            code = reroute_find_route(r, turns[i].route, &before);
            reroute_apply(r, turns[i].route->bytes, before.links, before.length, result->links,
                          result->length_after);
        }
        if (code != 0)
            return code;
    }
    used = 0;
    for (size_t i = 0; i < count; i++) {
        results[turns[i].index].links = r->many + used;
        used += results[turns[i].index].length_after;
    }
    return 0;
}

int reroute_several(struct reroute *r, const struct reroute_params *params,
                    const struct reroute_route *routes, size_t count,
                    struct reroute_result *results)
{
    struct turn *turns = malloc((count + 1) * sizeof(*turns));
    uint64_t *loads = malloc(((size_t)r->link_count + 1) * sizeof(*loads));
    int code = turns == NULL || loads == NULL ? -ENOMEM : 0;
    if (code == 0) {
        memcpy(loads, r->loads, r->link_count * sizeof(*loads));
        code = reroute_sort_turns(r, params, routes, count, turns);
    }
    if (code == 0)
        code = reroute_in_order(r, params, turns, count, results);
    if (code != 0 && loads != NULL)
        memcpy(r->loads, loads, r->link_count * sizeof(*loads));
    free(turns);
    free(loads);
    return code;
}

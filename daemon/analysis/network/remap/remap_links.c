/* Annealing against the load of the largest_load loaded links: see remap_links.h. */
#include "daemon/analysis/network/remap/remap_links.h"

#include "daemon/analysis/tables/arena.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORK_ROUTE 150u /* work of computing a route and the loads on it, in units of remap.c */
#define WORK_FLOW 15u   /* work of checking whether a flow crosses a link */
#define WORK_LINK 2u    /* work of reading a load */
#define HOT 0.93        /* links whose load is at least this share of the largest load are hot */
#define TRIES 150u      /* exchanges for one hot link */

struct touched {
    uint32_t link;
    double before;
};

struct remap_links {
    struct remap_links_problem problem;
    struct arena memory; /* of all arrays */
    bool *moves;
    uint32_t *slot, *at, *best;
    uint32_t *in_first, *in; /* flows to each process; processes + 1 */
    double *loads;
    uint32_t *route;
    uint32_t route_capacity; /* length of the longest route */
    struct touched *undo;
    uint32_t undo_count, undo_capacity;
    uint32_t *crossing; /* flows over the link that is being relieved */
    uint32_t crossing_count;
    double largest_load; /* largest load at the last check */
    double energy;       /* sum of (load / largest_load)^8 */
    double sum;          /* of loads: hop-bytes */
    double best_most, best_sum;
    uint64_t random, work;
};

/* ---- loads ---------------------------------------------------------------------- */

static double remap_links_power_8(double x)
{
    x *= x;
    x *= x;
    return x * x;
}

static void remap_links_add_traffic(struct remap_links *l, const struct remap_flow *flow,
                                    double sign)
{
    const struct remap_places *places = l->problem.places;
    const uint32_t from = places->vertex[l->slot[flow->from]];
    const uint32_t to = places->vertex[l->slot[flow->to]];
    const uint32_t length = topology_route(places->topology, from, to, l->route, l->route_capacity);
    l->work += WORK_ROUTE;
    for (uint32_t i = 0; length != TOPOLOGY_NONE && i < length; i++) {
        double *load = &l->loads[l->route[i]];
        const double after = *load + sign * flow->bytes;
        if (l->undo_count < l->undo_capacity)
            l->undo[l->undo_count++] = (struct touched){l->route[i], *load};
        l->energy += remap_links_power_8(after / l->largest_load) -
                     remap_links_power_8(*load / l->largest_load);
        l->sum += sign * flow->bytes;
        *load = after;
    }
}

/* All flows of two processes; flows between the two are counted once. */
static void remap_links_add_flows(struct remap_links *l, uint32_t p, uint32_t q, double sign)
{
    const struct remap_graph *graph = l->problem.graph;
    for (int k = 0; k < 2; k++) {
        const uint32_t process = k == 0 ? p : q;
        for (uint32_t i = graph->flow_first[process]; i < graph->flow_first[process + 1]; i++)
            if (k == 0 || graph->flows[i].to != p)
                remap_links_add_traffic(l, &graph->flows[i], sign);
        for (uint32_t i = l->in_first[process]; i < l->in_first[process + 1]; i++)
            if (graph->flows[l->in[i]].from != p)
                remap_links_add_traffic(l, &graph->flows[l->in[i]], sign);
    }
}

static void remap_links_swap_slots(struct remap_links *l, uint32_t p, uint32_t q)
{
    const uint32_t slot = l->slot[p];
    l->slot[p] = l->slot[q];
    l->slot[q] = slot;
    l->at[slot] = q;
    l->at[l->slot[p]] = p;
}

static void remap_links_attempt(struct remap_links *l, uint32_t p, uint32_t q, double temperature)
{
    const double energy = l->energy, sum = l->sum;
    const double chance = ((double)(remap_random(&l->random) >> 11) + 0.5) * 0x1p-53;
    l->undo_count = 0;
    remap_links_add_flows(l, p, q, -1);
    remap_links_swap_slots(l, p, q);
    remap_links_add_flows(l, p, q, 1);
    /* fewer hop-bytes have a small weight */
    const double loss = l->energy - energy + 0.02 * (l->sum - sum) / l->largest_load;
    if (loss <= -temperature * log(chance))
        return;
    remap_links_swap_slots(l, p, q);
    while (l->undo_count > 0) {
        const struct touched *t = &l->undo[--l->undo_count];
        l->loads[t->link] = t->before;
    }
    l->energy = energy;
    l->sum = sum;
}

/* Compute all loads from scratch. */
static void remap_links_compute_loads(struct remap_links *l)
{
    memset(l->loads, 0, (size_t)topology_links(l->problem.places->topology) * sizeof(*l->loads));
    l->sum = 0;
    l->largest_load = 1;
    l->undo_count = l->undo_capacity; /* nothing to undo */
    for (uint32_t i = 0; i < l->problem.graph->flow_count; i++)
        remap_links_add_traffic(l, &l->problem.graph->flows[i], 1);
}

static uint64_t remap_links_flows_of(const struct remap_links *l, uint32_t p)
{
    const uint32_t *out = l->problem.graph->flow_first;
    return (uint64_t)(out[p + 1] - out[p]) + l->in_first[p + 1] - l->in_first[p];
}

/* ---- looking -------------------------------------------------------------------- */

/* Find the largest load and store the mapping if it is the best. @return a random hot link;
 * TOPOLOGY_NONE: there is no load */
static uint32_t remap_links_choose_link(struct remap_links *l)
{
    const uint32_t links = topology_links(l->problem.places->topology);
    uint32_t hot = TOPOLOGY_NONE, count = 0;
    double largest_load = 0;
    for (uint32_t i = 0; i < links; i++)
        largest_load = l->loads[i] > largest_load ? l->loads[i] : largest_load;
    if (!(largest_load > 0))
        return TOPOLOGY_NONE;
    l->largest_load = largest_load;
    l->energy = 0;
    for (uint32_t i = 0; i < links; i++) {
        l->energy += remap_links_power_8(l->loads[i] / largest_load);
        /* each hot link is equally likely (reservoir sampling) */
        if (l->loads[i] >= HOT * largest_load && remap_below(&l->random, ++count) == 0)
            hot = i;
    }
    l->work += 2 * (uint64_t)links * WORK_LINK;
    if (largest_load < l->best_most || (largest_load == l->best_most && l->sum < l->best_sum)) {
        l->best_most = largest_load;
        l->best_sum = l->sum;
        memcpy(l->best, l->slot, l->problem.graph->processes * sizeof(*l->best));
    }
    return hot;
}

static void remap_links_find_crossing(struct remap_links *l, uint32_t link)
{
    const struct remap_graph *graph = l->problem.graph;
    const struct remap_places *places = l->problem.places;
    l->crossing_count = 0;
    for (uint32_t i = 0; i < graph->flow_count; i++) {
        const struct remap_flow *f = &graph->flows[i];
        if (f->bytes > 0 && (l->moves[f->from] || l->moves[f->to]) &&
            topology_crosses(places->topology, places->vertex[l->slot[f->from]],
                             places->vertex[l->slot[f->to]], link))
            l->crossing[l->crossing_count++] = i;
    }
    l->work += (uint64_t)graph->flow_count * WORK_FLOW;
}

/* Move one end of a flow over the link next to the other end or, sometimes, anywhere. */
static void remap_links_try_exchange(struct remap_links *l, double temperature)
{
    const struct remap_places *places = l->problem.places;
    const uint32_t i = l->crossing[remap_below(&l->random, l->crossing_count)];
    const struct remap_flow *f = &l->problem.graph->flows[i];
    const uint64_t r = remap_random(&l->random);
    uint32_t p = r & 1 ? f->from : f->to, other = r & 1 ? f->to : f->from, q;
    l->work += WORK_ROUTE;
    if (!l->moves[p]) {
        other = p;
        p = other == f->from ? f->to : f->from;
    }
    if ((r >> 1) % 3 == 0) {
        q = l->problem.movable[remap_below(&l->random, l->problem.count)];
    } else {
        const uint32_t spot = places->spot[l->slot[other]];
        const uint32_t near = places->near_first[spot];
        const uint32_t target =
            places->near[near + remap_below(&l->random, places->near_first[spot + 1] - near)];
        const uint32_t first = places->first[target];
        q = l->at[first + remap_below(&l->random, places->first[target + 1] - first)];
    }
    if (2 * l->route_capacity * (remap_links_flows_of(l, p) + remap_links_flows_of(l, q)) >
        l->undo_capacity)
        return; /* the undo list is too short for this exchange */
    if (p != q && l->moves[p] && l->moves[q] &&
        places->spot[l->slot[p]] != places->spot[l->slot[q]])
        remap_links_attempt(l, p, q, temperature);
}

void remap_links_step(struct remap_links *l, double done, uint64_t limit, uint64_t *work)
{
    const double temperature = 0.3 * pow(0.01, done);
    l->work = 0;
    while (l->work < limit) {
        const uint32_t hot = remap_links_choose_link(l);
        l->work += 1000;
        if (hot == TOPOLOGY_NONE) {
            l->work = limit;
            break;
        }
        remap_links_find_crossing(l, hot);
        for (uint32_t i = 0; i < TRIES && l->crossing_count > 0 && l->work < limit; i++)
            remap_links_try_exchange(l, temperature);
    }
    remap_links_choose_link(l);
    *work += l->work;
}

const uint32_t *remap_links_slots(const struct remap_links *l)
{
    return l->best;
}

/* ---- making --------------------------------------------------------------------- */

static void remap_links_list_incoming(struct remap_links *l)
{
    const struct remap_graph *graph = l->problem.graph;
    memset(l->in_first, 0, ((size_t)graph->processes + 1) * sizeof(*l->in_first));
    for (uint32_t i = 0; i < graph->flow_count; i++)
        l->in_first[graph->flows[i].to + 1]++;
    for (uint32_t p = 0; p < graph->processes; p++)
        l->in_first[p + 1] += l->in_first[p];
    for (uint32_t i = 0; i < graph->flow_count; i++)
        l->in[l->in_first[graph->flows[i].to]++] = i;
    for (uint32_t p = graph->processes; p > 0; p--)
        l->in_first[p] = l->in_first[p - 1];
    l->in_first[0] = 0;
}

/* Maximum number of links that the flows of any two processes can touch, removed and added. */
static uint32_t remap_links_max_touched(const struct remap_links *l)
{
    const struct remap_graph *graph = l->problem.graph;
    uint64_t largest_load = 0;
    for (uint32_t p = 0; p < graph->processes; p++) {
        const uint64_t flows = remap_links_flows_of(l, p);
        largest_load = flows > largest_load ? flows : largest_load;
    }
    const uint64_t touched = 4 * largest_load * l->route_capacity + 16;
    return touched < 1u << 24 ? (uint32_t)touched : 1u << 24;
}

static void remap_links_begin(struct remap_links *l, const uint32_t *slots)
{
    const uint32_t n = l->problem.graph->processes;
    memcpy(l->slot, slots, n * sizeof(*slots));
    memcpy(l->best, slots, n * sizeof(*slots));
    for (uint32_t p = 0; p < n; p++)
        l->at[slots[p]] = p;
    for (uint32_t i = 0; i < l->problem.count; i++)
        l->moves[l->problem.movable[i]] = true;
    remap_links_compute_loads(l);
    l->best_most = l->best_sum = HUGE_VAL;
    remap_links_choose_link(l);
}

int remap_links_create(struct remap_links **out, const struct remap_links_problem *problem)
{
    const size_t n = problem->graph->processes, flows = problem->graph->flow_count;
    const struct topology *topology = problem->places->topology;
    struct remap_links *l = calloc(1, sizeof(*l));
    if (l == NULL)
        return -ENOMEM;
    l->problem = *problem;
    l->random = problem->seed;
    l->route_capacity = topology_diameter(topology);
    ARENA_TAKE(&l->memory, l->moves, n + 1);
    ARENA_TAKE(&l->memory, l->slot, n + 1);
    ARENA_TAKE(&l->memory, l->at, n + 1);
    ARENA_TAKE(&l->memory, l->best, n + 1);
    ARENA_TAKE(&l->memory, l->in_first, n + 1);
    ARENA_TAKE(&l->memory, l->in, flows + 1);
    ARENA_TAKE(&l->memory, l->crossing, flows + 1);
    ARENA_TAKE(&l->memory, l->loads, (size_t)topology_links(topology) + 1);
    ARENA_TAKE(&l->memory, l->route, (size_t)l->route_capacity + 1);
    if (!l->memory.failed) {
        remap_links_list_incoming(l);
        l->undo_capacity = remap_links_max_touched(l);
        ARENA_TAKE(&l->memory, l->undo, l->undo_capacity);
    }
    if (l->memory.failed) {
        remap_links_destroy(l);
        return -ENOMEM;
    }
    remap_links_begin(l, problem->slots);
    *out = l;
    return 0;
}

void remap_links_destroy(struct remap_links *l)
{
    if (l == NULL)
        return;
    arena_finish(&l->memory);
    free(l);
}

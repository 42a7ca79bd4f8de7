/* Depth-first branch and bound over the permutations of a few processes: see remap_exact.h. */
#include "daemon/analysis/network/remap/remap_exact.h"

#include "daemon/analysis/tables/arena.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A flow to or from a movable process. */
struct movable_flow {
    uint32_t other;
    double weight;
    bool out;
};

struct remap_exact {
    struct remap_exact_problem problem; /* the arrays it points to are borrowed */
    struct arena memory;                /* of all arrays */
    uint32_t *slots; /* slot of each process; TOPOLOGY_NONE: movable and not placed yet */
    uint32_t *best;
    struct movable_flow *flows_of_movable; /* flows of movable processes, grouped by process; a flow
                              between two of them belongs to the later one only */
    uint32_t touch_first[REMAP_MAX_EXACT + 1];
    uint32_t seats[REMAP_MAX_EXACT];    /* slots to distribute */
    uint32_t next[REMAP_MAX_EXACT + 1]; /* seat to try next at each depth */
    bool taken[REMAP_MAX_EXACT];
    double cost[REMAP_MAX_EXACT + 1]; /* cost at each depth of what is placed: weight x distance */
    double load[REMAP_MAX_EXACT + 1]; /* largest load at each depth */
    double best_cost, best_load;
    uint32_t depth;
    double *loads; /* load of each link; NULL: the objective does not need it */
    uint32_t *route;
    bool complete;
};

static double remap_exact_weight_of(const struct remap_exact *x, const struct remap_flow *flow)
{
    return x->problem.messages ? flow->messages : flow->bytes;
}

/* ---- costs ---------------------------------------------------------------------- */

/* Add the flow between two slots to its links, or remove it (negative bytes). */
static void remap_exact_add_traffic(struct remap_exact *x, uint32_t from, uint32_t to,
                                    double weight, double *most)
{
    const uint32_t *vertex = x->problem.places->vertex;
    const uint32_t length =
        topology_route(x->problem.places->topology, vertex[from], vertex[to], x->route,
                       topology_diameter(x->problem.places->topology));
    for (uint32_t i = 0; length != TOPOLOGY_NONE && i < length; i++) {
        x->loads[x->route[i]] += weight;
        if (most != NULL && x->loads[x->route[i]] > *most)
            *most = x->loads[x->route[i]];
    }
}

static double remap_exact_distance(const struct remap_exact *x, uint32_t from, uint32_t to)
{
    const struct remap_places *places = x->problem.places;
    if (places->inter_node)
        return places->spot[from] != places->spot[to];
    return topology_distance(places->topology, places->vertex[from], places->vertex[to]);
}

/* Place the process of a depth: add its cost with the placed processes, and its loads. */
static void remap_exact_place(struct remap_exact *x, uint32_t depth, uint32_t slot)
{
    double cost = x->cost[depth], load = x->load[depth];
    x->slots[x->problem.movable[depth]] = slot;
    for (uint32_t i = x->touch_first[depth]; i < x->touch_first[depth + 1]; i++) {
        const struct movable_flow *t = &x->flows_of_movable[i];
        const uint32_t there = x->slots[t->other];
        cost += t->weight * (t->out ? remap_exact_distance(x, slot, there)
                                    : remap_exact_distance(x, there, slot));
        if (x->loads != NULL)
            remap_exact_add_traffic(x, t->out ? slot : there, t->out ? there : slot, t->weight,
                                    &load);
    }
    x->cost[depth + 1] = cost;
    x->load[depth + 1] = load;
}

static void remap_exact_unplace(struct remap_exact *x, uint32_t depth)
{
    const uint32_t slot = x->slots[x->problem.movable[depth]];
    for (uint32_t i = x->touch_first[depth]; x->loads && i < x->touch_first[depth + 1]; i++) {
        const struct movable_flow *t = &x->flows_of_movable[i];
        const uint32_t there = x->slots[t->other];
        remap_exact_add_traffic(x, t->out ? slot : there, t->out ? there : slot, -t->weight, NULL);
    }
}

static bool remap_exact_is_worse(const struct remap_exact *x, uint32_t depth)
{
    if (x->loads != NULL && x->load[depth] != x->best_load)
        return x->load[depth] > x->best_load;
    return x->cost[depth] >= x->best_cost;
}

/* ---- beginning ------------------------------------------------------------------ */

/* Compute the cost of the flows between processes that stay. */
static void remap_exact_add_fixed_flows(struct remap_exact *x)
{
    const struct remap_graph *graph = x->problem.graph;
    x->cost[0] = x->load[0] = 0;
    for (uint32_t i = 0; i < graph->flow_count; i++) {
        const struct remap_flow *f = &graph->flows[i];
        const uint32_t from = x->slots[f->from], to = x->slots[f->to];
        if (from == TOPOLOGY_NONE || to == TOPOLOGY_NONE)
            continue;
        x->cost[0] += remap_exact_weight_of(x, f) * remap_exact_distance(x, from, to);
        if (x->loads != NULL)
            remap_exact_add_traffic(x, from, to, remap_exact_weight_of(x, f), &x->load[0]);
    }
}

/* @param at  position of each process among the movable ones, or TOPOLOGY_NONE */
static int remap_exact_list_flows(struct remap_exact *x, const uint32_t *at)
{
    const struct remap_graph *graph = x->problem.graph;
    uint32_t end[REMAP_MAX_EXACT] = {0}, total = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < graph->flow_count; i++) {
            const struct remap_flow *f = &graph->flows[i];
            const uint32_t from = at[f->from], to = at[f->to];
            if ((from == TOPOLOGY_NONE && to == TOPOLOGY_NONE) ||
                !(remap_exact_weight_of(x, f) > 0))
                continue;
            const bool out = to == TOPOLOGY_NONE || (from != TOPOLOGY_NONE && from > to);
            const uint32_t depth = out ? from : to;
            if (pass == 1)
                x->flows_of_movable[end[depth]] =
                    (struct movable_flow){out ? f->to : f->from, remap_exact_weight_of(x, f), out};
            end[depth]++;
        }
        for (uint32_t d = 0; pass == 0 && d < x->problem.count; d++) {
            x->touch_first[d] = total;
            total += end[d];
            end[d] = x->touch_first[d];
            x->touch_first[d + 1] = total;
        }
        if (pass == 0)
            ARENA_TAKE(&x->memory, x->flows_of_movable, (size_t)total + 1);
        if (x->flows_of_movable == NULL)
            return -ENOMEM;
    }
    return 0;
}

static int remap_exact_begin(struct remap_exact *x)
{
    const struct remap_exact_problem *problem = &x->problem;
    const uint32_t n = problem->graph->processes;
    uint32_t *at = malloc(((size_t)n + 1) * sizeof(*at));
    if (at == NULL)
        return -ENOMEM;
    memset(at, 0xff, (size_t)n * sizeof(*at));
    for (uint32_t d = 0; d < problem->count; d++) {
        at[problem->movable[d]] = d;
        x->seats[d] = problem->slots[problem->movable[d]];
        x->slots[problem->movable[d]] = TOPOLOGY_NONE;
    }
    const int rc = remap_exact_list_flows(x, at);
    free(at);
    x->best_cost = x->best_load = HUGE_VAL;
    if (rc == 0)
        remap_exact_add_fixed_flows(x);
    return rc;
}

int remap_exact_create(struct remap_exact **out, const struct remap_exact_problem *problem)
{
    const size_t n = problem->graph->processes;
    struct remap_exact *x = calloc(1, sizeof(*x));
    if (x == NULL)
        return -ENOMEM;
    x->problem = *problem;
    ARENA_TAKE(&x->memory, x->slots, n + 1);
    ARENA_TAKE(&x->memory, x->best, n + 1);
    ARENA_TAKE(&x->memory, x->route, (size_t)topology_diameter(problem->places->topology) + 1);
    if (problem->objective == REMAP_MAX_LINK)
        ARENA_TAKE(&x->memory, x->loads, (size_t)topology_links(problem->places->topology) + 1);
    bool room = !x->memory.failed;
    if (room) {
        memcpy(x->slots, problem->slots, n * sizeof(*x->slots));
        memcpy(x->best, problem->slots, n * sizeof(*x->best));
        room = remap_exact_begin(x) == 0;
    }
    if (!room) {
        remap_exact_destroy(x);
        return -ENOMEM;
    }
    *out = x;
    return 0;
}

void remap_exact_destroy(struct remap_exact *x)
{
    if (x == NULL)
        return;
    arena_finish(&x->memory);
    free(x);
}

/* ---- depth first ---------------------------------------------------------------- */

/* Is an equivalent seat, of the same spot, already tried at this depth, or free and earlier in the
 * order? */
static bool remap_exact_is_repeated(const struct remap_exact *x, uint32_t seat)
{
    const uint32_t *spot = x->problem.places->spot;
    for (uint32_t k = 0; k < seat; k++)
        if (!x->taken[k] && spot[x->seats[k]] == spot[x->seats[seat]])
            return true;
    return false;
}

static void remap_exact_backtrack(struct remap_exact *x)
{
    if (x->depth == 0) {
        x->complete = true;
        return;
    }
    x->depth--;
    const uint32_t process = x->problem.movable[x->depth];
    remap_exact_unplace(x, x->depth);
    x->slots[process] = TOPOLOGY_NONE;
    x->taken[x->next[x->depth] - 1] = false;
}

static void remap_exact_advance(struct remap_exact *x)
{
    const uint32_t count = x->problem.count;
    if (x->depth == count) {
        if (!remap_exact_is_worse(x, count)) {
            x->best_cost = x->cost[count];
            x->best_load = x->load[count];
            memcpy(x->best, x->slots, x->problem.graph->processes * sizeof(*x->best));
        }
        remap_exact_backtrack(x);
        return;
    }
    uint32_t seat = x->next[x->depth];
    while (seat < count && (x->taken[seat] || remap_exact_is_repeated(x, seat)))
        seat++;
    if (seat == count || (x->depth > 0 && remap_exact_is_worse(x, x->depth))) {
        remap_exact_backtrack(x);
        return;
    }
    x->next[x->depth] = seat + 1;
    x->taken[seat] = true;
    remap_exact_place(x, x->depth, x->seats[seat]);
    x->next[++x->depth] = 0;
}

int remap_exact_step(struct remap_exact *x, uint64_t limit, uint64_t *work)
{
    const uint64_t end = *work + limit;
    const uint64_t flow = x->loads != NULL ? 400 : 60;
    while (!x->complete && *work < end) {
        const uint32_t d = x->depth < x->problem.count ? x->depth : x->depth - 1;
        *work += 40 + flow * (x->touch_first[d + 1] - x->touch_first[d]);
        remap_exact_advance(x);
    }
    return x->complete;
}

const uint32_t *remap_exact_slots(const struct remap_exact *x)
{
    return x->best;
}

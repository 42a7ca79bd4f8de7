/* The interface of the search for better mappings: checks the problem, builds its graph and its
 * places, measures mappings and does the work step by step. The order of the work is in
 * remap_plan.c. */
#include "daemon/analysis/network/remap/remap.h"

#include "daemon/analysis/network/remap/remap_bound.h"
#include "daemon/analysis/network/remap/remap_inner.h"
#include "holter/error.h"
#include "holter/refusal.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Work is counted in units that take about half a nanosecond on one otherwise idle core of an AMD
 * EPYC. A nominal second has 2.0e9 units; the rest of a real second, about a fifth, is the margin
 * for slower or busier machines. */
#define WORK_A_SECOND 2.0e9
#define WORK_A_STEP 1000000u
/* Share of that for max-link, whose loads of links do not fit the cache. */
#define LINKS_SHARE 0.8

/* A relative tolerance: rounding must neither hide that the bound is reached nor look like a gain.
 */
#define EVEN (1 + 1e-12)
#define LESS (1 - 1e-12)

/* ---- measures ------------------------------------------------------------------- */

static void remap_add_route(struct remap *r, uint32_t from, uint32_t to, double bytes)
{
    const uint32_t most = topology_diameter(r->topology);
    const uint32_t length = topology_route(r->topology, from, to, r->route, most);
    for (uint32_t i = 0; length != TOPOLOGY_NONE && i < length && i < most; i++)
        r->loads[r->route[i]] += bytes;
}

/* Measures of slots. */
static void remap_measure(struct remap *r, const uint32_t *slots, struct remap_measures *measures)
{
    const uint32_t links = topology_links(r->topology);
    struct remap_measures m = {.hop_bytes = 0};
    memset(r->loads, 0, (size_t)links * sizeof(*r->loads));
    for (uint32_t i = 0; i < r->graph.flow_count; i++) {
        const struct remap_flow *f = &r->graph.flows[i];
        const uint32_t u = slots[f->from], v = slots[f->to];
        const uint32_t from = r->places.vertex[u], to = r->places.vertex[v];
        m.hop_bytes += f->bytes * topology_distance(r->topology, from, to);
        remap_add_route(r, from, to, f->bytes);
        m.inter_node_bytes += r->node[u] != r->node[v] ? f->bytes : 0;
        m.inter_node_messages += r->node[u] != r->node[v] ? f->messages : 0;
    }
    for (uint32_t link = 0; link < links; link++)
        m.max_link = fmax(m.max_link, r->loads[link]);
    *measures = m;
}

double remap_objective(const struct remap *r, const struct remap_measures *measures)
{
    switch (r->objective) {
    case REMAP_HOP_BYTES:
        return measures->hop_bytes;
    case REMAP_MAX_LINK:
        return measures->max_link;
    case REMAP_INTER_NODE:
        break;
    }
    return r->messages ? measures->inter_node_messages : measures->inter_node_bytes;
}

static void remap_store_best(struct remap *r, const uint32_t *slots, double cost, double hop_bytes)
{
    memcpy(r->best, slots, r->graph.processes * sizeof(*slots));
    for (uint32_t p = 0; p < r->graph.processes; p++)
        r->seats[p] = r->places.vertex[slots[p]];
    r->best_cost = cost;
    r->best_hop_bytes = hop_bytes;
    r->proven |= cost <= r->bound * EVEN;
}

void remap_offer(struct remap *r, const uint32_t *slots)
{
    double cost, hop_bytes = 0;
    if (r->objective == REMAP_MAX_LINK || r->asymmetric) {
        struct remap_measures m;
        remap_measure(r, slots, &m);
        cost = remap_objective(r, &m);
        hop_bytes = m.hop_bytes;
        r->work += 150ull * r->graph.flow_count + topology_links(r->topology);
    } else {
        cost = remap_search_cost(&r->search, slots);
        r->work += 20ull * r->graph.first[r->graph.processes];
    }
    if (cost < r->best_cost * LESS || (cost == r->best_cost && hop_bytes < r->best_hop_bytes))
        remap_store_best(r, slots, cost, hop_bytes);
}

/* ---- checking ------------------------------------------------------------------- */

static int remap_check_edges(const struct remap_problem *problem, const struct refusal *why)
{
    for (size_t i = 0; i < problem->edge_count; i++)
        if (problem->edges[i].from >= problem->processes ||
            problem->edges[i].to >= problem->processes)
            return refusal_set(why, "edge %zu is of a process that is not there", i);
    return 0;
}

static int remap_check(const struct remap_problem *problem, const struct refusal *why)
{
    if (problem->processes > REMAP_MOST_PROCESSES || problem->edge_count > REMAP_MAXIMUM_EDGES)
        return refusal_limit(why, "too many processes or edges (%zu)", problem->edge_count);
    if (problem->topology == NULL || problem->processes == 0 || problem->seats == NULL)
        return refusal_set(why, "there are no processes, seats or network");
    if (!(problem->effort >= 0) || problem->effort > REMAP_MAX_EFFORT)
        return refusal_set(why, "the effort is not between 0 and %.0f seconds", REMAP_MAX_EFFORT);
    if (problem->steps > REMAP_MAX_STEPS)
        return refusal_set(why, "there are more than %" PRIu64 " steps", REMAP_MAX_STEPS);
    if (!HOLTER_METIS && problem->effort > 0)
        return refusal_set(why, "this build of Holter cannot search for mappings: it was made "
                                "without METIS");
    if ((unsigned)problem->objective > REMAP_INTER_NODE)
        return refusal_set(why, "there is no objective %u", (unsigned)problem->objective);
    for (uint32_t p = 0; p < problem->processes; p++)
        if (problem->seats[p] >= topology_vertices(problem->topology))
            return refusal_set(why, "the seat of process %u is not in the network", p);
    return remap_check_edges(problem, why);
}

/* ---- making --------------------------------------------------------------------- */

static int remap_copy_movable(struct remap *r, const struct remap_problem *problem,
                              const struct refusal *why)
{
    const uint32_t n = problem->processes;
    const uint32_t count = problem->selected != NULL ? problem->selected_count : n;
    bool *seen = calloc((size_t)n + 1, sizeof(*seen));
    ARENA_TAKE(&r->memory, r->movable, (size_t)n + 1);
    int rc = seen != NULL && !r->memory.failed ? 0 : -ENOMEM;
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        const uint32_t p = problem->selected != NULL ? problem->selected[i] : i;
        if (p >= n || seen[p]) {
            rc = refusal_set(why, "selected process %u is not there, or selected twice", p);
            break;
        }
        seen[p] = true;
        r->movable[r->movable_count++] = p;
    }
    free(seen);
    return rc;
}

static int remap_allocate(struct remap *r, const struct remap_problem *problem)
{
    const size_t n = problem->processes;
    ARENA_TAKE(&r->memory, r->node, n + 1);
    ARENA_TAKE(&r->memory, r->given, n + 1);
    ARENA_TAKE(&r->memory, r->best, n + 1);
    ARENA_TAKE(&r->memory, r->seats, n + 1);
    ARENA_TAKE(&r->memory, r->scratch, n + 1);
    ARENA_TAKE(&r->memory, r->grid_slots, n + 1);
    ARENA_TAKE(&r->memory, r->loads, (size_t)topology_links(r->topology) + 1);
    ARENA_TAKE(&r->memory, r->route, (size_t)topology_diameter(r->topology) + 1);
    return r->memory.failed ? -ENOMEM : 0;
}

/* Are routes equally long in both directions? This is known of regular networks; other networks
 * have a table of distances. */
static bool remap_is_asymmetric(const struct remap *r)
{
    const struct topology_spec *spec = topology_spec(r->topology);
    return !r->places.inter_node && r->places.dimension_count == 0 &&
           (spec->kind == TOPOLOGY_GRAPH || spec->route_count > 0);
}

static int remap_make(struct remap *r, const struct remap_problem *problem,
                      const struct refusal *why)
{
    const bool inter_node = problem->objective == REMAP_INTER_NODE;
    int rc = remap_copy_movable(r, problem, why);
    if (rc == 0)
        rc = remap_allocate(r, problem);
    if (rc == 0)
        rc = remap_graph_init(&r->graph, problem, r->messages);
    if (rc == 0)
        rc = remap_places_init(&r->places, problem, inter_node, r->given);
    if (rc == -HOLTER_EUSAGE && r->places.slots > 0)
        refusal_set(why, "there are seats without a route between them");
    if (rc == 0)
        rc = remap_search_init(&r->search, &r->graph, &r->places, r->movable, r->movable_count,
                               r->seed);
    return rc;
}

static int remap_begin(struct remap *r, const struct remap_problem *problem)
{
    for (uint32_t i = 0; i < r->graph.processes; i++) {
        const uint32_t v = r->places.vertex[i];
        r->node[i] = problem->nodes != NULL ? problem->nodes[v] : v;
    }
    int rc = remap_degree_bound(&r->graph, &r->places, &r->bound);
    if (rc != 0)
        return rc;
    if (r->objective == REMAP_MAX_LINK)
        r->bound = remap_link_bound(&r->graph, &r->places, r->bound);
    r->asymmetric = remap_is_asymmetric(r);
    if (r->asymmetric)
        r->bound = 0; /* the bound assumes that routes are equally long in both directions */
    remap_measure(r, r->given, &r->given_measures);
    r->best_cost = HUGE_VAL;
    remap_offer(r, r->given);
    r->work = 300ull * r->graph.flow_count + 500ull * r->graph.processes;
    remap_plan_begin(r);
    return 0;
}

int remap_create(struct remap **out, const struct remap_problem *problem, char *why,
                 size_t capacity)
{
    const struct refusal refusal = {why, capacity};
    int rc = remap_check(problem, &refusal);
    if (rc != 0)
        return rc;
    struct remap *r = calloc(1, sizeof(*r));
    if (r == NULL)
        return -ENOMEM;
    r->topology = problem->topology;
    r->objective = problem->objective;
    r->messages = problem->objective == REMAP_INTER_NODE && problem->messages;
    r->seed = problem->seed;
    r->limit = (uint64_t)(problem->effort * WORK_A_SECOND *
                          (r->objective == REMAP_MAX_LINK ? LINKS_SHARE : 1));
    if (problem->steps > 0)
        r->limit = problem->steps * WORK_A_STEP;
    rc = remap_make(r, problem, &refusal);
    if (rc == 0)
        rc = remap_begin(r, problem);
    if (rc != 0) {
        remap_destroy(r);
        return rc;
    }
    *out = r;
    return 0;
}

void remap_destroy(struct remap *r)
{
    if (r == NULL)
        return;
    remap_plan_finish(r);
    remap_search_finish(&r->search);
    remap_places_finish(&r->places);
    remap_graph_finish(&r->graph);
    arena_finish(&r->memory);
    free(r);
}

/* ---- results -------------------------------------------------------------------- */

double remap_step(struct remap *r)
{
    if (r->stage != STAGE_DONE)
        remap_plan_step(r);
    if (r->stage == STAGE_DONE)
        return 1;
    const double done = (double)r->work / (double)r->limit;
    return done < 0.999 ? done : 0.999;
}

void remap_end(struct remap *r)
{
    remap_plan_stop(r);
}

uint64_t remap_steps(const struct remap *r)
{
    return r->work / WORK_A_STEP;
}

const uint32_t *remap_best(struct remap *r, struct remap_measures *measures)
{
    remap_measure(r, r->best, measures);
    return r->seats;
}

void remap_given(const struct remap *r, struct remap_measures *measures)
{
    *measures = r->given_measures;
}

double remap_bound(const struct remap *r, bool *optimal)
{
    if (optimal != NULL)
        *optimal = r->proven;
    return r->proven ? r->best_cost : r->bound;
}

/* The plan of a search for better mappings: which starting mappings are tried, and how the work is
 * shared out among them and among the methods that improve them. */
#include "daemon/analysis/network/remap/remap_inner.h"
#include "daemon/analysis/network/remap/remap_metis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The constants below are heuristic and, as far as is known, not tuned systematically: no paper and
 * no record of measurements supports them. They change how good a mapping is after a given
 * effort, never whether it is valid. Whoever changes one compares the columns of
 * tests/bench/remap_bench.c before and after.
 *
 * Temperatures are shares of remap_search_scale(): what a process exchanges with all its partners,
 * on average. A run cools down geometrically. */

/* Annealing of all steps. */
#define FIRST_HOT 0.17 /* initial temperature of the first runs */
#define FRESH_HOT 0.2  /* initial temperature of starts that were not annealed before */
#define PARTS_HOT 0.05 /* initial temperature for the inter-node objective */
#define COLD 0.2       /* last temperature as a share of the first */
#define TRIES 6000u    /* attempted exchanges for each process in one run */
#define WORK_TRY 75u   /* work of one attempt, in units of remap.c */

/* Shares of the work. */
#define BLOCKS_SHARE 0.9     /* of the work of annealing, for exchanges of blocks */
#define GRID_STALL_PARTS 40u /* a grid ends after 1/40 of all work without a better order */
#define MAX_STARTS 12u       /* starts made by METIS before annealing */
#define PLAIN_SPLITS 6u      /* METIS k-way with seeds 1 to 5, and its recursive bisection */

static bool plan_all_move(const struct remap *r)
{
    return r->movable_count == r->graph.processes;
}

/* ---- the pool of starts --------------------------------------------------------- */

/* Add the mapping of the search to the pool; in a full pool it replaces the worst one. */
static void plan_add_to_pool(struct remap *r, bool tried)
{
    const double cost = r->search.cost;
    const size_t size = r->graph.processes * sizeof(uint32_t);
    uint32_t worst = 0;
    if (r->objective != REMAP_MAX_LINK)
        remap_offer(r, r->search.slot);
    for (uint32_t i = 0; i < r->pool_count; i++) {
        if (fabs(r->pool[i].cost - cost) <= 1e-12 * cost)
            return; /* equal cost: most likely the same mapping */
        worst = r->pool[i].cost > r->pool[worst].cost ? i : worst;
    }
    if (r->pool_count < REMAP_POOL) {
        uint32_t *slots = malloc(size + 1);
        if (slots == NULL)
            return;
        worst = r->pool_count++;
        r->pool[worst].slots = slots;
    } else if (r->pool[worst].cost <= cost) {
        return;
    }
    r->pool[worst].cost = cost;
    r->pool[worst].tried = tried;
    memcpy(r->pool[worst].slots, r->search.slot, size);
}

static void plan_begin_descent(struct remap *r, const uint32_t *slots)
{
    const uint64_t before = r->search.work;
    remap_search_load(&r->search, slots);
    r->work += r->search.work - before;
    r->descending = true;
    r->descent_end = r->work + r->limit / 16;
}

/* @return whether the descent goes on */
static bool plan_descend(struct remap *r)
{
    const uint64_t before = r->search.work;
    const bool done = remap_search_descend(&r->search, REMAP_STEP) || r->work >= r->descent_end;
    r->work += r->search.work - before;
    if (done)
        plan_add_to_pool(r, false);
    r->descending = !done;
    return !done;
}

/* ---- stages --------------------------------------------------------------------- */

static void plan_enter_stage(struct remap *r, enum remap_stage stage, double share)
{
    const uint64_t left = r->work < r->limit ? r->limit - r->work : 0;
    r->stage = stage;
    r->starts = 0;
    r->stage_begin = r->work;
    r->stage_end = r->work + (uint64_t)(share * (double)left);
}

/* The share counts the first time only; after another start annealing goes on to the same end. */
static void plan_enter_annealing(struct remap *r, double share)
{
    plan_enter_stage(r, STAGE_ANNEAL, share);
    if (r->anneal_end == 0) {
        r->anneal_end = r->stage_end;
        r->anneal_begin = r->work;
    }
    r->stage_end = r->anneal_end;
}

static void plan_step_exact(struct remap *r)
{
    const bool done = remap_exact_step(r->exact, REMAP_STEP, &r->work);
    if (!done && r->work < r->stage_end)
        return;
    remap_offer(r, remap_exact_slots(r->exact));
    remap_exact_destroy(r->exact);
    r->exact = NULL;
    r->proven |= done;
    plan_enter_stage(r, STAGE_GRID, 0.12);
    plan_begin_descent(r, r->best);
}

/* The next way of numbering; after all of them exchanges from the best mapping that they gave. */
static void plan_begin_grid(struct remap *r)
{
    const uint32_t axes = r->starts++;
    if (!plan_all_move(r) || r->objective == REMAP_INTER_NODE || axes > AXES_KINDS ||
        (axes == AXES_KINDS && r->grid_cost == HUGE_VAL)) {
        plan_enter_stage(r, STAGE_STARTS,
                         r->objective == REMAP_INTER_NODE ? 0.6
                         : r->blocks != NULL              ? 0.05
                                                          : 0.1);
        return;
    }
    if (axes == AXES_KINDS) {
        plan_begin_descent(r, r->grid_slots);
        return;
    }
    r->stage_end = r->work + r->limit / (axes == 0 ? 12 : 32);
    r->work += 20ull * r->graph.first[r->graph.processes] + 100ull * r->graph.processes;
    remap_grid_create(&r->grid, &r->graph, &r->places, axes, r->seed);
    r->grid_found = r->work;
}

static void plan_end_grid(struct remap *r)
{
    remap_grid_slots(r->grid, r->scratch);
    remap_grid_destroy(r->grid);
    r->grid = NULL;
    const double cost = remap_search_cost(&r->search, r->scratch);
    r->work += 20ull * r->graph.first[r->graph.processes];
    if (cost >= r->grid_cost)
        return;
    r->grid_cost = cost;
    memcpy(r->grid_slots, r->scratch, r->graph.processes * sizeof(*r->grid_slots));
}

static void plan_step_grid(struct remap *r)
{
    if (r->grid == NULL) {
        plan_begin_grid(r);
        return;
    }
    if (remap_grid_step(r->grid, REMAP_STEP, &r->work)) {
        remap_grid_slots(r->grid, r->scratch);
        r->grid_found = r->work;
        if (r->objective != REMAP_MAX_LINK)
            remap_offer(r, r->scratch);
    }
    if (r->work >= r->stage_end || r->work - r->grid_found >= r->limit / GRID_STALL_PARTS)
        plan_end_grid(r);
}

/* The first splits are what METIS finds on its own with the usual seeds, so the result is never
 * worse than a direct call of METIS. */
static struct remap_split plan_next_split(const struct remap *r, const uint32_t *members,
                                          const uint32_t *sizes)
{
    const bool plain = r->made < PLAIN_SPLITS;
    return (struct remap_split){.graph = &r->graph,
                                .members = members,
                                .count = r->graph.processes,
                                .sizes = sizes,
                                .parts = r->places.spots,
                                .k_way = plain ? r->made + 1 < PLAIN_SPLITS : r->made % 4 != 3,
                                .plain = plain,
                                .seed = plain ? r->made % (PLAIN_SPLITS - 1) + 1
                                              : (uint32_t)r->seed + r->made - PLAIN_SPLITS};
}

/* Split the processes into parts of the sizes of the nodes. */
static int plan_split(struct remap *r)
{
    const uint32_t n = r->graph.processes, parts = r->places.spots;
    uint32_t *work = malloc((4 * (size_t)n + 1) * sizeof(*work));
    int rc = -1;
    if (work != NULL && parts > 1) {
        uint32_t *members = work, *sizes = work + n, *part = work + 2 * n, *index = work + 3 * n;
        for (uint32_t i = 0; i < n; i++) {
            members[i] = i;
            index[i] = TOPOLOGY_NONE;
        }
        for (uint32_t s = 0; s < parts; s++)
            sizes[s] = r->places.first[s + 1] - r->places.first[s];
        const struct remap_split s = plan_next_split(r, members, sizes);
        r->work += remap_split_work(&s) * (1 + (uint64_t)log2(parts)) * 5 / 2;
        rc = remap_split(&s, part, index);
        for (uint32_t k = 0; rc == 0 && k < parts; k++)
            sizes[k] = r->places.first[k];
        for (uint32_t i = 0; rc == 0 && i < n; i++)
            r->scratch[i] = sizes[part[i]]++;
    }
    free(work);
    return rc;
}

static void plan_step_splits(struct remap *r)
{
    const bool enough =
        !r->more && (r->made >= MAX_STARTS || (r->made >= PLAIN_SPLITS && r->work >= r->stage_end));
    if (enough || !plan_all_move(r)) {
        plan_enter_annealing(r, 1);
        return;
    }
    if (plan_split(r) == 0)
        plan_begin_descent(r, r->scratch);
    r->made++;
    r->more = false;
}

static void plan_step_starts(struct remap *r)
{
    if (r->halves == NULL) {
        const bool enough =
            !r->more && (r->made >= MAX_STARTS || (r->made > 0 && r->work >= r->stage_end));
        const enum remap_cut cut = (r->made + CUT_LONGEST_LAST) % CUT_KINDS;
        if (enough || !plan_all_move(r) ||
            remap_halves_create(&r->halves, &r->graph, &r->places, cut,
                                (uint32_t)r->seed + r->made) != 0)
            plan_enter_annealing(r, r->objective == REMAP_MAX_LINK ? 0.4 : 1);
        r->made++;
        r->more = false;
        return;
    }
    const int rc = remap_halves_step(r->halves, REMAP_STEP, &r->work);
    if (rc == 0)
        return;
    if (rc > 0)
        plan_begin_descent(r, remap_halves_slots(r->halves));
    remap_halves_destroy(r->halves);
    r->halves = NULL;
}

/* ---- links ---------------------------------------------------------------------- */

/* The mappings of the pool have low hop-bytes: they may have a low maximum load, too. */
static void plan_offer_pool(struct remap *r)
{
    for (uint32_t i = 0; r->objective == REMAP_MAX_LINK && i < r->pool_count; i++)
        remap_offer(r, r->pool[i].slots);
}

/* Start from the mapping with the lowest maximum load so far. */
static void plan_begin_links(struct remap *r)
{
    r->stage = STAGE_DONE;
    if (r->objective != REMAP_MAX_LINK || r->movable_count < 2)
        return;
    plan_offer_pool(r);
    const struct remap_links_problem problem = {&r->graph,  &r->places,       r->best,
                                                r->movable, r->movable_count, r->seed};
    if (r->proven || r->work >= r->limit || remap_links_create(&r->links, &problem) != 0)
        return;
    plan_enter_stage(r, STAGE_LINKS, 1);
}

void remap_plan_stop(struct remap *r)
{
    if (r->stage != STAGE_DONE && !r->proven) {
        if (r->exact != NULL)
            remap_offer(r, remap_exact_slots(r->exact));
        if (r->descending || r->run.length > 0)
            plan_add_to_pool(r, true);
        plan_offer_pool(r);
        if (r->links != NULL)
            remap_offer(r, remap_links_slots(r->links));
    }
    r->stage = STAGE_DONE;
}

static void plan_step_links(struct remap *r)
{
    const uint64_t all = r->limit > r->stage_begin ? r->limit - r->stage_begin : 1;
    const double done = (double)(r->work - r->stage_begin) / (double)all;
    remap_links_step(r->links, done < 1 ? done : 1, REMAP_STEP, &r->work);
    if (r->work < r->stage_end)
        return;
    remap_plan_stop(r);
}

/* ---- annealing ------------------------------------------------------------------ */

/* Choose the best start that was not annealed yet at times, else the best of all. */
static struct remap_start *plan_choose_start(struct remap *r)
{
    struct remap_start *best = &r->pool[0], *fresh = NULL;
    for (uint32_t i = 0; i < r->pool_count; i++) {
        struct remap_start *s = &r->pool[i];
        if (s->cost < best->cost)
            best = s;
        if (!s->tried && (fresh == NULL || s->cost < fresh->cost))
            fresh = s;
    }
    /* annealing lowers the cost of a start by an eighth or less: much worse ones have no chance */
    return fresh != NULL && (fresh->cost < 1.25 * best->cost || r->stale > 1) ? fresh : best;
}

static void plan_begin_run(struct remap *r)
{
    struct remap_start *start = plan_choose_start(r);
    const uint64_t left = r->stage_end - r->work;
    uint64_t length = (uint64_t)r->movable_count * TRIES * WORK_TRY;
    const uint64_t least = r->limit / (start->tried || r->runs == 0 ? 24 : 5);
    if (length < least)
        length = least;
    if (2 * length > left)
        length = left - left / 16; /* the rest is for the descent */
    const uint64_t before = r->search.work;
    remap_search_load(&r->search, start->slots);
    r->work += r->search.work - before;
    r->run = (struct remap_run){.cost = start->cost,
                                .hot = start->tried                       ? r->hot
                                       : r->objective == REMAP_INTER_NODE ? PARTS_HOT
                                                                          : FRESH_HOT,
                                .length = length,
                                .fresh = !start->tried};
    start->tried = true;
    r->runs++;
}

static void plan_end_run(struct remap *r)
{
    r->stale = r->search.cost < (1 - 1e-9) * r->best_cost ? 0 : r->stale + 1;
    if (r->run.fresh)
        r->hot = r->stale == 0 && r->objective != REMAP_INTER_NODE ? FIRST_HOT : r->hot;
    else if (r->search.cost > 1.01 * r->run.cost)
        r->hot *= 0.85; /* too hot: the run lost what was good in the start */
    else if (r->search.cost > (1 - 1e-9) * r->run.cost)
        r->hot *= 1.1; /* too cold: the run returned to its start */
    plan_add_to_pool(r, true);
    r->run = (struct remap_run){0};
}

/* Exchange blocks of the best mapping, for a share of the work of annealing. */
static bool plan_step_blocks(struct remap *r)
{
    const struct remap_start *best = &r->pool[0];
    if (r->blocks == NULL || r->pool_count == 0 || r->work >= r->stage_end ||
        (double)r->blocks_work > BLOCKS_SHARE * (double)(r->work - r->anneal_begin))
        return false;
    for (uint32_t i = 1; i < r->pool_count; i++)
        best = r->pool[i].cost < best->cost ? &r->pool[i] : best;
    if (!best->tried)
        return false;
    if (r->blocks_work == 0 || best->cost < (1 - 1e-9) * remap_blocks_cost(r->blocks))
        remap_blocks_load(r->blocks, best->slots, best->cost);
    const uint64_t before = r->work;
    const int rc = remap_blocks_step(r->blocks, &r->search, &r->work);
    r->blocks_work += r->work - before;
    if (rc > 0) {
        plan_add_to_pool(r, true);
        r->stale = 0;
    } else if (rc < 0) {
        remap_blocks_destroy(r->blocks);
        r->blocks = NULL;
    }
    return true;
}

static void plan_step_annealing(struct remap *r)
{
    struct remap_run *run = &r->run;
    if (run->length == 0) {
        if (plan_step_blocks(r))
            return;
        if (r->work >= r->stage_end || r->movable_count < 2 || r->pool_count == 0)
            plan_begin_links(r);
        else if (r->stale > 1 && plan_all_move(r) && r->runs % 4 != 0) {
            r->stage = STAGE_STARTS;
            r->more = true;
            r->runs++;
        } else
            plan_begin_run(r);
        return;
    }
    const double scale = remap_search_scale(&r->search);
    const uint64_t before = r->search.work, end = before + REMAP_STEP;
    const uint64_t piece = run->length / 100 + 1;
    while (r->search.work < end && !run->cold) {
        const double done = (double)run->used / (double)run->length;
        const uint64_t begin = r->search.work;
        remap_search_run(&r->search, scale * run->hot * pow(COLD, done), piece);
        run->used += r->search.work - begin;
        run->cold = run->used >= run->length;
    }
    if (run->cold && remap_search_descend(&r->search, REMAP_STEP)) {
        r->work += r->search.work - before;
        plan_end_run(r);
        return;
    }
    r->work += r->search.work - before;
}

/* ---- the whole ------------------------------------------------------------------ */

void remap_plan_begin(struct remap *r)
{
    const struct remap_exact_problem problem = {
        &r->graph, &r->places, r->given, r->movable, r->movable_count, r->objective, r->messages};
    r->hot = r->objective == REMAP_INTER_NODE ? PARTS_HOT : FIRST_HOT;
    r->grid_cost = HUGE_VAL;
    if (r->limit == 0 || r->movable_count < 2 || r->proven) {
        r->stage = STAGE_DONE;
        return;
    }
    if (plan_all_move(r))
        remap_blocks_create(&r->blocks, &r->graph, &r->places, r->seed);
    plan_enter_stage(r, STAGE_GRID, 0.12);
    if (r->movable_count <= REMAP_MAX_EXACT && remap_exact_create(&r->exact, &problem) == 0)
        plan_enter_stage(r, STAGE_EXACT, 0.6);
    else
        plan_begin_descent(r, r->given);
}

void remap_plan_step(struct remap *r)
{
    if (r->proven || r->work >= r->limit)
        remap_plan_stop(r);
    else if (r->descending)
        plan_descend(r);
    else if (r->stage == STAGE_EXACT)
        plan_step_exact(r);
    else if (r->stage == STAGE_GRID)
        plan_step_grid(r);
    else if (r->stage == STAGE_STARTS && r->objective == REMAP_INTER_NODE)
        plan_step_splits(r);
    else if (r->stage == STAGE_STARTS)
        plan_step_starts(r);
    else if (r->stage == STAGE_ANNEAL)
        plan_step_annealing(r);
    else if (r->stage == STAGE_LINKS)
        plan_step_links(r);
}

void remap_plan_finish(struct remap *r)
{
    for (uint32_t i = 0; i < r->pool_count; i++)
        free(r->pool[i].slots);
    remap_grid_destroy(r->grid);
    remap_halves_destroy(r->halves);
    remap_exact_destroy(r->exact);
    remap_links_destroy(r->links);
    remap_blocks_destroy(r->blocks);
}

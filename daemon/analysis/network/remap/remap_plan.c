/* Which starts are tried, and how the work is shared out among them. */
#include "daemon/analysis/network/remap/remap_inner.h"
#include "daemon/analysis/network/remap/remap_metis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_HOT 0.17    /* temperature to begin with, as a share of what a process exchanges */
#define FRESH_HOT 0.2     /* likewise, of starts that were not annealed yet */
#define PART_HOT 0.237    /* likewise, where some steps are barred: the least, */
#define PART_BARRED 0.024 /* what is added as half of them are, */
#define PART_MORE 0.015   /* and what chance may add */
#define PART_COLD 0.12    /* the last with them barred */
#define PART_LAST 0.14    /* the first without, */
#define PART_END 0.75     /* after this share of the work */
#define PART_TRIES 15000u
#define BITS_HOT 0.25    /* likewise, where steps are bits: the least, */
#define BITS_MORE 0.02   /* and what chance may add */
#define BITS_BARRED 3    /* of 8 bits, or one more */
#define BITS_EARLY 0.83  /* share of a run that is left when it may be given up, */
#define BITS_MELTED 0.4  /* for having lost so much; */
#define BITS_SURE 0.73   /* share of a run that is left when it may be given up, */
#define BITS_LOSS 0.2    /* for having lost so much, times the cube of what is left */
#define BITS_UNFOLD 0.3  /* share of the work for making grids */
#define BLOCKS_SHARE 0.9 /* of the work of annealing, for exchanging blocks */
#define GRID_PATIENCE                                                                              \
    40u                /* a grid is given up after this part of the work without a better one      \
                        */
#define PARTS_HOT 0.05 /* likewise, of parts */
#define COLD 0.2       /* the last, as a share of that */
#define TRIES 6000u    /* exchanges to weigh for each process in one annealing */
#define WORK_TRY 75u   /* nanoseconds that one takes */
#define FRESH_EACH 12u /* runs, of which one is from a start that was not annealed yet */
#define MOST_STARTS 12u
#define PLAIN_SPLITS 6u /* METIS k-way with seeds 1 to 5, and its recursive bisection */

static bool all_move(const struct remap *r)
{
    return r->movable_count == r->graph.processes;
}

/* ---- the pool of starts --------------------------------------------------------- */

/* What the search holds goes into the pool, instead of the worst if it is full. */
static void pool_add(struct remap *r, bool tried)
{
    const double cost = r->search.cost;
    const size_t size = r->graph.processes * sizeof(uint32_t);
    uint32_t worst = 0;
    if (r->objective != REMAP_MAX_LINK)
        remap_offer(r, r->search.slot);
    for (uint32_t i = 0; i < r->pool_count; i++) {
        if (fabs(r->pool[i].cost - cost) <= 1e-12 * cost)
            return; /* most likely the same */
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

static void begin_descent(struct remap *r, const uint32_t *slots)
{
    const uint64_t before = r->search.work;
    remap_search_load(&r->search, slots);
    r->work += r->search.work - before;
    r->descending = true;
    r->descent_end = r->work + r->limit / 16;
}

/* @return whether the descent goes on */
static bool remap_plan_descend(struct remap *r)
{
    const uint64_t before = r->search.work;
    const bool done = remap_search_descend(&r->search, REMAP_STEP) || r->work >= r->descent_end;
    r->work += r->search.work - before;
    if (done)
        pool_add(r, false);
    r->descending = !done;
    return !done;
}

/* ---- stages --------------------------------------------------------------------- */

static void remap_plan_enter_stage(struct remap *r, enum remap_stage stage, double share)
{
    const uint64_t left = r->work < r->limit ? r->limit - r->work : 0;
    r->stage = stage;
    r->starts = 0;
    r->stage_begin = r->work;
    r->stage_end = r->work + (uint64_t)(share * (double)left);
}

/* Once, or again after another start. */
static void enter_annealing(struct remap *r, double share)
{
    remap_plan_enter_stage(r, STAGE_ANNEAL, share);
    if (r->anneal_end == 0) {
        r->anneal_end = r->stage_end;
        r->anneal_begin = r->work;
    }
    r->stage_end = r->anneal_end;
}

static void step_exact(struct remap *r)
{
    const bool done = remap_exact_step(r->exact, REMAP_STEP, &r->work);
    if (!done && r->work < r->stage_end)
        return;
    remap_offer(r, remap_exact_slots(r->exact));
    remap_exact_destroy(r->exact);
    r->exact = NULL;
    r->proven |= done;
    remap_plan_enter_stage(r, STAGE_GRID, 0.12);
    begin_descent(r, r->best);
}

/* Processes of which nobody knows that they form a grid: make one. */
static void begin_unfold(struct remap *r)
{
    const double share = r->objective == REMAP_MAX_LINK ? 0.25
                         : r->bits != NULL              ? BITS_UNFOLD
                                                        : 0.5;
    remap_plan_enter_stage(r, STAGE_UNFOLD, share);
    if (all_move(r) && r->objective != REMAP_INTER_NODE && r->stage_end > r->work &&
        remap_unfold_create(&r->unfold, &r->graph, &r->places, r->seed, r->stage_end - r->work) ==
            0)
        return;
    remap_plan_enter_stage(r, STAGE_STARTS,
                           r->objective == REMAP_INTER_NODE ? 0.6
                           : r->blocks != NULL              ? 0.05
                                                            : 0.1);
}

static void step_unfold(struct remap *r)
{
    const int rc = remap_unfold_step(r->unfold, REMAP_STEP, &r->work);
    if (rc == 0)
        return;
    if (rc > 0) {
        remap_unfold_slots(r->unfold, r->scratch);
        begin_descent(r, r->scratch);
    }
    remap_unfold_destroy(r->unfold);
    r->unfold = NULL;
    remap_plan_enter_stage(r, STAGE_STARTS, r->blocks != NULL ? 0.05 : 0.1);
}

static void next_grid(struct remap *r)
{
    const enum remap_axes axes = r->starts++;
    remap_grid_destroy(r->grid);
    r->grid = NULL;
    if (!all_move(r) || r->objective == REMAP_INTER_NODE || axes >= AXES_KINDS) {
        begin_unfold(r);
        return;
    }
    r->stage_end = r->work + r->limit / (axes == 0 ? 12 : 32);
    r->work += 20ull * r->graph.first[r->graph.processes] + 100ull * r->graph.processes;
    remap_grid_create(&r->grid, &r->graph, &r->places, axes, NULL, r->seed);
    r->grid_found = r->work;
}

static void step_grid(struct remap *r)
{
    if (r->grid == NULL) {
        next_grid(r);
        return;
    }
    if (remap_grid_step(r->grid, REMAP_STEP, &r->work)) {
        remap_grid_slots(r->grid, r->scratch);
        r->grid_found = r->work;
        if (r->objective != REMAP_MAX_LINK)
            remap_offer(r, r->scratch);
    }
    if (r->work < r->stage_end && r->work - r->grid_found < r->limit / GRID_PATIENCE)
        return;
    remap_grid_slots(r->grid, r->scratch);
    begin_descent(r, r->scratch);
    remap_grid_destroy(r->grid);
    r->grid = NULL;
}

/* First what METIS itself finds with the seeds that one would give it: the result is never behind
 * that. */
static struct remap_split next_split(const struct remap *r, const uint32_t *members,
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

/* Parts as large as the nodes have seats. */
static int remap_plan_split(struct remap *r)
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
        const struct remap_split s = next_split(r, members, sizes);
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

static void step_splits(struct remap *r)
{
    const bool enough = !r->more && (r->made >= MOST_STARTS ||
                                     (r->made >= PLAIN_SPLITS && r->work >= r->stage_end));
    if (enough || !all_move(r)) {
        enter_annealing(r, 1);
        return;
    }
    if (remap_plan_split(r) == 0)
        begin_descent(r, r->scratch);
    r->made++;
    r->more = false;
}

static void step_starts(struct remap *r)
{
    if (r->halves == NULL) {
        const bool enough =
            !r->more && (r->made >= MOST_STARTS || (r->made > 0 && r->work >= r->stage_end));
        const enum remap_cut cut = (r->made + CUT_LONGEST_LAST) % CUT_KINDS;
        if (enough || !all_move(r) ||
            remap_halves_create(&r->halves, &r->graph, &r->places, cut,
                                (uint32_t)r->seed + r->made) != 0)
            enter_annealing(r, r->objective == REMAP_MAX_LINK ? 0.4 : 1);
        r->made++;
        r->more = false;
        return;
    }
    const int rc = remap_halves_step(r->halves, REMAP_STEP, &r->work);
    if (rc == 0)
        return;
    if (rc > 0)
        begin_descent(r, remap_halves_slots(r->halves));
    remap_halves_destroy(r->halves);
    r->halves = NULL;
}

/* ---- links ---------------------------------------------------------------------- */

/* What is best for the sum of all loads may be good for the largest too. */
static void offer_pool(struct remap *r)
{
    for (uint32_t i = 0; r->objective == REMAP_MAX_LINK && i < r->pool_count; i++)
        remap_offer(r, r->pool[i].slots);
}

/* From the best for the largest load of all that there is. */
static void begin_links(struct remap *r)
{
    r->stage = STAGE_DONE;
    if (r->objective != REMAP_MAX_LINK || r->movable_count < 2)
        return;
    offer_pool(r);
    const struct remap_links_problem problem = {&r->graph,  &r->places,       r->best,
                                                r->movable, r->movable_count, r->seed};
    if (r->proven || r->work >= r->limit || remap_links_create(&r->links, &problem) != 0)
        return;
    remap_plan_enter_stage(r, STAGE_LINKS, 1);
}

static void step_links(struct remap *r)
{
    const uint64_t all = r->limit > r->stage_begin ? r->limit - r->stage_begin : 1;
    const double done = (double)(r->work - r->stage_begin) / (double)all;
    remap_links_step(r->links, done < 1 ? done : 1, REMAP_STEP, &r->work);
    if (r->work < r->stage_end)
        return;
    remap_plan_stop(r);
}

/* ---- annealing ------------------------------------------------------------------ */

static bool can_bar(const struct remap *r)
{
    return r->search.crossings > 3 || (r->bits != NULL && remap_bits_count(r->bits) > 3);
}

/* Runs on codes' bits are shorter, and most are cut short. */
static uint32_t fresh_each(const struct remap *r)
{
    return r->bits != NULL ? 4 * FRESH_EACH : FRESH_EACH;
}

/* The best start that was not tried yet, and the best of all in between. */
static struct remap_start *remap_plan_choose(struct remap *r)
{
    struct remap_start *best = &r->pool[0], *fresh = NULL;
    for (uint32_t i = 0; i < r->pool_count; i++) {
        struct remap_start *s = &r->pool[i];
        if (s->cost < best->cost)
            best = s;
        if (!s->tried && (fresh == NULL || s->cost < fresh->cost))
            fresh = s;
    }
    /* annealing takes an eighth off a start, or less */
    if (fresh != NULL && (fresh->cost < 1.25 * best->cost || r->stale > 1) &&
        (!best->tried || !can_bar(r) || r->runs % fresh_each(r) == 0))
        return fresh;
    return best;
}

/* From a good mapping: so hot that it half melts, with some ways of stepping barred, which keeps
 * what is good along those. This leads out of mappings that annealing of all comes back to. */
static void bar_some(struct remap *r, struct remap_run *run)
{
    const uint32_t ways = r->search.crossings, most = ways / 2;
    uint32_t bar = remap_below(&r->search.random, most + 1);
    run->part = true;
    run->hot = PART_HOT + PART_BARRED * bar / most +
               PART_MORE * (double)remap_below(&r->search.random, 1024) / 1024;
    while (bar > 0) {
        const uint64_t way = 1ull << remap_below(&r->search.random, ways);
        bar -= (run->barred & way) == 0;
        run->barred |= way;
    }
}

/* Likewise, where steps are bits. */
static void bar_bits(struct remap *r, struct remap_run *run)
{
    const uint32_t count = remap_bits_count(r->bits);
    const uint32_t least = BITS_BARRED * count / 8, more = count / 8;
    uint32_t bar = least + remap_below(&r->search.random, more + 1);
    run->part = run->bits = true;
    run->hot = BITS_HOT + BITS_MORE * (double)remap_below(&r->search.random, 1024) / 1024;
    while (bar > 0) {
        const uint64_t bit = 1ull << remap_below(&r->search.random, count);
        bar -= (run->barred & bit) == 0;
        run->barred |= bit;
    }
}

static void begin_run(struct remap *r)
{
    struct remap_start *start = remap_plan_choose(r);
    const uint64_t left = r->stage_end - r->work;
    const bool part = start->tried && can_bar(r) && r->runs % (r->bits != NULL ? 24 : 6) != 5;
    uint64_t length = (uint64_t)r->movable_count * (part ? PART_TRIES : TRIES) * WORK_TRY;
    const uint64_t least = r->limit / (start->tried || r->runs == 0 ? 24 : 5);
    if (length < least && !(part && r->bits != NULL))
        length = least;
    if (2 * length > left)
        length = left - left / 16; /* the rest for the descent */
    const uint64_t before = r->search.work;
    if (part && r->bits != NULL)
        r->work += remap_bits_load(r->bits, start->slots);
    else
        remap_search_load(&r->search, start->slots);
    r->work += r->search.work - before;
    r->run = (struct remap_run){.cost = start->cost,
                                .hot = start->tried                       ? r->hot
                                       : r->objective == REMAP_INTER_NODE ? PARTS_HOT
                                                                          : FRESH_HOT,
                                .length = length,
                                .fresh = !start->tried};
    if (part && r->bits != NULL)
        bar_bits(r, &r->run);
    else if (part)
        bar_some(r, &r->run);
    start->tried = true;
    r->runs++;
}

static void remap_plan_end_run(struct remap *r)
{
    r->stale = r->search.cost < (1 - 1e-9) * r->best_cost ? 0 : r->stale + 1;
    if (r->run.fresh)
        r->hot = r->stale == 0 && r->objective != REMAP_INTER_NODE ? FIRST_HOT : r->hot;
    else if (r->run.part)
        ; /* says nothing about the other temperature */
    else if (r->search.cost > 1.01 * r->run.cost)
        r->hot *= 0.85; /* what was good in the start melted */
    else if (r->search.cost > (1 - 1e-9) * r->run.cost)
        r->hot *= 1.1; /* it came back to where it was */
    pool_add(r, true);
    r->run = (struct remap_run){0};
}

static double remap_plan_temperature(const struct remap_run *run, double done)
{
    if (!run->part)
        return run->hot * pow(COLD, done);
    if (done < PART_END)
        return run->hot * pow(PART_COLD / run->hot, done / PART_END);
    return PART_LAST * pow(0.4, (done - PART_END) / (1 - PART_END));
}

/* It has cooled down so far that it will not come back to where it began: the work is better spent
 * on others. */
static bool remap_plan_hopeless(const struct remap *r, const struct remap_run *run)
{
    const double left = 1 - (double)run->used / (double)run->length;
    const double lost = -remap_bits_gained(r->bits) / run->cost;
    return (left < BITS_EARLY && lost > BITS_MELTED) ||
           (left < BITS_SURE && lost > BITS_LOSS * left * left * left);
}

/* @return whether that is all that is to be done now */
static bool run_bits(struct remap *r, struct remap_run *run)
{
    const double scale = remap_search_scale(&r->search);
    const uint64_t piece = run->length / 100 + 1, before = run->used;
    while (run->used - before < REMAP_STEP && run->used < run->length) {
        const double done = (double)run->used / (double)run->length;
        run->used += remap_bits_run(r->bits, scale * remap_plan_temperature(run, done),
                                    done < PART_END ? run->barred : 0, piece);
    }
    r->work += run->used - before;
    if (run->used < run->length && !remap_plan_hopeless(r, run))
        return true;
    if (run->used < run->length) {
        r->stale++;
        r->run = (struct remap_run){0};
        return true;
    }
    const uint64_t loading = r->search.work;
    remap_search_load(&r->search, remap_bits_slots(r->bits));
    r->work += r->search.work - loading;
    run->bits = false;
    run->cold = true;
    return false;
}

/* From the best of all, with a share of the work of annealing. */
static bool step_blocks(struct remap *r)
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
        pool_add(r, true);
        r->stale = 0;
    } else if (rc < 0) {
        remap_blocks_destroy(r->blocks);
        r->blocks = NULL;
    }
    return true;
}

static void step_anneal(struct remap *r)
{
    struct remap_run *run = &r->run;
    if (run->length == 0) {
        if (step_blocks(r))
            return;
        if (r->work >= r->stage_end || r->movable_count < 2 || r->pool_count == 0)
            begin_links(r);
        else if (r->stale > 1 && all_move(r) &&
                 (can_bar(r) ? r->runs % fresh_each(r) == fresh_each(r) - 1 : r->runs % 4 != 0)) {
            r->stage = STAGE_STARTS;
            r->more = true;
            r->runs++;
        } else
            begin_run(r);
        return;
    }
    if (run->bits && run_bits(r, run))
        return;
    const double scale = remap_search_scale(&r->search);
    const uint64_t before = r->search.work, end = before + REMAP_STEP;
    const uint64_t piece = run->length / 100 + 1;
    while (r->search.work < end && !run->cold) {
        const double done = (double)run->used / (double)run->length;
        const uint64_t begin = r->search.work;
        r->search.barred = done < PART_END ? (uint32_t)run->barred : 0;
        remap_search_run(&r->search, scale * remap_plan_temperature(run, done), piece);
        run->used += r->search.work - begin;
        run->cold = run->used >= run->length;
    }
    if (run->cold && remap_search_descend(&r->search, REMAP_STEP)) {
        r->work += r->search.work - before;
        remap_plan_end_run(r);
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
    if (r->limit == 0 || r->movable_count < 2 || r->proven) {
        r->stage = STAGE_DONE;
        return;
    }
    if (!r->places.inter_node)
        remap_bits_create(&r->bits, &r->graph, &r->places, r->movable, r->movable_count, r->seed);
    if (r->bits != NULL && all_move(r))
        remap_blocks_create(&r->blocks, &r->graph, &r->places, r->seed);
    remap_plan_enter_stage(r, STAGE_GRID, 0.12);
    if (r->movable_count <= REMAP_MOST_EXACT && remap_exact_create(&r->exact, &problem) == 0)
        remap_plan_enter_stage(r, STAGE_EXACT, 0.6);
    else
        begin_descent(r, r->given);
}

void remap_plan_stop(struct remap *r)
{
    if (r->stage != STAGE_DONE && !r->proven) {
        if (r->exact != NULL)
            remap_offer(r, remap_exact_slots(r->exact));
        if (r->run.bits)
            remap_search_load(&r->search, remap_bits_slots(r->bits));
        if (r->descending || r->run.length > 0)
            pool_add(r, true);
        offer_pool(r);
        if (r->links != NULL)
            remap_offer(r, remap_links_slots(r->links));
    }
    r->stage = STAGE_DONE;
}

void remap_plan_step(struct remap *r)
{
    if (r->proven || r->work >= r->limit)
        remap_plan_stop(r);
    else if (r->descending)
        remap_plan_descend(r);
    else if (r->stage == STAGE_EXACT)
        step_exact(r);
    else if (r->stage == STAGE_GRID)
        step_grid(r);
    else if (r->stage == STAGE_UNFOLD)
        step_unfold(r);
    else if (r->stage == STAGE_STARTS && r->objective == REMAP_INTER_NODE)
        step_splits(r);
    else if (r->stage == STAGE_STARTS)
        step_starts(r);
    else if (r->stage == STAGE_ANNEAL)
        step_anneal(r);
    else if (r->stage == STAGE_LINKS)
        step_links(r);
}

void remap_plan_finish(struct remap *r)
{
    for (uint32_t i = 0; i < r->pool_count; i++)
        free(r->pool[i].slots);
    remap_grid_destroy(r->grid);
    remap_halves_destroy(r->halves);
    remap_unfold_destroy(r->unfold);
    remap_exact_destroy(r->exact);
    remap_links_destroy(r->links);
    remap_bits_destroy(r->bits);
    remap_blocks_destroy(r->blocks);
}

/* Starting mappings by recursive bisection of the network and of the processes: see remap_halves.h.
 */
#include "daemon/analysis/network/remap/remap_halves.h"

#include "daemon/analysis/network/remap/remap_metis.h"
#include "daemon/analysis/tables/arena.h"
#include "holter/order.h"

#include <errno.h>
#include <stdlib.h>

/* A range of slots and, with the same indices, of the processes that are to be placed on them. */
struct range {
    uint32_t begin, end;
};

struct remap_halves {
    const struct remap_graph *graph;
    const struct remap_places *places;
    enum remap_cut cut;
    uint32_t seed;
    struct arena memory; /* of all arrays */
    uint32_t *slots;     /* slots in the order of ranges */
    uint32_t *processes; /* processes in the order of ranges */
    uint32_t *result;    /* slot of each process */
    uint32_t *middle;    /* of each process: a spot in the middle of its range */
    uint32_t *part;
    uint32_t *index;
    uint64_t *key;   /* sort key of each slot */
    uint32_t *begin; /* begins of the ranges of this level, and the end of the last one */
    uint32_t *next;  /* begins of the ranges of the next level so far */
    uint32_t count, done, next_count;
};

int remap_halves_create(struct remap_halves **out, const struct remap_graph *graph,
                        const struct remap_places *places, enum remap_cut cut, uint32_t seed)
{
    const size_t n = graph->processes;
    struct remap_halves *h = calloc(1, sizeof(*h));
    if (h == NULL)
        return -ENOMEM;
    *h = (struct remap_halves){.graph = graph, .places = places, .cut = cut, .seed = seed};
    ARENA_TAKE(&h->memory, h->slots, n + 1);
    ARENA_TAKE(&h->memory, h->processes, n + 1);
    ARENA_TAKE(&h->memory, h->result, n + 1);
    ARENA_TAKE(&h->memory, h->middle, n + 1);
    ARENA_TAKE(&h->memory, h->part, n + 1);
    ARENA_TAKE(&h->memory, h->index, n + 1);
    ARENA_TAKE(&h->memory, h->key, n + 1);
    ARENA_TAKE(&h->memory, h->begin, n + 2);
    ARENA_TAKE(&h->memory, h->next, n + 2);
    if (h->memory.failed) {
        remap_halves_destroy(h);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < n; i++) {
        h->slots[i] = h->processes[i] = i;
        h->index[i] = TOPOLOGY_NONE;
    }
    h->begin[0] = 0;
    h->begin[1] = (uint32_t)n;
    h->count = 1;
    *out = h;
    return 0;
}

void remap_halves_destroy(struct remap_halves *h)
{
    if (h == NULL)
        return;
    arena_finish(&h->memory);
    free(h);
}

/* ---- the network ---------------------------------------------------------------- */

/* Number of coordinates that the spots of a range span along a dimension; in a fully connected
 * dimension, the number of distinct ones. */
static uint32_t remap_halves_extent(const struct remap_halves *h, const struct range *range,
                                    uint32_t d)
{
    uint32_t low = UINT32_MAX, high = 0;
    for (uint32_t i = range->begin; i < range->end; i++) {
        const uint32_t x = remap_at(h->places, h->places->spot[h->slots[i]])[d];
        low = x < low ? x : low;
        high = x > high ? x : high;
    }
    return high - low + 1;
}

static uint32_t remap_halves_choose_dimension(const struct remap_halves *h,
                                              const struct range *range)
{
    const uint32_t count = h->places->dimension_count;
    uint32_t best = 0, longest = 1;
    for (uint32_t k = 0; k < count; k++) {
        const bool backward = h->cut == CUT_LONGEST_LAST || h->cut == CUT_LAST;
        const uint32_t d = backward ? count - 1 - k : k, wide = remap_halves_extent(h, range, d);
        if (wide <= longest)
            continue;
        best = d;
        longest = wide;
        if (h->cut == CUT_FIRST || h->cut == CUT_LAST)
            break;
    }
    return best;
}

/* Key where distance is not a sum over dimensions: is a spot nearer to one or to the other of two
 * spots that are far apart? */
static void remap_halves_key_by_ends(struct remap_halves *h, const struct range *range)
{
    const struct remap_places *places = h->places;
    uint32_t ends[2] = {places->spot[h->slots[range->begin]], 0};
    for (int round = 0; round < 3; round++) {
        double farthest = -1;
        for (uint32_t i = range->begin; i < range->end; i++) {
            const uint32_t spot = places->spot[h->slots[i]];
            const double d = remap_distance(places, ends[round & 1], spot);
            if (d > farthest) {
                farthest = d;
                ends[~round & 1] = spot;
            }
        }
    }
    for (uint32_t i = range->begin; i < range->end; i++) {
        const uint32_t spot = places->spot[h->slots[i]];
        const double nearer =
            remap_distance(places, ends[0], spot) - remap_distance(places, ends[1], spot);
        h->key[i] = (uint64_t)(2 * nearer + 262144) << 32 | h->slots[i];
    }
}

/* Sort the slots of a range so that its two sides are contiguous. @return index at which the second
 * side begins */
static uint32_t remap_halves_sort_slots(struct remap_halves *h, const struct range *range)
{
    const struct remap_places *places = h->places;
    const uint32_t count = range->end - range->begin;
    uint32_t middle = range->begin + count / 2;
    if (places->dimension_count > 0) {
        const uint32_t d = remap_halves_choose_dimension(h, range);
        for (uint32_t i = range->begin; i < range->end; i++)
            h->key[i] =
                (uint64_t)remap_at(places, places->spot[h->slots[i]])[d] << 32 | h->slots[i];
    } else {
        remap_halves_key_by_ends(h, range);
    }
    qsort(h->key + range->begin, count, sizeof(*h->key), order_u64);
    for (uint32_t i = range->begin; i < range->end; i++)
        h->slots[i] = (uint32_t)h->key[i];
    /* shift the cut to a border of two spots, if one is near */
    const uint32_t spot = places->spot[h->slots[middle]], first = middle;
    while (middle > range->begin && places->spot[h->slots[middle - 1]] == spot)
        middle--;
    if (middle == range->begin)
        for (middle = first; middle < range->end && places->spot[h->slots[middle]] == spot;)
            middle++;
    return middle;
}

/* ---- the processes -------------------------------------------------------------- */

/* Cost of the partners outside of the range if the first part of the processes goes to the first
 * side, minus their cost the other way round. */
static double remap_halves_outside_cost(const struct remap_halves *h, const struct range *range,
                                        uint32_t one, uint32_t other)
{
    const struct remap_graph *graph = h->graph;
    double sum = 0;
    for (uint32_t i = range->begin; i < range->end; i++)
        h->index[h->processes[i]] = 0;
    for (uint32_t i = range->begin; i < range->end; i++) {
        const uint32_t p = h->processes[i];
        for (uint32_t k = graph->first[p]; k < graph->first[p + 1]; k++) {
            const struct remap_partner *partner = &graph->partners[k];
            if (h->index[partner->process] != TOPOLOGY_NONE)
                continue;
            const uint32_t there = h->middle[partner->process];
            const double d = partner->weight * (remap_distance(h->places, one, there) -
                                                remap_distance(h->places, other, there));
            sum += h->part[i - range->begin] == 0 ? d : -d;
        }
    }
    for (uint32_t i = range->begin; i < range->end; i++)
        h->index[h->processes[i]] = TOPOLOGY_NONE;
    return sum;
}

/* Move the first part of the processes to the front. */
static void remap_halves_order_processes(struct remap_halves *h, const struct range *range,
                                         uint32_t middle, bool swapped)
{
    uint32_t low = range->begin, high = middle;
    for (uint32_t i = range->begin; i < range->end; i++) {
        const bool second = (h->part[i - range->begin] != 0) != swapped;
        h->key[second ? high++ : low++] = h->processes[i];
    }
    for (uint32_t i = range->begin; i < range->end; i++)
        h->processes[i] = (uint32_t)h->key[i];
}

static void remap_halves_place_range(struct remap_halves *h, const struct range *range)
{
    const uint32_t spot = h->places->spot[h->slots[range->begin + (range->end - range->begin) / 2]];
    for (uint32_t i = range->begin; i < range->end; i++)
        h->middle[h->processes[i]] = spot;
}

static int remap_halves_halve(struct remap_halves *h, const struct range *range, uint64_t *work)
{
    const uint32_t count = range->end - range->begin;
    const uint32_t middle = remap_halves_sort_slots(h, range);
    h->next[h->next_count++] = range->begin;
    if (middle == range->end || middle == range->begin)
        return 0; /* one spot: any order of its processes is equally good */
    h->next[h->next_count++] = middle;
    const uint32_t sizes[2] = {middle - range->begin, range->end - middle};
    const struct remap_split split = {
        h->graph, h->processes + range->begin, count, sizes, 2, false, false, h->seed};
    const int rc = remap_split(&split, h->part, h->index);
    if (rc != 0)
        return rc;
    *work += remap_split_work(&split);
    const struct range first = {range->begin, middle}, second = {middle, range->end};
    const uint32_t one = h->places->spot[h->slots[first.begin + sizes[0] / 2]];
    const uint32_t other = h->places->spot[h->slots[second.begin + sizes[1] / 2]];
    remap_halves_order_processes(h, range, middle,
                                 sizes[0] == sizes[1] &&
                                     remap_halves_outside_cost(h, range, one, other) > 0);
    remap_halves_place_range(h, &first);
    remap_halves_place_range(h, &second);
    return 0;
}

/* @return is there another level? */
static bool remap_halves_next_level(struct remap_halves *h)
{
    const bool more = h->next_count > h->count;
    uint32_t *begin = h->begin;
    h->begin = h->next;
    h->next = begin;
    h->count = h->next_count;
    h->begin[h->count] = h->graph->processes;
    h->next_count = h->done = 0;
    return more;
}

int remap_halves_step(struct remap_halves *h, uint64_t limit, uint64_t *work)
{
    const uint64_t end = *work + limit;
    for (;;) {
        int rc = 0;
        while (h->done < h->count && rc == 0) {
            const struct range range = {h->begin[h->done], h->begin[h->done + 1]};
            if (*work >= end)
                return 0;
            if (range.end - range.begin < 2)
                h->next[h->next_count++] = range.begin;
            else
                rc = remap_halves_halve(h, &range, work);
            h->done++;
        }
        if (rc != 0)
            return rc;
        if (!remap_halves_next_level(h))
            break;
    }
    for (uint32_t i = 0; i < h->graph->processes; i++)
        h->result[h->processes[i]] = h->slots[i];
    return 1;
}

const uint32_t *remap_halves_slots(const struct remap_halves *h)
{
    return h->result;
}

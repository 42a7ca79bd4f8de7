/* Cuts of all bursts into phases, by gap or by count. */
#include "daemon/analysis/phases/burst_chunk.h"

#include "daemon/analysis/tables/heap.h"
#include "holter/bisect.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* An iteration over the items of a view. */
struct walk {
    const struct burst_items *items;
    const struct burst_view *view;
    size_t live; /* index of the next live height */
    uint32_t slot;
};

static uint64_t burst_cuts_position_of(uint32_t slot, uint32_t index)
{
    return (uint64_t)slot * BURST_CHUNK + index;
}

static struct walk walk_begin(const struct burst_items *items, const struct burst_view *view)
{
    struct walk walk = {.items = items, .view = view};
    walk.slot = burst_items_find(items, view->from_ns).slot;
    walk.live = BISECT(i, 0, view->live_count, view->live[i].time_ns < view->from_ns);
    return walk;
}

/* The next chunk with items of the view, or NULL. */
static const struct chunk *walk_chunk(struct walk *walk)
{
    if (walk->slot >= walk->items->count ||
        walk->items->slots[walk->slot].from_ns > walk->view->to_ns)
        return NULL;
    return walk->items->slots[walk->slot++].chunk;
}

static bool walk_has(const struct walk *walk, const struct chunk *c, uint32_t i)
{
    return c->time[i] >= walk->view->from_ns && c->time[i] <= walk->view->to_ns;
}

static bool walk_has_all(const struct walk *walk, const struct chunk *c)
{
    return walk_has(walk, c, 0) && walk_has(walk, c, c->count - 1);
}

/* Highest boundary of a chunk. */
static int64_t walk_highest(const struct walk *walk, const struct chunk *c)
{
    int64_t highest = c->highest, end = c->time[c->count - 1];
    for (size_t i = walk->live; i < walk->view->live_count; i++) {
        if (walk->view->live[i].time_ns > end)
            break;
        if (walk->view->live[i].height > highest)
            highest = walk->view->live[i].height;
    }
    return highest;
}

static void walk_pass(struct walk *walk, int64_t time_ns)
{
    while (walk->live < walk->view->live_count && walk->view->live[walk->live].time_ns <= time_ns)
        walk->live++;
}

static int64_t walk_height(struct walk *walk, const struct chunk *c, uint32_t i)
{
    const struct burst_view *view = walk->view;
    if (c->height[i] != BURST_LIVE)
        return c->height[i];
    while (walk->live < view->live_count && view->live[walk->live].time_ns < c->time[i])
        walk->live++;
    bool found = walk->live < view->live_count && view->live[walk->live].time_ns == c->time[i];
    return found ? view->live[walk->live].height : BURST_LIVE;
}

/* The highest boundaries so far, as a heap whose root is the lowest of them. */
struct highest {
    struct burst_cutoff *heap;
    size_t count, capacity;
};

static bool burst_cuts_is_lower(const struct burst_cutoff *a, const struct burst_cutoff *b)
{
    return a->height != b->height ? a->height < b->height : a->position < b->position;
}

HEAP(cutoff_heap, struct burst_cutoff, burst_cuts_is_lower)

static void burst_cuts_offer(struct highest *h, struct burst_cutoff one)
{
    if (h->count < h->capacity)
        cutoff_heap_rise(h->heap, h->count++, one);
    else if (burst_cuts_is_lower(&h->heap[0], &one))
        cutoff_heap_sink(h->heap, h->count, 0, one);
}

/* Offers the boundaries of a chunk at or above a floor. The first boundary of the view is skipped:
 * nothing of the view is before it. */
static void burst_cuts_offer_chunk(struct walk *walk, const struct chunk *c, int64_t floor,
                                   bool *first, struct highest *h)
{
    for (uint32_t i = 0; i < c->count; i++) {
        if ((!*first && c->height[i] < floor) || !walk_has(walk, c, i))
            continue;
        if (!*first)
            burst_cuts_offer(h, (struct burst_cutoff){walk_height(walk, c, i),
                                                      burst_cuts_position_of(walk->slot - 1, i)});
        *first = false;
    }
}

int burst_items_cutoff(const struct burst_items *items, const struct burst_view *view, size_t count,
                       struct burst_cutoff *out)
{
    struct highest h = {.capacity = count - 1 < items->kept ? count - 1 : (size_t)items->kept};
    const struct chunk *c;
    bool first = true;
    if (h.capacity == 0) {
        *out = (struct burst_cutoff){INT64_MAX, UINT64_MAX};
        return 0;
    }
    h.heap = malloc(h.capacity * sizeof(*h.heap));
    if (h.heap == NULL)
        return -ENOMEM;
    struct walk walk = walk_begin(items, view);
    while ((c = walk_chunk(&walk)) != NULL) {
        int64_t floor = h.count == h.capacity ? h.heap[0].height : -1;
        if (first || walk_highest(&walk, c) >= floor)
            burst_cuts_offer_chunk(&walk, c, floor, &first, &h);
        walk_pass(&walk, c->time[c->count - 1]);
    }
    *out = h.count == h.capacity ? h.heap[0] : (struct burst_cutoff){-1, 0};
    free(h.heap);
    return 0;
}

struct runs {
    struct phase *out;
    size_t capacity, count;
    struct phase last;
};

static void burst_cuts_end_run(struct runs *runs)
{
    if (runs->last.bursts == 0)
        return;
    if (runs->count < runs->capacity)
        runs->out[runs->count] = runs->last;
    runs->count++;
    runs->last.bursts = 0;
}

static void burst_cuts_cut_chunk(struct walk *walk, const struct chunk *c,
                                 const struct burst_cutoff *cutoff, struct runs *runs)
{
    for (uint32_t i = 0; i < c->count; i++) {
        if (!walk_has(walk, c, i))
            continue;
        struct phase one = burst_sum_of(c, i);
        one.height_ns = walk_height(walk, c, i);
        const struct burst_cutoff here = {one.height_ns, burst_cuts_position_of(walk->slot - 1, i)};
        if (!burst_cuts_is_lower(&here, cutoff))
            burst_cuts_end_run(runs);
        burst_sum_add(&runs->last, &one);
    }
}

size_t burst_items_cut(const struct burst_items *items, const struct burst_view *view,
                       const struct burst_cutoff *cutoff, struct phase *out, size_t capacity)
{
    struct walk walk = walk_begin(items, view);
    struct runs runs = {.out = out, .capacity = capacity};
    const struct chunk *c;
    while ((c = walk_chunk(&walk)) != NULL) {
        bool whole = runs.last.bursts > 0 && walk_has_all(&walk, c) &&
                     walk_highest(&walk, c) < cutoff->height;
        if (whole)
            burst_sum_add(&runs.last, &c->sum);
        else
            burst_cuts_cut_chunk(&walk, c, cutoff, &runs);
        walk_pass(&walk, c->time[c->count - 1]);
    }
    burst_cuts_end_run(&runs);
    return runs.count;
}

/* Cuts of all bursts into phases, by gap or by count. */
#include "daemon/analysis/phases/burst_array.h"

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
    size_t at;
};

static struct walk walk_begin(const struct burst_items *items, const struct burst_view *view)
{
    return (struct walk){
        .items = items,
        .view = view,
        .live = BISECT(i, 0, view->live_count, view->live[i].time_ns < view->from_ns),
        .at = burst_items_find(items, view->from_ns),
    };
}

static int64_t walk_height(struct walk *walk, const struct burst_item *item)
{
    const struct burst_view *view = walk->view;
    const int64_t time_ns = item->burst.time_ns;
    if (item->height != BURST_LIVE)
        return item->height;
    while (walk->live < view->live_count && view->live[walk->live].time_ns < time_ns)
        walk->live++;
    bool found = walk->live < view->live_count && view->live[walk->live].time_ns == time_ns;
    return found ? view->live[walk->live].height : BURST_LIVE;
}

/* @param boundary  set to the one before the item
 * @return the next item, or NULL */
static const struct burst_item *walk_next(struct walk *walk, struct burst_cutoff *boundary)
{
    if (walk->at >= walk->items->count)
        return NULL;
    const struct burst_item *item = &walk->items->item[walk->at];
    if (item->burst.time_ns > walk->view->to_ns)
        return NULL;
    *boundary = (struct burst_cutoff){walk_height(walk, item), walk->at++};
    return item;
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

int burst_items_cutoff(const struct burst_items *items, const struct burst_view *view, size_t count,
                       struct burst_cutoff *out)
{
    struct highest h = {.capacity = count - 1 < items->count ? count - 1 : items->count};
    struct burst_cutoff boundary;
    if (h.capacity == 0) {
        *out = (struct burst_cutoff){INT64_MAX, UINT64_MAX};
        return 0;
    }
    h.heap = malloc(h.capacity * sizeof(*h.heap));
    if (h.heap == NULL)
        return -ENOMEM;
    struct walk walk = walk_begin(items, view);
    walk_next(&walk, &boundary); /* nothing of the view is before the first item */
    while (walk_next(&walk, &boundary) != NULL)
        burst_cuts_offer(&h, boundary);
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

size_t burst_items_cut(const struct burst_items *items, const struct burst_view *view,
                       const struct burst_cutoff *cutoff, struct phase *out, size_t capacity)
{
    struct walk walk = walk_begin(items, view);
    struct runs runs = {.out = out, .capacity = capacity};
    const struct burst_item *item;
    struct burst_cutoff before;
    while ((item = walk_next(&walk, &before)) != NULL) {
        const struct phase one = {.begin_ns = item->burst.time_ns,
                                  .end_ns = item->burst.time_ns,
                                  .first_ns = item->burst.first_ns,
                                  .last_ns = item->burst.last_ns,
                                  .bursts = (uint64_t)item->folded + 1,
                                  .messages = item->burst.messages,
                                  .bytes = item->burst.bytes,
                                  .height_ns = before.height};
        if (!burst_cuts_is_lower(&before, cutoff))
            burst_cuts_end_run(&runs);
        burst_sum_add(&runs.last, &one);
    }
    burst_cuts_end_run(&runs);
    return runs.count;
}

#include "viewer/model/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void history_init(struct history *h, unsigned columns, uint32_t max_columns, size_t budget)
{
    *h = (struct history){.budget = budget, .columns = columns, .max_columns = max_columns};
}

static size_t slot_bytes(const struct history *h, uint32_t count)
{
    return count * (sizeof(uint32_t) + h->columns * sizeof(uint64_t));
}

static void slot_finish(struct history_slot *slot)
{
    free(slot->items);
    free(slot->values);
    *slot = (struct history_slot){0};
}

void history_clear(struct history *h)
{
    for (size_t i = 0; i < h->count; i++)
        slot_finish(&h->slots[i]);
    free(h->slots);
    history_init(h, h->columns, h->max_columns, h->budget);
}

static int slot_alloc(const struct history *h, struct history_slot *slot, uint32_t count)
{
    size_t room = count ? count : 1;
    slot->items = malloc(room * sizeof *slot->items);
    slot->values = malloc(room * h->columns * sizeof *slot->values);
    slot->count = count;
    if (slot->items && slot->values)
        return 0;
    slot_finish(slot);
    return -ENOMEM;
}

/* Give back what a slot does not use; failing to is harmless. */
static void slot_shrink(const struct history *h, struct history_slot *slot, uint32_t count)
{
    size_t room = count ? count : 1;
    uint32_t *items = realloc(slot->items, room * sizeof *items);
    slot->items = items ? items : slot->items;
    uint64_t *values = realloc(slot->values, room * h->columns * sizeof *values);
    slot->values = values ? values : slot->values;
    slot->count = count;
}

static void add_row(const struct history *h, uint64_t *to, const uint64_t *from)
{
    for (unsigned c = 0; c < h->columns; c++) {
        if (h->max_columns >> c & 1)
            to[c] = to[c] > from[c] ? to[c] : from[c];
        else
            to[c] += from[c];
    }
}

/* Add b to a where both have the same items, as they do while the pattern stays. @return 1 when
 * done */
static int add_alike(const struct history *h, struct history_slot *a, const struct history_slot *b)
{
    if (a->count != b->count || memcmp(a->items, b->items, a->count * sizeof *a->items) != 0)
        return 0;
    for (uint32_t i = 0; i < a->count; i++)
        add_row(h, a->values + (size_t)i * h->columns, b->values + (size_t)i * h->columns);
    a->first = a->first < b->first ? a->first : b->first;
    a->last = a->last > b->last ? a->last : b->last;
    return 1;
}

/* out = a and b together. */
static int unite(const struct history *h, struct history_slot *out, const struct history_slot *a,
                 const struct history_slot *b)
{
    struct history_slot r = {0};
    if (slot_alloc(h, &r, a->count + b->count) < 0)
        return -ENOMEM;
    uint32_t i = 0, j = 0, n = 0;
    size_t row = h->columns * sizeof(uint64_t);
    while (i < a->count || j < b->count) {
        int from_a = j == b->count || (i < a->count && a->items[i] <= b->items[j]);
        int both = i < a->count && j < b->count && a->items[i] == b->items[j];
        uint64_t *to = r.values + (size_t)n * h->columns;
        r.items[n++] = from_a ? a->items[i] : b->items[j];
        memcpy(to, from_a ? a->values + (size_t)i * h->columns : b->values + (size_t)j * h->columns,
               row);
        if (both)
            add_row(h, to, b->values + (size_t)j * h->columns);
        i += (uint32_t)(from_a || both);
        j += (uint32_t)(!from_a || both);
    }
    slot_shrink(h, &r, n);
    r.first = a->first < b->first ? a->first : b->first;
    r.last = a->last > b->last ? a->last : b->last;
    *out = r;
    return 0;
}

/* Two neighbours whose common span is smallest against their age: the loss of resolution that hurts
 * least. */
static size_t cheapest_pair(const struct history *h)
{
    uint64_t newest = h->slots[h->count - 1].last;
    size_t best = 0;
    double best_cost = -1;
    for (size_t i = 0; i + 1 < h->count; i++) {
        double span = (double)(h->slots[i + 1].last - h->slots[i].first + 1);
        double cost = span / (double)(newest - h->slots[i + 1].last + 1);
        if (best_cost < 0 || cost < best_cost) {
            best_cost = cost;
            best = i;
        }
    }
    return best;
}

/* Make slot i and the one behind it one. */
static int merge_pair(struct history *h, size_t i)
{
    struct history_slot *a = &h->slots[i], *b = &h->slots[i + 1], merged;
    h->bytes -= slot_bytes(h, a->count) + slot_bytes(h, b->count);
    if (!add_alike(h, a, b)) {
        if (unite(h, &merged, a, b) < 0) {
            h->bytes += slot_bytes(h, a->count) + slot_bytes(h, b->count);
            return -ENOMEM;
        }
        slot_finish(a);
        *a = merged;
    }
    slot_finish(b);
    h->bytes += slot_bytes(h, a->count);
    memmove(b, b + 1, (h->count - i - 2) * sizeof *b);
    h->count--;
    return 0;
}

static void keep_budget(struct history *h)
{
    while (h->bytes > h->budget && h->count > 1)
        if (merge_pair(h, cheapest_pair(h)) < 0)
            return;
}

/* Position of the first slot that ends at or after a window. */
static size_t position(const struct history *h, uint64_t window)
{
    size_t low = 0, high = h->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (h->slots[middle].last < window)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int insert(struct history *h, size_t at, const struct history_slot *fresh)
{
    if (h->count == h->room) {
        size_t room = h->room ? h->room * 2 : 64;
        struct history_slot *slots = realloc(h->slots, room * sizeof *slots);
        if (!slots)
            return -ENOMEM;
        h->slots = slots;
        h->room = room;
    }
    struct history_slot copy = {0};
    if (slot_alloc(h, &copy, fresh->count) < 0)
        return -ENOMEM;
    memcpy(copy.items, fresh->items, fresh->count * sizeof *fresh->items);
    memcpy(copy.values, fresh->values, fresh->count * h->columns * sizeof *fresh->values);
    copy.first = fresh->first;
    copy.last = fresh->last;
    memmove(&h->slots[at + 1], &h->slots[at], (h->count - at) * sizeof *h->slots);
    h->slots[at] = copy;
    h->count++;
    h->bytes += slot_bytes(h, copy.count);
    return 0;
}

int history_put(struct history *h, uint64_t window, const uint32_t *items, const uint64_t *values,
                uint32_t count)
{
    struct history_slot fresh = {.first = window,
                                 .last = window,
                                 .items = (uint32_t *)(uintptr_t)items,
                                 .values = (uint64_t *)(uintptr_t)values,
                                 .count = count};
    size_t at = position(h, window);
    int error;
    if (at < h->count && h->slots[at].first <= window) {
        struct history_slot *old = &h->slots[at], merged;
        error = unite(h, &merged, old, &fresh);
        if (!error) {
            h->bytes += slot_bytes(h, merged.count) - slot_bytes(h, old->count);
            slot_finish(old);
            *old = merged;
        }
    } else {
        error = insert(h, at, &fresh);
    }
    if (!error)
        keep_budget(h);
    return error;
}

struct history_span history_sum(const struct history *h, uint64_t first, uint64_t last,
                                uint64_t *sums, uint32_t items)
{
    struct history_span span = {0};
    for (size_t s = position(h, first); s < h->count && h->slots[s].first <= last; s++) {
        const struct history_slot *slot = &h->slots[s];
        for (uint32_t i = 0; i < slot->count && slot->items[i] < items; i++)
            add_row(h, sums + (size_t)slot->items[i] * h->columns,
                    slot->values + (size_t)i * h->columns);
        uint64_t length = slot->last - slot->first + 1;
        span.first = span.found ? span.first : slot->first;
        span.last = slot->last;
        span.coarsest = length > span.coarsest ? length : span.coarsest;
        span.found = 1;
    }
    return span;
}

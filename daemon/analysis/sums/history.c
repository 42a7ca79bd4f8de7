/* A history of sums: slots from old to new, merged by age where memory is short. */
#include "daemon/analysis/sums/history.h"

#include "daemon/analysis/tables/array.h"
#include "holter/bisect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void history_init(struct history *h, unsigned columns, uint32_t max_columns, size_t budget)
{
    *h = (struct history){.budget = budget, .columns = columns, .max_columns = max_columns};
}

static size_t history_slot_bytes(const struct history *h, uint32_t count)
{
    return count * (sizeof(uint32_t) + h->columns * sizeof(uint64_t));
}

static void history_slot_finish(struct history_slot *slot)
{
    free(slot->items);
    free(slot->values);
    *slot = (struct history_slot){0};
}

void history_clear(struct history *h)
{
    for (size_t i = 0; i < h->count; i++)
        history_slot_finish(&h->slots[i]);
    free(h->slots);
    uint64_t changes = h->changes + 1;
    history_init(h, h->columns, h->max_columns, h->budget);
    h->changes = changes;
}

static int history_slot_alloc(const struct history *h, struct history_slot *slot, uint32_t count)
{
    size_t capacity = count ? count : 1;
    slot->items = malloc(capacity * sizeof *slot->items);
    slot->values = malloc(capacity * h->columns * sizeof *slot->values);
    slot->count = count;
    if (slot->items && slot->values)
        return 0;
    history_slot_finish(slot);
    return -ENOMEM;
}

/* Give back what a slot does not use; failing to is harmless. */
static void history_slot_shrink(const struct history *h, struct history_slot *slot, uint32_t count)
{
    size_t capacity = count ? count : 1;
    (void)ARRAY_RESIZE(slot->items, capacity);
    (void)ARRAY_RESIZE(slot->values, capacity * h->columns);
    slot->count = count;
}

static void history_add_run(uint64_t *to, const uint64_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] += from[i];
}

static void history_subtract_run(uint64_t *from, const uint64_t *what, size_t count)
{
    for (size_t i = 0; i < count; i++)
        from[i] -= what[i];
}

static void history_add_row(const struct history *h, uint64_t *to, const uint64_t *from)
{
    for (unsigned c = 0; c < h->columns; c++) {
        if (h->max_columns >> c & 1)
            to[c] = to[c] > from[c] ? to[c] : from[c];
        else
            to[c] += from[c];
    }
}

static void history_span_of_both(struct history_slot *out, const struct history_slot *a,
                                 const struct history_slot *b)
{
    out->first = a->first < b->first ? a->first : b->first;
    out->last = a->last > b->last ? a->last : b->last;
    out->whole = a->whole || b->whole;
}

/* out = a and b together. */
static int history_unite(const struct history *h, struct history_slot *out,
                         const struct history_slot *a, const struct history_slot *b)
{
    struct history_slot r = {0};
    if (history_slot_alloc(h, &r, a->count + b->count) < 0)
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
            history_add_row(h, to, b->values + (size_t)j * h->columns);
        i += (uint32_t)(from_a || both);
        j += (uint32_t)(!from_a || both);
    }
    history_slot_shrink(h, &r, n);
    history_span_of_both(&r, a, b);
    *out = r;
    return 0;
}

/* What resolution is lost when two neighbours become one: their common span by its age.
 *  @param first, last  window at its ends @param newest  the newest of all */
static double history_merge_cost(uint64_t first, uint64_t last, uint64_t newest)
{
    return (double)(last - first + 1) / (double)(newest - last + 1);
}

/* Two neighbours whose common span is smallest against their age: the loss of resolution that hurts
 * least. */
static size_t history_cheapest_pair(const struct history *h)
{
    uint64_t newest = h->slots[h->count - 1].last;
    size_t best = 0;
    double best_cost = -1;
    for (size_t i = 0; i + 1 < h->count; i++) {
        double cost = history_merge_cost(h->slots[i].first, h->slots[i + 1].last, newest);
        if (best_cost < 0 || cost < best_cost) {
            best_cost = cost;
            best = i;
        }
    }
    return best;
}

/* Merge slot i with the next one. */
static int history_merge_pair(struct history *h, size_t i)
{
    struct history_slot *a = &h->slots[i], *b = &h->slots[i + 1], merged;
    if (history_unite(h, &merged, a, b) < 0)
        return -ENOMEM;
    h->bytes -= history_slot_bytes(h, a->count) + history_slot_bytes(h, b->count);
    h->bytes += history_slot_bytes(h, merged.count);
    history_slot_finish(a);
    history_slot_finish(b);
    *a = merged;
    memmove(b, b + 1, (h->count - i - 2) * sizeof *b);
    h->count--;
    return 0;
}

static void history_keep_budget(struct history *h)
{
    while (h->bytes > h->budget && h->count > 1)
        if (history_merge_pair(h, history_cheapest_pair(h)) < 0)
            return;
}

/* Position of the first slot that ends at or after a window. */
static size_t history_position(const struct history *h, uint64_t window)
{
    return BISECT(i, 0, h->count, h->slots[i].last < window);
}

static int history_insert(struct history *h, size_t at, const struct history_slot *fresh)
{
    struct history_slot copy = *fresh;
    if (ARRAY_FIT(h->slots, h->capacity, h->count + 1) != 0 ||
        history_slot_alloc(h, &copy, fresh->count) < 0)
        return -ENOMEM;
    memcpy(copy.items, fresh->items, fresh->count * sizeof *fresh->items);
    memcpy(copy.values, fresh->values, fresh->count * h->columns * sizeof *fresh->values);
    memmove(&h->slots[at + 1], &h->slots[at], (h->count - at) * sizeof *h->slots);
    h->slots[at] = copy;
    h->count++;
    h->bytes += history_slot_bytes(h, copy.count);
    return 0;
}

/* Enter a slot, whose arrays are the caller's. @return 0, -ENOMEM, or 1: it is whole, and something
 * is known of its windows */
static int history_enter(struct history *h, const struct history_slot *fresh)
{
    size_t at = history_position(h, fresh->first);
    int known = at < h->count && h->slots[at].first <= fresh->last;
    struct history_slot *old = known ? &h->slots[at] : NULL, merged;
    if (known && fresh->whole)
        return 1;
    int error = known ? history_unite(h, &merged, old, fresh) : history_insert(h, at, fresh);
    if (error)
        return error;
    h->changes += (uint64_t)(known || at + 1 < h->count);
    if (known) {
        h->bytes += history_slot_bytes(h, merged.count) - history_slot_bytes(h, old->count);
        history_slot_finish(old);
        *old = merged;
    }
    history_keep_budget(h);
    return 0;
}

int history_put(struct history *h, uint64_t window, const uint32_t *items, const uint64_t *values,
                uint32_t count)
{
    const struct history_slot fresh = {.first = window,
                                       .last = window,
                                       .items = (uint32_t *)(uintptr_t)items,
                                       .values = (uint64_t *)(uintptr_t)values,
                                       .count = count};
    return history_enter(h, &fresh);
}

int history_put_span(struct history *h, uint64_t first, uint64_t last, const uint32_t *items,
                     const uint64_t *values, uint32_t count)
{
    const struct history_slot fresh = {.first = first,
                                       .last = last,
                                       .items = (uint32_t *)(uintptr_t)items,
                                       .values = (uint64_t *)(uintptr_t)values,
                                       .count = count,
                                       .whole = 1};
    return first > last ? 1 : history_enter(h, &fresh);
}

int history_whole(const struct history *h, uint64_t window)
{
    size_t at = history_position(h, window);
    return at < h->count && h->slots[at].first <= window && h->slots[at].whole;
}

int history_drop(struct history *h, uint64_t window)
{
    size_t at = history_position(h, window);
    if (at == h->count || h->slots[at].first > window)
        return 0;
    struct history_slot *slot = &h->slots[at];
    if (slot->first != slot->last)
        return 1;
    h->bytes -= history_slot_bytes(h, slot->count);
    history_slot_finish(slot);
    memmove(slot, slot + 1, (h->count - at - 1) * sizeof *slot);
    h->count--;
    h->changes++;
    return 0;
}

/* ---- sums ---------------------------------------------------------------- */

/* Add a slot, or subtract it. Items stand mostly in long runs, which are added as one. */
static void history_sum_slot(const struct history *h, const struct history_slot *slot,
                             uint64_t *sums, uint32_t items, int leaves)
{
    for (uint32_t i = 0, end; i < slot->count && slot->items[i] < items; i = end) {
        for (end = i + 1; end < slot->count && slot->items[end] == slot->items[end - 1] + 1 &&
                          slot->items[end] < items;)
            end++;
        uint64_t *to = sums + (size_t)slot->items[i] * h->columns;
        const uint64_t *from = slot->values + (size_t)i * h->columns;
        if (leaves) {
            history_subtract_run(to, from, (size_t)(end - i) * h->columns);
        } else if (h->max_columns) {
            for (uint32_t k = 0; k < end - i; k++)
                history_add_row(h, to + (size_t)k * h->columns, from + (size_t)k * h->columns);
        } else {
            history_add_run(to, from, (size_t)(end - i) * h->columns);
        }
    }
}

static struct history_span history_span_of(const struct history *h, size_t from, size_t to)
{
    struct history_span span = {0};
    for (size_t s = from; s < to; s++) {
        uint64_t length = h->slots[s].last - h->slots[s].first + 1;
        span.coarsest = length > span.coarsest ? length : span.coarsest;
        span.windows += length;
    }
    if (from < to) {
        span.first = h->slots[from].first;
        span.last = h->slots[to - 1].last;
        span.found = 1;
    }
    return span;
}

/* Position after the last slot that begins at or before a window. */
static size_t history_position_after(const struct history *h, uint64_t window)
{
    size_t at = history_position(h, window);
    return at < h->count && h->slots[at].first <= window ? at + 1 : at;
}

struct history_span history_sum(const struct history *h, uint64_t first, uint64_t last,
                                uint64_t *sums, uint32_t items)
{
    size_t from = history_position(h, first), to = history_position_after(h, last);
    if (items > 0)
        memset(sums, 0, (size_t)items * h->columns * sizeof *sums);
    for (size_t s = from; s < to; s++)
        history_sum_slot(h, &h->slots[s], sums, items, 0);
    return history_span_of(h, from, to);
}

/* Whether slots hold no item that is above those of a total. */
static int history_holds_all(const struct history *h, size_t from, size_t to, uint32_t items)
{
    for (size_t s = from; s < to; s++)
        if (h->slots[s].count > 0 && h->slots[s].items[h->slots[s].count - 1] >= items)
            return 0;
    return 1;
}

/* The slots that a total holds, if they are still there, or merged among each other.
 * @param items     of which sums are asked for
 * @param from, to  receive the positions of the first and after the last @return 1: they are */
static int history_find_total(const struct history *h, const struct history_total *total,
                              uint32_t items, size_t *from, size_t *to)
{
    if (total->of != h || total->changes != h->changes || h->max_columns || items < total->items)
        return 0;
    *from = history_position(h, total->first);
    *to = history_position_after(h, total->last);
    return *from < *to && h->slots[*from].first == total->first &&
           h->slots[*to - 1].last == total->last &&
           (items == total->items || history_holds_all(h, *from, *to, total->items));
}

struct history_span history_sum_on(const struct history *h, uint64_t first, uint64_t last,
                                   uint64_t *sums, uint32_t items, struct history_total *total)
{
    size_t from = history_position(h, first), to = history_position_after(h, last), left, right;
    struct history_span span = history_span_of(h, from, to);
    const int goes_on = history_find_total(h, total, items, &left, &right) && left <= from &&
                        from < right && right <= to && from - left + to - right < to - from;
    if (goes_on) {
        memset(sums + (size_t)total->items * h->columns, 0,
               (size_t)(items - total->items) * h->columns * sizeof *sums);
        for (size_t s = left; s < from; s++)
            history_sum_slot(h, &h->slots[s], sums, items, 1);
        for (size_t s = right; s < to; s++)
            history_sum_slot(h, &h->slots[s], sums, items, 0);
    } else {
        history_sum(h, first, last, sums, items);
    }
    *total =
        (struct history_total){span.found ? h : NULL, h->changes, span.first, span.last, items};
    return span;
}

void history_copy_state(struct state_bytes *b, struct history *h)
{
    STATE_VALUE(b, *h);
    STATE_ARRAY(b, h->slots, h->count, h->capacity);
    for (size_t i = 0; h->slots != NULL && i < h->count; i++) {
        struct history_slot *slot = &h->slots[i];
        STATE_ARRAY(b, slot->items, slot->count, slot->count);
        STATE_ARRAY(b, slot->values, (size_t)slot->count * h->columns, 0);
    }
    if (h->slots == NULL)
        h->count = h->capacity = 0;
}

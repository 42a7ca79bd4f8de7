/* Bursts by time, with the heights at which neighbours merged. */
#include "daemon/analysis/phases/burst_array.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/saturate.h"
#include "holter/bisect.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MINIMUM_CAPACITY 512u
#define BINS 512u /* of the histogram of heights, eight an octave */

int burst_items_create(struct burst_items **out, uint32_t maximum)
{
    struct burst_items *items = calloc(1, sizeof(*items));
    if (items == NULL)
        return -ENOMEM;
    items->maximum = maximum;
    *out = items;
    return 0;
}

void burst_items_destroy(struct burst_items *items)
{
    if (items == NULL)
        return;
    free(items->item);
    free(items);
}

static int64_t burst_items_minimum(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- sums ----------------------------------------------------------------------- */

void burst_sum_add(struct phase *sum, const struct phase *more)
{
    if (sum->bursts == 0) {
        *sum = *more;
        return;
    }
    sum->begin_ns = burst_items_minimum(sum->begin_ns, more->begin_ns);
    sum->end_ns = sum->end_ns > more->end_ns ? sum->end_ns : more->end_ns;
    sum->first_ns = burst_items_minimum(sum->first_ns, more->first_ns);
    sum->last_ns = sum->last_ns > more->last_ns ? sum->last_ns : more->last_ns;
    sum->bursts = saturated_sum(sum->bursts, more->bursts);
    sum->messages = saturated_sum(sum->messages, more->messages);
    sum->bytes = saturated_sum(sum->bytes, more->bytes);
}

/* Folds a burst into the one before it. */
static void burst_items_add_extent(struct burst *burst, const struct burst *more)
{
    burst->first_ns = burst_items_minimum(burst->first_ns, more->first_ns);
    burst->last_ns = burst->last_ns > more->last_ns ? burst->last_ns : more->last_ns;
    burst->messages = saturated_sum(burst->messages, more->messages);
    burst->bytes = saturated_sum(burst->bytes, more->bytes);
}

/* ---- places --------------------------------------------------------------------- */

/* Items of equal time are ordered by the rest of their fields, so that the order of arrival does
 * not affect the result. */
static bool is_after(const struct burst *a, const struct burst *b)
{
    if (a->time_ns != b->time_ns)
        return a->time_ns > b->time_ns;
    if (a->first_ns != b->first_ns)
        return a->first_ns > b->first_ns;
    if (a->last_ns != b->last_ns)
        return a->last_ns > b->last_ns;
    return a->messages != b->messages ? a->messages > b->messages : a->bytes > b->bytes;
}

/* First item of this time or later. */
size_t burst_items_find(const struct burst_items *items, int64_t time_ns)
{
    return BISECT(i, 0, items->count, items->item[i].burst.time_ns < time_ns);
}

/* ---- folding -------------------------------------------------------------------- */

static uint32_t bin_of(int64_t height)
{
    uint64_t h = (uint64_t)height;
    if (h < 8)
        return (uint32_t)h;
    uint32_t octave = 60u - (uint32_t)__builtin_clzll(h);
    return 8 * (octave + 1) + (uint32_t)((h >> octave) - 8);
}

/* Which boundaries are folded: all below a bin, and a number of those in it. */
struct fold {
    uint32_t bin;
    uint64_t in_bin;
};

/* Plans to free a quarter of the capacity. */
static struct fold plan_fold(const struct burst_items *items)
{
    uint64_t count[BINS] = {0}, want = items->maximum / 4, sum = 0;
    struct fold fold = {0, 0};
    for (size_t i = 0; i < items->count; i++)
        if (items->item[i].height != BURST_LIVE)
            count[bin_of(items->item[i].height)]++;
    for (; fold.bin + 1 < BINS && sum + count[fold.bin] < want; fold.bin++)
        sum += count[fold.bin];
    fold.in_bin = want - sum;
    return fold;
}

static bool burst_items_is_folded(struct fold *fold, int64_t height)
{
    if (height == BURST_LIVE || bin_of(height) > fold->bin)
        return false;
    if (bin_of(height) < fold->bin)
        return true;
    return fold->in_bin > 0 && fold->in_bin-- > 0;
}

static void fold_item(struct burst_items *items, struct burst_item *to,
                      const struct burst_item *from)
{
    uint32_t more = from->folded == UINT32_MAX ? UINT32_MAX : from->folded + 1;
    burst_items_add_extent(&to->burst, &from->burst);
    to->folded = more > UINT32_MAX - to->folded ? UINT32_MAX : to->folded + more;
    items->folded++;
}

/* Folds, and moves all items together. */
static void burst_items_reserve(struct burst_items *items)
{
    struct fold fold = plan_fold(items);
    size_t to = 0;
    for (size_t i = 0; i < items->count; i++)
        if (to > 0 && burst_items_is_folded(&fold, items->item[i].height))
            fold_item(items, &items->item[to - 1], &items->item[i]);
        else
            items->item[to++] = items->item[i];
    items->count = to;
}

/* ---- adding --------------------------------------------------------------------- */

/* Gives the array space for one more item, but for no more than the maximum. */
static int burst_items_fit(struct burst_items *items)
{
    size_t capacity = items->count < MINIMUM_CAPACITY / 2 ? MINIMUM_CAPACITY : items->count * 2;
    if (items->count < items->capacity)
        return 0;
    if (capacity > items->maximum && items->count < items->maximum)
        capacity = items->maximum;
    if (ARRAY_RESIZE(items->item, capacity) != 0)
        return -ENOMEM;
    items->capacity = capacity;
    return 0;
}

/* Inserts an item after all that are not after it: late ones are near the end, and move few.
 * @return 0 or -ENOMEM */
static int burst_items_insert(struct burst_items *items, const struct burst *burst,
                              struct burst_item **out)
{
    if (items->count >= items->maximum)
        burst_items_reserve(items);
    if (burst_items_fit(items) != 0)
        return -ENOMEM;
    size_t place = BISECT(i, 0, items->count, !is_after(&items->item[i].burst, burst));
    struct burst_item *at = &items->item[place];
    memmove(at + 1, at, (items->count++ - place) * sizeof(*at));
    *at = (struct burst_item){.burst = *burst, .height = BURST_LIVE};
    *out = at;
    return 0;
}

int burst_items_add(struct burst_items *items, const struct burst *burst)
{
    struct burst_item *at;
    return burst_items_insert(items, burst, &at);
}

/* Sets the heights on both sides of a new item with these distances from its neighbours. */
static void share_height(int64_t *own, int64_t *next, int64_t before, int64_t after,
                         enum burst_side side)
{
    if (side == BURST_FIRST) {
        *next = after;
    } else if (after == 0 || after < before) {
        *own = *next;
        *next = burst_items_minimum(*next, after);
    } else {
        *own = burst_items_minimum(*next, before);
    }
}

int burst_items_join(struct burst_items *items, const struct burst *burst, enum burst_side side)
{
    struct burst_item *at;
    int rc = burst_items_insert(items, burst, &at);
    if (rc != 0)
        return rc;
    int64_t before = INT64_MAX, after = INT64_MAX;
    struct burst_item *next = at + 1 < items->item + items->count ? at + 1 : NULL;
    if (at > items->item)
        before = burst->time_ns - at[-1].burst.time_ns;
    if (next != NULL)
        after = next->burst.time_ns - burst->time_ns;
    /* The next item's height shows whether that item is of this cluster; if not, it has an equal
     * time. */
    if (next != NULL && (side == BURST_FIRST || after == 0 || next->height != BURST_LIVE))
        share_height(&at->height, &next->height, before, after, side);
    else
        at->height = before;
    return 0;
}

void burst_items_merge(struct burst_items *items, int64_t time_ns, int64_t height)
{
    size_t at = burst_items_find(items, time_ns);
    if (at < items->count)
        items->item[at].height = height;
}

uint64_t burst_items_count(const struct burst_items *items)
{
    return items->count;
}

uint64_t burst_items_folded(const struct burst_items *items)
{
    return items->folded;
}

int64_t burst_items_recent(const struct burst_items *items, size_t count)
{
    if (items->count == 0)
        return INT64_MIN;
    return items->item[items->count > count ? items->count - count : 0].burst.time_ns;
}

void burst_items_copy_state(struct state_bytes *b, struct burst_items **out)
{
    if (!STATE_OBJECT(b, *out))
        return;
    struct burst_items *items = *out;
    STATE_ARRAY(b, items->item, items->count, items->capacity);
    if (items->item == NULL)
        items->count = items->capacity = 0;
}

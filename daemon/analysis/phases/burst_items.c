/* Bursts in chunks by time, with the heights at which neighbours merged. */
#include "daemon/analysis/phases/burst_chunk.h"

#include "daemon/analysis/tables/saturate.h"
#include "holter/bisect.h"
#include "holter/error.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MINIMUM_CHUNKS 16u
/* Chunks keep free slots for late items, both when they fill and when items are redistributed. */
#define FILLED (BURST_CHUNK - BURST_CHUNK / 16)
#define PACKED (BURST_CHUNK - BURST_CHUNK / 8)
#define BINS 512u /* of the histogram of heights, eight an octave */

int burst_items_create(struct burst_items **out, uint32_t maximum)
{
    if (maximum < MINIMUM_CHUNKS * BURST_CHUNK)
        return -HOLTER_ERANGE;
    struct burst_items *items = calloc(1, sizeof(*items));
    if (items == NULL)
        return -ENOMEM;
    items->maximum = maximum / BURST_CHUNK;
    items->chunks = malloc((items->maximum + 1) * sizeof(struct chunk *));
    if (items->chunks == NULL) {
        free(items);
        return -ENOMEM;
    }
    *out = items;
    return 0;
}

void burst_items_destroy(struct burst_items *items)
{
    if (items == NULL)
        return;
    for (uint32_t i = 0; i < items->count; i++)
        free(items->chunks[i]);
    free(items->chunks);
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

/* Position of a new item: after all items that are not after it. Its chunk may be full. */
static struct place burst_items_find_place(const struct burst_items *items,
                                           const struct burst *burst)
{
    uint32_t slot =
        BISECT(i, 1, items->count, !is_after(&items->chunks[i]->item[0].burst, burst)) - 1;
    const struct chunk *c = items->chunks[slot];
    return (struct place){slot, BISECT(i, 0, c->count, !is_after(&c->item[i].burst, burst))};
}

/* First item of this time or later. */
struct place burst_items_find(const struct burst_items *items, int64_t time_ns)
{
    if (items->count == 0)
        return (struct place){0, 0};
    uint32_t slot =
        BISECT(i, 1, items->count, items->chunks[i]->item[0].burst.time_ns < time_ns) - 1;
    const struct chunk *c = items->chunks[slot];
    uint32_t at = BISECT(i, 0, c->count, c->item[i].burst.time_ns < time_ns);
    return at < c->count ? (struct place){slot, at} : (struct place){slot + 1, 0};
}

static struct chunk *new_chunk(struct burst_items *items, uint32_t at)
{
    struct chunk *c = malloc(sizeof(*c));
    if (c == NULL)
        return NULL;
    c->count = 0;
    memmove(&items->chunks[at + 1], &items->chunks[at],
            (items->count - at) * sizeof(struct chunk *));
    items->chunks[at] = c;
    items->count++;
    return c;
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
    uint64_t count[BINS] = {0}, capacity = (uint64_t)items->maximum * BURST_CHUNK, sum = 0;
    uint64_t want =
        items->kept > capacity - capacity / 4 ? items->kept - (capacity - capacity / 4) : 0;
    struct fold fold = {0, 0};
    for (uint32_t s = 0; s < items->count; s++) {
        const struct chunk *c = items->chunks[s];
        for (uint32_t i = 0; i < c->count; i++)
            if (c->item[i].height != BURST_LIVE)
                count[bin_of(c->item[i].height)]++;
    }
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
    items->kept--;
}

/* Leaves free slots in every chunk, so that late items do not split the chunks at once. Works from
 * the last item to the first: the write position is never before the read position. */
static void burst_items_spread(struct burst_items *items)
{
    uint32_t want = (uint32_t)((items->kept + PACKED - 1) / PACKED), had = items->count;
    while (items->count < want)
        if (new_chunk(items, items->count) == NULL)
            break;
    if (items->count < want) { /* without memory all chunks stay full */
        while (items->count > had)
            free(items->chunks[--items->count]);
        return;
    }
    for (uint32_t i = (uint32_t)items->kept;
         i-- > 0;) /* uint32_t: count never exceeds the maximum */
        items->chunks[i / PACKED]->item[i % PACKED] =
            items->chunks[i / BURST_CHUNK]->item[i % BURST_CHUNK];
    for (uint32_t s = 0; s < want; s++)
        items->chunks[s]->count =
            s + 1 < want ? PACKED : (uint32_t)(items->kept - (uint64_t)s * PACKED);
}

/* Folds, and moves all items together. The write position is never after the read position. */
static void burst_items_reserve(struct burst_items *items)
{
    struct fold fold = plan_fold(items);
    struct place to = {0, 0};
    for (uint32_t s = 0; s < items->count; s++) {
        const struct chunk *from = items->chunks[s];
        uint32_t count = from->count;
        for (uint32_t i = 0; i < count; i++) {
            bool first = to.slot == 0 && to.index == 0;
            if (!first && burst_items_is_folded(&fold, from->item[i].height)) {
                fold_item(items, &items->chunks[to.slot]->item[to.index - 1], &from->item[i]);
                continue;
            }
            if (to.index == BURST_CHUNK)
                to = (struct place){to.slot + 1, 0};
            items->chunks[to.slot]->item[to.index++] = from->item[i];
        }
    }
    for (uint32_t s = 0; s <= to.slot; s++)
        items->chunks[s]->count = s < to.slot ? BURST_CHUNK : to.index;
    while (items->count > to.slot + 1)
        free(items->chunks[--items->count]);
    burst_items_spread(items);
}

/* ---- adding --------------------------------------------------------------------- */

/* Makes a free slot at a place, in a new chunk if its own is full. @return 0 or -ENOMEM */
static int burst_items_split(struct burst_items *items, struct place *place)
{
    struct chunk *c = items->chunks[place->slot];
    bool at_end = place->slot + 1 == items->count && place->index == c->count;
    if (c->count < (at_end ? FILLED : BURST_CHUNK))
        return 0;
    struct chunk *more = new_chunk(items, place->slot + 1);
    if (more == NULL)
        return -ENOMEM;
    uint32_t keep = at_end ? c->count : BURST_CHUNK / 2;
    more->count = c->count - keep;
    memcpy(more->item, &c->item[keep], more->count * sizeof(c->item[0]));
    c->count = keep;
    if (at_end || place->index > keep)
        *place = (struct place){place->slot + 1, place->index - keep};
    return 0;
}

static int burst_items_insert(struct burst_items *items, const struct burst *burst,
                              struct place *place)
{
    if (items->count == 0 && new_chunk(items, 0) == NULL)
        return -ENOMEM;
    if (burst_items_split(items, place) != 0)
        return -ENOMEM;
    struct chunk *c = items->chunks[place->slot];
    struct burst_item *at = &c->item[place->index];
    memmove(at + 1, at, (c->count - place->index) * sizeof(*at));
    *at = (struct burst_item){.burst = *burst, .height = BURST_LIVE};
    c->count++;
    items->kept++;
    return 0;
}

/* All slots may be used up by chunks that are full at either end and half full between. */
static void burst_items_fold_to_budget(struct burst_items *items)
{
    if (items->count >= items->maximum)
        burst_items_reserve(items);
}

static struct place place_for(struct burst_items *items, const struct burst *burst)
{
    burst_items_fold_to_budget(items);
    return items->count == 0 ? (struct place){0, 0} : burst_items_find_place(items, burst);
}

int burst_items_add(struct burst_items *items, const struct burst *burst)
{
    struct place place = place_for(items, burst);
    return burst_items_insert(items, burst, &place);
}

static struct burst_item *item_at(struct burst_items *items, struct place place)
{
    return &items->chunks[place.slot]->item[place.index];
}

static struct place burst_items_normal(const struct burst_items *items, struct place place)
{
    if (place.slot < items->count && place.index == items->chunks[place.slot]->count)
        place = (struct place){place.slot + 1, 0};
    return place;
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
    struct place at = place_for(items, burst), right, left;
    int rc = burst_items_insert(items, burst, &at);
    if (rc != 0)
        return rc;
    int64_t before = INT64_MAX, after = INT64_MAX;
    left = at;
    if (left.index == 0 && left.slot > 0)
        left = (struct place){at.slot - 1, items->chunks[at.slot - 1]->count};
    if (left.index > 0)
        before = burst->time_ns - items->chunks[left.slot]->item[left.index - 1].burst.time_ns;
    right = burst_items_normal(items, (struct place){at.slot, at.index + 1});
    struct burst_item *next = right.slot < items->count ? item_at(items, right) : NULL;
    if (next != NULL)
        after = next->burst.time_ns - burst->time_ns;
    /* The next item's height shows whether that item is of this cluster; if not, it has an equal
     * time. */
    if (next != NULL && (side == BURST_FIRST || after == 0 || next->height != BURST_LIVE))
        share_height(&item_at(items, at)->height, &next->height, before, after, side);
    else
        item_at(items, at)->height = before;
    return 0;
}

void burst_items_merge(struct burst_items *items, int64_t time_ns, int64_t height)
{
    struct place place = burst_items_find(items, time_ns);
    if (place.slot < items->count)
        item_at(items, place)->height = height;
}

uint64_t burst_items_count(const struct burst_items *items)
{
    return items->kept;
}

uint64_t burst_items_folded(const struct burst_items *items)
{
    return items->folded;
}

int64_t burst_items_recent(const struct burst_items *items, size_t count)
{
    uint32_t slot = items->count;
    size_t sum = 0;
    while (slot > 0 && sum < count)
        sum += items->chunks[--slot]->count;
    return items->count == 0 ? INT64_MIN : items->chunks[slot]->item[0].burst.time_ns;
}

void burst_items_copy_state(struct state_bytes *b, struct burst_items **out)
{
    if (!STATE_OBJECT(b, *out))
        return;
    struct burst_items *items = *out;
    state_copy_array(b, &items->chunks, sizeof(struct chunk *), items->count,
                     (size_t)items->maximum + 1);
    if (items->chunks == NULL)
        items->count = 0;
    for (uint32_t i = 0; i < items->count; i++)
        (void)STATE_OBJECT(b, items->chunks[i]);
}

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
    items->slots = malloc((items->maximum + 1) * sizeof(*items->slots));
    if (items->slots == NULL) {
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
        free(items->slots[i].chunk);
    free(items->slots);
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

struct phase burst_sum_of(const struct chunk *c, uint32_t i)
{
    const struct extent *extent = &c->extent[i];
    return (struct phase){.begin_ns = c->time[i],
                          .end_ns = c->time[i],
                          .first_ns = extent->first_ns,
                          .last_ns = extent->last_ns,
                          .bursts = (uint64_t)c->folded[i] + 1,
                          .messages = extent->messages,
                          .bytes = extent->bytes,
                          .height_ns = c->height[i]};
}

/* Folds a burst into an item. */
static void extent_add(struct extent *extent, const struct extent *more)
{
    extent->first_ns = burst_items_minimum(extent->first_ns, more->first_ns);
    extent->last_ns = extent->last_ns > more->last_ns ? extent->last_ns : more->last_ns;
    extent->messages = saturated_sum(extent->messages, more->messages);
    extent->bytes = saturated_sum(extent->bytes, more->bytes);
}

static void note_height(struct chunk *c, int64_t height)
{
    if (height != BURST_LIVE && height > c->highest)
        c->highest = height;
}

static void burst_items_sum_up(struct slot *slot)
{
    struct chunk *c = slot->chunk;
    memset(&c->sum, 0, sizeof(c->sum));
    c->highest = -1;
    for (uint32_t i = 0; i < c->count; i++) {
        const struct phase one = burst_sum_of(c, i);
        burst_sum_add(&c->sum, &one);
        note_height(c, c->height[i]);
    }
    slot->from_ns = c->time[0];
}

/* ---- places --------------------------------------------------------------------- */

static int burst_items_compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Items of equal time are ordered by the rest of their fields, so that the order of arrival does
 * not affect the result. */
static bool is_after(const struct chunk *c, uint32_t i, const struct burst *burst)
{
    const struct extent *e = &c->extent[i];
    if (c->time[i] != burst->time_ns)
        return c->time[i] > burst->time_ns;
    if (e->first_ns != burst->first_ns)
        return e->first_ns > burst->first_ns;
    if (e->last_ns != burst->last_ns)
        return e->last_ns > burst->last_ns;
    int order = burst_items_compare(e->messages, burst->messages);
    return order != 0 ? order > 0 : e->bytes > burst->bytes;
}

/* Position of a new item: after all items that are not after it. Its chunk may be full. */
static struct place burst_items_find_place(const struct burst_items *items,
                                           const struct burst *burst)
{
    struct place place = {0, 0};
    uint32_t end = items->count;
    if (end > 0 && items->slots[end - 1].from_ns < burst->time_ns)
        place.slot = end - 1; /* the common case */
    while (place.slot + 1 < end) {
        uint32_t middle = place.slot + (end - place.slot) / 2;
        if (is_after(items->slots[middle].chunk, 0, burst))
            end = middle;
        else
            place.slot = middle;
    }
    const struct chunk *c = items->slots[place.slot].chunk;
    uint32_t first = is_after(c, c->count - 1, burst) ? 0 : c->count;
    place.index = BISECT(i, first, c->count, !is_after(c, i, burst));
    return place;
}

/* First item of this time or later. */
struct place burst_items_find(const struct burst_items *items, int64_t time_ns)
{
    uint32_t slot = 0, end = items->count;
    while (slot + 1 < end) {
        uint32_t middle = slot + (end - slot) / 2;
        if (items->slots[middle].from_ns >= time_ns)
            end = middle;
        else
            slot = middle;
    }
    if (items->count == 0)
        return (struct place){0, 0};
    const struct chunk *c = items->slots[slot].chunk;
    uint32_t at = BISECT(i, 0, c->count, c->time[i] < time_ns);
    return at < c->count ? (struct place){slot, at} : (struct place){slot + 1, 0};
}

static struct chunk *new_chunk(struct burst_items *items, uint32_t at)
{
    struct chunk *c = malloc(sizeof(*c));
    if (c == NULL)
        return NULL;
    memset(&c->sum, 0, sizeof(c->sum));
    c->count = 0;
    c->highest = -1;
    memmove(&items->slots[at + 1], &items->slots[at], (items->count - at) * sizeof(*items->slots));
    items->slots[at].chunk = c;
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
        const struct chunk *c = items->slots[s].chunk;
        for (uint32_t i = 0; i < c->count; i++)
            if (c->height[i] != BURST_LIVE)
                count[bin_of(c->height[i])]++;
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

static void fold_item(struct burst_items *items, struct chunk *to, uint32_t at,
                      const struct chunk *from, uint32_t i)
{
    uint32_t more = from->folded[i] == UINT32_MAX ? UINT32_MAX : from->folded[i] + 1;
    extent_add(&to->extent[at], &from->extent[i]);
    to->folded[at] = more > UINT32_MAX - to->folded[at] ? UINT32_MAX : to->folded[at] + more;
    items->folded++;
    items->kept--;
}

static void copy_item(struct chunk *to, uint32_t at, const struct chunk *from, uint32_t i)
{
    to->time[at] = from->time[i];
    to->height[at] = from->height[i];
    to->extent[at] = from->extent[i];
    to->folded[at] = from->folded[i];
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
            free(items->slots[--items->count].chunk);
        return;
    }
    for (uint32_t i = (uint32_t)items->kept;
         i-- > 0;) /* uint32_t: count never exceeds the maximum */
        copy_item(items->slots[i / PACKED].chunk, i % PACKED, items->slots[i / BURST_CHUNK].chunk,
                  i % BURST_CHUNK);
    for (uint32_t s = 0; s < want; s++)
        items->slots[s].chunk->count =
            s + 1 < want ? PACKED : (uint32_t)(items->kept - (uint64_t)s * PACKED);
}

/* Folds, and moves all items together. The write position is never after the read position. */
static void burst_items_reserve(struct burst_items *items)
{
    struct fold fold = plan_fold(items);
    struct place to = {0, 0};
    for (uint32_t s = 0; s < items->count; s++) {
        const struct chunk *from = items->slots[s].chunk;
        uint32_t count = from->count;
        for (uint32_t i = 0; i < count; i++) {
            bool first = to.slot == 0 && to.index == 0;
            if (!first && burst_items_is_folded(&fold, from->height[i])) {
                fold_item(items, items->slots[to.slot].chunk, to.index - 1, from, i);
                continue;
            }
            if (to.index == BURST_CHUNK)
                to = (struct place){to.slot + 1, 0};
            copy_item(items->slots[to.slot].chunk, to.index++, from, i);
        }
    }
    for (uint32_t s = 0; s <= to.slot; s++)
        items->slots[s].chunk->count = s < to.slot ? BURST_CHUNK : to.index;
    while (items->count > to.slot + 1)
        free(items->slots[--items->count].chunk);
    burst_items_spread(items);
    for (uint32_t s = 0; s < items->count; s++)
        burst_items_sum_up(&items->slots[s]);
}

/* ---- adding --------------------------------------------------------------------- */

/* Makes a free slot at a place, in a new chunk if its own is full. @return 0 or -ENOMEM */
static int burst_items_split(struct burst_items *items, struct place *place)
{
    struct chunk *c = items->slots[place->slot].chunk;
    bool at_end = place->slot + 1 == items->count && place->index == c->count;
    if (c->count < (at_end ? FILLED : BURST_CHUNK))
        return 0;
    struct chunk *more = new_chunk(items, place->slot + 1);
    if (more == NULL)
        return -ENOMEM;
    uint32_t keep = at_end ? c->count : BURST_CHUNK / 2;
    for (uint32_t i = keep; i < c->count; i++)
        copy_item(more, i - keep, c, i);
    more->count = c->count - keep;
    c->count = keep;
    if (!at_end) {
        burst_items_sum_up(&items->slots[place->slot]);
        burst_items_sum_up(&items->slots[place->slot + 1]);
    }
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
    struct slot *slot = &items->slots[place->slot];
    struct chunk *c = slot->chunk;
    uint32_t at = place->index, after = c->count - at;
    memmove(&c->time[at + 1], &c->time[at], after * sizeof(c->time[0]));
    memmove(&c->height[at + 1], &c->height[at], after * sizeof(c->height[0]));
    memmove(&c->extent[at + 1], &c->extent[at], after * sizeof(c->extent[0]));
    memmove(&c->folded[at + 1], &c->folded[at], after * sizeof(c->folded[0]));
    c->time[at] = burst->time_ns;
    c->height[at] = BURST_LIVE;
    c->extent[at] = (struct extent){burst->first_ns, burst->last_ns, burst->messages, burst->bytes};
    c->folded[at] = 0;
    c->count++;
    const struct phase one = burst_sum_of(c, at);
    burst_sum_add(&c->sum, &one);
    slot->from_ns = c->time[0];
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

static int64_t *height_at(struct burst_items *items, struct place place)
{
    return &items->slots[place.slot].chunk->height[place.index];
}

static struct place burst_items_normal(const struct burst_items *items, struct place place)
{
    if (place.slot < items->count && place.index == items->slots[place.slot].chunk->count)
        place = (struct place){place.slot + 1, 0};
    return place;
}

/* Sets the heights on both sides of a new item with these distances from its neighbours. */
static void share_height(struct burst_items *items, struct place at, struct place right,
                         int64_t before, int64_t after, enum burst_side side)
{
    int64_t *own = height_at(items, at), *next = height_at(items, right), height = *next;
    if (side == BURST_FIRST) {
        *next = after;
    } else if (after == 0 || after < before) {
        *own = height;
        *next = burst_items_minimum(height, after);
    } else {
        *own = burst_items_minimum(height, before);
    }
    note_height(items->slots[at.slot].chunk, *own);
    note_height(items->slots[right.slot].chunk, *next);
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
        left = (struct place){at.slot - 1, items->slots[at.slot - 1].chunk->count};
    if (left.index > 0)
        before = burst->time_ns - items->slots[left.slot].chunk->time[left.index - 1];
    right = burst_items_normal(items, (struct place){at.slot, at.index + 1});
    if (right.slot < items->count)
        after = items->slots[right.slot].chunk->time[right.index] - burst->time_ns;
    /* The next item's height shows whether that item is of this cluster; if not, it has an equal
     * time. */
    bool has_right = right.slot < items->count &&
                     (side == BURST_FIRST || after == 0 || *height_at(items, right) != BURST_LIVE);
    if (has_right) {
        share_height(items, at, right, before, after, side);
        return 0;
    }
    *height_at(items, at) = before;
    note_height(items->slots[at.slot].chunk, before);
    return 0;
}

void burst_items_merge(struct burst_items *items, int64_t time_ns, int64_t height)
{
    struct place place = burst_items_find(items, time_ns);
    if (place.slot >= items->count)
        return;
    *height_at(items, place) = height;
    note_height(items->slots[place.slot].chunk, height);
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
        sum += items->slots[--slot].chunk->count;
    return items->count == 0 ? INT64_MIN : items->slots[slot].from_ns;
}

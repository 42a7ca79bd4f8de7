#include "daemon/analysis/phases/phase_ranges.h"

#include <stdlib.h>
#include <string.h>

void phase_ranges_finish(struct phase_ranges *ranges)
{
    free(ranges->of);
    *ranges = (struct phase_ranges){0};
}

bool phase_ranges_append(struct phase_range *of, uint32_t *count, uint32_t first, uint32_t end)
{
    if (*count > 0 && first <= of[*count - 1].end) {
        struct phase_range *last = &of[*count - 1];
        last->end = end > last->end ? end : last->end;
        return true;
    }
    if (*count == PHASE_RANGES_MOST)
        return false;
    of[(*count)++] = (struct phase_range){first, end};
    return true;
}

void phase_ranges_set(struct phase_ranges *ranges, const struct phase_range *of, uint32_t count)
{
    struct phase_range *room = malloc((count > 0 ? count : 1) * sizeof(*room));
    if (room != NULL && count > 0)
        memcpy(room, of, count * sizeof(*room));
    free(ranges->of);
    *ranges = (struct phase_ranges){room, room == NULL ? 0 : count};
}

uint32_t phase_ranges_common(const struct phase_ranges *one, const struct phase_ranges *other)
{
    const struct phase_range *a = one->of, *b = other->of;
    const struct phase_range *a_end = a + one->count, *b_end = b + other->count;
    uint32_t common = 0;
    while (a < a_end && b < b_end) {
        uint32_t first = a->first > b->first ? a->first : b->first;
        uint32_t end = a->end < b->end ? a->end : b->end;
        common += first < end ? end - first : 0;
        bool ends = a->end <= b->end;
        a += ends;
        b += !ends;
    }
    return common;
}

/* @param of  room for PHASE_RANGES_MOST @return whether all have room there */
static bool phase_ranges_unite(const struct phase_ranges *one, const struct phase_ranges *other,
                               struct phase_range *of, uint32_t *count)
{
    bool fit = true;
    for (uint32_t i = 0, k = 0; fit && (i < one->count || k < other->count);) {
        bool left = k == other->count || (i < one->count && one->of[i].first <= other->of[k].first);
        const struct phase_range *next = left ? &one->of[i++] : &other->of[k++];
        fit = phase_ranges_append(of, count, next->first, next->end);
    }
    return fit;
}

void phase_ranges_join(struct phase_ranges *to, struct phase_ranges *from)
{
    struct phase_range of[PHASE_RANGES_MOST];
    uint32_t count = 0;
    if (phase_ranges_are_known(to) && phase_ranges_are_known(from) &&
        phase_ranges_unite(to, from, of, &count))
        phase_ranges_set(to, of, count);
    else
        phase_ranges_finish(to);
    phase_ranges_finish(from);
}

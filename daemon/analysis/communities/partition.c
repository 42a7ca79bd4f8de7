/* Partitions of ranks. */
#include "daemon/analysis/communities/partition.h"

#include "daemon/analysis/tables/array.h"
#include "holter/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ABSENT PARTITION_ABSENT

void partition_finish(struct partition *p)
{
    free(p->community);
    *p = (struct partition){0};
}

int partition_fit(struct partition *p, uint32_t ranks)
{
    if (ranks <= p->capacity)
        return 0;
    if (ARRAY_RESIZE(p->community, ranks) != 0)
        return -ENOMEM;
    p->capacity = ranks;
    return 0;
}

int partition_set(struct partition *p, struct key_table *numbers, const uint32_t *labels,
                  uint32_t ranks)
{
    if (ranks > PARTITION_MAXIMUM_RANKS)
        return -HOLTER_ELIMIT;
    if (partition_fit(p, ranks) != 0)
        return -ENOMEM;
    key_table_clear(numbers);
    p->ranks = p->present = 0;
    for (uint32_t r = 0; r < ranks; r++) {
        p->community[r] = ABSENT;
        if (labels[r] == ABSENT)
            continue;
        p->community[r] = key_table_add(numbers, (struct key){.hi = labels[r]});
        if (p->community[r] == KEY_NONE)
            return -ENOMEM;
        p->ranks = r + 1;
        p->present++;
    }
    p->communities = numbers->count;
    return 0;
}

void partition_copy(struct partition *to, const struct partition *from)
{
    to->ranks = from->ranks;
    to->present = from->present;
    to->communities = from->communities;
    if (from->ranks > 0)
        memcpy(to->community, from->community, from->ranks * sizeof(*to->community));
}

bool partition_equal(const struct partition *one, const struct partition *other)
{
    return one->ranks == other->ranks &&
           (one->ranks == 0 ||
            memcmp(one->community, other->community, one->ranks * sizeof(*one->community)) == 0);
}

void partition_members(const struct partition *p, uint32_t *order, uint32_t *begin)
{
    for (uint32_t c = 0; c <= p->communities; c++)
        begin[c] = 0;
    for (uint32_t r = 0; r < p->ranks; r++)
        if (p->community[r] != ABSENT)
            begin[p->community[r] + 1]++;
    for (uint32_t c = 0; c < p->communities; c++)
        begin[c + 1] += begin[c];
    for (uint32_t r = 0; r < p->ranks; r++)
        if (p->community[r] != ABSENT)
            order[begin[p->community[r]]++] = r;
    for (uint32_t c = p->communities; c > 0; c--) /* each begins where the one before now ends */
        begin[c] = begin[c - 1];
    begin[0] = 0;
}

void partition_copy_state(struct state_bytes *b, struct partition *p)
{
    STATE_ARRAY(b, p->community, p->ranks, p->capacity);
}

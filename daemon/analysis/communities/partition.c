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
    free(p->rank);
    memset(p, 0, sizeof(*p));
}

void partition_scratch_finish(struct partition_scratch *s)
{
    free(s->order);
    free(s->other);
    memset(s, 0, sizeof(*s));
}

int partition_fit(struct partition *p, uint32_t ranks)
{
    if (ranks <= p->capacity)
        return 0;
    if (ARRAY_RESIZE(p->rank, ranks) != 0)
        return -ENOMEM;
    p->capacity = ranks;
    return 0;
}

static int fit_scratch(struct partition_scratch *s, uint32_t ranks)
{
    if (ranks <= s->capacity)
        return 0;
    if (ARRAY_RESIZE(s->order, ranks) != 0 || ARRAY_RESIZE(s->other, ranks) != 0)
        return -ENOMEM;
    s->capacity = ranks;
    return 0;
}

/* Sort s->order by one byte of the labels; equal ones keep their order. */
static void sort_byte(struct partition_scratch *s, const uint32_t *labels, uint32_t count,
                      unsigned shift)
{
    uint32_t begin[256] = {0};
    for (uint32_t i = 0; i < count; i++)
        begin[labels[s->order[i]] >> shift & 255]++;
    for (uint32_t value = 0, sum = 0; value < 256; value++) {
        uint32_t of_value = begin[value];
        begin[value] = sum;
        sum += of_value;
    }
    for (uint32_t i = 0; i < count; i++)
        s->other[begin[labels[s->order[i]] >> shift & 255]++] = s->order[i];
    uint32_t *sorted = s->other;
    s->other = s->order;
    s->order = sorted;
}

/* Ranks that are present into s->order, by label and then by number. No hashing, which labels
 * chosen for it could make slow. @return how many */
static uint32_t sort_ranks(struct partition_scratch *s, const uint32_t *labels, uint32_t ranks)
{
    uint32_t count = 0, differ = 0;
    for (uint32_t r = 0; r < ranks; r++) {
        if (labels[r] == ABSENT)
            continue;
        s->order[count++] = r;
        differ |= labels[r] ^ labels[s->order[0]];
    }
    for (unsigned shift = 0; shift < 32; shift += 8)
        if ((differ >> shift & 255) != 0)
            sort_byte(s, labels, count, shift);
    return count;
}

/* Labels that are numbers already, by lowest rank, as communities have them when no rank is absent.
 * @return whether they are; else nothing is set */
static bool partition_number_from_labels(struct partition *p, const uint32_t *labels,
                                         uint32_t ranks)
{
    uint32_t communities = 0;
    for (uint32_t r = 0; r < ranks; r++) {
        if (labels[r] > communities || labels[r] == ABSENT)
            return false;
        communities += labels[r] == communities;
        p->rank[r].community = labels[r];
    }
    p->ranks = ranks;
    p->communities = communities;
    return true;
}

/* Every rank's community is first said by the lowest rank of it, then by its number. */
static void partition_number(struct partition *p, struct partition_scratch *s,
                             const uint32_t *labels, uint32_t ranks)
{
    uint32_t count = sort_ranks(s, labels, ranks);
    p->ranks = p->communities = 0;
    for (uint32_t r = 0; r < ranks; r++)
        p->rank[r].community = ABSENT;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t rank = s->order[i];
        bool is_first = i == 0 || labels[s->order[i - 1]] != labels[rank];
        p->rank[rank].community = is_first ? rank : p->rank[s->order[i - 1]].community;
        p->ranks = rank >= p->ranks ? rank + 1 : p->ranks;
    }
    for (uint32_t r = 0; r < p->ranks; r++) {
        if (p->rank[r].community == ABSENT)
            continue;
        p->rank[r].community =
            p->rank[r].community == r ? p->communities++ : p->rank[p->rank[r].community].community;
    }
}

/* All that are present alike. */
static void weigh_alike(struct partition *p)
{
    p->total = 0;
    for (uint32_t r = 0; r < p->ranks; r++) {
        p->rank[r].weight = p->rank[r].community != ABSENT;
        p->total += p->rank[r].weight;
    }
}

static void partition_weigh(struct partition *p, const uint64_t *weights)
{
    double sum = 0;
    uint32_t present = 0;
    for (uint32_t r = 0; r < p->ranks; r++) {
        if (p->rank[r].community == ABSENT)
            continue;
        present++;
        sum += (double)weights[r];
    }
    p->total = 0;
    for (uint32_t r = 0; r < p->ranks; r++) {
        p->rank[r].weight = PARTITION_WHOLE / present;
        if (sum > 0) /* the sum is at least each summand, so a share is at most 1 */
            p->rank[r].weight = (uint32_t)((double)weights[r] / sum * PARTITION_WHOLE);
        if (p->rank[r].community == ABSENT)
            p->rank[r].weight = 0;
        p->total += p->rank[r].weight;
    }
}

int partition_set(struct partition *p, struct partition_scratch *s, const uint32_t *labels,
                  const uint64_t *weights, uint32_t ranks)
{
    if (ranks > PARTITION_MAXIMUM_RANKS)
        return -HOLTER_ELIMIT;
    if (partition_fit(p, ranks) != 0 || fit_scratch(s, ranks) != 0)
        return -ENOMEM;
    if (!partition_number_from_labels(p, labels, ranks))
        partition_number(p, s, labels, ranks);
    if (weights == NULL)
        weigh_alike(p);
    else
        partition_weigh(p, weights);
    return 0;
}

void partition_copy(struct partition *to, const struct partition *from)
{
    to->ranks = from->ranks;
    to->communities = from->communities;
    to->total = from->total;
    if (from->ranks > 0)
        memcpy(to->rank, from->rank, from->ranks * sizeof(*to->rank));
}

bool partition_equal(const struct partition *one, const struct partition *other)
{
    if (one->ranks != other->ranks || one->communities != other->communities)
        return false;
    for (uint32_t r = 0; r < one->ranks; r++)
        if (one->rank[r].community != other->rank[r].community)
            return false;
    return true;
}

void partition_members(const struct partition *p, uint32_t *order, uint32_t *begin)
{
    for (uint32_t c = 0; c <= p->communities; c++)
        begin[c] = 0;
    for (uint32_t r = 0; r < p->ranks; r++)
        if (p->rank[r].community != ABSENT)
            begin[p->rank[r].community + 1]++;
    for (uint32_t c = 0; c < p->communities; c++)
        begin[c + 1] += begin[c];
    for (uint32_t r = 0; r < p->ranks; r++)
        if (p->rank[r].community != ABSENT)
            order[begin[p->rank[r].community]++] = r;
    for (uint32_t c = p->communities; c > 0; c--) /* each begins where the one before now ends */
        begin[c] = begin[c - 1];
    begin[0] = 0;
}

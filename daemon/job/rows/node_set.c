/* A set of the nodes of a job, one bit a node. */
#include "daemon/job/rows/node_set.h"

#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void node_set_finish(struct node_set *set)
{
    free(set->bits);
    *set = (struct node_set){0};
}

void node_set_clear(struct node_set *set)
{
    if (set->words > 0)
        memset(set->bits, 0, set->words * sizeof(*set->bits));
}

static int node_set_reserve(struct node_set *set, uint32_t words)
{
    if (words <= set->words)
        return 0;
    if (ARRAY_RESIZE(set->bits, words) != 0)
        return -ENOMEM;
    memset(set->bits + set->words, 0, (words - set->words) * sizeof(*set->bits));
    set->words = words;
    return 0;
}

int node_set_contains(const struct node_set *set, uint32_t node)
{
    return node / 64 < set->words && (set->bits[node / 64] >> (node % 64) & 1) != 0;
}

int node_set_add(struct node_set *set, uint32_t node)
{
    if (node_set_contains(set, node))
        return 0;
    if (node / 64 >= set->words && node_set_reserve(set, 2 * (node / 64) + 8) != 0)
        return -ENOMEM;
    set->bits[node / 64] |= UINT64_C(1) << (node % 64);
    return 1;
}

uint64_t node_set_join(struct node_set *set, const struct node_set *more)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < more->words; i++) {
        uint64_t present = i < set->words ? set->bits[i] : 0;
        count += (uint64_t)__builtin_popcountll(more->bits[i] & ~present);
    }
    if (node_set_reserve(set, more->words) == 0) {
        for (uint32_t i = 0; i < more->words; i++)
            set->bits[i] |= more->bits[i];
    }
    return count;
}

void node_set_copy_state(struct state_bytes *b, struct node_set *set)
{
    STATE_VALUE(b, *set);
    STATE_ARRAY(b, set->bits, set->words, 0);
}

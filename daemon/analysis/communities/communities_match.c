/* Labels of communities that follow those of the partition before. */
#include "daemon/analysis/communities/communities.h"

#include "include/holter/error.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define NONE COMMUNITIES_NONE

/* What an old and a new community share. */
struct overlap {
    uint32_t before, after;
    double weight;
};

/* A new label for a new community. */
struct name {
    uint32_t after, renamed;
};

struct matching {
    struct overlap *overlaps; /* owned; capacity of all ranks; the first ones */
    struct name *names;       /* owned; by `after` ascending */
    uint32_t *taken;          /* owned; old labels ascending, each once */
    size_t overlap_count, name_count, taken_count;
};

static int by_labels(const void *left, const void *right)
{
    const struct overlap *a = left, *b = right;
    if (a->before != b->before)
        return a->before < b->before ? -1 : 1;
    return a->after < b->after ? -1 : a->after > b->after;
}

static int communities_match_compare_by_weight(const void *left, const void *right)
{
    const struct overlap *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return by_labels(left, right);
}

static int by_after(const void *left, const void *right)
{
    const struct name *a = left, *b = right;
    return a->after < b->after ? -1 : a->after > b->after;
}

static int communities_match_compare_by_value(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

static void communities_match_collect(struct matching *m, const uint32_t *before,
                                      const uint32_t *after, const double *weights, size_t ranks)
{
    for (size_t i = 0; i < ranks; i++) {
        double weight = weights == NULL ? 1 : weights[i];
        if (before[i] != NONE)
            m->taken[m->taken_count++] = before[i];
        if (after[i] == NONE)
            continue;
        m->names[m->name_count++] = (struct name){after[i], NONE};
        if (before[i] != NONE)
            m->overlaps[m->overlap_count++] = (struct overlap){before[i], after[i], weight};
    }
}

/* Leave each label once, and each pair of labels once with its sum. */
static void sort_and_sum(struct matching *m)
{
    size_t kept = 0;
    qsort(m->taken, m->taken_count, sizeof(*m->taken), communities_match_compare_by_value);
    for (size_t i = 0; i < m->taken_count; i++)
        if (kept == 0 || m->taken[kept - 1] != m->taken[i])
            m->taken[kept++] = m->taken[i];
    m->taken_count = kept;
    kept = 0;
    qsort(m->names, m->name_count, sizeof(*m->names), by_after);
    for (size_t i = 0; i < m->name_count; i++)
        if (kept == 0 || m->names[kept - 1].after != m->names[i].after)
            m->names[kept++] = m->names[i];
    m->name_count = kept;
    kept = 0;
    qsort(m->overlaps, m->overlap_count, sizeof(*m->overlaps), by_labels);
    for (size_t i = 0; i < m->overlap_count; i++) {
        if (kept > 0 && by_labels(&m->overlaps[kept - 1], &m->overlaps[i]) == 0)
            m->overlaps[kept - 1].weight += m->overlaps[i].weight;
        else
            m->overlaps[kept++] = m->overlaps[i];
    }
    m->overlap_count = kept;
}

static struct name *find_name(const struct matching *m, uint32_t after)
{
    const struct name key = {after, NONE};
    return bsearch(&key, m->names, m->name_count, sizeof(key), by_after);
}

/* @param given  of each of the old labels, as they stand in `taken`; all false */
static void match_greedily(struct matching *m, bool *given)
{
    qsort(m->overlaps, m->overlap_count, sizeof(*m->overlaps), communities_match_compare_by_weight);
    for (size_t i = 0; i < m->overlap_count; i++) {
        const struct overlap *o = &m->overlaps[i];
        struct name *name = find_name(m, o->after);
        const uint32_t *old = bsearch(&o->before, m->taken, m->taken_count, sizeof(o->before),
                                      communities_match_compare_by_value);
        if (name->renamed != NONE || given[old - m->taken])
            continue;
        name->renamed = o->before;
        given[old - m->taken] = true;
    }
}

static void name_the_rest(struct matching *m)
{
    uint32_t next = 0;
    size_t passed = 0;
    for (size_t i = 0; i < m->name_count; i++) {
        if (m->names[i].renamed != NONE)
            continue;
        while (passed < m->taken_count && m->taken[passed] <= next)
            next += m->taken[passed++] == next;
        m->names[i].renamed = next++;
    }
}

int communities_match(const uint32_t *before, const uint32_t *after, const double *weights,
                      size_t ranks, uint32_t *renamed)
{
    for (size_t i = 0; weights != NULL && i < ranks; i++)
        if (!(weights[i] >= 0 && weights[i] <= COMMUNITIES_MAXIMUM_WEIGHT))
            return -HOLTER_ERANGE;
    struct matching m = {.overlaps = calloc(ranks + 1, sizeof(*m.overlaps)),
                         .names = calloc(ranks + 1, sizeof(*m.names)),
                         .taken = calloc(ranks + 1, sizeof(*m.taken))};
    bool *given = calloc(ranks + 1, sizeof(*given));
    bool ok = m.overlaps != NULL && m.names != NULL && m.taken != NULL && given != NULL;
    if (ok) {
        communities_match_collect(&m, before, after, weights, ranks);
        sort_and_sum(&m);
        match_greedily(&m, given);
        name_the_rest(&m);
        for (size_t i = 0; i < ranks; i++)
            renamed[i] = after[i] == NONE ? NONE : find_name(&m, after[i])->renamed;
    }
    free(m.overlaps);
    free(m.names);
    free(m.taken);
    free(given);
    return ok ? 0 : -ENOMEM;
}

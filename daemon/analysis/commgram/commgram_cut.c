/* The level of a dendrogram that a picture shows. */
#include "daemon/analysis/commgram/commgram_cut.h"

#include "daemon/analysis/tables/heap.h"
#include "holter/bisect.h"

#include <errno.h>
#include <stdlib.h>

/* ---- along the dendrogram --------------------------------------------------------- */

/* Labels after a number of merges. A cluster is identified by its lowest rank, so the cluster that
 * a rank merged into comes before it. @return how many */
static uint32_t label_after(const struct commgram_tree *tree, uint32_t merges, uint32_t *labels)
{
    uint32_t count = 0;
    for (uint32_t r = 0; r < tree->ranks; r++)
        labels[r] = r;
    for (uint32_t i = 0; i < merges; i++)
        labels[tree->merges[i].b] = tree->merges[i].a;
    for (uint32_t r = 0; r < tree->ranks; r++)
        if (!tree->active[r])
            labels[r] = COMMGRAM_ABSENT;
        else
            labels[r] = labels[r] == r ? count++ : labels[labels[r]];
    return count;
}

/* ---- parts put together ----------------------------------------------------------- */

/* Parts [begin, end) that are one community. */
struct group {
    uint32_t begin, end;
    uint32_t ranks;
};

/* Groups that can be split, in a heap: most ranks first, of equals the lower one. */
struct heap {
    struct group *groups;
    uint32_t count;
};

static bool comes_before(const struct group *a, const struct group *b)
{
    return a->ranks != b->ranks ? a->ranks > b->ranks : a->begin < b->begin;
}

HEAP(cut_heap, struct group, comes_before)

static void commgram_cut_push(struct heap *heap, struct group group)
{
    if (group.end - group.begin >= 2)
        cut_heap_rise(heap->groups, heap->count++, group);
}

static struct group commgram_cut_pop(struct heap *heap)
{
    struct group top = heap->groups[0];
    heap->count--;
    cut_heap_sink(heap->groups, heap->count, 0, heap->groups[heap->count]);
    return top;
}

/* The boundary nearest to the middle of a group. @param before  ranks before each part */
static uint32_t commgram_cut_middle_of(const struct group *g, const uint32_t *before)
{
    uint32_t half = before[g->begin] + g->ranks / 2;
    uint32_t low = BISECT(i, g->begin + 1, g->end - 1, before[i] < half);
    if (low > g->begin + 1 && before[low] > half && half - before[low - 1] <= before[low] - half)
        low--;
    return low;
}

/* @param starts  set: 1 for the parts that a community begins with */
static void commgram_cut_split(struct heap *heap, const uint32_t *before, uint32_t parts,
                               uint32_t communities, uint32_t *starts)
{
    commgram_cut_push(heap, (struct group){0, parts, before[parts]});
    for (uint32_t count = 1; count < communities; count++) {
        struct group g = commgram_cut_pop(heap);
        uint32_t at = commgram_cut_middle_of(&g, before);
        starts[at] = 1;
        commgram_cut_push(heap, (struct group){g.begin, at, before[at] - before[g.begin]});
        commgram_cut_push(heap, (struct group){at, g.end, before[g.end] - before[at]});
    }
}

/* Replaces labels of parts by labels of groups of parts. @return 0 or -ENOMEM */
static int join_parts(uint32_t ranks, uint32_t parts, uint32_t communities, uint32_t *labels)
{
    uint32_t *before = calloc((size_t)parts + 1, sizeof(*before));
    uint32_t *starts = calloc((size_t)parts + 1, sizeof(*starts));
    struct heap heap = {.groups = malloc(((size_t)communities + 1) * sizeof(*heap.groups))};
    int rc = -ENOMEM;
    if (before != NULL && starts != NULL && heap.groups != NULL) {
        for (uint32_t r = 0; r < ranks; r++)
            if (labels[r] != COMMGRAM_ABSENT)
                before[labels[r] + 1]++;
        for (uint32_t i = 0; i < parts; i++)
            before[i + 1] += before[i];
        commgram_cut_split(&heap, before, parts, communities, starts);
        for (uint32_t i = 1; i < parts; i++)
            starts[i] += starts[i - 1];
        for (uint32_t r = 0; r < ranks; r++)
            if (labels[r] != COMMGRAM_ABSENT)
                labels[r] = starts[labels[r]];
        rc = 0;
    }
    free(before);
    free(starts);
    free(heap.groups);
    return rc;
}

int commgram_cut(const struct commgram_tree *tree, uint32_t communities, uint32_t *labels,
                 uint32_t *count)
{
    uint32_t active = 0, merges = 0;
    for (uint32_t r = 0; r < tree->ranks; r++)
        active += tree->active[r];
    if (active > communities)
        merges =
            active - communities < tree->merge_count ? active - communities : tree->merge_count;
    *count = label_after(tree, merges, labels);
    if (*count <= communities)
        return 0;
    int rc = join_parts(tree->ranks, *count, communities, labels);
    *count = communities;
    return rc;
}

/* An order in which no event stands before one that it depends on. */
#include "daemon/analysis/dependencies/dependency_state.h"

#include <errno.h>
#include <stdlib.h>

/* Ranks advance through their ends; a receive waits for its send. */
struct ordering {
    struct dependency_ends *e;
    uint32_t *next;   /* owned; by rank: its first end that is not ordered */
    uint32_t *ready;  /* owned; ranks that may advance */
    uint32_t *passed; /* owned; by rank: number of the walk that came by */
    uint8_t *done;    /* owned; by end */
    uint32_t *order;
    uint32_t ready_count, count, walks;
};

static int dependency_order_waits(const struct ordering *o, uint32_t end)
{
    uint32_t match = o->e->match[end];
    return o->e->ends[end].receive && match != DEPENDENCY_NONE && !o->done[match];
}

static uint32_t dependency_order_end_of(const struct dependency_rank *rank)
{
    return rank->first + rank->count;
}

static void dependency_order_advance(struct ordering *o, uint32_t rank)
{
    const struct dependency_ends *e = o->e;
    uint32_t end = dependency_order_end_of(&e->ranks[rank]);
    for (; o->next[rank] < end && !dependency_order_waits(o, o->next[rank]); o->next[rank]++) {
        uint32_t at = o->next[rank], match = e->match[at];
        o->done[at] = 1;
        o->order[o->count++] = at;
        if (match != DEPENDENCY_NONE && !e->ends[at].receive && e->rank_of[match] != rank &&
            o->next[e->rank_of[match]] == match)
            o->ready[o->ready_count++] = e->rank_of[match];
    }
}

/* All ranks that are left wait for each other: follow who waits for whom until a rank comes again,
 * and reject the pair of that cycle whose receive ended first. */
static void dependency_order_reject(struct ordering *o, uint32_t rank)
{
    struct dependency_ends *e = o->e;
    for (o->walks++; o->passed[rank] != o->walks;) {
        o->passed[rank] = o->walks;
        rank = e->rank_of[e->match[o->next[rank]]];
    }
    uint32_t first = o->next[rank];
    for (uint32_t at = rank;;) {
        at = e->rank_of[e->match[o->next[at]]];
        if (at == rank)
            break;
        if (e->ends[o->next[at]].end_ns < e->ends[first].end_ns)
            first = o->next[at];
    }
    e->match[e->match[first]] = DEPENDENCY_NONE;
    e->match[first] = DEPENDENCY_NONE;
    o->ready[o->ready_count++] = e->rank_of[first];
}

static void dependency_order_run(struct ordering *o, struct dependency_counts *counts)
{
    const struct dependency_ends *e = o->e;
    for (uint32_t i = 0; i < e->rank_count; i++)
        o->next[i] = e->ranks[i].first;
    for (uint32_t i = 0; i < e->rank_count; i++) {
        dependency_order_advance(o, i);
        while (o->ready_count > 0)
            dependency_order_advance(o, o->ready[--o->ready_count]);
    }
    for (uint32_t i = 0; i < e->rank_count; i++) {
        while (o->next[i] < dependency_order_end_of(&e->ranks[i])) {
            dependency_order_reject(o, i);
            counts->rejected++;
            while (o->ready_count > 0)
                dependency_order_advance(o, o->ready[--o->ready_count]);
        }
    }
}

int dependency_order(struct dependency_ends *e, uint32_t **order, struct dependency_counts *counts)
{
    struct ordering o = {.e = e};
    size_t ranks = e->rank_count + (size_t)1;
    o.next = malloc(ranks * sizeof *o.next);
    o.ready = malloc(ranks * sizeof *o.ready);
    o.passed = calloc(ranks, sizeof *o.passed);
    o.done = calloc(e->count + (size_t)1, sizeof *o.done);
    o.order = malloc((e->count + (size_t)1) * sizeof *o.order);
    int enough = o.next && o.ready && o.passed && o.done && o.order;
    if (enough)
        dependency_order_run(&o, counts);
    else
        free(o.order);
    *order = enough ? o.order : NULL;
    free(o.next);
    free(o.ready);
    free(o.passed);
    free(o.done);
    return enough ? 0 : -ENOMEM;
}

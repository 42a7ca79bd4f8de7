/* An order in which no event stands before one that it depends on. */
#include "daemon/analysis/dependencies/dependency_state.h"

#include "daemon/analysis/tables/arena.h"
#include "holter/call.h"

#include <errno.h>
#include <stdlib.h>

/* Ranks advance through their ends; a receive waits for its send, and a rank in a collective for
 * those that it depends on there. */
struct ordering {
    struct dependency_ends *e;
    uint32_t *next;   /* owned; by rank: its first end that is not ordered */
    uint32_t *ready;  /* owned; ranks that may advance */
    uint32_t *passed; /* owned; by rank: number of the walk that came by */
    uint8_t *done;    /* owned; by end */
    uint32_t *order;
    uint32_t ready_count, count, walks;
};

/* The first member of a collective that has not entered, in its order, or DEPENDENCY_NONE. Each
 * member is passed once. */
static uint32_t dependency_order_missing(const struct ordering *o, struct dependency_collective *c)
{
    const struct dependency_member *m = &o->e->members[c->first];
    while (c->entered < c->count && o->done[m[c->entered].enter])
        c->entered++;
    return c->entered < c->count ? m[c->entered].enter : DEPENDENCY_NONE;
}

static uint32_t dependency_order_root(const struct dependency_ends *e,
                                      const struct dependency_collective *c)
{
    uint32_t root = c->root == DEPENDENCY_NONE ? c->root : dependency_member_of(e, c, c->root);
    return root == DEPENDENCY_NONE ? root : e->members[root].enter;
}

/* The first neighbour of a rank that has not entered, or DEPENDENCY_NONE. */
static uint32_t dependency_order_neighbour(const struct ordering *o,
                                           const struct dependency_collective *c, uint32_t end)
{
    const struct dependency_ends *e = o->e;
    const struct dependency_member *m = &e->members[dependency_member_of(e, c, e->ends[end].rank)];
    for (uint32_t i = m->first_wait; i < m->first_wait + m->waits; i++)
        if (!o->done[e->waits[i].enter])
            return e->waits[i].enter;
    return DEPENDENCY_NONE;
}

/* An end that is not done and that this one depends on, or DEPENDENCY_NONE. */
static uint32_t dependency_order_awaited(const struct ordering *o, uint32_t end)
{
    const struct dependency_ends *e = o->e;
    uint32_t match = e->match[end], in = e->collective_of[end];
    if (!e->ends[end].receive)
        return DEPENDENCY_NONE;
    if (in == DEPENDENCY_NONE)
        return match == DEPENDENCY_NONE || o->done[match] ? DEPENDENCY_NONE : match;
    struct dependency_collective *c = &e->collectives[in];
    enum call_flow flow = call_flow_of(c->call);
    int is_root = e->ends[end].rank == c->root;
    if (flow == CALL_FLOW_OUT && !is_root)
        return c->awaited == DEPENDENCY_NONE || o->done[c->awaited] ? DEPENDENCY_NONE : c->awaited;
    if (flow == CALL_FLOW_NEIGHBOURS)
        return dependency_order_neighbour(o, c, end);
    if (flow == CALL_FLOW_OUT || (flow == CALL_FLOW_IN && !is_root))
        return DEPENDENCY_NONE;
    uint32_t missing = dependency_order_missing(o, c);
    int is_later = flow == CALL_FLOW_PREFIX && missing != DEPENDENCY_NONE &&
                   e->ends[missing].comm_rank > e->ends[end].comm_rank;
    return is_later ? DEPENDENCY_NONE : missing;
}

static int dependency_order_waits(const struct ordering *o, uint32_t end)
{
    return dependency_order_awaited(o, end) != DEPENDENCY_NONE;
}

static void dependency_order_wake(struct ordering *o, uint32_t end)
{
    uint32_t rank = o->e->rank_of[end];
    if (o->next[rank] == end)
        o->ready[o->ready_count++] = rank;
}

/* A rank has entered a collective: those that waited for it as the last one go on. */
static void dependency_order_open(struct ordering *o, uint32_t end)
{
    const struct dependency_ends *e = o->e;
    struct dependency_collective *c = &e->collectives[e->collective_of[end]];
    enum call_flow flow = call_flow_of(c->call);
    if (flow == CALL_FLOW_NEIGHBOURS) {
        uint32_t i = e->members[dependency_member_of(e, c, e->ends[end].rank)].first_sink;
        for (; i != DEPENDENCY_NONE; i = e->waits[i].next_sink)
            if (e->waits[i].leave != DEPENDENCY_NONE &&
                !dependency_order_waits(o, e->waits[i].leave))
                dependency_order_wake(o, e->waits[i].leave);
        return;
    }
    uint32_t first = flow == CALL_FLOW_PREFIX ? c->entered : 0;
    int is_last = dependency_order_missing(o, c) == DEPENDENCY_NONE;
    int opens = flow == CALL_FLOW_OUT ? end == c->awaited : flow == CALL_FLOW_PREFIX || is_last;
    uint32_t limit = flow == CALL_FLOW_PREFIX ? c->entered : c->count;
    for (uint32_t k = c->first + first; opens && k < c->first + limit; k++)
        if (e->members[k].leave != DEPENDENCY_NONE)
            dependency_order_wake(o, e->members[k].leave);
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
        if (e->ends[at].receive)
            continue;
        if (match != DEPENDENCY_NONE && e->rank_of[match] != rank)
            dependency_order_wake(o, match);
        if (e->collective_of[at] != DEPENDENCY_NONE)
            dependency_order_open(o, at);
    }
}

/* An end depends on none of another rank any more. */
static void dependency_order_separate(struct dependency_ends *e, uint32_t end)
{
    uint32_t in = e->collective_of[end];
    if (in == DEPENDENCY_NONE) {
        e->match[e->match[end]] = DEPENDENCY_NONE;
        e->match[end] = DEPENDENCY_NONE;
        return;
    }
    const struct dependency_collective *c = &e->collectives[in];
    for (uint32_t k = c->first; k < c->first + c->count; k++)
        if (e->members[k].leave == end)
            e->members[k].leave = DEPENDENCY_NONE;
    e->collective_of[end] = DEPENDENCY_NONE;
}

/* All ranks that are left wait for each other: follow who waits for whom until a rank comes again,
 * and of that cycle reject the pair, or the part in a collective, that ended first. */
static void dependency_order_reject(struct ordering *o, uint32_t rank)
{
    struct dependency_ends *e = o->e;
    for (o->walks++; o->passed[rank] != o->walks;) {
        o->passed[rank] = o->walks;
        rank = e->rank_of[dependency_order_awaited(o, o->next[rank])];
    }
    uint32_t first = o->next[rank];
    for (uint32_t at = rank;;) {
        at = e->rank_of[dependency_order_awaited(o, o->next[at])];
        if (at == rank)
            break;
        if (e->ends[o->next[at]].end_ns < e->ends[first].end_ns)
            first = o->next[at];
    }
    dependency_order_separate(e, first);
    o->ready[o->ready_count++] = e->rank_of[first];
}

static void dependency_order_run(struct ordering *o, struct dependency_counts *counts)
{
    const struct dependency_ends *e = o->e;
    for (uint32_t i = 0; i < e->rank_count; i++)
        o->next[i] = e->ranks[i].first;
    for (uint32_t i = 0; i < e->collective_count; i++)
        e->collectives[i].awaited = dependency_order_root(e, &e->collectives[i]);
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
    struct arena memory = {.newest = NULL}; /* of all arrays but the order */
    struct ordering o = {.e = e};
    size_t ranks = e->rank_count + (size_t)1;
    ARENA_TAKE(&memory, o.next, ranks);
    ARENA_TAKE(&memory, o.ready, ranks);
    ARENA_TAKE(&memory, o.passed, ranks);
    ARENA_TAKE(&memory, o.done, e->count + (size_t)1);
    o.order = memory.failed ? NULL : malloc((e->count + (size_t)1) * sizeof *o.order);
    if (o.order)
        dependency_order_run(&o, counts);
    *order = o.order;
    arena_finish(&memory);
    return o.order ? 0 : -ENOMEM;
}

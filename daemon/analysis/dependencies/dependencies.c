/* The graph of dependencies from ends of messages. */
#include "daemon/analysis/dependencies/dependencies.h"
#include "daemon/analysis/dependencies/dependency_state.h"

#include "holter/call.h"

#include <errno.h>
#include <stdlib.h>

void dependencies_finish(struct dependencies *d)
{
    free(d->events);
    free(d->order);
    free(d->collectives);
    free(d->members);
    free(d->waits);
    dependency_graph_finish(&d->ranks);
    *d = (struct dependencies){0};
}

static int dependencies_want(const struct dependency_wishes *w, const struct dependency_end *end)
{
    if (w == NULL)
        return 1;
    if ((w->from_ns != 0 || w->to_ns != 0) &&
        (end->end_ns < w->from_ns || end->begin_ns > w->to_ns))
        return 0;
    return w->has_rank == NULL || w->has_rank(w->user, end->rank);
}

int dependencies_waits_in_collective(const struct dependencies *d,
                                     const struct dependency_event *event)
{
    if (event->collective == DEPENDENCY_NONE || !event->receive)
        return 0;
    return d->members[event->member].awaited != DEPENDENCY_NONE;
}

int dependencies_is_awaited(const struct dependencies *d, const struct dependency_event *event)
{
    if (event->collective == DEPENDENCY_NONE || event->receive)
        return 0;
    const struct dependency_collective *c = &d->collectives[event->collective];
    switch (call_flow_of(c->call)) {
    case CALL_FLOW_OUT:
        return event->rank == c->root;
    case CALL_FLOW_PREFIX:
        return event->member + 1 < c->first + c->count;
    default:
        return 1;
    }
}

const char *dependencies_event_name(const struct dependency_event *event)
{
    if (event->collective != DEPENDENCY_NONE)
        return event->receive ? "leave" : "enter";
    return event->receive ? "receive" : "send";
}

static struct dependency_event dependencies_event_of(const struct dependency_end *end)
{
    return (struct dependency_event){
        .bytes = end->bytes,
        .begin_ns = end->begin_ns,
        .end_ns = end->open || (end->collective && !end->receive) ? end->begin_ns : end->end_ns,
        .rank = end->rank,
        .peer = end->peer,
        .tag = end->tag,
        .collective = DEPENDENCY_NONE,
        .match = DEPENDENCY_NONE,
        .call = end->call,
        .edge = DEPENDENCY_NONE,
        .receive = end->receive,
        .blocked = !end->receive && !end->collective && end->request == 0, /* it may be */
    };
}

/* Did the same call complete both? */
static int dependencies_are_of_one_call(const struct dependency_event *a,
                                        const struct dependency_event *b)
{
    return a->rank == b->rank && a->receive && b->receive && a->begin_ns == b->begin_ns &&
           a->end_ns == b->end_ns;
}

/* Collectives of the requested ends. */
static void dependencies_gather(struct dependencies *d, struct dependency_ends *e,
                                const uint32_t *place)
{
    uint32_t used = 0;
    d->collectives = e->collectives;
    d->members = e->members;
    d->waits = e->waits;
    for (size_t i = 0; i < e->wait_count; i++)
        d->waits[i].enter = place[d->waits[i].enter];
    for (uint32_t i = 0; i < e->collective_count; i++) {
        struct dependency_collective c = e->collectives[i];
        uint32_t first = c.first, count = c.count;
        c.first = used;
        for (uint32_t k = first; k < first + count; k++) {
            struct dependency_member m = e->members[k];
            if (place[m.enter] == DEPENDENCY_NONE)
                continue;
            m.enter = place[m.enter];
            m.leave = m.leave == DEPENDENCY_NONE ? m.leave : place[m.leave];
            d->events[m.enter].collective = d->collective_count;
            d->events[m.enter].member = used;
            if (m.leave != DEPENDENCY_NONE) {
                d->events[m.leave].collective = d->collective_count;
                d->events[m.leave].member = used;
            }
            d->members[used++] = m;
        }
        c.count = used - c.first;
        if (c.count > 0)
            d->collectives[d->collective_count++] = c;
    }
    e->collectives = NULL;
    e->members = NULL;
    e->waits = NULL;
    e->collective_count = 0;
}

/* The last one to enter of the neighbours that a rank waits for, or DEPENDENCY_NONE. */
static uint32_t dependencies_last_neighbour(const struct dependencies *d,
                                            const struct dependency_member *m)
{
    uint32_t last = DEPENDENCY_NONE;
    for (uint32_t i = m->first_wait; i < m->first_wait + m->waits; i++) {
        uint32_t enter = d->waits[i].enter;
        if (last == DEPENDENCY_NONE ||
            (enter != DEPENDENCY_NONE && d->events[enter].begin_ns > d->events[last].begin_ns))
            last = enter;
    }
    return last;
}

/* When ranks entered and left, and for whom they wait. */
static void dependencies_measure(struct dependencies *d, struct dependency_collective *c)
{
    enum call_flow flow = call_flow_of(c->call);
    uint32_t last = DEPENDENCY_NONE; /* to enter, of those so far */
    c->awaited = DEPENDENCY_NONE;
    for (uint32_t k = c->first; k < c->first + c->count; k++) {
        struct dependency_member *m = &d->members[k];
        int64_t at_ns = d->events[m->enter].begin_ns;
        int64_t left_ns = m->leave == DEPENDENCY_NONE ? at_ns : d->events[m->leave].end_ns;
        int begins = k == c->first;
        m->awaited = last;
        if (flow == CALL_FLOW_OUT ? d->events[m->enter].rank == c->root
                                  : begins || at_ns > c->last_ns)
            last = m->enter;
        c->first_ns = begins || at_ns < c->first_ns ? at_ns : c->first_ns;
        c->last_ns = begins || at_ns > c->last_ns ? at_ns : c->last_ns;
        c->end_ns = begins || left_ns > c->end_ns ? left_ns : c->end_ns;
    }
    if (flow == CALL_FLOW_NEIGHBOURS)
        last = DEPENDENCY_NONE;
    c->awaited = flow == CALL_FLOW_PREFIX ? d->members[c->first + c->count - 1].awaited : last;
    for (uint32_t k = c->first; flow != CALL_FLOW_PREFIX && k < c->first + c->count; k++) {
        int is_root = d->events[d->members[k].enter].rank == c->root;
        int waits = flow == CALL_FLOW_ALL || is_root == (flow == CALL_FLOW_IN);
        d->members[k].awaited = flow == CALL_FLOW_NEIGHBOURS
                                    ? dependencies_last_neighbour(d, &d->members[k])
                                : waits ? last
                                        : DEPENDENCY_NONE;
    }
}

/* Copy the requested ends. @param place  set: by end, position of its event */
static void dependencies_select(struct dependencies *d, struct dependency_ends *e,
                                const struct dependency_wishes *wishes, uint32_t *place)
{
    for (uint32_t i = 0; i < e->count; i++) {
        place[i] = DEPENDENCY_NONE;
        if (!dependencies_want(wishes, &e->ends[i]) ||
            (e->ends[i].collective && e->collective_of[i] == DEPENDENCY_NONE))
            continue;
        place[i] = d->event_count;
        d->events[d->event_count++] = dependencies_event_of(&e->ends[i]);
    }
    for (uint32_t i = 0; i < e->count; i++) {
        if (place[i] == DEPENDENCY_NONE || e->ends[i].collective)
            continue;
        d->counts.ends++;
        uint32_t match = e->match[i], other = match == DEPENDENCY_NONE ? match : place[match];
        d->events[place[i]].match = other;
        d->counts.unmatched += other == DEPENDENCY_NONE;
        d->counts.cut += match != DEPENDENCY_NONE && other == DEPENDENCY_NONE;
        d->counts.aligned += other != DEPENDENCY_NONE && e->ends[i].receive && e->kind[i];
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < e->count; i++)
        if (place[d->order[i]] != DEPENDENCY_NONE)
            d->order[kept++] = place[d->order[i]];
    dependencies_gather(d, e, place);
    for (uint32_t i = 0; i < d->collective_count; i++)
        dependencies_measure(d, &d->collectives[i]);
    for (uint32_t i = 0; i < d->event_count; i++)
        d->events[i].group = i > 0 && dependencies_are_of_one_call(&d->events[i - 1], &d->events[i])
                                 ? d->events[i - 1].group
                                 : i;
}

static void dependencies_span(struct dependencies *d)
{
    for (uint32_t i = 0; i < d->event_count; i++) {
        const struct dependency_event *e = &d->events[i];
        d->begin_ns = i == 0 || e->begin_ns < d->begin_ns ? e->begin_ns : d->begin_ns;
        d->end_ns = i == 0 || e->end_ns > d->end_ns ? e->end_ns : d->end_ns;
    }
}

/* @return 0 or -ENOMEM */
static int dependencies_build(struct dependencies *d, struct dependency_ends *e,
                              const struct dependency_wishes *wishes)
{
    uint32_t *place = malloc((e->count + (size_t)1) * sizeof *place);
    d->events = malloc((e->count + (size_t)1) * sizeof *d->events);
    int error = place == NULL || d->events == NULL ? -ENOMEM : dependency_match(e, &d->counts);
    if (error == 0)
        error = dependency_collectives(e, &d->counts);
    if (error == 0)
        error = dependency_order(e, &d->order, &d->counts);
    if (error == 0) {
        dependencies_select(d, e, wishes, place);
        error = dependency_steps(d);
    }
    free(place);
    return error != 0 ? error : dependency_nodes(d, e, wishes);
}

int dependencies_make(struct dependencies *out, const struct dependency_calls *calls,
                      const struct dependency_wishes *wishes)
{
    struct dependency_ends e;
    *out = (struct dependencies){0};
    int error = dependency_ends_init(&e, calls);
    if (error == 0)
        error = dependencies_build(out, &e, wishes);
    dependency_ends_finish(&e);
    if (error != 0)
        dependencies_finish(out);
    else
        dependencies_span(out);
    return error;
}

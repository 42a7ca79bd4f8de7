/* The graph of dependencies from ends of messages. */
#include "daemon/analysis/dependencies/dependencies.h"
#include "daemon/analysis/dependencies/dependency_state.h"

#include <errno.h>
#include <stdlib.h>

void dependencies_finish(struct dependencies *d)
{
    free(d->events);
    free(d->order);
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

static struct dependency_event dependencies_event_of(const struct dependency_end *end)
{
    return (struct dependency_event){
        .bytes = end->bytes,
        .begin_ns = end->begin_ns,
        .end_ns = end->end_ns,
        .rank = end->rank,
        .peer = end->peer,
        .tag = end->tag,
        .match = DEPENDENCY_NONE,
        .edge = DEPENDENCY_NONE,
        .receive = end->receive,
    };
}

/* Copy the requested ends. @param place  set: by end, position of its event */
static void dependencies_select(struct dependencies *d, const struct dependency_ends *e,
                                const struct dependency_wishes *wishes, uint32_t *place)
{
    for (uint32_t i = 0; i < e->count; i++) {
        place[i] = DEPENDENCY_NONE;
        if (!dependencies_want(wishes, &e->ends[i]))
            continue;
        place[i] = d->event_count;
        d->events[d->event_count++] = dependencies_event_of(&e->ends[i]);
    }
    for (uint32_t i = 0; i < e->count; i++) {
        if (place[i] == DEPENDENCY_NONE)
            continue;
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
    d->counts.ends = d->event_count;
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

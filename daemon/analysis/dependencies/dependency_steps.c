/* Logical steps of events, their lateness, and what of it each caused (Isaacs et al.). */
#include "daemon/analysis/dependencies/dependency_state.h"

#include <errno.h>
#include <stdlib.h>

/* The event before it in its rank, or DEPENDENCY_NONE. */
static uint32_t dependency_steps_previous(const struct dependencies *d, uint32_t at)
{
    return at > 0 && d->events[at - 1].rank == d->events[at].rank ? at - 1 : DEPENDENCY_NONE;
}

/* The send of a matched receive, or DEPENDENCY_NONE. */
static uint32_t dependency_steps_send(const struct dependencies *d, uint32_t at)
{
    return d->events[at].receive ? d->events[at].match : DEPENDENCY_NONE;
}

static void dependency_steps_count(struct dependencies *d)
{
    for (uint32_t i = 0; i < d->event_count; i++) {
        uint32_t at = d->order[i], step = 0;
        uint32_t before[] = {dependency_steps_previous(d, at), dependency_steps_send(d, at)};
        for (unsigned k = 0; k < 2; k++)
            if (before[k] != DEPENDENCY_NONE && d->events[before[k]].step + 1 > step)
                step = d->events[before[k]].step + 1;
        d->events[at].step = step;
        d->steps = step + 1 > d->steps ? step + 1 : d->steps;
    }
}

static void dependency_steps_blame(struct dependencies *d)
{
    for (uint32_t i = 0; i < d->event_count; i++) {
        struct dependency_event *event = &d->events[i];
        uint32_t before[] = {dependency_steps_previous(d, i), dependency_steps_send(d, i)};
        uint64_t inherited = 0;
        for (unsigned k = 0; k < 2; k++)
            if (before[k] != DEPENDENCY_NONE && d->events[before[k]].lateness_ns > inherited)
                inherited = d->events[before[k]].lateness_ns;
        event->caused_ns = event->lateness_ns > inherited ? event->lateness_ns - inherited : 0;
    }
}

int dependency_steps(struct dependencies *d)
{
    dependency_steps_count(d);
    int64_t *earliest = malloc((d->steps + (size_t)1) * sizeof *earliest);
    if (earliest == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < d->steps; i++)
        earliest[i] = INT64_MAX;
    for (uint32_t i = 0; i < d->event_count; i++) {
        const struct dependency_event *event = &d->events[i];
        if (event->end_ns < earliest[event->step])
            earliest[event->step] = event->end_ns;
    }
    for (uint32_t i = 0; i < d->event_count; i++) {
        struct dependency_event *event = &d->events[i];
        event->lateness_ns = (uint64_t)(event->end_ns - earliest[event->step]);
        d->lateness_ns = event->lateness_ns > d->lateness_ns ? event->lateness_ns : d->lateness_ns;
    }
    free(earliest);
    dependency_steps_blame(d);
    return 0;
}

uint32_t dependencies_latest(const struct dependencies *d)
{
    uint32_t latest = DEPENDENCY_NONE;
    for (uint32_t i = 0; i < d->event_count; i++) {
        const struct dependency_event *e = &d->events[i],
                                      *l = latest == DEPENDENCY_NONE ? NULL : &d->events[latest];
        if (e->receive && e->match != DEPENDENCY_NONE &&
            (l == NULL || e->lateness_ns > l->lateness_ns ||
             (e->lateness_ns == l->lateness_ns && e->step > l->step)))
            latest = i;
    }
    return latest;
}

uint32_t dependencies_chain(const struct dependencies *d, uint32_t event, uint32_t *out,
                            uint32_t capacity)
{
    uint32_t count = 0;
    while (event < d->event_count) {
        if (count < capacity)
            out[count] = event;
        count++;
        uint32_t previous = dependency_steps_previous(d, event);
        uint32_t send = dependency_steps_send(d, event);
        event = previous == DEPENDENCY_NONE                           ? send
                : send == DEPENDENCY_NONE                             ? previous
                : d->events[send].end_ns > d->events[previous].end_ns ? send
                                                                      : previous;
    }
    return count;
}

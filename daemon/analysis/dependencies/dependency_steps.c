/* Logical steps of events, their lateness, and what of it each caused (Isaacs et al.). */
#include "daemon/analysis/dependencies/dependency_state.h"

#include "holter/call.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* The event before its call in its rank, or DEPENDENCY_NONE. */
static uint32_t dependency_steps_previous(const struct dependencies *d, uint32_t at)
{
    uint32_t first = d->events[at].group;
    return first > 0 && d->events[first - 1].rank == d->events[at].rank ? first - 1
                                                                        : DEPENDENCY_NONE;
}

/* The send of a matched receive, or DEPENDENCY_NONE. */
static uint32_t dependency_steps_send(const struct dependencies *d, uint32_t at)
{
    return d->events[at].receive ? d->events[at].match : DEPENDENCY_NONE;
}

/* All ranks have entered a collective. Those that leave it by their next call, or make none, have
 * the greatest step of them. */
static void dependency_steps_level(struct dependencies *d, const struct dependency_collective *c)
{
    for (uint32_t k = c->first; k < c->first + c->count; k++) {
        uint32_t enter = d->members[k].enter, leave = d->members[k].leave, next = enter + 1;
        int is_last = next == d->event_count || d->events[next].rank != d->events[enter].rank;
        if (is_last || (leave != DEPENDENCY_NONE && d->events[leave].group == next))
            d->events[enter].step = c->step;
    }
}

/* Of a scan: the greatest value of the members before one, each of which is asked once. */
static uint64_t dependency_steps_prefix(struct dependencies *d, struct dependency_collective *c,
                                        uint32_t member, dependency_value *value)
{
    struct dependency_member *m = &d->members[c->first];
    for (; c->first + c->entered <= member; c->entered++) {
        uint32_t k = c->entered;
        uint64_t before = k == 0 ? 0 : value(d, m[k - 1].enter);
        m[k].most = k > 0 && m[k - 1].most > before ? m[k - 1].most : before;
    }
    return d->members[member].most;
}

uint64_t dependency_steps_most(struct dependencies *d, uint32_t member, dependency_value *value,
                               uint64_t whole)
{
    const struct dependency_member *m = &d->members[member];
    struct dependency_collective *c = &d->collectives[d->events[m->enter].collective];
    enum call_flow flow = call_flow_of(c->call);
    uint64_t most = 0;
    if (flow != CALL_FLOW_NEIGHBOURS)
        return flow == CALL_FLOW_PREFIX ? dependency_steps_prefix(d, c, member, value) : whole;
    for (uint32_t i = m->first_wait; i < m->first_wait + m->waits; i++) {
        uint32_t enter = d->waits[i].enter;
        uint64_t one = enter == DEPENDENCY_NONE ? 0 : value(d, enter);
        most = one > most ? one : most;
    }
    return most;
}

/* A step that has all that an event waits for in its collective before it. */
static uint64_t dependency_steps_value(const struct dependencies *d, uint32_t event)
{
    return d->events[event].step + UINT64_C(1);
}

static uint64_t dependency_steps_late_ns(const struct dependencies *d, uint32_t event)
{
    return d->events[event].lateness_ns;
}

static void dependency_steps_enter(struct dependencies *d, const struct dependency_event *event)
{
    struct dependency_collective *c = &d->collectives[event->collective];
    c->step = event->step > c->step ? event->step : c->step;
    if (call_flow_of(c->call) == CALL_FLOW_ALL && ++c->entered == c->count)
        dependency_steps_level(d, c);
}

static void dependency_steps_count(struct dependencies *d)
{
    for (uint32_t i = 0; i < d->collective_count; i++)
        d->collectives[i].entered = 0;
    for (uint32_t i = 0; i < d->event_count; i++) {
        uint32_t at = d->order[i], step = 0;
        uint32_t before[] = {dependency_steps_previous(d, at), dependency_steps_send(d, at)};
        for (unsigned k = 0; k < 2; k++)
            if (before[k] != DEPENDENCY_NONE && d->events[before[k]].step + 1 > step)
                step = d->events[before[k]].step + 1;
        struct dependency_event *event = &d->events[at];
        if (event->group != at && event[-1].step > step)
            step = event[-1].step;
        uint32_t after = 0;
        if (dependencies_waits_in_collective(d, event))
            after = (uint32_t)dependency_steps_most(d, event->member, dependency_steps_value,
                                                    d->collectives[event->collective].step +
                                                        UINT64_C(1));
        event->step = step = after > step ? after : step;
        if (dependencies_is_awaited(d, event))
            dependency_steps_enter(d, event);
        d->steps = step + 1 > d->steps ? step + 1 : d->steps;
    }
    /* Receives of one call have the greatest step of them, which is that of the last one. */
    for (uint32_t i = d->event_count; i-- > 1;)
        if (d->events[i].group != i)
            d->events[i - 1].step = d->events[i].step;
}

/* Finds the sends that lasted until their receivers came: these, not the senders, were late. */
static void dependency_steps_block(struct dependencies *d)
{
    for (uint32_t i = 0; i < d->event_count; i++) {
        struct dependency_event *send = &d->events[i];
        if (!send->blocked)
            continue;
        const int64_t came_ns =
            send->match == DEPENDENCY_NONE ? INT64_MAX : d->events[send->match].begin_ns;
        send->blocked = send->begin_ns < came_ns && came_ns < send->end_ns;
        send->end_ns = send->blocked ? send->begin_ns : send->end_ns;
    }
}

/* The greatest lateness of those that the events of a call depend on.
 * @param first  event of the call */
static uint64_t dependency_steps_inherited(const struct dependencies *d, uint32_t first)
{
    uint32_t previous = dependency_steps_previous(d, first);
    uint64_t most = previous == DEPENDENCY_NONE ? 0 : d->events[previous].lateness_ns;
    if (previous != DEPENDENCY_NONE && d->events[previous].blocked &&
        d->events[d->events[previous].match].lateness_ns > most)
        most = d->events[d->events[previous].match].lateness_ns;
    for (uint32_t i = first; i < d->event_count && d->events[i].group == first; i++) {
        uint32_t send = dependency_steps_send(d, i);
        uint64_t late_ns = dependencies_waits_in_collective(d, &d->events[i])
                               ? d->members[d->events[i].member].lateness_ns
                           : send != DEPENDENCY_NONE ? d->events[send].lateness_ns
                                                     : 0;
        most = late_ns > most ? late_ns : most;
    }
    return most;
}

/* The lateness of those that members of a collective wait for. */
static void dependency_steps_inherit(struct dependencies *d, struct dependency_collective *c)
{
    for (uint32_t k = c->first; k < c->first + c->count; k++) {
        const struct dependency_event *event = &d->events[d->members[k].enter];
        if (dependencies_is_awaited(d, event) && event->lateness_ns > c->lateness_ns)
            c->lateness_ns = event->lateness_ns;
    }
    c->entered = 0;
    for (uint32_t k = c->first; k < c->first + c->count; k++)
        d->members[k].lateness_ns =
            dependency_steps_most(d, k, dependency_steps_late_ns, c->lateness_ns);
}

/* The first event of a call has what was caused before its end. */
static void dependency_steps_blame(struct dependencies *d)
{
    for (uint32_t i = 0; i < d->collective_count; i++)
        dependency_steps_inherit(d, &d->collectives[i]);
    for (uint32_t i = 0; i < d->event_count; i++) {
        struct dependency_event *event = &d->events[i];
        uint64_t inherited = event->group == i ? dependency_steps_inherited(d, i) : UINT64_MAX;
        event->caused_ns = event->lateness_ns > inherited ? event->lateness_ns - inherited : 0;
    }
}

int dependency_steps(struct dependencies *d)
{
    dependency_steps_count(d);
    dependency_steps_block(d);
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

/* Of the receives of a call the one whose message came last, as far as can be estimated, or the
 * collective that the last rank entered later than that message was due: the call ended with it. */
static uint32_t dependency_steps_last_of_call(const struct dependencies *d, uint32_t at)
{
    uint32_t last = at;
    double latest_ns = -INFINITY;
    for (uint32_t i = d->events[at].group;
         i < d->event_count && d->events[i].group == d->events[at].group; i++) {
        double came_ns = -INFINITY; /* against the end of the call */
        if (dependencies_waits_in_collective(d, &d->events[i])) {
            uint32_t awaited = d->members[d->events[i].member].awaited;
            came_ns = (double)(d->events[awaited].begin_ns - d->events[i].end_ns);
        } else if (d->events[i].edge != DEPENDENCY_NONE) {
            const struct dependency_edge *edge = &d->ranks.edges[d->events[i].edge];
            double usual_ns = edge->latency > 0 ? (double)edge->transfer_ns / edge->latency : 0;
            came_ns = usual_ns - (double)edge->transfer_ns;
        }
        if (came_ns <= latest_ns)
            continue;
        latest_ns = came_ns;
        last = i;
    }
    return last;
}

static int dependency_steps_counts(const struct dependencies *d, const struct dependency_event *e)
{
    if (e->collective != DEPENDENCY_NONE)
        return !e->receive && d->collectives[e->collective].count > 1;
    return e->receive && e->match != DEPENDENCY_NONE;
}

uint32_t dependencies_latest(const struct dependencies *d)
{
    uint32_t latest = DEPENDENCY_NONE;
    for (uint32_t i = 0; i < d->event_count; i++) {
        const struct dependency_event *e = &d->events[i],
                                      *l = latest == DEPENDENCY_NONE ? NULL : &d->events[latest];
        if (dependency_steps_counts(d, e) &&
            (l == NULL || e->lateness_ns > l->lateness_ns ||
             (e->lateness_ns == l->lateness_ns && e->step > l->step)))
            latest = i;
    }
    return latest == DEPENDENCY_NONE || !d->events[latest].receive
               ? latest
               : dependency_steps_last_of_call(d, latest);
}

/* Since when a rank goes on after an event: after a send that lasted until its receiver came, since
 * that came. */
static int64_t dependency_steps_left_ns(const struct dependencies *d,
                                        const struct dependency_event *event)
{
    return event->blocked ? d->events[event->match].begin_ns : event->end_ns;
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
        uint32_t other = dependencies_waits_in_collective(d, &d->events[event])
                             ? d->members[d->events[event].member].awaited
                             : dependency_steps_send(d, event);
        int is_other =
            previous == DEPENDENCY_NONE ||
            (other != DEPENDENCY_NONE &&
             d->events[other].end_ns > dependency_steps_left_ns(d, &d->events[previous]));
        event = is_other                      ? other
                : d->events[previous].receive ? dependency_steps_last_of_call(d, previous)
                                              : previous;
    }
    return count;
}

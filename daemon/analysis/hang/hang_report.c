/* Reports the hangs that follow from the wait-for graph. */
#include "daemon/analysis/hang/hang_graph.h"
#include "daemon/analysis/tables/rank_list.h"
#include "holter/call.h"
#include "holter/order.h"

#include <stdlib.h>
#include <string.h>

static struct hang *new_hang(struct hang_graph *g, enum hang_kind kind, uint32_t *index)
{
    struct hang_watch *w = g->watch;
    if (w->hang_count == HANG_MAXIMUM)
        return NULL;
    *index = (uint32_t)w->hang_count++;
    struct hang *hang = &w->hangs[*index];
    memset(hang, 0, sizeof(*hang));
    hang->kind = kind;
    return hang;
}

/* Sets the late ranks of a hang from g->named[0, count), in any order. */
static void hang_report_set_late_ranks(struct hang_graph *g, struct hang *hang, uint32_t count)
{
    qsort(g->named, count, sizeof(*g->named), order_u32);
    hang->behind_count = count;
    rank_list(g->named, count, hang->ranks, sizeof(hang->ranks));
    for (uint32_t i = 0; i < count && i < HANG_NAMED; i++) {
        const struct hang_seat *s = hang_graph_seat(g, g->named[i]);
        hang->behind[i] = (struct hang_behind){.rank = g->named[i],
                                               .state = (enum hang_state)s->state,
                                               .for_ns = hang_state_ns(g->watch, s),
                                               .in_call = s->in_call,
                                               .peer = s->in_call_peer,
                                               .source = hang_source_of(g->watch, s),
                                               .comm = hang_comm_of(s)};
    }
}

/* Names the ranks of g->named[0, count), in ascending order, before those that are late. */
static void hang_report_set_waiters(const struct hang_graph *g, struct hang *hang, uint32_t count)
{
    hang->few_wait = 1;
    rank_list(g->named, count, hang->waiters, sizeof(hang->waiters));
}

static uint64_t hang_report_since(const struct hang_graph *g, uint64_t waited_ns)
{
    return g->watch->end_ns > waited_ns ? g->watch->end_ns - waited_ns : 0;
}

/* Whether a rank is in a state in which a short wait for it is a hang. A launcher needs some time
 * to end the others when a rank has died. */
static int is_urgent(const struct hang_graph *g, uint32_t rank, uint64_t waited_ns)
{
    const struct hang_seat *s = hang_graph_seat(g, rank);
    uint64_t minimum = g->watch->params.stopped_ns;
    switch ((enum hang_state)s->state) {
    case HANG_IS_STOPPED:
        return hang_state_ns(g->watch, s) >= minimum || waited_ns >= minimum;
    case HANG_DEAD:
    case HANG_FINISHED:
        return waited_ns >= minimum;
    default:
        return 0;
    }
}

static void hang_report_circle(struct hang_graph *g, uint32_t from, uint32_t to)
{
    uint32_t index, count = 0;
    uint64_t longest = 0, comm = 0;
    uint32_t call = 0, waiter = 0;
    for (uint32_t i = from; i < to; i++) {
        uint32_t n = g->order[i];
        if (n >= g->watch->seat_count)
            continue;
        const struct hang_seat *s = hang_graph_seat(g, n);
        if (s->in_call_ns < hang_threshold(g->watch, hang_wait_of(s->in_call)))
            return;
        g->named[count++] = n;
        if (s->in_call_ns > longest || (s->in_call_ns == longest && n < waiter)) {
            longest = s->in_call_ns;
            waiter = n;
            comm = hang_comm_of(s);
            call = s->in_call;
        }
    }
    struct hang *hang = count > 0 ? new_hang(g, HANG_DEADLOCK, &index) : NULL;
    if (hang == NULL)
        return;
    hang_report_set_late_ranks(g, hang, count);
    hang->since_ns = hang_report_since(g, longest);
    hang->comm = comm;
    hang->call = call;
    hang->waiter = waiter;
    for (uint32_t i = from; i < to; i++)
        g->hang_of[g->order[i]] = index;
}

/* Deadlocks: components with more than one node, or with a node that waits for itself.
 * @param hard  as for hang_graph_components(); with all edges only those that no other hang
 * explains */
static void hang_report_circles(struct hang_graph *g, int hard)
{
    hang_graph_components(g, hard);
    for (uint32_t i = 0, to; i < g->nodes; i = to) {
        for (to = i + 1; to < g->nodes && g->component[g->order[to]] == g->component[g->order[i]];)
            to++;
        uint32_t n = g->order[i];
        if (g->hang_of[n] != HANG_NONE || (to == i + 1 && !hang_graph_loops(g, n)))
            continue;
        if (hard || !hang_graph_escapes(g, i, to))
            hang_report_circle(g, i, to);
    }
}

static void fill_group(struct hang_graph *g, struct hang *hang, const struct hang_group *group)
{
    const struct hang_watch *w = g->watch;
    uint32_t at = hang_find_comm(w, group->comm);
    uint64_t size = at == KEY_NONE ? 0 : w->comm_seats[at].size + w->comm_seats[at].remote_size;
    hang->comm = group->comm;
    hang->call = group->call;
    hang->waiter = group->waiter;
    hang->operation = group->ordinal + 1;
    for (uint32_t i = 0; i < group->count; i++)
        if (hang_graph_seat(g, g->entries[group->first + i].rank)->uncounted)
            hang->operation = 0;
    hang->since_ns = hang_report_since(g, group->longest_ns);
    hang->members = size > group->members ? size : group->members;
    hang->arrived = group->count;
}

/* Does a rank still work, for which others wait that have done theirs and are in MPI_Finalize? */
static int hang_report_has_more_work(const struct hang_graph *g, const struct hang_group *group,
                                     uint32_t rank)
{
    const struct hang_seat *s = hang_graph_seat(g, rank);
    return group->call == CALL_Finalize && s->state != HANG_DEAD && s->state != HANG_IS_STOPPED &&
           g->watch->end_ns - s->moved_ns < g->watch->params.for_ns;
}

/* Finds the ranks that a group waits for and that do not wait themselves; only urgent ones where
 * the wait is not long. Ranks of other hangs are left out. @return how many are in g->named */
static uint32_t hang_report_find_late(struct hang_graph *g, const struct hang_group *group,
                                      uint32_t *others)
{
    int is_long = group->longest_ns >= hang_threshold(g->watch, HANG_WAIT_COLLECTIVE);
    uint32_t count = 0, from = g->edge_of[g->watch->seat_count + (uint32_t)(group - g->groups)];
    uint32_t to = g->edge_of[g->watch->seat_count + (uint32_t)(group - g->groups) + 1];
    for (uint32_t e = from; e < to; e++) {
        uint32_t rank = g->edges[e].to;
        if (rank >= g->watch->seat_count || hang_graph_is_stuck(g, rank) ||
            hang_report_has_more_work(g, group, rank))
            continue;
        if (!is_long && !is_urgent(g, rank, group->longest_ns))
            continue;
        if (g->hang_of[rank] != HANG_NONE)
            *others = g->hang_of[rank];
        else
            g->named[count++] = rank;
    }
    return count;
}

/* Counts those of g->named[0, count) that are in the call of a group, stopped, or that were in it
 * when they last reported: they have arrived, too. */
static void hang_report_set_inside(const struct hang_graph *g, struct hang *hang, uint32_t group,
                                   uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t rank = g->named[i];
        const struct hang_seat *s = hang_graph_seat(g, rank);
        if (s->in_call != hang->call || hang_comm_of(s) != hang->comm ||
            hang_graph_completed(g, hang->comm, rank) != g->groups[group].ordinal)
            continue;
        hang->inside++;
        hang->arrived += g->group_of[rank] != group;
    }
}

static void hang_report_set_group_waiters(struct hang_graph *g, struct hang *hang,
                                          const struct hang_group *group)
{
    for (uint32_t i = 0; i < group->count; i++)
        g->named[i] = g->entries[group->first + i].rank;
    hang_report_set_waiters(g, hang, group->count);
}

/* Has each rank of the job been reported? What ranks do that are not watched is not known. */
static int hang_report_knows_all(const struct hang_watch *w)
{
    int all = w->world <= w->seat_count;
    for (uint32_t r = 0; r < w->seat_count && all; r++)
        all = w->seats[r].heard != 0;
    return all;
}

/* All known members are in the call, but the communicator has more: they have made no call on it
 * yet, so that it is not known which ranks they are. */
static void hang_report_unknown_members(struct hang_graph *g, uint32_t n)
{
    const struct hang_group *group = &g->groups[n];
    const uint32_t comm = hang_find_comm(g->watch, group->comm);
    const uint64_t size = comm == KEY_NONE || g->watch->comm_seats[comm].remote_size > 0
                              ? 0
                              : g->watch->comm_seats[comm].size;
    uint32_t index;
    if (group->behind_count > 0 || group->lower != HANG_NONE || group->members >= size ||
        group->longest_ns < hang_threshold(g->watch, HANG_WAIT_COLLECTIVE) ||
        !hang_report_knows_all(g->watch))
        return;
    struct hang *hang = new_hang(g, HANG_COLLECTIVE, &index);
    if (hang == NULL)
        return;
    fill_group(g, hang, group);
    hang->absent = size - group->members;
    g->hang_of[g->watch->seat_count + n] = index;
    hang_report_set_group_waiters(g, hang, group);
}

static void hang_report_group(struct hang_graph *g, uint32_t n)
{
    const struct hang_group *group = &g->groups[n];
    uint32_t index, node = g->watch->seat_count + n, others = HANG_NONE;
    if (group->longest_ns == 0 || g->hang_of[node] != HANG_NONE)
        return;
    uint32_t count = hang_report_find_late(g, group, &others);
    if (count == 0) {
        g->hang_of[node] = others;
        if (others == HANG_NONE)
            hang_report_unknown_members(g, n);
        return;
    }
    struct hang *hang = new_hang(g, HANG_COLLECTIVE, &index);
    if (hang == NULL)
        return;
    fill_group(g, hang, group);
    hang->absent = group->behind_count;
    g->hang_of[node] = index;
    for (uint32_t i = 0; i < count; i++)
        g->hang_of[g->named[i]] = index;
    hang_report_set_inside(g, hang, n, count);
    hang_report_set_late_ranks(g, hang, count);
    if (group->count < count && hang->inside == 0)
        hang_report_set_group_waiters(g, hang, group);
}

/* Ranks of one communicator in different calls, after the same number of completed calls. */
static void hang_report_mismatch(struct hang_graph *g, uint32_t n)
{
    const struct hang_group *b = &g->groups[n],
                            *a = b->rival == HANG_NONE ? b : &g->groups[b->rival];
    uint32_t index, count = 0;
    uint64_t longest = a->longest_ns > b->longest_ns ? a->longest_ns : b->longest_ns;
    if (a == b || a->longest_ns == 0 || b->longest_ns == 0 ||
        longest < hang_threshold(g->watch, HANG_WAIT_COLLECTIVE))
        return;
    const struct hang_group *maximum = a->count >= b->count ? a : b, *few = maximum == a ? b : a;
    struct hang *hang = new_hang(g, HANG_MISMATCH, &index);
    if (hang == NULL)
        return;
    fill_group(g, hang, maximum);
    hang->since_ns = hang_report_since(g, longest);
    for (uint32_t i = 0; i < few->count; i++)
        g->named[count++] = g->entries[few->first + i].rank;
    hang_report_set_late_ranks(g, hang, count);
    g->hang_of[g->watch->seat_count + (uint32_t)(a - g->groups)] = index;
    g->hang_of[g->watch->seat_count + (uint32_t)(b - g->groups)] = index;
}

/* Stores for each rank that does not wait itself who waits longest for a message from it.
 * @param hard  1: only waits for a single rank */
static void find_awaited(struct hang_graph *g, int hard)
{
    for (uint32_t n = 0; n < g->watch->seat_count; n++) {
        uint64_t ns = hang_graph_seat(g, n)->in_call_ns;
        if (!hang_graph_is_stuck(g, n))
            continue;
        for (uint32_t e = g->edge_of[n]; e < g->edge_of[n + 1]; e++) {
            uint32_t to = g->edges[e].to;
            if (to >= g->watch->seat_count || hang_graph_is_stuck(g, to) ||
                g->edges[e].hard != hard)
                continue;
            /* A message that may have arrived already is no reason to blame a rank that makes
             * progress. */
            if (!hard && (hang_graph_seat(g, to)->state == HANG_RUNS ||
                          hang_graph_seat(g, to)->state == HANG_IN_CALL))
                continue;
            if (ns > g->waited[to]) {
                g->waited[to] = ns;
                g->waiter[to] = n;
            }
        }
    }
}

/* Does a rank wait until another one receives its message, rather than for a message of that? */
static int hang_report_is_unreceived(const struct hang_graph *g, const struct hang_seat *s,
                                     uint32_t rank)
{
    if (call_is_blocking_send(s->in_call))
        return 1;
    if (s->in_call_peer != (int64_t)rank ||
        (s->in_call != CALL_Wait && !call_is_exchange(s->in_call)))
        return 0;
    for (uint32_t p = s->pending; p != HANG_NONE; p = g->watch->pending_next[p])
        if (g->watch->pending[p].source == (int64_t)rank)
            return 0;
    return 1;
}

/* Ranks in the same state whose messages others wait for: one hang. */
static void hang_report_awaited(struct hang_graph *g, enum hang_state state)
{
    uint32_t index, count = 0, longest = HANG_NONE;
    for (uint32_t r = 0; r < g->watch->seat_count; r++) {
        uint64_t ns = g->waited[r];
        if (ns == 0 || hang_graph_seat(g, r)->state != state || g->hang_of[r] != HANG_NONE)
            continue;
        if (ns < hang_threshold(g->watch, HANG_WAIT_MESSAGE) && !is_urgent(g, r, ns))
            continue;
        g->named[count++] = r;
        if (longest == HANG_NONE || ns > g->waited[longest])
            longest = r;
    }
    struct hang *hang = count > 0 ? new_hang(g, HANG_RECEIVE, &index) : NULL;
    if (hang == NULL)
        return;
    const struct hang_seat *waiter = hang_graph_seat(g, g->waiter[longest]);
    hang->comm = hang_comm_of(waiter);
    hang->call = waiter->in_call;
    hang->waiter = g->waiter[longest];
    hang->unreceived = hang_report_is_unreceived(g, waiter, longest);
    hang->since_ns = hang_report_since(g, g->waited[longest]);
    for (uint32_t i = 0; i < count; i++)
        g->hang_of[g->named[i]] = index;
    hang_report_set_late_ranks(g, hang, count);
}

static void hang_report_stopped(struct hang_graph *g)
{
    uint32_t index, count = 0;
    uint64_t longest = 0;
    for (uint32_t r = 0; r < g->watch->seat_count; r++) {
        uint64_t ns = hang_state_ns(g->watch, hang_graph_seat(g, r));
        if (hang_graph_seat(g, r)->state != HANG_IS_STOPPED || g->hang_of[r] != HANG_NONE ||
            ns < g->watch->params.stopped_ns)
            continue;
        g->named[count++] = r;
        longest = ns > longest ? ns : longest;
    }
    struct hang *hang = count > 0 ? new_hang(g, HANG_STOPPED, &index) : NULL;
    if (hang == NULL)
        return;
    hang->since_ns = hang_report_since(g, longest);
    for (uint32_t i = 0; i < count; i++)
        g->hang_of[g->named[i]] = index;
    hang_report_set_late_ranks(g, hang, count);
}

/* Is a rank in a call that uses a file, and is there nobody whom it waits for in that? */
static int hang_report_uses_file(const struct hang_graph *g, uint32_t rank)
{
    const uint32_t group = g->group_of[rank];
    return call_class_of((uint16_t)hang_graph_seat(g, rank)->in_call) == CALL_IO &&
           (group == HANG_NONE || g->groups[group].behind_count == 0);
}

/* Is a rank in a call on an intercommunicator whose remote group made none? That may be another
 * program, which this one has started. */
static int hang_report_waits_for_program(const struct hang_watch *w, const struct hang_seat *s)
{
    const uint32_t comm = hang_find_comm(w, hang_comm_of(s));
    return comm != KEY_NONE && w->comm_seats[comm].remote_size > 0 &&
           w->comm_seats[comm].members <= w->comm_seats[comm].size;
}

static int hang_report_waits_or_polls(const struct hang_watch *w, const struct hang_seat *s)
{
    return s->state == HANG_POLLS || hang_waits_long(w, s);
}

/* Is a rank outside of MPI, while all others have done nothing but poll, or wait, for long? Names
 * those that are outside. @return since when, or 0: no */
static uint64_t hang_report_find_polled(struct hang_graph *g, uint32_t *outside)
{
    const struct hang_watch *w = g->watch;
    uint32_t waiting = 0;
    uint64_t since_ns = 0;
    *outside = 0;
    for (uint32_t r = 0; r < w->seat_count; r++) {
        const struct hang_seat *s = hang_graph_seat(g, r);
        if (s->state == HANG_DEAD || s->state == HANG_FINISHED)
            continue;
        const int waits = hang_report_waits_or_polls(w, s);
        const uint64_t ns = s->state == HANG_POLLS ? w->end_ns - s->polled_ns : hang_state_ns(w, s);
        const enum hang_wait kind =
            s->state == HANG_IN_CALL ? hang_wait_of(s->in_call) : HANG_WAIT_POLL;
        if ((!waits && s->state != HANG_OUTSIDE) || ns < hang_threshold(w, kind))
            return 0;
        const uint64_t from_ns = hang_report_since(g, ns);
        since_ns = from_ns > since_ns ? from_ns : since_ns;
        waiting += (uint32_t)waits;
        if (!waits)
            g->named[(*outside)++] = r;
    }
    return *outside > 0 && *outside <= waiting ? since_ns : 0;
}

static void hang_report_polled(struct hang_graph *g)
{
    uint32_t index, count;
    const uint64_t since_ns = hang_report_find_polled(g, &count);
    struct hang *hang = since_ns > 0 ? new_hang(g, HANG_STANDSTILL, &index) : NULL;
    if (hang == NULL)
        return;
    hang->since_ns = since_ns;
    hang_report_set_late_ranks(g, hang, count);
    for (uint32_t r = 0; r < g->watch->seat_count; r++)
        if (hang_report_waits_or_polls(g->watch, hang_graph_seat(g, r)))
            g->hang_of[r] = index;
}

/* All living ranks wait, but it is unknown for whom; or all except some that are outside of MPI.
 * While nobody is, files and other programs may take very long. */
static void hang_report_standstill(struct hang_graph *g)
{
    struct hang_watch *w = g->watch;
    uint64_t longest = 0;
    uint32_t index, count = 0, waiter = HANG_NONE, waiting = 0;
    int patient = 0;
    for (uint32_t r = 0; r < w->seat_count; r++) {
        const struct hang_seat *s = hang_graph_seat(g, r);
        uint64_t ns = hang_state_ns(w, s);
        if (s->state == HANG_DEAD || s->state == HANG_FINISHED)
            continue;
        if (s->state == HANG_OUTSIDE || s->state == HANG_POLLS) {
            if (ns < hang_threshold(w, HANG_WAIT_MESSAGE))
                return;
            g->named[count++] = r;
        } else if (!hang_waits_long(w, s) || ns < hang_threshold(w, hang_wait_of(s->in_call))) {
            return;
        } else {
            waiting++;
            patient |= hang_report_uses_file(g, r) || hang_report_waits_for_program(w, s);
            if (ns > longest) {
                longest = ns;
                waiter = r;
            }
        }
    }
    if (waiter == HANG_NONE || count > waiting ||
        (patient && count == 0 && longest < w->params.most_ns))
        return;
    struct hang *hang = new_hang(g, HANG_STANDSTILL, &index);
    if (hang == NULL)
        return;
    hang->call = hang_graph_seat(g, waiter)->in_call;
    hang->comm = hang_comm_of(hang_graph_seat(g, waiter));
    hang->waiter = waiter;
    hang->since_ns = hang_report_since(g, longest);
    hang_report_set_late_ranks(g, hang, count);
    for (uint32_t r = 0; r < w->seat_count; r++)
        if (hang_waits_long(w, hang_graph_seat(g, r)))
            g->hang_of[r] = index;
}

/* Assigns each node to the hang of the nodes that it waits for. */
static void hang_report_spread(struct hang_graph *g)
{
    hang_graph_components(g, 0);
    for (uint32_t i = 0, to; i < g->nodes; i = to) {
        uint32_t found = HANG_NONE;
        for (to = i; to < g->nodes && g->component[g->order[to]] == g->component[g->order[i]];
             to++) {
            uint32_t n = g->order[to];
            if (g->hang_of[n] != HANG_NONE)
                found = g->hang_of[n];
            for (uint32_t e = g->edge_of[n]; e < g->edge_of[n + 1] && found == HANG_NONE; e++)
                found = g->hang_of[g->edges[e].to];
        }
        for (uint32_t k = i; k < to && found != HANG_NONE; k++)
            if (g->hang_of[g->order[k]] == HANG_NONE)
                g->hang_of[g->order[k]] = found;
    }
}

static int is_stopping(const struct hang *hang)
{
    for (uint32_t i = 0; i < HANG_NAMED && i < hang->behind_count; i++)
        if (hang->behind[i].state == HANG_IS_STOPPED || hang->behind[i].state == HANG_DEAD)
            return 1;
    return 0;
}

static void count_waiting(struct hang_graph *g)
{
    struct hang_watch *w = g->watch;
    for (uint32_t r = 0; r < w->seat_count; r++) {
        uint32_t at = g->hang_of[r];
        if (w->hang_count > 0)
            w->seats[r].in_hang = 0;
        if (at == HANG_NONE)
            continue;
        struct hang *hang = &w->hangs[at];
        const int waits = hang->kind == HANG_STANDSTILL || hang_graph_is_stuck(g, r);
        hang->waiting += (uint64_t)waits;
        w->seats[r].in_hang = hang->kind == HANG_STOPPED || waits;
        if (is_stopping(hang))
            w->seats[r].excused = 1;
    }
    if (w->hang_count > 0)
        w->hang_ns = w->end_ns;
}

/* Where few ranks wait for the messages of many, the few are named first. */
static void hang_report_few_waiters(struct hang_graph *g)
{
    for (uint32_t at = 0; at < g->watch->hang_count; at++) {
        struct hang *hang = &g->watch->hangs[at];
        uint32_t count = 0;
        if (hang->kind != HANG_RECEIVE || hang->waiting >= hang->behind_count)
            continue;
        for (uint32_t r = 0; r < g->watch->seat_count; r++)
            if (g->hang_of[r] == at && hang_graph_is_stuck(g, r))
                g->named[count++] = r;
        hang_report_set_waiters(g, hang, count);
    }
}

ORDER_FUNCTION(compare_hangs, struct hang,
               16 * ORDER(b->waiting, a->waiting) + 8 * ORDER(a->kind, b->kind) +
                   4 * ORDER(a->comm, b->comm) + 2 * ORDER(a->operation, b->operation) +
                   ORDER(a->behind[0].rank, b->behind[0].rank))

void hang_report_all(struct hang_graph *g)
{
    hang_report_circles(g, 1);
    for (uint32_t n = 0; n < g->group_count; n++)
        hang_report_mismatch(g, n);
    for (uint32_t n = 0; n < g->group_count; n++)
        hang_report_group(g, n);
    find_awaited(g, 1);
    find_awaited(g, 0);
    for (int state = 0; state <= HANG_NO_RECORD; state++)
        hang_report_awaited(g, (enum hang_state)state);
    hang_report_stopped(g);
    hang_report_circles(g, 0);
    hang_report_spread(g);
    if (g->watch->hang_count == 0)
        hang_report_standstill(g);
    if (g->watch->hang_count == 0)
        hang_report_polled(g);
    count_waiting(g);
    hang_report_few_waiters(g);
    qsort(g->watch->hangs, g->watch->hang_count, sizeof(*g->watch->hangs), compare_hangs);
}

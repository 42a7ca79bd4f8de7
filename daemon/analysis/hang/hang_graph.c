/* The wait-for graph and its cycles. */
#include "daemon/analysis/hang/hang_graph.h"

#include "daemon/analysis/tables/array.h"
#include "holter/call.h"
#include "holter/event.h"
#include "holter/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

ORDER_FUNCTION(compare_entries, struct hang_entry,
               8 * ORDER(a->comm, b->comm) + 4 * ORDER(a->ordinal, b->ordinal) +
                   2 * ORDER(a->call, b->call) + ORDER(a->rank, b->rank))

uint64_t hang_graph_completed(const struct hang_graph *g, uint64_t comm, uint32_t rank)
{
    const struct hang_watch *w = g->watch;
    uint32_t at = key_table_find(&w->members, (struct key){.hi = comm, .lo = rank});
    return at == KEY_NONE ? 0 : w->member_seats[at].completed;
}

/* ---- groups -------------------------------------------------------------- */

/* Lists the ranks that are in a counted call. */
static void collect_entries(struct hang_graph *g)
{
    for (uint32_t r = 0; r < g->watch->seat_count; r++) {
        const struct hang_seat *s = hang_graph_seat(g, r);
        if ((s->state != HANG_IN_CALL && s->state != HANG_IS_STOPPED) || s->in_call == 0 ||
            !hang_counts(s->in_call) || hang_comm_of(s) == 0)
            continue;
        uint64_t comm = hang_comm_of(s);
        g->entries[g->entry_count++] =
            (struct hang_entry){.comm = comm,
                                .ordinal = hang_graph_completed(g, comm, r),
                                .call = s->in_call,
                                .rank = r};
    }
    qsort(g->entries, g->entry_count, sizeof(*g->entries), compare_entries);
}

/* The count of a rank that lost records is too low: it is assumed to be in the same call as most of
 * the others. @param from, to  entries of one communicator */
static void settle_uncounted(struct hang_graph *g, uint32_t from, uint32_t to)
{
    uint32_t best = HANG_NONE, best_count = 0, uncounted = 0;
    for (int trusted = 1; trusted >= 0 && best == HANG_NONE; trusted--) {
        for (uint32_t i = from, count = 0; i < to; i++) {
            int same = i > from && g->entries[i].ordinal == g->entries[i - 1].ordinal &&
                       g->entries[i].call == g->entries[i - 1].call;
            int doubtful = hang_graph_seat(g, g->entries[i].rank)->uncounted;
            uncounted += (uint32_t)doubtful;
            count = (same ? count : 0) + (trusted ? !doubtful : 1);
            if (count > best_count) {
                best_count = count;
                best = i;
            }
        }
    }
    if (uncounted == 0 || best == HANG_NONE)
        return;
    struct hang_entry with = g->entries[best];
    for (uint32_t i = from; i < to; i++) {
        struct hang_entry *e = &g->entries[i];
        if (!hang_graph_seat(g, e->rank)->uncounted || e->call != with.call)
            continue;
        e->ordinal = with.ordinal;
        uint32_t at =
            key_table_find(&g->watch->members, (struct key){.hi = e->comm, .lo = e->rank});
        if (at != KEY_NONE)
            g->watch->member_seats[at].completed = with.ordinal;
    }
    qsort(g->entries + from, to - from, sizeof(*g->entries), compare_entries);
}

static int add_absent(struct hang_graph *g, uint64_t comm, uint32_t rank, uint64_t completed)
{
    if (ARRAY_FIT_AT(g->absent, g->absent_capacity, g->absent_count) != 0)
        return -ENOMEM;
    g->absent[g->absent_count++] =
        (struct hang_entry){.comm = comm, .ordinal = completed, .rank = rank};
    return 0;
}

static int is_sure_to_miss(const struct hang_seat *s)
{
    return !s->uncounted || s->state == HANG_IS_STOPPED || s->state == HANG_DEAD;
}

/* Lists a member if it is in no counted call on the communicator. */
static int hang_graph_consider(struct hang_graph *g, uint64_t comm, uint32_t rank,
                               uint64_t completed, int doubtful)
{
    const struct hang_seat *s = hang_graph_seat(g, rank);
    uint32_t group = g->group_of[rank];
    if (group != HANG_NONE && g->groups[group].comm == comm)
        return 0;
    if (doubtful == is_sure_to_miss(s))
        return 0;
    return add_absent(g, comm, rank, doubtful ? 0 : completed);
}

/* Lists the members of a communicator that are in no counted call on it.
 * @param doubtful  1: those whose count is uncertain, instead of those whose count is certain */
static int collect_absent(struct hang_graph *g, uint64_t comm, uint32_t *members, int doubtful)
{
    struct hang_watch *w = g->watch;
    uint32_t at = hang_find_comm(w, comm), known = 0;
    uint32_t first = at == KEY_NONE ? HANG_NONE : w->comm_seats[at].first;
    int error = 0, world = hang_comm_is_world(w, comm) && w->world <= w->seat_count;
    if (world)
        memset(g->completed, 0, w->seat_count * sizeof(*g->completed));
    for (uint32_t m = first; m != HANG_NONE && error == 0; m = w->member_seats[m].next) {
        const struct hang_member *member = &w->member_seats[m];
        known++;
        if (world)
            g->completed[member->rank] = member->completed;
        else
            error = hang_graph_consider(g, comm, member->rank, member->completed, doubtful);
    }
    for (uint32_t r = 0; world && r < w->world && error == 0; r++)
        error = hang_graph_consider(g, comm, r, g->completed[r], doubtful);
    *members = world ? (uint32_t)w->world : known;
    return error;
}

static void sort_absent(struct hang_graph *g, uint32_t from)
{
    if (g->absent_count > from)
        qsort(g->absent + from, g->absent_count - from, sizeof(*g->absent), compare_entries);
}

/* Assigns each absent member to the first group that waits for it. @param from  first of the
 * communicator's groups, which are in ascending order; its absent members begin at absent */
static int hang_graph_hand_out(struct hang_graph *g, uint32_t from, uint32_t absent)
{
    uint32_t members, next;
    int error = collect_absent(g, g->groups[from].comm, &members, 0);
    uint64_t last = g->groups[g->group_count - 1].ordinal;
    sort_absent(g, absent);
    if (error == 0 && (absent == g->absent_count || g->absent[absent].ordinal > last)) {
        g->absent_count = absent;
        error = collect_absent(g, g->groups[from].comm, &members, 1);
        sort_absent(g, absent);
    }
    next = absent;
    for (uint32_t i = from; i < g->group_count && error == 0; i++) {
        struct hang_group *group = &g->groups[i];
        group->members = members;
        if (group->rival != HANG_NONE) { /* shares the absent members of the group before it */
            group->behind = g->groups[i - 1].behind;
            group->behind_count = g->groups[i - 1].behind_count;
            group->lower = g->groups[i - 1].lower;
            continue;
        }
        group->lower = i > from ? i - 1 : HANG_NONE;
        group->behind = next;
        while (next < g->absent_count && g->absent[next].ordinal <= group->ordinal)
            next++;
        group->behind_count = next - group->behind;
    }
    return error;
}

/* Makes the groups of one communicator. */
static int make_comm_groups(struct hang_graph *g, uint32_t from, uint32_t to)
{
    uint32_t first = g->group_count, absent = g->absent_count, stuck = 0;
    for (uint32_t i = from; i < to; i++)
        stuck += (uint32_t)hang_graph_is_stuck(g, g->entries[i].rank);
    if (stuck == 0)
        return 0;
    settle_uncounted(g, from, to);
    for (uint32_t i = from; i < to; i++) {
        const struct hang_entry *e = &g->entries[i];
        struct hang_group *group = g->group_count > first ? &g->groups[g->group_count - 1] : NULL;
        if (group == NULL || group->ordinal != e->ordinal || group->call != e->call) {
            uint32_t rival =
                group != NULL && group->ordinal == e->ordinal ? g->group_count - 1 : HANG_NONE;
            group = &g->groups[g->group_count++];
            *group = (struct hang_group){.comm = e->comm,
                                         .ordinal = e->ordinal,
                                         .call = e->call,
                                         .first = i,
                                         .lower = HANG_NONE,
                                         .rival = rival};
        }
        g->group_of[e->rank] = g->group_count - 1;
        group->count++;
        if (hang_graph_is_stuck(g, e->rank) &&
            hang_graph_seat(g, e->rank)->in_call_ns > group->longest_ns) {
            group->longest_ns = hang_graph_seat(g, e->rank)->in_call_ns;
            group->waiter = e->rank;
        }
    }
    return hang_graph_hand_out(g, first, absent);
}

static int make_groups(struct hang_graph *g)
{
    int error = 0;
    collect_entries(g);
    for (uint32_t i = 0, to; i < g->entry_count && error == 0; i = to) {
        for (to = i + 1; to < g->entry_count && g->entries[to].comm == g->entries[i].comm;)
            to++;
        error = make_comm_groups(g, i, to);
    }
    return error;
}

/* ---- edges --------------------------------------------------------------- */

static int hang_graph_add_edge(struct hang_graph *g, uint32_t to, int hard)
{
    if (ARRAY_FIT_AT(g->edges, g->edge_capacity, g->edge_count) != 0)
        return -ENOMEM;
    g->edges[g->edge_count++] = (struct hang_edge){.to = to, .hard = (uint8_t)hard};
    return 0;
}

/* Adds an edge to a peer, if it is a rank. */
static int add_peer(struct hang_graph *g, int64_t peer, int hard)
{
    const int is_rank = peer >= 0 && peer < g->watch->seat_count;
    return is_rank ? hang_graph_add_edge(g, (uint32_t)peer, hard) : 0;
}

/* MPI_Sendrecv waits for two messages: that of its source, and its own, until the destination
 * receives it. It is unknown whether one of them is through. */
static int add_peers_of_both(struct hang_graph *g, const struct hang_seat *s)
{
    const struct hang_watch *w = g->watch;
    const int64_t source = hang_source_of(w, s), destination = s->in_call_peer;
    const int hard = source == destination || source == PEER_NULL || destination == PEER_NULL;
    int error = destination != source ? add_peer(g, destination, hard) : 0;
    for (uint32_t p = s->pending; p != HANG_NONE && error == 0; p = w->pending_next[p])
        error = add_peer(g, w->pending[p].source, hard);
    return error;
}

/* Adds edges to the ranks whose messages a rank waits for. A call that accepts any message adds
 * none; for a call that waits for several messages it is unknown which have arrived: all pending
 * receives of its rank are listed. */
static int add_peers(struct hang_graph *g, uint32_t rank)
{
    const struct hang_watch *w = g->watch;
    const struct hang_seat *s = hang_graph_seat(g, rank);
    uint32_t count = 0;
    int error = 0, single = s->in_call != CALL_Waitall;
    if (call_is_exchange(s->in_call))
        return add_peers_of_both(g, s);
    for (uint32_t p = s->pending; p != HANG_NONE; p = w->pending_next[p])
        count++;
    if ((s->in_call == CALL_Waitany || s->in_call == CALL_Waitsome) && count != 1)
        return 0;
    for (uint32_t p = s->pending; p != HANG_NONE && error == 0; p = w->pending_next[p])
        error = add_peer(g, w->pending[p].source, single && count == 1);
    if (count == 0)
        error = add_peer(g, s->in_call_peer, single);
    return error;
}

static int add_group_edges(struct hang_graph *g, const struct hang_group *group)
{
    int error = 0;
    if (group->longest_ns == 0)
        return 0;
    for (uint32_t i = 0; i < group->behind_count && error == 0; i++)
        error = hang_graph_add_edge(g, g->absent[group->behind + i].rank, 1);
    for (uint32_t i = 0; i < group->count && error == 0; i++)
        if (hang_graph_seat(g, g->entries[group->first + i].rank)->state == HANG_IS_STOPPED)
            error = hang_graph_add_edge(g, g->entries[group->first + i].rank, 1);
    if (group->lower != HANG_NONE && error == 0)
        error = hang_graph_add_edge(g, g->watch->seat_count + group->lower, 1);
    return error;
}

static int hang_graph_make_edges(struct hang_graph *g)
{
    uint32_t ranks = g->watch->seat_count;
    int error = 0;
    for (uint32_t n = 0; n < g->nodes && error == 0; n++) {
        g->edge_of[n] = g->edge_count;
        if (n >= ranks)
            error = add_group_edges(g, &g->groups[n - ranks]);
        else if (!hang_graph_is_stuck(g, n))
            continue;
        else if (g->group_of[n] != HANG_NONE)
            error = hang_graph_add_edge(g, ranks + g->group_of[n], 1);
        else if (hang_wait_of(hang_graph_seat(g, n)->in_call) == HANG_WAIT_MESSAGE)
            error = add_peers(g, n);
    }
    g->edge_of[g->nodes] = g->edge_count;
    return error;
}

/* ---- circles ------------------------------------------------------------- */

static void close_component(struct hang_graph *g, uint32_t root, uint32_t *stacked,
                            uint32_t *components, uint32_t *ordered)
{
    uint32_t node;
    do {
        node = g->stack[--*stacked];
        g->component[node] = *components;
        g->order[(*ordered)++] = node;
    } while (node != root);
    ++*components;
}

/* Tarjan's algorithm (1972), without recursion. */
void hang_graph_components(struct hang_graph *g, int hard)
{
    uint32_t visits = 0, stacked = 0, components = 0, ordered = 0;
    memset(g->visit, 0, g->nodes * sizeof(*g->visit));
    memset(g->component, 0xff, g->nodes * sizeof(*g->component));
    for (uint32_t start = 0; start < g->nodes; start++) {
        uint32_t depth = 0;
        if (g->visit[start] != 0)
            continue;
        g->frames[depth++] = start;
        while (depth > 0) {
            uint32_t n = g->frames[depth - 1];
            if (g->visit[n] == 0) {
                g->visit[n] = g->low[n] = ++visits;
                g->stack[stacked++] = n;
                g->next[n] = g->edge_of[n];
            }
            uint32_t down = HANG_NONE;
            for (; g->next[n] < g->edge_of[n + 1] && down == HANG_NONE; g->next[n]++) {
                const struct hang_edge *e = &g->edges[g->next[n]];
                if (hard && !e->hard)
                    continue;
                if (g->visit[e->to] == 0)
                    down = e->to;
                else if (g->component[e->to] == HANG_NONE && g->visit[e->to] < g->low[n])
                    g->low[n] = g->visit[e->to];
            }
            if (down != HANG_NONE) {
                g->frames[depth++] = down;
                continue;
            }
            if (g->low[n] == g->visit[n])
                close_component(g, n, &stacked, &components, &ordered);
            if (--depth > 0 && g->low[n] < g->low[g->frames[depth - 1]])
                g->low[g->frames[depth - 1]] = g->low[n];
        }
    }
}

int hang_graph_loops(const struct hang_graph *g, uint32_t node)
{
    for (uint32_t e = g->edge_of[node]; e < g->edge_of[node + 1]; e++)
        if (g->edges[e].to == node)
            return 1;
    return 0;
}

/* Does a rank wait for messages of ranks that are not known? */
static int hang_graph_waits_for_others(const struct hang_graph *g, uint32_t rank)
{
    const struct hang_watch *w = g->watch;
    for (uint32_t p = hang_graph_seat(g, rank)->pending; p != HANG_NONE; p = w->pending_next[p])
        if (w->pending[p].source == PEER_ANY)
            return 1;
    return 0;
}

int hang_graph_escapes(const struct hang_graph *g, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        uint32_t n = g->order[i];
        if (n < g->watch->seat_count && hang_graph_waits_for_others(g, n))
            return 1;
        for (uint32_t e = g->edge_of[n]; e < g->edge_of[n + 1]; e++)
            if (g->component[g->edges[e].to] != g->component[n])
                return 1;
    }
    return 0;
}

/* ---- memory -------------------------------------------------------------- */

static void hang_graph_finish(struct hang_graph *g)
{
    arena_finish(&g->memory);
    free(g->absent);
    free(g->edges);
}

static int allocate_ranks(struct hang_graph *g)
{
    size_t ranks = (size_t)g->watch->seat_count + 1;
    ARENA_TAKE(&g->memory, g->entries, ranks);
    ARENA_TAKE(&g->memory, g->groups, ranks);
    ARENA_TAKE(&g->memory, g->group_of, ranks);
    ARENA_TAKE(&g->memory, g->named, 2 * ranks);
    ARENA_TAKE(&g->memory, g->waited, ranks);
    ARENA_TAKE(&g->memory, g->completed, ranks);
    if (g->memory.failed)
        return -ENOMEM;
    g->waiter = g->named + ranks;
    memset(g->group_of, 0xff, ranks * sizeof(*g->group_of));
    return 0;
}

static int allocate_nodes(struct hang_graph *g)
{
    size_t nodes = (size_t)g->watch->seat_count + g->group_count;
    g->nodes = (uint32_t)nodes;
    ARENA_TAKE(&g->memory, g->edge_of, nodes + 1);
    ARENA_TAKE(&g->memory, g->component, 7 * nodes + 1);
    ARENA_TAKE(&g->memory, g->hang_of, nodes + 1);
    if (g->memory.failed)
        return -ENOMEM;
    g->visit = g->component + nodes;
    g->low = g->visit + nodes;
    g->stack = g->low + nodes;
    g->frames = g->stack + nodes;
    g->next = g->frames + nodes;
    g->order = g->next + nodes;
    memset(g->hang_of, 0xff, (nodes + 1) * sizeof(*g->hang_of));
    return 0;
}

int hang_find(struct hang_watch *watch)
{
    struct hang_graph g = {.watch = watch};
    uint32_t suspects = 0;
    for (uint32_t r = 0; r < watch->seat_count; r++)
        suspects += (uint32_t)hang_is_suspect(watch, &watch->seats[r]);
    if (suspects == 0)
        return 0;
    int error = allocate_ranks(&g);
    if (error == 0)
        error = make_groups(&g);
    if (error == 0)
        error = allocate_nodes(&g);
    if (error == 0)
        error = hang_graph_make_edges(&g);
    if (error == 0)
        hang_report_all(&g);
    hang_graph_finish(&g);
    return error;
}

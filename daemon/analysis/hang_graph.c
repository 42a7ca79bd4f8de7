/* Who waits for whom at the end of a window.
 *
 * Nodes are ranks and groups: the ranks that are in the same call on a communicator, which wait for
 * those members that have not come to it. A group waits for the members that are behind it but not
 * behind the group before it, and for that group: so there are at most as many edges as members. */
#include "daemon/analysis/hang_watch.h"
#include "daemon/analysis/rank_list.h"
#include "holter/call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A rank in a counted call, or a member that is in none. */
struct entry {
    uint64_t comm, ordinal; /* ordinal: calls completed before */
    uint32_t call;          /* 0: in none */
    uint32_t rank;
};

struct group {
    uint64_t comm, ordinal, longest_ns;
    uint32_t call;
    uint32_t first, count;         /* of those who came to it, in entries */
    uint32_t waiter;               /* of them, who waits longest */
    uint32_t behind, behind_count; /* in absent: those it waits for */
    uint32_t lower;                /* group before it; HANG_NONE: none */
    uint32_t members;              /* of the communicator, known ones */
    uint32_t rival; /* group of another call with the same ordinal; HANG_NONE: none */
};

struct edge {
    uint32_t to;
    uint8_t hard; /* 0: one of several that a call waits for; some of them may have come */
};

struct graph {
    struct hang_watch *watch;
    struct entry *entries; /* ranks in counted calls, sorted */
    uint32_t entry_count;
    struct entry *absent; /* members in none, for the groups; sorted for each communicator */
    uint32_t absent_count, absent_room;
    struct group *groups;
    uint32_t group_count;
    uint32_t *group_of; /* by rank; HANG_NONE: none */
    uint32_t nodes;     /* ranks, then groups */
    uint32_t *edge_of;  /* by node, nodes + 1: its first edge */
    struct edge *edges;
    uint32_t edge_count, edge_room;
    uint32_t *component, *visit, *low, *stack, *frames, *next; /* of the search */
    uint32_t *order;     /* nodes, component by component, those waited for first */
    uint32_t *hang_of;   /* by node: index in watch.hangs; HANG_NONE: none */
    uint8_t *in_circle;  /* by node */
    uint32_t *named;     /* room for a list of ranks */
    uint64_t *waited;    /* by rank: longest wait of those that wait for it by message */
    uint32_t *waiter;    /* by rank: who */
    uint64_t *completed; /* by rank, for communicators of the whole world */
};

static const struct hang_seat *seat_of(const struct graph *g, uint32_t rank)
{
    return &g->watch->seats[rank];
}

static int is_stuck(const struct graph *g, uint32_t rank)
{
    return hang_is_stuck(g->watch, seat_of(g, rank));
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->comm != y->comm)
        return x->comm < y->comm ? -1 : 1;
    if (x->ordinal != y->ordinal)
        return x->ordinal < y->ordinal ? -1 : 1;
    if (x->call != y->call)
        return x->call < y->call ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int compare_ranks(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static uint64_t completed_on(const struct hang_watch *w, uint64_t comm, uint32_t rank)
{
    uint32_t at = key_table_find(&w->members, (struct key){.hi = comm, .lo = rank});
    return at == KEY_NONE ? 0 : w->member_seats[at].completed;
}

/* ---- groups -------------------------------------------------------------- */

/* Ranks that are in a counted call. */
static void collect_entries(struct graph *g)
{
    for (uint32_t r = 0; r < g->watch->seat_count; r++) {
        const struct hang_seat *s = seat_of(g, r);
        if ((s->state != HANG_IN_CALL && s->state != HANG_IS_STOPPED) || s->in_call == 0 ||
            !hang_counts(s->in_call) || hang_comm_of(s) == 0)
            continue;
        uint64_t comm = hang_comm_of(s);
        g->entries[g->entry_count++] = (struct entry){.comm = comm,
                                                      .ordinal = completed_on(g->watch, comm, r),
                                                      .call = s->in_call,
                                                      .rank = r};
    }
    qsort(g->entries, g->entry_count, sizeof(*g->entries), compare_entries);
}

/* The count of a rank that lost records is not its own: in a call in which most others are, it is
 * taken to be with them. @param from, to  entries of one communicator */
static void settle_uncounted(struct graph *g, uint32_t from, uint32_t to)
{
    uint32_t best = HANG_NONE, best_count = 0, uncounted = 0;
    for (int trusted = 1; trusted >= 0 && best == HANG_NONE; trusted--) {
        for (uint32_t i = from, count = 0; i < to; i++) {
            int same = i > from && g->entries[i].ordinal == g->entries[i - 1].ordinal &&
                       g->entries[i].call == g->entries[i - 1].call;
            int doubtful = seat_of(g, g->entries[i].rank)->uncounted;
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
    struct entry with = g->entries[best];
    for (uint32_t i = from; i < to; i++) {
        struct entry *e = &g->entries[i];
        if (!seat_of(g, e->rank)->uncounted || e->call != with.call)
            continue;
        e->ordinal = with.ordinal;
        uint32_t at =
            key_table_find(&g->watch->members, (struct key){.hi = e->comm, .lo = e->rank});
        if (at != KEY_NONE)
            g->watch->member_seats[at].completed = with.ordinal;
    }
    qsort(g->entries + from, to - from, sizeof(*g->entries), compare_entries);
}

static int add_absent(struct graph *g, uint64_t comm, uint32_t rank, uint64_t completed)
{
    if (g->absent_count == g->absent_room) {
        uint32_t room = g->absent_room ? 2 * g->absent_room : 256;
        struct entry *grown = realloc(g->absent, room * sizeof(*grown));
        if (grown == NULL)
            return -ENOMEM;
        g->absent = grown;
        g->absent_room = room;
    }
    g->absent[g->absent_count++] = (struct entry){.comm = comm, .ordinal = completed, .rank = rank};
    return 0;
}

static int is_sure_to_miss(const struct hang_seat *s)
{
    return !s->uncounted || s->state == HANG_IS_STOPPED || s->state == HANG_DEAD;
}

/* A member that is in no counted call on the communicator. */
static int consider(struct graph *g, uint64_t comm, uint32_t rank, uint64_t completed, int doubtful)
{
    const struct hang_seat *s = seat_of(g, rank);
    uint32_t group = g->group_of[rank];
    if (group != HANG_NONE && g->groups[group].comm == comm)
        return 0;
    if (doubtful == is_sure_to_miss(s))
        return 0;
    return add_absent(g, comm, rank, doubtful ? 0 : completed);
}

/* Members of a communicator that are in no counted call on it.
 * @param doubtful  1: those whose count is not sure, in place of those whose is */
static int collect_absent(struct graph *g, uint64_t comm, uint32_t *members, int doubtful)
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
            error = consider(g, comm, member->rank, member->completed, doubtful);
    }
    for (uint32_t r = 0; world && r < w->world && error == 0; r++)
        error = consider(g, comm, r, g->completed[r], doubtful);
    *members = world ? (uint32_t)w->world : known;
    return error;
}

static void sort_absent(struct graph *g, uint32_t from)
{
    if (g->absent_count > from)
        qsort(g->absent + from, g->absent_count - from, sizeof(*g->absent), compare_entries);
}

/* Hand each absent member to the first group that it is behind. @param from  first of the
 * communicator's groups, which are in ascending order; its absent members begin at absent */
static int hand_out(struct graph *g, uint32_t from, uint32_t absent)
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
        struct group *group = &g->groups[i];
        group->members = members;
        if (group->rival != HANG_NONE) { /* shares what the group before it waits for */
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

/* Groups of one communicator. */
static int make_comm_groups(struct graph *g, uint32_t from, uint32_t to)
{
    uint32_t first = g->group_count, absent = g->absent_count, stuck = 0;
    for (uint32_t i = from; i < to; i++)
        stuck += (uint32_t)is_stuck(g, g->entries[i].rank);
    if (stuck == 0)
        return 0;
    settle_uncounted(g, from, to);
    for (uint32_t i = from; i < to; i++) {
        const struct entry *e = &g->entries[i];
        struct group *group = g->group_count > first ? &g->groups[g->group_count - 1] : NULL;
        if (group == NULL || group->ordinal != e->ordinal || group->call != e->call) {
            uint32_t rival =
                group != NULL && group->ordinal == e->ordinal ? g->group_count - 1 : HANG_NONE;
            group = &g->groups[g->group_count++];
            *group = (struct group){.comm = e->comm,
                                    .ordinal = e->ordinal,
                                    .call = e->call,
                                    .first = i,
                                    .lower = HANG_NONE,
                                    .rival = rival};
        }
        g->group_of[e->rank] = g->group_count - 1;
        group->count++;
        if (is_stuck(g, e->rank) && seat_of(g, e->rank)->in_call_ns > group->longest_ns) {
            group->longest_ns = seat_of(g, e->rank)->in_call_ns;
            group->waiter = e->rank;
        }
    }
    return hand_out(g, first, absent);
}

static int make_groups(struct graph *g)
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

static int add_edge(struct graph *g, uint32_t to, int hard)
{
    if (g->edge_count == g->edge_room) {
        uint32_t room = g->edge_room ? 2 * g->edge_room : 1024;
        struct edge *grown = realloc(g->edges, room * sizeof(*grown));
        if (grown == NULL)
            return -ENOMEM;
        g->edges = grown;
        g->edge_room = room;
    }
    g->edges[g->edge_count++] = (struct edge){.to = to, .hard = (uint8_t)hard};
    return 0;
}

/* Ranks whose messages a rank waits for. Of a call that takes whichever message comes nothing is
 * known; of one that waits for several, which of them have come is not: all that its rank has open
 * are listed. */
static int add_peers(struct graph *g, uint32_t rank)
{
    const struct hang_watch *w = g->watch;
    const struct hang_seat *s = seat_of(g, rank);
    uint32_t count = 0;
    int error = 0, single = s->in_call != CALL_Waitall;
    for (uint32_t p = s->pending; p != HANG_NONE; p = w->pending_next[p])
        count++;
    if ((s->in_call == CALL_Waitany || s->in_call == CALL_Waitsome) && count != 1)
        return 0;
    for (uint32_t p = s->pending; p != HANG_NONE && error == 0; p = w->pending_next[p]) {
        int64_t source = w->pending[p].source;
        if (source >= 0 && source < w->seat_count)
            error = add_edge(g, (uint32_t)source, single && count == 1);
    }
    if (count == 0 && s->in_call_peer >= 0 && s->in_call_peer < w->seat_count)
        error = add_edge(g, (uint32_t)s->in_call_peer, single);
    return error;
}

static int add_group_edges(struct graph *g, const struct group *group)
{
    int error = 0;
    if (group->longest_ns == 0)
        return 0;
    for (uint32_t i = 0; i < group->behind_count && error == 0; i++)
        error = add_edge(g, g->absent[group->behind + i].rank, 1);
    for (uint32_t i = 0; i < group->count && error == 0; i++)
        if (seat_of(g, g->entries[group->first + i].rank)->state == HANG_IS_STOPPED)
            error = add_edge(g, g->entries[group->first + i].rank, 1);
    if (group->lower != HANG_NONE && error == 0)
        error = add_edge(g, g->watch->seat_count + group->lower, 1);
    return error;
}

static int make_edges(struct graph *g)
{
    uint32_t ranks = g->watch->seat_count;
    int error = 0;
    for (uint32_t n = 0; n < g->nodes && error == 0; n++) {
        g->edge_of[n] = g->edge_count;
        if (n >= ranks)
            error = add_group_edges(g, &g->groups[n - ranks]);
        else if (!is_stuck(g, n))
            continue;
        else if (g->group_of[n] != HANG_NONE)
            error = add_edge(g, ranks + g->group_of[n], 1);
        else if (hang_wait_of(seat_of(g, n)->in_call) == HANG_WAIT_MESSAGE)
            error = add_peers(g, n);
    }
    g->edge_of[g->nodes] = g->edge_count;
    return error;
}

/* ---- circles ------------------------------------------------------------- */

static void close_component(struct graph *g, uint32_t root, uint32_t *stacked, uint32_t *components,
                            uint32_t *ordered)
{
    uint32_t node;
    do {
        node = g->stack[--*stacked];
        g->component[node] = *components;
        g->order[(*ordered)++] = node;
    } while (node != root);
    ++*components;
}

/* Strongly connected components (Tarjan 1972), without recursion. Components are numbered, and
 * nodes ordered, so that what is waited for comes first.
 * @param hard  follow hard edges only */
static void find_components(struct graph *g, int hard)
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
                const struct edge *e = &g->edges[g->next[n]];
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

static int waits_for_itself(const struct graph *g, uint32_t node)
{
    for (uint32_t e = g->edge_of[node]; e < g->edge_of[node + 1]; e++)
        if (g->edges[e].to == node)
            return 1;
    return 0;
}

/* Does anything in a component wait for something outside of it? */
static int escapes(const struct graph *g, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        uint32_t n = g->order[i];
        for (uint32_t e = g->edge_of[n]; e < g->edge_of[n + 1]; e++)
            if (g->component[g->edges[e].to] != g->component[n])
                return 1;
    }
    return 0;
}

/* ---- telling ------------------------------------------------------------- */

static struct hang *new_hang(struct graph *g, enum hang_kind kind, uint32_t *index)
{
    struct hang_watch *w = g->watch;
    if (w->hang_count == HANG_MOST)
        return NULL;
    *index = (uint32_t)w->hang_count++;
    struct hang *hang = &w->hangs[*index];
    memset(hang, 0, sizeof(*hang));
    hang->kind = kind;
    return hang;
}

/* Who is behind: g->named[0, count), in any order. */
static void set_behind(struct graph *g, struct hang *hang, uint32_t count)
{
    qsort(g->named, count, sizeof(*g->named), compare_ranks);
    hang->behind_count = count;
    rank_list(g->named, count, hang->ranks, sizeof(hang->ranks));
    for (uint32_t i = 0; i < count && i < HANG_NAMED; i++) {
        const struct hang_seat *s = seat_of(g, g->named[i]);
        hang->behind[i] = (struct hang_behind){.rank = g->named[i],
                                               .state = (enum hang_state)s->state,
                                               .for_ns = hang_state_ns(g->watch, s),
                                               .in_call = s->in_call,
                                               .peer = s->in_call_peer,
                                               .comm = hang_comm_of(s)};
    }
}

static uint64_t since(const struct graph *g, uint64_t waited_ns)
{
    return g->watch->end_ns > waited_ns ? g->watch->end_ns - waited_ns : 0;
}

/* Is a rank behind one for which nobody need wait longer? */
static int is_urgent(const struct graph *g, uint32_t rank, uint64_t waited_ns)
{
    const struct hang_seat *s = seat_of(g, rank);
    uint64_t least = g->watch->params.stopped_ns;
    switch ((enum hang_state)s->state) {
    case HANG_DEAD:
        return 1;
    case HANG_IS_STOPPED:
        return hang_state_ns(g->watch, s) >= least || waited_ns >= least;
    case HANG_FINISHED:
        return waited_ns >= least;
    default:
        return 0;
    }
}

static void tell_circle(struct graph *g, uint32_t from, uint32_t to)
{
    uint32_t index, count = 0;
    uint64_t longest = 0, comm = 0;
    uint32_t call = 0, waiter = 0;
    for (uint32_t i = from; i < to; i++) {
        uint32_t n = g->order[i];
        if (n >= g->watch->seat_count)
            continue;
        const struct hang_seat *s = seat_of(g, n);
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
    set_behind(g, hang, count);
    hang->since_ns = since(g, longest);
    hang->comm = comm;
    hang->call = call;
    hang->waiter = waiter;
    for (uint32_t i = from; i < to; i++)
        g->hang_of[g->order[i]] = index;
}

/* Deadlocks: components with more than one node, or with a node that waits for itself.
 * @param hard  as for find_components(); with all edges only those that nothing else explains */
static void tell_circles(struct graph *g, int hard)
{
    find_components(g, hard);
    for (uint32_t i = 0, to; i < g->nodes; i = to) {
        for (to = i + 1; to < g->nodes && g->component[g->order[to]] == g->component[g->order[i]];)
            to++;
        uint32_t n = g->order[i];
        if (g->hang_of[n] != HANG_NONE || (to == i + 1 && !waits_for_itself(g, n)))
            continue;
        if (hard || !escapes(g, i, to))
            tell_circle(g, i, to);
    }
}

static void fill_group(struct graph *g, struct hang *hang, const struct group *group)
{
    const struct hang_watch *w = g->watch;
    uint32_t at = hang_find_comm(w, group->comm);
    uint64_t size = at == KEY_NONE ? 0 : w->comm_seats[at].size + w->comm_seats[at].remote_size;
    hang->comm = group->comm;
    hang->call = group->call;
    hang->waiter = group->waiter;
    hang->operation = group->ordinal + 1;
    for (uint32_t i = 0; i < group->count; i++)
        if (seat_of(g, g->entries[group->first + i].rank)->uncounted)
            hang->operation = 0;
    hang->since_ns = since(g, group->longest_ns);
    hang->members = size > group->members ? size : group->members;
    hang->arrived = group->count;
}

/* Ranks that a group waits for and that do not wait themselves; urgent ones alone where the wait is
 * not long. Those that another hang is about are left out. @return how many are in g->named */
static uint32_t find_late(struct graph *g, const struct group *group, uint32_t *others)
{
    int is_long = group->longest_ns >= hang_threshold(g->watch, HANG_WAIT_COLLECTIVE);
    uint32_t count = 0, from = g->edge_of[g->watch->seat_count + (uint32_t)(group - g->groups)];
    uint32_t to = g->edge_of[g->watch->seat_count + (uint32_t)(group - g->groups) + 1];
    for (uint32_t e = from; e < to; e++) {
        uint32_t rank = g->edges[e].to;
        if (rank >= g->watch->seat_count || is_stuck(g, rank))
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

static void tell_group(struct graph *g, uint32_t n)
{
    const struct group *group = &g->groups[n];
    uint32_t index, node = g->watch->seat_count + n, others = HANG_NONE;
    if (group->longest_ns == 0 || g->hang_of[node] != HANG_NONE)
        return;
    uint32_t count = find_late(g, group, &others);
    if (count == 0) {
        g->hang_of[node] = others;
        return;
    }
    struct hang *hang = new_hang(g, HANG_COLLECTIVE, &index);
    if (hang == NULL)
        return;
    fill_group(g, hang, group);
    g->hang_of[node] = index;
    for (uint32_t i = 0; i < count; i++)
        g->hang_of[g->named[i]] = index;
    set_behind(g, hang, count);
}

/* Ranks of one communicator that are in different calls, though all have made as many before. */
static void tell_mismatch(struct graph *g, uint32_t n)
{
    const struct group *b = &g->groups[n], *a = b->rival == HANG_NONE ? b : &g->groups[b->rival];
    uint32_t index, count = 0;
    uint64_t longest = a->longest_ns > b->longest_ns ? a->longest_ns : b->longest_ns;
    if (a == b || a->longest_ns == 0 || b->longest_ns == 0 ||
        longest < hang_threshold(g->watch, HANG_WAIT_COLLECTIVE))
        return;
    const struct group *most = a->count >= b->count ? a : b, *few = most == a ? b : a;
    struct hang *hang = new_hang(g, HANG_MISMATCH, &index);
    if (hang == NULL)
        return;
    fill_group(g, hang, most);
    hang->since_ns = since(g, longest);
    for (uint32_t i = 0; i < few->count; i++)
        g->named[count++] = g->entries[few->first + i].rank;
    set_behind(g, hang, count);
    g->hang_of[g->watch->seat_count + (uint32_t)(a - g->groups)] = index;
    g->hang_of[g->watch->seat_count + (uint32_t)(b - g->groups)] = index;
}

/* Note of each rank that does not wait itself who waits longest for a message from it.
 * @param hard  1: those that wait for nothing else */
static void find_awaited(struct graph *g, int hard)
{
    for (uint32_t n = 0; n < g->watch->seat_count; n++) {
        uint64_t ns = seat_of(g, n)->in_call_ns;
        if (!is_stuck(g, n))
            continue;
        for (uint32_t e = g->edge_of[n]; e < g->edge_of[n + 1]; e++) {
            uint32_t to = g->edges[e].to;
            if (to >= g->watch->seat_count || is_stuck(g, to) || g->edges[e].hard != hard)
                continue;
            /* A message that may have come is no reason to blame a rank that goes on. */
            if (!hard &&
                (seat_of(g, to)->state == HANG_RUNS || seat_of(g, to)->state == HANG_IN_CALL))
                continue;
            if (ns > g->waited[to]) {
                g->waited[to] = ns;
                g->waiter[to] = n;
            }
        }
    }
}

/* Ranks of one state whose messages others wait for: one hang. */
static void tell_awaited(struct graph *g, enum hang_state state)
{
    uint32_t index, count = 0, longest = HANG_NONE;
    for (uint32_t r = 0; r < g->watch->seat_count; r++) {
        uint64_t ns = g->waited[r];
        if (ns == 0 || seat_of(g, r)->state != state || g->hang_of[r] != HANG_NONE)
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
    const struct hang_seat *waiter = seat_of(g, g->waiter[longest]);
    hang->comm = hang_comm_of(waiter);
    hang->call = waiter->in_call;
    hang->waiter = g->waiter[longest];
    hang->since_ns = since(g, g->waited[longest]);
    for (uint32_t i = 0; i < count; i++)
        g->hang_of[g->named[i]] = index;
    set_behind(g, hang, count);
}

static void tell_stopped(struct graph *g)
{
    uint32_t index, count = 0;
    uint64_t longest = 0;
    for (uint32_t r = 0; r < g->watch->seat_count; r++) {
        uint64_t ns = hang_state_ns(g->watch, seat_of(g, r));
        if (seat_of(g, r)->state != HANG_IS_STOPPED || g->hang_of[r] != HANG_NONE ||
            ns < g->watch->params.stopped_ns)
            continue;
        g->named[count++] = r;
        longest = ns > longest ? ns : longest;
    }
    struct hang *hang = count > 0 ? new_hang(g, HANG_STOPPED, &index) : NULL;
    if (hang == NULL)
        return;
    hang->since_ns = since(g, longest);
    for (uint32_t i = 0; i < count; i++)
        g->hang_of[g->named[i]] = index;
    set_behind(g, hang, count);
}

/* All who live wait, but for whom does not show; or all but some that are outside of MPI. */
static void tell_standstill(struct graph *g)
{
    struct hang_watch *w = g->watch;
    uint64_t longest = 0;
    uint32_t index, count = 0, waiter = HANG_NONE, waiting = 0;
    for (uint32_t r = 0; r < w->seat_count; r++) {
        const struct hang_seat *s = seat_of(g, r);
        uint64_t ns = hang_state_ns(w, s);
        if (s->state == HANG_DEAD || s->state == HANG_FINISHED)
            continue;
        if (s->state == HANG_OUTSIDE || s->state == HANG_POLLS) {
            if (ns < hang_threshold(w, HANG_WAIT_MESSAGE))
                return;
            g->named[count++] = r;
        } else if (!is_stuck(g, r) || ns < hang_threshold(w, hang_wait_of(s->in_call))) {
            return;
        } else {
            waiting++;
            if (ns > longest) {
                longest = ns;
                waiter = r;
            }
        }
    }
    if (waiter == HANG_NONE || count > waiting)
        return;
    struct hang *hang = new_hang(g, HANG_STANDSTILL, &index);
    if (hang == NULL)
        return;
    hang->call = seat_of(g, waiter)->in_call;
    hang->comm = hang_comm_of(seat_of(g, waiter));
    hang->waiter = waiter;
    hang->since_ns = since(g, longest);
    set_behind(g, hang, count);
    for (uint32_t r = 0; r < w->seat_count; r++)
        if (is_stuck(g, r))
            g->hang_of[r] = index;
}

/* A node belongs to the hang that what it waits for belongs to. */
static void spread(struct graph *g)
{
    find_components(g, 0);
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

static void count_waiting(struct graph *g)
{
    for (uint32_t r = 0; r < g->watch->seat_count; r++) {
        uint32_t at = g->hang_of[r];
        if (at == HANG_NONE)
            continue;
        struct hang *hang = &g->watch->hangs[at];
        hang->waiting += (uint64_t)is_stuck(g, r);
        if (is_stopping(hang))
            g->watch->seats[r].excused = 1;
    }
}

static int compare_hangs(const void *a, const void *b)
{
    const struct hang *x = a, *y = b;
    if (x->waiting != y->waiting)
        return x->waiting > y->waiting ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->comm != y->comm)
        return x->comm < y->comm ? -1 : 1;
    if (x->operation != y->operation)
        return x->operation < y->operation ? -1 : 1;
    return x->behind[0].rank < y->behind[0].rank ? -1 : x->behind[0].rank > y->behind[0].rank;
}

static void tell(struct graph *g)
{
    tell_circles(g, 1);
    for (uint32_t n = 0; n < g->group_count; n++)
        tell_mismatch(g, n);
    for (uint32_t n = 0; n < g->group_count; n++)
        tell_group(g, n);
    find_awaited(g, 1);
    find_awaited(g, 0);
    for (int state = 0; state <= HANG_UNHEARD; state++)
        tell_awaited(g, (enum hang_state)state);
    tell_stopped(g);
    tell_circles(g, 0);
    spread(g);
    if (g->watch->hang_count == 0)
        tell_standstill(g);
    count_waiting(g);
    qsort(g->watch->hangs, g->watch->hang_count, sizeof(*g->watch->hangs), compare_hangs);
}

/* ---- memory -------------------------------------------------------------- */

static void finish(struct graph *g)
{
    free(g->entries);
    free(g->absent);
    free(g->groups);
    free(g->group_of);
    free(g->edge_of);
    free(g->edges);
    free(g->component);
    free(g->hang_of);
    free(g->named);
    free(g->waited);
    free(g->completed);
}

static int allocate_ranks(struct graph *g)
{
    size_t ranks = (size_t)g->watch->seat_count + 1;
    g->entries = calloc(ranks, sizeof(*g->entries));
    g->groups = calloc(ranks, sizeof(*g->groups));
    g->group_of = malloc(ranks * sizeof(*g->group_of));
    g->named = calloc(2 * ranks, sizeof(*g->named));
    g->waited = calloc(ranks, sizeof(*g->waited));
    g->completed = calloc(ranks, sizeof(*g->completed));
    if (g->entries == NULL || g->groups == NULL || g->group_of == NULL || g->named == NULL ||
        g->waited == NULL || g->completed == NULL)
        return -ENOMEM;
    g->waiter = g->named + ranks;
    memset(g->group_of, 0xff, ranks * sizeof(*g->group_of));
    return 0;
}

static int allocate_nodes(struct graph *g)
{
    size_t nodes = (size_t)g->watch->seat_count + g->group_count;
    g->nodes = (uint32_t)nodes;
    g->edge_of = calloc(nodes + 1, sizeof(*g->edge_of));
    g->component = calloc(7 * nodes + 1, sizeof(*g->component));
    g->hang_of = malloc((nodes + 1) * sizeof(*g->hang_of));
    if (g->edge_of == NULL || g->component == NULL || g->hang_of == NULL)
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
    struct graph g = {.watch = watch};
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
        error = make_edges(&g);
    if (error == 0)
        tell(&g);
    finish(&g);
    return error;
}

/* Waits in sends, and for whom. */
#include "daemon/analysis/waits/waits.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/key_table.h"
#include "daemon/analysis/waits/rank_lateness.h"
#include "holter/call.h"
#include "holter/event.h"
#include "holter/waiting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
#define LEAST_SHARE 1024u                 /* of a window: shorter waits name nobody */
#define MAXIMUM_PAIRS (UINT32_C(1) << 22) /* that are remembered */
#define EARLY_WINDOWS 8u /* after which a send that was counted early is not matched any more */

/* State of a rank from window to window, and its sums in this one. */
struct waits_rank {
    uint64_t early_ns;      /* counted of sends in progress, and not matched yet */
    uint32_t early_windows; /* since it was last in progress */
    uint64_t before_ns;     /* that it waited without a break up to the window */
    uint32_t row;           /* of this window; NONE: none */
    uint32_t pending;       /* its first pending receive; NONE: none */
    uint64_t send_wait_ns[LOCALITIES], messages[LOCALITIES];
    uint64_t late_ns;   /* in collectives and fences: difference to the rank that comes last */
    uint32_t late_rank; /* that rank; NONE: none */
};

/* The rank of a communicator that spends least time in collectives and one-sided calls. */
struct waits_comm {
    uint64_t least_ns;
    uint32_t rank;        /* NONE: none yet */
    uint32_t in_progress; /* ranks are in a call on it: there may be some that have not called */
};

struct waits {
    struct waits_rank *ranks; /* owned; by rank */
    size_t rank_capacity;
    uint32_t rank_end;
    struct waits_row *rows; /* owned */
    size_t row_capacity;
    struct key_table pairs; /* hi: the rank that waits, lo: for whom */
    uint64_t *pair_ns;      /* owned; by number, of this window */
    uint64_t *flight_ns;    /* owned; likewise: for messages that had been sent */
    size_t pair_capacity;
    uint32_t flight_capacity;
    uint32_t *used; /* owned; pairs with a time in this window */
    size_t used_count, used_capacity;
    struct key_table comms; /* lo: id; of this window */
    struct waits_comm *comm_rows;
    size_t comm_capacity;
    struct rank_lateness *late; /* owned; by rank, of this window */
    size_t late_capacity;
    struct late_collectives collectives;
    uint32_t *next_pending; /* owned; of the same rank */
    size_t pending_capacity;
    const struct waits_window *window;
};

int waits_create(struct waits **out)
{
    struct waits *w = calloc(1, sizeof(*w));
    if (w == NULL)
        return -ENOMEM;
    *out = w;
    return 0;
}

void waits_destroy(struct waits *w)
{
    if (w == NULL)
        return;
    key_table_finish(&w->pairs);
    key_table_finish(&w->comms);
    free(w->ranks);
    free(w->rows);
    free(w->pair_ns);
    free(w->flight_ns);
    free(w->used);
    free(w->comm_rows);
    free(w->next_pending);
    free(w->late);
    late_collectives_finish(&w->collectives);
    free(w);
}

/* ---- who waits for whom -------------------------------------------------- */

/* The time of all waits for one rank, if it is long enough to count: messages may have a row each,
 * so that a single one says nothing. */
static uint64_t waits_counted(const struct waits *w, uint64_t ns)
{
    return ns < w->window->length_ns / LEAST_SHARE ? 0 : ns;
}

/* @param flight  0: for the partner; 1: for a message that it had sent */
static int waits_add_time(struct waits *w, uint32_t rank, uint64_t partner, uint64_t ns, int flight)
{
    if (ns == 0 || rank >= w->rank_end || partner >= w->rank_end || partner == rank)
        return 0;
    const struct key key = {.hi = rank, .lo = partner};
    uint32_t at = KEY_TABLE_EXTEND(&w->pairs, key, MAXIMUM_PAIRS, w->pair_ns, w->pair_capacity);
    if (at == KEY_NONE)
        return w->pairs.count >= MAXIMUM_PAIRS ? 0 : -ENOMEM;
    if (ARRAY_FIT_ZERO(w->flight_ns, w->flight_capacity, w->pairs.count) != 0 ||
        ARRAY_FIT(w->used, w->used_capacity, w->used_count + 1) != 0)
        return -ENOMEM;
    if (w->pair_ns[at] == 0 && w->flight_ns[at] == 0)
        w->used[w->used_count++] = at;
    *(flight ? &w->flight_ns[at] : &w->pair_ns[at]) += ns;
    return 0;
}

static int waits_add_pair(struct waits *w, uint32_t rank, uint64_t partner, uint64_t ns)
{
    return waits_add_time(w, rank, partner, ns, 0);
}

/* Row of the sender of a message. */
static uint64_t waits_sender_of(const struct waits_window *window, uint32_t number)
{
    if (window->group_of == NULL)
        return number;
    return number < window->node_count ? (uint64_t)window->group_of[number] << window->group_shift
                                       : UINT64_MAX;
}

static int waits_add_transfers(struct waits *w)
{
    int code = 0;
    for (size_t i = 0; i < w->window->transfers->count; i++) {
        const struct transfer *t = &w->window->transfers->rows[i];
        const uint64_t source = waits_sender_of(w->window, t->source);
        if (source >= w->rank_end)
            continue;
        struct waits_rank *sender = &w->ranks[source];
        sender->send_wait_ns[t->locality] += t->send_wait_ns;
        sender->messages[t->locality] += t->messages;
        if (w->window->group_of != NULL)
            continue;
        code = waits_add_pair(w, t->source, t->destination, t->send_wait_ns) != 0 ? -ENOMEM : code;
        code =
            waits_add_pair(w, t->destination, t->source, t->late_sender_ns) != 0 ? -ENOMEM : code;
        code = waits_add_time(w, t->destination, t->source, t->network_ns + t->joint_ns, 1) != 0
                   ? -ENOMEM
                   : code;
    }
    return code;
}

/* ---- calls in progress --------------------------------------------------- */

static int waits_is_pending(const struct waits *w, uint32_t rank, uint32_t source)
{
    for (uint32_t p = w->ranks[rank].pending; p != NONE; p = w->next_pending[p])
        if (w->window->pending[p].source < 0 || w->window->pending[p].source == (int64_t)source)
            return 1;
    return 0;
}

/* Time of this window in which a rank has been in a call in progress. */
static uint64_t waits_in_call(const struct waits *w, const struct wire_rank_row *row)
{
    return row->in_call_ns < w->window->length_ns ? row->in_call_ns : w->window->length_ns;
}

/* Time of this window in which the receiver of a send in progress has been in a call that may
 * receive it: its calls before have not. UINT64_MAX: nothing is known of it. */
static uint64_t waits_receiving(const struct waits *w, uint32_t receiver, uint32_t sender)
{
    if (receiver >= w->rank_end || w->ranks[receiver].row == NONE)
        return UINT64_MAX;
    const struct wire_rank_row *r = &w->window->ranks[w->ranks[receiver].row];
    switch (r->in_call == 0 ? CALL_OTHER : call_class_of((uint16_t)r->in_call)) {
    case CALL_RECV:
        return r->in_call == CALL_Recv && r->in_call_peer >= 0 && r->in_call_peer != (int64_t)sender
                   ? 0
                   : waits_in_call(w, r);
    case CALL_WAIT:
        return w->ranks[receiver].pending != NONE && !waits_is_pending(w, receiver, sender)
                   ? 0
                   : waits_in_call(w, r);
    case CALL_POLL: /* MPI_Test may have received it in any of its calls before */
        return r->in_call >= CALL_Iprobe && r->in_call <= CALL_Improbe ? waits_in_call(w, r)
                                                                       : UINT64_MAX;
    default:
        return 0;
    }
}

/* Time of this window in which a rank is seen to send to another one. */
static uint64_t waits_sending(const struct waits *w, int64_t source, uint64_t destination)
{
    if (source < 0 || source >= w->rank_end || w->ranks[source].row == NONE)
        return 0;
    const struct wire_rank_row *r = &w->window->ranks[w->ranks[source].row];
    const uint32_t call = (uint32_t)r->in_call;
    const int sends = call_is_blocking_send(call) || call_is_exchange(call);
    return sends && r->in_call_peer == (int64_t)destination ? waits_in_call(w, r) : 0;
}

/* A receive in progress is a wait for its sender until this sends. */
static int waits_add_pending(struct waits *w)
{
    const struct waits_window *window = w->window;
    int code = ARRAY_FIT(w->next_pending, w->pending_capacity, window->pending_count);
    if (code != 0)
        return code;
    for (uint32_t i = 0; i < window->pending_count; i++) {
        const struct wire_pending_row *p = &window->pending[i];
        if (p->rank >= w->rank_end)
            continue;
        w->next_pending[i] = w->ranks[p->rank].pending;
        w->ranks[p->rank].pending = i;
        uint64_t ns = p->waited_ns < window->length_ns ? p->waited_ns : window->length_ns;
        const uint64_t sent = waits_sending(w, p->source, p->rank);
        ns = ns > sent ? ns - sent : 0;
        if (p->source >= 0 && waits_add_pair(w, (uint32_t)p->rank, (uint64_t)p->source, ns) != 0)
            code = -ENOMEM;
    }
    return code;
}

/* Time of this window in a call in progress that sends, before the receiver came. */
static uint64_t waits_for_receiver(const struct waits *w, const struct wire_rank_row *row)
{
    if (row->in_call_peer < 0)
        return 0;
    const uint64_t sending = waits_in_call(w, row),
                   receiving = waits_receiving(w, (uint32_t)row->in_call_peer, (uint32_t)row->rank);
    return sending > receiving ? sending - receiving : 0;
}

/* The same of MPI_Sendrecv, as long as it is known to wait for nothing else: its source sends to
 * it, or there is none. */
static uint64_t waits_of_exchange(const struct waits *w, const struct wire_rank_row *row)
{
    const uint32_t pending = w->ranks[row->rank].pending;
    if (!call_is_exchange((uint32_t)row->in_call) || pending == NONE ||
        w->next_pending[pending] != NONE)
        return 0;
    const int64_t source = w->window->pending[pending].source;
    const uint64_t ns = waits_for_receiver(w, row), sent = waits_sending(w, source, row->rank);
    return source == PEER_NULL || ns < sent ? ns : sent;
}

/* ---- waits in sends ------------------------------------------------------ */

/* Waits of the matched messages of a rank: of those between nodes, as many more as were sent. */
static uint64_t waits_matched(const struct waits_rank *r, const struct wire_rank_row *row)
{
    uint64_t intra = r->send_wait_ns[LOCALITY_INTRA], inter = r->send_wait_ns[LOCALITY_INTER];
    uint64_t sampled = r->messages[LOCALITY_INTER];
    uint64_t sent =
        row->sent > r->messages[LOCALITY_INTRA] ? row->sent - r->messages[LOCALITY_INTRA] : 0;
    if (sampled == 0 || sent <= sampled)
        return intra + inter;
    double all = (double)inter * ((double)sent / (double)sampled);
    double maximum = (double)(row->send_ns > inter ? row->send_ns : inter);
    return intra + (uint64_t)(all < maximum ? all : maximum);
}

static int waits_fill_sends(struct waits *w)
{
    int code = 0;
    for (size_t i = 0; i < w->window->rank_count; i++) {
        const struct wire_rank_row *row = &w->window->ranks[i];
        struct waits_rank *r = &w->ranks[row->rank];
        uint64_t matched = waits_matched(r, row), now = 0;
        if (call_is_blocking_send((uint32_t)row->in_call))
            now = waits_for_receiver(w, row);
        uint64_t early = r->early_ns < matched ? r->early_ns : matched;
        r->early_ns -= early;
        r->early_windows = now > 0 ? 0 : r->early_windows + 1;
        if (r->early_windows > EARLY_WINDOWS)
            r->early_ns = 0;
        r->early_ns += now;
        w->rows[i].send_wait_ns = matched - early + now;
        now += waits_of_exchange(w, row); /* of MPI_Sendrecv all time counts as waiting anyway */
        if (now > 0 &&
            waits_add_pair(w, (uint32_t)row->rank, (uint64_t)row->in_call_peer, now) != 0)
            code = -ENOMEM;
    }
    return code;
}

/* ---- collectives --------------------------------------------------------- */

static struct waits_comm *waits_find_comm(struct waits *w, uint64_t id)
{
    uint32_t known = w->comms.count;
    uint32_t at = KEY_TABLE_EXTEND(&w->comms, (struct key){.lo = id}, UINT32_MAX, w->comm_rows,
                                   w->comm_capacity);
    if (at == KEY_NONE)
        return NULL;
    if (w->comms.count > known)
        w->comm_rows[at] = (struct waits_comm){.rank = NONE};
    return &w->comm_rows[at];
}

static uint64_t waits_collective_ns(const struct waits *w, uint32_t rank)
{
    const struct wire_rank_row *row = &w->window->ranks[w->ranks[rank].row];
    return row->collective_ns + row->one_sided_ns;
}

static void waits_compare_member(struct waits *w, struct waits_comm *comm, uint32_t rank)
{
    uint64_t ns = waits_collective_ns(w, rank);
    if (comm->rank == NONE || ns < comm->least_ns || (ns == comm->least_ns && rank < comm->rank)) {
        comm->least_ns = ns;
        comm->rank = rank;
    }
}

static void waits_compare_last(struct waits *w, const struct waits_comm *comm, uint32_t rank)
{
    struct waits_rank *r = &w->ranks[rank];
    uint64_t ns = waits_collective_ns(w, rank);
    uint64_t late = ns > comm->least_ns ? ns - comm->least_ns : 0;
    if (late > r->late_ns || (late == r->late_ns && late > 0 && comm->rank < r->late_rank)) {
        r->late_ns = late;
        r->late_rank = comm->rank;
    }
}

/* Fences and the making of RMA windows are collective, too. */
static int waits_is_collective(uint32_t call)
{
    const enum call_class class_ = call_class_of((uint16_t)call);
    return class_ == CALL_COLLECTIVE || (class_ == CALL_ONE_SIDED && hang_counts(call));
}

/* Goes through the members of communicators that make collectives.
 * @param last  0: find the rank of each that comes last; 1: compare the others with that */
static int waits_visit_members(struct waits *w, int last)
{
    const struct waits_window *window = w->window;
    for (size_t i = 0; i < window->call_count + window->rank_count; i++) {
        const struct hang_calls *c = i < window->call_count ? &window->calls[i] : NULL;
        const struct wire_rank_row *row = c == NULL ? &window->ranks[i - window->call_count] : NULL;
        uint32_t rank = c != NULL ? c->rank : (uint32_t)row->rank;
        uint32_t call = c != NULL ? c->call : (uint32_t)row->in_call;
        uint64_t id = c != NULL ? c->comm : row->in_call_comm;
        if (call == 0 || id == 0 || rank >= w->rank_end || w->ranks[rank].row == NONE ||
            !waits_is_collective(call))
            continue;
        struct waits_comm *comm = waits_find_comm(w, id);
        if (comm == NULL)
            return -ENOMEM;
        comm->in_progress |= row != NULL;
        if (last)
            waits_compare_last(w, comm, rank);
        else
            waits_compare_member(w, comm, rank);
    }
    return 0;
}

/* All ranks are members of the world, also those that have called nothing on it. */
static void waits_compare_all(struct waits *w, struct waits_comm *comm)
{
    for (size_t i = 0; i < w->window->rank_count; i++)
        waits_compare_member(w, comm, (uint32_t)w->window->ranks[i].rank);
}

/* Members that have called nothing on it in this window. */
static void waits_compare_known(struct waits *w, struct waits_comm *comm, uint64_t id)
{
    for (uint32_t at = 0, rank; hang_next_member(w->window->members, id, &at, &rank);)
        if (rank < w->rank_end && w->ranks[rank].row != NONE)
            waits_compare_member(w, comm, rank);
}

static int waits_add_collectives(struct waits *w)
{
    key_table_clear(&w->comms);
    if (waits_visit_members(w, 0) != 0)
        return -ENOMEM;
    const uint32_t world = key_table_find(&w->comms, (struct key){.lo = HANG_WORLD});
    if (world != KEY_NONE)
        waits_compare_all(w, &w->comm_rows[world]);
    for (size_t i = 0; i < w->window->comm_count; i++) {
        const struct wire_comm_row *row = &w->window->comms[i];
        const uint32_t at = key_table_find(&w->comms, (struct key){.lo = row->id});
        if (at == KEY_NONE || at == world || !w->comm_rows[at].in_progress || row->remote_size != 0)
            continue;
        if (row->size == w->window->world)
            waits_compare_all(w, &w->comm_rows[at]);
        else
            waits_compare_known(w, &w->comm_rows[at], row->id);
    }
    int code = waits_visit_members(w, 1);
    for (size_t i = 0; i < w->window->rank_count; i++) {
        uint32_t rank = (uint32_t)w->window->ranks[i].rank;
        if (waits_add_pair(w, rank, w->ranks[rank].late_rank, w->ranks[rank].late_ns) != 0)
            code = -ENOMEM;
    }
    return code;
}

/* ---- lateness ------------------------------------------------------------ */

static uint64_t waits_find_waiting(const struct waits *w, uint32_t rank)
{
    struct wire_rank_row row = w->window->ranks[w->ranks[rank].row];
    row.send_wait_ns = w->rows[w->ranks[rank].row].send_wait_ns;
    return WAITING_NS(&row);
}

/* No wait for one rank is longer than all of the waiting of a rank. */
static void waits_add_lateness_of_pair(struct waits *w, uint32_t pair)
{
    uint32_t rank = (uint32_t)w->pairs.keys[pair].hi, partner = (uint32_t)w->pairs.keys[pair].lo;
    if (w->ranks[rank].row == NONE)
        return;
    uint64_t waiting = waits_find_waiting(w, rank), ns = waits_counted(w, w->pair_ns[pair]);
    uint64_t flight = ns + waits_counted(w, w->flight_ns[pair]);
    rank_lateness_add_wait(&w->late[rank], &w->late[partner], ns < waiting ? ns : waiting);
    rank_lateness_add_flight(&w->late[rank], flight < waiting ? flight : waiting);
}

/* Is it a call that ends when another rank has done its part? */
static int waits_for_another(uint32_t call)
{
    const enum call_class class_ = call == 0 ? CALL_OTHER : call_class_of((uint16_t)call);
    return class_ == CALL_RECV || class_ == CALL_WAIT || class_ == CALL_COLLECTIVE ||
           call == CALL_Finalize || call_is_blocking_send(call);
}

/* Whoever a rank waits for in its call in progress, it waits. */
static void waits_add_lateness_in_progress(struct waits *w)
{
    for (size_t i = 0; i < w->window->rank_count; i++) {
        const struct wire_rank_row *row = &w->window->ranks[i];
        if (waits_for_another((uint32_t)row->in_call) &&
            !hang_works_beside(row, w->window->length_ns))
            rank_lateness_add_flight(&w->late[row->rank], waits_in_call(w, row));
    }
}

/* How late a rank is to a collective that lasts longer than the window is known at its end: what
 * the rank has waited in the windows before is part of it. */
static void waits_judge_lateness(struct waits *w, size_t number)
{
    const uint64_t length_ns = w->window->length_ns;
    const uint64_t rank = w->window->ranks[number].rank;
    struct rank_lateness late = w->late[rank];
    uint64_t *before = &w->ranks[rank].before_ns;
    const uint64_t now = late.waited_ns;
    late.waited_ns += late.late_ns > length_ns ? *before : 0;
    *before = now + (now >= length_ns - length_ns / 8 ? *before : 0);
    w->rows[number].late_ns = late.late_ns;
    w->rows[number].caused_ns = rank_lateness_caused_ns(&late);
}

/* Before collectives are added to the pairs, of which they name the last rank only. */
static int waits_add_lateness(struct waits *w)
{
    for (size_t i = 0; i < w->used_count; i++)
        waits_add_lateness_of_pair(w, w->used[i]);
    waits_add_lateness_in_progress(w);
    int code = rank_lateness_add_collectives(&w->collectives, w->window->calls,
                                             w->window->call_count, w->late, w->rank_end);
    for (size_t i = 0; i < w->window->rank_count; i++)
        waits_judge_lateness(w, i);
    return code;
}

/* ---- windows ------------------------------------------------------------- */

static int waits_begin(struct waits *w, const struct waits_window *window)
{
    uint32_t end =
        window->rank_count == 0 ? 0 : (uint32_t)window->ranks[window->rank_count - 1].rank + 1;
    w->window = window;
    w->used_count = 0;
    if (w->pairs.count >= MAXIMUM_PAIRS) /* they have no times between windows */
        key_table_clear(&w->pairs);
    size_t known = w->rank_capacity;
    if (ARRAY_FIT(w->ranks, w->rank_capacity, end) != 0 ||
        ARRAY_FIT(w->rows, w->row_capacity, window->rank_count) != 0 ||
        ARRAY_FIT(w->late, w->late_capacity, end) != 0)
        return -ENOMEM;
    if (end > 0)
        memset(w->late, 0, end * sizeof(*w->late));
    if (w->rank_capacity > known)
        memset(w->ranks + known, 0, (w->rank_capacity - known) * sizeof(*w->ranks));
    w->rank_end = end;
    for (uint32_t r = 0; r < end; r++) {
        struct waits_rank *rank = &w->ranks[r];
        *rank = (struct waits_rank){.early_ns = rank->early_ns,
                                    .early_windows = rank->early_windows,
                                    .before_ns = rank->before_ns,
                                    .row = NONE,
                                    .pending = NONE,
                                    .late_rank = NONE};
    }
    for (size_t i = 0; i < window->rank_count; i++) {
        w->rows[i] = (struct waits_row){0};
        w->ranks[window->ranks[i].rank].row = (uint32_t)i;
    }
    return 0;
}

/* Of equal times the lower rank. */
static void waits_find_longest(struct waits *w)
{
    for (size_t i = 0; i < w->used_count; i++) {
        uint32_t at = w->used[i], rank = (uint32_t)w->pairs.keys[at].hi;
        uint32_t partner = (uint32_t)w->pairs.keys[at].lo;
        uint64_t ns = waits_counted(w, w->pair_ns[at]);
        ns = ns < w->window->length_ns ? ns : w->window->length_ns;
        w->pair_ns[at] = w->flight_ns[at] = 0;
        if (ns == 0 || w->ranks[rank].row == NONE)
            continue;
        struct waits_row *row = &w->rows[w->ranks[rank].row];
        if (ns > row->awaited_ns || (ns == row->awaited_ns && partner + 1 < row->awaited)) {
            row->awaited_ns = ns;
            row->awaited = partner + 1;
        }
    }
}

int waits_update(struct waits *w, const struct waits_window *window)
{
    int code = waits_begin(w, window);
    if (code != 0)
        return code;
    int (*const steps[])(struct waits *) = {waits_add_transfers, waits_add_pending,
                                            waits_fill_sends, waits_add_lateness,
                                            waits_add_collectives};
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        int failed = steps[i](w);
        code = failed != 0 ? failed : code;
    }
    waits_find_longest(w);
    w->window = NULL;
    return code;
}

const struct waits_row *waits_rows(const struct waits *w)
{
    return w->rows;
}

void waits_copy_state(struct state_bytes *b, struct waits **out)
{
    if (!STATE_OBJECT(b, *out))
        return;
    struct waits *w = *out;
    if (b->reads)
        w->collectives = (struct late_collectives){.capacity = 0};
    STATE_ARRAY(b, w->ranks, w->rank_capacity, w->rank_capacity);
    STATE_NO_ARRAY(b, w->rows, w->row_capacity);
    key_table_copy_state(b, &w->pairs);
    STATE_ARRAY(b, w->pair_ns, w->pairs.count, w->pair_capacity);
    STATE_ARRAY(b, w->flight_ns, w->flight_capacity, w->flight_capacity);
    STATE_ARRAY(b, w->used, w->used_count, w->used_capacity);
    key_table_copy_state(b, &w->comms);
    STATE_ARRAY(b, w->comm_rows, w->comms.count, w->comm_capacity);
    STATE_ARRAY(b, w->late, w->rank_end, w->late_capacity);
    STATE_NO_ARRAY(b, w->next_pending, w->pending_capacity);
    STATE_NO_POINTER(b, w->window);
}

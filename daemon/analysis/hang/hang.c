/* Hangs: reads windows, stores what each rank does, and reports which ranks wait, since when and
 * for whom. */
#include "daemon/analysis/hang/hang.h"

#include "daemon/analysis/hang/hang_watch.h"
#include "daemon/analysis/tables/array.h"
#include "holter/call.h"
#include "holter/event.h"
#include "holter/waiting.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define SECOND_NS UINT64_C(1000000000)
/* A rank without a row in this many windows sends no records: its agent is gone, or it has ended.
 */
#define UNHEARD_WINDOWS 3u

/* Blocking calls of the class io that are collective over the file's communicator. */
static int is_collective_io(uint32_t call)
{
    switch (call) {
    case CALL_File_open:
    case CALL_File_close:
    case CALL_File_set_size:
    case CALL_File_preallocate:
    case CALL_File_set_view:
    case CALL_File_set_atomicity:
    case CALL_File_seek_shared:
    case CALL_File_sync:
    case CALL_File_read_at_all:
    case CALL_File_write_at_all:
    case CALL_File_read_all:
    case CALL_File_write_all:
    case CALL_File_read_ordered:
    case CALL_File_write_ordered:
        return 1;
    default:
        return 0;
    }
}

/* Calls of the classes one-sided and other that all members make in the same order. Not those that
 * free a communicator or a window: the probe forgets it when the call begins, and an identifier
 * that another one has taken over would be counted. */
static int is_collective_other(uint32_t call)
{
    switch (call) {
    case CALL_Win_create:
    case CALL_Win_allocate:
    case CALL_Win_allocate_shared:
    case CALL_Win_create_dynamic:
    case CALL_Win_fence:
    case CALL_Comm_dup:
    case CALL_Comm_dup_with_info:
    case CALL_Comm_create:
    case CALL_Comm_split:
    case CALL_Comm_split_type:
    case CALL_Intercomm_merge:
    case CALL_Cart_create:
    case CALL_Cart_sub:
    case CALL_Graph_create:
    case CALL_Dist_graph_create:
    case CALL_Dist_graph_create_adjacent:
        return 1;
    default:
        return 0;
    }
}

int hang_counts(uint32_t call)
{
    if (call >= CALL_Barrier && call <= CALL_Ineighbor_alltoallw)
        return 1; /* the class collective; creating a persistent collective is collective as well */
    return is_collective_io(call) || is_collective_other(call) || call == CALL_Finalize;
}

/* Calls that end when others have done their part, whose numbers or communicators are not known.
 * Not those that may wait for another program, such as MPI_Comm_disconnect. */
static int hang_waits_unknown(uint32_t call)
{
    switch (call) {
    case CALL_Win_free:
    case CALL_Win_start:
    case CALL_Win_complete:
    case CALL_Win_wait:
    case CALL_Win_lock:
    case CALL_Win_unlock:
    case CALL_Win_lock_all:
    case CALL_Win_unlock_all:
    case CALL_Win_flush:
    case CALL_Win_flush_all:
    case CALL_Win_flush_local:
    case CALL_Win_flush_local_all:
    case CALL_Comm_create_group:
    case CALL_Intercomm_create:
        return 1;
    default:
        return 0;
    }
}

enum hang_wait hang_wait_of(uint32_t call)
{
    switch (call) {
    case CALL_Send:
    case CALL_Ssend:
    case CALL_Rsend:
    case CALL_Bsend:
    case CALL_Recv:
    case CALL_Sendrecv:
    case CALL_Sendrecv_replace:
    case CALL_Probe:
    case CALL_Mprobe:
    case CALL_Mrecv:
    case CALL_Wait:
    case CALL_Waitany:
    case CALL_Waitall:
    case CALL_Waitsome:
        return HANG_WAIT_MESSAGE;
    default:
        return hang_counts(call)          ? HANG_WAIT_COLLECTIVE
               : hang_waits_unknown(call) ? HANG_WAIT_UNKNOWN
                                          : HANG_WAITS;
    }
}

int64_t hang_source_of(const struct hang_watch *watch, const struct hang_seat *seat)
{
    const uint32_t first = seat->pending;
    return first == HANG_NONE || watch->pending_next[first] != HANG_NONE
               ? PEER_UNKNOWN
               : watch->pending[first].source;
}

uint64_t hang_comm_of(const struct hang_seat *seat)
{
    return seat->in_call == CALL_Finalize ? HANG_WORLD : seat->in_call_comm;
}

void hang_set_params(struct hang_watch *watch, const struct hang_params *params)
{
    struct hang_params *p = &watch->params;
    *p = params != NULL ? *params : (struct hang_params){0};
    p->for_ns = p->for_ns ? p->for_ns : 10 * SECOND_NS;
    p->stopped_ns = p->stopped_ns ? p->stopped_ns : 3 * SECOND_NS;
    p->times_longest = p->times_longest > 0 ? p->times_longest : 5;
    p->most_ns = p->most_ns ? p->most_ns : 1800 * SECOND_NS;
    p->ranks = p->ranks ? p->ranks : UINT32_C(1) << 20;
    p->memberships = p->memberships ? p->memberships : UINT32_C(1) << 24;
    watch->zone[0] = '\0';
    if (p->zone != NULL)
        snprintf(watch->zone, sizeof(watch->zone), " %s", p->zone);
    p->zone = watch->zone;
}

int hang_create(struct hang_watch **out, const struct hang_params *params)
{
    struct hang_watch *w = calloc(1, sizeof(*w));
    if (w == NULL)
        return -ENOMEM;
    w->hangs = calloc(HANG_MAXIMUM, sizeof(*w->hangs));
    w->before = calloc(HANG_MAXIMUM, sizeof(*w->before));
    if (w->hangs == NULL || w->before == NULL) {
        free(w->hangs);
        free(w->before);
        free(w);
        return -ENOMEM;
    }
    hang_set_params(w, params);
    w->member_last = KEY_NONE;
    *out = w;
    return 0;
}

void hang_destroy(struct hang_watch *watch)
{
    if (watch == NULL)
        return;
    key_table_finish(&watch->members);
    key_table_finish(&watch->comms);
    free(watch->seats);
    free(watch->member_seats);
    free(watch->comm_seats);
    free(watch->pending);
    free(watch->pending_next);
    free(watch->hangs);
    free(watch->before);
    free(watch);
}

uint32_t hang_find_comm(const struct hang_watch *watch, uint64_t id)
{
    return key_table_find(&watch->comms, (struct key){.lo = id});
}

int hang_comm_is_world(const struct hang_watch *watch, uint64_t id)
{
    if (id == HANG_WORLD)
        return 1;
    uint32_t at = hang_find_comm(watch, id);
    return at != KEY_NONE && watch->comm_seats[at].remote_size == 0 &&
           watch->comm_seats[at].size == watch->world && watch->world != 0;
}

uint64_t hang_threshold(const struct hang_watch *watch, enum hang_wait wait)
{
    double learned = watch->params.times_longest * (double)watch->longest[wait];
    if (learned >= (double)watch->params.most_ns)
        return watch->params.most_ns > watch->params.for_ns ? watch->params.most_ns
                                                            : watch->params.for_ns;
    return learned > (double)watch->params.for_ns ? (uint64_t)learned : watch->params.for_ns;
}

uint64_t hang_state_ns(const struct hang_watch *watch, const struct hang_seat *seat)
{
    uint64_t since = watch->end_ns;
    switch ((enum hang_state)seat->state) {
    case HANG_IN_CALL:
        return seat->in_call_ns;
    case HANG_IS_STOPPED:
        since = seat->stopped_ns;
        break;
    case HANG_DEAD:
    case HANG_FINISHED:
        since = seat->ended_ns;
        break;
    case HANG_POLLS:
        since = seat->moved_ns;
        break;
    case HANG_OUTSIDE:
    case HANG_NO_RECORD:
        since = seat->active_ns;
        break;
    case HANG_RUNS:
        break;
    }
    return watch->end_ns > since ? watch->end_ns - since : 0;
}

/* Shorter waits are no part of a hang. */
static uint64_t hang_shortest_wait(const struct hang_watch *watch)
{
    const uint64_t minimum = watch->params.stopped_ns < watch->params.for_ns
                                 ? watch->params.stopped_ns / 4
                                 : watch->params.for_ns / 4;
    return minimum < watch->length_ns ? watch->length_ns : minimum;
}

int hang_waits_long(const struct hang_watch *watch, const struct hang_seat *seat)
{
    return seat->state == HANG_IN_CALL && seat->in_call_ns >= hang_shortest_wait(watch) &&
           hang_wait_of(seat->in_call) != HANG_WAITS;
}

/* Whether it has polled all the time for so long. */
static int hang_polls_long(const struct hang_watch *watch, const struct hang_seat *seat)
{
    return seat->state == HANG_POLLS &&
           watch->end_ns - seat->polled_ns >= hang_shortest_wait(watch);
}

int hang_is_stuck(const struct hang_watch *watch, const struct hang_seat *seat)
{
    return hang_waits_long(watch, seat) && hang_wait_of(seat->in_call) != HANG_WAIT_UNKNOWN;
}

int hang_is_suspect(const struct hang_watch *watch, const struct hang_seat *seat)
{
    return seat->state == HANG_IS_STOPPED || hang_waits_long(watch, seat) ||
           hang_polls_long(watch, seat);
}

/* ---- taking in a window -------------------------------------------------- */

/* Allocates the state of all ranks below count, within the limit. */
static int grow_seats(struct hang_watch *w, uint64_t count)
{
    if (count > w->params.ranks)
        count = w->params.ranks;
    if (count <= w->seat_count)
        return 0;
    if (ARRAY_FIT_ZERO(w->seats, w->seat_capacity, count) != 0)
        return -ENOMEM;
    for (uint32_t i = w->seat_count; i < count; i++)
        w->seats[i] = (struct hang_seat){.state = HANG_NO_RECORD,
                                         .pending = HANG_NONE,
                                         .in_call_peer = -1,
                                         .active_ns = w->end_ns,
                                         .moved_ns = w->end_ns,
                                         .polled_ns = w->end_ns};
    w->seat_count = (uint32_t)count;
    return 0;
}

static int hang_add_comm(struct hang_watch *w, uint64_t id, uint32_t *at)
{
    uint32_t known = w->comms.count;
    *at = KEY_TABLE_EXTEND(&w->comms, (struct key){.lo = id}, UINT32_MAX, w->comm_seats,
                           w->comm_capacity);
    if (*at == KEY_NONE)
        return -ENOMEM;
    if (w->comms.count > known)
        w->comm_seats[*at] = (struct hang_comm_seat){.first = HANG_NONE};
    return 0;
}

/* Finds a member by search, or adds it. */
static int find_member(struct hang_watch *w, uint64_t comm, uint32_t rank, uint32_t *out)
{
    uint32_t known = w->members.count, at, comm_at;
    struct key key = {.hi = comm, .lo = rank};
    int error = key_table_reserve(&w->members, 1);
    if (error == 0)
        error = ARRAY_FIT_AT(w->member_seats, w->member_capacity, known);
    if (error == 0)
        error = hang_add_comm(w, comm, &comm_at);
    if (error)
        return error;
    if (known >= w->params.memberships) {
        *out = key_table_find(&w->members, key);
        return 0;
    }
    at = key_table_number_after(&w->members, key, w->member_last);
    w->member_last = at;
    if (w->members.count > known) {
        w->member_seats[at] =
            (struct hang_member){.rank = rank, .next = w->comm_seats[comm_at].first};
        w->comm_seats[comm_at].first = at;
        w->comm_seats[comm_at].members++;
    }
    *out = at;
    return 0;
}

/* The member's number; KEY_NONE when the limit is reached. */
static inline int add_member(struct hang_watch *w, uint64_t comm, uint32_t rank, uint32_t *out)
{
    *out = key_table_find_after(&w->members, (struct key){.hi = comm, .lo = rank}, w->member_last);
    if (*out == KEY_NONE)
        return find_member(w, comm, rank, out);
    w->member_last = *out;
    return 0;
}

static int hang_apply_comms(struct hang_watch *w, const struct hang_window *window)
{
    for (size_t i = 0; i < window->comm_count; i++) {
        const struct wire_comm_row *c = &window->comms[i];
        uint32_t at;
        if (c->id == 0)
            continue;
        int error = hang_add_comm(w, c->id, &at);
        if (error)
            return error;
        w->comm_seats[at].size = c->size;
        w->comm_seats[at].remote_size = c->remote_size;
        if (c->name != NULL && c->name[0] != '\0')
            snprintf(w->comm_seats[at].name, sizeof(w->comm_seats[at].name), "%s", c->name);
    }
    return 0;
}

/* Learns from a wait that ended by itself how long waits of its kind are in this job. */
static inline void hang_learn(struct hang_watch *w, const struct hang_seat *seat, uint32_t call,
                              enum hang_wait wait, uint64_t ns)
{
    /* Most waits are not the longest: the rank's state is read only for those that are. */
    if (wait != HANG_WAITS && ns > w->ended[wait] && call != CALL_Finalize && !seat->excused)
        w->ended[wait] = ns;
}

/* A hang is none the less because another one has ended. */
static void hang_raise_thresholds(struct hang_watch *w)
{
    for (int wait = 0; wait < HANG_WAITS && w->hang_count == 0; wait++) {
        if (w->ended[wait] > w->longest[wait])
            w->longest[wait] = w->ended[wait];
    }
}

static int hang_apply_calls(struct hang_watch *w, const struct hang_window *window)
{
    uint32_t call = 0; /* call of the previous row */
    int counts = hang_counts(call);
    enum hang_wait wait = hang_wait_of(call);
    for (size_t i = 0; i < window->call_count; i++) {
        const struct hang_calls *c = &window->calls[i];
        uint64_t comm = c->call == CALL_Finalize ? HANG_WORLD : c->comm;
        uint32_t at;
        if (c->call != call) {
            call = c->call;
            counts = hang_counts(call);
            wait = hang_wait_of(call);
        }
        if (c->rank >= w->seat_count || c->calls == 0)
            continue;
        struct hang_seat *seat = &w->seats[c->rank];
        hang_learn(w, seat, call, wait, c->longest_ns);
        if (c->call == CALL_Finalize && !seat->finished) {
            seat->finished = 1;
            seat->ended_ns = w->end_ns;
        }
        if (comm == 0)
            continue;
        int error = add_member(w, comm, c->rank, &at);
        if (error)
            return error;
        if (at != KEY_NONE && counts)
            w->member_seats[at].completed += c->calls;
    }
    return 0;
}

static int hang_apply_pending(struct hang_watch *w, const struct hang_window *window)
{
    uint32_t capacity = w->pending_capacity;
    for (uint32_t i = 0; i < w->pending_count; i++)
        w->seats[w->pending[i].rank].pending = HANG_NONE;
    w->pending_count = 0;
    if (ARRAY_FIT_ZERO(w->pending, capacity, window->pending_count) != 0 ||
        ARRAY_FIT_ZERO(w->pending_next, w->pending_capacity, window->pending_count) != 0)
        return -ENOMEM;
    for (size_t i = 0; i < window->pending_count; i++) {
        const struct wire_pending_row *p = &window->pending[i];
        if (p->rank >= w->seat_count)
            continue;
        uint32_t at = w->pending_count++;
        w->pending[at] = *p;
        w->pending_next[at] = w->seats[p->rank].pending;
        w->seats[p->rank].pending = at;
    }
    return 0;
}

static int call_is_poll(uint32_t call)
{
    return (call >= CALL_Iprobe && call <= CALL_Parrived) ||
           (call >= CALL_Test && call <= CALL_Request_get_status);
}

static int is_stop(uint32_t letter)
{
    return letter == 'T' || letter == 't';
}

/* Whether the rank has made calls other than polls that found nothing. */
static inline int has_called(const struct wire_rank_row *row)
{
    return row->calls > row->polls;
}

/* Updates the rank's times by what its row reports of the time since the previous window. */
static void hang_read_times(struct hang_watch *w, struct hang_seat *seat,
                            const struct wire_rank_row *row)
{
    int new_call = row->in_call != 0 && row->in_call_ns < w->length_ns;
    if (row->calls > 0 || new_call || row->in_call != 0 || seat->heard == 0)
        seat->active_ns = w->end_ns;
    if (has_called(row) || seat->heard == 0 ||
        (new_call && hang_wait_of((uint32_t)row->in_call) != HANG_WAITS))
        seat->moved_ns = w->end_ns;
    if (is_stop((uint32_t)row->process_state) && seat->stopped_ns == 0)
        seat->stopped_ns = w->end_ns > w->length_ns ? w->end_ns - w->length_ns : 1;
    else if (!is_stop((uint32_t)row->process_state))
        seat->stopped_ns = 0;
}

/* A rank that polls for most of a window waits. One that looks for messages beside its work does
 * not. Learns from polling that ended. */
static void hang_read_polls(struct hang_watch *w, struct hang_seat *seat,
                            const struct wire_rank_row *row)
{
    const uint64_t begin_ns = w->end_ns - w->length_ns;
    if (seat->heard == 0 || w->window - seat->heard > 1)
        seat->polled_ns = begin_ns; /* what it did before is not known */
    if (seat->state == HANG_POLLS && MPI_NS(row) >= w->length_ns / 2)
        return;
    if (begin_ns > seat->polled_ns)
        hang_learn(w, seat, 0, HANG_WAIT_POLL, begin_ns - seat->polled_ns);
    seat->polled_ns = w->end_ns;
}

int hang_works_beside(const struct wire_rank_row *row, uint64_t length_ns)
{
    return row->threads > 1 && row->in_call_ns >= length_ns && has_called(row);
}

static enum hang_state hang_state_of(const struct hang_watch *w, const struct hang_seat *seat,
                                     const struct wire_rank_row *row)
{
    if (seat->dead)
        return HANG_DEAD;
    if (seat->finished)
        return HANG_FINISHED;
    if (seat->stopped_ns != 0)
        return HANG_IS_STOPPED;
    if (row->in_call != 0 && call_is_poll((uint32_t)row->in_call))
        return has_called(row) ? HANG_RUNS : HANG_POLLS;
    if (row->in_call != 0 && !hang_works_beside(row, w->length_ns))
        return HANG_IN_CALL;
    if (has_called(row))
        return HANG_RUNS;
    return row->calls > 0 ? HANG_POLLS : HANG_OUTSIDE;
}

/* Of several threads one may serve requests: its call is not what the rank does. */
static struct wire_rank_row hang_row_of(const struct wire_rank_row *reported)
{
    struct wire_rank_row row = *reported;
    if (row.threads > 1 && call_serves_any((uint32_t)row.in_call, row.in_call_peer)) {
        row.in_call = row.in_call_ns = row.in_call_comm = 0;
        row.in_call_peer = PEER_NONE;
    }
    return row;
}

/* A rank with a call in progress is a member of its communicator, too. */
static int hang_apply_rank(struct hang_watch *w, const struct wire_rank_row *row)
{
    struct hang_seat *seat = &w->seats[row->rank];
    uint32_t at;
    if (seat->heard == w->window && row->in_call_ns <= seat->in_call_ns)
        return 0;
    if (seat->state == HANG_IN_CALL &&
        (row->in_call != seat->in_call || row->in_call_ns < seat->in_call_ns))
        hang_learn(w, seat, seat->in_call, hang_wait_of(seat->in_call), seat->in_call_ns);
    if (has_called(row))
        seat->excused = 0;
    if (row->lost > 0)
        seat->uncounted = 1;
    hang_read_times(w, seat, row);
    w->seats_heard += seat->heard != w->window;
    seat->state = (uint8_t)hang_state_of(w, seat, row);
    hang_read_polls(w, seat, row);
    seat->heard = w->window;
    seat->in_call = (uint32_t)row->in_call;
    seat->in_call_ns = row->in_call_ns;
    seat->in_call_comm = row->in_call_comm;
    seat->in_call_peer = row->in_call_peer;
    w->suspected |= hang_is_suspect(w, seat);
    if (row->in_call == 0 || hang_comm_of(seat) == 0)
        return 0;
    return add_member(w, hang_comm_of(seat), (uint32_t)row->rank, &at);
}

/* Updates ranks that have no row: they ended, or their agent is silent. */
static void hang_settle(struct hang_watch *w)
{
    for (uint32_t i = 0; w->seats_heard < w->seat_count && i < w->seat_count; i++) {
        struct hang_seat *seat = &w->seats[i];
        if (seat->dead)
            seat->state = HANG_DEAD;
        else if (seat->finished)
            seat->state = HANG_FINISHED;
        else if (seat->heard == 0 || w->window - seat->heard >= UNHEARD_WINDOWS)
            seat->state = HANG_NO_RECORD;
    }
}

static void hang_apply_dead(struct hang_watch *w, const struct hang_window *window)
{
    for (size_t i = 0; i < window->dead_count; i++) {
        uint32_t rank = window->dead[i];
        if (rank >= w->seat_count || w->seats[rank].dead)
            continue;
        w->seats[rank].dead = 1;
        w->seats[rank].state = HANG_DEAD;
        w->seats[rank].ended_ns = w->end_ns;
    }
}

/* ---- episodes ------------------------------------------------------------ */

static int share_a_rank(const struct hang *a, const struct hang *b)
{
    size_t na = a->behind_count < HANG_NAMED ? a->behind_count : HANG_NAMED;
    size_t nb = b->behind_count < HANG_NAMED ? b->behind_count : HANG_NAMED;
    for (size_t i = 0, j = 0; i < na && j < nb;) {
        if (a->behind[i].rank == b->behind[j].rank)
            return 1;
        if (a->behind[i].rank < b->behind[j].rank)
            i++;
        else
            j++;
    }
    return 0;
}

static int hang_is_same(const struct hang *a, const struct hang *b)
{
    if (a->operation != 0 && a->comm == b->comm && a->operation == b->operation)
        return 1;
    if (a->behind_count == 0 && b->behind_count == 0)
        return a->kind == b->kind && a->comm == b->comm;
    return share_a_rank(a, b);
}

static void hang_identify(struct hang_watch *w)
{
    for (size_t i = 0; i < w->hang_count; i++) {
        struct hang *hang = &w->hangs[i];
        for (size_t j = 0; j < w->before_count && hang->id == 0; j++) {
            struct hang *old = &w->before[j];
            if (old->id == 0 || !hang_is_same(hang, old))
                continue;
            hang->id = old->id;
            hang->since_ns = old->since_ns < hang->since_ns ? old->since_ns : hang->since_ns;
            old->id = 0;
        }
    }
    for (size_t i = 0; i < w->hang_count; i++) {
        if (w->hangs[i].id == 0)
            w->hangs[i].id = ++w->last_id;
        hang_describe(w, &w->hangs[i]);
    }
}

static int hang_apply_ranks(struct hang_watch *watch, const struct hang_window *window)
{
    int error = 0;
    for (size_t i = 0; i < window->rank_count && error == 0; i++)
        if (window->ranks[i].rank < watch->seat_count) {
            const struct wire_rank_row row = hang_row_of(&window->ranks[i]);
            error = hang_apply_rank(watch, &row);
        }
    return error;
}

/* @return one above the highest rank of a window, and at least the ranks of its job */
static uint64_t hang_rank_end(const struct hang_window *window)
{
    uint64_t end = window->world;
    for (size_t i = 0; i < window->rank_count; i++)
        if (window->ranks[i].rank >= end)
            end = (uint64_t)window->ranks[i].rank + 1;
    return end;
}

/* Add the facts of a window. @return 0 or -ENOMEM */
static int hang_apply_window(struct hang_watch *watch, const struct hang_window *window)
{
    watch->window = window->number;
    watch->end_ns = window->end_ns;
    watch->length_ns = window->length_ns;
    watch->seats_heard = 0;
    watch->suspected = 0;
    if (window->world != 0)
        watch->world = window->world;
    int error = grow_seats(watch, hang_rank_end(window));
    error = error != 0 ? error : hang_apply_comms(watch, window);
    error = error != 0 ? error : hang_apply_calls(watch, window);
    error = error != 0 ? error : hang_apply_pending(watch, window);
    return error != 0 ? error : hang_apply_ranks(watch, window);
}

int hang_window(struct hang_watch *watch, const struct hang_window *window)
{
    if (window->number <= watch->window && watch->window != 0)
        return -ERANGE;
    if (window->group > 1) {
        watch->window = window->number;
        hang_standstill(watch, window);
        return 0;
    }
    int error = hang_apply_window(watch, window);
    hang_raise_thresholds(watch);
    hang_apply_dead(watch, window);
    hang_settle(watch);
    struct hang *old = watch->before;
    watch->before = watch->hangs;
    watch->before_count = watch->hang_count;
    watch->hangs = old;
    watch->hang_count = 0;
    if (error == 0 && (watch->suspected || watch->seats_heard < watch->seat_count))
        error = hang_find(watch);
    hang_raise_thresholds(watch);
    if (error == 0)
        hang_identify(watch);
    if (error == 0)
        hang_forget(watch);
    return error;
}

int hang_add_late(struct hang_watch *watch, const struct hang_window *window)
{
    return window->group > 1 ? 0 : hang_apply_calls(watch, window);
}

struct hang_fate hang_fate(const struct hang_watch *watch)
{
    struct hang_fate fate = {.moved = (uint32_t)watch->moved}; /* of groups of ranks */
    for (uint32_t r = 0; r < watch->seat_count; r++) {
        const struct hang_seat *s = &watch->seats[r];
        if (!s->in_hang)
            continue;
        /* A call that was in progress at that time is older than the time since. */
        int same = s->state == HANG_IN_CALL && s->in_call_ns > watch->end_ns - watch->hang_ns;
        fate.ranks++;
        if (s->state == HANG_DEAD)
            fate.died++;
        else if (s->state == HANG_NO_RECORD)
            fate.silent++;
        else if (!same && s->state != HANG_IS_STOPPED)
            fate.moved++;
    }
    return fate;
}

struct hang_list hang_result(const struct hang_watch *watch)
{
    return (struct hang_list){.list = watch->hangs, .count = watch->hang_count};
}

int hang_next_member(const struct hang_watch *w, uint64_t comm, uint32_t *at, uint32_t *rank)
{
    uint32_t next = HANG_NONE;
    if (w != NULL && *at == 0) {
        const uint32_t seat = key_table_find(&w->comms, (struct key){.lo = comm});
        next = seat == KEY_NONE ? HANG_NONE : w->comm_seats[seat].first;
    } else if (w != NULL) {
        next = w->member_seats[*at - 1].next;
    }
    if (next == HANG_NONE)
        return 0;
    *at = next + 1;
    *rank = w->member_seats[next].rank;
    return 1;
}

void hang_copy_state(struct state_bytes *b, struct hang_watch **out)
{
    if (!STATE_OBJECT(b, *out))
        return;
    struct hang_watch *w = *out;
    w->params.zone = w->zone;
    STATE_ARRAY(b, w->seats, w->seat_capacity, 0);
    key_table_copy_state(b, &w->members);
    STATE_ARRAY(b, w->member_seats, w->members.count, w->member_capacity);
    key_table_copy_state(b, &w->comms);
    STATE_ARRAY(b, w->comm_seats, w->comms.count, w->comm_capacity);
    STATE_ARRAY(b, w->pending, w->pending_count, w->pending_capacity);
    STATE_ARRAY(b, w->pending_next, w->pending_count, w->pending_capacity);
    STATE_ARRAY(b, w->hangs, w->hang_count, HANG_MAXIMUM);
    STATE_ARRAY(b, w->before, w->before_count, HANG_MAXIMUM);
}

/* The summariser: counts the events of the ranks of a node, window by window. */
#include "daemon/analysis/events/event_sum_state.h"

#include "daemon/analysis/tables/array.h"
#include "holter/error.h"
#include "holter/size_class.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAXIMUM_COMMS (1u << 16)
#define MAXIMUM_REGIONS (1u << 14)
#define MAXIMUM_CALL_ROWS (1u << 18)
#define MAXIMUM_OVERFLOW_ROWS (1u << 20) /* rows for the rest, beyond the limits above */

/* A record that ends later than now by more than the clocks can differ is invalid. */
#define CLOCK_TOLERANCE_NS UINT64_C(1000000000)

/* Shares of the time in which a rank was there: that a service thread waits at least, and that its
 * threads wait together if they do so at one time. The second allows for calls that are counted in
 * the window after theirs. */
#define SERVING 0.9
#define CONCURRENT 1.05

static const enum call_class waiting_classes[] = {CALL_RECV, CALL_WAIT, CALL_POLL, CALL_COLLECTIVE};
#define WAITING_CLASSES (sizeof waiting_classes / sizeof *waiting_classes)

/* Position 0 of both dictionaries stands for "none" and "outside". */
static void event_sum_init_dictionaries(struct event_sum *sum)
{
    struct wire_comm_row none = {.name = ""};
    event_sum_comm(sum, &none);
    event_sum_region(sum, "");
}

int event_sum_create(struct event_sum **out, uint32_t most_pairs)
{
    struct event_sum *sum = calloc(1, sizeof *sum);
    if (sum == NULL)
        return -ENOMEM;
    for (unsigned call = 0; call < CALL_NUMBERS; call++)
        sum->kind_of[call] = (struct call_kind){(uint8_t)call_class_of((uint16_t)call),
                                                (uint8_t)burst_kind_of((uint16_t)call)};
    sum->most_pairs = most_pairs;
    sum->epoch = 1; /* 0 is what nothing has been resolved in */
    if (burst_gather_create(&sum->bursts) != 0) {
        event_sum_destroy(sum);
        return -ENOMEM;
    }
    sum->log = burst_gather_log(sum->bursts);
    event_sum_init_dictionaries(sum);
    if (sum->comm_index.count == 0 || sum->regions.count == 0) {
        event_sum_destroy(sum);
        return -ENOMEM;
    }
    *out = sum;
    return 0;
}

void event_sum_destroy(struct event_sum *sum)
{
    if (sum == NULL)
        return;
    burst_gather_destroy(sum->bursts);
    key_table_finish(&sum->pair_index);
    key_table_finish(&sum->call_index);
    key_table_finish(&sum->comm_index);
    name_table_finish(&sum->regions);
    free(sum->ranks);
    free(sum->pairs);
    free(sum->calls);
    free(sum->comms);
    free(sum->rows.ranks);
    free(sum->rows.pairs);
    free(sum->rows.calls);
    free(sum->rows.comms);
    free(sum->rows.regions);
    free(sum);
}

static void event_sum_clear_rank(struct rank_sum *rank)
{
    rank->row = (struct wire_rank_row){
        .rank = rank->row.rank, .threads = rank->threads, .in_call_peer = PEER_NONE};
    memset(rank->class_ns, 0, sizeof rank->class_ns);
}

int event_sum_add_rank(struct event_sum *sum, uint64_t rank, uint64_t world)
{
    if (world > INT32_MAX || rank >= world)
        return -HOLTER_ERANGE;
    if (ARRAY_FIT(sum->ranks, sum->rank_capacity, sum->rank_count + (size_t)1) != 0)
        return -ENOMEM;
    struct rank_sum *fresh = &sum->ranks[sum->rank_count];
    *fresh = (struct rank_sum){.row = {.rank = rank}, .world = world};
    event_sum_clear_rank(fresh);
    return (int)sum->rank_count++;
}

uint64_t event_sum_remove_rank(struct event_sum *sum, int rank)
{
    struct rank_sum *gone = &sum->ranks[rank];
    const uint64_t lost = gone->row.lost;
    memmove(gone, gone + 1, (size_t)(--sum->rank_count - (uint32_t)rank) * sizeof *gone);
    return lost;
}

static void event_sum_copy_name(char out[NAME_BYTES], const char *name)
{
    size_t length = strnlen(name, NAME_BYTES - 1);
    memcpy(out, name, length);
    out[length] = '\0';
}

uint32_t event_sum_comm(struct event_sum *sum, const struct wire_comm_row *row)
{
    struct key key = {row->id, row->parent};
    uint32_t known = sum->comm_index.count;
    uint32_t position =
        KEY_TABLE_EXTEND(&sum->comm_index, key, MAXIMUM_COMMS, sum->comms, sum->comm_capacity);
    if (position != known)
        return position == KEY_NONE ? 0 : position;
    sum->comms[position].row = *row;
    event_sum_copy_name(sum->comms[position].name, row->name);
    return position;
}

uint32_t event_sum_region(struct event_sum *sum, const char *name)
{
    char cut[NAME_BYTES];
    event_sum_copy_name(cut, name);
    uint32_t position = name_table_number(&sum->regions, cut, MAXIMUM_REGIONS);
    return position == NAME_TABLE_NONE ? 0 : position;
}

/* @param since  set as struct summed has it */
static inline uint32_t event_sum_comm_position(struct sum_tables *tables, const struct event *event,
                                               uint64_t *since)
{
    *since = 0;
    if (event->comm >= tables->comm_count)
        return 0;
    struct slot_position *cached = &tables->comms[event->comm];
    if (cached->epoch != tables->comm_epoch) {
        *cached = (struct slot_position){.epoch = tables->comm_epoch};
        cached->position = tables->find_comm(tables->user, event->comm, &cached->since);
    }
    const int is_before = event_posted(event) < cached->since;
    *since = is_before ? UINT64_MAX : cached->since;
    return is_before ? 0 : cached->position;
}

static inline uint32_t event_sum_region_position(struct sum_tables *tables, uint32_t slot)
{
    if (slot == 0 || slot >= tables->region_count)
        return 0;
    struct slot_position *cached = &tables->regions[slot];
    if (cached->epoch != tables->region_epoch)
        *cached = (struct slot_position){.epoch = tables->region_epoch,
                                         .position = tables->find_region(tables->user, slot)};
    return cached->position;
}

static struct call_kind event_sum_kind_of(const struct event_sum *sum, uint16_t call)
{
    return call < CALL_NUMBERS ? sum->kind_of[call]
                               : (struct call_kind){CALL_OTHER, BURST_NO_COLLECTIVE};
}

static struct pair_sum *event_sum_find_pair(struct event_sum *sum, struct key key, uint32_t limit)
{
    uint32_t number =
        KEY_TABLE_EXTEND(&sum->pair_index, key, limit, sum->pairs, sum->pair_capacity);
    return number == KEY_NONE ? NULL : &sum->pairs[number];
}

/* source and destination fit 32 bits (ranks are checked when they are added), comm 16, region 14,
 * class 10 */
static struct key event_sum_pair_key(uint64_t source, int64_t destination, uint64_t comm,
                                     uint64_t region, uint64_t size_class)
{
    return (struct key){source << 32 | (uint32_t)destination,
                        comm << 32 | region << 16 | size_class};
}

/* ---- bursts -------------------------------------------------------------- */

static int event_sum_pair_of(const void *user, uint32_t number, struct burst_pair *out)
{
    const struct event_sum *sum = user;
    struct key key = sum->pair_index.keys[number];
    out->source = (uint32_t)(key.hi >> 32);
    out->destination = (uint32_t)key.hi;
    out->size_class = (uint32_t)key.lo & 0xffff;
    return (int32_t)(uint32_t)key.hi == OTHERS;
}

static struct burst_names event_sum_names_of(const struct event_sum *sum)
{
    return (struct burst_names){event_sum_pair_of, sum};
}

static uint64_t event_sum_middle_of(const struct summed *s)
{
    uint64_t enter_ns = s->enter_ns < s->exit_ns ? s->enter_ns : s->exit_ns;
    return enter_ns + (s->exit_ns - enter_ns) / 2;
}

static void event_sum_log_message(struct event_sum *sum, uint32_t number, const struct summed *s)
{
    if (burst_log_full(sum->log)) {
        struct burst_names names = event_sum_names_of(sum);
        burst_gather_messages(sum->bursts, &names);
    }
    burst_log_add(sum->log, event_sum_middle_of(s), s->event->bytes, number);
}

static void event_sum_add_collective(struct event_sum *sum, const struct rank_sum *rank,
                                     const struct summed *s)
{
    const struct event *event = s->event;
    uint32_t what = event->flags & (EVENT_SEND | EVENT_RECV | EVENT_POST);
    if (event->flags & EVENT_FAILED || (s->kind.burst == BURST_START && what != EVENT_POST))
        return;
    struct burst_call call = {
        .time_ns = event_sum_middle_of(s),
        .bytes = event->bytes,
        .rank = (uint32_t)rank->row.rank,
        .comm = s->comm,
        .request = event->request,
        .root = event->peer,
        .call = event->call,
    };
    burst_gather_call(sum->bursts, s->kind.burst, &call);
}

void event_sum_member(struct event_sum *sum, int rank, uint32_t comm, uint32_t position)
{
    struct wire_comm_member_row row = {comm, sum->ranks[rank].row.rank, position};
    burst_gather_member(sum->bursts, &row);
}

void event_sum_sort_bursts(struct event_sum *sum)
{
    struct burst_names names = event_sum_names_of(sum);
    if (sum->log->count > sum->log->maximum / 2)
        burst_gather_messages(sum->bursts, &names);
}

int event_sum_bursts(struct event_sum *sum, const struct burst_clock *clock, uint64_t most_rows,
                     struct burst_rows *out)
{
    struct burst_names names = event_sum_names_of(sum);
    return burst_gather_rows(sum->bursts, &names, clock, most_rows, out);
}

/* ---- records ------------------------------------------------------------- */

/* Apart from event_sum_add_pair(), which finds nearly all messages without it.
 * @return number of the sum; KEY_NONE: there is no memory for it */
static __attribute__((noinline)) uint32_t
event_sum_change_pair(struct event_sum *sum, const struct rank_sum *rank, struct key key)
{
    struct pair_sum *pair = event_sum_find_pair(sum, key, sum->most_pairs);
    if (pair == NULL) {
        sum->folded = 1;
        key = event_sum_pair_key(key.hi >> 32, OTHERS, 0, 0, key.lo & 0xffff);
        pair = event_sum_find_pair(sum, key, sum->most_pairs + MAXIMUM_OVERFLOW_ROWS);
    }
    if (pair == NULL)
        return KEY_NONE;
    uint32_t number = (uint32_t)(pair - sum->pairs);
    key_table_set_after(&sum->pair_index, rank->last_pair, number);
    return number;
}

/* @return as event_sum_change_pair() */
static inline uint32_t event_sum_add_pair(struct event_sum *sum, struct rank_sum *rank,
                                          struct key key, uint64_t messages, uint64_t bytes)
{
    uint32_t number = key_table_find_after(&sum->pair_index, key, rank->last_pair);
    if (number == KEY_NONE)
        number = event_sum_change_pair(sum, rank, key);
    if (number == KEY_NONE)
        return KEY_NONE;
    sum->pairs[number].messages += messages;
    sum->pairs[number].bytes += bytes;
    return rank->last_pair = number;
}

static inline int event_sum_is_sent(const struct event *event)
{
    return (event->flags & (EVENT_SEND | EVENT_POST)) == (EVENT_SEND | EVENT_POST);
}

/* Messages of one record, or of several whose bytes are added up.
 * @return number of the sum of their pair; KEY_NONE: they are none that were sent */
static inline uint32_t event_sum_add_messages(struct event_sum *sum, struct rank_sum *rank,
                                              const struct summed *s, uint64_t messages,
                                              uint16_t size_class)
{
    const struct event *event = s->event;
    struct wire_rank_row *row = &rank->row;
    uint32_t number = KEY_NONE;
    if (event->peer == PEER_NULL)
        return KEY_NONE;
    if (event_sum_is_sent(event)) {
        row->sent += messages;
        row->sent_bytes += event->bytes;
        int64_t destination =
            event->peer >= 0 && (uint64_t)event->peer < rank->world ? event->peer : OTHERS;
        struct key key = event_sum_pair_key(row->rank, destination, s->comm, s->region, size_class);
        number = event_sum_add_pair(sum, rank, key, messages, event->bytes);
    }
    if ((event->flags & (EVENT_RECV | EVENT_DONE)) == (EVENT_RECV | EVENT_DONE) &&
        !(event->flags & EVENT_CANCELLED)) {
        row->received += messages;
        row->received_bytes += event->bytes;
    }
    return number;
}

static void event_sum_add_message(struct event_sum *sum, struct rank_sum *rank,
                                  const struct summed *s)
{
    uint16_t size_class = event_sum_is_sent(s->event) ? size_class_of(s->event->bytes) : 0;
    uint32_t number = event_sum_add_messages(sum, rank, s, 1, size_class);
    if (number != KEY_NONE)
        event_sum_log_message(sum, number, s);
}

static struct call_sum *event_sum_find_call(struct event_sum *sum, struct key key, uint32_t limit)
{
    uint32_t number =
        KEY_TABLE_EXTEND(&sum->call_index, key, limit, sum->calls, sum->call_capacity);
    return number == KEY_NONE ? NULL : &sum->calls[number];
}

/* Apart from event_sum_call_of(), which finds nearly all records without it. */
static __attribute__((noinline)) struct call_sum *
event_sum_change_call(struct event_sum *sum, struct rank_sum *rank, struct key key)
{
    struct call_sum *call = event_sum_find_call(sum, key, MAXIMUM_CALL_ROWS);
    if (call == NULL) {
        key = (struct key){key.hi >> 32 << 32, key.lo >> 16 << 16};
        return event_sum_find_call(sum, key, MAXIMUM_CALL_ROWS + MAXIMUM_OVERFLOW_ROWS);
    }
    uint32_t number = (uint32_t)(call - sum->calls);
    key_table_set_after(&sum->call_index, rank->last_call, number);
    rank->last_call = number;
    return call;
}

/* A rank makes the same call again, or the one that it made after that one last time. */
static inline struct call_sum *event_sum_call_of(struct event_sum *sum, struct rank_sum *rank,
                                                 const struct summed *s)
{
    struct key key = {rank->row.rank << 32 | s->comm, (uint64_t)s->event->call << 16 | s->region};
    uint32_t number = rank->last_call;
    if (!key_table_is(&sum->call_index, number, key))
        number = key_table_find_after(&sum->call_index, key, number);
    if (number == KEY_NONE)
        return event_sum_change_call(sum, rank, key);
    rank->last_call = number;
    return &sum->calls[number];
}

static void event_sum_add_class_time(struct rank_sum *rank, struct ring_sum *ring,
                                     enum call_class class_, uint64_t ns)
{
    uint64_t pay = ring->owed_ns[class_] < ns ? ring->owed_ns[class_] : ns;
    ring->owed_ns[class_] -= pay;
    rank->class_ns[class_] += ns - pay;
    ring->window_ns[class_] += ns - pay;
}

/* The call whose time so far is in sums is in none: that time is taken back. */
static void event_sum_take_back(struct ring_sum *ring)
{
    if (ring->accounted_ns > ring->accounted_from_ns)
        ring->owed_ns[ring->accounted_class] += ring->accounted_ns - ring->accounted_from_ns;
    ring->accounted_ns = 0;
}

/* A call that begins after a window's end is not the one that was in progress then: that one ended
 * in a pause. */
static void event_sum_begin_call(struct ring_sum *ring, uint64_t enter_ns)
{
    if (ring->accounted_ns != 0 && enter_ns >= ring->accounted_ns)
        event_sum_take_back(ring);
}

/* @return time in the call, nanoseconds, as far as it is later than the ring's previous call */
static uint64_t event_sum_add_call_time(struct rank_sum *rank, struct ring_sum *ring,
                                        const struct summed *s)
{
    enum call_class class_ = s->kind.class_;
    event_sum_begin_call(ring, s->enter_ns);
    uint64_t from = s->enter_ns > ring->last_exit_ns ? s->enter_ns : ring->last_exit_ns;
    uint64_t whole = s->exit_ns > from ? s->exit_ns - from : 0;
    uint64_t counted = ring->accounted_ns > from ? ring->accounted_ns - from : 0;
    if (counted <= whole)
        event_sum_add_class_time(rank, ring, class_, whole - counted);
    else
        ring->owed_ns[class_] += counted - whole;
    ring->accounted_ns = 0;
    if (s->exit_ns > ring->last_exit_ns)
        ring->last_exit_ns = s->exit_ns;
    return whole;
}

/* Bytes count once: those of a send where it is posted, of a receive where it completes, of what is
 * persistent at each start and not where it is made. Nothing moves to or from MPI_PROC_NULL, nor in
 * calls that fail. */
static inline void event_sum_add_call_bytes(struct call_sum *call, enum call_class class_,
                                            const struct event *event)
{
    if (event->peer == PEER_NULL || event->flags & EVENT_FAILED)
        return;
    if (event->flags & EVENT_RECV) {
        if (event->flags & EVENT_DONE && !(event->flags & EVENT_CANCELLED))
            call->bytes_in += event->bytes;
    } else if (event->flags & EVENT_SEND) {
        if (event->flags & EVENT_POST)
            call->bytes += event->bytes;
    } else if (class_ != CALL_WAIT && class_ != CALL_POLL &&
               (event->flags & (EVENT_PERSISTENT | EVENT_POST)) != EVENT_PERSISTENT) {
        call->bytes += event->bytes;
        if (!(event->flags & EVENT_DONE && event->request != 0))
            call->bytes_in += event->bytes_in;
    }
}

/* @param call  NULL: there is no row for it */
static inline void event_sum_count_calls(struct rank_sum *rank, struct call_sum *call,
                                         const struct summed *s, uint64_t calls, uint64_t ns)
{
    rank->row.calls += calls;
    if (call == NULL)
        return;
    call->calls += calls;
    call->time_ns += ns;
    event_sum_add_call_bytes(call, s->kind.class_, s->event);
}

/* @param call  NULL: there is no row for it */
static void event_sum_add_call(struct rank_sum *rank, struct ring_sum *ring, struct call_sum *call,
                               const struct summed *s)
{
    const int is_call = s->event->kind == EVENT_CALL;
    uint64_t time = is_call ? event_sum_add_call_time(rank, ring, s) : 0;
    event_sum_count_calls(rank, call, s, (uint64_t)is_call, time);
    if (call == NULL || !is_call)
        return;
    if ((s->kind.class_ == CALL_WAIT || s->kind.class_ == CALL_POLL) &&
        event_started(s->event) != 0)
        call->collective_ns += time;
    if (time > call->longest_ns)
        call->longest_ns = time;
}

size_t event_sum_count_ended(const struct sum_source *source, const struct event *events,
                             size_t count)
{
    for (; count > 0; count--) {
        uint64_t exit_ns = tick_clock_ns(source->clock, events[count - 1].t_exit);
        if (exit_ns <= source->end_ns || exit_ns > source->now_ns + CLOCK_TOLERANCE_NS)
            break;
    }
    return count;
}

static inline struct summed event_sum_make_summed(const struct event_sum *sum,
                                                  struct sum_tables *tables,
                                                  const struct event *event)
{
    struct summed summed = {.event = event,
                            .region = event_sum_region_position(tables, event->region),
                            .kind = event_sum_kind_of(sum, event->call)};
    summed.comm = event_sum_comm_position(tables, event, &summed.since);
    return summed;
}

/* Does this record count in the same row of calls, if any? */
static inline int event_sum_is_alike(const struct summed *a, const struct event *b)
{
    return a->event != NULL && a->event->call == b->call && a->event->comm == b->comm &&
           a->event->region == b->region && event_posted(b) >= a->since;
}

size_t event_sum_events(struct event_sum *sum, int rank, const struct sum_source *source,
                        const struct event *events, size_t count)
{
    struct rank_sum *to = &sum->ranks[rank];
    struct tick_times times = tick_times_begin(source->clock);
    const uint64_t latest_ns = source->now_ns + CLOCK_TOLERANCE_NS;
    const struct event *last_call = NULL;
    struct summed summed = {0};
    struct call_sum *call = NULL;
    size_t taken = 0;
    for (; taken < count; taken++) {
        const struct event *event = &events[taken];
        tick_times_convert(&times, event->t_enter, event->t_exit);
        if (times.exit_ns > latest_ns || event->kind < EVENT_CALL || event->kind > EVENT_REGION) {
            to->row.lost++;
            continue;
        }
        if (times.exit_ns > source->end_ns)
            break;
        if (event->flags & EVENT_PAUSED)
            continue;
        to->row.events++;
        if (event->kind == EVENT_REGION)
            continue;
        if (!event_sum_is_alike(&summed, event)) {
            summed = event_sum_make_summed(sum, source->tables, event);
            call = event_sum_call_of(sum, to, &summed);
        }
        summed.event = event;
        summed.enter_ns = times.enter_ns;
        summed.exit_ns = times.exit_ns;
        event_sum_add_message(sum, to, &summed);
        if (summed.kind.burst != BURST_NO_COLLECTIVE)
            event_sum_add_collective(sum, to, &summed);
        event_sum_add_call(to, source->ring, call, &summed);
        if (event->kind == EVENT_CALL)
            last_call = event;
    }
    if (last_call != NULL) {
        summed = event_sum_make_summed(sum, source->tables, last_call);
        source->ring->last_call = last_call->call;
        source->ring->last_peer = event_sum_peer_of(last_call);
        source->ring->last_comm = sum->comms[summed.comm].row.id;
    }
    return taken;
}

int32_t event_sum_peer_of(const struct event *event)
{
    return event_started(event) != 0 && call_class_of(event->call) != CALL_COLLECTIVE ? PEER_NONE
                                                                                      : event->peer;
}

/* Is a call in progress rather that of its rank than another one that a thread of it is in? A
 * thread that serves requests waits for as long as the program runs. */
static int event_sum_is_call_of_rank(const struct wire_rank_row *row, const struct event *event,
                                     uint64_t ns)
{
    const int serves = call_serves_any(event->call, event->peer);
    if (row->in_call != 0 && call_serves_any((uint32_t)row->in_call, row->in_call_peer) != serves)
        return !serves;
    return ns > row->in_call_ns;
}

void event_sum_in_progress(struct event_sum *sum, int rank, const struct sum_source *source,
                           const struct event *event)
{
    struct rank_sum *to = &sum->ranks[rank];
    uint64_t enter_ns = tick_clock_ns(source->clock, event->t_enter);
    if (event->kind != EVENT_CALL || enter_ns >= source->end_ns)
        return;
    struct ring_sum *ring = source->ring;
    enum call_class class_ = event_sum_kind_of(sum, event->call).class_;
    event_sum_begin_call(ring, enter_ns);
    uint64_t begin = enter_ns > ring->last_exit_ns ? enter_ns : ring->last_exit_ns;
    uint64_t from = begin > ring->accounted_ns ? begin : ring->accounted_ns;
    if (class_ != CALL_POLL && source->end_ns > from && !(event->flags & EVENT_PAUSED)) {
        event_sum_add_class_time(to, ring, class_, source->end_ns - from);
        ring->accounted_ns = source->end_ns;
        ring->accounted_from_ns = begin;
        ring->accounted_class = class_;
    }
    struct wire_rank_row *row = &to->row;
    if (begin < source->end_ns && event_sum_is_call_of_rank(row, event, source->end_ns - begin)) {
        uint64_t since;
        uint32_t comm = event_sum_comm_position(source->tables, event, &since);
        row->in_call = event->call;
        row->in_call_ns = source->end_ns - begin;
        row->in_call_comm = sum->comms[comm].row.id;
        row->in_call_peer = event_sum_peer_of(event);
    }
}

void event_sum_skip(const struct sum_source *source)
{
    event_sum_take_back(source->ring);
}

void event_sum_tally(struct event_sum *sum, int rank, const struct sum_source *source,
                     const struct tally_row *row, const struct tally_figures *grown)
{
    struct rank_sum *to = &sum->ranks[rank];
    const uint64_t what = atomic_load_explicit(&row->what, memory_order_relaxed);
    const uint64_t where = atomic_load_explicit(&row->where, memory_order_relaxed);
    const struct event event = {
        .t_enter = UINT64_MAX, /* of all records of the slot, none is known to be another's */
        .bytes = grown->bytes,
        .bytes_in = grown->bytes_in,
        .peer = ring_peer(where),
        .comm = ring_comm(where),
        .region = (uint16_t)(where >> 48),
        .call = (uint16_t)what,
        .flags = (uint16_t)(what >> 16),
        .kind = (uint16_t)(what >> 32),
    };
    if (event.flags & EVENT_PAUSED)
        return;
    const uint64_t ns = tick_clock_span(source->clock, grown->ticks);
    const struct summed summed = event_sum_make_summed(sum, source->tables, &event);
    uint16_t size_class = (uint16_t)(what >> 48);
    if (size_class >= SIZE_CLASSES) /* of all sizes: that of the mean */
        size_class = grown->records > 0 ? size_class_of(grown->bytes / grown->records) : 0;
    if (event.kind == EVENT_POLL) {
        to->row.polls += grown->records;
    } else {
        to->row.events += grown->records;
        to->row.tallied += grown->records;
        event_sum_add_messages(sum, to, &summed, grown->records, size_class);
    }
    if (event.kind == EVENT_REGION)
        return;
    const int is_part = event.kind == EVENT_PART;
    if (!is_part)
        event_sum_add_class_time(to, source->ring, summed.kind.class_, ns);
    struct call_sum *call = event_sum_call_of(sum, to, &summed);
    event_sum_count_calls(to, call, &summed, is_part ? 0 : grown->records, is_part ? 0 : ns);
    if (call != NULL && event.kind == EVENT_POLL)
        call->polls += grown->records;
}

void event_sum_losses(struct event_sum *sum, int rank, uint64_t lost, uint64_t untracked,
                      uint64_t threads)
{
    struct rank_sum *to = &sum->ranks[rank];
    to->row.lost += lost;
    to->row.untracked += untracked;
    to->threads = threads > to->threads ? threads : to->threads;
    to->row.threads = to->threads;
}

int event_sum_is_silent(const struct event_sum *sum, int rank, uint64_t window_ns)
{
    const struct wire_rank_row *row = &sum->ranks[rank].row;
    return row->events == 0 && row->lost == 0 && row->calls == 0 &&
           (row->in_call == 0 || row->in_call_ns >= window_ns);
}

void event_sum_state(struct event_sum *sum, int rank, char state)
{
    sum->ranks[rank].row.process_state = (uint64_t)state;
}

void event_sum_absence(struct event_sum *sum, int rank, uint64_t absent_ns)
{
    sum->ranks[rank].row.absent_ns = absent_ns;
}

/* Was a thread in one call all the time in which another ended calls? */
static int event_sum_is_blocked(struct ring_sum *const *rings, uint32_t count, uint64_t from_ns)
{
    uint32_t blocked = 0, active = 0;
    for (uint32_t i = 0; i < count; i++) {
        blocked += rings[i]->accounted_ns > from_ns && rings[i]->accounted_from_ns <= from_ns;
        active += rings[i]->last_exit_ns > from_ns;
    }
    return blocked > 0 && active > 0;
}

static uint64_t event_sum_waiting_of(const struct ring_sum *ring)
{
    uint64_t ns = 0;
    for (size_t i = 0; i < WAITING_CLASSES; i++)
        ns += ring->window_ns[waiting_classes[i]];
    return ns;
}

static void event_sum_take_service(struct rank_sum *rank, const struct ring_sum *ring)
{
    for (size_t i = 0; i < WAITING_CLASSES; i++) {
        uint64_t *ns = &rank->class_ns[waiting_classes[i]];
        const uint64_t own_ns = ring->window_ns[waiting_classes[i]],
                       taken_ns = own_ns < *ns ? own_ns : *ns;
        *ns -= taken_ns;
        rank->row.service_ns += taken_ns;
    }
}

void event_sum_service(struct event_sum *sum, int rank, struct ring_sum *const *rings,
                       uint32_t count, uint64_t from_ns, uint64_t to_ns)
{
    const double present_ns = (double)(to_ns - from_ns);
    uint64_t waiting_ns = 0, least_ns = UINT64_MAX;
    uint32_t least = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t ns = event_sum_waiting_of(rings[i]);
        waiting_ns += ns;
        least = ns < least_ns ? i : least;
        least_ns = ns < least_ns ? ns : least_ns;
    }
    const int at_one_time =
        (double)waiting_ns > CONCURRENT * present_ns || event_sum_is_blocked(rings, count, from_ns);
    for (uint32_t i = 0; i < count; i++) {
        struct ring_sum *ring = rings[i];
        ring->serves = (ring->serves || at_one_time) &&
                       (double)event_sum_waiting_of(ring) > SERVING * present_ns;
        if (ring->serves && i != least)
            event_sum_take_service(&sum->ranks[rank], ring);
        memset(ring->window_ns, 0, sizeof ring->window_ns);
    }
}

uint32_t event_sum_epoch(const struct event_sum *sum)
{
    return sum->epoch;
}

static void event_sum_begin_window(struct event_sum *sum)
{
    sum->epoch++;
    burst_gather_clear(sum->bursts);
    key_table_clear(&sum->pair_index);
    key_table_clear(&sum->call_index);
    key_table_clear(&sum->comm_index);
    name_table_clear(&sum->regions);
    sum->folded = 0;
    event_sum_init_dictionaries(sum);
}

void event_sum_clear(struct event_sum *sum)
{
    for (uint32_t i = 0; i < sum->rank_count; i++)
        event_sum_clear_rank(&sum->ranks[i]);
    event_sum_begin_window(sum);
}

int event_sum_lost_of(struct event_sum *sum, uint64_t rank, uint64_t lost)
{
    for (uint32_t i = 0; i < sum->rank_count; i++) {
        if (sum->ranks[i].row.rank == rank) {
            sum->ranks[i].row.lost += lost;
            return 1;
        }
    }
    return 0;
}

void event_sum_discard(struct event_sum *sum)
{
    for (uint32_t i = 0; i < sum->rank_count; i++) {
        struct rank_sum *rank = &sum->ranks[i];
        uint64_t lost = rank->row.events + rank->row.lost;
        event_sum_clear_rank(rank);
        rank->row.lost = lost;
    }
    event_sum_begin_window(sum);
}

uint64_t event_sum_total(const struct event_sum *sum, uint64_t *lost)
{
    uint64_t events = 0;
    *lost = 0;
    for (uint32_t i = 0; i < sum->rank_count; i++) {
        events += sum->ranks[i].row.events;
        *lost += sum->ranks[i].row.lost;
    }
    return events;
}

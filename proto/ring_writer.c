/* The writer's part of a ring that is not inlined: the reader's alarm, and the tally. A file of its
 * own, because the probe links nothing else of the ring. */
#include "holter/ring.h"
#include "holter/segment.h"
#include "holter/size_class.h"

#include <errno.h>

static void ring_alarm(const struct ring_writer *w)
{
    struct ring_control *control = w->control;
    uint64_t at = atomic_load_explicit(&control->alarm_at, memory_order_relaxed);
    int32_t pid = atomic_load_explicit(&control->alarm_pid, memory_order_relaxed);
    /* 0, 1 and what is below would be more than one process */
    if (pid <= 1 || w->head < at ||
        !atomic_compare_exchange_strong_explicit(&control->alarm_at, &at, UINT64_MAX,
                                                 memory_order_relaxed, memory_order_relaxed))
        return;
    int error = errno;
    kill((pid_t)pid, RING_ALARM_SIGNAL);
    errno = error;
}

void ring_alarm_set(struct ring_control *control, uint64_t at, int32_t pid)
{
    atomic_store_explicit(&control->alarm_pid, pid, memory_order_relaxed);
    if (atomic_load_explicit(&control->alarm_at, memory_order_relaxed) != at)
        atomic_store_explicit(&control->alarm_at, at, memory_order_relaxed);
}

/* ---- tally --------------------------------------------------------------- */

static uint64_t tally_get(const _Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

static void tally_raise(_Atomic uint64_t *word, uint64_t by)
{
    atomic_store_explicit(word, tally_get(word) + by, memory_order_relaxed);
}

struct tally_figures tally_read(const struct tally_row *row)
{
    struct tally_figures figures = {.records =
                                        atomic_load_explicit(&row->records, memory_order_acquire)};
    figures.bytes = tally_get(&row->bytes);
    figures.bytes_in = tally_get(&row->bytes_in);
    figures.ticks = tally_get(&row->ticks);
    return figures;
}

/* @param limit  rows that may be in use
 * @return NULL: the row is new and the limit is reached */
static struct tally_row *tally_find(struct ring_writer *w, uint64_t what, uint64_t where,
                                    uint64_t limit)
{
    uint64_t hash = (what ^ where * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xd1b54a32d192ed03);
    struct tally_row *chain = &w->tally[(hash >> 32) & w->tally_mask];
    for (uint64_t at = chain->first; at != 0; at = w->tally[(at - 1) & w->tally_mask].next) {
        struct tally_row *row = &w->tally[(at - 1) & w->tally_mask];
        if (tally_get(&row->what) == what && tally_get(&row->where) == where)
            return row;
    }
    uint32_t count = atomic_load_explicit(&w->control->tally_count, memory_order_relaxed);
    if (count >= limit)
        return NULL;
    struct tally_row *row = &w->tally[count];
    row->next = chain->first;
    chain->first = count + 1;
    atomic_store_explicit(&row->where, where, memory_order_relaxed);
    atomic_store_explicit(&row->what, what, memory_order_release);
    atomic_store_explicit(&w->control->tally_count, count + 1, memory_order_release);
    return row;
}

static uint64_t tally_where(int32_t peer, uint64_t place)
{
    return (uint64_t)(uint32_t)peer | (place >> 32) << 32;
}

/* As tally_find(), for a coarser row when there are too many.
 * @return NULL: there is no row left for the function and the flags */
static struct tally_row *tally_find_bounded(struct ring_writer *w, uint64_t what, uint64_t where)
{
    const uint64_t rows = w->tally_mask + 1;
    struct tally_row *row = tally_find(w, what, where, rows / 2);
    if (row != NULL)
        return row;
    what |= ring_what(0, 0, 0, what >> 48 != 0 ? TALLY_ALL_SIZES : 0);
    row = tally_find(w, what, where, rows - rows / 4);
    if (row != NULL)
        return row;
    const int32_t peer = ring_peer(where) == PEER_NULL ? PEER_NULL : PEER_UNKNOWN;
    const uint64_t nowhere = tally_where(peer, ring_place(0, COMM_SLOT_NONE, 0));
    return tally_find(w, what, nowhere, rows);
}

struct tally_row *tally_find_polls(struct ring_writer *w, uint16_t call, uint16_t region)
{
    return tally_find_bounded(w, ring_what(call, 0, EVENT_POLL, 0),
                              tally_where(PEER_NONE, ring_place(0, COMM_SLOT_NONE, region)));
}

static void tally_add(struct ring_writer *w, const struct event *e)
{
    if (e->flags & EVENT_PAUSED) { /* part of no sum: only their number is needed */
        struct tally_row *all =
            tally_find(w, ring_what(0, EVENT_PAUSED, EVENT_CALL, 0), 0, w->tally_mask + 1);
        if (all != NULL)
            tally_raise(&all->records, 1);
        return;
    }
    const uint32_t moved = e->flags & (EVENT_SEND | EVENT_RECV);
    const int sent = (e->flags & (EVENT_SEND | EVENT_POST)) == (EVENT_SEND | EVENT_POST);
    const int32_t none = e->peer == PEER_NULL ? PEER_NULL : PEER_NONE;
    struct tally_row *row = tally_find_bounded(
        w, ring_what(e->call, e->flags, e->kind, sent ? size_class_of(e->bytes) : 0),
        tally_where(sent ? e->peer : none, ring_place(0, e->comm, e->region)));
    if (row == NULL)
        return; /* missing in the tally: the agent counts it as lost */
    tally_raise(&row->bytes, e->bytes);
    if (moved == 0 && !(e->flags & EVENT_DONE && e->request != 0))
        tally_raise(&row->bytes_in, e->bytes_in);
    if (e->kind == EVENT_CALL && e->t_exit > e->t_enter)
        tally_raise(&row->ticks, e->t_exit - e->t_enter);
    atomic_store_explicit(&row->records, tally_get(&row->records) + 1, memory_order_release);
}

/* ---- writer -------------------------------------------------------------- */

/* Records that are added to the tally at a time. The fewer times the tail moves, the less often
 * ring_take() has to begin again. */
static uint64_t ring_batch(const struct ring_writer *w)
{
    return w->mask / 32 + 1;
}

/* The ring is full of records that were not taken: add the oldest ones to the tally.
 * @return the new tail */
static uint64_t ring_make_room(struct ring_writer *w, uint64_t tail)
{
    uint64_t first = tail, count = ring_batch(w);
    if (!atomic_compare_exchange_strong_explicit(&w->control->tail, &tail, first + count,
                                                 memory_order_acq_rel, memory_order_acquire))
        return tail; /* the reader has just taken some */
    for (uint64_t i = first; i < first + count; i++)
        tally_add(w, &w->slots[i & w->mask]);
    return first + count;
}

void ring_maintain(struct ring_writer *w)
{
    uint64_t tail = atomic_load_explicit(&w->control->tail, memory_order_acquire);
    ring_alarm(w);
    if (w->head - tail > w->mask)
        tail = ring_make_room(w, tail);
    uint64_t left = tail + w->mask + 1 - w->head;
    w->due = w->head + (left - 1 < RING_MAINTAIN_EVERY ? left : RING_MAINTAIN_EVERY);
}

void ring_writer_init(struct ring_writer *w, void *segment, struct ring_control *control)
{
    *w = (struct ring_writer){
        .control = control,
        .slots = (struct event *)(void *)((char *)segment + control->offset),
        .mask = control->capacity - 1,
        .head = atomic_load_explicit(&control->head, memory_order_relaxed),
        .tally = (struct tally_row *)(void *)((char *)segment + control->tally_offset),
        .tally_mask = control->tally_capacity - 1,
    };
    ring_maintain(w);
}

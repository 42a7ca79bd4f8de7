/* What a wrapper does around the MPI call: everything here is inlined into it. A call costs two
 * time stamps, one record written straight into its ring slot, and one store of the ring's head. */
#ifndef HOLTER_AGENT_PROBE_CALL_RECORD_H
#define HOLTER_AGENT_PROBE_CALL_RECORD_H

#include "agent/probe/probe.h"
#include "holter/ticks.h"

#include <time.h>

/** A call being recorded. */
struct scope {
    struct thread *t;
    struct event *slot;
    uint64_t t_enter;
    uint16_t call;
};

HOT uint64_t probe_read_ticks(void)
{
    if (TICKS_COUNTED && likely(probe.tick_unit == TICK_TSC))
        return ticks_read();
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Prefetch the cache line of a record four slots ahead for writing: it was last written one lap of
 * the ring ago, or an agent has read it since. After the last slot the line belongs to other data
 * of the segment, which does no harm. */
HOT void record_prefetch_next(const struct event *slot)
{
    const char *line = (const char *)slot + 4 * sizeof(*slot);
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*line));
#else
    __builtin_prefetch(line, 1);
#endif
}

/** Begin to record a call. @return the calling thread, or NULL if the call must not be recorded:
 *  the wrapper then only calls the MPI library */
HOT struct thread *scope_open(struct scope *s, uint16_t call)
{
    struct thread *t = &thread_self;
    const void *frame = __builtin_dwarf_cfa();
    if (unlikely(t->gate != 0) && (t = thread_enter(frame)) == NULL)
        return NULL;
    t->gate = GATE_INSIDE;
    t->frame = frame;
    s->t = t;
    s->call = call;
    s->slot = ring_slot(&t->ring);
    s->t_enter = probe_read_ticks();
    return t;
}

/** Read a word of the open record. Reading it back after the MPI call is cheaper than keeping it in
 *  a local variable, which the compiler would store to the stack and load again. */
HOT uint64_t record_read_word(const struct event *slot, enum ring_word word)
{
    typedef const uint64_t __attribute__((may_alias)) event_word;
    return __atomic_load_n((event_word *)(const void *)slot + word, __ATOMIC_RELAXED);
}

HOT uint32_t record_read_flags(const struct event *slot)
{
    return (uint16_t)(record_read_word(slot, RING_WORD_WHAT) >> 16);
}

/** The ends of a call without a peer. */
#define NO_ENDS ring_ends(PEER_NONE, TAG_NONE)

/** Write the entry fields; a reader of the ring sees the call as in progress from here on.
 *  @param ends  packed peer and tag, see ring_ends() */
HOT void scope_enter(const struct scope *s, uint64_t bytes, uint64_t bytes_in, uint64_t ends,
                     uint32_t request, uint16_t comm, uint32_t flags)
{
    struct event *slot = s->slot;
    ring_put(slot, RING_WORD_T_ENTER, s->t_enter);
    ring_put(slot, RING_WORD_T_EXIT, 0);
    ring_put(slot, RING_WORD_BYTES, bytes);
    ring_put(slot, RING_WORD_BYTES_IN, bytes_in);
    ring_put(slot, RING_WORD_ENDS, ends);
    ring_put(slot, RING_WORD_PLACE, ring_place(request, comm, s->t->region));
    ring_put(slot, RING_WORD_WHAT, ring_what(s->call, flags, EVENT_CALL, 0));
    ring_enter(&s->t->ring, slot);
}

/** Write the exit time. Other exit fields are written between this and scope_close(). */
HOT uint64_t scope_exit(const struct scope *s)
{
    uint64_t now = probe_read_ticks();
    ring_put(s->slot, RING_WORD_T_EXIT, now);
    ring_fence();
    return now;
}

/** While recording is paused, records are published for the matcher alone. @return 0: the record
 * does not concern messages, and the next call reuses its slot */
static __attribute__((noinline, cold, unused)) int record_mark_paused(struct event *slot)
{
    const uint64_t what = record_read_word(slot, RING_WORD_WHAT);
    const uint32_t request = (uint32_t)record_read_word(slot, RING_WORD_PLACE);
    const uint64_t relevant =
        ring_what(0, EVENT_SEND | EVENT_RECV | EVENT_FAILED | EVENT_UNTRACKED, 0, UINT16_MAX);
    if ((what & relevant) == 0 && request == 0 && (uint16_t)(what >> 32) != EVENT_PART) {
        ring_put(slot, RING_WORD_SEQ, UINT64_MAX);
        ring_fence();
        return 0;
    }
    ring_put(slot, RING_WORD_WHAT, what | ring_what(0, EVENT_PAUSED, 0, 0));
    return 1;
}

HOT void record_publish(struct thread *t, struct event *slot)
{
    if (unlikely(probe.paused) && !record_mark_paused(slot))
        return;
    record_prefetch_next(slot);
    ring_publish(&t->ring);
    if (unlikely(ring_is_due(&t->ring)))
        ring_maintain(&t->ring);
}

HOT void scope_leave(const struct scope *s)
{
    s->t->gate = 0;
}

HOT void scope_close(const struct scope *s)
{
    record_publish(s->t, s->slot);
    scope_leave(s);
}

/** Replace the flags of the call and its number of further records. */
HOT void scope_what(const struct scope *s, uint32_t flags, unsigned parts)
{
    ring_put(s->slot, RING_WORD_WHAT, ring_what(s->call, flags, EVENT_CALL, (uint16_t)parts));
}

HOT void scope_place(const struct scope *s, uint32_t request, uint16_t comm)
{
    ring_put(s->slot, RING_WORD_PLACE, ring_place(request, comm, s->t->region));
}

COLD void poll_find_row(struct thread *t, enum poll_family family, uint16_t call);

/** End a polling call that found nothing: it is in the tally and leaves no record. */
HOT void scope_poll(const struct scope *s, enum poll_family family, uint64_t now)
{
    struct thread *t = s->t;
    if (likely(!probe.paused)) {
        if (unlikely(t->polls[family].call != s->call))
            poll_find_row(t, family, s->call);
        tally_add_poll(t->polls[family].row, now - s->t_enter);
    }
    scope_leave(s);
}

/** Write a record of its own for a further message of the call, after the call's record. */
HOT void record_write_part(const struct scope *s, uint64_t t_exit, uint64_t bytes, uint64_t t_post,
                           uint64_t ends, uint32_t request, uint16_t comm, uint32_t flags)
{
    struct event *slot = ring_slot(&s->t->ring);
    ring_put(slot, RING_WORD_T_ENTER, s->t_enter);
    ring_put(slot, RING_WORD_T_EXIT, t_exit);
    ring_put(slot, RING_WORD_BYTES, bytes);
    ring_put(slot, RING_WORD_BYTES_IN, t_post);
    ring_put(slot, RING_WORD_ENDS, ends);
    ring_put(slot, RING_WORD_PLACE, ring_place(request, comm, s->t->region));
    ring_put(slot, RING_WORD_WHAT, ring_what(s->call, flags, EVENT_PART, 0));
    ring_enter(&s->t->ring, slot);
    record_publish(s->t, slot);
}

/* ---- sizes, communicators, ranks ----------------------------------------- */

/** @return bytes of one element of a datatype that is not the one used last */
uint64_t type_lookup_size(struct thread *t, MPI_Datatype type);

/** @return bytes of count elements of a datatype */
HOT uint64_t type_payload_bytes(struct thread *t, int64_t count, MPI_Datatype type)
{
    if (count <= 0)
        return 0;
    const struct type_size *last = t->type;
    if (likely(last->handle == HANDLE(type) && t->type_epoch == probe.type_epoch))
        return (uint64_t)count * last->bytes;
    return (uint64_t)count * type_lookup_size(t, type);
}

HOT const struct comm *comm_find(struct thread *t, MPI_Comm comm)
{
    uint64_t handle = HANDLE(comm);
    return likely(t->last->handle == handle) ? t->last : comm_lookup(t, handle, 0);
}

HOT const struct comm *window_find(struct thread *t, MPI_Win win)
{
    uint64_t handle = HANDLE(win);
    return likely(t->last->handle == handle) ? t->last : comm_lookup(t, handle, 1);
}

/** World rank of the other side, PEER_NULL or PEER_ANY. */
HOT int32_t comm_peer(const struct comm *comm, int rank)
{
    if (likely((uint32_t)rank < comm->affine))
        return comm->offset + comm->stride * rank;
    if (rank == MPI_PROC_NULL)
        return PEER_NULL;
    if (rank == MPI_ANY_SOURCE)
        return PEER_ANY;
    return comm_peer_lookup(comm, rank);
}

HOT uint32_t ends_wildcard_flag(int source, int tag)
{
    return source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG ? EVENT_WILDCARD : 0;
}

/** Pack peer and tag as ring_ends() does, where at least one is a negative constant of MPI:
 *  MPI_ANY_SOURCE, MPI_PROC_NULL or MPI_ANY_TAG. */
static __attribute__((noinline, unused)) uint64_t ends_resolve_open(const struct comm *comm,
                                                                    int rank, int tag)
{
    return ring_ends(comm_peer(comm, rank), tag == MPI_ANY_TAG ? TAG_ANY : tag);
}

/* ---- statuses ------------------------------------------------------------ */

/** Bytes of the message that a status describes, from fields that are private to each mpi.h; a test
 *  compares them with MPI_Get_count. */
HOT uint64_t status_payload_bytes(const MPI_Status *status)
{
#if defined(OPEN_MPI)
    return (uint64_t)status->_ucount;
#else
    return (uint64_t)(uint32_t)status->count_lo |
           (uint64_t)((uint32_t)status->count_hi_and_cancelled >> 1) << 32;
#endif
}

HOT int status_is_cancelled(const MPI_Status *status)
{
#if defined(OPEN_MPI)
    return status->_cancelled;
#else
    return status->count_hi_and_cancelled & 1;
#endif
}

/** Peer and tag of a receive from its status, for wildcard receives. */
HOT uint64_t ends_from_status(uint64_t ends, uint16_t slot, const MPI_Status *status)
{
    int32_t peer = ring_peer(ends);
    if (peer == PEER_ANY) {
        const struct comm *comm = comm_of_slot(slot);
        peer = comm ? comm_peer(comm, status->MPI_SOURCE) : PEER_UNKNOWN;
    }
    return ring_ends(peer, status->MPI_TAG == MPI_ANY_TAG ? TAG_ANY : status->MPI_TAG);
}

/* ---- requests ------------------------------------------------------------ */

/** Is this the handle that the library returns for every request that was complete at once? Such
 *  requests share one handle, and there is nothing to wait for. */
HOT int request_is_complete(uint64_t handle)
{
#if defined(OPEN_MPI)
    return handle == HANDLE(probe_objects.ompi_request_empty);
#else
    return handle >> 30 == 1; /* MPICH: kind of handle in the two highest bits, 1 built-in */
#endif
}

HOT struct request *request_home_slot(uint64_t handle)
{
    _Static_assert(REQUEST_CAPACITY == 4096, "the shift below");
    return &probe.requests[(handle * UINT64_C(0x9e3779b97f4a7c15)) >> 52];
}

/** A request that a call may complete, looked up before the call, while its handle is valid. */
struct found {
    struct request *request;
    uint32_t index; /**< in the application's array */
};

/** Count requests whose completion will not be observed. */
HOT void request_count_untracked(struct thread *t, uint64_t requests)
{
    _Atomic uint64_t *count = &t->ring.control->untracked;
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + requests,
                          memory_order_relaxed);
}

COLD struct request *request_find_displaced(uint64_t handle);

/** @return EVENT_FAILED, and EVENT_REFUSED if a call that posts messages returned this result
 *  because of an argument, which is examined before anything is transferred */
COLD uint32_t request_failure_flags(int result);

/** Did a call fail because the message that it received is longer than its buffer? */
COLD int request_is_truncated(int result);
COLD struct request *request_add_displaced(struct thread *t, uint64_t handle);

/** The completion of this request was not observed and never will be, as where a function of the
 *  program completed it inside another call. @return whether it received, and is counted */
COLD int request_count_unseen(struct thread *t, const struct request *request);

/** The same of one that does not exist any more. */
COLD int request_end_unseen(struct thread *t, const struct request *request);

/** Find the request or message with this handle. @return NULL if it is not in the table */
HOT struct request *request_find(uint64_t handle)
{
    struct request *request = request_home_slot(handle);
    if (likely(request->handle == handle && !probe.multiple))
        return request;
    return request_find_displaced(handle);
}

/** Enter a request that the call of the open record posts.
 *  @return NULL if there is no memory for it; the request is then counted as untracked */
HOT const struct request *request_add(const struct scope *s, uint64_t handle, uint64_t bytes,
                                      uint64_t ends, uint16_t comm, uint32_t flags)
{
    struct request *request = request_home_slot(handle);
    uint32_t number;
    if (likely(request->handle == 0 && !probe.multiple)) {
        number = ++probe.next_request;
    } else {
        number = __atomic_add_fetch(&probe.next_request, 1, __ATOMIC_RELAXED);
        request = request_add_displaced(s->t, handle);
        if (!request) {
            request_count_untracked(s->t, 1);
            return NULL;
        }
    }
    request->t_post = record_read_word(s->slot, RING_WORD_T_ENTER);
    request->bytes = bytes;
    request->ends = ends;
    request->place = ring_place(number, comm, (uint16_t)flags);
    __atomic_store_n(&request->handle, handle, __ATOMIC_RELEASE);
    return request;
}

/** The library has given a request another handle.
 *  @return its entry under that; NULL: there is no memory for it, and it is counted as untracked */
COLD struct request *request_move(struct thread *t, struct request *request, uint64_t handle);

HOT void request_remove(struct request *request)
{
    __atomic_store_n(&request->handle, 0, __ATOMIC_RELEASE);
}

/** Outcome of a request, for the record of the call that completed it. */
struct completion {
    uint64_t bytes;
    uint64_t ends;
    uint32_t flags;
};

/** @param status  of the request; NULL when there is none
 *  @param failed  the request failed */
HOT struct completion request_outcome(const struct request *request, const MPI_Status *status,
                                      int failed)
{
    uint32_t own = request->flags;
    struct completion c = {.bytes = request->bytes,
                           .ends = request->ends,
                           .flags = (own & ~(uint32_t)REQUEST_OWN) | EVENT_DONE};
    if (unlikely(failed)) {
        c.flags = (c.flags & ~(uint32_t)EVENT_DONE) | EVENT_FAILED;
    } else if (unlikely(own & REQUEST_CANCELLED) && status && status_is_cancelled(status)) {
        c.flags = (c.flags & ~(uint32_t)EVENT_DONE) | EVENT_CANCELLED;
        c.bytes = 0;
    } else if (own & EVENT_RECV) {
        if (unlikely(!status)) { /* the size of the message is unknown */
            c.flags = EVENT_UNTRACKED;
            return c;
        }
        c.bytes = status_payload_bytes(status);
        if (own & EVENT_WILDCARD)
            c.ends = ends_from_status(request->ends, request->comm, status);
    }
    return c;
}

/** Does its completion need a status? */
HOT int request_needs_status(const struct request *request)
{
    return request->flags & (EVENT_RECV | REQUEST_CANCELLED);
}

/** Handle the completion of a request: mark a persistent one idle, remove any other. */
HOT void request_retire(struct request *request)
{
    if (unlikely(request->flags & EVENT_PERSISTENT))
        request->flags = (uint16_t)((request->flags & ~REQUEST_OWN) | REQUEST_IDLE);
    else
        request_remove(request);
}

#endif

/* What a wrapper records before and after the MPI call, for each shape of call in calls.def except
 * collectives (collective.h). The wrappers that make_wrappers.py generates call a pair of these
 * functions, shape_X_enter() and shape_X_leave(), around the real function. */
#ifndef HOLTER_PROBE_SHAPES_H
#define HOLTER_PROBE_SHAPES_H

#include "agent/probe/call_record.h"

#include <alloca.h>

#define MOVED (EVENT_SEND | EVENT_RECV | EVENT_POST | EVENT_DONE)

/** Mark the call as failed: no data was transferred. */
HOT void scope_set_failed(const struct scope *s, int result)
{
    scope_what(s, (record_read_flags(s->slot) & ~(uint32_t)MOVED) | request_failure_flags(result),
               0);
}

/** End a call whose entry fields remain valid unless it failed. */
HOT void shape_plain_leave(const struct scope *s, int result)
{
    scope_exit(s);
    if (unlikely(result != MPI_SUCCESS))
        scope_set_failed(s, result);
    scope_close(s);
}

HOT void shape_plain_enter(const struct scope *s)
{
    scope_enter(s, 0, 0, NO_ENDS, 0, COMM_SLOT_NONE, 0);
}

/* ---- messages ------------------------------------------------------------ */

/** A message that a call posts; a local variable of the wrapper. */
struct posted {
    uint64_t bytes;
    uint64_t ends; /**< as ring_ends() has them */
    uint16_t comm;
    uint32_t flags;
    uint64_t more; /**< event.message or event.receive_ends; else 0 */
};

HOT struct posted posted_make(const struct scope *s, int64_t count, MPI_Datatype type, int rank,
                              int tag, MPI_Comm handle, uint32_t flags)
{
    const struct comm *comm = comm_find(s->t, handle);
    struct posted p = {.bytes = type_payload_bytes(s->t, count, type),
                       .comm = comm->slot,
                       .flags = flags | comm->flags};
    if (likely((rank | tag) >= 0)) {
        p.ends = ring_ends(comm_peer(comm, rank), tag);
    } else {
        p.ends = ends_resolve_open(comm, rank, tag);
        p.flags |= flags & EVENT_RECV ? ends_wildcard_flag(rank, tag) : 0;
    }
    return p;
}

HOT void shape_post_enter(const struct scope *s, const struct posted *p)
{
    scope_enter(s, p->bytes, p->more, p->ends, 0, p->comm, p->flags);
}

/** Replace size, source and tag by those of the received message. */
HOT void posted_set_received(struct posted *p, const MPI_Status *status)
{
    p->bytes = status_payload_bytes(status);
    if (p->flags & EVENT_WILDCARD)
        p->ends = ends_from_status(p->ends, p->comm, status);
}

HOT void shape_recv_leave(const struct scope *s, int result, const MPI_Status *status)
{
    scope_exit(s);
    if (likely(result == MPI_SUCCESS)) {
        ring_put(s->slot, RING_WORD_BYTES, status_payload_bytes(status));
        if (record_read_flags(s->slot) & EVENT_WILDCARD)
            ring_put(s->slot, RING_WORD_ENDS,
                     ends_from_status(record_read_word(s->slot, RING_WORD_ENDS),
                                      ring_comm(record_read_word(s->slot, RING_WORD_PLACE)),
                                      status));
    } else {
        scope_set_failed(s, result);
    }
    scope_close(s);
}

/** Enter the request of a posted operation into the table.
 *  @param number  set to the number of the request, 0 if there is none
 *  @return flags of the record */
HOT uint32_t request_track_posted(const struct scope *s, const struct posted *p, uint64_t handle,
                                  uint32_t *number)
{
    *number = 0;
    if (request_is_complete(handle))
        return p->flags & EVENT_PERSISTENT ? p->flags : p->flags | EVENT_DONE;
    uint32_t kept = p->flags & ~(uint32_t)(EVENT_POST | EVENT_DONE);
    if (kept & EVENT_PERSISTENT)
        kept |= REQUEST_IDLE;
    const struct request *added = request_add(s, handle, p->bytes, p->ends, p->comm, kept);
    if (!added)
        return p->flags | EVENT_UNTRACKED;
    *number = added->number;
    return p->flags;
}

/** End a call that made a request; the open record describes the request's message.
 *  @param bytes  bytes that the completion counts; 0 if this call has counted them */
HOT void shape_immediate_leave(const struct scope *s, int result, uint64_t bytes,
                               const MPI_Request *request)
{
    scope_exit(s);
    if (likely(result == MPI_SUCCESS)) {
        uint32_t flags = record_read_flags(s->slot);
        uint64_t place = record_read_word(s->slot, RING_WORD_PLACE);
        if (request_is_complete(HANDLE(*request))) {
            scope_what(s, flags | EVENT_DONE, 0);
        } else {
            const struct request *added =
                request_add(s, HANDLE(*request), bytes, record_read_word(s->slot, RING_WORD_ENDS),
                            ring_comm(place), flags & ~(uint32_t)(EVENT_POST | EVENT_DONE));
            if (likely(added != NULL))
                ring_put(s->slot, RING_WORD_PLACE, place | added->number);
            else
                scope_what(s, flags | EVENT_UNTRACKED, 0);
        }
    } else {
        scope_set_failed(s, result);
    }
    scope_close(s);
}

/** Persistent and partitioned requests: no data is transferred before MPI_Start. */
HOT void shape_init_leave(const struct scope *s, int result, const struct posted *p,
                          const MPI_Request *request)
{
    scope_what(s, p->flags & ~(uint32_t)MOVED, 0);
    scope_exit(s);
    if (result == MPI_SUCCESS) {
        uint32_t number, flags = request_track_posted(s, p, HANDLE(*request), &number);
        scope_place(s, number, p->comm);
        scope_what(s, flags & ~(uint32_t)MOVED, 0);
        if (number != 0)
            comm_add_request(p->comm);
    } else {
        scope_what(s, EVENT_PERSISTENT | EVENT_FAILED, 0);
    }
    scope_close(s);
}

/** Send and receive in one call: the call's record describes the sent message, a further record the
 *  received one. If that was truncated, the other was sent nevertheless. */
HOT void shape_sendrecv_leave(const struct scope *s, int result, const struct posted *out,
                              struct posted *in, const MPI_Status *status)
{
    uint64_t t_exit = scope_exit(s);
    if (likely(result == MPI_SUCCESS)) {
        posted_set_received(in, status);
    } else if (request_is_truncated(result)) {
        in->flags = EVENT_FAILED;
        in->bytes = 0;
    } else {
        scope_what(s, request_failure_flags(result), 0);
        scope_close(s);
        return;
    }
    scope_what(s, out->flags, 1);
    record_publish(s->t, s->slot);
    record_write_part(s, t_exit, in->bytes, in->flags & EVENT_FAILED ? 0 : s->t_enter, in->ends, 0,
                      in->comm, in->flags);
    scope_leave(s);
}

HOT void shape_isendrecv_leave(const struct scope *s, int result, const struct posted *out,
                               const struct posted *in, const MPI_Request *request)
{
    uint64_t t_exit = scope_exit(s);
    if (unlikely(result != MPI_SUCCESS)) {
        scope_what(s, request_failure_flags(result), 0);
        scope_close(s);
        return;
    }
    uint32_t number, flags = request_track_posted(s, in, HANDLE(*request), &number);
    scope_what(s, out->flags, 1);
    record_publish(s->t, s->slot);
    record_write_part(s, t_exit, in->bytes, s->t_enter, in->ends, number, in->comm, flags);
    scope_leave(s);
}

/* ---- probes -------------------------------------------------------------- */

HOT struct posted posted_make_probe(const struct scope *s, int source, int tag, MPI_Comm handle)
{
    const struct comm *comm = comm_find(s->t, handle);
    return (struct posted){.ends = ends_resolve_open(comm, source, tag),
                           .comm = comm->slot,
                           .flags = comm->flags | ends_wildcard_flag(source, tag)};
}

/** End a probe that found a message. The message is not received yet, so the record has no bytes.
 *  @param message  NULL unless the message was matched (MPI_Mprobe) */
HOT void shape_probe_leave(const struct scope *s, int result, struct posted *p,
                           const MPI_Status *status, const MPI_Message *message)
{
    scope_exit(s);
    if (result == MPI_SUCCESS) {
        posted_set_received(p, status);
        ring_put(s->slot, RING_WORD_ENDS, p->ends);
        if (message && *message != MPI_MESSAGE_NO_PROC) {
            const struct request *taken =
                request_add(s, HANDLE(*message), p->bytes, p->ends, p->comm,
                            (p->flags & EVENT_INTER) | REQUEST_MESSAGE);
            scope_place(s, taken ? taken->number : 0, p->comm);
        }
    } else {
        scope_what(s, p->flags | EVENT_FAILED, 0);
    }
    scope_close(s);
}

/** Iprobe, Improbe: the record is begun only if a message was found. */
HOT void shape_iprobe_leave(const struct scope *s, int result, struct posted *p, int flag,
                            const MPI_Status *status, const MPI_Message *message)
{
    if (result == MPI_SUCCESS && !flag) {
        scope_poll(s, POLL_PROBE, probe_read_ticks());
        return;
    }
    shape_post_enter(s, p);
    shape_probe_leave(s, result, p, status, message);
}

/** Mrecv, Imrecv: source, tag and communicator are those stored by the matching probe. */
HOT struct posted posted_make_matched(const struct scope *s, uint64_t handle, int64_t count,
                                      MPI_Datatype type, uint32_t flags)
{
    struct request *message = request_find(handle);
    struct posted p = {.bytes = type_payload_bytes(s->t, count, type),
                       .ends = ring_ends(PEER_UNKNOWN, TAG_NONE),
                       .comm = COMM_SLOT_NONE,
                       .flags = flags};
    if (handle == HANDLE(MPI_MESSAGE_NO_PROC)) {
        p.ends = ring_ends(PEER_NULL, TAG_NONE);
    } else if (message && message->flags & REQUEST_MESSAGE) {
        p.ends = message->ends;
        p.comm = message->comm;
        p.flags |= message->flags & EVENT_INTER;
        p.more = message->number;
        request_remove(message);
    } else {
        p.flags |= EVENT_UNTRACKED;
    }
    return p;
}

/* ---- completion of one request ------------------------------------------- */

/** The request that a call completes; a local variable of the wrapper. */
struct waited {
    struct request *request; /**< NULL: none, or not in the table */
    uint64_t handle;
    MPI_Status own; /**< used if the application passed MPI_STATUS_IGNORE */
};

/** Find a request that is in the table and active. */
HOT struct request *request_find_active(uint64_t handle)
{
    if (handle == HANDLE(MPI_REQUEST_NULL))
        return NULL;
    struct request *request = request_find(handle);
    return request && !(request->flags & REQUEST_IDLE) ? request : NULL;
}

/** Should this request be in the table, but is not? */
HOT int request_is_unknown(uint64_t handle)
{
    return handle != HANDLE(MPI_REQUEST_NULL) && !request_is_complete(handle) &&
           !request_find(handle);
}

HOT void shape_wait_enter(const struct scope *s, struct waited *w, const MPI_Request *request)
{
    w->handle = HANDLE(*request);
    w->request = request_find_active(w->handle);
    const struct request *r = w->request;
    if (likely(r != NULL))
        scope_enter(s, r->bytes, r->t_post, r->ends, r->number, r->comm,
                    r->flags & ~(uint32_t)REQUEST_OWN);
    else
        shape_plain_enter(s);
}

/** Choose where the library stores the status. */
HOT MPI_Status *waited_choose_status(struct waited *w, MPI_Status *status)
{
    return status == MPI_STATUS_IGNORE && w->request && request_needs_status(w->request) ? &w->own
                                                                                         : status;
}

/** End a call that completed one request; the exit time is set already. */
HOT void shape_completed_leave(const struct scope *s, int result, struct request *r,
                               uint64_t handle, const MPI_Request *request,
                               const MPI_Status *status)
{
    if (likely(r != NULL)) {
        struct completion c = request_outcome(r, status, result != MPI_SUCCESS);
        ring_put(s->slot, RING_WORD_BYTES, c.bytes);
        ring_put(s->slot, RING_WORD_BYTES_IN, r->t_post);
        ring_put(s->slot, RING_WORD_ENDS, c.ends);
        scope_place(s, r->number, r->comm);
        scope_what(s, c.flags, 0);
        /* After an error the request may still be there. */
        if (likely(result == MPI_SUCCESS) || HANDLE(*request) != handle)
            request_retire(r);
    } else {
        uint32_t flags = result != MPI_SUCCESS ? EVENT_FAILED : 0;
        scope_what(s, flags | (request_is_unknown(handle) ? EVENT_UNTRACKED : 0), 0);
    }
    scope_close(s);
}

HOT void shape_wait_leave(const struct scope *s, int result, struct waited *w,
                          const MPI_Request *request, const MPI_Status *status)
{
    scope_exit(s);
    shape_completed_leave(s, result, w->request, w->handle, request, status);
}

/** Look up a request before a call that may complete it. This is needed only where threads share
 *  requests: after completion the library may give the handle to another thread. Without threads
 *  the lookup is postponed until the call has completed something. */
HOT struct request *request_find_before_call(uint64_t handle)
{
    return unlikely(probe.multiple) ? request_find_active(handle) : NULL;
}

HOT struct request *request_find_after_call(struct request *early, uint64_t handle)
{
    return unlikely(probe.multiple) ? early : request_find_active(handle);
}

HOT int request_is_idle(uint64_t handle)
{
    const struct request *request = request_is_complete(handle) ? NULL : request_find(handle);
    return request && request->flags & REQUEST_IDLE;
}

/** End an MPI_Test that completed a request or failed. Not inlined, so that the wrapper stays short
 *  for calls that complete nothing. */
static __attribute__((noinline, unused)) void
shape_test_leave_found(const struct scope *s, int result, struct request *early, uint64_t handle,
                       const MPI_Request *request, const MPI_Status *status)
{
    struct request *r = request_find_after_call(early, handle);
    if (!r && result == MPI_SUCCESS && request_is_idle(handle)) {
        scope_poll(s, POLL_TEST,
                   probe_read_ticks()); /* persistent and not started: nothing to find */
        return;
    }
    shape_plain_enter(s);
    scope_exit(s);
    shape_completed_leave(s, result, r, handle, request, status);
}

HOT void shape_test_leave(const struct scope *s, int result, struct request *early, uint64_t handle,
                          const MPI_Request *request, int flag, const MPI_Status *status)
{
    if (likely(result == MPI_SUCCESS && (!flag || handle == HANDLE(MPI_REQUEST_NULL))))
        scope_poll(s, POLL_TEST, probe_read_ticks());
    else
        shape_test_leave_found(s, result, early, handle, request, status);
}

/** MPI_Request_get_status does not complete the request: the record has the request's number, but
 * not EVENT_DONE. */
HOT void shape_get_status_leave(const struct scope *s, int result, uint64_t handle, int flag)
{
    struct request *r = request_find_active(handle);
    if (result == MPI_SUCCESS &&
        (!flag || handle == HANDLE(MPI_REQUEST_NULL) || (!r && request_is_idle(handle)))) {
        scope_poll(s, POLL_TEST, probe_read_ticks());
        return;
    }
    if (r)
        scope_enter(s, 0, 0, r->ends, r->number, r->comm, 0);
    else
        shape_plain_enter(s);
    shape_plain_leave(s, result);
}

/* ---- completion of several requests -------------------------------------- */

/** Arrays that a wrapper needs for the requests of a call, as long as that of the application. */
struct arrays {
    struct found *found; /**< NULL, as all of them: there is no memory for so many */
    struct request **entries;
    MPI_Status *statuses; /**< passed to the library if the application ignores them */
    MPI_Request *handles; /**< copy, made before the call that completes some of them */
    int length;           /**< of the application's array */
};

#define ARRAYS_BYTES(count)                                                                        \
    ((size_t)((count) > 0 ? (count) : 0) *                                                         \
     (sizeof(struct found) + sizeof(struct request *) + sizeof(MPI_Status) + sizeof(MPI_Request)))

/** On the stack of the caller, or mapped if they are long. */
#define ARRAYS_MAKE(t, count)                                                                      \
    arrays_cut((count) <= STACK_REQUESTS ? alloca(ARRAYS_BYTES(count))                             \
                                         : memory_scratch((t), ARRAYS_BYTES(count)),               \
               (count))

HOT struct arrays arrays_cut(void *memory, int count)
{
    struct arrays a = {.found = memory, .length = count};
    if (unlikely(!memory))
        return a;
    const size_t length = count > 0 ? (size_t)count : 0;
    a.entries = (struct request **)(void *)(a.found + length);
    a.statuses = (MPI_Status *)(void *)(a.entries + length);
    a.handles = (MPI_Request *)(void *)(a.statuses + length);
    return a;
}

/** Summary of an array of requests before a call. */
struct survey {
    uint32_t known; /**< active requests in the table */
    int wants;      /**< nonzero if some of them need a status */
    int unknown;    /**< nonzero if some should be in the table, but are not */
    int complete;   /**< nonzero if some were complete when they were posted */
};

/** There is no memory for an array that holds this request: its completion will not be observed. */
COLD static __attribute__((unused)) void request_give_up(struct thread *t, struct request *r)
{
    request_count_untracked(t, ring_peer(r->ends) != PEER_NULL);
    request_retire(r);
}

/** Look up the active requests of an array. @param found  NULL: there is no memory for them */
HOT struct survey survey_fill(struct thread *t, struct found *found, int count,
                              const MPI_Request *requests)
{
    struct survey survey = {0};
    const int shared = probe.multiple != 0;
    for (int i = 0; i < count; i++) {
        uint64_t handle = HANDLE(requests[i]);
        struct request *r = request_home_slot(handle);
        if (r->handle != handle || shared) {
            if (handle == HANDLE(MPI_REQUEST_NULL))
                continue;
            if (request_is_complete(handle)) {
                survey.complete = 1;
                continue;
            }
            r = request_find_displaced(handle);
            if (unlikely(!r)) {
                survey.unknown = 1;
                continue;
            }
        }
        if (unlikely(r->flags & REQUEST_IDLE))
            continue;
        if (unlikely(!found)) {
            request_give_up(t, r);
            survey.unknown = 1;
            continue;
        }
        found[survey.known++] = (struct found){r, (uint32_t)i};
        survey.wants |= request_needs_status(r);
    }
    return survey;
}

/** Further records of a call that completed n requests; the field is short. */
HOT uint16_t parts_after(uint32_t n)
{
    return (uint16_t)(n <= UINT16_MAX ? n - 1 : UINT16_MAX);
}

/** Write the completions of several requests: the first into the call's record, the others as
 * further records. The exit time is set already. Used for calls that failed and while recording is
 * paused.
 *  @param statuses  indexed by found.index; NULL if none of the requests needs a status */
static __attribute__((noinline, cold, unused)) void
shape_all_leave_slow(const struct scope *s, int result, uint64_t t_exit, const struct found *found,
                     uint32_t n, const MPI_Status *statuses, uint32_t flags)
{
    for (uint32_t i = 0; i < n; i++) {
        struct request *r = found[i].request;
        const MPI_Status *status = statuses ? &statuses[found[i].index] : NULL;
        int failed = result != MPI_SUCCESS &&
                     !(result == MPI_ERR_IN_STATUS && status && status->MPI_ERROR == MPI_SUCCESS);
        int pending = failed && status && status->MPI_ERROR == MPI_ERR_PENDING;
        struct completion c = request_outcome(r, status, failed);
        if (pending) /* the call has ended nothing: a later one will */
            c.flags = EVENT_FAILED | EVENT_REFUSED;
        if (i == 0) {
            ring_put(s->slot, RING_WORD_BYTES, c.bytes);
            ring_put(s->slot, RING_WORD_BYTES_IN, r->t_post);
            ring_put(s->slot, RING_WORD_ENDS, c.ends);
            scope_place(s, r->number, r->comm);
            scope_what(s, c.flags | flags, parts_after(n));
            record_publish(s->t, s->slot);
        } else {
            record_write_part(s, t_exit, c.bytes, r->t_post, c.ends, r->number, r->comm, c.flags);
        }
        if (!failed || (status && !pending))
            request_retire(r);
    }
    scope_leave(s);
}

/** Write the completions of several requests after a call that succeeded. MPI_Waitall of many
 *  requests spends its time in this loop. A record repeats the words of the request, except for the
 *  size of a receive, which comes from the status; requests with special flags go through
 *  request_outcome(). */
HOT void shape_all_leave(const struct scope *s, int result, uint64_t t_exit,
                         const struct found *found, uint32_t n, const MPI_Status *statuses,
                         uint32_t flags)
{
    if (n == 0) {
        scope_what(s, flags | (result != MPI_SUCCESS ? EVENT_FAILED : 0), 0);
        scope_close(s);
        return;
    }
    if (unlikely(result != MPI_SUCCESS || probe.paused)) {
        shape_all_leave_slow(s, result, t_exit, found, n, statuses, flags);
        return;
    }
    const uint32_t special =
        REQUEST_OWN | EVENT_WILDCARD | EVENT_PERSISTENT | (statuses ? 0 : EVENT_RECV);
    const uint64_t region = ring_place(0, 0, s->t->region);
    uint64_t what = ring_what(s->call, flags, EVENT_CALL, parts_after(n));
    struct ring_writer ring = s->t->ring;
    for (uint32_t i = 0; i < n; i++) {
        struct request *r = found[i].request;
        const MPI_Status *status = statuses ? &statuses[found[i].index] : NULL;
        uint32_t own = r->flags;
        uint64_t t_post = r->t_post, bytes = r->bytes, ends = r->ends;
        uint64_t place = (r->place & UINT64_C(0xffffffffffff)) | region;
        struct event *slot = ring_slot(&ring);
        if (unlikely(own & special)) {
            struct completion c = request_outcome(r, status, 0);
            bytes = c.bytes;
            ends = c.ends;
            own = c.flags;
            request_retire(r);
        } else {
            if (own & EVENT_RECV)
                bytes = status_payload_bytes(status);
            own |= EVENT_DONE;
            request_remove(r);
        }
        ring_put(slot, RING_WORD_T_ENTER, s->t_enter);
        ring_put(slot, RING_WORD_T_EXIT, t_exit);
        ring_put(slot, RING_WORD_BYTES, bytes);
        ring_put(slot, RING_WORD_BYTES_IN, t_post);
        ring_put(slot, RING_WORD_ENDS, ends);
        ring_put(slot, RING_WORD_PLACE, place);
        ring_put(slot, RING_WORD_WHAT, what | ring_what(0, own, 0, 0));
        ring_enter(&ring, slot);
        record_prefetch_next(slot);
        ring_publish(&ring);
        if (unlikely(ring_is_due(&ring))) {
            s->t->ring.head = ring.head;
            ring_maintain(&s->t->ring);
            ring.due = s->t->ring.due;
        }
        what = ring_what(s->call, 0, EVENT_PART, 0);
    }
    s->t->ring.head = ring.head;
    scope_leave(s);
}

/** Write the entry fields: the first request represents all while the call is in progress. */
HOT void shape_all_enter(const struct scope *s, const struct found *found, uint32_t n)
{
    if (n == 0) {
        shape_plain_enter(s);
        return;
    }
    const struct request *r = found[0].request;
    scope_enter(s, r->bytes, r->t_post, r->ends, r->number, r->comm,
                r->flags & ~(uint32_t)REQUEST_OWN);
}

/** Copy an array of requests before a call. If threads share requests, they are looked up, too. */
HOT void arrays_copy_handles(struct arrays *a, int count, const MPI_Request *requests)
{
    if (likely(!probe.multiple))
        a->entries = NULL;
    if (unlikely(!a->handles) || count <= 0)
        return;
    memcpy(a->handles, requests, (size_t)count * sizeof(*a->handles));
    for (int i = 0; a->entries && i < count; i++)
        a->entries[i] = request_find_active(HANDLE(a->handles[i]));
}

HOT struct request *arrays_find(const struct arrays *before, int index)
{
    return before->entries ? before->entries[index]
                           : request_find_active(HANDLE(before->handles[index]));
}

/** End a call that completed one of an array.
 *  @param index  MPI_UNDEFINED if the array has no active request; anything if the call failed */
HOT void shape_any_leave(const struct scope *s, int result, int index, const struct arrays *before,
                         const MPI_Request *requests, const MPI_Status *status)
{
    scope_exit(s);
    if (index == MPI_UNDEFINED || index < 0 || index >= before->length) {
        scope_what(s, result != MPI_SUCCESS ? EVENT_FAILED : 0, 0);
        scope_close(s);
    } else if (!before->handles) {
        request_count_untracked(s->t, 1);
        scope_what(s, EVENT_UNTRACKED, 0);
        scope_close(s);
    } else {
        shape_completed_leave(s, result, arrays_find(before, index), HANDLE(before->handles[index]),
                              &requests[index], status);
    }
}

/** End a call that completed some of an array; statuses are in the order of the indices. After a
 *  failure the number and the indices may be anything. */
HOT void shape_some_leave(const struct scope *s, int result, int done, const int *indices,
                          const struct arrays *before, const MPI_Status *statuses)
{
    uint64_t t_exit = scope_exit(s);
    uint32_t n = 0, flags = 0;
    if (done == MPI_UNDEFINED || done < 0 || done > before->length)
        done = 0;
    if (unlikely(!before->handles)) {
        request_count_untracked(s->t, (uint64_t)done);
        flags = EVENT_UNTRACKED;
        done = 0;
    }
    for (int i = 0; i < done; i++) {
        if (unlikely(indices[i] < 0 || indices[i] >= before->length))
            continue;
        struct request *r = arrays_find(before, indices[i]);
        if (r)
            before->found[n++] = (struct found){r, (uint32_t)i};
        else if (request_is_unknown(HANDLE(before->handles[indices[i]])))
            flags = EVENT_UNTRACKED;
    }
    shape_all_leave(s, result, t_exit, before->found, n, statuses, flags);
}

/* ---- persistent requests, freeing, cancelling ---------------------------- */

HOT int request_is_collective(const struct request *r)
{
    return !(r->flags & (EVENT_SEND | EVENT_RECV));
}

/** Bytes that a start receives: those of a persistent collective. */
HOT uint64_t request_start_bytes_in(const struct request *r)
{
    return unlikely(request_is_collective(r)) ? collective_bytes_in(r->number) : 0;
}

HOT void shape_start_enter(const struct scope *s, const struct request *r)
{
    if (r)
        scope_enter(s, r->bytes, request_start_bytes_in(r), r->ends, r->number, r->comm,
                    (r->flags & ~(uint32_t)REQUEST_OWN) | EVENT_POST);
    else
        shape_plain_enter(s);
}

HOT void request_mark_started(const struct scope *s, struct request *r)
{
    if (unlikely(!(r->flags & REQUEST_IDLE)))
        request_count_unseen(s->t, r);
    r->t_post = s->t_enter;
    r->flags = (uint16_t)(r->flags & ~(REQUEST_IDLE | REQUEST_CANCELLED));
}

/** @param handle, after  of the request before and after the call: Open MPI replaces a buffered one
 *                        that is started again before its former message has left */
HOT void shape_start_leave(const struct scope *s, int result, struct request *r, uint64_t handle,
                           uint64_t after)
{
    scope_exit(s);
    if (unlikely(r && after != handle) && result == MPI_SUCCESS)
        r = request_move(s->t, r, after);
    if (r && result == MPI_SUCCESS)
        request_mark_started(s, r);
    else
        scope_what(s,
                   (result != MPI_SUCCESS ? EVENT_FAILED : 0) |
                       (!r && !request_is_complete(handle) ? EVENT_UNTRACKED : 0),
                   0);
    scope_close(s);
}

HOT struct request *request_find_first_known(int count, const MPI_Request *requests)
{
    for (int i = 0; i < count; i++) {
        struct request *r = request_find(HANDLE(requests[i]));
        if (r)
            return r;
    }
    return NULL;
}

HOT void arrays_move_replaced(const struct scope *s, const struct arrays *before,
                              const MPI_Request *requests)
{
    for (int i = 0; before->handles && i < before->length; i++) {
        uint64_t handle = HANDLE(before->handles[i]);
        struct request *r = HANDLE(requests[i]) != handle ? request_find(handle) : NULL;
        if (unlikely(r != NULL))
            request_move(s->t, r, HANDLE(requests[i]));
    }
}

HOT void shape_startall_leave(const struct scope *s, int result, const struct arrays *before,
                              const MPI_Request *requests)
{
    uint64_t t_exit = scope_exit(s);
    const int count = before->length;
    unsigned known = 0;
    if (result == MPI_SUCCESS)
        arrays_move_replaced(s, before, requests);
    for (int i = 0; i < count; i++)
        known += request_find(HANDLE(requests[i])) != NULL;
    uint32_t flags = result != MPI_SUCCESS ? EVENT_FAILED : 0;
    if (known != (unsigned)(count < 0 ? 0 : count))
        flags |= EVENT_UNTRACKED;
    struct request *first =
        known && result == MPI_SUCCESS ? request_find_first_known(count, requests) : NULL;
    if (first)
        flags |= (first->flags & ~(uint32_t)REQUEST_OWN) | EVENT_POST;
    scope_what(s, flags, first ? parts_after(known) : 0);
    record_publish(s->t, s->slot);
    for (int i = 0; first && i < count; i++) {
        struct request *r = request_find(HANDLE(requests[i]));
        if (!r)
            continue;
        request_mark_started(s, r);
        if (r != first)
            record_write_part(s, t_exit, r->bytes, request_start_bytes_in(r), r->ends, r->number,
                              r->comm, (r->flags & ~(uint32_t)REQUEST_OWN) | EVENT_POST);
    }
    scope_leave(s);
}

/** MPI_Cancel, MPI_Request_free: the record has the number of the request. */
HOT void shape_request_enter(const struct scope *s, const struct request *r)
{
    if (r)
        scope_enter(s, 0, 0, r->ends, r->number, r->comm, 0);
    else
        shape_plain_enter(s);
}

HOT void shape_request_free_leave(const struct scope *s, int result, struct request *r)
{
    uint32_t flags = 0;
    if (r && result == MPI_SUCCESS) {
        if (request_end_unseen(s->t, r))
            flags = EVENT_UNTRACKED;
        request_remove(r);
    }
    scope_exit(s);
    scope_what(s, flags | (result != MPI_SUCCESS ? EVENT_FAILED : 0), 0);
    scope_close(s);
}

#endif

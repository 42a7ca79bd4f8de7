/* The table of requests beyond the fast path: collisions, threads, and MPI_Waitall in batches. */
#include "agent/probe/call_record.h"

/* Find a request that is not in the home slot of its handle: linear probing. With
 * MPI_THREAD_MULTIPLE the library may reuse a handle before the thread that completed the former
 * request has removed its entry: both are in the table for a moment. A caller that searches owns
 * the handle, so the newer entry belongs to it; the owner of the older entry has its address
 * already. */
struct request *request_find_displaced(uint64_t handle)
{
    if (handle <= 1)
        return NULL;
    struct request *first = request_home_slot(handle), *found = NULL;
    for (uint32_t i = 0; i < REQUEST_WINDOW; i++) {
        struct request *slot =
            &probe.requests[((size_t)(first - probe.requests) + i) % REQUEST_CAPACITY];
        if (__atomic_load_n(&slot->handle, __ATOMIC_ACQUIRE) != handle)
            continue;
        if (!found || (int32_t)(slot->number - found->number) > 0)
            found = slot;
        if (!probe.multiple)
            break;
    }
    return found;
}

/* Claim a slot for a new request. Without threads, an entry with the same handle belongs to a
 * request whose completion was not seen: it is replaced. */
struct request *request_add_displaced(uint64_t handle)
{
    struct request *first = request_home_slot(handle);
    if (!probe.multiple) {
        struct request *stale = request_find_displaced(handle);
        if (stale)
            return stale;
    }
    for (uint32_t i = 0; i < REQUEST_WINDOW; i++) {
        struct request *slot =
            &probe.requests[((size_t)(first - probe.requests) + i) % REQUEST_CAPACITY];
        uint64_t free = 0;
        if (__atomic_compare_exchange_n(&slot->handle, &free, 1, 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return slot;
    }
    return NULL;
}

int request_wait_in_pieces(int (*real)(int, MPI_Request *, MPI_Status *), int count,
                           MPI_Request *requests, const struct found *found, uint32_t n)
{
    MPI_Status statuses[STATUS_BATCH];
    uint32_t next = 0;
    for (int first = 0; first < count; first += (int)STATUS_BATCH) {
        int piece = count - first < (int)STATUS_BATCH ? count - first : (int)STATUS_BATCH;
        int result = real(piece, requests + first, statuses);
        if (result != MPI_SUCCESS)
            return result;
        for (; next < n && found[next].index < (uint32_t)(first + piece); next++) {
            struct request *r = found_request(&found[next]);
            struct completion c =
                request_outcome(r, &statuses[found[next].index - (uint32_t)first], 0);
            r->bytes = c.bytes;
            r->ends = c.ends;
            if (!(c.flags & EVENT_CANCELLED))
                r->flags = (uint16_t)(r->flags & ~REQUEST_CANCELLED);
            r->flags |= (uint16_t)REQUEST_KNOWN;
        }
    }
    return MPI_SUCCESS;
}

/* The table of requests beyond the fast path: collisions, threads, and more requests than the
 * static table holds. */
#include "agent/probe/call_record.h"

#include PROBE_WRAPPERS_H

#define CHAIN_COUNT (1u << 20)
#define CHUNK_BYTES (1u << 20)
#define CHUNK_COUNT (MAPPED_LIMIT / CHUNK_BYTES)
#define CHUNK_ENTRIES (CHUNK_BYTES / sizeof(struct chained))

/** A request whose slots in the static table were all taken. It remains in the chain of its hash;
 * when its handle is 0, the next request of that chain uses it. */
struct chained {
    struct request request;
    struct chained *next; /**< does not change while the entry is in a chain */
};

static void *chains; /* first entries of CHAIN_COUNT chains; NULL: none was needed yet */
static void *chunks[CHUNK_COUNT]; /* the entries */
static uint32_t entries_used;

static uint64_t request_chain_index(uint64_t handle)
{
    _Static_assert(CHAIN_COUNT == 1u << 20, "the shift below");
    return (handle * UINT64_C(0x9e3779b97f4a7c15)) >> 44;
}

static struct chained *request_new_entry(void)
{
    uint32_t number = __atomic_load_n(&entries_used, __ATOMIC_RELAXED);
    struct chained *chunk;
    do {
        if (number == CHUNK_COUNT * CHUNK_ENTRIES ||
            !(chunk = memory_map_once(&chunks[number / CHUNK_ENTRIES], CHUNK_BYTES)))
            return NULL;
    } while (!__atomic_compare_exchange_n(&entries_used, &number, number + 1, 0, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return &chunk[number % CHUNK_ENTRIES];
}

/* Claim a free slot for the calling thread. */
static int request_claim(struct request *slot)
{
    uint64_t free = 0;
    return __atomic_compare_exchange_n(&slot->handle, &free, 1, 0, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

static struct request *request_add_chained(uint64_t handle)
{
    struct chained **first = memory_map_once(&chains, CHAIN_COUNT * sizeof(*first));
    if (!first)
        return NULL;
    first += request_chain_index(handle);
    struct chained *entry = __atomic_load_n(first, __ATOMIC_ACQUIRE), *next = entry;
    for (; entry; entry = entry->next)
        if (request_claim(&entry->request))
            return &entry->request;
    if (!(entry = request_new_entry()))
        return NULL;
    entry->request.handle = 1;
    do
        entry->next = next;
    while (
        !__atomic_compare_exchange_n(first, &next, entry, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
    return &entry->request;
}

/* The newer of the requests found so far and of the one in a slot, if it has this handle. */
static struct request *request_newer(struct request *found, struct request *slot, uint64_t handle)
{
    return __atomic_load_n(&slot->handle, __ATOMIC_ACQUIRE) == handle &&
                   (!found || (int32_t)(slot->number - found->number) > 0)
               ? slot
               : found;
}

static struct request *request_window_slot(const struct request *first, uint32_t i)
{
    return &probe.requests[((size_t)(first - probe.requests) + i) % REQUEST_CAPACITY];
}

/* Find a request that is not in the home slot of its handle: linear probing, then the chain. With
 * MPI_THREAD_MULTIPLE the library may reuse a handle before the thread that completed the former
 * request has removed its entry: both are in the table for a moment. A caller that searches owns
 * the handle, so the newer entry belongs to it; the owner of the older entry has its address
 * already. */
struct request *request_find_displaced(uint64_t handle)
{
    if (handle <= 1)
        return NULL;
    struct request *first = request_home_slot(handle), *found = NULL;
    for (uint32_t i = 0; i < REQUEST_WINDOW && (!found || probe.multiple); i++)
        found = request_newer(found, request_window_slot(first, i), handle);
    struct chained **heads = __atomic_load_n((struct chained ***)(void *)&chains, __ATOMIC_ACQUIRE);
    if (!heads || (found && !probe.multiple))
        return found;
    const uint64_t index = request_chain_index(handle);
    for (struct chained *entry = __atomic_load_n(&heads[index], __ATOMIC_ACQUIRE);
         entry && (!found || probe.multiple); entry = entry->next)
        found = request_newer(found, &entry->request, handle);
    return found;
}

int request_count_unseen(struct thread *t, const struct request *request)
{
    const int is_receive = (request->flags & (EVENT_RECV | REQUEST_IDLE)) == EVENT_RECV &&
                           ring_peer(request->ends) != PEER_NULL;
    request_count_untracked(t, (uint64_t)is_receive);
    return is_receive;
}

int request_end_unseen(struct thread *t, const struct request *request)
{
    if (!(request->flags & (EVENT_SEND | EVENT_RECV)))
        collective_remove(request->number);
    if (request->flags & EVENT_PERSISTENT)
        comm_remove_request(request->comm);
    return request_count_unseen(t, request);
}

/* Claim a slot for a new request. Without threads, an entry with the same handle belongs to a
 * request whose completion was not seen: it is replaced. */
struct request *request_add_displaced(struct thread *t, uint64_t handle)
{
    struct request *first = request_home_slot(handle);
    struct request *stale = probe.multiple ? NULL : request_find_displaced(handle);
    if (stale) {
        request_end_unseen(t, stale);
        return stale;
    }
    for (uint32_t i = 0; i < REQUEST_WINDOW; i++) {
        struct request *slot = request_window_slot(first, i);
        if (request_claim(slot))
            return slot;
    }
    return request_add_chained(handle);
}

struct request *request_move(struct thread *t, struct request *request, uint64_t handle)
{
    struct request *to = request_add_displaced(t, handle);
    if (to) {
        to->t_post = request->t_post;
        to->bytes = request->bytes;
        to->ends = request->ends;
        to->place = request->place;
        __atomic_store_n(&to->handle, handle, __ATOMIC_RELEASE);
    } else {
        request_count_untracked(t, 1);
    }
    request_remove(request);
    return to;
}

static int request_error_class(int result)
{
    int class_ = MPI_SUCCESS;
    if (real_PMPI_Error_class)
        real_PMPI_Error_class(result, &class_);
    return class_;
}

int request_is_truncated(int result)
{
    return request_error_class(result) == MPI_ERR_TRUNCATE;
}

uint32_t request_failure_flags(int result)
{
    const int class_ = request_error_class(result);
    int refused = class_ == MPI_ERR_BUFFER || class_ == MPI_ERR_COUNT || class_ == MPI_ERR_TYPE ||
                  class_ == MPI_ERR_TAG || class_ == MPI_ERR_COMM || class_ == MPI_ERR_RANK ||
                  class_ == MPI_ERR_ARG;
    return refused ? EVENT_FAILED | EVENT_REFUSED : EVENT_FAILED;
}

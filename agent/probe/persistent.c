/* Bytes that each start of a persistent collective receives. The entry of a request holds one size,
 * that of the sent data; this second size, which few requests have, is in a table of its own. */
#include "agent/probe/call_record.h"

#define FILLING UINT32_MAX /* the slot is being filled by another thread */

static uint64_t collective_slot_index(uint32_t number, uint32_t i)
{
    return (number + i) % COLLECTIVE_CAPACITY;
}

void collective_store_bytes(struct thread *t, uint64_t handle, uint64_t bytes_in)
{
    const struct request *request = request_is_complete(handle) ? NULL : request_find(handle);
    if (!request || bytes_in == 0)
        return;
    for (uint32_t i = 0; i < COLLECTIVE_WINDOW; i++) {
        struct collective *slot = &probe.collectives[collective_slot_index(request->number, i)];
        uint32_t free = 0;
        if (!__atomic_compare_exchange_n(&slot->number, &free, FILLING, 0, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED))
            continue;
        slot->bytes_in = bytes_in;
        __atomic_store_n(&slot->number, request->number, __ATOMIC_RELEASE);
        return;
    }
    request_count_untracked(t, 1);
}

static struct collective *collective_find(uint32_t number)
{
    for (uint32_t i = 0; i < COLLECTIVE_WINDOW; i++) {
        struct collective *slot = &probe.collectives[collective_slot_index(number, i)];
        if (__atomic_load_n(&slot->number, __ATOMIC_ACQUIRE) == number)
            return slot;
    }
    return NULL;
}

uint64_t collective_bytes_in(uint32_t number)
{
    const struct collective *found = collective_find(number);
    return found ? found->bytes_in : 0;
}

void collective_remove(uint32_t number)
{
    struct collective *found = collective_find(number);
    if (found)
        __atomic_store_n(&found->number, 0, __ATOMIC_RELEASE);
}

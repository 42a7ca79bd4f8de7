/* Bytes that each start of a persistent collective receives. The entry of a request holds one size,
 * that of the sent data; this second size, which few requests have, is in tables of its own. They
 * are mapped when they are needed: a larger one when no slot for a request is free in the smaller
 * ones. */
#include "agent/probe/call_record.h"

#define COLLECTIVE_TABLES 3u
#define COLLECTIVE_CAPACITY 4096u /* slots of the first table, a power of two */
#define COLLECTIVE_GROWTH 4u      /* powers of two by which each other one is larger */
#define COLLECTIVE_WINDOW 16u     /* slots that are searched from the home slot on */
#define FILLING UINT32_MAX        /* the slot is being filled by another thread */

struct collective {
    uint32_t number;   /**< of the request; 0: free */
    uint64_t bytes_in; /**< bytes that this rank receives by each start */
};

static void *tables[COLLECTIVE_TABLES]; /* arrays of struct collective; NULL: not needed yet */

static uint32_t collective_capacity(uint32_t table)
{
    return COLLECTIVE_CAPACITY << COLLECTIVE_GROWTH * table;
}

static struct collective *collective_slot(void *table, uint32_t capacity, uint32_t i)
{
    return (struct collective *)table + i % capacity;
}

static int collective_claim(struct collective *slot)
{
    uint32_t free = 0;
    return __atomic_compare_exchange_n(&slot->number, &free, FILLING, 0, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

void collective_store_bytes(struct thread *t, uint64_t handle, uint64_t bytes_in)
{
    const struct request *request = request_is_complete(handle) ? NULL : request_find(handle);
    if (!request || bytes_in == 0)
        return;
    for (uint32_t k = 0; k < COLLECTIVE_TABLES; k++) {
        const uint32_t capacity = collective_capacity(k);
        void *table = memory_map_once(&tables[k], capacity * sizeof(struct collective));
        for (uint32_t i = 0; table && i < COLLECTIVE_WINDOW; i++) {
            struct collective *slot = collective_slot(table, capacity, request->number + i);
            if (!collective_claim(slot))
                continue;
            slot->bytes_in = bytes_in;
            __atomic_store_n(&slot->number, request->number, __ATOMIC_RELEASE);
            return;
        }
    }
    request_count_untracked(t, 1);
}

static struct collective *collective_find(uint32_t number)
{
    for (uint32_t k = 0; k < COLLECTIVE_TABLES; k++) {
        void *table = __atomic_load_n(&tables[k], __ATOMIC_ACQUIRE);
        for (uint32_t i = 0; table && i < COLLECTIVE_WINDOW; i++) {
            struct collective *slot = collective_slot(table, collective_capacity(k), number + i);
            if (__atomic_load_n(&slot->number, __ATOMIC_ACQUIRE) == number)
                return slot;
        }
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

/* Memory beyond the static tables: mapped by calls that need it, within a bound for the process. */
#include "agent/probe/probe.h"

#include <errno.h>
#include <sys/mman.h>

static size_t mapped; /* bytes at present */

void *memory_map(size_t bytes)
{
    int error = errno;
    void *at = MAP_FAILED;
    if (__atomic_add_fetch(&mapped, bytes, __ATOMIC_RELAXED) <= MAPPED_LIMIT)
        at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        __atomic_sub_fetch(&mapped, bytes, __ATOMIC_RELAXED);
    errno = error;
    return at == MAP_FAILED ? NULL : at;
}

void memory_unmap(void *at, size_t bytes)
{
    int error = errno;
    munmap(at, bytes);
    __atomic_sub_fetch(&mapped, bytes, __ATOMIC_RELAXED);
    errno = error;
}

void *memory_map_once(void **shared, size_t bytes)
{
    void *known = __atomic_load_n(shared, __ATOMIC_ACQUIRE);
    void *made = known ? NULL : memory_map(bytes);
    if (!made ||
        __atomic_compare_exchange_n(shared, &known, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made ? made : known;
    memory_unmap(made, bytes);
    return known;
}

void *memory_scratch(struct thread *t, size_t bytes)
{
    if (bytes > t->scratch_bytes) {
        memory_free_scratch(t);
        bytes = (bytes | 0x1ffff) + 1; /* whole 128 KiB: the next array may be longer */
        t->scratch = memory_map(bytes);
        t->scratch_bytes = t->scratch ? bytes : 0;
    }
    return t->scratch;
}

void memory_free_scratch(struct thread *t)
{
    if (t->scratch)
        memory_unmap(t->scratch, t->scratch_bytes);
    t->scratch = NULL;
    t->scratch_bytes = 0;
}

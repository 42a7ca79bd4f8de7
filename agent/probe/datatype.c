/* Sizes of datatypes, cached for each thread. */
#include "agent/probe/call_record.h"

#include PROBE_WRAPPERS_H

/* Each thread has a cache of its own, so that no thread reads what another one writes. Freeing a
 * datatype invalidates all caches, because MPI may give its handle to another datatype. */
const struct type_size type_null = {.handle = ~UINT64_C(0)};

static struct type_size *type_cache_slot(struct thread *t, uint64_t handle)
{
    _Static_assert(TYPE_CAPACITY == 32, "the shift below");
    return &t->types[(handle * UINT64_C(0x9e3779b97f4a7c15)) >> 59];
}

uint64_t type_lookup_size(struct thread *t, MPI_Datatype type)
{
    struct type_size *known = type_cache_slot(t, HANDLE(type));
    t->type = known;
    if (known->handle == HANDLE(type) && t->type_epoch == probe.type_epoch)
        return known->bytes;
    if (type == MPI_DATATYPE_NULL)
        return 0; /* the MPI call reports the error */
    uint32_t epoch = __atomic_load_n(&probe.type_epoch, __ATOMIC_ACQUIRE);
    if (t->type_epoch != epoch) {
        memset(t->types, 0, sizeof(t->types));
        t->type_epoch = epoch;
    }
    MPI_Count bytes = 0;
    if (!real_PMPI_Type_size_x || real_PMPI_Type_size_x(type, &bytes) != MPI_SUCCESS || bytes < 0)
        return 0;
    *known = (struct type_size){.handle = HANDLE(type), .bytes = (uint64_t)bytes};
    return (uint64_t)bytes;
}

void type_freed(struct thread *t, uint64_t handle)
{
    struct type_size *known = type_cache_slot(t, handle);
    if (known->handle == handle)
        known->handle = 0;
    uint32_t before = __atomic_fetch_add(&probe.type_epoch, 1, __ATOMIC_ACQ_REL);
    if (t->type_epoch ==
        before) /* no other thread freed a datatype meanwhile: the other entries are valid */
        t->type_epoch = before + 1;
}

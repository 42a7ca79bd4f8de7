/* Cartesian communicators: the shape of each is written to the segment when it is made. The entry
 * stays when the communicator is freed, because many programs only query their position in the
 * grid, free the communicator and communicate in MPI_COMM_WORLD. */
#include "agent/probe/call_record.h"

#include PROBE_WRAPPERS_H

#define DIMENSIONS ((int)CART_DIMENSIONS)

/* Query the shape from MPI. @return 1 if the grid contains all ranks of the communicator */
static int cartesian_read_shape(MPI_Comm comm, int size, struct cart_slot *out)
{
    int dimensions = 0, sizes[DIMENSIONS], wraps[DIMENSIONS], mine[DIMENSIONS];
    int64_t ranks = 1;
    if (size < 2 || real_PMPI_Cartdim_get(comm, &dimensions) != MPI_SUCCESS || dimensions < 1 ||
        dimensions > DIMENSIONS ||
        real_PMPI_Cart_get(comm, dimensions, sizes, wraps, mine) != MPI_SUCCESS)
        return 0;
    out->dimensions = (uint32_t)dimensions;
    for (int i = 0; i < dimensions; i++) {
        if (sizes[i] < 1 || (ranks *= sizes[i]) > size)
            return 0;
        out->sizes[i] = (uint32_t)sizes[i];
        out->periods |= (uint32_t)(wraps[i] != 0) << i;
    }
    return ranks == size;
}

void cartesian_made(MPI_Comm comm, int rank, int size, uint64_t id, uint32_t made)
{
    struct cart_slot cart = {.position = (uint32_t)rank, .id = id, .made = made};
    if (!cartesian_read_shape(comm, size, &cart))
        return;
    /* Several threads may get here at the same time: each claims a slot of its own. */
    uint32_t index = atomic_fetch_add_explicit(&probe.segment->carts_made, 1, memory_order_relaxed);
    if (index >= SEGMENT_CARTS || index >= probe.segment->carts)
        return;
    struct cart_slot *slot = segment_cart(probe.segment, index);
    slot->dimensions = cart.dimensions;
    slot->periods = cart.periods;
    slot->position = cart.position;
    slot->id = cart.id;
    slot->made = cart.made;
    memcpy(slot->sizes, cart.sizes, sizeof(slot->sizes));
    atomic_store_explicit(&slot->ready, 1, memory_order_release);
}

#include "tests/agent/node/fake_rank.h"

#include "holter/clock.h"
#include "proto/host.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void describe(struct segment *segment, const char *session, int32_t pid, const char *job)
{
    segment->pid = pid;
    segment->uid = (uint32_t)getuid();
    segment->pid_start = process_start_time(pid);
    segment->flavour = MPI_FLAVOUR_OPENMPI;
    segment->tick_unit = TICK_NS;
    segment->tick_start = segment->mono_start_ns = clock_mono_ns();
    snprintf(segment->session, sizeof segment->session, "%s", session);
    snprintf(segment->job, sizeof segment->job, "%s", job);
    char host[HOST_NAME_CAPACITY];
    host_name(host);
    snprintf(segment->host, sizeof segment->host, "%.63s", host);
    snprintf(segment->app, sizeof segment->app, "/bin/fake");
    snprintf(segment->mpi, sizeof segment->mpi, "Fake MPI 1.0");
    snprintf(segment->probe, sizeof segment->probe, "0");
    snprintf(segment->placement, sizeof segment->placement, "0-1");
}

int fake_rank_create(struct fake_rank *fake, const char *session, int32_t pid, const char *job,
                     int32_t rank, int32_t size, uint32_t first_capacity)
{
    struct segment_shape shape = {
        .rings = 4,
        .comms = SEGMENT_COMMS,
        .regions = SEGMENT_REGIONS,
        .carts = SEGMENT_CARTS,
        .first_capacity = first_capacity,
        .early_capacity = 64,
        .late_capacity = 64,
    };
    int rc = segment_name(fake->name, sizeof fake->name, (uint32_t)getuid(), session, pid);
    if (rc == 0)
        rc = segment_create(&fake->segment, fake->name, &shape);
    if (rc != 0)
        return rc;
    fake->bytes = segment_bytes(&shape);
    describe(fake->segment, session, pid, job);
    atomic_store(&fake->segment->rank, rank);
    atomic_store(&fake->segment->size, size);
    fake_rank_comm(fake, 0, 1, (uint32_t)size, "MPI_COMM_WORLD");
    fake_rank_thread(fake, 0);
    atomic_store(&fake->segment->state, SEGMENT_RUNNING);
    return 0;
}

void fake_rank_thread(struct fake_rank *fake, uint32_t ring)
{
    struct ring_control *control = segment_ring(fake->segment, ring);
    ring_writer_init(&fake->writer, fake->segment, control);
    atomic_store(&control->state, RING_ACTIVE);
}

void fake_rank_destroy(struct fake_rank *fake)
{
    segment_unmap(fake->segment, fake->bytes);
    shm_unlink(fake->name);
}

static void put(struct event *slot, const struct event *event)
{
    ring_put(slot, RING_WORD_T_ENTER, event->t_enter);
    ring_put(slot, RING_WORD_T_EXIT, event->t_exit);
    ring_put(slot, RING_WORD_BYTES, event->bytes);
    ring_put(slot, RING_WORD_BYTES_IN, event->bytes_in);
    ring_put(slot, RING_WORD_ENDS, ring_ends(event->peer, event->tag));
    ring_put(slot, RING_WORD_PLACE, ring_place(event->request, event->comm, event->region));
    ring_put(slot, RING_WORD_WHAT, ring_what(event->call, event->flags, event->kind, event->parts));
}

void fake_rank_write(struct fake_rank *fake, const struct event *event)
{
    struct event *slot = ring_slot(&fake->writer);
    put(slot, event);
    ring_enter(&fake->writer, slot);
    ring_publish(&fake->writer);
    if (ring_is_due(&fake->writer))
        ring_maintain(&fake->writer);
}

void fake_rank_enter(struct fake_rank *fake, const struct event *event)
{
    struct event *slot = ring_slot(&fake->writer);
    struct event entered = *event;
    entered.t_exit = 0;
    put(slot, &entered);
    ring_enter(&fake->writer, slot);
}

void fake_rank_comm(struct fake_rank *fake, uint32_t slot, uint64_t id, uint32_t size,
                    const char *name)
{
    struct comm_slot *comm = segment_comm(fake->segment, slot);
    comm->size = size;
    comm->id = id;
    snprintf(comm->name, sizeof comm->name, "%s", name);
    atomic_fetch_add(&comm->generation, 1);
}

void fake_rank_region(struct fake_rank *fake, uint32_t slot, const char *name)
{
    struct region_slot *region = segment_region(fake->segment, slot);
    snprintf(region->name, sizeof region->name, "%s", name);
    atomic_store(&region->ready, 1);
}

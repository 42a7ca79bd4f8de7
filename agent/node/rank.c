/* A rank's segment: mapped, checked once, and its tables of communicators, code regions and
 * Cartesian communicators read slot by slot. */
#include "agent/node/rank.h"

#include "agent/launch/rendezvous.h"
#include "holter/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAXIMUM_RINGS 4096u

void rank_copy_text(char *out, size_t capacity, const char *text, size_t bound)
{
    size_t length = strnlen(text, bound < capacity - 1 ? bound : capacity - 1);
    memcpy(out, text, length);
    out[length] = '\0';
}

/* The header has been checked by segment_open(), but its memory can change at any time: offsets are
 * read once here, and checked again when they are used. */
static void *rank_locate_table(const struct rank *rank, const uint64_t *offset,
                               const uint32_t *count, size_t each, uint32_t *count_out)
{
    uint64_t at = *(const volatile uint64_t *)offset;
    uint32_t slots = *(const volatile uint32_t *)count;
    if (at % 64 != 0 || at > rank->bytes || (rank->bytes - at) / each < slots)
        return NULL;
    *count_out = slots;
    return (char *)rank->segment + at;
}

int rank_locate_tally(struct rank *rank, uint32_t ring)
{
    const struct ring_control *control = &rank->controls[ring];
    struct rank_ring *to = &rank->rings[ring];
    to->tally = rank_locate_table(rank, &control->tally_offset, &control->tally_capacity,
                                  sizeof *to->tally, &to->tally_capacity);
    return to->tally != NULL ? 0 : -HOLTER_ECORRUPT;
}

/* Copy a communicator's slot as one state of it. @return its generation; 0: never used, or changing
 */
static uint32_t rank_read_comm_slot(const struct comm_slot *slot, struct comm_slot *out)
{
    uint32_t before = atomic_load_explicit(&slot->generation, memory_order_acquire);
    out->my_rank = *(const volatile int32_t *)&slot->my_rank;
    out->size = *(const volatile uint32_t *)&slot->size;
    out->remote_size = *(const volatile uint32_t *)&slot->remote_size;
    out->id = *(const volatile uint64_t *)&slot->id;
    out->parent = *(const volatile uint64_t *)&slot->parent;
    out->since = *(const volatile uint64_t *)&slot->since;
    for (size_t i = 0; i < sizeof out->name; i++)
        out->name[i] = *(const volatile char *)&slot->name[i];
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&slot->generation, memory_order_relaxed) == before ? before : 0;
}

/* Whether a rank's position in the communicator determines its rank in the job. It does for
 * MPI_COMM_WORLD (1), not for MPI_COMM_SELF (2), which differs in each rank, nor for
 * intercommunicators. */
static int rank_has_comm_position(const struct comm_slot *comm)
{
    return comm->id > 2 && comm->remote_size == 0 && comm->my_rank >= 0 &&
           (uint32_t)comm->my_rank < comm->size;
}

/* A freed slot still holds the communicator that its last records refer to. Slots are read once a
 * drain; while the generation stays, so does their content. */
static uint32_t rank_find_comm(void *user, uint32_t slot, uint64_t *since)
{
    struct rank *rank = user;
    struct comm_seen *seen = &rank->comm_positions_seen[slot];
    uint32_t epoch = event_sum_epoch(rank->sum);
    uint32_t generation = atomic_load_explicit(&rank->comms[slot].generation, memory_order_relaxed);
    *since = seen->since;
    if (seen->generation == generation && seen->epoch == epoch && generation != 0)
        return seen->position;
    struct comm_slot copy;
    char name[sizeof copy.name + 1];
    generation = rank_read_comm_slot(&rank->comms[slot], &copy);
    if (generation == 0)
        return 0;
    rank_copy_text(name, sizeof name, copy.name, sizeof copy.name);
    struct wire_comm_row row = {.id = copy.id,
                                .parent = copy.parent,
                                .size = copy.size,
                                .remote_size = copy.remote_size,
                                .name = name};
    *since = copy.since;
    *seen = (struct comm_seen){copy.since, generation, epoch, event_sum_comm(rank->sum, &row)};
    if (rank_has_comm_position(&copy) && seen->position != 0)
        event_sum_member(rank->sum, rank->index, seen->position, (uint32_t)copy.my_rank);
    return seen->position;
}

int rank_copy_comm(const struct rank *rank, uint32_t slot, struct comm_slot *out)
{
    return slot < rank->tables.comm_count && rank_read_comm_slot(&rank->comms[slot], out) != 0;
}

int rank_copy_region(const struct rank *rank, uint32_t slot, char *out, size_t capacity)
{
    if (slot == 0 || slot >= rank->tables.region_count ||
        atomic_load_explicit(&rank->regions[slot].ready, memory_order_acquire) != 1)
        return 0;
    rank_copy_text(out, capacity, rank->regions[slot].name, sizeof rank->regions[slot].name);
    return 1;
}

static uint32_t rank_find_region(void *user, uint32_t slot)
{
    struct rank *rank = user;
    char name[sizeof rank->regions->name + 1];
    return rank_copy_region(rank, slot, name, sizeof name) ? event_sum_region(rank->sum, name) : 0;
}

static int rank_create_tables(struct rank *rank)
{
    const struct segment *segment = rank->segment;
    rank->comms = rank_locate_table(rank, &segment->comms_offset, &segment->comms,
                                    sizeof(struct comm_slot), &rank->tables.comm_count);
    rank->regions = rank_locate_table(rank, &segment->regions_offset, &segment->regions,
                                      sizeof(struct region_slot), &rank->tables.region_count);
    rank->carts = rank_locate_table(rank, &segment->carts_offset, &segment->carts,
                                    sizeof(struct cart_slot), &rank->cart_count);
    uint32_t rings = 0, sources = SEGMENT_SOURCES;
    rank->sources = rank_locate_table(rank, &segment->sources_offset, &sources,
                                      sizeof(struct source_slot), &sources);
    rank->controls = rank_locate_table(rank, &segment->rings_offset, &segment->rings,
                                       sizeof(struct ring_control), &rings);
    if (rank->comms == NULL || rank->regions == NULL || rank->carts == NULL ||
        rank->sources == NULL || rank->controls == NULL || rings == 0 || rings > MAXIMUM_RINGS)
        return -HOLTER_ECORRUPT;
    rank->ring_limit = rings;
    rank->tables.comms = calloc(rank->tables.comm_count + 1, sizeof *rank->tables.comms);
    rank->tables.regions = calloc(rank->tables.region_count + 1, sizeof *rank->tables.regions);
    rank->rings = calloc(rings, sizeof *rank->rings);
    rank->comm_positions_seen =
        calloc(rank->tables.comm_count + 1, sizeof *rank->comm_positions_seen);
    rank->matching.comms_lost =
        calloc(rank->tables.comm_count + 1, sizeof *rank->matching.comms_lost);
    rank->tables.find_comm = rank_find_comm;
    rank->tables.find_region = rank_find_region;
    rank->tables.user = rank;
    return rank->tables.comms != NULL && rank->tables.regions != NULL && rank->rings != NULL &&
                   rank->comm_positions_seen != NULL && rank->matching.comms_lost != NULL
               ? 0
               : -ENOMEM;
}

/* Whether the header belongs to the process in the segment's name, and to this user. */
static int rank_copy_identity(struct rank *rank, const char *session)
{
    const struct segment *segment = rank->segment;
    uint32_t uid;
    char key[32], written[33];
    if (segment_name_parse(rank->name + 1, &uid, key, &rank->pid) != 0)
        return -HOLTER_ECORRUPT;
    rank_copy_text(written, sizeof written, segment->session, sizeof segment->session);
    rank->pid_start = *(const volatile uint64_t *)&segment->pid_start;
    rank->tick_unit = *(const volatile uint32_t *)&segment->tick_unit;
    rank_copy_text(rank->job, sizeof rank->job, segment->job, sizeof segment->job);
    if (uid != (uint32_t)getuid() || *(const volatile uint32_t *)&segment->uid != uid ||
        *(const volatile int32_t *)&segment->pid != rank->pid || strcmp(key, session) != 0 ||
        strcmp(written, session) != 0 || rank->job[0] == '\0' ||
        (rank->tick_unit != TICK_TSC && rank->tick_unit != TICK_NS))
        return -HOLTER_ECORRUPT;
    return rendezvous_is_made_here(segment) ? 0 : -EREMOTE;
}

/* Alarms until a ring is first read: ring 0 alarms at the rank's first calls, the others are opened
 * by the next drain, unless they fill sooner. */
static void rank_set_first_alarms(struct rank *rank)
{
    for (uint32_t i = 0; i < rank->ring_limit; i++) {
        struct ring_control *control = &rank->controls[i];
        uint64_t capacity = *(const volatile uint64_t *)&control->capacity;
        uint64_t head = atomic_load_explicit(&control->head, memory_order_relaxed);
        ring_alarm_set(control, head + (i == 0 ? 1 : capacity / 2), rank->reader_pid);
    }
}

int rank_open(struct rank **out, const char *name, const char *session, int32_t reader)
{
    struct rank *rank = calloc(1, sizeof *rank);
    if (rank == NULL)
        return -ENOMEM;
    rank->reader_pid = (int32_t)getpid();
    rank->world_rank = -1;
    rank_copy_text(rank->name, sizeof rank->name, name, strlen(name));
    int rc = segment_open(&rank->segment, &rank->bytes, name, 1);
    if (rc == 0)
        rc = rank_copy_identity(rank, session);
    if (rc == 0)
        rc = rank_create_tables(rank);
    if (rc != 0) {
        rank_destroy(rank);
        return rc;
    }
    /* One walk over the page tables instead of a fault for every page later; kernels before 5.14 do
     * not support it and have the faults. Rings after the first have no memory yet. */
    uint64_t first_end = *(const volatile uint64_t *)&rank->controls[0].tally_offset;
    madvise(rank->segment, first_end < rank->bytes ? first_end : rank->bytes, MADV_POPULATE_READ);
    atomic_store_explicit(&rank->segment->agent_pid, reader, memory_order_relaxed);
    rank_set_first_alarms(rank);
    *out = rank;
    return 0;
}

uint64_t rank_shared_bytes(const struct rank *rank)
{
    if (rank->open == 0)
        return 0;
    uint64_t bytes =
        (uint64_t)((const char *)rank->rings[0].reader.slots - (const char *)rank->segment);
    for (uint32_t i = 0; i < rank->open; i++)
        bytes += rank->rings[i].reader.capacity * sizeof(struct event) +
                 rank->rings[i].tally_capacity * sizeof(struct tally_row);
    return bytes;
}

void rank_destroy(struct rank *rank)
{
    if (rank == NULL)
        return;
    segment_unmap(rank->segment, rank->bytes);
    free(rank->comm_positions_seen);
    free(rank->matching.comms_lost);
    free(rank->tables.comms);
    free(rank->tables.regions);
    free(rank->rings);
    free(rank);
}

int rank_is_initialised(struct rank *rank)
{
    if (rank->world_rank >= 0)
        return 1;
    int32_t world_rank = atomic_load_explicit(&rank->segment->rank, memory_order_acquire);
    int32_t world_size = atomic_load_explicit(&rank->segment->size, memory_order_acquire);
    if (world_rank < 0 || world_rank >= world_size)
        return 0;
    rank->world_rank = world_rank;
    rank->world_size = world_size;
    return 1;
}

int rank_join(struct rank *rank, struct event_sum *sum)
{
    int index = event_sum_add_rank(sum, (uint64_t)rank->world_rank, (uint64_t)rank->world_size);
    if (index < 0)
        return index;
    rank_return_to_sum(rank, sum, index);
    return 0;
}

void rank_return_to_sum(struct rank *rank, struct event_sum *sum, int index)
{
    rank->index = index;
    rank->sum = sum;
    /* Positions belong to the dictionaries of the former sums. */
    memset(rank->comm_positions_seen, 0,
           rank->tables.comm_count * sizeof *rank->comm_positions_seen);
    memset(rank->tables.regions, 0, rank->tables.region_count * sizeof *rank->tables.regions);
}

uint32_t rank_collect_carts(struct rank *rank, struct carts *carts)
{
    uint32_t added = 0;
    for (; rank->carts_taken < rank->cart_count && rank->carts_taken < SEGMENT_CARTS;
         rank->carts_taken++) {
        const struct cart_slot *slot = &rank->carts[rank->carts_taken];
        if (atomic_load_explicit(&slot->ready, memory_order_acquire) != 1)
            break; /* a thread is writing it: try at the next call */
        struct cart_slot copy = {.dimensions = *(const volatile uint32_t *)&slot->dimensions,
                                 .periods = *(const volatile uint32_t *)&slot->periods,
                                 .position = *(const volatile uint32_t *)&slot->position,
                                 .id = *(const volatile uint64_t *)&slot->id,
                                 .made = *(const volatile uint32_t *)&slot->made};
        for (uint32_t i = 0; i < CART_DIMENSIONS; i++)
            copy.sizes[i] = *(const volatile uint32_t *)&slot->sizes[i];
        added += (uint32_t)carts_add(carts, &copy, (uint64_t)rank->world_rank,
                                     (uint64_t)rank->world_size);
    }
    return added;
}

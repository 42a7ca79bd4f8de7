/* Communicators: world ranks of their members, and ids that all members agree on without
 * communication.
 *
 * An id is a 64-bit hash of values that every member knows. If all members of the parent call the
 * constructor, these are the id of the parent, the number of communicators made from it before, and
 * the world rank of rank 0 of the new communicator, which distinguishes the parts of a split. If
 * only the members of the new communicator call it (MPI_Comm_create_group, MPI_Intercomm_create),
 * these are the world ranks of its groups in order, the tag, and the number of communicators made
 * with the same groups and tag before. */
#include "agent/probe/call_record.h"

#include PROBE_WRAPPERS_H

#include <pthread.h>

#define INDEX_CAPACITY 16384u /* twice the communicators or more, a power of two */
#define CHUNK 256             /* ranks translated at a time */
/* Comparisons that the search for offset and stride may cost in the MPI library. */
#define MAX_SCAN (1 << 24)
#define ORDINALS 65536u    /* groups and tags that communicators were made by */
#define ORDINAL_WINDOW 64u /* places that are searched for one */

#define NONE 0xffffu

const struct comm comm_null = {.handle = ~UINT64_C(0), .slot = COMM_SLOT_NONE};
static const struct comm comm_full = {.handle = ~UINT64_C(0), .slot = COMM_SLOT_OTHER};

static struct comm comms[SEGMENT_COMMS];
static _Atomic uint16_t by_handle[INDEX_CAPACITY]; /* index in comms + 1; 0: free */
static _Atomic uint32_t index_reach;  /* places that handles are looked for in, from their first */
static uint16_t freed[SEGMENT_COMMS]; /* slots for reuse, oldest first */
static uint32_t freed_first, freed_count, never_used;
struct ordinal {
    uint64_t key;
    uint64_t count; /* 0: free */
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static MPI_Group world; /* processes in the order of their world ranks; owned */
static int world_known;
static pthread_mutex_t world_lock = PTHREAD_MUTEX_INITIALIZER;

_Static_assert(sizeof(probe) + sizeof(comms) + sizeof(by_handle) + sizeof(freed) +
                       SEGMENT_RINGS * sizeof(struct thread) <=
                   640 * 1024,
               "memory of the probe besides the segment");

/* Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014), figure 15
 * (mix64). */
static uint64_t comm_mix_hash(uint64_t a, uint64_t b)
{
    uint64_t z = a * UINT64_C(0x9e3779b97f4a7c15) + b + UINT64_C(0xd1b54a32d192ed03);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return z > 2 ? z : z + 3; /* 0 none, 1 world, 2 self */
}

/* ---- table --------------------------------------------------------------- */

static uint32_t comm_index_first(uint64_t handle)
{
    return (uint32_t)((handle * UINT64_C(0x9e3779b97f4a7c15)) >> 50);
}
_Static_assert(INDEX_CAPACITY == 16384, "the shift above");
_Static_assert(INDEX_CAPACITY > SEGMENT_COMMS, "free places");

static _Atomic uint16_t *comm_index_place(uint64_t handle, uint32_t distance)
{
    return &by_handle[(comm_index_first(handle) + distance) % INDEX_CAPACITY];
}

static struct comm *comm_table_find(uint64_t handle)
{
    uint32_t reach = atomic_load_explicit(&index_reach, memory_order_acquire);
    for (uint32_t i = 0; i < reach; i++) {
        uint16_t at = atomic_load_explicit(comm_index_place(handle, i), memory_order_acquire);
        if (at != 0 && __atomic_load_n(&comms[at - 1].handle, __ATOMIC_ACQUIRE) == handle)
            return &comms[at - 1];
    }
    return NULL;
}

/* There is always a free place: the index is larger than the table. */
static void comm_table_insert(uint64_t handle, uint16_t index)
{
    uint32_t distance = 0;
    while (atomic_load_explicit(comm_index_place(handle, distance), memory_order_relaxed) != 0)
        distance++;
    atomic_store_explicit(comm_index_place(handle, distance), (uint16_t)(index + 1),
                          memory_order_release);
    if (distance >= atomic_load_explicit(&index_reach, memory_order_relaxed))
        atomic_store_explicit(&index_reach, distance + 1, memory_order_release);
}

static void comm_table_remove(uint64_t handle, uint16_t index)
{
    uint32_t reach = atomic_load_explicit(&index_reach, memory_order_relaxed);
    for (uint32_t i = 0; i < reach; i++) {
        if (atomic_load_explicit(comm_index_place(handle, i), memory_order_relaxed) == index + 1)
            atomic_store_explicit(comm_index_place(handle, i), 0, memory_order_relaxed);
    }
}

static void comm_forget_peers(uint16_t index)
{
    for (uint32_t i = 0; i < PEER_CAPACITY; i++) {
        if (atomic_load_explicit(&probe.peers[i], memory_order_relaxed) >> 48 ==
            (uint64_t)index + 1)
            atomic_store_explicit(&probe.peers[i], 0, memory_order_relaxed);
    }
}

static int comm_has_unused_slot(void)
{
    return never_used < SEGMENT_COMMS && never_used < probe.segment->comms;
}

static uint32_t comm_allocate_slot(void)
{
    if (comm_has_unused_slot())
        return never_used++;
    if (freed_count == 0)
        return NONE;
    uint16_t index = freed[freed_first];
    freed_first = (freed_first + 1) % SEGMENT_COMMS;
    freed_count--;
    comm_forget_peers(index);
    return index;
}

static void comm_release_use_locked(struct comm *comm)
{
    if (__atomic_sub_fetch(&comm->uses, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    comm->freed = probe_read_ticks();
    freed[(freed_first + freed_count++) % SEGMENT_COMMS] = comm->slot;
}

static uint64_t comm_read_id(const struct comm *comm)
{
    return comm->slot < COMM_SLOT_OTHER ? segment_comm(probe.segment, comm->slot)->id : 0;
}

/* @param since  as struct comm_slot has it */
static void comm_publish_slot(const struct comm *comm, uint64_t id, uint64_t parent, uint64_t since,
                              const char *name)
{
    struct comm_slot *slot = segment_comm(probe.segment, comm->slot);
    uint32_t generation = atomic_load_explicit(&slot->generation, memory_order_relaxed);
    atomic_store_explicit(&slot->generation, 0, memory_order_relaxed);
    ring_fence();
    slot->my_rank = comm->rank;
    slot->size = (uint32_t)comm->size;
    slot->remote_size = comm->flags & EVENT_INTER ? (uint32_t)comm->peers : 0;
    slot->id = id;
    slot->parent = parent;
    slot->since = since;
    strncpy(slot->name, name, sizeof(slot->name) - 1);
    slot->name[sizeof(slot->name) - 1] = '\0';
    atomic_store_explicit(&slot->generation, generation + 1, memory_order_release);
}

static void comm_remove_locked(struct comm *comm)
{
    struct comm_slot *slot = segment_comm(probe.segment, comm->slot);
    uint32_t generation = atomic_load_explicit(&slot->generation, memory_order_relaxed);
    atomic_store_explicit(&slot->generation, generation + 1, memory_order_release);
    comm_table_remove(comm->handle, comm->slot);
    /* The other fields stay: pending receives still translate their ranks by them. */
    __atomic_store_n(&comm->handle, 0, __ATOMIC_RELEASE);
    comm_release_use_locked(comm);
}

/* Add a communicator. @param made  its fields except handle and slot
 * @return the new entry, or comm_full */
static const struct comm *comm_add_locked(const struct comm *made, uint64_t handle, uint64_t id,
                                          uint64_t parent, const char *name)
{
    struct comm *stale = comm_table_find(handle);
    if (stale) /* it was freed by a call that the probe does not cover */
        comm_remove_locked(stale);
    uint32_t index = comm_allocate_slot();
    if (index == NONE)
        return &comm_full;
    comm_table_insert(handle, (uint16_t)index);
    struct comm *comm = &comms[index];
    uint64_t since = comm->freed;
    *comm = *made;
    comm->slot = (uint16_t)index;
    comm->ordinal = 0;
    comm->uses = 1;
    comm_publish_slot(comm, id, parent, since, name);
    __atomic_store_n(&comm->handle, handle, __ATOMIC_RELEASE);
    return comm;
}

/* ---- groups -------------------------------------------------------------- */

void comm_set_world(MPI_Group group)
{
    pthread_mutex_lock(&world_lock);
    if (world_known)
        real_PMPI_Group_free(&world);
    world = group;
    world_known = group != MPI_GROUP_NULL;
    pthread_mutex_unlock(&world_lock);
}

/* @return 0: the world is not known */
static int comm_translate_ranks(MPI_Group group, int count, const int *ranks, int *worlds)
{
    pthread_mutex_lock(&world_lock);
    int known = world_known &&
                real_PMPI_Group_translate_ranks(group, count, ranks, world, worlds) == MPI_SUCCESS;
    pthread_mutex_unlock(&world_lock);
    return known;
}

static int comm_world_rank(MPI_Group group, int rank)
{
    int found = MPI_UNDEFINED;
    return comm_translate_ranks(group, 1, &rank, &found) && found != MPI_UNDEFINED ? found
                                                                                   : PEER_UNKNOWN;
}

/* Hash the world ranks of a group in order, and find their offset and stride.
 * @return 1 if world rank = offset + stride * rank for all members */
static int comm_scan_group(MPI_Group group, int size, int32_t *offset, int32_t *stride,
                           uint64_t *hash)
{
    int ranks[CHUNK], worlds[CHUNK], affine = 1;
    int32_t last = 0;
    *hash = comm_mix_hash(0, (uint64_t)size);
    *offset = 0;
    *stride = 1;
    for (int first = 0; first < size; first += CHUNK) {
        int count = size - first < CHUNK ? size - first : CHUNK;
        for (int i = 0; i < count; i++)
            ranks[i] = first + i;
        if (!comm_translate_ranks(group, count, ranks, worlds))
            return 0;
        for (int i = 0; i < count; i++) {
            if (first + i == 0)
                *offset = worlds[0];
            else if (first + i == 1)
                *stride = worlds[i] - last;
            else if (worlds[i] - last != *stride)
                affine = 0;
            if (worlds[i] == MPI_UNDEFINED)
                affine = 0;
            last = worlds[i];
            *hash = comm_mix_hash(*hash, (uint64_t)(uint32_t)worlds[i]);
        }
    }
    return affine;
}

/* Group of the peers of a communicator. @return MPI_GROUP_NULL on failure */
static MPI_Group comm_peer_group(MPI_Comm comm, int inter)
{
    MPI_Group group = MPI_GROUP_NULL;
    int error =
        inter ? real_PMPI_Comm_remote_group(comm, &group) : real_PMPI_Comm_group(comm, &group);
    return error == MPI_SUCCESS ? group : MPI_GROUP_NULL;
}

/* Fill the fields that MPI returns without communication.
 * @param hash  set to a hash of the groups, which is the same on both sides of an
 *              inter-communicator; NULL: not needed, so that large groups are not scanned */
static void comm_describe(struct comm *out, MPI_Comm comm, uint64_t *hash)
{
    int inter = 0;
    *out = (struct comm){.sources = -1};
    real_PMPI_Comm_test_inter(comm, &inter);
    real_PMPI_Comm_rank(comm, &out->rank);
    real_PMPI_Comm_size(comm, &out->size);
    out->peers = out->size;
    if (inter) {
        out->flags = EVENT_INTER;
        real_PMPI_Comm_remote_size(comm, &out->peers);
    }
    uint64_t peers_hash = 0, local_hash = 0;
    MPI_Group group = comm_peer_group(comm, inter);
    if (group == MPI_GROUP_NULL)
        return;
    if (hash || (int64_t)out->peers * probe.size <= MAX_SCAN) {
        if (comm_scan_group(group, out->peers, &out->offset, &out->stride, &peers_hash))
            out->affine = (uint32_t)out->peers;
    }
    real_PMPI_Group_free(&group);
    if (!hash)
        return;
    if (inter && (group = comm_peer_group(comm, 0)) != MPI_GROUP_NULL) {
        int32_t offset, stride;
        comm_scan_group(group, out->size, &offset, &stride, &local_hash);
        real_PMPI_Group_free(&group);
    }
    *hash = inter ? comm_mix_hash(peers_hash + local_hash, peers_hash ^ local_hash) : peers_hash;
}

/* Hash of the world rank of rank 0: the same on all members, different for disjoint groups. */
static uint64_t comm_hash_first_member(MPI_Comm comm, int inter)
{
    uint64_t member = 0;
    for (int side = 0; side <= inter; side++) {
        MPI_Group group = comm_peer_group(comm, side);
        if (group == MPI_GROUP_NULL)
            continue;
        member += comm_mix_hash(3, (uint64_t)(uint32_t)comm_world_rank(group, 0));
        real_PMPI_Group_free(&group);
    }
    return member;
}

/* ---- making and freeing -------------------------------------------------- */

static MPI_Comm comm_handle(uint64_t handle)
{
#if defined(OPEN_MPI)
    return (MPI_Comm)(uintptr_t)handle;
#else
    return (MPI_Comm)handle;
#endif
}

/* Add a communicator that was made by a call that the probe does not cover. Other members may never
 * use it, so the id depends on the group only. */
static const struct comm *comm_add_unknown(MPI_Comm handle)
{
    struct comm made;
    uint64_t hash = 0;
    pthread_mutex_lock(&lock);
    int full = freed_count == 0 && !comm_has_unused_slot();
    pthread_mutex_unlock(&lock);
    if (full)
        return &comm_full;
    comm_describe(&made, handle, &hash);
    pthread_mutex_lock(&lock);
    const struct comm *comm = comm_table_find(HANDLE(handle));
    if (!comm)
        comm = comm_add_locked(&made, HANDLE(handle), comm_mix_hash(hash, 7), 0, "unknown origin");
    pthread_mutex_unlock(&lock);
    return comm;
}

/* The entry of a communicator, which is added where there is none. */
static const struct comm *comm_find_or_add(uint64_t handle)
{
    const struct comm *comm = comm_table_find(handle);
    if (comm)
        return comm;
    if (handle == HANDLE(MPI_COMM_NULL) || probe.rank < 0)
        return &comm_null;
    return comm_add_unknown(comm_handle(handle));
}

static const char *comm_call_name(uint16_t call)
{
    switch (call) {
#define X(number, name, class_)                                                                    \
    case number:                                                                                   \
        return "MPI_" #name;
        CALL_LIST(X)
#undef X
    }
    return "";
}

/* The name of a communicator that has none. The prefix of a long one is left out, so that it fits.
 */
static const char *comm_default_name(uint16_t call)
{
    const char *name = comm_call_name(call);
    return strlen(name) < sizeof(((struct comm_slot *)NULL)->name) ? name : name + strlen("MPI_");
}

void comm_predefined(void)
{
    struct comm all, self;
    comm_describe(&all, MPI_COMM_WORLD, NULL);
    all.offset = 0;
    all.stride = 1;
    all.affine = (uint32_t)all.size;
    comm_describe(&self, MPI_COMM_SELF, NULL);
    pthread_mutex_lock(&lock);
    comm_add_locked(&all, HANDLE(MPI_COMM_WORLD), 1, 0, "MPI_COMM_WORLD");
    comm_add_locked(&self, HANDLE(MPI_COMM_SELF), 2, 0, "MPI_COMM_SELF");
    pthread_mutex_unlock(&lock);
}

/* Id of the next communicator made from a parent, before its members are hashed in. */
static uint64_t comm_next_child_id(const struct comm *parent)
{
    return parent->slot < COMM_SLOT_OTHER
               ? comm_mix_hash(comm_read_id(parent), comms[parent->slot].ordinal++)
               : comm_mix_hash(0, 4);
}

void comm_made(uint16_t call, MPI_Comm parent, MPI_Comm child)
{
    const struct comm *from = comm_find_or_add(HANDLE(parent));
    uint32_t before = from->slot < COMM_SLOT_OTHER ? comms[from->slot].ordinal : 0;
    uint64_t id = comm_next_child_id(from);
    if (child == MPI_COMM_NULL || !probe.segment)
        return;
    struct comm made;
    comm_describe(&made, child, NULL);
    id = comm_mix_hash(id, comm_hash_first_member(child, made.flags & EVENT_INTER ? 1 : 0));
    if (call == CALL_Cart_create || call == CALL_Cart_sub)
        cartesian_made(child, made.rank, made.size, id, before);
    pthread_mutex_lock(&lock);
    comm_add_locked(&made, HANDLE(child), id, comm_read_id(from), comm_default_name(call));
    pthread_mutex_unlock(&lock);
}

/* A duplicate has the same members in the same order. It is not queried, because after
 * MPI_Comm_idup it may not be usable yet. */
void comm_copied(uint16_t call, MPI_Comm parent, MPI_Comm child)
{
    const struct comm *from = comm_find_or_add(HANDLE(parent));
    struct comm made = *from;
    made.sources = -1; /* its neighbours are published under its own id */
    made.absent = 0;
    uint64_t id = comm_mix_hash(comm_next_child_id(from), 5);
    if (child == MPI_COMM_NULL || from->slot >= COMM_SLOT_OTHER)
        return;
    pthread_mutex_lock(&lock);
    comm_add_locked(&made, HANDLE(child), id, comm_read_id(from), comm_default_name(call));
    pthread_mutex_unlock(&lock);
}

void comm_window_made(uint16_t call, MPI_Comm parent, MPI_Win win)
{
    const struct comm *from = comm_find_or_add(HANDLE(parent));
    struct comm made = *from;
    uint64_t id = comm_mix_hash(comm_next_child_id(from), 6);
    made.is_window = 1;
    if (win == MPI_WIN_NULL || from->slot >= COMM_SLOT_OTHER)
        return;
    pthread_mutex_lock(&lock);
    comm_add_locked(&made, HANDLE(win), id, comm_read_id(from), comm_default_name(call));
    pthread_mutex_unlock(&lock);
}

/* Number of communicators made with this key before. If the table is full, a number that no other
 * member uses, so that messages on them stay unmatched. */
static uint64_t comm_ordinal_locked(uint64_t key)
{
    static void *mapped;
    static uint32_t uncounted;
    struct ordinal *ordinals = memory_map_once(&mapped, ORDINALS * sizeof(*ordinals));
    for (uint32_t i = 0; ordinals && i < ORDINAL_WINDOW; i++) {
        struct ordinal *ordinal = &ordinals[(key + i) % ORDINALS];
        if (ordinal->count == 0)
            ordinal->key = key;
        if (ordinal->key == key)
            return ordinal->count++;
    }
    return UINT64_C(1) << 63 | (uint64_t)(uint32_t)probe.rank << 32 | uncounted++;
}

void comm_made_by_group(uint16_t call, MPI_Comm parent, int tag, MPI_Comm child)
{
    if (child == MPI_COMM_NULL || !probe.segment)
        return;
    uint64_t from = comm_read_id(comm_find_or_add(HANDLE(parent)));
    struct comm made;
    uint64_t hash = 0;
    comm_describe(&made, child, &hash);
    /* The two sides of an inter-communicator have different local communicators, so the hash must
     * not contain their ids. */
    uint64_t key = comm_mix_hash(hash, (uint64_t)(uint32_t)tag);
    if (call == CALL_Comm_create_group)
        key = comm_mix_hash(key, from);
    pthread_mutex_lock(&lock);
    if (call != CALL_Comm_get_parent || !comm_table_find(HANDLE(child))) {
        /* The call is no part of it: one side accepts what the other connects. */
        uint64_t id = comm_mix_hash(key, comm_ordinal_locked(key));
        comm_add_locked(&made, HANDLE(child), id, from, comm_default_name(call));
    }
    pthread_mutex_unlock(&lock);
}

void comm_add_request(uint16_t slot)
{
    if (slot < SEGMENT_COMMS)
        __atomic_add_fetch(&comms[slot].uses, 1, __ATOMIC_RELAXED);
}

void comm_remove_request(uint16_t slot)
{
    if (slot >= SEGMENT_COMMS)
        return;
    pthread_mutex_lock(&lock);
    comm_release_use_locked(&comms[slot]);
    pthread_mutex_unlock(&lock);
}

void comm_freed(const struct comm *comm, uint64_t handle)
{
    pthread_mutex_lock(&lock);
    if (comm->slot < COMM_SLOT_OTHER && comm->handle == handle)
        comm_remove_locked(&comms[comm->slot]);
    pthread_mutex_unlock(&lock);
}

void comm_named(MPI_Comm handle, const char *name)
{
    pthread_mutex_lock(&lock);
    struct comm *comm = comm_table_find(HANDLE(handle));
    if (comm && name) {
        struct comm_slot *slot = segment_comm(probe.segment, comm->slot);
        strncpy(slot->name, name, sizeof(slot->name) - 1);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- finding ------------------------------------------------------------- */

const struct comm *comm_known(uint64_t handle)
{
    const struct comm *comm = comm_table_find(handle);
    if (comm)
        return comm;
    return handle == 0 || handle == HANDLE(MPI_COMM_NULL) || handle == HANDLE(MPI_WIN_NULL)
               ? &comm_null
               : &comm_full;
}

const struct comm *comm_lookup(struct thread *t, uint64_t handle, int is_window)
{
    const struct comm *comm = is_window ? comm_table_find(handle) : comm_find_or_add(handle);
    if (!comm)
        comm = handle == HANDLE(MPI_WIN_NULL) || probe.rank < 0 ? &comm_null : &comm_full;
    if (comm == &comm_null)
        return comm;
    if (comm->slot < COMM_SLOT_OTHER)
        t->last = comm;
    else
        request_count_untracked(t, 1);
    return comm;
}

const struct comm *comm_of_slot(uint16_t slot)
{
    return slot < SEGMENT_COMMS ? &comms[slot] : NULL;
}

#define MAX_CACHED_RANK ((1 << 24) - 2) /* ranks that fit a cached translation */

#if defined(OPEN_MPI)
static MPI_Win comm_window_handle(uint64_t handle)
{
    return (MPI_Win)(uintptr_t)handle;
}
#else
static MPI_Win comm_window_handle(uint64_t handle)
{
    return (MPI_Win)handle;
}
#endif

/* A cached translation is one word: index of the communicator + 1, rank, world rank + 1. */
int32_t comm_peer_lookup(const struct comm *comm, int rank)
{
    if (comm->handle == 0 || comm->slot >= COMM_SLOT_OTHER || rank < 0 || rank >= comm->peers ||
        rank > MAX_CACHED_RANK)
        return PEER_UNKNOWN;
    uint64_t key = ((uint64_t)comm->slot + 1) << 24 | (uint64_t)rank;
    _Atomic uint64_t *place = &probe.peers[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
    _Static_assert(PEER_CAPACITY == 1024, "the shift above");
    uint64_t known = atomic_load_explicit(place, memory_order_relaxed);
    if (known >> 24 == key)
        return (int32_t)(known & 0xffffff) - 1;
    MPI_Group group = MPI_GROUP_NULL;
    if (comm->is_window) {
        if (real_PMPI_Win_get_group(comm_window_handle(comm->handle), &group) != MPI_SUCCESS)
            return PEER_UNKNOWN;
    } else {
        group = comm_peer_group(comm_handle(comm->handle), comm->flags & EVENT_INTER);
    }
    if (group == MPI_GROUP_NULL)
        return PEER_UNKNOWN;
    int found = comm_world_rank(group, rank);
    real_PMPI_Group_free(&group);
    if (found >= 0 && found <= MAX_CACHED_RANK)
        atomic_store_explicit(place, key << 24 | (uint64_t)(found + 1), memory_order_relaxed);
    return found;
}

/* Enter the neighbours that send to this rank, for the agent. */
static void comm_publish_sources(const struct comm *comm, const int *ranks, int count)
{
    _Atomic uint32_t *made = &probe.segment->sources_made;
    uint32_t at = atomic_load_explicit(made, memory_order_relaxed);
    if (at >= SEGMENT_SOURCES)
        return;
    at = atomic_fetch_add_explicit(made, (uint32_t)count, memory_order_relaxed);
    for (int i = 0; i < count && at + (uint32_t)count <= SEGMENT_SOURCES; i++) {
        struct source_slot *slot = segment_source(probe.segment, at + (uint32_t)i);
        slot->comm = comm_read_id(comm);
        atomic_store_explicit(&slot->rank, (uint32_t)comm_peer(comm, ranks[i]) + 1,
                              memory_order_release);
    }
}

/* A Cartesian communicator has two neighbours in each dimension, first down, then up. At an open
 * border the neighbour is MPI_PROC_NULL: the buffers have a part for it, but no data is exchanged
 * (MPI 4.0, section 8.6).
 * @param ranks  set: those that exist @return number of them */
static int comm_read_grid(MPI_Comm handle, int dimensions, int *ranks, uint64_t *absent)
{
    int count = 0;
    for (int i = 0; i < 2 * dimensions && i < 64; i += 2) {
        int sides[2] = {MPI_PROC_NULL, MPI_PROC_NULL};
        real_PMPI_Cart_shift(handle, i / 2, 1, &sides[0], &sides[1]);
        for (int k = 0; k < 2; k++) {
            ranks[count] = sides[k];
            count += sides[k] != MPI_PROC_NULL;
            *absent |= (uint64_t)(sides[k] == MPI_PROC_NULL) << (i + k);
        }
    }
    return count;
}

const struct comm *comm_neighbours(const struct comm *comm, MPI_Comm handle)
{
    if (comm->sources >= 0 || comm->slot >= COMM_SLOT_OTHER)
        return comm;
    struct comm *own = &comms[comm->slot];
    int kind = MPI_UNDEFINED, dimensions = 0, in = 0, out = 0, weighted, count = 0;
    int ranks[CHUNK], to[CHUNK], weights[2][CHUNK];
    real_PMPI_Topo_test(handle, &kind);
    if (kind == MPI_CART && real_PMPI_Cartdim_get(handle, &dimensions) == MPI_SUCCESS) {
        in = out = 2 * dimensions;
        count = comm_read_grid(handle, dimensions, ranks, &own->absent);
    } else if (kind == MPI_GRAPH &&
               real_PMPI_Graph_neighbors_count(handle, own->rank, &in) == MPI_SUCCESS) {
        out = in;
        if (in <= CHUNK && real_PMPI_Graph_neighbors(handle, own->rank, in, ranks) == MPI_SUCCESS)
            count = in;
    } else if (kind == MPI_DIST_GRAPH) {
        real_PMPI_Dist_graph_neighbors_count(handle, &in, &out, &weighted);
        if (in <= CHUNK && out <= CHUNK &&
            real_PMPI_Dist_graph_neighbors(handle, in, ranks, weights[0], out, to, weights[1]) ==
                MPI_SUCCESS)
            count = in;
    }
    comm_publish_sources(own, ranks, count);
    own->sinks = out;
    own->sources = in;
    return comm;
}

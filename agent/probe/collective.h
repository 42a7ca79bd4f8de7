/* Bytes that each collective sends and receives on this rank, and its root.
 *
 * - give: bytes that this rank contributes, one copy for each rank to which it sends a separate
 *   part.
 * - get: bytes that this rank receives.
 *
 * With MPI_IN_PLACE the rank's contribution is its own part of the receive buffer. On
 * inter-communicators the group that gives and the group that gets are the two sides; in rooted
 * ones the root passes MPI_ROOT, its own side MPI_PROC_NULL (MPI 4.0, section 6.2.3). */
#ifndef HOLTER_PROBE_COLLECTIVE_H
#define HOLTER_PROBE_COLLECTIVE_H

#include "agent/probe/shapes.h"

struct exchange {
    uint64_t give;
    uint64_t get;
    int32_t root; /**< world rank, PEER_NONE for collectives without one */
    uint16_t comm;
    uint32_t flags;
};

HOT struct exchange exchange_init(const struct comm *c)
{
    return (struct exchange){.root = PEER_NONE, .comm = c->slot, .flags = c->flags};
}

enum part { PART_ROOT, PART_OTHER, PART_NONE };

/** Set the root of a rooted collective. @return the part of this rank in it */
HOT enum part exchange_set_root(struct exchange *x, const struct comm *c, int root)
{
    if (likely(!(c->flags & EVENT_INTER))) {
        x->root = comm_peer(c, root);
        return root == c->rank ? PART_ROOT : PART_OTHER;
    }
    if (root == MPI_ROOT) {
        x->root = probe.rank;
        return PART_ROOT;
    }
    x->root = comm_peer(c, root);
    return root == MPI_PROC_NULL ? PART_NONE : PART_OTHER;
}

HOT int exchange_mark_in_place(struct exchange *x, const void *buffer)
{
    if (buffer != MPI_IN_PLACE)
        return 0;
    x->flags |= EVENT_INPLACE;
    return 1;
}

/** Parts of a buffer, one for each rank or neighbour. */
struct parts {
    enum { PARTS_SAME, PARTS_COUNTED, PARTS_LARGE } kind;
    int64_t count;             /**< PARTS_SAME: of each */
    const int *counts;         /**< PARTS_COUNTED */
    const MPI_Count *large;    /**< PARTS_LARGE */
    MPI_Datatype type;         /**< of all parts, */
    const MPI_Datatype *types; /**< unless this is set: one for each part */
};

HOT struct parts parts_same(int64_t count, MPI_Datatype type)
{
    return (struct parts){.kind = PARTS_SAME, .count = count, .type = type};
}

/* Counts and types that are NULL are for the library to refuse. */
HOT struct parts parts_counted(const int *counts, MPI_Datatype type)
{
    if (unlikely(!counts))
        return parts_same(0, type);
    return (struct parts){.kind = PARTS_COUNTED, .counts = counts, .type = type};
}

HOT struct parts parts_large(const MPI_Count *counts, MPI_Datatype type)
{
    if (unlikely(!counts))
        return parts_same(0, type);
    return (struct parts){.kind = PARTS_LARGE, .large = counts, .type = type};
}

HOT struct parts parts_counted_types(const int *counts, const MPI_Datatype *types)
{
    if (unlikely(!counts || !types))
        return parts_same(0, MPI_DATATYPE_NULL);
    return (struct parts){.kind = PARTS_COUNTED, .counts = counts, .types = types};
}

HOT struct parts parts_large_types(const MPI_Count *counts, const MPI_Datatype *types)
{
    if (unlikely(!counts || !types))
        return parts_same(0, MPI_DATATYPE_NULL);
    return (struct parts){.kind = PARTS_LARGE, .large = counts, .types = types};
}

/* Make a struct parts from a single count, an array of int or an array of MPI_Count. */
#define PARTS(counts, type)                                                                        \
    _Generic((counts),                                                                             \
        const int *: parts_counted,                                                                \
        const MPI_Count *: parts_large,                                                            \
        default: parts_same)(counts, type)
#define PARTS_TYPES(counts, types)                                                                 \
    _Generic((counts),                                                                             \
        const int *: parts_counted_types,                                                          \
        const MPI_Count *: parts_large_types)(counts, types)

HOT int64_t part_count(const struct parts *p, int i)
{
    return p->kind == PARTS_SAME      ? p->count
           : p->kind == PARTS_COUNTED ? p->counts[i]
                                      : (int64_t)p->large[i];
}

HOT uint64_t part_bytes(struct thread *t, const struct parts *p, int i)
{
    return type_payload_bytes(t, part_count(p, i), p->types ? p->types[i] : p->type);
}

/** Bytes of n parts. @param left_out  bit i: part i does not count */
HOT uint64_t parts_bytes(struct thread *t, const struct parts *p, int n, uint64_t left_out)
{
    uint64_t sum = 0;
    if (p->kind == PARTS_SAME)
        return type_payload_bytes(t, p->count, p->type) *
               (uint64_t)(n - __builtin_popcountll(left_out));
    for (int i = 0; i < n; i++) {
        if (i < 64 && left_out >> i & 1)
            continue;
        int64_t count = part_count(p, i);
        sum += p->types ? part_bytes(t, p, i) : count > 0 ? (uint64_t)count : 0;
    }
    return p->types ? sum : sum * type_payload_bytes(t, 1, p->type);
}

/** Bytes of this rank's own part. */
HOT uint64_t parts_own_bytes(struct thread *t, const struct parts *p, const struct comm *c)
{
    return p->kind == PARTS_SAME || c->size > 0 ? part_bytes(t, p, c->rank) : 0;
}

HOT struct exchange exchange_barrier(struct thread *t, MPI_Comm comm)
{
    return exchange_init(comm_find(t, comm));
}

HOT struct exchange exchange_bcast(struct thread *t, int64_t count, MPI_Datatype type, int root,
                                   MPI_Comm comm)
{
    const struct comm *c = comm_find(t, comm);
    struct exchange x = exchange_init(c);
    enum part part = exchange_set_root(&x, c, root);
    if (part == PART_ROOT)
        x.give = type_payload_bytes(t, count, type);
    else if (part == PART_OTHER)
        x.get = type_payload_bytes(t, count, type);
    return x;
}

/* Gather and scatter are mirror images: the root has a part for each rank in one buffer, and each
 * rank has one part in another, for which the root may pass MPI_IN_PLACE. */
HOT void exchange_set_rooted_parts(struct thread *t, struct exchange *x, const struct comm *c,
                                   int root, uint64_t *all_bytes, const struct parts *all,
                                   uint64_t *one_bytes, const struct parts *one,
                                   const void *one_buffer)
{
    enum part part = exchange_set_root(x, c, root);
    if (part == PART_ROOT) {
        *all_bytes = parts_bytes(t, all, c->peers, 0);
        if (!(c->flags & EVENT_INTER))
            *one_bytes = exchange_mark_in_place(x, one_buffer) ? parts_own_bytes(t, all, c)
                                                               : part_bytes(t, one, 0);
    } else if (part == PART_OTHER) {
        *one_bytes = part_bytes(t, one, 0);
    }
}

HOT struct exchange exchange_gather(struct thread *t, const void *sendbuf, struct parts give,
                                    struct parts get, int root, MPI_Comm comm)
{
    const struct comm *c = comm_find(t, comm);
    struct exchange x = exchange_init(c);
    exchange_set_rooted_parts(t, &x, c, root, &x.get, &get, &x.give, &give, sendbuf);
    return x;
}

HOT struct exchange exchange_scatter(struct thread *t, struct parts give, const void *recvbuf,
                                     struct parts get, int root, MPI_Comm comm)
{
    const struct comm *c = comm_find(t, comm);
    struct exchange x = exchange_init(c);
    exchange_set_rooted_parts(t, &x, c, root, &x.give, &give, &x.get, &get, recvbuf);
    return x;
}

HOT struct exchange exchange_allgather(struct thread *t, const void *sendbuf, struct parts give,
                                       struct parts get, MPI_Comm comm)
{
    const struct comm *c = comm_find(t, comm);
    struct exchange x = exchange_init(c);
    x.get = parts_bytes(t, &get, c->peers, 0);
    x.give =
        exchange_mark_in_place(&x, sendbuf) ? parts_own_bytes(t, &get, c) : part_bytes(t, &give, 0);
    return x;
}

HOT struct exchange exchange_alltoall(struct thread *t, const void *sendbuf, struct parts give,
                                      struct parts get, MPI_Comm comm)
{
    const struct comm *c = comm_find(t, comm);
    struct exchange x = exchange_init(c);
    x.get = parts_bytes(t, &get, c->peers, 0);
    x.give = exchange_mark_in_place(&x, sendbuf) ? x.get : parts_bytes(t, &give, c->peers, 0);
    return x;
}

HOT struct exchange exchange_reduce(struct thread *t, const void *sendbuf, int64_t count,
                                    MPI_Datatype type, int root, MPI_Comm comm)
{
    const struct comm *c = comm_find(t, comm);
    struct exchange x = exchange_init(c);
    enum part part = exchange_set_root(&x, c, root);
    uint64_t bytes = type_payload_bytes(t, count, type);
    exchange_mark_in_place(&x, sendbuf);
    if (part == PART_ROOT) {
        x.get = bytes;
        x.give = c->flags & EVENT_INTER ? 0 : bytes;
    } else if (part == PART_OTHER) {
        x.give = bytes;
    }
    return x;
}

HOT struct exchange exchange_allreduce(struct thread *t, const void *sendbuf, int64_t count,
                                       MPI_Datatype type, MPI_Comm comm)
{
    struct exchange x = exchange_init(comm_find(t, comm));
    x.give = x.get = type_payload_bytes(t, count, type);
    exchange_mark_in_place(&x, sendbuf);
    return x;
}

HOT struct exchange exchange_reduce_scatter(struct thread *t, const void *sendbuf, struct parts get,
                                            MPI_Comm comm)
{
    const struct comm *c = comm_find(t, comm);
    struct exchange x = exchange_init(c);
    x.get = parts_own_bytes(t, &get, c);
    x.give = parts_bytes(t, &get, c->size, 0);
    exchange_mark_in_place(&x, sendbuf);
    return x;
}

/* ---- neighbourhoods: one part for each neighbour of the topology --------- */

HOT struct exchange exchange_neighbor_allgather(struct thread *t, struct parts give,
                                                struct parts get, MPI_Comm comm)
{
    const struct comm *c = comm_neighbours(comm_find(t, comm), comm);
    struct exchange x = exchange_init(c);
    int unknown = c->slot >= COMM_SLOT_OTHER;
    if (unknown || c->sinks > __builtin_popcountll(c->absent))
        x.give = part_bytes(t, &give, 0);
    x.get = parts_bytes(t, &get, c->sources, c->absent);
    return x;
}

HOT struct exchange exchange_neighbor_alltoall(struct thread *t, struct parts give,
                                               struct parts get, MPI_Comm comm)
{
    const struct comm *c = comm_neighbours(comm_find(t, comm), comm);
    struct exchange x = exchange_init(c);
    x.give = parts_bytes(t, &give, c->sinks, c->absent);
    x.get = parts_bytes(t, &get, c->sources, c->absent);
    return x;
}

/* ---- before and after ---------------------------------------------------- */

HOT void shape_collective_enter(const struct scope *s, const struct exchange *x)
{
    scope_enter(s, x->give, x->get, ring_ends(x->root, TAG_NONE), 0, x->comm, x->flags);
}

/** The records of a request name the call that made it. */
HOT uint64_t ends_of_collective(const struct scope *s, const struct exchange *x)
{
    return ring_ends(x->root, TAG_CALL - (int32_t)s->call);
}

HOT void shape_collective_post(const struct scope *s, const struct exchange *x)
{
    scope_enter(s, x->give, x->get, ends_of_collective(s, x), 0, x->comm, x->flags | EVENT_POST);
}

/** The request of a persistent collective. */
HOT struct posted posted_make_collective(const struct scope *s, const struct exchange *x)
{
    return (struct posted){.bytes = x->give,
                           .ends = ends_of_collective(s, x),
                           .comm = x->comm,
                           .flags = x->flags | EVENT_PERSISTENT};
}

#endif

/* What each collective gives and gets on this rank, in bytes, and its root.
 *
 *   give   bytes this rank puts in, one copy for each rank it sends its own part to
 *   get    bytes this rank takes out
 * With MPI_IN_PLACE what would have been given from the send buffer is taken from the receive
 * buffer's own part. On inter-communicators the group that gives and the group that gets are the
 * two sides; in rooted ones the root passes MPI_ROOT, its own side MPI_PROC_NULL (MPI 4.0, section
 * 6.2.3). */
#ifndef HOLTER_PROBE_COLLECTIVE_H
#define HOLTER_PROBE_COLLECTIVE_H

#include "shapes.h"

struct exchange {
    uint64_t give;
    uint64_t get;
    int32_t root; /**< world rank, PEER_NONE for collectives without one */
    uint16_t comm;
    uint32_t flags;
};

HOT struct exchange exchange_of(const struct comm *c)
{
    return (struct exchange){.root = PEER_NONE, .comm = c->slot, .flags = comm_flags(c)};
}

enum part { PART_ROOT, PART_OTHER, PART_NONE };

/** This rank's part in a rooted collective; sets the root. */
HOT enum part rooted(struct exchange *x, const struct comm *c, int root)
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

HOT int in_place(struct exchange *x, const void *buffer)
{
    if (buffer != MPI_IN_PLACE)
        return 0;
    x->flags |= EVENT_INPLACE;
    return 1;
}

HOT uint64_t sum_counts(struct thread *t, const int *counts, int n, MPI_Datatype type)
{
    uint64_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += (uint64_t)(counts[i] > 0 ? counts[i] : 0);
    return sum * payload(t, 1, type);
}

HOT uint64_t sum_large(struct thread *t, const MPI_Count *counts, int n, MPI_Datatype type)
{
    uint64_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += (uint64_t)(counts[i] > 0 ? counts[i] : 0);
    return sum * payload(t, 1, type);
}

HOT uint64_t sum_types(struct thread *t, const int *counts, int n, const MPI_Datatype *types)
{
    uint64_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += payload(t, counts[i], types[i]);
    return sum;
}

HOT uint64_t sum_types_large(struct thread *t, const MPI_Count *counts, int n,
                             const MPI_Datatype *types)
{
    uint64_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += payload(t, counts[i], types[i]);
    return sum;
}

/* The same names for counts of int and of MPI_Count. */
#define SUM(t, counts, n, type)                                                                    \
    _Generic((counts), const int * : sum_counts, const MPI_Count * : sum_large)(t, counts, n, type)
#define SUM_TYPES(t, counts, n, types)                                                             \
    _Generic((counts), const int *: sum_types, const MPI_Count *: sum_types_large)(t, counts, n, types)

HOT struct exchange coll_barrier(struct thread *t, MPI_Comm comm)
{
    return exchange_of(comm_find(t, comm));
}

HOT struct exchange coll_bcast(struct thread *t, int64_t count, MPI_Datatype type, int root,
                               MPI_Comm comm)
{
    const struct comm *c = comm_find(t, comm);
    struct exchange x = exchange_of(c);
    enum part part = rooted(&x, c, root);
    if (part == PART_ROOT)
        x.give = payload(t, count, type);
    else if (part == PART_OTHER)
        x.get = payload(t, count, type);
    return x;
}

HOT struct exchange coll_gather(struct thread *t, const void *sendbuf, int64_t sendcount,
                                MPI_Datatype sendtype, int64_t recvcount, MPI_Datatype recvtype,
                                int root, MPI_Comm comm)
{
    const struct comm *c = comm_find(t, comm);
    struct exchange x = exchange_of(c);
    enum part part = rooted(&x, c, root);
    int inter = (c->flags & EVENT_INTER) != 0;
    if (part == PART_ROOT) {
        uint64_t each = payload(t, recvcount, recvtype);
        x.get = each * (uint64_t)c->peers;
        x.give = inter ? 0 : in_place(&x, sendbuf) ? each : payload(t, sendcount, sendtype);
    } else if (part == PART_OTHER) {
        x.give = payload(t, sendcount, sendtype);
    }
    return x;
}

#define COLL_GATHERV(x, t, sendbuf, sendcount, sendtype, recvcounts, recvtype, root, handle)       \
    do {                                                                                           \
        const struct comm *c_ = comm_find(t, handle);                                              \
        x = exchange_of(c_);                                                                       \
        enum part part_ = rooted(&x, c_, root);                                                    \
        int inter_ = (c_->flags & EVENT_INTER) != 0;                                               \
        if (part_ == PART_ROOT) {                                                                  \
            x.get = SUM(t, recvcounts, c_->peers, recvtype);                                       \
            x.give = inter_                  ? 0                                                   \
                     : in_place(&x, sendbuf) ? payload(t, recvcounts[c_->rank], recvtype)          \
                                             : payload(t, sendcount, sendtype);                    \
        } else if (part_ == PART_OTHER) {                                                          \
            x.give = payload(t, sendcount, sendtype);                                              \
        }                                                                                          \
    } while (0)

HOT struct exchange coll_scatter(struct thread *t, int64_t sendcount, MPI_Datatype sendtype,
                                 const void *recvbuf, int64_t recvcount, MPI_Datatype recvtype,
                                 int root, MPI_Comm comm)
{
    const struct comm *c = comm_find(t, comm);
    struct exchange x = exchange_of(c);
    enum part part = rooted(&x, c, root);
    int inter = (c->flags & EVENT_INTER) != 0;
    if (part == PART_ROOT) {
        uint64_t each = payload(t, sendcount, sendtype);
        x.give = each * (uint64_t)c->peers;
        x.get = inter ? 0 : in_place(&x, recvbuf) ? each : payload(t, recvcount, recvtype);
    } else if (part == PART_OTHER) {
        x.get = payload(t, recvcount, recvtype);
    }
    return x;
}

#define COLL_SCATTERV(x, t, sendcounts, sendtype, recvbuf, recvcount, recvtype, root, handle)      \
    do {                                                                                           \
        const struct comm *c_ = comm_find(t, handle);                                              \
        x = exchange_of(c_);                                                                       \
        enum part part_ = rooted(&x, c_, root);                                                    \
        int inter_ = (c_->flags & EVENT_INTER) != 0;                                               \
        if (part_ == PART_ROOT) {                                                                  \
            x.give = SUM(t, sendcounts, c_->peers, sendtype);                                      \
            x.get = inter_                  ? 0                                                    \
                    : in_place(&x, recvbuf) ? payload(t, sendcounts[c_->rank], sendtype)           \
                                            : payload(t, recvcount, recvtype);                     \
        } else if (part_ == PART_OTHER) {                                                          \
            x.get = payload(t, recvcount, recvtype);                                               \
        }                                                                                          \
    } while (0)

HOT struct exchange coll_allgather(struct thread *t, const void *sendbuf, int64_t sendcount,
                                   MPI_Datatype sendtype, int64_t recvcount, MPI_Datatype recvtype,
                                   MPI_Comm comm)
{
    const struct comm *c = comm_find(t, comm);
    struct exchange x = exchange_of(c);
    uint64_t each = payload(t, recvcount, recvtype);
    x.get = each * (uint64_t)c->peers;
    x.give = in_place(&x, sendbuf) ? each : payload(t, sendcount, sendtype);
    return x;
}

#define COLL_ALLGATHERV(x, t, sendbuf, sendcount, sendtype, recvcounts, recvtype, handle)          \
    do {                                                                                           \
        const struct comm *c_ = comm_find(t, handle);                                              \
        x = exchange_of(c_);                                                                       \
        x.get = SUM(t, recvcounts, c_->peers, recvtype);                                           \
        x.give = in_place(&x, sendbuf) ? payload(t, recvcounts[c_->rank], recvtype)                \
                                       : payload(t, sendcount, sendtype);                          \
    } while (0)

HOT struct exchange coll_alltoall(struct thread *t, const void *sendbuf, int64_t sendcount,
                                  MPI_Datatype sendtype, int64_t recvcount, MPI_Datatype recvtype,
                                  MPI_Comm comm)
{
    const struct comm *c = comm_find(t, comm);
    struct exchange x = exchange_of(c);
    x.get = payload(t, recvcount, recvtype) * (uint64_t)c->peers;
    x.give = in_place(&x, sendbuf) ? x.get : payload(t, sendcount, sendtype) * (uint64_t)c->peers;
    return x;
}

#define COLL_ALLTOALLV(x, t, sendbuf, sendcounts, sendtype, recvcounts, recvtype, handle)          \
    do {                                                                                           \
        const struct comm *c_ = comm_find(t, handle);                                              \
        x = exchange_of(c_);                                                                       \
        x.get = SUM(t, recvcounts, c_->peers, recvtype);                                           \
        x.give = in_place(&x, sendbuf) ? x.get : SUM(t, sendcounts, c_->peers, sendtype);          \
    } while (0)

#define COLL_ALLTOALLW(x, t, sendbuf, sendcounts, sendtypes, recvcounts, recvtypes, handle)        \
    do {                                                                                           \
        const struct comm *c_ = comm_find(t, handle);                                              \
        x = exchange_of(c_);                                                                       \
        x.get = SUM_TYPES(t, recvcounts, c_->peers, recvtypes);                                    \
        x.give = in_place(&x, sendbuf) ? x.get : SUM_TYPES(t, sendcounts, c_->peers, sendtypes);   \
    } while (0)

HOT struct exchange coll_reduce(struct thread *t, const void *sendbuf, int64_t count,
                                MPI_Datatype type, int root, MPI_Comm comm)
{
    const struct comm *c = comm_find(t, comm);
    struct exchange x = exchange_of(c);
    enum part part = rooted(&x, c, root);
    uint64_t bytes = payload(t, count, type);
    in_place(&x, sendbuf);
    if (part == PART_ROOT) {
        x.get = bytes;
        x.give = c->flags & EVENT_INTER ? 0 : bytes;
    } else if (part == PART_OTHER) {
        x.give = bytes;
    }
    return x;
}

HOT struct exchange coll_allreduce(struct thread *t, const void *sendbuf, int64_t count,
                                   MPI_Datatype type, MPI_Comm comm)
{
    struct exchange x = exchange_of(comm_find(t, comm));
    x.give = x.get = payload(t, count, type);
    in_place(&x, sendbuf);
    return x;
}

HOT struct exchange coll_reduce_scatter_block(struct thread *t, const void *sendbuf,
                                              int64_t recvcount, MPI_Datatype type, MPI_Comm comm)
{
    const struct comm *c = comm_find(t, comm);
    struct exchange x = exchange_of(c);
    x.get = payload(t, recvcount, type);
    x.give = x.get * (uint64_t)c->size;
    in_place(&x, sendbuf);
    return x;
}

#define COLL_REDUCE_SCATTER(x, t, sendbuf, recvcounts, type, handle)                               \
    do {                                                                                           \
        const struct comm *c_ = comm_find(t, handle);                                              \
        x = exchange_of(c_);                                                                       \
        x.get = c_->size > 0 ? payload(t, recvcounts[c_->rank], type) : 0;                         \
        x.give = SUM(t, recvcounts, c_->size, type);                                               \
        in_place(&x, sendbuf);                                                                     \
    } while (0)

/* ---- neighbourhoods: one part for each neighbour of the topology --------- */

HOT struct exchange coll_neighbor_allgather(struct thread *t, int64_t sendcount,
                                            MPI_Datatype sendtype, int64_t recvcount,
                                            MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct comm *c = comm_neighbours(comm_find(t, comm), comm);
    struct exchange x = exchange_of(c);
    x.give = payload(t, sendcount, sendtype);
    x.get = payload(t, recvcount, recvtype) * (uint64_t)c->sources;
    return x;
}

#define COLL_NEIGHBOR_ALLGATHERV(x, t, sendcount, sendtype, recvcounts, recvtype, handle)          \
    do {                                                                                           \
        const struct comm *c_ = comm_neighbours(comm_find(t, handle), handle);                     \
        x = exchange_of(c_);                                                                       \
        x.give = payload(t, sendcount, sendtype);                                                  \
        x.get = SUM(t, recvcounts, c_->sources, recvtype);                                         \
    } while (0)

HOT struct exchange coll_neighbor_alltoall(struct thread *t, int64_t sendcount,
                                           MPI_Datatype sendtype, int64_t recvcount,
                                           MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct comm *c = comm_neighbours(comm_find(t, comm), comm);
    struct exchange x = exchange_of(c);
    x.give = payload(t, sendcount, sendtype) * (uint64_t)c->sinks;
    x.get = payload(t, recvcount, recvtype) * (uint64_t)c->sources;
    return x;
}

#define COLL_NEIGHBOR_ALLTOALLV(x, t, sendcounts, sendtype, recvcounts, recvtype, handle)          \
    do {                                                                                           \
        const struct comm *c_ = comm_neighbours(comm_find(t, handle), handle);                     \
        x = exchange_of(c_);                                                                       \
        x.give = SUM(t, sendcounts, c_->sinks, sendtype);                                          \
        x.get = SUM(t, recvcounts, c_->sources, recvtype);                                         \
    } while (0)

#define COLL_NEIGHBOR_ALLTOALLW(x, t, sendcounts, sendtypes, recvcounts, recvtypes, handle)        \
    do {                                                                                           \
        const struct comm *c_ = comm_neighbours(comm_find(t, handle), handle);                     \
        x = exchange_of(c_);                                                                       \
        x.give = SUM_TYPES(t, sendcounts, c_->sinks, sendtypes);                                   \
        x.get = SUM_TYPES(t, recvcounts, c_->sources, recvtypes);                                  \
    } while (0)

/* ---- before and after ---------------------------------------------------- */

HOT void coll_enter(const struct scope *s, const struct exchange *x)
{
    scope_enter(s, x->give, x->get, x->root, TAG_NONE, 0, x->comm, x->flags);
}

HOT struct posted coll_request(const struct exchange *x)
{
    return (struct posted){
        .bytes = 0, .peer = x->root, .tag = TAG_NONE, .comm = x->comm, .flags = x->flags};
}

#endif

/* collectives ROUNDS: every collective, blocking and immediate, with MPI_IN_PLACE, with counts that
 * differ from rank to rank, on neighbourhoods with and without a border and across an
 * inter-communicator, and persistent ones where the MPI has them. Results are verified.
 *
 * Bytes given are those a rank puts in, bytes got those it takes out. In place it gives what its
 * buffer stands for. */
#include "truth.h"

#include <stdlib.h>

#define UNIT 3 /* ints that a rank gives to each other one */

struct party {
    MPI_Comm comm;
    int rank, size;
    int immediate; /* 1: use the immediate forms, each followed by MPI_Wait */
    int *out, *in; /* room for size * (size + UNIT) ints each */
    int *counts, *places;
    size_t block; /* bytes of UNIT ints */
};

#define EITHER(p, given, got, blocking, immediate_form, ...)                                       \
    do {                                                                                           \
        MPI_Request request_;                                                                      \
        if ((p)->immediate) {                                                                      \
            CALL_BYTES(given, got, immediate_form, __VA_ARGS__, &request_);                        \
            CALL(Wait, &request_, MPI_STATUS_IGNORE);                                              \
        } else {                                                                                   \
            CALL_BYTES(given, got, blocking, __VA_ARGS__);                                         \
        }                                                                                          \
    } while (0)

static void expect(const char *what, int got, int wanted)
{
    if (got != wanted)
        truth_broken("%s: %d in place of %d", what, got, wanted);
}

static void fill(int *a, int n, int value)
{
    for (int i = 0; i < n; i++)
        a[i] = value;
}

static void rooted(struct party *p)
{
    int root = p->size - 1, me = p->rank == root;
    size_t all = p->block * (size_t)p->size;
    EITHER(p, 0, 0, Barrier, Ibarrier, p->comm);
    fill(p->out, UNIT, p->rank);
    EITHER(p, me ? p->block : 0, me ? 0 : p->block, Bcast, Ibcast, p->out, UNIT, MPI_INT, root,
           p->comm);
    expect("MPI_Bcast", p->out[0], root);
    fill(p->out, UNIT, p->rank);
    EITHER(p, p->block, me ? all : 0, Gather, Igather, p->out, UNIT, MPI_INT, p->in, UNIT, MPI_INT,
           root, p->comm);
    for (int i = 0; me && i < p->size; i++)
        expect("MPI_Gather", p->in[i * UNIT], i);
    for (int i = 0; i < p->size; i++)
        fill(p->out + i * UNIT, UNIT, 10 * i);
    EITHER(p, me ? all : 0, p->block, Scatter, Iscatter, p->out, UNIT, MPI_INT, p->in, UNIT,
           MPI_INT, root, p->comm);
    expect("MPI_Scatter", p->in[0], 10 * p->rank);
    fill(p->out, UNIT, 1);
    EITHER(p, p->block, me ? p->block : 0, Reduce, Ireduce, p->out, p->in, UNIT, MPI_INT, MPI_SUM,
           root, p->comm);
    if (me)
        expect("MPI_Reduce", p->in[0], p->size);
}

static void everybody(struct party *p)
{
    size_t all = p->block * (size_t)p->size;
    int n = UNIT * p->size;
    fill(p->out, n, p->rank);
    EITHER(p, p->block, all, Allgather, Iallgather, p->out, UNIT, MPI_INT, p->in, UNIT, MPI_INT,
           p->comm);
    for (int i = 0; i < p->size; i++)
        expect("MPI_Allgather", p->in[i * UNIT], i);
    EITHER(p, all, all, Alltoall, Ialltoall, p->out, UNIT, MPI_INT, p->in, UNIT, MPI_INT, p->comm);
    for (int i = 0; i < p->size; i++)
        expect("MPI_Alltoall", p->in[i * UNIT], i);
    fill(p->out, n, 1);
    EITHER(p, p->block, p->block, Allreduce, Iallreduce, p->out, p->in, UNIT, MPI_INT, MPI_SUM,
           p->comm);
    expect("MPI_Allreduce", p->in[0], p->size);
    EITHER(p, all, p->block, Reduce_scatter_block, Ireduce_scatter_block, p->out, p->in, UNIT,
           MPI_INT, MPI_SUM, p->comm);
    expect("MPI_Reduce_scatter_block", p->in[0], p->size);
    EITHER(p, p->block, p->block, Scan, Iscan, p->out, p->in, UNIT, MPI_INT, MPI_SUM, p->comm);
    expect("MPI_Scan", p->in[0], p->rank + 1);
    EITHER(p, p->block, p->block, Exscan, Iexscan, p->out, p->in, UNIT, MPI_INT, MPI_SUM, p->comm);
    if (p->rank > 0)
        expect("MPI_Exscan", p->in[0], p->rank);
}

/* Rank i has i + 1 ints to give. */
static size_t uneven(struct party *p)
{
    int n = 0;
    for (int i = 0; i < p->size; i++) {
        p->counts[i] = i + 1;
        p->places[i] = n;
        n += i + 1;
    }
    return (size_t)n * sizeof(int);
}

static void counted(struct party *p)
{
    int root = 0, me = p->rank == root, mine = p->rank + 1;
    size_t all = uneven(p), own = (size_t)mine * sizeof(int);
    fill(p->out, mine, p->rank);
    EITHER(p, own, me ? all : 0, Gatherv, Igatherv, p->out, mine, MPI_INT, p->in, p->counts,
           p->places, MPI_INT, root, p->comm);
    if (me)
        expect("MPI_Gatherv", p->in[p->places[p->size - 1]], p->size - 1);
    EITHER(p, own, all, Allgatherv, Iallgatherv, p->out, mine, MPI_INT, p->in, p->counts, p->places,
           MPI_INT, p->comm);
    expect("MPI_Allgatherv", p->in[p->places[p->size - 1]], p->size - 1);
    for (int i = 0; i < p->size; i++)
        fill(p->out + p->places[i], i + 1, 10 * i);
    EITHER(p, me ? all : 0, own, Scatterv, Iscatterv, p->out, p->counts, p->places, MPI_INT, p->in,
           mine, MPI_INT, root, p->comm);
    expect("MPI_Scatterv", p->in[0], 10 * p->rank);
    fill(p->out, (int)(all / sizeof(int)), 1);
    EITHER(p, all, own, Reduce_scatter, Ireduce_scatter, p->out, p->in, p->counts, MPI_INT, MPI_SUM,
           p->comm);
    expect("MPI_Reduce_scatter", p->in[0], p->size);
}

/* Rank i gives j + 1 ints to rank j, so it gets i + 1 from each. */
static void all_to_all_counted(struct party *p)
{
    size_t all = uneven(p), got = (size_t)p->size * (size_t)(p->rank + 1) * sizeof(int);
    int *in_counts = malloc(sizeof(int) * (size_t)p->size),
        *in_places = malloc(sizeof(int) * (size_t)p->size);
    int *bytes_out = malloc(sizeof(int) * (size_t)p->size),
        *bytes_in = malloc(sizeof(int) * (size_t)p->size);
    MPI_Datatype *types = malloc(sizeof *types * (size_t)p->size);
    for (int i = 0; i < p->size; i++) {
        in_counts[i] = p->rank + 1;
        in_places[i] = i * (p->rank + 1);
        bytes_out[i] = p->places[i] * (int)sizeof(int);
        bytes_in[i] = in_places[i] * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    fill(p->out, (int)(all / sizeof(int)), p->rank);
    EITHER(p, all, got, Alltoallv, Ialltoallv, p->out, p->counts, p->places, MPI_INT, p->in,
           in_counts, in_places, MPI_INT, p->comm);
    expect("MPI_Alltoallv", p->in[in_places[p->size - 1]], p->size - 1);
    EITHER(p, all, got, Alltoallw, Ialltoallw, p->out, p->counts, bytes_out, types, p->in,
           in_counts, bytes_in, types, p->comm);
    expect("MPI_Alltoallw", p->in[in_places[p->size - 1]], p->size - 1);
    free(in_counts);
    free(in_places);
    free(bytes_out);
    free(bytes_in);
    free(types);
}

static void in_place(struct party *p)
{
    int root = 0, me = p->rank == root;
    size_t all = p->block * (size_t)p->size;
    fill(p->in, UNIT * p->size, p->rank);
    EITHER(p, p->block, p->block, Allreduce, Iallreduce, MPI_IN_PLACE, p->in, UNIT, MPI_INT,
           MPI_MAX, p->comm);
    expect("MPI_Allreduce in place", p->in[0], p->size - 1);
    fill(p->in, UNIT * p->size, p->rank);
    EITHER(p, p->block, all, Allgather, Iallgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, p->in, UNIT,
           MPI_INT, p->comm);
    expect("MPI_Allgather in place", p->in[UNIT * (p->size - 1)], p->size - 1);
    fill(p->in, UNIT * p->size, p->rank);
    EITHER(p, all, all, Alltoall, Ialltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, p->in, UNIT,
           MPI_INT, p->comm);
    expect("MPI_Alltoall in place", p->in[UNIT * (p->size - 1)], p->size - 1);
    fill(p->in, UNIT * p->size, 1);
    EITHER(p, p->block, me ? p->block : 0, Reduce, Ireduce, me ? MPI_IN_PLACE : p->in,
           me ? p->in : NULL, UNIT, MPI_INT, MPI_SUM, root, p->comm);
    if (me)
        expect("MPI_Reduce in place", p->in[0], p->size);
    fill(p->out, UNIT, p->rank);
    EITHER(p, p->block, me ? all : 0, Gather, Igather, me ? MPI_IN_PLACE : p->out, UNIT, MPI_INT,
           p->in, UNIT, MPI_INT, root, p->comm);
    EITHER(p, me ? all : 0, p->block, Scatter, Iscatter, p->in, UNIT, MPI_INT,
           me ? MPI_IN_PLACE : p->out, UNIT, MPI_INT, root, p->comm);
    expect("MPI_Scatter in place", me ? 0 : p->out[0], me ? 0 : p->rank);
}

/* A ring: two neighbours in, two out. */
static void neighbours(struct party *p)
{
    size_t two = 2 * p->block;
    int counts[] = {UNIT, UNIT}, places[] = {0, UNIT}, previous = (p->rank + p->size - 1) % p->size;
    int ring[] = {previous, (p->rank + 1) % p->size};
    MPI_Aint offsets[] = {0, UNIT * sizeof(int)};
    MPI_Datatype types[] = {MPI_INT, MPI_INT};
    MPI_Comm graph;
    CALL(Dist_graph_create_adjacent, p->comm, 2, ring, MPI_UNWEIGHTED, 2, ring, MPI_UNWEIGHTED,
         MPI_INFO_NULL, 0, &graph);
    fill(p->out, 2 * UNIT, p->rank);
    EITHER(p, p->block, two, Neighbor_allgather, Ineighbor_allgather, p->out, UNIT, MPI_INT, p->in,
           UNIT, MPI_INT, graph);
    expect("MPI_Neighbor_allgather", p->in[0], previous);
    EITHER(p, p->block, two, Neighbor_allgatherv, Ineighbor_allgatherv, p->out, UNIT, MPI_INT,
           p->in, counts, places, MPI_INT, graph);
    expect("MPI_Neighbor_allgatherv", p->in[0], previous);
    EITHER(p, two, two, Neighbor_alltoall, Ineighbor_alltoall, p->out, UNIT, MPI_INT, p->in, UNIT,
           MPI_INT, graph);
    expect("MPI_Neighbor_alltoall", p->in[0], previous);
    EITHER(p, two, two, Neighbor_alltoallv, Ineighbor_alltoallv, p->out, counts, places, MPI_INT,
           p->in, counts, places, MPI_INT, graph);
    expect("MPI_Neighbor_alltoallv", p->in[0], previous);
    EITHER(p, two, two, Neighbor_alltoallw, Ineighbor_alltoallw, p->out, counts, offsets, types,
           p->in, counts, offsets, types, graph);
    expect("MPI_Neighbor_alltoallw", p->in[0], previous);
    CALL(Comm_free, &graph);
}

/* A row of ranks, the first and last of which have one neighbour. Counts and buffers are given for
 * two, but with MPI_PROC_NULL nothing is exchanged. */
static void beyond_the_border(struct party *p)
{
    int down = p->rank > 0, up = p->rank < p->size - 1, open = 0;
    int counts[] = {UNIT, 2 * UNIT}, in_counts[] = {2 * UNIT, UNIT}, places[] = {0, 2 * UNIT};
    size_t all = (size_t)(down + up) * p->block, once = down + up > 0 ? p->block : 0;
    size_t out = (size_t)(down + 2 * up) * p->block, in = (size_t)(2 * down + up) * p->block;
    MPI_Aint offsets[] = {0, 2 * UNIT * sizeof(int)};
    MPI_Datatype types[] = {MPI_INT, MPI_INT};
    MPI_Comm row;
    CALL(Cart_create, p->comm, 1, &p->size, &open, 0, &row);
    fill(p->out, 4 * UNIT, p->rank);
    EITHER(p, once, all, Neighbor_allgather, Ineighbor_allgather, p->out, UNIT, MPI_INT, p->in,
           UNIT, MPI_INT, row);
    if (down)
        expect("MPI_Neighbor_allgather in a row", p->in[0], p->rank - 1);
    EITHER(p, all, all, Neighbor_alltoall, Ineighbor_alltoall, p->out, UNIT, MPI_INT, p->in, UNIT,
           MPI_INT, row);
    EITHER(p, out, in, Neighbor_alltoallv, Ineighbor_alltoallv, p->out, counts, places, MPI_INT,
           p->in, in_counts, places, MPI_INT, row);
    EITHER(p, out, in, Neighbor_alltoallw, Ineighbor_alltoallw, p->out, counts, offsets, types,
           p->in, in_counts, offsets, types, row);
    if (up)
        expect("MPI_Neighbor_alltoallw in a row", p->in[2 * UNIT], p->rank + 1);
    fill(counts, 2, UNIT);
    EITHER(p, once, all, Neighbor_allgatherv, Ineighbor_allgatherv, p->out, UNIT, MPI_INT, p->in,
           counts, places, MPI_INT, row);
    CALL(Comm_free, &row);
}

/* Two halves of the world. The root is the first rank of the lower one. */
static void across(struct party *p)
{
    int upper = p->rank >= p->size / 2, value[UNIT] = {p->rank};
    MPI_Comm half, inter;
    if (p->size < 2)
        return;
    CALL(Comm_split, p->comm, upper, p->rank, &half);
    CALL(Intercomm_create, half, 0, p->comm, upper ? 0 : p->size / 2, 17, &inter);
    EITHER(p, 0, 0, Barrier, Ibarrier, inter);
    int root = upper ? 0 : p->rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    EITHER(p, p->rank == 0 ? p->block : 0, upper ? p->block : 0, Bcast, Ibcast, value, UNIT,
           MPI_INT, root, inter);
    expect("MPI_Bcast across", value[0], upper ? 0 : p->rank);
    CALL(Comm_free, &inter);
    CALL(Comm_free, &half);
}

#if MPI_VERSION >= 4
/* Made once, started twice alone and once together. */
static void persistent(struct party *p)
{
    enum { KINDS = 5 };
    int root = p->size - 1, me = p->rank == root, mine = p->rank + 1;
    size_t counts = uneven(p), own = (size_t)mine * sizeof(int), all = p->block * (size_t)p->size;
    size_t given[KINDS] = {0, me ? p->block : 0, own, all, p->block};
    size_t got[KINDS] = {0, me ? 0 : p->block, me ? counts : 0, all, p->block};
    size_t room = (counts + all) / sizeof(int), given_all = 0, got_all = 0;
    int *in = calloc(KINDS * room, sizeof(int)), *to = in;
    MPI_Request made[KINDS];
    fill(p->out, UNIT * p->size, p->rank);
    CALL(Barrier_init, p->comm, MPI_INFO_NULL, &made[0]);
    CALL(Bcast_init, to, UNIT, MPI_INT, root, p->comm, MPI_INFO_NULL, &made[1]);
    CALL(Gatherv_init, p->out, mine, MPI_INT, to += room, p->counts, p->places, MPI_INT, root,
         p->comm, MPI_INFO_NULL, &made[2]);
    CALL(Alltoall_init, p->out, UNIT, MPI_INT, to += room, UNIT, MPI_INT, p->comm, MPI_INFO_NULL,
         &made[3]);
    CALL(Allreduce_init, p->out, to += room, UNIT, MPI_INT, MPI_SUM, p->comm, MPI_INFO_NULL,
         &made[4]);
    for (int i = 0; i < KINDS; i++) {
        for (int again = 0; again < 2; again++) {
            CALL_BYTES(given[i], got[i], Start, &made[i]);
            CALL(Wait, &made[i], MPI_STATUS_IGNORE);
        }
        given_all += given[i];
        got_all += got[i];
    }
    CALL_BYTES(given_all, got_all, Startall, KINDS, made);
    CALL(Waitall, KINDS, made, MPI_STATUSES_IGNORE);
    expect("MPI_Allreduce_init", to[0], p->size * (p->size - 1) / 2);
    for (int i = 0; i < KINDS; i++)
        CALL(Request_free, &made[i]);
    free(in);
}

/* Thousands made, of which some are started. */
static void many_persistent(struct party *p)
{
    enum { MADE = 6000, STARTED = 20 };
    MPI_Request *made = malloc(MADE * sizeof(*made));
    size_t room = UNIT * (size_t)p->size;
    for (int i = 0; i < MADE; i++)
        CALL(Alltoall_init, p->out, UNIT, MPI_INT, p->in, UNIT, MPI_INT, p->comm, MPI_INFO_NULL,
             &made[i]);
    for (int i = MADE / STARTED - 1; i < MADE; i += MADE / STARTED) {
        CALL_BYTES(room * sizeof(int), room * sizeof(int), Start, &made[i]);
        CALL(Wait, &made[i], MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < MADE; i++)
        CALL(Request_free, &made[i]);
    free(made);
}
#else
static void persistent(struct party *p)
{
    (void)p; /* this MPI has none */
}

static void many_persistent(struct party *p)
{
    (void)p;
}
#endif

static void nothing(struct party *p)
{
    EITHER(p, 0, 0, Bcast, Ibcast, p->out, 0, MPI_INT, 0, p->comm);
    EITHER(p, 0, 0, Allreduce, Iallreduce, p->out, p->in, 0, MPI_INT, MPI_SUM, p->comm);
    EITHER(p, 0, 0, Allgather, Iallgather, p->out, 0, MPI_INT, p->in, 0, MPI_INT, p->comm);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    MPI_Init(&argc, &argv);
    truth_start("MPI_Init");
    struct party p = {.comm = MPI_COMM_WORLD, .block = UNIT * sizeof(int)};
    MPI_Comm_rank(p.comm, &p.rank);
    MPI_Comm_size(p.comm, &p.size);
    size_t n = (size_t)p.size, room = n * (n + UNIT) + 4 * UNIT;
    p.out = calloc(room, sizeof(int));
    p.in = calloc(room, sizeof(int));
    p.counts = calloc(n, sizeof(int));
    p.places = calloc(n, sizeof(int));
    for (int round = 0; round < atoi(argv[1]); round++) {
        p.immediate = round % 2;
        rooted(&p);
        everybody(&p);
        counted(&p);
        all_to_all_counted(&p);
        in_place(&p);
        neighbours(&p);
        beyond_the_border(&p);
        across(&p);
        persistent(&p);
        nothing(&p);
        if (round == 0)
            many_persistent(&p);
    }
    free(p.out);
    free(p.in);
    free(p.counts);
    free(p.places);
    truth_finish();
    return 0;
}

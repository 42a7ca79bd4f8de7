/* rare ROUNDS: calls and arguments that few programs make, with an even number of ranks, 4 or more:
 * two halves that connect by a port, messages and collectives between them, MPI_Comm_idup,
 * datatypes with gaps, reductions by the user, a graph of ranks, MPI_Cancel, and, where the MPI
 * library has them, the calls for large counts. */
#include "truth.h"

#include <stdlib.h>

#define WORDS 24
#define BYTES(n) ((size_t)(n) * sizeof(long))

static long out[WORDS], in[WORDS];
static int rank, size, right, left;

static void check(const long *words, int count, int stride, long from)
{
    for (int i = 0; i < count; i++)
        if (words[i * stride] != from + i)
            truth_broken("word %d is %ld in place of %ld", i, words[i * stride], from + i);
}

static void exchanged(int to, size_t bytes)
{
    truth_sent(to, bytes);
    truth_received(bytes);
}

/* Each rank exchanges messages with that of its position in the other half. */
static void between_halves(MPI_Comm inter, int lower)
{
    int half = size / 2, other = (rank + half) % size, at = rank % half, flag = 0;
    int root = lower ? (at == 1 ? MPI_ROOT : MPI_PROC_NULL) : 1; /* rank 1 of the lower half */
    MPI_Request request;
    MPI_Status status;
    MPI_Message message;
    MPI_Comm whole;
    CALL(Isend, out, 5, MPI_LONG, at, 6, inter, &request);
    CALL(Mprobe, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &message, &status);
    CALL(Mrecv, in, WORDS, MPI_LONG, &message, MPI_STATUS_IGNORE);
    while (!POLL(&flag, Test, &request, &flag, MPI_STATUS_IGNORE))
        ;
    exchanged(other, BYTES(5));
    check(in, 5, 1, 1000L * other);
    CALL_BYTES(at == 1 && lower ? BYTES(3) : 0, lower ? 0 : BYTES(3), Bcast, lower ? out : in, 3,
               MPI_LONG, root, inter);
    CALL_BYTES(BYTES(2), BYTES(2 * half), Allgather, out, 2, MPI_LONG, in, 2, MPI_LONG, inter);
    CALL_BYTES(BYTES(1), BYTES(1), Allreduce, out, in, 1, MPI_LONG, MPI_SUM, inter);
    CALL(Intercomm_merge, inter, !lower, &whole);
    CALL(Sendrecv, out, 4, MPI_LONG, right, 7, in, 4, MPI_LONG, left, 7, whole, MPI_STATUS_IGNORE);
    exchanged(right, BYTES(4));
    check(in, 4, 1, 1000L * left);
    CALL(Comm_free, &whole);
}

/* MPICH has no ports where it uses UCX, as Debian's does. */
static void connected(void)
{
    MPI_Comm half, inter;
    int lower = rank < size / 2;
    CALL(Comm_split, MPI_COMM_WORLD, !lower, rank, &half);
#if defined(OPEN_MPI)
    char port[MPI_MAX_PORT_NAME] = "";
    if (rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    CALL_BYTES(rank == 0 ? sizeof port : 0, rank == 0 ? 0 : sizeof port, Bcast, port, sizeof port,
               MPI_CHAR, 0, MPI_COMM_WORLD);
    if (lower)
        CALL(Comm_accept, port, MPI_INFO_NULL, 0, half, &inter);
    else
        CALL(Comm_connect, port, MPI_INFO_NULL, 0, half, &inter);
    if (rank == 0)
        MPI_Close_port(port);
#else
    CALL(Intercomm_create, half, 0, MPI_COMM_WORLD, lower ? size / 2 : 0, 5, &inter);
#endif
    between_halves(inter, lower);
    CALL(Comm_disconnect, &inter);
    CALL(Comm_free, &half);
}

static void copied(void)
{
    MPI_Comm copies[2];
    MPI_Request requests[2];
    for (int i = 0; i < 2; i++)
        CALL(Comm_idup, MPI_COMM_WORLD, &copies[i], &requests[i]);
    CALL(Waitall, 2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; i++) {
        CALL(Sendrecv, out, 2 + i, MPI_LONG, right, 8, in, WORDS, MPI_LONG, left, MPI_ANY_TAG,
             copies[i], MPI_STATUS_IGNORE);
        exchanged(right, BYTES(2 + i));
        CALL(Comm_free, &copies[i]);
    }
}

static void add_pairs(void *with, void *to, int *length, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < 2 * *length; i++)
        ((long *)to)[i] += ((long *)with)[i];
}

/* Every second word, received as words without gaps; and a reduction of pairs by the user. */
static void shaped(void)
{
    MPI_Datatype gaps, wide, pair;
    MPI_Op add;
    MPI_Type_vector(6, 1, 2, MPI_LONG, &gaps);
    MPI_Type_create_resized(gaps, 0, (MPI_Aint)BYTES(12), &wide);
    MPI_Type_contiguous(2, MPI_LONG, &pair);
    MPI_Type_commit(&wide);
    MPI_Type_commit(&pair);
    CALL(Sendrecv, out, 2, wide, right, 9, in, 12, MPI_LONG, left, 9, MPI_COMM_WORLD,
         MPI_STATUS_IGNORE);
    exchanged(right, BYTES(12));
    if (in[0] != 1000L * left || in[11] != 1000L * left + 22)
        truth_broken("words came from the wrong places");
    CALL(Sendrecv_replace, in, 2, wide, right, 9, left, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    exchanged(right, BYTES(12));
    MPI_Op_create(add_pairs, 1, &add);
    CALL_BYTES(BYTES(4), BYTES(4), Allreduce, out, in, 2, pair, add, MPI_COMM_WORLD);
    CALL_BYTES(BYTES(2), BYTES(2), Scan, out, in, 1, pair, add, MPI_COMM_WORLD);
    MPI_Op_free(&add);
    CALL(Type_free, &gaps);
    CALL(Type_free, &wide);
    CALL(Type_free, &pair);
}

/* Rank 0 describes the whole graph: each rank sends to the next one, and rank 1 to rank 0 too. */
static void graph(void)
{
    MPI_Comm comm;
    int *from = calloc((size_t)size + 1, sizeof *from), *to = calloc((size_t)size + 1, sizeof *to);
    int *degrees = calloc((size_t)size + 1, sizeof *degrees), edges = rank == 0 ? size + 1 : 0;
    if (!from || !to || !degrees)
        truth_broken("out of memory");
    for (int i = 0; i < edges; i++) {
        from[i] = i < size ? i : 1;
        to[i] = i < size ? (i + 1) % size : 0;
        degrees[i] = 1;
    }
    CALL(Dist_graph_create, MPI_COMM_WORLD, edges, from, degrees, to, MPI_UNWEIGHTED, MPI_INFO_NULL,
         0, &comm);
    size_t outs = rank == 1 ? 2 : 1, ins = rank == 0 ? 2 : 1;
    CALL_BYTES(BYTES(3 * outs), BYTES(3 * ins), Neighbor_alltoall, out, 3, MPI_LONG, in, 3,
               MPI_LONG, comm);
    CALL_BYTES(BYTES(3), BYTES(3 * ins), Neighbor_allgather, out, 3, MPI_LONG, in, 3, MPI_LONG,
               comm);
    CALL(Comm_free, &comm);
    free(from);
    free(to);
    free(degrees);
}

static void cancelled(void)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int never = 0;
    CALL(Irecv, in, WORDS, MPI_LONG, left, 10, MPI_COMM_WORLD, &requests[0]);
    CALL(Recv_init, in, WORDS, MPI_LONG, MPI_ANY_SOURCE, 10, MPI_COMM_WORLD, &requests[1]);
    CALL(Start, &requests[1]);
    for (int i = 0; i < 2; i++)
        CALL(Cancel, &requests[i]);
    CALL(Waitall, 2, requests, statuses);
    for (int i = 0; i < 2; i++) {
        MPI_Test_cancelled(&statuses[i], &never);
        if (!never)
            truth_broken("a receive was not cancelled");
    }
    CALL(Request_free, &requests[1]);
    CALL(Barrier, MPI_COMM_WORLD);
}

#if MPI_VERSION >= 4
/* Counted under the name without _c, as it is recorded. */
#define LARGE(given, got, name, ...)                                                               \
    (truth_call("MPI_" #name, (given), (got)), truth_called(MPI_##name##_c(__VA_ARGS__)))

static void large_counts(void)
{
    MPI_Request requests[2];
    MPI_Datatype gaps;
    MPI_Count counts[2] = {2, 2};
    MPI_Type_vector_c(3, 2, 4, MPI_LONG, &gaps);
    MPI_Type_commit(&gaps);
    LARGE(0, 0, Irecv, in, 6, MPI_LONG, left, 11, MPI_COMM_WORLD, &requests[0]);
    LARGE(0, 0, Isend, out, 1, gaps, right, 11, MPI_COMM_WORLD, &requests[1]);
    exchanged(right, BYTES(6));
    CALL(Waitall, 2, requests, MPI_STATUSES_IGNORE);
    LARGE(0, 0, Sendrecv, out, 7, MPI_LONG, right, 12, in, WORDS, MPI_LONG, left, 12,
          MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    exchanged(right, BYTES(7));
    LARGE(BYTES(5), BYTES(5), Allreduce, out, in, 5, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    LARGE(BYTES(2), BYTES(counts[0]), Reduce_scatter_block, out, in, 2, MPI_LONG, MPI_SUM,
          MPI_COMM_SELF);
    CALL(Type_free, &gaps);
}
#endif

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    truth_init(&argc, &argv, &rank, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    for (int i = 0; i < WORDS; i++)
        out[i] = 1000L * rank + i;
    for (int i = 0; i < atoi(argv[1]); i++) {
        connected();
        copied();
        shaped();
        graph();
        cancelled();
#if MPI_VERSION >= 4
        large_counts();
#endif
    }
    truth_finish();
    return 0;
}

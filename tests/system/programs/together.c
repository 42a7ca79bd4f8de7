/* together FILE ROUNDS: each rank makes ROUNDS rounds of collectives that do not block, that repeat
 * or that depend on an order of ranks; then the last rank stays outside of MPI until FILE is there,
 * and all others wait for it in a barrier. In round k rank k % size is the last one to start
 * MPI_Iallreduce, and of a persistent one, where the MPI has that, and rank size - 2, the second
 * one of the communicator, MPI_Iscan: they have a message of each other rank before, which these
 * sent after they had started it. */
#include "last_rank.h"

#include <mpi.h>

#include <stdlib.h>

#define UNIT 4

static int rank, size;
static MPI_Comm turned, ring; /* ranks in the opposite order; neighbours on both sides */

/* Called before (started = 0) and after (1) a rank starts a collective that a rank starts last. */
static void let_start_last(int last, int started)
{
    int token = 0;
    for (int other = 0; rank == last && !started && other < size; other++)
        if (other != last)
            MPI_Recv(&token, 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != last && started)
        MPI_Send(&token, 1, MPI_INT, last, 1, MPI_COMM_WORLD);
}

static void immediate(int round)
{
    int in[UNIT] = {0}, out[2 * UNIT], done = 0;
    MPI_Request request, several[4];
    let_start_last(round % size, 0);
    MPI_Iallreduce(in, out, UNIT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    let_start_last(round % size, 1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    let_start_last(size - 2, 0);
    MPI_Iscan(in, out, UNIT, MPI_INT, MPI_SUM, turned, &request);
    let_start_last(size - 2, 1);
    while (!done)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    MPI_Ibarrier(MPI_COMM_WORLD, &several[0]);
    MPI_Irecv(out, 1, MPI_INT, (rank + 1) % size, 2, MPI_COMM_WORLD, &several[1]);
    MPI_Isend(in, 1, MPI_INT, (rank + size - 1) % size, 2, MPI_COMM_WORLD, &several[2]);
    MPI_Ibcast(in, UNIT, MPI_INT, 1, turned, &several[3]);
    MPI_Waitall(4, several, MPI_STATUSES_IGNORE);
    MPI_Ineighbor_allgather(in, UNIT, MPI_INT, out, UNIT, MPI_INT, ring, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

#if MPI_VERSION >= 4
static int repeated_in[UNIT], repeated_out[3][UNIT];
static MPI_Request repeated[3];

static void repeated_make(void)
{
    MPI_Allreduce_init(repeated_in, repeated_out[0], UNIT, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &repeated[0]);
    MPI_Barrier_init(turned, MPI_INFO_NULL, &repeated[1]);
    MPI_Exscan_init(repeated_in, repeated_out[1], UNIT, MPI_INT, MPI_SUM, turned, MPI_INFO_NULL,
                    &repeated[2]);
}

/* The first one by itself, started last by the rank of the round; the others by one call. */
static void repeat(int round)
{
    let_start_last(round % size, 0);
    MPI_Start(&repeated[0]);
    let_start_last(round % size, 1);
    MPI_Startall(2, &repeated[1]);
    MPI_Waitall(3, repeated, MPI_STATUSES_IGNORE);
}

static void repeated_free(void)
{
    for (int i = 0; i < 3; i++)
        MPI_Request_free(&repeated[i]);
}
#endif

static void blocking(void)
{
    int in[UNIT] = {0}, out[2 * UNIT];
    MPI_Scan(in, out, UNIT, MPI_INT, MPI_SUM, turned);
    MPI_Exscan(in, out, UNIT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Neighbor_allgather(in, UNIT, MPI_INT, out, UNIT, MPI_INT, ring);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &(int){1}, 0, &ring);
#if MPI_VERSION >= 4
    repeated_make();
#endif
    for (int round = 0; round < atoi(argv[2]); round++) {
        blocking();
        immediate(round);
#if MPI_VERSION >= 4
        repeat(round);
#endif
    }
    last_rank_await_file(rank, size, argv[1]);
    MPI_Barrier(MPI_COMM_WORLD);
#if MPI_VERSION >= 4
    repeated_free();
#endif
    MPI_Comm_free(&turned);
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}

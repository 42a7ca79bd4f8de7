/* rounds FILE ROUNDS: ranks exchange messages with both neighbours, always with the same tags and
 * sizes, and a third of the rounds sends one more that is received from any source. Then the last
 * rank stays outside of MPI until FILE is there, and all others wait for it in a barrier. */
#include "last_rank.h"

#include <mpi.h>

#include <stdlib.h>

#define BYTES 2000

static int rank, size;

/* Ranks take differently long between rounds. */
static void compute(void)
{
    volatile double sum = 0;
    for (int k = rand() % 20000; k > 0; k--)
        sum += k;
}

static void exchange(int round)
{
    static char out[2][BYTES], in[3][BYTES];
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request requests[4];
    MPI_Irecv(in[0], BYTES, MPI_CHAR, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in[1], BYTES, MPI_CHAR, right, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out[0], BYTES, MPI_CHAR, right, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(out[1], BYTES, MPI_CHAR, left, 2, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    if (round % 3 == rank % 3)
        MPI_Send(out[0], 64, MPI_CHAR, right, 3, MPI_COMM_WORLD);
    if (round % 3 == left % 3)
        MPI_Recv(in[2], 64, MPI_CHAR, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    srand((unsigned)rank);
    for (int round = 0; round < atoi(argv[2]); round++) {
        compute();
        exchange(round);
    }
    last_rank_await_file(rank, size, argv[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

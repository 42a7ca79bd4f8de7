/* neighbours GATE LATE: the last rank stays outside of MPI until LATE is there, and then exchanges
 * data with its neighbours in a row of ranks, as all others have begun to do; then all exchange
 * data in a ring, which is a graph, and each rank with the one before it, which is a distributed
 * graph. In the end the last rank stays outside until GATE is there. */
#include "last_rank.h"

#include <mpi.h>

#define UNIT 4

int main(int argc, char **argv)
{
    int rank, size, in[2 * UNIT] = {0}, out[2 * UNIT];
    if (argc < 3)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int index[64], edges[128], before = (rank + size - 1) % size, after = (rank + 1) % size;
    for (int i = 0; i < size && i < 64; i++) {
        index[i] = 2 * (i + 1);
        edges[2 * i] = (i + size - 1) % size;
        edges[2 * i + 1] = (i + 1) % size;
    }
    MPI_Comm grid, row, ring, circle;
    MPI_Request request;
    MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){1, size}, (int[]){0, 0}, 0, &grid);
    MPI_Comm_dup(grid, &row);
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &ring);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &after,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &circle);
    last_rank_await_file(rank, size, argv[2]);
    int wide_in[4 * UNIT] = {0}, wide_out[4 * UNIT]; /* two dimensions, of which one has one rank */
    MPI_Neighbor_alltoall(wide_in, UNIT, MPI_INT, wide_out, UNIT, MPI_INT, row);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Neighbor_alltoall(in, UNIT, MPI_INT, out, UNIT, MPI_INT, ring);
    MPI_Ineighbor_allgather(in, UNIT, MPI_INT, out, UNIT, MPI_INT, circle, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    last_rank_await_file(rank, size, argv[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&circle);
    MPI_Comm_free(&ring);
    MPI_Comm_free(&row);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}

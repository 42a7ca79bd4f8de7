/* halo STEPS BYTES [DIMENSIONS]: halo exchange on a periodic Cartesian grid of 1 to 3 dimensions,
 * then an Allreduce, in every step. Small: made to be run with many ranks on few cores. */
#include "truth.h"

#include <stdlib.h>

#define MAX_DIMENSIONS 3

static void exchange(MPI_Comm grid, int dimensions, int bytes, char *out, char *in)
{
    MPI_Request requests[4 * MAX_DIMENSIONS];
    int n = 0;
    for (int d = 0; d < dimensions; d++)
        for (int way = -1; way <= 1; way += 2) {
            int from, to;
            MPI_Cart_shift(grid, d, way, &from, &to);
            CALL(Irecv, in + n / 2 * bytes, bytes, MPI_BYTE, from, 2 * d + (way > 0), grid,
                 &requests[n]);
            CALL(Isend, out, bytes, MPI_BYTE, to, 2 * d + (way > 0), grid, &requests[n + 1]);
            truth_sent(to, (size_t)bytes); /* the grid keeps the world's order */
            n += 2;
        }
    CALL(Waitall, n, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n / 2; i++)
        truth_received((size_t)bytes);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    int steps = atoi(argv[1]), bytes = atoi(argv[2]), dimensions = argc > 3 ? atoi(argv[3]) : 3,
        size;
    if (steps < 0 || bytes < 0 || dimensions < 1 || dimensions > MAX_DIMENSIONS)
        return 2;
    MPI_Init(&argc, &argv);
    truth_start("MPI_Init");
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int shape[MAX_DIMENSIONS] = {0}, periodic[MAX_DIMENSIONS] = {1, 1, 1};
    MPI_Dims_create(size, dimensions, shape);
    MPI_Comm grid;
    CALL(Cart_create, MPI_COMM_WORLD, dimensions, shape, periodic, 0, &grid);
    char *out = calloc((size_t)bytes + 1, 1),
         *in = calloc((size_t)bytes * 2 * MAX_DIMENSIONS + 1, 1);
    for (int step = 0; step < steps; step++) {
        double mine = step, sum = 0;
        exchange(grid, dimensions, bytes, out, in);
        CALL_BYTES(8, 8, Allreduce, &mine, &sum, 1, MPI_DOUBLE, MPI_SUM, grid);
        if (sum < (double)step * size - 0.5 || sum > (double)step * size + 0.5)
            truth_broken("step %d: the sum is %g", step, sum);
    }
    CALL(Comm_free, &grid);
    free(out);
    free(in);
    truth_finish();
    return 0;
}

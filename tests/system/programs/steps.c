/* steps DIRECTORY BYTES MICROSECONDS [together]: a simulation in outline. In every step each rank
 * computes (sleeps) for so long, exchanges halos of that size on a periodic Cartesian grid of three
 * dimensions, receives them one by one as they arrive or, with together, by one MPI_Waitall, and
 * joins an Allreduce. Files in the directory control the job, and may come and go: while slow.RANK
 * exists, that rank computes three times as long; with end the job ends. Rank 0 writes the number
 * of steps done to DIRECTORY/steps at the end. */
#include "truth.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define DIMENSIONS 3

static int there(const char *directory, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return access(path, F_OK) == 0;
}

static void compute(long microseconds)
{
    struct timespec left = {microseconds / 1000000, microseconds % 1000000 * 1000};
    while (nanosleep(&left, &left) != 0)
        ;
}

static void exchange(MPI_Comm grid, int bytes, int together, char *out, char *in)
{
    MPI_Request receives[2 * DIMENSIONS], sends[2 * DIMENSIONS];
    int n = 0, which;
    for (int d = 0; d < DIMENSIONS; d++)
        for (int way = -1; way <= 1; way += 2, n++) {
            int from, to, tag = 2 * d + (way > 0);
            MPI_Cart_shift(grid, d, way, &from, &to);
            CALL(Irecv, in + n * bytes, bytes, MPI_BYTE, from, tag, grid, &receives[n]);
            CALL(Isend, out, bytes, MPI_BYTE, to, tag, grid, &sends[n]);
            truth_sent(to, (size_t)bytes); /* the grid keeps the world's order */
        }
    if (together)
        CALL(Waitall, n, receives, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++) {
        if (!together)
            CALL(Waitany, n, receives, &which, MPI_STATUS_IGNORE);
        truth_received((size_t)bytes);
    }
    CALL(Waitall, n, sends, MPI_STATUSES_IGNORE);
}

static void write_steps(const char *directory, long steps)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/steps", directory);
    FILE *f = fopen(path, "w");
    if (!f || fprintf(f, "%ld\n", steps) < 0 || fclose(f) != 0)
        truth_broken("cannot write %s", path);
}

static long run(MPI_Comm grid, const char *directory, int bytes, long microseconds, int together)
{
    int rank;
    char slow[32], *out = calloc((size_t)bytes + 1, 1),
                   *in = calloc((size_t)bytes * 2 * DIMENSIONS + 1, 1);
    long steps = 0;
    if (!out || !in)
        truth_broken("out of memory");
    MPI_Comm_rank(grid, &rank);
    snprintf(slow, sizeof slow, "slow.%d", rank);
    for (int end = 0; !end; steps++) {
        int seen = rank == 0 && there(directory, "end");
        compute(there(directory, slow) ? 3 * microseconds : microseconds);
        exchange(grid, bytes, together, out, in);
        CALL_BYTES(sizeof end, sizeof end, Allreduce, &seen, &end, 1, MPI_INT, MPI_MAX, grid);
    }
    free(out);
    free(in);
    return steps;
}

int main(int argc, char **argv)
{
    int size, rank, shape[DIMENSIONS] = {0}, periodic[DIMENSIONS] = {1, 1, 1};
    MPI_Comm grid;
    if (argc < 4)
        return 2;
    truth_init(&argc, &argv, &rank, &size);
    MPI_Dims_create(size, DIMENSIONS, shape);
    CALL(Cart_create, MPI_COMM_WORLD, DIMENSIONS, shape, periodic, 0, &grid);
    long steps = run(grid, argv[1], atoi(argv[2]), atol(argv[3]), argc > 4);
    if (rank == 0)
        write_steps(argv[1], steps);
    CALL(Comm_free, &grid);
    truth_finish();
    return 0;
}

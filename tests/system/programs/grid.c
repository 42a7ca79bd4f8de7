/* grid MEMBERS: the first MEMBERS ranks make a process grid of two columns in the reverse of their
 * order, look where they are in it, and free it; then each sends STEPS messages to the next one of
 * its column, in MPI_COMM_WORLD. Each prints "place RANK (ROW,COLUMN)". Less than two members: no
 * grid, no messages. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { STEPS = 50, BYTES = 8000, PAUSE_US = 30000 };

static char out[BYTES], in[BYTES];

/* Neighbours are told by their ranks in the grid: these are their world ranks. */
static int world_rank(MPI_Comm comm, int rank)
{
    MPI_Group group, world;
    int found;
    MPI_Comm_group(comm, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(group, 1, &rank, world, &found);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    return found;
}

static void place(MPI_Comm turned, int members, int rank, int *from, int *to)
{
    int sizes[2] = {members / 2, 2}, wraps[2] = {1, 0}, keep[2] = {1, 0}, at, mine[2];
    MPI_Comm grid, column;
    MPI_Cart_create(turned, 2, sizes, wraps, 1, &grid);
    MPI_Comm_rank(grid, &at);
    MPI_Cart_coords(grid, at, 2, mine);
    MPI_Cart_shift(grid, 0, 1, from, to);
    *from = world_rank(grid, *from);
    *to = world_rank(grid, *to);
    MPI_Cart_sub(grid, keep, &column);
    MPI_Comm_free(&column);
    MPI_Comm_free(&grid);
    printf("place %d (%d,%d)\n", rank, mine[0], mine[1]);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int rank, from, to, members = argc > 1 ? atoi(argv[1]) : 0;
    MPI_Comm turned;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank < members ? 0 : MPI_UNDEFINED, -rank, &turned);
    if (turned != MPI_COMM_NULL) {
        place(turned, members, rank, &from, &to);
        for (int i = 0; i < STEPS; i++) {
            MPI_Sendrecv(out, BYTES, MPI_CHAR, to, 0, in, BYTES, MPI_CHAR, from, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            usleep(PAUSE_US);
        }
        MPI_Comm_free(&turned);
    }
    MPI_Finalize();
    return 0;
}

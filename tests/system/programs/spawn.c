/* spawn PROGRAM [ARGUMENT...]: the ranks start two more by running PROGRAM, which ends up as
 * "spawn child". Each world passes messages round among its own ranks, rank 0 of one exchanges one
 * with rank 0 of the other, and both are merged once. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHILDREN 2
#define BYTES 16

/* Each rank sends to the next, and once more round for each of rounds. */
static void pass_round(int rank, int size, int rounds)
{
    char out[BYTES] = "", in[BYTES];
    for (int i = 0; i < rounds; i++)
        MPI_Sendrecv(out, BYTES, MPI_CHAR, (rank + 1) % size, 1, in, BYTES, MPI_CHAR,
                     (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void meet(MPI_Comm other, int rank, int high)
{
    char out[BYTES] = "", in[BYTES];
    int sum = 0, one = 1, size;
    MPI_Comm together;
    if (rank == 0)
        MPI_Sendrecv(out, BYTES, MPI_CHAR, 0, 2, in, BYTES, MPI_CHAR, 0, 2, other,
                     MPI_STATUS_IGNORE);
    MPI_Intercomm_merge(other, high, &together);
    MPI_Comm_size(together, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, together);
    if (sum != size) {
        fprintf(stderr, "spawn: %d ranks in place of %d\n", sum, size);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Comm_free(&together);
    MPI_Comm_disconnect(&other);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Comm other;
    if (argc < 2)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&other);
    int child = other != MPI_COMM_NULL;
    if (child != (strcmp(argv[1], "child") == 0))
        MPI_Abort(MPI_COMM_WORLD, 1);
    pass_round(rank, size, child ? 7 : 5);
    if (!child)
        MPI_Comm_spawn(argv[1], argv + 2, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other,
                       MPI_ERRCODES_IGNORE);
    meet(other, rank, child);
    MPI_Finalize();
    return 0;
}

/* status CODE: copies standard input to standard output on rank 0, writes a line to standard error,
 * and ends with CODE after MPI_Finalize; a negative CODE is a signal that the ranks send to
 * themselves. */
#include "truth.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank;
    if (argc != 2)
        return 2;
    int code = atoi(argv[1]);
    MPI_Init(&argc, &argv);
    truth_start("MPI_Init");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int c = rank == 0 ? getchar() : EOF; c != EOF; c = getchar())
        putchar(c);
    fflush(stdout);
    CALL(Barrier, MPI_COMM_WORLD);
    if (rank == 0)
        fprintf(stderr, "to standard error\n");
    if (code < 0)
        raise(-code);
    truth_finish();
    return code;
}

/* stuck sends|barrier: ranks that never get on, and have to be killed.
 *   sends    each rank sends a synchronous message to the next one before it receives
 *   barrier  only the first rank calls a barrier; all others sleep outside of MPI
 * Passes a message around the ring before it. */
#include "truth.h"

#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size, out = 1, in;
    if (argc < 2)
        return 2;
    truth_init(&argc, &argv, &rank, &size);
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    CALL(Sendrecv, &out, 1, MPI_INT, next, 1, &in, 1, MPI_INT, before, 1, MPI_COMM_WORLD,
         MPI_STATUS_IGNORE);
    if (strcmp(argv[1], "sends") == 0) {
        CALL(Ssend, &out, 1, MPI_INT, next, 2, MPI_COMM_WORLD);
        CALL(Recv, &in, 1, MPI_INT, before, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    while (rank > 0)
        pause();
    CALL(Barrier, MPI_COMM_WORLD);
    truth_finish();
    return 0;
}

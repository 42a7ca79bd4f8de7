/* hang FILE [ROUNDS]: the last rank does not come to the barrier until FILE is there; all others
 * wait in it. Sends a message around a ring before it, and after it ROUNDS times (1). */
#include "last_rank.h"
#include "truth.h"

#include <stdlib.h>

static void ring(int rank, int size)
{
    int out = rank, in;
    CALL(Sendrecv, &out, 1, MPI_INT, (rank + 1) % size, 1, &in, 1, MPI_INT,
         (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    truth_sent((rank + 1) % size, sizeof out);
    truth_received(sizeof in);
}

int main(int argc, char **argv)
{
    int rank, size, rounds = argc > 2 ? atoi(argv[2]) : 1;
    if (argc < 2)
        return 2;
    truth_init(&argc, &argv, &rank, &size);
    ring(rank, size);
    last_rank_await_file(rank, size, argv[1]);
    CALL(Barrier, MPI_COMM_WORLD);
    for (int i = 0; i < rounds; i++)
        ring(rank, size);
    truth_finish();
    return 0;
}

/* The module that dlopen loads: a ring of messages. */
#include "truth.h"

int plugin(int *argc, char ***argv);

int plugin(int *argc, char ***argv)
{
    int rank, size, out = 0, in;
    MPI_Init(argc, argv);
    truth_start("MPI_Init");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 10; i++) {
        CALL(Sendrecv, &out, 1, MPI_INT, (rank + 1) % size, 1, &in, 1, MPI_INT,
             (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        truth_sent((rank + 1) % size, sizeof out);
        truth_received(sizeof in);
    }
    truth_finish();
    return 0;
}

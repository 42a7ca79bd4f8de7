/* pingpong ROUNDS BYTES [GATE]: rank pairs (0,1), (2,3), ... send one message back and forth, once
 * GATE exists. A last rank without a partner sits out. */
#include "truth.h"

#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc != 3 && argc != 4)
        return 2;
    int rounds = atoi(argv[1]), bytes = atoi(argv[2]), rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *buffer = calloc((size_t)bytes + 1, 1);
    int partner = rank ^ 1;
    truth_start("MPI_Init");
    while (argc == 4 && access(argv[3], F_OK) != 0)
        usleep(1000);
    for (int i = 0; i < rounds && partner < size; i++) {
        if (rank > partner)
            CALL(Recv, buffer, bytes, MPI_BYTE, partner, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CALL(Send, buffer, bytes, MPI_BYTE, partner, 7, MPI_COMM_WORLD);
        truth_sent(partner, (size_t)bytes);
        if (rank < partner)
            CALL(Recv, buffer, bytes, MPI_BYTE, partner, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        truth_received((size_t)bytes);
    }
    free(buffer);
    truth_finish();
    return 0;
}

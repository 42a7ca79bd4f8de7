/* open RECEIVES FREED: each rank posts RECEIVES receives from its left neighbour before that sends
 * anything, frees the last FREED of them, and completes the others with one call. */
#include "truth.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;
    if (argc != 3)
        return 2;
    int receives = atoi(argv[1]), waited = receives - atoi(argv[2]);
    truth_init(&argc, &argv, &rank, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Request *requests = malloc((size_t)receives * sizeof *requests);
    int *numbers = calloc((size_t)receives, sizeof *numbers);
    if (!requests || !numbers)
        truth_broken("out of memory");
    for (int i = 0; i < receives; i++) {
        CALL(Irecv, &numbers[i], 1, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[i]);
        truth_received(sizeof numbers[i]);
    }
    for (int i = waited; i < receives; i++)
        CALL(Request_free, &requests[i]);
    CALL(Barrier, MPI_COMM_WORLD);
    for (int i = 0; i < receives; i++) {
        CALL(Send, &i, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
        truth_sent(right, sizeof i);
    }
    CALL(Waitall, waited, requests, MPI_STATUSES_IGNORE);
    CALL(Barrier, MPI_COMM_WORLD);
    for (int i = 0; i < waited; i++)
        if (numbers[i] != i)
            truth_broken("message %d is %d", i, numbers[i]);
    truth_finish();
    return 0;
}

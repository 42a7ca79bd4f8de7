/* consumers DIRECTORY BYTES MICROSECONDS: workers hand their results to ranks that consume them. In
 * every step each rank computes (sleeps) for so long. Then each even rank, a worker, sends a
 * message of that size with MPI_Send to both its neighbours in a ring; these, the consumers,
 * receive them, and all join an Allreduce. Files in the directory control the job, and may come and
 * go: while slow.RANK exists, that consumer computes three times as long before it receives; with
 * end the job ends. The number of ranks is even. */
#include "truth.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

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

static void hand_over(int rank, int size, int bytes, char *data)
{
    const int neighbours[] = {(rank + 1) % size, (rank + size - 1) % size};
    for (int i = 0; i < 2; i++) {
        if (rank % 2 == 0) {
            CALL(Send, data, bytes, MPI_BYTE, neighbours[i], 1, MPI_COMM_WORLD);
            truth_sent(neighbours[i], (size_t)bytes);
        } else {
            CALL(Recv, data, bytes, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            truth_received((size_t)bytes);
        }
    }
}

int main(int argc, char **argv)
{
    int size, rank;
    char slow[32];
    if (argc < 4)
        return 2;
    const int bytes = atoi(argv[2]);
    const long microseconds = atol(argv[3]);
    char *data = calloc((size_t)bytes + 1, 1);
    truth_init(&argc, &argv, &rank, &size);
    if (!data || size % 2 != 0)
        truth_broken("out of memory, or an odd number of ranks");
    snprintf(slow, sizeof slow, "slow.%d", rank);
    for (int end = 0; !end;) {
        int seen = rank == 0 && there(argv[1], "end");
        compute(there(argv[1], slow) ? 3 * microseconds : microseconds);
        hand_over(rank, size, bytes, data);
        CALL_BYTES(sizeof end, sizeof end, Allreduce, &seen, &end, 1, MPI_INT, MPI_MAX,
                   MPI_COMM_WORLD);
    }
    free(data);
    truth_finish();
    return 0;
}

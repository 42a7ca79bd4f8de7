/* bulk DIRECTORY BYTES MICROSECONDS SOURCE-DESTINATION...: in every step each source sends a
 * message of that size to its destination, then all sleep for so long. A pair may stand there
 * several times. While there is a file DIRECTORY/hold, no step begins. The job ends when there is a
 * file DIRECTORY/end; rank 0 sees it, and tells the others with messages of one byte. */
#include "truth.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define MAX_PAIRS 64

struct pair {
    int source, destination;
};

static int there(const char *directory, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return access(path, F_OK) == 0;
}

static void rest(long microseconds)
{
    struct timespec left = {microseconds / 1000000, microseconds % 1000000 * 1000};
    while (nanosleep(&left, &left) != 0)
        ;
}

static void transfer(const struct pair *pairs, int count, int rank, int bytes, char *out, char *in)
{
    MPI_Request requests[2 * MAX_PAIRS];
    int n = 0;
    for (int i = 0; i < count; i++)
        if (pairs[i].destination == rank)
            CALL(Irecv, in + (size_t)i * (size_t)bytes, bytes, MPI_BYTE, pairs[i].source, 1,
                 MPI_COMM_WORLD, &requests[n++]);
    for (int i = 0; i < count; i++)
        if (pairs[i].source == rank) {
            CALL(Isend, out, bytes, MPI_BYTE, pairs[i].destination, 1, MPI_COMM_WORLD,
                 &requests[n++]);
            truth_sent(pairs[i].destination, (size_t)bytes);
        }
    CALL(Waitall, n, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; i++)
        if (pairs[i].destination == rank)
            truth_received((size_t)bytes);
}

/* Rank 0 tells the others whether it goes on. */
static int goes_on(const char *directory, int rank, int size)
{
    while (rank == 0 && there(directory, "hold"))
        rest(1000);
    char on = rank == 0 && !there(directory, "end");
    for (int other = 1; rank == 0 && other < size; other++) {
        CALL(Send, &on, 1, MPI_CHAR, other, 2, MPI_COMM_WORLD);
        truth_sent(other, 1);
    }
    if (rank != 0) {
        CALL(Recv, &on, 1, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        truth_received(1);
    }
    return on;
}

int main(int argc, char **argv)
{
    struct pair pairs[MAX_PAIRS];
    int rank, size, count = argc - 4;
    if (count < 1 || count > MAX_PAIRS)
        return 2;
    int bytes = atoi(argv[2]);
    for (int i = 0; i < count; i++)
        if (sscanf(argv[4 + i], "%d-%d", &pairs[i].source, &pairs[i].destination) != 2)
            return 2;
    truth_init(&argc, &argv, &rank, &size);
    char *out = calloc((size_t)bytes + 1, 1), *in = calloc((size_t)bytes * (size_t)count + 1, 1);
    if (!out || !in)
        truth_broken("out of memory");
    while (goes_on(argv[1], rank, size)) {
        transfer(pairs, count, rank, bytes, out, in);
        rest(atol(argv[3]));
    }
    free(out);
    free(in);
    truth_finish();
    return 0;
}

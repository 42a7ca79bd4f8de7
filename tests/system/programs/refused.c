/* refused ROUNDS: two ranks exchange messages; now and then the first one makes a send that MPI
 * refuses, or a receive that does not fit, under MPI_ERRORS_RETURN, and goes on. */
#include "truth.h"

#include <stdlib.h>

static void send(int to, int tag)
{
    char byte = 0;
    CALL(Send, &byte, 1, MPI_BYTE, to, tag, MPI_COMM_WORLD);
    truth_sent(to, 1);
}

static void receive(int from, int tag)
{
    char byte;
    CALL(Recv, &byte, 1, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    truth_received(1);
}

static void exchange(int rank, int rounds, int tag)
{
    for (int i = 0; i < rounds; i++) {
        if (rank == 0)
            send(1, tag);
        receive(1 - rank, tag);
        if (rank == 1)
            send(0, tag);
    }
}

/* @return whether each was refused */
static int make_sends_that_are_refused(void)
{
    char byte = 0;
    MPI_Request request;
    return MPI_Send(&byte, 1, MPI_BYTE, 2, 7, MPI_COMM_WORLD) != MPI_SUCCESS &&
           MPI_Send(&byte, -1, MPI_BYTE, 1, 7, MPI_COMM_WORLD) != MPI_SUCCESS &&
           MPI_Send(&byte, 1, MPI_DATATYPE_NULL, 1, 7, MPI_COMM_WORLD) != MPI_SUCCESS &&
           MPI_Isend(&byte, 1, MPI_BYTE, 1, -7, MPI_COMM_WORLD, &request) != MPI_SUCCESS;
}

/* Two of three receives are as they should be; the second is too short, and MPI_Waitall gives
 * MPI_ERR_IN_STATUS for it. @return whether it does each time */
static int complete_with_errors_in_status(int rank, int rounds)
{
    int refused = 1;
    for (int i = 0; i < rounds; i++) {
        char bytes[3][2] = {{0}};
        MPI_Request requests[3];
        MPI_Status statuses[3];
        if (rank == 0) {
            send(1, 10);
            MPI_Send(bytes[1], 2, MPI_BYTE, 1, 11, MPI_COMM_WORLD);
            send(1, 12);
            continue;
        }
        for (int k = 0; k < 3; k++)
            CALL(Irecv, bytes[k], 1, MPI_BYTE, 0, 10 + k, MPI_COMM_WORLD, &requests[k]);
        refused &= CALL(Waitall, 3, requests, statuses) == MPI_ERR_IN_STATUS &&
                   statuses[1].MPI_ERROR != MPI_SUCCESS;
        for (int k = 0; k < 3; k++) /* MPI_ERR_PENDING: what had not completed yet is still open */
            if (requests[k] != MPI_REQUEST_NULL)
                CALL(Wait, &requests[k], MPI_STATUS_IGNORE);
        truth_received(1);
        truth_received(1);
    }
    return refused;
}

int main(int argc, char **argv)
{
    int rank, rounds = argc == 2 ? atoi(argv[1]) : 0, refused = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    truth_start("MPI_Init");
    exchange(rank, rounds, 7);
    if (rank == 0)
        refused = make_sends_that_are_refused();
    exchange(rank, rounds, 7);
    /* A message that is longer than the receive: what became of it, Holter cannot know. */
    char two[2] = {0};
    if (rank == 0)
        MPI_Send(two, 2, MPI_BYTE, 1, 8, MPI_COMM_WORLD);
    else
        refused =
            MPI_Recv(two, 1, MPI_BYTE, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    exchange(rank, rounds, 7);
    refused &= complete_with_errors_in_status(rank, rounds);
    exchange(rank, rounds, 7);
    truth_finish();
    return !refused;
}

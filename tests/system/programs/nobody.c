/* nobody ROUNDS: every way to send to MPI_PROC_NULL and to receive from it, and one-sided calls
 * whose operation is MPI_NO_OP: no bytes are given or got. In between, messages along a line of
 * ranks, whose ends have no neighbour. */
#include "truth.h"

#include <stdlib.h>

#define BYTES 100

static char out[BYTES], in[BYTES];

static void point_to_point(void)
{
    MPI_Request requests[2];
    MPI_Message message;
    int found = 0;
    CALL_BYTES(0, 0, Send, out, BYTES, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    CALL_BYTES(0, 0, Ssend, out, BYTES, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    CALL_BYTES(0, 0, Recv, in, BYTES, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
    CALL_BYTES(0, 0, Isend, out, BYTES, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[0]);
    CALL_BYTES(0, 0, Irecv, in, BYTES, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[1]);
    CALL_BYTES(0, 0, Waitall, 2, requests, MPI_STATUSES_IGNORE);
    CALL_BYTES(0, 0, Mprobe, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    CALL_BYTES(0, 0, Mrecv, in, BYTES, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    POLL(&found, Improbe, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &found, &message, MPI_STATUS_IGNORE);
    CALL_BYTES(0, 0, Imrecv, in, BYTES, MPI_CHAR, &message, &requests[0]);
    CALL_BYTES(0, 0, Wait, &requests[0], MPI_STATUS_IGNORE);
}

static void persistent(void)
{
    MPI_Request requests[2];
    CALL_BYTES(0, 0, Send_init, out, BYTES, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD,
               &requests[0]);
    CALL_BYTES(0, 0, Recv_init, in, BYTES, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD,
               &requests[1]);
    CALL_BYTES(0, 0, Startall, 2, requests);
    CALL_BYTES(0, 0, Waitall, 2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; i++) {
        CALL_BYTES(0, 0, Start, &requests[i]);
        CALL_BYTES(0, 0, Wait, &requests[i], MPI_STATUS_IGNORE);
        CALL(Request_free, &requests[i]);
    }
}

static void along_the_line(int left, int right)
{
    size_t given = right == MPI_PROC_NULL ? 0 : BYTES, got = left == MPI_PROC_NULL ? 0 : BYTES;
    for (int i = 0; i < 2; i++) {
        if (i == 0)
            CALL_BYTES(given, got, Sendrecv, out, BYTES, MPI_CHAR, right, 2, in, BYTES, MPI_CHAR,
                       left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            CALL_BYTES(given, got, Sendrecv_replace, in, BYTES, MPI_CHAR, right, 2, left, 2,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (given)
            truth_sent(right, given);
        if (got)
            truth_received(got);
    }
}

static void one_sided(MPI_Win win, int target)
{
    long give[4] = {0}, get[4];
    MPI_Request request;
    CALL(Win_lock_all, 0, win);
    CALL_BYTES(0, 0, Put, give, 4, MPI_LONG, MPI_PROC_NULL, 0, 4, MPI_LONG, win);
    CALL_BYTES(0, 0, Get, get, 4, MPI_LONG, MPI_PROC_NULL, 0, 4, MPI_LONG, win);
    CALL_BYTES(0, 0, Accumulate, give, 4, MPI_LONG, MPI_PROC_NULL, 0, 4, MPI_LONG, MPI_SUM, win);
    CALL_BYTES(0, 0, Fetch_and_op, give, get, MPI_LONG, MPI_PROC_NULL, 0, MPI_SUM, win);
    CALL_BYTES(0, 0, Rput, give, 4, MPI_LONG, MPI_PROC_NULL, 0, 4, MPI_LONG, win, &request);
    CALL(Wait, &request, MPI_STATUS_IGNORE);
    CALL_BYTES(0, sizeof get[0], Fetch_and_op, give, get, MPI_LONG, target, 0, MPI_NO_OP, win);
    CALL_BYTES(0, sizeof get, Get_accumulate, give, 4, MPI_LONG, get, 4, MPI_LONG, target, 0, 4,
               MPI_LONG, MPI_NO_OP, win);
    CALL_BYTES(0, sizeof get, Rget_accumulate, give, 4, MPI_LONG, get, 4, MPI_LONG, target, 0, 4,
               MPI_LONG, MPI_NO_OP, win, &request);
    CALL(Wait, &request, MPI_STATUS_IGNORE);
    CALL(Win_unlock_all, win);
}

int main(int argc, char **argv)
{
    long *base;
    int rank, size;
    MPI_Win win;
    if (argc != 2)
        return 2;
    truth_init(&argc, &argv, &rank, &size);
    CALL(Win_allocate, 4 * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    for (int i = 0; i < atoi(argv[1]); i++) {
        point_to_point();
        persistent();
        along_the_line(rank > 0 ? rank - 1 : MPI_PROC_NULL,
                       rank + 1 < size ? rank + 1 : MPI_PROC_NULL);
        one_sided(win, (rank + 1) % size);
    }
    CALL(Win_free, &win);
    truth_finish();
    return 0;
}

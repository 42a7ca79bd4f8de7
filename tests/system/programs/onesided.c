/* onesided ROUNDS: windows made in three ways; put, get, accumulate and fetch under fence, lock and
 * post-start-complete-wait. Each rank works on its right neighbour. */
#include "truth.h"

#include <stdlib.h>

#define WORDS 64

static size_t bytes(int words)
{
    return (size_t)words * sizeof(long);
}

static void fenced(MPI_Win win, int right, const long *out, long *in)
{
    CALL(Win_fence, 0, win);
    CALL_BYTES(bytes(4), 0, Put, out, 4, MPI_LONG, right, 0, 4, MPI_LONG, win);
    CALL(Win_fence, 0, win);
    CALL_BYTES(0, bytes(4), Get, in, 4, MPI_LONG, right, 0, 4, MPI_LONG, win);
    CALL(Win_fence, 0, win);
    if (in[0] != out[0] || in[3] != out[3])
        truth_broken("MPI_Get did not bring what MPI_Put put");
    CALL_BYTES(bytes(2), 0, Accumulate, out, 2, MPI_LONG, right, 8, 2, MPI_LONG, MPI_SUM, win);
    CALL(Win_fence, 0, win);
}

static void locked(MPI_Win win, int right, const long *out, long *in)
{
    MPI_Request request;
    CALL(Win_lock, MPI_LOCK_SHARED, right, 0, win);
    CALL_BYTES(bytes(1), bytes(1), Fetch_and_op, out, in, MPI_LONG, right, 16, MPI_SUM, win);
    CALL(Win_flush, right, win);
    CALL_BYTES(bytes(3), bytes(3), Get_accumulate, out, 3, MPI_LONG, in, 3, MPI_LONG, right, 20, 3,
               MPI_LONG, MPI_SUM, win);
    CALL(Win_unlock, right, win);
    CALL(Win_lock_all, 0, win);
    CALL_BYTES(bytes(5), 0, Rput, out, 5, MPI_LONG, right, 32, 5, MPI_LONG, win, &request);
    CALL(Wait, &request, MPI_STATUS_IGNORE);
    CALL(Win_flush_all, win);
    CALL_BYTES(0, bytes(5), Rget, in, 5, MPI_LONG, right, 32, 5, MPI_LONG, win, &request);
    CALL(Wait, &request, MPI_STATUS_IGNORE);
    CALL(Win_unlock_all, win);
    if (in[4] != out[4])
        truth_broken("MPI_Rget did not bring what MPI_Rput put");
}

static void scheduled(MPI_Win win, int left, int right, const long *out)
{
    MPI_Group world, to, from;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &right, &to);
    MPI_Group_incl(world, 1, &left, &from);
    CALL(Win_post, from, 0, win);
    CALL(Win_start, to, 0, win);
    CALL_BYTES(bytes(1), 0, Put, out, 1, MPI_LONG, right, 1, 1, MPI_LONG, win);
    CALL(Win_complete, win);
    CALL(Win_wait, win);
    MPI_Group_free(&world);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
}

int main(int argc, char **argv)
{
    long *base, out[WORDS], in[WORDS], created[WORDS] = {0};
    int rank, size;
    MPI_Win allocated, win;
    if (argc != 2)
        return 2;
    truth_init(&argc, &argv, &rank, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int i = 0; i < WORDS; i++)
        out[i] = 1000 * rank + i;
    CALL(Win_allocate, sizeof created, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base,
         &allocated);
    CALL(Win_create, created, sizeof created, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int i = 0; i < atoi(argv[1]); i++) {
        fenced(i % 2 ? win : allocated, right, out, in);
        locked(allocated, right, out, in);
        scheduled(i % 2 ? allocated : win, left, right, out);
        CALL(Barrier, MPI_COMM_WORLD);
    }
    CALL(Win_free, &win);
    CALL(Win_free, &allocated);
    truth_finish();
    return 0;
}

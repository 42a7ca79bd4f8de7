/* await FILE: every rank but the last receives a message from the rank above it and hands it on to
 * the one below; the last one sends it when FILE is there, and stays outside of MPI until then. */
#include "last_rank.h"
#include "truth.h"

int main(int argc, char **argv)
{
    int rank, size, token = 7;
    if (argc < 2)
        return 2;
    truth_init(&argc, &argv, &rank, &size);
    last_rank_await_file(rank, size, argv[1]);
    if (rank < size - 1) {
        CALL(Recv, &token, 1, MPI_INT, rank + 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        truth_received(sizeof token);
    }
    if (rank > 0) {
        CALL(Send, &token, 1, MPI_INT, rank - 1, 5, MPI_COMM_WORLD);
        truth_sent(rank - 1, sizeof token);
    }
    truth_finish();
    return 0;
}

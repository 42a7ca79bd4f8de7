/* regions: code regions by MPI_Pcontrol, nested, on two communicators; and MPI_Pcontrol(0) to 1,
 * during which nothing is counted. Rank pairs as in pingpong. */
#include "truth.h"

static char buffer[1000];

static void exchange(MPI_Comm comm, int rank, int rounds, int bytes, int counted)
{
    int partner = rank ^ 1;
    for (int i = 0; i < rounds; i++) {
        if (!counted) {
            MPI_Sendrecv_replace(buffer, bytes, MPI_BYTE, partner, 1, partner, 1, comm,
                                 MPI_STATUS_IGNORE);
            continue;
        }
        CALL(Sendrecv_replace, buffer, bytes, MPI_BYTE, partner, 1, partner, 1, comm,
             MPI_STATUS_IGNORE);
        truth_sent(partner, (size_t)bytes);
        truth_received((size_t)bytes);
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Comm other;
    truth_init(&argc, &argv, &rank, &size);
    if (size % 2)
        truth_broken("an even number of ranks is needed");
    CALL(Comm_dup, MPI_COMM_WORLD, &other);
    exchange(MPI_COMM_WORLD, rank, 5, 10, 1);
    MPI_Pcontrol(1, "outer");
    truth_region("outer");
    exchange(MPI_COMM_WORLD, rank, 7, 100, 1);
    MPI_Pcontrol(1, "inner");
    truth_region("inner");
    exchange(other, rank, 11, 1000, 1);
    MPI_Pcontrol(-1, "inner");
    truth_region("outer");
    exchange(MPI_COMM_WORLD, rank, 13, 1, 1);
    MPI_Pcontrol(-1, "outer");
    truth_region(0);
    exchange(MPI_COMM_WORLD, rank, 17, 0, 1);
    MPI_Pcontrol(0);
    exchange(MPI_COMM_WORLD, rank, 100, 500, 0);
    MPI_Pcontrol(1);
    MPI_Pcontrol(1, "outer");
    truth_region("outer");
    exchange(other, rank, 3, 3, 1);
    exchange(MPI_COMM_WORLD, rank, 5, 4, 1);
    MPI_Pcontrol(-1, "outer");
    truth_region(0);
    CALL(Comm_free, &other);
    truth_finish();
    return 0;
}

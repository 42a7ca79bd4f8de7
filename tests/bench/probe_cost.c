/* What an MPI call costs: four kernels that are mostly call overhead, run by two ranks. Prints one
 * line for each kernel, "name nanoseconds nanoseconds", the time for one call or message: the tenth
 * percentile over short chunks (the others were disturbed by what else the machine does), and the
 * median:
 *   pingpong   8 bytes there and back, half the round trip
 *   rate       windows of 64 MPI_Isend against MPI_Irecv and one MPI_Waitall, for each message
 *   allreduce  8 bytes
 *   test       MPI_Test of MPI_REQUEST_NULL
 * probe_cost.py runs it with and without the probe. With an argument N it runs each kernel N times
 * once and prints nothing: for counting instructions. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define WINDOW 64
#define CHUNKS 400

static int rank;

static void pingpong(long n)
{
    char buffer[8] = {0};
    int peer = 1 - rank;
    for (long i = 0; i < n; i++) {
        if (rank == 0) {
            MPI_Send(buffer, 8, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
            MPI_Recv(buffer, 8, MPI_CHAR, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(buffer, 8, MPI_CHAR, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(buffer, 8, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
        }
    }
}

static void rate(long n)
{
    static char buffer[WINDOW][8];
    MPI_Request requests[WINDOW];
    int peer = 1 - rank;
    for (long i = 0; i < n; i += WINDOW) {
        for (int k = 0; k < WINDOW; k++) {
            if (rank == 0)
                MPI_Isend(buffer[k], 8, MPI_CHAR, peer, 2, MPI_COMM_WORLD, &requests[k]);
            else
                MPI_Irecv(buffer[k], 8, MPI_CHAR, peer, 2, MPI_COMM_WORLD, &requests[k]);
        }
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    }
    char done = 0; /* the receiver sets the pace */
    if (rank == 0)
        MPI_Recv(&done, 1, MPI_CHAR, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(&done, 1, MPI_CHAR, peer, 3, MPI_COMM_WORLD);
}

static void allreduce(long n)
{
    double in = 1, out;
    for (long i = 0; i < n; i++)
        MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void test(long n)
{
    for (long i = 0; i < n; i++) {
        MPI_Request request = MPI_REQUEST_NULL;
        int flag;
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
}

static const struct kernel {
    const char *name;
    void (*run)(long n);
    long chunk;
    double calls; /* that one step of n stands for */
} kernels[] = {
    {"pingpong", pingpong, 500, 2},
    {"rate", rate, 64 * 50, 1},
    {"allreduce", allreduce, 500, 1},
    {"test", test, 10000, 1},
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const struct kernel *kernel)
{
    static double chunks[CHUNKS];
    kernel->run(kernel->chunk); /* warm up */
    for (int i = 0; i < CHUNKS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        kernel->run(kernel->chunk);
        chunks[i] = (MPI_Wtime() - start) * 1e9 / ((double)kernel->chunk * kernel->calls);
    }
    qsort(chunks, CHUNKS, sizeof(chunks[0]), compare);
    if (rank == 0)
        printf("%s %.2f %.2f\n", kernel->name, chunks[CHUNKS / 10], chunks[CHUNKS / 2]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++) {
        if (argc < 2)
            measure(&kernels[k]);
        else
            kernels[k].run(atol(argv[1]));
    }
    MPI_Finalize();
    return 0;
}

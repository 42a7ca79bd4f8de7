/* Preloaded behind the probe: counts the messages that an application without a truth of its own
 * sends and receives, where the MPI library is entered, and writes them as truth.h describes.
 * Covers what NetPIPE calls. Built with the MPI whose programs it is loaded into. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_RANKS 64

static struct {
    long messages, bytes;
} sent[MOST_RANKS], received;

#define REAL(name)                                                                                 \
    static __typeof__(name) *real;                                                                 \
    if (!real)                                                                                     \
    *(void **)&real = dlsym(RTLD_NEXT, #name)

static long bytes_of(int count, MPI_Datatype type)
{
    int size;
    MPI_Type_size(type, &size);
    return (long)count * size;
}

/* All communicators of the programs this is made for have the ranks of MPI_COMM_WORLD. */
static void count_sent(int destination, int count, MPI_Datatype type)
{
    if (destination < 0 || destination >= MOST_RANKS)
        return;
    sent[destination].messages++;
    sent[destination].bytes += bytes_of(count, type);
}

int MPI_Send(const void *b, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    REAL(PMPI_Send);
    count_sent(to, n, type);
    return real(b, n, type, to, tag, comm);
}

int MPI_Ssend(const void *b, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    REAL(PMPI_Ssend);
    count_sent(to, n, type);
    return real(b, n, type, to, tag, comm);
}

int MPI_Recv(void *b, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    REAL(PMPI_Recv);
    MPI_Status mine;
    int got, rc = real(b, n, type, from, tag, comm, status == MPI_STATUS_IGNORE ? &mine : status);
    MPI_Get_count(status == MPI_STATUS_IGNORE ? &mine : status, MPI_BYTE, &got);
    received.messages++;
    received.bytes += got;
    return rc;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    REAL(PMPI_Wait);
    MPI_Status mine;
    int active = *request != MPI_REQUEST_NULL, got;
    int rc = real(request, status == MPI_STATUS_IGNORE ? &mine : status);
    if (active) { /* requests are of receives only */
        MPI_Get_count(status == MPI_STATUS_IGNORE ? &mine : status, MPI_BYTE, &got);
        received.messages++;
        received.bytes += got;
    }
    return rc;
}

int MPI_Finalize(void)
{
    REAL(PMPI_Finalize);
    char path[4096];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s/truth.%d", getenv("TRUTH_DIR"), rank);
    FILE *f = fopen(path, "w");
    if (f) {
        for (int to = 0; to < MOST_RANKS; to++)
            if (sent[to].messages)
                fprintf(f, "truth sent %d %d %ld %ld\n", rank, to, sent[to].messages,
                        sent[to].bytes);
        fprintf(f, "truth received %d %ld %ld\n", rank, received.messages, received.bytes);
        fclose(f);
    }
    return real();
}

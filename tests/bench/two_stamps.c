/* The floor of what any timing of MPI calls costs: preloaded, it takes two time stamps around each
 * call of the kernels of probe_cost.c and stores nothing. */
#include <mpi.h>
#include <x86intrin.h>

/* Keeps the compiler from dropping a stamp that nobody reads. */
#define USE(stamp) __asm__ volatile("" : : "r"(stamp))

#define STAMPED(name, parameters, arguments)                                                       \
    int MPI_##name parameters                                                                      \
    {                                                                                              \
        unsigned long long enter = __rdtsc();                                                      \
        int result = PMPI_##name arguments;                                                        \
        unsigned long long leave = __rdtsc();                                                      \
        USE(enter);                                                                                \
        USE(leave);                                                                                \
        return result;                                                                             \
    }

STAMPED(Send, (const void *buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm),
        (buffer, count, type, dest, tag, comm))
STAMPED(Recv,
        (void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
         MPI_Status *status),
        (buffer, count, type, source, tag, comm, status))
STAMPED(Isend,
        (const void *buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
         MPI_Request *request),
        (buffer, count, type, dest, tag, comm, request))
STAMPED(Irecv,
        (void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
         MPI_Request *request),
        (buffer, count, type, source, tag, comm, request))
STAMPED(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]),
        (count, requests, statuses))
STAMPED(Allreduce,
        (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (in, out, count, type, op, comm))
STAMPED(Test, (MPI_Request * request, int *flag, MPI_Status *status), (request, flag, status))

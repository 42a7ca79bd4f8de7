/* A library that another tool would preload: its functions of MPI call those of the library. */
#include <mpi.h>

int MPI_Barrier(MPI_Comm comm)
{
    return PMPI_Barrier(comm);
}

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

int MPI_Finalize(void)
{
    return PMPI_Finalize();
}

/* A library whose MPI has functions that nobody covers. */
int MPI_Teleport(void);
int MPI_Unteleport(void);
int MPI_Send(void);
int MPI_Type_size(void);
int PMPI_Teleport(void);
int MPI_Teleport(void)
{
    return 1;
}
int MPI_Unteleport(void)
{
    return 2;
}
int MPI_Send(void)
{
    return 3;
}
int MPI_Type_size(void)
{
    return 4;
}
int PMPI_Teleport(void)
{
    return 5;
}

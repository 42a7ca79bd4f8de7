/* An application's library that uses two of them. */
int MPI_Teleport(void);
int MPI_Send(void);
int fake_user(void);
int fake_user(void)
{
    return MPI_Teleport() + MPI_Send();
}

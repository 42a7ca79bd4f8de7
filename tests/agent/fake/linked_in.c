/* A program that has an MPI of its own, as if linked with an archive. */
int PMPI_Init(int *count, char ***arguments);

int PMPI_Init(int *count, char ***arguments)
{
    return *count != 0 && *arguments == 0;
}

int main(int count, char **arguments)
{
    return PMPI_Init(&count, &arguments);
}

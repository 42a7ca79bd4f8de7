/* nompi CODE: carries an MPI library and never calls it. Prints a line, leaves with CODE. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc > 2) /* never: it makes the linker keep the library */
        MPI_Init(&argc, &argv);
    puts("no MPI today");
    return argc > 1 ? atoi(argv[1]) : 0;
}

/* begin: a program of MPI that is not at once what calls MPI. `begin exec PROGRAM [ARGUMENT]...`
 * becomes another program, as one does that has set its limits or its environment; `begin child
 * PROGRAM ...` starts it and waits for it; `begin fork` makes its calls in a child process. */
#include "truth.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int communicate(int *argc, char ***argv)
{
    int rank, size, value = 1, sum = 0;
    truth_init(argc, argv, &rank, &size);
    CALL_BYTES(sizeof value, sizeof sum, Allreduce, &value, &sum, 1, MPI_INT, MPI_SUM,
               MPI_COMM_WORLD);
    truth_finish();
    return 0;
}

int main(int argc, char **argv)
{
    int status = 0, is_fork = argc > 1 && strcmp(argv[1], "fork") == 0;
    if (argc < 2 || (argc < 3 && !is_fork))
        return 2;
    pid_t child = strcmp(argv[1], "exec") == 0 ? 0 : fork();
    if (child == 0 && is_fork)
        return communicate(&argc, &argv);
    if (child == 0) {
        execv(argv[2], argv + 2);
        _exit(127);
    }
    return child > 0 && waitpid(child, &status, 0) == child ? WEXITSTATUS(status) : 1;
}

/* fork: an MPI program whose ranks have children: one is another program (its memory map goes to
 * standard output), one leaves through exit() and so runs what the parent registered, one is
 * killed. */
#include "truth.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void child(void (*act)(void), int expected)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        act();
        _exit(98);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != expected)
        truth_broken("a child ended with status %#x", (unsigned)status);
}

static void another_program(void)
{
    execlp("cat", "cat", "/proc/self/maps", (char *)NULL);
}

static void leave(void)
{
    exit(0);
}

static void be_killed(void)
{
    raise(SIGKILL);
}

int main(int argc, char **argv)
{
    int rank, size, value = 1, sum = 0;
    truth_init(&argc, &argv, &rank, &size);
    void (*const acts[])(void) = {another_program, leave, be_killed};
    const int expected[] = {0, 0, SIGKILL};
    for (int i = 0; i < 3; i++) {
        CALL_BYTES(sizeof value, sizeof sum, Allreduce, &value, &sum, 1, MPI_INT, MPI_SUM,
                   MPI_COMM_WORLD);
        child(acts[i], expected[i]);
    }
    CALL_BYTES(sizeof value, sizeof sum, Allreduce, &value, &sum, 1, MPI_INT, MPI_SUM,
               MPI_COMM_WORLD);
    truth_finish();
    return 0;
}

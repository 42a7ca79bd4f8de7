/* crash HOW STEP [CODE]: all ranks exchange in a ring; before step STEP the last rank writes its
 * truth, and then HOW says what it does:
 *
 * - kill: kills itself with SIGKILL
 * - segv: stores through a null pointer
 * - abort: calls MPI_Abort with CODE
 * - abort-in-handler: likewise, in a handler of errors
 * - exit: leaves through exit(CODE) without MPI_Finalize
 * - none: goes on to the end: the run without the crash
 * - kill-in-call: kills itself from a signal handler while it waits in MPI_Recv */
#include "truth.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void kill_self(int signal)
{
    (void)signal;
    kill(getpid(), SIGKILL);
}

static int code_of_handler;

static void abort_in_handler(MPI_Comm *comm, int *error, ...)
{
    (void)error;
    MPI_Abort(*comm, code_of_handler);
}

static void fail_in_handler(int code)
{
    MPI_Errhandler handler;
    code_of_handler = code;
    MPI_Comm_create_errhandler(abort_in_handler, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Send(&code, 1, MPI_INT, 1 << 20, 1, MPI_COMM_WORLD); /* there is no such rank */
}

static void die(const char *how, int code)
{
    static volatile int *volatile nowhere;
    char byte;
    truth_write();
    if (strcmp(how, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(how, "kill-in-call") == 0) {
        signal(SIGALRM, kill_self);
        ualarm(200000, 0);
        MPI_Recv(&byte, 1, MPI_BYTE, 0, 999, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (strcmp(how, "segv") == 0)
        *nowhere = 1;
    if (strcmp(how, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, code);
    if (strcmp(how, "abort-in-handler") == 0)
        fail_in_handler(code);
    if (strcmp(how, "exit") == 0)
        exit(code);
    truth_broken("there is no way to die called %s", how);
}

int main(int argc, char **argv)
{
    int rank, size, out = 0, in;
    if (argc < 3)
        return 2;
    int step = atoi(argv[2]), code = argc > 3 ? atoi(argv[3]) : 0;
    truth_init(&argc, &argv, &rank, &size);
    for (int i = 0; i < 2 * step; i++) {
        if (i == step && rank == size - 1 && strcmp(argv[1], "none") != 0)
            die(argv[1], code);
        CALL(Sendrecv, &out, 1, MPI_INT, (rank + 1) % size, 1, &in, 1, MPI_INT,
             (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        truth_sent((rank + 1) % size, sizeof out);
        truth_received(sizeof in);
    }
    truth_finish();
    return 0;
}

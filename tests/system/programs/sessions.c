/* sessions ROUNDS: a program of MPI 4 that opens sessions and never calls MPI_Init. In each round
 * one session is opened and the one before it finalized. One is always open, because MPICH 4.0
 * cannot start again. */
#include "truth.h"

#include <stdlib.h>

#if MPI_VERSION >= 4
#define WORDS 16

static long out[WORDS], in[WORDS];
static int rank, size;

static MPI_Group world_of(MPI_Session session)
{
    MPI_Group group;
    if (MPI_Group_from_session_pset(session, "mpi://WORLD", &group) != MPI_SUCCESS)
        truth_broken("there is no mpi://WORLD");
    MPI_Group_rank(group, &rank);
    MPI_Group_size(group, &size);
    return group;
}

/* World rank of a rank of the communicator, whose order is no multiple of that of the world: even
 * ranks come first. */
static int world_rank(int at)
{
    int even = (size + 1) / 2;
    return at < even ? 2 * at : 2 * (at - even) + 1;
}

static MPI_Comm communicator_of(MPI_Session session, const char *tag)
{
    MPI_Group world = world_of(session), group;
    MPI_Comm comm;
    int *order = calloc((size_t)size, sizeof *order);
    for (int i = 0; order && i < size; i++)
        order[i] = world_rank(i);
    MPI_Group_incl(world, size, order, &group);
    CALL(Comm_create_from_group, group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    free(order);
    return comm;
}

static void pass_round(MPI_Comm comm, int words)
{
    int own, next;
    MPI_Request request;
    MPI_Comm_rank(comm, &own);
    next = (own + 1) % size;
    CALL(Irecv, in, words, MPI_LONG, MPI_ANY_SOURCE, 3, comm, &request);
    CALL(Send, out, words, MPI_LONG, next, 3, comm);
    truth_sent(world_rank(next), (size_t)words * sizeof(long));
    CALL(Wait, &request, MPI_STATUS_IGNORE);
    truth_received((size_t)words * sizeof(long));
    CALL_BYTES(8, 8, Allreduce, out, in, 1, MPI_LONG, MPI_SUM, comm);
    CALL(Barrier, comm);
}
#endif

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
#if MPI_VERSION >= 4
    MPI_Session first, second;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &first);
    MPI_Group world = world_of(first);
    MPI_Group_free(&world);
    truth_start_as("MPI_Session_init", rank, size);
    for (int i = 0; i < atoi(argv[1]); i++) {
        MPI_Comm comm = communicator_of(first, "first"), copy;
        pass_round(comm, 1 + i % WORDS);
        CALL(Session_init, MPI_INFO_NULL, MPI_ERRORS_RETURN, &second);
        CALL(Comm_free, &comm);
        CALL(Session_finalize, &first);
        comm = communicator_of(second, "second");
        CALL(Comm_dup, comm, &copy);
        pass_round(comm, 2);
        pass_round(copy, WORDS);
        CALL(Comm_free, &copy);
        CALL(Comm_free, &comm);
        first = second;
    }
    CALL(Session_finalize, &first);
    truth_write();
    return 0;
#else
    (void)argv;
    return 77;
#endif
}

/* unusual types|communicators|exchanges|descriptors|directory COUNT: what a program may do that a
 * monitor inside it is easily surprised by. Ranks pass messages round
 *   types          of COUNT datatypes of different sizes, which are freed and made twice
 *   communicators  in COUNT communicators, which exist together
 *   exchanges      COUNT times by immediate calls that send and receive, where MPI has them
 *   descriptors    COUNT times, after each has closed all of its descriptors but standard streams,
 *                  and again after MPI_Finalize
 *   directory      COUNT times in a directory that was removed before MPI_Init */
#include "truth.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 5000 /* of COUNT: bytes of a message, and communicators */

static char out[MOST], in[MOST];
static int rank, size;

static void pass_round(int count, MPI_Datatype type, size_t bytes, MPI_Comm comm)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    CALL(Sendrecv, out, count, type, right, 1, in, count, type, left, 1, comm, MPI_STATUS_IGNORE);
    truth_sent(right, bytes);
    truth_received(bytes);
}

static void use_types(int count)
{
    MPI_Datatype *types = calloc((size_t)count, sizeof *types);
    if (!types)
        truth_broken("out of memory");
    for (int turn = 0; turn < 2; turn++) {
        /* The second time the handles of the first have other sizes. */
        for (int i = 0; i < count; i++) {
            MPI_Type_contiguous(turn == 0 ? i + 1 : count - i, MPI_BYTE, &types[i]);
            MPI_Type_commit(&types[i]);
        }
        for (int i = 0; i < 2 * count; i++) {
            int which = i % count;
            pass_round(1, types[which], (size_t)(turn == 0 ? which + 1 : count - which),
                       MPI_COMM_WORLD);
        }
        for (int i = 0; i < count; i++)
            CALL(Type_free, &types[i]);
    }
    free(types);
}

static void use_communicators(int count)
{
    static MPI_Comm comms[MOST];
    for (int i = 0; i < count; i++)
        CALL(Comm_dup, MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < 2 * count; i++)
        pass_round(i % 7, MPI_BYTE, (size_t)(i % 7), comms[i % count]);
    for (int i = 0; i < count; i++)
        CALL(Comm_free, &comms[i]);
}

#if MPI_VERSION >= 4
/* A receive counts with the bytes that its status has: MPICH 4.0 sets it only now and then. */
static void count_received(const MPI_Status *status)
{
    int bytes;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    truth_received((size_t)bytes);
}

/* Two calls are under way at a time, and completed in both orders or together. None is with
 * MPI_PROC_NULL: MPICH 4.0 ends with a fault. */
static void exchange(int count)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; i < count; i++) {
        int bytes = i % 300, source = i % 4 == 3 ? MPI_ANY_SOURCE : left, found = 0;
        static char both[MOST];
        MPI_Request requests[2];
        MPI_Status statuses[2];
        CALL(Isendrecv, out, bytes, MPI_BYTE, right, 5, in, bytes, MPI_BYTE, source, 5,
             MPI_COMM_WORLD, &requests[0]);
        truth_sent(right, (size_t)bytes);
        CALL(Isendrecv_replace, both, bytes + 1, MPI_BYTE, right, 6, left, 6, MPI_COMM_WORLD,
             &requests[1]);
        truth_sent(right, (size_t)bytes + 1);
        if (i % 3 == 0) {
            CALL(Waitall, 2, requests, statuses);
        } else {
            CALL(Wait, &requests[i % 2], &statuses[i % 2]);
            while (!POLL(&found, Test, &requests[1 - i % 2], &found, &statuses[1 - i % 2]))
                ;
        }
        count_received(&statuses[0]);
        count_received(&statuses[1]);
    }
}
#endif

static void close_descriptors(void)
{
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
}

static void leave_directory(void)
{
    char path[] = "/tmp/unusual.XXXXXX";
    if (!mkdtemp(path) || chdir(path) != 0 || rmdir(path) != 0)
        truth_broken("cannot leave %s", path);
}

int main(int argc, char **argv)
{
    if (argc != 3 || atoi(argv[2]) > MOST)
        return 2;
    const char *what = argv[1];
    int count = atoi(argv[2]), descriptors = strcmp(what, "descriptors") == 0;
    if (descriptors)
        close_descriptors();
    if (strcmp(what, "directory") == 0)
        leave_directory();
    MPI_Init(&argc, &argv);
    truth_start("MPI_Init");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(what, "types") == 0)
        use_types(count);
    else if (strcmp(what, "communicators") == 0)
        use_communicators(count);
#if MPI_VERSION >= 4
    else if (strcmp(what, "exchanges") == 0)
        exchange(count);
#endif
    else
        for (int i = 0; i < count; i++)
            pass_round(i % 100, MPI_BYTE, (size_t)(i % 100), MPI_COMM_WORLD);
    truth_finish();
    if (descriptors)
        close_descriptors();
    return 0;
}

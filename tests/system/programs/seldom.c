/* seldom ROUNDS FILE: calls that few programs make: compare and swap, a communicator of the ranks
 * that share memory, input and output of a file, and, where the MPI library has them, partitioned
 * messages and a communicator of a session. */
#include "truth.h"

#include <stdlib.h>

#define WORDS 48
#define BYTES (WORDS * sizeof(long))

static long out[WORDS], in[WORDS];
static int rank, size;

/* Open MPI 4.1 ends with a fault when the window is one that it allocated itself, or when the
 * target is the rank itself. */
static void swap(void)
{
    long own = 0, found = -1, expected = 0, given = rank + 1;
    MPI_Win win;
    CALL(Win_create, &own, sizeof own, sizeof own, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    CALL(Win_fence, 0, win);
    CALL_BYTES(sizeof given, sizeof found, Compare_and_swap, &given, &expected, &found, MPI_LONG,
               (rank + 1) % size, 0, win);
    CALL_BYTES(0, 0, Compare_and_swap, &given, &expected, &found, MPI_LONG, MPI_PROC_NULL, 0, win);
    CALL(Win_fence, 0, win);
    CALL(Win_free, &win);
    if (found != 0 || own != (rank + size - 1) % size + 1)
        truth_broken("MPI_Compare_and_swap found %ld and left %ld", found, own);
}

/* Each rank of the communicator, whose order is that of MPI_COMM_WORLD turned round, sends to the
 * next. */
static void pass_round(MPI_Comm comm, int words)
{
    int own, ranks, next, world_next;
    MPI_Group all, group;
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &ranks);
    next = (own + 1) % ranks;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(comm, &group);
    MPI_Group_translate_ranks(group, 1, &next, all, &world_next);
    MPI_Group_free(&all);
    MPI_Group_free(&group);
    CALL(Sendrecv, out, words, MPI_LONG, next, 3, in, words, MPI_LONG, (own + ranks - 1) % ranks, 3,
         comm, MPI_STATUS_IGNORE);
    truth_sent(world_next, (size_t)words * sizeof(long));
    truth_received((size_t)words * sizeof(long));
}

static void shared_memory(void)
{
    MPI_Comm node, none;
    CALL(Comm_split_type, MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &node);
    CALL(Comm_split_type, MPI_COMM_WORLD, rank ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0,
         MPI_INFO_NULL, &none);
    pass_round(node, 7);
    CALL_BYTES(8, 8, Allreduce, out, in, 1, MPI_LONG, MPI_SUM, node);
    CALL(Comm_free, &node);
    if (none != MPI_COMM_NULL)
        CALL(Comm_free, &none);
}

static void check_words(long from)
{
    for (int i = 0; i < WORDS; i++)
        if (in[i] != from + i)
            truth_broken("word %d of the file is %ld in place of %ld", i, in[i], from + i);
}

static void file_at(const char *path)
{
    MPI_File file;
    MPI_Request request;
    MPI_Offset own = rank * (MPI_Offset)BYTES;
    CALL(File_open, MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    CALL(File_set_size, file, 0);
    CALL(File_preallocate, file, size * (MPI_Offset)BYTES);
    CALL(File_set_atomicity, file, 1);
    CALL_BYTES(BYTES, 0, File_write_at_all, file, own, out, WORDS, MPI_LONG, MPI_STATUS_IGNORE);
    CALL(File_sync, file);
    CALL(Barrier, MPI_COMM_WORLD);
    CALL_BYTES(0, BYTES, File_read_at_all, file,
               (own + (MPI_Offset)BYTES) % (size * (MPI_Offset)BYTES), in, WORDS, MPI_LONG,
               MPI_STATUS_IGNORE);
    check_words(1000L * ((rank + 1) % size));
    CALL(Barrier, MPI_COMM_WORLD);
    CALL_BYTES(16, 0, File_write_at, file, own, out, 2, MPI_LONG, MPI_STATUS_IGNORE);
    CALL_BYTES(24, 0, File_iwrite_at, file, own, out, 3, MPI_LONG, &request);
    CALL(Wait, &request, MPI_STATUS_IGNORE);
    CALL_BYTES(0, BYTES, File_iread_at, file, own, in, WORDS, MPI_LONG, &request);
    CALL(Waitall, 1, &request, MPI_STATUSES_IGNORE);
    check_words(1000L * rank);
    CALL_BYTES(BYTES, 0, File_iwrite_at_all, file, own, out, WORDS, MPI_LONG, &request);
    CALL(Wait, &request, MPI_STATUS_IGNORE);
    CALL_BYTES(BYTES, 0, File_write_at_all_begin, file, own, out, WORDS, MPI_LONG);
    CALL(File_write_at_all_end, file, out, MPI_STATUS_IGNORE);
    CALL_BYTES(0, BYTES, File_read_at_all_begin, file, own, in, WORDS, MPI_LONG);
    CALL(File_read_at_all_end, file, in, MPI_STATUS_IGNORE);
    check_words(1000L * rank);
    CALL(File_close, &file);
}

static void file_by_pointers(const char *path)
{
    MPI_File file;
    CALL(File_open, MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    CALL(File_set_view, file, rank * (MPI_Offset)BYTES, MPI_LONG, MPI_LONG, "native",
         MPI_INFO_NULL);
    CALL_BYTES(BYTES, 0, File_write_all, file, out, WORDS, MPI_LONG, MPI_STATUS_IGNORE);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    CALL_BYTES(0, 8, File_read, file, in, 1, MPI_LONG, MPI_STATUS_IGNORE);
    CALL_BYTES(0, BYTES - 8, File_read_all, file, in + 1, WORDS - 1, MPI_LONG, MPI_STATUS_IGNORE);
    check_words(1000L * rank);
    CALL(File_set_view, file, 0, MPI_LONG, MPI_LONG, "native", MPI_INFO_NULL);
    CALL_BYTES(BYTES, 0, File_write_ordered, file, out, WORDS, MPI_LONG, MPI_STATUS_IGNORE);
    CALL(File_seek_shared, file, 0, MPI_SEEK_SET);
    CALL_BYTES(0, BYTES, File_read_ordered, file, in, WORDS, MPI_LONG, MPI_STATUS_IGNORE);
    check_words(1000L * rank);
    CALL(File_close, &file);
    CALL(Barrier, MPI_COMM_WORLD);
    if (rank == 0)
        CALL(File_delete, path, MPI_INFO_NULL);
}

#if MPI_VERSION >= 4
static void partitioned(int rounds)
{
    enum { PARTITIONS = 4, COUNT = WORDS / PARTITIONS };
    int right = (rank + 1) % size, left = (rank + size - 1) % size, list[] = {0};
    MPI_Request requests[2];
    CALL(Psend_init, out, PARTITIONS, COUNT, MPI_LONG, right, 4, MPI_COMM_WORLD, MPI_INFO_NULL,
         &requests[0]);
    CALL(Precv_init, in, PARTITIONS, COUNT, MPI_LONG, left, 4, MPI_COMM_WORLD, MPI_INFO_NULL,
         &requests[1]);
    for (int i = 0; i < rounds; i++) {
        int found = 0;
        CALL_BYTES(BYTES, 0, Startall, 2, requests);
        truth_sent(right, BYTES);
        CALL(Pready, 1, requests[0]);
        CALL(Pready_range, 2, 3, requests[0]);
        CALL(Pready_list, 1, list, requests[0]);
        while (!POLL(&found, Parrived, requests[1], 2, &found))
            ;
        CALL(Waitall, 2, requests, MPI_STATUSES_IGNORE);
        truth_received(BYTES);
        check_words(1000L * left);
    }
    CALL(Request_free, &requests[0]);
    CALL(Request_free, &requests[1]);
}

static void session(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    CALL(Session_init, MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    CALL(Comm_create_from_group, group, "seldom", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Group_free(&group);
    pass_round(comm, 9);
    CALL_BYTES(8, 8, Allreduce, out, in, 1, MPI_LONG, MPI_SUM, comm);
    CALL(Comm_free, &comm);
    CALL(Session_finalize, &session);
}
#endif

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    truth_init(&argc, &argv, &rank, &size);
    for (int i = 0; i < WORDS; i++)
        out[i] = 1000L * rank + i;
    for (int i = 0; i < atoi(argv[1]); i++) {
        swap();
        shared_memory();
        file_at(argv[2]);
        file_by_pointers(argv[2]);
#if MPI_VERSION >= 4
        partitioned(i + 1);
        session();
#endif
    }
    truth_finish();
    return 0;
}

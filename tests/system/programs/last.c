/* last FILE ROUNDS: each rank makes ROUNDS rounds of calls; then the last rank stays outside of MPI
 * until FILE is there, and all others wait for it in a barrier. At the end each rank tells in
 * $TRUTH_DIR/last.RANK what it had called until then, in order: "last RANK CALL PEER TAG BYTES", -
 * where a call has none, and for each message that it had got "got RANK SOURCE TAG BYTES". */
#include "last_rank.h"

#include <mpi.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define LONGEST 4096

static char *told;
static size_t told_bytes;
static FILE *tell;
static int rank, size;

static void call(const char *name, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fprintf(tell, "last %d %s ", rank, name);
    vfprintf(tell, format, values);
    fputc('\n', tell);
    va_end(values);
}

static void got(int source, int tag, int bytes)
{
    fprintf(tell, "got %d %d %d %d\n", rank, source, tag, bytes);
}

static void blocking(int right, int left, int tag, int bytes)
{
    static char out[LONGEST], in[LONGEST];
    for (int step = 0; step < 2; step++) {
        if (step == rank % 2) {
            MPI_Send(out, bytes, MPI_CHAR, right, tag, MPI_COMM_WORLD);
            call("MPI_Send", "%d %d %d", right, tag, bytes);
        } else {
            MPI_Recv(in, bytes, MPI_CHAR, left, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            call("MPI_Recv", "%d %d %d", left, tag, bytes);
            got(left, tag, bytes);
        }
    }
}

static void immediate(int right, int left, int tag, int bytes)
{
    static char out[LONGEST], in[2][LONGEST];
    MPI_Request requests[4];
    MPI_Irecv(in[0], bytes, MPI_CHAR, left, tag, MPI_COMM_WORLD, &requests[0]);
    call("MPI_Irecv", "%d %d %d", left, tag, bytes);
    MPI_Irecv(in[1], bytes, MPI_CHAR, right, tag + 1, MPI_COMM_WORLD, &requests[1]);
    call("MPI_Irecv", "%d %d %d", right, tag + 1, bytes);
    MPI_Isend(out, bytes, MPI_CHAR, right, tag, MPI_COMM_WORLD, &requests[2]);
    call("MPI_Isend", "%d %d %d", right, tag, bytes);
    MPI_Isend(out, bytes, MPI_CHAR, left, tag + 1, MPI_COMM_WORLD, &requests[3]);
    call("MPI_Isend", "%d %d %d", left, tag + 1, bytes);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    call("MPI_Waitall", "- - -");
    got(left, tag, bytes);
    got(right, tag + 1, bytes);
}

/* No barrier here: a rank in a barrier is one that has made all rounds. */
static void together(int round, MPI_Comm other)
{
    double in[4] = {0}, out[4];
    MPI_Allreduce(in, out, 1 + round % 4, MPI_DOUBLE, MPI_SUM, other);
    call("MPI_Allreduce", "- - %d", 8 * (1 + round % 4));
}

static int write_told(void)
{
    char path[512];
    snprintf(path, sizeof path, "%s/last.%d", getenv("TRUTH_DIR"), rank);
    FILE *file = fopen(path, "w");
    int failed = !file || fputs(told, file) < 0;
    failed |= !file || fclose(file) != 0;
    if (failed)
        perror(path);
    free(told);
    return failed;
}

int main(int argc, char **argv)
{
    MPI_Comm other;
    if (argc < 3)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    tell = open_memstream(&told, &told_bytes);
    call("MPI_Init", "- - -");
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    call("MPI_Comm_dup", "- - -");
    for (int round = 0; round < atoi(argv[2]); round++) {
        int right = (rank + 1) % size, left = (rank + size - 1) % size;
        blocking(right, left, 10 * round, 1 + 7 * round % LONGEST);
        immediate(right, left, 10 * round + 1, 1 + 13 * round % LONGEST);
        together(round, other);
    }
    last_rank_await_file(rank, size, argv[1]);
    MPI_Barrier(other);
    if (rank != size - 1)
        call("MPI_Barrier", "- - 0");
    fclose(tell);
    MPI_Comm_free(&other);
    MPI_Finalize();
    return write_told();
}

/* causes DIRECTORY [serve]: a simulation whose ranks load their cores little. In every step each
 * rank sleeps, computes for a given time of its core, exchanges messages with its two neighbours in
 * a ring, and joins an Allreduce. Rank 1 has the last core alone, the others share the first one.
 * Files in the directory control the job, and may come and go: while work.RANK exists, that rank
 * computes four times as long; with write.RANK it writes to a file for 40 ms in each
 * step and waits for the disk; with end the job ends. Each rank writes its process to
 * DIRECTORY/pid.RANK. With serve, a thread of each rank waits in MPI_Recv for requests, of which
 * the one that comes ends it. */
#define _GNU_SOURCE
#include "truth.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define IDLE_NS 30000000
#define WORK_NS 8000000
#define TAGS 4
#define BYTES 1000
#define BLOCK 33554432
#define WRITE_NS 40000000

static int rank, size;
static const char *directory;

static void path_of(char path[4096], const char *name)
{
    snprintf(path, 4096, "%s/%s.%d", directory, name, rank);
}

static int there(const char *name)
{
    char path[4096];
    path_of(path, name);
    return access(path, F_OK) == 0;
}

static void bind_to_core(void)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(rank == 1 ? sysconf(_SC_NPROCESSORS_ONLN) - 1 : 0, &cores);
    if (sched_setaffinity(0, sizeof cores, &cores) != 0)
        truth_broken("cannot bind rank %d to a core", rank);
}

static void write_pid(void)
{
    char path[4096];
    path_of(path, "pid");
    FILE *f = fopen(path, "w");
    if (!f || fprintf(f, "%d\n", (int)getpid()) < 0 || fclose(f) != 0)
        truth_broken("cannot write %s", path);
}

static double clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void compute(double ns)
{
    volatile double x = 1;
    for (double end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
         clock_ns(CLOCK_THREAD_CPUTIME_ID) < end;)
        for (int i = 0; i < 1000; i++)
            x = x * 1.000001 + 1e-9;
}

/* Past the page cache, so that the rank waits for the disk and does not compute. */
static void write_out(void)
{
    static char *block;
    char path[4096];
    path_of(path, "out");
    int fd = open(path, O_WRONLY | O_CREAT | O_DIRECT | O_DSYNC, 0600);
    if (!block && posix_memalign((void **)&block, 4096, BLOCK) != 0)
        truth_broken("out of memory");
    for (double end = clock_ns(CLOCK_MONOTONIC) + WRITE_NS; clock_ns(CLOCK_MONOTONIC) < end;)
        if (fd < 0 || pwrite(fd, block, BLOCK, 0) != BLOCK)
            truth_broken("cannot write %s", path);
    close(fd);
}

static void exchange(void)
{
    static char out[BYTES], in[2 * TAGS][BYTES];
    MPI_Request receives[2 * TAGS], sends[2 * TAGS];
    int n = 0;
    for (int tag = 0; tag < TAGS; tag++)
        for (int way = -1; way <= 1; way += 2, n++) {
            int to = (rank + way + size) % size, from = (rank - way + size) % size;
            int which = 2 * tag + (way > 0);
            CALL(Irecv, in[n], BYTES, MPI_BYTE, from, which, MPI_COMM_WORLD, &receives[n]);
            CALL(Isend, out, BYTES, MPI_BYTE, to, which, MPI_COMM_WORLD, &sends[n]);
            truth_sent(to, BYTES);
        }
    CALL(Waitall, n, receives, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++)
        truth_received(BYTES);
    CALL(Waitall, n, sends, MPI_STATUSES_IGNORE);
}

static void step(void)
{
    nanosleep(&(struct timespec){.tv_nsec = IDLE_NS}, NULL);
    compute(there("work") ? 4 * WORK_NS : WORK_NS);
    if (there("write"))
        write_out();
    exchange();
}

static void *serve(void *comm)
{
    char request;
    MPI_Recv(&request, 1, MPI_BYTE, MPI_ANY_SOURCE, 0, *(MPI_Comm *)comm, MPI_STATUS_IGNORE);
    return NULL;
}

static void start_serving(pthread_t *thread, MPI_Comm *comm)
{
    MPI_Comm_dup(MPI_COMM_WORLD, comm);
    if (pthread_create(thread, NULL, serve, comm) != 0)
        truth_broken("no thread");
}

static void end_serving(pthread_t thread, MPI_Comm comm)
{
    char request = 0;
    MPI_Send(&request, 1, MPI_BYTE, rank, 0, comm);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t server;
    MPI_Comm requests;
    char end[4096];
    if (argc < 2)
        return 2;
    directory = argv[1];
    snprintf(end, sizeof end, "%s/end", directory);
    const int serves = argc > 2 && strcmp(argv[2], "serve") == 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    truth_start_as("MPI_Init_thread", rank, size);
    if (provided < MPI_THREAD_MULTIPLE)
        truth_broken("threads may not call MPI at one time");
    bind_to_core();
    write_pid();
    if (serves)
        start_serving(&server, &requests);
    for (int over = 0; !over;) {
        int seen = rank == 0 && access(end, F_OK) == 0;
        step();
        CALL_BYTES(sizeof over, sizeof over, Allreduce, &seen, &over, 1, MPI_INT, MPI_MAX,
                   MPI_COMM_WORLD);
    }
    if (serves)
        end_serving(server, requests);
    truth_finish();
    return 0;
}

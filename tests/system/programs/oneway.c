/* oneway CONTROL MICROSECONDS: rank 0 sends a message to rank 1 every so many microseconds, and
 * none comes back, until the file CONTROL/end exists. Both ranks run on one machine and have one
 * clock: each message carries the moment at which its send began, and rank 1 writes to
 * CONTROL/flights when each was complete, nanoseconds since 1970, and its time in flight,
 * nanoseconds. */
#include "truth.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define TAG 3

struct stamp {
    int64_t sent_ns; /* 0: no further message follows */
    char more[1016];
};

static int64_t now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void send_stamps(const char *end, long period_ns)
{
    struct stamp stamp = {0};
    for (int more = 1; more;) {
        nanosleep(&(struct timespec){.tv_nsec = period_ns}, NULL);
        more = access(end, F_OK) != 0;
        stamp.sent_ns = more ? now_ns(CLOCK_MONOTONIC) : 0;
        CALL(Send, &stamp, sizeof stamp, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
        truth_sent(1, sizeof stamp);
    }
}

static void receive_stamps(const char *path)
{
    FILE *out = fopen(path, "w");
    struct stamp stamp;
    if (out == NULL)
        truth_broken("cannot write %s", path);
    for (;;) {
        CALL(Recv, &stamp, sizeof stamp, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        const int64_t flight_ns = now_ns(CLOCK_MONOTONIC) - stamp.sent_ns;
        truth_received(sizeof stamp);
        if (stamp.sent_ns == 0)
            break;
        fprintf(out, "%lld %lld\n", (long long)now_ns(CLOCK_REALTIME), (long long)flight_ns);
    }
    if (fclose(out) != 0)
        truth_broken("cannot write %s", path);
}

int main(int argc, char **argv)
{
    char path[4096];
    int rank;
    if (argc != 3)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    truth_start("MPI_Init");
    snprintf(path, sizeof path, "%s/%s", argv[1], rank == 0 ? "end" : "flights");
    if (rank == 0)
        send_stamps(path, atol(argv[2]) * 1000);
    else if (rank == 1)
        receive_stamps(path);
    truth_finish();
    return 0;
}

/* late BYTES ROUNDS GATE: rank 1 sends BYTES with MPI_Send to rank 0 in each round, and rank 0
 * sleeps 50 ms before it receives them; other ranks do nothing. All stay outside of MPI until GATE
 * exists. Rank 1 prints how long it was in the sends, and how long of that until rank 0 called
 * MPI_Recv, in nanoseconds; all ranks need to have one clock:
 *   blocked NS waited NS */
#include "truth.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static void send_late(char *data, int bytes, int rounds, double *begin, double *end)
{
    for (int i = 0; i < rounds; i++) {
        begin[i] = now();
        CALL(Send, data, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        end[i] = now();
        truth_sent(0, (size_t)bytes);
    }
}

static void receive_late(char *data, int bytes, int rounds, double *enter)
{
    for (int i = 0; i < rounds; i++) {
        sleep_ms(50);
        enter[i] = now();
        CALL(Recv, data, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        truth_received((size_t)bytes);
    }
}

static void print_waits(int rounds, const double *begin, const double *end, const double *enter)
{
    double blocked = 0, waited = 0;
    for (int i = 0; i < rounds; i++) {
        double until = enter[i] < end[i] ? enter[i] : end[i];
        blocked += end[i] - begin[i];
        waited += until > begin[i] ? until - begin[i] : 0;
    }
    printf("blocked %.0f waited %.0f\n", blocked, waited);
}

int main(int argc, char **argv)
{
    int rank;
    if (argc < 4)
        return 2;
    int bytes = atoi(argv[1]), rounds = atoi(argv[2]);
    size_t times = (size_t)rounds * sizeof(double);
    char *data = calloc(1, (size_t)bytes);
    double *begin = malloc(times), *end = malloc(times), *enter = malloc(times);
    MPI_Init(&argc, &argv);
    truth_start("MPI_Init");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CALL(Barrier, MPI_COMM_WORLD);
    if (rank == 0) {
        receive_late(data, bytes, rounds, enter);
        CALL(Send, enter, rounds, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
        truth_sent(1, times);
    } else if (rank == 1) {
        send_late(data, bytes, rounds, begin, end);
        CALL(Recv, enter, rounds, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        truth_received(times);
        print_waits(rounds, begin, end, enter);
    }
    while (access(argv[3], F_OK) != 0)
        sleep_ms(20);
    CALL(Barrier, MPI_COMM_WORLD);
    truth_finish();
    free(data);
    free(begin);
    free(end);
    free(enter);
    return 0;
}

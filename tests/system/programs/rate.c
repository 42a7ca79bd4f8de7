/* rate MESSAGES BURST: even ranks stream small messages to the odd rank behind them, BURST at a
 * time: as many events a second as MPI can make. */
#include "truth.h"

#include <stdlib.h>

#define MAX_BURST 256

int main(int argc, char **argv)
{
    static char bytes[MAX_BURST];
    MPI_Request requests[MAX_BURST];
    int rank, size;
    if (argc != 3)
        return 2;
    int messages = atoi(argv[1]), burst = atoi(argv[2]);
    if (burst < 1 || burst > MAX_BURST)
        return 2;
    truth_init(&argc, &argv, &rank, &size);
    int partner = rank ^ 1, sends = rank % 2 == 0;
    for (int done = 0; done < messages && partner < size; done += burst) {
        for (int i = 0; i < burst; i++) {
            if (sends) {
                CALL(Isend, &bytes[i], 1, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &requests[i]);
                truth_sent(partner, 1);
            } else {
                CALL(Irecv, &bytes[i], 1, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &requests[i]);
                truth_received(1);
            }
        }
        CALL(Waitall, burst, requests, MPI_STATUSES_IGNORE);
    }
    truth_finish();
    return 0;
}

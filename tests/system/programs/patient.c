/* For programs that run on fewer cores than they have ranks: ranks that wait give their core away
 * for a while, by which they come first when they need it. What such a job measures is its network,
 * even where other programs run beside it. */
#define _GNU_SOURCE
#include <sched.h>
#include <time.h>

#define NAP_NS 100000

/* In place of the C library's: Open MPI calls it whenever there is nothing to do. */
int sched_yield(void)
{
    struct timespec nap = {.tv_nsec = NAP_NS};
    return nanosleep(&nap, NULL);
}

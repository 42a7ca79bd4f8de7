/* What the benchmarks of the network share: see network_bench.h. */
#include "tests/bench/network_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void check(bool fine, const char *what)
{
    if (!fine) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

uint32_t random_next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

struct topology *network(const char *text)
{
    char why[256] = "";
    struct topology_spec spec = {0};
    struct topology *topology = NULL;
    check(topology_short(&spec, text, why, sizeof(why)) == 0, why);
    check(topology_create(&topology, &spec, why, sizeof(why)) == 0, why);
    topology_spec_finish(&spec);
    return topology;
}

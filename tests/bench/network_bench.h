/* What the benchmarks of networks share. */
#ifndef HOLTER_TESTS_BENCH_NETWORK_BENCH_H
#define HOLTER_TESTS_BENCH_NETWORK_BENCH_H

#include "daemon/analysis/network/topology.h"

#include <stdbool.h>
#include <stdint.h>

/** Of the processor: other programs may be running. */
double seconds(void);

/** Say what is wrong and end the program, unless all is fine. */
void check(bool fine, const char *what);

uint32_t random_next(uint64_t *state);

/** A network from its short form. Ends the program when there is none. */
struct topology *network(const char *text);

#endif

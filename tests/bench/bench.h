/* What measurements share. */
#ifndef HOLTER_TESTS_BENCH_BENCH_H
#define HOLTER_TESTS_BENCH_BENCH_H

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/** Processor time of this process, all of its threads. */
static inline double bench_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/** Bytes that this process has on the heap. */
static inline size_t bench_heap(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/** What failed has nothing to measure: it ends the program. */
static inline void bench_check(int code, const char *what)
{
    if (code == 0)
        return;
    fprintf(stderr, "%s: %s: %d\n", program_invocation_short_name, what, code);
    exit(EXIT_FAILURE);
}

/** The next of a sequence that is the same on every machine: a linear congruential generator modulo
 * 2^64 with the constants of Knuth's MMIX, its upper half. */
static inline uint32_t bench_next(uint64_t *random)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*random >> 32);
}

#endif

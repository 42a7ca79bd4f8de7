/* The counter of the processor that runs at a constant rate: what ticks of the ranks' clock are.
 * Reading it costs some nanoseconds and is not ordered with the instructions around it. */
#ifndef HOLTER_TICKS_H
#define HOLTER_TICKS_H

#include <stdint.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/** 1: there is such a counter. Whether it may be used is for the probe to find out: the time stamp
 *  counter of old x86 processors changes its rate. */
#if defined(__x86_64__) || defined(__aarch64__)
#define TICKS_COUNTED 1
#else
#define TICKS_COUNTED 0
#endif

/** @return ticks; 0 where there is no counter */
static inline uint64_t ticks_read(void)
{
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks; /* the virtual counter, Arm Architecture Reference Manual, D11.1.2 */
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return 0;
#endif
}

#endif

/* The clocks of Holter. Other code does not read a clock by itself; analyses get times as
 * arguments. */
#ifndef HOLTER_CLOCK_H
#define HOLTER_CLOCK_H

#include <stdint.h>

/** CLOCK_MONOTONIC, nanoseconds. */
uint64_t clock_mono_ns(void);

/** CLOCK_REALTIME, nanoseconds since 1970. */
uint64_t clock_real_ns(void);

/** Processor time of this process, all threads, nanoseconds. */
uint64_t clock_process_cpu_ns(void);

/** Processor time of the calling thread, nanoseconds. */
uint64_t clock_thread_cpu_ns(void);

#endif

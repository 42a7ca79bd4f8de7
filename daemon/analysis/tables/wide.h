/* Loops over many numbers are compiled twice: for any processor, and with wider vectors for those
 * that have them. One inline function is the loop; a WIDE one and one that is not call it, and
 * wide_is_here() tells which of them to call. Both give the same, to the bit. GNU C: function
 * attributes, x86 built-in functions. */
#ifndef HOLTER_DAEMON_ANALYSIS_TABLES_WIDE_H
#define HOLTER_DAEMON_ANALYSIS_TABLES_WIDE_H

#include <stdbool.h>

/** Of the loop: each of the two has a copy of its own. */
#define WIDE_LOOP static inline __attribute__((always_inline))

#ifdef __x86_64__
/** Compiled with vectors of 256 bits (AVX2). */
#define WIDE __attribute__((target("avx2")))

/** May what is WIDE be called on this processor? */
static inline bool wide_is_here(void)
{
    return __builtin_cpu_supports("avx2");
}
#else
#define WIDE

static inline bool wide_is_here(void)
{
    return false;
}
#endif

#endif

/* Classes of times, for histograms that can be merged: exact below 64 ns, then 64 to an octave, so
 * that a class is at most 1.6 % wide and its middle at most 0.8 % from any time in it. */
#ifndef HOLTER_TIME_CLASS_H
#define HOLTER_TIME_CLASS_H

#include <stdint.h>

/** Classes of 64-bit times: 64 exact ones and 64 for each of the octaves 6 to 63. */
#define TIME_CLASSES (64u + 64u * 58u)

/** Class of a time, nanoseconds. */
static inline uint16_t time_class_of(uint64_t ns)
{
    if (ns < 64)
        return (uint16_t)ns;
    unsigned octave = 63u - (unsigned)__builtin_clzll(ns);
    return (uint16_t)(64u + (octave - 6u) * 64u + ((ns >> (octave - 6u)) & 63u));
}

/** Smallest time of a class, nanoseconds. Classes beyond the last give UINT64_MAX. */
static inline uint64_t time_class_floor(uint32_t time_class)
{
    if (time_class < 64)
        return time_class;
    if (time_class >= TIME_CLASSES)
        return UINT64_MAX;
    unsigned octave = (time_class - 64u) / 64u + 6u, part = (time_class - 64u) % 64u;
    return (UINT64_C(64) + part) << (octave - 6u);
}

/** Middle of a class, nanoseconds: the representative of its times. */
static inline double time_class_middle(uint32_t time_class)
{
    if (time_class < 64)
        return time_class;
    unsigned octave = (time_class - 64u) / 64u + 6u;
    double width = (double)(UINT64_C(1) << (octave - 6u));
    return (double)time_class_floor(time_class) + (width - 1) / 2;
}

/** Binary logarithm of a time in nanoseconds, in 1/65536; 0 for 0 and 1 ns. Within 0.0088 of the
 *  logarithm (0.6 % of the time): log2(1 + f) is approximated by f (1.3465 - 0.3465 f). Integer, so
 *  that sums do not depend on their order. */
static inline uint64_t time_log2(uint64_t ns)
{
    if (ns < 2)
        return 0;
    unsigned octave = 63u - (unsigned)__builtin_clzll(ns);
    uint64_t f =
        ((ns << (63u - octave)) >> 47u) & 0xffffu; /* what follows the first bit, in 1/65536 */
    return ((uint64_t)octave << 16u) + ((f * (88247u - ((f * 22711u) >> 16u))) >> 16u);
}

#endif

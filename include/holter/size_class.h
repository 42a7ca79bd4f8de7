/* Size classes of messages: exact below 64 bytes, then 16 to an octave, so at most 6.25 % wide
 * (PCLVis has one criterion for each message size; classes limit their number). */
#ifndef HOLTER_SIZE_CLASS_H
#define HOLTER_SIZE_CLASS_H

#include <stdint.h>

/** Classes of 64-bit sizes: 64 exact ones and 16 for each of the octaves 6 to 63. */
#define SIZE_CLASSES (64u + 16u * 58u)

/** Class of a size in bytes. */
static inline uint16_t size_class_of(uint64_t bytes)
{
    if (bytes < 64)
        return (uint16_t)bytes;
    unsigned octave = 63u - (unsigned)__builtin_clzll(bytes);
    return (uint16_t)(64u + (octave - 6u) * 16u + ((bytes >> (octave - 4u)) & 15u));
}

/** Smallest size of a class, bytes. Classes beyond the last give UINT64_MAX. */
static inline uint64_t size_class_floor(uint16_t size_class)
{
    if (size_class < 64)
        return size_class;
    if (size_class >= SIZE_CLASSES)
        return UINT64_MAX;
    unsigned octave = (size_class - 64u) / 16u + 6u, sixteenth = (size_class - 64u) % 16u;
    return (UINT64_C(16) + sixteenth) << (octave - 4u);
}

/** Binary logarithm of the number of sizes in a class; 0 for the last class and for invalid ones.
 */
static inline unsigned size_class_bits(uint64_t size_class)
{
    return size_class < 64 || size_class >= SIZE_CLASSES - 1 ? 0
                                                             : (unsigned)(size_class - 64) / 16 + 2;
}

#endif

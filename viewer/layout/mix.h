/* Keys of pictures: hashes of what a picture was computed from, mixed part by part. */
#ifndef HOLTER_VIEWER_LAYOUT_MIX_H
#define HOLTER_VIEWER_LAYOUT_MIX_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t mix_number(uint64_t key, uint64_t part)
{
    key = (key ^ part) * UINT64_C(0x9e3779b97f4a7c15);
    return key ^ key >> 29;
}

static inline uint64_t mix_real(uint64_t key, double part)
{
    uint64_t bits;
    memcpy(&bits, &part, sizeof bits);
    return mix_number(key, bits);
}

static inline uint64_t mix_numbers(uint64_t key, const uint64_t *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        key = mix_number(key, parts[i]);
    return key;
}

static inline uint64_t mix_reals(uint64_t key, const double *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        key = mix_real(key, parts[i]);
    return key;
}

/** A number from -0.5 to 0.5 that looks random (SplitMix64). */
static inline double mix_jitter(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((x ^ (x >> 31)) >> 11) / 9007199254740992.0 - 0.5;
}

#endif

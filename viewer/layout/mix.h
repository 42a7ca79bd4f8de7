/* Keys of pictures: hashes of what a picture was computed from, mixed part by part. */
#ifndef HOLTER_VIEWER_LAYOUT_MIX_H
#define HOLTER_VIEWER_LAYOUT_MIX_H

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

#endif

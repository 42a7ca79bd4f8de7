/* Vectors of integers, for the loops of block_fill.c. */
#ifndef HOLTER_DAEMON_BLOCK_FILL_LANES_H
#define HOLTER_DAEMON_BLOCK_FILL_LANES_H

#include "daemon/block_fill_numbers.h"

/* As many integers as one holds. Those of two, which any processor has, can add, and little else. */
#ifdef BLOCK_FILL_AVX512
#define LANES 8u
#elif defined(BLOCK_FILL_BMI2)
#define LANES 4u
#else
#define LANES 2u
#endif
typedef uint64_t lanes __attribute__((vector_size(8 * LANES)));
typedef uint8_t byte_lanes __attribute__((vector_size(LANES)));

ALWAYS void load(lanes *out, const uint64_t *from)
{
    memcpy(out, from, sizeof(*out));
}

ALWAYS void store(uint64_t *to, const lanes *some)
{
    memcpy(to, some, sizeof(*some));
}

ALWAYS void unfold(lanes *some)
{
    *some = *some >> 1 ^ -(*some & 1);
}

/* All lanes, or-ed; added. */
ALWAYS uint64_t or_of(const lanes *some)
{
    uint64_t any = 0;
    for (unsigned i = 0; i < LANES; i++)
        any |= (*some)[i];
    return any;
}

ALWAYS uint64_t sum_of(const lanes *some)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < LANES; i++)
        sum += (*some)[i];
    return sum;
}

/* Sums of the first one, the first two, and so on. */
ALWAYS void sum_up(lanes *some)
{
#if LANES == 8
    const __m512i none = _mm512_setzero_si512();
    __m512i sums = (__m512i)*some;
    sums = _mm512_add_epi64(sums, _mm512_alignr_epi64(sums, none, 7));
    sums = _mm512_add_epi64(sums, _mm512_alignr_epi64(sums, none, 6));
    *some = (lanes)_mm512_add_epi64(sums, _mm512_alignr_epi64(sums, none, 4));
#elif LANES == 2
    const lanes none = {0};
    *some += __builtin_shufflevector(*some, none, 2, 0);
#else
    const lanes none = {0};
    *some += __builtin_shufflevector(*some, none, 4, 0, 1, 2);
    *some += __builtin_shufflevector(*some, none, 4, 4, 0, 1);
#endif
}

ALWAYS lanes last_of(const lanes *some)
{
#if LANES == 8
    return (lanes)_mm512_permutexvar_epi64(_mm512_set1_epi64(7), (__m512i)*some);
#elif LANES == 2
    return __builtin_shufflevector(*some, *some, 1, 1);
#else
    return __builtin_shufflevector(*some, *some, 3, 3, 3, 3);
#endif
}

#endif

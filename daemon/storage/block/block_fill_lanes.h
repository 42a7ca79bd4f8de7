/* Vectors of integers, for the loops of block_fill.c. */
#ifndef HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_FILL_LANES_H
#define HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_FILL_LANES_H

#include "daemon/storage/block/block_fill_numbers.h"

/* As many integers as one holds. Those of two, which any processor has, can add, and little else.
 */
#ifdef BLOCK_FILL_AVX512
#define LANES 8u
#elif defined(BLOCK_FILL_BMI2)
#define LANES 4u
#else
#define LANES 2u
#endif
typedef uint64_t lanes __attribute__((vector_size(8 * LANES)));
typedef uint8_t byte_lanes __attribute__((vector_size(8 * LANES)));

ALWAYS void load(lanes *out, const uint64_t *from)
{
    memcpy(out, from, sizeof(*out));
}

ALWAYS void store(uint64_t *to, const lanes *some)
{
    memcpy(to, some, sizeof(*some));
}

/* Of a byte each; of four. */
ALWAYS void load_bytes(lanes *out, const uint8_t *from)
{
#if LANES == 8
    *out = (lanes)_mm512_cvtepu8_epi64(_mm_loadu_si64(from));
#elif LANES == 4
    *out = (lanes)_mm256_cvtepu8_epi64(_mm_loadu_si32(from));
#else
    *out = (lanes){from[0], from[1]};
#endif
}

ALWAYS void load_halves(lanes *out, const uint32_t *from)
{
#if LANES == 8
    *out = (lanes)_mm512_cvtepu32_epi64(_mm256_loadu_si256((const __m256i *)(const void *)from));
#elif LANES == 4
    *out = (lanes)_mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i *)(const void *)from));
#else
    *out = (lanes){from[0], from[1]};
#endif
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

#if LANES > 2
/* ---- twice as many, below 2^32 ------------------------------------------- */

typedef uint32_t halves __attribute__((vector_size(8 * LANES)));

/* @param width  bytes of each: 1 or 4 */
ALWAYS void load_small(halves *out, const void *at, unsigned width, size_t i)
{
    if (width == 4)
        memcpy(out, (const uint32_t *)at + i, sizeof(*out));
    else
#if LANES == 8
        *out = (halves)_mm512_cvtepu8_epi32(
            _mm_loadu_si128((const __m128i *)(const void *)((const uint8_t *)at + i)));
#else
        *out = (halves)_mm256_cvtepu8_epi32(_mm_loadu_si64((const uint8_t *)at + i));
#endif
}

/* As integers of eight bytes each. */
ALWAYS void store_small(uint64_t *to, const halves *some)
{
#if LANES == 8
    const __m512i all = (__m512i)*some;
    _mm512_storeu_si512(to, _mm512_cvtepu32_epi64(_mm512_castsi512_si256(all)));
    _mm512_storeu_si512(to + 8, _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(all, 1)));
#else
    const __m256i all = (__m256i)*some;
    __m256i *at = (__m256i *)(void *)to;
    _mm256_storeu_si256(at, _mm256_cvtepu32_epi64(_mm256_castsi256_si128(all)));
    _mm256_storeu_si256(at + 1, _mm256_cvtepu32_epi64(_mm256_extracti128_si256(all, 1)));
#endif
}

/* Sums of the first one, the first two, and so on. */
ALWAYS void sum_up_small(halves *some)
{
#if LANES == 8
    const __m512i none = _mm512_setzero_si512();
    __m512i sums = (__m512i)*some;
    sums = _mm512_add_epi32(sums, _mm512_alignr_epi32(sums, none, 15));
    sums = _mm512_add_epi32(sums, _mm512_alignr_epi32(sums, none, 14));
    sums = _mm512_add_epi32(sums, _mm512_alignr_epi32(sums, none, 12));
    *some = (halves)_mm512_add_epi32(sums, _mm512_alignr_epi32(sums, none, 8));
#else
    __m256i sums = (__m256i)*some;
    sums = _mm256_add_epi32(sums, _mm256_slli_si256(sums, 4));
    sums = _mm256_add_epi32(sums, _mm256_slli_si256(sums, 8));
    const __m256i lower = _mm256_permute2x128_si256(sums, sums, 0x08); /* above nothing */
    *some = (halves)_mm256_add_epi32(sums, _mm256_shuffle_epi32(lower, 0xff));
#endif
}

ALWAYS halves last_small(const halves *some)
{
#if LANES == 8
    return (halves)_mm512_permutexvar_epi32(_mm512_set1_epi32(15), (__m512i)*some);
#else
    return (halves)_mm256_permutevar8x32_epi32((__m256i)*some, _mm256_set1_epi32(7));
#endif
}
#endif

#endif

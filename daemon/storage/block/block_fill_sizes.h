/* How many bytes integers take as MessagePack, for the loops of block_fill.c. */
#ifndef HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_FILL_SIZES_H
#define HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_FILL_SIZES_H

#include "daemon/storage/block/block_fill_lanes.h"

/* Bytes of integers as MessagePack, by the zeros before their highest bit; of those below 0 by
 * those of their complement. */
static const uint8_t sizes[2][65] = {
    {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9,
     9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
     5, 5, 5, 5, 3, 3, 3, 3, 3, 3, 3, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1},
    {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9,
     9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
     5, 5, 5, 5, 5, 3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1}};

static inline unsigned zeros_before(uint64_t number)
{
#ifdef BLOCK_FILL_BMI2
    return (unsigned)_lzcnt_u64(number);
#else
    return (unsigned)__builtin_clzll(number | 1);
#endif
}

static inline size_t size_of(uint64_t number, int negative)
{
    uint64_t below = negative ? number >> 63 : 0;
    return sizes[below][zeros_before(number ^ (0 - below))];
}

/* Each by itself: also of 2^63 and more, and below 0. */
static size_t sizes_of_any(const uint64_t *values, size_t count, int negative)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += size_of(values[i], negative);
    return bytes;
}

#ifdef BLOCK_FILL_AVX512
/* Of unsigned ones, by lane: looked up by the zeros before their highest bit. */
ALWAYS lanes sizes_in(const lanes *some)
{
    const __m512i table = _mm512_loadu_si512(sizes[0]), one = _mm512_set1_epi64(1);
    const __m512i zeros = _mm512_lzcnt_epi64(_mm512_or_si512((__m512i)*some, one));
    return (lanes)_mm512_maskz_permutexvar_epi8(UINT64_C(0x0101010101010101), zeros, table);
}

ALWAYS halves sizes_in_small(const halves *some)
{
    const __m512i table = _mm512_loadu_si512((const uint8_t *)sizes + 32);
    const __m512i zeros = _mm512_lzcnt_epi32(_mm512_or_si512((__m512i)*some, _mm512_set1_epi32(1)));
    return (halves)_mm512_maskz_permutexvar_epi8(UINT64_C(0x1111111111111111), zeros, table);
}
#else
#ifdef BLOCK_FILL_BMI2
/* Below 2^31, eight at a time. @param steps  how many of the least that take more bytes they may
 * reach */
ALWAYS size_t sizes_of_halves(const uint64_t *values, size_t count, int steps)
{
    const __m256i first = _mm256_set1_epi32(INT8_MAX), second = _mm256_set1_epi32(UINT8_MAX);
    const __m256i third = _mm256_set1_epi32(UINT16_MAX);
    __m256i more = _mm256_setzero_si256(), twice = more;
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const __m256 low = _mm256_loadu_ps((const float *)(const void *)(values + i));
        const __m256 high = _mm256_loadu_ps((const float *)(const void *)(values + i + 4));
        const __m256i some = _mm256_castps_si256(_mm256_shuffle_ps(low, high, 0x88));
        more = _mm256_sub_epi32(more, _mm256_cmpgt_epi32(some, first));
        if (steps > 1)
            more = _mm256_sub_epi32(more, _mm256_cmpgt_epi32(some, second));
        if (steps > 2)
            twice = _mm256_sub_epi32(twice, _mm256_cmpgt_epi32(some, third));
    }
    more = _mm256_add_epi32(more, _mm256_add_epi32(twice, twice));
    more = _mm256_sad_epu8(more, _mm256_setzero_si256()); /* none has more than a byte */
    const lanes sums = (lanes)more;
    return i + sum_of(&sums) + sizes_of_any(values + i, count - i, 0);
}
#else
/* Likewise, four at a time. */
ALWAYS size_t sizes_of_halves(const uint64_t *values, size_t count, int steps)
{
    typedef int32_t halves __attribute__((vector_size(16)));
    halves more = {0}, low, high;
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        memcpy(&low, values + i, sizeof(low));
        memcpy(&high, values + i + 2, sizeof(high));
#if __BYTE_ORDER == __LITTLE_ENDIAN
        const halves some = __builtin_shufflevector(low, high, 0, 2, 4, 6);
#else
        const halves some = __builtin_shufflevector(low, high, 1, 3, 5, 7);
#endif
        more -= some > INT8_MAX;
        if (steps > 1)
            more -= some > UINT8_MAX;
        if (steps > 2)
            more -= (some > UINT16_MAX) * 2;
    }
    const size_t sum = (size_t)more[0] + (size_t)more[1] + (size_t)more[2] + (size_t)more[3];
    return i + sum + sizes_of_any(values + i, count - i, 0);
}
#endif
#endif

/* ---- of classes ------------------------------------------------------------ */

/* Bytes that numbers of a class take, but for the first one: a class has only such of one size. */
ALWAYS byte_lanes more_of(const byte_lanes *classes)
{
    /* Of 2^7, 2^8, 2^16 and 2^32. */
    const byte_lanes one = (byte_lanes)(*classes >= 24) + (byte_lanes)(*classes >= 28);
    const byte_lanes two = (byte_lanes)(*classes >= 60), four = (byte_lanes)(*classes >= 124);
    return -(one + 2 * two + 4 * four);
}

/* All bytes of numbers of some classes, BLOCK_TAKEN_AT_ONCE at most. @param any  set to what has
 * all bits that these have */
ALWAYS size_t sizes_of_classes(const uint8_t *classes, size_t count, uint64_t *any)
{
    _Static_assert(BLOCK_TAKEN_AT_ONCE / sizeof(byte_lanes) * 8 <= UINT8_MAX, "sums have a byte");
    byte_lanes some, all = {0}, more = {0};
    size_t i = 0, bytes = count;
    for (; i + sizeof(some) <= count; i += sizeof(some)) {
        memcpy(&some, classes + i, sizeof(some));
        all |= some;
        more += more_of(&some);
    }
    some = (byte_lanes){0};
    memcpy(&some, classes + i, count - i);
    all |= some;
    more += more_of(&some);
    for (unsigned shift = 0; shift < 64; shift += 8) {
        const lanes sums = (lanes)more >> shift & UINT8_MAX;
        bytes += sum_of(&sums);
    }
    const lanes wide = (lanes)all;
    uint64_t most = or_of(&wide);
    for (unsigned shift = 32; shift >= 8; shift /= 2)
        most |= most >> shift;
    const unsigned bits = noise_of(most & UINT8_MAX) + 3;
    *any = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
    return bytes;
}

/* ---- of a column ---------------------------------------------------------- */

/* What is known of values. */
struct tally {
    lanes any; /* by lane: no value has a bit that is not set here */
#ifdef BLOCK_FILL_AVX512
    lanes bytes; /* of those that were noted, as MessagePack, where no integers are negative */
#endif
};

ALWAYS void note(struct tally *t, const lanes *some)
{
    t->any |= *some;
#ifdef BLOCK_FILL_AVX512
    t->bytes += sizes_in(some);
#endif
}

ALWAYS void note_one(struct tally *t, uint64_t value)
{
    t->any[0] |= value;
#ifdef BLOCK_FILL_AVX512
    t->bytes[0] += size_of(value, 0);
#endif
}

/* All bytes of values that were noted. @param any  no value has a bit that is not set in it */
static size_t sizes_of(const uint64_t *values, size_t count, const struct tally *t, uint64_t any,
                       int negative)
{
    if (any < 128)
        return count;
    if (negative)
        return sizes_of_any(values, count, negative);
#ifdef BLOCK_FILL_AVX512
    return sum_of(&t->bytes);
#else
    (void)t;
    if (any > INT32_MAX)
        return sizes_of_any(values, count, negative);
    return any <= UINT8_MAX ? sizes_of_halves(values, count, 1)
           : any <= UINT16_MAX ? sizes_of_halves(values, count, 2)
                               : sizes_of_halves(values, count, 3);
#endif
}

#endif

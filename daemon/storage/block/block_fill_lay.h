/* Rows laid of columns, for block_fill.c: each line of the memory that they stand in is written
 * once, as far as can be. */
#ifndef HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_FILL_LAY_H
#define HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_FILL_LAY_H

#include "daemon/storage/block/block_fill_numbers.h"

#ifdef BLOCK_FILL_AVX512
/* Eight rows of eight columns. @param column  where each begins; the same one more than once where
 * there are fewer */
ALWAYS void lay_eight(const uint64_t *const column[8], size_t i, uint64_t *to, size_t stride)
{
    __m512i two[8], four[8];
    for (size_t w = 0; w < 8; w += 2) {
        const __m512i even = _mm512_loadu_si512(column[w] + i);
        const __m512i odd = _mm512_loadu_si512(column[w + 1] + i);
        two[w] = _mm512_unpacklo_epi64(even, odd); /* of rows 0, 2, 4 and 6 */
        two[w + 1] = _mm512_unpackhi_epi64(even, odd);
    }
    for (size_t w = 0; w < 8; w += 4) {
        for (size_t odd = 0; odd < 2; odd++) {
            four[w + odd] = _mm512_shuffle_i64x2(two[w + odd], two[w + 2 + odd], 0x44);
            four[w + 2 + odd] = _mm512_shuffle_i64x2(two[w + odd], two[w + 2 + odd], 0xee);
        }
    }
    for (size_t row = 0; row < 8; row++) {
        const size_t from = (row & 1) + (row & 4) / 2;
        const __m512i all = (row & 2) == 0 ? _mm512_shuffle_i64x2(four[from], four[4 + from], 0x88)
                                           : _mm512_shuffle_i64x2(four[from], four[4 + from], 0xdd);
        _mm512_storeu_si512(to + row * stride, all);
    }
}
#endif

#ifdef BLOCK_FILL_BMI2
/* Four rows of four columns. */
ALWAYS void lay_four(const uint64_t *from, uint64_t *to, size_t stride)
{
    for (int i = 0; i < 2; i++, from += 2, to += 2 * stride) { /* two rows */
        const __m128i *column[4];
        for (size_t w = 0; w < 4; w++)
            column[w] = (const __m128i *)(const void *)(from + w * BLOCK_PITCH);
        const __m256i even = _mm256_inserti128_si256(
            _mm256_castsi128_si256(_mm_loadu_si128(column[0])), _mm_loadu_si128(column[2]), 1);
        const __m256i odd = _mm256_inserti128_si256(
            _mm256_castsi128_si256(_mm_loadu_si128(column[1])), _mm_loadu_si128(column[3]), 1);
        _mm256_storeu_si256((__m256i *)(void *)to, _mm256_unpacklo_epi64(even, odd));
        _mm256_storeu_si256((__m256i *)(void *)(to + stride), _mm256_unpackhi_epi64(even, odd));
    }
}

/* @param some  rows: 4, 8 or 16 */
ALWAYS void lay_quad(const uint64_t *from, uint64_t *to, size_t stride, size_t some)
{
#pragma GCC unroll 4
    for (size_t i = 0; i < some; i += 4)
        lay_four(from + i, to + i * stride, stride);
}

/* The last columns, fewer than four, of four or more: some once more. */
ALWAYS void lay_rest(const uint64_t *columns, size_t width, size_t rest, uint64_t *rows,
                     size_t some)
{
    if (rest == 1) {
#pragma GCC unroll 16
        for (size_t i = 0; i < some; i++)
            rows[(i + 1) * width - 1] = columns[(width - 1) * BLOCK_PITCH + i];
    } else if (rest > 1) {
        lay_quad(columns + (width - 4) * BLOCK_PITCH, rows + width - 4, width, some);
    }
}

/* Of four columns or more. */
ALWAYS void lay_rows(const uint64_t *columns, size_t width, uint64_t *rows, size_t some)
{
    size_t w = 0;
    for (; w + 4 <= width; w += 4)
        lay_quad(columns + w * BLOCK_PITCH, rows + w, width, some);
    lay_rest(columns, width, width - w, rows, some);
}
#endif

#ifdef BLOCK_FILL_AVX512
/* Where eight columns begin. @param count  of these: the last one stands for what is missing */
ALWAYS void eight_of(const uint64_t *columns, size_t count, const uint64_t *out[8])
{
    for (size_t w = 0; w < 8; w++)
        out[w] = columns + (w < count ? w : count - 1) * BLOCK_PITCH;
}

/* Of six or seven columns. What is too much in a row is written over by the next one, which there
 * must be.
 * @return how many were laid */
ALWAYS size_t lay_narrow(const uint64_t *columns, size_t width, size_t count, uint64_t *rows)
{
    const uint64_t *column[8];
    size_t i = 0;
    eight_of(columns, width, column);
    for (; i + 8 < count; i += 8)
        lay_eight(column, i, rows + i * width, width);
    return i;
}

/* Of eight columns or more. @return how many were laid */
ALWAYS size_t lay_wide(const uint64_t *columns, size_t width, size_t count, uint64_t *rows)
{
    const uint64_t *column[8];
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        size_t w = 0;
        for (; w + 8 <= width; w += 8) {
            eight_of(columns + w * BLOCK_PITCH, 8, column);
            lay_eight(column, i, rows + i * width + w, width);
        }
        if (width - w >= 4) {
            lay_quad(columns + w * BLOCK_PITCH + i, rows + i * width + w, width, 8);
            w += 4;
        }
        lay_rest(columns + i, width, width - w, rows + i * width, 8);
    }
    return i;
}
#endif

ALWAYS void lay(const uint64_t *columns, size_t width, size_t count, uint64_t *rows)
{
    size_t i = 0;
#ifdef BLOCK_FILL_AVX512
    if (width >= 6)
        i = width < 8 ? lay_narrow(columns, width, count, rows)
                      : lay_wide(columns, width, count, rows);
#endif
#ifdef BLOCK_FILL_BMI2
    for (; width >= 4 && i + 16 <= count; i += 16)
        lay_rows(columns + i, width, rows + i * width, 16);
    for (; width >= 4 && i + 4 <= count; i += 4)
        lay_rows(columns + i, width, rows + i * width, 4);
#endif
    for (rows += i * width; i < count; i++) {
        for (size_t w = 0; w < width; w++)
            *rows++ = columns[w * BLOCK_PITCH + i];
    }
}

#endif

/* How the loops of block_fill.c take numbers from the bytes and bits of a column: for any
 * processor, with BLOCK_FILL_BMI2, or with BLOCK_FILL_AVX512 (Intel 64 and IA-32 Architectures
 * Software Developer's Manual, volume 2). */
#ifndef HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_FILL_NUMBERS_H
#define HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_FILL_NUMBERS_H

#include "daemon/storage/block/block_reader.h"

#ifdef BLOCK_FILL_BMI2
#include <immintrin.h>
#define SEVEN_BITS UINT64_C(0x7f7f7f7f7f7f7f7f)
#endif

#define ALWAYS static inline __attribute__((always_inline))

/* ---- seven bits a byte --------------------------------------------------- */

/* The next number of seven bits a byte. What lies behind the end may be read (BLOCK_SLACK), and is
 * no number.
 * @return behind the number, above the end where that is cut off; NULL: it is damaged */
ALWAYS const uint8_t *take(const uint8_t *at, const uint8_t *end, uint64_t *out)
{
    uint64_t number, rare;
    memcpy(&number, at, sizeof(number));
    number = le64toh(number);
#ifdef BLOCK_FILL_BMI2
    uint64_t ends = ~number & UINT64_C(0x8080808080808080);
    if (__builtin_expect(ends != 0, 1)) { /* up to eight bytes */
        *out = _pext_u64(number, _blsmsk_u64(ends) & SEVEN_BITS);
        return at + ((unsigned)__builtin_ctzll(ends) >> 3) + 1;
    }
#else
    uint32_t low = (uint32_t)number, ends = ~low & 0x80808080;
    if (__builtin_expect(ends != 0, 1)) { /* up to four bytes */
        low &= (ends ^ (ends - 1)) & 0x7f7f7f7f;
        low -= (low & 0x7f007f00) >> 1;
        *out = low - (low >> 16) * (0x10000 - 0x4000);
        return at + ((unsigned)__builtin_ctz(ends) >> 3) + 1;
    }
#endif
    if (!block_take_number(&at, end, &rare))
        return NULL;
    *out = rare;
    return at;
}

#define NO_NUMBERS 3u /* bytes of each, of numbers that are too few, or damaged */

#ifdef BLOCK_FILL_BMI2
/* Numbers of four bytes each; more of a vector are written where it is easier. */
typedef uint32_t narrow_room[BLOCK_TAKEN_AT_ONCE + 64];

/* Of any number of bytes. @return behind them, above the end where they are cut off; NULL: one is
 * damaged, or there are too few */
static const uint8_t *take_wide(const uint8_t *at, const uint8_t *end, size_t count, uint64_t *out)
{
    for (; count > 0 && at != NULL && at < end; count--)
        at = take(at, end, out++);
    return count == 0 ? at : NULL;
}
#endif

#ifdef BLOCK_FILL_AVX512

/* Seven bits of a byte, and of the next one seven more: 32 of them. */
ALWAYS __m512i join_pairs(__m512i low, __m512i high, int half)
{
    const __m512i seven = _mm512_set1_epi8(127);
    low = _mm512_and_si512(low, seven);
    high = _mm512_and_si512(high, seven);
    const __m256i l = half ? _mm512_extracti64x4_epi64(low, 1) : _mm512_castsi512_si256(low);
    const __m256i h = half ? _mm512_extracti64x4_epi64(high, 1) : _mm512_castsi512_si256(high);
    return _mm512_or_si512(_mm512_cvtepu8_epi16(l), _mm512_slli_epi16(_mm512_cvtepu8_epi16(h), 7));
}

/* 32 of them, below 2^14. */
ALWAYS void put_pairs(__m512i pairs, uint32_t *out)
{
    _mm512_storeu_si512(out, _mm512_cvtepu16_epi32(_mm512_castsi512_si256(pairs)));
    _mm512_storeu_si512(out + 16, _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(pairs, 1)));
}

/* 14 bits more of each. */
ALWAYS void put_above(__m512i pairs, uint32_t *out)
{
    const __m512i low = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(pairs));
    const __m512i high = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(pairs, 1));
    _mm512_storeu_si512(out, _mm512_or_si512(_mm512_loadu_si512(out), _mm512_slli_epi32(low, 14)));
    _mm512_storeu_si512(out + 16,
                        _mm512_or_si512(_mm512_loadu_si512(out + 16), _mm512_slli_epi32(high, 14)));
}

/* The numbers in the next 64 bytes, which all have up to four, but for one that goes on behind
 * these: of each its first byte, its second one, and so on, closed up by where numbers begin.
 * @param more  by byte: the number goes on @param out  room for 64, or for 32 when there are no
 * more */
ALWAYS void take_line(const uint8_t *at, uint64_t more, size_t count, uint32_t *out)
{
    const __mmask64 begins = ~(more << 1);
    const __m512i first = _mm512_maskz_compress_epi8(begins, _mm512_loadu_si512(at));
    const __mmask64 two = _mm512_movepi8_mask(first);
    const __m512i second =
        _mm512_maskz_mov_epi8(two, _mm512_maskz_compress_epi8(begins, _mm512_loadu_si512(at + 1)));
    put_pairs(join_pairs(first, second, 0), out);
    if (count > 32)
        put_pairs(join_pairs(first, second, 1), out + 32);
    const __mmask64 three = _mm512_movepi8_mask(second);
    if (three == 0)
        return;
    const __m512i third = _mm512_maskz_mov_epi8(
        three, _mm512_maskz_compress_epi8(begins, _mm512_loadu_si512(at + 2)));
    const __mmask64 four = _mm512_movepi8_mask(third);
    const __m512i fourth =
        _mm512_maskz_mov_epi8(four, _mm512_maskz_compress_epi8(begins, _mm512_loadu_si512(at + 3)));
    put_above(join_pairs(third, fourth, 0), out);
    if (count > 32)
        put_above(join_pairs(third, fourth, 1), out + 32);
}

/* Numbers of seven bits a byte.
 * @param at  moved behind them, above the end where they are cut off
 * @param wide  where they are put when one has more than four bytes, else in the room
 * @return bytes of each there, or NO_NUMBERS */
static unsigned take_long(const uint8_t **at, const uint8_t *end, size_t count, uint64_t *wide,
                          narrow_room *room)
{
    const uint8_t *next = *at;
    uint32_t *out = *room;
    size_t left = count;
    while (left > 0 && next < end) {
        const uint64_t more = _mm512_movepi8_mask(_mm512_loadu_si512(next)), ends = ~more;
        size_t some = (size_t)__builtin_popcountll(ends), length = 64 - _lzcnt_u64(ends);
        if ((more & more >> 1 & more >> 2 & more >> 3) != 0) { /* a longer one is among them */
            *at = take_wide(*at, end, count, wide);
            return *at == NULL ? NO_NUMBERS : 8;
        }
        if (some > left) {
            some = left;
            length = (size_t)_tzcnt_u64(_pdep_u64(UINT64_C(1) << (some - 1), ends)) + 1;
        }
        take_line(next, more, some, out);
        next += length;
        left -= some;
        out += some;
    }
    *at = next;
    return left == 0 ? 4 : NO_NUMBERS;
}

#elif defined(BLOCK_FILL_BMI2)

/* Numbers of a byte each, eight at a time. @param out  room for up to seven more */
ALWAYS void take_bytes(const uint8_t *at, size_t count, uint32_t *out)
{
    for (size_t i = 0; i < count; i += 8) {
        const __m128i bytes = _mm_loadl_epi64((const __m128i *)(const void *)(at + i));
        _mm256_storeu_si256((__m256i *)(void *)(out + i), _mm256_cvtepu8_epi32(bytes));
    }
}

/* Four of at most two bytes each. @return behind them */
ALWAYS const uint8_t *take_four(const uint8_t *at, uint32_t *out)
{
    uint64_t eight;
    memcpy(&eight, at, sizeof(eight));
    /* Where one begins, and of each that does, whether it has two bytes: these get as many of the
     * four lanes. */
    const uint64_t more = eight & UINT64_C(0x8080808080808080);
    const uint64_t begins = ~(more << 8) & UINT64_C(0x8080808080808080);
    const uint64_t two = _pext_u64(more, begins) & 0xf;
    const uint64_t lanes = _pdep_u64(two, UINT64_C(0x0100010001000100)) * 0xff;
    uint64_t four = _pdep_u64(eight, lanes | UINT64_C(0x00ff00ff00ff00ff));
    four &= SEVEN_BITS;
    four -= (four & UINT64_C(0x7f007f007f007f00)) >> 1;
    const __m128i wide = _mm_cvtepu16_epi32(_mm_cvtsi64_si128((long long)four));
    _mm_storeu_si128((__m128i *)(void *)out, wide);
    return at + 4 + __builtin_popcountll(two);
}

/* One of up to four bytes. @param begin  where it does; moved behind it @param ends  bits of the
 * bytes where numbers end, from its own on; then from the next one's */
ALWAYS uint32_t take_end(const uint8_t *at, uint32_t *begin, uint32_t *ends)
{
    static const uint32_t masks[4] = {0x7f, 0x7f7f, 0x7f7f7f, 0x7f7f7f7f};
    const uint32_t last = _tzcnt_u32(*ends), more = last - *begin;
    uint32_t bytes;
    memcpy(&bytes, at + *begin, sizeof(bytes));
    *ends = _blsr_u32(*ends);
    *begin = last + 1;
    return _pext_u32(bytes, masks[more]);
}

/* Numbers of up to four bytes each. @param ends  as above @return behind them */
ALWAYS const uint8_t *take_ends(const uint8_t *at, uint32_t ends, size_t count, uint32_t *out)
{
    uint32_t begin = 0;
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        for (size_t j = i; j < i + 4; j++)
            out[j] = take_end(at, &begin, &ends);
    }
    for (; i < count; i++)
        out[i] = take_end(at, &begin, &ends);
    return at + begin;
}

/* Numbers of seven bits a byte.
 * @param at  moved behind them, above the end where they are cut off
 * @param wide  where they are put when one has more than four bytes, else in the room
 * @return bytes of each there, or NO_NUMBERS */
static unsigned take_long(const uint8_t **at, const uint8_t *end, size_t count, uint64_t *wide,
                          narrow_room *room)
{
    const uint8_t *next = *at;
    uint32_t *out = *room;
    size_t left = count, some;
    for (; left > 0 && next < end; left -= some, out += some) {
        const __m256i line = _mm256_loadu_si256((const __m256i *)(const void *)next);
        const uint32_t more = (uint32_t)_mm256_movemask_epi8(line), three = more & more << 1;
        if (more == 0) {
            some = left < 32 ? left : 32;
            take_bytes(next, some, out);
            next += some;
        } else if (three == 0 && left >= 16) {
            some = 16;
            for (unsigned i = 0; i < 16; i += 4)
                next = take_four(next, out + i);
        } else if ((three & three << 2) == 0) {
            some = (size_t)__builtin_popcount(~more);
            some = left < some ? left : some;
            next = take_ends(next, ~more, some, out);
        } else { /* a longer one is among them */
            *at = take_wide(*at, end, count, wide);
            return *at == NULL ? NO_NUMBERS : 8;
        }
    }
    *at = next;
    return left == 0 ? 4 : NO_NUMBERS;
}

#else

typedef uint32_t narrow_room[1]; /* none stand there */

/* The next 8 or 4 of many. @return behind them, NULL: one is damaged */
ALWAYS const uint8_t *take_some(const uint8_t *at, const uint8_t *end, uint64_t *out,
                                unsigned *count)
{
    uint64_t eight;
    memcpy(&eight, at, sizeof(eight));
    eight = le64toh(eight);
    const uint64_t more = eight & UINT64_C(0x8080808080808080);
    *count = 8;
    if (more == 0) { /* a byte each */
#pragma GCC unroll 8
        for (unsigned i = 0; i < 8; i++)
            out[i] = at[i];
        return at + 8;
    }
    *count = 4;
    if (more == UINT64_C(0x0080008000800080)) { /* two bytes each */
        eight ^= more;
        eight -= (eight & UINT64_C(0x7f007f007f007f00)) >> 1;
        for (unsigned i = 0; i < 4; i++, eight >>= 16)
            out[i] = eight & 0xffff;
        return at + 8;
    }
    for (unsigned i = 0; i < 4 && at != NULL; i++)
        at = take(at, end, &out[i]);
    return at;
}

/* Numbers of seven bits a byte.
 * @param at  moved behind them, above the end where they are cut off
 * @return bytes of each, or NO_NUMBERS */
static unsigned take_long(const uint8_t **at, const uint8_t *end, size_t count, uint64_t *wide,
                          narrow_room *room)
{
    const uint8_t *next = *at;
    unsigned some;
    (void)room;
    for (; count >= 8 && next != NULL && next < end; count -= some, wide += some)
        next = take_some(next, end, wide, &some);
    for (; count > 0 && next != NULL && next < end; count--)
        next = take(next, end, wide++);
    *at = next;
    return next != NULL && count == 0 ? 8 : NO_NUMBERS;
}

#endif

/* ---- classes and bits ---------------------------------------------------- */

/* Of a class: its noise bits, without branches. */
ALWAYS unsigned noise_of(unsigned number_class)
{
    return (number_class < 4 ? 4 : number_class) / 4 - 1;
}

#ifdef BLOCK_FILL_AVX512
#define SPLIT_LANES 8u

/* Eight. @param counts  noise bits, a byte each @param ends  where they end, likewise */
ALWAYS void take_split_lanes(const uint8_t *classes, const uint8_t *bits, uint64_t at,
                             uint64_t counts, uint64_t ends, uint64_t *out)
{
    const uint64_t begins = (ends << 8) + at % 8 * UINT64_C(0x0101010101010101);
    const __m512i begin = _mm512_cvtepu8_epi64(_mm_cvtsi64_si128((long long)begins));
    /* Of each the eight bytes from that on in which it begins. */
    const __m512i first = _mm512_shuffle_epi8(_mm512_srli_epi64(begin, 3),
                                              _mm512_set4_epi32(0x08080808, 0x08080808, 0, 0));
    const __m512i bytes = _mm512_add_epi8(first, _mm512_set1_epi64(INT64_C(0x0706050403020100)));
    const __m512i words = _mm512_permutexvar_epi8(bytes, _mm512_loadu_si512(bits + at / 8));
    const __m512i low = _mm512_srlv_epi64(words, _mm512_and_si512(begin, _mm512_set1_epi64(7)));
    const __m512i count = _mm512_cvtepu8_epi64(_mm_cvtsi64_si128((long long)counts));
    const __m512i number_class =
        _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)(const void *)classes));
    const __m512i top = _mm512_sub_epi64(number_class, _mm512_slli_epi64(count, 2));
    const __m512i above = _mm512_sllv_epi64(_mm512_set1_epi64(-1), count);
    const __m512i noise = _mm512_andnot_si512(above, low);
    _mm512_storeu_si512(out, _mm512_or_si512(_mm512_sllv_epi64(top, count), noise));
}

/* Can these be taken at once: do they end within 255 bits from the byte on in which the first one
 * begins? */
ALWAYS int fit_lanes(uint64_t counts)
{
    return (counts & UINT64_C(0xe0e0e0e0e0e0e0e0)) == 0; /* none has more than 31 */
}
#elif defined(BLOCK_FILL_BMI2)
#define SPLIT_LANES 4u

/* Four, two and two of sixteen bytes. @param counts  noise bits, a byte each @param ends  where
 * they end, likewise */
ALWAYS void take_split_lanes(const uint8_t *classes, const uint8_t *bits, uint64_t at,
                             uint64_t counts, uint64_t ends, uint64_t *out)
{
    const uint64_t half = at + (ends >> 8 & 0xff);
    int four;
    memcpy(&four, classes, sizeof(four));
    const __m128i low_bits = _mm_loadu_si128((const __m128i *)(const void *)(bits + at / 8));
    const __m128i high_bits = _mm_loadu_si128((const __m128i *)(const void *)(bits + half / 8));
    const __m256i all = _mm256_inserti128_si256(_mm256_castsi128_si256(low_bits), high_bits, 1);
    const uint64_t begins = (counts << 8 & 0xff00ff00) + at % 8 * 0x0101 + half % 8 * 0x01010000;
    const __m256i begin = _mm256_cvtepu8_epi64(_mm_cvtsi64_si128((long long)begins));
    /* Of each the eight bytes from that on in which it begins. */
    const __m256i same =
        _mm256_set_epi32(0x08080808, 0x08080808, 0, 0, 0x08080808, 0x08080808, 0, 0);
    const __m256i bytes = _mm256_add_epi8(_mm256_shuffle_epi8(_mm256_srli_epi64(begin, 3), same),
                                          _mm256_set1_epi64x(INT64_C(0x0706050403020100)));
    const __m256i words = _mm256_shuffle_epi8(all, bytes);
    const __m256i low = _mm256_srlv_epi64(words, _mm256_and_si256(begin, _mm256_set1_epi64x(7)));
    const __m256i count = _mm256_cvtepu8_epi64(_mm_cvtsi64_si128((long long)counts));
    const __m256i number_class = _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(four));
    const __m256i top = _mm256_sub_epi64(number_class, _mm256_slli_epi64(count, 2));
    const __m256i above = _mm256_sllv_epi64(_mm256_set1_epi64x(-1), count);
    const __m256i noise = _mm256_andnot_si256(above, low);
    _mm256_storeu_si256((__m256i *)(void *)out,
                        _mm256_or_si256(_mm256_sllv_epi64(top, count), noise));
}

/* Can these be taken at once? None has more than 54 bits: two of them stand in sixteen bytes. */
ALWAYS int fit_lanes(uint64_t counts)
{
    (void)counts;
    return 1;
}
#endif

/* Numbers that stand in classes and bits, as block_take_split() tells one. Behind the bits there
 * may be too few.
 * @return where the next ones are */
static uint64_t take_split(const uint8_t *classes, const uint8_t *bits, uint64_t at, size_t count,
                           uint64_t *out)
{
    uint8_t counts[BLOCK_TAKEN_AT_ONCE];
    size_t i = 0;
    for (size_t j = 0; j < count; j++)
        counts[j] = (uint8_t)noise_of(classes[j]);
#ifdef BLOCK_FILL_BMI2
    for (; i + SPLIT_LANES <= count; i += SPLIT_LANES) {
        uint64_t some = 0;
        memcpy(&some, counts + i, SPLIT_LANES);
        const uint64_t ends = some * UINT64_C(0x0101010101010101);
        if (fit_lanes(some)) {
            take_split_lanes(classes + i, bits, at, some, ends, out + i);
            at += ends >> 8 * (SPLIT_LANES - 1) & 0xff;
            continue;
        }
        for (size_t j = 0; j < SPLIT_LANES; j++)
            out[i + j] = block_take_split(classes[i + j], bits, &at);
    }
#endif
    for (; i < count; i++) {
        uint64_t word;
        memcpy(&word, bits + at / 8, sizeof(word));
        word = le64toh(word) >> at % 8 & ((UINT64_C(1) << counts[i]) - 1);
        out[i] = (uint64_t)(classes[i] - 4 * counts[i]) << counts[i] | word;
        at += counts[i];
    }
    return at;
}

#endif

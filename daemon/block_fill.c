/* Columns of integers of a block: their values, some rows at a time.
 *
 * In steps: first the numbers of the column, one behind the other; then, in their place, what they stand for; then what
 * all of these take as MessagePack. Each step is a loop that does one thing, so that compilers make most of them
 * vectors. What stands to the left of a value is at the same place of the column before.
 *
 * This is compiled three times: for any processor; with BLOCK_FILL_BMI2 for those of x86-64 that have AVX2, and
 * PEXT and PDEP, which make numbers of their bytes at once; and with BLOCK_FILL_AVX512, too, for those that close up
 * bytes of a vector (AVX512_VBMI2). */
#include "daemon/block_fill.h"

#include "daemon/block_fill_lanes.h"
#include "daemon/block_fill_numbers.h"

#ifdef BLOCK_FILL_AVX512
#define FILL(name) name##_avx512
#elif defined(BLOCK_FILL_BMI2)
#define FILL(name) name##_bmi2
#else
#define FILL(name) name##_any
#endif

/* ---- sizes --------------------------------------------------------------- */

/* Bytes of integers as MessagePack, by the zeros before their highest bit; of those below 0 by those of their
 * complement. */
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

#ifndef BLOCK_FILL_BMI2
size_t block_size_of_integer(uint64_t number, int negative)
{
    return size_of(number, negative);
}
#endif

/* Each by itself: also of 2^63 and more, and below 0. */
static size_t sizes_of_any(const uint64_t *values, size_t count, int negative)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += size_of(values[i], negative);
    return bytes;
}

#ifdef BLOCK_FILL_AVX512
/* Of unsigned ones: looked up by the zeros before their highest bit. */
static size_t sizes_of(const uint64_t *values, size_t count, uint64_t any, int negative)
{
    if (any < 128)
        return count;
    if (negative)
        return sizes_of_any(values, count, negative);
    const __m512i table = _mm512_loadu_si512(sizes[0]), one = _mm512_set1_epi64(1);
    __m512i bytes = _mm512_setzero_si512();
    for (size_t i = 0; i < count; i += LANES) {
        const __mmask8 there = (__mmask8)(count - i < LANES ? (1u << (count - i)) - 1 : 0xff);
        const __m512i some = _mm512_maskz_loadu_epi64(there, values + i);
        const __m512i zeros = _mm512_lzcnt_epi64(_mm512_or_si512(some, one));
        const __m512i size =
            _mm512_maskz_permutexvar_epi8(UINT64_C(0x0101010101010101), zeros, table);
        bytes = _mm512_mask_add_epi64(bytes, there, bytes, size);
    }
    return (size_t)_mm512_reduce_add_epi64(bytes);
}
#else
#ifdef BLOCK_FILL_BMI2
/* Below 2^31, eight at a time. @param steps  how many of the least that take more bytes they may reach */
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

/* @param any  no value has a bit that is not set in it */
static size_t sizes_of(const uint64_t *values, size_t count, uint64_t any, int negative)
{
    if (any < 128)
        return count;
    if (!negative && any <= INT32_MAX)
        return any <= UINT8_MAX ? sizes_of_halves(values, count, 1)
               : any <= UINT16_MAX ? sizes_of_halves(values, count, 2)
                                   : sizes_of_halves(values, count, 3);
    return sizes_of_any(values, count, negative);
}
#endif

/* ---- numbers -------------------------------------------------------------- */

/* How the numbers of a column are read. */
enum numbers { LONG, SHORT, SPLIT, SAME };

static inline enum numbers numbers_of(const struct read_column *c)
{
    return c->shape == BLOCK_SPLIT      ? SPLIT
           : c->shape == BLOCK_ALL_SAME ? SAME
           : c->is_short                ? SHORT
                                        : LONG;
}

/* Numbers of a byte each. */
ALWAYS void widen(const uint8_t *at, size_t count, uint64_t *out)
{
    size_t i = 0;
#if LANES > 2
    for (; i + LANES <= count; i += LANES) {
        byte_lanes some;
        memcpy(&some, at + i, sizeof(some));
        const lanes wide = __builtin_convertvector(some, lanes);
        store(out + i, &wide);
    }
#endif
    for (; i < count; i++)
        out[i] = at[i];
}

static void FILL(repeat)(uint64_t value, size_t count, uint64_t *out)
{
    size_t i = 0;
    const lanes some = value - (lanes){0};
    for (; i + LANES <= count; i += LANES)
        store(out + i, &some);
    for (; i < count; i++)
        out[i] = value;
}

/* @param out  room for eight more @return 0 when there are too few, or damaged ones */
static int take_numbers(struct read_column *c, size_t count, uint64_t *out)
{
    const uint8_t *at = c->at;
    uint64_t bit = c->bit;
    switch (numbers_of(c)) {
    case SHORT:
        widen(at, count, out);
        at += count;
        break;
    case SPLIT:
        bit = take_split(at, c->bits, bit, count, out);
        at += count;
        break;
    case SAME:
        FILL(repeat)(c->same, count, out);
        break;
    default:
        at = take_long(at, c->end, count, out);
        break;
    }
    if (at == NULL || at > c->end || block_split_ended(c, bit))
        return 0;
    c->at = at;
    c->bit = bit;
    return 1;
}

/* ---- values --------------------------------------------------------------- */

/* The value before is added to each. @return they, or-ed */
static uint64_t add_before(struct read_column *c, uint64_t *values, size_t count)
{
    uint64_t last = c->before;
    size_t i = 0;
    lanes before = last - (lanes){0}, bits = {0}, some;
    for (; i + LANES <= count; i += LANES) {
        load(&some, values + i);
        unfold(&some);
        sum_up(&some);
        const lanes all = last_of(&some);
        some += before;
        before += all;
        bits |= some;
        store(values + i, &some);
    }
    uint64_t any = or_of(&bits);
    last = before[0];
    for (; i < count; i++) {
        last = values[i] = last + block_unfold(values[i]);
        any |= last;
    }
    c->before = last;
    return any;
}

/* What stands to the left is added to each, and what stands beside is taken away, if anything does.
 * @return they, or-ed */
ALWAYS uint64_t add_left(uint64_t *values, const uint64_t *left, const uint64_t *less, size_t count)
{
    size_t i = 0;
    lanes bits = {0}, some, more;
    for (; i + LANES <= count; i += LANES) {
        load(&some, values + i);
        unfold(&some);
        load(&more, left + i);
        some += more;
        if (less != NULL) {
            load(&more, less + i);
            some -= more;
        }
        bits |= some;
        store(values + i, &some);
    }
    uint64_t any = or_of(&bits);
    for (; i < count; i++)
        any |= values[i] = left[i] - (less != NULL ? less[i] : 0) + block_unfold(values[i]);
    return any;
}

/* @return values, or-ed */
static uint64_t or_all(const uint64_t *values, size_t count)
{
    size_t i = 0;
    lanes bits = {0}, some;
    for (; i + LANES <= count; i += LANES) {
        load(&some, values + i);
        bits |= some;
    }
    uint64_t any = or_of(&bits);
    for (; i < count; i++)
        any |= values[i];
    return any;
}

static void unfold_all(uint64_t *values, size_t count)
{
    size_t i = 0;
    lanes some;
    for (; i + LANES <= count; i += LANES) {
        load(&some, values + i);
        unfold(&some);
        store(values + i, &some);
    }
    for (; i < count; i++)
        values[i] = block_unfold(values[i]);
}

/* What stands in the earlier row with the same key is added to a number. @return 0: there is no such row */
static int add_twins(struct read_column *c, uint64_t *numbers, size_t count)
{
    int32_t row = (int32_t)(c->total - c->left_over);
    for (size_t i = 0; i < count; i++, row++) {
        int32_t twin = (int32_t)c->twins[i];
        if (twin >= row)
            return 0;
        numbers[i] = block_unfold(numbers[i]) + c->past[twin];
        c->past[row] = numbers[i];
    }
    return 1;
}

/* ---- bytes of messages ---------------------------------------------------- */

/* Bytes that are all told by one number, of classes that have a width each: as block_unsizes(), without branches. */
static void same_of_classes(uint64_t number, const uint64_t *classes, const uint64_t *messages,
                            size_t count, uint64_t *out)
{
    size_t i = 0;
#if LANES > 2
    const uint64_t told = number - 1;
    const lanes ones = ~(lanes){0};
    lanes k, times;
    for (; i + LANES <= count; i += LANES) {
        load(&k, classes + i);
        load(&times, messages + i);
        const lanes exact = (lanes)(k >> 6 == 0), bits = ((k >> 4) - 2) & ~exact;
        const lanes least = (k & exact) | ((16 + (k & 15)) << bits & ~exact);
        const lanes bytes = times * (least + (told & ~(ones << bits))) + ((told & ones) >> bits);
        store(out + i, &bytes);
    }
#endif
    for (; i < count; i++)
        out[i] = block_unsizes(number, messages[i], classes[i]);
}

/* Bytes that are all told by one number. */
static int same_sizes(const struct read_column *c, size_t count, uint64_t *out)
{
    const uint64_t *messages = out - BLOCK_PITCH, *classes = out - 2 * BLOCK_PITCH;
    uint64_t number = c->same;
    if (number == 0) /* and the bytes, another 0: that cannot be meant */
        return 0;
    if (or_all(classes, count) < SIZE_CLASSES - 1) {
        same_of_classes(number, classes, messages, count, out);
        return 1;
    }
    for (size_t i = 0; i < count; i++)
        out[i] = block_unsizes(number, messages[i], classes[i]);
    return 1;
}

static int take_sizes(struct read_column *c, size_t count, uint64_t *out)
{
    const uint64_t *messages = out - BLOCK_PITCH, *classes = out - 2 * BLOCK_PITCH;
    const uint8_t *at = c->at, *end = c->end;
    uint64_t number;
    if (c->shape == BLOCK_ALL_SAME)
        return same_sizes(c, count, out);
    for (size_t i = 0; i < count; i++) {
        if (at >= end || (at = take(at, end, &number)) == NULL)
            return 0;
        if (number > 0)
            number = block_unsizes(number, messages[i], classes[i]);
        else if ((at = take(at, end, &number)) == NULL)
            return 0;
        out[i] = number;
    }
    c->at = at;
    return at <= end;
}

/* ---- columns -------------------------------------------------------------- */

static int take_keys(struct read_column *c, size_t count, uint64_t *out)
{
    const uint8_t *at = c->at, *end = c->end;
    uint64_t row = c->total - c->left_over, before = c->before, number, *past = c->past;
    for (size_t i = 0; i < count; i++, row++) {
        uint64_t twin = UINT64_MAX; /* none; as a row it is BLOCK_NO_TWIN */
        if (at >= end)
            return 0;
        if (*at == 0) {
            memcpy(&out[i], at + 1, 8);
            out[i] = le64toh(out[i]);
            at += 9;
        } else {
            if ((at = take(at, end, &number)) == NULL || at > end || number == 0)
                return 0; /* a 0 told by more than one byte is none of ours */
            twin = before + block_unfold(number - 1);
            if (twin >= row)
                return 0;
            out[i] = past[twin];
            before = twin + 1;
        }
        c->twins[i] = (uint32_t)twin;
        past[row] = out[i];
    }
    c->before = before;
    c->at = at;
    return at <= end;
}

/* Values that were worked out when the block was opened. */
static void take_ready(struct read_column *c, size_t count, uint64_t *out)
{
    size_t row = (size_t)(c->total - c->left_over);
    memmove(out, c->ready + row, count * sizeof(*out));
    if (c->twin_of != NULL)
        memmove(c->twins, c->twin_of + row, count * sizeof(*c->twins));
}

/* Values that numbers stand for, in their place. @return they, or-ed */
static uint64_t tell(struct read_column *c, uint64_t *values, size_t count)
{
    switch (c->coding) {
    case BLOCK_DELTA:
        return add_before(c, values, count);
    case BLOCK_LEFT:
    case BLOCK_LEFT2:
    case BLOCK_LEFT3:
        return add_left(values, values - BLOCK_PITCH * block_reach(c->coding), NULL, count);
    case BLOCK_REST:
        return add_left(values, values - 3 * BLOCK_PITCH, values - BLOCK_PITCH, count);
    default:
        if (c->negative)
            unfold_all(values, count);
        else if (c->is_short)
            return 127;
        return or_all(values, count);
    }
}

/* @param any  set to bits beside which no value has any @return 0 when there are too few, or damaged ones */
static int take_values(struct read_column *c, size_t count, uint64_t *out, uint64_t *any)
{
    int good = 1;
    if (c->ready != NULL) {
        take_ready(c, count, out);
    } else if (c->coding == BLOCK_SIZES) {
        good = take_sizes(c, count, out);
    } else if (c->coding == BLOCK_KEYED) {
        good = take_keys(c, count, out);
    } else if (c->coding == BLOCK_TWIN) {
        good = take_numbers(c, count, out) && add_twins(c, out, count);
    } else if (c->coding < BLOCK_HASHED) {
        good = take_numbers(c, count, out);
        *any = good ? tell(c, out, count) : 0;
        return good;
    } else { /* a coding of whole columns, which was read where it is sound */
        return 0;
    }
    *any = good ? or_all(out, count) : 0;
    return good;
}

static int FILL(fill)(struct read_column *c, size_t count, uint64_t *out,
                      struct block_filled *filled)
{
    if (count > c->left_over || count > BLOCK_TAKEN_AT_ONCE ||
        !take_values(c, count, out, &filled->any))
        return 0;
    filled->bytes = sizes_of(out, count, filled->any, c->negative);
    c->left_over -= count;
    return 1;
}

static int FILL(numbers)(struct read_column *c, size_t count, uint64_t *out)
{
    if (count > c->left_over || count > BLOCK_TAKEN_AT_ONCE || !take_numbers(c, count, out))
        return 0;
    c->left_over -= count;
    return 1;
}

/* ---- rows ----------------------------------------------------------------- */

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
#endif

static void FILL(lay)(const uint64_t *columns, size_t width, size_t count, uint64_t *rows)
{
    size_t i = 0;
#ifdef BLOCK_FILL_BMI2
    for (; width >= 4 && i + 4 <= count; i += 4, rows += 4 * width) {
        size_t w = 0;
        for (; w + 4 <= width; w += 4)
            lay_four(columns + w * BLOCK_PITCH + i, rows + w, width);
        if (w < width) /* some of them once more */
            lay_four(columns + (width - 4) * BLOCK_PITCH + i, rows + width - 4, width);
    }
#endif
    for (; i < count; i++) {
        for (size_t w = 0; w < width; w++)
            *rows++ = columns[w * BLOCK_PITCH + i];
    }
}

/* ---- keys ----------------------------------------------------------------- */

static void FILL(hash)(const uint64_t *ends, size_t count, uint32_t *slots, uint64_t *ranks)
{
    const uint64_t *source = ends + BLOCK_PITCH, *destination = source + BLOCK_PITCH;
    for (size_t i = 0; i < count; i++)
        slots[i] = block_slot(ends[i], source[i], destination[i]);
    for (size_t i = 0; i < count; i++)
        ranks[i] = message_key_ranks(source[i], destination[i]);
}

static void FILL(mix)(uint64_t *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        keys[i] = message_key_mix(keys[i]);
}

const struct block_filler FILL(block_filler) = {FILL(fill), FILL(numbers), FILL(repeat),
                                                FILL(lay),  FILL(hash),    FILL(mix)};

#ifndef BLOCK_FILL_BMI2
#ifdef __x86_64__
#include <cpuid.h>

static int has_bmi2(void)
{
    const unsigned lzcnt = 1u << 5; /* of ECX of leaf 0x80000001 */
    unsigned a, b, c, d;
    __builtin_cpu_init();
    /* The first Zens have PEXT, and take hundreds of cycles for it. */
    return __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") &&
           !__builtin_cpu_is("amdfam17h") && __get_cpuid(0x80000001, &a, &b, &c, &d) &&
           (c & lzcnt) != 0;
}

static int has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512vbmi2");
}

const struct block_filler *block_filler_best(void)
{
    return !has_bmi2()     ? &block_filler_any
           : !has_avx512() ? &block_filler_bmi2
                           : &block_filler_avx512;
}
#else
const struct block_filler *block_filler_best(void)
{
    return &block_filler_any;
}
#endif
#endif

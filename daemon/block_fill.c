/* Columns of integers of a block, into the slots of rows.
 *
 * Some rows at a time, in steps: first the numbers of the column, one behind the other; then what they stand for, put
 * into the slots; then what all of these take as MessagePack. Each step is a loop that does one thing, so that
 * compilers make most of them vectors.
 *
 * This is compiled twice: once for any processor, and with BLOCK_FILL_BMI2 for those of x86-64 that have AVX2, and
 * PEXT and PDEP, which make numbers of their bytes at once (Intel 64 and IA-32 Architectures Software Developer's
 * Manual, volume 2). */
#include "daemon/block_fill.h"

#ifdef BLOCK_FILL_BMI2
#include <immintrin.h>
#define block_fill block_fill_bmi2
#define SEVEN_BITS UINT64_C(0x7f7f7f7f7f7f7f7f)
#define VECTORS 1
#else
#define VECTORS 0 /* of 64-bit integers: what any processor has of them is slower than one by one */
#ifdef __x86_64__
#include <cpuid.h>
#endif
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

/* @param all  the values, or-ed */
static size_t sizes_of(const uint64_t *values, size_t count, uint64_t all, int negative)
{
    size_t bytes = count;
    if (all < 128)
        return bytes;
    if (negative || all > INT64_MAX) {
        bytes = 0;
        for (size_t i = 0; i < count; i++)
            bytes += size_of(values[i], negative);
        return bytes;
    }
    /* Counted apart, and as integers with signs, since that is what vectors can. */
    if (all <= INT32_MAX) {
        uint32_t above[3] = {0};
        for (size_t i = 0; i < count; i++) {
            int32_t value = (int32_t)values[i];
            above[0] += value > INT8_MAX;
            above[1] += value > UINT8_MAX;
            above[2] += value > UINT16_MAX;
        }
        return bytes + above[0] + above[1] + 2 * above[2];
    }
    uint64_t above[4] = {0};
    for (size_t i = 0; i < count; i++) {
        int64_t value = (int64_t)values[i];
        above[0] += value > INT8_MAX;
        above[1] += value > UINT8_MAX;
        above[2] += value > UINT16_MAX;
        above[3] += value > UINT32_MAX;
    }
    return bytes + above[0] + above[1] + 2 * above[2] + 4 * above[3];
}

/* ---- numbers -------------------------------------------------------------- */

#define ALWAYS static inline __attribute__((always_inline))

/* The next number of seven bits a byte. What lies behind the end may be read (BLOCK_SLACK), and is no number.
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

/* Four of at most two bytes each, which eight bytes have in any case. @return behind them, NULL: one is longer */
ALWAYS const uint8_t *take_four(const uint8_t *at, uint64_t eight, uint64_t more, uint64_t *out)
{
#ifdef BLOCK_FILL_BMI2
    if ((more & more << 8) != 0)
        return NULL;
    /* Where one begins, and of each that does, whether it has two bytes: these get as many of the four lanes. */
    const uint64_t begins = ~(more << 8) & UINT64_C(0x8080808080808080);
    const uint64_t two = _pext_u64(more, begins) & 0xf;
    const uint64_t lanes = _pdep_u64(two, UINT64_C(0x0100010001000100)) * 0xff;
    uint64_t four = _pdep_u64(eight, lanes | UINT64_C(0x00ff00ff00ff00ff));
    four &= UINT64_C(0x7f7f7f7f7f7f7f7f);
    four -= (four & UINT64_C(0x7f007f007f007f00)) >> 1;
    const __m256i wide = _mm256_cvtepu16_epi64(_mm_cvtsi64_si128((long long)four));
    _mm256_storeu_si256((__m256i *)(void *)out, wide);
    return at + 4 + __builtin_popcountll(two);
#else
    if (more != UINT64_C(0x0080008000800080))
        return NULL;
    eight ^= more;
    eight -= (eight & UINT64_C(0x7f007f007f007f00)) >> 1;
    for (unsigned i = 0; i < 4; i++, eight >>= 16)
        out[i] = eight & 0xffff;
    return at + 8;
#endif
}

/* The next 8, 4 or 3 of many. @return behind them, NULL: one is damaged */
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
    const uint8_t *behind = take_four(at, eight, more, out);
    if (behind != NULL)
        return behind;
#ifdef BLOCK_FILL_BMI2
    const uint64_t ends = more ^ UINT64_C(0x8080808080808080);
    const uint64_t third = _blsr_u64(_blsr_u64(ends));
    if (third != 0) { /* three numbers in eight bytes: where the next ones begin is known sooner */
        const uint64_t first = _blsmsk_u64(ends), second = _blsmsk_u64(_blsr_u64(ends));
        *count = 3;
        out[0] = _pext_u64(eight, first & SEVEN_BITS);
        out[1] = _pext_u64(eight, (second ^ first) & SEVEN_BITS);
        out[2] = _pext_u64(eight, (_blsmsk_u64(third) ^ second) & SEVEN_BITS);
        return at + (_tzcnt_u64(third) >> 3) + 1;
    }
#endif
    for (unsigned i = 0; i < 4 && at != NULL; i++)
        at = take(at, end, &out[i]);
    return at;
}

/* Numbers of seven bits a byte. @return behind them, above the end where they are cut off; NULL: one is damaged */
static const uint8_t *take_long(const uint8_t *at, const uint8_t *end, size_t count, uint64_t *out)
{
    unsigned some;
    for (; count >= 8 && at != NULL && at < end; count -= some, out += some)
        at = take_some(at, end, out, &some);
    for (; count > 0 && at != NULL && at < end; count--)
        at = take(at, end, out++);
    return count == 0 ? at : NULL;
}

/* Numbers that stand in classes and bits, as block_take_split() tells one. Behind the bits there may be too few.
 * @return where the next ones are */
static uint64_t take_split(const uint8_t *classes, const uint8_t *bits, uint64_t at, size_t count,
                           uint64_t *out)
{
    uint8_t counts[BLOCK_TAKEN_AT_ONCE];
    for (size_t i = 0; i < count; i++) {
        uint8_t top = classes[i] < 4 ? 4 : classes[i];
        counts[i] = (uint8_t)(top / 4 - 1);
    }
    for (size_t i = 0; i < count; i++)
        out[i] = (uint64_t)(classes[i] - 4 * counts[i]) << counts[i];
    for (size_t i = 0; i < count; i++) {
        uint64_t word;
        memcpy(&word, bits + at / 8, sizeof(word));
        out[i] |= le64toh(word) >> at % 8 & ((UINT64_C(1) << counts[i]) - 1);
        at += counts[i];
    }
    return at;
}

/* How the numbers of a column are read. */
enum numbers { LONG, SHORT, SPLIT, SAME };

static inline enum numbers numbers_of(const struct read_column *c)
{
    return c->shape == BLOCK_SPLIT      ? SPLIT
           : c->shape == BLOCK_ALL_SAME ? SAME
           : c->is_short                ? SHORT
                                        : LONG;
}

/* @param out  room for as many as are taken at once @return 0 when there are too few, or damaged ones */
static int take_numbers(struct read_column *c, size_t count, uint64_t *out)
{
    const uint8_t *at = c->at;
    uint64_t bit = c->bit;
    switch (numbers_of(c)) {
    case SHORT:
        for (size_t i = 0; i < count; i++)
            out[i] = at[i];
        at += count;
        break;
    case SPLIT:
        bit = take_split(at, c->bits, bit, count, out);
        at += count;
        break;
    case SAME:
        for (size_t i = 0; i < count; i++)
            out[i] = c->same;
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

/* The value that a number stands for, unfolded. @param slot  its own */
ALWAYS uint64_t told(uint64_t number, const uint64_t *slot, uint64_t before,
                     enum block_coding coding)
{
    switch (coding) {
    case BLOCK_DELTA:
        return before + number;
    case BLOCK_LEFT:
        return slot[-1] + number;
    case BLOCK_LEFT2:
        return slot[-2] + number;
    case BLOCK_LEFT3:
        return slot[-3] + number;
    case BLOCK_REST:
        return slot[-3] - slot[-1] + number;
    default:
        return number;
    }
}

/* Four values: a vector, or some smaller ones where a processor has none of so many. */
typedef uint64_t four __attribute__((vector_size(32)));

/* @param slot  of the column in the first of four rows */
ALWAYS void load_four(four *out, const uint64_t *slot, size_t stride)
{
    *out = (four){slot[0], slot[stride], slot[2 * stride], slot[3 * stride]};
}

/* Likewise of four. @param before  the last value before, in all places; that of these */
ALWAYS void tell_four(four *numbers, const uint64_t *slot, size_t stride, four *before,
                      enum block_coding coding)
{
    const four none = {0};
    four sums, left;
    switch (coding) {
    case BLOCK_DELTA: /* sums of one, of two, of four */
        sums = *numbers + __builtin_shufflevector(*numbers, none, 4, 0, 1, 2);
        sums += __builtin_shufflevector(sums, none, 4, 4, 0, 1);
        *numbers = sums + *before;
        *before += __builtin_shufflevector(sums, none, 3, 3, 3, 3);
        break;
    case BLOCK_LEFT:
    case BLOCK_LEFT2:
    case BLOCK_LEFT3:
        load_four(&left, slot - block_reach(coding), stride);
        *numbers += left;
        break;
    case BLOCK_REST:
        load_four(&left, slot - 3, stride);
        *numbers += left;
        load_four(&left, slot - 1, stride);
        *numbers -= left;
        break;
    default:
        break;
    }
}

/* What numbers stand for, in their place and in the slots. */
ALWAYS void put(struct read_column *c, struct block_slots *s, uint64_t *numbers,
                enum block_coding coding, int folded)
{
    const size_t stride = s->stride, fours = VECTORS ? s->count / 4 * 4 : 0;
    uint64_t *slot = s->first, last = c->before;
    four some, before = {last, last, last, last}, all = {0};
    size_t bytes = 0;
    for (size_t i = 0; i < fours; i += 4, slot += 4 * stride) {
        memcpy(&some, numbers + i, sizeof(some));
        if (folded)
            some = some >> 1 ^ -(some & 1);
        tell_four(&some, slot, stride, &before, coding);
        all |= some;
        memcpy(numbers + i, &some, sizeof(some));
        for (unsigned j = 0; j < 4; j++)
            slot[j * stride] = some[j];
    }
    uint64_t any = all[0] | all[1] | all[2] | all[3];
    last = before[0];
#pragma GCC unroll 4
    for (size_t i = fours; i < s->count; i++, slot += stride) {
        uint64_t value = told(folded ? block_unfold(numbers[i]) : numbers[i], slot, last, coding);
        last = coding == BLOCK_DELTA ? value : last;
        any |= value;
        bytes += size_of(value, 0);
        *slot = numbers[i] = value;
    }
    c->before = last;
    s->all = any;
    s->bytes = VECTORS || c->negative ? sizes_of(numbers, s->count, any, c->negative) : bytes;
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

/* Bytes that are all told by one number. */
static int same_sizes(const struct read_column *c, const struct block_slots *s, uint64_t *out)
{
    const uint64_t *slot = s->first;
    if (c->same == 0) /* and the bytes, another 0: that cannot be meant */
        return 0;
    for (size_t i = 0; i < s->count; i++, slot += s->stride)
        out[i] = block_unsizes(c->same, slot[-1], slot[-2]);
    return 1;
}

static int take_sizes(struct read_column *c, const struct block_slots *s, uint64_t *out)
{
    const uint8_t *at = c->at, *end = c->end;
    const uint64_t *slot = s->first;
    uint64_t number;
    if (c->shape == BLOCK_ALL_SAME)
        return same_sizes(c, s, out);
    for (size_t i = 0; i < s->count; i++, slot += s->stride) {
        if (at >= end || (at = take(at, end, &number)) == NULL)
            return 0;
        if (number > 0)
            number = block_unsizes(number, slot[-1], slot[-2]);
        else if ((at = take(at, end, &number)) == NULL)
            return 0;
        out[i] = number;
    }
    c->at = at;
    return at <= end;
}

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
    memcpy(out, c->ready + row, count * sizeof(*out));
    if (c->twin_of != NULL)
        memcpy(c->twins, c->twin_of + row, count * sizeof(*c->twins));
}

/* @return 0 when there are too few, or damaged ones */
static int take_values(struct read_column *c, const struct block_slots *s, uint64_t *numbers)
{
    if (c->ready != NULL) {
        take_ready(c, s->count, numbers);
        return 1;
    }
    return c->coding == BLOCK_SIZES   ? take_sizes(c, s, numbers)
           : c->coding == BLOCK_KEYED ? take_keys(c, s->count, numbers)
                                      : take_numbers(c, s->count, numbers);
}

int block_fill(struct read_column *c, struct block_slots *s)
{
    _Alignas(32) uint64_t values[BLOCK_TAKEN_AT_ONCE];
    if (s->count > c->left_over || s->count > BLOCK_TAKEN_AT_ONCE || !take_values(c, s, values))
        return 0;
    switch (c->ready != NULL ? BLOCK_PLAIN : c->coding) {
    case BLOCK_DELTA:
        put(c, s, values, BLOCK_DELTA, 1);
        break;
    case BLOCK_LEFT:
        put(c, s, values, BLOCK_LEFT, 1);
        break;
    case BLOCK_LEFT2:
        put(c, s, values, BLOCK_LEFT2, 1);
        break;
    case BLOCK_LEFT3:
        put(c, s, values, BLOCK_LEFT3, 1);
        break;
    case BLOCK_REST:
        put(c, s, values, BLOCK_REST, 1);
        break;
    case BLOCK_TWIN:
        if (!add_twins(c, values, s->count))
            return 0;
        put(c, s, values, BLOCK_PLAIN, 0);
        break;
    case BLOCK_PLAIN:
    case BLOCK_SIZES:
    case BLOCK_KEYED:
        if (c->coding == BLOCK_PLAIN && c->negative)
            put(c, s, values, BLOCK_PLAIN, 1);
        else
            put(c, s, values, BLOCK_PLAIN, 0);
        break;
    default: /* codings of whole columns, which were read where they are sound */
        return 0;
    }
    c->left_over -= s->count;
    return 1;
}

#ifndef BLOCK_FILL_BMI2
#ifdef __x86_64__
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

block_filler *block_fill_best(void)
{
    return has_bmi2() ? block_fill_bmi2 : block_fill;
}
#else
block_filler *block_fill_best(void)
{
    return block_fill;
}
#endif
#endif

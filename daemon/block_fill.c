/* Columns of integers of a block, into the slots of rows.
 *
 * Each coding has loops of its own, for numbers of one byte, for others, and for those of each shape, from the first
 * to the last of some rows. Values to the left are those that stand in the row already.
 *
 * This is compiled twice: once for any processor, and with BLOCK_FILL_BMI2 for those of x86-64 that have PEXT, which
 * makes a number of its bytes at once (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2). */
#include "daemon/block_fill.h"

#ifdef BLOCK_FILL_BMI2
#include <immintrin.h>
#define block_fill block_fill_bmi2
#define SEVEN_BITS UINT64_C(0x7f7f7f7f7f7f7f7f)
#elif defined(__x86_64__)
#include <cpuid.h>
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

/* Of a column that has values below 0. */
static size_t sizes_below(const struct block_slots *s)
{
    const uint64_t *slot = s->first;
    size_t bytes = 0;
    for (size_t i = 0; i < s->count; i++, slot += s->stride)
        bytes += size_of(*slot, 1);
    return bytes;
}

/* ---- loops ---------------------------------------------------------------- */

#define ALWAYS static inline __attribute__((always_inline))

/* block_unfold() of numbers of one byte. */
#define U1(n) (n), -1 - (n)
#define U4(n) U1(n), U1((n) + 1), U1((n) + 2), U1((n) + 3)
#define U16(n) U4(n), U4((n) + 4), U4((n) + 8), U4((n) + 12)
static const int64_t unfolded[128] = {U16(0), U16(16), U16(32), U16(48)};

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

/* Where values go, kept in registers. */
struct sink {
    uint64_t *slot;
    size_t stride;
    uint64_t before, all;
    size_t bytes;
};

static inline struct sink sink_of(const struct read_column *c, const struct block_slots *s)
{
    return (struct sink){.slot = s->first, .stride = s->stride, .before = c->before};
}

/* @param value  of the next row */
ALWAYS void put(struct sink *k, uint64_t value)
{
    *k->slot = value;
    k->slot += k->stride;
    k->all |= value;
    k->bytes += sizes[0][zeros_before(value)];
}

/* Likewise one below 128. */
ALWAYS void put_small(struct sink *k, uint64_t value)
{
    *k->slot = value;
    k->slot += k->stride;
    k->all |= value;
    k->bytes++;
}

/* The value that a number stands for, unfolded. */
ALWAYS uint64_t told(struct sink *k, uint64_t number, enum block_coding coding)
{
    const uint64_t *slot = k->slot;
    switch (coding) {
    case BLOCK_DELTA:
        return k->before += number;
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

/* @param at  behind the values, NULL: there were too few */
static inline int sunk(struct read_column *c, struct block_slots *s, const struct sink *k,
                       const uint8_t *at)
{
    if (at == NULL || at > c->end)
        return 0;
    c->at = at;
    c->before = k->before;
    s->all = k->all;
    s->bytes = k->bytes;
    return 1;
}

/* A number of one byte. @param folded  it is a difference, or the column has values below 0 */
ALWAYS void put_byte(struct sink *k, uint8_t byte, enum block_coding coding, int folded)
{
    if (coding == BLOCK_PLAIN && !folded)
        put_small(k, byte);
    else
        put(k, told(k, (uint64_t)unfolded[byte], coding));
}

ALWAYS void put_number(struct sink *k, uint64_t number, enum block_coding coding, int folded)
{
    put(k, told(k, folded ? block_unfold(number) : number, coding));
}

ALWAYS int fill_short(struct read_column *c, struct block_slots *s, enum block_coding coding,
                      int folded)
{
    const uint8_t *at = c->at, *end = at + s->count;
    struct sink k = sink_of(c, s);
#pragma GCC unroll 4
    for (; at < end; at++)
        put_byte(&k, *at, coding, folded);
    return sunk(c, s, &k, at);
}

/* The next 8, 4 or 3 of many numbers. @return behind them, NULL: one is damaged */
ALWAYS const uint8_t *put_some(struct sink *k, const uint8_t *at, const uint8_t *end,
                               enum block_coding coding, int folded, unsigned *count)
{
    uint64_t eight, number;
    memcpy(&eight, at, sizeof(eight));
    eight = le64toh(eight);
    uint64_t more = eight & UINT64_C(0x8080808080808080);
    *count = more == 0 ? 8 : 4;
    if (more == 0) { /* a byte each */
#pragma GCC unroll 8
        for (unsigned i = 0; i < 8; i++)
            put_byte(k, at[i], coding, folded);
        return at + 8;
    }
    if (more == UINT64_C(0x0080008000800080)) { /* two bytes each */
        eight ^= more;
        eight -= (eight & UINT64_C(0x7f007f007f007f00)) >> 1;
#pragma GCC unroll 4
        for (unsigned i = 0; i < 4; i++, eight >>= 16)
            put_number(k, eight & 0xffff, coding, folded);
        return at + 8;
    }
#ifdef BLOCK_FILL_BMI2
    const uint64_t ends = more ^ UINT64_C(0x8080808080808080);
    const uint64_t third = _blsr_u64(_blsr_u64(ends));
    if (third != 0) { /* three numbers in eight bytes: where the next ones begin is known sooner */
        const uint64_t first = _blsmsk_u64(ends), second = _blsmsk_u64(_blsr_u64(ends));
        *count = 3;
        put_number(k, _pext_u64(eight, first & SEVEN_BITS), coding, folded);
        put_number(k, _pext_u64(eight, (second ^ first) & SEVEN_BITS), coding, folded);
        put_number(k, _pext_u64(eight, (_blsmsk_u64(third) ^ second) & SEVEN_BITS), coding, folded);
        return at + (_tzcnt_u64(third) >> 3) + 1;
    }
#endif
#pragma GCC unroll 4
    for (unsigned i = 0; i < 4; i++) {
        if ((at = take(at, end, &number)) == NULL)
            return NULL;
        put_number(k, number, coding, folded);
    }
    return at;
}

ALWAYS int fill_long(struct read_column *c, struct block_slots *s, enum block_coding coding,
                     int folded)
{
    const uint8_t *at = c->at, *end = c->end;
    struct sink k = sink_of(c, s);
    size_t left = s->count;
    uint64_t number;
    for (unsigned count = 0; left >= 8 && at != NULL && at < end; left -= count)
        at = put_some(&k, at, end, coding, folded, &count);
    for (; left > 0 && at != NULL && at < end; left--) {
        if ((at = take(at, end, &number)) != NULL)
            put_number(&k, number, coding, folded);
    }
    return left == 0 && sunk(c, s, &k, at);
}

/* Numbers that stand in classes and bits. */
ALWAYS int fill_split(struct read_column *c, struct block_slots *s, enum block_coding coding,
                      int folded)
{
    const uint8_t *at = c->at, *end = at + s->count, *bits = c->bits;
    uint64_t bit = c->bit;
    struct sink k = sink_of(c, s);
#pragma GCC unroll 4
    for (; at < end; at++)
        put_number(&k, block_take_split(*at, bits, &bit), coding, folded);
    c->bit = bit;
    return !block_split_ended(c, bit) && sunk(c, s, &k, at);
}

/* One number for all. */
ALWAYS int fill_same(struct read_column *c, struct block_slots *s, enum block_coding coding,
                     int folded)
{
    struct sink k = sink_of(c, s);
    for (size_t i = 0; i < s->count; i++)
        put_number(&k, c->same, coding, folded);
    return sunk(c, s, &k, c->at);
}

/* How the numbers of a column are read. */
enum numbers { LONG, SHORT, SPLIT, SAME, NUMBERS };

static inline enum numbers numbers_of(const struct read_column *c)
{
    return c->shape == BLOCK_SPLIT      ? SPLIT
           : c->shape == BLOCK_ALL_SAME ? SAME
           : c->is_short                ? SHORT
                                        : LONG;
}

/* What stands in the earlier row with the same key is added to a number. */
ALWAYS int fill_twins(struct read_column *c, struct block_slots *s, enum numbers numbers)
{
    const uint8_t *at = c->at, *end = c->end;
    const uint32_t *twins = c->twins;
    int32_t row = (int32_t)(c->total - c->left_over);
    uint64_t number, *past = c->past, bit = c->bit;
    struct sink k = sink_of(c, s);
    for (size_t i = 0; i < s->count; i++, row++) {
        int32_t twin = (int32_t)twins[i];
        if (numbers == SHORT)
            number = (uint64_t)unfolded[*at++];
        else if (numbers == SPLIT)
            number = block_unfold(block_take_split(*at++, c->bits, &bit));
        else if (numbers == SAME)
            number = block_unfold(c->same);
        else if (at < end && (at = take(at, end, &number)) != NULL)
            number = block_unfold(number);
        else
            return 0;
        if (twin >= row) /* there is no such row */
            return 0;
        number += past[twin];
        past[row] = number;
        put(&k, number);
    }
    c->bit = bit;
    return !block_split_ended(c, bit) && sunk(c, s, &k, at);
}

#define FILL(name, coding, folded)                                                                 \
    static int name##_short(struct read_column *c, struct block_slots *s)                          \
    {                                                                                              \
        return fill_short(c, s, coding, folded);                                                   \
    }                                                                                              \
    static int name##_long(struct read_column *c, struct block_slots *s)                           \
    {                                                                                              \
        return fill_long(c, s, coding, folded);                                                    \
    }                                                                                              \
    static int name##_split(struct read_column *c, struct block_slots *s)                          \
    {                                                                                              \
        return fill_split(c, s, coding, folded);                                                   \
    }                                                                                              \
    static int name##_same(struct read_column *c, struct block_slots *s)                           \
    {                                                                                              \
        return fill_same(c, s, coding, folded);                                                    \
    }

FILL(themselves, BLOCK_PLAIN, 0)
FILL(signed_ones, BLOCK_PLAIN, 1)
FILL(deltas, BLOCK_DELTA, 1)
FILL(lefts, BLOCK_LEFT, 1)
FILL(lefts2, BLOCK_LEFT2, 1)
FILL(lefts3, BLOCK_LEFT3, 1)
FILL(rests, BLOCK_REST, 1)

static int twins_short(struct read_column *c, struct block_slots *s)
{
    return fill_twins(c, s, SHORT);
}

static int twins_long(struct read_column *c, struct block_slots *s)
{
    return fill_twins(c, s, LONG);
}

static int twins_split(struct read_column *c, struct block_slots *s)
{
    return fill_twins(c, s, SPLIT);
}

static int twins_same(struct read_column *c, struct block_slots *s)
{
    return fill_twins(c, s, SAME);
}

ALWAYS void put_size(struct sink *k, uint64_t number)
{
    put(k, block_unsizes(number, k->slot[-1], k->slot[-2]));
}

static int sizes_same(struct read_column *c, struct block_slots *s)
{
    struct sink k = sink_of(c, s);
    if (c->same == 0) /* and the bytes, another 0: that cannot be meant */
        return 0;
    for (size_t i = 0; i < s->count; i++)
        put_size(&k, c->same);
    return sunk(c, s, &k, c->at);
}

static int fill_sizes(struct read_column *c, struct block_slots *s)
{
    const uint8_t *at = c->at, *end = c->end;
    uint64_t number;
    struct sink k = sink_of(c, s);
    for (size_t i = 0; i < s->count; i++) {
        if (at >= end)
            return 0;
        number = *at;
        at++;
        if (number >= 128 && (at = take(at - 1, end, &number)) == NULL)
            return 0;
        if (number == 0) {
            if ((at = take(at, end, &number)) == NULL)
                return 0;
            put(&k, number);
            continue;
        }
        put_size(&k, number);
    }
    return sunk(c, s, &k, at);
}

static int fill_keys(struct read_column *c, struct block_slots *s)
{
    const uint8_t *at = c->at, *end = c->end;
    uint64_t row = c->total - c->left_over, number, key, *past = c->past;
    struct sink k = sink_of(c, s);
    for (size_t i = 0; i < s->count; i++, row++) {
        uint64_t twin = UINT64_MAX; /* none; as a row it is BLOCK_NO_TWIN */
        if (at >= end)
            return 0;
        if (*at == 0) {
            memcpy(&key, at + 1, 8);
            key = le64toh(key);
            at += 9;
        } else {
            if ((at = take(at, end, &number)) == NULL || at > end || number == 0)
                return 0; /* a 0 told by more than one byte is none of ours */
            twin = k.before + block_unfold(number - 1);
            if (twin >= row)
                return 0;
            key = past[twin];
            k.before = twin + 1;
        }
        c->twins[i] = (uint32_t)twin;
        past[row] = key;
        put(&k, key);
    }
    return sunk(c, s, &k, at);
}

/* Values that were worked out when the block was opened. */
static int fill_ready(struct read_column *c, struct block_slots *s)
{
    size_t row = (size_t)(c->total - c->left_over);
    struct sink k = sink_of(c, s);
    for (size_t i = 0; i < s->count; i++)
        put(&k, c->ready[row + i]);
    if (c->twin_of != NULL)
        memcpy(c->twins, c->twin_of + row, s->count * sizeof(*c->twins));
    c->left_over -= s->count;
    sunk(c, s, &k, c->at);
    if (c->negative)
        s->bytes = sizes_below(s);
    return 1;
}

int block_fill(struct read_column *c, struct block_slots *s)
{
#define LOOPS(name)                                                                                \
    {                                                                                              \
        name##_long, name##_short, name##_split, name##_same                                       \
    }
    static block_filler *const fillers[BLOCK_CODINGS][NUMBERS] = {
        [BLOCK_PLAIN] = LOOPS(themselves),
        [BLOCK_DELTA] = LOOPS(deltas),
        [BLOCK_LEFT] = LOOPS(lefts),
        [BLOCK_LEFT2] = LOOPS(lefts2),
        [BLOCK_REST] = LOOPS(rests),
        [BLOCK_SIZES] = {fill_sizes, fill_sizes, NULL, sizes_same},
        [BLOCK_LEFT3] = LOOPS(lefts3),
        [BLOCK_KEYED] = {fill_keys, fill_keys},
        [BLOCK_TWIN] = LOOPS(twins),
    };
    static block_filler *const signed_ones[NUMBERS] = LOOPS(signed_ones);
#undef LOOPS
    if (s->count > c->left_over)
        return 0;
    if (c->ready != NULL)
        return fill_ready(c, s);
    block_filler *const *loops =
        c->coding == BLOCK_PLAIN && c->negative ? signed_ones : fillers[c->coding];
    block_filler *loop = loops[numbers_of(c)];
    /* There is none for codings of whole columns, which are read above where they are sound. */
    int good = loop != NULL && loop(c, s);
    c->left_over -= s->count;
    if (good && c->negative)
        s->bytes = sizes_below(s);
    return good;
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

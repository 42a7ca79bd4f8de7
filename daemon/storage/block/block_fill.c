/* Columns of integers of a block: their values, some rows at a time.
 *
 * In two steps: first the numbers of the column, one behind the other, as narrow as they are; then
 * what they stand for, and what all of these take as MessagePack. Loops do one thing for a whole
 * vector of numbers. What stands to the left of a value is at the same place of the column before.
 *
 * This is compiled three times: for any processor; with BLOCK_FILL_BMI2 for those of x86-64 that
 * have AVX2, and PEXT and PDEP, which make numbers of their bytes at once; and with
 * BLOCK_FILL_AVX512, too, for those that close up bytes of a vector (AVX512_VBMI2). */
#include "daemon/storage/block/block_fill.h"

#include "daemon/storage/block/block_fill_lanes.h"
#include "daemon/storage/block/block_fill_lay.h"
#include "daemon/storage/block/block_fill_numbers.h"
#include "daemon/storage/block/block_fill_sizes.h"

#ifdef BLOCK_FILL_AVX512
#define FILL(name) name##_avx512
#elif defined(BLOCK_FILL_BMI2)
#define FILL(name) name##_bmi2
#else
#define FILL(name) name##_any
#endif

#ifndef BLOCK_FILL_BMI2
size_t block_size_of_integer(uint64_t number, int negative)
{
    return size_of(number, negative);
}
#endif

/* ---- numbers -------------------------------------------------------------- */

/* Numbers of a column, one behind the other. */
struct numbers {
    const void *at;
    unsigned width; /* bytes of each, 1, 4 or 8; 0: all are the one, of 8 */
};

ALWAYS void load_numbers(lanes *out, const void *at, unsigned width, size_t i)
{
    switch (width) {
    case 0:
        *out = *(const uint64_t *)at - (lanes){0};
        break;
    case 1:
        load_bytes(out, (const uint8_t *)at + i);
        break;
    case 4:
        load_halves(out, (const uint32_t *)at + i);
        break;
    default:
        load(out, (const uint64_t *)at + i);
    }
}

ALWAYS uint64_t number_at(const void *at, unsigned width, size_t i)
{
    return width == 0   ? *(const uint64_t *)at
           : width == 1 ? ((const uint8_t *)at)[i]
           : width == 4 ? ((const uint32_t *)at)[i]
                        : ((const uint64_t *)at)[i];
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

/* Is each of the next bytes a number? What lies behind the end may be read. */
ALWAYS int all_short(const uint8_t *at, size_t count)
{
    byte_lanes any = {0}, some;
    for (size_t i = 0; i < count; i += sizeof(some)) {
        memcpy(&some, at + i, sizeof(some));
        any |= some;
    }
    const lanes all = (lanes)any;
    return (or_of(&all) & UINT64_C(0x8080808080808080)) == 0;
}

/* Where the next numbers of a column stand.
 * @param room  where they are put when they must be, as the next @return 0 when there are too few,
 * or damaged ones */
ALWAYS int take_numbers(struct read_column *c, size_t count, uint64_t *wide, narrow_room *room,
                        struct numbers *out)
{
    const uint8_t *at = c->at;
    uint64_t bit = c->bit;
    *out = (struct numbers){wide, 8};
    if (c->shape == BLOCK_SPLIT) {
        bit = take_split(at, c->bits, bit, count, wide);
        at += count;
    } else if (c->shape == BLOCK_ALL_SAME) {
        *out = (struct numbers){&c->same, 0};
    } else if (c->is_short || all_short(at, count)) {
        *out = (struct numbers){at, 1};
        at += count;
    } else {
        out->width = take_long(&at, c->end, count, wide, room);
        out->at = out->width == 8 ? (const void *)wide : (const void *)room;
    }
    if (out->width == NO_NUMBERS || at > c->end || block_split_ended(c, bit))
        return 0;
    c->at = at;
    c->bit = bit;
    return 1;
}

/* ---- values --------------------------------------------------------------- */

#if LANES > 2
/* The value before is added to each, from the first on, while there is a whole vector of them.
 * @param width  1 or 4: numbers are below 2^28, so that the first value that is not below 2^31 has
 * that bit, modulo 2^32
 * @return how many; 0: there is such a value */
ALWAYS size_t add_before_small(struct read_column *c, const void *at, unsigned width, size_t count,
                               uint64_t *out, struct tally *t)
{
    if (c->before > INT32_MAX)
        return 0;
    halves before = (uint32_t)c->before - (halves){0}, all = {0}, some;
#ifdef BLOCK_FILL_AVX512
    halves bytes = {0};
#endif
    size_t i = 0;
    for (; i + 2 * LANES <= count; i += 2 * LANES) {
        load_small(&some, at, width, i);
        some = some >> 1 ^ -(some & 1);
        sum_up_small(&some);
        const halves last = last_small(&some);
        some += before;
        before += last;
        all |= some;
#ifdef BLOCK_FILL_AVX512
        bytes += sizes_in_small(&some);
#endif
        store_small(out + i, &some);
    }
    const lanes wide = (lanes)all;
    const uint64_t any = or_of(&wide);
    if (((any | any >> 32) & UINT64_C(0x80000000)) != 0)
        return 0;
    c->before = before[0];
    t->any[0] |= (any | any >> 32) & INT32_MAX;
#ifdef BLOCK_FILL_AVX512
    t->bytes += ((lanes)bytes & UINT32_MAX) + ((lanes)bytes >> 32);
#endif
    return i;
}
#endif

/* The value before is added to each. */
ALWAYS void add_before(struct read_column *c, const void *at, unsigned width, size_t count,
                       uint64_t *out, struct tally *t)
{
    size_t i = 0;
#if LANES > 2
    if (width == 1 || width == 4)
        i = add_before_small(c, at, width, count, out, t);
#endif
    lanes before = c->before - (lanes){0}, some;
    for (; i + LANES <= count; i += LANES) {
        load_numbers(&some, at, width, i);
        unfold(&some);
        sum_up(&some);
        const lanes all = last_of(&some);
        some += before;
        before += all;
        note(t, &some);
        store(out + i, &some);
    }
    uint64_t last = before[0];
    for (; i < count; i++) {
        out[i] = last += block_unfold(number_at(at, width, i));
        note_one(t, last);
    }
    c->before = last;
}

/* What stands to the left is added to each, and what stands beside is taken away, if anything does.
 */
ALWAYS void add_left(const uint64_t *left, const uint64_t *less, const void *at, unsigned width,
                     size_t count, uint64_t *out, struct tally *t)
{
    lanes some, more;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        load_numbers(&some, at, width, i);
        unfold(&some);
        load(&more, left + i);
        some += more;
        if (less != NULL) {
            load(&more, less + i);
            some -= more;
        }
        note(t, &some);
        store(out + i, &some);
    }
    for (; i < count; i++) {
        out[i] = left[i] - (less != NULL ? less[i] : 0) + block_unfold(number_at(at, width, i));
        note_one(t, out[i]);
    }
}

/* They are the values, of folded ones behind that. */
ALWAYS void tell_plain(int folded, const void *at, unsigned width, size_t count, uint64_t *out,
                       struct tally *t)
{
    lanes some;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        load_numbers(&some, at, width, i);
        if (folded)
            unfold(&some);
        if (folded || width != 1)
            note(t, &some);
        else
            t->any |= some; /* a byte each */
        store(out + i, &some);
    }
    for (; i < count; i++) {
        out[i] = number_at(at, width, i);
        if (folded)
            out[i] = block_unfold(out[i]);
        note_one(t, out[i]);
    }
}

/* Of values that are there. */
static void look_at(const uint64_t *values, size_t count, struct tally *t)
{
    lanes some;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        load(&some, values + i);
        note(t, &some);
    }
    for (; i < count; i++)
        note_one(t, values[i]);
}

ALWAYS void tell_of(struct read_column *c, const void *at, unsigned width, size_t count,
                    uint64_t *out, struct tally *t)
{
    switch (c->coding) {
    case BLOCK_DELTA:
        add_before(c, at, width, count, out, t);
        break;
    case BLOCK_LEFT:
    case BLOCK_LEFT2:
    case BLOCK_LEFT3:
        add_left(out - BLOCK_PITCH * block_reach(c->coding), NULL, at, width, count, out, t);
        break;
    case BLOCK_REST:
        add_left(out - 3 * BLOCK_PITCH, out - BLOCK_PITCH, at, width, count, out, t);
        break;
    default:
        if (c->negative)
            tell_plain(1, at, width, count, out, t);
        else
            tell_plain(0, at, width, count, out, t);
    }
}

/* Values that numbers stand for. @param out  may be where these stand, when each has 8 bytes */
static void tell(struct read_column *c, const struct numbers *n, size_t count, uint64_t *out,
                 struct tally *t)
{
    switch (n->width) {
    case 0:
        tell_of(c, n->at, 0, count, out, t);
        break;
    case 1:
        tell_of(c, n->at, 1, count, out, t);
        break;
    case 4:
        tell_of(c, n->at, 4, count, out, t);
        break;
    default:
        tell_of(c, n->at, 8, count, out, t);
    }
}

/* The numbers themselves. */
static int FILL(numbers)(struct read_column *c, size_t count, uint64_t *out)
{
    narrow_room room;
    struct numbers n;
    struct tally t = {0};
    if (count > c->left_over || count > BLOCK_TAKEN_AT_ONCE ||
        !take_numbers(c, count, out, &room, &n))
        return 0;
    if (n.width == 0)
        tell_plain(0, n.at, 0, count, out, &t);
    else if (n.width == 1)
        tell_plain(0, n.at, 1, count, out, &t);
    else if (n.width == 4)
        tell_plain(0, n.at, 4, count, out, &t);
    c->left_over -= count;
    return 1;
}

/* ---- bytes of messages ---------------------------------------------------- */

/* All bits that some values have. */
static uint64_t any_of(const uint64_t *values, size_t count)
{
    lanes any = {0}, some;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        load(&some, values + i);
        any |= some;
    }
    for (; i < count; i++)
        any[0] |= values[i];
    return or_of(&any);
}

/* Bytes that are all told by one number, of classes that have a width each: as block_unsizes(),
 * without branches. */
static void same_of_classes(uint64_t number, const uint64_t *classes, const uint64_t *messages,
                            size_t count, uint64_t *out, struct tally *t)
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
        note(t, &bytes);
        store(out + i, &bytes);
    }
#endif
    for (; i < count; i++) {
        out[i] = block_unsizes(number, messages[i], classes[i]);
        note_one(t, out[i]);
    }
}

/* Bytes that are all told by one number. */
static int same_sizes(const struct read_column *c, size_t count, uint64_t *out, struct tally *t)
{
    const uint64_t *messages = out - BLOCK_PITCH, *classes = out - 2 * BLOCK_PITCH;
    uint64_t number = c->same;
    if (number == 0) /* and the bytes, another 0: that cannot be meant */
        return 0;
    if (any_of(classes, count) < SIZE_CLASSES - 1) {
        same_of_classes(number, classes, messages, count, out, t);
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        out[i] = block_unsizes(number, messages[i], classes[i]);
        note_one(t, out[i]);
    }
    return 1;
}

static int take_sizes(struct read_column *c, size_t count, uint64_t *out, struct tally *t)
{
    const uint64_t *messages = out - BLOCK_PITCH, *classes = out - 2 * BLOCK_PITCH;
    const uint8_t *at = c->at, *end = c->end;
    uint64_t number;
    if (c->shape == BLOCK_ALL_SAME)
        return same_sizes(c, count, out, t);
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
    look_at(out, count, t);
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

/* What stands in the earlier row with the same key is added to a number. @return 0: there is no
 * such row */
static int take_twins(struct read_column *c, size_t count, uint64_t *out)
{
    int32_t row = (int32_t)(c->total - c->left_over);
    if (!FILL(numbers)(c, count, out))
        return 0;
    c->left_over += count;
    for (size_t i = 0; i < count; i++, row++) {
        int32_t twin = (int32_t)c->twins[i];
        if (twin >= row)
            return 0;
        out[i] = block_unfold(out[i]) + c->past[twin];
        c->past[row] = out[i];
    }
    return 1;
}

/* Values that were worked out when the block was opened. */
static void take_ready(struct read_column *c, size_t count, uint64_t *out, struct tally *t)
{
    size_t row = (size_t)(c->total - c->left_over);
    tell_plain(0, c->ready + row, 8, count, out, t);
    if (c->twin_of != NULL)
        memmove(c->twins, c->twin_of + row, count * sizeof(*c->twins));
}

/* Of codings whose numbers are more than differences. @return 0 when there are too few, or damaged
 * ones */
static int take_others(struct read_column *c, size_t count, uint64_t *out, struct tally *t)
{
    if (c->coding == BLOCK_SIZES)
        return take_sizes(c, count, out, t);
    if (c->coding == BLOCK_KEYED  ? !take_keys(c, count, out)
        : c->coding == BLOCK_TWIN ? !take_twins(c, count, out)
                                  : 1) /* of whole columns, which was read where it is sound */
        return 0;
    look_at(out, count, t);
    return 1;
}

/* Values that stand in classes and bits: what is asked of them is known by their classes. @return 0
 * when there are too few */
static int take_classes(struct read_column *c, size_t count, uint64_t *out,
                        struct block_filled *filled)
{
    if (count > (size_t)(c->end - c->at))
        return 0;
    filled->bytes = sizes_of_classes(c->at, count, &filled->any);
    c->bit = take_split(c->at, c->bits, c->bit, count, out);
    c->at += count;
    c->left_over -= count;
    return !block_split_ended(c, c->bit);
}

static int is_difference(const struct read_column *c)
{
    return c->coding < BLOCK_HASHED && c->coding != BLOCK_SIZES && c->coding != BLOCK_KEYED &&
           c->coding != BLOCK_TWIN;
}

static int FILL(fill)(struct read_column *c, size_t count, uint64_t *out,
                      struct block_filled *filled)
{
    narrow_room room;
    struct numbers n;
    struct tally t = {0};
    if (count > c->left_over || count > BLOCK_TAKEN_AT_ONCE)
        return 0;
    if (c->shape == BLOCK_SPLIT && c->coding == BLOCK_PLAIN && !c->negative)
        return take_classes(c, count, out, filled);
    if (c->ready != NULL) {
        take_ready(c, count, out, &t);
    } else if (is_difference(c)) {
        if (!take_numbers(c, count, out, &room, &n))
            return 0;
        tell(c, &n, count, out, &t);
    } else if (!take_others(c, count, out, &t)) {
        return 0;
    }
    filled->any = or_of(&t.any);
    filled->bytes = sizes_of(out, count, &t, filled->any, c->negative);
    c->left_over -= count;
    return 1;
}

#define WIDTH(width)                                                                               \
    case width:                                                                                    \
        lay(columns, width, count, rows);                                                          \
        break;

static void FILL(lay)(const uint64_t *columns, size_t width, size_t count, uint64_t *rows)
{
    switch (width) { /* those of the tables with most rows */
        WIDTH(4)
        WIDTH(5)
        WIDTH(7)
        WIDTH(9)
        WIDTH(11)
        WIDTH(24)
    default:
        lay(columns, width, count, rows);
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

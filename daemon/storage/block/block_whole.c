/* What of a block is worked out as a whole when it is opened: numbers of other shapes than seven
 * bits a byte, where they are not read as they are, and columns whose values are told by rows
 * before and columns to the right; but keys are made with the rows of their ends, where one column
 * has such. */
#include "daemon/storage/block/block_fill.h"
#include "daemon/storage/block/block_reader.h"

#include "daemon/analysis/tables/array.h"
#include "holter/error.h"

#include <errno.h>

#define ROWS BLOCK_TAKEN_AT_ONCE

/* ---- shapes -------------------------------------------------------------- */

/* Is there a class for each number? What is above the last one are the bytes whose highest three
 * bits are set. */
static int has_classes(const struct read_column *c)
{
    _Static_assert(BLOCK_MOST_CLASS == 0xdf, "as many classes as bytes below those");
    const uint8_t *at = c->at;
    size_t left = (size_t)(c->end - c->at);
    uint64_t above = 0, some[4];
    for (; left >= sizeof(some); left -= sizeof(some), at += sizeof(some)) {
        memcpy(some, at, sizeof(some));
        for (unsigned i = 0; i < 4; i++)
            above |= some[i] & some[i] << 1 & some[i] << 2;
    }
    above &= UINT64_C(0x8080808080808080);
    for (; left > 0; left--, at++)
        above |= *at > BLOCK_MOST_CLASS;
    return above == 0 && (uint64_t)(c->end - c->at) == c->total;
}

/* Is it one number, and no more? */
static int has_same(struct read_column *c)
{
    const uint8_t *at = c->at;
    return block_take_number(&at, c->end, &c->same) && at == c->end;
}

/* Values that stand alone, and what is worked out as a whole, is read from numbers of seven bits a
 * byte. */
static int stays_as_it_is(const struct read_column *c)
{
    switch (c->coding) {
    case BLOCK_SIZES:
        return c->place > 0 && c->shape == BLOCK_ALL_SAME;
    case BLOCK_KEYED:
    case BLOCK_HASHED:
    case BLOCK_CHAIN:
    case BLOCK_CHAINED:
        return 0;
    default:
        return c->place > 0;
    }
}

/* @return behind the numbers of seven bits a byte, or NULL: they are damaged */
static uint8_t *widen_split(const struct read_column *c, uint8_t *out)
{
    uint64_t at = 0;
    for (uint64_t i = 0; i < c->total && !block_split_ended(c, at); i++)
        out = block_put(out, block_take_split(c->at[i], c->bits, &at));
    return block_split_ended(c, at) ? NULL : out;
}

static uint8_t *widen_same(const struct read_column *c, uint8_t *out)
{
    size_t length = (size_t)(c->end - c->at);
    if (length == 1) {
        memset(out, *c->at, c->total);
        return out + c->total;
    }
    for (uint64_t i = 0; i < c->total; i++, out += length)
        memcpy(out, c->at, length);
    return out;
}

/* Bytes that the numbers take when they have seven bits each, and a little more; 0: too many. */
static uint64_t widened(const struct read_column *c, uint64_t most)
{
    uint64_t each = c->shape == BLOCK_SPLIT ? 9 : (uint64_t)(c->end - c->at);
    return each == 0 || each > 10 || c->total > most / each ? 0 : each * c->total + 16;
}

/* @param out  set to the bytes of those that have to be widened @return 0 or -HOLTER_ECORRUPT */
static int check_shapes(struct block_reader *r, size_t most, uint64_t *out)
{
    uint64_t all = 0;
    *out = 0;
    for (size_t i = 0; i < r->column_count; i++) {
        struct read_column *c = &r->columns[i];
        if (c->shape == BLOCK_BYTES_EACH || c->total == 0 || c->unwanted)
            continue;
        uint64_t some = widened(c, most);
        if (some == 0 || some > most - all ||
            !(c->shape == BLOCK_SPLIT ? has_classes(c) : has_same(c)))
            return -HOLTER_ECORRUPT;
        all += some;
        *out += stays_as_it_is(c) ? 0 : some;
    }
    return 0;
}

int block_widen(struct block_reader *r, const uint8_t *bits, size_t length, size_t most)
{
    uint64_t wide;
    int code = check_shapes(r, most, &wide);
    if (code != 0)
        return code;
    if (array_fit(&r->wide, 1, &r->wide_room, (size_t)wide + length + BLOCK_BITS_SLACK) != 0)
        return -ENOMEM;
    uint8_t *at = r->wide, *kept = at + wide;
    memcpy(kept, bits, length);
    memset(kept + length, 0, BLOCK_BITS_SLACK);
    for (size_t i = 0; i < r->column_count; i++) {
        struct read_column *c = &r->columns[i];
        c->bits = kept + (c->bits - bits);
        c->bits_end = kept + (c->bits_end - bits);
        if (c->shape == BLOCK_BYTES_EACH || c->total == 0 || c->unwanted || stays_as_it_is(c))
            continue;
        uint8_t *end = c->shape == BLOCK_SPLIT ? widen_split(c, at) : widen_same(c, at);
        if (end == NULL)
            return -HOLTER_ECORRUPT;
        c->at = at;
        at = end;
        c->end = end;
        c->shape = BLOCK_BYTES_EACH;
        c->same = 0;
    }
    return 0;
}

/* ---- columns ------------------------------------------------------------- */

/* What a column of keys needs: columns that can be read without it, as long as it. */
static int are_ends(const struct read_column *keys, struct read_column *const ends[3])
{
    for (unsigned i = 0; i < 3; i++) {
        const struct read_column *c = ends[i];
        if (c == NULL || c->total != keys->total || c->coding == BLOCK_SIZES ||
            c->coding > BLOCK_LEFT3 || block_reach(c->coding) > i)
            return 0;
    }
    return 1;
}

/* Keys of the next rows, by what is known of their ends. @param numbers  what is told of each */
static void make_keys(struct block_reader *r, const uint64_t *numbers, const uint32_t *slots,
                      size_t count)
{
    struct key_maker *k = &r->maker;
    uint64_t sum = k->sum, *ready = k->keys->ready + k->made, *sums = r->sums;
    uint32_t *twins = k->keys->twin_of != NULL ? k->keys->twin_of + k->made : r->twins;
    uint32_t next = (uint32_t)k->made + 1;
    for (size_t i = 0; i < count; i++, next++) {
        uint32_t last = r->slots[slots[i]];
        /* Whether there is one before nobody can foretell: so both are looked at. */
        uint64_t likely = sums[last] + 1;
        sum = (last == 0 ? sum : likely) + block_unfold(numbers[i]);
        ready[i] += sum;
        twins[i] = last - 1; /* BLOCK_NO_TWIN where there is none */
        r->slots[slots[i]] = next;
        sums[next] = sum;
    }
    k->sum = sum;
    k->made += count;
    r->filler->mix(ready, count);
}

/* @param ends  of the next rows, side by side; where they end the copies do not stand yet */
static int make_of(struct block_reader *r, const uint64_t *ends, size_t count)
{
    uint64_t numbers[BLOCK_PITCH];
    uint32_t slots[ROWS];
    if (!r->filler->numbers(&r->maker.numbers, count, numbers))
        return 0;
    r->filler->hash(ends, count, slots, r->maker.keys->ready + r->maker.made);
    make_keys(r, numbers, slots, count);
    return 1;
}

/* By the copies, which stay as they are when one is damaged: fewer rows may still be sound. */
static int make_some(struct block_reader *r, size_t count)
{
    uint64_t rows[3][BLOCK_PITCH];
    struct read_column ends[3];
    struct block_filled filled;
    memcpy(ends, r->maker.ends_there, sizeof(ends));
    for (unsigned i = 0; i < 3; i++) {
        if (!r->filler->fill(&ends[i], count, rows[i], &filled))
            return 0;
    }
    if (!make_of(r, rows[0], count))
        return 0;
    memcpy(r->maker.ends_there, ends, sizeof(ends));
    return 1;
}

static int make_until(struct block_reader *r, uint64_t end)
{
    while (r->maker.made < end) {
        uint64_t left = end - r->maker.made;
        if (!make_some(r, (size_t)(left < ROWS ? left : ROWS)))
            return 0;
    }
    return 1;
}

int block_make_keys(struct block_reader *r, const struct read_column *keys, size_t count)
{
    const uint64_t row = keys->total - keys->left_over;
    if (keys != r->maker.keys)
        return 1;
    return make_until(r, count < keys->left_over ? row + count : keys->total);
}

int block_are_keys_next(const struct block_reader *r, struct read_column *const *columns,
                        unsigned width)
{
    const struct key_maker *k = &r->maker;
    int good = k->keys != NULL && width > 3 && columns[0] == k->keys &&
               k->made == k->keys->total - k->keys->left_over;
    for (unsigned i = 0; good && i < 3; i++)
        good = columns[1 + i] == k->ends[i] && k->ends[i]->left_over == k->ends_there[i].left_over;
    return good;
}

int block_make_keys_of(struct block_reader *r, const uint64_t *ends, size_t count)
{
    struct key_maker *k = &r->maker;
    if (!make_of(r, ends, count))
        return 0;
    for (unsigned i = 0; i < 3; i++) {
        const uint64_t left_over = k->ends_there[i].left_over - count;
        k->ends_there[i] = *k->ends[i];
        k->ends_there[i].left_over = left_over;
    }
    return 1;
}

/* @return 0: there are no ends to make them of */
static int begin_keys(struct block_reader *r, struct read_column *c)
{
    struct key_maker *k = &r->maker;
    for (unsigned i = 0; i < 3; i++)
        k->ends[i] = block_column(r, c->type, c->key, i + 2);
    if (!are_ends(c, k->ends))
        return 0;
    for (unsigned i = 0; i < 3; i++)
        k->ends_there[i] = *k->ends[i];
    k->keys = c;
    k->numbers = *c;
    k->numbers.coding = BLOCK_PLAIN;
    k->made = k->sum = 0;
    memset(r->slots, 0, sizeof(r->slots));
    r->sums[0] = 0;
    return 1;
}

static int make_chain(struct read_column *c, struct read_column *right)
{
    const uint8_t *at = c->at, *right_at = right->at;
    uint64_t begin = 0, length = 0, number, more;
    for (uint64_t i = 0; i < c->total; i++) {
        if (!block_take_number(&at, c->end, &number) ||
            !block_take_number(&right_at, right->end, &more))
            return 0;
        if (number == 0) {
            length += block_unfold(more);
        } else {
            begin += length + block_unfold(number - 1);
            length = right->negative ? block_unfold(more) : more;
        }
        c->ready[i] = begin;
        right->ready[i] = length;
    }
    return 1;
}

/* @param alone  there is one such column of keys: they are made as they are read */
static int make_ready(struct block_reader *r, struct read_column *c, int alone)
{
    if (c->coding == BLOCK_CHAIN) {
        struct read_column *right = block_column(r, c->type, c->key, c->place + 1);
        return right != NULL && right->coding == BLOCK_CHAINED && right->total == c->total &&
               make_chain(c, right);
    }
    if (c->coding == BLOCK_CHAINED) {
        const struct read_column *left = block_column(r, c->type, c->key, c->place - 1);
        return left != NULL && left->coding == BLOCK_CHAIN && left->total == c->total;
    }
    return begin_keys(r, c) && (alone || make_until(r, c->total));
}

static int is_whole(const struct read_column *c)
{
    return c->kind == BLOCK_INTEGER && !c->unwanted &&
           (c->coding == BLOCK_HASHED || c->coding == BLOCK_CHAIN || c->coding == BLOCK_CHAINED);
}

int block_make_whole(struct block_reader *r)
{
    uint64_t values = 0, keys = 0;
    unsigned hashed = 0;
    int twins = 0;
    r->maker.keys = NULL;
    for (size_t i = 0; i < r->column_count; i++) {
        const struct read_column *c = &r->columns[i];
        twins |= c->coding == BLOCK_TWIN;
        if (!is_whole(c))
            continue;
        values += c->total;
        hashed += c->coding == BLOCK_HASHED;
        keys += c->coding == BLOCK_HASHED ? c->total : 0;
        if (keys > BLOCK_MOST_KEYS || values > BLOCK_MOST_PAST ||
            c->total > (uint64_t)(c->end - c->at))
            return -HOLTER_ECORRUPT;
    }
    if (array_fit(&r->ready, sizeof(*r->ready), &r->ready_room, (size_t)values + 1) != 0 ||
        array_fit(&r->twin_of, sizeof(*r->twin_of), &r->twin_room, (size_t)keys + 1) != 0 ||
        array_fit(&r->sums, sizeof(*r->sums), &r->sum_room, (size_t)keys + 1) != 0)
        return -ENOMEM;
    values = keys = 0;
    for (size_t i = 0; i < r->column_count; i++) {
        struct read_column *c = &r->columns[i];
        if (!is_whole(c))
            continue;
        c->ready = r->ready + values;
        values += c->total;
        c->twins = r->twins;
        c->twin_of = c->coding == BLOCK_HASHED && twins ? r->twin_of + keys : NULL;
        keys += c->coding == BLOCK_HASHED ? c->total : 0;
    }
    for (size_t i = 0; i < r->column_count; i++) {
        if (is_whole(&r->columns[i]) && !make_ready(r, &r->columns[i], hashed == 1))
            return -HOLTER_ECORRUPT;
    }
    if (hashed > 1)
        r->maker.keys = NULL;
    return 0;
}

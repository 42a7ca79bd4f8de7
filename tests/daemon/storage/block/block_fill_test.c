#include "tests/daemon/storage/block/block_fillers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/proto/wire_random.h"

#define ROWS BLOCK_TAKEN_AT_ONCE
#define WIDTH 4u /* the column is the last one: three stand to its left */
#define COLUMN 3u

static uint64_t seed = 88172645463325252u;

static uint64_t any(uint64_t below)
{
    return random_next(&seed) % below;
}

/* A column as it stands in a block, with slack, and keys before it that its rows refer to. */
struct bed {
    uint8_t bytes[ROWS * 20 + BLOCK_SLACK];
    size_t length;
    uint8_t bits[ROWS * 8 + BLOCK_BITS_SLACK]; /* of shape BLOCK_SPLIT */
    size_t bit_count;
    uint64_t past[2 * ROWS + 1];
    uint32_t twins[ROWS];
    uint64_t ready[2 * ROWS]; /* codings of whole columns: values that were worked out at opening */
    uint32_t twin_of[2 * ROWS];
    struct read_column column;
    uint64_t columns[WIDTH][BLOCK_PITCH];
};

/* Numbers of one byte, of up to so many bits, or mixed as they are in columns of times. */
static uint64_t any_number(unsigned kind)
{
    static const unsigned bits[] = {7, 14, 21, 28, 64, 64};
    uint64_t number = random_next(&seed) >> (64 - bits[kind]);
    return kind == 5 ? number >> any(64) : kind > 0 && any(9) == 0 ? number & 127 : number;
}

static void put(struct bed *b, uint64_t number)
{
    b->length = (size_t)(block_put(b->bytes + b->length, number) - b->bytes);
}

/* A class, and its bits, at random. */
static void put_split(struct bed *b)
{
    unsigned number_class = (unsigned)any(any(4) == 0 ? BLOCK_MOST_CLASS + 1 : 60);
    b->bytes[b->length++] = (uint8_t)number_class;
    for (unsigned i = block_class_bits(number_class); i > 0; i--, b->bit_count++)
        b->bits[b->bit_count / 8] |= (uint8_t)(any(2) << b->bit_count % 8);
}

/* The numbers of the column in another shape, where columns of its coding are read in that. */
static void reshape(struct bed *b, size_t count, unsigned kind)
{
    enum block_coding coding = b->column.coding;
    unsigned shape = (unsigned)any(BLOCK_SHAPES);
    if (coding == BLOCK_KEYED || coding >= BLOCK_HASHED ||
        (coding == BLOCK_SIZES && shape == BLOCK_SPLIT))
        return;
    b->column.shape = (uint8_t)shape;
    if (shape == BLOCK_BYTES_EACH)
        return;
    b->column.is_short = 0;
    b->length = 0;
    memset(b->bytes, 0, sizeof(b->bytes));
    for (size_t i = 0; shape == BLOCK_SPLIT && i < count; i++)
        put_split(b);
    if (shape == BLOCK_ALL_SAME) {
        b->column.same = any_number(kind);
        b->column.same += coding == BLOCK_SIZES;
    }
    b->column.end = b->bytes + b->length;
}

/* Some rows were read before these: they are what keys refer to. */
static void make(struct bed *b, enum block_coding coding, size_t count, unsigned kind)
{
    size_t rows_before = any(ROWS), classes = any(3) == 0 ? SIZE_CLASSES + 9 : 200;
    memset(b, 0, sizeof(*b));
    for (size_t i = 0; i < rows_before; i++)
        b->past[i + 1] = random_next(&seed) >> any(64);
    for (size_t i = 0; i < count; i++) {
        uint64_t number = any_number(kind);
        b->twins[i] = rows_before == 0 || any(3) == 0 ? BLOCK_NO_TWIN : (uint32_t)any(rows_before);
        for (unsigned w = 0; w < WIDTH; w++)
            b->columns[w][i] = w == 1 ? any(classes) : random_next(&seed) >> any(64);
        if (coding == BLOCK_KEYED && any(2) == 0)
            number = any(30); /* a row before, most likely */
        put(b, number);
        if (coding == BLOCK_KEYED && number == 0) {
            memcpy(b->bytes + b->length, &b->columns[0][i], 8);
            b->length += 8;
        } else if (coding == BLOCK_SIZES && number == 0) {
            put(b, any_number(kind));
        }
    }
    b->column = (struct read_column){.kind = BLOCK_INTEGER,
                                     .coding = (uint8_t)coding,
                                     .negative = coding != BLOCK_KEYED && any(2),
                                     .left_over = count,
                                     .total = rows_before + count,
                                     .at = b->bytes,
                                     .end = b->bytes + b->length,
                                     .before = coding == BLOCK_KEYED ? rows_before
                                               : any(2)              ? any(1000)
                                                                     : INT32_MAX - any(1000),
                                     .past = b->past + 1,
                                     .twins = b->twins};
    if (coding >= BLOCK_HASHED) {
        for (size_t i = 0; i < rows_before + count; i++) {
            b->ready[i] = random_next(&seed) >> any(64);
            b->twin_of[i] = (uint32_t)any(ROWS);
        }
        b->column.end = b->column.at;
        b->column.ready = b->ready;
        b->column.twin_of = coding == BLOCK_HASHED ? b->twin_of : NULL;
    }
    b->column.is_short = 1;
    for (size_t i = 0; i < b->length; i++)
        b->column.is_short &= b->bytes[i] < 128 && b->length == count;
    reshape(b, count, kind);
    b->column.bits = b->bits;
    b->column.bits_end = b->bits + (b->bit_count + 7) / 8;
}

static void damage(struct bed *b)
{
    if (b->column.shape != BLOCK_BYTES_EACH) { /* else it is refused when the block is opened */
        if (b->column.shape == BLOCK_SPLIT && b->bit_count > 0)
            b->column.bits_end -= 1 + any((b->bit_count + 7) / 8);
        else if (b->column.coding == BLOCK_SIZES)
            b->column.same = 0;
        return;
    }
    if (any(2) == 0)
        b->column.end -= b->length == 0 ? 0 : 1 + any(b->length);
    else if (b->length > 0)
        b->bytes[any(b->length)] |= 128;
    if (b->column.end < b->column.at + b->length)
        memset(b->bytes + (b->column.end - b->bytes), (int)any(256), BLOCK_SLACK);
    b->column.is_short = 0;
}

/* Value by value. @return 0 when the column has no more, or a damaged one */
static int next_values(struct bed *b, size_t count, uint64_t *values)
{
    uint64_t columns[BLOCK_REACH + 1][BLOCK_ROWS_AT_ONCE];
    size_t done = 0, some;
    do { /* of none, too: that may be damaged */
        some = count - done < BLOCK_ROWS_AT_ONCE ? count - done : BLOCK_ROWS_AT_ONCE;
        for (size_t i = 0; i < some; i++) {
            for (unsigned w = 0; w < COLUMN; w++)
                columns[w][i] = b->columns[w][done + i];
        }
        b->column.twins = b->twins + done;
        if (!block_next_integers(&b->column, some,
                                 (const uint64_t(*)[BLOCK_ROWS_AT_ONCE])(columns + COLUMN),
                                 columns[COLUMN]))
            return 0;
        memcpy(values + done, columns[COLUMN], some * sizeof(*values));
    } while ((done += some) < count);
    return 1;
}

/* The loops for this processor, or those for any, do what block_next_integers() does, value by
 * value.
 * @return 0 when both found it damaged */
static int check(const struct bed *made, const struct block_filler *filler, size_t count)
{
    static struct bed ours, theirs;
    uint64_t values[ROWS];
    ours = theirs = *made;
    ours.column.past = ours.past + 1;
    ours.column.twins = ours.twins;
    ours.column.at = ours.bytes;
    ours.column.end = ours.bytes + (made->column.end - made->bytes);
    size_t bits = (size_t)(made->column.bits_end - made->bits);
    ours.column.bits = ours.bits;
    ours.column.bits_end = ours.bits + bits;
    theirs.column.bits = theirs.bits;
    theirs.column.bits_end = theirs.bits + bits;
    theirs.column.past = theirs.past + 1;
    theirs.column.at = theirs.bytes;
    theirs.column.end = theirs.bytes + (made->column.end - made->bytes);
    struct block_filled filled = {0, 0};
    int good = filler->fill(&ours.column, count, ours.columns[COLUMN], &filled);
    int wanted = next_values(&theirs, count, values);
    uint64_t all = 0;
    size_t bytes = 0;
    /* A 0 in a form that nobody writes may be let through there, and is looked at by its bytes
     * here. */
    assert_true(good == wanted || (!good && made->column.coding == BLOCK_KEYED));
    if (!good)
        return 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t value = values[i];
        assert_int_equal(ours.columns[COLUMN][i], value);
        assert_int_equal(ours.twins[i], theirs.twins[i]);
        all |= value;
        bytes += block_size_of_integer(value, made->column.negative);
    }
    assert_true((filled.any & all) == all && filled.bytes == bytes);
    assert_int_equal(ours.column.at - ours.bytes, theirs.column.at - theirs.bytes);
    assert_int_equal(ours.column.before, theirs.column.before);
    assert_int_equal(ours.column.bit, theirs.column.bit);
    assert_int_equal(ours.column.left_over, theirs.column.left_over);
    assert_memory_equal(ours.past, theirs.past, sizeof(ours.past));
    return 1;
}

static void fills_as_values_are_read_one_by_one(const struct block_filler *filler, int damaged,
                                                size_t *good)
{
    static struct bed bed;
    for (unsigned round = 0; round < 30000; round++) {
        enum block_coding coding = (enum block_coding)(round % BLOCK_CODINGS);
        size_t count = any(4) == 0 ? any(12) : any(ROWS + 1);
        make(&bed, coding, count, (unsigned)any(6));
        if (damaged && coding < BLOCK_HASHED)
            damage(&bed);
        *good += (size_t)check(&bed, filler, count);
    }
}

static void columns_are_filled(void **state)
{
    const struct block_filler *list[3];
    (void)state;
    for (size_t i = 0; i < block_fillers(list); i++) {
        size_t good = 0;
        fills_as_values_are_read_one_by_one(list[i], 0, &good);
        assert_true(good > 25000);
    }
}

static void damaged_columns_are_told(void **state)
{
    const struct block_filler *list[3];
    (void)state;
    for (size_t i = 0; i < block_fillers(list); i++) {
        size_t good = 0;
        fills_as_values_are_read_one_by_one(list[i], 1, &good);
        assert_true(good > 100 && good < 25000); /* a quarter is of columns that were ready */
    }
}

static void columns_become_rows_and_nothing_behind_them(void **state)
{
    static uint64_t columns[BLOCK_WIDTH][BLOCK_PITCH], rows[ROWS * BLOCK_WIDTH + 1];
    const struct block_filler *list[3];
    (void)state;
    for (size_t w = 0; w < BLOCK_WIDTH; w++) {
        for (size_t i = 0; i < BLOCK_PITCH; i++)
            columns[w][i] = random_next(&seed);
    }
    for (size_t turn = 0; turn < 4 * BLOCK_WIDTH; turn++) {
        size_t width = 1 + turn % BLOCK_WIDTH;
        size_t count = turn < 12 ? width % 5 : any(ROWS + 1);
        for (size_t f = 0; f < block_fillers(list); f++) {
            memset(rows, 0xa5, sizeof(rows));
            list[f]->lay(columns[0], width, count, rows);
            for (size_t i = 0; i < count * width; i++)
                assert_int_equal(rows[i], columns[i % width][i / width]);
            assert_int_equal(rows[count * width], UINT64_C(0xa5a5a5a5a5a5a5a5));
        }
    }
}

static void keys_are_those_of_the_ranks(void **state)
{
    static uint64_t ends[3][BLOCK_PITCH], ranks[ROWS];
    static uint32_t slots[ROWS];
    const struct block_filler *list[3];
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t w = 0; w < 3; w++)
            ends[w][i] = random_next(&seed) >> any(64);
    }
    for (size_t f = 0; f < block_fillers(list); f++) {
        size_t count = ROWS - 3 * f;
        list[f]->hash(ends[0], count, slots, ranks);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(slots[i], block_slot(ends[0][i], ends[1][i], ends[2][i]));
            assert_int_equal(ranks[i], message_key_ranks(ends[1][i], ends[2][i]));
        }
        list[f]->mix(ranks, count);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(ranks[i], message_key_mix(message_key_ranks(ends[1][i], ends[2][i])));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_filled),
        cmocka_unit_test(damaged_columns_are_told),
        cmocka_unit_test(columns_become_rows_and_nothing_behind_them),
        cmocka_unit_test(keys_are_those_of_the_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

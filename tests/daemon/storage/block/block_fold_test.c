/* The loops of the writer of blocks, of every kind that there is here, against plain references. */
#include "daemon/storage/block/block_fold.h"
#include "daemon/storage/block/block_form.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/proto/wire_random.h"

#define MOST 90u

struct bed {
    const struct block_loops *kinds[2]; /* those for any processor, and those that are taken here */
    size_t count;                       /* kinds */
    uint64_t seed;
};

static int set_up(void **state)
{
    static struct bed bed;
    bed = (struct bed){
        .kinds = {&block_loops_any, block_loops()}, .count = 2, .seed = 88172645463325252u};
    *state = &bed;
    return 0;
}

/* Numbers of so many bits at most; among them are some of fewer. */
static size_t make_numbers(struct bed *b, unsigned bits, uint64_t *numbers)
{
    size_t count = random_next(&b->seed) % (MOST + 1);
    for (size_t i = 0; i < count; i++) {
        uint64_t number = random_next(&b->seed);
        unsigned fewer = random_next(&b->seed) % 3 ? (unsigned)(random_next(&b->seed) % bits) : 0;
        numbers[i] = bits == 0 ? 0 : number >> (64 - bits) >> fewer;
    }
    return count;
}

static uint64_t all_of(const uint64_t *numbers, size_t count)
{
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++)
        all |= numbers[i];
    return all;
}

static void numbers_in_bytes_are_those_written_one_by_one(void **state)
{
    struct bed *b = *state;
    for (unsigned round = 0; round < 20000; round++) {
        uint64_t numbers[MOST];
        size_t count = make_numbers(b, 1 + round % 64, numbers);
        uint8_t want[MOST * 10 + 16], got[MOST * 10 + 16], *end = want;
        for (size_t i = 0; i < count; i++)
            end = block_put(end, numbers[i]);
        for (size_t k = 0; k < b->count; k++) {
            uint8_t *behind = b->kinds[k]->put_bytes(numbers, count, all_of(numbers, count), got);
            assert_int_equal(behind - got, end - want);
            assert_memory_equal(got, want, (size_t)(end - want));
        }
    }
}

/* docs/recording.md, bit by bit. */
static unsigned split_one(uint64_t number, uint8_t *bits, size_t *filled)
{
    if (number < 8)
        return (unsigned)number;
    unsigned noise = 0;
    while (number >> noise >= 8)
        noise++;
    for (unsigned i = 0; i < noise; i++, ++*filled)
        bits[*filled / 8] |= (uint8_t)((number >> i & 1) << *filled % 8);
    return 8 + 4 * (noise - 1) + (unsigned)(number >> noise) - 4;
}

static void split_numbers_have_their_classes_and_bits(void **state)
{
    struct bed *b = *state;
    for (unsigned round = 0; round < 20000; round++) {
        uint64_t numbers[MOST];
        size_t count = make_numbers(b, 1 + round % BLOCK_MOST_SPLIT, numbers), filled = 0;
        uint8_t classes[MOST], want[MOST * 7 + 16] = {0}, got[MOST], bits[MOST * 7 + 16];
        for (size_t i = 0; i < count; i++)
            classes[i] = (uint8_t)split_one(numbers[i], want, &filled);
        for (size_t k = 0; k < b->count; k++) {
            size_t first = count == 0 ? 0 : random_next(&b->seed) % count; /* in two parts */
            struct block_bits out = {.at = bits};
            b->kinds[k]->put_split(numbers, first, got, &out);
            b->kinds[k]->put_split(numbers + first, count - first, got + first, &out);
            assert_int_equal(block_bits_end(&out) - bits, (filled + 7) / 8);
            assert_memory_equal(got, classes, count);
            assert_memory_equal(bits, want, (filled + 7) / 8);
        }
    }
}

static void narrow_numbers_grow_to_what_they_were(void **state)
{
    struct bed *b = *state;
    for (unsigned round = 0; round < 4000; round++) {
        unsigned width = 1u << round % 4;
        uint64_t numbers[MOST], got[MOST], narrow[MOST];
        size_t count = make_numbers(b, 8 * width, numbers);
        for (size_t i = 0; i < count; i++) {
            uint64_t number = htole64(numbers[i]);
            memcpy((uint8_t *)narrow + i * width, &number, width);
        }
        for (size_t k = 0; k < b->count; k++) {
            b->kinds[k]->grow(narrow, count, width, got);
            assert_memory_equal(got, numbers, count * sizeof(*got));
            b->kinds[k]->grow(numbers, count, 0, got); /* all are the first */
            for (size_t i = 0; i < count; i++)
                assert_true(got[i] == numbers[0]);
        }
    }
}

static void check_common(const struct block_common *c, const uint64_t *numbers, size_t count)
{
    int differ = 0;
    for (size_t i = 1; i < count; i++)
        differ |= numbers[i] != numbers[0];
    assert_true(c->all == all_of(numbers, count));
    assert_int_equal(c->differ != 0, differ);
}

static void differences_are_folded(void **state)
{
    struct bed *b = *state;
    for (unsigned round = 0; round < 4000; round++) {
        uint64_t values[MOST], likely[MOST], less[MOST], want[MOST], got[MOST];
        size_t count = make_numbers(b, 1 + round % 64, values);
        for (size_t i = 0; i < MOST; i++) {
            likely[i] = round % 5 ? random_next(&b->seed) >> round % 64 : i < count ? values[i] : 0;
            less[i] = random_next(&b->seed) >> round % 60;
        }
        for (size_t k = 0; k < b->count; k++) {
            const struct block_loops *loops = b->kinds[k];
            struct block_common c = loops->fold(values, likely, count, got);
            for (size_t i = 0; i < count; i++)
                want[i] = block_fold(values[i] - likely[i]);
            assert_memory_equal(got, want, count * sizeof(*got));
            check_common(&c, want, count);
            c = loops->fold_rest(values, likely, less, count, got);
            for (size_t i = 0; i < count; i++)
                want[i] = block_fold(values[i] - (likely[i] - less[i]));
            assert_memory_equal(got, want, count * sizeof(*got));
            check_common(&c, want, count);
            c = loops->fold_plain(values, count, got);
            for (size_t i = 0; i < count; i++)
                want[i] = block_fold(values[i]);
            assert_memory_equal(got, want, count * sizeof(*got));
            check_common(&c, want, count);
            c = loops->look(values, count);
            check_common(&c, values, count);
        }
    }
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(numbers_in_bytes_are_those_written_one_by_one),
        TEST(split_numbers_have_their_classes_and_bits),
        TEST(narrow_numbers_grow_to_what_they_were),
        TEST(differences_are_folded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

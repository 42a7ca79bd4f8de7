#include "daemon/storage/block/block_format.h"
#include "holter/error.h"
#include "tests/daemon/storage/block/block_bed.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/proto/wire_random.h"

/* ---- messages ------------------------------------------------------------ */

static void messages_come_out_as_they_went_in(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 100; i++)
        block_bed_window(i);
    size_t size = block_bed_check(0);
    assert_true(size < block_bed.raw / 2);
}

static void nothing_is_a_block_too(void **state)
{
    (void)state;
    block_bed_check(0);
    block_bed_add("", 0);
    block_bed_check(0);
}

/* A few numbers of each length and sign, in places where the next message has others. */
static void numbers_of_all_sizes_come_out(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 200; round++) {
        uint8_t bytes[4096] = {0x92, 7, 0x82, 1, 0xdc, 0, 40};
        size_t at = 7;
        for (unsigned i = 0; i < 40; i++) {
            uint64_t number = random_next(&block_bed.seed) >> (random_next(&block_bed.seed) % 64);
            bytes[at++] = 0x92;
            bytes[at++] = (uint8_t)(i & 0x7f);
            unsigned log = number <= 255 ? 0 : number <= 65535 ? 1 : number <= UINT32_MAX ? 2 : 3;
            if (number < 128) {
                bytes[at++] = (uint8_t)number;
                continue;
            }
            int negative = round % 2 && log == 3 && number >> 63;
            bytes[at++] = (uint8_t)((negative ? 0xd0 : 0xcc) + log);
            for (unsigned b = 1u << log; b-- > 0;)
                bytes[at++] = (uint8_t)(number >> 8 * b);
        }
        bytes[at++] = 2;
        bytes[at++] = round % 2 ? 0xf0 : 0x05;
        block_bed_add(bytes, at);
    }
    block_bed_check(0);
}

static void messages_of_all_types_come_out(void **state)
{
    struct wire_buffer buffer = {0};
    (void)state;
    for (size_t round = 0; round < 10; round++) {
        const struct wire_table *table;
        for (size_t i = 0; (table = wire_table_at(i)) != NULL; i++) {
            void *message = random_message(table, &block_bed.seed, 1 + 40 * (unsigned)round);
            assert_int_equal(wire_encode(&buffer, table->type, message), 0);
            if (block_writer_bytes(block_bed.writer) < BLOCK_BYTES)
                block_bed_add(buffer.bytes, buffer.length);
            random_message_free(table, message);
        }
    }
    block_bed_check(0);
    wire_buffer_finish(&buffer);
}

static void ends_reported_in_order_take_little_memory(void **state)
{
    (void)state;
    uint64_t ordinal = 1000;
    for (uint64_t i = 0; i < 20; i++)
        block_bed_calls(i, &ordinal);
    /* Of each the gap and the length are noise: 7.6 and 8.2 bits. */
    size_t packed = block_bed_check(0), ends = 20 * 600;
    assert_in_range(packed, ends * 15 / 8, ends * 26 / 8);
    /* In another order, with keys that are none, and with ends that have other columns. */
    for (uint64_t i = 0; i < 20; i++)
        i % 3 == 0 ? block_bed_halves(i, 1) : block_bed_calls(i, &ordinal);
    block_bed_check(0);
}

static void ends_with_keys_that_are_none_come_out(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 40; i++)
        block_bed_halves(i, i % 2);
    block_bed_check(0);
}

/* Columns that are what they were in the message before, or begin so, and those that depend on one
 * that is not; more rows than before, and fewer. */
static void columns_that_stay_come_out(void **state)
{
    struct wire_rank_row ranks[150] = {{0}};
    const size_t width = sizeof(*ranks) / sizeof(uint64_t);
    const size_t state_column = offsetof(struct wire_rank_row, process_state) / sizeof(uint64_t);
    uint64_t *const cells = &ranks[0].rank;
    (void)state;
    for (unsigned i = 0; i < 400 && block_writer_bytes(block_bed.writer) < BLOCK_BYTES; i++) {
        size_t rows =
            random_next(&block_bed.seed) % 3 == 0 ? random_next(&block_bed.seed) % 150 : 140;
        for (unsigned changes = random_next(&block_bed.seed) % 4; changes > 0; changes--) {
            uint64_t column = random_next(&block_bed.seed) % width;
            uint64_t most = column == state_column ? 127 : 0xffff;
            uint64_t shift = 24 + random_next(&block_bed.seed) % 40,
                     step = random_next(&block_bed.seed) % 2;
            uint64_t value = random_next(&block_bed.seed) >> shift;
            size_t from =
                random_next(&block_bed.seed) % 2 * 145; /* all, or some that others leave out */
            for (size_t r = from; r < 150; r++)
                cells[r * width + column] = (value += step) & most;
        }
        struct wire_window w = {.seq = i,
                                .job = "job.0",
                                .host = "n",
                                .window = i,
                                .length_ns = 1000000000,
                                .ranks = ranks,
                                .ranks_count = rows};
        block_bed_add_window(&w);
    }
    block_bed_check(0);
}

/* Far more rows than in the messages before. */
static void many_rows_come_out(void **state)
{
    size_t count = 500000;
    struct wire_pair_row *pairs = calloc(count, sizeof(*pairs));
    (void)state;
    for (size_t i = 0; i < count; i++)
        pairs[i] = (struct wire_pair_row){.source = i, .destination = -1, .bytes = i % 200};
    struct wire_window w = {.seq = 1,
                            .job = "job.0",
                            .host = "n",
                            .length_ns = 1000000000,
                            .pairs = pairs,
                            .pairs_count = 100};
    for (; w.seq < 5; w.seq++) {
        w.pairs_count = w.seq == 4 ? count : 100;
        block_bed_add_window(&w);
    }
    free(pairs);
    block_bed_check(0);
}

/* Whatever it is, also what is nearly a message: longer forms than needed, rows of different
 * widths, what comes behind, what is missing. */
static void other_bytes_come_out_as_they_went_in(void **state)
{
    static const char *const odd[] = {
        "\x92\x07\x81\x01\xcc\x05",
        "\x92\x07\x81\x01\x92\x92\x01\x02\x91\x01",
        "\x92\x07\x81\x01\x05!",
        "\x92\x07\x81\x01",
        "\x92\x07\x81\x01\xc0",
        "\x92\x07\x81\x01\x91\x90",
        "\x92\x07\x81\x01\x91\x05",
        "\x92\x07\x81\x01\xd9\x01x",
        "\x92\x07\x81\x01\xda\x01",
        "\x92\x07\x81\x01\xdd\xff\xff\xff\xff\x91\x01",
        "\x92\x07\x81\x01\x91\x91\xa2"
        "a",
        "\x92\x07\x81\x01\xdf\x7f\xff\xff\xff",
        "\x92\x07\x82\x01\x05\x02\xd0\xff",
        "\x93\x07\x80\x01",
        "\x92\x07\x82\x01\xe0\x01\xcf\xff\xff\xff\xff\xff\xff\xff\xff"};
    uint8_t bytes[600];
    (void)state;
    for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
        block_bed_add(odd[i], strlen(odd[i]));
        block_bed_window(i);
    }
    for (unsigned i = 0; i < 500; i++) {
        size_t length = random_next(&block_bed.seed) % sizeof(bytes);
        for (size_t b = 0; b < length; b++)
            bytes[b] = (uint8_t)random_next(&block_bed.seed);
        block_bed_add(bytes, length);
    }
    block_bed_check(0);
}

/* A message that was changed in one place. */
static void changed_messages_come_out_as_they_went_in(void **state)
{
    (void)state;
    block_bed_window(1);
    for (unsigned i = 0; i < 1500; i++) {
        const struct block_bed_kept *k = &block_bed.kept[0];
        uint8_t *bytes = malloc(k->length);
        memcpy(bytes, k->bytes, k->length);
        bytes[random_next(&block_bed.seed) % (i % 2 ? 40 : k->length)] =
            (uint8_t)random_next(&block_bed.seed);
        if (block_writer_bytes(block_bed.writer) < BLOCK_BYTES)
            block_bed_add(bytes, k->length - random_next(&block_bed.seed) % 2);
        free(bytes);
    }
    block_bed_check(0);
}

static void a_cleared_writer_packs_only_what_was_added_since(void **state)
{
    (void)state;
    block_bed_window(1);
    block_bed_check(0);
    block_writer_clear(block_bed.writer);
    assert_int_equal(block_writer_messages(block_bed.writer), 0);
    size_t before = block_bed.count;
    block_bed_add("x", 1);
    block_bed_window(2);
    block_bed_check(before);
}

static void a_full_block_takes_no_more(void **state)
{
    struct recorded head = {.type = 7};
    uint8_t *long_one = calloc(1, BLOCK_MAX_BYTES);
    (void)state;
    assert_int_equal(block_writer_add(block_bed.writer, &head, long_one, BLOCK_MAX_BYTES),
                     -HOLTER_ELIMIT);
    assert_int_equal(
        block_writer_add(block_bed.writer, &head, long_one, BLOCK_MAX_BYTES - BLOCK_BYTES), 0);
    assert_int_equal(block_writer_add(block_bed.writer, &head, "x", 1), -HOLTER_ELIMIT);
    free(long_one);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, block_bed_set_up, block_bed_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(messages_come_out_as_they_went_in),
        TEST(nothing_is_a_block_too),
        TEST(numbers_of_all_sizes_come_out),
        TEST(messages_of_all_types_come_out),
        TEST(ends_reported_in_order_take_little_memory),
        TEST(ends_with_keys_that_are_none_come_out),
        TEST(columns_that_stay_come_out),
        TEST(many_rows_come_out),
        TEST(other_bytes_come_out_as_they_went_in),
        TEST(changed_messages_come_out_as_they_went_in),
        TEST(a_cleared_writer_packs_only_what_was_added_since),
        TEST(a_full_block_takes_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Damaged blocks: whatever the bytes are, reading ends and reports the damage. */
#include "holter/error.h"
#include "tests/daemon/storage/block/block_bed.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include <cmocka.h>

#include "tests/proto/wire_random.h"

/* What came out of a block until it ended, or was found damaged. */
struct drained {
    size_t messages, bytes;
    uint64_t hash;
    int code;
};

static void drained_add(struct drained *d, const void *bytes, size_t length)
{
    assert_true(length <= BLOCK_MAX_BYTES);
    for (size_t i = 0; i < length; i++)
        d->hash = (d->hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
    d->messages++;
    d->bytes += length;
}

/* Decoded, and the bytes of each message made of that. */
static struct drained drain_decoded(void)
{
    struct wire_arena arena = {0};
    struct wire_message message;
    struct recorded head;
    struct drained d = {0};
    const void *bytes;
    size_t length;
    int fault;
    while ((d.code = block_reader_next_decoded(block_bed.reader, &head, &message, &arena, &length,
                                               &fault)) == 1) {
        d.code = block_reader_bytes(block_bed.reader, &bytes, &length);
        if (d.code != 0)
            break;
        drained_add(&d, bytes, length);
    }
    wire_arena_finish(&arena);
    return d;
}

static struct drained drain(void)
{
    struct recorded head;
    struct drained d = {0};
    const void *bytes;
    size_t length;
    while ((d.code = block_reader_next(block_bed.reader, &head, &bytes, &length)) == 1)
        drained_add(&d, bytes, length);
    return d;
}

static void assert_same(const struct drained *a, const struct drained *b)
{
    assert_int_equal(a->messages, b->messages);
    assert_int_equal(a->bytes, b->bytes);
    assert_int_equal(a->hash, b->hash);
    assert_int_equal(a->code, b->code);
}

static void damaged_blocks_end_with_an_error_and_read_alike_in_both_ways(void **state)
{
    static uint8_t plain[200000], changed[200000], packed[400000];
    const void *good;
    size_t size, opened = 0, damaged = 0, broken_off = 0;
    uint64_t ordinal = 5;
    (void)state;
    for (uint64_t i = 0; i < 4; i++)
        block_bed_window(i);
    block_bed_halves(1, 0);
    for (uint64_t i = 0; i < 2; i++)
        block_bed_calls(i, &ordinal);
    block_bed_add("odd", 3);
    assert_int_equal(block_writer_pack(block_bed.writer, 1, &good, &size), 0);
    size_t length = ZSTD_decompress(plain, sizeof(plain), good, size);
    assert_false(ZSTD_isError(length));
    for (unsigned i = 0; i < 2400; i++) {
        memcpy(changed, plain, length);
        for (unsigned n = 0; n <= i % 4; n++)
            changed[random_next(&block_bed.seed) % (i % 3 == 0 ? length : 1500)] =
                (uint8_t)random_next(&block_bed.seed);
        size_t cut = i % 10 == 0 ? random_next(&block_bed.seed) % length : length;
        size = ZSTD_compress(packed, sizeof(packed), changed, cut, -5);
        int code = block_reader_open(block_bed.reader, packed, size);
        assert_true(code == 0 || code == -HOLTER_ECORRUPT);
        opened += code == 0;
        const struct drained plainly = drain();
        assert_true(plainly.code == 0 || plainly.code == -HOLTER_ECORRUPT);
        damaged += plainly.code != 0;
        broken_off += plainly.code != 0 && plainly.messages > 0;
        block_reader_open(block_bed.reader, packed, size);
        const struct drained decoded = drain_decoded();
        assert_same(&plainly, &decoded);
    }
    assert_true(opened > 400 && damaged > 400 && broken_off > 40);
}

static void a_changed_bit_is_noticed(void **state)
{
    static uint8_t changed[100000];
    const void *good;
    size_t size;
    (void)state;
    for (uint64_t i = 0; i < 4; i++)
        block_bed_window(i);
    assert_int_equal(block_writer_pack(block_bed.writer, 1, &good, &size), 0);
    assert_in_range(size, 100, sizeof(changed));
    assert_int_equal(block_reader_open(block_bed.reader, good, size), 0);
    const struct drained whole = drain();
    assert_int_equal(whole.messages, 4);
    memcpy(changed, good, size);
    for (size_t bit = 0; bit < 8 * size; bit += 7) {
        changed[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (block_reader_open(block_bed.reader, changed, size) == 0) { /* a bit without meaning */
            const struct drained same = drain();
            assert_same(&whole, &same);
        }
        changed[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void a_frame_that_would_be_endless_is_refused(void **state)
{
    size_t capacity = ZSTD_compressBound(1 << 20), size;
    uint8_t *zeros = calloc(1, 300u << 20), *packed = malloc(capacity);
    (void)state;
    size = ZSTD_compress(packed, capacity, zeros, 300u << 20, -5);
    assert_false(ZSTD_isError(size));
    assert_int_equal(block_reader_open(block_bed.reader, packed, size), -HOLTER_ECORRUPT);
    assert_int_equal(drain().code, -HOLTER_ECORRUPT);
    assert_int_equal(block_reader_open(block_bed.reader, "no frame", 8), -HOLTER_ECORRUPT);
    assert_int_equal(block_reader_open(block_bed.reader, NULL, 0), -HOLTER_ECORRUPT);
    free(zeros);
    free(packed);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, block_bed_set_up, block_bed_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(damaged_blocks_end_with_an_error_and_read_alike_in_both_ways),
        TEST(a_changed_bit_is_noticed),
        TEST(a_frame_that_would_be_endless_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

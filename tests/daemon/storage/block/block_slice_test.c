/* Messages that were decoded and cut make the same blocks as their bytes taken apart: blocks of the
 * one are the reference of those of the other, byte for byte. */
#include "daemon/storage/block/block.h"
#include "holter/error.h"
#include "holter/message_key.h"
#include "holter/size_class.h"
#include "holter/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/proto/wire_random.h"

struct bed {
    struct block_writer *plain, *cut;
    struct block_slices slices;
    struct wire_arena arena;
    struct wire_buffer buffer;
    uint64_t seed, number;
    size_t cut_count, left_count; /* messages that could be cut, and others */
};

static int set_up(void **state)
{
    struct bed *b = calloc(1, sizeof(*b));
    *state = b;
    if (b == NULL)
        return -1;
    b->seed = 88172645463325252u;
    return block_writer_create(&b->plain) != 0 || block_writer_create(&b->cut) != 0;
}

static int tear_down(void **state)
{
    struct bed *b = *state;
    block_writer_destroy(b->plain);
    block_writer_destroy(b->cut);
    block_slices_finish(&b->slices);
    wire_arena_finish(&b->arena);
    wire_buffer_finish(&b->buffer);
    free(b);
    return 0;
}

static void *slices_of(struct bed *b, const void *bytes, size_t length)
{
    struct wire_message message;
    size_t size;
    if (wire_decode(&message, &b->arena, bytes, length, NULL) != 0 ||
        block_slice(&b->slices, &message) != 0) {
        b->left_count++;
        return NULL;
    }
    void *slices = block_slices_take(&b->slices, &size);
    assert_non_null(slices);
    b->cut_count++;
    return slices;
}

static void check(struct bed *b, int marked)
{
    const void *plain, *cut;
    size_t plain_length, cut_length;
    assert_int_equal(block_pack(b->plain, marked, marked ? -5 : 1, &plain, &plain_length), 0);
    assert_int_equal(block_pack(b->cut, marked, marked ? -5 : 1, &cut, &cut_length), 0);
    assert_int_equal(plain_length, cut_length);
    assert_memory_equal(plain, cut, plain_length);
}

static void clear(struct bed *b)
{
    check(b, 0);
    block_clear(b->plain);
    block_clear(b->cut);
}

/* The writer's own copy: that it is given back in the end the leak checker sees. */
static struct block_source source_of(struct bed *b, const void *bytes, size_t length)
{
    void *copy = malloc(length + 1);
    assert_non_null(copy);
    memcpy(copy, bytes, length);
    return (struct block_source){.bytes = copy,
                                 .length = length,
                                 .slices = slices_of(b, bytes, length),
                                 .release = free,
                                 .owner = copy};
}

static void add(struct bed *b, const void *bytes, size_t length)
{
    const struct block_source source = source_of(b, bytes, length);
    struct recorded head = {.type = 7,
                            .instance = random_next(&b->seed) % 50,
                            .seq = ++b->number,
                            .window = 1000 + b->number / 8,
                            .received_ns = 1000 * b->number};
    int code = block_add(b->plain, &head, bytes, length);
    assert_int_equal(block_add_source(b->cut, &head, &source), code);
    if (block_bytes(b->plain) > BLOCK_BYTES)
        clear(b);
}

/* Now and then blocks end, or are looked at and go on. */
static void pause(struct bed *b)
{
    switch (random_next(&b->seed) % 40) {
    case 0:
        clear(b);
        break;
    case 1:
        check(b, 0);
        break;
    case 2:
        check(b, 1);
        block_mark(b->plain);
        block_mark(b->cut);
        break;
    default:
        break;
    }
}

#define ROWS 60u

static void encode_window(struct bed *b)
{
    struct wire_pair_row pairs[ROWS];
    struct wire_half_row halves[ROWS];
    struct wire_rank_row ranks[8] = {{0}};
    struct wire_comm_row comm = {.id = 1, .size = 8, .name = "MPI_COMM_WORLD"};
    struct wire_node_row node = {.host = "n", .call_cost_ns = 1.5 + (double)b->number};
    uint64_t *seed = &b->seed;
    for (unsigned i = 0; i < ROWS; i++) {
        uint64_t messages = 1 + random_next(seed) % 50, bytes = 8u << random_next(seed) % 3 * 6;
        pairs[i] = (struct wire_pair_row){.source = i / 8,
                                          .destination = i % 7 == 0 ? -1 : (int64_t)(i % 25),
                                          .size_class = size_class_of(bytes),
                                          .messages = messages,
                                          .bytes = messages * bytes + (random_next(seed) % 9 == 0)};
        halves[i] = (struct wire_half_row){
            .key = message_key(1, i, i % 5, 0, b->number),
            .receive = i % 2,
            .source = i,
            .destination = i % 5,
            .bytes = bytes,
            .begin_ns = (int64_t)(random_next(seed) % 1000000) - 1000,
            .length_ns = random_next(seed) >> (24 + random_next(seed) % 40),
        };
    }
    for (unsigned i = 0; i < 8; i++)
        ranks[i] = (struct wire_rank_row){
            .rank = i, .in_call_peer = -2, .wait_ns = random_next(seed) >> (i * 8)};
    struct wire_window w = {.seq = b->number,
                            .job = "job.0",
                            .host = "node17",
                            .window = b->number,
                            .length_ns = 1000000000,
                            .comms = &comm,
                            .comms_count = 1,
                            .ranks = ranks,
                            .ranks_count = random_next(seed) % 9,
                            .pairs = pairs,
                            .pairs_count = random_next(seed) % (ROWS + 1),
                            .halves = halves,
                            .halves_count = random_next(seed) % (ROWS + 1),
                            .node = &node,
                            .node_count = random_next(seed) % 2};
    assert_int_equal(wire_encode(&b->buffer, WIRE_TYPE_WINDOW, &w), 0);
}

static void windows_make_the_same_blocks(void **state)
{
    struct bed *b = *state;
    for (unsigned i = 0; i < 2000; i++) {
        encode_window(b);
        add(b, b->buffer.bytes, b->buffer.length);
        pause(b);
    }
    check(b, 0);
    assert_int_equal(b->cut_count, 2000);
}

static void messages_of_all_types_make_the_same_blocks(void **state)
{
    struct bed *b = *state;
    const struct wire_table *table;
    for (unsigned round = 0; round < 30; round++) {
        for (size_t i = 0; (table = wire_table_at(i)) != NULL; i++) {
            void *message = random_message(table, &b->seed, 1 + 4 * round);
            assert_int_equal(wire_encode(&b->buffer, table->type, message), 0);
            random_message_free(table, message);
            add(b, b->buffer.bytes, b->buffer.length);
            pause(b);
        }
    }
    check(b, 0);
    assert_true(b->cut_count > 500 && b->left_count > 0);
}

/* Some are no messages then, some have longer forms than needed, some have fields and columns of
 * other versions. */
static void changed_messages_make_the_same_blocks(void **state)
{
    struct bed *b = *state;
    for (unsigned i = 0; i < 20000; i++) {
        if (i % 100 == 0)
            encode_window(b);
        size_t length = b->buffer.length;
        uint8_t *bytes = malloc(length);
        memcpy(bytes, b->buffer.bytes, length);
        uint64_t at = random_next(&b->seed) % (i % 3 == 0 ? 60 : length);
        bytes[at] =
            i % 2 ? (uint8_t)random_next(&b->seed) : (uint8_t)(0xc4 + random_next(&b->seed) % 0x1c);
        add(b, bytes, length - random_next(&b->seed) % 20 / 19);
        free(bytes);
        pause(b);
    }
    check(b, 0);
    assert_true(b->cut_count > 1000 && b->left_count > 1000);
}

/* Each says what the one before says, in the same number of bytes or more, and not as it is
 * shortest. */
static void longer_forms_are_not_cut(void **state)
{
    static const struct {
        const char *bytes;
        size_t length;
    } odd[] = {
#define ODD(text) {text, sizeof(text) - 1}
        ODD("\x92\x08\x81\x01\xcc\x05"),     /* 5 in two bytes */
        ODD("\x92\x08\x81\x01\xd1\x01\x00"), /* 256 as a signed number */
        ODD("\x92\x08\xde\x00\x01\x01\x05"), /* one field, counted in two bytes */
        ODD("\xdc\x00\x02\x08\x81\x01\x05"), /* likewise two parts */
        ODD("\x92\xcc\x08\x81\x01\x05"),     /* the type in two bytes */
        ODD("\x92\x08\x82\x01\x05\x3f\x01"), /* a field nobody knows */
        ODD("\x93\x08\x81\x01\x05\x01"),     /* a third part */
#undef ODD
    };
    struct bed *b = *state;
    struct wire_message message;
    for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
        assert_int_equal(wire_decode(&message, &b->arena, odd[i].bytes, odd[i].length, NULL), 0);
        assert_null(message.shape);
        add(b, odd[i].bytes, odd[i].length);
    }
    assert_int_equal(b->cut_count, 0);
    add(b, "\x92\x08\x81\x01\x05", 5);
    assert_int_equal(b->cut_count, 1);
    check(b, 0);
}

/* Numbers of a column in a message: what they are like changes from message to message. */
static uint64_t number_like(unsigned kind, size_t row, uint64_t *seed)
{
    static const uint64_t fixed[] = {0, 1, 300, UINT64_C(1) << 40, UINT64_C(1) << 60};
    if (kind < 5)
        return fixed[kind]; /* all the same */
    if (kind == 5)
        return row == 700 ? 5 : 4; /* but one */
    if (kind == 6)
        return UINT64_C(20) + random_next(seed) % 5000;
    return random_next(seed) >> (10 + 6 * (kind - 7)); /* of up to 54 bits, 48, 42 ... */
}

static void encode_changing(struct bed *b, struct wire_pair_row *pairs, size_t most)
{
    unsigned kinds[4];
    size_t count =
        random_next(&b->seed) % 3 ? random_next(&b->seed) % 20 : random_next(&b->seed) % most;
    for (unsigned k = 0; k < 4; k++)
        kinds[k] = random_next(&b->seed) % 3 ? 6 + k : (unsigned)(random_next(&b->seed) % 13);
    for (size_t i = 0; i < count; i++) {
        uint64_t bytes = number_like(kinds[1], i, &b->seed) % (UINT64_C(1) << 40);
        uint64_t messages = number_like(kinds[0], i, &b->seed) % 100000;
        pairs[i] = (struct wire_pair_row){
            .source = number_like(kinds[2], i, &b->seed),
            .destination = random_next(&b->seed) % 50 ? (int64_t)(i % 26) : -1,
            .region = number_like(kinds[3], i, &b->seed) % 50000,
            .size_class = size_class_of(bytes),
            .messages = messages,
            .bytes = random_next(&b->seed) % 40 ? bytes * messages : bytes, /* of no size */
        };
    }
    struct wire_rank_row rank = {.rank = 1,
                                 .wait_ns = number_like(kinds[2], 0, &b->seed),
                                 .poll_ns = number_like(kinds[3], 0, &b->seed)};
    struct wire_window w = {.seq = b->number,
                            .job = "job.0",
                            .host = "node17",
                            .window = b->number,
                            .length_ns = 1000000000,
                            .ranks = &rank,
                            .ranks_count = 1,
                            .pairs = pairs,
                            .pairs_count = count};
    assert_int_equal(wire_encode(&b->buffer, WIRE_TYPE_WINDOW, &w), 0);
}

/* The last message, as the block has it, is the one that was put in. */
static void check_last(struct bed *b, const void *bytes, size_t length)
{
    struct block_reader *reader;
    struct recorded head;
    const void *packed, *got = NULL;
    size_t packed_length, got_length = 0;
    check(b,
          0); /* as what is chosen for a block stands for further ones, too, both pack as often */
    assert_int_equal(block_pack(b->plain, 0, 1, &packed, &packed_length), 0);
    assert_int_equal(block_pack(b->cut, 0, 1, &packed, &packed_length), 0);
    assert_int_equal(block_reader_create(&reader), 0);
    assert_int_equal(block_open(reader, packed, packed_length), 0);
    for (size_t i = 0; i < block_messages(b->cut); i++)
        assert_int_equal(block_next(reader, &head, &got, &got_length), 1);
    assert_int_equal(got_length, length);
    assert_memory_equal(got, bytes, length);
    block_reader_destroy(reader);
}

/* Columns are one number here and many there, narrow and wide, longer than what is told at once;
 * some have numbers that fit no longer into the shape that was chosen for blocks before. */
static void columns_that_change_make_the_same_blocks(void **state)
{
    struct bed *b = *state;
    static struct wire_pair_row pairs[3000];
    for (unsigned i = 0; i < 1500; i++) {
        encode_changing(b, pairs, 3000);
        size_t length = b->buffer.length;
        add(b, b->buffer.bytes, length);
        if (i % 10 == 0 && block_messages(b->cut) > 0)
            check_last(b, b->buffer.bytes, length);
        pause(b);
    }
    check(b, 0);
    assert_int_equal(b->cut_count, 1500);
}

/* A column has numbers of 2^63 and more; windows with destination -1 do not go into it, others do.
 */
static void columns_that_cannot_tell_a_message_leave_it_as_it_is(void **state)
{
    static const uint8_t odd[] = {0x92, WIRE_TYPE_WINDOW,
                                  0x81, 11,
                                  0x91, 0x97,
                                  1,    0xcf,
                                  0x80, 0,
                                  0,    0,
                                  0,    0,
                                  0,    0,
                                  1,    1,
                                  1,    1,
                                  1};
    struct bed *b = *state;
    for (unsigned i = 0; i < 200; i++) {
        if (i % 20 == 10)
            add(b, odd, sizeof(odd));
        encode_window(b);
        add(b, b->buffer.bytes, b->buffer.length);
        if (i % 40 == 39)
            clear(b);
    }
    check(b, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(windows_make_the_same_blocks),
        TEST(messages_of_all_types_make_the_same_blocks),
        TEST(changed_messages_make_the_same_blocks),
        TEST(longer_forms_are_not_cut),
        TEST(columns_that_change_make_the_same_blocks),
        TEST(columns_that_cannot_tell_a_message_leave_it_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

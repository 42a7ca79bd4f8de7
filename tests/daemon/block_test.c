#include "daemon/block.h"
#include "daemon/block_form.h"
#include "holter/error.h"
#include "holter/message_key.h"
#include "holter/wire.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include <cmocka.h>

#include "tests/proto/wire_random.h"

#define MOST 2000u

/* What was put in. */
struct kept {
    struct recorded head;
    uint8_t *bytes;
    size_t length;
};

struct bed {
    struct block_writer *writer;
    struct block_reader *reader;
    struct kept kept[MOST];
    size_t count;
    uint64_t seed;
    size_t raw;
};

static struct bed bed;

static int set_up(void **state)
{
    (void)state;
    bed = (struct bed){.seed = 88172645463325252u};
    return block_writer_create(&bed.writer) != 0 || block_reader_create(&bed.reader) != 0;
}

static int tear_down(void **state)
{
    (void)state;
    block_writer_destroy(bed.writer);
    block_reader_destroy(bed.reader);
    for (size_t i = 0; i < bed.count; i++)
        free(bed.kept[i].bytes);
    return 0;
}

static void add(const void *bytes, size_t length)
{
    assert_true(bed.count < MOST);
    struct kept *k = &bed.kept[bed.count++];
    k->head = (struct recorded){.type = bed.count % 3 == 0 ? 6 : 7,
                                .instance = random_next(&bed.seed) % 50,
                                .seq = random_next(&bed.seed) >> (random_next(&bed.seed) % 64),
                                .window = 1000 + bed.count / 8,
                                .time_ns = random_next(&bed.seed),
                                .received_ns = 1000 * bed.count};
    k->bytes = malloc(length + 1);
    k->length = length;
    memcpy(k->bytes, bytes, length);
    assert_int_equal(block_add(bed.writer, &k->head, bytes, length), 0);
    bed.raw += length;
}

/* Messages of the opened block come out decoded as their bytes would be, and their bytes can be made of each
 * second one.  */
static void check_decoded(size_t from)
{
    struct wire_arena arena = {0}, other = {0};
    struct wire_message message, wanted;
    struct wire_buffer ours = {0}, theirs = {0};
    struct recorded head;
    const void *bytes;
    size_t length;
    int fault;
    for (size_t i = from; i < bed.count; i++) {
        const struct kept *k = &bed.kept[i];
        assert_int_equal(block_next_decoded(bed.reader, &head, &message, &arena, &length, &fault),
                         1);
        assert_memory_equal(&head, &k->head, sizeof(head));
        assert_int_equal(length, k->length);
        assert_int_equal(fault, wire_decode(&wanted, &other, k->bytes, k->length, NULL));
        if (fault == 0) {
            assert_int_equal(message.type, wanted.type);
            assert_int_equal(wire_encode(&ours, message.type, &message.hello), 0);
            assert_int_equal(wire_encode(&theirs, wanted.type, &wanted.hello), 0);
            assert_int_equal(ours.length, theirs.length);
            assert_memory_equal(ours.bytes, theirs.bytes, ours.length);
        }
        if (i % 2 == 0)
            continue;
        assert_int_equal(block_decoded_bytes(bed.reader, &bytes, &length), 0);
        assert_int_equal(length, k->length);
        assert_memory_equal(bytes, k->bytes, length);
    }
    assert_int_equal(block_next_decoded(bed.reader, &head, &message, &arena, &length, &fault), 0);
    wire_arena_finish(&arena);
    wire_arena_finish(&other);
    wire_buffer_finish(&ours);
    wire_buffer_finish(&theirs);
}

/* What comes out is what went in, from message `from` on. */
static size_t check(int marked, size_t from)
{
    const void *packed, *bytes;
    size_t size, length;
    struct recorded head;
    assert_int_equal(block_pack(bed.writer, marked, 1, &packed, &size), 0);
    assert_int_equal(block_open(bed.reader, packed, size), 0);
    assert_int_equal(block_count(bed.reader), bed.count - from);
    for (size_t i = from; i < bed.count; i++) {
        assert_int_equal(block_next(bed.reader, &head, &bytes, &length), 1);
        assert_memory_equal(&head, &bed.kept[i].head, sizeof(head));
        assert_int_equal(length, bed.kept[i].length);
        assert_memory_equal(bytes, bed.kept[i].bytes, length);
    }
    assert_int_equal(block_next(bed.reader, &head, &bytes, &length), 0);
    assert_int_equal(block_open(bed.reader, packed, size), 0);
    check_decoded(from);
    return size;
}

/* ---- messages ------------------------------------------------------------ */

static void add_window(uint64_t number)
{
    struct wire_buffer buffer = {0};
    struct wire_pair_row pairs[200];
    struct wire_rank_row ranks[8] = {{0}};
    struct wire_node_row node = {.host = "n", .call_cost_ns = 1.5 + (double)number};
    for (unsigned i = 0; i < 200; i++)
        pairs[i] = (struct wire_pair_row){.source = i / 25,
                                          .destination = i % 7 == 0 ? -1 : (int64_t)(i % 25),
                                          .size_class = 100 + i % 3,
                                          .messages = 10 + random_next(&bed.seed) % 5,
                                          .bytes = random_next(&bed.seed) % 1000000};
    for (unsigned i = 0; i < 8; i++)
        ranks[i] = (struct wire_rank_row){
            .rank = i, .in_call_peer = -2, .wait_ns = random_next(&bed.seed) >> (i * 8)};
    struct wire_window w = {.seq = number,
                            .job = "job.0",
                            .host = "node17",
                            .window = number,
                            .length_ns = 1000000000,
                            .ranks = ranks,
                            .ranks_count = 8,
                            .pairs = pairs,
                            .pairs_count = 200 - number % 3,
                            .node = &node,
                            .node_count = number % 2};
    assert_int_equal(wire_encode(&buffer, WIRE_TYPE_WINDOW, &w), 0);
    add(buffer.bytes, buffer.length);
    wire_buffer_finish(&buffer);
}

static void messages_come_out_as_they_went_in(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 100; i++)
        add_window(i);
    size_t size = check(0, 0);
    assert_true(size < bed.raw / 2);
}

static void nothing_is_a_block_too(void **state)
{
    (void)state;
    check(0, 0);
    add("", 0);
    check(0, 0);
}

/* A few numbers of each length and sign, in places where the next message has others. */
static void numbers_of_all_sizes_come_out(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 200; round++) {
        uint8_t bytes[4096] = {0x92, 7, 0x82, 1, 0xdc, 0, 40};
        size_t at = 7;
        for (unsigned i = 0; i < 40; i++) {
            uint64_t number = random_next(&bed.seed) >> (random_next(&bed.seed) % 64);
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
        add(bytes, at);
    }
    check(0, 0);
}

/* Whatever it is, also what is nearly a message: longer forms than needed, rows of different widths,
 * what comes behind, what is missing. */
static void sizes_are_told_by_their_class(void **state)
{
    (void)state;
    for (uint16_t c = 0; c < SIZE_CLASSES; c++) {
        uint64_t floor = size_class_floor(c), wide = UINT64_C(1) << size_class_bits(c);
        if (c + 1u < SIZE_CLASSES)
            assert_true(size_class_floor((uint16_t)(c + 1)) - floor == wide);
        for (unsigned i = 0; i < 50; i++) {
            uint64_t messages = 1 + random_next(&bed.seed) % 1000;
            uint64_t bytes = messages * (floor + random_next(&bed.seed) % wide) + i % messages;
            uint64_t number = block_sizes(bytes, messages, c);
            assert_true(number == 0 || block_unsizes(number, messages, c) == bytes);
            if (bytes >> 48 == 0 && bytes / messages < floor + wide && wide >> 31 == 0)
                assert_true(number != 0);
        }
    }
}

static void messages_of_all_types_come_out(void **state)
{
    struct wire_buffer buffer = {0};
    (void)state;
    for (size_t round = 0; round < 10; round++) {
        const struct wire_table *table;
        for (size_t i = 0; (table = wire_table_at(i)) != NULL; i++) {
            void *message = random_message(table, &bed.seed, 1 + 40 * (unsigned)round);
            assert_int_equal(wire_encode(&buffer, table->type, message), 0);
            if (block_bytes(bed.writer) < BLOCK_BYTES)
                add(buffer.bytes, buffer.length);
            random_message_free(table, message);
        }
    }
    check(0, 0);
    wire_buffer_finish(&buffer);
}

/* Both ends of messages between two nodes, and keys that are there once, or three times. */
static void add_halves(uint64_t number, unsigned node)
{
    struct wire_buffer buffer = {0};
    struct wire_half_row halves[300];
    uint64_t seed = 77 + number;
    for (unsigned i = 0; i < 300; i++) {
        uint64_t key = random_next(&seed);
        halves[i] = (struct wire_half_row){.key = i % 10 == 0 ? random_next(&bed.seed) : key,
                                           .receive = node,
                                           .source = key % 4,
                                           .destination = 4 + key % 3,
                                           .bytes = 1000 + key % 100000,
                                           .begin_ns = (int64_t)(key % 1000000000) + node * 5000 -
                                                       300000000,
                                           .length_ns = random_next(&bed.seed) % 3000,
                                           .together = node};
        halves[i].local_ns = halves[i].begin_ns;
    }
    struct wire_window w = {.seq = number,
                            .job = "job.0",
                            .host = node ? "b" : "a",
                            .window = number,
                            .length_ns = 1000000000,
                            .halves = halves,
                            .halves_count = 300 - node};
    assert_int_equal(wire_encode(&buffer, WIRE_TYPE_WINDOW, &w), 0);
    add(buffer.bytes, buffer.length);
    wire_buffer_finish(&buffer);
}

/* Ends as agents tell them: of three ranks one after the other, with keys of channels, calls that follow one
 * another, and some that completed several messages. */
static void add_calls(uint64_t number, uint64_t *ordinal)
{
    struct wire_buffer buffer = {0};
    struct wire_half_row halves[600];
    size_t count = 0;
    for (uint64_t rank = 0; rank < 3; rank++) {
        int64_t at = 5000 + (int64_t)rank;
        for (unsigned i = 0; i < 200; i++, count++) {
            uint64_t partner = 8 + i % 5, length = 800 + random_next(&bed.seed) % 300;
            int receive = i % 2, together = i % 8 == 7 && i > 8;
            at += (int64_t)(random_next(&bed.seed) % 200);
            halves[count] = (struct wire_half_row){
                .key = message_key(77, (uint32_t)(receive ? partner : rank),
                                   (uint32_t)(receive ? rank : partner), (int32_t)(i % 3),
                                   *ordinal + i / 30),
                .receive = (uint64_t)receive,
                .source = receive ? partner : rank,
                .destination = receive ? rank : partner,
                .bytes = 4000 + 8 * partner,
                .begin_ns = together ? halves[count - 1].begin_ns : at,
                .length_ns = together ? halves[count - 1].length_ns : length,
                .together = (uint64_t)receive,
            };
            halves[count].local_ns = halves[count].begin_ns;
            at = halves[count].begin_ns + (int64_t)halves[count].length_ns;
        }
    }
    *ordinal += 7;
    struct wire_window w = {.seq = number,
                            .job = "job.0",
                            .host = "a",
                            .window = number,
                            .length_ns = 1000000000,
                            .halves = halves,
                            .halves_count = count};
    assert_int_equal(wire_encode(&buffer, WIRE_TYPE_WINDOW, &w), 0);
    add(buffer.bytes, buffer.length);
    wire_buffer_finish(&buffer);
}

static void ends_told_as_they_happened_take_little(void **state)
{
    (void)state;
    uint64_t ordinal = 1000;
    for (uint64_t i = 0; i < 20; i++)
        add_calls(i, &ordinal);
    /* Of each the gap and the length are noise: 7.6 and 8.2 bits. */
    size_t packed = check(0, 0), ends = 20 * 600;
    assert_in_range(packed, ends * 15 / 8, ends * 26 / 8);
    /* In another order, with keys that are none, and with ends that have other columns. */
    for (uint64_t i = 0; i < 20; i++)
        i % 3 == 0 ? add_halves(i, 1) : add_calls(i, &ordinal);
    check(0, 0);
}

static void second_ends_of_messages_take_half(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 40; i++)
        add_halves(i, 0);
    size_t first = check(0, 0), raw = bed.raw;
    for (unsigned i = 0; i < 40; i++)
        add_halves(i, 1);
    assert_true(check(0, 0) - first < first / 2 && bed.raw > 19 * raw / 10);
    block_mark(bed.writer);
    add_halves(50, 0);
    add_halves(39, 1);
    add_halves(50, 1);
    check(1, 80);
    check(0, 0);
}

/* Columns that are what they were in the message before, or begin so, and those that depend on one that is not;
 * more rows than before, and fewer. */
static void columns_that_stay_come_out(void **state)
{
    struct wire_buffer buffer = {0};
    struct wire_rank_row ranks[150] = {{0}};
    const size_t width = sizeof(*ranks) / sizeof(uint64_t);
    uint64_t *const cells = &ranks[0].rank;
    (void)state;
    for (unsigned i = 0; i < 400 && block_bytes(bed.writer) < BLOCK_BYTES; i++) {
        size_t rows = random_next(&bed.seed) % 3 == 0 ? random_next(&bed.seed) % 150 : 140;
        for (unsigned changes = random_next(&bed.seed) % 4; changes > 0; changes--) {
            uint64_t column = random_next(&bed.seed) % width;
            uint64_t most = column == width - 1 ? 127 : 0xffff;
            uint64_t shift = 24 + random_next(&bed.seed) % 40, step = random_next(&bed.seed) % 2;
            uint64_t value = random_next(&bed.seed) >> shift;
            size_t from = random_next(&bed.seed) % 2 * 145; /* all, or some that others leave out */
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
        assert_int_equal(wire_encode(&buffer, WIRE_TYPE_WINDOW, &w), 0);
        add(buffer.bytes, buffer.length);
    }
    wire_buffer_finish(&buffer);
    check(0, 0);
}

/* Far more rows than in the messages before. */
static void many_rows_come_out(void **state)
{
    struct wire_buffer buffer = {0};
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
        assert_int_equal(wire_encode(&buffer, WIRE_TYPE_WINDOW, &w), 0);
        add(buffer.bytes, buffer.length);
    }
    wire_buffer_finish(&buffer);
    free(pairs);
    check(0, 0);
}

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
        add(odd[i], strlen(odd[i]));
        add_window(i);
    }
    for (unsigned i = 0; i < 500; i++) {
        size_t length = random_next(&bed.seed) % sizeof(bytes);
        for (size_t b = 0; b < length; b++)
            bytes[b] = (uint8_t)random_next(&bed.seed);
        add(bytes, length);
    }
    check(0, 0);
}

/* A message that was changed in one place. */
static void changed_messages_come_out_as_they_went_in(void **state)
{
    (void)state;
    add_window(1);
    for (unsigned i = 0; i < 1500; i++) {
        const struct kept *k = &bed.kept[0];
        uint8_t *bytes = malloc(k->length);
        memcpy(bytes, k->bytes, k->length);
        bytes[random_next(&bed.seed) % (i % 2 ? 40 : k->length)] = (uint8_t)random_next(&bed.seed);
        if (block_bytes(bed.writer) < BLOCK_BYTES)
            add(bytes, k->length - random_next(&bed.seed) % 2);
        free(bytes);
    }
    check(0, 0);
}

static void what_came_since_the_mark_is_packed_alone(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 20; i++)
        add_window(i);
    block_mark(bed.writer);
    assert_int_equal(block_messages_marked(bed.writer), 0);
    add("other", 5);
    for (uint64_t i = 0; i < 5; i++)
        add_window(i);
    assert_int_equal(block_messages_marked(bed.writer), 6);
    check(1, 20);
    check(0, 0);
    block_mark(bed.writer);
    add_window(3);
    check(1, 26);
    check(0, 0);
}

static void a_writer_begins_anew(void **state)
{
    (void)state;
    add_window(1);
    check(0, 0);
    block_clear(bed.writer);
    assert_int_equal(block_messages(bed.writer), 0);
    size_t before = bed.count;
    add("x", 1);
    add_window(2);
    check(0, before);
}

static void a_full_block_takes_no_more(void **state)
{
    struct recorded head = {.type = 7};
    uint8_t *long_one = calloc(1, BLOCK_MOST_BYTES);
    (void)state;
    assert_int_equal(block_add(bed.writer, &head, long_one, BLOCK_MOST_BYTES), -HOLTER_ELIMIT);
    assert_int_equal(block_add(bed.writer, &head, long_one, BLOCK_MOST_BYTES - BLOCK_BYTES), 0);
    assert_int_equal(block_add(bed.writer, &head, "x", 1), -HOLTER_ELIMIT);
    free(long_one);
}

/* ---- rows that nobody wants ------------------------------------------------ */

#define PAIRS_KEY 11u
#define NODE_KEY 14u
#define HALVES_KEY 17u
#define BIT(key) (UINT64_C(1) << (key))

/* Windows as they are when only some rows are wanted: these, and all that is no rows. */
static void check_wanted(const void *packed, size_t size, uint64_t wanted)
{
    struct wire_arena arena = {0}, other = {0};
    struct wire_message message, whole;
    struct wire_buffer ours = {0}, theirs = {0};
    struct recorded head;
    size_t length;
    int fault;
    block_want(bed.reader, wanted);
    assert_int_equal(block_open(bed.reader, packed, size), 0);
    for (size_t i = 0; i < bed.count; i++) {
        const struct kept *k = &bed.kept[i];
        assert_int_equal(block_next_decoded(bed.reader, &head, &message, &arena, &length, &fault),
                         1);
        assert_memory_equal(&head, &k->head, sizeof(head));
        assert_int_equal(fault, 0);
        assert_int_equal(wire_decode(&whole, &other, k->bytes, k->length, NULL), 0);
        if (whole.type == WIRE_TYPE_WINDOW) {
            struct wire_window *w = &whole.window;
            w->ranks_count = 0;
            w->pairs_count = wanted & BIT(PAIRS_KEY) ? w->pairs_count : 0;
            w->node_count = wanted & BIT(NODE_KEY) ? w->node_count : 0;
            w->halves_count = wanted & BIT(HALVES_KEY) ? w->halves_count : 0;
        }
        assert_int_equal(wire_encode(&ours, message.type, &message.hello), 0);
        assert_int_equal(wire_encode(&theirs, whole.type, &whole.hello), 0);
        assert_int_equal(ours.length, theirs.length);
        assert_memory_equal(ours.bytes, theirs.bytes, ours.length);
    }
    assert_int_equal(block_next_decoded(bed.reader, &head, &message, &arena, &length, &fault), 0);
    wire_arena_finish(&arena);
    wire_arena_finish(&other);
    wire_buffer_finish(&ours);
    wire_buffer_finish(&theirs);
}

static void rows_that_are_wanted_come_out_without_the_others(void **state)
{
    const void *packed;
    size_t size;
    (void)state;
    for (uint64_t i = 0; i < 20; i++) {
        add_window(i);
        add_halves(1, i % 2);
    }
    assert_int_equal(block_pack(bed.writer, 0, 1, &packed, &size), 0);
    for (unsigned set = 0; set < 8; set++)
        check_wanted(packed, size,
                     (set & 1 ? BIT(PAIRS_KEY) : 0) | (set & 2 ? BIT(NODE_KEY) : 0) |
                         (set & 4 ? BIT(HALVES_KEY) : 0));
    block_want(bed.reader, BLOCK_ALL_ROWS);
    check(0, 0);
}

/* A window without fields that it must have is told by its bytes alone. */
static void a_block_of_odd_windows_wants_all_rows(void **state)
{
    static const uint8_t odd[] = {0x92, 7, 0x81, 11, 0x91, 0x91, 5};
    struct wire_arena arena = {0};
    struct wire_message message;
    struct recorded head;
    const void *packed;
    size_t size, length;
    int fault;
    (void)state;
    add_window(1);
    add(odd, sizeof(odd));
    assert_int_equal(block_pack(bed.writer, 0, 1, &packed, &size), 0);
    block_want(bed.reader, 0);
    assert_int_equal(block_open(bed.reader, packed, size), 0);
    assert_int_equal(block_next_decoded(bed.reader, &head, &message, &arena, &length, &fault), 1);
    assert_int_equal(block_next_decoded(bed.reader, &head, &message, &arena, &length, &fault),
                     -EAGAIN);
    block_want(bed.reader, BLOCK_ALL_ROWS);
    assert_int_equal(block_open(bed.reader, packed, size), 0);
    check_decoded(0);
    wire_arena_finish(&arena);
}

/* ---- what is damaged or forged ------------------------------------------- */

/* Decoded, as long as that goes; bytes are made of every third one. */
static void drain_decoded(void)
{
    struct wire_arena arena = {0};
    struct wire_message message;
    struct recorded head;
    const void *bytes;
    size_t length;
    int fault, code;
    for (size_t i = 0;
         (code = block_next_decoded(bed.reader, &head, &message, &arena, &length, &fault)) == 1;
         i++) {
        assert_true(length <= BLOCK_MOST_BYTES);
        if (i % 3 == 0)
            block_decoded_bytes(bed.reader, &bytes, &length);
    }
    assert_true(code == 0 || code == -HOLTER_ECORRUPT);
    wire_arena_finish(&arena);
}

static void drain_wanted(void)
{
    struct wire_arena arena = {0};
    struct wire_message message;
    struct recorded head;
    size_t length;
    int fault, code;
    do {
        code = block_next_decoded(bed.reader, &head, &message, &arena, &length, &fault);
    } while (code == 1);
    assert_true(code == 0 || code == -HOLTER_ECORRUPT || code == -EAGAIN);
    wire_arena_finish(&arena);
}

static int drain(size_t *messages)
{
    struct recorded head;
    const void *bytes;
    size_t length;
    int code;
    for (*messages = 0; (code = block_next(bed.reader, &head, &bytes, &length)) == 1; ++*messages)
        assert_true(length <= BLOCK_MOST_BYTES);
    return code;
}

static void no_bytes_make_a_reader_fail(void **state)
{
    static uint8_t plain[100000], packed[200000], behind[50000];
    const void *good;
    size_t size, messages, opened = 0, damaged = 0;
    (void)state;
    for (uint64_t i = 0; i < 4; i++)
        add_window(i);
    add_halves(1, 0);
    add_halves(1, 1);
    uint64_t ordinal = 5;
    for (uint64_t i = 0; i < 2; i++)
        add_calls(i, &ordinal);
    add("odd", 3);
    assert_int_equal(block_pack(bed.writer, 0, 1, &good, &size), 0);
    /* Bits stand behind the frame. */
    size_t frame = ZSTD_findFrameCompressedSize(good, size), bits = size - frame;
    size_t length = ZSTD_decompress(plain, sizeof(plain), good, frame);
    assert_false(ZSTD_isError(length));
    assert_in_range(bits, 100, sizeof(behind));
    memcpy(behind, (const uint8_t *)good + frame, bits);
    for (unsigned i = 0; i < 20000; i++) {
        static uint8_t changed[sizeof(plain)];
        memcpy(changed, plain, length);
        for (unsigned n = 0; n <= i % 4; n++)
            changed[random_next(&bed.seed) % (i % 3 == 0 ? length : 900)] =
                (uint8_t)random_next(&bed.seed);
        size_t cut = i % 10 == 0 ? random_next(&bed.seed) % length : length;
        size = ZSTD_compress(packed, sizeof(packed) - bits, changed, cut, -5);
        size_t left = i % 16 == 1 ? random_next(&bed.seed) % bits : bits;
        memcpy(packed + size, behind, left);
        packed[size + random_next(&bed.seed) % bits] ^= i % 4 == 3 ? 255 : 0;
        size += left;
        int code = block_open(bed.reader, packed, size);
        assert_true(code == 0 || code == -HOLTER_ECORRUPT);
        opened += code == 0;
        code = drain(&messages);
        assert_true(code == 0 || code == -HOLTER_ECORRUPT);
        damaged += code != 0;
        block_open(bed.reader, packed, size);
        drain_decoded();
        block_want(bed.reader, random_next(&bed.seed));
        block_open(bed.reader, packed, size);
        drain_wanted();
        block_want(bed.reader, BLOCK_ALL_ROWS);
    }
    assert_true(opened > 1000 && damaged > 1000);
}

static void a_frame_that_would_be_endless_is_refused(void **state)
{
    size_t room = ZSTD_compressBound(1 << 20), size, messages;
    uint8_t *zeros = calloc(1, 300u << 20), *packed = malloc(room);
    (void)state;
    size = ZSTD_compress(packed, room, zeros, 300u << 20, -5);
    assert_false(ZSTD_isError(size));
    assert_int_equal(block_open(bed.reader, packed, size), -HOLTER_ECORRUPT);
    assert_int_equal(drain(&messages), -HOLTER_ECORRUPT);
    assert_int_equal(block_open(bed.reader, "no frame", 8), -HOLTER_ECORRUPT);
    assert_int_equal(block_open(bed.reader, NULL, 0), -HOLTER_ECORRUPT);
    free(zeros);
    free(packed);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(messages_come_out_as_they_went_in),
        TEST(nothing_is_a_block_too),
        TEST(numbers_of_all_sizes_come_out),
        TEST(sizes_are_told_by_their_class),
        TEST(messages_of_all_types_come_out),
        TEST(ends_told_as_they_happened_take_little),
        TEST(second_ends_of_messages_take_half),
        TEST(columns_that_stay_come_out),
        TEST(many_rows_come_out),
        TEST(other_bytes_come_out_as_they_went_in),
        TEST(changed_messages_come_out_as_they_went_in),
        TEST(what_came_since_the_mark_is_packed_alone),
        TEST(a_writer_begins_anew),
        TEST(a_full_block_takes_no_more),
        TEST(rows_that_are_wanted_come_out_without_the_others),
        TEST(a_block_of_odd_windows_wants_all_rows),
        TEST(no_bytes_make_a_reader_fail),
        TEST(a_frame_that_would_be_endless_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

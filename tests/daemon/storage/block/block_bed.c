#include "tests/daemon/storage/block/block_bed.h"

#include "holter/message_key.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/proto/wire_random.h"

struct block_bed block_bed;

int block_bed_set_up(void **state)
{
    (void)state;
    block_bed = (struct block_bed){.seed = 88172645463325252u};
    return block_writer_create(&block_bed.writer) != 0 ||
           block_reader_create(&block_bed.reader) != 0;
}

int block_bed_tear_down(void **state)
{
    (void)state;
    block_writer_destroy(block_bed.writer);
    block_reader_destroy(block_bed.reader);
    for (size_t i = 0; i < block_bed.count; i++)
        free(block_bed.kept[i].bytes);
    return 0;
}

void block_bed_add(const void *bytes, size_t length)
{
    assert_true(block_bed.count < BLOCK_BED_MOST);
    struct block_bed_kept *k = &block_bed.kept[block_bed.count++];
    k->head = (struct recorded){.type = block_bed.count % 3 == 0 ? 6 : 7,
                                .instance = random_next(&block_bed.seed) % 50,
                                .seq = random_next(&block_bed.seed) >>
                                       (random_next(&block_bed.seed) % 64),
                                .window = 1000 + block_bed.count / 8,
                                .time_ns = random_next(&block_bed.seed),
                                .received_ns = 1000 * block_bed.count};
    k->bytes = malloc(length + 1);
    k->length = length;
    memcpy(k->bytes, bytes, length);
    assert_int_equal(block_writer_add(block_bed.writer, &k->head, bytes, length), 0);
    block_bed.raw += length;
}

void block_bed_check_decoded(size_t from)
{
    struct wire_arena arena = {0}, other = {0};
    struct wire_message message, wanted;
    struct wire_buffer ours = {0}, theirs = {0};
    struct recorded head;
    const void *bytes;
    size_t length;
    int fault;
    for (size_t i = from; i < block_bed.count; i++) {
        const struct block_bed_kept *k = &block_bed.kept[i];
        assert_int_equal(
            block_reader_next_decoded(block_bed.reader, &head, &message, &arena, &length, &fault),
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
        assert_int_equal(block_reader_bytes(block_bed.reader, &bytes, &length), 0);
        assert_int_equal(length, k->length);
        assert_memory_equal(bytes, k->bytes, length);
    }
    assert_int_equal(
        block_reader_next_decoded(block_bed.reader, &head, &message, &arena, &length, &fault), 0);
    wire_arena_finish(&arena);
    wire_arena_finish(&other);
    wire_buffer_finish(&ours);
    wire_buffer_finish(&theirs);
}

size_t block_bed_check(size_t from)
{
    const void *packed, *bytes;
    size_t size, length;
    struct recorded head;
    assert_int_equal(block_writer_pack(block_bed.writer, 1, &packed, &size), 0);
    assert_int_equal(block_reader_open(block_bed.reader, packed, size), 0);
    assert_int_equal(block_reader_count(block_bed.reader), block_bed.count - from);
    for (size_t i = from; i < block_bed.count; i++) {
        assert_int_equal(block_reader_next(block_bed.reader, &head, &bytes, &length), 1);
        assert_memory_equal(&head, &block_bed.kept[i].head, sizeof(head));
        assert_int_equal(length, block_bed.kept[i].length);
        assert_memory_equal(bytes, block_bed.kept[i].bytes, length);
    }
    assert_int_equal(block_reader_next(block_bed.reader, &head, &bytes, &length), 0);
    assert_int_equal(block_reader_open(block_bed.reader, packed, size), 0);
    block_bed_check_decoded(from);
    return size;
}

void block_bed_add_window(const struct wire_window *window)
{
    struct wire_buffer buffer = {0};
    assert_int_equal(wire_encode(&buffer, WIRE_TYPE_WINDOW, window), 0);
    block_bed_add(buffer.bytes, buffer.length);
    wire_buffer_finish(&buffer);
}

void block_bed_window(uint64_t number)
{
    struct wire_pair_row pairs[200];
    struct wire_rank_row ranks[8] = {{0}};
    struct wire_node_row node = {.host = "n", .call_cost_ns = 1.5 + (double)number};
    for (unsigned i = 0; i < 200; i++)
        pairs[i] = (struct wire_pair_row){.source = i / 25,
                                          .destination = i % 7 == 0 ? -1 : (int64_t)(i % 25),
                                          .size_class = 100 + i % 3,
                                          .messages = 10 + random_next(&block_bed.seed) % 5,
                                          .bytes = random_next(&block_bed.seed) % 1000000};
    for (unsigned i = 0; i < 8; i++)
        ranks[i] = (struct wire_rank_row){
            .rank = i, .in_call_peer = -2, .wait_ns = random_next(&block_bed.seed) >> (i * 8)};
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
    block_bed_add_window(&w);
}

void block_bed_halves(uint64_t number, unsigned node)
{
    struct wire_half_row halves[300];
    uint64_t seed = 77 + number;
    for (unsigned i = 0; i < 300; i++) {
        uint64_t key = random_next(&seed);
        halves[i] = (struct wire_half_row){.key = i % 10 == 0 ? random_next(&block_bed.seed) : key,
                                           .receive = node,
                                           .source = key % 4,
                                           .destination = 4 + key % 3,
                                           .bytes = 1000 + key % 100000,
                                           .begin_ns = (int64_t)(key % 1000000000) + node * 5000 -
                                                       300000000,
                                           .length_ns = random_next(&block_bed.seed) % 3000,
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
    block_bed_add_window(&w);
}

void block_bed_calls(uint64_t number, uint64_t *ordinal)
{
    struct wire_half_row halves[600];
    size_t count = 0;
    for (uint64_t rank = 0; rank < 3; rank++) {
        int64_t at = 5000 + (int64_t)rank;
        for (unsigned i = 0; i < 200; i++, count++) {
            uint64_t partner = 8 + i % 5, length = 800 + random_next(&block_bed.seed) % 300;
            int receive = i % 2, together = i % 8 == 7 && i > 8;
            at += (int64_t)(random_next(&block_bed.seed) % 200);
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
    block_bed_add_window(&w);
}

/* A block, decompressed and changed: its form, its descriptions of columns, their values. It is
 * read as bytes and decoded, which have to agree to the bit, and in where they stop.
 *
 * The input: what stands inside the frame. */
#include "daemon/storage/block/block.h"
#include "holter/error.h"
#include "holter/message_key.h"
#include "proto/wire_arena.h"
#include "tests/fuzz/fuzz.h"
#include "tests/proto/wire_random.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define SEEDS 12u
#define ROWS 400u /* more than are read at once */

/* What came out until the end, or until damage was found. */
struct drained {
    size_t messages, bytes;
    uint64_t hash;
    int code;
};

static void hash(struct drained *d, const void *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        d->hash = (d->hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
    d->bytes += length;
    d->messages++;
}

static int is_code(int code)
{
    return code == 0 || code == -HOLTER_ECORRUPT;
}

/* ---- reading ------------------------------------------------------------- */

/* @return owned, of exact length, so that what is read after it is noticed */
static uint8_t *pack(const uint8_t *data, size_t size, size_t *length)
{
    size_t capacity = ZSTD_compressBound(size);
    uint8_t *frame = malloc(capacity);
    FUZZ_HOLDS(frame != NULL);
    *length = ZSTD_compress(frame, capacity, data, size, -7);
    FUZZ_HOLDS(!ZSTD_isError(*length));
    uint8_t *packed = realloc(frame, *length);
    FUZZ_HOLDS(packed != NULL);
    return packed;
}

static struct drained read_bytes(struct block_reader *r, const uint8_t *packed, size_t size)
{
    struct drained d = {0};
    struct recorded head;
    const void *bytes;
    size_t length;
    FUZZ_HOLDS(is_code(block_reader_open(r, packed, size)));
    while ((d.code = block_reader_next(r, &head, &bytes, &length)) == 1) {
        FUZZ_HOLDS(length <= BLOCK_MAX_BYTES);
        hash(&d, bytes, length);
    }
    FUZZ_HOLDS(is_code(d.code));
    return d;
}

/* A message that was decoded is the one that its bytes make, and the other way round. */
static void compare(const struct wire_message *message, const void *bytes, size_t length, int fault)
{
    static struct wire_arena arena;
    static struct wire_buffer ours, theirs;
    struct wire_message wanted;
    FUZZ_HOLDS(wire_decode(&wanted, &arena, bytes, length, NULL) == fault);
    if (fault != 0)
        return;
    FUZZ_HOLDS(message->type == wanted.type);
    int code = wire_encode(&ours, message->type, &message->hello);
    FUZZ_HOLDS(wire_encode(&theirs, wanted.type, &wanted.hello) == code);
    FUZZ_HOLDS(code != 0 || (ours.length == theirs.length &&
                             memcmp(ours.bytes, theirs.bytes, ours.length) == 0));
}

static struct drained read_decoded(struct block_reader *r, const uint8_t *packed, size_t size)
{
    static struct wire_arena arena;
    struct drained d = {0};
    struct recorded head;
    struct wire_message message;
    const void *bytes;
    size_t told, length;
    int fault;
    FUZZ_HOLDS(is_code(block_reader_open(r, packed, size)));
    while ((d.code = block_reader_next_decoded(r, &head, &message, &arena, &told, &fault)) == 1) {
        d.code = block_reader_bytes(r, &bytes, &length);
        if (d.code != 0)
            break;
        FUZZ_HOLDS(length == told);
        compare(&message, bytes, length, fault);
        hash(&d, bytes, length);
    }
    FUZZ_HOLDS(is_code(d.code));
    return d;
}

static int are_same(const struct drained *a, const struct drained *b)
{
    return a->messages == b->messages && a->bytes == b->bytes && a->hash == b->hash &&
           a->code == b->code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct block_reader *reader;
    size_t length;
    if (reader == NULL)
        FUZZ_HOLDS(block_reader_create(&reader) == 0);
    uint8_t *packed = pack(data, size, &length);
    const struct drained bytes = read_bytes(reader, packed, length);
    const struct drained decoded = read_decoded(reader, packed, length);
    FUZZ_HOLDS(are_same(&bytes, &decoded));
    free(packed);
    return 0;
}

/* ---- seeds --------------------------------------------------------------- */

static void add(struct block_writer *writer, enum wire_type type, const void *message,
                uint64_t number)
{
    struct wire_buffer buffer = {0};
    const struct recorded head = {.type = type,
                                  .instance = number % 3,
                                  .seq = number / 3,
                                  .window = number,
                                  .time_ns = 1000 * number,
                                  .received_ns = 1000 * number + 7};
    FUZZ_HOLDS(wire_encode(&buffer, type, message) == 0);
    FUZZ_HOLDS(block_writer_add(writer, &head, buffer.bytes, buffer.length) == 0);
    wire_buffer_finish(&buffer);
}

/* Ends of messages, one call after the other, some of which completed several messages; and by
 * turns keys that are made of the ranks, or that both ends have. */
static size_t make_halves(struct wire_half_row *rows, unsigned seed, uint64_t window,
                          uint64_t *random)
{
    int64_t at = 5000;
    uint64_t once = 77 + window / 2;
    for (unsigned i = 0; i < ROWS; i++) {
        uint64_t partner = 8 + i % 5, rank = i / 100, receive = i % 2;
        uint64_t source = receive ? partner : rank, destination = receive ? rank : partner;
        at += i % 8 == 7 ? 0 : (int64_t)random_below(random, 900);
        rows[i] = (struct wire_half_row){
            .key = seed % 2 ? random_next(&once)
                            : message_key(77, (uint32_t)source, (uint32_t)destination,
                                          (int32_t)(i % 3), 30 * window + i / 30),
            .receive = receive,
            .source = source,
            .destination = destination,
            .bytes = 1000 * partner,
            .begin_ns = i % 8 == 7 ? rows[i - 1].begin_ns : at,
            .length_ns = i % 8 == 7 ? rows[i - 1].length_ns : random_below(random, 3000),
            .together = receive,
            .local_ns = at,
        };
    }
    return ROWS - window % 3;
}

static void add_window(struct block_writer *writer, unsigned seed, uint64_t number,
                       uint64_t *random)
{
    static struct wire_half_row halves[ROWS];
    static struct wire_pair_row pairs[ROWS];
    struct wire_node_row node = {.host = "n", .call_cost_ns = 1.5 + (double)number};
    for (unsigned i = 0; i < ROWS; i++)
        pairs[i] = (struct wire_pair_row){.source = i / 25,
                                          .destination = i % 7 == 0 ? -1 : (int64_t)(i % 25),
                                          .size_class = 100 + i % 3,
                                          .messages = 10 + random_below(random, 5),
                                          .bytes = random_next(random) >> (seed % 4 ? 44 : i % 64)};
    struct wire_window w = {.seq = number,
                            .job = "job.0",
                            .host = "node17",
                            .window = number,
                            .length_ns = 1000000000,
                            .pairs = pairs,
                            .pairs_count = ROWS - number % 3,
                            .halves = halves,
                            .halves_count = make_halves(halves, seed, number, random),
                            .node = &node,
                            .node_count = number % 2};
    add(writer, WIRE_TYPE_WINDOW, &w, number);
}

/* Seeds: windows of many rows of few kinds; then messages of all fields and types, of few rows. */
static void add_messages(struct block_writer *writer, unsigned seed, uint64_t *random)
{
    static const enum wire_type types[] = {WIRE_TYPE_WINDOW, WIRE_TYPE_RANKS, WIRE_TYPE_WINDOW,
                                           WIRE_TYPE_JOB};
    const struct recorded head = {.type = WIRE_TYPE_WINDOW};
    for (unsigned i = 0; i < 4; i++) {
        if (seed < SEEDS / 2) {
            add_window(writer, seed, i, random);
            continue;
        }
        enum wire_type type = types[i];
        void *message = random_message(wire_table(type), random, 2 + 3 * (seed - SEEDS / 2));
        add(writer, type, message, i);
        random_message_free(wire_table(type), message);
    }
    FUZZ_HOLDS(block_writer_add(writer, &head, "no message", 10) == 0);
}

/* @return its bytes */
static size_t make_seed(unsigned number, uint8_t *out)
{
    struct block_writer *writer;
    uint64_t random = UINT64_C(88172645463325252) + number;
    const void *packed;
    size_t length;
    FUZZ_HOLDS(block_writer_create(&writer) == 0);
    add_messages(writer, number, &random);
    FUZZ_HOLDS(block_writer_pack(writer, 1, &packed, &length) == 0);
    size_t plain = ZSTD_decompress(out, FUZZ_BYTES, packed, length);
    FUZZ_HOLDS(!ZSTD_isError(plain));
    block_writer_destroy(writer);
    return plain;
}

size_t fuzz_seed(unsigned number, uint8_t *out)
{
    static uint8_t made[SEEDS][FUZZ_BYTES];
    static size_t lengths[SEEDS]; /* 0: not made yet */
    if (number >= SEEDS)
        return SIZE_MAX;
    if (lengths[number] == 0)
        lengths[number] = make_seed(number, made[number]);
    memcpy(out, made[number], lengths[number]);
    return lengths[number];
}

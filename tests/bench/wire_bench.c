/* The codec against msgpack-c on a realistic window: 64 ranks with 26 partners each.
 *
 * msgpack-c packs the same values into its sbuffer with the calls written out by hand, and unpacks
 * them into its objects, which nobody has looked at or checked yet. Runs of both alternate; the
 * medians are compared. */
#include "holter/clock.h"
#include "holter/order.h"
#include "holter/wire.h"

#include <msgpack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS 64
#define PARTNERS 26
#define CALLS 8
#define ROUNDS 41
#define REPEATS 20

static struct wire_rank_row ranks[RANKS];
static struct wire_pair_row pairs[RANKS * PARTNERS];
static struct wire_call_row calls[RANKS * CALLS];
static const struct wire_comm_row comms[] = {
    {.id = 1, .size = 512, .name = "MPI_COMM_WORLD"},
    {.id = 77, .parent = 1, .size = 512, .name = "MPI_Cart_create"}};
static const struct wire_region_row regions[] = {{.name = ""}, {.name = "forces"}};

static void make_rows(void)
{
    for (uint64_t r = 0; r < RANKS; r++) {
        ranks[r] = (struct wire_rank_row){.rank = 448 + r,
                                          .events = 24408 + 7 * r,
                                          .calls = 25128 + 7 * r,
                                          .polls = 720,
                                          .sent = 8136,
                                          .sent_bytes = 93716480 + 4096 * r,
                                          .received = 8136,
                                          .received_bytes = 93716480,
                                          .send_ns = 31000000 + 1000 * r,
                                          .recv_ns = 1200000,
                                          .wait_ns = 141000000 + 999 * r,
                                          .collective_ns = 52000000,
                                          .other_ns = 11000,
                                          .threads = 1,
                                          .in_call = 12,
                                          .in_call_ns = 48000,
                                          .in_call_comm = 1,
                                          .in_call_peer = -1};
        for (uint64_t p = 0; p < PARTNERS; p++)
            pairs[r * PARTNERS + p] =
                (struct wire_pair_row){.source = 448 + r,
                                       .destination = (int64_t)(448 + r + 19 * p) % 512,
                                       .comm = 1,
                                       .region = p & 1,
                                       .size_class = 200 + p,
                                       .messages = 312,
                                       .bytes = 3600000 + 64 * p};
        for (uint64_t c = 0; c < CALLS; c++)
            calls[r * CALLS + c] = (struct wire_call_row){.rank = 448 + r,
                                                          .call = 1 + 3 * c,
                                                          .comm = 1,
                                                          .region = c & 1,
                                                          .calls = 8136,
                                                          .bytes = 93716480,
                                                          .bytes_in = 93716480,
                                                          .time_ns = 41000000 + 11 * c,
                                                          .longest_ns = 88000};
    }
}

static void pack_ranks(msgpack_packer *pk)
{
    for (size_t i = 0; i < RANKS; i++) {
        const uint64_t *values = (const uint64_t *)&ranks[i];
        msgpack_pack_array(pk, sizeof ranks[i] / 8);
        for (size_t c = 0; c + 1 < sizeof ranks[i] / 8; c++)
            msgpack_pack_uint64(pk, values[c]);
        msgpack_pack_int64(pk, ranks[i].in_call_peer);
    }
}

static void pack_pairs(msgpack_packer *pk)
{
    for (size_t i = 0; i < RANKS * PARTNERS; i++) {
        const struct wire_pair_row *p = &pairs[i];
        msgpack_pack_array(pk, 7);
        msgpack_pack_uint64(pk, p->source);
        msgpack_pack_int64(pk, p->destination);
        msgpack_pack_uint64(pk, p->comm);
        msgpack_pack_uint64(pk, p->region);
        msgpack_pack_uint64(pk, p->size_class);
        msgpack_pack_uint64(pk, p->messages);
        msgpack_pack_uint64(pk, p->bytes);
    }
}

static void pack_calls(msgpack_packer *pk)
{
    for (size_t i = 0; i < RANKS * CALLS; i++) {
        const uint64_t *values = (const uint64_t *)&calls[i];
        msgpack_pack_array(pk, 9);
        for (size_t c = 0; c < 9; c++)
            msgpack_pack_uint64(pk, values[c]);
    }
}

static void pack_by_hand(msgpack_sbuffer *buffer)
{
    msgpack_packer pk;
    msgpack_sbuffer_clear(buffer);
    msgpack_packer_init(&pk, buffer, msgpack_sbuffer_write);
    msgpack_pack_array(&pk, 2);
    msgpack_pack_uint64(&pk, WIRE_TYPE_WINDOW);
    msgpack_pack_map(&pk, 3);
    msgpack_pack_uint64(&pk, 10);
    msgpack_pack_array(&pk, RANKS);
    pack_ranks(&pk);
    msgpack_pack_uint64(&pk, 11);
    msgpack_pack_array(&pk, RANKS * PARTNERS);
    pack_pairs(&pk);
    msgpack_pack_uint64(&pk, 12);
    msgpack_pack_array(&pk, RANKS * CALLS);
    pack_calls(&pk);
}

static double median_us(uint64_t *ns)
{
    qsort(ns, ROUNDS, sizeof *ns, order_u64);
    return (double)ns[ROUNDS / 2] / 1e3 / REPEATS;
}

struct bench {
    struct wire_window window;
    struct wire_buffer buffer;
    struct wire_arena arena;
    struct wire_message message;
    msgpack_sbuffer packed;
    msgpack_unpacked unpacked;
};

static int encode(struct bench *b)
{
    return wire_encode(&b->buffer, WIRE_TYPE_WINDOW, &b->window);
}

static int encode_msgpack(struct bench *b)
{
    pack_by_hand(&b->packed);
    return 0;
}

static int decode(struct bench *b)
{
    return wire_decode(&b->message, &b->arena, b->buffer.bytes, b->buffer.length, NULL);
}

static int decode_msgpack(struct bench *b)
{
    size_t at = 0;
    return msgpack_unpack_next(&b->unpacked, (const char *)b->buffer.bytes, b->buffer.length,
                               &at) != MSGPACK_UNPACK_SUCCESS;
}

static uint64_t timed(int (*work)(struct bench *), struct bench *b)
{
    uint64_t begin = clock_process_cpu_ns();
    for (int i = 0; i < REPEATS; i++) {
        if (work(b)) {
            fputs("the codec failed\n", stderr);
            exit(1);
        }
    }
    return clock_process_cpu_ns() - begin;
}

static void compare(const char *name, struct bench *b, int (*ours)(struct bench *),
                    int (*theirs)(struct bench *))
{
    uint64_t our_ns[ROUNDS], their_ns[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        our_ns[i] = timed(ours, b);
        their_ns[i] = timed(theirs, b);
    }
    double our_us = median_us(our_ns), their_us = median_us(their_ns);
    printf("%s  %7.1f us  (%6.0f messages/s, %4.0f MB/s)   msgpack-c %7.1f us   ratio %.2f\n", name,
           our_us, 1e6 / our_us, (double)b->buffer.length / our_us, their_us, our_us / their_us);
}

int main(void)
{
    struct bench b = {0};
    make_rows();
    b.window = (struct wire_window){.seq = 123456,
                                    .job = "lmp-4711.0",
                                    .host = "node17.cluster.example",
                                    .window = 1709210000,
                                    .length_ns = 1000000000,
                                    .comms = comms,
                                    .comms_count = 2,
                                    .regions = regions,
                                    .regions_count = 2,
                                    .ranks = ranks,
                                    .ranks_count = RANKS,
                                    .pairs = pairs,
                                    .pairs_count = RANKS * PARTNERS,
                                    .calls = calls,
                                    .calls_count = RANKS * CALLS};
    msgpack_sbuffer_init(&b.packed);
    msgpack_unpacked_init(&b.unpacked);
    if (encode(&b))
        return 1;
    printf("window of %d ranks, %d partners each: %zu bytes\n", RANKS, PARTNERS, b.buffer.length);
    compare("encode", &b, encode, encode_msgpack);
    compare("decode", &b, decode, decode_msgpack);
    msgpack_sbuffer_destroy(&b.packed);
    msgpack_unpacked_destroy(&b.unpacked);
    wire_buffer_finish(&b.buffer);
    wire_arena_finish(&b.arena);
    return 0;
}

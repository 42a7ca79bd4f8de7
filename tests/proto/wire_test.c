#include "holter/error.h"
#include "holter/wire.h"
#include "proto/wire_table.h"
#include "tests/proto/wire_random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <msgpack.h>

struct codec {
    struct wire_buffer buffer;
    struct wire_arena arena;
    struct wire_message message;
    struct wire_fault fault;
};

static int make_codec(void **state)
{
    *state = calloc(1, sizeof(struct codec));
    return *state ? 0 : -1;
}

static int drop_codec(void **state)
{
    struct codec *codec = *state;
    wire_buffer_finish(&codec->buffer);
    wire_arena_finish(&codec->arena);
    free(codec);
    return 0;
}

static int decode(struct codec *codec, const void *bytes, size_t length)
{
    /* A copy of exact length, so that a read behind the message is one behind the memory. */
    uint8_t *copy = malloc(length ? length : 1);
    if (length)
        memcpy(copy, bytes, length);
    int result = wire_decode(&codec->message, &codec->arena, copy, length, &codec->fault);
    free(copy);
    return result;
}

#define decode_literal(codec, text) decode(codec, text, sizeof(text) - 1)

static void every_message_survives_the_round_trip(void **state)
{
    struct codec *codec = *state;
    uint64_t seed = 20240229;
    const struct wire_table *table;
    for (size_t t = 0; (table = wire_table_at(t)); t++) {
        for (int round = 0; round < 200; round++) {
            void *message = random_message(table, &seed, 20);
            assert_int_equal(wire_encode(&codec->buffer, table->type, message), 0);
            assert_int_equal(decode(codec, codec->buffer.bytes, codec->buffer.length), 0);
            assert_int_equal(codec->message.type, table->type);
            assert_null(random_message_difference(table, message, &codec->message.hello));
            random_message_free(table, message);
        }
    }
}

static void every_prefix_of_a_message_is_refused(void **state)
{
    struct codec *codec = *state;
    uint64_t seed = 7;
    const struct wire_table *table;
    for (size_t t = 0; (table = wire_table_at(t)); t++) {
        void *message = random_message(table, &seed, 3);
        assert_int_equal(wire_encode(&codec->buffer, table->type, message), 0);
        for (size_t length = 0; length < codec->buffer.length; length++)
            assert_int_equal(decode(codec, codec->buffer.bytes, length), -HOLTER_ETRUNCATED);
        random_message_free(table, message);
    }
}

static void bytes_behind_the_message_are_refused(void **state)
{
    struct codec *codec = *state;
    assert_int_equal(decode_literal(codec, "\x92\x08\x81\x01\x05"), 0);
    assert_int_equal(codec->message.ack.seq, 5);
    assert_int_equal(decode_literal(codec, "\x92\x08\x81\x01\x05\xc0"), -HOLTER_EMALFORMED);
}

static void bytes_are_handed_on_as_they_are(void **state)
{
    struct codec *codec = *state;
    static uint8_t bytes[WIRE_PART_BYTES + 1];
    static const size_t lengths[] = {0, 1, 255, 256, 65535, 65536, WIRE_PART_BYTES};
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7 + (i >> 8));
    struct wire_recorded message = {.job = "j", .type = 7, .bytes = bytes};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        message.bytes_count = lengths[i];
        assert_int_equal(wire_encode(&codec->buffer, WIRE_TYPE_RECORDED, &message), 0);
        assert_int_equal(decode(codec, codec->buffer.bytes, codec->buffer.length), 0);
        assert_int_equal(codec->message.recorded.bytes_count, lengths[i]);
        if (lengths[i] > 0)
            assert_memory_equal(codec->message.recorded.bytes, bytes, lengths[i]);
    }
    message.bytes_count = sizeof bytes;
    assert_int_equal(wire_encode(&codec->buffer, WIRE_TYPE_RECORDED, &message), -HOLTER_ELIMIT);
}

static void bytes_that_are_none_are_refused(void **state)
{
    struct codec *codec = *state;
#define HEAD "\x92\x37\x87\x01\xa1j\x02\x07\x03\x01\x04\x01\x06\x01\x07\x01\x08"
    assert_int_equal(decode_literal(codec, HEAD "\xc4\x02xy"), 0);
    assert_int_equal(codec->message.recorded.bytes_count, 2);
    assert_memory_equal(codec->message.recorded.bytes, "xy", 2);
    assert_int_equal(decode_literal(codec, HEAD "\xa2xy"), -HOLTER_ETYPE);
    assert_string_equal(codec->fault.where, "recorded.bytes");
    assert_int_equal(decode_literal(codec, HEAD "\xc7\x02\x01xy"), -HOLTER_ETYPE);
    assert_int_equal(decode_literal(codec, HEAD "\xc5\x00\x03xy"), -HOLTER_ETRUNCATED);
    assert_int_equal(decode_literal(codec, HEAD "\xc6\xff\xff\xff\xffxy"), -HOLTER_ELIMIT);
    assert_int_equal(decode_literal(codec, HEAD "\xc6\x00\x40\x00\x01xy"), -HOLTER_ELIMIT);
    assert_int_equal(decode_literal(codec, HEAD "\xc6\x00\x40\x00\x00xy"), -HOLTER_ETRUNCATED);
    assert_int_equal(decode_literal(codec, HEAD "\xc6\x00"), -HOLTER_ETRUNCATED);
#undef HEAD
}

static void unknown_fields_and_columns_are_skipped(void **state)
{
    struct codec *codec = *state;
    /* ack with key 99 = [nil, {"a": true}, 1.5], and a third part behind the fields */
    assert_int_equal(decode_literal(codec, "\x93\x08\x82\x63\x93\xc0\x81\xa1"
                                           "a\xc3\xcb\x3f\xf8\0\0\0\0\0\0\x01\x07\xa3xyz"),
                     0);
    assert_int_equal(codec->message.ack.seq, 7);
    /* places: a host row with one column too many, a bin 8 of two bytes */
    assert_int_equal(
        decode_literal(codec, "\x92\x29\x83\x01\xa1j\x02\x91\x92\xa1h\xc4\x02xx\x03\x90"), 0);
    assert_int_equal(codec->message.places.hosts_count, 1);
    assert_string_equal(codec->message.places.hosts[0].name, "h");
}

static void every_kind_of_value_can_be_skipped(void **state)
{
    struct codec *codec = *state;
    static const struct {
        const char *bytes;
        size_t length;
    } values[] = {
#define V(text) {text, sizeof(text) - 1}
        V("\x00"),
        V("\x7f"),
        V("\xff"),
        V("\xc0"),
        V("\xc2"),
        V("\xc3"),
        V("\xc4\x01x"),
        V("\xc5\x00\x01x"),
        V("\xc6\x00\x00\x00\x01x"),
        V("\xc7\x01\x05x"),
        V("\xc8\x00\x01\x05x"),
        V("\xc9\x00\x00\x00\x01\x05x"),
        V("\xca\0\0\0\0"),
        V("\xcb\0\0\0\0\0\0\0\0"),
        V("\xcc\x01"),
        V("\xcd\0\x01"),
        V("\xce\0\0\0\x01"),
        V("\xcf\0\0\0\0\0\0\0\x01"),
        V("\xd0\x01"),
        V("\xd1\0\x01"),
        V("\xd2\0\0\0\x01"),
        V("\xd3\0\0\0\0\0\0\0\x01"),
        V("\xd4\x05x"),
        V("\xd5\x05xx"),
        V("\xd6\x05xxxx"),
        V("\xd7\x05xxxxxxxx"),
        V("\xd8\x05xxxxxxxxxxxxxxxx"),
        V("\xd9\x01x"),
        V("\xda\0\x01x"),
        V("\xdb\0\0\0\x01x"),
        V("\xa2xx"),
        V("\x90"),
        V("\x80"),
        V("\xdc\0\x01\x05"),
        V("\xdd\0\0\0\x01\x05"),
        V("\xde\0\x01\x05\x06"),
        V("\xdf\0\0\0\x01\x05\x06"),
#undef V
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        uint8_t bytes[64] = "\x92\x08\x82\x63";
        memcpy(bytes + 4, values[i].bytes, values[i].length);
        memcpy(bytes + 4 + values[i].length, "\x01\x07", 2);
        assert_int_equal(decode(codec, bytes, 6 + values[i].length), 0);
        assert_int_equal(codec->message.ack.seq, 7);
        for (size_t length = 0; length < 6 + values[i].length; length++)
            assert_int_equal(decode(codec, bytes, length), -HOLTER_ETRUNCATED);
    }
    assert_int_equal(decode_literal(codec, "\x92\x08\x82\x63\xc1\x01\x07"), -HOLTER_EMALFORMED);
}

static void columns_of_the_first_release_must_be_there(void **state)
{
    struct codec *codec = *state;
    assert_int_equal(decode_literal(codec, "\x92\x29\x83\x01\xa1j\x02\x92\x91\xa1h\x90\x03\x90"),
                     -HOLTER_EMISSING);
    assert_string_equal(codec->fault.where, "places.hosts[1]");
}

static void missing_required_fields_are_named(void **state)
{
    struct codec *codec = *state;
    assert_int_equal(decode_literal(codec, "\x92\x03\x81\x01\x05"), -HOLTER_EMISSING);
    assert_string_equal(codec->fault.where, "refused.text");
    assert_int_equal(codec->fault.code, -HOLTER_EMISSING);
}

static void faults_name_row_and_column(void **state)
{
    struct codec *codec = *state;
    struct wire_pair_row rows[] = {{.messages = 1}, {.messages = 2, .size_class = 7}};
    struct wire_pair_window message = {.job = "j", .pairs = rows, .pairs_count = 2};
    assert_int_equal(wire_encode(&codec->buffer, WIRE_TYPE_PAIR_WINDOW, &message), 0);
    uint8_t *last = codec->buffer.bytes + codec->buffer.length - 3;
    assert_int_equal(*last, 7);
    *last = 0xc0; /* nil */
    assert_int_equal(decode(codec, codec->buffer.bytes, codec->buffer.length), -HOLTER_ETYPE);
    assert_string_equal(codec->fault.where, "pair_window.pairs[1].size_class");
    assert_int_equal(codec->fault.offset, codec->buffer.length - 2);
}

static void wrong_types_are_refused(void **state)
{
    struct codec *codec = *state;
    assert_int_equal(decode_literal(codec, "\x92\x08\x81\x01\xa1x"), -HOLTER_ETYPE);
    assert_int_equal(decode_literal(codec, "\x92\x08\x81\x01\xcb\0\0\0\0\0\0\0\0"), -HOLTER_ETYPE);
    assert_int_equal(decode_literal(codec, "\x92\x08\x81\xa1k\x05"), -HOLTER_ETYPE);
    assert_int_equal(decode_literal(codec, "\x92\x08\x91\x01"), -HOLTER_ETYPE);
    assert_int_equal(decode_literal(codec, "\x92\xa1h\x80"), -HOLTER_ETYPE);
    assert_int_equal(decode_literal(codec, "\x81\x01\x01"), -HOLTER_ETYPE);
    assert_int_equal(decode_literal(codec, "\x92\x03\x82\x01\x00\x02\xc4\x01x"), -HOLTER_ETYPE);
    assert_int_equal(decode_literal(codec, "\x92\x29\x83\x01\xa1j\x02\x91\x05\x03\x90"),
                     -HOLTER_ETYPE);
    assert_int_equal(decode_literal(codec, "\x91\x08"), -HOLTER_EMALFORMED);
}

static void values_over_their_range_are_refused(void **state)
{
    struct codec *codec = *state;
    assert_int_equal(decode_literal(codec, "\x92\x08\x81\x01\xff"), -HOLTER_ERANGE);
    assert_int_equal(decode_literal(codec, "\x92\x03\x82\x01\xcf\xff\0\0\0\0\0\0\0\x02\xa0"),
                     -HOLTER_ERANGE);
    assert_int_equal(decode_literal(codec, "\x92\x01\x81\x01\xce\0\x01\0\0"), -HOLTER_ERANGE);
    assert_string_equal(codec->fault.where, "hello.protocol");
}

static void integers_of_any_width_are_taken(void **state)
{
    struct codec *codec = *state;
    assert_int_equal(decode_literal(codec, "\x92\x08\x81\x01\xd3\0\0\0\0\0\0\0\x09"), 0);
    assert_int_equal(codec->message.ack.seq, 9);
    assert_int_equal(decode_literal(codec, "\x92\x03\x82\x01\xd1\xff\xfe\x02\xa0"), 0);
    assert_int_equal(codec->message.refused.code, -2);
    assert_int_equal(decode_literal(codec, "\x92\x03\x82\x01\xd3\x80\0\0\0\0\0\0\0\x02\xa0"), 0);
    assert_true(codec->message.refused.code == INT64_MIN);
}

static void a_field_given_twice_is_refused(void **state)
{
    struct codec *codec = *state;
    assert_int_equal(decode_literal(codec, "\x92\x08\x82\x01\x05\x01\x06"), -HOLTER_EMALFORMED);
    assert_string_equal(codec->fault.where, "ack.seq");
}

static void unknown_types_are_a_matter_of_protocol(void **state)
{
    struct codec *codec = *state;
    assert_int_equal(decode_literal(codec, "\x92\x13\x80"), -HOLTER_EPROTOCOL);
    assert_int_equal(decode_literal(codec, "\x92\xcd\x01\x08\x81\x01\x05"), -HOLTER_EPROTOCOL);
}

static void hostile_counts_take_no_memory(void **state)
{
    struct codec *codec = *state;
    static const struct {
        const char *bytes;
        size_t length;
        int error;
    } cases[] = {
#define C(text, error) {text, sizeof(text) - 1, error}
        C("\xdd\xff\xff\xff\xff\x08\x80", -HOLTER_EMISSING),
        C("\x92\x08\xdf\xff\xff\xff\xff\x01\x05", -HOLTER_ETRUNCATED),
        C("\x92\x29\x83\x01\xa1j\x02\xdd\xff\xff\xff\xff", -HOLTER_ELIMIT),
        C("\x92\x29\x83\x01\xa1j\x02\xdd\x00\x10\x00\x00", -HOLTER_ETRUNCATED),
        C("\x92\x29\x83\x01\xa1j\x02\x91\xdd\xff\xff\xff\xff\xa1h", -HOLTER_ETRUNCATED),
        C("\x92\x29\x83\x01\xdb\xff\xff\xff\xff", -HOLTER_ELIMIT),
        C("\x92\x29\x83\x01\xd9\x40xx", -HOLTER_ETRUNCATED),
        C("\x92\x08\x82\x63\xdd\xff\xff\xff\xff\x01\x05", -HOLTER_ETRUNCATED),
        C("\x92\x08\x82\x63\xdf\xff\xff\xff\xff\x01\x05", -HOLTER_ETRUNCATED),
        C("\x92\x08\x82\x63\xc6\xff\xff\xff\xff\x01\x05", -HOLTER_ETRUNCATED),
        C("\x92\x08\x82\x63\xc9\xff\xff\xff\xff\x01\x05", -HOLTER_ETRUNCATED),
#undef C
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(decode(codec, cases[i].bytes, cases[i].length), cases[i].error);
        assert_true(codec->arena.used < 64);
    }
}

static void memory_stays_in_proportion_to_the_bytes(void **state)
{
    struct codec *codec = *state;
    uint64_t seed = 99;
    const struct wire_table *table;
    for (size_t t = 0; (table = wire_table_at(t)); t++) {
        void *message = random_message(table, &seed, 500);
        assert_int_equal(wire_encode(&codec->buffer, table->type, message), 0);
        assert_int_equal(decode(codec, codec->buffer.bytes, codec->buffer.length), 0);
        assert_true(codec->arena.used <= 8 * codec->buffer.length);
        random_message_free(table, message);
    }
}

static void nesting_is_bounded(void **state)
{
    struct codec *codec = *state;
    uint8_t bytes[1024] = "\x92\x08\x82\x63";
    for (unsigned depth = 1; depth < 1000; depth++) {
        /* key 99 = [[[... nil ...]]], which begins at the third level */
        memset(bytes + 4, 0x91, depth);
        memcpy(bytes + 4 + depth, "\xc0\x01\x05", 3);
        assert_int_equal(decode(codec, bytes, depth + 7),
                         depth + 2 <= WIRE_DEPTH ? 0 : -HOLTER_ELIMIT);
        memset(bytes + 4, 0x81, depth); /* as keys of maps */
        assert_int_not_equal(decode(codec, bytes, depth + 7), 0);
    }
}

static void a_message_over_the_longest_is_refused(void **state)
{
    struct codec *codec = *state;
    uint8_t *bytes = calloc(1, WIRE_MESSAGE_BYTES + 1);
    memcpy(bytes, "\x92\x08\x82\x01\x05\x63\xc6\x00\xff\xff\xf5", 11);
    assert_int_equal(decode(codec, bytes, WIRE_MESSAGE_BYTES), 0);
    bytes[10]++;
    assert_int_equal(decode(codec, bytes, WIRE_MESSAGE_BYTES + 1), -HOLTER_ELIMIT);
    free(bytes);
}

static void the_encoder_keeps_the_limits(void **state)
{
    struct codec *codec = *state;
    struct wire_hello hello = {.protocol = 65536, .role = "agent", .version = "1", .host = "h"};
    assert_int_equal(wire_encode(&codec->buffer, WIRE_TYPE_HELLO, &hello), -HOLTER_ERANGE);
    assert_int_equal(codec->buffer.length, 0);
    struct wire_window window = {.job = "j", .host = "h", .node_count = 2};
    struct wire_node_row nodes[2] = {{.host = "a"}, {.host = "b"}};
    window.node = nodes;
    assert_int_equal(wire_encode(&codec->buffer, WIRE_TYPE_WINDOW, &window), -HOLTER_ELIMIT);
    assert_int_equal(wire_encode(&codec->buffer, (enum wire_type)19, &hello), -HOLTER_EPROTOCOL);
}

static void the_encoder_refuses_what_no_peer_would_take(void **state)
{
    struct codec *codec = *state;
    struct wire_rank_row *ranks = malloc(100000 * sizeof *ranks);
    memset(ranks, 0xff, 100000 * sizeof *ranks);
    for (size_t i = 0; i < 100000; i++)
        ranks[i].in_call = ranks[i].process_state = 0;
    struct wire_rank_window message = {.job = "j", .ranks = ranks, .ranks_count = 100000};
    assert_int_equal(wire_encode(&codec->buffer, WIRE_TYPE_RANK_WINDOW, &message), -HOLTER_ELIMIT);
    message.ranks_count = WIRE_PART_ROWS;
    assert_int_equal(wire_encode(&codec->buffer, WIRE_TYPE_RANK_WINDOW, &message), 0);
    assert_true(codec->buffer.length < 5u << 20);
    free(ranks);
}

static const char *text_after_round_trip(struct codec *codec, const char *text)
{
    struct wire_refused message = {.text = text};
    assert_int_equal(wire_encode(&codec->buffer, WIRE_TYPE_REFUSED, &message), 0);
    assert_int_equal(decode(codec, codec->buffer.bytes, codec->buffer.length), 0);
    return codec->message.refused.text;
}

static void long_texts_are_cut_between_characters(void **state)
{
    char text[300];
    memset(text, 'x', sizeof text);
    memcpy(text + 254, "€€€", 10); /* limit 256 would split the first */
    const char *cut = text_after_round_trip(*state, text);
    assert_int_equal(strlen(cut), 254);
    memcpy(text + 253, "€€€", 10);
    cut = text_after_round_trip(*state, text);
    assert_int_equal(strlen(cut), 256);
    assert_string_equal(cut + 253, "€");
}

static void bytes_that_are_no_text_become_question_marks(void **state)
{
    assert_string_equal(text_after_round_trip(*state, "/home/m\xfcller/\xed\xa0\x80/\xc0\xaf"),
                        "/home/m?ller/??"
                        "?/??");
    assert_string_equal(text_after_round_trip(*state, "\xf4\x90\x80\x80\xe2\x82"), "??????");
    assert_string_equal(text_after_round_trip(*state, NULL), "");
}

static void texts_that_are_none_are_refused(void **state)
{
    struct codec *codec = *state;
    assert_int_equal(decode_literal(codec, "\x92\x03\x82\x01\x00\x02\xa2\xc3\x28"),
                     -HOLTER_EMALFORMED);
    assert_int_equal(decode_literal(codec, "\x92\x03\x82\x01\x00\x02\xa3"
                                           "a\0b"),
                     -HOLTER_EMALFORMED);
}

static void absent_optional_fields_have_their_defaults(void **state)
{
    struct codec *codec = *state;
    struct wire_hello hello = {.protocol = 1, .role = "viewer", .version = "1", .host = "h"};
    assert_int_equal(wire_encode(&codec->buffer, WIRE_TYPE_HELLO, &hello), 0);
    assert_int_equal(codec->buffer.bytes[2], 0x85); /* five fields of seven */
    assert_int_equal(decode(codec, codec->buffer.bytes, codec->buffer.length), 0);
    assert_int_equal(codec->message.hello.instance, 0);
    assert_string_equal(codec->message.hello.session, "");
}

static void an_arena_is_reused_and_gives_back_what_it_does_not_need(void **state)
{
    struct codec *codec = *state;
    static const char small[] = "\x92\x03\x82\x01\x00\x02\xa1x";
    uint8_t *large = malloc(1 << 20);
    size_t length = 0;
    memcpy(large, "\x92\x2c\x84\x01\xa1j\x02\x00\x03\x01\x06\xdc\xf0\x00", 14);
    for (length = 14; length < 14 + 8 * 0xf000; length += 8)
        memcpy(large + length, "\x97\0\0\0\0\0\0\0", 8);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(decode(codec, large, length), 0);
        assert_int_equal(codec->message.pair_window.pairs_count, 0xf000);
    }
    void *block = codec->arena.blocks;
    assert_int_equal(decode(codec, large, length), 0);
    assert_ptr_equal(codec->arena.blocks, block);
    for (int round = 0; round < 3; round++)
        assert_int_equal(decode_literal(codec, small), 0);
    assert_true(codec->arena.used < 16);
    free(large);
}

/* ---- against msgpack-c --------------------------------------------------- */

static int same_scalar(enum wire_kind kind, const void *slot, const msgpack_object *object)
{
    switch (kind) {
    case WIRE_KIND_U64:
        return object->type == MSGPACK_OBJECT_POSITIVE_INTEGER &&
               object->via.u64 == *(const uint64_t *)slot;
    case WIRE_KIND_I64:
        return (object->type == MSGPACK_OBJECT_POSITIVE_INTEGER ||
                object->type == MSGPACK_OBJECT_NEGATIVE_INTEGER) &&
               object->via.i64 == *(const int64_t *)slot;
    case WIRE_KIND_F64:
        return (object->type == MSGPACK_OBJECT_FLOAT64 || object->type == MSGPACK_OBJECT_FLOAT32) &&
               (object->via.f64 == *(const double *)slot ||
                (isnan(object->via.f64) && isnan(*(const double *)slot)));
    case WIRE_KIND_STR:
        return object->type == MSGPACK_OBJECT_STR &&
               strlen(*(const char *const *)slot) == object->via.str.size &&
               (object->via.str.size == 0 || /* its pointer may be NULL then */
                memcmp(object->via.str.ptr, *(const char *const *)slot, object->via.str.size) == 0);
    case WIRE_KIND_ROWS:
    case WIRE_KIND_BIN:
        break;
    }
    return 0;
}

static int same_bytes(const uint8_t *slot, const msgpack_object *object)
{
    const void *bytes;
    uint64_t count;
    memcpy(&bytes, slot, sizeof bytes);
    memcpy(&count, slot + 8, sizeof count);
    return object->type == MSGPACK_OBJECT_BIN && object->via.bin.size == count &&
           (count == 0 || memcmp(object->via.bin.ptr, bytes, count) == 0);
}

static int same_rows(const struct wire_rows *table, const uint8_t *slot,
                     const msgpack_object *object)
{
    const uint8_t *rows;
    uint64_t count;
    memcpy(&rows, slot, sizeof rows);
    memcpy(&count, slot + 8, sizeof count);
    if (object->type != MSGPACK_OBJECT_ARRAY || object->via.array.size != count)
        return 0;
    for (uint64_t r = 0; r < count; r++) {
        const msgpack_object *row = &object->via.array.ptr[r];
        if (row->type != MSGPACK_OBJECT_ARRAY || row->via.array.size < table->base)
            return 0;
        for (size_t c = 0; c < table->count && c < row->via.array.size; c++) {
            if (!same_scalar(table->columns[c].kind,
                             rows + r * table->size + table->columns[c].offset,
                             &row->via.array.ptr[c]))
                return 0;
        }
    }
    return 1;
}

/* Is the decoded message what msgpack-c makes of the same bytes? */
static int agrees(const struct wire_message *message, const void *bytes, size_t length)
{
    msgpack_unpacked unpacked;
    size_t at = 0;
    msgpack_unpacked_init(&unpacked);
    int good = msgpack_unpack_next(&unpacked, bytes, length, &at) == MSGPACK_UNPACK_SUCCESS &&
               at == length && unpacked.data.type == MSGPACK_OBJECT_ARRAY &&
               unpacked.data.via.array.ptr[0].via.u64 == message->type;
    const struct wire_table *table = wire_table(message->type);
    for (uint32_t i = 0; good && i < unpacked.data.via.array.ptr[1].via.map.size; i++) {
        const msgpack_object_kv *pair = &unpacked.data.via.array.ptr[1].via.map.ptr[i];
        for (size_t f = 0; f < table->count; f++) {
            const struct wire_field *field = &table->fields[f];
            const uint8_t *slot = (const uint8_t *)&message->hello + field->offset;
            if (field->key != pair->key.via.u64)
                continue;
            good = field->kind == WIRE_KIND_ROWS  ? same_rows(field->rows(), slot, &pair->val)
                   : field->kind == WIRE_KIND_BIN ? same_bytes(slot, &pair->val)
                                                  : same_scalar(field->kind, slot, &pair->val);
        }
    }
    msgpack_unpacked_destroy(&unpacked);
    return good;
}

static void what_the_decoder_accepts_msgpack_c_reads_alike(void **state)
{
    struct codec *codec = *state;
    uint64_t seed = 4711;
    unsigned accepted = 0, refused = 0;
    size_t tables = 0;
    while (wire_table_at(tables) != NULL)
        tables++;
    for (size_t round = 0; round < 20000; round++) {
        const struct wire_table *table = wire_table_at(round % tables);
        void *message = random_message(table, &seed, 4);
        assert_int_equal(wire_encode(&codec->buffer, table->type, message), 0);
        random_message_free(table, message);
        uint8_t *bytes = codec->buffer.bytes;
        size_t length = codec->buffer.length;
        for (uint64_t changes = random_below(&seed, 4); changes > 0; changes--)
            bytes[random_below(&seed, length)] = (uint8_t)random_next(&seed);
        if (decode(codec, bytes, length) == 0) {
            assert_true(agrees(&codec->message, bytes, length));
            accepted++;
        } else {
            assert_true(codec->fault.code < 0 && codec->fault.offset <= length);
            refused++;
        }
    }
    assert_true(accepted > 1000 && refused > 1000);
}

static void topics_come_from_the_list_of_messages(void **state)
{
    (void)state;
    assert_string_equal(wire_topic(WIRE_TYPE_RANK_WINDOW), "ranks");
    assert_string_equal(wire_topic(WIRE_TYPE_ALERT), "alerts");
    assert_null(wire_topic(WIRE_TYPE_WINDOW));
    assert_null(wire_topic(0));
    assert_string_equal(wire_type_name(WIRE_TYPE_WINDOW), "window");
    assert_null(wire_type_name(19));
}

static void keys_and_numbers_are_unique(void **state)
{
    (void)state;
    const struct wire_table *table;
    unsigned last = 0;
    for (size_t t = 0; (table = wire_table_at(t)); t++) {
        assert_true(table->type > last);
        last = table->type;
        uint64_t seen = 0;
        for (size_t f = 0; f < table->count; f++) {
            assert_in_range(table->fields[f].key, 1, 63);
            assert_false(seen >> table->fields[f].key & 1);
            seen |= UINT64_C(1) << table->fields[f].key;
        }
    }
}

/* Of two lists that are cut, the second one begins in the part in which the first one ends. */
static void long_lists_are_cut_into_parts_one_after_the_other(void **state)
{
    const size_t pairs = WIRE_PART_ROWS + 10;
    struct wire_comm_row comm = {.id = 1};
    struct wire_pair_row *rows = calloc(pairs, sizeof *rows);
    struct wire_seat_row *seats = calloc(pairs, sizeof *seats);
    struct wire_gain_row gain = {.name = "hop-bytes"};
    struct wire_pair_window window = {
        .comms = &comm, .comms_count = 1, .pairs = rows, .pairs_count = pairs};
    struct wire_mapping mapping = {
        .gains = &gain, .gains_count = 1, .seats = seats, .seats_count = pairs};
    struct wire_parts parts = wire_parts_of(WIRE_TYPE_PAIR_WINDOW, &window, "pairs");
    (void)state;
    assert_int_equal(wire_parts_next(&parts), 1);
    assert_int_equal(window.pairs_count, WIRE_PART_ROWS);
    assert_int_equal(window.comms_count, 1);
    assert_int_equal(window.more, 1);
    assert_int_equal(wire_parts_next(&parts), 1);
    assert_ptr_equal(window.pairs, rows + WIRE_PART_ROWS);
    assert_int_equal(window.pairs_count, 10);
    assert_int_equal(window.comms_count, 1); /* before the list that is cut: in every part */
    assert_int_equal(window.more, 0);
    assert_int_equal(wire_parts_next(&parts), 0);

    parts = wire_parts_of(WIRE_TYPE_MAPPING, &mapping, "gains");
    assert_int_equal(wire_parts_next(&parts), 1);
    assert_int_equal(mapping.gains_count, 1);
    assert_int_equal(mapping.seats_count, WIRE_PART_ROWS - 1);
    assert_int_equal(wire_parts_next(&parts), 1);
    assert_int_equal(mapping.gains_count, 0);
    assert_ptr_equal(mapping.seats, seats + WIRE_PART_ROWS - 1);
    assert_int_equal(mapping.seats_count, 11);
    assert_int_equal(wire_parts_next(&parts), 0);
    free(rows);
    free(seats);
}

static void a_message_without_rows_is_one_part(void **state)
{
    struct wire_phases none = {.job = "j", .more = 1};
    struct wire_parts parts = wire_parts_of(WIRE_TYPE_PHASES, &none, "phases");
    (void)state;
    assert_int_equal(wire_parts_next(&parts), 1);
    assert_int_equal(none.more, 0);
    assert_int_equal(wire_parts_next(&parts), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, make_codec, drop_codec)
    const struct CMUnitTest tests[] = {
        T(every_message_survives_the_round_trip),
        T(every_prefix_of_a_message_is_refused),
        T(bytes_behind_the_message_are_refused),
        T(bytes_are_handed_on_as_they_are),
        T(bytes_that_are_none_are_refused),
        T(unknown_fields_and_columns_are_skipped),
        T(every_kind_of_value_can_be_skipped),
        T(columns_of_the_first_release_must_be_there),
        T(missing_required_fields_are_named),
        T(faults_name_row_and_column),
        T(wrong_types_are_refused),
        T(values_over_their_range_are_refused),
        T(integers_of_any_width_are_taken),
        T(a_field_given_twice_is_refused),
        T(unknown_types_are_a_matter_of_protocol),
        T(hostile_counts_take_no_memory),
        T(memory_stays_in_proportion_to_the_bytes),
        T(nesting_is_bounded),
        T(a_message_over_the_longest_is_refused),
        T(the_encoder_keeps_the_limits),
        T(the_encoder_refuses_what_no_peer_would_take),
        T(long_texts_are_cut_between_characters),
        T(bytes_that_are_no_text_become_question_marks),
        T(texts_that_are_none_are_refused),
        T(absent_optional_fields_have_their_defaults),
        T(an_arena_is_reused_and_gives_back_what_it_does_not_need),
        T(what_the_decoder_accepts_msgpack_c_reads_alike),
        T(topics_come_from_the_list_of_messages),
        T(keys_and_numbers_are_unique),
        T(long_lists_are_cut_into_parts_one_after_the_other),
        T(a_message_without_rows_is_one_part),
    };
#undef T
    return cmocka_run_group_tests(tests, NULL, NULL);
}

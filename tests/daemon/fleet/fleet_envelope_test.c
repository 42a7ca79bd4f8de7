/* Envelopes of a fleet: what was put in comes out, and what is malformed is rejected. */
#include "daemon/fleet/fleet_envelope.h"

#include "holter/error.h"
#include "holter/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct fleet_entry entries[] = {
    {1, 2, (const uint8_t *)"abc", 3},
    {UINT64_MAX, 0, (const uint8_t *)"", 0},
    {3, UINT64_MAX, (const uint8_t *)"\0\xff", 2},
};
enum { ENTRIES = sizeof(entries) / sizeof(*entries) };

static struct fleet_envelope envelope_of_entries(uint64_t position)
{
    struct fleet_envelope envelope = {0};
    for (size_t i = 0; i < ENTRIES; i++)
        assert_int_equal(fleet_envelope_add(&envelope, &entries[i]), 0);
    fleet_envelope_set_position(&envelope, position);
    return envelope;
}

static void entries_come_out_as_they_were_put_in(void **state)
{
    (void)state;
    struct fleet_envelope envelope = envelope_of_entries(0x0102030405060708);
    struct fleet_reader reader;
    struct fleet_entry entry;
    assert_int_equal(envelope.entries, ENTRIES);
    assert_int_equal(fleet_reader_init(&reader, envelope.bytes, envelope.length), 0);
    assert_true(reader.position == 0x0102030405060708);
    for (size_t i = 0; i < ENTRIES; i++) {
        assert_int_equal(fleet_reader_next(&reader, &entry), 1);
        assert_true(entry.instance == entries[i].instance && entry.time_ns == entries[i].time_ns);
        assert_int_equal(entry.length, entries[i].length);
        assert_memory_equal(entry.bytes, entries[i].bytes, entry.length);
    }
    assert_int_equal(fleet_reader_next(&reader, &entry), 0);
    assert_int_equal(fleet_reader_next(&reader, &entry), 0);
    fleet_envelope_finish(&envelope);
    assert_int_equal(envelope.length, 0);
}

/* @return what reading the first bytes of an envelope ends with */
static int end_of(const struct fleet_envelope *envelope, size_t length)
{
    struct fleet_reader reader;
    struct fleet_entry entry;
    uint8_t *copy = malloc(length + 1); /* so that a sanitizer sees a byte beyond it read */
    assert_non_null(copy);
    copy = realloc(copy, length == 0 ? 1 : length);
    memcpy(copy, envelope->bytes, length);
    int code = fleet_reader_init(&reader, copy, length);
    while (code == 0 && (code = fleet_reader_next(&reader, &entry)) == 1)
        code = 0;
    free(copy);
    return code;
}

static void an_envelope_that_is_cut_inside_an_entry_is_malformed(void **state)
{
    (void)state;
    struct fleet_envelope envelope = envelope_of_entries(1);
    size_t whole[ENTRIES + 1] = {FLEET_HEAD_BYTES};
    for (size_t i = 0; i < ENTRIES; i++)
        whole[i + 1] = whole[i] + FLEET_ENTRY_BYTES + entries[i].length;
    size_t next = 0;
    for (size_t length = 0; length <= envelope.length; length++) {
        const int is_whole = next <= ENTRIES && length == whole[next];
        assert_int_equal(end_of(&envelope, length), is_whole ? 0 : -HOLTER_EMALFORMED);
        next += (size_t)is_whole;
    }
    assert_int_equal(next, ENTRIES + 1);
    fleet_envelope_finish(&envelope);
}

static void other_bytes_are_no_envelope(void **state)
{
    (void)state;
    struct fleet_envelope envelope = envelope_of_entries(1);
    for (size_t i = 0; i < 8; i++) {
        envelope.bytes[i] ^= 1;
        assert_int_equal(end_of(&envelope, envelope.length), -HOLTER_EMALFORMED);
        envelope.bytes[i] ^= 1;
    }
    fleet_envelope_finish(&envelope);
}

static void a_message_that_is_too_long_is_not_added(void **state)
{
    (void)state;
    struct fleet_envelope envelope = {0};
    const struct fleet_entry entry = {1, 1, (const uint8_t *)"", WIRE_MESSAGE_BYTES + 1};
    assert_int_equal(fleet_envelope_add(&envelope, &entry), -HOLTER_ERANGE);
    assert_int_equal(envelope.length, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_come_out_as_they_were_put_in),
        cmocka_unit_test(an_envelope_that_is_cut_inside_an_entry_is_malformed),
        cmocka_unit_test(other_bytes_are_no_envelope),
        cmocka_unit_test(a_message_that_is_too_long_is_not_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

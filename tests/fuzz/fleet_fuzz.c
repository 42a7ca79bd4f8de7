/* Any bytes as an envelope of a fleet: its entries lie in it, and go into a job or are refused with
 * a reason, as a worker does; what was read can be written again. */
#include "daemon/fleet/fleet_envelope.h"
#include "daemon/job/job_accept.h"
#include "daemon/storage/block/recorded.h"
#include "proto/wire_table.h"
#include "tests/fuzz/fuzz.h"
#include "tests/proto/wire_random.h"

#include <stdlib.h>
#include <string.h>

#define S UINT64_C(1000000000)

static int fleet_fuzz_wants(void *user, const char *job, enum wire_type type)
{
    (void)user;
    (void)job;
    (void)type;
    return 0;
}

static void fleet_fuzz_publish(void *user, const char *job, enum wire_type type,
                               const void *message)
{
    (void)user;
    (void)job;
    (void)type;
    (void)message;
}

static void fleet_fuzz_accept(struct job *job, const struct fleet_entry *entry)
{
    struct wire_arena arena = {0};
    struct wire_message message;
    struct job_fault fault = {""};
    uint64_t capture;
    const struct recorded head = {.instance = entry->instance, .received_ns = S};
    if (wire_decode(&message, &arena, entry->bytes, entry->length, NULL) == 0)
        FUZZ_HOLDS(job_accept(job, &head, &message, &capture, &fault) == 0 ||
                   fault.text[0] != '\0');
    wire_arena_finish(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fleet_reader reader;
    struct fleet_entry entry;
    struct fleet_envelope again = {0};
    struct job *job = NULL;
    const struct job_options options = {
        .window_ns = S, .grace_ns = S, .lost_ns = 30 * S, .most_pairs = 100};
    const struct job_output output = {NULL, fleet_fuzz_wants, fleet_fuzz_publish, NULL};
    if (fleet_reader_init(&reader, data, size) != 0 ||
        job_create(&job, "fuzz.0", &options, &output) != 0)
        return 0;
    int code;
    while ((code = fleet_reader_next(&reader, &entry)) == 1) {
        FUZZ_HOLDS(entry.bytes >= data && entry.length <= size - (size_t)(entry.bytes - data));
        fleet_fuzz_accept(job, &entry);
        FUZZ_HOLDS(fleet_envelope_add(&again, &entry) == 0);
    }
    FUZZ_HOLDS(fleet_reader_next(&reader, &entry) == 0);
    if (again.length > 0) {
        fleet_envelope_set_position(&again, reader.position);
        FUZZ_HOLDS(again.length <= size && memcmp(again.bytes, data, again.length) == 0);
        FUZZ_HOLDS(code != 0 || again.length == size);
    }
    fleet_envelope_finish(&again);
    job_destroy(job);
    return 0;
}

size_t fuzz_seed(unsigned number, uint8_t *out)
{
    static const enum wire_type types[] = {WIRE_TYPE_RANKS, WIRE_TYPE_WINDOW, WIRE_TYPE_BYE};
    uint64_t random = 1 + number;
    struct fleet_envelope envelope = {0};
    struct wire_buffer buffer = {0};
    size_t length = 0;
    if (number >= 8)
        return SIZE_MAX;
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        const struct wire_table *table = wire_table(types[i]);
        void *message = random_message(table, &random, 3);
        if (wire_encode(&buffer, table->type, message) == 0) {
            const struct fleet_entry entry = {number, i, buffer.bytes, buffer.length};
            fleet_envelope_add(&envelope, &entry);
        }
        random_message_free(table, message);
    }
    if (envelope.length <= FUZZ_BYTES)
        memcpy(out, envelope.bytes, length = envelope.length);
    fleet_envelope_finish(&envelope);
    wire_buffer_finish(&buffer);
    return length;
}

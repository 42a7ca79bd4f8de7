/* Envelopes: several messages of a job in one message of a fleet's stream. */
#include "daemon/fleet/fleet_envelope.h"

#include "daemon/analysis/tables/array.h"
#include "holter/error.h"
#include "holter/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t envelope_magic[8] = {'H', 'L', 'T', 'R', 'F', 'L', 'T', '1'};

void fleet_put(uint8_t *out, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        out[i] = (uint8_t)(value >> (8 * i));
}

uint64_t fleet_get(const uint8_t *in, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)in[i] << (8 * i);
    return value;
}

int fleet_envelope_add(struct fleet_envelope *envelope, const struct fleet_entry *entry)
{
    size_t at = envelope->length == 0 ? FLEET_HEAD_BYTES : envelope->length;
    if (entry->length > WIRE_MESSAGE_BYTES)
        return -HOLTER_ERANGE;
    if (ARRAY_FIT(envelope->bytes, envelope->capacity, at + FLEET_ENTRY_BYTES + entry->length) != 0)
        return -ENOMEM;
    if (envelope->length == 0) {
        memcpy(envelope->bytes, envelope_magic, sizeof(envelope_magic));
        fleet_put(envelope->bytes + sizeof(envelope_magic), 0, 8);
    }
    uint8_t *out = envelope->bytes + at;
    fleet_put(out, entry->instance, 8);
    fleet_put(out + 8, entry->time_ns, 8);
    fleet_put(out + 16, entry->length, 4);
    memcpy(out + FLEET_ENTRY_BYTES, entry->bytes, entry->length);
    envelope->length = at + FLEET_ENTRY_BYTES + entry->length;
    envelope->entries++;
    return 0;
}

void fleet_envelope_set_position(struct fleet_envelope *envelope, uint64_t position)
{
    fleet_put(envelope->bytes + sizeof(envelope_magic), position, 8);
}

void fleet_envelope_finish(struct fleet_envelope *envelope)
{
    free(envelope->bytes);
    *envelope = (struct fleet_envelope){0};
}

int fleet_reader_init(struct fleet_reader *reader, const void *bytes, size_t length)
{
    const uint8_t *in = bytes;
    if (length < FLEET_HEAD_BYTES || memcmp(in, envelope_magic, sizeof(envelope_magic)) != 0)
        return -HOLTER_EMALFORMED;
    *reader = (struct fleet_reader){.bytes = in,
                                    .length = length,
                                    .at = FLEET_HEAD_BYTES,
                                    .position = fleet_get(in + sizeof(envelope_magic), 8)};
    return 0;
}

int fleet_reader_next(struct fleet_reader *reader, struct fleet_entry *entry)
{
    const uint8_t *in = reader->bytes + reader->at;
    size_t left = reader->length - reader->at;
    if (left == 0)
        return 0;
    reader->at = reader->length; /* of a malformed envelope nothing more is read */
    if (left < FLEET_ENTRY_BYTES)
        return -HOLTER_EMALFORMED;
    uint64_t length = fleet_get(in + 16, 4);
    if (length > left - FLEET_ENTRY_BYTES || length > WIRE_MESSAGE_BYTES)
        return -HOLTER_EMALFORMED;
    *entry = (struct fleet_entry){fleet_get(in, 8), fleet_get(in + 8, 8), in + FLEET_ENTRY_BYTES,
                                  (size_t)length};
    reader->at -= left - FLEET_ENTRY_BYTES - (size_t)length;
    return 1;
}

/* The encoder: walks the tables and packs with msgpack-c. */
#include "holter/error.h"
#include "proto/utf8.h"
#include "proto/wire_table.h"

#include <errno.h>
#include <math.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

void wire_buffer_finish(struct wire_buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (struct wire_buffer){0};
}

static int wire_writer_grow(struct wire_buffer *buffer, size_t length)
{
    size_t capacity = buffer->capacity ? buffer->capacity : 512;
    while (capacity - buffer->length < length)
        capacity *= 2;
    uint8_t *bytes = realloc(buffer->bytes, capacity);
    if (!bytes)
        return -ENOMEM;
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return 0;
}

static inline int wire_writer_append(struct wire_buffer *buffer, const void *bytes, size_t length)
{
    if (length > WIRE_MESSAGE_BYTES - buffer->length)
        return -HOLTER_ELIMIT;
    if (length > buffer->capacity - buffer->length) {
        int error = wire_writer_grow(buffer, length);
        if (error)
            return error;
    }
    memcpy(buffer->bytes + buffer->length, bytes, length);
    buffer->length += length;
    return 0;
}

/* The functions pack_uint64() and so on: those of msgpack-c with wire_writer_append() compiled in.
 * Most values take a byte or two, so a call through a pointer for each costs more than the rest. */
#define msgpack_pack_inline_func(name) static inline int pack##name
#define msgpack_pack_inline_func_cint(name) static inline int pack##name
#define msgpack_pack_inline_func_fixint(name) static inline int pack_fix##name
#define msgpack_pack_user struct wire_buffer *
#define msgpack_pack_append_buffer(buffer, bytes, length)                                          \
    return wire_writer_append(buffer, bytes, length)
#include <msgpack/pack_template.h>

/* The decoder takes only UTF-8, but paths and names are any bytes: those that are no text become
 * '?'. */
static int pack_text(struct wire_buffer *buffer, const char *text, size_t limit)
{
    if (!text)
        text = "";
    size_t length = utf8_cut(text, strnlen(text, limit + 1), limit);
    int error = pack_str(buffer, length);
    while (!error && length > 0) {
        size_t valid = utf8_prefix(text, length);
        error =
            valid ? wire_writer_append(buffer, text, valid) : wire_writer_append(buffer, "?", 1);
        size_t step = valid ? valid : 1;
        text += step;
        length -= step;
    }
    return error;
}

static int pack_value(struct wire_buffer *buffer, enum wire_kind kind, uint64_t limit,
                      const void *slot)
{
    switch (kind) {
    case WIRE_KIND_U64: {
        uint64_t value = *(const uint64_t *)slot;
        return value > limit ? -HOLTER_ERANGE : pack_uint64(buffer, value);
    }
    case WIRE_KIND_I64:
        return pack_int64(buffer, *(const int64_t *)slot);
    case WIRE_KIND_F64:
        return pack_double(buffer, *(const double *)slot);
    case WIRE_KIND_STR:
        return pack_text(buffer, *(const char *const *)slot, limit);
    case WIRE_KIND_ROWS:
    case WIRE_KIND_BIN:
        break;
    }
    return -HOLTER_EINTERNAL;
}

static int pack_rows(struct wire_buffer *buffer, const struct wire_field *field,
                     const uint8_t *rows, uint64_t count)
{
    const struct wire_rows *table = field->rows();
    if (count > field->limit)
        return -HOLTER_ELIMIT;
    int error = pack_array(buffer, count);
    for (uint64_t i = 0; i < count && !error; i++, rows += table->size) {
        error = pack_array(buffer, table->count);
        for (size_t c = 0; c < table->count && !error; c++) {
            const struct wire_column *column = &table->columns[c];
            error = pack_value(buffer, column->kind, column->limit, rows + column->offset);
        }
    }
    return error;
}

static int pack_bytes(struct wire_buffer *buffer, const struct wire_field *field,
                      const uint8_t *bytes, uint64_t count)
{
    if (count > field->limit)
        return -HOLTER_ELIMIT;
    int error = pack_bin(buffer, count);
    return error || count == 0 ? error : wire_writer_append(buffer, bytes, count);
}

uint64_t wire_count_of(const uint8_t *slot)
{
    uint64_t count;
    memcpy(&count, slot + sizeof(void *), sizeof count);
    return count;
}

int wire_is_present(const struct wire_field *field, const uint8_t *slot)
{
    if (field->required)
        return 1;
    switch (field->kind) {
    case WIRE_KIND_U64:
    case WIRE_KIND_I64:
        return *(const uint64_t *)(const void *)slot != 0;
    case WIRE_KIND_F64:
        return !isnan(*(const double *)(const void *)slot);
    case WIRE_KIND_STR: {
        const char *text = *(const char *const *)(const void *)slot;
        return text && *text;
    }
    case WIRE_KIND_ROWS:
    case WIRE_KIND_BIN:
        return wire_count_of(slot) != 0;
    }
    return 0;
}

static int pack_field(struct wire_buffer *buffer, const struct wire_field *field,
                      const uint8_t *slot)
{
    int error = pack_uint64(buffer, field->key);
    if (error)
        return error;
    const uint8_t *const *first = (const uint8_t *const *)(const void *)slot;
    if (field->kind == WIRE_KIND_ROWS)
        return pack_rows(buffer, field, *first, wire_count_of(slot));
    if (field->kind == WIRE_KIND_BIN)
        return pack_bytes(buffer, field, *first, wire_count_of(slot));
    return pack_value(buffer, field->kind, field->limit, slot);
}

int wire_encode(struct wire_buffer *buffer, enum wire_type type, const void *message)
{
    const struct wire_table *table = wire_table(type);
    if (!table)
        return -HOLTER_EPROTOCOL;
    buffer->length = 0;

    const uint8_t *base = message;
    size_t present = 0;
    for (size_t i = 0; i < table->count; i++)
        present += (size_t)wire_is_present(&table->fields[i], base + table->fields[i].offset);

    int error = pack_array(buffer, 2);
    if (!error)
        error = pack_uint64(buffer, type);
    if (!error)
        error = pack_map(buffer, present);
    for (size_t i = 0; i < table->count && !error; i++) {
        const struct wire_field *field = &table->fields[i];
        if (wire_is_present(field, base + field->offset))
            error = pack_field(buffer, field, base + field->offset);
    }
    if (error)
        buffer->length = 0;
    return error;
}

int wire_copy(struct wire_message *out, struct wire_arena *arena,
              const struct wire_message *message)
{
    struct wire_buffer buffer = {0};
    int error = wire_encode(&buffer, message->type, &message->hello);
    if (!error)
        error = wire_decode(out, arena, buffer.bytes, buffer.length, NULL);
    wire_buffer_finish(&buffer);
    return error;
}

/* The writer of blocks: takes messages apart into columns, which it keeps until they are packed. */
#include "daemon/storage/block/block.h"

#include "daemon/storage/block/block_columns.h"
#include "holter/error.h"
#include "proto/wire_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

struct block_writer {
    size_t count, bytes; /* of the messages in columns */
    int code;            /* 0; -ENOMEM: a message is in columns only in part */
    struct block_columns columns;
    struct block_bytes plain, packed;
    struct wire_arena arena; /* of the message that is taken apart */
    ZSTD_CCtx *zstd;         /* owned */
};

/* ---- messages ------------------------------------------------------------ */

int block_writer_create(struct block_writer **out)
{
    struct block_writer *w = calloc(1, sizeof(*w));
    if (w == NULL)
        return -ENOMEM;
    w->zstd = ZSTD_createCCtx();
    if (w->zstd == NULL) {
        free(w);
        return -ENOMEM;
    }
    *out = w;
    return 0;
}

void block_writer_destroy(struct block_writer *w)
{
    if (w == NULL)
        return;
    block_columns_finish(&w->columns);
    wire_arena_finish(&w->arena);
    ZSTD_freeCCtx(w->zstd);
    free(w->plain.at);
    free(w->packed.at);
    free(w);
}

size_t block_writer_messages(const struct block_writer *w)
{
    return w->count;
}

size_t block_writer_bytes(const struct block_writer *w)
{
    return w->bytes;
}

void block_writer_clear(struct block_writer *w)
{
    block_columns_clear(&w->columns);
    w->count = w->bytes = 0;
    w->code = 0;
}

/* ---- columns ------------------------------------------------------------- */

static int block_writer_add_head(struct block_writer *w, enum block_head key, uint64_t value)
{
    struct block_column *column = block_columns_of(&w->columns, 0, key, 1);
    return column == NULL ? -ENOMEM : block_column_add_integer(column, value);
}

/* Does wire_encode() make the same bytes of a decoded message? It writes fields in the order of
 * their table, leaves out those with default values, and writes all columns of rows.
 * @param fields  set to the bits of the keys of the fields that are present */
static int is_canonical(const struct wire_message *message, const struct wire_table *table,
                        uint64_t *fields)
{
    const uint8_t *base = (const uint8_t *)&message->hello;
    const struct wire_field *before = NULL;
    *fields = 0;
    if (message->shape == NULL || table->type >= BLOCK_TYPES)
        return 0;
    for (unsigned i = 0; i < message->shape->count; i++) {
        const struct wire_field *field = wire_field_by_key(table, message->shape->fields[i].key);
        if (field == NULL || field <= before || field->key >= BLOCK_KEYS)
            return 0;
        const uint8_t *slot = base + field->offset;
        if (!wire_is_present(field, slot))
            return 0;
        if (field->kind == WIRE_KIND_ROWS && wire_count_of(slot) > 0 &&
            (message->shape->fields[i].width != field->rows()->count ||
             field->rows()->count >= BLOCK_PLACES))
            return 0;
        *fields |= UINT64_C(1) << field->key;
        before = field;
    }
    return 1;
}

/* Add one column of rows. @param slot  of the column in the first row */
static int block_writer_add_row_texts(struct block_column *column, const uint8_t *slot,
                                      size_t count, size_t stride)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < count; i++, slot += stride) {
        const char *text;
        memcpy(&text, slot, sizeof(text));
        code = block_column_add_bytes(column, text, strlen(text));
    }
    return code;
}

static int block_writer_add_row_numbers(struct block_column *column, const uint8_t *slot,
                                        size_t count, size_t stride)
{
    if (block_column_reserve(column, count) != 0)
        return -ENOMEM;
    uint64_t *values = column->values + column->count;
    for (size_t i = 0; i < count; i++, slot += stride)
        memcpy(&values[i], slot, sizeof(*values));
    column->count += count;
    return 0;
}

static int block_writer_add_rows(struct block_column *columns, const struct wire_rows *rows,
                                 const uint8_t *slot)
{
    const uint8_t *first;
    uint64_t count = wire_count_of(slot);
    memcpy(&first, slot, sizeof(first));
    int code = block_column_add_integer(&columns[0], count);
    for (size_t i = 0; code == 0 && count > 0 && i < rows->count; i++) {
        const struct wire_column *column = &rows->columns[i];
        const uint8_t *values = first + column->offset;
        code = column->kind == WIRE_KIND_STR
                   ? block_writer_add_row_texts(&columns[1 + i], values, count, rows->size)
                   : block_writer_add_row_numbers(&columns[1 + i], values, count, rows->size);
    }
    return code;
}

static int block_writer_add_field(struct block_writer *w, unsigned type,
                                  const struct wire_field *field, const uint8_t *slot)
{
    const struct wire_rows *rows = field->kind == WIRE_KIND_ROWS ? field->rows() : NULL;
    unsigned count = rows == NULL ? 1 : 1 + (unsigned)rows->count;
    struct block_column *columns = block_columns_of(&w->columns, type, field->key, count);
    const char *bytes;
    uint64_t number;
    if (columns == NULL)
        return -ENOMEM;
    if (rows != NULL)
        return block_writer_add_rows(columns, rows, slot);
    memcpy(&number, slot, sizeof(number));
    memcpy(&bytes, slot, sizeof(bytes));
    if (field->kind == WIRE_KIND_STR)
        return block_column_add_bytes(columns, bytes, strlen(bytes));
    if (field->kind == WIRE_KIND_BIN)
        return block_column_add_bytes(columns, bytes, wire_count_of(slot));
    return block_column_add_integer(columns, number);
}

static int block_writer_add_decoded(struct block_writer *w, const struct wire_message *message,
                                    const struct wire_table *table, uint64_t fields)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < table->count; i++) {
        const struct wire_field *field = &table->fields[i];
        if (fields >> field->key & 1)
            code = block_writer_add_field(w, (unsigned)table->type, field,
                                          (const uint8_t *)&message->hello + field->offset);
    }
    return code;
}

/* Take one message apart. */
static int block_writer_add_message(struct block_writer *w, const struct recorded *head,
                                    const void *bytes, size_t length)
{
    struct wire_message message;
    const struct wire_table *table = NULL;
    uint64_t fields = 0;
    if (wire_decode(&message, &w->arena, bytes, length, NULL) == 0) {
        table = wire_table(message.type);
        if (!is_canonical(&message, table, &fields))
            table = NULL;
    }
    const uint64_t heads[BLOCK_HEADS] = {
        [BLOCK_HEAD_MESSAGE] = table == NULL ? 0 : (uint64_t)table->type,
        [BLOCK_HEAD_FIELDS] = table == NULL ? 0 : fields,
        [BLOCK_HEAD_LENGTH] = length,
        [BLOCK_HEAD_TYPE] = head->type,
        [BLOCK_HEAD_AGENT] = head->instance,
        [BLOCK_HEAD_SEQ] = head->seq,
        [BLOCK_HEAD_WINDOW] = head->window,
        [BLOCK_HEAD_TIME] = head->time_ns,
        [BLOCK_HEAD_RECEIVED] = head->received_ns,
    };
    int code = 0;
    for (unsigned key = BLOCK_HEAD_MESSAGE; code == 0 && key < BLOCK_HEAD_BYTES; key++)
        code = block_writer_add_head(w, (enum block_head)key, heads[key]);
    if (code != 0)
        return code;
    if (table != NULL)
        return block_writer_add_decoded(w, &message, table, fields);
    struct block_column *column = block_columns_of(&w->columns, 0, BLOCK_HEAD_BYTES, 1);
    return column == NULL ? -ENOMEM : block_column_add_bytes(column, bytes, length);
}

int block_writer_add(struct block_writer *w, const struct recorded *head, const void *bytes,
                     size_t length)
{
    if (w->bytes >= BLOCK_BYTES || w->count == BLOCK_MAX_MESSAGES ||
        length > BLOCK_MAX_BYTES - BLOCK_BYTES)
        return -HOLTER_ELIMIT;
    w->code = w->code != 0 ? w->code : block_writer_add_message(w, head, bytes, length);
    if (w->code != 0)
        return w->code;
    w->count++;
    w->bytes += length;
    return 0;
}

/* With a checksum: changed bits hardly ever make a frame that cannot be unpacked, but one with
 * other numbers. */
static int block_writer_compress(struct block_writer *w, int level)
{
    size_t bound = ZSTD_compressBound(w->plain.length);
    w->packed.length = 0;
    if (block_bytes_reserve(&w->packed, bound) != 0)
        return -ENOMEM;
    ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1);
    w->packed.length =
        ZSTD_compress2(w->zstd, w->packed.at, w->packed.capacity, w->plain.at, w->plain.length);
    return ZSTD_isError(w->packed.length) ? -ENOMEM : 0;
}

int block_writer_pack(struct block_writer *w, int level, const void **out, size_t *length)
{
    int code = w->code;
    w->plain.length = 0;
    code = code != 0 ? code : block_bytes_append_number(&w->plain, BLOCK_FORM);
    code = code != 0 ? code : block_bytes_append_number(&w->plain, w->count);
    code = code != 0 ? code : block_columns_pack(&w->columns, &w->plain);
    code = code != 0 ? code : block_writer_compress(w, level);
    *out = w->packed.at;
    *length = w->packed.length;
    return code;
}

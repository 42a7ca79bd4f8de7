/* Columns of a message that was decoded: cut by the thread that decoded it, as long as its rows are in the cache, and
 * added to a block by the thread that writes it. Taking the bytes apart once more (block_parse.c) takes four times as long.
 *
 * Slices never leave the process: eight bytes with the length of the layout, the layout, then column by column
 * what the message has of it; each from a multiple of eight bytes on. Integers: a head and the numbers, all in as
 * many bytes as the largest needs; reals: their bits; texts: length and bytes; rows: how many, as an integer,
 * and their columns. */
#include "daemon/analysis/array.h"
#include "daemon/block.h"
#include "daemon/block_fold.h"
#include "daemon/block_parse.h"
#include "holter/error.h"
#include "proto/wire_table.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Before the integers of a column. */
struct slice_head {
    uint8_t width; /* bytes of each: 1, 2, 4 or 8 */
    uint8_t negative, big;
    uint8_t unused[5];
};

static size_t padded(size_t length)
{
    return (length + 7) & ~(size_t)7;
}

/* ---- cutting ------------------------------------------------------------- */

/* @return room for so many bytes more, or NULL */
static uint8_t *extend(struct block_slices *s, size_t length)
{
    if (array_fit(&s->bytes, 1, &s->room, s->length + padded(length)) != 0)
        return NULL;
    uint8_t *at = s->bytes + s->length;
    s->length += padded(length);
    return at;
}

static int cut_text(struct block_slices *s, const char *text)
{
    uint64_t length = strlen(text);
    uint8_t *at = extend(s, sizeof(length) + length);
    if (at == NULL)
        return -ENOMEM;
    memcpy(at, &length, sizeof(length));
    memcpy(at + sizeof(length), text, length);
    return 0;
}

/* @param slots  of the first row @param stride  from row to row, bytes */
static int cut_integers(struct block_slices *s, const uint8_t *slots, size_t stride, size_t count,
                        int is_signed)
{
    if (array_fit(&s->numbers, sizeof(*s->numbers), &s->number_room, count) != 0)
        return -ENOMEM;
    uint64_t all = 0, *numbers = s->numbers;
    for (size_t i = 0; i < count; i++, slots += stride) {
        memcpy(&numbers[i], slots, sizeof(*numbers));
        all |= numbers[i];
    }
    unsigned width = all >> 32 != 0 ? 8 : all >> 16 != 0 ? 4 : all >> 8 != 0 ? 2 : 1;
    struct slice_head head = {.width = (uint8_t)width,
                              .negative = is_signed && all >> 63,
                              .big = !is_signed && all >> 63};
    uint8_t *at = extend(s, sizeof(head) + count * width);
    if (at == NULL)
        return -ENOMEM;
    memcpy(at, &head, sizeof(head));
    block_loops()->shrink(numbers, count, width, at + sizeof(head));
    return 0;
}

static int cut_column(struct block_slices *s, enum wire_kind kind, const uint8_t *slots,
                      size_t stride, size_t count)
{
    uint8_t *at;
    int code = 0;
    switch (kind) {
    case WIRE_KIND_U64:
    case WIRE_KIND_I64:
        return cut_integers(s, slots, stride, count, kind == WIRE_KIND_I64);
    case WIRE_KIND_F64:
        if ((at = extend(s, 8 * count)) == NULL)
            return -ENOMEM;
        for (size_t i = 0; i < count; i++)
            memcpy(at + 8 * i, slots + i * stride, 8);
        return 0;
    case WIRE_KIND_STR:
        for (size_t i = 0; code == 0 && i < count; i++)
            code = cut_text(s, *(const char *const *)(const void *)(slots + i * stride));
        return code;
    case WIRE_KIND_ROWS:
    case WIRE_KIND_BIN:
        break;
    }
    return -HOLTER_EPROTOCOL;
}

static int cut_field(struct block_slices *s, const struct wire_field *field, size_t width,
                     const uint8_t *slot)
{
    const uint8_t *rows;
    uint64_t count;
    if (field->kind != WIRE_KIND_ROWS)
        return cut_column(s, field->kind, slot, 0, 1);
    const struct wire_rows *table = field->rows();
    memcpy(&rows, slot, sizeof(rows));
    memcpy(&count, slot + sizeof(rows), sizeof(count));
    int code = cut_integers(s, slot + sizeof(rows), 0, 1, 0);
    for (size_t i = 0; code == 0 && i < width; i++)
        code = cut_column(s, table->columns[i].kind, rows + table->columns[i].offset, table->size,
                          count);
    return code;
}

static const struct wire_field *field_of(const struct wire_table *table, unsigned key, size_t hint)
{
    size_t i = hint < table->count && table->fields[hint].key == key ? hint : 0;
    while (i < table->count && table->fields[i].key != key)
        i++;
    return i < table->count ? &table->fields[i] : NULL;
}

static enum block_kind kind_of(enum wire_kind kind)
{
    return kind == WIRE_KIND_F64    ? BLOCK_REAL
           : kind == WIRE_KIND_STR  ? BLOCK_TEXT
           : kind == WIRE_KIND_ROWS ? BLOCK_ROWS
                                    : BLOCK_INTEGER;
}

/* The bytes that block_parse() would note. @return 0 when it would not take the message apart */
static int note_layout(struct block_layout *l, const struct wire_message *message,
                       const struct wire_table *table, const struct wire_field **fields)
{
    const struct wire_shape *shape = message->shape;
    int fits = message->type < BLOCK_TYPES && shape->count < BLOCK_KEYS &&
               block_layout_note(l, (uint8_t)message->type) &&
               block_layout_note(l, (uint8_t)shape->count);
    for (size_t i = 0; fits && i < shape->count; i++) {
        unsigned key = shape->fields[i].key, width = shape->fields[i].width;
        const struct wire_field *f = fields[i] = field_of(table, key, i);
        fits = f != NULL && f->kind != WIRE_KIND_BIN && key < BLOCK_KEYS && width <= BLOCK_WIDTH &&
               block_layout_note(l, (uint8_t)key) &&
               block_layout_note(l, (uint8_t)kind_of(f->kind));
        if (!fits || f->kind != WIRE_KIND_ROWS)
            continue;
        fits = width <= f->rows()->count && block_layout_note(l, (uint8_t)width);
        for (size_t c = 0; fits && c < width; c++)
            fits = block_layout_note(l, (uint8_t)kind_of(f->rows()->columns[c].kind));
    }
    return fits;
}

int block_slice(struct block_slices *s, const struct wire_message *message)
{
    const struct wire_field *fields[WIRE_MOST_FIELDS];
    const struct wire_table *table = wire_table(message->type);
    struct block_layout layout;
    layout.length = 0;
    if (message->shape == NULL || table == NULL || !note_layout(&layout, message, table, fields))
        return -HOLTER_EPROTOCOL;
    s->length = 0;
    uint64_t length = layout.length;
    uint8_t *at = extend(s, sizeof(length) + layout.length);
    if (at == NULL)
        return -ENOMEM;
    memcpy(at, &length, sizeof(length));
    memcpy(at + sizeof(length), layout.bytes, layout.length);
    const uint8_t *base = (const uint8_t *)&message->hello; /* all of the union begin there */
    int code = 0;
    for (size_t i = 0; code == 0 && i < message->shape->count; i++)
        code = cut_field(s, fields[i], message->shape->fields[i].width, base + fields[i]->offset);
    return code;
}

void block_slices_finish(struct block_slices *s)
{
    free(s->bytes);
    free(s->numbers);
    *s = (struct block_slices){0};
}

/* ---- adding -------------------------------------------------------------- */

unsigned block_slice_width(const uint8_t *slice)
{
    return slice[offsetof(struct slice_head, width)];
}

void block_slice_integers(const uint8_t *slice, size_t count, uint64_t *out)
{
    struct slice_head head;
    memcpy(&head, slice, sizeof(head));
    block_loops()->grow(slice + sizeof(head), count, head.width, out);
}

/* The numbers at a slice belong to the column now.
 * @param code  set to 0, or -HOLTER_EPROTOCOL: it has numbers below 0 and of 2^63 and more then, which it cannot tell
 * @return behind the slice */
static const uint8_t *pass_integers(struct block_column *c, const uint8_t *at, size_t count,
                                    int *code)
{
    struct slice_head head;
    memcpy(&head, at, sizeof(head));
    c->count += count;
    c->negative |= head.negative;
    c->big |= head.big;
    *code = c->negative && c->big ? -HOLTER_EPROTOCOL : 0;
    return at + sizeof(head) + padded(count * head.width);
}

static const uint8_t *add_integer(struct block_column *c, const uint8_t *at, int *code)
{
    block_slice_integers(at, 1, c->values + c->count);
    return pass_integers(c, at, 1, code);
}

static const uint8_t *add_chunk(struct block_column *c, const uint8_t *at, size_t count, int *code)
{
    if (c->chunk_count == 0)
        c->solid = c->count;
    c->chunks[c->chunk_count++] = (struct block_chunk){at, count};
    c->fetched = 0;
    return pass_integers(c, at, count, code);
}

static const uint8_t *add_texts(struct block_column *c, const uint8_t *at, size_t count, int *code)
{
    *code = 0;
    for (size_t i = 0; *code == 0 && i < count; i++) {
        uint64_t length;
        memcpy(&length, at, sizeof(length));
        *code = block_column_put_text(c, at + sizeof(length), length);
        at += padded(sizeof(length) + length);
    }
    return at;
}

static const uint8_t *add_reals(struct block_column *c, const uint8_t *at, size_t count)
{
    memcpy(c->values + c->count, at, 8 * count);
    c->count += count;
    return at + 8 * count;
}

/* @param kinds  of the columns @return behind the slices of the rows */
static const uint8_t *add_rows(struct block_columns *columns, unsigned type, unsigned key,
                               const uint8_t *kinds, unsigned width, size_t rows, const uint8_t *at,
                               int *code)
{
    struct block_column *list[BLOCK_WIDTH];
    for (unsigned i = 0; i < width; i++) {
        list[i] = kinds[i] == BLOCK_INTEGER ? block_columns_touch_chunks(columns, type, key, i + 1)
                                            : block_columns_touch(columns, type, key, i + 1,
                                                                  (enum block_kind)kinds[i], rows);
        if (list[i] == NULL) {
            *code = -ENOMEM;
            return at;
        }
    }
    for (unsigned i = 0; *code == 0 && i < width; i++)
        at = kinds[i] == BLOCK_INTEGER ? add_chunk(list[i], at, rows, code)
             : kinds[i] == BLOCK_TEXT  ? add_texts(list[i], at, rows, code)
                                       : add_reals(list[i], at, rows);
    return at;
}

static const uint8_t *add_field(struct block_columns *columns, unsigned type,
                                const uint8_t **layout, const uint8_t *at, int *code)
{
    unsigned key = *(*layout)++, kind = *(*layout)++;
    int is_rows = kind == BLOCK_ROWS;
    struct block_column *c = block_columns_touch(
        columns, type, key, 0, is_rows ? BLOCK_INTEGER : (enum block_kind)kind, 1);
    if (c == NULL) {
        *code = -ENOMEM;
        return at;
    }
    at = c->kind == BLOCK_INTEGER ? add_integer(c, at, code)
         : c->kind == BLOCK_TEXT  ? add_texts(c, at, 1, code)
                                  : add_reals(c, at, 1);
    if (*code != 0 || !is_rows)
        return at;
    unsigned width = *(*layout)++;
    const uint8_t *kinds = *layout;
    *layout += width;
    return add_rows(columns, type, key, kinds, width, c->values[c->count - 1], at, code);
}

int block_add_columns(struct block_columns *columns, const void *slices, unsigned *number)
{
    const uint8_t *at = slices;
    struct block_layout layout;
    uint64_t length;
    memcpy(&length, at, sizeof(length));
    layout.length = length;
    memcpy(layout.bytes, at + sizeof(length), layout.length);
    at += padded(sizeof(length) + layout.length);
    const uint8_t *l = layout.bytes;
    unsigned type = *l++, fields = *l++;
    int code = 0;
    for (unsigned i = 0; code == 0 && i < fields; i++)
        at = add_field(columns, type, &l, at, &code);
    if (code != 0)
        return code;
    code = block_columns_layout(columns, &layout);
    if (code <= 0)
        return code == 0 ? -HOLTER_EPROTOCOL : code;
    *number = (unsigned)code;
    return 0;
}

/* Columns of a message that was decoded: cut by the thread that decoded it, as long as its rows are
 * in the cache, and added to a block by the thread that writes it. Taking the bytes apart once more
 * (block_parse.c) takes four times as long.
 *
 * Slices never leave the process. They are eight bytes, which tell where the heads begin, rows, and
 * heads. Heads, which is all that is read when the message is added: the layout and its length, and
 * field by field the value; of texts length and bytes; of rows how many, and a byte for each column
 * of integers, how they are told, or the values of other columns. Rows: columns of integers, one
 * behind the other, all in as many bytes as the largest needs. What is not a single byte stands on
 * a multiple of eight bytes. */
#include "daemon/analysis/tables/array.h"
#include "daemon/storage/block/block.h"
#include "daemon/storage/block/block_fold.h"
#include "daemon/storage/block/block_parse.h"
#include "holter/error.h"
#include "proto/wire_table.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* How integers of a column are told: bytes of each, 1, 2, 4 or 8, or 0: all are the same, which
 * stands there in eight; and what is among them. */
#define WIDTH_BITS 0x0fu
#define NEGATIVE 0x10u /* numbers below 0 */
#define BIG 0x20u      /* numbers of 2^63 and more */

static size_t padded(size_t length)
{
    return (length + 7) & ~(size_t)7;
}

/* ---- cutting ------------------------------------------------------------- */

/* @return room in the heads for so many bytes more, or NULL */
static uint8_t *extend(struct block_slices *s, size_t length)
{
    if (array_fit(&s->heads, 1, &s->head_room, s->head_length + padded(length)) != 0)
        return NULL;
    uint8_t *at = s->heads + s->head_length;
    s->head_length += padded(length);
    return at;
}

/* @return room behind the rows for so many integers, and for one of eight bytes, or NULL */
static uint8_t *extend_rows(struct block_slices *s, size_t count, unsigned width)
{
    size_t length = sizeof(uint64_t) + padded(count * width);
    if (array_fit(&s->rows, 1, &s->row_room, s->row_length + length) != 0)
        return NULL;
    return s->rows + s->row_length;
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

/* Values that are told as they are: eight bytes each, or texts.
 * @param slots  of the first row @param stride  from row to row, bytes */
static int cut_values(struct block_slices *s, enum wire_kind kind, const uint8_t *slots,
                      size_t stride, size_t count)
{
    int code = 0;
    if (kind == WIRE_KIND_STR) {
        for (size_t i = 0; code == 0 && i < count; i++)
            code = cut_text(s, *(const char *const *)(const void *)(slots + i * stride));
        return code;
    }
    uint8_t *at = extend(s, 8 * count);
    if (at == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        memcpy(at + 8 * i, slots + i * stride, 8);
    return 0;
}

static uint64_t number_at(const uint8_t *slot)
{
    uint64_t number;
    memcpy(&number, slot, sizeof(number));
    return number;
}

static inline void store(void *out, size_t i, uint64_t number, unsigned width)
{
    if (width == 1)
        ((uint8_t *)out)[i] = (uint8_t)number;
    else if (width == 2)
        ((uint16_t *)out)[i] = (uint16_t)number;
    else if (width == 4)
        ((uint32_t *)out)[i] = (uint32_t)number;
    else
        ((uint64_t *)out)[i] = number;
}

static inline uint64_t narrow_to(const uint8_t *slots, size_t stride, size_t count, unsigned width,
                                 void *out)
{
    uint64_t even = 0, odd = 0;
    size_t i = 0;
    for (; i + 2 <= count; i += 2, slots += 2 * stride) {
        uint64_t a = number_at(slots), b = number_at(slots + stride);
        store(out, i, a, width);
        store(out, i + 1, b, width);
        even |= a;
        odd |= b;
    }
    if (i < count) {
        even |= number_at(slots);
        store(out, i, number_at(slots), width);
    }
    return even | odd;
}

/* Numbers of a column, in so many bytes each: a loop for each width. @return they, or-ed */
static uint64_t narrow(const uint8_t *slots, size_t stride, size_t count, unsigned width, void *out)
{
    return width == 1   ? narrow_to(slots, stride, count, 1, out)
           : width == 2 ? narrow_to(slots, stride, count, 2, out)
           : width == 4 ? narrow_to(slots, stride, count, 4, out)
                        : narrow_to(slots, stride, count, 8, out);
}

/* Are all numbers of a column the same? Most columns have another one soon, or none. */
static int are_same(const uint8_t *slots, size_t stride, size_t count)
{
    uint64_t first = number_at(slots), differ = 0;
    size_t i = 0;
    for (; differ == 0 && i + 4 <= count; i += 4, slots += 4 * stride) {
        differ = (number_at(slots) ^ first) | (number_at(slots + stride) ^ first) |
                 (number_at(slots + 2 * stride) ^ first) | (number_at(slots + 3 * stride) ^ first);
    }
    for (; differ == 0 && i < count; i++, slots += stride)
        differ = number_at(slots) ^ first;
    return differ == 0;
}

static unsigned width_of(uint64_t all)
{
    return all >> 32 != 0 ? 8 : all >> 16 != 0 ? 4 : all >> 8 != 0 ? 2 : 1;
}

/* @param told  set to how */
static int cut_integers(struct block_slices *s, const uint8_t *slots, size_t stride, size_t count,
                        int is_signed, uint8_t *told)
{
    uint8_t *hint = &s->widths[s->cut++ % BLOCK_SLICE_HINTS];
    uint64_t all = 0;
    unsigned width = *hint > 0 ? *hint : 1;
    uint8_t *out = extend_rows(s, count, width);
    if (out == NULL)
        return -ENOMEM;
    if (count > 0 && are_same(slots, stride, count)) {
        width = 0;
        memcpy(&all, slots, sizeof(all));
        memcpy(out, slots, sizeof(all));
    } else {
        /* As wide as it was in the message before, most likely. */
        all = narrow(slots, stride, count, width, out);
        if (width_of(all) != width) {
            width = *hint = (uint8_t)width_of(all);
            if ((out = extend_rows(s, count, width)) == NULL)
                return -ENOMEM;
            narrow(slots, stride, count, width, out);
        }
    }
    s->row_length += width == 0 ? sizeof(all) : padded(count * width);
    *told = (uint8_t)(width | (all >> 63 == 0 ? 0 : is_signed ? NEGATIVE : BIG));
    return 0;
}

static int is_integer(enum wire_kind kind)
{
    return kind == WIRE_KIND_U64 || kind == WIRE_KIND_I64;
}

static int cut_rows(struct block_slices *s, const struct wire_rows *table, size_t width,
                    const uint8_t *rows, uint64_t count)
{
    uint8_t told[BLOCK_WIDTH] = {0}, *at;
    int code = 0;
    for (size_t i = 0; code == 0 && i < width; i++) {
        const struct wire_column *c = &table->columns[i];
        if (is_integer(c->kind))
            code = cut_integers(s, rows + c->offset, table->size, count, c->kind == WIRE_KIND_I64,
                                &told[i]);
    }
    if (code != 0 || (at = extend(s, width)) == NULL)
        return -ENOMEM;
    memcpy(at, told, width);
    for (size_t i = 0; code == 0 && i < width; i++) {
        const struct wire_column *c = &table->columns[i];
        if (!is_integer(c->kind))
            code = cut_values(s, c->kind, rows + c->offset, table->size, count);
    }
    return code;
}

static int cut_field(struct block_slices *s, const struct wire_field *field, size_t width,
                     const uint8_t *slot)
{
    const uint8_t *rows;
    uint64_t count;
    if (field->kind != WIRE_KIND_ROWS)
        return cut_values(s, field->kind, slot, 0, 1);
    memcpy(&rows, slot, sizeof(rows));
    memcpy(&count, slot + sizeof(rows), sizeof(count));
    int code = cut_values(s, WIRE_KIND_U64, slot + sizeof(rows), 0, 1);
    return code != 0 ? code : cut_rows(s, field->rows(), width, rows, count);
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
        /* Agents tell no bytes, and what they tell of numbers below 0 stands in rows. */
        fits = f != NULL && f->kind != WIRE_KIND_BIN && f->kind != WIRE_KIND_I64 &&
               key < BLOCK_KEYS && width <= BLOCK_WIDTH && block_layout_note(l, (uint8_t)key) &&
               block_layout_note(l, (uint8_t)kind_of(f->kind));
        if (!fits || f->kind != WIRE_KIND_ROWS)
            continue;
        fits = width <= f->rows()->count && block_layout_note(l, (uint8_t)width);
        for (size_t c = 0; fits && c < width; c++)
            fits = block_layout_note(l, (uint8_t)kind_of(f->rows()->columns[c].kind));
    }
    return fits;
}

/* Most messages have the shape of the one before, and with it its layout and fields. */
struct block_slice_shape {
    unsigned type;
    struct wire_shape shape;
    struct block_layout layout;
    const struct wire_field *fields[WIRE_MOST_FIELDS];
};

static int is_of(const struct block_slice_shape *known, const struct wire_message *message)
{
    const struct wire_shape *a = &known->shape, *b = message->shape;
    int same = known->type == message->type && a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = a->fields[i].key == b->fields[i].key && a->fields[i].width == b->fields[i].width;
    return same;
}

/* @return 0, -HOLTER_EPROTOCOL or -ENOMEM */
static int know_shape(struct block_slices *s, const struct wire_message *message)
{
    const struct wire_table *table = wire_table(message->type);
    if (message->shape == NULL || table == NULL)
        return -HOLTER_EPROTOCOL;
    if (s->known != NULL && is_of(s->known, message))
        return 0;
    if (s->known == NULL && (s->known = malloc(sizeof(*s->known))) == NULL)
        return -ENOMEM;
    s->known->type = BLOCK_TYPES; /* of none */
    s->known->shape.count = 0;
    s->known->layout.length = 0;
    if (!note_layout(&s->known->layout, message, table, s->known->fields))
        return -HOLTER_EPROTOCOL;
    s->known->type = message->type;
    s->known->shape = *message->shape;
    return 0;
}

int block_slice(struct block_slices *s, const struct wire_message *message)
{
    int code = know_shape(s, message);
    if (code != 0)
        return code;
    const struct block_slice_shape *known = s->known;
    s->head_length = 0;
    s->row_length = sizeof(uint64_t); /* where the heads begin */
    s->cut = 0;
    if (array_fit(&s->rows, 1, &s->row_room, s->usual) != 0)
        return -ENOMEM;
    uint64_t length = known->layout.length;
    uint8_t *at = extend(s, sizeof(length) + length);
    if (at == NULL)
        return -ENOMEM;
    memcpy(at, &length, sizeof(length));
    memcpy(at + sizeof(length), known->layout.bytes, length);
    const uint8_t *base = (const uint8_t *)&message->hello; /* all of the union begin there */
    for (size_t i = 0; code == 0 && i < known->shape.count; i++)
        code = cut_field(s, known->fields[i], known->shape.fields[i].width,
                         base + known->fields[i]->offset);
    return code;
}

void *block_slices_take(struct block_slices *s, size_t *length)
{
    uint64_t heads = s->row_length;
    size_t whole = s->row_length + s->head_length;
    if (array_fit(&s->rows, 1, &s->row_room, whole) != 0)
        return NULL;
    uint8_t *out = s->rows;
    memcpy(out, &heads, sizeof(heads));
    memcpy(out + heads, s->heads, s->head_length);
    s->rows = NULL;
    s->row_room = s->row_length = 0;
    s->usual = whole + whole / 8;
    *length = whole;
    return out;
}

void block_slices_finish(struct block_slices *s)
{
    free(s->heads);
    free(s->rows);
    free(s->known);
    *s = (struct block_slices){0};
}

/* ---- adding -------------------------------------------------------------- */

struct slice_input {
    const uint8_t *layout, *head, *rows;
    int known; /* the layout is that of the route */
    size_t at; /* columns of it so far */
};

/* The next column of the message: as in the message before, or found, and remembered. @return NULL:
 * no memory */
static struct block_column *next_column(struct block_columns *columns, struct slice_input *in,
                                        unsigned type, unsigned key, unsigned place,
                                        enum block_kind kind)
{
    if (in->known)
        return columns->route[in->at++];
    struct block_column *c = block_columns_get(columns, type, key, place, kind);
    if (c == NULL || array_fit(&columns->route, sizeof(struct block_column *), &columns->route_room,
                               in->at + 1) != 0)
        return NULL;
    columns->route[in->at++] = c;
    return c;
}

/* The value of a field, or how many rows it has. */
static int add_integer(struct block_column *c, uint64_t value)
{
    c->values[c->count++] = value;
    c->big |= value >> 63 != 0;
    return c->negative && c->big ? -HOLTER_EPROTOCOL : 0;
}

static int add_values(struct block_column *c, struct slice_input *in, size_t count)
{
    uint64_t length;
    int code = 0;
    if (c->kind == BLOCK_REAL) {
        memcpy(c->values + c->count, in->head, 8 * count);
        c->count += count;
        in->head += 8 * count;
        return 0;
    }
    for (size_t i = 0; code == 0 && i < count; i++) {
        memcpy(&length, in->head, sizeof(length));
        code = block_column_put_text(c, in->head + sizeof(length), length);
        in->head += padded(sizeof(length) + length);
    }
    return code;
}

/* @return 0, or -HOLTER_EPROTOCOL: the column has numbers below 0 and of 2^63 and more then, which
 * it cannot tell */
static int add_chunk(struct block_column *c, struct slice_input *in, size_t count, uint8_t told)
{
    unsigned width = told & WIDTH_BITS;
    if (c->chunk_count == 0)
        c->solid = c->count;
    c->chunks[c->chunk_count++] = (struct block_chunk){in->rows, (uint32_t)count, width};
    c->fetched = 0;
    c->count += count;
    c->negative |= (told & NEGATIVE) != 0;
    c->big |= (told & BIG) != 0;
    in->rows += width == 0 ? sizeof(uint64_t) : padded(count * width);
    return c->negative && c->big ? -HOLTER_EPROTOCOL : 0;
}

static int add_rows(struct block_columns *columns, unsigned type, unsigned key,
                    struct slice_input *in, size_t rows)
{
    struct block_column *list[BLOCK_WIDTH];
    unsigned width = *in->layout++;
    const uint8_t *told = in->head;
    int code = 0;
    for (unsigned i = 0; i < width; i++) {
        enum block_kind kind = (enum block_kind) * in->layout++;
        list[i] = next_column(columns, in, type, key, i + 1, kind);
        if (list[i] == NULL ||
            (kind == BLOCK_INTEGER ? block_columns_touch_chunks(columns, list[i])
                                   : block_columns_touch(columns, list[i], rows)) != 0)
            return -ENOMEM;
    }
    in->head += padded(width);
    for (unsigned i = 0; code == 0 && i < width; i++)
        code = list[i]->kind == BLOCK_INTEGER ? add_chunk(list[i], in, rows, told[i])
                                              : add_values(list[i], in, rows);
    return code;
}

static int add_field(struct block_columns *columns, unsigned type, struct slice_input *in)
{
    unsigned key = *in->layout++, kind = *in->layout++;
    int is_rows = kind == BLOCK_ROWS;
    struct block_column *c =
        next_column(columns, in, type, key, 0, is_rows ? BLOCK_INTEGER : (enum block_kind)kind);
    uint64_t value;
    if (c == NULL || block_columns_touch(columns, c, 1) != 0)
        return -ENOMEM;
    if (c->kind != BLOCK_INTEGER)
        return add_values(c, in, 1);
    memcpy(&value, in->head, sizeof(value));
    in->head += sizeof(value);
    int code = add_integer(c, value);
    return code != 0 || !is_rows ? code : add_rows(columns, type, key, in, value);
}

/* Is it the layout of the message before? */
static int is_routed(const struct block_columns *columns, const uint8_t *layout, size_t length)
{
    return columns->route_layout.length == length &&
           memcmp(columns->route_layout.at, layout, length) == 0;
}

static int keep_route(struct block_columns *columns, const uint8_t *layout, size_t length)
{
    if (block_bytes_fit(&columns->route_layout, length) != 0)
        return -ENOMEM;
    memcpy(columns->route_layout.at, layout, length);
    columns->route_layout.length = length;
    return 0;
}

int block_add_columns(struct block_columns *columns, const void *slices, unsigned *number)
{
    const uint8_t *rows = slices, *head;
    uint64_t heads, length;
    int code = 0;
    memcpy(&heads, rows, sizeof(heads));
    head = rows + heads;
    memcpy(&length, head, sizeof(length));
    const uint8_t *layout = head + sizeof(length);
    struct slice_input in = {.layout = layout + 2,
                             .head = head + padded(sizeof(length) + length),
                             .rows = rows + sizeof(heads),
                             .known = is_routed(columns, layout, length)};
    if (!in.known)
        columns->route_layout.length = 0;
    for (unsigned i = 0; code == 0 && i < layout[1]; i++)
        code = add_field(columns, layout[0], &in);
    if (code == 0 && !in.known)
        code = keep_route(columns, layout, length);
    if (code != 0)
        return code;
    code = block_columns_layout(columns, layout, length);
    if (code <= 0)
        return code == 0 ? -HOLTER_EPROTOCOL : code;
    *number = (unsigned)code;
    return 0;
}

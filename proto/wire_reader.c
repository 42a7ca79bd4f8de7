/* The decoder: a cursor that never leaves the message, driven by the tables.
 *
 * What hostile bytes could try, and what stops them here:
 *   counts that promise more than follows    every element takes at least one byte (a row as many
 *                                            as it has columns), so a count is compared with what
 *                                            is left before memory is taken for it
 *   nesting without end                      only values that are skipped can nest freely; they
 *                                            are walked with a counter for each of WIRE_DEPTH
 *                                            levels, without recursion
 *   a field given many times over            a second occurrence is an error
 *   texts that are none                      UTF-8 is checked, NUL bytes are refused
 *
 * Memory taken is at most about eight bytes for each byte of the message. */
#include "holter/error.h"
#include "proto/utf8.h"
#include "proto/wire_arena.h"
#include "proto/wire_table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct cursor {
    const uint8_t *begin;
    const uint8_t *at;
    const uint8_t *end;
    struct wire_arena *arena;
    int error; /* sticky; set once, with the place */
    const struct wire_table *table;
    const struct wire_field *field;
    const struct wire_column *column;
    uint64_t row;
    int loose; /* wire_encode() would write it differently: a longer form, or an unknown part */
};

/* ---- scalars ------------------------------------------------------------- */

static int wire_reader_fail(struct cursor *c, int error)
{
    if (!c->error)
        c->error = error;
    return c->error;
}

static size_t wire_reader_bytes_left(const struct cursor *c)
{
    return (size_t)(c->end - c->at);
}

/* Big-endian number of 1, 2, 4 or 8 bytes. */
static int wire_reader_read_integer(struct cursor *c, unsigned bytes, uint64_t *out)
{
    if (wire_reader_bytes_left(c) < bytes)
        return wire_reader_fail(c, -HOLTER_ETRUNCATED);
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | c->at[i];
    c->at += bytes;
    *out = value;
    return 0;
}

static int wire_reader_read_byte(struct cursor *c, uint8_t *out)
{
    if (c->at == c->end)
        return wire_reader_fail(c, -HOLTER_ETRUNCATED);
    *out = *c->at++;
    return 0;
}

/* The smallest unsigned and the largest negative number that need 1, 2, 4 or 8 bytes after the tag.
 */
static const uint64_t least[4] = {128, 256, 65536, UINT64_C(1) << 32};
static const int64_t most[4] = {-33, -129, -32769, -INT64_C(2147483649)};

/* An integer: its magnitude as two's complement, and whether it is below zero. */
static int read_integer(struct cursor *c, uint64_t *value, int *negative)
{
    uint8_t tag = 0;
    if (wire_reader_read_byte(c, &tag))
        return c->error;
    *negative = 0;
    if (tag < 0x80) { /* positive fixint */
        *value = tag;
        return 0;
    }
    if (tag >= 0xe0) { /* negative fixint */
        *value = (uint64_t)(int64_t)(int8_t)tag;
        *negative = 1;
        return 0;
    }
    if (tag < 0xcc || tag > 0xd3)
        return wire_reader_fail(c, -HOLTER_ETYPE);
    unsigned bytes = 1u << (tag & 3u); /* cc..cf: uint 8 to 64; d0..d3: int 8 to 64 */
    if (wire_reader_read_integer(c, bytes, value))
        return c->error;
    if (tag >= 0xd0) {
        unsigned shift = 64u - 8u * bytes;
        *value = (uint64_t)((int64_t)(*value << shift) >> shift);
        *negative = (int64_t)*value < 0;
        c->loose |= (int64_t)*value > most[tag & 3u];
    } else {
        c->loose |= *value < least[tag & 3u];
    }
    return 0;
}

static int read_u64(struct cursor *c, uint64_t limit, uint64_t *out)
{
    uint64_t value = 0;
    int negative = 0;
    if (read_integer(c, &value, &negative))
        return c->error;
    if (negative || value > limit)
        return wire_reader_fail(c, -HOLTER_ERANGE);
    *out = value;
    return 0;
}

static int read_i64(struct cursor *c, int64_t *out)
{
    uint64_t value = 0;
    int negative = 0;
    if (read_integer(c, &value, &negative))
        return c->error;
    if (!negative && value > INT64_MAX)
        return wire_reader_fail(c, -HOLTER_ERANGE);
    *out = (int64_t)value;
    return 0;
}

static int read_f64(struct cursor *c, double *out)
{
    uint8_t tag = 0;
    uint64_t raw = 0;
    if (wire_reader_read_byte(c, &tag))
        return c->error;
    if (tag == 0xcb) { /* float 64 */
        if (wire_reader_read_integer(c, 8, &raw))
            return c->error;
        memcpy(out, &raw, sizeof *out);
        return 0;
    }
    if (tag == 0xca) { /* float 32 */
        if (wire_reader_read_integer(c, 4, &raw))
            return c->error;
        uint32_t narrow = (uint32_t)raw;
        float value;
        memcpy(&value, &narrow, sizeof value);
        *out = (double)value;
        c->loose = 1;
        return 0;
    }
    return wire_reader_fail(c, -HOLTER_ETYPE);
}

static int wire_reader_read_text(struct cursor *c, uint64_t limit, const char **out)
{
    uint8_t tag = 0;
    uint64_t length = 0;
    if (wire_reader_read_byte(c, &tag))
        return c->error;
    if ((tag & 0xe0) == 0xa0) /* fixstr */
        length = tag & 0x1fu;
    else if (tag < 0xd9 || tag > 0xdb) /* str 8, 16, 32 */
        return wire_reader_fail(c, -HOLTER_ETYPE);
    else if (wire_reader_read_integer(c, 1u << (tag - 0xd9u), &length))
        return c->error;
    else
        c->loose |= length < (tag == 0xd9 ? 32u : tag == 0xda ? 256u : 65536u);
    if (length > limit)
        return wire_reader_fail(c, -HOLTER_ELIMIT);
    if (length > wire_reader_bytes_left(c))
        return wire_reader_fail(c, -HOLTER_ETRUNCATED);
    if (utf8_prefix((const char *)c->at, length) != length)
        return wire_reader_fail(c, -HOLTER_EMALFORMED);
    char *text = wire_arena_take(c->arena, length + 1, 1);
    if (!text)
        return wire_reader_fail(c, -ENOMEM);
    memcpy(text, c->at, length);
    text[length] = '\0';
    c->at += length;
    *out = text;
    return 0;
}

static int wire_reader_read_bytes(struct cursor *c, uint64_t limit, uint8_t *slot)
{
    uint8_t tag = 0, *bytes = NULL;
    uint64_t length = 0;
    if (wire_reader_read_byte(c, &tag))
        return c->error;
    if (tag < 0xc4 || tag > 0xc6) /* bin 8, 16, 32 */
        return wire_reader_fail(c, -HOLTER_ETYPE);
    c->loose = 1; /* messages of which the shape is used have no such fields */
    if (wire_reader_read_integer(c, 1u << (tag - 0xc4u), &length))
        return c->error;
    if (length > limit)
        return wire_reader_fail(c, -HOLTER_ELIMIT);
    if (length > wire_reader_bytes_left(c))
        return wire_reader_fail(c, -HOLTER_ETRUNCATED);
    if (length > 0) {
        bytes = wire_arena_take(c->arena, length, 8);
        if (!bytes)
            return wire_reader_fail(c, -ENOMEM);
        memcpy(bytes, c->at, length);
        c->at += length;
    }
    memcpy(slot, &bytes, sizeof bytes);
    memcpy(slot + sizeof bytes, &length, sizeof length);
    return 0;
}

/* The head of an array or a map. @param fix  tag of an empty one @param wide  tag with 16 bits */
static int read_container(struct cursor *c, uint8_t fix, uint8_t wide, uint64_t *count)
{
    uint8_t tag = 0;
    if (wire_reader_read_byte(c, &tag))
        return c->error;
    if ((tag & 0xf0) == fix) {
        *count = tag & 0x0fu;
        return 0;
    }
    if (tag != wide && tag != wide + 1)
        return wire_reader_fail(c, -HOLTER_ETYPE);
    if (wire_reader_read_integer(c, tag == wide ? 2 : 4, count))
        return c->error;
    c->loose |= *count < (tag == wide ? 16u : 65536u);
    return 0;
}

static int read_array(struct cursor *c, uint64_t *count)
{
    return read_container(c, 0x90, 0xdc, count);
}

static int read_map(struct cursor *c, uint64_t *count)
{
    return read_container(c, 0x80, 0xde, count);
}

/* ---- unknown values -------------------------------------------------------- */

/* Step over one value's head and, unless it is a container, its body.
 * @param inside  set to the number of values that the container holds, else 0 */
static int skip_head(struct cursor *c, uint64_t *inside)
{
    uint8_t tag = *c->at;
    uint64_t body = 0;
    *inside = 0;
    if ((tag & 0xf0) == 0x90 || tag == 0xdc || tag == 0xdd)
        return read_array(c, inside);
    if ((tag & 0xf0) == 0x80 || tag == 0xde || tag == 0xdf) {
        if (read_map(c, inside))
            return c->error;
        *inside *= 2;
        return 0;
    }
    c->at++;
    if (tag < 0x80 || tag >= 0xe0 || tag == 0xc0 || tag == 0xc2 || tag == 0xc3)
        return 0;
    if (tag == 0xc1) /* never used by MessagePack */
        return wire_reader_fail(c, -HOLTER_EMALFORMED);
    if ((tag & 0xe0) == 0xa0) { /* fixstr */
        body = tag & 0x1fu;
    } else if (tag >= 0xca && tag <= 0xd3) { /* float, uint, int */
        body = tag <= 0xcb ? 4u << (tag - 0xcau) : 1u << (tag & 3u);
    } else if (tag >= 0xd4 && tag <= 0xd8) { /* fixext: its type, and 1 to 16 bytes */
        body = 1u + (1u << (tag - 0xd4u));
    } else {
        /* bin c4..c6, ext c7..c9, str d9..db: a length of 1, 2 or 4 bytes; after the length of an
         * ext its type */
        unsigned width = 1u << (tag <= 0xc6   ? tag - 0xc4u
                                : tag <= 0xc9 ? tag - 0xc7u
                                              : tag - 0xd9u);
        if (wire_reader_read_integer(c, width, &body))
            return c->error;
        body += tag >= 0xc7 && tag <= 0xc9;
    }
    if (body > wire_reader_bytes_left(c))
        return wire_reader_fail(c, -HOLTER_ETRUNCATED);
    c->at += body;
    return 0;
}

/* Step over one value that lies at this depth. */
static int wire_reader_skip(struct cursor *c, unsigned depth)
{
    uint64_t open[WIRE_DEPTH + 1]; /* values still to come, level by level */
    unsigned level = 0;
    c->loose = 1;
    open[0] = 1;
    for (;;) {
        while (open[level] == 0) {
            if (level == 0)
                return 0;
            level--;
        }
        open[level]--;
        if (c->at == c->end)
            return wire_reader_fail(c, -HOLTER_ETRUNCATED);
        uint64_t inside = 0;
        if (skip_head(c, &inside))
            return c->error;
        if (inside > wire_reader_bytes_left(c))
            return wire_reader_fail(c, -HOLTER_ETRUNCATED);
        if (inside == 0)
            continue;
        if (depth + level + 1 > WIRE_DEPTH)
            return wire_reader_fail(c, -HOLTER_ELIMIT);
        open[++level] = inside;
    }
}

/* ---- fields -------------------------------------------------------------- */

void wire_set_default(enum wire_kind kind, void *slot)
{
    switch (kind) {
    case WIRE_KIND_F64:
        *(double *)slot = NAN;
        break;
    case WIRE_KIND_STR:
        *(const char **)slot = "";
        break;
    default:
        *(uint64_t *)slot = 0;
    }
}

void wire_set_defaults(const struct wire_table *table, void *message)
{
    uint8_t *base = message;
    for (size_t i = 0; i < table->count; i++) {
        const struct wire_field *field = &table->fields[i];
        wire_set_default(field->kind, base + field->offset);
        if (field->kind == WIRE_KIND_ROWS || field->kind == WIRE_KIND_BIN)
            wire_set_default(WIRE_KIND_U64, base + field->offset + sizeof(void *));
    }
}

static int read_scalar(struct cursor *c, enum wire_kind kind, uint64_t limit, void *slot)
{
    switch (kind) {
    case WIRE_KIND_U64:
        return read_u64(c, limit, slot);
    case WIRE_KIND_I64:
        return read_i64(c, slot);
    case WIRE_KIND_F64:
        return read_f64(c, slot);
    case WIRE_KIND_STR:
        return wire_reader_read_text(c, limit, slot);
    case WIRE_KIND_ROWS:
    case WIRE_KIND_BIN:
        break;
    }
    return wire_reader_fail(c, -HOLTER_EINTERNAL);
}

#define LONGEST_NUMBER 9u /* bytes */
#define ROW_DEPTH 4u      /* [type, {key: [[column, ...], ...]}] */

/* Numbers not below zero are nearly all that rows hold. They are read here without a look at
 * each byte's bounds, as long as the longest of them would fit; everything else, and every
 * fault, is left to read_scalar().
 * @return how many columns were read */
static size_t read_numbers(struct cursor *c, const struct wire_column *columns, size_t count,
                           uint8_t *row)
{
    const uint8_t *at = c->at;
    size_t fit = wire_reader_bytes_left(c) / LONGEST_NUMBER, i;
    int loose = 0;
    fit = count < fit ? count : fit;
    for (i = 0; i < fit; i++) {
        const struct wire_column *column = &columns[i];
        const uint8_t *next = at + 1;
        uint64_t value = at[0];
        if (value >= 0x80) {
            unsigned width = (unsigned)value - 0xccu; /* uint 8 to 64: 0 to 3 */
            if (width > 3)
                break;
            memcpy(&value, next, sizeof value);
            value = __builtin_bswap64(value) >> (64 - (8u << width));
            next += (size_t)1 << width;
            loose |= value < least[width];
            if (column->kind == WIRE_KIND_I64 && value > INT64_MAX)
                break;
        }
        if (column->kind > WIRE_KIND_I64 || value > column->limit)
            break;
        *(uint64_t *)(void *)(row + column->offset) = value;
        at = next;
    }
    c->at = at;
    c->loose |= loose;
    return i;
}

/* @param width  columns of the first row; set by that */
static int wire_reader_read_row(struct cursor *c, const struct wire_rows *table, uint8_t *row,
                                uint8_t *width)
{
    uint64_t count = 0;
    if (read_array(c, &count))
        return c->error;
    if (*width == 0)
        *width = (uint8_t)count;
    c->loose |= *width != count || count == 0;
    if (count < table->base)
        return wire_reader_fail(c, -HOLTER_EMISSING);
    if (count > wire_reader_bytes_left(c))
        return wire_reader_fail(c, -HOLTER_ETRUNCATED);
    size_t known = count < table->count ? (size_t)count : table->count;
    const struct wire_column *columns = table->columns;
    for (size_t i = read_numbers(c, columns, known, row); i < known;
         i += read_numbers(c, columns + i, known - i, row)) {
        if (read_scalar(c, columns[i].kind, columns[i].limit, row + columns[i].offset)) {
            c->column = &columns[i];
            return c->error;
        }
        i++;
    }
    for (size_t i = known; i < table->count; i++)
        wire_set_default(columns[i].kind, row + columns[i].offset);
    for (uint64_t i = known; i < count; i++) {
        if (wire_reader_skip(c, ROW_DEPTH))
            return c->error;
    }
    return 0;
}

static int wire_reader_read_rows(struct cursor *c, const struct wire_field *field, uint8_t *slot,
                                 uint8_t *width)
{
    const struct wire_rows *table = field->rows();
    uint64_t count = 0;
    if (read_array(c, &count))
        return c->error;
    if (count > field->limit)
        return wire_reader_fail(c, -HOLTER_ELIMIT);
    if (count > wire_reader_bytes_left(c) / (table->base + 1))
        return wire_reader_fail(c, -HOLTER_ETRUNCATED);
    uint8_t *rows = NULL;
    if (count > 0) {
        rows = wire_arena_take(c->arena, count * table->size, 8);
        if (!rows)
            return wire_reader_fail(c, -ENOMEM);
    }
    for (uint64_t i = 0; i < count; i++) {
        if (wire_reader_read_row(c, table, rows + i * table->size, width)) {
            c->row = i;
            return c->error;
        }
    }
    memcpy(slot, &rows, sizeof rows);
    memcpy(slot + sizeof rows, &count, sizeof count);
    return 0;
}

#define FIELD_DEPTH 2u

static int read_field(struct cursor *c, uint64_t key, size_t hint, uint8_t *base, uint64_t *seen)
{
    const struct wire_field *field = hint < c->table->count ? &c->table->fields[hint] : NULL;
    if (!field || field->key != key)
        field = wire_field_by_key(c->table, key);
    c->field = field;
    if (!field)
        return wire_reader_skip(c, FIELD_DEPTH);
    if (*seen >> field->key & 1)
        return wire_reader_fail(c, -HOLTER_EMALFORMED);
    *seen |= UINT64_C(1) << field->key;
    struct wire_shape *shape = &c->arena->shape;
    unsigned at = shape->count++; /* keys are different, so there is room */
    shape->fields[at].key = (uint8_t)field->key;
    shape->fields[at].width = 0;
    if (field->kind == WIRE_KIND_ROWS)
        return wire_reader_read_rows(c, field, base + field->offset, &shape->fields[at].width);
    if (field->kind == WIRE_KIND_BIN)
        return wire_reader_read_bytes(c, field->limit, base + field->offset);
    return read_scalar(c, field->kind, field->limit, base + field->offset);
}

static int read_fields(struct cursor *c, uint8_t *base)
{
    wire_set_defaults(c->table, base);
    uint64_t count = 0, seen = 0;
    if (read_map(c, &count))
        return c->error;
    if (count > wire_reader_bytes_left(c) / 2)
        return wire_reader_fail(c, -HOLTER_ETRUNCATED);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t key = 0;
        c->field = NULL;
        if (read_u64(c, UINT64_MAX, &key) || read_field(c, key, i, base, &seen))
            return c->error;
    }
    for (size_t i = 0; i < c->table->count; i++) {
        c->field = &c->table->fields[i];
        if (c->field->required && !(seen >> c->field->key & 1))
            return wire_reader_fail(c, -HOLTER_EMISSING);
    }
    return 0;
}

/* ---- the message --------------------------------------------------------- */

static int read_message(struct cursor *c, struct wire_message *out)
{
    uint64_t parts = 0, type = 0;
    if (c->end - c->begin > (ptrdiff_t)WIRE_MESSAGE_BYTES)
        return wire_reader_fail(c, -HOLTER_ELIMIT);
    if (read_array(c, &parts))
        return c->error;
    if (parts < 2)
        return wire_reader_fail(c, -HOLTER_EMALFORMED);
    if (read_u64(c, UINT32_MAX, &type))
        return c->error;
    c->table = wire_table((unsigned)type);
    if (!c->table)
        return wire_reader_fail(c, -HOLTER_EPROTOCOL);
    out->type = (enum wire_type)type;
    c->arena->shape.count = 0;
    if (read_fields(c, (uint8_t *)&out->hello))
        return c->error;
    c->field = NULL;
    for (uint64_t i = 2; i < parts; i++) {
        if (wire_reader_skip(c, 1))
            return c->error;
    }
    out->shape = c->loose ? NULL : &c->arena->shape;
    return c->at == c->end ? 0 : wire_reader_fail(c, -HOLTER_EMALFORMED);
}

static void wire_reader_describe(const struct cursor *c, struct wire_fault *fault)
{
    fault->code = c->error;
    fault->offset = (size_t)(c->at - c->begin);
    const char *message = c->table ? c->table->name : "message";
    if (!c->field)
        snprintf(fault->where, sizeof fault->where, "%s", message);
    else if (c->row == UINT64_MAX)
        snprintf(fault->where, sizeof fault->where, "%s.%s", message, c->field->name);
    else
        snprintf(fault->where, sizeof fault->where, "%s.%s[%llu]%s%s", message, c->field->name,
                 (unsigned long long)c->row, c->column ? "." : "",
                 c->column ? c->column->name : "");
}

int wire_decode(struct wire_message *out, struct wire_arena *arena, const void *bytes,
                size_t length, struct wire_fault *fault)
{
    struct wire_message message;
    struct cursor c = {.begin = bytes,
                       .at = bytes,
                       .end = (const uint8_t *)bytes + length,
                       .arena = arena,
                       .row = UINT64_MAX};
    wire_arena_empty(arena);
    if (read_message(&c, &message)) {
        if (fault)
            wire_reader_describe(&c, fault);
        return c.error;
    }
    *out = message;
    return 0;
}

#include "daemon/storage/block/block_reader.h"

#include "daemon/analysis/tables/array.h"
#include "holter/error.h"

#include <errno.h>
#include <stdlib.h>

#define ROWS BLOCK_ROWS_AT_ONCE

/* ---- putting together ---------------------------------------------------- */

/* Up to BLOCK_TAKEN_AT_ONCE, of shape BLOCK_SPLIT. @return 0 when one is damaged */
static int take_split(struct read_column *c, size_t count, uint64_t *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = block_take_split(c->at[i], c->bits, &c->bit);
    c->at += count;
    c->left_over -= count;
    return !block_split_ended(c, c->bit);
}

/* Numbers as they stand in a column. @return 0 when it has no more, or a damaged one */
static int take_numbers(struct read_column *c, size_t count, uint64_t *out)
{
    const uint8_t *at = c->at, *end = c->end;
    size_t i = 0;
    if (count > c->left_over)
        return 0;
    if (c->shape == BLOCK_SPLIT)
        return take_split(c, count, out);
    if (c->shape == BLOCK_ALL_SAME) {
        for (; i < count; i++)
            out[i] = c->same;
    }
    if (c->is_short) { /* as in most columns */
        for (; i < count; i++)
            out[i] = at[i];
        at += count;
    }
    while (i < count && block_take_number(&at, end, &out[i]))
        i++;
    c->at = at;
    c->left_over -= i;
    return i == count;
}

static int take_sizes(struct read_column *c, size_t count, const uint64_t (*lefts)[ROWS],
                      uint64_t *out)
{
    size_t i = 0;
    if (count > c->left_over || (c->shape == BLOCK_ALL_SAME && c->same == 0))
        return 0; /* two equal numbers, 0 and the bytes, cannot be meant */
    for (; i < count && c->shape == BLOCK_ALL_SAME; i++)
        out[i] = block_unsizes(c->same, lefts[-1][i], lefts[-2][i]);
    for (; i < count && block_take_number(&c->at, c->end, &out[i]); i++) {
        if (out[i] != 0)
            out[i] = block_unsizes(out[i], lefts[-1][i], lefts[-2][i]);
        else if (!block_take_number(&c->at, c->end, &out[i]))
            break;
    }
    c->left_over -= i;
    return i == count;
}

static int take_keys(struct read_column *c, size_t count, uint64_t *out)
{
    uint64_t row = c->total - c->left_over, number;
    if (count > c->left_over)
        return 0;
    for (size_t i = 0; i < count; i++, row++) {
        if (!block_take_number(&c->at, c->end, &number))
            return 0;
        if (number == 0) {
            if (c->end - c->at < 8)
                return 0;
            memcpy(&out[i], c->at, 8);
            out[i] = le64toh(out[i]);
            c->at += 8;
            c->twins[i] = BLOCK_NO_TWIN;
        } else {
            uint64_t twin = c->before + block_unfold(number - 1);
            if (twin >= row)
                return 0;
            out[i] = c->past[twin];
            c->twins[i] = (uint32_t)twin;
            c->before = twin + 1;
        }
        c->past[row] = out[i];
    }
    c->left_over -= count;
    return 1;
}

/* @param out  numbers as they stand in the column, of rows that have been counted */
static int take_twins(struct read_column *c, size_t count, uint64_t *out)
{
    uint64_t row = c->total - c->left_over - count;
    for (size_t i = 0; i < count; i++, row++) {
        out[i] = block_unfold(out[i]);
        if (c->twins[i] != BLOCK_NO_TWIN) {
            if (c->twins[i] >= row)
                return 0;
            out[i] += c->past[c->twins[i]];
        }
        c->past[row] = out[i];
    }
    return 1;
}

static int take_ready(struct read_column *c, size_t count, uint64_t *out)
{
    size_t row = (size_t)(c->total - c->left_over);
    if (count > c->left_over)
        return 0;
    memcpy(out, c->ready + row, count * sizeof(*out));
    if (c->twin_of != NULL)
        memcpy(c->twins, c->twin_of + row, count * sizeof(*c->twins));
    c->left_over -= count;
    return 1;
}

int block_next_integers(struct read_column *c, size_t count, const uint64_t (*lefts)[ROWS],
                        uint64_t *out)
{
    uint64_t before = c->before;
    if (c->ready != NULL)
        return take_ready(c, count, out);
    if (c->coding == BLOCK_SIZES)
        return take_sizes(c, count, lefts, out);
    if (c->coding == BLOCK_KEYED)
        return take_keys(c, count, out);
    if (!take_numbers(c, count, out))
        return 0;
    if (c->coding == BLOCK_TWIN)
        return take_twins(c, count, out);
    switch (c->coding) {
    case BLOCK_PLAIN:
        for (size_t i = 0; c->negative && i < count; i++)
            out[i] = block_unfold(out[i]);
        break;
    case BLOCK_DELTA:
        for (size_t i = 0; i < count; i++)
            before = out[i] = before + block_unfold(out[i]);
        break;
    case BLOCK_LEFT:
        for (size_t i = 0; i < count; i++)
            out[i] = lefts[-1][i] + block_unfold(out[i]);
        break;
    case BLOCK_LEFT2:
        for (size_t i = 0; i < count; i++)
            out[i] = lefts[-2][i] + block_unfold(out[i]);
        break;
    case BLOCK_LEFT3:
        for (size_t i = 0; i < count; i++)
            out[i] = lefts[-3][i] + block_unfold(out[i]);
        break;
    default:
        for (size_t i = 0; i < count; i++)
            out[i] = lefts[-3][i] - lefts[-1][i] + block_unfold(out[i]);
    }
    c->before = before;
    return 1;
}

/* Of a value that stands alone. */
int block_next_integer(struct read_column *c, uint64_t *out)
{
    static const uint64_t none[BLOCK_REACH][ROWS];
    uint64_t number;
    if (c == NULL)
        return 0;
    if (c->coding > BLOCK_DELTA || c->left_over == 0) /* seldom */
        return block_next_integers(c, 1, none + BLOCK_REACH, out);
    if (!block_take_number(&c->at, c->end, &number))
        return 0;
    c->left_over--;
    if (c->coding == BLOCK_DELTA || c->negative)
        number = block_unfold(number);
    *out = c->coding == BLOCK_DELTA ? (c->before += number) : number;
    return 1;
}

static int room_for(struct block_reader *r, size_t bytes)
{
    if (bytes > BLOCK_MOST_BYTES - r->out_length)
        return -HOLTER_ECORRUPT;
    return array_fit(&r->out, 1, &r->out_room, r->out_length + bytes);
}

static inline uint8_t *put_big_endian(uint8_t *at, uint64_t number, unsigned bytes)
{
    for (unsigned i = bytes; i-- > 0; number >>= 8)
        at[i] = (uint8_t)number;
    return at + bytes;
}

static inline uint8_t *put_integer(uint8_t *at, uint64_t number, int negative)
{
    if (negative && number >> 63) {
        int64_t value = (int64_t)number;
        if (value >= -32) {
            *at = (uint8_t)number;
            return at + 1;
        }
        unsigned log = value >= INT8_MIN ? 0 : value >= INT16_MIN ? 1 : value >= INT32_MIN ? 2 : 3;
        *at = (uint8_t)(0xd0 + log);
        return put_big_endian(at + 1, number, 1u << log);
    }
    if (number < 128) {
        *at = (uint8_t)number;
        return at + 1;
    }
    unsigned log = number <= UINT8_MAX    ? 0
                   : number <= UINT16_MAX ? 1
                   : number <= UINT32_MAX ? 2
                                          : 3;
    *at = (uint8_t)(0xcc + log);
    return put_big_endian(at + 1, number, 1u << log);
}

/* @return behind it: five bytes at most */
static uint8_t *put_length(uint8_t *at, size_t length, uint8_t few, size_t most, uint8_t wide)
{
    if (length <= most) {
        *at = (uint8_t)(few + length);
        return at + 1;
    }
    if (few == 0xa0 && length <= 255) {
        *at = 0xd9;
        return put_big_endian(at + 1, length, 1);
    }
    *at = length <= 65535 ? wide : (uint8_t)(wide + 1);
    return put_big_endian(at + 1, length, length <= 65535 ? 2 : 4);
}

int block_next_text(struct read_column *c, const uint8_t **bytes, size_t *length)
{
    uint64_t number;
    if (c == NULL || c->left_over == 0 || !block_take_number(&c->at, c->end, &number) ||
        number > (uint64_t)(c->end - c->at))
        return 0;
    c->left_over--;
    *bytes = c->at;
    *length = (size_t)number;
    c->at += number;
    return 1;
}

/* A real or a text. */
static int put_other(struct block_reader *r, struct read_column *c)
{
    const uint8_t *bytes;
    size_t length;
    if (c != NULL && c->kind == BLOCK_REAL) {
        if (c->left_over == 0 || c->end - c->at < 8 || room_for(r, 9) != 0)
            return -HOLTER_ECORRUPT;
        c->left_over--;
        r->out[r->out_length++] = 0xcb;
        for (unsigned i = 0; i < 8; i++)
            r->out[r->out_length++] = c->at[7 - i];
        c->at += 8;
        return 0;
    }
    if (!block_next_text(c, &bytes, &length))
        return -HOLTER_ECORRUPT;
    int code = room_for(r, 5 + length);
    if (code != 0)
        return code;
    uint8_t *at = put_length(r->out + r->out_length, length, 0xa0, 31, 0xda);
    memcpy(at, bytes, length);
    r->out_length = (size_t)(at - r->out) + length;
    return 0;
}

/* Rows in which there are others than integers: the columns of those are read as rows are put. */
static int put_mixed(struct block_reader *r, const struct read_field *f, size_t count)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < count; i++) {
        if ((code = room_for(r, 5)) != 0)
            return code;
        uint8_t *at = put_length(r->out + r->out_length, f->width, 0x90, 15, 0xdc);
        r->out_length = (size_t)(at - r->out);
        for (unsigned w = 0; code == 0 && w < f->width; w++) {
            struct read_column *c = r->row_columns[f->first + w];
            if (c->kind != BLOCK_INTEGER) {
                code = put_other(r, c);
            } else if ((code = room_for(r, 9)) == 0) {
                at =
                    put_integer(r->out + r->out_length, r->values[BLOCK_REACH + w][i], c->negative);
                r->out_length = (size_t)(at - r->out);
            }
        }
    }
    return code;
}

static void put_integers(struct block_reader *r, const struct read_field *f, size_t count)
{
    uint8_t *at = r->out + r->out_length;
    struct read_column *const *columns = r->row_columns + f->first;
    for (size_t i = 0; i < count; i++) {
        at = put_length(at, f->width, 0x90, 15, 0xdc);
        for (unsigned w = 0; w < f->width; w++) {
            uint64_t number = r->values[BLOCK_REACH + w][i];
            if (number < 128)
                *at++ = (uint8_t)number;
            else
                at = put_integer(at, number, columns[w]->negative);
        }
    }
    r->out_length = (size_t)(at - r->out);
}

/* Some rows, up to ROWS. */
static int put_rows(struct block_reader *r, const struct read_field *f, size_t count)
{
    int mixed = 0;
    for (unsigned w = 0; w < f->width; w++) {
        struct read_column *c = r->row_columns[f->first + w];
        if (c == NULL)
            return -HOLTER_ECORRUPT;
        const uint64_t(*place)[ROWS] = (const uint64_t(*)[ROWS])(r->values + BLOCK_REACH + w);
        if (c->kind != BLOCK_INTEGER)
            mixed = 1;
        else if (!block_make_keys(r, c, count) ||
                 !block_next_integers(c, count, place, r->values[BLOCK_REACH + w]))
            return -HOLTER_ECORRUPT;
    }
    if (mixed)
        return put_mixed(r, f, count);
    int code = room_for(r, count * (5 + 9 * (size_t)f->width));
    if (code == 0)
        put_integers(r, f, count);
    return code;
}

static int put_field(struct block_reader *r, const struct read_field *f)
{
    uint64_t number;
    int code = room_for(r, 20);
    if (code != 0)
        return code;
    uint8_t *at = put_integer(r->out + r->out_length, f->key, 0);
    r->out_length = (size_t)(at - r->out);
    if (f->kind == BLOCK_REAL || f->kind == BLOCK_TEXT)
        return put_other(r, f->value);
    if (!block_next_integer(f->value, &number))
        return -HOLTER_ECORRUPT;
    if (f->kind == BLOCK_INTEGER) {
        at = put_integer(at, number, f->value->negative);
        r->out_length = (size_t)(at - r->out);
        return 0;
    }
    if (number > BLOCK_MOST_BYTES || (number > 0 && f->width == 0))
        return -HOLTER_ECORRUPT;
    at = put_length(at, (size_t)number, 0x90, 15, 0xdc);
    r->out_length = (size_t)(at - r->out);
    for (uint64_t left = number, some; code == 0 && left > 0; left -= some) {
        some = left < ROWS ? left : ROWS;
        code = put_rows(r, f, (size_t)some);
    }
    return code;
}

static int put_message(struct block_reader *r, uint64_t layout)
{
    if (layout > r->layout_count)
        return -HOLTER_ECORRUPT;
    const struct read_layout *l = &r->layouts[layout - 1];
    r->out_length = 0;
    int code = room_for(r, 20);
    if (code != 0)
        return code;
    uint8_t *at = r->out;
    *at++ = 0x92;
    at = put_integer(at, l->type, 0);
    at = put_length(at, l->count, 0x80, 15, 0xde);
    r->out_length = (size_t)(at - r->out);
    for (size_t i = 0; code == 0 && i < l->count; i++)
        code = put_field(r, &r->fields[l->first + i]);
    return code;
}

int block_take_head(struct block_reader *r, struct recorded *head, uint64_t *layout)
{
    struct read_column **h = r->head;
    return block_next_integer(h[BLOCK_HEAD_LAYOUT], layout) &&
           block_next_integer(h[BLOCK_HEAD_TYPE], &head->type) &&
           block_next_integer(h[BLOCK_HEAD_AGENT], &head->instance) &&
           block_next_integer(h[BLOCK_HEAD_SEQ], &head->seq) &&
           block_next_integer(h[BLOCK_HEAD_WINDOW], &head->window) &&
           block_next_integer(h[BLOCK_HEAD_TIME], &head->time_ns) &&
           block_next_integer(h[BLOCK_HEAD_RECEIVED], &head->received_ns);
}

int block_take_bytes(struct block_reader *r, uint64_t layout, const void **bytes, size_t *length)
{
    const uint8_t *text;
    if (layout != 0) {
        int code = put_message(r, layout);
        *bytes = r->out;
        *length = r->out_length;
        return code;
    }
    if (!block_next_text(r->head[BLOCK_HEAD_BYTES], &text, length))
        return -HOLTER_ECORRUPT;
    *bytes = text;
    return 0;
}

int block_end_message(struct block_reader *r, int code, size_t length)
{
    if (code == 0 && length > BLOCK_MOST_BYTES - r->total)
        code = -HOLTER_ECORRUPT; /* it would be no end */
    r->broken = code;
    if (code != 0)
        return code;
    r->total += length;
    r->read++;
    return 1;
}

int block_next(struct block_reader *r, struct recorded *head, const void **bytes, size_t *length)
{
    uint64_t layout;
    r->layout = 0;
    if (r->broken != 0 || r->read == r->messages)
        return r->broken;
    int code = block_take_head(r, head, &layout) ? block_take_bytes(r, layout, bytes, length)
                                                 : -HOLTER_ECORRUPT;
    return block_end_message(r, code, code == 0 ? *length : 0);
}

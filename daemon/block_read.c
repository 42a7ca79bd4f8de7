#include "daemon/analysis/array.h"
#include "daemon/block.h"
#include "daemon/block_form.h"
#include "holter/error.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* A value takes a byte at least as MessagePack, ten at most here. */
#define MOST_PLAIN (10 * BLOCK_MOST_BYTES)
#define MOST_COLUMNS 65536u
#define ROWS 64u /* put together at once: they fit a cache */

struct column {
    uint64_t type, key, place;
    enum block_kind kind;
    enum block_coding coding;
    int negative;
    uint64_t left_over; /* values that were not read yet */
    const uint8_t *at, *end;
    uint64_t before; /* the value read last */
};

/* A field of a layout, with its columns in `columns` of the reader. */
struct field {
    uint8_t key;
    enum block_kind kind;
    struct column *value; /* NULL: the block has none; of rows how many there are */
    unsigned width;
    size_t first; /* of `row_columns` */
};

struct layout {
    uint8_t type;
    size_t first, count; /* of `fields` */
};

struct block_reader {
    ZSTD_DCtx *zstd;
    uint8_t *plain; /* owned */
    size_t plain_room, plain_length;
    const uint8_t *at; /* in plain, while the directory is read */
    struct column *columns;
    size_t column_count, column_room;
    struct layout layouts[BLOCK_LAYOUTS];
    size_t layout_count;
    struct field *fields;
    size_t field_count, field_room;
    struct column **row_columns;
    size_t row_column_count, row_column_room;
    struct column *head[BLOCK_HEAD_BYTES + 1];
    uint64_t messages, read;
    size_t total; /* bytes of messages read so far */
    uint8_t *out; /* owned: one message */
    size_t out_room, out_length;
    int broken;
    /** By column and row; what stands before the first column is 0. Of a column without integers: what
     *  was there before, which nothing sound refers to. */
    uint64_t values[BLOCK_REACH + BLOCK_WIDTH][ROWS];
};

int block_reader_create(struct block_reader **out)
{
    struct block_reader *r = calloc(1, sizeof(*r));
    if (r == NULL || (r->zstd = ZSTD_createDCtx()) == NULL) {
        free(r);
        return -ENOMEM;
    }
    *out = r;
    return 0;
}

void block_reader_destroy(struct block_reader *r)
{
    if (r == NULL)
        return;
    ZSTD_freeDCtx(r->zstd);
    free(r->plain);
    free(r->columns);
    free(r->fields);
    free(r->row_columns);
    free(r->out);
    free(r);
}

/* ---- opening ------------------------------------------------------------- */

static inline int take_number(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
    uint64_t number = 0;
    const uint8_t *p = *at;
    if (p < end && *p < 128) { /* most are small */
        *out = *p;
        *at = p + 1;
        return 1;
    }
    if (end - p >= 4) { /* up to four bytes at once */
        uint32_t four;
        memcpy(&four, p, sizeof(four));
        four = le32toh(four);
        uint32_t ends = ~four & 0x80808080;
        if (ends != 0) {
            unsigned bits = (unsigned)__builtin_ctz(ends) + 1;
            four &= 0x7f7f7f7f & (uint32_t)((UINT64_C(1) << bits) - 1);
            *out = (four & 0x7f) | (four & 0x7f00) >> 1 | (four & 0x7f0000) >> 2 |
                   (four & 0x7f000000) >> 3;
            *at = p + bits / 8;
            return 1;
        }
    }
    for (unsigned shift = 0; p < end && shift < 70; shift += 7) {
        uint8_t byte = *p++;
        number |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *out = number;
            *at = p;
            return shift < 63 || byte <= 1;
        }
    }
    return 0;
}

static int unzip(struct block_reader *r, const void *packed, size_t length)
{
    unsigned long long size = ZSTD_getFrameContentSize(packed, length);
    if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size > MOST_PLAIN)
        return -HOLTER_ECORRUPT;
    if (array_fit(&r->plain, 1, &r->plain_room, (size_t)size + 1) != 0)
        return -ENOMEM;
    r->plain_length = ZSTD_decompressDCtx(r->zstd, r->plain, (size_t)size, packed, length);
    return ZSTD_isError(r->plain_length) || r->plain_length != size ? -HOLTER_ECORRUPT : 0;
}

static int get(struct block_reader *r, uint64_t *out)
{
    return take_number(&r->at, r->plain + r->plain_length, out);
}

static int get_byte(struct block_reader *r, uint8_t *out)
{
    if (r->at == r->plain + r->plain_length)
        return 0;
    *out = *r->at++;
    return 1;
}

/* Columns are put in afterwards, when they are known: until then kinds stand where layouts begin. */
static int skip_layout(struct block_reader *r)
{
    uint8_t type, fields, key, kind, width;
    int good = get_byte(r, &type) && get_byte(r, &fields) && fields < BLOCK_KEYS;
    for (unsigned i = 0; good && i < fields; i++) {
        good = get_byte(r, &key) && get_byte(r, &kind) && key < BLOCK_KEYS &&
               kind >= BLOCK_INTEGER && kind <= BLOCK_ROWS;
        if (!good || kind != BLOCK_ROWS)
            continue;
        good = get_byte(r, &width) && width <= BLOCK_WIDTH;
        for (unsigned c = 0; good && c < width; c++)
            good = get_byte(r, &kind) && kind >= BLOCK_INTEGER && kind <= BLOCK_TEXT;
    }
    return good;
}

static int read_column(struct block_reader *r, struct column *c, uint64_t *length)
{
    uint64_t kind, coding, negative;
    *c = (struct column){0};
    if (!get(r, &c->type) || !get(r, &c->key) || !get(r, &c->place) || !get(r, &kind) ||
        !get(r, &coding) || !get(r, &negative) || !get(r, &c->left_over) || !get(r, length) ||
        kind < BLOCK_INTEGER || kind > BLOCK_TEXT || coding >= BLOCK_CODINGS || negative > 1 ||
        c->type >= BLOCK_TYPES || c->key >= BLOCK_KEYS || c->place > BLOCK_WIDTH ||
        c->left_over > *length)
        return 0;
    c->kind = (enum block_kind)kind;
    c->coding = (enum block_coding)coding;
    c->negative = (int)negative;
    return 1;
}

/* The columns, whose bytes follow the directory one behind the other. */
static int read_columns(struct block_reader *r)
{
    uint64_t count, length;
    if (!get(r, &count) || count > MOST_COLUMNS)
        return -HOLTER_ECORRUPT;
    if (array_fit(&r->columns, sizeof(*r->columns), &r->column_room, count + 1) != 0)
        return -ENOMEM;
    for (r->column_count = 0; r->column_count < count; r->column_count++) {
        struct column *c = &r->columns[r->column_count];
        if (!read_column(r, c, &length))
            return -HOLTER_ECORRUPT;
        c->before = length; /* until its place is known */
    }
    const uint8_t *at = r->at, *end = r->plain + r->plain_length;
    for (size_t i = 0; i < count; i++) {
        struct column *c = &r->columns[i];
        if (c->before > (uint64_t)(end - at))
            return -HOLTER_ECORRUPT;
        c->at = at;
        at += c->before;
        c->end = at;
        c->before = 0;
    }
    return at == end ? 0 : -HOLTER_ECORRUPT;
}

static int compare(const struct column *c, uint64_t type, uint64_t key, uint64_t place,
                   enum block_kind kind)
{
    return c->type != type     ? (c->type < type ? -1 : 1)
           : c->key != key     ? (c->key < key ? -1 : 1)
           : c->place != place ? (c->place < place ? -1 : 1)
                               : (c->kind > kind) - (c->kind < kind);
}

static int compare_columns(const void *a, const void *b)
{
    const struct column *x = a, *y = b;
    return compare(x, y->type, y->key, y->place, y->kind);
}

static struct column *find(struct block_reader *r, uint64_t type, uint64_t key, uint64_t place,
                           enum block_kind kind)
{
    size_t low = 0, high = r->column_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare(&r->columns[middle], type, key, place, kind);
        if (order == 0)
            return &r->columns[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static int take_field(struct block_reader *r, uint64_t type, struct field *f)
{
    uint8_t kind = 0, width = 0;
    get_byte(r, &f->key); /* checked by skip_layout() */
    get_byte(r, &kind);
    f->kind = (enum block_kind)kind;
    f->width = 0;
    f->first = r->row_column_count;
    f->value = find(r, type, f->key, 0, kind == BLOCK_ROWS ? BLOCK_INTEGER : f->kind);
    if (kind == BLOCK_ROWS)
        get_byte(r, &width);
    f->width = width;
    if (array_fit(&r->row_columns, sizeof(struct column *), &r->row_column_room,
                  r->row_column_count + width + 1) != 0)
        return -ENOMEM;
    for (unsigned i = 0; i < width; i++) {
        get_byte(r, &kind);
        r->row_columns[r->row_column_count++] = find(r, type, f->key, i + 1, (enum block_kind)kind);
    }
    return 0;
}

static int take_layouts(struct block_reader *r, const uint8_t *from)
{
    r->at = from;
    r->field_count = r->row_column_count = 0;
    for (size_t i = 0; i < r->layout_count; i++) {
        struct layout *l = &r->layouts[i];
        uint8_t fields = 0;
        get_byte(r, &l->type);
        get_byte(r, &fields);
        l->first = r->field_count;
        l->count = fields;
        if (array_fit(&r->fields, sizeof(*r->fields), &r->field_room,
                      r->field_count + fields + 1) != 0)
            return -ENOMEM;
        for (unsigned f = 0; f < fields; f++) {
            if (take_field(r, l->type, &r->fields[r->field_count++]) != 0)
                return -ENOMEM;
        }
    }
    return 0;
}

static int read_directory(struct block_reader *r)
{
    uint64_t form, layouts;
    r->at = r->plain;
    if (!get(r, &form) || form != BLOCK_FORM || !get(r, &r->messages) ||
        r->messages > BLOCK_MOST_MESSAGES || !get(r, &layouts) || layouts > BLOCK_LAYOUTS)
        return -HOLTER_ECORRUPT;
    const uint8_t *from = r->at;
    r->layout_count = (size_t)layouts;
    for (size_t i = 0; i < r->layout_count; i++) {
        if (!skip_layout(r))
            return -HOLTER_ECORRUPT;
    }
    int code = read_columns(r);
    if (code != 0)
        return code;
    qsort(r->columns, r->column_count, sizeof(*r->columns), compare_columns);
    code = take_layouts(r, from);
    for (unsigned key = BLOCK_HEAD_LAYOUT; key <= BLOCK_HEAD_BYTES; key++)
        r->head[key] = find(r, 0, key, 0, key == BLOCK_HEAD_BYTES ? BLOCK_TEXT : BLOCK_INTEGER);
    return code;
}

int block_open(struct block_reader *r, const void *packed, size_t length)
{
    r->messages = r->read = 0;
    r->total = 0;
    int code = packed == NULL ? -HOLTER_ECORRUPT : unzip(r, packed, length);
    code = code != 0 ? code : read_directory(r);
    r->broken = code;
    if (code != 0)
        r->messages = 0;
    return code;
}

size_t block_count(const struct block_reader *r)
{
    return (size_t)r->messages;
}

/* ---- putting together ---------------------------------------------------- */

/* The next integers of a column.
 * @param lefts  values of the same rows in the columns to the left, ROWS each; [-1] is the next one
 * @return 0 when the column has no more, or a damaged one */
static int next_integers(struct column *c, size_t count, const uint64_t (*lefts)[ROWS],
                         uint64_t *out)
{
    const uint8_t *at = c->at, *end = c->end;
    uint64_t before = c->before;
    size_t i = 0;
    if (count > c->left_over)
        return 0;
    switch (c->coding) {
    case BLOCK_PLAIN:
        for (; i < count && take_number(&at, end, &out[i]); i++)
            out[i] = c->negative ? block_unfold(out[i]) : out[i];
        break;
    case BLOCK_DELTA:
        for (; i < count && take_number(&at, end, &out[i]); i++)
            before = out[i] = before + block_unfold(out[i]);
        break;
    case BLOCK_LEFT:
        for (; i < count && take_number(&at, end, &out[i]); i++)
            out[i] = lefts[-1][i] + block_unfold(out[i]);
        break;
    case BLOCK_LEFT2:
        for (; i < count && take_number(&at, end, &out[i]); i++)
            out[i] = lefts[-2][i] + block_unfold(out[i]);
        break;
    case BLOCK_REST:
        for (; i < count && take_number(&at, end, &out[i]); i++)
            out[i] = lefts[-3][i] - lefts[-1][i] + block_unfold(out[i]);
        break;
    default:
        for (; i < count && take_number(&at, end, &out[i]); i++) {
            if (out[i] != 0)
                out[i] = block_unsizes(out[i], lefts[-1][i], lefts[-2][i]);
            else if (!take_number(&at, end, &out[i]))
                break;
        }
    }
    c->at = at;
    c->before = before;
    c->left_over -= i;
    return i == count;
}

/* Of a value that stands alone. */
static int next_integer(struct column *c, uint64_t *out)
{
    static const uint64_t none[BLOCK_REACH][ROWS];
    return c != NULL && next_integers(c, 1, none + BLOCK_REACH, out);
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

static int next_text(struct column *c, const uint8_t **bytes, size_t *length)
{
    uint64_t number;
    if (c == NULL || c->left_over == 0 || !take_number(&c->at, c->end, &number) ||
        number > (uint64_t)(c->end - c->at))
        return 0;
    c->left_over--;
    *bytes = c->at;
    *length = (size_t)number;
    c->at += number;
    return 1;
}

/* A real or a text. */
static int put_other(struct block_reader *r, struct column *c)
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
    if (!next_text(c, &bytes, &length))
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
static int put_mixed(struct block_reader *r, const struct field *f, size_t count)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < count; i++) {
        if ((code = room_for(r, 5)) != 0)
            return code;
        uint8_t *at = put_length(r->out + r->out_length, f->width, 0x90, 15, 0xdc);
        r->out_length = (size_t)(at - r->out);
        for (unsigned w = 0; code == 0 && w < f->width; w++) {
            struct column *c = r->row_columns[f->first + w];
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

static void put_integers(struct block_reader *r, const struct field *f, size_t count)
{
    uint8_t *at = r->out + r->out_length;
    struct column *const *columns = r->row_columns + f->first;
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
static int put_rows(struct block_reader *r, const struct field *f, size_t count)
{
    int mixed = 0;
    for (unsigned w = 0; w < f->width; w++) {
        struct column *c = r->row_columns[f->first + w];
        if (c == NULL)
            return -HOLTER_ECORRUPT;
        const uint64_t(*place)[ROWS] = (const uint64_t(*)[ROWS])(r->values + BLOCK_REACH + w);
        if (c->kind != BLOCK_INTEGER)
            mixed = 1;
        else if (!next_integers(c, count, place, r->values[BLOCK_REACH + w]))
            return -HOLTER_ECORRUPT;
    }
    if (mixed)
        return put_mixed(r, f, count);
    int code = room_for(r, count * (5 + 9 * (size_t)f->width));
    if (code == 0)
        put_integers(r, f, count);
    return code;
}

static int put_field(struct block_reader *r, const struct field *f)
{
    uint64_t number;
    int code = room_for(r, 20);
    if (code != 0)
        return code;
    uint8_t *at = put_integer(r->out + r->out_length, f->key, 0);
    r->out_length = (size_t)(at - r->out);
    if (f->kind == BLOCK_REAL || f->kind == BLOCK_TEXT)
        return put_other(r, f->value);
    if (!next_integer(f->value, &number))
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
    const struct layout *l = &r->layouts[layout - 1];
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

static int take_message(struct block_reader *r, struct recorded *head, const void **bytes,
                        size_t *length)
{
    uint64_t layout;
    struct column **h = r->head;
    const uint8_t *text;
    if (!next_integer(h[BLOCK_HEAD_LAYOUT], &layout) ||
        !next_integer(h[BLOCK_HEAD_TYPE], &head->type) ||
        !next_integer(h[BLOCK_HEAD_AGENT], &head->instance) ||
        !next_integer(h[BLOCK_HEAD_SEQ], &head->seq) ||
        !next_integer(h[BLOCK_HEAD_WINDOW], &head->window) ||
        !next_integer(h[BLOCK_HEAD_TIME], &head->time_ns) ||
        !next_integer(h[BLOCK_HEAD_RECEIVED], &head->received_ns))
        return -HOLTER_ECORRUPT;
    if (layout != 0) {
        int code = put_message(r, layout);
        *bytes = r->out;
        *length = r->out_length;
        return code;
    }
    if (!next_text(h[BLOCK_HEAD_BYTES], &text, length))
        return -HOLTER_ECORRUPT;
    *bytes = text;
    return 0;
}

int block_next(struct block_reader *r, struct recorded *head, const void **bytes, size_t *length)
{
    if (r->broken != 0 || r->read == r->messages)
        return r->broken;
    int code = take_message(r, head, bytes, length);
    if (code == 0 && *length > BLOCK_MOST_BYTES - r->total)
        code = -HOLTER_ECORRUPT; /* it would be no end */
    r->broken = code;
    if (code != 0)
        return code;
    r->total += *length;
    r->read++;
    return 1;
}

#include "daemon/storage/block/block_parse.h"

#include "holter/error.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

/* ---- MessagePack, in its shortest form ----------------------------------- */

struct input {
    const uint8_t *at, *end;
};

static inline uint64_t big_endian(const uint8_t *at, unsigned bytes)
{
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (bytes) {
    case 1:
        return *at;
    case 2:
        memcpy(&two, at, 2);
        return be16toh(two);
    case 4:
        memcpy(&four, at, 4);
        return be32toh(four);
    default:
        memcpy(&eight, at, 8);
        return be64toh(eight);
    }
}

/* @param sign  set to 1 for a negative number @return 0 when it is no integer in its shortest form
 */
static inline int take_integer(struct input *in, uint64_t *out, int *sign)
{
    if (in->at >= in->end)
        return 0;
    uint8_t first = *in->at;
    *sign = 0;
    if (first < 0x80) {
        *out = first;
        in->at++;
        return 1;
    }
    if (first >= 0xe0) {
        *out = (uint64_t)(int64_t)(int8_t)first;
        *sign = 1;
        in->at++;
        return 1;
    }
    if (first < 0xcc || first > 0xd3)
        return 0;
    unsigned bytes = 1u << (first & 3);
    if ((size_t)(in->end - in->at) <= bytes)
        return 0;
    uint64_t number = big_endian(in->at + 1, bytes);
    in->at += 1 + bytes;
    if (first <= 0xcf) { /* a shorter one would do for less */
        *out = number;
        return bytes == 1 ? number >= 128 : number >> (4 * bytes) != 0;
    }
    unsigned unused = 64 - 8 * bytes;
    int64_t value = (int64_t)(number << unused) >> unused;
    *out = (uint64_t)value;
    *sign = 1;
    return bytes == 1 ? value < -32 : value < -(INT64_C(1) << (4 * bytes - 1));
}

/* Length of a text, an array or a map. @param few  first byte of its short form, which holds up to
 * `most`
 * @param wide  first byte of the form with a 16-bit length */
static int take_length(struct input *in, uint8_t few, uint8_t most, uint8_t wide, size_t *out)
{
    if (in->at >= in->end)
        return 0;
    uint8_t first = *in->at++;
    if (first >= few && first <= (uint8_t)(few + most)) {
        *out = (size_t)(first - few);
        return 1;
    }
    size_t left = (size_t)(in->end - in->at);
    if (few == 0xa0 && first == 0xd9 && left >= 1) {
        *out = *in->at++;
        return *out > most;
    }
    if (first == wide && left >= 2) {
        *out = (size_t)big_endian(in->at, 2);
        in->at += 2;
        return *out > (few == 0xa0 ? 255u : most);
    }
    if (first == wide + 1 && left >= 4) {
        *out = (size_t)big_endian(in->at, 4);
        in->at += 4;
        return *out > 65535;
    }
    return 0;
}

static enum block_kind kind_at(const struct input *in)
{
    uint8_t first = in->at < in->end ? *in->at : 0xc1;
    return first == 0xcb                                                         ? BLOCK_REAL
           : (first >= 0xa0 && first < 0xc0) || (first >= 0xd9 && first <= 0xdb) ? BLOCK_TEXT
           : (first >= 0x90 && first < 0xa0) || first == 0xdc || first == 0xdd   ? BLOCK_ROWS
                                                                                 : BLOCK_INTEGER;
}

/* ---- taking apart -------------------------------------------------------- */

/* @return 1, 0 when it is not of the kind, -ENOMEM */
static inline int take_value(struct input *in, struct block_column *t)
{
    size_t length;
    int sign;
    if (t->kind == BLOCK_INTEGER) {
        if (!take_integer(in, &t->values[t->count], &sign))
            return 0;
        uint64_t value = t->values[t->count++];
        t->negative |= sign;
        t->big |= !sign && value >> 63;
        return !(t->negative && t->big);
    }
    if (t->kind == BLOCK_REAL) {
        if (in->end - in->at < 9 || *in->at != 0xcb)
            return 0;
        t->values[t->count++] = big_endian(in->at + 1, 8);
        in->at += 9;
        return 1;
    }
    if (!take_length(in, 0xa0, 31, 0xda, &length) || length > (size_t)(in->end - in->at))
        return 0;
    if (block_column_put_text(t, in->at, length) != 0)
        return -ENOMEM;
    in->at += length;
    return 1;
}

/* Columns for rows; their kinds are those of the first row. @return 1, 0, -ENOMEM */
static int make_row_columns(struct block_columns *c, struct input first, unsigned type,
                            unsigned key, size_t width, size_t rows, struct block_layout *layout,
                            struct block_column *out[BLOCK_WIDTH])
{
    for (size_t i = 0; i < width; i++) {
        struct input value = first;
        enum block_kind kind = kind_at(&first);
        if (kind == BLOCK_ROWS || !block_layout_note(layout, (uint8_t)kind))
            return 0;
        out[i] = block_columns_get(c, type, key, (unsigned)i + 1, kind);
        if (out[i] == NULL || block_columns_touch(c, out[i], rows) != 0)
            return -ENOMEM;
        /* To get to the next one; the column gets it in its turn. */
        uint64_t number;
        size_t length = 0;
        int sign;
        if (kind == BLOCK_INTEGER && !take_integer(&value, &number, &sign))
            return 0;
        if (kind == BLOCK_REAL)
            length = 9;
        if (kind == BLOCK_TEXT && !take_length(&value, 0xa0, 31, 0xda, &length))
            return 0;
        if (length > (size_t)(value.end - value.at))
            return 0;
        first.at = value.at + length;
    }
    return 1;
}

static int all_integers(struct block_column *const *columns, size_t width)
{
    size_t i = 0;
    while (i < width && columns[i]->kind == BLOCK_INTEGER)
        i++;
    return i == width;
}

/* Values of 0x80 and more by their first byte, less 0x80: how far to shift the eight bytes that
 * follow, how many of these are its own, and the least number that needs so many. What is no
 * unsigned integer is below that. */
#define NONE8                                                                                      \
    UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX
#define NONE32 NONE8, NONE8, NONE8, NONE8
#define BEFORE_CC NONE32, NONE32, NONE8, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX
static const uint64_t least[128] = {BEFORE_CC,         128,    256,   65536,
                                    UINT64_C(1) << 32, NONE32, NONE8, NONE8};
static const uint8_t shifts[128] = {[0x4c] = 56, 48, 32, 0};
static const uint8_t lengths[128] = {[0x4c] = 1, 2, 4, 8};

#define ALWAYS static inline __attribute__((always_inline))

/* Bytes before the values of a row. */
ALWAYS size_t row_head(size_t width)
{
    return width <= 15 ? 1 : 3;
}

ALWAYS int is_row(const uint8_t *at, size_t width)
{
    return width <= 15 ? at[0] == 0x90 + width : at[0] == 0xdc && at[1] == 0 && at[2] == width;
}

/* Rows of unsigned integers, up to one that is none. Made of few branches, as nobody can foretell
 * how many bytes a number has; of a width that the compiler knows.
 * @param all  the numbers, or-ed, of those that were taken and perhaps one more row @return how
 * many */
ALWAYS size_t take_unsigned(struct input *in, uint64_t *const *values, size_t width, size_t rows,
                            uint64_t *all)
{
    const uint8_t *at = in->at, *end = in->end;
    size_t most = row_head(width) + 9 * width, r = 0;
    uint64_t any = 0;
    for (; r < rows && (size_t)(end - at) >= most && is_row(at, width); r++, in->at = at) {
        unsigned bad = 0;
        at += row_head(width);
#pragma GCC unroll 24
        for (size_t i = 0; i < width; i++) {
            uint64_t number = *at++;
            if (number >= 0x80) {
                size_t form = (size_t)number - 0x80;
                memcpy(&number, at, sizeof(number));
                number = be64toh(number) >> shifts[form];
                at += lengths[form];
                bad |= number < least[form];
                any |= number;
            }
            values[i][r] = number;
        }
        if (bad)
            break;
    }
    *all |= any;
    return r;
}

#define WIDTH(width)                                                                               \
    static size_t take_##width(struct input *in, uint64_t *const *values, size_t rows,             \
                               uint64_t *all)                                                      \
    {                                                                                              \
        return take_unsigned(in, values, width, rows, all);                                        \
    }

/* Those of the tables with most rows. */
WIDTH(4)
WIDTH(5)
WIDTH(7)
WIDTH(9)
WIDTH(11)
WIDTH(24)

static size_t take_any(struct input *in, uint64_t *const *values, size_t width, size_t rows,
                       uint64_t *all)
{
    switch (width) {
    case 4:
        return take_4(in, values, rows, all);
    case 5:
        return take_5(in, values, rows, all);
    case 7:
        return take_7(in, values, rows, all);
    case 9:
        return take_9(in, values, rows, all);
    case 11:
        return take_11(in, values, rows, all);
    case 24:
        return take_24(in, values, rows, all);
    default:
        return take_unsigned(in, values, width, rows, all);
    }
}

/* A row in which one is below 0, or that stands at the end. @return 0 when it is none of ours */
static int take_signed(struct input *in, uint64_t *const *values, size_t width, size_t row,
                       int *negative, int *big)
{
    size_t found;
    int sign;
    if (!take_length(in, 0x90, 15, 0xdc, &found) || found != width)
        return 0;
    for (size_t i = 0; i < width; i++) {
        if (!take_integer(in, &values[i][row], &sign))
            return 0;
        negative[i] |= sign;
        big[i] |= !sign && values[i][row] >> 63;
    }
    return 1;
}

/* Of rows that are not signed. */
static void look_for_big(uint64_t *const *values, size_t width, size_t from, size_t end, int *big)
{
    for (size_t i = 0; i < width; i++) {
        for (size_t r = from; r < end; r++)
            big[i] |= (int)(values[i][r] >> 63);
    }
}

/* Rows of integers: nearly all that there is. */
static int take_numbers(struct input *in, struct block_column *const *columns, size_t width,
                        size_t rows)
{
    uint64_t *values[BLOCK_WIDTH], *from[BLOCK_WIDTH];
    int negative[BLOCK_WIDTH] = {0}, big[BLOCK_WIDTH] = {0};
    for (size_t i = 0; i < width; i++)
        values[i] = columns[i]->values + columns[i]->count;
    for (size_t r = 0; r < rows; r++) {
        uint64_t all = 0;
        for (size_t i = 0; i < width; i++)
            from[i] = values[i] + r;
        size_t some = take_any(in, from, width, rows - r, &all);
        if (all >> 63)
            look_for_big(values, width, r, r + some, big);
        r += some;
        if (r < rows && !take_signed(in, values, width, r, negative, big))
            return 0;
    }
    for (size_t i = 0; i < width; i++) {
        columns[i]->count += rows;
        columns[i]->negative |= negative[i];
        columns[i]->big |= big[i];
        if (columns[i]->negative && columns[i]->big)
            return 0;
    }
    return 1;
}

/* @return 1, 0 when rows are not what we write, -ENOMEM */
static int take_rows(struct block_columns *c, struct input *in, unsigned type, unsigned key,
                     struct block_layout *layout)
{
    struct block_column *columns[BLOCK_WIDTH];
    size_t rows, width = 0, found;
    if (!take_length(in, 0x90, 15, 0xdc, &rows))
        return 0;
    if (block_columns_integer(c, type, key, rows) != 0)
        return -ENOMEM;
    struct input first = *in;
    if (rows > 0 &&
        (!take_length(&first, 0x90, 15, 0xdc, &width) || width == 0 || width > BLOCK_WIDTH))
        return 0;
    if (rows > 0 && rows > (size_t)(in->end - in->at) / (width + 1))
        return 0;
    if (!block_layout_note(layout, (uint8_t)width))
        return 0;
    int code = make_row_columns(c, first, type, key, width, rows, layout, columns);
    if (code == 1 && all_integers(columns, width))
        return take_numbers(in, columns, width, rows);
    for (size_t r = 0; code == 1 && r < rows; r++) {
        code = take_length(in, 0x90, 15, 0xdc, &found) && found == width;
        for (size_t i = 0; code == 1 && i < width; i++)
            code = take_value(in, columns[i]);
    }
    return code;
}

static int take_field(struct block_columns *c, struct input *in, unsigned type,
                      struct block_layout *layout)
{
    uint64_t key;
    int sign;
    if (!take_integer(in, &key, &sign) || sign || key >= BLOCK_KEYS)
        return 0;
    enum block_kind kind = kind_at(in);
    if (!block_layout_note(layout, (uint8_t)key) || !block_layout_note(layout, (uint8_t)kind))
        return 0;
    if (kind == BLOCK_ROWS)
        return take_rows(c, in, type, (unsigned)key, layout);
    struct block_column *t = block_columns_get(c, type, (unsigned)key, 0, kind);
    return t == NULL || block_columns_touch(c, t, 1) != 0 ? -ENOMEM : take_value(in, t);
}

static int take_apart(struct block_columns *c, struct input *in, struct block_layout *layout)
{
    uint64_t type;
    size_t parts, fields;
    int sign;
    if (!take_length(in, 0x90, 15, 0xdc, &parts) || parts != 2 || !take_integer(in, &type, &sign) ||
        sign || type == 0 || type >= BLOCK_TYPES || !take_length(in, 0x80, 15, 0xde, &fields) ||
        fields >= BLOCK_KEYS)
        return 0;
    int code =
        block_layout_note(layout, (uint8_t)type) && block_layout_note(layout, (uint8_t)fields);
    for (size_t i = 0; code == 1 && i < fields; i++)
        code = take_field(c, in, (unsigned)type, layout);
    return code == 1 ? in->at == in->end : code;
}

int block_parse(struct block_columns *c, const void *bytes, size_t length, unsigned *out)
{
    struct block_layout layout;
    struct input in = {bytes, (const uint8_t *)bytes + length};
    layout.length = 0;
    int code = take_apart(c, &in, &layout);
    code = code == 1 ? block_columns_layout(c, layout.bytes, layout.length) : code;
    if (code <= 0)
        return code == 0 ? -HOLTER_EPROTOCOL : code;
    *out = (unsigned)code;
    return 0;
}

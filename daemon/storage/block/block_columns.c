/* Columns of a block: filling them, choosing their coding, and packing them into planes of bytes.
 */
#include "daemon/storage/block/block_columns.h"

#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/** Values of a column that the choice of its coding looks at. Of a larger sample the choice is
 * hardly ever another one. */
#define SAMPLE 256u
/** Numbers that no other coding brings below so many bits may be keys of messages. */
#define NOISE_BITS 40

/* ---- bytes --------------------------------------------------------------- */

int block_bytes_reserve(struct block_bytes *bytes, size_t further)
{
    return ARRAY_FIT(bytes->at, bytes->capacity, bytes->length + further);
}

static int block_bytes_append(struct block_bytes *bytes, const void *from, size_t length)
{
    if (block_bytes_reserve(bytes, length) != 0)
        return -ENOMEM;
    if (length > 0)
        memcpy(bytes->at + bytes->length, from, length);
    bytes->length += length;
    return 0;
}

int block_bytes_append_number(struct block_bytes *bytes, uint64_t number)
{
    if (block_bytes_reserve(bytes, 10) != 0)
        return -ENOMEM;
    for (; number >= 128; number >>= 7)
        bytes->at[bytes->length++] = (uint8_t)(number | 128);
    bytes->at[bytes->length++] = (uint8_t)number;
    return 0;
}

/* ---- filling ------------------------------------------------------------- */

void block_columns_finish(struct block_columns *columns)
{
    for (unsigned type = 0; type < BLOCK_TYPES; type++) {
        for (unsigned key = 0; key < BLOCK_KEYS; key++) {
            struct block_field *field = &columns->fields[type][key];
            for (unsigned i = 0; i < field->count; i++) {
                free(field->columns[i].values);
                free(field->columns[i].bytes.at);
            }
            free(field->columns);
            *field = (struct block_field){0};
        }
    }
    array_release(&columns->residuals);
    columns->residual_capacity = 0;
}

void block_columns_clear(struct block_columns *columns)
{
    for (unsigned type = 0; type < BLOCK_TYPES; type++) {
        for (unsigned key = 0; key < BLOCK_KEYS; key++) {
            struct block_field *field = &columns->fields[type][key];
            for (unsigned i = 0; i < field->count; i++) {
                field->columns[i].count = 0;
                field->columns[i].bytes.length = 0;
            }
        }
    }
}

struct block_column *block_columns_of(struct block_columns *columns, unsigned type, unsigned key,
                                      unsigned count)
{
    struct block_field *field = &columns->fields[type][key];
    if (field->columns == NULL) {
        field->columns = calloc(count, sizeof(*field->columns));
        field->count = field->columns == NULL ? 0 : count;
    }
    return field->columns;
}

int block_column_reserve(struct block_column *column, size_t further)
{
    return ARRAY_FIT(column->values, column->capacity, column->count + further);
}

int block_column_add_integer(struct block_column *column, uint64_t value)
{
    if (block_column_reserve(column, 1) != 0)
        return -ENOMEM;
    column->values[column->count++] = value;
    return 0;
}

int block_column_add_bytes(struct block_column *column, const void *bytes, size_t length)
{
    column->kind = BLOCK_BYTES_KIND;
    if (block_bytes_append_number(&column->bytes, length) != 0 ||
        block_bytes_append(&column->bytes, bytes, length) != 0)
        return -ENOMEM;
    column->count++;
    return 0;
}

/* ---- packing ------------------------------------------------------------- */

/* What is stored of value `i` in a coding. */
static inline uint64_t block_columns_residual(struct block_columns *columns,
                                              const struct block_column *column,
                                              enum block_coding coding, size_t i)
{
    const uint64_t value = column->values[i];
    switch (coding) {
    case BLOCK_PLAIN:
        return value;
    case BLOCK_ZIGZAG:
        return block_zigzag(value);
    case BLOCK_DELTA:
        return block_zigzag(value - (i > 0 ? column->values[i - 1] : 0));
    case BLOCK_ROW_DELTA: {
        const uint64_t *left = column[-1].values;
        uint64_t before = i > 0 ? column->values[i - 1] - left[i - 1] : 0;
        return block_zigzag(value - left[i] - before);
    }
    case BLOCK_SIZES:
        return block_sizes_encode(value, column[-1].values[i], column[-2].values[i]);
    case BLOCK_KEYS_CODING:
        return block_key_encode(
            &columns->slots, value,
            (uint64_t[]){column[1].values[i], column[2].values[i], column[3].values[i]});
    default:
        return block_zigzag(value - column[-(int)block_coding_reach(coding)].values[i]);
    }
}

/* Are the columns from one place to another, relative to a column, integers of the same rows? */
static int block_column_has_near(const struct block_column *column, int from, int to)
{
    for (int i = from; i <= to; i++) {
        if (column[i].kind != BLOCK_INTEGER || column[i].count != column->count)
            return 0;
    }
    return 1;
}

/* May a coding be used in the column at a place of a field with so many columns? Rows are read from
 * the left to the right, but keys last, so that no other column may depend on these. */
static int block_column_may_use(const struct block_column *column, unsigned place, unsigned count,
                                enum block_coding coding)
{
    unsigned reach = block_coding_reach(coding);
    if (coding == BLOCK_KEYS_CODING)
        return place == 1 && count > 4 && block_column_has_near(column, 1, 3);
    return reach == 0 || (place > reach && block_column_has_near(column, -(int)reach, -1) &&
                          !(place - reach == 1 && column[-(int)reach].coding == BLOCK_KEYS_CODING));
}

static unsigned bits_of(uint64_t number)
{
    return number == 0 ? 0 : 64u - (unsigned)__builtin_clzll(number);
}

/* Bits of the residuals of a column, `count` from one on; UINT64_MAX: one cannot be stored so. */
static uint64_t block_columns_weigh(struct block_columns *columns,
                                    const struct block_column *column, enum block_coding coding,
                                    size_t first, size_t count)
{
    uint64_t bits = 0;
    if (coding == BLOCK_KEYS_CODING)
        memset(&columns->slots, 0, sizeof(columns->slots));
    for (size_t i = first; i < first + count; i++) {
        uint64_t residual = block_columns_residual(columns, column, coding, i);
        if (coding == BLOCK_SIZES &&
            (residual == 0 || block_sizes_decode(residual, column[-1].values[i],
                                                 column[-2].values[i]) != column->values[i]))
            return UINT64_MAX;
        bits += bits_of(residual);
    }
    return bits;
}

/* The coding whose residuals have the fewest bits: in a sample from the middle; of the two whose
 * residuals depend on all values, in all of them. */
static enum block_coding block_columns_choose(struct block_columns *columns,
                                              const struct block_column *column, unsigned place,
                                              unsigned count)
{
    size_t sample = column->count < SAMPLE ? column->count : SAMPLE;
    enum block_coding best = BLOCK_PLAIN;
    double fewest = INFINITY;
    for (unsigned i = 0; i < BLOCK_CODINGS; i++) {
        enum block_coding coding = (enum block_coding)i;
        int all = coding == BLOCK_SIZES || coding == BLOCK_KEYS_CODING;
        size_t some = all ? column->count : sample;
        if (!block_column_may_use(column, place, count, coding) ||
            (coding == BLOCK_KEYS_CODING && (columns->has_keys || fewest < NOISE_BITS)))
            continue;
        uint64_t bits =
            block_columns_weigh(columns, column, coding, (column->count - some) / 2, some);
        if (bits != UINT64_MAX && (double)bits / (double)some < fewest) {
            fewest = (double)bits / (double)some;
            best = coding;
        }
    }
    return best;
}

/* Append the planes of a column of integers. @param width  set to how many */
static int block_columns_pack_integers(struct block_columns *columns,
                                       const struct block_column *column, struct block_bytes *out,
                                       unsigned *width)
{
    uint64_t all = 0;
    size_t count = column->count;
    if (ARRAY_FIT(columns->residuals, columns->residual_capacity, count) != 0)
        return -ENOMEM;
    if (column->coding == BLOCK_KEYS_CODING)
        memset(&columns->slots, 0, sizeof(columns->slots));
    for (size_t i = 0; i < count; i++)
        all |= columns->residuals[i] = block_columns_residual(columns, column, column->coding, i);
    *width = (bits_of(all) + 7) / 8;
    if (block_bytes_reserve(out, *width * count) != 0)
        return -ENOMEM;
    for (unsigned plane = 0; plane < *width; plane++) {
        uint8_t *to = out->at + out->length;
        for (size_t i = 0; i < count; i++)
            to[i] = (uint8_t)(columns->residuals[i] >> 8 * plane);
        out->length += count;
    }
    return 0;
}

static int block_columns_pack_one(struct block_columns *columns, struct block_column *column,
                                  unsigned place, unsigned count, struct block_bytes *values,
                                  unsigned *width)
{
    column->coding = BLOCK_PLAIN;
    *width = 0;
    if (column->kind == BLOCK_BYTES_KIND)
        return block_bytes_append(values, column->bytes.at, column->bytes.length);
    column->coding = block_columns_choose(columns, column, place, count);
    columns->has_keys |= column->coding == BLOCK_KEYS_CODING;
    return block_columns_pack_integers(columns, column, values, width);
}

static int block_columns_pack_field(struct block_columns *columns, unsigned type, unsigned key,
                                    struct block_bytes *heads, struct block_bytes *values,
                                    uint64_t *packed)
{
    const struct block_field *field = &columns->fields[type][key];
    int code = 0;
    for (unsigned place = 0; code == 0 && place < field->count; place++) {
        struct block_column *column = &field->columns[place];
        unsigned width;
        size_t begin = values->length;
        if (column->count == 0)
            continue;
        code = block_columns_pack_one(columns, column, place, field->count, values, &width);
        const uint64_t numbers[] = {type,           key,   place,         column->kind,
                                    column->coding, width, column->count, values->length - begin};
        for (size_t i = 0; code == 0 && i < sizeof(numbers) / sizeof(*numbers); i++)
            code = block_bytes_append_number(heads, numbers[i]);
        ++*packed;
    }
    return code;
}

int block_columns_pack(struct block_columns *columns, struct block_bytes *out)
{
    struct block_bytes heads = {0}, values = {0};
    uint64_t packed = 0;
    int code = 0;
    columns->has_keys = 0;
    for (unsigned type = 0; type < BLOCK_TYPES; type++) {
        for (unsigned key = 0; code == 0 && key < BLOCK_KEYS; key++)
            code = block_columns_pack_field(columns, type, key, &heads, &values, &packed);
    }
    code = code != 0 ? code : block_bytes_append_number(out, packed);
    code = code != 0 ? code : block_bytes_append(out, heads.at, heads.length);
    code = code != 0 ? code : block_bytes_append(out, values.at, values.length);
    free(heads.at);
    free(values.at);
    return code;
}

/* Columns of a block: filling them, choosing their coding, and packing them into planes of bytes.
 */
#include "daemon/storage/block/block_columns.h"

#include "daemon/analysis/tables/array.h"

#include <errno.h>
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
    case BLOCK_DELTA:
        return block_zigzag(value - (i > 0 ? column->values[i - 1] : 0));
    default:
        return block_key_encode(
            &columns->slots, value,
            (uint64_t[]){column[1].values[i], column[2].values[i], column[3].values[i]});
    }
}

/* May this be a column of keys: the first of rows whose next three columns are integers? */
static int block_column_may_be_keys(const struct block_column *column, unsigned place,
                                    unsigned count)
{
    if (place != 1 || count <= 4)
        return 0;
    for (int i = 1; i <= 3; i++) {
        if (column[i].kind != BLOCK_INTEGER || column[i].count != column->count)
            return 0;
    }
    return 1;
}

static unsigned bits_of(uint64_t number)
{
    return number == 0 ? 0 : 64u - (unsigned)__builtin_clzll(number);
}

/* Bits of the residuals of a column, `count` from one on. */
static uint64_t block_columns_weigh(struct block_columns *columns,
                                    const struct block_column *column, enum block_coding coding,
                                    size_t first, size_t count)
{
    uint64_t bits = 0;
    if (coding == BLOCK_KEYS_CODING)
        memset(&columns->slots, 0, sizeof(columns->slots));
    for (size_t i = first; i < first + count; i++)
        bits += bits_of(block_columns_residual(columns, column, coding, i));
    return bits;
}

/* The coding whose residuals have the fewest bits: in a sample from the middle; as keys, whose
 * residuals depend on all values, in all of them. */
static enum block_coding block_columns_choose(struct block_columns *columns,
                                              const struct block_column *column, unsigned place,
                                              unsigned count)
{
    size_t sample = column->count < SAMPLE ? column->count : SAMPLE;
    size_t first = (column->count - sample) / 2;
    uint64_t plain = block_columns_weigh(columns, column, BLOCK_PLAIN, first, sample);
    uint64_t delta = block_columns_weigh(columns, column, BLOCK_DELTA, first, sample);
    uint64_t fewest = delta < plain ? delta : plain;
    if (!columns->has_keys && fewest >= NOISE_BITS * sample &&
        block_column_may_be_keys(column, place, count) &&
        block_columns_weigh(columns, column, BLOCK_KEYS_CODING, 0, column->count) * sample <
            fewest * column->count)
        return BLOCK_KEYS_CODING;
    return delta < plain ? BLOCK_DELTA : BLOCK_PLAIN;
}

/* Make the residuals of a column. For a coding that is a constant the compiler makes a loop of its
 * own. @return the bits that any of them has */
static inline __attribute__((always_inline)) uint64_t
block_columns_encode(struct block_columns *columns, const struct block_column *column,
                     enum block_coding coding)
{
    uint64_t all = 0;
    uint64_t *residuals = columns->residuals;
    for (size_t i = 0; i < column->count; i++)
        all |= residuals[i] = block_columns_residual(columns, column, coding, i);
    return all;
}

/* Append the planes of a column of integers. @param width  set to how many */
static int block_columns_pack_integers(struct block_columns *columns,
                                       const struct block_column *column, struct block_bytes *out,
                                       unsigned *width)
{
    size_t count = column->count;
    if (ARRAY_FIT(columns->residuals, columns->residual_capacity, count) != 0)
        return -ENOMEM;
    if (column->coding == BLOCK_KEYS_CODING)
        memset(&columns->slots, 0, sizeof(columns->slots));
    const uint64_t all =
        column->coding == BLOCK_PLAIN   ? block_columns_encode(columns, column, BLOCK_PLAIN)
        : column->coding == BLOCK_DELTA ? block_columns_encode(columns, column, BLOCK_DELTA)
                                        : block_columns_encode(columns, column, BLOCK_KEYS_CODING);
    const uint64_t *residuals = columns->residuals;
    *width = (bits_of(all) + 7) / 8;
    if (block_bytes_reserve(out, *width * count) != 0)
        return -ENOMEM;
    for (unsigned plane = 0; plane < *width; plane++) {
        uint8_t *to = out->at + out->length;
        for (size_t i = 0; i < count; i++)
            to[i] = (uint8_t)(residuals[i] >> 8 * plane);
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

/* The reader of blocks: values of columns, straight into the structs of wire messages.
 *
 * Nothing in a block is believed. What hostile bytes could try, and what stops them here:
 *   a frame without end              its size is bounded before it is decompressed
 *   columns longer than the frame    every column is held against the bytes that are left
 *   rows without end                 a row has a byte for each column in its message at least, so
 *                                    a count of rows is held against the length of the message,
 *                                    and the lengths of all messages against BLOCK_MAX_BYTES
 *   values over their limits         each is held against the tables of the wire */
#include "daemon/storage/block/block.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/storage/block/block_format.h"
#include "holter/error.h"
#include "proto/utf8.h"
#include "proto/wire_arena.h"
#include "proto/wire_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/** Values of a column that are put together at once. */
#define BATCH 256u

/** A column that is being read. Zero is one without values. */
struct read_column {
    enum block_kind kind;
    enum block_coding coding;
    unsigned width;
    size_t count, done;
    const uint8_t *at;             /**< planes; or the next value of bytes */
    const uint8_t *end;            /**< of the values of bytes */
    uint64_t before;               /**< value before the next one */
    struct block_key_slots *slots; /**< borrowed: of BLOCK_KEYS_CODING */
};

struct block_reader {
    uint8_t *plain; /* owned: what stands inside the frame */
    size_t plain_capacity;
    struct read_column *columns; /* owned */
    size_t column_count, column_capacity;
    /** Number of the first column of a field in `columns`, plus 1, and how many there are. */
    struct {
        uint32_t first, count;
    } fields[BLOCK_TYPES][BLOCK_KEYS];
    size_t messages, done;
    size_t bytes;                       /* of the messages that were read */
    struct block_key_slots *slots;      /* owned: of the column of keys */
    int has_keys;                       /* a column of keys was met */
    int broken;                         /* sticky: 0 or negative */
    int older;                          /* the message read last has fewer columns than ours */
    const void *kept;                   /* bytes of the message read last, if it is kept as bytes */
    size_t length;                      /* of the message read last */
    const struct wire_message *message; /* borrowed: the message decoded last */
    struct wire_arena arena;            /* of block_reader_next() */
    struct wire_buffer built;           /* bytes made of a decoded message */
    ZSTD_DCtx *zstd;                    /* owned */
};

int block_reader_create(struct block_reader **out)
{
    struct block_reader *r = calloc(1, sizeof(*r));
    if (r == NULL)
        return -ENOMEM;
    r->zstd = ZSTD_createDCtx();
    r->slots = malloc(sizeof(*r->slots));
    if (r->zstd == NULL || r->slots == NULL) {
        ZSTD_freeDCtx(r->zstd);
        free(r->slots);
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
    free(r->slots);
    wire_arena_finish(&r->arena);
    wire_buffer_finish(&r->built);
    free(r->plain);
    free(r->columns);
    free(r);
}

size_t block_reader_count(const struct block_reader *r)
{
    return r->messages;
}

/* ---- opening ------------------------------------------------------------- */

/* The next number. @return 0: there is none */
static int read_number(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
        uint8_t byte = *(*at)++;
        number |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *out = number;
            return 1;
        }
    }
    return 0;
}

static int block_reader_decompress(struct block_reader *r, const void *packed, size_t length,
                                   size_t *plain)
{
    unsigned long long size = ZSTD_getFrameContentSize(packed, length);
    if (length == 0 || size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR ||
        size > BLOCK_MAX_PLAIN)
        return -HOLTER_ECORRUPT;
    if (array_fit(&r->plain, 1, &r->plain_capacity, size) != 0)
        return -ENOMEM;
    *plain = ZSTD_decompressDCtx(r->zstd, r->plain, size, packed, length);
    return ZSTD_isError(*plain) || *plain != size ? -HOLTER_ECORRUPT : 0;
}

/* The numbers that describe a column. */
enum {
    HEAD_TYPE,
    HEAD_KEY,
    HEAD_PLACE,
    HEAD_KIND,
    HEAD_CODING,
    HEAD_WIDTH,
    HEAD_COUNT,
    HEAD_BYTES,
    HEAD_NUMBERS
};

static int is_head_valid(const uint64_t head[HEAD_NUMBERS])
{
    return head[HEAD_TYPE] < BLOCK_TYPES && head[HEAD_KEY] < BLOCK_KEYS &&
           head[HEAD_PLACE] < BLOCK_PLACES && head[HEAD_KIND] <= BLOCK_BYTES_KIND &&
           head[HEAD_CODING] < BLOCK_CODINGS && head[HEAD_WIDTH] <= 8 &&
           head[HEAD_COUNT] <= BLOCK_MAX_BYTES && head[HEAD_BYTES] <= BLOCK_MAX_PLAIN &&
           (head[HEAD_KIND] == BLOCK_BYTES_KIND
                ? head[HEAD_COUNT] <= head[HEAD_BYTES]
                : head[HEAD_BYTES] == head[HEAD_WIDTH] * head[HEAD_COUNT]);
}

static int block_reader_add_column(struct block_reader *r, const uint64_t head[HEAD_NUMBERS],
                                   const uint8_t *at)
{
    uint32_t *first = &r->fields[head[HEAD_TYPE]][head[HEAD_KEY]].first;
    uint32_t *count = &r->fields[head[HEAD_TYPE]][head[HEAD_KEY]].count;
    if (head[HEAD_PLACE] != *count) /* places follow one another */
        return -HOLTER_ECORRUPT;
    if (*count == 0)
        *first = (uint32_t)r->column_count;
    else if (*first + *count != r->column_count)
        return -HOLTER_ECORRUPT;
    int is_keys = head[HEAD_CODING] == BLOCK_KEYS_CODING;
    if (is_keys && (head[HEAD_PLACE] != 1 || r->has_keys))
        return -HOLTER_ECORRUPT;
    r->has_keys |= is_keys;
    ++*count;
    r->columns[r->column_count++] = (struct read_column){
        .kind = (enum block_kind)head[HEAD_KIND],
        .coding = (enum block_coding)head[HEAD_CODING],
        .width = (unsigned)head[HEAD_WIDTH],
        .count = head[HEAD_COUNT],
        .at = at,
        .end = at + head[HEAD_BYTES],
        .slots = r->slots,
    };
    return 0;
}

/* Descriptions of columns first, then their values. */
static int block_reader_open_columns(struct block_reader *r, const uint8_t *at, const uint8_t *end,
                                     uint64_t count)
{
    const uint8_t *heads = at;
    uint64_t head[HEAD_NUMBERS];
    if (count > (uint64_t)(end - at) / HEAD_NUMBERS)
        return -HOLTER_ECORRUPT;
    if (ARRAY_FIT(r->columns, r->column_capacity, count) != 0)
        return -ENOMEM;
    for (uint64_t i = 0; i < count * HEAD_NUMBERS; i++) {
        if (!read_number(&at, end, head))
            return -HOLTER_ECORRUPT;
    }
    for (uint64_t i = 0; i < count; i++) {
        for (unsigned n = 0; n < HEAD_NUMBERS; n++)
            read_number(&heads, end, &head[n]);
        if (!is_head_valid(head) || head[HEAD_BYTES] > (size_t)(end - at))
            return -HOLTER_ECORRUPT;
        int code = block_reader_add_column(r, head, at);
        if (code != 0)
            return code;
        at += head[HEAD_BYTES];
    }
    return at == end ? 0 : -HOLTER_ECORRUPT;
}

/* Are the columns that describe messages there, and as many values as there are messages? */
static int block_reader_has_heads(const struct block_reader *r)
{
    for (unsigned key = BLOCK_HEAD_MESSAGE; key < BLOCK_HEAD_BYTES && r->messages > 0; key++) {
        const struct read_column *c = &r->columns[r->fields[0][key].first];
        if (r->fields[0][key].count != 1 || c->kind != BLOCK_INTEGER || c->count != r->messages)
            return 0;
    }
    return 1;
}

static int block_reader_open_frame(struct block_reader *r, const void *packed, size_t length)
{
    uint64_t form, messages, columns;
    size_t plain = 0;
    r->messages = r->done = r->bytes = r->column_count = 0;
    r->has_keys = 0;
    r->kept = NULL;
    memset(r->fields, 0, sizeof(r->fields));
    memset(r->slots, 0, sizeof(*r->slots));
    int code = block_reader_decompress(r, packed, length, &plain);
    if (code != 0)
        return code;
    const uint8_t *at = r->plain, *end = r->plain + plain;
    if (!read_number(&at, end, &form) || form != BLOCK_FORM || !read_number(&at, end, &messages) ||
        messages > BLOCK_MAX_MESSAGES || !read_number(&at, end, &columns))
        return -HOLTER_ECORRUPT;
    code = block_reader_open_columns(r, at, end, columns);
    if (code != 0)
        return code;
    r->messages = messages;
    return block_reader_has_heads(r) ? 0 : -HOLTER_ECORRUPT;
}

int block_reader_open(struct block_reader *r, const void *packed, size_t length)
{
    r->broken = block_reader_open_frame(r, packed, length);
    return r->broken;
}

/* ---- values -------------------------------------------------------------- */

/* Put the next residuals of a column together from their planes. */
static void read_column_gather(const struct read_column *c, size_t count, uint64_t residuals[BATCH])
{
    if (c->width == 0) {
        memset(residuals, 0, count * sizeof(*residuals));
        return;
    }
    const uint8_t *plane = c->at + c->done;
    for (size_t i = 0; i < count; i++)
        residuals[i] = plane[i];
    for (unsigned p = 1; p < c->width; p++) {
        plane += c->count;
        for (size_t i = 0; i < count; i++)
            residuals[i] |= (uint64_t)plane[i] << 8 * p;
    }
}

/* The value of a residual. @param slot  where it is put: what is to the right in its row stands
 * after it */
static uint64_t read_column_value(struct read_column *c, uint64_t residual, const uint64_t *slot)
{
    switch (c->coding) {
    case BLOCK_PLAIN:
        return residual;
    case BLOCK_DELTA:
        return c->before + block_unzigzag(residual);
    default:
        return block_key_decode(c->slots, residual, &slot[1]);
    }
}

/* Values of residuals, into slots that are `stride` apart. @return the bits of all of them */
static uint64_t read_column_decode(struct read_column *c, size_t count,
                                   const uint64_t residuals[BATCH], uint64_t *slot, size_t stride)
{
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++, slot += stride) {
        *slot = c->before = read_column_value(c, residuals[i], slot);
        all |= *slot;
    }
    return all;
}

/* Read integers. @param limit  largest value; or UINT64_MAX @return 1, or 0: it has not as many, or
 * one is larger */
static int read_column_integers(struct read_column *c, size_t count, uint64_t limit, uint64_t *slot,
                                size_t stride)
{
    uint64_t residuals[BATCH];
    if (c->kind != BLOCK_INTEGER || count > c->count - c->done)
        return 0;
    while (count > 0) {
        size_t some = count < BATCH ? count : BATCH;
        read_column_gather(c, some, residuals);
        uint64_t all = read_column_decode(c, some, residuals, slot, stride);
        for (size_t i = 0; all > limit && i < some; i++) {
            if (slot[i * stride] > limit)
                return 0;
        }
        c->done += some;
        slot += some * stride;
        count -= some;
    }
    return 1;
}

static int read_column_bytes(struct read_column *c, const uint8_t **bytes, size_t *length)
{
    uint64_t number;
    if (c->kind != BLOCK_BYTES_KIND || c->done == c->count ||
        !read_number(&c->at, c->end, &number) || number > (size_t)(c->end - c->at))
        return 0;
    *bytes = c->at;
    *length = number;
    c->at += number;
    c->done++;
    return 1;
}

/* Copy bytes into the arena, ended by NUL. @return 0, -HOLTER_ECORRUPT or -ENOMEM */
static int read_column_copy(struct read_column *c, struct wire_arena *arena, uint64_t limit,
                            char **copy, size_t *length)
{
    const uint8_t *bytes;
    if (!read_column_bytes(c, &bytes, length) || *length > limit)
        return -HOLTER_ECORRUPT;
    *copy = wire_arena_take(arena, *length + 1, 1);
    if (*copy == NULL)
        return -ENOMEM;
    memcpy(*copy, bytes, *length);
    (*copy)[*length] = '\0';
    return 0;
}

/* A text, or with a length in the second place of its slot a string of bytes. */
static int read_column_string(struct read_column *c, struct wire_arena *arena, uint64_t limit,
                              enum wire_kind kind, uint8_t *slot)
{
    char *copy;
    size_t length;
    int code = read_column_copy(c, arena, limit, &copy, &length);
    if (code != 0)
        return code;
    uint64_t count = length;
    memcpy(slot, &copy, sizeof(copy));
    if (kind == WIRE_KIND_BIN)
        memcpy(slot + sizeof(copy), &count, sizeof(count));
    else if (utf8_prefix(copy, length) != length)
        return -HOLTER_ECORRUPT;
    return 0;
}

/* ---- messages ------------------------------------------------------------ */

static uint64_t limit_of(enum wire_kind kind, uint64_t limit)
{
    return kind == WIRE_KIND_U64 ? limit : UINT64_MAX;
}

/* One column of rows. @param row  the first one */
static int block_reader_read_row_column(struct read_column *c, unsigned place,
                                        const struct wire_rows *rows, struct wire_arena *arena,
                                        size_t count, uint8_t *row)
{
    const struct wire_column *column = &rows->columns[place - 1];
    int code = 0;
    if (column->kind != WIRE_KIND_STR) {
        return read_column_integers(c, count, limit_of(column->kind, column->limit),
                                    (uint64_t *)(void *)(row + column->offset),
                                    rows->size / sizeof(uint64_t))
                   ? 0
                   : -HOLTER_ECORRUPT;
    }
    for (size_t i = 0; code == 0 && i < count; i++)
        code = read_column_string(c, arena, column->limit, column->kind,
                                  row + i * rows->size + column->offset);
    return code;
}

/* Are the three columns to the right of keys integers? */
static int block_reader_has_ranks(const struct read_column *columns, const struct wire_rows *rows)
{
    for (size_t i = 0; i < 4; i++) {
        if (rows->count < 4 || rows->columns[i].kind == WIRE_KIND_STR ||
            columns[1 + i].kind != BLOCK_INTEGER)
            return 0;
    }
    return 1;
}

static int block_reader_read_rows(struct block_reader *r, struct read_column *columns,
                                  unsigned column_count, const struct wire_field *field,
                                  struct wire_arena *arena, uint8_t *slot)
{
    const struct wire_rows *rows = field->rows();
    uint64_t count;
    uint8_t *first = NULL;
    const size_t known = column_count - 1;
    int code = 0;
    if (!read_column_integers(columns, 1, field->limit, &count, 1) ||
        count > r->length / (rows->base + 1) ||
        (count > 0 && (known < rows->base || known > rows->count)))
        return -HOLTER_ECORRUPT;
    if (count > 0) {
        first = wire_arena_take(arena, count * rows->size, 8);
        code = first == NULL ? -ENOMEM : 0;
    }
    int is_key = count > 0 && columns[1].coding == BLOCK_KEYS_CODING;
    if (is_key && (known < 4 || !block_reader_has_ranks(columns, rows)))
        return -HOLTER_ECORRUPT;
    /* Keys depend on the columns to their right, and are read last. */
    for (unsigned place = 1u + (unsigned)is_key; code == 0 && count > 0 && place <= known; place++)
        code = block_reader_read_row_column(&columns[place], place, rows, arena, count, first);
    if (code == 0 && is_key)
        code = block_reader_read_row_column(&columns[1], 1, rows, arena, count, first);
    /* Columns that are newer than the recording. */
    for (size_t i = known; code == 0 && i < rows->count; i++) {
        r->older |= count > 0;
        for (uint64_t row = 0; row < count; row++)
            wire_set_default(rows->columns[i].kind,
                             first + row * rows->size + rows->columns[i].offset);
    }
    memcpy(slot, &first, sizeof(first));
    memcpy(slot + sizeof(first), &count, sizeof(count));
    return code;
}

static int block_reader_read_field(struct block_reader *r, unsigned type,
                                   const struct wire_field *field, struct wire_arena *arena,
                                   uint8_t *slot)
{
    unsigned count = r->fields[type][field->key].count;
    struct read_column *columns = &r->columns[r->fields[type][field->key].first];
    uint64_t number;
    if (count == 0)
        return -HOLTER_ECORRUPT;
    switch (field->kind) {
    case WIRE_KIND_ROWS:
        return block_reader_read_rows(r, columns, count, field, arena, slot);
    case WIRE_KIND_STR:
    case WIRE_KIND_BIN:
        return read_column_string(columns, arena, field->limit, field->kind, slot);
    default:
        if (!read_column_integers(columns, 1, limit_of(field->kind, field->limit), &number, 1))
            return -HOLTER_ECORRUPT;
        memcpy(slot, &number, sizeof(number));
        return 0;
    }
}

static int block_reader_read_message(struct block_reader *r, const struct wire_table *table,
                                     uint64_t fields, struct wire_arena *arena,
                                     struct wire_message *out)
{
    uint8_t *base = (uint8_t *)&out->hello;
    uint64_t known = 0;
    int code = 0;
    wire_arena_empty(arena);
    wire_set_defaults(table, base);
    out->type = table->type;
    out->shape = NULL;
    for (size_t i = 0; code == 0 && i < table->count; i++) {
        const struct wire_field *field = &table->fields[i];
        known |= UINT64_C(1) << field->key;
        if (fields >> field->key & 1)
            code = block_reader_read_field(r, (unsigned)table->type, field, arena,
                                           base + field->offset);
        else if (field->required)
            code = -HOLTER_ECORRUPT;
    }
    return code != 0 ? code : fields & ~known ? -HOLTER_ECORRUPT : 0;
}

/* The columns of type 0. @return 0 or -HOLTER_ECORRUPT */
static int block_reader_read_heads(struct block_reader *r, struct recorded *head,
                                   uint64_t heads[BLOCK_HEADS])
{
    for (unsigned key = BLOCK_HEAD_MESSAGE; key < BLOCK_HEAD_BYTES; key++) {
        if (!read_column_integers(&r->columns[r->fields[0][key].first], 1, UINT64_MAX, &heads[key],
                                  1))
            return -HOLTER_ECORRUPT;
    }
    *head = (struct recorded){
        .type = heads[BLOCK_HEAD_TYPE],
        .instance = heads[BLOCK_HEAD_AGENT],
        .seq = heads[BLOCK_HEAD_SEQ],
        .window = heads[BLOCK_HEAD_WINDOW],
        .time_ns = heads[BLOCK_HEAD_TIME],
        .received_ns = heads[BLOCK_HEAD_RECEIVED],
    };
    if (heads[BLOCK_HEAD_LENGTH] > BLOCK_MAX_BYTES - r->bytes)
        return -HOLTER_ECORRUPT;
    r->length = heads[BLOCK_HEAD_LENGTH];
    r->bytes += r->length;
    return 0;
}

static int block_reader_read_kept(struct block_reader *r)
{
    const uint8_t *bytes;
    size_t length;
    if (r->fields[0][BLOCK_HEAD_BYTES].count != 1 ||
        !read_column_bytes(&r->columns[r->fields[0][BLOCK_HEAD_BYTES].first], &bytes, &length) ||
        length != r->length)
        return -HOLTER_ECORRUPT;
    r->kept = bytes;
    return 0;
}

int block_reader_next_decoded(struct block_reader *r, struct recorded *head,
                              struct wire_message *out, struct wire_arena *arena, size_t *length,
                              int *fault)
{
    uint64_t heads[BLOCK_HEADS];
    *fault = 0;
    *length = 0;
    r->kept = NULL;
    r->older = 0;
    if (r->broken != 0 || r->done == r->messages)
        return r->broken;
    int code = block_reader_read_heads(r, head, heads);
    const struct wire_table *table = NULL;
    if (code == 0 && heads[BLOCK_HEAD_MESSAGE] != 0) {
        table = heads[BLOCK_HEAD_MESSAGE] < BLOCK_TYPES
                    ? wire_table((unsigned)heads[BLOCK_HEAD_MESSAGE])
                    : NULL;
        code = table == NULL
                   ? -HOLTER_ECORRUPT
                   : block_reader_read_message(r, table, heads[BLOCK_HEAD_FIELDS], arena, out);
    } else if (code == 0) {
        code = block_reader_read_kept(r);
        if (code == 0)
            *fault = wire_decode(out, arena, r->kept, r->length, NULL);
        if (*fault == -ENOMEM)
            code = -ENOMEM;
    }
    r->broken = code;
    if (code != 0)
        return code;
    r->message = out;
    *length = r->length;
    r->done++;
    return 1;
}

int block_reader_bytes(struct block_reader *r, const void **bytes, size_t *length)
{
    if (r->kept == NULL) {
        int code = wire_encode(&r->built, r->message->type, &r->message->hello);
        if (code != 0 || (r->built.length != r->length && !r->older))
            return r->broken = code == -ENOMEM ? code : -HOLTER_ECORRUPT;
    }
    *bytes = r->kept != NULL ? r->kept : r->built.bytes;
    *length = r->kept != NULL ? r->length : r->built.length;
    return 0;
}

int block_reader_next(struct block_reader *r, struct recorded *head, const void **bytes,
                      size_t *length)
{
    struct wire_message message;
    int fault;
    int code = block_reader_next_decoded(r, head, &message, &r->arena, length, &fault);
    if (code != 1)
        return code;
    code = block_reader_bytes(r, bytes, length);
    return code != 0 ? code : 1;
}

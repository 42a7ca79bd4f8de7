/* Messages of a block, from its columns straight into their structs.
 *
 * What is odd is left to wire_decode(): when a message is not as the wire tables want it, or a
 * column ends, its columns are set back and its bytes made, and that says what is wrong with these.
 */
#include "daemon/storage/block/block_fill.h"
#include "daemon/storage/block/block_reader.h"
#include "daemon/storage/block/block_rows.h"
#include "holter/error.h"
#include "proto/utf8.h"
#include "proto/wire_arena.h"

#include <errno.h>
#include <math.h>

#define ROWS BLOCK_ROWS_AT_ONCE
#define AS_BYTES BLOCK_AS_BYTES

/* ---- layouts ------------------------------------------------------------- */

static int is_kind(enum block_kind kind, enum wire_kind wanted)
{
    return kind == BLOCK_INTEGER ? wanted == WIRE_KIND_U64 || wanted == WIRE_KIND_I64
           : kind == BLOCK_REAL  ? wanted == WIRE_KIND_F64
           : kind == BLOCK_TEXT  ? wanted == WIRE_KIND_STR
                                 : wanted == WIRE_KIND_ROWS;
}

/* Are rows nothing but integers, one behind the other? Those that a block does not have are 0. */
static int are_integers(const struct wire_rows *rows)
{
    int good = rows->count <= BLOCK_WIDTH && rows->size == rows->count * sizeof(uint64_t);
    for (size_t w = 0; good && w < rows->count; w++)
        good = is_kind(BLOCK_INTEGER, rows->columns[w].kind) &&
               rows->columns[w].offset == w * sizeof(uint64_t);
    return good;
}

static int fits_rows(const struct block_reader *r, struct read_field *f)
{
    const struct wire_rows *rows = f->wire->rows();
    f->straight = are_integers(rows);
    if (f->width > 0 && (f->width < rows->base || f->width > rows->count))
        return 0;
    for (unsigned w = 0; w < f->width; w++) {
        const struct read_column *c = r->row_columns[f->first + w];
        if (c == NULL || !is_kind(c->kind, rows->columns[w].kind))
            return 0;
        f->straight &= c->kind == BLOCK_INTEGER && block_reach(c->coding) <= w;
        /* Values to the left that are none would be another thing each time. */
        for (unsigned i = 1; i <= block_reach(c->coding) && i <= w; i++) {
            if (r->row_columns[f->first + w - i]->kind != BLOCK_INTEGER)
                return 0;
        }
    }
    if (f->straight)
        block_rows_resolve(r, f, rows);
    return 1;
}

static const struct wire_field *wire_field_of(const struct wire_table *table, unsigned key)
{
    for (size_t i = 0; i < table->count; i++) {
        if (table->fields[i].key == key)
            return &table->fields[i];
    }
    return NULL;
}

void block_layout_resolve(struct block_reader *r, struct read_layout *l)
{
    const struct wire_table *table = wire_table(l->type);
    uint64_t seen = 0;
    l->table = NULL;
    if (table == NULL)
        return;
    for (size_t i = 0; i < l->count; i++) {
        struct read_field *f = &r->fields[l->first + i];
        f->wire = wire_field_of(table, f->key);
        if (f->wire == NULL || f->value == NULL || seen >> f->key & 1 ||
            !is_kind(f->kind, f->wire->kind) || (f->kind == BLOCK_ROWS && !fits_rows(r, f)))
            return;
        seen |= UINT64_C(1) << f->key;
    }
    for (size_t i = 0; i < table->count; i++) {
        if (table->fields[i].required && !(seen >> table->fields[i].key & 1))
            return;
    }
    l->table = table;
}

/* ---- going back ---------------------------------------------------------- */

static void mark(struct read_mark **at, const struct read_column *c)
{
    *(*at)++ = (struct read_mark){c->left_over, c->at, c->before, c->bit};
}

static void set_back(const struct read_mark **at, struct read_column *c)
{
    c->left_over = (*at)->left_over;
    c->before = (*at)->before;
    c->bit = (*at)->bit;
    c->at = (*at)++->at;
}

static void mark_columns(struct block_reader *r, const struct read_layout *l)
{
    struct read_mark *at = r->marks;
    for (size_t i = 0; i < l->count; i++) {
        const struct read_field *f = &r->fields[l->first + i];
        mark(&at, f->value);
        for (unsigned w = 0; w < f->width; w++)
            mark(&at, r->row_columns[f->first + w]);
    }
}

static void set_columns_back(struct block_reader *r, const struct read_layout *l)
{
    const struct read_mark *at = r->marks;
    for (size_t i = 0; i < l->count; i++) {
        const struct read_field *f = &r->fields[l->first + i];
        set_back(&at, f->value);
        for (unsigned w = 0; w < f->width; w++)
            set_back(&at, r->row_columns[f->first + w]);
    }
}

/* ---- values -------------------------------------------------------------- */

static size_t size_of_length(size_t length)
{
    return length <= 15 ? 1 : length <= 65535 ? 3 : 5;
}

static size_t size_of_text(size_t length)
{
    return length + (length <= 31 ? 1u : length <= 255 ? 2u : length <= 65535 ? 3u : 5u);
}

/* A real or a text. @return 0 or AS_BYTES */
static int take_other(struct block_reader *r, struct wire_arena *arena, struct read_column *c,
                      uint64_t limit, void *slot)
{
    const uint8_t *bytes;
    size_t length;
    if (c->kind == BLOCK_REAL) {
        uint64_t number;
        if (c->left_over == 0 || c->end - c->at < 8)
            return AS_BYTES;
        memcpy(&number, c->at, sizeof(number));
        number = le64toh(number);
        memcpy(slot, &number, sizeof(number));
        c->left_over--;
        c->at += 8;
        r->decoded_bytes += 9;
        return 0;
    }
    if (!block_next_text(c, &bytes, &length) || length > limit ||
        utf8_prefix((const char *)bytes, length) != length)
        return AS_BYTES;
    char *text = wire_arena_take(arena, length + 1, 1);
    if (text == NULL)
        return -ENOMEM;
    if (length > 0)
        memcpy(text, bytes, length);
    text[length] = '\0';
    memcpy(slot, &text, sizeof(text));
    r->decoded_bytes += size_of_text(length);
    return 0;
}

/* ---- rows ---------------------------------------------------------------- */

/* @param slot  of the column in the first row @param stride  from row to row, in slots */
static int put_column(struct block_reader *r, const struct read_column *c, const uint64_t *values,
                      size_t count, uint64_t most, uint64_t *slot, size_t stride)
{
    size_t bytes = 0;
    uint64_t all = 0;
    int bad = 0;
    for (size_t i = 0; i < count; i++)
        all |= values[i];
    if (all < 128 && all <= most) { /* as in most columns: nothing to look at */
        for (size_t i = 0; i < count; i++)
            slot[i * stride] = values[i];
        r->decoded_bytes += count;
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t number = values[i];
        slot[i * stride] = number;
        bad |= number > most;
        bytes += block_size_of_integer(number, c->negative);
    }
    r->decoded_bytes += bytes;
    return bad ? AS_BYTES : 0;
}

/* A value that all rows have. */
static int put_same(struct block_reader *r, struct read_column *c, uint64_t *values, size_t count,
                    uint64_t most, uint64_t *slot, size_t stride)
{
    const uint64_t number = c->negative ? block_unfold(c->same) : c->same;
    if (count > c->left_over || number > most)
        return AS_BYTES;
    for (size_t i = 0; i < count; i++)
        slot[i * stride] = values[i] = number;
    c->left_over -= count;
    r->decoded_bytes += count * block_size_of_integer(number, c->negative);
    return 0;
}

/* Integers of some rows. */
static int take_integers(struct block_reader *r, struct read_column *c, uint64_t (*values)[ROWS],
                         size_t count, uint64_t most, uint64_t *slot, size_t stride)
{
    if (c->shape == BLOCK_ALL_SAME && c->coding == BLOCK_PLAIN) /* as most of them */
        return put_same(r, c, *values, count, most, slot, stride);
    if (!block_make_keys(r, c, count) ||
        !block_next_integers(c, count, (const uint64_t(*)[ROWS])values, *values))
        return AS_BYTES;
    return put_column(r, c, *values, count, most, slot, stride);
}

/* Some rows, up to ROWS. */
static int take_some(struct block_reader *r, struct wire_arena *arena, const struct read_field *f,
                     size_t count, uint8_t *rows)
{
    const struct wire_rows *table = f->wire->rows();
    for (unsigned w = 0; w < f->width; w++) {
        struct read_column *c = r->row_columns[f->first + w];
        const struct wire_column *wire = &table->columns[w];
        uint8_t *slot = rows + wire->offset;
        int code = 0;
        if (c->kind != BLOCK_INTEGER) {
            for (size_t i = 0; code == 0 && i < count; i++)
                code = take_other(r, arena, c, wire->limit, slot + i * table->size);
        } else {
            code = take_integers(r, c, r->values + BLOCK_REACH + w, count,
                                 block_largest(c, wire->kind, wire->limit),
                                 (uint64_t *)(void *)slot, table->size / sizeof(uint64_t));
        }
        if (code != 0)
            return code;
    }
    for (size_t w = f->width; w < table->count; w++) {
        for (size_t i = 0; i < count; i++)
            wire_set_default(table->columns[w].kind,
                             rows + i * table->size + table->columns[w].offset);
    }
    return 0;
}

/* Rows in which there are others than integers. */
static int take_mixed(struct block_reader *r, struct wire_arena *arena, const struct read_field *f,
                      size_t count, void **out)
{
    size_t size = f->wire->rows()->size;
    uint8_t *rows = wire_arena_take(arena, count * size, 8);
    int code = rows == NULL ? -ENOMEM : 0;
    for (size_t done = 0, some; code == 0 && done < count; done += some) {
        some = count - done < ROWS ? count - done : ROWS;
        code = take_some(r, arena, f, some, rows + done * size);
    }
    *out = rows;
    return code;
}

static int take_rows(struct block_reader *r, struct wire_arena *arena, const struct read_field *f,
                     uint64_t count, uint8_t *slot)
{
    void *rows = NULL;
    int code = 0;
    /* Before memory is taken: every value has a byte at least, here and as MessagePack. */
    if (count > f->wire->limit || (count > 0 && f->width == 0) ||
        count > WIRE_MESSAGE_BYTES / (f->width + 1u) ||
        (count > 0 && count > r->row_columns[f->first]->left_over))
        return AS_BYTES;
    r->decoded_bytes += count * size_of_length(f->width);
    if (count > 0 && f->straight)
        code = block_rows_take(r, arena, f, (size_t)count, &rows);
    else if (count > 0)
        code = take_mixed(r, arena, f, (size_t)count, &rows);
    if (code != 0)
        return code;
    memcpy(slot, &rows, sizeof(rows));
    memcpy(slot + sizeof(rows), &count, sizeof(count));
    return 0;
}

/* ---- messages ------------------------------------------------------------ */

static int take_field(struct block_reader *r, struct wire_arena *arena, const struct read_field *f,
                      uint8_t *slot)
{
    uint64_t number;
    r->decoded_bytes += 1; /* its key */
    if (f->kind == BLOCK_REAL || f->kind == BLOCK_TEXT)
        return take_other(r, arena, f->value, f->wire->limit, slot);
    if (!block_next_integer(f->value, &number))
        return AS_BYTES;
    if (f->kind == BLOCK_ROWS) {
        if (f->width > 0 && r->row_columns[f->first]->unwanted)
            return 0; /* none, as the defaults have it; how many there are is read for the messages
                         behind */
        r->decoded_bytes += size_of_length((size_t)number);
        return take_rows(r, arena, f, number, slot);
    }
    r->decoded_bytes += block_size_of_integer(number, f->value->negative);
    memcpy(slot, &number, sizeof(number));
    return number > block_largest(f->value, f->wire->kind, f->wire->limit) ? AS_BYTES : 0;
}

static int take_message(struct block_reader *r, struct wire_arena *arena,
                        const struct read_layout *l, struct wire_message *out)
{
    uint8_t *base = (uint8_t *)&out->hello;
    int code = 0;
    wire_arena_empty(arena);
    wire_set_defaults(l->table, base);
    out->type = (enum wire_type)l->type;
    out->shape = NULL; /* known to the columns, and asked for by nobody who reads them */
    r->decoded_bytes = 2 + (l->count <= 15 ? 1u : 3u); /* type and keys are below 64 */
    for (size_t i = 0; code == 0 && i < l->count; i++) {
        const struct read_field *f = &r->fields[l->first + i];
        code = take_field(r, arena, f, base + f->wire->offset);
    }
    return code == 0 && r->decoded_bytes > WIRE_MESSAGE_BYTES ? AS_BYTES : code;
}

static int take_as_bytes(struct block_reader *r, uint64_t layout, struct wire_message *out,
                         struct wire_arena *arena, size_t *length, int *fault)
{
    const void *bytes;
    int code = block_take_bytes(r, layout, &bytes, length);
    r->last = bytes;
    r->last_length = *length;
    if (code == 0)
        *fault = wire_decode(out, arena, bytes, *length, NULL);
    return code != 0 ? code : *fault == -ENOMEM ? -ENOMEM : 0;
}

int block_next_decoded(struct block_reader *r, struct recorded *head, struct wire_message *out,
                       struct wire_arena *arena, size_t *length, int *fault)
{
    uint64_t layout;
    r->layout = 0;
    *fault = 0;
    *length = 0;
    if (r->broken != 0 || r->read == r->messages)
        return r->broken;
    if (!block_take_head(r, head, &layout) || layout > r->layout_count)
        return block_end_message(r, -HOLTER_ECORRUPT, 0);
    const struct read_layout *l = layout == 0 ? NULL : &r->layouts[layout - 1];
    int code = AS_BYTES;
    int partial = l != NULL && l->type == WIRE_TYPE_WINDOW && block_is_partial(r);
    if (l != NULL && l->table != NULL) {
        r->last = NULL;
        mark_columns(r, l);
        code = take_message(r, arena, l, out);
        *length = partial ? 0 : r->decoded_bytes;
        r->layout = code == 0 && !partial ? layout : 0;
        if (code != 0)
            set_columns_back(r, l);
    }
    if (code == AS_BYTES && partial)
        return r->broken = -EAGAIN;
    if (code == AS_BYTES)
        code = take_as_bytes(r, layout, out, arena, length, fault);
    return block_end_message(r, code, *length);
}

int block_decoded_bytes(struct block_reader *r, const void **bytes, size_t *length)
{
    if (r->layout != 0) {
        set_columns_back(r, &r->layouts[r->layout - 1]);
        int code = block_take_bytes(r, r->layout, bytes, length);
        r->layout = 0;
        if (code != 0 || *length != r->decoded_bytes)
            return r->broken = code != 0 ? code : -HOLTER_ECORRUPT;
        r->last = *bytes;
        r->last_length = *length;
    }
    *bytes = r->last;
    *length = r->last_length;
    return r->last == NULL ? -HOLTER_ECORRUPT : 0;
}

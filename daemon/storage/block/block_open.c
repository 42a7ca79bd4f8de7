#include "daemon/storage/block/block_reader.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/storage/block/block_fill.h"
#include "holter/error.h"

#include <errno.h>
#include <stdlib.h>

/* A value takes a byte at least as MessagePack, ten at most here. */
#define MOST_PLAIN (10 * BLOCK_MOST_BYTES)
#define MOST_COLUMNS 65536u

int block_reader_create(struct block_reader **out)
{
    struct block_reader *r = aligned_alloc(_Alignof(struct block_reader), sizeof(*r));
    if (r == NULL)
        return -ENOMEM;
    memset(r, 0, sizeof(*r));
    if ((r->zstd = ZSTD_createDCtx()) == NULL) {
        free(r);
        return -ENOMEM;
    }
    r->filler = block_filler_best();
    r->wanted = r->wanted_next = BLOCK_ALL_ROWS;
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
    free(r->marks);
    free(r->past);
    free(r->wide);
    free(r->ready);
    free(r->twin_of);
    free(r->sums);
    free(r);
}

/* ---- opening ------------------------------------------------------------- */

/* @param bits  set to where the bits begin that stand behind the frame */
static int unzip(struct block_reader *r, const void *packed, size_t length, const uint8_t **bits)
{
    unsigned long long size = ZSTD_getFrameContentSize(packed, length);
    size_t frame = ZSTD_findFrameCompressedSize(packed, length);
    if (ZSTD_isError(frame) || frame > length)
        return -HOLTER_ECORRUPT;
    *bits = (const uint8_t *)packed + frame;
    if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size > MOST_PLAIN)
        return -HOLTER_ECORRUPT;
    if (array_fit(&r->plain, 1, &r->plain_room, (size_t)size + BLOCK_SLACK) != 0)
        return -ENOMEM;
    memset(r->plain + size, 0, BLOCK_SLACK);
    r->plain_length = ZSTD_decompressDCtx(r->zstd, r->plain, (size_t)size, packed, frame);
    return ZSTD_isError(r->plain_length) || r->plain_length != size ? -HOLTER_ECORRUPT : 0;
}

static int get(struct block_reader *r, uint64_t *out)
{
    return block_take_number(&r->at, r->plain + r->plain_length, out);
}

static int get_byte(struct block_reader *r, uint8_t *out)
{
    if (r->at == r->plain + r->plain_length)
        return 0;
    *out = *r->at++;
    return 1;
}

/* Columns are put in afterwards, when they are known: until then kinds stand where layouts begin.
 */
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

/* How its numbers are written. @param bits  set to how many bytes of them stand behind the frame */
static int read_shape(struct block_reader *r, struct read_column *c, uint64_t *length,
                      uint64_t *bits)
{
    uint64_t shape = BLOCK_BYTES_EACH;
    *bits = 0;
    if ((r->form != BLOCK_FORM_OLD && !get(r, &shape)) || !get(r, length) ||
        (r->form != BLOCK_FORM_OLD && !get(r, bits)) || shape >= BLOCK_SHAPES ||
        (*bits > 0 && shape != BLOCK_SPLIT) ||
        (shape != BLOCK_BYTES_EACH && c->kind != BLOCK_INTEGER) ||
        (shape != BLOCK_ALL_SAME && c->left_over > *length))
        return 0;
    c->shape = (uint8_t)shape;
    return 1;
}

static int read_column(struct block_reader *r, struct read_column *c, uint64_t *length,
                       uint64_t *bits)
{
    uint64_t type, key, place, kind, coding, negative;
    uint64_t codings = r->form == BLOCK_FORM_OLD ? BLOCK_HASHED : BLOCK_CODINGS;
    *c = (struct read_column){0};
    if (!get(r, &type) || !get(r, &key) || !get(r, &place) || !get(r, &kind) || !get(r, &coding) ||
        !get(r, &negative) || !get(r, &c->left_over) || kind < BLOCK_INTEGER || kind > BLOCK_TEXT ||
        coding >= codings || negative > 1 || type >= BLOCK_TYPES || key >= BLOCK_KEYS ||
        place > BLOCK_WIDTH ||
        ((coding == BLOCK_KEYED || coding == BLOCK_HASHED) && (place != 1 || negative)) ||
        (coding == BLOCK_CHAIN && place < 1) ||
        ((coding == BLOCK_TWIN || coding == BLOCK_CHAINED) && place < 2))
        return 0;
    c->type = (uint8_t)type;
    c->key = (uint8_t)key;
    c->place = (uint8_t)place;
    c->total = c->left_over;
    c->unwanted = c->type == WIRE_TYPE_WINDOW && c->place > 0 && !(r->wanted >> c->key & 1);
    c->kind = (uint8_t)kind;
    if (!read_shape(r, c, length, bits))
        return 0;
    c->coding = (uint8_t)coding;
    c->negative = (uint8_t)negative;
    return 1;
}

/* Is each of these bytes a number? */
static int all_short(const uint8_t *at, size_t length)
{
    uint64_t any = 0, some[4];
    for (; length >= sizeof(some); length -= sizeof(some), at += sizeof(some)) {
        memcpy(some, at, sizeof(some));
        any |= some[0] | some[1] | some[2] | some[3];
    }
    for (; length > 0; length--)
        any |= *at++;
    return (any & UINT64_C(0x8080808080808080)) == 0;
}

/* Room for columns, each from a line of the cache on: what was there is forgotten. */
static int fit_columns(struct block_reader *r, size_t count)
{
    if (count <= r->column_room)
        return 0;
    free(r->columns);
    r->column_room = r->column_count = 0;
    r->columns = aligned_alloc(_Alignof(struct read_column), count * sizeof(*r->columns));
    if (r->columns == NULL)
        return -ENOMEM;
    r->column_room = count;
    return 0;
}

/* The columns, whose bytes follow the directory one behind the other, as their bits do behind the
 * frame. */
static int read_columns(struct block_reader *r, const uint8_t *bits, const uint8_t *bits_end)
{
    const uint8_t *const bits_begin = bits;
    uint64_t count, length, some;
    if (!get(r, &count) || count > MOST_COLUMNS)
        return -HOLTER_ECORRUPT;
    if (fit_columns(r, (size_t)count + 1) != 0)
        return -ENOMEM;
    for (r->column_count = 0; r->column_count < count; r->column_count++) {
        struct read_column *c = &r->columns[r->column_count];
        if (!read_column(r, c, &length, &some) || some > (uint64_t)(bits_end - bits))
            return -HOLTER_ECORRUPT;
        c->bits = bits;
        bits += some;
        c->bits_end = bits;
        c->before = length; /* until its place is known */
    }
    const uint8_t *at = r->at, *end = r->plain + r->plain_length;
    for (size_t i = 0; i < count; i++) {
        struct read_column *c = &r->columns[i];
        if (c->before > (uint64_t)(end - at))
            return -HOLTER_ECORRUPT;
        c->at = at;
        at += c->before;
        c->end = at;
        c->before = 0;
    }
    if (at != end || bits != bits_end)
        return -HOLTER_ECORRUPT;
    int code = block_widen(r, bits_begin, (size_t)(bits_end - bits_begin), MOST_PLAIN);
    for (size_t i = 0; code == 0 && i < count; i++) {
        struct read_column *c = &r->columns[i];
        c->is_short = c->kind == BLOCK_INTEGER && !c->unwanted && c->shape == BLOCK_BYTES_EACH &&
                      (uint64_t)(c->end - c->at) == c->total && all_short(c->at, (size_t)c->total);
    }
    return code;
}

static int has_past(const struct read_column *c)
{
    return !c->unwanted && (c->coding == BLOCK_KEYED || c->coding == BLOCK_TWIN);
}

/* Room for the values of columns that later ones refer to. */
static int make_past(struct block_reader *r)
{
    uint64_t values = 0;
    for (size_t i = 0; i < r->column_count; i++) {
        const struct read_column *c = &r->columns[i];
        if (!has_past(c))
            continue;
        values += c->total;
        if (c->total > BLOCK_MOST_KEYS || values > BLOCK_MOST_PAST)
            return -HOLTER_ECORRUPT;
    }
    if (array_fit(&r->past, sizeof(*r->past), &r->past_room, (size_t)values + r->column_count) != 0)
        return -ENOMEM;
    values = 0;
    for (size_t i = 0; i < r->column_count; i++) {
        struct read_column *c = &r->columns[i];
        if (!has_past(c))
            continue;
        r->past[values] = 0;
        c->past = r->past + values + 1;
        c->twins = r->twins;
        values += c->total + 1;
    }
    return 0;
}

/* Twins are those of keys in the same rows. */
static int has_keys(const struct block_reader *r, const struct read_field *f)
{
    const struct read_column *const *columns =
        (const struct read_column *const *)r->row_columns + f->first;
    unsigned from = f->width == 0 || columns[0] == NULL  ? BLOCK_WIDTH
                    : columns[0]->coding == BLOCK_KEYED  ? 1
                    : columns[0]->coding == BLOCK_HASHED ? 4
                                                         : BLOCK_WIDTH;
    for (unsigned w = 0; w < f->width && w < from; w++) {
        if (columns[w] != NULL && columns[w]->coding == BLOCK_TWIN)
            return 0;
    }
    return 1;
}

static int compare(const struct read_column *c, uint64_t type, uint64_t key, uint64_t place,
                   enum block_kind kind)
{
    return c->type != type     ? (c->type < type ? -1 : 1)
           : c->key != key     ? (c->key < key ? -1 : 1)
           : c->place != place ? (c->place < place ? -1 : 1)
                               : (c->kind > kind) - (c->kind < kind);
}

static int compare_columns(const void *a, const void *b)
{
    const struct read_column *x = a, *y = b;
    return compare(x, y->type, y->key, y->place, y->kind);
}

/* As writers leave them, mostly. */
static int are_in_order(const struct block_reader *r)
{
    int in_order = 1;
    for (size_t i = 1; in_order && i < r->column_count; i++)
        in_order = compare_columns(&r->columns[i - 1], &r->columns[i]) <= 0;
    return in_order;
}

static struct read_column *find(struct block_reader *r, uint64_t type, uint64_t key, uint64_t place,
                                enum block_kind kind)
{
    size_t low = 0, high = r->column_count;
    if (r->column_likely < high &&
        compare(&r->columns[r->column_likely], type, key, place, kind) == 0)
        return &r->columns[r->column_likely++];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare(&r->columns[middle], type, key, place, kind);
        if (order == 0) {
            r->column_likely = middle + 1;
            return &r->columns[middle];
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

struct read_column *block_column(struct block_reader *r, uint64_t type, uint64_t key,
                                 uint64_t place)
{
    return find(r, type, key, place, BLOCK_INTEGER);
}

static int take_field(struct block_reader *r, uint64_t type, struct read_field *f)
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
    if (array_fit(&r->row_columns, sizeof(struct read_column *), &r->row_column_room,
                  r->row_column_count + width + 1) != 0)
        return -ENOMEM;
    for (unsigned i = 0; i < width; i++) {
        get_byte(r, &kind);
        r->row_columns[r->row_column_count++] = find(r, type, f->key, i + 1, (enum block_kind)kind);
    }
    return has_keys(r, f) ? 0 : -HOLTER_ECORRUPT;
}

static int take_layouts(struct block_reader *r, const uint8_t *from)
{
    r->at = from;
    r->field_count = r->row_column_count = 0;
    for (size_t i = 0; i < r->layout_count; i++) {
        struct read_layout *l = &r->layouts[i];
        uint8_t fields = 0;
        get_byte(r, &l->type);
        get_byte(r, &fields);
        l->first = r->field_count;
        l->count = fields;
        if (array_fit(&r->fields, sizeof(*r->fields), &r->field_room,
                      r->field_count + fields + 1) != 0)
            return -ENOMEM;
        for (unsigned f = 0; f < fields; f++) {
            int code = take_field(r, l->type, &r->fields[r->field_count++]);
            if (code != 0)
                return code;
        }
        block_layout_resolve(r, l);
    }
    /* A column that a layout has twice is marked twice. */
    return array_fit(&r->marks, sizeof(*r->marks), &r->mark_room,
                     r->field_count + r->row_column_count + 1);
}

static int read_directory(struct block_reader *r, const uint8_t *bits, const uint8_t *bits_end)
{
    uint64_t layouts;
    r->at = r->plain;
    if (!get(r, &r->form) || r->form < BLOCK_FORM_OLD || r->form > BLOCK_FORM ||
        !get(r, &r->messages) || r->messages > BLOCK_MOST_MESSAGES || !get(r, &layouts) ||
        layouts > BLOCK_LAYOUTS)
        return -HOLTER_ECORRUPT;
    const uint8_t *from = r->at;
    r->column_likely = 0;
    r->layout_count = (size_t)layouts;
    for (size_t i = 0; i < r->layout_count; i++) {
        if (!skip_layout(r))
            return -HOLTER_ECORRUPT;
    }
    int code = read_columns(r, bits, bits_end);
    code = code != 0 ? code : make_past(r);
    if (code != 0)
        return code;
    if (!are_in_order(r))
        qsort(r->columns, r->column_count, sizeof(*r->columns), compare_columns);
    code = block_make_whole(r);
    code = code != 0 ? code : take_layouts(r, from);
    for (unsigned key = BLOCK_HEAD_LAYOUT; key <= BLOCK_HEAD_BYTES; key++)
        r->head[key] = find(r, 0, key, 0, key == BLOCK_HEAD_BYTES ? BLOCK_TEXT : BLOCK_INTEGER);
    return code;
}

void block_want(struct block_reader *r, uint64_t fields)
{
    r->wanted_next = fields;
}

int block_open(struct block_reader *r, const void *packed, size_t length)
{
    r->wanted = r->wanted_next;
    r->messages = r->read = 0;
    r->total = 0;
    r->layout = 0;
    const uint8_t *bits = NULL;
    int code = packed == NULL ? -HOLTER_ECORRUPT : unzip(r, packed, length, &bits);
    code = code != 0 ? code : read_directory(r, bits, (const uint8_t *)packed + length);
    r->broken = code;
    if (code != 0)
        r->messages = 0;
    return code;
}

size_t block_count(const struct block_reader *r)
{
    return (size_t)r->messages;
}

#include "daemon/analysis/array.h"
#include "daemon/block.h"
#include "daemon/block_form.h"
#include "daemon/block_parse.h"
#include "holter/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define SAMPLE 1024u     /* values that a coding is chosen by */
#define SLICES 16u       /* parts of the sample, from all of the block */
#define RECHOOSE 256u    /* blocks for which the choice stands */
#define RECHOOSE_FEW 32u /* when it was made by few values */
#define OWN_BYTES 2048u  /* a column of so many bytes is coded by its own statistics */
#define KEEP_ROOM (8u << 20)

struct block_writer {
    struct block_columns columns;
    ZSTD_CCtx *zstd;
    struct bytes plain, packed;
    size_t messages, bytes, marked_messages, marked_bytes;
    /* Of the block that is being made: rows by their keys, and which row has the key of another one before it. */
    const struct block_column *keys; /* NULL: no column of keys yet */
    uint32_t *twins, *slots;         /* owned */
    size_t twin_room, slot_room;
};

int block_writer_create(struct block_writer **out)
{
    struct block_writer *w = calloc(1, sizeof(*w));
    if (w == NULL || (w->zstd = ZSTD_createCCtx()) == NULL) {
        free(w);
        return -ENOMEM;
    }
    *out = w;
    return 0;
}

void block_writer_destroy(struct block_writer *w)
{
    if (w == NULL)
        return;
    block_columns_finish(&w->columns);
    ZSTD_freeCCtx(w->zstd);
    free(w->plain.at);
    free(w->packed.at);
    free(w->twins);
    free(w->slots);
    free(w);
}

/* ---- adding -------------------------------------------------------------- */

static int add_head(struct block_columns *c, const struct recorded *head, uint64_t layout)
{
    const uint64_t values[] = {
        [BLOCK_HEAD_LAYOUT] = layout,
        [BLOCK_HEAD_TYPE] = head->type,
        [BLOCK_HEAD_AGENT] = head->instance,
        [BLOCK_HEAD_SEQ] = head->seq,
        [BLOCK_HEAD_WINDOW] = head->window,
        [BLOCK_HEAD_TIME] = head->time_ns,
        [BLOCK_HEAD_RECEIVED] = head->received_ns,
    };
    int code = 0;
    for (unsigned key = BLOCK_HEAD_LAYOUT; code == 0 && key <= BLOCK_HEAD_RECEIVED; key++)
        code = block_columns_integer(c, 0, key, values[key]);
    return code;
}

int block_add(struct block_writer *w, const struct recorded *head, const void *bytes, size_t length)
{
    unsigned layout = 0;
    if (w->messages >= BLOCK_MOST_MESSAGES || length > BLOCK_MOST_BYTES - BLOCK_BYTES ||
        w->bytes > BLOCK_BYTES)
        return -HOLTER_ELIMIT;
    block_columns_begin(&w->columns);
    int code = block_parse(&w->columns, bytes, length, &layout);
    if (code == -HOLTER_EPROTOCOL) {
        block_columns_undo(&w->columns);
        layout = 0;
        code = block_columns_text(&w->columns, 0, BLOCK_HEAD_BYTES, bytes, length);
    }
    code = code != 0 ? code : add_head(&w->columns, head, layout);
    if (code != 0) {
        block_columns_undo(&w->columns);
        return code;
    }
    w->messages++;
    w->bytes += length;
    return 0;
}

size_t block_messages(const struct block_writer *w)
{
    return w->messages;
}

size_t block_bytes(const struct block_writer *w)
{
    return w->bytes;
}

size_t block_messages_marked(const struct block_writer *w)
{
    return w->messages - w->marked_messages;
}

size_t block_bytes_marked(const struct block_writer *w)
{
    return w->bytes - w->marked_bytes;
}

void block_mark(struct block_writer *w)
{
    for (size_t i = 0; i < w->columns.count; i++) {
        struct block_column *c = w->columns.list[i];
        c->marked = c->kind == BLOCK_TEXT ? c->text.length : c->count;
        c->marked_texts = c->count;
    }
    w->marked_messages = w->messages;
    w->marked_bytes = w->bytes;
}

void block_clear(struct block_writer *w)
{
    for (size_t i = 0; i < w->columns.count; i++)
        block_column_clear(w->columns.list[i], KEEP_ROOM);
    w->columns.layout_count = 0;
    w->columns.layout_bytes.length = 0;
    w->messages = w->bytes = 0;
    block_mark(w);
}

/* ---- codings ------------------------------------------------------------- */

/* Columns of integers to the left of one, of the same rows: [0] is the next one. */
struct lefts {
    const uint64_t *values[BLOCK_REACH];
    unsigned count;
    const uint32_t *twins; /* by row of the block; NULL: it has no keys */
    size_t first;          /* row of the block */
};

static uint64_t likely(const struct lefts *lefts, enum block_coding coding, size_t i)
{
    return coding == BLOCK_LEFT    ? lefts->values[0][i]
           : coding == BLOCK_LEFT2 ? lefts->values[1][i]
           : coding == BLOCK_LEFT3 ? lefts->values[2][i]
                                   : lefts->values[2][i] - lefts->values[0][i];
}

static uint8_t *put_keys(uint8_t *at, const uint64_t *keys, const uint32_t *twins, size_t count)
{
    uint64_t before = 0;
    for (size_t i = 0; i < count; i++) {
        if (twins[i] == BLOCK_NO_TWIN) {
            uint64_t key = htole64(keys[i]);
            *at++ = 0;
            memcpy(at, &key, sizeof(key));
            at += sizeof(key);
        } else {
            at = block_put(at, 1 + block_fold(twins[i] - before));
            before = (uint64_t)twins[i] + 1;
        }
    }
    return at;
}

/* @return behind the last byte; at most 11 for each */
static uint8_t *put_integers(uint8_t *at, const struct block_column *c, const struct lefts *lefts,
                             size_t from, size_t end, enum block_coding coding)
{
    const uint64_t *v = c->values;
    uint64_t before = 0, number;
    switch (coding) {
    case BLOCK_PLAIN:
        for (size_t i = from; i < end; i++)
            at = block_put(at, c->negative ? block_fold(v[i]) : v[i]);
        return at;
    case BLOCK_DELTA:
        for (size_t i = from; i < end; before = v[i++])
            at = block_put(at, block_fold(v[i] - before));
        return at;
    case BLOCK_SIZES:
        for (size_t i = from; i < end; i++) {
            number = block_sizes(v[i], lefts->values[0][i], lefts->values[1][i]);
            at = block_put(at, number);
            at = number == 0 ? block_put(at, v[i]) : at;
        }
        return at;
    case BLOCK_KEYED:
        return put_keys(at, v + from, lefts->twins + (from - lefts->first), end - from);
    case BLOCK_TWIN:
        for (size_t i = from; i < end; i++) {
            uint32_t twin = lefts->twins[i - lefts->first];
            at = block_put(at,
                           block_fold(v[i] - (twin == BLOCK_NO_TWIN ? 0 : v[lefts->first + twin])));
        }
        return at;
    default:
        for (size_t i = from; i < end; i++)
            at = block_put(at, block_fold(v[i] - likely(lefts, coding, i)));
        return at;
    }
}

static int may_code(const struct block_column *c, const struct lefts *lefts,
                    enum block_coding coding)
{
    if (coding == BLOCK_KEYED || coding == BLOCK_TWIN)
        return lefts->twins != NULL && (coding == BLOCK_KEYED) == (c->place == 1);
    return block_reach(coding) <= lefts->count && !(coding == BLOCK_SIZES && c->negative);
}

/* The coding in which a sample of the values takes least, compressed: repetition counts, too. */
static void choose(struct block_writer *w, struct block_column *c, const struct lefts *lefts,
                   size_t from)
{
    uint8_t bytes[SAMPLE * 11 + 16], packed[SAMPLE * 11 + 1024];
    size_t most = c->count - from, count = most < SAMPLE ? most : SAMPLE, least = SIZE_MAX;
    for (int i = 0; i < BLOCK_CODINGS; i++) {
        enum block_coding coding = (enum block_coding)i;
        if (coding == BLOCK_KEYED || !may_code(c, lefts, coding))
            continue;
        uint8_t *end = bytes;
        /* Rows with twins are other messages than those without. */
        size_t slices = lefts->twins != NULL && most > SAMPLE ? SLICES : 1;
        for (size_t s = 0; s < slices; s++) {
            size_t begin = from + (most - count) * (2 * s + 1) / (2 * slices);
            end = put_integers(end, c, lefts, begin, begin + count / slices, coding);
        }
        size_t size =
            ZSTD_compressCCtx(w->zstd, packed, sizeof(packed), bytes, (size_t)(end - bytes), 1);
        if (!ZSTD_isError(size) && size < least) {
            least = size;
            c->coding = coding;
        }
    }
    c->chosen_for = count < SAMPLE / 4 ? RECHOOSE_FEW : RECHOOSE;
}

/* Does a place hold integers only, as many as another? Then those of one row stand side by side. */
static const struct block_column *integers_at(const struct block_columns *columns,
                                              const struct block_column *c, unsigned place)
{
    for (int kind = BLOCK_REAL; kind <= BLOCK_TEXT; kind++) {
        const struct block_column *other =
            block_columns_find(columns, c->type, c->key, place, (enum block_kind)kind);
        if (other != NULL && other->count > 0)
            return NULL;
    }
    const struct block_column *found =
        block_columns_find(columns, c->type, c->key, place, BLOCK_INTEGER);
    return found != NULL && found->count == c->count && found->marked == c->marked ? found : NULL;
}

/* Can it be a column of keys? There is one in a block at most. */
static int may_key(const struct block_writer *w, const struct block_column *c, size_t count)
{
    size_t wide = 0;
    if (w->keys != NULL || c->place != 1 || c->negative || count < 2 || count > BLOCK_MOST_KEYS ||
        integers_at(&w->columns, c, 1) != c)
        return 0;
    for (size_t i = c->count - count; i < c->count; i++)
        wide += c->values[i] >> 40 != 0;
    return wide > count / 2;
}

/* Find for each row the one before it with the same key, if that is no other row's.
 * @param pairs  set to how many there are @return 0 or -ENOMEM */
static int pair_keys(struct block_writer *w, const struct block_column *c, size_t from,
                     size_t *pairs)
{
    const uint32_t taken = UINT32_C(1) << 31;
    const uint64_t *keys = c->values + from;
    size_t count = c->count - from, slots = 16;
    while (slots < 2 * count)
        slots *= 2;
    if (array_fit(&w->twins, sizeof(*w->twins), &w->twin_room, count + 1) != 0 ||
        array_fit(&w->slots, sizeof(*w->slots), &w->slot_room, slots) != 0)
        return -ENOMEM;
    memset(w->slots, 0, slots * sizeof(*w->slots));
    for (size_t i = 0; i < count; i++) {
        uint64_t at = keys[i] * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (slots - 1);
        while (w->slots[at] != 0 && keys[(w->slots[at] & ~taken) - 1] != keys[i])
            at = (at + 1) & (slots - 1);
        int has_twin = w->slots[at] != 0 && !(w->slots[at] & taken);
        w->twins[i] = has_twin ? w->slots[at] - 1 : BLOCK_NO_TWIN;
        *pairs += (size_t)has_twin;
        w->slots[at] = has_twin ? w->slots[at] | taken : (uint32_t)i + 1;
    }
    return 0;
}

/* A column of keys, if one in eight comes twice. @return 0 or -ENOMEM */
static int take_keys(struct block_writer *w, struct block_column *c, size_t from)
{
    size_t pairs = 0;
    if (pair_keys(w, c, from, &pairs) != 0)
        return -ENOMEM;
    if (pairs < 1 + (c->count - from) / 8)
        return 0;
    for (size_t i = 0; c->coding != BLOCK_KEYED && i < w->columns.count; i++) {
        struct block_column *other = w->columns.list[i];
        if (other->type == c->type && other->key == c->key)
            other->chosen_for = 0; /* they may have twins now */
    }
    c->coding = BLOCK_KEYED;
    w->keys = c;
    return 0;
}

static void find_lefts(const struct block_columns *columns, const struct block_column *c,
                       struct lefts *out)
{
    out->count = 0;
    if (c->place < 2 || integers_at(columns, c, c->place) != c)
        return;
    while (out->count < BLOCK_REACH && out->count + 1 < c->place) {
        const struct block_column *left = integers_at(columns, c, c->place - out->count - 1);
        if (left == NULL)
            return;
        out->values[out->count++] = left->values;
    }
}

/* ---- packing ------------------------------------------------------------- */

static int reserve(struct bytes *b, size_t further)
{
    return block_bytes_fit(b, b->length + further + 16); /* the last number is put with some room */
}

static void put_number(struct bytes *b, uint64_t number)
{
    b->length = (size_t)(block_put(b->at + b->length, number) - b->at);
}

/* Values of a column in this block: from the mark or from the begin on. */
static size_t first_of(const struct block_column *c, int marked)
{
    return marked ? c->marked : 0;
}

static size_t values_of(const struct block_column *c, int marked)
{
    return c->count - (marked ? c->marked_texts : 0);
}

/* The bytes of one column, appended to w->plain. @return 0 or -ENOMEM */
static int put_column(struct block_writer *w, struct block_column *c, int marked)
{
    size_t from = first_of(c, marked), count = values_of(c, marked);
    if (c->kind == BLOCK_TEXT) {
        size_t length = c->text.length - from;
        if (reserve(&w->plain, length) != 0)
            return -ENOMEM;
        memcpy(w->plain.at + w->plain.length, c->text.at + from, length);
        w->plain.length += length;
        return 0;
    }
    if (reserve(&w->plain, 11 * count) != 0)
        return -ENOMEM;
    if (c->kind == BLOCK_REAL) {
        for (size_t i = from; i < c->count; i++, w->plain.length += 8)
            for (unsigned b = 0; b < 8; b++)
                w->plain.at[w->plain.length + b] = (uint8_t)(c->values[i] >> 8 * b);
        return 0;
    }
    struct lefts lefts;
    find_lefts(&w->columns, c, &lefts);
    lefts.first = from;
    lefts.twins = w->keys != NULL && c->place > 1 && integers_at(&w->columns, c, 1) == w->keys &&
                          integers_at(&w->columns, c, c->place) == c
                      ? w->twins
                      : NULL;
    if (may_key(w, c, count) && take_keys(w, c, from) != 0)
        return -ENOMEM;
    if (w->keys == c)
        lefts.twins = w->twins;
    else if (c->chosen_for == 0 || !may_code(c, &lefts, c->coding))
        choose(w, c, &lefts, from);
    uint8_t *end =
        put_integers(w->plain.at + w->plain.length, c, &lefts, from, c->count, c->coding);
    w->plain.length = (size_t)(end - w->plain.at);
    return 0;
}

/* Behind the columns' bytes, as their lengths are known then; it goes first. */
static int put_directory(struct block_writer *w, int marked)
{
    const struct block_columns *columns = &w->columns;
    size_t used = 0;
    for (size_t i = 0; i < columns->count; i++)
        used += values_of(columns->list[i], marked) > 0;
    if (reserve(&w->plain, 40 + columns->layout_bytes.length + used * 40) != 0)
        return -ENOMEM;
    put_number(&w->plain, BLOCK_FORM);
    put_number(&w->plain, marked ? block_messages_marked(w) : w->messages);
    put_number(&w->plain, columns->layout_count);
    memcpy(w->plain.at + w->plain.length,
           columns->layout_bytes.at == NULL ? (const uint8_t *)"" : columns->layout_bytes.at,
           columns->layout_bytes.length);
    w->plain.length += columns->layout_bytes.length;
    put_number(&w->plain, used);
    for (size_t i = 0; i < columns->count; i++) {
        const struct block_column *c = columns->list[i];
        if (values_of(c, marked) == 0)
            continue;
        const uint64_t numbers[] = {c->type,
                                    c->key,
                                    c->place,
                                    c->kind,
                                    c->kind == BLOCK_INTEGER ? c->coding : 0u,
                                    (uint64_t)c->negative,
                                    values_of(c, marked),
                                    c->packed};
        for (size_t n = 0; n < sizeof(numbers) / sizeof(*numbers); n++)
            put_number(&w->plain, numbers[n]);
    }
    return 0;
}

/* Feed zstd a part; a part of its own gets codes of its own. */
static int feed(struct block_writer *w, const uint8_t *at, size_t length, ZSTD_EndDirective how)
{
    ZSTD_inBuffer in = {at, length, 0};
    ZSTD_outBuffer out = {w->packed.at, w->packed.room, w->packed.length};
    size_t left = ZSTD_compressStream2(w->zstd, &out, &in, how);
    w->packed.length = out.pos;
    return ZSTD_isError(left) || (how != ZSTD_e_continue && left != 0) || in.pos != length ? -ENOMEM
                                                                                           : 0;
}

/* @param directory  where the directory begins in w->plain; columns stand before it */
static int compress(struct block_writer *w, int level, size_t directory, int marked)
{
    size_t length = w->plain.length, pending, at = 0;
    w->packed.length = 0;
    if (block_bytes_fit(&w->packed, ZSTD_compressBound(length) + 64 * (w->columns.count + 1)) != 0)
        return -ENOMEM;
    ZSTD_CCtx_reset(w->zstd, ZSTD_reset_session_and_parameters);
    ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setPledgedSrcSize(w->zstd, length);
    int code = feed(w, w->plain.at + directory, length - directory, ZSTD_e_continue);
    pending = length - directory;
    for (size_t i = 0; code == 0 && i < w->columns.count; i++) {
        const struct block_column *c = w->columns.list[i];
        if (values_of(c, marked) == 0)
            continue;
        if (pending > 0 && (pending >= OWN_BYTES || c->packed >= OWN_BYTES)) {
            code = feed(w, NULL, 0, ZSTD_e_flush);
            pending = 0;
        }
        code = code != 0 ? code : feed(w, w->plain.at + at, c->packed, ZSTD_e_continue);
        at += c->packed;
        pending += c->packed;
    }
    return code != 0 ? code : feed(w, NULL, 0, ZSTD_e_end);
}

int block_pack(struct block_writer *w, int marked, int level, const void **out, size_t *length)
{
    int code = 0;
    w->plain.length = 0;
    w->keys = NULL;
    for (size_t i = 0; code == 0 && i < w->columns.count; i++) {
        struct block_column *c = w->columns.list[i];
        size_t begin = w->plain.length;
        if (values_of(c, marked) == 0)
            continue;
        code = put_column(w, c, marked);
        c->packed = w->plain.length - begin;
        c->chosen_for -= c->chosen_for > 0 && !marked;
    }
    size_t directory = w->plain.length;
    code = code != 0 ? code : put_directory(w, marked);
    code = code != 0 ? code : compress(w, level, directory, marked);
    if (code != 0)
        return code;
    *out = w->packed.at;
    *length = w->packed.length;
    return 0;
}

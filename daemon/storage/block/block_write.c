#include "daemon/analysis/tables/array.h"
#include "daemon/storage/block/block.h"
#include "daemon/storage/block/block_coding.h"
#include "daemon/storage/block/block_form.h"
#include "daemon/storage/block/block_parse.h"
#include "holter/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* A column of so many bytes is coded by its own statistics. Smaller ones together take some 2 %
 * more room that way, and 5 % less of the time that recording takes. */
#define OWN_BYTES 16384u
#define KEEP_ROOM (8u << 20)

/* A message since the mark, as it is: most blocks are full, and are packed column by column, before
 * these are asked for. */
struct marked {
    struct recorded head;
    struct block_source source;
};

struct block_writer {
    struct block_columns columns;
    struct block_columns since; /* made of what is marked when that is packed */
    struct marked *marked;
    size_t marked_count, marked_room;
    ZSTD_CCtx *zstd;
    struct bytes plain, bits, packed;
    size_t messages, bytes, marked_bytes; /* marked_bytes: before the mark */
    struct block_coder coder;
    void **slices; /* owned, as each of them: columns point into them */
    size_t slice_count, slice_room;
};

int block_writer_create(struct block_writer **out)
{
    struct block_writer *w = calloc(1, sizeof(*w));
    if (w == NULL || (w->zstd = ZSTD_createCCtx()) == NULL || block_coder_init(&w->coder) != 0) {
        if (w != NULL)
            ZSTD_freeCCtx(w->zstd);
        free(w);
        return -ENOMEM;
    }
    *out = w;
    return 0;
}

static void forget_slices(struct block_writer *w)
{
    for (size_t i = 0; i < w->slice_count; i++)
        free(w->slices[i]);
    w->slice_count = 0;
}

static void release(const struct block_source *source)
{
    source->release(source->owner);
}

static void forget_marked(struct block_writer *w)
{
    for (size_t i = 0; i < w->marked_count; i++)
        release(&w->marked[i].source);
    w->marked_count = 0;
}

void block_writer_destroy(struct block_writer *w)
{
    if (w == NULL)
        return;
    forget_slices(w);
    free(w->slices);
    forget_marked(w);
    free(w->marked);
    block_columns_finish(&w->columns);
    block_columns_finish(&w->since);
    ZSTD_freeCCtx(w->zstd);
    free(w->plain.at);
    free(w->packed.at);
    block_coder_finish(&w->coder);
    free(w->bits.at);
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
    void *copy = malloc(length > 0 ? length : 1);
    if (copy == NULL)
        return -ENOMEM;
    if (length > 0)
        memcpy(copy, bytes, length);
    const struct block_source source = {
        .bytes = copy, .length = length, .release = free, .owner = copy};
    return block_add_source(w, head, &source);
}

/* @return 0 or -ENOMEM: they are gone */
static int keep_slices(struct block_writer *w, void *slices)
{
    if (array_fit(&w->slices, sizeof(*w->slices), &w->slice_room, w->slice_count + 1) != 0) {
        free(slices);
        return -ENOMEM;
    }
    w->slices[w->slice_count++] = slices;
    return 0;
}

static int add(struct block_writer *w, const struct recorded *head,
               const struct block_source *source)
{
    unsigned layout = 0;
    block_columns_begin(&w->columns);
    int code = source->slices != NULL
                   ? block_add_columns(&w->columns, source->slices, &layout)
                   : block_parse(&w->columns, source->bytes, source->length, &layout);
    if (code == -HOLTER_EPROTOCOL) {
        block_columns_undo(&w->columns);
        layout = 0;
        code = block_columns_text(&w->columns, 0, BLOCK_HEAD_BYTES, source->bytes, source->length);
    }
    code = code != 0 ? code : add_head(&w->columns, head, layout);
    if (code != 0)
        block_columns_undo(&w->columns);
    return code;
}

int block_add_source(struct block_writer *w, const struct recorded *head,
                     const struct block_source *source)
{
    int code = source->slices == NULL ? 0 : keep_slices(w, source->slices);
    if (code == 0 && (w->messages >= BLOCK_MOST_MESSAGES ||
                      source->length > BLOCK_MOST_BYTES - BLOCK_BYTES || w->bytes > BLOCK_BYTES))
        code = -HOLTER_ELIMIT;
    if (code == 0)
        code = array_fit(&w->marked, sizeof(*w->marked), &w->marked_room, w->marked_count + 1);
    code = code != 0 ? code : add(w, head, source);
    if (code != 0) {
        release(source);
        return code;
    }
    w->marked[w->marked_count++] = (struct marked){*head, *source};
    w->messages++;
    w->bytes += source->length;
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
    return w->marked_count;
}

size_t block_bytes_marked(const struct block_writer *w)
{
    return w->bytes - w->marked_bytes;
}

void block_mark(struct block_writer *w)
{
    forget_marked(w);
    w->marked_bytes = w->bytes;
}

void block_clear(struct block_writer *w)
{
    block_columns_clear(&w->columns, KEEP_ROOM);
    forget_slices(w);
    w->messages = w->bytes = 0;
    block_mark(w);
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

static int put_text(struct block_writer *w, const struct block_column *c)
{
    size_t length = c->text.length;
    if (reserve(&w->plain, length) != 0)
        return -ENOMEM;
    memcpy(w->plain.at + w->plain.length, c->text.at, length);
    w->plain.length += length;
    return 0;
}

static int put_reals(struct block_writer *w, const struct block_column *c)
{
    if (reserve(&w->plain, 8 * c->count) != 0)
        return -ENOMEM;
    for (size_t i = 0; i < c->count; i++, w->plain.length += 8) {
        uint64_t bits = htole64(c->values[i]);
        memcpy(w->plain.at + w->plain.length, &bits, sizeof(bits));
    }
    return 0;
}

/* Numbers of a column, as they were written. */
struct put {
    struct block_common common;
    uint64_t first;
    size_t count;
    int fits; /* they could be */
};

/* Append the numbers of a column in a shape, not BLOCK_ALL_SAME: whether they are all the same is
 * told by the way.
 * @return 0 or -ENOMEM */
static int put_numbers(struct block_writer *w, struct block_columns *columns,
                       struct block_column *c, enum block_shape shape, struct put *out)
{
    struct block_told told;
    struct block_numbers n;
    struct put put = {.fits = 1};
    if (block_told_begin(&told, &w->coder, columns, c) != 0)
        return -ENOMEM;
    uint8_t *at = w->plain.at + w->plain.length;
    struct block_bits bits = {.at = w->bits.at + w->bits.length};
    while (put.fits && block_told_next(&told, &n)) {
        put.first = put.count == 0 ? n.at[0] : put.first;
        put.count += n.count;
        put.common.all |= n.common.all;
        put.common.differ |= n.common.differ | (n.at[0] ^ put.first);
        if (shape == BLOCK_BYTES_EACH) {
            at = w->coder.loops->put_bytes(n.at, n.count, n.common.all, at);
        } else if ((put.fits = n.common.all >> BLOCK_MOST_SPLIT == 0)) {
            w->coder.loops->put_split(n.at, n.count, at, &bits);
            at += n.count;
        }
    }
    w->plain.length = (size_t)(at - w->plain.at);
    w->bits.length = (size_t)(block_bits_end(&bits) - w->bits.at);
    *out = put;
    return 0;
}

/* Take back what stands behind these lengths, and put one number for all. */
static void put_same(struct block_writer *w, struct block_column *c, size_t plain, size_t bits,
                     uint64_t number)
{
    w->plain.length = plain;
    w->bits.length = bits;
    c->written = BLOCK_ALL_SAME;
    put_number(&w->plain, number);
}

/* @return 0 or -ENOMEM */
static int put_integers(struct block_writer *w, struct block_columns *columns,
                        struct block_column *c)
{
    size_t plain = w->plain.length, bits = w->bits.length;
    enum block_shape shape = c->shape;
    struct put put;
    uint64_t value;
    if (c->coding == BLOCK_PLAIN && block_column_is_same(c, &value)) {
        if (reserve(&w->plain, 11) != 0)
            return -ENOMEM;
        put_same(w, c, plain, bits, c->negative ? block_fold(value) : value);
        return 0;
    }
    if (reserve(&w->plain, 11 * c->count) != 0 ||
        (shape == BLOCK_SPLIT && reserve(&w->bits, 7 * c->count) != 0))
        return -ENOMEM;
    if (c->coding == BLOCK_KEYED) { /* its values were looked at to find that */
        w->plain.length =
            (size_t)(block_coder_keys(&w->coder, c, w->plain.at + plain) - w->plain.at);
        return 0;
    }
    int code = put_numbers(w, columns, c, shape, &put);
    /* Small numbers are bytes anyway; large ones are no others of the shape that was chosen for
     * those before. */
    if (code == 0 && shape == BLOCK_SPLIT &&
        (!put.fits || (put.common.all < 16 && put.common.differ != 0))) {
        w->plain.length = plain;
        w->bits.length = bits;
        shape = BLOCK_BYTES_EACH;
        code = put_numbers(w, columns, c, shape, &put);
    }
    if (code != 0)
        return code;
    c->written = shape;
    if (put.common.differ == 0 && put.count == c->count)
        put_same(w, c, plain, bits, put.first);
    return 0;
}

/* The bytes of one column, appended to w->plain, and what is left of them to w->bits. @return 0 or
 * -ENOMEM */
static int put_column(struct block_writer *w, struct block_columns *columns, struct block_column *c)
{
    size_t begin = w->plain.length, bits = w->bits.length;
    c->written = BLOCK_BYTES_EACH;
    int code = c->kind == BLOCK_TEXT   ? put_text(w, c)
               : c->kind == BLOCK_REAL ? put_reals(w, c)
                                       : put_integers(w, columns, c);
    c->packed = w->plain.length - begin;
    c->bits = w->bits.length - bits;
    return code;
}

/* Behind the columns' bytes, as their lengths are known then; it goes first. */
static int put_directory(struct block_writer *w, const struct block_columns *columns,
                         size_t messages)
{
    size_t used = 0;
    for (size_t i = 0; i < columns->count; i++)
        used += columns->list[i]->count > 0;
    if (reserve(&w->plain, 40 + columns->layout_bytes.length + used * 48) != 0)
        return -ENOMEM;
    put_number(&w->plain, BLOCK_FORM);
    put_number(&w->plain, messages);
    put_number(&w->plain, columns->layout_count);
    memcpy(w->plain.at + w->plain.length,
           columns->layout_bytes.at == NULL ? (const uint8_t *)"" : columns->layout_bytes.at,
           columns->layout_bytes.length);
    w->plain.length += columns->layout_bytes.length;
    put_number(&w->plain, used);
    for (size_t i = 0; i < columns->count; i++) {
        const struct block_column *c = columns->list[i];
        if (c->count == 0)
            continue;
        const uint64_t numbers[] = {c->type,
                                    c->key,
                                    c->place,
                                    c->kind,
                                    c->kind == BLOCK_INTEGER ? c->coding : 0u,
                                    (uint64_t)c->negative,
                                    c->count,
                                    c->written,
                                    c->packed,
                                    c->bits};
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
static int compress(struct block_writer *w, const struct block_columns *columns, int level,
                    size_t directory)
{
    size_t length = w->plain.length, pending, at = 0;
    w->packed.length = 0;
    if (block_bytes_fit(&w->packed, ZSTD_compressBound(length) + 64 * (columns->count + 1)) != 0)
        return -ENOMEM;
    ZSTD_CCtx_reset(w->zstd, ZSTD_reset_session_and_parameters);
    ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setPledgedSrcSize(w->zstd, length);
    int code = feed(w, w->plain.at + directory, length - directory, ZSTD_e_continue);
    pending = length - directory;
    for (size_t i = 0; code == 0 && i < columns->count; i++) {
        const struct block_column *c = columns->list[i];
        if (c->count == 0)
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

/* The bits that are left go behind the frame: no coding makes less of them. */
static int append_bits(struct block_writer *w)
{
    if (w->bits.length == 0)
        return 0;
    if (block_bytes_fit(&w->packed, w->packed.length + w->bits.length) != 0)
        return -ENOMEM;
    memcpy(w->packed.at + w->packed.length, w->bits.at, w->bits.length);
    w->packed.length += w->bits.length;
    return 0;
}

/* The columns behind one another; those of the same rows need each other's values.
 * @return 0 or -ENOMEM */
static int put_columns(struct block_writer *w, struct block_columns *columns)
{
    int code = 0;
    for (size_t i = 0, first = 0; code == 0 && i < columns->count; i++) {
        struct block_column *c = columns->list[i], *before = columns->list[first];
        for (; c->type != before->type || c->key != before->key; before = columns->list[first])
            block_column_release(columns, columns->list[first++]);
        if (c->count == 0)
            continue;
        code = put_column(w, columns, c);
        c->chosen_for -= c->chosen_for > 0;
    }
    for (size_t i = 0; i < columns->count; i++)
        block_column_release(columns, columns->list[i]);
    return code;
}

/* @return 0 or -ENOMEM */
static int gather_marked(struct block_writer *w)
{
    int code = 0;
    block_columns_clear(&w->since, KEEP_ROOM);
    for (size_t i = 0; code == 0 && i < w->marked_count; i++) {
        const struct marked *m = &w->marked[i];
        block_columns_begin(&w->since);
        code =
            block_columns_text(&w->since, 0, BLOCK_HEAD_BYTES, m->source.bytes, m->source.length);
        code = code != 0 ? code : add_head(&w->since, &m->head, 0);
    }
    return code;
}

int block_pack(struct block_writer *w, int marked, int level, const void **out, size_t *length)
{
    struct block_columns *columns = marked ? &w->since : &w->columns;
    size_t messages = marked ? block_messages_marked(w) : w->messages;
    w->plain.length = w->bits.length = 0;
    int code = marked ? gather_marked(w) : block_coder_settle(&w->coder, columns);
    code = code != 0 ? code : put_columns(w, columns);
    size_t directory = w->plain.length;
    code = code != 0 ? code : put_directory(w, columns, messages);
    code = code != 0 ? code : compress(w, columns, level, directory);
    code = code != 0 ? code : append_bits(w);
    if (code != 0)
        return code;
    *out = w->packed.at;
    *length = w->packed.length;
    return 0;
}

#include "daemon/storage/block/block_parse.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/storage/block/block_fold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int block_bytes_fit(struct bytes *b, size_t room)
{
    return array_fit(&b->at, 1, &b->room, room);
}

void block_columns_finish(struct block_columns *c)
{
    for (size_t i = 0; i < c->count; i++) {
        free(c->list[i]->values);
        free(c->list[i]->chunks);
        free(c->list[i]->text.at);
        free(c->list[i]);
    }
    for (unsigned type = 0; type < BLOCK_TYPES; type++) {
        for (unsigned key = 0; key < BLOCK_KEYS; key++)
            free(c->by_key[type][key]);
    }
    for (size_t i = 0; i < c->spare_count; i++)
        free(c->spares[i].values);
    free(c->spares);
    free(c->list);
    free(c->marks);
    free(c->route);
    free(c->route_layout.at);
    free(c->layout_bytes.at);
}

void block_columns_begin(struct block_columns *c)
{
    c->stamp++;
    c->mark_count = 0;
}

void block_columns_undo(struct block_columns *c)
{
    for (size_t i = 0; i < c->mark_count; i++) {
        const struct block_mark *m = &c->marks[i];
        m->column->count = m->count;
        m->column->chunk_count = m->chunk_count;
        m->column->text.length = m->text_length;
        m->column->negative = m->negative;
        m->column->big = m->big;
    }
    block_columns_begin(c);
}

static void column_clear(struct block_column *c, size_t keep)
{
    if (c->room * sizeof(*c->values) > keep) {
        free(c->values);
        c->values = NULL;
        c->room = 0;
    }
    if (c->text.room > keep) {
        free(c->text.at);
        c->text = (struct bytes){0};
    }
    c->count = c->chunk_count = c->text.length = 0;
    c->fetched = 0;
    c->negative = c->big = 0;
}

struct block_column *block_columns_find(const struct block_columns *c, unsigned type, unsigned key,
                                        unsigned place, enum block_kind kind)
{
    struct block_column **places = c->by_key[type][key];
    return places == NULL ? NULL : places[4 * place + (unsigned)kind];
}

static struct block_column *make(struct block_columns *c, unsigned type, unsigned key,
                                 unsigned place, enum block_kind kind)
{
    struct block_column ***places = &c->by_key[type][key];
    if (*places == NULL)
        *places = calloc(4 * (BLOCK_WIDTH + 2), sizeof(**places));
    if (*places == NULL ||
        array_fit(&c->list, sizeof(struct block_column *), &c->room, c->count + 1) != 0)
        return NULL;
    struct block_column *made = aligned_alloc(_Alignof(struct block_column), sizeof(*made));
    if (made == NULL)
        return NULL;
    memset(made, 0, sizeof(*made));
    made->type = type;
    made->key = key;
    made->place = place;
    made->kind = kind;
    (*places)[4 * place + (unsigned)kind] = made;
    c->list[c->count++] = made;
    return made;
}

struct block_column *block_columns_get(struct block_columns *c, unsigned type, unsigned key,
                                       unsigned place, enum block_kind kind)
{
    struct block_column *t = block_columns_find(c, type, key, place, kind);
    return t != NULL ? t : make(c, type, key, place, kind);
}

/* Remember how a column was before the message. @return 0 or -ENOMEM */
static int mark(struct block_columns *c, struct block_column *t)
{
    if (t->stamp == c->stamp)
        return 0;
    if (array_fit(&c->marks, sizeof(*c->marks), &c->mark_room, c->mark_count + 1) != 0)
        return -ENOMEM;
    c->marks[c->mark_count++] =
        (struct block_mark){.column = t,
                            .count = t->count,
                            .chunk_count = t->chunk_count,
                            .text_length = t->kind == BLOCK_TEXT ? t->text.length : 0,
                            .negative = t->negative,
                            .big = t->big};
    t->stamp = c->stamp;
    return 0;
}

int block_columns_touch(struct block_columns *c, struct block_column *t, size_t further)
{
    if (block_column_fetch(c, t) != 0 ||
        (t->kind != BLOCK_TEXT &&
         array_fit(&t->values, sizeof(*t->values), &t->room, t->count + further) != 0))
        return -ENOMEM;
    t->chunk_count = 0; /* all is among the values now, and what is added will be */
    return mark(c, t);
}

/* ---- chunks -------------------------------------------------------------- */

#define AHEAD 4u /* chunks lie apart, so that the processor foretells none: it is told */

int block_columns_touch_chunks(struct block_columns *c, struct block_column *t)
{
    if (t->chunk_count == t->chunk_room &&
        array_fit(&t->chunks, sizeof(*t->chunks), &t->chunk_room, t->chunk_count + 1) != 0)
        return -ENOMEM;
    return mark(c, t);
}

int block_column_fetch(struct block_columns *columns, struct block_column *c)
{
    if (c->chunk_count == 0 || c->fetched)
        return 0;
    if (c->values == NULL && columns->spare_count > 0) {
        const struct block_spare *spare = &columns->spares[--columns->spare_count];
        c->values = spare->values;
        c->room = spare->room;
    }
    if (array_fit(&c->values, sizeof(*c->values), &c->room, c->count) != 0)
        return -ENOMEM;
    if (columns->loops == NULL)
        columns->loops = block_loops();
    uint64_t *out = c->values + c->solid;
    for (size_t i = 0; i < c->chunk_count; i++) {
        const struct block_chunk *chunk = &c->chunks[i];
        if (i + AHEAD < c->chunk_count)
            __builtin_prefetch(chunk[AHEAD].at);
        columns->loops->grow(chunk->at, chunk->count, chunk->width, out);
        out += chunk->count;
    }
    c->fetched = 1;
    return 0;
}

static uint64_t value_of(const struct block_chunk *chunk)
{
    uint64_t value;
    memcpy(&value, chunk->at, sizeof(value));
    return value;
}

int block_column_is_same(const struct block_column *c, uint64_t *value)
{
    if (c->chunk_count == 0 || c->solid > 0)
        return 0;
    for (size_t i = 0; i < c->chunk_count; i++) {
        if (c->chunks[i].width != 0 || value_of(&c->chunks[i]) != value_of(&c->chunks[0]))
            return 0;
    }
    *value = value_of(&c->chunks[0]);
    return 1;
}

int block_column_may_be_wide(const struct block_column *c)
{
    if (c->chunk_count == 0 || c->solid > 0)
        return 1;
    for (size_t i = 0; i < c->chunk_count; i++) {
        const struct block_chunk *chunk = &c->chunks[i];
        if (chunk->width == 8 || (chunk->width == 0 && value_of(chunk) >> 32 != 0))
            return 1;
    }
    return 0;
}

void block_column_release(struct block_columns *columns, struct block_column *c)
{
    if (c->chunk_count == 0 || c->solid > 0 || !c->fetched ||
        array_fit(&columns->spares, sizeof(*columns->spares), &columns->spare_room,
                  columns->spare_count + 1) != 0)
        return;
    columns->spares[columns->spare_count++] = (struct block_spare){c->values, c->room};
    c->values = NULL;
    c->room = 0;
    c->fetched = 0;
}

void block_columns_clear(struct block_columns *c, size_t keep)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->count; i++)
        column_clear(c->list[i], keep);
    for (size_t i = 0; i < c->spare_count; i++) {
        if (c->spares[i].room * sizeof(*c->spares[i].values) > keep)
            free(c->spares[i].values);
        else
            c->spares[kept++] = c->spares[i];
    }
    c->spare_count = kept;
    c->layout_count = 0;
    c->layout_bytes.length = 0;
}

/* ---- single values ------------------------------------------------------- */

int block_columns_integer(struct block_columns *c, unsigned type, unsigned key, uint64_t value)
{
    struct block_column *t = block_columns_get(c, type, key, 0, BLOCK_INTEGER);
    if (t == NULL || block_columns_touch(c, t, 1) != 0)
        return -ENOMEM;
    t->values[t->count++] = value;
    return 0;
}

int block_column_put_text(struct block_column *t, const void *bytes, size_t length)
{
    if (block_bytes_fit(&t->text, t->text.length + 10 + length) != 0)
        return -ENOMEM;
    uint8_t *at = block_put(t->text.at + t->text.length, length);
    if (length > 0)
        memcpy(at, bytes, length);
    t->text.length = (size_t)(at - t->text.at) + length;
    t->count++;
    return 0;
}

int block_columns_text(struct block_columns *c, unsigned type, unsigned key, const void *bytes,
                       size_t length)
{
    struct block_column *t = block_columns_get(c, type, key, 0, BLOCK_TEXT);
    if (t == NULL || block_columns_touch(c, t, 1) != 0)
        return -ENOMEM;
    return block_column_put_text(t, bytes, length);
}

/* ---- layouts ------------------------------------------------------------- */

int block_layout_note(struct block_layout *l, uint8_t byte)
{
    if (l->length == sizeof(l->bytes))
        return 0;
    l->bytes[l->length++] = byte;
    return 1;
}

int block_columns_layout(struct block_columns *c, const uint8_t *layout, size_t size)
{
    for (unsigned i = 0; i < c->layout_count; i++) {
        unsigned number = (c->layout_last + i) % c->layout_count;
        const uint8_t *known = c->layout_bytes.at + c->layout_at[number];
        size_t length = c->layout_at[number + 1] - c->layout_at[number];
        if (length == size && memcmp(known, layout, length) == 0) {
            c->layout_last = number;
            return (int)number + 1;
        }
    }
    if (c->layout_count == BLOCK_LAYOUTS)
        return 0;
    if (block_bytes_fit(&c->layout_bytes, c->layout_bytes.length + size) != 0)
        return -ENOMEM;
    memcpy(c->layout_bytes.at + c->layout_bytes.length, layout, size);
    c->layout_at[c->layout_count] = c->layout_bytes.length;
    c->layout_bytes.length += size;
    c->layout_at[c->layout_count + 1] = c->layout_bytes.length;
    c->layout_last = c->layout_count++;
    return (int)c->layout_count;
}

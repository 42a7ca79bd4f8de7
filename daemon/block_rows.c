/* Rows of integers, from the columns of a block straight into their structs: nearly all that a recording
 * holds.
 *
 * Some rows are made at a time, so that they stay in the first cache until all of their columns stand. What is the same
 * in all rows of the block, more than half of what an agent tells, is not put in column by column: the first row is
 * copied. */
#include "daemon/block_rows.h"

#include "daemon/block_fill.h"

#include <errno.h>

#define SOME BLOCK_TAKEN_AT_ONCE

/* Rows of a field that are being read. */
struct taking {
    struct block_reader *r;
    const struct read_field *f;
    const struct wire_rows *table;
    uint8_t *rows;
    size_t count;
    struct {
        size_t offset; /* in the row */
        uint64_t value;
    } same[BLOCK_WIDTH];
    size_t same_count;
    unsigned differ[BLOCK_WIDTH]; /* columns that must be read row by row */
    size_t differ_count;
};

/* @return 0 when it must be seen by its bytes */
static int take_same(struct taking *t, struct read_column *c, const struct wire_column *wire)
{
    uint64_t value = c->negative ? block_unfold(c->same) : c->same;
    if (t->count > c->left_over || value > block_largest(c, wire->kind, wire->limit))
        return 0;
    c->left_over -= t->count;
    t->r->decoded_bytes += t->count * block_size_of_integer(value, c->negative);
    t->same[t->same_count].offset = wire->offset;
    t->same[t->same_count++].value = value;
    return 1;
}

/* @return 0 when it must be seen by its bytes */
static int begin_columns(struct taking *t)
{
    t->same_count = t->differ_count = 0;
    for (unsigned w = 0; w < t->f->width; w++) {
        struct read_column *c = t->r->row_columns[t->f->first + w];
        if (c->coding != BLOCK_PLAIN || c->shape != BLOCK_ALL_SAME)
            t->differ[t->differ_count++] = w;
        else if (!take_same(t, c, &t->table->columns[w]))
            return 0;
    }
    return 1;
}

/* Rows with the columns that are the same in all, and those of later versions, which the block does not have. */
static void lay_out(const struct taking *t, uint8_t *first, size_t count)
{
    const size_t size = t->table->size;
    if (t->same_count == 0 && t->f->width == t->table->count)
        return;
    for (size_t i = 0; i < t->same_count; i++)
        memcpy(first + t->same[i].offset, &t->same[i].value, sizeof(t->same[i].value));
    for (size_t w = t->f->width; w < t->table->count; w++)
        wire_set_default(t->table->columns[w].kind, first + t->table->columns[w].offset);
    for (size_t done = 1, some; done < count; done += some) { /* one, two, four, ... */
        some = count - done < done ? count - done : done;
        memcpy(first + done * size, first, some * size);
    }
}

/* @return 0 when one is above the most */
static int all_below(const struct block_slots *s, uint64_t most)
{
    const uint64_t *slot = s->first;
    int above = 0;
    if (s->all <= most)
        return 1;
    for (size_t i = 0; i < s->count; i++, slot += s->stride)
        above |= *slot > most;
    return !above;
}

/* @return 0 when it must be seen by its bytes */
static int take_column(struct taking *t, unsigned w, uint8_t *rows, size_t count)
{
    struct read_column *c = t->r->row_columns[t->f->first + w];
    const struct wire_column *wire = &t->table->columns[w];
    struct block_slots s = {
        .first = (uint64_t *)(void *)(rows + wire->offset),
        .stride = t->table->size / sizeof(uint64_t),
        .count = count,
    };
    int good = t->r->fill(c, &s) && all_below(&s, block_largest(c, wire->kind, wire->limit));
    t->r->decoded_bytes += s.bytes;
    return good;
}

static int take(struct taking *t)
{
    if (!begin_columns(t))
        return 0;
    for (size_t done = 0, some; done < t->count; done += some) {
        uint8_t *rows = t->rows + done * t->table->size;
        some = t->count - done < SOME ? t->count - done : SOME;
        lay_out(t, rows, some);
        for (size_t i = 0; i < t->differ_count; i++) {
            if (!take_column(t, t->differ[i], rows, some))
                return 0;
        }
    }
    return 1;
}

int block_rows_take(struct block_reader *r, struct wire_arena *arena, const struct read_field *f,
                    size_t count, void **out)
{
    struct taking t;
    t.r = r;
    t.f = f;
    t.table = f->wire->rows();
    t.count = count;
    t.rows = wire_arena_take(arena, count * t.table->size, 8);
    if (t.rows == NULL)
        return -ENOMEM;
    *out = t.rows;
    return take(&t) ? 0 : BLOCK_AS_BYTES;
}

/* Rows of integers, from the columns of a block straight into their structs: nearly all that a
 * recording holds.
 *
 * Some rows are made at a time: first their columns, side by side, which stay in the nearest
 * caches; then the rows are laid out of these, each line of the memory that they stand in once.
 * What is the same in all rows of the block, more than half of what an agent tells, stands in its
 * column from the first of them on. */
#include "daemon/storage/block/block_rows.h"

#include "daemon/storage/block/block_fill.h"

#include <errno.h>

#define SOME BLOCK_TAKEN_AT_ONCE

static uint64_t same_of(const struct read_column *c)
{
    return c->negative ? block_unfold(c->same) : c->same;
}

void block_rows_resolve(const struct block_reader *r, struct read_field *f,
                        const struct wire_rows *rows)
{
    f->differ_count = f->same_count = 0;
    f->same_bytes = 0;
    for (unsigned w = 0; w < f->width; w++) {
        const struct read_column *c = r->row_columns[f->first + w];
        const struct wire_column *wire = &rows->columns[w];
        if (c->coding != BLOCK_PLAIN || c->shape != BLOCK_ALL_SAME) {
            f->differ[f->differ_count++] = (uint8_t)w;
            continue;
        }
        f->same[f->same_count++] = (uint8_t)w;
        f->same_bytes += block_size_of_integer(same_of(c), c->negative);
        f->straight &= same_of(c) <= block_largest(c, wire->kind, wire->limit);
    }
}

/* Rows of a field that are being read. */
struct taking {
    struct block_reader *r;
    const struct read_field *f;
    const struct wire_rows *table;
    uint64_t *rows;
    size_t count;
    int keys; /* the first is of keys, which are made when their ends have been read: the next three
               */
};

/* A value in all rows that are made at a time. */
static void set_column(struct taking *t, unsigned w, uint64_t value)
{
    t->r->filler->repeat(value, t->count < SOME ? t->count : SOME, t->r->taken[w]);
}

/* @return 0 when it must be seen by its bytes */
static int begin_columns(struct taking *t)
{
    const struct read_field *f = t->f;
    for (unsigned i = 0; i < f->same_count; i++) {
        struct read_column *c = t->r->row_columns[f->first + f->same[i]];
        if (t->count > c->left_over)
            return 0;
        c->left_over -= t->count;
        set_column(t, f->same[i], same_of(c));
    }
    t->r->decoded_bytes += t->count * f->same_bytes;
    for (unsigned w = f->width; w < t->table->count; w++)
        set_column(t, w, 0); /* of later versions, which the block does not have */
    return 1;
}

/* @return 0 when one is above the most */
static int all_below(const uint64_t *values, size_t count, uint64_t any, uint64_t most)
{
    int above = 0;
    if (any <= most)
        return 1;
    for (size_t i = 0; i < count; i++)
        above |= values[i] > most;
    return !above;
}

/* @return 0 when it must be seen by its bytes */
static int take_column(struct taking *t, unsigned w, size_t count)
{
    struct read_column *c = t->r->row_columns[t->f->first + w];
    const struct wire_column *wire = &t->table->columns[w];
    struct block_filled filled;
    uint64_t *values = t->r->taken[w];
    if (!t->r->filler->fill(c, count, values, &filled))
        return 0;
    t->r->decoded_bytes += filled.bytes;
    return all_below(values, count, filled.any, block_largest(c, wire->kind, wire->limit));
}

static int is_end(const struct taking *t, unsigned w)
{
    return t->keys && w >= 1 && w <= 3;
}

/* The ends of keys, and these. @return as take_column() */
static int take_ends(struct taking *t, size_t count)
{
    for (size_t i = 0; i < t->f->differ_count; i++) {
        if (is_end(t, t->f->differ[i]) && !take_column(t, t->f->differ[i], count))
            return 0;
    }
    return block_make_keys_of(t->r, t->r->taken[1], count);
}

static int take(struct taking *t)
{
    const size_t width = t->table->count;
    struct read_column *const *columns = t->r->row_columns + t->f->first;
    t->keys = block_are_keys_next(t->r, columns, t->f->width);
    if ((!t->keys && !block_make_keys(t->r, columns[0], t->count)) || !begin_columns(t))
        return 0;
    for (size_t done = 0, some; done < t->count; done += some) {
        some = t->count - done < SOME ? t->count - done : SOME;
        if (t->keys && !take_ends(t, some))
            return 0;
        for (size_t i = 0; i < t->f->differ_count; i++) {
            if (!is_end(t, t->f->differ[i]) && !take_column(t, t->f->differ[i], some))
                return 0;
        }
        t->r->filler->lay(t->r->taken[0], width, some, t->rows + done * width);
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

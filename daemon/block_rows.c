/* Rows of integers, from the columns of a block straight into their structs: nearly all that a recording
 * holds.
 *
 * What an agent tells of a window is mostly what it told of the one before: the same ranks send messages of
 * the same sizes to the same ranks, and what they do not use is 0. So the rows of its last window stay where they
 * are, with the bytes that told each column. A column that is told by the same bytes, and by nothing to its left
 * that has changed, stands there already. */
#include "daemon/block_rows.h"

#include "daemon/analysis/array.h"
#include "daemon/block_fill.h"

#include <errno.h>
#include <stdlib.h>

#define SOME BLOCK_TAKEN_AT_ONCE
#define MOST_AGENTS 65536u              /* whose rows stay */
#define MOST_STAYING ((size_t)32 << 20) /* bytes of all these */
/* A column that changed so often in a row is one of times, most likely, and looked at seldom. */
#define MOST_CHANGES 4u
#define SELDOM 16u

/* A column of rows that stay. */
struct stay_column {
    uint32_t count;        /* rows in which its values stand; 0: none that are known */
    uint8_t coding, shape; /* enum block_coding, enum block_shape */
    uint8_t negative, is_default;
    uint8_t changes; /* how often it has changed in a row, see MOST_CHANGES */
    uint32_t size;   /* of its values as MessagePack */
    /* The bytes that told it; of differences to the value before, those behind the first. Where all numbers are the
     * same there are none, and that is it. */
    uint32_t from, length, room;
    uint64_t first, last, same;
};

/* Rows of a field. */
struct stay {
    uint8_t *rows;  /* owned */
    uint8_t *bytes; /* owned: of all columns */
    size_t room, bytes_room, bytes_used;
    size_t column_count;
    struct stay_column columns[];
};

struct agent {
    struct stay *fields[BLOCK_KEYS]; /* owned */
};

struct block_stays {
    struct agent **agents; /* owned, by number */
    uint32_t room;
    struct agent *agent; /* whose message is taken; NULL: nothing of it stays */
    size_t bytes;        /* of memory, all together */
};

/* ---- rows that stay ------------------------------------------------------- */

int block_stays_create(struct block_stays **out)
{
    *out = calloc(1, sizeof(**out));
    return *out == NULL ? -ENOMEM : 0;
}

static void destroy_stay(struct stay *stay)
{
    if (stay == NULL)
        return;
    free(stay->rows);
    free(stay->bytes);
    free(stay);
}

void block_stays_destroy(struct block_stays *s)
{
    if (s == NULL)
        return;
    for (uint32_t a = 0; a < s->room; a++) {
        for (size_t key = 0; s->agents[a] != NULL && key < BLOCK_KEYS; key++)
            destroy_stay(s->agents[a]->fields[key]);
        free(s->agents[a]);
    }
    free(s->agents);
    free(s);
}

/* May so much more memory be taken? Then it is counted. */
static int fits(struct block_stays *s, size_t bytes)
{
    if (bytes > MOST_STAYING - s->bytes)
        return 0;
    s->bytes += bytes;
    return 1;
}

/* @return 0: there is no memory within the bounds */
static int grow(struct block_stays *s, void *memory_pointer, size_t *room, size_t need)
{
    void *memory;
    if (need <= *room)
        return 1;
    size_t wanted = need + need / 4;
    if (!fits(s, wanted - *room))
        return 0;
    memcpy(&memory, memory_pointer, sizeof(memory));
    if ((memory = realloc(memory, wanted)) == NULL)
        return 0;
    memcpy(memory_pointer, &memory, sizeof(memory));
    *room = wanted;
    return 1;
}

void block_stays_begin(struct block_stays *s, uint64_t agent, unsigned type)
{
    s->agent = NULL;
    if (type != WIRE_TYPE_WINDOW || agent >= MOST_AGENTS ||
        array_fit_zero(&s->agents, sizeof(struct agent *), &s->room, agent + 1) != 0)
        return;
    if (s->agents[agent] == NULL && fits(s, sizeof(struct agent)))
        s->agents[agent] = calloc(1, sizeof(struct agent));
    s->agent = s->agents[agent];
}

/* Rows of a field, with room for so many. @return NULL: they do not stay */
static struct stay *stay_for(struct block_stays *s, unsigned key, const struct wire_rows *table,
                             size_t count)
{
    if (s->agent == NULL)
        return NULL;
    struct stay **stay = &s->agent->fields[key];
    size_t size = sizeof(**stay) + table->count * sizeof(struct stay_column);
    if (*stay == NULL) {
        if (!fits(s, size) || (*stay = calloc(1, size)) == NULL)
            return NULL;
        (*stay)->column_count = table->count;
    }
    return grow(s, &(*stay)->rows, &(*stay)->room, count * table->size) ? *stay : NULL;
}

/* ---- columns that stay ---------------------------------------------------- */

/* Where the bytes begin that a column is compared by. @param first  set to the first value of one that is told by
 * the value before, else 0 @return NULL: there is none */
static const uint8_t *compared_from(const struct read_column *c, const uint8_t *at, uint64_t before,
                                    uint64_t *first)
{
    uint64_t number = c->same;
    *first = 0;
    if (c->coding != BLOCK_DELTA)
        return at;
    if (c->shape != BLOCK_ALL_SAME && !block_take_number(&at, c->end, &number))
        return NULL;
    *first = before + block_unfold(number);
    return at;
}

/* Do the next values of a column stand there? Then they are taken.
 * @param same  columns to the left of which that holds */
static int stands(struct read_column *c, const struct stay *stay, size_t count, uint64_t same,
                  unsigned w)
{
    const struct stay_column *k = &stay->columns[w];
    unsigned reach = block_reach(c->coding);
    uint64_t lefts = ((UINT64_C(1) << reach) - 1) << (w - reach), first;
    if (k->count != count || k->is_default || k->coding != c->coding || k->shape != c->shape ||
        k->same != c->same || k->negative != c->negative || count > c->left_over ||
        (lefts & ~same) != 0)
        return 0;
    const uint8_t *at = compared_from(c, c->at, c->before, &first);
    if (at == NULL || first != k->first || k->length > (size_t)(c->end - at) ||
        memcmp(at, stay->bytes + k->from, k->length) != 0)
        return 0;
    c->at = at + k->length;
    c->before = c->coding == BLOCK_DELTA ? k->last : c->before;
    c->left_over -= count;
    return 1;
}

/* Room for the bytes of a column: in the place that it had, or behind all others. */
static int room_for(struct block_stays *s, struct stay *stay, struct stay_column *k, size_t length)
{
    if (length < k->room)
        return 1;
    size_t wanted = length + length / 4 + 1;
    if (!grow(s, &stay->bytes, &stay->bytes_room, stay->bytes_used + wanted))
        return 0;
    k->from = (uint32_t)stay->bytes_used;
    k->room = (uint32_t)wanted;
    stay->bytes_used += wanted;
    return 1;
}

/* A column was read anew. @param from, before  where it was before these values */
static void keep_column(struct block_stays *s, struct stay *stay, const struct read_column *c,
                        struct stay_column *k, const uint8_t *from, uint64_t before, size_t count)
{
    int seldom = k->changes >= MOST_CHANGES && k->changes % SELDOM != 0;
    k->count = 0;
    if (++k->changes == MOST_CHANGES + SELDOM)
        k->changes = MOST_CHANGES;
    /* Told by other messages, or ready; or noise, which is another each time. */
    if (c->coding >= BLOCK_KEYED || c->shape == BLOCK_SPLIT || seldom)
        return;
    from = compared_from(c, from, before, &k->first);
    if (from == NULL || !room_for(s, stay, k, (size_t)(c->at - from)))
        return;
    k->length = (uint32_t)(c->at - from);
    memcpy(stay->bytes + k->from, from, k->length);
    k->count = (uint32_t)count;
    k->coding = (uint8_t)c->coding;
    k->shape = (uint8_t)c->shape;
    k->same = c->same;
    k->negative = (uint8_t)c->negative;
    k->is_default = 0;
    k->last = c->before;
}

/* ---- rows ----------------------------------------------------------------- */

/* Rows of a field that are being read. */
struct taking {
    struct block_reader *r;
    const struct read_field *f;
    const struct wire_rows *table;
    struct stay *stay; /* NULL: they do not stay */
    uint8_t *rows;
    size_t count;
    struct todo {
        unsigned column;
        const uint8_t *from; /* where it was before */
        uint64_t before;
        size_t size; /* of its values */
    } todo[BLOCK_WIDTH];
    size_t todo_count;
};

/* Columns that stand there are done, and those that must be read are noted. */
static void begin_columns(struct taking *t)
{
    uint64_t same = 0;
    t->todo_count = 0;
    for (unsigned w = 0; w < t->f->width; w++) {
        struct read_column *c = t->r->row_columns[t->f->first + w];
        if (t->stay != NULL && stands(c, t->stay, t->count, same, w)) {
            same |= UINT64_C(1) << w;
            t->stay->columns[w].changes = 0;
            t->r->decoded_bytes += t->stay->columns[w].size;
        } else {
            t->todo[t->todo_count++] = (struct todo){w, c->at, c->before, 0};
        }
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
static int take_column(struct taking *t, struct todo *todo, size_t from, size_t count)
{
    struct read_column *c = t->r->row_columns[t->f->first + todo->column];
    const struct wire_column *wire = &t->table->columns[todo->column];
    struct block_slots s = {
        .first = (uint64_t *)(void *)(t->rows + from * t->table->size + wire->offset),
        .stride = t->table->size / sizeof(uint64_t),
        .count = count,
    };
    int good = t->r->fill(c, &s) && all_below(&s, block_largest(c, wire->kind, wire->limit));
    todo->size += s.bytes;
    return good;
}

static void end_columns(struct taking *t)
{
    for (size_t i = 0; i < t->todo_count; i++) {
        const struct todo *todo = &t->todo[i];
        t->r->decoded_bytes += todo->size;
        if (t->stay == NULL)
            continue;
        struct stay_column *k = &t->stay->columns[todo->column];
        k->size = (uint32_t)todo->size;
        keep_column(t->r->stays, t->stay, t->r->row_columns[t->f->first + todo->column], k,
                    todo->from, todo->before, t->count);
    }
    for (size_t w = t->f->width; w < t->table->count; w++) { /* columns of later versions */
        struct stay_column *k = t->stay == NULL ? NULL : &t->stay->columns[w];
        const struct wire_column *wire = &t->table->columns[w];
        if (k != NULL && k->is_default && k->count == t->count)
            continue;
        for (size_t i = 0; i < t->count; i++)
            wire_set_default(wire->kind, t->rows + i * t->table->size + wire->offset);
        if (k != NULL) {
            k->is_default = 1;
            k->count = (uint32_t)t->count;
        }
    }
}

static int take(struct taking *t)
{
    begin_columns(t);
    for (size_t done = 0, some; done < t->count; done += some) {
        some = t->count - done < SOME ? t->count - done : SOME;
        for (size_t i = 0; i < t->todo_count; i++) {
            if (!take_column(t, &t->todo[i], done, some))
                return 0;
        }
    }
    end_columns(t);
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
    t.stay = stay_for(r->stays, f->key, t.table, count);
    t.rows = t.stay != NULL ? t.stay->rows : wire_arena_take(arena, count * t.table->size, 8);
    if (t.rows == NULL)
        return -ENOMEM;
    if (take(&t)) {
        *out = t.rows;
        return 0;
    }
    for (size_t w = 0; t.stay != NULL && w < t.stay->column_count; w++)
        t.stay->columns[w].count = 0; /* some were overwritten */
    return BLOCK_AS_BYTES;
}

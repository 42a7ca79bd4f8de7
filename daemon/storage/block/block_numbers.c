/* The numbers that columns are told by (enum block_coding). They are made some hundred at a time,
 * and written before the next ones are made: what they are made of, and they themselves, never
 * leave the cache. */
#include "daemon/storage/block/block_coding.h"

#define AHEAD 4u /* chunks lie apart, so that the processor foretells none: it is told */

/* Values of some rows, one behind the other, and what their numbers are made of. */
struct run {
    const struct block_column *column;
    const struct block_near *near;
    size_t from, count; /* rows of the block, at least one */
    const uint64_t *values, *lefts[BLOCK_REACH];
    uint64_t before;           /* value in front of the first; 0: there is none */
    struct block_guess *sizes; /* of BLOCK_SIZES: by class */
};

/* Which of the columns to the left a coding needs side by side with its values: bits. */
static const uint8_t needed_lefts[BLOCK_CODINGS] = {
    [BLOCK_LEFT] = 1, [BLOCK_LEFT2] = 2, [BLOCK_LEFT3] = 4, [BLOCK_REST] = 5, [BLOCK_SIZES] = 3};

/* ---- numbers of a run ---------------------------------------------------- */

static void chain_numbers(const struct run *r, uint64_t *out)
{
    const uint64_t *begins = r->column->values, *lengths = r->near->right->values;
    for (size_t i = r->from; i < r->from + r->count; i++) {
        uint64_t begin = i > 0 ? begins[i - 1] : 0;
        uint64_t length = i > 0 ? lengths[i - 1] : 0;
        *out++ = begins[i] == begin ? 0 : 1 + block_fold(begins[i] - begin - length);
    }
}

static void chained_numbers(const struct run *r, uint64_t *out)
{
    const uint64_t *begins = r->near->left->values, *lengths = r->column->values;
    for (size_t i = r->from; i < r->from + r->count; i++) {
        uint64_t begin = i > 0 ? begins[i - 1] : 0;
        uint64_t length = i > 0 ? lengths[i - 1] : 0;
        *out++ = begins[i] == begin    ? block_fold(lengths[i] - length)
                 : r->column->negative ? block_fold(lengths[i])
                                       : lengths[i];
    }
}

static void twin_numbers(const struct run *r, uint64_t *out)
{
    const uint64_t *block = r->column->values;
    for (size_t i = r->from; i < r->from + r->count; i++) {
        uint32_t twin = r->near->twins[i];
        *out++ = block_fold(block[i] - (twin == BLOCK_NO_TWIN ? 0 : block[twin]));
    }
}

/* Of a class without a guess: no number of messages makes so many bytes. */
#define NO_GUESS UINT64_MAX

static size_t put_sizes(struct block_guess *guess, uint64_t bytes, uint64_t messages,
                        uint64_t size_class, uint64_t *out)
{
    out[0] = block_sizes(bytes, messages, size_class);
    if (out[0] == 0) {
        out[1] = bytes;
        return 2;
    }
    uint64_t mean = bytes / messages;
    if (mean * messages == bytes && mean >> 31 == 0)
        *guess = (struct block_guess){mean, out[0]};
    return 1;
}

/* Messages of a class mostly have the size of those of the class before: then there is nothing to
 * divide. */
static size_t sizes_numbers(const struct run *r, const struct block_loops *loops, uint64_t *out)
{
    const uint64_t *messages = r->lefts[0], *classes = r->lefts[1];
    size_t n = 0;
    /* As most are: a product of these is below 2^64, and no guess holds that should not. */
    int small = loops->look(r->values, r->count).all >> 48 == 0 &&
                loops->look(messages, r->count).all <= UINT32_MAX;
    for (size_t i = 0; i < r->count; i++) {
        uint64_t bytes = r->values[i];
        /* Of no class: the guess of the last one, which has no size, is left alone. */
        size_t size_class = classes[i] < SIZE_CLASSES ? classes[i] : SIZE_CLASSES;
        struct block_guess *guess = &r->sizes[size_class];
        if (small && messages[i] != 0 && bytes == messages[i] * guess->mean)
            out[n++] = guess->number;
        else
            n += put_sizes(guess, bytes, messages[i], classes[i], out + n);
    }
    return n;
}

static void forget_guesses(struct block_guess *sizes)
{
    for (size_t i = 0; i <= SIZE_CLASSES; i++)
        sizes[i] = (struct block_guess){NO_GUESS, 0};
}

/* Of differences to the value before. */
static struct block_common delta_numbers(const struct block_loops *loops, const struct run *r,
                                         uint64_t *out)
{
    struct block_common one = loops->fold(r->values, &r->before, 1, out);
    struct block_common rest = loops->fold(r->values + 1, r->values, r->count - 1, out + 1);
    if (r->count > 1)
        rest.differ |= out[0] ^ out[1];
    return (struct block_common){one.all | rest.all, rest.differ};
}

/* @param out  room for two each */
static struct block_numbers numbers_of(const struct block_loops *loops, const struct run *r,
                                       enum block_coding coding, uint64_t *out)
{
    struct block_numbers n = {out, r->count, {0, 0}};
    unsigned reach = block_reach(coding);
    const uint64_t *v = r->values, *l = reach > 0 ? r->lefts[reach - 1] : NULL;
    switch (coding) {
    case BLOCK_PLAIN:
        n.at = r->column->negative ? out : v;
        n.common =
            r->column->negative ? loops->fold_plain(v, n.count, out) : loops->look(v, n.count);
        return n;
    case BLOCK_DELTA:
        n.common = delta_numbers(loops, r, out);
        return n;
    case BLOCK_LEFT:
    case BLOCK_LEFT2:
    case BLOCK_LEFT3:
        n.common = loops->fold(v, l, n.count, out);
        return n;
    case BLOCK_REST:
        n.common = loops->fold_rest(v, l, r->lefts[0], n.count, out);
        return n;
    case BLOCK_SIZES:
        n.count = sizes_numbers(r, loops, out);
        break;
    case BLOCK_CHAIN:
        chain_numbers(r, out);
        break;
    case BLOCK_CHAINED:
        chained_numbers(r, out);
        break;
    default:
        twin_numbers(r, out);
    }
    n.common = loops->look(out, n.count);
    return n;
}

struct block_numbers block_numbers_between(struct block_coder *k, const struct block_column *c,
                                           const struct block_near *near, enum block_coding coding,
                                           size_t from, size_t end, uint64_t *out)
{
    struct run run = {.column = c,
                      .near = near,
                      .from = from,
                      .count = end - from,
                      .values = c->values + from,
                      .before = from > 0 ? c->values[from - 1] : 0,
                      .sizes = k->guesses};
    for (unsigned i = 0; i < near->count; i++)
        run.lefts[i] = near->lefts[i]->values + from;
    if (coding == BLOCK_SIZES)
        forget_guesses(k->guesses);
    return numbers_of(k->loops, &run, coding, out);
}

/* ---- a column, front to back --------------------------------------------- */

/* The next values. @param room  for them, where they do not stand side by side @return where they
 * are */
static const uint64_t *next_values(const struct block_loops *loops, struct block_view *v, size_t at,
                                   size_t count, uint64_t *room)
{
    const struct block_column *c = v->column;
    size_t n = 0;
    if (c->chunk_count == 0 || c->fetched)
        return c->values + at;
    for (; n < count && at + n < c->solid; n++)
        room[n] = c->values[at + n];
    while (n < count) {
        const struct block_chunk *chunk = &c->chunks[v->chunk];
        size_t some = chunk->count - v->within < count - n ? chunk->count - v->within : count - n;
        if (v->within == 0 && v->chunk + AHEAD < c->chunk_count)
            __builtin_prefetch(chunk[AHEAD].at);
        loops->grow(chunk->at + v->within * chunk->width, some, chunk->width, room + n);
        n += some;
        v->within += some;
        if (v->within == chunk->count) {
            v->chunk++;
            v->within = 0;
        }
    }
    return room;
}

int block_told_begin(struct block_told *t, struct block_coder *k, struct block_columns *columns,
                     struct block_column *c)
{
    t->coder = k;
    t->at = 0;
    t->before = 0;
    t->values = (struct block_view){.column = c};
    if (c->coding == BLOCK_HASHED)
        return 0;
    block_look_around(k, columns, c, &t->near);
    for (unsigned i = 0; i < t->near.count; i++)
        t->lefts[i] = (struct block_view){.column = t->near.lefts[i]};
    if (c->coding == BLOCK_SIZES)
        forget_guesses(k->guesses);
    /* Numbers of these are made of values anywhere in the column. */
    int is_whole =
        c->coding == BLOCK_TWIN || c->coding == BLOCK_CHAIN || c->coding == BLOCK_CHAINED;
    return is_whole ? block_fetch_near(columns, c, &t->near) : 0;
}

int block_told_next(struct block_told *t, struct block_numbers *out)
{
    struct block_coder *k = t->coder;
    const struct block_column *c = t->values.column;
    size_t count = c->count - t->at < BLOCK_AT_ONCE ? c->count - t->at : BLOCK_AT_ONCE;
    if (count == 0)
        return 0;
    if (c->coding == BLOCK_HASHED) { /* they were made to find that */
        *out =
            (struct block_numbers){k->sums + t->at, count, k->loops->look(k->sums + t->at, count)};
        t->at += count;
        return 1;
    }
    struct run run = {.column = c,
                      .near = &t->near,
                      .from = t->at,
                      .count = count,
                      .values = next_values(k->loops, &t->values, t->at, count, k->rooms[0]),
                      .before = t->before,
                      .sizes = k->guesses};
    for (unsigned i = 0; i < BLOCK_REACH; i++) {
        if (needed_lefts[c->coding] >> i & 1)
            run.lefts[i] = next_values(k->loops, &t->lefts[i], t->at, count, k->rooms[1 + i]);
    }
    *out = numbers_of(k->loops, &run, c->coding, k->numbers);
    t->before = run.values[count - 1];
    t->at += count;
    return 1;
}

#include "daemon/storage/block/block_coding.h"

#include "daemon/analysis/tables/array.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE 1024u     /* values that a coding is chosen by */
#define SLICES 8u        /* parts of the sample, from all of the block */
#define RECHOOSE 256u    /* blocks for which the choice stands */
#define RECHOOSE_FEW 32u /* when it was made by few values */
#define WORTH 0.97       /* a chain must take less than so much of what the columns take apart */

int block_coder_init(struct block_coder *k)
{
    k->loops = block_loops();
    k->trial = ZSTD_createCCtx();
    if (k->trial == NULL)
        return -ENOMEM;
    /* Small tables: they are cleared for each trial. */
    ZSTD_CCtx_setParameter(k->trial, ZSTD_c_compressionLevel, 1);
    ZSTD_CCtx_setParameter(k->trial, ZSTD_c_windowLog, 14);
    ZSTD_CCtx_setParameter(k->trial, ZSTD_c_hashLog, 10);
    ZSTD_CCtx_setParameter(k->trial, ZSTD_c_contentSizeFlag, 0);
    return 0;
}

void block_coder_finish(struct block_coder *k)
{
    ZSTD_freeCCtx(k->trial);
    free(k->twins);
    free(k->slots);
    free(k->sums);
}

/* ---- columns beside a column --------------------------------------------- */

struct block_column *block_integers_at(const struct block_columns *columns,
                                       const struct block_column *c, unsigned place)
{
    if (place == 0 || place > BLOCK_WIDTH)
        return NULL;
    for (int kind = BLOCK_REAL; kind <= BLOCK_TEXT; kind++) {
        const struct block_column *other =
            block_columns_find(columns, c->type, c->key, place, (enum block_kind)kind);
        if (other != NULL && other->count > 0)
            return NULL;
    }
    struct block_column *found = block_columns_find(columns, c->type, c->key, place, BLOCK_INTEGER);
    return found != NULL && found->count == c->count ? found : NULL;
}

void block_look_around(const struct block_coder *k, const struct block_columns *columns,
                       const struct block_column *c, struct block_near *out)
{
    *out = (struct block_near){0};
    if (c->place == 0 || block_integers_at(columns, c, c->place) != c)
        return;
    out->left = block_integers_at(columns, c, c->place - 1);
    out->right = block_integers_at(columns, c, c->place + 1);
    const struct block_column *keys = k->keys;
    int has_keys = keys != NULL && keys->type == c->type && keys->key == c->key &&
                   block_integers_at(columns, c, 1) == keys;
    unsigned most = c->place - 1;
    if (has_keys && keys->coding == BLOCK_HASHED && c->place <= 4) {
        out->is_end = 1;
        most = c->place - 2 < c->place ? c->place - 2 : 0;
    }
    if (has_keys && c != keys && !out->is_end)
        out->twins = k->twins;
    for (unsigned i = 1; i <= BLOCK_REACH && i <= most; i++) {
        struct block_column *left = block_integers_at(columns, c, c->place - i);
        if (left == NULL)
            return;
        out->lefts[out->count++] = left;
    }
}

int block_fetch_near(struct block_columns *columns, struct block_column *c,
                     const struct block_near *near)
{
    int code = block_column_fetch(columns, c);
    for (unsigned i = 0; code == 0 && i < near->count; i++)
        code = block_column_fetch(columns, near->lefts[i]);
    if (code == 0 && near->left != NULL)
        code = block_column_fetch(columns, near->left);
    if (code == 0 && near->right != NULL)
        code = block_column_fetch(columns, near->right);
    return code;
}

static int may_code(const struct block_column *c, const struct block_near *near,
                    enum block_coding coding)
{
    switch (coding) {
    case BLOCK_KEYED:
    case BLOCK_HASHED:
        return 0; /* chosen apart */
    case BLOCK_TWIN:
        return near->twins != NULL;
    case BLOCK_CHAIN:
        return !near->is_end && near->right != NULL && near->right->coding == BLOCK_CHAINED;
    case BLOCK_CHAINED:
        return !near->is_end && near->left != NULL && near->left->coding == BLOCK_CHAIN;
    case BLOCK_SIZES:
        return !near->is_end && near->count >= 2 && !c->negative;
    default:
        return block_reach(coding) <= near->count;
    }
}

uint8_t *block_coder_keys(const struct block_coder *k, const struct block_column *c, uint8_t *at)
{
    const uint64_t *keys = c->values;
    uint64_t before = 0;
    for (size_t i = 0, count = c->count; i < count; i++) {
        if (k->twins[i] == BLOCK_NO_TWIN) {
            uint64_t key = htole64(keys[i]);
            *at++ = 0;
            memcpy(at, &key, sizeof(key));
            at += sizeof(key);
        } else {
            at = block_put(at, 1 + block_fold(k->twins[i] - before));
            before = (uint64_t)k->twins[i] + 1;
        }
    }
    return at;
}

/* ---- choosing ------------------------------------------------------------ */

/* Numbers of a sample, which all codings of a column are tried with. */
struct sample {
    size_t from, count, slices; /* values in the block; in the sample, a multiple of slices */
    size_t all;
    uint64_t numbers[2 * SAMPLE];
    uint8_t bytes[2 * SAMPLE * 10 + 16], bits[SAMPLE * 8 + 16], packed[2 * SAMPLE * 10 + 1024];
};

static size_t packed_size(struct block_coder *k, struct sample *s, size_t length)
{
    size_t size = ZSTD_compress2(k->trial, s->packed, sizeof(s->packed), s->bytes, length);
    return ZSTD_isError(size) || size > length ? length : size;
}

/* Bytes that the sample takes in a coding, packed: repetition counts, too. */
static size_t cost_of(struct block_coder *k, struct sample *s, const struct block_column *c,
                      const struct block_near *near, enum block_coding coding,
                      enum block_shape *shape)
{
    size_t n = 0;
    for (size_t i = 0; i < s->slices; i++) {
        size_t begin = s->from + (s->all - s->count) * (2 * i + 1) / (2 * s->slices);
        size_t end = begin + s->count / s->slices;
        struct block_numbers some =
            block_numbers_between(k, c, near, coding, begin, end, s->numbers + n);
        if (some.at != s->numbers + n)
            memcpy(s->numbers + n, some.at, some.count * sizeof(*some.at));
        n += some.count;
    }
    struct block_common common = k->loops->look(s->numbers, n);
    *shape = BLOCK_BYTES_EACH;
    if (common.differ == 0)
        return 1;
    uint8_t *end = k->loops->put_bytes(s->numbers, n, common.all, s->bytes);
    size_t size = packed_size(k, s, (size_t)(end - s->bytes));
    if (common.all < 16 || common.all >> BLOCK_MOST_SPLIT || coding == BLOCK_SIZES)
        return size;
    struct block_bits end_bits = {.at = s->bits};
    k->loops->put_split(s->numbers, n, s->bytes, &end_bits);
    size_t bits = (size_t)(block_bits_end(&end_bits) - s->bits);
    size_t split = bits < size ? bits + packed_size(k, s, n) : size;
    *shape = split < size ? BLOCK_SPLIT : BLOCK_BYTES_EACH;
    return split < size ? split : size;
}

static void sample_of(const struct block_column *c, struct sample *s)
{
    s->from = 0;
    s->all = c->count;
    s->slices = s->all > SAMPLE ? SLICES : 1;
    s->count = s->all > SAMPLE ? SAMPLE : s->all;
}

static void choose(struct block_coder *k, struct block_column *c, const struct block_near *near,
                   struct sample *s)
{
    size_t least = SIZE_MAX;
    sample_of(c, s);
    for (int i = 0; i < BLOCK_CHAIN && least > 1; i++) {
        enum block_coding coding = (enum block_coding)i;
        enum block_shape shape;
        if (!may_code(c, near, coding))
            continue;
        size_t cost = cost_of(k, s, c, near, coding, &shape);
        if (cost < least) {
            least = cost;
            c->coding = coding;
            c->shape = shape;
        }
    }
    c->cost = least;
    c->chosen_for = s->count < SAMPLE / 4 ? RECHOOSE_FEW : RECHOOSE;
}

/* Would a column and the next one take less as a chain? @return 0 or -ENOMEM */
static int try_chain(struct block_coder *k, struct block_columns *columns, struct block_column *c,
                     struct sample *s)
{
    struct block_near near, right_near;
    block_look_around(k, columns, c, &near);
    if (near.right == NULL || near.is_end || c->coding > BLOCK_TWIN)
        return 0;
    struct block_column *right =
        block_columns_find(columns, c->type, c->key, c->place + 1, BLOCK_INTEGER);
    size_t apart = c->cost + right->cost;
    if (right->coding > BLOCK_TWIN || c->cost < 16 || apart < 64)
        return 0;
    block_look_around(k, columns, right, &right_near);
    if (block_fetch_near(columns, c, &near) != 0 ||
        block_fetch_near(columns, right, &right_near) != 0)
        return -ENOMEM;
    enum block_shape shapes[2];
    sample_of(c, s);
    size_t cost = cost_of(k, s, c, &near, BLOCK_CHAIN, &shapes[0]) +
                  cost_of(k, s, right, &right_near, BLOCK_CHAINED, &shapes[1]);
    if ((double)cost >= WORTH * (double)apart)
        return 0;
    c->coding = BLOCK_CHAIN;
    right->coding = BLOCK_CHAINED;
    c->shape = shapes[0];
    right->shape = shapes[1];
    return 0;
}

static int is_open(const struct block_coder *k, const struct block_columns *columns,
                   const struct block_column *c)
{
    struct block_near near;
    if (c->kind != BLOCK_INTEGER || c == k->keys || c->count == 0)
        return 0;
    block_look_around(k, columns, c, &near);
    return c->chosen_for == 0 || !may_code(c, &near, c->coding);
}

int block_coder_settle(struct block_coder *k, struct block_columns *columns)
{
    struct sample *s = NULL;
    struct block_near near;
    int code = block_settle_keys(k, columns);
    for (size_t i = 0; code == 0 && i < columns->count; i++) {
        struct block_column *c = columns->list[i];
        if (!is_open(k, columns, c))
            continue;
        if (s == NULL && (s = malloc(sizeof(*s))) == NULL)
            return -ENOMEM;
        block_look_around(k, columns, c, &near);
        c->fresh = 1;
        code = block_fetch_near(columns, c, &near);
        if (code == 0)
            choose(k, c, &near, s);
    }
    for (size_t i = 0; code == 0 && s != NULL && i < columns->count; i++) {
        if (columns->list[i]->fresh && columns->list[i]->coding != BLOCK_CHAINED)
            code = try_chain(k, columns, columns->list[i], s);
        columns->list[i]->fresh = 0;
    }
    free(s);
    /* What was told as a chain cannot be where one of the two was chosen anew. */
    for (size_t i = 0; code == 0 && i < columns->count; i++) {
        struct block_column *c = columns->list[i];
        if (is_open(k, columns, c)) {
            c->coding = BLOCK_PLAIN;
            c->shape = BLOCK_BYTES_EACH;
            c->chosen_for = 0;
        }
    }
    return code;
}

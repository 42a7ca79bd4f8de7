/* Columns of keys: found among all columns of a block, and rows that belong together by them. */
#include "daemon/analysis/tables/array.h"
#include "daemon/storage/block/block_coding.h"

#include <errno.h>
#include <string.h>

/* Can it be a column of keys? There is one in a block at most. @return 1, 0 or -ENOMEM */
static int may_key(struct block_columns *columns, struct block_column *c)
{
    size_t wide = 0, count = c->count;
    if (c->place != 1 || c->negative || count < 2 || count > BLOCK_MOST_KEYS ||
        block_integers_at(columns, c, 1) != c || !block_column_may_be_wide(c))
        return 0;
    if (block_column_fetch(columns, c) != 0)
        return -ENOMEM;
    for (size_t i = c->count - count; i < c->count; i++)
        wide += c->values[i] >> 40 != 0;
    return wide > count / 2;
}

/* Are they made of what stands beside them, so that most follow from the one before of the same
 * ranks?
 * @return 1, 0 or -ENOMEM */
static int take_hashed(struct block_coder *k, struct block_columns *columns, struct block_column *c)
{
    struct block_column *ends[3];
    size_t from = 0, count = c->count, likely = 0;
    size_t slots = (size_t)1 << BLOCK_SLOT_BITS;
    for (unsigned i = 0; i < 3; i++) {
        if ((ends[i] = block_integers_at(columns, c, i + 2)) == NULL)
            return 0;
        if (block_column_fetch(columns, ends[i]) != 0)
            return -ENOMEM;
    }
    if (array_fit(&k->twins, sizeof(*k->twins), &k->twin_room, count + 1) != 0 ||
        array_fit(&k->slots, sizeof(*k->slots), &k->slot_room, slots) != 0 ||
        array_fit(&k->sums, sizeof(*k->sums), &k->sum_room, 2 * count + 1) != 0)
        return -ENOMEM;
    memset(k->slots, 0, slots * sizeof(*k->slots));
    uint64_t *numbers = k->sums, *sums = k->sums + count, before = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t receive = ends[0]->values[from + i], source = ends[1]->values[from + i],
                       destination = ends[2]->values[from + i];
        uint32_t *slot = &k->slots[block_slot(receive, source, destination)], last = *slot;
        uint64_t sum =
            message_key_unmix(c->values[from + i]) - message_key_ranks(source, destination);
        numbers[i] = block_fold(sum - (last == 0 ? before : sums[last - 1] + 1));
        likely += numbers[i] >> 40 == 0;
        k->twins[i] = last == 0 ? BLOCK_NO_TWIN : last - 1;
        *slot = (uint32_t)i + 1;
        before = sums[i] = sum;
    }
    return likely > count / 4;
}

/* Find for each row the one before it with the same key, if that is no other row's.
 * @param pairs  set to how many there are @return 0 or -ENOMEM */
static int pair_keys(struct block_coder *k, const struct block_column *c, size_t *pairs)
{
    const uint32_t taken = UINT32_C(1) << 31;
    const uint64_t *keys = c->values;
    size_t count = c->count, slots = 16;
    while (slots < 2 * count)
        slots *= 2;
    if (array_fit(&k->twins, sizeof(*k->twins), &k->twin_room, count + 1) != 0 ||
        array_fit(&k->slots, sizeof(*k->slots), &k->slot_room, slots) != 0)
        return -ENOMEM;
    memset(k->slots, 0, slots * sizeof(*k->slots));
    for (size_t i = 0; i < count; i++) {
        uint64_t at = keys[i] * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (slots - 1);
        while (k->slots[at] != 0 && keys[(k->slots[at] & ~taken) - 1] != keys[i])
            at = (at + 1) & (slots - 1);
        int has_twin = k->slots[at] != 0 && !(k->slots[at] & taken);
        k->twins[i] = has_twin ? k->slots[at] - 1 : BLOCK_NO_TWIN;
        *pairs += (size_t)has_twin;
        k->slots[at] = has_twin ? k->slots[at] | taken : (uint32_t)i + 1;
    }
    return 0;
}

/* A column of keys: those that follow one another, or if one in eight comes twice. @return 0 or
 * -ENOMEM */
static int take_keys(struct block_coder *k, struct block_columns *columns, struct block_column *c)
{
    size_t pairs = 0;
    enum block_coding coding = BLOCK_HASHED;
    int hashed = take_hashed(k, columns, c);
    if (hashed < 0)
        return hashed;
    if (!hashed) {
        if (pair_keys(k, c, &pairs) != 0)
            return -ENOMEM;
        if (pairs < 1 + c->count / 8)
            return 0;
        coding = BLOCK_KEYED;
    }
    for (size_t i = 0; c->coding != coding && i < columns->count; i++) {
        struct block_column *other = columns->list[i];
        if (other->type == c->type && other->key == c->key)
            other->chosen_for = 0; /* they have other twins now */
    }
    c->coding = coding;
    k->keys = c;
    return 0;
}

int block_settle_keys(struct block_coder *k, struct block_columns *columns)
{
    size_t below = SIZE_MAX;
    int code = 0;
    k->keys = NULL;
    while (code == 0 && k->keys == NULL) {
        struct block_column *longest = NULL;
        for (size_t i = 0; i < columns->count; i++) {
            struct block_column *c = columns->list[i];
            size_t count = c->kind == BLOCK_INTEGER ? c->count : 0;
            if (count >= below || (longest != NULL && count <= longest->count))
                continue;
            int may = may_key(columns, c);
            if (may < 0)
                return may;
            if (may)
                longest = c;
            else
                block_column_release(columns, c);
        }
        if (longest == NULL)
            break;
        below = longest->count;
        code = take_keys(k, columns, longest);
    }
    for (size_t i = 0; i < columns->count; i++) {
        struct block_column *c = columns->list[i];
        if ((c->coding == BLOCK_HASHED || c->coding == BLOCK_KEYED) && c != k->keys)
            c->chosen_for = 0;
    }
    return code;
}

/* What ranks sent to each other within one communicator and code region, in bounded memory. */
#include "viewer/model/contexts.h"

#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void contexts_finish(struct contexts *c)
{
    key_table_finish(&c->keys);
    free(c->sums);
    memset(c, 0, sizeof *c);
}

void contexts_restart(struct contexts *c)
{
    if (c->sums)
        memset(c->sums, 0, (size_t)c->capacity * 2 * sizeof *c->sums);
    c->left_out = 0;
    c->version++;
}

int contexts_add(struct contexts *c, const struct context *row, uint64_t messages, uint64_t bytes)
{
    const struct key key = {(uint64_t)row->source << 32 | row->destination,
                            (uint64_t)row->comm << 32 | row->region};
    c->version++;
    if (c->keys.count >= CONTEXTS_MAXIMUM && key_table_find(&c->keys, key) == KEY_NONE) {
        c->left_out += messages;
        return 0;
    }
    uint32_t number = key_table_number_after(&c->keys, key, c->last);
    if (number == KEY_NONE ||
        array_fit_zero(&c->sums, 2 * sizeof *c->sums, &c->capacity, (uint64_t)number + 1) != 0)
        return -ENOMEM;
    c->last = number;
    c->sums[(size_t)number * 2] += messages;
    c->sums[(size_t)number * 2 + 1] += bytes;
    return 0;
}

struct context contexts_at(const struct contexts *c, uint32_t number)
{
    const struct key *key = &c->keys.keys[number];
    return (struct context){(uint32_t)(key->hi >> 32), (uint32_t)key->hi, (uint32_t)(key->lo >> 32),
                            (uint32_t)key->lo};
}

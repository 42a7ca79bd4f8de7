/* What ranks sent to each other within one communicator and code region, in bounded memory. */
#include "viewer/model/contexts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void contexts_finish(struct contexts *c)
{
    keymap_finish(&c->keys);
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

static int contexts_need_room(struct contexts *c, uint32_t number)
{
    if (number < c->capacity)
        return 0;
    size_t capacity = c->capacity ? (size_t)c->capacity * 2 : 256;
    uint64_t *sums = realloc(c->sums, capacity * 2 * sizeof *sums);
    if (!sums)
        return -ENOMEM;
    memset(sums + (size_t)c->capacity * 2, 0, (capacity - c->capacity) * 2 * sizeof *sums);
    c->sums = sums;
    c->capacity = (uint32_t)capacity;
    return 0;
}

int contexts_add(struct contexts *c, const struct context *row, uint64_t messages, uint64_t bytes)
{
    const struct keymap_key key = {(uint64_t)row->source << 32 | row->destination, row->comm,
                                   row->region};
    c->version++;
    if (c->keys.count >= CONTEXTS_MAXIMUM && keymap_find(&c->keys, key) == KEYMAP_NONE) {
        c->left_out += messages;
        return 0;
    }
    uint32_t number = keymap_add(&c->keys, key);
    if (number == KEYMAP_NONE || contexts_need_room(c, number) < 0)
        return -ENOMEM;
    c->sums[(size_t)number * 2] += messages;
    c->sums[(size_t)number * 2 + 1] += bytes;
    return 0;
}

struct context contexts_at(const struct contexts *c, uint32_t number)
{
    const struct keymap_key *key = &c->keys.keys[number];
    return (struct context){(uint32_t)(key->a >> 32), (uint32_t)key->a, (uint32_t)key->b,
                            (uint32_t)key->c};
}

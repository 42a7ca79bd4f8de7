/* Collectives and positions in communicators, as agents report them. */
#include "daemon/job/phases/collective_state.h"

#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAXIMUM_COMMS 65536u
#define COMM_LIMIT_REACHED UINT32_MAX /* number of a communicator: there are too many */
#define MAXIMUM_POSITIONS (1u << 22)

/* @return its number, COMM_LIMIT_REACHED, or a negative error */
static int64_t collective_find_comm(struct collective_table *t, const struct wire_comm_row *row)
{
    struct key key = {.hi = row->id};
    uint32_t known = t->comm_keys.count;
    uint32_t at = KEY_TABLE_EXTEND(&t->comm_keys, key, MAXIMUM_COMMS, t->comms, t->comm_capacity);
    if (at == KEY_NONE)
        return known == MAXIMUM_COMMS ? (int64_t)COMM_LIMIT_REACHED : -ENOMEM;
    if (at == known)
        t->comms[at] = (struct comm){.size = row->size, .is_inter = row->remote_size > 0};
    return at;
}

static int collective_add_member(struct collective_table *t, const struct wire_window *window,
                                 const struct wire_comm_member_row *row)
{
    int64_t number = collective_find_comm(t, &window->comms[row->comm]);
    if (number < 0 || number == COMM_LIMIT_REACHED)
        return number < 0 ? (int)number : 0;
    struct comm *c = &t->comms[number];
    if (c->ranks == NULL) {
        if (c->size > MAXIMUM_POSITIONS - t->positions)
            return 0;
        c->ranks = malloc(c->size * sizeof(*c->ranks));
        if (c->ranks == NULL)
            return -ENOMEM;
        memset(c->ranks, 0xff, c->size * sizeof(*c->ranks));
        c->positions = (uint32_t)c->size;
        t->positions += c->positions;
    }
    if (row->position < c->positions)
        c->ranks[row->position] = (uint32_t)row->rank;
    return 0;
}

static int64_t collective_find_or_add(struct collective_table *t, const struct wire_window *window,
                                      const struct wire_collective_row *row)
{
    int64_t comm = collective_find_comm(t, &window->comms[row->comm]);
    if (comm < 0 || comm == COMM_LIMIT_REACHED)
        return comm < 0 ? comm : COLLECTIVE_UNKNOWN;
    struct key key = {.hi = (uint64_t)comm,
                      .lo = row->call << 32 | (uint32_t)(int32_t)(row->root < 0 ? -1 : row->root)};
    uint32_t known = t->keys.count;
    uint32_t at = KEY_TABLE_EXTEND(&t->keys, key, MAXIMUM_COLLECTIVES, t->list, t->capacity);
    if (at == KEY_NONE)
        return known == MAXIMUM_COLLECTIVES ? (int64_t)COLLECTIVE_UNKNOWN : -ENOMEM;
    if (at == known)
        t->list[at] = (struct collective){(uint32_t)comm, (uint16_t)row->call, row->root};
    return at;
}

int collective_table_add(struct collective_table *t, const struct wire_window *window,
                         const uint32_t **numbers)
{
    if (ARRAY_FIT(t->numbers, t->numbers_capacity, window->collectives_count) != 0)
        return -ENOMEM;
    for (uint64_t i = 0; i < window->collectives_count; i++) {
        int64_t number = collective_find_or_add(t, window, &window->collectives[i]);
        if (number < 0)
            return (int)number;
        t->numbers[i] = (uint32_t)number;
    }
    for (uint64_t i = 0; i < window->comm_members_count; i++) {
        if (collective_add_member(t, window, &window->comm_members[i]) != 0)
            return -ENOMEM;
    }
    *numbers = t->numbers;
    return 0;
}

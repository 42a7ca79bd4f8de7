/* Cartesian communicators of a job: checks what ranks wrote, and lists it as rows of a message. */
#include "agent/node/carts.h"

#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* @return ranks of the grid; 0: it is not a valid grid */
static uint64_t carts_ranks_of(const struct cart_slot *slot, uint64_t maximum)
{
    uint64_t ranks = 1;
    if (slot->dimensions < 1 || slot->dimensions > CART_DIMENSIONS)
        return 0;
    for (uint32_t i = 0; i < slot->dimensions; i++) {
        if (slot->sizes[i] == 0 || slot->sizes[i] > maximum / ranks)
            return 0;
        ranks *= slot->sizes[i];
    }
    return ranks;
}

/* Ranks of a node create the same communicators in turn: the newest is compared first.
 * @return its position, or `count` */
static uint32_t carts_find(const struct carts *carts, uint64_t id)
{
    for (uint32_t i = carts->count; i-- > 0;) {
        if (carts->list[i].id == id)
            return i;
    }
    return carts->count;
}

static int carts_reserve(struct carts *carts)
{
    int rc = ARRAY_FIT_AT(carts->list, carts->capacity, carts->count);
    return rc != 0 ? rc : ARRAY_FIT_AT(carts->places, carts->place_capacity, carts->place_count);
}

int carts_add(struct carts *carts, const struct cart_slot *slot, uint64_t rank, uint64_t world)
{
    uint64_t ranks = carts_ranks_of(slot, world);
    if (ranks < 2 || slot->position >= ranks || slot->id == 0 || carts_reserve(carts) != 0)
        return 0;
    uint32_t at = carts_find(carts, slot->id);
    if (at == carts->count) {
        if (carts->count == CARTS_MAXIMUM)
            return 0;
        struct cart *cart = &carts->list[carts->count++];
        *cart = (struct cart){.id = slot->id,
                              .made = slot->made,
                              .dimensions = slot->dimensions,
                              .periods = slot->periods};
        memcpy(cart->sizes, slot->sizes, sizeof cart->sizes);
    }
    carts->places[carts->place_count++] = (struct cart_place){at, slot->position, rank};
    return 1;
}

static uint64_t carts_write_rows(struct carts *carts)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < carts->count; i++) {
        struct cart *cart = &carts->list[i];
        cart->row = count;
        for (uint32_t d = 0; cart->wanted && d < cart->dimensions; d++)
            carts->rows[count++] = (struct wire_cart_row){cart->id, cart->made, cart->sizes[d],
                                                          cart->periods >> d & 1};
        cart->wanted = 0;
    }
    return count;
}

int carts_list_rows(struct carts *carts, int all, struct wire_ranks *out)
{
    uint32_t first = all ? 0 : carts->announced, count = carts->place_count - first;
    out->carts_count = out->cart_members_count = 0;
    if (count == 0)
        return 0;
    if (ARRAY_RESIZE(carts->rows, (size_t)carts->count * CART_DIMENSIONS) != 0 ||
        ARRAY_RESIZE(carts->members, count) != 0)
        return -ENOMEM;
    for (uint32_t i = first; i < carts->place_count; i++)
        carts->list[carts->places[i].cart].wanted = 1;
    out->carts = carts->rows;
    out->carts_count = carts_write_rows(carts);
    for (uint32_t i = 0; i < count; i++) {
        const struct cart_place *place = &carts->places[first + i];
        carts->members[i] = (struct wire_cart_member_row){carts->list[place->cart].row, place->rank,
                                                          place->position};
    }
    out->cart_members = carts->members;
    out->cart_members_count = count;
    return 0;
}

void carts_mark_announced(struct carts *carts)
{
    carts->announced = carts->place_count;
}

void carts_finish(struct carts *carts)
{
    free(carts->list);
    free(carts->places);
    free(carts->rows);
    free(carts->members);
    *carts = (struct carts){.count = 0};
}

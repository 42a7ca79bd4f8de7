/* The process grid of a job, chosen among its Cartesian communicators: see network_grid.h. */
#include "daemon/topology/network_grid.h"

#include "daemon/analysis/tables/array.h"
#include "holter/error.h"
#include "holter/order.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- messages of agents -------------------------------------------------------- */

static int network_grid_report_fault(char *why, size_t capacity, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, capacity, format, arguments);
    va_end(arguments);
    return -HOLTER_ERANGE;
}

static uint64_t network_grid_world_of(const struct wire_ranks *m)
{
    return m->world < NETWORK_GRID_RANKS ? m->world : NETWORK_GRID_RANKS;
}

static uint64_t network_grid_end_of_cart(const struct wire_ranks *m, uint64_t first)
{
    uint64_t end = first + 1;
    while (end < m->carts_count && m->carts[end].id == m->carts[first].id)
        end++;
    return end;
}

/* @return its number of ranks; 0: it is not a grid of at most all ranks of the job */
static uint64_t network_grid_ranks_of(const struct wire_ranks *m, uint64_t first, uint64_t end)
{
    uint64_t ranks = 1, most = network_grid_world_of(m);
    if (end - first > NETWORK_GRID_DIMENSIONS)
        return 0;
    for (uint64_t i = first; i < end; i++) {
        if (m->carts[i].size == 0 || m->carts[i].size > most / ranks)
            return 0;
        ranks *= m->carts[i].size;
    }
    return ranks;
}

static int network_grid_check_member(const struct wire_ranks *m, uint64_t at, char *why,
                                     size_t capacity)
{
    const struct wire_cart_member_row *row = &m->cart_members[at];
    if (row->rank >= network_grid_world_of(m))
        return network_grid_report_fault(
            why, capacity, "cart_members[%" PRIu64 "].rank is %" PRIu64 " of %" PRIu64, at,
            row->rank, network_grid_world_of(m));
    if (row->cart >= m->carts_count ||
        (row->cart > 0 && m->carts[row->cart - 1].id == m->carts[row->cart].id))
        return network_grid_report_fault(
            why, capacity, "cart_members[%" PRIu64 "].cart is no communicator's first row", at);
    uint64_t ranks = network_grid_ranks_of(m, row->cart, network_grid_end_of_cart(m, row->cart));
    if (row->position >= ranks)
        return network_grid_report_fault(
            why, capacity, "cart_members[%" PRIu64 "].position is %" PRIu64 " of %" PRIu64, at,
            row->position, ranks);
    return 0;
}

int network_grid_check(const struct wire_ranks *m, char *why, size_t capacity)
{
    for (uint64_t first = 0, end; first < m->carts_count; first = end) {
        end = network_grid_end_of_cart(m, first);
        if (network_grid_ranks_of(m, first, end) < 2)
            return network_grid_report_fault(
                why, capacity,
                "carts[%" PRIu64 "] and what follows is no grid of 2 to %" PRIu64
                " ranks and 1 to %u dimensions",
                first, network_grid_world_of(m), NETWORK_GRID_DIMENSIONS);
    }
    for (uint64_t i = 0; i < m->cart_members_count; i++) {
        if (network_grid_check_member(m, i, why, capacity) != 0)
            return -HOLTER_ERANGE;
    }
    return 0;
}

/* ---- which is taken ------------------------------------------------------ */

static struct network_grid network_grid_of(const struct wire_ranks *m, uint64_t first)
{
    uint64_t end = network_grid_end_of_cart(m, first);
    struct network_grid grid = {.id = m->carts[first].id,
                                .made = m->carts[first].made,
                                .ranks = (uint32_t)network_grid_ranks_of(m, first, end),
                                .dimensions = (uint32_t)(end - first)};
    for (uint32_t d = 0; d < grid.dimensions; d++) {
        grid.sizes[d] = (uint32_t)m->carts[first + d].size;
        grid.wraps |= (uint32_t)(m->carts[first + d].wraps != 0) << d;
    }
    return grid;
}

static uint32_t network_grid_extents(const struct network_grid *grid)
{
    uint32_t count = 0;
    for (uint32_t d = 0; d < grid->dimensions; d++)
        count += grid->sizes[d] > 1;
    return count;
}

/* Negative: a is preferred to b. The order does not depend on which agent describes a communicator.
 */
static int network_grid_compare(const struct network_grid *a, const struct network_grid *b)
{
    int order = 32 * ORDER(b->ranks, a->ranks) +
                16 * ORDER(network_grid_extents(b), network_grid_extents(a)) +
                8 * ORDER(a->made, b->made) + 4 * ORDER(a->id, b->id) +
                2 * ORDER(a->dimensions, b->dimensions) + ORDER(a->wraps, b->wraps);
    return order != 0 ? order : memcmp(a->sizes, b->sizes, sizeof(a->sizes));
}

/* @return 2: another grid than before was chosen */
static int network_grid_choose_grid(struct network_grid *grid, const struct wire_ranks *m)
{
    int changed = 0;
    for (uint64_t first = 0; first < m->carts_count; first = network_grid_end_of_cart(m, first)) {
        struct network_grid found = network_grid_of(m, first);
        if (found.ranks > TOPOLOGY_MAX_VERTICES || network_grid_compare(&found, grid) >= 0)
            continue;
        found.place_of = grid->place_of;
        found.room = grid->room;
        *grid = found;
        changed = 2;
    }
    if (changed && grid->room > 0)
        memset(grid->place_of, 0, grid->room * sizeof(*grid->place_of));
    return changed;
}

int network_grid_update(struct network_grid *grid, const struct wire_ranks *m)
{
    int changed = network_grid_choose_grid(grid, m);
    uint64_t known = UINT64_MAX; /* rows of the chosen communicator */
    for (uint64_t i = 0; i < m->cart_members_count; i++) {
        const struct wire_cart_member_row *row = &m->cart_members[i];
        if (row->cart != known) {
            struct network_grid its = network_grid_of(m, row->cart);
            if (its.id != grid->id || network_grid_compare(&its, grid) != 0)
                continue;
            known = row->cart;
        }
        if (ARRAY_FIT_ZERO(grid->place_of, grid->room, row->rank + 1) != 0)
            return -ENOMEM;
        if (changed == 0 && grid->place_of[row->rank] != row->position + 1)
            changed = 1;
        grid->place_of[row->rank] = (uint32_t)row->position + 1;
    }
    return changed;
}

/* ---- what is asked ------------------------------------------------------- */

uint32_t network_grid_node(const struct network_grid *grid, uint64_t rank)
{
    return rank < grid->room && grid->place_of[rank] != 0 ? grid->place_of[rank] - 1
                                                          : TOPOLOGY_NONE;
}

void network_grid_spec(const struct network_grid *grid, struct topology_spec *out)
{
    *out = (struct topology_spec){
        .kind = TOPOLOGY_CARTESIAN, .name = "process grid", .dimension_count = grid->dimensions};
    for (uint32_t d = 0; d < grid->dimensions; d++)
        out->dimensions[d] = (struct topology_dimension){
            .name = {(char)('A' + d)},
            .connection = grid->wraps >> d & 1 ? TOPOLOGY_TORUS : TOPOLOGY_MESH,
            .size = grid->sizes[d],
            .step = d};
}

void network_grid_finish(struct network_grid *grid)
{
    free(grid->place_of);
    *grid = (struct network_grid){.id = 0};
}

/* Order of the vertices in the route matrix, for each kind of network. */
#include "viewer/views/routes/view_routes_parts.h"

#include "daemon/analysis/tables/array.h"
#include "viewer/layout/floor_plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Cartesian: digits by the order of dimensions ---- */

static void route_order_sort_by_dimensions(struct route_order *o, const struct topology *t,
                                           const struct ui *ui)
{
    const struct topology_spec *spec = topology_spec(t);
    const struct topology_grid *g = topology_grid(t);
    int chosen = ui->routes.dimensions == g->dimensions;
    uint32_t digit[TOPOLOGY_DIMENSIONS] = {0}, vertex = 0;
    o->levels = g->dimensions;
    o->tiers = topology_is_cray_xc(spec) && !chosen;
    for (uint32_t l = 0; l < o->levels; l++) {
        uint32_t d = o->dimension[l] = chosen ? ui->routes.order[l] : l;
        snprintf(o->names[l], sizeof o->names[l], "%s", spec->dimensions[d].name);
    }
    for (uint32_t row = 0, changed = 0; row < o->count; row++) {
        o->vertex[row] = vertex;
        o->starts[row] = (uint8_t)changed;
        for (uint32_t l = o->levels; l-- > 0;) {
            uint32_t d = o->dimension[l];
            changed = l;
            vertex += g->stride[d];
            if (++digit[l] < g->size[d])
                break;
            vertex -= digit[l] * g->stride[d];
            digit[l] = 0;
        }
    }
}

/* ---- dragonflies and fat trees ---- */

static void route_order_set_names(struct route_order *o, uint32_t levels, const char *const *words)
{
    o->levels = levels;
    for (uint32_t l = 0; l < levels; l++)
        snprintf(o->names[l], sizeof o->names[l], "%s", words[l]);
}

static void route_order_sort_by_group(struct route_order *o, const struct topology *t)
{
    const struct topology_dimension *d = topology_spec(t)->dimensions;
    const char *const words[] = {d[0].name, d[1].name, d[2].name};
    uint32_t row = 0, nodes = topology_nodes(t);
    route_order_set_names(o, 3, words);
    for (uint32_t router = 0; router < d[0].size * d[1].size; router++) {
        o->starts[row] = router % d[1].size != 0;
        o->vertex[row++] = nodes + router;
        for (uint32_t k = 0; k < d[2].size; k++) {
            o->starts[row] = 2;
            o->vertex[row++] = router * d[2].size + k;
        }
    }
}

/* Nodes by their digits, then the switches that several nodes share. */
static void route_order_sort_by_leaves(struct route_order *o, const struct topology *t)
{
    const struct topology_spec *spec = topology_spec(t);
    uint32_t nodes = topology_nodes(t), height = spec->dimension_count;
    o->levels = height;
    for (uint32_t l = 0; l < height; l++)
        snprintf(o->names[l], sizeof o->names[l], "%s", topology_level_name(t, height - 1 - l));
    for (uint32_t v = 0; v < o->count; v++) {
        uint32_t level = height - 1, below = 1;
        for (uint32_t l = 0;
             v < nodes && l + 1 < height && v % (below * spec->dimensions[l].size) == 0; l++) {
            below *= spec->dimensions[l].size;
            level = height - 2 - l;
        }
        o->vertex[v] = v;
        o->starts[v] = (uint8_t)(v == 0 || v == nodes ? 0 : level);
    }
}

/* ---- trees: depth first from the last vertex, which is a switch if there is one ---- */

static int route_order_sort_by_depth(struct route_order *o, const struct topology *t)
{
    static const char *const words[] = {"root",    "below 1", "below 2", "below 3",
                                        "below 4", "below 5", "below 6", "below 7"};
    uint32_t n = o->count, row = 0, deepest = 0, *memory = malloc((size_t)n * 4 * sizeof *memory);
    if (!memory)
        return -ENOMEM;
    /* by vertex: next sibling, first child; TOPOLOGY_NONE: there is none */
    uint32_t *above = memory, *depth = above + n, *next = depth + n, *child = next + n;
    const uint32_t seen = floor_plan_descend(t, o->vertex, above, depth);
    memset(next, 0xff, 2 * (size_t)n * sizeof *next);
    for (uint32_t i = seen; i-- > 1;) { /* each one before those that were found before it */
        const uint32_t v = o->vertex[i];
        next[v] = child[above[v]];
        child[above[v]] = v;
    }
    for (uint32_t v = n - 1;;) {
        const uint32_t level = depth[v] < 7 ? depth[v] : 7;
        o->starts[row] = (uint8_t)level;
        o->vertex[row++] = v;
        deepest = level > deepest ? level : deepest;
        uint32_t at = v;
        v = child[v];
        while (v == TOPOLOGY_NONE && at != n - 1) {
            v = next[at];
            at = above[at];
        }
        if (v == TOPOLOGY_NONE || row == n)
            break;
    }
    for (uint32_t v = 0; v < n && row < n;
         v++) /* vertices not reached through a switch with very many links */
        if (above[v] == TOPOLOGY_NONE) {
            o->starts[row] = 0;
            o->vertex[row++] = v;
        }
    route_order_set_names(o, deepest + 1, words);
    free(memory);
    return 0;
}

static void route_order_sort_by_number(struct route_order *o)
{
    static const char *const words[] = {"vertex"};
    route_order_set_names(o, 1, words);
    for (uint32_t v = 0; v < o->count; v++) {
        o->vertex[v] = v;
        o->starts[v] = 0;
    }
}

/* ---- public functions ---- */

static uint64_t route_order_key_of(const struct model *m, const struct ui *ui)
{
    uint64_t key = m->network.version * 31 + ui->routes.dimensions;
    for (uint32_t d = 0; d < ui->routes.dimensions; d++)
        key = key * 13 + ui->routes.order[d];
    return key | UINT64_C(1) << 63;
}

static int route_order_reserve(struct route_order *o, uint32_t count)
{
    const size_t capacity = (size_t)count + 1;
    if (ARRAY_RESIZE(o->vertex, capacity) != 0 || ARRAY_RESIZE(o->row, capacity) != 0)
        return -ENOMEM;
    return array_resize(&o->starts, capacity);
}

int route_order_update(struct route_order *o, const struct model *m, const struct ui *ui)
{
    const struct topology *t = m->network.topology;
    uint64_t key = route_order_key_of(m, ui);
    int error = 0;
    if (o->key == key)
        return 0;
    o->key = 0;
    if (route_order_reserve(o, topology_vertices(t)) < 0)
        return -ENOMEM;
    o->count = topology_vertices(t);
    o->tiers = 0;
    switch (topology_spec(t)->kind) {
    case TOPOLOGY_CARTESIAN:
        route_order_sort_by_dimensions(o, t, ui);
        break;
    case TOPOLOGY_DRAGONFLY:
        route_order_sort_by_group(o, t);
        break;
    case TOPOLOGY_FAT_TREE:
        route_order_sort_by_leaves(o, t);
        break;
    case TOPOLOGY_TREE:
        error = route_order_sort_by_depth(o, t);
        break;
    default:
        route_order_sort_by_number(o);
        break;
    }
    if (error < 0)
        return error;
    for (uint32_t r = 0; r < o->count; r++)
        o->row[o->vertex[r]] = r;
    o->key = key;
    return 0;
}

void route_order_finish(struct route_order *o)
{
    free(o->vertex);
    free(o->row);
    free(o->starts);
    *o = (struct route_order){0};
}

char *route_order_label(const struct route_order *o, const struct topology *t, int level,
                        uint32_t row, char *out, size_t capacity)
{
    const struct topology_grid *g = topology_grid(t);
    uint32_t v = o->vertex[row], d = o->dimension[level], at[TOPOLOGY_DIMENSIONS];
    if (g)
        snprintf(out, capacity, "%u", v / g->stride[d] % g->size[d]);
    else if (topology_spec(t)->kind == TOPOLOGY_DRAGONFLY && v < topology_nodes(t) &&
             topology_coordinates(t, v, at) > (uint32_t)level)
        snprintf(out, capacity, "%u", at[level]);
    else if (topology_spec(t)->kind == TOPOLOGY_DRAGONFLY && level < 2)
        snprintf(out, capacity, "%u",
                 level ? (v - topology_nodes(t)) % topology_spec(t)->dimensions[1].size
                       : (v - topology_nodes(t)) / topology_spec(t)->dimensions[1].size);
    else
        topology_vertex_name(t, v, out, capacity);
    return out;
}

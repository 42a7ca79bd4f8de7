/* Aggregation of the route matrix to cells at one resolution. */
#include "viewer/views/routes/view_routes_parts.h"

#include "daemon/analysis/tables/array.h"
#include "holter/order.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int route_layer_compare_by_cells(const void *left, const void *right)
{
    const struct route_hop *a = left, *b = right;
    return 2 * ORDER(a->from, b->from) + ORDER(a->to, b->to);
}

/* Sort the hops and merge those between the same cells. @return number that remains */
static uint32_t route_layer_gather(struct route_hop *hops, uint32_t count)
{
    uint32_t kept = 0;
    qsort(hops, count, sizeof *hops, route_layer_compare_by_cells);
    for (uint32_t i = 0; i < count; i++) {
        if (!kept || route_layer_compare_by_cells(&hops[kept - 1], &hops[i])) {
            hops[kept++] = hops[i];
            continue;
        }
        hops[kept - 1].mark |= hops[i].mark;
        hops[kept - 1].load = fmax(hops[kept - 1].load, hops[i].load);
        hops[kept - 1].real = fmax(hops[kept - 1].real, hops[i].real);
    }
    return kept;
}

static int route_layer_find_pairs(const struct stage *s, const struct routes_drawing *d,
                                  struct route_layer *l)
{
    const struct topology *t = s->model->network.topology;
    uint32_t links = topology_links(t), from, to, count = 0;
    if (ARRAY_FIT_ZERO(l->pairs, l->pair_capacity, links + 1u) != 0)
        return -ENOMEM;
    for (uint32_t k = 0; k < links; k++) {
        if (!topology_link(t, k, &from, &to))
            continue;
        l->pairs[count++] =
            (struct route_hop){l->cells.cell[d->order.row[from]], l->cells.cell[d->order.row[to]],
                               ROUTE_ADJACENT, 0, 0};
    }
    l->pair_count = route_layer_gather(l->pairs, count);
    return 0;
}

static int route_layer_find_hops(const struct routes_drawing *d, struct route_layer *l)
{
    const struct route_set *set = &d->set;
    uint32_t count = 0;
    if (ARRAY_FIT_ZERO(l->hops, l->hop_capacity, set->count + 1u) != 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < set->count; i++) {
        struct route_hop hop = set->hops[i];
        hop.from = l->cells.cell[d->order.row[hop.from]];
        hop.to = l->cells.cell[d->order.row[hop.to]];
        if (hop.from != hop.to)
            l->hops[count++] = hop;
    }
    l->hop_count = route_layer_gather(l->hops, count);
    if (array_fit_zero(&l->marks, 1, &l->mark_capacity, l->cells.count) != 0)
        return -ENOMEM;
    memset(l->marks, 0, l->cells.count);
    for (uint32_t v = 0; v < set->vertex_count && v < d->order.count; v++)
        l->marks[l->cells.cell[d->order.row[v]]] |= set->marks[v];
    return 0;
}

int route_layer_update(struct stage *s, struct routes_drawing *d, struct route_layer *l,
                       const struct route_window *w)
{
    /* a cell covers at least a pixel of the screen */
    double least = w->extent / fmax(w->box.w * s->brush.scene->scale, 1);
    uint64_t axis = d->axis_version * 2 + 1;
    if (adjacency_reduce(&l->cells, &d->axis, d->order.starts, d->order.levels, least) < 0)
        return -ENOMEM;
    uint64_t resolution = (uint64_t)l->cells.level << 32 | l->cells.group;
    uint64_t pairs = axis * UINT64_C(0x9e3779b97f4a7c15) ^ resolution;
    if (l->pair_key != pairs) {
        l->pair_key = 0;
        l->key = 0;
        if (route_layer_find_pairs(s, d, l) < 0)
            return -ENOMEM;
        l->pair_key = pairs;
    }
    uint64_t key = (pairs ^ d->set.version) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    if (l->key != key) {
        l->key = 0;
        l->version++;
        if (route_layer_find_hops(d, l) < 0)
            return -ENOMEM;
        l->key = key;
    }
    return 0;
}

void route_layer_finish(struct route_layer *l)
{
    adjacency_cells_finish(&l->cells);
    free(l->pairs);
    free(l->hops);
    free(l->marks);
    free(l->picture.image.pixels);
    *l = (struct route_layer){0};
}

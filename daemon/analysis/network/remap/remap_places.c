/* The seats of a remapping problem and their distances: see remap_places.h. */
#include "daemon/analysis/network/remap/remap_places.h"

#include "holter/error.h"
#include "holter/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- slots and spots ------------------------------------------------------------ */

struct seat_entry {
    uint32_t spot, vertex, process; /* spot: key of its spot */
};

ORDER_FUNCTION(remap_places_compare_seats, struct seat_entry,
               4 * ORDER(a->spot, b->spot) + 2 * ORDER(a->vertex, b->vertex) +
                   ORDER(a->process, b->process))

static int remap_places_make_slots(struct remap_places *places, const struct remap_problem *problem,
                                   uint32_t *slots)
{
    const uint32_t n = problem->processes;
    struct seat_entry *all = malloc(((size_t)n + 1) * sizeof(*all));
    ARENA_TAKE(&places->memory, places->vertex, (size_t)n + 1);
    ARENA_TAKE(&places->memory, places->spot, (size_t)n + 1);
    ARENA_TAKE(&places->memory, places->first, (size_t)n + 2);
    if (all == NULL || places->memory.failed) {
        free(all);
        return -ENOMEM;
    }
    for (uint32_t p = 0; p < n; p++) {
        const uint32_t v = problem->seats[p];
        const bool grouped = places->inter_node && problem->nodes != NULL;
        all[p] = (struct seat_entry){grouped ? problem->nodes[v] : v, v, p};
    }
    qsort(all, n, sizeof(*all), remap_places_compare_seats);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || all[i].spot != all[i - 1].spot)
            places->first[places->spots++] = i;
        places->vertex[i] = all[i].vertex;
        places->spot[i] = places->spots - 1;
        slots[all[i].process] = i;
    }
    places->first[places->spots] = n;
    places->slots = n;
    free(all);
    return 0;
}

/* ---- distances ------------------------------------------------------------------ */

static void remap_places_add_dimension(struct remap_places *places,
                                       enum topology_connection connection, uint32_t size,
                                       uint32_t scale)
{
    places->dimensions[places->dimension_count++] =
        (struct remap_dimension){connection, size, places->width, scale, NULL};
    places->width += size;
}

static bool remap_places_set_coordinates(struct remap_places *places)
{
    const uint32_t count = places->dimension_count;
    ARENA_TAKE(&places->memory, places->coordinates, ((size_t)places->spots + 1) * count);
    return places->coordinates != NULL;
}

static int remap_places_cartesian(struct remap_places *places, const struct topology_spec *spec)
{
    for (uint32_t d = 0; d < spec->dimension_count; d++)
        remap_places_add_dimension(places, spec->dimensions[d].connection, spec->dimensions[d].size,
                                   1);
    if (!remap_places_set_coordinates(places))
        return -ENOMEM;
    for (uint32_t s = 0; s < places->spots; s++) {
        uint32_t at[TOPOLOGY_DIMENSIONS];
        topology_coordinates(places->topology, places->vertex[places->first[s]], at);
        memcpy(places->coordinates + (size_t)s * spec->dimension_count, at,
               spec->dimension_count * sizeof(*at));
    }
    return 0;
}

/* The distance of two nodes is twice the number of levels on which they hang below different
 * switches, where the nodes themselves are the lowest level. */
static int remap_places_add_fat_tree(struct remap_places *places, const struct topology_spec *spec)
{
    uint32_t below[TOPOLOGY_DIMENSIONS], product = 1;
    for (uint32_t d = 0; d < spec->dimension_count; d++) {
        below[d] = product;
        remap_places_add_dimension(places, TOPOLOGY_ALL,
                                   (topology_nodes(places->topology) + product - 1) / product, 2);
        product *= spec->dimensions[d].size;
    }
    if (!remap_places_set_coordinates(places))
        return -ENOMEM;
    for (uint32_t s = 0; s < places->spots; s++)
        for (uint32_t d = 0; d < spec->dimension_count; d++)
            places->coordinates[(size_t)s * spec->dimension_count + d] =
                places->vertex[places->first[s]] / below[d];
    return 0;
}

static bool remap_places_all_are_nodes(const struct remap_places *places)
{
    for (uint32_t i = 0; i < places->slots; i++)
        if (places->vertex[i] >= topology_nodes(places->topology))
            return false;
    return true;
}

static int remap_places_set_inter_node(struct remap_places *places)
{
    remap_places_add_dimension(places, TOPOLOGY_ALL, places->spots, 1);
    if (!remap_places_set_coordinates(places))
        return -ENOMEM;
    for (uint32_t s = 0; s < places->spots; s++)
        places->coordinates[s] = s;
    return 0;
}

static uint32_t remap_places_round_trip(const struct remap_places *places, uint32_t a, uint32_t b)
{
    const uint32_t u = places->vertex[places->first[a]], v = places->vertex[places->first[b]];
    const uint32_t there = topology_distance(places->topology, u, v);
    const uint32_t back = topology_distance(places->topology, v, u);
    if (there == TOPOLOGY_NONE || back == TOPOLOGY_NONE)
        return TOPOLOGY_NONE;
    return there > 32767 || back > 32767 ? 65534 : there + back;
}

double remap_places_ask(const struct remap_places *places, uint32_t a, uint32_t b)
{
    if (places->table != NULL)
        return 0.5 * places->table[(size_t)a * places->spots + b];
    const uint32_t both = remap_places_round_trip(places, a, b);
    return 0.5 * (both == TOPOLOGY_NONE ? 65535 : both);
}

static int remap_places_fill_table(struct remap_places *places)
{
    const uint32_t m = places->spots;
    if (m > REMAP_MAX_TABLE)
        return 0;
    ARENA_TAKE(&places->memory, places->table, (size_t)m * m);
    if (places->table == NULL)
        return -ENOMEM;
    for (uint32_t a = 0; a < m; a++)
        for (uint32_t b = 0; b <= a; b++) {
            const uint32_t both = a == b ? 0 : remap_places_round_trip(places, a, b);
            if (both == TOPOLOGY_NONE)
                return -HOLTER_EUSAGE;
            places->table[(size_t)a * m + b] = places->table[(size_t)b * m + a] = (uint16_t)both;
        }
    return 0;
}

/* Tabulate the distances along each dimension that is not too wide. */
static int remap_places_fill_steps(struct remap_places *places)
{
    size_t capacity = 0;
    if (places->width > REMAP_MAX_WIDTH)
        return 0;
    for (uint32_t d = 0; d < places->dimension_count; d++)
        capacity += (size_t)places->dimensions[d].size * places->dimensions[d].size;
    ARENA_TAKE(&places->memory, places->steps, capacity + 1);
    if (places->steps == NULL)
        return -ENOMEM;
    double *step = places->steps;
    for (uint32_t d = 0; d < places->dimension_count; d++) {
        places->dimensions[d].step = step;
        for (uint32_t a = 0; a < places->dimensions[d].size; a++)
            for (uint32_t b = 0; b < places->dimensions[d].size; b++)
                *step++ = remap_apart(&places->dimensions[d], a, b);
    }
    return 0;
}

static int remap_places_measure(struct remap_places *places)
{
    const struct topology_spec *spec = topology_spec(places->topology);
    int rc;
    if (places->inter_node)
        rc = remap_places_set_inter_node(places);
    else if (spec->route_count == 0 && spec->kind == TOPOLOGY_CARTESIAN)
        rc = remap_places_cartesian(places, spec);
    else if (spec->route_count == 0 && spec->kind == TOPOLOGY_FAT_TREE &&
             remap_places_all_are_nodes(places))
        rc = remap_places_add_fat_tree(places, spec);
    else
        rc = remap_places_fill_table(places);
    return rc != 0 ? rc : remap_places_fill_steps(places);
}

/* ---- neighbours ----------------------------------------------------------------- */

struct near_list {
    uint32_t *out; /* of all spots */
    size_t capacity;
    uint32_t total, begin; /* the neighbours of the present spot begin here */
};

static void near_list_add(struct near_list *list, uint32_t spot)
{
    if (list->total - list->begin >= REMAP_MOST_NEAR)
        return;
    for (uint32_t i = list->begin; i < list->total; i++)
        if (list->out[i] == spot)
            return;
    list->out[list->total++] = spot;
}

/* Neighbours at one step along every dimension. */
static void near_list_add_cartesian(const struct remap_places *places, const uint32_t *spot_of,
                                    uint32_t spot, struct near_list *list)
{
    uint32_t at[TOPOLOGY_DIMENSIONS];
    for (uint32_t d = 0; d < places->dimension_count; d++) {
        const struct remap_dimension *dimension = &places->dimensions[d];
        const uint32_t size = dimension->size;
        const bool all = dimension->connection == TOPOLOGY_ALL;
        const uint32_t most = all && size > 33 ? 33 : size;
        memcpy(at, remap_at(places, spot), places->dimension_count * sizeof(*at));
        const uint32_t mine = at[d];
        for (uint32_t i = 1; i < most; i++) {
            if (!all && i > 1 && i < size - 1)
                continue; /* a longer dimension has only one neighbour up and one down */
            at[d] = (mine + i) % size;
            if (remap_apart(dimension, mine, at[d]) != dimension->scale)
                continue; /* the step would leave the mesh */
            const uint32_t vertex = topology_at(places->topology, at);
            if (vertex != TOPOLOGY_NONE && spot_of[vertex] != TOPOLOGY_NONE)
                near_list_add(list, spot_of[vertex]);
        }
    }
}

/* The nearest spots: of all spots, or of those with near numbers where there are many. */
static void near_list_add_nearest(const struct remap_places *places, uint32_t spot,
                                  struct near_list *list)
{
    const uint32_t m = places->spots;
    const uint32_t look = m <= 4096 ? m : 65;
    uint32_t wanted = list->begin + 12;
    double last = -1;
    while (list->total < wanted) {
        double next = 1e9;
        for (uint32_t i = 1; i < look; i++) {
            const uint32_t other = (spot + (i & 1 ? (i + 1) / 2 : m - i / 2)) % m;
            const double d = other == spot ? 1e9 : remap_distance(places, spot, other);
            if (d > last && d < next)
                next = d;
        }
        if (next >= 1e9)
            break;
        for (uint32_t i = 1; i < look && list->total < wanted + 4; i++) {
            const uint32_t other = (spot + (i & 1 ? (i + 1) / 2 : m - i / 2)) % m;
            if (other != spot && remap_distance(places, spot, other) == next)
                near_list_add(list, other);
        }
        last = next;
        wanted = list->begin + 6;
    }
}

static void near_list_add_spot(struct remap_places *places, const uint32_t *spot_of, uint32_t spot,
                               struct near_list *list)
{
    const bool several = places->first[spot + 1] - places->first[spot] > 1;
    list->begin = list->total;
    places->near_first[spot] = list->begin;
    if (several)
        near_list_add(list, spot);
    if (places->inter_node) {
        if (!several)
            near_list_add(list, (spot + 1) % places->spots);
        return;
    }
    if (spot_of != NULL)
        near_list_add_cartesian(places, spot_of, spot, list);
    if (list->total - list->begin < 3u + several)
        near_list_add_nearest(places, spot, list);
    if (list->total == list->begin)
        near_list_add(list, (spot + 1) % places->spots);
}

static int remap_places_find_near(struct remap_places *places)
{
    const uint32_t m = places->spots, vertices = topology_vertices(places->topology);
    const bool cartesian = !places->inter_node && places->dimension_count > 0 &&
                           topology_spec(places->topology)->kind == TOPOLOGY_CARTESIAN;
    struct near_list list = {0};
    uint32_t *spot_of = malloc(((size_t)vertices + 1) * sizeof(*spot_of));
    ARENA_TAKE(&places->memory, places->near_first, (size_t)m + 1);
    ARENA_TAKE(&places->memory, places->near, (size_t)m * REMAP_MOST_NEAR + 1);
    if (spot_of == NULL || places->memory.failed) {
        free(spot_of);
        return -ENOMEM;
    }
    memset(spot_of, 0xff, (size_t)vertices * sizeof(*spot_of));
    for (uint32_t s = 0; s < m; s++)
        spot_of[places->vertex[places->first[s]]] = s;
    list.out = places->near;
    for (uint32_t s = 0; s < m; s++)
        near_list_add_spot(places, cartesian ? spot_of : NULL, s, &list);
    places->near_first[m] = list.total;
    free(spot_of);
    return 0;
}

int remap_places_init(struct remap_places *places, const struct remap_problem *problem,
                      bool remap_places_set_inter_node, uint32_t *slots)
{
    *places = (struct remap_places){.topology = problem->topology,
                                    .inter_node = remap_places_set_inter_node};
    int rc = remap_places_make_slots(places, problem, slots);
    if (rc == 0)
        rc = remap_places_measure(places);
    if (rc == 0)
        rc = remap_places_find_near(places);
    return rc;
}

void remap_places_finish(struct remap_places *places)
{
    arena_finish(&places->memory);
    *places = (struct remap_places){0};
}

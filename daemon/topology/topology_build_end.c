/* Checks a network that was read from a file, and makes its topology. */
#include "daemon/topology/topology_build.h"

#include "daemon/analysis/tables/disjoint_sets.h"
#include "holter/error.h"
#include "holter/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int topology_build_is_given(const struct build *b)
{
    return b->spec.kind == TOPOLOGY_TREE || b->spec.kind == TOPOLOGY_GRAPH;
}

/* ---- vertices ------------------------------------------------------------ */

/* The last vertex of a tree is its root: the switch that is below no other one. Where only links
 * are given, it is the last switch of the file. @return TOPOLOGY_NONE: there is none */
static uint32_t topology_build_find_root(const struct build *b)
{
    for (uint32_t v = b->count; v-- > 0 && b->spec.kind == TOPOLOGY_TREE;)
        if (b->vertices[v].kind == VERTEX_SWITCH && b->vertices[v].line != 0 &&
            !b->vertices[v].is_below)
            return v;
    return TOPOLOGY_NONE;
}

/* Number nodes first, then switches, each in the order of the file; the root of a tree is last. */
static int topology_build_number_vertices(struct build *b)
{
    struct topology_spec *spec = &b->spec;
    const uint32_t root = topology_build_find_root(b);
    uint32_t next = 0;
    spec->vertices = calloc((size_t)b->count + 1, sizeof(*spec->vertices));
    if (spec->vertices == NULL)
        return -ENOMEM;
    for (uint32_t pass = 0; pass < 3; pass++) {
        for (uint32_t v = 0; v < b->count; v++) {
            struct build_vertex *vertex = &b->vertices[v];
            if (pass == 0 && vertex->line == 0)
                fault_at(b->faults, vertex->used, "%s is neither a host nor a switch of this file",
                         vertex->name);
            if (vertex->line == 0 || pass != (vertex->kind == VERTEX_NODE ? 0 : 1u + (v == root)))
                continue;
            memcpy(spec->vertices[next].name, vertex->name, sizeof(vertex->name));
            spec->vertices[next].kind = vertex->kind;
            vertex->at = next++;
        }
        if (pass == 0 && next == 0)
            fault_at(b->faults, 0, "there is no host in it");
    }
    spec->vertex_count = next;
    if (spec->kind == TOPOLOGY_GRAPH && next > TOPOLOGY_MAXIMUM_GRAPH)
        fault_at(b->faults, 0, "%u hosts and switches, a graph has at most %u", next,
                 TOPOLOGY_MAXIMUM_GRAPH);
    return 0;
}

/* Regular networks: set the names of the nodes that have one. */
static int topology_build_name_nodes(struct build *b)
{
    if (b->count == 0)
        return 0;
    b->spec.vertices = calloc((size_t)b->nodes + 1, sizeof(*b->spec.vertices));
    if (b->spec.vertices == NULL)
        return -ENOMEM;
    b->spec.vertex_count = b->nodes;
    for (uint32_t v = 0; v < b->count; v++) {
        const struct build_vertex *vertex = &b->vertices[v];
        if (vertex->at < b->nodes)
            memcpy(b->spec.vertices[vertex->at].name, vertex->name, sizeof(vertex->name));
    }
    return 0;
}

/* ---- links --------------------------------------------------------------- */

static void topology_build_check_link(struct build *b, const struct build_link *link)
{
    const struct build_vertex *ends[2] = {&b->vertices[link->ends[0]], &b->vertices[link->ends[1]]};
    if (link->ends[0] == link->ends[1])
        fault_at(b->faults, link->line, "a link from %s to itself", ends[0]->name);
    for (int e = 0; e < 2; e++) {
        if (link->interface[e][0] != '\0' && ends[e]->line != 0 && ends[e]->kind == VERTEX_SWITCH)
            fault_at(b->faults, link->line,
                     "interface %s would be of switch %s: only hosts have interfaces",
                     link->interface[e], ends[e]->name);
    }
}

static int topology_build_make_edges(struct build *b)
{
    struct topology_spec *spec = &b->spec;
    spec->edges = calloc(2 * (size_t)b->link_count + 1, sizeof(*spec->edges));
    if (spec->edges == NULL)
        return -ENOMEM;
    for (uint32_t l = 0; l < b->link_count; l++) {
        const struct build_link *link = &b->links[l];
        for (int way = 0; way < (link->one_way ? 1 : 2); way++) {
            struct topology_edge *edge = &spec->edges[spec->edge_count++];
            const struct build_vertex *from = &b->vertices[link->ends[way]];
            int at_begin = from->kind == VERTEX_NODE;
            edge->from = from->at;
            edge->to = b->vertices[link->ends[1 - way]].at;
            edge->capacity = link->capacity;
            memcpy(edge->interface, link->interface[at_begin ? way : 1 - way],
                   sizeof(edge->interface));
        }
    }
    return 0;
}

/* Mark the vertices that are reachable from the first one, over edges forward or backward. */
static int topology_build_reach(const struct topology_spec *spec, int backward, uint8_t *seen)
{
    uint32_t n = spec->vertex_count, head = 0, tail = 0;
    uint32_t *first = calloc((size_t)n + 2, sizeof(*first)), *queue = calloc(n, sizeof(*queue));
    uint32_t *next = calloc((size_t)spec->edge_count + 1, sizeof(*next));
    int code = first == NULL || queue == NULL || next == NULL ? -ENOMEM : 0;
    if (code == 0) {
        memset(first, 0xff, ((size_t)n + 2) * sizeof(*first));
        for (uint32_t e = 0; e < spec->edge_count; e++) {
            uint32_t from = backward ? spec->edges[e].to : spec->edges[e].from;
            next[e] = first[from];
            first[from] = e;
        }
        queue[tail++] = 0;
        seen[0] = 1;
    }
    while (code == 0 && head < tail) {
        for (uint32_t e = first[queue[head++]]; e != UINT32_MAX; e = next[e]) {
            uint32_t to = backward ? spec->edges[e].from : spec->edges[e].to;
            if (!seen[to]) {
                seen[to] = 1;
                queue[tail++] = to;
            }
        }
    }
    free(first);
    free(queue);
    free(next);
    return code;
}

static int topology_build_check_reach(struct build *b)
{
    uint8_t *there = calloc((size_t)b->spec.vertex_count + 1, 1);
    uint8_t *back = calloc((size_t)b->spec.vertex_count + 1, 1);
    int code = there == NULL || back == NULL ? -ENOMEM : topology_build_reach(&b->spec, 0, there);
    code = code != 0 ? code : topology_build_reach(&b->spec, 1, back);
    for (uint32_t v = 0; code == 0 && v < b->count; v++) {
        const struct build_vertex *vertex = &b->vertices[v];
        if (!there[vertex->at])
            fault_at(b->faults, vertex->line, "%s cannot be reached from %s", vertex->name,
                     b->spec.vertices[0].name);
        else if (!back[vertex->at])
            fault_at(b->faults, vertex->line, "%s cannot be reached from %s",
                     b->spec.vertices[0].name, vertex->name);
    }
    free(there);
    free(back);
    return code;
}

/* Check that no link of a tree closes a ring. */
static int topology_build_check_tree(struct build *b)
{
    uint32_t *above = calloc((size_t)b->count + 1, sizeof(*above));
    if (above == NULL)
        return -ENOMEM;
    for (uint32_t v = 0; v < b->count; v++)
        above[v] = v;
    for (uint32_t l = 0; l < b->link_count; l++) {
        const struct build_link *link = &b->links[l];
        uint32_t a = disjoint_find_root(above, link->ends[0]),
                 c = disjoint_find_root(above, link->ends[1]);
        if (a == c)
            fault_at(b->faults, link->line,
                     "the link from %s to %s closes a ring: in a tree there is one way",
                     b->vertices[link->ends[0]].name, b->vertices[link->ends[1]].name);
        if (link->one_way)
            fault_at(b->faults, link->line, "links of a tree go both ways: `between` is expected");
        above[a] = c;
    }
    free(above);
    return 0;
}

static int topology_build_make_given(struct build *b)
{
    for (uint32_t l = 0; l < b->link_count; l++)
        topology_build_check_link(b, &b->links[l]);
    int code = topology_build_number_vertices(b);
    if (code == 0 && b->faults->count == 0)
        code = topology_build_make_edges(b);
    if (code == 0 && b->faults->count == 0 && b->spec.kind == TOPOLOGY_TREE)
        code = topology_build_check_tree(b);
    if (code == 0 && b->faults->count == 0)
        code = topology_build_check_reach(b);
    return code;
}

/* ---- routes -------------------------------------------------------------- */

/* Find the vertices of a route in the network without its given routes. */
static void topology_build_find_route(struct build *b, const struct topology *topology,
                                      const struct build_route *route, uint32_t *path,
                                      uint32_t *seen, uint32_t number)
{
    const char *const *words = b->words + route->first;
    if (route->count < 2)
        fault_at(b->faults, route->line, "a route has two ends at least");
    for (uint32_t i = 0; i < route->count; i++) {
        path[i] = topology_find(topology, words[i]);
        if (path[i] == TOPOLOGY_NONE) {
            fault_at(b->faults, route->line, "the route passes %.70s, which is not in the network",
                     words[i]);
            return;
        }
        if (i > 0 && topology_link_between(topology, path[i - 1], path[i]) == TOPOLOGY_NONE) {
            fault_at(b->faults, route->line,
                     "the route has a gap: no link leads from %.70s to %.70s", words[i - 1],
                     words[i]);
            return;
        }
        if (seen[path[i]] == number) {
            fault_at(b->faults, route->line, "the route passes %.70s twice", words[i]);
            return;
        }
        seen[path[i]] = number;
    }
}

struct route_ends {
    uint32_t source, destination, number;
};

ORDER_FUNCTION(topology_build_compare_by_ends, struct route_ends,
               4 * ORDER(a->source, b->source) + 2 * ORDER(a->destination, b->destination) +
                   ORDER(a->number, b->number))

static int topology_build_check_repeated(struct build *b)
{
    const struct topology_spec *spec = &b->spec;
    struct route_ends *ends = calloc(spec->route_count, sizeof(*ends));
    if (ends == NULL)
        return -ENOMEM;
    for (uint32_t r = 0; r < spec->route_count; r++) {
        const uint32_t *path = spec->path + spec->routes[r].first;
        ends[r] = (struct route_ends){path[0], path[spec->routes[r].count - 1], r};
    }
    qsort(ends, spec->route_count, sizeof(*ends), topology_build_compare_by_ends);
    for (uint32_t i = 1; i < spec->route_count; i++) {
        if (ends[i].source == ends[i - 1].source && ends[i].destination == ends[i - 1].destination)
            fault_at(b->faults, b->routes[ends[i].number].line,
                     "a route between these ends stands in line %u already",
                     b->routes[ends[i - 1].number].line);
    }
    free(ends);
    return 0;
}

static int topology_build_find_routes(struct build *b, const struct topology *topology)
{
    struct topology_spec *spec = &b->spec;
    uint32_t *seen = calloc((size_t)topology_vertices(topology) + 1, sizeof(*seen));
    spec->routes = calloc(b->route_count, sizeof(*spec->routes));
    spec->path = calloc((size_t)b->word_count + 1, sizeof(*spec->path));
    if (seen == NULL || spec->routes == NULL || spec->path == NULL) {
        free(seen);
        return -ENOMEM;
    }
    spec->route_count = b->route_count;
    spec->path_count = b->word_count;
    for (uint32_t r = 0; r < b->route_count; r++) {
        const struct build_route *route = &b->routes[r];
        spec->routes[r] = (struct topology_table){route->first, route->count};
        topology_build_find_route(b, topology, route, spec->path + route->first, seen, r + 1);
    }
    free(seen);
    return b->faults->count > 0 ? 0 : topology_build_check_repeated(b);
}

/* ---- all ----------------------------------------------------------------- */

static int topology_build_compare_names(const void *left, const void *right, void *user)
{
    const struct topology_named *names = user;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int order = strcmp(names[a].name, names[b].name);
    return order != 0 ? order : (a > b) - (a < b);
}

int topology_file_index(struct topology_file *file)
{
    const struct topology_spec *spec = topology_spec(file->topology);
    uint32_t nodes = topology_nodes(file->topology);
    nodes = nodes < spec->vertex_count ? nodes : spec->vertex_count;
    file->hosts = calloc((size_t)nodes + 1, sizeof(*file->hosts));
    if (file->hosts == NULL)
        return -ENOMEM;
    for (uint32_t v = 0; v < nodes; v++) {
        if (spec->vertices[v].name[0] != '\0')
            file->hosts[file->host_count++] = v;
    }
    qsort_r(file->hosts, file->host_count, sizeof(*file->hosts), topology_build_compare_names,
            spec->vertices);
    return 0;
}

static int topology_build_create(struct build *b, struct topology **out)
{
    char why[400];
    int code = topology_create(out, &b->spec, why, sizeof(why));
    if (code == 0 || code == -ENOMEM)
        return code;
    fault_at(b->faults, 0, "%s", why);
    return -HOLTER_EUSAGE;
}

static int topology_build_make(struct build *b, struct topology_file *out)
{
    int code = b->code != 0                 ? b->code
               : topology_build_is_given(b) ? topology_build_make_given(b)
                                            : topology_build_name_nodes(b);
    if (code != 0 || b->faults->count > 0)
        return code;
    code = topology_build_create(b, &out->topology);
    if (code == 0 && b->route_count > 0) {
        code = topology_build_find_routes(b, out->topology);
        if (code != 0 || b->faults->count > 0)
            return code;
        topology_destroy(out->topology);
        out->topology = NULL;
        code = topology_build_create(b, &out->topology);
    }
    return code != 0 ? code : topology_file_index(out);
}

int build_end(struct build *b, struct topology_file *out)
{
    struct topology_file file = {.format = out->format};
    int code = topology_build_make(b, &file);
    if (code == 0 && b->faults->count > 0)
        code = -HOLTER_EUSAGE;
    if (code != 0) {
        topology_file_finish(&file);
        return code;
    }
    *out = file;
    return 0;
}

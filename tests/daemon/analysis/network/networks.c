/* Random networks of each kind: see networks.h. */
#include "tests/daemon/analysis/network/networks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint32_t from_to(struct noise *noise, uint32_t low, uint32_t high)
{
    return low + (uint32_t)(noise_uint(noise) % (high - low + 1));
}

static struct topology *made(const struct topology_spec *spec)
{
    struct topology *topology = NULL;
    char why[200] = "";
    if (topology_create(&topology, spec, why, sizeof why) != 0)
        fail_msg("%s: %s", spec->name, why);
    return topology;
}

struct topology *network_short(const char *text)
{
    struct topology_spec spec;
    char why[200] = "";
    if (topology_short(&spec, text, why, sizeof why) != 0)
        fail_msg("%s: %s", text, why);
    struct topology *topology = made(&spec);
    topology_spec_finish(&spec);
    return topology;
}

static void random_cartesian(struct topology_spec *spec, struct noise *noise)
{
    uint32_t count = from_to(noise, 1, 5), nodes = 1;
    spec->tie = from_to(noise, 0, 2);
    spec->dimension_count = count;
    for (uint32_t d = 0; d < count; d++) {
        struct topology_dimension *dimension = &spec->dimensions[d];
        uint32_t most = 64 / nodes;
        dimension->size = from_to(noise, 1, most < 7 ? most : 7);
        dimension->connection = from_to(noise, 0, 2);
        dimension->name[0] = (char)('A' + (int)d);
        dimension->step = d;
        nodes *= dimension->size;
    }
    for (uint32_t d = count - 1; d > 0; d--) {
        uint32_t other = from_to(noise, 0, d), step = spec->dimensions[d].step;
        spec->dimensions[d].step = spec->dimensions[other].step;
        spec->dimensions[other].step = step;
    }
}

static void random_dragonfly(struct topology_spec *spec, struct noise *noise)
{
    uint32_t groups = from_to(noise, 1, 5), routers = from_to(noise, 1, 4);
    uint32_t least = (groups - 1 + routers - 1) / routers;
    uint32_t sizes[] = {groups, routers, from_to(noise, 1, 2), from_to(noise, least, least + 2)};
    spec->dimension_count = 4;
    for (uint32_t d = 0; d < 4; d++)
        spec->dimensions[d].size = sizes[d];
}

static void random_fat_tree(struct topology_spec *spec, struct noise *noise)
{
    spec->dimension_count = from_to(noise, 1, 3);
    for (uint32_t d = 0; d < spec->dimension_count; d++) {
        spec->dimensions[d].size = from_to(noise, 1, 3);
        spec->dimensions[d].up = from_to(noise, 1, 2);
    }
}

void network_graph(struct topology_spec *spec, enum topology_kind kind, uint32_t nodes,
                   uint32_t vertices, uint32_t most_edges)
{
    memset(spec, 0, sizeof *spec);
    spec->kind = kind;
    spec->vertex_count = vertices;
    spec->vertices = calloc(vertices, sizeof *spec->vertices);
    spec->edges = calloc(most_edges + 1u, sizeof *spec->edges);
    assert_true(spec->vertices && spec->edges);
    for (uint32_t v = nodes; v < vertices; v++)
        spec->vertices[v].kind = VERTEX_SWITCH;
}

void network_edge(struct topology_spec *spec, uint32_t from, uint32_t to)
{
    spec->edges[spec->edge_count].from = from;
    spec->edges[spec->edge_count++].to = to;
}

/* Links both ways between each vertex and a random one that has some already. */
static void random_tree(struct topology_spec *spec, enum topology_kind kind, struct noise *noise)
{
    uint32_t count = from_to(noise, 1, 40), nodes = from_to(noise, 1, count), chain[40];
    network_graph(spec, kind, nodes, count, 4 * count);
    for (uint32_t i = 0; i < count; i++) { /* in random order */
        uint32_t j = from_to(noise, 0, i);
        chain[i] = chain[j];
        chain[j] = i;
    }
    for (uint32_t i = 1; i < count; i++) {
        uint32_t other = chain[from_to(noise, 0, i - 1)];
        network_edge(spec, chain[i], other);
        network_edge(spec, other, chain[i]);
    }
}

/* A tree, and besides as many links one way, some of them twice. */
static void random_graph(struct topology_spec *spec, struct noise *noise)
{
    random_tree(spec, TOPOLOGY_GRAPH, noise);
    uint32_t count = spec->vertex_count;
    for (uint32_t i = 0; count > 1 && i < count; i++) {
        uint32_t from = from_to(noise, 0, count - 1), other = from_to(noise, 1, count - 1);
        network_edge(spec, from, (from + other) % count);
        if (i % 4 == 0 && i + 1 < count)
            network_edge(spec, from, (from + other) % count);
    }
}

void network_spec(struct topology_spec *spec, enum topology_kind kind, struct noise *noise)
{
    memset(spec, 0, sizeof *spec);
    spec->kind = kind;
    switch (kind) {
    case TOPOLOGY_CARTESIAN:
        random_cartesian(spec, noise);
        break;
    case TOPOLOGY_DRAGONFLY:
        random_dragonfly(spec, noise);
        break;
    case TOPOLOGY_FAT_TREE:
        random_fat_tree(spec, noise);
        break;
    case TOPOLOGY_TREE:
        random_tree(spec, kind, noise);
        break;
    case TOPOLOGY_GRAPH:
        random_graph(spec, noise);
        break;
    }
}

struct topology *network_random(enum topology_kind kind, struct noise *noise)
{
    struct topology_spec spec;
    network_spec(&spec, kind, noise);
    struct topology *topology = made(&spec);
    topology_spec_finish(&spec);
    return topology;
}

/* Networks of real machines: see machines.h. */
#include "tests/daemon/analysis/network/machines.h"
#include "tests/daemon/analysis/network/networks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void wire(struct topology_spec *spec, uint32_t a, uint32_t b)
{
    network_edge(spec, a, b);
    network_edge(spec, b, a);
}

static struct topology *finish(struct topology_spec *spec)
{
    struct topology *topology = NULL;
    char why[200] = "";
    if (topology_create(&topology, spec, why, sizeof(why)) != 0)
        fail_msg("%s", why);
    topology_spec_finish(spec);
    return topology;
}

struct topology *machine_create(uint32_t hosts, uint32_t numas, uint32_t cores)
{
    uint32_t first_numa = hosts + 1, first_core = first_numa + hosts * numas,
             vertices = first_core + hosts * numas * cores;
    struct topology_spec spec;
    network_graph(&spec, TOPOLOGY_TREE, hosts, vertices, 2 * vertices);
    for (uint32_t h = 0; h < hosts; h++)
        wire(&spec, h, hosts);
    for (uint32_t n = 0; n < hosts * numas; n++) {
        spec.vertices[first_numa + n].kind = VERTEX_NUMA;
        wire(&spec, first_numa + n, n / numas);
    }
    for (uint32_t c = 0; c < hosts * numas * cores; c++) {
        spec.vertices[first_core + c].kind = VERTEX_CORE;
        wire(&spec, first_core + c, first_numa + c / cores);
    }
    return finish(&spec);
}

struct topology *machine_line(uint32_t hosts, double capacity)
{
    struct topology_spec spec;
    network_graph(&spec, TOPOLOGY_GRAPH, hosts, hosts, 2 * hosts);
    spec.capacity = capacity;
    for (uint32_t h = 1; h < hosts; h++)
        wire(&spec, h - 1, h);
    return finish(&spec);
}

/* Parses any text as the short form of a network; the routes of the networks that are valid must be
 * consistent. */
#include "daemon/analysis/network/topology.h"
#include "holter/error.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#define MAXIMUM_HOPS 256u

static void check_route(const struct topology *topology, uint32_t source, uint32_t destination)
{
    uint32_t links[MAXIMUM_HOPS], from, to, at = source;
    uint32_t count = topology_route(topology, source, destination, links, MAXIMUM_HOPS);
    FUZZ_HOLDS(count == topology_distance(topology, source, destination));
    FUZZ_HOLDS(count <= topology_diameter(topology));
    for (uint32_t i = 0; i < count && i < MAXIMUM_HOPS; i++) {
        FUZZ_HOLDS(topology_link(topology, links[i], &from, &to) && from == at);
        FUZZ_HOLDS(topology_link_between(topology, from, to) == links[i]);
        FUZZ_HOLDS(topology_crosses(topology, source, destination, links[i]));
        uint32_t back = topology_reverse(topology, links[i]);
        FUZZ_HOLDS(topology_reverse(topology, back) == links[i]);
        at = to;
    }
    FUZZ_HOLDS(at == destination || count > MAXIMUM_HOPS);
}

static void check_network(const struct topology *topology)
{
    uint32_t nodes = topology_nodes(topology), at[TOPOLOGY_DIMENSIONS];
    uint32_t some[] = {0, nodes / 2, nodes / 3, nodes - 1};
    FUZZ_HOLDS(nodes > 0 && nodes <= topology_vertices(topology));
    for (int i = 0; i < 4; i++) {
        char name[TOPOLOGY_NAME * 4];
        FUZZ_HOLDS(topology_vertex_name(topology, some[i], name, sizeof name) > 0);
        FUZZ_HOLDS(topology_find(topology, name) == some[i]);
        if (topology_coordinates(topology, some[i], at))
            FUZZ_HOLDS(topology_at(topology, at) == some[i]);
        for (int j = 0; j < 4; j++)
            check_route(topology, some[i], some[j]);
    }
}

/* Every other input has what is no letter turned into what the forms are made of: random bytes
 * alone seldom make another network. */
static void spell(char *text, size_t size)
{
    static const char alphabet[] = "0123456789122344,,,,//=atm";
    for (size_t i = 0; size % 2 && i < size; i++)
        if (text[i] < ' ' || text[i] > '~')
            text[i] = alphabet[(unsigned char)text[i] % (sizeof alphabet - 1)];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct topology_spec spec;
    struct topology *topology;
    char why[160] = "", *text = malloc(size + 1);
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    spell(text, size);
    int error = topology_short(&spec, text, why, sizeof why);
    FUZZ_HOLDS((error == 0) == (why[0] == '\0'));
    FUZZ_HOLDS(error == 0 || error == -HOLTER_EUSAGE);
    if (error == 0) {
        error = topology_create(&topology, &spec, why, sizeof why);
        FUZZ_HOLDS((error == 0) == (why[0] == '\0'));
        FUZZ_HOLDS(error == 0 || error == -HOLTER_EUSAGE || error == -HOLTER_ELIMIT);
        if (error == 0) {
            check_network(topology);
            topology_destroy(topology);
        }
        topology_spec_finish(&spec);
    }
    free(text);
    return 0;
}

size_t fuzz_seed(unsigned number, uint8_t *out)
{
    static const char *const seeds[] = {"torus:4,4,4,16,2/order=D,B,A,C,E/tie=parity/capacity=2e9",
                                        "torus:4,4t,8m,3a/tie=minus",
                                        "mesh:8,8",
                                        "hypercube:10",
                                        "dragonfly:2,12,3,16,4/order=cpu,slot,cage,row,column",
                                        "dragonfly:groups=9,routers=4,nodes=2,global=2",
                                        "fattree:4,4,4/1,2,2/capacity=12.5e9",
                                        "fattree:k=8"};
    if (number >= sizeof seeds / sizeof *seeds)
        return SIZE_MAX;
    memcpy(out, seeds[number], strlen(seeds[number]));
    return strlen(seeds[number]);
}

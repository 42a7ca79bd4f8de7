/* Tiers of networks that are no tori: the names that all views and the sentence about loads use. */
#include "daemon/analysis/network/topology.h"

#include <string.h>

int topology_has_tiers(const struct topology *topology)
{
    const struct topology_spec *spec = topology_spec(topology);
    int tiers = 0;
    if (spec->kind != TOPOLOGY_CARTESIAN)
        return spec->kind != TOPOLOGY_GRAPH;
    for (uint32_t d = 0; d < spec->dimension_count; d++) {
        if (spec->dimensions[d].size <= 2)
            continue;
        if (spec->dimensions[d].connection != TOPOLOGY_ALL)
            return 0;
        tiers = 1;
    }
    return tiers;
}

int topology_is_cray_xc(const struct topology_spec *spec)
{
    static const char *const tiers[] = {"row", "column", "cage", "slot", "cpu"};
    if (spec->kind != TOPOLOGY_CARTESIAN || spec->dimension_count != 5)
        return 0;
    for (int d = 0; d < 5; d++)
        if (strcmp(spec->dimensions[d].name, tiers[d]) != 0 ||
            spec->dimensions[d].connection != TOPOLOGY_ALL)
            return 0;
    return 1;
}

/* Vertices of a level of a fat tree. */
static uint32_t tiers_level_size(const struct topology_spec *spec, uint32_t level)
{
    uint32_t count = 1;
    for (uint32_t l = 0; l < spec->dimension_count; l++)
        count *= l < level ? spec->dimensions[l].up : spec->dimensions[l].size;
    return count;
}

uint32_t topology_level(const struct topology *topology, uint32_t vertex, uint32_t *index)
{
    const struct topology_spec *spec = topology_spec(topology);
    uint32_t level = 0, size;
    *index = vertex;
    if (spec->kind != TOPOLOGY_FAT_TREE) {
        level = vertex >= topology_nodes(topology);
        *index -= level ? topology_nodes(topology) : 0;
        return level;
    }
    while (level < spec->dimension_count && *index >= (size = tiers_level_size(spec, level))) {
        *index -= size;
        level++;
    }
    return level;
}

const char *topology_level_name(const struct topology *topology, uint32_t level)
{
    const struct topology_spec *spec = topology_spec(topology);
    if (level == 0)
        return "node";
    if (spec->kind == TOPOLOGY_FAT_TREE && level <= spec->dimension_count)
        return spec->dimensions[level - 1].name;
    return spec->kind == TOPOLOGY_DRAGONFLY ? spec->dimensions[1].name : "switch";
}

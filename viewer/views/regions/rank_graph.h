/* The job as a graph of rank regions: which vertices represent which ranks, and the sums of their
 * edges. Many ranks are grouped: by region and node, or by region only. */
#ifndef HOLTER_VIEWER_VIEWS_REGIONS_RANK_GRAPH_H
#define HOLTER_VIEWER_VIEWS_REGIONS_RANK_GRAPH_H

#include "viewer/layout/graph.h"
#include "viewer/model/model.h"
#include "viewer/model/range.h"

enum {
    NETWORK_VERTICES = 2048, /* maximum number of ranks drawn one by one */
    NETWORK_GROUPS = 256,    /* maximum number of regions drawn as separate groups */
};

/** What a vertex represents. */
enum rank_graph_unit { UNIT_RANK, UNIT_NODE, UNIT_REGION };

struct rank_graph_vertex {
    enum rank_graph_unit unit;
    uint64_t region; /**< id; 0: none */
    uint32_t host;   /**< index of the host in the model; UINT32_MAX: not known, or several */
    uint32_t rank;   /**< lowest rank of the vertex */
    uint32_t ranks;
    uint32_t group;
};

struct rank_graph_group {
    uint64_t region; /**< id; 0: ranks of no region, or of all */
    uint32_t ranks;
};

#define NETWORK_NONE UINT32_MAX

/** Zero-initialised is empty. Arrays are owned. */
struct rank_graph {
    uint64_t key; /**< hash of the facts it was built from */
    struct rank_graph_vertex *vertices;
    struct rank_graph_group *groups;
    uint32_t vertex_count, group_count, edge_count;
    uint32_t *vertex_of; /**< by rank */
    uint32_t rank_count;
    uint32_t *edge_of; /**< by index of the pair; NETWORK_NONE: within one vertex, or with others */
    uint32_t pair_count;
    enum rank_graph_unit unit; /**< the coarsest unit in the graph */
    int opened;                /**< only one region's ranks are drawn one by one */

    struct graph graph; /**< layout; vertices, groups and edges in the order of those above */

    /* figures of the range: the visible time, or since the start */
    uint64_t figures_version;
    double *edge_values; /**< messages or bytes, both directions */
    struct rank_graph_ratio {
        double mean, error; /**< relative latency, NaN: none; what the clocks leave open of it */
    } * vertex_ratios, *group_ratios;
    double most; /**< largest edge value */
    uint64_t values_key;
};

void rank_graph_finish(struct rank_graph *graph);

/** Key of the facts that a graph would be built from now: ranks, nodes, regions, pairs. */
uint64_t rank_graph_key(const struct model *model, uint64_t open);

/** Build the graph and begin its layout.
 * @param graph  empty
 * @param from   graph whose positions are reused
 * @param open   region whose ranks are drawn one by one even where there are many; 0: none
 * @return 0 or -ENOMEM (it stays empty) */
int rank_graph_build(struct rank_graph *graph, const struct rank_graph *from,
                     const struct model *model, uint64_t open);

/** Sum the figures of the range if they changed. @return 0 or -ENOMEM */
int rank_graph_figures(struct rank_graph *graph, const struct range *range,
                       enum pair_column column);

#endif

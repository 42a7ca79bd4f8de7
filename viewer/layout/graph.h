/* Layout of a graph with visible groups: force-directed in two stages. First the groups, as discs
 * that attract each other by their common edges and do not overlap; then the vertices inside their
 * group's disc, by the grid variant of T. Fruchterman and E. Reingold, "Graph drawing by
 * force-directed placement" (1991), section "The grid-variant algorithm".
 *
 * The same graph gives the same positions. A changed graph starts from the positions of the
 * previous one, so that unchanged parts stay where they were. Work is done in steps that the caller
 * limits; the previous graph stays visible until the new layout is complete. */
#ifndef HOLTER_VIEWER_LAYOUT_GRAPH_H
#define HOLTER_VIEWER_LAYOUT_GRAPH_H

#include <stdint.h>

struct graph_vertex {
    uint64_t key;   /**< identifies the vertex in the next graph */
    uint32_t group; /**< index in groups */
    double weight;  /**< area it takes, above 0 */
    double x, y;    /**< position, -1 to 1; set by the layout */
    double radius;  /**< in the same unit; set by the layout */
};

struct graph_group {
    uint64_t key;
    double x, y, radius; /**< the group's disc; set by the layout */
};

struct graph_edge {
    uint32_t a, b; /**< vertices, a below b */
    double weight; /**< above 0 */
};

/** Zero-initialised is empty. */
struct graph {
    struct graph_vertex *vertices; /**< owned; in the order in which they were given */
    struct graph_group *groups;    /**< owned */
    struct graph_edge *edges;      /**< owned */
    uint32_t vertex_count, group_count, edge_count;
    uint64_t version;            /**< incremented when a layout is complete */
    struct graph_layout *layout; /**< owned; layout in progress, or NULL */
};

void graph_finish(struct graph *graph);

/** Begin the layout of a new graph. The visible graph stays until it is complete; a layout in
 * progress is cancelled.
 * @param from   graph whose positions are reused where keys are equal; borrowed for the call; may
 * be graph itself, or empty
 * @param given  vertices, groups and edges, which are copied; positions in them are ignored
 * @return 0 or -ENOMEM (nothing changed) */
int graph_set(struct graph *graph, const struct graph *from, const struct graph *given);

/** Do a part of the work.
 * @param units  approximate number of pairs of vertices to examine
 * @return 1 while work remains, 0 when positions are final */
int graph_work(struct graph *graph, uint64_t units);

#endif

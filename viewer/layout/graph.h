/* Places for the vertices of a graph whose groups are to be seen: force-directed in two stages.
 * First the groups, as discs that attract each other by their common edges and do not overlap; then
 * the vertices inside their group's disc, by the grid variant of T. Fruchterman and E. Reingold,
 * "Graph drawing by force-directed placement" (1991), section "The grid-variant algorithm".
 *
 * The same graph and seed give the same places. A changed graph starts from the places of the one
 * before, so that what stayed the same stays where it was. All work is done in shares that the
 * caller limits; until it is done the places of the graph before are shown. */
#ifndef HOLTER_VIEWER_LAYOUT_GRAPH_H
#define HOLTER_VIEWER_LAYOUT_GRAPH_H

#include <stddef.h>
#include <stdint.h>

struct graph_vertex {
    uint64_t key;   /**< by which it is known again */
    uint32_t group; /**< index in groups */
    double weight;  /**< area it takes, above 0 */
    double x, y;    /**< place, -1 to 1; set by the layout */
    double radius;  /**< in the same measure; set by the layout */
};

struct graph_group {
    uint64_t key;
    double x, y, radius; /**< its disc; set by the layout */
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
    uint64_t version;            /**< raised when places changed: a layout was finished */
    struct graph_layout *layout; /**< owned; one in progress, or NULL */
};

void graph_finish(struct graph *graph);

/** Begin the layout of a new graph. What graph shows stays until it is done; one still in progress
 * is given up.
 *  @param from  graph whose places are taken over where keys are the same; borrowed for the call;
 *               may be graph itself, or empty
 *  @param vertices, groups, edges  copied; places in them are passed over
 *  @return 0 or -ENOMEM (nothing changed) */
int graph_set(struct graph *graph, const struct graph *from, const struct graph_vertex *vertices,
              uint32_t vertex_count, const struct graph_group *groups, uint32_t group_count,
              const struct graph_edge *edges, uint32_t edge_count, uint64_t seed);

/** Do a share of the work.
 *  @param units  about how many pairs of vertices may be looked at
 *  @return 1 while more is to be done, 0 when places are final */
int graph_work(struct graph *graph, uint64_t units);

#endif

/* What is drawn around and on the ranks of the graph of regions: hulls of nodes, numbers of ranks,
 * what an alert names. */
#ifndef HOLTER_VIEWER_VIEWS_REGIONS_MARKS_H
#define HOLTER_VIEWER_VIEWS_REGIONS_MARKS_H

#include "viewer/layout/section.h"
#include "viewer/views/common/view.h"
#include "viewer/views/regions/rank_graph.h"

#define MARKS_LABELS 600u /**< most labels that are placed */

/** Boxes that are taken by labels and discs. */
struct marks_labels {
    struct box taken[MARKS_LABELS];
    uint32_t count;
};

/** Hulls around the ranks of each node that are drawn one by one, in each region; below edges. */
void marks_add_hulls(const struct stage *stage, const struct rank_graph *graph,
                     const struct section *view);

/** Numbers on the discs of ranks that have room for them, and names of nodes beside their hulls as
 * far as nothing is covered. */
void marks_add_labels(const struct stage *stage, const struct rank_graph *graph,
                      const struct section *view, struct marks_labels *labels);

enum marks_role { ROLE_NONE, ROLE_CULPRIT, ROLE_VICTIM };

/** What an alert says of a vertex: a rank that carries it, or one that it delays.
 *  @param alert  NULL: none */
enum marks_role marks_role(const struct alert *alert, const struct rank_graph *graph,
                           uint32_t vertex);

/** Colour of a vertex, by its region or by its latency. */
color_t marks_color(const struct stage *stage, const struct rank_graph *graph, uint32_t vertex);

/** The same, dimmed where other vertices are selected. */
color_t marks_disc_color(const struct stage *stage, const struct rank_graph *graph,
                         uint32_t vertex);

/** 1 if a vertex is selected. A vertex of many ranks counts as selected if its first rank, or its
 * position, is. */
int marks_chosen(const struct stage *stage, const struct rank_graph_vertex *vertex);

/** 1 if the selection is one of ranks. */
int marks_some_chosen(const struct stage *stage);

/** Radius of a vertex on the screen. */
double marks_radius(const struct graph_vertex *vertex, const struct section *view);

#endif

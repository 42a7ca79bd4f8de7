/* The picture of phases and communities: a column of bars for each phase, ribbons of messages
 * between them, and what lies under the mouse. */
#ifndef HOLTER_VIEWER_VIEWS_COMMGRAM_BIPARTITE_H
#define HOLTER_VIEWER_VIEWS_COMMGRAM_BIPARTITE_H

#include "viewer/layout/ribbons.h"
#include "viewer/views/commgram/columns.h"
#include "viewer/views/common/timeline.h"
#include "viewer/views/common/view.h"

/** What is kept between frames. */
struct commgram_drawing {
    struct columns columns;
    struct ribbons ribbons;
    uint64_t drawn_key, making_key; /**< of the finished picture, and of the one in progress */
    uint64_t left_out, hidden;      /**< ribbons outside the sizes; faded by the selection */
    double low, high;               /**< heights of the curve */
    uint64_t heights_of;            /**< version that they are of */
};

/** Messages of sizes beyond these are not drawn. */
void bipartite_sizes(const struct stage *stage, const struct commgram_drawing *drawing, double *low,
                     double *high);

/** How far the picture lies to the right while time is moved and a new one is not here yet. */
double bipartite_shift(const struct stage *stage, struct box plot);

/** The picture in its panel: plot for bars and ribbons, with labels under it. */
void bipartite_layout(struct stage *stage, struct commgram_drawing *drawing, struct box panel,
                      struct box plot);

/** Which phase of the curve's time is which column: brackets under the curve, drawn down to the
 * picture. */
void bipartite_links(const struct stage *stage, const struct commgram_drawing *drawing,
                     struct box box, const struct timeline *line, struct box plot);

/** Phase of the picture under the mouse; COMMGRAM_NONE: none. */
uint32_t bipartite_hovered(const struct stage *stage, const struct commgram_drawing *drawing);

#endif

/* Picture of the CommGram: a column of bars for each phase, ribbons of messages between them,
 * selection and hover. */
#ifndef HOLTER_VIEWER_VIEWS_COMMGRAM_BIPARTITE_H
#define HOLTER_VIEWER_VIEWS_COMMGRAM_BIPARTITE_H

#include "viewer/layout/ribbons.h"
#include "viewer/views/commgram/columns.h"
#include "viewer/views/common/timeline.h"
#include "viewer/views/common/view.h"

/** State of the view between frames. */
struct commgram_drawing {
    struct columns columns;
    struct ribbons ribbons;
    uint64_t drawn_key, making_key; /**< keys of the finished picture and of the one in progress */
    uint64_t left_out,
        hidden;          /**< ribbons outside the chosen sizes; ribbons faded by the selection */
    double low, high;    /**< lowest and highest value of the curve */
    uint64_t heights_of; /**< version of the facts that low and high were computed from */
};

/** Lay out the picture in its panel: plot holds bars and ribbons, labels lie below it. */
void bipartite_layout(struct stage *stage, struct commgram_drawing *drawing, struct box panel,
                      struct box plot);

/** Brackets under the curve, connected to the columns of the picture, that show which column is
 * which phase. */
void bipartite_links(const struct stage *stage, const struct commgram_drawing *drawing,
                     struct box box, const struct timeline *line, struct box plot);

/** Phase under the mouse; COMMGRAM_NONE: none. */
uint32_t bipartite_hovered(const struct stage *stage, const struct commgram_drawing *drawing);

#endif

/* The parts of the CommGram: its picture, with a column of bars for each phase and ribbons of
 * messages between them; its curve as an electrocardiogram, flat during each phase, a step where
 * the pattern changes, back at its height when the pattern returns (CommGram, section III-H); and
 * tooltips. */
#ifndef HOLTER_VIEWER_VIEWS_COMMGRAM_VIEW_COMMGRAM_PARTS_H
#define HOLTER_VIEWER_VIEWS_COMMGRAM_VIEW_COMMGRAM_PARTS_H

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

/** Lay out the curve in its box, over the time span of the line. */
void strip_curve_layout(struct stage *stage, struct commgram_drawing *drawing, struct box box,
                        const struct timeline *line);

/** The whole job as a narrow curve, with the visible time framed. */
void strip_band_layout(struct stage *stage, struct commgram_drawing *drawing, struct box box);

/** Tooltip of a column, bar or ribbon by its index. others: number of other ribbons at the same
 * point. */
void commgram_tip_column(struct stage *stage, uint32_t column);
void commgram_tip_bar(struct stage *stage, uint32_t bar);
void commgram_tip_ribbon(struct stage *stage, uint32_t ribbon, uint32_t others);

/** Tooltip of a point of the curve, with its phase. */
void commgram_tip_point(struct stage *stage, uint32_t point);

/** "8-11" for "8" of a job by groups of four: all ranks of a list that was asked for. @return out
 */
char *commgram_format_asked(const struct model *model, const char *ranks, char *out,
                            size_t capacity);

/** "64 B", "1 MiB", "1.5 KiB": a size from its binary logarithm. @return out */
struct quantity commgram_format_size(double binary_logarithm);

#endif

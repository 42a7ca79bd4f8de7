/* What the view of metrics keeps from scene to scene: the figures of events by rank, the points of
 * a layout, and which of them are visible. */
#ifndef HOLTER_VIEWER_VIEWS_LANDSCAPE_LANDSCAPE_DRAWING_H
#define HOLTER_VIEWER_VIEWS_LANDSCAPE_LANDSCAPE_DRAWING_H

#include "viewer/layout/perspective.h"
#include "viewer/layout/section.h"
#include "viewer/layout/strokes.h"
#include "viewer/views/common/view.h"

#define LANDSCAPE_BINS 256u /**< maximum number of slices along an axis */

/** One point that is drawn: a rank, or the mean of several. */
struct landscape_dot {
    double at[3]; /**< in the ball of radius 1 */
    double value, sum;
    uint32_t rank, count;
};

/** An axis of a layout. */
struct landscape_scale {
    double low, high;              /**< of the coordinates */
    uint32_t bins;                 /**< slices: one for each coordinate, if they are few */
    double values[LANDSCAPE_BINS]; /**< coordinate of each slice */
    uint16_t *bin;                 /**< owned; slice of each rank */
};

struct landscape_drawing {
    uint64_t
        figures_key; /**< hash of what figures, points and scales were computed from; 0: nothing */
    uint64_t key;    /**< the same of what is visible */
    struct rank_calls calls;
    uint32_t ranks;
    uint32_t events[LANDSCAPE_EVENTS]; /**< index in calls; RANK_CALLS_NONE: none */
    double *values[LANDSCAPE_EVENTS];  /**< owned; of the chosen events, by rank */
    const double
        *colored;     /**< values[0], or the color of a layout: what the range of values is of */
    double low, high; /**< its range */
    uint8_t *shown;   /**< owned; by rank */
    uint32_t shown_count;

    struct formula_points points; /**< of a layout */
    struct formula_fault fault;   /**< line 0: none */
    int given;                    /**< the layout is that of a file */
    struct landscape_scale scales[3];
    struct landscape_dot *dots; /**< owned */
    uint32_t dot_count;
    size_t dot_capacity;

    struct strokes strokes;
    uint64_t strokes_key;
    struct picture matrix;
};

/** Computes the figures for the choices, unless nothing changed. @return 0 or -ENOMEM */
int landscape_update(const struct stage *stage, struct landscape_drawing *drawing);
void landscape_destroy(struct landscape_drawing *drawing);

/** The points of the chosen layout, and which are visible: part of landscape_update(). */
int landscape_place_ranks(const struct stage *stage, struct landscape_drawing *drawing);
int landscape_make_dots(const struct stage *stage, struct landscape_drawing *drawing);

/** Slice of an axis that a choice names. */
uint32_t landscape_bin(const struct landscape_scale *scale, double at);

/** Share of a value in the range of values; NaN for NaN. */
double landscape_share(const struct landscape_drawing *drawing, double value);

/** Name of an event: "MPI_Waitall", "halo exchange", "outside"; "" for RANK_CALLS_NONE. */
const char *landscape_event_name(const struct stage *stage, const struct landscape_drawing *drawing,
                                 uint32_t event);

/** Name of a figure, and a value of it with its unit. */
const char *landscape_figure_name(enum rank_figure figure);
struct quantity landscape_quantity(enum rank_figure figure, double value);

/** Text of a value of what is coloured. */
struct quantity landscape_colored_text(const struct stage *stage,
                                       const struct landscape_drawing *drawing, double value);

/** Whether the selection marks a rank, or one of its group. */
int landscape_marks(const struct stage *stage, uint32_t rank);

/** What has a figure: "ranks", or "groups of 2 ranks". */
struct quantity landscape_unit(const struct model *model);

/** Sentence about the mean of what is visible, and of the selected ranks. */
void landscape_format_means(const struct stage *stage, const struct landscape_drawing *drawing,
                            char *out, size_t capacity);

/** Tooltip and hit of the rank under the mouse. */
void landscape_point_at(struct stage *stage, const struct landscape_drawing *drawing,
                        struct box box, uint32_t rank);

/** The shapes. */
void landscape_list(struct stage *stage, struct landscape_drawing *drawing, struct box box);
void landscape_matrix(struct stage *stage, struct landscape_drawing *drawing, struct box box);
void landscape_histogram(struct stage *stage, struct landscape_drawing *drawing, struct box box);
void landscape_walls(struct stage *stage, struct landscape_drawing *drawing, struct box box);
void landscape_points(struct stage *stage, struct landscape_drawing *drawing, struct box box);

#endif

/* What a view is: one way to look at the job. The frame gives it a box of the window; its layout
 * function fills the scene there, from facts (model), choices (ui) and figures (range). */
#ifndef HOLTER_VIEWER_VIEWS_COMMON_VIEW_H
#define HOLTER_VIEWER_VIEWS_COMMON_VIEW_H

#include "viewer/layout/scene.h"
#include "viewer/layout/widgets.h"
#include "viewer/model/model.h"
#include "viewer/model/range.h"
#include "viewer/ui/ui.h"
#include "viewer/views/common/pictures.h"

/** Everything that a layout function reads and writes; all pointers are borrowed. */
struct stage {
    struct brush brush;
    const struct model *model;
    const struct range *range;
    const struct ui *ui;
    struct pictures *pictures;
    enum pair_column quantity;    /**< what pairs are compared by: the chosen one, or messages where
                                   *   these have no sizes */
    const struct pictures *other; /**< of the other state beside this one; NULL: none */
    int follows; /**< 1: positions are those of the other state, the reality's is the scale */
    /** Of the run in the other half, where its network is another one: then each half has its own
     *  positions, and both the larger scale. NULL: there is none. */
    const struct range *second;
    const struct scene_hit *hover; /**< hit under the mouse in the previous scene; NULL: none */
    struct tooltip tip;            /**< filled by the view that owns the hit under the mouse */
};

/** One view. Defined as a constant by the view's main source, listed in views.c; its names are in
 * place_names. */
struct view {
    /** The icon of its room (room_icons in frame_places.c); NULL: another view's stands for it. */
    void (*icon)(const struct brush *brush, struct box box, color_t color);
    void (*layout)(struct stage *stage, struct box box);

    /** Free what the view keeps in the pictures; NULL: it keeps nothing. */
    void (*finish)(struct pictures *pictures);
};

#endif

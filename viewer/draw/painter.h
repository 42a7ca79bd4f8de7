/* From scene to pixels. Keeps the last picture and paints only panels whose hash changed. */
#ifndef HOLTER_VIEWER_DRAW_PAINTER_H
#define HOLTER_VIEWER_DRAW_PAINTER_H

#include "viewer/draw/canvas.h"
#include "viewer/draw/type.h"

#define PAINTER_DIRTY 24

struct painter {
    struct canvas canvas;
    struct scene_panel *panels; /**< owned; of the picture on the canvas */
    size_t panel_count, panel_capacity;
    double w, h, scale;
    struct clip dirty[PAINTER_DIRTY]; /**< what the last painter_paint() changed, device pixels */
    int dirty_count;
};

/** Bring the canvas up to the scene. @return 0 or -ENOMEM */
int painter_paint(struct painter *painter, const struct scene *scene, struct type *type);

void painter_finish(struct painter *painter);

#endif

/* Draws very many straight lines and discs, from back to front: a few become items of the scene,
 * many become one picture, whose cost depends on the pixels and which is reused while the strokes
 * stay the same. Memory: 28 bytes a stroke, 4 a pixel. */
#ifndef HOLTER_VIEWER_LAYOUT_STROKES_H
#define HOLTER_VIEWER_LAYOUT_STROKES_H

#include "viewer/layout/scene.h"

#include <stdint.h>

#define STROKES_ITEMS 1500u /**< maximum number of strokes drawn as items */

/** A line in logical pixels; a disc of diameter `width` if both ends are equal. */
struct stroke {
    float x0, y0, x1, y1, width;
    float away; /**< distance from the eye, for strokes_sort() */
    color_t color;
};

/** Zero-initialised is empty. */
struct strokes {
    struct stroke *all; /**< owned */
    uint32_t count, room;
    uint64_t version;   /**< incremented by strokes_clear(); in between strokes are only added */
    struct image image; /**< pixels are owned */
    uint64_t key;       /**< hash of the strokes that the picture shows; 0: none */

    uint32_t *back; /**< owned; pixels of a picture in progress */
    int back_w, back_h, busy;
    float left, top, scale; /**< from strokes to pixels */
    uint32_t next;          /**< stroke to be painted next */
};

void strokes_finish(struct strokes *strokes);
void strokes_clear(struct strokes *strokes);

/** Add a stroke; it is omitted when memory runs out. */
void strokes_add(struct strokes *strokes, const struct stroke *stroke);

/** Sort by distance, the farthest first; equal distances keep their order. When memory runs out all
 * keep it. */
void strokes_sort(struct strokes *strokes);

/** Draw the strokes into the scene's open panel, whose box is `box`.
 * @param ground  colour of the background */
void strokes_draw(struct strokes *strokes, struct scene *scene, struct box box, color_t ground);

/** Draw them as items of the scene, whatever their number. */
void strokes_draw_items(const struct strokes *strokes, struct scene *scene);

/** Draw incrementally instead: begin a picture of w x h pixels, whatever the number of strokes. The
 * strokes are in pixels of that picture and must not change until it is complete; `image` remains
 * the previous picture until then.
 * @return 0 or -ENOMEM */
int strokes_begin(struct strokes *strokes, int w, int h, color_t ground);

/** Do a part of the work. @param units  approximate number of pixels to paint @return 1 while work
 * remains */
int strokes_work(struct strokes *strokes, uint64_t units);

#endif

/* Very many straight lines and discs, from back to front: few become items of the scene, many one
 * picture, which costs a pixel what it covers and is kept while the strokes stay the same. Memory:
 * 28 bytes a stroke, 4 a pixel. */
#ifndef HOLTER_VIEWER_LAYOUT_STROKES_H
#define HOLTER_VIEWER_LAYOUT_STROKES_H

#include "viewer/layout/scene.h"

#include <stdint.h>

#define STROKES_ITEMS 1500u /**< most strokes that become items */

/** Logical pixels; a disc of that width where both ends are the same. */
struct stroke {
    float x0, y0, x1, y1, width;
    float away; /**< for strokes_sort() */
    color_t color;
};

/** Zero-initialised is empty. */
struct strokes {
    struct stroke *all; /**< owned */
    uint32_t count, room;
    uint64_t version;   /**< raised when they are cleared: until then they only grow */
    struct image image; /**< pixels are owned */
    size_t pixels;      /**< allocated */
    uint64_t key;       /**< of the strokes that the picture shows; 0: none */

    uint32_t *back; /**< owned; pixels of a picture in progress */
    int back_w, back_h, busy;
    uint32_t next; /**< stroke to be painted next */
};

void strokes_finish(struct strokes *strokes);
void strokes_clear(struct strokes *strokes);

/** Without memory a stroke is left out. */
void strokes_add(struct strokes *strokes, const struct stroke *stroke);

/** The farthest first. */
void strokes_sort(struct strokes *strokes);

/** Put them into the scene's panel, which box fills.
 *  @param ground  what lies under them */
void strokes_draw(struct strokes *strokes, struct scene *scene, struct box box, color_t ground);

/** Or in shares: begin a picture of w x h pixels, whatever the number of strokes. They lie in its
 * pixels already, and must stay until it is done; image is the picture before until then.
 *  @return 0 or -ENOMEM */
int strokes_begin(struct strokes *strokes, int w, int h, color_t ground);

/** @param units  about how many pixels may be painted  @return 1 while more is to be done */
int strokes_work(struct strokes *strokes, uint64_t units);

#endif

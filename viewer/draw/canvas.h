/* Shapes on memory: the same pixels on every machine, with or without a display. Coordinates are
 * device pixels; everything is clipped; edges are anti-aliased by the share of a pixel that they
 * cover. */
#ifndef HOLTER_VIEWER_DRAW_CANVAS_H
#define HOLTER_VIEWER_DRAW_CANVAS_H

#include "viewer/layout/scene.h"

#include <stdio.h>

/** Most points of a curve, an area or a polygon. */
#define CANVAS_POINTS 4096

/** Right and bottom edges are outside. */
struct clip {
    int x0, y0, x1, y1;
};

struct canvas {
    uint32_t *pixels; /**< owned; 0xffRRGGBB, row by row */
    int w, h;
    struct clip clip;
    uint8_t *cover;    /**< owned; of a curve, by pixel of its box; zero between curves */
    uint32_t *covered; /**< owned; the pixels where it is not zero */
    size_t cover_capacity;
};

/** Make it w x h; what was drawn is lost. @return 0 or -ENOMEM */
int canvas_resize(struct canvas *canvas, int w, int h);
void canvas_finish(struct canvas *canvas);

struct clip clip_and(struct clip a, struct clip b);
int clip_empty(struct clip clip);

void canvas_rect(struct canvas *canvas, struct clip box, color_t color);
void canvas_round(struct canvas *canvas, struct box box, double radius, color_t color);
void canvas_outline(struct canvas *canvas, struct box box, double radius, double width,
                    color_t color);
void canvas_disc(struct canvas *canvas, double x, double y, double radius, color_t color);
void canvas_curve(struct canvas *canvas, const struct point *points, size_t count, double width,
                  color_t color);
/** Points in twos, upper and lower edge. */
void canvas_area(struct canvas *canvas, const struct point *points, size_t count, color_t color);
void canvas_polygon(struct canvas *canvas, const struct point *points, size_t count, color_t color);
void canvas_image(struct canvas *canvas, struct box box, const struct image *image);

/** A bitmap of coverage in one colour. */
void canvas_mask(struct canvas *canvas, int x, int y, const uint8_t *mask, int w, int h,
                 color_t color);

typedef int picture_write_fn(FILE *file, const void *picture);

/** Write a picture, or text, by a function. The file appears complete or not at all (written beside
 * it, then renamed). @return 0 or -errno; what `write` returns, unless that is 0 */
int picture_write(const char *path, picture_write_fn *write, const void *picture);

/** Write the canvas as PNG; see picture_write(). */
int png_write(const struct canvas *canvas, const char *path);

#endif

/* Letters: fonts at the sizes of the text styles, and a cache of what was drawn with them. */
#ifndef HOLTER_VIEWER_DRAW_TYPE_H
#define HOLTER_VIEWER_DRAW_TYPE_H

#include "viewer/draw/canvas.h"

struct type;

/** Load the fonts: HOLTER_FONT, else Inter, else DejaVu Sans.
 *  @param scale  device pixels per logical pixel
 *  @param why    room for a sentence that says what was looked for where, on failure
 *  @return 0, -ENOENT when no font was found, or -ENOMEM */
int type_create(struct type **out, double scale, char *why, size_t capacity);

/** NULL is fine. */
void type_destroy(struct type *type);

/** Another scale: the fonts are loaded again. @return 0 or as type_create() (the old ones stay) */
int type_rescale(struct type *type, double scale);

/** For layouts: widths are those that type_draw() will give. Valid as long as the type. */
struct text_measure type_measure(struct type *type);

/** Draw a text with its line's upper left corner at a device pixel. */
void type_draw(struct type *type, struct canvas *canvas, double x, double y, enum text_style style,
               int flags, color_t color, const char *text);

#endif

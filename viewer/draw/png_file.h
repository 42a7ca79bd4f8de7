/* Pictures as PNG files. */
#ifndef HOLTER_VIEWER_DRAW_PNG_FILE_H
#define HOLTER_VIEWER_DRAW_PNG_FILE_H

#include "viewer/draw/canvas.h"

/** Write the canvas. The file appears complete or not at all (written beside it, then renamed).
 *  @return 0 or -errno */
int png_write(const struct canvas *canvas, const char *path);

#endif

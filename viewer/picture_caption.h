/* What a saved picture says of itself. */
#ifndef HOLTER_VIEWER_PICTURE_CAPTION_H
#define HOLTER_VIEWER_PICTURE_CAPTION_H

#include "viewer/ui/ui.h"

#include <stddef.h>

/** "Regions, 2026-11-22 14:03:07 to 14:04:07, scale 2": the view, the visible time with its day,
 *  and device pixels for each logical one. Job and ranks are in the header of every picture.
 *  @param view  the view's label @return out */
char *picture_caption(const struct ui *ui, const struct model *model, const char *view, char *out,
                      size_t capacity);

#endif

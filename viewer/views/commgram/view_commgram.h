/* View "commgram" (CommGram): the curve of communication patterns over time, and below it the
 * phases of the visible time as bars of communities with the messages between them. */
#ifndef HOLTER_VIEWER_VIEWS_COMMGRAM_VIEW_COMMGRAM_H
#define HOLTER_VIEWER_VIEWS_COMMGRAM_VIEW_COMMGRAM_H

#include "viewer/views/common/view.h"

extern const struct view commgram_view;

void commgram_drawing_destroy(struct commgram_drawing *drawing);

#endif

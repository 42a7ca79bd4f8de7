/* The window: SDL's events become inputs, the canvas becomes what is seen. */
#ifndef HOLTER_VIEWER_DRAW_WINDOW_H
#define HOLTER_VIEWER_DRAW_WINDOW_H

#include "viewer/draw/painter.h"
#include "viewer/layout/input_event.h"

struct window;

/** Open a window.
 *  @param scale  the user's own factor, less in small windows; that of the display is multiplied to
 * it
 *  @param why    room for a sentence, on failure
 *  @return 0 or a negative error */
int window_open(struct window **out, int w, int h, double scale, char *why, size_t capacity);

/** NULL is fine. */
void window_close(struct window *window);

/** Device pixels per logical pixel now. */
double window_scale(const struct window *window);

/** Size in logical pixels. */
void window_size(const struct window *window, double *w, double *h);

/** Wait for the next event.
 *  @return 1 when input was set, 0 when none came in time, 2 for an event that is no input, such as
 * that the window must be shown again */
int window_wait(struct window *window, int timeout_ms, struct input *input);

/** Put a text into the clipboard. @return 0: the window system refused */
int window_copy(const char *text);

/** Show what the painter changed; all of it when the window system lost the picture. */
void window_show(struct window *window, const struct painter *painter);

#endif

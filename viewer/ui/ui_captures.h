/* Which capture is shown, and which part of its time. */
#ifndef HOLTER_VIEWER_UI_UI_CAPTURES_H
#define HOLTER_VIEWER_UI_UI_CAPTURES_H

#include "viewer/layout/scene.h"
#include "viewer/model/model.h"
#include "viewer/ui/ui_command.h"

struct ui;
struct input;

/** Choices about captures. */
struct ui_capture_choice {
    uint64_t chosen;          /**< that was chosen; 0: none */
    uint64_t requested;       /**< least number of the one that was requested here; 0: none was */
    int64_t begin_ns, end_ns; /**< visible time; equal: all of it */
    int rows;                 /**< 1: rows are high enough to read each rank */
};

/** The capture to show: the chosen one, else the one that was requested here, else that of the
 *  chosen alert, else the newest. NULL: none. */
const struct capture *ui_capture(const struct ui *ui, const struct model *model);

/** Argument of the request "capture" for the selected ranks, or all. @return out */
char *ui_capture_argument(const struct ui *ui, const struct model *model, char *out,
                          size_t capacity);

/** Its visible time. */
void ui_capture_span(const struct ui *ui, const struct capture *capture, int64_t *begin,
                     int64_t *end);

/** Commands, arrows and the mouse in the view of captures. */
int ui_capture_command(struct ui *ui, const struct model *model, enum ui_command command,
                       uint64_t argument);
int ui_capture_arrow(struct ui *ui, const struct model *model, int horizontal, int far);
void ui_capture_drag(struct ui *ui, const struct model *model, const struct scene_hit *hit,
                     double dx, double dy);
void ui_capture_wheel(struct ui *ui, const struct model *model, const struct scene_hit *hit,
                      const struct input *in);
void ui_capture_click(struct ui *ui, const struct model *model, const struct scene_hit *hit);

#endif

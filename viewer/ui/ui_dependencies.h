/* Choices about the graph of dependencies: its arrangement, its visible part, and the message whose
 * critical chain is shown. The capture is that of the view of captures. */
#ifndef HOLTER_VIEWER_UI_UI_DEPENDENCIES_H
#define HOLTER_VIEWER_UI_UI_DEPENDENCIES_H

#include "viewer/layout/scene.h"
#include "viewer/model/model.h"
#include "viewer/ui/ui_command.h"

struct ui;
struct input;

/** What is from left to right: layers of nodes, logical steps of events, or windows of the job with
 *  the lateness of ranks, of which no capture is needed. */
enum dependency_arrangement { BY_LAYER, BY_STEP, BY_WINDOW, DEPENDENCY_ARRANGEMENTS };

/** What the lanes of the graph are. */
enum dependency_fold { FOLD_AUTO, FOLD_RANKS, FOLD_NODES, FOLDS };

struct ui_dependencies_choice {
    int steps;                 /**< enum dependency_arrangement */
    enum dependency_fold fold; /**< automatic: by node where there are many ranks */
    uint64_t open;             /**< host of the capture whose ranks have lanes of their own, + 1 */
    int visible;               /**< 1: only what overlaps the visible time; 0: the whole capture */
    uint64_t message;          /**< event of the chosen message, + 1; 0: the latest one */
    uint64_t message_subject;  /**< the graph that it belongs to: ui_dependencies_subject() */
    double first;              /**< first visible column; the layout limits it */
    double zoom;               /**< 0: as if 1; columns get this much wider */
};

/** The capture to show: that of the view of captures; with the visible time, where none was chosen
 *  and that one has no calls in it, the newest one that has. NULL: none. */
const struct capture *ui_dependencies_capture(const struct ui *ui, const struct model *model);

/** The time that the graph is limited to, daemon time. Both 0: it is not limited. */
void ui_dependencies_span(const struct ui *ui, const struct model *model, int64_t *begin,
                          int64_t *end);

/** A number that differs between graphs of different captures or times. */
uint64_t ui_dependencies_subject(const struct ui *ui, const struct model *model);

/** Width of a column by that of zoom 1. */
double ui_dependencies_zoom(const struct ui *ui);

/** Makes the first columns and lanes visible. */
void ui_dependencies_begin(struct ui *ui);

/** Commands, arrows and the mouse in the view. */
int ui_dependencies_command(struct ui *ui, const struct model *model, enum ui_command command,
                            uint64_t argument);
int ui_dependencies_arrow(struct ui *ui, const struct scene *scene, int horizontal, int far);
void ui_dependencies_drag(struct ui *ui, const struct scene_hit *hit, double dx, double dy);
void ui_dependencies_wheel(struct ui *ui, const struct scene_hit *hit, const struct input *in);

#endif

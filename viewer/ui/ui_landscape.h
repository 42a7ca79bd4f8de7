/* Choices about the view of metrics by rank and function: what is shown, how, and which part of it.
 */
#ifndef HOLTER_VIEWER_UI_UI_LANDSCAPE_H
#define HOLTER_VIEWER_UI_UI_LANDSCAPE_H

#include "viewer/layout/scene.h"
#include "viewer/model/rank_calls.h"
#include "viewer/ui/camera.h"
#include "viewer/ui/ui_command.h"

#include "daemon/analysis/formulas/formulas.h"

struct ui;

/** Ways to show the same figures. */
enum landscape_shape {
    LANDSCAPE_LIST,      /**< ranks in the order of one figure */
    LANDSCAPE_MATRIX,    /**< functions by ranks */
    LANDSCAPE_HISTOGRAM, /**< how many ranks have which value */
    LANDSCAPE_WALLS,     /**< in space: functions by ranks by value */
    LANDSCAPE_LAYOUT,    /**< a point for each rank, where a formula puts it */
    LANDSCAPE_SHAPES,
};

enum landscape_axis_mode { LANDSCAPE_AXIS_ALL, LANDSCAPE_AXIS_SLICE, LANDSCAPE_AXIS_MEAN };

enum landscape_drag { LANDSCAPE_TURN = 1, LANDSCAPE_PAN };

#define LANDSCAPE_EVENTS 4    /**< that formulas may use: event0 to event3 */
#define LANDSCAPE_LEVELS 4000 /**< steps of the range of values in COMMAND_LANDSCAPE_LEVEL */

struct landscape_choice {
    enum landscape_shape shape;
    enum rank_calls_by by;
    struct landscape_event {
        uint32_t id; /**< 1 + function or region; 0: the next by time */
        enum rank_figure figure;
    } events[LANDSCAPE_EVENTS];
    int event;        /**< the one that clicks change */
    double low, high; /**< visible values, as shares of their range; low above high: those that are
                           not between them */
    int handle;       /**< end that is dragged: 0 low, 1 high */
    struct landscape_axis {
        enum landscape_axis_mode mode;
        double at; /**< of a slice: share of the axis */
    } axes[3];
    struct camera camera;     /**< of the pictures in space, in radii */
    enum landscape_drag drag; /**< what a drag does; 0: nothing in space */
    uint32_t layout;
    struct formulas *built_in, *given; /**< owned; NULL: none */
    char given_name[128];              /**< file of the latter */
};

void landscape_init(struct landscape_choice *choice);
void landscape_finish(struct landscape_choice *choice);

/** Shows the first layout of a file. @param formulas  taken over */
void landscape_give(struct landscape_choice *choice, struct formulas *formulas, const char *name);

/** The chosen layout. @param index  set to its number in the result  @return NULL: there is none */
const struct formulas *landscape_layout(const struct landscape_choice *choice, uint32_t *index);

/** Whether a value is visible. @param share  of the range of values */
int landscape_passes(const struct landscape_choice *choice, double share);

/** Commands that begin with COMMAND_LANDSCAPE. */
int landscape_command(struct ui *ui, const struct model *model, enum ui_command command,
                      uint64_t argument);

/** Mouse: a button was pressed; the mouse moved while it is (@return 1: it was handled); a click on
 * HIT_LEVEL or HIT_SLICE. */
void landscape_press(struct ui *ui, int ctrl);
int landscape_move(struct ui *ui, double dx, double dy);
void landscape_click(struct ui *ui, const struct scene_hit *hit, int clicks);

#endif

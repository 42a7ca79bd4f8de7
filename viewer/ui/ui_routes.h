/* What the route matrix shows: order, visible part, folded blocks and the lens. */
#ifndef HOLTER_VIEWER_UI_UI_ROUTES_H
#define HOLTER_VIEWER_UI_UI_ROUTES_H

#include "viewer/model/model.h"
#include "viewer/ui/ui_command.h"

struct ui;

/** Choices about the route matrix. */
struct ui_routes_choice {
    uint8_t order[TOPOLOGY_DIMENSIONS]; /**< dimensions, the slowest first */
    uint32_t dimensions; /**< number of dimensions; 0: the order of the nodes' numbers */
    double x, y, extent; /**< visible part, as shares of the matrix; 0: all */
    int fold;            /**< level + 1 whose blocks without routes are folded; 0: none */
    int lens;            /**< 1: it follows the mouse */
    double lens_zoom;
    int loads;        /**< 1: links outlined by their load */
    uint32_t maximum; /**< heaviest routes shown without a selection and a filter */
};

/** Visible part of the route matrix, shares of its sides; zoom around a place and move it;
 * commands.
 */
void ui_routes(const struct ui *ui, double *x, double *y, double *extent);
void ui_zoom_routes(struct ui *ui, const struct model *model, double factor, double x, double y);
void ui_pan_routes(struct ui *ui, double dx, double dy);
void ui_move_routes(struct ui *ui, int horizontal, int vertical, int far);
void ui_zoom_lens(struct ui *ui, double factor);

/** Argument of COMMAND_FOLD for the next level; without known dimensions as if there were three. */
uint64_t ui_routes_next_fold(const struct ui *ui, const struct model *model);

int ui_routes_command(struct ui *ui, const struct model *model, enum ui_command command,
                      uint64_t argument);

#endif

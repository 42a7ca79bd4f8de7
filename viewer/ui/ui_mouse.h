/* The position of the mouse, and what its button was pressed on. */
#ifndef HOLTER_VIEWER_UI_UI_MOUSE_H
#define HOLTER_VIEWER_UI_UI_MOUSE_H

#include "viewer/layout/scene.h"

/** The mouse; positions are logical pixels. */
struct ui_mouse_state {
    double x, y;              /**< negative: the mouse is outside the window */
    struct scene_hit pressed; /**< what the button was pressed on; kind HIT_NONE: it is released */
    struct scene_hit ground;  /**< the graph below that, which a drag moves; kind HIT_NONE: none */
    double press_x, press_y, last_x, last_y;
    int dragging;
};

#endif

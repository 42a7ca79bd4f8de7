/* Inputs of mouse and keyboard, and what they do. */
#ifndef HOLTER_VIEWER_UI_UI_INPUT_H
#define HOLTER_VIEWER_UI_UI_INPUT_H

#include "viewer/ui/ui.h"

enum input_kind {
    INPUT_KEY,
    INPUT_TEXT, /**< typed letters: of the search, else commands */
    INPUT_MOVE,
    INPUT_LEAVE, /**< the mouse left the window */
    INPUT_PRESS, /**< left button */
    INPUT_RELEASE,
    INPUT_WHEEL,
    INPUT_RESIZE,
    INPUT_QUIT,
};

/** Keys that are no letters; letters are their Unicode code point in lower case. */
enum input_key {
    KEY_ESCAPE = 0x110000,
    KEY_BACKSPACE,
    KEY_ENTER,
    KEY_TAB,
    KEY_LEFT,
    KEY_RIGHT,
    KEY_UP,
    KEY_DOWN,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN,
    KEY_HOME,
    KEY_END,
};

struct input {
    enum input_kind kind;
    int key;
    int shift, ctrl;
    double x, y;  /**< of the mouse, or the window's new size, logical pixels */
    double wheel; /**< notches, positive away from the user */
    int clicks;   /**< 2: double click */
    char text[32];
};

/** @param scene  the one the user saw when the input was made
 *  @return enum ui_effect, or-ed */
int ui_input(struct ui *ui, const struct model *model, const struct scene *scene,
             const struct input *input);

/** Select what the keys are on, now that its row is in the scene. @return 1 when the selection
 * changed */
int ui_settle(struct ui *ui, const struct model *model, const struct scene *scene);

#endif

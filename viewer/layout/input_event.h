/* One input of mouse, keyboard or window system, translated from what the display library reports.
 * The drawing code fills it, the user interface acts on it; neither needs to know the other. */
#ifndef HOLTER_VIEWER_LAYOUT_INPUT_EVENT_H
#define HOLTER_VIEWER_LAYOUT_INPUT_EVENT_H

enum input_kind {
    INPUT_KEY,
    INPUT_TEXT, /**< typed text: part of the search text, or a command key */
    INPUT_MOVE,
    INPUT_LEAVE, /**< the mouse left the window */
    INPUT_PRESS, /**< left button */
    INPUT_RELEASE,
    INPUT_WHEEL,
    INPUT_RESIZE,
    INPUT_QUIT,
};

/** Non-letter keys; a letter is represented by its lower-case Unicode code point. */
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
    KEY_BACK,    /**< Alt and left */
    KEY_FORWARD, /**< Alt and right */
    KEY_COPY,    /**< Ctrl and C */
    KEY_PRINT,   /**< Ctrl and P */
};

struct input {
    enum input_kind kind;
    int key;
    int shift, ctrl;
    double x, y;  /**< of the mouse, or the new size of the viewer's window, logical pixels */
    double wheel; /**< notches, positive away from the user */
    int clicks;   /**< 2: double click */
    char text[32];
};

#endif

/* Scroll position, order and cursor of every list. */
#ifndef HOLTER_VIEWER_UI_UI_LIST_STATE_H
#define HOLTER_VIEWER_UI_UI_LIST_STATE_H

#include <stdint.h>

enum ui_list {
    LIST_PAIRS,
    LIST_RANKS,
    LIST_CALLS,
    LIST_NODES,
    LIST_JOBS,
    LIST_FOUND,
    LIST_ALERTS,
    LIST_SERIES, /**< regions in the evolution strip */
    LIST_LINKS,
    LIST_CAPTURE, /**< threads of a capture */
    UI_LISTS
};

/** State of the lists, by enum ui_list. */
struct ui_list_state {
    double scroll[UI_LISTS]; /**< first visible row */
    int sort[UI_LISTS];      /**< column, or -1 */
    int descending[UI_LISTS];
    uint32_t cursor[UI_LISTS]; /**< row at the keyboard cursor */
    int cursor_moved; /**< enum ui_list + 1 whose row at the cursor is to be selected once it is
                         laid out */
};

#endif

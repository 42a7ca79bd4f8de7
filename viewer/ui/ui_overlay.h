/* What covers the views: help, drawer, search and notice. */
#ifndef HOLTER_VIEWER_UI_UI_OVERLAY_H
#define HOLTER_VIEWER_UI_UI_OVERLAY_H

#include <stdint.h>

/** Which overlays are open. */
struct ui_overlay_state {
    int help, drawer, searching;
    char search[64];
    char notice[160]; /**< one line for the user, such as "picture saved"; "": none */
    uint64_t notice_until_ms;
};

#endif

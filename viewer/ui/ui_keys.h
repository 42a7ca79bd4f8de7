/* The keys: one table that the inputs, the help overlay and the manual page share. A key has one
 * meaning. */
#ifndef HOLTER_VIEWER_UI_UI_KEYS_H
#define HOLTER_VIEWER_UI_UI_KEYS_H

#include "viewer/places/place.h"

#include <stddef.h>
#include <stdint.h>

/** What keys do; several keys of one line differ by their position in it. */
enum key_id {
    KEYS_ROOM,
    KEYS_FOCUS,
    KEYS_ENTER,
    KEYS_BACK,
    KEYS_FORWARD,
    KEYS_COPY,
    KEYS_ADDRESS,
    KEYS_SEARCH,
    KEYS_ESCAPE,
    KEYS_PAUSE,
    KEYS_FOLLOW,
    KEYS_BEGIN,
    KEYS_ARROWS,
    KEYS_PAGE,
    KEYS_ZOOM,
    KEYS_ALL,
    KEYS_SUMS,
    KEYS_QUANTITY,
    KEYS_DRAWER,
    KEYS_THEME,
    KEYS_PICTURE,
    KEYS_HELP,
    KEYS_QUIT,
    KEYS_STEP,
    KEYS_SPEED,
    KEYS_MARK,
    KEYS_LOOP,
    KEYS_AMOUNT,
    KEYS_FIGURE,
    KEYS_AXIS,
    KEYS_COMMUNITIES,
    KEYS_COLLECTIVES,
    KEYS_GROUP,
    KEYS_SHAPE,
    KEYS_LAYOUT,
    KEYS_COMPRESS,
    KEYS_COLOUR,
    KEYS_CAPTURE,
    KEYS_SINGLE,
    KEYS_READ,
    KEYS_STEPS,
    KEYS_VISIBLE,
    KEYS_LOGARITHM,
    KEYS_LASSO,
    KEYS_CIRCLES,
    KEYS_PIN,
    KEYS_PLAY,
    KEYS_TORUS_FOLD,
    KEYS_LENS,
    KEYS_ROUTE_FOLD,
    KEYS_ORDER,
    KEYS_LOADS,
    KEYS_REROUTE,
    KEYS_COMPARE,
    KEYS_UNDO,
    KEY_IDS
};

/** A line of the table. */
struct key_line {
    enum key_id id;
    int keys[5];         /**< codes as in struct input; 0: no further one */
    const char *shown;   /**< the keys, for people */
    const char *context; /**< where they have a meaning, for people; "": everywhere */
    uint32_t views;      /**< and as bits 1 << enum view_id; 0: everywhere */
    const char *words;
};

extern const struct key_line key_lines[KEY_IDS];

/** Line of a key; NULL: it has no meaning. @param which  set to its position in the line */
const struct key_line *key_find(int key, int *which);

#endif

/* The keys: one list that the inputs, the help overlay and the manual page share. A key has one
 * meaning. */
#ifndef HOLTER_VIEWER_UI_UI_KEYS_H
#define HOLTER_VIEWER_UI_UI_KEYS_H

#include "viewer/places/place.h"

#include <stddef.h>
#include <stdint.h>

/** Views as bits 1 << enum view_id. */
#define KEY_IN(view) (UINT32_C(1) << (view))
#define KEY_IN_GRAPHS (KEY_IN(VIEW_CAPTURES) | KEY_IN(VIEW_DEPENDENCIES))
#define KEY_IN_NETWORK                                                                             \
    (KEY_IN(VIEW_LINKS) | KEY_IN(VIEW_NETWORK) | KEY_IN(VIEW_TORUS) | KEY_IN(VIEW_ROUTES) |        \
     KEY_IN(VIEW_WHAT_IF))

/** The members of struct key_line, the codes of the keys last. */
#define KEY_LINES(X)                                                                               \
    X(KEYS_ROOM, "1 \xe2\x80\xa6 5", "rooms, as in the rail; again: its next place", "", 0, '1',   \
      '2', '3', '4', '5')                                                                          \
    X(KEYS_FOCUS, "Tab", "next button; with Shift the one before", "", 0, KEY_TAB)                 \
    X(KEYS_ENTER, "Enter", "press that button; choose what was found, or the job", "", 0,          \
      KEY_ENTER)                                                                                   \
    X(KEYS_BACK, "Backspace, Alt \xe2\x86\x90", "back to where you were", "", 0, KEY_BACKSPACE,    \
      KEY_BACK)                                                                                    \
    X(KEYS_FORWARD, "Alt \xe2\x86\x92", "forward again", "", 0, KEY_FORWARD)                       \
    X(KEYS_COPY, "Ctrl C, C", "copy rows, all or selected; C: as csv", "", 0, KEY_COPY, 'C')       \
    X(KEYS_ADDRESS, "Y", "copy the address of what is seen", "", 0, 'Y')                           \
    X(KEYS_SEARCH, "/", "find a rank, host, link, call or alert", "", 0, '/')                      \
    X(KEYS_ESCAPE, "Esc", "close, or clear the selection", "", 0, KEY_ESCAPE)                      \
    X(KEYS_PAUSE, "space", "hold this span of time; a replay: pause, play", "", 0, ' ')            \
    X(KEYS_FOLLOW, "f, End", "follow the newest data", "", 0, 'f', KEY_END)                        \
    X(KEYS_BEGIN, "Home", "begin of the job", "", 0, KEY_HOME)                                     \
    X(KEYS_ARROWS, "arrows", "move in time, in a list, or in the picture", "", 0, KEY_LEFT,        \
      KEY_RIGHT, KEY_UP, KEY_DOWN)                                                                 \
    X(KEYS_PAGE, "Page up, down", "a page of a list", "", 0, KEY_PAGE_UP, KEY_PAGE_DOWN)           \
    X(KEYS_ZOOM, "+  \xe2\x88\x92", "zoom time or the picture", "", 0, '+', '-', '=')              \
    X(KEYS_ALL, "0", "all of the picture or of the time", "", 0, '0')                              \
    X(KEYS_SUMS, "w", "sums of the visible time, or since the start", "", 0, 'w')                  \
    X(KEYS_QUANTITY, "b", "messages or bytes", "", 0, 'b')                                         \
    X(KEYS_DRAWER, "d", "the right column in small windows", "", 0, 'd')                           \
    X(KEYS_THEME, "t", "dark or light", "", 0, 't')                                                \
    X(KEYS_PICTURE, "s  S, Ctrl P", "save a picture, its scene as text, a page to print", "", 0,   \
      's', 'S', KEY_PRINT)                                                                         \
    X(KEYS_HELP, "?, h", "keys and mouse", "", 0, '?', 'h')                                        \
    X(KEYS_QUIT, "q", "quit", "", 0, 'q')                                                          \
    X(KEYS_STEP, ",  .", "a window back, a window on", "replay", 0, ',', '.')                      \
    X(KEYS_SPEED, "<  >", "slower, faster", "replay", 0, '<', '>')                                 \
    X(KEYS_MARK, "(  )", "to the alert before, to the next", "replay", 0, '(', ')')                \
    X(KEYS_LOOP, "L", "in a loop, or not", "replay", 0, 'L')                                       \
    X(KEYS_AMOUNT, "[  ]", "fewer or more phases, or of the largest", "CommGram, links, routes",   \
      KEY_IN(VIEW_COMMGRAM) | KEY_IN(VIEW_LINKS) | KEY_IN(VIEW_WHAT_IF) | KEY_IN(VIEW_ROUTES),     \
      '[', ']')                                                                                    \
    X(KEYS_FIGURE, "n", "next figure to rank and colour by", "network, metrics",                   \
      KEY_IN_NETWORK | KEY_IN(VIEW_LANDSCAPE), 'n')                                                \
    X(KEYS_AXIS, "x  y  z", "look along this axis, or average over it", "torus, metrics",          \
      KEY_IN(VIEW_TORUS) | KEY_IN(VIEW_LANDSCAPE), 'x', 'y', 'z')                                  \
    X(KEYS_COMMUNITIES, "{  }", "fewer or more communities", "CommGram", KEY_IN(VIEW_COMMGRAM),    \
      '{', '}')                                                                                    \
    X(KEYS_COLLECTIVES, "m", "with or without collectives", "CommGram", KEY_IN(VIEW_COMMGRAM),     \
      'm')                                                                                         \
    X(KEYS_GROUP, "g", "sums by function, communicator or code region", "calls",                   \
      KEY_IN(VIEW_CALLS), 'g')                                                                     \
    X(KEYS_SHAPE, "p", "next shape", "metrics", KEY_IN(VIEW_LANDSCAPE), 'p')                       \
    X(KEYS_LAYOUT, "P", "next layout", "metrics", KEY_IN(VIEW_LANDSCAPE), 'P')                     \
    X(KEYS_COMPRESS, "c", "compress time without growth", "over time", KEY_IN(VIEW_LIVE), 'c')     \
    X(KEYS_COLOUR, "l", "colour by region or by latency", "regions", KEY_IN(VIEW_REGIONS), 'l')    \
    X(KEYS_CAPTURE, ";  :", "the capture before, the next", "captures, graph", KEY_IN_GRAPHS, ';', \
      ':')                                                                                         \
    X(KEYS_SINGLE, "o", "each rank in a row of its own, or not", "captures, graph", KEY_IN_GRAPHS, \
      'o')                                                                                         \
    X(KEYS_READ, "R", "read the last calls of ranks back now", "captures, graph", KEY_IN_GRAPHS,   \
      'R')                                                                                         \
    X(KEYS_STEPS, "#", "by layer, by logical step, or by window", "graph",                         \
      KEY_IN(VIEW_DEPENDENCIES), '#')                                                              \
    X(KEYS_VISIBLE, "v", "of the visible time only", "graph", KEY_IN(VIEW_DEPENDENCIES), 'v')      \
    X(KEYS_LOGARITHM, "i", "figures against the logarithm of the position", "links",               \
      KEY_IN(VIEW_LINKS) | KEY_IN(VIEW_WHAT_IF), 'i')                                              \
    X(KEYS_LASSO, "e", "move, or draw a lasso", "network", KEY_IN(VIEW_NETWORK), 'e')              \
    X(KEYS_CIRCLES, "V", "what the size of circles shows", "network", KEY_IN(VIEW_NETWORK), 'V')   \
    X(KEYS_PIN, "K", "keep the present picture as a panel", "torus", KEY_IN(VIEW_TORUS), 'K')      \
    X(KEYS_PLAY, "A", "play the windows one by one", "torus", KEY_IN(VIEW_TORUS), 'A')             \
    X(KEYS_TORUS_FOLD, "E", "links that coincide: largest, mean or sum", "torus",                  \
      KEY_IN(VIEW_TORUS), 'E')                                                                     \
    X(KEYS_LENS, "M", "magnifying lens", "routes", KEY_IN(VIEW_ROUTES), 'M')                       \
    X(KEYS_ROUTE_FOLD, "F", "fold blocks without routes", "routes", KEY_IN(VIEW_ROUTES), 'F')      \
    X(KEYS_ORDER, "O", "next order of the dimensions", "routes", KEY_IN(VIEW_ROUTES), 'O')         \
    X(KEYS_LOADS, "k", "loads of links", "routes", KEY_IN(VIEW_ROUTES), 'k')                       \
    X(KEYS_REROUTE, "r", "ask for better routes", "routes", KEY_IN(VIEW_ROUTES), 'r')              \
    X(KEYS_COMPARE, "a", "before, after, difference or both", "what-if", KEY_IN_NETWORK, 'a')      \
    X(KEYS_UNDO, "u", "undo the newest step", "what-if", KEY_IN_NETWORK, 'u')

/** What keys do; several keys of one line differ by their position in it. */
enum key_id {
#define X(id, ...) id,
    KEY_LINES(X)
#undef X
        KEY_IDS
};

/** A line of the table. */
struct key_line {
    enum key_id id;
    const char *shown; /**< the keys, for people */
    const char *words;
    const char *context; /**< where they have a meaning, for people; "": everywhere */
    uint32_t views;      /**< and as bits; 0: everywhere */
    int keys[5];         /**< codes as in struct input; 0: no further one */
};

extern const struct key_line key_lines[KEY_IDS];

/** Line of a key; NULL: it has no meaning. @param which  set to its position in the line */
const struct key_line *key_find(int key, int *which);

#endif

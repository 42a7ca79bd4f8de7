/* The terminal of `holter top`: draws pages, reads keys (ncurses). One at a time. */
#ifndef HOLTER_AGENT_CLI_TOP_TOP_SCREEN_H
#define HOLTER_AGENT_CLI_TOP_TOP_SCREEN_H

#include "agent/cli/top/top_layout.h"

enum top_key {
    TOP_KEY_NONE, /**< nothing was pressed */
    TOP_KEY_OTHER,
    TOP_KEY_QUIT,
    TOP_KEY_UP,
    TOP_KEY_DOWN,
    TOP_KEY_ENTER,
    TOP_KEY_PAUSE,
    TOP_KEY_SORT,
    TOP_KEY_HELP,
    TOP_KEY_RESIZED,
};

struct top_screen;

/** Switch the terminal at standard input and output to drawing.
 *  @return 0, -ENOMEM, or -ENOTTY: TERM names no terminal that can be drawn on */
int top_screen_create(struct top_screen **out);

/** Restore the terminal. NULL is fine. */
void top_screen_destroy(struct top_screen *screen);

/** Current size in characters. */
void top_screen_size(int *rows, int *columns);

void top_screen_draw(struct top_screen *screen, const struct top_page *page);

/** Next key; does not wait. */
enum top_key top_screen_key(void);

/** Is the character set of the locale UTF-8? setlocale() must have been called. */
bool top_screen_utf8(void);

#endif

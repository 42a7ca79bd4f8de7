/* Writing lines of a page, cell by cell. */
#ifndef HOLTER_AGENT_CLI_TOP_TOP_PEN_H
#define HOLTER_AGENT_CLI_TOP_TOP_PEN_H

#include "agent/cli/top/top_layout.h"

struct top_pen {
    struct top_page *page;
    const struct top_view *view;
    struct top_line *line; /* being written */
    size_t length;         /* bytes of it */
};

/** Begin the page's next line. @return 0 if the page is full: further output is discarded */
int top_pen_line(struct top_pen *pen);

/** Write a cell.
 *  @param width  above 0: exactly so many columns, filled up or cut with an ellipsis; below 0: the
 *                same, text to the right; 0: as long as the text, or what is left of the line */
void top_pen_put(struct top_pen *pen, enum top_style style, int width, const char *text);
void top_pen_format(struct top_pen *pen, enum top_style style, int width, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** Columns left of the line. */
int top_pen_left(const struct top_pen *pen);

/** Write a text over as many lines as it needs, each from this column on, broken at spaces.
 *  @return 0 when the page is full */
int top_pen_wrap(struct top_pen *pen, int column, const char *text);

#endif

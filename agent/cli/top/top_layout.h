/* The page of `holter top`: lines of text made from a model. Pure: no terminal, no clock. Texts
 * from messages are cut to their column width, and control characters are removed. */
#ifndef HOLTER_AGENT_CLI_TOP_TOP_LAYOUT_H
#define HOLTER_AGENT_CLI_TOP_TOP_LAYOUT_H

#include "agent/cli/top/top_model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOP_MOST_COLUMNS 300 /**< columns further to the right stay empty */
#define TOP_MOST_ROWS 200
#define TOP_SPANS 64

enum top_style {
    TOP_PLAIN,
    TOP_DIM,
    TOP_BOLD,
    TOP_TITLE,
    TOP_CHOSEN,
    TOP_GOOD,
    TOP_WARNING,
    TOP_BAD,
};

/** Part of a line in one style: its first column, and the column that follows its last one. */
struct top_span {
    int from, to;
    enum top_style style;
};

struct top_line {
    char text[TOP_MOST_COLUMNS * 4 + 1]; /**< UTF-8, or ASCII when the view asks for it */
    int columns;                         /**< columns in use */
    struct top_span spans[TOP_SPANS];    /**< ascending; the rest is plain */
    int span_count;
};

struct top_page {
    struct top_line lines[TOP_MOST_ROWS];
    int count;
};

enum top_link { TOP_LIVE, TOP_DIALLING, TOP_LOST };
enum top_sort { TOP_BY_WAITING, TOP_BY_LATENCY, TOP_BY_RANK, TOP_SORTS };

/** State of the view: what the user has selected. */
struct top_view {
    int rows, columns; /**< of the page; sections that do not fit are left out, alerts last */
    bool utf8;         /**< false: only ASCII */
    bool keys;         /**< false: no line of keys, for a page that is printed */
    enum top_link link;
    bool paused, help, evidence;
    enum top_sort sort; /**< of the ranks */
    uint64_t alert;     /**< id of the chosen one; 0: the first */
    const char *daemon; /**< endpoint */
};

/** Fill the page, replacing its contents; at most view->rows lines. */
void top_layout(const struct top_model *model, const struct top_view *view, struct top_page *page);

/** Position of the chosen alert in the model's list; the first if it is gone. */
size_t top_chosen(const struct top_model *model, const struct top_view *view);

#endif

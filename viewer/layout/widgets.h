/* Building blocks of views: titles, buttons, bars, legends, tables, tooltips. They know colours and
 * boxes, and nothing of the job. */
#ifndef HOLTER_VIEWER_LAYOUT_WIDGETS_H
#define HOLTER_VIEWER_LAYOUT_WIDGETS_H

#include "viewer/layout/scene.h"
#include "viewer/layout/theme.h"

/** Where and how a widget draws. */
struct brush {
    struct scene *scene;
    const struct theme *theme;
    double mouse_x, mouse_y; /**< outside the scene when there is no mouse */
};

int box_has(struct box box, double x, double y);

/** Whether a box is at least 2 inside of `within`, and clear of those that are taken. */
int box_is_free(struct box box, struct box within, const struct box *taken, uint32_t count);

/** A box reduced by a margin on each side. */
struct box box_inset(struct box box, double dx, double dy);

/** Title of a panel, followed by a description. @return x at which the next text may begin */
double widget_title(const struct brush *brush, double x, double y, double w, const char *title,
                    const char *what);

/** A share as a bar on its track. */
void widget_bar(const struct brush *brush, struct box box, double share, color_t color);

/** Shares of one whole as a stacked bar. */
void widget_stack(const struct brush *brush, struct box box, const double *shares, int count,
                  const color_t *colors);

/** A button; it issues command with argument. One that would leave the panel is left out, as is a
 * choice: the keys remain. @return its width; 0: left out */
double widget_button(const struct brush *brush, double x, double y, const char *label, int active,
                     uint64_t command, uint64_t argument);

/** One of several choices, side by side, the active one raised. Right edge at x. @return width */
double widget_choice(const struct brush *brush, double right, double y, const char *const *labels,
                     int count, int active, uint64_t command);

/** Thumb of a list that shows rows first to first + shown of all. */
void widget_scrollbar(const struct brush *brush, struct box track, double first, double shown,
                      double all);

/** The theme's map with texts at both ends; right edge at x. @return width */
double widget_map_legend(const struct brush *brush, double right, double y, const char *low,
                         const char *high);

/** The map of relative latency with figures between its parts; right edge at x. @return width */
double widget_latency_legend(const struct brush *brush, double right, double y);

/** Lines of a tooltip; the first is its title. */
struct tooltip {
    char lines[10][128];
    color_t colors[10]; /**< 0: the theme's text colour */
    int count;
};

void tooltip_add(struct tooltip *tip, color_t color, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Add a text of any length, broken at spaces into lines. */
void tooltip_add_text(struct tooltip *tip, color_t color, const char *text);

/** Show the tooltip beside the mouse, inside the scene, as an overlay. */
void widget_tooltip(const struct brush *brush, const struct tooltip *tip);

/** A column of a table. */
struct column {
    const char *title;
    double w;  /**< logical pixels; 0: shares the remaining width */
    int flags; /**< TEXT_RIGHT, TEXT_FIGURES */
    int sortable;
    int drop;    /**< priority of omission: narrow tables omit the columns with the highest number
                    first; 0: never */
    double need; /**< width of the longest text that table_need() was given; 0: unknown */
};

enum {
    TABLE_COLUMNS = 16,
    COLUMN_OMITTED = 100 /**< as drop: omitted however wide the table is */
};

struct table {
    struct column columns[TABLE_COLUMNS];
    int count;
    uint64_t list; /**< of the hits of its column titles */
};

/** Column c shows this text in one of the visible rows. Call it for columns of names before the
 * table is laid out: it then gives them width, or omits other columns, rather than cut a name. */
void table_need(const struct brush *brush, struct table *table, int c, const char *text);

/** Box of column c in a table of width w; its width is 0 when the column is omitted. */
struct box column_box(const struct table *table, int c, double x, double w);

/** Text in column c of a row, in the middle of its height. A text that is too long loses its
 * middle. */
void widget_cell(const struct brush *brush, const struct table *table, struct box row, int c,
                 color_t color, const char *text);

/** Row of column titles. sorted: column that determines the order, or -1. */
void widget_table_head(const struct brush *brush, const struct table *table, struct box box,
                       int sorted, int descending);

#endif

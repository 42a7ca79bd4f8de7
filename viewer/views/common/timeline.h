/* Time from left to right: where a moment lies, the axis under it, what is missing in it. */
#ifndef HOLTER_VIEWER_VIEWS_COMMON_TIMELINE_H
#define HOLTER_VIEWER_VIEWS_COMMON_TIMELINE_H

#include "viewer/views/common/view.h"

/** A stretch of the screen that stands for a stretch of daemon time. */
struct timeline {
    double x, w;
    int64_t begin, end;
};

double timeline_x(const struct timeline *line, int64_t ns);

/** Clock times under a plot. */
void timeline_axis(const struct stage *stage, const struct timeline *line, double y);

/** Thin verticals at the times of the axis. */
void timeline_grid(const struct stage *stage, const struct timeline *line, double y, double h);

/** Spans in which no window came, and marks for windows with losses or missing nodes. */
void timeline_gaps(const struct stage *stage, const struct timeline *line, struct box plot,
                   int words);

/** Line under the mouse. */
void timeline_cursor(const struct stage *stage, const struct timeline *line, struct box plot);

/** A line at the onset of each alert, with its title as a flag where words are wanted and there is
 * room, and a bar over the time it lasted. Resolved ones are dimmed. */
void timeline_alerts(const struct stage *stage, const struct timeline *line, struct box plot,
                     int words);

/** What can be clicked of them; lay out after the hit of the plot. */
void timeline_alert_hits(const struct stage *stage, const struct timeline *line, struct box plot,
                         int words);

/** Where captures were made: a small ring at the foot of a plot, which leads to it. After the hit
 * of the plot. */
void timeline_captures(struct stage *stage, const struct timeline *line, struct box plot);

/** A figure of a window. @return not a number where there is none */
typedef double timeline_value(const struct window_totals *window);

/** Largest value in sight. */
double timeline_peak(const struct model *model, const struct timeline *line, timeline_value *value);

/** The curve of a value: line and soft ground. Windows narrower than a pixel become mean and peak.
 */
void timeline_curve(const struct stage *stage, const struct timeline *line, struct box plot,
                    double top, timeline_value *value, color_t color);

/** Values of one whole, one upon the other; share(window, k) of the top. */
void timeline_stack(const struct stage *stage, const struct timeline *line, struct box plot,
                    double (*share)(const struct window_totals *window, int k), int count,
                    const color_t *colors);

/** Windows that a timeline shows, one more at both ends. @return 0 when there are none */
int timeline_windows(const struct model *model, const struct timeline *line, uint64_t *first,
                     uint64_t *last);

#endif

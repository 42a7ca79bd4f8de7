/* Time axis of plots: position of a time, axis, gaps, alerts, captures, curves and stacked areas.
 */
#ifndef HOLTER_VIEWER_VIEWS_COMMON_TIMELINE_H
#define HOLTER_VIEWER_VIEWS_COMMON_TIMELINE_H

#include "viewer/views/common/view.h"

/** A horizontal span of the screen and the daemon time that it shows. */
struct timeline {
    double x, w;
    int64_t begin, end;
};

double timeline_x(const struct timeline *line, int64_t ns);

/** A time as text: the clock, with tenths if `exact`; of less than two seconds since the left edge.
 */
struct quantity timeline_moment(const struct timeline *line, int64_t ns, int exact);

/** Times under a plot; none of a job without times. */
void timeline_axis(const struct stage *stage, const struct timeline *line, double y);

/** Thin vertical lines at the times of the axis. */
void timeline_grid(const struct stage *stage, const struct timeline *line, double y, double h);

/** Spans without windows, and marks for windows with losses or missing nodes. */
void timeline_gaps(const struct stage *stage, const struct timeline *line, struct box plot,
                   int words);

/** Vertical line at the mouse, or the span that it marks. */
void timeline_cursor(const struct stage *stage, const struct timeline *line, struct box plot);

/** A line at the onset of each alert and a bar over its duration; with `words`, its title as a flag
 * where there is room. Resolved alerts are dimmed. */
void timeline_alerts(const struct stage *stage, const struct timeline *line, struct box plot,
                     int words);

/** Hits of the alerts; lay out after the hit of the plot, as later hits lie on top. */
void timeline_alert_hits(const struct stage *stage, const struct timeline *line, struct box plot,
                         int words);

/** A small ring at the foot of a plot for each capture; a click opens it. Lay out after the hit of
 * the plot. */
void timeline_captures(struct stage *stage, const struct timeline *line, struct box plot);

/** A value of a window. @return NaN where there is none */
typedef double timeline_value(const struct window_totals *window);

/** Largest visible value. */
double timeline_peak(const struct model *model, const struct timeline *line, timeline_value *value);

/** The curve of a value: a line over a translucent area. Windows narrower than a pixel are drawn as
 * mean and peak. */
void timeline_curve(const struct stage *stage, const struct timeline *line, struct box plot,
                    double top, timeline_value *value, color_t color);

/** Shares of the time of the ranks as stacked areas; share(window, k) is the share of area k. */
void timeline_stack(const struct stage *stage, const struct timeline *line, struct box plot,
                    double (*share)(const struct window_totals *window, int k), int count,
                    const color_t *colors);

/** Windows that a timeline shows, and one more at each end. @return 0 when there are none */
int timeline_windows(const struct model *model, const struct timeline *line, uint64_t *first,
                     uint64_t *last);

#endif

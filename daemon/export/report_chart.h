/* Charts of a report: SVG whose colours are classes of the page's style sheet, see report.css. The
 * SVG is stretched to the width of the page; labels are texts beside it, which keep their size.
 * What tooltips show stands in the page: the script, report.js, reads data-steps of lines and
 * areas, and titles of spans. Internal to daemon/export. */
#ifndef HOLTER_EXPORT_REPORT_CHART_H
#define HOLTER_EXPORT_REPORT_CHART_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CHART_BINS 960u   /* resolution: events in the same bin are merged */
#define CHART_WIDTH 960.0 /* of the plane: a bin is as wide as 1 */

/** Units of values. */
enum chart_kind { CHART_COUNT, CHART_BYTES, CHART_PERCENT, CHART_TIMES, CHART_PLAIN };

/** A plane of time and a value, which begins at 0 or below. */
struct chart {
    FILE *out;
    double height; /**< of the plane, pixels */
    int64_t begin_ns, end_ns;
    double most; /**< largest value; chart_begin() rounds it up */
    enum chart_kind kind;
    double least;   /**< lowest value, at most 0 */
    int has_values; /**< set by chart_values() */
};

/** Begin the chart that all members describe.
 *  @param label  name of the chart
 *  @param what   meaning and unit of its values */
void chart_begin(struct chart *chart, const char *label, const char *what);

/** Set the range of values from least, which may be below 0, to most, which may be 0. To be called
 * before anything is drawn. */
void chart_range(struct chart *chart, double least, double most);

/** Draw lines at round values; chart_axes() labels them. */
void chart_values(struct chart *chart);

double chart_x(const struct chart *chart, int64_t time_ns);
double chart_y(const struct chart *chart, double value);

/** Draw a line through one point in each bin. Values that are not finite leave a gap.
 *  @param name  of the series, for tooltips */
void chart_line(const struct chart *chart, const double *bins, const char *class_,
                const char *name);

/** Draw the area between two lines of bins. Tooltips show the difference of the two. */
void chart_area(const struct chart *chart, const double *low, const double *high,
                const char *class_, const char *name);

/** Draw a span of time, from top to bottom. */
void chart_span(const struct chart *chart, int64_t begin_ns, int64_t end_ns, const char *class_,
                const char *title);

/** End the plane and label its axes: times are since the begin. Marks may follow. */
void chart_axes(const struct chart *chart);

/** Mark a time above the plane with a number that leads to the element "alert-NUMBER". */
void chart_mark(const struct chart *chart, int64_t time_ns, int64_t number);

/** End the chart, after chart_axes(). */
void chart_end(const struct chart *chart);

/** Bins that a span of time touches: [*first, *last]. @return 0: it is outside of the chart */
int chart_bins(const struct chart *chart, int64_t begin_ns, int64_t end_ns, unsigned *first,
               unsigned *last);

/** Write a text with the escapes of HTML and SVG, also valid in quotes. */
void html_text(FILE *out, const char *text);

/** The same between two pieces of HTML. */
void html_put(FILE *out, const char *before, const char *text, const char *after);

#endif

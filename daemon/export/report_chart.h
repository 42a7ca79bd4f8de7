/* Charts of a report: SVG whose colours are classes of the page's style sheet, see report_style.h.
 * Internal to daemon/export. */
#ifndef HOLTER_EXPORT_REPORT_CHART_H
#define HOLTER_EXPORT_REPORT_CHART_H

#include <stdint.h>
#include <stdio.h>

#define CHART_WIDTH 1040.0 /* width of the whole chart; it scales with the page */
#define CHART_LEFT 64.0
#define CHART_RIGHT 16.0
#define CHART_BINS 960u /* resolution: events in the same bin are merged */

/** Units of values. */
enum chart_kind { CHART_COUNT, CHART_BYTES, CHART_PERCENT, CHART_TIMES, CHART_PLAIN };

/** A plane of time and a value, which begins at 0 or below. */
struct chart {
    FILE *out;
    double height;
    int64_t begin_ns, end_ns;
    double most; /**< largest value; chart_begin() rounds it up */
    enum chart_kind kind;
    double least; /**< lowest value, at most 0 */
};

/** Begin the chart that all members describe. */
void chart_begin(struct chart *chart, const char *label);

/** Set the range of values from least, which may be below 0, to most, which may be 0. To be called
 * before anything is drawn. */
void chart_range(struct chart *chart, double least, double most);

/** Draw lines and labels of the axis of values. */
void chart_values(const struct chart *chart);

/** Draw labels of the axis of time: times since the begin. */
void chart_times(const struct chart *chart);

double chart_x(const struct chart *chart, int64_t time_ns);
double chart_y(const struct chart *chart, double value);

/** Draw a line through one point in each bin. Values that are not finite leave a gap. */
void chart_line(const struct chart *chart, const double *bins, const char *class_);

/** Draw the area between two lines of bins, with a title to hover. */
void chart_area(const struct chart *chart, const double *low, const double *high,
                const char *class_, const char *title);

/** Draw a span of time, from top to bottom. */
void chart_span(const struct chart *chart, int64_t begin_ns, int64_t end_ns, const char *class_,
                const char *title);

void chart_end(const struct chart *chart);

/** Bins that a span of time touches: [*first, *last]. @return 0: it is outside of the chart */
int chart_bins(const struct chart *chart, int64_t begin_ns, int64_t end_ns, unsigned *first,
               unsigned *last);

/** Write a text with the escapes of HTML and SVG, also valid in quotes. */
void html_text(FILE *out, const char *text);

/** The same between two pieces of HTML. */
void html_put(FILE *out, const char *before, const char *text, const char *after);

#endif

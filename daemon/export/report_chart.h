/* Charts of a report: SVG whose colours are classes of the page's style sheet, see report_style.h.
 * Inside of daemon/export only. */
#ifndef HOLTER_EXPORT_REPORT_CHART_H
#define HOLTER_EXPORT_REPORT_CHART_H

#include <stdint.h>
#include <stdio.h>

#define CHART_WIDTH 1040.0 /* of the whole; it scales with the page */
#define CHART_LEFT 64.0
#define CHART_RIGHT 16.0
#define CHART_BINS 960u /* what lies closer than that is put together */

/** A plane of time and a value: from 0 up, or from below it. */
struct chart {
    FILE *out;
    double height;
    int64_t begin_ns, end_ns;
    double most;
    int kind;     /**< enum chart_kind */
    double least; /**< lowest value, at most 0 */
};

/** What values are. */
enum chart_kind { CHART_COUNT, CHART_BYTES, CHART_PERCENT, CHART_TIMES, CHART_PLAIN };

/** @param most  largest value; made a round one */
void chart_begin(struct chart *chart, FILE *out, double height, int64_t begin_ns, int64_t end_ns,
                 double most, enum chart_kind kind, const char *label);

/** Values reach from least, which may be below 0, to most, which may be 0. Before anything is
 * drawn. */
void chart_range(struct chart *chart, double least, double most);

/** Lines and figures of the value's axis. */
void chart_values(const struct chart *chart);

/** Figures of the time's axis: since the begin. */
void chart_times(const struct chart *chart);

double chart_x(const struct chart *chart, int64_t time_ns);
double chart_y(const struct chart *chart, double value);

/** A line through points in bins of the width. Values that are not finite leave a gap. */
void chart_line(const struct chart *chart, const double *bins, const char *class_);

/** What lies between two lines of bins, with a title to hover. */
void chart_area(const struct chart *chart, const double *low, const double *high,
                const char *class_, const char *title);

/** A span of time, from top to bottom. */
void chart_span(const struct chart *chart, int64_t begin_ns, int64_t end_ns, const char *class_,
                const char *title);

void chart_end(const struct chart *chart);

/** Bins that a span of time touches: [*first, *last]. @return 0: none of the chart's */
int chart_bins(const struct chart *chart, int64_t begin_ns, int64_t end_ns, unsigned *first,
               unsigned *last);

/** A text in HTML or SVG, and in quotes there. */
void html_text(FILE *out, const char *text);

#endif

/* The charts of a report: what the job did over time. */
#include "daemon/export/report_chart.h"
#include "daemon/export/report_parts.h"
#include "proto/quantity.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MARKS 20 /* places for marks above a chart; neighbours of a mark stay empty */

static void report_charts_fill(double *bins, double value)
{
    for (unsigned i = 0; i < CHART_BINS; i++)
        bins[i] = value;
}

/* @param shown  by name; NULL: all are shown. The caller ends the legend. */
static void report_charts_put_legend(FILE *out, const char *const *names, const int *shown,
                                     unsigned count, char letter)
{
    fputs("<p class=\"legend second\">", out);
    for (unsigned i = 0; i < count; i++)
        if (shown == NULL || shown[i])
            fprintf(out, "<span><i class=\"%c%u\"></i>%s</span>", letter, i, names[i]);
}

static void report_charts_end_legend(const struct page *p)
{
    if (p->data->alert_count > 0)
        fputs("<span><i class=\"flag\"></i>alert, by its number</span>", p->out);
    fputs("</p>\n", p->out);
}

/* An alert may have been over before the recording begins, as in a further part of one. */
static int report_charts_has_alert(const struct page *p, const struct report_alert *alert)
{
    return alert->since_ns >= p->data->begin_ns || alert->until_ns >= p->data->begin_ns;
}

/* Draw alerts as spans behind a chart. */
static void report_charts_put_flags(const struct page *p, const struct chart *chart)
{
    for (size_t i = 0; i < p->data->alert_count; i++) {
        const struct report_alert *a = &p->data->alerts[i];
        char title[330];
        if (!report_charts_has_alert(p, a))
            continue;
        snprintf(title, sizeof(title), "alert %" PRId64 ": %s", a->id, a->title);
        chart_span(chart, a->since_ns, a->until_ns > a->since_ns ? a->until_ns : a->since_ns,
                   "flag", title);
    }
}

/* Label the axes, number the alerts where they began, and end the chart. Of alerts whose numbers
 * would cover each other the first one is numbered. */
static void report_charts_end(const struct page *p, const struct chart *chart)
{
    unsigned char taken[MARKS + 3] = {0}; /* with a slot before the first and after the last */
    chart_axes(chart);
    for (size_t i = 0; i < p->data->alert_count; i++) {
        int64_t since_ns = p->data->alerts[i].since_ns;
        unsigned slot = (unsigned)(chart_x(chart, since_ns) / CHART_WIDTH * MARKS) + 1;
        if (!report_charts_has_alert(p, &p->data->alerts[i]) || taken[slot - 1] || taken[slot] ||
            taken[slot + 1])
            continue;
        chart_mark(chart, since_ns, p->data->alerts[i].id);
        taken[slot] = 1;
    }
    chart_end(chart);
}

/* Fill gaps with the previous value: a path that does not move. @return 0: there were no values */
static int report_charts_bridge_gaps(double *bins)
{
    double before = NAN;
    for (unsigned i = 0; i < CHART_BINS; i++) {
        if (isfinite(bins[i]))
            before = bins[i];
        else
            bins[i] = before;
    }
    return isfinite(before);
}

/* ---- CommGram ------------------------------------------------------------------------ */

/* Which phase the colour of each pattern is of: the first eight patterns are named. */
static void report_charts_put_patterns(const struct page *p)
{
    const struct report_data *d = p->data;
    unsigned named = 0;
    fputs("<p class=\"legend second\">", p->out);
    for (size_t i = 0; i < d->phase_count && named < 8; i++) {
        if (d->phases[i].pattern != named)
            continue;
        fprintf(p->out, "<span><i class=\"k%u\"></i>pattern of phase %" PRId64 "</span>", named,
                d->phases[i].id);
        named++;
    }
    if (d->patterns.count > 8)
        fputs("<span>further patterns: the same colours again</span>", p->out);
    report_charts_end_legend(p);
}

static void report_charts_put_phases(const struct page *p)
{
    const struct report_data *d = p->data;
    struct chart chart = {p->out, 30, d->begin_ns, d->end_ns, 1, CHART_PLAIN, 0, 0};
    chart_begin(&chart, "Phases of communication over time", "phases, coloured by pattern");
    double last = -1;
    for (size_t i = 0; i < d->phase_count; i++) {
        const struct report_phase *f = &d->phases[i];
        char class_[8], title[200], like[40] = "a new pattern";
        double end = chart_x(&chart, f->end_ns);
        if (end - last < 0.5) /* below half a pixel: hidden by the previous one */
            continue;
        last = end;
        snprintf(class_, sizeof(class_), "k%u",
                 f->pattern % 8); /* patterns alternate between eight colours */
        if (f->returned)
            snprintf(like, sizeof(like), "like phase %" PRId64, f->resembles);
        snprintf(title, sizeof(title), "phase %" PRId64 ": %.0f %s, %" PRId64 " %s, %s", f->id,
                 f->messages, f->messages == 1 ? "message" : "messages", f->communities,
                 f->communities == 1 ? "community" : "communities", like);
        chart_span(&chart, f->begin_ns, f->end_ns, class_, title);
    }
    chart_axes(&chart);
    chart_end(&chart);
}

void page_curve(const struct page *p)
{
    const struct report_data *d = p->data;
    double bins[CHART_BINS], least = 0, most = 0;
    if (d->phase_count == 0 || d->end_ns <= d->begin_ns || d->timeless)
        return;
    report_charts_fill(bins, NAN);
    for (size_t i = 0; i < d->phase_count; i++) {
        most = fmax(d->phases[i].height, most);
        least = fmin(d->phases[i].height, least);
    }
    fputs(
        "<section><h2>CommGram: does the pattern of communication hold?</h2>\n<p class=\"second\">"
        "Flat while ranks keep talking to the same partners; a step where they change; back at "
        "its height where a pattern returns. Below it the phases, coloured by pattern.",
        p->out);
    if (d->rank_group > 1)
        fprintf(p->out, " Partners and communities are groups of %s consecutive ranks.",
                quantity_grouped(d->rank_group).text);
    fputs("</p>\n", p->out);
    report_charts_put_patterns(p);
    struct chart chart = {p->out, 154, d->begin_ns, d->end_ns, most, CHART_PLAIN, 0, 0};
    chart_begin(&chart, "CommGram: the pattern of communication over time",
                "height of the pattern, no unit: equal heights are equal patterns");
    chart_range(&chart, least, most);
    chart_values(&chart);
    report_charts_put_flags(p, &chart);
    for (size_t i = 0; i < d->phase_count; i++) {
        unsigned first, last;
        if (!chart_bins(&chart, d->phases[i].begin_ns, d->phases[i].end_ns + 1, &first, &last))
            continue;
        for (unsigned b = first; b <= last; b++)
            bins[b] = d->phases[i].height;
    }
    if (report_charts_bridge_gaps(bins))
        chart_line(&chart, bins, "curve", "height");
    report_charts_end(p, &chart);
    report_charts_put_phases(p);
    fputs("</section>\n", p->out);
}

/* ---- latency ------------------------------------------------------------------------- */

static void report_charts_put_trends(const struct page *p, const struct chart *chart)
{
    static const char *const classes[] = {"", "growth", "steady"};
    static const char *const titles[] = {"", "latency grows", "latency stays high"};
    const struct report_data *d = p->data;
    for (size_t i = 0, j; i < d->latency_count; i = j) {
        const struct report_latency *first = &d->latencies[i], *last = first;
        for (j = i + 1; j < d->latency_count && d->latencies[j].high == first->high; j++)
            last = &d->latencies[j];
        if (first->high != 0)
            chart_span(chart, first->start_ns, last->start_ns + last->length_ns,
                       classes[first->high], titles[first->high]);
    }
}

void page_latency(const struct page *p)
{
    static const char *const names[REPORT_SCOPES] = {"all messages", "within nodes",
                                                     "between nodes"};
    static const char *const lines[REPORT_SCOPES] = {"s0", "s1", "s2"};
    const struct report_data *d = p->data;
    double most = 1, one;
    int any[REPORT_SCOPES] = {0};
    if (d->end_ns <= d->begin_ns)
        return;
    for (size_t i = 0; i < d->latency_count; i++) {
        for (unsigned s = 0; s < REPORT_SCOPES; s++) {
            double value = d->latencies[i].reference[s];
            any[s] |= isfinite(value);
            most = isfinite(value) && value > most ? value : most;
        }
    }
    if (!any[SCOPE_JOB] && !any[SCOPE_INTRA] && !any[SCOPE_INTER])
        return;
    if (!any[SCOPE_INTRA] || !any[SCOPE_INTER])
        any[SCOPE_JOB] = 0; /* with a single class the line of the job would be identical */
    fputs(
        "<section><h2>Latency: how long messages take</h2>\n<p class=\"second\">Transfer times of "
        "messages by what messages of their size took at best in this job: 1x, the dashed line, "
        "is as good as it was.</p>\n",
        p->out);
    report_charts_put_legend(p->out, names, any, REPORT_SCOPES, 'l');
    fputs(
        "<span><i class=\"growth\"></i>grows</span><span><i class=\"steady\"></i>stays high</span>",
        p->out);
    report_charts_end_legend(p);
    struct chart chart = {p->out, 174, d->begin_ns, d->end_ns, most, CHART_TIMES, 0, 0};
    chart_begin(&chart, "Latency over time", "transfer time, in times of the best of this job");
    chart_values(&chart);
    report_charts_put_trends(p, &chart);
    report_charts_put_flags(p, &chart);
    for (unsigned s = 0; s < REPORT_SCOPES; s++) {
        double bins[CHART_BINS];
        if (!any[s])
            continue;
        report_charts_fill(bins, NAN);
        for (size_t i = 0; i < d->latency_count; i++) {
            const struct report_latency *l = &d->latencies[i];
            unsigned first, last;
            if (!isfinite(l->reference[s]) ||
                !chart_bins(&chart, l->start_ns, l->start_ns + l->length_ns, &first, &last))
                continue;
            for (unsigned b = first; b <= last; b++) /* each bin shows its worst value */
                bins[b] =
                    isfinite(bins[b]) && bins[b] > l->reference[s] ? bins[b] : l->reference[s];
        }
        chart_line(&chart, bins, lines[s], names[s]);
    }
    one = chart_y(&chart, 1);
    fprintf(p->out, "<line class=\"one\" x1=\"0\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
            CHART_WIDTH, one, one);
    report_charts_end(p, &chart);
    fputs("</section>\n", p->out);
}

/* ---- time in MPI and traffic ---------------------------------------------------------- */

/* Figures of windows that charts show. */
enum {
    FIGURE_MESSAGES,   /* sent, a second */
    FIGURE_BYTES,      /* likewise */
    FIGURE_TIME,       /* share of the ranks' time in MPI, % */
    FIGURE_CLASS_TIME, /* and of one class of calls: the first one */
};

/* A figure as a dividend. @param by  set to its divisor */
static double report_charts_figure_of(const struct report_window *w, unsigned figure, double *by)
{
    double sum = 0;
    *by = figure < FIGURE_TIME ? (double)w->length_ns : w->rank_ns;
    if (figure == FIGURE_MESSAGES || figure == FIGURE_BYTES)
        return 1e9 * (figure == FIGURE_MESSAGES ? w->sent : w->bytes);
    for (unsigned k = 0; k < REPORT_CLASSES; k++)
        if (figure == FIGURE_TIME || figure == FIGURE_CLASS_TIME + k)
            sum += 100 * w->class_ns[k];
    return sum;
}

/* Set the figure of all windows of each bin; NAN where there is nothing. @return the largest one,
 * or 0 */
static double report_charts_fill_figure(const struct page *p, const struct chart *chart,
                                        double *bins, unsigned figure)
{
    const struct report_data *d = p->data;
    double whole[CHART_BINS] = {0}, most = 0, by;
    report_charts_fill(bins, 0);
    for (size_t i = 0; i < d->window_count; i++) {
        const struct report_window *w = &d->windows[i];
        unsigned first, last;
        if (!chart_bins(chart, w->start_ns, w->start_ns + w->length_ns, &first, &last))
            continue;
        for (unsigned b = first; b <= last; b++) {
            bins[b] += report_charts_figure_of(w, figure, &by);
            whole[b] += by;
        }
    }
    for (unsigned b = 0; b < CHART_BINS; b++) {
        bins[b] = whole[b] > 0 ? bins[b] / whole[b] : NAN;
        most = isfinite(bins[b]) && bins[b] > most ? bins[b] : most;
    }
    return most;
}

void page_time(const struct page *p)
{
    static const char *const names[REPORT_CLASSES] = {"send",       "receive",   "wait", "poll",
                                                      "collective", "one-sided", "I/O",  "other"};
    const struct report_data *d = p->data;
    struct chart chart = {p->out, 174, d->begin_ns, d->end_ns, 1, CHART_PERCENT, 0, 0};
    double low[CHART_BINS] = {0}, high[CHART_BINS], part[CHART_BINS];
    if (d->window_count == 0 || d->end_ns <= d->begin_ns || d->timeless)
        return;
    /* the threads of a rank together may exceed 100 percent */
    chart.most = fmin(report_charts_fill_figure(p, &chart, part, FIGURE_TIME), 100);
    fputs("<section><h2>Time in MPI</h2>\n<p class=\"second\">Share of the ranks' time in MPI, by "
          "what "
          "they were doing there.</p>\n",
          p->out);
    report_charts_put_legend(p->out, names, NULL, REPORT_CLASSES, 'k');
    report_charts_end_legend(p);
    chart_begin(&chart, "Time in MPI over time, by what ranks did there",
                "share of the ranks' time, %");
    chart_values(&chart);
    for (unsigned k = 0; k < REPORT_CLASSES; k++) {
        char class_[8];
        int any = 0;
        report_charts_fill_figure(p, &chart, part, FIGURE_CLASS_TIME + k);
        for (unsigned b = 0; b < CHART_BINS; b++) {
            high[b] = low[b] + (isfinite(part[b]) ? part[b] : 0);
            any |= high[b] > low[b];
        }
        snprintf(class_, sizeof(class_), "k%u", k);
        if (any)
            chart_area(&chart, low, high, class_, names[k]);
        memcpy(low, high, sizeof(low));
    }
    report_charts_put_flags(p, &chart);
    report_charts_end(p, &chart);
    fputs("</section>\n", p->out);
}

static void report_charts_put_rate(const struct page *p, unsigned figure, const char *label,
                                   const char *line)
{
    const struct report_data *d = p->data;
    double bins[CHART_BINS];
    struct chart chart = {.out = p->out,
                          .height = 114,
                          .begin_ns = d->begin_ns,
                          .end_ns = d->end_ns,
                          .most = 1,
                          .kind = figure == FIGURE_MESSAGES ? CHART_COUNT : CHART_BYTES};
    chart.most = report_charts_fill_figure(p, &chart, bins, figure);
    fprintf(p->out, "<h3>%s</h3>\n", label);
    chart_begin(&chart, label,
                figure == FIGURE_MESSAGES ? "messages sent in a second" : "bytes sent in a second");
    chart_values(&chart);
    report_charts_put_flags(p, &chart);
    chart_line(&chart, bins, line,
               figure == FIGURE_MESSAGES ? "messages a second" : "bytes a second");
    report_charts_end(p, &chart);
}

void page_traffic(const struct page *p)
{
    if (p->data->window_count == 0 || p->data->end_ns <= p->data->begin_ns || p->data->timeless)
        return;
    fputs("<section><h2>Messages over time</h2>\n", p->out);
    report_charts_put_rate(p, FIGURE_MESSAGES, "Messages a second", "s1");
    report_charts_put_rate(p, FIGURE_BYTES, "Bytes a second", "s2");
    fputs("</section>\n", p->out);
}

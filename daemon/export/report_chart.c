/* Charts of a report as SVG: see report_chart.h. */
#include "daemon/export/report_chart.h"

#include "proto/quantity.h"
#include "proto/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define VALUE_LINES 4
#define TIME_TICKS 9

void html_text(FILE *out, const char *text)
{
    static const char specials[] = "<>&\"'";
    static const char *const escapes[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};
    size_t left = strlen(text);
    while (left > 0) {
        size_t valid = utf8_prefix(text, left);
        if (valid == 0) {
            fputs("\xef\xbf\xbd", out);
            text++;
            left--;
            continue;
        }
        for (size_t i = 0; i < valid; i++) {
            const char *special = strchr(specials, text[i]);
            if (special != NULL && *special != '\0')
                fputs(escapes[special - specials], out);
            else /* XML does not allow control characters */
                fputc((unsigned char)text[i] < 0x20 && text[i] != '\n' ? ' ' : text[i], out);
        }
        text += valid;
        left -= valid;
    }
}

void html_put(FILE *out, const char *before, const char *text, const char *after)
{
    fputs(before, out);
    html_text(out, text);
    fputs(after, out);
}

/* ---- the plane --------------------------------------------------------------------- */

/* Round up to the next of 1, 2, 2.5, 5, 10 ... */
static double report_chart_round_up(double value)
{
    static const double steps[] = {1, 2, 2.5, 4, 5, 8, 10};
    if (!(value > 0) || !isfinite(value))
        return 1;
    double power = pow(10, floor(log10(value)));
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
        if (steps[i] * power >= value * (1 - 1e-9))
            return steps[i] * power;
    }
    return 10 * power;
}

double chart_x(const struct chart *c, int64_t time_ns)
{
    double whole = (double)(c->end_ns - c->begin_ns);
    double share = whole > 0 ? ((double)time_ns - (double)c->begin_ns) / whole : 0;
    return CHART_WIDTH * (share < 0 ? 0 : share > 1 ? 1 : share);
}

double chart_y(const struct chart *c, double value)
{
    double share = (value - c->least) / (c->most - c->least);
    return c->height * (1 - (share < 0 ? 0 : share > 1 ? 1 : share));
}

void chart_begin(struct chart *c, const char *label, const char *what)
{
    double unit = 1;
    while (c->kind == CHART_BYTES && c->most >= 1024 * unit)
        unit *= 1024;
    c->most = unit * report_chart_round_up(c->most / unit);
    html_put(c->out, "<div class=\"plot\"><p class=\"what\">", what, "</p>\n");
    fprintf(c->out,
            "<div class=\"plane\" style=\"height:%.0fpx\"><svg viewBox=\"0 0 %.0f %.0f\" "
            "preserveAspectRatio=\"none\" role=\"img\" data-begin-ms=\"%" PRId64
            "\" data-length-ms=\"%.6f\" aria-label=\"",
            c->height, CHART_WIDTH, c->height, c->begin_ns / 1000000,
            (double)(c->end_ns - c->begin_ns) / 1e6);
    html_put(c->out, "", label, "\">\n");
}

void chart_range(struct chart *c, double least, double most)
{
    c->least = least < 0 ? -report_chart_round_up(-least) : 0;
    c->most = most > 0 || c->least == 0 ? report_chart_round_up(most) : 0;
}

/* ---- axes ---------------------------------------------------------------------------- */

static struct quantity report_chart_value_text(double value, enum chart_kind kind)
{
    if (kind == CHART_PERCENT)
        return quantity_print("%.3g %%", value);
    if (kind == CHART_TIMES && value >= 1000) /* never with an exponent */
        return quantity_print("%.0fx", value);
    if (kind == CHART_TIMES || kind == CHART_PLAIN)
        return quantity_print("%.3g%s", value, kind == CHART_TIMES ? "x" : "");
    return kind == CHART_BYTES ? quantity_bytes(value) : quantity_count(value);
}

static double report_chart_value_of_line(const struct chart *c, int i)
{
    return c->least + (c->most - c->least) * i / VALUE_LINES;
}

void chart_values(struct chart *c)
{
    c->has_values = 1;
    for (int i = 0; i <= VALUE_LINES; i++) {
        double y = chart_y(c, report_chart_value_of_line(c, i));
        fprintf(c->out, "<line class=\"grid\" x1=\"0\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
                CHART_WIDTH, y, y);
    }
}

/* Choose a round interval between ticks. */
static int64_t report_chart_tick_of(int64_t whole_ns)
{
    static const int64_t seconds[] = {1,   2,   5,    10,   15,   30,    60,    120,   300,
                                      600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400};
    int64_t least = whole_ns / TIME_TICKS, step = 1;
    for (; step < INT64_C(1000000000); step *= 10) {
        if (step > least)
            return step;
        if (2 * step > least)
            return 2 * step;
        if (5 * step > least)
            return 5 * step;
    }
    for (size_t i = 0; i < sizeof(seconds) / sizeof(*seconds); i++) {
        if (seconds[i] * INT64_C(1000000000) > least)
            return seconds[i] * INT64_C(1000000000);
    }
    while (step <= least)
        step *= 2;
    return step;
}

static struct quantity report_chart_time_text(int64_t since_ns, int64_t tick_ns)
{
    int64_t s = since_ns / INT64_C(1000000000);
    if (tick_ns < INT64_C(1000000000))
        return since_ns == 0 ? quantity_print("0") : quantity_duration((double)since_ns);
    if (s >= 3600)
        return quantity_print("%d:%02d:%02d", (int)(s / 3600), (int)(s / 60 % 60), (int)(s % 60));
    return quantity_print("%d:%02d", (int)(s / 60), (int)(s % 60));
}

void chart_axes(const struct chart *c)
{
    int64_t whole = c->end_ns - c->begin_ns, tick = report_chart_tick_of(whole > 0 ? whole : 1);
    fputs("</svg>\n", c->out);
    for (int i = 0; i <= VALUE_LINES && c->has_values; i++) {
        double value = report_chart_value_of_line(c, i);
        fprintf(c->out, "<span class=\"y\" style=\"top:%.2f%%\">%s</span>\n",
                100 * chart_y(c, value) / c->height, report_chart_value_text(value, c->kind).text);
    }
    for (int i = 0; i <= TIME_TICKS + 1 && (whole <= 0 ? i == 0 : i <= whole / tick); i++)
        fprintf(c->out, "<span class=\"x%s\" style=\"left:%.2f%%\">%s</span>\n",
                i % 2 != 0 ? " odd" : "", 100 * chart_x(c, c->begin_ns + i * tick) / CHART_WIDTH,
                report_chart_time_text(i * tick, tick).text);
}

void chart_mark(const struct chart *c, int64_t time_ns, int64_t number)
{
    fprintf(c->out,
            "<a class=\"mark\" style=\"left:%.2f%%\" href=\"#alert-%" PRId64 "\" "
            "aria-label=\"alert %" PRId64 "\">%" PRId64 "</a>\n",
            100 * chart_x(c, time_ns) / CHART_WIDTH, number, number, number);
}

void chart_end(const struct chart *c)
{
    int64_t whole = c->end_ns - c->begin_ns;
    fprintf(c->out, "</div><p class=\"when\">time since the begin%s</p></div>\n",
            whole >= INT64_C(3600000000000)                            ? ", min:s or h:min:s"
            : report_chart_tick_of(whole > 0 ? whole : 1) < 1000000000 ? ""
                                                                       : ", min:s");
}

/* ---- marks --------------------------------------------------------------------------- */

int chart_bins(const struct chart *c, int64_t begin_ns, int64_t end_ns, unsigned *first,
               unsigned *last)
{
    double whole = (double)c->end_ns - (double)c->begin_ns;
    if (whole <= 0 || end_ns <= c->begin_ns || begin_ns >= c->end_ns || end_ns <= begin_ns)
        return 0;
    double from = ((double)begin_ns - (double)c->begin_ns) / whole * CHART_BINS;
    double to = ((double)end_ns - (double)c->begin_ns) / whole * CHART_BINS;
    *first = from <= 0 ? 0 : (unsigned)(from + 1e-6);
    *last = to >= CHART_BINS ? CHART_BINS - 1 : to <= 1 ? 0 : (unsigned)ceil(to - 1e-6) - 1;
    *first = *first > CHART_BINS - 1 ? CHART_BINS - 1 : *first;
    *last = *last < *first ? *first : *last;
    return 1;
}

/* Write the values of a series, high less low, as the script reads them: "BIN TEXT;BIN TEXT;...",
 * where a text is valid up to the next bin, and is empty where there is no value. */
static void report_chart_put_steps(const struct chart *c, const double *low, const double *high,
                                   const char *name)
{
    struct quantity last = {""};
    html_put(c->out, " data-name=\"", name, "\" data-steps=\"");
    for (unsigned i = 0; i < CHART_BINS; i++) {
        double value = low != NULL ? high[i] - low[i] : high[i];
        struct quantity now = {""};
        if (isfinite(value))
            now = c->kind == CHART_TIMES ? quantity_ratio(value)
                                         : report_chart_value_text(value, c->kind);
        if (i > 0 && strcmp(now.text, last.text) == 0)
            continue;
        fprintf(c->out, "%s%u %s", i > 0 ? ";" : "", i, now.text);
        last = now;
    }
    fputs("\"", c->out);
}

void chart_line(const struct chart *c, const double *bins, const char *class_, const char *name)
{
    int drawing = 0;
    fprintf(c->out, "<path class=\"line %s\"", class_);
    report_chart_put_steps(c, NULL, bins, name);
    fputs(" d=\"", c->out);
    for (unsigned i = 0; i < CHART_BINS; i++) {
        if (!isfinite(bins[i])) {
            drawing = 0;
            continue;
        }
        unsigned to = i; /* a horizontal step, as far as the value does not change */
        while (to + 1 < CHART_BINS && bins[to + 1] == bins[i])
            to++;
        fprintf(c->out, "%c%u %.1fH%u", drawing ? 'L' : 'M', i, chart_y(c, bins[i]), to + 1);
        drawing = 1;
        i = to;
    }
    fputs("\"/>\n", c->out);
}

void chart_area(const struct chart *c, const double *low, const double *high, const char *class_,
                const char *name)
{
    fprintf(c->out, "<path class=\"area %s\"", class_);
    report_chart_put_steps(c, low, high, name);
    fprintf(c->out, " d=\"M0 %.1f", chart_y(c, low[0]));
    for (unsigned i = 0; i < CHART_BINS; i++) {
        if (i == 0 || high[i] != high[i - 1])
            fprintf(c->out, "L%u %.1f", i, chart_y(c, high[i]));
        if (i + 1 == CHART_BINS || high[i + 1] != high[i])
            fprintf(c->out, "H%u", i + 1);
    }
    for (unsigned i = CHART_BINS; i-- > 0;) {
        if (i + 1 == CHART_BINS || low[i] != low[i + 1])
            fprintf(c->out, "L%u %.1f", i + 1, chart_y(c, low[i]));
        if (i == 0 || low[i - 1] != low[i])
            fprintf(c->out, "H%u", i);
    }
    fputs("Z\"/>\n", c->out);
}

void chart_span(const struct chart *c, int64_t begin_ns, int64_t end_ns, const char *class_,
                const char *title)
{
    double x = chart_x(c, begin_ns), width = chart_x(c, end_ns) - x;
    fprintf(c->out, "<rect class=\"%s\" x=\"%.1f\" y=\"0\" width=\"%.1f\" height=\"%.0f\"><title>",
            class_, x, width > 1.5 ? width : 1.5, c->height);
    html_text(c->out, title);
    fputs("</title></rect>\n", c->out);
}

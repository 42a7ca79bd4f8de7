/* The page of a report, in the order of a reader's questions: is the job healthy, where and since
 * when is it not, why, and what can be done. */
#include "daemon/export/report.h"

#include "daemon/export/report_assets.h"
#include "daemon/export/report_chart.h"
#include "daemon/export/report_data.h"
#include "daemon/export/report_parts.h"
#include "daemon/storage/recording.h"
#include "holter/plain_text.h"
#include "proto/json.h"
#include "proto/quantity.h"
#include "proto/rank_spans.h"
#include "version.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

static void report_put_date(FILE *out, int64_t time_ns)
{
    time_t seconds = (time_t)(time_ns / INT64_C(1000000000));
    struct tm parts;
    char text[40];
    if (gmtime_r(&seconds, &parts) != NULL &&
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &parts) > 0)
        fputs(text, out);
}

/* ---- head ------------------------------------------------------------------------- */

/* As html_put(); an empty text has nothing before and after it. */
static void report_put_given(FILE *out, const char *before, const char *text, const char *after)
{
    if (text[0] != '\0')
        html_put(out, before, text, after);
}

static void report_put_state(FILE *out, const struct report_data *d)
{
    if (d->stop.at_ns > 0) {
        fputs(", cut short at ", out);
        report_put_date(out, (int64_t)d->stop.at_ns);
        html_put(out, ": ", d->stop.why, "");
    } else {
        report_put_given(out, ", ", d->cut_short ? "running when the recording ends" : d->state,
                         "");
    }
}

/* Time of the rank that was there for longest: the job began and ended within windows. */
static double report_job_duration(const struct page *p)
{
    const struct content *c = p->source->content;
    const double length = (double)(p->data->end_ns - p->data->begin_ns);
    double longest = 0;
    for (size_t i = 0; i < c->rank_count; i++) {
        if (c->ranks[i].host < c->host_count)
            longest = fmax(longest, page_rank_time(p, &c->ranks[i]));
    }
    return longest > 0 ? longest : length;
}

static void report_put_head(const struct page *p)
{
    const struct report_data *d = p->data;
    const struct content *c = p->source->content;
    const char *app = d->app[0] != '\0' ? text_base_name(d->app) : c->job;
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">",
          p->out);
    /* A second fence beside html_text(): the browser loads nothing and runs no other script. */
    fprintf(p->out,
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src "
            "data:; style-src 'unsafe-inline'; script-src '%s'\"><title>",
            report_script_hash);
    html_text(p->out, app);
    fprintf(
        p->out,
        " &middot; Holter</title><style>\n%s</style></head><body><main>\n<h1><span>holter</span> ",
        report_style);
    html_text(p->out, app);
    html_put(p->out, "</h1>\n<p class=\"second\">job ", c->job, "");
    fprintf(p->out, ": %s on %s", quantity_things(c->rank_count, "rank").text,
            quantity_things(c->host_count, "node").text);
    if (!d->timeless) {
        fprintf(p->out, ", %s", quantity_duration(report_job_duration(p)).text);
        report_put_state(p->out, d);
    }
    if (d->begin_ns > 0 && !d->timeless) {
        fputs("; began ", p->out);
        report_put_date(p->out, d->begin_ns);
    }
    report_put_given(p->out, "; ", d->mpi, "");
    fputs("</p>\n", p->out);
    report_put_given(p->out, "<p><code>", d->command, "</code></p>\n");
}

static struct quantity report_alert_duration(const struct report_alert *a)
{
    return quantity_duration(a->until_ns > a->since_ns ? (double)a->until_ns - (double)a->since_ns
                                                       : 0);
}

static int report_alert_has_cost(const struct report_alert *a)
{
    return a->culprit[0] != '\0' && isfinite(a->progress);
}

/* ---- the first line ------------------------------------------------------------------ */

static int report_alert_is_open(const struct report_alert *a)
{
    return strcmp(a->state, "firing") == 0;
}

/* Did an alert last as long as the job? One that is over may be so because the job has ended. */
static int report_alert_lasts(const struct report_alert *a)
{
    return report_alert_is_open(a) || text_begins(a->text, "over: the job has ended");
}

/* Time of the job that was lost; a hang costs as long as it lasts. */
static double report_alert_loss(const struct report_alert *a)
{
    return a->is_hang ? (double)a->until_ns - (double)a->since_ns : a->lost_ns;
}

/* @return the alert that matters most: open rather than over, then one that lasted to the end, then
 * the one that cost most; or NULL. Information is no fault. */
static const struct report_alert *report_worst_alert(const struct report_data *d)
{
    const struct report_alert *worst = NULL;
    int worst_rank = 0;
    for (size_t i = 0; i < d->alert_count; i++) {
        const struct report_alert *a = &d->alerts[i];
        if (strcmp(a->severity, "info") == 0)
            continue;
        int rank = report_alert_is_open(a) + report_alert_lasts(a);
        if (worst == NULL || rank > worst_rank ||
            (rank == worst_rank && report_alert_loss(a) > report_alert_loss(worst))) {
            worst = a;
            worst_rank = rank;
        }
    }
    return worst;
}

/* Is the job well or not, since when, and what does it cost? */
static void report_put_summary(const struct page *p)
{
    const struct report_data *d = p->data;
    const struct report_alert *worst = report_worst_alert(d);
    if (worst == NULL && d->timeless) {
        fputs("<p class=\"state\">What was sent, and over which links: counters have no times, so "
              "that no latency is judged.</p>\n",
              p->out);
        return;
    }
    if (worst == NULL) {
        fprintf(p->out, "<p class=\"state\">Well: no alert%s %s.</p>\n",
                d->alerts_all > 0 ? " of a fault" : "",
                d->cut_short ? "until the recording ends" : "from the begin to the end");
        return;
    }
    const int open = report_alert_is_open(worst), lasts = report_alert_lasts(worst);
    fprintf(p->out, "<p class=\"state %s\">%s", lasts ? "bad" : "was",
            open    ? "Not well since "
            : lasts ? "Not well from "
                    : "Well at the end, but not from ");
    page_since(p, worst->since_ns);
    if (!lasts)
        fprintf(p->out, ", for %s", report_alert_duration(worst).text);
    else if (!open)
        fputs(" to the end", p->out);
    html_put(p->out, ": ", worst->title, ".");
    if (report_alert_has_cost(worst))
        fprintf(p->out, " It cost %s of the job's time.", quantity_duration(worst->lost_ns).text);
    if (d->alerts_all > 1)
        fprintf(p->out, " One of %zu alerts.", d->alerts_all);
    fputs("</p>\n", p->out);
}

static void report_put_card(FILE *out, const char *figure, const char *text)
{
    fprintf(out, "<div class=\"card\"><b>%s</b><span class=\"second\">", figure);
    html_text(out, text);
    fputs("</span></div>\n", out);
}

static void report_put_losses(const struct page *p, double lost, double missing, double untracked)
{
    const struct report_data *d = p->data;
    if (lost == 0 && missing == 0 && untracked == 0)
        report_put_card(p->out,
                        d->unmatched > 0   ? "no record"
                        : d->unwatched > 0 ? "nothing else"
                                           : "nothing",
                        d->cut_short                    ? "lost until the recording ends"
                        : strcmp(d->state, "lost") == 0 ? "lost until the last window"
                                                        : "lost");
    else
        report_put_card(p->out, quantity_count(lost).text,
                        missing > 0 ? "records lost; reports of nodes are missing"
                                    : "records lost");
}

static void report_put_cards(const struct page *p)
{
    const struct report_data *d = p->data;
    const struct content *c = p->source->content;
    double sent = 0, bytes = 0, mpi = 0, time = 0, lost = 0, missing = 0, untracked = 0;
    double tallied = 0;
    char text[80];
    for (size_t i = 0; i < d->window_count; i++) {
        const struct report_window *w = &d->windows[i];
        sent += w->sent;
        bytes += w->bytes;
        lost += w->lost;
        missing += w->missing;
        time += w->rank_ns;
        for (unsigned k = 0; k < REPORT_CLASSES; k++)
            mpi += w->class_ns[k];
    }
    for (size_t i = 0; i < c->rank_count; i++) {
        untracked += (double)c->ranks[i].sums.untracked;
        tallied += (double)c->ranks[i].sums.tallied;
    }
    fputs("<div class=\"cards\">\n", p->out);
    snprintf(text, sizeof(text), "%zu", d->alerts_all);
    report_put_card(p->out, text, d->alerts_all == 1 ? "alert" : "alerts");
    report_put_card(p->out, quantity_count(sent).text, "messages between ranks");
    report_put_card(p->out, quantity_bytes(bytes).text, "sent in them");
    if (!d->timeless) {
        report_put_card(p->out, quantity_share(mpi, time).text, "of the ranks' time in MPI");
        snprintf(text, sizeof(text), "%zu", d->phase_count);
        report_put_card(p->out, text,
                        d->phase_count == 1 ? "phase of communication" : "phases of communication");
    }
    if (tallied > 0)
        report_put_card(p->out, quantity_count(tallied).text,
                        "records summed unread by their ranks");
    if (untracked > 0)
        report_put_card(p->out, quantity_count(untracked).text,
                        "requests not tracked to their end");
    if (d->matched + d->unmatched > 0)
        report_put_card(p->out, quantity_matched(d->matched, d->unmatched).text,
                        "of the received messages matched");
    if (d->of_unwatched > 0)
        report_put_card(p->out, quantity_count((double)d->of_unwatched).text,
                        "received from ranks that are not watched");
    if (d->unwatched > 0)
        report_put_card(p->out, quantity_count((double)d->unwatched).text,
                        d->unwatched == 1 ? "rank not watched" : "ranks not watched");
    report_put_losses(p, lost, missing, untracked);
    fputs("</div>\n", p->out);
}

/* ---- alerts ------------------------------------------------------------------------- */

void page_since(const struct page *p, int64_t time_ns)
{
    int64_t begin = p->data->begin_ns;
    if (time_ns == begin)
        fputs("the begin", p->out);
    else /* a further part of a recording has all alerts from before it */
        fprintf(p->out, "%s %s the begin",
                quantity_duration(fabs((double)time_ns - (double)begin)).text,
                time_ns < begin ? "before" : "after");
}

/* Write a row of facts: its name, and its parts one after the other. The caller ends it. */
static void report_put_fact(const struct page *p, const char *name)
{
    fprintf(p->out, "<dt>%s</dt><dd>", name);
}

/* Ratios as the alert has them: now, and at worst; and what the job has lost. */
static void report_put_cost(const struct page *p, const struct report_alert *a)
{
    int has_ratio = isfinite(a->ratio) && a->ratio > 0;
    if (!has_ratio && !report_alert_has_cost(a))
        return;
    report_put_fact(p, "what it costs");
    if (has_ratio)
        fprintf(p->out, "%s what it was, at worst %s", quantity_ratio(a->ratio).text,
                quantity_ratio(a->worst).text);
    if (report_alert_has_cost(a))
        fprintf(p->out, "%s%.0f %% of the progress, %s lost", has_ratio ? "; " : "",
                100 * a->progress, quantity_duration(a->lost_ns).text);
    fputs("</dd>\n", p->out);
}

/* "rank 3", "ranks 3-5,8". */
static void report_put_ranks(FILE *out, const char *before, const char *ranks)
{
    if (ranks[0] != '\0')
        fprintf(out, "%s%s ", before, rank_spans_noun(ranks));
    html_text(out, ranks);
}

static void report_put_where(const struct page *p, const struct report_alert *a)
{
    if (a->ranks[0] == '\0' && a->nodes[0] == '\0' && a->victims[0] == '\0')
        return;
    report_put_fact(p, "where");
    report_put_ranks(p->out, "", a->ranks);
    report_put_given(p->out, a->ranks[0] != '\0' ? " on " : "on ", a->nodes, "");
    report_put_ranks(p->out, "; delays ", a->victims);
    fputs("</dd>\n", p->out);
}

static void report_put_why(const struct page *p, const struct report_alert *a)
{
    if (a->text[0] == '\0' && a->cause_count == 0)
        return;
    report_put_fact(p, "why");
    html_text(p->out, a->text);
    if (a->cause_count > 0)
        page_begin_table(p->out, "causes");
    for (unsigned i = 0; i < a->cause_count; i++) {
        const struct report_cause *c = &a->causes[i];
        html_put(p->out, "<tr><td>", c->name, "");
        fprintf(p->out,
                "</td><td class=\"n\">%.0f %%</td><td><div class=\"track\"><div class=\"bar bad\" "
                "style=\"width:%.1f%%\"></div></div></td><td>",
                100 * c->share, 100 * c->share);
        html_text(p->out, c->text);
        fputs("</td></tr>\n", p->out);
    }
    if (a->cause_count > 0)
        page_end_table(p->out);
    fputs("</dd>\n", p->out);
}

static void report_put_alert(const struct page *p, const struct report_alert *a)
{
    const char *class_ = strcmp(a->severity, "warning") == 0 ? " warning"
                         : strcmp(a->severity, "info") == 0  ? " info"
                                                             : "";
    fprintf(p->out, "<div class=\"alert%s\" id=\"alert-%" PRId64 "\"><h3>Alert %" PRId64 ": ",
            class_, a->id, a->id);
    html_put(p->out, "", a->title, "</h3>\n<dl>");
    report_put_fact(p, "since");
    page_since(p, a->since_ns);
    fprintf(p->out, ", for %s, ", report_alert_duration(a).text);
    html_text(p->out, report_alert_is_open(a) ? "not over when the recording ends" : a->state);
    html_put(p->out, " (", a->severity, ")</dd>\n");
    report_put_cost(p, a);
    report_put_where(p, a);
    report_put_why(p, a);
    report_put_given(p->out, "<dt>what to do</dt><dd class=\"better\">", a->advice, "</dd>\n");
    fputs("</dl></div>\n", p->out);
}

static void report_put_alerts(const struct page *p)
{
    const struct report_data *d = p->data;
    fputs("<section><h2>Alerts: where, why, and what to do</h2>\n", p->out);
    if (d->alert_count == 0 && d->timeless)
        fputs("<p>None: nothing is judged without times.</p>\n", p->out);
    else if (d->alert_count == 0)
        fputs("<p>None: nothing grew, hung or died as far as the rules tell.</p>\n", p->out);
    for (size_t i = 0; i < d->alert_count; i++)
        report_put_alert(p, &d->alerts[i]);
    if (d->alerts_all > d->alert_count)
        fprintf(p->out, "<p class=\"second\">%zu further ones are in the recording.</p>\n",
                d->alerts_all - d->alert_count);
    fputs("</section>\n", p->out);
}

/* ---- advice and pictures ------------------------------------------------------------ */

static struct quantity report_measure_text(const struct report_measure *m, uint64_t value)
{
    return m->bytes ? quantity_bytes((double)value) : quantity_count((double)value);
}

static void report_put_measure(FILE *out, const struct report_measure *m)
{
    double gain =
        m->before > 0 ? 100 * ((double)m->before - (double)m->after) / (double)m->before : 0;
    html_put(out, "<tr><td>", m->name, "");
    fprintf(out,
            "</td><td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n %s\">%.2f %%</td>"
            "<td>%s</td></tr>\n",
            report_measure_text(m, m->before).text, report_measure_text(m, m->after).text,
            gain > 0   ? "better"
            : gain < 0 ? "worse"
                       : "",
            gain, m->bound > 0 && m->bound == m->after ? "optimal" : "");
}

static void report_put_advice(const struct page *p)
{
    const struct report_extras *x = p->extras;
    if (x->measure_count == 0 && x->mapping_none == NULL)
        return;
    fputs("<section><h2>A better mapping of ranks to nodes</h2>\n", p->out);
    if (x->measure_count == 0) {
        report_put_given(p->out, "<p class=\"second\">", x->mapping_none, "</p>\n");
        fputs("</section>\n", p->out);
        return;
    }
    html_put(p->out, "<p>The same ranks on the same nodes of ", x->mapping_network,
             ", placed otherwise:</p>\n");
    page_begin_table(p->out, "gain of the mapping");
    fputs("<tr><th>measure</th><th class=\"n\">as it ran</th><th class=\"n\">suggested</th>"
          "<th class=\"n\">gain</th><th></th></tr>\n",
          p->out);
    for (size_t i = 0; i < x->measure_count; i++)
        report_put_measure(p->out, &x->measures[i]);
    page_end_table(p->out);
    html_put(p->out, "<p>The file for the launcher is made by <code>", x->mapping_command,
             "</code></p></section>\n");
}

static void report_put_pictures(const struct page *p)
{
    const struct report_extras *x = p->extras;
    if (x->picture_count == 0)
        return;
    fputs("<section><h2>As the viewer shows it</h2>\n", p->out);
    for (size_t i = 0; i < x->picture_count; i++) {
        const struct report_picture *picture = &x->pictures[i];
        html_put(p->out, "<figure><img alt=\"", picture->title, "\" src=\"data:image/png;base64,");
        json_base64(p->out, picture->png, picture->length);
        html_put(p->out, "\"><figcaption>", picture->text, "</figcaption></figure>\n");
    }
    fputs("</section>\n", p->out);
}

static void report_put_foot(const struct page *p)
{
    const char *file = text_base_name(p->source->path);
    char word[600] = "";
    text_append_word(word, sizeof(word), file);
    html_put(p->out, "<footer><p>Made from <code>", file, "");
    fputs("</code> by Holter " HOLTER_VERSION
          ". The whole recording replays, window by window, with "
          "<code>holter replay ",
          p->out);
    html_text(p->out, word);
    fputs("</code> and <code>holter view</code>.</p>\n", p->out);
    if (p->data->left_out)
        fprintf(p->out, "<p>Charts show the first %u windows or phases.</p>\n", REPORT_WINDOWS);
    if (p->source->content->refused > 0)
        fprintf(p->out, "<p>%" PRIu64 " of %" PRIu64 " messages in it cannot be read.</p>\n",
                p->source->content->refused, p->source->content->messages);
    fprintf(p->out, "</footer>\n</main>\n<script>%s</script></body></html>\n", report_script);
}

int report_write(FILE *out, const struct export_source *source, const struct report_extras *extras)
{
    struct report_data data;
    struct page page = {out, source, extras, &data};
    int code = report_data_read(&data, source->tables);
    if (code == 0) {
        if (extras->state != NULL && extras->state[0] != '\0')
            text_copy(data.state, sizeof(data.state), extras->state);
        recording_find_stop(source->path, &data.stop);
        data.cut_short = data.stop.at_ns > 0 || recording_is_cut_short(source->path, data.state);
        report_put_head(&page);
        report_put_summary(&page);
        report_put_cards(&page);
        report_put_alerts(&page);
        page_curve(&page);
        page_latency(&page);
        page_time(&page);
        page_traffic(&page);
        page_matrix(&page);
        page_ranks(&page);
        page_calls(&page);
        page_links(&page);
        report_put_advice(&page);
        page_captures(&page);
        report_put_pictures(&page);
        report_put_foot(&page);
        code = fflush(out) != 0 || ferror(out) ? -EIO : 0;
    }
    report_data_finish(&data);
    return code;
}

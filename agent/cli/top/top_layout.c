/* Lays out the page of `holter top`. */
#include "agent/cli/top/top_layout.h"

#include "agent/cli/text/alert_facts.h"
#include "agent/cli/top/top_pen.h"
#include "holter/call.h"
#include "holter/plain_text.h"
#include "proto/quantity.h"
#include "proto/rank_spans.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_COLUMNS 24
#define TREND_COLUMNS 25
#define HIGHEST 8.0 /* multiple of the reference: top of the strips */
#define RAISED 1.5  /* multiple of the reference that is shown as high */
#define LEVELS 8
#define RATES_ROWS 12    /* pages with fewer rows have no line for the rates of the job */
#define WIDE_COLUMNS 110 /* wider pages have more columns for each rank */

/* ---- header ---------------------------------------------------------------------- */

/* What a replay does, in a word or two; NULL: the job is not replayed. */
static const char *top_layout_replay_state(const struct top_replay *replay)
{
    static const char *const words[][2] = {{"playing", "REPLAY"},
                                           {"paused", "REPLAY PAUSED"},
                                           {"seeking", "REPLAY SEEKING"},
                                           {"ended", "REPLAY ENDED"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], replay->state) == 0)
            return words[i][1];
    return NULL;
}

static void top_layout_put_state(struct top_pen *pen, const struct top_model *m)
{
    static const char *const links[] = {"LIVE", "DIALLING", "LOST"};
    const struct top_view *v = pen->view;
    const char *replay = top_layout_replay_state(&m->replay);
    bool over = m->state[0] && strcmp(m->state, "running") != 0;
    const char *state = v->paused             ? "PAUSED"
                        : v->link != TOP_LIVE ? links[v->link]
                        : replay              ? replay
                        : over                ? m->state
                                              : links[TOP_LIVE];
    bool still = v->paused || over || (replay && strcmp(m->replay.state, "playing") != 0);
    enum top_style style = v->link != TOP_LIVE ? TOP_BAD : still ? TOP_WARNING : TOP_GOOD;
    char text[64];
    snprintf(text, sizeof text, "%s", quantity_clock(m->now_ns).text);
    text[strcspn(text, ".")] = '\0'; /* seconds are enough */
    int right = (int)(strlen(state) + strlen(text)) + 1;
    if (top_pen_left(pen) > right)
        top_pen_put(pen, TOP_PLAIN, top_pen_left(pen) - right, "");
    top_pen_put(pen, style, 0, state);
    top_pen_format(pen, TOP_DIM, 0, " %s", text);
}

/* The rates of the job. If the line is too short, the first ones are left out. */
static void top_layout_put_rates(struct top_pen *pen, const struct top_model *m)
{
    const struct top_rates *r = &m->rates;
    double progress = top_model_progress(m);
    const struct quantity parts[] = {
        quantity_print("%s calls/s, ", quantity_count(r->calls).text),
        quantity_print("%s messages/s, ", quantity_count(r->messages).text),
        quantity_print("%s/s, ", quantity_bytes(r->bytes).text),
        quantity_print("in MPI %s, ", quantity_share(r->in_mpi, 1).text),
        quantity_print("waiting %s", quantity_share(r->waiting, 1).text),
        isfinite(progress) ? quantity_print(", progress %s", quantity_share(progress, 1).text)
                           : (struct quantity){""}};
    const size_t count = sizeof parts / sizeof *parts;
    size_t first = 0, length = 0;
    top_pen_line(pen);
    for (size_t i = 0; i < count; i++)
        length += strlen(parts[i].text);
    while (first < count && length > (size_t)top_pen_left(pen))
        length -= strlen(parts[first++].text);
    for (size_t i = first; i < count; i++)
        top_pen_put(pen, i == 5 ? TOP_WARNING : TOP_PLAIN, 0, parts[i].text);
}

static void top_layout_put_header(struct top_pen *pen, const struct top_model *m)
{
    top_pen_line(pen);
    top_pen_put(pen, TOP_BOLD, 0, "holter ");
    top_pen_put(pen, TOP_BOLD, 0, m->job[0] ? m->job : "no job yet");
    const int state = m->replay.state[0] ? 25 : 19; /* columns of the longest state and the time */
    if (m->job[0] && top_pen_left(pen) > state + 1) {
        uint64_t nodes = m->nodes.type == WIRE_TYPE_NODES ? m->nodes.nodes.nodes_count : 0;
        char text[400];
        snprintf(text, sizeof text, "  %s, %s on %s", text_base_name(m->app),
                 quantity_things(m->world, "rank").text, quantity_things(nodes, "node").text);
        top_pen_put(pen, TOP_PLAIN, top_pen_left(pen) - state, text);
    }
    top_layout_put_state(pen, m);
    top_pen_line(pen);
    if (!m->job[0]) {
        top_pen_format(pen, TOP_DIM, 0, "waiting for a job at %s", pen->view->daemon);
        return;
    }
    uint64_t end = m->end_ns ? m->end_ns : m->now_ns;
    double length = end > m->start_ns ? (double)(end - m->start_ns) : 0;
    if (m->replay.state[0] && !m->end_ns)
        top_pen_format(pen, TOP_DIM, 0, "replay at %s of %s, windows of %s",
                       quantity_duration(length).text,
                       quantity_duration((double)(m->replay.end_ns - m->replay.begin_ns)).text,
                       quantity_duration((double)m->window_ns).text);
    else
        top_pen_format(pen, TOP_DIM, 0, "%s %s %s, windows of %s", m->state,
                       strcmp(m->state, "running") == 0 ? "for" : "after",
                       quantity_duration(length).text,
                       quantity_duration((double)m->window_ns).text);
    if (m->group > 1)
        top_pen_format(pen, TOP_DIM, 0, ", by groups of %s ranks", quantity_grouped(m->group).text);
    if (m->seen < m->world)
        top_pen_format(pen, TOP_WARNING, 0, ", %" PRIu64 " ranks not seen", m->world - m->seen);
    if (m->missing)
        top_pen_put(pen, TOP_WARNING, 0, ", nodes missing");
    if (m->rates.known && pen->view->rows >= RATES_ROWS)
        top_layout_put_rates(pen, m);
}

/* ---- latency ----------------------------------------------------------------------- */

/* Are there messages in this series? Jobs on one node have none between nodes. */
static bool top_layout_is_shown(const struct top_model *m, const struct top_series *s)
{
    if (!s->has_messages || s->last_with_messages + TOP_WINDOWS <= m->window)
        return s->scope == SERIES_JOB;
    return s->scope != SERIES_REGION || s->last == m->window;
}

static int top_layout_count_series(const struct top_model *m)
{
    int count = 0;
    for (size_t i = 0; i < m->series_count; i++)
        count += top_layout_is_shown(m, &m->series[i]);
    return count;
}

/* One character a window; a space where nothing is known. */
static void top_layout_put_strip(struct top_pen *pen, const struct top_series *s, uint64_t newest,
                                 int columns)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const ascii[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
    for (int i = columns - 1; i >= 0; i--) {
        bool known = (uint64_t)i <= newest;
        double value = known ? top_model_value(s, newest - (uint64_t)i) : (double)NAN;
        if (!isfinite(value)) {
            top_pen_put(pen, TOP_PLAIN, 0, " ");
            continue;
        }
        double share = value > 1 ? log2(value) / log2(HIGHEST) : 0;
        int level = (int)(share * LEVELS);
        level = level < LEVELS ? level : LEVELS - 1;
        top_pen_put(pen, value >= RAISED ? TOP_WARNING : TOP_GOOD, 0,
                    pen->view->utf8 ? blocks[level] : ascii[level]);
    }
}

static void top_layout_name_series(const struct top_model *m, const struct top_series *s, char *out,
                                   size_t capacity)
{
    static const char *const scopes[] = {"job", "intra-node", "inter-node", "region"};
    char ranks[64];
    if (s->scope != SERIES_REGION) {
        snprintf(out, capacity, "%s", scopes[s->scope]);
        return;
    }
    top_model_region_ranks(m, s->id, ranks, sizeof ranks);
    snprintf(out, capacity, "region %" PRIu64 "%s%s", s->id, ranks[0] ? ": " : "", ranks);
}

static void top_layout_put_trend(struct top_pen *pen, const struct top_model *m,
                                 const struct top_series *s)
{
    bool utf8 = pen->view->utf8;
    if (s->trend == TREND_CALM)
        return;
    uint64_t windows = m->window >= s->trend_since ? m->window - s->trend_since + 1 : 0;
    struct quantity since = quantity_duration((double)windows * (double)m->window_ns);
    if (s->trend == TREND_STEADY)
        top_pen_format(pen, TOP_BAD, 0, " %s high for %s", utf8 ? "■" : "=", since.text);
    else if (isfinite(s->slope))
        top_pen_format(pen, TOP_BAD, 0, " %s %+.0f %%/min for %s", utf8 ? "▲" : "^", 100 * s->slope,
                       since.text);
    else
        top_pen_format(pen, TOP_BAD, 0, " %s growing for %s", utf8 ? "▲" : "^", since.text);
}

static void top_layout_put_series(struct top_pen *pen, const struct top_model *m,
                                  const struct top_series *s)
{
    char name[128];
    double now = top_model_value(s, m->window);
    int strip = pen->view->columns - NAME_COLUMNS - 8 - TREND_COLUMNS;
    top_layout_name_series(m, s, name, sizeof name);
    top_pen_line(pen);
    top_pen_put(pen, TOP_PLAIN, NAME_COLUMNS, name);
    top_pen_put(pen, TOP_PLAIN, 0, " ");
    if (strip > 4)
        top_layout_put_strip(pen, s, m->window,
                             strip < (int)TOP_WINDOWS ? strip : (int)TOP_WINDOWS);
    if (isfinite(now))
        top_pen_format(pen, now >= RAISED ? TOP_BAD : TOP_BOLD, -7, "%.*fx", now < 99.5 ? 2 : 0,
                       now);
    else
        top_pen_put(pen, TOP_DIM, -7, "-");
    top_layout_put_trend(pen, m, s);
}

static void top_layout_put_latency(struct top_pen *pen, const struct top_model *m, int lines)
{
    int total = top_layout_count_series(m), shown = 0;
    top_pen_line(pen);
    top_pen_put(pen, TOP_TITLE, NAME_COLUMNS, "LATENCY");
    if (total == 0)
        top_pen_put(pen, TOP_DIM, 0, " no message matched yet");
    else
        top_pen_put(pen, TOP_DIM, 0, " by its reference");
    if (m->matched + m->unmatched > 0)
        top_pen_format(pen, TOP_DIM, 0, "; %s of %s messages matched",
                       quantity_matched(m->matched, m->unmatched).text,
                       quantity_count((double)m->matched + (double)m->unmatched).text);
    if (m->error_ns > 0 && m->error_ns != WIRE_ANY)
        top_pen_format(pen, TOP_DIM, 0, ", clocks within %s",
                       quantity_duration((double)m->error_ns).text);
    for (size_t i = 0; i < m->series_count && shown < lines - 1; i++) {
        if (!top_layout_is_shown(m, &m->series[i]))
            continue;
        if (++shown == lines - 1 && total > shown) {
            top_pen_line(pen);
            top_pen_format(pen, TOP_DIM, 0, "and %d more", total - shown + 1);
        } else {
            top_layout_put_series(pen, m, &m->series[i]);
        }
    }
}

/* ---- alerts -------------------------------------------------------------------------- */

size_t top_chosen(const struct top_model *m, const struct top_view *view)
{
    for (size_t i = 0; i < m->alert_count; i++)
        if (m->alerts[i]->message.alert.id == view->alert)
            return i;
    return 0;
}

static enum top_style top_layout_alert_style(const struct wire_alert *a)
{
    if (strcmp(a->state, "firing") == 0)
        return TOP_BAD;
    return strcmp(a->state, "pending") == 0 ? TOP_WARNING : TOP_DIM;
}

static void top_layout_put_clock(struct top_pen *pen, enum top_style style, uint64_t ns)
{
    struct quantity clock = quantity_clock(ns);
    clock.text[strcspn(clock.text, ".")] = '\0';
    top_pen_put(pen, style, 9, clock.text);
}

/* The present ratio of an alert, or the worst one if it is resolved. @param wide  include the word
 */
static struct quantity top_layout_ratio(const struct wire_alert *a, bool wide)
{
    const bool over = strcmp(a->state, "resolved") == 0;
    const double ratio = over ? a->ratio_worst : a->ratio;
    return isfinite(ratio) && ratio > 0 ? quantity_print("%s%s",
                                                         !wide  ? ""
                                                         : over ? "worst "
                                                                : "now ",
                                                         quantity_ratio(ratio).text)
                                        : (struct quantity){""};
}

static void top_layout_put_alert(struct top_pen *pen, const struct wire_alert *a, bool chosen)
{
    enum top_style style = chosen ? TOP_CHOSEN : TOP_PLAIN;
    top_pen_line(pen);
    top_pen_put(pen, style, 2, chosen ? ">" : "");
    top_pen_put(pen, chosen ? TOP_CHOSEN : top_layout_alert_style(a), 9, a->state);
    top_layout_put_clock(pen, style, a->onset_ns ? a->onset_ns : a->since_ns);
    const bool wide = pen->view->columns >= 100;
    top_pen_put(pen, style, wide ? -11 : -7, top_layout_ratio(a, wide).text);
    bool cause = a->causes_count > 0, ranks = a->ranks[0] && wide;
    int title = top_pen_left(pen) - 1 - (cause ? 20 : 0) - (ranks ? 20 : 0);
    top_pen_put(pen, style, 0, " ");
    if (title > 0)
        top_pen_put(pen, style, title, a->title);
    if (ranks)
        top_pen_format(pen, style, 20, " %s %s", rank_spans_noun(a->ranks), a->ranks);
    if (cause)
        top_pen_format(pen, style, 20, " %s %.0f %%", a->causes[0].name,
                       100 * (isfinite(a->causes[0].share) ? a->causes[0].share : 0));
}

/* The chosen alert is always among the visible ones. */
static void top_layout_put_alerts(struct top_pen *pen, const struct top_model *m, int lines)
{
    size_t chosen = top_chosen(m, pen->view), rows = (size_t)(lines > 1 ? lines - 1 : 0);
    size_t first = chosen >= rows && rows > 0 ? chosen - rows + 1 : 0, firing = 0;
    for (size_t i = 0; i < m->alert_count; i++)
        firing += strcmp(m->alerts[i]->message.alert.state, "firing") == 0;
    top_pen_line(pen);
    top_pen_put(pen, TOP_TITLE, NAME_COLUMNS, "ALERTS");
    if (m->alert_count == 0)
        top_pen_put(pen, TOP_DIM, 0, " none");
    else
        top_pen_format(pen, firing > 0 ? TOP_BAD : TOP_DIM, 0, " %zu firing, %zu in all", firing,
                       m->alert_count);
    for (size_t i = first; i < m->alert_count && i < first + rows; i++)
        top_layout_put_alert(pen, &m->alerts[i]->message.alert, pen->view->keys && i == chosen);
}

/* ---- evidence -------------------------------------------------------------------------- */

static void top_layout_put_fact(void *user, const char *name, const char *text)
{
    struct top_pen *pen = user;
    if (!text[0])
        return;
    top_pen_line(pen);
    top_pen_format(pen, TOP_DIM, 12, "  %s", name);
    top_pen_wrap(pen, 12, text);
}

static void top_layout_put_times(struct top_pen *pen, const struct wire_alert *a)
{
    char text[128];
    snprintf(text, sizeof text, "%s, %s %s",
             quantity_clock(a->onset_ns ? a->onset_ns : a->since_ns).text, a->state,
             quantity_clock(a->updated_ns).text);
    top_layout_put_fact(pen, "since", text);
}

static void top_layout_put_causes(struct top_pen *pen, const struct wire_alert *a)
{
    for (uint64_t i = 0; i < a->causes_count; i++) {
        double share = isfinite(a->causes[i].share) ? a->causes[i].share : 0;
        top_pen_line(pen);
        top_pen_put(pen, TOP_DIM, 12, i == 0 ? "  cause" : "");
        top_pen_put(pen, i == 0 ? TOP_BOLD : TOP_PLAIN, 15, a->causes[i].name);
        top_pen_format(pen, i == 0 ? TOP_BOLD : TOP_PLAIN, -6, "%.0f %%", 100 * share);
        top_pen_wrap(pen, 35, a->causes[i].text);
    }
}

static void top_layout_put_evidence(struct top_pen *pen, const struct top_model *m)
{
    const struct wire_alert *a = &m->alerts[top_chosen(m, pen->view)]->message.alert;
    top_pen_line(pen);
    top_pen_format(pen, TOP_TITLE, 0, "EVIDENCE of alert %" PRIu64, a->id);
    top_pen_format(pen, TOP_DIM, 0, "  %s %s %s", a->severity, a->kind, a->rule);
    top_layout_put_fact(pen, "", a->title);
    top_layout_put_fact(pen, "", a->text);
    top_layout_put_times(pen, a);
    alert_facts_list(a, top_layout_put_fact, pen);
    top_layout_put_causes(pen, a);
    top_layout_put_fact(pen, "advice", a->advice);
}

/* ---- ranks ---------------------------------------------------------------------------------- */

static int top_layout_compare_by_rank(const void *left, const void *right)
{
    const struct top_rank *a = *(const struct top_rank *const *)left;
    const struct top_rank *b = *(const struct top_rank *const *)right;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static int top_layout_compare_by_waiting(const void *left, const void *right)
{
    const struct top_rank *a = *(const struct top_rank *const *)left;
    const struct top_rank *b = *(const struct top_rank *const *)right;
    return a->waiting != b->waiting ? (a->waiting > b->waiting ? -1 : 1)
                                    : top_layout_compare_by_rank(left, right);
}

static int top_layout_compare_by_latency(const void *left, const void *right)
{
    const struct top_rank *a = *(const struct top_rank *const *)left;
    const struct top_rank *b = *(const struct top_rank *const *)right;
    double one = isfinite(a->latency) ? a->latency : 0;
    double other = isfinite(b->latency) ? b->latency : 0;
    return one != other ? (one > other ? -1 : 1) : top_layout_compare_by_rank(left, right);
}

/* Columns of the errors of latencies: none where all ranks have one clock. */
static int top_layout_error_columns(const struct top_model *m)
{
    return m->error_ns > 0 ? 7 : 0;
}

static bool top_layout_is_wide(const struct top_pen *pen)
{
    return pen->view->columns >= WIDE_COLUMNS;
}

static void top_layout_put_rank(struct top_pen *pen, const struct top_model *m,
                                const struct top_rank *r)
{
    char error[32] = "";
    top_pen_line(pen);
    if (m->group > 1) { /* ranks of a group may be on several nodes */
        top_pen_put(pen, TOP_PLAIN, NAME_COLUMNS, quantity_ranks(r->rank, m->group, m->world).text);
    } else {
        top_pen_format(pen, TOP_PLAIN, -7, "%" PRIu64, r->rank);
        top_pen_put(pen, TOP_PLAIN, 0, "  ");
        top_pen_put(pen, TOP_PLAIN, 15, r->host < m->host_count ? m->hosts[r->host] : "");
    }
    top_pen_put(pen, TOP_PLAIN, -9, quantity_share(r->waiting, 1).text);
    if (r->awaited >= 0)
        top_pen_format(pen, TOP_PLAIN, -9, "%" PRId64, r->awaited);
    else
        top_pen_put(pen, TOP_DIM, -9, "-");
    if (isfinite(r->latency))
        top_pen_format(pen, r->latency >= RAISED ? TOP_WARNING : TOP_PLAIN, -9, "%.2fx",
                       r->latency);
    else
        top_pen_put(pen, TOP_DIM, -9, "-");
    if (isfinite(r->latency) && r->error >= 0.005)
        snprintf(error, sizeof error, " ± %.*f", r->error < 9.995 ? 2 : 0, r->error);
    if (error[0] || r->in_call != 0 || top_layout_is_wide(pen))
        top_pen_put(pen, TOP_DIM, top_layout_error_columns(m), error);
    if (top_layout_is_wide(pen)) {
        top_pen_put(pen, TOP_PLAIN, -9, quantity_share(r->in_mpi, 1).text);
        top_pen_put(pen, TOP_PLAIN, -12, quantity_count(r->messages).text);
        top_pen_put(pen, TOP_PLAIN, -12, quantity_bytes(r->bytes).text);
    }
    if (r->in_call == 0)
        return;
    const char *name = r->in_call <= UINT16_MAX ? call_name((uint16_t)r->in_call) : NULL;
    top_pen_format(pen, TOP_PLAIN, 0, "  %s for %s", name ? name : "?",
                   quantity_duration((double)r->in_call_ns).text);
    if (r->in_call_peer >= 0)
        top_pen_format(pen, TOP_PLAIN, 0, " with %" PRId64, r->in_call_peer);
}

static void top_layout_put_ranks(struct top_pen *pen, const struct top_model *m, int lines)
{
    static int (*const orders[])(const void *, const void *) = {
        top_layout_compare_by_waiting, top_layout_compare_by_latency, top_layout_compare_by_rank};
    static const char *const titles[] = {"RANKS by waiting", "RANKS by latency", "RANKS"};
    const struct top_rank **order = malloc((m->rank_count + 1) * sizeof *order);
    top_pen_line(pen);
    top_pen_put(pen, TOP_TITLE, NAME_COLUMNS, titles[pen->view->sort]);
    top_pen_format(pen, TOP_DIM, 0, "%9s%9s%9s%*s%s  %s",
                   m->rank_windows > 1 ? "waited" : "waiting", "for rank", "latency",
                   top_layout_error_columns(m), "",
                   top_layout_is_wide(pen) ? "   in MPI  messages/s     bytes/s" : "", "in call");
    if (order == NULL)
        return;
    for (size_t i = 0; i < m->rank_count; i++)
        order[i] = &m->ranks[i];
    qsort(order, m->rank_count, sizeof *order, orders[pen->view->sort]);
    for (size_t i = 0; i < m->rank_count && (int)i < lines - 1; i++)
        top_layout_put_rank(pen, m, order[i]);
    free(order);
}

/* ---- nodes --------------------------------------------------------------- */

static size_t top_layout_count_nodes(const struct top_model *m)
{
    return m->nodes.type == WIRE_TYPE_NODES ? m->nodes.nodes.nodes_count : 0;
}

static void top_layout_put_count(struct top_pen *pen, int width, uint64_t count, bool loss)
{
    top_pen_put(pen, loss && count > 0 ? TOP_WARNING : TOP_PLAIN, width,
                quantity_count((double)count).text);
}

static void top_layout_put_node(struct top_pen *pen, const struct wire_node_row *n)
{
    top_pen_line(pen);
    top_pen_format(pen, n->connected ? TOP_PLAIN : TOP_BAD, 18, "%s%s",
                   n->connected ? "" : "away: ", n->host);
    top_layout_put_count(pen, -6, n->ranks, false);
    top_pen_put(pen, TOP_PLAIN, -9, quantity_share((double)n->cpu_ns, (double)n->up_ns).text);
    top_pen_put(pen, TOP_PLAIN, -10, quantity_bytes((double)n->rss_bytes).text);
    top_layout_put_count(pen, -8, n->lost, true);
    top_layout_put_count(pen, -8, n->windows_dropped, true);
    top_layout_put_count(pen, -9, n->matched, false);
    top_layout_put_count(pen, -10, n->unmatched + n->rejected, true);
}

static void top_layout_put_nodes(struct top_pen *pen, const struct top_model *m, int lines)
{
    size_t total = top_layout_count_nodes(m);
    top_pen_line(pen);
    top_pen_put(pen, TOP_TITLE, 18, "NODES");
    top_pen_format(pen, TOP_DIM, 0, "%6s%9s%10s%8s%8s%9s%10s", "ranks", "agent", "memory", "lost",
                   "dropped", "matched", "unmatched");
    for (size_t i = 0; i < total && (int)i < lines - 1; i++) {
        if ((int)i == lines - 2 && i + 1 < total) {
            top_pen_line(pen);
            top_pen_format(pen, TOP_DIM, 0, "and %zu more", total - i);
        } else {
            top_layout_put_node(pen, &m->nodes.nodes.nodes[i]);
        }
    }
}

/* ---- the page ------------------------------------------------------------------------ */

enum { LATENCY, ALERTS, RANKS, NODES, SECTIONS };

/* Distribute the lines, titles included: in order of importance every section gets two lines, then
 * one more each in turn. */
static void top_layout_share_lines(const struct top_model *m, int left, int *lines)
{
    static const int order[] = {ALERTS, LATENCY, RANKS, NODES};
    const int wanted[] = {[LATENCY] = 1 + top_layout_count_series(m),
                          [ALERTS] = 1 + (int)m->alert_count,
                          [RANKS] = 1 + (m->rank_count < 1000 ? (int)m->rank_count : 1000),
                          [NODES] = 1 + (int)top_layout_count_nodes(m)};
    for (int i = 0; i < SECTIONS; i++) {
        int least = wanted[order[i]] < 2 ? wanted[order[i]] : 2;
        lines[order[i]] = left >= least ? least : 0;
        left -= lines[order[i]];
    }
    for (bool more = true; more && left > 0;) {
        more = false;
        for (int i = 0; i < SECTIONS && left > 0; i++)
            if (lines[order[i]] > 0 && lines[order[i]] < wanted[order[i]]) {
                lines[order[i]]++;
                left--;
                more = true;
            }
    }
}

static void top_layout_put_help(struct top_pen *pen)
{
    static const struct {
        const char *key, *text;
    } keys[] = {{"up, k and down, j", "choose an alert"},
                {"Enter", "show or hide its evidence"},
                {"s", "order of the ranks: by waiting, by latency, by number"},
                {"p, space", "pause or continue"},
                {"?, h", "show or hide this help"},
                {"q", "quit"}};
    static const char *const facts[] = {
        "Rates are those of all ranks in the newest window: MPI calls, messages and bytes sent, "
        "the "
        "shares of time in MPI and of waiting, and, during an alert about it, the progress of the "
        "job compared with before.",
        "Latency is the time that messages took, in multiples of the best level that this job "
        "sustained for their size and locality (the reference). A strip has one character for each "
        "window, from 1 to 8 times the reference. A region is a group of ranks that communicate "
        "more with each other than with others.",
        "Waiting is the share of time in receives, waits, polls, collectives, one-sided calls, "
        "and in sends before the receive; beside it is the rank that was waited for longest. "
        "\"waited\" is that since the begin of the job, until the next window has come.",
        "Nodes: the agent's share of a core, and what was lost or not matched."};
    for (size_t i = 0; i < sizeof keys / sizeof *keys && top_pen_line(pen); i++) {
        top_pen_put(pen, TOP_BOLD, 20, keys[i].key);
        top_pen_wrap(pen, 20, keys[i].text);
    }
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (top_pen_line(pen) && top_pen_line(pen))
            top_pen_wrap(pen, 0, facts[i]);
}

static void top_layout_put_keys(struct top_pen *pen)
{
    const struct top_view *v = pen->view;
    while (pen->page->count < v->rows - 1 && top_pen_line(pen))
        ;
    if (!top_pen_line(pen))
        return;
    if (v->link == TOP_LOST)
        top_pen_format(pen, TOP_BAD, 0, "no answer from %s: reconnecting  ", v->daemon);
    top_pen_put(pen, TOP_DIM, 0,
                v->paused ? "p continue  q quit  ? help"
                          : "q quit  j/k alert  Enter evidence  s sort  p pause  ? help");
}

static void top_layout_put_sections(struct top_pen *pen, const struct top_model *m, int left)
{
    int lines[SECTIONS];
    top_layout_share_lines(m, left, lines);
    if (lines[LATENCY] > 0)
        top_layout_put_latency(pen, m, lines[LATENCY]);
    if (lines[ALERTS] > 0)
        top_layout_put_alerts(pen, m, lines[ALERTS]);
    if (lines[RANKS] > 0)
        top_layout_put_ranks(pen, m, lines[RANKS]);
    if (lines[NODES] > 0)
        top_layout_put_nodes(pen, m, lines[NODES]);
}

void top_layout(const struct top_model *m, const struct top_view *view, struct top_page *page)
{
    struct top_view inner = *view;
    struct top_pen pen = {.page = page, .view = &inner};
    bool keys = view->keys && view->rows >= 6;
    page->count = 0;
    inner.rows -= keys; /* the last line is for the keys */
    top_layout_put_header(&pen, m);
    if (view->help) {
        top_layout_put_help(&pen);
    } else if (m->job[0] && view->evidence && m->alert_count > 0) {
        int alerts = (int)m->alert_count + 1;
        top_layout_put_alerts(&pen, m, alerts < 4 ? alerts : 4);
        top_layout_put_evidence(&pen, m);
    } else if (m->job[0]) {
        top_layout_put_sections(&pen, m, inner.rows - page->count);
    }
    if (keys) {
        inner.rows = view->rows;
        top_layout_put_keys(&pen);
    }
}

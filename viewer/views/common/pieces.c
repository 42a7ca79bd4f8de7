/* Texts, choices, rows, lists and tooltips about ranks and pairs that several views show. */
#include "viewer/views/common/pieces.h"

#include "viewer/layout/format.h"

#include "holter/call.h"
#include "holter/waiting.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* @param covered  windows with figures   @param busy  windows with something to have figures of */
static struct quantity piece_format_range(const struct stage *s, enum range_kind kind,
                                          uint64_t covered, uint64_t busy)
{
    const struct range *r = s->range;
    const struct window_totals *w = series_newest(&s->model->series);
    if (kind == RANGE_START && w && s->ui->time.range == RANGE_SPAN && !r->fallback &&
        kind == r->kind)
        return quantity_print("whole time"); /* the visible time is all of it */
    if (kind == RANGE_START || !w)
        return quantity_print("since the start%s",
                              r->fallback || kind != r->kind ? " (no finer figures received)" : "");
    double length = (double)((r->last - r->first + 1) * w->length_ns);
    uint64_t newest = s->model->series.first + s->model->series.count - 1;
    struct quantity part = {""};
    /* a replay may have visited only some of the windows, a live job be followed since then only */
    if (covered && covered < r->last - r->first + 1 && (s->model->playback.known || covered < busy))
        part = quantity_print("%s of ", format_duration((double)(covered * w->length_ns)).text);
    if (s->ui->time.follow && (!s->model->playback.known || r->last + 1 >= newest))
        return quantity_print("%s%s%s", part.text, part.text[0] ? "the last " : "last ",
                              format_duration(length).text);
    return quantity_print("%s%s to %s", part.text,
                          format_clock((int64_t)(r->first * w->length_ns), 0).text,
                          format_clock((int64_t)((r->last + 1) * w->length_ns), 0).text);
}

struct quantity piece_range_text(const struct stage *s)
{
    return piece_format_range(s, s->range->kind, s->range->covered, s->range->busy);
}

struct quantity piece_pairs_range_text(const struct stage *s)
{
    return piece_format_range(s, s->range->pairs_kind, s->range->pairs_covered,
                              s->range->pairs_busy);
}

struct quantity piece_calls_range_text(const struct stage *s)
{
    return piece_format_range(s, s->range->calls_kind, s->range->calls_covered,
                              s->range->calls_busy);
}

struct quantity piece_latency_part(const struct stage *s)
{
    const struct range *r = s->range;
    const struct window_totals *w = series_newest(&s->model->series);
    if (!w || !r->latency_covered || r->latency_covered >= r->pairs_busy)
        return (struct quantity){""};
    return quantity_print(" of %s",
                          format_duration((double)(r->latency_covered * w->length_ns)).text);
}

int piece_has_sizes(const struct model *m)
{
    uint64_t messages = 0;
    for (uint64_t i = 0; i < m->series.count; i++) {
        const struct window_totals *w = series_at(&m->series, m->series.first + i);
        if (w && w->sent_bytes != w->sent)
            return 1;
        messages += w ? w->sent : 0;
    }
    return messages == 0 || model_has_times(m);
}

static const char *const piece_ranges[] = {"visible time", "since the start"};

double piece_range_choice(const struct stage *s, double right, double y)
{
    return widget_choice(&s->brush, right, y, piece_ranges, 2, (int)s->ui->time.range,
                         COMMAND_RANGE);
}

double piece_range_choice_width(const struct stage *s)
{
    return 4 + 36 + scene_width(s->brush.scene, TEXT_SMALL, 0, piece_ranges[0]) +
           scene_width(s->brush.scene, TEXT_SMALL, 0, piece_ranges[1]);
}

int piece_is_since_start(const struct stage *s)
{
    int64_t begin, end, oldest, newest;
    ui_visible(s->ui, s->model, &begin, &end);
    ui_whole_time(s->model, &oldest, &newest);
    return (s->range->asked == RANGE_START || s->range->fallback) &&
           (begin > oldest || end < newest);
}

struct quantity piece_time_text(const struct stage *s)
{
    int64_t begin, end, oldest, newest;
    ui_visible(s->ui, s->model, &begin, &end);
    ui_whole_time(s->model, &oldest, &newest);
    double length = (double)(end - begin);
    if (model_is_timeless(s->model))
        return quantity_print("whole time");
    if (begin <= oldest && end >= newest)
        return quantity_print("whole time, %s", format_duration((double)(newest - oldest)).text);
    if (s->ui->time.follow)
        return quantity_print("last %s", format_duration(length).text);
    return quantity_print("held: %s to %s", format_clock(begin, length < 2e9).text,
                          format_clock(end, length < 2e9).text);
}

int piece_has_bytes(const struct model *m, const struct range *r)
{
    return piece_has_sizes(m) && (r->total[PAIR_MESSAGES] == 0 || r->total[PAIR_BYTES] > 0);
}

double piece_quantity_choice(const struct stage *s, double right, double y)
{
    static const char *const labels[] = {"messages", "bytes"};
    if (!piece_has_bytes(s->model, s->range)) /* there is no choice */
        return 0;
    return widget_choice(&s->brush, right, y, labels, 2, (int)s->quantity, COMMAND_QUANTITY);
}

struct quantity piece_quantity(enum pair_column column, uint64_t value)
{
    return format_si((double)value, column == PAIR_BYTES ? "B" : "");
}

struct quantity piece_grouping(const struct model *m)
{
    return quantity_print("by groups of %s ranks, each under its first",
                          quantity_grouped(m->group).text);
}

struct quantity piece_rank(const struct model *m, uint64_t rank)
{
    if (rank == PAIR_OTHERS)
        return quantity_print("others");
    return quantity_ranks(rank, m->group, m->world);
}

/* One more than the last of `count` ranks, as far as the job has them. */
static uint64_t piece_ranks_end(const struct model *m, uint64_t first, uint64_t count)
{
    return m->world > first && first + count > m->world ? m->world : first + count;
}

struct quantity piece_ranks(const struct model *m, uint64_t first, uint64_t count)
{
    const uint64_t end = piece_ranks_end(m, first, count);
    return end - first <= 1
               ? quantity_print("rank %" PRIu64, first)
               : quantity_print("ranks %" PRIu64 "\xe2\x80\x93%" PRIu64, first, end - 1);
}

const char *piece_rank_on(const struct model *m, uint64_t rank, char *out, size_t capacity)
{
    snprintf(out, capacity, "%s%s on %s", piece_rank(m, rank).text,
             m->group > 1 ? ", the first" : "", model_host_of(m, (uint32_t)model_row_of(m, rank)));
    return out;
}

struct quantity piece_capture_size(const struct capture *c)
{
    return quantity_print("%s rank%s, %s call%s", quantity_grouped(c->ranks).text,
                          c->ranks == 1 ? "" : "s", quantity_grouped(c->calls).text,
                          c->calls == 1 ? "" : "s");
}

int piece_waits_in(const struct range *r, uint32_t rank)
{
    static const int waiting[] = {CALL_RECV, CALL_WAIT, CALL_POLL, CALL_COLLECTIVE, CALL_ONE_SIDED};
    const uint64_t *figures = r->ranks.figures + (size_t)rank * RANK_COLUMNS;
    int most = CALL_SEND;
    uint64_t longest = waiting_in_sends(figures[CALL_SEND], figures[RANK_SEND_WAIT_NS]);
    for (size_t i = 0; i < sizeof waiting / sizeof *waiting; i++) {
        if (figures[waiting[i]] > longest || (most == CALL_SEND && longest == 0)) {
            most = waiting[i];
            longest = figures[most];
        }
    }
    return most;
}

char *piece_awaited(const struct range *r, uint32_t rank, char *out, size_t capacity)
{
    uint32_t awaited = range_awaited(r, rank);
    if (awaited == UINT32_MAX)
        snprintf(out, capacity, "%s", call_class_name((enum call_class)piece_waits_in(r, rank)));
    else
        snprintf(out, capacity, "%s, for rank %u",
                 call_class_name((enum call_class)piece_waits_in(r, rank)), awaited);
    return out;
}

static void piece_add_current_call(struct stage *s, const struct model_rank *rank)
{
    if (!rank->in_call)
        return;
    struct quantity length = format_duration((double)rank->in_call_ns);
    if (rank->in_call_peer >= 0)
        tooltip_add(&s->tip, 0, "in %s, peer %lld, for %s", call_name(rank->in_call),
                    (long long)rank->in_call_peer, length.text);
    else
        tooltip_add(&s->tip, 0, "in %s for %s", call_name(rank->in_call), length.text);
}

void piece_traffic_tip(struct stage *s, const char *before, uint64_t messages, uint64_t bytes)
{
    int sizes = piece_has_sizes(s->model);
    tooltip_add(&s->tip, s->brush.theme->text, "%s%s message%s%s%s", before,
                quantity_grouped(messages).text, messages == 1 ? "" : "s", sizes ? ", " : "",
                sizes ? format_si((double)bytes, "B").text : "");
}

struct quantity piece_deaths(const struct model *m, uint32_t rank)
{
    uint32_t deaths = model_row_deaths(m, rank);
    return deaths == 0     ? quantity_print("%s", "")
           : m->group <= 1 ? quantity_print("died")
                           : quantity_print("%s of them died", quantity_grouped(deaths).text);
}

void piece_rank_tip(struct stage *s, uint32_t rank)
{
    const struct model *m = s->model;
    const struct range *r = s->range;
    if (rank >= m->rank_count)
        return;
    char name[300];
    rank = (uint32_t)model_row_of(m, rank);
    uint64_t region = latency_region_of(&m->latency, rank);
    tooltip_add(&s->tip, 0, region ? "%s, region %llu" : "%s",
                piece_rank_on(m, rank, name, sizeof name), (unsigned long long)region);
    const struct quantity deaths = piece_deaths(m, rank);
    if (deaths.text[0])
        tooltip_add(&s->tip, s->brush.theme->bad, "%s", deaths.text);
    if (rank >= r->ranks.count || !r->ranks.figures[(size_t)rank * RANK_COLUMNS + RANK_TIME_NS]) {
        tooltip_add(&s->tip, 0, "no figures in this span of time");
        return;
    }
    double ratio = range_latency(r, rank);
    if (!isnan(ratio))
        tooltip_add(&s->tip, s->brush.theme->text, "latency %s the reference",
                    format_ratio_within(ratio, range_latency_error(r, rank)).text);
    const uint64_t *figures = r->ranks.figures + (size_t)rank * RANK_COLUMNS;
    double shares[MODEL_CLASSES], mpi = 0;
    range_shares(r, rank, shares);
    for (int c = 0; c < MODEL_CLASSES; c++)
        mpi += shares[c];
    tooltip_add(&s->tip, 0, "waiting %s of its time, in MPI %s",
                format_share(range_waiting(r, rank)).text, format_share(mpi).text);
    char waits[96];
    tooltip_add(&s->tip, 0, "waits mostly in class %s",
                piece_awaited(r, rank, waits, sizeof waits));
    piece_traffic_tip(s, "sent ", figures[RANK_SENT], figures[RANK_SENT_BYTES]);
    piece_traffic_tip(s, "received ", figures[RANK_RECEIVED], figures[RANK_RECEIVED_BYTES]);
    if (figures[RANK_LOST])
        tooltip_add(&s->tip, s->brush.theme->bad, "%s records lost",
                    quantity_grouped(figures[RANK_LOST]).text);
    if (figures[RANK_UNTRACKED])
        tooltip_add(&s->tip, s->brush.theme->bad, "%s requests not tracked",
                    quantity_grouped(figures[RANK_UNTRACKED]).text);
    piece_add_current_call(s, &m->ranks[rank]);
}

/* Messages and bytes between two spans of ranks. */
static void piece_sum_pairs(const struct model *m, const struct range *r, uint32_t source,
                            uint32_t destination, uint32_t count, uint64_t *sum)
{
    sum[0] = sum[1] = 0;
    if (count <= 1) {
        uint32_t n = model_pair_find(m, source, destination);
        if (n < r->pairs.count)
            memcpy(sum, r->pairs.figures + (size_t)n * PAIR_COLUMNS, PAIR_COLUMNS * sizeof *sum);
        return;
    }
    for (uint32_t i = 0; i < r->pairs.count; i++) {
        struct model_pair p = model_pair_at(&m->pairs, i);
        if (p.source - source < count && p.destination - destination < count) {
            sum[PAIR_MESSAGES] += r->pairs.figures[(size_t)i * PAIR_COLUMNS + PAIR_MESSAGES];
            sum[PAIR_BYTES] += r->pairs.figures[(size_t)i * PAIR_COLUMNS + PAIR_BYTES];
        }
    }
}

/* What a pair, or a span of ranks, is called, and where it is. */
static void piece_add_pair_names(struct stage *s, uint32_t source, uint32_t destination,
                                 uint32_t count)
{
    static const char arrow[] = "\xe2\x86\x92";
    const struct model *m = s->model;
    if (count > 1) {
        tooltip_add(&s->tip, 0, "%s %s %s", piece_ranks(m, source, count).text, arrow,
                    piece_ranks(m, destination, count).text);
        tooltip_add(&s->tip, 0, "sum of %" PRIu64 " \xc3\x97 %" PRIu64 " pairs; click to zoom in",
                    piece_ranks_end(m, source, count) - source,
                    piece_ranks_end(m, destination, count) - destination);
    } else if (destination == PAIR_OTHERS) {
        tooltip_add(&s->tip, 0, "%s %s its lesser partners together", piece_rank(m, source).text,
                    arrow);
    } else {
        tooltip_add(&s->tip, 0, "%s %s %s", piece_rank(m, source).text, arrow,
                    piece_rank(m, destination).text);
        const char *from = model_host_of(m, source), *to = model_host_of(m, destination);
        tooltip_add(&s->tip, 0, strcmp(from, to) ? "%s %s %s" : "both on %s", from, arrow, to);
    }
}

void piece_pair_tip(struct stage *s, uint32_t source, uint32_t destination, uint32_t count)
{
    const struct range *r = s->range;
    uint64_t sum[PAIR_COLUMNS];
    piece_sum_pairs(s->model, r, source, destination, count, sum);
    piece_add_pair_names(s, source, destination, count);
    if (!sum[PAIR_MESSAGES]) {
        tooltip_add(&s->tip, 0, "no messages in this span of time");
        return;
    }
    piece_traffic_tip(s, "", sum[PAIR_MESSAGES], sum[PAIR_BYTES]);
    const int sizes = piece_has_sizes(s->model);
    tooltip_add(
        &s->tip, 0, "%s%s%s of all %s",
        sizes ? format_si((double)sum[PAIR_BYTES] / (double)sum[PAIR_MESSAGES], "B").text : "",
        sizes ? " per message, " : "",
        format_share((double)sum[s->quantity] / fmax((double)r->total[s->quantity], 1)).text,
        s->quantity == PAIR_BYTES ? "bytes" : "messages");
}

void piece_pair_tip_of_runs(struct stage *s, uint32_t source, uint32_t destination, uint32_t count)
{
    const struct other_run *other = s->ui->network.other;
    uint64_t sum[PAIR_COLUMNS];
    piece_add_pair_names(s, source, destination, count);
    piece_sum_pairs(s->model, s->range, source, destination, count, sum);
    piece_traffic_tip(s, "before ", sum[PAIR_MESSAGES], sum[PAIR_BYTES]);
    piece_sum_pairs(other->model, &other->range, source, destination, count, sum);
    piece_traffic_tip(s, "after ", sum[PAIR_MESSAGES], sum[PAIR_BYTES]);
}

struct quantity piece_rank_axis(double rank, double step)
{
    return step < 5000 ? quantity_print("%.0f", rank) : format_axis(rank, "");
}

void piece_row(struct stage *s, struct box box, enum hit_kind kind, uint64_t a, uint64_t b,
               int selected, enum ui_list list, uint32_t row)
{
    const struct theme *t = s->brush.theme;
    int hover = box_has(box, s->brush.mouse_x, s->brush.mouse_y);
    if (selected || hover)
        scene_rect(s->brush.scene, box, 4,
                   selected ? t->raised : color_mix(t->panel, t->raised, 0.55));
    if (selected)
        scene_rect(s->brush.scene, (struct box){box.x, box.y + 3, 3, box.h - 6}, 1.5, t->accent);
    struct scene_hit *hit = scene_hit(s->brush.scene, box, kind, a, b);
    if (list < UI_LISTS) {
        hit->list = list + 1;
        hit->row = row;
        hit->selected = selected != 0;
    }
}

uint32_t piece_list(struct stage *s, struct box box, enum ui_list list, uint32_t rows,
                    double row_height, uint32_t *last)
{
    double shown = fmax(box.h, 0) / row_height; /* in a tiny window nothing is left for rows */
    double whole = floor(shown);
    double most = fmax((double)rows - whole, 0);
    double first = fmin(fmax(s->ui->list.scroll[list], 0), most);
    struct scene_hit *hit = scene_hit(s->brush.scene, box, HIT_LIST, list, 0);
    hit->y0 = first;
    hit->y1 = first + shown;
    hit->x1 = rows;
    widget_scrollbar(&s->brush, (struct box){box.x + box.w - 5, box.y, 4, box.h}, first, whole,
                     rows);
    *last = (uint32_t)fmin(floor(first) + whole, rows);
    return (uint32_t)first;
}

struct box piece_list_panel(struct box panel, double head, uint32_t rows, double row_height)
{
    panel.h = fmin(panel.h, head + rows * row_height + 1);
    return panel;
}

void piece_panel(const struct stage *s, struct box box, const char *name)
{
    scene_panel(s->brush.scene, box, 0, "%s", name);
    scene_rect(s->brush.scene, box, 6, s->brush.theme->panel);
}

double piece_read_back(const struct stage *s, double right, double y)
{
    const char *label = s->model->captures.waiting ? "reading \xe2\x80\xa6" : "read back";
    if (!model_can_read_back(s->model))
        return 0;
    double w = scene_width(s->brush.scene, TEXT_SMALL, 0, label) + 20;
    widget_button(&s->brush, right - w, y, label, s->model->captures.waiting, COMMAND_CAPTURE_READ,
                  0);
    return w + 10;
}

void piece_empty(const struct stage *s, struct box box, const char *title, const char *text)
{
    const struct theme *t = s->brush.theme;
    double w = fmin(box.w - 40, 560), y = box.y + fmax(box.h / 2 - 30, 8);
    double x = box.x + (box.w - w) / 2;
    scene_text(s->brush.scene, x, y, w, TEXT_TITLE, TEXT_CENTRE | TEXT_CLAUSES, t->second, title);
    if (text)
        scene_text(s->brush.scene, x, y + 24, w, TEXT_SMALL, TEXT_CENTRE | TEXT_CLAUSES, t->faint,
                   text);
}

enum { LEGEND_MARK = 13, LEGEND_GAP = 13 };

double piece_class_legend_width(const struct stage *s, const double *shares)
{
    double w = 0;
    for (int c = 0; c < MODEL_CLASSES; c++)
        if (shares[c] > 0)
            w += scene_width(s->brush.scene, TEXT_AXIS, 0, call_class_name((enum call_class)c)) +
                 2 + LEGEND_MARK + LEGEND_GAP;
    return w;
}

double piece_class_legend(const struct stage *s, double right, double y, const double *shares)
{
    const struct theme *t = s->brush.theme;
    double width = piece_class_legend_width(s, shares), x = right - width + LEGEND_GAP;
    for (int c = 0; c < MODEL_CLASSES; c++) {
        if (shares[c] <= 0)
            continue;
        const char *name = call_class_name((enum call_class)c);
        double w = scene_width(s->brush.scene, TEXT_AXIS, 0, name) + 2;
        scene_rect(s->brush.scene, (struct box){x, y + 3, 8, 8}, 2, t->classes[c]);
        scene_text(s->brush.scene, x + LEGEND_MARK, y, w, TEXT_AXIS, 0, t->second, name);
        x += LEGEND_MARK + w + LEGEND_GAP;
    }
    return width;
}

void piece_cause(const struct stage *s, struct box box, const struct alert *a, uint32_t i)
{
    enum { NAME = 96, SHARE = 44 };
    const struct theme *t = s->brush.theme;
    const color_t colors[] = {t->bad, t->warn, t->info, t->second};
    const struct alert_cause *c = &a->causes[i];
    char name[ALERT_CAUSE_NAME];
    alert_cause_format(c, name);
    double width = scene_width(s->brush.scene, TEXT_SMALL, 0, name),
           left = fmin(fmax(width + 9, NAME), box.w - SHARE);
    scene_text(s->brush.scene, box.x, box.y, left - 8, TEXT_SMALL, 0, t->text, name);
    if (isnan(c->share))
        return;
    widget_bar(&s->brush, (struct box){box.x + left, box.y + 5, box.w - left - SHARE, 8}, c->share,
               a->state == ALERT_RESOLVED ? t->second : colors[i < 3 ? i : 3]);
    scene_textf(s->brush.scene, box.x + box.w - SHARE, box.y, SHARE, TEXT_SMALL,
                TEXT_RIGHT | TEXT_FIGURES, t->text, "%.0f\xc2\xa0%%", c->share * 100);
}

/* View "ranks": time of each rank by class of call, as a profile and a table. */
#include "viewer/views/views.h"

#include "daemon/analysis/tables/array.h"

#include "viewer/layout/format.h"
#include "viewer/views/alerts/evidence.h"
#include "viewer/views/common/pieces.h"

#include "holter/call.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW = 26, HEAD = 38 }; /* HEAD: what is above and below the rows */
enum { RANK, NODE, BAR, WAITING, IN_MPI, MOSTLY, AWAITED, SENT, SENT_BYTES, CALLS, COLUMNS };

static const struct table ranks_table = {
    .columns =
        {
            [RANK] = {"rank", 70, TEXT_RIGHT, 1},
            [NODE] = {"node", 110, 0, 0, 1},
            [BAR] = {"time by class", 0, 0, 0},
            [WAITING] = {"waiting", 84, TEXT_RIGHT, 1},
            [IN_MPI] = {"in MPI", 84, TEXT_RIGHT, 1},
            [MOSTLY] = {"waits in", 88, 0, 0, 2},
            [AWAITED] = {"for rank", 80, TEXT_RIGHT, 1, 2},
            [SENT] = {"sent", 84, TEXT_RIGHT, 1, 4},
            [SENT_BYTES] = {"bytes sent", 96, TEXT_RIGHT, 1, 3},
            [CALLS] = {"calls", 84, TEXT_RIGHT, 1, 5},
        },
    .count = COLUMNS,
    .list = LIST_RANKS,
};

static double ranks_view_key_of(const struct range *r, uint32_t rank, int column)
{
    const uint64_t *f = r->ranks.figures + (size_t)rank * RANK_COLUMNS;
    switch (column) {
    case RANK:
        return rank;
    case IN_MPI:
        return f[RANK_TIME_NS] ? (double)model_mpi_ns(f) / (double)f[RANK_TIME_NS] : 0;
    case AWAITED:
        return range_awaited(r, rank) == UINT32_MAX ? -1.0 : (double)range_awaited(r, rank);
    case SENT:
        return (double)f[RANK_SENT];
    case SENT_BYTES:
        return (double)f[RANK_SENT_BYTES];
    case CALLS:
        return (double)f[RANK_CALLS];
    default:
        return range_waiting(r, rank);
    }
}

struct order {
    const struct range *range;
    int column, descending;
};

static int ranks_view_compare(const void *left, const void *right, void *user)
{
    const struct order *o = user;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    double x = ranks_view_key_of(o->range, a, o->column),
           y = ranks_view_key_of(o->range, b, o->column);
    int ascending = x < y ? -1 : x > y;
    return ascending ? (o->descending ? -ascending : ascending) : a < b ? -1 : a > b;
}

/* Ranks in the chosen order; by default by waiting time. */
static const uint32_t *ranks_view_order_of(const struct stage *s)
{
    struct pictures *p = s->pictures;
    const struct range *r = s->range;
    int column = s->ui->list.sort[LIST_RANKS], descending = s->ui->list.descending[LIST_RANKS];
    if (column < 0 || (column == WAITING && descending))
        return r->by_waiting;
    uint64_t key = 1 + (r->version * 64 + (uint64_t)column) * 8 + (uint64_t)descending;
    if (p->order_key == key)
        return p->order;
    if (ARRAY_FIT(p->order, p->order_capacity, r->by_waiting_count) != 0)
        return r->by_waiting;
    for (uint32_t i = 0; i < r->by_waiting_count; i++)
        p->order[i] = r->by_waiting[i];
    struct order o = {r, column, descending};
    qsort_r(p->order, r->by_waiting_count, sizeof *p->order, ranks_view_compare, &o);
    p->order_key = key;
    return p->order;
}

/* "3", "3 died", or of a group under its first rank "2048: 2 died". */
static struct quantity ranks_view_name(const struct model *m, uint32_t rank)
{
    uint32_t deaths = model_row_deaths(m, rank);
    if (m->group > 1 && deaths)
        return quantity_print("%u: %u died", rank, deaths);
    return quantity_print(deaths ? "%u died" : "%u", rank);
}

/* Whether an alert names one of the ranks of a row. */
static int ranks_view_alert_marks_row(const struct model *m, const struct alert *a, uint32_t first)
{
    for (uint32_t r = first; r < m->rank_count && model_row_of(m, r) == first; r++)
        if (ui_alert_marks_rank(m, a, r))
            return 1;
    return 0;
}

static void ranks_view_rank_row(struct stage *s, const struct table *table, struct box row,
                                uint32_t rank, uint32_t at)
{
    const struct theme *t = s->brush.theme;
    const struct range *r = s->range;
    const uint64_t *f = r->ranks.figures + (size_t)rank * RANK_COLUMNS;
    const struct alert *named = evidence_alert(s);
    int dead = model_row_deaths(s->model, rank) > 0;
    double shares[MODEL_CLASSES];
    piece_row(s, row, HIT_RANK, rank, 0,
              ui_marks_rank(s->ui, s->model, rank) || ui_row_selected(s->ui, s->model, rank),
              LIST_RANKS, at);
    if (named && ranks_view_alert_marks_row(s->model, named, rank))
        evidence_mark_row(s, row, named);
    widget_cell(&s->brush, table, row, RANK, dead ? t->bad : t->text,
                ranks_view_name(s->model, rank).text);
    widget_cell(&s->brush, table, row, NODE, t->second, model_host_of(s->model, rank));
    range_shares(r, rank, shares);
    struct box bar = column_box(table, BAR, row.x, row.w);
    widget_stack(&s->brush, (struct box){bar.x, row.y + 8, bar.w, 10}, shares, MODEL_CLASSES,
                 t->classes);
    widget_cell(&s->brush, table, row, WAITING, t->text, format_share(range_waiting(r, rank)).text);
    widget_cell(&s->brush, table, row, IN_MPI, t->text,
                format_share(ranks_view_key_of(r, rank, IN_MPI)).text);
    widget_cell(&s->brush, table, row, MOSTLY, t->second,
                call_class_name((enum call_class)piece_waits_in(r, rank)));
    uint32_t awaited = range_awaited(r, rank);
    widget_cell(&s->brush, table, row, AWAITED, t->second,
                awaited == UINT32_MAX ? "-" : quantity_print("%u", awaited).text);
    widget_cell(&s->brush, table, row, SENT, t->text, format_si((double)f[RANK_SENT], "").text);
    widget_cell(&s->brush, table, row, SENT_BYTES, t->text,
                format_si((double)f[RANK_SENT_BYTES], "B").text);
    widget_cell(&s->brush, table, row, CALLS, t->text, format_si((double)f[RANK_CALLS], "").text);
}

/* Bars of the profile, each of `per_bar` ranks: of one row, a rank or a group, or of several. */
struct profile_bars {
    uint32_t count, per_bar;
    int single; /* of one row */
};

static struct profile_bars ranks_view_bars(const struct stage *s, double w)
{
    const uint32_t group = s->model->group > 1 ? (uint32_t)s->model->group : 1;
    const uint32_t rows = (s->range->ranks.count + group - 1) / group;
    uint32_t bars = (uint32_t)fmax(fmin(w / 2, rows), 1);
    uint32_t rows_per_bar = (rows + bars - 1) / bars;
    return (struct profile_bars){(rows + rows_per_bar - 1) / rows_per_bar, rows_per_bar * group,
                                 rows_per_bar == 1};
}

/* Means of the shares of time of the ranks of a bar that have figures; NaN: none has. */
static void ranks_view_sum_bar(const struct range *r, uint32_t first, uint32_t count, double *means)
{
    double shares[MODEL_CLASSES];
    uint32_t n = 0;
    memset(means, 0, MODEL_CLASSES * sizeof *means);
    for (uint32_t rank = first; rank < first + count && rank < r->ranks.count; rank++) {
        if (!r->ranks.figures[(size_t)rank * RANK_COLUMNS + RANK_TIME_NS])
            continue;
        range_shares(r, rank, shares);
        for (int c = 0; c < MODEL_CLASSES; c++)
            means[c] += shares[c];
        n++;
    }
    for (int c = 0; c < MODEL_CLASSES; c++)
        means[c] = n ? means[c] / n : NAN;
}

/* @return 0, -ENOMEM */
static int ranks_view_sum_profile(const struct stage *s, struct profile_bars bars)
{
    struct rank_profile *p = &s->pictures->profile;
    const struct range *r = s->range;
    uint64_t key = 1 + r->version * MODEL_RANKS + bars.count;
    if (p->key == key)
        return 0;
    if (ARRAY_FIT(p->bars, p->capacity, (size_t)bars.count * MODEL_CLASSES) != 0)
        return -ENOMEM;
    memset(p->all, 0, sizeof p->all);
    double most = 0.01;
    for (uint32_t b = 0; b < bars.count; b++) {
        double *means = p->bars + (size_t)b * MODEL_CLASSES, sum = 0;
        ranks_view_sum_bar(r, b * bars.per_bar, bars.per_bar, means);
        for (int c = 0; c < MODEL_CLASSES; c++) {
            p->all[c] += isnan(means[c]) ? 0 : means[c];
            sum += means[c];
        }
        most = fmax(most, sum);
    }
    p->top = fmin(nice_ceil(most), 1);
    p->key = key;
    return 0;
}

/* Profile: all ranks side by side in rank order; a bar shows the mean of the ranks that share it.
 */
static void ranks_view_add_profile(struct stage *s, struct box plot, struct profile_bars bars)
{
    const struct theme *t = s->brush.theme;
    double w = plot.w / bars.count, gap = w > 4 ? 1 : 0, top = s->pictures->profile.top;
    for (int i = 0; i <= 2; i++) {
        double y = floor(plot.y + plot.h * i / 2) + (i == 2 ? -0.5 : 0.5);
        scene_line(s->brush.scene, plot.x, y, plot.x + plot.w, y, 1, t->grid);
        scene_textf(s->brush.scene, plot.x - 48, fmin(y - 7, plot.y + plot.h - 10), 42, TEXT_AXIS,
                    TEXT_RIGHT | TEXT_FIGURES, t->second, "%g\xc2\xa0%%", top * (100 - 50 * i));
    }
    for (uint32_t b = 0; b < bars.count; b++) {
        const double *shares = s->pictures->profile.bars + (size_t)b * MODEL_CLASSES;
        double below = 0;
        for (int c = 0; c < MODEL_CLASSES && !isnan(shares[c]); c++) {
            double h = fmin(shares[c] / top, 1 - below) * plot.h;
            if (h > 0.2)
                scene_rect(s->brush.scene,
                           (struct box){plot.x + b * w, plot.y + plot.h * (1 - below) - h,
                                        fmax(w - gap, 1), h},
                           0, t->classes[c]);
            below += shares[c] / top;
        }
        if (bars.single)
            scene_hit(s->brush.scene, (struct box){plot.x + b * w, plot.y, w, plot.h}, HIT_RANK,
                      b * bars.per_bar, 0);
    }
    if (!box_has(plot, s->brush.mouse_x, s->brush.mouse_y))
        return;
    uint32_t rank = (uint32_t)((s->brush.mouse_x - plot.x) / w) * bars.per_bar;
    if (bars.single)
        piece_rank_tip(s, rank);
    else
        tooltip_add(&s->tip, 0, "mean of %s", piece_ranks(s->model, rank, bars.per_bar).text);
}

static void ranks_view_rank_axis(const struct stage *s, struct box plot, double y)
{
    double ranks = s->range->ranks.count, step = ceil(fmax(nice_ceil(ranks * 48 / plot.w), 1)),
           w = plot.w / ranks;
    for (double rank = 0; rank < ranks; rank += step) {
        double x = plot.x + rank * w + (w > 8 ? w / 2 : 0);
        if (x + 20 <= plot.x + plot.w + 14)
            scene_textf(s->brush.scene, x - 20, y, 40, TEXT_AXIS, TEXT_CENTRE | TEXT_FIGURES,
                        s->brush.theme->second, "%s", piece_rank_axis(rank, step).text);
    }
}

static void ranks_view_add_profile_panel(struct stage *s, struct box panel, const char *range)
{
    char what[240];
    const struct range *r = s->range;
    struct box plot = {panel.x + 58, panel.y + 42, panel.w - 76, panel.h - 42 - 24};
    struct profile_bars bars = ranks_view_bars(s, plot.w);
    if (ranks_view_sum_profile(s, bars) < 0)
        return;
    const double *shares = s->pictures->profile.all;
    if (s->model->group > 1)
        snprintf(what, sizeof what, "%s, %s", piece_grouping(s->model).text, range);
    else if (r->by_waiting_count < r->ranks.count)
        snprintf(what, sizeof what, "of the %s of %s ranks with figures of their own, %s",
                 quantity_grouped(r->by_waiting_count).text, quantity_grouped(r->ranks.count).text,
                 range);
    else if (bars.per_bar > 1)
        snprintf(what, sizeof what, "each bar the mean of %s ranks, %s",
                 quantity_grouped(bars.per_bar).text, range);
    else
        snprintf(what, sizeof what, "rank by rank, %s", range);
    piece_panel(s, panel, "ranks.profile");
    double right = panel.x + panel.w - 12;
    double room = right - panel.x - 12 -
                  scene_width(s->brush.scene, TEXT_TITLE, 0, "Where the time goes") - 12;
    if (piece_class_legend_width(s, shares) <= room)
        right -= piece_class_legend(s, right, panel.y + 11, shares) + 12;
    widget_title(&s->brush, panel.x + 12, panel.y + 7, right - panel.x - 12, "Where the time goes",
                 what);
    ranks_view_add_profile(s, plot, bars);
    ranks_view_rank_axis(s, plot, plot.y + plot.h + 5);
}

static void ranks_layout(struct stage *s, struct box box)
{
    struct box inner = box_inset(box, 14, 10);
    if (!s->range->by_waiting_count) {
        scene_panel(s->brush.scene, inner, 0, "ranks");
        piece_empty(s, inner, "No figures of single ranks yet", NULL);
        return;
    }
    int timed = model_has_times(s->model), sorted = s->ui->list.sort[LIST_RANKS];
    struct table table = ranks_table;
    for (int c = BAR; c <= AWAITED && !timed; c++)
        table.columns[c].drop = COLUMN_OMITTED;
    if (!timed) /* messages were counted, not calls */
        table.columns[CALLS].drop = COLUMN_OMITTED;
    if (!piece_has_sizes(s->model))
        table.columns[SENT_BYTES].drop = COLUMN_OMITTED;
    if (s->model->group > 1) /* for whom single ranks wait is not known */
        table.columns[AWAITED].drop = COLUMN_OMITTED;
    table.columns[NODE].w = timed ? table.columns[NODE].w : 0; /* the rest of the width */
    /* the profile has the room that a short list leaves */
    double rows = HEAD + 10 + (double)s->range->by_waiting_count * ROW;
    double top =
        fmax(fmin(fmax(inner.h * 0.3, 130), 260), fmin(inner.h - rows - 10, inner.h * 0.5));
    if (timed)
        ranks_view_add_profile_panel(s, (struct box){inner.x, inner.y, inner.w, top},
                                     piece_range_text(s).text);
    top = timed ? top + 10 : 0;
    struct box panel = {inner.x, inner.y + top, inner.w, inner.h - top};
    panel = piece_list_panel(panel, HEAD, s->range->by_waiting_count, ROW);
    piece_panel(s, panel, "ranks");
    struct box head = {panel.x + 8, panel.y + 6, panel.w - 20, 24};
    struct box list = {head.x, head.y + 26, head.w + 8, panel.h - HEAD};
    uint32_t last, first = piece_list(s, list, LIST_RANKS, s->range->by_waiting_count, ROW, &last);
    const uint32_t *order = ranks_view_order_of(s);
    for (uint32_t i = first; i < last; i++) {
        table_need(&s->brush, &table, NODE, model_host_of(s->model, order[i]));
        table_need(&s->brush, &table, RANK, ranks_view_name(s->model, order[i]).text);
    }
    widget_table_head(&s->brush, &table, head, sorted < 0 ? (timed ? WAITING : RANK) : sorted,
                      sorted < 0 ? timed : s->ui->list.descending[LIST_RANKS]);
    for (uint32_t i = first; i < last; i++)
        ranks_view_rank_row(s, &table,
                            (struct box){list.x, list.y + (i - first) * ROW, head.w, ROW - 1},
                            order[i], i);
}

const struct view ranks_view = {.layout = ranks_layout};

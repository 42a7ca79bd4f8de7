/* What a job does that is well: who talks to whom, its rates and its balance, in the visible time.
 */
#include "viewer/views/overview/overview_parts.h"

#include "viewer/layout/format.h"
#include "viewer/views/common/pieces.h"
#include "viewer/views/common/timeline.h"
#include "viewer/views/matrix/view_matrix.h"

#include "holter/call.h"

#include <math.h>
#include <stdio.h>

/* Heights: of the panel of sums, of one that says that the balance is unknown, and that a balance
 * does not need more of. */
enum { HEAD = 36, PAD = 12, SUMS = 160, UNKNOWN = 104, BALANCE = 420 };

/* ---- rates ---- */

static double overview_seconds(const struct window_totals *w)
{
    return w->length_ns ? (double)w->length_ns / 1e9 : 1;
}

static double overview_messages_rate(const struct window_totals *w)
{
    return (double)w->sent / overview_seconds(w);
}

static double overview_bytes_rate(const struct window_totals *w)
{
    return (double)w->sent_bytes / overview_seconds(w);
}

/* Mean of a value over the visible windows; NaN: there are none. */
static double overview_mean(const struct stage *s, timeline_value *value)
{
    uint64_t first, last, n = 0;
    double sum = 0;
    if (!ui_windows(s->ui, s->model, &first, &last))
        return NAN;
    for (uint64_t k = first; k <= last; k++) {
        const struct window_totals *w = series_at(&s->model->series, k);
        sum += w ? value(w) : 0;
        n += w != NULL;
    }
    return n ? sum / (double)n : NAN;
}

static struct box overview_calm_panel(const struct stage *s, struct box box, const char *name,
                                      const char *title)
{
    scene_panel(s->brush.scene, box, 0, "overview.%s", name);
    scene_rect(s->brush.scene, box, 6, s->brush.theme->panel);
    widget_title(&s->brush, box.x + PAD, box.y + 8, box.w - 2 * PAD, title,
                 piece_time_text(s).text);
    return (struct box){box.x + PAD, box.y + HEAD, box.w - 2 * PAD, box.h - HEAD - 8};
}

static void overview_add_figure(const struct stage *s, double x, double y, double w,
                                const char *what, const char *figure)
{
    scene_text(s->brush.scene, x, y, w, TEXT_LOGO, 0, s->brush.theme->text, figure);
    scene_text(s->brush.scene, x, y + 26, w, TEXT_SMALL, 0, s->brush.theme->second, what);
}

/* A rate as a figure, and its curve beside it. */
static void overview_add_rate(const struct stage *s, struct box box, const char *what,
                              const char *unit, timeline_value *value, const char *name)
{
    const struct theme *t = s->brush.theme;
    int64_t begin, end;
    double mean = overview_mean(s, value), figure = fmin(fmax(box.w * 0.45, 110), 150);
    scene_panel(s->brush.scene, box, 0, "overview.%s", name);
    scene_overlay(s->brush.scene);
    overview_add_figure(s, box.x, box.y + 4, figure, what,
                        isnan(mean) ? "\xe2\x80\x93" : format_si(mean, unit).text);
    struct box plot = {box.x + figure + 8, box.y + 4, box.w - figure - 8, box.h - 30};
    if (plot.w < 40 || plot.h < 16)
        return;
    ui_visible(s->ui, s->model, &begin, &end);
    struct timeline line = {plot.x, plot.w, begin, end};
    double top = timeline_peak(s->model, &line, value);
    scene_panel(s->brush.scene, plot, 0, "overview.%s.plot", name);
    scene_overlay(s->brush.scene);
    timeline_curve(s, &line, plot, top > 0 ? top * 1.1 : 1, value, t->info);
}

/* Of a job of one window, whose length may be given by how it was imported. */
static void overview_add_sums(const struct stage *s, struct box panel)
{
    const struct window_totals *w = series_newest(&s->model->series);
    struct box box = overview_calm_panel(s, panel, "sums", "Sums");
    overview_add_figure(s, box.x, box.y + 4, box.w, "messages sent",
                        quantity_grouped(w->sent).text);
    if (piece_has_sizes(s->model))
        overview_add_figure(s, box.x, box.y + 62, box.w, "bytes sent",
                            format_si((double)w->sent_bytes, "B").text);
}

static void overview_add_rates(const struct stage *s, struct box panel)
{
    struct box box = overview_calm_panel(s, panel, "rates", "Rates");
    int sizes = piece_has_sizes(s->model);
    double h = sizes ? floor(box.h / 2) : box.h;
    overview_add_rate(s, (struct box){box.x, box.y, box.w, h}, "messages sent", "/s",
                      overview_messages_rate, "messages");
    if (sizes && box.h >= 2 * h && h >= 48)
        overview_add_rate(s, (struct box){box.x, box.y + h, box.w, h}, "bytes sent", "B/s",
                          overview_bytes_rate, "bytes");
}

/* ---- balance ---- */

/* Shares of the ranks' time by class of call over the visible windows. @return time in MPI */
static double overview_classes(const struct stage *s, double shares[MODEL_CLASSES])
{
    uint64_t first, last;
    double time = 0, mpi = 0;
    if (!ui_windows(s->ui, s->model, &first, &last))
        return 0;
    for (uint64_t k = first; k <= last; k++) {
        const struct window_totals *w = series_at(&s->model->series, k);
        time += w ? model_time_of_ranks(w) : 0;
        for (int c = 0; w && c < MODEL_CLASSES; c++)
            shares[c] += (double)w->class_ns[c];
    }
    for (int c = 0; c < MODEL_CLASSES; c++) {
        shares[c] = time > 0 ? shares[c] / time : 0;
        mpi += shares[c];
    }
    return mpi;
}

/* Whether all ranks wait for the same share of their time, within a hundredth. */
static int overview_are_alike(const struct range *r)
{
    return range_waiting(r, r->by_waiting[0]) -
               range_waiting(r, r->by_waiting[r->by_waiting_count - 1]) <
           0.01;
}

/* The MPI functions with most of the time in MPI, as many as there is room for. */
static void overview_add_calls(struct stage *s, struct box box)
{
    const struct theme *t = s->brush.theme;
    uint64_t ns[CALL_NUMBERS] = {0}, all = 0;
    uint32_t first[CALL_NUMBERS]; /* in the model's table, of several communicators and regions */
    double y = box.y + 22, name = box.w > 260 ? 150 : box.w - 60;
    for (uint32_t i = s->range->calls.count; i-- > 0;) {
        uint16_t call = model_call_at(s->model, i).call;
        uint64_t time = s->range->calls.figures[(size_t)i * CALLS_COLUMNS + CALLS_TIME_NS];
        if (call >= CALL_NUMBERS)
            continue;
        ns[call] += time;
        all += time;
        first[call] = i;
    }
    if (!all || y + 24 > box.y + box.h)
        return;
    scene_textf(s->brush.scene, box.x, box.y, box.w, TEXT_SMALL, TEXT_CLAUSES, t->second,
                "calls by time in MPI, %s", piece_calls_range_text(s).text);
    for (; y + 24 <= box.y + box.h; y += 24) {
        uint16_t most = 0;
        for (unsigned call = 1; call < CALL_NUMBERS; call++)
            most = ns[call] > ns[most] ? (uint16_t)call : most;
        double share = (double)ns[most] / (double)all;
        if (share < 0.0005)
            return;
        int selected = ui_calls_selected(s->ui, s->model, GROUP_CALL, first[most]);
        piece_row(s, (struct box){box.x - 4, y - 2, box.w + 8, 22}, HIT_CALL, first[most],
                  GROUP_CALL, selected, UI_LISTS, 0);
        scene_text(s->brush.scene, box.x, y + 1, name, TEXT_SMALL, TEXT_MIDDLE, t->text,
                   call_name(most));
        if (box.w > 260)
            widget_bar(&s->brush, (struct box){box.x + name + 4, y + 6, box.w - name - 64, 8},
                       share, t->classes[call_class_of(most)]);
        scene_text(s->brush.scene, box.x + box.w - 56, y + 1, 56, TEXT_SMALL,
                   TEXT_RIGHT | TEXT_FIGURES, t->text, format_share(share).text);
        ns[most] = 0;
    }
}

static void overview_add_unknown_balance(const struct stage *s, struct box panel)
{
    panel.h = fmin(panel.h, UNKNOWN);
    struct box box = overview_calm_panel(s, panel, "balance", "Balance");
    scene_paragraph(s->brush.scene, box.x, box.y + 4, box.w, TEXT_BODY, s->brush.theme->second, 3,
                    piece_has_sizes(s->model)
                        ? "No times of calls are known, only messages and bytes."
                        : "No times of calls are known, only messages.");
}

/* What is not of the visible time, as the rest of the panel is. @return y below it */
static double overview_add_time_of_ranks(const struct stage *s, struct box box, double y)
{
    if (!piece_is_since_start(s))
        return y;
    scene_text(s->brush.scene, box.x, y, box.w, TEXT_SMALL, 0, s->brush.theme->second,
               "waiting of ranks since the start");
    return y + 20;
}

static void overview_add_balance(struct stage *s, struct box panel)
{
    const struct theme *t = s->brush.theme;
    const struct range *r = s->range;
    struct scene *scene = s->brush.scene;
    double shares[MODEL_CLASSES] = {0}, mpi = overview_classes(s, shares);
    if (!(mpi > 0)) {
        overview_add_unknown_balance(s, panel);
        return;
    }
    struct box box = overview_calm_panel(s, panel, "balance", "Balance");
    double y = box.y + 4, end = box.y + box.h;
    scene_textf(scene, box.x, y, box.w, TEXT_BODY, 0, t->text, "%s of the time is in MPI",
                format_share(mpi).text);
    y += 24;
    widget_stack(&s->brush, (struct box){box.x, y, box.w, 10}, shares, MODEL_CLASSES, t->classes);
    y += 16;
    if (mpi >= 0.0005 && y + 16 < end && piece_class_legend_width(s, shares) <= box.w) {
        piece_class_legend(s, box.x + piece_class_legend_width(s, shares), y, shares);
        y += 24;
    }
    if (!r->by_waiting_count || y + 40 > end)
        return;
    y = overview_add_time_of_ranks(s, box, y);
    if (overview_are_alike(r)) {
        scene_textf(scene, box.x, y, box.w, TEXT_BODY, 0, t->text, "all ranks wait alike, %s",
                    format_share(range_waiting(r, r->by_waiting[0])).text);
        overview_add_calls(s, (struct box){box.x, y + 32, box.w, end - y - 32});
        return;
    }
    uint32_t most = r->by_waiting[0], least = r->by_waiting[r->by_waiting_count - 1],
             middle = r->by_waiting[r->by_waiting_count / 2];
    const struct {
        const char *what;
        uint32_t rank;
    } rows[] = {{"waits most", most}, {"in the middle", middle}, {"waits least", least}};
    for (size_t i = 0; i < 3 && y + 24 <= end; i++) {
        if (i == 1 && r->by_waiting_count < 3)
            continue; /* of two ranks none is in the middle */
        struct box row = {box.x - 4, y - 2, box.w + 8, 22};
        double share = range_waiting(r, rows[i].rank);
        piece_row(s, row, HIT_RANK, rows[i].rank, 0, ui_row_selected(s->ui, s->model, rows[i].rank),
                  UI_LISTS, 0);
        scene_text(scene, box.x, y + 1, 92, TEXT_SMALL, 0, t->second, rows[i].what);
        scene_textf(scene, box.x + 96, y + 1, 80, TEXT_SMALL, 0, t->text, "%s",
                    piece_rank(s->model, rows[i].rank).text);
        if (box.w > 260)
            widget_bar(&s->brush, (struct box){box.x + 180, y + 6, box.w - 180 - 60, 8}, share,
                       t->info);
        scene_text(scene, box.x + box.w - 56, y + 1, 56, TEXT_SMALL, TEXT_RIGHT | TEXT_FIGURES,
                   t->text, format_share(share).text);
        if (box_has(row, s->brush.mouse_x, s->brush.mouse_y))
            piece_rank_tip(s, rows[i].rank);
        y += 24;
    }
    overview_add_calls(s, (struct box){box.x, y + 8, box.w, end - y - 8});
}

void overview_add_calm(struct stage *s, const struct box *panels, int count)
{
    matrix_panel(s, panels[0], 0);
    const int sums = model_is_one_window(s->model);
    struct box rates = panels[1], balance = panels[count > 2 ? 2 : 1];
    if (count < 3) {
        rates.h = sums ? SUMS : fmax(floor(rates.h / 2) - 4, rates.h - BALANCE);
        balance.y += rates.h + 8;
        balance.h -= rates.h + 8;
    }
    if (sums)
        overview_add_sums(s, rates);
    else
        overview_add_rates(s, rates);
    if (balance.h > HEAD + 50)
        overview_add_balance(s, balance);
}

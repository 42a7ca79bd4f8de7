/* The choices of the user that all views share: visible time, matrix, selection and search. */
#include "viewer/ui/ui.h"

#include "daemon/analysis/tables/rank_list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t second = 1000000000;
enum { GLIDE_MS = 150 }; /* duration of animations */

void ui_init(struct ui *ui, double w, double h, double scale, enum theme_kind theme)
{
    *ui = (struct ui){
        .w = w,
        .h = h,
        .scale = scale,
        .theme = theme,
        .time.follow = 1,
        .time.span_ns = 60 * second,
        .quantity = PAIR_BYTES,
        .mouse.x = -1,
        .mouse.y = -1,
        .regions.camera.zoom = 1,
        .commgram.phases = 24,
        .commgram.size_high = UI_SIZE_MAXIMUM,
        .network.metric = METRIC_LOAD,
        .network.compare = COMPARE_AFTER,
        .routes.maximum = 64,
        .routes.lens_zoom = 8,
    };
    network_graph_init(&ui->graph);
    for (int i = 0; i < METRICS; i++)
        ui->network.colour_high[i] = 1;
    torus_init(&ui->torus);
    landscape_init(&ui->landscape);
    for (int i = 0; i < UI_LISTS; i++)
        ui->list.sort[i] = -1;
}

void ui_finish(struct ui *ui)
{
    flow_filter_finish(&ui->network.filter);
    what_if_finish(&ui->network.what_if);
    torus_finish(&ui->torus);
    landscape_finish(&ui->landscape);
    network_graph_finish(&ui->graph);
    free(ui->network.picked_ranks);
    ui->network.picked_ranks = NULL;
    ui->network.picked_count = 0;
    ui->network.flows = NULL;
}

/* ---- time ---------------------------------------------------------------- */

void ui_whole_time(const struct model *m, int64_t *begin, int64_t *end)
{
    const struct series *s = &m->series;
    const struct window_totals *newest = series_newest(s);
    *begin = *end = 0;
    if (!newest)
        return;
    uint64_t length = newest->length_ns ? newest->length_ns : 1;
    *begin = (int64_t)(s->first * length);
    *end = (int64_t)((s->first + s->count) * length);
}

/* Length of the visible time: as requested, but while following no longer than the available data.
 */
static int64_t shown_span(const struct ui *ui, const struct model *m)
{
    int64_t begin, end;
    ui_whole_time(m, &begin, &end);
    const struct window_totals *newest = series_newest(&m->series);
    /* a window may contain all phases of a short job */
    int64_t minimum = newest ? (int64_t)newest->length_ns *
                                   (ui->view == VIEW_COMMGRAM || ui->view == VIEW_TORUS ? 1 : 12)
                             : second;
    int64_t age = end - begin > minimum ? end - begin : minimum;
    return ui->time.follow && age < ui->time.span_ns ? age : ui->time.span_ns;
}

void ui_visible(const struct ui *ui, const struct model *m, int64_t *begin, int64_t *end)
{
    int64_t first, newest;
    ui_whole_time(m, &first, &newest);
    if (newest == 0) {
        *begin = *end = 0;
        return;
    }
    *end = !ui->time.follow ? ui->time.end_ns : ui->time.moving ? ui->time.moved_from_ns : newest;
    *begin = *end - shown_span(ui, m);
}

int ui_settled_time(const struct ui *ui, const struct model *m, int64_t *begin, int64_t *end)
{
    int64_t oldest, newest;
    ui_whole_time(m, &oldest, &newest);
    *end = ui->time.follow ? newest : ui->time.end_ns;
    *begin = *end - shown_span(ui, m);
    *begin = *begin < oldest ? oldest : *begin;
    *end = *end > newest ? newest : *end;
    return *begin < *end;
}

int ui_windows(const struct ui *ui, const struct model *m, uint64_t *first, uint64_t *last)
{
    int64_t begin, end;
    const struct window_totals *w = series_newest(&m->series);
    if (!w || !w->length_ns || !ui_settled_time(ui, m, &begin, &end))
        return 0;
    *first = (uint64_t)begin / w->length_ns;
    *last = (uint64_t)(end - 1) / w->length_ns;
    return 1;
}

int ui_follow_data(struct ui *ui, const struct model *m, uint64_t now_ms)
{
    int64_t begin, end;
    ui_whole_time(m, &begin, &end);
    if (end == ui->time.moved_to_ns)
        return ui->time.moving;
    const struct window_totals *newest = series_newest(&m->series);
    int64_t step = end - ui->time.moved_to_ns;
    /* Animates a step of a few windows; jumps over more, as after a snapshot. */
    ui->time.moving = ui->time.follow && ui->time.moved_to_ns && newest && step > 0 &&
                      step <= (int64_t)newest->length_ns * 4 && end - begin > ui->time.span_ns;
    ui->time.moved_from_ns = ui->time.moving ? ui->time.moved_to_ns : end;
    ui->time.moved_to_ns = end;
    ui->time.move_start_ms = now_ms;
    return ui->time.moving;
}

int ui_tick(struct ui *ui, uint64_t now_ms)
{
    if (ui->overlay.notice[0] && now_ms >= ui->overlay.notice_until_ms)
        ui->overlay.notice[0] = 0;
    if (!ui->time.moving)
        return 0;
    uint64_t gone = now_ms - ui->time.move_start_ms;
    if (gone >= GLIDE_MS) {
        ui->time.moving = 0;
        return 1;
    }
    /* Each step covers the same share of the remaining distance: fast at first, then slow. */
    int64_t left = ui->time.moved_to_ns - ui->time.moved_from_ns;
    double share = (double)(GLIDE_MS - gone) / GLIDE_MS;
    ui->time.moved_from_ns = ui->time.moved_to_ns - (int64_t)((double)left * share * share);
    return 1;
}

/* The shortest span of the views that show windows. */
static int64_t shortest_span(const struct model *m)
{
    const struct window_totals *w = series_newest(&m->series);
    return w ? (int64_t)w->length_ns * 5 : 0;
}

void ui_zoom_time(struct ui *ui, const struct model *m, double factor, int64_t around_ns)
{
    int64_t begin, end, oldest, newest;
    ui_visible(ui, m, &begin, &end);
    ui_whole_time(m, &oldest, &newest);
    const struct window_totals *w = series_newest(&m->series);
    if (!w || end <= begin)
        return;
    /* phases may be much shorter than windows */
    double minimum = ui->view == VIEW_COMMGRAM ? 1e6
                     : ui->view == VIEW_TORUS  ? (double)w->length_ns
                                               : (double)shortest_span(m);
    double longest = fmax((double)(newest - oldest) * 1.05, minimum);
    double span = fmin(fmax((double)(end - begin) * factor, minimum), longest);
    double share = (double)(around_ns - begin) / (double)(end - begin);
    ui->time.span_ns = (int64_t)span;
    if (ui->time.follow)
        return; /* the right edge stays with the newest data */
    ui->time.end_ns = around_ns + (int64_t)((1 - share) * span);
    ui_pan_time(ui, m, 0);
}

void ui_pan_time(struct ui *ui, const struct model *m, int64_t by_ns)
{
    int64_t begin, end, oldest, newest;
    ui_visible(ui, m, &begin, &end);
    ui_whole_time(m, &oldest, &newest);
    if (end == 0)
        return;
    if (ui->time.follow) {
        ui->time.span_ns = end - begin;
        ui->time.follow = 0;
        ui->time.end_ns = end;
    }
    ui->time.end_ns += by_ns;
    if (ui->time.end_ns < oldest + ui->time.span_ns)
        ui->time.end_ns = oldest + ui->time.span_ns;
    if (ui->time.end_ns > newest)
        ui->time.end_ns = newest;
}

void ui_pause_time(struct ui *ui, const struct model *m)
{
    ui_pan_time(ui, m, 0);
    ui->time.moving = 0;
}

void ui_widen_to_windows(struct ui *ui, const struct model *m)
{
    int64_t begin, end;
    ui_visible(ui, m, &begin, &end);
    if (ui->view != VIEW_COMMGRAM && ui->view != VIEW_TORUS && end - begin < shortest_span(m))
        ui_zoom_time(ui, m, 1, begin + (end - begin) / 2);
}

/* ---- matrix -------------------------------------------------------------- */

static double ui_ranks_of(const struct model *m)
{
    double ranks = (double)(m->world > m->rank_count ? m->world : m->rank_count);
    return fmin(fmax(ranks, 1), MODEL_RANKS);
}

void ui_matrix(const struct ui *ui, const struct model *m, double *column, double *row,
               double *extent)
{
    double all = ui_ranks_of(m);
    *extent = ui->matrix.extent > 0 && ui->matrix.extent < all ? ui->matrix.extent : all;
    *column = fmin(fmax(ui->matrix.column, 0), all - *extent);
    *row = fmin(fmax(ui->matrix.row, 0), all - *extent);
}

void ui_zoom_matrix(struct ui *ui, const struct model *m, double factor, double column, double row)
{
    double c, r, extent, all = ui_ranks_of(m);
    ui_matrix(ui, m, &c, &r, &extent);
    double next = fmin(fmax(extent * factor, fmin(4, all)), all);
    ui->matrix.column = column - (column - c) * next / extent;
    ui->matrix.row = row - (row - r) * next / extent;
    ui->matrix.extent = next >= all ? 0 : next;
    ui_matrix(ui, m, &ui->matrix.column, &ui->matrix.row, &extent);
}

void ui_pan_matrix(struct ui *ui, const struct model *m, double columns, double rows)
{
    double extent;
    ui->matrix.column += columns;
    ui->matrix.row += rows;
    ui_matrix(ui, m, &ui->matrix.column, &ui->matrix.row, &extent);
}

/* ---- selection and places ------------------------------------------------ */

void ui_remember(struct ui *ui)
{
    if (ui->place_count == UI_PLACES)
        memmove(ui->places, ui->places + 1, (size_t)--ui->place_count * sizeof *ui->places);
    ui->places[ui->place_count++] =
        (struct ui_place){ui->view,          ui->selection,    ui->matrix.row,    ui->matrix.column,
                          ui->matrix.extent, ui->regions.open, ui->commgram.level};
}

void ui_select(struct ui *ui, struct selection s)
{
    if (s.kind == ui->selection.kind && s.a == ui->selection.a && s.b == ui->selection.b)
        return;
    ui_remember(ui);
    ui->selection = s;
}

void ui_go(struct ui *ui, enum view_id view)
{
    if (view >= VIEWS || view == ui->view)
        return;
    ui_remember(ui);
    ui->view = view;
    ui->jobs_first = 0;
}

int ui_choose_job(struct ui *ui, const struct model *m, uint64_t row)
{
    if (row >= m->job_count)
        return 0;
    snprintf(ui->wanted_job, sizeof ui->wanted_job, "%s", m->jobs[row].job);
    ui->jobs_first = 0;
    if (ui->view == VIEW_JOBS)
        ui->view = VIEW_LIVE;
    ui->selection = (struct selection){0};
    ui->place_count = 0;
    ui->regions.open = 0;
    ui->commgram.level = 0;
    ui->commgram.opened[0] = 0;
    ui->alert_picked = 0;
    ui->capture.chosen = 0;
    ui->dependencies = (struct ui_dependencies_choice){.steps = ui->dependencies.steps};
    ui->torus.comm = ui->torus.region = 0;
    ui->torus.playing = TORUS_STILL;
    ui->transport = (struct transport){0};
    ui->time.follow = 1;
    ui->time.moved_to_ns = 0;
    return UI_CHANGED | UI_JOB;
}

int ui_rank_selected(const struct ui *ui, uint64_t rank)
{
    const struct selection *s = &ui->selection;
    return (s->kind == SELECT_RANK && s->a == rank) ||
           (s->kind == SELECT_PAIR && (s->a == rank || s->b == rank));
}

int ui_pair_selected(const struct ui *ui, uint64_t source, uint64_t destination)
{
    const struct selection *s = &ui->selection;
    return s->kind == SELECT_PAIR && s->a == source && s->b == destination;
}

/* Whether a rank is in a community, in the column where the community was selected. */
static int in_community(const struct model *m, const struct selection *s, uint32_t rank)
{
    const struct commgram_picture *p = &m->commgram.now;
    for (uint32_t i = 0;
         s->b <= p->column_count && p->first_bar && i < p->first_bar[s->b + 1] - p->first_bar[s->b];
         i++) {
        uint32_t bar = p->first_bar[s->b] + i;
        if (p->bars[bar].community == s->a && commgram_bar_has(p, bar, rank))
            return 1;
    }
    return 0;
}

/* Whether a rank is placed in a plane of the network. */
static int in_plane(const struct model *m, const struct selection *s, uint32_t rank)
{
    uint32_t at[TOPOLOGY_DIMENSIONS];
    if (!m->network.topology || rank >= m->network.seat_count ||
        m->network.seats[rank] >= topology_nodes(m->network.topology))
        return 0;
    uint32_t count = topology_coordinates(m->network.topology, m->network.seats[rank], at);
    return s->a < count && at[s->a] == s->b;
}

int ui_marks_rank(const struct ui *ui, const struct model *m, uint32_t rank)
{
    const struct selection *s = &ui->selection;
    const struct alert *alert;
    switch (s->kind) {
    case SELECT_RANK:
    case SELECT_PAIR:
        return ui_rank_selected(ui, rank);
    case SELECT_NODE:
        return rank < m->rank_count && m->ranks[rank].node == s->a;
    case SELECT_REGION:
        return s->a && latency_region_of(&m->latency, rank) == s->a;
    case SELECT_COMMUNITY:
        return in_community(m, s, rank);
    case SELECT_ALERT:
        alert = alerts_find(&m->alerts, s->a);
        return alert && alert_has_rank(alert, rank);
    case SELECT_PLANE:
        return in_plane(m, s, rank);
    case SELECT_LINK:
    case SELECT_ROUTE:
    case SELECT_VERTEX:
        return ui->network.flows && rank < ui->network.flows->rank_count &&
               (ui->network.flows->rank_marks[rank] & FLOW_SELECTED) != 0;
    default:
        return 0;
    }
}

int ui_marked_ranks(const struct ui *ui, const struct model *m, char *out, size_t capacity)
{
    struct rank_runs runs;
    rank_runs_begin(&runs, out, capacity, "");
    for (uint32_t r = 0; r < m->rank_count; r++)
        if (ui_marks_rank(ui, m, r))
            rank_runs_add(&runs, r, r);
    return rank_runs_end(&runs);
}

static struct selection selection_by(const struct model *m, const struct alert *a)
{
    if (a->region && latency_region_find(&m->latency, a->region) != LATENCY_NONE)
        return (struct selection){SELECT_REGION, a->region, 0};
    if (a->rank >= 0)
        return (struct selection){SELECT_RANK, (uint64_t)a->rank, 0};
    if (a->span_count)
        return (struct selection){SELECT_ALERT, a->id, 0};
    uint64_t host = model_host_find(m, a->host);
    if (host != UINT64_MAX)
        return (struct selection){SELECT_NODE, host, 0};
    return (struct selection){SELECT_ALERT, a->id, 0};
}

void ui_pick_alert(struct ui *ui, const struct model *m, uint64_t id)
{
    const struct alert *a = alerts_find(&m->alerts, id);
    int64_t begin, end;
    if (!a)
        return;
    ui_select(ui, selection_by(m, a));
    ui->alert = id;
    ui->alert_picked = 1;
    ui->capture.chosen = 0; /* the alert's capture is shown */
    ui->capture.begin_ns = ui->capture.end_ns = 0;
    ui_visible(ui, m, &begin, &end);
    int64_t onset = (int64_t)a->onset_ns;
    /* two fifths of the visible time before the onset, the rest after it */
    if (end > begin && (onset < begin || onset >= end))
        ui_pan_time(ui, m, onset - (begin + (end - begin) * 2 / 5));
}

/* ---- search -------------------------------------------------------------- */

int ui_search(const struct model *m, const char *text, struct selection *out, int max)
{
    int n = 0;
    char *end;
    while (*text == ' ')
        text++;
    if (!strncmp(text, "rank ", 5))
        text += 5;
    if (!*text)
        return 0;
    unsigned long long rank = strtoull(text, &end, 10);
    if (end != text && !*end && rank < m->rank_count && n < max)
        out[n++] = (struct selection){SELECT_RANK, rank, 0};
    for (uint32_t i = 0; i < m->host_count && n < max; i++)
        if (strcasestr(m->hosts[i].name, text))
            out[n++] = (struct selection){SELECT_NODE, i, 0};
    return n;
}

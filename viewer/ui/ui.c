/* The choices of the user that all views share: visible time, matrix, selection and search. */
#include "viewer/ui/ui.h"

#include "daemon/analysis/tables/rank_list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t second = 1000000000;
static const int64_t usual_span = 60000000000; /* nanoseconds */
enum { GLIDE_MS = 150 };                       /* duration of animations */

void ui_init(struct ui *ui, double w, double h, double scale, enum theme_kind theme)
{
    *ui = (struct ui){
        .w = w,
        .h = h,
        .scale = scale,
        .theme = theme,
        .time.follow = 1,
        .time.span_ns = usual_span,
        .quantity = PAIR_BYTES,
        .mouse.x = -1,
        .mouse.y = -1,
        .commgram.phases = 24,
        .commgram.size_high = UI_SIZE_MAXIMUM,
        .network.metric = METRIC_LOAD,
        .network.compare = COMPARE_AFTER,
        .routes.maximum = 64,
        .routes.lens_zoom = 8,
    };
    camera_init(&ui->regions.camera, 1);
    network_graph_init(&ui->graph);
    network_graph_init(&ui->second_graph);
    for (int i = 0; i < METRICS; i++)
        ui->network.colour_high[i] = 1;
    torus_init(&ui->torus);
    landscape_init(&ui->landscape);
    for (int i = 0; i < ROOMS; i++)
        ui->room_last[i] = room_first((enum room_id)i);
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
    network_graph_finish(&ui->second_graph);
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
    /* A window may contain all phases of a short job; one that runs has more of them soon. */
    int single = ui->view == VIEW_COMMGRAM || ui->view == VIEW_TORUS || model_ended(m);
    int64_t minimum = newest ? (int64_t)newest->length_ns * (single ? 1 : 12) : second;
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
    double c, r, extent, all = ui_ranks_of(m), group = (double)(m->group > 1 ? m->group : 1);
    ui_matrix(ui, m, &c, &r, &extent);
    double next = fmin(fmax(extent * factor, fmin(4 * group, all)), all);
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

/* The present choices. */
static struct place ui_place_now(const struct ui *ui)
{
    return (struct place){
        .view = ui->view,
        .selection = ui->selection,
        .alert_picked = ui->alert_picked,
        .alert = ui->alert,
        .matrix_row = ui->matrix.row,
        .matrix_column = ui->matrix.column,
        .matrix_extent = ui->matrix.extent,
        .graph_open = ui->regions.open,
        .level = ui->commgram.level,
        .follow = ui->time.follow,
        .span_ns = ui->time.span_ns,
        .end_ns = ui->time.end_ns,
    };
}

static void ui_restore_place(struct ui *ui, const struct place *p)
{
    ui->view = p->view;
    ui->room_last[place_names[p->view].room] = p->view;
    ui->jobs_first = 0;
    ui->focus.on = 0;
    ui->selection = p->selection;
    ui->alert_picked = p->alert_picked;
    ui->alert = p->alert;
    ui->matrix.row = p->matrix_row;
    ui->matrix.column = p->matrix_column;
    ui->matrix.extent = p->matrix_extent;
    ui->regions.open = p->graph_open;
    if (p->level < ui->commgram.level)
        ui_close_to(ui, p->level);
    if (!p->timed)
        return;
    ui->time.follow = p->follow;
    ui->time.span_ns = p->span_ns;
    ui->time.end_ns = p->end_ns;
    ui->time.moving = 0;
}

void ui_remember(struct ui *ui)
{
    struct place now = ui_place_now(ui);
    places_leave(&ui->places, &now);
}

int ui_step_place(struct ui *ui, int forward)
{
    struct place place = ui_place_now(ui);
    if (!(forward ? places_forward(&ui->places, &place) : places_back(&ui->places, &place)))
        return 0;
    ui_restore_place(ui, &place);
    return UI_CHANGED;
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
    if (view >= VIEWS || (view == ui->view && !ui->jobs_first))
        return;
    if (view != ui->view)
        ui_remember(ui);
    ui->view = view;
    ui->room_last[place_names[view].room] = view;
    ui->jobs_first = 0;
}

/* Items of the previous job that choices name by number, ranges of its figures, and where its lists
 * and its matrix were scrolled to. */
static void ui_forget_numbers(struct ui *ui)
{
    flow_filter_clear(&ui->network.filter);
    ui->network.unfolded = 0;
    ui->graph.open_count = ui->second_graph.open_count = 0;
    ui->graph.chosen = ui->second_graph.chosen = 0;
    for (int i = 0; i < LANDSCAPE_EVENTS && ui->landscape.by == RANK_CALLS_REGION; i++)
        ui->landscape.events[i].id = 0;
    ui->landscape.low = 0;
    ui->landscape.high = 1;
    ui->matrix = (struct ui_matrix_choice){0};
    for (int i = 0; i < UI_LISTS; i++) {
        ui->list.scroll[i] = 0;
        ui->list.cursor[i] = i == LIST_JOBS ? ui->list.cursor[i] : 0;
    }
}

/* Choices that mean nothing in another job. */
static void ui_forget_job(struct ui *ui)
{
    ui_forget_numbers(ui);
    ui->selection = (struct selection){0};
    ui->places = (struct history_of_places){0};
    ui->regions.open = 0;
    ui->commgram.level = 0;
    ui->commgram.opened[0] = 0;
    ui->alert_picked = 0;
    ui->capture = (struct ui_capture_choice){.rows = ui->capture.rows};
    ui->dependencies = (struct ui_dependencies_choice){.steps = ui->dependencies.steps};
    ui->torus.comm = ui->torus.region = 0;
    ui->torus.playing = TORUS_STILL;
    ui->transport = (struct transport){0};
    if (!ui->time.follow) /* it was a span of that job */
        ui->time.span_ns = usual_span;
    ui->time.follow = 1;
    ui->time.moved_to_ns = 0;
}

int ui_choose_job(struct ui *ui, const struct model *m, uint64_t row)
{
    if (row >= m->job_count)
        return 0;
    snprintf(ui->wanted_job, sizeof ui->wanted_job, "%s", m->jobs[row].job);
    snprintf(ui->wanted_daemon, sizeof ui->wanted_daemon, "%s", m->jobs[row].daemon);
    snprintf(ui->job, sizeof ui->job, "%s", ui->wanted_job);
    ui->jobs_first = 0;
    if (ui->view == VIEW_JOBS)
        ui->view = VIEW_OVERVIEW;
    ui_forget_job(ui);
    return UI_CHANGED | UI_JOB;
}

int ui_notice_job(struct ui *ui, const struct model *m)
{
    if (!m->job[0] || !strcmp(ui->job, m->job))
        return 0;
    const int another = ui->job[0] != 0;
    snprintf(ui->job, sizeof ui->job, "%s", m->job);
    if (another)
        ui_forget_job(ui);
    return another;
}

int ui_rank_selected(const struct ui *ui, uint64_t rank)
{
    const struct selection *s = &ui->selection;
    return (s->kind == SELECT_RANK && s->a == rank) ||
           (s->kind == SELECT_PAIR && (s->a == rank || s->b == rank));
}

int ui_row_selected(const struct ui *ui, const struct model *m, uint64_t first)
{
    const struct selection *s = &ui->selection;
    return (s->kind == SELECT_RANK || s->kind == SELECT_PAIR) &&
           (model_row_of(m, s->a) == first ||
            (s->kind == SELECT_PAIR && model_row_of(m, s->b) == first));
}

int ui_pair_selected(const struct ui *ui, uint64_t source, uint64_t destination)
{
    const struct selection *s = &ui->selection;
    return s->kind == SELECT_PAIR && s->a == source && s->b == destination;
}

int ui_calls_together(const struct model *m, enum call_group by, uint64_t a, uint64_t b)
{
    if (a >= m->calls.keys.count || b >= m->calls.keys.count)
        return 0;
    const struct model_call x = model_call_at(m, (uint32_t)a), y = model_call_at(m, (uint32_t)b);
    return by == GROUP_CALL     ? x.call == y.call
           : by == GROUP_COMM   ? x.comm == y.comm
           : by == GROUP_REGION ? x.region == y.region
                                : a == b;
}

int ui_calls_selected(const struct ui *ui, const struct model *m, enum call_group by,
                      uint64_t number)
{
    const struct selection *s = &ui->selection;
    return s->kind == SELECT_CALL && s->b == (uint64_t)by && ui_calls_together(m, by, s->a, number);
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
        return alert && ui_alert_marks_rank(m, alert, rank);
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

int ui_marks_node(const struct ui *ui, const struct model *m, uint64_t host)
{
    const struct alert *alert = ui->alert_picked ? alerts_find(&m->alerts, ui->alert) : NULL;
    return (ui->selection.kind == SELECT_NODE && ui->selection.a == host) ||
           (alert && ui_alert_marks_node(m, alert, host));
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

void ui_pick_alert(struct ui *ui, const struct model *m, uint64_t id)
{
    const struct alert *a = alerts_find(&m->alerts, id);
    int64_t begin, end;
    if (!a)
        return;
    struct selection culprit = ui_alert_selection(m, a);
    int64_t onset = (int64_t)a->onset_ns;
    ui_visible(ui, m, &begin, &end);
    int moves = end > begin && (onset < begin || onset >= end);
    if (!ui->alert_picked || ui->alert != id || moves) {
        struct place now = ui_place_now(ui);
        now.timed = moves;
        places_leave(&ui->places, &now);
    }
    ui->selection = culprit;
    ui->alert = id;
    ui->alert_picked = 1;
    /* the alert's capture is shown, as a whole */
    ui->capture = (struct ui_capture_choice){.rows = ui->capture.rows};
    /* two fifths of the visible time before the onset, the rest after it */
    if (moves)
        ui_pan_time(ui, m, onset - (begin + (end - begin) * 2 / 5));
}

/* ---- search -------------------------------------------------------------- */

/* What was found so far, at most max. */
struct findings {
    struct selection *out;
    int count, max;
};

static void findings_add(struct findings *f, enum select_kind kind, uint64_t a)
{
    if (f->count < f->max)
        f->out[f->count++] = (struct selection){kind, a, 0};
}

/* In the order of their names, in which node10 follows node9. */
static void ui_search_hosts(const struct model *m, const char *text, struct findings *f)
{
    int first = f->count;
    for (uint32_t i = 0; i < m->host_count; i++) {
        int at = f->count;
        if (!strcasestr(m->hosts[i].name, text))
            continue;
        while (at > first && strverscmp(m->hosts[f->out[at - 1].a].name, m->hosts[i].name) > 0)
            at--;
        if (at == f->max)
            continue;
        f->count += f->count < f->max;
        memmove(f->out + at + 1, f->out + at, (size_t)(f->count - 1 - at) * sizeof *f->out);
        f->out[at] = (struct selection){SELECT_NODE, i, 0};
    }
}

static void ui_search_network(const struct model *m, const char *text, struct findings *f)
{
    char name[300];
    const struct topology *t = m->network.topology;
    uint32_t links = t ? topology_links(t) : 0;
    for (uint32_t link = 0; link < links && f->count < f->max; link++)
        if (strcasestr(network_link_name(&m->network, link, name, sizeof name), text))
            findings_add(f, SELECT_LINK, link);
}

/* Of calls of the same function the first. */
static void ui_search_calls(const struct model *m, const char *text, struct findings *f)
{
    int before = f->count;
    for (uint32_t i = 0; i < m->calls.keys.count && f->count < f->max; i++) {
        uint16_t call = model_call_at(m, i).call;
        int known = !strcasestr(call_name(call), text);
        for (int k = before; k < f->count && !known; k++)
            known = model_call_at(m, (uint32_t)f->out[k].a).call == call;
        if (!known)
            findings_add(f, SELECT_CALL, i);
    }
}

int ui_search(const struct model *m, const char *text, struct selection *out, int max)
{
    struct findings f = {out, 0, max};
    char *end;
    while (*text == ' ')
        text++;
    if (!strncmp(text, "rank ", 5))
        text += 5;
    if (!*text)
        return 0;
    unsigned long long rank = strtoull(text, &end, 10);
    const int is_number = end != text && !*end;
    if (is_number) {
        if (rank < m->rank_count)
            findings_add(&f, SELECT_RANK, rank);
        if (alerts_find(&m->alerts, rank))
            findings_add(&f, SELECT_ALERT, rank);
    }
    for (uint32_t i = 0; i < m->alerts.count; i++)
        if (strcasestr(m->alerts.items[i].title, text) &&
            !(is_number && m->alerts.items[i].id == rank)) /* that one was found by its number */
            findings_add(&f, SELECT_ALERT, m->alerts.items[i].id);
    ui_search_hosts(m, text, &f);
    ui_search_calls(m, text, &f);
    ui_search_network(m, text, &f);
    return f.count;
}

void ui_choose_found(struct ui *ui, const struct model *m, struct selection found)
{
    if (found.kind == SELECT_ALERT)
        ui_pick_alert(ui, m, found.a);
    else
        ui_select(ui, found);
}

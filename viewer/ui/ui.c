#include "viewer/ui/ui.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t second = 1000000000;
enum { GLIDE_MS = 150 }; /* what changes moves, and is there after this */

void ui_init(struct ui *ui, double w, double h, double scale, enum theme_kind theme)
{
    *ui = (struct ui){
        .w = w,
        .h = h,
        .scale = scale,
        .theme = theme,
        .follow = 1,
        .span_ns = 60 * second,
        .quantity = PAIR_BYTES,
        .mouse_x = -1,
        .mouse_y = -1,
        .graph_zoom = 1,
        .phases = 24,
        .communities = 16,
        .size_high = UI_SIZE_MOST,
        .metric = METRIC_LOAD,
        .routes_most = 64,
        .lens_zoom = 8,
    };
    network_graph_init(&ui->graph);
    for (int i = 0; i < METRICS; i++)
        ui->colour_high[i] = 1;
    torus_init(&ui->torus);
    for (int i = 0; i < UI_LISTS; i++)
        ui->sort[i] = -1;
}

void ui_finish(struct ui *ui)
{
    flow_filter_finish(&ui->filter);
    torus_finish(&ui->torus);
    network_graph_finish(&ui->graph);
    free(ui->picked_ranks);
    ui->picked_ranks = NULL;
    ui->picked_count = 0;
    ui->flows = NULL;
}

/* ---- time --------------------------------------------------------------------------------------
 */

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

/* Span that is shown: as asked, but no longer than there is something to see while following. */
static int64_t shown_span(const struct ui *ui, const struct model *m)
{
    int64_t begin, end;
    ui_whole_time(m, &begin, &end);
    const struct window_totals *newest = series_newest(&m->series);
    /* a window may hold all phases of a short job */
    int64_t least = newest ? (int64_t)newest->length_ns *
                                 (ui->view == VIEW_COMMGRAM || ui->view == VIEW_TORUS ? 1 : 12)
                           : second;
    int64_t age = end - begin > least ? end - begin : least;
    return ui->follow && age < ui->span_ns ? age : ui->span_ns;
}

void ui_visible(const struct ui *ui, const struct model *m, int64_t *begin, int64_t *end)
{
    int64_t first, newest;
    ui_whole_time(m, &first, &newest);
    if (newest == 0) {
        *begin = *end = 0;
        return;
    }
    *end = !ui->follow ? ui->end_ns : ui->moving ? ui->moved_from_ns : newest;
    *begin = *end - shown_span(ui, m);
}

int ui_settled_time(const struct ui *ui, const struct model *m, int64_t *begin, int64_t *end)
{
    int64_t oldest, newest;
    ui_whole_time(m, &oldest, &newest);
    *end = ui->follow ? newest : ui->end_ns;
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
    if (end == ui->moved_to_ns)
        return ui->moving;
    const struct window_totals *newest = series_newest(&m->series);
    int64_t step = end - ui->moved_to_ns;
    /* Glide over a step of a few windows; jump over more, as after a snapshot. */
    ui->moving = ui->follow && ui->moved_to_ns && newest && step > 0 &&
                 step <= (int64_t)newest->length_ns * 4 && end - begin > ui->span_ns;
    ui->moved_from_ns = ui->moving ? ui->moved_to_ns : end;
    ui->moved_to_ns = end;
    ui->move_start_ms = now_ms;
    return ui->moving;
}

int ui_tick(struct ui *ui, uint64_t now_ms)
{
    if (ui->notice[0] && now_ms >= ui->notice_until_ms)
        ui->notice[0] = 0;
    if (!ui->moving)
        return 0;
    uint64_t gone = now_ms - ui->move_start_ms;
    if (gone >= GLIDE_MS) {
        ui->moving = 0;
        return 1;
    }
    /* Closes the same share of what is left at each step: quick at first, then soft. */
    int64_t left = ui->moved_to_ns - ui->moved_from_ns;
    double share = (double)(GLIDE_MS - gone) / GLIDE_MS;
    ui->moved_from_ns = ui->moved_to_ns - (int64_t)((double)left * share * share);
    return 1;
}

/* Of the views that show windows. */
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
    double least = ui->view == VIEW_COMMGRAM ? 1e6
                   : ui->view == VIEW_TORUS  ? (double)w->length_ns
                                             : (double)shortest_span(m);
    double most = fmax((double)(newest - oldest) * 1.05, least);
    double span = fmin(fmax((double)(end - begin) * factor, least), most);
    double share = (double)(around_ns - begin) / (double)(end - begin);
    ui->span_ns = (int64_t)span;
    if (ui->follow)
        return; /* the right edge stays with the newest data */
    ui->end_ns = around_ns + (int64_t)((1 - share) * span);
    ui_pan_time(ui, m, 0);
}

void ui_pan_time(struct ui *ui, const struct model *m, int64_t by_ns)
{
    int64_t begin, end, oldest, newest;
    ui_visible(ui, m, &begin, &end);
    ui_whole_time(m, &oldest, &newest);
    if (end == 0)
        return;
    if (ui->follow) {
        ui->span_ns = end - begin;
        ui->follow = 0;
        ui->end_ns = end;
    }
    ui->end_ns += by_ns;
    if (ui->end_ns < oldest + ui->span_ns)
        ui->end_ns = oldest + ui->span_ns;
    if (ui->end_ns > newest)
        ui->end_ns = newest;
}

static void ui_clamp_time(struct ui *ui, const struct model *m)
{
    ui_pan_time(ui, m, 0);
    ui->moving = 0;
}

/* ---- matrix ------------------------------------------------------------------------------------
 */

static double ui_ranks_of(const struct model *m)
{
    double ranks = (double)(m->world > m->rank_count ? m->world : m->rank_count);
    return fmin(fmax(ranks, 1), MODEL_RANKS);
}

void ui_matrix(const struct ui *ui, const struct model *m, double *column, double *row,
               double *extent)
{
    double all = ui_ranks_of(m);
    *extent = ui->matrix_extent > 0 && ui->matrix_extent < all ? ui->matrix_extent : all;
    *column = fmin(fmax(ui->matrix_column, 0), all - *extent);
    *row = fmin(fmax(ui->matrix_row, 0), all - *extent);
}

void ui_zoom_matrix(struct ui *ui, const struct model *m, double factor, double column, double row)
{
    double c, r, extent, all = ui_ranks_of(m);
    ui_matrix(ui, m, &c, &r, &extent);
    double next = fmin(fmax(extent * factor, fmin(4, all)), all);
    ui->matrix_column = column - (column - c) * next / extent;
    ui->matrix_row = row - (row - r) * next / extent;
    ui->matrix_extent = next >= all ? 0 : next;
    ui_matrix(ui, m, &ui->matrix_column, &ui->matrix_row, &extent);
}

void ui_pan_matrix(struct ui *ui, const struct model *m, double columns, double rows)
{
    double extent;
    ui->matrix_column += columns;
    ui->matrix_row += rows;
    ui_matrix(ui, m, &ui->matrix_column, &ui->matrix_row, &extent);
}

/* ---- selection and places ----------------------------------------------------------------------
 */

void ui_remember(struct ui *ui)
{
    if (ui->place_count == UI_PLACES)
        memmove(ui->places, ui->places + 1, (size_t)--ui->place_count * sizeof *ui->places);
    ui->places[ui->place_count++] =
        (struct ui_place){ui->view,          ui->selection,  ui->matrix_row, ui->matrix_column,
                          ui->matrix_extent, ui->graph_open, ui->level};
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
    ui->graph_open = 0;
    ui->level = 0;
    ui->opened[0] = 0;
    ui->alert_picked = 0;
    ui->capture = 0;
    ui->torus.comm = ui->torus.region = 0;
    ui->torus.playing = TORUS_STILL;
    ui->transport = (struct transport){0};
    ui->follow = 1;
    ui->moved_to_ns = 0;
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

/* Is a rank in a community, as the column shows it where it was selected? */
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

/* Does a rank sit in a plane of the network? */
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
        return ui->flows && rank < ui->flows->rank_count &&
               (ui->flows->rank_marks[rank] & FLOW_SELECTED) != 0;
    default:
        return 0;
    }
}

static uint64_t host_named(const struct model *m, const char *name)
{
    for (uint32_t i = 0; i < m->host_count; i++)
        if (!strcmp(m->hosts[i].name, name))
            return i;
    return UINT64_MAX;
}

static struct selection selection_by(const struct model *m, const struct alert *a)
{
    if (a->region && latency_region_find(&m->latency, a->region) != LATENCY_NONE)
        return (struct selection){SELECT_REGION, a->region, 0};
    if (a->rank >= 0)
        return (struct selection){SELECT_RANK, (uint64_t)a->rank, 0};
    if (a->span_count)
        return (struct selection){SELECT_ALERT, a->id, 0};
    uint64_t host = host_named(m, a->host);
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
    ui->capture = 0; /* that of the alert is seen */
    ui->capture_begin_ns = ui->capture_end_ns = 0;
    ui_visible(ui, m, &begin, &end);
    int64_t onset = (int64_t)a->onset_ns;
    if (end > begin && (onset < begin || onset >= end)) /* two fifths before it, the rest behind */
        ui_pan_time(ui, m, onset - (begin + (end - begin) * 2 / 5));
}

/* ---- graph -------------------------------------------------------------------------------------
 */

static double ui_within(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

void ui_zoom_graph(struct ui *ui, double factor, double x, double y)
{
    double zoom = ui_within(ui->graph_zoom / factor, 0.5, 64), share = ui->graph_zoom / zoom;
    ui->graph_x = x + (ui->graph_x - x) * share;
    ui->graph_y = y + (ui->graph_y - y) * share;
    ui->graph_zoom = zoom;
    ui_pan_graph(ui, 0, 0);
}

void ui_pan_graph(struct ui *ui, double dx, double dy)
{
    ui->graph_x = ui_within(ui->graph_x + dx, -1, 1);
    ui->graph_y = ui_within(ui->graph_y + dy, -1, 1);
}

static void whole_graph(struct ui *ui)
{
    ui->graph_x = ui->graph_y = 0;
    ui->graph_zoom = 1;
}

/* ---- commands ----------------------------------------------------------------------------------
 */

int ui_command(struct ui *ui, const struct model *m, enum ui_command command, uint64_t argument)
{
    int64_t begin, end;
    ui_visible(ui, m, &begin, &end);
    switch (command) {
    case COMMAND_VIEW:
        ui_go(ui, (enum view_id)argument);
        if (ui->view != VIEW_COMMGRAM && ui->view != VIEW_TORUS && end - begin < shortest_span(m))
            ui_zoom_time(ui, m, 1, begin + (end - begin) / 2);
        break;
    case COMMAND_PAUSE:
        if (ui->follow)
            ui_clamp_time(ui, m);
        else
            ui->follow = 1;
        break;
    case COMMAND_FOLLOW:
        ui->follow = 1;
        break;
    case COMMAND_THEME:
        ui->theme = ui->theme == THEME_DARK ? THEME_LIGHT : THEME_DARK;
        break;
    case COMMAND_HELP:
        ui->help = !ui->help;
        break;
    case COMMAND_DRAWER:
        ui->drawer = !ui->drawer;
        break;
    case COMMAND_QUANTITY:
        ui->quantity = argument == PAIR_MESSAGES ? PAIR_MESSAGES : PAIR_BYTES;
        break;
    case COMMAND_RANGE:
        ui->range = argument == RANGE_START ? RANGE_START : RANGE_SPAN;
        break;
    case COMMAND_TIME_IN:
        ui_zoom_time(ui, m, 0.5, ui->follow ? end : begin + (end - begin) / 2);
        break;
    case COMMAND_TIME_OUT:
        ui_zoom_time(ui, m, 2, ui->follow ? end : begin + (end - begin) / 2);
        break;
    case COMMAND_MATRIX_ALL:
        ui->matrix_row = ui->matrix_column = ui->matrix_extent = 0;
        break;
    case COMMAND_GROUP:
        ui->group = argument <= GROUP_NONE ? (enum call_group)argument : GROUP_CALL;
        break;
    case COMMAND_SEARCH:
        ui->searching = 1;
        ui->search[0] = 0;
        ui->cursor[LIST_FOUND] = 0;
        break;
    case COMMAND_PICTURE:
        return UI_CHANGED | UI_PICTURE;
    case COMMAND_LET_GO:
        ui_select(ui, (struct selection){0});
        ui->alert_picked = 0;
        break;
    case COMMAND_COLOUR:
        ui->colour = argument == COLOUR_LATENCY ? COLOUR_LATENCY : COLOUR_REGION;
        break;
    case COMMAND_COMPRESS:
        ui->compress = argument != 0;
        break;
    case COMMAND_GRAPH_ALL:
        whole_graph(ui);
        break;
    case COMMAND_GRAPH_OPEN:
        if (ui->graph_open != argument)
            ui_remember(ui);
        ui->graph_open = argument;
        break;
    case COMMAND_METRIC:
    case COMMAND_FILTER_CLEAR:
    case COMMAND_RANK_SCALE:
    case COMMAND_OBJECTIVE:
    case COMMAND_ONLY_SELECTED:
    case COMMAND_REMAP:
    case COMMAND_REROUTE:
    case COMMAND_APPLY:
    case COMMAND_DISCARD:
    case COMMAND_SAVE_MAPPING:
        return ui_network_command(ui, m, command, argument);
    case COMMAND_ROUTES_ALL:
    case COMMAND_FOLD:
    case COMMAND_LENS:
    case COMMAND_ROUTE_LOADS:
    case COMMAND_ROUTE_ORDER:
    case COMMAND_ROUTES_MOST:
        return ui_routes_command(ui, m, command, argument);
    case COMMAND_REPLAY_PLAY:
    case COMMAND_REPLAY_STEP:
    case COMMAND_REPLAY_SPEED:
    case COMMAND_REPLAY_LOOP:
    case COMMAND_REPLAY_MARK:
        return transport_command(ui, m, (int)command, argument);
    default:
        if (command >= COMMAND_TORUS_VIEW && command <= COMMAND_TORUS_LAST)
            torus_command(ui, m, (int)command, argument);
        if (command >= COMMAND_NET_TOOL && command <= COMMAND_NET_LAST)
            network_graph_command(ui, (int)command, argument);
        if (command >= COMMAND_CAPTURE && command <= COMMAND_CAPTURE_LAST)
            ui_capture_command(ui, m, command, argument);
        ui_commgram_command(ui, m, command, argument);
        break;
    }
    return UI_CHANGED;
}

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

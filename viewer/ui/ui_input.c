#include "viewer/ui/ui_input.h"

#include "viewer/ui/ui_lists.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- selecting ---------------------------------------------------------------------------------
 */

/* What a click on a hit selects. */
static struct selection selection_of(const struct scene_hit *hit)
{
    switch (hit->kind) {
    case HIT_RANK:
        return (struct selection){SELECT_RANK, hit->a, 0};
    case HIT_PAIR:
        return (struct selection){SELECT_PAIR, hit->a, hit->b};
    case HIT_NODE:
        return (struct selection){SELECT_NODE, hit->a, 0};
    case HIT_CALL:
        return (struct selection){SELECT_CALL, hit->a, 0};
    case HIT_REGION:
        return (struct selection){SELECT_REGION, hit->a, 0};
    case HIT_LINK:
        return (struct selection){SELECT_LINK, hit->a, 0};
    case HIT_ROUTE:
        return (struct selection){SELECT_ROUTE, hit->a, hit->b};
    case HIT_VERTEX:
        return (struct selection){SELECT_VERTEX, hit->a, 0};
    case HIT_PLANE:
        return (struct selection){SELECT_PLANE, hit->a, hit->b};
    default:
        return (struct selection){0};
    }
}

static void ui_input_choose(struct ui *ui, const struct model *m, const struct scene_hit *hit)
{
    if (hit->kind == HIT_ALERT)
        ui_pick_alert(ui, m, hit->a);
    else
        ui_select(ui, selection_of(hit));
}

/* A click on a cell of the matrix: zoom in while a cell is several ranks, else take the pair. */
static void click_matrix(struct ui *ui, const struct model *m, const struct scene_hit *hit,
                         int clicks)
{
    double column = scene_hit_x(hit, ui->mouse_x), row = scene_hit_y(hit, ui->mouse_y);
    if (hit->a > 1) {
        ui_zoom_matrix(ui, m, clicks > 1 ? 0.25 : 0.5, column, row);
        return;
    }
    if (column >= 0 && row >= 0)
        ui_select(ui, (struct selection){SELECT_PAIR, (uint64_t)row, (uint64_t)column});
}

static int ui_input_click(struct ui *ui, const struct model *m, const struct scene_hit *hit,
                          int clicks)
{
    switch (hit->kind) {
    case HIT_BUTTON:
        return ui_command(ui, m, (enum ui_command)hit->a, hit->b);
    case HIT_RANK:
    case HIT_PAIR:
    case HIT_NODE:
    case HIT_CALL:
    case HIT_REGION:
    case HIT_PLANE:
    case HIT_ALERT:
    case HIT_LINK:
    case HIT_ROUTE:
    case HIT_VERTEX:
        ui_input_choose(ui, m, hit);
        ui->searching = 0;
        if (hit->list)
            ui->cursor[hit->list - 1] = hit->row;
        if (hit->kind == HIT_REGION && clicks > 1)
            return ui_command(ui, m, COMMAND_GRAPH_OPEN, hit->a);
        break;
    case HIT_JOB:
        return ui_choose_job(ui, m, hit->a);
    case HIT_MATRIX:
        click_matrix(ui, m, hit, clicks);
        break;
    case HIT_COLUMN:
        if (clicks > 1)
            ui_open(ui, m, (int64_t)hit->a, (int64_t)hit->b, NULL);
        break;
    case HIT_BAR:
        ui_click_bar(ui, m, hit, clicks);
        break;
    case HIT_SIZES:
        if (clicks > 1)
            return ui_command(ui, m, COMMAND_SIZES_ALL, 0);
        ui_move_size(ui, hit);
        break;
    case HIT_METRIC:
        ui_click_metric(ui, hit);
        break;
    case HIT_UNIT:
        return ui_command(ui, m, COMMAND_NET_OPEN, hit->a);
    case HIT_ROUTES: /* what lies in an aggregated cell is to be seen */
        if (hit->a > 1)
            ui_zoom_routes(ui, m, clicks > 1 ? 0.25 : 0.5, scene_hit_x(hit, ui->mouse_x),
                           scene_hit_y(hit, ui->mouse_y));
        break;
    case HIT_MARK:
        transport_click(ui, m, hit);
        break;
    case HIT_CAPTURE:
        ui_capture_click(ui, m, hit);
        break;
    case HIT_SORT:
        ui_sort_list(ui, hit->a, hit->b);
        break;
    case HIT_SCALE:
        if (clicks > 1)
            return ui_command(ui, m, COMMAND_TORUS_COLOURS_ALL, 0);
        torus_take_colour(&ui->torus, hit, ui->mouse_x);
        break;
    case HIT_COVER:
        ui->torus.menu = ui->help = ui->searching = ui->drawer = 0;
        break;
    case HIT_BAND: {
        int64_t begin, end;
        ui_visible(ui, m, &begin, &end);
        int64_t at = (int64_t)scene_hit_x(hit, ui->mouse_x);
        ui_pan_time(ui, m, at - (begin + (end - begin) / 2));
        break;
    }
    default:
        break;
    }
    return UI_CHANGED;
}

/* ---- mouse -------------------------------------------------------------------------------------
 */

static int ui_input_drag(struct ui *ui, const struct model *m, double dx, double dy)
{
    const struct scene_hit *h = &ui->pressed;
    double x_unit = (h->x1 - h->x0) / fmax(h->box.w, 1),
           y_unit = (h->y1 - h->y0) / fmax(h->box.h, 1);
    int timed = h->kind == HIT_TIME || h->kind == HIT_SERIES || h->kind == HIT_REGION;
    if (transport_drag(ui, m, h) || ui->boxing || torus_move(ui, dx, dy) ||
        network_graph_drag(ui, dx, dy))
        return UI_CHANGED;
    if (h->kind == HIT_SIZES)
        ui_move_size(ui, h);
    else if (h->kind == HIT_METRIC)
        ui_brush_metric(ui, h);
    else if (h->kind == HIT_HANDLE)
        ui_move_colour(ui, h);
    else if (ui->ground.kind == HIT_COMMGRAM)
        ui_pan_time(ui, m,
                    (int64_t)(-dx * (ui->ground.x1 - ui->ground.x0) / fmax(ui->ground.box.w, 1)));
    else if (timed && h->x1 > h->x0)
        ui_pan_time(ui, m, (int64_t)(-dx * x_unit));
    else if (h->kind == HIT_BAND)
        ui_pan_time(ui, m, (int64_t)(dx * x_unit));
    else if (h->kind == HIT_CAPTURE)
        ui_capture_drag(ui, m, h, dx, dy);
    else if (h->kind == HIT_MATRIX)
        ui_pan_matrix(ui, m, -dx * x_unit, -dy * y_unit);
    else if (ui->ground.kind == HIT_ROUTES)
        ui_pan_routes(ui, -dx * (ui->ground.x1 - ui->ground.x0) / fmax(ui->ground.box.w, 1),
                      -dy * (ui->ground.y1 - ui->ground.y0) / fmax(ui->ground.box.h, 1));
    else if (ui->ground.kind == HIT_GRAPH)
        ui_pan_graph(ui, -dx * (ui->ground.x1 - ui->ground.x0) / fmax(ui->ground.box.w, 1),
                     -dy * (ui->ground.y1 - ui->ground.y0) / fmax(ui->ground.box.h, 1));
    else
        return 0;
    return UI_CHANGED;
}

static int ui_input_move(struct ui *ui, const struct model *m, const struct input *in)
{
    double dx = in->x - ui->last_x, dy = in->y - ui->last_y;
    ui->mouse_x = ui->last_x = in->x;
    ui->mouse_y = ui->last_y = in->y;
    if (ui->pressed.kind == HIT_NONE)
        return UI_CHANGED;
    if (!ui->dragging && hypot(in->x - ui->press_x, in->y - ui->press_y) < 4)
        return 0;
    if (!ui->dragging) {
        ui->dragging = 1;
        dx = in->x - ui->press_x;
        dy = in->y - ui->press_y;
    }
    return ui_input_drag(ui, m, dx, dy) | UI_CHANGED;
}

static int ui_input_press(struct ui *ui, const struct model *m, const struct scene *scene,
                          const struct input *in)
{
    const struct scene_hit *hit = scene_hit_at(scene, in->x, in->y);
    ui->mouse_x = ui->press_x = ui->last_x = in->x;
    ui->mouse_y = ui->press_y = ui->last_y = in->y;
    ui->dragging = 0;
    ui->pressed = hit ? *hit : (struct scene_hit){0};
    const struct scene_hit *ground = scene_hit_under(scene, in->x, in->y, HIT_GRAPH);
    ground = ground ? ground : scene_hit_under(scene, in->x, in->y, HIT_COMMGRAM);
    ground = ground ? ground : scene_hit_under(scene, in->x, in->y, HIT_ROUTES);
    ui->ground = ground ? *ground : (struct scene_hit){0};
    torus_press(ui, scene, in->shift, in->ctrl);
    network_graph_press(ui, scene, in->shift, in->ctrl);
    ui->boxing = in->shift && ui->view == VIEW_COMMGRAM &&
                 (ui->ground.kind == HIT_COMMGRAM || ui->pressed.kind == HIT_TIME);
    if (ui->pressed.kind == HIT_SIZES) {
        const struct scene_hit *h = &ui->pressed;
        double at = scene_hit_x(h, in->x), low = fmax(ui->size_low, h->x0),
               high = fmin(ui->size_high, h->x1);
        ui->size_handle = fabs(at - high) < fabs(at - low) || (at > high && high <= low);
    }
    return transport_press(ui, m, &ui->pressed) ? UI_CHANGED : 0;
}

static int ui_input_release(struct ui *ui, const struct model *m, const struct scene *scene,
                            const struct input *in)
{
    struct scene_hit pressed = ui->pressed;
    int dragged = ui->dragging, boxed = ui->boxing;
    if (dragged)
        torus_release(ui, m, scene);
    transport_release(ui);
    ui->boxing = 0;
    ui->pressed.kind = HIT_NONE;
    ui->dragging = 0;
    ui->mouse_x = in->x;
    ui->mouse_y = in->y;
    network_graph_release(ui, m, scene, dragged);
    if (dragged && boxed)
        ui_open_marked(ui, m, scene, &pressed);
    if (dragged || pressed.kind == HIT_NONE)
        return UI_CHANGED;
    return ui_input_click(ui, m, &pressed, in->clicks);
}

static int ui_input_wheel(struct ui *ui, const struct model *m, const struct scene *scene,
                          const struct input *in)
{
    const struct scene_hit *hit = scene_hit_under(scene, in->x, in->y, HIT_TIME);
    double factor = pow(0.8, in->wheel);
    if (hit) {
        double span = hit->x1 - hit->x0;
        if (in->shift)
            ui_pan_time(ui, m, (int64_t)(-in->wheel * span / 10));
        else
            ui_zoom_time(ui, m, factor, (int64_t)scene_hit_x(hit, in->x));
        return UI_CHANGED;
    }
    if (scene_hit_under(scene, in->x, in->y, HIT_COMMGRAM)) {
        ui_command(ui, m, in->shift || in->ctrl ? COMMAND_COMMUNITIES : COMMAND_PHASES,
                   in->wheel > 0);
        return UI_CHANGED;
    }
    if (torus_wheel(ui, scene, in->x, in->y, factor))
        return UI_CHANGED;
    if ((hit = scene_hit_under(scene, in->x, in->y, HIT_CAPTURE))) {
        ui_capture_wheel(ui, m, hit, in);
        return UI_CHANGED;
    }
    if ((hit = scene_hit_under(scene, in->x, in->y, HIT_MATRIX))) {
        ui_zoom_matrix(ui, m, factor, scene_hit_x(hit, in->x), scene_hit_y(hit, in->y));
        return UI_CHANGED;
    }
    if ((hit = scene_hit_under(scene, in->x, in->y, HIT_ROUTES))) {
        if (ui->lens && (in->shift || in->ctrl))
            ui_zoom_lens(ui, 1 / factor);
        else
            ui_zoom_routes(ui, m, factor, scene_hit_x(hit, in->x), scene_hit_y(hit, in->y));
        return UI_CHANGED;
    }
    if ((hit = scene_hit_under(scene, in->x, in->y, HIT_GRAPH))) {
        ui_zoom_graph(ui, factor, scene_hit_x(hit, in->x), scene_hit_y(hit, in->y));
        return UI_CHANGED;
    }
    if (network_graph_wheel(ui, scene, in->x, in->y, factor))
        return UI_CHANGED;
    if ((hit = scene_hit_under(scene, in->x, in->y, HIT_LIST))) {
        ui_scroll_list(ui, hit, -in->wheel * 3);
        return UI_CHANGED;
    }
    return 0;
}

/* ---- keys --------------------------------------------------------------------------------------
 */

int ui_settle(struct ui *ui, const struct model *m, const struct scene *scene)
{
    int list = ui->cursor_moved;
    ui->cursor_moved = 0;
    if (!list || list - 1 == LIST_JOBS || list - 1 == LIST_FOUND)
        return 0;
    for (size_t i = 0; i < scene->hit_count; i++) {
        const struct scene_hit *hit = &scene->hits[i];
        if (hit->list == (uint32_t)list && hit->row == ui->cursor[list - 1]) {
            ui_input_choose(ui, m, hit);
            return 1;
        }
    }
    return 0;
}

static int ui_input_arrows(struct ui *ui, const struct model *m, const struct scene *scene, int key,
                           int shift)
{
    int64_t begin, end;
    ui_visible(ui, m, &begin, &end);
    int horizontal = key == KEY_LEFT ? -1 : key == KEY_RIGHT ? 1 : 0;
    int vertical = key == KEY_UP ? -1 : key == KEY_DOWN ? 1 : 0;
    if (ui->view == VIEW_MATRIX && !ui->searching && !ui->jobs_first) {
        double column, row, extent;
        ui_matrix(ui, m, &column, &row, &extent);
        double step = extent / (shift ? 2 : 8);
        ui_pan_matrix(ui, m, horizontal * step, vertical * step);
        return UI_CHANGED;
    }
    if (ui->view == VIEW_TORUS && !ui->searching && !ui->jobs_first) {
        torus_pan(ui, horizontal * (shift ? 4.0 : 1.0), vertical * (shift ? 4.0 : 1.0));
        return UI_CHANGED;
    }
    if (ui->view == VIEW_ROUTES && !ui->searching && !ui->jobs_first) {
        ui_move_routes(ui, horizontal, vertical, shift);
        return UI_CHANGED;
    }
    if (ui->view == VIEW_REGIONS && !ui->searching && !ui->jobs_first) {
        double step = (shift ? 1.0 : 0.25) / ui->graph_zoom;
        ui_pan_graph(ui, horizontal * step, vertical * step);
        return UI_CHANGED;
    }
    if (ui->view == VIEW_NETWORK && !ui->searching && !ui->jobs_first) {
        network_graph_arrow(ui, horizontal, vertical, shift);
        return UI_CHANGED;
    }
    if (horizontal && ui->view == VIEW_CAPTURES && !ui->jobs_first)
        return ui_capture_arrow(ui, m, horizontal, shift);
    if (horizontal) {
        ui_pan_time(ui, m, horizontal * (end - begin) / (shift ? 1 : 8));
        return UI_CHANGED;
    }
    return ui_step_list(ui, scene, vertical);
}

static int ui_input_back(struct ui *ui)
{
    if (!ui->place_count)
        return 0;
    struct ui_place *p = &ui->places[--ui->place_count];
    ui->view = p->view;
    ui->selection = p->selection;
    ui->matrix_row = p->matrix_row;
    ui->matrix_column = p->matrix_column;
    ui->matrix_extent = p->matrix_extent;
    ui->graph_open = p->graph_open;
    if (p->level < ui->level)
        ui_close_to(ui, p->level);
    return UI_CHANGED;
}

/* Escape closes what lies on top, else lets the selection go. */
static int ui_input_escape(struct ui *ui, const struct model *m)
{
    if (ui->help || ui->searching || ui->drawer)
        ui->help = ui->searching = ui->drawer = 0;
    else if (ui->selection.kind != SELECT_NONE || ui->alert_picked)
        return ui_command(ui, m, COMMAND_LET_GO, 0);
    else if (flow_filter_active(&ui->filter))
        return ui_command(ui, m, COMMAND_FILTER_CLEAR, 0);
    else if (ui->view == VIEW_COMMGRAM && ui->level)
        ui_close_to(ui, ui->level - 1);
    else if (ui->view == VIEW_REGIONS && ui->graph_open)
        return ui_command(ui, m, COMMAND_GRAPH_OPEN, 0);
    else if (ui->view == VIEW_REGIONS)
        return ui_command(ui, m, COMMAND_GRAPH_ALL, 0);
    else if (ui->view == VIEW_NETWORK)
        network_graph_escape(ui);
    else if (ui->matrix_extent > 0)
        ui->matrix_row = ui->matrix_column = ui->matrix_extent = 0;
    return UI_CHANGED;
}

static int zoom_key(struct ui *ui, const struct model *m, double factor)
{
    if (ui->view == VIEW_MATRIX) {
        double column, row, extent;
        ui_matrix(ui, m, &column, &row, &extent);
        ui_zoom_matrix(ui, m, factor, column + extent / 2, row + extent / 2);
        return UI_CHANGED;
    }
    if (ui->view == VIEW_REGIONS) {
        ui_zoom_graph(ui, factor, ui->graph_x, ui->graph_y);
        return UI_CHANGED;
    }
    if (ui->view == VIEW_TORUS) {
        torus_zoom(ui, factor);
        return UI_CHANGED;
    }
    if (ui->view == VIEW_NETWORK) {
        network_graph_zoom(ui, factor, ui->graph.x, ui->graph.y);
        return UI_CHANGED;
    }
    return ui_command(ui, m, factor < 1 ? COMMAND_TIME_IN : COMMAND_TIME_OUT, 0);
}

static int ui_input_enter(struct ui *ui, const struct model *m)
{
    if (ui->searching) {
        struct selection found[16];
        int n = ui_search(m, ui->search, found, 16);
        if (n > 0)
            ui_select(ui, found[ui->cursor[LIST_FOUND] < (uint32_t)n ? ui->cursor[LIST_FOUND] : 0]);
        ui->searching = 0;
        return UI_CHANGED;
    }
    if (ui->view == VIEW_JOBS || ui->jobs_first)
        return ui_choose_job(ui, m, ui->cursor[LIST_JOBS]);
    return 0;
}

static int ui_input_letter(struct ui *ui, const struct model *m, int key)
{
    if (ui->view == VIEW_NETWORK && network_graph_letter(ui, key))
        return UI_CHANGED;
    int own = ui->view == VIEW_ROUTES     ? ui_routes_key(ui, m, key)
              : ui->view == VIEW_CAPTURES ? ui_capture_key(ui, m, key)
                                          : 0;
    if (own)
        return own;
    if (key >= '1' && key <= '9' && key < '1' + VIEWS)
        return ui_command(ui, m, COMMAND_VIEW, (uint64_t)(key - '1'));
    if (torus_key(ui, m, key))
        return UI_CHANGED;
    int replay = transport_key(ui, m, key);
    if (replay)
        return replay;
    switch (key) {
    case ' ':
        return ui_command(ui, m, COMMAND_PAUSE, 0);
    case 'f':
        return ui_command(ui, m, COMMAND_FOLLOW, 0);
    case 't':
        return ui_command(ui, m, COMMAND_THEME, 0);
    case 's':
        return ui_command(ui, m, COMMAND_PICTURE, 0);
    case '?':
    case 'h':
        return ui_command(ui, m, COMMAND_HELP, 0);
    case '/':
        return ui_command(ui, m, COMMAND_SEARCH, 0);
    case 'd':
        return ui_command(ui, m, COMMAND_DRAWER, 0);
    case 'j':
        return ui_command(ui, m, COMMAND_VIEW, VIEW_JOBS);
    case '[':
    case ']':
        if (ui->view == VIEW_LINKS) {
            ui_narrow_metric(ui, key == '[');
            return UI_CHANGED;
        }
        return ui_command(ui, m, COMMAND_PHASES, key == ']');
    case '{':
    case '}':
        return ui_command(ui, m, COMMAND_COMMUNITIES, key == '}');
    case 'm':
        return ui_command(ui, m, COMMAND_MODELLED, 0);
    case 'n':
        return ui_command(ui, m, COMMAND_METRIC, ((uint64_t)ui->metric + 1) % METRICS);
    case 'o':
        return ui_command(ui, m, COMMAND_RANK_SCALE, !ui->rank_log);
    case 'c':
        return ui_command(ui, m, COMMAND_COMPRESS, !ui->compress);
    case 'r':
        return ui_command(ui, m, COMMAND_VIEW, VIEW_CAPTURES);
    case 'l':
        return ui_command(ui, m, COMMAND_COLOUR,
                          ui->colour == COLOUR_REGION ? COLOUR_LATENCY : COLOUR_REGION);
    case 'b':
        return ui_command(ui, m, COMMAND_QUANTITY,
                          ui->quantity == PAIR_BYTES ? PAIR_MESSAGES : PAIR_BYTES);
    case 'w':
        return ui_command(ui, m, COMMAND_RANGE, ui->range == RANGE_SPAN ? RANGE_START : RANGE_SPAN);
    case 'g':
        return ui_command(ui, m, COMMAND_GROUP, ((uint64_t)ui->group + 1) % (GROUP_NONE + 1));
    case '0':
        return ui_command(ui, m,
                          ui->view == VIEW_REGIONS    ? COMMAND_GRAPH_ALL
                          : ui->view == VIEW_COMMGRAM ? COMMAND_TIME_ALL
                                                      : COMMAND_MATRIX_ALL,
                          0);
    case '+':
    case '=':
        return zoom_key(ui, m, 0.5);
    case '-':
        return zoom_key(ui, m, 2);
    case 'q':
        return UI_QUIT;
    default:
        return 0;
    }
}

static int ends_of_time(struct ui *ui, const struct model *m, int key)
{
    int64_t oldest, newest;
    ui_whole_time(m, &oldest, &newest);
    if (key == KEY_END)
        return ui_command(ui, m, COMMAND_FOLLOW, 0);
    ui_pan_time(ui, m, oldest - newest);
    return UI_CHANGED;
}

static int ui_input_key(struct ui *ui, const struct model *m, const struct scene *scene,
                        const struct input *in)
{
    switch (in->key) {
    case KEY_ESCAPE:
        return ui_input_escape(ui, m);
    case KEY_ENTER:
        return ui_input_enter(ui, m);
    case KEY_LEFT:
    case KEY_RIGHT:
    case KEY_UP:
    case KEY_DOWN:
        return ui_input_arrows(ui, m, scene, in->key, in->shift);
    case KEY_PAGE_UP:
        return ui_step_list(ui, scene, -20);
    case KEY_PAGE_DOWN:
        return ui_step_list(ui, scene, 20);
    case KEY_HOME:
    case KEY_END:
        return ends_of_time(ui, m, in->key);
    case KEY_TAB:
        return ui_command(ui, m, COMMAND_VIEW,
                          (uint64_t)((ui->view + (in->shift ? VIEWS - 1 : 1)) % VIEWS));
    case KEY_BACKSPACE:
        if (!ui->searching)
            return ui_input_back(ui);
        for (size_t n = strlen(ui->search); n > 0;) {
            int whole = (ui->search[--n] & 0xc0) != 0x80;
            ui->search[n] = 0;
            if (whole)
                break;
        }
        return UI_CHANGED;
    default:
        return ui->searching ? 0 : ui_input_letter(ui, m, in->key);
    }
}

static int ui_input_typed(struct ui *ui, const struct model *m, const char *text)
{
    size_t length = strlen(ui->search), more = strlen(text);
    if (!ui->searching)
        return more == 1 ? ui_input_letter(ui, m, (unsigned char)text[0]) : 0;
    if (length + more >= sizeof ui->search)
        return 0;
    memcpy(ui->search + length, text, more + 1);
    ui->cursor[LIST_FOUND] = 0;
    return UI_CHANGED;
}

int ui_input(struct ui *ui, const struct model *m, const struct scene *scene,
             const struct input *in)
{
    switch (in->kind) {
    case INPUT_KEY:
        return ui_input_key(ui, m, scene, in);
    case INPUT_TEXT:
        return ui_input_typed(ui, m, in->text);
    case INPUT_MOVE:
        return ui_input_move(ui, m, in);
    case INPUT_LEAVE:
        ui->mouse_x = ui->mouse_y = -1;
        return UI_CHANGED;
    case INPUT_PRESS:
        return ui_input_press(ui, m, scene, in);
    case INPUT_RELEASE:
        return ui_input_release(ui, m, scene, in);
    case INPUT_WHEEL:
        return ui_input_wheel(ui, m, scene, in);
    case INPUT_RESIZE:
        ui->w = fmax(in->x, 1);
        ui->h = fmax(in->y, 1);
        return UI_CHANGED;
    case INPUT_QUIT:
        return UI_QUIT;
    }
    return 0;
}

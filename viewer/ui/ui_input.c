/* Handles mouse and keyboard: what a click on a hit of the scene does, what a drag, the wheel and
 * the keys do. `ui_input_click` is where a kind of hit is added, `key_commands` the table of what
 * keys request; the keys themselves are in ui_keys.h. */
#include "viewer/ui/ui_input.h"

#include "viewer/places/absence.h"
#include "viewer/ui/ui.h"
#include "viewer/ui/ui_keys.h"

#include <math.h>
#include <string.h>

/* ---- selecting ----------------------------------------------------------- */

/* The selection for a click on a hit; one that two numbers name has both. */
static struct selection selection_of(const struct scene_hit *hit)
{
    static const struct {
        enum select_kind kind;
        int pair;
    } selects[] = {
        [HIT_RANK] = {SELECT_RANK, 0},     [HIT_PAIR] = {SELECT_PAIR, 1},
        [HIT_NODE] = {SELECT_NODE, 0},     [HIT_CALL] = {SELECT_CALL, 1},
        [HIT_REGION] = {SELECT_REGION, 0}, [HIT_LINK] = {SELECT_LINK, 0},
        [HIT_ROUTE] = {SELECT_ROUTE, 1},   [HIT_VERTEX] = {SELECT_VERTEX, 0},
        [HIT_PLANE] = {SELECT_PLANE, 1},
    };
    size_t kind = (size_t)hit->kind;
    if (kind >= sizeof selects / sizeof *selects || selects[kind].kind == SELECT_NONE)
        return (struct selection){0};
    return (struct selection){selects[kind].kind, hit->a, selects[kind].pair ? hit->b : 0};
}

static void ui_input_choose(struct ui *ui, const struct model *m, const struct scene_hit *hit)
{
    if (hit->kind == HIT_ALERT)
        ui_pick_alert(ui, m, hit->a);
    else
        ui_select(ui, selection_of(hit));
}

static int click_selectable(struct ui *ui, const struct model *m, const struct scene_hit *hit,
                            int clicks)
{
    ui_input_choose(ui, m, hit);
    ui->overlay.searching = 0;
    if (hit->list)
        ui->list.cursor[hit->list - 1] = hit->row;
    if (hit->kind == HIT_REGION && clicks > 1)
        return ui_command(ui, m, COMMAND_GRAPH_OPEN, hit->a);
    return UI_CHANGED;
}

/* While a cell of the matrix stands for several ranks, a click zooms in; else it selects the pair.
 */
static void click_matrix(struct ui *ui, const struct model *m, const struct scene_hit *hit,
                         int clicks)
{
    double column = scene_hit_x(hit, ui->mouse.x), row = scene_hit_y(hit, ui->mouse.y);
    if (hit->a > 1)
        ui_zoom_matrix(ui, m, clicks > 1 ? 0.25 : 0.5, column, row);
    else if (column >= 0 && row >= 0)
        ui_select(ui, (struct selection){SELECT_PAIR, (uint64_t)row, (uint64_t)column});
}

/* A click on the band of the whole time centres the visible time there. */
static void click_band(struct ui *ui, const struct model *m, const struct scene_hit *hit)
{
    int64_t begin, end, at = (int64_t)scene_hit_x(hit, ui->mouse.x);
    ui_visible(ui, m, &begin, &end);
    ui_pan_time(ui, m, at - (begin + (end - begin) / 2));
}

/* The action of a click on the ground of a picture, or on one of its scales.
 * @param clicks  2: double click */
static int ui_input_click_ground(struct ui *ui, const struct model *m, const struct scene_hit *hit,
                                 int clicks)
{
    switch (hit->kind) {
    case HIT_MATRIX:
        click_matrix(ui, m, hit, clicks);
        break;
    case HIT_COLUMN:
        if (clicks > 1)
            ui_open(ui, m, (int64_t)hit->a, (int64_t)hit->b, NULL);
        break;
    case HIT_SIZES:
        if (clicks > 1)
            return ui_command(ui, m, COMMAND_SIZES_ALL, 0);
        ui_move_size(ui, hit);
        break;
    case HIT_ROUTES: /* an aggregated cell of the route matrix: zooms in to the routes in it */
        if (hit->a > 1)
            ui_zoom_routes(ui, m, clicks > 1 ? 0.25 : 0.5, scene_hit_x(hit, ui->mouse.x),
                           scene_hit_y(hit, ui->mouse.y));
        break;
    case HIT_SCALE:
        if (clicks > 1)
            return ui_command(ui, m, COMMAND_TORUS_COLOURS_ALL, 0);
        torus_take_colour(&ui->torus, hit, ui->mouse.x);
        break;
    case HIT_BAND:
        click_band(ui, m, hit);
        break;
    default:
        break;
    }
    return UI_CHANGED;
}

/* The action of a click, by the kind of hit that the button was pressed on. */
static int ui_input_click(struct ui *ui, const struct model *m, const struct scene_hit *hit,
                          int clicks)
{
    switch (hit->kind) {
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
        return click_selectable(ui, m, hit, clicks);
    case HIT_BUTTON:
        return ui_command(ui, m, (enum ui_command)hit->a, hit->b);
    case HIT_UNIT:
        return ui_command(ui, m, COMMAND_NET_OPEN, hit->a);
    case HIT_JOB:
        return ui_choose_job(ui, m, hit->a);
    case HIT_BAR:
        ui_click_bar(ui, m, hit, clicks);
        break;
    case HIT_METRIC:
        ui_click_metric(ui, hit);
        break;
    case HIT_MARK:
        transport_click(ui, m, hit);
        break;
    case HIT_CAPTURE:
        ui_capture_click(ui, m, hit);
        break;
    case HIT_LEVEL:
    case HIT_SLICE:
        landscape_click(ui, hit, clicks);
        break;
    case HIT_SORT:
        ui_sort_list(ui, hit->a, hit->b);
        break;
    case HIT_COVER: /* beside an overlay: closes all overlays */
        ui->torus.menu = ui->overlay.help = ui->overlay.searching = ui->overlay.drawer = 0;
        break;
    default:
        return ui_input_click_ground(ui, m, hit, clicks);
    }
    return UI_CHANGED;
}

/* ---- mouse --------------------------------------------------------------- */

static int ui_input_drag(struct ui *ui, const struct model *m, double dx, double dy)
{
    const struct scene_hit *h = &ui->mouse.pressed;
    const struct scene_hit *ground = &ui->mouse.ground;
    double x_unit = (h->x1 - h->x0) / fmax(h->box.w, 1),
           y_unit = (h->y1 - h->y0) / fmax(h->box.h, 1),
           x_ground = (ground->x1 - ground->x0) / fmax(ground->box.w, 1),
           y_ground = (ground->y1 - ground->y0) / fmax(ground->box.h, 1);
    if (transport_drag(ui, m, h) || ui->mouse.marking || torus_move(ui, dx, dy) ||
        landscape_move(ui, dx, dy) || network_graph_drag(ui, dx, dy))
        return UI_CHANGED;
    if (h->kind == HIT_SIZES)
        ui_move_size(ui, h);
    else if (h->kind == HIT_METRIC)
        ui_brush_metric(ui, h);
    else if (h->kind == HIT_HANDLE)
        ui_move_colour(ui, h);
    else if (ground->kind == HIT_COMMGRAM)
        ui_pan_time(ui, m, (int64_t)(-dx * x_ground));
    else if (scene_hit_is_timed(h))
        ui_pan_time(ui, m, (int64_t)(-dx * x_unit));
    else if (h->kind == HIT_BAND)
        ui_pan_time(ui, m, (int64_t)(dx * x_unit));
    else if (h->kind == HIT_CAPTURE)
        ui_capture_drag(ui, m, h, dx, dy);
    else if (ground->kind == HIT_DEPENDENCY)
        ui_dependencies_drag(ui, ground, dx, dy);
    else if (h->kind == HIT_MATRIX)
        ui_pan_matrix(ui, m, -dx * x_unit, -dy * y_unit);
    else if (ground->kind == HIT_ROUTES)
        ui_pan_routes(ui, -dx * x_ground, -dy * y_ground);
    else if (ground->kind == HIT_GRAPH)
        camera_drag(&ui->regions.camera, ground, dx, dy);
    else
        return 0;
    return UI_CHANGED;
}

static int ui_input_move(struct ui *ui, const struct model *m, const struct input *in)
{
    double dx = in->x - ui->mouse.last_x, dy = in->y - ui->mouse.last_y;
    ui->mouse.x = ui->mouse.last_x = in->x;
    ui->mouse.y = ui->mouse.last_y = in->y;
    if (ui->mouse.pressed.kind == HIT_NONE)
        return UI_CHANGED;
    if (!ui->mouse.dragging && hypot(in->x - ui->mouse.press_x, in->y - ui->mouse.press_y) < 4)
        return 0;
    if (!ui->mouse.dragging) {
        ui->mouse.dragging = 1;
        dx = in->x - ui->mouse.press_x;
        dy = in->y - ui->mouse.press_y;
    }
    return ui_input_drag(ui, m, dx, dy) | UI_CHANGED;
}

/* The kinds of hits that are the ground of a whole picture. */
static const enum hit_kind grounds[] = {HIT_NETWORK,  HIT_SPACE,  HIT_TORUS,     HIT_GRAPH,
                                        HIT_COMMGRAM, HIT_ROUTES, HIT_DEPENDENCY};

static struct scene_hit ui_input_ground(const struct scene *scene, double x, double y)
{
    const struct scene_hit *ground = NULL;
    for (size_t i = 0; i < sizeof grounds / sizeof *grounds && !ground; i++)
        ground = scene_hit_under(scene, x, y, grounds[i]);
    return ground ? *ground : (struct scene_hit){0};
}

/* The camera of the picture on a ground. @return NULL: it has none */
static struct camera *ui_input_camera(struct ui *ui, const struct scene_hit *ground)
{
    switch (ground->kind) {
    case HIT_NETWORK:
        return &ui->graph.camera;
    case HIT_SPACE:
        return &ui->landscape.camera;
    case HIT_TORUS:
        return ground->a == 1 ? &ui->torus.space : &ui->torus.plane;
    case HIT_GRAPH:
        return &ui->regions.camera;
    default:
        return NULL;
    }
}

static int ui_input_press(struct ui *ui, const struct model *m, const struct scene *scene,
                          const struct input *in)
{
    const struct scene_hit *hit = scene_hit_at(scene, in->x, in->y);
    ui->mouse.x = ui->mouse.press_x = ui->mouse.last_x = in->x;
    ui->mouse.y = ui->mouse.press_y = ui->mouse.last_y = in->y;
    ui->mouse.dragging = 0;
    ui->mouse.pressed = hit ? *hit : (struct scene_hit){0};
    ui->mouse.ground = ui_input_ground(scene, in->x, in->y);
    torus_press(ui, in->shift, in->ctrl);
    landscape_press(ui, in->ctrl);
    network_graph_press(ui, in->shift, in->ctrl);
    ui->mouse.marking = in->shift && (ui->mouse.ground.kind == HIT_COMMGRAM ||
                                      scene_hit_is_timed(&ui->mouse.pressed));
    if (ui->mouse.pressed.kind == HIT_SIZES) {
        const struct scene_hit *h = &ui->mouse.pressed;
        double at = scene_hit_x(h, in->x), low = fmax(ui->commgram.size_low, h->x0),
               high = fmin(ui->commgram.size_high, h->x1);
        ui->commgram.size_handle = fabs(at - high) < fabs(at - low) || (at > high && high <= low);
    }
    return transport_press(ui, m, &ui->mouse.pressed) ? UI_CHANGED : 0;
}

static int ui_input_release(struct ui *ui, const struct model *m, const struct scene *scene,
                            const struct input *in)
{
    struct scene_hit pressed = ui->mouse.pressed;
    int dragged = ui->mouse.dragging, marked = ui->mouse.marking;
    ui->focus.on = 0;
    if (dragged)
        torus_release(ui, m, scene);
    transport_release(ui);
    ui->mouse.marking = 0;
    ui->mouse.pressed.kind = HIT_NONE;
    ui->mouse.dragging = 0;
    ui->mouse.x = in->x;
    ui->mouse.y = in->y;
    network_graph_release(ui, m, scene, dragged);
    if (dragged && marked)
        ui_open_marked(ui, m, scene, &pressed);
    if (dragged || pressed.kind == HIT_NONE)
        return UI_CHANGED;
    return ui_input_click(ui, m, &pressed, in->clicks);
}

static int ui_input_wheel(struct ui *ui, const struct model *m, const struct scene *scene,
                          const struct input *in)
{
    const struct scene_hit *hit = scene_hit_under(scene, in->x, in->y, HIT_TIME);
    const struct scene_hit ground = ui_input_ground(scene, in->x, in->y);
    struct camera *camera = ui_input_camera(ui, &ground);
    double factor = pow(0.8, in->wheel);
    if (hit) {
        double span = hit->x1 - hit->x0;
        if (in->shift)
            ui_pan_time(ui, m, (int64_t)(-in->wheel * span / 10));
        else
            ui_zoom_time(ui, m, factor, (int64_t)scene_hit_x(hit, in->x));
        return UI_CHANGED;
    }
    if (ground.kind == HIT_COMMGRAM)
        ui_command(ui, m, in->shift || in->ctrl ? COMMAND_COMMUNITIES : COMMAND_PHASES,
                   in->wheel > 0);
    else if (camera)
        camera_wheel(camera, &ground, in->x, in->y, factor);
    else if ((hit = scene_hit_under(scene, in->x, in->y, HIT_CAPTURE)))
        ui_capture_wheel(ui, m, hit, in);
    else if (ground.kind == HIT_DEPENDENCY)
        ui_dependencies_wheel(ui, &ground, in);
    else if ((hit = scene_hit_under(scene, in->x, in->y, HIT_MATRIX)))
        ui_zoom_matrix(ui, m, factor, scene_hit_x(hit, in->x), scene_hit_y(hit, in->y));
    else if (ground.kind == HIT_ROUTES && ui->routes.lens && (in->shift || in->ctrl))
        ui_zoom_lens(ui, 1 / factor);
    else if (ground.kind == HIT_ROUTES)
        ui_zoom_routes(ui, m, factor, scene_hit_x(&ground, in->x), scene_hit_y(&ground, in->y));
    else if ((hit = scene_hit_under(scene, in->x, in->y, HIT_LIST)))
        ui_scroll_list(ui, hit, -in->wheel * 3);
    else
        return 0;
    return UI_CHANGED;
}

/* ---- keys ---------------------------------------------------------------- */

int ui_settle(struct ui *ui, const struct model *m, const struct scene *scene)
{
    int list = ui->list.cursor_moved;
    ui->list.cursor_moved = 0;
    if (!list || list - 1 == LIST_JOBS || list - 1 == LIST_FOUND)
        return 0;
    for (size_t i = 0; i < scene->hit_count; i++) {
        const struct scene_hit *hit = &scene->hits[i];
        if (hit->list == (uint32_t)list && hit->row == ui->list.cursor[list - 1] &&
            hit->kind != HIT_BUTTON) {
            ui->list.cursor_alone = 0;
            ui_input_choose(ui, m, hit);
            return 1;
        }
    }
    ui->list.cursor_alone = list;
    return 0;
}

static int ui_input_arrows(struct ui *ui, const struct model *m, const struct scene *scene, int key,
                           int shift)
{
    int64_t begin, end;
    ui_visible(ui, m, &begin, &end);
    int horizontal = key == KEY_LEFT ? -1 : key == KEY_RIGHT ? 1 : 0;
    int vertical = key == KEY_UP ? -1 : key == KEY_DOWN ? 1 : 0;
    /* the list of jobs and the search take all arrows but those along time */
    enum view_id view = ui->overlay.searching || ui->jobs_first ? VIEW_JOBS : ui->view;
    if (view == VIEW_MATRIX) {
        double column, row, extent;
        ui_matrix(ui, m, &column, &row, &extent);
        double step = extent / (shift ? 2 : 8);
        ui_pan_matrix(ui, m, horizontal * step, vertical * step);
    } else if (view == VIEW_TORUS) {
        double step = (shift ? 4.0 : 1.0) / ui->torus.plane.zoom;
        camera_pan(&ui->torus.plane, horizontal * step, vertical * step);
    } else if (view == VIEW_LANDSCAPE && ui->landscape.shape >= LANDSCAPE_WALLS) {
        camera_turn(&ui->landscape.camera, horizontal * 0.1, vertical * 0.1);
    } else if (view == VIEW_ROUTES) {
        ui_move_routes(ui, horizontal, vertical, shift);
    } else if (view == VIEW_REGIONS || view == VIEW_NETWORK) {
        struct camera *camera = view == VIEW_REGIONS ? &ui->regions.camera : &ui->graph.camera;
        double step = (shift ? 1.0 : 0.25) / camera->zoom;
        camera_pan(camera, horizontal * step, vertical * step);
    } else if (horizontal && ui->view == VIEW_CAPTURES && !ui->jobs_first) {
        return ui_capture_arrow(ui, m, horizontal, shift);
    } else if (horizontal && ui->view == VIEW_DEPENDENCIES && !ui->jobs_first) {
        return ui_dependencies_arrow(ui, scene, horizontal, shift);
    } else if (horizontal) {
        ui_pan_time(ui, m, horizontal * (end - begin) / (shift ? 1 : 8));
    } else {
        return ui_step_list(ui, scene, vertical);
    }
    return UI_CHANGED;
}

/* Escape closes the topmost overlay, or else clears the selection. */
static int ui_input_escape(struct ui *ui, const struct model *m)
{
    if (ui->focus.on)
        ui->focus.on = 0;
    else if (ui->overlay.help || ui->overlay.searching || ui->overlay.drawer)
        ui->overlay.help = ui->overlay.searching = ui->overlay.drawer = 0;
    else if (ui->view == VIEW_TORUS && ui->torus.menu)
        ui->torus.menu = 0;
    else if (ui->selection.kind != SELECT_NONE || ui->alert_picked)
        return ui_command(ui, m, COMMAND_DESELECT, 0);
    else if (flow_filter_active(&ui->network.filter))
        return ui_command(ui, m, COMMAND_FILTER_CLEAR, 0);
    else if (ui->view == VIEW_COMMGRAM && ui->commgram.level)
        ui_close_to(ui, ui->commgram.level - 1);
    else if (ui->view == VIEW_REGIONS && ui->regions.open)
        return ui_command(ui, m, COMMAND_GRAPH_OPEN, 0);
    else if (ui->view == VIEW_REGIONS)
        return ui_command(ui, m, COMMAND_GRAPH_ALL, 0);
    else if (ui->view == VIEW_NETWORK)
        network_graph_escape(ui);
    else if (ui->matrix.extent > 0)
        ui->matrix.row = ui->matrix.column = ui->matrix.extent = 0;
    return UI_CHANGED;
}

static int zoom_key(struct ui *ui, const struct model *m, double factor)
{
    if (ui->view == VIEW_MATRIX) {
        double column, row, extent;
        ui_matrix(ui, m, &column, &row, &extent);
        ui_zoom_matrix(ui, m, factor, column + extent / 2, row + extent / 2);
    } else if (ui->view == VIEW_REGIONS || ui->view == VIEW_NETWORK) {
        struct camera *camera = ui->view == VIEW_REGIONS ? &ui->regions.camera : &ui->graph.camera;
        camera_zoom_centre(camera, factor);
    } else if (ui->view == VIEW_ROUTES) {
        double x, y, extent;
        ui_routes(ui, &x, &y, &extent);
        ui_zoom_routes(ui, m, factor, x + extent / 2, y + extent / 2);
    } else if (ui->view == VIEW_CAPTURES) {
        return ui_command(ui, m, COMMAND_CAPTURE_ZOOM, factor < 1);
    } else if (ui->view == VIEW_DEPENDENCIES) {
        return ui_command(ui, m, COMMAND_DEPENDENCY_ZOOM, factor < 1);
    } else if (ui->view == VIEW_TORUS) {
        camera_zoom_centre(&ui->torus.plane, factor);
        camera_zoom_centre(&ui->torus.space, factor);
    } else if (ui->view == VIEW_LANDSCAPE && ui->landscape.shape >= LANDSCAPE_WALLS) {
        camera_zoom_centre(&ui->landscape.camera, factor);
    } else {
        return ui_command(ui, m, factor < 1 ? COMMAND_TIME_IN : COMMAND_TIME_OUT, 0);
    }
    return UI_CHANGED;
}

/* The next button, in the order in which the scene has them, becomes that in focus. */
static int ui_input_focus(struct ui *ui, const struct scene *scene, int back)
{
    const struct scene_hit *first = NULL, *before = NULL, *found = NULL;
    int passed = 0;
    for (size_t i = 0; i < scene->hit_count; i++) {
        const struct scene_hit *hit = &scene->hits[i];
        if (hit->kind != HIT_BUTTON)
            continue;
        int here = ui->focus.on && hit->a == ui->focus.command && hit->b == ui->focus.argument;
        first = first ? first : hit;
        if (here && back && before)
            found = before;
        else if (passed && !back && !found && !here)
            found = hit;
        passed |= here;
        before = hit;
    }
    found = found ? found : back ? before : first;
    if (!found)
        return 0;
    ui->focus = (struct ui_focus){1, found->a, found->b};
    return UI_CHANGED;
}

static int ui_input_enter(struct ui *ui, const struct model *m)
{
    if (ui->overlay.searching) {
        struct selection found[16];
        int n = ui_search(m, ui->overlay.search, found, 16);
        if (n > 0)
            ui_choose_found(
                ui, m,
                found[ui->list.cursor[LIST_FOUND] < (uint32_t)n ? ui->list.cursor[LIST_FOUND] : 0]);
        ui->overlay.searching = 0;
        return UI_CHANGED;
    }
    if (ui->focus.on)
        return ui_command(ui, m, (enum ui_command)ui->focus.command, ui->focus.argument);
    if (ui->view == VIEW_JOBS || ui->jobs_first)
        return ui_choose_job(ui, m, ui->list.cursor[LIST_JOBS]);
    return 0;
}

/* Arguments of the command of a key that are no numbers. */
enum { WHICH = -1, NEXT = -2 };

/* What keys request: the first line that applies to the view and is not ignored. */
static const struct {
    enum key_id id;
    uint32_t views; /* as bits KEY_IN(view); 0: all */
    enum ui_command command;
    int argument; /* a number; WHICH: position in the line of the key; NEXT: next value of a choice
                   */
} key_commands[] = {
    {KEYS_LASSO, KEY_IN(VIEW_NETWORK), COMMAND_NET_TOOL, NEXT},
    {KEYS_CIRCLES, KEY_IN(VIEW_NETWORK), COMMAND_NET_SIZE, NEXT},
    {KEYS_LENS, KEY_IN(VIEW_ROUTES), COMMAND_LENS, 0},
    {KEYS_ORDER, KEY_IN(VIEW_ROUTES), COMMAND_ROUTE_ORDER, 0},
    {KEYS_LOADS, KEY_IN(VIEW_ROUTES), COMMAND_ROUTE_LOADS, 0},
    {KEYS_REROUTE, KEY_IN(VIEW_ROUTES), COMMAND_REROUTE, 0},
    {KEYS_AMOUNT, KEY_IN(VIEW_ROUTES), COMMAND_ROUTES_MAXIMUM, WHICH},
    {KEYS_CAPTURE, KEY_IN_GRAPHS, COMMAND_CAPTURE_STEP, WHICH},
    {KEYS_READ, KEY_IN_GRAPHS, COMMAND_CAPTURE_READ, 0},
    {KEYS_SINGLE, KEY_IN(VIEW_CAPTURES), COMMAND_CAPTURE_ROWS, NEXT},
    {KEYS_SINGLE, KEY_IN(VIEW_DEPENDENCIES), COMMAND_DEPENDENCY_FOLD, NEXT},
    {KEYS_STEPS, KEY_IN(VIEW_DEPENDENCIES), COMMAND_DEPENDENCY_STEPS, NEXT},
    {KEYS_VISIBLE, KEY_IN(VIEW_DEPENDENCIES), COMMAND_DEPENDENCY_VISIBLE, NEXT},
    {KEYS_SHAPE, KEY_IN(VIEW_LANDSCAPE), COMMAND_LANDSCAPE_SHAPE, NEXT},
    {KEYS_LAYOUT, KEY_IN(VIEW_LANDSCAPE), COMMAND_LANDSCAPE_LAYOUT, 0},
    {KEYS_AXIS, KEY_IN(VIEW_LANDSCAPE), COMMAND_LANDSCAPE_AXIS_MEAN, WHICH},
    {KEYS_AXIS, KEY_IN(VIEW_TORUS), COMMAND_TORUS_VIEW, WHICH},
    {KEYS_PIN, KEY_IN(VIEW_TORUS), COMMAND_TORUS_PIN, 0},
    {KEYS_PLAY, KEY_IN(VIEW_TORUS), COMMAND_TORUS_PLAY, TORUS_WINDOWS},
    {KEYS_TORUS_FOLD, KEY_IN(VIEW_TORUS), COMMAND_TORUS_FOLD, NEXT},
    {KEYS_ALL, KEY_IN(VIEW_NETWORK), COMMAND_NET_ALL, 0},
    {KEYS_ALL, KEY_IN(VIEW_ROUTES), COMMAND_ROUTES_ALL, 0},
    {KEYS_ALL, KEY_IN(VIEW_CAPTURES), COMMAND_CAPTURE_ALL, 0},
    {KEYS_ALL, KEY_IN(VIEW_DEPENDENCIES), COMMAND_DEPENDENCY_ALL, 0},
    {KEYS_ALL, KEY_IN(VIEW_LANDSCAPE), COMMAND_LANDSCAPE_HOME, 0},
    {KEYS_ALL, KEY_IN(VIEW_TORUS), COMMAND_TORUS_HOME, 0},
    {KEYS_ALL, KEY_IN(VIEW_REGIONS), COMMAND_GRAPH_ALL, 0},
    {KEYS_ALL, KEY_IN(VIEW_MATRIX), COMMAND_MATRIX_ALL, 0},
    {KEYS_ALL, 0, COMMAND_TIME_ALL, 0},
    {KEYS_PAUSE, 0, COMMAND_REPLAY_PLAY, 0},
    {KEYS_STEP, 0, COMMAND_REPLAY_STEP, WHICH},
    {KEYS_SPEED, 0, COMMAND_REPLAY_SPEED, WHICH},
    {KEYS_MARK, 0, COMMAND_REPLAY_MARK, WHICH},
    {KEYS_LOOP, 0, COMMAND_REPLAY_LOOP, 0},
    {KEYS_BACK, 0, COMMAND_BACK, 0},
    {KEYS_FORWARD, 0, COMMAND_BACK, 1},
    {KEYS_COPY, 0, COMMAND_COPY_ROWS, WHICH},
    {KEYS_ADDRESS, 0, COMMAND_COPY, 0},
    {KEYS_SEARCH, 0, COMMAND_SEARCH, 0},
    {KEYS_PAUSE, 0, COMMAND_PAUSE, 0},
    {KEYS_FOLLOW, 0, COMMAND_FOLLOW, 0},
    {KEYS_DRAWER, 0, COMMAND_DRAWER, 0},
    {KEYS_THEME, 0, COMMAND_THEME, 0},
    {KEYS_PICTURE, 0, COMMAND_PICTURE, WHICH},
    {KEYS_HELP, 0, COMMAND_HELP, 0},
    {KEYS_AMOUNT, 0, COMMAND_PHASES, WHICH},
    {KEYS_COMMUNITIES, 0, COMMAND_COMMUNITIES, WHICH},
    {KEYS_COLLECTIVES, 0, COMMAND_MODELLED, 0},
    {KEYS_UNDO, KEY_IN_NETWORK, COMMAND_UNDO_STEP, 0},
    {KEYS_FIGURE, 0, COMMAND_METRIC, NEXT},
    {KEYS_LOGARITHM, 0, COMMAND_RANK_SCALE, NEXT},
    {KEYS_COMPRESS, 0, COMMAND_COMPRESS, NEXT},
    {KEYS_COLOUR, 0, COMMAND_COLOUR, NEXT},
    {KEYS_QUANTITY, 0, COMMAND_QUANTITY, NEXT},
    {KEYS_COMPARE, 0, COMMAND_COMPARE, NEXT},
    {KEYS_SUMS, 0, COMMAND_RANGE, NEXT},
    {KEYS_GROUP, 0, COMMAND_GROUP, NEXT},
};

/* A key opens its room, and in that room the next place. */
static int key_room(struct ui *ui, const struct model *m, int room)
{
    if ((int)place_names[ui->view].room == room && !ui->jobs_first)
        return ui_command(ui, m, COMMAND_VIEW, place_next(m, ui->view, 1));
    return ui_command(ui, m, COMMAND_ROOM, (uint64_t)room);
}

/* Keys whose command or argument depends on more than one choice. @return enum ui_effect; 0: it is
 * none of them */
static int key_special(struct ui *ui, const struct model *m, enum key_id id, int which)
{
    const struct landscape_choice *l = &ui->landscape;
    const enum flow_metric metric = ui->network.metric;
    if (id == KEYS_ROOM)
        return key_room(ui, m, which);
    if (id == KEYS_ZOOM)
        return zoom_key(ui, m, which == 1 ? 2 : 0.5);
    if (id == KEYS_QUIT)
        return UI_QUIT;
    if (id == KEYS_ALL && (ui->view == VIEW_OVERVIEW || ui->view == VIEW_LIVE)) /* they have both */
        return ui_command(ui, m, COMMAND_MATRIX_ALL, 0) | ui_command(ui, m, COMMAND_TIME_ALL, 0);
    if (id == KEYS_FIGURE && ui->view == VIEW_NETWORK) /* figures of routes only */
        return ui_command(ui, m, COMMAND_METRIC, metric < METRIC_LOAD ? metric + 1u : METRIC_BYTES);
    if (id == KEYS_FIGURE && ui->view == VIEW_LANDSCAPE)
        return ui_command(ui, m, COMMAND_LANDSCAPE_FIGURE,
                          (l->events[l->event].figure + 1u) % RANK_FIGURES);
    if (id == KEYS_ROUTE_FOLD && ui->view == VIEW_ROUTES)
        return ui_command(ui, m, COMMAND_FOLD, ui_routes_next_fold(ui, m));
    if (id == KEYS_AMOUNT && (ui->view == VIEW_LINKS || ui->view == VIEW_WHAT_IF)) {
        ui_narrow_metric(ui, which == 0);
        return UI_CHANGED;
    }
    return 0;
}

/* All keys but those that move. @return enum ui_effect; 0: the key has no meaning */
static int ui_input_letter(struct ui *ui, const struct model *m, int key)
{
    int which = 0;
    const struct key_line *line = key_find(key, &which);
    int effects = line ? key_special(ui, m, line->id, which) : 0;
    for (size_t i = 0; line && !effects && i < sizeof key_commands / sizeof *key_commands; i++) {
        const enum ui_command command = key_commands[i].command;
        const int argument = key_commands[i].argument;
        if (key_commands[i].id != line->id ||
            (key_commands[i].views && !(key_commands[i].views & KEY_IN(ui->view))))
            continue;
        effects = argument == NEXT ? ui_command_next(ui, m, command)
                                   : ui_command(ui, m, command,
                                                (uint64_t)(argument == WHICH ? which : argument));
    }
    return effects;
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
        return ui_input_focus(ui, scene, in->shift);
    case KEY_BACKSPACE:
        if (!ui->overlay.searching)
            return ui_input_letter(ui, m, in->key);
        for (size_t n = strlen(ui->overlay.search); n > 0;) {
            int whole = (ui->overlay.search[--n] & 0xc0) != 0x80;
            ui->overlay.search[n] = 0;
            if (whole)
                break;
        }
        return UI_CHANGED;
    default:
        return ui->overlay.searching ? 0 : ui_input_letter(ui, m, in->key);
    }
}

static int ui_input_typed(struct ui *ui, const struct model *m, const char *text)
{
    size_t length = strlen(ui->overlay.search), more = strlen(text);
    if (!ui->overlay.searching)
        return more == 1 ? ui_input_letter(ui, m, (unsigned char)text[0]) : 0;
    if (length + more >= sizeof ui->overlay.search)
        return 0;
    memcpy(ui->overlay.search + length, text, more + 1);
    ui->list.cursor[LIST_FOUND] = 0;
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
        ui->mouse.x = ui->mouse.y = -1;
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

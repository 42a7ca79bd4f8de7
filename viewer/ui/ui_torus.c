/* Choices about the torus: dimensions, slices, colours, playing, and the mouse. */
#include "viewer/ui/ui_torus.h"

#include "viewer/layout/projection.h"
#include "viewer/ui/ui.h"

#include "holter/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PLAY_MS = 400 }; /* time between two steps of the animation */

void torus_init(struct torus_choice *t)
{
    *t = (struct torus_choice){.high = 1, .view = 2, .panel_count = 1};
    camera_init(&t->plane, INFINITY);
    camera_init(&t->space, 2);
}

static int ui_torus_comes_before(const struct torus_choice *t, const struct topology_spec *spec,
                                 uint32_t one, uint32_t other)
{
    const uint32_t sizes[2] = {spec->dimensions[one].size, spec->dimensions[other].size};
    if (one == other || t->hottest == other + 1)
        return 0;
    return t->hottest == one + 1 || sizes[0] > sizes[1] || (sizes[0] == sizes[1] && one < other);
}

int torus_shown(const struct torus_choice *t, const struct topology *topology, uint32_t out[3])
{
    const struct topology_spec *spec = topology ? topology_spec(topology) : NULL;
    int n = 0;
    out[0] = out[1] = out[2] = PROJECTION_NONE;
    if (!spec || spec->kind != TOPOLOGY_CARTESIAN || topology_has_tiers(topology))
        return 0;
    if (t->chosen && spec->dimension_count >= 3) {
        int good =
            t->shown[0] != t->shown[1] && t->shown[1] != t->shown[2] && t->shown[0] != t->shown[2];
        for (int i = 0; i < 3; i++)
            good &= t->shown[i] < spec->dimension_count;
        if (good) {
            memcpy(out, t->shown, 3 * sizeof *out);
            return 3;
        }
    }
    for (uint32_t d = 0; d < spec->dimension_count; d++) {
        uint32_t before = 0; /* dimensions before it: the hottest, then by size, then by order */
        for (uint32_t k = 0; k < spec->dimension_count; k++)
            before += (uint32_t)ui_torus_comes_before(t, spec, k, d);
        if (before < 3 && n < 3)
            out[n++] = d;
    }
    return n;
}

/* Of the shown dimensions the one along which to look so that the other two are as equal as they
 * can be: of equal ones the last. */
int torus_view_by_shape(const struct torus_choice *t, const struct topology *topology)
{
    uint32_t shown[3];
    double best = 0;
    int view = 2;
    if (torus_shown(t, topology, shown) < 3)
        return view;
    const struct topology_spec *spec = topology_spec(topology);
    for (int i = 3; i-- > 0;) {
        double a = spec->dimensions[shown[(i + 1) % 3]].size,
               b = spec->dimensions[shown[(i + 2) % 3]].size;
        double share = fmin(a, b) / fmax(a, b);
        view = share > best ? i : view;
        best = fmax(share, best);
    }
    return view;
}

int torus_projection(const struct torus_choice *t, const struct topology *topology, int view,
                     struct projection *out)
{
    uint32_t shown[3], slice[TOPOLOGY_DIMENSIONS];
    if (!torus_shown(t, topology, shown))
        return -HOLTER_EUSAGE;
    const struct topology_spec *spec = topology_spec(topology);
    for (uint32_t d = 0; d < TOPOLOGY_DIMENSIONS; d++)
        slice[d] =
            t->slice[d] && d < spec->dimension_count && t->slice[d] <= spec->dimensions[d].size
                ? t->slice[d] - 1
                : PROJECTION_NONE;
    return projection_init(out, topology, shown, view, slice);
}

/* ---- commands ------------------------------------------------------------ */

static void ui_torus_choose_dimension(struct ui *ui, const struct model *m, uint64_t dimension)
{
    struct torus_choice *t = &ui->torus;
    uint32_t shown[3];
    if (torus_shown(t, m->network.topology, shown) < 3 ||
        dimension >= topology_spec(m->network.topology)->dimension_count)
        return;
    for (int i = 0; i < 3; i++)
        if (shown[i] == dimension)
            return;
    /* it replaces the dimension along which the projection looks */
    memcpy(t->shown, shown, sizeof shown);
    t->shown[t->view] = (uint32_t)dimension;
    t->chosen = 1;
}

/* From all coordinates to the first one, to the next, and to all again. */
static void next_slice(struct ui *ui, const struct model *m, uint64_t dimension)
{
    const struct topology *topology = m->network.topology;
    if (!topology || dimension >= topology_spec(topology)->dimension_count)
        return;
    uint32_t *slice = &ui->torus.slice[dimension];
    *slice = *slice >= topology_spec(topology)->dimensions[dimension].size ? 0 : *slice + 1;
}

static void ui_torus_play(struct ui *ui, const struct model *m, uint64_t what)
{
    struct torus_choice *t = &ui->torus;
    int64_t begin, end;
    enum torus_playing next = what == TORUS_REGIONS ? TORUS_REGIONS : TORUS_WINDOWS;
    t->playing = t->playing == next ? TORUS_STILL : next;
    t->played_ms = 0;
    ui_whole_time(m, &begin, &end);
    if (t->playing == TORUS_REGIONS)
        t->region = m->region_count ? 1 : 0;
    if (t->playing != TORUS_WINDOWS || end <= begin)
        return;
    ui->time.range = RANGE_SPAN;
    int64_t seen_end = ui->time.follow ? end : ui->time.end_ns;
    if (seen_end >= end) { /* from the beginning, window by window */
        const struct window_totals *w = series_newest(&m->series);
        ui_show_span(ui, m, begin, begin + (int64_t)w->length_ns);
    }
}

/* Restricts the sums to a communicator or a code region: index + 1 in the model, 0: all. */
static void ui_torus_restrict(struct torus_choice *t, uint32_t *choice, uint64_t argument,
                              uint32_t count)
{
    *choice = argument <= count ? (uint32_t)argument : 0;
    t->menu = 0;
}

int torus_command(struct ui *ui, const struct model *m, enum ui_command command, uint64_t argument)
{
    struct torus_choice *t = &ui->torus;
    switch (command) {
    case COMMAND_TORUS_VIEW:
        t->view_chosen = 1;
        break;
    case COMMAND_TORUS_LINKS:
        t->hidden ^= argument < 32 ? 1u << argument : 0;
        break;
    case COMMAND_TORUS_FIGURE:
        t->figure_chosen = 1;
        break;
    case COMMAND_TORUS_COLOURS_ALL:
        t->low = 0;
        t->high = 1;
        break;
    case COMMAND_TORUS_PIN:
        torus_pin(ui, m);
        break;
    case COMMAND_TORUS_UNPIN:
        torus_unpin(t, argument);
        break;
    case COMMAND_TORUS_PANEL:
        t->panel = argument < (uint64_t)t->panel_count ? (int)argument : 0;
        break;
    case COMMAND_TORUS_SLICES:
        torus_toggle_slices(ui, m);
        break;
    case COMMAND_TORUS_PLAY:
        ui_torus_play(ui, m, argument);
        break;
    case COMMAND_TORUS_COMM:
        ui_torus_restrict(t, &t->comm, argument, m->comm_count);
        break;
    case COMMAND_TORUS_REGION:
        ui_torus_restrict(t, &t->region, argument, m->region_count);
        break;
    case COMMAND_TORUS_DIMENSION:
        ui_torus_choose_dimension(ui, m, argument);
        break;
    case COMMAND_TORUS_SLICE:
        next_slice(ui, m, argument);
        break;
    case COMMAND_TORUS_HOME:
        camera_home(&t->plane);
        camera_home(&t->space);
        break;
    default:
        break;
    }
    return UI_CHANGED;
}

/* The next window, or still at the end. */
static void play_window(struct ui *ui, const struct model *m)
{
    const struct window_totals *w = series_newest(&m->series);
    int64_t begin, end;
    ui_whole_time(m, &begin, &end);
    if (!w || ui->time.follow || ui->time.end_ns >= end)
        ui->torus.playing = TORUS_STILL;
    else
        ui_pan_time(ui, m, (int64_t)w->length_ns);
}

int torus_play(struct ui *ui, const struct model *m, uint64_t now_ms)
{
    struct torus_choice *t = &ui->torus;
    uint64_t step = t->playing == TORUS_REGIONS ? PLAY_MS * 3 : PLAY_MS;
    if (!t->playing || (t->played_ms && now_ms < t->played_ms + step))
        return 0;
    int first = !t->played_ms;
    t->played_ms = now_ms;
    if (first) /* the first picture is seen as long as the others */
        return 0;
    if (t->playing == TORUS_WINDOWS) {
        play_window(ui, m);
    } else if (t->region < m->region_count) {
        t->region++;
    } else {
        t->region = 0;
        t->playing = TORUS_STILL;
    }
    return 1;
}

/* ---- mouse --------------------------------------------------------------- */

void torus_take_colour(struct torus_choice *t, const struct scene_hit *hit, double x)
{
    double at = fmin(fmax(scene_hit_x(hit, x), 0), 1);
    if (t->handle)
        t->high = fmax(at, t->low + 0.01);
    else
        t->low = fmin(at, t->high - 0.01);
}

void torus_press(struct ui *ui, int shift, int ctrl)
{
    struct torus_choice *t = &ui->torus;
    const struct scene_hit *ground = &ui->mouse.ground;
    t->drag = 0;
    if (ui->mouse.pressed.kind == HIT_SCALE) {
        double at = scene_hit_x(&ui->mouse.pressed, ui->mouse.press_x);
        t->handle = fabs(at - t->high) < fabs(at - t->low) || (at > t->high && t->high <= t->low);
    } else if (ground->kind == HIT_TORUS) {
        t->drag = shift                     ? (ctrl ? TORUS_LINK_BOX : TORUS_BOX)
                  : ground->a == 1 && !ctrl ? TORUS_TURN
                                            : TORUS_PAN;
    }
}

int torus_move(struct ui *ui, double dx, double dy)
{
    struct torus_choice *t = &ui->torus;
    const struct scene_hit *g = &ui->mouse.ground;
    if (ui->mouse.pressed.kind == HIT_SCALE) {
        torus_take_colour(t, &ui->mouse.pressed, ui->mouse.x);
        return 1;
    }
    if (!t->drag || g->kind != HIT_TORUS)
        return 0;
    if (t->drag == TORUS_TURN)
        camera_drag_turn(&t->space, dx, dy);
    else if (t->drag == TORUS_PAN)
        camera_drag(g->a == 1 ? &t->space : &t->plane, g, dx, dy);
    return 1;
}

static int in_span(double at, double a, double b)
{
    return at >= fmin(a, b) && at <= fmax(a, b);
}

/* Let the filter pass the nodes of the marked places, or the links that have both ends in them; all
 * if there are none. */
static void ui_torus_filter(struct ui *ui, const struct topology *topology,
                            const struct projection *p, const uint8_t *places, int links)
{
    uint32_t all = links ? topology_links(topology) : topology_nodes(topology), count = 0;
    uint64_t *found = malloc((all + 1u) * sizeof *found);
    for (uint32_t i = 0; found && i < all; i++) {
        uint32_t from = i, to = i;
        if (links && !topology_link(topology, i, &from, &to))
            continue;
        uint32_t a = projection_place(p, topology, from), b = projection_place(p, topology, to);
        if (a != PROJECTION_NONE && b != PROJECTION_NONE && places[a] && places[b])
            found[count++] = i;
    }
    if (count)
        flow_filter_pick(&ui->network.filter, links ? FLOW_LINKS : FLOW_VERTICES, found, count);
    else if (found)
        flow_filter_clear(&ui->network.filter);
    free(found);
}

void torus_release(struct ui *ui, const struct model *m, const struct scene *scene)
{
    struct torus_choice *t = &ui->torus;
    enum torus_drag drag = t->drag;
    struct projection p;
    t->drag = 0;
    if ((drag != TORUS_BOX && drag != TORUS_LINK_BOX) || !m->network.topology ||
        torus_projection(t, m->network.topology, 2, &p) < 0)
        return;
    uint8_t *places = calloc(p.places + 1u, 1);
    for (size_t i = 0; places && i < scene->hit_count; i++) {
        const struct scene_hit *h = &scene->hits[i];
        double x = h->box.x + h->box.w / 2, y = h->box.y + h->box.h / 2;
        if (h->kind == HIT_VERTEX && h->list == 0 && h->b && h->b <= p.places &&
            in_span(x, ui->mouse.press_x, ui->mouse.x) &&
            in_span(y, ui->mouse.press_y, ui->mouse.y))
            places[h->b - 1] = 1;
    }
    if (places)
        ui_torus_filter(ui, m->network.topology, &p, places, drag == TORUS_LINK_BOX);
    free(places);
}

/* The two pictures in space: walls of functions over ranks, and the points of a layout. */
#include "viewer/views/landscape/landscape_drawing.h"

#include "viewer/layout/mix.h"
#include "viewer/views/common/pieces.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct landscape_eye {
    struct space space;
    struct section section; /* of the screen: a unit is the radius of the ball */
};

static struct landscape_eye landscape_make_eye(const struct stage *s, struct box plot)
{
    const struct camera *c = &s->ui->landscape.camera;
    double radius = fmin(plot.w * 0.8, plot.h) / 2 * 0.92 * c->zoom;
    struct landscape_eye e = {.section = {plot, radius, radius, c->x, c->y}};
    space_set_view(&e.space, c->yaw, c->pitch);
    return e;
}

/* A point on the screen. @return its distance from the eye, -1 to 1 */
static double landscape_see(const struct landscape_eye *e, const double at[3], struct point *out)
{
    double x, y, away;
    space_point(&e->space, at, &x, &y, &away);
    *out = (struct point){section_x(&e->section, x), section_y(&e->section, y)};
    return away;
}

enum { LABELS = 40 };

/* Texts that were written, so that none lies upon another. */
struct landscape_labels {
    struct box taken[LABELS];
    uint32_t count;
};

static void landscape_label(const struct stage *s, struct landscape_labels *labels,
                            struct box within, struct point at, color_t color, const char *text)
{
    double w = scene_width(s->brush.scene, TEXT_AXIS, 0, text) + 2;
    struct box box = {fmin(fmax(at.x, within.x + 3), within.x + within.w - w - 3),
                      fmin(fmax(at.y - 7, within.y + 3), within.y + within.h - 18), w, 14};
    if (!*text || labels->count == LABELS || w > within.w - 8 ||
        !box_is_free(box, within, labels->taken, labels->count))
        return;
    scene_text(s->brush.scene, box.x, box.y, w, TEXT_AXIS, 0, color, text);
    labels->taken[labels->count++] = box;
}

/* ---- walls ---- */

enum { WALLS = 24, WALL_CELLS = 128 };

static const double wall_x = 0.74, wall_y = 0.42, wall_z = 0.50;

struct landscape_wall_set {
    uint32_t count, cells;
    double values[WALLS][WALL_CELLS]; /* mean of the visible ranks; NaN: there are none */
    double largest;
    uint8_t marked[WALL_CELLS];
};

static uint32_t wall_first_rank(const struct landscape_drawing *d,
                                const struct landscape_wall_set *w, uint32_t cell)
{
    return (uint32_t)((uint64_t)cell * d->ranks / w->cells);
}

static void walls_fill(const struct stage *s, const struct landscape_drawing *d,
                       struct landscape_wall_set *w)
{
    enum rank_figure figure = s->ui->landscape.events[0].figure;
    w->count = d->calls.count < WALLS ? d->calls.count : WALLS;
    w->cells = d->ranks < WALL_CELLS ? d->ranks : WALL_CELLS;
    w->largest = 0;
    for (uint32_t cell = 0; cell < w->cells; cell++) {
        uint32_t last = wall_first_rank(d, w, cell + 1);
        w->marked[cell] = 0;
        for (uint32_t event = 0; event < w->count; event++) {
            double sum = 0;
            uint32_t n = 0;
            uint32_t rank = (uint32_t)model_row_of(s->model, wall_first_rank(d, w, cell));
            for (; rank < last; rank++) {
                double value = rank_calls_value(&d->calls, event, rank, figure);
                if (!event)
                    w->marked[cell] |= s->ui->selection.kind != SELECT_NONE &&
                                       ui_marks_rank(s->ui, s->model, rank);
                if (isnan(value) || !d->shown[rank])
                    continue;
                sum += value;
                n++;
            }
            w->values[event][cell] = n ? sum / n : NAN;
            w->largest = fmax(w->largest, n ? sum / n : 0);
        }
    }
}

/* Place of a wall: the first, with most time, at the back. */
static double wall_z_of(const struct landscape_wall_set *w, uint32_t event)
{
    return w->count > 1 ? -wall_z + 2 * wall_z * event / (w->count - 1) : 0;
}

static double wall_x_of(const struct landscape_wall_set *w, double cell)
{
    return -wall_x + 2 * wall_x * cell / w->cells;
}

static void wall_quad(const struct stage *s, const struct landscape_eye *e, const double x[2],
                      const double y[2], double z, color_t color)
{
    const double corners[4][3] = {
        {x[0], y[0], z}, {x[1], y[0], z}, {x[1], y[1], z}, {x[0], y[1], z}};
    scene_points(s->brush.scene);
    for (int i = 0; i < 4; i++) {
        struct point p;
        landscape_see(e, corners[i], &p);
        scene_point(s->brush.scene, p.x, p.y);
    }
    scene_polygon(s->brush.scene, color);
}

static void wall_draw(const struct stage *s, const struct landscape_drawing *d,
                      const struct landscape_eye *e, const struct landscape_wall_set *w,
                      uint32_t event)
{
    const struct theme *t = s->brush.theme;
    double z = wall_z_of(w, event), gap = w->cells <= 48 ? 0.1 : 0;
    const double base[2] = {-wall_x, wall_x}, floor_y[2] = {-wall_y - 0.006, -wall_y};
    wall_quad(s, e, base, floor_y, z, d->events[0] == event ? t->second : t->line);
    for (uint32_t cell = 0; cell < w->cells; cell++) {
        double share = w->largest > 0 ? w->values[event][cell] / w->largest : 0;
        if (isnan(share) || !(share > 0))
            continue;
        const double x[2] = {wall_x_of(w, cell + gap), wall_x_of(w, cell + 1 - gap)};
        const double y[2] = {-wall_y, -wall_y + 2 * wall_y * share};
        color_t color = t->info;
        if (d->events[0] == event) /* only of this one are the colours those of the legend */
            color = theme_map(t, landscape_share(d, w->values[event][cell]));
        color = w->marked[cell] ? t->accent : color;
        wall_quad(s, e, x, y, z, color_fade(color, d->events[0] == event ? 1 : 0.55));
    }
}

/* The front most bar under the mouse. */
static void walls_point_at(struct stage *s, const struct landscape_drawing *d,
                           const struct landscape_eye *e, const struct landscape_wall_set *w)
{
    enum rank_figure figure = s->ui->landscape.events[0].figure;
    double least = INFINITY;
    uint32_t found_event = 0, found_cell = UINT32_MAX;
    for (uint32_t event = 0; event < w->count; event++) {
        for (uint32_t cell = 0; cell < w->cells; cell++) {
            double share = w->largest > 0 ? w->values[event][cell] / w->largest : 0;
            if (isnan(share))
                continue;
            struct point a, b;
            double x = wall_x_of(w, cell + 0.5), z = wall_z_of(w, event);
            double away = landscape_see(e, (const double[3]){x, -wall_y, z}, &a);
            landscape_see(e, (const double[3]){x, -wall_y + 2 * wall_y * share, z}, &b);
            double half = fmax(wall_x / w->cells * e->section.ux, 2);
            int over = fabs(s->brush.mouse_x - (a.x + b.x) / 2) <= half &&
                       s->brush.mouse_y <= fmax(a.y, b.y) + 1 &&
                       s->brush.mouse_y >= fmin(a.y, b.y) - 3;
            if (over && away < least) {
                least = away;
                found_event = event;
                found_cell = cell;
            }
        }
    }
    if (found_cell == UINT32_MAX)
        return;
    uint32_t first = wall_first_rank(d, w, found_cell),
             last = wall_first_rank(d, w, found_cell + 1);
    scene_hit(s->brush.scene, (struct box){s->brush.mouse_x - 2, s->brush.mouse_y - 2, 4, 4},
              HIT_RANK, first, 0);
    char name[300];
    if (last > first + 1)
        tooltip_add(&s->tip, 0, "ranks %u to %u", first, last - 1);
    else
        tooltip_add(&s->tip, 0, "%s", piece_rank_on(s->model, first, name, sizeof name));
    tooltip_add(&s->tip, s->brush.theme->second, "%s, %s %s",
                landscape_event_name(s, d, found_event), landscape_figure_name(figure),
                landscape_quantity(figure, w->values[found_event][found_cell]).text);
}

/* The name of a wall beside its base, at the end that no other wall covers. */
static void wall_add_name(const struct stage *s, const struct landscape_drawing *d,
                          const struct landscape_eye *e, const struct landscape_wall_set *w,
                          uint32_t event, struct landscape_labels *labels)
{
    const struct theme *t = s->brush.theme;
    const char *name = landscape_event_name(s, d, event);
    double z = wall_z_of(w, event), nearer = fmin(z + 0.1, wall_z), width;
    struct point ends[2], before[2], at;
    for (int i = 0; i < 2; i++) {
        double x = i ? wall_x : -wall_x;
        landscape_see(e, (const double[3]){x, -wall_y, z}, &ends[i]);
        landscape_see(e, (const double[3]){x, -wall_y, event ? z - 0.1 : nearer}, &before[i]);
    }
    int left = ends[0].x < ends[1].x ? 0 : 1; /* of the two ends on the screen */
    double further = event ? before[left].x - ends[left].x : ends[left].x - before[left].x;
    width = scene_width(s->brush.scene, TEXT_AXIS, 0, name) + 2;
    at = further < 0 ? (struct point){ends[left].x - width - 8, ends[left].y}
                     : (struct point){ends[!left].x + 8, ends[!left].y};
    landscape_label(s, labels, e->section.box, at, d->events[0] == event ? t->text : t->second,
                    name);
}

static void walls_add_labels(const struct stage *s, const struct landscape_drawing *d,
                             const struct landscape_eye *e, const struct landscape_wall_set *w)
{
    const struct theme *t = s->brush.theme;
    struct landscape_labels labels = {.count = 0};
    struct point first, last;
    char text[64];
    double front = wall_z_of(w, w->count - 1);
    landscape_see(e, (const double[3]){-wall_x, -wall_y, front}, &first);
    landscape_see(e, (const double[3]){wall_x, -wall_y, front}, &last);
    landscape_label(s, &labels, e->section.box, (struct point){first.x, first.y + 14}, t->second,
                    "rank 0");
    snprintf(text, sizeof text, "%u", d->ranks - 1);
    landscape_label(s, &labels, e->section.box, (struct point){last.x, last.y + 14}, t->second,
                    text);
    if (d->events[0] < w->count)
        wall_add_name(s, d, e, w, d->events[0], &labels);
    for (uint32_t i = w->count; i-- > 0;)
        if (i != d->events[0])
            wall_add_name(s, d, e, w, i, &labels);
}

static struct box landscape_begin_plot(struct stage *s, struct box box, const char *name)
{
    const struct theme *t = s->brush.theme;
    struct box plot = {floor(box.x), floor(box.y), floor(box.w), floor(box.h)};
    scene_panel(s->brush.scene, plot, color_mix(t->panel, t->ground, 0.6), "%s", name);
    scene_overlay(s->brush.scene);
    return plot;
}

void landscape_walls(struct stage *s, struct landscape_drawing *d, struct box box)
{
    struct landscape_wall_set w;
    struct box bottom = {box.x, box.y + box.h - 16, box.w, 16};
    if (box.w < 60 || box.h < 60)
        return;
    walls_fill(s, d, &w);
    scene_textf(s->brush.scene, bottom.x, bottom.y, bottom.w, TEXT_AXIS, 0, s->brush.theme->faint,
                "Height: %s, up to %s%s%s. Drag to turn.",
                landscape_figure_name(s->ui->landscape.events[0].figure),
                landscape_quantity(s->ui->landscape.events[0].figure, w.largest).text,
                s->model->group > 1  ? "; each bar is the mean of the groups in it"
                : w.cells < d->ranks ? "; each bar is the mean of several ranks"
                                     : "",
                w.count < d->calls.count ? "; only those with most time" : "");
    box.h -= 22;
    struct box plot = landscape_begin_plot(s, box, "landscape.walls");
    struct landscape_eye e = landscape_make_eye(s, plot);
    struct point ignored;
    double back = landscape_see(&e, (const double[3]){0, 0, -wall_z}, &ignored),
           front = landscape_see(&e, (const double[3]){0, 0, wall_z}, &ignored);
    for (uint32_t i = 0; i < w.count; i++)
        wall_draw(s, d, &e, &w, back >= front ? i : w.count - 1 - i);
    walls_add_labels(s, d, &e, &w);
    section_hit(&e.section, s->brush.scene, HIT_SPACE, 0);
    if (box_has(plot, s->brush.mouse_x, s->brush.mouse_y) && !s->ui->mouse.dragging)
        walls_point_at(s, d, &e, &w);
}

/* ---- points ---- */

static void points_add_strokes(const struct stage *s, struct landscape_drawing *d,
                               const struct landscape_eye *e)
{
    const struct theme *t = s->brush.theme;
    int some = s->ui->selection.kind != SELECT_NONE;
    double spacing = e->section.ux / cbrt(fmax(d->dot_count, 1));
    for (uint32_t i = 0; i < d->dot_count; i++) {
        const struct landscape_dot *dot = &d->dots[i];
        struct point p;
        double away = landscape_see(e, dot->at, &p);
        int lit = some && dot->count == 1 && ui_marks_rank(s->ui, s->model, dot->rank);
        double radius = fmin(fmax(spacing * 0.22, 1), 9) * (1 - 0.2 * away);
        if (!section_shows(&e->section, p.x, p.y, radius))
            continue;
        color_t color = theme_map(t, landscape_share(d, dot->value));
        color = color_mix(color, t->panel, some && !lit ? 0.65 : 0.12 * (away + 1));
        struct stroke k = {(float)p.x,          (float)p.y,  (float)p.x, (float)p.y,
                           (float)(2 * radius), (float)away, color};
        if (lit) { /* a ring, below its point and above the others */
            struct stroke ring = k;
            ring.width += 6;
            ring.away -= 3;
            ring.color = t->accent;
            k.away -= 4;
            strokes_add(&d->strokes, &ring);
        }
        strokes_add(&d->strokes, &k);
    }
}

/* The three edges of the layout that begin at its lowest corner, with their names. */
static void points_add_axes(const struct stage *s, const struct landscape_drawing *d,
                            const struct landscape_eye *e)
{
    const struct theme *t = s->brush.theme;
    static const char *const names[3] = {"x", "y", "z"};
    struct landscape_labels labels = {.count = 0};
    double corner[3], low[3] = {0}, high[3] = {0};
    for (uint32_t i = 0; i < d->dot_count; i++) {
        for (int axis = 0; axis < 3; axis++) {
            low[axis] = i ? fmin(low[axis], d->dots[i].at[axis]) : d->dots[i].at[axis];
            high[axis] = i ? fmax(high[axis], d->dots[i].at[axis]) : d->dots[i].at[axis];
        }
    }
    memcpy(corner, low, sizeof corner);
    for (int axis = 0; axis < 3; axis++) {
        double end[3];
        struct point a, b;
        memcpy(end, corner, sizeof end);
        end[axis] = high[axis];
        landscape_see(e, corner, &a);
        landscape_see(e, end, &b);
        if (hypot(b.x - a.x, b.y - a.y) < 12)
            continue;
        scene_line(s->brush.scene, a.x, a.y, b.x, b.y, 1, t->line);
        double length = hypot(b.x - a.x, b.y - a.y);
        landscape_label(
            s, &labels, e->section.box,
            (struct point){b.x + (b.x - a.x) / length * 10, b.y + (b.y - a.y) / length * 10},
            t->text, names[axis]);
    }
}

/* What lies along the axes, where that is an event. */
static void points_add_names(const struct stage *s, const struct landscape_drawing *d,
                             struct box plot)
{
    static const char *const names[FORMULA_AXES] = {"x", "y", "z", "colour"};
    double y = plot.y + 8;
    for (int axis = 0; axis < FORMULA_AXES; axis++) {
        const double *values = axis < 3 ? d->points.axes[axis] : d->colored;
        int event = 0;
        while (event < LANDSCAPE_EVENTS &&
               memcmp(values, d->values[event], d->ranks * sizeof(double)) != 0)
            event++;
        if (event == LANDSCAPE_EVENTS || d->events[event] == RANK_CALLS_NONE)
            continue;
        scene_textf(s->brush.scene, plot.x + 10, y, 220, TEXT_AXIS, 0, s->brush.theme->second,
                    "%s: %s, %s", names[axis], landscape_event_name(s, d, d->events[event]),
                    landscape_figure_name(s->ui->landscape.events[event].figure));
        y += 16;
    }
}

static void points_point_at(struct stage *s, const struct landscape_drawing *d,
                            const struct landscape_eye *e)
{
    double best = 9, nearest = INFINITY;
    const struct landscape_dot *found = NULL;
    struct point place = {0};
    for (uint32_t i = 0; i < d->dot_count; i++) {
        struct point p;
        double away = landscape_see(e, d->dots[i].at, &p);
        double distance = hypot(p.x - s->brush.mouse_x, p.y - s->brush.mouse_y);
        if (distance > best || (distance == best && away >= nearest))
            continue;
        best = distance;
        nearest = away;
        found = &d->dots[i];
        place = p;
    }
    if (!found)
        return;
    struct box box = {place.x - 6, place.y - 6, 12, 12};
    scene_outline(s->brush.scene, box, 6, 1, s->brush.theme->text);
    if (found->count == 1) {
        landscape_point_at(s, d, (struct box){place.x - 9, place.y - 9, 18, 18}, found->rank);
        return;
    }
    tooltip_add(&s->tip, 0, "mean of %s %s", quantity_grouped(found->count).text,
                landscape_unit(s->model).text);
    tooltip_add(&s->tip, s->brush.theme->second, "%s",
                landscape_colored_text(s, d, found->value).text);
}

void landscape_points(struct stage *s, struct landscape_drawing *d, struct box box)
{
    if (box.w < 60 || box.h < 60)
        return;
    struct box plot = landscape_begin_plot(s, box, "landscape.points");
    struct landscape_eye e = landscape_make_eye(s, plot);
    const struct camera *c = &s->ui->landscape.camera;
    const double seen[] = {plot.x, plot.y, plot.w, plot.h,  e.section.ux,
                           c->x,   c->y,   c->yaw, c->pitch};
    uint64_t key = mix_number(d->key, (uint64_t)s->ui->theme);
    key = mix_reals(key, seen, sizeof seen / sizeof *seen);
    key = mix_number(mix_number(key, (uint64_t)s->ui->selection.kind), s->ui->selection.a);
    key = mix_number(mix_number(key, s->ui->selection.b), s->model->version) | 1;
    if (key != d->strokes_key) {
        strokes_clear(&d->strokes);
        points_add_strokes(s, d, &e);
        strokes_sort(&d->strokes);
        d->strokes_key = key;
    }
    const struct theme *t = s->brush.theme;
    strokes_draw(&d->strokes, s->brush.scene, plot, color_mix(t->panel, t->ground, 0.6));
    points_add_axes(s, d, &e);
    points_add_names(s, d, plot);
    section_hit(&e.section, s->brush.scene, HIT_SPACE, 1);
    if (box_has(plot, s->brush.mouse_x, s->brush.mouse_y) && !s->ui->mouse.dragging)
        points_point_at(s, d, &e);
}

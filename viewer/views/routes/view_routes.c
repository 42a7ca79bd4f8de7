/* View "routes": routes in the adjacency matrix of the network (Visuco, section 4.4). */
#include "viewer/views/views.h"

#include "daemon/analysis/tables/array.h"

#include "holter/plain_text.h"
#include "viewer/layout/format.h"
#include "viewer/layout/mix.h"
#include "viewer/ui/ui_question.h"
#include "viewer/views/common/network_pieces.h"
#include "viewer/views/common/pieces.h"
#include "viewer/views/routes/view_routes_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LENS = 260, SIDE = 252, NAMES = 54 };

static void routes_drawing_destroy(struct routes_drawing *d)
{
    if (!d)
        return;
    route_order_finish(&d->order);
    route_set_finish(&d->set);
    adjacency_axis_finish(&d->axis);
    route_layer_finish(&d->whole);
    route_layer_finish(&d->lens);
    free(d->used);
    free(d);
}

/* ---- bring up to date ---- */

static int routes_view_mark_used(struct routes_drawing *d)
{
    if (array_fit_zero(&d->used, 1, &d->used_capacity, d->order.count) != 0)
        return -ENOMEM;
    for (uint32_t r = 0; r < d->order.count; r++)
        d->used[r] = d->set.marks[d->order.vertex[r]] != 0;
    return 0;
}

static int routes_view_update(struct stage *s, struct routes_drawing *d)
{
    if (route_order_update(&d->order, s->model, s->ui) < 0 || route_set_update(&d->set, s) < 0)
        return -ENOMEM;
    int fold = s->ui->routes.fold - 1;
    fold = fold < (int)d->order.levels ? fold : (int)d->order.levels - 1;
    const uint64_t parts[] = {d->order.key, d->set.version, (uint64_t)(fold + 1)};
    const uint64_t key = mix_numbers(11, parts, sizeof parts / sizeof *parts) | 1;
    if (d->axis_key == key)
        return 0;
    d->axis_key = 0;
    if (routes_view_mark_used(d) < 0 ||
        adjacency_fold(&d->axis, d->order.starts, d->order.count, fold, d->used) < 0)
        return -ENOMEM;
    d->axis_version++;
    d->axis_key = key;
    return 0;
}

/* ---- the lens ---- */

static int routes_view_has_mouse(const struct stage *s, struct box box)
{
    return box_has(box, s->brush.mouse_x, s->brush.mouse_y) && s->hover &&
           (s->hover->kind == HIT_ROUTES || s->hover->kind == HIT_LINK ||
            s->hover->kind == HIT_VERTEX || s->hover->kind == HIT_ROUTE);
}

/* Section of the lens: the point under the mouse stays in place, enlarged. */
static struct route_window routes_view_lens_window(const struct stage *s,
                                                   const struct route_window *w)
{
    double side = floor(fmin(LENS, w->box.w * 0.45)), mx = s->brush.mouse_x, my = s->brush.mouse_y;
    struct route_window lens = {.name = "routes.lens"};
    lens.box = (struct box){floor(fmin(fmax(mx - side / 2, w->box.x), w->box.x + w->box.w - side)),
                            floor(fmin(fmax(my - side / 2, w->box.y), w->box.y + w->box.h - side)),
                            side, side};
    lens.extent = w->extent * side / w->box.w / s->ui->routes.lens_zoom;
    lens.x = w->x + (mx - w->box.x) / w->box.w * w->extent - (mx - lens.box.x) / side * lens.extent;
    lens.y = w->y + (my - w->box.y) / w->box.h * w->extent - (my - lens.box.y) / side * lens.extent;
    return lens;
}

static char *routes_view_format_cell(const struct routes_drawing *d, const struct route_layer *l,
                                     char *out, size_t room)
{
    if (l->cells.most <= 1)
        snprintf(out, room, "one node or switch a cell");
    else if (l->cells.group > 1)
        snprintf(out, room, "%u nodes or switches a cell, %u of %s", l->cells.most, l->cells.group,
                 d->order.names[l->cells.level]);
    else
        snprintf(out, room, "%u nodes or switches a cell, same down to %s", l->cells.most,
                 d->order.names[l->cells.level]);
    return out;
}

static void routes_view_add_lens(struct stage *s, struct routes_drawing *d,
                                 const struct route_window *whole)
{
    struct route_window w = routes_view_lens_window(s, whole);
    char text[80];
    if (route_layer_update(s, d, &d->lens, &w) < 0)
        return;
    route_paint(s, d, &d->lens, &w);
    route_blocks(s, d, &w);
    route_hover(s, d, &d->lens, &w);
    scene_outline(s->brush.scene, w.box, 0, 2, s->brush.theme->accent);
    routes_view_format_cell(d, &d->lens, text, sizeof text);
    scene_textf(s->brush.scene, w.box.x + 6, w.box.y + w.box.h - 18, w.box.w - 12, TEXT_AXIS,
                TEXT_CLAUSES, s->brush.theme->text, "%.0fx, %s", s->ui->routes.lens_zoom, text);
}

/* ---- beside the matrix ---- */

struct column_pen {
    const struct stage *s;
    double x, y, w, at; /* at: x at which the next button begins */
    double bottom;      /* lower limit: what does not fit is omitted */
};

static int routes_view_fits(struct column_pen *c, double h)
{
    if (c->y + h > c->bottom)
        c->bottom = 0; /* nor does anything after it */
    return c->bottom > 0;
}

static void routes_view_heading(struct column_pen *c, const char *text)
{
    if (!routes_view_fits(c, 46)) /* with at least one line below it */
        return;
    scene_text(c->s->brush.scene, c->x, c->y, c->w, TEXT_SMALL_STRONG, 0, c->s->brush.theme->text,
               text);
    c->y += 20;
    c->at = c->x;
}

static void routes_view_button(struct column_pen *c, const char *label, int active,
                               enum ui_command command, uint64_t argument)
{
    double w = scene_width(c->s->brush.scene, TEXT_SMALL, 0, label) + 20;
    if (c->at > c->x && c->at + w > c->x + c->w) {
        c->at = c->x;
        c->y += 28;
    }
    if (!routes_view_fits(c, 24))
        return;
    scene_rect(c->s->brush.scene, (struct box){c->at, c->y, w, 24}, 5, c->s->brush.theme->line);
    c->at += widget_button(&c->s->brush, c->at, c->y, label, active, command, argument) + 4;
}

static void routes_view_end_buttons(struct column_pen *c)
{
    if (!routes_view_fits(c, 24))
        return;
    c->y += 30;
    c->at = c->x;
}

static void routes_view_note(struct column_pen *c, color_t color, const char *text)
{
    if (!routes_view_fits(c, scene_paragraph_height(c->s->brush.scene, c->w, TEXT_SMALL, 3, text)))
        return;
    c->y += scene_paragraph(c->s->brush.scene, c->x, c->y, c->w, TEXT_SMALL, color, 3, text) + 4;
}

static void routes_view_add_shown(struct column_pen *c, const struct routes_drawing *d)
{
    const struct route_set *set = &d->set;
    char text[160];
    double all = (double)c->s->range->flows.bytes;
    routes_view_heading(c, "Routes");
    snprintf(text, sizeof text,
             set->heaviest   ? "%s with the most bytes of %s, %s of the bytes"
             : set->selected ? "%s selected of %s, %s of the bytes"
                             : "%s of %s pass the filter, %s of the bytes",
             quantity_grouped(set->routes).text, quantity_grouped(set->all).text,
             format_share(all > 0 ? set->bytes / all : 0).text);
    routes_view_note(c, c->s->brush.theme->second, text);
    if (!set->heaviest)
        return;
    routes_view_button(c, "fewer", 0, COMMAND_ROUTES_MAXIMUM, 0);
    routes_view_button(c, "more", 0, COMMAND_ROUTES_MAXIMUM, 1);
    routes_view_end_buttons(c);
}

static void routes_view_add_order(struct column_pen *c, const struct routes_drawing *d)
{
    if (!topology_grid(c->s->model->network.topology))
        return;
    routes_view_heading(c, "Order, slowest first");
    for (uint32_t l = 0; l < d->order.levels; l++)
        routes_view_button(c, d->order.names[l], 0, COMMAND_ROUTE_ORDER, l);
    if (c->s->ui->routes.dimensions)
        routes_view_button(c, "as numbered", 0, COMMAND_ROUTE_ORDER, TOPOLOGY_DIMENSIONS);
    routes_view_end_buttons(c);
}

static void routes_view_add_fold(struct column_pen *c, const struct routes_drawing *d)
{
    char text[120];
    routes_view_heading(c, "Fold what no route passes, by");
    for (uint32_t l = 0; l < d->order.levels; l++)
        routes_view_button(c, d->order.names[l], c->s->ui->routes.fold == (int)l + 1, COMMAND_FOLD,
                           l + 1);
    routes_view_end_buttons(c);
    if (!c->s->ui->routes.fold)
        return;
    if (!d->axis.blocks) {
        routes_view_note(c, c->s->brush.theme->second, "routes in sight pass all of them");
        return;
    }
    snprintf(text, sizeof text, "%u block%s with %s vertices folded to %u band%s", d->axis.blocks,
             d->axis.blocks == 1 ? "" : "s", quantity_grouped(d->axis.count - d->axis.open).text,
             d->axis.bands, d->axis.bands == 1 ? "" : "s");
    routes_view_note(c, c->s->brush.theme->second, text);
}

/* Reduction of length and load (Visuco, section 5.1). @return "" when nothing is suggested */
static char *routes_view_format_gains(const struct stage *s, char *out, size_t room)
{
    const struct suggestion *g = &s->model->network.suggestions[SUGGEST_ROUTES];
    const struct network_gain *length = suggestion_gain(g, "length"),
                              *load = suggestion_gain(g, "max-link");
    char gains[160];
    out[0] = 0;
    if (!g->ready)
        return out;
    snprintf(out, room, "%u of %u routes better%s", suggestion_better_routes(g), g->route_count,
             s->ui->network.applied & FLOWS_ROUTES ? ", applied" : "");
    if (length)
        text_append(out, room, ": total length %.0f \xe2\x86\x92 %.0f", length->before,
                    length->after);
    if (load)
        text_append(out, room, "%s largest link load %s \xe2\x86\x92 %s", length ? "," : ":",
                    format_si(load->before, "B").text, format_si(load->after, "B").text);
    if (piece_route_gains(g, gains, sizeof gains))
        text_append(out, room, "; %s", gains);
    return out;
}

static void routes_view_add_better(struct column_pen *c, const struct routes_drawing *d)
{
    const struct suggestion *g = &c->s->model->network.suggestions[SUGGEST_ROUTES];
    const struct ui_network_choice *n = &c->s->ui->network;
    const struct theme *t = c->s->brush.theme;
    char text[160];
    routes_view_heading(c, "Better routes");
    routes_view_button(c, "least load", n->criterion == ROUTE_LOAD, COMMAND_REROUTE_FIRST,
                       ROUTE_LOAD);
    routes_view_button(c, "least length", n->criterion == ROUTE_LENGTH, COMMAND_REROUTE_FIRST,
                       ROUTE_LENGTH);
    snprintf(text, sizeof text, "+%s", quantity_things(n->delta, "link").text);
    routes_view_button(c, n->delta ? text : "no longer", n->delta > 0, COMMAND_REROUTE_DELTA,
                       (n->delta + 1) % ROUTE_DELTAS);
    routes_view_end_buttons(c);
    routes_view_button(c, "Suggest routes", 0, COMMAND_REROUTE, 0);
    if (g->ready && g->base == what_if_state(&n->what_if))
        routes_view_button(c, "Show it", 0, COMMAND_APPLY, SUGGEST_ROUTES);
    if (g->ready)
        routes_view_button(c, "Discard", 0, COMMAND_DISCARD, SUGGEST_ROUTES);
    routes_view_end_buttons(c);
    if (g->waiting && !g->ready) {
        snprintf(text, sizeof text, "searching, %s", format_share(g->progress).text);
        routes_view_note(c, t->second, text);
    } else if (g->error) {
        routes_view_note(c, t->bad, g->error_text);
    } else if (g->ready || c->s->ui->network.applied & FLOWS_ROUTES) {
        snprintf(text, sizeof text, "%u of the visible routes %s another path, in blue",
                 d->set.suggested,
                 c->s->ui->network.applied & FLOWS_ROUTES ? "take" : "could take");
        routes_view_note(c, t->second, text);
    } else {
        char subject[128];
        ui_question_subject(c->s->ui, c->s->model, SUGGEST_ROUTES, subject, sizeof subject);
        snprintf(text, sizeof text, "for %s", subject);
        routes_view_note(c, t->faint, text);
    }
}

static void routes_view_add_legend(struct column_pen *c)
{
    const struct theme *t = c->s->brush.theme;
    struct scene *scene = c->s->brush.scene;
    static const char *const words[] = {"neighbours in the network", "source", "destination",
                                        "route: along the row, then the column", "suggested route"};
    for (int i = 0; i < 5; i++) { /* both ends of a route share a line */
        const double left = c->x + (i == 2 ? 90 : 0), x = left + 8, y = c->y + 8;
        if (i == 2)
            scene_disc(scene, x, y, 4.5, t->bad);
        else if (i < 2)
            scene_rect(scene, (struct box){x - 4.5, y - 4.5, 9, 9}, 0,
                       i ? t->info : color_mix(t->panel, t->second, 0.42));
        else
            scene_rect(scene, (struct box){x - 8, y - 1, 16, 2}, 0, i == 3 ? t->accent : t->info);
        scene_text(scene, left + 24, c->y, c->x + c->w - left - 24, TEXT_SMALL, 0, t->second,
                   words[i]);
        c->y += i == 1 ? 0 : 16;
    }
    if (c->s->ui->routes.loads) {
        c->y += 4;
        widget_map_legend(&c->s->brush, c->x + c->w, c->y, "load of a link 0",
                          format_si(piece_metric_most(c->s, METRIC_LOAD), "B").text);
        c->y += 22;
    }
}

/* Spread of the routes: for each level, the number of blocks that they pass (Visuco, section 7.4).
 */
static void routes_view_add_spread(struct column_pen *c, const struct routes_drawing *d)
{
    const struct route_order *o = &d->order;
    char text[200] = "";
    routes_view_heading(c, "They pass");
    for (uint32_t l = 0; l < o->levels; l++) {
        uint32_t all, some;
        if (o->tiers && l == 1) {
            some = route_blocks_passed(d, -1, &all);
            text_append(text, sizeof text, ", group: %u of %u", some, all);
        }
        some = route_blocks_passed(d, (int)l, &all);
        text_append(text, sizeof text, "%s%s: %u of %u", l ? ", " : "", o->names[l], some, all);
    }
    routes_view_note(c, c->s->brush.theme->second, text);
}

static void routes_view_add_beside(const struct stage *s, const struct routes_drawing *d,
                                   struct box box)
{
    struct column_pen c = {s, box.x, box.y, box.w, box.x, box.y + box.h};
    routes_view_add_shown(&c, d);
    routes_view_add_order(&c, d);
    routes_view_add_fold(&c, d);
    routes_view_heading(&c, "Look closer");
    routes_view_button(&c, "lens", s->ui->routes.lens, COMMAND_LENS, 0);
    routes_view_button(&c, "loads", s->ui->routes.loads, COMMAND_ROUTE_LOADS, 0);
    if (s->ui->routes.extent > 0 && s->ui->routes.extent < 1)
        routes_view_button(&c, "all", 0, COMMAND_ROUTES_ALL, 0);
    routes_view_end_buttons(&c);
    routes_view_add_better(&c, d);
    routes_view_add_spread(&c, d);
    if (routes_view_fits(&c, s->ui->routes.loads ? 90 : 64))
        routes_view_add_legend(&c);
}

/* ---- the view ---- */

static void routes_view_add_plot(struct stage *s, struct routes_drawing *d,
                                 const struct route_window *w)
{
    char text[80];
    if (route_layer_update(s, d, &d->whole, w) < 0)
        return;
    scene_textf(s->brush.scene, w->box.x, w->box.y + w->box.h + 6, w->box.w, TEXT_AXIS, TEXT_CENTRE,
                s->brush.theme->second, "%s%s",
                routes_view_format_cell(d, &d->whole, text, sizeof text),
                w->extent < 1 ? "; a part of the matrix" : "");
    route_bands(s, d, w, route_bands_capacity(d));
    route_paint(s, d, &d->whole, w);
    route_blocks(s, d, w);
    struct scene_hit *hit = scene_hit(s->brush.scene, w->box, HIT_ROUTES, d->whole.cells.most, 0);
    hit->x0 = w->x;
    hit->x1 = w->x + w->extent;
    hit->y0 = w->y;
    hit->y1 = w->y + w->extent;
    if (!routes_view_has_mouse(s, w->box) || s->ui->mouse.dragging)
        return;
    if (s->ui->routes.lens)
        routes_view_add_lens(s, d, w);
    else
        route_hover(s, d, &d->whole, w);
}

static void routes_layout(struct stage *s, struct box box)
{
    struct box panel = box_inset(box, 14, 10);
    const struct theme *t = s->brush.theme;
    char gains[400], what[400];
    if (piece_no_network(s, panel))
        return;
    if (!s->pictures->routes && !(s->pictures->routes = calloc(1, sizeof *s->pictures->routes)))
        return;
    struct routes_drawing *d = s->pictures->routes;
    piece_panel(s, panel, "routes");
    if (routes_view_update(s, d) < 0)
        return;
    double right = panel.x + panel.w - 12;
    right -= piece_compare(s, right, panel.y + 6) + 8;
    right -= piece_filter(s, right, panel.y + 6, panel.w * 0.34) + 8;
    snprintf(what, sizeof what, "%s", piece_pairs_range_text(s).text);
    piece_add_unplaced(s, what, sizeof what);
    piece_add_state(s, what, sizeof what);
    widget_title(&s->brush, panel.x + 12, panel.y + 7, right - panel.x - 20, "Route matrix", what);
    routes_view_format_gains(s, gains, sizeof gains);
    const int lines = s->other && gains[0] ? 2 : 1;
    scene_paragraph(s->brush.scene, panel.x + 12, panel.y + 32, panel.w - 24, TEXT_SMALL, t->info,
                    lines, gains);
    double room = route_bands_capacity(d), head = 40 + 16 * lines, top = panel.y + head;
    /* side by side with another state there is room for the matrix alone */
    const double choices = s->other ? 0 : SIDE;
    double side = floor(fmin(panel.h - head - room - 26, panel.w - room - NAMES - choices - 30));
    if (side < 60)
        return;
    struct route_window w = {.name = "routes.plot"};
    w.box = (struct box){floor(panel.x + 14 + room), floor(top + room), side, side};
    ui_routes(s->ui, &w.x, &w.y, &w.extent);
    double x = w.box.x + side + NAMES;
    if (!s->other)
        routes_view_add_beside(
            s, d, (struct box){x, top, fmin(panel.x + panel.w - x - 12, 420), panel.h - head - 6});
    routes_view_add_plot(s, d, &w);
}

static void routes_view_finish(struct pictures *pictures)
{
    routes_drawing_destroy(pictures->routes);
    pictures->routes = NULL;
}

const struct view routes_view = {.layout = routes_layout, .finish = routes_view_finish};

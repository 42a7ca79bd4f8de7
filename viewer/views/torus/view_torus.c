/* View "torus": a torus, mesh or other Cartesian network as concentric rings along three of its
 * dimensions, and as a grid in space; loads of links as colours (Landge et al., section 4). */
#include "viewer/views/views.h"

#include "viewer/layout/format.h"
#include "viewer/views/common/network_pieces.h"
#include "viewer/views/common/pieces.h"
#include "viewer/views/torus/tiers.h"

#include "holter/error.h"
#include "holter/plain_text.h"

#include <math.h>
#include <stdio.h>

enum { HEAD = 36, TIME = 38, LEFT = 168, STRIP = 150, CARD = 232, GAP = 10 };

/* Measured loads are stored separately from other sums, so their time span can differ. */
static struct quantity torus_view_format_measured(const struct stage *s)
{
    const struct window_totals *w = series_newest(&s->model->series);
    uint64_t first, last;
    if (s->ui->time.range == RANGE_START || !w || !ui_windows(s->ui, s->model, &first, &last))
        return quantity_print("since the start");
    return quantity_print("%s to %s", format_clock((int64_t)(first * w->length_ns), 0).text,
                          format_clock((int64_t)((last + 1) * w->length_ns), 0).text);
}

/* Sizes of the dimensions, "4 x 4 x 8", where the network has no name. */
static void torus_view_format_shape(const struct stage *s, char *out, size_t capacity)
{
    const struct topology_spec *spec = topology_spec(s->model->network.topology);
    out[0] = '\0';
    for (uint32_t d = 0; d < spec->dimension_count; d++)
        text_append(out, capacity, "%s%u", d == 0 ? "" : " x ", spec->dimensions[d].size);
}

/* Description of the visible data for the title. */
static void torus_view_what_text(const struct stage *s, char *out, size_t capacity)
{
    const struct torus_choice *c = &s->ui->torus;
    if (c->panel > 0) {
        snprintf(out, capacity, "%s: %s", c->panels[c->panel].title, c->panels[c->panel].note);
        return;
    }
    struct quantity range = c->panels[0].figure == TORUS_MEASURED ? torus_view_format_measured(s)
                            : c->comm || c->region ? quantity_print("since the start")
                                                   : piece_pairs_range_text(s);
    char shape[80];
    torus_view_format_shape(s, shape, sizeof shape);
    snprintf(out, capacity, "%s, %s", s->model->network.name[0] ? s->model->network.name : shape,
             range.text);
}

/* ---- minimaps ---- */

static const char *torus_view_along(const struct stage *s, const struct torus_drawing *d, int side)
{
    uint32_t dimension = d->sides[side].projection.axes[PROJECTION_DEPTH].dimension;
    return dimension == PROJECTION_NONE ? "" : torus_dimension(s, dimension);
}

/* Minimaps one below the other; a click chooses the viewing direction. */
static double torus_view_add_minimaps(struct stage *s, const struct torus_drawing *d,
                                      struct box box)
{
    const struct theme *t = s->brush.theme;
    double y = box.y, side = fmin(fmin(box.w - 24, 132), (box.h - 2 * 8) / 3);
    for (int i = 0; i < TORUS_SIDES && side >= 40; i++) {
        struct box map = {box.x, y, floor(side), floor(side)};
        int on = s->ui->torus.view == i, hover = box_has(map, s->brush.mouse_x, s->brush.mouse_y);
        scene_rect(s->brush.scene, map, 4, color_mix(t->panel, t->ground, 0.5));
        torus_minimap(s, d, map, s->ui->torus.panel, i);
        scene_outline(s->brush.scene, map, 4, on ? 2 : 1,
                      on      ? t->accent
                      : hover ? t->second
                              : t->line);
        if (box.w - side >= 26)
            scene_text(s->brush.scene, map.x + map.w + 6, y + 2, box.w - map.w - 6,
                       TEXT_AXIS_STRONG, 0, on ? t->text : t->second, torus_view_along(s, d, i));
        scene_hit(s->brush.scene, map, HIT_BUTTON, COMMAND_TORUS_VIEW, (uint64_t)i);
        y += map.h + 8;
    }
    return y;
}

/* ---- panels side by side ---- */

static void torus_view_add_card_head(const struct stage *s, struct box box, int panel)
{
    const struct theme *t = s->brush.theme;
    const struct torus_panel *p = &s->ui->torus.panels[panel];
    char text[160];
    int on = panel == s->ui->torus.panel;
    const char *unit = p->figure == TORUS_MESSAGES || p->packets ? "" : "B";
    double w = box.w - 16 - (panel ? 20 : 0);
    scene_text(s->brush.scene, box.x + 8, box.y + 5, w, TEXT_SMALL_STRONG, 0,
               on ? t->text : t->second, panel ? p->title : "now");
    snprintf(text, sizeof text, "most %s  %s", format_si((double)p->largest, unit).text,
             panel ? p->note : "");
    scene_text(s->brush.scene, box.x + 8, box.y + 21, box.w - 16, TEXT_AXIS, 0, t->second, text);
    scene_hit(s->brush.scene, box, HIT_BUTTON, COMMAND_TORUS_PANEL, (uint64_t)panel);
    if (!panel)
        return;
    struct box close = {box.x + box.w - 22, box.y + 3, 18, 18};
    int hover = box_has(close, s->brush.mouse_x, s->brush.mouse_y);
    scene_text(s->brush.scene, close.x, close.y + 1, close.w, TEXT_SMALL, TEXT_CENTRE,
               hover ? t->bad : t->second, "\xc3\x97");
    scene_hit(s->brush.scene, close, HIT_BUTTON, COMMAND_TORUS_UNPIN, (uint64_t)panel);
}

/* Small multiples: minimaps of each panel with a common colour map. */
static void torus_view_add_cards(struct stage *s, const struct torus_drawing *d, struct box box)
{
    const struct theme *t = s->brush.theme;
    int count = s->ui->torus.panel_count;
    double w = fmin(CARD, (box.w - GAP * (count - 1)) / count);
    for (int i = 0; i < count; i++) {
        struct box card = {floor(box.x + i * (w + GAP)), box.y, floor(w), box.h};
        double side = fmin(box.h - 48, (w - 8 * 4) / 3);
        scene_rect(s->brush.scene, card, 6, color_mix(t->panel, t->ground, 0.5));
        scene_outline(s->brush.scene, card, 6, 1, i == s->ui->torus.panel ? t->accent : t->line);
        torus_view_add_card_head(s, card, i);
        if (!torus_belongs(s, i)) {
            scene_text(s->brush.scene, card.x + 8, card.y + 60, card.w - 16, TEXT_AXIS, 0,
                       t->second, "of another network or figure");
            continue;
        }
        for (int k = 0; k < TORUS_SIDES && side >= 20; k++)
            torus_minimap(
                s, d,
                (struct box){card.x + 8 + k * (side + 8), card.y + 40, floor(side), floor(side)}, i,
                k);
    }
}

/* The projections of all panels. */
static void torus_view_add_grid(struct stage *s, struct torus_drawing *d, struct box box)
{
    int count = s->ui->torus.panel_count, columns = 1;
    while (columns < count && box.w / columns > box.h / ceil((double)count / columns) * 1.15)
        columns++;
    int rows = (count + columns - 1) / columns;
    double w = floor((box.w - GAP * (columns - 1)) / columns),
           h = floor((box.h - GAP * (rows - 1)) / rows);
    for (int i = 0; i < count; i++) {
        const int column = i % columns, row = i / columns;
        struct box cell = {box.x + column * (w + GAP), box.y + row * (h + GAP), w, h};
        scene_panel(s->brush.scene, cell, 0, "torus.cell%d", i);
        scene_rect(s->brush.scene, cell, 6, s->brush.theme->panel);
        torus_view_add_card_head(s, (struct box){cell.x, cell.y, cell.w, 38}, i);
        torus_plane(s, d, (struct box){cell.x, cell.y + 38, cell.w, cell.h - 38}, i,
                    i == s->ui->torus.panel);
    }
}

/* ---- the whole ---- */

static void torus_view_add_large_panels(struct stage *s, struct torus_drawing *d, struct box box)
{
    /* side by side, or one below the other in narrow windows */
    int beside = box.w > box.h * 1.25, both = beside ? box.w >= 560 : box.h >= 620;
    struct box rings = box, space = box;
    if (both && beside) {
        rings.w = floor(fmax(fmin(box.h + 20, box.w * 0.62), box.w * 0.5));
        space.x += rings.w + GAP;
        space.w -= rings.w + GAP;
    } else if (both) {
        rings.h = floor(box.h * 0.58);
        space.y += rings.h + GAP;
        space.h -= rings.h + GAP;
    }
    piece_panel(s, rings, "torus.rings");
    torus_plane(s, d, rings, s->ui->torus.panel, 1);
    if (!both)
        return;
    piece_panel(s, space, "torus.space");
    torus_space(s, d, space);
}

static void torus_view_add_controls(struct stage *s, struct torus_drawing *d, struct box box)
{
    struct box inner = {box.x + 12, box.y + 10, box.w - 24, box.h - 20};
    const int with_nodes = inner.h >= 292;
    const double foot = with_nodes ? 292 : 228;
    piece_panel(s, box, "torus.controls");
    torus_view_add_minimaps(s, d, (struct box){inner.x, inner.y, inner.w, inner.h - foot});
    double y = inner.y + inner.h - foot + 14;
    torus_axes(s, d, (struct box){inner.x, y, inner.w, 130});
    torus_legend(s, d, (struct box){inner.x, y + 164, inner.w, 56});
    if (with_nodes)
        torus_node_legend(s, (struct box){inner.x, y + 228, inner.w, 44});
}

static void torus_view_add_head(struct stage *s, struct box box)
{
    char what[500] = "";
    scene_panel(s->brush.scene, box, 0, "torus.head");
    piece_add_state(s, what, sizeof what);
    double state = scene_width(s->brush.scene, TEXT_SMALL, 0, what);
    double right = torus_choices(s, box.x + box.w, box.y + 4, box.x + 60 + state);
    right -= piece_filter(s, right - 4, box.y + 4, fmax((right - box.x) / 3, 0)) + 8;
    torus_view_what_text(s, what, sizeof what);
    piece_add_unplaced(s, what, sizeof what);
    piece_add_state(s, what, sizeof what);
    widget_title(&s->brush, box.x + 2, box.y + 7, right - box.x - 8, "Torus", what);
}

static void torus_layout(struct stage *s, struct box box)
{
    struct torus_drawing *d = NULL;
    box = box_inset(box, 14, 10);
    if (tiers_layout(s, box))
        return;
    int error = torus_prepare(s, &d);
    if (error || !torus_belongs(s, 0)) {
        piece_panel(s, box, "torus");
        if (s->model->daemon.topology_fault[0])
            piece_empty(s, box, "The network's description cannot be used",
                        s->model->daemon.topology_fault);
        else if (!s->model->network.topology)
            piece_empty(s, box, "No network", "The daemon has not published one yet.");
        else if (error == -HOLTER_ELIMIT)
            piece_empty(s, box, "Too large to be drawn node by node",
                        "View links ranks its links.");
        else
            piece_empty(s, box, "No regular network",
                        "This view shows tori, meshes, trees and dragonflies; view network shows "
                        "any graph.");
        return;
    }
    torus_view_add_head(s, (struct box){box.x, box.y, box.w, HEAD - 4});
    struct box body = {box.x, box.y + HEAD, box.w, box.h - HEAD};
    int count = s->ui->torus.panel_count, many = count > 1, strip = many && !s->ui->torus.grid;
    if (strip) {
        double w = fmin(CARD, (body.w - GAP * (count - 1)) / count),
               h = floor(fmin(STRIP, 50 + fmax((w - 32) / 3, 0)));
        struct box row = {body.x, body.y + body.h - h, body.w, h};
        scene_panel(s->brush.scene, row, 0, "torus.panels");
        torus_view_add_cards(s, d, row);
        body.h -= h + GAP;
    }
    if (body.h > 420 && !model_is_timeless(s->model)) {
        torus_time(s, (struct box){body.x, body.y + body.h - TIME, body.w, TIME});
        body.h -= TIME + GAP;
    }
    torus_view_add_controls(s, d, (struct box){body.x, body.y, LEFT, body.h});
    body.x += LEFT + GAP;
    body.w -= LEFT + GAP;
    if (many && s->ui->torus.grid)
        torus_view_add_grid(s, d, body);
    else
        torus_view_add_large_panels(s, d, body);
    torus_menu(s, box);
}

static void torus_view_finish(struct pictures *pictures)
{
    torus_drawing_destroy(pictures->torus);
    tiers_drawing_destroy(pictures->tiers);
    pictures->torus = NULL;
    pictures->tiers = NULL;
}

const struct view torus_view = {.layout = torus_layout, .finish = torus_view_finish};

/* Networks that are no tori: dragonflies and all-to-all networks as boxes of their tiers (Visuco,
 * section 7.4), trees and fat trees as levels. */
#include "viewer/views/torus/tiers.h"

#include "viewer/views/torus/tier_lines.h"
#include "viewer/views/torus/tier_names.h"

#include "daemon/analysis/tables/array.h"
#include "holter/order.h"
#include "holter/plain_text.h"
#include "viewer/layout/floor_plan.h"
#include "viewer/layout/format.h"
#include "viewer/layout/mix.h"
#include "viewer/layout/section.h"
#include "viewer/layout/strokes.h"
#include "viewer/views/common/link_classes.h"
#include "viewer/views/common/network_pieces.h"
#include "viewer/views/common/pieces.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEAD = 36,
    FOOT = 46,
    MARGIN = 14,
    NAME_MARGIN = 34, /* of trees: for the name of the last vertex */
    SMALLEST = 7      /* boxes on the screen */
};

struct tiers_drawing {
    struct floor_plan plan;
    uint64_t plan_key;
    uint8_t *used; /* owned; by vertex: 1 if it holds a rank or was passed since the network was
                    * received, so that the plan does not change with each window */
    uint32_t used_count, vertex_count;
    uint64_t used_key, network_version;
    struct tier_lines lines;
    uint32_t *lowest; /* owned; by vertex: its lowest rank, TOPOLOGY_NONE */
    uint64_t line_key;
    struct strokes strokes;
    uint64_t stroke_key;
    char sentence[300];
};

void tiers_drawing_destroy(struct tiers_drawing *d)
{
    if (!d)
        return;
    floor_plan_finish(&d->plan);
    strokes_finish(&d->strokes);
    free(d->used);
    tier_lines_finish(&d->lines);
    free(d->lowest);
    free(d);
}

/* ---- facts ---- */

static void tiers_mark_used(struct tiers_drawing *d, uint32_t vertex)
{
    if (vertex < d->vertex_count && !d->used[vertex]) {
        d->used[vertex] = 1;
        d->used_count++;
    }
}

static int tiers_update_used(struct tiers_drawing *d, const struct stage *s)
{
    const struct network *n = &s->model->network;
    const struct flows *states[] = {&s->range->flows, piece_reality(s)};
    const uint64_t key = mix_number(mix_number(n->version, states[0]->version), states[1]->version);
    if (d->used_key == key)
        return 0;
    if (d->network_version != n->version) {
        d->vertex_count = topology_vertices(n->topology);
        if (array_resize(&d->used, d->vertex_count + 1u) != 0 ||
            ARRAY_RESIZE(d->lowest, d->vertex_count + 1u) != 0)
            return -ENOMEM;
        memset(d->used, 0, d->vertex_count);
        d->used_count = 0;
        d->network_version = n->version;
    }
    for (uint32_t v = 0; v < d->vertex_count; v++)
        d->lowest[v] = TOPOLOGY_NONE;
    for (int i = 0; i < 2; i++)
        for (uint32_t v = 0; v < states[i]->vertex_count; v++) {
            const struct flow_vertex *figures = &states[i]->vertices[v];
            if (figures->in || figures->out || figures->transit)
                tiers_mark_used(d, v);
        }
    const struct tiers_drawing *other = s->other && !s->second ? s->other->tiers : NULL;
    for (uint32_t v = 0; other && v < other->vertex_count; v++)
        if (other->used[v])
            tiers_mark_used(d, v);
    for (uint32_t r = 0; r < n->seat_count; r++)
        if (n->seats[r] < d->vertex_count)
            tiers_mark_used(d, n->seats[r]);
    const struct flows *f = states[0];
    for (uint32_t v = 0; v < f->vertex_count && f->first_rank; v++)
        if (f->first_rank[v + 1] > f->first_rank[v])
            d->lowest[v] = f->ranks[f->first_rank[v]];
    d->used_key = key;
    return 0;
}

static int tiers_update_lines(struct tiers_drawing *d, const struct stage *s)
{
    const struct flows *f = &s->range->flows, *real = piece_reality(s);
    const int differs = ui_shows_difference(s->ui);
    const uint64_t key = mix_number(mix_number(d->used_key, (uint64_t)differs), f->version) | 1;
    if (d->line_key == key)
        return 0;
    if (tier_lines_collect(&d->lines, f, differs ? real : NULL) < 0)
        return -ENOMEM;
    struct link_classes classes;
    d->sentence[0] = '\0';
    link_classes_sum(&classes, s->model->network.topology, f->loads);
    link_classes_text(&classes, &s->model->network, f, d->sentence, sizeof d->sentence);
    d->line_key = key;
    return 0;
}

static int tiers_update_plan(struct tiers_drawing *d, const struct stage *s, struct box plot)
{
    uint64_t key = mix_number(mix_number(d->network_version, d->used_count), (uint64_t)plot.w);
    key = mix_number(key, (uint64_t)plot.h) | 1;
    if (d->plan_key == key)
        return 0;
    d->plan_key = 0;
    const struct topology *t = s->model->network.topology;
    const double side = topology_spec(t)->kind == TOPOLOGY_TREE ? NAME_MARGIN : MARGIN;
    if (floor_plan_make(&d->plan, t, d->used, plot.w - 2 * side, plot.h - 2 * MARGIN) < 0)
        return -ENOMEM;
    d->plan_key = key;
    return 0;
}

/* ---- vertices ---- */

static color_t tiers_vertex_color(const struct tiers_drawing *d, const struct stage *s, uint32_t v)
{
    const struct theme *t = s->brush.theme;
    const uint32_t ranks = s->model->rank_count;
    const struct flows *f = &s->range->flows;
    color_t color = color_mix(t->panel, t->line, 0.9);
    if (d->lowest[v] != TOPOLOGY_NONE)
        color = t->sizes[(size_t)d->lowest[v] * 255 / (ranks > 1 ? ranks - 1 : 1) & 255];
    else if (d->used[v])
        color = t->second;
    return tier_is_lit(s, f->vertex_marks, f->vertex_count, v) ? color
                                                               : color_mix(color, t->panel, 0.75);
}

static void tiers_add_vertices(struct tiers_drawing *d, const struct stage *s,
                               const struct section *k)
{
    for (uint32_t v = 0; v < d->plan.vertex_count; v++) {
        const double x = section_x(k, d->plan.at[v].x), y = section_y(k, d->plan.at[v].y),
                     half = fmax((double)d->plan.size[v] * k->ux, 1) / 2;
        if (d->plan.size[v] <= 0 || !section_shows(k, x, y, half))
            continue;
        const int is_node = topology_vertex_kind(s->model->network.topology, v) == VERTEX_NODE;
        const double reach = is_node ? half : 0; /* others are dots */
        strokes_add(&d->strokes, &(struct stroke){(float)(x - reach), (float)y, (float)(x + reach),
                                                  (float)y, (float)(2 * half), is_node ? 1 : 0.9f,
                                                  tiers_vertex_color(d, s, v)});
    }
}

static void tiers_update_strokes(struct tiers_drawing *d, const struct stage *s,
                                 const struct section *k)
{
    const double where[] = {k->ux,
                            k->cx,
                            k->cy,
                            s->brush.scene->scale,
                            s->ui->network.colour_low[METRIC_LOAD],
                            s->ui->network.colour_high[METRIC_LOAD]};
    uint64_t key = mix_number(mix_number(d->plan_key, d->line_key), (uint64_t)s->ui->theme);
    key = mix_reals(mix_reals(key, &k->box.x, 4), where, sizeof where / sizeof *where);
    key = mix_number(mix_number(key, s->range->flows.marks_version), s->ui->selection.kind) | 1;
    if (d->stroke_key == key)
        return;
    strokes_clear(&d->strokes);
    tier_lines_choose(&d->lines, s, &d->plan, k);
    tiers_add_vertices(d, s, k);
    tier_lines_add(&d->lines, &d->strokes, s, &d->plan, k);
    strokes_sort(&d->strokes);
    d->stroke_key = key;
}

/* ---- boxes ---- */

/* "slot 3", and whether it is unused where there is room for that. */
static void tiers_add_box_name(const struct stage *s, const struct floor_block *b, struct box box)
{
    const struct topology_spec *spec = topology_spec(s->model->network.topology);
    char name[TOPOLOGY_NAME + 16], whole[TOPOLOGY_NAME + 32];
    snprintf(name, sizeof name, "%s %u", spec->dimensions[b->tier].name, b->at);
    snprintf(whole, sizeof whole, "%s%s", name, b->used ? "" : ": unused");
    const double w = box.w - 6;
    const char *text = scene_width(s->brush.scene, TEXT_AXIS, 0, whole) <= w  ? whole
                       : scene_width(s->brush.scene, TEXT_AXIS, 0, name) <= w ? name
                                                                              : "";
    scene_text(s->brush.scene, box.x + 4, box.y + 1, w, TEXT_AXIS, 0,
               b->used ? s->brush.theme->second : s->brush.theme->faint, text);
}

static void tiers_add_boxes(const struct tiers_drawing *d, const struct stage *s,
                            const struct section *k)
{
    const struct theme *t = s->brush.theme;
    const struct topology_spec *spec = topology_spec(s->model->network.topology);
    for (uint32_t i = 0; i < d->plan.block_count; i++) {
        const struct floor_block *b = &d->plan.blocks[i];
        struct box box = {section_x(k, b->box.x), section_y(k, b->box.y), b->box.w * k->ux,
                          b->box.h * k->uy};
        const int cabinet = topology_is_cray_xc(spec) && b->tier == 1;
        const color_t color = b->joined  ? t->text
                              : !b->used ? t->line
                              : cabinet  ? t->warn
                                         : t->second;
        if (box.w < SMALLEST || box.h < SMALLEST || box.x > k->box.x + k->box.w ||
            box.y > k->box.y + k->box.h)
            continue;
        scene_outline(s->brush.scene, box, 2, cabinet && b->used ? 1.5 : 1,
                      color_fade(color, b->used || b->joined ? 0.8 : 0.6));
        if (!b->joined && b->box.w >= 46 && b->box.h >= (b->used ? 60 : 18))
            tiers_add_box_name(s, b, box);
    }
}

/* Names of the levels of a fat tree, or of what a tree's rows hold, at the left border. */
static void tiers_add_levels(const struct tiers_drawing *d, const struct stage *s,
                             const struct section *k)
{
    const struct topology *t = s->model->network.topology;
    if (topology_spec(t)->kind != TOPOLOGY_FAT_TREE)
        return;
    for (uint32_t row = 0; row < d->plan.levels; row++) {
        const double y = (row + 0.5 - d->plan.levels / 2.0) * d->plan.level_height;
        scene_text(s->brush.scene, k->box.x + 4, section_y(k, y) - 7, 60, TEXT_AXIS_STRONG, 0,
                   s->brush.theme->second, topology_level_name(t, d->plan.levels - 1 - row));
    }
}

/* ---- mouse ---- */

static uint32_t tiers_vertex_under(const struct tiers_drawing *d, const struct stage *s,
                                   const struct section *k)
{
    for (uint32_t v = 0; v < d->plan.vertex_count; v++) {
        const double half = fmax((double)d->plan.size[v] * k->ux, 4) / 2;
        if (d->plan.size[v] > 0 && fabs(section_x(k, d->plan.at[v].x) - s->brush.mouse_x) <= half &&
            fabs(section_y(k, d->plan.at[v].y) - s->brush.mouse_y) <= half)
            return v;
    }
    return TOPOLOGY_NONE;
}

/* The vertex or link under the mouse: its hit and tip. */
static void tiers_point_at(const struct tiers_drawing *d, struct stage *s, const struct section *k)
{
    const struct box under = {s->brush.mouse_x - 2, s->brush.mouse_y - 2, 4, 4};
    const uint32_t vertex = box_has(k->box, s->brush.mouse_x, s->brush.mouse_y)
                                ? tiers_vertex_under(d, s, k)
                                : TOPOLOGY_NONE;
    const uint32_t link =
        vertex == TOPOLOGY_NONE ? tier_lines_under(&d->lines, s, &d->plan, k) : TOPOLOGY_NONE;
    if (vertex != TOPOLOGY_NONE) {
        scene_hit(s->brush.scene, under, HIT_VERTEX, vertex, 0);
        piece_vertex_tip(s, vertex);
    } else if (link != TOPOLOGY_NONE) {
        struct point at[TIER_CURVE];
        const int count = tier_lines_curve(&d->plan, k, s->model->network.topology, link, at);
        scene_points(s->brush.scene);
        for (int i = 0; i < count; i++)
            scene_point(s->brush.scene, at[i].x, at[i].y);
        scene_curve(s->brush.scene, 2.5, s->brush.theme->text);
        scene_hit(s->brush.scene, under, HIT_LINK, link, 0);
        piece_link_tip(s, link);
    }
}

/* ---- the whole ---- */

static const char *tiers_title(const struct topology *t)
{
    switch (topology_spec(t)->kind) {
    case TOPOLOGY_FAT_TREE:
        return "Fat tree";
    case TOPOLOGY_TREE:
        return "Tree";
    case TOPOLOGY_DRAGONFLY:
        return "Dragonfly";
    default:
        return topology_is_cray_xc(topology_spec(t)) ? "Dragonfly" : "All-to-all network";
    }
}

static void tiers_add_head(const struct tiers_drawing *d, const struct stage *s, struct box box)
{
    char what[640];
    uint32_t ranked = 0, elsewhere = 0; /* elsewhere: on processes or cores, below the nodes */
    const struct topology *topology = s->model->network.topology;
    double right = box.x + box.w - 12;
    const double compare = piece_compare(s, right, box.y + 7);
    right -= compare > 0 ? compare + 8 : 0;
    if (!camera_is_home(&s->ui->torus.plane))
        right -= widget_button(&s->brush, right - 92, box.y + 7, "whole picture", 0,
                               COMMAND_TORUS_HOME, 0) +
                 4;
    right -= piece_filter(s, right, box.y + 7, fmax(right - box.x - 220, 0)) + 10;
    for (uint32_t v = 0; v < d->vertex_count; v++)
        if (d->lowest[v] != TOPOLOGY_NONE) {
            ranked++;
            elsewhere += topology_vertex_kind(topology, v) != VERTEX_NODE;
        }
    const struct quantity nodes = quantity_grouped(topology_nodes(topology));
    snprintf(what, sizeof what, "%s, %s%s%s node%s%s, %s",
             s->model->network.name[0] ? s->model->network.name : "the job",
             elsewhere ? "" : quantity_grouped(ranked).text, elsewhere ? "" : " of ", nodes.text,
             topology_nodes(topology) == 1 ? "" : "s", elsewhere ? "" : " in use",
             piece_pairs_range_text(s).text);
    piece_add_unplaced(s, what, sizeof what);
    piece_add_state(s, what, sizeof what);
    widget_title(&s->brush, box.x + 12, box.y + 8, right - box.x - 20,
                 tiers_title(s->model->network.topology), what);
}

/* Tiers from the outermost, "row › column › cage › slot › cpu". */
static void tiers_format_tiers(const struct topology *t, char *out, size_t capacity)
{
    const struct topology_spec *spec = topology_spec(t);
    const uint32_t count = spec->dimension_count - (spec->kind == TOPOLOGY_DRAGONFLY ? 1 : 0);
    out[0] = '\0';
    for (uint32_t d = 0; d < count && spec->kind != TOPOLOGY_FAT_TREE; d++)
        text_append(out, capacity, "%s%s", d ? " \xe2\x80\xba " : "", spec->dimensions[d].name);
}

static void tiers_add_foot(const struct tiers_drawing *d, const struct stage *s, struct box box)
{
    const struct theme *t = s->brush.theme;
    const double most = piece_metric_most(s, METRIC_LOAD);
    double right = box.x + box.w - 12;
    const int is_tree = topology_spec(s->model->network.topology)->kind == TOPOLOGY_TREE;
    char tiers[200], lines[120] = "";
    if (ui_shows_difference(s->ui))
        right -= scene_text(s->brush.scene, box.x, box.y + 22, box.w - 12, TEXT_AXIS, TEXT_RIGHT,
                            t->second, "blue: less than before, red: more") +
                 22;
    else
        right -=
            widget_map_legend(
                &s->brush, right, box.y + 22,
                piece_metric_text(METRIC_LOAD, s->ui->network.colour_low[METRIC_LOAD] * most).text,
                piece_metric_text(METRIC_LOAD, s->ui->network.colour_high[METRIC_LOAD] * most)
                    .text) +
            22;
    tiers_format_tiers(s->model->network.topology, tiers, sizeof tiers);
    if (d->lines.drawn_count < d->lines.count && is_tree)
        snprintf(lines, sizeof lines, "; where links share a pixel, the fullest is drawn");
    else if (d->lines.drawn_count < d->lines.count)
        snprintf(lines, sizeof lines, "; the %s fullest of %s links",
                 quantity_grouped(TIER_LINES).text, quantity_grouped(d->lines.count).text);
    scene_textf(s->brush.scene, box.x + 14, box.y + 4, box.w - 28, TEXT_SMALL, TEXT_CLAUSES,
                t->text, "%s%s", d->sentence, lines);
    scene_textf(s->brush.scene, box.x + 14, box.y + 22, right - box.x - 20, TEXT_AXIS, TEXT_CLAUSES,
                t->second, "%s%scolour of a node: its lowest rank; grey: it has none%s", tiers,
                tiers[0] ? "; " : "",
                topology_is_cray_xc(topology_spec(s->model->network.topology))
                    ? "; coloured frame: a column (cabinet), frame around two: a group"
                    : "");
}

int tiers_layout(struct stage *s, struct box box)
{
    const struct network *n = &s->model->network;
    if (!n->topology || !topology_has_tiers(n->topology))
        return 0;
    if (piece_no_network(s, box))
        return 1;
    if (!s->pictures->tiers && !(s->pictures->tiers = calloc(1, sizeof *s->pictures->tiers)))
        return 0;
    struct tiers_drawing *d = s->pictures->tiers;
    const struct box plot = {floor(box.x + 10), floor(box.y + HEAD + 4), floor(box.w - 20),
                             floor(box.h - HEAD - FOOT - 8)};
    piece_panel(s, box, "tiers");
    if (plot.w < 60 || plot.h < 60 || tiers_update_used(d, s) < 0 || tiers_update_lines(d, s) < 0 ||
        tiers_update_plan(d, s, plot) < 0)
        return 1;
    const struct camera *camera = &s->ui->torus.plane;
    const struct section k = {plot, camera->zoom, camera->zoom, camera->x, camera->y};
    tiers_update_strokes(d, s, &k);
    tiers_add_head(d, s, box);
    tiers_add_foot(d, s, (struct box){box.x, box.y + box.h - FOOT, box.w, FOOT});
    scene_panel(s->brush.scene, plot, 0, "tiers.plot");
    scene_overlay(s->brush.scene);
    strokes_draw(&d->strokes, s->brush.scene, plot, s->brush.theme->panel);
    section_hit(&k, s->brush.scene, HIT_TORUS, 0);
    tiers_add_boxes(d, s, &k);
    tiers_add_levels(d, s, &k);
    tier_names_add(&d->plan, s, &k);
    tiers_point_at(d, s, &k);
    return 1;
}

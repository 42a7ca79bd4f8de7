/* View "regions": the graph of rank regions (PCLVis, Fig. 4). Ranks that communicate more with each
 * other than with others are close together; edges are bundled; colour is the region or the
 * latency. */
#include "viewer/views/views.h"

#include "holter/plain_text.h"
#include "viewer/layout/bundle.h"
#include "viewer/layout/format.h"
#include "viewer/layout/mix.h"
#include "viewer/layout/section.h"
#include "viewer/views/alerts/evidence.h"
#include "viewer/views/common/pieces.h"
#include "viewer/views/live/view_live_parts.h"
#include "viewer/views/regions/marks.h"
#include "viewer/views/regions/rank_graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Work done in one frame: a few milliseconds each. */
enum { LAYOUT_UNITS = 120000, BUNDLE_UNITS = 80000 };

enum {
    HEAD = 40,
    HOVER_EDGES = 48, /* maximum number of edges drawn for the vertex under the mouse */
    HOVER_POINTS = 20,
};

static const double region_slow = 1.5; /* relative latency from which a region's figure is red */

struct regions_picture {
    struct rank_graph now, next; /* the visible graph, and the one whose layout is in progress */
    struct bundle bundle;        /* picture of the edges */
    uint64_t drawn_key, making_key;
    struct box drawn, making; /* section of the graph that the pictures show */
};

static void regions_picture_destroy(struct regions_picture *p)
{
    if (!p)
        return;
    rank_graph_finish(&p->now);
    rank_graph_finish(&p->next);
    bundle_finish(&p->bundle);
    free(p);
}

/* Fit the bounding box of the graph's groups into the plot. */
static struct section regions_view_fit_graph(const struct stage *s, const struct graph *g,
                                             struct box plot)
{
    double w = 0.05, h = 0.05;
    for (uint32_t i = 0; i < g->group_count; i++) {
        w = fmax(w, 2 * (fabs(g->groups[i].x) + g->groups[i].radius));
        h = fmax(h, 2 * (fabs(g->groups[i].y) + g->groups[i].radius));
    }
    double unit = fmax(fmin((plot.w - 60) / w, (plot.h - 72) / h), 1) * s->ui->regions.camera.zoom;
    return (struct section){plot, unit, unit, s->ui->regions.camera.x, s->ui->regions.camera.y};
}

/* ---- what is shown ---- */

/* Begin a new layout when ranks, regions or pairs changed; the previous graph stays visible until
 * it is complete. */
static struct regions_picture *regions_view_arrange(struct stage *s)
{
    struct pictures *pictures = s->pictures;
    if (!pictures->regions && !(pictures->regions = calloc(1, sizeof *pictures->regions)))
        return NULL;
    struct regions_picture *p = pictures->regions;
    uint64_t key = rank_graph_key(s->model, s->ui->regions.open);
    int error = 0;
    if (key != p->now.key && !p->next.key)
        error = rank_graph_build(&p->next, &p->now, s->model, s->ui->regions.open);
    if (p->next.key && !graph_work(&p->next.graph, LAYOUT_UNITS)) {
        rank_graph_finish(&p->now);
        p->now = p->next;
        p->next = (struct rank_graph){0};
    }
    pictures->busy |= p->next.key != 0 || (key != p->now.key && !error);
    if (p->now.key && rank_graph_figures(&p->now, s->range, s->quantity) < 0)
        return NULL;
    return p;
}

/* ---- edges ---- */

static uint64_t regions_view_compute_edges_key(const struct stage *s, const struct rank_graph *n,
                                               const struct section *v)
{
    uint64_t key =
        mix_number(mix_number(n->key, n->figures_version), (uint64_t)s->ui->regions.colour);
    key = mix_number(mix_number(key, (uint64_t)s->ui->theme), (uint64_t)s->ui->selection.kind);
    key = mix_number(mix_number(key, s->ui->selection.a), s->ui->selection.b);
    key = mix_real(mix_real(key, v->ux), s->brush.scene->scale);
    key = mix_real(mix_real(key, v->box.w), v->box.h);
    return mix_real(mix_real(key, v->cx), v->cy);
}

static color_t regions_view_edge_color(const struct stage *s, const struct rank_graph *n,
                                       const struct graph_edge *e)
{
    if (s->ui->regions.colour == COLOUR_LATENCY)
        return theme_latency(s->brush.theme,
                             fmax(n->vertex_ratios[e->a].mean, n->vertex_ratios[e->b].mean));
    color_t a = marks_color(s, n, e->a), b = marks_color(s, n, e->b);
    return n->vertices[e->a].group == n->vertices[e->b].group
               ? a
               : color_mix(color_mix(a, b, 0.5), s->brush.theme->second, 0.25);
}

/* An edge in pixels of a picture whose top left is at the view's; k pixels for each logical pixel.
 */
static struct bundle_edge regions_view_make_curve(const struct rank_graph *n,
                                                  const struct section *v,
                                                  const struct graph_edge *e, double k)
{
    const struct graph_vertex *a = &n->graph.vertices[e->a], *b = &n->graph.vertices[e->b];
    struct bundle_edge edge = {0};
    edge.at[0] =
        (struct point){(section_x(v, a->x) - v->box.x) * k, (section_y(v, a->y) - v->box.y) * k};
    edge.at[3] =
        (struct point){(section_x(v, b->x) - v->box.x) * k, (section_y(v, b->y) - v->box.y) * k};
    if (a->group != b->group) {
        const struct graph_group *p = &n->graph.groups[a->group], *q = &n->graph.groups[b->group];
        bundle_bend(&edge,
                    (struct point){(section_x(v, p->x) - v->box.x) * k,
                                   (section_y(v, p->y) - v->box.y) * k},
                    (struct point){(section_x(v, q->x) - v->box.x) * k,
                                   (section_y(v, q->y) - v->box.y) * k});
        return edge;
    }
    for (int i = 1; i < 3; i++) {
        edge.at[i].x = edge.at[0].x + (edge.at[3].x - edge.at[0].x) * i / 3;
        edge.at[i].y = edge.at[0].y + (edge.at[3].y - edge.at[0].y) * i / 3;
    }
    return edge;
}

static void regions_view_begin_edges(const struct stage *s, struct regions_picture *p,
                                     const struct section *v)
{
    double k = s->brush.scene->scale;
    const struct rank_graph *n = &p->now;
    if (bundle_begin(&p->bundle, (int)lround(v->box.w * k), (int)lround(v->box.h * k),
                     s->brush.theme->panel) < 0)
        return;
    int some = marks_some_chosen(s);
    for (uint32_t i = 0; i < n->edge_count; i++) {
        const struct graph_edge *e = &n->graph.edges[i];
        if (!(n->edge_values[i] > 0))
            continue;
        struct bundle_edge edge = regions_view_make_curve(n, v, e, k);
        edge.color = regions_view_edge_color(s, n, e);
        /* weak edges are many: as strong as the others they would be a haze over the graph */
        edge.weight = (float)fmax(sqrt(n->edge_values[i] / n->most), 0.08);
        if (some && !marks_chosen(s, &n->vertices[e->a]) && !marks_chosen(s, &n->vertices[e->b])) {
            edge.weight *= 0.25f;
            edge.color = s->brush.theme->faint;
        }
        bundle_add(&p->bundle, &edge);
    }
    bundle_start(&p->bundle);
    p->making_key = regions_view_compute_edges_key(s, n, v);
    p->making = section_of_plane(v);
}

/* Draw the last finished picture at its present position, and do a part of the next one. */
static void regions_view_draw_edges(struct stage *s, struct regions_picture *p,
                                    const struct section *v)
{
    uint64_t key = regions_view_compute_edges_key(s, &p->now, v);
    if (key != p->drawn_key && !p->bundle.busy)
        regions_view_begin_edges(s, p, v);
    if (p->bundle.busy && !bundle_work(&p->bundle, BUNDLE_UNITS)) {
        p->drawn_key = p->making_key;
        p->drawn = p->making;
    }
    s->pictures->busy |= p->bundle.busy || key != p->drawn_key;
    if (p->bundle.image.pixels)
        section_image(v, s->brush.scene, p->drawn, &p->bundle.image);
}

/* Draw the edges of the vertex under the mouse one by one. */
static void regions_view_draw_hover_edges(const struct stage *s, const struct rank_graph *n,
                                          const struct section *v, uint32_t at)
{
    uint32_t drawn = 0;
    for (uint32_t i = 0; i < n->edge_count && drawn < HOVER_EDGES; i++) {
        const struct graph_edge *e = &n->graph.edges[i];
        if ((e->a != at && e->b != at) || !(n->edge_values[i] > 0))
            continue;
        struct bundle_edge c = regions_view_make_curve(n, v, e, 1);
        scene_points(s->brush.scene);
        for (int k = 0; k <= HOVER_POINTS; k++) {
            const struct point p = bundle_point(c.at, (double)k / HOVER_POINTS);
            scene_point(s->brush.scene, v->box.x + p.x, v->box.y + p.y);
        }
        scene_curve(s->brush.scene, 1.2, color_fade(s->brush.theme->text, 0.7));
        drawn++;
    }
}

/* ---- vertices ---- */

static uint32_t regions_view_vertex_under_mouse(const struct stage *s, const struct rank_graph *n,
                                                const struct section *v)
{
    uint32_t best = NETWORK_NONE;
    double nearest = INFINITY;
    if (!box_has(v->box, s->brush.mouse_x, s->brush.mouse_y) || s->ui->mouse.dragging)
        return best;
    for (uint32_t i = 0; i < n->vertex_count; i++) {
        const struct graph_vertex *p = &n->graph.vertices[i];
        double d =
            hypot(section_x(v, p->x) - s->brush.mouse_x, section_y(v, p->y) - s->brush.mouse_y);
        if (d <= fmax(marks_radius(p, v), 4) && d < nearest) {
            nearest = d;
            best = i;
        }
    }
    return best;
}

static void regions_view_add_vertex_hit(const struct stage *s, const struct rank_graph *n,
                                        uint32_t i, double x, double y, double r)
{
    const struct rank_graph_vertex *v = &n->vertices[i];
    double reach = fmax(r, 4);
    struct box box = {x - reach, y - reach, 2 * reach, 2 * reach};
    if (v->unit == UNIT_RANK)
        scene_hit(s->brush.scene, box, HIT_RANK, v->rank, 0);
    else if (v->region)
        scene_hit(s->brush.scene, box, HIT_BUTTON, COMMAND_GRAPH_OPEN, v->region);
}

/* The culprit of an alert has a red ring, a rank that it delays a thin yellow one. */
static void regions_view_add_role(const struct stage *s, enum marks_role role, double x, double y,
                                  double r)
{
    const struct theme *t = s->brush.theme;
    double wide = role == ROLE_CULPRIT ? r + 4 : r + 2;
    if (role == ROLE_NONE)
        return;
    scene_disc(s->brush.scene, x, y, wide, role == ROLE_CULPRIT ? t->bad : t->warn);
    if (role == ROLE_CULPRIT)
        scene_disc(s->brush.scene, x, y, r + 1.8, t->panel);
}

static void regions_view_draw_vertices(const struct stage *s, const struct rank_graph *n,
                                       const struct section *v, uint32_t under)
{
    const struct theme *t = s->brush.theme;
    int some = marks_some_chosen(s);
    const struct alert *alert = evidence_alert(s);
    for (uint32_t i = 0; i < n->vertex_count; i++) {
        const struct graph_vertex *p = &n->graph.vertices[i];
        double x = section_x(v, p->x), y = section_y(v, p->y), r = marks_radius(p, v);
        if (!section_shows(v, x, y, r))
            continue;
        color_t color = marks_disc_color(s, n, i);
        int chosen = some && marks_chosen(s, &n->vertices[i]);
        if (chosen &&
            (s->ui->selection.kind == SELECT_RANK || s->ui->selection.kind == SELECT_PAIR))
            scene_disc(s->brush.scene, x, y, r + 3, t->text);
        else if (r > 2.4) /* a thin rim separates it from the edges */
            scene_disc(s->brush.scene, x, y, r + 0.8, color_fade(t->panel, 0.85));
        regions_view_add_role(s, marks_role(alert, n, i), x, y, r);
        scene_disc(s->brush.scene, x, y, r, color);
        regions_view_add_vertex_hit(s, n, i, x, y, r);
    }
    if (under == NETWORK_NONE)
        return;
    const struct graph_vertex *p = &n->graph.vertices[under];
    double r = marks_radius(p, v);
    scene_disc(s->brush.scene, section_x(v, p->x), section_y(v, p->y), r + 2.5, t->text);
    scene_disc(s->brush.scene, section_x(v, p->x), section_y(v, p->y), r + 0.5,
               marks_color(s, n, under));
}

/* ---- labels ---- */

static void regions_view_add_label(const struct stage *s, const struct rank_graph *n, uint32_t g,
                                   struct box box, const char *name, const char *what)
{
    const struct theme *t = s->brush.theme;
    uint64_t region = n->groups[g].region;
    int chosen = s->ui->selection.kind == SELECT_REGION && s->ui->selection.a == region;
    scene_rect(s->brush.scene, box, 4, color_fade(chosen ? t->raised : t->panel, 0.86));
    scene_rect(s->brush.scene, (struct box){box.x + 5, box.y + 7, 7, 7}, 2,
               s->ui->regions.colour == COLOUR_LATENCY ? theme_latency(t, n->group_ratios[g].mean)
                                                       : theme_region(t, region));
    double used = scene_text(s->brush.scene, box.x + 16, box.y + 2, box.w - 20, TEXT_SMALL_STRONG,
                             0, t->text, name);
    scene_text(s->brush.scene, box.x + 22 + used, box.y + 3, box.w - 24 - used, TEXT_AXIS, 0,
               n->group_ratios[g].mean >= region_slow ? t->bad : t->second, what);
    scene_hit(s->brush.scene, box, HIT_REGION, region, 0);
}

/* A group drawn as a single disc has its number on the disc. */
static int regions_view_add_disc_number(const struct stage *s, const struct rank_graph *n,
                                        const struct section *v, uint32_t g, uint32_t vertex)
{
    const struct graph_vertex *p = &n->graph.vertices[vertex];
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)n->groups[g].region);
    double w = scene_width(s->brush.scene, TEXT_AXIS_STRONG, TEXT_FIGURES, text);
    double x = section_x(v, p->x), y = section_y(v, p->y), r = marks_radius(p, v);
    if (r < 8 || w > 2 * r - 4 || !section_shows(v, x, y, 0))
        return 0;
    scene_text(s->brush.scene, x - r, y - 7, 2 * r, TEXT_AXIS_STRONG, TEXT_CENTRE | TEXT_FIGURES,
               theme_on(marks_disc_color(s, n, vertex)), text);
    return 1;
}

/* Candidate positions of a label beside a disc, the one that faces away from the centre of the
 * graph first. */
static void regions_view_label_places(const struct graph_group *p, const struct section *v,
                                      double w, struct box *out)
{
    double x = section_x(v, p->x), y = section_y(v, p->y), r = p->radius * v->ux;
    const struct box above = {x - w / 2, y - r - 22, w, 20}, below = {x - w / 2, y + r + 2, w, 20},
                     right = {x + r + 4, y - 10, w, 20}, left = {x - r - w - 4, y - 10, w, 20};
    out[0] = p->y < 0 ? above : below;
    out[1] = p->x < 0 ? left : right;
    out[2] = p->x < 0 ? right : left;
    out[3] = p->y < 0 ? below : above;
    if (fabs(p->x) > 1.6 * fabs(p->y)) {
        struct box first = out[0];
        out[0] = out[1];
        out[1] = first;
    }
}

enum { PLACES = 4 };

static void regions_view_place_label(const struct stage *s, const struct rank_graph *n,
                                     const struct section *v, uint32_t g, struct box *taken,
                                     uint32_t *count)
{
    char name[40], what[112];
    struct box places[PLACES];
    snprintf(name, sizeof name, "region %llu", (unsigned long long)n->groups[g].region);
    struct quantity ratio = format_ratio(n->group_ratios[g].mean);
    if (n->group_count > 16)
        snprintf(what, sizeof what, "%s", ratio.text);
    else
        snprintf(what, sizeof what, "%s ranks, %s", quantity_grouped(n->groups[g].ranks).text,
                 ratio.text);
    double w = ceil(scene_width(s->brush.scene, TEXT_SMALL_STRONG, 0, name) +
                    scene_width(s->brush.scene, TEXT_AXIS, 0, what) + 30);
    regions_view_label_places(&n->graph.groups[g], v, w, places);
    for (size_t i = 0; i < PLACES; i++) {
        places[i].x = floor(places[i].x);
        places[i].y = floor(places[i].y);
        if (!box_is_free(places[i], v->box, taken, *count))
            continue;
        regions_view_add_label(s, n, g, places[i], name, what);
        taken[(*count)++] = places[i];
        return;
    }
}

/* Name and latency beside each group where nothing is covered; the selected group and groups with
 * high latency are placed first. */
static void regions_view_add_labels(const struct stage *s, const struct rank_graph *n,
                                    const struct section *v)
{
    struct marks_labels labels = {.count = 0};
    struct box *taken = labels.taken;
    uint32_t count = 0, vertices[NETWORK_GROUPS] = {0};
    for (uint32_t i = 0; i < n->vertex_count; i++)
        vertices[n->vertices[i].group] = i;
    for (uint32_t g = 0; g < n->group_count; g++) {
        const struct graph_group *p = &n->graph.groups[g];
        double r = p->radius * v->ux * 0.8;
        taken[count++] = (struct box){section_x(v, p->x) - r, section_y(v, p->y) - r, 2 * r, 2 * r};
    }
    for (int urgent = 1; urgent >= 0; urgent--) {
        for (uint32_t g = 0; g < n->group_count; g++) {
            uint64_t region = n->groups[g].region;
            int chosen = s->ui->selection.kind == SELECT_REGION && s->ui->selection.a == region;
            int single = n->vertices[vertices[g]].ranks == n->groups[g].ranks;
            if (!region || urgent != (chosen || n->group_ratios[g].mean >= region_slow))
                continue;
            int named = single && regions_view_add_disc_number(s, n, v, g, vertices[g]);
            if (urgent || !named)
                regions_view_place_label(s, n, v, g, taken, &count);
        }
    }
    /* numbers and names of nodes may lie within the discs of groups */
    labels.count = count - n->group_count;
    memmove(taken, taken + n->group_count, labels.count * sizeof *taken);
    marks_add_labels(s, n, v, &labels);
}

/* ---- what the mouse is over ---- */

static void regions_view_add_region_tip(struct stage *s, const struct rank_graph *n,
                                        uint64_t region)
{
    char text[96];
    uint32_t g = 0;
    while (g < n->group_count && n->groups[g].region != region)
        g++;
    if (g == n->group_count)
        return;
    tooltip_add(&s->tip, 0, "region %llu, %s ranks", (unsigned long long)region,
                quantity_grouped(n->groups[g].ranks).text);
    latency_region_ranks(&s->model->latency, region, s->model->group, s->model->world, text,
                         sizeof text);
    tooltip_add(&s->tip, 0, "ranks %s", text);
    if (!isnan(n->group_ratios[g].mean))
        tooltip_add(&s->tip, s->brush.theme->text, "latency %s the reference",
                    format_ratio_within(n->group_ratios[g].mean, n->group_ratios[g].error).text);
    tooltip_add(&s->tip, 0, n->unit == UNIT_RANK ? "click: select" : "double click: its ranks");
}

static void regions_view_add_vertex_tip(struct stage *s, const struct rank_graph *n, uint32_t i)
{
    const struct rank_graph_vertex *v = &n->vertices[i];
    if (v->unit == UNIT_RANK) {
        piece_rank_tip(s, v->rank);
        return;
    }
    const char *host = v->host < s->model->host_count ? s->model->hosts[v->host].name : NULL;
    tooltip_add(&s->tip, 0, host ? "%u ranks on %s" : "%u ranks", v->ranks, host);
    if (v->region)
        tooltip_add(&s->tip, 0, "of region %llu", (unsigned long long)v->region);
    if (!isnan(n->vertex_ratios[i].mean))
        tooltip_add(&s->tip, s->brush.theme->text, "latency %s the reference",
                    format_ratio_within(n->vertex_ratios[i].mean, n->vertex_ratios[i].error).text);
    if (v->region)
        tooltip_add(&s->tip, 0, "click: the region's ranks one by one");
}

/* ---- the panel ---- */

/* Of which time the latency is, where that is not the time of the edges, which the title has: of a
 * past span there may be figures of ranks only. */
static const char *regions_view_latency_time(const struct stage *s, const struct rank_graph *n,
                                             char *out, size_t capacity)
{
    struct quantity edges = piece_pairs_range_text(s), ranks = piece_range_text(s);
    const struct quantity part = piece_latency_part(s);
    int known = 0;
    for (uint32_t g = 0; g < n->group_count && !known; g++)
        known = !isnan(n->group_ratios[g].mean);
    out[0] = 0;
    if (!known && evolution_known(s->model))
        snprintf(out, capacity, " No latency is known of %s.",
                 s->range->kind == RANGE_START ? "the ranks" : ranks.text);
    else if (known && part.text[0])
        snprintf(out, capacity, " Latency:%s, as far as it was received.", part.text);
    else if (known && strcmp(edges.text, ranks.text) != 0)
        snprintf(out, capacity, " Latency: %s.", ranks.text);
    return out;
}

/* @return the height of the footnote, at the end of the panel */
static double regions_view_add_footnote(const struct stage *s, const struct rank_graph *n,
                                        struct box panel)
{
    char text[480], time[120];
    const char *unit = n->unit == UNIT_NODE ? "node and region" : "region";
    uint64_t together = s->model->latency.ranks_together;
    uint32_t regions = s->model->latency.region_count;
    struct quantity ranks = quantity_grouped(n->rank_count),
                    count = quantity_grouped(n->vertex_count);
    if (n->unit == UNIT_RANK)
        snprintf(text, sizeof text, "Each disc is %s; edges add up where they run together.",
                 s->model->group > 1 ? "a group of ranks" : "a rank");
    else if (n->opened)
        snprintf(text, sizeof text,
                 "%s ranks as %s discs: the opened region's one by one, others by %s.", ranks.text,
                 count.text, unit);
    else
        snprintf(text, sizeof text,
                 "%s ranks as %s discs, one for each %s; click one for its ranks.", ranks.text,
                 count.text, unit);
    if (n->edge_count && !(n->most > 0))
        text_append(text, sizeof text, " No messages in this span of time.");
    if (s->ui->regions.colour == COLOUR_REGION && regions)
        text_append(text, sizeof text, " Colour: region%s; red figure: from %s.",
                    regions > THEME_REGIONS
                        ? quantity_print(", grey after the first %d", THEME_REGIONS).text
                        : "",
                    format_ratio(region_slow).text);
    text_append(text, sizeof text, "%s", regions_view_latency_time(s, n, time, sizeof time));
    const struct alert *alert = evidence_alert(s);
    if (alert && (alert->span_count || alert->rank >= 0))
        text_append(text, sizeof text, " Red ring: what alert %llu names%s.",
                    (unsigned long long)alert->id,
                    alert->victims[0] ? "; yellow: ranks it delays" : "");
    if (together > 1)
        text_append(text, sizeof text, " For the regions %llu ranks of a node are one vertex.",
                    (unsigned long long)together);
    double w = panel.w - 28, h = scene_paragraph_height(s->brush.scene, w, TEXT_AXIS, 2, text);
    scene_paragraph(s->brush.scene, panel.x + 14, panel.y + panel.h - h - 9, w, TEXT_AXIS,
                    s->brush.theme->second, 2, text);
    return h + 14;
}

static void regions_view_add_head(const struct stage *s, const struct rank_graph *n, struct box box)
{
    static const char *const labels_of[] = {"region", "latency"};
    char what[160];
    double right = box.x + box.w - 12;
    right -= widget_choice(&s->brush, right, box.y + 7, labels_of, 2, (int)s->ui->regions.colour,
                           COMMAND_COLOUR) +
             12;
    if (!camera_is_home(&s->ui->regions.camera))
        right -=
            widget_button(&s->brush, right - 76, box.y + 7, "whole job", 0, COMMAND_GRAPH_ALL, 0) +
            8;
    if (n && n->opened)
        right -=
            widget_button(&s->brush, right - 62, box.y + 7, "close", 0, COMMAND_GRAPH_OPEN, 0) + 8;
    if (s->ui->regions.colour == COLOUR_LATENCY && right - box.x > 420)
        right -= widget_latency_legend(&s->brush, right, box.y + 12) + 12;
    struct quantity range = piece_pairs_range_text(s);
    uint32_t regions = s->model->latency.region_count;
    if (regions)
        snprintf(what, sizeof what, "%s of ranks that communicate most, %s",
                 quantity_things(regions, "group").text, range.text);
    else
        snprintf(what, sizeof what, "%s; %s",
                 model_ended(s->model) ? "none was found" : "none is known yet", range.text);
    widget_title(&s->brush, box.x + 12, box.y + 8, right - box.x - 12, "Regions", what);
}

static void regions_view_add_group_hits(const struct stage *s, const struct rank_graph *n,
                                        const struct section *v)
{
    for (uint32_t g = 0; g < n->group_count; g++) {
        const struct graph_group *p = &n->graph.groups[g];
        double r = p->radius * v->ux, x = section_x(v, p->x), y = section_y(v, p->y);
        if (n->groups[g].region && section_shows(v, x, y, r)) /* the square inscribed in the disc */
            scene_hit(s->brush.scene, (struct box){x - r * 0.75, y - r * 0.75, r * 1.5, r * 1.5},
                      HIT_REGION, n->groups[g].region, 0);
    }
}

static void regions_view_draw_graph(struct stage *s, struct regions_picture *p, struct box plot)
{
    const struct rank_graph *n = &p->now;
    struct section v = regions_view_fit_graph(s, &n->graph, plot);
    scene_panel(s->brush.scene, plot, s->brush.theme->panel, "regions.plot");
    scene_overlay(s->brush.scene);
    section_hit(&v, s->brush.scene, HIT_GRAPH, 0);
    regions_view_add_group_hits(s, n, &v);
    regions_view_draw_edges(s, p, &v);
    marks_add_hulls(s, n, &v);
    uint32_t under = regions_view_vertex_under_mouse(s, n, &v);
    if (under != NETWORK_NONE)
        regions_view_draw_hover_edges(s, n, &v, under);
    regions_view_draw_vertices(s, n, &v, under);
    regions_view_add_labels(s, n, &v);
    if (under != NETWORK_NONE)
        regions_view_add_vertex_tip(s, n, under);
    else if (s->hover && s->hover->kind == HIT_REGION && !s->ui->mouse.dragging &&
             box_has(plot, s->brush.mouse_x, s->brush.mouse_y))
        regions_view_add_region_tip(s, n, s->hover->a);
}

static void regions_layout(struct stage *s, struct box box)
{
    struct box panel = box_inset(box, 14, 10);
    struct regions_picture *p = regions_view_arrange(s);
    const struct rank_graph *n = p && p->now.vertex_count ? &p->now : NULL;
    piece_panel(s, panel, "regions");
    regions_view_add_head(s, n, panel);
    struct box plot = {panel.x + 6, panel.y + HEAD, panel.w - 12, panel.h - HEAD};
    if (!n) {
        int some = s->model->rank_count > 0;
        piece_empty(s, plot,
                    some                    ? "Arranging the ranks"
                    : model_ended(s->model) ? "No figures of single ranks"
                                            : "No figures of single ranks yet",
                    NULL);
        return;
    }
    plot.h -= regions_view_add_footnote(s, n, panel);
    if (plot.h >= 60)
        regions_view_draw_graph(s, p, plot);
}

static void regions_view_finish(struct pictures *pictures)
{
    regions_picture_destroy(pictures->regions);
    pictures->regions = NULL;
}

const struct view regions_view = {.layout = regions_layout, .finish = regions_view_finish};

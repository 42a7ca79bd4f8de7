/* Hulls of nodes, numbers of ranks, and what an alert names. */
#include "viewer/views/regions/marks.h"

#include "holter/order.h"
#include "proto/rank_spans.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    HULL_HOSTS = 64,   /* of jobs with more nodes no hulls are drawn */
    HULL_CORNERS = 8,  /* points around each disc */
    HULL_RANKS = 256,  /* of one node in one region */
    NUMBER_RADIUS = 8, /* of a disc that has its number on it, logical pixels */
    NODE_LABEL_H = 16,
};

double marks_radius(const struct graph_vertex *v, const struct section *view)
{
    return fmin(fmax(v->radius * view->ux, 1.6), v->weight > 1 ? 40 : 18);
}

/* ---- colours, by what is selected ---- */

color_t marks_color(const struct stage *s, const struct rank_graph *n, uint32_t i)
{
    return s->ui->regions.colour == COLOUR_LATENCY
               ? theme_latency(s->brush.theme, n->vertex_ratios[i].mean)
               : theme_region(s->brush.theme, n->vertices[i].region);
}

int marks_chosen(const struct stage *s, const struct rank_graph_vertex *v)
{
    const struct selection *sel = &s->ui->selection;
    if (v->unit != UNIT_RANK && sel->kind == SELECT_REGION)
        return v->region == sel->a;
    if (v->unit == UNIT_NODE && sel->kind == SELECT_NODE)
        return v->host == sel->a;
    return ui_marks_rank(s->ui, s->model, v->rank);
}

int marks_some_chosen(const struct stage *s)
{
    return s->ui->selection.kind != SELECT_NONE && s->ui->selection.kind != SELECT_CALL;
}

color_t marks_disc_color(const struct stage *s, const struct rank_graph *n, uint32_t i)
{
    color_t color = marks_color(s, n, i);
    if (marks_some_chosen(s) && !marks_chosen(s, &n->vertices[i]))
        return color_mix(color, s->brush.theme->panel, 0.68);
    return color;
}

/* ---- hulls ---- */

ORDER_FUNCTION(marks_compare_points, struct point, 2 * ORDER(a->x, b->x) + ORDER(a->y, b->y))

static double marks_cross(struct point o, struct point a, struct point b)
{
    return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x);
}

/* The convex hull of points, which it sorts (A. M. Andrew, "Another efficient algorithm for convex
 * hulls in two dimensions", 1979). @param hull  room for count + 1 points @return its points */
static uint32_t marks_hull(struct point *points, uint32_t count, struct point *hull)
{
    uint32_t n = 0;
    qsort(points, count, sizeof *points, marks_compare_points);
    for (int upper = 0; upper < 2; upper++) {
        uint32_t begin = n;
        for (uint32_t i = 0; i < count; i++) {
            struct point p = points[upper ? count - 1 - i : i];
            while (n >= begin + 2 && marks_cross(hull[n - 2], hull[n - 1], p) <= 0)
                n--;
            hull[n++] = p;
        }
        n--; /* the last point begins the other half */
    }
    return n;
}

/* A hull of the ranks of one node in one region. @return its points, 0: there are none */
static uint32_t marks_node_hull(const struct rank_graph *n, const struct section *v, uint32_t host,
                                uint32_t group, struct point *points, struct point *hull)
{
    uint32_t count = 0, ranks = 0;
    for (uint32_t i = 0; i < n->vertex_count && ranks < HULL_RANKS; i++) {
        const struct graph_vertex *p = &n->graph.vertices[i];
        if (n->vertices[i].unit != UNIT_RANK || n->vertices[i].host != host ||
            n->vertices[i].group != group)
            continue;
        ranks++;
        double r = marks_radius(p, v) + 5;
        for (int k = 0; k < HULL_CORNERS; k++) {
            double a = 2 * acos(-1) * k / HULL_CORNERS;
            points[count++] =
                (struct point){section_x(v, p->x) + r * cos(a), section_y(v, p->y) + r * sin(a)};
        }
    }
    return ranks > 1 ? marks_hull(points, count, hull) : 0;
}

/* Called for each hull with its points. */
typedef void marks_visit(const struct stage *stage, const struct section *view, uint32_t host,
                         const struct point *hull, uint32_t count, void *user);

static void marks_each_hull(const struct stage *s, const struct rank_graph *n,
                            const struct section *v, marks_visit *visit, void *user)
{
    uint32_t hosts = s->model->host_count;
    struct point points[HULL_RANKS * HULL_CORNERS], hull[2 * HULL_RANKS * HULL_CORNERS + 2];
    if (n->unit != UNIT_RANK || hosts > HULL_HOSTS || hosts < 2 || n->group_count > HULL_HOSTS)
        return;
    for (uint32_t group = 0; group < n->group_count; group++) {
        for (uint32_t host = 0; host < hosts; host++) {
            uint32_t count = marks_node_hull(n, v, host, group, points, hull);
            if (count)
                visit(s, v, host, hull, count, user);
        }
    }
}

static void marks_draw_hull(const struct stage *s, const struct section *v, uint32_t host,
                            const struct point *hull, uint32_t count, void *user)
{
    const struct theme *t = s->brush.theme;
    int chosen = ui_marks_node(s->ui, s->model, host);
    (void)v;
    (void)user;
    scene_shape(s->brush.scene, hull, count, color_fade(t->second, chosen ? 0.16 : 0.06));
    scene_points(s->brush.scene);
    for (uint32_t i = 0; i <= count; i++)
        scene_point(s->brush.scene, hull[i % count].x, hull[i % count].y);
    scene_curve(s->brush.scene, 1, color_fade(t->second, chosen ? 0.9 : 0.35));
}

void marks_add_hulls(const struct stage *s, const struct rank_graph *n, const struct section *v)
{
    marks_each_hull(s, n, v, marks_draw_hull, NULL);
}

/* ---- labels ---- */

static void marks_place_node(const struct stage *s, const struct section *v, uint32_t host,
                             const struct point *hull, uint32_t count, void *user)
{
    struct marks_labels *labels = user;
    const char *name = s->model->hosts[host].name;
    double w = ceil(scene_width(s->brush.scene, TEXT_AXIS, 0, name)) + 6;
    struct point top = hull[0], foot = hull[0], left = hull[0], right = hull[0];
    for (uint32_t i = 1; i < count; i++) {
        top = hull[i].y < top.y ? hull[i] : top;
        foot = hull[i].y > foot.y ? hull[i] : foot;
        left = hull[i].x < left.x ? hull[i] : left;
        right = hull[i].x > right.x ? hull[i] : right;
    }
    const struct point places[] = {{top.x - w / 2, top.y - NODE_LABEL_H - 1},
                                   {foot.x - w / 2, foot.y + 2},
                                   {right.x + 2, right.y - NODE_LABEL_H / 2.0},
                                   {left.x - w - 2, left.y - NODE_LABEL_H / 2.0}};
    for (size_t i = 0; i < sizeof places / sizeof *places && labels->count < MARKS_LABELS; i++) {
        struct box box = {floor(places[i].x), floor(places[i].y), w, NODE_LABEL_H};
        if (!box_is_free(box, v->box, labels->taken, labels->count))
            continue;
        labels->taken[labels->count++] = box;
        scene_text(s->brush.scene, box.x + 3, box.y + 1, w - 4, TEXT_AXIS, 0,
                   s->brush.theme->second, name);
        scene_hit(s->brush.scene, box, HIT_NODE, host, 0);
        return;
    }
}

void marks_add_labels(const struct stage *s, const struct rank_graph *n, const struct section *v,
                      struct marks_labels *labels)
{
    for (uint32_t i = 0; i < n->vertex_count; i++) {
        const struct graph_vertex *p = &n->graph.vertices[i];
        double r = marks_radius(p, v), x = section_x(v, p->x), y = section_y(v, p->y);
        char text[16];
        if (n->vertices[i].unit != UNIT_RANK || !section_shows(v, x, y, 0))
            continue;
        if (n->vertex_count <= MARKS_LABELS / 2 && labels->count < MARKS_LABELS)
            labels->taken[labels->count++] = (struct box){x - r, y - r, 2 * r, 2 * r};
        snprintf(text, sizeof text, "%u", n->vertices[i].rank);
        if (r < NUMBER_RADIUS ||
            scene_width(s->brush.scene, TEXT_AXIS_STRONG, TEXT_FIGURES, text) > 2 * r - 3)
            continue;
        scene_text(s->brush.scene, x - r, y - 7, 2 * r, TEXT_AXIS_STRONG,
                   TEXT_CENTRE | TEXT_FIGURES, theme_on(marks_disc_color(s, n, i)), text);
    }
    if (n->vertex_count <= MARKS_LABELS / 2)
        marks_each_hull(s, n, v, marks_place_node, labels);
}

/* ---- what an alert names ---- */

/* A vertex of several ranks is what its first rank is. */
enum marks_role marks_role(const struct alert *a, const struct rank_graph *n, uint32_t vertex)
{
    uint32_t rank = n->vertices[vertex].rank;
    if (!a)
        return ROLE_NONE;
    if (alert_has_rank(a, rank) || a->rank == (int64_t)rank)
        return ROLE_CULPRIT;
    return a->victims[0] && rank_spans_have(a->victims, rank) ? ROLE_VICTIM : ROLE_NONE;
}

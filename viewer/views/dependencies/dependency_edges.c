/* Messages as edges: all of them as one picture, bundled between columns, and some one by one. */
#include "viewer/views/dependencies/dependency_picture.h"

#include "viewer/layout/mix.h"

#include <math.h>

enum { BUNDLE_UNITS = 80000, CURVE_POINTS = 16, NODE_EDGES = 64 };

static color_t dependency_edges_color(const struct stage *s, double latency)
{
    return theme_latency(s->brush.theme, latency > 0 ? latency : NAN);
}

static uint64_t dependency_edges_key(const struct stage *s, const struct dependency_plot *p)
{
    const struct section *v = &p->v;
    uint64_t key =
        mix_number(mix_number(p->picture->graph_key, (uint64_t)p->steps), (uint64_t)s->ui->theme);
    key = mix_number(mix_number(key, (uint64_t)s->ui->selection.kind), s->ui->selection.a);
    key = mix_real(mix_number(key, s->ui->selection.b), s->brush.scene->scale);
    key = mix_real(mix_real(key, v->ux), v->uy);
    key = mix_real(mix_real(key, v->cx), v->cy);
    return mix_real(mix_real(key, v->box.w), v->box.h);
}

/* A curve that leaves and enters horizontally, so that edges between the same lanes run together.
 */
static void dependency_edges_bend(struct point at[4])
{
    double half = (at[3].x - at[0].x) / 2;
    at[1] = (struct point){at[0].x + half, at[0].y};
    at[2] = (struct point){at[3].x - half, at[3].y};
}

static void dependency_edges_begin(struct stage *s, const struct dependency_plot *p)
{
    struct dependency_picture *d = p->picture;
    const struct dependency_graph *g = d->graph;
    double k = s->brush.scene->scale;
    if (bundle_begin(&d->bundle, (int)lround(p->v.box.w * k), (int)lround(p->v.box.h * k),
                     s->brush.theme->panel) < 0)
        return;
    for (uint32_t i = 0; i < g->edge_count; i++) {
        const struct dependency_edge *e = &g->edges[i];
        struct point from = dependency_plot_event(p, e->send),
                     to = dependency_plot_event(p, e->receive);
        if (to.x < p->v.box.x || from.x > p->v.box.x + p->v.box.w ||
            fmax(from.y, to.y) < p->v.box.y || fmin(from.y, to.y) > p->v.box.y + p->v.box.h)
            continue;
        struct bundle_edge edge = {.color = dependency_edges_color(s, e->latency)};
        edge.at[0] = (struct point){(from.x - p->v.box.x) * k, (from.y - p->v.box.y) * k};
        edge.at[3] = (struct point){(to.x - p->v.box.x) * k, (to.y - p->v.box.y) * k};
        dependency_edges_bend(edge.at);
        edge.weight = (float)fmin(0.5 + 0.5 * log2((double)e->messages), 3);
        if (d->some_marked && !d->marked[g->nodes[e->from].lane] &&
            !d->marked[g->nodes[e->to].lane]) {
            edge.weight *= 0.25f;
            edge.color = s->brush.theme->faint;
        }
        bundle_add(&d->bundle, &edge);
    }
    bundle_start(&d->bundle);
    d->making_key = dependency_edges_key(s, p);
    d->making = section_of_plane(&p->v);
}

void dependency_edges_layout(struct stage *s, const struct dependency_plot *p)
{
    struct dependency_picture *d = p->picture;
    uint64_t key = dependency_edges_key(s, p);
    if (key != d->drawn_key && !d->bundle.busy)
        dependency_edges_begin(s, p);
    if (d->bundle.busy && !bundle_work(&d->bundle, BUNDLE_UNITS)) {
        d->drawn_key = d->making_key;
        d->drawn = d->making;
    }
    s->pictures->busy |= d->bundle.busy || key != d->drawn_key;
    if (d->bundle.image.pixels)
        section_image(&p->v, s->brush.scene, d->drawn, &d->bundle.image);
}

void dependency_edges_curve(struct stage *s, const struct dependency_plot *p, uint32_t from,
                            uint32_t to, double width, color_t color)
{
    struct point at[4];
    at[0] = dependency_plot_event(p, from);
    at[3] = dependency_plot_event(p, to);
    dependency_edges_bend(at);
    scene_points(s->brush.scene);
    for (int k = 0; k <= CURVE_POINTS; k++) {
        const struct point on = bundle_point(at, (double)k / CURVE_POINTS);
        scene_point(s->brush.scene, on.x, on.y);
    }
    scene_curve(s->brush.scene, width, color);
}

void dependency_edges_of_node(struct stage *s, const struct dependency_plot *p, uint32_t node)
{
    const struct dependency_graph *g = p->picture->graph;
    uint32_t drawn = 0;
    for (uint32_t i = 0; i < g->edge_count && drawn < NODE_EDGES; i++) {
        const struct dependency_edge *e = &g->edges[i];
        if (e->from != node && e->to != node)
            continue;
        dependency_edges_curve(s, p, e->send, e->receive, 1.4,
                               dependency_edges_color(s, e->latency));
        drawn++;
    }
}

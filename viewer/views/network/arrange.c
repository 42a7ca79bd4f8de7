/* Layout of the network's graph: building the wiring, positions by the spring layout, transitions.
 */
#include "viewer/views/network/view_network_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SPRING_SHARE = 400000, /* work done in one frame: a few milliseconds */
    GLIDE = 800,           /* above this number units jump to their positions */
};

static const double drift = 0.3; /* change of the weights, as a share, that triggers a new layout */
static const double glide = 0.35; /* share of the distance that a unit moves in a frame */

static void network_arrangement_finish(struct arrangement *a)
{
    wiring_finish(&a->wiring);
    spring_finish(&a->spring);
    free(a->at);
    free(a->weights);
    *a = (struct arrangement){0};
}

void network_drawing_destroy(struct network_drawing *d)
{
    if (!d)
        return;
    network_arrangement_finish(&d->now);
    network_arrangement_finish(&d->next);
    strokes_finish(&d->strokes);
    strokes_finish(&d->chosen);
    free(d->colors);
    free(d);
}

/* Whether positions are those of the other state: another network has its own. */
static int network_follows(const struct stage *s)
{
    return s->follows && !s->second;
}

/* ---- places ---- */

/* Attraction of an edge: its load as a share of all traffic of its ends, so that nodes and groups
 * are treated alike, and damped so that a heavy edge does not distort the picture.
 * @param weights  receives the weights by edge; equal for both directions of a link
 * @return 0 or -ENOMEM */
static int network_weigh(const struct wiring *w, double *weights)
{
    double *all = calloc(w->unit_count + 1u, sizeof *all);
    uint32_t links = 0;
    if (!all)
        return -ENOMEM;
    for (uint32_t e = 0; e < w->edge_count; e++) {
        all[w->edges[e].from] += (double)w->edges[e].bytes;
        all[w->edges[e].to] += (double)w->edges[e].bytes;
        links += w->edges[e].back == WIRING_NONE || w->edges[e].back > e;
    }
    double usual =
        2.0 * links / fmax(w->unit_count, 1); /* average number of neighbours of a unit */
    for (uint32_t e = 0; e < w->edge_count; e++) {
        const struct wiring_edge *edge = &w->edges[e];
        double bytes = (double)edge->bytes;
        if (edge->back != WIRING_NONE)
            bytes += (double)w->edges[edge->back].bytes;
        double part = bytes / fmax(sqrt(all[edge->from] * all[edge->to]), 1);
        weights[e] = fmin(fmax(sqrt(part * usual), 0.1), 3);
    }
    free(all);
    return 0;
}

/* Copy positions from one wiring to another: a unit begins at the centre of its vertices there;
 * units that were one unit before begin around its position. */
static void network_copy_places(const struct arrangement *to, const struct arrangement *from,
                                struct spring_vertex *vertices, uint32_t *order)
{
    const struct wiring *w = &to->wiring, *was = &from->wiring;
    if (!from->at)
        return;
    for (uint32_t v = 0; v < w->vertex_count && v < was->vertex_count; v++) {
        uint32_t u = w->unit_of[v], k = was->unit_of[v];
        if (u == WIRING_NONE || k == WIRING_NONE)
            continue;
        struct spring_vertex *s = &vertices[u];
        struct point at = from->at[k];
        if (was->units[k].vertices > 1 && w->units[u].vertices < was->units[k].vertices) {
            double j = order[k]++, r = 0.5 * sqrt(j) * from->spring.unit *
                                       sqrt((double)was->unit_count / w->unit_count);
            at.x += r * cos(2.4 * j);
            at.y += r * sin(2.4 * j);
        }
        s->known++;
        s->at.x += (at.x - s->at.x) / s->known;
        s->at.y += (at.y - s->at.y) / s->known;
    }
}

/* Whether only the what-if has changed: then nodes keep their positions, so that both states can be
 * compared. */
static int network_keeps_places(const struct arrangement *a, const struct arrangement *from)
{
    return from->at && from->spring.count && a->graph_version == from->graph_version &&
           a->network_version == from->network_version && a->what_if != from->what_if;
}

/* Moves a unit without a position to the middle of its neighbours that have one. */
static void network_place_between(const struct wiring *w, struct spring_vertex *v, uint32_t unit)
{
    struct point sum = {0};
    uint32_t count = 0;
    for (uint32_t e = 0; e < w->edge_count; e++) {
        uint32_t a = w->edges[e].from, b = w->edges[e].to, other = a == unit ? b : a;
        if ((a != unit && b != unit) || !v[other].known)
            continue;
        sum.x += v[other].at.x;
        sum.y += v[other].at.y;
        count++;
    }
    if (count)
        v[unit].at = (struct point){sum.x / count, sum.y / count};
}

/* Takes over the positions of another arrangement. @return 0 or -ENOMEM */
static int network_take_places(struct arrangement *a, const struct arrangement *from)
{
    const struct wiring *w = &a->wiring;
    struct spring_vertex *v = calloc(w->unit_count + 1u, sizeof *v);
    uint32_t *order = calloc(from->wiring.unit_count + 1u, sizeof *order);
    struct point *places = calloc(w->unit_count + 1u, sizeof *places);
    double *weights = calloc(w->edge_count + 1u, sizeof *weights);
    int error = v && order && places && weights ? network_weigh(w, weights) : -ENOMEM;
    if (!error) {
        network_copy_places(a, from, v, order);
        for (uint32_t i = 0; i < w->unit_count; i++)
            if (!v[i].known)
                network_place_between(w, v, i);
        for (uint32_t i = 0; i < w->unit_count; i++)
            places[i] = v[i].at;
        spring_finish(&a->spring);
        a->spring = (struct spring){.places = places,
                                    .count = w->unit_count,
                                    .unit = from->spring.unit,
                                    .half = from->spring.half,
                                    .version = from->spring.version + 1};
        free(a->weights);
        a->weights = weights;
    }
    free(v);
    free(order);
    free(error ? places : NULL);
    free(error ? weights : NULL);
    return error;
}

static int network_begin_places(struct arrangement *a, const struct arrangement *from)
{
    const struct wiring *w = &a->wiring;
    struct spring_vertex *vertices = calloc(w->unit_count + 1u, sizeof *vertices);
    struct spring_edge *edges = calloc(w->edge_count + 1u, sizeof *edges);
    double *weights = calloc(w->edge_count + 1u, sizeof *weights);
    uint32_t *order = calloc(from->wiring.unit_count + 1u, sizeof *order), count = 0;
    int error = vertices && edges && weights && order ? network_weigh(w, weights) : -ENOMEM;
    for (uint32_t i = 0; i < w->unit_count && !error; i++) {
        const struct wiring_unit *u = &w->units[i];
        int group = u->group != NETWORK_ALONE;
        vertices[i].key = group ? UINT64_C(1) << 32 | u->group : u->vertex;
        vertices[i].mass = group ? sqrt(u->vertices) : 1;
    }
    for (uint32_t e = 0; e < w->edge_count && !error; e++) {
        if (w->edges[e].back == WIRING_NONE || w->edges[e].back > e)
            edges[count++] = (struct spring_edge){w->edges[e].from, w->edges[e].to, weights[e]};
    }
    if (!error) {
        double grown =
            from->wiring.unit_count ? sqrt((double)w->unit_count / from->wiring.unit_count) : 1;
        network_copy_places(a, from, vertices, order);
        error = spring_set(&a->spring, vertices, w->unit_count, edges, count,
                           from->spring.unit / fmax(grown, 1), grown > 0.9 && grown < 1.1);
    }
    free(vertices);
    free(edges);
    free(order);
    free(error ? weights : a->weights);
    a->weights = error ? a->weights : weights;
    return error;
}

/* 1 if the loads changed so much that a new layout is due. */
static int network_drifted(const struct arrangement *a)
{
    const struct wiring *w = &a->wiring;
    double changed = 0, sum = 0, *weights = malloc((w->edge_count + 1u) * sizeof *weights);
    if (!weights || network_weigh(w, weights) < 0) {
        free(weights);
        return 0;
    }
    for (uint32_t e = 0; e < w->edge_count; e++) {
        changed += fabs(weights[e] - a->weights[e]);
        sum += a->weights[e];
    }
    free(weights);
    return changed > drift * sum;
}

/* Move units towards the positions of the spring layout. @return 1 while something moves */
static int network_move(struct arrangement *a)
{
    const struct spring *s = &a->spring;
    double most = 0;
    if (!s->count || s->count != a->wiring.unit_count || a->at_spring == s->version)
        return 0;
    int jump = !a->at || s->count > GLIDE;
    if (!a->at)
        a->at = calloc(s->count + 1u, sizeof *a->at);
    if (!a->at)
        return 0;
    for (uint32_t i = 0; i < s->count; i++)
        most = fmax(most, hypot(s->places[i].x - a->at[i].x, s->places[i].y - a->at[i].y));
    jump |= most < 0.004;
    for (uint32_t i = 0; i < s->count; i++) {
        a->at[i].x += (s->places[i].x - a->at[i].x) * (jump ? 1 : glide);
        a->at[i].y += (s->places[i].y - a->at[i].y) * (jump ? 1 : glide);
    }
    a->version++;
    if (jump)
        a->at_spring = s->version;
    return !jump;
}

/* Start at the previous positions and move from there. */
static void network_hold_places(struct arrangement *a, const struct arrangement *from)
{
    struct spring_vertex *v = calloc(a->wiring.unit_count + 1u, sizeof *v);
    uint32_t *order = calloc(from->wiring.unit_count + 1u, sizeof *order);
    free(a->at);
    a->at = NULL;
    a->version = from->version + 1;
    if (v && order && from->at)
        a->at = calloc(a->wiring.unit_count + 1u, sizeof *a->at);
    if (a->at) {
        network_copy_places(a, from, v, order);
        for (uint32_t i = 0; i < a->wiring.unit_count; i++)
            a->at[i] = v[i].known || !a->spring.count ? v[i].at : a->spring.places[i];
    }
    free(v);
    free(order);
}

/* ---- building ---- */

static uint64_t network_compute_key(struct network_drawing *d, const struct stage *s)
{
    const struct flows *f = &s->range->flows;
    if (d->key && d->flows_version == f->version && d->graph_version == s->ui->graph.version &&
        d->real_version == s->range->reality.version)
        return d->key;
    d->key = wiring_key(s);
    d->real_version = s->range->reality.version;
    d->flows_version = f->version;
    d->graph_version = s->ui->graph.version;
    return d->key;
}

static int network_build_next(struct network_drawing *d, const struct stage *s, uint64_t key)
{
    struct arrangement *a = &d->next;
    if (a->wiring.key != key) {
        network_arrangement_finish(a);
        a->graph_version = s->ui->graph.version;
        a->network_version = s->model->network.version;
        a->what_if = s->ui->network.applied ? s->ui->network.what_if.version : 0;
        if (wiring_make(&a->wiring, s, key) < 0 || wiring_figures(&a->wiring, s) < 0 ||
            (network_follows(s)                 ? network_take_places(a, &s->other->network->now)
             : network_keeps_places(a, &d->now) ? network_take_places(a, &d->now)
                                                : network_begin_places(a, &d->now)) < 0)
            return -ENOMEM;
    }
    spring_work(&a->spring, SPRING_SHARE);
    if (!a->spring.count && a->wiring.unit_count)
        return 1;
    network_hold_places(a, &d->now);
    network_arrangement_finish(&d->now);
    d->now = *a;
    d->next = (struct arrangement){0};
    return 0;
}

/* Keeps the scale of the graph's own figures; beside another network both have the larger one. */
static void network_scale_both(struct network_drawing *d, const struct stage *s)
{
    struct wiring *w = &d->now.wiring;
    struct wiring_scale *own = &d->scale;
    if (own->figures_key != w->figures_key) {
        *own = (struct wiring_scale){.graph_version = d->now.graph_version,
                                     .figures_key = w->figures_key,
                                     .largest = s->range->flows.largest,
                                     .heaviest = (double)w->heaviest,
                                     .most_inside = (double)w->most_inside,
                                     .most_degree = w->most_degree,
                                     .most_partners = w->most_partners};
        memcpy(own->most, w->most, sizeof own->most);
        s->pictures->busy |= s->second != NULL; /* the other half has yet to take it over */
    }
    const struct wiring_scale *other =
        s->second && s->other->network ? &s->other->network->scale : own;
    for (int i = 0; i < WIRING_METRICS; i++)
        w->most[i] = fmax(own->most[i], other->most[i]);
    w->heaviest = (uint64_t)fmax(own->heaviest, other->heaviest);
    w->most_inside = (uint64_t)fmax(own->most_inside, other->most_inside);
    w->most_degree = fmax(own->most_degree, other->most_degree);
    w->most_partners =
        own->most_partners > other->most_partners ? own->most_partners : other->most_partners;
}

/* Keeps the scale of the reality, and puts it in place of the graph's own while a what-if is shown:
 * a better network looks less bright. It grows with the traffic. */
static void network_scale(struct network_drawing *d, const struct stage *s)
{
    struct wiring *w = &d->now.wiring;
    struct wiring_scale *scale = &d->scale;
    if (s->other && !s->follows && !s->second && s->other->network)
        *scale = s->other->network->scale;
    if (!s->ui->network.applied) {
        network_scale_both(d, s);
        return;
    }
    if (!scale->largest || scale->graph_version != d->now.graph_version)
        return;
    double grown = (double)s->range->reality.largest / (double)scale->largest;
    for (int i = 0; i < WIRING_METRICS; i++)
        w->most[i] = scale->most[i] * (i == METRIC_LENGTH ? 1 : grown);
    w->heaviest = (uint64_t)(scale->heaviest * grown);
    w->most_inside = (uint64_t)(scale->most_inside * grown);
    w->most_degree = scale->most_degree * grown;
    w->most_partners = scale->most_partners;
}

/* Update the figures of the visible graph. */
static int network_update_figures(struct network_drawing *d, const struct stage *s)
{
    struct arrangement *a = &d->now;
    const struct flows *f = &s->range->flows;
    int changed = wiring_figures(&a->wiring, s);
    if (changed < 0)
        return -ENOMEM;
    wiring_marks(&a->wiring, f);
    network_scale(d, s);
    if (changed && !network_follows(s) && !s->ui->network.applied && !a->spring.layout &&
        network_drifted(a))
        return network_begin_places(a, a);
    return 0;
}

/* Each unit where its first vertex is in the other state. */
static void network_follow(struct arrangement *a, const struct arrangement *leader)
{
    for (uint32_t u = 0; u < a->wiring.unit_count; u++) {
        const uint32_t vertex = a->wiring.units[u].vertex, k = vertex < leader->wiring.vertex_count
                                                                   ? leader->wiring.unit_of[vertex]
                                                                   : WIRING_NONE;
        if (k != WIRING_NONE)
            a->at[u] = leader->at[k];
    }
    a->spring.half = leader->spring.half;
    a->spring.unit = leader->spring.unit;
    a->version = leader->version;
}

struct network_drawing *network_arrange(struct stage *s)
{
    struct pictures *pictures = s->pictures;
    if (!pictures->network && !(pictures->network = calloc(1, sizeof *pictures->network)))
        return NULL;
    struct network_drawing *d = pictures->network;
    if (network_follows(s) && (!s->other->network || !s->other->network->now.at)) {
        pictures->busy = 1;
        return NULL;
    }
    uint64_t key = network_compute_key(d, s);
    int error = 0;
    if (key != d->now.wiring.key)
        error = network_build_next(d, s, key);
    if (error < 0)
        network_arrangement_finish(&d->next);
    if (key == d->now.wiring.key && error >= 0)
        error = network_update_figures(d, s);
    int moving = 0;
    if (d->now.wiring.key) {
        if (d->now.spring.layout && !d->next.wiring.key)
            spring_work(&d->now.spring, SPRING_SHARE);
        moving = network_move(&d->now);
    }
    if (network_follows(s) && d->now.at)
        network_follow(&d->now, &s->other->network->now);
    pictures->busy |= moving || d->now.spring.layout || (d->next.wiring.key && error >= 0);
    return d->now.at ? d : NULL;
}

/* State of view "torus": sides, values of panels, emphasis, colours of nodes. */
#include "viewer/views/torus/drawing.h"

#include "viewer/layout/mix.h"
#include "viewer/views/common/network_pieces.h"

#include "holter/error.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void torus_drawing_discard(struct torus_drawing *d)
{
    for (int i = 0; i < TORUS_SIDES; i++) {
        free(d->sides[i].half_of);
        free(d->sides[i].link_of);
        free(d->sides[i].lit);
        d->sides[i] = (struct torus_side){0};
    }
    for (int p = 0; p < TORUS_PANELS; p++) {
        for (int i = 0; i < TORUS_SIDES; i++) {
            free(d->values[p].halves[i]);
            free(d->values[p].bundles[i]);
        }
        d->values[p] = (struct torus_values){0};
    }
    free(d->node_of);
    free(d->place_of);
    free(d->lit);
    free(d->colors);
    d->node_of = d->place_of = NULL;
    d->lit = NULL;
    d->colors = NULL;
    memset(d->flat_keys, 0, sizeof d->flat_keys);
    d->network_key = d->lit_key = d->color_key = d->space_key = 0;
}

void torus_drawing_destroy(struct torus_drawing *d)
{
    if (!d)
        return;
    torus_drawing_discard(d);
    for (int i = 0; i < TORUS_PANELS; i++)
        strokes_finish(&d->flat[i]);
    strokes_finish(&d->space);
    free(d);
}

const char *torus_dimension(const struct stage *s, uint32_t dimension)
{
    const struct topology_spec *spec = topology_spec(s->model->network.topology);
    return dimension < spec->dimension_count ? spec->dimensions[dimension].name : "";
}

uint32_t torus_coinciding(const struct torus_drawing *d)
{
    return d->nodes_in_place > 0 ? d->nodes_in_place : 1;
}

uint32_t torus_place(const struct torus_drawing *d, int from, int to, uint32_t place)
{
    uint32_t at[PROJECTION_AXES], seen[PROJECTION_AXES];
    projection_coordinates(&d->sides[from].projection, place, at);
    for (int i = 0; i < PROJECTION_AXES; i++) /* axis i is along dimension (side + i) % 3 */
        seen[(from + i - to + PROJECTION_AXES) % PROJECTION_AXES] = at[i];
    return projection_place_at(&d->sides[to].projection, seen);
}

/* ---- sides ---- */

static int torus_drawing_make_side(const struct stage *s, struct torus_side *side, int view)
{
    const struct topology *t = s->model->network.topology;
    int error = torus_projection(&s->ui->torus, t, view, &side->projection);
    if (error)
        return error;
    if (side->projection.places > TORUS_PLACES)
        return -HOLTER_ELIMIT;
    uint32_t links = topology_links(t), halves = projection_halves(&side->projection);
    side->half_of = malloc((links + 1u) * sizeof *side->half_of);
    side->link_of = malloc((halves + 1u) * sizeof *side->link_of);
    side->lit = calloc(halves + 1u, 1);
    if (!side->half_of || !side->link_of || !side->lit)
        return -ENOMEM;
    memset(side->link_of, 0xff, halves * sizeof *side->link_of);
    for (uint32_t link = 0; link < links; link++) {
        uint32_t half = projection_half(&side->projection, t, link);
        side->half_of[link] = half;
        if (half != PROJECTION_NONE && side->link_of[half] == TOPOLOGY_NONE)
            side->link_of[half] = link;
    }
    return 0;
}

static int torus_drawing_make_places(const struct stage *s, struct torus_drawing *d)
{
    const struct topology *t = s->model->network.topology;
    const struct projection *p = &d->sides[TORUS_SPACE].projection;
    uint32_t seen = 0;
    d->places = p->places;
    d->node_count = topology_nodes(t);
    d->node_of = malloc((d->places + 1u) * sizeof *d->node_of);
    d->place_of = malloc((d->node_count + 1u) * sizeof *d->place_of);
    d->lit = calloc(d->places + 1u, 1);
    d->colors = calloc(d->places + 1u, sizeof *d->colors);
    if (!d->node_of || !d->place_of || !d->lit || !d->colors)
        return -ENOMEM;
    memset(d->node_of, 0xff, d->places * sizeof *d->node_of);
    for (uint32_t node = 0; node < d->node_count; node++) {
        uint32_t place = projection_place(p, t, node);
        d->place_of[node] = place;
        if (place == PROJECTION_NONE)
            continue;
        seen++;
        if (d->node_of[place] == TOPOLOGY_NONE)
            d->node_of[place] = node;
    }
    d->nodes_in_place = d->places ? seen / d->places : 0;
    return 0;
}

static uint64_t torus_drawing_network_key(const struct stage *s, const uint32_t shown[3])
{
    /* version numbers restart with each job: include the shape */
    uint64_t key =
        mix_number(mix_number(s->ui->torus.panels[0].shape, s->model->network.version), shown[0]);
    key = mix_number(mix_number(key, shown[1]), shown[2]);
    for (uint32_t i = 0; i < TOPOLOGY_DIMENSIONS; i++)
        key = mix_number(key, s->ui->torus.slice[i]);
    return key | 1;
}

static int torus_drawing_make_sides(const struct stage *s, struct torus_drawing *d)
{
    uint32_t shown[3];
    if (!torus_shown(&s->ui->torus, s->model->network.topology, shown))
        return -HOLTER_EUSAGE;
    uint64_t key = torus_drawing_network_key(s, shown);
    if (d->network_key == key)
        return 0;
    torus_drawing_discard(d);
    for (int i = 0; i < TORUS_SIDES; i++) {
        int error = torus_drawing_make_side(s, &d->sides[i], i);
        if (error)
            return error;
    }
    if (torus_drawing_make_places(s, d) < 0)
        return -ENOMEM;
    d->network_key = key;
    return 0;
}

/* ---- values ---- */

int torus_belongs(const struct stage *s, int panel)
{
    const struct torus_choice *t = &s->ui->torus;
    return panel < t->panel_count && t->panels[panel].loads &&
           t->panels[panel].shape == t->panels[0].shape &&
           t->panels[panel].figure == t->panels[t->panel].figure &&
           t->panels[panel].packets == t->panels[t->panel].packets &&
           t->panels[panel].link_count == topology_links(s->model->network.topology);
}

/* Of links that differ in hidden dimensions only: the largest load, the mean or the sum.
 * @param slices  only every slices-th of them counts, the others have no load; 0: all do */
static int torus_drawing_fold(const struct torus_side *side, const uint64_t *loads, uint32_t links,
                              enum torus_fold fold, uint32_t slices, double *out)
{
    uint32_t halves = projection_halves(&side->projection);
    uint32_t *counts = calloc(halves + 1u, sizeof *counts);
    if (!counts)
        return -ENOMEM;
    for (uint32_t link = 0; link < links; link++) {
        uint32_t half = side->half_of[link];
        double load = (double)loads[link];
        if (half == PROJECTION_NONE)
            continue;
        counts[half]++;
        out[half] = fold == TORUS_LARGEST ? fmax(out[half], load) : out[half] + load;
    }
    for (uint32_t half = 0; fold == TORUS_MEAN && half < halves; half++)
        out[half] /= counts[half] ? (double)counts[half] / (slices ? slices : 1) : 1;
    free(counts);
    return 0;
}

/* Folds the loads of a panel, or their differences from the reality: of what each fold says, so
 * that a half without difference looks the same before and after. @return 0 or -ENOMEM */
static int torus_drawing_fold_panel(const struct torus_side *side, const struct torus_panel *panel,
                                    enum torus_fold fold, double *out, double *largest)
{
    uint32_t halves = projection_halves(&side->projection);
    double *before = NULL;
    int error = torus_drawing_fold(side, panel->loads, panel->link_count, fold, panel->slices, out);
    if (!error && panel->before) {
        before = calloc(halves + 1u, sizeof *before);
        error = before ? torus_drawing_fold(side, panel->before, panel->link_count, fold,
                                            panel->slices, before)
                       : -ENOMEM;
    }
    for (uint32_t half = 0; !error && half < halves; half++) {
        *largest = fmax(*largest, before ? before[half] : out[half]);
        out[half] -= before ? before[half] : 0;
    }
    free(before);
    return error;
}

static int torus_drawing_sum_side(const struct torus_side *side, const struct torus_panel *panel,
                                  enum torus_fold fold, struct torus_values *v, int i)
{
    const struct projection *p = &side->projection;
    uint32_t halves = projection_halves(p), bundles = projection_bundles(p);
    double *sums = calloc(halves + 1u, sizeof *sums), *means = calloc(bundles + 1u, sizeof *means);
    uint32_t *counts = calloc(bundles + 1u, sizeof *counts);
    if (!sums || !means || !counts ||
        torus_drawing_fold_panel(side, panel, fold, sums, &v->largest) < 0) {
        free(sums);
        free(means);
        free(counts);
        return -ENOMEM;
    }
    for (uint32_t half = 0; half < halves; half++) {
        if (side->link_of[half] == TOPOLOGY_NONE)
            continue;
        uint32_t bundle = projection_bundle(p, half / 2);
        means[bundle] += sums[half];
        counts[bundle]++;
    }
    for (uint32_t b = 0; b < bundles; b++)
        means[b] /= counts[b] ? counts[b] : 1;
    free(counts);
    free(v->halves[i]);
    free(v->bundles[i]);
    v->halves[i] = sums;
    v->bundles[i] = means;
    return 0;
}

/* Round up to two digits: the colour map then ends close to the largest value. */
static double torus_drawing_round_up(double value)
{
    if (!(value > 0))
        return 0;
    double unit = pow(10, floor(log10(value)) - 1);
    return ceil(value / unit - 1e-9) * unit;
}

static int torus_drawing_make_values(const struct stage *s, struct torus_drawing *d)
{
    double largest = 0;
    for (int p = 0; p < s->ui->torus.panel_count; p++) {
        struct torus_values *v = &d->values[p];
        if (!torus_belongs(s, p))
            continue;
        uint64_t key = mix_number(s->ui->torus.panels[p].version, s->ui->torus.fold);
        if (v->key != key) {
            v->key = 0;
            v->largest = 0;
            for (int i = 0; i < TORUS_SIDES; i++)
                if (torus_drawing_sum_side(&d->sides[i], &s->ui->torus.panels[p], s->ui->torus.fold,
                                           v, i) < 0)
                    return -ENOMEM;
            v->key = key;
        }
        largest = fmax(largest, v->largest);
    }
    const struct torus_drawing *other = s->other ? s->other->torus : NULL;
    if (s->second && s->ui->torus.panels[0].figure == TORUS_BYTES) /* it may be a tree */
        largest = fmax(largest, piece_metric_most(s, METRIC_LOAD));
    d->own_top = torus_drawing_round_up(largest);
    d->top = other ? fmax(d->own_top, other->own_top) : d->own_top;
    return 0;
}

color_t torus_color(const struct stage *s, const struct torus_drawing *d, int panel, double value)
{
    const struct torus_choice *t = &s->ui->torus;
    double share = d->top > 0 ? value / d->top : 0;
    const int differs = t->panels[panel].before != NULL;
    if (differs && value != 0)
        return fabs(share) < t->low ? 0 : piece_difference_color(s->brush.theme, share);
    if (share < t->low)
        return 0;
    if (value <= 0) /* the link exists but is unused */
        return color_mix(s->brush.theme->panel, s->brush.theme->line, 0.75);
    return theme_map(s->brush.theme, 0.10 + 0.90 * fmin((share - t->low) / (t->high - t->low), 1));
}

/* ---- emphasis ---- */

/* 1 if a node belongs to the selection and passes the filter. */
static int torus_drawing_is_node_lit(const struct stage *s, uint32_t node, const uint8_t *ranked)
{
    const struct selection *sel = &s->ui->selection;
    const struct flow_filter *filter = &s->ui->network.filter;
    const struct flows *f = &s->range->flows;
    uint32_t at[TOPOLOGY_DIMENSIONS];
    if (filter->picked && filter->kind == FLOW_VERTICES) {
        if (!flow_set_has(&filter->set, node))
            return 0;
    } else if (flow_filter_active(filter) && f->vertex_marks && node < f->vertex_count) {
        if (!(f->vertex_marks[node] & FLOW_SHOWN))
            return 0;
    }
    switch (sel->kind) {
    case SELECT_NONE:
    case SELECT_CALL:
        return 1;
    case SELECT_VERTEX:
    case SELECT_RANK:
    case SELECT_PAIR: /* includes the other ends of their routes */
        return (sel->kind == SELECT_VERTEX && sel->a == node) || (ranked && ranked[node]) ||
               (f->vertex_marks && node < f->vertex_count &&
                (f->vertex_marks[node] & FLOW_SELECTED));
    case SELECT_PLANE:
        return sel->a < topology_coordinates(s->model->network.topology, node, at) &&
               at[sel->a] == sel->b;
    case SELECT_LINK:
    case SELECT_ROUTE:
        return f->vertex_marks && node < f->vertex_count && (f->vertex_marks[node] & FLOW_SELECTED);
    default:
        return ranked && ranked[node];
    }
}

/* By node: 1 if it holds a selected rank. @return owned by the caller */
static uint8_t *torus_drawing_mark_ranked_nodes(const struct stage *s,
                                                const struct torus_drawing *d)
{
    const struct torus_panel *panel = &s->ui->torus.panels[s->ui->torus.panel];
    enum select_kind kind = s->ui->selection.kind;
    if (kind == SELECT_NONE || kind == SELECT_CALL || kind == SELECT_VERTEX ||
        kind == SELECT_PLANE || kind == SELECT_LINK || kind == SELECT_ROUTE)
        return NULL;
    uint8_t *nodes = calloc(d->node_count + 1u, 1);
    for (uint32_t rank = 0; nodes && rank < panel->seat_count; rank++)
        if (panel->seats[rank] < d->node_count && ui_marks_rank(s->ui, s->model, rank))
            nodes[panel->seats[rank]] = 1;
    return nodes;
}

static int torus_drawing_is_link_lit(const struct stage *s, const struct torus_drawing *d,
                                     const uint8_t *nodes, uint32_t link)
{
    const struct selection *sel = &s->ui->selection;
    const struct flow_filter *filter = &s->ui->network.filter;
    const struct flows *f = &s->range->flows;
    const struct topology *t = s->model->network.topology;
    uint32_t from, to;
    if (!topology_link(t, link, &from, &to))
        return 0;
    if (filter->picked && filter->kind == FLOW_LINKS)
        return flow_set_has(&filter->set, link);
    if (filter->ranged && f->link_marks && link < f->link_count &&
        !(f->link_marks[link] & FLOW_SHOWN))
        return 0;
    if (sel->kind == SELECT_LINK && sel->a == link)
        return 2;
    if (sel->kind == SELECT_VERTEX && (sel->a == from || sel->a == to))
        return 1;
    if (sel->kind == SELECT_LINK || sel->kind == SELECT_ROUTE || sel->kind == SELECT_PAIR ||
        sel->kind == SELECT_RANK || sel->kind == SELECT_VERTEX)
        return f->link_marks && link < f->link_count && (f->link_marks[link] & FLOW_SELECTED);
    return from < d->node_count && to < d->node_count && nodes[from] && nodes[to];
}

static uint64_t torus_drawing_lit_key(const struct stage *s, const struct torus_drawing *d)
{
    const struct selection *sel = &s->ui->selection;
    uint64_t key = mix_number(mix_number(mix_number(d->network_key, sel->kind), sel->a), sel->b);
    key = mix_number(mix_number(key, s->ui->network.filter.version), s->range->flows.marks_version);
    key = mix_number(mix_number(key, (uint64_t)s->ui->torus.panel), s->ui->network.picked_version);
    return mix_number(key, s->model->version * (sel->kind != SELECT_NONE)) | 1;
}

static int torus_drawing_make_lit(const struct stage *s, struct torus_drawing *d)
{
    uint64_t key = torus_drawing_lit_key(s, d);
    d->some = flow_filter_active(&s->ui->network.filter) ||
              (s->ui->selection.kind != SELECT_NONE && s->ui->selection.kind != SELECT_CALL);
    if (key == d->lit_key)
        return 0;
    uint8_t *ranked = torus_drawing_mark_ranked_nodes(s, d), *nodes = calloc(d->node_count + 1u, 1);
    if (!nodes) {
        free(ranked);
        return -ENOMEM;
    }
    memset(d->lit, 0, d->places);
    for (uint32_t node = 0; node < d->node_count; node++) {
        nodes[node] = (uint8_t)torus_drawing_is_node_lit(s, node, ranked);
        if (nodes[node] && d->place_of[node] != PROJECTION_NONE)
            d->lit[d->place_of[node]] = 1;
    }
    for (int i = 0; i < TORUS_SIDES; i++)
        memset(d->sides[i].lit, 0, projection_halves(&d->sides[i].projection));
    for (uint32_t link = 0; link < topology_links(s->model->network.topology); link++) {
        uint8_t lit = (uint8_t)torus_drawing_is_link_lit(s, d, nodes, link);
        for (int i = 0; lit && i < TORUS_SIDES; i++) {
            uint32_t half = d->sides[i].half_of[link];
            if (half != PROJECTION_NONE && d->sides[i].lit[half] < lit)
                d->sides[i].lit[half] = lit;
        }
    }
    free(nodes);
    free(ranked);
    d->lit_key = key;
    return 0;
}

/* ---- colours of nodes ---- */

static void torus_drawing_paint_ranks(const struct stage *s, struct torus_drawing *d)
{
    const struct torus_panel *panel = &s->ui->torus.panels[s->ui->torus.panel];
    const struct theme *t = s->brush.theme;
    for (uint32_t rank = panel->seat_count;
         rank-- > 0;) { /* the lowest rank determines the colour */
        uint32_t node = panel->seats[rank];
        if (node < d->node_count && d->place_of[node] != PROJECTION_NONE)
            d->colors[d->place_of[node]] =
                t->sizes[(size_t)rank * 255 / (panel->seat_count > 1 ? panel->seat_count - 1 : 1)];
    }
}

static void torus_drawing_paint_figures(const struct stage *s, struct torus_drawing *d)
{
    const struct theme *t = s->brush.theme;
    const struct flows *f = &s->range->flows;
    int degree = s->ui->torus.paint == TORUS_DEGREE;
    double *in = calloc(2 * (size_t)d->places + 1, sizeof *in), *out = in + d->places, most = 0;
    for (uint32_t v = 0; in && v < f->vertex_count && v < d->node_count; v++) {
        uint32_t place = d->place_of[v];
        if (place == PROJECTION_NONE)
            continue;
        in[place] += (double)(degree ? f->vertices[v].in : f->vertices[v].transit);
        out[place] += (double)(degree ? f->vertices[v].out : 0);
        most = fmax(most, in[place]);
    }
    for (uint32_t p = 0; in && p < d->places; p++) {
        double sum = in[p] + out[p];
        if (degree && sum > 0)
            d->colors[p] = t->diverging[(size_t)(in[p] / sum * 255)];
        else if (!degree && most > 0)
            d->colors[p] = theme_map(t, in[p] / most);
    }
    free(in);
}

static void torus_drawing_make_colors(const struct stage *s, struct torus_drawing *d)
{
    const struct torus_choice *t = &s->ui->torus;
    uint64_t key = mix_number(mix_number(d->network_key, t->paint), (uint64_t)s->ui->theme);
    key = mix_number(mix_number(key, t->panels[t->panel].version), s->range->flows.version) | 1;
    if (key == d->color_key)
        return;
    for (uint32_t p = 0; p < d->places; p++)
        d->colors[p] = s->brush.theme->faint;
    if (t->paint == TORUS_RANKS)
        torus_drawing_paint_ranks(s, d);
    else
        torus_drawing_paint_figures(s, d);
    d->color_key = key;
}

uint64_t torus_strokes_key(const struct stage *s, const struct torus_drawing *d, int panel,
                           const double (*where)[TORUS_KEY], int what)
{
    const struct torus_choice *t = &s->ui->torus;
    const double parts[] = {t->low, t->high, d->top, s->brush.scene->scale};
    uint64_t key = mix_number(mix_number(d->network_key, d->lit_key), d->color_key);
    key = mix_reals(mix_reals(key, parts, sizeof parts / sizeof *parts), *where, TORUS_KEY);
    key = mix_number(mix_number(key, t->panels[panel].version), t->hidden);
    key = mix_number(key, t->fold);
    key = mix_number(mix_number(key, (uint64_t)what), (uint64_t)s->ui->theme);
    return mix_number(key, (uint64_t)(panel == t->panel) * 2 + (uint64_t)d->some) | 1;
}

int torus_prepare(struct stage *s, struct torus_drawing **out)
{
    if (!s->pictures->torus && !(s->pictures->torus = calloc(1, sizeof *s->pictures->torus)))
        return -ENOMEM;
    struct torus_drawing *d = s->pictures->torus;
    int error = torus_drawing_make_sides(s, d);
    if (error || torus_drawing_make_values(s, d) < 0 || torus_drawing_make_lit(s, d) < 0)
        return error ? error : -ENOMEM;
    torus_drawing_make_colors(s, d);
    for (int i = 0; i < TORUS_SIDES; i++) {
        d->sides[i].axes = 0;
        for (int k = 0; k < PROJECTION_AXES; k++) {
            uint32_t dimension = d->sides[i].projection.axes[k].dimension;
            if (dimension != PROJECTION_NONE && !(s->ui->torus.hidden >> dimension & 1))
                d->sides[i].axes |= 1u << k;
        }
    }
    *out = d;
    return 0;
}

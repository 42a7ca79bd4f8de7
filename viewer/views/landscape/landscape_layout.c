/* The points of a layout: its variables, slices along its axes, and means over them. */
#include "viewer/views/landscape/landscape_drawing.h"

#include "daemon/analysis/tables/array.h"
#include "holter/bisect.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the variables of formulas ---- */

#define NAME 24
#define PLACES 6
#define VARIABLES (3 * LANDSCAPE_EVENTS + PLACES + TOPOLOGY_DIMENSIONS)

struct variables {
    const struct formulas *formulas;
    uint32_t layout;
    struct formula_input inputs[VARIABLES];
    char names[VARIABLES][NAME];
    double *values; /* owned; space for all variables, but only those used are written */
    uint32_t count, ranks;
};

/* Adds a variable, if the layout uses it. @return its values, which are to be set; NULL: not used
 */
static double *variables_add(struct variables *v, const char *name)
{
    if (!formulas_uses(v->formulas, v->layout, name))
        return NULL;
    double *values = v->values + (size_t)v->count * v->ranks;
    snprintf(v->names[v->count], NAME, "%s", name);
    v->inputs[v->count] = (struct formula_input){v->names[v->count], values};
    v->count++;
    return values;
}

static void variables_add_events(struct variables *v, const struct landscape_drawing *d)
{
    char name[NAME];
    for (int i = 0; i < LANDSCAPE_EVENTS; i++) {
        double *ends[2], low = INFINITY, high = -INFINITY;
        snprintf(name, sizeof name, "event%d.val", i);
        double *values = variables_add(v, name);
        if (values)
            memcpy(values, d->values[i], v->ranks * sizeof *values);
        snprintf(name, sizeof name, "event%d.min", i);
        ends[0] = variables_add(v, name);
        snprintf(name, sizeof name, "event%d.max", i);
        ends[1] = variables_add(v, name);
        if (!ends[0] && !ends[1])
            continue;
        for (uint32_t rank = 0; rank < v->ranks; rank++) {
            low = fmin(low, d->values[i][rank]);
            high = fmax(high, d->values[i][rank]);
        }
        for (uint32_t rank = 0; rank < v->ranks; rank++) {
            if (ends[0])
                ends[0][rank] = low;
            if (ends[1])
                ends[1][rank] = high;
        }
    }
}

/* Where ranks run: 0 is not known. nodeNumber only if all hosts have a number. */
static int variables_add_places(struct variables *v, const struct model *m)
{
    uint32_t *on_node = calloc(m->host_count + 1u, sizeof *on_node);
    if (!on_node)
        return -ENOMEM;
    static const char *const names[PLACES] = {"node", "core",     "socket",
                                              "numa", "nodeRank", "nodeNumber"};
    double *values[PLACES];
    int numbered = 1;
    for (int k = 0; k < PLACES; k++)
        values[k] = variables_add(v, names[k]);
    for (uint32_t rank = 0; rank < v->ranks; rank++) {
        const struct model_rank *r = rank < m->rank_count ? &m->ranks[rank] : NULL;
        int placed = r && r->node < m->host_count;
        const double now[PLACES] = {
            placed ? r->node + 1 : 0,
            r ? (double)r->core : 0,
            r ? (double)r->socket : 0,
            r ? (double)r->numa : 0,
            placed ? on_node[r->node]++ : 0,
            placed && values[5] ? formulas_host_number(m->hosts[r->node].name) : -1};
        for (int k = 0; k < PLACES; k++)
            if (values[k])
                values[k][rank] = now[k];
        numbered &= now[5] >= 0;
    }
    v->count -= values[5] && !numbered;
    free(on_node);
    return 0;
}

/* Coordinates of the ranks' nodes, 0 beyond the dimensions of the network. */
static void variables_add_coordinates(struct variables *v, const struct model *m)
{
    const struct topology *t = m->network.topology;
    double *values[TOPOLOGY_DIMENSIONS];
    uint32_t before = v->count;
    if (!t || topology_spec(t)->kind != TOPOLOGY_CARTESIAN || m->network.seat_count < v->ranks)
        return;
    for (uint32_t k = 0; k < TOPOLOGY_DIMENSIONS; k++) {
        char name[NAME];
        snprintf(name, sizeof name, "coord%u", k);
        values[k] = variables_add(v, name);
    }
    for (uint32_t rank = 0; v->count > before && rank < v->ranks; rank++) {
        uint32_t at[TOPOLOGY_DIMENSIONS] = {0}, vertex = m->network.seats[rank];
        if (vertex == TOPOLOGY_NONE || vertex >= topology_vertices(t)) {
            v->count = before;
            return;
        }
        topology_coordinates(t, vertex, at);
        for (uint32_t k = 0; k < TOPOLOGY_DIMENSIONS; k++)
            if (values[k])
                values[k][rank] = at[k];
    }
}

/* ---- slices ---- */

/* One slice for each coordinate, or where there are too many, slices of equal thickness. */
static void landscape_find_coordinates(struct landscape_scale *scale, const double *values,
                                       uint32_t count)
{
    double near = (scale->high - scale->low) * 1e-9;
    scale->bins = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!isfinite(values[i]))
            continue;
        /* the first of them that is higher */
        uint32_t at = BISECT(k, 0, scale->bins, scale->values[k] <= values[i]);
        if ((at && values[i] - scale->values[at - 1] <= near) ||
            (at < scale->bins && scale->values[at] - values[i] <= near))
            continue;
        if (scale->bins == LANDSCAPE_BINS) {
            for (uint32_t k = 0; k < LANDSCAPE_BINS; k++)
                scale->values[k] =
                    scale->low + (scale->high - scale->low) * (k + 0.5) / LANDSCAPE_BINS;
            return;
        }
        memmove(scale->values + at + 1, scale->values + at,
                (scale->bins++ - at) * sizeof *scale->values);
        scale->values[at] = values[i];
    }
}

/* The slice whose coordinate is nearest. */
static uint16_t landscape_nearest_bin(const struct landscape_scale *scale, double value)
{
    uint32_t low = 0, high = scale->bins - 1;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (scale->values[middle] <= value)
            low = middle;
        else
            high = middle;
    }
    return (uint16_t)(fabs(scale->values[high] - value) < fabs(scale->values[low] - value) ? high
                                                                                           : low);
}

static int landscape_make_scale(const struct landscape_drawing *d, struct landscape_scale *scale,
                                const double *values)
{
    if (ARRAY_RESIZE(scale->bin, d->ranks + 1) != 0)
        return -ENOMEM;
    scale->low = INFINITY;
    scale->high = -INFINITY;
    for (uint32_t rank = 0; rank < d->ranks; rank++) {
        if (!isfinite(values[rank]))
            continue;
        scale->low = fmin(scale->low, values[rank]);
        scale->high = fmax(scale->high, values[rank]);
    }
    if (scale->low > scale->high)
        scale->low = scale->high = 0;
    landscape_find_coordinates(scale, values, d->ranks);
    for (uint32_t rank = 0; rank < d->ranks; rank++)
        scale->bin[rank] =
            scale->bins && isfinite(values[rank]) ? landscape_nearest_bin(scale, values[rank]) : 0;
    return 0;
}

uint32_t landscape_bin(const struct landscape_scale *scale, double at)
{
    uint32_t bin = (uint32_t)fmax(floor(at * scale->bins), 0);
    return bin < scale->bins ? bin : scale->bins ? scale->bins - 1 : 0;
}

int landscape_place_ranks(const struct stage *s, struct landscape_drawing *d)
{
    struct variables v = {.ranks = d->ranks};
    v.formulas = landscape_layout(&s->ui->landscape, &v.layout);
    if (!v.formulas)
        return 0;
    v.values = malloc((size_t)VARIABLES * d->ranks * sizeof(double));
    if (!v.values)
        return -ENOMEM;
    variables_add_events(&v, d);
    int error = variables_add_places(&v, s->model);
    if (error) {
        free(v.values);
        return error;
    }
    variables_add_coordinates(&v, s->model);
    const struct formula_inputs inputs = {v.inputs, v.count, d->ranks};
    error = formulas_evaluate(v.formulas, v.layout, &inputs, &d->points, &d->fault);
    d->given = v.formulas == s->ui->landscape.given;
    free(v.values);
    for (int axis = 0; !error && axis < 3; axis++)
        error = landscape_make_scale(d, &d->scales[axis], d->points.axes[axis]);
    return error == -ENOMEM ? error : 0;
}

/* ---- dots ---- */

/* Hides ranks without a finite place and those that are not in the chosen slices. */
static void landscape_apply_slices(const struct stage *s, struct landscape_drawing *d)
{
    d->shown_count = 0;
    for (uint32_t rank = 0; rank < d->ranks; rank++) {
        for (int axis = 0; axis < 3; axis++) {
            const struct landscape_axis *a = &s->ui->landscape.axes[axis];
            const struct landscape_scale *scale = &d->scales[axis];
            d->shown[rank] &= isfinite(d->points.axes[axis][rank]) &&
                              (a->mode != LANDSCAPE_AXIS_SLICE ||
                               scale->bin[rank] == landscape_bin(scale, a->at));
        }
        d->shown_count += d->shown[rank];
    }
}

/* The point of a rank in the ball: all axes have one scale, or each its own. An axis over which is
 * averaged has the point in its middle. */
static void landscape_locate(const struct stage *s, const struct landscape_drawing *d,
                             uint32_t rank, double out[3])
{
    double lengths[3], longest = 0, square = 0;
    for (int axis = 0; axis < 3; axis++) {
        lengths[axis] = d->scales[axis].high - d->scales[axis].low;
        longest = fmax(longest, lengths[axis]);
    }
    for (int axis = 0; axis < 3; axis++) {
        double side = d->points.restrict_dim ? lengths[axis] > 0
                      : longest > 0          ? lengths[axis] / longest
                                             : 0;
        square += side * side;
    }
    for (int axis = 0; axis < 3; axis++) {
        double unit = d->points.restrict_dim ? lengths[axis] : longest;
        double middle = (d->scales[axis].high + d->scales[axis].low) / 2;
        int mean = s->ui->landscape.axes[axis].mode == LANDSCAPE_AXIS_MEAN;
        double at = mean ? middle : d->points.axes[axis][rank];
        out[axis] = unit > 0 && square > 0 ? 2 * (at - middle) / unit / sqrt(square) : 0;
    }
}

/* Number of the dot that a rank belongs to: without means, its own. */
static uint32_t landscape_group_of(const struct stage *s, const struct landscape_drawing *d,
                                   uint32_t rank)
{
    uint32_t group = 0;
    for (int axis = 0; axis < 3; axis++)
        if (s->ui->landscape.axes[axis].mode != LANDSCAPE_AXIS_MEAN)
            group = group * d->scales[axis].bins + d->scales[axis].bin[rank];
    return group;
}

int landscape_make_dots(const struct stage *s, struct landscape_drawing *d)
{
    int mean = 0;
    uint64_t groups = 1;
    for (int axis = 0; axis < 3; axis++) {
        if (s->ui->landscape.axes[axis].mode == LANDSCAPE_AXIS_MEAN)
            mean = 1;
        else
            groups *= d->scales[axis].bins;
    }
    landscape_apply_slices(s, d);
    uint32_t *dot_of = mean ? calloc(groups + 1, sizeof *dot_of) : NULL;
    if ((mean && !dot_of) || ARRAY_FIT(d->dots, d->dot_capacity, d->ranks + 1) != 0) {
        free(dot_of);
        return -ENOMEM;
    }
    for (uint32_t rank = 0; rank < d->ranks; rank++) {
        if (!d->shown[rank])
            continue;
        uint32_t *number = mean ? &dot_of[landscape_group_of(s, d, rank)] : NULL;
        if (!number || !*number) {
            d->dots[d->dot_count++] = (struct landscape_dot){.rank = rank};
            landscape_locate(s, d, rank, d->dots[d->dot_count - 1].at);
            if (number)
                *number = d->dot_count;
        }
        struct landscape_dot *dot = &d->dots[number ? *number - 1 : d->dot_count - 1];
        dot->sum += d->colored[rank];
        dot->value = dot->sum / ++dot->count;
    }
    free(dot_of);
    return 0;
}

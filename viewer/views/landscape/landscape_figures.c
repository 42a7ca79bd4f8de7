/* State of view "landscape": figures of the chosen events by rank, and what of them is visible. */
#include "viewer/views/landscape/landscape_drawing.h"

#include "daemon/analysis/tables/array.h"
#include "holter/call.h"
#include "holter/plain_text.h"
#include "viewer/layout/format.h"
#include "viewer/layout/mix.h"
#include "viewer/views/common/pieces.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void landscape_destroy(struct landscape_drawing *d)
{
    if (!d)
        return;
    rank_calls_finish(&d->calls);
    for (int i = 0; i < LANDSCAPE_EVENTS; i++)
        free(d->values[i]);
    for (int axis = 0; axis < 3; axis++)
        free(d->scales[axis].bin);
    free(d->shown);
    free(d->dots);
    formula_points_finish(&d->points);
    strokes_finish(&d->strokes);
    picture_finish(&d->matrix);
    free(d);
}

const char *landscape_event_name(const struct stage *s, const struct landscape_drawing *d,
                                 uint32_t event)
{
    if (event >= d->calls.count)
        return "";
    uint32_t id = d->calls.ids[event];
    if (d->calls.by == RANK_CALLS_FUNCTION)
        return call_name((uint16_t)id);
    const char *name = id < s->model->region_count ? s->model->regions[id].name : "";
    return *name ? name : "outside";
}

const char *landscape_figure_name(enum rank_figure figure)
{
    static const char *const names[RANK_FIGURES] = {"time", "mean time", "calls", "bytes"};
    return names[figure];
}

struct quantity landscape_quantity(enum rank_figure figure, double value)
{
    if (isnan(value))
        return quantity_print("-");
    if (figure == RANK_FIGURE_TIME || figure == RANK_FIGURE_MEAN)
        return format_duration(value);
    return format_si(value, figure == RANK_FIGURE_BYTES ? "B" : "");
}

/* The event whose value colours the points; -1: an expression of its own. */
static int landscape_colored_event(const struct stage *s, const struct landscape_drawing *d)
{
    const struct landscape_choice *c = &s->ui->landscape;
    uint32_t index;
    if (c->shape != LANDSCAPE_LAYOUT || !d->points.axes[FORMULA_COLOR])
        return 0;
    const struct formulas *f = landscape_layout(c, &index);
    for (int i = 0; f && i < LANDSCAPE_EVENTS; i++)
        if (memcmp(d->points.axes[FORMULA_COLOR], d->values[i], d->ranks * sizeof(double)) == 0)
            return i;
    return -1;
}

struct quantity landscape_colored_text(const struct stage *s, const struct landscape_drawing *d,
                                       double value)
{
    int event = landscape_colored_event(s, d);
    if (event < 0)
        return isnan(value) ? quantity_print("-") : format_si(value, "");
    return landscape_quantity(s->ui->landscape.events[event].figure, value);
}

double landscape_share(const struct landscape_drawing *d, double value)
{
    if (isnan(value))
        return NAN;
    return d->high > d->low ? (value - d->low) / (d->high - d->low) : 0;
}

/* ---- computing ---- */

/* What figures and points depend on. */
static uint64_t landscape_figures_key(const struct stage *s)
{
    const struct landscape_choice *c = &s->ui->landscape;
    uint64_t key = mix_number(s->range->version, s->model->network.version);
    for (int i = 0; i < LANDSCAPE_EVENTS; i++)
        key = mix_number(key, (uint64_t)c->events[i].id << 8 | (uint64_t)c->events[i].figure);
    key = mix_number(key, (uint64_t)c->shape << 8 | (uint64_t)c->by);
    key = mix_number(key, c->layout);
    return mix_number(key, s->model->host_count) | 1;
}

/* And what of them is visible. */
static uint64_t landscape_visible_key(const struct stage *s, uint64_t key)
{
    const struct landscape_choice *c = &s->ui->landscape;
    key = mix_real(mix_real(key, c->low), c->high);
    for (int axis = 0; axis < 3; axis++)
        key = mix_real(mix_number(key, (uint64_t)c->axes[axis].mode), c->axes[axis].at);
    return key | 1;
}

/* The chosen events; those that were not chosen are the ones with most time. */
static void landscape_choose_events(const struct stage *s, struct landscape_drawing *d)
{
    uint32_t next = 0;
    for (int i = 0; i < LANDSCAPE_EVENTS; i++) {
        uint32_t id = s->ui->landscape.events[i].id;
        d->events[i] = id ? rank_calls_find(&d->calls, id - 1) : next;
        if (!id && next + 1 < d->calls.count)
            next++;
        if (d->events[i] >= d->calls.count)
            d->events[i] = RANK_CALLS_NONE;
    }
}

/* Of a job by groups a rank has the value of its group, so that formulas compute with no zeros. */
static int landscape_fill_values(const struct stage *s, struct landscape_drawing *d)
{
    d->ranks = d->calls.ranks;
    for (int i = 0; i < LANDSCAPE_EVENTS; i++) {
        if (array_resize(&d->values[i], (d->ranks + 1) * sizeof(double)) != 0)
            return -ENOMEM;
        for (uint32_t rank = 0; rank < d->ranks; rank++)
            d->values[i][rank] =
                rank_calls_value(&d->calls, d->events[i], (uint32_t)model_row_of(s->model, rank),
                                 s->ui->landscape.events[i].figure);
    }
    return array_resize(&d->shown, d->ranks + 1);
}

static void landscape_find_range(const struct model *m, struct landscape_drawing *d)
{
    d->low = INFINITY;
    d->high = -INFINITY;
    for (uint32_t rank = 0; rank < d->ranks; rank++) {
        if (!isfinite(d->colored[rank]) || model_row_of(m, rank) != rank)
            continue;
        d->low = fmin(d->low, d->colored[rank]);
        d->high = fmax(d->high, d->colored[rank]);
    }
    if (d->low > d->high)
        d->low = d->high = 0;
}

static void landscape_filter(const struct stage *s, struct landscape_drawing *d)
{
    d->shown_count = 0;
    for (uint32_t rank = 0; rank < d->ranks; rank++) {
        double share = landscape_share(d, d->colored[rank]);
        d->shown[rank] = isfinite(share) && landscape_passes(&s->ui->landscape, share) &&
                         model_row_of(s->model, rank) == rank;
        d->shown_count += d->shown[rank];
    }
}

static int landscape_update_figures(const struct stage *s, struct landscape_drawing *d)
{
    if (rank_calls_update(&d->calls, s->range, s->model, s->ui->landscape.by) < 0)
        return -ENOMEM;
    landscape_choose_events(s, d);
    if (landscape_fill_values(s, d) < 0)
        return -ENOMEM;
    d->colored = d->values[0];
    formula_points_finish(&d->points);
    d->fault = (struct formula_fault){0};
    if (s->ui->landscape.shape == LANDSCAPE_LAYOUT && d->ranks && d->calls.count &&
        landscape_place_ranks(s, d) < 0)
        return -ENOMEM;
    if (d->points.axes[FORMULA_COLOR])
        d->colored = d->points.axes[FORMULA_COLOR];
    landscape_find_range(s->model, d);
    return 0;
}

int landscape_update(const struct stage *s, struct landscape_drawing *d)
{
    uint64_t figures = landscape_figures_key(s), visible = landscape_visible_key(s, figures);
    if (visible == d->key)
        return 0;
    d->key = 0;
    d->strokes_key = 0;
    if (figures != d->figures_key) {
        d->figures_key = 0;
        if (landscape_update_figures(s, d) < 0)
            return -ENOMEM;
        d->figures_key = figures;
    }
    landscape_filter(s, d);
    d->dot_count = 0;
    if (d->points.count && landscape_make_dots(s, d) < 0)
        return -ENOMEM;
    d->key = visible;
    return 0;
}

/* ---- words ---- */

int landscape_marks(const struct stage *s, uint32_t rank)
{
    return ui_marks_rank(s->ui, s->model, rank) || ui_row_selected(s->ui, s->model, rank);
}

struct quantity landscape_unit(const struct model *m)
{
    return m->group > 1 ? quantity_print("groups of %llu ranks", (unsigned long long)m->group)
                        : quantity_print("ranks");
}

/* Ranks that have figures: of a job by groups the first of each. */
static uint64_t landscape_rows(const struct model *m, uint64_t ranks)
{
    return m->group > 1 ? (ranks + m->group - 1) / m->group : ranks;
}

void landscape_format_means(const struct stage *s, const struct landscape_drawing *d, char *out,
                            size_t capacity)
{
    double sum = 0, selected_sum = 0;
    uint32_t selected = 0;
    for (uint32_t rank = 0; rank < d->ranks; rank++) {
        if (!d->shown[rank])
            continue;
        sum += d->colored[rank];
        if (landscape_marks(s, rank)) {
            selected++;
            selected_sum += d->colored[rank];
        }
    }
    snprintf(out, capacity, "%s of %s %s", quantity_grouped(d->shown_count).text,
             quantity_grouped(landscape_rows(s->model, d->ranks)).text,
             landscape_unit(s->model).text);
    if (d->shown_count)
        text_append(out, capacity, ", mean %s",
                    landscape_colored_text(s, d, sum / d->shown_count).text);
    if (selected)
        text_append(out, capacity, "; %s selected, mean %s", quantity_grouped(selected).text,
                    landscape_colored_text(s, d, selected_sum / selected).text);
}

void landscape_point_at(struct stage *s, const struct landscape_drawing *d, struct box box,
                        uint32_t rank)
{
    char name[300];
    scene_hit(s->brush.scene, box, HIT_RANK, rank, 0);
    tooltip_add(&s->tip, 0, "%s", piece_rank_on(s->model, rank, name, sizeof name));
    for (int i = 0; i < LANDSCAPE_EVENTS; i++) {
        enum rank_figure figure = s->ui->landscape.events[i].figure;
        if (d->events[i] == RANK_CALLS_NONE || (i && s->ui->landscape.shape != LANDSCAPE_LAYOUT))
            continue;
        tooltip_add(&s->tip, s->brush.theme->second, "%s, %s %s",
                    landscape_event_name(s, d, d->events[i]), landscape_figure_name(figure),
                    landscape_quantity(figure, d->values[i][rank]).text);
    }
}

/* Time columns and row order of the evolution strip. */
#include "viewer/views/live/view_live_parts.h"

#include "daemon/analysis/tables/array.h"
#include "holter/order.h"
#include "viewer/layout/mix.h"

#include <math.h>
#include <stdlib.h>

enum {
    COLUMN = 15, /* minimum distance of two circles */
    WIDEST = 44, /* maximum distance, where time is compressed */
    THIRDS = 3,  /* circles for a compressed segment: start, middle, end */
};

/* ---- which rows, and which stretches of time matter ---- */

struct weighed {
    uint32_t series;
    int trend;
    double latency; /* quantised, so that rows do not change places for small differences */
    uint64_t id;
};

ORDER_FUNCTION(evolution_compare_by_weight, struct weighed,
               4 * ORDER(b->trend, a->trend) + 2 * ORDER(b->latency, a->latency) +
                   ORDER(a->id, b->id))

static int evolution_order_regions(const struct latency *l, uint64_t first, uint64_t last,
                                   struct evolution *e)
{
    struct weighed *w = malloc((l->series_count + 1) * sizeof *w);
    uint32_t n = 0;
    if (!w || ARRAY_RESIZE(e->order, l->series_count + 1) != 0) {
        free(w);
        return -1;
    }
    for (uint32_t i = 0; i < l->series_count; i++) {
        struct latency_point sum;
        if (l->series[i].scope != SERIES_REGION ||
            !latency_between(&l->series[i], first, last, &sum))
            continue;
        double steps = sum.typical > 0 ? floor(log2(sum.typical) * 3 + 0.5) : 0;
        w[n++] = (struct weighed){i, sum.trend != TREND_CALM, steps, l->series[i].id};
    }
    qsort(w, n, sizeof *w, evolution_compare_by_weight);
    for (uint32_t i = 0; i < n; i++)
        e->order[i] = w[i].series;
    e->order_count = n;
    free(w);
    return 0;
}

ORDER_FUNCTION(evolution_compare_by_begin, struct evolution_segment, ORDER(a->first, b->first))

/* Collect the periods of growth and the steady periods of all series; periods that touch, or are
 * less than `gap` windows apart, are united.
 * @return number of periods */
static size_t evolution_collect_periods(const struct latency *l, uint64_t gap,
                                        struct evolution_segment *out, size_t capacity)
{
    size_t n = 0;
    for (uint32_t i = 0; i < l->series_count; i++) {
        const struct latency_series *s = &l->series[i];
        for (uint32_t k = 0; k < s->count; k++) {
            const struct latency_point *p = &s->points[k];
            if (p->trend == TREND_CALM)
                continue;
            if (n && k && s->points[k - 1].trend != TREND_CALM && out[n - 1].last < p->first)
                out[n - 1].last = p->last;
            else if (n < capacity)
                out[n++] = (struct evolution_segment){p->first, p->last, 0};
        }
    }
    qsort(out, n, sizeof *out, evolution_compare_by_begin);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (kept && out[i].first <= out[kept - 1].last + gap)
            out[kept - 1].last =
                out[i].last > out[kept - 1].last ? out[i].last : out[kept - 1].last;
        else
            out[kept++] = out[i];
    }
    return kept;
}

/* Cut the whole job into periods of interest and the calm time between them. */
static void evolution_find_segments(const struct model *m, struct evolution *e)
{
    struct evolution_segment found[4 * EVOLUTION_SEGMENTS];
    const struct series *s = &m->series;
    uint64_t at = s->first, end = s->first + s->count, gap = 4;
    size_t n = evolution_collect_periods(&m->latency, gap, found, sizeof found / sizeof *found);
    while (2 * n + 1 > EVOLUTION_SEGMENTS) {
        gap *= 2;
        n = evolution_collect_periods(&m->latency, gap, found, sizeof found / sizeof *found);
    }
    e->segment_count = 0;
    for (size_t i = 0; i < n && at < end; i++) {
        uint64_t first = found[i].first > at ? found[i].first : at;
        uint64_t last = found[i].last < end ? found[i].last : end - 1;
        if (last < first)
            continue;
        if (first > at)
            e->segments[e->segment_count++] = (struct evolution_segment){at, first - 1, 1};
        e->segments[e->segment_count++] = (struct evolution_segment){first, last, 0};
        at = last + 1;
    }
    if (at < end)
        e->segments[e->segment_count++] = (struct evolution_segment){at, end - 1, 1};
}

const struct evolution *evolution_update(const struct stage *s)
{
    struct evolution *e = &s->pictures->evolution;
    const struct latency *l = &s->model->latency;
    uint64_t first = 0, last = 0;
    ui_windows(s->ui, s->model, &first, &last);
    if (s->ui->compress) {
        first = 0;
        last = UINT64_MAX;
    }
    const uint64_t parts[] = {s->model->version, l->newest, l->series_count, first, last};
    const uint64_t key = mix_numbers(5, parts, sizeof parts / sizeof *parts);
    if (e->key == key)
        return e;
    if (evolution_order_regions(l, first, last, e) < 0)
        return e;
    evolution_find_segments(s->model, e);
    e->key = key;
    return e;
}

/* ---- columns ---- */

static void evolution_fill_linear(const struct stage *s, struct evolution_plot *p)
{
    uint64_t first, last;
    if (!timeline_windows(s->model, p->line, &first, &last))
        return;
    double px = p->line->w * (double)p->length_ns / (double)(p->line->end - p->line->begin);
    uint64_t per = px >= COLUMN ? 1 : (uint64_t)ceil(COLUMN / px);
    for (uint64_t at = first / per * per; at <= last && p->count < EVOLUTION_COLUMNS; at += per) {
        double x0 = timeline_x(p->line, (int64_t)(at * p->length_ns));
        p->columns[p->count++] = (struct evolution_column){
            at, at + per - 1, x0 + px * (double)per / 2, px * (double)per};
    }
}

static uint64_t evolution_columns_in_segment(const struct evolution_segment *seg, uint64_t per)
{
    uint64_t windows = seg->last - seg->first + 1;
    if (seg->calm)
        return windows < THIRDS ? windows : THIRDS;
    return (windows + per - 1) / per;
}

static void evolution_fill_compressed(const struct evolution *e, struct evolution_plot *p)
{
    uint64_t per = 1, total;
    uint64_t most = (uint64_t)fmin(fmax(floor(p->box.w / COLUMN), 8), EVOLUTION_COLUMNS);
    for (;; per *= 2) {
        total = 0;
        for (uint32_t i = 0; i < e->segment_count; i++)
            total += evolution_columns_in_segment(&e->segments[i], per);
        if (total <= most || per > UINT64_C(1) << 40)
            break;
    }
    double w = fmin(p->box.w / fmax((double)total, 1), WIDEST), x = p->box.x + w / 2;
    for (uint32_t i = 0; i < e->segment_count; i++) {
        const struct evolution_segment *seg = &e->segments[i];
        uint64_t n = evolution_columns_in_segment(seg, per), windows = seg->last - seg->first + 1;
        for (uint64_t k = 0; k < n && p->count < EVOLUTION_COLUMNS; k++, x += w) {
            uint64_t first = seg->calm ? windows * k / n : k * per,
                     last = seg->calm ? windows * (k + 1) / n - 1 : (k + 1) * per - 1;
            last = last < windows ? last : windows - 1;
            p->columns[p->count++] =
                (struct evolution_column){seg->first + first, seg->first + last, x, w};
        }
    }
}

void evolution_columns(const struct stage *s, const struct evolution *e, struct evolution_plot *p)
{
    p->count = 0;
    if (p->compressed)
        evolution_fill_compressed(e, p);
    else
        evolution_fill_linear(s, p);
}

double evolution_x(const struct evolution_plot *p, uint64_t window)
{
    if (!p->compressed)
        return timeline_x(p->line, (int64_t)(window * p->length_ns));
    for (uint32_t i = 0; i < p->count; i++) {
        const struct evolution_column *c = &p->columns[i];
        if (window <= c->last) {
            double share = window > c->first
                               ? (double)(window - c->first) / (double)(c->last - c->first + 1)
                               : 0;
            return c->x - c->w / 2 + share * c->w;
        }
    }
    return p->count ? p->columns[p->count - 1].x + p->columns[p->count - 1].w / 2 : p->box.x;
}

int evolution_at(const struct latency_series *s, const struct evolution_column *c,
                 struct latency_point *out)
{
    struct latency_point sum = {0};
    for (uint32_t i = latency_position(s, c->first); i < s->count && s->points[i].first <= c->last;
         i++) {
        uint64_t middle = s->points[i].first + (s->points[i].last - s->points[i].first) / 2;
        if (middle >= c->first && middle <= c->last)
            latency_merge(&sum, &s->points[i]);
    }
    *out = sum;
    return sum.windows > 0;
}

double evolution_lost(const struct latency_point *at)
{
    double transfer = (double)at->part_ns[LATENCY_NETWORK] +
                      (double)at->part_ns[LATENCY_LATE_RECEIVER] +
                      (double)at->part_ns[LATENCY_JOINT];
    if (!at->messages || !(at->reference > 1))
        return 0;
    return transfer * (1 - 1 / at->reference) / (double)at->windows;
}

double evolution_most_lost(const struct latency_series *s, const struct evolution_plot *p)
{
    double most = 0, transfer = 0;
    struct latency_point at;
    for (uint32_t i = 0; s && i < p->count; i++) {
        if (!evolution_at(s, &p->columns[i], &at) || !at.messages)
            continue;
        most = fmax(most, evolution_lost(&at));
        transfer =
            fmax(transfer, latency_transfer_ns(&at) * (double)at.messages / (double)at.windows);
    }
    return fmax(most, transfer / 2);
}

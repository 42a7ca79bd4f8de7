/* Geometry of a CommGram picture: heights of bars, widths and stacking of ribbons, hit tests. */
#include "viewer/views/commgram/columns.h"

#include "holter/bisect.h"
#include "holter/order.h"
#include "viewer/layout/ribbons.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Nine tenths of the bars shall hold all their ribbons side by side; no bar may need more than one
 * and a half times its height. Ribbons that do not fit overlap and darken, which shows contention
 *. */
static const double fitting = 0.9, most_load = 1.5;

/* A ribbon wider than it is long is illegible: maximum width as a share of its length. */
static const double most_width = 0.3;

void columns_finish(struct columns *c)
{
    free(c->tops);
    free(c->bottoms);
    free(c->ribbons);
    *c = (struct columns){0};
}

double columns_x(const struct columns *c, uint32_t column)
{
    return (double)column * c->step;
}

/* ---- bars ---- */

/* In a picture of some ranks only: share of the height for bars without ribbons. */
static const double quiet_share = 0.15;

/* Space that the bars of a column require. */
struct demand {
    uint32_t bars;
    double ranks, quiet; /* ranks of bars with ribbons (or of all bars); ranks of the others */
};

/* By bar: sides on which ribbons end; all sides if the picture is of all ranks. */
static unsigned char *columns_find_touched(const struct commgram_picture *p)
{
    int all = p->asked.ranks[0] == 0;
    unsigned char *touched = malloc((size_t)p->bar_count + 1);
    if (!touched)
        return NULL;
    memset(touched, all, (size_t)p->bar_count + 1);
    for (uint32_t i = 0; i < p->ribbon_count && !all; i++)
        touched[p->ribbons[i].from] = touched[p->ribbons[i].to] = 1;
    return touched;
}

static struct demand columns_compute_demand(const struct commgram_picture *p, uint32_t column,
                                            const unsigned char *touched)
{
    struct demand d = {0};
    for (uint32_t i = p->first_bar[column]; i < p->first_bar[column + 1]; i++) {
        d.bars += touched[i];
        *(touched[i] ? &d.ranks : &d.quiet) += (double)p->bars[i].ranks;
    }
    return d;
}

/* A bar's height is a share for each bar plus a share for each rank, equal in all columns. Bars
 * without ribbons in a picture of some ranks are grouped. */
static int columns_place_bars(struct columns *c, const struct commgram_picture *p)
{
    unsigned char *touched = columns_find_touched(p);
    struct demand most = {.bars = 1, .ranks = 1};
    if (!touched)
        return -ENOMEM;
    for (uint32_t k = 0; k <= p->column_count; k++) {
        struct demand d = columns_compute_demand(p, k, touched);
        most.bars = d.bars > most.bars ? d.bars : most.bars;
        most.ranks = fmax(most.ranks, d.ranks);
        most.quiet = fmax(most.quiet, d.quiet);
    }
    double h = most.quiet > 0 ? c->h * (1 - quiet_share) : c->h;
    double each = h / most.bars; /* one pixel between bars if each bar has at least two */
    double gap =
        each >= 2 * c->pixel ? fmax(floor(fmin(each * 0.3, 8) / c->pixel), 1) * c->pixel : 0;
    double gaps = most.quiet > 0 ? most.bars : most.bars - 1;
    double room = fmax(h - gap * gaps, 0), least = fmin(3, room / most.bars * 0.5);
    double unit = (room - least * most.bars) / most.ranks;
    double quiet_unit = most.quiet > 0 ? c->h * quiet_share / most.quiet : 0;
    for (uint32_t k = 0; k <= p->column_count; k++) {
        struct demand d = columns_compute_demand(p, k, touched);
        double height = (least + gap) * d.bars + unit * d.ranks + quiet_unit * d.quiet;
        double y = (c->h - height + (most.quiet > 0 ? 0 : gap)) / 2;
        for (uint32_t i = p->first_bar[k]; i < p->first_bar[k + 1]; i++) {
            double ranks = (double)p->bars[i].ranks;
            double tall = touched[i] ? least + unit * ranks : quiet_unit * ranks;
            c->tops[i] = (float)y;
            c->bottoms[i] = (float)(y + tall);
            y += tall + (touched[i] ? gap : 0);
            c->thin_bars += gap <= 0 || !touched[i];
        }
    }
    free(touched);
    return 0;
}

/* ---- ribbons ---- */

/* Bytes that leave (side 0) or reach (side 1) each bar. */
static void columns_add_loads(const struct commgram_picture *p, double *loads, int side)
{
    for (uint32_t i = 0; i < p->ribbon_count; i++)
        loads[side ? p->ribbons[i].to : p->ribbons[i].from] += (double)p->ribbons[i].bytes;
}

static int columns_choose_width(struct columns *c, const struct commgram_picture *p, double *loads)
{
    double *fits = malloc(((size_t)p->bar_count * 2 + 1) * sizeof *fits), least = INFINITY;
    size_t n = 0;
    if (!fits)
        return -ENOMEM;
    for (int side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < p->bar_count; i++) {
            double load = loads[(size_t)side * p->bar_count + i];
            if (load <= 0)
                continue;
            fits[n] = (double)(c->bottoms[i] - c->tops[i]) / load;
            least = fmin(least, fits[n++]);
        }
    }
    qsort(fits, n, sizeof *fits, order_doubles);
    c->per_byte = n ? fmin(fits[(size_t)((double)(n - 1) * (1 - fitting))], least * most_load) : 0;
    free(fits);
    double widest = 0;
    for (uint32_t i = 0; i < p->ribbon_count; i++)
        widest = fmax(widest, (double)p->ribbons[i].bytes);
    if (widest > 0)
        c->per_byte = fmin(c->per_byte, most_width * (c->step - c->bar_w) / widest);
    return 0;
}

/* Sort ribbons by their other end, then by this one: counting sort, twice. */
static int columns_sort_by_side(const struct commgram_picture *p, int side, uint32_t *order)
{
    uint32_t *first = calloc((size_t)p->bar_count + 1, sizeof *first);
    uint32_t *passed = malloc(((size_t)p->ribbon_count + 1) * sizeof *passed);
    for (int pass = 0; pass < 2 && first && passed; pass++) {
        int by_to = pass ? side : !side;
        memset(first, 0, ((size_t)p->bar_count + 1) * sizeof *first);
        for (uint32_t i = 0; i < p->ribbon_count; i++)
            first[(by_to ? p->ribbons[i].to : p->ribbons[i].from) + 1]++;
        for (uint32_t i = 0; i < p->bar_count; i++)
            first[i + 1] += first[i];
        for (uint32_t i = 0; i < p->ribbon_count; i++) {
            uint32_t at = pass ? passed[i] : i;
            uint64_t bar = by_to ? p->ribbons[at].to : p->ribbons[at].from;
            (pass ? order : passed)[first[bar]++] = at;
        }
    }
    int error = first && passed ? 0 : -ENOMEM;
    free(first);
    free(passed);
    return error;
}

/* Stack the ends of ribbons in the middle of their bar; where they need more space than the bar
 * has, they overlap. */
static void columns_stack_ends(struct columns *c, const struct commgram_picture *p,
                               const double *loads, const uint32_t *order, int side)
{
    uint64_t bar = UINT64_MAX;
    double used = 0;
    for (uint32_t n = 0; n < p->ribbon_count; n++) {
        const struct wire_ribbon_row *row = &p->ribbons[order[n]];
        struct columns_ribbon *r = &c->ribbons[order[n]];
        uint64_t at = side ? row->to : row->from;
        if (at != bar) {
            bar = at;
            used = 0;
        }
        double top = c->tops[at], h = (double)c->bottoms[at] - top, w = (double)r->width;
        double all = loads[(size_t)side * p->bar_count + at] * c->per_byte;
        double y = all > h ? top + (used + w / 2) / all * h : top + (h - all) / 2 + used + w / 2;
        if (all > h && w < h)
            y = fmin(fmax(y, top + w / 2), top + h - w / 2);
        else if (all > h)
            y = top + h / 2;
        *(side ? &r->y1 : &r->y0) = (float)y;
        used += w;
    }
}

/* Widen ribbons narrower than a pixel as far as the picture permits, so that a few remain visible
 * and many do not become fog. */
static void columns_widen_thin(struct columns *c)
{
    double ink = 0, across = c->step - c->bar_w;
    for (uint32_t i = 0; i < c->ribbon_count; i++) {
        const struct columns_ribbon *r = &c->ribbons[i];
        if ((double)r->width >= c->pixel)
            continue;
        c->thin_ribbons++;
        ink += hypot(across, (double)(r->y1 - r->y0));
    }
    double bearable = ink > 0 ? 0.25 * c->w * c->h / ink : 1;
    c->thin_width = fmin(fmax(bearable, 0.001 * c->pixel), 0.8 * c->pixel);
}

/* Range of message sizes: at least 64 B to 1 MiB, so that a colour means the same in most pictures.
 */
static void columns_find_size_range(struct columns *c)
{
    double least = 6, most = 20;
    for (uint32_t i = 0; i < c->ribbon_count; i++) {
        least = fmin(least, (double)c->ribbons[i].size);
        most = fmax(most, (double)c->ribbons[i].size);
    }
    c->size_least = floor(least);
    c->size_most = ceil(most);
}

static int columns_place_ribbons(struct columns *c, const struct commgram_picture *p)
{
    double *loads = calloc((size_t)p->bar_count * 2 + 1, sizeof *loads);
    uint32_t *order = malloc(((size_t)p->ribbon_count + 1) * sizeof *order);
    int error = loads && order ? 0 : -ENOMEM;
    if (!error) {
        columns_add_loads(p, loads, 0);
        columns_add_loads(p, loads + p->bar_count, 1);
        error = columns_choose_width(c, p, loads);
    }
    for (uint32_t i = 0; i < p->ribbon_count && !error; i++) {
        const struct wire_ribbon_row *row = &p->ribbons[i];
        c->ribbons[i].width = (float)((double)row->bytes * c->per_byte);
        c->ribbons[i].size =
            (float)log2(fmax((double)row->bytes / (double)(row->messages ? row->messages : 1), 1));
    }
    for (int side = 0; side < 2 && !error; side++) {
        error = columns_sort_by_side(p, side, order);
        if (!error)
            columns_stack_ends(c, p, loads, order, side);
    }
    free(loads);
    free(order);
    return error;
}

int columns_build(struct columns *c, const struct commgram_picture *p, double w, double h,
                  double pixel)
{
    if (c->version == p->version && c->w == w && c->h == h && c->pixel == pixel)
        return 0;
    columns_finish(c);
    if (!p->version || !p->column_count || w <= 0 || h <= 0)
        return 0;
    *c = (struct columns){.w = w, .h = h, .pixel = pixel, .count = p->column_count};
    c->tops = calloc((size_t)p->bar_count + 1, sizeof *c->tops);
    c->bottoms = calloc((size_t)p->bar_count + 1, sizeof *c->bottoms);
    c->ribbons = calloc((size_t)p->ribbon_count + 1, sizeof *c->ribbons);
    double step = w / c->count;
    c->bar_w = fmax(floor(fmin(fmax(step * 0.1, 2 * pixel), 10) / pixel), 1) * pixel;
    c->step = (w - c->bar_w) / c->count;
    int error = c->tops && c->bottoms && c->ribbons ? 0 : -ENOMEM;
    if (!error)
        error = columns_place_bars(c, p);
    if (!error)
        error = columns_place_ribbons(c, p);
    if (error) {
        columns_finish(c);
        return error;
    }
    c->ribbon_count = p->ribbon_count;
    columns_widen_thin(c);
    columns_find_size_range(c);
    c->version = p->version;
    return 0;
}

/* ---- what lies where ---- */

uint32_t columns_phase_at(const struct columns *c, double x)
{
    double at = c->step > 0 ? floor(x / c->step) : 0;
    return at < 0 ? 0 : at >= c->count ? c->count - 1 : (uint32_t)at;
}

uint32_t columns_bar_at(const struct columns *c, const struct commgram_picture *p, double x,
                        double y)
{
    const double reach = 3;
    double column = floor((x + reach) / c->step);
    if (!c->version || column < 0 || column > c->count || x > column * c->step + c->bar_w + reach)
        return COMMGRAM_NONE;
    uint32_t first = p->first_bar[(uint32_t)column], end = p->first_bar[(uint32_t)column + 1];
    uint32_t at = BISECT(i, first, end, (double)c->bottoms[i] < y);
    return at < end && (double)c->tops[at] <= y ? at : COMMGRAM_NONE;
}

uint32_t columns_ribbon_at(const struct columns *c, const struct commgram_picture *p, double x,
                           double y, double low, double high, uint32_t *others)
{
    uint32_t phase = c->version ? columns_phase_at(c, x) : 0, best = COMMGRAM_NONE, found = 0;
    double left = columns_x(c, phase) + c->bar_w, nearest = INFINITY;
    *others = 0;
    if (!c->version || x < left || x > columns_x(c, phase + 1))
        return best;
    double way = (x - left) / (c->step - c->bar_w);
    double at = ribbon_at(way), slope = ribbon_slope(way) / (c->step - c->bar_w);
    for (uint32_t i = 0; i < c->ribbon_count; i++) {
        const struct columns_ribbon *r = &c->ribbons[i];
        if (p->ribbons[i].column != phase || (double)r->size < low || (double)r->size > high)
            continue;
        double dy = (double)(r->y1 - r->y0), off = fabs((double)r->y0 + dy * at - y);
        double half = fmax((double)r->width / 2 * ribbon_bulge(dy * slope), c->pixel / 2);
        if (off > half + 1)
            continue;
        found += off <= half;
        if (off < nearest) {
            nearest = off;
            best = i;
        }
    }
    *others = found > 1 ? found - 1 : 0;
    return best;
}

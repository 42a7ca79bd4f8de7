/* Geometry of lanes: bars or cells of activity in time. */
#include "viewer/layout/lanes.h"

#include <math.h>
#include <string.h>

struct lanes lanes_fit(uint32_t rows, double h)
{
    struct lanes lanes = {.per = 1, .count = rows};
    if (rows == 0 || h < LANES_MIN_HEIGHT)
        return (struct lanes){.height = LANES_MIN_HEIGHT, .per = 1};
    double most = floor(h / LANES_MIN_HEIGHT); /* maximum number of lanes */
    if (rows > most) {
        lanes.per = (uint32_t)ceil(rows / most);
        lanes.count = (uint32_t)(((uint64_t)rows + lanes.per - 1) / lanes.per);
    }
    lanes.height = fmin(floor(h / lanes.count), LANES_MAX_HEIGHT);
    return lanes;
}

struct lanes lanes_fit_legible(uint32_t rows, double h, double first)
{
    double shown = fmin(floor(h / LANES_LEGIBLE_HEIGHT), rows), last = rows - shown;
    return (struct lanes){.height = LANES_LEGIBLE_HEIGHT,
                          .first = (uint32_t)fmin(fmax(first, 0), last),
                          .count = (uint32_t)fmax(shown, 0),
                          .per = 1};
}

/* Nanoseconds from the begin of the span, computed in integers: a double cannot hold a time of day
 * exactly. */
static double lane_time_since_begin(const struct lane_span *span, int64_t ns)
{
    return ns >= span->begin_ns ? (double)((uint64_t)ns - (uint64_t)span->begin_ns)
                                : -(double)((uint64_t)span->begin_ns - (uint64_t)ns);
}

static double lane_pixels_per_ns(const struct lane_span *span)
{
    return span->w / lane_time_since_begin(span, span->end_ns);
}

double lane_x(const struct lane_span *span, int64_t ns)
{
    return lane_time_since_begin(span, ns) * lane_pixels_per_ns(span);
}

int64_t lane_time(const struct lane_span *span, double x)
{
    return span->begin_ns + (int64_t)(x / span->w * lane_time_since_begin(span, span->end_ns));
}

/* Clip an interval to the span, in pixels. @return 0 when nothing of it is visible */
static int lanes_clip(const struct lane_span *span, int64_t begin_ns, uint64_t length_ns,
                      double *x0, double *x1)
{
    double begin = lane_time_since_begin(span, begin_ns), pixels = lane_pixels_per_ns(span);
    if (begin_ns >= span->end_ns || begin + (double)length_ns < 0)
        return 0;
    *x0 = begin > 0 ? begin * pixels : 0;
    *x1 = (begin + (double)length_ns) * pixels;
    *x1 = *x1 < span->w ? *x1 : span->w;
    return 1;
}

uint32_t lane_capacity(const struct lane_span *span)
{
    return (uint32_t)ceil(span->w) + 1;
}

void lane_begin(struct lane *lane, const struct lane_span *span, struct lane_bar *bars)
{
    *lane = (struct lane){.span = *span, .bars = bars};
}

void lane_add(struct lane *lane, int64_t begin_ns, uint64_t length_ns, unsigned kind)
{
    double x0, x1;
    if (kind >= LANES_KINDS || !lanes_clip(&lane->span, begin_ns, length_ns, &x0, &x1))
        return;
    /* The previous bar may be wider than its time, as bars have a minimum width: the next one
     * begins where it ends. */
    struct lane_bar *bar = lane->count ? &lane->bars[lane->count - 1] : NULL;
    int joins = bar && (x1 <= bar->x1 || x0 < bar->x0 + 1 || fmax(x0, bar->x1) + 1 > lane->span.w);
    if (!joins) {
        double from = bar ? fmax(x0, bar->x1) : x0;
        from = fmax(fmin(from, lane->span.w - 1), 0);
        bar = &lane->bars[lane->count++];
        *bar = (struct lane_bar){.x0 = from, .x1 = fmax(x1, from + 1), .kind = (uint8_t)kind};
        memset(lane->kinds, 0, sizeof lane->kinds);
    } else if (x1 > bar->x1) {
        bar->x1 = x1;
    }
    bar->count++;
    lane->kinds[kind] += fmax(x1 - x0, 1e-9);
    if (lane->kinds[kind] > lane->kinds[bar->kind])
        bar->kind = (uint8_t)kind;
}

uint32_t lane_columns(const struct lane_span *span)
{
    return (uint32_t)ceil(span->w);
}

void lane_spread(const struct lane_span *span, double *cells, int64_t begin_ns, uint64_t length_ns,
                 unsigned kind)
{
    double x0, x1;
    if (kind >= LANES_KINDS || !lanes_clip(span, begin_ns, length_ns, &x0, &x1))
        return;
    uint32_t columns = lane_columns(span), last = columns - 1;
    uint32_t from = (uint32_t)x0 < last ? (uint32_t)x0 : last,
             to = (uint32_t)x1 < last ? (uint32_t)x1 : last;
    double *row = cells + (size_t)kind * columns;
    x1 = x1 > x0 + 1e-6 ? x1 : x0 + 1e-6; /* intervals without duration stay visible */
    if (from == to) {
        row[from] += x1 - x0;
        return;
    }
    row[from] += from + 1 - x0;
    for (uint32_t i = from + 1; i < to; i++)
        row[i] += 1;
    row[to] += x1 - to;
}

unsigned lane_dominant_kind(const double *cells, uint32_t columns, uint32_t pixel, uint32_t rows,
                            double *share)
{
    unsigned most = LANES_KINDS;
    double sum = 0, best = 0;
    for (unsigned k = 0; k < LANES_KINDS; k++) {
        double part = cells[(size_t)k * columns + pixel];
        sum += part;
        most = part > best ? k : most;
        best = part > best ? part : best;
    }
    *share = rows == 0 ? 0 : sum < rows ? sum / rows : 1;
    return most;
}

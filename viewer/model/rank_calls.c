/* Figures of functions and code regions by rank. */
#include "viewer/model/rank_calls.h"

#include "daemon/analysis/tables/array.h"
#include "holter/order.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void rank_calls_finish(struct rank_calls *c)
{
    free(c->cells);
    *c = (struct rank_calls){0};
}

uint32_t rank_calls_find(const struct rank_calls *c, uint32_t id)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (c->ids[i] == id)
            return i;
    return RANK_CALLS_NONE;
}

/* An event, and its figures of all ranks. */
struct event_total {
    uint32_t id;
    uint64_t figures[CALLER_COLUMNS];
};

ORDER_FUNCTION(rank_calls_compare_events, struct event_total,
               2 * ORDER(b->figures[CALLER_TIME_NS], a->figures[CALLER_TIME_NS]) +
                   ORDER(a->id, b->id))

static uint32_t rank_calls_id_of(struct model_caller c, enum rank_calls_by by)
{
    return by == RANK_CALLS_REGION ? c.region : c.call;
}

/* All events that ranks took part in. @param ranks  is raised above the highest rank that called
 * @return NULL: no memory */
static struct event_total *rank_calls_list_events(const struct range *r, const struct model *m,
                                                  enum rank_calls_by by, uint32_t *count,
                                                  uint32_t *ranks)
{
    uint32_t capacity = 65536 + m->region_count; /* ids are below it */
    uint32_t *place = calloc(capacity, sizeof *place);
    struct event_total *events = NULL;
    uint32_t n = 0, room = 0;
    for (uint32_t i = 0; place && i < r->callers.count; i++) {
        const uint64_t *f = r->callers.figures + (size_t)i * CALLER_COLUMNS;
        struct model_caller caller = model_caller_at(m, i);
        uint32_t id = rank_calls_id_of(caller, by);
        *ranks = caller.rank >= *ranks ? caller.rank + 1 : *ranks;
        if ((!f[CALLER_COUNT] && !f[CALLER_TIME_NS]) || id >= capacity)
            continue;
        if (!place[id]) {
            if (ARRAY_FIT_ZERO(events, room, (uint64_t)n + 1) != 0)
                break;
            events[n++] = (struct event_total){.id = id};
            place[id] = n;
        }
        for (int k = 0; k < CALLER_COLUMNS; k++)
            events[place[id] - 1].figures[k] += f[k];
    }
    if (!events)
        events = calloc(1, sizeof *events);
    free(place);
    *count = n;
    return events;
}

static void rank_calls_fill(struct rank_calls *c, const struct range *r, const struct model *m)
{
    for (uint32_t i = 0; i < r->callers.count; i++) {
        struct model_caller caller = model_caller_at(m, i);
        uint32_t event = rank_calls_find(c, rank_calls_id_of(caller, c->by)), rank = caller.rank;
        if (event == RANK_CALLS_NONE || rank >= c->ranks)
            continue;
        uint64_t *cell = c->cells + ((size_t)event * c->ranks + rank) * CALLER_COLUMNS;
        for (int k = 0; k < CALLER_COLUMNS; k++)
            cell[k] += r->callers.figures[(size_t)i * CALLER_COLUMNS + (size_t)k];
    }
}

int rank_calls_update(struct rank_calls *c, const struct range *r, const struct model *m,
                      enum rank_calls_by by)
{
    if (c->seen == r->version + 1 && c->by == by)
        return 0;
    uint32_t count, ranks = m->rank_count;
    struct event_total *events = rank_calls_list_events(r, m, by, &count, &ranks);
    if (!events)
        return -ENOMEM;
    qsort(events, count, sizeof *events, rank_calls_compare_events);
    uint32_t kept = count < RANK_CALLS_EVENTS ? count : RANK_CALLS_EVENTS;
    if (ranks && kept > RANK_CALLS_CELLS / ranks)
        kept = RANK_CALLS_CELLS / ranks;
    uint64_t *cells = calloc((size_t)kept * ranks + 1, CALLER_COLUMNS * sizeof *cells);
    if (!cells) {
        free(events);
        return -ENOMEM;
    }
    rank_calls_finish(c);
    *c = (struct rank_calls){.by = by,
                             .count = kept,
                             .ranks = ranks,
                             .cells = cells,
                             .left_out = count - kept,
                             .seen = r->version + 1};
    for (uint32_t i = 0; i < kept; i++) {
        c->ids[i] = events[i].id;
        memcpy(c->totals[i], events[i].figures, sizeof c->totals[i]);
    }
    free(events);
    rank_calls_fill(c, r, m);
    return 1;
}

static double rank_calls_figure(const uint64_t *f, enum rank_figure figure)
{
    switch (figure) {
    case RANK_FIGURE_MEAN:
        return f[CALLER_COUNT] ? (double)f[CALLER_TIME_NS] / (double)f[CALLER_COUNT] : NAN;
    case RANK_FIGURE_CALLS:
        return (double)f[CALLER_COUNT];
    case RANK_FIGURE_BYTES:
        return (double)f[CALLER_BYTES] + (double)f[CALLER_BYTES_IN];
    default:
        return (double)f[CALLER_TIME_NS];
    }
}

double rank_calls_value(const struct rank_calls *c, uint32_t event, uint32_t rank,
                        enum rank_figure figure)
{
    if (event >= c->count || rank >= c->ranks)
        return NAN;
    return rank_calls_figure(c->cells + ((size_t)event * c->ranks + rank) * CALLER_COLUMNS, figure);
}

double rank_calls_total(const struct rank_calls *c, uint32_t event, enum rank_figure figure)
{
    return event < c->count ? rank_calls_figure(c->totals[event], figure) : NAN;
}

double rank_calls_correlation(const double *a, const double *b, const uint8_t *shown,
                              uint32_t count)
{
    double n = 0, mean_a = 0, mean_b = 0, aa = 0, bb = 0, ab = 0;
    for (uint32_t i = 0; i < count; i++) {
        if ((shown && !shown[i]) || !isfinite(a[i]) || !isfinite(b[i]))
            continue;
        /* Welford's update: no sum of squares that cancels */
        double da = a[i] - mean_a, db = b[i] - mean_b;
        n++;
        mean_a += da / n;
        mean_b += db / n;
        aa += da * (a[i] - mean_a);
        bb += db * (b[i] - mean_b);
        ab += da * (b[i] - mean_b);
    }
    if (n < 3 || !(aa > 0) || !(bb > 0))
        return NAN;
    return fmin(fmax(ab / sqrt(aa) / sqrt(bb), -1), 1);
}

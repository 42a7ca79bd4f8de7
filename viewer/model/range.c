/* Sums over a range of windows: ranks, pairs, calls, and latency. */
#include "viewer/model/range.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/key_order.h"
#include "holter/waiting.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void range_finish(struct range *r)
{
    struct range_sums *const sums[] = {&r->ranks,   &r->waits, &r->pairs,  &r->node_pairs,
                                       &r->latency, &r->calls, &r->callers};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        free(sums[i]->figures);
    free(r->by_waiting);
    free(r->awaited);
    free(r->top[PAIR_MESSAGES]);
    free(r->top[PAIR_BYTES]);
    flows_finish(&r->flows);
    flows_finish(&r->reality);
    memset(r, 0, sizeof *r);
}

static double waiting_of(const uint64_t *figures)
{
    uint64_t watched = figures[RANK_TIME_NS];
    return watched ? (double)model_waiting_ns(figures) / (double)watched : 0;
}

double range_waiting(const struct range *r, uint32_t rank)
{
    return rank < r->ranks.count ? waiting_of(r->ranks.figures + (size_t)rank * RANK_COLUMNS) : 0;
}

uint32_t range_awaited(const struct range *r, uint32_t rank)
{
    if (rank >= r->ranks.count || r->awaited[rank].rank == UINT32_MAX)
        return UINT32_MAX;
    uint64_t waited = model_waiting_ns(r->ranks.figures + (size_t)rank * RANK_COLUMNS);
    return waiting_is_for(r->awaited[rank].ns, waited) ? r->awaited[rank].rank : UINT32_MAX;
}

void range_shares(const struct range *r, uint32_t rank, double *shares)
{
    const uint64_t *figures =
        rank < r->ranks.count ? r->ranks.figures + (size_t)rank * RANK_COLUMNS : NULL;
    for (int c = 0; c < MODEL_CLASSES; c++)
        shares[c] = figures && figures[RANK_TIME_NS]
                        ? (double)figures[c] / (double)figures[RANK_TIME_NS]
                        : 0;
}

double range_latency(const struct range *r, uint32_t rank)
{
    const uint64_t *f =
        rank < r->ranks.count ? r->latency.figures + (size_t)rank * LATENCY_COLUMNS : NULL;
    return f ? latency_mean((double)f[LATENCY_MESSAGES], (double)f[LATENCY_LOGS]) : NAN;
}

double range_latency_error(const struct range *r, uint32_t rank)
{
    const uint64_t *f =
        rank < r->ranks.count ? r->latency.figures + (size_t)rank * LATENCY_COLUMNS : NULL;
    return f ? latency_mean_error((double)f[LATENCY_MESSAGES], (double)f[LATENCY_ERRORS]) : 0;
}

/* ---- orders -------------------------------------------------------------- */

/* Most waiting first; equal shares in order of ranks. */
static int order_ranks(struct range *r)
{
    struct key_place *places = malloc(2 * ((size_t)r->ranks.count + 1) * sizeof *places);
    uint32_t *order = malloc((r->ranks.count + 1) * sizeof *order);
    if (!places || !order) {
        free(places);
        free(order);
        return -ENOMEM;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->ranks.count; i++)
        if (r->ranks.figures[(size_t)i * RANK_COLUMNS + RANK_TIME_NS])
            places[n++] = (struct key_place){key_of_largest(range_waiting(r, i)), i};
    const struct key_place *sorted = key_order(places, places + n, n);
    for (uint32_t i = 0; i < n; i++)
        order[i] = sorted[i].place;
    free(places);
    free(r->by_waiting);
    r->by_waiting = order;
    r->by_waiting_count = n;
    return 0;
}

/* Largest first; equal ones in order of pairs, so that lists do not jump. */
static int order_pairs(struct range *r, enum pair_column column)
{
    struct key_place *places = malloc(2 * ((size_t)r->pairs.count + 1) * sizeof *places);
    if (!places || array_resize(&r->top[column], RANGE_TOP_PAIRS * sizeof **r->top) != 0) {
        free(places);
        return -ENOMEM;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->pairs.count; i++) {
        const uint64_t *pair = r->pairs.figures + (size_t)i * PAIR_COLUMNS;
        if (pair[PAIR_MESSAGES])
            places[n++] = (struct key_place){UINT64_MAX - pair[column], i};
    }
    const struct key_place *sorted = key_order(places, places + n, n);
    r->top_count[column] = n < RANGE_TOP_PAIRS ? n : RANGE_TOP_PAIRS;
    for (uint32_t i = 0; i < r->top_count[column]; i++)
        r->top[column][i] = sorted[i].place;
    free(places);
    return 0;
}

/* ---- sums ---------------------------------------------------------------- */

/* Make room for the sums of all items, which are not set yet. Without memory there are none. */
static int range_make_room(struct range *r, const struct model *m)
{
    const struct {
        struct range_sums *sums;
        unsigned columns;
        uint32_t items; /* in the model */
    } shapes[] = {
        {&r->ranks, RANK_COLUMNS, m->rank_count},
        {&r->waits, 1, m->waits.keys.count},
        {&r->pairs, PAIR_COLUMNS, m->pairs.keys.count},
        {&r->node_pairs, PAIR_COLUMNS, m->node_pairs.keys.count},
        {&r->latency, LATENCY_COLUMNS, m->rank_count},
        {&r->calls, CALLS_COLUMNS, m->calls.keys.count},
        {&r->callers, CALLER_COLUMNS, m->callers.keys.count},
    };
    const size_t count = sizeof shapes / sizeof *shapes;
    int code = ARRAY_FIT(r->awaited, r->awaited_capacity, (size_t)m->rank_count + 1);
    for (size_t i = 0; i < count; i++) {
        struct range_sums *sums = shapes[i].sums;
        sums->count = 0;
        if (code == 0)
            code = array_fit(&sums->figures, shapes[i].columns * sizeof *sums->figures,
                             &sums->capacity, (size_t)shapes[i].items + 1);
    }
    for (size_t i = 0; code == 0 && i < count; i++)
        shapes[i].sums->count = shapes[i].items;
    return code == 0 ? 0 : -ENOMEM;
}

static void range_copy(struct range_sums *sums, const uint64_t *from, unsigned columns)
{
    const size_t bytes = (size_t)sums->count * columns * sizeof *sums->figures;
    sums->total = (struct history_total){0};
    if (bytes > 0 && from)
        memcpy(sums->figures, from, bytes);
    else if (bytes > 0)
        memset(sums->figures, 0, bytes);
}

static struct history_span range_sum(struct range_sums *sums, const struct history *h,
                                     uint64_t first, uint64_t last)
{
    return history_sum_on(h, first, last, sums->figures, sums->count, &sums->total);
}

static void range_copy_pairs(struct range *r, const struct model *m)
{
    range_copy(&r->pairs, m->pairs.sums, PAIR_COLUMNS);
    range_copy(&r->node_pairs, m->node_pairs.sums, PAIR_COLUMNS);
}

static void range_copy_calls(struct range *r, const struct model *m)
{
    range_copy(&r->calls, m->calls.sums, CALLS_COLUMNS);
}

static void range_copy_start(struct range *r, const struct model *m)
{
    range_copy(&r->waits, m->waits.sums, 1);
    range_copy(&r->ranks, m->rank_sums, RANK_COLUMNS);
    range_copy_pairs(r, m);
    range_copy_calls(r, m);
}

static void range_extend(struct range *r, const struct history_span *span)
{
    if (!span->found)
        return;
    r->first = span->first < r->first ? span->first : r->first;
    r->last = span->last > r->last ? span->last : r->last;
    r->coarsest = span->coarsest > r->coarsest ? span->coarsest : r->coarsest;
}

static void range_sum_span(struct range *r, const struct model *m, uint64_t first, uint64_t last)
{
    const struct history_span a = range_sum(&r->ranks, &m->rank_history, first, last);
    struct history_span b = {0}, c = {0};
    range_sum(&r->waits, &m->waits.history, first, last);
    if (r->pairs_kind == RANGE_START) {
        range_copy_pairs(r, m);
    } else {
        b = range_sum(&r->pairs, &m->pairs.history, first, last);
        range_sum(&r->node_pairs, &m->node_pairs.history, first, last);
    }
    if (r->calls_kind == RANGE_START)
        range_copy_calls(r, m);
    else /* maxima of windows that left cannot be taken out: all are added up */
        c = history_sum(&m->calls.history, first, last, r->calls.figures, r->calls.count);
    if (a.found || b.found || c.found) {
        r->first = UINT64_MAX;
        r->last = 0;
    }
    range_extend(r, &a);
    range_extend(r, &b);
    range_extend(r, &c);
    r->covered = a.windows;
    r->pairs_covered = b.windows;
    r->calls_covered = c.windows;
}

/* Of equal times the lower rank, so that names do not jump. */
static void range_find_awaited(struct range *r, const struct model *m)
{
    for (uint32_t i = 0; i < r->ranks.count; i++)
        r->awaited[i] = (struct range_awaited){.rank = UINT32_MAX};
    for (uint32_t i = 0; i < r->waits.count; i++) {
        uint32_t rank = (uint32_t)m->waits.keys.keys[i].hi,
                 for_ = (uint32_t)m->waits.keys.keys[i].lo;
        if (rank >= r->ranks.count || !r->waits.figures[i])
            continue;
        struct range_awaited *a = &r->awaited[rank];
        if (r->waits.figures[i] > a->ns || (r->waits.figures[i] == a->ns && for_ < a->rank))
            *a = (struct range_awaited){for_, r->waits.figures[i]};
    }
}

static int range_sum_all(struct range *r, const struct model *m, uint64_t first, uint64_t last)
{
    int start = r->kind == RANGE_START;
    if (range_make_room(r, m) < 0)
        return -ENOMEM;
    r->latency_covered =
        range_sum(&r->latency, &m->latency.ranks, start ? 0 : first, start ? UINT64_MAX : last)
            .windows;
    if (start)
        range_copy_start(r, m);
    else
        range_sum_span(r, m, first, last);
    if (r->callers_kind == RANGE_START)
        range_copy(&r->callers, m->callers.sums, CALLER_COLUMNS);
    else
        range_sum(&r->callers, &m->callers.history, first, last);
    range_find_awaited(r, m);
    r->pairs_used = 0;
    r->total[PAIR_MESSAGES] = r->total[PAIR_BYTES] = 0;
    for (uint32_t i = 0; i < r->pairs.count; i++) {
        const uint64_t *p = r->pairs.figures + (size_t)i * PAIR_COLUMNS;
        r->pairs_used += p[PAIR_MESSAGES] > 0;
        r->total[PAIR_MESSAGES] += p[PAIR_MESSAGES];
        r->total[PAIR_BYTES] += p[PAIR_BYTES];
    }
    return 0;
}

static int has_details(const struct history *h, uint64_t first, uint64_t last)
{
    for (size_t i = 0; i < h->count; i++)
        if (h->slots[i].first <= last && h->slots[i].last >= first)
            return 1;
    return 0;
}

/* In how many windows there was something. The newest one is left out: its totals may be here
 * before its figures. */
static void range_count_busy(struct range *r, const struct model *m, uint64_t first, uint64_t last)
{
    const struct series *s = &m->series;
    r->busy = r->pairs_busy = r->calls_busy = 0;
    first = first > s->first ? first : s->first;
    for (uint64_t w = first; w <= last && w + 1 < s->first + s->count; w++) {
        const struct window_totals *t = series_at(s, w);
        r->busy += t && t->ranks;
        r->pairs_busy += t && t->sent;
        r->calls_busy += t && t->calls;
    }
}

/* A replay has details of where it was, which may be elsewhere; a live job of since when it is
 * followed. Of that a silent minute is one. */
static int lacks_details(const struct model *m, const struct history *h, uint64_t first,
                         uint64_t last, uint64_t busy)
{
    return !has_details(h, first, last) && (!h->count || m->playback.known || busy);
}

/* Is the whole job asked for? Its sums are then those since the start, which also hold what was
 * before this viewer connected. */
static int range_is_whole(const struct model *m, uint64_t first, uint64_t last)
{
    const struct series *s = &m->series;
    return s->count && !s->dropped && first <= s->first && last >= s->first + s->count - 1;
}

/* The kind of what one history holds: without details since the start, too. */
static enum range_kind range_kind_of(const struct range *r, const struct model *m,
                                     const struct history *h, uint64_t busy)
{
    return r->kind != RANGE_NONE && lacks_details(m, h, r->first, r->last, busy) ? RANGE_START
                                                                                 : r->kind;
}

int range_update(struct range *r, const struct model *m, enum range_kind kind, uint64_t first,
                 uint64_t last)
{
    if (r->valid && r->seen_version == m->details_version && r->asked == kind &&
        !strcmp(r->job, m->job) &&
        (kind == RANGE_START || (r->asked_first == first && r->asked_last == last)))
        return 0;
    if (kind == RANGE_NONE)
        first = last = UINT64_MAX; /* no window has this number */
    range_count_busy(r, m, first, last);
    r->fallback = kind == RANGE_SPAN && lacks_details(m, &m->rank_history, first, last, r->busy);
    r->kind = r->fallback || range_is_whole(m, first, last) ? RANGE_START : kind;
    r->first = kind == RANGE_NONE ? 0 : first;
    r->last = kind == RANGE_NONE ? 0 : last;
    r->pairs_kind = range_kind_of(r, m, &m->pairs.history, r->pairs_busy);
    r->calls_kind = range_kind_of(r, m, &m->calls.history, r->calls_busy);
    r->callers_kind = range_kind_of(r, m, &m->callers.history, r->calls_busy);
    r->coarsest = 1;
    if (r->kind == RANGE_START) /* the figures, and latency with them, are those of all windows */
        range_count_busy(r, m, 0, UINT64_MAX);
    if (range_sum_all(r, m, first, last) < 0 || order_ranks(r) < 0 ||
        order_pairs(r, PAIR_MESSAGES) < 0 || order_pairs(r, PAIR_BYTES) < 0)
        return -ENOMEM;
    r->asked = kind;
    r->asked_first = first;
    r->asked_last = last;
    r->seen_version = m->details_version;
    memcpy(r->job, m->job, sizeof r->job);
    r->valid = 1;
    r->version++;
    return 1;
}

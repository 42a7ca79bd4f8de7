/* Sums over a range of windows: ranks, pairs, calls, and latency. */
#include "viewer/model/range.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/key_order.h"
#include "holter/order.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void range_finish(struct range *r)
{
    free(r->ranks);
    free(r->by_waiting);
    free(r->waits);
    free(r->awaited);
    free(r->pairs);
    free(r->node_pairs);
    free(r->top[PAIR_MESSAGES]);
    free(r->top[PAIR_BYTES]);
    free(r->calls);
    free(r->callers);
    free(r->latency);
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
    return rank < r->rank_count ? waiting_of(r->ranks + (size_t)rank * RANK_COLUMNS) : 0;
}

uint32_t range_awaited(const struct range *r, uint32_t rank)
{
    if (rank >= r->rank_count || r->awaited[rank].rank == UINT32_MAX)
        return UINT32_MAX;
    uint64_t waited = model_waiting_ns(r->ranks + (size_t)rank * RANK_COLUMNS);
    return r->awaited[rank].ns >= waited / 10 ? r->awaited[rank].rank : UINT32_MAX;
}

void range_shares(const struct range *r, uint32_t rank, double *shares)
{
    const uint64_t *figures = rank < r->rank_count ? r->ranks + (size_t)rank * RANK_COLUMNS : NULL;
    for (int c = 0; c < MODEL_CLASSES; c++)
        shares[c] = figures && figures[RANK_TIME_NS]
                        ? (double)figures[c] / (double)figures[RANK_TIME_NS]
                        : 0;
}

double range_latency(const struct range *r, uint32_t rank)
{
    const uint64_t *f = rank < r->rank_count ? r->latency + (size_t)rank * LATENCY_COLUMNS : NULL;
    return f ? latency_mean((double)f[LATENCY_MESSAGES], (double)f[LATENCY_LOGS]) : NAN;
}

double range_latency_error(const struct range *r, uint32_t rank)
{
    const uint64_t *f = rank < r->rank_count ? r->latency + (size_t)rank * LATENCY_COLUMNS : NULL;
    return f ? latency_mean_error((double)f[LATENCY_MESSAGES], (double)f[LATENCY_ERRORS]) : 0;
}

/* ---- orders -------------------------------------------------------------- */

struct weighted {
    double weight;
    uint32_t item;
};

/* Heaviest first; equal weights in order of items, so that lists do not jump. */
ORDER_FUNCTION(range_compare_heavier, struct weighted,
               2 * ORDER(b->weight, a->weight) + ORDER(a->item, b->item))

/* Most waiting first; equal shares in order of ranks. */
static int order_ranks(struct range *r)
{
    struct key_place *places = malloc(2 * ((size_t)r->rank_count + 1) * sizeof *places);
    uint32_t *order = malloc((r->rank_count + 1) * sizeof *order);
    if (!places || !order) {
        free(places);
        free(order);
        return -ENOMEM;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->rank_count; i++)
        if (r->ranks[(size_t)i * RANK_COLUMNS + RANK_TIME_NS])
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

/* Restore the heap below i; the root is the lightest of those kept. */
static void range_sift(struct weighted *heap, uint32_t n, uint32_t i)
{
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= n)
            return;
        if (child + 1 < n && range_compare_heavier(&heap[child + 1], &heap[child]) > 0)
            child++;
        if (range_compare_heavier(&heap[child], &heap[i]) <= 0)
            return;
        struct weighted swap = heap[i];
        heap[i] = heap[child];
        heap[child] = swap;
        i = child;
    }
}

static int order_pairs(struct range *r, enum pair_column column)
{
    struct weighted *heap = malloc(RANGE_TOP_PAIRS * sizeof *heap);
    if (!heap || array_resize(&r->top[column], RANGE_TOP_PAIRS * sizeof **r->top) != 0) {
        free(heap);
        return -ENOMEM;
    }
    uint32_t *top = r->top[column];
    uint32_t n = 0;
    uint64_t least = 0; /* of those kept, once their number is the maximum */
    for (uint32_t i = 0; i < r->pair_count; i++) {
        const uint64_t *pair = r->pairs + (size_t)i * PAIR_COLUMNS;
        /* of equal weights the first one stays */
        if ((n == RANGE_TOP_PAIRS && pair[column] <= least) || !pair[PAIR_MESSAGES])
            continue;
        int full = n == RANGE_TOP_PAIRS;
        n += !full;
        heap[full ? 0 : n - 1] = (struct weighted){(double)pair[column], i};
        if (n < RANGE_TOP_PAIRS)
            continue;
        for (uint32_t k = full ? 1 : n / 2; k-- > 0;)
            range_sift(heap, n, k);
        least = (uint64_t)heap[0].weight;
    }
    qsort(heap, n, sizeof *heap, range_compare_heavier);
    for (uint32_t i = 0; i < n; i++)
        top[i] = heap[i].item;
    r->top_count[column] = n;
    free(heap);
    return 0;
}

/* ---- sums ---------------------------------------------------------------- */

/* Room for the sums of so many items, which are not set yet. */
static int range_need(uint64_t **sums, size_t *capacity, uint32_t items, unsigned columns)
{
    return array_fit(sums, columns * sizeof **sums, capacity, (size_t)items + 1);
}

static int range_make_room(struct range *r, const struct model *m)
{
    return range_need(&r->ranks, &r->rank_capacity, m->rank_count, RANK_COLUMNS) != 0 ||
                   range_need(&r->pairs, &r->pair_capacity, m->pairs.keys.count, PAIR_COLUMNS) !=
                       0 ||
                   range_need(&r->node_pairs, &r->node_pair_capacity, m->node_pairs.keys.count,
                              PAIR_COLUMNS) != 0 ||
                   range_need(&r->latency, &r->latency_capacity, m->rank_count, LATENCY_COLUMNS) !=
                       0 ||
                   range_need(&r->waits, &r->wait_capacity, m->waits.keys.count, 1) != 0 ||
                   range_need(&r->calls, &r->call_capacity, m->calls.keys.count, CALLS_COLUMNS) !=
                       0 ||
                   range_need(&r->callers, &r->caller_capacity, m->callers.keys.count,
                              CALLER_COLUMNS) != 0 ||
                   ARRAY_FIT(r->awaited, r->awaited_capacity, (size_t)m->rank_count + 1) != 0
               ? -ENOMEM
               : 0;
}

static void copy_sums(uint64_t *sums, const uint64_t *from, uint32_t items, unsigned columns)
{
    size_t bytes = (size_t)items * columns * sizeof *sums;
    if (items && from)
        memcpy(sums, from, bytes);
    else if (items)
        memset(sums, 0, bytes);
}

static void sum_pairs_start(struct range *r, const struct model *m)
{
    r->pair_total = r->node_pair_total = (struct history_total){0};
    copy_sums(r->pairs, m->pairs.sums, r->pair_count, PAIR_COLUMNS);
    copy_sums(r->node_pairs, m->node_pairs.sums, r->node_pair_count, PAIR_COLUMNS);
    copy_sums(r->calls, m->calls.sums, r->call_count, CALLS_COLUMNS);
}

static void sum_start(struct range *r, const struct model *m)
{
    r->wait_total = r->rank_total = (struct history_total){0};
    copy_sums(r->waits, m->waits.sums, r->wait_count, 1);
    copy_sums(r->ranks, m->rank_sums, r->rank_count, RANK_COLUMNS);
    sum_pairs_start(r, m);
}

static void sum_span(struct range *r, const struct model *m, uint64_t first, uint64_t last)
{
    struct history_span a =
        history_sum_on(&m->rank_history, first, last, r->ranks, r->rank_count, &r->rank_total);
    struct history_span b = {0};
    history_sum_on(&m->waits.history, first, last, r->waits, r->wait_count, &r->wait_total);
    if (r->pairs_kind == RANGE_START) {
        sum_pairs_start(r, m);
    } else {
        b = history_sum_on(&m->pairs.history, first, last, r->pairs, r->pair_count, &r->pair_total);
        history_sum_on(&m->node_pairs.history, first, last, r->node_pairs, r->node_pair_count,
                       &r->node_pair_total);
        /* maxima of windows that left cannot be taken out: all are added up */
        history_sum(&m->calls.history, first, last, r->calls, r->call_count);
    }
    r->first = a.found && (!b.found || a.first < b.first) ? a.first : b.first;
    r->last = a.last > b.last ? a.last : b.last;
    r->coarsest = a.coarsest > b.coarsest ? a.coarsest : b.coarsest;
    r->covered = a.windows;
    r->pairs_covered = b.windows;
}

static void sum_callers(struct range *r, const struct model *m, uint64_t first, uint64_t last)
{
    if (r->callers_kind == RANGE_START) {
        r->caller_total = (struct history_total){0};
        copy_sums(r->callers, m->callers.sums, r->caller_count, CALLER_COLUMNS);
    } else {
        history_sum_on(&m->callers.history, first, last, r->callers, r->caller_count,
                       &r->caller_total);
    }
}

/* Of equal times the lower rank, so that names do not jump. */
static void range_find_awaited(struct range *r, const struct model *m)
{
    for (uint32_t i = 0; i < r->rank_count; i++)
        r->awaited[i] = (struct range_awaited){.rank = UINT32_MAX};
    for (uint32_t i = 0; i < r->wait_count; i++) {
        uint32_t rank = (uint32_t)m->waits.keys.keys[i].hi,
                 for_ = (uint32_t)m->waits.keys.keys[i].lo;
        if (rank >= r->rank_count || !r->waits[i])
            continue;
        struct range_awaited *a = &r->awaited[rank];
        if (r->waits[i] > a->ns || (r->waits[i] == a->ns && for_ < a->rank))
            *a = (struct range_awaited){for_, r->waits[i]};
    }
}

static int sum_all(struct range *r, const struct model *m, uint64_t first, uint64_t last)
{
    int start = r->kind == RANGE_START;
    r->rank_count = r->pair_count = r->node_pair_count = r->call_count = r->wait_count =
        r->caller_count = 0;
    if (range_make_room(r, m) < 0)
        return -ENOMEM;
    r->rank_count = m->rank_count;
    r->pair_count = m->pairs.keys.count;
    r->node_pair_count = m->node_pairs.keys.count;
    r->call_count = m->calls.keys.count;
    r->wait_count = m->waits.keys.count;
    r->caller_count = m->callers.keys.count;
    history_sum_on(&m->latency.ranks, start ? 0 : first, start ? UINT64_MAX : last, r->latency,
                   r->rank_count, &r->latency_total);
    if (start)
        sum_start(r, m);
    else
        sum_span(r, m, first, last);
    sum_callers(r, m, first, last);
    range_find_awaited(r, m);
    r->pairs_used = 0;
    r->total[PAIR_MESSAGES] = r->total[PAIR_BYTES] = 0;
    for (uint32_t i = 0; i < r->pair_count; i++) {
        const uint64_t *p = r->pairs + (size_t)i * PAIR_COLUMNS;
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

/* A replay has details of where it was, which may be elsewhere; of a live job a silent minute is
 * one. */
static int lacks_details(const struct model *m, const struct history *h, uint64_t first,
                         uint64_t last)
{
    return !has_details(h, first, last) && (!h->count || m->playback.known);
}

/* Is the whole job asked for? Its sums are then those since the start, which also hold what was
 * before this viewer connected. */
static int range_is_whole(const struct model *m, uint64_t first, uint64_t last)
{
    const struct series *s = &m->series;
    return s->count && !s->dropped && first <= s->first && last >= s->first + s->count - 1;
}

int range_update(struct range *r, const struct model *m, enum range_kind kind, uint64_t first,
                 uint64_t last)
{
    if (r->valid && r->seen_version == m->details_version && r->asked == kind &&
        !strcmp(r->job, m->job) &&
        (kind == RANGE_START || (r->asked_first == first && r->asked_last == last)))
        return 0;
    r->fallback = kind == RANGE_SPAN && lacks_details(m, &m->rank_history, first, last);
    r->kind = r->fallback || range_is_whole(m, first, last) ? RANGE_START : kind;
    r->pairs_kind = lacks_details(m, &m->pairs.history, first, last) ? RANGE_START : r->kind;
    r->callers_kind = lacks_details(m, &m->callers.history, first, last) ? RANGE_START : r->kind;
    r->first = first;
    r->last = last;
    r->coarsest = 1;
    if (sum_all(r, m, first, last) < 0 || order_ranks(r) < 0 || order_pairs(r, PAIR_MESSAGES) < 0 ||
        order_pairs(r, PAIR_BYTES) < 0)
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

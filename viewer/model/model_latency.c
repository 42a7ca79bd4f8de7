/* Latency by region over time, and the ranks of each region. */
#include "viewer/model/model_latency.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/rank_list.h"

#include "holter/bisect.h"
#include "holter/order.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MINIMUM_POINTS = 64,
    LOG_SCALE = 1024,         /* of logarithms and uncertainties in the history */
    LOG_BIAS = 32,            /* added to logarithms, so that none is negative */
    MOST_ERROR = 1024,        /* maximum of uncertainties, as multiples of the reference */
    TREND_WEIGHT = 16,        /* time without a trend is thinned out that much earlier */
    CLASSES_BUDGET = 8 << 20, /* bytes for the history of size classes: hours of some ten classes */
};

void latency_init(struct latency *l, size_t budget)
{
    *l = (struct latency){0};
    history_init(&l->ranks, LATENCY_COLUMNS, 0, budget);
    history_init(&l->classes, CLASS_COLUMNS, 0, CLASSES_BUDGET);
}

void latency_clear(struct latency *l)
{
    for (uint32_t i = 0; i < l->series_count; i++)
        free(l->series[i].points);
    free(l->series);
    free(l->regions);
    free(l->region_of);
    free(l->criteria);
    history_clear(&l->ranks);
    history_clear(&l->classes);
    /* the histories stay as they are: they tell sums made before from those made after */
    *l = (struct latency){
        .ranks = l->ranks, .classes = l->classes, .regions_version = l->regions_version + 1};
}

/* ---- series -------------------------------------------------------------- */

static double model_latency_finite_or_zero(double value)
{
    return isfinite(value) && value >= 0 ? value : NAN;
}

static double model_latency_mean_of(double a, uint64_t a_messages, double b, uint64_t b_messages)
{
    if (isnan(a) || isnan(b))
        return isnan(a) ? b : a;
    double n = (double)a_messages + (double)b_messages;
    return n > 0 ? a * ((double)a_messages / n) + b * ((double)b_messages / n) : fmax(a, b);
}

static double geometric_mean_of(double a, uint64_t a_messages, double b, uint64_t b_messages)
{
    return exp2(model_latency_mean_of(log2(a), a_messages, log2(b), b_messages));
}

/* Growth is what to act upon, then steady, then calm. */
static enum series_trend model_latency_worse_trend(enum series_trend a, enum series_trend b)
{
    if (a == TREND_GROWTH || b == TREND_GROWTH)
        return TREND_GROWTH;
    return a > b ? a : b;
}

void latency_merge(struct latency_point *to, const struct latency_point *from)
{
    if (!to->windows) {
        *to = *from;
        return;
    }
    to->recent = model_latency_mean_of(to->recent, to->messages, from->recent, from->messages);
    to->reference =
        model_latency_mean_of(to->reference, to->messages, from->reference, from->messages);
    to->typical = geometric_mean_of(to->typical, to->messages, from->typical, from->messages);
    to->highest = fmax(to->highest, from->highest); /* fmax passes over NaN */
    to->messages += from->messages;
    to->delayed += from->delayed;
    to->windows += from->windows;
    for (int p = 0; p < LATENCY_PARTS; p++)
        to->part_ns[p] += from->part_ns[p];
    to->error_ns += from->error_ns;
    to->first = from->first < to->first ? from->first : to->first;
    to->last = from->last > to->last ? from->last : to->last;
    to->trend = model_latency_worse_trend(to->trend, from->trend);
}

/* Without the geometric mean in the message, the mean is used. */
static double typical_of(double typical, double reference)
{
    return isfinite(typical) && typical > 0 ? typical
           : reference > 0                  ? model_latency_finite_or_zero(reference)
                                            : NAN;
}

static struct latency_point point_of(const struct wire_series_row *row, uint64_t window)
{
    double typical = typical_of(row->typical, row->reference);
    struct latency_point p = {
        .first = window,
        .last = window,
        .windows = 1,
        .messages = row->messages,
        .delayed = row->delayed < row->messages ? row->delayed : row->messages,
        .recent = model_latency_finite_or_zero(row->recent),
        .reference = model_latency_finite_or_zero(row->reference),
        .typical = typical,
        .highest = typical,
        .part_ns = {row->network_ns, row->late_sender_ns, row->late_receiver_ns, row->joint_ns},
        .error_ns = row->error_ns,
        .trend = (enum series_trend)row->trend,
    };
    return p;
}

uint32_t latency_position(const struct latency_series *s, uint64_t window)
{
    return BISECT(i, 0, s->count, s->points[i].last < window);
}

/* Two neighbours whose common span is smallest against their age, as in a history; periods of
 * growth and steady ones keep their resolution longer, and their edges. */
static uint32_t model_latency_cheapest_pair(const struct latency_series *s)
{
    uint64_t newest = s->points[s->count - 1].last;
    uint32_t best = 0;
    double best_cost = INFINITY;
    for (uint32_t i = 0; i + 1 < s->count; i++) {
        const struct latency_point *a = &s->points[i], *b = a + 1;
        double cost = (double)(b->last - a->first + 1) / (double)(newest - b->last + 1);
        cost *= a->trend != TREND_CALM || b->trend != TREND_CALM ? TREND_WEIGHT : 1;
        cost *= a->trend != b->trend ? TREND_WEIGHT : 1;
        if (cost < best_cost) {
            best_cost = cost;
            best = i;
        }
    }
    return best;
}

static void thin_out(struct latency_series *s, uint32_t maximum)
{
    while (s->count > maximum && s->count > 1) {
        uint32_t i = model_latency_cheapest_pair(s);
        latency_merge(&s->points[i], &s->points[i + 1]);
        memmove(&s->points[i + 1], &s->points[i + 2], (s->count - i - 2) * sizeof *s->points);
        s->count--;
    }
}

static int put_point(struct latency_series *s, const struct latency_point *p)
{
    uint32_t at = latency_position(s, p->first);
    if (at < s->count && s->points[at].first <= p->first) {
        if (s->points[at].first == s->points[at].last)
            s->points[at] = *p; /* a correction */
        else
            latency_merge(&s->points[at], p);
        return 0;
    }
    if (ARRAY_FIT_AT(s->points, s->capacity, s->count) != 0)
        return -ENOMEM;
    memmove(&s->points[at + 1], &s->points[at], (s->count - at) * sizeof *s->points);
    s->points[at] = *p;
    s->count++;
    return 0;
}

/* A trend is reported some windows after it began: those windows belong to it. */
static void mark_trend(struct latency_series *s, const struct wire_series_row *row, uint64_t window)
{
    if (s->count && s->points[s->count - 1].last > window)
        return; /* came late: the newer one stands */
    s->trend = (enum series_trend)row->trend;
    s->trend_since = row->trend_since < window ? row->trend_since : window;
    if (s->trend == TREND_CALM)
        return;
    for (uint32_t i = s->count; i-- > 0 && s->points[i].first >= s->trend_since;)
        s->points[i].trend = s->trend;
}

/* The series that has been silent longest makes room for a new one. */
static struct latency_series *silent_longest(struct latency *l)
{
    struct latency_series *best = NULL;
    uint64_t oldest = UINT64_MAX;
    for (uint32_t i = 0; i < l->series_count; i++) {
        struct latency_series *s = &l->series[i];
        uint64_t newest = s->count ? s->points[s->count - 1].last : 0;
        if (s->scope == SERIES_REGION && newest < oldest) {
            oldest = newest;
            best = s;
        }
    }
    return best;
}

static struct latency_series *series_for(struct latency *l, const struct wire_series_row *row,
                                         uint32_t guess)
{
    uint64_t id = row->scope == SERIES_REGION ? row->id : 0;
    for (uint32_t i = 0; i < l->series_count; i++) {
        struct latency_series *s = &l->series[(guess + i) % l->series_count];
        if (s->scope == (enum series_scope)row->scope && s->id == id)
            return s;
    }
    struct latency_series *fresh;
    if (l->series_count == LATENCY_SERIES) {
        fresh = silent_longest(l);
        free(fresh->points);
    } else {
        if (ARRAY_RESIZE(l->series, l->series_count + 1) != 0)
            return NULL;
        fresh = &l->series[l->series_count++];
    }
    *fresh = (struct latency_series){.scope = (enum series_scope)row->scope, .id = id};
    return fresh;
}

static int model_latency_apply_series(struct latency *l, const struct wire_latencies *m)
{
    for (uint64_t i = 0; i < m->series_count; i++) {
        const struct wire_series_row *row = &m->series[i];
        if (i >= LATENCY_SERIES || row->scope > SERIES_REGION || row->trend > TREND_STEADY) {
            l->ignored++;
            continue;
        }
        struct latency_series *s = series_for(l, row, (uint32_t)i);
        struct latency_point p = point_of(row, m->window);
        if (!s || put_point(s, &p) < 0)
            return -ENOMEM;
        mark_trend(s, row, m->window);
        uint64_t maximum = LATENCY_BUDGET / (l->series_count * sizeof p);
        maximum = maximum < MINIMUM_POINTS   ? MINIMUM_POINTS
                  : maximum > LATENCY_POINTS ? LATENCY_POINTS
                                             : maximum;
        thin_out(s, (uint32_t)maximum);
    }
    return 0;
}

/* ---- single ranks -------------------------------------------------------- */

struct rank_figures {
    uint32_t rank;
    uint64_t figures[LATENCY_COLUMNS];
};

ORDER_FUNCTION(model_latency_compare_by_rank, struct rank_figures, ORDER(a->rank, b->rank))

static uint32_t model_latency_gather(struct latency *l, const struct wire_latencies *m,
                                     struct rank_figures *out)
{
    uint32_t n = 0;
    for (uint64_t i = 0; i < m->ranks_count; i++) {
        const struct wire_rank_latency_row *row = &m->ranks[i];
        double typical = typical_of(row->typical, row->reference);
        if (row->rank >= LATENCY_RANKS || isnan(typical) || !row->messages) {
            l->ignored += row->rank >= LATENCY_RANKS;
            continue;
        }
        uint64_t messages = row->messages < UINT64_C(1) << 40 ? row->messages : UINT64_C(1) << 40;
        double log = fmin(fmax(log2(typical) + LOG_BIAS, 0), 2 * LOG_BIAS);
        double error = row->error > 0 ? fmin(row->error, MOST_ERROR) : 0;
        out[n++] = (struct rank_figures){(uint32_t)row->rank,
                                         {messages, (uint64_t)(log * LOG_SCALE * (double)messages),
                                          (uint64_t)(error * LOG_SCALE * (double)messages)}};
    }
    qsort(out, n, sizeof *out, model_latency_compare_by_rank);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!kept || out[kept - 1].rank != out[i].rank)
            out[kept++] = out[i];
    return kept;
}

static int model_latency_apply_ranks(struct latency *l, const struct wire_latencies *m)
{
    if (!m->ranks_count)
        return 0;
    struct rank_figures *rows = malloc(m->ranks_count * sizeof *rows);
    uint32_t *items = malloc(m->ranks_count * sizeof *items);
    uint64_t *values = malloc(m->ranks_count * LATENCY_COLUMNS * sizeof *values);
    int error = rows && items && values ? 0 : -ENOMEM;
    if (!error) {
        uint32_t n = model_latency_gather(l, m, rows);
        for (uint32_t i = 0; i < n; i++) {
            items[i] = rows[i].rank;
            memcpy(values + (size_t)i * LATENCY_COLUMNS, rows[i].figures, sizeof rows[i].figures);
        }
        error = n ? history_put(&l->ranks, m->window, items, values, n) : 0;
    }
    free(rows);
    free(items);
    free(values);
    return error;
}

/* The size classes that had messages in this window, with their median times. */
static int model_latency_apply_classes(struct latency *l, const struct wire_latencies *m)
{
    uint32_t items[LATENCY_CLASS(2, 0)], n = 0;
    uint64_t values[LATENCY_CLASS(2, 0) * CLASS_COLUMNS];
    for (uint64_t i = 0; i < m->criteria_count; i++) {
        const struct wire_criterion_row *row = &m->criteria[i];
        if (!row->window_messages || !row->window_ns)
            continue;
        uint32_t item = row->locality < 2 && row->size_class < SIZE_CLASSES
                            ? LATENCY_CLASS(row->locality, row->size_class)
                            : LATENCY_NONE;
        if (item == LATENCY_NONE || (n && items[n - 1] >= item)) {
            l->ignored++;
            continue;
        }
        const uint64_t most = UINT64_C(1) << 40;
        uint64_t messages = row->window_messages < most ? row->window_messages : most;
        double log = log2((double)row->window_ns) + LOG_BIAS;
        values[n * CLASS_COLUMNS + CLASS_MESSAGES] = messages;
        values[n * CLASS_COLUMNS + CLASS_LOGS] = (uint64_t)(log * LOG_SCALE * (double)messages);
        items[n++] = item;
    }
    return n ? history_put(&l->classes, m->window, items, values, n) : 0;
}

static int model_latency_apply_criteria(struct latency *l, const struct wire_latencies *m)
{
    if (!m->criteria_count)
        return 0;
    struct wire_criterion_row *rows = malloc(m->criteria_count * sizeof *rows);
    if (!rows)
        return -ENOMEM;
    memcpy(rows, m->criteria, m->criteria_count * sizeof *rows);
    free(l->criteria);
    l->criteria = rows;
    l->criteria_count = (uint32_t)m->criteria_count;
    return model_latency_apply_classes(l, m);
}

int latency_apply(struct latency *l, const struct wire_latencies *m, int snapshot)
{
    int again = snapshot && l->known && m->window <= l->newest;
    if (again)
        return 0;
    l->known = 1;
    if (m->series_count || m->window > l->newest)
        l->error_ns = m->error_ns;
    l->newest = m->window > l->newest && !(snapshot && m->more) ? m->window : l->newest;
    l->rejected += m->rejected;
    l->uncertain += m->uncertain;
    int error = model_latency_apply_series(l, m);
    if (!error)
        error = model_latency_apply_ranks(l, m);
    return error ? error : model_latency_apply_criteria(l, m);
}

/* ---- regions ------------------------------------------------------------- */

static int need_ranks(struct latency *l, uint32_t count)
{
    if (count <= l->rank_count)
        return 0;
    if (ARRAY_RESIZE(l->region_of, count) != 0)
        return -ENOMEM;
    while (l->rank_count < count)
        l->region_of[l->rank_count++] = LATENCY_NONE;
    return 0;
}

static int model_latency_apply_regions(struct latency *l, const struct wire_regions *m)
{
    uint64_t maximum = l->region_count + m->regions_count;
    if (ARRAY_RESIZE(l->regions, maximum + 1) != 0)
        return -ENOMEM;
    for (uint64_t i = 0; i < m->regions_count; i++) {
        const struct wire_latency_region_row *row = &m->regions[i];
        if (l->regions_more && latency_region_find(l, row->id) != LATENCY_NONE)
            continue; /* a later part repeats it */
        l->regions[l->region_count++] = (struct latency_region){row->id, row->ranks, LATENCY_NONE};
    }
    return 0;
}

int latency_apply_regions(struct latency *l, const struct wire_regions *m)
{
    uint32_t count = 0;
    for (uint64_t i = 0; i < m->members_count; i++)
        if (m->members[i].rank < LATENCY_RANKS && m->members[i].rank >= count)
            count = (uint32_t)m->members[i].rank + 1;
    if (need_ranks(l, count) < 0)
        return -ENOMEM;
    if (!l->regions_more) {
        l->region_count = 0;
        for (uint32_t i = 0; i < l->rank_count; i++)
            l->region_of[i] = LATENCY_NONE;
    }
    if (model_latency_apply_regions(l, m) < 0)
        return -ENOMEM;
    uint32_t guess = 0;
    for (uint64_t i = 0; i < m->members_count; i++) {
        const struct wire_region_member_row *row = &m->members[i];
        if (guess >= l->region_count || l->regions[guess].id != row->region)
            guess = latency_region_find(l, row->region);
        if (row->rank >= LATENCY_RANKS || guess == LATENCY_NONE) {
            l->ignored++;
            continue;
        }
        l->region_of[row->rank] = guess;
        if (row->rank < l->regions[guess].first)
            l->regions[guess].first = (uint32_t)row->rank;
    }
    l->ranks_together = m->ranks_together;
    l->regions_more = m->more != 0;
    l->known = 1;
    l->regions_version++;
    return 0;
}

/* ---- questions ----------------------------------------------------------- */

const struct latency_series *latency_find(const struct latency *l, enum series_scope scope,
                                          uint64_t id)
{
    for (uint32_t i = 0; i < l->series_count; i++)
        if (l->series[i].scope == scope && (scope != SERIES_REGION || l->series[i].id == id))
            return &l->series[i];
    return NULL;
}

uint32_t latency_region_find(const struct latency *l, uint64_t id)
{
    for (uint32_t i = 0; i < l->region_count; i++)
        if (l->regions[i].id == id)
            return i;
    return LATENCY_NONE;
}

uint64_t latency_region_of(const struct latency *l, uint32_t rank)
{
    if (rank >= l->rank_count || l->region_of[rank] >= l->region_count)
        return 0;
    return l->regions[l->region_of[rank]].id;
}

void latency_region_ranks(const struct latency *l, uint64_t id, uint64_t group, uint64_t world,
                          char *out, size_t capacity)
{
    uint32_t region = latency_region_find(l, id);
    struct rank_runs runs;
    rank_runs_begin(&runs, out, capacity, "\xe2\x80\xa6");
    for (uint32_t r = 0; region != LATENCY_NONE && r < l->rank_count; r++)
        if (l->region_of[r] == region)
            rank_runs_add_row(&runs, r, group, world);
    rank_runs_end(&runs);
}

int latency_between(const struct latency_series *s, uint64_t first, uint64_t last,
                    struct latency_point *out)
{
    struct latency_point sum = {0};
    for (uint32_t i = latency_position(s, first); i < s->count && s->points[i].first <= last; i++)
        latency_merge(&sum, &s->points[i]);
    if (sum.windows)
        *out = sum;
    return sum.windows > 0;
}

double latency_mean(double messages, double logs)
{
    return messages > 0 ? exp2(logs / LOG_SCALE / messages - LOG_BIAS) : NAN;
}

double latency_mean_error(double messages, double errors)
{
    return messages > 0 ? errors / LOG_SCALE / messages : 0;
}

double latency_transfer_ns(const struct latency_point *p)
{
    const uint64_t *part = p->part_ns;
    return (double)(part[LATENCY_NETWORK] + part[LATENCY_LATE_RECEIVER] + part[LATENCY_JOINT]) /
           (double)p->messages;
}

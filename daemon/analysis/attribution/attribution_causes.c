/* The causes found in the sums: one finding for each cause that delays the job.
 *
 * All delays are in units of work: time by the time in which the job did the same work in the
 * baseline, so that they can be compared. A job that is held up does less in a window; how much
 * less is measured by the number of calls that its ranks make. */
#include "daemon/analysis/attribution/attribution_view.h"

#include "holter/order.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Windows; with fewer, ranks and nodes are compared with each other. */
#define MINIMUM_BASELINE 3u
#define MINIMUM_DELAY 0.01 /* a smaller delay is no finding */

/* ---- figures ------------------------------------------------------------- */

double view_now(const struct view *v, uint32_t rank, enum rank_figure f)
{
    const double *x = v->now.ranks[rank];
    return x[RANK_LENGTH] > 0 ? x[f] / (x[RANK_LENGTH] * v->progress) : 0;
}

double view_base(const struct view *v, uint32_t rank, enum rank_figure f)
{
    if (v->absolute)
        return 0;
    const double *x = v->base.ranks[rank];
    return x[RANK_LENGTH] > 0 ? x[f] / x[RANK_LENGTH] : 0;
}

double view_growth(const struct view *v, uint32_t rank, enum rank_figure f)
{
    double growth = view_now(v, rank, f) - view_base(v, rank, f);
    return growth > 0 ? growth : 0;
}

double view_quantile(double *values, size_t count, double q)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof(*values), order_doubles);
    return values[(size_t)(q * (double)(count - 1))];
}

double view_rate(double excess, double expected)
{
    return expected > 0 ? excess / expected : 0;
}

/* ---- windows and ranks --------------------------------------------------- */

static int view_sum_windows(struct view *v, uint64_t onset)
{
    const struct attribution *a = v->a;
    int error = attribution_sum_reserve(&v->now, a->rank_count + 1, a->pairs.count + 1);
    if (error == 0)
        error = attribution_sum_reserve(&v->base, a->rank_count + 1, a->pairs.count + 1);
    for (uint32_t i = 0; i < a->slice_count && error == 0; i++) {
        const struct attribution_slice *slice = attribution_slice_at(a, i);
        if (slice->number >= onset || !slice->disturbed)
            error = attribution_sum_add(slice->number >= onset ? &v->now : &v->base, slice);
    }
    for (uint32_t r = 0; r < a->base.rank_capacity && r < v->base.rank_capacity; r++)
        for (int f = 0; f < RANK_FIGURES; f++)
            v->base.ranks[r][f] += a->base.ranks[r][f];
    for (uint32_t p = 0; p < a->base.pair_capacity && p < v->base.pair_capacity; p++)
        for (int f = 0; f < PAIR_FIGURES; f++)
            v->base.pairs[p][f] += a->base.pairs[p][f];
    v->base.windows += a->base.windows;
    v->absolute = onset == 0 || v->base.windows < MINIMUM_BASELINE;
    return error;
}

static int view_can_judge_rank(const struct view *v, uint32_t rank)
{
    return v->now.ranks[rank][RANK_LENGTH] > 0 &&
           (v->absolute || v->base.ranks[rank][RANK_LENGTH] > 0);
}

static int view_choose_ranks(struct view *v)
{
    const uint32_t count = v->a->rank_count;
    v->ranks = malloc(((size_t)count + 1) * sizeof(*v->ranks));
    for (uint32_t r = 0; v->ranks != NULL && r < count; r++)
        if (view_can_judge_rank(v, r))
            v->ranks[v->count++] = r;
    return v->ranks == NULL ? -ENOMEM : 0;
}

static int view_allocate(struct view *v)
{
    size_t capacity = (size_t)v->count + 1, nodes = (size_t)v->a->node_count + 1;
    v->late = calloc(5 * capacity, sizeof(*v->late));
    v->node_sum = calloc(2 * nodes, sizeof(*v->node_sum));
    if (v->late == NULL || v->node_sum == NULL)
        return -ENOMEM;
    v->network = v->late + capacity;
    v->joint = v->network + capacity;
    v->load = v->joint + capacity;
    v->scratch = v->load + capacity;
    v->node_weight = v->node_sum + nodes;
    return 0;
}

void view_finish(struct view *v)
{
    attribution_sum_finish(&v->now);
    attribution_sum_finish(&v->base);
    free(v->ranks);
    free(v->late);
    free(v->node_sum);
}

/* Work done in a window: calls by calls in the baseline. The lower quartile over ranks: where the
 * pattern has changed, some make more calls for the same work. */
static void view_find_progress(struct view *v)
{
    size_t count = 0;
    double matched = 0, inter = 0;
    v->progress = 1;
    for (uint32_t i = 0; i < v->count; i++) {
        uint32_t r = v->ranks[i];
        double before = view_base(v, r, RANK_CALLS), now = view_now(v, r, RANK_CALLS);
        if (before > 0 && now > 0)
            v->scratch[count++] = now / before;
        matched += v->now.ranks[r][RANK_MATCHED];
        inter += v->now.ranks[r][RANK_INTER_IN];
    }
    if (count > 0)
        v->progress = view_quantile(v->scratch, count, 0.25);
    v->sampling = matched > 0 && inter > matched ? inter / matched : 1;
}

/* ---- findings ------------------------------------------------------------ */

struct attribution_finding *view_add_finding(struct view *v, enum attribution_cause_kind kind,
                                             double delay)
{
    if (delay < MINIMUM_DELAY || v->found == ATTRIBUTION_CAUSES)
        return NULL;
    struct attribution_finding *f = &v->findings[v->found++];
    *f = (struct attribution_finding){.kind = kind, .delay = delay, .baseline = !v->absolute};
    return f;
}

void view_insert(uint32_t *list, double *values, uint32_t *count, uint32_t capacity, uint32_t what,
                 double value)
{
    uint32_t at = *count;
    while (at > 0 && values[at - 1] < value)
        at--;
    if (at == capacity)
        return;
    uint32_t moved = *count < capacity ? *count - at : capacity - 1 - at;
    memmove(list + at + 1, list + at, moved * sizeof(*list));
    memmove(values + at + 1, values + at, moved * sizeof(*values));
    list[at] = what;
    values[at] = value;
    if (*count < capacity)
        ++*count;
}

void view_name_ranks(const struct view *v, struct attribution_finding *f, const double *values,
                     double minimum)
{
    double best[ATTRIBUTION_RANKS];
    for (uint32_t i = 0; i < v->count; i++)
        if (values[i] > 0 && values[i] >= minimum)
            view_insert(f->ranks, best, &f->rank_count, ATTRIBUTION_RANKS, v->ranks[i], values[i]);
    for (uint32_t i = 0; i < f->rank_count && f->node_count < ATTRIBUTION_NODES; i++) {
        uint32_t node = attribution_node_of(v->a, f->ranks[i]), k = 0;
        while (k < f->node_count && f->nodes[k] != node)
            k++;
        if (k == f->node_count && node != ATTRIBUTION_NO_NODE)
            f->nodes[f->node_count++] = node;
    }
}

double view_largest(const double *values, uint32_t count)
{
    double maximum = 0;
    for (uint32_t i = 0; i < count; i++)
        maximum = values[i] > maximum ? values[i] : maximum;
    return maximum;
}

double view_mean_above(const double *values, uint32_t count, double minimum)
{
    double sum = 0, n = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (values[i] > 0 && values[i] >= minimum) {
            sum += values[i];
            n++;
        }
    }
    return n > 0 ? sum / n : 0;
}

/* Nothing stands out: report at least what grew most. */
static void view_find_largest_growth(struct view *v)
{
    static const enum attribution_cause_kind kinds[] = {CAUSE_BACKGROUND, CAUSE_LATE_SENDER,
                                                        CAUSE_LATE_RECEIVER, CAUSE_COLLECTIVE};
    static const enum rank_figure figures[] = {RANK_NETWORK, RANK_WAITED, RANK_CAME_LATE,
                                               RANK_COLLECTIVE};
    double maximum = 1e-4; /* less is rounding */
    int which = -1;
    for (int k = 0; k < 4 && !v->absolute; k++) {
        double growth = 0;
        for (uint32_t i = 0; i < v->count; i++)
            growth += view_growth(v, v->ranks[i], figures[k]) / v->count;
        if (growth > maximum) {
            maximum = growth;
            which = k;
        }
    }
    if (which < 0)
        return;
    struct attribution_finding *f = &v->findings[v->found++];
    *f = (struct attribution_finding){
        .kind = kinds[which], .delay = maximum, .baseline = 1, .first = maximum, .ratio = NAN};
    f->others = NAN;
}

/* ---- the result ----------------------------------------------------------- */

ORDER_FUNCTION(view_compare_findings, struct attribution_finding,
               2 * ORDER(b->delay, a->delay) + ORDER(a->kind, b->kind))

static void view_write_result(struct view *v, struct attribution_result *out)
{
    double all = 0;
    qsort(v->findings, v->found, sizeof(*v->findings), view_compare_findings);
    for (uint32_t i = 0; i < v->found; i++)
        all += v->findings[i].delay;
    memset(out, 0, sizeof(*out));
    for (uint32_t i = 0; i < v->found; i++) {
        const struct attribution_finding *f = &v->findings[i];
        struct attribution_cause *c = &out->causes[out->cause_count++];
        c->kind = f->kind;
        c->delay = f->delay;
        c->ratio = f->ratio;
        c->share = f->delay / all;
        memcpy(c->ranks, f->ranks, sizeof(c->ranks));
        memcpy(c->nodes, f->nodes, sizeof(c->nodes));
        c->rank_count = f->rank_count;
        c->node_count = f->node_count;
        c->all_nodes = f->all;
        attribution_describe(v->a, f, c->text, sizeof(c->text));
        attribution_advise(v->a, f, c->advice, sizeof(c->advice));
    }
    out->windows = v->now.windows;
    out->baseline = v->absolute ? 0 : v->base.windows;
}

static int view_find_causes(struct view *v, uint64_t onset)
{
    if (v->now.windows == 0 || v->count == 0)
        return 0;
    view_find_ranks(v);
    int error = view_find_network(v, onset);
    error = error ? error : view_find_mapping(v);
    if (error)
        return error;
    view_find_collective(v);
    if (v->found == 0)
        view_find_largest_growth(v);
    return 0;
}

int view_begin(struct view *v, const struct attribution *a, uint64_t onset)
{
    *v = (struct view){.a = a, .progress = 1, .level = 1, .sampling = 1};
    int error = view_sum_windows(v, onset);
    if (error == 0)
        error = view_choose_ranks(v);
    if (error == 0)
        error = view_allocate(v);
    if (error == 0)
        view_find_progress(v);
    return error;
}

int attribution_result(const struct attribution *a, uint64_t onset, struct attribution_result *out)
{
    struct view v;
    int error = view_begin(&v, a, onset);
    if (error == 0)
        error = view_find_causes(&v, onset);
    if (error == 0)
        view_write_result(&v, out);
    view_finish(&v);
    return error;
}

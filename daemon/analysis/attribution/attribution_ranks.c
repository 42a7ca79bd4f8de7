/* Ranks that begin a delay: those that are outside of MPI for longer, and those that handle more
 * messages. */
#include "daemon/analysis/attribution/attribution_view.h"

#include "daemon/analysis/tables/load_balance.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define OVERLOAD 1.5 /* messages of an overloaded rank by the mean, and by those before */
/* Of 30 programs in which a node, and a rank elsewhere, are slow at once 93 to 97 % have both
 * named. */
#define WHOLE 0.5  /* of the late ranks are on nodes that are slow as a whole: these are named */
#define OTHER 0.25 /* of the largest lateness: others are late, too; ... */
#define OTHER_LATE 0.1     /* ... and by so much of the time of the same work */
#define OVERLOAD_ALONE 3.0 /* by the mean alone, where nothing is known of before */

/* ---- overloaded ranks (A2) ------------------------------------------------ */

/* The load balance is set for ranks that handle so many more messages than the mean, and than
 * before, that they stand out. */
static void ranks_find_load(struct view *v)
{
    struct load_balance balance = {.processes = 0};
    for (uint32_t i = 0; i < v->count; i++)
        load_balance_add(&balance, view_now(v, v->ranks[i], RANK_MESSAGES));
    for (uint32_t i = 0; i < v->count; i++)
        load_balance_deviate(&balance, view_now(v, v->ranks[i], RANK_MESSAGES));
    for (uint32_t i = 0; i < v->count; i++) {
        double mc = view_now(v, v->ranks[i], RANK_MESSAGES);
        double before = view_base(v, v->ranks[i], RANK_MESSAGES);
        double lb = load_balance_of(&balance, mc);
        double limit = v->absolute ? OVERLOAD_ALONE : OVERLOAD;
        if (lb >= 1.5 && mc >= limit * load_balance_mean(&balance) && mc >= OVERLOAD * before &&
            mc * v->progress > before)
            v->load[i] = lb;
    }
}

/* Time by which an overloaded rank is busy for longer: outside of MPI, and in messaging calls in
 * which it does not itself wait for late senders. */
static double ranks_busy_excess(const struct view *v, uint32_t i)
{
    uint32_t r = v->ranks[i];
    double messaging = view_growth(v, r, RANK_MESSAGING), waited = view_growth(v, r, RANK_WAITED);
    return v->late[i] + (messaging > waited ? messaging - waited : 0);
}

static void ranks_find_pattern(struct view *v)
{
    double *busy = v->scratch, maximum = 0, mean = 0, load = 0, normal = 0;
    for (uint32_t i = 0; i < v->count; i++)
        busy[i] = ranks_busy_excess(v, i);
    if (v->absolute)
        normal = view_quantile(busy, v->count, 0.5);
    for (uint32_t i = 0; i < v->count; i++) {
        uint32_t r = v->ranks[i];
        double held_up = view_growth(v, r, RANK_AWAITED) + view_growth(v, r, RANK_CAME_LATE) +
                         view_growth(v, r, RANK_NETWORK_OUT) + view_growth(v, r, RANK_NETWORK);
        busy[i] = v->load[i] > 0 && held_up > 0 ? ranks_busy_excess(v, i) - normal : 0;
        mean += view_now(v, r, RANK_MESSAGES) / v->count;
        load = busy[i] > 0 && v->load[i] > load ? v->load[i] : load;
    }
    maximum = view_largest(busy, v->count);
    struct attribution_finding *f =
        view_add_finding(v, CAUSE_PATTERN, view_mean_above(busy, v->count, MUCH * maximum));
    if (f == NULL)
        return;
    view_name_ranks(v, f, busy, MUCH * maximum);
    f->first = view_now(v, f->ranks[0], RANK_MESSAGES) / mean;
    f->second = load;
    f->ratio =
        view_base(v, f->ranks[0], RANK_MESSAGES) > 0
            ? view_now(v, f->ranks[0], RANK_MESSAGES) / view_base(v, f->ranks[0], RANK_MESSAGES)
            : NAN;
    for (uint32_t i = 0; i < v->count; i++)
        if (v->load[i] > 0)
            v->late[i] = 0; /* reported by this finding */
}

/* ---- ranks that are late -------------------------------------------------- */

/* By time of the same work: a worker that a master serves more often, since others ask for less,
 * does more of it than the job. */
static double ranks_time_outside(const struct view *v, uint32_t rank, int before)
{
    const double now = view_now(v, rank, RANK_CALLS), was = view_base(v, rank, RANK_CALLS);
    const bool changed = view_largest(v->load, v->count) > 0; /* calls are no measure of it then */
    const double more = !changed && was > 0 && now > was ? now / was : 1;
    return before ? view_base(v, rank, RANK_LENGTH) - view_base(v, rank, RANK_MPI)
                  : (view_now(v, rank, RANK_LENGTH) - view_now(v, rank, RANK_MPI)) / more;
}

/* How much partners wait for each node, in node_sum. */
static void ranks_sum_held_up(struct view *v)
{
    memset(v->node_sum, 0, (v->a->node_count + 1) * sizeof(double));
    for (uint32_t i = 0; i < v->count; i++) {
        uint32_t r = v->ranks[i], node = attribution_node_of(v->a, r);
        if (node != ATTRIBUTION_NO_NODE)
            v->node_sum[node] +=
                v->sampling * (view_growth(v, r, RANK_AWAITED) + view_growth(v, r, RANK_CAME_LATE));
    }
}

/* Do others wait for a rank, or for its node? Ranks in the middle of a slow node have only slow
 * partners. */
static int ranks_holds_up(const struct view *v, uint32_t rank, double late, double collective)
{
    uint32_t node = attribution_node_of(v->a, rank);
    double own = view_growth(v, rank, RANK_AWAITED) + view_growth(v, rank, RANK_CAME_LATE);
    double all = node == ATTRIBUTION_NO_NODE ? v->sampling * own : v->node_sum[node];
    return all >= 0.1 * late || collective >= 0.25 * late;
}

/* Growth of the time in which a rank may wait for others without a message of theirs: in
 * collectives, immediate ones, too, and where ranks use files together. */
static double ranks_synchronising(const struct view *v, uint32_t rank)
{
    const bool silent =
        view_now(v, rank, RANK_MESSAGES) <= 0 && view_base(v, rank, RANK_MESSAGES) <= 0;
    return view_growth(v, rank, RANK_COLLECTIVE) + view_growth(v, rank, RANK_IO) +
           (silent ? view_growth(v, rank, RANK_MESSAGING) : 0);
}

/* Growth of the time outside of MPI for the same work, beyond that of most ranks: beyond the lower
 * quartile, since half of the ranks may be on a slow node. */
static void ranks_find_late(struct view *v)
{
    for (uint32_t i = 0; i < v->count; i++)
        v->scratch[i] = ranks_synchronising(v, v->ranks[i]);
    double collective = view_quantile(v->scratch, v->count, 0.5);
    for (uint32_t i = 0; i < v->count; i++) {
        v->late[i] = ranks_time_outside(v, v->ranks[i], 0) - ranks_time_outside(v, v->ranks[i], 1);
        v->scratch[i] = v->late[i];
    }
    double normal = view_quantile(v->scratch, v->count, 0.25);
    double fence = 2 * (view_quantile(v->scratch, v->count, 0.5) - normal);
    fence += v->scratch[(v->count - 1) / 2]; /* ordinary differences between ranks */
    ranks_sum_held_up(v);
    for (uint32_t i = 0; i < v->count; i++) {
        double late = v->late[i] - normal;
        int stands_out = late > 0 && (!v->absolute || v->late[i] > fence);
        v->late[i] = stands_out && ranks_holds_up(v, v->ranks[i], late, collective) ? late : 0;
    }
}

/* Is that rank of a node late, too, which is longest in MPI? Of jobs by node. */
static int ranks_are_all_late(const struct view *v, uint32_t node, double late)
{
    const double apart = view_now(v, node, RANK_LONGEST_MPI) - view_now(v, node, RANK_MPI),
                 before = view_base(v, node, RANK_LONGEST_MPI) - view_base(v, node, RANK_MPI);
    return apart - before <= MUCH * late;
}

/* Are all ranks of a node late, or nearly all? By the sums of ranks_are_whole_nodes(). */
static int ranks_is_slow_node(const struct view *v, uint32_t node)
{
    const double least = v->a->by_node ? 1 : 2;
    return node != ATTRIBUTION_NO_NODE && v->node_weight[node] >= least &&
           v->node_sum[node] >= 0.75 * v->node_weight[node];
}

/* Are whole nodes late, and others not? The nodes are named in the finding. */
static int ranks_are_whole_nodes(struct view *v, struct attribution_finding *f, double minimum)
{
    uint32_t nodes = 0, slow = 0;
    double late = 0, on_slow = 0, best[ATTRIBUTION_NODES];
    memset(v->node_sum, 0, (v->a->node_count + 1) * sizeof(double));
    memset(v->node_weight, 0, (v->a->node_count + 1) * sizeof(double));
    for (uint32_t i = 0; i < v->count; i++) {
        uint32_t node = attribution_node_of(v->a, v->ranks[i]);
        if (node == ATTRIBUTION_NO_NODE)
            continue;
        const int is_late = v->late[i] >= minimum;
        v->node_weight[node]++;
        v->node_sum[node] +=
            is_late && (!v->a->by_node || ranks_are_all_late(v, v->ranks[i], v->late[i]));
        late += is_late;
    }
    f->node_count = 0;
    for (uint32_t n = 0; n < v->a->node_count; n++) {
        nodes += v->node_weight[n] > 0;
        if (!ranks_is_slow_node(v, n))
            continue;
        slow++;
        on_slow += v->node_sum[n];
        view_insert(f->nodes, best, &f->node_count, ATTRIBUTION_NODES, n, v->node_sum[n]);
    }
    return slow > 0 && slow < nodes && on_slow >= WHOLE * late;
}

/* The wait state that the partners of late ranks suffer most. */
static enum attribution_cause_kind ranks_symptom(const struct view *v, double minimum)
{
    double awaited = 0, was_late = 0, collective = 0;
    for (uint32_t i = 0; i < v->count; i++) {
        collective += ranks_synchronising(v, v->ranks[i]);
        if (v->late[i] < minimum)
            continue;
        awaited += v->sampling * view_growth(v, v->ranks[i], RANK_AWAITED);
        was_late += v->sampling * view_growth(v, v->ranks[i], RANK_CAME_LATE);
    }
    if (awaited + was_late < 0.1 * collective)
        return CAUSE_COLLECTIVE;
    return awaited >= was_late ? CAUSE_LATE_SENDER : CAUSE_LATE_RECEIVER;
}

/* Name the late ranks of a finding: of slow nodes those that are on them. Of what is named, the
 * lateness is negative from then on. */
static void ranks_name(struct view *v, struct attribution_finding *f, double minimum)
{
    uint32_t nodes[ATTRIBUTION_NODES];
    const uint32_t node_count = f->kind == CAUSE_SLOW_NODE ? f->node_count : 0;
    memcpy(nodes, f->nodes, sizeof(nodes));
    for (uint32_t i = 0; i < v->count; i++) {
        const int named = node_count > 0
                              ? ranks_is_slow_node(v, attribution_node_of(v->a, v->ranks[i]))
                              : v->late[i] >= minimum;
        v->scratch[i] = named && v->late[i] >= minimum ? v->late[i] : 0;
        v->late[i] = named ? -1 : v->late[i];
    }
    f->node_count = 0;
    view_name_ranks(v, f, v->scratch, minimum);
    if (node_count == 0)
        return;
    memcpy(f->nodes, nodes, sizeof(nodes));
    f->node_count = node_count;
}

/* @return whether whole nodes are late */
static int ranks_find_imbalance(struct view *v, double maximum)
{
    double others = 0, count = 0;
    struct attribution_finding *f = view_add_finding(
        v, ranks_symptom(v, MUCH * maximum), view_mean_above(v->late, v->count, MUCH * maximum));
    if (f == NULL)
        return 0;
    if (ranks_are_whole_nodes(v, f, MUCH * maximum))
        f->kind = CAUSE_SLOW_NODE;
    for (uint32_t i = 0; i < v->count; i++) {
        if (v->late[i] < 0 || v->late[i] >= MUCH * maximum)
            continue;
        others += ranks_time_outside(v, v->ranks[i], 0);
        count++;
    }
    ranks_name(v, f, MUCH * maximum);
    f->first =
        ranks_time_outside(v, f->ranks[0], 0) * v->progress; /* share of its time, as it is */
    f->others = count > 0 ? others / count * v->progress : NAN;
    double before = ranks_time_outside(v, f->ranks[0], 1);
    f->ratio = v->absolute || before <= 0 ? NAN : ranks_time_outside(v, f->ranks[0], 0) / before;
    f->second = 0;
    for (uint32_t i = 0; i < v->count; i++)
        f->second += view_growth(v, v->ranks[i], RANK_WAITED) * v->progress / v->count;
    return f->kind == CAUSE_SLOW_NODE;
}

/* Late ranks; and of a node and ranks elsewhere that are late at once both. */
static void ranks_find_imbalances(struct view *v)
{
    struct attribution_finding nodes = {.node_count = 0};
    const double maximum = view_largest(v->late, v->count);
    const int whole = ranks_find_imbalance(v, maximum);
    const double rest = view_largest(v->late, v->count);
    if (rest >= OTHER * maximum && rest >= OTHER_LATE &&
        (whole || ranks_are_whole_nodes(v, &nodes, MUCH * rest)))
        (void)ranks_find_imbalance(v, rest);
}

void view_find_ranks(struct view *v)
{
    ranks_find_load(v);
    ranks_find_late(v);
    ranks_find_pattern(v);
    ranks_find_imbalances(v);
}

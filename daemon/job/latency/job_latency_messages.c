/* What is published of a job's latency: the newest window, those before it, and criteria for
 * agents.
 */
#include "daemon/analysis/tables/array.h"
#include "daemon/job/latency/job_latency_state.h"
#include "holter/error.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Maximum of halves from all nodes: as many as a core joins in addition to its other work. */
#define HALVES_A_WINDOW 200000u
#define MINIMUM_HALVES 32u               /* of one node */
#define BURST_ROWS_JOB (1u << 19)        /* of bursts and their pairs, of all nodes in one window */
#define MINIMUM_BURST_ROWS 64u           /* of one node */
#define BURST_ROWS_AGENT 4096u           /* the limit of an agent that has received none */
#define MAXIMUM_RETAINED_ROWS (1u << 17) /* of the series of all windows that are kept */
#define CRITERIA_CHANGE 0.05             /* relative change that is worth sending */

static struct wire_series_row latency_series_row(const struct latency_series *s)
{
    const struct latency_sum *sum = &s->sum;
    return (struct wire_series_row){
        .scope = s->scope,
        .id = s->id,
        .messages = sum->messages,
        .delayed = sum->delayed,
        .recent = latency_recent(sum),
        .reference = latency_reference(sum),
        .transfer_ns = sum->transfer_ns,
        .late_sender_ns = sum->late_sender_ns,
        .late_receiver_ns = sum->late_receiver_ns,
        .network_ns = sum->network_ns,
        .error_ns = sum->error_ns,
        .joint_ns = sum->joint_ns,
        .trend = s->trend.state,
        .trend_since = s->trend.since,
        .slope = s->trend.slope,
        .typical = latency_typical(sum),
    };
}

static void latency_drop_oldest(struct job_latency *l)
{
    struct stored_window *oldest = &l->kept[l->retained_first];
    l->retained_rows -= oldest->count + oldest->criteria_count;
    free(oldest->rows);
    free(oldest->criteria);
    *oldest = (struct stored_window){0};
    l->retained_first = (l->retained_first + 1) % STORED_WINDOWS;
    l->retained_count--;
}

static int latency_list_criteria(struct job_latency *l, size_t *count)
{
    *count = criteria_count(l->criteria);
    if (ARRAY_RESIZE(l->criterion_rows, *count + 1) != 0)
        return -ENOMEM;
    *count = criteria_list(l->criteria, l->criterion_rows, *count);
    return 0;
}

/* Keep the criteria of classes that had messages, for their times in this window. Without memory
 * none are kept. */
static void latency_store_criteria(struct job_latency *l, struct stored_window *kept)
{
    size_t count;
    if (latency_list_criteria(l, &count) != 0 ||
        (kept->criteria = malloc((count + 1) * sizeof(*kept->criteria))) == NULL)
        return;
    for (size_t i = 0; i < count; i++)
        if (l->criterion_rows[i].window_messages > 0)
            kept->criteria[kept->criteria_count++] = l->criterion_rows[i];
}

void job_latency_store_window(struct job_latency *l)
{
    while (l->retained_count > 0 && (l->retained_count == STORED_WINDOWS ||
                                     l->retained_rows + l->series_count > MAXIMUM_RETAINED_ROWS))
        latency_drop_oldest(l);
    struct stored_window kept = {
        .window = l->window,
        .matched = l->matched,
        .unmatched = l->counts.unmatched - l->counts_before.unmatched,
        .rejected = l->counts.rejected - l->counts_before.rejected,
        .uncertain = l->counts.uncertain - l->counts_before.uncertain,
        .error_ns = l->error_ns,
        .rows = malloc((l->series_count + 1) * sizeof(*kept.rows)),
        .count = l->series_count,
    };
    if (kept.rows == NULL) {
        l->short_of_memory = 1;
        return;
    }
    for (size_t i = 0; i < l->series_count; i++)
        kept.rows[i] = latency_series_row(&l->series[i]);
    latency_store_criteria(l, &kept);
    l->kept[(l->retained_first + l->retained_count++) % STORED_WINDOWS] = kept;
    l->retained_rows += kept.count + kept.criteria_count;
}

int job_latency_window_message(struct job_latency *l, size_t n, struct wire_latencies *out)
{
    if (n >= l->retained_count)
        return -HOLTER_ERANGE;
    const struct stored_window *kept = &l->kept[(l->retained_first + n) % STORED_WINDOWS];
    *out = (struct wire_latencies){
        .window = kept->window,
        .start_ns = kept->window * l->window_ns,
        .length_ns = l->window_ns,
        .series = kept->rows,
        .series_count = kept->count,
        .criteria = kept->criteria,
        .criteria_count = kept->criteria_count,
        .matched = kept->matched,
        .unmatched = kept->unmatched,
        .rejected = kept->rejected,
        .error_ns = kept->error_ns,
        .uncertain = kept->uncertain,
    };
    return 0;
}

/* Add up the ranks of each group, of which the figures are by node. @return the sums, to be freed,
 * or NULL without memory */
static struct latency_rank *latency_sum_nodes(const struct job_latency *l, size_t groups)
{
    struct latency_rank *sums = calloc(groups, sizeof(*sums));
    for (size_t i = 0; sums != NULL && i < l->rank_count && i < l->group_of_count; i++) {
        const struct latency_rank *node = &l->ranks[i];
        if (l->group_of[i] >= groups)
            continue;
        struct latency_rank *sum = &sums[l->group_of[i]];
        sum->messages += node->messages;
        sum->reference += node->reference;
        sum->reference_log2 += node->reference_log2;
        sum->error += node->error;
    }
    return sums;
}

int job_latency_message(struct job_latency *l, struct wire_latencies *out)
{
    size_t criteria, ranks = 0;
    if (l->retained_count == 0 || job_latency_window_message(l, l->retained_count - 1, out) != 0 ||
        out->window != l->window)
        return -ENOMEM;
    const size_t count =
        l->group_shift == 0 ? l->rank_count : (l->node_of_count >> l->group_shift) + 1;
    struct latency_rank *sums = l->group_shift == 0 ? NULL : latency_sum_nodes(l, count);
    if (latency_list_criteria(l, &criteria) != 0 || ARRAY_RESIZE(l->rank_rows, count + 1) != 0 ||
        (l->group_shift != 0 && sums == NULL)) {
        free(sums);
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        const struct latency_rank *rank = sums != NULL ? &sums[i] : &l->groups.ranks[i];
        if (rank->messages > 0)
            l->rank_rows[ranks++] = (struct wire_rank_latency_row){
                (uint64_t)i << l->group_shift, rank->messages, latency_rank_reference(rank),
                latency_rank_typical(rank), latency_rank_error(rank)};
    }
    free(sums);
    out->criteria = l->criterion_rows;
    out->criteria_count = criteria;
    out->ranks = l->rank_rows;
    out->ranks_count = ranks;
    return 0;
}

static int latency_criterion_changed(double now, double sent)
{
    return fabs(now - sent) > CRITERIA_CHANGE * sent;
}

int job_latency_criteria(struct job_latency *l, struct wire_criteria *out)
{
    size_t count;
    uint64_t halves = HALVES_A_WINDOW / (l->nodes == 0 ? 1 : l->nodes);
    halves = halves < MINIMUM_HALVES ? MINIMUM_HALVES : halves;
    uint64_t rows = BURST_ROWS_JOB / (l->nodes == 0 ? 1 : l->nodes);
    rows = rows < MINIMUM_BURST_ROWS ? MINIMUM_BURST_ROWS : rows < BURST_ROWS_AGENT ? rows : 0;
    if (latency_list_criteria(l, &count) != 0)
        return -ENOMEM;
    int changed = halves != l->sent_halves || rows != l->sent_burst_rows;
    for (size_t i = 0; i < count; i++) {
        const struct wire_criterion_row *c = &l->criterion_rows[i];
        /* 0: nothing of this class has been sent, since it had no messages. */
        changed |=
            latency_criterion_changed((double)c->recent_ns, l->sent[c->locality][c->size_class]);
    }
    for (size_t i = 0; changed && i < count; i++) {
        const struct wire_criterion_row *c = &l->criterion_rows[i];
        l->sent[c->locality][c->size_class] = (double)c->recent_ns;
    }
    l->sent_halves = halves;
    l->sent_burst_rows = rows;
    *out = (struct wire_criteria){.criteria = l->criterion_rows,
                                  .criteria_count = count,
                                  .most_halves = halves,
                                  .burst_rows = rows};
    return changed;
}

/* The window since which the ranks or nodes of a cause have been slow, by their own figures. */
#include "daemon/analysis/attribution/attribution_state.h"

/* By which the shares of time outside of MPI, before and since, differ at least. */
#define LEAST_GROWTH 0.05

struct onset_sum {
    double outside_ns, length_ns;
};

static int onset_concerns(const struct attribution *a, const struct attribution_cause *cause,
                          uint32_t rank)
{
    int concerns = 0;
    if (cause->kind == CAUSE_SLOW_NODE)
        for (uint32_t i = 0; i < cause->node_count; i++)
            concerns |= cause->nodes[i] == attribution_node_of(a, rank);
    else
        for (uint32_t i = 0; i < cause->rank_count; i++)
            concerns |= cause->ranks[i] == rank;
    return concerns;
}

static void onset_add(struct onset_sum *sum, double length_ns, double mpi_ns)
{
    sum->outside_ns += length_ns - mpi_ns;
    sum->length_ns += length_ns;
}

static void onset_add_slice(struct onset_sum *sum, const struct attribution *a,
                            const struct attribution_cause *cause,
                            const struct attribution_slice *slice)
{
    for (uint32_t r = 0; r < slice->rank_count; r++)
        if (onset_concerns(a, cause, r))
            onset_add(sum, (double)slice->ranks[r][RANK_LENGTH], (double)slice->ranks[r][RANK_MPI]);
}

static void onset_add_baseline(struct onset_sum *sum, const struct attribution *a,
                               const struct attribution_cause *cause)
{
    for (uint32_t r = 0; r < a->base.rank_capacity; r++)
        if (onset_concerns(a, cause, r))
            onset_add(sum, a->base.ranks[r][RANK_LENGTH], a->base.ranks[r][RANK_MPI]);
}

uint64_t attribution_began(const struct attribution *a, const struct attribution_cause *cause,
                           uint64_t since)
{
    struct onset_sum base = {0, 0}, now = {0, 0};
    onset_add_baseline(&base, a, cause);
    for (uint32_t i = 0; i < a->slice_count; i++)
        if (attribution_slice_at(a, i)->number >= since)
            onset_add_slice(&now, a, cause, attribution_slice_at(a, i));
    if (cause->kind == CAUSE_NETWORK || cause->kind == CAUSE_BACKGROUND || base.length_ns <= 0 ||
        now.length_ns <= 0)
        return since;
    const double before = base.outside_ns / base.length_ns, after = now.outside_ns / now.length_ns;
    double sum = 0, most = 0, of_since = 0;
    uint64_t began = since;
    for (uint32_t i = a->slice_count; i-- > 0;) {
        const struct attribution_slice *slice = attribution_slice_at(a, i);
        struct onset_sum own = {0, 0};
        if (slice->disturbed && slice->number < since) /* of a disturbance before this one */
            break;
        onset_add_slice(&own, a, cause, slice);
        sum += own.length_ns > 0 ? own.outside_ns / own.length_ns - (before + after) / 2 : 0;
        of_since = slice->number == since ? sum : of_since;
        if (sum > most) {
            most = sum;
            began = slice->number;
        }
    }
    /* Two windows that are wholly of the other level, or more: not noise. */
    return after - before >= LEAST_GROWTH && most - of_since >= after - before ? began : since;
}

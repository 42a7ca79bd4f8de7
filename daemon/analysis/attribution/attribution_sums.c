/* Sums of the figures of windows: those that a result looks at, and the baseline. */
#include "daemon/analysis/attribution/attribution_state.h"
#include "daemon/analysis/tables/array.h"

#include <stdlib.h>

int attribution_sum_reserve(struct attribution_sum *sum, uint32_t ranks, uint32_t pairs)
{
    int error = ARRAY_FIT_ZERO(sum->ranks, sum->rank_capacity, ranks);
    return error ? error : ARRAY_FIT_ZERO(sum->pairs, sum->pair_capacity, pairs);
}

int attribution_sum_add(struct attribution_sum *sum, const struct attribution_slice *slice)
{
    int error = attribution_sum_reserve(sum, slice->rank_count, slice->pair_count);
    if (error)
        return error;
    for (uint32_t r = 0; r < slice->rank_count; r++)
        for (int f = 0; f < RANK_FIGURES; f++)
            sum->ranks[r][f] += (double)slice->ranks[r][f];
    for (uint32_t p = 0; p < slice->pair_count; p++)
        for (int f = 0; f < PAIR_FIGURES; f++)
            sum->pairs[p][f] += (double)slice->pairs[p][f];
    sum->windows++;
    return 0;
}

void attribution_sum_fade(struct attribution_sum *sum, double keep,
                          const struct attribution_slice *slice)
{
    for (uint32_t r = 0; r < sum->rank_capacity; r++)
        for (int f = 0; f < RANK_FIGURES; f++)
            sum->ranks[r][f] =
                sum->ranks[r][f] * keep + (r < slice->rank_count ? (double)slice->ranks[r][f] : 0);
    for (uint32_t p = 0; p < sum->pair_capacity; p++)
        for (int f = 0; f < PAIR_FIGURES; f++)
            sum->pairs[p][f] =
                sum->pairs[p][f] * keep + (p < slice->pair_count ? (double)slice->pairs[p][f] : 0);
    sum->windows++;
}

void attribution_sum_finish(struct attribution_sum *sum)
{
    free(sum->ranks);
    free(sum->pairs);
    *sum = (struct attribution_sum){.windows = 0};
}

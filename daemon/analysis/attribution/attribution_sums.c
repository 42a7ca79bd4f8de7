/* Sums of windows: those that a result looks at, and the baseline. */
#include "daemon/analysis/attribution/attribution_state.h"
#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/wide.h"

#include <stdlib.h>

int attribution_sum_room(struct attribution_sum *sum, uint32_t ranks, uint32_t pairs)
{
    int error = array_fit_zero(&sum->ranks, sizeof(*sum->ranks), &sum->rank_room, ranks);
    return error ? error : array_fit_zero(&sum->pairs, sizeof(*sum->pairs), &sum->pair_room, pairs);
}

int attribution_sum_add(struct attribution_sum *sum, const struct attribution_slice *slice)
{
    int error = attribution_sum_room(sum, slice->ranks.count, slice->pair_count);
    if (error)
        return error;
    for (uint32_t r = 0; r < slice->ranks.count; r++)
        for (int f = 0; f < RANK_FIGURES; f++)
            sum->ranks[r][f] += (double)attribution_figure(&slice->ranks, r, f);
    for (uint32_t p = 0; p < slice->pair_count; p++)
        for (int f = 0; f < PAIR_FIGURES; f++)
            sum->pairs[p][f] += (double)slice->pairs[p][f];
    sum->windows++;
    return 0;
}

void attribution_sum_finish(struct attribution_sum *sum)
{
    free(sum->ranks);
    free(sum->pairs);
    *sum = (struct attribution_sum){0};
}

/* ---- the baseline ---------------------------------------------------------- */

void attribution_ranks_release(struct attribution_ranks *ranks)
{
    if (ranks->traffic != NULL)
        ranks->traffic->uses--;
    ranks->traffic = NULL;
}

/* Sums are forgotten by a factor, and further figures added. */
WIDE_LOOP void fade(double *restrict sums, double keep, const int32_t *restrict figures, int count)
{
    for (int f = 0; f < count; f++)
        sums[f] = sums[f] * keep + (double)figures[f];
}

static void fade_wide(double *sums, double keep, const struct attribution_ranks *ranks,
                      uint32_t rank)
{
    for (int f = 0; f < RANK_FIGURES; f++)
        sums[f] = sums[f] * keep + (double)attribution_figure(ranks, rank, f);
}

_Static_assert(RANK_AWAITED == 10 && RANK_LENGTH == 13 && RANK_OF_CALLS == 6 && RANK_TRAFFIC == 5,
               "lengths of the loops of narrow figures");

/* Four or two at a time as far as there are so many. */
WIDE_LOOP void fade_narrow(double *restrict sums, double keep,
                           const struct attribution_ranks *ranks, uint32_t rank)
{
    const int32_t *messages = &ranks->messages.low[(size_t)rank * MESSAGE_FIGURES],
                  *sent = messages + MESSAGES_AWAITED;
    const int32_t *calls = &ranks->calls.low[(size_t)rank * RANK_OF_CALLS];
    const int32_t *traffic = &ranks->traffic->table.low[(size_t)rank * RANK_TRAFFIC];
    fade(sums, keep, messages, 8);
    fade(sums + 8, keep, messages + 8, 2);
    fade(sums + RANK_AWAITED, keep, sent, 2);
    fade(sums + RANK_AWAITED + 2, keep, sent + 2, 1);
    fade(sums + RANK_LENGTH, keep, calls, 4);
    fade(sums + RANK_LENGTH + 4, keep, calls + 4, 2);
    fade(sums + RANK_INTER_IN, keep, traffic, 4);
    fade(sums + RANK_INTER_IN + 4, keep, traffic + 4, 1);
}

/* What a window says nothing of is forgotten as well. */
WIDE_LOOP void fade_rank(double *sums, double keep, const struct attribution_ranks *ranks,
                         uint32_t rank, int narrow)
{
    if (rank >= ranks->count) {
        for (int f = 0; f < RANK_FIGURES; f++)
            sums[f] *= keep;
    } else if (narrow) {
        fade_narrow(sums, keep, ranks, rank);
    } else {
        fade_wide(sums, keep, ranks, rank);
    }
}

/* @param narrow  by window that waits: whether all its figures have 31 bits */
WIDE_LOOP void fade_ranks(struct attribution *a, const int *narrow)
{
    for (uint32_t r = 0; r < a->base.rank_room; r++)
        for (uint32_t i = 0; i < a->waiting_count; i++)
            fade_rank(a->base.ranks[r], a->keep, &a->waiting[i], r, narrow[i]);
}

WIDE static void fade_ranks_wide(struct attribution *a, const int *narrow)
{
    fade_ranks(a, narrow);
}

void attribution_base_settle(struct attribution *a)
{
    int narrow[ATTRIBUTION_WAITING];
    for (uint32_t i = 0; i < a->waiting_count; i++) {
        const struct attribution_ranks *ranks = &a->waiting[i];
        narrow[i] = ranks->traffic != NULL && !ranks->messages.carried && !ranks->calls.carried &&
                    !ranks->traffic->table.carried;
    }
    if (a->waiting_count > 0)
        (wide_is_here() ? fade_ranks_wide : fade_ranks)(a, narrow);
    for (uint32_t i = 0; i < a->waiting_count; i++)
        attribution_ranks_release(&a->waiting[i]);
    a->waiting_count = 0;
}

static void wait_for_others(struct attribution *a, struct attribution_ranks *ranks)
{
    if (a->waiting_count == ATTRIBUTION_WAITING)
        attribution_base_settle(a);
    struct attribution_ranks *place = &a->waiting[a->waiting_count++], idle = *place;
    *place = *ranks;
    *ranks = idle;
}

static void fade_pairs(struct attribution_sum *base, double keep,
                       const struct attribution_slice *slice)
{
    for (uint32_t p = 0; p < slice->pair_count; p++)
        for (int f = 0; f < PAIR_FIGURES; f++)
            base->pairs[p][f] = base->pairs[p][f] * keep + (double)slice->pairs[p][f];
    for (uint32_t p = slice->pair_count; p < base->pair_room; p++)
        for (int f = 0; f < PAIR_FIGURES; f++)
            base->pairs[p][f] *= keep;
}

int attribution_retire(struct attribution *a)
{
    if (a->slice_count < a->params.windows)
        return 0;
    struct attribution_slice *oldest = &a->slices[a->slice_first];
    if (!a->disturbed || oldest->number < a->disturbed_since) {
        int error = attribution_sum_room(&a->base, oldest->ranks.count, oldest->pair_count);
        if (error)
            return error;
        wait_for_others(a, &oldest->ranks);
        fade_pairs(&a->base, a->keep, oldest);
        a->base.windows++;
    }
    a->slice_first = (a->slice_first + 1) % a->params.windows;
    a->slice_count--;
    return 0;
}

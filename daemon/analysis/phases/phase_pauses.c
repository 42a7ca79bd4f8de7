/* Chooses the boundaries between phases to keep when there are too many: those at clear pauses
 * first. */
#include "daemon/analysis/phases/phase_pauses.h"

#include "daemon/analysis/phases/burst_array.h"
#include "holter/order.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define CLEAR 8 /* a pause is clear from this multiple of the median pause on */

struct boundary {
    int64_t pause_ns, height_ns;
    unsigned octave;   /* of a clear pause: bits of its length; 0: the pause is not clear */
    size_t next_phase; /* index of the phase after the boundary */
};

ORDER_FUNCTION(phase_pauses_compare_lengths, struct boundary, ORDER(a->pause_ns, b->pause_ns))

/* Boundaries to keep come first: those at the longest clear pauses, by powers of two, then those at
 * the largest heights. */
ORDER_FUNCTION(phase_pauses_compare, struct boundary,
               4 * ORDER(b->octave, a->octave) + 2 * ORDER(b->height_ns, a->height_ns) +
                   ORDER(b->next_phase, a->next_phase))

static void phase_pauses_rank(struct boundary *boundaries, size_t count)
{
    qsort(boundaries, count, sizeof(*boundaries), phase_pauses_compare_lengths);
    int64_t median = boundaries[count / 2].pause_ns;
    for (size_t i = 0; i < count; i++) {
        int64_t pause = boundaries[i].pause_ns;
        if (pause / CLEAR >= median && pause >= CLEAR)
            boundaries[i].octave = 64u - (unsigned)__builtin_clzll((uint64_t)pause);
    }
    qsort(boundaries, count, sizeof(*boundaries), phase_pauses_compare);
}

int phase_pauses_join(struct phase *phases, size_t *count, size_t maximum)
{
    size_t boundaries = *count > 0 ? *count - 1 : 0, joined = 0;
    if (boundaries < maximum)
        return 0;
    struct boundary *all = malloc(boundaries * sizeof(*all));
    bool *kept = calloc(*count, sizeof(*kept));
    if (all == NULL || kept == NULL) {
        free(all);
        free(kept);
        return -ENOMEM;
    }
    for (size_t i = 0; i < boundaries; i++)
        all[i] = (struct boundary){.pause_ns = phases[i + 1].begin_ns - phases[i].end_ns,
                                   .height_ns = phases[i + 1].height_ns,
                                   .next_phase = i + 1};
    phase_pauses_rank(all, boundaries);
    for (size_t i = 0; i + 1 < maximum; i++)
        kept[all[i].next_phase] = true;
    for (size_t i = 1; i < *count; i++) {
        if (kept[i])
            phases[++joined] = phases[i];
        else
            burst_sum_add(&phases[joined], &phases[i]);
    }
    *count = joined + 1;
    free(all);
    free(kept);
    return 0;
}

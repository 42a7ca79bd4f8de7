/* Matches the phases of two runs, and their moments. */
#include "daemon/analysis/alignment/alignment.h"

#include <errno.h>
#include <stdlib.h>

enum step { STEP_MATCH, STEP_SKIP_FIRST, STEP_SKIP_SECOND };

static int alignment_is_near(uint64_t a, uint64_t b)
{
    const double larger = (double)(a > b ? a : b), smaller = (double)(a > b ? b : a);
    return larger - smaller <= ALIGNMENT_TOLERANCE * larger;
}

static int alignment_is_alike(const struct run_phase *a, const struct run_phase *b)
{
    return alignment_is_near(a->messages, b->messages) && alignment_is_near(a->bytes, b->bytes) &&
           alignment_is_near(a->pairs, b->pairs) && alignment_is_near(a->ranks, b->ranks) &&
           alignment_is_near(a->communities, b->communities);
}

/* What a match is worth: its bytes, and more than nothing for phases of empty messages. */
static double alignment_weight(const struct run_phase *a, const struct run_phase *b)
{
    return (double)(a->bytes < b->bytes ? a->bytes : b->bytes) + 1;
}

/* Choose the best step at each pair of positions, from the ends of both runs to their begins. Of
 * equal ones a match is chosen, so that a run of equal phases is matched from its begin.
 * @param steps  a * b of them @param best  scratch memory for 2 * (b + 1) sums of weights, zero */
static void alignment_choose_steps(uint8_t *steps, double *best, const struct run_phase *first,
                                   uint32_t a, const struct run_phase *second, uint32_t b)
{
    double *row = best, *below = best + b + 1;
    for (uint32_t i = a; i-- > 0;) {
        row[b] = 0;
        for (uint32_t j = b; j-- > 0;) {
            enum step step = below[j] >= row[j + 1] ? STEP_SKIP_FIRST : STEP_SKIP_SECOND;
            double value = step == STEP_SKIP_FIRST ? below[j] : row[j + 1];
            if (alignment_is_alike(&first[i], &second[j])) {
                const double matched = below[j + 1] + alignment_weight(&first[i], &second[j]);
                step = matched >= value ? STEP_MATCH : step;
                value = matched >= value ? matched : value;
            }
            steps[(size_t)i * b + j] = (uint8_t)step;
            row[j] = value;
        }
        double *swap = row;
        row = below;
        below = swap;
    }
}

static void alignment_follow_steps(struct alignment *out, const uint8_t *steps, uint32_t a,
                                   uint32_t b)
{
    for (uint32_t i = 0, j = 0; i < a && j < b;) {
        const uint8_t step = steps[(size_t)i * b + j];
        if (step == STEP_MATCH) {
            out->match[i] = j;
            out->matched++;
        }
        i += step != STEP_SKIP_SECOND;
        j += step != STEP_SKIP_FIRST;
    }
}

/* Are at least half of the bytes of either run in matched phases? */
static int alignment_covers(const struct alignment *out, const struct run_phase *first, uint32_t a,
                            const struct run_phase *second, uint32_t b)
{
    double all[2] = {0, 0}, matched[2] = {0, 0};
    for (uint32_t i = 0; i < a; i++) {
        all[0] += (double)first[i].bytes;
        if (out->match[i] == ALIGNMENT_NONE)
            continue;
        matched[0] += (double)first[i].bytes;
        matched[1] += (double)second[out->match[i]].bytes;
    }
    for (uint32_t j = 0; j < b; j++)
        all[1] += (double)second[j].bytes;
    return out->matched > 0 && 2 * matched[0] >= all[0] && 2 * matched[1] >= all[1];
}

/* Moments that would descend in a run are left out: phases of a damaged recording may overlap. */
static void alignment_add_time(struct alignment *out, double first, double second)
{
    const size_t n = out->time_count;
    if (n > 0 && !(first >= out->times[n - 1][0] && second >= out->times[n - 1][1]))
        return;
    out->times[n][0] = first;
    out->times[n][1] = second;
    out->time_count++;
}

static int alignment_set_times(struct alignment *out, const struct run_phase *first,
                               const struct run_phase *second)
{
    out->times = malloc((2 * (size_t)out->matched + 1) * sizeof(*out->times));
    if (out->times == NULL)
        return -ENOMEM;
    alignment_add_time(out, 0, 0);
    for (uint32_t i = 0; i < out->count; i++) {
        if (out->match[i] == ALIGNMENT_NONE)
            continue;
        alignment_add_time(out, first[i].begin_ns, second[out->match[i]].begin_ns);
        alignment_add_time(out, first[i].end_ns, second[out->match[i]].end_ns);
    }
    return 0;
}

static int alignment_match(struct alignment *out, const struct run_phase *first, uint32_t a,
                           const struct run_phase *second, uint32_t b)
{
    uint8_t *steps = malloc((size_t)a * b);
    double *best = calloc(2 * ((size_t)b + 1), sizeof(*best));
    const int made = steps != NULL && best != NULL;
    if (made) {
        alignment_choose_steps(steps, best, first, a, second, b);
        alignment_follow_steps(out, steps, a, b);
    }
    free(steps);
    free(best);
    return made ? 0 : -ENOMEM;
}

int alignment_make(struct alignment *out, const struct run_phase *first, uint32_t first_count,
                   const struct run_phase *second, uint32_t second_count)
{
    int code = 0;
    *out = (struct alignment){.count = first_count};
    out->match = malloc(((size_t)first_count + 1) * sizeof(*out->match));
    if (out->match == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < first_count; i++)
        out->match[i] = ALIGNMENT_NONE;
    if (first_count > 0 && second_count > 0 && second_count <= ALIGNMENT_PRODUCTS / first_count)
        code = alignment_match(out, first, first_count, second, second_count);
    out->by_phase = code == 0 && alignment_covers(out, first, first_count, second, second_count);
    if (out->by_phase)
        code = alignment_set_times(out, first, second);
    if (code != 0)
        alignment_finish(out);
    return code;
}

double alignment_time(const struct alignment *alignment, double ns)
{
    if (alignment->time_count == 0)
        return ns;
    size_t low = 0, high = alignment->time_count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (alignment->times[middle][0] <= ns)
            low = middle;
        else
            high = middle;
    }
    const double *from = alignment->times[low];
    if (low + 1 == alignment->time_count || ns <= from[0])
        return from[1] + (ns - from[0]);
    const double *to = alignment->times[low + 1];
    return from[1] + (ns - from[0]) / (to[0] - from[0]) * (to[1] - from[1]);
}

void alignment_finish(struct alignment *alignment)
{
    free(alignment->match);
    free(alignment->times);
    *alignment = (struct alignment){.by_phase = 0};
}

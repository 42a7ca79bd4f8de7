/* What pairs weigh: messages a window, fading. */
#include "daemon/analysis/regions/contact_state.h"

#include "daemon/analysis/tables/wide.h"

#include <math.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef double four_numbers __attribute__((vector_size(32)));

/* Rounded once, when the halves are added: as each would be by itself. */
static inline two_numbers numbers_of(two_words words)
{
    const uint64_t low_bits = UINT64_C(0x4330000000000000),
                   high_bits = UINT64_C(0x4530000000000000);
    two_words low = (words & UINT32_MAX) | low_bits, high = (words >> 32) | high_bits;
    return ((two_numbers)high - (0x1p84 + 0x1p52)) + (two_numbers)low;
}

static inline two_numbers larger_of(two_numbers a, two_numbers b)
{
#ifdef __SSE2__
    return (two_numbers)_mm_max_pd((__m128d)a, (__m128d)b);
#else
    return (two_numbers){a[0] > b[0] ? a[0] : b[0], a[1] > b[1] ? a[1] : b[1]};
#endif
}

static inline two_numbers smaller_of(two_numbers a, two_numbers b)
{
#ifdef __SSE2__
    return (two_numbers)_mm_min_pd((__m128d)a, (__m128d)b);
#else
    return (two_numbers){a[0] < b[0] ? a[0] : b[0], a[1] < b[1] ? a[1] : b[1]};
#endif
}

static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* Weights of a whole block fade towards so many messages a window. What takes long is to divide:
 * four at a time, where the processor can. */
WIDE_LOOP void fade(double *weights, const double *messages, double horizon, uint32_t windows)
{
    for (; windows > 0; windows--) {
        for (uint32_t i = 0; i < BLOCK; i += 4) {
            four_numbers weight, now;
            memcpy(&weight, weights + i, sizeof(weight));
            memcpy(&now, messages + i, sizeof(now));
            weight += (now - weight) / horizon;
            memcpy(weights + i, &weight, sizeof(weight));
        }
    }
}

WIDE static void fade_wide(double *weights, const double *messages, double horizon,
                           uint32_t windows)
{
    fade(weights, messages, horizon, windows);
}

static void fade_block(struct contact *c, uint32_t from, const double *messages, uint32_t windows)
{
    if (wide_is_here())
        fade_wide(c->weights + from, messages, c->params.horizon, windows);
    else
        fade(c->weights + from, messages, c->params.horizon, windows);
}

static struct range range_of(const double *weights, uint64_t edges)
{
    const two_numbers none = {INFINITY, INFINITY};
    two_numbers least = none, least_edge = none, most = {0}, most_other = {0};
    for (uint32_t i = 0; i < BLOCK; i += 2, edges >>= 2) {
        const two_flags edge = contact_lanes[edges & 3];
        two_numbers now;
        memcpy(&now, weights + i, sizeof(now));
        least = smaller_of(least, now);
        most = larger_of(most, now);
        least_edge = smaller_of(least_edge,
                                (two_numbers)(((two_flags)now & edge) | ((two_flags)none & ~edge)));
        most_other = larger_of(most_other, (two_numbers)((two_flags)now & ~edge));
    }
    return (struct range){.least = smaller(least[0], least[1]),
                          .most = larger(most[0], most[1]),
                          .least_edge = smaller(least_edge[0], least_edge[1]),
                          .most_other = larger(most_other[0], most_other[1])};
}

/* Of a block that is not whole. */
static struct range range_of_some(const double *weights, uint64_t edges, uint32_t count)
{
    struct range range = {.least = INFINITY, .least_edge = INFINITY};
    for (uint32_t i = 0; i < count; i++) {
        range.least = smaller(range.least, weights[i]);
        range.most = larger(range.most, weights[i]);
        if (edges >> i & 1)
            range.least_edge = smaller(range.least_edge, weights[i]);
        else
            range.most_other = larger(range.most_other, weights[i]);
    }
    return range;
}

void contact_find_range(struct contact *c, uint32_t from)
{
    const uint32_t at = from / BLOCK, count = pairs_of_block(c, from);
    c->ranges[at] = count < BLOCK ? range_of_some(c->weights + from, c->edge[at], count)
                                  : range_of(c->weights + from, c->edge[at]);
}

/* Have windows without messages that wait among the weights of a block; their range has to be found
 * then.
 * @return whether there were any */
static bool catch_up(struct contact *c, uint32_t from)
{
    static const double none[BLOCK];
    const uint32_t waiting = c->ranges[from / BLOCK].waiting;
    fade_block(c, from, none, waiting);
    c->ranges[from / BLOCK].waiting = 0;
    return waiting > 0;
}

/* A block none of whose vertices is silent. @return whether any weight is another one */
static bool fade_all(struct contact *c, uint32_t from)
{
    double before[BLOCK], now[BLOCK];
    two_words words;
    memcpy(before, c->weights + from, sizeof(before));
    for (uint32_t i = 0; i < BLOCK; i += 2) {
        memcpy(&words, c->messages + from + i, sizeof(words));
        const two_numbers two = numbers_of(words);
        memcpy(now + i, &two, sizeof(two));
    }
    fade_block(c, from, now, 1);
    contact_find_range(c, from);
    return memcmp(before, c->weights + from, sizeof(before)) != 0;
}

/* No weight is less than that after a window, with rounding. */
static double faded(const struct contact *c, double weight)
{
    return weight * (1 - 1.0 / c->params.horizon) * (1 - 1e-9);
}

/* A block without messages. */
static void let_wait(const struct contact *c, struct range *range)
{
    range->least = faded(c, range->least);
    range->least_edge = faded(c, range->least_edge);
    range->waiting++;
}

/* The same, of those of which an end is active: pairs of vertices that are silent stay as they are.
 */
static bool fade_some(struct contact *c, uint32_t from)
{
    bool changed = false;
    for (uint32_t i = from, end = from + pairs_of_block(c, from); i < end; i++) {
        double before = c->weights[i];
        if (!c->vertices[c->keys[i] >> 32].active && !c->vertices[(uint32_t)c->keys[i]].active)
            continue;
        c->weights[i] += ((double)c->messages[i] - before) / c->params.horizon;
        changed |= c->weights[i] != before;
    }
    contact_find_range(c, from);
    return changed;
}

/* Count the window of pairs of a block that are not known. @return whether any had messages */
static bool count_window(struct contact *c, uint32_t from)
{
    bool changed = false;
    for (uint64_t left = ~c->known[from / BLOCK]; left != 0; left &= left - 1) {
        uint32_t at = from + (uint32_t)__builtin_ctzll(left);
        if (c->messages[at] == 0)
            continue;
        changed = true;
        if (++c->windows[at] == c->params.steady)
            c->known[from / BLOCK] |= left & -left;
    }
    return changed;
}

static void weigh(double *heaviest, double weight)
{
    *heaviest = weight > *heaviest ? weight : *heaviest;
}

static void weigh_block(struct contact *c, uint32_t from)
{
    const uint64_t *keys = c->keys + from;
    const double *weights = c->weights + from;
    double *const heaviest = c->heaviest;
    for (uint32_t i = 0, count = pairs_of_block(c, from); i < count; i++) {
        weigh(&heaviest[keys[i] >> 32], weights[i]);
        weigh(&heaviest[(uint32_t)keys[i]], weights[i]);
    }
}

void contact_find_heaviest(struct contact *c)
{
    memset(c->heaviest, 0, c->vertex_room * sizeof(*c->heaviest));
    for (uint32_t from = 0; from < c->count; from += BLOCK) {
        if (catch_up(c, from))
            contact_find_range(c, from);
        weigh_block(c, from);
    }
    c->least_heaviest = INFINITY;
    for (uint32_t v = 0; v < c->vertex_room; v++)
        if (c->vertices[v].paired)
            c->least_heaviest = smaller(c->least_heaviest, c->heaviest[v]);
}

bool contact_weigh(struct contact *c, bool all)
{
    bool changed = false;
    for (uint32_t from = 0; from < c->count; from += BLOCK) {
        const bool busy = c->busy[from / BLOCK];
        if (all && !busy) {
            let_wait(c, &c->ranges[from / BLOCK]);
            changed = true;
            continue;
        }
        (void)catch_up(c, from);
        changed |= all ? fade_all(c, from) : fade_some(c, from);
        if (busy)
            changed |= count_window(c, from);
    }
    c->least_heaviest = faded(c, c->least_heaviest);
    return !changed;
}

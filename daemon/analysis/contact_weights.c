/* What pairs weigh: messages a window, fading. */
#include "daemon/analysis/contact_state.h"

#include <math.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Rounded once, when the halves are added: as each would be by itself. */
static inline two_numbers numbers_of(two_words words)
{
    const uint64_t low_bits = UINT64_C(0x4330000000000000),
                   high_bits = UINT64_C(0x4530000000000000);
    two_words low = (words & UINT32_MAX) | low_bits, high = (words >> 32) | high_bits;
    return ((two_numbers)high - (0x1p84 + 0x1p52)) + (two_numbers)low;
}

/* A window's messages of the pairs of a block, towards their weights.
 * @param messages  NULL: none @return whether any weight is another one */
static bool fade_block(double *weights, const uint64_t *messages, double horizon)
{
    two_flags changed = {0};
    for (uint32_t i = 0; i < BLOCK; i += 2) {
        two_numbers before, now = {0};
        two_words words;
        memcpy(&before, weights + i, sizeof(before));
        if (messages != NULL) {
            memcpy(&words, messages + i, sizeof(words));
            now = numbers_of(words);
        }
        now = before + (now - before) / horizon;
        changed |= now != before;
        memcpy(weights + i, &now, sizeof(now));
    }
    return (changed[0] | changed[1]) != 0;
}

static inline two_numbers larger_of(two_numbers a, two_numbers b)
{
#ifdef __SSE2__
    return (two_numbers)_mm_max_pd((__m128d)a, (__m128d)b);
#else
    return (two_numbers){a[0] > b[0] ? a[0] : b[0], a[1] > b[1] ? a[1] : b[1]};
#endif
}

/* The same without messages.
 * @param most, least  set to the weights that are so now */
static bool fade_quiet(double *weights, double horizon, double *most, double *least)
{
    two_flags changed = {0};
    two_numbers largest = {0}, smallest = {-INFINITY, -INFINITY}; /* the latter negative */
    for (uint32_t i = 0; i < BLOCK; i += 2) {
        two_numbers before, now = {0};
        memcpy(&before, weights + i, sizeof(before));
        now = before + (now - before) / horizon;
        changed |= now != before;
        largest = larger_of(largest, now);
        smallest = larger_of(smallest, -now);
        memcpy(weights + i, &now, sizeof(now));
    }
    *most = largest[0] > largest[1] ? largest[0] : largest[1];
    *least = -(smallest[0] > smallest[1] ? smallest[0] : smallest[1]);
    return (changed[0] | changed[1]) != 0;
}

/* The same, of those of which an end is active: pairs of vertices that are silent stay as they are. */
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

/* No messages, and no edges. */
static inline bool is_quiet(const struct contact *c, uint32_t from)
{
    return !c->busy[from / BLOCK] && c->edge[from / BLOCK] == 0;
}

/* Of vertices with pairs, the least of what is the largest weight of each so far. */
static double least_heaviest(const struct contact *c)
{
    double least = INFINITY;
    for (uint32_t v = 0; v < c->vertex_room; v++)
        if (c->vertices[v].paired && c->heaviest[v] < least)
            least = c->heaviest[v];
    return least;
}

/* Blocks that are quiet, after the others. Where the largest weight is less than what makes an edge with any
 * vertex, it is the largest of none either. @return whether any weight is another one */
static bool take_in_quiet(struct contact *c)
{
    const double enter = c->params.enter * least_heaviest(c);
    bool changed = false;
    for (uint32_t from = 0; from < c->count; from += BLOCK) {
        double most, least;
        if (!is_quiet(c, from))
            continue;
        changed |= fade_quiet(c->weights + from, c->params.horizon, &most, &least);
        c->slight[from / BLOCK] = most < enter && least * c->params.horizon >= FORGOTTEN;
        if (!c->slight[from / BLOCK])
            weigh_block(c, from);
    }
    return changed;
}

bool contact_weigh(struct contact *c, bool all)
{
    bool changed = false, quiet = false;
    for (uint32_t from = 0; from < c->count; from += BLOCK) {
        const bool busy = c->busy[from / BLOCK];
        c->slight[from / BLOCK] = false;
        if (all && is_quiet(c, from)) {
            quiet = true;
            continue;
        }
        changed |=
            all ? fade_block(c->weights + from, busy ? c->messages + from : NULL, c->params.horizon)
                : fade_some(c, from);
        if (busy)
            changed |= count_window(c, from);
        weigh_block(c, from);
    }
    if (quiet)
        changed |= take_in_quiet(c);
    return !changed;
}

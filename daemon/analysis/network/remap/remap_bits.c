/* Annealing on codes in which distance is the number of differing bits: see remap_bits.h. */
#include "daemon/analysis/network/remap/remap_bits.h"

#include "include/holter/error.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LANES 8u /* sums that are added at a time (one vector register) */
#define MAX_SUM                                                                                    \
    (1 << 23) /* limit of the sum of a process' weights: 2 x 64 of them do not overflow */
#define MOST_SUMS (1u << 25)
#define CHANCES 2048u

/* Work of one attempted exchange, in units of remap.c. The ratios of these constants were measured
 * by remap_bench. */
#define WORK_TRY 36u
#define WORK_BLOCK 8u    /* additional work for each 8 bits */
#define WORK_PARTNER 14u /* work of an executed exchange, for each partner and 8 bits */

struct partner {
    uint32_t process;
    int32_t weight;
};

struct remap_bits {
    const struct remap_graph *graph;
    const struct remap_places *places;
    const uint32_t *movable;
    uint32_t movable_count, count, blocks;
    struct partner *partners; /* the same partners as in the graph, with rounded weights */
    double scale;             /* factor from weights to whole numbers */
    uint64_t *code;           /* code of each spot */
    uint64_t *code_at;        /* code of the spot of each process */
    int32_t *sum;             /* processes x blocks x LANES */
    bool *moves;
    uint32_t *slot, *at;
    uint32_t *near_first, *near; /* as in struct remap_places, without steps across barred bits */
    uint64_t barred;
    double *chance;
    int64_t gained; /* cost saved since the mapping was loaded */
    uint64_t random;
    int32_t lanes[1u << LANES][LANES]; /* -1 where the bit is set */
};

/* ---- codes ---------------------------------------------------------------------- */

static uint32_t remap_bits_of(const struct remap_dimension *d)
{
    if (d->scale != 1)
        return REMAP_MOST_BITS + 1;
    if (d->size <= 2 || d->connection == TOPOLOGY_MESH)
        return d->size - 1;
    if (d->connection == TOPOLOGY_TORUS && d->size % 2 == 0)
        return d->size / 2;
    return REMAP_MOST_BITS + 1;
}

/* The lowest x bits are set; beyond half a ring they are cleared again from the lowest bit on. */
static uint64_t remap_bits_code_of(uint32_t bits, uint32_t x)
{
    const uint64_t all = bits < 64 ? (1ull << bits) - 1 : UINT64_MAX;
    if (x < 64)
        return x <= bits ? all & ((1ull << x) - 1) : all & ~((1ull << (x - bits)) - 1);
    return x - bits < 64 ? all & ~((1ull << (x - bits)) - 1) : all;
}

static bool remap_bits_find_codes(struct remap_bits *b)
{
    const struct remap_places *places = b->places;
    for (uint32_t d = 0; d < places->dimension_count; d++) {
        const uint32_t bits = remap_bits_of(&places->dimensions[d]);
        if (bits > REMAP_MOST_BITS - b->count)
            return false;
        for (uint32_t s = 0; bits > 0 && s < places->spots; s++)
            b->code[s] |= remap_bits_code_of(bits, remap_at(places, s)[d]) << b->count;
        b->count += bits;
    }
    b->blocks = (b->count + LANES - 1) / LANES;
    return b->count > 0;
}

/* ---- making --------------------------------------------------------------------- */

static void remap_bits_scale_weights(struct remap_bits *b)
{
    const struct remap_graph *graph = b->graph;
    double most = 0;
    for (uint32_t p = 0; p < graph->processes; p++) {
        double sum = 0;
        for (uint32_t i = graph->first[p]; i < graph->first[p + 1]; i++)
            sum += graph->partners[i].weight;
        most = sum > most ? sum : most;
    }
    b->scale = most > 0 ? MAX_SUM / most : 0;
    for (uint32_t i = 0; i < graph->first[graph->processes]; i++)
        b->partners[i] = (struct partner){graph->partners[i].process,
                                          (int32_t)(graph->partners[i].weight * b->scale + 0.5)};
}

static void remap_bits_fill_lanes(struct remap_bits *b)
{
    for (uint32_t i = 0; i < b->movable_count; i++)
        b->moves[b->movable[i]] = true;
    for (uint32_t i = 0; i < CHANCES; i++)
        b->chance[i] = -log((i + 0.5) / CHANCES);
    for (uint32_t mask = 0; mask < 1u << LANES; mask++)
        for (uint32_t k = 0; k < LANES; k++)
            b->lanes[mask][k] = -(int32_t)(mask >> k & 1);
}

static int remap_bits_make(struct remap_bits *b)
{
    const struct remap_places *places = b->places;
    const size_t n = b->graph->processes, ends = b->graph->first[n];
    b->code = calloc((size_t)places->spots + 1, sizeof(*b->code));
    if (b->code == NULL)
        return -ENOMEM;
    if (!remap_bits_find_codes(b) || n * b->blocks * LANES > MOST_SUMS)
        return -HOLTER_ELIMIT;
    b->partners = malloc((ends + 1) * sizeof(*b->partners));
    b->code_at = malloc((n + 1) * sizeof(*b->code_at));
    b->sum = malloc((n * b->blocks * LANES + 1) * sizeof(*b->sum));
    b->moves = calloc(n + 1, sizeof(*b->moves));
    b->slot = malloc((n + 1) * sizeof(*b->slot));
    b->at = malloc((n + 1) * sizeof(*b->at));
    b->near_first = malloc(((size_t)places->spots + 1) * sizeof(*b->near_first));
    b->near = malloc(((size_t)places->near_first[places->spots] + 1) * sizeof(*b->near));
    b->chance = malloc(CHANCES * sizeof(*b->chance));
    return b->partners && b->code_at && b->sum && b->moves && b->slot && b->at && b->near_first &&
                   b->near && b->chance
               ? 0
               : -ENOMEM;
}

static void remap_bits_forbid(struct remap_bits *b, uint64_t barred)
{
    const struct remap_places *places = b->places;
    uint32_t end = 0;
    for (uint32_t s = 0; s < places->spots; s++) {
        b->near_first[s] = end;
        for (uint32_t i = places->near_first[s]; i < places->near_first[s + 1]; i++) {
            const uint64_t step = b->code[s] ^ b->code[places->near[i]];
            if ((step & barred) == 0)
                b->near[end++] = places->near[i];
        }
    }
    b->near_first[places->spots] = end;
    b->barred = barred;
}

int remap_bits_create(struct remap_bits **out, const struct remap_graph *graph,
                      const struct remap_places *places, const uint32_t *movable, uint32_t count,
                      uint64_t seed)
{
    struct remap_bits *b = calloc(1, sizeof(*b));
    if (b == NULL)
        return -ENOMEM;
    b->graph = graph;
    b->places = places;
    b->movable = movable;
    b->movable_count = count;
    b->random = seed;
    const int rc = remap_bits_make(b);
    if (rc != 0) {
        remap_bits_destroy(b);
        return rc;
    }
    remap_bits_scale_weights(b);
    remap_bits_fill_lanes(b);
    remap_bits_forbid(b, 0);
    *out = b;
    return 0;
}

void remap_bits_destroy(struct remap_bits *b)
{
    if (b == NULL)
        return;
    free(b->partners);
    free(b->code);
    free(b->code_at);
    free(b->sum);
    free(b->moves);
    free(b->slot);
    free(b->at);
    free(b->near_first);
    free(b->near);
    free(b->chance);
    free(b);
}

uint32_t remap_bits_count(const struct remap_bits *b)
{
    return b->count;
}

const uint32_t *remap_bits_slots(const struct remap_bits *b)
{
    return b->slot;
}

double remap_bits_gained(const struct remap_bits *b)
{
    return b->scale > 0 ? (double)b->gained / b->scale : 0;
}

/* ---- sums ----------------------------------------------------------------------- */

static int32_t *remap_bits_sums_of(const struct remap_bits *b, uint32_t process)
{
    return b->sum + (size_t)process * b->blocks * LANES;
}

uint64_t remap_bits_load(struct remap_bits *b, const uint32_t *slots)
{
    const struct remap_graph *graph = b->graph;
    const uint32_t n = graph->processes;
    b->gained = 0;
    memcpy(b->slot, slots, n * sizeof(*slots));
    memset(b->sum, 0, (size_t)n * b->blocks * LANES * sizeof(*b->sum));
    for (uint32_t p = 0; p < n; p++) {
        b->at[slots[p]] = p;
        b->code_at[p] = b->code[b->places->spot[slots[p]]];
    }
    for (uint32_t p = 0; p < n; p++)
        for (uint32_t i = graph->first[p]; i < graph->first[p + 1]; i++) {
            const uint64_t apart = b->code_at[p] ^ b->code_at[b->partners[i].process];
            for (uint32_t k = 0; k < b->count; k++)
                remap_bits_sums_of(b, p)[k] +=
                    apart >> k & 1 ? -b->partners[i].weight : b->partners[i].weight;
        }
    return (uint64_t)graph->first[n] * (b->count * 2 + 10) + 20ull * n;
}

/* Invert the masked bits of a process' code and update the sums of its partners. */
static uint64_t remap_bits_flip(struct remap_bits *b, uint32_t process, uint64_t mask)
{
    const uint32_t first = b->graph->first[process], end = b->graph->first[process + 1];
    const uint64_t code = b->code_at[process] ^= mask;
    uint32_t changed = 0;
    for (uint32_t block = 0; block < b->blocks; block++) {
        const int32_t *set = b->lanes[mask >> (block * LANES) & 0xff];
        int32_t *mine = remap_bits_sums_of(b, process) + block * LANES;
        if ((mask >> (block * LANES) & 0xff) == 0)
            continue;
        changed++;
        for (uint32_t k = 0; k < LANES; k++)
            mine[k] = (mine[k] ^ set[k]) - set[k];
        for (uint32_t i = first; i < end; i++) {
            const uint32_t other = b->partners[i].process;
            const int32_t weight = 2 * b->partners[i].weight;
            const int32_t *apart = b->lanes[(code ^ b->code_at[other]) >> (block * LANES) & 0xff];
            int32_t *sum = remap_bits_sums_of(b, other) + block * LANES;
            for (uint32_t k = 0; k < LANES; k++)
                sum[k] += ((weight ^ apart[k]) - apart[k]) & set[k];
        }
    }
    return (uint64_t)(end - first) * changed * WORK_PARTNER;
}

static inline int32_t remap_bits_weigh(const struct remap_bits *b, uint32_t p, uint32_t q,
                                       uint64_t mask)
{
    const int32_t *one = remap_bits_sums_of(b, p), *other = remap_bits_sums_of(b, q);
    int32_t sum = 0;
    for (uint32_t block = 0; block < b->blocks; block++, one += LANES, other += LANES) {
        const int32_t *set = b->lanes[mask >> (block * LANES) & 0xff];
        for (uint32_t k = 0; k < LANES; k++)
            sum += (one[k] + other[k]) & set[k];
    }
    return sum;
}

static int32_t remap_bits_weight_between(const struct remap_bits *b, uint32_t p, uint32_t q)
{
    for (uint32_t i = b->graph->first[p]; i < b->graph->first[p + 1]; i++)
        if (b->partners[i].process == q)
            return b->partners[i].weight;
    return 0;
}

/* @return work */
static inline uint64_t remap_bits_attempt(struct remap_bits *b, uint32_t p, uint32_t q,
                                          double allowed)
{
    const uint64_t mask = b->code_at[p] ^ b->code_at[q];
    if (mask == 0 || !b->moves[q])
        return 0;
    /* the weight between the two is counted as if both were in one spot; the difference is added
     * here */
    const int32_t loss = remap_bits_weigh(b, p, q, mask);
    if (loss > allowed)
        return 0;
    const int32_t between = remap_bits_weight_between(b, p, q);
    if (loss + 2 * between * __builtin_popcountll(mask) > allowed)
        return 0;
    const uint32_t slot = b->slot[p];
    b->slot[p] = b->slot[q];
    b->slot[q] = slot;
    b->at[slot] = q;
    b->at[b->slot[p]] = p;
    b->gained -= loss + 2 * between * __builtin_popcountll(mask);
    const uint64_t work = remap_bits_flip(b, p, mask);
    return work + remap_bits_flip(b, q, mask);
}

uint64_t remap_bits_run(struct remap_bits *b, double temperature, uint64_t barred, uint64_t work)
{
    const struct remap_graph *graph = b->graph;
    const struct remap_places *places = b->places;
    const uint64_t a_try = WORK_TRY + b->blocks * WORK_BLOCK;
    uint64_t done = 0;
    if (barred != b->barred)
        remap_bits_forbid(b, barred);
    temperature *= b->scale;
    while (done < work) {
        const uint64_t r = remap_random(&b->random), t = remap_random(&b->random);
        const uint32_t p = b->movable[(r >> 32) * b->movable_count >> 32];
        const uint32_t row = graph->first[p], degree = graph->first[p + 1] - row;
        done += a_try;
        if (degree == 0)
            continue;
        /* prefer heavy partners, which come first: the square of a uniform random number */
        const uint64_t even = r & 0xffff;
        const uint32_t partner = b->partners[row + (even * even * degree >> 32)].process;
        const uint32_t spot = places->spot[b->slot[partner]], near = b->near_first[spot];
        const uint32_t count = b->near_first[spot + 1] - near;
        if (count == 0)
            continue;
        const uint32_t target = b->near[near + (uint32_t)((t >> 48) * count >> 16)];
        const uint32_t slot = places->first[target], room = places->first[target + 1] - slot;
        const uint32_t q = b->at[slot + ((t & 0xffffffff) * room >> 32)];
        done += remap_bits_attempt(b, p, q, temperature * b->chance[(t >> 32) & (CHANCES - 1)]);
    }
    return done;
}

/* Annealing of a small dense graph of boxes in 16-bit arithmetic: see remap_boxes.h. */
#include "daemon/analysis/network/remap/remap_boxes.h"

#include "daemon/analysis/network/remap/remap_graph.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LANES 8u      /* sums that are added at a time (one vector register) */
#define MAX_BLOCKS 8u /* groups of lanes: codes have up to 64 bits */
#define MAX_SUM                                                                                    \
    8000.0 /* limit of the sum of a box' weights: two sums plus rounding stay below 2^15 */
#define MAX_NEIGHBOURS 16u /* neighbours of a place: two for each of at most 7 units */
#define PICKS 64u          /* partners to draw from; heavy ones occur several times */
#define CHANCES 1024u

/* Work of one attempted exchange, in units of remap.c. The ratios of these constants were measured
 * by remap_bench. */
#define WORK_TRY 16u
#define WORK_BLOCK 4u /* additional work for each 8 bits */
#define WORK_EXCHANGE 120u
#define WORK_BOX 3u /* work of an executed exchange, for each box and 8 bits */

struct remap_boxes {
    uint32_t count, blocks;
    double scale; /* average of what a box exchanges with all others */
    uint64_t random;
    uint64_t code[REMAP_MAX_BOXES]; /* code of each place */
    uint64_t code_at[REMAP_MAX_BOXES];
    uint8_t place[REMAP_MAX_BOXES], at[REMAP_MAX_BOXES];
    uint8_t near_count[REMAP_MAX_BOXES];
    uint8_t near[REMAP_MAX_BOXES][MAX_NEIGHBOURS];
    uint8_t pick[REMAP_MAX_BOXES][PICKS];
    float chance[CHANCES];
    int16_t lanes[1u << LANES][LANES];                /* -1 where the bit is set */
    int16_t sum[REMAP_MAX_BOXES * MAX_BLOCKS][LANES]; /* sums of each box, in groups of lanes */
    int16_t weight[REMAP_MAX_BOXES][REMAP_MAX_BOXES];
};

/* ---- the network ---------------------------------------------------------------- */

static uint32_t remap_boxes_count_bits(const struct remap_unit *unit)
{
    if (unit->size <= 2 || unit->connection == TOPOLOGY_MESH)
        return unit->size - 1;
    if (unit->connection == TOPOLOGY_TORUS && unit->size % 2 == 0)
        return unit->size / 2;
    return 64 + 1;
}

/* The lowest x bits are set; beyond half a ring they are cleared again from the lowest bit on. */
static uint64_t remap_boxes_code_of(uint32_t bits, uint32_t x)
{
    const uint64_t all = (1ull << bits) - 1;
    return x <= bits ? all & ((1ull << x) - 1) : all & ~((1ull << (x - bits)) - 1);
}

static bool remap_boxes_find_codes(struct remap_boxes *b, const struct remap_unit *units,
                                   uint32_t unit_count)
{
    uint32_t count = 0, stride = 1;
    memset(b->code, 0, sizeof(b->code));
    for (uint32_t u = unit_count; u-- > 0; stride *= units[u].size) {
        const uint32_t bits = remap_boxes_count_bits(&units[u]);
        if (count + bits >= LANES * MAX_BLOCKS)
            return false;
        for (uint32_t s = 0; s < b->count; s++)
            b->code[s] |= remap_boxes_code_of(bits, s / stride % units[u].size) << count;
        count += bits;
    }
    b->blocks = (count + LANES - 1) / LANES;
    return count > 0 && stride == b->count;
}

/* List the places one step away from each place. */
static void remap_boxes_find_near(struct remap_boxes *b)
{
    for (uint32_t s = 0; s < b->count; s++) {
        b->near_count[s] = 0;
        for (uint32_t t = 0; t < b->count; t++) {
            const uint64_t apart = b->code[s] ^ b->code[t];
            if (apart != 0 && (apart & (apart - 1)) == 0 && b->near_count[s] < MAX_NEIGHBOURS)
                b->near[s][b->near_count[s]++] = (uint8_t)t;
        }
    }
}

/* ---- weights -------------------------------------------------------------------- */

static double remap_boxes_add_saturating(const double *row, uint32_t count, uint32_t self)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += i == self ? 0 : row[i];
    return sum;
}

static bool remap_boxes_scale_weights(struct remap_boxes *b, const double *weights)
{
    double most = 0, all = 0;
    for (uint32_t p = 0; p < b->count; p++) {
        const double sum = remap_boxes_add_saturating(weights + (size_t)p * b->count, b->count, p);
        most = sum > most ? sum : most;
        all += sum;
    }
    const double scale = most > 0 ? MAX_SUM / most : 0;
    if (!(scale > 0) || !isfinite(scale) || !isfinite(all))
        return false;
    b->scale = all / b->count * scale;
    for (uint32_t p = 0; p < b->count; p++)
        for (uint32_t q = 0; q < b->count; q++)
            b->weight[p][q] =
                p == q ? 0 : (int16_t)lround(weights[(size_t)p * b->count + q] * scale);
    return true;
}

/* Draw the partners of p from the heaviest on, with the square of a uniform random number. */
static void remap_boxes_draw_partners(struct remap_boxes *b, uint32_t p)
{
    uint8_t order[REMAP_MAX_BOXES];
    const int16_t *weight = b->weight[p];
    uint32_t degree = 0;
    for (uint32_t q = 0; q < b->count; q++) {
        uint32_t i = degree;
        if (weight[q] == 0)
            continue;
        for (; i > 0 && weight[order[i - 1]] < weight[q]; i--)
            order[i] = order[i - 1];
        order[i] = (uint8_t)q;
        degree++;
    }
    for (uint32_t i = 0; i < PICKS;
         i++) /* a box without partners is its own partner: its attempts do nothing */
        b->pick[p][i] = degree == 0 ? (uint8_t)p : order[i * i * degree / (PICKS * PICKS)];
}

static void remap_boxes_fill_sums(struct remap_boxes *b)
{
    memset(b->sum, 0, (size_t)b->count * b->blocks * sizeof(*b->sum));
    for (uint32_t p = 0; p < b->count; p++)
        for (uint32_t q = 0; q < b->count; q++)
            for (uint32_t i = 0; i < b->blocks; i++) {
                const int16_t *apart =
                    b->lanes[(b->code_at[p] ^ b->code_at[q]) >> (i * LANES) & 0xff];
                int16_t *sum = b->sum[p * b->blocks + i];
                for (uint32_t k = 0; k < LANES; k++)
                    sum[k] = (int16_t)(sum[k] + ((b->weight[p][q] ^ apart[k]) - apart[k]));
            }
}

/* ---- making --------------------------------------------------------------------- */

int remap_boxes_create(struct remap_boxes **out)
{
    struct remap_boxes *b = calloc(1, sizeof(*b));
    if (b == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < CHANCES; i++)
        b->chance[i] = (float)-log((i + 0.5) / CHANCES);
    for (uint32_t mask = 0; mask < 1u << LANES; mask++)
        for (uint32_t k = 0; k < LANES; k++)
            b->lanes[mask][k] = (int16_t) - (int16_t)(mask >> k & 1);
    *out = b;
    return 0;
}

void remap_boxes_destroy(struct remap_boxes *boxes)
{
    free(boxes);
}

uint64_t remap_boxes_begin(struct remap_boxes *b, const struct remap_unit *units,
                           uint32_t unit_count, uint32_t count, const double *weights,
                           uint64_t seed)
{
    if (count < 2 || count > REMAP_MAX_BOXES)
        return 0;
    b->count = count;
    b->random = seed;
    if (!remap_boxes_find_codes(b, units, unit_count) || !remap_boxes_scale_weights(b, weights))
        return 0;
    remap_boxes_find_near(b);
    for (uint32_t p = 0; p < count; p++) {
        b->place[p] = b->at[p] = (uint8_t)p;
        b->code_at[p] = b->code[p];
        remap_boxes_draw_partners(b, p);
    }
    remap_boxes_fill_sums(b);
    return (uint64_t)count * count * (10 + 4 * b->blocks);
}

const uint8_t *remap_boxes_places(const struct remap_boxes *boxes)
{
    return boxes->place;
}

/* ---- exchanges ------------------------------------------------------------------ */

static inline int32_t remap_boxes_weigh(const struct remap_boxes *b, uint32_t blocks, uint32_t p,
                                        uint32_t q, uint64_t mask)
{
    int32_t loss = 0;
    for (uint32_t i = 0; i < blocks; i++, mask >>= LANES) {
        const int16_t *one = b->sum[p * blocks + i], *other = b->sum[q * blocks + i];
        const int16_t *set = b->lanes[mask & 0xff];
        for (uint32_t k = 0; k < LANES; k++)
            loss += (int16_t)((one[k] + other[k]) & set[k]);
    }
    return loss;
}

/* A third box is equally far from the two boxes on the one side as on the other: only bits change
 * in which p and q differ. */
static inline void remap_boxes_update_sums(struct remap_boxes *b, uint32_t blocks, uint32_t p,
                                           uint32_t q, uint64_t mask)
{
    const uint64_t code = b->code_at[p];
    const int16_t *one = b->weight[p], *other = b->weight[q];
    for (uint32_t i = 0; i < blocks; i++) {
        const uint32_t shift = i * LANES;
        const int16_t *set = b->lanes[mask >> shift & 0xff];
        if ((mask >> shift & 0xff) == 0)
            continue;
        for (uint32_t box = 0; box < b->count; box++) {
            const int16_t more = (int16_t)(2 * (other[box] - one[box]));
            const int16_t *apart = b->lanes[(code ^ b->code_at[box]) >> shift & 0xff];
            int16_t *sum = b->sum[box * blocks + i];
            for (uint32_t k = 0; k < LANES; k++)
                sum[k] = (int16_t)(sum[k] + (((more ^ apart[k]) - apart[k]) & set[k]));
        }
    }
}

/* For the two boxes themselves, the loss of going back is the negative of the loss of going. */
static inline void remap_boxes_negate_sums(struct remap_boxes *b, uint32_t blocks, uint32_t p,
                                           int16_t between, uint64_t mask,
                                           const int16_t (*before)[LANES])
{
    for (uint32_t i = 0; i < blocks; i++, mask >>= LANES) {
        const int16_t *set = b->lanes[mask & 0xff];
        int16_t *sum = b->sum[p * blocks + i];
        for (uint32_t k = 0; k < LANES; k++)
            sum[k] = (int16_t)((before[i][k] & ~set[k]) |
                               ((int16_t)(-before[i][k] - 2 * between) & set[k]));
    }
}

static void remap_boxes_exchange(struct remap_boxes *b, uint32_t blocks, uint32_t p, uint32_t q,
                                 uint64_t mask)
{
    const uint8_t place = b->place[p];
    int16_t one[MAX_BLOCKS][LANES], other[MAX_BLOCKS][LANES];
    memcpy(one, b->sum[p * blocks], blocks * sizeof(*one));
    memcpy(other, b->sum[q * blocks], blocks * sizeof(*other));
    remap_boxes_update_sums(b, blocks, p, q, mask);
    remap_boxes_negate_sums(b, blocks, p, b->weight[p][q], mask, (const int16_t(*)[LANES])one);
    remap_boxes_negate_sums(b, blocks, q, b->weight[p][q], mask, (const int16_t(*)[LANES])other);
    b->place[p] = b->place[q];
    b->place[q] = place;
    b->at[b->place[p]] = (uint8_t)p;
    b->at[place] = (uint8_t)q;
    b->code_at[p] ^= mask;
    b->code_at[q] ^= mask;
}

/* @return number of executed exchanges */
static inline uint32_t remap_boxes_run_annealing(struct remap_boxes *b, uint32_t blocks,
                                                 float temperature, uint32_t tries)
{
    uint64_t random = b->random;
    uint32_t done = 0;
    for (uint32_t i = 0; i < tries; i++) {
        const uint64_t r = remap_random(&random);
        const uint32_t p = (uint32_t)((r & 0xffff) * b->count >> 16);
        const uint32_t partner = b->pick[p][r >> 16 & (PICKS - 1)], place = b->place[partner];
        const uint32_t near = (uint32_t)((r >> 24 & 0xffff) * b->near_count[place] >> 16);
        const uint32_t q = b->at[b->near[place][near]];
        const uint64_t mask = b->code_at[p] ^ b->code_at[q];
        const int32_t allowed = (int32_t)(temperature * b->chance[r >> 40 & (CHANCES - 1)]);
        /* the weight between the two is counted as if both were in one place */
        const int32_t loss = remap_boxes_weigh(b, blocks, p, q, mask);
        if (loss > allowed || mask == 0 || partner == p)
            continue;
        if (loss + 2 * b->weight[p][q] * __builtin_popcountll(mask) > allowed)
            continue;
        remap_boxes_exchange(b, blocks, p, q, mask);
        done++;
    }
    b->random = random;
    return done;
}

uint64_t remap_boxes_run(struct remap_boxes *b, double temperature, uint32_t tries)
{
    const float scaled = (float)(temperature * b->scale);
    const uint32_t done = b->blocks == 1 ? remap_boxes_run_annealing(b, 1, scaled, tries)
                                         : remap_boxes_run_annealing(b, b->blocks, scaled, tries);
    return (uint64_t)tries * (WORK_TRY + WORK_BLOCK * b->blocks) +
           (uint64_t)done * (WORK_EXCHANGE + (uint64_t)b->count * b->blocks * WORK_BOX);
}

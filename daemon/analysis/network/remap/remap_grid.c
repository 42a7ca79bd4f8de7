/* Embedding of a grid of processes into the network, digit by digit: see remap_grid.h. */
#include "daemon/analysis/network/remap/remap_grid.h"

#include "holter/error.h"
#include "holter/order.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DIGITS 24u /* 2^20 processes have 20, and each dimension may be of size 1 */
#define SAMPLES 160u
#define ROUND_TRIES 120u  /* attempts of one annealing */
#define RANDOM_ORDERS 20u /* random orders tried before each annealing */
#define WORK_DIGIT 9u

struct axis {
    uint32_t stride, size;
    uint32_t begin, end; /* its positions, the highest digit first */
};

/* A dimension of the network, the seats of a vertex, or a digit of a slot's number. */
struct dimension {
    uint32_t place;      /* distance in slots from one coordinate to the next */
    uint32_t begin, end; /* its digits, the highest first */
};

struct remap_grid {
    const struct remap_graph *graph;
    const struct remap_places *places;
    uint32_t *number; /* owned: number of each process in the grid; NULL: the process itself */
    struct axis axes[REMAP_MAX_AXES];
    uint32_t axis_count;
    struct dimension dimensions[MAX_DIGITS];
    uint32_t dimension_count;
    uint32_t radix[MAX_DIGITS];  /* of each digit of the network */
    uint32_t weight[MAX_DIGITS]; /* weight of each digit in the number that the digits form */
    uint32_t *fold;              /* slot of each such number; owned */
    uint32_t digit_count;
    uint32_t order[MAX_DIGITS]; /* digit at each position of the axes */
    uint32_t best[MAX_DIGITS];
    double score, best_score; /* sum of the distances of the samples; below 0: not computed yet */
    uint32_t samples[SAMPLES][2];            /* edges, each of which represents the same weight */
    uint32_t at[REMAP_MAX_AXES][SAMPLES][2]; /* coordinates of the samples */
    uint32_t sample_count;
    uint32_t round, tried; /* number of the round, and attempts in it */
    uint64_t random;
};

/* ---- where a process goes ------------------------------------------------------- */

/* What a coordinate contributes to the number that the digits form, according to the order in which
 * an axis distributes it to the digits. */
static uint32_t remap_grid_part_of(const struct remap_grid *g, const uint32_t *order,
                                   const struct axis *axis, uint32_t x)
{
    uint32_t below = axis->size, part = 0;
    for (uint32_t i = axis->begin; i < axis->end; i++) {
        below /= g->radix[order[i]];
        const uint32_t digit = x / below;
        x %= below;
        if (digit & 1)
            x = below - 1 - x;
        part += digit * g->weight[order[i]];
    }
    return part;
}

/* The slot of a number: in each dimension the coordinate is the value of its digits in reflected
 * order. */
static uint32_t remap_grid_fold(const struct remap_grid *g, uint32_t number)
{
    uint32_t slot = 0;
    for (uint32_t d = 0; d < g->dimension_count; d++) {
        uint32_t x = 0, below = 1;
        for (uint32_t k = g->dimensions[d].end; k-- > g->dimensions[d].begin;) {
            const uint32_t value = number / g->weight[k] % g->radix[k];
            x = value * below + (value & 1 ? below - 1 - x : x);
            below *= g->radix[k];
        }
        slot += x * g->dimensions[d].place;
    }
    return slot;
}

static uint32_t remap_grid_slot_of(const struct remap_grid *g, const uint32_t *order,
                                   uint32_t process)
{
    const uint32_t number = g->number != NULL ? g->number[process] : process;
    uint32_t sum = 0;
    for (uint32_t a = 0; a < g->axis_count; a++) {
        const struct axis *axis = &g->axes[a];
        sum += remap_grid_part_of(g, order, axis, number / axis->stride % axis->size);
    }
    return g->fold[sum];
}

/* Contributions of short axes are looked up in a table: they have fewer coordinates than the
 * samples have ends. */
static double remap_grid_score(struct remap_grid *g, const uint32_t *order)
{
    const uint32_t *spot = g->places->spot;
    uint32_t sums[SAMPLES][2] = {{0}};
    double sum = 0;
    for (uint32_t a = 0; a < g->axis_count; a++) {
        const struct axis *axis = &g->axes[a];
        const bool known = axis->size <= SAMPLES;
        uint32_t parts[SAMPLES];
        for (uint32_t x = 0; known && x < axis->size; x++)
            parts[x] = remap_grid_part_of(g, order, axis, x);
        for (uint32_t i = 0; i < g->sample_count; i++)
            for (uint32_t end = 0; end < 2; end++) {
                const uint32_t x = g->at[a][i][end];
                sums[i][end] += known ? parts[x] : remap_grid_part_of(g, order, axis, x);
            }
    }
    for (uint32_t i = 0; i < g->sample_count; i++)
        sum += remap_distance(g->places, spot[g->fold[sums[i][0]]], spot[g->fold[sums[i][1]]]);
    return sum;
}

/* ---- the grid of processes ------------------------------------------------------ */

struct offset {
    uint32_t difference;
    double weight;
};

ORDER_FUNCTION(remap_grid_compare_offsets, struct offset,
               2 * ORDER(b->weight, a->weight) + ORDER(a->difference, b->difference))

/* Does a stride fit the others: is each a multiple of all smaller ones? */
static bool remap_grid_fits(const uint32_t *strides, uint32_t count, uint32_t stride)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t low = strides[i] < stride ? strides[i] : stride;
        const uint32_t high = strides[i] < stride ? stride : strides[i];
        if (low == high || high % low != 0)
            return false;
    }
    return true;
}

static void remap_grid_make_axes(struct remap_grid *g, uint32_t *strides, uint32_t count)
{
    const uint32_t n = g->graph->processes;
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = i; k > 0 && strides[k] < strides[k - 1]; k--) {
            const uint32_t swap = strides[k];
            strides[k] = strides[k - 1];
            strides[k - 1] = swap;
        }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t size = (i + 1 < count ? strides[i + 1] : n) / strides[i];
        if (size > 1)
            g->axes[g->axis_count++] = (struct axis){.stride = strides[i], .size = size};
    }
}

/* The digits of processes' numbers, the lowest first. */
struct numerals {
    uint32_t radix[MAX_DIGITS], axis[MAX_DIGITS], count;
};

/* A bit for each digit that differs. */
static uint32_t remap_grid_differing(const struct numerals *digits, uint32_t p, uint32_t q)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < digits->count; i++) {
        bits |= (uint32_t)(p % digits->radix[i] != q % digits->radix[i]) << i;
        p /= digits->radix[i];
        q /= digits->radix[i];
    }
    return bits;
}

/* One step along an axis changes a digit of it and, where it carries, all lower ones of the same
 * axis. So of the partners whose numbers differ in no higher digit than this one, the heaviest kind
 * shows its axis: that of the next lower digit which differs too, or a new one. */
static void remap_grid_find_axis_of_digits(struct remap_grid *g, struct numerals *digits,
                                           const double *weight)
{
    for (uint32_t i = 0; i < digits->count; i++) {
        uint32_t heaviest = 1u << i;
        for (uint32_t bits = heaviest; bits < 2u << i; bits++)
            heaviest = weight[bits] > weight[heaviest] ? bits : heaviest;
        uint32_t lower = i;
        while (lower > 0 && !(heaviest >> (lower - 1) & 1))
            lower--;
        if (lower == 0)
            g->axes[g->axis_count].size = 1;
        digits->axis[i] = lower > 0 ? digits->axis[lower - 1] : g->axis_count++;
        g->axes[digits->axis[i]].size *= digits->radix[i];
    }
}

/* The smallest prime factors are the lowest digits. */
static void remap_grid_find_numerals(struct numerals *digits, uint32_t number)
{
    digits->count = 0;
    for (uint32_t rest = number, prime = 2; rest > 1; prime++)
        for (; rest % prime == 0; rest /= prime)
            digits->radix[digits->count++] = prime;
}

static void remap_grid_set_numbers(struct remap_grid *g, const struct numerals *digits)
{
    for (uint32_t a = 0, stride = 1; a < g->axis_count; stride *= g->axes[a++].size)
        g->axes[a].stride = stride;
    for (uint32_t p = 0; p < g->graph->processes; p++) {
        uint32_t stride[REMAP_MAX_AXES], rest = p, number = 0;
        for (uint32_t a = 0; a < g->axis_count; a++)
            stride[a] = g->axes[a].stride;
        for (uint32_t i = 0; i < digits->count; rest /= digits->radix[i++]) {
            number += rest % digits->radix[i] * stride[digits->axis[i]];
            stride[digits->axis[i]] *= digits->radix[i];
        }
        g->number[p] = number;
    }
}

static int remap_grid_number_by_digits(struct remap_grid *g)
{
    const struct remap_graph *graph = g->graph;
    struct numerals digits;
    remap_grid_find_numerals(&digits, graph->processes);
    double *weight = calloc((size_t)1 << digits.count, sizeof(*weight));
    g->number = calloc((size_t)graph->processes + 1, sizeof(*g->number));
    if (weight == NULL || g->number == NULL) {
        free(weight);
        return -ENOMEM;
    }
    for (uint32_t p = 0; p < graph->processes; p++)
        for (uint32_t i = graph->first[p]; i < graph->first[p + 1]; i++)
            weight[remap_grid_differing(&digits, p, graph->partners[i].process)] +=
                graph->partners[i].weight;
    remap_grid_find_axis_of_digits(g, &digits, weight);
    free(weight);
    if (g->axis_count < 2)
        return -HOLTER_EEMPTY; /* one axis is left to AXES_LINE */
    remap_grid_set_numbers(g, &digits);
    return 0;
}

/* Of the differences that carry the most weight, those that can be strides of one grid. */
static int remap_grid_find_axes(struct remap_grid *g, enum remap_axes kind)
{
    const uint32_t n = g->graph->processes;
    uint32_t strides[REMAP_MAX_AXES] = {1}, count = 1;
    double all = 0;
    struct offset *offsets = calloc(n, sizeof(*offsets));
    if (offsets == NULL)
        return -ENOMEM;
    for (uint32_t p = 0; p < n; p++)
        for (uint32_t i = g->graph->first[p]; i < g->graph->first[p + 1]; i++) {
            const uint32_t q = g->graph->partners[i].process;
            offsets[p > q ? p - q : q - p].weight += g->graph->partners[i].weight;
            all += g->graph->partners[i].weight;
        }
    for (uint32_t i = 0; i < n; i++)
        offsets[i].difference = i;
    qsort(offsets, n, sizeof(*offsets), remap_grid_compare_offsets);
    for (uint32_t i = 0; kind == AXES_STRIDES && i < n && i < 16 && count < 8; i++)
        if (offsets[i].weight > 0.01 * all && n % offsets[i].difference == 0 &&
            remap_grid_fits(strides, count, offsets[i].difference))
            strides[count++] = offsets[i].difference;
    free(offsets);
    remap_grid_make_axes(g, strides, count);
    return kind == AXES_STRIDES && g->axis_count < 2 ? -HOLTER_EEMPTY : 0;
}

/* ---- digits --------------------------------------------------------------------- */

static void remap_grid_add_digits(struct remap_grid *g, uint32_t size, uint32_t place)
{
    struct dimension *d = &g->dimensions[g->dimension_count++];
    d->begin = g->digit_count;
    for (uint32_t prime = 2; size > 1; prime++)
        for (; size % prime == 0; size /= prime)
            g->radix[g->digit_count++] = prime;
    d->end = g->digit_count;
    d->place = place;
}

/* Do the seats fill a box of the network, with the same number on each vertex? Sets its corner and
 * sizes. */
static bool remap_grid_is_box(const struct remap_places *places, uint32_t *sizes, uint32_t *room)
{
    uint64_t volume = 1;
    uint32_t low[TOPOLOGY_DIMENSIONS], high[TOPOLOGY_DIMENSIONS];
    if (places->inter_node || places->dimension_count == 0 ||
        topology_spec(places->topology)->kind != TOPOLOGY_CARTESIAN)
        return false;
    *room = places->first[1];
    for (uint32_t d = 0; d < places->dimension_count; d++)
        low[d] = high[d] = remap_at(places, 0)[d];
    for (uint32_t s = 0; s < places->spots; s++) {
        if (places->first[s + 1] - places->first[s] != *room)
            return false;
        for (uint32_t d = 0; d < places->dimension_count; d++) {
            const uint32_t x = remap_at(places, s)[d];
            low[d] = x < low[d] ? x : low[d];
            high[d] = x > high[d] ? x : high[d];
        }
    }
    for (uint32_t d = 0; d < places->dimension_count; d++) {
        sizes[d] = high[d] - low[d] + 1;
        volume *= sizes[d];
    }
    return volume == places->spots;
}

/* Spots are in row-major order, and therefore the seats of a box are, too. */
static void remap_grid_find_digits(struct remap_grid *g)
{
    uint32_t sizes[TOPOLOGY_DIMENSIONS], room = 1, place = g->places->slots;
    if (remap_grid_is_box(g->places, sizes, &room)) {
        for (uint32_t d = 0; d < g->places->dimension_count; d++) {
            place /= sizes[d];
            remap_grid_add_digits(g, sizes[d], place);
        }
        remap_grid_add_digits(g, room, 1);
        return;
    }
    for (uint32_t rest = g->places->slots, prime = 2; rest > 1; prime++)
        for (; rest % prime == 0; rest /= prime) {
            place /= prime;
            remap_grid_add_digits(g, prime, place);
        }
}

/* Distribute the digits to the axes, dimension by dimension, in this order of dimensions and axes.
 */
static bool remap_grid_deal_axes(struct remap_grid *g, const uint32_t *dimensions,
                                 const uint32_t *axes, uint32_t *order)
{
    bool used[MAX_DIGITS] = {false};
    uint32_t dealt = 0;
    for (uint32_t i = 0; i < g->axis_count; i++) {
        uint32_t rest = g->axes[axes[i]].size, position = g->axes[axes[i]].begin;
        for (uint32_t j = 0; j < g->dimension_count; j++)
            for (uint32_t k = g->dimensions[dimensions[j]].begin;
                 k < g->dimensions[dimensions[j]].end; k++)
                if (!used[k] && rest % g->radix[k] == 0) {
                    used[k] = true;
                    rest /= g->radix[k];
                    order[position++] = k;
                    dealt++;
                }
        if (rest != 1)
            return false;
    }
    return dealt == g->digit_count;
}

/* Set the number of digits of each axis: the number of prime factors of its size. */
static void remap_grid_set_positions(struct remap_grid *g)
{
    uint32_t position = 0;
    for (uint32_t a = 0; a < g->axis_count; a++) {
        uint32_t rest = g->axes[a].size;
        g->axes[a].begin = position;
        for (uint32_t prime = 2; rest > 1; prime++)
            for (; rest % prime == 0; rest /= prime)
                position++;
        g->axes[a].end = position;
    }
}

static void remap_grid_shuffle(uint32_t *order, uint32_t count, uint64_t *random)
{
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    for (uint32_t i = count; random != NULL && i > 1; i--) {
        const uint32_t k = remap_below(random, i), swap = order[i - 1];
        order[i - 1] = order[k];
        order[k] = swap;
    }
}

/* Distribute the digits in a random order of dimensions and axes; without random numbers (NULL), in
 * their given order. */
static bool remap_grid_deal_digits(struct remap_grid *g, uint64_t *random, uint32_t *order)
{
    uint32_t dimensions[MAX_DIGITS], axes[REMAP_MAX_AXES];
    remap_grid_shuffle(dimensions, g->dimension_count, random);
    remap_grid_shuffle(axes, g->axis_count, random);
    return remap_grid_deal_axes(g, dimensions, axes, order);
}

/* ---- samples -------------------------------------------------------------------- */

/* Choose edges at equal steps of the cumulated weight. */
static void remap_grid_draw_samples(struct remap_grid *g)
{
    const struct remap_graph *graph = g->graph;
    double all = 0, sum = 0;
    for (uint32_t i = 0; i < graph->first[graph->processes]; i++)
        all += graph->partners[i].weight;
    const double step = all / SAMPLES, begin = step * ((double)(g->random >> 11) * 0x1p-53);
    for (uint32_t p = 0; p < graph->processes; p++)
        for (uint32_t i = graph->first[p]; i < graph->first[p + 1]; i++) {
            sum += graph->partners[i].weight;
            while (g->sample_count < SAMPLES && sum > begin + step * g->sample_count) {
                g->samples[g->sample_count][0] = p;
                g->samples[g->sample_count++][1] = graph->partners[i].process;
            }
        }
}

static void remap_grid_find_coordinates(struct remap_grid *g)
{
    for (uint32_t a = 0; a < g->axis_count; a++)
        for (uint32_t i = 0; i < g->sample_count; i++)
            for (uint32_t end = 0; end < 2; end++) {
                const uint32_t process = g->samples[i][end];
                const uint32_t number = g->number != NULL ? g->number[process] : process;
                g->at[a][i][end] = number / g->axes[a].stride % g->axes[a].size;
            }
}

static int remap_grid_make_fold(struct remap_grid *g)
{
    uint32_t count = 1;
    for (uint32_t k = g->digit_count; k-- > 0; count *= g->radix[k])
        g->weight[k] = count;
    g->fold = malloc(((size_t)count + 1) * sizeof(*g->fold));
    if (g->fold == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        g->fold[i] = remap_grid_fold(g, i);
    return 0;
}

int remap_grid_create(struct remap_grid **out, const struct remap_graph *graph,
                      const struct remap_places *places, enum remap_axes axes, uint64_t seed)
{
    struct remap_grid *g = calloc(1, sizeof(*g));
    if (g == NULL)
        return -ENOMEM;
    g->graph = graph;
    g->places = places;
    g->random = seed;
    g->best_score = -1;
    remap_random(&g->random);
    int rc = 0;
    if (axes == AXES_DIGITS)
        rc = remap_grid_number_by_digits(g);
    else
        rc = remap_grid_find_axes(g, axes);
    if (rc == 0) {
        remap_grid_find_digits(g);
        remap_grid_draw_samples(g);
        remap_grid_set_positions(g);
        remap_grid_find_coordinates(g);
        rc = remap_grid_deal_digits(g, NULL, g->order) && g->sample_count > 0 ? 0 : -HOLTER_EEMPTY;
    }
    if (rc == 0)
        rc = remap_grid_make_fold(g);
    if (rc != 0) {
        remap_grid_destroy(g);
        return rc;
    }
    memcpy(g->best, g->order, sizeof(g->best));
    g->score = g->best_score = remap_grid_score(g, g->order);
    *out = g;
    return 0;
}

void remap_grid_destroy(struct remap_grid *grid)
{
    if (grid == NULL)
        return;
    free(grid->fold);
    free(grid->number);
    free(grid);
}

/* ---- search --------------------------------------------------------------------- */

static const struct axis *remap_grid_axis_of(const struct remap_grid *g, uint32_t position)
{
    uint32_t a = 0;
    while (position < g->axes[a].begin || position >= g->axes[a].end)
        a++;
    return &g->axes[a];
}

/* Exchange two digits, or move one to another position of its axis. @return has anything changed?
 */
static bool remap_grid_change(struct remap_grid *g, uint32_t *order)
{
    const uint32_t i = remap_below(&g->random, g->digit_count);
    const uint32_t k = remap_below(&g->random, g->digit_count);
    const uint32_t digit = order[i];
    const bool same = remap_grid_axis_of(g, i) == remap_grid_axis_of(g, k);
    if (i == k || (!same && g->radix[digit] != g->radix[order[k]]))
        return false;
    if (same && (g->random & 1)) {
        if (i < k)
            memmove(order + i, order + i + 1, (k - i) * sizeof(*order));
        else
            memmove(order + k + 1, order + k, (i - k) * sizeof(*order));
        order[k] = digit;
    } else {
        order[i] = order[k];
        order[k] = digit;
    }
    return true;
}

static void remap_grid_store_best(struct remap_grid *g)
{
    if (g->score >= g->best_score)
        return;
    memcpy(g->best, g->order, sizeof(g->best));
    g->best_score = g->score;
}

/* Start a new round: from the best order so far, or from the best of some random ones. */
static void remap_grid_begin_round(struct remap_grid *g)
{
    uint32_t order[MAX_DIGITS] = {0};
    g->tried = 0;
    memcpy(g->order, g->best, sizeof(g->best));
    g->score = g->best_score;
    if (g->round++ % 4 == 3)
        return;
    g->score = HUGE_VAL;
    for (; g->tried < RANDOM_ORDERS; g->tried++) {
        if (!remap_grid_deal_digits(g, &g->random, order))
            continue;
        const double now = remap_grid_score(g, order);
        if (now < g->score)
            memcpy(g->order, order, sizeof(order));
        g->score = now < g->score ? now : g->score;
    }
    remap_grid_store_best(g);
}

static void remap_grid_attempt(struct remap_grid *g)
{
    uint32_t order[MAX_DIGITS];
    memcpy(order, g->order, sizeof(order));
    if (!remap_grid_change(g, order))
        return;
    if (remap_below(&g->random, 4) == 0)
        remap_grid_change(g, order);
    const double now = remap_grid_score(g, order);
    const double left = 1 - (double)g->tried / ROUND_TRIES;
    const double chance = ((double)(remap_random(&g->random) >> 11) + 0.5) * 0x1p-53;
    if (now - g->score > -log(chance) * 0.06 * left * left * g->sample_count)
        return;
    memcpy(g->order, order, sizeof(order));
    g->score = now;
    remap_grid_store_best(g);
}

bool remap_grid_step(struct remap_grid *g, uint64_t limit, uint64_t *work)
{
    const double before = g->best_score;
    const uint64_t end = *work + limit;
    while (*work < end) {
        const uint64_t one =
            500 + 2 * (uint64_t)g->sample_count * (WORK_DIGIT * g->digit_count + 20);
        if (g->tried++ % ROUND_TRIES == 0) {
            remap_grid_begin_round(g);
            *work += RANDOM_ORDERS * one;
        }
        remap_grid_attempt(g);
        *work += one;
    }
    return g->best_score < before;
}

void remap_grid_slots(const struct remap_grid *g, uint32_t *slots)
{
    for (uint32_t p = 0; p < g->graph->processes; p++)
        slots[p] = remap_grid_slot_of(g, g->best, p);
}

#include "daemon/analysis/attribution.h"

#include "daemon/analysis/array.h"
#include "daemon/analysis/attribution_state.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_WINDOWS 64u
#define MOST_NODES (UINT32_C(1) << 20)

static const char *const cause_names[CAUSES] = {
    [CAUSE_NETWORK] = "network",
    [CAUSE_LATE_SENDER] = "late-sender",
    [CAUSE_LATE_RECEIVER] = "late-receiver",
    [CAUSE_MAPPING] = "mapping",
    [CAUSE_PATTERN] = "pattern",
    [CAUSE_BACKGROUND] = "background",
    [CAUSE_SLOW_NODE] = "slow-node",
    [CAUSE_COLLECTIVE] = "collective",
};

const char *attribution_cause_name(enum attribution_cause_kind kind)
{
    return (unsigned)kind < CAUSES ? cause_names[kind] : "?";
}

int attribution_create(struct attribution **out, const struct attribution_params *params)
{
    struct attribution *a = calloc(1, sizeof(*a));
    if (a == NULL)
        return -ENOMEM;
    if (params != NULL)
        a->params = *params;
    struct attribution_params *p = &a->params;
    p->windows = p->windows ? p->windows : 8;
    p->windows = p->windows < MOST_WINDOWS ? p->windows : MOST_WINDOWS;
    p->forget = p->forget ? p->forget : 600;
    p->ranks = p->ranks ? p->ranks : UINT32_C(1) << 20;
    p->node_pairs = p->node_pairs ? p->node_pairs : UINT32_C(1) << 22;
    a->slices = calloc(p->windows, sizeof(*a->slices));
    if (a->slices == NULL) {
        free(a);
        return -ENOMEM;
    }
    key_table_init(&a->pairs);
    *out = a;
    return 0;
}

void attribution_sum_finish(struct attribution_sum *sum)
{
    free(sum->ranks);
    free(sum->pairs);
    *sum = (struct attribution_sum){0};
}

void attribution_destroy(struct attribution *a)
{
    if (a == NULL)
        return;
    for (uint32_t i = 0; i < a->params.windows; i++) {
        free(a->slices[i].ranks);
        free(a->slices[i].pairs);
    }
    free(a->slices);
    attribution_sum_finish(&a->base);
    key_table_finish(&a->pairs);
    free(a->node_of);
    free(a->nodes);
    free(a->partners);
    attribution_traffic_finish(&a->traffic);
    free(a);
}

size_t attribution_bytes(const struct attribution *a)
{
    size_t bytes = sizeof(*a) + a->params.windows * sizeof(*a->slices) + key_table_bytes(&a->pairs);
    for (uint32_t i = 0; i < a->params.windows; i++)
        bytes += a->slices[i].rank_room * sizeof(*a->slices[i].ranks) +
                 a->slices[i].pair_room * sizeof(*a->slices[i].pairs);
    bytes +=
        a->base.rank_room * sizeof(*a->base.ranks) + a->base.pair_room * sizeof(*a->base.pairs);
    return bytes + a->place_room * sizeof(*a->node_of) + a->node_room * sizeof(*a->nodes) +
           a->partner_room * sizeof(*a->partners) + a->traffic.room * sizeof(*a->traffic.rows) +
           a->traffic.turn_room * sizeof(*a->traffic.turns);
}

int attribution_place(struct attribution *a, uint32_t rank, uint32_t node, const char *name)
{
    uint32_t old = attribution_node_of(a, rank);
    if (node >= MOST_NODES || rank >= a->params.ranks)
        return -ERANGE;
    int error = array_fit_zero(&a->nodes, sizeof(*a->nodes), &a->node_room, (uint64_t)node + 1);
    if (error == 0)
        error =
            array_fit_zero(&a->node_of, sizeof(*a->node_of), &a->place_room, (uint64_t)rank + 1);
    if (error)
        return error;
    for (; a->placed <= rank; a->placed++)
        a->node_of[a->placed] = ATTRIBUTION_NO_NODE;
    if (node >= a->node_count)
        a->node_count = node + 1;
    if (old != ATTRIBUTION_NO_NODE)
        a->nodes[old].ranks--;
    a->nodes[node].ranks++;
    snprintf(a->nodes[node].name, sizeof(a->nodes[node].name), "%s", name ? name : "");
    a->node_of[rank] = node;
    a->traffic.figured = 0;
    return 0;
}

const char *attribution_node_name(const struct attribution *a, uint32_t node)
{
    return node < a->node_count && a->nodes[node].name[0] != '\0' ? a->nodes[node].name : "a node";
}

/* ---- sums ---------------------------------------------------------------- */

int attribution_sum_room(struct attribution_sum *sum, uint32_t ranks, uint32_t pairs)
{
    int error = array_fit_zero(&sum->ranks, sizeof(*sum->ranks), &sum->rank_room, ranks);
    return error ? error : array_fit_zero(&sum->pairs, sizeof(*sum->pairs), &sum->pair_room, pairs);
}

int attribution_sum_add(struct attribution_sum *sum, const struct attribution_slice *slice)
{
    int error = attribution_sum_room(sum, slice->rank_count, slice->pair_count);
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

/* Whether all are below 2^52. */
static int are_small(const uint64_t *figures, int count)
{
    uint64_t either[2] = {0, 0};
    for (int f = 0; f < count; f += 2) {
        either[0] |= figures[f];
        either[1] |= figures[f + 1];
    }
    return (either[0] | either[1]) >> 52 == 0;
}

/* Sums are forgotten by a factor, and further figures added. Whole numbers below 2^52 become doubles by
 * way of their bits: processors do that with two at a time, and convert one. */
static inline void fade(double *restrict sums, double keep, const uint64_t *restrict figures,
                        int count)
{
    const double unit = 0x1p52;
    uint64_t unit_bits;
    memcpy(&unit_bits, &unit, sizeof(unit));
    if (!are_small(figures, count)) {
        for (int f = 0; f < count; f++)
            sums[f] = sums[f] * keep + (double)figures[f];
        return;
    }
    for (int f = 0; f < count; f++) {
        uint64_t bits = figures[f] | unit_bits;
        double figure;
        memcpy(&figure, &bits, sizeof(figure));
        sums[f] = sums[f] * keep + (figure - unit);
    }
}

/* What leaves the ring when a window comes. */
struct leaving {
    uint32_t ranks, pairs; /* that go into the baseline */
    double keep;           /* share of the baseline that is left; 1: nothing goes into it */
};

/* The oldest window leaves a full ring, into the baseline unless the job was disturbed in it. Its figures
 * are taken from where those of the next window will be. */
static int retire(struct attribution *a, struct leaving *out)
{
    *out = (struct leaving){.keep = 1};
    if (a->slice_count < a->params.windows)
        return 0;
    const struct attribution_slice *oldest = attribution_slice_at(a, 0);
    if (!a->disturbed || oldest->number < a->disturbed_since) {
        int error = attribution_sum_room(&a->base, oldest->rank_count, oldest->pair_count);
        if (error)
            return error;
        *out = (struct leaving){.ranks = oldest->rank_count,
                                .pairs = oldest->pair_count,
                                .keep = exp(-1.0 / a->params.forget)};
        a->base.windows++;
    }
    a->slice_first = (a->slice_first + 1) % a->params.windows;
    a->slice_count--;
    return 0;
}

_Static_assert(RANK_FIGURES % 8 == 0, "figures are cleared eight at a time");

/* What leaves of a rank goes into the baseline, and what comes begins at zero. */
static inline void renew_rank(struct attribution_sum *base, struct attribution_slice *slice,
                              const struct leaving *leaving, uint32_t rank)
{
    if (rank < leaving->ranks)
        fade(base->ranks[rank], leaving->keep, slice->ranks[rank], RANK_FIGURES);
    if (rank < slice->rank_count)
        for (uint32_t f = 0; f < RANK_FIGURES; f += 8) /* so much is written without a loop */
            memset(&slice->ranks[rank][f], 0, 8 * sizeof(**slice->ranks));
}

static void renew_pairs(struct attribution_sum *base, struct attribution_slice *slice,
                        const struct leaving *leaving)
{
    for (uint32_t p = 0; p < leaving->pairs; p++)
        fade(base->pairs[p], leaving->keep, slice->pairs[p], PAIR_FIGURES);
    if (slice->pair_room > 0)
        memset(slice->pairs, 0, slice->pair_room * sizeof(*slice->pairs));
    slice->pair_count = 0;
}

/* What the window that leaves says nothing of is forgotten as well. */
static void fade_others(struct attribution_sum *base, const struct leaving *leaving)
{
    if (leaving->keep == 1)
        return;
    for (uint32_t r = leaving->ranks; r < base->rank_room; r++)
        for (int f = 0; f < RANK_FIGURES; f++)
            base->ranks[r][f] *= leaving->keep;
    for (uint32_t p = leaving->pairs; p < base->pair_room; p++)
        for (int f = 0; f < PAIR_FIGURES; f++)
            base->pairs[p][f] *= leaving->keep;
}

/* ---- taking in a window -------------------------------------------------- */

/* One above the highest rank that the window names, within the limit. */
static uint32_t highest_rank(const struct attribution *a, const struct attribution_window *window)
{
    uint32_t count = 0;
    for (size_t i = 0; i < window->rank_count; i++)
        if (window->ranks[i].rank >= count && window->ranks[i].rank < a->params.ranks)
            count = window->ranks[i].rank + 1;
    return count;
}

static void add_rank(struct attribution_slice *slice, const struct rank_row *row, uint64_t length)
{
    uint64_t *to = slice->ranks[row->rank];
    uint64_t messaging = row->send_ns + row->recv_ns + row->wait_ns + row->poll_ns;
    uint64_t mpi = messaging + row->collective_ns + row->one_sided_ns + row->io_ns + row->other_ns;
    to[RANK_LENGTH] = length;
    to[RANK_MPI] += (mpi < length ? mpi : length);
    to[RANK_MESSAGING] += (messaging < length ? messaging : length);
    to[RANK_COLLECTIVE] += (row->collective_ns < length ? row->collective_ns : length);
    to[RANK_CALLS] += (row->calls > row->polls ? row->calls - row->polls : 0);
    to[RANK_MESSAGES] += (row->sent + row->received);
}

/* Ranks that have no row have no figures. Rows mostly come by rank, each once: what leaves is read where
 * what comes is written, rank by rank. */
static void add_ranks(struct attribution_sum *base, struct attribution_slice *slice,
                      const struct leaving *leaving, const struct attribution_window *window)
{
    uint32_t renewed = 0;
    for (size_t i = 0; i < window->rank_count; i++) {
        const struct rank_row *row = &window->ranks[i];
        if (row->rank >= slice->rank_count)
            continue;
        for (; renewed <= row->rank; renewed++)
            renew_rank(base, slice, leaving, renewed);
        add_rank(slice, row, window->length_ns);
    }
    for (; renewed < slice->rank_count || renewed < leaving->ranks; renewed++)
        renew_rank(base, slice, leaving, renewed);
}

/* Number of a pair of nodes. @return KEY_NONE: there are too many, or no memory: *error says */
static uint32_t look_up_pair(struct attribution *a, struct attribution_slice *slice, struct key key,
                             int *error)
{
    uint32_t at = key_table_find(&a->pairs, key);
    if (at == KEY_NONE && a->pairs.count >= a->params.node_pairs)
        return KEY_NONE;
    if (at == KEY_NONE) {
        *error = key_table_reserve(&a->pairs, 1);
        if (*error)
            return KEY_NONE;
        at = key_table_add_hashed(&a->pairs, key);
    }
    *error =
        array_fit_zero(&slice->pairs, sizeof(*slice->pairs), &slice->pair_room, (uint64_t)at + 1);
    return *error ? KEY_NONE : at;
}

static inline void add_four(uint64_t *restrict to, const uint64_t *restrict figures)
{
    for (int f = 0; f < PAIR_FIGURES; f++)
        to[f] += figures[f];
}

static int add_pair(struct attribution *a, struct attribution_slice *slice,
                    const struct transfer *t, const uint64_t *figures)
{
    struct key key = {.hi = attribution_node_of(a, t->source),
                      .lo = attribution_node_of(a, t->destination)};
    if (key.hi == ATTRIBUTION_NO_NODE || key.lo == ATTRIBUTION_NO_NODE || key.hi == key.lo)
        return 0;
    uint32_t *recent = &a->recent[(key.hi * 33 + key.lo) % ATTRIBUTION_RECENT_PAIRS];
    if (*recent >= slice->pair_room || !key_table_is(&a->pairs, *recent, key)) {
        int error = 0;
        *recent = look_up_pair(a, slice, key, &error);
        if (*recent == KEY_NONE)
            return error;
    }
    if (*recent >= slice->pair_count)
        slice->pair_count = *recent + 1;
    add_four(slice->pairs[*recent], figures);
    return 0;
}

/* What messages take by the reference criterion; 0: without one nothing can be said of their network
 * time. */
static uint64_t expected_of(const struct latency_scale *scale, const struct transfer *t)
{
    if (scale == NULL)
        return 0;
    double product = scale->reference[t->locality][t->size_class] * (double)(int64_t)t->messages;
    return product >= 1 && product < 1e18 ? (uint64_t)(int64_t)product : 0;
}

static int add_transfers(struct attribution *a, struct attribution_slice *slice,
                         const struct attribution_window *window)
{
    uint64_t(*const ranks)[RANK_FIGURES] = slice->ranks;
    const uint32_t rank_count = slice->rank_count;
    const struct latency_scale *const scale = window->scale;
    for (size_t i = 0; window->transfers != NULL && i < window->transfers->count; i++) {
        const struct transfer row = transfer_at(window->transfers, i), *const t = &row;
        if (t->source >= rank_count || t->destination >= rank_count || t->locality >= LOCALITIES ||
            t->size_class >= SIZE_CLASSES)
            continue;
        uint64_t *from = ranks[t->source], *to = ranks[t->destination];
        uint64_t expected = expected_of(scale, t);
        from[RANK_AWAITED] += t->late_sender_ns;
        to[RANK_WAITED] += t->late_sender_ns;
        to[RANK_CAME_LATE] += t->late_receiver_ns;
        if (expected == 0)
            continue;
        const uint64_t figures[PAIR_FIGURES] = {t->messages, t->network_ns, expected, t->joint_ns};
        if (t->locality == LOCALITY_INTRA) {
            add_four(&to[RANK_NEAR_MATCHED], figures);
            continue;
        }
        add_four(&to[RANK_MATCHED], figures);
        from[RANK_NETWORK_OUT] += t->network_ns;
        from[RANK_EXPECTED_OUT] += expected;
        int error = add_pair(a, slice, t, figures);
        if (error)
            return error;
    }
    return 0;
}

/* Where the figures of the next window will be: in a full ring, where those of the oldest are. */
static struct attribution_slice *next_slice(const struct attribution *a)
{
    return &a->slices[(a->slice_first + a->slice_count) % a->params.windows];
}

static int make_room(struct attribution *a, uint32_t ranks)
{
    struct attribution_slice *slice = next_slice(a);
    int error = array_fit_zero(&slice->ranks, sizeof(*slice->ranks), &slice->rank_room, ranks);
    if (error == 0)
        error =
            array_fit_zero(&slice->pairs, sizeof(*slice->pairs), &slice->pair_room, a->pairs.count);
    return error ? error : attribution_traffic_room(a, ranks);
}

int attribution_window(struct attribution *a, const struct attribution_window *window)
{
    uint32_t ranks = highest_rank(a, window);
    struct attribution_slice *slice = next_slice(a);
    struct leaving leaving;
    if (a->slice_count > 0 && window->number <= attribution_slice_at(a, a->slice_count - 1)->number)
        return -ERANGE;
    int error = make_room(a, ranks);
    error = error ? error : retire(a, &leaving);
    if (error)
        return error;
    slice->number = window->number;
    slice->rank_count = ranks;
    add_ranks(&a->base, slice, &leaving, window);
    renew_pairs(&a->base, slice, &leaving);
    fade_others(&a->base, &leaving);
    attribution_traffic_add(a, slice, window);
    a->traffic.figured = 0;
    error = add_transfers(a, slice, window);
    if (error)
        return error;
    a->slice_count++;
    a->traffic.figured = window->figured;
    if (ranks > a->rank_count)
        a->rank_count = ranks;
    return 0;
}

void attribution_disturbed(struct attribution *a, uint64_t since)
{
    if (!a->disturbed || since < a->disturbed_since)
        a->disturbed_since = since;
    a->disturbed = 1;
}

void attribution_calm(struct attribution *a)
{
    a->disturbed = 0;
}

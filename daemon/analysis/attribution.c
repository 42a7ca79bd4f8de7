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
    free(a->turns);
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
           a->partner_room * sizeof(*a->partners) + a->turn_room * sizeof(*a->turns);
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

static void forget_and_add(struct attribution_sum *sum, double keep,
                           const struct attribution_slice *slice)
{
    for (uint32_t r = 0; r < slice->rank_count; r++)
        fade(sum->ranks[r], keep, slice->ranks[r], RANK_FIGURES);
    for (uint32_t r = slice->rank_count; r < sum->rank_room; r++)
        for (int f = 0; f < RANK_FIGURES; f++)
            sum->ranks[r][f] *= keep;
    for (uint32_t p = 0; p < slice->pair_count; p++)
        fade(sum->pairs[p], keep, slice->pairs[p], PAIR_FIGURES);
    for (uint32_t p = slice->pair_count; p < sum->pair_room; p++)
        for (int f = 0; f < PAIR_FIGURES; f++)
            sum->pairs[p][f] *= keep;
    sum->windows++;
}

/* The oldest window leaves the ring, into the baseline unless the job was disturbed in it. */
static int retire(struct attribution *a)
{
    const struct attribution_slice *oldest = attribution_slice_at(a, 0);
    if (!a->disturbed || oldest->number < a->disturbed_since) {
        int error = attribution_sum_room(&a->base, oldest->rank_count, oldest->pair_count);
        if (error)
            return error;
        forget_and_add(&a->base, exp(-1.0 / a->params.forget), oldest);
    }
    a->slice_first = (a->slice_first + 1) % a->params.windows;
    a->slice_count--;
    return 0;
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

/* Ranks that have no row have no figures. Rows mostly come by rank, each once. */
static void add_ranks(struct attribution_slice *slice, const struct attribution_window *window)
{
    uint32_t zeroed = 0;
    for (size_t i = 0; i < window->rank_count; i++) {
        const struct rank_row *row = &window->ranks[i];
        if (row->rank >= slice->rank_count)
            continue;
        for (; zeroed <= row->rank; zeroed++)
            memset(slice->ranks[zeroed], 0, sizeof(*slice->ranks));
        add_rank(slice, row, window->length_ns);
    }
    for (; zeroed < slice->rank_count; zeroed++)
        memset(slice->ranks[zeroed], 0, sizeof(*slice->ranks));
}

/* Among the partners that are kept the heaviest stay: a new one takes the place and the count of the
 * lightest (Metwally et al. 2005, space saving). @return its place */
static __attribute__((noinline)) uint8_t find_partner(struct attribution_partner *partners,
                                                      uint32_t rank)
{
    uint8_t lightest = 0;
    for (uint8_t i = 0; i < ATTRIBUTION_PARTNERS; i++) {
        if (partners[i].messages > 0 && partners[i].rank == rank)
            return i;
        if (partners[i].messages < partners[lightest].messages)
            lightest = i;
    }
    partners[lightest].rank = rank;
    return lightest;
}

/* @param turn  where it probably is; then where the next one probably is */
static inline void add_partner(struct attribution_partner *partners, uint8_t *turn, uint32_t rank,
                               uint64_t messages)
{
    uint8_t at = *turn;
    if (at >= ATTRIBUTION_PARTNERS || partners[at].rank != rank || partners[at].messages == 0)
        at = find_partner(partners, rank);
    partners[at].messages += messages;
    *turn = (uint8_t)(at + 1);
}

static void add_traffic(const struct attribution *a, const struct attribution_slice *slice,
                        const struct pair_row *rows, size_t count)
{
    uint64_t(*ranks)[RANK_FIGURES] = slice->ranks;
    struct attribution_partner(*partners)[ATTRIBUTION_PARTNERS] = a->partners;
    struct attribution_turn *turns = a->turns;
    const uint32_t rank_count = slice->rank_count;
    for (size_t i = 0; i < count; i++) {
        const struct pair_row *row = &rows[i];
        uint32_t from = row->source, to = (uint32_t)row->destination;
        uint64_t messages = row->messages;
        if (row->destination < 0 || from >= rank_count || to >= rank_count || to == from)
            continue;
        uint32_t from_node = attribution_node_of(a, from), to_node = attribution_node_of(a, to);
        uint64_t *out = ranks[from];
        if (from_node == to_node && from_node != ATTRIBUTION_NO_NODE) {
            out[RANK_INTRA_OUT] += messages;
            out[RANK_INTRA_BYTES] += row->bytes;
        } else {
            out[RANK_INTER_OUT] += messages;
            out[RANK_INTER_BYTES] += row->bytes;
            ranks[to][RANK_INTER_IN] += messages;
        }
        add_partner(partners[from], &turns[from].sends, to, messages);
        add_partner(partners[to], &turns[to].receives, from, messages);
    }
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
    const struct transfer *const end = window->transfers + window->transfer_count;
    for (const struct transfer *t = window->transfers; t < end; t++) {
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

static int open_slice(struct attribution *a, struct attribution_slice *slice, uint32_t ranks)
{
    int error = array_fit_zero(&slice->ranks, sizeof(*slice->ranks), &slice->rank_room, ranks);
    if (error == 0)
        error =
            array_fit_zero(&slice->pairs, sizeof(*slice->pairs), &slice->pair_room, a->pairs.count);
    if (error == 0)
        error = array_fit_zero(&a->partners, sizeof(*a->partners), &a->partner_room, ranks);
    if (error == 0)
        error = array_fit_zero(&a->turns, sizeof(*a->turns), &a->turn_room, ranks);
    if (error)
        return error;
    if (slice->pair_room > 0)
        memset(slice->pairs, 0, slice->pair_room * sizeof(*slice->pairs));
    if (ranks > 0)
        memset(a->turns, 0, ranks * sizeof(*a->turns));
    slice->rank_count = ranks;
    slice->pair_count = 0;
    return 0;
}

int attribution_window(struct attribution *a, const struct attribution_window *window)
{
    uint32_t ranks = highest_rank(a, window);
    int error = 0;
    if (a->slice_count > 0 && window->number <= attribution_slice_at(a, a->slice_count - 1)->number)
        return -ERANGE;
    if (a->slice_count == a->params.windows)
        error = retire(a);
    if (error)
        return error;
    struct attribution_slice *slice =
        &a->slices[(a->slice_first + a->slice_count) % a->params.windows];
    error = open_slice(a, slice, ranks);
    if (error)
        return error;
    slice->number = window->number;
    add_ranks(slice, window);
    add_traffic(a, slice, window->pairs, window->pair_count);
    error = add_transfers(a, slice, window);
    if (error)
        return error;
    a->slice_count++;
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

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
           a->partner_room * sizeof(*a->partners);
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

static void forget(struct attribution *a)
{
    double keep = exp(-1.0 / a->params.forget);
    for (uint32_t r = 0; r < a->base.rank_room; r++)
        for (int f = 0; f < RANK_FIGURES; f++)
            a->base.ranks[r][f] *= keep;
    for (uint32_t p = 0; p < a->base.pair_room; p++)
        for (int f = 0; f < PAIR_FIGURES; f++)
            a->base.pairs[p][f] *= keep;
}

/* The oldest window leaves the ring, into the baseline unless the job was disturbed in it. */
static int retire(struct attribution *a)
{
    const struct attribution_slice *oldest = attribution_slice_at(a, 0);
    if (!a->disturbed || oldest->number < a->disturbed_since) {
        int error = attribution_sum_room(&a->base, oldest->rank_count, oldest->pair_count);
        if (error)
            return error;
        forget(a);
        error = attribution_sum_add(&a->base, oldest);
        if (error)
            return error;
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

/* Among the partners that are kept the heaviest stay: a new one takes the place and the count of the
 * lightest (Metwally et al. 2005, space saving). */
static void add_partner(struct attribution_partner *partners, uint32_t rank, uint64_t messages)
{
    uint32_t lightest = 0;
    for (uint32_t i = 0; i < ATTRIBUTION_PARTNERS; i++) {
        if (partners[i].messages > 0 && partners[i].rank == rank) {
            partners[i].messages += messages;
            return;
        }
        if (partners[i].messages < partners[lightest].messages)
            lightest = i;
    }
    partners[lightest].rank = rank;
    partners[lightest].messages += messages;
}

static void add_traffic(struct attribution *a, struct attribution_slice *slice,
                        const struct pair_row *row)
{
    uint32_t to = (uint32_t)row->destination;
    if (row->destination < 0 || row->source >= slice->rank_count || to >= slice->rank_count ||
        to == row->source)
        return;
    uint64_t messages = row->messages, bytes = row->bytes;
    uint32_t from_node = attribution_node_of(a, row->source), to_node = attribution_node_of(a, to);
    if (from_node == to_node && from_node != ATTRIBUTION_NO_NODE) {
        slice->ranks[row->source][RANK_INTRA_OUT] += messages;
        slice->ranks[row->source][RANK_INTRA_BYTES] += bytes;
    } else {
        slice->ranks[row->source][RANK_INTER_OUT] += messages;
        slice->ranks[row->source][RANK_INTER_BYTES] += bytes;
        slice->ranks[to][RANK_INTER_IN] += messages;
    }
    add_partner(a->partners[row->source], to, messages);
    add_partner(a->partners[to], row->source, messages);
}

static int add_pair(struct attribution *a, struct attribution_slice *slice,
                    const struct transfer *t, uint64_t expected)
{
    struct key key = {.hi = attribution_node_of(a, t->source),
                      .lo = attribution_node_of(a, t->destination)};
    if (key.hi == ATTRIBUTION_NO_NODE || key.lo == ATTRIBUTION_NO_NODE || key.hi == key.lo)
        return 0;
    uint32_t at = key_table_find(&a->pairs, key);
    if (at == KEY_NONE && a->pairs.count >= a->params.node_pairs)
        return 0;
    if (at == KEY_NONE) {
        int error = key_table_reserve(&a->pairs, 1);
        if (error)
            return error;
        at = key_table_add_hashed(&a->pairs, key);
    }
    int error =
        array_fit_zero(&slice->pairs, sizeof(*slice->pairs), &slice->pair_room, (uint64_t)at + 1);
    if (error)
        return error;
    if (at >= slice->pair_count)
        slice->pair_count = at + 1;
    slice->pairs[at][PAIR_MATCHED] += t->messages;
    slice->pairs[at][PAIR_NETWORK] += t->network_ns;
    slice->pairs[at][PAIR_EXPECTED] += expected;
    slice->pairs[at][PAIR_JOINT] += t->joint_ns;
    return 0;
}

static int add_transfer(struct attribution *a, struct attribution_slice *slice,
                        const struct attribution_window *window, const struct transfer *t)
{
    if (t->source >= slice->rank_count || t->destination >= slice->rank_count ||
        t->locality >= LOCALITIES || t->size_class >= SIZE_CLASSES)
        return 0;
    uint64_t *from = slice->ranks[t->source], *to = slice->ranks[t->destination];
    double reference =
        window->scale == NULL ? NAN : window->scale->reference[t->locality][t->size_class];
    double product = reference * (double)t->messages;
    uint64_t expected = product >= 1 && product < 1e18 ? (uint64_t)product : 0;
    from[RANK_AWAITED] += t->late_sender_ns;
    to[RANK_WAITED] += t->late_sender_ns;
    to[RANK_CAME_LATE] += t->late_receiver_ns;
    if (expected == 0)
        return 0; /* without a criterion nothing can be said of its network time */
    if (t->locality == LOCALITY_INTRA) {
        to[RANK_NEAR_MATCHED] += t->messages;
        to[RANK_NEAR_NETWORK] += t->network_ns;
        to[RANK_NEAR_EXPECTED] += expected;
        return 0;
    }
    to[RANK_MATCHED] += t->messages;
    to[RANK_NETWORK] += t->network_ns;
    to[RANK_EXPECTED] += expected;
    to[RANK_JOINT] += t->joint_ns;
    from[RANK_NETWORK_OUT] += t->network_ns;
    from[RANK_EXPECTED_OUT] += expected;
    return add_pair(a, slice, t, expected);
}

static int open_slice(struct attribution *a, struct attribution_slice *slice, uint32_t ranks)
{
    int error = array_fit_zero(&slice->ranks, sizeof(*slice->ranks), &slice->rank_room, ranks);
    if (error == 0)
        error =
            array_fit_zero(&slice->pairs, sizeof(*slice->pairs), &slice->pair_room, a->pairs.count);
    if (error == 0)
        error = array_fit_zero(&a->partners, sizeof(*a->partners), &a->partner_room, ranks);
    if (error)
        return error;
    if (slice->rank_room > 0)
        memset(slice->ranks, 0, slice->rank_room * sizeof(*slice->ranks));
    if (slice->pair_room > 0)
        memset(slice->pairs, 0, slice->pair_room * sizeof(*slice->pairs));
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
    slice->number = window->number;
    for (size_t i = 0; i < window->rank_count && error == 0; i++)
        if (window->ranks[i].rank < ranks)
            add_rank(slice, &window->ranks[i], window->length_ns);
    for (size_t i = 0; i < window->pair_count && error == 0; i++)
        add_traffic(a, slice, &window->pairs[i]);
    for (size_t i = 0; i < window->transfer_count && error == 0; i++)
        error = add_transfer(a, slice, window, &window->transfers[i]);
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

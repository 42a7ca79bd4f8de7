#include "daemon/analysis/attribution.h"

#include "daemon/analysis/array.h"
#include "daemon/analysis/attribution_state.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
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

/* As many as windows that are kept. */
static uint32_t traffic_sums_count(const struct attribution *a)
{
    return a->params.windows + ATTRIBUTION_WAITING + 1;
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
    a->keep = exp(-1.0 / p->forget);
    a->slices = calloc(p->windows, sizeof(*a->slices));
    a->traffic_sums = calloc(traffic_sums_count(a), sizeof(*a->traffic_sums));
    if (a->slices == NULL || a->traffic_sums == NULL) {
        free(a->slices);
        free(a->traffic_sums);
        free(a);
        return -ENOMEM;
    }
    key_table_init(&a->pairs);
    *out = a;
    return 0;
}

void attribution_destroy(struct attribution *a)
{
    if (a == NULL)
        return;
    for (uint32_t i = 0; i < a->params.windows; i++) {
        attribution_table_finish(&a->slices[i].ranks.own);
        free(a->slices[i].pairs);
    }
    for (uint32_t i = 0; i < ATTRIBUTION_WAITING; i++)
        attribution_table_finish(&a->waiting[i].own);
    for (uint32_t i = 0; i < traffic_sums_count(a); i++)
        attribution_table_finish(&a->traffic_sums[i].table);
    attribution_table_finish(&a->next.own);
    free(a->slices);
    free(a->traffic_sums);
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
    bytes += traffic_sums_count(a) * sizeof(*a->traffic_sums);
    for (uint32_t i = 0; i < a->params.windows; i++)
        bytes += attribution_table_bytes(&a->slices[i].ranks.own, RANK_OWN) +
                 a->slices[i].pair_room * sizeof(*a->slices[i].pairs);
    for (uint32_t i = 0; i < ATTRIBUTION_WAITING; i++)
        bytes += attribution_table_bytes(&a->waiting[i].own, RANK_OWN);
    for (uint32_t i = 0; i < traffic_sums_count(a); i++)
        bytes += attribution_table_bytes(&a->traffic_sums[i].table, RANK_TRAFFIC);
    bytes += attribution_table_bytes(&a->next.own, RANK_OWN);
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

#define INLINE static inline __attribute__((always_inline))

/* ---- taking in a window -------------------------------------------------- */

static void add_figure(struct attribution_table *own, uint32_t rank, enum rank_figure f,
                       uint64_t value)
{
    attribution_table_add(own, RANK_OWN, (size_t)rank * RANK_OWN + f, value);
}

static void add_rank(struct attribution_table *own, const struct rank_row *row, uint64_t length)
{
    uint32_t rank = row->rank;
    uint64_t messaging = row->send_ns + row->recv_ns + row->wait_ns + row->poll_ns;
    uint64_t mpi = messaging + row->collective_ns + row->one_sided_ns + row->io_ns + row->other_ns;
    if (attribution_table_at(own, RANK_OWN, rank, RANK_LENGTH) == 0)
        add_figure(own, rank, RANK_LENGTH, length);
    add_figure(own, rank, RANK_MPI, mpi < length ? mpi : length);
    add_figure(own, rank, RANK_MESSAGING, messaging < length ? messaging : length);
    add_figure(own, rank, RANK_COLLECTIVE,
               row->collective_ns < length ? row->collective_ns : length);
    add_figure(own, rank, RANK_CALLS, row->calls > row->polls ? row->calls - row->polls : 0);
    add_figure(own, rank, RANK_MESSAGES, row->sent + row->received);
}

/* Ranks that have no row have no figures. */
void attribution_ranks(struct attribution *a, uint64_t length_ns, const struct rank_row *rows,
                       size_t count)
{
    struct attribution_ranks *ranks = &a->next;
    for (size_t i = 0; i < count && !ranks->own.failed; i++) {
        const struct rank_row *row = &rows[i];
        if (row->rank >= a->params.ranks)
            continue;
        if (row->rank >= ranks->own.room &&
            attribution_table_fit(&ranks->own, RANK_OWN, row->rank + 1) != 0) {
            ranks->own.failed = 1;
            continue;
        }
        for (; ranks->count <= row->rank; ranks->count++)
            attribution_table_clear(&ranks->own, RANK_OWN, ranks->count);
        add_rank(&ranks->own, row, length_ns);
    }
}

static void begin_next(struct attribution *a)
{
    a->next.count = 0;
    attribution_table_begin(&a->next.own);
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

/* @param from, to  nodes of the ranks */
INLINE int add_pair(struct attribution *a, struct attribution_slice *slice, uint32_t from,
                    uint32_t to, const uint64_t *figures)
{
    if (from == to || from == ATTRIBUTION_NO_NODE || to == ATTRIBUTION_NO_NODE)
        return 0;
    const struct key key = {.hi = from, .lo = to};
    uint32_t *recent = &a->recent[(from * 33 + to) % ATTRIBUTION_RECENT_PAIRS];
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
static uint64_t expected_of(const struct latency_scale *scale, unsigned locality,
                            unsigned size_class, uint64_t messages)
{
    if (scale == NULL)
        return 0;
    double product = scale->reference[locality][size_class] * (double)(int64_t)messages;
    return product >= 1 && product < 1e18 ? (uint64_t)(int64_t)product : 0;
}

static void add_matched(struct attribution_table *own, uint32_t rank, uint32_t first,
                        const uint64_t *figures)
{
    for (uint32_t f = 0; f < PAIR_FIGURES; f++)
        add_figure(own, rank, first + f, figures[f]);
}

/* What stays as it is while rows are added. */
struct rows_to {
    struct attribution *a;
    struct attribution_slice *slice;
    const struct latency_scale *scale; /* NULL: none */
    const uint32_t *node_of;
    uint32_t placed, rank_count;
};

INLINE uint32_t node_of(const struct rows_to *to, uint32_t rank)
{
    return rank < to->placed ? to->node_of[rank] : ATTRIBUTION_NO_NODE;
}

/* Any row. */
static __attribute__((noinline)) int add_any(const struct rows_to *to, const struct transfer row)
{
    struct attribution_table *own = &to->slice->ranks.own;
    if (row.source >= to->rank_count || row.destination >= to->rank_count ||
        row.locality >= LOCALITIES || row.size_class >= SIZE_CLASSES)
        return 0;
    const uint64_t expected = expected_of(to->scale, row.locality, row.size_class, row.messages);
    const uint64_t figures[PAIR_FIGURES] = {row.messages, row.network_ns, expected, row.joint_ns};
    add_figure(own, row.source, RANK_AWAITED, row.late_sender_ns);
    add_figure(own, row.destination, RANK_WAITED, row.late_sender_ns);
    add_figure(own, row.destination, RANK_CAME_LATE, row.late_receiver_ns);
    if (expected == 0)
        return 0;
    bool near = row.locality == LOCALITY_INTRA;
    add_matched(own, row.destination, near ? RANK_NEAR_MATCHED : RANK_MATCHED, figures);
    if (near)
        return 0;
    add_figure(own, row.source, RANK_NETWORK_OUT, row.network_ns);
    add_figure(own, row.source, RANK_EXPECTED_OUT, expected);
    return add_pair(to->a, to->slice, node_of(to, row.source), node_of(to, row.destination),
                    figures);
}

/* ---- rows of which no figure has more than 31 bits --------------------------- */

/* Four figures that lie together, anywhere; and two. */
typedef uint32_t four __attribute__((vector_size(16), aligned(4), may_alias));
typedef uint32_t four_whole __attribute__((vector_size(16)));
typedef uint64_t two __attribute__((aligned(4), may_alias));
typedef uint64_t halves __attribute__((vector_size(16)));

#define NEGATIVE UINT64_C(0x8000000080000000) /* one of two is */

/* The figures of a message that are added at once are neighbours, and one behind those of the sender is
 * of the same rank. */
_Static_assert(offsetof(struct transfer_times, late_receiver_ns) ==
                       offsetof(struct transfer_times, late_sender_ns) + 4 &&
                   offsetof(struct transfer_times, network_ns) ==
                       offsetof(struct transfer_times, late_sender_ns) + 8 &&
                   offsetof(struct transfer_times, joint_ns) ==
                       offsetof(struct transfer_times, late_sender_ns) + 12,
               "times are read at once");
_Static_assert(RANK_CAME_LATE == RANK_WAITED + 1 && RANK_NETWORK_OUT == RANK_AWAITED + 1 &&
                   RANK_EXPECTED_OUT == RANK_AWAITED + 2 && RANK_AWAITED + 3 < RANK_OWN &&
                   PAIR_MATCHED == 0 && PAIR_NETWORK == 1 && PAIR_EXPECTED == 2 && PAIR_JOINT == 3,
               "figures are added at once");

#define KNOWN 64u /* kinds of rows that are at hand: messages of a job have few sizes */
#define KIND_BITS (TRANSFER_CLASS_BITS + 1 + TRANSFER_COUNT_BITS)
#define NO_KIND UINT32_MAX

/* What all rows of one class and of one number of messages share. */
struct kind {
    uint32_t of; /* both as in a head; NO_KIND: it is none */
    uint32_t messages, expected;
    uint32_t received_at; /* rank_figure: first of those of the receiver */
    bool paired;          /* between nodes, and there is a criterion */
    /* What is added to figures of the receiver, and of the sender: what all have, and which of their times. */
    four_whole received, received_times, sent, sent_times;
};

/* @return NULL: rows are not of a kind, but added one by one */
static __attribute__((noinline)) const struct kind *
make_kind(const struct rows_to *to, struct kind *kind, const struct transfer_head *head)
{
    const unsigned class_ = transfer_class(head), size_class = class_ / LOCALITIES;
    const bool near = class_ % LOCALITIES == LOCALITY_INTRA;
    if (transfer_is_wide(head) || size_class >= SIZE_CLASSES)
        return NULL;
    const uint32_t messages = transfer_messages(head);
    const uint64_t expected = expected_of(to->scale, class_ % LOCALITIES, size_class, messages);
    if (expected >> ATTRIBUTION_LOW_BITS != 0)
        return NULL;
    const uint32_t all = UINT32_MAX, known = expected > 0 ? all : 0, far = near ? 0 : known;
    const uint32_t more = (uint32_t)expected;
    *kind = (struct kind){.of = head->packed % (1u << KIND_BITS),
                          .messages = messages,
                          .expected = more,
                          .received_at = near ? RANK_NEAR_MATCHED : RANK_MATCHED,
                          .paired = far != 0,
                          .received = {messages & known, 0, more, 0},
                          .received_times = {0, known, 0, known},
                          .sent = {0, 0, more & far, 0},
                          .sent_times = {all, far, 0, 0}};
    return kind;
}

INLINE const struct kind *kind_of(const struct rows_to *to, struct kind *known,
                                  const struct transfer_head *head)
{
    const uint32_t of = head->packed % (1u << KIND_BITS);
    struct kind *kind = &known[(of ^ of >> (TRANSFER_CLASS_BITS + 1)) % KNOWN];
    return kind->of == of ? kind : make_kind(to, kind, head);
}

/* Of two ranks some sums have become negative. */
static __attribute__((noinline)) void carry(struct attribution_table *own, uint32_t from,
                                            uint32_t to)
{
    const size_t ends[2] = {(size_t)from * RANK_OWN, (size_t)to * RANK_OWN};
    for (uint32_t i = 0; i < 2 * RANK_OWN; i++) {
        size_t at = ends[i / RANK_OWN] + i % RANK_OWN;
        if (own->low[at] < 0)
            attribution_table_carry(own, RANK_OWN, at);
    }
}

/* What a row adds to the ranks at both ends: sums below 2^31 and times below it, so that none runs into its
 * neighbour. @return some sum is negative now */
INLINE bool add_to_ends(int32_t *from, int32_t *to, const struct kind *kind,
                        const struct transfer_times *row)
{
    const four times = *(const four *)&row->late_sender_ns;
    four *sent = (four *)&from[RANK_AWAITED], *received = (four *)&to[kind->received_at];
    two *late = (two *)&to[RANK_WAITED];
    const four sums =
        *sent +
        ((__builtin_shufflevector(times, times, 0, 2, 2, 2) & kind->sent_times) | kind->sent);
    *sent = sums;
    const four more =
        *received + ((__builtin_shufflevector(times, times, 2, 2, 3, 3) & kind->received_times) |
                     kind->received);
    *received = more;
    const uint64_t waits = *late + *(const two *)&row->late_sender_ns;
    *late = waits;
    const halves all = (halves)(sums | more);
    return ((all[0] | all[1] | waits) & NEGATIVE) != 0;
}

/* As add_any(), without asking of what a row of a kind cannot be. */
INLINE int add_row(const struct rows_to *to, const struct kind *kind,
                   const struct transfer_head *head, const struct transfer_times *times)
{
    const uint32_t source = head->source, destination = head->destination;
    struct attribution_table *own = &to->slice->ranks.own;
    if (source >= to->rank_count || destination >= to->rank_count)
        return 0;
    if (((*(const two *)&times->late_sender_ns | *(const two *)&times->network_ns) & NEGATIVE) != 0)
        return add_any(to, transfer_of(head, times));
    if (add_to_ends(&own->low[(size_t)source * RANK_OWN], &own->low[(size_t)destination * RANK_OWN],
                    kind, times))
        carry(own, source, destination);
    if (!kind->paired)
        return 0;
    const uint64_t figures[PAIR_FIGURES] = {kind->messages, times->network_ns, kind->expected,
                                            times->joint_ns};
    return add_pair(to->a, to->slice, node_of(to, source), node_of(to, destination), figures);
}

static int add_rows(const struct rows_to to, const struct transfers *rows)
{
    struct kind known[KNOWN];
    for (unsigned i = 0; i < KNOWN; i++)
        known[i].of = NO_KIND;
    int error = 0;
    for (size_t i = 0; i < rows->count && error == 0; i++) {
        const struct transfer_head *head = &rows->heads[i];
        const struct kind *kind = kind_of(&to, known, head);
        error = kind == NULL ? add_any(&to, transfer_at(rows, i))
                             : add_row(&to, kind, head, &rows->times[i]);
    }
    return error;
}

static int add_transfers(struct attribution *a, struct attribution_slice *slice,
                         const struct attribution_window *window)
{
    const struct rows_to to = {.a = a,
                               .slice = slice,
                               .scale = window->scale,
                               .node_of = a->node_of,
                               .placed = a->placed,
                               .rank_count = slice->ranks.count};
    const struct transfers *rows = window->transfers;
    int error = rows == NULL ? 0 : add_rows(to, rows);
    if (error)
        return error;
    return slice->ranks.own.failed ? -ENOMEM : 0;
}

/* ---- a window as a whole ------------------------------------------------------ */

static void begin_pairs(struct attribution_slice *slice)
{
    if (slice->pair_room > 0)
        memset(slice->pairs, 0, slice->pair_room * sizeof(*slice->pairs));
    slice->pair_count = 0;
}

/* The ranks that were taken in become those of the slice. */
static void put_ranks(struct attribution *a, struct attribution_slice *slice)
{
    struct attribution_ranks old = slice->ranks;
    attribution_ranks_release(&old);
    slice->ranks = a->next;
    a->next = old;
}

static int take_window(struct attribution *a, const struct attribution_window *window)
{
    attribution_ranks(a, window->length_ns, window->ranks, window->rank_count);
    int error = a->next.own.failed ? -ENOMEM : attribution_traffic_room(a, a->next.count);
    error = error ? error : attribution_retire(a);
    if (error)
        return error;
    struct attribution_slice *slice =
        &a->slices[(a->slice_first + a->slice_count) % a->params.windows];
    error = array_fit_zero(&slice->pairs, sizeof(*slice->pairs), &slice->pair_room, a->pairs.count);
    if (error)
        return error;
    slice->number = window->number;
    put_ranks(a, slice);
    begin_pairs(slice);
    error = add_transfers(a, slice, window);
    error = error ? error : attribution_traffic_add(a, slice, window);
    a->traffic.figured = error ? 0 : window->figured;
    if (error)
        return error;
    a->slice_count++;
    if (slice->ranks.count > a->rank_count)
        a->rank_count = slice->ranks.count;
    return 0;
}

int attribution_window(struct attribution *a, const struct attribution_window *window)
{
    int late =
        a->slice_count > 0 && window->number <= attribution_slice_at(a, a->slice_count - 1)->number;
    int error = late ? -ERANGE : take_window(a, window);
    begin_next(a);
    return error;
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

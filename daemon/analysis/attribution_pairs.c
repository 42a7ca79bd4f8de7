/* Matched messages between nodes: what they come to by pairs of nodes. */
#include "daemon/analysis/array.h"
#include "daemon/analysis/attribution_state.h"

#include <errno.h>

#define KNOWN 64u /* classes that are at hand: messages of a job have few sizes */

/* Two figures that are added at once. */
typedef uint64_t two __attribute__((vector_size(16)));
typedef uint64_t two_sums __attribute__((vector_size(16), aligned(8), may_alias));

_Static_assert(PAIR_MATCHED == 0 && PAIR_EXPECTED == 1 && PAIR_NETWORK == 2 && PAIR_JOINT == 3,
               "figures are added two at a time");

/* What one message of a class adds beside its times. */
struct known {
    uint32_t of;     /* number of the class, plus 1; 0: of none */
    uint32_t counts; /* there is a criterion */
    two figures;
};

/* What stays as it is while rows are added. */
struct rows_to {
    struct attribution *a;
    struct attribution_slice *slice;
    const struct latency_scale *scale; /* NULL: none */
    const uint32_t *node_of;
    uint32_t rank_count; /* that have reported, and a node */
};

/* What messages take by the reference criterion; 0: without one nothing can be said of their network
 * time. */
static uint64_t expected_of(const struct latency_scale *scale, unsigned class_, uint64_t messages)
{
    if (scale == NULL)
        return 0;
    const double reference = scale->reference[class_ % LOCALITIES][class_ / LOCALITIES],
                 product = reference * (double)(int64_t)messages;
    return product >= 1 && product < 1e18 ? (uint64_t)(int64_t)product : 0;
}

/* Number of a pair of nodes. @return KEY_NONE: there are too many, or no memory: *error says */
static uint32_t look_up_pair(struct attribution *a, struct attribution_slice *slice, uint32_t from,
                             uint32_t to, int *error)
{
    const struct key key = {.hi = from, .lo = to};
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

static inline struct attribution_recent *recent_of(struct attribution *a, uint32_t from,
                                                   uint32_t to)
{
    return &a->recent[(from * 33 + to) % ATTRIBUTION_RECENT_PAIRS];
}

static inline void add_figures(struct attribution_slice *slice, uint32_t number, two first,
                               two last)
{
    two_sums *sums = (two_sums *)slice->pairs[number];
    slice->pair_count = number >= slice->pair_count ? number + 1 : slice->pair_count;
    sums[0] += first;
    sums[1] += last;
}

/* To a pair that was not asked for lately, or is none. */
static __attribute__((noinline)) int add_elsewhere(struct attribution *a,
                                                   struct attribution_slice *slice, uint32_t from,
                                                   uint32_t to, const uint64_t *figures)
{
    int error = 0;
    if (from == to || from == ATTRIBUTION_NO_NODE || to == ATTRIBUTION_NO_NODE)
        return 0;
    const uint32_t number = look_up_pair(a, slice, from, to, &error);
    if (number == KEY_NONE)
        return error;
    *recent_of(a, from, to) = (struct attribution_recent){from, to, number};
    add_figures(slice, number, (two){figures[0], figures[1]}, (two){figures[2], figures[3]});
    return 0;
}

/* Any row. */
static __attribute__((noinline)) int add_any(const struct rows_to *to, unsigned class_,
                                             const struct transfer row)
{
    if (row.source >= to->rank_count || row.destination >= to->rank_count)
        return 0;
    const uint64_t expected = expected_of(to->scale, class_, row.messages);
    const uint64_t figures[PAIR_FIGURES] = {row.messages, expected, row.network_ns, row.joint_ns};
    if (expected == 0)
        return 0;
    return add_elsewhere(to->a, to->slice, to->node_of[row.source], to->node_of[row.destination],
                         figures);
}

static inline const struct known *known_of(const struct rows_to *to, struct known *known,
                                           unsigned class_)
{
    struct known *one = &known[class_ % KNOWN];
    if (one->of != class_ + 1) {
        const uint64_t expected = expected_of(to->scale, class_, 1);
        *one = (struct known){class_ + 1, expected > 0, {1, expected}};
    }
    return one;
}

/* The same of one message. */
static inline int add_single(const struct rows_to *to, const struct known *known,
                             const struct transfer_head *head, const struct transfer_times *times)
{
    if (head->source >= to->rank_count || head->destination >= to->rank_count || !known->counts)
        return 0;
    const uint32_t from = to->node_of[head->source], into = to->node_of[head->destination];
    const struct attribution_recent *recent = recent_of(to->a, from, into);
    const two last = {times->network_ns, times->joint_ns};
    if (recent->from == from && recent->to == into && from != into) {
        add_figures(to->slice, recent->number, known->figures, last);
        return 0;
    }
    const uint64_t figures[PAIR_FIGURES] = {1, known->figures[1], last[0], last[1]};
    return add_elsewhere(to->a, to->slice, from, into, figures);
}

static int add_rows(const struct rows_to to, const struct transfers *rows)
{
    struct known known[KNOWN] = {{0}};
    const struct transfer_head *head = rows->heads, *const end = head + rows->count;
    const struct transfer_times *times = rows->times;
    int error = 0;
    for (; head < end && error == 0; head++, times++) {
        const unsigned class_ = transfer_class(head);
        if (class_ % LOCALITIES == LOCALITY_INTRA)
            continue;
        error = transfer_is_single(head)
                    ? add_single(&to, known_of(&to, known, class_), head, times)
                    : add_any(&to, class_, transfer_at(rows, (size_t)(head - rows->heads)));
    }
    return error;
}

int attribution_pairs_add(struct attribution *a, struct attribution_slice *slice,
                          const struct attribution_window *window)
{
    const uint32_t ranks = slice->ranks.count;
    const struct rows_to to = {.a = a,
                               .slice = slice,
                               .scale = window->scale,
                               .node_of = a->node_of,
                               .rank_count = ranks < a->placed ? ranks : a->placed};
    const struct transfers *rows = window->transfers;
    return rows == NULL || rows->count == 0 ? 0 : add_rows(to, rows);
}

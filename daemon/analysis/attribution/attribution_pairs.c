/* Matched messages between nodes: what they come to by pairs of nodes. */
#include "daemon/analysis/attribution/attribution_state.h"
#include "daemon/analysis/tables/array.h"

#include <errno.h>

#define KNOWN 64u /* classes that are at hand: messages of a job have few sizes */

/* What one message of a class adds beside its times. */
struct known {
    uint32_t single;   /* packed in heads of one message, unless it is delayed; 0: of no class */
    uint64_t expected; /* what it takes by the reference criterion */
};

/* What stays as it is while rows are added. */
struct rows_to {
    struct attribution *a;
    struct attribution_slice *slice;
    const struct latency_scale *scale; /* NULL: none */
    const uint32_t *node_of;
    uint32_t rank_count; /* that have reported, and a node */
};

/* What messages take by the reference criterion; 0: without one nothing can be said of their
 * network time. */
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
    slice->pair_count = number >= slice->pair_count ? number + 1 : slice->pair_count;
    for (int f = 0; f < PAIR_FIGURES; f++)
        slice->pairs[number][f] += figures[f];
    return 0;
}

/* Any row. One message of a class that has a criterion is known from then on. */
static __attribute__((noinline)) int add_any(const struct rows_to *to, struct known *known,
                                             const struct transfers *rows, size_t at)
{
    const struct transfer row = transfer_at(rows, at);
    const unsigned class_ = transfer_class(&rows->heads[at]);
    if (row.source >= to->rank_count || row.destination >= to->rank_count)
        return 0;
    const uint64_t expected = expected_of(to->scale, class_, row.messages);
    const uint64_t figures[PAIR_FIGURES] = {row.messages, expected, row.network_ns, row.joint_ns};
    if (expected == 0)
        return 0;
    if (transfer_is_single(&rows->heads[at]))
        known[class_ % KNOWN] =
            (struct known){transfer_packed(row.locality, row.size_class, 1, 0), expected};
    return add_elsewhere(to->a, to->slice, to->node_of[row.source], to->node_of[row.destination],
                         figures);
}

/* Number of the pair of a row's nodes, if it is one of those that were asked for lately. @return
 * KEY_NONE: it is not */
static inline uint32_t recent_pair(const struct rows_to *to, const struct transfer_head *head)
{
    if (head->source >= to->rank_count || head->destination >= to->rank_count)
        return KEY_NONE;
    const uint32_t from = to->node_of[head->source], into = to->node_of[head->destination];
    const struct attribution_recent *recent = recent_of(to->a, from, into);
    return recent->from == from && recent->to == into && from != into ? recent->number : KEY_NONE;
}

static int add_rows(const struct rows_to to, const struct transfers *rows)
{
    const uint32_t delayed = TRANSFER_MOST << (TRANSFER_CLASS_BITS + 1 + TRANSFER_COUNT_BITS);
    struct known known[KNOWN] = {{0}};
    const struct transfer_head *const end = rows->heads + rows->count;
    const struct transfer_head *head = rows->heads + rows->near_count;
    const struct transfer_times *times = rows->times + rows->near_count;
    uint64_t(*pairs)[PAIR_FIGURES] = to.slice->pairs;
    uint32_t count = to.slice->pair_count, number;
    int error = 0;
    for (; head < end; head++, times++) {
        const struct known *one = &known[head->packed % KNOWN];
        if (head->packed % LOCALITIES == LOCALITY_INTRA)
            continue;
        if ((head->packed & ~delayed) == one->single &&
            (number = recent_pair(&to, head)) != KEY_NONE) {
            count = number >= count ? number + 1 : count;
            pairs[number][PAIR_MATCHED]++;
            pairs[number][PAIR_EXPECTED] += one->expected;
            pairs[number][PAIR_NETWORK] += times->network_ns;
            pairs[number][PAIR_JOINT] += times->joint_ns;
            continue;
        }
        error = add_any(&to, known, rows, (size_t)(head - rows->heads));
        if (error != 0)
            break;
        pairs = to.slice->pairs;
    }
    if (count > to.slice->pair_count)
        to.slice->pair_count = count;
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

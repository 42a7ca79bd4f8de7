/* Matched messages between nodes, summed up by pairs of nodes. */
#include "daemon/analysis/attribution/attribution_state.h"
#include "daemon/analysis/tables/array.h"

#include <errno.h>

#define MAXIMUM_NODE_PAIRS (UINT32_C(1) << 22) /* further ones are left out */

/* Time that messages take by the reference criterion, ns; 0: there is no criterion, and their
 * network time cannot be judged. */
static uint64_t pairs_expected_ns(const struct latency_scale *scale, const struct transfer *row)
{
    const double product =
        scale->reference[row->locality][row->size_class] * (double)(int64_t)row->messages;
    return product >= 1 && product < 1e18 ? (uint64_t)(int64_t)product : 0;
}

/* Number of a pair of nodes, with space for it in the slice.
 * @param number  set; KEY_NONE: there are too many pairs
 * @return 0 or -ENOMEM */
static int pairs_find_number(struct attribution *a, struct attribution_slice *slice, uint32_t from,
                             uint32_t to, uint32_t *number)
{
    const struct key key = {.hi = from, .lo = to};
    *number = key_table_find(&a->pairs, key);
    if (*number == KEY_NONE && a->pairs.count >= MAXIMUM_NODE_PAIRS)
        return 0;
    if (*number == KEY_NONE && (*number = key_table_add(&a->pairs, key)) == KEY_NONE)
        return -ENOMEM;
    return ARRAY_FIT_AT(slice->pairs, slice->pair_capacity, *number);
}

static int pairs_add_row(struct attribution *a, struct attribution_slice *slice,
                         const struct transfer *row, uint64_t expected_ns)
{
    const uint32_t from = attribution_node_of(a, row->source),
                   to = attribution_node_of(a, row->destination);
    uint32_t number;
    if (from == to || from == ATTRIBUTION_NO_NODE || to == ATTRIBUTION_NO_NODE)
        return 0;
    int error = pairs_find_number(a, slice, from, to, &number);
    if (error || number == KEY_NONE)
        return error;
    uint64_t *figures = slice->pairs[number];
    figures[PAIR_MATCHED] += row->messages;
    figures[PAIR_EXPECTED] += expected_ns;
    figures[PAIR_NETWORK] += row->network_ns;
    figures[PAIR_JOINT] += row->joint_ns;
    slice->pair_count = number >= slice->pair_count ? number + 1 : slice->pair_count;
    return 0;
}

int attribution_add_node_pairs(struct attribution *a, struct attribution_slice *slice,
                               const struct attribution_window *window)
{
    const struct transfers *rows = window->transfers;
    int error = 0;
    for (size_t i = 0; rows != NULL && window->scale != NULL && error == 0 && i < rows->count;
         i++) {
        const struct transfer row = rows->rows[i];
        if (row.locality == LOCALITY_INTRA || row.source >= slice->rank_count ||
            row.destination >= slice->rank_count)
            continue;
        const uint64_t expected_ns = pairs_expected_ns(window->scale, &row);
        if (expected_ns > 0)
            error = pairs_add_row(a, slice, &row, expected_ns);
    }
    return error;
}

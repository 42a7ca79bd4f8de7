/* All messages of a window: how many cross nodes, and with whom a rank exchanges most. */
#include "daemon/analysis/attribution/attribution_state.h"

/* The place of a partner. The heaviest partners stay: a new one takes the place, and the count, of
 * the lightest (Metwally, Agrawal and El Abbadi, "Efficient computation of frequent and top-k
 * elements in data streams", 2005: space saving). */
static struct attribution_partner *partners_find(struct attribution_partner *partners,
                                                 uint32_t rank)
{
    struct attribution_partner *lightest = &partners[0];
    for (uint32_t i = 0; i < ATTRIBUTION_PARTNERS; i++) {
        if (partners[i].rank == rank && partners[i].messages > 0)
            return &partners[i];
        if (partners[i].messages < lightest->messages)
            lightest = &partners[i];
    }
    lightest->rank = rank;
    return lightest;
}

static void partners_add_row(const struct attribution *a, struct attribution_slice *slice,
                             const struct wire_pair_row *row)
{
    const uint32_t from = (uint32_t)row->source, to = (uint32_t)row->destination;
    const uint32_t node = attribution_node_of(a, from);
    const bool near = node != ATTRIBUTION_NO_NODE && node == attribution_node_of(a, to);
    slice->ranks[from][near ? RANK_INTRA_OUT : RANK_INTER_OUT] += row->messages;
    slice->ranks[from][near ? RANK_INTRA_BYTES : RANK_INTER_BYTES] += row->bytes;
    if (!near)
        slice->ranks[to][RANK_INTER_IN] += row->messages;
    partners_find(a->partners[from], to)->messages += row->messages;
    partners_find(a->partners[to], from)->messages += row->messages;
}

void attribution_add_traffic(struct attribution *a, struct attribution_slice *slice,
                             const struct attribution_window *window)
{
    for (size_t i = 0; i < window->pair_count; i++) {
        const struct wire_pair_row *row = &window->pairs[i];
        const uint32_t to = (uint32_t)row->destination; /* -1, all others, is no rank either */
        if (row->source < slice->rank_count && to < slice->rank_count && to != row->source)
            partners_add_row(a, slice, row);
    }
}

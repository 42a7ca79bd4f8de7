/* Encoding of window messages: rows are cut to the budget, and the message to the longest of the
 * wire. */
#include "daemon/encoding/window_message.h"

#include "holter/error.h"
#include "holter/order.h"

#include <stdlib.h>

#define OTHERS (-1)

/* A total order, so that what is kept does not depend on the order of the rows. */
ORDER_FUNCTION(window_message_compare_by_size, struct wire_pair_row,
               128 * ORDER(b->destination != OTHERS, a->destination != OTHERS) +
                   64 * ORDER(b->bytes, a->bytes) + 32 * ORDER(b->messages, a->messages) +
                   16 * ORDER(a->source, b->source) + 8 * ORDER(a->destination, b->destination) +
                   4 * ORDER(a->comm, b->comm) + 2 * ORDER(a->region, b->region) +
                   ORDER(a->size_class, b->size_class))

ORDER_FUNCTION(window_message_compare_classes, struct wire_pair_row,
               2 * ORDER(a->source, b->source) + ORDER(a->size_class, b->size_class))

uint64_t window_message_fold(struct wire_pair_row *pairs, uint64_t count, uint64_t keep, int sizes)
{
    if (keep >= count)
        return count;
    qsort(pairs, count, sizeof *pairs, window_message_compare_by_size);
    while (keep > 0 && pairs[keep - 1].destination == OTHERS)
        keep--;
    qsort(pairs + keep, count - keep, sizeof *pairs, window_message_compare_classes);
    uint64_t kept = keep;
    for (uint64_t i = keep; i < count; i++) {
        struct wire_pair_row row = pairs[i];
        row.destination = OTHERS;
        row.comm = row.region = 0;
        struct wire_pair_row *last = kept > keep ? &pairs[kept - 1] : NULL;
        if (last != NULL && last->source == row.source &&
            (sizes || last->size_class == row.size_class)) {
            last->messages += row.messages;
            last->bytes += row.bytes;
            last->size_class = row.size_class; /* ascending: the largest so far */
        } else {
            pairs[kept++] = row;
        }
    }
    return kept;
}

ORDER_FUNCTION(window_message_compare_messages, struct wire_transfer_row,
               16 * ORDER(b->destination != TRANSFER_OTHERS, a->destination != TRANSFER_OTHERS) +
                   8 * ORDER(b->messages, a->messages) + 4 * ORDER(a->source, b->source) +
                   2 * ORDER(a->destination, b->destination) + ORDER(a->size_class, b->size_class))

ORDER_FUNCTION(window_message_compare_sources, struct wire_transfer_row,
               2 * ORDER(a->source, b->source) + ORDER(a->size_class, b->size_class))

static void window_message_add_transfer(struct wire_transfer_row *to,
                                        const struct wire_transfer_row *row)
{
    to->messages += row->messages;
    to->delayed += row->delayed;
    to->transfer_ns += row->transfer_ns;
    to->late_sender_ns += row->late_sender_ns;
    to->late_receiver_ns += row->late_receiver_ns;
    to->send_wait_ns += row->send_wait_ns;
    to->network_ns += row->network_ns;
    to->joint_ns += row->joint_ns;
    to->log2_sum += row->log2_sum;
    to->size_class = row->size_class; /* ascending: the largest so far */
}

/* The same of transfers: keep those of most messages. */
static uint64_t window_message_fold_transfers(struct wire_transfer_row *transfers, uint64_t count,
                                              uint64_t keep, int sizes)
{
    if (keep >= count)
        return count;
    qsort(transfers, count, sizeof *transfers, window_message_compare_messages);
    while (keep > 0 && transfers[keep - 1].destination == TRANSFER_OTHERS)
        keep--;
    qsort(transfers + keep, count - keep, sizeof *transfers, window_message_compare_sources);
    uint64_t kept = keep;
    for (uint64_t i = keep; i < count; i++) {
        struct wire_transfer_row row = transfers[i];
        row.destination = TRANSFER_OTHERS;
        struct wire_transfer_row *last = kept > keep ? &transfers[kept - 1] : NULL;
        if (last != NULL && last->source == row.source &&
            (sizes || last->size_class == row.size_class))
            window_message_add_transfer(last, &row);
        else
            transfers[kept++] = row;
    }
    return kept;
}

static void window_message_set_rows(struct wire_window *window, const struct window_rows *rows,
                                    const struct transfer_rows *transfers)
{
    window->comms = rows->comms;
    window->comms_count = rows->comms_count;
    window->regions = rows->regions;
    window->regions_count = rows->regions_count;
    window->ranks = rows->ranks;
    window->ranks_count = rows->ranks_count;
    window->pairs = rows->pairs;
    window->pairs_count = rows->pairs_count;
    window->calls = rows->calls;
    window->calls_count = rows->calls_count;
    window->transfers = transfers->transfers;
    window->transfers_count = transfers->transfers_count;
    window->latencies = transfers->latencies;
    window->latencies_count = transfers->latencies_count;
    window->halves = transfers->halves;
    window->halves_count = transfers->halves_count;
    window->pending = transfers->pending;
    window->pending_count = transfers->pending_count;
    window->keys_below = transfers->keys_below;
}

/* Length of the window; one that no message could hold is as long as can be. */
static int window_message_length(struct wire_buffer *buffer, const struct wire_window *window,
                                 size_t *out)
{
    int rc = wire_encode(buffer, WIRE_TYPE_WINDOW, window);
    *out = rc == -HOLTER_ELIMIT ? SIZE_MAX : buffer->length;
    return rc == -HOLTER_ELIMIT ? 0 : rc;
}

/* Leave out the halves of the largest keys. Halves of one key stay or go together. */
static int window_message_fit_halves(struct wire_buffer *buffer, struct wire_window *window,
                                     size_t budget)
{
    size_t whole, without;
    uint64_t count = window->halves_count;
    int rc = window_message_length(buffer, window, &whole);
    if (rc != 0 || whole <= budget || count == 0)
        return rc;
    window->halves_count = 0;
    rc = window_message_length(buffer, window, &without);
    if (rc != 0)
        return rc;
    uint64_t keep = 0;
    if (budget > without && whole != SIZE_MAX)
        keep = (uint64_t)((double)count * (double)(budget - without) / (double)(whole - without));
    window->degraded |= DEGRADED_SAMPLES;
    for (;;) {
        keep = keep < count ? keep : count - 1;
        while (keep > 0 && window->halves[keep - 1].key == window->halves[keep].key)
            keep--;
        window->halves_count = keep;
        window->keys_below = window->halves[keep].key;
        rc = window_message_length(buffer, window, &whole);
        if (keep == 0 || rc != 0 || whole <= budget)
            return rc;
        keep = keep < 16 ? 0 : keep * 7 / 8;
    }
}

/* How many rows of each kind are kept apart. */
struct kept {
    uint64_t pairs, transfers;
};

static struct kept window_message_share_of(struct kept of, double share)
{
    struct kept kept = {(uint64_t)((double)of.pairs * share),
                        (uint64_t)((double)of.transfers * share)};
    return kept.pairs + kept.transfers < 16 ? (struct kept){0, 0} : kept;
}

static void window_message_fold_pairs(struct wire_window *window, struct window_rows *rows,
                                      struct transfer_rows *transfers, struct kept keep)
{
    int sizes = keep.pairs + keep.transfers == 0;
    rows->pairs_count = window->pairs_count =
        window_message_fold(rows->pairs, rows->pairs_count, keep.pairs, sizes);
    transfers->transfers_count = window->transfers_count = window_message_fold_transfers(
        transfers->transfers, transfers->transfers_count, keep.transfers, sizes);
    window->degraded |= DEGRADED_PAIRS | (sizes ? DEGRADED_SIZES : 0u);
}

/* Put pairs and transfers together until the window fits its budget, or nothing more can go. */
static int window_message_fit_pairs(struct wire_buffer *buffer, struct wire_window *window,
                                    struct window_rows *rows, struct transfer_rows *transfers,
                                    size_t budget)
{
    size_t whole, without;
    int rc = window_message_length(buffer, window, &whole);
    if (rc != 0 || whole <= budget || rows->pairs_count + transfers->transfers_count == 0)
        return rc;
    struct kept keep = {window->pairs_count, window->transfers_count};
    window->pairs_count = window->transfers_count = 0;
    rc = window_message_length(buffer, window, &without);
    if (rc != 0)
        return rc;
    double share = budget > without && whole != SIZE_MAX
                       ? (double)(budget - without) / (double)(whole - without)
                       : 0;
    for (keep = window_message_share_of(keep, share);; keep = window_message_share_of(keep, 0.75)) {
        window_message_fold_pairs(window, rows, transfers, keep);
        rc = window_message_length(buffer, window, &whole);
        if (keep.pairs + keep.transfers == 0 || rc != 0 || whole <= budget)
            return rc;
    }
}

/* ---- bursts -------------------------------------------------------------- */

static int window_message_set_bursts(struct wire_window *window, const struct window_bursts *bursts,
                                     uint64_t most_rows)
{
    struct burst_rows rows;
    int rc = event_sum_bursts(bursts->sum, &bursts->clock, most_rows, &rows);
    if (rc != 0)
        return rc;
    window->bursts = rows.bursts;
    window->bursts_count = rows.bursts_count;
    window->burst_pairs = rows.pairs;
    window->burst_pairs_count = rows.pairs_count;
    window->collectives = rows.collectives;
    window->collectives_count = rows.collectives_count;
    window->comm_members = rows.members;
    window->comm_members_count = rows.members_count;
    window->degraded |= rows.folded ? DEGRADED_BURSTS : 0u;
    return 0;
}

static void window_message_omit_bursts(struct wire_window *window)
{
    window->bursts_count = window->burst_pairs_count = 0;
    window->collectives_count = window->comm_members_count = 0;
}

/* Give bursts fewer rows until they take so many bytes at most, or are as few as can be. */
static int window_message_fit_bursts(struct wire_buffer *buffer, struct wire_window *window,
                                     const struct window_bursts *bursts, size_t bytes)
{
    for (;;) {
        size_t whole, without;
        uint64_t count = window->bursts_count + window->burst_pairs_count;
        struct wire_window others = *window;
        window_message_omit_bursts(&others);
        int rc = window_message_length(buffer, window, &whole);
        if (rc == 0)
            rc = window_message_length(buffer, &others, &without);
        if (rc != 0 || count == 0 || (whole != SIZE_MAX && whole - without <= bytes))
            return rc;
        double share = whole == SIZE_MAX ? 0.5 : 0.9 * (double)bytes / (double)(whole - without);
        rc = window_message_set_bursts(window, bursts, (uint64_t)((double)count * share));
        if (rc != 0)
            return rc;
        window->degraded |= DEGRADED_BURSTS;
        if (window->bursts_count + window->burst_pairs_count >= count)
            return 0;
    }
}

/* Fit bursts into the rest of the budget. */
static int window_message_fit_bursts_last(struct wire_buffer *buffer, struct wire_window *window,
                                          const struct window_bursts *bursts, size_t budget)
{
    size_t without;
    struct wire_window others = *window;
    window_message_omit_bursts(&others);
    int rc = window_message_length(buffer, &others, &without);
    return rc != 0 ? rc
                   : window_message_fit_bursts(buffer, window, bursts,
                                               budget > without ? budget - without : 0);
}

/* A number takes 9 bytes at most, and eight in its row's struct; a text 66. */
#define MAXIMUM_BYTES(list) (window->list##_count * (sizeof *window->list / 8 * 9 + 5))
#define MAXIMUM_TEXT 66u
#define MAXIMUM_OTHER_BYTES 1024u /* keys, counts, and what stands in no row */

/* Nearly all windows are far below the budget: to know that they need not be encoded. */
static int window_message_surely_fits(const struct wire_window *window, size_t budget)
{
    size_t maximum = MAXIMUM_BYTES(comms) + MAXIMUM_BYTES(regions) + MAXIMUM_BYTES(ranks) +
                     MAXIMUM_BYTES(pairs) + MAXIMUM_BYTES(calls) + MAXIMUM_BYTES(deaths) +
                     MAXIMUM_BYTES(node) + MAXIMUM_BYTES(transfers) + MAXIMUM_BYTES(latencies) +
                     MAXIMUM_BYTES(halves) + MAXIMUM_BYTES(pending) + MAXIMUM_BYTES(bursts) +
                     MAXIMUM_BYTES(burst_pairs) + MAXIMUM_BYTES(collectives) +
                     MAXIMUM_BYTES(comm_members) + MAXIMUM_BYTES(counters) +
                     MAXIMUM_BYTES(processes);
    maximum += (window->comms_count + window->regions_count + window->node_count +
                window->counters_count) *
               MAXIMUM_TEXT;
    return maximum + MAXIMUM_OTHER_BYTES <= budget;
}

/* Leave out detail, in the order that the header gives. */
static int window_message_fit_budget(struct wire_buffer *buffer, struct wire_window *window,
                                     struct window_rows *rows, struct transfer_rows *transfers,
                                     const struct window_bursts *bursts, size_t budget)
{
    size_t whole;
    if (window_message_surely_fits(window, budget))
        return 0;
    int rc = window_message_fit_halves(buffer, window, budget);
    if (rc == 0)
        rc = window_message_length(buffer, window, &whole);
    if (rc != 0 || whole <= budget)
        return rc;
    if (window->bursts_count > 0)
        rc = window_message_fit_bursts(buffer, window, bursts, budget / 4);
    if (rc == 0)
        rc = window_message_fit_pairs(buffer, window, rows, transfers, budget);
    return rc == 0 && window->bursts_count > 0
               ? window_message_fit_bursts_last(buffer, window, bursts, budget)
               : rc;
}

/* The rank of a half, which is an end on this node. */
static uint64_t window_message_rank_of(const struct wire_half_row *half)
{
    return half->receive ? half->destination : half->source;
}

ORDER_FUNCTION(window_message_compare_by_time, struct wire_half_row,
               32 * ORDER(window_message_rank_of(a), window_message_rank_of(b)) +
                   16 * ORDER(a->begin_ns, b->begin_ns) + 8 * ORDER(a->length_ns, b->length_ns) +
                   4 * ORDER(a->receive, b->receive) + 2 * ORDER(a->source, b->source) +
                   ORDER(a->key, b->key))

/* ---- parts --------------------------------------------------------------- */

struct emission {
    struct wire_buffer buffer;
    struct window_output *output;
    int count;
};

static int window_message_emit_parts(struct emission *to, struct wire_window part,
                                     uint64_t flags_at_end);

/* Both halves of each list of rows, one after the other. Fields that are sent once go with the
 * first half. */
#define CUT(list)                                                                                  \
    do {                                                                                           \
        first->list##_count /= 2;                                                                  \
        second->list += first->list##_count;                                                       \
        second->list##_count -= first->list##_count;                                               \
    } while (0)

/* Pairs stay with their bursts, collectives with those. */
static void window_message_cut_bursts(struct wire_window *first, struct wire_window *second)
{
    uint64_t pairs = 0, of_first = 0;
    CUT(bursts);
    for (uint64_t i = 0; i < first->bursts_count; i++) {
        pairs += first->bursts[i].pairs;
        of_first += first->bursts[i].collective;
    }
    first->burst_pairs_count = pairs;
    second->burst_pairs += pairs;
    second->burst_pairs_count -= pairs;
    first->collectives_count = of_first > 0 ? first->collectives_count : 0;
}

static void window_message_cut_rows(struct wire_window *first, struct wire_window *second)
{
    CUT(ranks);
    CUT(processes);
    CUT(pairs);
    CUT(calls);
    CUT(transfers);
    CUT(latencies);
    CUT(halves);
}

static int window_message_emit_halves(struct emission *to, const struct wire_window *whole,
                                      uint64_t flags_at_end)
{
    struct wire_window first = *whole, second = *whole;
    window_message_cut_rows(&first, &second);
    window_message_cut_bursts(&first, &second);
    second.comm_members_count = second.counters_count = 0;
    second.deaths_count = second.node_count = second.pending_count = 0;
    int rc = window_message_emit_parts(to, first, 0);
    return rc < 0 ? rc : window_message_emit_parts(to, second, flags_at_end);
}

static int window_message_is_divisible(const struct wire_window *window)
{
    return window->ranks_count > 1 || window->processes_count > 1 || window->pairs_count > 1 ||
           window->calls_count > 1 || window->transfers_count > 1 || window->latencies_count > 1 ||
           window->halves_count > 1 || window->bursts_count > 1;
}

static int window_message_emit_parts(struct emission *to, struct wire_window part,
                                     uint64_t flags_at_end)
{
    struct wire_window whole = part;
    part.flags |= flags_at_end;
    part.seq = to->output->next_seq;
    int rc = wire_encode(&to->buffer, WIRE_TYPE_WINDOW, &part);
    if ((rc == -HOLTER_ELIMIT || (rc == 0 && to->buffer.length > to->output->longest)) &&
        window_message_is_divisible(&part))
        return window_message_emit_halves(to, &whole, flags_at_end);
    if (rc != 0)
        return rc;
    rc = to->output->emit(to->output->user, part.seq, to->buffer.bytes, to->buffer.length);
    if (rc < 0)
        return rc;
    to->output->next_seq++;
    to->count++;
    return 0;
}

int window_message_encode(struct wire_window *window, struct window_rows *rows,
                          struct transfer_rows *transfers, const struct window_bursts *bursts,
                          struct window_output *output)
{
    struct emission to = {.output = output};
    window_message_set_rows(window, rows, transfers);
    window->degraded |= rows->folded || transfers->folded ? DEGRADED_PAIRS : 0u;
    window->degraded |= transfers->keys_below != 0 ? DEGRADED_SAMPLES : 0u;
    int rc = bursts != NULL ? window_message_set_bursts(window, bursts, bursts->most_rows) : 0;
    if (rc == 0)
        rc = window_message_fit_budget(&to.buffer, window, rows, transfers, bursts, output->budget);
    if (rc == 0) {
        struct wire_window part = *window;
        /* As they happened: a rank does much the same again and again, which recordings profit by.
         */
        if (part.halves_count > 0)
            qsort(transfers->halves, part.halves_count, sizeof *transfers->halves,
                  window_message_compare_by_time);
        uint64_t final = part.flags & WINDOW_FINAL; /* nothing follows: only on the last part */
        part.flags &= ~(uint64_t)WINDOW_FINAL;
        rc = window_message_emit_parts(&to, part, final);
    }
    wire_buffer_finish(&to.buffer);
    return rc < 0 ? rc : to.count;
}

/* What a window puts on the links of a job's network: what its ranks sent each other, by pairs of
 * vertices. */
#include "daemon/job/network/job_network_state.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/key_order.h"
#include "holter/bisect.h"
#include "holter/order.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LOG2_PART 65536.0            /* see WIRE_TRANSFER_ROW.log2_sum */
#define LOG_PART (M_LN2 / LOG2_PART) /* of a natural logarithm */

/* ---- pairs of vertices ------------------------------------------------------------------- */

/* Several destinations together (-1) are no rank, as an unsigned number either. */
static uint32_t loads_find_vertex(const struct job_network *n, uint32_t rank)
{
    return rank < n->rank_count ? n->seats[rank] : TOPOLOGY_NONE;
}

ORDER_FUNCTION(loads_compare_pairs, struct congestion_pair,
               2 * ORDER(a->source, b->source) + ORDER(a->destination, b->destination))

/* Find where the pairs of each rank begin, which are in order of their sources. Those of ranks that
 * have no place come after all of them. */
static int loads_index_ranks(struct job_network *n, const struct closed_window *w)
{
    if (ARRAY_FIT(n->first, n->first_capacity, (size_t)n->rank_count + 1) != 0)
        return -ENOMEM;
    size_t at = 0;
    for (uint32_t rank = 0; rank <= n->rank_count; rank++) {
        while (at < w->pair_count && w->pairs[at].source < rank)
            at++;
        n->first[rank] = at;
    }
    return 0;
}

/* List the messages between ranks of different vertices. What stays on a vertex loads nothing.
 * @return whether they are in order */
static bool loads_list_pairs(struct job_network *n, const struct closed_window *w)
{
    bool sorted = true;
    n->pair_count = 0;
    n->bytes = n->unplaced = 0;
    for (size_t i = 0; i < w->pair_count; i++) {
        const struct wire_pair_row *row = &w->pairs[i];
        const uint32_t source = loads_find_vertex(n, (uint32_t)row->source),
                       destination = loads_find_vertex(n, (uint32_t)row->destination);
        if (source == TOPOLOGY_NONE || destination == TOPOLOGY_NONE) {
            n->unplaced += row->bytes;
            continue;
        }
        if (source == destination)
            continue;
        struct congestion_pair *pair = &n->pairs[n->pair_count++];
        *pair = (struct congestion_pair){.source = source,
                                         .destination = destination,
                                         .bytes = row->bytes,
                                         .messages = row->messages};
        sorted = sorted && (n->pair_count == 1 || loads_compare_pairs(pair - 1, pair) <= 0);
        n->bytes += row->bytes;
    }
    return sorted;
}

static uint64_t loads_pair_key(const void *row)
{
    const struct congestion_pair *pair = row;
    return (uint64_t)pair->source << 32 | pair->destination;
}

/* Add up the pairs of the same vertices, from position `from` on. @return 0 or -ENOMEM */
static int loads_merge_pairs(struct job_network *n, size_t from, bool sorted)
{
    if (!sorted && key_order_rows(&n->pairs[from], sizeof(*n->pairs), n->pair_count - from,
                                  loads_pair_key) != 0)
        return -ENOMEM;
    size_t merged = from;
    for (size_t i = from; i < n->pair_count; i++) {
        const struct congestion_pair *pair = &n->pairs[i];
        if (merged > from && loads_compare_pairs(&n->pairs[merged - 1], pair) == 0) {
            n->pairs[merged - 1].bytes += pair->bytes;
            n->pairs[merged - 1].messages += pair->messages;
            n->pairs[merged - 1].matched += pair->matched;
            n->pairs[merged - 1].log_latency += pair->log_latency;
        } else {
            n->pairs[merged++] = *pair;
        }
    }
    n->pair_count = merged;
    return 0;
}

static int loads_add_pairs(struct job_network *n, const struct closed_window *w)
{
    if (loads_index_ranks(n, w) != 0 || ARRAY_FIT(n->pairs, n->pair_capacity, w->pair_count) != 0)
        return -ENOMEM;
    return loads_merge_pairs(n, 0, loads_list_pairs(n, w));
}

/* The vertex of one end of a transfer. */
static uint32_t loads_find_end(const struct job_network *n, uint32_t number)
{
    return !n->by_node              ? loads_find_vertex(n, number)
           : number < n->node_count ? n->nodes[number].vertex
                                    : TOPOLOGY_NONE;
}

/* ---- latencies --------------------------------------------------------------------------- */

/* Logarithms of reference latencies by number of the class, in the parts of log2_sum, which are
 * whole numbers; infinite: there is no reference. */
struct reference_logs {
    double parts[LOCALITIES * SIZE_CLASSES];
};

static void loads_list_references(const struct latency_scale *scale, struct reference_logs *logs)
{
    for (unsigned class_ = 0; class_ < LOCALITIES * SIZE_CLASSES; class_++) {
        double reference = scale->reference[class_ % LOCALITIES][class_ / LOCALITIES];
        logs->parts[class_] = reference > 0 ? round(LOG2_PART * log2(reference)) : INFINITY;
    }
}

/* A matched message may have been sent in a window before: then its pair has sent nothing in this
 * one, and is added after the `sent` pairs that have.
 * @param near  index of the pair of the message before: messages mostly come in the order of pairs,
 *              so the one after it is looked at first; set to the pair's
 * @param log   in the parts of log2_sum */
static int loads_add_latency(struct job_network *n, size_t sent, size_t *near,
                             const struct congestion_pair *of, uint64_t messages, double log)
{
    size_t at = *near;
    if (at >= sent || loads_compare_pairs(&n->pairs[at], of) != 0)
        at++;
    if (at >= sent || loads_compare_pairs(&n->pairs[at], of) != 0)
        at = BISECT(i, 0, sent, loads_compare_pairs(&n->pairs[i], of) < 0);
    if (at == sent || loads_compare_pairs(&n->pairs[at], of) != 0) {
        if (ARRAY_FIT(n->pairs, n->pair_capacity, n->pair_count + 1) != 0)
            return -ENOMEM;
        at = n->pair_count++;
        n->pairs[at] = *of;
    }
    n->pairs[at].matched += messages;
    n->pairs[at].log_latency += log;
    *near = at;
    return 0;
}

/* Bring the pairs after the `sent` ones, which are in order, into the same order. */
static int loads_insert_pairs(struct job_network *n, size_t sent)
{
    if (loads_merge_pairs(n, sent, false) != 0)
        return -ENOMEM;
    size_t left = n->pair_count - sent, to = n->pair_count;
    if (ARRAY_FIT(n->pairs, n->pair_capacity, n->pair_count + left) != 0)
        return -ENOMEM;
    const struct congestion_pair *added = n->pairs + n->pair_count;
    memcpy(n->pairs + n->pair_count, n->pairs + sent, left * sizeof(*n->pairs));
    while (left > 0)
        n->pairs[--to] = sent > 0 && loads_compare_pairs(&n->pairs[sent - 1], &added[left - 1]) > 0
                             ? n->pairs[--sent]
                             : added[--left];
    return 0;
}

/* Sums of logarithms are kept in the parts of log2_sum, which are whole numbers, until all rows are
 * added: so they do not depend on the order of rows. */
static int loads_add_latencies(struct job_network *n, const struct closed_window *w)
{
    const struct transfers *transfers = w->latency == NULL ? NULL : &w->latency->transfers;
    const size_t sent = n->pair_count;
    size_t near = 0;
    struct reference_logs logs;
    int code = 0;
    if (transfers == NULL || transfers->count == 0 || w->scale == NULL)
        return 0;
    loads_list_references(w->scale, &logs);
    for (size_t i = 0; code == 0 && i < transfers->count; i++) {
        const struct transfer *row = &transfers->rows[i];
        const double log = logs.parts[transfer_class(row)];
        const struct congestion_pair pair = {.source = loads_find_end(n, row->source),
                                             .destination = loads_find_end(n, row->destination)};
        if (pair.source == pair.destination || pair.source == TOPOLOGY_NONE ||
            pair.destination == TOPOLOGY_NONE || row->messages == 0 || !(log < INFINITY))
            continue;
        code = loads_add_latency(n, sent, &near, &pair, row->messages,
                                 (double)row->log2_sum - log * (double)row->messages);
    }
    if (code == 0 && n->pair_count > sent)
        code = loads_insert_pairs(n, sent);
    for (size_t i = 0; i < n->pair_count; i++)
        n->pairs[i].log_latency *= LOG_PART;
    return code;
}

/* ---- closing ------------------------------------------------------------------------------- */

/* Bring loads and latencies of links up to date. */
static int loads_update(struct job_network *n, const struct closed_window *w)
{
    int code = loads_add_pairs(n, w);
    code = code != 0 ? code : job_network_add_collectives(n, w);
    code = code != 0 ? code : loads_add_latencies(n, w);
    code = code != 0 ? code : job_network_measure(n);
    if (code == 0)
        code = congestion_update(n->congestion, w->number, (double)n->options.window_ns * 1e-9,
                                 n->pairs, n->pair_count);
    n->window = w->number;
    return code != 0 ? code : job_network_rows(n, w);
}

int job_network_update(struct job_network *n, const struct closed_window *w)
{
    struct wire_links links;
    n->rows_made = 0; /* they name interfaces of the window before */
    n->measured_count = n->hot_count = n->route_rows_count = 0;
    counter_rows_finish(&n->counters);
    if (w->counters != NULL) {
        n->counters = *w->counters;
        *w->counters = (struct counter_rows){0};
    }
    counter_rows_sort(&n->counters);
    if (job_network_is_tree(n))
        job_network_update_speeds(n);
    int code = job_network_rebuild(n);
    code = code != 0 ? code : job_network_follow_links(n);
    n->closed = 1;
    if (code == 0 && n->graph != NULL)
        code = loads_update(n, w);
    job_measured_set_network(&n->before, n->made);
    if (job_network_measured(n, &links) && job_measured_add(&n->before, &links) != 0)
        code = code != 0 ? code : -ENOMEM;
    return code;
}

int job_network_measured_before(struct job_network *n, size_t number, struct wire_links *out)
{
    job_measured_set_network(&n->before, n->made);
    return job_measured_message(&n->before, number, out);
}

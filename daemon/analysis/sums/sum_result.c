/* Results: rows in canonical order, and the communicators and regions that they name. */
#include "daemon/analysis/sums/sums.h"

#include "daemon/analysis/tables/array.h"
#include "holter/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- canonical order ----------------------------------------------------- */

struct sort_key {
    uint64_t hi, lo;
    uint32_t number;
};

ORDER_FUNCTION(sum_order_compare_keys, struct sort_key,
               2 * ORDER(a->hi, b->hi) + ORDER(a->lo, b->lo))

/* Numbers of communicators and regions depend on who reported first; their places in order do not.
 * New ones change the places of others, but never which of two comes first, so an order once found
 * stays valid. */
static uint64_t sum_order_canonical_key(uint64_t lo, const struct run_sum *run)
{
    uint32_t comm = (uint32_t)(lo >> 32), region = (uint32_t)(lo >> 16) & 0xffff;
    return (uint64_t)run->comm_position[comm] << 32 | (uint64_t)run->region_position[region] << 16 |
           (lo & 0xffff);
}

static struct sort_key sum_order_key(const struct key_table *table, const struct run_sum *run,
                                     uint32_t number)
{
    const struct key key = table->keys[number];
    return (struct sort_key){key.hi, sum_order_canonical_key(key.lo, run), number};
}

/* Sort the keys that are new, and merge them into the order from its end on. */
static int sum_order_update(struct sum_order *order, const struct key_table *table,
                            const struct run_sum *run)
{
    const uint32_t count = table->count;
    uint32_t known = order->count, added = count - known, to = count;
    if (added == 0)
        return 0;
    struct sort_key *keys = malloc(added * sizeof(*keys));
    if (keys == NULL || ARRAY_RESIZE(order->numbers, count) != 0) {
        free(keys);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < added; i++)
        keys[i] = sum_order_key(table, run, known + i);
    qsort(keys, added, sizeof(*keys), sum_order_compare_keys);
    while (added > 0) {
        const struct sort_key last =
            known == 0 ? keys[added - 1] : sum_order_key(table, run, order->numbers[known - 1]);
        if (sum_order_compare_keys(&last, &keys[added - 1]) > 0)
            order->numbers[--to] = order->numbers[--known];
        else
            order->numbers[--to] = keys[--added].number;
    }
    order->count = count;
    free(keys);
    return 0;
}

static int sum_order_compare_comms(const void *a, const void *b, void *rows)
{
    uint64_t x = ((const struct run_comm *)rows)[*(const uint32_t *)a].id;
    uint64_t y = ((const struct run_comm *)rows)[*(const uint32_t *)b].id;
    return ORDER(x, y);
}

static int sum_order_compare_regions(const void *a, const void *b, void *rows)
{
    const char(*names)[NAME_TABLE_BYTES] = rows;
    return strcmp(names[*(const uint32_t *)a], names[*(const uint32_t *)b]);
}

static int sum_order_find_positions(uint32_t **out, uint32_t *done, uint32_t count, void *rows,
                                    int (*compare)(const void *, const void *, void *))
{
    if (*done == count)
        return 0;
    uint32_t *sorted = malloc(count * sizeof(*sorted));
    if (sorted == NULL || array_resize(out, count * sizeof(**out)) != 0) {
        free(sorted);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = i;
    qsort_r(sorted, count, sizeof(*sorted), compare, rows);
    for (uint32_t i = 0; i < count; i++)
        (*out)[sorted[i]] = i;
    *done = count;
    free(sorted);
    return 0;
}

/* Bring positions, or an order, up to date. @return 0 or -ENOMEM */
static int sum_order_update_positions(struct run_sum *run)
{
    int code = sum_order_find_positions(&run->comm_position, &run->comm_positions,
                                        run->comm_ids.count, run->comms, sum_order_compare_comms);
    return code != 0 ? code
                     : sum_order_find_positions(&run->region_position, &run->region_positions,
                                                run->regions.count, run->regions.names,
                                                sum_order_compare_regions);
}

/* ---- results ------------------------------------------------------------- */

void sum_result_finish(struct sum_result *result)
{
    free(result->ranks);
    free(result->pairs);
    free(result->calls);
    free(result->comms);
    free(result->regions);
    *result = (struct sum_result){0};
}

static int sum_result_collect_ranks(struct run_sum *run, const struct figures *figures,
                                    struct sum_result *out)
{
    int code = sum_order_update(&run->rank_order, &run->ranks, run);
    code = code != 0 ? code : ARRAY_RESIZE(out->ranks, (size_t)run->ranks.count + 1);
    if (code != 0)
        return code;
    out->rank_count = 0;
    for (uint32_t i = 0; i < run->rank_order.count; i++) {
        uint32_t number = run->rank_order.numbers[i];
        if (number < figures->rank_capacity && figures->ranks[number].present)
            out->ranks[out->rank_count++] = figures->ranks[number].row;
    }
    return 0;
}

/* Bytes of the k-th largest row, counted from 1, found a byte at a time from the top, so that no
 * order of rows
 * is a bad one. @param ties  set to how many rows of exactly that size are among the k largest */
static uint64_t sum_result_find_kth_largest(const struct wire_pair_row *rows, size_t count,
                                            size_t k, size_t *ties)
{
    uint64_t prefix = 0, known = 0;
    for (int shift = 56; shift >= 0; shift -= 8) {
        size_t histogram[256] = {0};
        for (size_t i = 0; i < count; i++) {
            if ((rows[i].bytes & known) == prefix)
                histogram[rows[i].bytes >> shift & 255]++;
        }
        unsigned digit = 255;
        for (; digit > 0 && histogram[digit] < k; digit--)
            k -= histogram[digit];
        prefix |= (uint64_t)digit << shift;
        known |= UINT64_C(255) << shift;
    }
    *ties = k;
    return prefix;
}

/* Keep the largest rows, and for each source one that holds the rest; it comes first, as canonical
 * order has it. In place: what is kept moves down to rows that were read already. */
static void sum_result_fold(struct sum_result *out, size_t maximum)
{
    size_t ties = 0, kept = 0;
    uint64_t minimum =
        maximum == 0 ? UINT64_MAX
                     : sum_result_find_kth_largest(out->pairs, out->pair_count, maximum, &ties);
    struct wire_pair_row *rows = out->pairs;
    for (size_t from = 0; from < out->pair_count;) {
        struct wire_pair_row rest = {.source = rows[from].source, .destination = -1};
        size_t first = kept, in_rest = 0;
        for (; from < out->pair_count && rows[from].source == rest.source; from++) {
            int tie = rows[from].bytes == minimum && ties > 0;
            if (rows[from].destination >= 0 && (rows[from].bytes > minimum || tie)) {
                ties -= (size_t)tie;
                rows[kept++] = rows[from];
                continue;
            }
            in_rest++;
            out->folded += rows[from].destination >= 0;
            rest.messages += rows[from].messages;
            rest.bytes += rows[from].bytes;
        }
        if (in_rest > 0) {
            memmove(&rows[first + 1], &rows[first], (kept - first) * sizeof(*rows));
            rows[first] = rest;
            kept++;
        }
    }
    out->pair_count = kept;
}

static int sum_result_collect_pairs(struct run_sum *run, const struct figures *figures,
                                    size_t maximum, struct sum_result *out)
{
    int code = sum_order_update(&run->pair_order, &run->pairs, run);
    code = code != 0 ? code : ARRAY_RESIZE(out->pairs, (size_t)run->pairs.count + 1);
    if (code != 0)
        return code;
    out->pair_count = 0;
    out->folded = run->overflow_rows;
    for (uint32_t i = 0; i < run->pair_order.count; i++) {
        uint32_t number = run->pair_order.numbers[i];
        if (number >= figures->pair_capacity)
            continue;
        const struct pair_figures *pair = &figures->pairs[number];
        if (pair->messages == 0)
            continue;
        struct key key = run->pairs.keys[number];
        out->pairs[out->pair_count++] = (struct wire_pair_row){
            .source = key.hi >> 32,
            .destination = (int32_t)(uint32_t)key.hi - 1,
            .comm = key.lo >> 32,
            .region = key.lo >> 16 & 0xffff,
            .size_class = key.lo & 0xffff,
            .messages = pair->messages,
            .bytes = pair->bytes,
        };
    }
    if (out->pair_count > maximum)
        sum_result_fold(out, maximum);
    return 0;
}

static int sum_result_collect_calls(struct run_sum *run, const struct figures *figures,
                                    struct sum_result *out)
{
    int code = sum_order_update(&run->call_order, &run->calls, run);
    code = code != 0 ? code : ARRAY_RESIZE(out->calls, (size_t)run->calls.count + 1);
    if (code != 0)
        return code;
    out->call_count = 0;
    for (uint32_t i = 0; i < run->call_order.count; i++) {
        uint32_t number = run->call_order.numbers[i];
        if (number >= figures->call_capacity || figures->calls[number].ranks == 0)
            continue;
        const struct call_figures *call = &figures->calls[number];
        uint64_t key = run->calls.keys[number].lo;
        out->calls[out->call_count++] = (struct wire_call_row){
            .rank = call->ranks,
            .call = key & 0xffff,
            .comm = key >> 32,
            .region = key >> 16 & 0xffff,
            .calls = call->calls,
            .bytes = call->bytes,
            .bytes_in = call->bytes_in,
            .time_ns = call->time_ns,
            .longest_ns = call->longest_ns,
            .polls = call->polls,
        };
    }
    return 0;
}

/* A kind of call: how much time, and how many rows. */
struct kind_weight {
    uint64_t time_ns, rows;
    uint32_t number;
};

/* Most time first; of equal times the first in canonical order. */
ORDER_FUNCTION(sum_result_compare_kinds, struct kind_weight,
               2 * ORDER(b->time_ns, a->time_ns) + ORDER(a->rows, b->rows))

/* Choose the kinds whose callers are listed, at most so many rows of all of them.
 * @param keep  by number of a kind: set to whether it is listed */
static int sum_result_choose_kinds(const struct run_sum *run, const struct figures *figures,
                                   size_t maximum, bool *keep, struct sum_result *out)
{
    struct kind_weight *kinds = malloc(((size_t)run->calls.count + 1) * sizeof(*kinds));
    size_t count = 0;
    if (kinds == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < run->call_order.count; i++) {
        uint32_t number = run->call_order.numbers[i];
        if (number < figures->call_capacity && figures->calls[number].ranks > 0)
            kinds[count++] = (struct kind_weight){figures->calls[number].time_ns,
                                                  figures->calls[number].ranks, number};
    }
    qsort(kinds, count, sizeof(*kinds), sum_result_compare_kinds);
    for (size_t i = 0; i < count; i++) {
        keep[kinds[i].number] = kinds[i].rows <= maximum;
        if (keep[kinds[i].number]) {
            maximum -= kinds[i].rows;
        } else {
            out->left_out += kinds[i].rows;
            out->left_out_ns += kinds[i].time_ns;
        }
    }
    free(kinds);
    return 0;
}

static int sum_result_collect_callers(struct run_sum *run, const struct figures *figures,
                                      size_t maximum, struct sum_result *out)
{
    int code = sum_order_update(&run->call_order, &run->calls, run);
    code = code != 0 ? code : sum_order_update(&run->caller_order, &run->callers, run);
    code = code != 0 ? code : ARRAY_RESIZE(out->calls, (size_t)run->callers.count + 1);
    bool *keep = calloc((size_t)run->calls.count + 1, sizeof(*keep));
    if (code == 0)
        code = keep == NULL ? -ENOMEM : sum_result_choose_kinds(run, figures, maximum, keep, out);
    for (uint32_t i = 0; code == 0 && i < run->caller_order.count; i++) {
        uint32_t number = run->caller_order.numbers[i];
        if (number >= figures->caller_capacity || !figures->callers[number].present ||
            !keep[run->call_of[number]])
            continue;
        const struct caller_figures *caller = &figures->callers[number];
        struct key key = run->callers.keys[number];
        out->calls[out->call_count++] = (struct wire_call_row){
            .rank = key.hi,
            .call = key.lo & 0xffff,
            .comm = key.lo >> 32,
            .region = key.lo >> 16 & 0xffff,
            .calls = caller->calls,
            .bytes = caller->bytes,
            .bytes_in = caller->bytes_in,
            .time_ns = caller->time_ns,
            .polls = caller->polls,
        };
    }
    free(keep);
    return code;
}

/* ---- the communicators and regions that rows name ------------------------ */

/* Of those marked, list the ones in order; place[number] becomes the position in the list. Number 0
 * is always the first. */
static uint32_t sum_result_number_marked(uint32_t *place, const uint32_t *position, uint32_t count,
                                         uint32_t *listed)
{
    for (uint32_t i = 0; i < count; i++)
        listed[position[i]] = place[i] != 0 || i == 0 ? i : KEY_NONE;
    uint32_t marked = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (listed[i] == KEY_NONE)
            continue;
        place[listed[i]] = marked;
        listed[marked++] = listed[i];
    }
    return marked;
}

/* Mark the communicators of the calls in progress: it may be that no call on them has ended. */
static void sum_result_mark_in_progress(const struct run_sum *run, const struct figures *figures,
                                        uint32_t *comm)
{
    uint64_t previous = 0;
    for (size_t i = 0; i < figures->rank_capacity; i++) {
        const struct rank_figures *rank = &figures->ranks[i];
        if (!rank->present || rank->row.in_call == 0 || rank->row.in_call_comm == previous)
            continue;
        previous = rank->row.in_call_comm;
        const uint32_t number = key_table_find(&run->comm_ids, (struct key){.hi = previous});
        if (number != KEY_NONE)
            comm[number] = 1;
    }
}

/* @param figures  of whose ranks the calls in progress are named, too; or NULL */
static int sum_result_name_comms_and_regions(const struct run_sum *run,
                                             const struct figures *figures, struct sum_result *out)
{
    uint32_t comms = run->comm_ids.count, regions = run->regions.count;
    uint32_t *comm = calloc(2 * ((size_t)comms + regions), sizeof(*comm));
    if (comm == NULL)
        return -ENOMEM;
    uint32_t *region = comm + comms, *listed = region + regions;
    for (size_t i = 0; i < out->pair_count; i++)
        comm[out->pairs[i].comm] = region[out->pairs[i].region] = 1;
    for (size_t i = 0; i < out->call_count; i++)
        comm[out->calls[i].comm] = region[out->calls[i].region] = 1;
    if (figures != NULL)
        sum_result_mark_in_progress(run, figures, comm);

    out->comm_count = sum_result_number_marked(comm, run->comm_position, comms, listed);
    int code = ARRAY_RESIZE(out->comms, out->comm_count + 1);
    for (size_t i = 0; code == 0 && i < out->comm_count; i++) {
        const struct run_comm *c = &run->comms[listed[i]];
        out->comms[i] = (struct wire_comm_row){c->id, c->parent, c->size, c->remote_size, c->name};
    }
    out->region_count = sum_result_number_marked(region, run->region_position, regions, listed);
    code = code != 0 ? code : ARRAY_RESIZE(out->regions, out->region_count + 1);
    for (size_t i = 0; code == 0 && i < out->region_count; i++)
        out->regions[i].name = run->regions.names[listed[i]];

    for (size_t i = 0; i < out->pair_count; i++) {
        out->pairs[i].comm = comm[out->pairs[i].comm];
        out->pairs[i].region = region[out->pairs[i].region];
    }
    for (size_t i = 0; i < out->call_count; i++) {
        out->calls[i].comm = comm[out->calls[i].comm];
        out->calls[i].region = region[out->calls[i].region];
    }
    free(comm);
    return code;
}

static int sum_result_collect(struct run_sum *run, const struct figures *figures,
                              enum sum_part part, size_t maximum_pairs, struct sum_result *out)
{
    out->rank_count = out->pair_count = out->call_count = out->comm_count = out->region_count = 0;
    out->folded = out->left_out = out->left_out_ns = 0;
    int code = sum_order_update_positions(run);
    if (code != 0)
        return code;
    if (part == SUM_RANKS)
        return sum_result_collect_ranks(run, figures, out);
    code = part == SUM_PAIRS   ? sum_result_collect_pairs(run, figures, maximum_pairs, out)
           : part == SUM_CALLS ? sum_result_collect_calls(run, figures, out)
                               : sum_result_collect_callers(run, figures, maximum_pairs, out);
    figures = part == SUM_CALLS ? figures : NULL;
    return code != 0 ? code : sum_result_name_comms_and_regions(run, figures, out);
}

int window_sum_result(const struct window_sum *window, enum sum_part part, size_t maximum_pairs,
                      struct sum_result *out)
{
    return sum_result_collect(window->run, &window->figures, part, maximum_pairs, out);
}

int run_sum_result(struct run_sum *run, enum sum_part part, size_t maximum_pairs,
                   struct sum_result *out)
{
    return sum_result_collect(run, &run->total, part, maximum_pairs, out);
}

void run_sum_add_absence(const struct run_sum *run, uint64_t windows, uint64_t window_ns,
                         struct sum_result *ranks)
{
    for (size_t i = 0; i < ranks->rank_count; i++) {
        struct wire_rank_row *row = &ranks->ranks[i];
        const uint32_t number = key_table_find(&run->ranks, (struct key){.hi = row->rank});
        const uint64_t all = windows * (row->ranks > 1 ? row->ranks : 1);
        const uint64_t reported = run->total.ranks[number].windows;
        row->absent_ns += all > reported ? (all - reported) * window_ns : 0;
    }
}

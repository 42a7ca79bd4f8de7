#include "daemon/analysis/attribution/attribution.h"

#include "daemon/analysis/attribution/attribution_state.h"
#include "daemon/analysis/tables/array.h"

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

static void finish_ranks(struct attribution_ranks *ranks)
{
    narrow_table_finish(&ranks->calls);
    narrow_table_finish(&ranks->messages);
}

static size_t bytes_of(const struct attribution_ranks *ranks)
{
    return narrow_table_bytes(&ranks->calls, RANK_OF_CALLS) +
           narrow_table_bytes(&ranks->messages, MESSAGE_FIGURES);
}

/* The window that reads a table which is not its own has its own again, whatever that says. */
static void return_messages(struct attribution *a)
{
    if (a->lent != NULL)
        a->reader->messages = a->spare;
    a->lent = NULL;
    a->spare = (struct narrow_table){0};
}

void attribution_destroy(struct attribution *a)
{
    if (a == NULL)
        return;
    return_messages(a);
    for (uint32_t i = 0; i < a->params.windows; i++) {
        finish_ranks(&a->slices[i].ranks);
        free(a->slices[i].pairs);
    }
    for (uint32_t i = 0; i < ATTRIBUTION_WAITING; i++)
        finish_ranks(&a->waiting[i]);
    for (uint32_t i = 0; i < traffic_sums_count(a); i++)
        narrow_table_finish(&a->traffic_sums[i].table);
    finish_ranks(&a->next);
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
        bytes +=
            bytes_of(&a->slices[i].ranks) + a->slices[i].pair_room * sizeof(*a->slices[i].pairs);
    for (uint32_t i = 0; i < ATTRIBUTION_WAITING; i++)
        bytes += bytes_of(&a->waiting[i]);
    for (uint32_t i = 0; i < traffic_sums_count(a); i++)
        bytes += narrow_table_bytes(&a->traffic_sums[i].table, RANK_TRAFFIC);
    bytes += bytes_of(&a->next) + narrow_table_bytes(&a->spare, MESSAGE_FIGURES);
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

/* ---- taking in a window -------------------------------------------------- */

static inline uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Figures of a row but for the length, in the order of enum rank_figure. */
static inline void figures_of(const struct rank_row *row, uint64_t length, uint64_t *out)
{
    const struct rank_row *seldom = rank_row_seldom(row);
    uint64_t messaging = row->send_ns + row->recv_ns + row->wait_ns + seldom->poll_ns;
    uint64_t mpi =
        messaging + row->collective_ns + seldom->one_sided_ns + seldom->io_ns + seldom->other_ns;
    out[RANK_MPI - RANK_LENGTH] = least(mpi, length);
    out[RANK_MESSAGING - RANK_LENGTH] = least(messaging, length);
    out[RANK_COLLECTIVE - RANK_LENGTH] = least(row->collective_ns, length);
    out[RANK_CALLS - RANK_LENGTH] = row->calls > seldom->polls ? row->calls - seldom->polls : 0;
    out[RANK_MESSAGES - RANK_LENGTH] = row->sent + row->received;
}

/* A further row of a rank, or one of which some figure has more than 31 bits. */
static __attribute__((noinline)) void add_rank(struct narrow_table *calls,
                                               const struct rank_row *row, uint64_t length)
{
    uint64_t figures[RANK_OF_CALLS];
    figures_of(row, length, figures);
    figures[0] = narrow_table_at(calls, RANK_OF_CALLS, row->rank, 0) == 0 ? length : 0;
    for (uint32_t f = 0; f < RANK_OF_CALLS; f++)
        narrow_table_add(calls, RANK_OF_CALLS, (size_t)row->rank * RANK_OF_CALLS + f, figures[f]);
}

/* The first row of a rank behind all others. @return whether it was set: its figures have 31 bits
 */
static inline bool set_rank(struct narrow_table *calls, const struct rank_row *row, uint64_t length)
{
    uint64_t figures[RANK_OF_CALLS], all = length;
    figures_of(row, length, figures);
    figures[0] = length;
    for (uint32_t f = 1; f < RANK_OF_CALLS; f++)
        all |= figures[f];
    if (all >> NARROW_BITS != 0 || row->rank < calls->high_room)
        return false;
    int32_t *to = &calls->low[(size_t)row->rank * RANK_OF_CALLS];
    for (uint32_t f = 0; f < RANK_OF_CALLS; f++)
        to[f] = (int32_t)figures[f];
    return true;
}

/* Ranks that have no row have no figures. */
void attribution_ranks(struct attribution *a, uint64_t length_ns, const struct rank_row *rows,
                       size_t count)
{
    struct attribution_ranks *ranks = &a->next;
    for (size_t i = 0; i < count && !ranks->calls.failed; i++) {
        const struct rank_row *row = &rows[i];
        if (row->rank >= a->params.ranks)
            continue;
        if (row->rank >= ranks->calls.room &&
            narrow_table_fit(&ranks->calls, RANK_OF_CALLS, row->rank + 1) != 0) {
            ranks->calls.failed = 1;
            continue;
        }
        if (row->rank == ranks->count && set_rank(&ranks->calls, row, length_ns)) {
            ranks->count++;
            continue;
        }
        for (; ranks->count <= row->rank; ranks->count++)
            narrow_table_clear(&ranks->calls, RANK_OF_CALLS, ranks->count);
        add_rank(&ranks->calls, row, length_ns);
    }
}

uint32_t attribution_reported(const struct attribution *a)
{
    return a->next.count;
}

static void begin_next(struct attribution *a)
{
    a->next.count = 0;
    narrow_table_begin(&a->next.calls);
}

void attribution_keep_messages(struct attribution *a, struct message_ranks *messages)
{
    if (a->lent == NULL || a->lent != messages)
        return;
    messages->table = a->spare;
    messages->count = 0;
    a->lent = NULL;
    a->spare = (struct narrow_table){0};
}

/* No table is lent any more, though it stays as it is. @return 0 or -ENOMEM: nothing has changed */
static int copy_lent(struct attribution *a)
{
    if (a->lent == NULL)
        return 0;
    const uint32_t count = a->reader->count;
    int error = narrow_table_copy(&a->spare, &a->reader->messages, MESSAGE_FIGURES, count, count);
    if (error == 0)
        return_messages(a);
    return error;
}

/* What they come to at each rank. */
static int take_messages(struct attribution *a, struct attribution_ranks *ranks,
                         const struct attribution_window *window)
{
    static const struct message_ranks none;
    const struct message_ranks *messages = window->messages != NULL ? window->messages : &none;
    if (window->messages_stay && messages->count >= ranks->count && ranks->count > 0 &&
        !messages->table.failed) {
        a->lent = messages;
        a->reader = ranks;
        a->spare = ranks->messages;
        ranks->messages = messages->table;
        return 0;
    }
    int error = narrow_table_copy(&ranks->messages, &messages->table, MESSAGE_FIGURES,
                                  messages->count, ranks->count);
    return error == 0 && ranks->messages.failed ? -ENOMEM : error;
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
    int error = a->next.calls.failed ? -ENOMEM : attribution_traffic_room(a, a->next.count);
    error = error ? error : copy_lent(a);
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
    error = take_messages(a, &slice->ranks, window);
    error = error ? error : attribution_pairs_add(a, slice, window);
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

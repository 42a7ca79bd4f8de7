/* Where ranks run, and the windows of a job: the last ones, and the baseline. */
#include "daemon/analysis/attribution/attribution_state.h"
#include "daemon/analysis/tables/array.h"
#include "holter/waiting.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAXIMUM_WINDOWS 64u
#define MAXIMUM_NODES (UINT32_C(1) << 20)
#define MAXIMUM_RANKS (UINT32_C(1) << 20) /* further ones are left out */
#define FORGET_WINDOWS 600.0              /* after so many the baseline weighs 1/e */

static const char *const cause_names[CAUSES] = {
    [CAUSE_NETWORK] = "network",
    [CAUSE_LATE_SENDER] = "late-sender",
    [CAUSE_LATE_RECEIVER] = "late-receiver",
    [CAUSE_MAPPING] = "mapping",
    [CAUSE_PATTERN] = "pattern",
    [CAUSE_BACKGROUND] = "background",
    [CAUSE_SLOW_NODE] = "slow-node",
    [CAUSE_COLLECTIVE] = "collective",
    [CAUSE_COMPUTES] = "computes-longer",
    [CAUSE_INTERRUPTED] = "interrupted",
    [CAUSE_STOPPED] = "stopped",
    [CAUSE_PAGING] = "paging",
    [CAUSE_IO] = "io",
    [CAUSE_CLOCK] = "clock",
};

const char *attribution_cause_name(enum attribution_cause_kind kind)
{
    return (unsigned)kind < CAUSES ? cause_names[kind] : "?";
}

static void attribution_slice_finish(struct attribution_slice *slice)
{
    free(slice->ranks);
    free(slice->pairs);
}

int attribution_create(struct attribution **out)
{
    struct attribution *a = calloc(1, sizeof(*a));
    if (a == NULL)
        return -ENOMEM;
    a->windows = ATTRIBUTION_WINDOWS;
    a->keep = exp(-1 / FORGET_WINDOWS);
    a->slices = calloc(a->windows, sizeof(*a->slices));
    if (a->slices == NULL) {
        free(a);
        return -ENOMEM;
    }
    *out = a;
    return 0;
}

void attribution_destroy(struct attribution *a)
{
    if (a == NULL)
        return;
    for (uint32_t i = 0; i < a->windows; i++)
        attribution_slice_finish(&a->slices[i]);
    attribution_slice_finish(&a->next);
    attribution_sum_finish(&a->base);
    key_table_finish(&a->pairs);
    free(a->slices);
    free(a->node_of);
    free(a->nodes);
    free(a->partners);
    free(a);
}

int attribution_keep(struct attribution *a, uint32_t windows)
{
    const uint32_t before = a->windows;
    windows = windows < MAXIMUM_WINDOWS ? windows : MAXIMUM_WINDOWS;
    if (windows <= before)
        return 0;
    struct attribution_slice *slices = calloc(windows, sizeof(*slices));
    if (slices == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < before; i++)
        slices[i] = *attribution_slice_at(a, i);
    free(a->slices);
    a->slices = slices;
    a->slice_first = 0;
    a->windows = windows;
    return 0;
}

int attribution_place(struct attribution *a, uint32_t rank, uint32_t node, const char *name)
{
    uint32_t old = attribution_node_of(a, rank);
    if (node >= MAXIMUM_NODES || rank >= MAXIMUM_RANKS)
        return -ERANGE;
    if (ARRAY_FIT_AT(a->nodes, a->node_capacity, node) != 0 ||
        ARRAY_FIT_AT(a->node_of, a->place_capacity, rank) != 0)
        return -ENOMEM;
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

uint32_t attribution_rank_node(const struct attribution *a, uint32_t rank)
{
    return attribution_node_of(a, rank);
}

const char *attribution_node_name(const struct attribution *a, uint32_t node)
{
    return node < a->node_count && a->nodes[node].name[0] != '\0' ? a->nodes[node].name : "a node";
}

int attribution_restart(struct attribution **out)
{
    const struct attribution *a = *out;
    struct attribution *fresh = NULL;
    int code = attribution_create(&fresh);
    for (uint32_t r = 0; code == 0 && r < a->placed; r++)
        if (a->node_of[r] != ATTRIBUTION_NO_NODE)
            code = attribution_place(fresh, r, a->node_of[r], a->nodes[a->node_of[r]].name);
    if (code != 0) {
        attribution_destroy(fresh);
        return code;
    }
    attribution_destroy(*out);
    *out = fresh;
    return 0;
}

/* ---- adding a window ----------------------------------------------------- */

static uint64_t attribution_clip(uint64_t ns, uint64_t length_ns)
{
    return ns < length_ns ? ns : length_ns;
}

/* @param length_ns  of the window, of all ranks of the row */
static void attribution_add_rank(uint64_t *figures, const struct wire_rank_row *row,
                                 uint64_t length_ns)
{
    uint64_t messaging = row->send_ns + row->recv_ns + row->wait_ns + row->poll_ns;
    figures[RANK_MPI] += attribution_clip(MPI_NS(row), length_ns);
    figures[RANK_MESSAGING] += attribution_clip(messaging, length_ns);
    /* Ranks that synchronise a window for one-sided calls wait for each other as in collectives. */
    figures[RANK_COLLECTIVE] += attribution_clip(row->collective_ns + row->one_sided_ns, length_ns);
    figures[RANK_IO] += attribution_clip(row->io_ns, length_ns);
    figures[RANK_CALLS] += row->calls > row->polls ? row->calls - row->polls : 0;
    figures[RANK_MESSAGES] += row->sent + row->received;
}

/* The share of samples, as a time. */
static uint64_t attribution_sampled(const struct wire_process_row *p, uint64_t samples)
{
    return p->samples == 0
               ? 0
               : (uint64_t)((double)p->length_ns * (double)samples / (double)p->samples);
}

static void attribution_add_processes(struct attribution_slice *slice,
                                      const struct attribution_window *window)
{
    for (size_t i = 0; i < window->process_count; i++) {
        const struct wire_process_row *p = &window->processes[i];
        if (p->rank >= slice->rank_count)
            continue;
        uint64_t *figures = slice->ranks[p->rank];
        const uint64_t length_ns = p->length_ns, sampled = attribution_sampled(p, p->blocked);
        const uint64_t blocked = sampled > p->block_ns ? sampled : p->block_ns;
        figures[RANK_KNOWN] += length_ns;
        figures[RANK_CPU] += attribution_clip(p->user_ns + p->system_ns, length_ns);
        figures[RANK_QUEUED] += attribution_clip(p->queued_ns, length_ns);
        figures[RANK_RUNNABLE] += attribution_sampled(p, p->runnable);
        figures[RANK_STOLEN] += attribution_clip(p->steal_ns, length_ns);
        figures[RANK_STOPPED] += attribution_sampled(p, p->stopped);
        figures[RANK_BLOCKED] += attribution_clip(blocked, length_ns);
        figures[RANK_FAULTS] += p->major_faults < UINT32_MAX ? p->major_faults : UINT32_MAX;
        figures[RANK_CLOCKED] += p->clock_khz != 0 ? length_ns : 0;
        figures[RANK_CLOCK] += (uint64_t)((double)p->clock_khz * (double)length_ns / 1e9);
    }
}

/* @return 0 or -ENOMEM */
static int attribution_add_ranks(struct attribution *a, const struct attribution_window *window)
{
    struct attribution_slice *slice = &a->next;
    const struct node_row *nodes = window->nodes;
    a->by_node = nodes != NULL;
    for (size_t i = 0; i < (a->by_node ? window->node_count : window->rank_count); i++) {
        const struct wire_rank_row *row = a->by_node ? &nodes[i].sum : &window->ranks[i];
        const uint64_t length_ns =
            (uint64_t)ranks_time_ns(a->by_node ? row->ranks : 1, window->length_ns, row->absent_ns);
        if (row->rank >= MAXIMUM_RANKS)
            continue;
        if (ARRAY_FIT_AT(slice->ranks, slice->rank_capacity, row->rank) != 0)
            return -ENOMEM;
        uint64_t *figures = slice->ranks[row->rank];
        /* Several rows of a rank add up, but it reports the length of the window once. */
        figures[RANK_LENGTH] = length_ns + (a->by_node ? figures[RANK_LENGTH] : 0);
        attribution_add_rank(figures, row, length_ns);
        if (a->by_node)
            figures[RANK_LONGEST_MPI] +=
                attribution_clip(nodes[i].longest_mpi_ns * row->ranks, length_ns);
        if (row->rank >= slice->rank_count)
            slice->rank_count = (uint32_t)row->rank + 1;
    }
    return 0;
}

static void attribution_clear_next(struct attribution *a)
{
    struct attribution_slice *slice = &a->next;
    if (slice->rank_count > 0)
        memset(slice->ranks, 0, slice->rank_count * sizeof(*slice->ranks));
    if (slice->pair_count > 0)
        memset(slice->pairs, 0, slice->pair_count * sizeof(*slice->pairs));
    slice->rank_count = slice->pair_count = 0;
    slice->disturbed = false;
}

static void attribution_add_messages(struct attribution_slice *slice,
                                     const struct message_ranks *messages)
{
    for (uint32_t r = 0; messages != NULL && r < slice->rank_count && r < messages->count; r++)
        memcpy(slice->ranks[r], messages->figures[r], sizeof(messages->figures[r]));
}

/* The oldest window of a full ring. @return NULL: the ring is not full */
static struct attribution_slice *attribution_oldest(const struct attribution *a)
{
    return a->slice_count < a->windows ? NULL : &a->slices[a->slice_first];
}

/* The oldest window leaves a full ring: it is added to the baseline unless the job was disturbed in
 * it. There is space in the baseline. */
static void attribution_retire_oldest(struct attribution *a)
{
    const struct attribution_slice *oldest = attribution_oldest(a);
    if (oldest == NULL)
        return;
    if (!oldest->disturbed && (!a->disturbed || oldest->number < a->disturbed_since))
        attribution_sum_fade(&a->base, a->keep, oldest);
    a->slice_first = (a->slice_first + 1) % a->windows;
    a->slice_count--;
}

/* Put the window that was added in the ring. */
static void attribution_push_next(struct attribution *a)
{
    struct attribution_slice *slice = &a->slices[(a->slice_first + a->slice_count++) % a->windows];
    const struct attribution_slice old = *slice;
    *slice = a->next;
    a->next = old;
    if (slice->rank_count > a->rank_count)
        a->rank_count = slice->rank_count;
}

/* All that can fail comes first, so that a window that is refused leaves nothing. */
static int attribution_add_window(struct attribution *a, const struct attribution_window *window)
{
    struct attribution_slice *slice = &a->next;
    int error = attribution_add_ranks(a, window);
    if (error == 0)
        error = ARRAY_FIT_ZERO(a->partners, a->partner_capacity, slice->rank_count);
    const struct attribution_slice *oldest = attribution_oldest(a);
    if (error == 0 && oldest != NULL)
        error = attribution_sum_reserve(&a->base, oldest->rank_count, oldest->pair_count);
    if (error == 0)
        error = attribution_add_node_pairs(a, slice, window);
    if (error)
        return error;
    slice->number = window->number;
    attribution_add_messages(slice, window->messages);
    attribution_add_processes(slice, window);
    attribution_add_traffic(a, slice, window);
    attribution_retire_oldest(a);
    attribution_push_next(a);
    return 0;
}

int attribution_window(struct attribution *a, const struct attribution_window *window)
{
    int late =
        a->slice_count > 0 && window->number <= attribution_slice_at(a, a->slice_count - 1)->number;
    int error = late ? -ERANGE : attribution_add_window(a, window);
    attribution_clear_next(a);
    return error;
}

void attribution_disturbed(struct attribution *a, uint64_t since)
{
    if (!a->disturbed || since < a->disturbed_since)
        a->disturbed_since = since;
    a->disturbed = true;
}

void attribution_calm(struct attribution *a)
{
    for (uint32_t i = 0; a->disturbed && i < a->slice_count; i++) {
        struct attribution_slice *slice = &a->slices[(a->slice_first + i) % a->windows];
        slice->disturbed |= slice->number >= a->disturbed_since;
    }
    a->disturbed = false;
}

/* ---- state ------------------------------------------------------------------------ */

static void attribution_slice_copy_state(struct state_bytes *b, struct attribution_slice *slice)
{
    STATE_ARRAY(b, slice->ranks, slice->rank_count, slice->rank_capacity);
    STATE_ARRAY(b, slice->pairs, slice->pair_count, slice->pair_capacity);
}

void attribution_copy_state(struct state_bytes *b, struct attribution **out)
{
    if (!STATE_OBJECT(b, *out))
        return;
    struct attribution *a = *out;
    STATE_ARRAY(b, a->node_of, a->place_capacity, 0);
    STATE_ARRAY(b, a->nodes, a->node_count, a->node_capacity);
    key_table_copy_state(b, &a->pairs);
    STATE_ARRAY(b, a->slices, a->windows, 0);
    if (a->slices == NULL)
        a->windows = 0;
    for (uint32_t i = 0; i < a->windows; i++)
        attribution_slice_copy_state(b, &a->slices[i]);
    attribution_slice_copy_state(b, &a->next);
    STATE_ARRAY(b, a->base.ranks, a->base.rank_capacity, 0);
    STATE_ARRAY(b, a->base.pairs, a->base.pair_capacity, 0);
    STATE_ARRAY(b, a->partners, a->partner_capacity, 0);
}

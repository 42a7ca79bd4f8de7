/* The open windows of a job: who has reported, when they are to be closed. */
#include "daemon/job/job_windows.h"

#include "daemon/analysis/tables/array.h"
#include "holter/waiting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void job_windows_init(struct job_windows *windows, uint64_t length_ns, uint64_t grace_ns)
{
    *windows =
        (struct job_windows){.length_ns = length_ns, .grace_ns = grace_ns, .recorded = UINT64_MAX};
}

void job_windows_finish(struct job_windows *windows)
{
    for (uint32_t i = 0; i < windows->count; i++)
        open_window_finish(&windows->open[i]);
    windows->count = 0;
}

void open_window_finish(struct open_window *open)
{
    window_sum_destroy(open->sum);
    latency_rows_finish(&open->latency);
    burst_rows_finish(&open->bursts);
    counter_rows_finish(&open->counters);
    free(open->calls);
    free(open->pending);
    free(open->processes);
    free(open->unplaced);
    free(open->node_pairs);
    free(open->node_rows);
    node_set_finish(&open->reported);
}

/* ---- finding and opening ------------------------------------------------- */

uint64_t job_windows_number(const struct job_windows *windows, const struct wire_window *window)
{
    return window->length_ns == windows->length_ns
               ? window->window
               : window->window * window->length_ns / windows->length_ns;
}

/* What lies far ahead comes from a node whose clock is wrong: it must not make the windows of the
 * others late. */
static int job_windows_is_too_early(const struct job_windows *windows, uint64_t number,
                                    uint64_t now_ns)
{
    return number * windows->length_ns > now_ns + 2 * windows->length_ns;
}

static int job_windows_is_late(const struct job_windows *windows, uint64_t number, uint64_t now_ns)
{
    return number < windows->next || job_windows_is_too_early(windows, number, now_ns);
}

static uint32_t job_windows_lower_bound(const struct job_windows *windows, uint64_t number)
{
    uint32_t at = 0;
    while (at < windows->count && windows->open[at].number < number)
        at++;
    return at;
}

struct open_window *job_windows_find(struct job_windows *windows, uint64_t number, uint64_t now_ns)
{
    int late = job_windows_is_late(windows, number, now_ns);
    uint32_t at = job_windows_lower_bound(windows, number);
    for (; at < windows->count && windows->open[at].number == number; at++) {
        /* A window that was opened before its time stays what it was opened as. */
        if (windows->open[at].late == late || number >= windows->next ||
            job_windows_is_too_early(windows, number, now_ns))
            return &windows->open[at];
    }
    return NULL;
}

struct open_window *job_windows_open(struct job_windows *windows, struct run_sum *run,
                                     uint64_t number, uint64_t now_ns)
{
    uint64_t length = windows->length_ns, end = (number + 1) * length;
    uint32_t at = job_windows_lower_bound(windows, number);
    struct open_window window = {.number = number,
                                 .late = job_windows_is_late(windows, number, now_ns)};
    if (window_sum_create(&window.sum, run) != 0)
        return NULL;
    /* Corrections are collected for the length of a window: many late nodes are one correction. */
    uint64_t from = window.late             ? now_ns + length
                    : end < now_ns          ? now_ns
                    : end < now_ns + length ? end
                                            : now_ns + length;
    window.due_ns = from + windows->grace_ns;
    memmove(&windows->open[at + 1], &windows->open[at],
            (windows->count - at) * sizeof(windows->open[0]));
    windows->open[at] = window;
    windows->count++;
    return &windows->open[at];
}

struct open_window job_windows_remove(struct job_windows *windows, uint32_t at)
{
    struct open_window window = windows->open[at];
    windows->count--;
    memmove(&windows->open[at], &windows->open[at + 1],
            (windows->count - at) * sizeof(windows->open[0]));
    return window;
}

/* ---- reports ------------------------------------------------------------- */

int open_window_add_node(struct open_window *open, uint32_t node)
{
    int added = node_set_add(&open->reported, node);
    open->nodes += added == 1;
    return added < 0 ? added : 0;
}

int open_window_add_calls(struct open_window *open, const struct wire_window *window)
{
    if (ARRAY_FIT(open->calls, open->call_capacity, open->call_count + window->calls_count) != 0 ||
        ARRAY_FIT(open->pending, open->pending_capacity,
                  open->pending_count + window->pending_count) != 0 ||
        ARRAY_FIT(open->processes, open->process_capacity,
                  open->process_count + window->processes_count) != 0)
        return -ENOMEM;
    for (uint64_t i = 0; i < window->processes_count; i++)
        open->processes[open->process_count++] = window->processes[i];
    for (uint64_t i = 0; i < window->calls_count; i++) {
        const struct wire_call_row *c = &window->calls[i];
        if (hang_counts((uint32_t)c->call))
            open->calls[open->call_count++] = (struct hang_calls){
                .rank = (uint32_t)c->rank,
                .call = (uint32_t)c->call,
                .comm = c->comm < window->comms_count ? window->comms[c->comm].id : 0,
                .calls = c->calls,
                .longest_ns = c->longest_ns,
                .time_ns = c->time_ns,
            };
    }
    for (uint64_t i = 0; i < window->pending_count; i++)
        open->pending[open->pending_count++] = window->pending[i];
    return 0;
}

int open_window_add_unplaced(struct open_window *open, const struct wire_window *window,
                             const struct job_places *places, uint64_t world)
{
    if (places->keys.count == world) /* all are placed: no need to look each of them up */
        return 0;
    for (uint64_t i = 0; i < window->pairs_count; i++) {
        const struct wire_pair_row *p = &window->pairs[i];
        if (p->destination < 0 ||
            job_places_find_node(places, (uint64_t)p->destination) != KEY_NONE)
            continue;
        if (ARRAY_FIT(open->unplaced, open->unplaced_capacity, open->unplaced_count + 1) != 0)
            return -ENOMEM;
        open->unplaced[open->unplaced_count++] =
            (struct unplaced){(uint64_t)p->destination, p->messages};
    }
    return 0;
}

struct wire_pair_row *open_window_list_node_pairs(struct open_window *open,
                                                  const struct wire_window *window,
                                                  const struct job_network *network)
{
    const uint64_t count = window->pairs_count;
    if (ARRAY_FIT(open->node_pairs, open->node_pair_capacity, open->node_pair_count + count + 1) !=
        0)
        return NULL;
    struct wire_pair_row *rows = open->node_pairs + open->node_pair_count;
    for (uint64_t i = 0; i < count; i++) {
        const struct wire_pair_row *p = &window->pairs[i];
        rows[i] = (struct wire_pair_row){
            .source = i > 0 && p->source == p[-1].source
                          ? rows[i - 1].source
                          : job_network_node_rank(network, p->source),
            .destination = p->destination < 0
                               ? p->destination
                               : (int64_t)job_network_node_rank(network, (uint64_t)p->destination),
            .messages = p->messages,
            .bytes = p->bytes,
        };
    }
    return rows;
}

int open_window_add_node_row(struct open_window *open, const struct wire_window *window,
                             const struct sum_rows *rows, uint32_t node)
{
    if (ARRAY_FIT(open->node_rows, open->node_row_capacity, open->node_row_count + 1) != 0)
        return -ENOMEM;
    struct node_row row = {.sum.rank = node};
    for (size_t i = 0; i < rows->rank_count; i++) {
        row.sum.ranks += rows->ranks[i].ranks;
#define X(name) row.sum.name += rows->ranks[i].name;
        RANK_SUMS(X)
#undef X
    }
    for (uint64_t i = 0; i < window->ranks_count; i++) {
        const uint64_t mpi_ns = MPI_NS(&window->ranks[i]);
        row.longest_mpi_ns = mpi_ns > row.longest_mpi_ns ? mpi_ns : row.longest_mpi_ns;
    }
    open->node_rows[open->node_row_count++] = row;
    return 0;
}

/* ---- who is expected ----------------------------------------------------- */

static int open_window_is_after_end(const struct open_window *open, const struct job_node *node)
{
    return node->final && node->last_window < open->number;
}

uint64_t open_window_count_missing(const struct open_window *open, const struct job_nodes *nodes)
{
    uint64_t missing = 0;
    for (uint32_t i = 0; i < nodes->count; i++)
        missing += nodes->list[i]->first_window <= open->number &&
                   !open_window_is_after_end(open, nodes->list[i]) &&
                   !node_set_contains(&open->reported, i);
    return missing;
}

int open_window_is_complete(const struct open_window *open, const struct job_nodes *nodes)
{
    if (open->nodes < nodes->active)
        return 0;
    for (uint32_t i = 0; i < nodes->count; i++) {
        const struct job_node *node = nodes->list[i];
        int begins_later = node->first_window != UINT64_MAX && node->first_window > open->number;
        if (!node->lost_contact && !begins_later && !open_window_is_after_end(open, node) &&
            !node_set_contains(&open->reported, i))
            return 0;
    }
    return 1;
}

/* ---- state --------------------------------------------------------------- */

static void open_window_copy_state(struct state_bytes *b, struct open_window *open,
                                   struct run_sum *run)
{
    node_set_copy_state(b, &open->reported);
    window_sum_copy_state(b, &open->sum, run);
    latency_rows_copy_state(b, &open->latency);
    burst_rows_copy_state(b, &open->bursts);
    counter_rows_copy_state(b, &open->counters);
    STATE_ARRAY(b, open->calls, open->call_count, open->call_capacity);
    STATE_ARRAY(b, open->pending, open->pending_count, open->pending_capacity);
    STATE_ARRAY(b, open->processes, open->process_count, open->process_capacity);
    STATE_ARRAY(b, open->unplaced, open->unplaced_count, open->unplaced_capacity);
    STATE_ARRAY(b, open->node_pairs, open->node_pair_count, open->node_pair_capacity);
    STATE_ARRAY(b, open->node_rows, open->node_row_count, open->node_row_capacity);
}

void job_windows_copy_state(struct state_bytes *b, struct job_windows *windows, struct run_sum *run)
{
    STATE_VALUE(b, *windows);
    for (uint32_t i = 0; i < windows->count; i++)
        open_window_copy_state(b, &windows->open[i], run);
}

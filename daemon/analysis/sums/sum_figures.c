/* The figures of a window or of the run: their memory, and how those of ranks, pairs and calls are
 * added. */
#include "daemon/analysis/sums/sums.h"
#include "daemon/analysis/tables/array.h"
#include "holter/order.h"

#include <errno.h>
#include <stdlib.h>

/* ---- memory -------------------------------------------------------------- */

int figures_reserve(struct figures *f, const struct run_sum *run)
{
    return ARRAY_EXTEND_ZERO(f->ranks, f->rank_capacity, run->ranks.capacity) != 0 ||
                   ARRAY_EXTEND_ZERO(f->pairs, f->pair_capacity, run->pairs.capacity) != 0 ||
                   ARRAY_EXTEND_ZERO(f->calls, f->call_capacity, run->calls.capacity) != 0 ||
                   ARRAY_EXTEND_ZERO(f->callers, f->caller_capacity, run->callers.capacity) != 0
               ? -ENOMEM
               : 0;
}

void figures_finish(struct figures *figures)
{
    free(figures->ranks);
    free(figures->pairs);
    free(figures->calls);
    free(figures->callers);
    *figures = (struct figures){0};
}

/* ---- ranks --------------------------------------------------------------- */

static void figures_copy_call_in_progress(struct wire_rank_row *into,
                                          const struct wire_rank_row *from)
{
    into->in_call = from->in_call;
    into->in_call_ns = from->in_call_ns;
    into->in_call_comm = from->in_call_comm;
    into->in_call_peer = from->in_call_peer;
    into->process_state = from->process_state;
}

/* Of two reports about a rank's call in progress the larger one wins, whatever their order. */
static void figures_merge_call_in_progress(struct wire_rank_row *into,
                                           const struct wire_rank_row *from)
{
    int larger = from->in_call_ns != into->in_call_ns ? from->in_call_ns > into->in_call_ns
                 : from->in_call != into->in_call     ? from->in_call > into->in_call
                 : from->in_call_comm != into->in_call_comm
                     ? from->in_call_comm > into->in_call_comm
                     : from->in_call_peer > into->in_call_peer;
    uint64_t state = order_maximum(from->process_state, into->process_state);
    if (larger)
        figures_copy_call_in_progress(into, from);
    into->process_state = state;
}

/* Of several windows the rank that was awaited for most of the time, if there is one: Boyer and
 * Moore's majority vote, weighted by the times. */
static void figures_vote_awaited(struct wire_rank_row *into, const struct wire_rank_row *from)
{
    if (into->awaited == from->awaited) {
        into->awaited_ns += from->awaited_ns;
    } else if (into->awaited_ns >= from->awaited_ns) {
        into->awaited_ns -= from->awaited_ns;
    } else {
        into->awaited_ns = from->awaited_ns - into->awaited_ns;
        into->awaited = from->awaited;
    }
}

/* Of several reports about one window the longest wait. */
static void figures_merge_awaited(struct wire_rank_row *into, const struct wire_rank_row *from)
{
    if (from->awaited_ns > into->awaited_ns ||
        (from->awaited_ns == into->awaited_ns && from->awaited > into->awaited)) {
        into->awaited = from->awaited;
        into->awaited_ns = from->awaited_ns;
    }
}

static void figures_add_rank_sums(struct wire_rank_row *into, const struct wire_rank_row *from)
{
#define X(name) into->name += from->name;
    RANK_SUMS(X)
#undef X
    into->threads = order_maximum(into->threads, from->threads);
}

void figures_add_rank(struct figures *figures, uint32_t number, const struct wire_rank_row *row)
{
    struct rank_figures *rank = &figures->ranks[number];
    if (!rank->present) {
        rank->present = true;
        rank->row = *row;
        return;
    }
    figures_add_rank_sums(&rank->row, row);
    rank->row.ranks += row->ranks;
    figures_merge_awaited(&rank->row, row);
    figures_merge_call_in_progress(&rank->row, row);
}

/* The call in progress of a run is that of the newest window. */
static void figures_add_ranks(struct figures *total, const struct figures *figures, uint64_t window)
{
    for (uint32_t i = 0; i < figures->rank_capacity; i++) {
        if (!figures->ranks[i].present)
            continue;
        const struct wire_rank_row *row = &figures->ranks[i].row;
        struct rank_figures *rank = &total->ranks[i];
        struct wire_rank_row *sum = &rank->row;
        figures_add_rank_sums(sum, row);
        sum->ranks = order_maximum(sum->ranks, row->ranks);
        figures_vote_awaited(sum, row);
        const bool corrected = rank->present && window == rank->newest;
        rank->windows += row->ranks != 0 ? row->ranks : !corrected;
        if (corrected) {
            figures_merge_call_in_progress(sum, row);
        } else if (!rank->present || window > rank->newest) {
            sum->rank = row->rank;
            figures_copy_call_in_progress(sum, row);
            rank->newest = window;
        }
        rank->present = true;
    }
}

/* ---- pairs and calls ----------------------------------------------------- */

static void figures_add_pairs(struct figures *total, const struct figures *figures)
{
    for (uint32_t i = 0; i < figures->pair_capacity; i++) {
        total->pairs[i].messages += figures->pairs[i].messages;
        total->pairs[i].bytes += figures->pairs[i].bytes;
    }
}

static void figures_add_calls(struct run_sum *run, const struct figures *figures)
{
    struct figures *total = &run->total;
    for (uint32_t i = 0; i < figures->call_capacity; i++) {
        struct call_figures *sum = &total->calls[i];
        const struct call_figures *call = &figures->calls[i];
        sum->calls += call->calls;
        sum->bytes += call->bytes;
        sum->bytes_in += call->bytes_in;
        sum->time_ns += call->time_ns;
        sum->polls += call->polls;
        sum->longest_ns = order_maximum(sum->longest_ns, call->longest_ns);
    }
    for (uint32_t caller = 0; caller < run->callers.count && caller < figures->caller_capacity;
         caller++) {
        const struct caller_figures *from = &figures->callers[caller];
        struct caller_figures *sum = &total->callers[caller];
        if (!from->present)
            continue;
        total->calls[run->call_of[caller]].ranks += !sum->present;
        sum->present = true;
        sum->calls += from->calls;
        sum->bytes += from->bytes;
        sum->bytes_in += from->bytes_in;
        sum->time_ns += from->time_ns;
        sum->polls += from->polls;
    }
}

void figures_add_window(struct run_sum *run, const struct figures *figures, uint64_t window)
{
    figures_add_ranks(&run->total, figures, window);
    figures_add_pairs(&run->total, figures);
    figures_add_calls(run, figures);
}

static uint32_t figures_count(uint32_t capacity, const struct key_table *table)
{
    return capacity < table->count ? capacity : table->count;
}

void figures_copy_state(struct state_bytes *b, struct figures *f, const struct run_sum *run)
{
    STATE_ARRAY(b, f->ranks, figures_count(f->rank_capacity, &run->ranks), f->rank_capacity);
    STATE_ARRAY(b, f->pairs, figures_count(f->pair_capacity, &run->pairs), f->pair_capacity);
    STATE_ARRAY(b, f->calls, figures_count(f->call_capacity, &run->calls), f->call_capacity);
    STATE_ARRAY(b, f->callers, figures_count(f->caller_capacity, &run->callers),
                f->caller_capacity);
}

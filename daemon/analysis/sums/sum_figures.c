/* The figures of a window or of the run: their memory, and how those of ranks, pairs and calls are
 * added. */
#include "daemon/analysis/sums/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory -------------------------------------------------------------- */

int figures_grow(void **array, size_t element, uint32_t capacity, uint32_t need)
{
    /* calloc() takes pages from the kernel that use no memory until they are written. */
    void *grown = *array == NULL ? calloc(need, element) : realloc(*array, element * need);
    if (grown == NULL)
        return -ENOMEM;
    if (*array == NULL)
        capacity = need;
    *array = grown;
    memset((char *)grown + element * capacity, 0, element * (need - capacity));
    return 0;
}

/* Half as many again at least, in whole words of the arrays of bits. */
static uint32_t figures_next_capacity(uint32_t capacity, uint32_t need)
{
    uint64_t grown = capacity + (uint64_t)capacity / 2;
    grown = grown < need ? need : grown;
    grown = (grown + 63) / 64 * 64;
    return grown > UINT32_MAX - 63 ? UINT32_MAX - 63 : (uint32_t)grown;
}

static int figures_reserve_ranks(struct figures *figures, uint32_t need)
{
    const uint32_t old = figures->rank_capacity;
    if (need <= old)
        return 0;
    const uint32_t capacity = figures_next_capacity(old, need);
    if (figures_grow((void **)&figures->ranks, sizeof(*figures->ranks), old, capacity) != 0 ||
        figures_grow((void **)&figures->rank_newest, sizeof(uint64_t), old, capacity) != 0 ||
        figures_grow((void **)&figures->rank_present, sizeof(uint64_t), old / 64, capacity / 64) !=
            0)
        return -ENOMEM;
    figures->rank_capacity = capacity;
    return 0;
}

static int figures_reserve_callers(struct figures *figures, uint32_t need)
{
    const uint32_t old = figures->caller_capacity;
    if (need <= old)
        return 0;
    const uint32_t capacity = figures_next_capacity(old, need);
    if (figures_grow((void **)&figures->callers, sizeof(uint64_t), old / 64, capacity / 64) != 0)
        return -ENOMEM;
    figures->caller_capacity = capacity;
    return 0;
}

int figures_reserve(struct figures *figures, const struct run_sum *run)
{
    const uint32_t pairs = run->pairs.capacity, calls = run->calls.capacity;
    if (figures_reserve_ranks(figures, run->ranks.capacity) != 0 ||
        figures_reserve_callers(figures, run->callers.capacity) != 0)
        return -ENOMEM;
    if (pairs > figures->pair_capacity) {
        if (figures_grow((void **)&figures->pairs, sizeof(*figures->pairs), figures->pair_capacity,
                         pairs) != 0)
            return -ENOMEM;
        figures->pair_capacity = pairs;
    }
    if (calls > figures->call_capacity) {
        if (figures_grow((void **)&figures->calls, sizeof(*figures->calls), figures->call_capacity,
                         calls) != 0)
            return -ENOMEM;
        figures->call_capacity = calls;
    }
    return 0;
}

void figures_finish(struct figures *figures)
{
    free(figures->ranks);
    free(figures->rank_newest);
    free(figures->rank_present);
    free(figures->pairs);
    free(figures->calls);
    free(figures->callers);
    *figures = (struct figures){0};
}

/* ---- ranks --------------------------------------------------------------- */

static void figures_copy_call_in_progress(struct rank_row *into, const struct rank_row *from)
{
    into->in_call = from->in_call;
    into->in_call_ns = from->in_call_ns;
    into->in_call_comm = from->in_call_comm;
    into->in_call_peer = from->in_call_peer;
    into->process_state = from->process_state;
}

/* Of two reports about a rank's call in progress the larger one wins, whatever their order. */
static void figures_merge_call_in_progress(struct rank_row *into, const struct rank_row *from)
{
    int larger = from->in_call_ns != into->in_call_ns ? from->in_call_ns > into->in_call_ns
                 : from->in_call != into->in_call     ? from->in_call > into->in_call
                 : from->in_call_comm != into->in_call_comm
                     ? from->in_call_comm > into->in_call_comm
                     : from->in_call_peer > into->in_call_peer;
    uint32_t state =
        from->process_state > into->process_state ? from->process_state : into->process_state;
    if (larger)
        figures_copy_call_in_progress(into, from);
    into->process_state = state;
}

/* Of several windows the rank that was awaited for most of the time, if there is one: Boyer and
 * Moore's majority vote, weighted by the times. */
static void figures_vote_awaited(struct rank_row *into, const struct rank_row *from)
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
static void figures_merge_awaited(struct rank_row *into, const struct rank_row *from)
{
    if (from->awaited_ns > into->awaited_ns ||
        (from->awaited_ns == into->awaited_ns && from->awaited > into->awaited)) {
        into->awaited = from->awaited;
        into->awaited_ns = from->awaited_ns;
    }
}

static void figures_add_rank_sums(struct rank_row *into, const struct rank_row *from)
{
#define X(name) into->name += from->name;
    RANK_SUMS(X)
#undef X
    into->threads = sums_maximum(into->threads, from->threads);
}

void figures_add_rank(struct figures *figures, uint32_t number, const struct rank_row *row)
{
    struct rank_row *sum = &figures->ranks[number];
    if (!figures_get_bit(figures->rank_present, number)) {
        figures_set_bit(figures->rank_present, number);
        *sum = *row;
        return;
    }
    figures_add_rank_sums(sum, row);
    figures_merge_awaited(sum, row);
    figures_merge_call_in_progress(sum, row);
}

/* The call in progress of a run is that of the newest window. */
static void figures_add_ranks(struct figures *total, const struct figures *figures, uint64_t window)
{
    for (uint32_t i = 0; i < figures->rank_capacity; i++) {
        if (!figures_get_bit(figures->rank_present, i))
            continue;
        const struct rank_row *row = &figures->ranks[i];
        struct rank_row *sum = &total->ranks[i];
        const int first = !figures_get_bit(total->rank_present, i);
        figures_add_rank_sums(sum, row);
        figures_vote_awaited(sum, row);
        if (!first && window == total->rank_newest[i]) {
            figures_merge_call_in_progress(sum, row);
        } else if (first || window > total->rank_newest[i]) {
            sum->rank = row->rank;
            figures_copy_call_in_progress(sum, row);
            total->rank_newest[i] = window;
        }
        figures_set_bit(total->rank_present, i);
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
        sum->longest_ns = sums_maximum(sum->longest_ns, call->longest_ns);
    }
    for (uint32_t caller = 0; caller < run->callers.count && caller < figures->caller_capacity;
         caller++) {
        if (!figures_get_bit(figures->callers, caller) || figures_get_bit(total->callers, caller))
            continue;
        figures_set_bit(total->callers, caller);
        total->calls[run->call_of[caller]].ranks++;
    }
}

void figures_add_window(struct run_sum *run, const struct figures *figures, uint64_t window)
{
    figures_add_ranks(&run->total, figures, window);
    figures_add_pairs(&run->total, figures);
    figures_add_calls(run, figures);
}

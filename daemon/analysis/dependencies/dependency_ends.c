/* Ends by rank, in the order of each rank. */
#include "daemon/analysis/dependencies/dependency_state.h"

#include "holter/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void dependency_ends_finish(struct dependency_ends *e)
{
    free(e->ends);
    free(e->rank_of);
    free(e->ranks);
    free(e->match);
    free(e->kind);
    free(e->collectives);
    free(e->members);
    free(e->waits);
    free(e->collective_of);
    *e = (struct dependency_ends){0};
}

struct dependency_sort {
    int64_t order_ns;
    uint32_t rank, thread, place;
};

ORDER_FUNCTION(dependency_ends_compare, struct dependency_sort,
               8 * ORDER(a->rank, b->rank) + 4 * ORDER(a->order_ns, b->order_ns) +
                   2 * ORDER(a->thread, b->thread) + ORDER(a->place, b->place))

/* Threads of a rank have one clock, so that their ends are ordered by time; those of one thread
 * keep the order of its records. */
static int dependency_ends_sort(struct dependency_ends *e, const struct dependency_calls *calls)
{
    struct dependency_sort *rows = malloc((calls->count + 1) * sizeof *rows);
    uint32_t count = 0;
    if (rows == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < calls->count; i++) {
        const struct dependency_end *end = &calls->ends[i];
        if (i >= calls->threads[end->thread].first_end)
            rows[count++] =
                (struct dependency_sort){end->order_ns, end->rank, end->thread, (uint32_t)i};
    }
    qsort(rows, count, sizeof *rows, dependency_ends_compare);
    for (uint32_t i = 0; i < count; i++)
        e->ends[i] = calls->ends[rows[i].place];
    e->count = count;
    free(rows);
    return 0;
}

ORDER_FUNCTION(dependency_ends_compare_ranks, struct dependency_rank, ORDER(a->rank, b->rank))

/* One row for each rank from rows for each thread. */
static void dependency_ends_unite(struct dependency_ends *e, uint32_t threads)
{
    qsort(e->ranks, threads, sizeof *e->ranks, dependency_ends_compare_ranks);
    for (uint32_t i = 0; i < threads; i++) {
        const struct dependency_rank *t = &e->ranks[i];
        struct dependency_rank *r = e->rank_count == 0 ? NULL : &e->ranks[e->rank_count - 1];
        if (r == NULL || r->rank != t->rank) {
            e->ranks[e->rank_count++] = *t;
            continue;
        }
        r->first_ns = t->first_ns > r->first_ns ? t->first_ns : r->first_ns;
        r->read_ns = t->read_ns < r->read_ns ? t->read_ns : r->read_ns;
        r->complete &= t->complete;
    }
}

int dependency_ends_init(struct dependency_ends *e, const struct dependency_calls *calls)
{
    *e = (struct dependency_ends){.calls = calls};
    e->ends = malloc((calls->count + 1) * sizeof *e->ends);
    e->rank_of = malloc((calls->count + 1) * sizeof *e->rank_of);
    e->match = malloc((calls->count + 1) * sizeof *e->match);
    e->kind = calloc(calls->count + 1, sizeof *e->kind);
    e->ranks = calloc(calls->thread_count + 1, sizeof *e->ranks);
    if (!e->ends || !e->rank_of || !e->match || !e->kind || !e->ranks ||
        dependency_ends_sort(e, calls) != 0)
        return -ENOMEM;
    for (size_t i = 0; i < calls->thread_count; i++) {
        const struct dependency_thread *t = &calls->threads[i];
        /* A thread may have records of which none was captured. */
        int complete = t->begun ? t->complete : t->records == 0;
        e->ranks[i] = (struct dependency_rank){.rank = (uint32_t)t->rank,
                                               .host = t->host,
                                               .first_ns = t->begun   ? t->first_ns
                                                           : complete ? INT64_MIN / 4
                                                                      : t->read_ns,
                                               .read_ns = t->read_ns,
                                               .complete = complete};
    }
    dependency_ends_unite(e, (uint32_t)calls->thread_count);
    memset(e->match, 0xff, (calls->count + 1) * sizeof *e->match);
    uint32_t rank = 0;
    for (uint32_t i = 0; i < e->count; i++) {
        while (e->ranks[rank].rank != e->ends[i].rank)
            rank++;
        e->ranks[rank].first = e->ranks[rank].count++ == 0 ? i : e->ranks[rank].first;
        e->rank_of[i] = rank;
    }
    return 0;
}

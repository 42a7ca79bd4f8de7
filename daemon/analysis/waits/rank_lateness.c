/* Who came late to collectives. */
#include "daemon/analysis/waits/rank_lateness.h"

#include "holter/call.h"

#include <errno.h>
#include <stdlib.h>

#define MAXIMUM_CALLS (UINT64_C(1) << 47) /* of one kind in a window */

/* Ranks that made a collective on a communicator equally often. */
struct late_group {
    uint64_t least_ns, most_ns; /* time in the calls */
};

void late_collectives_finish(struct late_collectives *collectives)
{
    key_table_finish(&collectives->callers);
    key_table_finish(&collectives->keys);
    free(collectives->sums);
    free(collectives->groups);
    *collectives = (struct late_collectives){.capacity = 0};
}

static struct key late_collectives_key(const struct hang_calls *c)
{
    return (struct key){.hi = c->comm, .lo = (uint64_t)c->call << 48 | c->calls};
}

static int late_collectives_counts(const struct hang_calls *c, uint32_t ranks)
{
    return c->rank < ranks && c->comm != 0 && c->calls > 0 && c->calls < MAXIMUM_CALLS &&
           call_is_blocking_collective(c->call) && call_flow_of(c->call) == CALL_FLOW_ALL;
}

/* Add up the calls of one kind that a rank makes on a communicator: the ranks of a collective need
 * not be in the same code region. @return 0 or -ENOMEM */
static int late_collectives_sum(struct late_collectives *l, const struct hang_calls *calls,
                                size_t call_count, uint32_t ranks)
{
    key_table_clear(&l->callers);
    for (size_t i = 0; i < call_count; i++) {
        const struct hang_calls *c = &calls[i];
        if (!late_collectives_counts(c, ranks))
            continue;
        const struct key key = {.hi = c->comm, .lo = (uint64_t)c->call << 32 | c->rank};
        const uint32_t known = l->callers.count, at = KEY_TABLE_EXTEND(&l->callers, key, UINT32_MAX,
                                                                       l->sums, l->sum_capacity);
        if (at == KEY_NONE)
            return -ENOMEM;
        struct hang_calls *sum = &l->sums[at];
        if (l->callers.count > known)
            *sum = (struct hang_calls){.rank = c->rank, .call = c->call, .comm = c->comm};
        sum->calls += c->calls;
        sum->time_ns += c->time_ns;
    }
    return 0;
}

static int late_collectives_compare(struct late_collectives *l, const struct hang_calls *c)
{
    uint32_t known = l->keys.count;
    uint32_t at =
        KEY_TABLE_EXTEND(&l->keys, late_collectives_key(c), UINT32_MAX, l->groups, l->capacity);
    if (at == KEY_NONE)
        return -ENOMEM;
    struct late_group *g = &l->groups[at];
    if (l->keys.count > known)
        *g = (struct late_group){c->time_ns, c->time_ns};
    g->least_ns = c->time_ns < g->least_ns ? c->time_ns : g->least_ns;
    g->most_ns = c->time_ns > g->most_ns ? c->time_ns : g->most_ns;
    return 0;
}

int rank_lateness_add_collectives(struct late_collectives *l, const struct hang_calls *calls,
                                  size_t call_count, struct rank_lateness *rows, uint32_t count)
{
    int code = late_collectives_sum(l, calls, call_count, count);
    key_table_clear(&l->keys);
    for (uint32_t i = 0; code == 0 && i < l->callers.count; i++)
        if (l->sums[i].calls < MAXIMUM_CALLS)
            code = late_collectives_compare(l, &l->sums[i]);
    for (uint32_t i = 0; code == 0 && i < l->callers.count; i++) {
        const struct hang_calls *c = &l->sums[i];
        if (c->calls >= MAXIMUM_CALLS)
            continue;
        const struct late_group *g = &l->groups[key_table_find(&l->keys, late_collectives_key(c))];
        struct rank_lateness *row = &rows[c->rank];
        uint64_t late = g->most_ns - c->time_ns, waited = c->time_ns - g->least_ns;
        row->late_ns = late > row->late_ns ? late : row->late_ns;
        row->waited_ns = waited > row->waited_ns ? waited : row->waited_ns;
    }
    return code;
}

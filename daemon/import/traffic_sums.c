/* Sums by pair, and the lists of processes and edges that result from it. */
#include "daemon/import/traffic_sums.h"

#include "daemon/analysis/tables/saturate.h"
#include "holter/error.h"
#include "holter/order.h"

#include <errno.h>
#include <stdlib.h>

int pair_sums_add(struct pair_sums *s, const struct pair_sum *pair)
{
    uint32_t known = s->keys.count;
    uint32_t at = KEY_TABLE_EXTEND(&s->keys, ((struct key){pair->from, pair->to}), UINT32_MAX,
                                   s->list, s->capacity);
    if (at == KEY_NONE)
        return -ENOMEM;
    if (at == known) {
        s->list[at] = *pair;
        return at < REMAP_MAXIMUM_EDGES ? 0 : -HOLTER_ELIMIT;
    }
    s->list[at].bytes = saturated_sum(s->list[at].bytes, pair->bytes);
    s->list[at].messages = saturated_sum(s->list[at].messages, pair->messages);
    return 0;
}

void pair_sums_finish(struct pair_sums *s)
{
    key_table_finish(&s->keys);
    free(s->list);
    *s = (struct pair_sums){0};
}

/* ---- result -------------------------------------------------------------- */

ORDER_FUNCTION(traffic_sums_compare_by_pair, struct remap_edge,
               2 * ORDER(a->from, b->from) + ORDER(a->to, b->to))

/* Ids that occur in pairs, each once, ascending. */
static uint64_t *traffic_sums_distinct(const struct pair_sums *s, size_t *count)
{
    uint64_t *ids = calloc(2 * (size_t)s->keys.count + 1, sizeof(*ids));
    size_t used = 0, kept = 0;
    if (ids == NULL)
        return NULL;
    for (uint32_t i = 0; i < s->keys.count; i++) {
        ids[used++] = s->list[i].from;
        ids[used++] = s->list[i].to;
    }
    qsort(ids, used, sizeof(*ids), order_u64);
    for (size_t i = 0; i < used; i++) {
        if (i == 0 || ids[i] != ids[i - 1])
            ids[kept++] = ids[i];
    }
    *count = kept;
    return ids;
}

/* All ranks up to the highest, also those that send nothing. */
static uint64_t *traffic_sums_all_ranks(size_t count)
{
    uint64_t *ids = calloc(count + 1, sizeof(*ids));
    for (size_t i = 0; ids != NULL && i < count; i++)
        ids[i] = i;
    return ids;
}

static uint32_t traffic_sums_position(const uint64_t *ids, size_t count, uint64_t id)
{
    const uint64_t *found = bsearch(&id, ids, count, sizeof(*ids), order_u64);
    return found == NULL ? UINT32_MAX : (uint32_t)(found - ids);
}

/* @return 0 or -ENOMEM */
static int traffic_sums_find_edges(const struct pair_sums *s, struct pairs *out)
{
    out->edges = calloc(s->keys.count + (size_t)1, sizeof(*out->edges));
    if (out->edges == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < s->keys.count; i++) {
        const struct pair_sum *sum = &s->list[i];
        struct remap_edge edge = {traffic_sums_position(out->ids, out->processes, sum->from),
                                  traffic_sums_position(out->ids, out->processes, sum->to),
                                  sum->bytes, sum->messages};
        if (edge.from != UINT32_MAX && edge.to != UINT32_MAX)
            out->edges[out->edge_count++] = edge;
    }
    qsort(out->edges, out->edge_count, sizeof(*out->edges), traffic_sums_compare_by_pair);
    return 0;
}

int pair_sums_result(const struct pair_sums *s, uint32_t world, struct pairs *out)
{
    size_t count = 0;
    uint64_t *ids = traffic_sums_distinct(s, &count);
    uint64_t ranks = world != UINT32_MAX ? world
                     : ids == NULL || count == 0 || ids[count - 1] >= 2 * (uint64_t)count
                         ? 0
                         : ids[count - 1] + 1;
    if (ids != NULL && ranks > 0 && ranks <= REMAP_MOST_PROCESSES) {
        free(ids);
        count = ranks;
        ids = traffic_sums_all_ranks(count);
    }
    if (ids == NULL)
        return -ENOMEM;
    if (ranks > REMAP_MOST_PROCESSES || count > REMAP_MOST_PROCESSES) {
        free(ids);
        return -HOLTER_ELIMIT;
    }
    out->processes = (uint32_t)count;
    out->ids = ids;
    return traffic_sums_find_edges(s, out);
}

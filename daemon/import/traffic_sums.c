/* Hash table of sums by pair, and the lists of processes and edges that result from it. */
#include "daemon/import/traffic_sums.h"

#include "daemon/analysis/tables/saturate.h"
#include "holter/error.h"
#include "holter/order.h"

#include <errno.h>
#include <stdlib.h>

/* The hash needs no protection against collisions on purpose: ids come from the user's own file. */
static size_t traffic_sums_slot_of(const struct pair_sums *s, uint64_t from, uint64_t to)
{
    uint64_t key = (from << 32 | to) * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(key ^ key >> 29) & (s->room - 1);
    while (s->slots[at].messages != 0 && (s->slots[at].from != from || s->slots[at].to != to))
        at = (at + 1) & (s->room - 1);
    return at;
}

static int traffic_sums_grow(struct pair_sums *s)
{
    struct pair_sums larger = {.room = s->room == 0 ? 1024 : 2 * s->room, .count = s->count};
    if (larger.room / 2 > REMAP_MAXIMUM_EDGES)
        return -HOLTER_ELIMIT;
    larger.slots = calloc(larger.room, sizeof(*larger.slots));
    if (larger.slots == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < s->room; i++) {
        if (s->slots[i].messages != 0)
            larger.slots[traffic_sums_slot_of(&larger, s->slots[i].from, s->slots[i].to)] =
                s->slots[i];
    }
    free(s->slots);
    *s = larger;
    return 0;
}

int pair_sums_add(struct pair_sums *s, const struct pair_sum *pair)
{
    int code = 2 * (s->count + 1) > s->room ? traffic_sums_grow(s) : 0;
    if (code != 0)
        return code;
    struct pair_sum *slot = &s->slots[traffic_sums_slot_of(s, pair->from, pair->to)];
    if (slot->messages == 0) {
        *slot = *pair;
        s->count++;
        return 0;
    }
    slot->bytes = saturated_sum(slot->bytes, pair->bytes);
    slot->messages = saturated_sum(slot->messages, pair->messages);
    return 0;
}

void pair_sums_finish(struct pair_sums *s)
{
    free(s->slots);
    *s = (struct pair_sums){0};
}

/* ---- result -------------------------------------------------------------- */

static int traffic_sums_compare_by_id(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static int traffic_sums_compare_by_pair(const void *left, const void *right)
{
    const struct remap_edge *a = left, *b = right;
    return 2 * ORDER(a->from, b->from) + ORDER(a->to, b->to);
}

/* Ids that occur in pairs, each once, ascending. */
static uint64_t *traffic_sums_distinct(const struct pair_sums *s, size_t *count)
{
    uint64_t *ids = calloc(2 * s->count + 1, sizeof(*ids));
    size_t used = 0, kept = 0;
    if (ids == NULL)
        return NULL;
    for (size_t i = 0; i < s->room; i++) {
        if (s->slots[i].messages != 0) {
            ids[used++] = s->slots[i].from;
            ids[used++] = s->slots[i].to;
        }
    }
    qsort(ids, used, sizeof(*ids), traffic_sums_compare_by_id);
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
    const uint64_t *found = bsearch(&id, ids, count, sizeof(*ids), traffic_sums_compare_by_id);
    return found == NULL ? UINT32_MAX : (uint32_t)(found - ids);
}

/* @param edges  set to the edges between processes, or (selves) of processes to themselves; for
 * free()
 * @return 0 or -ENOMEM */
static int traffic_sums_find_edges(const struct pair_sums *s, const struct pairs *of, int selves,
                                   struct remap_edge **edges, size_t *count)
{
    struct remap_edge *found =
        calloc((selves ? of->processes : s->count) + (size_t)1, sizeof(*found));
    if (found == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < s->room; i++) {
        const struct pair_sum *sum = &s->slots[i];
        if (sum->messages == 0 || (sum->from == sum->to) != selves)
            continue;
        struct remap_edge edge = {traffic_sums_position(of->ids, of->processes, sum->from),
                                  traffic_sums_position(of->ids, of->processes, sum->to),
                                  sum->bytes, sum->messages};
        if (edge.from != UINT32_MAX && edge.to != UINT32_MAX)
            found[(*count)++] = edge;
    }
    qsort(found, *count, sizeof(*found), traffic_sums_compare_by_pair);
    *edges = found;
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
    if (ranks > REMAP_MOST_PROCESSES || count > REMAP_MOST_PROCESSES ||
        s->count > REMAP_MAXIMUM_EDGES) {
        free(ids);
        return -HOLTER_ELIMIT;
    }
    struct pairs result = {.processes = (uint32_t)count, .ids = ids};
    int code = traffic_sums_find_edges(s, &result, 0, &result.edges, &result.edge_count);
    code = code != 0 ? code
                     : traffic_sums_find_edges(s, &result, 1, &result.selves, &result.self_count);
    if (code != 0) {
        free(result.edges);
        free(ids);
        return code;
    }
    out->processes = result.processes;
    out->ids = result.ids;
    out->edges = result.edges;
    out->edge_count = result.edge_count;
    out->selves = result.selves;
    out->self_count = result.self_count;
    return 0;
}

/* Finds the agents to ask for a capture, by the ranks of their nodes, and the partners of ranks. */
#include "daemon/job/job_captures.h"

#include "daemon/analysis/tables/rank_list.h"
#include "daemon/job/job_state.h"
#include "holter/error.h"
#include "holter/order.h"
#include "proto/rank_spans.h"

#include <errno.h>
#include <stdlib.h>

/* Largest number of pairs in which partners are searched. */
#define MAXIMUM_CAPTURE_PAIRS ((size_t)1 << 18)

uint64_t job_captures_newest(const struct job *job)
{
    return job->captures.newest_id;
}

int job_has_captured(const struct job *job, uint64_t alert)
{
    for (size_t i = 0; i < job->captures.known_count; i++) {
        if (job->captures.known[i].alert == alert)
            return 1;
    }
    return 0;
}

int64_t job_capture_agents(const struct job *job, const char *ranks, uint64_t **instances,
                           uint64_t *known_ranks)
{
    uint8_t *asked = calloc(job->nodes.count + 1, sizeof(*asked));
    uint64_t *list = malloc((job->nodes.count + 1) * sizeof(*list));
    int64_t count = 0;
    if (asked == NULL || list == NULL) {
        free(asked);
        free(list);
        return -ENOMEM;
    }
    *known_ranks = 0;
    for (uint32_t i = 0; i < job->places.keys.count; i++) {
        const struct job_place *place = &job->places.list[i];
        const struct job_node *node = job->nodes.list[place->node];
        if (node->final || node->lost_contact ||
            (ranks[0] != '\0' && !rank_spans_have(ranks, place->rank)))
            continue;
        ++*known_ranks;
        if (!asked[place->node])
            list[count++] = node->instance;
        asked[place->node] = 1;
    }
    free(asked);
    *instances = list;
    return count;
}

struct capture_partner {
    uint32_t rank;
    uint64_t bytes;
};

/* Most bytes first; ranks in their order where those are equal. */
ORDER_FUNCTION(capture_compare_bytes, struct capture_partner,
               2 * ORDER(b->bytes, a->bytes) + ORDER(a->rank, b->rank))

ORDER_FUNCTION(capture_compare_ranks, struct capture_partner, ORDER(a->rank, b->rank))

static int capture_has_rank(const uint32_t *ranks, size_t count, uint32_t rank)
{
    for (size_t i = 0; i < count; i++) {
        if (ranks[i] == rank)
            return 1;
    }
    return 0;
}

/* The other ends of messages of these ranks, each once. @return how many, in order of bytes */
static size_t capture_find_partners(const uint32_t *ranks, size_t count,
                                    const struct wire_pair_row *pairs, size_t pair_count,
                                    struct capture_partner *out)
{
    size_t found = 0, kept = 0;
    for (size_t i = 0; i < pair_count; i++) {
        const struct wire_pair_row *p = &pairs[i];
        if (p->destination < 0)
            continue;
        int from = capture_has_rank(ranks, count, (uint32_t)p->source),
            to = capture_has_rank(ranks, count, (uint32_t)p->destination);
        if (from != to)
            out[found++] = (struct capture_partner){
                (uint32_t)(from ? (uint64_t)p->destination : p->source), p->bytes};
    }
    qsort(out, found, sizeof(*out), capture_compare_ranks);
    for (size_t i = 0; i < found; i++) {
        if (kept > 0 && out[kept - 1].rank == out[i].rank)
            out[kept - 1].bytes += out[i].bytes;
        else
            out[kept++] = out[i];
    }
    qsort(out, kept, sizeof(*out), capture_compare_bytes);
    return kept;
}

static size_t capture_list_ranks(const struct job *job, const char *ranks, size_t maximum,
                                 uint32_t *out)
{
    uint64_t first, last;
    size_t count = 0;
    while (rank_spans_next(&ranks, &first, &last) == 1) {
        for (; first <= last && first < job->info.world && count < maximum; first++)
            out[count++] = (uint32_t)first;
    }
    return count;
}

int job_capture_partners(struct job *job, const char *ranks, size_t maximum, char *out,
                         size_t capacity)
{
    const struct wire_pair_row *pairs = NULL;
    size_t pair_count = 0;
    uint32_t *list = malloc((2 * maximum + 1) * sizeof(*list));
    int code = list == NULL ? -ENOMEM : 0;
    size_t count = code == 0 ? capture_list_ranks(job, ranks, maximum, list) : 0;
    if (code == 0 && count == 0)
        code = -HOLTER_EEMPTY;
    if (code == 0 && run_sum_pair_count(job->sums.run) <= MAXIMUM_CAPTURE_PAIRS)
        code = job_list_pairs(job, MAXIMUM_CAPTURE_PAIRS, &pairs, &pair_count);
    struct capture_partner *found = code == 0 ? malloc((pair_count + 1) * sizeof(*found)) : NULL;
    if (code == 0 && found == NULL)
        code = -ENOMEM;
    if (code == 0) {
        size_t others = capture_find_partners(list, count, pairs, pair_count, found);
        for (size_t i = 0; i < others && i < maximum; i++)
            list[count + i] = found[i].rank;
        code = rank_list(list, count + (others < maximum ? others : maximum), out, capacity);
    }
    free(found);
    free(list);
    return code;
}

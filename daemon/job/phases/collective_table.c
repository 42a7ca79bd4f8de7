/* Expands calls of collectives to the messages that model them. */
#include "daemon/job/phases/collective_state.h"

#include "daemon/analysis/phases/collective_edges.h"
#include "daemon/analysis/tables/array.h"
#include "holter/size_class.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAXIMUM_STEPS (4u * COLLECTIVE_ROWS)
#define WORLD_ID 1u
#define PAIR_CAPACITY_STEP 4096u /* rows that are reserved at a time */

int collective_table_create(struct collective_table **out)
{
    struct collective_table *t = calloc(1, sizeof(*t));
    if (t == NULL)
        return -ENOMEM;
    *out = t;
    return 0;
}

void collective_table_destroy(struct collective_table *t)
{
    if (t == NULL)
        return;
    for (uint32_t i = 0; i < t->comm_keys.count; i++)
        free(t->comms[i].ranks);
    key_table_finish(&t->comm_keys);
    key_table_finish(&t->keys);
    free(t->comms);
    free(t->list);
    free(t->numbers);
    free(t->position_of);
    free(t->begin);
    free(t->order);
    free(t);
}

void collective_table_begin_window(struct collective_table *t)
{
    t->steps = t->rows = 0;
}

/* ---- from calls to messages ------------------------------------------------------- */

/* The ranks of a communicator by position. MPI_COMM_WORLD has no list. */
struct collective_group {
    const uint32_t *ranks;
    uint32_t size;
};

static int collective_find_group(struct collective_table *t, uint64_t world,
                                 const struct collective *c, struct collective_group *out)
{
    const struct comm *comm = &t->comms[c->comm];
    int is_world = t->comm_keys.keys[c->comm].hi == WORLD_ID;
    uint64_t size = is_world && world != 0 ? world : comm->size;
    if (comm->is_inter || size == 0 || size > COLLECTIVE_MAXIMUM_RANKS ||
        (!is_world && comm->ranks == NULL))
        return 0;
    *out = (struct collective_group){is_world ? NULL : comm->ranks, (uint32_t)size};
    for (uint32_t i = 0; out->ranks != NULL && i < out->size; i++) {
        if (out->ranks[i] < t->rank_capacity)
            t->position_of[out->ranks[i]] = i;
    }
    return 1;
}

/* @return COLLECTIVE_NO_RANK: not known */
static uint32_t position_of(const struct collective_table *t, const struct collective_group *g,
                            int64_t rank)
{
    if (rank < 0)
        return COLLECTIVE_NO_RANK;
    if (g->ranks == NULL)
        return rank < g->size ? (uint32_t)rank : COLLECTIVE_NO_RANK;
    uint32_t at = (uint64_t)rank < t->rank_capacity ? t->position_of[rank] : COLLECTIVE_NO_RANK;
    return at < g->size && g->ranks[at] == (uint32_t)rank ? at : COLLECTIVE_NO_RANK;
}

static uint32_t collective_rank_at(const struct collective_group *g, uint32_t position)
{
    return g->ranks == NULL ? position : g->ranks[position];
}

/* Is the sum below the largest value, which stands for all larger ones? */
static int collective_sum_fits(uint64_t a, uint64_t b)
{
    return b < UINT64_MAX - a;
}

static int collective_fits(const struct collective_messages *made, uint64_t messages,
                           uint64_t bytes)
{
    return collective_sum_fits(made->messages, messages) && collective_sum_fits(made->bytes, bytes);
}

/* Messages without a pair. What would pass 2^64 in a window is not real: it is left out. */
static void collective_fold(struct collective_table *t, uint64_t messages, uint64_t bytes)
{
    struct collective_messages *out = &t->made;
    if (messages == 0)
        return;
    if (!collective_fits(out, messages, bytes)) {
        return;
    }
    out->messages += messages;
    out->bytes += bytes;
    out->others.messages += messages;
    out->others.bytes += bytes;
    out->others.pairs++;
}

static void collective_put_pair(struct collective_table *t, uint32_t source, uint32_t destination,
                                const struct collective_edge *edge)
{
    struct collective_messages *out = &t->made;
    if (destination == COLLECTIVE_NO_RANK || source == COLLECTIVE_NO_RANK ||
        t->rows == COLLECTIVE_ROWS) {
        collective_fold(t, edge->messages, edge->bytes);
        return;
    }
    if (edge->messages == 0)
        return;
    if (!collective_fits(out, edge->messages, edge->bytes)) {
        return;
    }
    t->pairs[t->pair_count++] = (struct burst_pair){
        .source = source,
        .destination = destination,
        .size_class = size_class_of(edge->bytes / edge->messages),
        .modelled = 1,
        .messages = edge->messages,
        .bytes = edge->bytes,
    };
    out->messages += edge->messages;
    out->bytes += edge->bytes;
    t->rows++;
}

/* Space for further rows. @return 0 or -ENOMEM */
static int collective_fit_pairs(struct collective_table *t, size_t rows)
{
    size_t left = COLLECTIVE_ROWS - t->rows,
           ask = rows > PAIR_CAPACITY_STEP ? rows : PAIR_CAPACITY_STEP;
    if (t->pair_count + rows <= t->pair_capacity)
        return 0;
    t->pair_capacity = t->pair_count + (ask < left ? ask : left);
    t->pairs = bursts_reserve_rows(t->into, t->pair_capacity);
    return t->pairs == NULL ? -ENOMEM : 0;
}

/* What one position sends. */
static int collective_model_position(struct collective_table *t, const struct collective_group *g,
                                     const struct collective_call *call)
{
    struct collective_edges edges;
    t->steps++;
    if (collective_edges(call, &edges) != 0)
        return 0;
    if (collective_fit_pairs(t, edges.count) != 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < edges.count; i++)
        collective_put_pair(t, collective_rank_at(g, call->position),
                            collective_rank_at(g, edges.edges[i].destination), &edges.edges[i]);
    collective_fold(t, edges.spread_messages, edges.spread_bytes);
    return 0;
}

/* ---- calls ------------------------------------------------------------------------ */

static int collective_expand_row(struct collective_table *t, const struct collective_group *g,
                                 const struct collective *c, enum collective_teller reporter,
                                 const struct burst_pair *row)
{
    struct collective_call call = {
        .call = c->call, .size = g->size, .calls = row->messages, .bytes = row->bytes};
    uint32_t root = position_of(t, g, c->root), caller = position_of(t, g, row->source);
    uint64_t steps = reporter == COLLECTIVE_ROOT ? g->size : 1;
    if (caller == COLLECTIVE_NO_RANK || (c->root >= 0 && root == COLLECTIVE_NO_RANK) ||
        t->rows == COLLECTIVE_ROWS || steps > MAXIMUM_STEPS - t->steps) {
        collective_fold(t, row->messages, row->bytes);
        return 0;
    }
    call.root = root == COLLECTIVE_NO_RANK ? 0 : root;
    call.position = caller;
    int code = 0;
    if (reporter == COLLECTIVE_EACH)
        return collective_model_position(t, g, &call);
    for (call.position = 0; code == 0 && call.position < g->size; call.position++)
        code = collective_model_position(t, g, &call);
    return code;
}

/* Rows of a burst in the order of their collectives, so that each communicator is processed once.
 */
static int collective_sort_rows(struct collective_table *t, const struct burst_sums *calls)
{
    size_t kinds = (size_t)t->keys.count + 2;
    if (ARRAY_FIT(t->begin, t->begin_capacity, kinds) != 0 ||
        ARRAY_FIT(t->order, t->order_capacity, calls->pair_count) != 0)
        return -ENOMEM;
    memset(t->begin, 0, kinds * sizeof(*t->begin));
    for (size_t i = 0; i < calls->pair_count; i++) {
        uint32_t number = calls->pairs[i].destination;
        t->begin[(number < t->keys.count ? number : t->keys.count) + 1]++;
    }
    for (size_t i = 1; i < kinds; i++)
        t->begin[i] += t->begin[i - 1];
    for (size_t i = 0; i < calls->pair_count; i++) {
        uint32_t number = calls->pairs[i].destination;
        t->order[t->begin[number < t->keys.count ? number : t->keys.count]++] = (uint32_t)i;
    }
    return 0;
}

static int collective_expand(struct collective_table *t, uint64_t world, uint32_t number,
                             const struct burst_sums *calls, uint32_t first, uint32_t end)
{
    static const struct collective unknown;
    const struct collective *c = number < t->keys.count ? &t->list[number] : &unknown;
    enum collective_teller reporter = collective_teller(c->call);
    struct collective_group group;
    int known = number < t->keys.count && collective_find_group(t, world, c, &group), code = 0;
    if (number < t->keys.count && reporter == COLLECTIVE_NOBODY)
        return 0;
    for (uint32_t i = first; code == 0 && i < end; i++) {
        const struct burst_pair *row = &calls->pairs[t->order[i]];
        if (!known)
            collective_fold(t, row->messages, row->bytes);
        else if (reporter != COLLECTIVE_ROOT || c->root == (int64_t)row->source)
            code = collective_expand_row(t, &group, c, reporter,
                                         row); /* the root's row stands for all */
    }
    return code;
}

int collective_table_expand(struct collective_table *t, uint64_t world,
                            const struct burst_sums *calls, struct bursts *into,
                            struct collective_messages *out)
{
    uint32_t highest = 0;
    for (size_t i = 0; i < calls->pair_count; i++)
        highest = calls->pairs[i].source > highest ? calls->pairs[i].source : highest;
    size_t ranks = world > highest ? world : (size_t)highest + 1, had = t->rank_capacity;
    if (ARRAY_FIT(t->position_of, t->rank_capacity, ranks) != 0 ||
        collective_sort_rows(t, calls) != 0)
        return -ENOMEM;
    if (t->rank_capacity > had)
        memset(t->position_of + had, 0xff, (t->rank_capacity - had) * sizeof(*t->position_of));
    t->made = (struct collective_messages){0};
    t->into = into;
    t->pairs = NULL;
    t->pair_count = t->pair_capacity = 0;
    collective_fold(t, calls->others.messages, calls->others.bytes);
    int code = 0;
    for (uint32_t number = 0, first = 0; code == 0 && number <= t->keys.count; number++) {
        uint32_t end = t->begin[number];
        if (end > first)
            code = collective_expand(t, world, number, calls, first, end);
        first = end;
    }
    t->made.pairs = t->pairs;
    t->made.count = t->pair_count;
    *out = t->made;
    return code;
}

/* ---- state --------------------------------------------------------------- */

void collective_table_copy_state(struct state_bytes *b, struct collective_table **out)
{
    if (!STATE_OBJECT(b, *out))
        return;
    struct collective_table *t = *out;
    key_table_copy_state(b, &t->comm_keys);
    STATE_ARRAY(b, t->comms, t->comm_keys.count, t->comm_capacity);
    if (t->comms == NULL)
        key_table_finish(&t->comm_keys);
    for (uint32_t i = 0; i < t->comm_keys.count; i++)
        STATE_ARRAY(b, t->comms[i].ranks, t->comms[i].positions, 0);
    key_table_copy_state(b, &t->keys);
    STATE_ARRAY(b, t->list, t->keys.count, t->capacity);
    STATE_NO_ARRAY(b, t->numbers, t->numbers_capacity);
    STATE_NO_ARRAY(b, t->position_of, t->rank_capacity);
    STATE_NO_ARRAY(b, t->begin, t->begin_capacity);
    STATE_NO_ARRAY(b, t->order, t->order_capacity);
    STATE_NO_POINTER(b, t->into);
    STATE_NO_POINTER(b, t->pairs);
}

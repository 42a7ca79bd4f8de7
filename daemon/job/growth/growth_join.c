/* Joins windows: see growth_join.h. */
#include "daemon/job/growth/growth_join.h"

#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_WINDOWS 16   /* that are learned from before the length of iterations is known, */
#define LEAST_ITERATIONS 3 /* and so many of these */
#define MEMORY 16.0        /* iterations, after which older ones weigh 1/e, */
#define LEAST_MEMORY 64.0  /* and windows at least */
#define SPARSE 0.5         /* of the windows in which ranks do something, iterations begin */
#define DENSE 0.3          /* do, at most */
#define LONG 3.2           /* windows of an iteration, from which on they are joined ... */
#define LONGER 6.0         /* the same, once it is known that they are not that long */
#define ITERATIONS 3       /* ... for so many */
#define MOST_SPAN 256      /* windows */
/* Rows of messages in a joined window, some 150 MB: of jobs that have more in an iteration, no
 * windows are joined. */
#define MOST_ROWS (UINT32_C(1) << 20)

void growth_join_finish(struct growth_join *join)
{
    free(join->active_at);
    free(join->began_at);
    free(join->ranks);
    free(join->nodes);
    free(join->rank_at);
    free(join->node_at);
    free(join->pairs);
    free(join->node_pairs);
    free(join->processes);
    latency_rows_finish(&join->latency);
    message_ranks_finish(&join->messages);
    *join = (struct growth_join){.span = 0};
}

/* ---- how long iterations take ---------------------------------------------- */

/* A rank did something in a window. */
static int growth_join_count(struct growth_join *join, uint64_t rank, uint64_t number)
{
    if (ARRAY_FIT_AT(join->active_at, join->active_at_capacity, rank) != 0 ||
        ARRAY_FIT_AT(join->began_at, join->began_at_capacity, rank) != 0)
        return -ENOMEM;
    uint64_t *active = &join->active_at[rank], *began = &join->began_at[rank];
    join->active += 1;
    if (*active == 0 || *active + 1 < number) {
        join->begins += 1;
        join->lengths += *active > 0 ? (double)(number - *began) : 0;
        join->known += *active > 0;
        *began = number;
    }
    *active = number;
    return 0;
}

/* Jobs by groups of ranks have rows of nodes. */
static int growth_join_learn(struct growth_join *join, const struct closed_window *window)
{
    const int by_node = window->node_row_count > 0;
    const size_t count = by_node ? window->node_row_count : window->rank_count;
    int code = 0;
    for (size_t i = 0; code == 0 && i < count; i++) {
        const struct wire_rank_row *row = by_node ? &window->node_rows[i].sum : &window->ranks[i];
        if (row->calls > row->polls || row->sent > 0)
            code = growth_join_count(join, row->rank, window->number);
    }
    join->windows += join->active > 0;
    return code;
}

static void growth_join_fade(struct growth_join *join)
{
    const double length = join->known > 0 ? join->lengths / join->known : 0;
    const double keep = 1 - 1 / fmax(MEMORY * length, LEAST_MEMORY);
    join->active *= keep;
    join->begins *= keep;
    join->lengths *= keep;
    join->known *= keep;
}

int growth_join_is_uncertain(const struct growth_join *join)
{
    return !join->is_known && join->begins > 0 && join->begins >= SPARSE * join->active;
}

/* Windows of an iteration; 0: it is not known, or iterations cannot be distinguished. */
static double growth_join_length(const struct growth_join *join)
{
    if (join->known <= 0 || join->begins < SPARSE * join->active)
        return 0;
    const double length = join->lengths / join->known;
    return join->windows < (LEAST_ITERATIONS + 1) * length ? 0 : length;
}

uint32_t growth_join_follow(struct growth_join *join, const struct closed_window *window)
{
    const uint32_t span = growth_join_span(join);
    if (join->is_too_large)
        return 1;
    if (growth_join_learn(join, window) != 0 || join->windows < LEAST_WINDOWS)
        return span;
    growth_join_fade(join);
    const int dense = join->begins < DENSE * join->active;
    const double length = growth_join_length(join);
    const double least = join->is_short ? LONGER : LONG; /* a fault makes them longer, too */
    join->is_known |= dense || length > 0;
    join->is_short = !dense && (join->is_short || (length > 0 && length < LONG)) && span == 1;
    if (dense || length < least || (span >= 2 * length && span <= 4 * ITERATIONS * length))
        return dense ? 1 : span;
    uint32_t wanted = 1;
    while (wanted < MOST_SPAN && wanted < ITERATIONS * length)
        wanted *= 2;
    return wanted;
}

/* ---- the joined window ------------------------------------------------------- */

static void growth_join_clear(struct growth_join *join)
{
    for (size_t i = 0; i < join->rank_count; i++)
        join->rank_at[join->ranks[i].rank] = 0;
    for (size_t i = 0; i < join->node_count; i++)
        join->node_at[join->nodes[i].sum.rank] = 0;
    join->rank_count = join->node_count = 0;
    join->pair_count = join->node_pair_count = join->process_count = 0;
    transfers_clear(&join->latency.transfers);
    if (join->messages.count > 0)
        memset(join->messages.figures, 0, join->messages.count * sizeof(*join->messages.figures));
    join->messages.count = 0;
    join->totals = (struct sum_totals){.ranks = 0};
    join->length_ns = 0;
    join->count = 0;
}

void growth_join_set_span(struct growth_join *join, uint32_t span)
{
    growth_join_clear(join);
    join->span = span;
    join->is_known = 1;
}

int growth_join_begins(const struct growth_join *join, const struct closed_window *window)
{
    return join->count > 0 && window->number / join->span != join->number;
}

static void growth_join_add_totals(struct sum_totals *to, const struct sum_totals *from)
{
    to->ranks = from->ranks > to->ranks ? from->ranks : to->ranks;
#define X(name) to->name += from->name;
    RANK_SUMS(X)
#undef X
}

static void growth_join_add_row(struct wire_rank_row *to, const struct wire_rank_row *from)
{
#define X(name) to->name += from->name;
    RANK_SUMS(X)
#undef X
    to->ranks += from->ranks;
}

static int growth_join_add_ranks(struct growth_join *join, const struct closed_window *window)
{
    for (size_t i = 0; i < window->rank_count; i++) {
        const struct wire_rank_row *from = &window->ranks[i];
        if (ARRAY_FIT_AT(join->rank_at, join->rank_at_capacity, from->rank) != 0 ||
            ARRAY_FIT(join->ranks, join->rank_capacity, join->rank_count + 1) != 0)
            return -ENOMEM;
        uint32_t *at = &join->rank_at[from->rank];
        if (*at == 0) {
            join->ranks[join->rank_count] = (struct wire_rank_row){.rank = from->rank};
            *at = (uint32_t)++join->rank_count;
        }
        growth_join_add_row(&join->ranks[*at - 1], from);
    }
    return 0;
}

static int growth_join_add_nodes(struct growth_join *join, const struct closed_window *window)
{
    for (size_t i = 0; i < window->node_row_count; i++) {
        const struct node_row *from = &window->node_rows[i];
        if (ARRAY_FIT_AT(join->node_at, join->node_at_capacity, from->sum.rank) != 0 ||
            ARRAY_FIT(join->nodes, join->node_capacity, join->node_count + 1) != 0)
            return -ENOMEM;
        uint32_t *at = &join->node_at[from->sum.rank];
        if (*at == 0) {
            join->nodes[join->node_count] = (struct node_row){.sum.rank = from->sum.rank};
            *at = (uint32_t)++join->node_count;
        }
        growth_join_add_row(&join->nodes[*at - 1].sum, &from->sum);
        join->nodes[*at - 1].longest_mpi_ns += from->longest_mpi_ns;
    }
    return 0;
}

static int growth_join_add_messages(struct growth_join *join, const struct message_ranks *from)
{
    struct message_ranks *to = &join->messages;
    const uint32_t count = from == NULL ? 0 : from->count;
    if (count > to->count && ARRAY_FIT_ZERO(to->figures, to->capacity, count) != 0)
        return -ENOMEM;
    to->count = count > to->count ? count : to->count;
    for (uint32_t r = 0; r < count; r++)
        for (int f = 0; f < MESSAGE_FIGURES; f++)
            to->figures[r][f] += from->figures[r][f];
    return 0;
}

/* Space for the rows that are only put one after the other. */
static int growth_join_reserve(struct growth_join *join, const struct closed_window *window)
{
    const size_t messages = join->pair_count + window->pair_count + join->node_pair_count +
                            window->node_pair_count + join->latency.transfers.count +
                            window->latency->transfers.count;
    if (messages > MOST_ROWS ||
        ARRAY_FIT(join->pairs, join->pair_capacity, join->pair_count + window->pair_count) != 0 ||
        ARRAY_FIT(join->node_pairs, join->node_pair_capacity,
                  join->node_pair_count + window->node_pair_count) != 0 ||
        ARRAY_FIT(join->processes, join->process_capacity,
                  join->process_count + window->process_count) != 0)
        return -ENOMEM;
    return transfers_reserve(&join->latency.transfers, window->latency->transfers.count);
}

#define APPEND(to, count, from, further)                                                           \
    do {                                                                                           \
        if ((further) > 0)                                                                         \
            memcpy(&(to)[count], from, (further) * sizeof(*(to)));                                 \
        (count) += (further);                                                                      \
    } while (0)

int growth_join_add(struct growth_join *join, const struct closed_window *window)
{
    const struct transfers *transfers = &window->latency->transfers;
    if (join->count == 0 || growth_join_begins(join, window))
        growth_join_clear(join);
    int code = growth_join_reserve(join, window);
    code = code != 0 ? code : growth_join_add_ranks(join, window);
    code = code != 0 ? code : growth_join_add_nodes(join, window);
    code = code != 0 ? code : growth_join_add_messages(join, window->rank_messages);
    if (code != 0)
        return code;
    APPEND(join->pairs, join->pair_count, window->pairs, window->pair_count);
    APPEND(join->node_pairs, join->node_pair_count, window->node_pairs, window->node_pair_count);
    APPEND(join->processes, join->process_count, window->processes, window->process_count);
    APPEND(join->latency.transfers.rows, join->latency.transfers.count, transfers->rows,
           transfers->count);
    growth_join_add_totals(&join->totals, window->totals);
    join->number = window->number / join->span;
    join->length_ns += window->length_ns;
    join->count++;
    return 0;
}

void growth_join_give_up(struct growth_join *join)
{
    join->is_too_large = 1;
}

int growth_join_ends(const struct growth_join *join, const struct closed_window *window)
{
    return window->number % join->span == join->span - 1;
}

/* Rows of a node add up its ranks: of a joined window they are those of one of its windows. */
static void growth_join_divide_nodes(struct growth_join *join)
{
    for (size_t i = 0; i < join->node_count; i++)
        join->nodes[i].sum.ranks = (join->nodes[i].sum.ranks + join->count / 2) / join->count;
}

int growth_join_take(struct growth_join *join, const struct closed_window *newest,
                     struct closed_window *out)
{
    if (join->count == 0)
        return 0;
    growth_join_divide_nodes(join);
    *out = (struct closed_window){.number = join->number,
                                  .length_ns = join->length_ns,
                                  .totals = &join->totals,
                                  .ranks = join->ranks,
                                  .rank_count = join->rank_count,
                                  .node_rows = join->nodes,
                                  .node_row_count = join->node_count,
                                  .pairs = join->pairs,
                                  .pair_count = join->pair_count,
                                  .node_pairs = join->node_pairs,
                                  .node_pair_count = join->node_pair_count,
                                  .processes = join->processes,
                                  .process_count = join->process_count,
                                  .latency = &join->latency,
                                  .scale = newest->scale,
                                  .rank_messages = &join->messages};
    join->count = 0;
    return 1;
}

void growth_join_copy_state(struct state_bytes *b, struct growth_join *join)
{
    STATE_ARRAY(b, join->active_at, join->active_at_capacity, 0);
    STATE_ARRAY(b, join->began_at, join->began_at_capacity, 0);
    STATE_ARRAY(b, join->ranks, join->rank_count, join->rank_capacity);
    STATE_ARRAY(b, join->nodes, join->node_count, join->node_capacity);
    STATE_ARRAY(b, join->rank_at, join->rank_at_capacity, 0);
    STATE_ARRAY(b, join->node_at, join->node_at_capacity, 0);
    STATE_ARRAY(b, join->pairs, join->pair_count, join->pair_capacity);
    STATE_ARRAY(b, join->node_pairs, join->node_pair_count, join->node_pair_capacity);
    STATE_ARRAY(b, join->processes, join->process_count, join->process_capacity);
    latency_rows_copy_state(b, &join->latency);
    message_ranks_copy_state(b, &join->messages);
}

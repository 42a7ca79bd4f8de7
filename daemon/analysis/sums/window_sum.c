/* Rows that nodes report are added to a window, and windows to the run. */
#include "daemon/analysis/sums/window_sum.h"

#include "daemon/analysis/sums/sums.h"
#include "daemon/analysis/tables/array.h"
#include "holter/order.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAXIMUM_REGIONS 65535u /* the number of a region takes 16 bits of a key */

/* ---- the run's keys ------------------------------------------------------ */

int run_sum_create(struct run_sum **out, const struct run_sum_limits *limits)
{
    struct run_sum *run = calloc(1, sizeof(*run));
    if (run == NULL)
        return -ENOMEM;
    run->limits = *limits;
    if (run->limits.regions > MAXIMUM_REGIONS)
        run->limits.regions = MAXIMUM_REGIONS;
    /* Rows without a communicator or a region name number 0. */
    if (run_sum_comm(run, &(struct wire_comm_row){.id = 0}) != 0 || run_sum_region(run, "") != 0) {
        run_sum_destroy(run);
        return -ENOMEM;
    }
    *out = run;
    return 0;
}

void run_sum_destroy(struct run_sum *run)
{
    if (run == NULL)
        return;
    key_table_finish(&run->ranks);
    key_table_finish(&run->pairs);
    key_table_finish(&run->callers);
    key_table_finish(&run->calls);
    key_table_finish(&run->comm_ids);
    name_table_finish(&run->regions);
    free(run->call_of);
    free(run->comms);
    figures_finish(&run->total);
    free(run->rank_order.numbers);
    free(run->pair_order.numbers);
    free(run->call_order.numbers);
    free(run->caller_order.numbers);
    free(run->comm_position);
    free(run->region_position);
    free(run);
}

/* Did the program give this name? The others are those of MPI, and what the probe calls a
 * communicator without a name: after the call that made it. */
static int run_sum_is_given_name(const char *name)
{
    return name[0] != '\0' && strncmp(name, "MPI_", 4) != 0 && strcmp(name, "unknown origin") != 0;
}

int run_sum_is_better_name(const char *name, const char *known)
{
    const int given = run_sum_is_given_name(name), known_given = run_sum_is_given_name(known);
    return given != known_given ? given : strcmp(name, known) > 0;
}

static void run_sum_merge_comm(struct run_comm *into, const struct wire_comm_row *from)
{
    into->parent = order_maximum(into->parent, from->parent);
    into->size = order_maximum(into->size, from->size);
    into->remote_size = order_maximum(into->remote_size, from->remote_size);
    if (from->name != NULL && run_sum_is_better_name(from->name, into->name))
        snprintf(into->name, sizeof(into->name), "%s", from->name);
}

int64_t run_sum_comm(struct run_sum *run, const struct wire_comm_row *comm)
{
    struct key key = {.hi = comm->id};
    uint32_t number = key_table_find(&run->comm_ids, key);
    if (number == KEY_NONE) {
        if (run->comm_ids.count > run->limits.comms)
            return 0;
        number = KEY_TABLE_EXTEND(&run->comm_ids, key, UINT32_MAX, run->comms, run->comm_capacity);
        if (number == KEY_NONE)
            return -ENOMEM;
        run->comms[number].id = comm->id;
    }
    if (number != 0)
        run_sum_merge_comm(&run->comms[number], comm);
    return number;
}

int64_t run_sum_region(struct run_sum *run, const char *name)
{
    char cut[NAME_TABLE_BYTES];
    snprintf(cut, sizeof(cut), "%s", name);
    uint32_t number = name_table_number(&run->regions, cut, run->limits.regions + 1);
    if (number != NAME_TABLE_NONE)
        return number;
    return run->regions.count > run->limits.regions ? 0 : -ENOMEM;
}

/* ---- a window ------------------------------------------------------------ */

int window_sum_create(struct window_sum **out, struct run_sum *run)
{
    struct window_sum *window = calloc(1, sizeof(*window));
    if (window == NULL)
        return -ENOMEM;
    window->run = run;
    *out = window;
    return 0;
}

void window_sum_destroy(struct window_sum *window)
{
    if (window == NULL)
        return;
    figures_finish(&window->figures);
    free(window);
}

static void window_sum_add_totals(struct sum_totals *totals, const struct wire_rank_row *row)
{
#define X(name) totals->name += row->name;
    RANK_SUMS(X)
#undef X
}

static void window_sum_add_ranks(struct window_sum *window, const struct sum_rows *rows)
{
    uint32_t number = KEY_NONE;
    for (size_t i = 0; i < rows->rank_count; i++) {
        const struct wire_rank_row *row = &rows->ranks[i];
        const struct key key = {.hi = row->rank};
        number = key_table_number_after(&window->run->ranks, key, number);
        window->totals.ranks +=
            row->ranks != 0 ? row->ranks : !window->figures.ranks[number].present;
        window_sum_add_totals(&window->totals, row);
        figures_add_rank(&window->figures, number, row);
    }
}

static struct key window_sum_pair_key(const struct wire_pair_row *row)
{
    return (struct key){.hi = row->source << 32 | (uint32_t)(row->destination + 1),
                        .lo = row->comm << 32 | row->region << 16 | row->size_class};
}

/* Number of a pair. Once the table has reached its limit, a new pair has the number of the rest of
 * its source. @param previous  number of the pair before it in the report, or KEY_NONE */
static uint32_t window_sum_number_pair(struct run_sum *run, const struct wire_pair_row *row,
                                       uint32_t previous)
{
    const struct key key = window_sum_pair_key(row);
    if (run->pairs.count < run->limits.pairs)
        return key_table_number_after(&run->pairs, key, previous);
    const uint32_t number = key_table_find(&run->pairs, key);
    if (number != KEY_NONE)
        return number;
    const struct wire_pair_row rest = {.source = row->source, .destination = -1};
    run->overflow_rows++;
    return key_table_add(&run->pairs, window_sum_pair_key(&rest));
}

static void window_sum_add_pairs(struct window_sum *window, const struct sum_rows *rows)
{
    uint32_t number = KEY_NONE;
    for (size_t i = 0; i < rows->pair_count; i++) {
        const struct wire_pair_row *row = &rows->pairs[i];
        number = window_sum_number_pair(window->run, row, number);
        struct pair_figures *sum = &window->figures.pairs[number];
        sum->messages += row->messages;
        sum->bytes += row->bytes;
    }
}

/* Number of a caller: a rank that makes a call on a communicator in a region. Once the table has
 * reached its limit, new callers of a call have neither communicator nor region. */
static uint32_t window_sum_number_caller(struct run_sum *run, const struct wire_call_row *row,
                                         uint32_t previous)
{
    struct key key = {.hi = row->rank, .lo = row->comm << 32 | row->region << 16 | row->call};
    if (run->callers.count >= run->limits.calls && key_table_find(&run->callers, key) == KEY_NONE)
        key.lo = row->call;
    const uint32_t known = run->callers.count;
    const uint32_t number = key_table_number_after(&run->callers, key, previous);
    if (number == known)
        run->call_of[number] = key_table_add(&run->calls, (struct key){.lo = key.lo});
    return number;
}

static void window_sum_add_calls(struct window_sum *window, const struct sum_rows *rows)
{
    uint32_t number = KEY_NONE;
    for (size_t i = 0; i < rows->call_count; i++) {
        const struct wire_call_row *row = &rows->calls[i];
        number = window_sum_number_caller(window->run, row, number);
        struct call_figures *sum = &window->figures.calls[window->run->call_of[number]];
        struct caller_figures *caller = &window->figures.callers[number];
        sum->ranks += !caller->present;
        caller->present = true;
        caller->calls += row->calls;
        caller->bytes += row->bytes;
        caller->bytes_in += row->bytes_in;
        caller->time_ns += row->time_ns;
        caller->polls += row->polls;
        sum->calls += row->calls;
        sum->bytes += row->bytes;
        sum->bytes_in += row->bytes_in;
        sum->time_ns += row->time_ns;
        sum->polls += row->polls;
        sum->longest_ns = order_maximum(sum->longest_ns, row->longest_ns);
    }
}

/* Reserve space for the keys that rows may add. */
static int window_sum_reserve(struct window_sum *window, const struct sum_rows *rows)
{
    struct run_sum *run = window->run;
    int code = key_table_reserve(&run->ranks, rows->rank_count);
    code = code != 0 ? code : key_table_reserve(&run->pairs, rows->pair_count);
    code = code != 0 ? code : key_table_reserve(&run->callers, rows->call_count);
    code = code != 0 ? code : key_table_reserve(&run->calls, rows->call_count);
    if (code == 0)
        code = ARRAY_FIT_ZERO(run->call_of, run->call_of_capacity, run->callers.capacity);
    return code != 0 ? code : figures_reserve(&window->figures, run);
}

/* Would these rows add more ranks than the run may have? */
static int window_sum_exceeds_ranks(const struct run_sum *run, const struct sum_rows *rows)
{
    size_t unknown = 0;
    if (run->ranks.count + rows->rank_count <= run->limits.ranks)
        return 0;
    for (size_t i = 0; i < rows->rank_count; i++)
        unknown += key_table_find(&run->ranks, (struct key){.hi = rows->ranks[i].rank}) == KEY_NONE;
    return run->ranks.count + unknown > run->limits.ranks;
}

int window_sum_update(struct window_sum *window, const struct sum_rows *rows)
{
    if (window_sum_exceeds_ranks(window->run, rows))
        return -ERANGE;
    int code = window_sum_reserve(window, rows);
    if (code != 0)
        return code;
    window_sum_add_ranks(window, rows);
    window_sum_add_pairs(window, rows);
    window_sum_add_calls(window, rows);
    return 0;
}

const struct sum_totals *window_sum_totals(const struct window_sum *window)
{
    return &window->totals;
}

/* ---- the run ------------------------------------------------------------- */

int run_sum_update(struct run_sum *run, const struct window_sum *window, uint64_t number)
{
    if (figures_reserve(&run->total, run) != 0)
        return -ENOMEM;
    figures_add_window(run, &window->figures, number);
    return 0;
}

size_t run_sum_pair_count(const struct run_sum *run)
{
    return run->pairs.count;
}

/* ---- state --------------------------------------------------------------- */

/* Orders and positions are found again when a result is asked for. */
static void run_sum_forget_orders(struct run_sum *run)
{
    run->rank_order = run->pair_order = run->call_order = run->caller_order = (struct sum_order){0};
    run->comm_position = run->region_position = NULL;
    run->comm_positions = run->region_positions = 0;
}

void run_sum_copy_state(struct state_bytes *b, struct run_sum **out)
{
    if (!STATE_OBJECT(b, *out))
        return;
    struct run_sum *run = *out;
    if (b->reads)
        run_sum_forget_orders(run);
    key_table_copy_state(b, &run->ranks);
    key_table_copy_state(b, &run->pairs);
    key_table_copy_state(b, &run->callers);
    key_table_copy_state(b, &run->calls);
    key_table_copy_state(b, &run->comm_ids);
    name_table_copy_state(b, &run->regions);
    STATE_ARRAY(b, run->call_of, run->callers.count, run->call_of_capacity);
    STATE_ARRAY(b, run->comms, run->comm_ids.count, run->comm_capacity);
    figures_copy_state(b, &run->total, run);
}

void window_sum_copy_state(struct state_bytes *b, struct window_sum **out, struct run_sum *run)
{
    if (!STATE_OBJECT(b, *out))
        return;
    (*out)->run = run;
    figures_copy_state(b, &(*out)->figures, run);
}

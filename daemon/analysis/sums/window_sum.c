#include "daemon/analysis/sums/window_sum.h"

#include "daemon/analysis/sums/sums.h"
#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(offsetof(struct call_row, longest_ns) ==
                   offsetof(struct call_row, calls) + 4 * sizeof(uint64_t),
               "figures of a row of calls follow each other");

#define MOST_REGIONS 65535u /* the number of a region takes 16 bits of a key */

int run_sum_create(struct run_sum **out, const struct run_sum_limits *limits)
{
    struct run_sum *run = calloc(1, sizeof(*run));
    if (run == NULL)
        return -ENOMEM;
    run->limits = *limits;
    if (run->limits.regions > MOST_REGIONS)
        run->limits.regions = MOST_REGIONS;
    run->names = 1;
    /* Number 0 of both is what rows name that have none. */
    if (run_sum_comm(run, &(struct comm_row){.id = 0}) != 0 || run_sum_region(run, "") != 0) {
        run_sum_destroy(run);
        return -ENOMEM;
    }
    *out = run;
    return 0;
}

void row_numbers_finish(struct row_numbers *numbers)
{
    free(numbers->pairs);
    free(numbers->calls);
    *numbers = (struct row_numbers){0};
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
    key_table_finish(&run->region_names);
    free(run->call_of);
    free(run->comms);
    free(run->regions);
    figures_finish(&run->total);
    figures_finish(&run->spare);
    free(run->rank_order.numbers);
    free(run->pair_order.numbers);
    free(run->call_order.numbers);
    free(run->comm_position);
    free(run->region_position);
    free(run);
}

static void comm_merge(struct comm_row *into, const struct comm_row *from)
{
    into->parent = sums_maximum(into->parent, from->parent);
    into->size = sums_maximum(into->size, from->size);
    into->remote_size = sums_maximum(into->remote_size, from->remote_size);
    if (strncmp(from->name, into->name, sizeof(into->name)) > 0)
        memcpy(into->name, from->name, sizeof(into->name));
}

int64_t run_sum_comm(struct run_sum *run, const struct comm_row *comm)
{
    struct key key = {.hi = comm->id};
    uint32_t number = key_table_find(&run->comm_ids, key);
    if (number == KEY_NONE) {
        if (run->comm_ids.count > run->limits.comms)
            return 0;
        if (key_table_reserve(&run->comm_ids, 1) != 0)
            return -ENOMEM;
        if (run->comm_ids.room > run->comm_room) {
            uint32_t room = run->comm_ids.room;
            if (sums_grow((void **)&run->comms, sizeof(*run->comms), run->comm_room, room) != 0)
                return -ENOMEM;
            run->comm_room = room;
        }
        number = key_table_add_hashed(&run->comm_ids, key);
        run->comms[number].id = comm->id;
        run->names++;
    }
    if (number != 0) {
        struct comm_row before = run->comms[number];
        comm_merge(&run->comms[number], comm);
        run->names += memcmp(&before, &run->comms[number], sizeof(before)) != 0;
    }
    return number;
}

int64_t run_sum_region(struct run_sum *run, const char *name)
{
    struct region_row row = {{0}};
    memcpy(row.name, name, strnlen(name, sizeof(row.name) - 1));
    struct key key = {.hi = key_hash(row.name)};
    uint32_t number;
    for (; (number = key_table_find(&run->region_names, key)) != KEY_NONE; key.lo++) {
        if (strcmp(run->regions[number].name, row.name) == 0)
            return number;
    }
    if (run->region_names.count > run->limits.regions)
        return 0;
    if (key_table_reserve(&run->region_names, 1) != 0)
        return -ENOMEM;
    if (run->region_names.room > run->region_room) {
        uint32_t room = run->region_names.room;
        if (sums_grow((void **)&run->regions, sizeof(row), run->region_room, room) != 0)
            return -ENOMEM;
        run->region_room = room;
    }
    number = key_table_add_hashed(&run->region_names, key);
    run->regions[number] = row;
    run->names++;
    return number;
}

int window_sum_create(struct window_sum **out, struct run_sum *run)
{
    struct window_sum *window = calloc(1, sizeof(*window));
    if (window == NULL)
        return -ENOMEM;
    run_ranks_settle(run);
    run->windows++;
    window->run = run;
    window->figures = run->spare;
    run->spare = (struct figures){0};
    run_ranks_moved(run, &run->spare, &window->figures);
    *out = window;
    return 0;
}

void window_sum_destroy(struct window_sum *window)
{
    if (window == NULL)
        return;
    /* Fresh memory costs two page faults for each page, one for reading and one for writing it:
     * more than adding the figures. */
    struct run_sum *run = window->run;
    struct figures *spare = &run->spare;
    run->windows--;
    if (window->figures.pair_room >= spare->pair_room) {
        run_ranks_moved(run, spare, NULL);
        figures_finish(spare);
        *spare = window->figures;
        run_ranks_moved(run, &window->figures, spare);
        figures_clear(spare);
    } else {
        run_ranks_moved(run, &window->figures, NULL);
        figures_finish(&window->figures);
    }
    free(window);
}

/* @param row  its figures */
static void caller_add(struct call_figures *sum, const uint64_t *row)
{
    sum->calls += row[0];
    sum->bytes += row[1];
    sum->bytes_in += row[2];
    sum->time_ns += row[3];
    sum->longest_ns = sums_maximum(sum->longest_ns, row[4]);
}

static void number_calls(struct run_sum *run, const struct window_rows *rows,
                         struct row_numbers *numbers)
{
    uint32_t before = KEY_NONE, guess = numbers->call_count > 0 ? numbers->calls[0] : 0;
    numbers->calls_follow = 1;
    for (size_t i = 0; i < rows->call_count; i++) {
        const struct call_row *row = &rows->calls[i];
        int full = run->callers.count >= run->limits.calls;
        struct key key = {.hi = row->rank,
                          .lo =
                              (uint64_t)row->comm << 32 | (uint64_t)row->region << 16 | row->call};
        /* Beyond the limit the call is still told apart, but neither its communicator nor its
         * region. */
        if (full && key_table_find(&run->callers, key) == KEY_NONE)
            key.lo = row->call;
        uint32_t known = run->callers.count;
        uint32_t at = key_table_add(&run->callers, key, before, guess);
        if (at == known)
            run->call_of[at] = key_table_add_hashed(&run->calls, (struct key){.lo = key.lo});
        numbers->calls_follow &= i == 0 || at == before + 1;
        numbers->calls[i] = before = at;
    }
    numbers->call_count = rows->call_count;
}

/* Callers that follow each other. @return 0: one of them has been added to before, and nothing was
 * done */
static int add_fresh_callers(struct window_sum *w, struct figures_again list, uint32_t first,
                             uint32_t count)
{
    const uint32_t *call_of = w->run->call_of + first;
    struct call_figures *calls = w->figures.calls;
    const uint64_t *row = list.first;
    if (bits_any(w->figures.callers, first, count))
        return 0;
    bits_set(w->figures.callers, first, count);
    for (uint32_t i = 0; i < count; i++, row += list.stride) {
        struct call_figures *sum = &calls[call_of[i]];
        sum->ranks++;
        caller_add(sum, row);
    }
    return 1;
}

static void add_calls(struct window_sum *w, struct figures_again list,
                      const struct row_numbers *numbers)
{
    const uint64_t *row = list.first;
    if (numbers->call_count == 0 ||
        (numbers->calls_follow &&
         add_fresh_callers(w, list, numbers->calls[0], (uint32_t)numbers->call_count)))
        return;
    for (size_t i = 0; i < numbers->call_count; i++, row += list.stride) {
        uint32_t at = numbers->calls[i];
        struct call_figures *sum = &w->figures.calls[w->run->call_of[at]];
        sum->ranks += !bit_get(w->figures.callers, at);
        bit_set(w->figures.callers, at);
        caller_add(sum, row);
    }
}

static int window_sum_reserve(struct window_sum *w, const struct window_rows *rows,
                              struct row_numbers *numbers)
{
    struct run_sum *run = w->run;
    int code = key_table_reserve(&run->ranks, rows->rank_count);
    code = code != 0 ? code : key_table_reserve(&run->pairs, rows->pair_count);
    code = code != 0 ? code : key_table_reserve(&run->callers, rows->call_count);
    code = code != 0 ? code : key_table_reserve(&run->calls, rows->call_count);
    if (code == 0)
        code = array_fit(&numbers->pairs, sizeof(*numbers->pairs), &numbers->pair_room,
                         rows->pair_count);
    if (code == 0)
        code = array_fit(&numbers->calls, sizeof(*numbers->calls), &numbers->call_room,
                         rows->call_count);
    if (code == 0 && run->callers.room > run->call_of_room) {
        code = sums_grow((void **)&run->call_of, sizeof(*run->call_of), run->call_of_room,
                         run->callers.room);
        run->call_of_room = code == 0 ? run->callers.room : run->call_of_room;
    }
    return code != 0 ? code : figures_fit(&w->figures, run);
}

static int window_sum_add_rows(struct window_sum *w, const struct window_rows *rows,
                               struct row_numbers *numbers)
{
    struct figures_again calls = rows->calls_again;
    int code = window_sum_reserve(w, rows, numbers);
    code = code != 0 ? code : window_pairs_add(w, rows, numbers);
    if (code != 0)
        return code;
    window_ranks_add(w, rows, numbers);
    if (calls.first == NULL) {
        number_calls(w->run, rows, numbers);
        if (rows->call_count > 0)
            calls = (struct figures_again){&rows->calls[0].calls,
                                           sizeof(*rows->calls) / sizeof(uint64_t)};
    }
    add_calls(w, calls, numbers);
    return 0;
}

int window_sum_update(struct window_sum *window, const struct window_rows *rows,
                      struct row_numbers *numbers)
{
    struct row_numbers none = {0};
    struct run_sum *run = window->run;
    if (run->ranks.count + rows->rank_count > run->limits.ranks) {
        size_t unknown = 0;
        for (size_t i = 0; i < rows->rank_count; i++)
            unknown +=
                key_table_find(&run->ranks, (struct key){.hi = rows->ranks[i].rank}) == KEY_NONE;
        if (run->ranks.count + unknown > run->limits.ranks)
            return -ERANGE;
    }
    int code = window_sum_add_rows(window, rows, numbers == NULL ? &none : numbers);
    row_numbers_finish(&none);
    return code;
}

static void absorb_calls(struct run_sum *run, const struct figures *f)
{
    uint32_t calls = f->call_room < run->calls.count ? f->call_room : run->calls.count;
    for (uint32_t i = 0; i < calls; i++) {
        struct call_figures *sum = &run->total.calls[i];
        const struct call_figures *row = &f->calls[i];
        sum->calls += row->calls;
        sum->bytes += row->bytes;
        sum->bytes_in += row->bytes_in;
        sum->time_ns += row->time_ns;
        sum->longest_ns = sums_maximum(sum->longest_ns, row->longest_ns);
    }
    uint32_t callers = f->caller_room < run->callers.count ? f->caller_room : run->callers.count;
    for (uint32_t word = 0; word < (callers + 63) / 64; word++) {
        uint64_t fresh = f->callers[word] & ~run->total.callers[word];
        run->total.callers[word] |= fresh;
        for (; fresh != 0; fresh &= fresh - 1)
            run->total.calls[run->call_of[word * 64 + (uint32_t)__builtin_ctzll(fresh)]].ranks++;
    }
}

int run_sum_update(struct run_sum *run, struct window_sum *window, uint64_t number)
{
    struct figures *f = &window->figures;
    if (figures_fit(&run->total, run) != 0 || figures_fit_wide(&run->total) != 0)
        return -ENOMEM;
    run_ranks_owe(run, f, number);
    run_pairs_absorb(run, f);
    absorb_calls(run, f);
    return 0;
}

void window_sum_clear_pairs(struct window_sum *window)
{
    figures_clear_pairs(&window->figures);
}

size_t run_sum_pair_count(const struct run_sum *run)
{
    return run->pairs.count;
}

size_t run_sum_bytes(const struct run_sum *run)
{
    size_t orders = (size_t)run->rank_order.count + run->pair_order.count + run->call_order.count +
                    run->comm_positions + run->region_positions + run->call_of_room;
    return key_table_bytes(&run->ranks) + key_table_bytes(&run->pairs) +
           key_table_bytes(&run->callers) + key_table_bytes(&run->calls) +
           key_table_bytes(&run->comm_ids) + key_table_bytes(&run->region_names) +
           run->comm_room * sizeof(*run->comms) + run->region_room * sizeof(*run->regions) +
           orders * sizeof(uint32_t) + figures_bytes(&run->total) + figures_bytes(&run->spare);
}

size_t window_sum_bytes(const struct window_sum *window)
{
    return figures_bytes(&window->figures);
}

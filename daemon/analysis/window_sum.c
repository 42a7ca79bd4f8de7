#include "daemon/analysis/window_sum.h"

#include "daemon/analysis/array.h"
#include "daemon/analysis/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NEW_AHEAD 8u        /* rows between fetching a new pair's place and looking at it */
#define MOST_REGIONS 65535u /* the number of a region takes 16 bits of a key */

/* Grow an array to hold index need - 1, new elements zero. room is in elements and is shared by
 * arrays that grow together, so the caller updates it. */
static int grow(void **array, size_t element, uint32_t room, uint32_t need)
{
    /* The first time the kernel's zero pages do, and those that nobody writes take no memory. */
    void *grown = *array == NULL ? calloc(need, element) : realloc(*array, element * need);
    if (grown == NULL)
        return -ENOMEM;
    if (*array == NULL)
        room = need;
    *array = grown;
    memset((char *)grown + element * room, 0, element * (need - room));
    return 0;
}

static uint32_t larger_room(uint32_t room, uint32_t need)
{
    uint64_t grown = room + (uint64_t)room / 2;
    grown = grown < need ? need : grown;
    grown = (grown + 63) / 64 * 64; /* whole words of the bit arrays */
    return grown > UINT32_MAX - 63 ? UINT32_MAX - 63 : (uint32_t)grown;
}

static int figures_fit_ranks(struct figures *f, uint32_t need)
{
    if (need <= f->rank_room)
        return 0;
    uint32_t room = larger_room(f->rank_room, need);
    if (grow((void **)&f->ranks, sizeof(*f->ranks), f->rank_room, room) != 0 ||
        grow((void **)&f->rank_newest, sizeof(*f->rank_newest), f->rank_room, room) != 0 ||
        grow((void **)&f->rank_present, sizeof(uint64_t), f->rank_room / 64, room / 64) != 0)
        return -ENOMEM;
    f->rank_room = room;
    return 0;
}

static int figures_fit(struct figures *f, const struct run_sum *run)
{
    if (figures_fit_ranks(f, run->ranks.room) != 0)
        return -ENOMEM;
    if (run->pairs.room > f->pair_room) {
        uint32_t words = f->pair_room / PAIR_BLOCK / 64 + 1,
                 need = run->pairs.room / PAIR_BLOCK / 64 + 1;
        words = f->pair_blocks == NULL ? 0 : words;
        if (grow((void **)&f->pairs, sizeof(*f->pairs), f->pair_room, run->pairs.room) != 0 ||
            grow((void **)&f->pair_blocks, sizeof(uint64_t), words, need) != 0)
            return -ENOMEM;
        f->pair_room = run->pairs.room;
    }
    if (run->calls.room > f->call_room) {
        if (grow((void **)&f->calls, sizeof(*f->calls), f->call_room, run->calls.room) != 0)
            return -ENOMEM;
        f->call_room = run->calls.room;
    }
    if (run->callers.room > f->caller_room) {
        uint32_t room = larger_room(f->caller_room, run->callers.room);
        if (grow((void **)&f->callers, sizeof(uint64_t), f->caller_room / 64, room / 64) != 0)
            return -ENOMEM;
        f->caller_room = room;
    }
    return 0;
}

static void figures_finish(struct figures *f)
{
    free(f->ranks);
    free(f->rank_newest);
    free(f->rank_present);
    free(f->pairs);
    free(f->pair_blocks);
    free(f->calls);
    free(f->callers);
}

/* As if nothing had been added. Only what was added to is written: the rest may be pages that were never touched.
 */
static void figures_clear(struct figures *f)
{
    for (uint32_t from = 0; from < f->pair_room; from += PAIR_BLOCK) {
        uint32_t count = f->pair_room - from < PAIR_BLOCK ? f->pair_room - from : PAIR_BLOCK;
        if (bit_get(f->pair_blocks, from / PAIR_BLOCK))
            memset(&f->pairs[from], 0, count * sizeof(*f->pairs));
    }
    if (f->rank_room > 0)
        memset(f->rank_present, 0, f->rank_room / 64 * sizeof(*f->rank_present));
    f->pairs_seen = 0;
    if (f->pair_room > 0)
        memset(f->pair_blocks, 0, (f->pair_room / PAIR_BLOCK / 64 + 1) * sizeof(*f->pair_blocks));
    if (f->call_room > 0)
        memset(f->calls, 0, f->call_room * sizeof(*f->calls));
    if (f->caller_room > 0)
        memset(f->callers, 0, f->caller_room / 64 * sizeof(*f->callers));
}

static size_t figures_bytes(const struct figures *f)
{
    return f->rank_room * (sizeof(*f->ranks) + sizeof(*f->rank_newest)) + f->rank_room / 8 +
           f->pair_room * sizeof(*f->pairs) + f->call_room * sizeof(*f->calls) + f->caller_room / 8;
}

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

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void comm_merge(struct comm_row *into, const struct comm_row *from)
{
    into->parent = larger(into->parent, from->parent);
    into->size = larger(into->size, from->size);
    into->remote_size = larger(into->remote_size, from->remote_size);
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
            if (grow((void **)&run->comms, sizeof(*run->comms), run->comm_room, room) != 0)
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
        if (grow((void **)&run->regions, sizeof(row), run->region_room, room) != 0)
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
    window->run = run;
    window->figures = run->spare;
    run->spare = (struct figures){0};
    *out = window;
    return 0;
}

void window_sum_destroy(struct window_sum *window)
{
    if (window == NULL)
        return;
    /* Fresh memory costs two page faults for each page, one for reading and one for writing it:
     * more than adding the figures. */
    struct figures *spare = &window->run->spare;
    if (window->figures.pair_room >= spare->pair_room) {
        figures_finish(spare);
        *spare = window->figures;
        figures_clear(spare);
    } else {
        figures_finish(&window->figures);
    }
    free(window);
}

static void rank_row_take_state(struct rank_row *into, const struct rank_row *from)
{
    into->in_call = from->in_call;
    into->in_call_ns = from->in_call_ns;
    into->in_call_comm = from->in_call_comm;
    into->in_call_peer = from->in_call_peer;
    into->process_state = from->process_state;
}

void rank_row_merge_in_call(struct rank_row *into, const struct rank_row *from)
{
    int newer = from->in_call_ns != into->in_call_ns ? from->in_call_ns > into->in_call_ns
                : from->in_call != into->in_call     ? from->in_call > into->in_call
                : from->in_call_comm != into->in_call_comm
                    ? from->in_call_comm > into->in_call_comm
                    : from->in_call_peer > into->in_call_peer;
    uint32_t state =
        from->process_state > into->process_state ? from->process_state : into->process_state;
    if (newer)
        rank_row_take_state(into, from);
    into->process_state = state;
}

static void rank_row_add(struct rank_row *into, const struct rank_row *from)
{
#define X(name) into->name += from->name;
    RANK_SUMS(X)
#undef X
    into->threads = larger(into->threads, from->threads);
}

/* Here, where the row is at hand: rows of all ranks are too many to be read once more for this. */
static void totals_add(struct sum_totals *totals, const struct rank_row *row)
{
#define X(name) totals->name += row->name;
    RANK_SUMS(X)
#undef X
}

static void add_ranks(struct window_sum *w, const struct window_rows *rows,
                      struct row_numbers *numbers)
{
    uint32_t before = KEY_NONE;
    for (size_t i = 0; i < rows->rank_count; i++) {
        const struct rank_row *row = &rows->ranks[i];
        uint32_t at =
            key_table_add(&w->run->ranks, (struct key){.hi = row->rank}, before, numbers->rank);
        numbers->rank = i == 0 ? at : numbers->rank;
        before = at;
        struct rank_row *sum = &w->figures.ranks[at];
        totals_add(&w->totals, row);
        if (!bit_get(w->figures.rank_present, at)) {
            bit_set(w->figures.rank_present, at);
            w->totals.ranks++;
            *sum = *row;
            continue;
        }
        rank_row_add(sum, row);
        rank_row_merge_in_call(sum, row);
    }
}

/* Number of a pair when the table has reached its limit: its own if it is known, else that of the
 * rest of its source. */
static uint32_t pair_of_full_table(struct run_sum *run, const struct pair_row *row, struct key key)
{
    uint32_t at = key_table_find(&run->pairs, key);
    if (at != KEY_NONE)
        return at;
    run->turned_away++;
    return key_table_add_hashed(&run->pairs, pair_key(row->source, -1, 0, 0, 0));
}

static struct key key_of_pair(const struct pair_row *row)
{
    return pair_key(row->source, row->destination, row->comm, row->region, row->size_class);
}

static void pair_figures_add(struct figures *f, uint32_t at, uint64_t messages, uint64_t bytes)
{
    struct pair_figures *sum = &f->pairs[at];
    f->pairs_seen += sum->messages == 0 && messages != 0;
    sum->messages += messages;
    sum->bytes += bytes;
}

static void add_pairs(struct window_sum *w, const struct window_rows *rows,
                      struct row_numbers *numbers)
{
    struct run_sum *run = w->run;
    uint64_t turned_away = run->turned_away;
    uint32_t before = KEY_NONE, guess = numbers->pair_count > 0 ? numbers->pairs[0] : 0;
    for (size_t i = 0; i < rows->pair_count; i++) {
        const struct pair_row *row = &rows->pairs[i];
        struct key key = key_of_pair(row);
        uint32_t known = run->pairs.count;
        uint32_t at = known < run->limits.pairs ? key_table_add(&run->pairs, key, before, guess)
                                                : pair_of_full_table(run, row, key);
        if (at == known && i + NEW_AHEAD < rows->pair_count) /* one new pair is rarely alone */
            key_table_prefetch(&run->pairs, key_of_pair(&rows->pairs[i + NEW_AHEAD]));
        numbers->pairs[i] = before = at;
        bit_set(w->figures.pair_blocks, at / PAIR_BLOCK);
        pair_figures_add(&w->figures, at, row->messages, row->bytes);
    }
    /* Rows that are turned away are counted each time. */
    numbers->pair_count = run->turned_away == turned_away ? rows->pair_count : 0;
}

static void add_pairs_again(struct window_sum *w, const struct pair_figures *rows,
                            const struct row_numbers *numbers)
{
    for (size_t i = 0; i < numbers->pair_count; i++) {
        uint32_t at = numbers->pairs[i];
        bit_set(w->figures.pair_blocks, at / PAIR_BLOCK);
        pair_figures_add(&w->figures, at, rows[i].messages, rows[i].bytes);
    }
}

static void caller_add(struct window_sum *w, uint32_t at, const struct caller_figures *row)
{
    struct call_figures *sum = &w->figures.calls[w->run->call_of[at]];
    sum->calls += row->calls;
    sum->bytes += row->bytes;
    sum->bytes_in += row->bytes_in;
    sum->time_ns += row->time_ns;
    sum->longest_ns = larger(sum->longest_ns, row->longest_ns);
    sum->ranks += !bit_get(w->figures.callers, at);
    bit_set(w->figures.callers, at);
}

static void add_calls(struct window_sum *w, const struct window_rows *rows,
                      struct row_numbers *numbers)
{
    struct run_sum *run = w->run;
    uint32_t before = KEY_NONE, guess = numbers->call_count > 0 ? numbers->calls[0] : 0;
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
        numbers->calls[i] = before = at;
        caller_add(w, at,
                   &(struct caller_figures){row->calls, row->bytes, row->bytes_in, row->time_ns,
                                            row->longest_ns});
    }
    numbers->call_count = rows->call_count;
}

static void add_calls_again(struct window_sum *w, const struct caller_figures *rows,
                            const struct row_numbers *numbers)
{
    for (size_t i = 0; i < numbers->call_count; i++)
        caller_add(w, numbers->calls[i], &rows[i]);
}

static int reserve(struct window_sum *w, const struct window_rows *rows,
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
        code = grow((void **)&run->call_of, sizeof(*run->call_of), run->call_of_room,
                    run->callers.room);
        run->call_of_room = code == 0 ? run->callers.room : run->call_of_room;
    }
    return code != 0 ? code : figures_fit(&w->figures, run);
}

static int add_rows(struct window_sum *w, const struct window_rows *rows,
                    struct row_numbers *numbers)
{
    int code = reserve(w, rows, numbers);
    if (code != 0)
        return code;
    add_ranks(w, rows, numbers);
    if (rows->pairs_again != NULL)
        add_pairs_again(w, rows->pairs_again, numbers);
    else
        add_pairs(w, rows, numbers);
    if (rows->calls_again != NULL)
        add_calls_again(w, rows->calls_again, numbers);
    else
        add_calls(w, rows, numbers);
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
    int code = add_rows(window, rows, numbers == NULL ? &none : numbers);
    row_numbers_finish(&none);
    return code;
}

static void absorb_ranks(struct figures *total, const struct figures *f, uint32_t count,
                         uint64_t number)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!bit_get(f->rank_present, i))
            continue;
        struct rank_row *sum = &total->ranks[i];
        const struct rank_row *row = &f->ranks[i];
        rank_row_add(sum, row);
        int first = !bit_get(total->rank_present, i);
        if (!first && number == total->rank_newest[i]) {
            rank_row_merge_in_call(sum, row);
        } else if (first || number > total->rank_newest[i]) {
            sum->rank = row->rank;
            rank_row_take_state(sum, row);
            total->rank_newest[i] = number;
        }
        bit_set(total->rank_present, i);
    }
}

static void absorb_pairs(struct figures *total, const struct figures *f, uint32_t count)
{
    for (uint32_t from = 0; from < count; from += PAIR_BLOCK) {
        if (!bit_get(f->pair_blocks, from / PAIR_BLOCK))
            continue;
        uint32_t to = count - from < PAIR_BLOCK ? count : from + PAIR_BLOCK;
        for (uint32_t i = from; i < to; i++) {
            total->pairs[i].messages += f->pairs[i].messages;
            total->pairs[i].bytes += f->pairs[i].bytes;
        }
    }
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
        sum->longest_ns = larger(sum->longest_ns, row->longest_ns);
    }
    uint32_t callers = f->caller_room < run->callers.count ? f->caller_room : run->callers.count;
    for (uint32_t word = 0; word < (callers + 63) / 64; word++) {
        uint64_t fresh = f->callers[word] & ~run->total.callers[word];
        run->total.callers[word] |= fresh;
        for (; fresh != 0; fresh &= fresh - 1)
            run->total.calls[run->call_of[word * 64 + (uint32_t)__builtin_ctzll(fresh)]].ranks++;
    }
}

int run_sum_update(struct run_sum *run, const struct window_sum *window, uint64_t number)
{
    const struct figures *f = &window->figures;
    if (figures_fit(&run->total, run) != 0)
        return -ENOMEM;
    absorb_ranks(&run->total, f, f->rank_room < run->ranks.count ? f->rank_room : run->ranks.count,
                 number);
    absorb_pairs(&run->total, f, f->pair_room < run->pairs.count ? f->pair_room : run->pairs.count);
    absorb_calls(run, f);
    return 0;
}

void window_sum_totals(const struct window_sum *window, struct sum_totals *out)
{
    *out = window->totals;
}

void run_sum_totals(const struct run_sum *run, struct sum_totals *out)
{
    const struct figures *f = &run->total;
    *out = (struct sum_totals){0};
    for (uint32_t i = 0; i < run->ranks.count && i < f->rank_room; i++) {
        if (!bit_get(f->rank_present, i))
            continue;
        out->ranks++;
        totals_add(out, &f->ranks[i]);
    }
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

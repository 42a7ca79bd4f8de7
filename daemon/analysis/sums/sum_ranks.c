/* Figures of ranks: of a window, and of the run. */
#include "daemon/analysis/sums/sums.h"
#include "daemon/analysis/tables/fetch.h"

#include <errno.h>
#include <string.h>

static void sum_ranks_copy_state(struct rank_row *into, const struct rank_row *from)
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
        sum_ranks_copy_state(into, from);
    into->process_state = state;
}

static uint32_t has_seldom(const struct rank_row *row)
{
    uint64_t any = 0;
#define X(name) any |= row->name;
    RANK_SELDOM(X)
#undef X
    return any != 0;
}

/* @param seldom  of RANK_SELDOM some are not 0 */
static void rank_row_add(struct rank_row *restrict into, const struct rank_row *restrict from,
                         uint32_t seldom)
{
#define X(name) into->name += from->name;
    RANK_OFTEN(X)
    if (seldom) {
        RANK_SELDOM(X)
    }
#undef X
    into->seldom |= seldom;
    into->threads = sums_maximum(into->threads, from->threads);
}

/* In place of what the row held. */
static void rank_row_set(struct rank_row *restrict row, const struct rank_row *restrict from,
                         uint32_t seldom)
{
    uint32_t before = row->seldom;
    memcpy(row, from, RANK_ROW_OFTEN);
    if (seldom | before)
        memcpy(&row->lost, &from->lost, sizeof(*row) - RANK_ROW_OFTEN);
    row->seldom = seldom;
}

/* Here, where the row is at hand: rows of all ranks are too many to be read once more for this. */
static void totals_add(struct sum_totals *restrict totals, const struct rank_row *restrict row,
                       uint32_t seldom)
{
#define X(name) totals->name += row->name;
    RANK_OFTEN(X)
    if (seldom) {
        RANK_SELDOM(X)
    }
#undef X
}

/* ---- the run ----------------------------------------------------------------- */

/* A row of a window that was added to the run comes to the run's. */
static void sum_ranks_settle_row(struct run_sum *run, struct figures *f, uint32_t at)
{
    struct figures *total = &run->total;
    const struct rank_row *row = &f->ranks[at];
    struct rank_row *sum = &total->ranks[at];
    rank_row_add(sum, row, row->seldom);
    int first = !bit_get(total->rank_present, at);
    if (!first && f->owed_number == total->rank_newest[at]) {
        rank_row_merge_in_call(sum, row);
    } else if (first || f->owed_number > total->rank_newest[at]) {
        sum->rank = row->rank;
        sum_ranks_copy_state(sum, row);
        total->rank_newest[at] = f->owed_number;
    }
    bit_set(total->rank_present, at);
    f->rank_owed[at / 64] &= ~(UINT64_C(1) << at % 64);
}

void run_ranks_pay(struct run_sum *run)
{
    struct figures *f = run->owing;
    for (uint32_t word = 0; f != NULL && word < f->rank_room / 64; word++)
        while (f->rank_owed[word] != 0)
            sum_ranks_settle_row(run, f, word * 64 + (uint32_t)__builtin_ctzll(f->rank_owed[word]));
    run->owing = NULL;
}

void run_ranks_moved(struct run_sum *run, const struct figures *from, struct figures *to)
{
    if (run->owing != from)
        return;
    if (to == NULL)
        run_ranks_pay(run);
    else
        run->owing = to;
}

void run_ranks_owe(struct run_sum *run, struct figures *f, uint64_t number)
{
    run_ranks_pay(run);
    if (f->rank_room > 0)
        memcpy(f->rank_owed, f->rank_present, f->rank_room / 64 * sizeof(*f->rank_owed));
    f->owed_number = number;
    run->owing = f;
}

/* ---- a window ---------------------------------------------------------------- */

/* Number of a rank. As long as new ones come in order their numbers are in order too. Ranks of a
 * list have the number after that of the one before them mostly, which the row tells that is
 * written next: then no key is looked at. */
static uint32_t sum_ranks_number_of_rank(struct window_sum *w, uint32_t rank, uint32_t before,
                                         uint32_t guess)
{
    struct key_table *table = &w->run->ranks;
    uint32_t known = table->count, next = before == KEY_NONE ? guess : before + 1;
    if (rank != 0 && next < known && w->figures.ranks[next].rank == rank)
        return next;
    uint32_t at = key_table_add(table, (struct key){.hi = rank}, before, guess);
    if (at == known && w->run->ranks_in_order == known &&
        (known == 0 || table->keys[known - 1].hi < rank))
        w->run->ranks_in_order++;
    return at;
}

void window_ranks_add(struct window_sum *w, const struct window_rows *rows,
                      struct row_numbers *numbers)
{
    struct figures *f = &w->figures;
    const struct figures *total = &w->run->total;
    uint32_t before = KEY_NONE;
    for (size_t i = 0; i < rows->rank_count; i++) {
        const struct rank_row *row = &rows->ranks[i];
        uint32_t at = sum_ranks_number_of_rank(w, row->rank, before, numbers->rank);
        numbers->rank = i == 0 ? at : numbers->rank;
        before = at;
        struct rank_row *sum = &f->ranks[at];
        uint32_t seldom = has_seldom(row);
        fetch_ahead(f->ranks, sizeof(*sum), f->rank_room, at, RANK_ROW_OFTEN);
        fetch_ahead(total->ranks, sizeof(*sum), total->rank_room, at, RANK_ROW_OFTEN);
        totals_add(&w->totals, row, seldom);
        if (bit_get(f->rank_owed, at))
            sum_ranks_settle_row(w->run, f, at);
        if (!bit_get(f->rank_present, at)) {
            bit_set(f->rank_present, at);
            w->totals.ranks++;
            rank_row_set(sum, row, seldom);
            continue;
        }
        rank_row_add(sum, row, seldom);
        rank_row_merge_in_call(sum, row);
    }
}

void window_sum_totals(const struct window_sum *window, struct sum_totals *out)
{
    *out = window->totals;
}

void run_sum_totals(struct run_sum *run, struct sum_totals *out)
{
    const struct figures *f = &run->total;
    run_ranks_pay(run);
    *out = (struct sum_totals){0};
    for (uint32_t i = 0; i < run->ranks.count && i < f->rank_room; i++) {
        if (!bit_get(f->rank_present, i))
            continue;
        out->ranks++;
        totals_add(out, &f->ranks[i], f->ranks[i].seldom);
    }
}

/* ---- numbers in order ------------------------------------------------------ */

/* Figures of the run, by other numbers. @param order  by new number: the old one */
static int move_figures(struct figures *f, const uint32_t *order, uint32_t count)
{
    struct figures moved = {0};
    if (f->rank_room == 0)
        return 0;
    if (figures_fit_ranks(&moved, f->rank_room) != 0) {
        figures_finish(&moved);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t from = order[i];
        if (from >= f->rank_room || !bit_get(f->rank_present, from))
            continue;
        if (i >= moved.rank_room && figures_fit_ranks(&moved, i + 1) != 0) {
            figures_finish(&moved);
            return -ENOMEM;
        }
        moved.ranks[i] = f->ranks[from];
        moved.rank_newest[i] = f->rank_newest[from];
        bit_set(moved.rank_present, i);
    }
    figures_swap_ranks(f, &moved);
    figures_finish(&moved);
    return 0;
}

void run_ranks_settle(struct run_sum *run)
{
    struct key_table table;
    uint32_t count = run->ranks.count;
    if (run->windows > 0 || run->ranks_in_order == count || order_positions(run) != 0 ||
        order_update(&run->rank_order, &run->ranks, run) != 0)
        return;
    run_ranks_pay(run);
    key_table_init(&table);
    if (key_table_reserve(&table, run->ranks.room) != 0 ||
        move_figures(&run->total, run->rank_order.numbers, count) != 0) {
        key_table_finish(&table);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        key_table_add_hashed(&table, run->ranks.keys[run->rank_order.numbers[i]]);
        run->rank_order.numbers[i] = i;
    }
    key_table_finish(&run->ranks);
    run->ranks = table;
    run->ranks_in_order = count;
    figures_finish(&run->spare); /* its rows are those of other ranks now */
    run->spare = (struct figures){0};
}

/* Bars of the CommGram: the communities of each phase, in an order that keeps ribbons short. */
#include "daemon/analysis/commgram/commgram_bars.h"

#include "daemon/analysis/commgram/commgram_cut.h"
#include "daemon/analysis/tables/array.h"
#include "holter/bisect.h"
#include "holter/order.h"

#include <errno.h>
#include <stdlib.h>

/* A bar before bars are ordered. */
struct seat {
    struct wire_bar_row bar;
    uint64_t rank_sum;
    uint32_t lowest; /* lowest rank */
    uint32_t number; /* index before ordering */
};

/* A column while its bars are made. */
struct work {
    const struct commgram_seats *given;
    struct commgram_names *names; /* place: index of the seat, later of the bar */
    struct seat *seats;           /* owned */
    uint32_t seat_count;
    uint32_t *seat_of; /* owned; by rank: index of the seat, later of the bar; or ABSENT */
    struct key_place *silent, *spare; /* owned; ranks whose community has no bar of its own */
    uint32_t silent_count;
};

static void work_finish(struct work *w)
{
    free(w->seats);
    free(w->seat_of);
    free(w->silent < w->spare ? w->silent : w->spare);
}

static int work_init(struct work *w, const struct commgram_seats *given,
                     struct commgram_names *names)
{
    size_t ranks = given->ranks;
    *w = (struct work){.given = given, .names = names};
    /* At most as many identities and seats as ranks, and the seat of the silent ones. */
    if (ARRAY_RESIZE(names->names, ranks + 1) != 0)
        return -ENOMEM;
    names->count = 0;
    w->seats = calloc(ranks + 1, sizeof(*w->seats));
    w->seat_of = malloc((ranks + 1) * sizeof(*w->seat_of));
    w->silent = malloc((2 * ranks + 1) * sizeof(*w->silent));
    w->spare = w->silent == NULL ? NULL : w->silent + ranks;
    return w->seats == NULL || w->seat_of == NULL || w->silent == NULL ? -ENOMEM : 0;
}

void commgram_names_finish(struct commgram_names *names)
{
    free(names->names);
    *names = (struct commgram_names){0};
}

void commgram_bars_finish(struct commgram_bars *bars)
{
    free(bars->bars);
    free(bars->runs);
    *bars = (struct commgram_bars){0};
}

static void sort_names(struct work *w)
{
    struct commgram_names *n = w->names;
    struct key_place *spare = w->spare; /* unused while names are sorted */
    struct key_place *sorted = key_order(n->names, spare, n->count);
    for (uint32_t i = 0; sorted != n->names && i < n->count; i++)
        n->names[i] = sorted[i];
}

uint32_t commgram_names_find(const struct commgram_names *n, uint64_t identity)
{
    uint32_t low = BISECT(i, 0, n->count, n->names[i].key < identity);
    return low < n->count && n->names[low].key == identity ? n->names[low].place : COMMGRAM_SILENT;
}

static uint32_t add_seat(struct work *w, const struct wire_bar_row *bar)
{
    uint32_t number = w->seat_count++;
    w->seats[number] = (struct seat){.bar = *bar, .number = number};
    return number;
}

static void name_seat(struct work *w, uint64_t identity, uint32_t seat)
{
    w->names->names[w->names->count++] = (struct key_place){identity, seat};
}

static void seat_communities(struct work *w)
{
    for (uint32_t i = 0; i < w->given->own_count; i++)
        name_seat(w, w->given->own[i].community, add_seat(w, &w->given->own[i]));
    sort_names(w);
    for (uint32_t r = 0; r < w->given->ranks; r++) {
        uint32_t identity = w->given->identity[r];
        w->seat_of[r] = COMMGRAM_ABSENT;
        if (identity == COMMGRAM_ABSENT)
            continue;
        uint32_t seat = commgram_names_find(w->names, identity);
        if (seat == COMMGRAM_SILENT)
            w->silent[w->silent_count++] = (struct key_place){identity, r};
        else
            w->seat_of[r] = seat;
    }
}

/* A community whose ranks are all silent: a range of the silent ranks, sorted by identity. */
struct silence {
    uint32_t identity, begin, count;
};

/* Orders by number of ranks, most first; of equals the lower identity. */
ORDER_FUNCTION(commgram_bars_compare_by_size, struct silence,
               2 * ORDER(b->count, a->count) + ORDER(a->identity, b->identity))

static uint32_t list_silences(const struct work *w, const struct key_place *by_identity,
                              struct silence *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->silent_count; i++) {
        uint32_t identity = (uint32_t)by_identity[i].key;
        if (count == 0 || out[count - 1].identity != identity)
            out[count++] = (struct silence){identity, i, 0};
        out[count - 1].count++;
    }
    return count;
}

static int seat_silent(struct work *w)
{
    if (w->silent_count == 0)
        return 0;
    struct silence *all = malloc(w->silent_count * sizeof(*all));
    if (all == NULL)
        return -ENOMEM;
    struct key_place *sorted = key_order(w->silent, w->spare, w->silent_count);
    w->spare = sorted == w->silent ? w->spare : w->silent;
    w->silent = sorted;
    uint32_t count = list_silences(w, sorted, all), together = COMMGRAM_SILENT;
    qsort(all, count, sizeof(*all), commgram_bars_compare_by_size);
    for (uint32_t i = 0; i < count; i++) {
        struct wire_bar_row bar = {.community = all[i].identity};
        uint32_t seat = together;
        if (together == COMMGRAM_SILENT) {
            bool capacity = w->seat_count < w->given->communities;
            bar.community = capacity ? bar.community : COMMGRAM_SILENT;
            seat = add_seat(w, &bar);
            together = capacity ? together : seat;
        }
        name_seat(w, all[i].identity, seat);
        for (uint32_t k = 0; k < all[i].count; k++)
            w->seat_of[sorted[all[i].begin + k].place] = seat;
    }
    free(all);
    sort_names(w);
    return 0;
}

static int by_mean_rank(const void *left, const void *right)
{
    const struct seat *a = left, *b = right;
    uint64_t one = a->rank_sum * b->bar.ranks, other = b->rank_sum * a->bar.ranks;
    return 2 * ORDER(one, other) + ORDER(a->lowest, b->lowest);
}

/* Orders the seats, which become bars. @return 0 or -ENOMEM */
static int order_seats(struct work *w)
{
    uint32_t *bar_of = malloc((w->seat_count + (size_t)1) * sizeof(*bar_of));
    if (bar_of == NULL)
        return -ENOMEM;
    for (uint32_t r = w->given->ranks; r-- > 0;)
        if (w->seat_of[r] != COMMGRAM_ABSENT) {
            struct seat *seat = &w->seats[w->seat_of[r]];
            seat->bar.ranks++;
            seat->rank_sum += r;
            seat->lowest = r;
        }
    qsort(w->seats, w->seat_count, sizeof(*w->seats), by_mean_rank);
    for (uint32_t i = 0; i < w->seat_count; i++)
        bar_of[w->seats[i].number] = i;
    for (uint32_t r = 0; r < w->given->ranks; r++)
        if (w->seat_of[r] != COMMGRAM_ABSENT)
            w->seat_of[r] = bar_of[w->seat_of[r]];
    for (uint32_t i = 0; i < w->names->count; i++)
        w->names->names[i].place = bar_of[w->names->names[i].place];
    free(bar_of);
    return 0;
}

/* Sorts the ranks by bar, then writes runs of them. */
static int commgram_bars_write_runs(struct work *w, struct commgram_bars *out)
{
    uint32_t *begin = calloc(w->seat_count + (size_t)2, sizeof(*begin)), total = 0;
    uint32_t *order = malloc((w->given->ranks + (size_t)1) * sizeof(*order));
    int rc = -ENOMEM;
    if (begin != NULL && order != NULL)
        rc = ARRAY_FIT(out->runs, out->run_capacity, out->run_count + w->given->ranks);
    for (uint32_t i = 0; rc == 0 && i < w->seat_count; i++) {
        begin[i] = total;
        total += (uint32_t)w->seats[i].bar.ranks;
    }
    for (uint32_t r = 0; rc == 0 && r < w->given->ranks; r++)
        if (w->seat_of[r] != COMMGRAM_ABSENT)
            order[begin[w->seat_of[r]]++] = r;
    struct wire_bar_ranks_row *run = NULL;
    for (uint32_t i = 0; rc == 0 && i < total; i++) {
        uint32_t bar = w->seat_of[order[i]];
        if (run == NULL || run->bar != bar || run->rank + run->count != order[i]) {
            run = &out->runs[out->run_count++];
            *run = (struct wire_bar_ranks_row){w->given->column, bar, order[i], 0};
        }
        run->count++;
    }
    free(begin);
    free(order);
    return rc;
}

static int write_bars(struct work *w, struct commgram_bars *out)
{
    if (ARRAY_FIT(out->bars, out->bar_capacity, out->bar_count + w->seat_count) != 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < w->seat_count; i++) {
        struct wire_bar_row *bar = &out->bars[out->bar_count++];
        *bar = w->seats[i].bar;
        bar->column = w->given->column;
        bar->bar = i;
    }
    return 0;
}

int commgram_bars_add(struct commgram_bars *bars, const struct commgram_seats *seats,
                      struct commgram_names *names)
{
    struct work w;
    int rc = work_init(&w, seats, names);
    if (rc == 0) {
        seat_communities(&w);
        rc = seat_silent(&w);
    }
    if (rc == 0)
        rc = order_seats(&w);
    if (rc == 0)
        rc = commgram_bars_write_runs(&w, bars);
    if (rc == 0)
        rc = write_bars(&w, bars);
    work_finish(&w);
    return rc;
}

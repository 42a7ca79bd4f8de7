/* Assignments of the largest sum between rows and columns of a sparse table. */
#include "daemon/analysis/communities/assignment.h"

#include "daemon/analysis/tables/array.h"

#include "daemon/analysis/tables/heap.h"
#include "holter/error.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define NONE ASSIGNMENT_NONE
#define BIDS 4u /* bids for each row, on average, before paths are searched */

/* Potentials: row.price + column.price is at least the weight of their entry, and equal to it where
 * they are assigned; a column without a row has price 0, and so has a row that was left without a
 * column for good. The sum of all potentials is what no assignment exceeds. */
struct row {
    uint64_t price;
    uint64_t best;   /* its largest entry */
    uint32_t begin;  /* of its entries; they end where those of the next row begin */
    uint32_t column; /* or NONE */
};

struct column {
    uint64_t price;
    uint64_t distance; /* from the row that a path is searched for */
    uint32_t row;      /* or NONE */
    uint32_t before;   /* row by which it was reached */
    bool reached;      /* in this search */
    bool closed;       /* its distance is final */
};

/* Of a column, while rows are appended: apart, since all of it stays in the nearest cache. */
struct tally {
    uint64_t best;  /* its largest entry */
    uint32_t entry; /* in the last row that has one for it; NONE: no row has */
};

/* A column on the heap. Those that were reached again on a shorter way are there twice. */
struct item {
    uint64_t distance;
    uint32_t column;
};

struct assignment {
    struct assignment_params params;
    int error;
    uint32_t rows, columns, entries;
    uint32_t row_capacity, column_capacity, entry_capacity, heap_capacity;
    struct row *row;                /* owned; one more than rows, for the end of the last */
    struct column *column;          /* owned */
    struct tally *tally;            /* owned; of each column */
    struct assignment_entry *entry; /* owned; row by row */
    struct item *heap;              /* owned; at most one item for each entry */
    uint32_t *touched; /* owned; columns reached in this search; capacity of all columns */
    uint32_t *queue;   /* owned; rows without a column; capacity of all rows */
    uint32_t heaped, touches;
    uint64_t total;
    uint64_t row_bound, column_bound;
    uint64_t bound; /* sum of potentials */
};

int assignment_create(struct assignment **out, const struct assignment_params *params)
{
    if (params->most_rows == 0 || params->most_rows > ASSIGNMENT_MAXIMUM ||
        params->most_columns == 0 || params->most_columns > ASSIGNMENT_MAXIMUM ||
        params->most_entries == 0 || params->most_entries > ASSIGNMENT_MAXIMUM)
        return -HOLTER_ERANGE;
    struct assignment *a = calloc(1, sizeof(*a));
    if (a == NULL)
        return -ENOMEM;
    a->params = *params;
    *out = a;
    return 0;
}

void assignment_destroy(struct assignment *a)
{
    if (a == NULL)
        return;
    free(a->row);
    free(a->column);
    free(a->tally);
    free(a->entry);
    free(a->heap);
    free(a->touched);
    free(a->queue);
    free(a);
}

void assignment_clear(struct assignment *a)
{
    a->error = 0;
    a->rows = a->columns = a->entries = 0;
    a->total = a->row_bound = a->column_bound = 0;
}

static uint32_t grow_to(uint32_t need, uint32_t capacity)
{
    return need <= capacity ? capacity : need + need / 2 + 64;
}

static int assignment_fit_rows(struct assignment *a, uint32_t need)
{
    uint32_t capacity = grow_to(need, a->row_capacity);
    if (capacity > a->row_capacity &&
        (ARRAY_RESIZE(a->row, capacity) != 0 || ARRAY_RESIZE(a->queue, capacity) != 0))
        return -ENOMEM;
    a->row_capacity = capacity;
    return 0;
}

/* Columns are new from a->columns on: what an earlier table left there is wiped. */
static int assignment_fit_columns(struct assignment *a, uint32_t need)
{
    uint32_t capacity = grow_to(need, a->column_capacity);
    if (capacity > a->column_capacity &&
        (ARRAY_RESIZE(a->column, capacity) != 0 || ARRAY_RESIZE(a->tally, capacity) != 0 ||
         ARRAY_RESIZE(a->touched, capacity) != 0))
        return -ENOMEM;
    a->column_capacity = capacity;
    for (; a->columns < need; a->columns++)
        a->tally[a->columns] = (struct tally){.entry = NONE};
    return 0;
}

static int fit_entries(struct assignment *a, uint32_t need)
{
    uint32_t capacity = grow_to(need, a->entry_capacity);
    if (capacity > a->entry_capacity && ARRAY_RESIZE(a->entry, capacity) != 0)
        return -ENOMEM;
    a->entry_capacity = capacity;
    return 0;
}

/* Add to the row whose entries begin at `begin`. */
static int assignment_add(struct assignment *a, uint32_t begin, const struct assignment_entry *one)
{
    if (one->column >= a->params.most_columns || one->weight > ASSIGNMENT_TOTAL - a->total)
        return -HOLTER_ERANGE;
    if (one->column >= a->columns && assignment_fit_columns(a, one->column + 1) != 0)
        return -ENOMEM;
    struct tally *tally = &a->tally[one->column];
    a->total += one->weight;
    if (tally->entry != NONE && tally->entry >= begin) {
        a->entry[tally->entry].weight += one->weight;
        return 0;
    }
    if (a->entries >= a->params.most_entries)
        return -HOLTER_ELIMIT;
    if (a->entries >= a->entry_capacity && fit_entries(a, a->entries + 1) != 0)
        return -ENOMEM;
    tally->entry = a->entries;
    a->entry[a->entries++] = *one;
    return 0;
}

int assignment_row(struct assignment *a, const struct assignment_entry *entries, uint32_t count)
{
    uint32_t begin = a->entries;
    if (a->error == 0 && a->rows >= a->params.most_rows)
        a->error = -HOLTER_ELIMIT;
    if (a->error == 0)
        a->error = assignment_fit_rows(a, a->rows + 2);
    for (uint32_t i = 0; a->error == 0 && i < count; i++)
        if (entries[i].weight != 0)
            a->error = assignment_add(a, begin, &entries[i]);
    if (a->error != 0)
        return a->error;
    uint64_t maximum = 0;
    for (uint32_t i = begin; i < a->entries; i++) {
        uint64_t weight = a->entry[i].weight;
        struct tally *tally = &a->tally[a->entry[i].column];
        maximum = weight > maximum ? weight : maximum;
        if (weight > tally->best) {
            a->column_bound += weight - tally->best;
            tally->best = weight;
        }
    }
    a->row_bound += maximum;
    a->row[a->rows++] = (struct row){.begin = begin, .best = maximum, .column = NONE};
    a->row[a->rows].begin = a->entries;
    return 0;
}

static void assignment_assign(struct assignment *a, uint32_t row, uint32_t column)
{
    a->row[row].column = column;
    a->column[column].row = row;
}

/* ---- bids ---------------------------------------------------------------------- */

/* A column by what it leaves to a row: weight less price. */
struct offer {
    uint64_t gain, next; /* of the best and of the second best, 0 if there is none */
    uint32_t column;     /* the best; NONE if none leaves anything */
};

/* Among equal offers a column without a row comes first. */
static struct offer best_offer(const struct assignment *a, uint32_t row)
{
    struct offer best = {.column = NONE};
    for (uint32_t i = a->row[row].begin; i < a->row[row + 1].begin; i++) {
        const struct column *column = &a->column[a->entry[i].column];
        if (a->entry[i].weight <= column->price)
            continue;
        uint64_t gain = a->entry[i].weight - column->price;
        if (gain > best.gain ||
            (gain == best.gain && column->row == NONE && a->column[best.column].row != NONE)) {
            best.next = best.gain;
            best.gain = gain;
            best.column = a->entry[i].column;
        } else if (gain > best.next) {
            best.next = gain;
        }
    }
    return best;
}

/* A row takes the column that leaves it most, and pays for it what makes the second best as good.
 * @return the row that had the column, now without, or NONE */
static uint32_t assignment_bid(struct assignment *a, uint32_t row, bool *left)
{
    struct offer offer = best_offer(a, row);
    a->bound -= a->row[row].price - offer.gain;
    a->row[row].price = offer.gain;
    *left = false;
    if (offer.column == NONE)
        return NONE;
    uint32_t had = a->column[offer.column].row;
    if (had != NONE && offer.gain == offer.next) {
        *left = true; /* would go round in circles: a path has to be searched */
        return NONE;
    }
    a->row[row].price = offer.next;
    a->column[offer.column].price += offer.gain - offer.next;
    if (had != NONE)
        a->row[had].column = NONE;
    assignment_assign(a, row, offer.column);
    return had;
}

/* Leaves rows without a column and with a price in a->queue. @return how many */
static uint32_t bid_all(struct assignment *a, uint64_t minimum)
{
    uint32_t left = 0;
    uint64_t bids = (uint64_t)a->rows * BIDS;
    for (uint32_t i = 0; i < a->rows && a->bound >= minimum; i++) {
        bool is_left = false;
        uint32_t row = i;
        while (row != NONE && !is_left && bids > 0) {
            uint32_t had = assignment_bid(a, row, &is_left);
            row = is_left ? row : had;
            bids--;
        }
        if (row != NONE)
            a->queue[left++] = row;
    }
    return left;
}

/* ---- paths --------------------------------------------------------------------- */

static bool assignment_is_before(const struct item *one, const struct item *other)
{
    return one->distance != other->distance ? one->distance < other->distance
                                            : one->column < other->column;
}

HEAP(item_heap, struct item, assignment_is_before)

static struct item assignment_pop(struct assignment *a)
{
    struct item top = a->heap[0];
    a->heaped--;
    item_heap_sink(a->heap, a->heaped, 0, a->heap[a->heaped]);
    return top;
}

/* Where the shortest path found so far ends. */
struct end {
    uint64_t length;
    uint32_t column; /* without a row; or NONE */
    uint32_t row;    /* row that stays without a column; valid if column is NONE */
};

/* Look at the entries of a row at some distance. */
static void assignment_scan(struct assignment *a, uint32_t row, uint64_t distance, struct end *end)
{
    uint64_t price = a->row[row].price;
    for (uint32_t i = a->row[row].begin; i < a->row[row + 1].begin; i++) {
        struct column *column = &a->column[a->entry[i].column];
        uint64_t to = distance + price + column->price - a->entry[i].weight;
        if (to >= end->length || (column->reached && column->distance <= to))
            continue;
        if (!column->reached)
            a->touched[a->touches++] = a->entry[i].column;
        column->reached = true;
        column->distance = to;
        column->before = row;
        if (column->row == NONE)
            *end = (struct end){.length = to, .column = a->entry[i].column, .row = NONE};
        else
            item_heap_rise(a->heap, a->heaped++, (struct item){to, a->entry[i].column});
        if (end->length == distance)
            return; /* there is none shorter */
    }
}

static struct end assignment_search(struct assignment *a, uint32_t from)
{
    struct end end = {.length = a->row[from].price, .column = NONE, .row = from};
    a->heaped = 0;
    assignment_scan(a, from, 0, &end);
    while (a->heaped > 0 && a->heap[0].distance < end.length) {
        struct item item = assignment_pop(a);
        struct column *column = &a->column[item.column];
        if (column->closed)
            continue;
        column->closed = true;
        uint64_t leave = item.distance + a->row[column->row].price;
        if (leave < end.length)
            end = (struct end){.length = leave, .column = NONE, .row = column->row};
        if (item.distance < end.length)
            assignment_scan(a, column->row, item.distance, &end);
    }
    return end;
}

/* Keep the potentials potentials: entries on the path become equal to theirs. */
static void assignment_settle(struct assignment *a, uint32_t from, const struct end *end)
{
    a->row[from].price -= end->length;
    a->bound -= end->length;
    for (uint32_t i = 0; i < a->touches; i++) {
        struct column *column = &a->column[a->touched[i]];
        if (column->closed && column->distance < end->length) {
            column->price += end->length - column->distance;
            a->row[column->row].price -= end->length - column->distance;
        }
        column->reached = column->closed = false;
    }
    a->touches = 0;
}

/* Assigns to each row on the path the column that it leads to. */
static void assignment_augment(struct assignment *a, uint32_t from, const struct end *end)
{
    uint32_t column = end->column;
    if (column == NONE) {
        column = a->row[end->row].column;
        a->row[end->row].column = NONE;
    }
    while (column != NONE) {
        uint32_t row = a->column[column].before, next = a->row[row].column;
        assignment_assign(a, row, column);
        column = row == from ? NONE : next;
    }
}

static void assignment_start(struct assignment *a)
{
    a->bound = a->row_bound;
    a->touches = 0;
    for (uint32_t c = 0; c < a->columns; c++)
        a->column[c] = (struct column){.row = NONE};
    for (uint32_t r = 0; r < a->rows; r++) {
        a->row[r].price = a->row[r].best;
        a->row[r].column = NONE;
    }
}

int assignment_solve(struct assignment *a, uint64_t minimum, uint64_t *matched)
{
    if (a->error != 0)
        return a->error;
    if (a->entry_capacity > a->heap_capacity && ARRAY_RESIZE(a->heap, a->entry_capacity) != 0)
        return -ENOMEM;
    a->heap_capacity = a->entry_capacity;
    if (a->row_bound < minimum || a->column_bound < minimum) /* no sum exceeds either */
        return 1;
    assignment_start(a);
    uint32_t left = bid_all(a, minimum);
    for (uint32_t i = 0; i < left && a->bound >= minimum; i++) {
        struct end end = assignment_search(a, a->queue[i]);
        assignment_settle(a, a->queue[i], &end);
        assignment_augment(a, a->queue[i], &end);
    }
    if (a->bound < minimum)
        return 1;
    *matched = a->bound; /* no potential is left over, so the bound is reached */
    return 0;
}

uint32_t assignment_column(const struct assignment *a, uint32_t row)
{
    return row < a->rows ? a->row[row].column : NONE;
}

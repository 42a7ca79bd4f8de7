/* A log of messages, put in order of time and cut into bursts. */
#include "daemon/analysis/events/burst_log.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/key_order.h"
#include "daemon/analysis/tables/key_table.h"
#include "holter/size_class.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 1024u
#define FIRST_NUMBERS 4096u
#define FIRST_STAMP (1u << 31)  /* above all places of rows */
#define UNKNOWN UINT32_MAX      /* in place of a pair: not known */
#define NO_ROW (UINT32_MAX - 1) /* there are too many */

__extension__ typedef unsigned __int128 wide;

struct burst_desk {
    struct key_place *order, *spare; /* owned; entries of the log, by the cell of their time */
    uint32_t *pairs;                 /* owned; of the messages, in order: position in index */
    struct key_table index;          /* pairs of the log that may have rows */
    uint32_t *pair_of;               /* owned; by number: the same plus 1; 0: not looked up yet */
    uint32_t *marks;                 /* owned; by pair: its row, or the stamp of a count */
    struct burst_pair *rows;         /* owned; of one burst */
    uint32_t *row_pairs;             /* owned; their pairs */
    uint32_t order_capacity, number_capacity, stamp;
    struct bursts *shape; /* owned; times only */
    uint64_t unknown;     /* messages of the log that is put away */
    uint32_t pauses[SIZE_CLASSES];
};

int burst_log_init(struct burst_log *log, uint32_t maximum)
{
    *log = (struct burst_log){.capacity = maximum < FIRST_CAPACITY ? maximum : FIRST_CAPACITY,
                              .maximum = maximum};
    log->entries = malloc(log->capacity * sizeof *log->entries);
    return log->entries == NULL ? -ENOMEM : 0;
}

void burst_log_finish(struct burst_log *log)
{
    free(log->entries);
    *log = (struct burst_log){0};
}

int burst_log_grow(struct burst_log *log)
{
    uint32_t capacity = 2 * log->capacity < log->maximum ? 2 * log->capacity : log->maximum;
    if (capacity <= log->capacity)
        return 1;
    if (ARRAY_RESIZE(log->entries, capacity) != 0)
        return 1;
    log->capacity = capacity;
    return 0;
}

/* ---- the desk ------------------------------------------------------------ */

int burst_desk_create(struct burst_desk **out)
{
    struct burst_desk *desk = calloc(1, sizeof *desk);
    struct bursts_params params = {BURST_LOG_RUNS, BURST_PAIRS_MINIMUM, BURST_LOG_CELL_NS};
    if (desk == NULL)
        return -ENOMEM;
    desk->stamp = FIRST_STAMP;
    desk->marks = calloc(BURST_LOG_ROWS, sizeof *desk->marks);
    desk->rows = malloc(BURST_LOG_ROWS * sizeof *desk->rows);
    desk->row_pairs = malloc(BURST_LOG_ROWS * sizeof *desk->row_pairs);
    if (desk->marks == NULL || desk->rows == NULL || desk->row_pairs == NULL ||
        bursts_create(&desk->shape, &params) != 0) {
        burst_desk_destroy(desk);
        return -ENOMEM;
    }
    *out = desk;
    return 0;
}

void burst_desk_destroy(struct burst_desk *desk)
{
    if (desk == NULL)
        return;
    bursts_destroy(desk->shape);
    key_table_finish(&desk->index);
    free(desk->order);
    free(desk->spare);
    free(desk->pairs);
    free(desk->pair_of);
    free(desk->marks);
    free(desk->rows);
    free(desk->row_pairs);
    free(desk);
}

/* Without memory the log becomes one burst. @return 0 or -ENOMEM */
static int burst_log_reserve_order(struct burst_desk *desk, uint32_t capacity)
{
    if (capacity <= desk->order_capacity)
        return 0;
    if (ARRAY_RESIZE(desk->order, capacity) != 0 || ARRAY_RESIZE(desk->spare, capacity) != 0 ||
        ARRAY_RESIZE(desk->pairs, capacity) != 0)
        return -ENOMEM;
    desk->order_capacity = capacity;
    return 0;
}

/* Forget what numbers stood for. Without memory the highest have no rows. */
static void burst_log_reserve_numbers(struct burst_desk *desk, uint32_t count)
{
    uint32_t highest = 0, capacity = FIRST_NUMBERS;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = desk->pairs[i];
        highest = number > highest && number < BURST_LOG_NUMBERS ? number : highest;
    }
    while (capacity <= highest)
        capacity *= 2;
    uint32_t *more = capacity > desk->number_capacity ? malloc(capacity * sizeof *more) : NULL;
    if (more != NULL) {
        free(desk->pair_of);
        desk->pair_of = more;
        desk->number_capacity = capacity;
    }
    capacity = capacity < desk->number_capacity ? capacity : desk->number_capacity;
    memset(desk->pair_of, 0, capacity * sizeof *desk->pair_of);
}

/* ---- in order of time ---------------------------------------------------- */

/* By cells; stable, so that what a rank did in one cell stays in its order. */
static void burst_log_sort(struct burst_desk *desk, const struct burst_log *log)
{
    for (uint32_t i = 0; i < log->count; i++)
        desk->order[i] = (struct key_place){log->entries[i].time_ns / BURST_LOG_CELL_NS, i};
    struct key_place *sorted = key_order(desk->order, desk->spare, log->count);
    desk->spare = sorted == desk->order ? desk->spare : desk->order;
    desk->order = sorted;
}

/* ---- runs ---------------------------------------------------------------- */

/* Pauses that end a run: all of the classes above one, and so many of that class, the earliest. */
struct cut {
    uint32_t class_, of_class;
};

static uint64_t burst_log_pause_before(const struct burst_desk *desk, uint32_t i)
{
    return desk->order[i].key - desk->order[i - 1].key;
}

static struct cut burst_log_find_cut(struct burst_desk *desk, uint32_t count)
{
    struct cut cut = {SIZE_CLASSES, BURST_LOG_RUNS - 1};
    memset(desk->pauses, 0, sizeof desk->pauses);
    for (uint32_t i = 1; i < count; i++)
        desk->pauses[size_class_of(burst_log_pause_before(desk, i))]++;
    while (cut.class_-- > 1) { /* class 0 is no pause */
        if (desk->pauses[cut.class_] > cut.of_class)
            return cut;
        cut.of_class -= desk->pauses[cut.class_];
    }
    return cut;
}

static int burst_log_ends_run(struct cut *cut, uint64_t pause)
{
    if (pause == 0)
        return 0;
    uint32_t class_ = size_class_of(pause);
    return class_ > cut->class_ || (class_ == cut->class_ && cut->of_class > 0 && cut->of_class--);
}

static const struct burst_entry *burst_log_entry_at(const struct burst_desk *desk,
                                                    const struct burst_log *log, uint32_t i)
{
    return &log->entries[desk->order[i].place];
}

static void burst_log_extend(struct burst_sums *run, wide *sum, uint64_t time)
{
    run->first_ns = time < run->first_ns ? time : run->first_ns;
    run->last_ns = time > run->last_ns ? time : run->last_ns;
    run->messages++;
    *sum += time;
}

static void burst_log_end_run(struct bursts *shape, struct burst_sums *run, wide *sum)
{
    run->time_sum_high = (uint64_t)(*sum >> 64);
    run->time_sum_low = (uint64_t)*sum;
    run->others = (struct burst_others){run->messages, 0, 1};
    bursts_add(shape, run); /* what was counted here adds up: it cannot refuse */
    *run = (struct burst_sums){.first_ns = UINT64_MAX};
    *sum = 0;
}

/* The shape: where bursts begin and end. They follow each other in time, so the number of messages
 * of each burst gives the range of its messages. */
static void burst_log_find_runs(struct burst_desk *desk, const struct burst_log *log)
{
    struct cut cut = burst_log_find_cut(desk, log->count);
    struct burst_sums run = {.first_ns = UINT64_MAX};
    wide sum = 0;
    bursts_clear(desk->shape);
    for (uint32_t i = 0; i < log->count; i++) {
        if (i > 0 && burst_log_ends_run(&cut, burst_log_pause_before(desk, i)))
            burst_log_end_run(desk->shape, &run, &sum);
        const struct burst_entry *entry = burst_log_entry_at(desk, log, i);
        desk->pairs[i] = entry->number; /* of which burst_log_find_pairs() makes pairs */
        burst_log_extend(&run, &sum, entry->time_ns);
    }
    burst_log_end_run(desk->shape, &run, &sum);
}

/* ---- rows ---------------------------------------------------------------- */

/* Several numbers may stand for one pair: for what is sent in two regions, say. */
static uint32_t burst_log_find(struct burst_desk *desk, const struct burst_names *names,
                               uint32_t number)
{
    struct burst_pair row = {0};
    if (names->pair(names->user, number, &row) != 0)
        return UNKNOWN;
    struct key key = {(uint64_t)row.source << 32 | row.destination, row.size_class};
    uint32_t pair = key_table_number(&desk->index, key, BURST_LOG_ROWS);
    return pair == KEY_NONE ? NO_ROW : pair;
}

static void burst_log_find_pairs(struct burst_desk *desk, uint32_t count,
                                 const struct burst_names *names)
{
    burst_log_reserve_numbers(desk, count);
    key_table_clear(&desk->index);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = desk->pairs[i];
        if (number >= desk->number_capacity) {
            desk->pairs[i] = NO_ROW;
            continue;
        }
        if (desk->pair_of[number] == 0) /* or UNKNOWN, which is rare */
            desk->pair_of[number] = burst_log_find(desk, names, number) + 1;
        desk->pairs[i] = desk->pair_of[number] - 1;
    }
}

/* Different pairs in a run of the order. */
static uint32_t burst_log_count_pairs(struct burst_desk *desk, uint32_t from, uint32_t to)
{
    uint32_t count = 0, stamp = ++desk->stamp;
    if (stamp == UINT32_MAX) { /* after 2^31 counts */
        memset(desk->marks, 0, BURST_LOG_ROWS * sizeof *desk->marks);
        desk->stamp = stamp = FIRST_STAMP;
    }
    for (uint32_t i = from; i < to; i++) {
        uint32_t pair = desk->pairs[i];
        if (pair >= BURST_LOG_ROWS || desk->marks[pair] == stamp)
            continue;
        desk->marks[pair] = stamp;
        count++;
    }
    return count;
}

/* Rows that the shape's bursts would take, each with its own. */
static uint64_t burst_log_count_rows(struct burst_desk *desk)
{
    uint64_t rows = 0;
    uint32_t from = 0;
    struct burst_sums one;
    for (uint32_t i = 0; bursts_read(desk->shape, i, &one) == 0; i++) {
        rows += 1 + burst_log_count_pairs(desk, from, from + (uint32_t)one.messages);
        from += (uint32_t)one.messages;
    }
    return rows;
}

/* Merge nearest bursts until their rows are within bounds. */
static void burst_log_fit_rows(struct burst_desk *desk, const struct burst_bounds *bounds)
{
    /* With so many pairs no number of bursts would do, or no other. */
    uint32_t count = 1 + (uint64_t)desk->index.count >= bounds->rows ? 1 : bounds->bursts;
    bursts_reduce(desk->shape, count);
    while ((count = bursts_count(desk->shape)) > 1) {
        uint64_t rows = burst_log_count_rows(desk);
        if (rows <= bounds->rows)
            return;
        uint64_t share = count * bounds->rows / rows; /* if all have the same pairs */
        uint32_t fewer = count * 3 / 4;
        bursts_reduce(desk->shape, share < fewer ? (uint32_t)share : fewer);
    }
}

/* @return the place of the pair's row in the burst that is added up */
static uint32_t burst_log_row_of(struct burst_desk *desk, uint32_t pair, uint32_t *count)
{
    uint32_t at = desk->marks[pair];
    if (at < *count && desk->row_pairs[at] == pair)
        return at;
    struct key key = desk->index.keys[pair];
    at = (*count)++;
    desk->rows[at] = (struct burst_pair){.source = (uint32_t)(key.hi >> 32),
                                         .destination = (uint32_t)key.hi,
                                         .size_class = (uint32_t)key.lo};
    desk->row_pairs[at] = pair;
    desk->marks[pair] = at;
    return at;
}

/* Add up what the messages of a burst were. */
static void burst_log_add_up(struct burst_desk *desk, const struct burst_log *log, uint32_t from,
                             struct burst_sums *burst)
{
    uint32_t count = 0;
    int too_many = 0;
    burst->bytes = 0;
    burst->others = (struct burst_others){0};
    for (uint32_t i = from; i < from + (uint32_t)burst->messages; i++) {
        const struct burst_entry *entry = burst_log_entry_at(desk, log, i);
        uint32_t pair = desk->pairs[i];
        too_many |= __builtin_add_overflow(burst->bytes, entry->bytes, &burst->bytes);
        if (pair < BURST_LOG_ROWS) {
            uint32_t at = burst_log_row_of(desk, pair, &count);
            desk->rows[at].messages++;
            desk->rows[at].bytes += entry->bytes;
        } else {
            burst->others.messages++;
            burst->others.bytes += entry->bytes;
            burst->others.pairs = 1; /* at least */
            desk->unknown += pair == UNKNOWN;
        }
    }
    burst->pairs = desk->rows;
    burst->pair_count = count;
    if (too_many)
        burst->bytes = UINT64_MAX; /* no set takes it */
}

static void burst_log_put_into(struct bursts *set, struct burst_desk *desk,
                               struct burst_sums *burst)
{
    if (burst->bytes != UINT64_MAX && bursts_add(set, burst) == 0)
        return;
    for (size_t i = 0; i < burst->pair_count; i++)
        desk->rows[i].bytes = 0;
    burst->others.bytes = burst->bytes = 0;
    bursts_add(set, burst);
}

/* Without memory for the order: times as they are, all of it in one burst. */
static void burst_log_put_unordered(const struct burst_log *log, struct bursts *set)
{
    struct burst_sums run = {.first_ns = UINT64_MAX};
    wide sum = 0;
    for (uint32_t i = 0; i < log->count; i++)
        burst_log_extend(&run, &sum, log->entries[i].time_ns);
    burst_log_end_run(set, &run, &sum);
}

uint64_t burst_log_flush(struct burst_log *log, struct burst_desk *desk,
                         const struct burst_names *names, const struct burst_bounds *bounds,
                         struct bursts *set)
{
    if (log->count == 0)
        return 0;
    if (burst_log_reserve_order(desk, log->capacity) != 0) {
        burst_log_put_unordered(log, set);
        log->count = 0;
        return 0;
    }
    desk->unknown = 0;
    burst_log_sort(desk, log);
    burst_log_find_runs(desk, log);
    burst_log_find_pairs(desk, log->count, names);
    burst_log_fit_rows(desk, bounds);
    uint32_t from = 0;
    struct burst_sums burst;
    for (uint32_t i = 0; bursts_read(desk->shape, i, &burst) == 0; i++) {
        burst_log_add_up(desk, log, from, &burst);
        burst_log_put_into(set, desk, &burst);
        from += (uint32_t)burst.messages;
    }
    log->count = 0;
    return desk->unknown;
}

#include "agent/burst_log.h"

#include "holter/size_class.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 1024u
#define FIRST_NUMBERS 4096u
#define DIGIT 11u /* bits of a cell that one pass of the sort looks at */
#define DIGITS (1u << DIGIT)
#define FIRST_STAMP (1u << 31) /* above all places of rows */

__extension__ typedef unsigned __int128 wide;

struct place {
    uint32_t cell;  /* of the message's time, from the earliest */
    uint32_t entry; /* in the log */
};

struct burst_desk {
    struct place *order, *spare; /* owned */
    struct burst_pair *rows;     /* owned; of one burst */
    uint32_t *numbers;           /* owned; of those rows */
    uint32_t *seen;              /* owned; by number: a row, or the stamp of a count */
    uint32_t order_room, row_room, seen_room, stamp;
    struct bursts *shape; /* owned; times only */
    uint64_t unknown;     /* messages of the log that is put away */
    uint32_t digits[DIGITS];
    uint32_t pauses[SIZE_CLASSES];
};

int burst_log_init(struct burst_log *log, uint32_t most)
{
    *log = (struct burst_log){.room = most < FIRST_ROOM ? most : FIRST_ROOM, .most = most};
    log->entries = malloc(log->room * sizeof *log->entries);
    return log->entries == NULL ? -ENOMEM : 0;
}

void burst_log_finish(struct burst_log *log)
{
    free(log->entries);
    *log = (struct burst_log){0};
}

int burst_log_grow(struct burst_log *log)
{
    uint32_t room = 2 * log->room < log->most ? 2 * log->room : log->most;
    if (room <= log->room)
        return 1;
    struct burst_entry *entries = realloc(log->entries, room * sizeof *entries);
    if (entries == NULL)
        return 1;
    log->entries = entries;
    log->room = room;
    return 0;
}

/* ---- the desk ------------------------------------------------------------ */

int burst_desk_create(struct burst_desk **out)
{
    struct burst_desk *desk = calloc(1, sizeof *desk);
    struct bursts_params params = {BURST_LOG_RUNS, BURST_PAIRS_LEAST, BURST_LOG_CELL_NS};
    if (desk == NULL || bursts_create(&desk->shape, &params) != 0) {
        free(desk);
        return -ENOMEM;
    }
    desk->stamp = FIRST_STAMP;
    *out = desk;
    return 0;
}

void burst_desk_destroy(struct burst_desk *desk)
{
    if (desk == NULL)
        return;
    bursts_destroy(desk->shape);
    free(desk->order);
    free(desk->spare);
    free(desk->rows);
    free(desk->numbers);
    free(desk->seen);
    free(desk);
}

size_t burst_desk_heap(const struct burst_desk *desk)
{
    return sizeof *desk + bursts_heap(desk->shape) + desk->order_room * 2 * sizeof *desk->order +
           desk->row_room * (sizeof *desk->rows + sizeof *desk->numbers) +
           desk->seen_room * sizeof *desk->seen;
}

/* Without memory the log becomes one burst. @return 0 or -ENOMEM */
static int reserve_order(struct burst_desk *desk, uint32_t room)
{
    if (room <= desk->order_room)
        return 0;
    free(desk->order);
    free(desk->spare);
    desk->order = malloc(room * sizeof *desk->order);
    desk->spare = malloc(room * sizeof *desk->spare);
    desk->order_room = desk->order != NULL && desk->spare != NULL ? room : 0;
    return desk->order_room == 0 ? -ENOMEM : 0;
}

/* Without memory there are fewer rows, and more is with "others". */
static void reserve_rows(struct burst_desk *desk, uint32_t need)
{
    if (need <= desk->row_room || need > BURST_LOG_ROWS)
        return;
    uint32_t room = desk->row_room == 0 ? FIRST_ROOM : 2 * desk->row_room;
    struct burst_pair *rows = realloc(desk->rows, room * sizeof *rows);
    if (rows != NULL)
        desk->rows = rows;
    uint32_t *numbers = realloc(desk->numbers, room * sizeof *numbers);
    if (numbers != NULL)
        desk->numbers = numbers;
    if (rows != NULL && numbers != NULL)
        desk->row_room = room;
}

static void reserve_seen(struct burst_desk *desk, const struct burst_log *log)
{
    uint32_t highest = 0;
    for (uint32_t i = 0; i < log->count; i++) {
        uint32_t number = log->entries[i].number;
        highest = number > highest && number < BURST_LOG_NUMBERS ? number : highest;
    }
    if (highest < desk->seen_room)
        return;
    uint32_t room = FIRST_NUMBERS;
    while (room <= highest)
        room *= 2;
    uint32_t *seen = calloc(room, sizeof *seen);
    if (seen == NULL)
        return;
    free(desk->seen);
    desk->seen = seen;
    desk->seen_room = room;
}

/* ---- in order of time ---------------------------------------------------- */

/* Cells are counted from the earliest message; of those more than an hour before the latest the
 * first cell takes all. */
static void find_cells(struct burst_desk *desk, const struct burst_log *log, uint32_t *highest)
{
    uint64_t first = UINT64_MAX, last = 0, reach = (uint64_t)UINT32_MAX * BURST_LOG_CELL_NS;
    for (uint32_t i = 0; i < log->count; i++) {
        uint64_t time = log->entries[i].time_ns;
        first = time < first ? time : first;
        last = time > last ? time : last;
    }
    first = last > reach && first < last - reach ? last - reach : first;
    first = first / BURST_LOG_CELL_NS;
    for (uint32_t i = 0; i < log->count; i++) {
        uint64_t cell = log->entries[i].time_ns / BURST_LOG_CELL_NS;
        desk->order[i] = (struct place){cell > first ? (uint32_t)(cell - first) : 0, i};
    }
    *highest = (uint32_t)(last / BURST_LOG_CELL_NS - first);
}

/* Stable, so that what a rank did in one cell stays in its order. */
static void sort_pass(struct burst_desk *desk, uint32_t count, uint32_t shift)
{
    uint32_t sum = 0;
    memset(desk->digits, 0, sizeof desk->digits);
    for (uint32_t i = 0; i < count; i++)
        desk->digits[desk->order[i].cell >> shift & (DIGITS - 1)]++;
    for (uint32_t d = 0; d < DIGITS; d++) {
        uint32_t here = desk->digits[d];
        desk->digits[d] = sum;
        sum += here;
    }
    for (uint32_t i = 0; i < count; i++)
        desk->spare[desk->digits[desk->order[i].cell >> shift & (DIGITS - 1)]++] = desk->order[i];
    struct place *sorted = desk->spare;
    desk->spare = desk->order;
    desk->order = sorted;
}

static void put_in_order(struct burst_desk *desk, const struct burst_log *log)
{
    uint32_t highest;
    find_cells(desk, log, &highest);
    for (uint32_t shift = 0; shift < 32 && highest >> shift != 0; shift += DIGIT)
        sort_pass(desk, log->count, shift);
}

/* ---- runs ---------------------------------------------------------------- */

/* Pauses that end a run: all of the classes above one, and so many of that class, the earliest. */
struct cut {
    uint32_t class_, of_class;
};

static uint32_t pause_before(const struct burst_desk *desk, uint32_t i)
{
    return desk->order[i].cell - desk->order[i - 1].cell;
}

static struct cut find_cut(struct burst_desk *desk, uint32_t count)
{
    struct cut cut = {SIZE_CLASSES, BURST_LOG_RUNS - 1};
    memset(desk->pauses, 0, sizeof desk->pauses);
    for (uint32_t i = 1; i < count; i++)
        desk->pauses[size_class_of(pause_before(desk, i))]++;
    while (cut.class_-- > 1) { /* class 0 is no pause */
        if (desk->pauses[cut.class_] > cut.of_class)
            return cut;
        cut.of_class -= desk->pauses[cut.class_];
    }
    return cut;
}

static int ends_run(struct cut *cut, uint32_t pause)
{
    if (pause == 0)
        return 0;
    uint32_t class_ = size_class_of(pause);
    return class_ > cut->class_ || (class_ == cut->class_ && cut->of_class > 0 && cut->of_class--);
}

static const struct burst_entry *entry_at(const struct burst_desk *desk,
                                          const struct burst_log *log, uint32_t i)
{
    return &log->entries[desk->order[i].entry];
}

static void extend(struct burst_sums *run, wide *sum, uint64_t time)
{
    run->first_ns = time < run->first_ns ? time : run->first_ns;
    run->last_ns = time > run->last_ns ? time : run->last_ns;
    run->messages++;
    *sum += time;
}

static void end_run(struct bursts *shape, struct burst_sums *run, wide *sum)
{
    run->time_sum_high = (uint64_t)(*sum >> 64);
    run->time_sum_low = (uint64_t)*sum;
    run->others = (struct burst_others){run->messages, 0, 1};
    bursts_add(shape, run); /* what was counted here adds up: it cannot refuse */
    *run = (struct burst_sums){.first_ns = UINT64_MAX};
    *sum = 0;
}

/* The shape: where bursts begin and end. They lie one behind the other, so the number of messages of
 * each tells which are its own. */
static void find_runs(struct burst_desk *desk, const struct burst_log *log)
{
    struct cut cut = find_cut(desk, log->count);
    struct burst_sums run = {.first_ns = UINT64_MAX};
    wide sum = 0;
    bursts_clear(desk->shape);
    for (uint32_t i = 0; i < log->count; i++) {
        if (i > 0 && ends_run(&cut, pause_before(desk, i)))
            end_run(desk->shape, &run, &sum);
        extend(&run, &sum, entry_at(desk, log, i)->time_ns);
    }
    end_run(desk->shape, &run, &sum);
}

/* ---- rows ---------------------------------------------------------------- */

/* Different numbers in a run of the order. */
static uint32_t count_numbers(struct burst_desk *desk, const struct burst_log *log, uint32_t from,
                              uint32_t to)
{
    uint32_t count = 0, stamp = ++desk->stamp;
    if (stamp == UINT32_MAX) { /* after 2^31 counts */
        memset(desk->seen, 0, desk->seen_room * sizeof *desk->seen);
        desk->stamp = stamp = FIRST_STAMP;
    }
    for (uint32_t i = from; i < to; i++) {
        uint32_t number = entry_at(desk, log, i)->number;
        if (number >= desk->seen_room || desk->seen[number] == stamp)
            continue;
        desk->seen[number] = stamp;
        count++;
    }
    return count;
}

/* Rows that the shape's bursts would take, each with its own. */
static uint64_t count_rows(struct burst_desk *desk, const struct burst_log *log)
{
    uint64_t rows = 0;
    uint32_t from = 0;
    struct burst_sums one;
    for (uint32_t i = 0; bursts_read(desk->shape, i, &one) == 0; i++) {
        rows += 1 + count_numbers(desk, log, from, from + (uint32_t)one.messages);
        from += (uint32_t)one.messages;
    }
    return rows;
}

/* Merge nearest bursts until their rows are within bounds. */
static void fit_rows(struct burst_desk *desk, const struct burst_log *log,
                     const struct burst_bounds *bounds)
{
    bursts_reduce(desk->shape, bounds->bursts);
    uint32_t count = bursts_count(desk->shape);
    uint64_t rows = count_rows(desk, log);
    if (rows <= bounds->rows)
        return;
    if (1 + (uint64_t)count_numbers(desk, log, 0, log->count) >= bounds->rows)
        count = 1; /* no number of bursts would do, or no other */
    for (; count > 1 && rows > bounds->rows; rows = count_rows(desk, log)) {
        uint64_t share = count * bounds->rows / rows; /* if all have the same pairs */
        uint32_t fewer = count * 3 / 4;
        count = share < fewer ? (uint32_t)share : fewer;
        count = count == 0 ? 1 : count;
        bursts_reduce(desk->shape, count);
    }
    bursts_reduce(desk->shape, count);
}

/* @return the place of the number's row; UINT32_MAX: it has none */
static uint32_t row_of(struct burst_desk *desk, const struct burst_names *names, uint32_t number,
                       uint32_t *count)
{
    if (number >= desk->seen_room)
        return UINT32_MAX;
    uint32_t at = desk->seen[number];
    if (at < *count && desk->numbers[at] == number)
        return at;
    reserve_rows(desk, *count + 1);
    if (*count == desk->row_room)
        return UINT32_MAX;
    at = *count;
    desk->rows[at] = (struct burst_pair){0};
    if (names->pair(names->user, number, &desk->rows[at]) != 0) {
        desk->unknown++;
        return UINT32_MAX;
    }
    desk->seen[number] = at;
    desk->numbers[at] = number;
    ++*count;
    return at;
}

/* Add up what the messages of a burst were. */
static void add_up(struct burst_desk *desk, const struct burst_log *log,
                   const struct burst_names *names, uint32_t from, struct burst_sums *burst)
{
    uint32_t count = 0;
    int too_many = 0;
    burst->bytes = 0;
    burst->others = (struct burst_others){0};
    for (uint32_t i = from; i < from + (uint32_t)burst->messages; i++) {
        const struct burst_entry *entry = entry_at(desk, log, i);
        uint32_t at = row_of(desk, names, entry->number, &count);
        too_many |= __builtin_add_overflow(burst->bytes, entry->bytes, &burst->bytes);
        if (at != UINT32_MAX) {
            desk->rows[at].messages++;
            desk->rows[at].bytes += entry->bytes;
        } else {
            burst->others.messages++;
            burst->others.bytes += entry->bytes;
            burst->others.pairs = 1; /* at least */
        }
    }
    burst->pairs = desk->rows;
    burst->pair_count = count;
    if (too_many)
        burst->bytes = UINT64_MAX; /* no set takes it */
}

static void put_into(struct bursts *set, struct burst_desk *desk, struct burst_sums *burst)
{
    if (burst->bytes != UINT64_MAX && bursts_add(set, burst) == 0)
        return;
    for (size_t i = 0; i < burst->pair_count; i++)
        desk->rows[i].bytes = 0;
    burst->others.bytes = burst->bytes = 0;
    bursts_add(set, burst);
}

/* Without memory for the order: times as they are, all of it in one burst. */
static void put_unordered(const struct burst_log *log, struct bursts *set)
{
    struct burst_sums run = {.first_ns = UINT64_MAX};
    wide sum = 0;
    for (uint32_t i = 0; i < log->count; i++)
        extend(&run, &sum, log->entries[i].time_ns);
    end_run(set, &run, &sum);
}

uint64_t burst_log_put_away(struct burst_log *log, struct burst_desk *desk,
                            const struct burst_names *names, const struct burst_bounds *bounds,
                            struct bursts *set)
{
    if (log->count == 0)
        return 0;
    if (reserve_order(desk, log->room) != 0) {
        put_unordered(log, set);
        log->count = 0;
        return 0;
    }
    desk->unknown = 0;
    reserve_seen(desk, log);
    put_in_order(desk, log);
    find_runs(desk, log);
    fit_rows(desk, log, bounds);
    uint32_t from = 0;
    struct burst_sums burst;
    for (uint32_t i = 0; bursts_read(desk->shape, i, &burst) == 0; i++) {
        add_up(desk, log, names, from, &burst);
        put_into(set, desk, &burst);
        from += (uint32_t)burst.messages;
    }
    log->count = 0;
    return desk->unknown;
}

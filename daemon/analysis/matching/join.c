/* Windows of ends that are open, and how a window is closed. */
#include "daemon/analysis/matching/join.h"

#include "daemon/analysis/matching/join_state.h"
#include "daemon/analysis/tables/array.h"
#include "holter/error.h"
#include "holter/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAXIMUM_HALVES (UINT64_C(1) << 27)
#define MINIMUM_HALVES 16u
#define MAXIMUM_OPEN_WINDOWS 128u /* windows; of more, the last are dropped */
#define MAXIMUM_PAIRS (1u << 22)
#define WAIT_NS UINT64_C(4000000000)
#define LEAST_WAIT 4u /* windows */
#define MAXIMUM_WINDOW (UINT64_C(1) << 62)
#define MAXIMUM_CUTOFFS (1u << 18)

uint32_t join_wait(uint64_t window_ns)
{
    const uint64_t wait = window_ns == 0 ? 0 : (WAIT_NS - 1) / window_ns + 1;
    return wait < LEAST_WAIT             ? LEAST_WAIT
           : wait < JOIN_MAXIMUM_WINDOWS ? (uint32_t)wait
                                         : JOIN_MAXIMUM_WINDOWS;
}

int join_create(struct join **out, const struct join_params *params)
{
    if (params->windows > JOIN_MAXIMUM_WINDOWS || params->most_halves < MINIMUM_HALVES ||
        params->most_halves > MAXIMUM_HALVES)
        return -HOLTER_ERANGE;
    struct join *join = calloc(1, sizeof(*join));
    if (join == NULL)
        return -ENOMEM;
    join->params = *params;
    pair_clocks_init(&join->clocks, params->most_halves < MAXIMUM_PAIRS
                                        ? (uint32_t)params->most_halves
                                        : MAXIMUM_PAIRS);
    if (key_limits_init(&join->limits, params->windows) != 0) {
        join_destroy(join);
        return -ENOMEM;
    }
    *out = join;
    return 0;
}

static void join_window_finish(struct join_window *opened)
{
    free(opened->ends.at);
    free(opened->limits);
}

void join_destroy(struct join *join)
{
    if (join == NULL)
        return;
    for (size_t i = 0; i < join->open_count; i++)
        join_window_finish(&join->open[i]);
    free(join->open);
    free(join->waiting.at);
    free(join->staying.at);
    key_limits_finish(&join->limits);
    pair_clocks_finish(&join->clocks);
    free(join);
}

int join_ends_append(struct join_ends *to, const struct join_end *end)
{
    if (ARRAY_FIT(to->at, to->capacity, to->count + 1) != 0)
        return -ENOMEM;
    to->at[to->count++] = *end;
    return 0;
}

/* ---- adding ends ------------------------------------------------------- */

/* Keep the lower half of the range of keys: the choice must not depend on the order of reports. */
static void join_drop_upper_keys(struct join_ends *ends, uint64_t *top)
{
    uint64_t largest = 0;
    size_t kept = 0;
    for (size_t i = 0; i < ends->count; i++)
        largest = ends->at[i].key > largest ? ends->at[i].key : largest;
    while (largest > 0 && *top >= largest)
        *top /= 2;
    /* Where all keys are 0 none is kept: no two messages have the same key. */
    for (size_t i = 0; i < ends->count && largest > 0; i++)
        if (ends->at[i].key <= *top)
            ends->at[kept++] = ends->at[i];
    ends->count = kept;
}

static void join_shrink(struct join *join, struct join_window *opened)
{
    join->open_halves -= opened->ends.count;
    join_drop_upper_keys(&opened->ends, &opened->top);
    join->open_halves += opened->ends.count;
}

/* A quarter for each window and three for all leaves one for those that wait. */
static void join_enforce_bound(struct join *join, struct join_window *opened)
{
    size_t quarter = join->params.most_halves / 4;
    while (opened->ends.count > quarter)
        join_shrink(join, opened);
    while (join->open_halves > 3 * quarter) {
        struct join_window *largest = &join->open[0];
        for (size_t i = 1; i < join->open_count; i++)
            if (join->open[i].ends.count >= largest->ends.count)
                largest = &join->open[i];
        join_shrink(join, largest);
    }
}

static void join_drop_last_window(struct join *join)
{
    struct join_window *last = &join->open[--join->open_count];
    join->open_halves -= last->ends.count;
    join_window_finish(last);
}

/* @return NULL without memory, or when too many earlier windows are open */
static struct join_window *join_open_window(struct join *join, uint64_t number)
{
    size_t at = join->open_count;
    while (at > 0 && join->open[at - 1].number > number)
        at--;
    if (at > 0 && join->open[at - 1].number == number)
        return &join->open[at - 1];
    if (at == MAXIMUM_OPEN_WINDOWS)
        return NULL;
    if (ARRAY_FIT(join->open, join->open_capacity, join->open_count + 1) != 0)
        return NULL;
    if (join->open_count == MAXIMUM_OPEN_WINDOWS)
        join_drop_last_window(join);
    memmove(&join->open[at + 1], &join->open[at], (join->open_count - at) * sizeof(*join->open));
    join->open[at] = (struct join_window){.number = number, .top = UINT64_MAX};
    join->open_count++;
    return &join->open[at];
}

static int join_window_add_cutoff(struct join_window *opened, uint32_t node, uint64_t below)
{
    struct key_cutoff *last =
        opened->limit_count > 0 ? &opened->limits[opened->limit_count - 1] : NULL;
    if (below == 0)
        return 0;
    if (node == KEY_NONE || opened->limit_count == MAXIMUM_CUTOFFS) {
        opened->below = opened->below == 0 || below < opened->below ? below : opened->below;
    } else if (last != NULL && last->node == node) {
        last->below = below < last->below ? below : last->below;
    } else {
        if (ARRAY_FIT(opened->limits, opened->limit_capacity, opened->limit_count + 1) != 0)
            return -ENOMEM;
        opened->limits[opened->limit_count++] = (struct key_cutoff){node, below};
    }
    return 0;
}

/* The window in which ends of this one count: the next one, when it is closed. */
static uint64_t join_effective_window(const struct join *join, uint64_t window)
{
    return window >= join->next ? window : join->next - 1;
}

/* @return 0, or -HOLTER_ERANGE: it contradicts itself */
static int join_read_end(const struct wire_half_row *row, uint64_t start, struct join_end *end)
{
    const uint64_t begin = start + (uint64_t)row->begin_ns, exit = begin + row->length_ns,
                   local = start + (uint64_t)row->local_ns;
    if (row->source == row->destination || begin > exit || exit > JOIN_MAXIMUM_NS ||
        row->receive > 1 || (row->receive && (row->together == 0 || local > JOIN_MAXIMUM_NS)))
        return -HOLTER_ERANGE;
    end->key = row->key;
    end->bytes = row->bytes;
    end->begin_ns = begin;
    end->end_ns = exit;
    end->local_ns = local < exit ? local : exit;
    end->source = (uint32_t)row->source;
    end->destination = (uint32_t)row->destination;
    end->together = row->together > UINT32_MAX ? UINT32_MAX : (uint32_t)row->together;
    end->receive = row->receive == 1;
    return 0;
}

/* Append a window's ends without counting them. @return how many, or a negative error */
static int64_t join_read_ends(struct join_window *opened, const struct wire_window *window,
                              uint32_t node, uint64_t number)
{
    struct join_ends *ends = &opened->ends;
    size_t count = ends->count;
    if (ARRAY_FIT(ends->at, ends->capacity, count + window->halves_count) != 0)
        return -ENOMEM;
    for (uint64_t i = 0; i < window->halves_count; i++) {
        struct join_end end = {.window = number, .error_ns = window->clock_error_ns, .node = node};
        if (join_read_end(&window->halves[i], window->window * window->length_ns, &end) != 0)
            return -HOLTER_ERANGE;
        if (end.key <= opened->top)
            ends->at[count++] = end;
    }
    return (int64_t)(count - ends->count);
}

int join_add_window(struct join *join, const struct wire_window *window, uint32_t node,
                    uint64_t number)
{
    if (window->halves_count == 0 && window->keys_below == 0)
        return 0;
    if (number > MAXIMUM_WINDOW || node >= 1u << 31)
        return -HOLTER_ERANGE;
    struct join_window *opened = join_open_window(join, join_effective_window(join, number));
    if (opened == NULL) /* a window too far ahead is not kept */
        return join->open_count < MAXIMUM_OPEN_WINDOWS ? -ENOMEM : 0;
    const int64_t added = join_read_ends(opened, window, node, number);
    if (added < 0)
        return (int)added;
    if (join_window_add_cutoff(opened, window->halves_count == 0 ? KEY_NONE : node,
                               window->keys_below) != 0)
        return -ENOMEM;
    opened->ends.count += (size_t)added;
    join->open_halves += (size_t)added;
    join_enforce_bound(join, opened);
    return 0;
}

/* ---- closing ------------------------------------------------------------- */

static int join_append_all(struct join_ends *to, const struct join_ends *from)
{
    if (from->count == 0)
        return 0;
    if (ARRAY_FIT(to->at, to->capacity, to->count + from->count) != 0)
        return -ENOMEM;
    memcpy(&to->at[to->count], from->at, from->count * sizeof(*from->at));
    to->count += from->count;
    return 0;
}

/* Gather the ends of all windows up to this one in one list; without any, the waiting ones.
 * @param due  set: how many windows
 * @return the ends, or NULL without memory: some may then lie with those of another window that is
 * as much due */
static struct join_ends *join_gather(struct join *join, uint64_t window, size_t *due)
{
    *due = 0;
    while (*due < join->open_count && join->open[*due].number <= window)
        ++*due;
    if (*due == 0)
        return &join->waiting;
    struct join_ends *all = &join->open[0].ends;
    for (size_t i = 1; i < *due; i++) {
        if (join_append_all(all, &join->open[i].ends) != 0)
            return NULL;
        join->open[i].ends.count = 0;
    }
    return all;
}

static void join_closing_finish(struct join_closing *closing)
{
    free(closing->matches);
    free(closing->places);
    free(closing->spare);
    key_table_finish(&closing->call_numbers);
    free(closing->calls);
}

/* Get memory for matching the ends that are due and those that wait. @return 0 or -ENOMEM */
static int join_closing_init(struct join_closing *closing, const struct join_ends *waiting,
                             size_t due)
{
    const size_t most = closing->ends->count + waiting->count + 1;
    closing->matches = malloc(most * sizeof(*closing->matches));
    closing->places = malloc(most * sizeof(*closing->places));
    closing->spare = malloc(most * sizeof(*closing->spare));
    if (closing->matches == NULL || closing->places == NULL || closing->spare == NULL ||
        (due > 0 && join_append_all(closing->ends, waiting) != 0)) {
        join_closing_finish(closing);
        return -ENOMEM;
    }
    return 0;
}

/* The keys that nodes, and this join for lack of memory, left out of the windows that are due. */
static void join_add_cutoffs(struct join *join, size_t due)
{
    for (size_t i = 0; i < due; i++) {
        const struct join_window *opened = &join->open[i];
        for (size_t l = 0; l < opened->limit_count; l++)
            key_limits_note(&join->limits, opened->limits[l].node, opened->number,
                            opened->limits[l].below);
        if (opened->below != 0)
            key_limits_note(&join->limits, KEY_NONE, opened->number, opened->below);
        if (opened->top != UINT64_MAX)
            key_limits_note(&join->limits, KEY_NONE, opened->number, opened->top + 1);
    }
}

static void join_sort(struct join_closing *closing)
{
    const struct join_ends *ends = closing->ends;
    for (size_t i = 0; i < ends->count; i++)
        closing->places[i] = (struct key_place){ends->at[i].key, (uint32_t)i};
    closing->sorted = key_order(closing->places, closing->spare, ends->count);
}

/* Where the ranks of new ends live. In the order of keys, so that it does not matter in which the
 * ends were added. */
static void join_note_ranks(struct join *join, const struct join_closing *closing, size_t added)
{
    if (!key_limits_any(&join->limits))
        return;
    for (size_t i = 0; i < closing->ends->count; i++) {
        const struct join_end *end = &closing->ends->at[closing->sorted[i].place];
        if (closing->sorted[i].place < added)
            key_limits_rank(&join->limits, end->receive ? end->destination : end->source,
                            end->node);
    }
}

static void join_remove_windows(struct join *join, size_t due)
{
    for (size_t i = 0; i < due; i++)
        join_window_finish(&join->open[i]);
    if (due == 0)
        return;
    join->open_count -= due;
    memmove(join->open, join->open + due, join->open_count * sizeof(*join->open));
}

/* The ends that stay become the waiting ones, as many as the bound of memory allows. */
static void join_replace_waiting(struct join *join, uint64_t window)
{
    struct join_ends stay = join->staying;
    uint64_t top = join->staying_top;
    join->staying = join->waiting;
    join->staying.count = 0;
    join->waiting = stay;
    while (join->waiting.count > join->params.most_halves / 4)
        join_drop_upper_keys(&join->waiting, &top);
    for (uint64_t back = 0; top != UINT64_MAX && back <= join->params.windows; back++)
        if (back <= window)
            key_limits_note(&join->limits, KEY_NONE, window - back, top + 1);
}

int join_close(struct join *join, uint64_t window, join_emit_fn *emit, void *user)
{
    size_t due;
    if (window < join->next)
        window = join->next - 1;
    else if (window > MAXIMUM_WINDOW)
        window = MAXIMUM_WINDOW;
    struct join_closing closing = {.ends = join_gather(join, window, &due), .window = window};
    if (closing.ends == NULL)
        return -ENOMEM;
    const size_t added = due == 0 ? 0 : closing.ends->count;
    if (join_closing_init(&closing, &join->waiting, due) != 0)
        return -ENOMEM;
    join_sort(&closing);
    join_add_cutoffs(join, due);
    join_note_ranks(join, &closing, added);
    join_match(join, &closing, emit, user);
    join_closing_finish(&closing);
    join->open_halves -= added;
    join_remove_windows(join, due);
    join_replace_waiting(join, window);
    join->next = window + 1;
    return 0;
}

void join_count(const struct join *join, struct join_counts *out)
{
    *out = join->counts;
    out->waiting = join->waiting.count + join->open_halves;
}

/* ---- state ----------------------------------------------------------------- */

static void join_ends_copy_state(struct state_bytes *b, struct join_ends *ends)
{
    STATE_VALUE(b, *ends);
    STATE_ARRAY(b, ends->at, ends->count, ends->capacity);
}

void join_copy_state(struct state_bytes *b, struct join **out)
{
    if (!STATE_OBJECT(b, *out))
        return;
    struct join *join = *out;
    STATE_ARRAY(b, join->open, join->open_count, join->open_capacity);
    if (join->open == NULL)
        join->open_count = join->open_capacity = 0;
    for (size_t i = 0; i < join->open_count; i++) {
        struct join_window *open = &join->open[i];
        join_ends_copy_state(b, &open->ends);
        STATE_ARRAY(b, open->limits, open->limit_count, open->limit_capacity);
    }
    join_ends_copy_state(b, &join->waiting);
    join_ends_copy_state(b, &join->staying);
    key_limits_copy_state(b, &join->limits);
    pair_clocks_copy_state(b, &join->clocks);
}

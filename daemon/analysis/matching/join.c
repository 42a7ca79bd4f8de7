/* Windows of ends that are open, and how a window is closed. */
#include "daemon/analysis/matching/join.h"

#include "daemon/analysis/matching/join_state.h"
#include "daemon/analysis/tables/array.h"
#include "holter/error.h"
#include "holter/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAXIMUM_HALVES (UINT64_C(1) << 27) /* ends refer to tellers by fewer than 30 bits */
#define MAXIMUM_OPEN_WINDOWS 128u          /* windows; of more, the last are dropped */
#define MAXIMUM_PAIRS (1u << 22)
#define MAXIMUM_WINDOW (UINT64_C(1) << 62)
#define MAXIMUM_CUTOFFS (1u << 18)

int join_create(struct join **out, const struct join_params *params)
{
    if (params->windows > JOIN_MAXIMUM_WINDOWS || params->most_halves < JOIN_MINIMUM_HALVES ||
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
    join_ends_finish(&opened->ends);
    free(opened->limits);
}

void join_destroy(struct join *join)
{
    if (join == NULL)
        return;
    for (size_t i = 0; i < join->open_count; i++)
        join_window_finish(&join->open[i]);
    free(join->open);
    join_ends_finish(&join->idle);
    join_ends_finish(&join->waiting);
    join_ends_finish(&join->staying);
    free(join->places);
    free(join->spare);
    free(join->call_index);
    free(join->matches);
    free(join->reporter_pairs);
    free(join->calls);
    key_limits_finish(&join->limits);
    pair_clocks_finish(&join->clocks);
    free(join);
}

/* ---- adding halves ---------------------------------------------------- */

/* Keep the lower half of the range of keys: the choice must not depend on the order of reports. */
static void join_drop_upper_keys(struct join_ends *ends, uint64_t *top)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < ends->send_count; i++)
        largest = ends->sends[i].key > largest ? ends->sends[i].key : largest;
    for (size_t i = 0; i < ends->receive_count; i++)
        largest = ends->receives[i].key > largest ? ends->receives[i].key : largest;
    if (largest == 0) { /* no two messages have the same key */
        join_ends_clear(ends);
        return;
    }
    while (*top >= largest)
        *top /= 2;
    join_ends_keep(ends, *top);
}

static void join_shrink(struct join *join, struct join_window *opened)
{
    join->open_halves -= join_ends_count(&opened->ends);
    join_drop_upper_keys(&opened->ends, &opened->top);
    join->open_halves += join_ends_count(&opened->ends);
}

/* A quarter for each window and three for all leaves one for those that wait. */
static void join_enforce_bound(struct join *join, struct join_window *opened)
{
    size_t quarter = join->params.most_halves / 4;
    while (join_ends_count(&opened->ends) > quarter)
        join_shrink(join, opened);
    while (join->open_halves > 3 * quarter) {
        struct join_window *largest = &join->open[0];
        for (size_t i = 1; i < join->open_count; i++)
            if (join_ends_count(&join->open[i].ends) >= join_ends_count(&largest->ends))
                largest = &join->open[i];
        join_shrink(join, largest);
    }
}

static void join_drop_last_window(struct join *join)
{
    struct join_window *last = &join->open[--join->open_count];
    join->open_halves -= join_ends_count(&last->ends);
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
    join->open[at] = (struct join_window){.number = number, .top = UINT64_MAX, .ends = join->idle};
    join->idle = (struct join_ends){0};
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

int join_begin(struct join *join, struct join_writer *writer, const struct join_report *report)
{
    if (report->count > MAXIMUM_HALVES || report->window > MAXIMUM_WINDOW ||
        report->node >= 1u << 31)
        return -HOLTER_ERANGE;
    struct join_window *opened =
        join_open_window(join, join_effective_window(join, report->window));
    *writer = (struct join_writer){0};
    if (opened == NULL) /* a window too far ahead is not kept */
        return join->open_count < MAXIMUM_OPEN_WINDOWS ? -ENOMEM : 0;
    return join_writer_begin(writer, &opened->ends, report, opened->top);
}

int join_commit(struct join *join, const struct join_writer *writer)
{
    const struct join_report *report = &writer->report;
    if (writer->ends == NULL)
        return 0;
    if (writer->unsound)
        return -HOLTER_ERANGE;
    struct join_window *opened =
        join_open_window(join, join_effective_window(join, report->window));
    if (opened == NULL)
        return join->open_count < MAXIMUM_OPEN_WINDOWS ? -ENOMEM : 0;
    if (join_window_add_cutoff(opened, report->count == 0 ? KEY_NONE : report->node,
                               report->keys_below) != 0)
        return -ENOMEM;
    join->open_halves += join_writer_end(writer);
    join_enforce_bound(join, opened);
    return 0;
}

int join_add_window(struct join *join, const struct wire_window *window, uint32_t node,
                    uint64_t number)
{
    const uint64_t start = window->window * window->length_ns;
    const struct join_report report = {.window = number,
                                       .keys_below = window->keys_below,
                                       .error_ns = window->clock_error_ns,
                                       .node = node,
                                       .count = window->halves_count};
    struct join_writer writer;
    if (window->halves_count == 0 && window->keys_below == 0)
        return 0;
    int code = join_begin(join, &writer, &report);
    if (code != 0 || writer.ends == NULL)
        return code;
    for (uint64_t i = 0; i < window->halves_count; i++) {
        const struct wire_half_row *h = &window->halves[i];
        const uint64_t begin = start + (uint64_t)h->begin_ns;
        const struct join_half half = {
            .key = h->key,
            .receive = (int)h->receive,
            .source = (uint32_t)h->source,
            .destination = (uint32_t)h->destination,
            .bytes = h->bytes,
            .begin_ns = begin,
            .end_ns = begin + h->length_ns,
            .local_ns = start + (uint64_t)h->local_ns,
            .together = h->together > UINT32_MAX ? UINT32_MAX : (uint32_t)h->together,
        };
        join_put(&writer, &half);
    }
    return join_commit(join, &writer);
}

/* ---- closing ------------------------------------------------------------- */

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
        if (join_ends_append(all, &join->open[i].ends) != 0)
            return NULL;
        join_ends_clear(&join->open[i].ends);
    }
    return all;
}

/* For matching, of so many ends and calls. */
static int join_reserve(struct join *join, size_t sends, size_t receives, size_t calls)
{
    const size_t need = sends + receives, maximum = sends < receives ? sends : receives;
    size_t rooms[2] = {join->scratch_capacity, join->scratch_capacity};
    join->call_shift = join_shift_for(calls);
    if (ARRAY_FIT(join->matches, join->match_capacity, receives) != 0 ||
        ARRAY_FIT(join->reporter_pairs, join->pair_capacity, maximum + 1) != 0 ||
        ARRAY_FIT(join->calls, join->call_capacity, calls) != 0 ||
        ARRAY_FIT(join->call_index, join->call_index_capacity, join_places(join->call_shift)) != 0)
        return -ENOMEM;
    if (need <= join->scratch_capacity)
        return 0;
    if (ARRAY_FIT(join->places, rooms[0], need) != 0 || ARRAY_FIT(join->spare, rooms[1], need) != 0)
        return -ENOMEM;
    join->scratch_capacity = rooms[0];
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

/* In the order of keys, so that it does not matter in which they were added. */
static void join_note_ranks(struct join *join, const struct join_ends *ends, size_t sends,
                            size_t receives)
{
    if (!key_limits_any(&join->limits))
        return;
    for (size_t i = 0; i < sends; i++)
        join->places[i] = (struct key_place){ends->sends[i].key, (uint32_t)i};
    for (size_t i = 0; i < receives; i++)
        join->places[sends + i] = (struct key_place){ends->receives[i].key, (uint32_t)(sends + i)};
    const struct key_place *places = key_order(join->places, join->spare, sends + receives);
    for (size_t i = 0; i < sends + receives; i++) {
        const size_t at = places[i].place;
        if (at < sends) {
            const struct join_send *send = &ends->sends[at];
            key_limits_rank(&join->limits, send->source, join_send_reporter(ends, send)->node);
        } else {
            const struct join_call *call = join_receive_call(ends, &ends->receives[at - sends]);
            key_limits_rank(&join->limits, call->destination, ends->reporters[call->reporter].node);
        }
    }
}

static void join_remove_windows(struct join *join, size_t due)
{
    if (due == 0)
        return;
    if (join->idle.call_capacity < join->open[0].ends.call_capacity) {
        join_ends_finish(&join->idle);
        join->idle = join->open[0].ends;
        join_ends_clear(&join->idle);
        join->open[0].ends = (struct join_ends){0};
    }
    for (size_t i = 0; i < due; i++)
        join_window_finish(&join->open[i]);
    join->open_count -= due;
    memmove(join->open, join->open + due, join->open_count * sizeof(*join->open));
}

/* The ends that stay become the waiting ones, as many as the bound of memory allows. */
static void join_replace_waiting(struct join *join, uint64_t window)
{
    struct join_ends stay = join->staying;
    uint64_t top = join->staying_top;
    join->staying = join->waiting;
    join_ends_clear(&join->staying);
    join->waiting = stay;
    while (join_ends_count(&join->waiting) > join->params.most_halves / 4)
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
    struct join_ends *ends = join_gather(join, window, &due);
    if (ends == NULL)
        return -ENOMEM;
    const struct join_ends *waiting = &join->waiting;
    const size_t sends = due == 0 ? 0 : ends->send_count,
                 receives = due == 0 ? 0 : ends->receive_count;
    if (join_reserve(join, sends + waiting->send_count, receives + waiting->receive_count,
                     (due == 0 ? 0 : ends->call_count) + waiting->call_count) != 0 ||
        (due > 0 && join_ends_append(ends, waiting) != 0))
        return -ENOMEM;
    join_add_cutoffs(join, due);
    join_note_ranks(join, ends, sends, receives);
    join_match(join, ends, window);
    join_update_clocks(join, ends);
    join_emit(join, ends, emit, user);
    join->open_halves -= sends + receives;
    join_remove_windows(join, due);
    join_replace_waiting(join, window);
    join->next = window + 1;
    return 0;
}

void join_count(const struct join *join, struct join_counts *out)
{
    *out = join->counts;
    out->waiting = join_ends_count(&join->waiting) + join->open_halves;
}

/* ---- state ----------------------------------------------------------------- */

static void join_forget_memory(struct join *join)
{
    join->places = join->spare = NULL;
    join->call_index = NULL;
    join->matches = NULL;
    join->reporter_pairs = NULL;
    join->calls = NULL;
    join->scratch_capacity = join->call_index_capacity = join->match_capacity = 0;
    join->pair_capacity = join->call_capacity = 0;
    memset(join->pair_of, 0, sizeof(join->pair_of));
    join->idle = (struct join_ends){0};
}

void join_copy_state(struct state_bytes *b, struct join **out)
{
    if (!STATE_OBJECT(b, *out))
        return;
    struct join *join = *out;
    if (b->reads)
        join_forget_memory(join);
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

#include "daemon/analysis/join.h"

#include "daemon/analysis/array.h"
#include "daemon/analysis/join_state.h"
#include "holter/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_HALVES (UINT64_C(1) << 30)
#define MOST_OPEN 128u /* windows; of more, the last are dropped */
#define MOST_PAIRS (1u << 22)
#define MOST_WINDOW (UINT64_C(1) << 62)
#define MOST_LIMITS (1u << 18)

int join_create(struct join **out, const struct join_params *params)
{
    if (params->windows > JOIN_MOST_WINDOWS || params->most_halves < JOIN_LEAST_HALVES ||
        params->most_halves > MOST_HALVES)
        return -HOLTER_ERANGE;
    struct join *join = calloc(1, sizeof(*join));
    if (join == NULL)
        return -ENOMEM;
    join->params = *params;
    pair_clocks_init(&join->clocks,
                     params->most_halves < MOST_PAIRS ? (uint32_t)params->most_halves : MOST_PAIRS);
    if (key_limits_init(&join->limits, params->windows) != 0) {
        join_destroy(join);
        return -ENOMEM;
    }
    *out = join;
    return 0;
}

static void opened_finish(struct opened *opened)
{
    free(opened->ends);
    free(opened->limits);
}

void join_destroy(struct join *join)
{
    if (join == NULL)
        return;
    for (size_t i = 0; i < join->open_count; i++)
        opened_finish(&join->open[i]);
    free(join->open);
    free(join->idle);
    free(join->waiting.rows);
    free(join->staying.rows);
    free(join->places);
    free(join->spare);
    free(join->index);
    free(join->call_index);
    free(join->twos);
    free(join->matches);
    free(join->calls);
    key_limits_finish(&join->limits);
    pair_clocks_finish(&join->clocks);
    free(join);
}

/* ---- taking halves in ---------------------------------------------------- */

static int is_sound(const struct join_half *half, uint32_t node)
{
    if ((unsigned)half->receive > 1)
        return 0;
    if (half->node != node || half->node >= 1u << 31 || half->source == half->destination)
        return 0;
    if (half->begin_ns > half->end_ns || half->end_ns > JOIN_MOST_NS)
        return 0;
    return !half->receive || (half->together >= 1 && half->local_ns <= JOIN_MOST_NS);
}

/* @return how many have keys that are not above */
static size_t keep_below(struct join_half *ends, size_t count, uint64_t top)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (ends[i].key <= top)
            ends[kept++] = ends[i];
    return kept;
}

/* Keep the lower half of the keys, so that which are kept does not depend on the order in which
 * they came. */
static size_t keep_up_to(struct join_half *ends, size_t count, uint64_t *top)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = ends[i].key > largest ? ends[i].key : largest;
    if (largest == 0)
        return 0; /* no two messages have the same key */
    while (*top >= largest)
        *top /= 2;
    return keep_below(ends, count, *top);
}

static void shrink(struct join *join, struct opened *opened)
{
    size_t kept = keep_up_to(opened->ends, opened->count, &opened->top);
    join->open_halves -= opened->count - kept;
    opened->count = kept;
}

/* A quarter for each window and three for all leaves one for those that wait. */
static void keep_to_bound(struct join *join, struct opened *opened)
{
    size_t quarter = join->params.most_halves / 4;
    while (opened->count > quarter)
        shrink(join, opened);
    while (join->open_halves > 3 * quarter) {
        struct opened *largest = &join->open[0];
        for (size_t i = 1; i < join->open_count; i++)
            if (join->open[i].count >= largest->count)
                largest = &join->open[i];
        shrink(join, largest);
    }
}

static void drop_last_window(struct join *join)
{
    struct opened *last = &join->open[--join->open_count];
    join->open_halves -= last->count;
    opened_finish(last);
}

/* @return NULL without memory, or when the window lies behind too many others */
static struct opened *open_window(struct join *join, uint64_t number)
{
    size_t at = join->open_count;
    while (at > 0 && join->open[at - 1].number > number)
        at--;
    if (at > 0 && join->open[at - 1].number == number)
        return &join->open[at - 1];
    if (at == MOST_OPEN)
        return NULL;
    if (array_fit(&join->open, sizeof(*join->open), &join->open_room, join->open_count + 1) != 0)
        return NULL;
    if (join->open_count == MOST_OPEN)
        drop_last_window(join);
    memmove(&join->open[at + 1], &join->open[at], (join->open_count - at) * sizeof(*join->open));
    join->open[at] = (struct opened){
        .number = number, .top = UINT64_MAX, .ends = join->idle, .room = join->idle_room};
    join->idle = NULL;
    join->idle_room = 0;
    join->open_count++;
    return &join->open[at];
}

static int note_limit(struct opened *opened, uint32_t node, uint64_t below)
{
    struct told_limit *last =
        opened->limit_count > 0 ? &opened->limits[opened->limit_count - 1] : NULL;
    if (below == 0)
        return 0;
    if (node == KEY_NONE || opened->limit_count == MOST_LIMITS) {
        opened->below = opened->below == 0 || below < opened->below ? below : opened->below;
    } else if (last != NULL && last->node == node) {
        last->below = below < last->below ? below : last->below;
    } else {
        if (array_fit(&opened->limits, sizeof(*opened->limits), &opened->limit_room,
                      opened->limit_count + 1) != 0)
            return -ENOMEM;
        opened->limits[opened->limit_count++] = (struct told_limit){node, below};
    }
    return 0;
}

/* The window that tells of this one, which may be closed. */
static uint64_t taken_with(const struct join *join, uint64_t window)
{
    return window >= join->next ? window : join->next - 1;
}

int join_reserve(struct join *join, uint64_t window, size_t count, struct join_half **room)
{
    *room = NULL;
    if (count > MOST_HALVES || window > MOST_WINDOW)
        return -HOLTER_ERANGE;
    struct opened *opened = open_window(join, taken_with(join, window));
    if (opened == NULL) /* a window too far ahead is not kept */
        return join->open_count < MOST_OPEN ? -ENOMEM : 0;
    if (array_fit(&opened->ends, sizeof(*opened->ends), &opened->room, opened->count + count) != 0)
        return -ENOMEM;
    *room = opened->ends + opened->count;
    return 0;
}

int join_commit(struct join *join, uint64_t window, uint64_t keys_below, size_t count)
{
    struct opened *opened = open_window(join, taken_with(join, window));
    if (opened == NULL)
        return join->open_count < MOST_OPEN ? -ENOMEM : 0;
    struct join_half *told = opened->ends + opened->count;
    const uint32_t node = count == 0 ? KEY_NONE : told[0].node;
    size_t kept = count;
    for (struct join_half *half = told, *end = told + count; half < end; half++) {
        if (!is_sound(half, node))
            return -HOLTER_ERANGE;
        half->window = window;
        half->known = half->twice = 0;
        if (half->local_ns > half->end_ns)
            half->local_ns = half->end_ns;
    }
    if (note_limit(opened, node, keys_below) != 0)
        return -ENOMEM;
    if (opened->top != UINT64_MAX)
        kept = keep_below(told, count, opened->top);
    opened->count += kept;
    join->open_halves += kept;
    keep_to_bound(join, opened);
    return 0;
}

int join_add(struct join *join, uint64_t window, uint64_t keys_below,
             const struct join_half *halves, size_t count)
{
    struct join_half *room;
    if (count > MOST_HALVES || window > MOST_WINDOW)
        return -HOLTER_ERANGE;
    for (size_t i = 0; i < count; i++)
        if (!is_sound(&halves[i], halves[0].node))
            return -HOLTER_ERANGE;
    if (count == 0 && keys_below == 0)
        return 0;
    int code = join_reserve(join, window, count, &room);
    if (code != 0 || room == NULL)
        return code;
    if (count > 0)
        memcpy(room, halves, count * sizeof(*halves));
    return join_commit(join, window, keys_below, count);
}

/* ---- closing ------------------------------------------------------------- */

static void append(struct opened *to, const struct join_half *ends, size_t count)
{
    if (count > 0)
        memcpy(to->ends + to->count, ends, count * sizeof(*ends));
    to->count += count;
}

/* All that is told of windows up to this one, and what waits, in one array.
 * @param fresh  how many of them were told @return how many windows, or -ENOMEM */
static int gather(struct join *join, uint64_t window, size_t *fresh)
{
    size_t due = 0, total = 0;
    while (due < join->open_count && join->open[due].number <= window)
        total += join->open[due++].count;
    *fresh = total;
    if (due == 0)
        return 0;
    struct opened *first = &join->open[0];
    if (array_fit(&first->ends, sizeof(*first->ends), &first->room, total + join->waiting.count) !=
        0)
        return -ENOMEM;
    for (size_t i = 1; i < due; i++) {
        append(first, join->open[i].ends, join->open[i].count);
        join->open[i].count = 0;
    }
    return (int)due;
}

static int make_room(struct join *join, size_t need)
{
    size_t rooms[2] = {join->scratch_room, join->scratch_room};
    join->end_shift = join_shift_for(need);
    if (array_fit(&join->twos, sizeof(*join->twos), &join->two_room, need / 2) != 0 ||
        array_fit(&join->matches, sizeof(*join->matches), &join->match_room, need / 2) != 0 ||
        array_fit(&join->calls, sizeof(*join->calls), &join->call_room, need) != 0 ||
        array_fit(&join->index, sizeof(*join->index), &join->index_room,
                  join_places(join->end_shift)) != 0 ||
        array_fit(&join->call_index, sizeof(*join->call_index), &join->call_index_room,
                  join_places(join->end_shift)) != 0)
        return -ENOMEM;
    if (need <= join->scratch_room)
        return 0;
    if (array_fit(&join->places, sizeof(*join->places), &rooms[0], need) != 0 ||
        array_fit(&join->spare, sizeof(*join->spare), &rooms[1], need) != 0)
        return -ENOMEM;
    join->scratch_room = rooms[0];
    return 0;
}

/* What the nodes, and this join for want of room, left out of the windows that are due. */
static void note_limits(struct join *join, size_t due)
{
    for (size_t i = 0; i < due; i++) {
        const struct opened *opened = &join->open[i];
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
static void note_ranks(struct join *join, const struct join_half *fresh, size_t count)
{
    if (!key_limits_any(&join->limits))
        return;
    for (size_t i = 0; i < count; i++)
        join->places[i] = (struct key_place){fresh[i].key, (uint32_t)i};
    const struct key_place *places = key_order(join->places, join->spare, count);
    for (size_t i = 0; i < count; i++) {
        const struct join_half *end = &fresh[places[i].place];
        key_limits_rank(&join->limits, end->receive ? end->destination : end->source, end->node);
    }
}

static void forget_windows(struct join *join, size_t due)
{
    if (due == 0)
        return;
    if (join->idle == NULL) {
        join->idle = join->open[0].ends;
        join->idle_room = join->open[0].room;
        join->open[0].ends = NULL;
    }
    for (size_t i = 0; i < due; i++)
        opened_finish(&join->open[i]);
    join->open_count -= due;
    memmove(join->open, join->open + due, join->open_count * sizeof(*join->open));
}

/* Those that stay are the waiting ones from now on, as many as there is room for. */
static void swap_waiting(struct join *join, uint64_t window)
{
    struct ends stay = join->staying;
    uint64_t top = UINT64_MAX;
    join->staying = join->waiting;
    join->staying.count = 0;
    join->waiting = stay;
    while (join->waiting.count > join->params.most_halves / 4)
        join->waiting.count = keep_up_to(join->waiting.rows, join->waiting.count, &top);
    for (uint64_t back = 0; top != UINT64_MAX && back <= join->params.windows; back++)
        if (back <= window)
            key_limits_note(&join->limits, KEY_NONE, window - back, top + 1);
}

int join_close(struct join *join, uint64_t window,
               void (*emit)(void *user, const struct joined *message), void *user)
{
    size_t fresh;
    if (window < join->next)
        window = join->next - 1;
    else if (window > MOST_WINDOW)
        window = MOST_WINDOW;
    int due = gather(join, window, &fresh);
    if (due < 0 || make_room(join, fresh + join->waiting.count) != 0)
        return -ENOMEM;
    const struct join_half *ends = join->waiting.rows;
    if (due > 0) {
        append(&join->open[0], join->waiting.rows, join->waiting.count);
        ends = join->open[0].ends;
    }
    note_limits(join, (size_t)due);
    note_ranks(join, ends, fresh);
    join_match(join, ends, fresh + join->waiting.count, window);
    join_settle(join);
    join_emit(join, emit, user);
    join->open_halves -= fresh;
    forget_windows(join, (size_t)due);
    swap_waiting(join, window);
    join->next = window + 1;
    return 0;
}

void join_count(const struct join *join, struct join_counts *out)
{
    *out = join->counts;
    out->waiting = join->waiting.count + join->open_halves;
}

size_t join_bytes(const struct join *join)
{
    size_t bytes =
        sizeof(*join) + join->idle_room * sizeof(*join->idle) +
        join->open_room * sizeof(*join->open) +
        (join->waiting.room + join->staying.room) * sizeof(struct join_half) +
        join->scratch_room * 2 * sizeof(*join->places) + join->index_room * sizeof(*join->index) +
        join->call_index_room * sizeof(*join->call_index) + join->two_room * sizeof(*join->twos) +
        join->match_room * sizeof(*join->matches) + join->call_room * sizeof(*join->calls) +
        key_limits_bytes(&join->limits) + pair_clocks_bytes(&join->clocks);
    for (size_t i = 0; i < join->open_count; i++)
        bytes += join->open[i].room * sizeof(struct join_half) +
                 join->open[i].limit_room * sizeof(struct told_limit);
    return bytes;
}

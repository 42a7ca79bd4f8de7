#include "daemon/analysis/join.h"

#include "daemon/analysis/array.h"
#include "daemon/analysis/key_limits.h"
#include "daemon/analysis/key_order.h"
#include "daemon/analysis/pair_clock.h"
#include "holter/error.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_HALVES 16u
#define MOST_HALVES (UINT64_C(1) << 30)
#define MOST_OPEN 128u /* windows; of more, the last are dropped */
#define MOST_PAIRS (1u << 22)
#define MOST_NS (UINT64_C(1) << 61) /* sums of two times and two errors stay within 63 bits */
#define MOST_WINDOW (UINT64_C(1) << 62)
#define MOST_LIMITS (1u << 18)
#define AHEAD 12                 /* ends that are on their way to the processor */
#define MOST_PROBES 64u          /* of an index */
#define BOTH (UINT32_C(1) << 31) /* in the index: of this key both ends are there */
#define NONE UINT32_MAX

/* Of one node, for one window. */
struct told_limit {
    uint32_t node;
    uint64_t below;
};

/* What was told of a window that is not closed. */
struct opened {
    uint64_t number;
    uint64_t top; /* halves with greater keys are dropped for want of room */
    struct join_half *ends;
    size_t count, room;
    struct told_limit *limits;
    size_t limit_count, limit_room;
    uint64_t below; /* any node may have left out keys from this one up; 0: none */
};

/* A message of which both ends are there. */
struct match {
    const struct join_half *receive;
    uint64_t sent_ns;  /* begin of the send; from settle() on, on the receiver's clock */
    uint64_t error_ns; /* of both clocks */
    uint32_t sender;   /* node */
    uint32_t pair;
    uint32_t
        call; /* that completed it with others; NONE: it completed it alone, or see find_call() */
};

/* A call that completed several messages of other nodes. */
struct call {
    uint64_t begin_ns;
    uint64_t latest_ns; /* of the sends that are known */
    uint32_t destination;
    uint32_t known, together; /* sends joined before, and messages in all */
    uint32_t matched;         /* sends joined now */
};

struct ends {
    struct join_half *rows; /* each key once */
    size_t count, room;
};

struct join {
    struct join_params params;
    struct opened *open; /* sorted by number */
    size_t open_count, open_room;
    size_t open_halves; /* in all of them */
    uint64_t next;      /* windows below it are closed */
    struct ends waiting, staying;
    struct key_limits limits;
    struct pair_clocks clocks;
    struct join_counts counts;
    /* Room that is used again by each close. */
    struct key_place *places, *spare;
    uint32_t *index; /* open addressing: of ends by key, then of calls; position + 1, 0: empty */
    struct match *matches;
    struct call *calls;
    size_t scratch_room, index_room, match_room, call_room;
    size_t match_count, call_count;
    size_t refused;                 /* of the matches of this close */
    unsigned end_shift, call_shift; /* of hashes, to places of the index */
    struct join_half *idle; /* owned: of a window that is closed, for the next that is opened */
    size_t idle_room;
};

int join_create(struct join **out, const struct join_params *params)
{
    if (params->windows > JOIN_MOST_WINDOWS || params->most_halves < LEAST_HALVES ||
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
    if (half->begin_ns > half->end_ns || half->end_ns > MOST_NS)
        return 0;
    return !half->receive || (half->together >= 1 && half->local_ns <= MOST_NS);
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

/* ---- matching ------------------------------------------------------------ */

static uint64_t error_of(const struct join_half *send, const struct join_half *receive)
{
    uint64_t sum = send->error_ns + receive->error_ns;
    return sum < send->error_ns || sum > MOST_NS ? UINT64_MAX : sum;
}

/* Can they be the ends of one message? */
static int agree(const struct join_half *send, const struct join_half *receive, uint64_t error)
{
    return send->source == receive->source && send->destination == receive->destination &&
           send->node != receive->node && receive->bytes <= send->bytes &&
           (error == UINT64_MAX || receive->end_ns + error >= send->begin_ns);
}

static void give_up(struct join *join, const struct join_half *end)
{
    uint32_t other = end->receive ? end->source : end->destination;
    if (!end->twice && !key_limits_left_out(&join->limits, other, end->window, end->key))
        join->counts.unmatched++;
}

/* An end whose other end is not there stays, or has waited long enough. */
static void keep_waiting(struct join *join, const struct join_half *end, uint64_t window)
{
    struct ends *staying = &join->staying;
    if (end->window + join->params.windows <= window ||
        array_fit(&staying->rows, sizeof(*staying->rows), &staying->room, staying->count + 1) !=
            0) {
        give_up(join, end);
        return;
    }
    staying->rows[staying->count++] = *end;
}

/* ---- the index ----------------------------------------------------------- */

/* Places for so many, at most two thirds of them taken. @return by how much hashes are shifted */
static unsigned shift_for(size_t count)
{
    unsigned bits = count < LEAST_HALVES ? 5u : 64u - (unsigned)__builtin_clzll(count + count / 2);
    return 64u - bits;
}

static void clear_index(struct join *join, unsigned shift)
{
    size_t places = (size_t)(UINT64_MAX >> shift) + 1;
    memset(join->index, 0, places * sizeof(*join->index));
}

/* ---- calls that completed several messages ------------------------------- */

static uint64_t call_hash(const struct join_half *receive)
{
    uint64_t x = receive->begin_ns * UINT64_C(0x9e3779b97f4a7c15) + receive->destination;
    return (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
}

/* The call of a receive, which is noted when it is new. @return NONE: too many calls have the same
 * place in the index; what it completed is then not known to be whole */
static uint32_t find_call(struct join *join, const struct join_half *receive)
{
    uint32_t at = (uint32_t)(call_hash(receive) >> join->call_shift);
    uint32_t mask = (uint32_t)(UINT64_MAX >> join->call_shift);
    for (uint32_t probes = 0; probes < MOST_PROBES; probes++, at = (at + 1) & mask) {
        if (join->index[at] == 0) {
            join->index[at] = (uint32_t)++join->call_count;
            join->calls[join->call_count - 1] =
                (struct call){.begin_ns = receive->begin_ns, .destination = receive->destination};
            return (uint32_t)join->call_count - 1;
        }
        const struct call *call = &join->calls[join->index[at] - 1];
        if (call->begin_ns == receive->begin_ns && call->destination == receive->destination)
            return join->index[at] - 1;
    }
    return NONE;
}

/* Add what one of its receives knows of a call. @return number of the call, or NONE */
static uint32_t add_to_call(struct join *join, const struct join_half *receive)
{
    uint32_t number = find_call(join, receive);
    if (number == NONE)
        return NONE;
    struct call *call = &join->calls[number];
    if (receive->local_ns > call->latest_ns)
        call->latest_ns = receive->local_ns;
    if (receive->known > call->known)
        call->known = receive->known;
    if (receive->together > call->together)
        call->together = receive->together;
    return number;
}

static bool is_of_several(const struct join_half *end)
{
    return end->receive && end->together > 1 && !end->twice;
}

/* Receives that wait on belong to calls as well, and learn what is known of these. */
static void add_waiting_to_calls(struct join *join)
{
    for (size_t i = 0; i < join->staying.count; i++) {
        if (is_of_several(&join->staying.rows[i]))
            add_to_call(join, &join->staying.rows[i]);
    }
}

static void tell_waiting_of_calls(struct join *join)
{
    for (size_t i = 0; i < join->staying.count; i++) {
        struct join_half *end = &join->staying.rows[i];
        uint32_t at = is_of_several(end) ? find_call(join, end) : NONE;
        if (at == NONE)
            continue;
        end->local_ns = join->calls[at].latest_ns;
        end->known = join->calls[at].known + join->calls[at].matched;
    }
}

/* ---- matching ------------------------------------------------------------ */

/* @return whether they can be the ends of one message */
static bool take_two(struct join *join, const struct join_half *one, const struct join_half *other)
{
    const struct join_half *receive = one->receive ? one : other,
                           *send = one->receive ? other : one;
    uint64_t error = error_of(send, receive);
    if (!agree(send, receive, error)) {
        join->refused++;
        return false;
    }
    uint32_t number = (uint32_t)join->match_count++;
    join->matches[number] = (struct match){.receive = receive,
                                           .sent_ns = send->begin_ns,
                                           .error_ns = error,
                                           .sender = send->node,
                                           .pair = KEY_NONE,
                                           .call = NONE};
    join->places[number] = (struct key_place){receive->key, number};
    return true;
}

/* Match the ends of each key where there are two of them at most.
 * @return whether it was so; else, or when too many have the same place in the index, nothing is said */
static bool match_twos(struct join *join, const struct join_half *ends, size_t count)
{
    uint32_t *index = join->index, mask = (uint32_t)(UINT64_MAX >> join->end_shift);
    clear_index(join, join->end_shift);
    for (uint32_t i = 0; i < count; i++) {
        const struct join_half *end = &ends[i], *first = NULL;
        /* Keys are hashes, or so they should be. */
        uint32_t at = (uint32_t)(end->key * UINT64_C(0x9e3779b97f4a7c15) >> join->end_shift);
        for (uint32_t probes = 0; index[at] != 0; at = (at + 1) & mask) {
            first = &ends[(index[at] & ~BOTH) - 1];
            if (first->key == end->key)
                break;
            if (++probes == MOST_PROBES)
                return false;
        }
        if (index[at] == 0) {
            index[at] = i + 1;
            continue;
        }
        if ((index[at] & BOTH) != 0 || first->receive == end->receive ||
            (first->twice | end->twice) != 0)
            return false;
        index[at] |= BOTH;
        take_two(join, first, end);
    }
    return true;
}

/* What has no other end waits. */
static void keep_single(struct join *join, const struct join_half *ends, uint64_t window)
{
    size_t places = (size_t)(UINT64_MAX >> join->end_shift) + 1;
    for (size_t at = 0; at < places; at++)
        if (join->index[at] != 0 && (join->index[at] & BOTH) == 0)
            keep_waiting(join, &ends[join->index[at] - 1], window);
}

/* All ends of one key, of which one may have waited. */
static void match_key(struct join *join, const struct join_half *ends,
                      const struct key_place *places, size_t count, uint64_t window)
{
    const struct join_half *first = &ends[places[0].place], *next = &ends[places[count - 1].place];
    if (count == 1) {
        keep_waiting(join, first, window);
    } else if (count == 2 && first->receive != next->receive && !first->twice && !next->twice) {
        take_two(join, first, next);
    } else {
        struct join_half twice = *first;
        twice.twice = 1;
        twice.window = window;
        join->refused++;
        keep_waiting(join, &twice, window);
    }
}

/* In the order of keys: linear, and right, whatever they are. */
static void match_sorted(struct join *join, const struct join_half *ends, size_t count,
                         uint64_t window)
{
    struct key_place *sorted = join->places;
    join->match_count = join->refused = 0;
    for (size_t i = 0; i < count; i++)
        sorted[i] = (struct key_place){ends[i].key, (uint32_t)i};
    sorted = key_order(sorted, join->spare, count);
    /* The places of matches are written where those of their ends have been read. */
    join->spare = sorted == join->places ? join->spare : join->places;
    join->places = sorted;
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && sorted[end].key == sorted[i].key;)
            end++;
        match_key(join, ends, &sorted[i], end - i, window);
    }
}

static void match_all(struct join *join, const struct join_half *ends, size_t count,
                      uint64_t window)
{
    join->match_count = join->refused = 0;
    if (!match_twos(join, ends, count))
        match_sorted(join, ends, count, window);
    else if (2 * (join->match_count + join->refused) < count)
        keep_single(join, ends, window);
    join->counts.rejected += join->refused;
}

/* ---- what comes out ------------------------------------------------------ */

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* Note of each message what it says of clocks, and of the call that completed it. */
static void note_matches(struct join *join)
{
    clear_index(join, join->call_shift);
    join->call_count = 0;
    add_waiting_to_calls(join);
    for (size_t i = 0; i < join->match_count; i++) {
        struct match *match = &join->matches[i];
        const struct join_half *receive = match->receive;
        if (match->error_ns != UINT64_MAX)
            match->pair = pair_clocks_note(&join->clocks, match->sender, receive->node,
                                           (int64_t)(receive->end_ns - match->sent_ns),
                                           match->error_ns, receive->end_ns);
        if (receive->together > 1)
            match->call = add_to_call(join, receive);
    }
}

/* Put the begin of each send on the clock of its receiver, and tell it to the call. */
static void correct_times(struct join *join)
{
    pair_clocks_settle(&join->clocks);
    for (size_t i = 0; i < join->match_count; i++) {
        struct match *match = &join->matches[i];
        if (match->pair != KEY_NONE) {
            const struct pair_clock *pair = &join->clocks.pairs[match->pair];
            int64_t sent = (int64_t)match->sent_ns +
                           pair_clock_offset(pair, match->sender, match->receive->node);
            match->sent_ns = sent < 0 ? 0 : (uint64_t)sent;
        }
        if (match->call == NONE)
            continue;
        struct call *call = &join->calls[match->call];
        call->latest_ns = larger(call->latest_ns, match->sent_ns);
        call->matched++;
    }
    tell_waiting_of_calls(join);
}

static struct joined joined_of(const struct join *join, const struct match *match)
{
    const struct join_half *receive = match->receive;
    const struct call *call = match->call == NONE ? NULL : &join->calls[match->call];
    bool all_known =
        call == NULL ? receive->together == 1 : call->known + call->matched >= call->together;
    uint64_t latest = call == NULL ? receive->local_ns : call->latest_ns;
    uint64_t s = match->sent_ns, w = receive->begin_ns, r = receive->end_ns;
    uint64_t rest = less(r, larger(larger(s, w), latest));
    struct joined out = {
        .source = receive->source,
        .destination = receive->destination,
        .bytes = receive->bytes,
        .transfer_ns = less(r, s),
        .late_sender_ns = less(s, w),
        .late_receiver_ns = less(w, s),
        .network_ns = all_known ? rest : 0,
        .joint_ns = all_known ? 0 : rest,
        .error_ns =
            match->pair != KEY_NONE ? join->clocks.pairs[match->pair].remain_ns : match->error_ns,
        .window = receive->window,
    };
    out.uncertain = out.transfer_ns < out.error_ns;
    if (out.late_sender_ns < out.error_ns)
        out.late_sender_ns = 0;
    return out;
}

static void emit_all(struct join *join, void (*emit)(void *user, const struct joined *message),
                     void *user)
{
    size_t count = join->match_count;
    const struct key_place *places = key_order(join->places, join->spare, count);
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count)
            __builtin_prefetch(join->matches[places[i + AHEAD].place].receive);
        struct joined out = joined_of(join, &join->matches[places[i].place]);
        join->counts.matched++;
        join->counts.uncertain += (uint64_t)out.uncertain;
        emit(user, &out);
    }
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
    join->end_shift = shift_for(need);
    if (array_fit(&join->matches, sizeof(*join->matches), &join->match_room, need / 2) != 0 ||
        array_fit(&join->calls, sizeof(*join->calls), &join->call_room, need) != 0 ||
        array_fit(&join->index, sizeof(*join->index), &join->index_room,
                  (size_t)(UINT64_MAX >> join->end_shift) + 1) != 0)
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
    match_all(join, ends, fresh + join->waiting.count, window);
    join->call_shift = shift_for(join->match_count + join->staying.count);
    note_matches(join);
    correct_times(join);
    emit_all(join, emit, user);
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
        join->match_room * sizeof(*join->matches) + join->call_room * sizeof(*join->calls) +
        key_limits_bytes(&join->limits) + pair_clocks_bytes(&join->clocks);
    for (size_t i = 0; i < join->open_count; i++)
        bytes += join->open[i].room * sizeof(struct join_half) +
                 join->open[i].limit_room * sizeof(struct told_limit);
    return bytes;
}

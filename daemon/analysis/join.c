#include "daemon/analysis/join.h"

#include "daemon/analysis/array.h"
#include "daemon/analysis/key_limits.h"
#include "daemon/analysis/key_order.h"
#include "daemon/analysis/pair_clock.h"
#include "holter/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_HALVES 16u
#define MOST_HALVES (UINT64_C(1) << 30)
#define MOST_OPEN 128u /* windows; of more, the last are dropped */
#define MOST_PAIRS (1u << 22)
#define MOST_NS (UINT64_C(1) << 61) /* sums of two times and two errors stay within 63 bits */
#define MOST_WINDOW (UINT64_C(1) << 62)
#define MOST_LIMITS (1u << 18)
#define AHEAD 12 /* ends that are on their way to the processor */
#define NONE UINT32_MAX

struct end {
    uint64_t key, begin_ns, end_ns, bytes, error_ns, window;
    uint64_t latest_ns; /* receive: latest send known among the messages of the same call */
    uint32_t source, destination, node, together;
    uint32_t known; /* receive: messages of the same call whose sends have been joined before */
    uint8_t receive;
    uint8_t twice; /* came twice: matches nothing, and neither does the next */
};

/* Of one node, for one window. */
struct told_limit {
    uint32_t node;
    uint64_t below;
};

/* What was told of a window that is not closed. */
struct opened {
    uint64_t number;
    uint64_t top; /* halves with greater keys are dropped for want of room */
    struct end *ends;
    size_t count, room;
    struct told_limit *limits;
    size_t limit_count, limit_room;
    uint64_t below; /* any node may have left out keys from this one up; 0: none */
};

/* A message of which both ends are there; a copy, because ends lie scattered in the order of keys. */
struct match {
    struct end receive;
    uint64_t sent_ns;  /* begin of the send; from correct_times() on, on the receiver's clock */
    uint64_t error_ns; /* of both clocks */
    uint32_t sender;   /* node */
    uint32_t pair;
    int all_known; /* the sends of all messages of the same call */
};

/* A receive whose call completed several messages of other nodes. */
struct member {
    uint32_t match; /* position in matches, or NONE */
    uint32_t waits; /* else position among those that wait on */
};

struct ends {
    struct end *rows; /* sorted by key; each key once */
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
    struct match *matches;
    struct member *members;
    size_t scratch_room, match_room;
    size_t match_count, member_count;
    struct end *idle; /* owned: of a window that is closed, for the next that is opened */
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
    free(join->matches);
    free(join->members);
    key_limits_finish(&join->limits);
    pair_clocks_finish(&join->clocks);
    free(join);
}

/* ---- taking halves in ---------------------------------------------------- */

static int is_sound(const struct join_half *half, uint32_t node)
{
    if (half->receive != 0 && half->receive != 1)
        return 0;
    if (half->node != node || half->node >= 1u << 31 || half->source == half->destination)
        return 0;
    if (half->begin_ns > half->end_ns || half->end_ns > MOST_NS)
        return 0;
    return !half->receive || (half->together >= 1 && half->local_ns <= MOST_NS);
}

/* Keep the lower half of the keys, so that which are kept does not depend on the order in which
 * they came. */
static size_t keep_up_to(struct end *ends, size_t count, uint64_t *top)
{
    uint64_t largest = 0;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        largest = ends[i].key > largest ? ends[i].key : largest;
    if (largest == 0)
        return 0; /* no two messages have the same key */
    while (*top >= largest)
        *top /= 2;
    for (size_t i = 0; i < count; i++)
        if (ends[i].key <= *top)
            ends[kept++] = ends[i];
    return kept;
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

static struct end end_of(const struct join_half *half, uint64_t window)
{
    struct end end = {
        .key = half->key,
        .begin_ns = half->begin_ns,
        .end_ns = half->end_ns,
        .bytes = half->bytes,
        .error_ns = half->error_ns,
        .window = window,
        .source = half->source,
        .destination = half->destination,
        .node = half->node,
        .together = half->together,
        .receive = (uint8_t)half->receive,
    };
    if (half->receive)
        end.latest_ns = half->local_ns < half->end_ns ? half->local_ns : half->end_ns;
    return end;
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

int join_add(struct join *join, uint64_t window, uint64_t keys_below,
             const struct join_half *halves, size_t count)
{
    if (count > MOST_HALVES || window > MOST_WINDOW)
        return -HOLTER_ERANGE;
    for (size_t i = 0; i < count; i++)
        if (!is_sound(&halves[i], halves[0].node))
            return -HOLTER_ERANGE;
    if (count == 0 && keys_below == 0)
        return 0;
    struct opened *opened = open_window(join, window >= join->next ? window : join->next - 1);
    if (opened == NULL) /* a window too far ahead is not kept */
        return join->open_count < MOST_OPEN ? -ENOMEM : 0;
    if (array_fit(&opened->ends, sizeof(*opened->ends), &opened->room, opened->count + count) !=
            0 ||
        note_limit(opened, count == 0 ? KEY_NONE : halves[0].node, keys_below) != 0)
        return -ENOMEM;
    size_t before = opened->count;
    for (size_t i = 0; i < count; i++)
        if (halves[i].key <= opened->top)
            opened->ends[opened->count++] = end_of(&halves[i], window);
    join->open_halves += opened->count - before;
    keep_to_bound(join, opened);
    return 0;
}

/* ---- matching ------------------------------------------------------------ */

static uint64_t error_of(const struct end *send, const struct end *receive)
{
    uint64_t sum = send->error_ns + receive->error_ns;
    return sum < send->error_ns || sum > MOST_NS ? UINT64_MAX : sum;
}

/* Can they be the ends of one message? */
static int agree(const struct end *send, const struct end *receive)
{
    uint64_t error = error_of(send, receive);
    return send->source == receive->source && send->destination == receive->destination &&
           send->node != receive->node && receive->bytes <= send->bytes &&
           (error == UINT64_MAX || receive->end_ns + error >= send->begin_ns);
}

static void note_match(struct join *join, const struct end *send, const struct end *receive)
{
    struct match *match = &join->matches[join->match_count];
    *match = (struct match){.receive = *receive,
                            .sent_ns = send->begin_ns,
                            .error_ns = error_of(send, receive),
                            .sender = send->node,
                            .pair = KEY_NONE,
                            .all_known = receive->together == 1};
    if (match->error_ns != UINT64_MAX)
        match->pair = pair_clocks_note(&join->clocks, send->node, receive->node,
                                       (int64_t)(receive->end_ns - send->begin_ns), match->error_ns,
                                       receive->end_ns);
    if (receive->together > 1)
        join->members[join->member_count++] = (struct member){(uint32_t)join->match_count, NONE};
    join->match_count++;
}

static void give_up(struct join *join, const struct end *end)
{
    uint32_t other = end->receive ? end->source : end->destination;
    if (!end->twice && !key_limits_left_out(&join->limits, other, end->window, end->key))
        join->counts.unmatched++;
}

/* An end whose other end is not there stays, or has waited long enough. */
static void keep_waiting(struct join *join, const struct end *end, uint64_t window)
{
    struct ends *staying = &join->staying;
    if (end->window + join->params.windows <= window ||
        array_fit(&staying->rows, sizeof(*staying->rows), &staying->room, staying->count + 1) !=
            0) {
        give_up(join, end);
        return;
    }
    if (end->receive && end->together > 1 && !end->twice)
        join->members[join->member_count++] = (struct member){NONE, (uint32_t)staying->count};
    staying->rows[staying->count++] = *end;
}

/* All ends of one key: those of this close, and at most one that waited. */
static void take_key(struct join *join, const struct end *waited, const struct end *fresh,
                     const struct key_place *places, size_t count, uint64_t window)
{
    const struct end *of_side[2] = {NULL, NULL};
    struct end twice;
    size_t sides[2] = {0, 0};
    if (waited != NULL) {
        of_side[waited->receive] = waited;
        sides[waited->receive]++;
    }
    for (size_t i = 0; i < count; i++) {
        const struct end *end = &fresh[places[i].place];
        of_side[end->receive] = end;
        sides[end->receive]++;
    }
    int refused = sides[0] > 1 || sides[1] > 1;
    if (waited != NULL && waited->twice && count > 0)
        refused = 1;
    if (refused) {
        twice = waited != NULL ? *waited : fresh[places[0].place];
        twice.twice = 1;
        twice.window = window;
        join->counts.rejected++;
        keep_waiting(join, &twice, window);
    } else if (sides[0] == 0 || sides[1] == 0) {
        keep_waiting(join, of_side[sides[0] == 0], window);
    } else if (agree(of_side[0], of_side[1])) {
        note_match(join, of_side[0], of_side[1]);
    } else {
        join->counts.rejected++;
    }
}

/* Walk through what waited and what is new, both in the order of keys. */
static void merge(struct join *join, const struct end *fresh, const struct key_place *places,
                  size_t count, uint64_t window)
{
    const struct ends *waiting = &join->waiting;
    size_t w = 0, f = 0;
    while (w < waiting->count || f < count) {
        uint64_t key = f == count || (w < waiting->count && waiting->rows[w].key < places[f].key)
                           ? waiting->rows[w].key
                           : places[f].key;
        const struct end *waited =
            w < waiting->count && waiting->rows[w].key == key ? &waiting->rows[w++] : NULL;
        size_t first = f;
        while (f < count && places[f].key == key) {
            if (f + AHEAD < count)
                __builtin_prefetch(&fresh[places[f + AHEAD].place]);
            f++;
        }
        take_key(join, waited, fresh, &places[first], f - first, window);
    }
}

/* ---- messages that one call completed ------------------------------------ */

static struct end *receive_of(const struct join *join, const struct member *member)
{
    return member->match != NONE ? &join->matches[member->match].receive
                                 : &join->staying.rows[member->waits];
}

/* Members of one call: what is known of its latest send goes to each of them. */
static void settle_call(struct join *join, const struct key_place *places, size_t count)
{
    uint64_t latest = 0;
    uint32_t known = 0, together = 0, matched = 0;
    for (size_t i = 0; i < count; i++) {
        const struct member *member = &join->members[places[i].place];
        const struct end *end = receive_of(join, member);
        latest = end->latest_ns > latest ? end->latest_ns : latest;
        known = end->known > known ? end->known : known;
        together = end->together > together ? end->together : together;
        if (member->match == NONE)
            continue;
        uint64_t sent = join->matches[member->match].sent_ns;
        latest = sent > latest ? sent : latest;
        matched++;
    }
    known += matched;
    for (size_t i = 0; i < count; i++) {
        const struct member *member = &join->members[places[i].place];
        struct end *end = receive_of(join, member);
        end->latest_ns = latest;
        end->known = known;
        if (member->match != NONE)
            join->matches[member->match].all_known = known >= together;
    }
}

static uint64_t call_hash(const struct end *receive)
{
    /* One to one for the calls of a rank: the products of odd numbers only mix the bits. */
    uint64_t x = receive->begin_ns * UINT64_C(0x9e3779b97f4a7c15) + receive->destination;
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

static int same_call(const struct end *a, const struct end *b)
{
    return a->destination == b->destination && a->begin_ns == b->begin_ns;
}

static void settle_calls(struct join *join)
{
    size_t count = join->member_count;
    for (size_t i = 0; i < count; i++) {
        uint64_t hash = call_hash(receive_of(join, &join->members[i]));
        join->places[i] = (struct key_place){hash, (uint32_t)i};
    }
    const struct key_place *places = key_order(join->places, join->spare, count);
    for (size_t i = 0, end; i < count; i = end) {
        const struct end *first = receive_of(join, &join->members[places[i].place]);
        end = i + 1;
        if (i + AHEAD < count)
            __builtin_prefetch(receive_of(join, &join->members[places[i + AHEAD].place]));
        /* Two calls of one hash are told apart unless they alternate; then neither is whole. */
        while (end < count && same_call(first, receive_of(join, &join->members[places[end].place])))
            end++;
        settle_call(join, &places[i], end - i);
    }
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

/* Put the begin of each send on the clock of its receiver. */
static void correct_times(struct join *join)
{
    pair_clocks_settle(&join->clocks);
    for (size_t i = 0; i < join->match_count; i++) {
        struct match *match = &join->matches[i];
        if (match->pair == KEY_NONE)
            continue;
        int64_t sent =
            (int64_t)match->sent_ns +
            pair_clock_offset(&join->clocks.pairs[match->pair], match->sender, match->receive.node);
        match->sent_ns = sent < 0 ? 0 : (uint64_t)sent;
    }
}

static struct joined joined_of(const struct join *join, const struct match *match)
{
    const struct end *receive = &match->receive;
    uint64_t s = match->sent_ns, w = receive->begin_ns, r = receive->end_ns;
    uint64_t rest = less(r, larger(larger(s, w), receive->latest_ns));
    struct joined out = {
        .source = receive->source,
        .destination = receive->destination,
        .bytes = receive->bytes,
        .transfer_ns = less(r, s),
        .late_sender_ns = less(s, w),
        .late_receiver_ns = less(w, s),
        .network_ns = match->all_known ? rest : 0,
        .joint_ns = match->all_known ? 0 : rest,
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
    for (size_t i = 0; i < join->match_count; i++) {
        struct joined out = joined_of(join, &join->matches[i]);
        join->counts.matched++;
        join->counts.uncertain += (uint64_t)out.uncertain;
        emit(user, &out);
    }
}

/* ---- closing ------------------------------------------------------------- */

/* All that is told of windows up to this one, in one array. @return how many windows, or -ENOMEM */
static int gather(struct join *join, uint64_t window, const struct end **fresh, size_t *count)
{
    size_t due = 0, total = 0;
    while (due < join->open_count && join->open[due].number <= window)
        total += join->open[due++].count;
    *count = total;
    *fresh = NULL;
    if (due == 0)
        return 0;
    struct opened *first = &join->open[0];
    if (array_fit(&first->ends, sizeof(*first->ends), &first->room, total) != 0)
        return -ENOMEM;
    for (size_t i = 1; i < due; i++) {
        struct opened *next = &join->open[i];
        if (next->count > 0)
            memcpy(first->ends + first->count, next->ends, next->count * sizeof(*next->ends));
        first->count += next->count;
        next->count = 0;
    }
    *fresh = first->ends;
    return (int)due;
}

static int make_room(struct join *join, size_t fresh)
{
    size_t need = fresh + join->waiting.count;
    if (array_fit(&join->matches, sizeof(*join->matches), &join->match_room, need / 2) != 0)
        return -ENOMEM;
    if (need <= join->scratch_room)
        return 0;
    size_t rooms[3] = {join->scratch_room, join->scratch_room, join->scratch_room};
    if (array_fit(&join->places, sizeof(*join->places), &rooms[0], need) != 0 ||
        array_fit(&join->spare, sizeof(*join->spare), &rooms[1], need) != 0 ||
        array_fit(&join->members, sizeof(*join->members), &rooms[2], need) != 0)
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

static void note_ranks(struct join *join, const struct end *fresh, const struct key_place *places,
                       size_t count)
{
    for (size_t i = 0; i < count && key_limits_any(&join->limits); i++) {
        const struct end *end = &fresh[places[i].place];
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
    const struct end *fresh;
    size_t count;
    if (window < join->next)
        window = join->next - 1;
    else if (window > MOST_WINDOW)
        window = MOST_WINDOW;
    int due = gather(join, window, &fresh, &count);
    if (due < 0 || make_room(join, count) != 0)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        join->places[i] = (struct key_place){fresh[i].key, (uint32_t)i};
    const struct key_place *places = key_order(join->places, join->spare, count);
    join->match_count = join->member_count = 0;
    note_limits(join, (size_t)due);
    note_ranks(join, fresh, places, count);
    merge(join, fresh, places, count, window);
    correct_times(join);
    settle_calls(join);
    emit_all(join, emit, user);
    join->open_halves -= count;
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
    size_t bytes = sizeof(*join) + join->idle_room * sizeof(*join->idle) +
                   join->open_room * sizeof(*join->open) +
                   (join->waiting.room + join->staying.room) * sizeof(struct end) +
                   join->scratch_room * (2 * sizeof(*join->places) + sizeof(*join->members)) +
                   join->match_room * sizeof(*join->matches) + key_limits_bytes(&join->limits) +
                   pair_clocks_bytes(&join->clocks);
    for (size_t i = 0; i < join->open_count; i++)
        bytes += join->open[i].room * sizeof(struct end) +
                 join->open[i].limit_room * sizeof(struct told_limit);
    return bytes;
}

/* Which ends belong together, and what comes out of them. */
#include "daemon/analysis/array.h"
#include "daemon/analysis/join_state.h"

#include <stdbool.h>
#include <string.h>

#define MOST_PROBES 64u          /* of an index */
#define BOTH (UINT64_C(1) << 31) /* in the index: of this key both ends are there */
#define AHEAD 12u        /* matches whose ends are asked of memory before they are looked at */
#define ALONE UINT32_MAX /* no call that completed several */
#define UNKNOWN (UINT32_MAX - 1) /* one that there was no place for */

/* ---- matching ------------------------------------------------------------ */

static uint64_t error_of(const struct join_half *send, const struct join_half *receive)
{
    uint64_t sum = send->error_ns + receive->error_ns;
    return sum < send->error_ns || sum > JOIN_MOST_NS ? UINT64_MAX : sum;
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

unsigned join_shift_for(size_t count)
{
    unsigned bits =
        count < JOIN_LEAST_HALVES ? 5u : 64u - (unsigned)__builtin_clzll(count + count / 2);
    return 64u - bits;
}

size_t join_places(unsigned shift)
{
    return (size_t)(UINT64_MAX >> shift) + 1;
}

/* ---- calls that completed several messages ------------------------------- */

static inline uint64_t call_hash(const struct join_half *receive)
{
    uint64_t x = receive->begin_ns * UINT64_C(0x9e3779b97f4a7c15) + receive->destination;
    return (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
}

/* The call of a receive, which is noted when it is new. @return UNKNOWN: too many calls have the same
 * place in the index; what it completed is then not known to be whole */
static inline uint32_t find_call(struct join *join, const struct join_half *receive)
{
    uint32_t at = (uint32_t)(call_hash(receive) >> join->end_shift);
    uint32_t mask = (uint32_t)(UINT64_MAX >> join->end_shift);
    for (uint32_t probes = 0; probes < MOST_PROBES; probes++, at = (at + 1) & mask) {
        if (join->call_index[at] == 0) {
            join->call_index[at] = (uint32_t)++join->call_count;
            join->calls[join->call_count - 1] =
                (struct call){.begin_ns = receive->begin_ns, .destination = receive->destination};
            return (uint32_t)join->call_count - 1;
        }
        const struct call *call = &join->calls[join->call_index[at] - 1];
        if (call->begin_ns == receive->begin_ns && call->destination == receive->destination)
            return join->call_index[at] - 1;
    }
    return UNKNOWN;
}

/* Add what one of its receives knows of a call. @return number of the call, or UNKNOWN */
static inline uint32_t add_to_call(struct join *join, const struct join_half *receive)
{
    uint32_t number = find_call(join, receive);
    if (number == UNKNOWN)
        return UNKNOWN;
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
        uint32_t at = is_of_several(end) ? find_call(join, end) : UNKNOWN;
        if (at == UNKNOWN)
            continue;
        end->local_ns = join->calls[at].latest_ns;
        end->known = join->calls[at].known + join->calls[at].matched;
    }
}

/* ---- matching ------------------------------------------------------------ */

static void begin_matches(struct join *join)
{
    join->match_count = join->refused = join->call_count = 0;
    memset(join->call_index, 0, join_places(join->end_shift) * sizeof(*join->call_index));
    pair_clocks_forget(&join->clocks);
}

/* List two ends as a message, if they can be, and note what it says of clocks, and of the call that
 * completed it. */
static inline void take_two(struct join *join, const struct join_half *one,
                            const struct join_half *other)
{
    const struct join_half *receive = one->receive ? one : other,
                           *send = one->receive ? other : one;
    uint64_t error = error_of(send, receive);
    if (!agree(send, receive, error)) {
        join->refused++;
        return;
    }
    struct match *match = &join->matches[join->match_count++];
    uint32_t pair = KEY_NONE;
    if (error != UINT64_MAX)
        pair =
            pair_clocks_note(&join->clocks, send->node, receive->node,
                             (int64_t)(receive->end_ns - send->begin_ns), error, receive->end_ns);
    *match = (struct match){
        .sent_ns = send->begin_ns,
        .begin_ns = receive->begin_ns,
        .end_ns = receive->end_ns,
        .local_ns = receive->local_ns,
        .bytes = receive->bytes,
        .window = receive->window,
        .error_ns = error,
        .source = receive->source,
        .destination = receive->destination,
        .pair = pair & PAIR_NONE, /* numbers are below it, and KEY_NONE becomes it */
        .down = send->node > receive->node,
        .call = receive->together > 1 ? add_to_call(join, receive) : ALONE,
    };
}

/* A place of the index: the low half of a key, and where its first end lies. Ends are long, and lie where their
 * nodes told them: most of memory's time would go into looking at them for their keys. */
static inline uint64_t indexed(uint64_t key, uint32_t position)
{
    return key << 32 | (position + 1);
}

static inline uint32_t position_of(uint64_t place)
{
    return (uint32_t)(place & (BOTH - 1)) - 1;
}

/* List the two ends of each key, where there are two of them at most.
 * @return whether it was so; else, or when too many have the same place in the index, nothing is said */
static bool list_twos(struct join *join, const struct join_half *ends, size_t count)
{
    uint64_t *index = join->index;
    uint32_t mask = (uint32_t)(UINT64_MAX >> join->end_shift);
    memset(index, 0, join_places(join->end_shift) * sizeof(*index));
    join->two_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t key = ends[i].key, place = indexed(key, i);
        /* Keys are hashes, or so they should be. */
        uint32_t at = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> join->end_shift);
        for (uint32_t probes = 0; index[at] != 0 && (index[at] ^ place) >> 32 != 0;
             at = (at + 1) & mask)
            if (++probes == MOST_PROBES)
                return false;
        if (index[at] == 0) {
            index[at] = place;
            continue;
        }
        if ((index[at] & BOTH) != 0)
            return false;
        join->twos[join->two_count++] = (struct two){position_of(index[at]), i};
        index[at] |= BOTH;
    }
    return true;
}

static inline void ask_for(const struct join_half *end)
{
    __builtin_prefetch(end);
    __builtin_prefetch((const char *)end + sizeof(*end) - 1);
}

/* Match the ends that are listed.
 * @return whether all have the same key, and are the two of it; else nothing is said */
static bool match_twos(struct join *join, const struct join_half *ends)
{
    begin_matches(join);
    for (size_t i = 0; i < join->two_count; i++) {
        const struct join_half *one = &ends[join->twos[i].first],
                               *other = &ends[join->twos[i].next];
        if (i + AHEAD < join->two_count) {
            ask_for(&ends[join->twos[i + AHEAD].first]);
            ask_for(&ends[join->twos[i + AHEAD].next]);
        }
        if (one->key != other->key || one->receive == other->receive ||
            (one->twice | other->twice) != 0)
            return false;
        take_two(join, one, other);
    }
    return true;
}

/* What has no other end waits. */
static void keep_single(struct join *join, const struct join_half *ends, uint64_t window)
{
    for (size_t at = 0, places = join_places(join->end_shift); at < places; at++)
        if (join->index[at] != 0 && (join->index[at] & BOTH) == 0)
            keep_waiting(join, &ends[position_of(join->index[at])], window);
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
    begin_matches(join);
    for (size_t i = 0; i < count; i++)
        sorted[i] = (struct key_place){ends[i].key, (uint32_t)i};
    sorted = key_order(sorted, join->spare, count);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && sorted[end].key == sorted[i].key;)
            end++;
        match_key(join, ends, &sorted[i], end - i, window);
    }
}

void join_match(struct join *join, const struct join_half *ends, size_t count, uint64_t window)
{
    if (!list_twos(join, ends, count) || !match_twos(join, ends))
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

/* Put the begin of each send on the clock of its receiver, and tell it to the call. */
void join_settle(struct join *join)
{
    pair_clocks_settle(&join->clocks);
    add_waiting_to_calls(join);
    for (size_t i = 0; i < join->match_count; i++) {
        struct match *match = &join->matches[i];
        if (match->pair != PAIR_NONE) {
            const struct pair_clock *pair = &join->clocks.pairs[match->pair];
            int64_t sent = (int64_t)match->sent_ns + pair_clock_offset(pair, match->down);
            match->sent_ns = sent < 0 ? 0 : (uint64_t)sent;
        }
        if (match->call >= UNKNOWN)
            continue;
        struct call *call = &join->calls[match->call];
        call->latest_ns = larger(call->latest_ns, match->sent_ns);
        call->matched++;
    }
    tell_waiting_of_calls(join);
}

static struct joined joined_of(const struct join *join, const struct match *match)
{
    const struct call *call = match->call >= UNKNOWN ? NULL : &join->calls[match->call];
    bool all_known =
        call == NULL ? match->call == ALONE : call->known + call->matched >= call->together;
    uint64_t latest = call == NULL ? match->local_ns : call->latest_ns;
    uint64_t s = match->sent_ns, w = match->begin_ns, r = match->end_ns;
    uint64_t rest = less(r, larger(larger(s, w), latest));
    struct joined out = {
        .source = match->source,
        .destination = match->destination,
        .bytes = match->bytes,
        .transfer_ns = less(r, s),
        .late_sender_ns = less(s, w),
        .late_receiver_ns = less(w, s),
        .network_ns = all_known ? rest : 0,
        .joint_ns = all_known ? 0 : rest,
        .error_ns =
            match->pair != PAIR_NONE ? join->clocks.pairs[match->pair].remain_ns : match->error_ns,
        .window = match->window,
    };
    out.uncertain = out.transfer_ns < out.error_ns;
    if (out.late_sender_ns < out.error_ns)
        out.late_sender_ns = 0;
    return out;
}

void join_emit(struct join *join, void (*emit)(void *user, const struct joined *message),
               void *user)
{
    for (size_t i = 0; i < join->match_count; i++) {
        struct joined out = joined_of(join, &join->matches[i]);
        join->counts.matched++;
        join->counts.uncertain += (uint64_t)out.uncertain;
        emit(user, &out);
    }
}

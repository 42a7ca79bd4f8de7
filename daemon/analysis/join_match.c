/* Which ends belong together, and what comes out of them. */
#include "daemon/analysis/array.h"
#include "daemon/analysis/join_state.h"

#include <stdbool.h>
#include <string.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define MOST_PROBES 64u          /* of an index */
#define AT_ONCE 32u              /* messages */
#define BOTH (UINT32_C(1) << 31) /* in the index: of this key both ends are there */

/* ---- waiting ------------------------------------------------------------- */

static void give_up(struct join *join, const struct join_ends *ends, size_t at)
{
    const struct join_row *end = &ends->rows[at];
    uint32_t other = end_is_receive(end) ? end->source : end->at;
    if ((end->teller & END_TWICE) == 0 &&
        !key_limits_left_out(&join->limits, other, end_teller(ends, end)->window, ends->keys[at]))
        join->counts.unmatched++;
}

static uint32_t call_number(struct join *join, const struct join_ends *ends, uint32_t told);

/* An end whose other end is not there stays, or has waited long enough. Receives that wait on belong
 * to calls as well, and learn what is known of these: see tell_waiting_of_calls(). */
static void keep_waiting(struct join *join, struct join_ends *ends, size_t at, uint64_t window)
{
    struct join_ends *staying = &join->staying;
    const struct join_row *end = &ends->rows[at];
    if (end_teller(ends, end)->window + join->params.windows <= window ||
        join_ends_append_one(staying, ends, at, join->stayed) != 0) {
        give_up(join, ends, at);
        return;
    }
    join->stayed = at;
    if (end_is_receive(end))
        staying->calls[staying->call_count - 1].number = call_number(join, ends, end->at);
}

/* An end that came twice. */
static void keep_twice(struct join *join, struct join_ends *ends, size_t at, uint64_t window)
{
    struct join_ends *staying = &join->staying;
    if (join->params.windows == 0 || join_ends_append_one(staying, ends, at, SIZE_MAX) != 0)
        return;
    staying->rows[staying->count - 1].teller |= END_TWICE;
    staying->tellers[staying->teller_count - 1].window = window;
    if (end_is_receive(&ends->rows[at])) { /* belongs to no call from now on */
        staying->calls[staying->call_count - 1].together = 1;
        staying->calls[staying->call_count - 1].number = CALL_ALONE;
    }
    join->stayed = SIZE_MAX;
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

static inline uint64_t call_hash(const struct join_call *told)
{
    uint64_t x = told->begin_ns * UINT64_C(0x9e3779b97f4a7c15) + told->destination;
    return (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
}

/* The call that a node told of, which is noted when it is new.
 * @return CALL_UNKNOWN: too many calls have the same place in the index; what it completed is then not
 *         known to be whole */
static uint32_t find_call(struct join *join, const struct join_ends *ends, uint32_t told)
{
    const struct join_call *one = &ends->calls[told];
    uint32_t at = (uint32_t)(call_hash(one) >> join->call_shift);
    uint32_t mask = (uint32_t)(UINT64_MAX >> join->call_shift);
    for (uint32_t probes = 0; probes < MOST_PROBES; probes++, at = (at + 1) & mask) {
        if (join->call_index[at] == 0) {
            join->call_index[at] = (uint32_t)++join->call_count;
            join->calls[join->call_count - 1] = (struct call){.first = told};
            return (uint32_t)join->call_count - 1;
        }
        const uint32_t number = join->call_index[at] - 1;
        const struct join_call *other = &ends->calls[join->calls[number].first];
        if (other->begin_ns == one->begin_ns && other->destination == one->destination)
            return number;
    }
    return CALL_UNKNOWN;
}

/* Add what a node told of a call. @return number of the call, or CALL_UNKNOWN */
static uint32_t add_to_call(struct join *join, const struct join_ends *ends, uint32_t told)
{
    const struct join_call *one = &ends->calls[told];
    const uint32_t number = find_call(join, ends, told);
    if (number == CALL_UNKNOWN)
        return CALL_UNKNOWN;
    struct call *call = &join->calls[number];
    if (one->local_ns > call->latest_ns)
        call->latest_ns = one->local_ns;
    if (one->known > call->known)
        call->known = one->known;
    if (one->together > call->together)
        call->together = one->together;
    return number;
}

/* Number of the call of a receive that was joined or waits on: only what these tell of it counts. */
static inline uint32_t call_number(struct join *join, const struct join_ends *ends, uint32_t told)
{
    struct join_call *one = &ends->calls[told];
    if (one->number == CALL_UNSEEN)
        one->number = add_to_call(join, ends, told);
    return one->number;
}

static void tell_waiting_of_calls(struct join *join)
{
    for (size_t i = 0; i < join->staying.call_count; i++) {
        struct join_call *told = &join->staying.calls[i];
        if (told->number < CALL_UNSEEN) {
            const struct call *call = &join->calls[told->number];
            told->local_ns = call->latest_ns;
            told->known = call->known + call->matched;
        }
        told->number = told->together > 1 ? CALL_UNSEEN : CALL_ALONE;
    }
}

/* ---- matching ------------------------------------------------------------ */

static void begin_matches(struct join *join)
{
    join->match_count = join->refused = join->call_count = 0;
    memset(join->call_index, 0, join_places(join->call_shift) * sizeof(*join->call_index));
    memset(join->met, 0, sizeof(join->met));
    pair_clocks_forget(&join->clocks);
}

static uint64_t error_of(const struct join_teller *a, const struct join_teller *b)
{
    uint64_t sum = a->error_ns + b->error_ns;
    return sum < a->error_ns || sum > JOIN_MOST_NS ? UINT64_MAX : sum;
}

static void meet(const struct join_ends *ends, struct met *met, uint32_t from, uint32_t to)
{
    const struct join_teller *a = &ends->tellers[from], *b = &ends->tellers[to];
    *met = (struct met){
        .from = from,
        .to = to,
        .from_ns = a->from_ns,
        .error_ns = error_of(a, b),
        .pair = PAIR_UNSEEN,
        .down = a->node > b->node,
        .same = a->node == b->node,
    };
}

/* What two tellers have with each other. */
static inline struct met *met_of(struct join *join, const struct join_ends *ends, uint32_t from,
                                 uint32_t to)
{
    struct met *met = &join->met[(from * 37 + to) % JOIN_MET];
    if (met->from != from || met->to != to || from == to)
        meet(ends, met, from, to);
    return met;
}

static void find_pair(struct join *join, const struct join_ends *ends, struct met *met)
{
    uint32_t number = KEY_NONE;
    if (met->error_ns != UINT64_MAX)
        number = pair_clocks_meet(&join->clocks, ends->tellers[met->from].node,
                                  ends->tellers[met->to].node, met->error_ns);
    met->pair = number & PAIR_NONE; /* numbers are below it, and KEY_NONE becomes it */
}

/* List two ends as a message, if they can be those of one, and note what it says of clocks, and of the
 * call that completed it. */
static ALWAYS_INLINE void take_two(struct join *join, struct join_ends *ends, uint32_t send_at,
                                   uint32_t receive_at)
{
    const struct join_row *send = &ends->rows[send_at], *receive = &ends->rows[receive_at];
    struct join_call *told = &ends->calls[receive->at];
    struct met *met = met_of(join, ends, send->teller & END_TELLER, receive->teller & END_TELLER);
    uint64_t sent = met->from_ns + send->time, received = told->begin_ns + receive->time;
    bool fits = receive->bytes <= send->bytes;
    if (((send->teller | receive->teller) & END_WIDE) != 0) {
        sent = end_sent(ends, send);
        received = end_received(ends, receive);
        fits = end_bytes(ends, receive) <= end_bytes(ends, send);
    }
    if (send->source != receive->source || send->at != told->destination || !fits || met->same ||
        (met->error_ns != UINT64_MAX && received + met->error_ns < sent)) {
        join->refused++;
        return;
    }
    if (told->number == CALL_UNSEEN)
        told->number = add_to_call(join, ends, receive->at);
    if (met->pair == PAIR_UNSEEN)
        find_pair(join, ends, met);
    if (met->pair != PAIR_NONE)
        pair_clocks_add(&join->clocks, met->pair, met->down, (int64_t)(received - sent), received);
    join->matches[join->match_count++] = (struct match){
        .sent_ns = sent,
        .send = send_at,
        .receive = receive_at,
        .pair = met->pair & PAIR_NONE,
        .down = met->down,
        .call = told->number,
    };
}

/* Match two ends of one key. @return whether one is a send and the other one a receive, told once;
 * else nothing is said */
static ALWAYS_INLINE bool match_two(struct join *join, struct join_ends *ends, uint32_t one,
                                    uint32_t other)
{
    struct join_row *a = &ends->rows[one], *b = &ends->rows[other];
    const uint32_t either = a->teller ^ b->teller, any = a->teller | b->teller;
    if ((either & END_RECEIVE) == 0 || (any & END_TWICE) != 0)
        return false;
    const bool received = (a->teller & END_RECEIVE) != 0;
    a->teller |= END_PAIRED;
    b->teller |= END_PAIRED;
    take_two(join, ends, received ? other : one, received ? one : other);
    return true;
}

struct two {
    uint32_t first, next;
};

/* List the two ends of each key of which the second lies from `at` to below `end`, and ask memory for the
 * first.
 * @return how many, or SIZE_MAX: a key came thrice, or too many have the same place in the index */
static inline size_t list_twos(struct join *join, const struct join_ends *ends, uint32_t from,
                               uint32_t end, struct two *twos)
{
    uint32_t *index = join->index;
    const uint64_t *keys = ends->keys;
    const unsigned shift = join->end_shift;
    const uint32_t mask = (uint32_t)(UINT64_MAX >> shift);
    size_t count = 0;
    for (uint32_t i = from; i < end; i++) {
        const uint64_t key = keys[i];
        /* Keys are hashes, or so they should be. */
        uint32_t at = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> shift), place;
        for (uint32_t probes = 0; (place = index[at]) != 0 && keys[(place & ~BOTH) - 1] != key;
             at = (at + 1) & mask)
            if (++probes == MOST_PROBES)
                return SIZE_MAX;
        if (place == 0) {
            index[at] = i + 1;
            continue;
        }
        if ((place & BOTH) != 0)
            return SIZE_MAX;
        index[at] = place | BOTH;
        __builtin_prefetch(&ends->rows[place - 1]);
        twos[count++] = (struct two){place - 1, i};
    }
    return count;
}

/* Match the two ends of each key, where there are two of them at most.
 * @return whether it was so; else, or when too many have the same place in the index, nothing is said */
static bool match_pairs(struct join *join, struct join_ends *ends)
{
    struct two twos[AT_ONCE];
    const uint32_t count = (uint32_t)ends->count;
    memset(join->index, 0, join_places(join->end_shift) * sizeof(*join->index));
    begin_matches(join);
    for (uint32_t at = 0, end; at < count; at = end) {
        end = count - at < AT_ONCE ? count : at + AT_ONCE;
        const size_t found = list_twos(join, ends, at, end, twos);
        if (found == SIZE_MAX)
            return false;
        for (size_t i = 0; i < found; i++)
            if (!match_two(join, ends, twos[i].first, twos[i].next))
                return false;
    }
    return true;
}

/* What has no other end waits. */
static void keep_single(struct join *join, struct join_ends *ends, uint64_t window)
{
    for (size_t i = 0; i < ends->count; i++)
        if ((ends->rows[i].teller & END_PAIRED) == 0)
            keep_waiting(join, ends, i, window);
}

/* All ends of one key, of which one may have waited. */
static void match_key(struct join *join, struct join_ends *ends, const struct key_place *places,
                      size_t count, uint64_t window)
{
    if (count == 1) {
        keep_waiting(join, ends, places[0].place, window);
    } else if (count != 2 || !match_two(join, ends, places[0].place, places[1].place)) {
        join->refused++;
        keep_twice(join, ends, places[0].place, window);
    }
}

/* In the order of keys: linear, and right, whatever they are. */
static void match_sorted(struct join *join, struct join_ends *ends, uint64_t window)
{
    const size_t count = ends->count;
    struct key_place *sorted = join->places;
    begin_matches(join);
    for (size_t i = 0; i < ends->call_count; i++)
        ends->calls[i].number = ends->calls[i].together > 1 ? CALL_UNSEEN : CALL_ALONE;
    for (size_t i = 0; i < count; i++)
        sorted[i] = (struct key_place){ends->keys[i], (uint32_t)i};
    sorted = key_order(sorted, join->spare, count);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && sorted[end].key == sorted[i].key;)
            end++;
        match_key(join, ends, &sorted[i], end - i, window);
    }
}

void join_match(struct join *join, struct join_ends *ends, uint64_t window)
{
    join->stayed = SIZE_MAX;
    if (!match_pairs(join, ends))
        match_sorted(join, ends, window);
    else if (2 * (join->match_count + join->refused) < ends->count)
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
    for (size_t i = 0; i < join->match_count; i++) {
        struct match *match = &join->matches[i];
        if (match->pair != PAIR_NONE) {
            const struct pair_clock *pair = &join->clocks.pairs[match->pair];
            int64_t sent = (int64_t)match->sent_ns + pair_clock_offset(pair, match->down);
            match->sent_ns = sent < 0 ? 0 : (uint64_t)sent;
        }
        if (match->call >= CALL_UNKNOWN)
            continue;
        struct call *call = &join->calls[match->call];
        call->latest_ns = larger(call->latest_ns, match->sent_ns);
        call->matched++;
    }
    tell_waiting_of_calls(join);
}

static ALWAYS_INLINE void tell_match(const struct join *join, const struct join_ends *ends,
                                     const struct match *match, struct joined *out)
{
    const struct call *call = match->call >= CALL_UNKNOWN ? NULL : &join->calls[match->call];
    const struct join_row *receive = &ends->rows[match->receive];
    const struct join_call *told = &ends->calls[receive->at];
    const struct join_teller *teller = end_teller(ends, receive);
    bool all_known =
        call == NULL ? match->call == CALL_ALONE : call->known + call->matched >= call->together;
    uint64_t latest = call == NULL ? told->local_ns : call->latest_ns;
    uint64_t s = match->sent_ns, w = told->begin_ns, r = end_received(ends, receive);
    uint64_t rest = less(r, larger(larger(s, w), latest)), transfer = less(r, s),
             late_sender = less(s, w);
    uint64_t error = match->pair != PAIR_NONE
                         ? join->clocks.pairs[match->pair].remain_ns
                         : error_of(end_teller(ends, &ends->rows[match->send]), teller);
    *out = (struct joined){
        .source = receive->source,
        .destination = told->destination,
        .bytes = end_bytes(ends, receive),
        .transfer_ns = transfer,
        .late_sender_ns = late_sender < error ? 0 : late_sender,
        .late_receiver_ns = less(w, s),
        .network_ns = all_known ? rest : 0,
        .joint_ns = all_known ? 0 : rest,
        .error_ns = error,
        .window = teller->window,
        .uncertain = transfer < error,
    };
}

void join_emit(struct join *join, const struct join_ends *ends, join_emit_fn *emit, void *user)
{
    struct joined some[AT_ONCE];
    join->counts.matched += join->match_count;
    for (size_t i = 0, count; i < join->match_count; i += count) {
        uint64_t uncertain = 0;
        for (count = 0; count < AT_ONCE && i + count < join->match_count; count++) {
            tell_match(join, ends, &join->matches[i + count], &some[count]);
            uncertain += (uint64_t)some[count].uncertain;
        }
        join->counts.uncertain += uncertain;
        emit(user, some, count);
    }
}

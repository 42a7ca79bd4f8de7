/* Which ends belong together. */
#include "daemon/analysis/matching/join_state.h"
#include "daemon/analysis/tables/array.h"

#include <stdbool.h>
#include <string.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define MOST_PROBES 64u /* of an index */

/* ---- indexes ------------------------------------------------------------- */

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
 * @return CALL_UNKNOWN: too many calls have the same place in the index; what it completed is then
 * not known to be whole */
static uint32_t join_match_find_call(struct join *join, const struct join_ends *ends, uint32_t told)
{
    const struct join_call *one = &ends->calls[told];
    uint32_t at = (uint32_t)(call_hash(one) >> join->call_shift);
    uint32_t mask = (uint32_t)(UINT64_MAX >> join->call_shift);
    if (join->call_count == 0)
        memset(join->call_index, 0, join_places(join->call_shift) * sizeof(*join->call_index));
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
    const uint32_t number = join_match_find_call(join, ends, told);
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

/* Does anything of a call count: that a message was joined, or that a receive waits? */
static bool call_counts(const struct match *matches, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (matches[i].met != MATCH_REFUSED)
            return true;
    return false;
}

/* Once receives are matched: look for calls of which more was or will be told elsewhere. Those that
 * have receives without a match are marked. */
static void note_calls(struct join *join, struct join_ends *ends)
{
    const struct match *matches = join->matches;
    for (size_t i = 0; i < ends->call_count; matches += ends->calls[i++].count) {
        struct join_call *told = &ends->calls[i];
        if (told->number == CALL_WHOLE && told->count >= told->together)
            continue;
        told->number = told->together > 1 && call_counts(matches, told->count)
                           ? add_to_call(join, ends, (uint32_t)i)
                           : CALL_WHOLE;
    }
}

/* ---- matching ------------------------------------------------------------ */

static void begin_matches(struct join *join)
{
    join->matched = join->refused = join->call_count = 0;
    join->mets[0] = (struct met){.from = UINT32_MAX, .to = UINT32_MAX};
    join->met_count = 1;
    for (size_t i = 0; i < JOIN_MET; i++)
        join->met_of[i] = &join->mets[0];
}

static uint64_t join_match_error_of(const struct join_teller *a, const struct join_teller *b)
{
    uint64_t sum = a->error_ns + b->error_ns;
    return sum < a->error_ns || sum > JOIN_MOST_NS ? UINT64_MAX : sum;
}

/* There are no more of them than matches, so there is room. */
static struct met *join_match_find_pair_state(struct join *join, const struct join_ends *ends,
                                              uint32_t from, uint32_t to)
{
    const struct join_teller *a = &ends->tellers[from], *b = &ends->tellers[to];
    const uint64_t error = join_match_error_of(a, b);
    struct met *met = &join->mets[join->met_count];
    *met = (struct met){
        .from = from,
        .to = to,
        .number = (uint32_t)join->met_count++,
        .down = a->node > b->node,
        .allowed_ns = a->node == b->node    ? INT64_MAX
                      : error == UINT64_MAX ? INT64_MIN
                                            : -(int64_t)error,
        .least_ns = INT64_MAX,
        .error_ns = error,
    };
    join->met_of[from % JOIN_MET] = met;
    return met;
}

/* What two tellers have with each other. */
static inline struct met *met_of(struct join *join, const struct join_ends *ends, uint32_t from,
                                 uint32_t to)
{
    struct met *met = join->met_of[from % JOIN_MET];
    return met->from == from && met->to == to ? met
                                              : join_match_find_pair_state(join, ends, from, to);
}

static bool wide_fits(const struct join_ends *ends, const struct join_send *send,
                      const struct join_receive *receive)
{
    return receive_bytes(ends, receive) <= send_bytes(ends, send);
}

/* A receive has no match. */
static inline void join_match_miss(struct join_call *call, struct match *match, uint32_t why)
{
    match->met = why;
    call->number = CALL_UNKNOWN;
}

/* Note two ends as a message, if they can be those of one, and what it says of clocks.
 * @param match  of the receive, set */
static ALWAYS_INLINE void take_two(struct join *join, const struct join_ends *ends,
                                   struct join_send *send, const struct join_receive *receive,
                                   struct match *match)
{
    struct join_call *call = receive_call(ends, receive);
    const uint32_t flags = send->teller | receive->call;
    struct met *met = met_of(join, ends, send->teller & END_PLACE, call->teller);
    uint64_t received = call->begin_ns + receive->time;
    bool fits = receive->bytes <= send->bytes;
    if ((flags & END_WIDE) != 0) {
        received = receive_end(ends, call, receive);
        fits = wide_fits(ends, send, receive);
    }
    const int64_t apart = (int64_t)(received - send->begin_ns);
    send->teller |= END_PAIRED;
    if (send->source != receive->source || send->destination != call->destination || !fits ||
        apart < met->allowed_ns) {
        join->refused++;
        join_match_miss(call, match, MATCH_REFUSED);
        return;
    }
    met->least_ns = apart < met->least_ns ? apart : met->least_ns;
    met->at_ns = received > met->at_ns ? received : met->at_ns;
    *match = (struct match){send->begin_ns, met->number};
}

/* ---- matching by an index ------------------------------------------------ */

/* Keys are hashes, or so they should be. */
static inline uint32_t end_hash(uint64_t key, unsigned shift)
{
    return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> shift);
}

/* Index the sends. @return as match_indexed() */
static bool index_sends(struct join *join, const struct join_ends *ends)
{
    const struct join_send *const sends = ends->sends;
    const uint32_t count = (uint32_t)ends->send_count;
    uint32_t *const index = join->index;
    const unsigned shift = join->end_shift;
    const uint32_t mask = (uint32_t)(UINT64_MAX >> shift);
    memset(index, 0, join_places(shift) * sizeof(*index));
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t key = sends[i].key;
        uint32_t at = end_hash(key, shift), place;
        for (uint32_t probes = 0; (place = index[at]) != 0; at = (at + 1) & mask)
            if (sends[place - 1].key == key || ++probes == MOST_PROBES)
                return false;
        index[at] = i + 1;
    }
    return true;
}

/* The same of receives whose sends are not there. */
static bool index_unmatched(struct join *join, const struct join_ends *ends)
{
    const unsigned shift = join->end_shift;
    const uint32_t mask = (uint32_t)(UINT64_MAX >> shift);
    memset(join->index, 0, join_places(shift) * sizeof(*join->index));
    for (uint32_t i = 0; i < ends->receive_count; i++) {
        if (join->matches[i].met != MATCH_NONE)
            continue;
        const uint64_t key = ends->receives[i].key;
        uint32_t at = end_hash(key, shift), place;
        for (uint32_t probes = 0; (place = join->index[at]) != 0; at = (at + 1) & mask)
            if (ends->receives[place - 1].key == key || ++probes == MOST_PROBES)
                return false;
        join->index[at] = i + 1;
    }
    return true;
}

/* Match all ends, where each key comes once at most of either kind.
 * @return whether it was so; else, or when too many have the same place in the index, nothing is
 * said */
static bool match_indexed(struct join *join, const struct join_ends *ends)
{
    const unsigned shift = join->end_shift;
    const uint32_t mask = (uint32_t)(UINT64_MAX >> shift);
    const uint32_t *const index = join->index;
    const struct join_receive *receive = ends->receives, *const end = receive + ends->receive_count;
    size_t missed = 0;
    begin_matches(join);
    if (!index_sends(join, ends))
        return false;
    for (struct match *match = join->matches; receive < end; receive++, match++) {
        const uint64_t key = receive->key;
        uint32_t at = end_hash(key, shift), place, probes = 0;
        while ((place = index[at]) != 0 && ends->sends[place - 1].key != key &&
               ++probes < MOST_PROBES)
            at = (at + 1) & mask;
        if (place == 0 || probes == MOST_PROBES) {
            join_match_miss(receive_call(ends, receive), match, MATCH_NONE);
            missed++;
            continue;
        }
        struct join_send *send = &ends->sends[place - 1];
        if (((send->teller | receive->call) & (END_TWICE | END_PAIRED)) != 0)
            return false;
        take_two(join, ends, send, receive, match);
    }
    join->matched = ends->receive_count - missed - join->refused;
    return missed == 0 || index_unmatched(join, ends);
}

/* ---- matching in the order of keys --------------------------------------- */

/* Key of a send or, behind all of them, of a receive. */
static inline uint64_t key_at(const struct join_ends *ends, size_t at)
{
    return at < ends->send_count ? ends->sends[at].key : ends->receives[at - ends->send_count].key;
}

static void join_match_restart(struct join *join, struct join_ends *ends)
{
    begin_matches(join);
    for (size_t i = 0; i < ends->send_count; i++)
        ends->sends[i].teller &= ~END_PAIRED;
    for (size_t i = 0; i < ends->receive_count; i++)
        join->matches[i].met = MATCH_NONE;
    for (size_t i = 0; i < ends->call_count; i++)
        ends->calls[i].number = CALL_WHOLE;
}

/* An end that came twice. */
static void keep_twice(struct join *join, const struct join_ends *ends, size_t at, uint64_t window)
{
    struct join_ends *staying = &join->staying;
    const bool is_send = at < ends->send_count;
    if (join->params.windows == 0)
        return;
    if (is_send ? join_ends_append_send(staying, ends, at, SIZE_MAX) != 0
                : join_ends_append_receive(staying, ends, at - ends->send_count, SIZE_MAX) != 0)
        return;
    staying->tellers[staying->teller_count - 1].window = window;
    if (is_send) {
        staying->sends[staying->send_count - 1].teller |= END_TWICE;
    } else { /* belongs to no call from now on */
        staying->receives[staying->receive_count - 1].call |= END_TWICE;
        staying->calls[staying->call_count - 1].together = 1;
    }
}

/* All ends of one key, of which one may have waited. Equal ones are in order: sends come first. */
static void match_key(struct join *join, struct join_ends *ends, const struct key_place *places,
                      size_t count, uint64_t window)
{
    const size_t sends = ends->send_count, first = places[0].place;
    const size_t second = count == 1 ? first : places[1].place;
    if (count == 1)
        return;
    if (count == 2 && first < sends && second >= sends &&
        ((ends->sends[first].teller | ends->receives[second - sends].call) & END_TWICE) == 0) {
        take_two(join, ends, &ends->sends[first], &ends->receives[second - sends],
                 &join->matches[second - sends]);
        return;
    }
    join->refused++;
    keep_twice(join, ends, first, window);
    for (size_t i = 0; i < count; i++) {
        if (places[i].place < sends)
            ends->sends[places[i].place].teller |= END_PAIRED;
        else
            join->matches[places[i].place - sends].met = MATCH_REFUSED;
    }
}

/* In the order of keys: linear, and right, whatever they are. */
static void match_sorted(struct join *join, struct join_ends *ends, uint64_t window)
{
    const size_t count = join_ends_count(ends);
    struct key_place *sorted = join->places;
    join_match_restart(join, ends);
    for (size_t i = 0; i < count; i++)
        sorted[i] = (struct key_place){key_at(ends, i), (uint32_t)i};
    sorted = key_order(sorted, join->spare, count);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && sorted[end].key == sorted[i].key;)
            end++;
        match_key(join, ends, &sorted[i], end - i, window);
    }
    for (size_t i = 0; i < ends->receive_count; i++) {
        struct match *match = &join->matches[i];
        join->matched += match->met < MATCH_REFUSED;
        if (match->met >= MATCH_REFUSED)
            join_match_miss(receive_call(ends, &ends->receives[i]), match, match->met);
    }
}

/* ---- waiting ------------------------------------------------------------- */

/* @param other  rank that was to tell the other end */
static void join_match_abandon(struct join *join, bool twice, uint64_t key, uint32_t other,
                               uint64_t window)
{
    if (!twice && !key_limits_left_out(&join->limits, other, window, key))
        join->counts.unmatched++;
}

/* There is no memory to keep it: its other end may come yet, and is none whose message was lost. */
static void join_match_leave_out(struct join *join, uint64_t key)
{
    const uint64_t top = key == 0 ? 0 : key - 1;
    join->staying_top = top < join->staying_top ? top : join->staying_top;
}

/* Sends whose other ends are not there stay, or have waited long enough. */
static void keep_sends(struct join *join, const struct join_ends *ends, uint64_t window)
{
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < ends->send_count; i++) {
        const struct join_send *send = &ends->sends[i];
        if ((send->teller & END_PAIRED) != 0)
            continue;
        const uint64_t told = send_teller(ends, send)->window;
        if (told + join->params.windows <= window)
            join_match_abandon(join, (send->teller & END_TWICE) != 0, send->key, send->destination,
                               told);
        else if (join_ends_append_send(&join->staying, ends, i, last) != 0)
            join_match_leave_out(join, send->key);
        else
            last = i;
    }
}

/* The same of receives. */
static void keep_receives(struct join *join, const struct join_ends *ends, uint64_t window)
{
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < ends->receive_count; i++) {
        const struct join_receive *receive = &ends->receives[i];
        if (join->matches[i].met != MATCH_NONE)
            continue;
        const uint64_t told = receive_teller(ends, receive)->window;
        if (told + join->params.windows <= window)
            join_match_abandon(join, (receive->call & END_TWICE) != 0, receive->key,
                               receive->source, told);
        else if (join_ends_append_receive(&join->staying, ends, i, last) != 0)
            join_match_leave_out(join, receive->key);
        else
            last = i;
    }
}

void join_match(struct join *join, struct join_ends *ends, uint64_t window)
{
    join->staying_top = UINT64_MAX;
    if (!match_indexed(join, ends))
        match_sorted(join, ends, window);
    note_calls(join, ends);
    if (join->matched < ends->send_count)
        keep_sends(join, ends, window);
    if (join->matched < ends->receive_count)
        keep_receives(join, ends, window);
    join->counts.rejected += join->refused;
}

/* ---- settling ------------------------------------------------------------ */

static uint64_t join_match_maximum(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void settle_clocks(struct join *join, const struct join_ends *ends)
{
    for (size_t i = 1; i < join->met_count; i++) {
        struct met *met = &join->mets[i];
        met->pair = KEY_NONE;
        if (met->least_ns != INT64_MAX && met->error_ns != UINT64_MAX)
            met->pair = pair_clocks_note(&join->clocks, ends->tellers[met->from].node,
                                         ends->tellers[met->to].node, met->least_ns, met->error_ns,
                                         met->at_ns);
    }
    pair_clocks_settle(&join->clocks);
    for (size_t i = 1; i < join->met_count; i++) {
        struct met *met = &join->mets[i];
        if (met->pair == KEY_NONE)
            continue;
        const struct pair_clock *pair = &join->clocks.pairs[met->pair];
        met->offset_ns = pair_clock_offset(pair, (int)met->down);
        met->error_ns = pair->remain_ns;
    }
}

/* Put sends on the clock of their receivers, and note of each call when the latest began. */
static void settle_sends(struct join *join, const struct join_ends *ends)
{
    const struct join_receive *receive = ends->receives;
    struct match *match = join->matches, *const end = match + ends->receive_count;
    for (; match < end; match++, receive++) {
        struct join_call *call = receive_call(ends, receive);
        if (match->met >= MATCH_REFUSED)
            continue;
        const int64_t sent = (int64_t)match->sent_ns + join->mets[match->met].offset_ns;
        match->sent_ns = sent < 0 ? 0 : (uint64_t)sent;
        call->local_ns = join_match_maximum(call->local_ns, match->sent_ns);
    }
}

/* Bring together what was told of calls in several places. */
static void settle_calls(struct join *join, const struct join_ends *ends)
{
    const struct match *match = join->matches;
    for (size_t i = 0; i < ends->call_count; match += ends->calls[i++].count) {
        const struct join_call *told = &ends->calls[i];
        if (told->number >= CALL_UNKNOWN)
            continue;
        struct call *call = &join->calls[told->number];
        call->latest_ns = join_match_maximum(call->latest_ns, told->local_ns);
        for (uint32_t m = 0; m < told->count; m++)
            call->matched += match[m].met < MATCH_REFUSED;
    }
    for (size_t i = 0; i < ends->call_count; i++) {
        struct join_call *told = &ends->calls[i];
        if (told->number >= CALL_UNKNOWN)
            continue;
        const struct call *call = &join->calls[told->number];
        told->local_ns = call->latest_ns;
        told->number = call->known + call->matched >= call->together ? CALL_WHOLE : CALL_UNKNOWN;
    }
}

static void join_match_report_waiting_of_calls(struct join *join)
{
    for (size_t i = 0; i < join->staying.call_count; i++) {
        struct join_call *told = &join->staying.calls[i];
        if (told->number < CALL_UNKNOWN) {
            const struct call *call = &join->calls[told->number];
            told->local_ns = call->latest_ns;
            told->known = call->known + call->matched;
        }
        told->number = CALL_WHOLE;
    }
}

void join_settle(struct join *join, const struct join_ends *ends)
{
    settle_clocks(join, ends);
    settle_sends(join, ends);
    if (join->call_count > 0)
        settle_calls(join, ends);
    join_match_report_waiting_of_calls(join);
}

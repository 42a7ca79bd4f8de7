/* Which ends belong together, and what comes out of them. */
#include "daemon/analysis/array.h"
#include "daemon/analysis/join_state.h"

#include <stdbool.h>
#include <string.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define MOST_PROBES 64u          /* of an index */
#define AT_ONCE 32u              /* messages */
#define BOTH (UINT32_C(1) << 31) /* in the index: of this key both ends are there */

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

/* Receives of one call that stand together. */
struct run {
    uint32_t call, first, end;
};

static inline struct run run_at(const struct join_ends *ends, uint32_t first)
{
    struct run run = {ends->receives[first].call & END_PLACE, first, first + 1};
    while (run.end < ends->receive_count && (ends->receives[run.end].call & END_PLACE) == run.call)
        run.end++;
    return run;
}

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

/* Once its receives are matched: a call of which more was or will be told elsewhere is looked for there.
 * Only what receives tell of it that are joined, or wait, counts.
 * @param matched  of its receives here */
static inline void note_call(struct join *join, struct join_ends *ends, const struct run *run,
                             size_t matched)
{
    struct join_call *told = &ends->calls[run->call];
    const bool whole = matched == run->end - run->first && matched >= told->together;
    bool counts = matched > 0;
    if (whole || told->together <= 1)
        return;
    for (uint32_t i = run->first; !counts && i < run->end; i++)
        counts = join->matches[i].met == MATCH_NONE;
    if (counts)
        told->number = add_to_call(join, ends, run->call);
}

/* ---- matching ------------------------------------------------------------ */

static void begin_matches(struct join *join)
{
    join->matched = join->refused = join->call_count = 0;
    join->mets[0] = (struct met){.from = UINT32_MAX, .to = UINT32_MAX};
    join->met_count = 1;
    memset(join->met_at, 0, sizeof(join->met_at));
    pair_clocks_forget(&join->clocks);
}

static uint64_t error_of(const struct join_teller *a, const struct join_teller *b)
{
    uint64_t sum = a->error_ns + b->error_ns;
    return sum < a->error_ns || sum > JOIN_MOST_NS ? UINT64_MAX : sum;
}

static struct met *meet(struct join *join, const struct join_ends *ends, uint32_t from, uint32_t to)
{
    const struct join_teller *a = &ends->tellers[from], *b = &ends->tellers[to];
    join->mets[join->met_count] = (struct met){
        .from = from,
        .to = to,
        .error_ns = error_of(a, b),
        .pair = PAIR_UNSEEN,
        .down = a->node > b->node,
        .same = a->node == b->node,
    };
    join->met_at[from % JOIN_MET] = (uint32_t)join->met_count;
    return &join->mets[join->met_count++];
}

/* What two tellers have with each other. There are no more than matches, so there is room. */
static inline struct met *met_of(struct join *join, const struct join_ends *ends, uint32_t from,
                                 uint32_t to)
{
    struct met *met = &join->mets[join->met_at[from % JOIN_MET]];
    return met->from == from && met->to == to ? met : meet(join, ends, from, to);
}

static void find_pair(struct join *join, const struct join_ends *ends, struct met *met)
{
    met->pair = KEY_NONE;
    if (met->error_ns != UINT64_MAX)
        met->pair = pair_clocks_meet(&join->clocks, ends->tellers[met->from].node,
                                     ends->tellers[met->to].node, met->error_ns);
}

/* Note two ends as a message, if they can be those of one, and what it says of clocks. */
static ALWAYS_INLINE void take_two(struct join *join, struct join_ends *ends, uint32_t send_at,
                                   uint32_t receive_at)
{
    struct join_send *send = &ends->sends[send_at];
    const struct join_receive *receive = &ends->receives[receive_at];
    const struct join_call *call = receive_call(ends, receive);
    struct met *met = met_of(join, ends, send->teller & END_PLACE, call->teller);
    uint64_t sent = send->begin_ns, received = call->begin_ns + receive->time;
    bool fits = receive->bytes <= send->bytes;
    if (((send->teller | receive->call) & END_WIDE) != 0) {
        received = receive_end(ends, call, receive);
        fits = receive_bytes(ends, receive) <= send_bytes(ends, send);
    }
    send->teller |= END_PAIRED;
    if (send->source != receive->source || send->destination != call->destination || !fits ||
        met->same || (met->error_ns != UINT64_MAX && received + met->error_ns < sent)) {
        join->refused++;
        join->matches[receive_at].met = MATCH_REFUSED;
        return;
    }
    if (met->pair == PAIR_UNSEEN)
        find_pair(join, ends, met);
    if (met->pair != KEY_NONE)
        pair_clocks_add(&join->clocks, met->pair, met->down, (int64_t)(received - sent), received);
    join->matches[receive_at] = (struct match){sent, (uint32_t)(met - join->mets)};
    join->matched++;
}

static inline bool came_twice(const struct join_send *send, const struct join_receive *receive)
{
    return ((send->teller | receive->call) & END_TWICE) != 0;
}

/* Key of a send or, behind all of them, of a receive. */
static inline uint64_t key_at(const struct join_ends *ends, size_t at)
{
    return at < ends->send_count ? ends->sends[at].key : ends->receives[at - ends->send_count].key;
}

/* The index's place for a key: with an end of that key, or free. @return NULL: too many have the same */
static inline uint32_t *place_of(const struct join *join, const struct join_ends *ends,
                                 uint64_t key)
{
    uint32_t *index = join->index, place;
    const uint32_t mask = (uint32_t)(UINT64_MAX >> join->end_shift);
    /* Keys are hashes, or so they should be. */
    uint32_t at = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> join->end_shift);
    for (uint32_t probes = 0; (place = index[at]) != 0 && key_at(ends, (place & ~BOTH) - 1) != key;
         at = (at + 1) & mask)
        if (++probes == MOST_PROBES)
            return NULL;
    return &index[at];
}

static bool index_sends(struct join *join, const struct join_ends *ends)
{
    memset(join->index, 0, join_places(join->end_shift) * sizeof(*join->index));
    for (size_t i = 0; i < ends->send_count; i++) {
        uint32_t *place = place_of(join, ends, ends->sends[i].key);
        if (place == NULL || *place != 0)
            return false;
        *place = (uint32_t)i + 1;
    }
    return true;
}

/* Match a receive with its send, or list it in the index where that is not there. @return as
 * match_indexed() */
static ALWAYS_INLINE bool match_receive(struct join *join, struct join_ends *ends, uint32_t receive)
{
    uint32_t *place = place_of(join, ends, ends->receives[receive].key);
    if (place == NULL)
        return false;
    const size_t send = (size_t)*place - 1;
    if (*place == 0) {
        *place = (uint32_t)ends->send_count + receive + 1;
        join->matches[receive].met = MATCH_NONE;
        return true;
    }
    /* Of a receive, or of a send that was received before, as well. */
    if (send >= ends->send_count || came_twice(&ends->sends[send], &ends->receives[receive]))
        return false;
    *place |= BOTH;
    take_two(join, ends, (uint32_t)send, receive);
    return true;
}

/* Match all ends, where each key comes once at most of either kind.
 * @return whether it was so; else, or when too many have the same place in the index, nothing is said */
static bool match_indexed(struct join *join, struct join_ends *ends)
{
    begin_matches(join);
    if (!index_sends(join, ends))
        return false;
    struct run run;
    for (uint32_t i = 0; i < ends->receive_count; i = run.end) {
        const size_t before = join->matched;
        run = run_at(ends, i);
        for (uint32_t receive = i; receive < run.end; receive++)
            if (!match_receive(join, ends, receive))
                return false;
        note_call(join, ends, &run, join->matched - before);
    }
    return true;
}

/* ---- matching in the order of keys --------------------------------------- */

static void restart(struct join *join, struct join_ends *ends)
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
        !came_twice(&ends->sends[first], &ends->receives[second - sends])) {
        take_two(join, ends, (uint32_t)first, (uint32_t)(second - sends));
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
    restart(join, ends);
    for (size_t i = 0; i < count; i++)
        sorted[i] = (struct key_place){key_at(ends, i), (uint32_t)i};
    sorted = key_order(sorted, join->spare, count);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && sorted[end].key == sorted[i].key;)
            end++;
        match_key(join, ends, &sorted[i], end - i, window);
    }
    struct run run;
    for (uint32_t i = 0; i < ends->receive_count; i = run.end) {
        size_t matched = 0;
        run = run_at(ends, i);
        for (uint32_t receive = i; receive < run.end; receive++)
            matched += join->matches[receive].met < MATCH_REFUSED;
        note_call(join, ends, &run, matched);
    }
}

/* ---- waiting ------------------------------------------------------------- */

/* @param other  rank that was to tell the other end */
static void give_up(struct join *join, bool twice, uint64_t key, uint32_t other, uint64_t window)
{
    if (!twice && !key_limits_left_out(&join->limits, other, window, key))
        join->counts.unmatched++;
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
        if (told + join->params.windows <= window ||
            join_ends_append_send(&join->staying, ends, i, last) != 0)
            give_up(join, (send->teller & END_TWICE) != 0, send->key, send->destination, told);
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
        if (told + join->params.windows <= window ||
            join_ends_append_receive(&join->staying, ends, i, last) != 0)
            give_up(join, (receive->call & END_TWICE) != 0, receive->key, receive->source, told);
        else
            last = i;
    }
}

void join_match(struct join *join, struct join_ends *ends, uint64_t window)
{
    if (!match_indexed(join, ends))
        match_sorted(join, ends, window);
    if (join->matched < ends->send_count)
        keep_sends(join, ends, window);
    if (join->matched < ends->receive_count)
        keep_receives(join, ends, window);
    join->counts.rejected += join->refused;
}

/* ---- settling ------------------------------------------------------------ */

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static void settle_clocks(struct join *join)
{
    pair_clocks_settle(&join->clocks);
    for (size_t i = 1; i < join->met_count; i++) {
        struct met *met = &join->mets[i];
        if (met->pair >= PAIR_UNSEEN)
            continue;
        const struct pair_clock *pair = &join->clocks.pairs[met->pair];
        met->offset_ns = pair_clock_offset(pair, met->down);
        met->error_ns = pair->remain_ns;
    }
}

/* Begin of a send on the clock of its receiver. */
static inline uint64_t sent_at(const struct join *join, const struct match *match)
{
    const int64_t sent = (int64_t)match->sent_ns + join->mets[match->met].offset_ns;
    return sent < 0 ? 0 : (uint64_t)sent;
}

/* Tell the sends to the calls that are not whole. */
static void settle_calls(struct join *join, const struct join_ends *ends)
{
    for (size_t i = 0; i < ends->receive_count; i++) {
        const struct match *match = &join->matches[i];
        const uint32_t number = receive_call(ends, &ends->receives[i])->number;
        if (number >= CALL_UNKNOWN || match->met >= MATCH_REFUSED)
            continue;
        struct call *call = &join->calls[number];
        call->latest_ns = larger(call->latest_ns, sent_at(join, match));
        call->matched++;
    }
}

static void tell_waiting_of_calls(struct join *join)
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
    settle_clocks(join);
    if (join->call_count > 0)
        settle_calls(join, ends);
    tell_waiting_of_calls(join);
}

/* ---- what comes out ------------------------------------------------------ */

/* Of a call, for the messages that it completed. */
struct latest {
    uint64_t sent_ns; /* latest send that is known */
    bool all_known;
};

/* Put sends on the clock of their receiver. @return the latest of them */
static inline struct latest settle_run(struct join *join, const struct join_ends *ends,
                                       const struct run *run)
{
    const struct join_call *told = &ends->calls[run->call];
    struct latest latest = {told->local_ns, told->number == CALL_WHOLE};
    uint64_t last = 0;
    for (uint32_t i = run->first; i < run->end; i++) {
        struct match *match = &join->matches[i];
        if (match->met >= MATCH_REFUSED)
            continue;
        match->sent_ns = sent_at(join, match);
        last = larger(last, match->sent_ns);
    }
    if (told->number < CALL_UNKNOWN) {
        const struct call *call = &join->calls[told->number];
        latest.sent_ns = call->latest_ns;
        latest.all_known = call->known + call->matched >= call->together;
    } else if (told->number == CALL_WHOLE && told->together > 1) {
        latest.sent_ns = larger(latest.sent_ns, last);
    }
    return latest;
}

static ALWAYS_INLINE void tell_match(const struct join *join, const struct join_ends *ends,
                                     const struct join_call *told, struct latest latest,
                                     uint32_t at, struct joined *out)
{
    const struct join_receive *receive = &ends->receives[at];
    const struct match *match = &join->matches[at];
    uint64_t error = join->mets[match->met].error_ns;
    uint64_t s = match->sent_ns, w = told->begin_ns, r = receive_end(ends, told, receive);
    uint64_t rest = less(r, larger(larger(s, w), latest.sent_ns)), transfer = less(r, s),
             late_sender = less(s, w);
    *out = (struct joined){
        .source = receive->source,
        .destination = told->destination,
        .bytes = receive_bytes(ends, receive),
        .transfer_ns = transfer,
        .late_sender_ns = late_sender < error ? 0 : late_sender,
        .late_receiver_ns = less(w, s),
        .network_ns = latest.all_known ? rest : 0,
        .joint_ns = latest.all_known ? 0 : rest,
        .error_ns = error,
        .window = ends->tellers[told->teller].window,
        .uncertain = transfer < error,
    };
}

void join_emit(struct join *join, const struct join_ends *ends, join_emit_fn *emit, void *user)
{
    struct joined some[AT_ONCE];
    size_t count = 0;
    struct run run;
    for (uint32_t i = 0; i < ends->receive_count; i = run.end) {
        run = run_at(ends, i);
        const struct latest latest = settle_run(join, ends, &run);
        for (uint32_t at = i; at < run.end; at++) {
            if (join->matches[at].met >= MATCH_REFUSED)
                continue;
            tell_match(join, ends, &ends->calls[run.call], latest, at, &some[count]);
            join->counts.uncertain += (uint64_t)some[count].uncertain;
            if (++count == AT_ONCE) {
                emit(user, some, count);
                count = 0;
            }
        }
    }
    if (count > 0)
        emit(user, some, count);
    join->counts.matched += join->matched;
}

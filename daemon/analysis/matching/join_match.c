/* Matches ends by key, and derives from the pairs the bounds of clocks and the calls that completed
 * several messages. */
#include "daemon/analysis/matching/join_state.h"

#include <stdbool.h>
#include <string.h>

#define MAXIMUM_PROBES 64u /* of an index */

static uint64_t join_match_maximum(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* ---- indexes ------------------------------------------------------------- */

unsigned join_shift_for(size_t count)
{
    unsigned bits =
        count < JOIN_MINIMUM_HALVES ? 5u : 64u - (unsigned)__builtin_clzll(count + count / 2);
    return 64u - bits;
}

size_t join_places(unsigned shift)
{
    return (size_t)(UINT64_MAX >> shift) + 1;
}

/* ---- calls that completed several messages ------------------------------- */

static inline uint64_t join_match_hash_call(const struct join_call *reported)
{
    uint64_t x = reported->begin_ns * UINT64_C(0x9e3779b97f4a7c15) + reported->destination;
    return (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
}

/* Find the call of a report, or enter it.
 * @return CALL_UNKNOWN: too many calls share a place of the index; the call then counts as
 * incomplete */
static uint32_t join_match_find_call(struct join *join, const struct join_ends *ends,
                                     uint32_t reported)
{
    const struct join_call *one = &ends->calls[reported];
    uint32_t at = (uint32_t)(join_match_hash_call(one) >> join->call_shift);
    uint32_t mask = (uint32_t)(UINT64_MAX >> join->call_shift);
    if (join->call_count == 0)
        memset(join->call_index, 0, join_places(join->call_shift) * sizeof(*join->call_index));
    for (uint32_t probes = 0; probes < MAXIMUM_PROBES; probes++, at = (at + 1) & mask) {
        if (join->call_index[at] == 0) {
            join->call_index[at] = (uint32_t)++join->call_count;
            join->calls[join->call_count - 1] = (struct partial_call){.first = reported};
            return (uint32_t)join->call_count - 1;
        }
        const uint32_t number = join->call_index[at] - 1;
        const struct join_call *other = &ends->calls[join->calls[number].first];
        if (other->begin_ns == one->begin_ns && other->destination == one->destination)
            return number;
    }
    return CALL_UNKNOWN;
}

/* Add a node's report of a call. @return number of the call, or CALL_UNKNOWN */
static uint32_t join_match_add_to_call(struct join *join, const struct join_ends *ends,
                                       uint32_t reported)
{
    const struct join_call *one = &ends->calls[reported];
    const uint32_t number = join_match_find_call(join, ends, reported);
    if (number == CALL_UNKNOWN)
        return CALL_UNKNOWN;
    struct partial_call *call = &join->calls[number];
    if (one->local_ns > call->latest_ns)
        call->latest_ns = one->local_ns;
    if (one->known > call->known)
        call->known = one->known;
    if (one->together > call->together)
        call->together = one->together;
    return number;
}

/* Was a message of the call joined, or does one of its receives wait? */
static bool join_match_call_counts(const struct join_match *matches, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (matches[i].reporters != MATCH_REFUSED)
            return true;
    return false;
}

/* Once receives are matched: enter the calls that were, or will be, reported in several parts. */
static void join_match_add_calls(struct join *join, struct join_ends *ends)
{
    const struct join_match *matches = join->matches;
    for (size_t i = 0; i < ends->call_count; matches += ends->calls[i++].count) {
        struct join_call *reported = &ends->calls[i];
        if (reported->number == CALL_WHOLE && reported->count >= reported->together)
            continue;
        reported->number =
            reported->together > 1 && join_match_call_counts(matches, reported->count)
                ? join_match_add_to_call(join, ends, (uint32_t)i)
                : CALL_WHOLE;
    }
}

/* ---- matching ------------------------------------------------------------ */

static void join_match_begin(struct join *join)
{
    join->matched = join->refused = join->call_count = 0;
    join->reporter_pairs[0] = (struct reporter_pair){.from = UINT32_MAX, .to = UINT32_MAX};
    join->pair_count = 1;
    for (size_t i = 0; i < RECENT_PAIRS; i++)
        join->pair_of[i] = &join->reporter_pairs[0];
}

static uint64_t join_match_error_of(const struct join_reporter *a, const struct join_reporter *b)
{
    uint64_t sum = a->error_ns + b->error_ns;
    return sum < a->error_ns || sum > JOIN_MAXIMUM_NS ? UINT64_MAX : sum;
}

/* There are no more of them than matches, so the table cannot be full. */
static struct reporter_pair *join_match_find_pair_state(struct join *join,
                                                        const struct join_ends *ends, uint32_t from,
                                                        uint32_t to)
{
    const struct join_reporter *a = &ends->reporters[from], *b = &ends->reporters[to];
    const uint64_t error = join_match_error_of(a, b);
    struct reporter_pair *pair = &join->reporter_pairs[join->pair_count];
    *pair = (struct reporter_pair){
        .from = from,
        .to = to,
        .number = (uint32_t)join->pair_count++,
        .down = a->node > b->node,
        .allowed_ns = a->node == b->node    ? INT64_MAX
                      : error == UINT64_MAX ? INT64_MIN
                                            : -(int64_t)error,
        .least_ns = INT64_MAX,
        .error_ns = error,
    };
    join->pair_of[from % RECENT_PAIRS] = pair;
    return pair;
}

/* What two tellers have with each other. */
static inline struct reporter_pair *join_match_reporter_pair(struct join *join,
                                                             const struct join_ends *ends,
                                                             uint32_t from, uint32_t to)
{
    struct reporter_pair *pair = join->pair_of[from % RECENT_PAIRS];
    return pair->from == from && pair->to == to ? pair
                                                : join_match_find_pair_state(join, ends, from, to);
}

/* A receive has no match. */
static inline void join_match_miss(struct join_call *call, struct join_match *match, uint32_t why)
{
    match->reporters = why;
    call->number = CALL_UNKNOWN;
}

/* Record two ends as a message, if they can belong to one, and its bounds of the clocks'
 * difference.
 * @param match  of the receive, set */
static void join_match_bind(struct join *join, const struct join_ends *ends, struct join_send *send,
                            const struct join_receive *receive, struct join_match *match)
{
    struct join_call *call = join_receive_call(ends, receive);
    struct reporter_pair *pair =
        join_match_reporter_pair(join, ends, send->reporter & END_PLACE, call->reporter);
    const int64_t apart = (int64_t)(receive->end_ns - send->begin_ns);
    send->reporter |= END_PAIRED;
    if (send->source != receive->source || send->destination != call->destination ||
        receive->bytes > send->bytes || apart < pair->allowed_ns) {
        join->refused++;
        join_match_miss(call, match, MATCH_REFUSED);
        return;
    }
    pair->least_ns = apart < pair->least_ns ? apart : pair->least_ns;
    pair->at_ns = join_match_maximum(pair->at_ns, receive->end_ns);
    *match = (struct join_match){send->begin_ns, pair->number, send->length_us};
}

/* ---- matching in the order of keys --------------------------------------- */

/* Key of a send or, at positions after all sends, of a receive. */
static inline uint64_t join_match_key_at(const struct join_ends *ends, size_t at)
{
    return at < ends->send_count ? ends->sends[at].key : ends->receives[at - ends->send_count].key;
}

static void join_match_restart(struct join *join, struct join_ends *ends)
{
    join_match_begin(join);
    for (size_t i = 0; i < ends->send_count; i++)
        ends->sends[i].reporter &= ~END_PAIRED;
    for (size_t i = 0; i < ends->receive_count; i++)
        join->matches[i].reporters = MATCH_NONE;
    for (size_t i = 0; i < ends->call_count; i++)
        ends->calls[i].number = CALL_WHOLE;
}

/* Keep an end that was reported twice, so that a third one of its key is rejected, too. */
static void join_match_keep_duplicate(struct join *join, const struct join_ends *ends, size_t at,
                                      uint64_t window)
{
    struct join_ends *staying = &join->staying;
    const bool is_send = at < ends->send_count;
    if (join->params.windows == 0)
        return;
    if (is_send ? join_ends_append_send(staying, ends, at, SIZE_MAX) != 0
                : join_ends_append_receive(staying, ends, at - ends->send_count, SIZE_MAX) != 0)
        return;
    staying->reporters[staying->reporter_count - 1].window = window;
    if (is_send) {
        staying->sends[staying->send_count - 1].reporter |= END_TWICE;
    } else { /* belongs to no call from now on */
        staying->receives[staying->receive_count - 1].call |= END_TWICE;
        staying->calls[staying->call_count - 1].together = 1;
    }
}

/* Match all ends of one key, one of which may have waited. Sends come before receives. */
static void join_match_key(struct join *join, struct join_ends *ends,
                           const struct key_place *places, size_t count, uint64_t window)
{
    const size_t sends = ends->send_count, first = places[0].place;
    const size_t second = count == 1 ? first : places[1].place;
    if (count == 1)
        return;
    if (count == 2 && first < sends && second >= sends &&
        ((ends->sends[first].reporter | ends->receives[second - sends].call) & END_TWICE) == 0) {
        join_match_bind(join, ends, &ends->sends[first], &ends->receives[second - sends],
                        &join->matches[second - sends]);
        return;
    }
    join->refused++;
    join_match_keep_duplicate(join, ends, first, window);
    for (size_t i = 0; i < count; i++) {
        if (places[i].place < sends)
            ends->sends[places[i].place].reporter |= END_PAIRED;
        else
            join->matches[places[i].place - sends].reporters = MATCH_REFUSED;
    }
}

/* Match in the order of keys. key_order() is linear whatever the keys are. */
static void join_match_by_key(struct join *join, struct join_ends *ends, uint64_t window)
{
    const size_t count = join_ends_count(ends);
    struct key_place *sorted = join->places;
    join_match_restart(join, ends);
    for (size_t i = 0; i < count; i++)
        sorted[i] = (struct key_place){join_match_key_at(ends, i), (uint32_t)i};
    sorted = key_order(sorted, join->spare, count);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && sorted[end].key == sorted[i].key;)
            end++;
        join_match_key(join, ends, &sorted[i], end - i, window);
    }
    for (size_t i = 0; i < ends->receive_count; i++) {
        struct join_match *match = &join->matches[i];
        join->matched += match->reporters < MATCH_REFUSED;
        if (match->reporters >= MATCH_REFUSED)
            join_match_miss(join_receive_call(ends, &ends->receives[i]), match, match->reporters);
    }
}

/* ---- waiting ------------------------------------------------------------- */

/* @param other  rank whose node was to report the other end */
static void join_match_abandon(struct join *join, bool twice, uint64_t key, uint32_t other,
                               uint64_t window)
{
    if (!twice && !key_limits_left_out(&join->limits, other, window, key))
        join->counts.unmatched++;
}

/* There is no memory to keep an end. Its other end may still be reported, and must not count as
 * unmatched then. */
static void join_match_leave_out(struct join *join, uint64_t key)
{
    const uint64_t top = key == 0 ? 0 : key - 1;
    join->staying_top = top < join->staying_top ? top : join->staying_top;
}

/* Keep the sends without a receive, or drop those that have waited long enough. */
static void join_match_keep_sends(struct join *join, const struct join_ends *ends, uint64_t window)
{
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < ends->send_count; i++) {
        const struct join_send *send = &ends->sends[i];
        if ((send->reporter & END_PAIRED) != 0)
            continue;
        const uint64_t reported = join_send_reporter(ends, send)->window;
        if (reported + join->params.windows <= window)
            join_match_abandon(join, (send->reporter & END_TWICE) != 0, send->key,
                               send->destination, reported);
        else if (join_ends_append_send(&join->staying, ends, i, last) != 0)
            join_match_leave_out(join, send->key);
        else
            last = i;
    }
}

/* The same of receives. */
static void join_match_keep_receives(struct join *join, const struct join_ends *ends,
                                     uint64_t window)
{
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < ends->receive_count; i++) {
        const struct join_receive *receive = &ends->receives[i];
        if (join->matches[i].reporters != MATCH_NONE)
            continue;
        const uint64_t reported = join_receive_reporter(ends, receive)->window;
        if (reported + join->params.windows <= window)
            join_match_abandon(join, (receive->call & END_TWICE) != 0, receive->key,
                               receive->source, reported);
        else if (join_ends_append_receive(&join->staying, ends, i, last) != 0)
            join_match_leave_out(join, receive->key);
        else
            last = i;
    }
}

void join_match(struct join *join, struct join_ends *ends, uint64_t window)
{
    join->staying_top = UINT64_MAX;
    join_match_by_key(join, ends, window);
    join_match_add_calls(join, ends);
    if (join->matched < ends->send_count)
        join_match_keep_sends(join, ends, window);
    if (join->matched < ends->receive_count)
        join_match_keep_receives(join, ends, window);
    join->counts.rejected += join->refused;
}

/* ---- settling ------------------------------------------------------------ */

static void join_match_update_clocks(struct join *join, const struct join_ends *ends)
{
    for (size_t i = 1; i < join->pair_count; i++) {
        struct reporter_pair *pair = &join->reporter_pairs[i];
        pair->clocks = KEY_NONE;
        if (pair->least_ns != INT64_MAX && pair->error_ns != UINT64_MAX)
            pair->clocks = pair_clocks_note(&join->clocks, ends->reporters[pair->from].node,
                                            ends->reporters[pair->to].node, pair->least_ns,
                                            pair->error_ns, pair->at_ns);
    }
    pair_clocks_update(&join->clocks);
    for (size_t i = 1; i < join->pair_count; i++) {
        struct reporter_pair *pair = &join->reporter_pairs[i];
        if (pair->clocks == KEY_NONE)
            continue;
        const struct pair_clock *clock = &join->clocks.pairs[pair->clocks];
        pair->offset_ns = pair_clock_offset(clock, (int)pair->down);
        pair->error_ns = clock->remain_ns;
    }
}

/* Put sends on the clock of their receivers, and note of each call when the latest began. */
static void join_match_finish_sends(struct join *join, const struct join_ends *ends)
{
    const struct join_receive *receive = ends->receives;
    struct join_match *match = join->matches, *const end = match + ends->receive_count;
    for (; match < end; match++, receive++) {
        struct join_call *call = join_receive_call(ends, receive);
        if (match->reporters >= MATCH_REFUSED)
            continue;
        const int64_t sent =
            (int64_t)match->sent_ns + join->reporter_pairs[match->reporters].offset_ns;
        match->sent_ns = sent < 0 ? 0 : (uint64_t)sent;
        call->local_ns = join_match_maximum(call->local_ns, match->sent_ns);
    }
}

/* Merge the reports of calls that were reported in several parts. */
static void join_match_finish_calls(struct join *join, const struct join_ends *ends)
{
    const struct join_match *match = join->matches;
    for (size_t i = 0; i < ends->call_count; match += ends->calls[i++].count) {
        const struct join_call *reported = &ends->calls[i];
        if (reported->number >= CALL_UNKNOWN)
            continue;
        struct partial_call *call = &join->calls[reported->number];
        call->latest_ns = join_match_maximum(call->latest_ns, reported->local_ns);
        for (uint32_t m = 0; m < reported->count; m++)
            call->matched += match[m].reporters < MATCH_REFUSED;
    }
    for (size_t i = 0; i < ends->call_count; i++) {
        struct join_call *reported = &ends->calls[i];
        if (reported->number >= CALL_UNKNOWN)
            continue;
        const struct partial_call *call = &join->calls[reported->number];
        reported->local_ns = call->latest_ns;
        reported->number =
            call->known + call->matched >= call->together ? CALL_WHOLE : CALL_UNKNOWN;
    }
}

static void join_match_report_waiting_of_calls(struct join *join)
{
    for (size_t i = 0; i < join->staying.call_count; i++) {
        struct join_call *reported = &join->staying.calls[i];
        if (reported->number < CALL_UNKNOWN) {
            const struct partial_call *call = &join->calls[reported->number];
            reported->local_ns = call->latest_ns;
            reported->known = call->known + call->matched;
        }
        reported->number = CALL_WHOLE;
    }
}

void join_update_clocks(struct join *join, const struct join_ends *ends)
{
    join_match_update_clocks(join, ends);
    join_match_finish_sends(join, ends);
    if (join->call_count > 0)
        join_match_finish_calls(join, ends);
    join_match_report_waiting_of_calls(join);
}

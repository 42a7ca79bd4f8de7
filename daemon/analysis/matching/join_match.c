/* A close of the join: ends are matched by key, the matches bound the clocks and complete the
 * calls, and the messages are reported with their times. */
#include "daemon/analysis/matching/join_state.h"
#include "daemon/analysis/matching/send_wait.h"
#include "holter/order.h"

/* ---- by key -------------------------------------------------------------- */

/* Bound of the error of the difference between times of two ends; UINT64_MAX: unknown. */
static uint64_t join_match_error_of(const struct join_end *a, const struct join_end *b)
{
    const uint64_t sum = a->error_ns + b->error_ns;
    return sum < a->error_ns || sum > JOIN_MAXIMUM_NS ? UINT64_MAX : sum;
}

/* Can a send and a receive belong to one message between nodes? */
static bool join_match_ends_fit(const struct join_end *send, const struct join_end *receive)
{
    const uint64_t error = join_match_error_of(send, receive);
    return send->source == receive->source && send->destination == receive->destination &&
           send->node != receive->node && receive->bytes <= send->bytes &&
           (error == UINT64_MAX || (int64_t)(receive->end_ns - send->begin_ns) >= -(int64_t)error);
}

/* Record two ends as a message, if they can belong to one, and its bound of the clocks' difference.
 */
static void join_match_bind(struct join *join, struct join_closing *closing, uint32_t send_at,
                            uint32_t receive_at)
{
    const struct join_end *send = &closing->ends->at[send_at],
                          *receive = &closing->ends->at[receive_at];
    struct join_match *of_send = &closing->matches[send_at],
                      *of_receive = &closing->matches[receive_at];
    const uint64_t error = join_match_error_of(send, receive);
    if (!join_match_ends_fit(send, receive)) {
        join->counts.rejected++;
        of_send->other = of_receive->other = JOIN_REFUSED;
        return;
    }
    of_send->other = receive_at;
    of_receive->other = send_at;
    if (error != UINT64_MAX)
        of_receive->clocks =
            pair_clocks_note(&join->clocks, send->node, receive->node,
                             (int64_t)(receive->end_ns - send->begin_ns), error, receive->end_ns);
}

/* Keep an end that was reported twice, so that a third one of its key is rejected, too. */
static void join_match_keep_duplicate(struct join *join, const struct join_end *end,
                                      uint64_t window)
{
    struct join_end kept = *end;
    kept.twice = true;
    kept.window = window;
    kept.together = 1; /* it belongs to no call from now on */
    if (join->params.windows > 0)
        join_ends_append(&join->staying, &kept); /* without memory a third one is just another */
}

/* Match all ends of one key, one of which may have waited. */
static void join_match_key(struct join *join, struct join_closing *closing,
                           const struct key_place *places, size_t count)
{
    const struct join_end *ends = closing->ends->at, *first = &ends[places[0].place];
    if (count == 1)
        return;
    const struct join_end *second = &ends[places[1].place];
    if (count == 2 && first->receive != second->receive && !first->twice && !second->twice) {
        join_match_bind(join, closing, places[first->receive].place, places[!first->receive].place);
        return;
    }
    join->counts.rejected++;
    join_match_keep_duplicate(join, first, closing->window);
    for (size_t i = 0; i < count; i++)
        closing->matches[places[i].place].other = JOIN_REFUSED;
}

static void join_match_keys(struct join *join, struct join_closing *closing)
{
    const size_t count = closing->ends->count;
    const struct key_place *sorted = closing->sorted;
    for (size_t i = 0; i < count; i++)
        closing->matches[i] = (struct join_match){JOIN_ALONE, KEY_NONE, KEY_NONE};
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && sorted[end].key == sorted[i].key;)
            end++;
        join_match_key(join, closing, &sorted[i], end - i);
    }
    pair_clocks_update(&join->clocks);
}

/* ---- calls that completed several messages ------------------------------- */

/* Begin of a receive's send, on the receiver's clock. */
static uint64_t join_match_sent_ns(const struct join *join, const struct join_closing *closing,
                                   size_t receive_at)
{
    const struct join_match *match = &closing->matches[receive_at];
    const struct join_end *send = &closing->ends->at[match->other];
    if (match->clocks == KEY_NONE)
        return send->begin_ns;
    const int64_t sent = (int64_t)send->begin_ns +
                         pair_clock_offset(&join->clocks.pairs[match->clocks],
                                           send->node > closing->ends->at[receive_at].node);
    return sent < 0 ? 0 : (uint64_t)sent;
}

/* The parts of a call may be in several reports: add each of them up. */
static void join_match_add_calls(const struct join *join, struct join_closing *closing)
{
    for (size_t i = 0; i < closing->ends->count; i++) {
        const struct join_end *end = &closing->ends->at[i];
        struct join_match *match = &closing->matches[i];
        if (!end->receive || end->together <= 1 || match->other == JOIN_REFUSED)
            continue;
        const struct key key = {.hi = end->begin_ns, .lo = end->destination};
        match->call = KEY_TABLE_EXTEND(&closing->call_numbers, key, UINT32_MAX, closing->calls,
                                       closing->call_capacity);
        if (match->call == KEY_NONE)
            continue;
        struct join_call *call = &closing->calls[match->call];
        call->latest_ns = order_maximum(call->latest_ns, end->local_ns);
        call->known = end->known > call->known ? end->known : call->known;
        call->together = end->together > call->together ? end->together : call->together;
        if (match->other == JOIN_ALONE)
            continue;
        call->latest_ns = order_maximum(call->latest_ns, join_match_sent_ns(join, closing, i));
        call->matched++;
    }
}

/* ---- waiting ------------------------------------------------------------- */

/* There is no memory to keep an end. Its other end may still be reported, and must not count as
 * unmatched then. */
static void join_match_leave_out(struct join *join, uint64_t key)
{
    const uint64_t top = key == 0 ? 0 : key - 1;
    join->staying_top = top < join->staying_top ? top : join->staying_top;
}

/* Keep an end without its other one, or drop it where it has waited long enough. */
static void join_match_keep_alone(struct join *join, const struct join_closing *closing, size_t at)
{
    struct join_end end = closing->ends->at[at];
    if (end.window + join->params.windows <= closing->window) {
        if (!end.twice &&
            !key_limits_left_out(&join->limits, end.receive ? end.source : end.destination,
                                 end.window, end.key))
            join->counts.unmatched++;
        return;
    }
    if (closing->matches[at].call != KEY_NONE) {
        const struct join_call *call = &closing->calls[closing->matches[at].call];
        end.local_ns = call->latest_ns;
        end.known = call->known + call->matched;
    }
    if (join_ends_append(&join->staying, &end) != 0)
        join_match_leave_out(join, end.key);
}

/* ---- reporting ----------------------------------------------------------- */

static struct joined join_match_message(const struct join *join, const struct join_closing *closing,
                                        size_t at)
{
    const struct join_match *match = &closing->matches[at];
    const struct join_end *receive = &closing->ends->at[at],
                          *send = &closing->ends->at[match->other];
    const struct join_call *call = match->call == KEY_NONE ? NULL : &closing->calls[match->call];
    const uint64_t error = match->clocks == KEY_NONE ? join_match_error_of(send, receive)
                                                     : join->clocks.pairs[match->clocks].remain_ns;
    const uint64_t sent = join_match_sent_ns(join, closing, at), enter = receive->begin_ns,
                   end = receive->end_ns, both = order_maximum(sent, enter),
                   local = call == NULL ? receive->local_ns : call->latest_ns,
                   last = order_maximum(both, local);
    const bool whole =
        call == NULL ? receive->together <= 1 : call->known + call->matched >= call->together;
    const uint64_t send_length = (send->end_ns - send->begin_ns) / 1000 * 1000;
    struct joined message = {
        .source = receive->source,
        .destination = receive->destination,
        .bytes = receive->bytes,
        .transfer_ns = end > sent ? end - sent : 0,
        .late_sender_ns = both - enter < error ? 0 : both - enter,
        .late_receiver_ns = both - sent,
        .send_wait_ns = send_wait_ns(sent, sent + send_length, enter, receive->bytes),
        .error_ns = error,
        .window = receive->window,
    };
    *(whole ? &message.network_ns : &message.joint_ns) = end > last ? end - last : 0;
    message.uncertain = message.transfer_ns < error;
    return message;
}

void join_match(struct join *join, struct join_closing *closing, join_emit_fn *emit, void *user)
{
    join->staying_top = UINT64_MAX;
    join_match_keys(join, closing);
    join_match_add_calls(join, closing);
    for (size_t i = 0; i < closing->ends->count; i++) {
        const uint32_t other = closing->matches[i].other;
        if (other == JOIN_ALONE) {
            join_match_keep_alone(join, closing, i);
        } else if (other != JOIN_REFUSED && closing->ends->at[i].receive) {
            const struct joined message = join_match_message(join, closing, i);
            join->counts.matched++;
            join->counts.uncertain += (uint64_t)message.uncertain;
            emit(user, &message);
        }
    }
}

/* The messages that a close has joined: their times, and handing them to the owner. */
#include "daemon/analysis/matching/join_state.h"
#include "daemon/analysis/matching/send_wait.h"

static inline uint64_t join_report_span(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

static struct joined join_report_message(const struct join *join, const struct join_ends *ends,
                                         const struct join_receive *receive,
                                         const struct join_match *match)
{
    const struct join_call *call = join_receive_call(ends, receive);
    const uint64_t error = join->reporter_pairs[match->reporters].error_ns;
    const uint64_t send = match->sent_ns, enter = call->begin_ns, end = receive->end_ns;
    const uint64_t both = send > enter ? send : enter;
    const uint64_t last = call->local_ns > both ? call->local_ns : both;
    const uint64_t late_sender = both - enter, network = join_report_span(last, end);
    struct joined message = {
        .source = receive->source,
        .destination = call->destination,
        .bytes = receive->bytes,
        .transfer_ns = join_report_span(send, end),
        .late_sender_ns = late_sender < error ? 0 : late_sender,
        .late_receiver_ns = both - send,
        .send_wait_ns =
            send_wait_ns(send, send + match->send_us * UINT64_C(1000), enter, receive->bytes),
        .error_ns = error,
        .window = ends->reporters[call->reporter].window,
    };
    *(call->number == CALL_WHOLE ? &message.network_ns : &message.joint_ns) = network;
    message.uncertain = message.transfer_ns < error;
    return message;
}

void join_emit(struct join *join, const struct join_ends *ends, join_emit_fn *emit, void *user)
{
    for (size_t i = 0; i < ends->receive_count; i++) {
        if (join->matches[i].reporters >= MATCH_REFUSED)
            continue;
        const struct joined message =
            join_report_message(join, ends, &ends->receives[i], &join->matches[i]);
        join->counts.matched++;
        join->counts.uncertain += (uint64_t)message.uncertain;
        emit(user, &message);
    }
}

/* What comes out of ends that were matched. Times lie in columns, so that a processor takes several
 * at once. */
#include "daemon/analysis/matching/join_state.h"

#include "daemon/analysis/tables/wide.h"

#include <stdbool.h>

/* What the times of some messages follow from. */
struct basis {
    int64_t sent[JOINED_AT_ONCE];     /* begin of the send */
    int64_t begin[JOINED_AT_ONCE];    /* entry and ... */
    int64_t received[JOINED_AT_ONCE]; /* ... exit of the call that completed the receive */
    int64_t latest[JOINED_AT_ONCE];   /* of the sends known of those which that call completed */
    int64_t known[JOINED_AT_ONCE];    /* -1: all of them are; else 0 */
};

/* All columns to their end: so their length is known. Times and errors have less than 64 bits. */
WIDE_LOOP void tell_times(const struct basis *restrict basis, struct joined_some *restrict out)
{
    int64_t most = 0;
    uint64_t uncertain = 0;
    for (size_t i = 0; i < JOINED_AT_ONCE; i++) {
        const int64_t s = basis->sent[i], w = basis->begin[i], r = basis->received[i];
        const int64_t from = s > w ? s : w,
                      last = basis->latest[i] > from ? basis->latest[i] : from;
        const int64_t rest = r > last ? r - last : 0, transfer = r > s ? r - s : 0;
        const int64_t told = (int64_t)out->error_ns[i], error = told < 0 ? INT64_MAX : told;
        const int64_t late_sender = from - w, certain = transfer < error ? 0 : -1;
        out->transfer_ns[i] = (uint64_t)transfer;
        out->late_sender_ns[i] = late_sender < error ? 0 : (uint64_t)late_sender;
        out->late_receiver_ns[i] = (uint64_t)(from - s);
        out->network_ns[i] = (uint64_t)(rest & basis->known[i]);
        out->joint_ns[i] = (uint64_t)(rest & ~basis->known[i]);
        out->uncertain[i] = (uint64_t)(certain + 1);
        uncertain += (uint64_t)(certain + 1);
        most = (told & certain) > most ? told & certain : most;
    }
    out->uncertain_count = uncertain;
    out->most_error_ns = (uint64_t)most;
}

WIDE static void join_report_wide(const struct basis *restrict basis,
                                  struct joined_some *restrict out)
{
    tell_times(basis, out);
}

/* @param at  below JOINED_AT_ONCE */
static inline void note_message(const struct join *join, const struct join_ends *ends,
                                const struct join_receive *receive, const struct match *match,
                                struct basis *basis, struct joined_some *out, size_t at)
{
    const struct join_call *call = receive_call(ends, receive);
    uint64_t received = call->begin_ns + receive->time, bytes = receive->bytes;
    if ((receive->call & END_WIDE) != 0) {
        received = ends->wide[receive->bytes].time_ns;
        bytes = ends->wide[receive->bytes].bytes;
    }
    basis->sent[at] = (int64_t)match->sent_ns;
    basis->begin[at] = (int64_t)call->begin_ns;
    basis->received[at] = (int64_t)received;
    basis->latest[at] = (int64_t)call->local_ns;
    basis->known[at] = -(int64_t)(call->number == CALL_WHOLE);
    out->source[at] = receive->source;
    out->destination[at] = call->destination;
    out->bytes[at] = bytes;
    out->error_ns[at] = join->mets[match->met].error_ns;
    out->window[at] = ends->tellers[call->teller].window;
}

/* Where no message lies, nothing is uncertain, and no time. */
static void join_report_blank(struct basis *basis, struct joined_some *out, size_t from)
{
    for (size_t at = from; at < JOINED_AT_ONCE; at++) {
        basis->sent[at] = basis->begin[at] = basis->received[at] = basis->latest[at] = 0;
        out->error_ns[at] = 0;
    }
}

static void join_report_report(struct join *join, const struct basis *basis,
                               struct joined_some *some, join_emit_fn *emit, void *user)
{
    (wide_is_here() ? join_report_wide : tell_times)(basis, some);
    join->counts.uncertain += some->uncertain_count;
    join->counts.matched += some->count;
    emit(user, some);
}

void join_emit(struct join *join, const struct join_ends *ends, join_emit_fn *emit, void *user)
{
    struct joined_some some = {.count = JOINED_AT_ONCE};
    struct basis basis = {0};
    const struct join_receive *receive = ends->receives;
    const struct match *match = join->matches, *const end = match + ends->receive_count;
    size_t count = 0;
    for (; match < end; match++, receive++) {
        if (match->met >= MATCH_REFUSED)
            continue;
        note_message(join, ends, receive, match, &basis, &some, count++);
        if (count < JOINED_AT_ONCE)
            continue;
        join_report_report(join, &basis, &some, emit, user);
        count = 0;
    }
    if (count > 0) {
        join_report_blank(&basis, &some, count);
        some.count = count;
        join_report_report(join, &basis, &some, emit, user);
    }
}

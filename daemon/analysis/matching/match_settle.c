/* From ends to messages: ends that are first in their channel are matched and reported. */
#include "daemon/analysis/matching/match_state.h"
#include "daemon/analysis/matching/send_wait.h"
#include "holter/message_key.h"

#include <string.h>

/* Evidence that a channel is synchronised again: the receiver had waited for WAITED_NS when the
 * message was sent, and every earlier send had ended WAITED_NS before the wait began. A message in
 * flight would have ended the wait. Only messages of at most SMALL_BYTES count, because large ones
 * may need the sender to make progress. EVIDENCE consecutive pairs are needed, because a receiver
 * without a core seems to wait, too. */
#define WAITED_NS UINT64_C(200000)
#define SMALL_BYTES 1024u
#define EVIDENCE 4u
/* Sends of a desynchronised channel are kept for this time. */
#define DESYNCHRONISED_RETENTION_NS UINT64_C(2000000000)

#define SWEEP_NS UINT64_C(10000000000)

/* ---- reporting ----------------------------------------------------------- */

/* A matched receive holds the send's entry in post_ns and its end in post_exit_ns, source and
 * destination in request and channel; an end of a message between nodes has its key in post_ns. */
enum settled_state { SETTLED_MESSAGE = 16, SETTLED_HALF };

static void match_report_receive(struct match *match, const struct receive *receive,
                                 const struct group *group)
{
    if (receive->paused)
        return;
    uint64_t send_ns = receive->post_ns, enter = receive->enter_ns, leave = receive->exit_ns;
    if (receive->state == SETTLED_HALF) {
        struct match_half half = {
            .key = receive->post_ns,
            .source = receive->request,
            .destination = receive->channel,
            .bytes = receive->bytes,
            .enter_ns = enter,
            .exit_ns = leave,
            .local_ns = group == NULL ? 0 : group->latest_ns,
            /* less the call itself */
            .together = group == NULL ? 1 : group->count - 1 - group->local,
            .receive = 1,
        };
        match->sink.half(match->sink.user, &half);
        return;
    }
    uint64_t from = send_ns > enter ? send_ns : enter;
    if (group != NULL && group->latest_ns > from)
        from = group->latest_ns;
    uint64_t rest = leave > from ? leave - from : 0;
    int joint = group != NULL && group->joint;
    struct match_message message = {
        .source = receive->request,
        .destination = receive->channel,
        .bytes = receive->bytes,
        .transfer_ns = leave > send_ns ? leave - send_ns : 0,
        .late_sender_ns = send_ns > enter ? send_ns - enter : 0,
        .late_receiver_ns = enter > send_ns ? enter - send_ns : 0,
        .send_wait_ns = send_wait_ns(send_ns, receive->post_exit_ns, enter, receive->bytes),
        .network_ns = joint ? 0 : rest,
        .joint_ns = joint ? rest : 0,
    };
    match->sink.message(match->sink.user, &message);
}

void match_settle_in_group(struct match *match, uint32_t number)
{
    struct group *group = match_group_at(match, number);
    group->settled++;
    if (!group->closed || group->settled < group->count)
        return;
    for (uint32_t at = group->first, next; at != NONE; at = next) {
        next = match_receive_at(match, at)->next;
        match_report_receive(match, match_receive_at(match, at), group);
        match_pool_release(&match->receives, at);
    }
    match_pool_release(&match->groups, number);
}

/* Settle a receive that has left its channel as a message or as one end of a message. */
static inline void match_settle_receive(struct match *match, const struct channel *channel,
                                        uint32_t number)
{
    struct receive *receive = match_receive_at(match, number);
    receive->request = channel->source;
    receive->channel = channel->destination;
    if (receive->group == NONE) {
        match_report_receive(match, receive, NULL);
        match_pool_release(&match->receives, number);
        return;
    }
    struct group *group = match_group_at(match, receive->group);
    if (receive->state == SETTLED_HALF)
        group->joint = 1;
    else if (receive->post_ns > group->latest_ns)
        group->latest_ns = receive->post_ns;
    group->local += receive->state == SETTLED_MESSAGE;
    receive->next = group->first;
    group->first = number;
    match_settle_in_group(match, receive->group);
}

/* ---- messages within the node -------------------------------------------- */

static uint32_t match_pop_send(struct match *match, struct channel *channel)
{
    uint32_t number = channel->send_first;
    channel->send_first = match_send_at(match, number)->next;
    if (channel->send_first == NONE)
        channel->send_last = NONE;
    return number;
}

static uint32_t match_pop_receive(struct match *match, struct channel *channel)
{
    uint32_t number = channel->receive_first;
    channel->receive_first = match_receive_at(match, number)->next;
    if (channel->receive_first == NONE)
        channel->receive_last = NONE;
    if (channel->receive_open == number)
        channel->receive_open = channel->receive_first;
    return number;
}

/* Bind a send and a receive that have left the channel. @return 0: they contradict each other */
static inline int match_bind_pair(struct match *match, struct channel *channel,
                                  uint32_t send_number, uint32_t receive_number)
{
    const struct send *send = match_send_at(match, send_number);
    struct receive *receive = match_receive_at(match, receive_number);
    int good = match_ends_fit(send, receive), paused = send->paused + receive->paused;
    uint64_t send_ns = send->enter_ns, end_ns = match_send_end(send), bytes = send->bytes;
    match_pool_release(&match->sends, send_number);
    match->counts.unmatched += paused == 1;
    if (!good) {
        match->counts.rejected += paused == 0;
        uint32_t group = receive->group;
        match_pool_release(&match->receives, receive_number);
        if (group != NONE) {
            match_group_at(match, group)->joint = 1;
            match_settle_in_group(match, group);
        }
        return 0;
    }
    match->counts.matched += paused == 0;
    receive->paused = paused != 0;
    receive->state = SETTLED_MESSAGE;
    receive->post_ns = send_ns;
    receive->post_exit_ns = end_ns;
    receive->bytes = bytes;
    match_settle_receive(match, channel, receive_number);
    return 1;
}

static void match_settle_detach_block(struct match *match, struct channel *channel, uint32_t n)
{
    struct cluster cluster = {.n = n};
    if (n > MAXIMUM_CLUSTER) {
        for (uint32_t i = 0; i < n; i++) {
            match_drop_send(match, channel, channel->send_first);
            match_drop_receive(match, channel, channel->receive_first);
        }
        return;
    }
    int known = 1;
    for (uint32_t i = 0; i < n; i++) {
        cluster.sends[i] = match_pop_send(match, channel);
        cluster.receives[i] = match_pop_receive(match, channel);
        known &= match_receive_at(match, cluster.receives[i])->state == RECEIVE_DONE;
    }
    if (!known || !match_search_orders(match, &cluster))
        memset(cluster.possible, 0, sizeof cluster.possible);
    uint32_t taken = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t possible = cluster.possible[i];
        if (possible == 0 || (possible & (possible - 1)) != 0) {
            match_drop_send(match, channel, cluster.sends[i]);
            continue;
        }
        uint32_t r = (uint32_t)__builtin_ctz(possible);
        taken |= 1u << r;
        match_bind_pair(match, channel, cluster.sends[i], cluster.receives[r]);
    }
    for (uint32_t r = 0; r < n; r++)
        if (!(taken >> r & 1))
            match_drop_receive(match, channel, cluster.receives[r]);
}

/* @return nonzero: there is more to do later, though no end be added */
static int match_settle_within_node(struct match *match, struct channel *channel)
{
    while (channel->send_first != NONE && channel->receive_first != NONE) {
        if (match_receive_at(match, channel->receive_first)->state < RECEIVE_DONE)
            return 0;
        uint32_t n = match->strict == 0 ? 1 : match_overlapping_ends(match, channel);
        if (n == 0)
            return 1;
        channel->sent += n;
        channel->received += n;
        if (n > 1) {
            match_settle_detach_block(match, channel, n);
            continue;
        }
        if (match_receive_at(match, channel->receive_first)->state == RECEIVE_UNKNOWN) {
            match_drop_receive(match, channel, channel->receive_first);
            match_drop_send(match, channel, channel->send_first);
            continue;
        }
        uint32_t send = match_pop_send(match, channel), receive = match_pop_receive(match, channel);
        if (!match_bind_pair(match, channel, send, receive)) {
            channel_mark_desynchronised(match, channel);
            return 0;
        }
    }
    return 0;
}

/* ---- desynchronised ------------------------------------------------------ */

/* Drop the sends that began before a moment. @return exit of the last of them, 0: none */
static uint64_t match_drop_sends(struct match *match, struct channel *channel, uint64_t before_ns)
{
    uint64_t last = 0;
    while (channel->send_first != NONE &&
           match_send_at(match, channel->send_first)->enter_ns <= before_ns) {
        uint64_t exit_ns = match_send_exit(match_send_at(match, channel->send_first));
        last = exit_ns > last ? exit_ns : last;
        match_drop_send(match, channel, channel->send_first);
    }
    return last;
}

/* Must the first send belong to this receive? Earlier sends have been dropped; the last of them
 * ended at dropped_ns. */
static int match_is_evidence(const struct match *match, const struct channel *channel,
                             const struct receive *receive, uint64_t dropped_ns)
{
    if (channel->send_first == NONE)
        return 0;
    const struct send *send = match_send_at(match, channel->send_first);
    if (send->next != NONE && match_send_at(match, send->next)->enter_ns <= receive->exit_ns)
        return 0;
    return receive->group == NONE && match_ends_fit(send, receive) && receive->size_known &&
           receive->bytes <= SMALL_BYTES && send->enter_ns <= receive->exit_ns &&
           send->enter_ns >= receive->enter_ns + WAITED_NS &&
           (dropped_ns == 0 || dropped_ns + WAITED_NS <= receive->enter_ns);
}

static int match_settle_desynchronised(struct match *match, struct channel *channel)
{
    const struct match_member *from = match_member_of(match, channel->source),
                              *to = match_member_of(match, channel->destination);
    int alone =
        from != NULL && from->known_ns == UINT64_MAX && to != NULL && to->known_ns == UINT64_MAX;
    while (channel->receive_first != NONE) {
        uint32_t number = channel->receive_first;
        const struct receive *receive = match_receive_at(match, number);
        if (receive->state < RECEIVE_DONE)
            break;
        if (alone && receive->state == RECEIVE_DONE &&
            (receive->exit_ns >= match->settled_ns ||
             match_receive_is_held(match, channel, receive)))
            return 1;
        uint64_t dropped = match_drop_sends(match, channel, receive->enter_ns);
        int speaks = alone && receive->state == RECEIVE_DONE &&
                     match_is_evidence(match, channel, receive, dropped);
        channel->flags =
            speaks ? channel->flags + CHANNEL_EVIDENCE : channel->flags & (CHANNEL_EVIDENCE - 1u);
        if (channel->flags >= EVIDENCE * CHANNEL_EVIDENCE) {
            channel->flags &= (CHANNEL_EVIDENCE - 1u) & ~(uint32_t)CHANNEL_DESYNCHRONISED;
            return match_settle_within_node(match, channel);
        }
        if (speaks)
            match_drop_send(match, channel, channel->send_first);
        match_drop_receive(match, channel, number);
    }
    if (match->now_ns > DESYNCHRONISED_RETENTION_NS)
        match_drop_sends(match, channel, match->now_ns - DESYNCHRONISED_RETENTION_NS);
    return channel->send_first != NONE;
}

/* ---- messages between nodes ---------------------------------------------- */

static void match_report_send_half(struct match *match, struct channel *channel, uint32_t number)
{
    const struct send *send = match_send_at(match, number);
    struct match_half half = {
        .key = message_key(channel->comm, channel->source, channel->destination, channel->tag,
                           channel->sent),
        .source = channel->source,
        .destination = channel->destination,
        .bytes = send->bytes,
        .enter_ns = send->enter_ns,
        .exit_ns = match_send_end(send),
    };
    match->sink.half(match->sink.user, &half);
}

/* @return nonzero: there is more to do later */
static int match_settle_sends_between(struct match *match, struct channel *channel)
{
    while (channel->send_first != NONE) {
        uint32_t n = match->strict == 0 ? 1 : match_overlapping_sends(match, channel, 1);
        uint32_t at = channel->send_first;
        for (uint32_t i = 0; i < n; i++, at = match_send_at(match, at)->next)
            if (match_send_is_held(match, channel, match_send_at(match, at)))
                return 1;
        for (uint32_t i = 0; i < n; i++) {
            if (n == 1 && !(channel->flags & CHANNEL_DESYNCHRONISED) &&
                !match_send_at(match, channel->send_first)->paused)
                match_report_send_half(match, channel, channel->send_first);
            channel->sent++;
            match_pool_release(&match->sends, match_pop_send(match, channel));
        }
    }
    return 0;
}

static void match_settle_collect_receives_between(struct match *match, struct channel *channel,
                                                  uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t ordinal = channel->received++;
        uint32_t number = channel->receive_first;
        struct receive *receive = match_receive_at(match, number);
        if (n > 1 || channel->flags & CHANNEL_DESYNCHRONISED || receive->state != RECEIVE_DONE ||
            !receive->size_known) {
            match_drop_receive(match, channel, number);
            continue;
        }
        match_pop_receive(match, channel);
        receive->state = SETTLED_HALF;
        receive->post_ns = message_key(channel->comm, channel->source, channel->destination,
                                       channel->tag, ordinal);
        match_settle_receive(match, channel, number);
    }
}

static int match_settle_receives_between(struct match *match, struct channel *channel)
{
    while (channel->receive_first != NONE) {
        uint32_t n = match->strict == 0 ? 1 : match_overlapping_receives(match, channel, 1);
        uint32_t at = channel->receive_first;
        for (uint32_t i = 0; i < n; i++, at = match_receive_at(match, at)->next) {
            if (match_receive_at(match, at)->state < RECEIVE_DONE)
                return 0;
            if (match_receive_is_held(match, channel, match_receive_at(match, at)))
                return 1;
        }
        match_settle_collect_receives_between(match, channel, n);
    }
    return 0;
}

/* ---- all ----------------------------------------------------------------- */

int match_settle_channel(struct match *match, struct channel *channel)
{
    if (channel->flags & CHANNEL_PENDING || !(channel->flags & CHANNEL_USED))
        return 0;
    if (channel->flags & CHANNEL_BETWEEN) {
        int more = match_settle_sends_between(match, channel);
        return match_settle_receives_between(match, channel) | more;
    }
    if (channel->flags & CHANNEL_DESYNCHRONISED)
        return match_settle_desynchronised(match, channel);
    if (channel->flags & (CHANNEL_SENDS_INCOMPLETE | CHANNEL_RECEIVES_INCOMPLETE))
        return 0; /* decided by the first end of the side that lost records */
    return match_settle_within_node(match, channel);
}

/* Decide where a rank lives, if it can be decided yet. @return whether it is decided */
static int match_resolve_place(struct match *match, uint32_t rank, uint32_t *between)
{
    struct peer *peer = match_peer(match, rank);
    if (peer == NULL)
        return 0;
    if (peer->place == PLACE_UNKNOWN) {
        if (peer->since_ns == 0)
            peer->since_ns = match->now_ns;
        if (!match->all_added && match->now_ns < peer->since_ns + MATCH_REMOTE_AFTER_NS)
            return 0;
        peer->place = PLACE_ELSEWHERE;
    }
    *between |= peer->place == PLACE_ELSEWHERE ? CHANNEL_BETWEEN : 0;
    return 1;
}

static void match_resolve_places(struct match *match)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < match->waiting_count; i++) {
        uint32_t number = match->waiting[i], between = 0;
        struct channel *channel = match_channel_at(match, number);
        if (!match_resolve_place(match, channel->source, &between) ||
            !match_resolve_place(match, channel->destination, &between)) {
            match->waiting[kept++] = number;
            continue;
        }
        channel->flags = (channel->flags & ~(uint32_t)CHANNEL_PENDING) | between;
        match_touch(match, number);
    }
    match->waiting_count = kept;
}

static void match_settle_dirty(struct match *match)
{
    match->unsettled = 0;
    if (match_early_any(match))
        match_early_end_single_threaded(match);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < match->dirty_count; i++) {
        uint32_t number = match->dirty[i];
        struct channel *channel = match_channel_at(match, number);
        if (match_settle_channel(match, channel))
            match->dirty[kept++] = number;
        else
            channel->flags &= ~(uint32_t)CHANNEL_DIRTY;
    }
    match->dirty_count = kept;
}

void match_settle(struct match *match, uint64_t now_ns)
{
    match->passed_in_vain = 0;
    match->settled_ns = match->now_ns;
    match->now_ns = now_ns;
    match->now_s = (uint32_t)(now_ns / UINT64_C(1000000000));
    if (match->waiting_count > 0)
        match_resolve_places(match);
    match_settle_dirty(match);
    if (now_ns >= match->sweep_ns + SWEEP_NS) {
        match->sweep_ns = now_ns;
        match_sweep(match);
    }
}

void match_settle_again(struct match *match)
{
    match->settled_ns = match->now_ns;
    match_settle_dirty(match);
}

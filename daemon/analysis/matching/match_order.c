/* The order of posts of several threads is not always known. This file decides which ends have to
 * wait for others, and which are matched alike in all possible orders. */
#include "daemon/analysis/matching/match_state.h"

static int match_order_may_match(int32_t source, int32_t tag, const struct channel *channel)
{
    return (source == PEER_ANY || (uint32_t)source == channel->source) &&
           (tag == TAG_ANY || tag == channel->tag);
}

static int match_threads_hold_receive(const struct match_member *member,
                                      const struct channel *channel, const struct receive *receive)
{
    if (receive->post_exit_ns > member->known_ns)
        return 1;
    for (uint32_t i = 0; i < member->ring_count; i++) {
        const struct underway *underway = &member->rings[i].underway;
        if (i != receive->ring && underway->comm == channel->comm && underway->receives &&
            underway->enter_ns < receive->post_exit_ns &&
            match_order_may_match(underway->source, underway->receive_tag, channel))
            return 1;
    }
    return 0;
}

int match_receive_is_held(const struct match *match, const struct channel *channel,
                          const struct receive *receive)
{
    if (match->strict == 0)
        return 0;
    const struct match_member *member = match_member_of(match, channel->destination);
    if (member == NULL)
        return 0;
    for (uint32_t i = member->wildcard_first; i < member->wildcard_count; i++) {
        const struct wildcard *wildcard = &member->wildcards[i];
        const struct receive *open = match_receive_at(match, wildcard->receive);
        if (match_is_posted_after(open, receive) &&
            (open->ring == receive->ring || open->post_ns >= receive->post_exit_ns))
            continue;
        if (wildcard->comm == channel->comm &&
            match_order_may_match(wildcard->source, wildcard->tag, channel))
            return 1;
    }
    return member->known_ns != UINT64_MAX && match_threads_hold_receive(member, channel, receive);
}

int match_send_is_held(const struct match *match, const struct channel *channel,
                       const struct send *send)
{
    if (match->strict == 0)
        return 0;
    const struct match_member *member = match_member_of(match, channel->source);
    if (member == NULL || member->known_ns == UINT64_MAX)
        return 0;
    uint64_t exit_ns = match_send_exit(send);
    if (exit_ns > member->known_ns)
        return 1;
    for (uint32_t i = 0; i < member->ring_count; i++) {
        const struct underway *underway = &member->rings[i].underway;
        if (i != send->ring && underway->comm == channel->comm && underway->sends &&
            underway->enter_ns < exit_ns &&
            underway->destination == (int32_t)channel->destination &&
            underway->send_tag == channel->tag)
            return 1;
    }
    return 0;
}

/* ---- posts of several threads that overlap ------------------------------- */

/* The latest exit of the posts so far, and the latest among those of other threads than that one's.
 */
struct run {
    uint64_t exit_ns, other_exit_ns;
    uint32_t ring;
};

static void match_run_add(struct run *run, uint16_t ring, uint64_t exit_ns)
{
    if (run->ring == ring || run->ring == NONE) {
        run->ring = ring;
        run->exit_ns = exit_ns > run->exit_ns ? exit_ns : run->exit_ns;
    } else if (exit_ns > run->exit_ns) {
        run->other_exit_ns = run->exit_ns;
        run->exit_ns = exit_ns;
        run->ring = ring;
    } else if (exit_ns > run->other_exit_ns) {
        run->other_exit_ns = exit_ns;
    }
}

static int match_run_overlaps(const struct run *run, uint16_t ring, uint64_t enter_ns)
{
    return (run->ring == ring ? run->other_exit_ns : run->exit_ns) > enter_ns;
}

uint32_t match_overlapping_sends(const struct match *match, const struct channel *channel,
                                 uint32_t n)
{
    struct run run = {.ring = NONE};
    uint32_t count = 0;
    for (uint32_t at = channel->send_first; at != NONE;
         at = match_send_at(match, at)->next, count++) {
        const struct send *send = match_send_at(match, at);
        if (count >= n && !match_run_overlaps(&run, send->ring, send->enter_ns))
            break;
        match_run_add(&run, send->ring, match_send_exit(send));
    }
    return count > n ? count : n;
}

uint32_t match_overlapping_receives(const struct match *match, const struct channel *channel,
                                    uint32_t n)
{
    struct run run = {.ring = NONE};
    uint32_t count = 0;
    for (uint32_t at = channel->receive_first; at != NONE;
         at = match_receive_at(match, at)->next, count++) {
        const struct receive *receive = match_receive_at(match, at);
        if (count >= n && !match_run_overlaps(&run, receive->ring, receive->post_ns))
            break;
        match_run_add(&run, receive->ring, receive->post_exit_ns);
    }
    return count > n ? count : n;
}

uint32_t match_overlapping_ends(const struct match *match, const struct channel *channel)
{
    uint32_t n = 1, more = 1;
    do {
        n = more;
        more = match_overlapping_sends(match, channel, n);
        more = match_overlapping_receives(match, channel, more);
    } while (more > n);
    uint32_t send = channel->send_first, receive = channel->receive_first;
    for (uint32_t i = 0; i < n; i++) {
        if (send == NONE || receive == NONE ||
            match_send_is_held(match, channel, match_send_at(match, send)) ||
            match_receive_at(match, receive)->state < RECEIVE_DONE ||
            match_receive_is_held(match, channel, match_receive_at(match, receive)))
            return 0;
        send = match_send_at(match, send)->next;
        receive = match_receive_at(match, receive)->next;
    }
    return n;
}

static int match_order_is_before(uint16_t ring, uint64_t exit_ns, uint16_t later_ring,
                                 uint64_t later_enter_ns)
{
    return ring == later_ring || exit_ns <= later_enter_ns;
}

/* Send i with receive r: does every message stay after those that it cannot overtake? */
static int match_order_in_order(const struct match *match, const struct cluster *cluster,
                                uint32_t i, uint32_t r)
{
    const struct send *send = match_send_at(match, cluster->sends[i]);
    const struct receive *receive = match_receive_at(match, cluster->receives[r]);
    for (uint32_t k = 0; k < i; k++) {
        const struct send *earlier = match_send_at(match, cluster->sends[k]);
        const struct receive *other =
            match_receive_at(match, cluster->receives[cluster->chosen[k]]);
        if (r < cluster->chosen[k] &&
            match_order_is_before(earlier->ring, match_send_exit(earlier), send->ring,
                                  send->enter_ns) &&
            match_order_is_before(receive->ring, receive->post_exit_ns, other->ring,
                                  other->post_ns))
            return 0;
    }
    return 1;
}

static int match_order_search(const struct match *match, struct cluster *cluster, uint32_t i,
                              uint32_t used)
{
    if (i == cluster->n)
        return 1;
    int found = 0;
    for (uint32_t r = 0; r < cluster->n; r++) {
        if (used >> r & 1 ||
            !match_ends_fit(match_send_at(match, cluster->sends[i]),
                            match_receive_at(match, cluster->receives[r])) ||
            !match_order_in_order(match, cluster, i, r))
            continue;
        cluster->chosen[i] = (uint8_t)r;
        if (!match_order_search(match, cluster, i + 1, used | 1u << r))
            continue;
        cluster->possible[i] |= (uint8_t)(1u << r);
        found = 1;
    }
    return found;
}

int match_search_orders(const struct match *match, struct cluster *cluster)
{
    return match_order_search(match, cluster, 0, 0);
}

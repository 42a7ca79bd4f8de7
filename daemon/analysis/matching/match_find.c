/* The channel that a record names, and the send or receive that it ends. */
#include "daemon/analysis/matching/match_state.h"
#include "holter/call.h"

#include <string.h>

/* Open receives that are looked through for one of them, and, between two calls of match_settle(),
 * in vain: where the posts of many ends were dropped, each of them is looked for.
 * match_settle_again(), which comes after some dozen records, starts no new count. */
#define MAXIMUM_PASSED 16384u
#define MAXIMUM_PASSED_IN_VAIN (1u << 22)

void match_count_dropped(struct match *match, const struct event *event)
{
    uint32_t flags = event->flags;
    uint32_t whole = flags & EVENT_SEND ? EVENT_SEND | EVENT_POST : EVENT_RECV | EVENT_DONE;
    int ends = (flags & (whole | EVENT_PAUSED)) == whole;
    if (ends && event->peer >= 0 && match_member_of(match, (uint32_t)event->peer) != NULL)
        match->counts.unmatched++;
}

/* Entry of the call that posted what this record ends, in ticks: a persistent request has the same
 * number in all its starts. 0: not known. */
static uint64_t match_post_time_of(const struct event *event)
{
    int other = event->flags & EVENT_POST || event->call == CALL_Mrecv ||
                event->call == CALL_Imrecv || event->call == CALL_Request_free;
    return other ? 0 : event->t_post;
}

/* The send with this record's request. A post that is not known for certain to be the one is taken
 * only when all are known: the newest. @return NONE: not there */
uint32_t match_find_send(const struct taken *t, const struct channel *channel)
{
    const struct match *match = t->match;
    uint64_t posted = match_post_time_of(t->event);
    uint32_t newest = NONE;
    for (uint32_t at = channel->send_first; at != NONE; at = match_send_at(match, at)->next) {
        const struct send *send = match_send_at(match, at);
        if (send->request != t->event->request || send->enter_ns > t->exit_ns)
            continue;
        if (posted == 0 ? t->again == NULL : send->posted == (uint16_t)posted)
            return at;
        newest = t->last ? at : newest;
    }
    return newest;
}

enum likeness { ANOTHER, PERHAPS, CERTAIN };

/* Is this receive, of the right number, the one that the record ends? The entry time of its post
 * decides; where the record lacks it, the receive has to be open already. If that stays unknown
 * until all posts are known, the newest receive before the record's call is taken. */
static enum likeness match_compare_receive(const struct taken *t, const struct receive *receive)
{
    const struct event *event = t->event;
    if (receive->posted == event->t_post)
        return CERTAIN;
    if (t->last)
        return receive->post_ns <= t->enter_ns ? PERHAPS : ANOTHER;
    int message = event->call == CALL_Mrecv || event->call == CALL_Imrecv;
    int at_once = t->again == NULL && match_post_time_of(event) == 0;
    return (message || at_once) && receive->post_ns <= t->exit_ns ? CERTAIN : ANOTHER;
}

/* @return 1 when so many were looked through in vain that those left are to be dropped */
static int match_passed_in_vain(struct match *match, uint32_t passed)
{
    match->passed_in_vain += passed;
    return match->passed_in_vain > MAXIMUM_PASSED_IN_VAIN;
}

/* @return the receive that this record ends among the open wildcards, taken out; NONE: not there */
uint32_t match_take_wildcard(const struct taken *t)
{
    struct match_member *member = t->member;
    struct wildcard *list = member->wildcards;
    uint32_t found = NONE;
    enum likeness likeness = ANOTHER;
    for (uint32_t i = member->wildcard_first; i < member->wildcard_count && likeness != CERTAIN;
         i++) {
        const struct receive *receive = match_receive_at(t->match, list[i].receive);
        likeness =
            receive->request == t->event->request ? match_compare_receive(t, receive) : ANOTHER;
        found = likeness != ANOTHER ? i : found;
    }
    if (found == NONE) {
        if (match_passed_in_vain(t->match, member->wildcard_count - member->wildcard_first))
            match_lost(t->match, member);
        return NONE;
    }
    int strict = match_member_is_strict(member);
    uint32_t number = list[found].receive;
    memmove(list + member->wildcard_first + 1, list + member->wildcard_first,
            (found - member->wildcard_first) * sizeof *list);
    member->wildcard_first++;
    if (member->wildcard_first == member->wildcard_count)
        member->wildcard_first = member->wildcard_count = 0;
    t->match->strict -= (uint32_t)(strict && !match_member_is_strict(member));
    return number;
}

/* Not the first one that is open: look on from there. */
static __attribute__((noinline)) uint32_t match_search_receive(const struct taken *t,
                                                               struct channel *channel,
                                                               uint32_t number, uint32_t request)
{
    struct match *match = t->match;
    uint32_t passed = 0, newest = NONE;
    for (; number != NONE && passed < MAXIMUM_PASSED; passed++) {
        const struct receive *receive = match_receive_at(match, number);
        if (receive->request == request && receive->state != RECEIVE_DONE) {
            enum likeness likeness = match_compare_receive(t, receive);
            if (likeness == CERTAIN)
                return number;
            newest = likeness == PERHAPS ? number : newest;
        }
        number = receive->next;
    }
    if (passed < MAXIMUM_PASSED && (newest != NONE || !match_passed_in_vain(match, passed)))
        return newest;
    channel_mark_desynchronised(match, channel);
    match_drop_all_receives(match, channel);
    return NONE;
}

/* The receive of the channel that this record ends, by the number of its request or message.
 * Receives complete about in the order of posting: so the search begins after those that are
 * completed and wait for their sends.
 * @return NONE: not there */
uint32_t match_find_receive(const struct taken *t, struct channel *channel, uint32_t request)
{
    const struct match *match = t->match;
    uint32_t number =
        channel->receive_open != NONE ? channel->receive_open : channel->receive_first;
    while (number != NONE && match_receive_at(match, number)->state == RECEIVE_DONE) {
        channel->receive_open = number;
        number = match_receive_at(match, number)->next;
    }
    if (number == NONE)
        return NONE;
    const struct receive *first = match_receive_at(match, number);
    if (first->request == request && first->posted == t->event->t_post)
        return number;
    return match_search_receive(t, channel, number, request);
}

void match_count_unmatched(const struct taken *t, uint32_t channel)
{
    if (!(match_channel_at(t->match, channel)->flags & CHANNEL_BETWEEN) &&
        !(t->event->flags & EVENT_PAUSED))
        t->match->counts.unmatched++;
}

int match_names_no_channel(const struct event *event)
{
    return event->peer == PEER_ANY || (event->peer >= 0 && event->tag == TAG_ANY);
}

int match_may_be_wild(const struct taken *t)
{
    const struct event *event = t->event;
    return t->comm != 0 && (match_names_no_channel(event) ||
                            (event->flags & EVENT_WILDCARD && event->peer == PEER_UNKNOWN));
}

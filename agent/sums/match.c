/* From records to ends of messages. */
#include "agent/sums/match.h"

#include "agent/sums/match_state.h"
#include "holter/call.h"
#include "holter/segment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RINGS_MOST 65536u
#define AHEAD 6u /* records between asking for a channel's slot, for the channel, and using it */
#define APART_MOST 4096u
#define WILDCARDS_MOST 65536u
#define PASSED_MOST 16384u /* open receives of a channel that are looked through for one of them */
/* Where ends hardly match, looking for them often would be in vain: so many records between two looks. */
#define CROWDED_EVERY ((size_t)MOST_RECEIVES / 16)

/* ---- life ---------------------------------------------------------------- */

int match_create(struct match **out, uint64_t world, const struct match_sink *sink)
{
    struct match *match = calloc(1, sizeof *match);
    if (match == NULL)
        return -ENOMEM;
    match->world = world;
    match->sink = *sink;
    match->sends = (struct pool){.most = MOST_SENDS, .each = sizeof(struct send)};
    match->receives = (struct pool){.most = MOST_RECEIVES, .each = sizeof(struct receive)};
    match->groups = (struct pool){.most = MOST_GROUPS, .each = sizeof(struct group)};
    match->channels = (struct pool){.most = MOST_CHANNELS, .each = sizeof(struct channel)};
    *out = match;
    return 0;
}

static void free_member(struct match_member *member)
{
    free(member->rings);
    free(member->wildcards);
    free(member->apart);
    free(member);
}

void match_destroy(struct match *match)
{
    if (match == NULL)
        return;
    for (uint32_t i = 0; i < match->member_count; i++)
        free_member(match->members[i]);
    free(match->members);
    free(match->peers);
    free(match->peer_slots);
    free(match->sends.nodes);
    free(match->sends.free);
    free(match->receives.nodes);
    free(match->receives.free);
    free(match->groups.nodes);
    free(match->groups.free);
    free(match->channels.nodes);
    free(match->channels.free);
    free(match->slots);
    free(match->links);
    free(match->dirty);
    free(match->waiting);
    free(match);
}

struct match_counts match_counts(const struct match *match)
{
    return match->counts;
}

size_t match_bytes(const struct match *match)
{
    return match->sends.room * match->sends.each + match->receives.room * match->receives.each +
           match->groups.room * match->groups.each + match->channels.room * match->channels.each +
           (match->slots == NULL ? 0 : ((size_t)match->slot_mask + 1) * sizeof *match->slots) +
           match->link_room * sizeof *match->links +
           match->peer_room * (sizeof *match->peers + 2 * sizeof *match->peer_slots);
}

/* ---- members ------------------------------------------------------------- */

/* What is exchanged with a rank that turns out to live here was kept, unless it came too late. */
static void settle_place(struct match *match, uint32_t rank)
{
    struct channel_walk walk = channel_walk_begin(match, rank);
    for (uint32_t i; (i = channel_walk_next(match, &walk)) != NONE;) {
        struct channel *channel = channel_at(match, i);
        if (channel->source == rank)
            channel->flags |= CHANNEL_FROM;
        if (channel->destination == rank)
            channel->flags |= CHANNEL_TO;
        if (channel->flags & CHANNEL_BETWEEN) {
            channel->flags &= ~(uint32_t)CHANNEL_BETWEEN;
            channel_go_astray(match, channel);
        }
        match_touch(match, i);
    }
}

struct match_member *match_add(struct match *match, uint64_t rank)
{
    if (rank >= match->world || rank > INT32_MAX)
        return NULL;
    struct match_member **members = match_reserve(match->members, &match->member_room,
                                                  match->member_count + 1, sizeof(*members));
    if (members == NULL)
        return NULL;
    match->members = members;
    struct match_member *member = calloc(1, sizeof *member);
    struct peer *peer = member == NULL ? NULL : match_peer(match, (uint32_t)rank);
    if (peer == NULL) {
        free(member);
        return NULL;
    }
    *member = (struct match_member){
        .rank = (uint32_t)rank, .index = match->member_count, .known_ns = UINT64_MAX};
    members[match->member_count++] = member;
    peer->member = member;
    peer->place = PLACE_HERE;
    settle_place(match, member->rank);
    return member;
}

void match_all_added(struct match *match)
{
    match->all_added = 1;
}

static int is_strict(const struct match_member *member)
{
    return member->wildcard_count > member->wildcard_first || member->known_ns != UINT64_MAX;
}

static void drop_receives(struct match *match, struct channel *channel)
{
    while (channel->receive_first != NONE)
        match_give_up_receive(match, channel, channel->receive_first);
}

static void drop_wildcards(struct match *match, struct match_member *member)
{
    int strict = is_strict(member);
    for (uint32_t i = member->wildcard_first; i < member->wildcard_count; i++)
        pool_give(&match->receives, member->wildcards[i].receive);
    member->wildcard_first = member->wildcard_count = 0;
    match->strict -= (uint32_t)(strict && !is_strict(member));
}

/* No receive of the member ends any more. An open one may have taken a message unseen; one with
 * wildcards makes the order unknown in every channel where others were posted after it. */
static void end_receives(struct match *match, struct channel *channel)
{
    uint32_t first = channel->receive_first;
    if (first != NONE && receive_is_held(match, channel, receive_at(match, first)))
        channel_go_astray(match, channel);
    for (uint32_t at = channel->receive_first; at != NONE; at = receive_at(match, at)->next)
        if (receive_at(match, at)->state < RECEIVE_DONE)
            receive_at(match, at)->state = RECEIVE_UNKNOWN;
}

static int is_gone(struct match *match, uint32_t rank)
{
    const struct peer *peer = match_peer(match, rank);
    return peer == NULL || peer->place == PLACE_GONE;
}

/* What the channels of the member hold: nothing more comes from it. The other end may still be on
 * its way in, unless it is gone, too. */
static void end_channels(struct match *match, const struct match_member *member)
{
    struct channel_walk walk = channel_walk_begin(match, member->rank);
    for (uint32_t i; (i = channel_walk_next(match, &walk)) != NONE;) {
        struct channel *channel = channel_at(match, i);
        if (channel->destination == member->rank)
            end_receives(match, channel);
        if (settle_channel(match, channel))
            match_touch(match, i);
        if (is_gone(match, channel->source) && is_gone(match, channel->destination)) {
            channel_go_astray(match, channel);
            drop_receives(match, channel);
        }
    }
}

void match_remove(struct match *match, struct match_member *member)
{
    if (member == NULL)
        return;
    struct peer *peer = match_peer(match, member->rank);
    if (peer != NULL)
        peer->place = PLACE_GONE;
    for (uint32_t i = 0; i < member->ring_count; i++)
        member->rings[i].underway = (struct underway){0};
    match_known_until(match, member, UINT64_MAX);
    end_channels(match, member);
    if (peer != NULL)
        peer->member = NULL;
    drop_wildcards(match, member);
    match->members[member->index] = match->members[--match->member_count];
    match->members[member->index]->index = member->index;
    free_member(member);
}

void match_lost(struct match *match, struct match_member *member)
{
    member->lossy = 1;
    drop_wildcards(match, member);
    struct channel_walk walk = channel_walk_begin(match, member->rank);
    for (uint32_t i; (i = channel_walk_next(match, &walk)) != NONE;) {
        struct channel *channel = channel_at(match, i);
        channel_go_astray(match, channel);
        if (channel->destination == member->rank)
            drop_receives(match, channel);
    }
    for (uint32_t i = 0; i < member->ring_count; i++) {
        uint32_t group = member->rings[i].group;
        if (group != NONE)
            group_at(match, group)->joint = 1;
    }
}

/* ---- groups -------------------------------------------------------------- */

static struct ring_part *ring_of(struct match_member *member, uint32_t ring)
{
    if (ring >= RINGS_MOST)
        return NULL;
    if (ring >= member->ring_count) {
        struct ring_part *rings = realloc(member->rings, (ring + 1) * sizeof *rings);
        if (rings == NULL)
            return NULL;
        for (uint32_t i = member->ring_count; i <= ring; i++)
            rings[i] = (struct ring_part){.group = NONE};
        member->rings = rings;
        member->ring_count = ring + 1;
    }
    return &member->rings[ring];
}

static void close_group(struct match *match, struct ring_part *ring)
{
    uint32_t number = ring->group;
    ring->group = NONE;
    if (number == NONE)
        return;
    struct group *group = group_at(match, number);
    group->closed = 1;
    group->count++; /* and settled, so that whoever settles the last one hands them out */
    group_settle(match, number);
}

/* The group that a receive completed by this record belongs to. */
static uint32_t join_group(struct match *match, struct ring_part *ring, const struct event *event)
{
    int several = event->kind == EVENT_PART || event->parts > 0;
    if (!several || event->call == CALL_Sendrecv || event->call == CALL_Sendrecv_replace)
        return NONE;
    if (ring->group == NONE) {
        ring->group = pool_take(&match->groups);
        if (ring->group == NONE)
            return NONE;
        *group_at(match, ring->group) = (struct group){.first = NONE};
    }
    group_at(match, ring->group)->count++;
    return ring->group;
}

/* ---- calls in progress --------------------------------------------------- */

/* Calls that return without waiting for anybody tell what they post when they end, which is soon. */
static int tells_at_once(uint16_t call)
{
    enum call_class class_ = call_class_of(call);
    if (call == CALL_Recv || call == CALL_Mprobe || call == CALL_Sendrecv ||
        call == CALL_Sendrecv_replace)
        return 1;
    return class_ == CALL_SEND && call <= CALL_Rsend;
}

uint64_t match_underway(struct match *match, struct match_member *member,
                        const struct match_source *source, const struct event *event)
{
    struct ring_part *ring = ring_of(member, source->ring);
    if (ring == NULL)
        return UINT64_MAX;
    ring->underway = (struct underway){0};
    (void)match;
    if (event == NULL)
        return UINT64_MAX;
    enum call_class class_ = call_class_of(event->call);
    uint64_t enter_ns = tick_clock_ns(source->clock, event->t_enter);
    if (class_ != CALL_SEND && class_ != CALL_RECV && event->call != CALL_Improbe)
        return UINT64_MAX;
    if (!tells_at_once(event->call) || event->kind != EVENT_CALL)
        return enter_ns;
    int fresh, both = event->call == CALL_Sendrecv || event->call == CALL_Sendrecv_replace;
    ring->underway = (struct underway){
        .comm = event->comm < COMM_SLOT_OTHER ? source->comm(source->user, event->comm, &fresh) : 0,
        .enter_ns = enter_ns,
        .destination = event->peer,
        .send_tag = event->tag,
        .source = both ? event_receive_source(event) : event->peer,
        .receive_tag = both ? event_receive_tag(event) : event->tag,
        .sends = both || class_ == CALL_SEND,
        .receives = class_ == CALL_RECV,
    };
    return UINT64_MAX;
}

void match_known_until(struct match *match, struct match_member *member, uint64_t ns)
{
    int strict = is_strict(member);
    member->known_ns = ns;
    match->strict += (uint32_t)(!strict && is_strict(member));
}

/* ---- one record ---------------------------------------------------------- */

/* A record with what it means here. */
struct taken {
    struct match *match;
    struct match_member *member;
    struct ring_part *ring;
    const struct event *event;
    uint64_t comm;
    uint64_t enter_ns, exit_ns;
    uint16_t ring_number;
    int fresh;
};

/* An end that there is no room to keep has no other end. What only posts a receive is no end yet. */
static void count_without_room(const struct taken *t, uint32_t other)
{
    uint32_t flags = t->event->flags;
    int ends = flags & EVENT_SEND ? flags & EVENT_POST : flags & EVENT_DONE;
    if (ends && match_member_of(t->match, other) != NULL)
        t->match->counts.unmatched++;
}

/* The channel of a message of this record. @return NONE: there is no message, or it cannot be
 * followed */
static uint32_t channel_of(const struct taken *t, int sends)
{
    const struct event *event = t->event;
    struct match *match = t->match;
    if (event->peer < 0 || (uint64_t)event->peer >= match->world || event->tag < 0 || t->comm == 0)
        return NONE;
    uint32_t own = t->member->rank, other = (uint32_t)event->peer;
    uint32_t number =
        match_channel(match, t->comm, sends ? own : other, sends ? other : own, event->tag);
    if (number == NONE) {
        count_without_room(t, other);
        return NONE;
    }
    struct channel *channel = channel_at(match, number);
    uint32_t aside = sends ? CHANNEL_FROM_ASIDE : CHANNEL_TO_ASIDE;
    if (channel->flags & aside) {
        channel->flags &= ~aside;
        if (!t->fresh)
            channel_go_astray(match, channel);
    }
    return number;
}

static void take_send(const struct taken *t)
{
    struct match *match = t->match;
    uint32_t at = channel_of(t, 1);
    if (at == NONE)
        return;
    uint32_t number = pool_take(&match->sends);
    struct channel *channel = channel_at(match, at);
    if (number == NONE) {
        channel_go_astray(match, channel);
        count_without_room(t, channel->destination);
        return;
    }
    uint64_t span = t->exit_ns - t->enter_ns;
    *send_at(match, number) = (struct send){
        .enter_ns = t->enter_ns,
        .bytes = t->event->bytes,
        .span_ns = span < UINT32_MAX ? (uint32_t)span : UINT32_MAX,
        .request = t->event->request,
        .ring = t->ring_number,
    };
    channel_put_send(match, channel, number);
    match_touch(match, at);
}

/* MPI_Cancel took a send back (MPI 4.0, section 3.8.4): its receiver never sees it. */
static void take_back_send(const struct taken *t)
{
    struct match *match = t->match;
    uint32_t at = channel_of(t, 1);
    if (at == NONE)
        return;
    struct channel *channel = channel_at(match, at);
    uint32_t number = channel->send_first;
    while (number != NONE && send_at(match, number)->request != t->event->request)
        number = send_at(match, number)->next;
    if (number == NONE) {
        channel_go_astray(match, channel); /* taken for another one already */
        return;
    }
    channel_unlink_send(match, channel, number);
    pool_give(&match->sends, number);
    match_touch(match, at);
}

/* @return a new receive that this record posts, NONE: no room */
static uint32_t new_receive(const struct taken *t, uint32_t channel, uint32_t request,
                            enum receive_state state)
{
    uint32_t number = pool_take(&t->match->receives);
    if (number == NONE) {
        if (channel != NONE)
            channel_go_astray(t->match, channel_at(t->match, channel));
        return NONE;
    }
    *receive_at(t->match, number) = (struct receive){
        .next = NONE,
        .request = request,
        .post_ns = t->enter_ns,
        .post_exit_ns = t->exit_ns,
        .channel = channel,
        .group = NONE,
        .ring = t->ring_number,
        .state = (uint8_t)state,
        .order = t->match->order++,
    };
    return number;
}

static void complete(const struct taken *t, struct receive *receive, int size_known)
{
    receive->state = RECEIVE_DONE;
    receive->enter_ns = t->enter_ns;
    receive->exit_ns = t->exit_ns;
    receive->bytes = t->event->bytes;
    receive->size_known = (uint8_t)size_known;
    receive->group = join_group(t->match, t->ring, t->event);
}

/* A receive with wildcards is posted: which channel it belongs to is known when it completes. */
static void post_wildcard(const struct taken *t)
{
    struct match *match = t->match;
    struct match_member *member = t->member;
    uint32_t open = member->wildcard_count - member->wildcard_first;
    if (member->wildcard_first > 0 && member->wildcard_count == member->wildcard_room) {
        memmove(member->wildcards, member->wildcards + member->wildcard_first,
                open * sizeof *member->wildcards);
        member->wildcard_first = 0;
        member->wildcard_count = open;
    }
    struct wildcard *list = open >= WILDCARDS_MOST
                                ? NULL
                                : match_reserve(member->wildcards, &member->wildcard_room,
                                                member->wildcard_count + 1, sizeof *list);
    if (list != NULL)
        member->wildcards = list;
    uint32_t number = list == NULL ? NONE : new_receive(t, NONE, t->event->request, RECEIVE_OPEN);
    if (number == NONE) {
        match_lost(match, member);
        return;
    }
    int strict = is_strict(member);
    uint32_t at = member->wildcard_count++;
    while (at > member->wildcard_first &&
           receive_at(match, list[at - 1].receive)->post_ns > t->enter_ns) {
        list[at] = list[at - 1];
        at--;
    }
    list[at] = (struct wildcard){
        .comm = t->comm, .source = t->event->peer, .tag = t->event->tag, .receive = number};
    match->strict += (uint32_t)!strict;
}

/* @return the receive with this request among the open wildcards, taken out; NONE: not there */
static uint32_t take_wildcard(struct match *match, struct match_member *member, uint32_t request)
{
    struct wildcard *list = member->wildcards;
    for (uint32_t i = member->wildcard_first; i < member->wildcard_count; i++) {
        uint32_t number = list[i].receive;
        if (receive_at(match, number)->request != request)
            continue;
        int strict = is_strict(member);
        memmove(list + member->wildcard_first + 1, list + member->wildcard_first,
                (i - member->wildcard_first) * sizeof *list);
        member->wildcard_first++;
        if (member->wildcard_first == member->wildcard_count)
            member->wildcard_first = member->wildcard_count = 0;
        match->strict -= (uint32_t)(strict && !is_strict(member));
        return number;
    }
    return NONE;
}

/* Receives complete about in the order of posting: those that have, and wait for their sends, are
 * not looked at again and again. */
static uint32_t find_receive(struct match *match, struct channel *channel, uint32_t request)
{
    uint32_t passed = 0;
    uint32_t number =
        channel->receive_open != NONE ? channel->receive_open : channel->receive_first;
    while (number != NONE && receive_at(match, number)->state == RECEIVE_DONE) {
        channel->receive_open = number;
        number = receive_at(match, number)->next;
    }
    while (number != NONE && passed < PASSED_MOST &&
           (receive_at(match, number)->request != request ||
            receive_at(match, number)->state == RECEIVE_DONE)) {
        number = receive_at(match, number)->next;
        passed++;
    }
    if (passed < PASSED_MOST)
        return number;
    channel_go_astray(match, channel);
    drop_receives(match, channel);
    return NONE;
}

static void count_unseen(const struct taken *t, uint32_t channel)
{
    if (!(channel_at(t->match, channel)->flags & CHANNEL_BETWEEN))
        t->match->counts.unmatched++;
}

static void post_receive(const struct taken *t)
{
    const struct event *event = t->event;
    if (event->peer == PEER_NULL || event->peer == PEER_UNKNOWN || t->comm == 0)
        return;
    if (event->flags & EVENT_WILDCARD) {
        if (event->flags & EVENT_UNTRACKED)
            match_lost(t->match, t->member); /* nobody will tell what it takes */
        else
            post_wildcard(t);
        return;
    }
    uint32_t at = channel_of(t, 0);
    if (at == NONE)
        return;
    uint32_t number = new_receive(t, at, event->request,
                                  event->flags & EVENT_UNTRACKED ? RECEIVE_UNKNOWN : RECEIVE_OPEN);
    if (number != NONE)
        channel_put_receive(t->match, channel_at(t->match, at), number);
}

/* MPI_Imrecv and MPI_Mrecv go on with what MPI_Mprobe took. @return NONE: not known */
static uint32_t find_taken(const struct taken *t, uint32_t channel)
{
    if (channel == NONE || t->event->message == 0)
        return NONE;
    return find_receive(t->match, channel_at(t->match, channel), (uint32_t)t->event->message);
}

static void take_message(const struct taken *t)
{
    uint32_t at = channel_of(t, 0), number = find_taken(t, at);
    if (number == NONE)
        return;
    struct receive *receive = receive_at(t->match, number);
    if (t->event->flags & EVENT_DONE) {
        complete(t, receive, t->event->call == CALL_Mrecv);
        match_touch(t->match, at);
    } else if (t->event->request != 0) {
        receive->request = t->event->request;
    } else {
        receive->state = RECEIVE_UNKNOWN;
        match_touch(t->match, at);
    }
}

/* MPI_Mprobe and MPI_Improbe: the message is this member's from now on, before any receive that is
 * posted later. */
static void probe_message(const struct taken *t)
{
    if (t->event->flags & EVENT_FAILED)
        return;
    uint32_t at = channel_of(t, 0);
    if (at == NONE)
        return;
    uint32_t number = new_receive(t, at, t->event->request,
                                  t->event->request != 0 ? RECEIVE_TAKEN : RECEIVE_UNKNOWN);
    if (number == NONE)
        return;
    channel_put_receive(t->match, channel_at(t->match, at), number);
    match_touch(t->match, at);
}

static void complete_receive(const struct taken *t)
{
    const struct event *event = t->event;
    struct match *match = t->match;
    uint32_t number = NONE, at = channel_of(t, 0);
    if (event->flags & EVENT_POST) {
        /* Without a request and not blocking: complete when posted, its status not yet looked at */
        int size_known = event->call != CALL_Irecv && event->call != CALL_Isendrecv &&
                         event->call != CALL_Isendrecv_replace;
        if (at == NONE && t->comm != 0 &&
            (event->peer == PEER_ANY || (event->peer >= 0 && event->tag == TAG_ANY)))
            match_lost(match, t->member); /* it took a message, but nobody knows which */
        if (at == NONE)
            return;
        if ((number = new_receive(t, at, 0, RECEIVE_OPEN)) == NONE) {
            count_unseen(t, at);
            return;
        }
        complete(t, receive_at(match, number), size_known);
        channel_put_receive(match, channel_at(match, at), number);
        match_touch(match, at);
        return;
    }
    if (event->flags & EVENT_WILDCARD) {
        number = take_wildcard(match, t->member, event->request);
        if (number != NONE && at == NONE) {
            pool_give(&match->receives, number);
            if (event->peer == PEER_ANY || (event->peer >= 0 && event->tag == TAG_ANY))
                match_lost(match, t->member); /* it took a message, but nobody knows which */
            return;
        }
        if (number != NONE) {
            receive_at(match, number)->channel = at;
            channel_put_receive(match, channel_at(match, at), number);
        }
    }
    if (number == NONE && at != NONE)
        number = find_receive(match, channel_at(match, at), event->request);
    if (number == NONE) {
        if (at != NONE)
            count_unseen(t, at); /* posted before records were lost */
        return;
    }
    complete(t, receive_at(match, number), 1);
    match_touch(match, at);
}

/* It was cancelled (or freed, or failed) without, or perhaps without, having taken a message. */
static void end_receive(const struct taken *t, int taken_a_message)
{
    struct match *match = t->match;
    uint32_t number = take_wildcard(match, t->member, t->event->request);
    if (number != NONE) {
        pool_give(&match->receives, number);
        if (taken_a_message)
            match_lost(match, t->member);
        return;
    }
    uint32_t at = channel_of(t, 0);
    if (at == NONE)
        return;
    struct channel *channel = channel_at(match, at);
    number = find_receive(match, channel, t->event->request);
    if (number == NONE)
        return;
    match_give_up_receive(match, channel, number);
    if (taken_a_message)
        channel_go_astray(match, channel_at(match, at));
    match_touch(match, at);
}

/* ---- what was not as it should be ---------------------------------------- */

/* Whether a call that failed, or a part of it, took or sent a message is not known. */
static void take_failed(const struct taken *t)
{
    const struct event *event = t->event;
    enum call_class class_ = call_class_of(event->call);
    if (class_ != CALL_SEND && class_ != CALL_RECV && class_ != CALL_WAIT && class_ != CALL_POLL)
        return;
    if (event->call == CALL_Probe || event->call == CALL_Iprobe || event->call == CALL_Mprobe ||
        event->call == CALL_Improbe)
        return;
    if (event->peer == PEER_NULL)
        return;
    if (event->request != 0 && event->flags & EVENT_RECV) {
        end_receive(t, 1);
        return;
    }
    int sends = event->flags & EVENT_SEND ||
                (class_ == CALL_SEND && event->call != CALL_Start && event->call != CALL_Startall);
    uint32_t at = sends ? channel_of(t, 1) : NONE;
    if (at != NONE)
        channel_go_astray(t->match, channel_at(t->match, at));
    else
        match_lost(t->match, t->member);
}

/* MPI_Request_free of a receive that is under way: it may take a message unseen. Its end is not
 * known, but it is in the order of its channel; with wildcards it can be in any. */
static void take_free(const struct taken *t)
{
    const struct event *event = t->event;
    if (!(event->flags & EVENT_UNTRACKED) || event->request == 0)
        return;
    uint32_t number = take_wildcard(t->match, t->member, event->request);
    if (number != NONE) {
        pool_give(&t->match->receives, number);
        match_lost(t->match, t->member);
        return;
    }
    uint32_t at = channel_of(t, 0);
    if (at == NONE)
        return;
    number = find_receive(t->match, channel_at(t->match, at), event->request);
    if (number == NONE)
        return;
    receive_at(t->match, number)->state = RECEIVE_UNKNOWN;
    match_touch(t->match, at);
}

/* ---- partitioned communication -------------------------------------------- */

/* Its messages match each other by the order of MPI_Psend_init and MPI_Precv_init, and no others
 * (MPI 4.0, section 4.2). Requests made so are left out. */
static void set_apart(struct match_member *member, uint32_t request)
{
    uint32_t *apart = member->apart_count >= APART_MOST
                          ? NULL
                          : match_reserve(member->apart, &member->apart_room,
                                          member->apart_count + 1, sizeof *apart);
    if (apart == NULL || request == 0)
        return;
    member->apart = apart;
    apart[member->apart_count++] = request;
}

static int is_apart(const struct match_member *member, const struct event *event)
{
    if (member->apart_count == 0 || !(event->flags & EVENT_PERSISTENT))
        return 0;
    for (uint32_t i = 0; i < member->apart_count; i++)
        if (member->apart[i] == event->request)
            return 1;
    return 0;
}

/* ---- all records --------------------------------------------------------- */

static void take_message_record(const struct taken *t)
{
    const struct event *event = t->event;
    uint32_t flags = event->flags;
    if (is_apart(t->member, event))
        return;
    if (flags & EVENT_SEND) {
        if (flags & EVENT_POST)
            take_send(t);
        else if (flags & EVENT_CANCELLED)
            take_back_send(t);
    } else if (event->call == CALL_Mrecv || event->call == CALL_Imrecv) {
        take_message(t);
    } else if (flags & EVENT_CANCELLED) {
        end_receive(t, 0);
    } else if (flags & EVENT_DONE) {
        complete_receive(t);
    } else if (flags & EVENT_POST) {
        post_receive(t);
    }
}

static void take_other_record(const struct taken *t)
{
    switch (t->event->call) {
    case CALL_Mprobe:
    case CALL_Improbe:
        probe_message(t);
        break;
    case CALL_Request_free:
        take_free(t);
        break;
    default:
        break;
    }
}

/* Does the record say anything about messages? Most that do not are found out here. */
static int concerns(const struct event *event)
{
    const uint32_t ends = EVENT_SEND | EVENT_RECV;
    if (event->flags & ends)
        return (event->flags & (ends | EVENT_POST | EVENT_CANCELLED | EVENT_FAILED)) != EVENT_SEND;
    return event->flags & EVENT_FAILED || event->call == CALL_Mprobe ||
           event->call == CALL_Improbe || event->call == CALL_Request_free;
}

/* Ask for the memory that a record to come will need: first the slot of its channel, then the
 * channel, then the ends that it holds. The record's communicator is taken to be that of the one
 * before it. */
static void ask_ahead(const struct taken *t, const struct event *event, int stage)
{
    if (!concerns(event))
        return;
    uint32_t own = t->member->rank, other = (uint32_t)event->peer;
    int sends = event->flags & EVENT_SEND;
    const uint32_t *slot = &t->match->slots[match_slot(t->match, t->comm, sends ? own : other,
                                                       sends ? other : own, event->tag)];
    if (stage == 0) {
        __builtin_prefetch(slot);
        return;
    }
    if (*slot == 0)
        return;
    const struct channel *channel = channel_at(t->match, *slot - 1);
    if (stage == 1) {
        __builtin_prefetch(channel, 1);
    } else if (sends) {
        if (channel->send_last != NONE)
            __builtin_prefetch(send_at(t->match, channel->send_last), 1);
    } else {
        if (channel->receive_first != NONE)
            __builtin_prefetch(receive_at(t->match, channel->receive_first), 1);
    }
}

static void take(struct taken *t, const struct match_source *source)
{
    const struct event *event = t->event;
    if (event->call == CALL_Psend_init || event->call == CALL_Precv_init) {
        set_apart(t->member, event->request);
        return;
    }
    if (!concerns(event))
        return;
    t->fresh = 0;
    t->comm =
        event->comm < COMM_SLOT_OTHER ? source->comm(source->user, event->comm, &t->fresh) : 0;
    t->enter_ns = tick_clock_ns(source->clock, event->t_enter);
    t->exit_ns = tick_clock_ns(source->clock, event->t_exit);
    if (t->exit_ns < t->enter_ns)
        return;
    if (event->flags & EVENT_FAILED)
        take_failed(t);
    else if (event->flags & (EVENT_SEND | EVENT_RECV))
        take_message_record(t);
    else
        take_other_record(t);
}

/* So many ends that it is better to look for their other ones at once: a rank that wrote much while
 * the agent was without a core. */
static int is_crowded(const struct pool *pool)
{
    return pool->used - pool->free_count > pool->most / 2;
}

void match_events(struct match *match, struct match_member *member,
                  const struct match_source *source, const struct event *events, size_t count)
{
    struct ring_part *ring = ring_of(member, source->ring);
    if (ring == NULL) {
        match_lost(match, member);
        return;
    }
    struct taken t = {
        .match = match, .member = member, .ring = ring, .ring_number = (uint16_t)source->ring};
    ring->underway = (struct underway){0};
    for (size_t i = 0; i < count; i++) {
        const struct event *event = &events[i];
        if (match->slots != NULL)
            for (size_t stage = 0, at = i + 3 * AHEAD; stage < 3; stage++, at -= AHEAD)
                if (at < count)
                    ask_ahead(&t, &events[at], (int)stage);
        if (event->kind == EVENT_CALL) {
            close_group(match, ring);
            ring->parts_left = event->parts;
        } else if (event->kind == EVENT_PART) {
            ring->parts_left -= ring->parts_left > 0;
        } else {
            continue;
        }
        t.event = event;
        take(&t, source);
        if (ring->parts_left == 0)
            close_group(match, ring);
    }
    match->unsettled += count;
    if (is_crowded(&match->receives) && match->unsettled >= CROWDED_EVERY)
        match_settle(match, match->now_ns);
}

/* From records to ends of messages. */
#include "daemon/analysis/matching/match_state.h"
#include "daemon/analysis/tables/array.h"
#include "holter/call.h"
#include "holter/segment.h"

#include <stdlib.h>
#include <string.h>

#define MAXIMUM_RINGS 65536u
#define MAXIMUM_PARTITIONED 4096u
#define MAXIMUM_WILDCARDS 65536u
/* Records between two early matches: where ends hardly match, frequent attempts would be in vain.
 */
#define CROWDED_EVERY ((size_t)MAXIMUM_RECEIVES / 16)

/* ---- groups -------------------------------------------------------------- */

static struct ring_part *match_ring_of(struct match_member *member, uint32_t ring)
{
    if (ring >= MAXIMUM_RINGS)
        return NULL;
    if (ring >= member->ring_count) {
        if (ARRAY_RESIZE(member->rings, ring + 1) != 0)
            return NULL;
        for (; member->ring_count <= ring; member->ring_count++)
            member->rings[member->ring_count] = (struct ring_part){.group = NONE};
    }
    return &member->rings[ring];
}

static void match_close_group(struct match *match, struct ring_part *ring)
{
    uint32_t number = ring->group;
    ring->group = NONE;
    if (number == NONE)
        return;
    struct group *group = match_group_at(match, number);
    group->closed = 1;
    group->count++; /* and settled: the caller that settles the last one reports them all */
    match_settle_in_group(match, number);
}

uint32_t match_join_group(struct match *match, struct ring_part *ring, const struct event *event)
{
    int several = event->kind == EVENT_PART || event->parts > 0;
    if (!several || event->call == CALL_Sendrecv || event->call == CALL_Sendrecv_replace)
        return NONE;
    if (ring->group == NONE) {
        ring->group = match_pool_allocate(&match->groups);
        if (ring->group == NONE)
            return NONE;
        *match_group_at(match, ring->group) = (struct group){.first = NONE};
    }
    match_group_at(match, ring->group)->count++;
    return ring->group;
}

/* ---- calls in progress --------------------------------------------------- */

/* Does the record of a call in progress name the message? Calls that return without waiting do so
 * only when they end, which is soon. */
static int match_names_message_at_entry(uint16_t call)
{
    enum call_class class_ = call_class_of(call);
    if (call == CALL_Recv || call == CALL_Mprobe || call == CALL_Sendrecv ||
        call == CALL_Sendrecv_replace)
        return 1;
    return class_ == CALL_SEND && call <= CALL_Rsend;
}

uint64_t match_underway(struct match_member *member, const struct match_source *source,
                        const struct event *event)
{
    struct ring_part *ring = match_ring_of(member, source->ring);
    if (ring == NULL)
        return UINT64_MAX;
    ring->underway = (struct underway){0};
    if (event == NULL)
        return UINT64_MAX;
    enum call_class class_ = call_class_of(event->call);
    uint64_t enter_ns = tick_clock_ns(source->clock, event->t_enter);
    if (class_ != CALL_SEND && class_ != CALL_RECV && event->call != CALL_Improbe)
        return UINT64_MAX;
    if (!match_names_message_at_entry(event->call) || event->kind != EVENT_CALL)
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

/* ---- one record ---------------------------------------------------------- */

static void match_take_add_send(const struct taken *t)
{
    struct match *match = t->match;
    uint32_t at = match_channel_of(t, 1);
    if (at == NONE)
        return;
    uint32_t number = match_pool_allocate(&match->sends);
    struct channel *channel = match_channel_at(match, at);
    if (number == NONE) {
        channel_mark_desynchronised(match, channel);
        match_count_dropped(match, t->event);
        return;
    }
    uint64_t span = t->exit_ns - t->enter_ns;
    *match_send_at(match, number) = (struct send){
        .enter_ns = t->enter_ns,
        .bytes = t->event->bytes & (UINT64_MAX >> 2),
        .only_sends = call_class_of(t->event->call) == CALL_SEND,
        .paused = (t->event->flags & EVENT_PAUSED) != 0,
        .span_ns = span < UINT32_MAX ? (uint32_t)span : UINT32_MAX,
        .request = t->event->request,
        .ring = t->ring_number,
        .posted = (uint16_t)t->event->t_enter,
    };
    match_insert_send(match, channel, number);
    match_touch(match, at);
}

/* MPI_Cancel took a send back (MPI 4.0, section 3.8.4): its receiver never sees it. */
static int match_take_undo_send(const struct taken *t)
{
    struct match *match = t->match;
    uint32_t at = match_channel_of(t, 1);
    if (at == NONE)
        return 1;
    struct channel *channel = match_channel_at(match, at);
    uint32_t number = match_find_send(t, channel);
    if (number == NONE)
        return 0;
    match_unlink_send(match, channel, number);
    match_pool_release(&match->sends, number);
    match_touch(match, at);
    return 1;
}

/* @return a new receive that this record posts, NONE: the table is full */
static uint32_t match_new_receive(const struct taken *t, uint32_t channel, uint32_t request,
                                  enum receive_state state)
{
    uint32_t number = match_pool_allocate(&t->match->receives);
    if (number == NONE) {
        if (channel == NONE)
            return NONE;
        /* Its open receives go, too: they may be those that fill the table, and are not to be
         * examined again for each further one. */
        channel_mark_desynchronised(t->match, match_channel_at(t->match, channel));
        match_drop_all_receives(t->match, match_channel_at(t->match, channel));
        return NONE;
    }
    *match_receive_at(t->match, number) = (struct receive){
        .next = NONE,
        .request = request,
        .post_ns = t->enter_ns,
        .post_exit_ns = t->exit_ns,
        .posted = state == RECEIVE_UNKNOWN ? 0 : t->event->t_enter,
        .channel = channel,
        .group = NONE,
        .ring = t->ring_number,
        .state = (uint8_t)state,
        .order = t->match->order++,
    };
    return number;
}

static void match_take_complete(const struct taken *t, struct receive *receive, int size_known)
{
    receive->state = RECEIVE_DONE;
    receive->enter_ns = t->enter_ns;
    receive->exit_ns = t->exit_ns;
    receive->bytes = t->event->bytes;
    receive->size_known = size_known != 0;
    receive->paused = (t->event->flags & EVENT_PAUSED) != 0;
    receive->group =
        t->again != NULL ? t->again->group : match_join_group(t->match, t->ring, t->event);
}

/* A receive with wildcards is posted: which channel it belongs to is known when it completes. */
static void match_post_wildcard(const struct taken *t)
{
    struct match *match = t->match;
    struct match_member *member = t->member;
    uint32_t open = member->wildcard_count - member->wildcard_first;
    if (member->wildcard_first > 0 && member->wildcard_count == member->wildcard_capacity) {
        memmove(member->wildcards, member->wildcards + member->wildcard_first,
                open * sizeof *member->wildcards);
        member->wildcard_first = 0;
        member->wildcard_count = open;
    }
    uint32_t number = NONE;
    if (open < MAXIMUM_WILDCARDS &&
        ARRAY_FIT_AT(member->wildcards, member->wildcard_capacity, member->wildcard_count) == 0)
        number = match_new_receive(t, NONE, t->event->request, RECEIVE_OPEN);
    struct wildcard *list = member->wildcards;
    if (number == NONE) {
        match_lost(match, member);
        return;
    }
    int strict = match_member_is_strict(member);
    uint32_t at = member->wildcard_count++;
    while (at > member->wildcard_first &&
           match_receive_at(match, list[at - 1].receive)->post_ns > t->enter_ns) {
        list[at] = list[at - 1];
        at--;
    }
    list[at] = (struct wildcard){.comm = t->comm,
                                 .source = t->event->peer,
                                 .tag = t->event->tag,
                                 .receive = number,
                                 .fresh = t->fresh};
    match->strict += (uint32_t)!strict;
}

static void match_post_receive(const struct taken *t)
{
    const struct event *event = t->event;
    if (event->peer == PEER_NULL || event->peer == PEER_UNKNOWN || t->comm == 0)
        return;
    if (event->flags & EVENT_WILDCARD) {
        if (event->flags & EVENT_UNTRACKED)
            match_lost(t->match, t->member); /* no record will name the message that it receives */
        else
            match_post_wildcard(t);
        return;
    }
    uint32_t at = match_channel_of(t, 0);
    if (at == NONE)
        return;
    uint32_t number = match_new_receive(
        t, at, event->request, event->flags & EVENT_UNTRACKED ? RECEIVE_UNKNOWN : RECEIVE_OPEN);
    if (number != NONE)
        match_insert_receive(t->match, match_channel_at(t->match, at), number);
}

/* MPI_Imrecv and MPI_Mrecv continue a receive that MPI_Mprobe began. */
static int match_take_end_message(const struct taken *t)
{
    uint32_t at = match_channel_of(t, 0), message = (uint32_t)t->event->message;
    if (at == NONE || message == 0)
        return 1;
    uint32_t number = match_find_receive(t, match_channel_at(t->match, at), message);
    if (number == NONE)
        return 0;
    struct receive *receive = match_receive_at(t->match, number);
    if (t->event->flags & EVENT_DONE) {
        match_take_complete(t, receive, t->event->call == CALL_Mrecv);
        match_touch(t->match, at);
    } else if (t->event->request != 0) {
        receive->request = t->event->request;
        receive->posted = t->event->t_enter;
    } else {
        match_set_receive_unknown(receive);
        match_touch(t->match, at);
    }
    return 1;
}

/* MPI_Mprobe and MPI_Improbe: the message is this member's from now on, before any receive that is
 * posted later. */
static void match_probe_message(const struct taken *t)
{
    if (t->event->flags & EVENT_FAILED)
        return;
    uint32_t at = match_channel_of(t, 0);
    if (at == NONE)
        return;
    uint32_t number = match_new_receive(t, at, t->event->request,
                                        t->event->request != 0 ? RECEIVE_TAKEN : RECEIVE_UNKNOWN);
    if (number == NONE)
        return;
    match_insert_receive(t->match, match_channel_at(t->match, at), number);
    match_touch(t->match, at);
}

static void match_receive_at_once(const struct taken *t)
{
    const struct event *event = t->event;
    struct match *match = t->match;
    uint32_t at = match_channel_of(t, 0);
    /* Without a request and not blocking: complete when posted, its status not examined yet */
    int size_known = event->call != CALL_Irecv && event->call != CALL_Isendrecv &&
                     event->call != CALL_Isendrecv_replace;
    if (at == NONE && t->comm != 0 && match_names_no_channel(event))
        match_lost(match, t->member); /* it took a message, but nobody knows which */
    if (at == NONE)
        return;
    uint32_t number = match_new_receive(t, at, 0, RECEIVE_OPEN);
    if (number == NONE) {
        match_count_unmatched(t, at);
        return;
    }
    match_take_complete(t, match_receive_at(match, number), size_known);
    match_insert_receive(match, match_channel_at(match, at), number);
    match_touch(match, at);
}

static int match_complete_receive(const struct taken *t)
{
    const struct event *event = t->event;
    struct match *match = t->match;
    uint32_t number = NONE, at = match_channel_of(t, 0);
    if (event->flags & EVENT_WILDCARD) {
        number = match_take_wildcard(t);
        if (number != NONE && at == NONE) {
            match_pool_release(&match->receives, number);
            if (match_names_no_channel(event) || t->comm == 0)
                match_lost(match, t->member); /* it took a message, but nobody knows which */
            return 1;
        }
        if (number != NONE) {
            match_receive_at(match, number)->channel = at;
            match_insert_receive(match, match_channel_at(match, at), number);
        }
    }
    if (number == NONE && at != NONE)
        number = match_find_receive(t, match_channel_at(match, at), event->request);
    if (number == NONE)
        return at == NONE && !match_may_be_wild(t);
    match_take_complete(t, match_receive_at(match, number), 1);
    match_touch(match, at);
    return 1;
}

/* End a receive that was cancelled, freed or failed, and so may not have received a message. */
static int match_take_end_receive(const struct taken *t, int taken_a_message)
{
    struct match *match = t->match;
    uint32_t number = match_take_wildcard(t);
    if (number != NONE) {
        match_pool_release(&match->receives, number);
        if (taken_a_message)
            match_lost(match, t->member);
        return 1;
    }
    uint32_t at = match_channel_of(t, 0);
    if (at == NONE)
        return !match_may_be_wild(t);
    struct channel *channel = match_channel_at(match, at);
    number = match_find_receive(t, channel, t->event->request);
    if (number == NONE)
        return 0;
    match_drop_receive(match, channel, number);
    if (taken_a_message)
        channel_mark_desynchronised(match, match_channel_at(match, at));
    match_touch(match, at);
    return 1;
}

/* ---- failed and cancelled calls ----------------------------------------- */

/* It is unknown whether a call that failed, or a part of it, sent or received a message, unless it
 * was refused for an argument. A call that names one message can only affect the channel of that
 * message, if there is one. */
static int match_take_end_failed(const struct taken *t)
{
    const struct event *event = t->event;
    enum call_class class_ = call_class_of(event->call);
    if (class_ != CALL_SEND && class_ != CALL_RECV && class_ != CALL_WAIT && class_ != CALL_POLL)
        return 1;
    if (event->call == CALL_Probe || event->call == CALL_Iprobe || event->call == CALL_Mprobe ||
        event->call == CALL_Improbe)
        return 1;
    if (event->peer == PEER_NULL || event->flags & EVENT_REFUSED)
        return 1;
    if (event->request != 0 && event->flags & EVENT_RECV)
        return match_take_end_receive(t, 1);
    int sends = event->flags & EVENT_SEND ||
                (class_ == CALL_SEND && event->call != CALL_Start && event->call != CALL_Startall);
    if (!sends && (event->call != CALL_Recv || event->flags & EVENT_WILDCARD)) {
        match_lost(t->match, t->member);
        return 1;
    }
    uint32_t at = match_channel_of(t, sends);
    if (at != NONE)
        channel_mark_desynchronised(t->match, match_channel_at(t->match, at));
    return 1;
}

/* MPI_Request_free of a receive that is under way: it may take a message unseen. Its end is not
 * known, but it is in the order of its channel; with wildcards it can be in any. */
static int match_take_end_free_receive(const struct taken *t)
{
    const struct event *event = t->event;
    if (!(event->flags & EVENT_UNTRACKED) || event->request == 0)
        return 1;
    uint32_t number = match_take_wildcard(t);
    if (number != NONE) {
        match_pool_release(&t->match->receives, number);
        match_lost(t->match, t->member);
        return 1;
    }
    uint32_t at = match_channel_of(t, 0);
    if (at == NONE)
        return !match_may_be_wild(t);
    number = match_find_receive(t, match_channel_at(t->match, at), event->request);
    if (number == NONE)
        return 0;
    match_set_receive_unknown(match_receive_at(t->match, number));
    match_touch(t->match, at);
    return 1;
}

void match_drop_end(const struct taken *t)
{
    uint32_t flags = t->event->flags, at;
    if (flags & EVENT_SEND) {
        if ((at = match_channel_of(t, 1)) != NONE) /* taken for another one already */
            channel_mark_desynchronised(t->match, match_channel_at(t->match, at));
    } else if (flags & EVENT_DONE && (at = match_channel_of(t, 0)) != NONE) {
        match_count_unmatched(t, at); /* posted before records were lost */
    }
}

/* ---- partitioned communication -------------------------------------------- */

/* Its messages match each other by the order of MPI_Psend_init and MPI_Precv_init, and no others
 * (MPI 4.0, section 4.2). Requests made so are left out, and their ends counted as unmatched. */
static void match_take_mark_request(struct match_member *member, uint32_t request)
{
    if (request != 0 && member->partitioned_count < MAXIMUM_PARTITIONED &&
        ARRAY_FIT_AT(member->partitioned, member->partitioned_capacity,
                     member->partitioned_count) == 0)
        member->partitioned[member->partitioned_count++] = request;
}

static int match_take_partitioned(const struct taken *t)
{
    const struct match_member *member = t->member;
    for (uint32_t i = 0; i < member->partitioned_count; i++) {
        if (member->partitioned[i] == t->event->request) {
            match_count_dropped(t->match, t->event);
            return 1;
        }
    }
    return 0;
}

/* ---- all records --------------------------------------------------------- */

static int match_take_end_message_record(const struct taken *t)
{
    const struct event *event = t->event;
    uint32_t flags = event->flags;
    if (flags & EVENT_PERSISTENT && match_take_partitioned(t))
        return 1;
    if (flags & EVENT_SEND) {
        if (flags & EVENT_POST)
            match_take_add_send(t);
        else if (flags & EVENT_CANCELLED)
            return match_take_undo_send(t);
    } else if (event->call == CALL_Mrecv || event->call == CALL_Imrecv) {
        return match_take_end_message(t);
    } else if (flags & EVENT_CANCELLED) {
        return match_take_end_receive(t, 0);
    } else if (flags & EVENT_DONE) {
        if (!(flags & EVENT_POST))
            return match_complete_receive(t);
        match_receive_at_once(t);
    } else if (flags & EVENT_POST) {
        match_post_receive(t);
    }
    return 1;
}

static int match_take_dispatch_record(const struct taken *t)
{
    const struct event *event = t->event;
    if (event->flags & EVENT_FAILED)
        return match_take_end_failed(t);
    if (event->flags & (EVENT_SEND | EVENT_RECV))
        return match_take_end_message_record(t);
    if (event->call == CALL_Mprobe || event->call == CALL_Improbe)
        match_probe_message(t);
    else if (event->call == CALL_Request_free)
        return match_take_end_free_receive(t);
    return 1;
}

int match_take_end(const struct taken *t)
{
    const struct event *event = t->event;
    if (event->flags & EVENT_FAILED)
        return match_take_end_receive(t, 1);
    if (event->call == CALL_Request_free)
        return match_take_end_free_receive(t);
    if (event->flags & EVENT_PERSISTENT && match_take_partitioned(t))
        return 1;
    if (event->flags & EVENT_SEND)
        return match_take_undo_send(t);
    if (event->call == CALL_Mrecv || event->call == CALL_Imrecv)
        return match_take_end_message(t);
    return event->flags & EVENT_CANCELLED ? match_take_end_receive(t, 0)
                                          : match_complete_receive(t);
}

/* Does the record concern messages? */
static int match_take_concerns(const struct event *event)
{
    const uint32_t ends = EVENT_SEND | EVENT_RECV;
    if (event->flags & ends)
        return (event->flags & (ends | EVENT_POST | EVENT_CANCELLED | EVENT_FAILED)) != EVENT_SEND;
    return event->flags & EVENT_FAILED || event->call == CALL_Mprobe ||
           event->call == CALL_Improbe || event->call == CALL_Request_free;
}

static void match_take_event(struct taken *t, const struct match_source *source,
                             struct tick_times *times)
{
    const struct event *event = t->event;
    if (event->flags & EVENT_PERSISTENT &&
        (event->call == CALL_Psend_init || event->call == CALL_Precv_init)) {
        match_take_mark_request(t->member, event->request);
        return;
    }
    if (!match_take_concerns(event))
        return;
    if (event->comm != t->slot) {
        t->slot = event->comm;
        t->fresh = 0;
        t->comm = t->slot < COMM_SLOT_OTHER ? source->comm(source->user, t->slot, &t->fresh) : 0;
    }
    t->fresh &= t->member->losses == t->losses;
    tick_times_convert(times, event->t_enter, event->t_exit);
    t->enter_ns = times->enter_ns;
    t->exit_ns = times->exit_ns;
    if (t->exit_ns < t->enter_ns)
        return;
    if (!match_take_dispatch_record(t))
        match_early_add(t);
}

/* Is the pool so full that ends should be matched at once? It is when a rank recorded much while
 * the agent had no core. */
static int match_is_crowded(const struct pool *pool)
{
    return pool->used - pool->free_count > pool->maximum / 2;
}

void match_events(struct match *match, struct match_member *member,
                  const struct match_source *source, const struct event *events, size_t count)
{
    struct ring_part *ring = match_ring_of(member, source->ring);
    if (ring == NULL) {
        match_lost(match, member);
        return;
    }
    struct taken t = {.match = match,
                      .member = member,
                      .ring = ring,
                      .losses = member->losses,
                      .slot = COMM_SLOT_NONE,
                      .ring_number = (uint16_t)source->ring};
    struct tick_times times = tick_times_begin(source->clock);
    ring->underway = (struct underway){0};
    for (size_t i = 0; i < count; i++) {
        const struct event *event = &events[i];
        if (event->kind == EVENT_CALL) {
            match_close_group(match, ring);
            ring->parts_left = event->parts;
        } else if (event->kind == EVENT_PART) {
            ring->parts_left -= ring->parts_left > 0;
        } else {
            continue;
        }
        t.event = event;
        match_take_event(&t, source, &times);
        if (ring->parts_left == 0)
            match_close_group(match, ring);
    }
    match->unsettled += count;
    if (match_is_crowded(&match->receives) && match->unsettled >= CROWDED_EVERY)
        match_settle_again(match);
}

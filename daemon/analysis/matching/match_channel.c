/* Memory of the matcher: pools of nodes, ranks, channels and the ends in them. */
#include "daemon/analysis/matching/match_state.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/key_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INITIAL_CAPACITY 64u
#define FIRST_SLOTS 1024u
#define IDLE_S 60u /* an empty channel that was not used for so long is removed */
#define CROWDED (MAXIMUM_CHANNELS / 2) /* beyond so many channels, those between nodes are, too */
#define MAXIMUM_PEERS (1u << 20)

/* ---- nodes --------------------------------------------------------------- */

#define LINE 64u

int match_pool_grow(struct pool *pool)
{
    uint32_t capacity = pool->capacity < INITIAL_CAPACITY ? INITIAL_CAPACITY : 2 * pool->capacity;
    void *nodes = aligned_alloc(LINE, (capacity * pool->each + LINE - 1) / LINE * LINE);
    if (nodes == NULL || ARRAY_RESIZE(pool->free, capacity) != 0) {
        free(nodes);
        return -ENOMEM;
    }
    if (pool->used > 0)
        memcpy(nodes, pool->nodes, pool->used * pool->each);
    free(pool->nodes);
    pool->nodes = nodes;
    pool->capacity = capacity;
    return 0;
}

/* ---- ranks --------------------------------------------------------------- */

static struct peer *match_find_peer(const struct match *match, uint32_t rank)
{
    uint32_t number = key_table_find(&match->peer_numbers, ((struct key){rank, 0}));
    return number == KEY_NONE ? NULL : &match->peers[number];
}

struct peer *match_peer(struct match *match, uint32_t rank)
{
    uint32_t number = KEY_TABLE_EXTEND(&match->peer_numbers, ((struct key){rank, 0}), MAXIMUM_PEERS,
                                       match->peers, match->peer_capacity);
    if (number == KEY_NONE)
        return NULL;
    struct peer *peer = &match->peers[number];
    if (peer->place == 0) /* it is new */
        *peer = (struct peer){.place = match->all_added ? PLACE_ELSEWHERE : PLACE_UNKNOWN,
                              .from = {NONE, NONE},
                              .to = {NONE, NONE}};
    return peer;
}

struct match_member *match_member_of(const struct match *match, uint32_t rank)
{
    const struct peer *peer = match_find_peer(match, rank);
    return peer == NULL ? NULL : peer->member;
}

/* ---- channels ------------------------------------------------------------ */

/* Slot where a channel with this name is looked for first. */
static uint32_t match_slot(const struct match *match, uint64_t comm, uint32_t source,
                           uint32_t destination, int32_t tag)
{
    return key_table_hash_of(
               (struct key){comm ^ (uint64_t)(uint32_t)tag * UINT64_C(0x9e3779b97f4a7c15),
                            (uint64_t)source << 32 | destination}) &
           match->slot_mask;
}

/* In the order in which they were made. */
static void match_link_channel(struct match *match, uint32_t number)
{
    const struct channel *channel = match_channel_at(match, number);
    struct channel_list *from = &match_find_peer(match, channel->source)->from,
                        *to = &match_find_peer(match, channel->destination)->to;
    match->links[number] = (struct channel_link){NONE, NONE};
    if (from->first == NONE)
        from->first = number;
    else
        match->links[from->last].of_source = number;
    if (to->first == NONE)
        to->first = number;
    else
        match->links[to->last].of_destination = number;
    from->last = to->last = number;
}

static uint32_t match_walk_first(const struct match *match, uint32_t rank, int to)
{
    const struct peer *peer = match_find_peer(match, rank);
    return peer == NULL ? NONE : to ? peer->to.first : peer->from.first;
}

struct channel_walk match_walk_begin(const struct match *match, uint32_t rank)
{
    return (struct channel_walk){.rank = rank, .at = match_walk_first(match, rank, 0)};
}

uint32_t match_walk_next(const struct match *match, struct channel_walk *walk)
{
    for (;;) {
        uint32_t number = walk->at;
        if (number == NONE && walk->to)
            return NONE;
        if (number == NONE) {
            walk->to = 1;
            walk->at = match_walk_first(match, walk->rank, 1);
            continue;
        }
        const struct channel_link *link = &match->links[number];
        walk->at = walk->to ? link->of_destination : link->of_source;
        /* What a rank sends to itself came as its source already. */
        if (!walk->to || match_channel_at(match, number)->source != walk->rank)
            return number;
    }
}

static void match_insert_channel(struct match *match, uint32_t number)
{
    const struct channel *channel = match_channel_at(match, number);
    uint32_t slot =
        match_slot(match, channel->comm, channel->source, channel->destination, channel->tag);
    while (match->slots[slot] != 0)
        slot = (slot + 1) & match->slot_mask;
    match->slots[slot] = number + 1;
    match->slot_used++;
}

static void match_fill_slots(struct match *match)
{
    memset(match->slots, 0, ((size_t)match->slot_mask + 1) * sizeof *match->slots);
    match->slot_used = 0;
    for (uint32_t i = 0; i < match->channels.used; i++)
        if (match_channel_at(match, i)->flags & CHANNEL_USED)
            match_insert_channel(match, i);
}

/* Enter all channels into a table of twice the slots. @return 0 or -ENOMEM */
static int match_grow_slots(struct match *match)
{
    uint32_t count = match->slots == NULL ? FIRST_SLOTS : 2 * (match->slot_mask + 1);
    if (ARRAY_RESIZE(match->slots, count) != 0)
        return -ENOMEM;
    match->slot_mask = count - 1;
    match_fill_slots(match);
    return 0;
}

static void match_add_waiting(struct match *match, uint32_t number)
{
    if (ARRAY_FIT_AT(match->waiting, match->waiting_capacity, match->waiting_count) != 0)
        return;
    match->waiting[match->waiting_count++] = number;
    match_channel_at(match, number)->flags |= CHANNEL_PENDING;
}

/* @return flags of a channel between these two, 0: no memory */
static uint32_t match_initial_flags(struct match *match, uint32_t source, uint32_t destination,
                                    int *waits)
{
    uint32_t flags = CHANNEL_USED;
    struct peer *to = match_peer(match, destination);
    uint8_t to_place = to != NULL ? to->place : 0;
    struct match_member *to_member = to != NULL ? to->member : NULL;
    struct peer *from = match_peer(match, source);
    if (from == NULL || to_place == 0)
        return 0;
    if (from->place == PLACE_GONE || to_place == PLACE_GONE)
        flags |= CHANNEL_DESYNCHRONISED;
    if (from->place == PLACE_HERE)
        flags |= CHANNEL_FROM | (from->member->lossy ? CHANNEL_SENDS_INCOMPLETE : 0);
    if (to_place == PLACE_HERE)
        flags |= CHANNEL_TO | (to_member->lossy ? CHANNEL_RECEIVES_INCOMPLETE : 0);
    if (from->place == PLACE_ELSEWHERE || to_place == PLACE_ELSEWHERE)
        flags |= CHANNEL_BETWEEN;
    *waits = from->place == PLACE_UNKNOWN || to_place == PLACE_UNKNOWN;
    return flags;
}

/* Apart from match_channel(), which finds nearly all channels without it. */
static __attribute__((noinline)) uint32_t match_make_channel(struct match *match, uint64_t comm,
                                                             uint32_t source, uint32_t destination,
                                                             int32_t tag)
{
    int waits = 0;
    uint32_t flags = match_initial_flags(match, source, destination, &waits);
    if (flags == 0 ||
        (2 * (match->slot_used + 1) > match->slot_mask && match_grow_slots(match) != 0))
        return NONE;
    uint32_t number = match_pool_allocate(&match->channels);
    if (number == NONE)
        return NONE;
    if (ARRAY_FIT_AT(match->links, match->link_capacity, number) != 0) {
        match_pool_release(&match->channels, number);
        return NONE;
    }
    *match_channel_at(match, number) = (struct channel){
        .comm = comm,
        .source = source,
        .destination = destination,
        .tag = tag,
        .flags = flags,
        .send_first = NONE,
        .send_last = NONE,
        .receive_first = NONE,
        .receive_last = NONE,
        .used_s = match->now_s,
        .receive_open = NONE,
    };
    match_insert_channel(match, number);
    match_link_channel(match, number);
    if (waits)
        match_add_waiting(match, number);
    return number;
}

/* The channel with this name, made when there is none. @return NONE: no space */
static uint32_t match_channel(struct match *match, uint64_t comm, uint32_t source,
                              uint32_t destination, int32_t tag)
{
    uint32_t slot = match_slot(match, comm, source, destination, tag);
    while (match->slots != NULL && match->slots[slot] != 0) {
        uint32_t number = match->slots[slot] - 1;
        struct channel *channel = match_channel_at(match, number);
        if (channel->comm == comm && channel->source == source &&
            channel->destination == destination && channel->tag == tag) {
            channel->used_s = match->now_s;
            return number;
        }
        slot = (slot + 1) & match->slot_mask;
    }
    return match_make_channel(match, comm, source, destination, tag);
}

uint32_t match_channel_of(const struct taken *t, int sends)
{
    const struct event *event = t->event;
    struct match *match = t->match;
    if (event->peer < 0 || (uint64_t)event->peer >= match->world || event->tag < 0 || t->comm == 0)
        return NONE;
    uint32_t own = t->member->rank, other = (uint32_t)event->peer;
    uint32_t number =
        match_channel(match, t->comm, sends ? own : other, sends ? other : own, event->tag);
    if (number == NONE) {
        match_count_dropped(match, event);
        return NONE;
    }
    struct channel *channel = match_channel_at(match, number);
    uint32_t incomplete = sends ? CHANNEL_SENDS_INCOMPLETE : CHANNEL_RECEIVES_INCOMPLETE;
    if (channel->flags & incomplete) {
        channel->flags &= ~incomplete;
        if (!t->fresh)
            channel_mark_desynchronised(match, channel);
    }
    return number;
}

void match_touch(struct match *match, uint32_t number)
{
    struct channel *channel = match_channel_at(match, number);
    if (channel->flags & CHANNEL_DIRTY)
        return;
    if (ARRAY_FIT_AT(match->dirty, match->dirty_capacity, match->dirty_count) != 0)
        return; /* touched again by the next end */
    match->dirty[match->dirty_count++] = number;
    channel->flags |= CHANNEL_DIRTY;
}

/* May a channel be forgotten? It may if it is idle, empty and, when made again, would be
 * desynchronised again, as those of a member that lost records are. Channels between nodes keep
 * their ordinals while there is memory: the two nodes would not forget them at the same moment, and
 * would number the same messages differently afterwards. */
static int match_channel_forgettable(const struct match *match, const struct channel *channel,
                                     int crowded)
{
    if (!(channel->flags & CHANNEL_USED) || channel->flags & (CHANNEL_DIRTY | CHANNEL_PENDING) ||
        channel->send_first != NONE || channel->receive_first != NONE ||
        channel->used_s + IDLE_S > match->now_s || (channel->flags & CHANNEL_BETWEEN && !crowded))
        return 0;
    if (!(channel->flags & CHANNEL_DESYNCHRONISED))
        return 1;
    const struct match_member *from = match_member_of(match, channel->source),
                              *to = match_member_of(match, channel->destination);
    return (from != NULL && from->lossy) || (to != NULL && to->lossy);
}

static void match_channel_rebuild_links(struct match *match)
{
    for (uint32_t i = 0; i < match->peer_numbers.count; i++)
        match->peers[i].from = match->peers[i].to = (struct channel_list){NONE, NONE};
    for (uint32_t i = 0; i < match->channels.used; i++)
        if (match_channel_at(match, i)->flags & CHANNEL_USED)
            match_link_channel(match, i);
}

void match_sweep(struct match *match)
{
    uint32_t forgotten = 0;
    int crowded = match->channels.used - match->channels.free_count > CROWDED;
    for (uint32_t i = 0; i < match->channels.used; i++) {
        struct channel *channel = match_channel_at(match, i);
        if (!match_channel_forgettable(match, channel, crowded))
            continue;
        channel->flags = 0;
        match_pool_release(&match->channels, i);
        forgotten++;
    }
    if (forgotten == 0)
        return;
    match_channel_rebuild_links(match);
    match_fill_slots(match);
}

/* ---- ends ---------------------------------------------------------------- */

void match_insert_send(struct match *match, struct channel *channel, uint32_t number)
{
    struct send *send = match_send_at(match, number);
    uint32_t after = channel->send_last;
    if (after != NONE && match_send_at(match, after)->enter_ns > send->enter_ns) {
        uint32_t at = channel->send_first; /* of another thread: seldom */
        after = NONE;
        while (at != NONE && match_send_at(match, at)->enter_ns <= send->enter_ns) {
            after = at;
            at = match_send_at(match, at)->next;
        }
    }
    uint32_t *link = after == NONE ? &channel->send_first : &match_send_at(match, after)->next;
    send->next = after == NONE ? channel->send_first : *link;
    if (after == channel->send_last) {
        send->next = NONE;
        channel->send_last = number;
    }
    *link = number;
}

void match_insert_receive(struct match *match, struct channel *channel, uint32_t number)
{
    struct receive *receive = match_receive_at(match, number);
    uint32_t after = channel->receive_last;
    if (after != NONE && match_is_posted_after(match_receive_at(match, after), receive)) {
        uint32_t at = channel->receive_first; /* a wildcard that was posted before others */
        after = NONE;
        while (at != NONE && match_is_posted_after(receive, match_receive_at(match, at))) {
            after = at;
            at = match_receive_at(match, at)->next;
        }
    }
    uint32_t *link =
        after == NONE ? &channel->receive_first : &match_receive_at(match, after)->next;
    receive->next = after == NONE ? channel->receive_first : *link;
    if (after == channel->receive_last) {
        receive->next = NONE;
        channel->receive_last = number;
    } else {
        channel->receive_open = NONE;
    }
    *link = number;
}

void match_unlink_send(struct match *match, struct channel *channel, uint32_t number)
{
    uint32_t before = NONE, at = channel->send_first;
    while (at != NONE && at != number) {
        before = at;
        at = match_send_at(match, at)->next;
    }
    if (at == NONE)
        return;
    uint32_t next = match_send_at(match, at)->next;
    *(before == NONE ? &channel->send_first : &match_send_at(match, before)->next) = next;
    if (channel->send_last == number)
        channel->send_last = before;
}

static void match_unlink_receive(struct match *match, struct channel *channel, uint32_t number)
{
    uint32_t before = NONE, at = channel->receive_first;
    while (at != NONE && at != number) {
        before = at;
        at = match_receive_at(match, at)->next;
    }
    if (at == NONE)
        return;
    uint32_t next = match_receive_at(match, at)->next;
    *(before == NONE ? &channel->receive_first : &match_receive_at(match, before)->next) = next;
    if (channel->receive_last == number)
        channel->receive_last = before;
    if (channel->receive_open == number)
        channel->receive_open = NONE;
}

void match_drop_send(struct match *match, struct channel *channel, uint32_t number)
{
    const int paused = match_send_at(match, number)->paused;
    match_unlink_send(match, channel, number);
    match_pool_release(&match->sends, number);
    if (!(channel->flags & CHANNEL_BETWEEN) && !paused)
        match->counts.unmatched++;
}

/* Forget a receive that is in no list. */
static void match_release_receive(struct match *match, const struct channel *channel,
                                  uint32_t number)
{
    const struct receive *receive = match_receive_at(match, number);
    uint32_t group = receive->group;
    int ended = receive->state == RECEIVE_DONE, paused = receive->paused;
    match_pool_release(&match->receives, number);
    if (!ended)
        return;
    if (!(channel->flags & CHANNEL_BETWEEN) && !paused)
        match->counts.unmatched++;
    if (group != NONE) {
        match_group_at(match, group)->joint = 1;
        match_settle_in_group(match, group);
    }
}

void match_drop_receive(struct match *match, struct channel *channel, uint32_t number)
{
    match_unlink_receive(match, channel, number);
    match_release_receive(match, channel, number);
}

void match_drop_receives(struct match *match, struct channel *channel, unsigned states)
{
    uint32_t *link = &channel->receive_first, last = NONE;
    while (*link != NONE) {
        uint32_t number = *link;
        struct receive *receive = match_receive_at(match, number);
        if (!(states & 1u << receive->state)) {
            last = number;
            link = &receive->next;
            continue;
        }
        *link = receive->next;
        match_release_receive(match, channel, number);
    }
    channel->receive_last = last;
    channel->receive_open = NONE;
}

void match_drop_all_receives(struct match *match, struct channel *channel)
{
    match_drop_receives(match, channel, ~0u);
}

void channel_mark_desynchronised(struct match *match, struct channel *channel)
{
    while (channel->send_first != NONE)
        match_drop_send(match, channel, channel->send_first);
    match_drop_receives(match, channel, 1u << RECEIVE_DONE | 1u << RECEIVE_UNKNOWN);
    channel->flags = (channel->flags & (CHANNEL_EVIDENCE - 1u)) | CHANNEL_DESYNCHRONISED;
}

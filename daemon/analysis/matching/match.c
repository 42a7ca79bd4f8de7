/* Ranks that are added, are removed and lose records; the whole matcher as bytes, and back. */
#include "daemon/analysis/matching/match.h"

#include "daemon/analysis/matching/match_state.h"
#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <stdlib.h>

/* ---- life ---------------------------------------------------------------- */

int match_create(struct match **out, uint64_t world, const struct match_sink *sink)
{
    struct match *match = calloc(1, sizeof *match);
    if (match == NULL)
        return -ENOMEM;
    match->world = world;
    match->sink = *sink;
    match->sends = (struct pool){.maximum = MAXIMUM_SENDS, .each = sizeof(struct send)};
    match->receives = (struct pool){.maximum = MAXIMUM_RECEIVES, .each = sizeof(struct receive)};
    match->groups = (struct pool){.maximum = MAXIMUM_GROUPS, .each = sizeof(struct group)};
    match->channels = (struct pool){.maximum = MAXIMUM_CHANNELS, .each = sizeof(struct channel)};
    match->early_ends = (struct pool){.maximum = MAXIMUM_EARLY, .each = sizeof(struct early)};
    *out = match;
    return 0;
}

static void match_free_member(struct match_member *member)
{
    if (member == NULL)
        return;
    free(member->rings);
    free(member->wildcards);
    free(member->partitioned);
    free(member);
}

void match_destroy(struct match *match)
{
    if (match == NULL)
        return;
    for (uint32_t i = 0; match->members != NULL && i < match->member_count; i++)
        match_free_member(match->members[i]);
    free(match->members);
    free(match->peers);
    key_table_finish(&match->peer_numbers);
    free(match->sends.nodes);
    free(match->sends.free);
    free(match->receives.nodes);
    free(match->receives.free);
    free(match->groups.nodes);
    free(match->groups.free);
    free(match->channels.nodes);
    free(match->channels.free);
    free(match->early_ends.nodes);
    free(match->early_ends.free);
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

/* ---- members ------------------------------------------------------------- */

/* Messages exchanged with a rank that is found to run on this node were kept, unless they came too
 * late. */
static void match_update_channels_of_rank(struct match *match, uint32_t rank)
{
    struct channel_walk walk = match_walk_begin(match, rank);
    for (uint32_t i; (i = match_walk_next(match, &walk)) != NONE;) {
        struct channel *channel = match_channel_at(match, i);
        if (channel->source == rank)
            channel->flags |= CHANNEL_FROM;
        if (channel->destination == rank)
            channel->flags |= CHANNEL_TO;
        if (channel->flags & CHANNEL_BETWEEN) {
            channel->flags &= ~(uint32_t)CHANNEL_BETWEEN;
            channel_mark_desynchronised(match, channel);
        }
        match_touch(match, i);
    }
}

struct match_member *match_add(struct match *match, uint64_t rank)
{
    if (rank >= match->world || rank > INT32_MAX)
        return NULL;
    if (ARRAY_FIT_AT(match->members, match->member_capacity, match->member_count) != 0)
        return NULL;
    struct match_member *member = calloc(1, sizeof *member);
    struct peer *peer = member == NULL ? NULL : match_peer(match, (uint32_t)rank);
    if (peer == NULL) {
        free(member);
        return NULL;
    }
    *member = (struct match_member){.rank = (uint32_t)rank,
                                    .index = match->member_count,
                                    .known_ns = UINT64_MAX,
                                    .early_first = NONE,
                                    .early_last = NONE};
    match->members[match->member_count++] = member;
    match->all_added = 0;
    peer->member = member;
    peer->place = PLACE_HERE;
    match_update_channels_of_rank(match, member->rank);
    return member;
}

struct match_member *match_resume(struct match *match, uint32_t rank)
{
    struct match_member *member = match_member_of(match, rank);
    if (member == NULL || !member->waits)
        return NULL;
    member->waits = 0;
    return member;
}

void match_all_added(struct match *match)
{
    match->all_added = 1;
}

static void match_drop_wildcards(struct match *match, struct match_member *member)
{
    int strict = match_member_is_strict(member);
    for (uint32_t i = member->wildcard_first; i < member->wildcard_count; i++)
        match_pool_release(&match->receives, member->wildcards[i].receive);
    member->wildcard_first = member->wildcard_count = 0;
    match->strict -= (uint32_t)(strict && !match_member_is_strict(member));
}

/* No receive of the member ends any more. An open one may have taken a message unseen; one with
 * wildcards makes the order unknown in every channel where others were posted after it. */
static void match_end_receives(struct match *match, struct channel *channel)
{
    uint32_t first = channel->receive_first;
    if (first != NONE && match_receive_is_held(match, channel, match_receive_at(match, first)))
        channel_mark_desynchronised(match, channel);
    for (uint32_t at = channel->receive_first; at != NONE; at = match_receive_at(match, at)->next)
        if (match_receive_at(match, at)->state < RECEIVE_DONE)
            match_set_receive_unknown(match_receive_at(match, at));
}

static int match_is_gone(struct match *match, uint32_t rank)
{
    const struct peer *peer = match_peer(match, rank);
    return peer == NULL || peer->place == PLACE_GONE;
}

/* End the channels of a member, from which nothing more comes. The other end may still be reported,
 * unless that member has ended, too. */
static void match_end_channels(struct match *match, const struct match_member *member)
{
    struct channel_walk walk = match_walk_begin(match, member->rank);
    for (uint32_t i; (i = match_walk_next(match, &walk)) != NONE;) {
        struct channel *channel = match_channel_at(match, i);
        if (channel->destination == member->rank)
            match_end_receives(match, channel);
        if (match_settle_channel(match, channel))
            match_touch(match, i);
        if (match_is_gone(match, channel->source) && match_is_gone(match, channel->destination)) {
            channel_mark_desynchronised(match, channel);
            match_drop_all_receives(match, channel);
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
    match_early_drop_all(match, member);
    match_end_channels(match, member);
    if (peer != NULL)
        peer->member = NULL;
    match_drop_wildcards(match, member);
    match->members[member->index] = match->members[--match->member_count];
    match->members[member->index]->index = member->index;
    match_free_member(member);
}

void match_lost(struct match *match, struct match_member *member)
{
    member->lossy = 1;
    member->losses++;
    member->doubtful = DOUBTFUL_ROUNDS;
    match_drop_wildcards(match, member);
    for (uint32_t i = member->early_first; i != NONE; i = match_early_at(match, i)->next)
        match_early_at(match, i)->fresh = 0;
    struct channel_walk walk = match_walk_begin(match, member->rank);
    for (uint32_t i; (i = match_walk_next(match, &walk)) != NONE;) {
        struct channel *channel = match_channel_at(match, i);
        channel_mark_desynchronised(match, channel);
        if (channel->destination == member->rank)
            match_drop_all_receives(match, channel);
    }
    for (uint32_t i = 0; i < member->ring_count; i++) {
        uint32_t group = member->rings[i].group;
        if (group != NONE)
            match_group_at(match, group)->joint = 1;
    }
}

uint64_t match_losses(const struct match_member *member)
{
    return member->losses;
}

/* Another ring may have held the end of a post that is seen only now among its lost records: such a
 * post would never be completed. Desynchronised channels are not matched anyway while a member has
 * several threads, and on communicators that were made after the loss no end was lost. */
static void match_drop_doubtful(struct match *match, struct match_member *member)
{
    struct channel_walk walk = match_walk_begin(match, member->rank);
    for (uint32_t i; (i = match_walk_next(match, &walk)) != NONE;) {
        struct channel *channel = match_channel_at(match, i);
        if (channel->destination != member->rank || !(channel->flags & CHANNEL_DESYNCHRONISED))
            continue;
        match_drop_receives(match, channel, 1u << RECEIVE_OPEN | 1u << RECEIVE_TAKEN);
        match_touch(match, i);
    }
    uint32_t first = member->wildcard_first, kept = first;
    int strict = match_member_is_strict(member);
    for (uint32_t i = first; i < member->wildcard_count; i++) {
        if (member->wildcards[i].fresh)
            member->wildcards[kept++] = member->wildcards[i];
        else
            match_pool_release(&match->receives, member->wildcards[i].receive);
    }
    member->wildcard_count = kept;
    match->strict -= (uint32_t)(strict && !match_member_is_strict(member));
}

void match_known_until(struct match *match, struct match_member *member, uint64_t ns)
{
    int strict = match_member_is_strict(member);
    member->known_ns = ns;
    match->strict += (uint32_t)(!strict && match_member_is_strict(member));
    if (member->early_first != NONE)
        match_early_end_round(match, member);
    if (member->doubtful > 0) {
        member->doubtful--;
        match_drop_doubtful(match, member);
    }
}

/* ---- as bytes ------------------------------------------------------------ */

/* Without the nodes that are free: at the end of a window these are most. */
static void pool_copy_state(struct state_bytes *b, struct pool *pool)
{
    STATE_ARRAY(b, pool->free, pool->free_count, pool->capacity);
    uint8_t *is_free = calloc((size_t)pool->used + 1, 1);
    if (b->reads)
        pool->nodes = calloc((size_t)pool->capacity + 1, pool->each);
    if (is_free == NULL || (pool->used > 0 && pool->nodes == NULL))
        b->code = b->code != 0 ? b->code : -ENOMEM;
    for (uint32_t i = 0; b->code == 0 && i < pool->free_count; i++)
        is_free[pool->free[i]] = 1;
    for (uint32_t i = 0; b->code == 0 && i < pool->used; i++)
        if (!is_free[i])
            state_copy_bytes(b, (char *)pool->nodes + i * pool->each, pool->each);
    free(is_free);
}

static void match_member_copy_state(struct state_bytes *b, struct match *match, uint32_t index)
{
    if (!STATE_OBJECT(b, match->members[index]))
        return;
    struct match_member *member = match->members[index];
    STATE_ARRAY(b, member->rings, member->ring_count, 0);
    STATE_ARRAY(b, member->wildcards, member->wildcard_count, member->wildcard_capacity);
    STATE_ARRAY(b, member->partitioned, member->partitioned_count, member->partitioned_capacity);
    struct peer *peer = b->reads ? match_peer(match, member->rank) : NULL;
    member->waits |= b->reads;
    if (peer != NULL)
        peer->member = member;
}

void match_copy_state(struct state_bytes *b, struct match *match)
{
    const struct match_sink sink = match->sink;
    STATE_VALUE(b, *match);
    match->sink = sink;
    pool_copy_state(b, &match->sends);
    pool_copy_state(b, &match->receives);
    pool_copy_state(b, &match->groups);
    pool_copy_state(b, &match->channels);
    pool_copy_state(b, &match->early_ends);
    STATE_ARRAY(b, match->links, match->channels.used, match->link_capacity);
    STATE_ARRAY(b, match->slots, (size_t)match->slot_mask + 1, 0);
    STATE_ARRAY(b, match->dirty, match->dirty_count, match->dirty_capacity);
    STATE_ARRAY(b, match->waiting, match->waiting_count, match->waiting_capacity);
    key_table_copy_state(b, &match->peer_numbers);
    STATE_ARRAY(b, match->peers, match->peer_numbers.count, match->peer_capacity);
    for (uint32_t i = 0; b->reads && match->peers != NULL && i < match->peer_numbers.count; i++)
        match->peers[i].member = NULL;
    STATE_ARRAY(b, match->members, match->member_count, match->member_capacity);
    for (uint32_t i = 0; match->members != NULL && i < match->member_count; i++)
        match_member_copy_state(b, match, i);
}

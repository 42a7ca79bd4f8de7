/* Receives that are open. */
#include "daemon/analysis/matching/match_state.h"

/* The oldest so far, in the order of posting. */
struct oldest {
    struct match_open *out;
    uint64_t *posts; /* when each of them was posted */
    uint32_t count, capacity;
};

static void match_open_add(struct oldest *oldest, const struct receive *receive,
                           struct match_open open)
{
    const uint64_t post_ns = receive->post_ns;
    if (receive->state != RECEIVE_OPEN)
        return;
    uint32_t at = oldest->count;
    while (at > 0 && oldest->posts[at - 1] > post_ns)
        at--;
    if (at == oldest->capacity)
        return;
    oldest->count += oldest->count < oldest->capacity;
    for (uint32_t i = oldest->count - 1; i > at; i--) {
        oldest->out[i] = oldest->out[i - 1];
        oldest->posts[i] = oldest->posts[i - 1];
    }
    oldest->out[at] = open;
    oldest->posts[at] = post_ns;
}

uint32_t match_open_receives(const struct match *match, const struct match_member *member,
                             struct match_open *out, uint32_t capacity)
{
    uint64_t posts[MATCH_MAXIMUM_OPEN];
    struct oldest oldest = {.out = out,
                            .posts = posts,
                            .capacity =
                                capacity < MATCH_MAXIMUM_OPEN ? capacity : MATCH_MAXIMUM_OPEN};
    struct channel_walk walk = match_walk_begin(match, member->rank);
    for (uint32_t i; (i = match_walk_next(match, &walk)) != NONE;) {
        const struct channel *channel = match_channel_at(match, i);
        if (channel->destination != member->rank)
            continue;
        struct match_open open = {channel->comm, (int32_t)channel->source, channel->tag};
        for (uint32_t at = channel->receive_first; at != NONE;
             at = match_receive_at(match, at)->next)
            match_open_add(&oldest, match_receive_at(match, at), open);
    }
    for (uint32_t i = member->wildcard_first; i < member->wildcard_count; i++) {
        const struct wildcard *wildcard = &member->wildcards[i];
        struct match_open open = {wildcard->comm, wildcard->source, wildcard->tag};
        match_open_add(&oldest, match_receive_at(match, wildcard->receive), open);
    }
    return oldest.count;
}

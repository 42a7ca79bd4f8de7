/* Ends whose posts have not been seen.
 *
 * A thread may complete what another one has posted, and rings are examined one after the other:
 * the record of the end can come before that of the post, in the same round or, when the post's
 * ring was examined first, one round earlier. (Not later: the post was in its ring before the end
 * was made.) Such records are kept in the order of their arrival, outside of any channel, and
 * processed again when the round is over and all rings were drained. After two rounds they are
 * dropped, and counted if they are ends of messages. Receives posted later than a post that is
 * still to come are held meanwhile, because the member's calls are not known until then: see
 * match_known_until().
 *
 * Memory: at most MAXIMUM_EARLY records of all members together; a member whose
 * end cannot be kept is treated as one that has lost records. */
#include "daemon/analysis/matching/match_state.h"
#include "holter/call.h"

#define ROUNDS 2u

static struct taken match_early_record(struct match *match, struct match_member *member,
                                       const struct early *early)
{
    return (struct taken){.match = match,
                          .member = member,
                          .event = &early->event,
                          .comm = early->comm,
                          .enter_ns = early->enter_ns,
                          .exit_ns = early->exit_ns,
                          .ring_number = early->ring,
                          .fresh = early->fresh,
                          .again = early};
}

static int match_early_ends_message(const struct event *event)
{
    return (event->flags & (EVENT_RECV | EVENT_DONE)) == (EVENT_RECV | EVENT_DONE);
}

void match_early_add(const struct taken *t)
{
    struct match_member *member = t->member;
    /* A record without a number cannot be found later. */
    int numbered = t->event->request != 0 || t->event->call == CALL_Mrecv;
    uint32_t number = numbered ? match_pool_allocate(&t->match->early_ends) : NONE;
    if (number == NONE) {
        match_drop_end(t);
        /* What it ends would stay open. Once for a round: what is posted in it is doubtful then. */
        if (numbered && (member->doubtful < DOUBTFUL_ROUNDS || !match_early_ends_message(t->event)))
            match_lost(t->match, member);
        return;
    }
    *match_early_at(t->match, number) = (struct early){
        .event = *t->event,
        .comm = t->comm,
        .enter_ns = t->enter_ns,
        .exit_ns = t->exit_ns,
        .next = NONE,
        .group = match_early_ends_message(t->event) ? match_join_group(t->match, t->ring, t->event)
                                                    : NONE,
        .ring = t->ring_number,
        .fresh = (uint8_t)(t->fresh != 0),
    };
    if (member->early_first == NONE)
        member->early_first = number;
    else
        match_early_at(t->match, member->early_last)->next = number;
    member->early_last = number;
}

static void match_early_discard_end(const struct taken *t)
{
    uint32_t group = t->again->group;
    match_drop_end(t);
    if (group == NONE)
        return;
    match_group_at(t->match, group)->joint = 1;
    match_settle_in_group(t->match, group);
}

/* Retry all records. @return whether a request was made that other records may refer to: MPI_Imrecv
 * makes one of a message that MPI_Mprobe matched */
static int match_early_retry_pending(struct match *match, struct match_member *member)
{
    int given = 0;
    uint32_t *link = &member->early_first;
    member->early_last = NONE;
    while (*link != NONE) {
        uint32_t number = *link;
        struct early *early = match_early_at(match, number);
        struct taken t = match_early_record(match, member, early);
        if (match_take_end(&t)) {
            given |= early->event.call == CALL_Imrecv;
            *link = early->next;
            match_pool_release(&match->early_ends, number);
        } else {
            member->early_last = number;
            link = &early->next;
        }
    }
    return given;
}

/* Retry, for the last time, records that have been kept for so many rounds: all posts are known
 * then. Records without a post are dropped. */
static void match_early_retry_at_end(struct match *match, struct match_member *member,
                                     uint32_t rounds)
{
    uint32_t *link = &member->early_first;
    member->early_last = NONE;
    while (*link != NONE) {
        uint32_t number = *link;
        struct early *early = match_early_at(match, number);
        if (++early->rounds < rounds) {
            member->early_last = number;
            link = &early->next;
            continue;
        }
        *link = early->next;
        struct taken t = match_early_record(match, member, early);
        t.last = 1;
        if (!match_take_end(&t))
            match_early_discard_end(&t);
        match_pool_release(&match->early_ends, number);
    }
}

void match_early_end_round(struct match *match, struct match_member *member)
{
    if (match_early_retry_pending(match, member))
        match_early_retry_pending(match, member);
    match_early_retry_at_end(match, member, ROUNDS);
}

void match_early_drop_all(struct match *match, struct match_member *member)
{
    match_early_retry_at_end(match, member, 1);
}

void match_early_end_single_threaded(struct match *match)
{
    for (uint32_t i = 0; i < match->member_count; i++) {
        struct match_member *member = match->members[i];
        if (member->early_first == NONE || member->known_ns != UINT64_MAX)
            continue;
        match_early_retry_pending(match, member);
        match_early_retry_at_end(match, member, 1);
    }
}

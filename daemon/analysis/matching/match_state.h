/* State of the matcher, shared by its parts:
 *   match.c          ranks
 *   match_channel.c  pools, channels and ends
 *   match_take.c     from records to ends of messages
 *   match_find.c     the channel and the posted end that a record names
 *   match_early.c    ends whose posts have not been seen
 *   match_order.c    the order of ends
 *   match_settle.c   from ends to messages
 *   match_open.c     open receives */
#ifndef HOLTER_DAEMON_ANALYSIS_MATCHING_MATCH_STATE_H
#define HOLTER_DAEMON_ANALYSIS_MATCHING_MATCH_STATE_H

#include "daemon/analysis/matching/match.h"
#include "daemon/analysis/tables/key_table.h"

#define NONE UINT32_MAX

/* Capacities of the pools. When one is exhausted, the channel that needs another node is dropped.
 * Pools grow on demand: these maxima are reached only when some hundred thousand messages are in
 * flight, or were recorded while the agent did not run. */
#define MAXIMUM_SENDS (1u << 19)
#define MAXIMUM_RECEIVES (1u << 19)
#define MAXIMUM_GROUPS (1u << 15)
#define MAXIMUM_CHANNELS (1u << 17)
#define MAXIMUM_EARLY (1u << 16)
#define DOUBTFUL_ROUNDS 2u /* for as many rounds ends wait for their posts: see match_early.c */

/** A pool of equal nodes, addressed by number, so that it may move when it grows. Nodes begin at
 *  cache lines, and the numbers of free ones are stored apart from them: at every drain the agent
 *  finds its memory out of the cache, because the ranks ran meanwhile. */
struct pool {
    void *nodes;    /**< owned */
    uint32_t *free; /**< owned; a stack of numbers */
    uint32_t capacity, used, free_count, maximum;
    size_t each;
};

/** A send that has no receive yet. */
struct send {
    uint32_t next;    /**< in its channel, in the order of posting */
    uint32_t span_ns; /**< of the posting call; UINT32_MAX: that or longer */
    uint64_t enter_ns;
    uint64_t bytes : 62;
    uint64_t only_sends : 1; /**< the posting call is of class send: its time is that of the send */
    uint64_t paused : 1;     /**< posted while recording was paused: not reported */
    uint32_t request;
    uint16_t ring;
    uint16_t posted; /**< low bits of the entry in ticks: distinguish the starts of a persistent
                        request */
};

enum receive_state {
    RECEIVE_OPEN,    /**< posted */
    RECEIVE_TAKEN,   /**< MPI_Mprobe matched the message: its order is known, its end is not */
    RECEIVE_DONE,    /**< completed */
    RECEIVE_UNKNOWN, /**< it received, or will receive, its message without a record */
};

/** A receive, from its posting until its message is reported. */
struct receive {
    uint32_t next;         /**< in its channel, its member's wildcards, its group */
    uint32_t request;      /**< number of the request, or of the message that MPI_Mprobe matched */
    uint64_t post_ns;      /**< entry of the posting call; once matched, of the call of the send */
    uint64_t post_exit_ns; /**< of that call; once matched, see match_send_end() */
    union {
        uint64_t enter_ns; /**< done: of the completing call; unknown: 0 */
        uint64_t
            posted; /**< open, taken: entry of the posting call in ticks, which its end names */
    };
    uint64_t exit_ns; /**< of the completing call */
    uint64_t bytes;
    uint32_t channel; /**< NONE: wildcards that have not matched */
    uint32_t group;   /**< NONE: the only message of its completing call */
    uint16_t ring;
    uint8_t state;
    uint8_t size_known : 1;
    uint8_t paused : 1; /**< ended while recording was paused: not reported */
    uint32_t order;     /**< in which it was posted, where post_ns are equal: those that one
                             MPI_Startall starts. Wraps around. */
};

/** The messages that one call completed. They are reported together, once all times are known. */
struct group {
    uint32_t first;     /**< settled receives that wait for the others */
    uint32_t count;     /**< receives that the call completed */
    uint32_t settled;   /**< receives that are matched, reported or dropped */
    uint32_t local;     /**< receives that are matched within the node */
    uint8_t closed;     /**< the call's last record was processed */
    uint8_t joint;      /**< not all sends are known here */
    uint64_t latest_ns; /**< latest of the known sends; 0: none */
};

enum channel_flag {
    CHANNEL_USED = 1,
    CHANNEL_DIRTY = 2,                /**< in match->dirty */
    CHANNEL_FROM = 4,                 /**< its source is a member */
    CHANNEL_TO = 8,                   /**< its destination is a member */
    CHANNEL_BETWEEN = 16,             /**< one end lives on another node */
    CHANNEL_SENDS_INCOMPLETE = 32,    /**< sends were missed, unless its first one is on a fresh
                                           communicator */
    CHANNEL_RECEIVES_INCOMPLETE = 64, /**< the same for receives */
    CHANNEL_DESYNCHRONISED = 128,     /**< the order of its ends is unknown */
    CHANNEL_EVIDENCE = 1 << 16,       /**< the bits from here on count consecutive pairs that are
                                           evidence of being synchronised again */
    CHANNEL_PENDING = 256, /**< in match->waiting: the place of the other end is unknown */
};

struct channel {
    uint64_t comm;
    uint32_t source, destination;
    int32_t tag;
    uint32_t flags;
    uint32_t send_first, send_last;
    uint32_t receive_first, receive_last;
    uint64_t sent, received; /**< ordinals of the first ones held, or of the next ones */
    uint32_t used_s;         /**< last use, seconds of CLOCK_MONOTONIC */
    /** A receive before which all others are completed; NONE: not known. */
    uint32_t receive_open;
};
_Static_assert(sizeof(struct channel) == 64, "a channel is one cache line");

/** The next channels of the same source, and of the same destination; NONE: no more. They are
 * stored apart from the channels because only operations on whole ranks need them. */
struct channel_link {
    uint32_t of_source, of_destination;
};

/** An open receive with wildcards waits in its member's list, in the order of posting. */
struct wildcard {
    uint64_t comm;
    int32_t source, tag; /**< PEER_ANY, TAG_ANY */
    uint32_t receive;    /**< node, of no channel */
    int fresh;           /**< its communicator was made after the last loss of records */
};

/** The record of an end whose post has not been seen: see match_early.c. */
struct early {
    struct event event;
    uint64_t comm;
    uint64_t enter_ns, exit_ns;
    uint32_t next;  /**< of its member, in the order of arrival */
    uint32_t group; /**< joined for it; NONE */
    uint16_t ring;
    uint8_t fresh;
    uint8_t rounds; /**< for which it has been kept */
};

/** A call in progress of a member of several threads. */
struct underway {
    uint64_t comm; /**< 0: nothing that posts */
    uint64_t enter_ns;
    int32_t destination, send_tag; /**< if it sends */
    int32_t source, receive_tag;   /**< if it receives; PEER_ANY, TAG_ANY */
    uint8_t sends, receives;
};

struct ring_part {
    uint32_t group;      /**< of the call whose parts are being taken; NONE */
    uint32_t parts_left; /**< PART records to come */
    struct underway underway;
};

struct match_member {
    uint32_t rank;
    uint32_t index;          /**< in match->members */
    int lossy;               /**< records were lost at some time */
    uint64_t losses;         /**< calls of match_lost() for it */
    struct ring_part *rings; /**< owned; by ring */
    uint32_t ring_count;
    struct wildcard *wildcards; /**< owned; in the order of posting */
    uint32_t wildcard_first;    /**< those before it were removed */
    uint32_t wildcard_count, wildcard_capacity;
    /** Owned; numbers of partitioned requests, which match by rules of their own. */
    uint32_t *partitioned;
    uint32_t partitioned_count, partitioned_capacity;
    uint64_t known_ns; /**< see match_known_until() */
    uint32_t early_first, early_last;
    uint32_t doubtful; /**< rounds in which posts may be seen whose ends were lost */
    int waits;         /**< for match_resume() */
};

enum place {
    PLACE_ELSEWHERE = 1,
    PLACE_UNKNOWN, /**< not known yet */
    PLACE_HERE,
    PLACE_GONE, /**< was here, and has ended */
};

/** A member, or a rank that members communicate with. */
struct peer {
    uint8_t place;
    uint64_t since_ns; /**< begin of waiting; 0: the next match_settle() */
    /** First and last channel of which it is source, destination; NONE. */
    struct channel_list {
        uint32_t first, last;
    } from, to;
    struct match_member *member;
};

struct match {
    uint64_t world;
    struct match_sink sink;
    struct match_counts counts;
    struct match_member **members; /**< owned */
    uint32_t member_count, member_capacity;
    uint32_t strict; /**< members with wildcards or several threads: order has to be checked */

    struct peer *peers; /**< owned */
    size_t peer_capacity;
    struct key_table peer_numbers; /**< by rank */

    struct pool sends, receives, groups, channels, early_ends;
    struct channel_link *links; /**< owned; by channel */
    uint32_t link_capacity;
    uint32_t *slots; /**< owned; channel + 1 by hash, 0: empty */
    uint32_t slot_mask, slot_used;
    uint32_t *dirty; /**< owned; channels to be settled */
    uint32_t dirty_count, dirty_capacity;
    uint32_t *waiting; /**< owned; channels with a peer whose place is not known */
    uint32_t waiting_count, waiting_capacity;
    uint32_t order;          /**< of the next receive */
    size_t unsettled;        /**< records taken since dirty channels were settled */
    uint64_t passed_in_vain; /**< open receives that were skipped since the last match_settle():
                                  see match_find.c */
    int all_added;           /**< a rank that is not a member lives on another node */
    uint64_t now_ns;         /**< of the last match_settle() */
    uint32_t now_s;          /**< the same in seconds: each lookup of a channel notes it */
    /** Of the match_settle() before: all records of calls that had ended by then were taken. */
    uint64_t settled_ns;
    uint64_t sweep_ns; /**< when channels were last looked through for idle ones */
};

/** A record with its decoded fields. */
struct taken {
    struct match *match;
    struct match_member *member;
    struct ring_part *ring; /**< NULL: the record was taken before, see `again` */
    const struct event *event;
    uint64_t losses; /**< of the member, when the batch began */
    uint32_t slot; /**< of the communicator; that of the record before it is not looked up again */
    int fresh;
    uint64_t comm;
    uint64_t enter_ns, exit_ns;
    uint16_t ring_number;
    const struct early *again; /**< taken before, without effect; NULL: for the first time */
    int last;                  /**< all posts are known */
};

static inline struct send *match_send_at(const struct match *match, uint32_t number)
{
    return (struct send *)match->sends.nodes + number;
}

static inline struct receive *match_receive_at(const struct match *match, uint32_t number)
{
    return (struct receive *)match->receives.nodes + number;
}

static inline struct group *match_group_at(const struct match *match, uint32_t number)
{
    return (struct group *)match->groups.nodes + number;
}

static inline struct early *match_early_at(const struct match *match, uint32_t number)
{
    return (struct early *)match->early_ends.nodes + number;
}

static inline struct channel *match_channel_at(const struct match *match, uint32_t number)
{
    return (struct channel *)match->channels.nodes + number;
}

/** Was a receive posted after another? Both of one thread, or of calls that do not overlap. */
static inline int match_is_posted_after(const struct receive *one, const struct receive *other)
{
    if (one->post_ns != other->post_ns)
        return one->post_ns > other->post_ns;
    return (int32_t)(one->order - other->order) > 0;
}

static inline void match_set_receive_unknown(struct receive *receive)
{
    receive->state = RECEIVE_UNKNOWN;
    receive->enter_ns = 0;
}

static inline int match_member_is_strict(const struct match_member *member)
{
    return member->wildcard_count > member->wildcard_first || member->known_ns != UINT64_MAX;
}

static inline uint64_t match_send_exit(const struct send *send)
{
    return send->span_ns == UINT32_MAX ? UINT64_MAX : send->enter_ns + send->span_ns;
}

/** Exit of the call that posted a send, if the call did nothing else; else its entry, so that the
 *  time of the call does not count as waiting. */
static inline uint64_t match_send_end(const struct send *send)
{
    return send->only_sends ? match_send_exit(send) : send->enter_ns;
}

/* ---- match_channel.c: stored ends and channels ----------------------------------------------- */

/** Make space for more nodes, in cache lines of their own. @return 0 or -ENOMEM */
int match_pool_grow(struct pool *pool);

/** @return number of a node whose content is not set; NONE: no space */
static inline uint32_t match_pool_allocate(struct pool *pool)
{
    if (pool->free_count > 0)
        return pool->free[--pool->free_count];
    if (pool->used == pool->maximum || (pool->used == pool->capacity && match_pool_grow(pool) != 0))
        return NONE;
    return pool->used++;
}

static inline void match_pool_release(struct pool *pool, uint32_t number)
{
    pool->free[pool->free_count++] = number;
}

struct peer *match_peer(struct match *match, uint32_t rank);
struct match_member *match_member_of(const struct match *match, uint32_t rank);

/** The channel of the message of this record, made when there is none. @return NONE: there is no
 * message, or it cannot be matched */
uint32_t match_channel_of(const struct taken *t, int sends);

/** Channels of a rank, one after the other, none twice. */
struct channel_walk {
    uint32_t rank;
    uint32_t at; /**< the next one; NONE: none */
    int to;      /**< of which it is destination; before that, source */
};

struct channel_walk match_walk_begin(const struct match *match, uint32_t rank);
/** @return number of the next one; NONE: there is none */
uint32_t match_walk_next(const struct match *match, struct channel_walk *walk);

/** Have the next match_settle() settle the channel. */
void match_touch(struct match *match, uint32_t number);

/** Insert an end in the order of posting. */
void match_insert_send(struct match *match, struct channel *channel, uint32_t number);
void match_insert_receive(struct match *match, struct channel *channel, uint32_t number);
void match_unlink_send(struct match *match, struct channel *channel, uint32_t number);
/** Drop one end. */
void match_drop_send(struct match *match, struct channel *channel, uint32_t number);
void match_drop_receive(struct match *match, struct channel *channel, uint32_t number);

/** Drop receives. @param states  bits: 1 << enum receive_state */
void match_drop_receives(struct match *match, struct channel *channel, unsigned states);
/** Drop all receives, open ones included. */
void match_drop_all_receives(struct match *match, struct channel *channel);

/** Drop the ends of a channel except open receives: their order is not known from now on. */
void channel_mark_desynchronised(struct match *match, struct channel *channel);

/** Remove channels that were not used for long. */
void match_sweep(struct match *match);

/* ---- match_find.c: the ends that a record is about ------------------------------------------ */

/** The send that this record ends. @return NONE: not there */
uint32_t match_find_send(const struct taken *t, const struct channel *channel);

/** Remove the open receive with wildcards that this record ends from its list. @return NONE: there
 * is none */
uint32_t match_take_wildcard(const struct taken *t);

/** The receive of the channel that this record ends.
 *  @param request  of it, or number of the message that MPI_Mprobe took
 *  @return NONE: not there */
uint32_t match_find_receive(const struct taken *t, struct channel *channel, uint32_t request);

/** Count the end of a message whose post is not there. */
void match_count_unmatched(const struct taken *t, uint32_t channel);

/** Count the end of a message within the node whose record is dropped. A record that only posts a
 * receive is not an end yet. */
void match_count_dropped(struct match *match, const struct event *event);

/** Is this a receive with wildcards whose status is not known? */
int match_names_no_channel(const struct event *event);

/** May a record that names no channel end a receive with wildcards? */
int match_may_be_wild(const struct taken *t);

/* ---- match_take.c: from records to ends ----------------------------------------------------- */

/** Process a record again whose post had not been seen.
 *  @return 0: it has still not been seen, and nothing has changed */
int match_take_end(const struct taken *t);

/** Drop such a record, as its post will not be seen any more. */
void match_drop_end(const struct taken *t);

/** Add a receive that this record completed to the group of its call. @return the group; NONE: it
 * needs none */
uint32_t match_join_group(struct match *match, struct ring_part *ring, const struct event *event);

/* ---- match_early.c: ends before their posts ------------------------------------------------- */

/** Store a record whose post has not been seen. */
void match_early_add(const struct taken *t);

/** End of a round: all rings of the member were read. */
void match_early_end_round(struct match *match, struct match_member *member);

/** Drop all stored records of a member, as no further post comes. */
void match_early_drop_all(struct match *match, struct match_member *member);

/** End of a round for members with one thread. */
void match_early_end_single_threaded(struct match *match);

static inline int match_early_any(const struct match *match)
{
    return match->early_ends.used > match->early_ends.free_count;
}

/* ---- match_order.c: which end comes before which -------------------------------------------- */

/** Tolerance between the times of both ends. They come from one tick clock, but are
 * converted at different moments of its life: its rate is known to 5 ppm at the start (50 ns in a
 * reading over 10 ms), and records are at most a second old. */
#define CAUSALITY_NS 20000u

#define MAXIMUM_CLUSTER 6u /**< overlapping posts whose order is searched: 6! possibilities */

/** Ends whose order among themselves is not known. */
struct cluster {
    uint32_t n; /**< on each side, at most MAXIMUM_CLUSTER */
    uint32_t sends[MAXIMUM_CLUSTER], receives[MAXIMUM_CLUSTER];
    uint8_t chosen[MAXIMUM_CLUSTER];   /**< receive of each send, while searching */
    uint8_t possible[MAXIMUM_CLUSTER]; /**< of each send; bit r: receive r, in a possible order */
};

/** Can they be the ends of one message? */
static inline int match_ends_fit(const struct send *send, const struct receive *receive)
{
    return receive->exit_ns + CAUSALITY_NS >= send->enter_ns &&
           (!receive->size_known || receive->bytes == send->bytes);
}

/** May another receive, not completed yet, turn out to come before this one? */
int match_receive_is_held(const struct match *match, const struct channel *channel,
                          const struct receive *receive);

/** May another send, not seen yet, turn out to come before this one? */
int match_send_is_held(const struct match *match, const struct channel *channel,
                       const struct send *send);

/** Number of ends, from the first of a channel on, that overlap and must be ordered together; at
 * least n. */
uint32_t match_overlapping_sends(const struct match *match, const struct channel *channel,
                                 uint32_t n);
uint32_t match_overlapping_receives(const struct match *match, const struct channel *channel,
                                    uint32_t n);

/** The first ends on both sides that come before all later ones, though their order among
 * themselves is not known. @return how many on each side; 0: not all of them are known yet */
uint32_t match_overlapping_ends(const struct match *match, const struct channel *channel);

/** Find the receives that may match each send. @param cluster  `possible` is set, and must be zero
 *  @return 0: every order is contradicted */
int match_search_orders(const struct match *match, struct cluster *cluster);

/* ---- match_settle.c: from ends to messages -------------------------------------------------- */

/** @return nonzero: the channel must be settled again, even if no end is added */
int match_settle_channel(struct match *match, struct channel *channel);

/** Count a settled receive of a group, and report the messages when it was the last one. */
void match_settle_in_group(struct match *match, uint32_t number);

#endif

/* What attribution.c (windows), attribution_pairs.c, attribution_sums.c and attribution_traffic.c
 * (what they add up to), attribution_causes.c, attribution_ranks.c, attribution_network.c and
 * attribution_mapping.c (what that says), and attribution_text.c share. */
#ifndef HOLTER_DAEMON_ANALYSIS_ATTRIBUTION_ATTRIBUTION_STATE_H
#define HOLTER_DAEMON_ANALYSIS_ATTRIBUTION_ATTRIBUTION_STATE_H

#include "daemon/analysis/attribution/attribution.h"
#include "daemon/analysis/matching/message_ranks.h"
#include "daemon/analysis/tables/key_table.h"

/** Of a rank: times in nanoseconds, and counts. */
enum rank_figure {
    /* Of messages it received: see enum message_figure. */
    RANK_NEAR_MATCHED, /**< messages within its node that were matched; these four as enum
                          pair_figure */
    RANK_NEAR_EXPECTED,
    RANK_NEAR_NETWORK,
    RANK_NEAR_JOINT,
    RANK_MATCHED,   /**< messages from other nodes that were matched; these four as enum pair_figure
                     */
    RANK_EXPECTED,  /**< what they take by the reference criterion */
    RANK_NETWORK,   /**< network time of them */
    RANK_JOINT,     /**< joint time of them */
    RANK_WAITED,    /**< late-sender time of messages it received */
    RANK_CAME_LATE, /**< late-receiver time of messages it received: they waited for it */
    /* Of messages it sent. */
    RANK_AWAITED,      /**< late-sender time of messages it sent: others waited for it */
    RANK_NETWORK_OUT,  /**< network time of matched messages to other nodes */
    RANK_EXPECTED_OUT, /**< what they take by the reference criterion */
    /* Of its calls. */
    RANK_LENGTH,     /**< length of the windows it reported */
    RANK_MPI,        /**< time in MPI calls */
    RANK_MESSAGING,  /**< of it, in calls of the classes send, recv, wait and poll */
    RANK_COLLECTIVE, /**< of it, in collectives */
    RANK_CALLS,      /**< calls without polls that found nothing: measures the work done */
    RANK_MESSAGES,   /**< sent and received: mc_p of 003, Eq. 7 */
    /* Of all messages: these are kept apart, and one window may have those of another. */
    RANK_INTER_IN,  /**< messages from other nodes, exact */
    RANK_INTER_OUT, /**< messages to other nodes, exact */
    RANK_INTER_BYTES,
    RANK_INTRA_OUT, /**< messages within its node, exact */
    RANK_INTRA_BYTES,
    RANK_FIGURES,
    RANK_OF_CALLS = RANK_INTER_IN - RANK_LENGTH, /**< figures of calls */
    RANK_TRAFFIC = RANK_FIGURES - RANK_INTER_IN  /**< those of all messages */
};

/** Of messages from one node to another. */
enum pair_figure { PAIR_MATCHED, PAIR_EXPECTED, PAIR_NETWORK, PAIR_JOINT, PAIR_FIGURES };

/** The figures RANK_TRAFFIC of a window, or of several. */
struct attribution_traffic_sums {
    struct narrow_table table;
    uint32_t uses; /**< windows that have them; 0: it is free */
};

/** The ranks of one window. */
struct attribution_ranks {
    struct narrow_table calls;                /**< figures RANK_OF_CALLS */
    struct narrow_table messages;             /**< columns MESSAGE_FIGURES */
    struct attribution_traffic_sums *traffic; /**< of those of struct attribution; NULL: none yet */
    uint32_t count;
};

/** Of one window. Whole numbers, so that the order of rows does not matter. */
struct attribution_slice {
    uint64_t number;
    struct attribution_ranks ranks;
    uint64_t (*pairs)[PAIR_FIGURES]; /**< owned; by number of the pair */
    uint32_t pair_count, pair_room;
};

/** Of many windows. */
struct attribution_sum {
    double (*ranks)[RANK_FIGURES]; /**< owned */
    uint32_t rank_room;
    double (*pairs)[PAIR_FIGURES]; /**< owned */
    uint32_t pair_room;
    uint32_t windows; /**< added */
};

struct attribution_node {
    char name[64];
    uint32_t ranks; /**< placed there */
};

/** A rank that another one exchanges many messages with. */
struct attribution_partner {
    uint32_t rank;
    uint64_t messages; /**< 0: there is none in this place */
};

/** Those of a rank, as they are looked through. */
struct attribution_partners {
    uint32_t ranks[ATTRIBUTION_PARTNERS];
    uint64_t messages[ATTRIBUTION_PARTNERS];
};

/** Where among a rank's partners the next one probably is: they come in the same order in each
 *  window. */
struct attribution_turn {
    uint8_t sends, receives;
};

/** A row of a window's pairs. */
struct attribution_traffic_row {
    uint32_t from, to;
    uint64_t each;     /**< messages in the last window, if they count */
    uint64_t messages; /**< that are not among the partners yet, those of repeats not among them */
};

/** The rows of the last window's pairs, as long as each found both its ranks among the partners of
 * the other: then messages of the same rows only add to what is there, and may be kept beside the
 * rows, which lie one after the other, until another list comes or the partners are asked for. */
struct attribution_traffic {
    struct attribution_traffic_row *rows; /**< owned */
    uint32_t count, room;                 /**< room: ATTRIBUTION_PARTNERS a rank */
    uint32_t rank_count;                  /**< of the slice that they were counted in */
    int kept;                             /**< some have messages that are not among the partners */
    uint64_t repeats; /**< windows with the same messages whose own are not among the partners */
    uint64_t figured; /**< of the last window's rows; 0: not known, or ranks were placed since */
    struct attribution_turn *turns; /**< owned; by rank */
    uint32_t turn_room;
};

/** A pair of nodes that was asked for lately. */
struct attribution_recent {
    uint32_t from, to; /**< the same: it is none */
    uint32_t number;   /**< of the pair */
};

#define ATTRIBUTION_RECENT_PAIRS 1024u /**< a power of two */
#define ATTRIBUTION_WAITING 8u         /**< windows whose ranks go into the baseline together */

struct attribution {
    struct attribution_params params;
    uint32_t *node_of; /**< owned; by rank */
    uint32_t placed;   /**< ranks in node_of */
    uint32_t place_room;
    struct attribution_node *nodes; /**< owned */
    uint32_t node_count, node_room;
    struct key_table pairs;           /**< of nodes; hi: source, lo: destination */
    struct attribution_slice *slices; /**< owned; a ring */
    uint32_t slice_first, slice_count;
    struct attribution_ranks next; /**< of the window that is being taken in */
    const struct message_ranks
        *lent; /**< whose table a window has as its messages; NULL: all have their own */
    struct attribution_ranks *reader; /**< of that window, the last one */
    struct narrow_table spare;        /**< owned, while there is one: its own */
    struct attribution_traffic_sums
        *traffic_sums; /**< owned: enough for all windows that are kept */
    struct attribution_sum
        base; /**< windows before those in the ring, without the ranks of those that wait */
    struct attribution_ranks waiting[ATTRIBUTION_WAITING]; /**< from old to new */
    uint32_t waiting_count;
    double keep; /**< share of the baseline that is left when a window goes into it */
    int disturbed;
    uint64_t disturbed_since;
    struct attribution_partners *partners; /**< owned; by rank */
    uint32_t partner_room;
    struct attribution_traffic traffic;
    uint32_t rank_count; /**< one above the highest seen */
    struct attribution_recent recent[ATTRIBUTION_RECENT_PAIRS];
};

/** Node of a rank; ATTRIBUTION_NO_NODE when not placed. */
static inline uint32_t attribution_node_of(const struct attribution *a, uint32_t rank)
{
    return rank < a->placed ? a->node_of[rank] : ATTRIBUTION_NO_NODE;
}

static inline const struct attribution_slice *attribution_slice_at(const struct attribution *a,
                                                                   uint32_t i)
{
    return &a->slices[(a->slice_first + i) % a->params.windows];
}

/** Where a figure of messages lies in their table: there are others between. */
static inline uint32_t attribution_message(enum rank_figure f)
{
    const uint32_t others = f < RANK_AWAITED ? 0 : 2;
    return (uint32_t)f + others;
}

_Static_assert((int)RANK_NEAR_MATCHED == (int)MESSAGES_NEAR &&
                   (int)RANK_NEAR_EXPECTED == (int)MESSAGES_NEAR_EXPECTED &&
                   (int)RANK_NEAR_NETWORK == (int)MESSAGES_NEAR_NETWORK &&
                   (int)RANK_NEAR_JOINT == (int)MESSAGES_NEAR_JOINT &&
                   (int)RANK_MATCHED == (int)MESSAGES_FAR &&
                   (int)RANK_EXPECTED == (int)MESSAGES_FAR_EXPECTED &&
                   (int)RANK_NETWORK == (int)MESSAGES_FAR_NETWORK &&
                   (int)RANK_JOINT == (int)MESSAGES_FAR_JOINT &&
                   (int)RANK_WAITED == (int)MESSAGES_WAITED &&
                   (int)RANK_CAME_LATE == (int)MESSAGES_CAME_LATE &&
                   RANK_AWAITED + 2 == (int)MESSAGES_AWAITED &&
                   RANK_NETWORK_OUT + 2 == (int)MESSAGES_NETWORK_OUT &&
                   RANK_EXPECTED_OUT + 2 == (int)MESSAGES_EXPECTED_OUT,
               "figures of messages are in the order of their table");

/** Figure of a rank below slice->ranks.count. */
static inline uint64_t attribution_figure(const struct attribution_ranks *ranks, uint32_t rank,
                                          enum rank_figure f)
{
    if (f < RANK_LENGTH)
        return narrow_table_at(&ranks->messages, MESSAGE_FIGURES, rank, attribution_message(f));
    if (f < RANK_INTER_IN)
        return narrow_table_at(&ranks->calls, RANK_OF_CALLS, rank, f - RANK_LENGTH);
    return ranks->traffic == NULL
               ? 0
               : narrow_table_at(&ranks->traffic->table, RANK_TRAFFIC, rank, f - RANK_INTER_IN);
}

/** Make room for so many ranks and pairs, and add a slice. @return 0 or -ENOMEM */
int attribution_sum_room(struct attribution_sum *sum, uint32_t ranks, uint32_t pairs);
int attribution_sum_add(struct attribution_sum *sum, const struct attribution_slice *slice);
void attribution_sum_finish(struct attribution_sum *sum);

/** Ranks are of no use any more. */
void attribution_ranks_release(struct attribution_ranks *ranks);

/** The oldest window leaves a full ring, into the baseline unless the job was disturbed in it. Its
 * pairs do at once, its ranks wait for those of others: the sums of all ranks are then read but
 * once.
 *  @return 0 or -ENOMEM: nothing has changed */
int attribution_retire(struct attribution *a);

/** Put ranks that wait into the baseline: before it is read. */
void attribution_base_settle(struct attribution *a);

/** Add the matched messages of a window between nodes to their pairs. The slice has room for the
 * pairs there are.
 *  @return 0 or -ENOMEM */
int attribution_pairs_add(struct attribution *a, struct attribution_slice *slice,
                          const struct attribution_window *window);

/** Make room for so many ranks. @return 0 or -ENOMEM */
int attribution_traffic_room(struct attribution *a, uint32_t ranks);

/** Add the messages of a window's pairs. There is room for the slice's ranks. Where the pairs are
 * those of the window before, so are the figures.
 *  @return 0 or -ENOMEM */
int attribution_traffic_add(struct attribution *a, struct attribution_slice *slice,
                            const struct attribution_window *window);

/** Put messages that are kept beside rows among the partners: before these are read. */
void attribution_traffic_settle(struct attribution *a);

void attribution_traffic_finish(struct attribution_traffic *traffic);

static inline struct attribution_partner attribution_partner_of(const struct attribution *a,
                                                                uint32_t rank, uint32_t place)
{
    const struct attribution_partners *partners = &a->partners[rank];
    return (struct attribution_partner){partners->ranks[place], partners->messages[place]};
}

/** Name of a node, never NULL. */
const char *attribution_node_name(const struct attribution *a, uint32_t node);

/** Share of its messages that the ranks could have within their nodes, if those who exchange most
 *  sat together: clusters of the nodes' sizes, grown greedily along the heaviest partners.
 *  @param share  set to it; NaN without messages
 *  @param given  set to the share that the mapping in force has of the same messages
 *  @return 0 or -ENOMEM */
int attribution_reachable(const struct attribution *a, double *share, double *given);

/** What a result is made from, one for each cause found. */
struct attribution_finding {
    enum attribution_cause_kind kind;
    double delay;
    uint32_t ranks[ATTRIBUTION_RANKS];
    uint32_t rank_count;
    uint32_t nodes[ATTRIBUTION_NODES];
    uint32_t node_count;
    double ratio;         /**< of what grew to what it was before */
    double others;        /**< the same ratio of those it does not concern */
    double first, second; /**< numbers of the kind's text; network: first is ns a message */
    int between;    /**< network: the link between nodes[0] and nodes[1], not all of nodes[0] */
    int by_network; /**< seen by network time, not by time outside of MPI */
    int baseline;   /**< compared with what was before */
};

/** Text and advice of a finding. */
void attribution_describe(const struct attribution *a, const struct attribution_finding *finding,
                          char *text, size_t room);
void attribution_advise(const struct attribution *a, const struct attribution_finding *finding,
                        char *text, size_t room);

#endif

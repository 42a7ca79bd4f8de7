/* The state of the attribution, shared by attribution.c (windows), attribution_pairs.c,
 * attribution_partners.c and attribution_sums.c (what they add up to), by the files that find
 * causes in it (attribution_view.h), and by attribution_text.c. */
#ifndef HOLTER_DAEMON_ANALYSIS_ATTRIBUTION_ATTRIBUTION_STATE_H
#define HOLTER_DAEMON_ANALYSIS_ATTRIBUTION_ATTRIBUTION_STATE_H

#include "daemon/analysis/attribution/attribution.h"
#include "daemon/analysis/tables/key_table.h"

#include <stdbool.h>

/** Of a rank: times in nanoseconds, and counts. */
enum rank_figure {
    /* Of matched messages: those of enum message_figure, in its order. */
    RANK_NEAR_MATCHED = MESSAGES_NEAR, /**< received from ranks of its node */
    RANK_NEAR_EXPECTED = MESSAGES_NEAR_EXPECTED,
    RANK_NEAR_NETWORK = MESSAGES_NEAR_NETWORK,
    RANK_NEAR_JOINT = MESSAGES_NEAR_JOINT,
    RANK_MATCHED = MESSAGES_FAR, /**< received from other nodes */
    RANK_EXPECTED = MESSAGES_FAR_EXPECTED,
    RANK_NETWORK = MESSAGES_FAR_NETWORK,
    RANK_JOINT = MESSAGES_FAR_JOINT,
    RANK_WAITED = MESSAGES_WAITED,
    RANK_CAME_LATE = MESSAGES_CAME_LATE, /**< messages that it received waited for it */
    RANK_AWAITED = MESSAGES_AWAITED,     /**< receivers of its messages waited for it */
    RANK_NETWORK_OUT = MESSAGES_NETWORK_OUT,
    RANK_EXPECTED_OUT = MESSAGES_EXPECTED_OUT,
    /* Of its calls. */
    RANK_LENGTH = MESSAGE_FIGURES, /**< length of the windows it reported, without the time before
                                        it initialised MPI and after it ended */
    RANK_MPI,                      /**< time in MPI calls */
    RANK_MESSAGING,                /**< of it, in calls of the classes send, recv, wait and poll */
    RANK_LONGEST_MPI, /**< of nodes: time in MPI, if all were in it as long as the longest one */
    RANK_COLLECTIVE,  /**< of it, in collectives and one-sided calls */
    RANK_IO,          /**< of it, in MPI-IO */
    RANK_CALLS,       /**< calls without polls that found nothing: measures the work done */
    RANK_MESSAGES,    /**< sent and received: mc_p of PCLVis, Eq. 7 */
    /* Of all messages, matched or not. */
    RANK_INTER_IN,  /**< messages from other nodes */
    RANK_INTER_OUT, /**< messages to other nodes */
    RANK_INTER_BYTES,
    RANK_INTRA_OUT, /**< messages within its node */
    RANK_INTRA_BYTES,
    /* Of its process, in windows of which that is known. */
    RANK_KNOWN, /**< length of these, as they were measured */
    RANK_CPU,
    RANK_QUEUED,   /**< without a core, though it could run, by the clock of the kernel */
    RANK_RUNNABLE, /**< on a core or waiting for one, by samples */
    RANK_STOLEN,   /**< while its core was taken away by the host of a virtual machine */
    RANK_STOPPED,
    RANK_BLOCKED, /**< in uninterruptible sleep, in MPI-IO or elsewhere */
    RANK_FAULTS,  /**< major page faults */
    RANK_CLOCKED, /**< of the length, that in which the clock of its core is known */
    RANK_CLOCK,   /**< cycles of its core in that time, in thousands */
    RANK_FIGURES
};

/** Of matched messages from one node to another. */
enum pair_figure { PAIR_MATCHED, PAIR_EXPECTED, PAIR_NETWORK, PAIR_JOINT, PAIR_FIGURES };

/** Figures of one window. Whole numbers, so that the order of rows does not matter. */
struct attribution_slice {
    uint64_t number;                 /**< of the window */
    uint64_t (*ranks)[RANK_FIGURES]; /**< owned; by rank */
    uint32_t rank_count, rank_capacity;
    uint64_t (*pairs)[PAIR_FIGURES]; /**< owned; by number of the pair of nodes */
    uint32_t pair_count, pair_capacity;
    bool disturbed; /**< of a disturbance that is over: it stays out of the baseline */
};

/** Figures of several windows. */
struct attribution_sum {
    double (*ranks)[RANK_FIGURES]; /**< owned */
    uint32_t rank_capacity;
    double (*pairs)[PAIR_FIGURES]; /**< owned */
    uint32_t pair_capacity;
    uint32_t windows; /**< added */
};

struct attribution_node {
    char name[65];
    uint32_t ranks; /**< placed there */
};

/** A rank that another one exchanges many messages with. */
struct attribution_partner {
    uint32_t rank;
    uint64_t messages; /**< 0: there is none in this place */
};

struct attribution {
    uint32_t windows;  /**< kept one by one */
    uint32_t *node_of; /**< owned; by rank */
    uint32_t placed;   /**< ranks in node_of */
    uint32_t place_capacity;
    struct attribution_node *nodes; /**< owned */
    uint32_t node_count, node_capacity;
    struct key_table pairs;           /**< of nodes; hi: source, lo: destination */
    struct attribution_slice *slices; /**< owned; a ring of the last windows */
    uint32_t slice_first, slice_count;
    struct attribution_slice next; /**< the window that is being added */
    struct attribution_sum base;   /**< the baseline: windows before those in the ring */
    double keep;  /**< share of the baseline that is left when a window is added to it */
    bool by_node; /**< numbers of nodes stand for ranks */
    bool disturbed;
    uint64_t disturbed_since;
    struct attribution_partner (*partners)[ATTRIBUTION_PARTNERS]; /**< owned; by rank */
    uint32_t partner_capacity;
    uint32_t rank_count; /**< one above the highest seen */
};

/** @return node of a rank; ATTRIBUTION_NO_NODE: not placed */
static inline uint32_t attribution_node_of(const struct attribution *a, uint32_t rank)
{
    return rank < a->placed ? a->node_of[rank] : ATTRIBUTION_NO_NODE;
}

/** @param i  0: the oldest window in the ring */
static inline const struct attribution_slice *attribution_slice_at(const struct attribution *a,
                                                                   uint32_t i)
{
    return &a->slices[(a->slice_first + i) % a->windows];
}

/** Reserve space for so many ranks and pairs. @return 0 or -ENOMEM */
int attribution_sum_reserve(struct attribution_sum *sum, uint32_t ranks, uint32_t pairs);

/** Add a window. @return 0 or -ENOMEM: nothing was added */
int attribution_sum_add(struct attribution_sum *sum, const struct attribution_slice *slice);

/** Add a window to sums that fade: what was there counts `keep` times. There is space for it. */
void attribution_sum_fade(struct attribution_sum *sum, double keep,
                          const struct attribution_slice *slice);

void attribution_sum_finish(struct attribution_sum *sum);

/** Add the matched messages of a window between nodes to their pairs. @return 0 or -ENOMEM */
int attribution_add_node_pairs(struct attribution *a, struct attribution_slice *slice,
                               const struct attribution_window *window);

/** Add all messages of a window to the figures of its ranks, and to their partners. There is space
 * for the partners of the slice's ranks. */
void attribution_add_traffic(struct attribution *a, struct attribution_slice *slice,
                             const struct attribution_window *window);

/** Find the share of its messages that the ranks could have within their nodes, if those who
 * exchange most were placed together: clusters of the nodes' sizes, grown greedily along the
 * heaviest partners.
 *  @param share  set to it; NaN without messages
 *  @param given  set to the share that the mapping in force has of the same messages
 *  @return 0 or -ENOMEM */
int attribution_reachable(const struct attribution *a, double *share, double *given);

/** A cause that was found. */
struct attribution_finding {
    enum attribution_cause_kind kind;
    double delay;
    uint32_t ranks[ATTRIBUTION_RANKS];
    uint32_t rank_count;
    uint32_t nodes[ATTRIBUTION_NODES];
    uint32_t node_count;
    double ratio;         /**< of the figure that grew to what it was before */
    double others;        /**< the same ratio of ranks or nodes that the cause does not concern */
    double first, second; /**< further figures of the text; network: first is ns a message */
    int all;              /**< network: the links of all nodes are slow, not that of one of them */
    int between;    /**< network: the link between nodes[0] and nodes[1], not all of nodes[0] */
    int by_network; /**< seen by network time, not by time outside of MPI */
    int baseline;   /**< compared with what was before */
};

/** Write the text, and the advice, of a finding. */
void attribution_describe(const struct attribution *a, const struct attribution_finding *finding,
                          char *text, size_t capacity);
void attribution_advise(const struct attribution *a, const struct attribution_finding *finding,
                        char *text, size_t capacity);

#endif

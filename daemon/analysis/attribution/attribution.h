/* Attribution of latency growth (PCLVis, section 6, extended by wait states as in Scalasca).
 *
 * The windows since the growth began are compared with those before: figures of each rank and each
 * pair of nodes are kept of the last windows one by one, and of earlier ones in a baseline that
 * fades slowly. A cause is looked for where delay begins, not where it shows: a rank that is held
 * up holds up its partners, and these theirs, so that after some iterations all ranks wait as long
 * as the one that is held up first. Four things begin a delay:
 *
 *   - a rank spends more time outside of MPI for the same work (late-sender, late-receiver or
 *     collective, after what its partners suffer most; slow-node when all ranks of a node do);
 *   - a rank handles more messages than the others, LB_p (PCLVis, Eq. 7-8; pattern);
 *   - messages between nodes take longer on the way (network when it is one node's link,
 *     background when it is many; A3);
 *   - more messages cross nodes than ranks would have to send across (mapping; A1).
 *
 * Each is measured in one unit: the time that it takes from the ranks it hits first, as a share of
 * the time in which the job did the same work before. Shares of causes are their parts of the sum.
 * Where there is no baseline, because it was bad from the start, ranks and nodes are compared with
 * each other instead.
 *
 * Memory is linear in ranks, in pairs of nodes and in the heaviest ATTRIBUTION_PARTNERS partners of
 * each rank. Pure. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_ATTRIBUTION_ATTRIBUTION_H
#define HOLTER_DAEMON_ANALYSIS_ATTRIBUTION_ATTRIBUTION_H

#include "daemon/analysis/latency/latency.h"
#include "daemon/analysis/sums/window_sum.h"
#include "daemon/analysis/tables/state_bytes.h"
#include "holter/wire.h"

#include <stddef.h>
#include <stdint.h>

#define ATTRIBUTION_CAUSES 8u
#define ATTRIBUTION_RANKS 32u   /**< ranks that a cause names at most */
#define ATTRIBUTION_NODES 8u    /**< nodes that a cause names at most */
#define ATTRIBUTION_PARTNERS 8u /**< partners of a rank that are kept to judge the mapping */
#define ATTRIBUTION_WINDOWS 8u  /**< kept one by one at first */
#define ATTRIBUTION_NO_NODE UINT32_MAX

struct attribution;

/** @return 0 or -ENOMEM */
int attribution_create(struct attribution **out);
void attribution_destroy(struct attribution *a);

/** Keep so many windows one by one from now on, at most 64, where these are more than before.
 *  @return 0 or -ENOMEM: as many as before */
int attribution_keep(struct attribution *a, uint32_t windows);

/** Forget all windows; ranks stay where they are.
 *  @return 0 or -ENOMEM: nothing has changed */
int attribution_restart(struct attribution **attribution);

/** Where a rank lives. Ranks without a node count as alone on a node without a name.
 *  @param node  number of the node, below 2^20
 *  @param name  for texts; copied, cut at 64 bytes
 *  @return 0, -ENOMEM or -ERANGE */
int attribution_place(struct attribution *a, uint32_t rank, uint32_t node, const char *name);

/** @return node of a rank; ATTRIBUTION_NO_NODE: not placed */
uint32_t attribution_rank_node(const struct attribution *attribution, uint32_t rank);

/** Name of a node; "a node" if it is not known. */
const char *attribution_node_name(const struct attribution *attribution, uint32_t node);

/** One window of the whole job. Rows are borrowed. Several rows for one rank or pair add up. The
 *  order of rows does not matter, but for pairs of ranks with more than ATTRIBUTION_PARTNERS
 *  partners: give those in canonical order. */
struct attribution_window {
    uint64_t number;                   /**< of the window; above that of the one before */
    uint64_t length_ns;                /**< its length */
    const struct wire_rank_row *ranks; /**< every rank that reported */
    size_t rank_count;
    /** In place of ranks, of a job that is kept by nodes: then a node is the one rank of its
     * number, in all rows, and its figures are those of its ranks in the mean. NULL: it is not. */
    const struct node_row *nodes;
    size_t node_count;
    const struct wire_pair_row *pairs; /**< all messages sent, exact; destination -1 is left out */
    size_t pair_count;
    const struct transfers *transfers; /**< matched messages; between nodes they may be a sample */
    const struct message_ranks
        *messages; /**< figures of `transfers` by rank, of all that reported; NULL: none */
    const struct wire_process_row
        *processes; /**< of ranks, as far as they are known; in any order */
    size_t process_count;
    const struct latency_scale *scale; /**< criteria in force; NULL: none yet */
};

/** Add a window. @return 0, -ENOMEM or -ERANGE (number not above the last): then nothing was added
 */
int attribution_window(struct attribution *a, const struct attribution_window *window);

/** Latency has been above normal since this window: the windows from it on, until
 *  attribution_calm(), stay out of the baseline. A second call with an earlier window moves the
 * beginning back.
 *  @param since  number of the window of the onset */
void attribution_disturbed(struct attribution *a, uint64_t since);

/** Latency is normal again. */
void attribution_calm(struct attribution *a);

enum attribution_cause_kind {
    CAUSE_NETWORK,
    CAUSE_LATE_SENDER,
    CAUSE_LATE_RECEIVER,
    CAUSE_MAPPING,
    CAUSE_PATTERN,
    CAUSE_BACKGROUND,
    CAUSE_SLOW_NODE,
    CAUSE_COLLECTIVE,
    CAUSE_COMPUTES, /**< the first of those that processes tell; in the order of lateness_sign */
    CAUSE_INTERRUPTED,
    CAUSE_STOPPED,
    CAUSE_PAGING,
    CAUSE_IO,
    CAUSE_CLOCK,
    CAUSES
};

/** "network", "late-sender", ...: the names of WIRE_CAUSE_ROW. */
const char *attribution_cause_name(enum attribution_cause_kind kind);

struct attribution_cause {
    enum attribution_cause_kind kind;
    double share; /**< of the growth, 0 to 1; all causes of a result add up to 1 */
    double
        delay; /**< time that it costs the ranks that it hits first, by the time of the same work */
    double ratio;   /**< by which factor messages, or the time outside of MPI, are longer; NaN or 0:
                       not known */
    char text[256]; /**< the figures, as a sentence */
    char advice[512];                  /**< what to do about it, as a sentence; empty: not known */
    uint32_t ranks[ATTRIBUTION_RANKS]; /**< ranks that carry it, the largest part first */
    uint32_t rank_count;
    uint32_t nodes[ATTRIBUTION_NODES]; /**< nodes that carry it, likewise */
    uint32_t node_count;
    int all_nodes; /**< network: the links of all nodes are slow, not that of one of them */
};

struct attribution_result {
    struct attribution_cause causes[ATTRIBUTION_CAUSES]; /**< largest share first */
    uint32_t cause_count; /**< 0: nothing stands out, or no windows since the onset */
    uint32_t windows;     /**< windows examined, from the onset on */
    uint32_t baseline;    /**< windows compared with; 0: ranks and nodes with each other */
};

/** Rank the causes. Looks at the windows kept one by one that are not before the onset.
 *  @param onset  number of the window in which growth began; 0: latency was high from the start
 *  @param out    set on success
 *  @return 0 or -ENOMEM */
int attribution_result(const struct attribution *a, uint64_t onset, struct attribution_result *out);

/** The window since which the ranks or nodes of a cause have been slow: where the share of their
 * time outside of MPI changes from that of the baseline to that since a window, which may be some
 *  windows off (the largest sum of deviations from the middle of both).
 *  @return its number; `since` where their figures do not show it, and of messages between nodes */
uint64_t attribution_began(const struct attribution *a, const struct attribution_cause *cause,
                           uint64_t since);

/** Why ranks are late, by what the kernel has counted for their processes since the onset and
 * before.
 *  @param ranks  that are late together
 *  @param out    set on success: causes, the largest share first, with advice on that; no causes
 *                where processes are not known, or show nothing
 *  @return 0 or -ENOMEM */
int attribution_explain(const struct attribution *a, uint64_t onset, const uint32_t *ranks,
                        size_t count, struct attribution_result *out);

/** What a rank does that is late for that cause: "computes longer", or for several "compute
 * longer".
 *  @return NULL: nothing that is known */
const char *attribution_cause_phrase(const char *name, int several);

/** See state_bytes.h. */
void attribution_copy_state(struct state_bytes *b, struct attribution **attribution);

#endif

/* From the graph of a phase to its communities: its sums, and a label of each rank.
 *
 * The weight of two ranks is messages + bytes between them; what a rank sends to itself and ranks
 * from PHASE_LABELS_RANKS on count in the sums only. A phase that is like the one before it is
 * quick: see communities.h, which says what memory that takes. */
#ifndef HOLTER_DAEMON_JOB_PHASES_PHASE_LABELS_H
#define HOLTER_DAEMON_JOB_PHASES_PHASE_LABELS_H

#include "daemon/analysis/commgram/commgram_curve.h"
#include "daemon/analysis/phases/phase_graphs.h"
#include "daemon/analysis/tables/state_bytes.h"

#define PHASE_LABELS_RANKS (1u << 20)
#define PHASE_LABELS_ABSENT CURVE_ABSENT

struct phase_labels;

/** Figures of a graph. */
struct phase_figures {
    uint64_t messages, bytes;          /**< between ranks */
    uint64_t modelled, modelled_bytes; /**< of collectives */
    uint64_t pairs;                    /**< of ranks that communicated */
    uint64_t ranks, communities;       /**< that communicated; found among them */
    double modularity;
    uint64_t folded; /**< messages whose pair is not known */
};

/** @return 0 or -ENOMEM */
int phase_labels_create(struct phase_labels **out);

/** NULL is fine. */
void phase_labels_destroy(struct phase_labels *labels);

/** @param ranks   of the job; at most PHASE_LABELS_RANKS
 *  @param graph   borrowed for the call
 *  @param out     of each rank, ascending from 0; PHASE_LABELS_ABSENT: it does not communicate
 *  @return 0, -ENOMEM, or -EINVAL: there are no ranks; figures are those of the sums then */
int phase_labels_find(struct phase_labels *labels, uint32_t ranks, const struct phase_graph *graph,
                      uint32_t *out, struct phase_figures *figures);

/** See state_bytes.h. */
void phase_labels_copy_state(struct state_bytes *b, struct phase_labels **labels);

#endif

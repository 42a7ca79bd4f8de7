/* A second run beside the one that the viewer follows, to compare both: its facts, the span of it
 * that corresponds to the visible one, and whether both have the same network. The run that is
 * followed is "before", the other one "after". */
#ifndef HOLTER_VIEWER_MODEL_OTHER_RUN_H
#define HOLTER_VIEWER_MODEL_OTHER_RUN_H

#include "daemon/analysis/alignment/alignment.h"
#include "viewer/model/range.h"

/** Zero-initialise, then set model and names. */
struct other_run {
    const struct model *model; /**< borrowed: the second run */
    const char *names[2];      /**< borrowed; of the recordings: before, after */
    struct range range;        /**< figures of the span that corresponds to the visible one */
    struct alignment alignment;
    int aligned;          /**< both had ended when they were aligned; 0: by time, for now */
    int same_network;     /**< both networks have the same vertices and links */
    uint64_t version;     /**< incremented when anything above changed */
    uint64_t networks[2]; /**< versions of the networks that were compared */
};

/** Brings everything up to the facts of both runs and the visible span.
 *  @param before  the run that is followed
 *  @param kind, first, last  span of its figures, as of range_update()
 *  @return 1 when something changed, 0, or -ENOMEM */
int other_run_update(struct other_run *other, const struct model *before, enum range_kind kind,
                     uint64_t first, uint64_t last);

/** Windows of the other run that correspond to those of the followed one. @return 0: there are none
 */
int other_run_windows(const struct other_run *other, const struct model *before, uint64_t *first,
                      uint64_t *last);

/** Messages or bytes of a pair of ranks in the other run. */
uint64_t other_run_pair(const struct other_run *other, uint32_t source, uint32_t destination,
                        enum pair_column column);

/** Figures of both runs over the visible span. */
enum other_figure {
    OTHER_SECONDS,  /**< length of the span */
    OTHER_HALF,     /**< seconds from the start of the run until half of its messages were sent */
    OTHER_MESSAGES, /**< sent in a second */
    OTHER_BYTES,    /**< likewise */
    OTHER_MPI,      /**< share of the ranks' time in MPI */
    OTHER_INTRA,    /**< relative latency of messages within a node, mean by reference */
    OTHER_INTER,    /**< likewise between nodes */
    OTHER_FIGURES,
};

/** @param kind, first, last  as of other_run_update() @param out  before, after; NaN: not known */
void other_run_figures(const struct other_run *other, const struct model *before,
                       enum range_kind kind, uint64_t first, uint64_t last,
                       double out[OTHER_FIGURES][2]);

/** "aligned by phase, 264 of 264"; "aligned by time since the start". */
char *other_run_text(const struct other_run *other, char *out, size_t capacity);

void other_run_finish(struct other_run *other);

#endif

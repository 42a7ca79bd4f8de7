/* The course of figures over a span of windows, in equal bins: messages within and between nodes,
 * load balance of ranks, transfer time by size (PCLVis, section 6, Fig. 10). All of it is added up
 * from the histories of the model: nothing is known of windows that are in none of them. */
#ifndef HOLTER_VIEWER_MODEL_COURSE_H
#define HOLTER_VIEWER_MODEL_COURSE_H

#include "viewer/model/model.h"

#define COURSE_BINS 120u /**< maximum */
#define COURSE_RANKS 5u  /**< ranks whose balance is kept one by one */
#define COURSE_SIZES 5u  /**< size classes likewise */
/** Load balance, and messages by the mean, of ranks that stand out. */
#define COURSE_OVERLOAD 1.5
#define COURSE_NOISE 0.2 /**< ordinary variation of transfer times between windows */

/** Bins of a span: bin i begins with window first + i * per. */
struct course_bins {
    uint64_t first, per;
    uint32_t count;
};

/** The bins that hold windows first to last. They begin at multiples of their length, so that
 * figures stay while the span moves. */
struct course_bins course_bins(uint64_t first, uint64_t last);

/** As many bins just before others, fewer where the job had not begun. */
struct course_bins course_before(struct course_bins bins, uint64_t oldest);

enum course_place { COURSE_WITHIN, COURSE_BETWEEN, COURSE_PLACES };

/** Messages and bytes that ranks sent, by place: within a node, and all others, which cross nodes
 * as far as it is known where their ranks run. */
struct crossing {
    double sums[COURSE_PLACES][PAIR_COLUMNS][COURSE_BINS];
    double total[COURSE_PLACES][PAIR_COLUMNS];
    double windows[COURSE_BINS]; /**< with figures; 0: nothing is known of the bin */
};

/** @param marks  by rank, 1: what it sends counts; NULL: what all ranks send */
void course_crossing(const struct model *model, struct course_bins bins, const uint8_t *marks,
                     struct crossing *out);

/** Share of what crosses nodes; NaN: there are no messages. */
double crossing_share(const struct crossing *crossing, enum pair_column column);

/** Balance of a rank in a span. */
struct balance_rank {
    uint32_t rank;
    double mean;            /**< of its load balance in bins where ranks communicated */
    double load;            /**< its messages by the mean rank's */
    int stands_out;         /**< load balance and load are COURSE_OVERLOAD at least */
    double lb[COURSE_BINS]; /**< LB_p; NaN: not known */
};

/** LB_p = |mc_p - mean| / mean absolute deviation, where mc_p is the number of messages that a rank
 * sent and received in a bin, and the mean is that of all ranks which communicated (PCLVis, Eq. 7
 * and 8). 0 where all are equal. */
struct balance {
    struct balance_rank ranks[COURSE_RANKS]; /**< largest mean first; those that stand out first */
    uint32_t count;
    uint32_t standing_out;      /**< ranks that do, also beyond these */
    double others[COURSE_BINS]; /**< largest LB_p of the marked ranks that are not among them */
    double spread;          /**< mean absolute deviation by mean, over the span; NaN: no messages */
    uint32_t communicating; /**< ranks that had messages */
};

/** @param marks  by rank, 1: it may be among those kept; NULL: all may. Means are of all ranks
 *  @param like   keep the same ranks as this one; NULL: choose
 *  @return 0 or -ENOMEM */
int course_balance(const struct model *model, struct course_bins bins, const uint8_t *marks,
                   const struct balance *like, struct balance *out);

/** Transfer times of messages of one size between nodes. */
struct size_course {
    uint16_t size_class;
    double messages;
    double ns[COURSE_BINS]; /**< geometric mean of the medians of windows; NaN: no messages */
    double mean_ns;         /**< of these, over bins */
    double variation;       /**< their standard deviation by their mean (PCLVis, section 6, A3) */
};

struct size_courses {
    struct size_course sizes[COURSE_SIZES]; /**< those with most messages, in order of size */
    uint32_t count;
    uint32_t more; /**< further size classes with messages */
};

/** @param like  keep the same classes as this one; NULL: choose @return 0 or -ENOMEM */
int course_sizes(const struct model *model, struct course_bins bins,
                 const struct size_courses *like, struct size_courses *out);

#endif

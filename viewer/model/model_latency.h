/* Latency as the daemon reports it: series of the job, of both localities and of each region over
 * the whole run, in bounded memory; the regions and their ranks; the latency of single ranks.
 * Relative latency is transfer time divided by the criterion of the message, which it normally
 * takes (PCLVis, Eq. 1 and 2). */
#ifndef HOLTER_VIEWER_MODEL_MODEL_LATENCY_H
#define HOLTER_VIEWER_MODEL_MODEL_LATENCY_H

#include "daemon/analysis/sums/history.h"

#include "holter/size_class.h"
#include "holter/wire.h"

#define LATENCY_RANKS (1u << 22) /**< maximum number of ranks */
/** Maximum of stored series; the one that was not updated for longest is dropped first. */
#define LATENCY_SERIES 4096u
#define LATENCY_POINTS 4096u                /**< maximum of points of one series */
#define LATENCY_BUDGET (UINT64_C(48) << 20) /**< bytes that all points may take together */
#define LATENCY_NONE UINT32_MAX

/** Parts of the time of messages; as in the wire's series rows. */
enum latency_part {
    LATENCY_NETWORK,
    LATENCY_LATE_SENDER, /**< beside the transfer time, not part of it */
    LATENCY_LATE_RECEIVER,
    LATENCY_JOINT,
    LATENCY_PARTS,
};

/** One window of a series, or several that were merged to save memory. */
struct latency_point {
    uint64_t first, last; /**< windows covered, both included */
    uint64_t windows;     /**< windows in it that were reported */
    uint64_t messages, delayed;
    double recent, reference; /**< means over the messages; NaN: no messages */
    double typical; /**< geometric mean by reference, which few very slow messages do not dominate;
                       NaN: no messages */
    double highest; /**< largest typical of a window in it; NaN: no messages */
    uint64_t part_ns[LATENCY_PARTS]; /**< sums */
    uint64_t error_ns;               /**< sum of the uncertainties of the clocks; 0: one clock */
    enum series_trend trend;
};

struct latency_series {
    enum series_scope scope;
    uint64_t id;                  /**< region; 0 for other scopes */
    struct latency_point *points; /**< owned; from old to new, disjoint */
    uint32_t count, capacity;
    enum series_trend trend; /**< of the newest window */
    uint64_t trend_since;    /**< window in which it began */
};

struct latency_region {
    uint64_t id;
    uint64_t ranks; /**< as reported; fewer may be listed */
    uint32_t first; /**< lowest rank in it; LATENCY_NONE: none was listed */
};

/** Figures of a rank in the history: messages; the sum of the logarithms of their relative
 * latencies by reference, scaled and shifted above 0 (see latency_mean()); and the sum of the
 * uncertainties of these latencies, scaled in the same way. */
enum latency_column { LATENCY_MESSAGES, LATENCY_LOGS, LATENCY_ERRORS, LATENCY_COLUMNS };

/** Figures of a size class of a locality in the history: messages of a window, and the logarithms
 * of their median transfer time in nanoseconds, stored as those of ranks. */
enum latency_class_column { CLASS_MESSAGES, CLASS_LOGS, CLASS_COLUMNS };

/** Number of a size class in this history. @param locality  0: both ends on one node, 1: on two */
#define LATENCY_CLASS(locality, size_class)                                                        \
    ((uint32_t)(locality)*SIZE_CLASSES + (uint32_t)(size_class))

struct latency {
    uint8_t known;                 /**< the daemon reported something */
    struct latency_series *series; /**< owned; in the order of their appearance */
    uint32_t series_count;

    struct latency_region *regions; /**< owned */
    uint32_t region_count;
    uint32_t *region_of; /**< owned; by rank: index in regions or LATENCY_NONE */
    uint32_t rank_count; /**< length of region_of */
    uint64_t ranks_together;
    uint64_t regions_version; /**< incremented when regions or members changed */
    uint8_t regions_more;     /**< more parts of the same regions follow */

    struct history ranks;   /**< LATENCY_COLUMNS figures a rank */
    struct history classes; /**< CLASS_COLUMNS figures a size class of a locality */

    struct wire_criterion_row *criteria; /**< owned; the newest */
    uint32_t criteria_count;

    uint64_t rejected, uncertain; /**< since this viewer is connected */
    uint64_t error_ns;            /**< of the newest window; WIRE_ANY: not known, 0: one clock */
    uint64_t newest;              /**< newest window reported */
    uint64_t ignored;             /**< rows outside the bounds */
};

/** @param budget  bytes for the history of single ranks */
void latency_init(struct latency *latency, size_t budget);

/** Frees what it owns; it stays usable and empty. */
void latency_clear(struct latency *latency);

/** Applies a message.
 *  @param snapshot  1: part of a current state: a window known already is not added again
 *  @return 0 or -ENOMEM */
int latency_apply(struct latency *latency, const struct wire_latencies *message, int snapshot);
int latency_apply_regions(struct latency *latency, const struct wire_regions *message);

/** A series, or NULL. */
const struct latency_series *latency_find(const struct latency *latency, enum series_scope scope,
                                          uint64_t id);

/** Index of a region by its id, or LATENCY_NONE. */
uint32_t latency_region_find(const struct latency *latency, uint64_t id);

/** Id of a rank's region; 0: none. */
uint64_t latency_region_of(const struct latency *latency, uint32_t rank);

/** Ranks of a region as "0-3,8", truncated with an ellipsis. See rank_runs_add_row(). */
void latency_region_ranks(const struct latency *latency, uint64_t id, uint64_t group,
                          uint64_t world, char *out, size_t capacity);

/** Merges the points of a series from window `first` to `last` into one point.
 *  @return 0 when there is none */
int latency_between(const struct latency_series *series, uint64_t first, uint64_t last,
                    struct latency_point *out);

/** Position of the first point that ends at or after a window. */
uint32_t latency_position(const struct latency_series *series, uint64_t window);

/** Adds a point's figures to another; windows are the union, the trend is the more severe one. */
void latency_merge(struct latency_point *to, const struct latency_point *from);

/** Mean transfer time of a point's messages, of which there is one at least; nanoseconds. */
double latency_transfer_ns(const struct latency_point *point);

/** Mean of summed uncertainties; 0: there are none. */
double latency_mean_error(double messages, double errors);

/** Geometric mean of summed relative latencies; NaN: there are none. */
double latency_mean(double messages, double logs);

#endif

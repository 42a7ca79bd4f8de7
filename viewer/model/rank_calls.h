/* Figures of every function, or code region, by rank: what the callers of a span of windows add up
 * to. */
#ifndef HOLTER_VIEWER_MODEL_RANK_CALLS_H
#define HOLTER_VIEWER_MODEL_RANK_CALLS_H

#include "viewer/model/range.h"

#define RANK_CALLS_EVENTS 64u       /**< maximum number of functions or regions */
#define RANK_CALLS_CELLS (1u << 21) /**< and of events times ranks */
#define RANK_CALLS_NONE UINT32_MAX

/** What an event is. */
enum rank_calls_by { RANK_CALLS_FUNCTION, RANK_CALLS_REGION, RANK_CALLS_BYS };

/** The figure of an event at a rank. */
enum rank_figure {
    RANK_FIGURE_TIME,  /**< in the calls, inclusive, nanoseconds */
    RANK_FIGURE_MEAN,  /**< time of one call, nanoseconds; NaN: none was made */
    RANK_FIGURE_CALLS, /**< how many */
    RANK_FIGURE_BYTES, /**< given and got */
    RANK_FIGURES,
};

/** Zero-initialised is empty. Events are in the order of their time, most first. */
struct rank_calls {
    enum rank_calls_by by;
    uint32_t count, ranks;
    uint32_t ids[RANK_CALLS_EVENTS]; /**< number of the function; index of the region */
    uint64_t totals[RANK_CALLS_EVENTS][CALLER_COLUMNS]; /**< of all ranks */
    uint64_t *cells;   /**< owned; CALLER_COLUMNS figures by event and rank */
    uint32_t left_out; /**< events that are not among these, those with least time */
    uint64_t seen;     /**< range.version that it was computed from; 0: none */
};

/** Computes the figures of a range, unless nothing changed. @return 1 changed, 0, or -ENOMEM */
int rank_calls_update(struct rank_calls *calls, const struct range *range,
                      const struct model *model, enum rank_calls_by by);
void rank_calls_finish(struct rank_calls *calls);

/** Index of an event by its id; RANK_CALLS_NONE: it is not among them. */
uint32_t rank_calls_find(const struct rank_calls *calls, uint32_t id);

/** A figure of an event at a rank; of all ranks together. NaN: there is none. */
double rank_calls_value(const struct rank_calls *calls, uint32_t event, uint32_t rank,
                        enum rank_figure figure);
double rank_calls_total(const struct rank_calls *calls, uint32_t event, enum rank_figure figure);

/** Pearson's correlation of two rows of figures. @param shown  by item; NULL: all
 *  @return -1 to 1; NaN: fewer than three items have both figures, or one does not vary */
double rank_calls_correlation(const double *a, const double *b, const uint8_t *shown,
                              uint32_t count);

#endif

/* The search for causes: sums since the onset and before it, the ranks that can be judged, and what
 * was found. Shared by attribution_causes.c, attribution_ranks.c and attribution_network.c. */
#ifndef HOLTER_DAEMON_ANALYSIS_ATTRIBUTION_ATTRIBUTION_VIEW_H
#define HOLTER_DAEMON_ANALYSIS_ATTRIBUTION_ATTRIBUTION_VIEW_H

#include "daemon/analysis/attribution/attribution_state.h"

#include <stddef.h>
#include <stdio.h>

#define MUCH 0.5 /* of the largest value: from this share on a rank or node stands out, too */

struct view {
    const struct attribution *a;
    struct attribution_sum now, base;
    int absolute;    /* there is no baseline: ranks and nodes are compared with each other */
    double progress; /* work done in a window, by what was done in one of the baseline */
    uint32_t *ranks; /* that can be judged */
    uint32_t count;
    double *late;    /* by position in ranks: time outside of MPI, excess */
    double *network; /* network time between nodes, excess */
    double *joint;   /* the same with joint time */
    double *load; /* messages, LB_p (PCLVis, Eq. 7) in excess of 0 where it is overloaded, else 0 */
    double *scratch;                /* scratch space, one for each rank */
    double *node_sum, *node_weight; /* by node */
    double level;                   /* normal network time, by criterion */
    double varying;  /* absolute: share of network time beyond that of the quietest window */
    double sampling; /* messages between nodes by those of them that were matched */
    struct attribution_finding findings[ATTRIBUTION_CAUSES];
    uint32_t found;
};

/** Begin a search: the sums of windows, the ranks that can be judged, and the progress of the job.
 *  @return 0 or -ENOMEM; view_finish() follows in any case */
int view_begin(struct view *v, const struct attribution *a, uint64_t onset);
void view_finish(struct view *v);

/** A figure of a rank since the onset, and before it, by time of work; 0 without a baseline. */
double view_now(const struct view *v, uint32_t rank, enum rank_figure f);
double view_base(const struct view *v, uint32_t rank, enum rank_figure f);

/** By how much a figure grew; 0 when it shrank. */
double view_growth(const struct view *v, uint32_t rank, enum rank_figure f);

/** Ratio of excess to what is expected; 0 where nothing is expected. */
double view_rate(double excess, double expected);

/** Quantile q of values, which are sorted. Of two values in the middle the lower one; 0 of none. */
double view_quantile(double *values, size_t count, double q);

/** Largest of values, at least 0. */
double view_largest(const double *values, uint32_t count);

/** Mean of the values above 0 that are at least `minimum`; 0 of none. */
double view_mean_above(const double *values, uint32_t count, double minimum);

/** Insert into a list of the largest values, in descending order; equal ones in the order of
 *  insertion. */
void view_insert(uint32_t *list, double *values, uint32_t *count, uint32_t capacity, uint32_t what,
                 double value);

/** A new finding. @return NULL for a delay that is none, or when there are too many */
struct attribution_finding *view_add_finding(struct view *v, enum attribution_cause_kind kind,
                                             double delay);

/** Name the ranks whose value, by position in v->ranks, is at least `minimum`, and their nodes. */
void view_name_ranks(const struct view *v, struct attribution_finding *f, const double *values,
                     double minimum);

/** Ranks that are late or overloaded (attribution_ranks.c). */
void view_find_ranks(struct view *v);

/** The network between nodes; then the mapping, and collectives that are slow for all
 *  (attribution_network.c). @return 0 or -ENOMEM */
int view_find_network(struct view *v, uint64_t onset);
int view_find_mapping(struct view *v);
void view_find_collective(struct view *v);

/** A figure of three digits, or all digits of a larger one, but no exponent. */
struct attribution_figure {
    char text[24];
};

static inline struct attribution_figure attribution_figure(double value)
{
    struct attribution_figure out;
    snprintf(out.text, sizeof(out.text), value < 999.5 ? "%.3g" : "%.0f", value);
    return out;
}

#endif

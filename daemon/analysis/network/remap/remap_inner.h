/* What the files of the search for better mappings share. */
#ifndef HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_INNER_H
#define HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_INNER_H

#include "daemon/analysis/network/remap/remap_bits.h"
#include "daemon/analysis/network/remap/remap_blocks.h"
#include "daemon/analysis/network/remap/remap_exact.h"
#include "daemon/analysis/network/remap/remap_grid.h"
#include "daemon/analysis/network/remap/remap_halves.h"
#include "daemon/analysis/network/remap/remap_links.h"
#include "daemon/analysis/network/remap/remap_search.h"
#include "daemon/analysis/network/remap/remap_unfold.h"

#define REMAP_STEP 12000000u /**< nanoseconds of work in a step */
#define REMAP_POOL 6u

enum remap_stage {
    STAGE_EXACT,
    STAGE_GRID,
    STAGE_UNFOLD,
    STAGE_STARTS,
    STAGE_ANNEAL,
    STAGE_LINKS,
    STAGE_DONE,
};

/** A mapping to begin from. */
struct remap_start {
    uint32_t *slots; /**< owned */
    double cost;
    bool tried;
};

/** One annealing. */
struct remap_run {
    double cost; /**< where it begins */
    double hot;  /**< temperatures, as shares of remap_search_scale() */
    uint64_t length, used;
    bool cold;       /**< annealed: going down what is left */
    bool part;       /**< hot, with steps barred, to get out of a good mapping */
    bool bits;       /**< likewise, by remap_bits instead of remap_search */
    uint64_t barred; /**< steps that are not made at first: bits, or as in struct remap_search */
    bool fresh;      /**< from a start that was not annealed before */
};

struct remap {
    const struct topology *topology; /* borrowed */
    enum remap_objective objective;
    bool messages;
    uint64_t seed;
    uint64_t limit; /* work to do, nanoseconds */
    uint64_t work;  /* done */

    struct remap_graph graph;
    struct remap_places places;
    struct remap_search search;
    uint32_t *movable;
    uint32_t movable_count;
    uint32_t *node;  /* of each slot, for inter-node measures */
    bool asymmetric; /* there and back are not always equally long */
    uint32_t *given; /* slot of each process */
    uint32_t *best;  /* likewise */
    uint32_t *seats; /* vertices of the best */
    double *loads;   /* of links, to measure */
    uint32_t *route; /* room for one */
    struct remap_measures given_measures;
    double best_cost;      /* of the objective */
    double best_hop_bytes; /* of max-link, and where distances are asymmetric; else 0 */
    double bound;          /* of the objective */
    bool proven;           /* the best is one of the best there are */

    enum remap_stage stage;
    uint64_t stage_begin;
    uint64_t stage_end; /* work at which the stage is over */
    uint64_t descent_end;
    bool descending; /* from a start, that goes into the pool then */
    struct remap_start pool[REMAP_POOL];
    uint32_t pool_count;
    uint32_t starts; /* tried so far, of a stage */
    uint32_t made;   /* starts by METIS */
    bool more;       /* make one more */
    uint64_t anneal_begin, anneal_end;
    uint32_t runs;  /* annealed */
    uint32_t stale; /* of these, since the best was found */
    double hot;     /* temperature to begin with that did well */
    struct remap_run run;
    struct remap_grid *grid;
    uint64_t grid_found; /* work at which its best was found */
    uint32_t *scratch;   /* slots */
    struct remap_unfold *unfold;
    struct remap_halves *halves;
    struct remap_exact *exact;
    struct remap_links *links;
    struct remap_blocks *blocks; /* NULL: there are none */
    uint64_t blocks_work;        /* done on them */
    struct remap_bits *bits;     /* NULL: distances are no sums of bits */
};

/** Measures of slots. */
void remap_measure(struct remap *remap, const uint32_t *slots, struct remap_measures *measures);

/** Keep a mapping that is better than the best so far. */
void remap_offer(struct remap *remap, const uint32_t *slots);

/** The portfolio: what to do first, and next. Adds to remap->work. */
void remap_plan_begin(struct remap *remap);
void remap_plan_step(struct remap *remap);

/** Take what is at hand: the work is done. */
void remap_plan_stop(struct remap *remap);
void remap_plan_finish(struct remap *remap);

#endif

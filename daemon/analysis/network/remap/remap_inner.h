/* The state of a search for better mappings, shared by its files. Internal to this room. */
#ifndef HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_INNER_H
#define HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_INNER_H

#include "daemon/analysis/network/remap/remap_blocks.h"
#include "daemon/analysis/network/remap/remap_exact.h"
#include "daemon/analysis/network/remap/remap_grid.h"
#include "daemon/analysis/network/remap/remap_halves.h"
#include "daemon/analysis/network/remap/remap_links.h"
#include "daemon/analysis/network/remap/remap_search.h"
#include "daemon/analysis/tables/arena.h"

#define REMAP_STEP 12000000u /**< work in one step, in units of remap.c */
#define REMAP_POOL 6u

enum remap_stage {
    STAGE_EXACT,
    STAGE_GRID,
    STAGE_STARTS,
    STAGE_ANNEAL,
    STAGE_LINKS,
    STAGE_DONE,
};

/** A mapping to start from. */
struct remap_start {
    uint32_t *slots; /**< owned */
    double cost;
    bool tried;
};

/** One annealing. */
struct remap_run {
    double cost; /**< cost at its beginning */
    double hot;  /**< temperature as a share of remap_search_scale() */
    uint64_t length, used;
    bool cold;  /**< annealing is over and the descent is under way */
    bool fresh; /**< from a start that was not annealed before */
};

struct remap {
    const struct topology *topology; /* borrowed */
    enum remap_objective objective;
    bool messages;
    uint64_t seed;
    uint64_t limit; /* work that may be done */
    uint64_t work;  /* work done so far */

    struct remap_graph graph;
    struct remap_places places;
    struct remap_search search;
    struct arena memory; /* of all arrays below, but for those of starts */
    uint32_t *movable;
    uint32_t movable_count;
    uint32_t *node;  /* of each slot, for inter-node measures */
    bool asymmetric; /* routes are not always equally long in both directions */
    uint32_t *given; /* slot of each process in the given mapping */
    uint32_t *best;  /* slot of each process in the best mapping */
    uint32_t *seats; /* vertices of the best */
    double *loads;   /* load of each link, for measuring */
    uint32_t *route; /* memory for one route */
    struct remap_measures given_measures;
    double best_cost;      /* value of the objective */
    double best_hop_bytes; /* for max-link, and where distances are asymmetric; else 0 */
    double bound;          /* lower bound of the objective */
    bool proven;           /* the best mapping is proven to be optimal */

    enum remap_stage stage;
    uint64_t stage_begin;
    uint64_t stage_end; /* work at which the stage ends */
    uint64_t descent_end;
    bool descending; /* a descent from a start is under way, whose result goes into the pool */
    struct remap_start pool[REMAP_POOL];
    uint32_t pool_count;
    uint32_t starts; /* starts tried so far in this stage */
    uint32_t made;   /* starts made by METIS */
    bool more;       /* make one more start */
    uint64_t anneal_begin, anneal_end;
    uint32_t runs;  /* annealed runs */
    uint32_t stale; /* annealed runs since the best was found */
    double hot;     /* initial temperature that has worked well */
    struct remap_run run;
    struct remap_grid *grid;
    uint64_t grid_found;  /* work at which the best of the grid was found */
    uint32_t *grid_slots; /* the best mapping of all grids */
    double grid_cost;     /* its cost; HUGE_VAL: none yet */
    uint32_t *scratch;    /* slots */
    struct remap_halves *halves;
    struct remap_exact *exact;
    struct remap_links *links;
    struct remap_blocks *blocks; /* NULL: there are none */
    uint64_t blocks_work;        /* work done on blocks */
};

/** Store a mapping as the best if it is better than the best so far. */
void remap_offer(struct remap *remap, const uint32_t *slots);

/** The portfolio: begin, and do the next piece. Adds to remap->work. */
void remap_plan_begin(struct remap *remap);
void remap_plan_step(struct remap *remap);
/** End it with the best of what is there. */
void remap_plan_stop(struct remap *remap);
void remap_plan_finish(struct remap *remap);

#endif

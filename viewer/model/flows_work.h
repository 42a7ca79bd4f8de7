/* Intermediate results of flows. Used by flows.c, flow_loads.c and flow_filter.c only. */
#ifndef HOLTER_VIEWER_MODEL_FLOWS_WORK_H
#define HOLTER_VIEWER_MODEL_FLOWS_WORK_H

#include "viewer/model/flows.h"

/** Versions of the inputs that the figures were computed from. */
struct flow_origin {
    int known;
    const struct model *model;
    uint64_t sums, network;
    uint64_t what_if; /* version; 0: the reality */
    uint32_t ranks;
};

/** Versions of the inputs that the marks were computed from. */
struct flow_marked {
    int known;
    uint64_t filter, picked;
    int kind;
    uint64_t a, b;
};

struct flow_work {
    struct flow_origin origin;
    struct flow_marked marked;
    char job[65];
    int resting; /**< the figures were dropped */

    uint64_t ranked_version; /**< of the flows that were ranked */
    int ranked;

    uint32_t *route_of_pair; /**< owned; index in flows.routes by pair, FLOWS_NONE: it has none */
    uint32_t pair_count;

    uint32_t *walk; /**< owned; capacity for the links of a route */
    uint32_t walk_capacity;
    uint8_t *link_ok, *vertex_ok; /**< owned; 1: not excluded by the filter */
};

/** The pairs that have routes: of a job by groups of ranks, which may be on several vertices, those
 *  of nodes, each under its lowest rank. */
static inline const struct model_table *flows_pair_table(const struct model *m)
{
    return m->group > 1 ? &m->node_pairs : &m->pairs;
}

/** Computes loads of links, figures of vertices and everything derived, from the routes. */
void flow_loads_compute(struct flows *flows, const struct model *model);

#endif

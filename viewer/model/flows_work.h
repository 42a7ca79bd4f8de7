/* What flows are computed from. Used by flows.c, flow_loads.c and flow_filter.c alone. */
#ifndef HOLTER_VIEWER_MODEL_FLOWS_WORK_H
#define HOLTER_VIEWER_MODEL_FLOWS_WORK_H

#include "viewer/model/flows.h"

#include "daemon/analysis/network/link_loads.h"

/** Of pairs that no route stands for. */
#define FLOWS_UNPLACED (UINT32_MAX - 1)
#define FLOWS_LOCAL (UINT32_MAX - 2)

/** Versions of what the figures were computed from. */
struct flow_origin {
    int known;
    uint64_t sums, network, suggestions[SUGGESTIONS];
    unsigned applied;
    uint32_t ranks;
};

/** And the marks. */
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
    int resting; /**< the figures were forgotten */

    uint64_t ranked_version; /**< of the flows that were ranked */
    int ranked;

    int planned;
    struct flow *all; /**< owned; all routes that pairs seen so far take */
    uint32_t all_count;
    uint32_t *slot;          /**< owned; number in flows.routes of each, FLOWS_NONE: not used now */
    uint32_t *route_of_pair; /**< owned; number in all, by pair */
    uint32_t pair_count;

    struct link_loads *sums;   /**< owned; of the topology that the ways were made for */
    struct link_load *through; /**< owned; room for what passes through vertices */
    uint32_t *walk;            /**< owned; room for the links of a route */
    uint32_t walk_room;
    uint8_t *link_ok, *vertex_ok; /**< owned; 1: passes a filter */
};

/** Make what the loads of a topology are summed up with. @return 0 or -ENOMEM */
int flow_loads_create(struct flow_work *work, const struct topology *topology);

/** Loads of links, figures of vertices and all that follows, from the routes;
 *  everything else is 0. */
void flow_loads_compute(struct flows *flows, const struct model *model);

#endif

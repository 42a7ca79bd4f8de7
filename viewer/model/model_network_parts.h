/* Messages of the network that are not complete yet. Used by the sources of model_network.h only.
 */
#ifndef HOLTER_VIEWER_MODEL_MODEL_NETWORK_PARTS_H
#define HOLTER_VIEWER_MODEL_MODEL_NETWORK_PARTS_H

#include "daemon/analysis/network/topology_parts.h"
#include "viewer/model/model_network.h"

#include <stddef.h>

#define NETWORK_RANKS (1u << 22) /**< highest number of ranks with a seat */

/** Zero-initialised is empty. Arrays are owned. */
struct network_parts {
    struct topology_parts topology;

    uint64_t window;
    struct wire_link_row *links;
    struct wire_link_route_row *routes;
    uint32_t link_count, route_count;
    int links_more;
};

/** Order of suggested routes by source, then destination, for qsort(3). */
int network_compare_reroutes(const void *left, const void *right);

/** Grows an owned array for more elements. @param array  address of the pointer */
int network_grow(void *array, uint32_t count, uint64_t more, size_t size);

/** A number of a message in 32 bits; larger ones are UINT32_MAX, which no table has. */
uint32_t network_bounded(uint64_t number);

/** Store placements by rank. @return 0 or -ENOMEM */
int network_add_seats(uint32_t **seats, uint32_t *count, const struct wire_seat_row *rows,
                      uint64_t row_count);

#endif

/* The links that pairs of vertices cross, kept from window to window: to walk a route takes many
 * times as long as to add along a list.
 *
 * Memory: 4 bytes a pair and 4 a link of each, KEPT_LINKS of these at most. Pure. */
#ifndef HOLTER_ANALYSIS_NETWORK_CONGESTION_KEPT_H
#define HOLTER_ANALYSIS_NETWORK_CONGESTION_KEPT_H

#include "daemon/analysis/network/congestion.h"

#define KEPT_LINKS ((size_t)1 << 24) /**< of all routes together; fewer than that */

/* Room for so many elements in an array on the heap, and no more: how many it takes changes seldom.
 * @param array_pointer  address of the pointer to it, which may move
 * @return 0 or -ENOMEM: nothing has changed */
int congestion_fit(void *array_pointer, size_t element, size_t *room, size_t need);

/** Zero-initialised is empty. */
struct kept_routes {
    uint32_t
        *first; /**< owned; by pair: position of its first link; as many as pairs, and one more */
    uint32_t *links; /**< owned */
    size_t first_room, room;
};

/** In place of what was kept. @param pairs  whose routes there are
 *  @return 0, -ENOMEM, or -HOLTER_ELIMIT: they have more than KEPT_LINKS; then nothing is kept */
int kept_routes_list(struct kept_routes *routes, const struct topology *topology,
                     const struct congestion_pair *pairs, size_t count);

void kept_routes_finish(struct kept_routes *routes);

/** Bytes on the heap. */
size_t kept_routes_bytes(const struct kept_routes *routes);

#endif

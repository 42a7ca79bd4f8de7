/* Which links of a network are of equal make, so that their loads can be compared. For
 * congestion.c. */
#ifndef HOLTER_ANALYSIS_NETWORK_CONGESTION_KINDS_H
#define HOLTER_ANALYSIS_NETWORK_CONGESTION_KINDS_H

#include "daemon/analysis/network/topology.h"

/** Number the kinds of links: see congestion.h.
 *  @param kinds  set: kind of each link, topology_links() of them; 0 for numbers that stand for no
 * link
 *  @param count  set: how many kinds, at least 1
 *  @return 0 or -ENOMEM */
int congestion_kinds(const struct topology *topology, uint32_t *kinds, uint32_t *count);

#endif

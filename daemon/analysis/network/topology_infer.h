/* How a Cartesian network is linked and routed, found from recorded routes or hop counts.
 *
 * Sizes are given, from coordinates or from the number of nodes of a Blue Gene/Q partition. Routes
 * in dimension order show which dimension comes before which; a leg along a dimension shows whether
 * it can be a ring, a line or all to all, and a leg half way round a ring which rule for ties can
 * hold. Hop counts show how dimensions are linked: all ways of linking them that fit every count
 * are kept. What the evidence leaves open stays as in the spec of the caller.
 *
 * Memory: at most 6561 ways of linking, 26 KiB. A route costs its length, a count 12 steps, and
 * 6561 x 12 at worst. Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_ANALYSIS_NETWORK_TOPOLOGY_INFER_H
#define HOLTER_ANALYSIS_NETWORK_TOPOLOGY_INFER_H

#include "daemon/analysis/network/topology.h"

struct topology_infer;

/** @param dimensions  1 to TOPOLOGY_DIMENSIONS
 *  @param size        of each, at least 1; at most TOPOLOGY_MAX_VERTICES nodes
 *  @return 0, -ENOMEM or -HOLTER_ERANGE */
int topology_infer_create(struct topology_infer **out, uint32_t dimensions, const uint32_t *size);

/** NULL is fine. */
void topology_infer_destroy(struct topology_infer *infer);

/** Add a complete route: coordinates of its vertices, one after the other, with source and
 * destination.
 *  @return 0, or -HOLTER_ERANGE, and nothing is added: a coordinate is out of range, or vertices
 * that follow one another differ in more or less than one dimension, so that the route has a gap */
int topology_infer_route(struct topology_infer *infer, const uint32_t *coordinates,
                         uint32_t vertices);

/** Add a hop count. @return 0, -ENOMEM or -HOLTER_ERANGE: a coordinate is out of range */
int topology_infer_hops(struct topology_infer *infer, const uint32_t *source,
                        const uint32_t *destination, uint32_t hops);

/** Set connections, steps and the rule for ties from the evidence.
 *  @param spec   of the same sizes; connections, steps and tie that the evidence leaves open are
 * kept, steps only when no connection changes: else they are those of topology_spec_order().
 * Unchanged on failure
 *  @param why    set on failure: what contradicts what
 *  @return 0 or -HOLTER_EUSAGE: no network of this kind fits, or the spec has other sizes */
int topology_infer_finish(const struct topology_infer *infer, struct topology_spec *spec, char *why,
                          size_t capacity);

/** Shape and routing of a Blue Gene/Q partition: A, B, C, D, E, nodes row-major.
 *  Of 32, 64, 128, 256, 512, 1024 and 2048 nodes as recorded routes and hop counts have it (1024: D
 * is a mesh, and where D comes in the order is not known). Of 16, 4096 and 8192 nodes it is
 * guessed: half of the smallest, and the next ones of Mira, which are full tori.
 *  @param out      set
 *  @param guessed  set to 1 when no recording confirms the shape, else 0
 *  @return 0 or -HOLTER_ERANGE: no such partition */
int topology_partition(struct topology_spec *out, uint32_t nodes, int *guessed);

#endif

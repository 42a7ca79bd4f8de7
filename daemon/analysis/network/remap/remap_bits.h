/* Annealing where the distance of any two spots is the number of bits in which their codes differ:
 * in tori of even rings and in meshes, whose distances embed in a hypercube. A ring of 2k takes k
 * bits, a ring of 4 two (its Gray code), a mesh of k takes k - 1.
 *
 * For each process and bit the search stores what the process would lose if that bit of its code
 * were inverted: the signed sum of the weights of its partners. The gain of an exchange is the sum
 * of as many additions as there are bits in which the two codes differ; executing it takes one
 * addition for each partner and bit, whatever the sizes of the dimensions.
 *
 * Weights are rounded to whole numbers; those of a process add up to at most 2^23. Memory: 4 bytes
 * for each process and bit (bits rounded up to a multiple of eight); 8 bytes an edge and direction;
 * about 40 bytes a process and 8 bytes a neighbouring spot. Pure. */
#ifndef HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_BITS_H
#define HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_BITS_H

#include "daemon/analysis/network/remap/remap_graph.h"
#include "daemon/analysis/network/remap/remap_places.h"

#define REMAP_MOST_BITS 64u

struct remap_bits;

/** Everything is borrowed until remap_bits_destroy().
 * @return 0, -ENOMEM or -HOLTER_ELIMIT: the network has no such codes, or they are too long */
int remap_bits_create(struct remap_bits **out, const struct remap_graph *graph,
                      const struct remap_places *places, const uint32_t *movable, uint32_t count,
                      uint64_t seed);

/** NULL is fine. */
void remap_bits_destroy(struct remap_bits *bits);

uint32_t remap_bits_count(const struct remap_bits *bits);

/** Start from this mapping. @return work */
uint64_t remap_bits_load(struct remap_bits *bits, const uint32_t *slots);

/** Try exchanges that bring a process one step nearer to a partner until `work` is used up.
 * Exchanges that lose are executed with probability exp(-loss / temperature).
 * @param barred  bits across which no step is made
 * @return work */
uint64_t remap_bits_run(struct remap_bits *bits, double temperature, uint64_t barred,
                        uint64_t work);

/** The cost saved since the mapping was loaded, up to rounding. */
double remap_bits_gained(const struct remap_bits *bits);

/** Slot of each process. */
const uint32_t *remap_bits_slots(const struct remap_bits *bits);

#endif

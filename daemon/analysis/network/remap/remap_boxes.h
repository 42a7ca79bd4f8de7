/* Annealing of a few boxes, all of which may exchange much with all others, in a network with one
 * place for each box.
 *
 * Each place has a code such that the distance of two places is the number of bits in which their
 * codes differ: a dimension of 2 is one bit, a mesh of m is m - 1 bits, an even ring of m is m / 2
 * bits. Each box has a sum for each bit: what it would lose by being on the
 * other side. So the gain of an exchange is the sum of the sums of two boxes. Weights are stored in
 * a matrix and all numbers have 16 bits: the working set fits the first-level cache, and 8 bits of
 * code fit one register. The rounding is good enough to find an arrangement; the caller computes
 * its exact cost.
 *
 * Memory: about 70 kB. Pure. */
#ifndef HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_BOXES_H
#define HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_BOXES_H

#include "daemon/analysis/network/topology.h"

#define REMAP_MAX_BOXES 128u

/** A dimension of the network of boxes: a mesh, or an even ring. */
struct remap_unit {
    enum topology_connection connection;
    uint32_t size;
    uint32_t stride; /**< stride of its digit in the key of a spot; used by the caller only */
};

struct remap_boxes;

/** @return 0 or -ENOMEM */
int remap_boxes_create(struct remap_boxes **out);

/** NULL is fine. */
void remap_boxes_destroy(struct remap_boxes *boxes);

/** Start with each box in the place of its own number; places are row-major in the units.
 * @param count    number of boxes: the product of the units' sizes, at most REMAP_MAX_BOXES
 * @param weights  count x count, symmetric; the diagonal is ignored
 * @return work, or 0: such a network has no codes, or the boxes exchange nothing */
uint64_t remap_boxes_begin(struct remap_boxes *boxes, const struct remap_unit *units,
                           uint32_t unit_count, uint32_t count, const double *weights,
                           uint64_t seed);

/** Try exchanges.
 * @param temperature  as a share of what a box exchanges with all others, on average
 * @return work */
uint64_t remap_boxes_run(struct remap_boxes *boxes, double temperature, uint32_t tries);

/** Place of each box. */
const uint8_t *remap_boxes_places(const struct remap_boxes *boxes);

#endif

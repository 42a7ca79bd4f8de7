/* Process correlation (PCLVis, Eq. 3): how closely two ranks communicate, over paths of the graph
 * of who exchanges messages with whom.
 *
 * R(p,q) is the sum over simple paths of length d from p to q of 1/d^2, for d up to 3, as in the
 * paper's Table 1. With A the adjacency that is, off the diagonal,
 *     R = A + A^2/4 + (A^3 - A o (deg_i + deg_j - 1))/9,
 * kept here as the integer 36 R.
 *
 * A vertex of more than `hub` partners relays no path: a partner of everybody says nothing about
 * who belongs together, and a complete graph would cost the cube of its vertices. Its own edges,
 * and paths that begin or end at it, count.
 *
 * Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_REGIONS_CORRELATION_H
#define HOLTER_DAEMON_ANALYSIS_REGIONS_CORRELATION_H

#include "daemon/analysis/tables/state_bytes.h"
#include <stdbool.h>
#include <stdint.h>

#define CORRELATION_ONE 36u /**< the integer that stands for R = 1 */

struct correlation_params {
    uint32_t max_vertices; /**< vertices are 0 to one less than this; at most 65,536 */
    uint32_t hub;          /**< partners above which a vertex relays no path; UINT32_MAX: never */
    uint64_t max_pairs;    /**< ordered pairs with R above 0 that are kept at most, 8 bytes each;
                                 at most 2^26 */
};

/** One entry of a row of R. */
struct correlate {
    uint32_t vertex;
    uint32_t weight; /**< 36 R, above 0 */
};

struct correlation;

/** A graph without edges. @return 0, -ENOMEM, or -HOLTER_ERANGE: a parameter beyond its bound, or
 * so many vertices with so large a hub that 36 R could take more than 32 bits */
int correlation_create(struct correlation **out, const struct correlation_params *params);
void correlation_destroy(struct correlation *correlation);

/** Add or remove an undirected edge. What is there already, or is not there, changes nothing, nor
 * does an edge from a vertex to itself.
 *  @return 0, -ENOMEM, or -HOLTER_ERANGE: a vertex that is not below max_vertices */
int correlation_edge(struct correlation *correlation, uint32_t a, uint32_t b, bool present);

/** Compute the rows from the edges. @return 0, -ENOMEM, or -HOLTER_ELIMIT: more than max_pairs.
 *  After an error no row may be read until an update succeeds */
int correlation_update(struct correlation *correlation);

/** @return whether an edge at the vertex, or any edge, changed since correlation_clear_changes() */
bool correlation_touched(const struct correlation *correlation, uint32_t vertex);
bool correlation_changed(const struct correlation *correlation);

/** No edge counts as changed any more. */
void correlation_clear_changes(struct correlation *correlation);

/** One more than the largest vertex that ever had an edge. */
uint32_t correlation_vertices(const struct correlation *correlation);

/** The vertices that share an edge with one, ascending. Borrowed until the next change. */
const uint32_t *correlation_partners(const struct correlation *correlation, uint32_t vertex,
                                     uint32_t *count);

/** All others with R above 0, in any order. Borrowed until the next update. */
const struct correlate *correlation_row(const struct correlation *correlation, uint32_t vertex,
                                        uint32_t *count);

/** See state_bytes.h. */
void correlation_copy_state(struct state_bytes *b, struct correlation **correlation);

#endif

/* Three dimensions of a Cartesian network in a plane: the modified central projection of 002,
 * section 4.1.
 *
 * Looking along one dimension (the depth), each stack of nodes one behind the other becomes a short
 * diagonal that points away from the middle, so that no two nodes coincide. Stacks lie on
 * concentric rectangles; a rectangle is seen as one ring for each depth. Links across and upright
 * are horizontal and vertical lines of about one unit, links along the depth lie on the diagonals.
 *
 * With both directions shown, a link is drawn where it runs along its ring: as many as there are
 * nodes, which is half of both directions together (of even sizes), and for a cube half of each.
 * With one of them, all its links are drawn, those that wrap around as open ends at both borders.
 * Links along the depth are always all drawn. (For 2^n x 2^n x 2^n nodes there are 2^(n-1) sets of
 * 2^n rings.)
 *
 * A place is what is drawn as one node: of a network with more than three dimensions all nodes that
 * differ only in the others, or those of one slice through them. A wire is what links two
 * neighbouring places; it has a half for each direction, drawn from the place that traffic leaves
 * to the middle.
 *
 * Lengths are in distances between stacks, x to the right, y down, the middle at (0, 0).
 * Pure geometry: no colours, no pixels. */
#ifndef HOLTER_VIEWER_LAYOUT_PROJECTION_H
#define HOLTER_VIEWER_LAYOUT_PROJECTION_H

#include "daemon/analysis/network/topology.h"

#include <stdint.h>

#define PROJECTION_NONE UINT32_MAX

/** Part of the distance between two stacks that a stack takes. */
#define PROJECTION_SPREAD 0.62

enum projection_axis_id {
    PROJECTION_DEPTH,   /**< along the view */
    PROJECTION_ACROSS,  /**< to the right */
    PROJECTION_UPRIGHT, /**< up: coordinate 0 is at the bottom */
    PROJECTION_AXES,
};

struct projection_axis {
    uint32_t dimension; /**< of the network; PROJECTION_NONE: there is none, its size is 1 */
    uint32_t size;
    uint8_t ring; /**< a link leads from the last to the first */
};

struct projection {
    struct projection_axis axes[PROJECTION_AXES];
    uint32_t slice[TOPOLOGY_DIMENSIONS]; /**< of dimensions that are not seen: the coordinate that
                                            is shown, or PROJECTION_NONE: all, summed */
    uint32_t places;                     /**< sizes of the axes multiplied */
};

/** A line of the picture, from where traffic leaves. */
struct projection_line {
    double x0, y0, x1, y1;
};

/** @param shown  three different dimensions of the network, PROJECTION_NONE where it has fewer
 *  @param view   which of them, 0 to 2, is looked along
 *  @param slice  coordinates, or PROJECTION_NONE, of all dimensions; NULL: all summed
 *  @return 0, or -HOLTER_EUSAGE: not a Cartesian network, or there is no such dimension or
 * coordinate */
int projection_init(struct projection *out, const struct topology *topology,
                    const uint32_t shown[3], int view, const uint32_t *slice);

/** Place of a node; PROJECTION_NONE: not a node, or not in the slice. */
uint32_t projection_place(const struct projection *p, const struct topology *topology,
                          uint32_t node);

/** Its coordinates along the axes, and the place at some. */
void projection_coordinates(const struct projection *p, uint32_t place,
                            uint32_t out[PROJECTION_AXES]);
uint32_t projection_place_at(const struct projection *p, const uint32_t at[PROJECTION_AXES]);

/** Where a place lies. */
void projection_point(const struct projection *p, uint32_t place, double *x, double *y);

/** Half of width and height of the picture, with its open ends. */
void projection_extent(const struct projection *p, double *w, double *h);

/* ---- wires
 * -------------------------------------------------------------------------------------------
 * Numbers: place * 3 + axis, the place being the end with the lower coordinate (or the last, of a
 * wire that wraps around). Half: wire * 2 + direction; direction 0 leaves that place, 1 enters it.
 */

/** One more than the highest number of a half. */
uint32_t projection_halves(const struct projection *p);

/** The half that a directed link is seen as; PROJECTION_NONE: its dimension is not seen, it is not
 * in the slice, or it links no neighbours (all-to-all). Several links share one where dimensions
 * are summed. */
uint32_t projection_half(const struct projection *p, const struct topology *topology,
                         uint32_t link);

/** Ends of a wire. @return 0 where there is none (border of a mesh): nothing is set */
int projection_wire(const struct projection *p, uint32_t wire, uint32_t *from, uint32_t *to);

/** Is it drawn, when the axes whose bits are set in `axes` are? */
int projection_shows(const struct projection *p, unsigned axes, uint32_t wire);

/** Both halves of a wire, each from its place. Of a wire that wraps around they do not meet. */
void projection_lines(const struct projection *p, uint32_t wire, struct projection_line out[2]);

/* ---- bundles
 * ----------------------------------------------------------------------------------------- What a
 * minimap draws as one edge: wires that differ only in their depth, or all of one stack. */

uint32_t projection_bundles(const struct projection *p);
uint32_t projection_bundle(const struct projection *p, uint32_t wire);

/** Its first wire, for which projection_shows() holds as for all of them; PROJECTION_NONE: it has
 * none. */
uint32_t projection_bundle_wire(const struct projection *p, uint32_t bundle);

/** The line of a bundle. @return how many lines it has: 2 where it wraps around across or upright,
 * else 1 */
int projection_bundle_lines(const struct projection *p, uint32_t bundle,
                            struct projection_line out[2]);

#endif

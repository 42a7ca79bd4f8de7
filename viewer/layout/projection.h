/* Projection of three dimensions of a Cartesian network onto a plane: the modified central
 * projection of Landge et al., section 4.1.
 *
 * Looking along one dimension (the depth), each stack of nodes in that direction becomes a short
 * diagonal that points away from the centre, so that no two nodes coincide. Stacks lie on
 * concentric rectangles; a rectangle appears as one ring for each depth. Links across and upright
 * are horizontal and vertical lines of about one unit, links along the depth lie on the diagonals.
 *
 * With both directions shown, a link is drawn only if it runs along its ring: as many links as
 * there are nodes, which is half of the links of both directions together (for even sizes), and for
 * a cube half of each. With only one direction shown, all its links are drawn, those that wrap
 * around as open ends at both borders. Links along the depth are always drawn. (For 2^n x 2^n x 2^n
 * nodes there are 2^(n-1) sets of 2^n rings.)
 *
 * A place is what is drawn as one node: in a network with more than three dimensions, all nodes
 * that differ only in the other dimensions, or those of one slice through them. A wire connects two
 * neighbouring places; it has a half for each direction, drawn from the place that traffic leaves
 * to the middle.
 *
 * Lengths are in distances between stacks, x to the right, y down, the centre at (0, 0). Pure
 * geometry: no colours, no pixels. */
#ifndef HOLTER_VIEWER_LAYOUT_PROJECTION_H
#define HOLTER_VIEWER_LAYOUT_PROJECTION_H

#include "daemon/analysis/network/topology.h"

#include <stdint.h>

#define PROJECTION_NONE UINT32_MAX

/** Length of a stack, as a share of the distance between two stacks. */
#define PROJECTION_SPREAD 0.62

enum projection_axis_id {
    PROJECTION_DEPTH,   /**< the viewing direction */
    PROJECTION_ACROSS,  /**< to the right */
    PROJECTION_UPRIGHT, /**< up: coordinate 0 is at the bottom */
    PROJECTION_AXES,
};

struct projection_axis {
    uint32_t dimension; /**< dimension of the network; PROJECTION_NONE: none, its size is 1 */
    uint32_t size;
    uint8_t ring; /**< a link leads from the last to the first */
};

struct projection {
    struct projection_axis axes[PROJECTION_AXES];
    uint32_t slice[TOPOLOGY_DIMENSIONS]; /**< for dimensions that are not shown: the coordinate of
                                            the slice, or PROJECTION_NONE: all summed */
    uint32_t places;                     /**< product of the axes' sizes */
};

/** A line of the picture; it begins where traffic leaves. */
struct projection_line {
    double x0, y0, x1, y1;
};

/** Choose what to project.
 * @param shown  three different dimensions of the network, PROJECTION_NONE where it has fewer
 * @param view   viewing direction: index into shown, 0 to 2
 * @param slice  by dimension a coordinate or PROJECTION_NONE; NULL: all summed
 * @return 0, or -HOLTER_EUSAGE: not a Cartesian network, or no such dimension or coordinate */
int projection_init(struct projection *out, const struct topology *topology,
                    const uint32_t shown[3], int view, const uint32_t *slice);

/** Place of a node; PROJECTION_NONE: not a node, or not in the slice. */
uint32_t projection_place(const struct projection *p, const struct topology *topology,
                          uint32_t node);

/** Coordinates of a place along the axes, and the inverse. */
void projection_coordinates(const struct projection *p, uint32_t place,
                            uint32_t out[PROJECTION_AXES]);
uint32_t projection_place_at(const struct projection *p, const uint32_t at[PROJECTION_AXES]);

/** Position of a place. */
void projection_point(const struct projection *p, uint32_t place, double *x, double *y);

/** Half of the picture's width and height, including open ends. */
void projection_extent(const struct projection *p, double *w, double *h);

/* Wires are numbered place * 3 + axis, the place being the end with the lower coordinate (or the
 * last, of a wire that wraps around). Half: wire * 2 + direction; direction 0 leaves that place, 1
 * enters it.
 */

/** Number of halves. */
uint32_t projection_halves(const struct projection *p);

/** Half that shows a directed link; PROJECTION_NONE: its dimension is not shown, it is not in the
 * slice, or it connects no neighbours (all-to-all). Several links share a half where dimensions are
 * summed. */
uint32_t projection_half(const struct projection *p, const struct topology *topology,
                         uint32_t link);

/** Ends of a wire. @return 0 where there is none (border of a mesh); outputs are then unchanged */
int projection_wire(const struct projection *p, uint32_t wire, uint32_t *from, uint32_t *to);

/** 1 if the wire is drawn when the axes whose bits are set in `axes` are shown. */
int projection_shows(const struct projection *p, unsigned axes, uint32_t wire);

/** Both halves of a wire, each from its place. The halves of a wire that wraps around do not touch.
 */
void projection_lines(const struct projection *p, uint32_t wire, struct projection_line out[2]);

/* A bundle is what a minimap draws as one edge: wires that differ only in their depth, or all of
 * one stack. */

uint32_t projection_bundles(const struct projection *p);
uint32_t projection_bundle(const struct projection *p, uint32_t wire);

/** First wire of a bundle; projection_shows() is the same for all its wires. PROJECTION_NONE: the
 * bundle is empty. */
uint32_t projection_bundle_wire(const struct projection *p, uint32_t bundle);

/** Lines of a bundle. @return number of lines: 2 where it wraps around across or upright, else 1 */
int projection_bundle_lines(const struct projection *p, uint32_t bundle,
                            struct projection_line out[2]);

#endif

/* Links in the picture of a network with tiers: which of them are lines, and where. */
#ifndef HOLTER_VIEWER_VIEWS_TORUS_TIER_LINES_H
#define HOLTER_VIEWER_VIEWS_TORUS_TIER_LINES_H

#include "viewer/layout/floor_plan.h"
#include "viewer/layout/section.h"
#include "viewer/layout/strokes.h"
#include "viewer/views/torus/drawing.h"

#define TIER_LINES 4096u /**< most lines of a network that is no tree */
#define TIER_CURVE 11    /**< most points of a line */

/** A link with a load. */
struct tier_line {
    uint32_t link;
    float value; /**< load, or its difference from the reality */
};

/** Zero-initialised is empty. */
struct tier_lines {
    struct tier_line *all; /**< owned; links with a load, the largest first */
    uint32_t count;
    uint32_t *drawn; /**< owned; positions in `all`, the topmost line first */
    uint32_t drawn_count;
    uint32_t *cells; /**< owned; work space of tier_lines_choose() */
};

void tier_lines_finish(struct tier_lines *lines);

/** The links of a state of the network that have a load.
 * @param reality  if not NULL, the lines are of the difference from it
 * @return 0 or -ENOMEM */
int tier_lines_collect(struct tier_lines *lines, const struct flows *flows,
                       const struct flows *reality);

/** Choose the lines to be drawn. Of a tree whose lines are closer to each other than a pixel: the
 * largest at each pixel, so that all of the tree is seen at any size. Of other networks the
 * TIER_LINES largest. Selected links come before others.
 * @return 0 or -ENOMEM: none is drawn */
int tier_lines_choose(struct tier_lines *lines, const struct stage *stage,
                      const struct floor_plan *plan, const struct section *section);

/** Add the chosen lines, and links without a load where they are few enough to be distinguished. */
void tier_lines_add(const struct tier_lines *lines, struct strokes *strokes,
                    const struct stage *stage, const struct floor_plan *plan,
                    const struct section *section);

/** Points of a link's line on the screen. @return how many; 0: it has none */
int tier_lines_curve(const struct floor_plan *plan, const struct section *section,
                     const struct topology *topology, uint32_t link, struct point out[TIER_CURVE]);

/** @return the link whose line is under the mouse, of equally near ones that on top, or
 *  TOPOLOGY_NONE */
uint32_t tier_lines_under(const struct tier_lines *lines, const struct stage *stage,
                          const struct floor_plan *plan, const struct section *section);

/** @param marks  of links or vertices, `count` of them @return 1 if number `i` is not faint */
int tier_is_lit(const struct stage *stage, const uint8_t *marks, uint32_t count, uint32_t i);

#endif

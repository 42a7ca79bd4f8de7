/* View "torus": a torus, mesh or other Cartesian network as concentric rings along three of its
 * dimensions, and as a grid in space; loads of links as colours (Landge et al., section 4). */
#ifndef HOLTER_VIEWER_VIEWS_TORUS_VIEW_TORUS_H
#define HOLTER_VIEWER_VIEWS_TORUS_VIEW_TORUS_H

#include "viewer/views/common/view.h"

extern const struct view torus_view;

/** What the view keeps from frame to frame. */
struct torus_drawing;
void torus_drawing_destroy(struct torus_drawing *drawing);

#endif

/* The picture of a network with tiers: dragonflies, all-to-all networks, trees and fat trees. */
#ifndef HOLTER_VIEWER_VIEWS_TORUS_TIERS_H
#define HOLTER_VIEWER_VIEWS_TORUS_TIERS_H

#include "viewer/views/torus/drawing.h"

struct tiers_drawing;

/** NULL is fine. */
void tiers_drawing_destroy(struct tiers_drawing *drawing);

/** Fill the view if the network has tiers. @return 0: it has none, and nothing was drawn */
int tiers_layout(struct stage *stage, struct box box);

#endif

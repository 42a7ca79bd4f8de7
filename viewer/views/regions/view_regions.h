/* The graph of regions (PCLVis, Fig. 4): ranks that talk to each other more than to others lie
 * together; edges are bundled; colour is the region or the latency. */
#ifndef HOLTER_VIEWER_VIEWS_REGIONS_VIEW_REGIONS_H
#define HOLTER_VIEWER_VIEWS_REGIONS_VIEW_REGIONS_H

#include "viewer/views/common/view.h"

/** NULL is fine. */
void regions_picture_destroy(struct regions_picture *picture);

extern const struct view regions_view;

#endif

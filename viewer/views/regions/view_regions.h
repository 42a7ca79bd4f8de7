/* View "regions": the graph of rank regions (PCLVis, Fig. 4). Ranks that communicate more with each
 * other than with others are close together; edges are bundled; colour is the region or the
 * latency. */
#ifndef HOLTER_VIEWER_VIEWS_REGIONS_VIEW_REGIONS_H
#define HOLTER_VIEWER_VIEWS_REGIONS_VIEW_REGIONS_H

#include "viewer/views/common/view.h"

void regions_picture_destroy(struct regions_picture *picture);

extern const struct view regions_view;

#endif

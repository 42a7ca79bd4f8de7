/* Latency by rank region over time (PCLVis, Fig. 6): a row for the job, for each locality and for
 * each region, and circles for windows; colour is the latency relative to the reference, size the
 * number of delayed messages; periods of growth and steady periods are marked. Time is linear as in
 * the curve, or everything except these periods is compressed to start, middle and end (PCLVis,
 * section 5.1). */
#ifndef HOLTER_VIEWER_VIEWS_LIVE_EVOLUTION_H
#define HOLTER_VIEWER_VIEWS_LIVE_EVOLUTION_H

#include "viewer/views/common/timeline.h"
#include "viewer/views/common/view.h"

/** 1 if there is something to show. */
int evolution_known(const struct model *model);

/** Height that shows every row, for at most `most` regions. */
double evolution_height(const struct model *model, uint32_t most);

void evolution_layout(struct stage *stage, struct box box, const struct timeline *line);

#endif

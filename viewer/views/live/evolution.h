/* Latency by region over time (PCLVis, Fig. 6): a row for the job, each locality and each region, a
 * circle for each window or some; colour is the latency by the reference, size the number of
 * delayed messages; periods of growth and steady ones are marked. Time runs as in the curve, or
 * with everything else compressed to start, middle and end (PCLVis, section 5.1). */
#ifndef HOLTER_VIEWER_VIEWS_LIVE_EVOLUTION_H
#define HOLTER_VIEWER_VIEWS_LIVE_EVOLUTION_H

#include "viewer/views/common/timeline.h"
#include "viewer/views/common/view.h"

/** Is there something to show? */
int evolution_known(const struct model *model);

/** Height that shows every row, without more than most regions. */
double evolution_height(const struct model *model, uint32_t most);

void evolution_layout(struct stage *stage, struct box box, const struct timeline *line);

#endif

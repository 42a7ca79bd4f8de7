/* The CommGram curve as an electrocardiogram: flat over each phase, a step where the pattern
 * changes, back at its height when the pattern returns (CommGram, section H). */
#ifndef HOLTER_VIEWER_VIEWS_COMMGRAM_STRIP_H
#define HOLTER_VIEWER_VIEWS_COMMGRAM_STRIP_H

#include "viewer/views/commgram/bipartite.h"

/** The strip in its box, over the time of the line. */
void strip_curve_layout(struct stage *stage, struct commgram_drawing *drawing, struct box box,
                        const struct timeline *line);

/** Times under the strip; within two seconds they count from its left edge. */
void strip_axis_layout(const struct stage *stage, const struct timeline *line, double y);

/** A moment as text, as it is told where so long a span is in sight. @return out */
char *strip_moment(char *out, size_t room, int64_t ns, int64_t begin, int64_t span);

/** The whole job as one narrow curve, with the visible time framed. */
void strip_band_layout(struct stage *stage, struct commgram_drawing *drawing, struct box box);

#endif

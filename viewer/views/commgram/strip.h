/* The CommGram curve as an electrocardiogram: flat during each phase, a step where the pattern
 * changes, back at its height when the pattern returns (CommGram, section III-H). */
#ifndef HOLTER_VIEWER_VIEWS_COMMGRAM_STRIP_H
#define HOLTER_VIEWER_VIEWS_COMMGRAM_STRIP_H

#include "viewer/views/commgram/bipartite.h"

/** Lay out the curve in its box, over the time span of the line. */
void strip_curve_layout(struct stage *stage, struct commgram_drawing *drawing, struct box box,
                        const struct timeline *line);

/** Time axis of the strip; spans below two seconds count from the left edge. */
void strip_axis_layout(const struct stage *stage, const struct timeline *line, double y);

/** A time as text, in the precision that suits the visible span. @return out */
char *strip_moment(char *out, size_t room, int64_t ns, int64_t begin, int64_t span);

/** The whole job as a narrow curve, with the visible time framed. */
void strip_band_layout(struct stage *stage, struct commgram_drawing *drawing, struct box box);

#endif

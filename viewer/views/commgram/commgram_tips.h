/* Tooltips of the CommGram. */
#ifndef HOLTER_VIEWER_VIEWS_COMMGRAM_COMMGRAM_TIPS_H
#define HOLTER_VIEWER_VIEWS_COMMGRAM_COMMGRAM_TIPS_H

#include "viewer/views/common/view.h"

/** Tooltip of a column, bar or ribbon by its index. others: number of other ribbons at the same
 * point. */
void commgram_tip_column(struct stage *stage, uint32_t column);
void commgram_tip_bar(struct stage *stage, uint32_t bar);
void commgram_tip_ribbon(struct stage *stage, uint32_t ribbon, uint32_t others);

/** Tooltip of a point of the curve, with its phase. */
void commgram_tip_point(struct stage *stage, uint32_t point);

/** "64 B", "1 MiB", "1.5 KiB": a size from its binary logarithm. @return out */
char *commgram_format_size(char *out, size_t room, double binary_logarithm);

#endif

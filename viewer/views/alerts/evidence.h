/* An alert as people read it: where, since when, how much, why, what to do. */
#ifndef HOLTER_VIEWER_VIEWS_ALERTS_EVIDENCE_H
#define HOLTER_VIEWER_VIEWS_ALERTS_EVIDENCE_H

#include "viewer/views/common/view.h"

/** How much of it a card shows. */
enum evidence_detail {
    EVIDENCE_LINE, /**< title and where */
    EVIDENCE_CARD, /**< with ratio, causes as bars and advice */
    EVIDENCE_FULL, /**< with the numbers behind each cause, and everything else that is known */
};

/** Colour of its state, and of the ground behind it. */
color_t evidence_color(const struct theme *theme, const struct alert *alert);
color_t evidence_ground(const struct theme *theme, const struct alert *alert);

/** "firing", "pending", "resolved" */
const char *evidence_state(const struct alert *alert);

/** "region 3 · ranks 96-127 on node007, node008"; "" when it is about no place. */
void evidence_where(const struct alert *alert, char *out, size_t room);

/** A card w wide; at most as high as the box. Clicking it picks the alert.
 *  @return its height; 0: the box is too small, nothing was drawn */
double evidence_card(struct stage *stage, struct box box, const struct alert *alert,
                     enum evidence_detail detail);

#endif

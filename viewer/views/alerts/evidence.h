/* Card of an alert: where, since when, how much, probable causes, advice. */
#ifndef HOLTER_VIEWER_VIEWS_ALERTS_EVIDENCE_H
#define HOLTER_VIEWER_VIEWS_ALERTS_EVIDENCE_H

#include "viewer/views/common/view.h"

/** Level of detail of a card. */
enum evidence_detail {
    EVIDENCE_LINE, /**< title and where */
    EVIDENCE_CARD, /**< with ratio, causes as bars and advice */
    EVIDENCE_FULL, /**< with the figures of each cause, and everything else that is known */
};

/** Foreground and background colour of an alert's state. */
color_t evidence_color(const struct theme *theme, const struct alert *alert);

/** "firing", "pending", "resolved" */
const char *evidence_state(const struct alert *alert);

/** Place of an alert: "region 3 · ranks 96-127 on node007, node008"; "" when it has none. */
void evidence_where(const struct alert *alert, char *out, size_t capacity);

/** The alert whose culprit is marked: the picked one, else the newest that fires; NULL: none. */
const struct alert *evidence_alert(const struct stage *stage);

/** Mark a row of a list as what an alert names. */
void evidence_mark_row(const struct stage *stage, struct box row, const struct alert *alert);

/** Lay out the card of an alert, at most as high as the box. A click on it selects the alert.
 * @return its height; 0: the box is too small, nothing was drawn */
double evidence_card(struct stage *stage, struct box box, const struct alert *alert,
                     enum evidence_detail detail);

/** The causes of an alert as bars with their figures, as far as the box has room; of an alert
 * without causes, what is known. @param draw  0: only measure @return the height that it takes */
double evidence_why(struct stage *stage, struct box box, const struct alert *alert, int draw);

#endif

/* Questions to the daemon about better mappings and routes. A question is about exactly the ranks
 * and routes that are selected or visible, in the network state that the views show. */
#ifndef HOLTER_VIEWER_UI_UI_QUESTION_H
#define HOLTER_VIEWER_UI_UI_QUESTION_H

#include "viewer/ui/ui.h"

#define QUESTION_ROUTES 131072u /**< maximum of routes in a question, as in WIRE_REQUEST */
#define QUESTION_TOP 100u       /**< routes in a question when nothing is selected */

/** Zero-initialised is empty. */
struct ui_question {
    struct wire_request request; /**< argument and rows; they are owned */
    char argument[65536];
    char subject[128]; /**< what it is about, for people: "the 625 routes in sight of 12,288" */
};

/** Makes the question of a kind. Call after ui_update_flows().
 *  @param why  set on failure: a sentence for people
 *  @return 0, -HOLTER_EUSAGE: it cannot be asked, or -ENOMEM; ui_question_finish() in any case */
int ui_question_make(struct ui_question *out, const struct ui *ui, const struct model *model,
                     enum suggestion_kind kind, char *why, size_t capacity);

/** What "Suggest routes" and "Suggest mapping" would be about now, as of `subject`. */
void ui_question_subject(const struct ui *ui, const struct model *model, enum suggestion_kind kind,
                         char *out, size_t capacity);

void ui_question_finish(struct ui_question *question);

#endif

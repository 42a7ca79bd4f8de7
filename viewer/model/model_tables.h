/* The large tables of the model, private to model.c: figures of ranks, pairs and MPI calls. */
#ifndef HOLTER_VIEWER_MODEL_MODEL_TABLES_H
#define HOLTER_VIEWER_MODEL_MODEL_TABLES_H

#include "viewer/model/model.h"

/** Grows the tables so that they hold a rank. @return 0 or -ENOMEM */
int tables_need_rank(struct model *model, uint32_t rank);

int tables_apply_ranks(struct model *model, const struct wire_rank_window *message, int snapshot);
/** Applies the history in a snapshot: figures of ranks in earlier windows. Only windows without
 * figures are filled. */
int tables_apply_history(struct model *model, const struct wire_history *message);
int tables_apply_pairs(struct model *model, const struct wire_pair_window *message, int snapshot);
int tables_apply_calls(struct model *model, const struct wire_call_window *message, int snapshot);
int tables_apply_callers(struct model *model, const struct wire_caller_window *message,
                         int snapshot);

/** Resets the sums since the start, and the places and open calls of ranks; details of windows
 * stay.
 */
void tables_keep_details(struct model *model);

/** Frees the working memory. */
void tables_finish(struct model *model);

#endif

/* Keeps details of ranks, pairs and calls through the seeks of a replay.
 * A replay publishes the same messages each time it passes a point of the recording. What was
 * applied once stays known when the replay seeks, and must not be added again when it passes there
 * again. Messages are identified by stretches: a message belongs to stretch T when it is of window
 * T, or, if it arrived late, when T was the newest window at that time. Of a run between two seeks
 * all messages of the stretches between its first and its last one are known. The last one is
 * dropped at a seek, because some of its messages may not have arrived; the first one is not
 * applied, because a part of it is contained in the state that a run begins with. When a state
 * comes in the middle of a run, as after a lost connection, messages before it may be missing: the
 * next seek drops all details. Used by model.c and model_tables.c only. */
#ifndef HOLTER_VIEWER_MODEL_REWIND_H
#define HOLTER_VIEWER_MODEL_REWIND_H

#include <stdint.h>

struct model;

#define REWIND_SPANS 64 /**< maximum of known spans of stretches; beyond it all are dropped */

struct rewind_span {
    uint64_t first, last; /**< both included */
};

/** Zero-initialised: nothing is known. */
struct rewind_known {
    struct rewind_span spans[REWIND_SPANS]; /**< ascending, with gaps between them */
    uint32_t count;
    uint64_t state;  /**< newest window of the state at the begin of this run */
    uint64_t newest; /**< last stretch of this run so far; 0: none */
    uint64_t late;   /**< last stretch with a late message */
    int torn; /**< another state came in the middle of a run: what came before it is not known */
};

/** Whether details of a window are to be applied: not those that are known already. Without a
 * replay always. */
int rewind_enters(struct model *model, uint64_t window);

/** Updates the run when a state begins or its windows are received. */
void rewind_state(struct model *model);
void rewind_state_window(struct model *model, uint64_t window);

/** Ends the run: its last stretch is dropped, the others are known from now on.
 *  @return 0, or 1: known stretches cannot be distinguished from those to come */
int rewind_close(struct model *model);

#endif

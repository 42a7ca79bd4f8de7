/* Details of ranks, pairs and calls through the seeks of a replay.
 *
 * A replay tells the same messages each time it passes a point, so that what was taken in once
 * stays known when it goes elsewhere; and must not be added again when it comes by again. Which
 * messages those are is told by the newest window at which they come: a message is of stretch T
 * when it is of window T, or, having come late, when T is the newest window that was told of. Of a
 * run between two seeks all messages of the stretches between its first and its last one are known;
 * the last one is dropped when the replay goes elsewhere, as more of it may have been on its way,
 * and the first one, part of which is in the state that a run begins with, is not taken in.
 *
 * Used by model.c and tables.c alone. */
#ifndef HOLTER_VIEWER_MODEL_REWIND_H
#define HOLTER_VIEWER_MODEL_REWIND_H

#include <stdint.h>

struct model;

#define REWIND_SPANS 64 /**< stretches that are known; with more of them all are forgotten */

struct rewind_span {
    uint64_t first, last; /**< both included */
};

/** Zero-initialised: nothing is known. */
struct rewind_known {
    struct rewind_span spans[REWIND_SPANS]; /**< rising, with gaps between them */
    uint32_t count;
    uint64_t state;  /**< newest window of the state that this run began with */
    uint64_t newest; /**< last stretch of this run so far; 0: there was none */
    uint64_t late;   /**< last one in which something came late */
};

/** Are news of details of a window to be entered? Not where they are known already. Always where
 * nothing is replayed. */
int rewind_enters(struct model *model, uint64_t window);

/** A state begins, or tells of a window. */
void rewind_state(struct model *model);
void rewind_state_window(struct model *model, uint64_t window);

/** The run ends: its last stretch is left out, the others are known from now on.
 *  @return 0, or 1: what is known could not be told from what is to come */
int rewind_close(struct model *model);

#endif

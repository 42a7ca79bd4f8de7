/* The state of a job after a seek, held back until it is complete: the view keeps the old state,
 * then changes to the new one at once. Messages are stored in their wire encoding. */
#ifndef HOLTER_VIEWER_LINK_HELD_STATE_H
#define HOLTER_VIEWER_LINK_HELD_STATE_H

#include "viewer/model/model.h"

#define HELD_STATE_BYTES ((size_t)256 << 20) /**< maximum size */

/** Zero-initialised is empty. */
struct held_state {
    uint8_t
        *bytes; /**< owned; of each message: its length, whether it is part of a state, its bytes */
    size_t length, capacity;
    struct wire_buffer buffer;
};

/** Stores a message. @return 0, -HOLTER_EFULL over the bound, or -ENOMEM: it was not stored */
int held_state_add(struct held_state *held, const struct wire_message *message, int snapshot);

/** Rewinds the model and applies the stored messages in order; none is held afterwards.
 *  @param missed  as in model_rewind() */
void held_state_release(struct held_state *held, struct model *model, int missed);

/** Drops the stored messages. */
void held_state_clear(struct held_state *held);

/** Drops the stored messages and frees the memory. */
void held_state_finish(struct held_state *held);

#endif

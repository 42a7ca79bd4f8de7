/* The state of a job behind a seek, held back until it is whole: what is in sight stays until the
 * new can take its place at once. Messages are kept as they came over the wire. */
#ifndef HOLTER_VIEWER_LINK_HELD_STATE_H
#define HOLTER_VIEWER_LINK_HELD_STATE_H

#include "viewer/model/model.h"

#define HELD_STATE_BYTES ((size_t)256 << 20) /**< most that is held back */

/** Zero-initialised is empty. */
struct held_state {
    uint8_t *bytes; /**< owned; for each message its length, whether it is of a state, itself */
    size_t length, room;
    struct wire_buffer buffer;
};

/** Keep a message. @return 0, -HOLTER_EFULL over the bound, or -ENOMEM: it was not kept */
int held_state_add(struct held_state *held, const struct wire_message *message, int snapshot);

/** Rewind the model and apply what was kept, in its order; nothing is held then.
 *  @param missed  as model_rewind() has it */
void held_state_release(struct held_state *held, struct model *model, int missed);

/** Drop what is held. */
void held_state_clear(struct held_state *held);

/** And free all. */
void held_state_finish(struct held_state *held);

#endif

/* Fields of a record of a ring as text. */
#ifndef HOLTER_PROTO_EVENT_TEXT_H
#define HOLTER_PROTO_EVENT_TEXT_H

#include <stdint.h>

#define EVENT_STATE_ROOM 96u

/** What became of a record's message or request, "send posted done persistent"; "" when there is
 *  nothing to be said.
 *  @param flags  enum event_flag, or-ed @param out  room for EVENT_STATE_ROOM @return out */
const char *event_state_text(uint64_t flags, char out[EVENT_STATE_ROOM]);

/** Name of a peer that is no rank: "", "MPI_PROC_NULL", "any", "unknown"; NULL for ranks. */
const char *event_peer_text(int64_t peer);

#endif

/* Records of calls as rows of captures. Used by agents and by imports of traces. */
#ifndef HOLTER_ENCODING_CAPTURE_ROW_H
#define HOLTER_ENCODING_CAPTURE_ROW_H

#include "holter/event.h"
#include "holter/wire.h"

/** Time of a tick, nanoseconds after the time at which the records were read. */
typedef int64_t capture_time(const void *user, uint64_t ticks);

/** @param thread   position in the message's threads
 *  @param running  the call has not returned
 *  @return the row, without communicator and region */
struct wire_capture_event_row capture_row(const struct event *event, uint64_t thread, int running,
                                          capture_time *time, const void *user);

#endif

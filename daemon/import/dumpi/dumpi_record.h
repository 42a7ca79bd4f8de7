/* Inside of dumpi_events: how records are made. */
#ifndef HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_RECORD_H
#define HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_RECORD_H

#include "daemon/import/dumpi/dumpi_events.h"
#include "holter/segment.h"

/* One more record of the call: of the call itself first, then of its parts; fields of a plain one
 * are set.
 * @return it, until the next; never NULL: without memory one that is not given */
struct event *dumpi_record(struct dumpi_events *events);

/* A communicator by its handle now. */
struct dumpi_view dumpi_view_of(const struct dumpi_events *events, int64_t handle);
struct dumpi_view dumpi_window_of(const struct dumpi_events *events, int64_t handle);

static inline int64_t dumpi_value_of(const struct dumpi_events *events, unsigned argument)
{
    return dumpi_value(&events->stream, argument);
}

/* Bytes of arguments: a count and its type. */
static inline uint64_t dumpi_bytes_of(const struct dumpi_events *events, unsigned count,
                                      unsigned type)
{
    return dumpi_type_bytes(&events->types, dumpi_value_of(events, count),
                            dumpi_value_of(events, type));
}

/* Keep what is posted by the record under a handle. @param bytes  that its completion shall count
 */
void dumpi_keep(struct dumpi_events *events, struct event *record, int64_t handle, uint64_t bytes);

/* A file's requests have handles of their own. */
static inline int64_t io_handle(int64_t handle)
{
    return handle == DUMPI_REQUEST_NULL ? handle : handle ^ 0x40000000;
}

/* ---- by kind of call: each makes the record of the call ------------------------------ */

void dumpi_take_message(struct dumpi_events *events);
void dumpi_take_request(struct dumpi_events *events);
void dumpi_take_collective(struct dumpi_events *events);
/* Windows, files, communicators and all others. */
void dumpi_take_other(struct dumpi_events *events);

#endif

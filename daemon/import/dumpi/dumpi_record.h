/* Construction of records. Internal to dumpi_events.c and the files of the kinds of calls. */
#ifndef HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_RECORD_H
#define HOLTER_DAEMON_IMPORT_DUMPI_DUMPI_RECORD_H

#include "daemon/import/dumpi/dumpi_events.h"
#include "holter/segment.h"

/* Add a record of the call: first that of the call itself, then those of its parts; the common
 * members are set. @return the record, valid until the next call; never NULL: without memory a
 * dummy that is dropped */
struct event *dumpi_record(struct dumpi_events *events);

/* The present communicator of a handle. */
struct dumpi_view dumpi_view_of(const struct dumpi_events *events, int64_t handle);
struct dumpi_view dumpi_window_of(const struct dumpi_events *events, int64_t handle);

static inline int64_t dumpi_value_of(const struct dumpi_events *events, unsigned argument)
{
    return dumpi_value(&events->stream, argument);
}

/* Bytes of the arguments count and type. */
static inline uint64_t dumpi_bytes_of(const struct dumpi_events *events, unsigned count,
                                      unsigned type)
{
    return dumpi_type_bytes(&events->types, dumpi_value_of(events, count),
                            dumpi_value_of(events, type));
}

/* The open request of a handle. @return NULL: unknown; valid until one is stored or removed */
struct open_request *dumpi_find_request(const struct dumpi_events *events, int64_t handle);

/* Store what the record posts under a handle. @param bytes  to be counted at its completion */
void dumpi_store_request(struct dumpi_events *events, struct event *record, int64_t handle,
                         uint64_t bytes);

/* Requests of files have handles of their own. */
static inline int64_t io_handle(int64_t handle)
{
    return handle == DUMPI_REQUEST_NULL ? handle : handle ^ 0x40000000;
}

/* ---- one function for each kind of call: it adds the records of the call ---- */

void dumpi_record_message(struct dumpi_events *events);
void dumpi_record_request(struct dumpi_events *events);
void dumpi_record_collective(struct dumpi_events *events);
/* RMA windows, files, communicators and all others. */
void dumpi_record_other(struct dumpi_events *events);

#endif

/* Conversion of the event records of one location from libotf2's callbacks to otf2_calls.h.
 * Internal to otf2_source.c. */
#ifndef HOLTER_DAEMON_IMPORT_OTF2_OTF2_CALLBACKS_H
#define HOLTER_DAEMON_IMPORT_OTF2_OTF2_CALLBACKS_H

#include "daemon/import/otf2/otf2_source.h"

struct otf2_stream {
    const struct otf2_job *job;
    const struct otf2_defs *defs;
    struct otf2_report counted; /**< the next report, without totals */
    OTF2_EvtReader *events;
    struct otf2_calls calls;
    uint32_t rank, number;
    uint64_t ticks; /**< of the newest event record */
    uint64_t taken; /**< records passed on, and those skipped after a restart */
    uint64_t most_events;
    int opened, empty, ended, failed;
    int cut_off;           /**< the file is truncated */
    int scanning;          /**< the file is being scanned for its valid records */
    int is_repeating;      /**< only repeated records follow, which are ignored */
    uint64_t scanned;      /**< number of scanned records */
    uint64_t whole_events; /**< number of valid records; UINT64_MAX: all */
    char fault[OTF2_FAULT_BYTES];
    char fault_of_definitions[OTF2_FAULT_BYTES]; /**< "": none */
};

/** Register the callbacks for all records. */
OTF2_ErrorCode otf2_callbacks_register(OTF2_Reader *reader, OTF2_EvtReader *events,
                                       struct otf2_stream *stream);

#endif

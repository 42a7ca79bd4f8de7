/* Event records of one location, from libotf2 to otf2_calls.h. Internal to otf2_source.c. */
#ifndef HOLTER_DAEMON_IMPORT_OTF2_OTF2_CALLBACKS_H
#define HOLTER_DAEMON_IMPORT_OTF2_OTF2_CALLBACKS_H

#include "daemon/import/otf2/otf2_source.h"

struct otf2_stream {
    const struct otf2_job *job;
    const struct otf2_defs *defs;
    struct otf2_report counted; /**< what is told next; without totals */
    OTF2_EvtReader *events;
    struct otf2_calls calls;
    uint32_t rank, number;
    uint64_t ticks; /**< of the newest event record */
    uint64_t taken; /**< records given, and those left out after a restart */
    uint64_t most_events;
    int opened, empty, ended, failed;
    int cut_off;           /**< the file does not end as files do */
    int scanning;          /**< it is looked through for what is whole of it */
    int comes_again;       /**< there is no more that is whole: what libotf2 gives is not taken */
    uint64_t scanned;      /**< records that were seen so */
    uint64_t whole_events; /**< UINT64_MAX: all */
    char fault[OTF2_FAULT_BYTES];
    char fault_of_definitions[OTF2_FAULT_BYTES]; /**< "": none */
};

/** Have the stream told of all records. */
OTF2_ErrorCode otf2_callbacks_register(OTF2_Reader *reader, OTF2_EvtReader *events,
                                       struct otf2_stream *stream);

#endif

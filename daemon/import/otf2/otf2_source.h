/* Event records of an OTF2 archive, read by libotf2 stream by stream. libotf2 can crash on corrupt
 * files, so this runs in a process of its own: see otf2_process.h. */
#ifndef HOLTER_DAEMON_IMPORT_OTF2_OTF2_SOURCE_H
#define HOLTER_DAEMON_IMPORT_OTF2_OTF2_SOURCE_H

#include "daemon/import/otf2/otf2_defs.h"
#include "daemon/import/otf2/otf2_kinds.h"

#define OTF2_FAULT_BYTES 400u

/** Progress and totals of a stream. */
struct otf2_report {
    struct otf2_totals totals;
    uint64_t forced;            /**< see struct call_queue */
    uint64_t given;             /**< records passed on, counted by the receiver of the answers */
    uint64_t other[OTF2_KINDS]; /**< event records without meaning for Holter, by kind */
    uint64_t undefined;         /**< event records with undefined references */
    uint64_t early,
        earliest; /**< records before the trace's zero, and the time of the first one, ticks */
    int crashed;  /**< signal that ended a process while it read the stream, or -1 if unknown; the
                     stream ended there */
};

struct otf2_source;

/** Open the archive. @param fault  the message of libotf2 @return 0 or a negative error */
int otf2_source_open(struct otf2_source **out, const char *anchor, char fault[OTF2_FAULT_BYTES]);

/** NULL is fine. */
void otf2_source_close(struct otf2_source *source);

/** Read the definitions. @param fault  set when they are incomplete; what was read is kept
 * @return 0, or a negative error */
int otf2_source_definitions(struct otf2_source *source, struct otf2_defs *defs,
                            struct otf2_job *job, char fault[OTF2_FAULT_BYTES]);

/** Prepare for reading events. @param reports  by stream; written to from now on
 * @return 0 or a negative error */
int otf2_source_begin(struct otf2_source *source, const struct otf2_job *job,
                      const struct otf2_defs *defs, struct otf2_report *reports,
                      char fault[OTF2_FAULT_BYTES]);

/** Next records, as trace_reader.next; after a restart those after reports[stream].given.
 * Thread-safe. Other streams of the rank are read on as far as these records wait for theirs.
 * @param reading  set to the stream that libotf2 is about to read, before it does
 * @param fault    set with a negative error other than -EAGAIN */
int otf2_source_next(struct otf2_source *source, uint32_t stream, uint64_t until, struct event *out,
                     uint32_t *reading, char fault[OTF2_FAULT_BYTES]);

/** The fault of a stream on which libotf2 crashed. @param signal_number  -1: unknown */
void otf2_source_crashed(char fault[OTF2_FAULT_BYTES], int signal_number);

/** Name of a kind of event record, for people. */
const char *otf2_kind_name(unsigned kind);

#endif

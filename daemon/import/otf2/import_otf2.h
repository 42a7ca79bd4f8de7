/* Import of an OTF2 archive, as Score-P and other tools write it, as a recording (OTF2 3.0; libotf2
 * reads all earlier versions). */
#ifndef HOLTER_DAEMON_IMPORT_OTF2_IMPORT_OTF2_H
#define HOLTER_DAEMON_IMPORT_OTF2_IMPORT_OTF2_H

#include "daemon/import/trace/trace.h"
#include "daemon/import/trace/trace_dependencies.h"

#define OTF2_MAX_OTHERS 80u

struct import_otf2_counts {
    struct trace_counts counts;
    uint32_t ranks, hosts, streams;
    uint64_t window_ns;
    int definitions_broken; /**< the file of the definitions is incomplete, and so everything else
                               may be */
    int by_process; /**< the list of the ranks' locations is wrong; the processes in their order are
                       used instead */
    uint64_t left_out; /**< locations that belong to no rank of MPI */
    /** Totals of the archive. */
    uint64_t events, sends, send_bytes, receives, receive_bytes, collectives;
    uint64_t nameless;   /**< calls of MPI that Holter does not know */
    uint64_t undefined;  /**< event records that name what is not defined */
    uint64_t unbalanced; /**< regions that were left but not entered */
    uint64_t
        early; /**< records before the stated begin of the trace: they are counted at its begin */
    uint64_t zero;     /**< if many records are before it: ticks of the first one; early_ns is the
                          difference */
    uint64_t early_ns; /**< 0 if few are */
    uint64_t forced; /**< receives that were open for so long that they were passed on without their
                        ends */
    struct {
        const char *name; /**< static */
        uint64_t count;
    } others[OTF2_MAX_OTHERS]; /**< event records without meaning for Holter, by kind */
    uint32_t other_count;
};

/** @param anchor  the file that ends in .otf2
 * @return 0, or a negative error, reported; well-formed records are imported in any case */
int import_otf2(const char *path, const char *anchor, const struct trace_wishes *wishes,
                struct import_otf2_counts *out);

/** Read the messages of an archive for the graph of dependencies.
 *  @param out  the calls are to be finished, also on failure
 *  @return 0, -ENOMEM, which is not reported, or another negative error, reported */
int import_otf2_dependencies(const char *anchor, file_fault *fault, void *user,
                             struct trace_messages *out);

#endif

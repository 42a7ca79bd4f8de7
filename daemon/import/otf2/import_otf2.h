/* An OTF2 archive, as Score-P and others write it, as a recording (OTF2 3.0; libotf2 reads all
 * versions before it). */
#ifndef HOLTER_DAEMON_IMPORT_OTF2_IMPORT_OTF2_H
#define HOLTER_DAEMON_IMPORT_OTF2_IMPORT_OTF2_H

#include "daemon/import/trace/trace.h"

#define OTF2_OTHERS_MOST 80u

struct import_otf2_counts {
    struct trace_counts counts;
    uint32_t ranks, hosts, streams;
    uint64_t window_ns;
    int definitions_broken; /**< the file of the definitions is not whole: so may be all else */
    int by_process; /**< the list of the locations of ranks is wrong, processes in order stand for
                       it */
    uint64_t left_out; /**< locations that belong to no rank of MPI */
    /** As the archive has them. */
    uint64_t events, sends, send_bytes, receives, receive_bytes, collectives;
    uint64_t nameless;   /**< calls of MPI that Holter does not know */
    uint64_t undefined;  /**< event records that name what is not defined */
    uint64_t unbalanced; /**< regions that were left but not entered */
    uint64_t early;      /**< records before the begin of the trace: they count there */
    uint64_t
        zero; /**< many are before it: ticks of the first of all; early_ns is how much that is */
    uint64_t early_ns; /**< else 0 */
    uint64_t forced;   /**< receives that were open for so long that their ends are told too late */
    struct {
        const char *name; /**< static */
        uint64_t count;
    } others[OTF2_OTHERS_MOST]; /**< event records that mean nothing to Holter, by kind */
    uint32_t other_count;
};

/** @param anchor  the file that ends in .otf2
 *  @return 0, or a negative error after telling; what is whole is imported all the same */
int import_otf2(const char *path, const char *anchor, const struct trace_wishes *wishes,
                struct import_otf2_counts *out);

#endif

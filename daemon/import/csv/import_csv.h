/* Import of a table of messages, one message a row, as a recording. holter-import(1) describes the
 * columns.
 *
 * Each row states which receive belongs to which send: a receive takes its place in the order of
 * messages when its send began. Without receive_end nothing is invented: the message is sent, and
 * its receipt is unknown. A receive that ended before its send began is counted, but not matched.
 *
 * A rank is in one call at a time. Where calls of a rank overlap they were not blocking: a send
 * ends when the next call begins, and the wait for a receive begins at the end of the previous
 * call. Times of messages are not changed. */
#ifndef HOLTER_IMPORT_CSV_H
#define HOLTER_IMPORT_CSV_H

#include "daemon/import/trace/trace.h"
#include "daemon/import/trace/trace_dependencies.h"

struct import_csv_counts {
    struct trace_counts counts;
    uint32_t ranks; /**< ranks that rows name, and those between them, unless these are too many */
    uint32_t world; /**< 1 + the highest rank */
    uint32_t hosts;
    uint64_t window_ns;
    uint64_t rows;      /**< messages imported */
    uint64_t bad;       /**< rows left out */
    uint64_t one_sided; /**< messages without receive_end */
    uint64_t backward;  /**< messages that were received before they were sent */
    uint32_t unknown;   /**< columns with unknown names, which are ignored */
    char first_unknown[64];
    int broken; /**< the file could not be read to its end */
};

/** Memory: ranks, names, 16 bytes for each end of a message, and what trace_import() needs. A file
 * in $TMPDIR, or beside the recording, temporarily has 56 to 168 bytes for each message.
 * @param path  of the recording
 * @param source  of the table, which is read once from begin to end: it may be a pipe;
 *                "-": standard input
 * @param wishes  requested hosts and ranks a host, where the table names no hosts; none and 0: as
 * few as fit
 * @return 0, or a negative error, reported; well-formed rows are imported in any case */
int import_csv(const char *path, const char *source, const struct trace_wishes *wishes,
               struct import_csv_counts *out);

/** Read the messages of a table for the graph of dependencies; each row says which receive belongs
 *  to which send. Faults of rows are reported, and these are left out.
 *  @param out  the calls are to be finished, also on failure
 *  @return 0, -ENOMEM, which is not reported, or another negative error, reported */
int import_csv_dependencies(const char *source, file_fault *fault, void *user,
                            struct trace_messages *out);

#endif

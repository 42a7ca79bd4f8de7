/* A table of messages, one a row, as a recording. holter-import(1) tells of the columns.
 *
 * Which receive belongs to which send is what the rows say: a receive takes its place in the order
 * of messages when its send began. Without receive_end nothing is made up: the message is sent, and
 * no more is known of it. A receive that ended before its send began counts, but is not matched.
 *
 * A rank is in one call at a time. Where calls of a rank overlap they were not blocking: a send
 * ends when the next call begins, and a receive is waited for from where the call before it ended.
 * Times of messages are not touched. */
#ifndef HOLTER_IMPORT_CSV_H
#define HOLTER_IMPORT_CSV_H

#include "daemon/import/trace/trace.h"

struct import_csv_counts {
    struct trace_counts counts;
    uint32_t ranks; /**< that rows name, and those between them, unless these are too many */
    uint32_t world; /**< ranks up to the highest of them */
    uint32_t hosts;
    uint64_t window_ns;
    uint64_t rows;      /**< messages imported */
    uint64_t bad;       /**< rows left out */
    uint64_t one_sided; /**< messages without receive_end */
    uint64_t backward;  /**< messages that were received before they were sent */
    uint32_t unknown;   /**< columns that mean nothing here */
    char first_unknown[64];
    int broken; /**< the file could not be read to its end */
};

/** Memory: ranks, names, CSV_SPOOL_RUN ends of messages, and what trace_import() needs. Longer
 * tables take 112 to 336 bytes a message for a while, in $TMPDIR, or beside the recording.
 *  @param path  of the recording @param source  of the table, which is read once from begin to end:
 * it may be a pipe;
 *               "-": standard input
 *  @param wishes  hosts and ranks a host, where the table does not tell hosts; none and 0: as few
 * as fit
 *  @param run  ends of messages sorted in memory; 0: CSV_SPOOL_RUN
 *  @return 0, or a negative error after telling; what is whole is imported all the same */
int import_csv(const char *path, const char *source, const struct trace_wishes *wishes, size_t run,
               struct import_csv_counts *out);

#endif

/* The state of an import of a table of messages. Internal to import_csv.c and csv_*.c. */
#ifndef HOLTER_IMPORT_CSV_JOB_H
#define HOLTER_IMPORT_CSV_JOB_H

#include "daemon/analysis/tables/name_table.h"
#include "daemon/import/csv/csv_message.h"
#include "daemon/import/csv/csv_spool.h"
#include "daemon/import/csv/import_csv.h"
#include "daemon/import/trace/trace_places.h"

/** A rank whose ends of messages are converted to records. */
struct csv_stream {
    uint64_t position; /**< of the next end */
    uint64_t last_enter,
        last_exit; /**< times of the last emitted call; at first the earliest time of the table */
    uint64_t send_leave; /**< end of the pending send's call */
    struct event send;   /**< the pending send, whose t_exit depends on the next call */
    int sends;           /**< 1: there is a pending send */
};

struct csv_job {
    struct name_table communicators, regions, hosts;
    struct csv_spool *spool; /**< owned */
    uint64_t *seen;    /**< owned; a bit for each of CSV_MAX_RANKS ranks: a row names it, or it is a
                          silent rank */
    uint32_t *rank_of; /**< owned; ranks by stream, ascending */
    uint32_t seen_count;
    struct csv_stream *streams; /**< owned; by stream */
    uint32_t *host_of;          /**< owned; by rank, UINT32_MAX: not known */
    uint32_t host_capacity, ranks;
    uint64_t zero;        /**< zero of the trace, in ns of the table's times */
    uint64_t first, last; /**< earliest and latest time of the table */
    uint64_t read, size;  /**< bytes of the table: read so far, and in total */
    uint64_t bytes;       /**< of all messages */
    uint64_t ends, given; /**< ends of messages: stored, and emitted as records */
};

static inline int csv_job_has(const struct csv_job *job, uint32_t rank)
{
    return (int)(job->seen[rank / 64] >> rank % 64 & 1);
}

/** Callbacks of struct trace_reader; user is a struct csv_job. */
int csv_stream_next(void *user, uint32_t stream, uint64_t until, struct event *out);
int csv_stream_comm(void *user, uint32_t rank, uint32_t slot, struct trace_comm *out);
const char *csv_stream_region(void *user, uint32_t rank, uint32_t slot);

/* ---- csv_places.c: placement of the ranks on hosts ------------------------- */

/** Can the ranks of a message be on the hosts that it names? @param why  set on failure
 * @return 0, or -HOLTER_EUSAGE when a rank was on another host before */
int csv_places_check(const struct csv_job *job, const struct csv_message *message,
                     char why[CSV_WHY]);

/** Store the hosts that a message names for its ranks, which have been checked.
 * @param why  set on failure @return 0, or -HOLTER_EUSAGE when there are too many hosts */
int csv_places_note(struct csv_job *job, const struct csv_message *message, char why[CSV_WHY]);

/** Place all ranks: on the hosts of the table; else on the requested hosts, in blocks; else on
 * those of the network, or all on one host. @param out  finish it @param why  set on failure
 * @return 0, -ENOMEM or -HOLTER_EUSAGE */
int csv_places_find(struct trace_places *out, const struct csv_job *job,
                    const struct trace_wishes *wishes, char why[CSV_WHY]);

#endif

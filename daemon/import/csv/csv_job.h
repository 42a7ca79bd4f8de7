/* A table of messages on its way into a recording. Internal to import_csv.c and csv_stream.c. */
#ifndef HOLTER_IMPORT_CSV_JOB_H
#define HOLTER_IMPORT_CSV_JOB_H

#include "daemon/import/csv/csv_names.h"
#include "daemon/import/csv/csv_spool.h"
#include "daemon/import/csv/import_csv.h"

/** A rank whose ends of messages become records. */
struct csv_stream {
    uint64_t position;              /**< of the next end */
    uint64_t last_enter, last_exit; /**< of the call given last; at first the table's first time */
    uint64_t send_leave;            /**< of the send that waits for the next call */
    struct event send;              /**< its t_exit is not known yet */
    int sends;                      /**< there is one */
};

struct csv_job {
    struct csv_names communicators, regions, hosts;
    struct csv_spool *spool; /**< owned */
    uint64_t *seen;    /**< owned; bits of CSV_RANKS_MOST ranks: a row names it, or it is silent */
    uint32_t *rank_of; /**< owned; of those, ascending */
    uint32_t seen_count;
    struct csv_stream *streams; /**< owned; a rank of those each */
    uint32_t *order;            /**< owned; communicators: place by name, by number */
    uint32_t *host_of;          /**< owned; by rank, UINT32_MAX: not known */
    uint32_t host_room, ranks;
    uint64_t zero;        /**< of the trace, ns of the table's times */
    uint64_t first, last; /**< earliest and latest time of the table */
    uint64_t read, size;  /**< bytes of the table */
    uint64_t ends, given; /**< ends of messages */
};

static inline int csv_job_has(const struct csv_job *job, uint32_t rank)
{
    return (int)(job->seen[rank / 64] >> rank % 64 & 1);
}

/** As struct trace_reader has them; user is a struct csv_job. */
int csv_stream_next(void *user, uint32_t stream, struct event *out);
int csv_stream_comm(void *user, uint32_t rank, uint32_t slot, struct trace_comm *out);
const char *csv_stream_region(void *user, uint32_t rank, uint32_t slot);

#endif

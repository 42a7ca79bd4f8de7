/* Import of a foreign trace as a recording: the records of its ranks are summed window by window as
 * the agents of its nodes would have summed them (daemon/analysis/events), so that all analyses of
 * a live job (pairs, calls, bursts, matched messages, latency, waiting) apply to the trace.
 *
 * The reader of a format converts what it reads to the records that a probe would have written
 * (struct event, see holter/event.h: which record counts as a message, parts, requests, posts),
 * with ticks that are nanoseconds since the trace's own zero. Records are requested stream by
 * stream: a trace is never in memory as a whole.
 *
 * Words
 *   stream  records of one thread of one rank, in the order in which the calls ended; a call's
 * parts follow it. A rank has at least one. */
#ifndef HOLTER_IMPORT_TRACE_H
#define HOLTER_IMPORT_TRACE_H

#include "daemon/analysis/network/topology.h"
#include "daemon/topology/file_text.h"
#include "holter/event.h"

#include <stdint.h>

/** More bytes than a rank has memory for: a record with them has a damaged size. */
#define TRACE_RECORD_BYTES (UINT64_C(1) << 50)
#define TRACE_BATCH 512u /**< maximum number of records in one request */

/** The meaning of a slot of a stream's rank in event.comm. Slots are the reader's own numbers,
 * below 65,000, and never change their meaning. */
struct trace_comm {
    uint64_t id;     /**< the same on every member; 1 MPI_COMM_WORLD, 2 MPI_COMM_SELF */
    uint64_t parent; /**< id of the communicator that it was made from; 0: none, or unknown */
    uint32_t size, remote_size; /**< as struct comm_slot has them */
    int32_t my_rank;            /**< in it; -1: not known */
    char name[64];
};

/** The reader of a format. Called from several threads: `next` for one stream from one thread at a
 * time, `comm` and `region` while no stream is read. */
struct trace_reader {
    void *user;
    /** Read the next records of a stream. Streams of one rank are read one after the other, always
     * in the same order.
     * @param until  only records that begin before this tick are needed; UINT64_MAX: all
     * @param out    capacity TRACE_BATCH
     * @return their number; 0 at the end; a negative error, already reported with file and offset:
     * the stream ends with the records before it. -EAGAIN where records may wait for those of other
     * streams and `until` is not UINT64_MAX: the next record, at out->t_enter, begins later, or
     * becomes known when records of other streams of the rank that end before it have been read */
    int (*next)(void *user, uint32_t stream, uint64_t until, struct event *out);
    /** @return 0, or 1: unknown */
    int (*comm)(void *user, uint32_t rank, uint32_t slot, struct trace_comm *out);
    /** Name of a code region. Slots count from 1. NULL: there are none. @return NULL: unknown */
    const char *(*region)(void *user, uint32_t rank, uint32_t slot);
    /** Bytes read so far and in total, for the progress; may be NULL. */
    void (*progress)(void *user, uint64_t *read, uint64_t *all);
};

/** What is known before the records are read. Borrowed. */
struct trace_job {
    const char *name;    /**< job id */
    const char *app;     /**< what ran; "": not known */
    const char *command; /**< how the recording was created, for people */
    const char *mpi;     /**< the source and format of the import, in place of the MPI version */
    uint32_t ranks;
    uint32_t stream_count;
    const uint32_t *rank_of; /**< by stream */
    const uint32_t
        *threads_of; /**< by rank: threads as shown to people; NULL: the number of its streams */
    const uint32_t *host_of; /**< by rank: position in hosts; IMPORT_NOWHERE: it has no streams */
    const char (*hosts)[65];
    uint32_t host_count;
    uint64_t begin_ns;     /**< time of the trace's zero since 1970; 0: unknown */
    uint64_t window_ns;    /**< 0: chosen by the length of the trace */
    uint64_t length_ns;    /**< from its zero to its end, if known in advance; 0: unknown */
    uint64_t record_bytes; /**< records of more bytes are damaged, and the sums of all are limited;
                              0: the reader has checked that the sums can hold them */
    int length_is_claim;   /**< the length was stated by the trace itself, and may be wrong: see
                              trace_counts.beyond_ns */
};

/** What was imported, summed over ranks as in the recording. */
struct trace_counts {
    uint64_t windows;
    uint64_t records;
    uint64_t sent, sent_bytes, received, received_bytes; /**< point to point */
    uint64_t collectives;                                /**< calls, summed over ranks */
    uint64_t matched;   /**< messages within hosts that were matched at both ends */
    uint64_t unmatched; /**< ends of such messages whose other end is missing */
    uint64_t rejected;  /**< such messages that were received before they were sent, or with another
                           size */
    uint64_t
        halves;    /**< ends of messages between hosts in the recording, for the daemon to match */
    uint64_t lost; /**< records that are invalid, far beyond the length of the trace, or have too
                      many bytes */
    uint64_t beyond_ns; /**< if many records are beyond the stated length: the time by which nearly
                           all end; else 0 */
    uint64_t window_ns; /**< length of windows */
    uint64_t failed_streams; /**< streams that ended with an error */
};

/** The window length for a trace of this length: 1, 2 or 5 times a power of ten, such that there
 * are some hundred windows; at least 1 us, at most 1 s. @param length_ns  0: unknown */
uint64_t trace_window_ns(uint64_t length_ns);

/** Called from time to time in the caller's thread. @param until_ns  time of the trace that is
 * imported so far */
typedef void trace_on_progress(void *user, uint64_t read, uint64_t all, uint64_t until_ns);

/** The user's options of an import. trace_import() does not use hosts, per_node and window_ns: the
 * job has what was made of them. */
struct trace_wishes {
    uint64_t window_ns; /**< 0: chosen */
    unsigned threads;   /**< that read streams; 0: one for each processor */
    uint32_t per_node;  /**< ranks a host, see trace_places.h; 0: not given */
    const char *hosts;  /**< list of hosts in the order of ranks; NULL: those of the trace */
    const struct topology *network; /**< NULL: none */
    const char *network_source;     /**< the file that it was read from */
    trace_on_progress *on_progress; /**< may be NULL */
    file_fault *fault;              /**< called with each fault of the source and the recording */
    void *user;
};

/** Read all streams to their ends into a new file. Streams that fail are imported up to their
 * errors. Memory: bounded by ranks, pairs of one window and TRACE_BATCH records a stream. The same
 * trace gives the same recording, whatever the number of threads.
 * @return 0, -HOLTER_ERANGE when the trace has too many windows of that length, -EEXIST, -ENOMEM,
 * -EIO or another negative error, reported */
int trace_import(const char *path, const struct trace_job *job, const struct trace_reader *reader,
                 const struct trace_wishes *wishes, struct trace_counts *out);

#endif

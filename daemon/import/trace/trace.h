/* A trace of others as a recording: the records of its ranks, summed window by window as the agents
 * of its nodes would have summed them (agent/sums), so that all that Holter knows of a live job
 * (pairs, calls, bursts, matched messages, latency, waiting) it knows of the trace.
 *
 * A reader of a format turns what it reads into the records that a probe would have written (struct
 * event, see holter/event.h: which record counts as a message, parts, requests, posts), with ticks
 * that are nanoseconds since the trace's own zero. It is asked for them, stream by stream: no trace
 * is ever in memory as a whole.
 *
 * Words
 *   stream  records of one thread of one rank, in the order in which the calls ended; a call's
 * parts follow it. A rank has at least one.
 */
#ifndef HOLTER_IMPORT_TRACE_H
#define HOLTER_IMPORT_TRACE_H

#include "daemon/analysis/network/topology.h"
#include "daemon/topology/file_text.h"
#include "holter/event.h"

#include <stddef.h>
#include <stdint.h>

#define TRACE_BATCH 512u /**< records asked for at a time */

/** What a slot of a stream's rank stands for, in event.comm. Slots are the reader's own numbers,
 * below 65,000; one keeps its meaning. */
struct trace_comm {
    uint64_t id;                /**< the same on every member; 1 MPI_COMM_WORLD, 2 MPI_COMM_SELF */
    uint64_t parent;            /**< id of the one it was made from; 0: none, or not known */
    uint32_t size, remote_size; /**< as struct comm_slot has them */
    int32_t my_rank;            /**< in it; -1: not known */
    char name[64];
};

/** Reader of a format. Called from several threads: `next` for one stream from one at a time,
 * `comm` and `region` while no stream is read. */
struct trace_reader {
    void *user;
    /** Next records of a stream. @param out  room for TRACE_BATCH
     *  @return how many; 0 at the end; a negative error after it has been told, with file and
     * offset: the stream ends with what was given before */
    int (*next)(void *user, uint32_t stream, struct event *out);
    /** Instead of next, where records of a stream may wait for what other streams of its rank tell;
     * else NULL. Streams of one rank are asked for one after the other, always in the same order.
     *  @param until  UINT64_MAX: as next. Else records that begin before it are wanted, in ticks
     *  @return as next; or -EAGAIN: what comes next, at out->t_enter, begins later, or is known
     * when records of other streams of the rank that end before it have been taken */
    int (*next_before)(void *user, uint32_t stream, uint64_t until, struct event *out);
    /** @return 0, or 1: not known */
    int (*comm)(void *user, uint32_t rank, uint32_t slot, struct trace_comm *out);
    /** Name of a code region. Slots count from 1. @return NULL: not known */
    const char *(*region)(void *user, uint32_t rank, uint32_t slot);
    /** Bytes read of those that there are, for the progress; may be NULL. */
    void (*progress)(void *user, uint64_t *read, uint64_t *all);
};

/** What is known before the records are read. Borrowed. */
struct trace_job {
    const char *name;    /**< job id */
    const char *app;     /**< what ran; "": not known */
    const char *command; /**< how the recording came about, for people */
    const char *mpi;     /**< what was imported from what */
    uint32_t ranks;
    uint32_t stream_count;
    const uint32_t *rank_of;    /**< by stream */
    const uint32_t *threads_of; /**< by rank, as people are told; NULL: as many as it has streams */
    const uint32_t *host_of; /**< by rank: position in hosts; IMPORT_NOWHERE: it has no streams */
    const char (*hosts)[65];
    uint32_t host_count;
    uint64_t begin_ns;  /**< when the trace's zero was, since 1970; 0: not known */
    uint64_t window_ns; /**< 0: chosen by the length of the trace */
    uint64_t length_ns; /**< from its zero to its end, as far as it is known before; 0: not known */
    int length_is_claim; /**< the trace says so itself, and may be wrong: see trace_counts.beyond_ns
                          */
    const struct topology *network; /**< NULL: none */
    const char *network_source;     /**< where it was read from */
};

/** What was imported, summed over ranks as the recording has it. */
struct trace_counts {
    uint64_t windows;
    uint64_t records;
    uint64_t sent, sent_bytes, received, received_bytes; /**< point to point */
    uint64_t collectives;                                /**< calls of ranks */
    uint64_t matched;                                    /**< messages within hosts, by both ends */
    uint64_t unmatched; /**< ends of such messages whose other end is not there */
    uint64_t rejected;  /**< such messages that were received before they were sent, or with another
                           size */
    uint64_t halves; /**< ends of messages between hosts that the recording has, for the daemon to
                        join */
    uint64_t lost;   /**< records that are none, or far beyond the length of the trace */
    uint64_t beyond_ns;      /**< many are beyond it: its length by nearly all of them; else 0 */
    uint64_t window_ns;      /**< length of windows */
    uint64_t failed_streams; /**< that ended with an error */
};

/** Window length that is chosen for a trace of this length: 1, 2 or 5 times a power of ten, so that
 * there are some hundred of them; at least 1 us, at most 1 s. @param length_ns  0: not known */
uint64_t trace_window_ns(uint64_t length_ns);

/** Told from time to time, in the caller's thread. @param until_ns  of the trace, imported so far
 */
typedef void trace_told(void *user, uint64_t read, uint64_t all, uint64_t until_ns);

/** What the user wants of an import. */
struct trace_wishes {
    uint64_t window_ns;             /**< 0: chosen */
    unsigned threads;               /**< 0: as many as there are processors */
    uint32_t per_node;              /**< ranks a host, see trace_places.h; 0: not said */
    const char *hosts;              /**< list, in the order of ranks; NULL: those of the trace */
    const struct topology *network; /**< NULL: none */
    const char *network_source;
    trace_told *told; /**< may be NULL */
    file_fault *fault;
    void *user;
};

struct trace_options {
    unsigned threads;  /**< that read streams; 0: as many as there are processors */
    trace_told *told;  /**< may be NULL */
    file_fault *fault; /**< told of what goes wrong with the recording */
    void *user;
};

/** Read all streams to their ends into a new file. What is whole is imported whatever goes wrong in
 * single streams. Memory: bounded by ranks, pairs of one window and TRACE_BATCH records a stream.
 * The same trace gives the same recording, whatever the number of threads.
 *  @return 0, -HOLTER_ERANGE when the trace has too many windows of that length, -EEXIST, -ENOMEM,
 * -EIO or another negative error, after telling */
int trace_import(const char *path, const struct trace_job *job, const struct trace_reader *reader,
                 const struct trace_options *options, struct trace_counts *out);

#endif

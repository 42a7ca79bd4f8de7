/* A virtual agent: the ranks of one host of a trace, summed and matched as the agent of a node does
 * it with the contents of rings (agent/node/rank.c, agent/node/windows.c). Internal to the import
 * of traces. */
#ifndef HOLTER_IMPORT_TRACE_HOST_H
#define HOLTER_IMPORT_TRACE_HOST_H

#include "daemon/encoding/window_message.h"
#include "daemon/import/trace/trace.h"
#include "daemon/import/trace/trace_capture.h"

/** The records of a stream that are read and not summed yet. */
struct trace_stream {
    uint32_t number, rank;
    struct event *batch; /**< owned; NULL: nothing is read yet, or the stream has ended */
    uint32_t at, count;  /**< records of the batch that are not summed: [at, count) */
    struct ring_sum sum;
    uint64_t entered; /**< entry of the newest call, ticks */
    struct trace_kept kept;
    uint64_t later; /**< lower limit for the begin of the next record, ticks; 0: unknown */
    int sound;      /**< the batch has been validated */
    int ended, failed;
};

struct trace_rank {
    const struct trace_reader *reader;
    uint32_t rank;
    uint32_t *streams; /**< borrowed: positions in the import's streams */
    uint32_t stream_count;
    struct match_member *member; /**< borrowed; NULL: no memory for the rank */
    struct sum_tables tables;
    uint64_t *comm_ids; /**< owned; by slot: id + 1, 0: not requested yet */
    struct event_sum *sum;
    int index; /**< index of the rank in sum */
};

/** Working memory while a window of a host is open: sums and messages. */
struct trace_desk {
    struct event_sum *sum;          /**< owned */
    struct transfer_sum *transfers; /**< owned */
    struct wire_buffer messages; /**< encoded messages of the closed windows, one after the other */
    struct trace_message {
        uint64_t seq;
        size_t length;
        enum wire_type type;
    } * parts; /**< owned */
    uint32_t part_count;
    size_t part_capacity;
};

struct trace_host {
    const struct trace_job *job;
    uint32_t number;
    const uint32_t *ranks; /**< borrowed */
    uint32_t rank_count;
    struct trace_rank *all;           /**< borrowed; by rank */
    struct trace_stream *all_streams; /**< borrowed */
    const struct trace_reader *reader;
    struct tick_clock clock; /**< from ticks to daemon time */
    struct match *match;     /**< owned */
    struct trace_desk *desk; /**< borrowed; while a window is open */
    uint64_t begin_ns;       /**< of the first window, daemon time */
    uint64_t first_ns;       /**< begin of the first record of the trace, daemon time */
    uint64_t settled_ns;     /**< end of the last closed window */
    uint64_t limit_ns;       /**< records that end later are invalid */
    uint32_t capture_share;  /**< see trace_capture_share() */
    uint32_t capture_nodes;  /**< hosts with ranks */
    uint64_t capture_ns;     /**< identifies the capture: the same of all hosts */
    int ended;               /**< its last window is closed */
    int code;                /**< 0, or the error */
    struct match_counts told;
    uint64_t events, lost, sampled, passed_over;
    uint64_t bytes;                         /**< of all records that were read and are not lost */
    uint64_t beyond[64], beyond_latest[64]; /**< number of records beyond the limit, by the
                                               logarithm of their time */
    uint64_t stray_ns;   /**< time of the first of them, ticks; 0: there is none */
    uint32_t stray_rank; /**< rank of that record */
    struct trace_counts counts;
};

int trace_desk_init(struct trace_desk *desk);
void trace_desk_finish(struct trace_desk *desk);

/** Initialise; all other members of `host` are set already. @return 0 or -ENOMEM */
int trace_host_init(struct trace_host *host);
void trace_host_finish(struct trace_host *host);

/** Read further records when the batch is empty. @param until  as in trace_reader.next
 * @return did the reader know the next record, or that it begins later? */
int trace_stream_refill(struct trace_stream *stream, const struct trace_reader *reader,
                        uint64_t until, uint64_t limit);

/** Must the stream be read on: may there be further records that begin before a time in ticks, or
 * beyond the limit, where records are invalid? */
static inline int trace_stream_is_dry(const struct trace_stream *stream, uint64_t until,
                                      uint64_t limit)
{
    return !stream->ended && stream->at == stream->count &&
           (stream->later < until || stream->later > limit);
}

/** Begin a window at a desk. @return 0 or -ENOMEM */
int trace_host_open(struct trace_host *host, struct trace_desk *desk);

/** Sum the records that the host's streams have of the window. @param end_ns  daemon time
 * @return must streams be read on first? */
int trace_host_drain(struct trace_host *host, uint64_t end_ns);

/** Close the window: its messages are added to the desk. @param seq  of the next message;
 * incremented
 * @return 0 or a negative error */
int trace_host_close(struct trace_host *host, uint64_t window, uint64_t window_ns, uint64_t *seq);

#endif

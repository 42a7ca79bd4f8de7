/* Ends of messages: sends and receives. Values that ends have in common are stored once: the report
 * that an end came in (its node, its window and the error of its clock, here called the teller),
 * and of receives the call that completed them.
 *
 * Sends and receives stay in the order in which they were reported, and so do the tellers and calls
 * that they refer to: a later end never refers to an earlier teller or call. The receives of one
 * call follow each other, and calls are in the order of their receives.
 *
 * Pure. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_MATCHING_JOIN_ENDS_H
#define HOLTER_DAEMON_ANALYSIS_MATCHING_JOIN_ENDS_H

#include "daemon/analysis/tables/state_bytes.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOIN_MAXIMUM_NS                                                                            \
    (UINT64_C(1) << 61) /**< sums of two times and two errors stay within 63 bits */

/** One end of a message. Times are daemon time, nanoseconds. */
struct join_half {
    uint64_t key;         /**< the same at both ends, of no other message of the job */
    int receive;          /**< 0: the sending end, 1: the receiving end */
    uint32_t source;      /**< sending rank */
    uint32_t destination; /**< receiving rank */
    uint64_t bytes;       /**< size; a receive may get less than was sent, never more */
    uint64_t begin_ns;    /**< entry of the call that posted the send or completed the receive */
    uint64_t end_ns;      /**< exit of that call */
    uint64_t local_ns;    /**< receive: latest send among the messages of its own node that the same
                               call completed, if any; else begin_ns */
    uint32_t together;    /**< receive: messages of other nodes that the same call completed, this
                               one included */
    uint32_t node;        /**< number of the node that reports it; below 2^31 */
    uint64_t error_ns;    /**< bound of the error of its times; UINT64_MAX: not known */
};

/** The report that an end came in. */
struct join_reporter {
    uint64_t window;
    uint64_t error_ns;
    uint32_t node;
};

/** Flags in the upper bits of the position of a send's reporter, and of a receive's call. */
#define END_TWICE (1u << 30)  /**< duplicate: matches nothing, nor does a further one of its key */
#define END_PAIRED (1u << 29) /**< of sends, while a window is closed: the other end is there */
#define END_PLACE (END_PAIRED - 1)

struct join_send {
    uint64_t key;
    uint64_t begin_ns; /**< entry of the call that posted it */
    uint64_t bytes;
    uint32_t source, destination;
    uint32_t reporter;  /**< position of its reporter, and flags */
    uint32_t length_us; /**< of that call; UINT32_MAX: that or longer */
};

struct join_receive {
    uint64_t key;
    uint64_t end_ns; /**< exit of the call that completed it */
    uint64_t bytes;
    uint32_t source;
    uint32_t call; /**< position of that call, and flags */
};

/** A call that completed receives which one teller reported one after the other. */
struct join_call {
    uint64_t begin_ns;
    uint64_t local_ns; /**< latest send that the node knows; later also of sends that were joined */
    uint32_t destination;
    uint32_t together; /**< messages from other nodes that it completed, as reported */
    uint32_t known;    /**< messages of it whose sends were joined in windows before */
    uint32_t reporter;
    uint32_t count;  /**< receives here, consecutive */
    uint32_t number; /**< while a window is closed, see join_state.h; else CALL_WHOLE */
};

#define CALL_WHOLE UINT32_MAX /**< all messages of the call are known */
#define CALL_UNKNOWN (UINT32_MAX - 1)

/** Zero-initialised is empty. Arrays are owned. */
struct join_ends {
    struct join_send *sends;
    struct join_receive *receives;
    struct join_call *calls;
    struct join_reporter *reporters;
    size_t send_count, receive_count, call_count, reporter_count;
    size_t send_capacity, receive_capacity, call_capacity, reporter_capacity;
};

void join_ends_finish(struct join_ends *ends);

static inline size_t join_ends_count(const struct join_ends *ends)
{
    return ends->send_count + ends->receive_count;
}

/** Remove all ends; the capacity stays. */
static inline void join_ends_clear(struct join_ends *ends)
{
    ends->send_count = ends->receive_count = 0;
    ends->call_count = ends->reporter_count = 0;
}

/** Append all of another's. @return 0, or -ENOMEM: nothing was */
int join_ends_append(struct join_ends *to, const struct join_ends *from);

/** Append one of another's sends or receives; one after the other they share what they shared
 * there.
 *  @param last  position of the one of its kind that was appended before, from the same; SIZE_MAX:
 * none to share with
 *  @return 0, or -ENOMEM: it was not */
int join_ends_append_send(struct join_ends *to, const struct join_ends *from, size_t at,
                          size_t last);
int join_ends_append_receive(struct join_ends *to, const struct join_ends *from, size_t at,
                             size_t last);

/** Remove the ends whose keys are above this one. */
void join_ends_keep(struct join_ends *ends, uint64_t top);

static inline const struct join_reporter *join_send_reporter(const struct join_ends *ends,
                                                             const struct join_send *send)
{
    return &ends->reporters[send->reporter & END_PLACE];
}

static inline struct join_call *join_receive_call(const struct join_ends *ends,
                                                  const struct join_receive *receive)
{
    return &ends->calls[receive->call & END_PLACE];
}

static inline const struct join_reporter *join_receive_reporter(const struct join_ends *ends,
                                                                const struct join_receive *receive)
{
    return &ends->reporters[join_receive_call(ends, receive)->reporter];
}

/* ---- writing ------------------------------------------------------------- */

/** The report of one node about one window. */
struct join_report {
    uint64_t window;
    uint64_t keys_below; /**< the node left out halves of keys from this one up; 0: none */
    uint64_t error_ns;   /**< bound of the error of their times; UINT64_MAX: not known */
    uint32_t node;       /**< below 2^31 */
    size_t count;        /**< halves, at most */
};

/** Ends of one node while they are written; they count from join_commit() on. */
struct join_writer {
    struct join_ends *ends; /**< NULL: nothing is kept */
    struct join_report report;
    uint64_t top;           /**< greater keys are left out */
    struct join_send *send; /**< where the next is to be written, of each */
    struct join_receive *receive;
    struct join_call *call;
    uint32_t reporter; /**< position of the reporter */
    uint32_t calls;    /**< with those that were there before */
    bool in_call;      /**< the last of them is of this teller */
    bool unsound;      /**< an end that was written contradicts itself */
};

/** Begin to append; space for the report's ends is reserved. @return 0 or -ENOMEM
 */
int join_writer_begin(struct join_writer *writer, struct join_ends *ends,
                      const struct join_report *report, uint64_t top);

/** Ends written from now on have another error. @return 0 or -ENOMEM */
int join_writer_turn(struct join_writer *writer, uint64_t error_ns);

/** Add the ends that were written to the list. @return how many */
size_t join_writer_end(const struct join_writer *writer);

static inline uint32_t join_length_us(const struct join_half *half)
{
    const uint64_t us = (half->end_ns - half->begin_ns) / 1000;
    return us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
}

/** Write a sending end. Here and below: its node and its error are taken to be those of the report;
 *  times up to JOIN_MAXIMUM_NS. */
static inline void join_put_send(struct join_writer *writer, const struct join_half *half)
{
    struct join_send *send = writer->send;
    if (half->key > writer->top)
        return;
    *send = (struct join_send){
        .key = half->key,
        .begin_ns = half->begin_ns,
        .bytes = half->bytes,
        .source = half->source,
        .destination = half->destination,
        .reporter = writer->reporter,
        .length_us = join_length_us(half),
    };
    writer->send++;
}

static inline bool join_call_equals(const struct join_call *call, const struct join_half *half,
                                    uint64_t local_ns)
{
    return call->begin_ns == half->begin_ns && call->local_ns == local_ns &&
           call->destination == half->destination && call->together == half->together;
}

/** @return position of the receive's call, which is written unless it is the one before */
static inline uint32_t join_put_call(struct join_writer *writer, const struct join_half *half)
{
    const uint64_t local = half->local_ns < half->end_ns ? half->local_ns : half->end_ns;
    if (!writer->in_call || half->together <= 1 ||
        !join_call_equals(writer->call - 1, half, local)) {
        *writer->call++ = (struct join_call){
            .begin_ns = half->begin_ns,
            .local_ns = local,
            .destination = half->destination,
            .together = half->together,
            .reporter = writer->reporter,
            .number = CALL_WHOLE,
        };
        writer->in_call = true;
        writer->calls++;
    }
    writer->call[-1].count++;
    return writer->calls - 1;
}

/** Write a receiving end. It ends at its begin or later; its call completed one message at least.
 */
static inline void join_put_receive(struct join_writer *writer, const struct join_half *half)
{
    struct join_receive *receive = writer->receive;
    if (half->key > writer->top)
        return;
    *receive = (struct join_receive){
        .key = half->key,
        .end_ns = half->end_ns,
        .bytes = half->bytes,
        .source = half->source,
        .call = join_put_call(writer, half),
    };
    writer->receive++;
}

/** Write one end, unchecked. */
static inline void join_put(struct join_writer *writer, const struct join_half *half)
{
    if (half->source == half->destination || half->begin_ns > half->end_ns ||
        half->end_ns > JOIN_MAXIMUM_NS ||
        (half->receive != 0 &&
         (half->receive != 1 || half->together == 0 || half->local_ns > JOIN_MAXIMUM_NS)))
        writer->unsound = true;
    else if (half->receive)
        join_put_receive(writer, half);
    else
        join_put_send(writer, half);
}

/** See state_bytes.h. */
void join_ends_copy_state(struct state_bytes *b, struct join_ends *ends);

#endif

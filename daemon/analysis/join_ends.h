/* Ends of messages, as narrow as they can be kept: of each its key, and a row of 20 bytes. What ends
 * have in common is kept once: who told them (a node, of one window), and of receives the call that
 * completed them. Values that do not fit into a row are kept in full beside it.
 *
 * Rows stay in the order in which they were told, and so do tellers, calls and wide values that they
 * refer to: a later row refers to none that is earlier.
 *
 * Pure. Not thread-safe. */
#ifndef HOLTER_ANALYSIS_JOIN_ENDS_H
#define HOLTER_ANALYSIS_JOIN_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOIN_MOST_NS                                                                               \
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
    uint32_t node;        /**< number of the node that tells it; below 2^31 */
    uint64_t error_ns;    /**< bound of the error of its times; UINT64_MAX: not known */
};

/** Who told an end, and of what window. */
struct join_teller {
    uint64_t window;
    uint64_t from_ns; /**< begins of sends are counted from here, modulo 2^64 */
    uint64_t error_ns;
    uint32_t node;
};

/** Flags beside the teller's position. */
#define END_RECEIVE (1u << 31)
#define END_WIDE (1u << 30)   /**< bytes and time lie at the position `time` of the wide values */
#define END_TWICE (1u << 29)  /**< came twice: matches nothing, and neither does the next */
#define END_PAIRED (1u << 28) /**< while a window is closed: the other end is there */
#define END_TELLER (END_PAIRED - 1)

struct join_row {
    uint32_t source;
    uint32_t at; /**< send: destination; receive: position of its call */
    uint32_t bytes;
    uint32_t
        time; /**< send: its begin, from its teller's; receive: its end, from its call's begin */
    uint32_t teller;
};

struct join_wide {
    uint64_t bytes, time_ns;
};

/** A call that completed receives: all of those that were told of it one after the other. */
struct join_call {
    uint64_t begin_ns;
    uint64_t local_ns; /**< as told, later also of sends that were joined */
    uint32_t destination;
    uint32_t together; /**< as told */
    uint32_t known;    /**< messages of it whose sends were joined in windows before */
    uint32_t
        number; /**< while a window is closed, see join_state.h; else CALL_UNSEEN, CALL_ALONE */
};

#define CALL_ALONE UINT32_MAX /**< completed one message only */
#define CALL_UNKNOWN (UINT32_MAX - 1)
#define CALL_UNSEEN (UINT32_MAX - 2)

/** Zero-initialised is empty. Arrays are owned. */
struct join_ends {
    uint64_t *keys;
    struct join_row *rows;
    struct join_call *calls;
    struct join_teller *tellers;
    struct join_wide *wide;
    size_t count, call_count, teller_count, wide_count;
    size_t key_room, row_room, call_room, teller_room, wide_room;
};

void join_ends_finish(struct join_ends *ends);
size_t join_ends_bytes(const struct join_ends *ends);

/** None are left; the room stays. */
static inline void join_ends_clear(struct join_ends *ends)
{
    ends->count = ends->call_count = ends->teller_count = ends->wide_count = 0;
}

/** Append all of another's. @return 0, or -ENOMEM: nothing was */
int join_ends_append(struct join_ends *to, const struct join_ends *from);

/** Append one of another's; one after the other they share what they shared there.
 *  @param last  position of the one that was appended before, from the same; SIZE_MAX: none was
 *  @return 0, or -ENOMEM: it was not */
int join_ends_append_one(struct join_ends *to, const struct join_ends *from, size_t at,
                         size_t last);

/** Keep those whose keys are not above. */
void join_ends_keep(struct join_ends *ends, uint64_t top);

static inline bool end_is_receive(const struct join_row *row)
{
    return (row->teller & END_RECEIVE) != 0;
}

static inline const struct join_teller *end_teller(const struct join_ends *ends,
                                                   const struct join_row *row)
{
    return &ends->tellers[row->teller & END_TELLER];
}

static inline uint64_t end_bytes(const struct join_ends *ends, const struct join_row *row)
{
    return (row->teller & END_WIDE) != 0 ? ends->wide[row->time].bytes : row->bytes;
}

/** Begin of a send. */
static inline uint64_t end_sent(const struct join_ends *ends, const struct join_row *row)
{
    return (row->teller & END_WIDE) != 0 ? ends->wide[row->time].time_ns
                                         : end_teller(ends, row)->from_ns + row->time;
}

/** End of a receive. */
static inline uint64_t end_received(const struct join_ends *ends, const struct join_row *row)
{
    return (row->teller & END_WIDE) != 0 ? ends->wide[row->time].time_ns
                                         : ends->calls[row->at].begin_ns + row->time;
}

/* ---- writing ------------------------------------------------------------- */

/** What one node tells of one window. */
struct join_report {
    uint64_t window;
    uint64_t keys_below; /**< the node left out halves of keys from this one up; 0: none */
    uint64_t begin_ns;   /**< about when its halves began */
    uint64_t error_ns;   /**< bound of the error of their times; UINT64_MAX: not known */
    uint32_t node;       /**< below 2^31 */
    size_t count;        /**< halves, at most */
};

/** Ends of one node while they are written; they count from join_commit() on. */
struct join_writer {
    struct join_ends *ends; /**< NULL: nothing is kept */
    struct join_report report;
    uint64_t from_ns; /**< of the teller */
    uint64_t top;     /**< greater keys are left out */
    uint64_t *key;    /**< where the next end is to be written */
    struct join_row *row;
    struct join_call *call; /**< that was told last; NULL: none was */
    uint32_t teller;        /**< position of the one that tells */
    size_t wide_count;      /**< with those that were there before */
    bool unsound;           /**< of what was written something contradicts itself ... */
    bool short_of_memory;   /**< ... or could not be kept */
};

/** Begin to write behind what is there; room for the report's count is made. @return 0 or -ENOMEM */
int join_writer_begin(struct join_writer *writer, struct join_ends *ends,
                      const struct join_report *report, uint64_t top);

/** What follows has another error. @return 0 or -ENOMEM */
int join_writer_turn(struct join_writer *writer, uint64_t error_ns);

/** What was written is there from now on. @return how many */
size_t join_writer_end(const struct join_writer *writer);

/** Parts of join_put(): a call that was not told of before, and values too wide for their row. */
void join_put_call(struct join_writer *writer, const struct join_call *call);
void join_put_wide(struct join_writer *writer, uint64_t bytes, uint64_t time_ns);

/** @return position of the receive's call */
static inline uint32_t join_put_receive(struct join_writer *writer, const struct join_half *half)
{
    const uint64_t local = half->local_ns < half->end_ns ? half->local_ns : half->end_ns;
    const struct join_call *last = writer->call;
    if (last == NULL || last->begin_ns != half->begin_ns || last->local_ns != local ||
        last->destination != half->destination || last->together != half->together ||
        last->known != 0)
        join_put_call(writer, &(struct join_call){
                                  .begin_ns = half->begin_ns,
                                  .local_ns = local,
                                  .destination = half->destination,
                                  .together = half->together,
                                  .number = half->together > 1 ? CALL_UNSEEN : CALL_ALONE,
                              });
    return (uint32_t)(writer->call - writer->ends->calls);
}

/** Write one end. Its node and its error are taken to be those of the report. */
static inline void join_put(struct join_writer *writer, const struct join_half *half)
{
    struct join_row *row = writer->row;
    uint64_t time;
    if (half->source == half->destination || half->begin_ns > half->end_ns ||
        half->end_ns > JOIN_MOST_NS ||
        (half->receive != 0 &&
         (half->receive != 1 || half->together == 0 || half->local_ns > JOIN_MOST_NS))) {
        writer->unsound = true;
        return;
    }
    if (half->key > writer->top)
        return;
    if (half->receive) {
        time = half->end_ns - half->begin_ns;
        row->at = join_put_receive(writer, half);
        row->teller = writer->teller | END_RECEIVE;
    } else {
        time = half->begin_ns - writer->from_ns;
        row->at = half->destination;
        row->teller = writer->teller;
    }
    row->source = half->source;
    row->bytes = (uint32_t)half->bytes;
    row->time = (uint32_t)time;
    if ((half->bytes | time) >> 32 != 0)
        join_put_wide(writer, half->bytes, half->receive ? half->end_ns : half->begin_ns);
    *writer->key++ = half->key;
    writer->row++;
}

#endif

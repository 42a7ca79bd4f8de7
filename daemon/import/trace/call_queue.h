/* Records of a thread on their way from a trace's reader to the import. Some of them wait for data
 * of another record: a receive is posted without its source, and a nonblocking collective without
 * its communicator, where the trace has both at completion only. Where one thread completes what
 * another has posted, and the completion is read first, its record waits for that post.
 *
 * In ranks with several threads both ends of requests are joined later: a trace's reader reads the
 * threads at different pace, numbers of requests are reused, and the post of an end is certain only
 * when all earlier ends have theirs. So ends wait until all threads have been read up to their
 * time, and are joined in the order of time over all threads.
 *
 * Memory: at most CALL_QUEUE_CAPACITY records that wait or follow one that waits. A record
 * that waits longer is passed on incomplete; its completion then counts as a receive that is posted
 * when it completes. */
#ifndef HOLTER_IMPORT_CALL_QUEUE_H
#define HOLTER_IMPORT_CALL_QUEUE_H

#include "daemon/import/trace/request_table.h"
#include "holter/event.h"

#include <stdint.h>

#define CALL_QUEUE_CAPACITY 16384u
/** Records that are read ahead, if the trace has so many. */
#define CALL_QUEUE_READ_AHEAD 4096u

/** What a record waits for; stored in event.seq. The missing data are then identified by the id of
 * the request in event.bytes, or by the number of its end in event.t_post. */
enum call_wait {
    CALL_COMPLETE,
    CALL_WAITS_FOR_END,  /**< for the end of the request that it posted */
    CALL_WAITS_FOR_POST, /**< for the post of the request that it ended */
};

struct call_queue {
    struct event *items; /**< owned; a ring buffer */
    uint32_t capacity, count;
    uint64_t first;                 /**< position of the oldest */
    struct request_table *requests; /**< borrowed: of the rank */
    struct call_queue *next;        /**< borrowed: of another thread of the rank */
    /** Owned, a ring by number: in ranks with several threads, records that ended requests and are
     * not joined with their posts yet. */
    struct open_request *ends;
    uint32_t end_capacity;
    uint64_t end_first, end_next; /**< numbers */
    uint64_t order;               /**< order of the next post or end of a request */
    struct event *parts;          /**< borrowed: parts of the open call */
    int shared;                   /**< the rank has other threads */
    uint32_t next_number, number_step;
    uint64_t forced; /**< records that were passed on before their missing data were known */
};

/** @param number, step  of requests: those of threads of one rank must differ */
void call_queue_init(struct call_queue *queue, struct request_table *requests, uint32_t number,
                     uint32_t step);
void call_queue_finish(struct call_queue *queue);

/** Allocate the number of a request, never 0. */
uint32_t call_queue_number(struct call_queue *queue);

/** Add a request that this thread posts. If the thread is the rank's only one, an open request with
 * the same id is dropped.
 * @return the request, to be filled in, valid until the next call; NULL: no memory */
struct open_request *call_queue_begin(struct call_queue *queue, uint64_t id);

/** Add the end of a request. Its part waits for the post: it is joined with that at once if the
 * thread is the rank's only one, and later in ranks with several threads.
 * @param end     its id, begin, flags, bytes and part
 * @param number  set to the number of an end that is joined later
 * @return 0 or -ENOMEM */
int call_queue_end(struct call_queue *queue, struct open_request *end, uint64_t *number);

/** An end by its number. @return NULL: it is already joined */
struct open_request *call_queue_end_at(const struct call_queue *queue, uint64_t number);

/** Append a record.
 * @param waits_for  what event->seq waits for: id of a request, or number of an end
 * @param part       the record's index in the open call, if it waits
 * @return 0 or -ENOMEM */
int call_queue_put(struct call_queue *queue, const struct event *event, uint64_t waits_for,
                   uint32_t part);

/** What the oldest record waits for. */
enum call_wait call_queue_waits(const struct call_queue *queue);

/** The oldest record; the queue must not be empty. */
const struct event *call_queue_oldest(const struct call_queue *queue);

/** Stop the waiting of the oldest record and complete it with what is known of other threads.
 * @param too_long  count it in `forced` if its other end is missing: that end may still come */
void call_queue_force(struct call_queue *queue, int too_long);

/** End all waiting: no thread of the rank has further records. */
void call_queue_close(struct call_queue *queue);

/** Must records be removed before further ones are added? */
int call_queue_is_full(const struct call_queue *queue);

/** Remove the oldest records as long as they are complete. @return their number */
uint32_t call_queue_remove(struct call_queue *queue, struct event *out, uint32_t most);

/** Join the ends in calls that began before a time that all threads have reached. Ends without a
 * post stay alone; if more records may follow, the queue counts them. */
void call_queue_join_before(struct request_table *table, uint64_t before);

#endif

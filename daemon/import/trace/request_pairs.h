/* Both ends of a rank's requests are joined, where the rank has several threads.
 *
 * A reader of a trace has one thread ahead of the others. Numbers of requests come again, and which
 * post an end belongs to is certain only when all ends before it have theirs: so ends wait until
 * all threads have come to their time, and are joined in the order of time over all threads. */
#ifndef HOLTER_IMPORT_REQUEST_PAIRS_H
#define HOLTER_IMPORT_REQUEST_PAIRS_H

#include "daemon/import/trace/call_queue.h"

/** What a request was for is told once more where it ends. @param post  as it was when it was
 * posted */
void request_pairs_tell_end(struct event *end, const struct open_request *post);

/** Join what ended in calls that began before a time: all threads have come to it. Ends without a
 * post stay alone; when there may be more to come they are counted by the queue. */
void request_pairs_settle(struct request_table *table, uint64_t before);

/** Join an end of a queue now, and those that come before it in the order of time, with what is
 * known.
 *  @param number  of the end @return 0, or -ENOENT: it has no post */
int request_pairs_join(struct call_queue *queue, uint64_t number);

#endif

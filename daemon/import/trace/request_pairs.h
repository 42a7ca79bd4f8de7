/* Joining of both ends of a rank's requests, where the rank has several threads.
 *
 * A trace's reader reads the threads at different pace. Numbers of requests are reused, and the
 * post of an end is certain only when all earlier ends have theirs: so ends wait until all threads
 * have been read up to their time, and are joined in the order of time over all threads. */
#ifndef HOLTER_IMPORT_REQUEST_PAIRS_H
#define HOLTER_IMPORT_REQUEST_PAIRS_H

#include "daemon/import/trace/call_queue.h"

/** Copy to the record of an end what its request was for. @param post  the request as it was posted
 */
void request_pairs_copy_post(struct event *end, const struct open_request *post);

/** Join the ends in calls that began before a time that all threads have reached. Ends without a
 * post stay alone; if more records may follow, the queue counts them. */
void request_pairs_join_before(struct request_table *table, uint64_t before);

/** Join an end of a queue now with what is known, after all ends that precede it in time.
 * @param number  of the end @return 0, or -ENOENT: it has no post */
int request_pairs_join(struct call_queue *queue, uint64_t number);

#endif

/* Joining of posts and ends of requests in ranks with several threads: see request_pairs.h. */
#include "daemon/import/trace/request_pairs.h"

#include <errno.h>

/* The record that ended a request. @return NULL: it is already joined */
static struct event *request_pairs_record_of(const struct open_request *end)
{
    struct event *item = call_queue_record(end);
    return item != NULL && item->seq == CALL_WAITS_FOR_POST ? item : NULL;
}

/* Set in a record which request it ended. */
static void request_pairs_name_post(struct event *end, const struct open_request *post)
{
    end->request = post->number;
    end->t_post = post->t_post;
    end->flags |= post->flags;
}

void request_pairs_copy_post(struct event *end, const struct open_request *post)
{
    request_pairs_name_post(end, post);
    end->peer = post->peer;
    end->tag = post->tag;
    end->comm = post->comm;
    end->bytes = post->bytes;
}

/* Copy the data of the completion to the record of the post. */
static void request_pairs_report_post(struct event *begun, const struct event *end,
                                      const struct open_request *ended, uint16_t direction)
{
    begun->peer = end->peer;
    begun->tag = end->tag;
    begun->comm = end->comm;
    begun->bytes = end->bytes;
    begun->bytes_in = direction == 0 ? ended->bytes : begun->bytes_in;
    begun->flags |= (end->flags | ended->flags) & EVENT_INTER;
    begun->seq = CALL_COMPLETE;
}

/* @return 0, or -ENOENT: the end stays without a post */
static int request_pairs_join_requests(const struct open_request *ended, struct open_request *post)
{
    uint16_t direction = post->flags & (EVENT_SEND | EVENT_RECV);
    struct event *begun = call_queue_waiting(post), *end = request_pairs_record_of(ended);
    if (end == NULL ||
        (begun == NULL && direction == EVENT_RECV && !(end->flags & EVENT_CANCELLED)))
        return -ENOENT;
    if (end->flags & EVENT_CANCELLED || direction == EVENT_SEND) {
        if (begun != NULL)
            call_queue_complete_alone(begun);
        request_pairs_copy_post(end, post);
    } else {
        if (begun != NULL)
            request_pairs_report_post(begun, end, ended, direction);
        request_pairs_name_post(end, post);
    }
    end->seq = CALL_COMPLETE;
    return 0;
}

/* The oldest end of a thread. */
static struct open_request *request_pairs_head_of(const struct call_queue *q)
{
    return q->end_first == q->end_next ? NULL : call_queue_end_at(q, q->end_first);
}

/* @return as request_pairs_join_requests() */
static int request_pairs_join_oldest(struct request_table *table, struct call_queue *q)
{
    const struct open_request *ended = request_pairs_head_of(q);
    struct open_request *post = request_table_match(table, ended);
    int code = post == NULL ? -ENOENT : request_pairs_join_requests(ended, post);
    if (post != NULL)
        request_table_remove(table, post);
    struct event *end = code == 0 ? NULL : request_pairs_record_of(ended);
    if (end != NULL)
        call_queue_complete_alone(end);
    q->end_first++;
    table->pending--;
    return code;
}

void request_pairs_join_before(struct request_table *table, uint64_t before)
{
    while (table->pending > 0) {
        struct call_queue *oldest = NULL;
        for (struct call_queue *q = table->queues; q != NULL; q = q->next)
            if (request_pairs_head_of(q) != NULL &&
                (oldest == NULL ||
                 request_pairs_head_of(q)->t_post < request_pairs_head_of(oldest)->t_post))
                oldest = q;
        if (oldest == NULL || request_pairs_head_of(oldest)->t_post >= before)
            return;
        request_pairs_join_oldest(table, oldest);
    }
}

int request_pairs_join(struct call_queue *q, uint64_t number)
{
    const struct open_request *end = call_queue_end_at(q, number);
    int code = -ENOENT;
    if (end == NULL)
        return code;
    request_pairs_join_before(q->requests, end->t_post);
    while (q->end_first <= number)
        code = request_pairs_join_oldest(q->requests, q);
    return code;
}

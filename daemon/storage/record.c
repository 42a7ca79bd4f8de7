/* The recorder as the event loop sees it: puts messages and results into the queue, and reports
 * commits and failures that the recorder's thread (record_thread.c) has put into its lists. */
#include "daemon/storage/record_state.h"

#include "holter/condition.h"
#include "holter/error.h"
#include "proto/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_TOPIC "record"
#define QUEUE_BYTES ((size_t)256 << 20)
#define ANNOUNCE_BATCH 256u /* commits reported in one turn of the loop */

void record_item_free(struct record_item *item)
{
    zmq_msg_close(&item->message);
    free(item);
}

/* A commit may acknowledge thousands of agents. They are reported in batches, so that other work
 * of the loop does not wait. */
static void record_announce_committed(struct recorder *r, uint32_t maximum)
{
    if (r->announced == r->announcing_acks.agents.count) {
        commit_acks_clear(&r->announcing_acks);
        r->announced = 0;
        pthread_mutex_lock(&r->mutex);
        r->announcing_acks = r->committed_acks;
        r->committed_acks = (struct commit_acks){0};
        pthread_mutex_unlock(&r->mutex);
    }
    const struct commit_acks *list = &r->announcing_acks;
    for (uint32_t i = 0; i < maximum && r->announced < list->agents.count; i++) {
        uint32_t at = r->announced++;
        r->events.kept(r->events.user, list->agents.keys[at].hi, list->seqs[at]);
    }
    if (list->agents.count > 0) /* the rest, and what was committed in the meantime */
        uv_async_send(&r->notify);
}

static void record_on_notices(uv_async_t *async)
{
    struct recorder *r = async->data;
    pthread_mutex_lock(&r->mutex);
    struct record_notice *notices = r->notices;
    r->notices = NULL;
    pthread_mutex_unlock(&r->mutex);
    while (notices != NULL) {
        struct record_notice *notice = notices;
        notices = notice->next;
        if (!notice->moved)
            r->events.stopped(r->events.user, notice->job, notice->text);
        else if (r->events.moved != NULL)
            r->events.moved(r->events.user, notice->job, notice->text);
        if (notice->moved)
            free(notice);
    }
    record_announce_committed(r, ANNOUNCE_BATCH);
}

int recorder_create(struct recorder **out, uv_loop_t *loop, const struct recorder_options *options,
                    const struct recorder_events *events)
{
    struct recorder *r = calloc(1, sizeof(*r));
    if (r == NULL)
        return -ENOMEM;
    r->options = *options;
    r->options.queue_bytes = options->queue_bytes == 0 ? QUEUE_BYTES : options->queue_bytes;
    r->events = *events;
    r->last = &r->first;
    pthread_mutex_init(&r->mutex, NULL);
    condition_init(&r->wake);
    int code = uv_async_init(loop, &r->notify, record_on_notices);
    if (code != 0) {
        free(r);
        return code;
    }
    r->notify.data = r;
    code = -pthread_create(&r->thread, NULL, record_thread_run, r);
    if (code != 0) {
        log_error("no thread for recordings: %s", holter_strerror(code));
        r->stopping = -1;
        recorder_destroy(r);
        return code;
    }
    *out = r;
    return 0;
}

static struct record_item *record_item_create(enum record_action action, const char *job)
{
    struct record_item *item = calloc(1, sizeof(*item));
    if (item == NULL)
        return NULL;
    item->action = action;
    snprintf(item->job, sizeof(item->job), "%s", job);
    zmq_msg_init(&item->message);
    return item;
}

/* Messages are refused when the queue is full; all other items are accepted.
 * @return 0: the item was refused and still belongs to the caller */
static int record_push_item(struct recorder *r, struct record_item *item)
{
    size_t bytes = record_item_bytes(item);
    pthread_mutex_lock(&r->mutex);
    int accepted = item->action != RECORD_MESSAGE ||
                   recorder_queued_bytes(r) + bytes <= r->options.queue_bytes;
    if (accepted) {
        atomic_fetch_add_explicit(&r->queued_bytes, bytes, memory_order_relaxed);
        *r->last = item;
        r->last = &item->next;
        r->commit_now |= item->action == RECORD_CLOSE;
        if (record_has_work(r))
            pthread_cond_signal(&r->wake);
    }
    pthread_mutex_unlock(&r->mutex);
    return accepted;
}

static int record_item_set_message(struct record_item *item, const void *bytes, size_t length)
{
    zmq_msg_close(&item->message);
    if (zmq_msg_init_size(&item->message, length) != 0) {
        zmq_msg_init(&item->message);
        return -ENOMEM;
    }
    memcpy(zmq_msg_data(&item->message), bytes, length);
    return 0;
}

/* The newest one of the job. */
static struct record_track *record_find_track(const struct recorder *r, const char *job)
{
    struct record_track *t = r->open_tracks;
    while (t != NULL && strcmp(t->job, job) != 0)
        t = t->next_open;
    return t;
}

/* Each recording has a track of its own: a job of the same name may have had one that stopped.
 * @return 0, or -ENOMEM: the job is not recorded */
static int record_open_track(struct recorder *r, const char *job, const char *path)
{
    struct record_item *item = record_item_create(RECORD_OPEN, job);
    struct record_track *track = calloc(1, sizeof(*track));
    if (item == NULL || track == NULL || record_item_set_message(item, path, strlen(path)) != 0) {
        if (item != NULL)
            record_item_free(item);
        free(track);
        return -ENOMEM;
    }
    snprintf(track->job, sizeof(track->job), "%s", job);
    track->next_open = r->open_tracks;
    r->open_tracks = track;
    item->track = track;
    record_push_item(r, item);
    return 0;
}

void recorder_open(struct recorder *r, const char *job, const char *path)
{
    int code = record_open_track(r, job, path);
    if (code == 0)
        return;
    log_error("job %s is not recorded: %s", job, holter_strerror(code));
    r->events.stopped(r->events.user, job, holter_strerror(code));
}

void recorder_mark_lost(struct recorder *r, const char *job)
{
    struct record_track *track = record_find_track(r, job);
    if (track != NULL)
        atomic_store_explicit(&track->lost, 1, memory_order_relaxed);
}

/* A message that is not written takes no place in the queue, which may be full for as long as a
 * disk hangs. */
static void record_acknowledge_refused(struct recorder *r, const struct recorded *head,
                                       zmq_msg_t *message)
{
    zmq_msg_close(message);
    zmq_msg_init(message);
    pthread_mutex_lock(&r->mutex);
    commit_acks_add(&r->refused_acks, head->instance, head->seq);
    if (record_has_work(r))
        pthread_cond_signal(&r->wake);
    pthread_mutex_unlock(&r->mutex);
}

void recorder_queue_message(struct recorder *r, const char *job, const struct recorded *head,
                            zmq_msg_t *message)
{
    struct record_track *track = record_find_track(r, job);
    if (track != NULL && track->refused) {
        record_acknowledge_refused(r, head, message);
        return;
    }
    struct record_item *item = record_item_create(RECORD_MESSAGE, job);
    if (item == NULL) {
        recorder_mark_lost(r, job);
        return;
    }
    item->head = *head;
    zmq_msg_move(&item->message, message);
    if (record_push_item(r, item))
        return;
    /* A recording with a gap could be mistaken for a complete one: it ends here instead. */
    char why[128];
    snprintf(why, sizeof(why), "the disk does not keep up: %zu MiB wait to be written",
             r->options.queue_bytes >> 20);
    record_item_set_message(item, why, strlen(why));
    item->action = RECORD_STOP;
    record_push_item(r, item);
    if (track != NULL)
        track->refused = 1;
}

void recorder_queue_result(struct recorder *r, const char *job, enum wire_type type,
                           const void *message)
{
    struct wire_buffer buffer = {0};
    const struct record_track *track = record_find_track(r, job);
    if (track != NULL && track->refused)
        return;
    struct record_item *item = record_item_create(RECORD_RESULT, job);
    int code = item == NULL ? -ENOMEM : wire_encode(&buffer, type, message);
    code = code != 0 ? code : record_item_set_message(item, buffer.bytes, buffer.length);
    if (code == 0)
        record_push_item(r, item);
    else if (item != NULL)
        record_item_free(item);
    if (code == -ENOMEM)
        recorder_mark_lost(r, job);
    wire_buffer_finish(&buffer);
}

void recorder_queue_acknowledgement(struct recorder *r, uint64_t instance, uint64_t seq)
{
    struct record_item *item = record_item_create(RECORD_ACK, "");
    if (item == NULL)
        return;
    item->head.instance = instance;
    item->head.seq = seq;
    record_push_item(r, item);
}

void recorder_close(struct recorder *r, const char *job)
{
    struct record_item *item = record_item_create(RECORD_CLOSE, job);
    if (item != NULL)
        record_push_item(r, item);
}

size_t recorder_queued_bytes(const struct recorder *r)
{
    return atomic_load_explicit(&r->queued_bytes, memory_order_acquire);
}

uint64_t recorder_file_bytes(struct recorder *r)
{
    return r == NULL ? 0 : atomic_load_explicit(&r->bytes, memory_order_relaxed);
}

static void record_on_closed(uv_handle_t *handle)
{
    struct recorder *r = handle->data;
    commit_acks_clear(&r->refused_acks);
    commit_acks_clear(&r->committed_acks);
    commit_acks_clear(&r->announcing_acks);
    while (r->open_tracks != NULL) {
        struct record_track *track = r->open_tracks;
        r->open_tracks = track->next_open;
        free(track);
    }
    pthread_cond_destroy(&r->wake);
    pthread_mutex_destroy(&r->mutex);
    free(r);
}

void recorder_destroy(struct recorder *r)
{
    if (r == NULL)
        return;
    int started = r->stopping == 0;
    if (started) {
        pthread_mutex_lock(&r->mutex);
        r->stopping = 1;
        pthread_cond_signal(&r->wake);
        pthread_mutex_unlock(&r->mutex);
        pthread_join(r->thread, NULL);
        record_on_notices(&r->notify);
        record_announce_committed(r,
                                  UINT32_MAX); /* the batch that was begun, then the last commit */
        record_announce_committed(r, UINT32_MAX);
    }
    uv_close((uv_handle_t *)&r->notify, record_on_closed);
}

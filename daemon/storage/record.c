/* The recorder as the event loop sees it: puts messages and results into the queue, and reports
 * commits and failures that the recorder's thread (record_thread.c) has put into its lists. */
#include "daemon/storage/record_state.h"

#include "holter/error.h"
#include "proto/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_TOPIC "record"
#define QUEUE_BYTES ((size_t)256 << 20)
#define TELL_TURN 256u /* agents told in one turn of the loop */

void record_item_free(struct record_item *item)
{
    zmq_msg_close(&item->message);
    free(item);
}

/* A commit may acknowledge thousands of agents. They are reported in batches, so that other work
 * of the loop does not wait. */
static void record_announce_committed(struct recorder *r, uint32_t most)
{
    if (r->telling_from == r->telling.agents.count) {
        kept_list_clear(&r->telling);
        r->telling_from = 0;
        pthread_mutex_lock(&r->mutex);
        r->telling = r->told;
        r->told = (struct kept_list){0};
        pthread_mutex_unlock(&r->mutex);
    }
    const struct kept_list *list = &r->telling;
    for (uint32_t i = 0; i < most && r->telling_from < list->agents.count; i++) {
        uint32_t at = r->telling_from++;
        r->events.kept(r->events.user, list->agents.keys[at].hi, list->seqs[at]);
    }
    if (list->agents.count > 0) /* the rest, and what was committed in the meantime */
        uv_async_send(&r->news);
}

static void on_news(uv_async_t *async)
{
    struct recorder *r = async->data;
    pthread_mutex_lock(&r->mutex);
    struct record_stop *stops = r->stops;
    r->stops = NULL;
    pthread_mutex_unlock(&r->mutex);
    while (stops != NULL) {
        struct record_stop *one = stops;
        stops = one->next;
        if (!one->moved)
            r->events.stopped(r->events.user, one->job, one->why);
        else if (r->events.moved != NULL)
            r->events.moved(r->events.user, one->job, one->why);
        if (one->moved)
            free(one);
    }
    record_announce_committed(r, TELL_TURN);
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
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&r->mutex, NULL);
    pthread_cond_init(&r->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    int code = uv_async_init(loop, &r->news, on_news);
    if (code != 0) {
        free(r);
        return code;
    }
    r->news.data = r;
    code = -pthread_create(&r->thread, NULL, record_run, r);
    if (code != 0) {
        log_error("no thread for recordings: %s", holter_strerror(code));
        r->leaving = -1;
        recorder_destroy(r);
        return code;
    }
    *out = r;
    return 0;
}

static struct record_item *record_make(enum record_action action, const char *job)
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
static int record_push(struct recorder *r, struct record_item *item)
{
    size_t bytes = record_item_bytes(item);
    pthread_mutex_lock(&r->mutex);
    int accepted = item->action != KEEP || recorder_waiting(r) + bytes <= r->options.queue_bytes;
    if (accepted) {
        atomic_fetch_add_explicit(&r->waiting_bytes, bytes, memory_order_relaxed);
        *r->last = item;
        r->last = &item->next;
        r->wakeful |= item->action == CLOSE;
        if (record_is_work(r))
            pthread_cond_signal(&r->wake);
    }
    pthread_mutex_unlock(&r->mutex);
    return accepted;
}

static int record_fill(struct record_item *item, const void *bytes, size_t length)
{
    zmq_msg_close(&item->message);
    if (zmq_msg_init_size(&item->message, length) != 0) {
        zmq_msg_init(&item->message);
        return -ENOMEM;
    }
    memcpy(zmq_msg_data(&item->message), bytes, length);
    return 0;
}

static struct record_track *record_opened(const struct recorder *r, const char *job)
{
    struct record_track *t = r->opened;
    while (t != NULL && strcmp(t->job, job) != 0)
        t = t->next_opened;
    return t;
}

/* @return 0, or -ENOMEM: the job is not recorded */
static int open_track(struct recorder *r, const char *job, const char *path, uint64_t ranks)
{
    struct record_item *item = record_make(OPEN, job);
    struct record_track *track = record_opened(r, job) == NULL ? calloc(1, sizeof(*track)) : NULL;
    if (item == NULL || (track == NULL && record_opened(r, job) == NULL) ||
        record_fill(item, path, strlen(path)) != 0) {
        if (item != NULL)
            record_item_free(item);
        free(track);
        return -ENOMEM;
    }
    if (track != NULL) {
        snprintf(track->job, sizeof(track->job), "%s", job);
        track->next_opened = r->opened;
        r->opened = track;
        item->track = track;
    }
    item->ranks = ranks;
    record_push(r, item);
    return 0;
}

void recorder_open(struct recorder *r, const char *job, const char *path, uint64_t ranks)
{
    int code = open_track(r, job, path, ranks);
    if (code == 0)
        return;
    log_error("job %s is not recorded: %s", job, holter_strerror(code));
    r->events.stopped(r->events.user, job, holter_strerror(code));
}

void recorder_lost(struct recorder *r, const char *job)
{
    struct record_track *track = record_opened(r, job);
    if (track != NULL)
        atomic_store_explicit(&track->lost, 1, memory_order_relaxed);
}

void recorder_keep(struct recorder *r, const char *job, const struct recorded *head,
                   zmq_msg_t *message)
{
    struct record_item *item = record_make(KEEP, job);
    if (item == NULL) {
        recorder_lost(r, job);
        return;
    }
    item->head = *head;
    zmq_msg_move(&item->message, message);
    if (record_push(r, item))
        return;
    /* A recording with a gap could be mistaken for a complete one: it ends here instead. */
    char why[128];
    snprintf(why, sizeof(why), "the disk does not keep up: %zu MiB wait to be written",
             r->options.queue_bytes >> 20);
    record_fill(item, why, strlen(why));
    item->action = STOP;
    record_push(r, item);
}

void recorder_table(struct recorder *r, const char *job, enum wire_type type, const void *message)
{
    struct wire_buffer buffer = {0};
    struct record_item *item = record_make(TABLE, job);
    int code = item == NULL ? -ENOMEM : wire_encode(&buffer, type, message);
    code = code != 0 ? code : record_fill(item, buffer.bytes, buffer.length);
    if (code == 0)
        record_push(r, item);
    else if (item != NULL)
        record_item_free(item);
    if (code == -ENOMEM)
        recorder_lost(r, job);
    wire_buffer_finish(&buffer);
}

void recorder_note(struct recorder *r, uint64_t instance, uint64_t seq)
{
    struct record_item *item = record_make(NOTE, "");
    if (item == NULL)
        return;
    item->head.instance = instance;
    item->head.seq = seq;
    record_push(r, item);
}

void recorder_close(struct recorder *r, const char *job)
{
    struct record_item *item = record_make(CLOSE, job);
    if (item != NULL)
        record_push(r, item);
}

size_t recorder_waiting(const struct recorder *r)
{
    return atomic_load_explicit(&r->waiting_bytes, memory_order_acquire);
}

uint64_t recorder_bytes(struct recorder *r)
{
    return r == NULL ? 0 : atomic_load_explicit(&r->bytes, memory_order_relaxed);
}

static void record_on_closed(uv_handle_t *handle)
{
    struct recorder *r = handle->data;
    kept_list_clear(&r->told);
    kept_list_clear(&r->telling);
    while (r->opened != NULL) {
        struct record_track *track = r->opened;
        r->opened = track->next_opened;
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
    int started = r->leaving == 0;
    if (started) {
        pthread_mutex_lock(&r->mutex);
        r->leaving = 1;
        pthread_cond_signal(&r->wake);
        pthread_mutex_unlock(&r->mutex);
        pthread_join(r->thread, NULL);
        on_news(&r->news);
        record_announce_committed(r,
                                  UINT32_MAX); /* the batch that was begun, then the last commit */
        record_announce_committed(r, UINT32_MAX);
    }
    uv_close((uv_handle_t *)&r->news, record_on_closed);
}

/* The recorder's thread: writes the items of the queue into recordings, and commits these at
 * least once a second. */
#include "daemon/storage/record_state.h"

#include "holter/clock.h"
#include "holter/error.h"
#include "proto/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define LOG_TOPIC "record"
#define COMMIT_NS UINT64_C(500000000) /* half of the second that is promised */
#define NICER 5 /* gives a third of the weight of the other threads, see sched(7) */

static struct record_track *record_thread_track_of(struct recorder *r, const char *job)
{
    for (struct record_track *t = r->tracks; t != NULL; t = t->next) {
        if (strcmp(t->job, job) == 0)
            return t;
    }
    return NULL;
}

static void record_thread_report_stop(struct recorder *r, struct record_stop *stop)
{
    pthread_mutex_lock(&r->mutex);
    stop->next = r->stops;
    r->stops = stop;
    pthread_mutex_unlock(&r->mutex);
    uv_async_send(&r->news);
}

static void record_thread_fill(struct record_stop *stop, const struct record_track *t,
                               const char *why)
{
    snprintf(stop->job, sizeof(notice->job), "%s", t->job);
    snprintf(stop->why, sizeof(stop->why), "%s", why);
}

/* Without memory no notice is sent: readers of the first part find the later parts by its name. */
static void record_thread_report_moved(struct recorder *r, const struct record_track *t)
{
    struct record_stop *stop = calloc(1, sizeof(*notice));
    log_info("recording of job %s goes on in %s", t->job, t->path);
    if (notice == NULL)
        return;
    stop->moved = 1;
    record_thread_fill(stop, t, t->path);
    record_thread_report_stop(r, stop);
}

static void record_thread_stop(struct recorder *r, struct record_track *t, const char *why)
{
    t->stopped = 1;
    recording_abandon(t->recording);
    t->recording = NULL;
    log_error("recording of job %s stops: %s", t->job, why);
    record_thread_fill(&t->last, t, why);
    record_thread_report_stop(r, &t->last);
}

/* Stop where the messages written so far are complete: close the file in order. */
static void stop_whole(struct recorder *r, struct record_track *t, const char *why)
{
    if (t->stopped)
        return;
    recording_close(t->recording);
    t->recording = NULL;
    record_thread_stop(r, t, why);
}

static void stop_on_error(struct recorder *r, struct record_track *t, int code)
{
    char why[256];
    snprintf(why, sizeof(why), "%s",
             code == -EIO ? recording_error(t->recording) : holter_strerror(code));
    record_thread_stop(r, t, why);
}

static int record_thread_ready(struct recorder *r, struct record_track *t)
{
    if (t->recording != NULL)
        return 1;
    char why[256];
    if (t->stopped || t->path[0] == '\0')
        return 0;
    if (recording_open_paged(&t->recording, t->path,
                             recording_page_for(t->ranks, r->options.most_bytes), why,
                             sizeof(why)) != 0) {
        record_thread_stop(r, t, why);
        return 0;
    }
    if (r->options.pages != 0)
        recording_limit(t->recording, r->options.pages);
    return 1;
}

static int record_thread_begin(struct record_track *t, const char *path, size_t length,
                               uint64_t ranks)
{
    char base[520];
    t->ranks = ranks;
    snprintf(base, sizeof(base), "%.*s", (int)length, path);
    int code = record_parts_begin(&t->parts, base, t->path, sizeof(t->path));
    if (code != 0)
        t->path[0] = '\0';
    return code;
}

/* After a commit: continue in the next part if this one has reached its size. */
static void record_thread_continue_part(struct recorder *r, struct record_track *t)
{
    char why[600];
    if (t->recording == NULL || !record_parts_over(t->recording, r->options.most_bytes))
        return;
    if (record_parts_next(&t->parts, &t->recording, t->path, sizeof(t->path), r->options.most_bytes,
                          t->newest_ns, why, sizeof(why)) != 0)
        record_thread_stop(r, t, why);
    else
        record_thread_report_moved(r, t);
}

/* Remember the messages that the next part has to begin with. */
static void record_thread_remember_message(struct recorder *r, struct record_track *t,
                                           const struct recorded *head,
                                           const struct wire_message *table, const void *bytes,
                                           size_t length)
{
    int code = 0;
    if (r->options.most_bytes == 0)
        return;
    if (table != NULL && table->type == WIRE_TYPE_TOPOLOGY)
        code = record_parts_network(&t->parts, &table->topology, bytes, length);
    if (table == NULL && head->type == WIRE_TYPE_RANKS)
        code = record_parts_ranks(&t->parts, head, bytes, length);
    if (code != 0)
        log_warn("job %s: the next part of the recording will lack some ranks", t->job);
}

static void release_message(void *owner)
{
    zmq_msg_close(owner);
    free(owner);
}

/* Hand the item's message over to the recording. */
static int keep_item(struct recording *recording, struct record_item *item)
{
    zmq_msg_t *message = malloc(sizeof(*message));
    if (message == NULL)
        return -ENOMEM;
    zmq_msg_init(message);
    zmq_msg_move(message, &item->message);
    const struct block_source source = {
        .bytes = zmq_msg_data(message),
        .length = zmq_msg_size(message),
        .release = release_message,
        .owner = message,
    };
    return recording_message_source(recording, &item->head, &source);
}

/* An earlier item was lost for lack of memory: the recording must not continue without it. */
static void stop_where_lost(struct recorder *r, struct record_track *t)
{
    if (atomic_load_explicit(&t->lost, memory_order_relaxed) != 0)
        stop_whole(r, t, holter_strerror(-ENOMEM));
}

static void write_item(struct recorder *r, struct record_track *t, struct record_item *item)
{
    const void *bytes = zmq_msg_data(&item->message);
    size_t length = zmq_msg_size(&item->message);
    int code = 0;
    stop_where_lost(r, t);
    if (item->action == OPEN && record_thread_begin(t, bytes, length, item->ranks) != 0)
        record_thread_stop(r, t, "its path is too long");
    if (item->action == STOP) {
        char why[256];
        snprintf(why, sizeof(why), "%.*s", (int)length, (const char *)bytes);
        stop_whole(r, t, why);
        return;
    }
    if (item->action == CLOSE) {
        code = recording_close(t->recording);
        t->recording = NULL;
        if (code != 0)
            record_thread_stop(r, t, "its last second could not be written");
        return;
    }
    if (!record_thread_ready(r, t))
        return;
    if (item->action == KEEP) {
        record_thread_remember_message(r, t, &item->head, NULL, bytes, length);
        code = keep_item(t->recording, item);
        t->newest_ns = item->head.received_ns;
    } else if (item->action == TABLE) {
        struct wire_message message;
        code = wire_decode(&message, &r->arena, bytes, length, NULL);
        /* All messages of the union begin at the same address. */
        code = code != 0 ? code : recording_table(t->recording, message.type, &message.job);
        if (code == 0)
            record_thread_remember_message(r, t, NULL, &message, bytes, length);
    }
    if (code != 0)
        stop_on_error(r, t, code);
}

static void record_thread_handle(struct recorder *r, struct record_item *item)
{
    if (item->track != NULL) {
        item->track->next = r->tracks;
        r->tracks = item->track;
    }
    struct record_track *t = item->action == NOTE ? NULL : record_thread_track_of(r, item->job);
    if (t != NULL)
        write_item(r, t, item);
    if (item->action == KEEP || item->action == NOTE || item->action == STOP)
        kept_list_add(&r->pending, item->head.instance, item->head.seq);
    if (r->oldest_ns == 0)
        r->oldest_ns = clock_mono_ns();
    record_item_free(item);
}

static void record_thread_commit(struct recorder *r)
{
    uint64_t bytes = 0;
    for (struct record_track *t = r->tracks; t != NULL; t = t->next) {
        stop_where_lost(r, t);
        int code = t->recording == NULL ? 0 : recording_commit(t->recording);
        if (code != 0)
            stop_on_error(r, t, code);
        else
            record_thread_continue_part(r, t);
        bytes += t->recording == NULL ? 0 : recording_bytes(t->recording);
    }
    atomic_store_explicit(&r->bytes, bytes, memory_order_relaxed);
    r->oldest_ns = r->uncommitted_bytes = 0;
    pthread_mutex_lock(&r->mutex);
    kept_list_merge(&r->told, &r->pending);
    pthread_mutex_unlock(&r->mutex);
    uv_async_send(&r->news);
}

int record_is_work(const struct recorder *r)
{
    return r->leaving || recorder_waiting(r) >= RECORD_BATCH_BYTES ||
           (r->first != NULL && r->wakeful);
}

/* Wait for work, but no longer than until a commit is due.
 * @return the whole queue, which the caller owns now */
static struct record_item *record_thread_next_item(struct recorder *r, int *leaving)
{
    uint64_t until = r->oldest_ns + COMMIT_NS;
    struct timespec at = {(time_t)(until / 1000000000), (long)(until % 1000000000)};
    int code = 0;
    pthread_mutex_lock(&r->mutex);
    r->wakeful |= r->oldest_ns == 0;
    while (code == 0 && !record_is_work(r))
        code = r->oldest_ns == 0 ? pthread_cond_wait(&r->wake, &r->mutex)
                                 : pthread_cond_timedwait(&r->wake, &r->mutex, &at);
    r->wakeful = 0;
    struct record_item *items = r->first;
    r->first = NULL;
    r->last = &r->first;
    *leaving = r->leaving;
    pthread_mutex_unlock(&r->mutex);
    return items;
}

void *record_run(void *user)
{
    struct recorder *r = user;
    int leaving = 0;
    /* Where all threads share one core, publishing has priority over recording. On Linux the nice
     * value belongs to the thread (setpriority(2)). */
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICER);
    pthread_setname_np(pthread_self(), RECORDER_THREAD);
    while (!leaving) {
        struct record_item *items = record_thread_next_item(r, &leaving);
        /* Items that arrived in the meantime are written before the commit, so that a message and
         * the results that follow from it are committed together. */
        uint64_t since = clock_mono_ns();
        while (items != NULL) {
            struct record_item *item = items;
            items = item->next;
            size_t bytes = record_item_bytes(item);
            record_thread_handle(r, item);
            atomic_fetch_sub_explicit(&r->waiting_bytes, bytes, memory_order_release);
            r->uncommitted_bytes += bytes;
            if (clock_mono_ns() - since >= COMMIT_NS ||
                record_parts_due(r->uncommitted_bytes, r->options.most_bytes)) {
                record_thread_commit(r);
                since = clock_mono_ns();
            }
        }
        if (r->oldest_ns != 0 && (leaving || clock_mono_ns() - r->oldest_ns >= COMMIT_NS))
            record_thread_commit(r);
    }
    for (struct record_track *t = r->tracks; t != NULL; t = t->next) {
        recording_close(t->recording);
        record_parts_finish(&t->parts);
    }
    wire_arena_finish(&r->arena);
    kept_list_clear(&r->pending);
    return NULL;
}

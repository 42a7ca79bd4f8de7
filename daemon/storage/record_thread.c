/* The recorder's thread: writes the items of the queue into recordings, and commits these at
 * least once a second. */
#include "daemon/storage/record_state.h"

#include "holter/clock.h"
#include "holter/condition.h"
#include "holter/error.h"
#include "proto/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define LOG_TOPIC "record"
#define COMMIT_NS UINT64_C(500000000) /* half of the second that is promised */
#define NICE_INCREMENT 5 /* gives a third of the weight of the other threads, see sched(7) */

/* The newest one of the job. */
static struct record_track *record_thread_find_track(struct recorder *r, const char *job)
{
    for (struct record_track *t = r->tracks; t != NULL; t = t->next) {
        if (strcmp(t->job, job) == 0)
            return t;
    }
    return NULL;
}

/* Notices are reported in their order: the last part that is named is the newest. */
static void record_thread_send_notice(struct recorder *r, struct record_notice *notice)
{
    pthread_mutex_lock(&r->mutex);
    struct record_notice **end = &r->notices;
    while (*end != NULL)
        end = &(*end)->next;
    notice->next = NULL;
    *end = notice;
    pthread_mutex_unlock(&r->mutex);
    uv_async_send(&r->notify);
}

static void record_thread_fill_notice(struct record_notice *notice, const struct record_track *t,
                                      const char *why)
{
    snprintf(notice->job, sizeof(notice->job), "%s", t->job);
    snprintf(notice->text, sizeof(notice->text), "%s", why);
}

/* Without memory no notice is sent: readers of the first part find the later parts by its name. */
static void record_thread_report_moved(struct recorder *r, const struct record_track *t)
{
    struct record_notice *notice = calloc(1, sizeof(*notice));
    log_info("recording of job %s goes on in %s", t->job, t->parts.path);
    if (notice == NULL)
        return;
    notice->moved = 1;
    record_thread_fill_notice(notice, t, t->parts.path);
    record_thread_send_notice(r, notice);
}

static void record_thread_stop(struct recorder *r, struct record_track *t, const char *why)
{
    t->stopped = 1;
    recording_stop(t->recording, t->newest_ns, why);
    t->recording = NULL;
    log_error("recording of job %s stops: %s", t->job, why);
    record_thread_fill_notice(&t->stop_notice, t, why);
    record_thread_send_notice(r, &t->stop_notice);
}

/* Stop where the messages written so far are complete. */
static void record_thread_stop_complete(struct recorder *r, struct record_track *t, const char *why)
{
    if (t->stopped)
        return;
    if (t->recording != NULL)
        recording_commit(t->recording);
    record_thread_stop(r, t, why);
}

static void record_thread_stop_on_error(struct recorder *r, struct record_track *t, int code)
{
    char why[256];
    snprintf(why, sizeof(why), "%s",
             code == -EIO ? recording_error(t->recording) : holter_strerror(code));
    record_thread_stop(r, t, why);
}

static int record_thread_open_recording(struct recorder *r, struct record_track *t)
{
    if (t->recording != NULL)
        return 1;
    char why[256];
    if (t->stopped || t->parts.path[0] == '\0')
        return 0;
    if (recording_open(&t->recording, t->parts.path, why, sizeof(why)) != 0) {
        record_thread_stop(r, t, why);
        return 0;
    }
    if (r->options.pages != 0)
        recording_limit(t->recording, r->options.pages);
    return 1;
}

/* After a commit: continue in the next part if this one has reached its size. */
static void record_thread_continue_part(struct recorder *r, struct record_track *t)
{
    char why[600], fault[600];
    if (t->recording == NULL || !record_parts_needs_next(&t->parts, t->recording))
        return;
    if (record_parts_next(&t->parts, &t->recording, t->newest_ns, why, sizeof(why)) == 0) {
        record_thread_report_moved(r, t);
        return;
    }
    recording_open(&t->recording, t->parts.path, fault, sizeof(fault)); /* to write why it stops */
    record_thread_stop(r, t, why);
}

/* An earlier item was lost for lack of memory: the recording must not continue without it. */
static void record_thread_stop_if_lost(struct recorder *r, struct record_track *t)
{
    if (atomic_load_explicit(&t->lost, memory_order_relaxed) != 0)
        record_thread_stop_complete(r, t, holter_strerror(-ENOMEM));
}

static void record_thread_write_item(struct recorder *r, struct record_track *t,
                                     struct record_item *item)
{
    const void *bytes = zmq_msg_data(&item->message);
    size_t length = zmq_msg_size(&item->message);
    int code = 0;
    record_thread_stop_if_lost(r, t);
    if (item->action == RECORD_OPEN) {
        char base[sizeof(t->parts.base)];
        snprintf(base, sizeof(base), "%.*s", (int)length, (const char *)bytes);
        if (record_parts_begin(&t->parts, base, r->options.most_bytes) != 0)
            record_thread_stop(r, t, "its path is too long");
    }
    if (item->action == RECORD_STOP) {
        char why[256];
        snprintf(why, sizeof(why), "%.*s", (int)length, (const char *)bytes);
        record_thread_stop_complete(r, t, why);
        return;
    }
    if (item->action == RECORD_CLOSE) {
        t->ended = 1;
        code = t->recording == NULL ? 0 : recording_commit(t->recording);
        if (code != 0) {
            record_thread_stop_on_error(r, t, code);
            return;
        }
        recording_close(t->recording); /* everything is in it, even if it cannot be packed better */
        t->recording = NULL;
        return;
    }
    if (!record_thread_open_recording(r, t))
        return;
    if (item->action == RECORD_MESSAGE) {
        code = recording_write_message(t->recording, &item->head, bytes, length);
        t->newest_ns = item->head.received_ns;
    } else if (item->action == RECORD_RESULT) {
        struct wire_message message;
        code = wire_decode(&message, &r->arena, bytes, length, NULL);
        if (code == 0 && message.type == WIRE_TYPE_JOB && strcmp(message.job.state, "running") == 0)
            t->ended = 0; /* it was only lost */
        /* All messages of the union begin at the same address. */
        code = code != 0 ? code : recording_write_result(t->recording, message.type, &message.job);
    }
    if (code != 0)
        record_thread_stop_on_error(r, t, code);
}

/* A late message may have opened the recording before this one again. */
static void record_thread_add_track(struct recorder *r, struct record_track *t)
{
    struct record_track *before = record_thread_find_track(r, t->job);
    if (before != NULL) {
        recording_close(before->recording);
        before->recording = NULL;
    }
    t->next = r->tracks;
    r->tracks = t;
}

static void record_thread_handle_item(struct recorder *r, struct record_item *item)
{
    if (item->track != NULL)
        record_thread_add_track(r, item->track);
    struct record_track *t =
        item->action == RECORD_ACK ? NULL : record_thread_find_track(r, item->job);
    if (t != NULL)
        record_thread_write_item(r, t, item);
    if (item->action == RECORD_MESSAGE || item->action == RECORD_ACK || item->action == RECORD_STOP)
        commit_acks_add(&r->pending, item->head.instance, item->head.seq);
    if (r->oldest_ns == 0)
        r->oldest_ns = clock_mono_ns();
    record_item_free(item);
}

static void record_thread_commit(struct recorder *r)
{
    uint64_t bytes = 0;
    for (struct record_track *t = r->tracks; t != NULL; t = t->next) {
        record_thread_stop_if_lost(r, t);
        int code = t->recording == NULL ? 0 : recording_commit(t->recording);
        if (code != 0)
            record_thread_stop_on_error(r, t, code);
        else
            record_thread_continue_part(r, t);
        if (t->ended) {
            recording_close(t->recording);
            t->recording = NULL;
        }
        bytes += t->recording == NULL ? 0 : recording_bytes(t->recording);
    }
    atomic_store_explicit(&r->bytes, bytes, memory_order_relaxed);
    r->oldest_ns = r->uncommitted_bytes = 0;
    pthread_mutex_lock(&r->mutex);
    commit_acks_merge(&r->committed_acks, &r->pending);
    pthread_mutex_unlock(&r->mutex);
    uv_async_send(&r->notify);
}

int record_has_work(const struct recorder *r)
{
    return r->stopping || recorder_queued_bytes(r) >= RECORD_BATCH_BYTES ||
           ((r->first != NULL || r->refused_acks.agents.count > 0) && r->commit_now);
}

/* Wait for work, but no longer than until a commit is due.
 * @param refused  list to add those acknowledgements to that are due when the queue is committed
 * @return the whole queue, which the caller owns now */
static struct record_item *record_thread_wait_items(struct recorder *r, struct commit_acks *refused,
                                                    int *stopping)
{
    uint64_t until = r->oldest_ns == 0 ? UINT64_MAX : r->oldest_ns + COMMIT_NS;
    int code = 0;
    pthread_mutex_lock(&r->mutex);
    r->commit_now |= r->oldest_ns == 0;
    while (code == 0 && !record_has_work(r))
        code = condition_wait(&r->wake, &r->mutex, until);
    r->commit_now = 0;
    struct record_item *items = r->first;
    r->first = NULL;
    r->last = &r->first;
    commit_acks_merge(refused, &r->refused_acks);
    *stopping = r->stopping;
    pthread_mutex_unlock(&r->mutex);
    return items;
}

void *record_thread_run(void *user)
{
    struct recorder *r = user;
    struct commit_acks refused = {0};
    int stopping = 0;
    /* Where all threads share one core, publishing has priority over recording. On Linux the nice
     * value belongs to the thread (setpriority(2)). */
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICE_INCREMENT);
    pthread_setname_np(pthread_self(), RECORDER_THREAD);
    while (!stopping) {
        struct record_item *items = record_thread_wait_items(r, &refused, &stopping);
        /* Items that arrived in the meantime are written before the commit, so that a message and
         * the results that follow from it are committed together. */
        uint64_t since = clock_mono_ns();
        while (items != NULL) {
            struct record_item *item = items;
            items = item->next;
            size_t bytes = record_item_bytes(item);
            record_thread_handle_item(r, item);
            atomic_fetch_sub_explicit(&r->queued_bytes, bytes, memory_order_release);
            r->uncommitted_bytes += bytes;
            if (clock_mono_ns() - since >= COMMIT_NS ||
                record_parts_needs_commit(r->uncommitted_bytes, r->options.most_bytes)) {
                record_thread_commit(r);
                since = clock_mono_ns();
            }
        }
        if (refused.agents.count > 0) {
            commit_acks_merge(&r->pending, &refused);
            r->oldest_ns = r->oldest_ns == 0 ? clock_mono_ns() : r->oldest_ns;
        }
        if (r->oldest_ns != 0 && (stopping || clock_mono_ns() - r->oldest_ns >= COMMIT_NS))
            record_thread_commit(r);
    }
    for (struct record_track *t = r->tracks; t != NULL; t = t->next)
        recording_close(t->recording);
    wire_arena_finish(&r->arena);
    commit_acks_clear(&r->pending);
    return NULL;
}

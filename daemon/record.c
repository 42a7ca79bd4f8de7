#include "daemon/record.h"

#include "daemon/block.h"
#include "daemon/kept_list.h"
#include "daemon/record_parts.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "proto/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define LOG_TOPIC "record"
#define COMMIT_NS UINT64_C(500000000) /* at least once a second is promised */
#define QUEUE_BYTES ((size_t)256 << 20)
#define TELL_TURN 256u                /* agents told in one turn of the loop */
#define NICER 5                       /* a third of the weight of the other threads, see sched(7) */
#define BATCH_BYTES ((size_t)1 << 20) /* the thread is woken for so much, or to commit */
#define ITEM_BYTES 512u               /* what an item counts besides its message */

/* How much of the queue may be used before messages go in without their columns: then the disk is what takes long. */
#define SLICED_PART 8u

enum action { OPEN, KEEP, TABLE, NOTE, STOP, CLOSE };

struct item {
    struct item *next;
    enum action action;
    char job[65];
    struct recorded head;
    void *slices; /* KEEP: see block_slice(), owned; NULL: none */
    size_t sliced;
    zmq_msg_t message; /* KEEP: as received; TABLE: as encoded; OPEN: the path; STOP: why */
};

/* A job in the recorder's thread. */
struct track {
    struct track *next;
    char job[65];
    char path[520];
    struct recording *recording; /* NULL: closed, or stopped */
    int stopped;
    struct record_parts parts;
    uint64_t newest_ns; /* arrival of the newest message */
};

/* That a recording stopped, or goes on elsewhere. */
struct stop {
    struct stop *next;
    int moved;
    char job[65];
    char why[560]; /* or the path */
};

struct recorder {
    struct recorder_options options;
    struct recorder_events events;
    uv_async_t news;
    pthread_t thread;
    pthread_mutex_t mutex; /* protects what is between here and the thread's own part */
    pthread_cond_t wake;
    struct item *first, **last;
    int wakeful; /* any item wakes the thread: all is committed, or a file is to be closed */
    int leaving;
    struct kept_list told; /* committed, not yet told */
    struct stop *stops;
    _Atomic uint64_t bytes;
    _Atomic size_t
        waiting_bytes; /* grows under the mutex only: there it is looked what may go in */
    /* The loop's own. */
    struct kept_list telling; /* of these agents the first ones are told already */
    uint32_t telling_from;
    struct block_slices slices;
    /* The thread's own. */
    struct track *tracks;
    struct kept_list pending;
    struct wire_arena arena;
    uint64_t oldest_ns; /* when the first of what is uncommitted was written; 0: nothing is */
};

static size_t item_bytes(struct item *item)
{
    return zmq_msg_size(&item->message) + item->sliced + ITEM_BYTES;
}

static void item_free(struct item *item)
{
    zmq_msg_close(&item->message);
    free(item->slices);
    free(item);
}

/* ---- the thread: writing ------------------------------------------------- */

static struct track *track_of(struct recorder *r, const char *job)
{
    for (struct track *t = r->tracks; t != NULL; t = t->next) {
        if (strcmp(t->job, job) == 0)
            return t;
    }
    struct track *t = calloc(1, sizeof(*t));
    if (t == NULL)
        return NULL;
    snprintf(t->job, sizeof(t->job), "%s", job);
    t->next = r->tracks;
    r->tracks = t;
    return t;
}

static void tell_stop(struct recorder *r, const char *job, const char *why, int moved)
{
    struct stop *stop = calloc(1, sizeof(*stop));
    if (moved)
        log_info("recording of job %s goes on in %s", job, why);
    else
        log_error("recording of job %s stops: %s", job, why);
    if (stop == NULL)
        return;
    stop->moved = moved;
    snprintf(stop->job, sizeof(stop->job), "%s", job);
    snprintf(stop->why, sizeof(stop->why), "%s", why);
    pthread_mutex_lock(&r->mutex);
    stop->next = r->stops;
    r->stops = stop;
    pthread_mutex_unlock(&r->mutex);
    uv_async_send(&r->news);
}

static void stop(struct recorder *r, struct track *t, const char *why)
{
    t->stopped = 1;
    recording_abandon(t->recording);
    t->recording = NULL;
    tell_stop(r, t->job, why, 0);
}

static void stop_on_error(struct recorder *r, struct track *t, int code)
{
    char why[256];
    snprintf(why, sizeof(why), "%s",
             code == -EIO ? recording_error(t->recording) : holter_strerror(code));
    stop(r, t, why);
}

static int ready(struct recorder *r, struct track *t)
{
    if (t->recording != NULL)
        return 1;
    char why[256];
    if (t->stopped || t->path[0] == '\0')
        return 0;
    if (recording_open(&t->recording, t->path, why, sizeof(why)) != 0) {
        stop(r, t, why);
        return 0;
    }
    if (r->options.pages != 0)
        recording_limit(t->recording, r->options.pages);
    return 1;
}

static void begin(struct track *t, const char *path, size_t length)
{
    char base[520];
    snprintf(base, sizeof(base), "%.*s", (int)length, path);
    if (record_parts_begin(&t->parts, base, t->path, sizeof(t->path)) != 0)
        t->path[0] = '\0';
}

/* Once it is committed: is it large enough for the next part? */
static void go_on(struct recorder *r, struct track *t)
{
    char why[600];
    if (t->recording == NULL ||
        !record_parts_full(recording_bytes(t->recording), r->options.most_bytes))
        return;
    if (record_parts_next(&t->parts, &t->recording, t->path, sizeof(t->path), r->options.most_bytes,
                          t->newest_ns, why, sizeof(why)) != 0)
        stop(r, t, why);
    else
        tell_stop(r, t->job, t->path, 1);
}

/* What the next part begins with. */
static void remember(struct recorder *r, struct track *t, const struct recorded *head,
                     const struct wire_message *table, const void *bytes, size_t length)
{
    int code = 0;
    if (r->options.most_bytes == 0)
        return;
    if (table != NULL && table->type == WIRE_TYPE_TOPOLOGY)
        code = record_parts_network(&t->parts, &table->topology, bytes, length);
    if (table == NULL && head->type == WIRE_TYPE_RANKS)
        code = record_parts_ranks(&t->parts, head, bytes, length);
    if (code != 0)
        log_warn("job %s: the next part of the recording will not tell all ranks", t->job);
}

static void release_message(void *owner)
{
    zmq_msg_close(owner);
    free(owner);
}

/* Its bytes and slices are the recording's from now on. */
static int keep_item(struct recording *recording, struct item *item)
{
    zmq_msg_t *message = malloc(sizeof(*message));
    if (message == NULL)
        return -ENOMEM;
    zmq_msg_init(message);
    zmq_msg_move(message, &item->message);
    const struct block_source source = {
        .bytes = zmq_msg_data(message),
        .length = zmq_msg_size(message),
        .slices = item->slices,
        .release = release_message,
        .owner = message,
    };
    item->slices = NULL;
    return recording_message_source(recording, &item->head, &source);
}

static void write_item(struct recorder *r, struct track *t, struct item *item)
{
    const void *bytes = zmq_msg_data(&item->message);
    size_t length = zmq_msg_size(&item->message);
    int code = 0;
    if (item->action == OPEN)
        begin(t, bytes, length);
    if (item->action == STOP) {
        char why[256];
        snprintf(why, sizeof(why), "%.*s", (int)length, (const char *)bytes);
        if (!t->stopped) {
            recording_close(t->recording); /* nothing is wrong with what was written so far */
            t->recording = NULL;
            stop(r, t, why);
        }
        return;
    }
    if (item->action == CLOSE) {
        code = recording_close(t->recording);
        t->recording = NULL;
        if (code != 0)
            stop(r, t, "its last second could not be written");
        return;
    }
    if (!ready(r, t))
        return;
    if (item->action == KEEP) {
        remember(r, t, &item->head, NULL, bytes, length);
        code = keep_item(t->recording, item);
        t->newest_ns = item->head.received_ns;
    } else if (item->action == TABLE) {
        struct wire_message message;
        code = wire_decode(&message, &r->arena, bytes, length, NULL);
        /* All messages of the union begin at the same address. */
        code = code != 0 ? code : recording_table(t->recording, message.type, &message.job);
        if (code == 0)
            remember(r, t, NULL, &message, bytes, length);
    }
    if (code != 0)
        stop_on_error(r, t, code);
}

static void handle(struct recorder *r, struct item *item)
{
    struct track *t = item->action == NOTE ? NULL : track_of(r, item->job);
    if (t != NULL)
        write_item(r, t, item);
    if (item->action == KEEP || item->action == NOTE || item->action == STOP)
        kept_list_add(&r->pending, item->head.instance, item->head.seq);
    if (r->oldest_ns == 0)
        r->oldest_ns = clock_mono_ns();
    item_free(item);
}

static void commit(struct recorder *r)
{
    uint64_t bytes = 0;
    for (struct track *t = r->tracks; t != NULL; t = t->next) {
        int code = t->recording == NULL ? 0 : recording_commit(t->recording);
        if (code != 0)
            stop_on_error(r, t, code);
        else
            go_on(r, t);
        bytes += t->recording == NULL ? 0 : recording_bytes(t->recording);
    }
    atomic_store_explicit(&r->bytes, bytes, memory_order_relaxed);
    r->oldest_ns = 0;
    pthread_mutex_lock(&r->mutex);
    kept_list_merge(&r->told, &r->pending);
    pthread_mutex_unlock(&r->mutex);
    uv_async_send(&r->news);
}

/* Is it worth waking for? Once something is uncommitted the thread wakes anyway, to commit it. */
static int is_work(const struct recorder *r)
{
    return r->leaving || recorder_waiting(r) >= BATCH_BYTES || (r->first != NULL && r->wakeful);
}

/* Wait for work, at most until what is uncommitted is to be committed. @return the queue, taken
 * over */
static struct item *take(struct recorder *r, int *leaving)
{
    uint64_t until = r->oldest_ns + COMMIT_NS;
    struct timespec at = {(time_t)(until / 1000000000), (long)(until % 1000000000)};
    int code = 0;
    pthread_mutex_lock(&r->mutex);
    r->wakeful |= r->oldest_ns == 0;
    while (code == 0 && !is_work(r))
        code = r->oldest_ns == 0 ? pthread_cond_wait(&r->wake, &r->mutex)
                                 : pthread_cond_timedwait(&r->wake, &r->mutex, &at);
    r->wakeful = 0;
    struct item *items = r->first;
    r->first = NULL;
    r->last = &r->first;
    *leaving = r->leaving;
    pthread_mutex_unlock(&r->mutex);
    return items;
}

static void *record(void *user)
{
    struct recorder *r = user;
    int leaving = 0;
    /* Where all threads share one core, what is published goes before what is kept. On Linux the
     * priority is the thread's own (setpriority(2)). */
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICER);
    pthread_setname_np(pthread_self(), RECORDER_THREAD);
    while (!leaving) {
        struct item *items = take(r, &leaving);
        /* What came meanwhile goes with what is due: a message and the rows that it led to together. */
        uint64_t since = clock_mono_ns();
        while (items != NULL) {
            struct item *item = items;
            items = item->next;
            size_t bytes = item_bytes(item);
            handle(r, item);
            atomic_fetch_sub_explicit(&r->waiting_bytes, bytes, memory_order_release);
            if (clock_mono_ns() - since >= COMMIT_NS) {
                commit(r);
                since = clock_mono_ns();
            }
        }
        if (r->oldest_ns != 0 && (leaving || clock_mono_ns() - r->oldest_ns >= COMMIT_NS))
            commit(r);
    }
    while (r->tracks != NULL) {
        struct track *t = r->tracks;
        r->tracks = t->next;
        recording_close(t->recording);
        record_parts_finish(&t->parts);
        free(t);
    }
    wire_arena_finish(&r->arena);
    kept_list_clear(&r->pending);
    return NULL;
}

/* ---- the loop's side ----------------------------------------------------- */

/* Thousands of agents are told after each commit: not all in one turn, or other work would wait. */
static void tell_kept(struct recorder *r, uint32_t most)
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
    if (list->agents.count > 0) /* more of these, or of what was committed meanwhile */
        uv_async_send(&r->news);
}

static void on_news(uv_async_t *async)
{
    struct recorder *r = async->data;
    pthread_mutex_lock(&r->mutex);
    struct stop *stops = r->stops;
    r->stops = NULL;
    pthread_mutex_unlock(&r->mutex);
    while (stops != NULL) {
        struct stop *one = stops;
        stops = one->next;
        if (!one->moved)
            r->events.stopped(r->events.user, one->job, one->why);
        else if (r->events.moved != NULL)
            r->events.moved(r->events.user, one->job, one->why);
        free(one);
    }
    tell_kept(r, TELL_TURN);
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
    code = -pthread_create(&r->thread, NULL, record, r);
    if (code != 0) {
        log_error("no thread for recordings: %s", holter_strerror(code));
        r->leaving = -1;
        recorder_destroy(r);
        return code;
    }
    *out = r;
    return 0;
}

static struct item *make(enum action action, const char *job)
{
    struct item *item = calloc(1, sizeof(*item));
    if (item == NULL)
        return NULL;
    item->action = action;
    snprintf(item->job, sizeof(item->job), "%s", job);
    zmq_msg_init(&item->message);
    return item;
}

/* @return 0 when the queue is full: the item was not taken */
static int push(struct recorder *r, struct item *item)
{
    size_t bytes = item_bytes(item);
    pthread_mutex_lock(&r->mutex);
    int fits = item->action != KEEP || recorder_waiting(r) + bytes <= r->options.queue_bytes;
    if (fits) {
        atomic_fetch_add_explicit(&r->waiting_bytes, bytes, memory_order_relaxed);
        *r->last = item;
        r->last = &item->next;
        r->wakeful |= item->action == CLOSE;
        if (is_work(r))
            pthread_cond_signal(&r->wake);
    }
    pthread_mutex_unlock(&r->mutex);
    return fits;
}

static int fill(struct item *item, const void *bytes, size_t length)
{
    zmq_msg_close(&item->message);
    if (zmq_msg_init_size(&item->message, length) != 0) {
        zmq_msg_init(&item->message);
        return -ENOMEM;
    }
    memcpy(zmq_msg_data(&item->message), bytes, length);
    return 0;
}

void recorder_open(struct recorder *r, const char *job, const char *path)
{
    struct item *item = make(OPEN, job);
    if (item == NULL)
        return;
    fill(item, path, strlen(path));
    push(r, item);
}

/* Without memory the message goes in as it is. */
static void slice(struct recorder *r, struct item *item, const struct wire_message *decoded)
{
    if (decoded->shape == NULL || recorder_waiting(r) > r->options.queue_bytes / SLICED_PART ||
        block_slice(&r->slices, decoded) != 0)
        return;
    item->slices = block_slices_take(&r->slices, &item->sliced);
}

void recorder_keep(struct recorder *r, const char *job, const struct recorded *head,
                   zmq_msg_t *message, const struct wire_message *decoded)
{
    struct item *item = make(KEEP, job);
    if (item == NULL)
        return;
    item->head = *head;
    if (decoded != NULL)
        slice(r, item, decoded);
    zmq_msg_move(&item->message, message);
    if (push(r, item))
        return;
    /* A recording with a hole would be taken for the whole: rather end it here. */
    char why[128];
    snprintf(why, sizeof(why), "the disk does not keep up: %zu MiB wait to be written",
             r->options.queue_bytes >> 20);
    fill(item, why, strlen(why));
    item->action = STOP;
    push(r, item);
}

void recorder_table(struct recorder *r, const char *job, enum wire_type type, const void *message)
{
    struct wire_buffer buffer = {0};
    struct item *item = make(TABLE, job);
    if (item != NULL && wire_encode(&buffer, type, message) == 0 &&
        fill(item, buffer.bytes, buffer.length) == 0)
        push(r, item);
    else if (item != NULL)
        free(item);
    wire_buffer_finish(&buffer);
}

void recorder_note(struct recorder *r, uint64_t instance, uint64_t seq)
{
    struct item *item = make(NOTE, "");
    if (item == NULL)
        return;
    item->head.instance = instance;
    item->head.seq = seq;
    push(r, item);
}

void recorder_close(struct recorder *r, const char *job)
{
    struct item *item = make(CLOSE, job);
    if (item != NULL)
        push(r, item);
}

size_t recorder_waiting(const struct recorder *r)
{
    return atomic_load_explicit(&r->waiting_bytes, memory_order_acquire);
}

uint64_t recorder_bytes(struct recorder *r)
{
    return r == NULL ? 0 : atomic_load_explicit(&r->bytes, memory_order_relaxed);
}

static void on_closed(uv_handle_t *handle)
{
    struct recorder *r = handle->data;
    kept_list_clear(&r->told);
    kept_list_clear(&r->telling);
    block_slices_finish(&r->slices);
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
        tell_kept(r, UINT32_MAX); /* the rest of the commit before */
        tell_kept(r, UINT32_MAX);
    }
    uv_close((uv_handle_t *)&r->news, on_closed);
}

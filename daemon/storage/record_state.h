/* State that record.c (the event loop: queues items, reports commits) and record_thread.c (the
 * thread: writes items, commits) share. */
#ifndef HOLTER_DAEMON_STORAGE_RECORD_STATE_H
#define HOLTER_DAEMON_STORAGE_RECORD_STATE_H

#include "daemon/storage/block/block.h"
#include "daemon/storage/commit_acks.h"
#include "daemon/storage/record.h"
#include "daemon/storage/record_parts.h"

#include <pthread.h>
#include <stdatomic.h>

#define RECORD_BATCH_BYTES                                                                         \
    ((size_t)1 << 20)          /* queued bytes that wake the thread before the next commit is due */
#define RECORD_ITEM_BYTES 512u /* counted for an item in addition to its message */

enum record_action { OPEN, KEEP, TABLE, NOTE, STOP, CLOSE };

struct record_item {
    struct record_item *next;
    enum record_action action;
    char job[65];
    struct record_track *track; /* OPEN: of a job that is new; borrowed */
    uint64_t ranks;             /* OPEN: of the job; 0: not known */
    struct recorded head;
    zmq_msg_t message; /* KEEP: as received; TABLE: as encoded; OPEN: the path; STOP: why */
};

/* A notice for the loop: a recording has stopped, or continues in another file. */
struct record_stop {
    struct record_stop *next;
    int moved;
    char job[65];
    char why[560]; /* why it stopped; moved: path of the new file */
};

/* A job. The loop allocates and frees it; its other members belong to the thread. */
struct record_track {
    struct record_track *next;
    struct record_track *next_opened; /* list of the loop */
    _Atomic int lost;                 /* set by the loop: an item was lost for lack of memory */
    char job[65];
    char path[520];
    uint64_t ranks;
    struct recording *recording; /* NULL: closed or stopped */
    int stopped;
    struct record_parts parts;
    uint64_t newest_ns;      /* arrival of the newest message, daemon time */
    struct record_stop last; /* told when it stops, which needs no memory then */
};

struct recorder {
    struct recorder_options options;
    struct recorder_events events;
    uv_async_t news;
    pthread_t thread;
    pthread_mutex_t mutex; /* protects the members up to `bytes` */
    pthread_cond_t wake;
    struct record_item *first, **last;
    int wakeful; /* any item wakes the thread: nothing is uncommitted, or a file is to be closed */
    int leaving;
    struct kept_list told;     /* committed, not yet reported */
    struct record_stop *stops; /* owned if `moved`, otherwise part of their tracks */
    _Atomic uint64_t bytes;
    _Atomic size_t
        waiting_bytes; /* grows under the mutex only, so that the limit of the queue holds */
    /* Used by the loop alone. */
    struct kept_list telling; /* a commit that is being reported in batches */
    uint32_t telling_from;
    struct record_track
        *opened; /* owned; freed after the thread has ended, as its notices are part of them */
    /* Used by the thread alone. */
    struct record_track *tracks;
    struct kept_list pending;
    struct wire_arena arena;
    uint64_t
        oldest_ns; /* when the first uncommitted item was written, monotonic clock; 0: none is */
    uint64_t uncommitted_bytes;
};

static inline size_t record_item_bytes(struct record_item *item)
{
    return zmq_msg_size(&item->message) + RECORD_ITEM_BYTES;
}

void record_item_free(struct record_item *item);

/** Is there enough work to wake the thread? With uncommitted items it wakes anyway, to commit
 * them. Call it under the mutex. */
int record_is_work(const struct recorder *recorder);

/** Entry point of the thread. @param user  struct recorder */
void *record_run(void *user);

#endif

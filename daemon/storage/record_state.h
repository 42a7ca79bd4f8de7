/* What record.c (the loop's side: what is to be kept is queued, what is kept is told) and
 * record_thread.c (what is queued is written) share. */
#ifndef HOLTER_DAEMON_STORAGE_RECORD_STATE_H
#define HOLTER_DAEMON_STORAGE_RECORD_STATE_H

#include "daemon/storage/block/block.h"
#include "daemon/storage/commit_acks.h"
#include "daemon/storage/record.h"
#include "daemon/storage/record_parts.h"

#include <pthread.h>
#include <stdatomic.h>

#define RECORD_BATCH_BYTES ((size_t)1 << 20) /* the thread is woken for so much, or to commit */
#define RECORD_ITEM_BYTES 512u               /* what an item counts besides its message */

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

/* That a recording stopped, or goes on elsewhere. */
struct record_stop {
    struct record_stop *next;
    int moved;
    char job[65];
    char why[560]; /* or the path */
};

/* A job: the loop makes and frees it, and what is in it is the thread's. */
struct record_track {
    struct record_track *next;
    struct record_track *next_opened; /* the loop's */
    _Atomic int lost;                 /* set by the loop: something that was to be kept was not */
    char job[65];
    char path[520];
    uint64_t ranks;
    struct recording *recording; /* NULL: closed, or stopped */
    int stopped;
    struct record_parts parts;
    uint64_t newest_ns;      /* arrival of the newest message */
    struct record_stop last; /* told when it stops, which needs no memory then */
};

struct recorder {
    struct recorder_options options;
    struct recorder_events events;
    uv_async_t news;
    pthread_t thread;
    pthread_mutex_t mutex; /* protects what is between here and the thread's own part */
    pthread_cond_t wake;
    struct record_item *first, **last;
    int wakeful; /* any item wakes the thread: all is committed, or a file is to be closed */
    int leaving;
    struct kept_list told;     /* committed, not yet told */
    struct record_stop *stops; /* owned where moved, else part of their tracks */
    _Atomic uint64_t bytes;
    _Atomic size_t
        waiting_bytes; /* grows under the mutex only: there it is looked what may go in */
    /* The loop's own. */
    struct kept_list telling; /* of these agents the first ones are told already */
    uint32_t telling_from;
    struct record_track *opened; /* owned: what they tell is heard behind the thread's end */
    /* The thread's own. */
    struct record_track *tracks;
    struct kept_list pending;
    struct wire_arena arena;
    uint64_t oldest_ns; /* when the first of what is uncommitted was written; 0: nothing is */
    uint64_t uncommitted_bytes;
};

static inline size_t record_item_bytes(struct record_item *item)
{
    return zmq_msg_size(&item->message) + RECORD_ITEM_BYTES;
}

void record_item_free(struct record_item *item);

/** Is it worth waking for? Once something is uncommitted the thread wakes anyway, to commit it.
 * Under the mutex. */
int record_is_work(const struct recorder *recorder);

/** The thread. @param user  struct recorder */
void *record_run(void *user);

#endif

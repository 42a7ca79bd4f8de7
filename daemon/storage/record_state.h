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

/** The thread is woken before the next commit is due when so many bytes are queued. */
#define RECORD_BATCH_BYTES ((size_t)1 << 20)
#define RECORD_ITEM_BYTES 512u /* counted for an item in addition to its message */

enum record_action {
    RECORD_OPEN,    /* begin or continue the recording of a job */
    RECORD_MESSAGE, /* write a message of an agent */
    RECORD_RESULT,  /* write a published result */
    RECORD_ACK,     /* only acknowledge a message */
    RECORD_STOP,    /* end the recording for good */
    RECORD_CLOSE    /* close the file: the job has ended */
};

struct record_item {
    struct record_item *next;
    enum record_action action;
    char job[65];
    struct record_track *track; /* RECORD_OPEN: of the recording; borrowed */
    struct recorded head;
    zmq_msg_t message; /* RECORD_MESSAGE: as received; RECORD_RESULT: encoded; RECORD_OPEN: path;
                          RECORD_STOP: reason */
};

/* A notice for the loop: a recording has stopped, or continues in another file. */
struct record_notice {
    struct record_notice *next;
    int moved;
    char job[65];
    char text[560]; /* why it stopped; moved: path of the new file */
};

/* The recording of a job. The loop allocates and frees it; its other members belong to the thread.
 * Newer ones stand first in both lists. */
struct record_track {
    struct record_track *next;
    struct record_track *next_open; /* list of the loop */
    _Atomic int lost;               /* set by the loop: an item was lost for lack of memory */
    int refused; /* used by the loop alone: a message had no place in the queue, nothing is added */
    char job[65];
    struct recording *recording; /* NULL: closed or stopped */
    int stopped;
    int ended; /* the job has: opened again for what comes late, it is closed after the commit */
    struct record_parts parts;
    uint64_t newest_ns; /* arrival of the newest message, daemon time */
    struct record_notice
        stop_notice; /* allocated in advance, so that a stop for lack of memory can be reported */
};

struct recorder {
    struct recorder_options options;
    struct recorder_events events;
    uv_async_t notify;
    pthread_t thread;
    pthread_mutex_t mutex; /* protects the members up to `bytes` */
    pthread_cond_t wake;
    struct record_item *first, **last; /* the queue, and where the next item is linked */
    int commit_now; /* any item wakes the thread: nothing is uncommitted, or a file is to be closed
                     */
    int stopping;
    struct commit_acks refused_acks; /* of messages that are not written: reported after the commit
                                        of what is queued */
    struct commit_acks committed_acks; /* committed, not yet reported */
    struct record_notice *notices;     /* owned if `moved`, otherwise part of their tracks */
    _Atomic uint64_t bytes;
    _Atomic size_t
        queued_bytes; /* grows under the mutex only, so that the limit of the queue holds */
    /* Used by the loop alone. */
    struct commit_acks announcing_acks; /* a commit that is being reported in batches */
    uint32_t announced;                 /* agents of that commit already reported */
    struct record_track
        *open_tracks; /* owned; freed after the thread has ended, as its notices are part of them */
    /* Used by the thread alone. */
    struct record_track *tracks;
    struct commit_acks pending;
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
int record_has_work(const struct recorder *recorder);

/** Entry point of the thread. @param user  struct recorder */
void *record_thread_run(void *user);

#endif

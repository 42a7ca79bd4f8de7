/* What sinks.c (taking, telling, life) and sink_items.c (which alerts a sink knows, and when it
 * tells them) share. */
#ifndef HOLTER_DAEMON_ALERT_SINK_STATE_H
#define HOLTER_DAEMON_ALERT_SINK_STATE_H

#include "daemon/alert/sink.h"
#include "daemon/alert/sinks.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define SINK_WORKERS 4u
#define SINK_BUCKETS 1024u

enum stage { NOTHING, FIRING, RESOLVED };

/* An alert as one sink knows it. */
struct item {
    struct item *in_bucket;       /* next one there */
    struct item *before, *behind; /* in the queue */
    char job[65];
    uint64_t id;
    struct wire_buffer alert; /* newest state; empty: nothing is to be told of it */
    enum stage stage, told;
    uint64_t version, version_told; /* newest, and last told: numbers of the states taken */
    uint64_t due_ns, told_ns;       /* CLOCK_MONOTONIC */
    int queued, busy, tried_last;
    enum severity severity; /* when first taken */
    uint64_t region;        /* the same */
};

struct worker {
    struct sink *sink;
    pthread_t thread;
    void *state;
    uint64_t since_ns; /* of the telling in progress; 0: none */
    int started;
};

struct sink {
    struct sinks *sinks;
    const struct sink_type *type;
    struct sink_rule rule; /* the target is owned */
    char name[96];
    struct worker workers[SINK_WORKERS];
    pthread_mutex_t mutex; /* of all below, and of the workers' since_ns */
    pthread_cond_t wake, ended;
    unsigned running; /* workers */
    struct item *buckets[SINK_BUCKETS];
    struct item *first, *last; /* the queue */
    size_t items, waiting;     /* waiting: queued with something that was not told yet */
    unsigned failures;         /* one after the other */
    uint64_t retry_ns;         /* nothing is tried before */
    int reported, hangs, overflows, leaving;
    char error[224];
    struct sinks_counts counts;
};

struct sinks {
    struct sinks_options options;
    struct sink *list[RULES_SINKS];
    size_t count;
    _Atomic uint64_t leave_ns; /* CLOCK_MONOTONIC; UINT64_MAX: it stays */
};

/* All of these with the sink's mutex held. */

/** The alert of a job as the sink knows it. @return NULL: it does not */
struct item *sink_find(struct sink *sink, const char *job, uint64_t id);

/** One that it does not know. @return NULL: it knows too many, or there is no memory */
struct item *sink_add(struct sink *sink, const struct wire_alert *alert);

void sink_forget(struct sink *sink, struct item *item);

/** Is there something that it has not told of it? */
int sink_is_untold(const struct sink *sink, const struct item *item);

/** Take it out of the queue; it need not be there. */
void sink_dequeue(struct sink *sink, struct item *item);

/** Decide what is to be done about it next, after it was taken, told, or failed to be: it may be
 * forgotten. */
void sink_schedule(struct sink *sink, struct item *item);

/** Count those that wait anew. */
void sink_count_waiting(struct sink *sink);

#endif

/* The state of sinks, shared by sinks.c (delivery, life) and sink_items.c (the alerts that a sink
 * knows, and when each is due). */
#ifndef HOLTER_DAEMON_ALERT_SINK_STATE_H
#define HOLTER_DAEMON_ALERT_SINK_STATE_H

#include "daemon/alert/sink.h"
#include "daemon/alert/sinks.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define SINK_WORKERS 4u
#define SINK_BUCKETS 1024u

enum sink_stage { STAGE_NONE, STAGE_FIRING, STAGE_RESOLVED };

/* An alert as one sink knows it. */
struct sink_item {
    struct sink_item *in_bucket;      /* next item of the same hash bucket */
    struct sink_item *before, *after; /* in the queue */
    char job[65];
    uint64_t id;
    struct wire_buffer alert;         /* newest state, encoded; empty: nothing is to be delivered */
    enum sink_stage stage, delivered; /* newest state, and the state that the sink has */
    uint64_t version, version_delivered; /* number of the newest state, and of the last delivered */
    uint64_t due_ns, delivered_ns;       /* CLOCK_MONOTONIC */
    int queued, busy, tried_last;
    int forgotten;              /* dropped as soon as nothing of it is to be delivered */
    enum severity severity;     /* of the first state */
    uint64_t region;            /* likewise */
    struct alert_labels labels; /* likewise */
};

struct sink_worker {
    struct sink *sink;
    pthread_t thread;
    void *state;
    uint64_t since_ns; /* begin of the delivery in progress; 0: none */
    int started;
};

struct sink {
    struct sinks *sinks;
    const struct sink_operations *type;
    struct sink_rule rule; /* the target is owned */
    char name[96];
    struct sink_worker workers[SINK_WORKERS];
    pthread_mutex_t mutex; /* guards all below, and the workers' since_ns */
    pthread_cond_t wake, ended;
    unsigned running; /* workers that have not ended */
    struct sink_item *buckets[SINK_BUCKETS];
    struct sink_item *first, *last; /* the queue */
    size_t items, waiting;          /* waiting: those with something undelivered */
    unsigned failures;              /* in a row */
    uint64_t retry_ns;              /* no delivery is tried before; CLOCK_MONOTONIC */
    int reported, hangs, overflows, leaving;
    char error[224];
    struct sinks_counts counts;
};

struct sinks {
    struct sinks_options options;
    struct sink *list[RULES_SINKS_MAXIMUM];
    size_t count;
    _Atomic uint64_t leave_ns; /* when the daemon ends; CLOCK_MONOTONIC; UINT64_MAX: it does not */
};

/* All functions are called with the sink's mutex held. */

/** @return the alert of a job as the sink knows it; NULL: the sink does not know it */
struct sink_item *sink_find(struct sink *sink, const char *job, uint64_t id);

/** Add an alert that the sink does not know. @return NULL: it knows too many, or no memory */
struct sink_item *sink_add(struct sink *sink, const struct wire_alert *alert,
                           const struct alert_labels *labels);

void sink_drop_item(struct sink *sink, struct sink_item *item);

/** Has the sink not delivered the newest state of the alert? */
int sink_has_undelivered(const struct sink *sink, const struct sink_item *item);

/** Remove an item from the queue, if it is there. */
void sink_dequeue(struct sink *sink, struct sink_item *item);

/** Queue, dequeue or forget an item, after it got a new state or a delivery ended. */
void sink_schedule(struct sink *sink, struct sink_item *item);

/** The alerts of a job are not repeated any more, and are dropped once nothing of them waits. */
void sink_forget_job(struct sink *sink, const char *job);

/** Recount the waiting items. */
void sink_count_waiting(struct sink *sink);

#endif

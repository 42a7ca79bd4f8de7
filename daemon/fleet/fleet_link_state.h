/* What the threads of the link share; private to fleet_link*.c. */
#ifndef HOLTER_DAEMON_FLEET_FLEET_LINK_STATE_H
#define HOLTER_DAEMON_FLEET_FLEET_LINK_STATE_H

#include "daemon/fleet/fleet_balance.h"
#include "daemon/fleet/fleet_clock.h"
#include "daemon/fleet/fleet_link.h"

#include <pthread.h>

/* Waits to be published. */
struct link_publication {
    enum fleet_subject subject;
    char job[NATS_JOB_BYTES];
    uint64_t id; /* of this daemon */
    uint64_t token;
    uint64_t position; /* of a state */
    uint8_t *bytes;    /* owned */
    size_t length;
    struct link_publication *next;
};

/* Publications in their order, and the thread that publishes them. */
struct link_queue {
    struct fleet_link *link;
    pthread_t publisher;
    struct link_publication *first, **last; /* with the link's mutex, as all below */
    size_t backlog; /* bytes of publications that wait or are under way, but for states */
};

#define LINK_ATTEMPTS 8 /* to read what a server that has just died was to send */

enum link_request_type {
    LINK_NOTE,
    LINK_RUNNING,
    LINK_ENDED,
    LINK_RELEASE,
    LINK_READ,
    LINK_READ_ON, /* after messages that libnats has dropped */
};

/* For the thread of leases. */
struct link_request {
    enum link_request_type type;
    char job[NATS_JOB_BYTES];
    uint64_t from; /* of LINK_READ */
    struct link_request *next;
};

/* A state that a journal says was stored. */
struct link_saved {
    uint64_t instance, length, position; /* instance 0: there is none */
};

/* A job that this daemon holds. Only the thread of leases adds and removes one. */
struct link_job {
    struct fleet_link *link;
    char id[NATS_JOB_BYTES];
    uint64_t revision; /* of the lease */
    uint64_t
        valid_ns; /* CLOCK_MONOTONIC until when the lease lasts; 0: it is lost; with the mutex */
    int begun;    /* the loop has its past, and writes its journal; with the mutex */
    int failed;   /* why its past cannot be read, 0: nothing; with the mutex */
    uint64_t journal_last; /* number of the journal's last envelope; once begun, with the mutex */
    uint64_t journal_read; /* number of the last one that the loop was sent */
    _Atomic uint64_t delivered; /* number of the last message; set by a thread of libnats */
    uint64_t behind;     /* number of a message that had not come at the last check; 0: none */
    uint64_t checked_ns; /* when that was */
    int reads;           /* the loop has said from where */
    struct link_saved saved;
    uint64_t packing_ns; /* processor time that compressing its last state took; with the mutex */
    struct fleet_subscription *subscription;
    struct link_job *next;
};

struct fleet_link {
    struct fleet_link_options options;
    struct fleet_nats *nats;
    uv_async_t async;
    pthread_t leaser, reader;
    uint64_t run; /* random number of this run, part of ids of messages */

    /* Of the thread of leases. */
    uint64_t load; /* processor time in a second, and of jobs that were taken since */
    uint64_t measured_ns, used_ns; /* when it was measured, and processor time up to then */
    struct fleet_jobs vacant;      /* jobs that nobody held at the last look */
    int waits;                     /* a job was not taken while another one was read */
    _Atomic uint64_t made_ns; /* when the stream was made from which the jobs are read; 0: not known
                               */

    pthread_mutex_t mutex; /* of all below */
    pthread_cond_t published, requested, drained, reading;
    /* Agents wait for their messages to be stored, which a large state takes long for. */
    struct link_queue messages, journals; /* of agents; of workers, with the states of jobs */
    uint64_t publications;                /* since the start */
    struct fleet_event *first_event, **last_event;
    size_t event_bytes;
    struct link_request *first_request, **last_request;
    struct link_job *jobs;
    struct link_job
        *unread;  /* the thread that reads the past has it: it is not removed meanwhile */
    int was_read; /* that thread is ready for another one */
    struct fleet_balance balance; /* loads of the other daemons */
    int stops_publishing, stops_reading, stopped;
    _Atomic int stops_leasing; /* read without the mutex, too */
    uint64_t stop_ns;          /* CLOCK_MONOTONIC when publishing is given up */

    pthread_mutex_t clock_mutex; /* of what follows: its threads wait for nothing else */
    pthread_cond_t clock_known;
    struct fleet_clock clock;
};

/** Ask about the fleet's clock, if something is to be asked. */
void link_ask_clock(struct fleet_link *link);

/** Ask the thread of leases for something. @param from  of LINK_READ */
void link_request(struct fleet_link *link, enum link_request_type type, const char *job,
                  uint64_t from);

/** Add an event for the loop. Waits while the loop has too many messages to handle. */
void link_post(struct fleet_link *link, const struct fleet_event *event, const void *bytes);

/** @return NULL: this daemon does not hold it. With the mutex. */
struct link_job *link_find_job(struct fleet_link *link, const char *job);

size_t link_queue_backlog(struct link_queue *queue);

/** Publish one message to the stream. @param seq  its number; 0: it was not stored @return 0:
 * stored or not ours, otherwise as fleet_nats_publish() */
int link_try(struct fleet_link *link, const struct link_publication *publication, uint64_t *seq);
/** The same until it is answered. @return 0, -HOLTER_ERANGE: as link_try(), or -EAGAIN: given up,
 * as the daemon leaves */
int link_publish_until_stored(struct fleet_link *link, const struct link_publication *publication,
                              uint64_t *seq);

/** In the thread that publishes journals (fleet_saved.c): all of a state, as pieces.
 * @return as link_publish_until_stored() */
int link_publish_saved(struct fleet_link *link, const struct link_publication *publication);
/** Note the state that an envelope of the journal is about. */
void link_note_saved(struct link_saved *saved, const void *bytes, size_t length);
/** Read the state that was noted. @param bytes  owned; NULL: it is not there, or damaged
 *  @return 0 or -EAGAIN */
int link_read_saved(struct link_job *job, uint8_t **bytes, size_t *length);

/** The thread that reads what workers of a job before this one left (fleet_past.c). */
void *link_run_past(void *link);
/** The thread of leases (fleet_leases.c). */
void *link_run_leases(void *link);

#endif

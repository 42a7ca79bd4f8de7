/* What gateway and worker share; private to fleet*.c. */
#ifndef HOLTER_DAEMON_FLEET_FLEET_STATE_H
#define HOLTER_DAEMON_FLEET_FLEET_STATE_H

#include "daemon/fleet/fleet.h"
#include "daemon/fleet/fleet_envelope.h"
#include "daemon/fleet/fleet_link.h"
#include "daemon/storage/commit_acks.h"

/* Of a gateway: a job of agents that are connected to it. */
struct gateway_job {
    char id[NATS_JOB_BYTES];
    struct fleet_envelope envelope; /* not published yet */
    struct commit_acks agents;      /* their newest messages of this job */
    struct commit_acks left;        /* by those that have left the job: the number in their bye */
    uint64_t received_ns;           /* daemon time of its newest message */
    uint64_t noted_ns;              /* daemon time when the fleet was asked to hold it */
};

/* Acknowledgements that are due when a publication is stored. */
struct gateway_acks {
    uint64_t token;
    uint64_t messages;
    struct commit_acks seqs;
    struct gateway_acks *next;
};

struct gateway {
    struct gateway_job **jobs; /* owned */
    size_t job_count;
    size_t bytes;                       /* of all envelopes */
    uint64_t since_ns;                  /* daemon time when the first of them was received */
    uint64_t messages;                  /* in them */
    struct commit_acks received;        /* their numbers, by agent */
    struct gateway_acks *first, **last; /* on their way */
    struct commit_acks stored;
};

/* A window that a worker before this one has closed. */
struct worker_close {
    uint64_t position;
    struct wire_totals totals; /* texts are not set */
};

/* An alert that a worker before this one has published. */
struct worker_alert {
    uint8_t *bytes; /* owned: the newest message about it */
    size_t length;
    char state[17]; /* as in that message */
    uint64_t seq; /* number of the envelope in the journal that has the alert first in that state */
};

/* Of a worker: a job that this daemon holds, or is acquiring. */
struct worker_job {
    char id[NATS_JOB_BYTES];
    int begun;         /* its messages are read */
    int resuming;      /* those that a worker before this one had */
    int running;       /* as the fleet knows */
    int published;     /* a window, and no message has been read since */
    int has_published; /* a window, since it was acquired; it is saved from then on */
    int followed;      /* its id is that of another job, which begins now */
    int skips;         /* messages came while the lease had expired: they are read again */
    uint64_t newest;   /* number of the last message when the job was acquired */
    uint64_t messages; /* that were read */
    uint8_t *state;    /* owned: what a worker before this one has saved; NULL: nothing */
    size_t state_length;
    uint64_t state_position;     /* message after which it was saved, also by this one */
    size_t state_closes;         /* how many of the closes are in it */
    uint64_t saved_ns;           /* CLOCK_MONOTONIC when it was saved by this worker, or acquired */
    uint64_t saving_ns;          /* time that saving took */
    uint64_t reading_ns;         /* time that reading since then took, and closing windows */
    uint64_t position;           /* number of the last message that was read */
    uint64_t received_ns;        /* when a gateway received it */
    struct worker_close *closes; /* owned */
    size_t close_count, close_next;
    int lacks_messages;          /* that are not stored any more */
    uint64_t lost;               /* windows of nodes that had been closed, in such messages */
    struct worker_alert *alerts; /* owned; by id - 1 */
    size_t alert_count;
    uint64_t delivered_seq;        /* up to this envelope of the journal, alerts were delivered */
    struct fleet_envelope journal; /* not published yet */
    uint64_t stored_token, stored_seq; /* envelope of the journal that is stored, while its alerts
                                          cannot be delivered; token 0: none */
    uint64_t queued_seq; /* up to this envelope the sinks have the alerts; 0: they have delivered
                            them, which the journal notes */
    struct worker_delivery *deliveries; /* owned: alerts to be delivered, in order */
    size_t delivery_count;
};

/* The jobs of another daemon, as it announced them. */
struct roster_list {
    uint64_t daemon; /* instance of its run; 0: none */
    uint64_t at_ns;  /* daemon time when the list came */
    uint8_t *bytes;  /* owned; the message borrows from them and the arena */
    struct wire_arena arena;
    struct wire_message message; /* a status of which only jobs are set */
};

struct fleet {
    struct fleet_options options;
    char value[NATS_VALUE_BYTES]; /* of leases */
    struct fleet_link *link;
    struct jobs *jobs;   /* NULL: not started, or stopped */
    struct front *front; /* likewise */
    struct gateway gateway;
    struct worker_job **held; /* owned */
    size_t held_count;
    struct wire_arena arena;
    struct wire_buffer buffer;
    struct fleet_counts counts; /* those since the start */
    uint64_t tokens;            /* of publications */
    char endpoint[NATS_VALUE_BYTES];
    uint64_t announced_ns;     /* daemon time of the newest list of this daemon's jobs */
    struct roster_list *lists; /* owned: of other daemons */
    size_t list_count;
};

void gateway_init(struct gateway *gateway);
void gateway_finish(struct gateway *gateway);
/** Publish what agents sent. @param now  otherwise when it has waited for long enough, and nothing
 * that was published before waits for the servers */
void gateway_flush(struct fleet *fleet, int now);
/** Envelopes up to a token are stored. */
void gateway_on_stored(struct fleet *fleet, uint64_t token);
/** The servers do not accept the message in this envelope. */
void gateway_on_too_long(struct fleet *fleet, const struct fleet_event *event);
/** Messages for agents that are connected to this daemon. */
void gateway_on_control(struct fleet *fleet, const uint8_t *bytes, size_t length);

/** Begin to resume a job, with what is known of its journal and its state.
 *  @param newest  number of its last message until now @return it; NULL, which is logged */
struct worker_job *worker_begin(struct fleet *fleet, const char *id, uint64_t newest);
/** Read an envelope of its messages; the one with the newest of then ends the resuming. */
void worker_read_message(struct fleet *fleet, struct worker_job *job,
                         const struct fleet_event *event);
void worker_on_journal(struct fleet *fleet, const struct fleet_event *event);
void worker_on_stored(struct fleet *fleet, const struct fleet_event *event);
void worker_on_acquired(struct fleet *fleet, const struct fleet_event *event);
void worker_on_saved(struct fleet *fleet, const struct fleet_event *event);
void worker_on_message(struct fleet *fleet, const struct fleet_event *event);
void worker_on_regained(struct fleet *fleet, const struct fleet_event *event);
void worker_on_lost(struct fleet *fleet, const char *id);
/** A batch of events was handled. @param empty  all that has come was read */
void worker_on_turn(struct fleet *fleet, int empty);
/** A job publishes. */
void worker_on_publish(struct fleet *fleet, const char *id, enum wire_type type,
                       const void *message);
int worker_wants(const struct fleet *fleet, const char *id, enum wire_type type);
/** The job was dropped from the list of jobs. */
void worker_on_forgotten(struct fleet *fleet, const char *id);
/** Publish journals, and tell the fleet which jobs have ended. */
void worker_tick(struct fleet *fleet);
void worker_finish(struct fleet *fleet);

/** The job that was resumed has this alert. @return whether it was delivered by a worker before
 * this one in the state that it has: its end will be */
int deliveries_restore(struct fleet *fleet, const struct worker_job *job,
                       const struct wire_alert *alert);
/** Deliver an alert when the journal with it is stored. @param entry  with its message */
void deliveries_queue(struct fleet *fleet, struct worker_job *job, const struct wire_alert *alert,
                      const struct fleet_entry *entry);
/** Forget the job's alerts when those that were queued are delivered: another job has its id. */
void deliveries_queue_end(struct fleet *fleet, struct worker_job *job);
/** The journal with the alerts that were queued is published with this token. */
void deliveries_set_token(struct worker_job *job, uint64_t token);
/** Note in the journal which alerts were delivered, once no sink has one of the job left. */
void deliveries_note(struct fleet *fleet, struct worker_job *job);
/** Journals of the job up to a token are stored. @param seq  number of the newest in the stream */
void deliveries_on_stored(struct fleet *fleet, struct worker_job *job, uint64_t token,
                          uint64_t seq);
void deliveries_finish(struct worker_job *job);

/** Announce the jobs of this daemon to the others, once a second. */
void roster_announce(struct fleet *fleet);
/** Another daemon has announced its jobs. */
void roster_note(struct fleet *fleet, const struct fleet_entry *entry);
void roster_finish(struct fleet *fleet);

/** Count and log a message of the servers that is not what it should be. */
void fleet_reject(struct fleet *fleet, const char *job, const char *why);

#endif
